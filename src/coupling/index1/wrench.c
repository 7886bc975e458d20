/* Wrenches of the scheme index1: from multipliers to inputs of both sides, and their polynomials
 * (Meyer et al. 2018, equations 28 to 31).
 *
 * A subsystem receives its wrench as a polynomial in global axes, but the direction of a constraint
 * may rotate with either side. The paper approximates the partner's frame by further coupling
 * variables of the same degree, which would reduce the order if directions rotate fast. Here the
 * frames of both sides are known to sixth order from their motion at both ends of the step, and the
 * polynomial interpolates direction times multiplier at quadrature nodes, which preserves the order
 * of the scheme. Both sides use the same directions and multipliers, so that no momentum is
 * created. */
#include "coupling/index1/index1.h"

#include <string.h>

#include "coupling/slip.h"

void yk_index1_kinematics(const yk_system *system, int number, double t,
                          yk_constraint_kinematics *kinematics)
{
    const yk_interface *interface = &system->interfaces[number];
    const yk_motion *a = &yk_value_a(system, interface)->motion;
    const yk_motion *b = &yk_value_b(system, interface)->motion;
    const yk_index1_interface *own = &yk_index1_of(system)->interfaces[number];
    yk_constraint_kinematics_at(&own->constraint, t, a, b, kinematics);
    if (t > system->t)
        yk_slip_at_end(system, number, &own->constraint, kinematics);
}

/* Directions ----------------------------------------------------------------------------------- */

/* At all nodes, `offset` after the start of the paths. */
static void directions_along(const yk_system *system, yk_index1_interface *own,
                             const yk_path path[2], double offset)
{
    const yk_index1_basis *basis = own->basis;
    for (int node = 0; node <= basis->degree; node++) {
        /* Motions of both sides at the node, and the frame moved by a drive. */
        double time = basis->node[node] * system->h;
        yk_motion a;
        yk_motion b;
        yk_path_at(&path[0], offset + time, &a);
        yk_path_at(&path[1], offset + time, &b);

        yk_constraint_kinematics at;
        yk_constraint_kinematics_at(&own->constraint, system->t + time, &a, &b, &at);

        for (int row = 0; row < own->constraint.row_count; row++) {
            yk_wrench unit[2];
            yk_constraint_unit_wrenches(&own->constraint, &at, row, unit);
            own->unit[0][node][row] = unit[0];
            own->unit[1][node][row] = unit[1];
        }
    }
}

/* The path from a motion with its constant acceleration. */
static yk_path path_onward(yk_port_kind kind, const yk_motion *from)
{
    yk_path path = {.kind = kind, .orientation = yk_q_identity()};

    /* Taylor series of the motion. */
    path.linear[0] = from->position;
    path.linear[1] = from->velocity;
    path.linear[2] = yk_v3_scale(0.5, from->acceleration);
    if (kind == YK_PORT_SCALAR)
        return path;

    path.angular[1] = from->angular_velocity;
    path.angular[2] = yk_v3_scale(0.5, from->angular_acceleration);
    path.orientation = from->orientation;

    return path;
}

void yk_index1_predict_directions(yk_system *system)
{
    yk_index1 *x = yk_index1_of(system);
    for (int i = 0; i < system->interface_count; i++) {
        yk_index1_interface *own = &x->interfaces[i];
        yk_port_kind kind = own->constraint.kind;

        /* Extrapolate the path of the last step, if there is one and it is relevant. */
        bool extended = x->last_step > 0 && own->constraint.rotates;
        double offset = 0;
        if (extended)
            offset = x->last_step;
        yk_path path[2];
        for (int side = 0; side < 2; side++) {
            const yk_motion *now = yk_system_interface_motion_at_step_start(system, i, side);
            if (extended)
                path[side] = yk_path_between(kind, x->last_step, &own->earlier[side], now);
            else
                path[side] = path_onward(kind, now);
        }

        directions_along(system, own, path, offset);
    }
}

void yk_index1_update_directions(yk_system *system, const double *step)
{
    yk_index1 *x = yk_index1_of(system);
    double h = system->h;

    for (int i = 0; i < system->interface_count; i++) {
        yk_index1_interface *own = &x->interfaces[i];
        if (!own->constraint.rotates)
            continue;

        /* From the start of the step to the predicted motion after the correction. */
        yk_path path[2];
        for (int side = 0; side < 2; side++) {
            const yk_motion *start = yk_system_interface_motion_at_step_start(system, i, side);
            const yk_motion *now = yk_system_interface_motion(system, i, side);
            yk_motion end = yk_jacobian_expect(x->jacobian, step, h, i, side, now);
            path[side] = yk_path_between(own->constraint.kind, h, start, &end);
        }

        directions_along(system, own, path, 0);
    }
}

/* Inputs --------------------------------------------------------------------------------------- */

static void add_wrench(yk_input *input, int power, double factor, const yk_wrench *wrench)
{
    yk_vec3 *linear = &input->linear[power];
    yk_vec3 *angular = &input->angular[power];
    *linear = yk_v3_axpy(factor, wrench->force, *linear);
    *angular = yk_v3_axpy(factor, wrench->torque, *angular);
}

