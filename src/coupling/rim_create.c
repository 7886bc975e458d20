/* Creation of the scheme rim: who is fast, how often they exchange, and room for the models. */
#include <string.h>

#include "coupling/interface.h"
#include "coupling/rim.h"

enum { EFFORT_WORDS = 6, PAST_WORDS = 6 * YK_RIM_PAST, LINK_WORDS = PAST_WORDS + EFFORT_WORDS * (1 + YK_RIM_PAST) };

static bool takes_effort(const yk_system *system, int member)
{
    for (int i = 0; i < system->link_count; i++)
        if (system->links[i].def.effort_subsystem == member ||
            (system->links[i].def.motion_subsystem == member && system->links[i].balanced))
            return true;
    return false;
}

static bool takes_motion(const yk_system *system, int member)
{
    for (int i = 0; i < system->link_count; i++)
        if (system->links[i].def.motion_subsystem == member) return true;
    return false;
}

/* Those that are named; else those with several steps in a macro step that take no effort; where all make one step,
 * those that take motions alone. */
static yk_status choose_fast(yk_system *system)
{
    const yk_rim_options *options = &system->scheme.rim;
    yk_rim_member *members = system->rim->members;
    bool any = false;
    for (int i = 0; i < options->fast_count; i++) {
        int member = options->fast[i];
        if (member < 0 || member >= system->member_count)
            return yk_fail(system->context, YK_ERROR_ARGUMENT, "scheme rim: there is no fast subsystem %d", member);
        members[member].fast = any = true;
    }
    for (int i = 0; options->fast_count == 0 && i < system->member_count; i++) {
        members[i].fast = system->members[i].substeps > 1 && !takes_effort(system, i);
        any = any || members[i].fast;
    }
    for (int i = 0, none = !any; none && i < system->member_count; i++) {
        members[i].fast = takes_motion(system, i) && !takes_effort(system, i);
        any = any || members[i].fast;
    }
    /* Interfaces in balance need no fast side. */
    if (any || system->balance) return YK_OK;
    return yk_fail(
        system->context, YK_ERROR_ARGUMENT,
        "scheme rim needs a fast subsystem, and all take efforts: name those that are fast in coupling.fast");
}

