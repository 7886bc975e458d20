/* Creation of the scheme rim: fast participants, number of exchanges, and memory for the models. */
#include <string.h>

#include "coupling/energy_balance.h"
#include "coupling/participant.h"
#include "coupling/rim/rim.h"

enum {
    WRENCH_WORDS = 6,
    PAST_WORDS = 6 * YK_RIM_PAST,
    INTERFACE_WORDS = PAST_WORDS + WRENCH_WORDS * (1 + YK_RIM_PAST)
};

/* Whether a participant receives a wrench, or a motion, at any interface. */
static bool takes(const yk_system *system, int participant, yk_causality causality)
{
    /* Side A always receives a wrench; the scheme chose what side B receives. */
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        const yk_interface_def *def = &interface->def;
        if (causality == YK_CAUSALITY_WRENCH_INPUT && def->wrench_subsystem.index == participant)
            return true;
        if (interface->takes == causality && def->motion_subsystem.index == participant)
            return true;
    }

    return false;
}

/* Selects the fast participants: those that the options name; otherwise those with several substeps
 * that receive no wrench; if all make one step, those that receive motions only. */
static yk_status choose_fast(yk_rim *rim, yk_system *system)
{
    /* Named in the options ... */
    const yk_subsystem_list *named = &rim->options.fast_subsystems;
    bool any = false;
    for (int i = 0; i < named->count; i++) {
        int participant = named->items[i];
        if (participant < 0 || participant >= system->participant_count)
            return yk_fail(system->context, YK_ERROR_ARGUMENT,
                           "scheme rim: there is no fast subsystem %d", participant);

        rim->participants[participant].fast = true;
        any = true;
    }

    /* ... or with several substeps ... */
    for (int i = 0; named->count == 0 && i < system->participant_count; i++) {
        bool several = system->participants[i].substeps > 1;
        rim->participants[i].fast = several && !takes(system, i, YK_CAUSALITY_WRENCH_INPUT);
        any = any || rim->participants[i].fast;
    }

    if (any)
        return YK_OK;

    /* ... or receiving motions only. */
    for (int i = 0; i < system->participant_count; i++) {
        bool motion = takes(system, i, YK_CAUSALITY_MOTION_INPUT);
        rim->participants[i].fast = motion && !takes(system, i, YK_CAUSALITY_WRENCH_INPUT);
        any = any || rim->participants[i].fast;
    }

    /* Balanced interfaces need no fast side. */
    for (int i = 0; i < system->interface_count; i++)
        any = any || yk_both_take_wrench(&system->interfaces[i]);
    if (any)
        return YK_OK;
    return yk_fail(
        system->context, YK_ERROR_ARGUMENT,
        "scheme rim needs a fast subsystem, and all take wrenches: name those that are fast");
}

/* The exchanges requested by the options; otherwise one at every common step of the fast
 * participants. */
static yk_status choose_exchanges(yk_rim *rim, yk_system *system)
{
    int asked = rim->options.exchanges_per_step;
    if (asked < 0)
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "scheme rim: %d exchanges in a macro step", asked);

    /* The greatest common divisor of their substeps, by Euclid's algorithm. */
    int common = 0;
    for (int i = 0; i < system->participant_count; i++) {
        int divisor = system->participants[i].substeps;
        while (rim->participants[i].fast && divisor > 0) {
            int rest = common % divisor;
            common = divisor;
            divisor = rest;
        }
    }

    rim->exchanges = 1;
    if (common > 0)
        rim->exchanges = common;
    if (asked > 0)
        rim->exchanges = asked;

    /* Each exchange interval must be a whole number of steps of every fast participant. */
    for (int i = 0; i < system->participant_count; i++) {
        const yk_participant *p = &system->participants[i];
        yk_rim_participant *own = &rim->participants[i];
        if (!own->fast)
            continue;

        own->parts = p->substeps / rim->exchanges;
        if (own->parts * rim->exchanges != p->substeps)
            return yk_fail(system->context, YK_ERROR_ARGUMENT,
                           "scheme rim: the %d substeps of subsystem '%s' cannot be cut in %d "
                           "exchanges; make one a multiple of the other",
                           p->substeps, p->name, rim->exchanges);
    }

    return YK_OK;
}