void yk_index1_input(const yk_index1_interface *own, int side, double h,
                     const yk_index1_multiplier *multiplier, yk_input *input)
{
    const yk_index1_basis *basis = own->basis;
    int degree = basis->degree;
    int rows = own->constraint.row_count;
    input->degree = degree;

    /* The sum of direction times multiplier over the rows. */
    for (int power = 0; power <= degree; power++) {
        input->linear[power] = yk_v3(0, 0, 0);
        input->angular[power] = yk_v3(0, 0, 0);
    }

    if (own->constraint.rotates) {
        /* The polynomial that interpolates direction times multiplier at the nodes. */
        for (int node = 0; node <= degree; node++) {
            const double *lagrange = basis->lagrange[node];
            for (int row = 0; row < rows; row++) {
                const yk_wrench *unit = &own->unit[side][node][row];
                double value = yk_poly_value(multiplier[row].power, degree, basis->node[node]);

                for (int power = 0; power <= degree; power++)
                    add_wrench(input, power, value * lagrange[power], unit);
            }
        }
    } else {
        /* For constant directions, the powers of the multipliers are those of the wrench. */
        for (int row = 0; row < rows; row++) {
            const yk_wrench *unit = &own->unit[side][0][row];
            for (int power = 0; power <= degree; power++)
                add_wrench(input, power, multiplier[row].power[power], unit);
        }
    }

    /* From powers of tau to powers of time. */
    double scale = 1;
    for (int power = 1; power <= degree; power++) {
        scale /= h;
        input->linear[power] = yk_v3_scale(scale, input->linear[power]);
        input->angular[power] = yk_v3_scale(scale, input->angular[power]);
    }
}

yk_input yk_index1_substep_line(const yk_system *system, const yk_participant *p, double offset,
                                const yk_input *input, const yk_wrench *last)
{
    /* For the first substep, the previous mean is that of the last substep of the last macro step. */
    double h = system->h / p->substeps;
    double last_h = h;
    if (!(offset > 0))
        last_h = yk_index1_of(system)->last_step / p->substeps;

    /* Cubics continue each other from one macro step to the next, so their own lines have the right
     * sum. The first step, and a step after a jump, have no previous mean. */
    if (input->degree == 3 || last_h == 0)
        return yk_input_reduce(input, h, 1);

    /* Means belong to the middles of their substeps. */
    yk_input mean = yk_input_reduce(input, h, 0);
    yk_input line = {.degree = 1, .base_orientation = input->base_orientation};
    double slope = 2 / (h + last_h);
    yk_vec3 force_change = yk_v3_sub(mean.linear[0], last->force);
    yk_vec3 torque_change = yk_v3_sub(mean.angular[0], last->torque);
    line.linear[1] = yk_v3_scale(slope, force_change);
    line.angular[1] = yk_v3_scale(slope, torque_change);
    line.linear[0] = yk_v3_axpy(-h / 2, line.linear[1], mean.linear[0]);
    line.angular[0] = yk_v3_axpy(-h / 2, line.angular[1], mean.angular[0]);

    return line;
}

yk_input yk_index1_substep_input(yk_scheme *scheme, yk_system *system, int number, int side,
                                 double offset)
{
    yk_index1_interface *own = &((yk_index1 *)scheme)->interfaces[number];
    const yk_interface *interface = &system->interfaces[number];

    /* The side's own port, and its previous mean. */
    const yk_participant *p = yk_interface_a(system, interface);
    int port = interface->def.wrench_port.index;
    if (side == 1) {
        p = yk_interface_b(system, interface);
        port = interface->def.motion_port.index;
    }

    yk_input input = yk_input_shift(&p->inputs[port], interface->kind, offset);
    const yk_wrench *last = &own->last_mean[side];
    if (offset > 0)
        last = &own->mean[side];
    yk_input line = yk_index1_substep_line(system, p, offset, &input, last);

    /* The next substep extrapolates from this mean. */
    yk_input mean = yk_input_reduce(&input, system->h / p->substeps, 0);
    own->mean[side] = (yk_wrench){mean.linear[0], mean.angular[0]};

    return line;
}

void yk_index1_set_inputs(yk_system *system)
{
    yk_index1 *x = yk_index1_of(system);
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        const yk_index1_interface *own = &x->interfaces[i];
        yk_input *a = yk_input_a(system, interface);
        yk_input *b = yk_input_b(system, interface);
        yk_index1_input(own, 0, system->h, own->multiplier, a);

        /* For a relation, side B receives a motion instead of a wrench. */
        if (yk_index1_is_relation(interface))
            yk_index1_motion_input(system, i, own->given, b);
        else
            yk_index1_input(own, 1, system->h, own->multiplier, b);
    }
}

/* Work ----------------------------------------------------------------------------------------- */

static double power_of(const yk_wrench *wrench, const yk_motion *motion)
{
    double linear = yk_v3_dot(wrench->force, motion->velocity);
    double angular = yk_v3_dot(wrench->torque, motion->angular_velocity);
    return linear + angular;
}

