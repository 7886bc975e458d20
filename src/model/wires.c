/* Wires of a scenario: names to numbers, with every mistake that they can have. */
#include <string.h>

#include "model/scenario.h"

/* The source as the coupling counts; false after a message. */
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

    /* Where the coupling reads it. */
    wire->source_subsystem = row.subsystem;
    wire->source_port = row.kind == YK_CHANNEL_PORT ? row.port : -1;
    wire->source_channel = row.port;
    wire->component = row.offset;
    if (row.kind == YK_CHANNEL_OF_SUBSYSTEM)
        return true;

    /* Of signal ports, one that gives. */
    const yk_port *ports;
    const yk_subsystem *from = scenario->subsystems[row.subsystem];
    from->ops->ports(from, &ports);
    if (!(ports[row.port].causalities & YK_TAKES_SIGNAL))
        return true;

    yk_node_error(diagnostics, node,
                  "takes a signal and gives none; a wire starts at what a subsystem gives");
    return false;
}

static bool read_target(yk_scenario *scenario, const yk_node *node, yk_wire_def *wire)
{
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    yk_port_reference to = yk_scenario_find_port(scenario, node);
    if (!to.what)
        return false;

    wire->target_subsystem = to.subsystem;
    wire->target_port = to.port;

    /* A signal port that takes. */
    if (!(to.what->causalities & YK_TAKES_SIGNAL)) {
        const char *remedy = "ports with power are joined under 'interfaces'";
        if (to.what->kind == YK_PORT_SIGNAL)
            remedy = "it gives one: exchange 'from' and 'to'";

        yk_node_error(diagnostics, node, "does not take a signal; %s", remedy);
        return false;
    }

    /* One wire ends at a port. */
    for (int i = 0; i < scenario->info.wire_count; i++) {
        const yk_wire_def *other = &scenario->wires[i];
        if (other->target_subsystem != to.subsystem || other->target_port != to.port)
            continue;

        yk_node_error(diagnostics, node,
                      "wire '%s' already ends at this port; a signal port takes one", other->name);
        return false;
    }

    return true;
}

/* What is probably not meant: parts that nothing joins, and loads whose input has no wire. */
static void warn_unconnected(yk_scenario *scenario)
{
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    const yk_scenario_info *info = &scenario->info;
    const yk_node *first = yk_node_items(scenario->root, "subsystems");

    /* Subsystems that no interface and no wire has an end at. */
    const yk_node *section = first;
    for (int i = 0; section && info->subsystem_count > 1; section = section->next, i++) {
        bool joined = false;
        for (int k = 0; k < info->interface_count; k++) {
            const yk_interface_def *def = &scenario->interfaces[k];
            joined = joined || def->wrench_subsystem == i || def->motion_subsystem == i;
        }

        for (int k = 0; k < info->wire_count; k++) {
            const yk_wire_def *wire = &scenario->wires[k];
            joined = joined || wire->source_subsystem == i || wire->target_subsystem == i;
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
                bool here = wire->target_subsystem == i && wire->target_port < port_count;
                wired = wired || (here && strcmp(ports[wire->target_port].name, input->text) == 0);
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

    /* Wires with mistakes take no slot. */
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
            yk_scenario_check_name(scenario, node);

        for (int i = 0; wire.name && i < info->interface_count; i++)
            if (strcmp(scenario->interfaces[i].name, wire.name) == 0)
                yk_node_key_error(
                    r->diagnostics, node,
                    "'%s' is also the name of an interface; signals need different names",
                    wire.name);

        /* Both ends are checked even if one has mistakes; a wire without is kept. */
        const yk_node *from = yk_node_get(node, "from");
        const yk_node *to = yk_node_get(node, "to");
        bool good = from && from->valid && read_source(scenario, from, &wire);
        good = to && to->valid && read_target(scenario, to, &wire) && good;
        if (!good || !node->valid || !wire.name)
            continue;

        wire.hold = yk_node_boolean(node, "hold");
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
    if (yk_diagnostics_errors(r->diagnostics) > 0)
        return;

    warn_unconnected(scenario);
}