/* Memory for the reduced model of a slow participant. */
static yk_status create_model(yk_rim *rim, yk_system *system, int participant)
{
    yk_context *context = system->context;
    yk_rim_participant *own = &rim->participants[participant];
    yk_status status = yk_rim_check_model(system, participant);
    if (status != YK_OK)
        return status;

    size_t ports = (size_t)system->participants[participant].port_count;
    own->offsets = yk_allocate(context, ports, sizeof *own->offsets);
    if (!own->offsets)
        return YK_ERROR_MEMORY;

    own->size = yk_system_number_velocities(system, participant, own->offsets);

    /* Velocities and wrenches; the model; the step model from which it is made; buffers of trial
     * steps. */
    size_t n = (size_t)own->size;
    size_t trials = 3 * n * n + 5 * n;
    own->start = yk_allocate(context, 9 * n + 2 * n * n + trials, sizeof *own->start);
    if (!own->start)
        return YK_ERROR_MEMORY;

    own->now = own->start + n;
    own->displacement = own->now + n;
    own->wrenches = own->displacement + n;
    own->model.row_count = own->size;
    own->model.theta = 1;
    own->model.free_acceleration = own->wrenches + n;
    own->model.inverse_mass = own->model.free_acceleration + n;
    own->drift = own->model.inverse_mass + n * n;
    own->step.row_count = own->size;
    own->step.velocity = own->drift + n;
    own->step.displacement = own->step.velocity + n;
    own->step.mobility = own->step.displacement + n;
    own->initial = own->step.mobility + n * n;
    own->scratch = own->initial + n;

    return YK_OK;
}

/* Balanced and shared interfaces. A consistent start finds the wrenches of both together. */
static yk_status create_exchanges(yk_rim *rim, yk_system *system)
{
    yk_status status = yk_rim_shared_create(system, &rim->shared);
    if (status != YK_OK)
        return status;
    if (!rim->shared)
        return yk_balance_create(system, NULL, &rim->balance);

    size_t count = (size_t)system->interface_count;
    bool *excluded = yk_allocate(system->context, count, sizeof *excluded);
    if (!excluded)
        return YK_ERROR_MEMORY;

    for (size_t i = 0; i < count; i++)
        excluded[i] = rim->interfaces[i].role == YK_RIM_SHARED;
    status = yk_balance_create(system, excluded, &rim->balance);
    yk_free(system->context, excluded);
    if (status != YK_OK)
        return status;
    return yk_balance_create(system, NULL, &rim->start);
}

yk_status yk_rim_create(yk_system *system, const void *options, yk_scheme **scheme)
{
    yk_context *context = system->context;
    yk_rim *rim = yk_allocate(context, 1, sizeof *rim);
    if (!rim)
        return YK_ERROR_MEMORY;

    rim->options = *(const yk_rim_options *)options;
    *scheme = &rim->base;
    size_t participants = (size_t)system->participant_count;
    size_t interfaces = (size_t)system->interface_count;
    rim->participants = yk_allocate(context, participants, sizeof *rim->participants);
    rim->interfaces = yk_allocate(context, interfaces, sizeof *rim->interfaces);
    if (!rim->participants || !rim->interfaces)
        return YK_ERROR_MEMORY;

    /* Fast participants and exchanges. */
    yk_status status = choose_fast(rim, system);
    if (status != YK_OK)
        return status;

    status = choose_exchanges(rim, system);
    if (status == YK_OK)
        status = yk_system_use_threads(system, rim->options.thread_count);
    if (status != YK_OK)
        return status;

    /* Role of each interface, and models that the roles require. */
    static const int roles[2][2] = {
        {YK_RIM_SLOW, YK_RIM_MODELLED},
        {YK_RIM_REVERSED, YK_RIM_FAST},
    };

    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        const yk_interface_def *def = &interface->def;
        bool a = rim->participants[def->wrench_subsystem.index].fast;
        bool b = rim->participants[def->motion_subsystem.index].fast;
        rim->interfaces[i].role = roles[a][b];
        if (yk_both_take_wrench(interface) && a != b)
            rim->interfaces[i].role = YK_RIM_SHARED;

        int slow = def->wrench_subsystem.index;
        if (yk_rim_slow_port(system, i, slow) < 0)
            slow = def->motion_subsystem.index;
        bool extrapolated = rim->options.extrapolation != YK_EXTRAPOLATION_INTERFACE_MODEL;
        if (yk_rim_slow_port(system, i, slow) < 0 || extrapolated ||
            rim->participants[slow].size > 0)
            continue;

        status = create_model(rim, system, slow);
        if (status != YK_OK)
            return status;
    }

    status = create_exchanges(rim, system);
    if (status != YK_OK)
        return status;

    /* Sums of fast participants over the exchanges. */
    for (int i = 0; i < system->participant_count; i++) {
        yk_rim_participant *own = &rim->participants[i];
        size_t ports = (size_t)system->participants[i].port_count;
        if (!own->fast)
            continue;

        own->given = yk_allocate(context, ports, sizeof *own->given);
        own->from = yk_allocate(context, ports, sizeof *own->from);
        if (!own->given || !own->from)
            return YK_ERROR_MEMORY;
    }

    return YK_OK;
}

