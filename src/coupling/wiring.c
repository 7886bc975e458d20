/* Creation of a coupled system: every mistake in the wiring is found here, before anything moves. */
#include <math.h>
#include <stdio.h>

#include "coupling/balance.h"
#include "coupling/contract.h"
#include "coupling/index1.h"
#include "coupling/merging.h"
#include "coupling/relaxed.h"
#include "coupling/rim.h"
#include "coupling/unknowns.h"
#include "math/vec3.h"

static yk_status check_transform(yk_context *context, const yk_transform *transform, const char *name)
{
    double norm = yk_q_norm(transform->orientation);
    bool good = transform->length > 0 && transform->mass > 0 && isfinite(transform->length * transform->mass) &&
                yk_v3_finite(transform->position) && fabs(norm - 1) < 1e-6;
    if (good) return YK_OK;
    return yk_fail(
        context, YK_ERROR_ARGUMENT,
        "subsystem '%s': its units must be positive (%g m, %g kg) and its orientation a unit quaternion (norm %g)",
        name, transform->length, transform->mass, norm);
}

static yk_status place_participant(yk_system *system, yk_participant *participant, const yk_transform *transform,
                                   int substeps)
{
    if (substeps < 1)
        return yk_fail(system->context, YK_ERROR_ARGUMENT, "subsystem '%s' has %d substeps, must be 1 or more",
                       participant->name, substeps);
    participant->substeps = substeps;
    if (substeps > 1) {
        /* Iterations of a step in parts would have to be repeated part by part. */
        participant->iterates = false;
        size_t count = (size_t)participant->port_count;
        participant->mean_wrenches = yk_allocate(system->context, count, sizeof *participant->mean_wrenches);
        participant->earlier = yk_allocate(system->context, count, sizeof *participant->earlier);
        participant->substep_start = yk_allocate(system->context, count, sizeof *participant->substep_start);
        participant->port_work = yk_allocate(system->context, count, sizeof *participant->port_work);
        if (!participant->mean_wrenches || !participant->earlier || !participant->substep_start ||
            !participant->port_work)
            return YK_ERROR_MEMORY;
    }
    if (!transform) return YK_OK;
    yk_status status = check_transform(system->context, transform, participant->name);
    if (status < 0) return status;
    yk_transform *copy = yk_allocate(system->context, 1, sizeof *copy);
    if (!copy) return YK_ERROR_MEMORY;
    *copy = *transform;
    participant->transform = copy;
    return YK_OK;
}

static yk_status create_participant(yk_system *system, yk_participant *participant, yk_subsystem *subsystem,
                                    const char *name)
{
    yk_context *context = system->context;
    yk_status status = yk_contract_check(context, subsystem, name);
    if (status < 0) return status;
    participant->subsystem = subsystem;
    participant->name = name;
    participant->port_count = subsystem->ops->ports(subsystem, &participant->ports);
    size_t count = (size_t)participant->port_count;
    participant->inputs = yk_allocate(context, count, sizeof *participant->inputs);
    participant->own_inputs = yk_allocate(context, count, sizeof *participant->own_inputs);
    participant->values = yk_allocate(context, count, sizeof *participant->values);
    participant->before = yk_allocate(context, count, sizeof *participant->before);
    if (!participant->inputs || !participant->own_inputs || !participant->values || !participant->before)
        return YK_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        participant->values[i].motion.orientation.w = 1;
        participant->inputs[i].orientation.w = 1;
        participant->own_inputs[i].orientation.w = 1;
    }
    participant->low_order = system->scheme.kind == YK_SCHEME_INDEX1 && !yk_follows_polynomials(subsystem);
    /* Acceleration learns from how the answer depends on the wrench, so it must be the converged answer. */
    participant->iterates = subsystem->ops->iteration && system->scheme.acceleration == YK_ACCELERATION_NONE;
    return YK_OK;
}

