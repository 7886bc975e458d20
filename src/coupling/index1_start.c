/* A consistent start of the scheme index1: multipliers with which the constraints hold on acceleration level.
 *
 * Initial accelerations depend linearly on the multipliers, so one Newton step from zero solves it; the second removes
 * rounding. The derivatives come from starts with one multiplier changed at a time, as in paper index1 (3) for the
 * oscillator, for any subsystems. Sides that are told their motion are told accelerations in the same way, and their
 * efforts are the unknowns of their partners. */
#include <math.h>
#include <string.h>

#include "coupling/index1.h"
#include "coupling/interface.h"

enum { START_CORRECTIONS = 3 };
static const double CHANGE = 1; /* N, N m */
/* Relative accelerations that are left (m/s^2, rad/s^2), against the largest, and worth a word. */
static const double NOTABLE = 1e-6;

static void place_link(const yk_system *system, int number, yk_constraint_place *place)
{
    const yk_link *link = &system->links[number];
    yk_constraint_place_at(&system->index1->links[number].constraint, system->start,
                           &yk_link_a(system, link)->values[link->def.effort_port].motion,
                           &yk_link_b(system, link)->values[link->def.motion_port].motion, place);
}

/* Directions at the start, as those of a constant. */
static void find_directions(yk_system *system)
{
    for (int i = 0; i < system->link_count; i++) {
        yk_index1_link *link = &system->index1->links[i];
        yk_constraint_place place;
        place_link(system, i, &place);
        for (int row = 0; row < link->constraint.row_count; row++) {
            yk_effort unit[2];
            yk_constraint_unit_efforts(&link->constraint, &place, row, unit);
            for (int side = 0; side < 2; side++) link->unit[side][0][row] = unit[side];
        }
    }
}

/* Side B of a law is told the motion of A with an acceleration of its own, told[0] here. */
static void tell(const yk_system *system, int number, double acceleration)
{
    const yk_link *link = &system->links[number];
    yk_motion motion = yk_link_a(system, link)->values[link->def.effort_port].motion;
    motion.acceleration.x = acceleration;
    yk_input_taylor(YK_PORT_SCALAR, &motion, &yk_link_b(system, link)->inputs[link->def.motion_port]);
}

/* Starts a member; what laws answer has no moments yet but its value. */
static yk_status start_member(yk_system *system, int member)
{
    yk_member *m = &system->members[member];
    yk_status status = yk_system_start_member(system, member);
    for (int port = 0; m->moments && port < m->port_count; port++)
        m->moments[port] = (yk_motion){.acceleration.x = -m->values[port].effort.force.x};
    return status;
}

/* Starts with one multiplier, or one acceleration, changed, and what that does to the answers. */
static yk_status start_changed(yk_system *system, int member, const yk_connection *by, int row)
{
    struct yk_index1 *x = system->index1;
    yk_member *m = &system->members[member];
    yk_response *r = yk_jacobian_response(x->start_jacobian, member);
    const yk_index1_link *link = &x->links[by->link];
    yk_index1_multiplier multiplier[YK_JOINT_ROWS_MAX];
    memcpy(multiplier, link->multiplier, sizeof multiplier);
    multiplier[row].power[0] += CHANGE;
    yk_signal kept = m->inputs[by->port];
    if (by->side == 1 && system->links[by->link].law)
        tell(system, by->link, link->told[0] + CHANGE);
    else
        yk_index1_signal(link, by->side, system->h, multiplier, &m->inputs[by->port]);
    yk_status status = start_member(system, member);
    m->inputs[by->port] = kept;
    for (int i = 0; i < r->connection_count; i++)
        r->motion[(by->column + row) * r->connection_count + i] =
            yk_index1_answer(system, r->connections[i].link, r->connections[i].side);
    return status;
}

static yk_status start_with_response(yk_system *system, int member)
{
    struct yk_index1 *x = system->index1;
    yk_response *r = yk_jacobian_response(x->start_jacobian, member);
    yk_status status = YK_OK;
    for (int i = 0; i < r->connection_count; i++) {
        int rows = x->links[r->connections[i].link].constraint.row_count;
        for (int row = 0; status >= 0 && row < rows; row++)
            status = start_changed(system, member, &r->connections[i], row);
    }
    if (status >= 0) status = start_member(system, member);
    if (status < 0) return status;
    for (int column = 0; column < r->columns; column++) {
        for (int i = 0; i < r->connection_count; i++) {
            const yk_connection *c = &r->connections[i];
            yk_motion now = yk_index1_answer(system, c->link, c->side);
            yk_motion_difference(x->links[c->link].constraint.kind, &now, &r->motion[column * r->connection_count + i],
                                 1 / CHANGE, r->matrix + c->row * r->columns + column, r->columns);
        }
    }
    return YK_OK;
}