void yk_rim_destroy(yk_scheme *scheme, yk_system *system)
{
    yk_rim *rim = (yk_rim *)scheme;
    yk_balance_destroy(rim->balance, system);
    yk_balance_destroy(rim->start, system);
    yk_rim_shared_destroy(rim->shared, system);

    /* If creation failed, some members do not exist. */
    for (int i = 0; rim->participants && i < system->participant_count; i++) {
        yk_rim_participant *own = &rim->participants[i];
        yk_free(system->context, own->offsets);
        yk_free(system->context, own->start);
        yk_free(system->context, own->given);
        yk_free(system->context, own->from);
    }

    yk_free(system->context, rim->participants);
    yk_free(system->context, rim->interfaces);
    yk_free(system->context, rim);
}

static void keep_initial_velocities(const yk_participant *p, yk_rim_participant *own)
{
    for (int port = 0; own->size > 0 && port < p->port_count; port++) {
        const yk_motion *motion = &p->values[port].motion;
        yk_wrench velocity = {motion->velocity, motion->angular_velocity};
        if (own->offsets[port] >= 0)
            yk_wrench_pack(p->ports[port].kind, &velocity, own->initial + own->offsets[port]);
    }
}

yk_status yk_rim_start(yk_scheme *scheme, yk_system *system)
{
    yk_rim *rim = (yk_rim *)scheme;
    yk_rim_shared_restart(rim->shared);
    yk_balance *balance = rim->start ? rim->start : rim->balance;
    yk_status status = yk_balance_start(balance, system);
    if (status != YK_OK)
        return status;
    if (rim->start)
        yk_balance_copy_start(rim->balance, rim->start);

    for (int i = 0; i < system->participant_count; i++)
        keep_initial_velocities(&system->participants[i], &rim->participants[i]);

    /* Only the wrenches of the start are kept. */
    rim->past_count = 0;
    for (int i = 0; i < system->interface_count; i++) {
        const yk_wrench *applied = &system->interfaces[i].applied;
        yk_rim_interface *own = &rim->interfaces[i];
        own->mean = *applied;

        /* On the slow side of a shared interface. */
        int second = system->interfaces[i].def.motion_subsystem.index;
        int port = yk_rim_slow_port(system, i, second);
        if (port >= 0) {
            const yk_input *input = &system->participants[second].inputs[port];
            own->mean = (yk_wrench){input->linear[0], input->angular[0]};
        }

        own->given[0] = own->mean;
        own->given[1] = own->mean;
    }

    return YK_OK;
}

/* State ---------------------------------------------------------------------------------------- */

yk_state_layout yk_rim_layout(const yk_scheme *scheme, const yk_system *system)
{
    size_t words = INTERFACE_WORDS * (size_t)system->interface_count;
    const yk_rim *rim = (const yk_rim *)scheme;
    yk_state_layout balance = yk_balance_layout(rim->balance);
    words += yk_rim_shared_words(rim->shared);
    return (yk_state_layout){.word_count = words + balance.word_count + 1,
                             .continuous_count = words + balance.continuous_count};
}