static yk_status check_side(yk_system *system, const char *face, int participant, int port, yk_causality causality)
{
    if (participant < 0 || participant >= system->participant_count)
        return yk_fail(system->context, YK_ERROR_ARGUMENT, "interface '%s': there is no subsystem %d", face,
                       participant);
    const yk_participant *m = &system->participants[participant];
    if (port < 0 || port >= m->port_count)
        return yk_fail(system->context, YK_ERROR_ARGUMENT, "interface '%s': subsystem '%s' has no port %d", face,
                       m->name, port);
    if (m->ports[port].kind == YK_PORT_SIGNAL)
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "interface '%s': port '%s' of subsystem '%s' carries a signal without power; join it by a wire",
                       face, m->ports[port].name, m->name);
    if (m->ports[port].causalities & causality) return YK_OK;
    if (causality == YK_TAKES_MOTION || !(m->ports[port].causalities & YK_TAKES_MOTION))
        return yk_fail(system->context, YK_ERROR_CAPABILITY,
                       "interface '%s': port '%s' of subsystem '%s' cannot take %s; exchange the two sides", face,
                       m->ports[port].name, m->name, causality == YK_TAKES_WRENCH ? "a wrench" : "a motion");
    return yk_fail(system->context, YK_ERROR_CAPABILITY,
                   "interface '%s': port '%s' of subsystem '%s' cannot take a wrench; let it be the second side%s",
                   face, m->ports[port].name, m->name,
                   system->scheme.kind == YK_SCHEME_INDEX1 && m->ports[port].kind == YK_PORT_MARKER
                       ? ", and choose the scheme tight or rim: index1 tells motions to scalar ports only"
                       : "");
}

/* index1 applies wrenches to both sides. A scalar port that takes motion only is told one: a force law and no constraint. */
static bool is_relation(const yk_system *system, const yk_interface_def *def)
{
    if (system->scheme.kind != YK_SCHEME_INDEX1) return false;
    if (def->motion_subsystem < 0 || def->motion_subsystem >= system->participant_count) return false;
    const yk_participant *b = &system->participants[def->motion_subsystem];
    if (def->motion_port < 0 || def->motion_port >= b->port_count) return false;
    const yk_port *port = &b->ports[def->motion_port];
    return port->kind == YK_PORT_SCALAR && (port->causalities & (YK_TAKES_WRENCH | YK_TAKES_MOTION)) == YK_TAKES_MOTION;
}

static yk_status check_drive(yk_system *system, const yk_interface *interface)
{
    const yk_interface_def *def = &interface->def;
    if (def->drive && interface->relation)
        return yk_fail(system->context, YK_ERROR_CAPABILITY,
                       "interface '%s' prescribes a relative motion to a port that takes motion only; drive a joint "
                       "inside the subsystem of the other side",
                       def->name);
    if (!def->drive || yk_interface_takes(system, interface) == YK_TAKES_WRENCH || interface->balanced) return YK_OK;
    return yk_fail(
        system->context, YK_ERROR_CAPABILITY,
        "interface '%s' %s, which needs wrenches on both sides: choose the scheme index1, or monolithic; the "
        "schemes explicit and rim do it between subsystems that tell their next step, as smooth ones do",
        def->name, def->constrained & YK_AXIS_DISTANCE ? "keeps a distance" : "prescribes a relative motion");
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
                           "interfaces '%s' and '%s' both use port '%s' of subsystem '%s'; a port can be joined once",
                           system->interfaces[i].def.name, system->interfaces[interface].def.name,
                           system->participants[participant].ports[port].name, system->participants[participant].name);
    return YK_OK;
}

static yk_status connect_interface(yk_system *system, yk_interface *interface)
{
    const yk_interface_def *def = &interface->def;
    yk_participant *a = yk_interface_a(system, interface), *b = yk_interface_b(system, interface);
    b->iterates = false; /* a motion side steps as a whole */
    yk_causality b_takes = yk_interface_takes(system, interface);
    yk_participant *participant = a;
    yk_status status = a->subsystem->ops->connect(a->subsystem, def->wrench_port, YK_TAKES_WRENCH, def->constrained);
    if (status >= 0) {
        participant = b;
        status = b->subsystem->ops->connect(b->subsystem, def->motion_port, b_takes, def->constrained);
    }
    if (status >= 0) return status;
    char why[512];
    snprintf(why, sizeof why, "%s", yk_last_message(system->context));
    return yk_fail(system->context, status, "interface '%s', subsystem '%s': %s", def->name, participant->name, why);
}

