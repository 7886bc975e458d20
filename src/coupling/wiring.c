/* Creation of participants, interfaces and wires. All errors in the wiring, and in the operation
 * tables of subsystems, are found here, before the run. */
#include "coupling/wiring.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "coupling/interface_fixed_point.h"
#include "coupling/loops.h"
#include "coupling/neighbors.h"
#include "coupling/scheme_options.h"
#include "coupling/system.h"
#include "coupling/wire.h"

/* Participants --------------------------------------------------------------------------------- */

/* Creates a participant: a subsystem with memory for its inputs and outputs, its substeps, and its
 * units and axes. */
static yk_status create_participant(yk_system *system, const yk_system_description *def, int number)
{
    yk_context *context = system->context;
    yk_participant *p = &system->participants[number];
    p->subsystem = def->subsystems[number];
    p->name = def->names[number];
    yk_status status = yk_contract_check(context, p->subsystem, p->name);
    if (status != YK_OK)
        return status;

    p->port_count = p->subsystem->ops->ports(p->subsystem, &p->ports);
    size_t count = (size_t)p->port_count;
    p->inputs = yk_allocate(context, count, sizeof *p->inputs);
    p->own_inputs = yk_allocate(context, count, sizeof *p->own_inputs);
    p->values = yk_allocate(context, count, sizeof *p->values);
    p->before = yk_allocate(context, count, sizeof *p->before);
    if (!p->inputs || !p->own_inputs || !p->values || !p->before)
        return YK_ERROR_MEMORY;

    /* Orientations that are never filled must be valid rotations. */
    for (size_t i = 0; i < count; i++) {
        p->values[i].motion.orientation.w = 1;
        p->inputs[i].base_orientation.w = 1;
        p->own_inputs[i].base_orientation.w = 1;
    }

    /* With several substeps the coupling uses means and sums over them. */
    p->substeps = 1;
    if (def->substeps)
        p->substeps = def->substeps[number];
    if (p->substeps < 1)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "subsystem '%s' has %d substeps, must be 1 or more", p->name, p->substeps);

    if (p->substeps > 1) {
        p->mean_wrenches = yk_allocate(context, count, sizeof *p->mean_wrenches);
        p->earlier = yk_allocate(context, count, sizeof *p->earlier);
        p->substep_start = yk_allocate(context, count, sizeof *p->substep_start);
        p->port_work = yk_allocate(context, count, sizeof *p->port_work);
        if (!p->mean_wrenches || !p->earlier || !p->substep_start || !p->port_work)
            return YK_ERROR_MEMORY;
    }

    if (!def->transforms)
        return YK_OK;

    /* Its own units and axes. */
    const yk_transform *transform = &def->transforms[number];
    double length = transform->length_unit;
    double mass = transform->mass_unit;
    double norm = yk_q_norm(transform->orientation);
    bool units = length > 0 && mass > 0 && isfinite(length * mass);
    bool pose = yk_v3_finite(transform->position) && fabs(norm - 1) < 1e-6;
    if (!units || !pose)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "subsystem '%s': its units must be positive (%g m, %g kg) and its "
                       "orientation a unit quaternion (norm %g)",
                       p->name, length, mass, norm);

    p->transform = yk_allocate(context, 1, sizeof *p->transform);
    if (!p->transform)
        return YK_ERROR_MEMORY;

    *p->transform = *transform;
    return YK_OK;
}

/* Interfaces ----------------------------------------------------------------------------------- */

/* Checks one end of an interface: the port exists and has power. */
static yk_status check_port(yk_system *system, int number, int participant, int port)
{
    yk_context *context = system->context;
    const char *name = system->interfaces[number].def.name;
    /* The port exists and has power. */
    if (participant < 0 || participant >= system->participant_count)
        return yk_fail(context, YK_ERROR_ARGUMENT, "interface '%s': there is no subsystem %d", name,
                       participant);

    const yk_participant *p = &system->participants[participant];
    if (port < 0 || port >= p->port_count)
        return yk_fail(context, YK_ERROR_ARGUMENT, "interface '%s': subsystem '%s' has no port %d",
                       name, p->name, port);
    if (p->ports[port].kind == YK_PORT_SIGNAL)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "interface '%s': port '%s' of subsystem '%s' carries a signal without "
                       "power; join it by a wire",
                       name, p->ports[port].name, p->name);

    return YK_OK;
}

