/* A consistent start of balanced interfaces: multipliers that satisfy the joints on acceleration
 * level.
 *
 * Initial accelerations depend linearly on the multipliers, so one Newton step from zero solves the
 * problem; the second step removes rounding errors. Derivatives are differences of starts with one
 * multiplier changed at a time. */
#include <math.h>
#include <string.h>

#include "coupling/force_force/balance.h"
#include "coupling/participant.h"

enum { CORRECTIONS = 3 };
static const double CHANGE = 1; /* N, N m */
/* Relative accelerations that remain (m/s^2, rad/s^2), relative to the largest, above which a
 * message is set. */
static const double NOTABLE = 1e-6;
static const double CONDITION[1][YK_LEVELS] = {{0, 0, 1}};

/* The motion of a side of a balanced interface. */
static const yk_motion *motion_of(const yk_balance *balance, const yk_system *system, int number,
                                  int side)
{
    return yk_system_interface_motion(system, balance->interfaces[number].interface, side);
}

static const yk_constraint_gradient *gradient_of(void *user, int interface)
{
    const yk_balance *balance = user;
    return &balance->interfaces[interface].gradient;
}

/* Derivatives of the accelerations of a participant's ports with respect to each multiplier. */
static yk_status start_with_response(yk_balance *balance, yk_system *system, int participant)
{
    yk_port_response *r = yk_jacobian_response(balance->jacobian, participant);
    int count = r->connection_count;
    memset(r->matrix, 0, (size_t)r->rows * (size_t)r->columns * sizeof *r->matrix);

    /* Meyer et al. 2018, equation 3: initialize with one multiplier changed at a time, and store
     * the results. */
    for (int i = 0; i < count; i++) {
        const yk_connection *by = &r->connections[i];
        yk_balance_interface *pushed = &balance->interfaces[by->interface];

        for (int row = 0; row < pushed->constraint.row_count; row++) {
            pushed->multiplier[row] += CHANGE;
            yk_balance_apply(system, pushed);
            yk_status status = yk_system_start_participant(system, participant);
            pushed->multiplier[row] -= CHANGE;
            yk_balance_apply(system, pushed);
            if (status != YK_OK)
                return status;

            yk_motion *kept = r->motion + (by->column + row) * count;
            for (int j = 0; j < count; j++) {
                const yk_connection *of = &r->connections[j];
                kept[j] = *motion_of(balance, system, of->interface, of->side);
            }
        }
    }

    /* The start without a change, with which all others are compared. */
    yk_status status = yk_system_start_participant(system, participant);
    if (status != YK_OK)
        return status;

    /* Difference quotients, column by column. */
    for (int column = 0; column < r->columns; column++) {
        const yk_motion *changed = r->motion + column * count;
        for (int j = 0; j < count; j++) {
            const yk_connection *of = &r->connections[j];
            yk_port_kind kind = balance->interfaces[of->interface].constraint.kind;
            const yk_motion *now = motion_of(balance, system, of->interface, of->side);
            double *entry = r->matrix + of->row * r->columns + column;
            yk_motion_difference(kind, now, &changed[j], 1 / CHANGE, entry, r->columns);
        }
    }

    return YK_OK;
}

/* Stores the relative accelerations in the residual and returns the largest, relative to those of
 * the sides. *scale is the largest acceleration of a side in all evaluations, because a system in
 * equilibrium has no accelerations once its wrenches are found. */
