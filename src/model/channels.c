/* What a scenario records: names such as tip.position.x to places in the running system. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/scenario.h"
#include "model/synonyms.h"
#include "yoke/record.h"

/* Quantities of a port, as runs of doubles in yk_port_value. */
typedef struct quantity {
    const char *name, *unit;
    size_t offset; /* bytes */
    int size[3];   /* by yk_port_kind; 0: such ports have none */
    bool by_default;
} quantity;

#define AT(member) offsetof(yk_port_value, member)
static const quantity quantities[] = {
    {"position", "m", AT(motion.position), {1, 3, 0}, true},
    {"orientation", NULL, AT(motion.orientation), {0, 4, 0}, true},
    {"velocity", "m/s", AT(motion.velocity), {1, 3, 0}, true},
    {"angular_velocity", "rad/s", AT(motion.angular_velocity), {0, 3, 0}, true},
    {"acceleration", "m/s^2", AT(motion.acceleration), {1, 3, 0}, false},
    {"angular_acceleration", "rad/s^2", AT(motion.angular_acceleration), {0, 3, 0}, false},
    {"force", "N", AT(wrench.force), {1, 3, 0}, true},
    {"torque", "N m", AT(wrench.torque), {0, 3, 0}, true},
    {"wrench", "N, N m", AT(wrench), {0, 6, 0}, false},
    {"value", NULL, AT(motion.position), {0, 0, 1}, true},
};
enum { QUANTITY_COUNT = sizeof quantities / sizeof *quantities };
_Static_assert(sizeof(yk_wrench) == 6 * sizeof(double), "a wrench is six doubles in a row");

static const struct {
    const char *name, *unit;
    bool marker_only;
} gaps[] = {{"gap", "m", false},
            {"gap_rotation", "rad", true},
            {"gap_velocity", "m/s", false},
            {"gap_angular_velocity", "rad/s", true}};
_Static_assert(sizeof(yk_interface_error) == 4 * sizeof(double),
               "the gaps are four doubles in a row");

static const char *const energies[] = {"kinetic", "potential", "dissipated", "work"};
_Static_assert(offsetof(yk_energy, port_work) == 4 * sizeof(double),
               "the four energies are doubles in a row");

/* A channel that is being read. */
typedef struct request {
    yk_scenario *scenario;
    const yk_node *node; /* for messages */
    yk_channel_row row;
    const char *unit;
    bool found;
} request;

/* Words for messages about what could stand in a place. */
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
    const char *nearest = yk_word_meant(word, c->words);
    char list[400] = "";
    size_t used = 0;
    for (int i = 0; i < c->count && used < sizeof list; i++)
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", c->words[i]);
    yk_diagnostics *diagnostics = q->scenario->resolver.diagnostics;
    if (nearest)
        yk_node_error(diagnostics, q->node, "unknown %s '%.60s'; did you mean '%s'?", what, word,
                      nearest);
    else
        yk_node_error(diagnostics, q->node, "unknown %s '%.60s'; expected %s", what, word, list);
}

static void found(request *q, yk_channel_kind kind, int place, int part, const char *unit)
{
    q->row.kind = kind;
    q->row.subsystem = place;
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
    return text[length] == '.' ? text + length + 1 : text[length] ? NULL : text + length;
}

/* Narrows the row of `size` doubles to the component that is named; nothing to do for "". */
static bool pick_component(request *q, const char *component, int size)
{
    static const char *const letters[] = {"x", "y", "z", "rx", "ry", "rz"};
    static const char *const quaternion[] = {"w", "x", "y", "z"};
    q->row.components = size;
    if (!component[0])
        return true;
    candidates c = {.count = 0};
    for (int i = 0; i < size && i < 6 && size > 1; i++)
        add_candidate(&c, size == 4 ? quaternion[i] : letters[i]);
    for (int i = 0; i < c.count; i++) {
        if (strcmp(component, c.words[i]) != 0)
            continue;
        q->row.offset += i;
        q->row.components = 1;
        return true;
    }
    if (c.count)
        report_unknown(q, "component", component, &c);
    else
        yk_node_error(q->scenario->resolver.diagnostics, q->node,
                      "is a single number; remove '.%.60s'", component);
    return false;
}

