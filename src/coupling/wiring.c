/* Creation of what a system consists of: every mistake in the wiring is found here, before
 * anything moves. */
#include <math.h>
#include <stdio.h>

#include "coupling/contract.h"
#include "coupling/failure.h"
#include "coupling/merging.h"
#include "coupling/unknowns.h"
#include "math/vec3.h"

static yk_status check_transform(yk_context *context, const yk_transform *transform,
                                 const char *name)
{
    double norm = yk_q_norm(transform->orientation);
    bool good = transform->length > 0 && transform->mass > 0 &&
                isfinite(transform->length * transform->mass) &&
                yk_v3_finite(transform->position) && fabs(norm - 1) < 1e-6;
    if (good)
        return YK_OK;
    return yk_fail(context, YK_ERROR_ARGUMENT,
                   "subsystem '%s': its units must be positive (%g m, %g kg) and its orientation a "
                   "unit quaternion (norm %g)",
                   name, transform->length, transform->mass, norm);
}

static yk_status place_participant(yk_system *system, yk_participant *participant,
                                   const yk_transform *transform, int substeps)
{
    if (substeps < 1)
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "subsystem '%s' has %d substeps, must be 1 or more", participant->name,
                       substeps);
    participant->substeps = substeps;
    if (substeps > 1) {
        size_t count = (size_t)participant->port_count;
        participant->mean_wrenches =
            yk_allocate(system->context, count, sizeof *participant->mean_wrenches);
        participant->earlier = yk_allocate(system->context, count, sizeof *participant->earlier);
        participant->substep_start =
            yk_allocate(system->context, count, sizeof *participant->substep_start);
        participant->port_work =
            yk_allocate(system->context, count, sizeof *participant->port_work);
        if (!participant->mean_wrenches || !participant->earlier || !participant->substep_start ||
            !participant->port_work)
            return YK_ERROR_MEMORY;
    }
    if (!transform)
        return YK_OK;
    yk_status status = check_transform(system->context, transform, participant->name);
    if (status < 0)
        return status;
    yk_transform *copy = yk_allocate(system->context, 1, sizeof *copy);
    if (!copy)
        return YK_ERROR_MEMORY;
    *copy = *transform;
    participant->transform = copy;
    return YK_OK;
}

static yk_status create_participant(yk_system *system, yk_participant *participant,
                                    yk_subsystem *subsystem, const char *name)
{
    yk_context *context = system->context;
    yk_status status = yk_contract_check(context, subsystem, name);
    if (status < 0)
        return status;
    participant->subsystem = subsystem;
    participant->name = name;
    participant->port_count = subsystem->ops->ports(subsystem, &participant->ports);
    size_t count = (size_t)participant->port_count;
    participant->inputs = yk_allocate(context, count, sizeof *participant->inputs);
    participant->own_inputs = yk_allocate(context, count, sizeof *participant->own_inputs);
    participant->values = yk_allocate(context, count, sizeof *participant->values);
    participant->before = yk_allocate(context, count, sizeof *participant->before);
    if (!participant->inputs || !participant->own_inputs || !participant->values ||
        !participant->before)
        return YK_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        participant->values[i].motion.orientation.w = 1;
        participant->inputs[i].orientation.w = 1;
        participant->own_inputs[i].orientation.w = 1;
    }
    return YK_OK;
}

static yk_status check_place(yk_system *system, const char *face, int participant, int port)
{
    if (participant < 0 || participant >= system->participant_count)
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "interface '%s': there is no subsystem %d", face, participant);
    const yk_participant *m = &system->participants[participant];
    if (port < 0 || port >= m->port_count)
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "interface '%s': subsystem '%s' has no port %d", face, m->name, port);
    if (m->ports[port].kind == YK_PORT_SIGNAL)
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "interface '%s': port '%s' of subsystem '%s' carries a signal without "
                       "power; join it by a wire",
                       face, m->ports[port].name, m->name);
    return YK_OK;
}

