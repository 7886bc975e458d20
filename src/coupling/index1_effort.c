/* The efforts of the scheme index1: from multipliers to inputs of both sides.
 *
 * paper index1 (28)-(31). A subsystem takes its effort as a polynomial in global axes, but the direction of a
 * constraint may turn with either side. The paper approximates the partner's frame by further coupling variables of the
 * same degree, which would cost orders where directions turn fast. Here the frames of both sides are known to sixth
 * order from their motion at both ends of the step (path.h), and direction times multiplier is met at quadrature nodes
 * (index1_basis.c), which keeps the order of the scheme. Both sides use the same directions and multipliers, so that no
 * momentum is created. */
#include "coupling/index1.h"
#include "math/polynomial.h"

static const yk_motion *motion_of(const yk_system *system, const yk_link *link, int side)
{
    return side == 0 ? &yk_link_a(system, link)->values[link->def.effort_port].motion
                     : &yk_link_b(system, link)->values[link->def.motion_port].motion;
}

static const yk_motion *start_of(const yk_system *system, const yk_link *link, int side)
{
    return side == 0 ? &yk_link_a(system, link)->before[link->def.effort_port]
                     : &yk_link_b(system, link)->before[link->def.motion_port];
}

/* Directions at all nodes, `offset` after the start of the paths. */
static void directions_along(const yk_system *system, yk_index1_link *link, const yk_path path[2], double offset)
{
    const yk_index1_basis *basis = link->basis;
    for (int node = 0; node <= basis->degree; node++) {
        yk_motion a, b;
        yk_constraint_place place;
        double time = basis->node[node] * system->h;
        yk_path_at(&path[0], offset + time, &a);
        yk_path_at(&path[1], offset + time, &b);
        yk_constraint_place_at(&link->constraint, system->t + time, &a, &b, &place);
        for (int row = 0; row < link->constraint.row_count; row++) {
            yk_effort unit[2];
            yk_constraint_unit_efforts(&link->constraint, &place, row, unit);
            for (int side = 0; side < 2; side++) link->unit[side][node][row] = unit[side];
        }
    }
}

void yk_index1_predict_directions(yk_system *system)
{
    struct yk_index1 *x = system->index1;
    for (int i = 0; i < system->link_count; i++) {
        yk_index1_link *link = &x->links[i];
        yk_path path[2];
        for (int side = 0; side < 2; side++) {
            const yk_motion *now = start_of(system, &system->links[i], side);
            path[side] = x->last_step > 0 && link->constraint.turns
                             ? yk_path_between(link->constraint.kind, x->last_step, &link->earlier[side], now)
                             : yk_path_from(link->constraint.kind, now);
        }
        bool extended = x->last_step > 0 && link->constraint.turns;
        directions_along(system, link, path, extended ? x->last_step : 0);
    }
}

static void paths_of_step(const yk_system *system, int link, yk_path path[2])
{
    for (int side = 0; side < 2; side++)
        path[side] = yk_path_between(system->links[link].kind, system->h, start_of(system, &system->links[link], side),
                                     motion_of(system, &system->links[link], side));
}

void yk_index1_update_directions(yk_system *system, const double *step)
{
    yk_jacobian *jacobian = system->index1->jacobian;
    for (int i = 0; i < system->link_count; i++) {
        yk_index1_link *link = &system->index1->links[i];
        if (!link->constraint.turns) continue;
        yk_path path[2];
        for (int side = 0; side < 2; side++) {
            const yk_link *l = &system->links[i];
            yk_motion end = yk_jacobian_expect(jacobian, step, system->h, i, side, motion_of(system, l, side));
            path[side] = yk_path_between(l->kind, system->h, start_of(system, l, side), &end);
        }
        directions_along(system, link, path, 0);
    }
}

static void add_effort(yk_signal *signal, int power, double factor, const yk_effort *effort)
{
    signal->linear[power] = yk_v3_axpy(factor, effort->force, signal->linear[power]);
    signal->angular[power] = yk_v3_axpy(factor, effort->torque, signal->angular[power]);
}

/* Directions that do not turn: the powers of the multipliers are those of the effort. */
static void add_straight(const yk_index1_link *link, int degree, int side, const yk_index1_multiplier *multiplier,
                         yk_signal *signal)
{
    for (int row = 0; row < link->constraint.row_count; row++)
        for (int power = 0; power <= degree; power++)
            add_effort(signal, power, multiplier[row].power[power], &link->unit[side][0][row]);
}

static void add_turning(const yk_index1_link *link, int side, const yk_index1_multiplier *multiplier, yk_signal *signal)
{
    const yk_index1_basis *basis = link->basis;
    for (int node = 0; node <= basis->degree; node++) {
        for (int row = 0; row < link->constraint.row_count; row++) {
            double value = yk_poly_value(multiplier[row].power, basis->degree, basis->node[node]);
            for (int power = 0; power <= basis->degree; power++)
                add_effort(signal, power, value * basis->lagrange[node][power], &link->unit[side][node][row]);
        }
    }
}