/* "position", "velocity.x": of a port of the given kind; false if the word is none of them. */
static bool match_quantity(request *q, const char *text, int subsystem, int port, yk_port_kind kind)
{
    for (int i = 0; i < QUANTITY_COUNT; i++) {
        const quantity *row = &quantities[i];
        int size = row->size[kind];
        const char *component = size ? after(text, row->name) : NULL;
        if (!component)
            continue;
        q->row.offset = (int)(row->offset / sizeof(double));
        if (pick_component(q, component, size))
            found(q, YK_CHANNEL_PORT, subsystem, port, row->unit);
        return true;
    }
    return false;
}

static void add_quantities(candidates *c, yk_port_kind kind)
{
    for (int i = 0; i < QUANTITY_COUNT; i++)
        if (quantities[i].size[kind])
            add_candidate(c, quantities[i].name);
}

static const yk_port *port_at(const yk_scenario *scenario, int subsystem, int port)
{
    const yk_port *ports;
    const yk_subsystem *object = scenario->info.subsystems[subsystem];
    object->ops->ports(object, &ports);
    return &ports[port];
}

static void read_of_interface(request *q, int interface, const char *text)
{
    const yk_interface_def *def = &q->scenario->interfaces[interface];
    yk_port_kind kind = port_at(q->scenario, def->wrench_subsystem, def->wrench_port)->kind;
    if (match_quantity(q, text, def->wrench_subsystem, def->wrench_port, kind))
        return;
    candidates c = {.count = 0};
    add_quantities(&c, kind);
    for (int i = 0; i < 4; i++) {
        if (gaps[i].marker_only && kind == YK_PORT_SCALAR)
            continue;
        add_candidate(&c, gaps[i].name);
        if (strcmp(text, gaps[i].name) != 0)
            continue;
        q->row.offset = i;
        q->row.components = 1;
        found(q, YK_CHANNEL_GAP, interface, 0, gaps[i].unit);
        return;
    }
    add_candidate(&c, "energy_created");
    if (strcmp(text, "energy_created") == 0) {
        q->row.components = 1;
        found(q, YK_CHANNEL_CREATED, interface, 0, "J");
        return;
    }
    report_unknown(q, "quantity", text, &c);
}

static void read_energy(request *q, int subsystem, const char *which)
{
    candidates c = {.count = 0};
    q->row.components = which[0] ? 1 : 4;
    for (int i = 0; i < 4 && which[0]; i++) {
        add_candidate(&c, energies[i]);
        if (strcmp(which, energies[i]) != 0)
            continue;
        q->row.offset = i;
        which = "";
    }
    if (which[0])
        report_unknown(q, "energy", which, &c);
    else
        found(q, YK_CHANNEL_ENERGY, subsystem, 0, "J");
}

static bool match_channel(request *q, int subsystem, const char *text, candidates *c)
{
    const yk_subsystem *object = q->scenario->info.subsystems[subsystem];
    const yk_channel *channels;
    int count = object->ops->channels ? object->ops->channels->list(object, &channels) : 0;
    for (int i = 0; i < count; i++) {
        add_candidate(c, channels[i].name);
        const char *component = after(text, channels[i].name);
        if (!component)
            continue;
        q->row.channel_size = channels[i].components;
        if (pick_component(q, component, channels[i].components))
            found(q, YK_CHANNEL_OF_SUBSYSTEM, subsystem, i, channels[i].unit);
        return true;
    }
    return false;
}

static void read_of_port(request *q, int subsystem, int port, const yk_port *what, const char *text)
{
    if (!text[0] && what->kind == YK_PORT_SIGNAL)
        text = "value";
    if (match_quantity(q, text, subsystem, port, what->kind))
        return;
    candidates c = {.count = 0};
    add_quantities(&c, what->kind);
    if (text[0])
        report_unknown(q, "quantity", text, &c);
    else
        yk_node_error(q->scenario->resolver.diagnostics, q->node,
                      "is a port; add a quantity, such as .position or .force");
}

