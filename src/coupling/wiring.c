/* Creation of a coupled system: every mistake in the wiring is found here, before anything moves. */
#include <math.h>
#include <stdio.h>

#include "coupling/balance.h"
#include "coupling/index1.h"
#include "coupling/merging.h"
#include "coupling/relaxed.h"
#include "coupling/rim.h"
#include "coupling/wrenches.h"
#include "math/vec3.h"

static yk_status check_operations(yk_context *context, const yk_subsystem_ops *ops, const char *name)
{
    if (ops->size != sizeof(yk_subsystem_ops))
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "subsystem '%s' was built for another version of the contract (its table has %zu bytes, this "
                       "library's %zu): rebuild it",
                       name, ops->size, sizeof(yk_subsystem_ops));
    if (ops->ports && ops->connect && ops->start && ops->step && ops->output && ops->destroy) return YK_OK;
    return yk_fail(context, YK_ERROR_CAPABILITY,
                   "subsystem '%s' (%s) lacks a required operation: ports, connect, start, step, output or destroy",
                   name, ops->kind ? ops->kind : "unknown kind");
}

static yk_status check_placement(yk_context *context, const yk_placement *placement, const char *name)
{
    double norm = yk_q_norm(placement->orientation);
    bool good = placement->length > 0 && placement->mass > 0 && isfinite(placement->length * placement->mass) &&
                yk_v3_finite(placement->position) && fabs(norm - 1) < 1e-6;
    if (good) return YK_OK;
    return yk_fail(
        context, YK_ERROR_ARGUMENT,
        "subsystem '%s': its units must be positive (%g m, %g kg) and its orientation a unit quaternion (norm %g)",
        name, placement->length, placement->mass, norm);
}

static yk_status place_member(yk_system *system, yk_member *member, const yk_placement *placement, int substeps)
{
    if (substeps < 1)
        return yk_fail(system->context, YK_ERROR_ARGUMENT, "subsystem '%s' has %d substeps, must be 1 or more",
                       member->name, substeps);
    member->substeps = substeps;
    if (substeps > 1) {
        /* Iterations of a step in parts would have to be repeated part by part. */
        member->iterates = false;
        size_t count = (size_t)member->port_count;
        member->mean_efforts = yk_allocate(system->context, count, sizeof *member->mean_efforts);
        member->earlier = yk_allocate(system->context, count, sizeof *member->earlier);
        member->substep_start = yk_allocate(system->context, count, sizeof *member->substep_start);
        member->port_work = yk_allocate(system->context, count, sizeof *member->port_work);
        if (!member->mean_efforts || !member->earlier || !member->substep_start || !member->port_work)
            return YK_ERROR_MEMORY;
    }
    if (!placement) return YK_OK;
    yk_status status = check_placement(system->context, placement, member->name);
    if (status < 0) return status;
    yk_placement *copy = yk_allocate(system->context, 1, sizeof *copy);
    if (!copy) return YK_ERROR_MEMORY;
    *copy = *placement;
    member->placement = copy;
    return YK_OK;
}

static yk_status create_member(yk_system *system, yk_member *member, yk_subsystem *subsystem, const char *name)
{
    yk_context *context = system->context;
    yk_status status = check_operations(context, subsystem->ops, name);
    if (status < 0) return status;
    member->subsystem = subsystem;
    member->name = name;
    member->port_count = subsystem->ops->ports(subsystem, &member->ports);
    size_t count = (size_t)member->port_count;
    member->inputs = yk_allocate(context, count, sizeof *member->inputs);
    member->own_inputs = yk_allocate(context, count, sizeof *member->own_inputs);
    member->values = yk_allocate(context, count, sizeof *member->values);
    member->before = yk_allocate(context, count, sizeof *member->before);
    if (!member->inputs || !member->own_inputs || !member->values || !member->before) return YK_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        member->values[i].motion.orientation.w = 1;
        member->inputs[i].orientation.w = 1;
        member->own_inputs[i].orientation.w = 1;
    }
    member->low_order = system->scheme.kind == YK_SCHEME_INDEX1 && !yk_follows_polynomials(subsystem);
    /* Acceleration learns from how the answer depends on the effort, so it must be the converged answer. */
    member->iterates = subsystem->ops->iterate && system->scheme.relaxation == YK_RELAXATION_NONE;
    return YK_OK;
}