void yk_index1_signal(const yk_index1_link *link, int side, double h, const yk_index1_multiplier *multiplier,
                      yk_signal *signal)
{
    const yk_index1_basis *basis = link->basis;
    signal->degree = basis->degree;
    for (int power = 0; power <= basis->degree; power++)
        signal->linear[power] = signal->angular[power] = yk_v3(0, 0, 0);
    if (link->constraint.turns)
        add_turning(link, side, multiplier, signal);
    else
        add_straight(link, basis->degree, side, multiplier, signal);
    double scale = 1;
    for (int power = 1; power <= basis->degree; power++) {
        scale /= h;
        signal->linear[power] = yk_v3_scale(scale, signal->linear[power]);
        signal->angular[power] = yk_v3_scale(scale, signal->angular[power]);
    }
}

yk_signal yk_index1_substep_line(const yk_system *system, const yk_member *member, double offset,
                                 const yk_signal *input, const yk_effort *last)
{
    const struct yk_index1 *x = system->index1;
    double h = system->h / member->substeps;
    double last_h = offset > 0 ? h : x->last_step / member->substeps;

    /* Cubics continue each other from one macro step to the next, so that their own lines have the same sum. The first
     * step, and one after a jump, has no mean before it. */
    if (input->degree == 3 || last_h == 0) return yk_signal_reduce(input, h, 1);

    /* Means belong to the middles of their substeps. */
    yk_signal mean = yk_signal_reduce(input, h, 0);
    yk_signal line = {.degree = 1, .orientation = input->orientation};
    double slope = 2 / (h + last_h);
    line.linear[1] = yk_v3_scale(slope, yk_v3_sub(mean.linear[0], last->force));
    line.angular[1] = yk_v3_scale(slope, yk_v3_sub(mean.angular[0], last->torque));
    line.linear[0] = yk_v3_axpy(-h / 2, line.linear[1], mean.linear[0]);
    line.angular[0] = yk_v3_axpy(-h / 2, line.angular[1], mean.angular[0]);
    return line;
}

yk_signal yk_index1_substep_input(yk_system *system, int link, int side, double offset)
{
    yk_index1_link *own = &system->index1->links[link];
    const yk_link *l = &system->links[link];
    const yk_member *m = side == 0 ? yk_link_a(system, l) : yk_link_b(system, l);
    int port = side == 0 ? l->def.effort_port : l->def.motion_port;

    yk_signal input = yk_signal_shift(&m->inputs[port], l->kind, offset);
    const yk_effort *last = offset > 0 ? &own->mean[side] : &own->last_mean[side];
    yk_signal line = yk_index1_substep_line(system, m, offset, &input, last);

    yk_signal mean = yk_signal_reduce(&input, system->h / m->substeps, 0);
    own->mean[side] = (yk_effort){mean.linear[0], mean.angular[0]};
    return line;
}

void yk_index1_set_inputs(yk_system *system)
{
    struct yk_index1 *x = system->index1;
    for (int i = 0; i < system->link_count; i++) {
        const yk_link *link = &system->links[i];
        const yk_index1_link *own = &x->links[i];
        yk_signal *a = &yk_link_a(system, link)->inputs[link->def.effort_port];
        yk_signal *b = &yk_link_b(system, link)->inputs[link->def.motion_port];
        yk_index1_signal(own, 0, system->h, own->multiplier, a);
        if (link->law)
            yk_index1_tell(system, i, own->told, b);
        else
            yk_index1_signal(own, 1, system->h, own->multiplier, b);
    }
}

static double power_of(const yk_effort *effort, const yk_motion *motion)
{
    return yk_v3_dot(effort->force, motion->velocity) + yk_v3_dot(effort->torque, motion->angular_velocity);
}

void yk_index1_work(const yk_system *system, int link, yk_link_work *work)
{
    *work = (yk_link_work){0};
    const yk_index1_basis *basis = system->index1->links[link].basis;
    const yk_link *l = &system->links[link];
    if (l->law) {
        yk_index1_law_work(system, link, work);
        return;
    }
    const yk_signal *input[2] = {&yk_link_a(system, l)->inputs[l->def.effort_port],
                                 &yk_link_b(system, l)->inputs[l->def.motion_port]};
    yk_path path[2];
    paths_of_step(system, link, path);
    for (int node = 0; node <= basis->degree; node++) {
        double t = basis->node[node] * system->h, weight = basis->weight[node] * system->h;
        yk_motion a, b;
        yk_constraint_place place;
        yk_path_at(&path[0], t, &a);
        yk_path_at(&path[1], t, &b);
        yk_constraint_place_at(&system->index1->links[link].constraint, system->t + t, &a, &b, &place);
        yk_effort on_a = yk_signal_effort(input[0], t), on_b = yk_signal_effort(input[1], t);
        work->on[0] += weight * power_of(&on_a, &a);
        work->on[1] += weight * power_of(&on_b, &b);
        /* About the origin of the driven frame; what moves it does its own work. */
        on_b.torque = yk_v3_sub(on_b.torque, yk_v3_cross(place.reach[0], on_b.force));
        work->created += weight * (power_of(&on_a, &place.a) + power_of(&on_b, &place.b));

        /* A distance leaves B's frame alone: what changes its length does work along its line. */
        yk_vec3 line = yk_v3_sub(place.a.position, place.b.position);
        double length = yk_v3_norm(line);
        if (system->index1->links[link].constraint.length > 0 && length > 0)
            work->created -= weight * yk_v3_dot(on_a.force, line) / length * place.length[1];
    }
}
