/* Creation of the scheme rim: who is fast, how often they exchange, and room for the models. */
#include <string.h>

#include "coupling/interface.h"
#include "coupling/rim/rim.h"

enum {
    WRENCH_WORDS = 6,
    PAST_WORDS = 6 * YK_RIM_PAST,
    INTERFACE_WORDS = PAST_WORDS + WRENCH_WORDS * (1 + YK_RIM_PAST)
};

static bool takes_wrench(const yk_system *system, int participant)
{
    for (int i = 0; i < system->interface_count; i++)
        if (system->interfaces[i].def.wrench_subsystem == participant ||
            (system->interfaces[i].def.motion_subsystem == participant &&
             yk_both_take_wrench(&system->interfaces[i])))
            return true;
    return false;
}

static bool takes_motion(const yk_system *system, int participant)
{
    for (int i = 0; i < system->interface_count; i++)
        if (system->interfaces[i].def.motion_subsystem == participant)
            return true;
    return false;
}

/* Those that are named; else those with several steps in a macro step that take no wrench; where
 * all make one step, those that take motions alone. */
static yk_status choose_fast(yk_system *system)
{
    const yk_rim_options *options = &yk_rim_of(system)->options;
    yk_rim_participant *participants = yk_rim_of(system)->participants;
    bool any = false;
    for (int i = 0; i < options->fast.count; i++) {
        int participant = options->fast.items[i];
        if (participant < 0 || participant >= system->participant_count)
            return yk_fail(system->context, YK_ERROR_ARGUMENT,
                           "scheme rim: there is no fast subsystem %d", participant);
        participants[participant].fast = any = true;
    }
    for (int i = 0; options->fast.count == 0 && i < system->participant_count; i++) {
        participants[i].fast = system->participants[i].substeps > 1 && !takes_wrench(system, i);
        any = any || participants[i].fast;
    }
    for (int i = 0, none = !any; none && i < system->participant_count; i++) {
        participants[i].fast = takes_motion(system, i) && !takes_wrench(system, i);
        any = any || participants[i].fast;
    }
    /* Interfaces in balance need no fast side. */
    if (any || yk_rim_of(system)->balance)
        return YK_OK;
    return yk_fail(
        system->context, YK_ERROR_ARGUMENT,
        "scheme rim needs a fast subsystem, and all take wrenches: name those that are fast");
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
    yk_rim *rim = yk_rim_of(system);
    int common = 0;
    for (int i = 0; i < system->participant_count; i++)
        if (rim->participants[i].fast)
            common = common_divisor(common, system->participants[i].substeps);
    rim->exchanges = yk_rim_of(system)->options.exchanges > 0 ? yk_rim_of(system)->options.exchanges
                     : common > 0                             ? common
                                                              : 1;
    if (yk_rim_of(system)->options.exchanges < 0)
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "scheme rim: %d exchanges in a macro step",
                       yk_rim_of(system)->options.exchanges);
    for (int i = 0; i < system->participant_count; i++) {
        const yk_participant *m = &system->participants[i];
        if (!rim->participants[i].fast)
            continue;
        rim->participants[i].parts = m->substeps / rim->exchanges;
        if (rim->participants[i].parts * rim->exchanges != m->substeps)
            return yk_fail(system->context, YK_ERROR_ARGUMENT,
                           "scheme rim: the %d substeps of subsystem '%s' cannot be cut in %d "
                           "exchanges; make one a "
                           "multiple of the other",
                           m->substeps, m->name, rim->exchanges);
    }
    return YK_OK;
}

static void assign_roles(yk_system *system)
{
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface_def *def = &system->interfaces[i].def;
        bool a = yk_rim_of(system)->participants[def->wrench_subsystem].fast,
             b = yk_rim_of(system)->participants[def->motion_subsystem].fast;
        yk_rim_of(system)->interfaces[i].role =
            a ? (b ? YK_RIM_FAST : YK_RIM_REVERSED) : (b ? YK_RIM_MODELLED : YK_RIM_SLOW);
    }
}