static void read_of_subsystem(request *q, int subsystem, const char *text)
{
    const yk_subsystem *object = q->scenario->info.subsystems[subsystem];
    if (!object)
        return; /* its section has mistakes of its own */
    candidates c = {.count = 0};
    const yk_port *ports;
    const char *beyond =
        NULL; /* of the port with the longest name that fits: that of another may begin with it */
    int count = object->ops->ports(object, &ports), port = -1;
    for (int i = 0; i < count; i++) {
        const char *rest = after(text, ports[i].name);
        if (rest && (!beyond || rest > beyond))
            beyond = rest, port = i;
        add_candidate(&c, ports[i].name);
    }
    if (port >= 0 && match_quantity(q, beyond, subsystem, port, ports[port].kind))
        return;
    const char *which = object->ops->energy ? after(text, "energy") : NULL;
    if (which) {
        read_energy(q, subsystem, which);
        return;
    }
    if (match_channel(q, subsystem, text, &c))
        return;
    if (port >= 0) {
        candidates own = {.count = 0};
        add_quantities(&own, ports[port].kind);
        bool channel =
            beyond[0] && !yk_word_meant(beyond, own.words) && yk_word_meant(text, c.words);
        if (channel)
            report_unknown(q, "port or channel", text, &c);
        else
            read_of_port(q, subsystem, port, &ports[port], beyond);
        return;
    }
    if (object->ops->energy)
        add_candidate(&c, "energy");
    char first[64];
    snprintf(first, sizeof first, "%.*s", (int)(strcspn(text, ".") < 63 ? strcspn(text, ".") : 63),
             text);
    report_unknown(q, "port or channel", first, &c);
}

static void read_of_wire(request *q, int wire, const char *text)
{
    candidates c = {.count = 0};
    add_candidate(&c, "value");
    q->row.components = 1;
    if (strcmp(text, "value") == 0)
        found(q, YK_CHANNEL_WIRE, wire, 0, NULL);
    else
        report_unknown(q, "quantity", text, &c);
}

static int find_wire(const yk_scenario *scenario, const char *name)
{
    for (int i = 0; i < scenario->info.wire_count; i++)
        if (strcmp(scenario->wires[i].name, name) == 0)
            return i;
    return -1;
}

static int find_interface(const yk_scenario *scenario, const char *name)
{
    for (int i = 0; i < scenario->info.interface_count; i++)
        if (strcmp(scenario->interfaces[i].name, name) == 0)
            return i;
    return -1;
}

/* An interface or a wire that was given but has mistakes of its own. */
static bool is_broken(const yk_scenario *scenario, const char *section, const char *name)
{
    const yk_node *list = yk_node_get(scenario->root, section);
    for (const yk_node *item = list ? list->first : NULL; item; item = item->next) {
        const char *other = yk_node_name(item);
        if (other && strcmp(other, name) == 0)
            return true;
    }
    return false;
}

static void read_name(request *q, const char *text)
{
    yk_scenario *scenario = q->scenario;
    const yk_scenario_info *info = &scenario->info;
    char place[64];
    const char *dot = strchr(text, '.');
    if (!dot || dot == text || !dot[1]) {
        yk_node_error(scenario->resolver.diagnostics, q->node,
                      "expected interface.quantity or subsystem.port.quantity; found '%.60s'",
                      text);
        return;
    }
    snprintf(place, sizeof place, "%.*s", (int)(dot - text < 63 ? dot - text : 63), text);
    int interface = find_interface(scenario, place), wire = find_wire(scenario, place);
    int subsystem = yk_find_name(info->names, info->subsystem_count, place);
    if (interface >= 0)
        read_of_interface(q, interface, dot + 1);
    else if (subsystem >= 0)
        read_of_subsystem(q, subsystem, dot + 1);
    else if (wire >= 0)
        read_of_wire(q, wire, dot + 1);
    else if (!is_broken(scenario, "interfaces", place) && !is_broken(scenario, "wires", place)) {
        candidates c = {.count = 0};
        for (int i = 0; i < info->interface_count; i++)
            add_candidate(&c, scenario->interfaces[i].name);
        for (int i = 0; i < info->subsystem_count; i++)
            add_candidate(&c, info->names[i]);
        for (int i = 0; i < info->wire_count; i++)
            add_candidate(&c, scenario->wires[i].name);
        report_unknown(q,
                       info->wire_count ? "interface, subsystem or wire" : "interface or subsystem",
                       place, &c);
    }
}