static yk_status check_causality(yk_system *system, const char *face, int participant, int port,
                                 yk_causality causality)
{
    const yk_participant *m = &system->participants[participant];
    const yk_port *p = &m->ports[port];
    if (p->causalities & causality)
        return YK_OK;
    if (causality == YK_TAKES_MOTION || !(p->causalities & YK_TAKES_MOTION))
        return yk_fail(
            system->context, YK_ERROR_CAPABILITY,
            "interface '%s': port '%s' of subsystem '%s' cannot take %s; exchange the two sides",
            face, p->name, m->name, causality == YK_TAKES_WRENCH ? "a wrench" : "a motion");

    /* It takes motions only. */
    if (system->traits & YK_SCHEME_WRENCH_ON_BOTH_SIDES && p->kind == YK_PORT_MARKER)
        return yk_fail(system->context, YK_ERROR_CAPABILITY,
                       "interface '%s': port '%s' of subsystem '%s' cannot take a wrench; let it "
                       "be the second side, "
                       "and choose the scheme tight or rim: %s tells motions to scalar ports only",
                       face, p->name, m->name, yk_system_scheme_name(system));
    return yk_fail(system->context, YK_ERROR_CAPABILITY,
                   "interface '%s': port '%s' of subsystem '%s' cannot take a wrench; let it be "
                   "the second side",
                   face, p->name, m->name);
}

/* A prescribed relative motion is a constraint with a wrench on both sides. */
static yk_status check_drive(yk_system *system, const yk_interface *interface)
{
    const yk_interface_def *def = &interface->def;
    if (!def->drive || yk_both_take_wrench(interface))
        return YK_OK;
    if (system->traits & YK_SCHEME_WRENCH_ON_BOTH_SIDES)
        return yk_fail(system->context, YK_ERROR_CAPABILITY,
                       "interface '%s' prescribes a relative motion to a port that takes motion "
                       "only; drive a joint "
                       "inside the subsystem of the other side",
                       def->name);
    return yk_fail(
        system->context, YK_ERROR_CAPABILITY,
        "interface '%s' %s, which needs wrenches on both sides: choose the scheme %s, or %s; the "
        "schemes explicit and rim do it between subsystems that tell their next step, as smooth "
        "ones do",
        def->name,
        def->constrained & YK_AXIS_DISTANCE ? "keeps a distance" : "prescribes a relative motion",
        yk_scheme_name_with(YK_SCHEME_WRENCH_ON_BOTH_SIDES), yk_scheme_name_with(YK_SCHEME_MERGES));
}

static bool uses_port(const yk_interface_def *def, int participant, int port)
{
    return (def->wrench_subsystem == participant && def->wrench_port == port) ||
           (def->motion_subsystem == participant && def->motion_port == port);
}

static yk_status check_port_is_free(yk_system *system, int interface, int participant, int port)
{
    for (int i = 0; i < interface; i++)
        if (uses_port(&system->interfaces[i].def, participant, port))
            return yk_fail(system->context, YK_ERROR_ARGUMENT,
                           "interfaces '%s' and '%s' both use port '%s' of subsystem '%s'; a port "
                           "can be joined once",
                           system->interfaces[i].def.name, system->interfaces[interface].def.name,
                           system->participants[participant].ports[port].name,
                           system->participants[participant].name);
    return YK_OK;
}

static yk_status connect_interface(yk_system *system, yk_interface *interface)
{
    const yk_interface_def *def = &interface->def;
    yk_participant *a = yk_interface_a(system, interface), *b = yk_interface_b(system, interface);
    yk_participant *participant = a;
    yk_status status = a->subsystem->ops->connect(a->subsystem, def->wrench_port, YK_TAKES_WRENCH,
                                                  def->constrained);
    if (status >= 0) {
        participant = b;
        status = b->subsystem->ops->connect(b->subsystem, def->motion_port, interface->takes,
                                            def->constrained);
    }
    if (status >= 0)
        return status;
    char why[512];
    snprintf(why, sizeof why, "%s", yk_last_message(system->context));
    return yk_fail(system->context, status, "interface '%s', subsystem '%s': %s", def->name,
                   participant->name, why);
}

