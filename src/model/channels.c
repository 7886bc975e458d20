/* The recorded channels of a scenario: converts names such as tip.position.x to places in the
 * running system. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coupling/channels.h"
#include "model/scenario.h"
#include "record/channel_names.h"
#include "yoke/record.h"

/* Components of vectors and wrenches, and of orientations. */
static const char *const axis_labels[] = {"x", "y", "z", "rx", "ry", "rz"};
static const char *const quaternion_labels[] = {"w", "x", "y", "z"};

/* A channel that is being read. */
typedef struct request {
    yk_scenario *scenario;
    const char *name;
    const yk_node *node; /* for messages */
    yk_channel_row row;
    const char *unit;
    bool found;
} request;

/* Words that are valid in a place, for messages. */
enum { CANDIDATES_MAX = 256 };
typedef struct candidates {
    const char *words[CANDIDATES_MAX + 1];
    int count;
} candidates;

static void add_candidate(candidates *c, const char *word)
{
    if (c->count < CANDIDATES_MAX)
        c->words[c->count++] = word;
}

static void report_unknown(request *q, const char *what, const char *word, const candidates *c)
{
    yk_diagnostics *diagnostics = q->scenario->resolver.diagnostics;
    char renamed[YK_CHANNEL_NAME_MAX];
    if (yk_channel_new_name(q->name, renamed, sizeof renamed)) {
        yk_node_error(diagnostics, q->node, "channel '%.60s' is now called '%s'", q->name, renamed);
        return;
    }

    yk_phrase remedy = yk_suggest_word(word, c->words, c->count);
    yk_node_error(diagnostics, q->node, "unknown %s '%.60s'. %s", what, word, remedy.text);
}

static void found(request *q, yk_channel_kind kind, int owner, int part, const char *unit)
{
    q->row.kind = kind;
    q->row.subsystem = owner;
    q->row.port = part;
    q->unit = unit;
    q->found = true;
}

/* The rest after "word" or "word.", NULL if the text does not start with the word. */
static const char *after(const char *text, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(text, word, length) != 0)
        return NULL;
    if (text[length] == '.')
        return text + length + 1;
    if (text[length] == '\0')
        return text + length;

    return NULL;
}

/* Restricts the row of `size` doubles to the named component; "" means all of them. */
static bool pick_component(request *q, const char *component, int size)
{
    q->row.components = size;
    if (!component[0])
        return true;

    /* The components that a quantity of this size has; a single number has none. */
    const char *const *labels = size == 4 ? quaternion_labels : axis_labels;
    candidates c = {.count = 0};
    for (int i = 0; i < size && i < 6 && size > 1; i++)
        add_candidate(&c, labels[i]);

    for (int i = 0; i < c.count; i++) {
        if (strcmp(component, c.words[i]) != 0)
            continue;

        q->row.offset += i;
        q->row.components = 1;
        return true;
    }

    /* The component is invalid. */
    if (c.count)
        report_unknown(q, "component", component, &c);
    else
        yk_node_error(q->scenario->resolver.diagnostics, q->node,
                      "is a single number; remove '.%.60s'", component);

    return false;
}

/* The unit that the subsystem itself gives a number of a port; NULL: none. Numbers with power are
 * converted to SI if the subsystem has units of its own. */
static const char *own_unit(const request *q, int subsystem, int port, int offset,
                            yk_port_kind kind)
{
    const yk_scenario_info *info = &q->scenario->info;
    const yk_subsystem *object = info->subsystems[subsystem];
    const yk_transform *transform = &info->transforms[subsystem];
    bool converted = transform->length_unit != 1 || transform->mass_unit != 1;
    if (!object->ops->port_unit || (kind != YK_PORT_SIGNAL && converted))
        return NULL;
    return object->ops->port_unit(object, port, offset);
}

/* "position", "velocity.x": of a port of the given kind; false if the word is none of them. */
static bool match_quantity(request *q, const char *text, int subsystem, int port, yk_port_kind kind)
{
    for (int i = 0; i < YK_PORT_QUANTITY_COUNT; i++) {
        int size = yk_port_quantities[i].size[kind];
        const char *component = after(text, yk_port_quantities[i].name);
        if (!size || !component)
            continue;

        /* Rows count in doubles from the beginning of the value. */
        q->row.offset = yk_port_quantities[i].offset;
        const char *unit = yk_port_quantities[i].unit;
        const char *own = own_unit(q, subsystem, port, q->row.offset, kind);
        if (own && own[0])
            unit = own;
        if (pick_component(q, component, size))
            found(q, YK_CHANNEL_PORT, subsystem, port, unit);
        return true;
    }

    return false;
}