static yk_status create_interface(yk_system *system, int number, const yk_interface_def *def)
{
    yk_interface *interface = &system->interfaces[number];
    interface->def = *def;
    if (!interface->def.name) interface->def.name = "unnamed";
    interface->relation = is_relation(system, def);
    interface->balanced = yk_balance_serves(system, def);
    yk_status status =
        check_side(system, interface->def.name, def->wrench_subsystem, def->wrench_port, YK_TAKES_WRENCH);
    if (status == YK_OK)
        status = check_side(system, interface->def.name, def->motion_subsystem, def->motion_port,
                            yk_interface_takes(system, interface));
    if (status == YK_OK) status = check_drive(system, interface);
    if (status == YK_OK) status = check_port_is_free(system, number, def->wrench_subsystem, def->wrench_port);
    if (status == YK_OK) status = check_port_is_free(system, number, def->motion_subsystem, def->motion_port);
    if (status < 0) return status;
    const yk_participant *a = yk_interface_a(system, interface), *b = yk_interface_b(system, interface);
    if (a == b)
        return yk_fail(system->context, YK_ERROR_ARGUMENT, "interface '%s' joins subsystem '%s' with itself",
                       interface->def.name, a->name);
    interface->kind = a->ports[def->wrench_port].kind;
    if (interface->kind != b->ports[def->motion_port].kind)
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "interface '%s' joins a scalar port with a marker: '%s.%s' and '%s.%s'", interface->def.name,
                       a->name, a->ports[def->wrench_port].name, b->name, b->ports[def->motion_port].name);
    return connect_interface(system, interface);
}

/* What the order of Gauss-Seidel gives up first where it would go in a circle. */
typedef enum demand {
    ALL_WIRES,         /* motion sides before wrench sides, sources of wires before their targets */
    WIRES_OF_COMMANDS, /* the same without wires from wrench sides, whose motion is known at the start: measured */
    NO_WIRES,
    NOTHING /* the order of the scenario */
} demand;

static bool takes_wrench(const yk_system *system, int participant)
{
    for (int i = 0; i < system->interface_count; i++)
        if (system->interfaces[i].def.wrench_subsystem == participant) return true;
    return false;
}

/* True if everything that the participant takes comes from participants that are already placed. */
static bool can_follow(const yk_system *system, int participant, bool wrenches_first, const bool *placed, demand level)
{
    for (int i = 0; i < system->interface_count && level < NOTHING; i++) {
        const yk_interface_def *def = &system->interfaces[i].def;
        if (system->interfaces[i].balanced) continue;
        int later = wrenches_first ? def->motion_subsystem : def->wrench_subsystem;
        int earlier = wrenches_first ? def->wrench_subsystem : def->motion_subsystem;
        if (later == participant && !placed[earlier]) return false;
    }
    for (int i = 0; i < system->wire_count && level < NO_WIRES; i++) {
        int source = system->wires[i].def.source_subsystem;
        bool waits = system->wires[i].def.target_subsystem == participant && source != participant && !placed[source];
        if (waits && (level == ALL_WIRES || !takes_wrench(system, source))) return false;
    }
    return true;
}

static int next_in_sequence(const yk_system *system, bool wrenches_first, const bool *placed)
{
    for (demand level = ALL_WIRES; level < NOTHING; level++)
        for (int i = 0; i < system->participant_count; i++)
            if (!placed[i] && can_follow(system, i, wrenches_first, placed, level)) return i;
    int first = 0;
    while (placed[first]) first++;
    return first;
}

/* Motion sides before their wrench sides, or the other way round; sources of wires before their targets. */
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
        wire->lagged = !wire->def.hold && index[wire->def.source_subsystem] >= index[wire->def.target_subsystem];
    }
    yk_release(system->context, placed);
    yk_release(system->context, index);
    return YK_OK;
}

/* Room for the wrenches of every wrench side, and what accelerates them. */
static yk_status prepare_wrenches(yk_system *system)
{
    yk_context *context = system->context;
    const yk_scheme_def *scheme = &system->scheme;
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (interface->balanced) continue;
        yk_interface_a(system, interface)->wrench_size += interface->kind == YK_PORT_SCALAR ? 1 : 6;
        if (interface->a_index > system->last_wrench_index) system->last_wrench_index = interface->a_index;
    }
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *m = &system->participants[i];
        if (m->wrench_size == 0) continue;
        m->applied = yk_allocate(context, 2 * (size_t)m->wrench_size, sizeof *m->applied);
        if (!m->applied) return YK_ERROR_MEMORY;
        m->fresh = m->applied + m->wrench_size;
    }

    yk_status status = yk_unknowns_create(system, YK_ACCELERATION_QUASI_NEWTON, YK_UNKNOWNS_AT_START,
                                          &system->start_unknowns, &system->start_unknowns_count);
    bool accelerated = scheme->kind == YK_SCHEME_TIGHT && scheme->acceleration != YK_ACCELERATION_NONE;
    if (status < 0 || !accelerated || scheme->iterations == 0) return status;
    /* One factor cannot serve several interfaces; least squares need to see all of them. */
    bool joined = scheme->acceleration == YK_ACCELERATION_QUASI_NEWTON;
    yk_unknowns_grouping what = joined ? YK_UNKNOWNS_OF_JOINED : YK_UNKNOWNS_OF_SIDES;
    return yk_unknowns_create(system, scheme->acceleration, what, &system->unknowns, &system->unknowns_count);
}

