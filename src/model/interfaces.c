/* Interfaces and wires of a scenario: converts names to indices, reports all errors, and creates
 * the prescribed motions of interfaces from expressions of time, with derivatives. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/vec3.h"
#include "model/scenario.h"

enum { PORT_NAMES_MAX = 1000 };

/* Sides ---------------------------------------------------------------------------------------- */

/* "subsystem.port", as written at a node. */
typedef struct port_reference {
    const yk_node *node;
    int subsystem, port; /* -1: not found, or unknown */
    const yk_port *what; /* NULL: unknown */
} port_reference;

/* Reports an error if it is not found. */
static port_reference find_port(yk_scenario *scenario, const yk_node *node)
{
    port_reference found = {.node = node, .subsystem = -1, .port = -1};
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    const yk_scenario_info *info = &scenario->info;

    /* Split at the first '.': names of subsystems contain none, names of ports may. */
    const char *dot = strchr(node->text, '.');
    if (!dot || dot == node->text || !dot[1]) {
        yk_node_error(diagnostics, node, "expected subsystem.port; found '%.60s'", node->text);
        return found;
    }

    const char *port = dot + 1;
    char subsystem[64];
    snprintf(subsystem, sizeof subsystem, "%s", node->text);
    subsystem[strcspn(subsystem, ".")] = '\0';

    /* The subsystem. */
    found.subsystem = yk_find_name(info->subsystem_names, info->subsystem_count, subsystem);
    if (found.subsystem < 0) {
        yk_node_error(
            diagnostics, node, "subsystem '%s' not found. %s", subsystem,
            yk_suggest_name(subsystem, info->subsystem_names, info->subsystem_count).text);
        return found;
    }

    const yk_subsystem *object = info->subsystems[found.subsystem];
    if (!object)
        return found; /* its section has errors of its own */

    /* Its port. The message lists the valid ones. */
    const yk_port *ports;
    const char *names[PORT_NAMES_MAX];
    int count = object->ops->ports(object, &ports);
    for (int i = 0; i < count; i++) {
        if (strcmp(ports[i].name, port) == 0) {
            found.port = i;
            found.what = &ports[i];
            return found;
        }

        if (i < PORT_NAMES_MAX)
            names[i] = ports[i].name;
    }

    /* There is none of that name. */
    if (count > PORT_NAMES_MAX)
        count = PORT_NAMES_MAX;

    yk_node_error(diagnostics, node, "subsystem '%s' has no port '%.60s'. %s", subsystem, port,
                  yk_suggest_name(port, names, count).text);

    return found;
}

/* One side of `between`. */
static port_reference read_side(yk_scenario *scenario, const yk_node *node)
{
    port_reference found = find_port(scenario, node);
    const yk_scenario_info *info = &scenario->info;
    if (found.subsystem < 0 || info->subsystems[found.subsystem])
        return found;

    /* A subsystem with errors has no ports yet, but its section names them. */
    const yk_node *sections = yk_node_get(scenario->root, "subsystems");
    const yk_node *ports = yk_node_get(yk_node_at(sections, found.subsystem), "ports");
    if (!ports || ports->kind == YK_NODE_SCALAR || ports->count == 0)
        return found;

    /* The text has been found as subsystem.port, so it contains a dot. */
    const char *wanted = strchr(node->text, '.') + 1;
    const char *names[YK_SUGGESTED_MAX];

    int count = 0;
    for (const yk_node *item = ports->first; item && count < YK_SUGGESTED_MAX; item = item->next) {
        const char *name = yk_node_name(item);
        if (!name)
            continue;
        if (strcmp(name, wanted) == 0)
            return found;

        names[count++] = name;
    }

    yk_phrase remedy = yk_suggest_name(wanted, names, count);
    yk_node_error(scenario->resolver.diagnostics, node, "subsystem '%s' has no port '%.60s'. %s",
                  info->subsystem_names[found.subsystem], wanted, remedy.text);
    return found;
}