/* Whether an interface uses a port. */
static bool uses_port(const yk_interface_def *def, int participant, int port)
{
    return (def->wrench_subsystem.index == participant && def->wrench_port.index == port) ||
           (def->motion_subsystem.index == participant && def->motion_port.index == port);
}

/* A port can be connected only once: no earlier interface uses it. */
static yk_status check_free(const yk_system *system, int number, int participant, int port)
{
    const yk_participant *p = &system->participants[participant];
    for (int k = 0; k < p->joined_count && p->joined[k] < number; k++) {
        const yk_interface_def *other = &system->interfaces[p->joined[k]].def;
        if (uses_port(other, participant, port))
            return yk_fail(system->context, YK_ERROR_ARGUMENT,
                           "interfaces '%s' and '%s' both use port '%s' of subsystem '%s'; a port "
                           "can be joined once",
                           other->name, system->interfaces[number].def.name, p->ports[port].name,
                           p->name);
    }

    return YK_OK;
}

static yk_status check_causality(yk_system *system, const char *name, const yk_participant *p,
                                 int port, yk_causality causality)
{
    /* The remedy depends on the causalities that the port allows. */
    yk_context *context = system->context;
    const yk_port *end = &p->ports[port];
    if (end->allowed_causalities & causality)
        return YK_OK;
    if (causality == YK_CAUSALITY_MOTION_INPUT)
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "interface '%s': port '%s' of subsystem '%s' cannot take a motion; exchange "
                       "the two sides",
                       name, end->name, p->name);
    if (!(end->allowed_causalities & YK_CAUSALITY_MOTION_INPUT))
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "interface '%s': port '%s' of subsystem '%s' cannot take a wrench; exchange "
                       "the two sides",
                       name, end->name, p->name);

    /* The port receives motions only, but a scheme with wrenches on both sides prescribes no motion
     * to markers. */
    if (system->traits & YK_SCHEME_IS_FORCE_FORCE && end->kind == YK_PORT_MARKER)
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "interface '%s': port '%s' of subsystem '%s' cannot take a wrench; let it "
                       "be the second side, and choose another scheme, such as %s: %s prescribes "
                       "motions to scalar ports only",
                       name, end->name, p->name, yk_scheme_name_with(YK_SCHEME_EXCHANGES_MOTION),
                       yk_system_scheme_name(system));
    return yk_fail(context, YK_ERROR_CAPABILITY,
                   "interface '%s': port '%s' of subsystem '%s' cannot take a wrench; let it be "
                   "the second side",
                   name, end->name, p->name);
}

static yk_status connect_port(yk_system *system, const yk_interface_def *def, yk_participant *p,
                              int port, yk_causality causality)
{
    /* A subsystem may refuse. Its message does not name the interface or the subsystem. */
    yk_subsystem *subsystem = p->subsystem;
    yk_status status = subsystem->ops->connect(subsystem, port, causality, def->constrained_axes);
    if (!YK_FAILED(status))
        return YK_OK;

    char why[512];
    snprintf(why, sizeof why, "%s", yk_last_message(system->context));
    return yk_fail(system->context, status, "interface '%s', subsystem '%s': %s", def->name,
                   p->name, why);
}