static void add_quantities(candidates *c, yk_port_kind kind)
{
    for (int i = 0; i < YK_PORT_QUANTITY_COUNT; i++)
        if (yk_port_quantities[i].size[kind])
            add_candidate(c, yk_port_quantities[i].name);
}

static const yk_port *port_at(const yk_scenario *scenario, int subsystem, int port)
{
    const yk_port *ports;
    const yk_subsystem *object = scenario->info.subsystems[subsystem];
    object->ops->ports(object, &ports);
    return &ports[port];
}

/* "force", "gap_position": of the first side of an interface, or of both sides. */
static void read_of_interface(request *q, int interface, const char *text)
{
    /* Quantities of the port on the wrench side. */
    const yk_interface_def *def = &q->scenario->interfaces[interface];
    int subsystem = def->wrench_subsystem.index;
    int port = def->wrench_port.index;
    yk_port_kind kind = port_at(q->scenario, subsystem, port)->kind;
    if (match_quantity(q, text, subsystem, port, kind))
        return;

    /* The gaps of its sides ... */
    candidates c = {.count = 0};
    add_quantities(&c, kind);
    for (int i = 0; i < 4; i++) {
        if (yk_gap_quantities[i].is_rotation && kind == YK_PORT_SCALAR)
            continue;

        add_candidate(&c, yk_gap_quantities[i].name);
        if (strcmp(text, yk_gap_quantities[i].name) != 0)
            continue;

        q->row.offset = i;
        q->row.components = 1;
        found(q, YK_CHANNEL_GAP, interface, 0, yk_gap_quantities[i].unit);
        return;
    }

    /* ... and the energy that it creates. */
    add_candidate(&c, "energy_created");
    if (strcmp(text, "energy_created") == 0) {
        q->row.components = 1;
        found(q, YK_CHANNEL_CREATED, interface, 0, "J");
        return;
    }

    report_unknown(q, "quantity", text, &c);
}

/* "energy", "reaction.x", "tip.position": of a subsystem. */
static void read_of_subsystem(request *q, int subsystem, const char *text)
{
    const yk_subsystem *object = q->scenario->info.subsystems[subsystem];
    if (!object)
        return; /* its section has errors of its own */

    /* The port with the longest matching name, because the name of another port may be a prefix of
     * it. */
    candidates c = {.count = 0};
    const yk_port *ports;
    const char *beyond = NULL;
    int port = -1;
    int port_count = object->ops->ports(object, &ports);

    for (int i = 0; i < port_count; i++) {
        const char *rest = after(text, ports[i].name);
        if (rest && (!beyond || rest > beyond)) {
            beyond = rest;
            port = i;
        }

        add_candidate(&c, ports[i].name);
    }

    if (port >= 0 && match_quantity(q, beyond, subsystem, port, ports[port].kind))
        return;

    /* Its energies, all four or one of them. */
    const char *which = object->ops->energy ? after(text, "energy") : NULL;
    if (which) {
        candidates words = {.count = 0};
        q->row.components = which[0] ? 1 : 4;
        for (int i = 0; i < 4 && which[0]; i++) {
            add_candidate(&words, yk_energy_quantities[i]);
            if (strcmp(which, yk_energy_quantities[i]) != 0)
                continue;

            q->row.offset = i;
            which = "";
        }

        if (which[0])
            report_unknown(q, "energy", which, &words);
        else
            found(q, YK_CHANNEL_ENERGY, subsystem, 0, "J");
        return;
    }

    /* Channels of the subsystem itself. */
    const yk_channel *channels;
    int channel_count = 0;
    if (object->ops->channels)
        channel_count = object->ops->channels->list(object, &channels);

    for (int i = 0; i < channel_count; i++) {
        add_candidate(&c, channels[i].name);
        const char *component = after(text, channels[i].name);
        if (!component)
            continue;

        q->row.channel_size = channels[i].component_count;
        if (pick_component(q, component, channels[i].component_count))
            found(q, YK_CHANNEL_OF_SUBSYSTEM, subsystem, i, channels[i].unit);
        return;
    }

    /* Nothing matches. If a port matches, its quantity is wrong or missing, unless the text is more
     * similar to the name of a channel. */
    if (port < 0) {
        if (object->ops->energy)
            add_candidate(&c, "energy");
        char first[64];
        snprintf(first, sizeof first, "%s", text);
        first[strcspn(first, ".")] = '\0';
        report_unknown(q, "port or channel", first, &c);
        return;
    }

    /* The name of a signal port stands for its value. */
    if (!beyond[0] && ports[port].kind == YK_PORT_SIGNAL) {
        match_quantity(q, "value", subsystem, port, YK_PORT_SIGNAL);
        return;
    }

    /* The port does not have this quantity, or no quantity is given. */
    candidates own = {.count = 0};
    add_quantities(&own, ports[port].kind);
    if (beyond[0] && !yk_word_meant(beyond, own.words) && yk_word_meant(text, c.words))
        report_unknown(q, "port or channel", text, &c);
    else if (beyond[0])
        report_unknown(q, "quantity", beyond, &own);
    else
        yk_node_error(q->scenario->resolver.diagnostics, q->node,
                      "is a port; add a quantity, such as .position or .force");
}