/* Whether the port supports the causality that the scheme requires; false after a message. */
static bool check_causality(yk_scenario *scenario, const port_reference *side,
                            yk_causality causality)
{
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    const yk_scheme_def *scheme = &scenario->info.scheme;
    const yk_port *port = side->what;
    if (port->allowed_causalities & causality)
        return true;

    /* Signals have no power to exchange. */
    if (port->kind == YK_PORT_SIGNAL) {
        yk_node_error(diagnostics, side->node,
                      "is a signal without power; join it under 'wires', not 'interfaces'");
        return false;
    }

    /* Exchanging the sides does not help if both receive a wrench. */
    bool wrench = causality == YK_CAUSALITY_WRENCH_INPUT;
    bool prescribed = wrench && port->allowed_causalities & YK_CAUSALITY_MOTION_INPUT;
    bool both = yk_scheme_traits(scheme) & YK_SCHEME_IS_FORCE_FORCE;
    if (prescribed && both && port->kind == YK_PORT_MARKER)
        yk_node_error(diagnostics, side->node,
                      "cannot receive a wrench, and the scheme %s applies wrenches to both "
                      "markers: choose one that prescribes a motion to the second side",
                      scheme->ops->name);
    else
        yk_node_error(diagnostics, side->node,
                      "cannot receive %s; exchange the two sides of 'between'",
                      wrench ? "a wrench" : "a motion");

    return false;
}

static bool check_pair(yk_scenario *scenario, const yk_node *between, const port_reference *a,
                       const port_reference *b)
{
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;

    /* An interface joins two subsystems at ports of one kind. */
    if (a->subsystem >= 0 && a->subsystem == b->subsystem) {
        yk_node_error(diagnostics, between, "joins subsystem '%s' with itself",
                      scenario->info.subsystem_names[a->subsystem]);
        return false;
    }

    if (!a->what || !b->what)
        return false;

    /* Signals are handled below, with a message of their own. */
    bool power = a->what->kind != YK_PORT_SIGNAL && b->what->kind != YK_PORT_SIGNAL;
    if (power && a->what->kind != b->what->kind) {
        yk_node_error(diagnostics, between,
                      "joins a scalar port with a marker; both must be of one kind");
        return false;
    }

    /* The scheme chooses what the second side receives. */
    const yk_scheme_def *scheme = &scenario->info.scheme;
    yk_causality second = YK_CAUSALITY_MOTION_INPUT;
    if (scheme->ops->second_side_causality) {
        yk_subsystem **subsystems = scenario->subsystems;
        const yk_port_pair joined = {
            .subsystem = {subsystems[a->subsystem], subsystems[b->subsystem]},
            .subsystem_index = {a->subsystem, b->subsystem},
            .port = {a->port, b->port},
        };
        second = scheme->ops->second_side_causality(scheme->options, &joined);
    }

    /* Check both sides, so that each gets its message. */
    bool good = check_causality(scenario, a, YK_CAUSALITY_WRENCH_INPUT);
    return check_causality(scenario, b, second) && good;
}

/* A port takes part in one interface. */
static bool check_free(yk_scenario *scenario, const port_reference *side)
{
    for (int i = 0; i < scenario->info.interface_count; i++) {
        const yk_interface_def *def = &scenario->interfaces[i];

        /* It may be either side of an earlier interface. */
        bool first =
            def->wrench_subsystem.index == side->subsystem && def->wrench_port.index == side->port;
        bool second =
            def->motion_subsystem.index == side->subsystem && def->motion_port.index == side->port;
        if (!first && !second)
            continue;

        yk_node_error(scenario->resolver.diagnostics, side->node,
                      "the port is already used by interface '%s'; a port can be joined once; "
                      "give the subsystem another port on the same body",
                      def->name);
        return false;
    }

    return true;
}

/* Location of the joint ------------------------------------------------------------------------ */

/* Moves the port of a side to the place given in the interface; `at` and `orientation` may be NULL. */
static bool move_side(yk_scenario *scenario, const yk_node *node, const port_reference *side,
                      const yk_vec3 *at, const yk_quat *orientation)
{
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    yk_subsystem *object = scenario->subsystems[side->subsystem];
    if (!object->ops->move_port) {
        yk_node_error(diagnostics, side->node,
                      "ports of this solver cannot be moved by the interface; give the port its "
                      "place where it is defined");
        return false;
    }

    /* From the axes of the whole system to its own. */
    const yk_transform *transform = &scenario->transforms[side->subsystem];
    yk_vec3 own_at = {0};
    yk_quat own_axes = yk_q_identity();
    if (at) {
        yk_vec3 offset = yk_v3_sub(*at, transform->position);
        yk_vec3 rotated = yk_q_rotate_back(transform->orientation, offset);
        own_at = yk_v3_scale(1 / transform->length_unit, rotated);
        at = &own_at;
    }

    if (orientation) {
        own_axes = yk_q_mul(yk_q_conjugate(transform->orientation), *orientation);
        orientation = &own_axes;
    }

    /* Report the solver's message at the first of the keys. */
    if (object->ops->move_port(object, side->port, at, orientation) == YK_OK)
        return true;

    yk_node_error(diagnostics, node, "%s", yk_last_message(scenario->context));
    return false;
}