static double evaluate(yk_balance *balance, yk_system *system, double *scale)
{
    double *residual = balance->residual;
    double largest = 0;

    for (int i = 0; i < balance->count; i++) {
        /* The scale of accelerations of the sides. */
        yk_balance_interface *own = &balance->interfaces[i];
        for (int side = 0; side < 2; side++) {
            const yk_motion *m = motion_of(balance, system, i, side);
            if (own->constraint.kind == YK_PORT_SCALAR) {
                *scale = fmax(*scale, fabs(m->acceleration.x));
                continue;
            }

            *scale = fmax(*scale, yk_v3_norm(m->acceleration));
            *scale = fmax(*scale, yk_v3_norm(m->angular_acceleration));
        }

        /* Residual of the joint on acceleration level. */
        const yk_motion *a = motion_of(balance, system, i, 0);
        const yk_motion *b = motion_of(balance, system, i, 1);
        yk_constraint_kinematics kinematics;
        double g[YK_LEVELS][YK_JOINT_ROWS_MAX];
        yk_constraint_kinematics_at(&own->constraint, system->start, a, b, &kinematics);
        yk_constraint_value(&own->constraint, &kinematics, g);
        yk_constraint_differentiate(&own->constraint, &kinematics, &own->gradient);

        for (int row = 0; row < own->constraint.row_count; row++) {
            largest = fmax(largest, fabs(g[2][row]));
            *residual++ = g[2][row];
        }
    }

    return largest / *scale;
}

/* Newton's method on acceleration level for the balanced interfaces; all other wrenches are
 * constant. */
static yk_status solve(yk_balance *balance, yk_system *system)
{
    double left = 0;
    double scale = 1e-300;
    for (int i = 0; i <= CORRECTIONS; i++) {
        /* Compute derivatives in the first iteration only; the problem is linear. */
        for (int participant = 0; participant < system->participant_count; participant++) {
            if (balance->participants[participant].size == 0)
                continue;

            yk_status status;
            if (i == 0)
                status = start_with_response(balance, system, participant);
            else
                status = yk_system_start_participant(system, participant);
            if (status != YK_OK)
                return status;
        }

        left = evaluate(balance, system, &scale);
        if (i == CORRECTIONS)
            break;

        /* If the accelerations do not depend on the wrenches, they remain as they are. */
        if (i == 0) {
            yk_jacobian_renew(balance->jacobian);
            yk_status status = yk_jacobian_assemble(balance->jacobian, gradient_of, balance,
                                                    CONDITION, CONDITION, 1);
            if (status != YK_OK)
                break;
        }

        yk_jacobian_solve(balance->jacobian, balance->residual, NULL);
        const double *correction = balance->residual;

        for (int k = 0; k < balance->count; k++) {
            yk_balance_interface *own = &balance->interfaces[k];
            for (int row = 0; row < own->constraint.row_count; row++)
                own->multiplier[row] -= *correction++;

            yk_balance_apply(system, own);
        }
    }

    if (!(left <= NOTABLE))
        yk_log(system->context, YK_LOG_WARNING,
               "the accelerations at the interfaces do not fit each other at the start; the first "
               "steps are less accurate");

    /* The first step extrapolates from these wrenches. */
    for (int i = 0; i < balance->count; i++) {
        yk_balance_interface *own = &balance->interfaces[i];
        const yk_interface *interface = &system->interfaces[own->interface];
        const yk_input *a = yk_input_a(system, interface);
        const yk_input *b = yk_input_b(system, interface);
        own->wrench[0] = (yk_wrench){a->linear[0], a->angular[0]};
        own->wrench[1] = (yk_wrench){b->linear[0], b->angular[0]};
    }

    return YK_OK;
}

yk_status yk_balance_start(yk_balance *balance, yk_system *system)
{
    if (!balance)
        return yk_system_initialize_wrenches(system);

    yk_balance_restart(balance);
    /* The iteration starts with zero wrenches. */
    for (int i = 0; i < balance->count; i++) {
        yk_balance_interface *own = &balance->interfaces[i];
        memset(own->multiplier, 0, sizeof own->multiplier);
        memset(own->wrench, 0, sizeof own->wrench);
        memset(own->shift, 0, sizeof own->shift);
        const yk_motion *a = motion_of(balance, system, i, 0);
        const yk_motion *b = motion_of(balance, system, i, 1);
        yk_balance_directions(own, system->start, a, b);
        yk_balance_apply(system, own);
    }

    if (system->wire_count == 0 && balance->count == system->interface_count)
        return solve(balance, system);

    /* Alternate: balanced interfaces with the others fixed, then the others. */
    enum { ROUNDS = 3 };
    for (int round = 0; round < ROUNDS; round++) {
        yk_status status = yk_system_initialize_wrenches(system);
        if (status != YK_OK)
            return status;

        status = solve(balance, system);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}