static bool is_modelled(const yk_system *system, int participant)
{
    if (yk_rim_of(system)->options.extrapolation != YK_EXTRAPOLATION_RIM)
        return false;
    for (int i = 0; i < system->interface_count; i++)
        if (system->interfaces[i].def.wrench_subsystem == participant &&
            yk_rim_of(system)->interfaces[i].role == YK_RIM_MODELLED)
            return true;
    return false;
}

static yk_status create_model(yk_system *system, int participant)
{
    yk_context *context = system->context;
    yk_rim_participant *own = &yk_rim_of(system)->participants[participant];
    yk_status status = yk_rim_check_model(system, participant);
    if (status < 0)
        return status;
    own->offsets = yk_allocate(context, (size_t)system->participants[participant].port_count,
                               sizeof *own->offsets);
    if (!own->offsets)
        return YK_ERROR_MEMORY;
    own->size = yk_system_number_velocities(system, participant, own->offsets);
    size_t n = (size_t)own->size;
    own->start =
        yk_allocate(context, 5 * n + 4 * n * n + 5 * n + 3 * n + n * n, sizeof *own->start);
    if (!own->start)
        return YK_ERROR_MEMORY;
    own->now = own->start + n;
    own->displacement = own->now + n;
    own->wrenches = own->displacement + n;
    own->model = (yk_interface_model){.size = own->size, .rate = own->wrenches + n, .lead = 1};
    own->model.inverse_mass = own->model.rate + n;
    own->drift = own->model.inverse_mass + n * n;
    own->step = (yk_step_model){
        .size = own->size, .velocity = own->drift + n, .displacement = own->drift + 2 * n};
    own->step.mobility = own->drift + 3 * n;
    own->scratch = own->step.mobility + n * n;
    return YK_OK;
}

yk_status yk_rim_create(yk_system *system, const void *options, yk_scheme **scheme)
{
    yk_context *context = system->context;
    yk_rim *rim = yk_allocate(context, 1, sizeof *rim);
    if (!rim)
        return YK_ERROR_MEMORY;
    rim->base.ops = yk_scheme_rim();
    rim->options = *(const yk_rim_options *)options;
    *scheme = &rim->base;

    rim->participants =
        yk_allocate(context, (size_t)system->participant_count, sizeof *rim->participants);
    rim->interfaces =
        yk_allocate(context, (size_t)system->interface_count, sizeof *rim->interfaces);
    if (!rim->participants || !rim->interfaces)
        return YK_ERROR_MEMORY;
    yk_status status = yk_balance_create(system, &rim->balance);
    if (status == YK_OK)
        status = choose_fast(system);
    if (status == YK_OK)
        status = choose_exchanges(system);
    if (status < 0)
        return status;
    assign_roles(system);
    for (int i = 0; status == YK_OK && i < system->participant_count; i++) {
        yk_rim_participant *own = &rim->participants[i];
        if (is_modelled(system, i))
            status = create_model(system, i);
        if (!own->fast)
            continue;
        own->given =
            yk_allocate(context, (size_t)system->participants[i].port_count, sizeof *own->given);
        own->from =
            yk_allocate(context, (size_t)system->participants[i].port_count, sizeof *own->from);
        if (!own->given || !own->from)
            return YK_ERROR_MEMORY;
    }
    return status;
}

void yk_rim_destroy(yk_scheme *scheme, yk_system *system)
{
    yk_rim *rim = (yk_rim *)scheme;
    yk_balance_destroy(rim->balance, system);
    for (int i = 0; rim->participants && i < system->participant_count; i++) {
        yk_release(system->context, rim->participants[i].offsets);
        yk_release(system->context, rim->participants[i].start);
        yk_release(system->context, rim->participants[i].given);
        yk_release(system->context, rim->participants[i].from);
    }
    yk_release(system->context, rim->participants);
    yk_release(system->context, rim->interfaces);
    yk_release(system->context, rim);
}

