/* Which interfaces are balanced, memory for their models, and what the state image keeps of
 * them. */
#include <string.h>

#include "coupling/balance/balance.h"

enum { WRENCH_WORDS = sizeof(yk_wrench) / sizeof(double) };

yk_causality yk_balance_second_side(yk_exchange exchange, const yk_joined_ports *joined)
{
    if (exchange == YK_EXCHANGE_MOTION)
        return YK_TAKES_MOTION;

    /* Both sides must take a wrench, and say what their next step will do with it. */
    for (int side = 0; side < 2; side++) {
        const yk_subsystem *subsystem = joined->subsystem[side];
        const yk_subsystem_ops *ops = subsystem->ops;
        const yk_port *ports;
        ops->ports(subsystem, &ports);
        if (!(ports[joined->port[side]].causalities & YK_TAKES_WRENCH))
            return YK_TAKES_MOTION;

        bool steps = ops->step_model;
        bool mechanism = exchange == YK_EXCHANGE_FORCES && ops->interface_model;
        if (!steps && !mechanism)
            return YK_TAKES_MOTION;
    }

    return YK_TAKES_WRENCH;
}

/* All wrench ports of a participant have velocities in its model, in their own order. */
static yk_status create_participant(yk_balance *balance, yk_system *system, int participant)
{
    yk_context *context = system->context;
    const yk_participant *p = &system->participants[participant];
    yk_balance_participant *own = &balance->participants[participant];
    own->offsets = yk_allocate(context, (size_t)p->port_count, sizeof *own->offsets);
    if (!own->offsets)
        return YK_ERROR_MEMORY;

    own->size = yk_system_number_velocities(system, participant, own->offsets);

    /* The model of its step, and what that is made of where it has an interface model only. */
    size_t n = (size_t)own->size;
    double *memory = yk_allocate(context, 4 * n + 2 * n * n, sizeof *memory);
    if (!memory)
        return YK_ERROR_MEMORY;

    own->model.size = own->size;
    own->model.velocity = memory;
    own->model.displacement = memory + n;
    own->model.mobility = memory + 2 * n;
    own->rate = own->model.mobility + n * n;
    own->inverse_mass = own->rate + n;
    own->wrenches = own->inverse_mass + n * n;

    return YK_OK;
}

yk_status yk_balance_create(yk_system *system, yk_balance **made)
{
    /* Most systems have none. */
    yk_context *context = system->context;
    int count = 0;
    for (int i = 0; i < system->interface_count; i++)
        count += yk_both_take_wrench(&system->interfaces[i]);
    if (count == 0)
        return YK_OK;

    yk_balance *balance = yk_allocate(context, 1, sizeof *balance);
    if (!balance)
        return YK_ERROR_MEMORY;

    *made = balance;
    size_t size = (size_t)count;
    size_t participants = (size_t)system->participant_count;
    balance->participants = yk_allocate(context, participants, sizeof *balance->participants);
    balance->interfaces = yk_allocate(context, size, sizeof *balance->interfaces);
    if (!balance->participants || !balance->interfaces)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (!yk_both_take_wrench(interface))
            continue;

        yk_balance_interface *own = &balance->interfaces[balance->count++];
        const yk_interface_def *def = &interface->def;
        own->interface = i;
        own->constraint = yk_constraint_make(interface->kind, def->constrained, def->drive);

        /* Both sides with all of their wrench ports. */
        const int sides[2] = {def->wrench_subsystem, def->motion_subsystem};
        for (int side = 0; side < 2; side++) {
            if (balance->participants[sides[side]].size > 0)
                continue;

            yk_status status = create_participant(balance, system, sides[side]);
            if (status != YK_OK)
                return status;
        }
    }

    /* One condition and one multiplier for every row of every joint. */
    yk_jacobian_interface *interfaces = yk_allocate(context, size, sizeof *interfaces);
    if (!interfaces)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < balance->count; i++) {
        const yk_balance_interface *own = &balance->interfaces[i];
        const yk_interface_def *def = &system->interfaces[own->interface].def;
        interfaces[i] = (yk_jacobian_interface){
            .participant = {def->wrench_subsystem, def->motion_subsystem},
            .port = {def->wrench_port, def->motion_port},
            .rows = own->constraint.row_count,
            .coordinates = yk_coordinates(own->constraint.kind),
        };
    }

    yk_jacobian_def def = {
        .participant_count = system->participant_count,
        .interface_count = balance->count,
        .interfaces = interfaces,
        .parameters = 1,
        .motions = 1,
        .first_level = 0,
    };
    yk_status status = yk_jacobian_create(context, &def, &balance->jacobian);
    yk_release(context, interfaces);
    if (status != YK_OK)
        return status;

    size_t rows = (size_t)yk_jacobian_size(balance->jacobian);
    balance->residual = yk_allocate(context, rows, sizeof *balance->residual);
    if (!balance->residual)
        return YK_ERROR_MEMORY;
    return YK_OK;
}

void yk_balance_destroy(yk_balance *balance, yk_system *system)
{
    if (!balance)
        return;

    /* All vectors of a model are one block. */
    for (int i = 0; balance->participants && i < system->participant_count; i++) {
        yk_release(system->context, balance->participants[i].offsets);
        yk_release(system->context, balance->participants[i].model.velocity);
    }

    yk_jacobian_destroy(balance->jacobian);
    yk_release(system->context, balance->participants);
    yk_release(system->context, balance->interfaces);
    yk_release(system->context, balance->residual);
    yk_release(system->context, balance);
}

/* State ---------------------------------------------------------------------------------------- */

yk_state_layout yk_balance_layout(const yk_balance *balance)
{
    /* Multipliers and wrenches, which the next step carries on. */
    size_t words = 0;
    for (int i = 0; balance && i < balance->count; i++)
        words += (size_t)balance->interfaces[i].constraint.row_count + 2 * WRENCH_WORDS;
    return (yk_state_layout){.words = words, .continuous = words};
}

double *yk_balance_get(const yk_balance *balance, double *words)
{
    for (int i = 0; balance && i < balance->count; i++) {
        /* Multipliers, then the wrenches of both sides. */
        const yk_balance_interface *own = &balance->interfaces[i];
        size_t rows = (size_t)own->constraint.row_count;
        memcpy(words, own->multiplier, rows * sizeof *words);
        memcpy(words + rows, own->wrench, sizeof own->wrench);
        words += rows + 2 * WRENCH_WORDS;
    }

    return words;
}

const double *yk_balance_set(yk_balance *balance, const double *words)
{
    for (int i = 0; balance && i < balance->count; i++) {
        /* In the order of yk_balance_get. */
        yk_balance_interface *own = &balance->interfaces[i];
        size_t rows = (size_t)own->constraint.row_count;
        memcpy(own->multiplier, words, rows * sizeof *words);
        memcpy(own->wrench, words + rows, sizeof own->wrench);
        words += rows + 2 * WRENCH_WORDS;
    }

    return words;
}