/* An interface or a wire that exists but has errors. */
static bool is_broken(const yk_scenario *scenario, const char *section, const char *name)
{
    for (const yk_node *item = yk_node_items(scenario->root, section); item; item = item->next) {
        const char *other = yk_node_name(item);
        if (other && strcmp(other, name) == 0)
            return true;
    }
    return false;
}

static bool offers_channel(const yk_subsystem *subsystem, const char *name)
{
    const yk_channel *channels;
    int count = 0;
    if (subsystem && subsystem->ops->channels)
        count = subsystem->ops->channels->list(subsystem, &channels);
    for (int i = 0; i < count; i++)
        if (strcmp(channels[i].name, name) == 0)
            return true;
    return false;
}

/* The text before the first dot is an interface, a subsystem, a wire or the coupling. */
static void read_name(request *q, const char *text)
{
    yk_scenario *scenario = q->scenario;
    const yk_scenario_info *info = &scenario->info;

    /* The owner comes before the first dot. */
    const char *dot = strchr(text, '.');
    if (!dot || dot == text || !dot[1]) {
        yk_node_error(scenario->resolver.diagnostics, q->node,
                      "expected interface.quantity or subsystem.port.quantity; found '%.60s'",
                      text);
        return;
    }

    /* Longer names cannot be owners: names have at most 60 characters. */
    char owner[64];
    snprintf(owner, sizeof owner, "%s", text);
    owner[strcspn(owner, ".")] = '\0';

    /* The iterations are those of the coupling, also if an interface, a wire or a subsystem without
     * such a channel is named `coupling`. */
    bool iterations = strcmp(text, "coupling.iteration_count") == 0;
    for (int i = 0; iterations && i < info->subsystem_count; i++)
        if (strcmp(info->subsystem_names[i], owner) == 0 &&
            offers_channel(info->subsystems[i], dot + 1))
            iterations = false;
    if (iterations) {
        q->row.components = 1;
        found(q, YK_CHANNEL_ITERATIONS, 0, 0, "1");
        return;
    }

    /* The owner of the name. The message lists the valid ones. */
    candidates c = {.count = 0};
    for (int i = 0; i < info->interface_count; i++) {
        if (strcmp(scenario->interfaces[i].name, owner) == 0) {
            read_of_interface(q, i, dot + 1);
            return;
        }

        add_candidate(&c, scenario->interfaces[i].name);
    }

    for (int i = 0; i < info->subsystem_count; i++) {
        if (strcmp(info->subsystem_names[i], owner) == 0) {
            read_of_subsystem(q, i, dot + 1);
            return;
        }

        add_candidate(&c, info->subsystem_names[i]);
    }

    for (int i = 0; i < info->wire_count; i++) {
        add_candidate(&c, scenario->wires[i].name);
        if (strcmp(scenario->wires[i].name, owner) != 0)
            continue;

        /* A wire has one quantity. */
        q->row.components = 1;
        if (strcmp(dot + 1, "value") == 0)
            found(q, YK_CHANNEL_WIRE, i, 0, NULL);
        else
            report_unknown(q, "quantity", dot + 1, &(candidates){.words = {"value"}, .count = 1});
        return;
    }

    /* The coupling itself. */
    if (strcmp(owner, "coupling") == 0) {
        report_unknown(q, "quantity", dot + 1,
                       &(candidates){.words = {"iteration_count"}, .count = 1});
        return;
    }

    /* An owner with errors has a message already. */
    if (is_broken(scenario, "interfaces", owner) || is_broken(scenario, "wires", owner))
        return;

    /* Suggest wires only if the scenario has some. */
    const char *what = "interface or subsystem";
    if (info->wire_count > 0)
        what = "interface, subsystem or wire";

    report_unknown(q, what, owner, &c);
}

/* The list ------------------------------------------------------------------------------------- */

