/* A consistent start of the scheme index1: multipliers with which the constraints hold on
 * acceleration level.
 *
 * Initial accelerations depend linearly on the multipliers, so one Newton step from zero solves
 * it; the second removes rounding. The derivatives come from starts with one multiplier changed
 * at a time, as in paper index1 (3) for the oscillator, for any subsystems. Sides that are told
 * their motion are told accelerations in the same way, and their wrenches are the unknowns of
 * their partners. */
#include <math.h>
#include <string.h>

#include "coupling/index1/index1.h"
#include "coupling/interface.h"

enum { START_CORRECTIONS = 3 };
static const double CHANGE = 1; /* N, N m */
/* Relative accelerations that are left (m/s^2, rad/s^2), against the largest, and worth a word. */
static const double NOTABLE = 1e-6;

static void interface_kinematics(const yk_system *system, int number,
                                 yk_constraint_kinematics *place)
{
    const yk_interface *interface = &system->interfaces[number];
    yk_constraint_kinematics_at(
        &yk_index1_of(system)->interfaces[number].constraint, system->start,
        &yk_interface_a(system, interface)->values[interface->def.wrench_port].motion,
        &yk_interface_b(system, interface)->values[interface->def.motion_port].motion, place);
}

/* Directions at the start, as those of a constant. */
static void find_directions(yk_system *system)
{
    for (int i = 0; i < system->interface_count; i++) {
        yk_index1_interface *interface = &yk_index1_of(system)->interfaces[i];
        yk_constraint_kinematics place;
        interface_kinematics(system, i, &place);
        for (int row = 0; row < interface->constraint.row_count; row++) {
            yk_wrench unit[2];
            yk_constraint_unit_wrenches(&interface->constraint, &place, row, unit);
            for (int side = 0; side < 2; side++)
                interface->unit[side][0][row] = unit[side];
        }
    }
}

/* Side B of a relation is told the motion of A with an acceleration of its own, told[0] here. */
static void report(const yk_system *system, int number, double acceleration)
{
    const yk_interface *interface = &system->interfaces[number];
    yk_motion motion = yk_interface_a(system, interface)->values[interface->def.wrench_port].motion;
    motion.acceleration.x = acceleration;
    yk_input_taylor(YK_PORT_SCALAR, &motion,
                    &yk_interface_b(system, interface)->inputs[interface->def.motion_port]);
}

/* Starts a participant; what relations answer has no moments yet but its value. */
static yk_status start_participant(yk_system *system, int participant)
{
    yk_participant *m = &system->participants[participant];
    yk_status status = yk_system_start_participant(system, participant);
    yk_motion *moments = yk_index1_of(system)->moments[participant];
    for (int port = 0; moments && port < m->port_count; port++)
        moments[port] = (yk_motion){.acceleration.x = -m->values[port].wrench.force.x};
    return status;
}

/* Starts with one multiplier, or one acceleration, changed, and what that does to the answers. */
static yk_status start_changed(yk_system *system, int participant, const yk_connection *by, int row)
{
    yk_index1 *x = yk_index1_of(system);
    yk_participant *m = &system->participants[participant];
    yk_port_response *r = yk_jacobian_response(x->start_jacobian, participant);
    const yk_index1_interface *interface = &x->interfaces[by->interface];
    yk_index1_multiplier multiplier[YK_JOINT_ROWS_MAX];
    memcpy(multiplier, interface->multiplier, sizeof multiplier);
    multiplier[row].power[0] += CHANGE;
    yk_input kept = m->inputs[by->port];
    if (by->side == 1 && yk_index1_is_relation(&system->interfaces[by->interface]))
        report(system, by->interface, interface->given[0] + CHANGE);
    else
        yk_index1_input(interface, by->side, system->h, multiplier, &m->inputs[by->port]);
    yk_status status = start_participant(system, participant);
    m->inputs[by->port] = kept;
    for (int i = 0; i < r->connection_count; i++)
        r->motion[(by->column + row) * r->connection_count + i] =
            yk_index1_answer(system, r->connections[i].interface, r->connections[i].side);
    return status;
}

static yk_status start_with_response(yk_system *system, int participant)
{
    yk_index1 *x = yk_index1_of(system);
    yk_port_response *r = yk_jacobian_response(x->start_jacobian, participant);
    yk_status status = YK_OK;
    for (int i = 0; i < r->connection_count; i++) {
        int rows = x->interfaces[r->connections[i].interface].constraint.row_count;
        for (int row = 0; status >= 0 && row < rows; row++)
            status = start_changed(system, participant, &r->connections[i], row);
    }
    if (status >= 0)
        status = start_participant(system, participant);
    if (status < 0)
        return status;
    for (int column = 0; column < r->columns; column++) {
        for (int i = 0; i < r->connection_count; i++) {
            const yk_connection *c = &r->connections[i];
            yk_motion now = yk_index1_answer(system, c->interface, c->side);
            yk_motion_difference(x->interfaces[c->interface].constraint.kind, &now,
                                 &r->motion[column * r->connection_count + i], 1 / CHANGE,
                                 r->matrix + c->row * r->columns + column, r->columns);
        }
    }
    return YK_OK;
}

