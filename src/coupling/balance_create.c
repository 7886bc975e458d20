/* Which interfaces are balanced, room for their models, and what the state image keeps of them. */
#include <string.h>

#include "coupling/balance.h"

enum { EFFORT_WORDS = sizeof(yk_effort) / sizeof(double) };

static bool is_named_fast(const yk_system *system, int member)
{
    for (int i = 0; i < system->scheme.rim.fast_count; i++)
        if (system->scheme.rim.fast[i] == member) return true;
    return false;
}

/* Whether a subsystem takes an effort at the port and says what that does. */
static bool can_balance(const yk_system *system, int member, int port)
{
    const yk_scheme_def *scheme = &system->scheme;
    if (member < 0 || member >= system->member_count) return false;
    const yk_member *m = &system->members[member];
    if (port < 0 || port >= m->port_count || !(m->ports[port].causalities & YK_TAKES_EFFORT)) return false;
    if (scheme->kind == YK_SCHEME_RIM && is_named_fast(system, member)) return false;
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
    return single && can_balance(system, def->effort_subsystem, def->effort_port) &&
           can_balance(system, def->motion_subsystem, def->motion_port);
}

/* All effort ports of a member have velocities in its model, in their own order. */
static yk_status create_member(yk_system *system, int member)
{
    yk_context *context = system->context;
    const yk_member *m = &system->members[member];
    yk_balance_member *own = &system->balance->members[member];
    own->offsets = yk_allocate(context, (size_t)m->port_count, sizeof *own->offsets);
    if (!own->offsets) return YK_ERROR_MEMORY;
    for (int port = 0; port < m->port_count; port++) own->offsets[port] = -1;
    for (int i = 0; i < system->link_count; i++) {
        const yk_link *link = &system->links[i];
        if (link->def.effort_subsystem == member) own->offsets[link->def.effort_port] = 0;
        if (link->def.motion_subsystem == member && link->balanced) own->offsets[link->def.motion_port] = 0;
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
    own->inverse_mass = own->rate + n; /* and the efforts behind it */
    return YK_OK;
}

static yk_status create_jacobian(yk_system *system)
{
    struct yk_balance *balance = system->balance;
    yk_jacobian_link *links = yk_allocate(system->context, (size_t)balance->count, sizeof *links);
    if (!links) return YK_ERROR_MEMORY;
    for (int i = 0; i < balance->count; i++) {
        const yk_link *link = &system->links[balance->links[i].link];
        links[i] = (yk_jacobian_link){.member = {link->def.effort_subsystem, link->def.motion_subsystem},
                                      .port = {link->def.effort_port, link->def.motion_port},
                                      .rows = balance->links[i].constraint.row_count,
                                      .coordinates = yk_coordinates(link->kind)};
    }
    yk_jacobian_def def = {.member_count = system->member_count,
                           .link_count = balance->count,
                           .links = links,
                           .parameters = 1,
                           .motions = 1,
                           .first_level = 0};
    yk_status status = yk_jacobian_create(system->context, &def, &balance->jacobian);
    yk_release(system->context, links);
    return status;
}

yk_status yk_balance_create(yk_system *system)
{
    yk_context *context = system->context;
    int count = 0;
    for (int i = 0; i < system->link_count; i++) count += system->links[i].balanced;
    if (count == 0) return YK_OK;
    struct yk_balance *balance = yk_allocate(context, 1, sizeof *balance);
    if (!balance) return YK_ERROR_MEMORY;
    system->balance = balance;
    balance->members = yk_allocate(context, (size_t)system->member_count, sizeof *balance->members);
    balance->links = yk_allocate(context, (size_t)count, sizeof *balance->links);
    if (!balance->members || !balance->links) return YK_ERROR_MEMORY;

    for (int i = 0; i < system->link_count; i++) {
        const yk_link *link = &system->links[i];
        if (!link->balanced) continue;
        yk_balance_link *own = &balance->links[balance->count++];
        own->link = i;
        own->constraint = yk_constraint_make(link->kind, link->def.constrained, link->def.drive);
        for (int side = 0; side < 2; side++) {
            int member = side == 0 ? link->def.effort_subsystem : link->def.motion_subsystem;
            yk_status status = balance->members[member].size > 0 ? YK_OK : create_member(system, member);
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
    for (int i = 0; balance->members && i < system->member_count; i++) {
        yk_release(system->context, balance->members[i].offsets);
        yk_release(system->context, balance->members[i].model.velocity);
    }
    yk_jacobian_destroy(balance->jacobian);
    yk_release(system->context, balance->members);
    yk_release(system->context, balance->links);
    yk_release(system->context, balance->residual);
    yk_release(system->context, balance);
}

/* State ------------------------------------------------------------------------------------------------------------ */

size_t yk_balance_words(const yk_system *system)
{
    size_t words = 0;
    for (int i = 0; i < system->balance->count; i++)
        words += (size_t)system->balance->links[i].constraint.row_count + 2 * EFFORT_WORDS;
    return words;
}

double *yk_balance_get(const yk_system *system, double *words)
{
    for (int i = 0; i < system->balance->count; i++) {
        const yk_balance_link *own = &system->balance->links[i];
        size_t rows = (size_t)own->constraint.row_count;
        memcpy(words, own->multiplier, rows * sizeof *words);
        memcpy(words + rows, own->effort, sizeof own->effort);
        words += rows + 2 * EFFORT_WORDS;
    }
    return words;
}

const double *yk_balance_set(yk_system *system, const double *words)
{
    for (int i = 0; i < system->balance->count; i++) {
        yk_balance_link *own = &system->balance->links[i];
        size_t rows = (size_t)own->constraint.row_count;
        memcpy(own->multiplier, words, rows * sizeof *words);
        memcpy(own->effort, words + rows, sizeof own->effort);
        words += rows + 2 * EFFORT_WORDS;
    }
    return words;
}
