/* A consistent start of the scheme index1: multipliers with which the constraints hold on
 * acceleration level.
 *
 * Initial accelerations depend linearly on the multipliers, so one Newton step from zero solves
 * it; the second removes rounding. The derivatives come from starts with one multiplier changed
 * at a time, as in paper index1 (3) for the oscillator, for any subsystems. Sides that are
 * prescribed their motion are given accelerations in the same way, and their wrenches are the
 * unknowns of their partners. */
#include <math.h>
#include <string.h>

#include "coupling/index1/index1.h"

enum { START_CORRECTIONS = 3 };
static const double CHANGE = 1; /* N, N m */
/* Relative accelerations that are left (m/s^2, rad/s^2), against the largest, and worth a
 * message. */
static const double NOTABLE = 1e-6;
/* Keeps a ratio of zeros from being none. */
static const double LEAST = 1e-300;

/* Side B of a relation is given the motion of A with an acceleration of its own, given[0] here. */
static void give_acceleration(const yk_system *system, int number, double acceleration)
{
    const yk_interface *interface = &system->interfaces[number];
    yk_motion motion = yk_value_a(system, interface)->motion;
    motion.acceleration.x = acceleration;
    yk_input_taylor(YK_PORT_SCALAR, &motion, yk_input_b(system, interface));
}

/* Starts a participant; what relations answer has no moments yet but its value. */
static yk_status start_participant(yk_system *system, int participant)
{
    yk_participant *p = &system->participants[participant];
    yk_status status = yk_system_start_participant(system, participant);
    yk_motion *moments = yk_index1_of(system)->moments[participant];
    for (int port = 0; moments && port < p->port_count; port++)
        moments[port] = (yk_motion){.acceleration.x = -p->values[port].wrench.force.x};

    return status;
}

/* Starts with one multiplier, or one acceleration, changed at a time; then as it is. */
static yk_status start_with_response(yk_system *system, int participant)
{
    yk_index1 *x = yk_index1_of(system);
    yk_participant *p = &system->participants[participant];
    yk_port_response *r = yk_jacobian_response(x->start_jacobian, participant);

    for (int i = 0; i < r->connection_count; i++) {
        const yk_connection *by = &r->connections[i];
        const yk_index1_interface *own = &x->interfaces[by->interface];
        bool relation = yk_index1_is_relation(&system->interfaces[by->interface]);
        yk_input *input = &p->inputs[by->port];

        for (int row = 0; row < own->constraint.row_count; row++) {
            yk_input kept = *input;
            if (by->side == 1 && relation) {
                give_acceleration(system, by->interface, own->given[0] + CHANGE);
            } else {
                yk_index1_multiplier multiplier[YK_JOINT_ROWS_MAX];
                memcpy(multiplier, own->multiplier, sizeof multiplier);
                multiplier[row].power[0] += CHANGE;
                yk_index1_input(own, by->side, system->h, multiplier, input);
            }

            yk_status status = start_participant(system, participant);
            *input = kept;
            if (status != YK_OK)
                return status;

            /* The answers, to be compared with those of the plain start. */
            yk_motion *motion = r->motion + (by->column + row) * r->connection_count;
            for (int k = 0; k < r->connection_count; k++) {
                const yk_connection *c = &r->connections[k];
                motion[k] = yk_index1_answer(system, c->interface, c->side);
            }
        }
    }

    /* The plain start. */
    yk_status status = start_participant(system, participant);
    if (status != YK_OK)
        return status;

    for (int column = 0; column < r->columns; column++) {
        const yk_motion *motion = r->motion + column * r->connection_count;
        for (int i = 0; i < r->connection_count; i++) {
            const yk_connection *c = &r->connections[i];
            yk_port_kind kind = x->interfaces[c->interface].constraint.kind;
            yk_motion now = yk_index1_answer(system, c->interface, c->side);
            double *entry = r->matrix + c->row * r->columns + column;
            yk_motion_difference(kind, &now, &motion[i], 1 / CHANGE, entry, r->columns);
        }
    }

    return YK_OK;
}