static yk_status create_interface(yk_system *system, int number)
{
    yk_context *context = system->context;
    yk_interface *interface = &system->interfaces[number];
    const yk_interface_def *def = &interface->def;
    const char *name = def->name;

    /* The scheme chooses what the second side receives. */
    yk_participant *a = yk_interface_a(system, interface);
    yk_participant *b = yk_interface_b(system, interface);
    const yk_port_pair joined = {
        .subsystem = {a->subsystem, b->subsystem},
        .subsystem_index = {def->wrench_subsystem.index, def->motion_subsystem.index},
        .port = {def->wrench_port.index, def->motion_port.index},
    };
    const yk_scheme_ops *ops = system->scheme_def.ops;
    interface->takes = YK_CAUSALITY_MOTION_INPUT;
    if (ops->second_side_causality)
        interface->takes = ops->second_side_causality(system->options, &joined);

    /* Check that both sides support it. */
    yk_status status =
        check_causality(system, name, a, def->wrench_port.index, YK_CAUSALITY_WRENCH_INPUT);
    if (status != YK_OK)
        return status;

    status = check_causality(system, name, b, def->motion_port.index, interface->takes);
    if (status != YK_OK)
        return status;

    /* A prescribed relative motion is a constraint with a wrench on both sides. So is a nonholonomic joint: its rows mix
     * directions of both sides. */
    unsigned nonholonomic = def->constrained_axes & (YK_AXIS_KNIFE_EDGE | YK_AXIS_ROLLING);
    if ((def->drive || nonholonomic) && !yk_both_take_wrench(interface)) {
        if (system->traits & YK_SCHEME_IS_FORCE_FORCE)
            return yk_fail(context, YK_ERROR_CAPABILITY,
                           "interface '%s' prescribes a relative motion to a port that takes "
                           "motion only; place the joint inside the subsystem of the other side",
                           name);

        const char *what = "prescribes a relative motion";
        if (def->constrained_axes & YK_AXIS_DISTANCE)
            what = "keeps a distance";
        if (nonholonomic)
            what = "is a knife edge or a rolling disc";
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "interface '%s' %s, which needs wrenches on both sides: choose the scheme "
                       "%s, or %s; others can do it between subsystems that report what their "
                       "next step will do, as smooth ones do",
                       name, what, yk_scheme_name_with(YK_SCHEME_IS_FORCE_FORCE),
                       yk_scheme_name_with(YK_SCHEME_MERGES));
    }

    /* Two ports of one kind, of different subsystems. */
    if (a == b)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "interface '%s' joins subsystem '%s' with itself", name, a->name);

    const yk_port *a_port = &a->ports[def->wrench_port.index];
    const yk_port *b_port = &b->ports[def->motion_port.index];
    interface->kind = a_port->kind;
    if (a_port->kind != b_port->kind)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "interface '%s' joins a scalar port with a marker: '%s.%s' and '%s.%s'",
                       name, a->name, a_port->name, b->name, b_port->name);

    /* Finally ask the subsystems. */
    status = connect_port(system, def, a, def->wrench_port.index, YK_CAUSALITY_WRENCH_INPUT);
    if (status != YK_OK)
        return status;
    return connect_port(system, def, b, def->motion_port.index, interface->takes);
}

/* Sequences ------------------------------------------------------------------------------------ */

/* Levels of the Gauss-Seidel order, from strict to none. All wires: motion sides come before wrench
 * sides, sources of wires before their targets. Command wires: without wires from wrench sides,
 * whose motion is known at the start. None: the order of the def. If the dependencies form a cycle,
 * the next level is used. */
enum { ALL_WIRES, WIRES_OF_COMMANDS, NO_WIRES, NOTHING };

/* The participants that a participant must wait for. */
typedef struct waiting {
    const yk_system *system;
    bool wrenches_first;
    bool *listed;
    bool *receives_wrenches; /* per participant: it is a wrench side */
    int (*open)[NOTHING];    /* per participant and level: predecessors that are not listed */
} waiting;

/* One side of an interface waits for the other, unless both receive a wrench that is known. */
static bool interface_edge(const waiting *w, const yk_interface *interface, int *earlier,
                           int *later)
{
    const yk_interface_def *def = &interface->def;
    if (yk_both_take_wrench(interface))
        return false;

    /* Motion sides under external control wait for the motion that was reached. */
    const yk_participant *b = &w->system->participants[def->motion_subsystem.index];
    bool wrenches_first = w->wrenches_first || b->subsystem->ops->time_windows;
    *earlier = wrenches_first ? def->wrench_subsystem.index : def->motion_subsystem.index;
    *later = wrenches_first ? def->motion_subsystem.index : def->wrench_subsystem.index;
    return true;
}

/* Whether the target of a wire waits for its source at a level. */
static bool wire_counts(const waiting *w, const yk_wire *wire, int level)
{
    int source = wire->def.source_subsystem.index;
    if (level >= NO_WIRES || source == wire->def.target_subsystem.index || wire->looped)
        return false;

    /* The motion of a wrench side is known at the start. */
    return level == ALL_WIRES || !w->receives_wrenches[source];
}

