/* The wrenches of the scheme index1: from multipliers to inputs of both sides.
 *
 * paper index1 (28)-(31). A subsystem takes its wrench as a polynomial in global axes, but the
 * direction of a constraint may turn with either side. The paper approximates the partner's frame
 * by further coupling variables of the same degree, which would cost orders where directions turn
 * fast. Here the frames of both sides are known to sixth order from their motion at both ends of
 * the step (path.h), and direction times multiplier is met at quadrature nodes (basis.c), which
 * keeps the order of the scheme. Both sides use the same directions and multipliers, so that no
 * momentum is created. */
#include "coupling/index1/index1.h"
#include "math/polynomial.h"

static const yk_motion *motion_of(const yk_system *system, const yk_interface *interface, int side)
{
    return side == 0
               ? &yk_interface_a(system, interface)->values[interface->def.wrench_port].motion
               : &yk_interface_b(system, interface)->values[interface->def.motion_port].motion;
}

static const yk_motion *start_of(const yk_system *system, const yk_interface *interface, int side)
{
    return side == 0 ? &yk_interface_a(system, interface)->before[interface->def.wrench_port]
                     : &yk_interface_b(system, interface)->before[interface->def.motion_port];
}

/* Directions at all nodes, `offset` after the start of the paths. */
static void directions_along(const yk_system *system, yk_index1_interface *interface,
                             const yk_path path[2], double offset)
{
    const yk_index1_basis *basis = interface->basis;
    for (int node = 0; node <= basis->degree; node++) {
        yk_motion a, b;
        yk_constraint_kinematics place;
        double time = basis->node[node] * system->h;
        yk_path_at(&path[0], offset + time, &a);
        yk_path_at(&path[1], offset + time, &b);
        yk_constraint_kinematics_at(&interface->constraint, system->t + time, &a, &b, &place);
        for (int row = 0; row < interface->constraint.row_count; row++) {
            yk_wrench unit[2];
            yk_constraint_unit_wrenches(&interface->constraint, &place, row, unit);
            for (int side = 0; side < 2; side++)
                interface->unit[side][node][row] = unit[side];
        }
    }
}

void yk_index1_predict_directions(yk_system *system)
{
    yk_index1 *x = yk_index1_of(system);
    for (int i = 0; i < system->interface_count; i++) {
        yk_index1_interface *interface = &x->interfaces[i];
        yk_path path[2];
        for (int side = 0; side < 2; side++) {
            const yk_motion *now = start_of(system, &system->interfaces[i], side);
            path[side] = x->last_step > 0 && interface->constraint.rotates
                             ? yk_path_between(interface->constraint.kind, x->last_step,
                                               &interface->earlier[side], now)
                             : yk_path_from(interface->constraint.kind, now);
        }
        bool extended = x->last_step > 0 && interface->constraint.rotates;
        directions_along(system, interface, path, extended ? x->last_step : 0);
    }
}

static void paths_of_step(const yk_system *system, int interface, yk_path path[2])
{
    for (int side = 0; side < 2; side++)
        path[side] = yk_path_between(system->interfaces[interface].kind, system->h,
                                     start_of(system, &system->interfaces[interface], side),
                                     motion_of(system, &system->interfaces[interface], side));
}

void yk_index1_update_directions(yk_system *system, const double *step)
{
    yk_jacobian *jacobian = yk_index1_of(system)->jacobian;
    for (int i = 0; i < system->interface_count; i++) {
        yk_index1_interface *interface = &yk_index1_of(system)->interfaces[i];
        if (!interface->constraint.rotates)
            continue;
        yk_path path[2];
        for (int side = 0; side < 2; side++) {
            const yk_interface *l = &system->interfaces[i];
            yk_motion end =
                yk_jacobian_expect(jacobian, step, system->h, i, side, motion_of(system, l, side));
            path[side] = yk_path_between(l->kind, system->h, start_of(system, l, side), &end);
        }
        directions_along(system, interface, path, 0);
    }
}

static void add_wrench(yk_input *input, int power, double factor, const yk_wrench *wrench)
{
    input->linear[power] = yk_v3_axpy(factor, wrench->force, input->linear[power]);
    input->angular[power] = yk_v3_axpy(factor, wrench->torque, input->angular[power]);
}

/* Directions that do not turn: the powers of the multipliers are those of the wrench. */
static void add_straight(const yk_index1_interface *interface, int degree, int side,
                         const yk_index1_multiplier *multiplier, yk_input *input)
{
    for (int row = 0; row < interface->constraint.row_count; row++)
        for (int power = 0; power <= degree; power++)
            add_wrench(input, power, multiplier[row].power[power], &interface->unit[side][0][row]);
}

static void add_rotating(const yk_index1_interface *interface, int side,
                         const yk_index1_multiplier *multiplier, yk_input *input)
{
    const yk_index1_basis *basis = interface->basis;
    for (int node = 0; node <= basis->degree; node++) {
        for (int row = 0; row < interface->constraint.row_count; row++) {
            double value = yk_poly_value(multiplier[row].power, basis->degree, basis->node[node]);
            for (int power = 0; power <= basis->degree; power++)
                add_wrench(input, power, value * basis->lagrange[node][power],
                           &interface->unit[side][node][row]);
        }
    }
}