static yk_status start_all(yk_system *system, bool response)
{
    yk_index1_set_inputs(system);
    for (int i = 0; i < system->interface_count; i++)
        if (yk_index1_is_relation(&system->interfaces[i]))
            report(system, i, yk_index1_of(system)->interfaces[i].given[0]);
    for (int i = 0; i < system->participant_count; i++) {
        yk_status status = response ? start_with_response(system, i) : start_participant(system, i);
        if (status < 0)
            return status;
    }
    return YK_OK;
}

/* The conditions of a relation; returns the larger, against the wrench and the acceleration. */
static double evaluate_relation(const yk_system *system, int number, double *residual)
{
    const yk_index1_interface *interface = &yk_index1_of(system)->interfaces[number];
    double wrench = yk_index1_answer(system, number, 1).acceleration.x,
           given = interface->multiplier[0].power[0];
    double acceleration = yk_index1_answer(system, number, 0).acceleration.x;
    residual[0] = given - wrench, residual[1] = interface->given[0] - acceleration;
    return fmax(fabs(residual[0]) / (1e-300 + fabs(given) + fabs(wrench)),
                fabs(residual[1]) / (1e-300 + fabs(interface->given[0]) + fabs(acceleration)));
}

/* Relative accelerations; returns the largest, against those of the sides. */
static double evaluate(const yk_system *system, double *residual)
{
    double largest = 0, scale = 1e-300, relations = 0;
    for (int i = 0; i < system->interface_count; i++) {
        const yk_constraint *constraint = &yk_index1_of(system)->interfaces[i].constraint;
        yk_constraint_kinematics place;
        double g[YK_LEVELS][YK_JOINT_ROWS_MAX];
        if (yk_index1_is_relation(&system->interfaces[i])) {
            relations = fmax(relations, evaluate_relation(system, i, residual));
            residual += 2;
            continue;
        }
        interface_kinematics(system, i, &place);
        yk_constraint_value(constraint, &place, g);
        for (int row = 0; row < constraint->row_count; row++) {
            *residual++ = g[2][row];
            largest = fmax(largest, fabs(g[2][row]));
        }
        scale = fmax(scale, yk_v3_norm(place.a.acceleration) + yk_v3_norm(place.b.acceleration));
        scale = fmax(scale, yk_v3_norm(place.a.angular_acceleration) +
                                yk_v3_norm(place.b.angular_acceleration));
    }
    return fmax(largest / scale, relations);
}

static const yk_constraint_gradient *gradient_of(void *user, int interface)
{
    const yk_system *system = user;
    yk_constraint_kinematics place;
    interface_kinematics(system, interface, &place);
    yk_index1_interface *own = &yk_index1_of(system)->interfaces[interface];
    yk_constraint_differentiate(&own->constraint, &place, &own->gradient);
    return &own->gradient;
}

static void apply(yk_system *system, const double *correction)
{
    for (int i = 0; i < system->interface_count; i++) {
        yk_index1_interface *interface = &yk_index1_of(system)->interfaces[i];
        for (int row = 0; row < interface->constraint.row_count; row++)
            interface->multiplier[row].power[0] -= *correction++;
        if (yk_index1_is_relation(&system->interfaces[i]))
            interface->given[0] -= *correction++;
    }
}

/* Newton's method on acceleration level; false: the accelerations do not follow the wrenches. */
static yk_status solve(yk_system *system, bool *consistent)
{
    static const double accelerations[1][YK_LEVELS] = {{0, 0, 1}};
    const yk_conditions conditions = {accelerations, accelerations, 1};
    yk_index1 *x = yk_index1_of(system);
    double left = INFINITY;
    *consistent = false;
    for (int i = 0; i <= START_CORRECTIONS; i++) {
        yk_status status = start_all(system, i == 0);
        if (status < 0)
            return status;
        left = evaluate(system, x->correction);
        if (i == START_CORRECTIONS)
            break;
        if (i == 0)
            yk_jacobian_renew(x->start_jacobian);
        if (i == 0 && yk_jacobian_assemble(x->start_jacobian, gradient_of, system, &conditions) < 0)
            return YK_OK;
        yk_jacobian_solve(x->start_jacobian, x->correction);
        apply(system, x->correction);
    }
    *consistent = left <= NOTABLE;
    return YK_OK;
}

static void clear_wrenches(yk_system *system)
{
    for (int i = 0; i < system->interface_count; i++) {
        yk_index1_interface *interface = &yk_index1_of(system)->interfaces[i];
        memset(interface->multiplier, 0, sizeof interface->multiplier);
        memset(interface->given, 0, sizeof interface->given);
    }
}

yk_status yk_index1_start(yk_scheme *scheme, yk_system *system)
{
    yk_index1 *x = (yk_index1 *)scheme;
    x->jacobians = 0;
    memset(x->difference_runs, 0, (size_t)system->participant_count * sizeof *x->difference_runs);
    x->last_step = x->jacobian_step = x->last_rate = 0;
    x->jacobian_degree = 0;
    x->basis = &x->bases[0];
    for (int i = 0; i < system->interface_count; i++)
        x->interfaces[i].basis = x->basis;
    clear_wrenches(system);
    find_directions(system);
    bool consistent;
    yk_status status = solve(system, &consistent);
    if (status < 0)
        return status;
    x->jumped = !consistent;
    if (consistent)
        return YK_OK;
    yk_log(system->context, YK_LOG_WARNING,
           "the accelerations at the interfaces do not fit each other at the start; the first step "
           "finds wrenches "
           "without those of the start");
    clear_wrenches(system);
    return start_all(system, false);
}
