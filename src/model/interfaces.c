/* Interfaces of a scenario: names to numbers, with every mistake that the wiring can have. */
#include <stdio.h>
#include <string.h>

#include "math/vec3.h"
#include "model/mechanism.h"
#include "model/scenario.h"
#include "model/schema_words.h"

/* One side as written: "left.mass". */
typedef struct side {
    const yk_node *node;
    int subsystem, port; /* -1: not found, or not known */
    const yk_port *what;
} side;

enum { PORT_NAMES_MAX = 1000 };

/* Splits at the first '.': names of subsystems have none, names of ports may. */
yk_port_reference yk_scenario_find_port(yk_scenario *scenario, const yk_node *node)
{
    yk_port_reference s = {.subsystem = -1, .port = -1};
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    const yk_scenario_info *info = &scenario->info;
    const char *dot = strchr(node->text, '.');
    if (!dot || dot == node->text || !dot[1]) {
        yk_node_error(diagnostics, node, "expected subsystem.port; found '%.60s'", node->text);
        return s;
    }

    char subsystem[64];
    snprintf(subsystem, sizeof subsystem, "%s", node->text);
    subsystem[strcspn(subsystem, ".")] = '\0';
    s.subsystem = yk_find_name(info->names, info->subsystem_count, subsystem);
    if (s.subsystem < 0) {
        yk_node_error(diagnostics, node, "there is no subsystem '%s'; %s", subsystem,
                      yk_suggestion(subsystem, info->names, info->subsystem_count).text);
        return s;
    }
    const yk_subsystem *object = info->subsystems[s.subsystem];
    if (!object)
        return s; /* its section has mistakes of its own */

    const yk_port *ports;
    const char *names[PORT_NAMES_MAX];
    int count = object->ops->ports(object, &ports);
    for (int i = 0; i < count; i++) {
        if (strcmp(ports[i].name, dot + 1) == 0) {
            s.port = i;
            s.what = &ports[i];
            return s;
        }
        if (i < PORT_NAMES_MAX)
            names[i] = ports[i].name;
    }
    if (count > PORT_NAMES_MAX)
        count = PORT_NAMES_MAX;
    yk_node_error(diagnostics, node, "subsystem '%s' has no port '%.60s'; %s", subsystem, dot + 1,
                  yk_suggestion(dot + 1, names, count).text);
    return s;
}

/* A subsystem with mistakes of its own has no ports yet, but its section names those that it
 * would have. */
static void check_listed_port(yk_scenario *scenario, int subsystem, const yk_node *node)
{
    const yk_node *section = yk_node_get(scenario->root, "subsystems")->first;
    for (int i = 0; i < subsystem; i++)
        section = section->next;
    const yk_node *ports = yk_node_get(section, "ports");
    if (!ports || ports->kind == YK_NODE_SCALAR || ports->count == 0)
        return;

    const char *wanted = strchr(node->text, '.') + 1;
    const char *names[YK_SUGGESTED_MAX];
    int count = 0;
    for (const yk_node *item = ports->first; item && count < YK_SUGGESTED_MAX; item = item->next) {
        const char *name = yk_node_name(item);
        if (!name)
            continue;
        if (strcmp(name, wanted) == 0)
            return;

        names[count++] = name;
    }
    yk_node_error(scenario->resolver.diagnostics, node, "subsystem '%s' has no port '%.60s'; %s",
                  scenario->info.names[subsystem], wanted,
                  yk_suggestion(wanted, names, count).text);
}

static side read_side(yk_scenario *scenario, const yk_node *node)
{
    yk_port_reference found = yk_scenario_find_port(scenario, node);
    if (found.subsystem >= 0 && !scenario->info.subsystems[found.subsystem])
        check_listed_port(scenario, found.subsystem, node);
    return (side){node, found.subsystem, found.port, found.what};
}