yk_status yk_rim_start(yk_scheme *scheme, yk_system *system)
{
    yk_rim *rim = (yk_rim *)scheme;
    yk_status status = yk_balance_start(rim->balance, system);
    if (status < 0)
        return status;
    rim->past_count = 0;
    for (int i = 0; i < system->interface_count; i++) {
        yk_rim_interface *own = &rim->interfaces[i];
        own->mean = own->given[0] = own->given[1] = system->interfaces[i].applied;
    }
    return YK_OK;
}

/* State ---------------------------------------------------------------------------------------- */

yk_state_layout yk_rim_layout(const yk_scheme *scheme, const yk_system *system)
{
    size_t words = INTERFACE_WORDS * (size_t)system->interface_count;
    words += yk_balance_layout(((const yk_rim *)scheme)->balance).continuous;
    return (yk_state_layout){.words = words + 1, .continuous = words};
}

void yk_rim_get(const yk_scheme *scheme, const yk_system *system, double *continuous,
                double *opaque)
{
    const yk_rim *rim = (const yk_rim *)scheme;
    continuous = yk_balance_get(rim->balance, continuous);
    for (int i = 0; i < system->interface_count; i++) {
        const yk_rim_interface *interface = &rim->interfaces[i];
        memcpy(continuous, interface->past, sizeof interface->past);
        memcpy(continuous + PAST_WORDS / 2, interface->past_angular,
               sizeof interface->past_angular);
        memcpy(continuous + PAST_WORDS, &interface->mean, sizeof interface->mean);
        memcpy(continuous + PAST_WORDS + WRENCH_WORDS, interface->given, sizeof interface->given);
        continuous += INTERFACE_WORDS;
    }
    memcpy(opaque, &rim->past_count, sizeof *opaque);
}

void yk_rim_set(yk_scheme *scheme, yk_system *system, const double *continuous,
                const double *opaque)
{
    yk_rim *rim = (yk_rim *)scheme;
    continuous = yk_balance_set(rim->balance, continuous);
    for (int i = 0; i < system->interface_count; i++) {
        yk_rim_interface *interface = &rim->interfaces[i];
        memcpy(interface->past, continuous, sizeof interface->past);
        memcpy(interface->past_angular, continuous + PAST_WORDS / 2,
               sizeof interface->past_angular);
        memcpy(&interface->mean, continuous + PAST_WORDS, sizeof interface->mean);
        memcpy(interface->given, continuous + PAST_WORDS + WRENCH_WORDS, sizeof interface->given);
        continuous += INTERFACE_WORDS;
    }
    memcpy(&rim->past_count, opaque, sizeof *opaque);
}

/* Slow sides have one wrench for the whole of the macro step, fast ones have summed from exchange
 * to exchange. */
void yk_rim_work(const yk_scheme *scheme, const yk_system *system, int interface,
                 yk_interface_work *work)
{
    const yk_rim *rim = (const yk_rim *)scheme;
    const yk_interface *l = &system->interfaces[interface];
    const yk_participant *a = yk_interface_a(system, l), *b = yk_interface_b(system, l);
    const yk_rim_interface *own = &rim->interfaces[interface];
    int a_port = l->def.wrench_port, b_port = l->def.motion_port;
    work->on[0] = own->work[0];
    work->on[1] = own->work[1];
    if (!rim->participants[l->def.wrench_subsystem].fast)
        work->on[0] =
            yk_wrench_work(l->kind, &l->applied, &a->before[a_port], &a->values[a_port].motion);
    if (!rim->participants[l->def.motion_subsystem].fast)
        work->on[1] = yk_wrench_work(l->kind, &b->values[b_port].wrench, &b->before[b_port],
                                     &b->values[b_port].motion);
    work->created = work->on[0] + work->on[1];
    if (l->def.drive)
        work->created = yk_driven_created(system, l, &l->applied, work->on);
}