static yk_status start_all(yk_system *system, bool response)
{
    /* Wrenches of the multipliers, and accelerations that relations are given. */
    yk_index1_set_inputs(system);
    for (int i = 0; i < system->interface_count; i++)
        if (yk_index1_is_relation(&system->interfaces[i]))
            give_acceleration(system, i, yk_index1_of(system)->interfaces[i].given[0]);

    for (int i = 0; i < system->participant_count; i++) {
        yk_status status;
        if (response)
            status = start_with_response(system, i);
        else
            status = start_participant(system, i);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

/* Newton's method on acceleration level -------------------------------------------------------- */

/* Relative accelerations, and what relations leave; returns the largest, against those of the
 * sides. */
static double evaluate(const yk_system *system, double *residual)
{
    double largest = 0;
    double scale = LEAST;
    double relations = 0;

    for (int i = 0; i < system->interface_count; i++) {
        const yk_index1_interface *own = &yk_index1_of(system)->interfaces[i];

        /* A relation: the wrench, and the acceleration that it was given. */
        if (yk_index1_is_relation(&system->interfaces[i])) {
            double wrench = yk_index1_answer(system, i, 1).acceleration.x;
            double applied = own->multiplier[0].power[0];
            double acceleration = yk_index1_answer(system, i, 0).acceleration.x;
            double given = own->given[0];
            residual[0] = applied - wrench;
            residual[1] = given - acceleration;
            double force = fabs(residual[0]) / (LEAST + fabs(applied) + fabs(wrench));
            double motion = fabs(residual[1]) / (LEAST + fabs(given) + fabs(acceleration));
            relations = fmax(relations, fmax(force, motion));
            residual += 2;
            continue;
        }

        /* A constraint, on acceleration level. */
        yk_constraint_kinematics at;
        double g[YK_LEVELS][YK_JOINT_ROWS_MAX];
        yk_index1_kinematics(system, i, system->start, &at);
        yk_constraint_value(&own->constraint, &at, g);

        for (int row = 0; row < own->constraint.row_count; row++) {
            *residual++ = g[2][row];
            largest = fmax(largest, fabs(g[2][row]));
        }

        /* What accelerations are large. */
        double linear = yk_v3_norm(at.a.acceleration) + yk_v3_norm(at.b.acceleration);
        double angular =
            yk_v3_norm(at.a.angular_acceleration) + yk_v3_norm(at.b.angular_acceleration);
        scale = fmax(scale, linear);
        scale = fmax(scale, angular);
    }

    return fmax(largest / scale, relations);
}

static const yk_constraint_gradient *gradient_of(void *user, int interface)
{
    const yk_system *system = user;
    yk_index1_interface *own = &yk_index1_of(system)->interfaces[interface];
    yk_constraint_kinematics at;
    yk_index1_kinematics(system, interface, system->start, &at);
    yk_constraint_differentiate(&own->constraint, &at, &own->gradient);

    return &own->gradient;
}

static void clear_wrenches(yk_system *system)
{
    for (int i = 0; i < system->interface_count; i++) {
        yk_index1_interface *own = &yk_index1_of(system)->interfaces[i];
        memset(own->multiplier, 0, sizeof own->multiplier);
        memset(own->given, 0, sizeof own->given);
    }
}

yk_status yk_index1_start(yk_scheme *scheme, yk_system *system)
{
    /* Nothing is remembered of an earlier run. */
    yk_index1 *x = (yk_index1 *)scheme;
    x->jacobians = 0;
    memset(x->difference_runs, 0, (size_t)system->participant_count * sizeof *x->difference_runs);
    x->last_step = 0;
    x->jacobian_step = 0;
    x->last_rate = 0;
    x->jacobian_degree = 0;
    x->basis = &x->bases[0];
    clear_wrenches(system);

    /* Directions at the start, as those of a constant. */
    for (int i = 0; i < system->interface_count; i++) {
        yk_index1_interface *own = &x->interfaces[i];
        own->basis = x->basis;
        yk_constraint_kinematics at;
        yk_index1_kinematics(system, i, system->start, &at);

        for (int row = 0; row < own->constraint.row_count; row++) {
            yk_wrench unit[2];
            yk_constraint_unit_wrenches(&own->constraint, &at, row, unit);
            own->unit[0][0][row] = unit[0];
            own->unit[1][0][row] = unit[1];
        }
    }

    /* Newton's method. Where the accelerations do not follow the wrenches it finds none. */
    static const double accelerations[1][YK_LEVELS] = {{0, 0, 1}};
    const yk_conditions conditions = {accelerations, accelerations, 1};
    bool consistent = false;

    for (int i = 0; i <= START_CORRECTIONS; i++) {
        yk_status status = start_all(system, i == 0);
        if (status != YK_OK)
            return status;

        double left = evaluate(system, x->correction);
        consistent = i == START_CORRECTIONS && left <= NOTABLE;
        if (i == START_CORRECTIONS)
            break;

        if (i == 0) {
            yk_jacobian_renew(x->start_jacobian);
            status = yk_jacobian_assemble(x->start_jacobian, gradient_of, system, &conditions);
            if (status != YK_OK)
                break;
        }

        yk_jacobian_solve(x->start_jacobian, x->correction);
        const double *correction = x->correction;
        for (int k = 0; k < system->interface_count; k++) {
            yk_index1_interface *own = &x->interfaces[k];
            for (int row = 0; row < own->constraint.row_count; row++)
                own->multiplier[row].power[0] -= *correction++;
            if (yk_index1_is_relation(&system->interfaces[k]))
                own->given[0] -= *correction++;
        }
    }

    x->jumped = !consistent;
    if (consistent)
        return YK_OK;

    /* Without them the first step has to find its wrenches as after a jump. */
    yk_log(system->context, YK_LOG_WARNING,
           "the accelerations at the interfaces do not fit each other at the start; the first step "
           "finds wrenches without those of the start");
    clear_wrenches(system);

    return start_all(system, false);
}