static yk_status check_side(yk_system *system, const char *face, int member, int port, yk_causality causality)
{
    if (member < 0 || member >= system->member_count)
        return yk_fail(system->context, YK_ERROR_ARGUMENT, "interface '%s': there is no subsystem %d", face, member);
    const yk_member *m = &system->members[member];
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
                       m->ports[port].name, m->name, causality == YK_TAKES_EFFORT ? "an effort" : "a motion");
    return yk_fail(system->context, YK_ERROR_CAPABILITY,
                   "interface '%s': port '%s' of subsystem '%s' cannot take an effort; let it be the second side%s",
                   face, m->ports[port].name, m->name,
                   system->scheme.kind == YK_SCHEME_INDEX1 && m->ports[port].kind == YK_PORT_MARKER
                       ? ", and choose the scheme tight or rim: index1 tells motions to scalar ports only"
                       : "");
}

/* index1 applies efforts to both sides. A scalar port that takes motion only is told one: a force law and no constraint. */
static bool is_law(const yk_system *system, const yk_interface_def *def)
{
    if (system->scheme.kind != YK_SCHEME_INDEX1) return false;
    if (def->motion_subsystem < 0 || def->motion_subsystem >= system->member_count) return false;
    const yk_member *b = &system->members[def->motion_subsystem];
    if (def->motion_port < 0 || def->motion_port >= b->port_count) return false;
    const yk_port *port = &b->ports[def->motion_port];
    return port->kind == YK_PORT_SCALAR && (port->causalities & (YK_TAKES_EFFORT | YK_TAKES_MOTION)) == YK_TAKES_MOTION;
}

static yk_status check_drive(yk_system *system, const yk_link *link)
{
    const yk_interface_def *def = &link->def;
    if (def->drive && link->law)
        return yk_fail(system->context, YK_ERROR_CAPABILITY,
                       "interface '%s' prescribes a relative motion to a port that takes motion only; drive a joint "
                       "inside the subsystem of the other side",
                       def->name);
    if (!def->drive || yk_link_takes(system, link) == YK_TAKES_EFFORT || link->balanced) return YK_OK;
    return yk_fail(system->context, YK_ERROR_CAPABILITY,
                   "interface '%s' %s, which needs efforts on both sides: choose the scheme index1, or monolithic; the "
                   "schemes explicit and rim do it between subsystems that tell their next step, as smooth ones do",
                   def->name,
                   def->constrained & YK_AXIS_DISTANCE ? "keeps a distance" : "prescribes a relative motion");
}

static bool uses_port(const yk_interface_def *def, int member, int port)
{
    return (def->effort_subsystem == member && def->effort_port == port) ||
           (def->motion_subsystem == member && def->motion_port == port);
}

static yk_status check_port_is_free(yk_system *system, int link, int member, int port)
{
    for (int i = 0; i < link; i++)
        if (uses_port(&system->links[i].def, member, port))
            return yk_fail(system->context, YK_ERROR_ARGUMENT,
                           "interfaces '%s' and '%s' both use port '%s' of subsystem '%s'; a port can be joined once",
                           system->links[i].def.name, system->links[link].def.name,
                           system->members[member].ports[port].name, system->members[member].name);
    return YK_OK;
}

static yk_status connect_link(yk_system *system, yk_link *link)
{
    const yk_interface_def *def = &link->def;
    yk_member *a = yk_link_a(system, link), *b = yk_link_b(system, link);
    b->iterates = false; /* a motion side steps as a whole */
    yk_causality b_takes = yk_link_takes(system, link);
    yk_member *member = a;
    yk_status status = a->subsystem->ops->connect(a->subsystem, def->effort_port, YK_TAKES_EFFORT, def->constrained);
    if (status >= 0) {
        member = b;
        status = b->subsystem->ops->connect(b->subsystem, def->motion_port, b_takes, def->constrained);
    }
    if (status >= 0) return status;
    char why[512];
    snprintf(why, sizeof why, "%s", yk_last_message(system->context));
    return yk_fail(system->context, status, "interface '%s', subsystem '%s': %s", def->name, member->name, why);
}

