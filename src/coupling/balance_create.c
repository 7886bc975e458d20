/* Which interfaces are balanced, room for their models, and what the state image keeps of them. */
#include <string.h>

#include "coupling/balance.h"

enum { WRENCH_WORDS = sizeof(yk_wrench) / sizeof(double) };

static bool is_named_fast(const yk_system *system, int participant)
{
    for (int i = 0; i < system->scheme.rim.fast_count; i++)
        if (system->scheme.rim.fast[i] == participant) return true;
    return false;
}

/* Whether a subsystem takes a wrench at the port and says what that does. */
static bool can_balance(const yk_system *system, int participant, int port)
{
    const yk_scheme_def *scheme = &system->scheme;
    if (participant < 0 || participant >= system->participant_count) return false;
    const yk_participant *m = &system->participants[participant];
    if (port < 0 || port >= m->port_count || !(m->ports[port].causalities & YK_TAKES_WRENCH)) return false;
    if (scheme->kind == YK_SCHEME_RIM && is_named_fast(system, participant)) return false;
    const yk_subsystem_ops *ops = m->subsystem->ops;
    if (!ops->step_model && scheme->exchange != YK_EXCHANGE_FORCES) return false;
    return ops->step_model || ops->interface_model;
}

bool yk_balance_serves(const yk_system *system, const yk_interface_def *def)
{
    const yk_scheme_def *scheme = &system->scheme;
    if (scheme->exchange == YK_EXCHANGE_MOTION) return false;
    bool loose = scheme->kind == YK_SCHEME_TIGHT && scheme->iterations == 0;
    bool single = scheme->kind == YK_SCHEME_EXPLICIT || scheme->kind == YK_SCHEME_RIM || loose;
    return single && can_balance(system, def->wrench_subsystem, def->wrench_port) &&
           can_balance(system, def->motion_subsystem, def->motion_port);
}

/* All wrench ports of a participant have velocities in its model, in their own order. */
static yk_status create_participant(yk_system *system, int participant)
{
    yk_context *context = system->context;
    const yk_participant *m = &system->participants[participant];
    yk_balance_participant *own = &system->balance->participants[participant];
    own->offsets = yk_allocate(context, (size_t)m->port_count, sizeof *own->offsets);
    if (!own->offsets) return YK_ERROR_MEMORY;
    for (int port = 0; port < m->port_count; port++) own->offsets[port] = -1;
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (interface->def.wrench_subsystem == participant) own->offsets[interface->def.wrench_port] = 0;
        if (interface->def.motion_subsystem == participant && interface->balanced)
            own->offsets[interface->def.motion_port] = 0;
    }
    for (int port = 0; port < m->port_count; port++) {
        if (own->offsets[port] < 0) continue;
        own->offsets[port] = own->size;
        own->size += m->ports[port].kind == YK_PORT_SCALAR ? 1 : 6;
    }

    size_t n = (size_t)own->size;
    double *memory = yk_allocate(context, 2 * n + n * n + 2 * n + n * n, sizeof *memory);
    if (!memory) return YK_ERROR_MEMORY;
    own->model =
        (yk_step_model){.size = own->size, .velocity = memory, .displacement = memory + n, .mobility = memory + 2 * n};
    own->rate = own->model.mobility + n * n;
    own->inverse_mass = own->rate + n; /* and the wrenches behind it */
    return YK_OK;
}

static yk_status create_jacobian(yk_system *system)
{
    struct yk_balance *balance = system->balance;
    yk_jacobian_interface *interfaces = yk_allocate(system->context, (size_t)balance->count, sizeof *interfaces);
    if (!interfaces) return YK_ERROR_MEMORY;
    for (int i = 0; i < balance->count; i++) {
        const yk_interface *interface = &system->interfaces[balance->interfaces[i].interface];
        interfaces[i] =
            (yk_jacobian_interface){.participant = {interface->def.wrench_subsystem, interface->def.motion_subsystem},
                                    .port = {interface->def.wrench_port, interface->def.motion_port},
                                    .rows = balance->interfaces[i].constraint.row_count,
                                    .coordinates = yk_coordinates(interface->kind)};
    }
    yk_jacobian_def def = {.participant_count = system->participant_count,
                           .interface_count = balance->count,
                           .interfaces = interfaces,
                           .parameters = 1,
                           .motions = 1,
                           .first_level = 0};
    yk_status status = yk_jacobian_create(system->context, &def, &balance->jacobian);
    yk_release(system->context, interfaces);
    return status;
}

yk_status yk_balance_create(yk_system *system)
{
    yk_context *context = system->context;
    int count = 0;
    for (int i = 0; i < system->interface_count; i++) count += system->interfaces[i].balanced;
    if (count == 0) return YK_OK;
    struct yk_balance *balance = yk_allocate(context, 1, sizeof *balance);
    if (!balance) return YK_ERROR_MEMORY;
    system->balance = balance;
    balance->participants = yk_allocate(context, (size_t)system->participant_count, sizeof *balance->participants);
    balance->interfaces = yk_allocate(context, (size_t)count, sizeof *balance->interfaces);
    if (!balance->participants || !balance->interfaces) return YK_ERROR_MEMORY;

    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (!interface->balanced) continue;
        yk_balance_interface *own = &balance->interfaces[balance->count++];
        own->interface = i;
        own->constraint = yk_constraint_make(interface->kind, interface->def.constrained, interface->def.drive);
        for (int side = 0; side < 2; side++) {
            int participant = side == 0 ? interface->def.wrench_subsystem : interface->def.motion_subsystem;
            yk_status status =
                balance->participants[participant].size > 0 ? YK_OK : create_participant(system, participant);
            if (status < 0) return status;
        }
    }
    yk_status status = create_jacobian(system);
    if (status < 0) return status;
    balance->residual = yk_allocate(context, (size_t)yk_jacobian_size(balance->jacobian), sizeof *balance->residual);
    return balance->residual ? YK_OK : YK_ERROR_MEMORY;
}

void yk_balance_destroy(yk_system *system)
{
    struct yk_balance *balance = system->balance;
    if (!balance) return;
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

/* State ------------------------------------------------------------------------------------------------------------ */

size_t yk_balance_words(const yk_system *system)
{
    size_t words = 0;
    for (int i = 0; i < system->balance->count; i++)
        words += (size_t)system->balance->interfaces[i].constraint.row_count + 2 * WRENCH_WORDS;
    return words;
}

double *yk_balance_get(const yk_system *system, double *words)
{
    for (int i = 0; i < system->balance->count; i++) {
        const yk_balance_interface *own = &system->balance->interfaces[i];
        size_t rows = (size_t)own->constraint.row_count;
        memcpy(words, own->multiplier, rows * sizeof *words);
        memcpy(words + rows, own->wrench, sizeof own->wrench);
        words += rows + 2 * WRENCH_WORDS;
    }
    return words;
}

const double *yk_balance_set(yk_system *system, const double *words)
{
    for (int i = 0; i < system->balance->count; i++) {
        yk_balance_interface *own = &system->balance->interfaces[i];
        size_t rows = (size_t)own->constraint.row_count;
        memcpy(own->multiplier, words, rows * sizeof *words);
        memcpy(own->wrench, words + rows, sizeof own->wrench);
        words += rows + 2 * WRENCH_WORDS;
    }
    return words;
}