static int common_divisor(int a, int b)
{
    while (b > 0) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static yk_status choose_exchanges(yk_system *system)
{
    struct yk_rim *rim = system->rim;
    int common = 0;
    for (int i = 0; i < system->member_count; i++)
        if (rim->members[i].fast) common = common_divisor(common, system->members[i].substeps);
    rim->exchanges = system->scheme.rim.exchanges > 0 ? system->scheme.rim.exchanges : common > 0 ? common : 1;
    if (system->scheme.rim.exchanges < 0)
        return yk_fail(system->context, YK_ERROR_ARGUMENT, "scheme rim: %d exchanges in a macro step",
                       system->scheme.rim.exchanges);
    for (int i = 0; i < system->member_count; i++) {
        const yk_member *m = &system->members[i];
        if (!rim->members[i].fast) continue;
        rim->members[i].parts = m->substeps / rim->exchanges;
        if (rim->members[i].parts * rim->exchanges != m->substeps)
            return yk_fail(system->context, YK_ERROR_ARGUMENT,
                           "scheme rim: the %d substeps of subsystem '%s' cannot be cut in %d exchanges; make one a "
                           "multiple of the other",
                           m->substeps, m->name, rim->exchanges);
    }
    return YK_OK;
}

static void assign_roles(yk_system *system)
{
    for (int i = 0; i < system->link_count; i++) {
        const yk_interface_def *def = &system->links[i].def;
        bool a = system->rim->members[def->effort_subsystem].fast, b = system->rim->members[def->motion_subsystem].fast;
        system->rim->links[i].role = a ? (b ? YK_RIM_FAST : YK_RIM_REVERSED) : (b ? YK_RIM_MODELLED : YK_RIM_SLOW);
    }
}

static bool is_modelled(const yk_system *system, int member)
{
    if (system->scheme.rim.extrapolation != YK_EXTRAPOLATION_RIM) return false;
    for (int i = 0; i < system->link_count; i++)
        if (system->links[i].def.effort_subsystem == member && system->rim->links[i].role == YK_RIM_MODELLED)
            return true;
    return false;
}

/* Ports in their own order, whatever the order of the interfaces. */
static void number_velocities(yk_system *system, int member)
{
    const yk_member *m = &system->members[member];
    yk_rim_member *own = &system->rim->members[member];
    for (int port = 0; port < m->port_count; port++) own->offsets[port] = -1;
    for (int i = 0; i < system->link_count; i++) {
        const yk_link *link = &system->links[i];
        if (link->def.effort_subsystem == member) own->offsets[link->def.effort_port] = 0;
        if (link->def.motion_subsystem == member && link->balanced) own->offsets[link->def.motion_port] = 0;
    }
    own->size = 0;
    for (int port = 0; port < m->port_count; port++) {
        if (own->offsets[port] < 0) continue;
        own->offsets[port] = own->size;
        own->size += m->ports[port].kind == YK_PORT_SCALAR ? 1 : 6;
    }
}

static yk_status create_model(yk_system *system, int member)
{
    yk_context *context = system->context;
    yk_rim_member *own = &system->rim->members[member];
    yk_status status = yk_rim_check_model(system, member);
    if (status < 0) return status;
    own->offsets = yk_allocate(context, (size_t)system->members[member].port_count, sizeof *own->offsets);
    if (!own->offsets) return YK_ERROR_MEMORY;
    number_velocities(system, member);
    size_t n = (size_t)own->size;
    own->start = yk_allocate(context, 5 * n + 4 * n * n + 5 * n + 3 * n + n * n, sizeof *own->start);
    if (!own->start) return YK_ERROR_MEMORY;
    own->now = own->start + n;
    own->way = own->now + n;
    own->efforts = own->way + n;
    own->model = (yk_interface_model){.size = own->size, .rate = own->efforts + n, .lead = 1};
    own->model.inverse_mass = own->model.rate + n;
    own->drift = own->model.inverse_mass + n * n;
    own->step = (yk_step_model){.size = own->size, .velocity = own->drift + n, .displacement = own->drift + 2 * n};
    own->step.mobility = own->drift + 3 * n;
    own->scratch = own->step.mobility + n * n;
    return YK_OK;
}

yk_status yk_rim_create(yk_system *system)
{
    yk_context *context = system->context;
    struct yk_rim *rim = yk_allocate(context, 1, sizeof *rim);
    if (!rim) return YK_ERROR_MEMORY;
    system->rim = rim;
    rim->members = yk_allocate(context, (size_t)system->member_count, sizeof *rim->members);
    rim->links = yk_allocate(context, (size_t)system->link_count, sizeof *rim->links);
    if (!rim->members || !rim->links) return YK_ERROR_MEMORY;
    yk_status status = choose_fast(system);
    if (status == YK_OK) status = choose_exchanges(system);
    if (status < 0) return status;
    assign_roles(system);
    for (int i = 0; status == YK_OK && i < system->member_count; i++) {
        yk_rim_member *own = &rim->members[i];
        if (is_modelled(system, i)) status = create_model(system, i);
        if (!own->fast) continue;
        own->given = yk_allocate(context, (size_t)system->members[i].port_count, sizeof *own->given);
        own->from = yk_allocate(context, (size_t)system->members[i].port_count, sizeof *own->from);
        if (!own->given || !own->from) return YK_ERROR_MEMORY;
    }
    return status;
}

void yk_rim_destroy(yk_system *system)
{
    struct yk_rim *rim = system->rim;
    if (!rim) return;
    for (int i = 0; rim->members && i < system->member_count; i++) {
        yk_release(system->context, rim->members[i].offsets);
        yk_release(system->context, rim->members[i].start);
        yk_release(system->context, rim->members[i].given);
        yk_release(system->context, rim->members[i].from);
    }
    yk_release(system->context, rim->members);
    yk_release(system->context, rim->links);
    yk_release(system->context, rim);
}

void yk_rim_start(yk_system *system)
{
    system->rim->past_count = 0;
    for (int i = 0; i < system->link_count; i++) {
        yk_rim_link *own = &system->rim->links[i];
        own->mean = own->given[0] = own->given[1] = system->links[i].applied;
    }
}

/* State ------------------------------------------------------------------------------------------------------------ */

yk_state_layout yk_rim_layout(const yk_system *system)
{
    size_t words = LINK_WORDS * (size_t)system->link_count;
    return (yk_state_layout){.words = words + 1, .continuous = words};
}

void yk_rim_get(const yk_system *system, double *continuous, double *opaque)
{
    for (int i = 0; i < system->link_count; i++) {
        const yk_rim_link *link = &system->rim->links[i];
        memcpy(continuous, link->past, sizeof link->past);
        memcpy(continuous + PAST_WORDS / 2, link->past_angular, sizeof link->past_angular);
        memcpy(continuous + PAST_WORDS, &link->mean, sizeof link->mean);
        memcpy(continuous + PAST_WORDS + EFFORT_WORDS, link->given, sizeof link->given);
        continuous += LINK_WORDS;
    }
    memcpy(opaque, &system->rim->past_count, sizeof *opaque);
}

void yk_rim_set(yk_system *system, const double *continuous, const double *opaque)
{
    for (int i = 0; i < system->link_count; i++) {
        yk_rim_link *link = &system->rim->links[i];
        memcpy(link->past, continuous, sizeof link->past);
        memcpy(link->past_angular, continuous + PAST_WORDS / 2, sizeof link->past_angular);
        memcpy(&link->mean, continuous + PAST_WORDS, sizeof link->mean);
        memcpy(link->given, continuous + PAST_WORDS + EFFORT_WORDS, sizeof link->given);
        continuous += LINK_WORDS;
    }
    memcpy(&system->rim->past_count, opaque, sizeof *opaque);
}

/* Slow sides have one wrench for the whole of the macro step, fast ones have summed from exchange to exchange. */
void yk_rim_work(const yk_system *system, int link, yk_link_work *work)
{
    const yk_link *l = &system->links[link];
    const yk_member *a = yk_link_a(system, l), *b = yk_link_b(system, l);
    const yk_rim_link *own = &system->rim->links[link];
    int a_port = l->def.effort_port, b_port = l->def.motion_port;
    work->on[0] = own->work[0];
    work->on[1] = own->work[1];
    if (!system->rim->members[l->def.effort_subsystem].fast)
        work->on[0] = yk_effort_work(l->kind, &l->applied, &a->before[a_port], &a->values[a_port].motion);
    if (!system->rim->members[l->def.motion_subsystem].fast)
        work->on[1] = yk_effort_work(l->kind, &b->values[b_port].effort, &b->before[b_port], &b->values[b_port].motion);
    work->created = work->on[0] + work->on[1];
    if (l->def.drive) work->created = yk_driven_created(system, l, &l->applied, work->on);
}