static yk_status create_link(yk_system *system, int number, const yk_interface_def *def)
{
    yk_link *link = &system->links[number];
    link->def = *def;
    if (!link->def.name) link->def.name = "unnamed";
    link->law = is_law(system, def);
    link->balanced = yk_balance_serves(system, def);
    yk_status status = check_side(system, link->def.name, def->effort_subsystem, def->effort_port, YK_TAKES_EFFORT);
    if (status == YK_OK)
        status =
            check_side(system, link->def.name, def->motion_subsystem, def->motion_port, yk_link_takes(system, link));
    if (status == YK_OK) status = check_drive(system, link);
    if (status == YK_OK) status = check_port_is_free(system, number, def->effort_subsystem, def->effort_port);
    if (status == YK_OK) status = check_port_is_free(system, number, def->motion_subsystem, def->motion_port);
    if (status < 0) return status;
    const yk_member *a = yk_link_a(system, link), *b = yk_link_b(system, link);
    if (a == b)
        return yk_fail(system->context, YK_ERROR_ARGUMENT, "interface '%s' joins subsystem '%s' with itself",
                       link->def.name, a->name);
    link->kind = a->ports[def->effort_port].kind;
    if (link->kind != b->ports[def->motion_port].kind)
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "interface '%s' joins a scalar port with a marker: '%s.%s' and '%s.%s'", link->def.name, a->name,
                       a->ports[def->effort_port].name, b->name, b->ports[def->motion_port].name);
    return connect_link(system, link);
}

/* What the order of Gauss-Seidel gives up first where it would go in a circle. */
typedef enum demand {
    ALL_WIRES,         /* motion sides before effort sides, sources of wires before their targets */
    WIRES_OF_COMMANDS, /* the same without wires from effort sides, whose motion is known at the start: measured */
    NO_WIRES,
    NOTHING /* the order of the scenario */
} demand;

static bool takes_effort(const yk_system *system, int member)
{
    for (int i = 0; i < system->link_count; i++)
        if (system->links[i].def.effort_subsystem == member) return true;
    return false;
}

/* True if everything that the member takes comes from members that are already placed. */
static bool can_follow(const yk_system *system, int member, bool efforts_first, const bool *placed, demand level)
{
    for (int i = 0; i < system->link_count && level < NOTHING; i++) {
        const yk_interface_def *def = &system->links[i].def;
        if (system->links[i].balanced) continue;
        int later = efforts_first ? def->motion_subsystem : def->effort_subsystem;
        int earlier = efforts_first ? def->effort_subsystem : def->motion_subsystem;
        if (later == member && !placed[earlier]) return false;
    }
    for (int i = 0; i < system->wire_count && level < NO_WIRES; i++) {
        int source = system->wires[i].def.source_subsystem;
        bool waits = system->wires[i].def.target_subsystem == member && source != member && !placed[source];
        if (waits && (level == ALL_WIRES || !takes_effort(system, source))) return false;
    }
    return true;
}

static int next_in_sequence(const yk_system *system, bool efforts_first, const bool *placed)
{
    for (demand level = ALL_WIRES; level < NOTHING; level++)
        for (int i = 0; i < system->member_count; i++)
            if (!placed[i] && can_follow(system, i, efforts_first, placed, level)) return i;
    int first = 0;
    while (placed[first]) first++;
    return first;
}

/* Motion sides before their effort sides, or the other way round; sources of wires before their targets. */
static yk_status find_sequence(yk_system *system, bool efforts_first, int *sequence)
{
    int count = system->member_count;
    bool *placed = yk_allocate(system->context, (size_t)count, sizeof *placed);
    int *place = yk_allocate(system->context, (size_t)count, sizeof *place);
    if (!placed || !place) {
        yk_release(system->context, placed);
        yk_release(system->context, place);
        return YK_ERROR_MEMORY;
    }
    for (int n = 0; n < count; n++) {
        int chosen = next_in_sequence(system, efforts_first, placed);
        placed[chosen] = true;
        place[chosen] = n;
        sequence[n] = chosen;
    }

    for (int i = 0; i < system->link_count; i++) {
        yk_link *link = &system->links[i];
        int a = place[link->def.effort_subsystem], b = place[link->def.motion_subsystem];
        if (efforts_first)
            link->lagged = a > b;
        else
            link->a_place = a, link->b_place = b;
    }
    for (int i = 0; efforts_first && i < system->wire_count; i++) {
        yk_wire *wire = &system->wires[i];
        wire->lagged = !wire->def.hold && place[wire->def.source_subsystem] >= place[wire->def.target_subsystem];
    }
    yk_release(system->context, placed);
    yk_release(system->context, place);
    return YK_OK;
}