static yk_status check_scheme(yk_context *context, const yk_scheme_def *scheme)
{
    const yk_explicit_inputs *inputs = &scheme->inputs;
    if (scheme->kind == YK_SCHEME_EXPLICIT && inputs->modified) {
        double sum = inputs->position + inputs->velocity + inputs->acceleration;
        bool negative = inputs->position < 0 || inputs->velocity < 0 || inputs->acceleration < 0;
        if (negative || !(sum > 0) || !isfinite(sum))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "scheme explicit: the weights of the modified inputs (%g, %g, %g) must not be negative, and "
                           "one must be positive",
                           inputs->position, inputs->velocity, inputs->acceleration);
    }
    if (scheme->kind == YK_SCHEME_TIGHT && scheme->iterations < 0)
        return yk_fail(context, YK_ERROR_ARGUMENT, "scheme tight: the limit of iterations is %d, must be 0 or more",
                       scheme->iterations);
    if (scheme->kind == YK_SCHEME_TIGHT && (scheme->halvings < 0 || scheme->halvings > 20))
        return yk_fail(context, YK_ERROR_ARGUMENT, "scheme tight: %d halvings of a step, must be 0 to 20",
                       scheme->halvings);
    if (scheme->kind == YK_SCHEME_TIGHT && !(scheme->tolerance >= 0 && scheme->relative_tolerance >= 0))
        return yk_fail(context, YK_ERROR_ARGUMENT, "scheme tight: tolerances (%g N, relative %g) must not be negative",
                       scheme->tolerance, scheme->relative_tolerance);
    if (scheme->kind == YK_SCHEME_INDEX1 && (scheme->index1.degree < 0 || scheme->index1.degree > YK_INPUT_DEGREE_MAX))
        return yk_fail(context, YK_ERROR_ARGUMENT, "scheme index1: the degree of the wrenches is %d, must be 0 to 3",
                       scheme->index1.degree);
    if (scheme->kind == YK_SCHEME_RELAXED && (scheme->iterations < 1 || !(scheme->relative_tolerance > 0)))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "scheme relaxed: %d sweeps to a relative tolerance of %g, both must be positive",
                       scheme->iterations, scheme->relative_tolerance);
    if (scheme->kind == YK_SCHEME_INDEX1 && scheme->iterations < 1)
        return yk_fail(context, YK_ERROR_ARGUMENT, "scheme index1: the limit of iterations is %d, must be 1 or more",
                       scheme->iterations);
    if (scheme->kind == YK_SCHEME_INDEX1 && !(scheme->tolerance >= 0 && scheme->relative_tolerance >= 0))
        return yk_fail(context, YK_ERROR_ARGUMENT, "scheme index1: tolerances (%g N, relative %g) must not be negative",
                       scheme->tolerance, scheme->relative_tolerance);
    return YK_OK;
}

static yk_status check_def(yk_context *context, const yk_system_def *def)
{
    if (def->subsystem_count < 1) return yk_fail(context, YK_ERROR_ARGUMENT, "a system needs at least one subsystem");
    if (!(def->step > 0) || !isfinite(def->step) || !isfinite(def->start))
        return yk_fail(context, YK_ERROR_ARGUMENT, "the macro step is %g s from %g s on, must be positive and finite",
                       def->step, def->start);
    return check_scheme(context, &def->scheme);
}

/* Without merging every subsystem is a participant of its own. */
static yk_status create_parts(yk_system *system, const yk_system_def *def)
{
    system->parts = yk_allocate(system->context, (size_t)def->subsystem_count, sizeof *system->parts);
    if (!system->parts) return YK_ERROR_MEMORY;
    for (int i = 0; i < def->subsystem_count; i++) system->parts[i] = (yk_system_part){.participant = i, .shows = true};
    return yk_scheme_merges(def->scheme.kind) ? yk_merging_create(system, def) : YK_OK;
}