static void count_predecessors(waiting *w)
{
    const yk_system *system = w->system;
    for (int i = 0; i < system->interface_count; i++) {
        w->receives_wrenches[system->interfaces[i].def.wrench_subsystem.index] = true;
        int earlier, later;
        if (!interface_edge(w, &system->interfaces[i], &earlier, &later))
            continue;
        for (int level = 0; level < NOTHING; level++)
            w->open[later][level]++;
    }

    for (int i = 0; i < system->wire_count; i++)
        for (int level = 0; level < NOTHING; level++)
            if (wire_counts(w, &system->wires[i], level))
                w->open[system->wires[i].def.target_subsystem.index][level]++;
}

/* Lists a participant. Each participant after it has one predecessor less to wait for. */
static void list_participant(waiting *w, int participant)
{
    const yk_participant *p = &w->system->participants[participant];
    w->listed[participant] = true;
    for (int k = 0; k < p->joined_count; k++) {
        int earlier, later;
        if (!interface_edge(w, &w->system->interfaces[p->joined[k]], &earlier, &later) ||
            earlier != participant)
            continue;
        for (int level = 0; level < NOTHING; level++)
            w->open[later][level]--;
    }

    for (int k = 0; k < p->wire_count; k++)
        for (int level = 0; level < NOTHING; level++)
            if (wire_counts(w, p->wires[k], level))
                w->open[p->wires[k]->def.target_subsystem.index][level]--;
}

/* The participants of an algebraic loop are advanced together, so each waits for the sources of
 * all. */
static bool can_follow(const waiting *w, int participant, int level)
{
    const yk_loop *loop = w->system->participants[participant].loop;
    if (!loop)
        return w->open[participant][level] == 0;

    for (int i = 0; i < w->system->participant_count; i++)
        if (w->system->participants[i].loop == loop && w->open[i][level] > 0)
            return false;
    return true;
}

/* The first participant that waits for none of the remaining ones, at the strictest level at which
 * there is one. If all remaining participants wait for each other, the first of them. */
static int choose_next(const waiting *w)
{
    for (int level = ALL_WIRES; level < NOTHING; level++)
        for (int i = 0; i < w->system->participant_count; i++)
            if (!w->listed[i] && can_follow(w, i, level))
                return i;

    int first = 0;
    while (w->listed[first])
        first++;
    return first;
}

/* Finds the order of the participants: motion sides before their wrench sides or the reverse, and
 * sources of wires before their targets. */
static yk_status find_sequence(yk_system *system, bool wrenches_first, int *sequence)
{
    yk_context *context = system->context;
    size_t count = (size_t)system->participant_count;
    waiting w = {
        .system = system,
        .wrenches_first = wrenches_first,
        .listed = yk_allocate(context, count, sizeof *w.listed),
        .receives_wrenches = yk_allocate(context, count, sizeof *w.receives_wrenches),
        .open = yk_allocate(context, count, sizeof *w.open),
    };
    int *index = yk_allocate(context, count, sizeof *index);
    bool complete = w.listed && w.receives_wrenches && w.open && index;
    if (complete)
        count_predecessors(&w);

    for (int n = 0; complete && n < system->participant_count;) {
        /* Together with the others of its loop. */
        int chosen = choose_next(&w);
        const yk_loop *loop = system->participants[chosen].loop;
        int first = loop ? 0 : chosen;
        int end = loop ? system->participant_count : chosen + 1;
        for (int i = first; i < end; i++) {
            if (i != chosen && system->participants[i].loop != loop)
                continue;

            list_participant(&w, i);
            index[i] = n;
            sequence[n++] = i;
        }
    }

    /* If interfaces and wires form a cycle, some run against the order. */
    for (int i = 0; complete && i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        int a = index[interface->def.wrench_subsystem.index];
        int b = index[interface->def.motion_subsystem.index];
        if (wrenches_first) {
            interface->lagged = a > b;
        } else {
            interface->a_index = a;
            interface->b_index = b;
        }
    }

    for (int i = 0; complete && wrenches_first && i < system->wire_count; i++) {
        yk_wire *wire = &system->wires[i];
        int source = index[wire->def.source_subsystem.index];
        int target = index[wire->def.target_subsystem.index];
        wire->lagged = yk_wire_can_lag(wire) && source >= target;
    }

    yk_free(context, w.listed);
    yk_free(context, w.receives_wrenches);
    yk_free(context, w.open);
    yk_free(context, index);

    return complete ? YK_OK : YK_ERROR_MEMORY;
}