/* Room for the efforts of every effort side, and what accelerates them. */
static yk_status prepare_efforts(yk_system *system)
{
    yk_context *context = system->context;
    const yk_scheme_def *scheme = &system->scheme;
    for (int i = 0; i < system->link_count; i++) {
        const yk_link *link = &system->links[i];
        if (link->balanced) continue;
        yk_link_a(system, link)->effort_size += link->kind == YK_PORT_SCALAR ? 1 : 6;
        if (link->a_place > system->last_effort_place) system->last_effort_place = link->a_place;
    }
    for (int i = 0; i < system->member_count; i++) {
        yk_member *m = &system->members[i];
        if (m->effort_size == 0) continue;
        m->applied = yk_allocate(context, 2 * (size_t)m->effort_size, sizeof *m->applied);
        if (!m->applied) return YK_ERROR_MEMORY;
        m->fresh = m->applied + m->effort_size;
    }

    yk_status status = yk_wrenches_create(system, YK_RELAXATION_QUASI_NEWTON, YK_WRENCHES_AT_START,
                                          &system->start_wrenches, &system->start_wrenches_count);
    bool accelerated = scheme->kind == YK_SCHEME_TIGHT && scheme->relaxation != YK_RELAXATION_NONE;
    if (status < 0 || !accelerated || scheme->iterations == 0) return status;
    /* One factor cannot serve several interfaces; least squares need to see all of them. */
    bool joined = scheme->relaxation == YK_RELAXATION_QUASI_NEWTON;
    yk_wrenches_of what = joined ? YK_WRENCHES_OF_JOINED : YK_WRENCHES_OF_SIDES;
    return yk_wrenches_create(system, scheme->relaxation, what, &system->wrenches, &system->wrenches_count);
}

static yk_status check_scheme(yk_context *context, const yk_scheme_def *scheme)
{
    const yk_inputs *inputs = &scheme->inputs;
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
    if (scheme->kind == YK_SCHEME_INDEX1 && (scheme->index1.degree < 0 || scheme->index1.degree > YK_SIGNAL_DEGREE_MAX))
        return yk_fail(context, YK_ERROR_ARGUMENT, "scheme index1: the degree of the efforts is %d, must be 0 to 3",
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

/* Without merging every subsystem is a member of its own. */
static yk_status create_parts(yk_system *system, const yk_system_def *def)
{
    system->parts = yk_allocate(system->context, (size_t)def->subsystem_count, sizeof *system->parts);
    if (!system->parts) return YK_ERROR_MEMORY;
    for (int i = 0; i < def->subsystem_count; i++) system->parts[i] = (yk_system_part){.member = i, .shows = true};
    return yk_scheme_merges(def->scheme.kind) ? yk_merging_create(system, def) : YK_OK;
}

static yk_status build(yk_system *system, const yk_system_def *asked)
{
    yk_context *context = system->context;
    yk_status status = create_parts(system, asked);
    if (status < 0) return status;
    const yk_system_def *def = system->merging ? &system->merging->reduced : asked;

    system->member_count = def->subsystem_count;
    system->link_count = def->interface_count;
    system->members = yk_allocate(context, (size_t)system->member_count, sizeof *system->members);
    system->links = yk_allocate(context, (size_t)system->link_count, sizeof *system->links);
    system->sequence = yk_allocate(context, (size_t)system->member_count, sizeof *system->sequence);
    system->effort_sequence = yk_allocate(context, (size_t)system->member_count, sizeof *system->effort_sequence);
    if (!system->members || !system->links || !system->sequence || !system->effort_sequence) return YK_ERROR_MEMORY;
    for (int i = 0; status == YK_OK && i < system->member_count; i++) {
        status = create_member(system, &system->members[i], def->subsystems[i], def->names[i]);
        if (status == YK_OK)
            status = place_member(system, &system->members[i], def->placements ? &def->placements[i] : NULL,
                                  def->substeps ? def->substeps[i] : 1);
    }
    for (int i = 0; status == YK_OK && i < system->link_count; i++)
        status = create_link(system, i, &def->interfaces[i]);
    if (status == YK_OK) status = yk_wires_create(system, def);
    if (status == YK_OK) status = find_sequence(system, false, system->sequence);
    if (status == YK_OK) status = find_sequence(system, true, system->effort_sequence);
    bool index1 = def->scheme.kind == YK_SCHEME_INDEX1;
    if (status == YK_OK) status = index1 ? yk_index1_create(system) : prepare_efforts(system);
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

/* Without interfaces there are no efforts to solve for and no fast partners: subsystems then step side by side. */
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
    for (int i = 0; system->members && i < system->member_count; i++) {
        yk_member *m = &system->members[i];
        yk_release(context, m->placement);
        yk_release(context, m->mean_efforts);
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
    yk_release(context, system->members);
    yk_release(context, system->links);
    yk_release(context, system->sequence);
    yk_release(context, system->effort_sequence);
    yk_wrenches_destroy(context, system->wrenches, system->wrenches_count);
    yk_wrenches_destroy(context, system->start_wrenches, system->start_wrenches_count);
    yk_release(context, system->parts);
    yk_release(context, system->scratch);
    yk_release(context, system);
}