/* The name in records, "tip.position.x". NULL: memory is missing. */
static const char *record_name(yk_scenario *scenario, const char *name)
{
    if (!strchr(name, ':'))
        return name;

    char *copy = yk_store_text(scenario->resolver.store, name, strlen(name));
    for (char *at = copy; at && *at; at++)
        if (*at == ':')
            *at = '.';

    return copy;
}

bool yk_scenario_find_channel(yk_scenario *scenario, const char *name, const yk_node *node,
                              yk_channel_row *row)
{
    name = record_name(scenario, name);
    request q = {.scenario = scenario, .name = name, .node = node};
    if (name)
        read_name(&q, name);
    *row = q.row;
    return q.found;
}

/* Reads one name and appends it to arrays that are long enough. */
static void add_channel(yk_scenario *scenario, const char *name, const yk_node *node)
{
    name = record_name(scenario, name);
    if (!name)
        return;

    request q = {.scenario = scenario, .name = name, .node = node};
    read_name(&q, name);
    if (!q.found)
        return;

    /* Its place, its name, and the new length of a sample. */
    yk_scenario_info *info = &scenario->info;
    scenario->rows[info->channel_count] = q.row;
    scenario->channels[info->channel_count++] =
        (yk_channel){name, q.unit && *q.unit ? q.unit : "1", q.row.components};
    info->values_per_sample += q.row.components;
}

static bool reserve(yk_scenario *scenario, int count)
{
    yk_resolver *r = &scenario->resolver;
    size_t size = (size_t)count;
    scenario->rows = yk_resolver_take(r, size * sizeof *scenario->rows);
    scenario->channels = yk_resolver_take(r, size * sizeof *scenario->channels);
    scenario->info.channels = scenario->channels;
    return scenario->rows && scenario->channels;
}

/* Adds "owner.port.what", or "owner.what" if there is no port (""). */
static void add_made(yk_scenario *scenario, const char *owner, const char *port, const char *what)
{
    size_t bytes = strlen(owner) + strlen(port) + strlen(what) + 3;
    char *name = yk_resolver_take(&scenario->resolver, bytes);
    if (!name)
        return;

    /* The name lives as long as the scenario, because records point to it. */
    if (port[0])
        snprintf(name, bytes, "%s.%s.%s", owner, port, what);
    else
        snprintf(name, bytes, "%s.%s", owner, what);

    add_channel(scenario, name, scenario->root);
}

/* The default channels: all ports, energies and gaps of interfaces. */
static void add_defaults(yk_scenario *scenario)
{
    /* Upper bound; a subsystem with errors adds none. */
    const yk_scenario_info *info = &scenario->info;

    /* Four gaps and an energy of each interface; one value of each wire; the iterations. */
    int count = 5 * info->interface_count + info->wire_count + 1;
    for (int i = 0; i < info->subsystem_count; i++) {
        const yk_port *ports;
        const yk_subsystem *object = info->subsystems[i];
        if (!object)
            return;

        count += YK_PORT_QUANTITY_COUNT * object->ops->ports(object, &ports) + 1;
    }

    if (!reserve(scenario, count))
        return;

    for (int i = 0; i < info->subsystem_count; i++) {
        /* Ports and energies of each subsystem. */
        const char *name = scenario->names[i];
        const yk_subsystem *object = scenario->subsystems[i];
        const yk_port *ports;
        int port_count = object->ops->ports(object, &ports);

        for (int port = 0; port < port_count; port++)
            for (int k = 0; k < YK_PORT_QUANTITY_COUNT; k++)
                if (yk_port_quantities[k].is_default &&
                    yk_port_quantities[k].size[ports[port].kind])
                    add_made(scenario, name, ports[port].name, yk_port_quantities[k].name);
        if (object->ops->energy)
            add_made(scenario, name, "", "energy");
    }

    for (int i = 0; i < info->interface_count; i++) {
        /* Gaps of each interface, and the energy that it creates. */
        const yk_interface_def *def = &scenario->interfaces[i];
        const yk_port *port =
            port_at(scenario, def->wrench_subsystem.index, def->wrench_port.index);
        for (int k = 0; k < 4; k++)
            if (port->kind == YK_PORT_MARKER || !yk_gap_quantities[k].is_rotation)
                add_made(scenario, def->name, "", yk_gap_quantities[k].name);

        add_made(scenario, def->name, "", "energy_created");
    }

    /* Iterations of the coupling per step. */
    if (info->interface_count > 0)
        add_made(scenario, "coupling", "", "iteration_count");

    /* Signals of wires. */
    for (int i = 0; i < info->wire_count; i++)
        add_made(scenario, scenario->wires[i].name, "", "value");
}