/* All together --------------------------------------------------------------------------------- */

yk_status yk_wiring_create(yk_system *system, const yk_system_description *def)
{
    yk_context *context = system->context;

    size_t count = (size_t)def->subsystem_count;
    size_t joined = (size_t)def->interface_count;
    system->participant_count = def->subsystem_count;
    system->interface_count = def->interface_count;
    system->participants = yk_allocate(context, count, sizeof *system->participants);
    system->interfaces = yk_allocate(context, joined, sizeof *system->interfaces);
    system->sequence = yk_allocate(context, count, sizeof *system->sequence);
    system->wrench_sequence = yk_allocate(context, count, sizeof *system->wrench_sequence);
    if (!system->participants || !system->interfaces)
        return YK_ERROR_MEMORY;
    if (!system->sequence || !system->wrench_sequence)
        return YK_ERROR_MEMORY;

    /* Interfaces. */
    yk_status status = YK_OK;
    for (int i = 0; i < def->subsystem_count; i++) {
        status = create_participant(system, def, i);
        if (status != YK_OK)
            return status;
    }

    for (int i = 0; i < def->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        interface->def = def->interfaces[i];
        if (!interface->def.name)
            interface->def.name = "unnamed";

        /* Both ports exist. */
        const yk_interface_def *own = &interface->def;
        status = check_port(system, i, own->wrench_subsystem.index, own->wrench_port.index);
        if (status == YK_OK)
            status = check_port(system, i, own->motion_subsystem.index, own->motion_port.index);
        if (status != YK_OK)
            return status;
    }

    status = yk_neighbors_list_interfaces(system);
    for (int i = 0; status == YK_OK && i < def->interface_count; i++) {
        const yk_interface_def *own = &system->interfaces[i].def;
        status = check_free(system, i, own->wrench_subsystem.index, own->wrench_port.index);
        if (status == YK_OK)
            status = check_free(system, i, own->motion_subsystem.index, own->motion_port.index);
    }
    if (status == YK_OK)
        status = yk_system_choose_sides(system);
    for (int i = 0; status == YK_OK && i < def->interface_count; i++)
        status = create_interface(system, i);
    if (status != YK_OK)
        return status;

    status = yk_wires_create(system, def);
    if (status != YK_OK)
        return status;

    status = yk_loops_create(system);
    if (status != YK_OK)
        return status;

    /* Sequences. */
    status = find_sequence(system, false, system->sequence);
    if (status != YK_OK)
        return status;

    status = find_sequence(system, true, system->wrench_sequence);
    if (status != YK_OK)
        return status;

    status = yk_loops_order(system);
    if (status != YK_OK)
        return status;

    /* Allocate the wrench vectors of every wrench side, and the unknowns of a consistent start. */
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        yk_participant *a = yk_interface_a(system, interface);
        if (!yk_both_take_wrench(interface))
            a->wrench_size += yk_port_freedoms(interface->kind);
    }

    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *p = &system->participants[i];
        if (p->wrench_size == 0)
            continue;

        p->applied = yk_allocate(context, 2 * (size_t)p->wrench_size, sizeof *p->applied);
        if (!p->applied)
            return YK_ERROR_MEMORY;

        p->fresh = p->applied + p->wrench_size;
    }

    const yk_unknowns_def start = {
        .kind = YK_ACCELERATION_QUASI_NEWTON,
        .what = YK_UNKNOWNS_AT_START,
    };
    return yk_unknowns_create(system, &start, &system->start_unknowns,
                              &system->start_unknowns_count);
}

void yk_wiring_destroy(yk_system *system)
{
    yk_context *context = system->context;

    /* If creation failed, some members do not exist. */
    for (int i = 0; system->participants && i < system->participant_count; i++) {
        yk_participant *p = &system->participants[i];
        yk_free(context, p->transform);
        yk_free(context, p->mean_wrenches);
        yk_free(context, p->substep_start);
        yk_free(context, p->port_work);
        yk_free(context, p->earlier);
        yk_free(context, p->inputs);
        yk_free(context, p->own_inputs);
        yk_free(context, p->values);
        yk_free(context, p->before);
        yk_free(context, p->mark);
        yk_free(context, p->applied);
    }

    yk_loops_destroy(system);
    yk_wires_destroy(system);
    yk_neighbors_release(system);
    yk_free(context, system->participants);
    yk_free(context, system->interfaces);
    yk_free(context, system->sequence);
    yk_free(context, system->wrench_sequence);
    yk_unknowns_destroy(context, system->start_unknowns, system->start_unknowns_count);
}