static bool check_causality(yk_scenario *scenario, const side *s, yk_causality causality)
{
    if (s->what->causalities & causality)
        return true;
    if (s->what->kind == YK_PORT_SIGNAL) {
        yk_node_error(scenario->resolver.diagnostics, s->node,
                      "is a signal without power; join it under 'wires', not 'interfaces'");
        return false;
    }
    bool prescribed = causality == YK_TAKES_WRENCH && s->what->causalities & YK_TAKES_MOTION;
    bool both = yk_scheme_traits(&scenario->info.scheme) & YK_SCHEME_WRENCH_ON_BOTH_SIDES;
    if (prescribed && both && s->what->kind == YK_PORT_MARKER)
        yk_node_error(scenario->resolver.diagnostics, s->node,
                      "cannot receive a wrench; the scheme %s applies wrenches to both markers: "
                      "choose the scheme tight "
                      "or rim",
                      scenario->info.scheme.ops->name);
    else
        yk_node_error(scenario->resolver.diagnostics, s->node,
                      "cannot receive %s; exchange the two sides of 'between'",
                      causality == YK_TAKES_WRENCH ? "a wrench" : "a motion");
    return false;
}

static bool check_pair(yk_scenario *scenario, const yk_node *between, const side *a, const side *b)
{
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    if (a->subsystem >= 0 && a->subsystem == b->subsystem) {
        yk_node_error(diagnostics, between, "joins subsystem '%s' with itself",
                      scenario->info.names[a->subsystem]);
        return false;
    }
    if (!a->what || !b->what)
        return false;

    bool power = a->what->kind != YK_PORT_SIGNAL && b->what->kind != YK_PORT_SIGNAL;
    if (power && a->what->kind != b->what->kind) {
        yk_node_error(diagnostics, between,
                      "joins a scalar port with a marker; both must be of one kind");
        return false;
    }

    /* What the second side takes is the scheme's choice. */
    const yk_scheme_def *scheme = &scenario->info.scheme;
    yk_causality second = YK_TAKES_MOTION;
    if (scheme->ops->second_side) {
        const yk_joined_ports joined = {
            .subsystem = {scenario->subsystems[a->subsystem], scenario->subsystems[b->subsystem]},
            .number = {a->subsystem, b->subsystem},
            .port = {a->port, b->port}};
        second = scheme->ops->second_side(scheme->options, &joined);
    }
    bool good = check_causality(scenario, a, YK_TAKES_WRENCH);
    return check_causality(scenario, b, second) && good;
}

/* A port takes part in one interface. */
static bool check_free(yk_scenario *scenario, const side *s)
{
    for (int i = 0; i < scenario->info.interface_count; i++) {
        const yk_interface_def *def = &scenario->interfaces[i];
        bool first = def->wrench_subsystem == s->subsystem && def->wrench_port == s->port;
        bool second = def->motion_subsystem == s->subsystem && def->motion_port == s->port;
        if (!first && !second)
            continue;

        yk_node_error(scenario->resolver.diagnostics, s->node,
                      "the port is already used by interface '%s'; a port can be joined once; give "
                      "the subsystem another port on the same body",
                      def->name);
        return false;
    }
    return true;
}

/* The constrained axes; 0 after a message. */
static unsigned read_joint(yk_scenario *scenario, const yk_node *node, yk_port_kind kind)
{
    const yk_node *joint = yk_node_get(node, "joint");
    bool clamp = joint->choice == 0;
    if (kind == YK_PORT_SCALAR && !clamp) {
        yk_node_error(scenario->resolver.diagnostics, joint,
                      "scalar ports can only be joined by clamp");
        return 0;
    }
    if (kind == YK_PORT_SCALAR)
        return YK_AXIS_X;
    if (joint->choice >= 0)
        return yk_joint_axes[joint->choice];

    unsigned axes = 0;
    for (const yk_node *axis = yk_node_get(joint, "constrain")->first; axis; axis = axis->next)
        axes |= 1u << axis->choice;
    return axes;
}

/* Moves the port of a side to where the interface says that it is: from the axes of the whole
 * system to its own. */
