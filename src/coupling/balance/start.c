/* A consistent start of balanced interfaces: multipliers with which the joints hold on
 * acceleration level.
 *
 * Initial accelerations depend linearly on the multipliers, so one Newton step from zero solves
 * it; the second removes rounding. The derivatives come from starts with one multiplier changed
 * at a time. */
#include <math.h>
#include <string.h>

#include "coupling/balance/balance.h"
#include "coupling/interface.h"

enum { CORRECTIONS = 3 };
static const double CHANGE = 1; /* N, N m */
/* Relative accelerations that are left (m/s^2, rad/s^2), against the largest, and worth a word. */
static const double NOTABLE = 1e-6;
static const double CONDITION[1][YK_LEVELS] = {{0, 0, 1}};

static yk_motion motion_of(const yk_system *system, const yk_interface *interface, int side)
{
    return yk_balance_side(system, interface, side)
        ->values[yk_balance_port(interface, side)]
        .motion;
}

static const yk_constraint_gradient *gradient_of(void *user, int interface)
{
    const yk_balance *balance = user;
    return &balance->interfaces[interface].gradient;
}

/* No wrenches. */
static void clear(yk_balance *balance, yk_system *system)
{
    for (int i = 0; i < balance->count; i++) {
        yk_balance_interface *own = &balance->interfaces[i];
        const yk_interface *interface = &system->interfaces[own->interface];
        yk_motion a = motion_of(system, interface, 0), b = motion_of(system, interface, 1);
        memset(own->multiplier, 0, sizeof own->multiplier);
        memset(own->wrench, 0, sizeof own->wrench);
        own->shift[0] = own->shift[1] = 0;
        yk_balance_directions(own, system->start, &a, &b);
        yk_balance_apply(system, own);
    }
}

/* Accelerations of a participant's ports by each multiplier. */
static yk_status start_with_response(yk_balance *balance, yk_system *system, int participant)
{
    yk_port_response *r = yk_jacobian_response(balance->jacobian, participant);
    memset(r->matrix, 0, (size_t)r->rows * (size_t)r->columns * sizeof *r->matrix);
    for (int i = 0; i < r->connection_count; i++) {
        yk_balance_interface *pushed = &balance->interfaces[r->connections[i].interface];
        for (int row = 0; row < pushed->constraint.row_count; row++) {
            pushed->multiplier[row] += CHANGE;
            yk_balance_apply(system, pushed);
            yk_status status = yk_system_start_participant(system, participant);
            pushed->multiplier[row] -= CHANGE;
            yk_balance_apply(system, pushed);
            if (status < 0)
                return status;
            for (int j = 0; j < r->connection_count; j++) {
                const yk_connection *of = &r->connections[j];
                yk_motion *kept =
                    &r->motion[(r->connections[i].column + row) * r->connection_count + j];
                *kept = motion_of(system,
                                  &system->interfaces[balance->interfaces[of->interface].interface],
                                  of->side);
            }
        }
    }
    yk_status status = yk_system_start_participant(system, participant);
    if (status < 0)
        return status;
    for (int column = 0; column < r->columns; column++) {
        for (int j = 0; j < r->connection_count; j++) {
            const yk_connection *of = &r->connections[j];
            const yk_interface *interface =
                &system->interfaces[balance->interfaces[of->interface].interface];
            yk_motion now = motion_of(system, interface, of->side);
            yk_motion_difference(interface->kind, &now,
                                 &r->motion[column * r->connection_count + j], 1 / CHANGE,
                                 r->matrix + of->row * r->columns + column, r->columns);
        }
    }
    return YK_OK;
}

/* Relative accelerations into the residual; returns the largest, against those of the sides. */
static double evaluate(yk_balance *balance, yk_system *system)
{
    double largest = 0, scale = 1e-300, *residual = balance->residual;
    for (int i = 0; i < balance->count; i++) {
        yk_balance_interface *own = &balance->interfaces[i];
        const yk_interface *interface = &system->interfaces[own->interface];
        yk_motion a = motion_of(system, interface, 0), b = motion_of(system, interface, 1);
        yk_constraint_kinematics kinematics;
        double g[YK_LEVELS][YK_JOINT_ROWS_MAX];
        yk_constraint_kinematics_at(&own->constraint, system->start, &a, &b, &kinematics);
        yk_constraint_value(&own->constraint, &kinematics, g);
        yk_constraint_differentiate(&own->constraint, &kinematics, &own->gradient);
        for (int side = 0; side < 2; side++) {
            const yk_motion *m = side == 0 ? &a : &b;
            scale = fmax(scale, interface->kind == YK_PORT_SCALAR ? fabs(m->acceleration.x)
                                                                  : yk_v3_norm(m->acceleration));
            if (interface->kind == YK_PORT_MARKER)
                scale = fmax(scale, yk_v3_norm(m->angular_acceleration));
        }
        for (int row = 0; row < own->constraint.row_count; row++) {
            largest = fmax(largest, fabs(g[2][row]));
            *residual++ = g[2][row];
        }
    }
    return largest / scale;
}

/* Newton's method on acceleration level for the balanced interfaces, with all others as they
 * are. */
static yk_status solve(yk_balance *balance, yk_system *system)
{
    double left = 0;
    for (int i = 0; i <= CORRECTIONS; i++) {
        for (int participant = 0; participant < system->participant_count; participant++) {
            if (balance->participants[participant].size == 0)
                continue;
            yk_status status = i == 0 ? start_with_response(balance, system, participant)
                                      : yk_system_start_participant(system, participant);
            if (status < 0)
                return status;
        }
        left = evaluate(balance, system);
        if (i == CORRECTIONS)
            break;
        yk_conditions conditions = {CONDITION, CONDITION, 1};
        if (i == 0)
            yk_jacobian_renew(balance->jacobian);
        if (i == 0 &&
            yk_jacobian_assemble(balance->jacobian, gradient_of, balance, &conditions) < 0)
            break;

        yk_jacobian_solve(balance->jacobian, balance->residual);
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
               "steps are less "
               "accurate");

    for (int i = 0; i < balance->count; i++) {
        yk_balance_interface *own = &balance->interfaces[i];
        const yk_interface *interface = &system->interfaces[own->interface];
        for (int side = 0; side < 2; side++) {
            const yk_input *input =
                &yk_balance_side(system, interface, side)->inputs[yk_balance_port(interface, side)];
            own->wrench[side] = (yk_wrench){input->linear[0], input->angular[0]};
        }
    }
    return YK_OK;
}

yk_status yk_balance_start(yk_balance *balance, yk_system *system)
{
    enum { ROUNDS = 3 };
    if (!balance)
        return yk_system_start_consistently(system);

    /* Balanced interfaces are found with the others as they are, and the others with these. */
    bool others = system->wire_count > 0 || balance->count < system->interface_count;
    clear(balance, system);
    for (int round = 0; round < (others ? ROUNDS : 1); round++) {
        yk_status status = others ? yk_system_start_consistently(system) : YK_OK;
        if (status == YK_OK)
            status = solve(balance, system);
        if (status < 0)
            return status;
    }
    return YK_OK;
}