/* Operation tables --------------------------------------------------------------------------------
 *
 * Checks that this library can call the tables of a subsystem. */

#define GROUP(member, type, operation)                                                       \
    {                                                                                        \
#member, offsetof(yk_subsystem_ops, member), sizeof(type), offsetof(type, operation) \
    }

/* Groups of capabilities: offset of the pointer to each table, size of the table, and offset of its
 * first operation. */
static const struct {
    const char *name;
    size_t offset; /* in yk_subsystem_ops */
    size_t size;
    size_t first; /* operation; the others follow up to the end */
} groups[] = {
    GROUP(rollback, yk_rollback_ops, layout),
    GROUP(iteration, yk_iteration_ops, iterate),
    GROUP(sensitivity, yk_sensitivity_ops, step_with_sensitivity),
    GROUP(interface_model, yk_interface_model_ops, evaluate),
    GROUP(step_model, yk_step_model_ops, evaluate),
    GROUP(merge, yk_merge_ops, merge),
    GROUP(relaxed, yk_relaxed_ops, relax_part),
    GROUP(events, yk_event_ops, next_time),
    GROUP(energy, yk_energy_ops, read),
    GROUP(channels, yk_channel_ops, list),
    GROUP(scene, yk_scene_ops, bodies),
    GROUP(contact_points, yk_contact_point_ops, list),
    GROUP(remote, yk_remote_ops, begin_step),
    GROUP(time_windows, yk_time_window_ops, repeatable_window),
    GROUP(bodies, yk_body_ops, count),
    GROUP(parameters, yk_parameter_ops, list),
    GROUP(rigid_parts, yk_rigid_parts_ops, describe),
    GROUP(rigid_merge, yk_rigid_merge_ops, merge),
};

static yk_status check_size(yk_context *context, const char *name, const char *table, size_t size,
                            size_t expected)
{
    if (size == expected)
        return YK_OK;
    return yk_fail(context, YK_ERROR_CAPABILITY,
                   "subsystem '%s' was built for another version of the contract (its table %s has "
                   "%zu bytes, this library's %zu): rebuild it",
                   name, table, size, expected);
}

yk_status yk_contract_check(yk_context *context, const yk_subsystem *subsystem, const char *name)
{
    const yk_subsystem_ops *ops = subsystem->ops;
    if (!ops)
        return yk_fail(context, YK_ERROR_CAPABILITY, "subsystem '%s' has no table of operations",
                       name);

    yk_status status = check_size(context, name, "of operations", ops->size, sizeof *ops);
    if (status != YK_OK)
        return status;

    /* Required operations. */
    const char *kind = "unknown kind";
    if (ops->kind)
        kind = ops->kind;
    if (!ops->ports || !ops->connect || !ops->initialize || !ops->step || !ops->get_port_value ||
        !ops->destroy)
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "subsystem '%s' (%s) lacks a required operation: ports, connect, start, "
                       "step, output or destroy",
                       name, kind);

    /* Optional groups, each absent or complete. */
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        const char *table;
        memcpy(&table, (const char *)ops + groups[i].offset, sizeof table);
        if (!table)
            continue;

        /* Every table begins with its size. */
        size_t size;
        memcpy(&size, table, sizeof size);
        status = check_size(context, name, groups[i].name, size, groups[i].size);
        if (status != YK_OK)
            return status;

        /* An operation is a pointer to a function, whatever its type. */
        void (*operation)(void);
        for (size_t at = groups[i].first; at < groups[i].size; at += sizeof operation) {
            memcpy(&operation, table + at, sizeof operation);
            if (!operation)
                return yk_fail(context, YK_ERROR_CAPABILITY,
                               "subsystem '%s' (%s) has the capability %s only in part: all of its "
                               "operations, or none",
                               name, kind, groups[i].name);
        }
    }

    return YK_OK;
}