static bool place_side(yk_scenario *scenario, const yk_node *node, const side *s, const yk_vec3 *at,
                       const yk_quat *orientation)
{
    yk_subsystem *object = scenario->subsystems[s->subsystem];
    const yk_transform *transform = &scenario->transforms[s->subsystem];
    if (!object->ops->move_port) {
        yk_node_error(scenario->resolver.diagnostics, s->node,
                      "ports of this solver cannot be moved by the interface; give the port its "
                      "place where it is defined");
        return false;
    }

    yk_vec3 own_at;
    yk_quat own_axes;
    if (at) {
        yk_vec3 offset = yk_v3_sub(*at, transform->position);
        own_at =
            yk_v3_scale(1 / transform->length, yk_q_rotate_back(transform->orientation, offset));
    }
    if (orientation)
        own_axes = yk_q_mul(yk_q_conjugate(transform->orientation), *orientation);
    if (object->ops->move_port(object, s->port, at ? &own_at : NULL,
                               orientation ? &own_axes : NULL) == YK_OK)
        return true;

    yk_node_error(scenario->resolver.diagnostics, node, "%s", yk_last_message(scenario->context));
    return false;
}

/* `at`, `axis` and `orientation`. */
static bool place_sides(yk_scenario *scenario, const yk_node *node, const side *a, const side *b)
{
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    const yk_node *at = yk_node_get(node, "at");
    const yk_node *axis = yk_node_get(node, "axis");
    const yk_node *orientation = yk_node_get(node, "orientation");
    const yk_node *first = at;
    if (!first)
        first = axis;
    if (!first)
        first = orientation;
    if (!first)
        return true;

    if (a->what->kind != YK_PORT_MARKER) {
        yk_node_error(diagnostics, first, "scalar ports have no place of their own; remove this");
        return false;
    }
    if (axis && orientation) {
        yk_node_error(diagnostics, axis, "give either 'axis' or 'orientation'");
        return false;
    }

    yk_vec3 point = at ? yk_node_vector(node, "at") : yk_v3(0, 0, 0);
    yk_quat frame = orientation ? yk_node_orientation(node, "orientation") : yk_q_identity();
    if (axis && yk_read_axis(&scenario->builder, axis, &frame) != YK_OK)
        return false;

    bool rotated = axis || orientation;
    return place_side(scenario, first, a, at ? &point : NULL, rotated ? &frame : NULL) &&
           place_side(scenario, first, b, at ? &point : NULL, rotated ? &frame : NULL);
}

/* Checks what can be checked of an interface with mistakes, and keeps one without. */
static void read_interface(yk_scenario *scenario, const yk_node *node)
{
    const yk_node *between = yk_node_get(node, "between");
    if (!between || !between->valid)
        return;

    side a = read_side(scenario, between->first);
    side b = read_side(scenario, between->first->next);
    if (!check_pair(scenario, between, &a, &b))
        return;

    bool free_a = check_free(scenario, &a);
    if (!check_free(scenario, &b) || !free_a || !node->valid || !yk_node_name(node))
        return;

    unsigned axes = read_joint(scenario, node, a.what->kind);
    if (!axes || !place_sides(scenario, node, &a, &b))
        return;

    scenario->interfaces[scenario->info.interface_count++] =
        (yk_interface_def){.name = yk_node_name(node),
                           .wrench_subsystem = a.subsystem,
                           .wrench_port = a.port,
                           .motion_subsystem = b.subsystem,
                           .motion_port = b.port,
                           .constrained = axes,
                           .drive = yk_scenario_read_drive(scenario, node, axes, a.what->kind)};
}

void yk_scenario_check_name(yk_scenario *scenario, const yk_node *node)
{
    const char *name = yk_node_name(node);
    if (yk_find_name(scenario->info.names, scenario->info.subsystem_count, name) < 0)
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

    int count = list ? list->count : 0;
    scenario->interfaces =
        yk_store_take(&scenario->store, (size_t)count * sizeof *scenario->interfaces);
    if (!scenario->interfaces) {
        r->status = YK_ERROR_MEMORY;
        return;
    }
    for (const yk_node *node = list ? list->first : NULL; node; node = node->next) {
        if (yk_diagnostics_full(r->diagnostics))
            return;
        if (yk_node_name(node))
            yk_scenario_check_name(scenario, node);
        read_interface(scenario, node);
    }
    scenario->info.interfaces = scenario->interfaces;
}