/* Moves both ports to `at` with `axis` or `orientation`, if these are given. */
static bool move_sides(yk_scenario *scenario, const yk_node *node, const port_reference *a,
                       const port_reference *b)
{
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    const yk_node *at = yk_node_get(node, "at");
    const yk_node *axis = yk_node_get(node, "axis");
    const yk_node *orientation = yk_node_get(node, "orientation");

    /* Messages refer to the first of the keys that exists. */
    const yk_node *first = at;
    if (!first)
        first = axis;
    if (!first)
        first = orientation;
    if (!first)
        return true;

    /* Keys that define a frame. */
    if (a->what->kind != YK_PORT_MARKER) {
        yk_node_error(diagnostics, first, "scalar ports have no place of their own; remove this");
        return false;
    }

    if (axis && orientation) {
        yk_node_error(diagnostics, axis, "give either 'axis' or 'orientation'");
        return false;
    }

    /* Origin and axes in the system; NULL: unchanged. */
    yk_vec3 point;
    const yk_vec3 *to = NULL;
    if (at) {
        point = yk_node_vector(node, "at");
        to = &point;
    }

    yk_quat frame;
    const yk_quat *axes = NULL;
    if (orientation) {
        frame = yk_node_orientation(node, "orientation");
        axes = &frame;
    }

    /* An axis is the z axis of the frame; x and y are arbitrary. */
    if (axis) {
        if (yk_read_axis(&scenario->builder, axis, &frame) != YK_OK)
            return false;

        axes = &frame;
    }

    return move_side(scenario, first, a, to, axes) && move_side(scenario, first, b, to, axes);
}

/* Prescribed relative motions ------------------------------------------------------------------ */

/* Distance of the points of finite differences (s), if the macro step is not shorter: at order
 * eight their error is at rounding level for motions slower than about 100 rad/s. */
static const double DIFFERENCE_STEP = 1e-3;

typedef struct driven_axis {
    yk_time_function function;
    double step;
} driven_axis;