void yk_index1_input(const yk_index1_interface *interface, int side, double h,
                     const yk_index1_multiplier *multiplier, yk_input *input)
{
    const yk_index1_basis *basis = interface->basis;
    input->degree = basis->degree;
    for (int power = 0; power <= basis->degree; power++)
        input->linear[power] = input->angular[power] = yk_v3(0, 0, 0);
    if (interface->constraint.rotates)
        add_rotating(interface, side, multiplier, input);
    else
        add_straight(interface, basis->degree, side, multiplier, input);
    double scale = 1;
    for (int power = 1; power <= basis->degree; power++) {
        scale /= h;
        input->linear[power] = yk_v3_scale(scale, input->linear[power]);
        input->angular[power] = yk_v3_scale(scale, input->angular[power]);
    }
}

yk_input yk_index1_substep_line(const yk_system *system, const yk_participant *participant,
                                double offset, const yk_input *input, const yk_wrench *last)
{
    const yk_index1 *x = yk_index1_of(system);
    double h = system->h / participant->substeps;
    double last_h = offset > 0 ? h : x->last_step / participant->substeps;

    /* Cubics continue each other from one macro step to the next, so that their own lines have
     * the same sum. The first step, and one after a jump, has no mean before it. */
    if (input->degree == 3 || last_h == 0)
        return yk_input_reduce(input, h, 1);

    /* Means belong to the middles of their substeps. */
    yk_input mean = yk_input_reduce(input, h, 0);
    yk_input line = {.degree = 1, .orientation = input->orientation};
    double slope = 2 / (h + last_h);
    line.linear[1] = yk_v3_scale(slope, yk_v3_sub(mean.linear[0], last->force));
    line.angular[1] = yk_v3_scale(slope, yk_v3_sub(mean.angular[0], last->torque));
    line.linear[0] = yk_v3_axpy(-h / 2, line.linear[1], mean.linear[0]);
    line.angular[0] = yk_v3_axpy(-h / 2, line.angular[1], mean.angular[0]);
    return line;
}

yk_input yk_index1_substep_input(yk_scheme *scheme, yk_system *system, int interface, int side,
                                 double offset)
{
    yk_index1_interface *own = &((yk_index1 *)scheme)->interfaces[interface];
    const yk_interface *l = &system->interfaces[interface];
    const yk_participant *m = side == 0 ? yk_interface_a(system, l) : yk_interface_b(system, l);
    int port = side == 0 ? l->def.wrench_port : l->def.motion_port;

    yk_input input = yk_input_shift(&m->inputs[port], l->kind, offset);
    const yk_wrench *last = offset > 0 ? &own->mean[side] : &own->last_mean[side];
    yk_input line = yk_index1_substep_line(system, m, offset, &input, last);

    yk_input mean = yk_input_reduce(&input, system->h / m->substeps, 0);
    own->mean[side] = (yk_wrench){mean.linear[0], mean.angular[0]};
    return line;
}

void yk_index1_set_inputs(yk_system *system)
{
    yk_index1 *x = yk_index1_of(system);
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        const yk_index1_interface *own = &x->interfaces[i];
        yk_input *a = &yk_interface_a(system, interface)->inputs[interface->def.wrench_port];
        yk_input *b = &yk_interface_b(system, interface)->inputs[interface->def.motion_port];
        yk_index1_input(own, 0, system->h, own->multiplier, a);
        if (yk_index1_is_relation(interface))
            yk_index1_motion_input(system, i, own->given, b);
        else
            yk_index1_input(own, 1, system->h, own->multiplier, b);
    }
}

static double power_of(const yk_wrench *wrench, const yk_motion *motion)
{
    return yk_v3_dot(wrench->force, motion->velocity) +
           yk_v3_dot(wrench->torque, motion->angular_velocity);
}

void yk_index1_work(const yk_scheme *scheme, const yk_system *system, int interface,
                    yk_interface_work *work)
{
    (void)scheme;
    *work = (yk_interface_work){0};
    const yk_index1_basis *basis = yk_index1_of(system)->interfaces[interface].basis;
    const yk_interface *l = &system->interfaces[interface];
    if (yk_index1_is_relation(l)) {
        yk_index1_relation_work(system, interface, work);
        return;
    }
    const yk_input *input[2] = {&yk_interface_a(system, l)->inputs[l->def.wrench_port],
                                &yk_interface_b(system, l)->inputs[l->def.motion_port]};
    yk_path path[2];
    paths_of_step(system, interface, path);
    for (int node = 0; node <= basis->degree; node++) {
        double t = basis->node[node] * system->h, weight = basis->weight[node] * system->h;
        yk_motion a, b;
        yk_constraint_kinematics place;
        yk_path_at(&path[0], t, &a);
        yk_path_at(&path[1], t, &b);
        yk_constraint_kinematics_at(&yk_index1_of(system)->interfaces[interface].constraint,
                                    system->t + t, &a, &b, &place);
        yk_wrench on_a = yk_input_wrench(input[0], t), on_b = yk_input_wrench(input[1], t);
        work->on[0] += weight * power_of(&on_a, &a);
        work->on[1] += weight * power_of(&on_b, &b);
        /* About the origin of the driven frame; what moves it does its own work. */
        on_b.torque = yk_v3_sub(on_b.torque, yk_v3_cross(place.reach[0], on_b.force));
        work->created += weight * (power_of(&on_a, &place.a) + power_of(&on_b, &place.b));

        /* A distance leaves B's frame alone: what changes its length does work along its line. */
        yk_vec3 line = yk_v3_sub(place.a.position, place.b.position);
        double length = yk_v3_norm(line);
        if (yk_index1_of(system)->interfaces[interface].constraint.length > 0 && length > 0)
            work->created -= weight * yk_v3_dot(on_a.force, line) / length * place.length[1];
    }
}