static yk_status build(yk_system *system, const yk_system_def *asked)
{
    yk_context *context = system->context;
    yk_status status = create_parts(system, asked);
    if (status < 0) return status;
    const yk_system_def *def = system->merging ? &system->merging->reduced : asked;

    system->participant_count = def->subsystem_count;
    system->interface_count = def->interface_count;
    system->participants = yk_allocate(context, (size_t)system->participant_count, sizeof *system->participants);
    system->interfaces = yk_allocate(context, (size_t)system->interface_count, sizeof *system->interfaces);
    system->sequence = yk_allocate(context, (size_t)system->participant_count, sizeof *system->sequence);
    system->wrench_sequence = yk_allocate(context, (size_t)system->participant_count, sizeof *system->wrench_sequence);
    if (!system->participants || !system->interfaces || !system->sequence || !system->wrench_sequence)
        return YK_ERROR_MEMORY;
    for (int i = 0; status == YK_OK && i < system->participant_count; i++) {
        status = create_participant(system, &system->participants[i], def->subsystems[i], def->names[i]);
        if (status == YK_OK)
            status = place_participant(system, &system->participants[i], def->transforms ? &def->transforms[i] : NULL,
                                       def->substeps ? def->substeps[i] : 1);
    }
    for (int i = 0; status == YK_OK && i < system->interface_count; i++)
        status = create_interface(system, i, &def->interfaces[i]);
    if (status == YK_OK) status = yk_wires_create(system, def);
    if (status == YK_OK) status = find_sequence(system, false, system->sequence);
    if (status == YK_OK) status = find_sequence(system, true, system->wrench_sequence);
    bool index1 = def->scheme.kind == YK_SCHEME_INDEX1;
    if (status == YK_OK) status = index1 ? yk_index1_create(system) : prepare_wrenches(system);
    if (status == YK_OK) status = yk_balance_create(system);
    if (status == YK_OK && def->scheme.kind == YK_SCHEME_RIM) status = yk_rim_create(system);
    if (status == YK_OK && def->scheme.kind == YK_SCHEME_RELAXED) status = yk_relaxed_create(system, asked);
    if (status == YK_OK) status = yk_controller_create(system, &def->control);
    if (status == YK_OK) status = yk_system_check_rollback(system);
    bool ordered = def->scheme.kind == YK_SCHEME_EXPLICIT || def->scheme.kind == YK_SCHEME_RELAXED;
    bool jacobi = ordered && def->scheme.order == YK_ORDER_JACOBI;
    bool parallel = (jacobi || index1) && def->scheme.threads != 1 && asked->subsystem_count > 1;
    if (status == YK_OK && parallel) status = yk_pool_create(context, def->scheme.threads, &system->pool);
    return status;
}

/* Without interfaces there are no wrenches to solve for and no fast partners: subsystems then step side by side. */
static yk_scheme_kind needed_scheme(const yk_system_def *def)
{
    yk_scheme_kind kind = def->scheme.kind;
    bool joins = kind == YK_SCHEME_INDEX1 || kind == YK_SCHEME_RIM;
    return joins && def->interface_count == 0 ? YK_SCHEME_EXPLICIT : kind;
}

yk_status yk_system_create(yk_context *context, const yk_system_def *asked, yk_system **system)
{
    *system = NULL;
    yk_status status = check_def(context, asked);
    if (status < 0) return status;
    yk_system_def adapted = *asked;
    adapted.scheme.kind = needed_scheme(asked);
    const yk_system_def *def = &adapted;
    yk_system *made = yk_allocate(context, 1, sizeof *made);
    if (!made) return YK_ERROR_MEMORY;
    made->context = context;
    made->scheme = def->scheme;
    made->start = def->start;
    made->step = made->h = def->step;
    status = build(made, def);
    if (status < 0) {
        yk_system_destroy(made);
        return status;
    }
    *system = made;
    return YK_OK;
}

void yk_system_destroy(yk_system *system)
{
    if (!system) return;
    yk_context *context = system->context;
    yk_pool_destroy(system->pool);
    yk_rim_destroy(system);
    yk_relaxed_destroy(system);
    yk_index1_destroy(system);
    yk_balance_destroy(system);
    yk_controller_destroy(system);
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
        yk_release(context, m->moments);
        yk_release(context, m->applied);
    }
    yk_wires_destroy(system);
    yk_merging_destroy(system);
    yk_release(context, system->participants);
    yk_release(context, system->interfaces);
    yk_release(context, system->sequence);
    yk_release(context, system->wrench_sequence);
    yk_unknowns_destroy(context, system->unknowns, system->unknowns_count);
    yk_unknowns_destroy(context, system->start_unknowns, system->start_unknowns_count);
    yk_release(context, system->parts);
    yk_release(context, system->scratch);
    yk_release(context, system);
}