static yk_status create_interface(yk_system *system, int number, const yk_interface_def *def)
{
    yk_interface *interface = &system->interfaces[number];
    interface->def = *def;
    if (!interface->def.name)
        interface->def.name = "unnamed";
    const char *name = interface->def.name;

    yk_status status = check_place(system, name, def->wrench_subsystem, def->wrench_port);
    if (status == YK_OK)
        status = check_place(system, name, def->motion_subsystem, def->motion_port);
    if (status < 0)
        return status;

    /* What the second side takes is the scheme's choice. */
    const yk_participant *a = yk_interface_a(system, interface),
                         *b = yk_interface_b(system, interface);
    const yk_joined_ports joined = {.subsystem = {a->subsystem, b->subsystem},
                                    .number = {def->wrench_subsystem, def->motion_subsystem},
                                    .port = {def->wrench_port, def->motion_port}};
    const yk_scheme_def *scheme = &system->scheme_def;
    interface->takes = YK_TAKES_MOTION;
    if (scheme->ops->second_side)
        interface->takes = scheme->ops->second_side(scheme->options, &joined);

    status =
        check_causality(system, name, def->wrench_subsystem, def->wrench_port, YK_TAKES_WRENCH);
    if (status == YK_OK)
        status = check_causality(system, name, def->motion_subsystem, def->motion_port,
                                 interface->takes);
    if (status == YK_OK)
        status = check_drive(system, interface);
    if (status == YK_OK)
        status = check_port_is_free(system, number, def->wrench_subsystem, def->wrench_port);
    if (status == YK_OK)
        status = check_port_is_free(system, number, def->motion_subsystem, def->motion_port);
    if (status < 0)
        return status;

    if (a == b)
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "interface '%s' joins subsystem '%s' with itself", name, a->name);
    interface->kind = a->ports[def->wrench_port].kind;
    if (interface->kind != b->ports[def->motion_port].kind)
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "interface '%s' joins a scalar port with a marker: '%s.%s' and '%s.%s'",
                       name, a->name, a->ports[def->wrench_port].name, b->name,
                       b->ports[def->motion_port].name);
    return connect_interface(system, interface);
}

/* What the order of Gauss-Seidel gives up first where it would go in a circle. */
typedef enum demand {
    ALL_WIRES, /* motion sides before wrench sides, sources of wires before their targets */
    /* the same without wires from wrench sides, whose motion is known at the start: measured */
    WIRES_OF_COMMANDS,
    NO_WIRES,
    NOTHING /* the order of the scenario */
} demand;

static bool takes_wrench(const yk_system *system, int participant)
{
    for (int i = 0; i < system->interface_count; i++)
        if (system->interfaces[i].def.wrench_subsystem == participant)
            return true;
    return false;
}

/* True if everything that the participant takes comes from participants that are already placed. */
static bool can_follow(const yk_system *system, int participant, bool wrenches_first,
                       const bool *placed, demand level)
{
    for (int i = 0; i < system->interface_count && level < NOTHING; i++) {
        const yk_interface_def *def = &system->interfaces[i].def;
        if (yk_both_take_wrench(&system->interfaces[i]))
            continue;
        int later = wrenches_first ? def->motion_subsystem : def->wrench_subsystem;
        int earlier = wrenches_first ? def->wrench_subsystem : def->motion_subsystem;
        if (later == participant && !placed[earlier])
            return false;
    }
    for (int i = 0; i < system->wire_count && level < NO_WIRES; i++) {
        int source = system->wires[i].def.source_subsystem;
        bool waits = system->wires[i].def.target_subsystem == participant &&
                     source != participant && !placed[source];
        if (waits && (level == ALL_WIRES || !takes_wrench(system, source)))
            return false;
    }
    return true;
}

static int next_in_sequence(const yk_system *system, bool wrenches_first, const bool *placed)
{
    for (demand level = ALL_WIRES; level < NOTHING; level++)
        for (int i = 0; i < system->participant_count; i++)
            if (!placed[i] && can_follow(system, i, wrenches_first, placed, level))
                return i;
    int first = 0;
    while (placed[first])
        first++;
    return first;
}

/* Motion sides before their wrench sides, or the other way round; sources of wires before their
 * targets. */