/* The list ------------------------------------------------------------------------------------- */

/* The name as records have it, "tip.position.x"; "tip.position:x" is the same. NULL when out of
 * memory. */
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
    request q = {.scenario = scenario, .node = node};
    name = record_name(scenario, name);
    if (name)
        read_name(&q, name);
    *row = q.row;
    return q.found;
}

/* Reads one name and appends it. The arrays have room. */
static void add_channel(yk_scenario *scenario, const char *name, const yk_node *node)
{
    request q = {.scenario = scenario, .node = node};
    name = record_name(scenario, name);
    if (!name)
        return;
    read_name(&q, name);
    if (!q.found)
        return;
    yk_scenario_info *info = &scenario->info;
    scenario->rows[info->channel_count] = q.row;
    scenario->channels[info->channel_count++] =
        (yk_channel){name, q.unit ? q.unit : "", q.row.components};
    info->sample_size += q.row.components;
}

static bool reserve(yk_scenario *scenario, int count)
{
    scenario->rows = yk_resolver_take(&scenario->resolver, (size_t)count * sizeof *scenario->rows);
    scenario->channels =
        yk_resolver_take(&scenario->resolver, (size_t)count * sizeof *scenario->channels);
    scenario->info.channels = scenario->channels;
    return scenario->rows && scenario->channels;
}

/* A name that lives as long as the scenario, made of up to three parts. */
static void add_made(yk_scenario *scenario, const char *place, const char *port, const char *what)
{
    size_t bytes = strlen(place) + strlen(port) + strlen(what) + 3;
    char *name = yk_resolver_take(&scenario->resolver, bytes);
    if (!name)
        return;
    snprintf(name, bytes, "%s%s%s.%s", place, port[0] ? "." : "", port, what);
    add_channel(scenario, name, scenario->root);
}

static void add_ports(yk_scenario *scenario, int subsystem)
{
    const yk_subsystem *object = scenario->subsystems[subsystem];
    const yk_port *ports;
    int count = object->ops->ports(object, &ports);
    for (int port = 0; port < count; port++)
        for (int i = 0; i < QUANTITY_COUNT; i++)
            if (quantities[i].by_default && quantities[i].size[ports[port].kind])
                add_made(scenario, scenario->names[subsystem], ports[port].name,
                         quantities[i].name);
    if (object->ops->energy)
        add_made(scenario, scenario->names[subsystem], "", "energy");
}

/* All ports, energies and interface errors: what a first look at a scenario needs. */
static void add_defaults(yk_scenario *scenario)
{
    const yk_scenario_info *info = &scenario->info;
    int count = 5 * info->interface_count + info->wire_count;
    for (int i = 0; i < info->subsystem_count; i++) {
        const yk_port *ports;
        const yk_subsystem *object = info->subsystems[i];
        if (!object)
            return;
        count += QUANTITY_COUNT * object->ops->ports(object, &ports) + 1;
    }
    if (!reserve(scenario, count))
        return;
    for (int i = 0; i < info->subsystem_count; i++)
        add_ports(scenario, i);
    for (int i = 0; i < info->interface_count; i++) {
        const yk_interface_def *def = &scenario->interfaces[i];
        bool marker =
            port_at(scenario, def->wrench_subsystem, def->wrench_port)->kind == YK_PORT_MARKER;
        for (int k = 0; k < 4; k++)
            if (marker || !gaps[k].marker_only)
                add_made(scenario, def->name, "", gaps[k].name);
        add_made(scenario, def->name, "", "energy_created");
    }
    for (int i = 0; i < info->wire_count; i++)
        add_made(scenario, scenario->wires[i].name, "", "value");
}

static void reserve_channel(yk_scenario *scenario)
{
    int largest = 0;
    for (int i = 0; i < scenario->info.channel_count; i++)
        if (scenario->rows[i].channel_size > largest)
            largest = scenario->rows[i].channel_size;
    scenario->channel =
        yk_resolver_take(&scenario->resolver, (size_t)largest * sizeof *scenario->channel);
}