static int compare_texts(const void *a, const void *b)
{
    const yk_node *left = *(yk_node *const *)a;
    const yk_node *right = *(yk_node *const *)b;
    int order = strcmp(left->text, right->text);
    if (order != 0)
        return order;
    return (left->line > right->line) - (left->line < right->line);
}

/* A record knows its channels by their names. */
static void check_repeated(yk_scenario *scenario, const yk_node *channels)
{
    yk_resolver *r = &scenario->resolver;
    const yk_node **items = yk_resolver_take(r, (size_t)channels->count * sizeof *items);

    /* Equal names are neighbours once they are sorted. */
    int count = 0;
    for (const yk_node *node = channels->first; items && node; node = node->next)
        if (node->valid)
            items[count++] = node;
    if (count)
        qsort(items, (size_t)count, sizeof *items, compare_texts);

    for (int i = 1; i < count && !yk_diagnostics_full(r->diagnostics); i++)
        if (strcmp(items[i - 1]->text, items[i]->text) == 0)
            yk_node_error(r->diagnostics, items[i], "'%.60s' is recorded twice; remove one of them",
                          items[i]->text);
}

void yk_scenario_read_channels(yk_scenario *scenario)
{
    yk_resolver *r = &scenario->resolver;
    yk_scenario_info *info = &scenario->info;
    const yk_node *record = yk_node_get(scenario->root, "record");
    if (!record || record->kind != YK_NODE_MAP)
        return;

    /* Interval and file; the name of the file determines the format. */
    const yk_node *file = yk_node_get(record, "file");
    if (record->valid) {
        info->record_interval = yk_node_integer(record, "every");
        info->frame_count = yk_node_integer(record, "frames");
        info->max_contacts_per_frame = yk_node_integer(record, "max_contacts");
        if (file && !yk_record_is_known_format(file->text)) {
            char endings[64];
            yk_record_endings(endings, sizeof endings);
            yk_node_error(
                r->diagnostics, file,
                "the format of '%.60s' is not known from its name; use a name that ends in %s",
                file->text, endings);
        } else if (file) {
            info->record_file = yk_builder_output(&scenario->builder, file->text);
        }
    }

    /* Channels: those that are named, or the default. */
    const yk_node *channels = yk_node_get(record, "channels");
    if (channels && channels->kind == YK_NODE_LIST && channels->count <= YK_CHANNELS_MAX) {
        if (!reserve(scenario, channels->count))
            return;

        for (const yk_node *node = channels->first; node; node = node->next)
            if (node->valid && !yk_diagnostics_full(r->diagnostics))
                add_channel(scenario, node->text, node);

        check_repeated(scenario, channels);
    } else if (!channels && yk_diagnostics_error_count(r->diagnostics) == 0) {
        add_defaults(scenario);
    }

    if (r->status != YK_OK)
        return;

    /* Buffer for the largest channel of a subsystem, which is read as a whole. */
    int largest = 0;
    for (int i = 0; i < info->channel_count; i++)
        if (scenario->rows[i].channel_size > largest)
            largest = scenario->rows[i].channel_size;

    scenario->channel = yk_resolver_take(r, (size_t)largest * sizeof *scenario->channel);
}

/* Sampling ------------------------------------------------------------------------------------- */

const char *const *yk_scenario_channel_labels(const yk_scenario *scenario, int channel)
{
    if (channel < 0 || channel >= scenario->info.channel_count) {
        yk_fail(scenario->context, YK_ERROR_ARGUMENT,
                "%s: there is no channel %d; the scenario records %d", __func__, channel,
                scenario->info.channel_count);
        return NULL;
    }

    const yk_channel_row *row = &scenario->rows[channel];
    if (row->kind == YK_CHANNEL_ENERGY && row->components == 4)
        return yk_energy_quantities;
    if (row->kind == YK_CHANNEL_PORT && row->components == 6)
        return axis_labels;
    return NULL;
}

void yk_scenario_read_sample(const yk_scenario *scenario, double *values)
{
    yk_system *system = scenario->system;
    if (!system) {
        yk_fail(scenario->context, YK_ERROR_ARGUMENT,
                "%s: the system has not started: call yk_scenario_system and yk_system_initialize "
                "first",
                __func__);
        return;
    }

    for (int i = 0; i < scenario->info.channel_count; i++) {
        const yk_channel_row *row = &scenario->rows[i];

        yk_channel_row_read(system, row, scenario->channel, values);
        values += row->components;
    }
}