void yk_rim_get(const yk_scheme *scheme, const yk_system *system, double *continuous,
                double *opaque)
{
    /* Velocities and wrenches of earlier macro steps, which cannot be recomputed. */
    const yk_rim *rim = (const yk_rim *)scheme;
    yk_balance_get(rim->balance, &continuous, &opaque);
    continuous = yk_rim_shared_get(rim->shared, continuous);
    for (int i = 0; i < system->interface_count; i++) {
        const yk_rim_interface *own = &rim->interfaces[i];
        memcpy(continuous, own->past, sizeof own->past);
        memcpy(continuous + PAST_WORDS / 2, own->past_angular, sizeof own->past_angular);
        memcpy(continuous + PAST_WORDS, &own->mean, sizeof own->mean);
        memcpy(continuous + PAST_WORDS + WRENCH_WORDS, own->given, sizeof own->given);
        continuous += INTERFACE_WORDS;
    }

    memcpy(opaque, &rim->past_count, sizeof *opaque);
}

bool yk_rim_is_valid(const yk_scheme *scheme, const yk_system *system, const double *continuous,
                     const double *opaque)
{
    (void)system;
    (void)continuous;
    if (!yk_balance_is_valid(((const yk_rim *)scheme)->balance, &opaque))
        return false;

    int64_t past_count;
    memcpy(&past_count, opaque, sizeof past_count);
    return past_count >= 0 && past_count <= YK_RIM_PAST;
}

void yk_rim_set(yk_scheme *scheme, yk_system *system, const double *continuous,
                const double *opaque)
{
    /* In the order of yk_rim_get(). */
    yk_rim *rim = (yk_rim *)scheme;
    yk_balance_set(rim->balance, &continuous, &opaque);
    continuous = yk_rim_shared_set(rim->shared, continuous);
    yk_balance_take_over(rim->balance, system);
    for (int i = 0; i < system->interface_count; i++) {
        yk_rim_interface *own = &rim->interfaces[i];
        memcpy(own->past, continuous, sizeof own->past);
        memcpy(own->past_angular, continuous + PAST_WORDS / 2, sizeof own->past_angular);
        memcpy(&own->mean, continuous + PAST_WORDS, sizeof own->mean);
        memcpy(own->given, continuous + PAST_WORDS + WRENCH_WORDS, sizeof own->given);
        continuous += INTERFACE_WORDS;
    }

    memcpy(&rim->past_count, opaque, sizeof *opaque);
}

/* A slow side has one wrench for the whole macro step; a fast side has summed its work over the
 * exchanges. */
void yk_rim_work(const yk_scheme *scheme, const yk_system *system, int number,
                 yk_interface_work *work)
{
    const yk_rim *rim = (const yk_rim *)scheme;
    const yk_rim_interface *own = &rim->interfaces[number];
    const yk_interface *interface = &system->interfaces[number];
    const yk_interface_def *def = &interface->def;
    yk_port_kind kind = interface->kind;

    /* Side A ... */
    work->work[0] = own->work[0];
    if (!rim->participants[def->wrench_subsystem.index].fast) {
        const yk_motion *from = yk_before_a(system, interface);
        const yk_motion *to = &yk_value_a(system, interface)->motion;
        work->work[0] = yk_wrench_work(kind, &interface->applied, from, to);
    }

    /* ... side B ... */
    work->work[1] = own->work[1];
    if (!rim->participants[def->motion_subsystem.index].fast) {
        const yk_motion *from = yk_before_b(system, interface);
        const yk_port_value *to = yk_value_b(system, interface);
        work->work[1] = yk_wrench_work(kind, &to->wrench, from, &to->motion);
    }

    /* ... and both, minus the work of a prescribed relative motion. */
    work->energy_created = work->work[0] + work->work[1];
    if (def->drive)
        work->energy_created =
            yk_driven_created(system, interface, &interface->applied, work->work);
}