static int compare_texts(const void *a, const void *b)
{
    const yk_node *left = *(yk_node *const *)a, *right = *(yk_node *const *)b;
    int order = strcmp(left->text, right->text);
    return order ? order : (left->line > right->line) - (left->line < right->line);
}

/* A record knows its channels by their names. */
static void check_repeated(yk_scenario *scenario, const yk_node *channels)
{
    yk_resolver *r = &scenario->resolver;
    const yk_node **items = yk_resolver_take(r, (size_t)channels->count * sizeof *items);
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

/* Where the results go, if the file's name tells in which format. */
static void read_file(yk_scenario *scenario, const yk_node *record)
{
    const yk_node *file = yk_node_get(record, "file");
    if (!file)
        return;
    if (!yk_record_format_known(file->text))
        yk_node_error(
            scenario->resolver.diagnostics, file,
            "cannot tell the format of '%.60s' by its name; let it end in .h5, .hdf5 or .csv",
            file->text);
    else
        scenario->info.record_file = yk_builder_path(&scenario->builder, record, "file");
}

void yk_scenario_read_channels(yk_scenario *scenario)
{
    yk_resolver *r = &scenario->resolver;
    const yk_node *record = yk_node_get(scenario->root, "record");
    if (!record || record->kind != YK_NODE_MAP)
        return;
    const yk_node *channels = yk_node_get(record, "channels");
    if (record->valid) {
        scenario->info.record_every = yk_node_integer(record, "every");
        scenario->info.record_frames = yk_node_integer(record, "frames");
        read_file(scenario, record);
    }
    if (channels && channels->kind == YK_NODE_LIST && channels->count <= YK_CHANNELS_MAX) {
        if (!reserve(scenario, channels->count))
            return;
        for (const yk_node *node = channels->first; node && !yk_diagnostics_full(r->diagnostics);
             node = node->next)
            if (node->valid)
                add_channel(scenario, node->text, node);
        check_repeated(scenario, channels);
    } else if (!channels && yk_diagnostics_errors(r->diagnostics) == 0) {
        add_defaults(scenario);
    }
    if (r->status == YK_OK)
        reserve_channel(scenario);
}

/* Sampling ------------------------------------------------------------------------------------- */

static const double *read_row(const yk_scenario *scenario, const yk_channel_row *row, double *four)
{
    switch (row->kind) {
    case YK_CHANNEL_PORT:
        return (const double *)yk_system_output(scenario->system, row->subsystem, row->port);
    case YK_CHANNEL_GAP: {
        yk_interface_error error = yk_system_interface_error(scenario->system, row->subsystem);
        return memcpy(four, &error, sizeof error);
    }
    case YK_CHANNEL_ENERGY: {
        yk_energy energy;
        yk_system_energy(scenario->system, row->subsystem, &energy);
        return memcpy(four, &energy, 4 * sizeof *four);
    }
    case YK_CHANNEL_CREATED:
        four[0] = yk_system_interface_statistics(scenario->system, row->subsystem).energy_created;
        return four;
    case YK_CHANNEL_WIRE: four[0] = yk_system_wire(scenario->system, row->subsystem); return four;
    case YK_CHANNEL_OF_SUBSYSTEM:
        yk_system_channel(scenario->system, row->subsystem, row->port, scenario->channel);
        return scenario->channel;
    }
    return four;
}

const char *const *yk_scenario_channel_labels(const yk_scenario *scenario, int channel)
{
    static const char *const axes[] = {"x", "y", "z", "rx", "ry", "rz"};
    const yk_channel_row *row = &scenario->rows[channel];
    if (row->kind == YK_CHANNEL_ENERGY && row->components == 4)
        return energies;
    return row->kind == YK_CHANNEL_PORT && row->components == 6 ? axes : NULL;
}

void yk_scenario_sample(const yk_scenario *scenario, double *values)
{
    for (int i = 0; i < scenario->info.channel_count; i++) {
        const yk_channel_row *row = &scenario->rows[i];
        double four[4];
        const double *from = read_row(scenario, row, four) + row->offset;
        for (int k = 0; k < row->components; k++)
            *values++ = from[k];
    }
}