static yk_status start_all(yk_system *system, bool response)
{
    yk_index1_set_inputs(system);
    for (int i = 0; i < system->link_count; i++)
        if (system->links[i].law) tell(system, i, system->index1->links[i].told[0]);
    for (int i = 0; i < system->member_count; i++) {
        yk_status status = response ? start_with_response(system, i) : start_member(system, i);
        if (status < 0) return status;
    }
    return YK_OK;
}

/* The conditions of a law; returns the larger, against the effort and the acceleration. */
static double evaluate_law(const yk_system *system, int number, double *residual)
{
    const yk_index1_link *link = &system->index1->links[number];
    double effort = yk_index1_answer(system, number, 1).acceleration.x, given = link->multiplier[0].power[0];
    double acceleration = yk_index1_answer(system, number, 0).acceleration.x;
    residual[0] = given - effort, residual[1] = link->told[0] - acceleration;
    return fmax(fabs(residual[0]) / (1e-300 + fabs(given) + fabs(effort)),
                fabs(residual[1]) / (1e-300 + fabs(link->told[0]) + fabs(acceleration)));
}

/* Relative accelerations; returns the largest, against those of the sides. */
static double evaluate(const yk_system *system, double *residual)
{
    double largest = 0, scale = 1e-300, laws = 0;
    for (int i = 0; i < system->link_count; i++) {
        const yk_constraint *constraint = &system->index1->links[i].constraint;
        yk_constraint_place place;
        double g[YK_LEVELS][YK_JOINT_ROWS_MAX];
        if (system->links[i].law) {
            laws = fmax(laws, evaluate_law(system, i, residual));
            residual += 2;
            continue;
        }
        place_link(system, i, &place);
        yk_constraint_value(constraint, &place, g);
        for (int row = 0; row < constraint->row_count; row++) {
            *residual++ = g[2][row];
            largest = fmax(largest, fabs(g[2][row]));
        }
        scale = fmax(scale, yk_v3_norm(place.a.acceleration) + yk_v3_norm(place.b.acceleration));
        scale = fmax(scale, yk_v3_norm(place.a.angular_acceleration) + yk_v3_norm(place.b.angular_acceleration));
    }
    return fmax(largest / scale, laws);
}

static const yk_constraint_gradient *gradient_of(void *user, int link)
{
    const yk_system *system = user;
    yk_constraint_place place;
    place_link(system, link, &place);
    yk_index1_link *own = &system->index1->links[link];
    yk_constraint_differentiate(&own->constraint, &place, &own->gradient);
    return &own->gradient;
}

static void apply(yk_system *system, const double *correction)
{
    for (int i = 0; i < system->link_count; i++) {
        yk_index1_link *link = &system->index1->links[i];
        for (int row = 0; row < link->constraint.row_count; row++) link->multiplier[row].power[0] -= *correction++;
        if (system->links[i].law) link->told[0] -= *correction++;
    }
}

/* Newton's method on acceleration level; false: the accelerations do not follow the efforts. */
static yk_status solve(yk_system *system, bool *consistent)
{
    static const double accelerations[1][YK_LEVELS] = {{0, 0, 1}};
    const yk_conditions conditions = {accelerations, accelerations, 1};
    struct yk_index1 *x = system->index1;
    double left = INFINITY;
    *consistent = false;
    for (int i = 0; i <= START_CORRECTIONS; i++) {
        yk_status status = start_all(system, i == 0);
        if (status < 0) return status;
        left = evaluate(system, x->correction);
        if (i == START_CORRECTIONS) break;
        if (i == 0) yk_jacobian_renew(x->start_jacobian);
        if (i == 0 && yk_jacobian_assemble(x->start_jacobian, gradient_of, system, &conditions) < 0) return YK_OK;
        yk_jacobian_solve(x->start_jacobian, x->correction);
        apply(system, x->correction);
    }
    *consistent = left <= NOTABLE;
    return YK_OK;
}

static void clear_efforts(yk_system *system)
{
    for (int i = 0; i < system->link_count; i++) {
        yk_index1_link *link = &system->index1->links[i];
        memset(link->multiplier, 0, sizeof link->multiplier);
        memset(link->told, 0, sizeof link->told);
    }
}

yk_status yk_index1_start(yk_system *system)
{
    struct yk_index1 *x = system->index1;
    x->last_step = x->jacobian_step = x->last_rate = 0;
    x->jacobian_degree = 0;
    x->basis = &x->bases[0];
    for (int i = 0; i < system->link_count; i++) x->links[i].basis = x->basis;
    clear_efforts(system);
    find_directions(system);
    bool consistent;
    yk_status status = solve(system, &consistent);
    if (status < 0) return status;
    x->jumped = !consistent;
    if (consistent) return YK_OK;
    yk_log(system->context, YK_LOG_WARNING,
           "the accelerations at the interfaces do not fit each other at the start; the first step finds efforts "
           "without those of the start");
    clear_efforts(system);
    return start_all(system, false);
}