/* Value and first two derivatives, by central differences of order eight. */
static void evaluate(void *user, double t, double value[3])
{
    static const double first[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    static const double second[4] = {8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};
    const driven_axis *axis = user;
    double h = axis->step;
    double middle = yk_function_value(axis->function, t);

    /* The weights of the middle point ... */
    value[0] = middle;
    value[1] = 0;
    value[2] = -205.0 / 72 * middle / (h * h);

    /* ... and those of the four on each side. */
    for (int k = 0; k < 4; k++) {
        double after = yk_function_value(axis->function, t + (k + 1) * h);
        double before = yk_function_value(axis->function, t - (k + 1) * h);
        value[1] += first[k] * (after - before) / h;
        value[2] += second[k] * (after + before) / (h * h);
    }
}

static void read_motion(yk_scenario *scenario, const yk_node *node, yk_relative_motion *motion)
{
    driven_axis *axis = yk_resolver_take(&scenario->resolver, sizeof *axis);
    if (!axis)
        return;

    axis->step = fmin(scenario->info.step, DIFFERENCE_STEP);
    yk_status status = yk_builder_function_of(&scenario->builder, node, &axis->function);
    if (status == YK_OK)
        *motion = (yk_relative_motion){evaluate, axis};
    if (status == YK_ERROR_MEMORY)
        scenario->resolver.status = status;
}

/* The six prescribed motions of an interface; NULL if there are none. The length of a distance
 * joint is the first of them. */
static const yk_relative_motion *read_drive(yk_scenario *scenario, const yk_node *interface,
                                            unsigned axes, yk_port_kind kind)
{
    static const char *const names[6] = {"x", "y", "z", "rx", "ry", "rz"};
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    const yk_node *drive = yk_node_get(interface, "drive");
    const yk_node *length = yk_node_get(interface, "distance");
    bool distance = axes == YK_AXIS_DISTANCE;

    /* `length` belongs to the distance joint, `drive` to all others. */
    if (distance && drive)
        yk_node_error(diagnostics, drive,
                      "a distance is prescribed by 'distance', as an expression of time");
    if (distance && !length)
        yk_node_error(diagnostics, yk_node_get(interface, "joint"),
                      "needs 'length', the distance of the two origins");
    if (!distance && length)
        yk_node_error(diagnostics, length, "belongs to the joint distance");

    /* Six motions; those that are not prescribed remain empty. */
    bool given = distance ? length != NULL : drive && drive->valid;
    if (!given)
        return NULL;

    yk_relative_motion *motions = yk_resolver_take(&scenario->resolver, 6 * sizeof *motions);
    if (!motions)
        return NULL;
    if (distance) {
        read_motion(scenario, length, &motions[0]);
        return motions;
    }

    /* Only constrained motions can be prescribed. */
    for (int i = 0; i < 6; i++) {
        const yk_node *node = yk_node_get(drive, names[i]);
        if (!node)
            continue;
        if (axes & 1u << i)
            read_motion(scenario, node, &motions[i]);
        else if (kind == YK_PORT_SCALAR)
            yk_node_error(diagnostics, node, "scalar ports are driven along x");
        else
            yk_node_error(diagnostics, node, "the joint leaves this motion free");
    }

    return motions;
}

/* Radius of a rolling disc; 0 for all other joints. */
static double read_radius(yk_scenario *scenario, const yk_node *interface, unsigned axes)
{
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    const yk_node *radius = yk_node_get(interface, "radius");
    if (axes == YK_AXIS_ROLLING && !radius)
        yk_node_error(diagnostics, yk_node_get(interface, "joint"),
                      "needs 'radius', the radius of the disc");
    if (axes != YK_AXIS_ROLLING && radius)
        yk_node_error(diagnostics, radius, "belongs to the joint rolling");
    if (axes != YK_AXIS_ROLLING)
        return 0;

    /* The disc stands on the plane, so that the two markers have no common place. */
    static const char *const keys[] = {"at", "axis", "orientation"};
    for (int i = 0; i < 3; i++) {
        const yk_node *key = yk_node_get(interface, keys[i]);
        if (key)
            yk_node_error(diagnostics, key,
                          "the centre of a rolling disc and its plane have different places: give "
                          "the ports their places in their subsystems");
    }

    return radius ? yk_node_number(interface, "radius") : 0;
}

/* Interfaces ----------------------------------------------------------------------------------- */

/* Interfaces, wires and subsystems share the names of channels: report duplicates. */
static void check_name(yk_scenario *scenario, const yk_node *node)
{
    const yk_scenario_info *info = &scenario->info;
    const char *name = yk_node_name(node);
    if (yk_find_name(info->subsystem_names, info->subsystem_count, name) < 0)
        return;

    yk_node_key_error(scenario->resolver.diagnostics, node,
                      "'%s' is also the name of a subsystem; signals need different names", name);
}

void yk_scenario_read_interfaces(yk_scenario *scenario)
{
    yk_resolver *r = &scenario->resolver;
    const yk_node *list = yk_node_get(scenario->root, "interfaces");
    if (list && (list->kind == YK_NODE_SCALAR || list->count > YK_INTERFACES_MAX))
        return;

    /* Interfaces with errors are not stored. */
    size_t count = list ? (size_t)list->count : 0;
    scenario->interfaces = yk_resolver_take(r, count * sizeof *scenario->interfaces);
    if (!scenario->interfaces)
        return;

    for (const yk_node *node = list ? list->first : NULL; node; node = node->next) {
        const char *name = yk_node_name(node);
        if (yk_diagnostics_full(r->diagnostics))
            return;
        if (name)
            check_name(scenario, node);

        /* Checks an interface as far as possible; stores it if it has no errors. */
        const yk_node *between = yk_node_get(node, "between");
        if (!between || !between->valid)
            continue;

        port_reference a = read_side(scenario, between->first);
        port_reference b = read_side(scenario, between->first->next);
        if (!check_pair(scenario, between, &a, &b))
            continue;

        /* Ports take part in one interface. */
        bool free_a = check_free(scenario, &a);
        bool free_b = check_free(scenario, &b);
        if (!free_a || !free_b || !a.what || !node->valid || !name)
            continue;

        /* The joint: for scalar ports its only axis, otherwise its word or its axes. */
        enum { CLAMP };
        const yk_node *joint = yk_node_get(node, "joint");
        yk_port_kind kind = a.what->kind;
        unsigned axes = 0;
        if (kind == YK_PORT_SCALAR && joint->choice != CLAMP) {
            yk_node_error(r->diagnostics, joint, "scalar ports can only be joined by fixed");
            continue;
        }

        if (kind == YK_PORT_SCALAR)
            axes = YK_AXIS_X;
        else if (joint->choice >= 0)
            axes = yk_joint_axes[joint->choice];
        else
            for (const yk_node *axis = yk_node_items(joint, "constrained_axes"); axis;
                 axis = axis->next)
                axes |= 1u << axis->choice;

        /* The common place of both ports. */
        if (!move_sides(scenario, node, &a, &b))
            continue;

        /* The first side receives the wrench, the second the motion. */
        scenario->interfaces[scenario->info.interface_count++] = (yk_interface_def){
            .name = name,
            .wrench_subsystem = {a.subsystem},
            .wrench_port = {a.port},
            .motion_subsystem = {b.subsystem},
            .motion_port = {b.port},
            .constrained_axes = axes,
            .drive = read_drive(scenario, node, axes, kind),
            .radius = read_radius(scenario, node, axes),
        };
    }

    scenario->info.interfaces = scenario->interfaces;
}

/* Wires ---------------------------------------------------------------------------------------- */

/* The source by the indices of the coupling; false after a message. */
static bool read_source(yk_scenario *scenario, const yk_node *node, yk_wire_def *wire)
{
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;

    /* A single number of a port or of a subsystem. */
    yk_channel_row row;
    if (!yk_scenario_find_channel(scenario, node->text, node, &row))
        return false;
    if (row.kind != YK_CHANNEL_PORT && row.kind != YK_CHANNEL_OF_SUBSYSTEM) {
        yk_node_error(diagnostics, node,
                      "a wire starts at a quantity of a port, a signal port or a channel");
        return false;
    }

    if (row.components != 1) {
        yk_node_error(diagnostics, node,
                      "has %d components and a wire carries one; add .x, .y or .z", row.components);
        return false;
    }

    /* Its place in the coupling's data. */
    wire->source_subsystem = (yk_subsystem_id){row.subsystem};
    wire->source_port = YK_NULL_PORT;
    if (row.kind == YK_CHANNEL_PORT)
        wire->source_port = (yk_port_id){row.port};
    wire->source_channel = row.port;
    wire->component_index = row.offset;
    if (row.kind == YK_CHANNEL_OF_SUBSYSTEM)
        return true;

    /* Among signal ports, an output. */
    const yk_port *ports;
    const yk_subsystem *from = scenario->subsystems[row.subsystem];
    from->ops->ports(from, &ports);
    if (!(ports[row.port].allowed_causalities & YK_CAUSALITY_SIGNAL_INPUT))
        return true;

    yk_node_error(diagnostics, node,
                  "takes a signal and gives none; a wire starts at what a subsystem gives");
    return false;
}

static bool read_target(yk_scenario *scenario, const yk_node *node, yk_wire_def *wire)
{
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    port_reference to = find_port(scenario, node);
    if (!to.what)
        return false;

    wire->target_subsystem = (yk_subsystem_id){to.subsystem};
    wire->target_port = (yk_port_id){to.port};

    /* A signal input. */
    if (!(to.what->allowed_causalities & YK_CAUSALITY_SIGNAL_INPUT)) {
        const char *remedy = "ports with power are joined under 'interfaces'";
        if (to.what->kind == YK_PORT_SIGNAL)
            remedy = "it gives one: exchange 'from' and 'to'";

        yk_node_error(diagnostics, node, "does not take a signal; %s", remedy);
        return false;
    }

    /* One wire ends at a port. */
    for (int i = 0; i < scenario->info.wire_count; i++) {
        const yk_wire_def *other = &scenario->wires[i];
        if (other->target_subsystem.index != to.subsystem || other->target_port.index != to.port)
            continue;

        yk_node_error(diagnostics, node,
                      "wire '%s' already ends at this port; a signal port takes one", other->name);
        return false;
    }

    return true;
}

/* Probable errors: parts that nothing connects, and loads whose input has no wire. */
static void warn_unconnected(yk_scenario *scenario)
{
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    const yk_scenario_info *info = &scenario->info;
    const yk_node *first = yk_node_items(scenario->root, "subsystems");

    /* Subsystems without an interface or a wire. */
    const yk_node *section = first;
    for (int i = 0; section && info->subsystem_count > 1; section = section->next, i++) {
        bool joined = false;
        for (int k = 0; k < info->interface_count; k++) {
            const yk_interface_def *def = &scenario->interfaces[k];
            joined = joined || def->wrench_subsystem.index == i || def->motion_subsystem.index == i;
        }

        for (int k = 0; k < info->wire_count; k++) {
            const yk_wire_def *wire = &scenario->wires[k];
            joined =
                joined || wire->source_subsystem.index == i || wire->target_subsystem.index == i;
        }

        if (!joined)
            yk_report(diagnostics, YK_SEVERITY_WARNING, yk_node_key_location(section),
                      yk_node_path(section, (char[YK_PATH_MAX]){0}),
                      "is not joined to anything by an interface or a wire");
    }

    /* Loads of forces. */
    section = first;
    for (int i = 0; section; section = section->next, i++) {
        /* Inputs of forces are signal ports of the subsystem. */
        const yk_subsystem *object = scenario->subsystems[i];
        const yk_port *ports;
        int port_count = object->ops->ports(object, &ports);
        for (const yk_node *item = yk_node_items(section, "forces"); item; item = item->next) {
            const yk_node *input = yk_node_get(item, "input");
            if (!input)
                continue;

            /* Whether a wire ends at the port of that name. */
            bool wired = false;
            for (int k = 0; k < info->wire_count; k++) {
                const yk_wire_def *wire = &scenario->wires[k];
                bool here =
                    wire->target_subsystem.index == i && wire->target_port.index < port_count;
                wired = wired ||
                        (here && strcmp(ports[wire->target_port.index].name, input->text) == 0);
            }

            if (!wired)
                yk_node_warning(diagnostics, input,
                                "no wire ends at '%s.%s', so this load stays 0; add one under "
                                "'wires'",
                                scenario->names[i], input->text);
        }
    }
}

void yk_scenario_read_wires(yk_scenario *scenario)
{
    yk_resolver *r = &scenario->resolver;
    yk_scenario_info *info = &scenario->info;
    const yk_node *list = yk_node_get(scenario->root, "wires");
    if (list && (list->kind == YK_NODE_SCALAR || list->count > YK_WIRES_MAX))
        return;

    /* Wires with errors are not stored. */
    int count = list ? list->count : 0;
    scenario->wires = yk_resolver_take(r, (size_t)count * sizeof *scenario->wires);
    if (!scenario->wires)
        return;

    for (const yk_node *node = list ? list->first : NULL; node; node = node->next) {
        if (yk_diagnostics_full(r->diagnostics))
            return;

        /* Its name is its own. */
        yk_wire_def wire = {.name = yk_node_name(node)};
        if (wire.name)
            check_name(scenario, node);

        for (int i = 0; wire.name && i < info->interface_count; i++)
            if (strcmp(scenario->interfaces[i].name, wire.name) == 0)
                yk_node_key_error(
                    r->diagnostics, node,
                    "'%s' is also the name of an interface; signals need different names",
                    wire.name);

        /* Check both ends even if one has errors; store a wire without errors. */
        const yk_node *from = yk_node_get(node, "from");
        const yk_node *to = yk_node_get(node, "to");
        bool good = from && from->valid && read_source(scenario, from, &wire);
        good = to && to->valid && read_target(scenario, to, &wire) && good;
        if (!good || !node->valid || !wire.name)
            continue;

        wire.sample_and_hold = yk_node_boolean(node, "sample_and_hold");
        wire.gain = yk_node_number(node, "gain");
        wire.offset = yk_node_number(node, "offset");
        if (wire.gain == 0) {
            yk_node_error(r->diagnostics, yk_node_get(node, "gain"),
                          "is 0, so that the wire would carry nothing of its source");
            continue;
        }

        scenario->wires[info->wire_count++] = wire;
    }

    info->wires = scenario->wires;

    /* After an error, do not warn of unconnected parts, because unread connections would seem to be
     * missing. */
    if (yk_diagnostics_error_count(r->diagnostics) > 0)
        return;

    warn_unconnected(scenario);
}