static yk_status find_sequence(yk_system *system, bool wrenches_first, int *sequence)
{
    int count = system->participant_count;
    bool *placed = yk_allocate(system->context, (size_t)count, sizeof *placed);
    int *index = yk_allocate(system->context, (size_t)count, sizeof *index);
    if (!placed || !index) {
        yk_release(system->context, placed);
        yk_release(system->context, index);
        return YK_ERROR_MEMORY;
    }
    for (int n = 0; n < count; n++) {
        int chosen = next_in_sequence(system, wrenches_first, placed);
        placed[chosen] = true;
        index[chosen] = n;
        sequence[n] = chosen;
    }

    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        int a = index[interface->def.wrench_subsystem], b = index[interface->def.motion_subsystem];
        if (wrenches_first)
            interface->lagged = a > b;
        else
            interface->a_index = a, interface->b_index = b;
    }
    for (int i = 0; wrenches_first && i < system->wire_count; i++) {
        yk_wire *wire = &system->wires[i];
        wire->lagged = !wire->def.hold &&
                       index[wire->def.source_subsystem] >= index[wire->def.target_subsystem];
    }
    yk_release(system->context, placed);
    yk_release(system->context, index);
    return YK_OK;
}

/* Room for the wrenches of every wrench side, and for a consistent start. */
static yk_status prepare_wrenches(yk_system *system)
{
    yk_context *context = system->context;
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (yk_both_take_wrench(interface))
            continue;
        yk_interface_a(system, interface)->wrench_size += interface->kind == YK_PORT_SCALAR ? 1 : 6;
    }
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *m = &system->participants[i];
        if (m->wrench_size == 0)
            continue;
        m->applied = yk_allocate(context, 2 * (size_t)m->wrench_size, sizeof *m->applied);
        if (!m->applied)
            return YK_ERROR_MEMORY;
        m->fresh = m->applied + m->wrench_size;
    }
    const yk_unknowns_def start = {.kind = YK_ACCELERATION_QUASI_NEWTON,
                                   .what = YK_UNKNOWNS_AT_START};
    return yk_unknowns_create(system, &start, &system->start_unknowns,
                              &system->start_unknowns_count);
}

yk_status yk_wiring_create(yk_system *system, const yk_system_def *def)
{
    yk_context *context = system->context;
    size_t participants = (size_t)def->subsystem_count, interfaces = (size_t)def->interface_count;
    system->participant_count = def->subsystem_count;
    system->interface_count = def->interface_count;
    system->participants = yk_allocate(context, participants, sizeof *system->participants);
    system->interfaces = yk_allocate(context, interfaces, sizeof *system->interfaces);
    system->sequence = yk_allocate(context, participants, sizeof *system->sequence);
    system->wrench_sequence = yk_allocate(context, participants, sizeof *system->wrench_sequence);
    if (!system->participants || !system->interfaces || !system->sequence ||
        !system->wrench_sequence)
        return YK_ERROR_MEMORY;

    yk_status status = YK_OK;
    for (int i = 0; status == YK_OK && i < system->participant_count; i++) {
        yk_participant *m = &system->participants[i];
        status = create_participant(system, m, def->subsystems[i], def->names[i]);
        const yk_transform *transform = def->transforms ? &def->transforms[i] : NULL;
        if (status == YK_OK)
            status = place_participant(system, m, transform, def->substeps ? def->substeps[i] : 1);
    }
    for (int i = 0; status == YK_OK && i < system->interface_count; i++)
        status = create_interface(system, i, &def->interfaces[i]);
    if (status == YK_OK)
        status = yk_wires_create(system, def);
    if (status == YK_OK)
        status = find_sequence(system, false, system->sequence);
    if (status == YK_OK)
        status = find_sequence(system, true, system->wrench_sequence);
    if (status == YK_OK)
        status = prepare_wrenches(system);
    return status;
}

void yk_wiring_destroy(yk_system *system)
{
    yk_context *context = system->context;
    for (int i = 0; system->participants && i < system->participant_count; i++) {
        yk_participant *m = &system->participants[i];
        yk_release(context, m->transform);
        yk_release(context, m->mean_wrenches);
        yk_release(context, m->substep_start);
        yk_release(context, m->port_work);
        yk_release(context, m->earlier);
        yk_release(context, m->inputs);
        yk_release(context, m->own_inputs);
        yk_release(context, m->values);
        yk_release(context, m->before);
        yk_release(context, m->mark);
        yk_release(context, m->applied);
    }
    yk_wires_destroy(system);
    yk_release(context, system->participants);
    yk_release(context, system->interfaces);
    yk_release(context, system->sequence);
    yk_release(context, system->wrench_sequence);
    yk_unknowns_destroy(context, system->start_unknowns, system->start_unknowns_count);
}