void yk_index1_work(const yk_scheme *scheme, const yk_system *system, int number,
                    yk_interface_work *work)
{
    const yk_index1_interface *own = &((const yk_index1 *)scheme)->interfaces[number];
    const yk_index1_basis *basis = own->basis;
    const yk_constraint *constraint = &own->constraint;
    const yk_interface *interface = &system->interfaces[number];
    *work = (yk_interface_work){0};
    if (yk_index1_is_relation(interface)) {
        yk_index1_relation_work(system, number, work);
        return;
    }

    /* Along the actual paths of both sides. */
    yk_path path[2];
    for (int side = 0; side < 2; side++) {
        const yk_motion *start = yk_system_interface_motion_at_step_start(system, number, side);
        const yk_motion *end = yk_system_interface_motion(system, number, side);
        path[side] = yk_path_between(interface->kind, system->h, start, end);
    }

    /* Power at the nodes of the basis, times their weights. */
    for (int node = 0; node <= basis->degree; node++) {
        double t = basis->node[node] * system->h;
        double weight = basis->weight[node] * system->h;
        yk_motion a;
        yk_motion b;
        yk_path_at(&path[0], t, &a);
        yk_path_at(&path[1], t, &b);
        yk_constraint_kinematics at;
        yk_constraint_kinematics_at(constraint, system->t + t, &a, &b, &at);

        yk_wrench on_a = yk_input_wrench(yk_input_a(system, interface), t);
        yk_wrench on_b = yk_input_wrench(yk_input_b(system, interface), t);
        work->work[0] += weight * power_of(&on_a, &a);
        work->work[1] += weight * power_of(&on_b, &b);

        /* About the origin of the driven frame. The drive does its own work. */
        on_b.torque = yk_v3_sub(on_b.torque, yk_v3_cross(at.reach[0], on_b.force));
        work->energy_created += weight * (power_of(&on_a, &at.a) + power_of(&on_b, &at.b));

        /* A distance does not move B's frame. Its change of length does work along its line. */
        yk_vec3 line = yk_v3_sub(at.a.position, at.b.position);
        double length = yk_v3_norm(line);
        if (constraint->length > 0 && length > 0)
            work->energy_created -= weight * yk_v3_dot(on_a.force, line) / length * at.length[1];
    }
}

/* Polynomials -------------------------------------------------------------------------------------
 *
 * The shapes are those of Meyer et al. 2018 (23), (24): for a free mass, p_1 changes only the
 * position at the end of the step, p_2 only the velocity, and p_3 only the acceleration. So the
 * scaled Jacobian of free masses is diagonal. The same holds for degrees 0 and 1, which have fewer
 * parameters: degree 1 satisfies position and velocity, degree 0 the sum of both scaled conditions
 * (with only one of them the other would be undamped).
 *
 * If the direction of a wrench rotates during the step, the polynomial of the wrench interpolates
 * direction times multiplier at the nodes of Gauss (degrees 0, 1), Radau (2) or Lobatto (3). It
 * then has the same first moments over the step, and the same value at the ends if the degree
 * determines it, up to the order of the scheme.
 *
 * The motion of a port between the ends of the step, which determines these directions, is given by
 * its path (path.h). */

static const yk_index1_basis bases[YK_INPUT_COEFFICIENT_COUNT] = {
    {.degree = 0, .parameters = 1, .shape = {{2.0 / 3}}, .condition = {{1, 1, 0}}, .node = {0.5}},
    {.degree = 1,
     .parameters = 2,
     .shape = {{6, -12}, {-2, 6}},
     .condition = {{1, 0, 0}, {0, 1, 0}},
     .node = {0.2113248654051871177, 0.7886751345948128823}},
    {.degree = 2,
     .parameters = 3,
     .shape = {{12, -48, 36}, {-6, 30, -24}, {1, -6, 6}},
     .condition = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
     .node = {0.1550510257216821902, 0.6449489742783178098, 1}},
    {.degree = 3,
     .parameters = 3,
     .shape = {{0, 60, -180, 120}, {0, -24, 84, -60}, {0, 3, -12, 10}},
     .condition = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
     .node = {0, 0.2763932022500210304, 0.7236067977499789696, 1}},
};

yk_index1_basis yk_index1_basis_of(int degree)
{
    yk_index1_basis basis = bases[degree];
    memcpy(basis.moment, basis.condition, sizeof basis.moment);

    /* A constant wrench is that of the relation at the end of the step. */
    if (degree == 0) {
        basis.moment[0][0] = 0;
        basis.moment[0][1] = 0;
        basis.moment[0][2] = 1 / basis.shape[0][0];
    }

    /* Lagrange polynomials of the nodes, and their integrals. */
    for (int i = 0; i <= degree; i++) {
        double value[YK_INDEX1_NODES] = {0};
        value[i] = 1;
        yk_poly_interpolate(basis.node, value, degree, basis.lagrange[i]);

        for (int power = 0; power <= degree; power++)
            basis.weight[i] += basis.lagrange[i][power] / (power + 1);
    }

    return basis;
}
