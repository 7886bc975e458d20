/* From a scenario whose subsystems are FMUs to a package of SSP: components with their connectors
 * and values, wires as connections, and an annotation for everything that the standard does not
 * have. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "interop/fmi/archive.h"
#include "interop/fmi/description.h"
#include "interop/import/xml.h"
#include "interop/ssp/ssp.h"
#include "model/scenario.h"

typedef struct writer {
    yk_context *context;
    const yk_scenario *scenario;
    const yk_scenario_info *info;
    yk_fmi_description *descriptions; /* of each subsystem */
    yk_text text;
} writer;

#define ADD(...) yk_text_add(w->context, &w->text, __VA_ARGS__)

/* An attribute, with the space before it. */
static void add_attribute(writer *w, const char *name, const char *value)
{
    ADD(" %s=\"", name);
    yk_text_add_xml(w->context, &w->text, value);
    ADD("\"");
}

/* Sections of the annotation ------------------------------------------------------------------- */

static void add_scalar(yk_context *context, yk_text *to, const char *text, bool quoted)
{
    static const char safe[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+";
    if (!quoted && text[0] && strspn(text, safe) == strlen(text)) {
        yk_text_add(context, to, "%s", text);
        return;
    }

    /* Otherwise quoted. */
    yk_text_add(context, to, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            yk_text_add(context, to, "\\");
        yk_text_add(context, to, "%c", *text);
    }

    yk_text_add(context, to, "\"");
}

/* A value of the scenario on one line, without defaults; expressions as numbers, because their
 * names may have another meaning elsewhere. */
static void add_flow(yk_context *context, yk_text *to, const yk_node *node)
{
    if (node->kind == YK_NODE_SCALAR) {
        if (node->value_count == 1 && !node->quoted)
            yk_text_add(context, to, "%.17g", node->value);
        else
            add_scalar(context, to, node->text, node->quoted);
        return;
    }

    bool map = node->kind == YK_NODE_MAP;
    const char *separator = "";
    yk_text_add(context, to, map ? "{" : "[");
    for (const yk_node *c = node->first; c; c = c->next) {
        /* A key without a line has its default. */
        if (map && c->line == 0)
            continue;

        yk_text_add(context, to, "%s", separator);
        if (map) {
            add_scalar(context, to, c->key, false);
            yk_text_add(context, to, ": ");
        }

        add_flow(context, to, c);
        separator = ", ";
    }

    yk_text_add(context, to, map ? "}" : "]");
}

static void add_section(writer *w, const char *element, const char *name, const yk_node *node)
{
    if (!node || node->line == 0)
        return;

    yk_text flow = {0};
    add_flow(w->context, &flow, node);
    ADD("          <yoke:Section");
    if (element)
        add_attribute(w, "element", element);
    add_attribute(w, "name", name);
    if (flow.data)
        add_attribute(w, "value", flow.data);
    ADD("/>\n");
    w->text.failed = w->text.failed || flow.failed;
    yk_text_destroy(w->context, &flow);
}

static void add_annotation(writer *w)
{
    const yk_node *root = w->scenario->root;
    ADD("    <ssd:Annotations>\n      <ssc:Annotation type=\"" YK_SSP_ANNOTATION "\">\n"
        "        <yoke:Coupling xmlns:yoke=\"" YK_SSP_ANNOTATION "\">\n");
    /* All are sections of the scenario but the step, which is a key of one. */
    for (int i = 0; yk_ssp_system_sections[i]; i++) {
        const char *name = yk_ssp_system_sections[i];
        if (strcmp(name, "time.step") == 0)
            add_section(w, NULL, name, yk_node_get(yk_node_get(root, "time"), "step"));
        else
            add_section(w, NULL, name, yk_node_get(root, name));
    }

    /* Keys of the subsystems, except ports. */
    for (const yk_node *s = yk_node_items(root, "subsystems"); s; s = s->next)
        for (int i = 0; yk_ssp_component_sections[i]; i++) {
            const char *name = yk_ssp_component_sections[i];
            const yk_node *section = yk_node_get(s, name);
            bool ports = strcmp(name, "ports") == 0;
            if (!section || ports)
                continue;

            add_section(w, yk_node_name(s), name, section);
        }

    /* Ports with power; those of signals follow from the connections. */
    for (const yk_node *s = yk_node_items(root, "subsystems"); s; s = s->next) {
        yk_text flow = {0};
        const char *separator = "{";
        for (const yk_node *p = yk_node_items(s, "ports"); p; p = p->next) {
            if (strcmp(yk_node_text(p, "type"), "signal") == 0)
                continue;

            yk_text_add(w->context, &flow, "%s", separator);
            add_scalar(w->context, &flow, yk_node_name(p), false);
            yk_text_add(w->context, &flow, ": ");
            add_flow(w->context, &flow, p);
            separator = ", ";
        }

        if (flow.data) {
            ADD("          <yoke:Section");
            add_attribute(w, "element", yk_node_name(s));
            add_attribute(w, "name", "ports");
            ADD(" value=\"");
            yk_text_add_xml(w->context, &w->text, flow.data);
            ADD("}\"/>\n");
        }

        w->text.failed = w->text.failed || flow.failed;
        yk_text_destroy(w->context, &flow);
    }

    ADD("        </yoke:Coupling>\n      </ssc:Annotation>\n    </ssd:Annotations>\n");
}

/* Components ----------------------------------------------------------------------------------- */

static const char *type_word(yk_fmi_type type)
{
    if (type == YK_FMI_FLOAT64 || type == YK_FMI_FLOAT32)
        return "Real";
    if (type == YK_FMI_BOOLEAN)
        return "Boolean";
    if (type == YK_FMI_STRING)
        return "String";
    return "Integer";
}

/* The unit, if it is one that is defined below. */
static void add_unit(writer *w, const yk_fmi_variable *v)
{
    if (strcmp(type_word(v->type), "Real") == 0 && yk_fmi_unit_base(v->unit))
        add_attribute(w, "unit", v->unit);
}

static yk_status add_component(writer *w, int index, const yk_node *section)
{
    static const char *const kinds[] = {"any", "CoSimulation", "ModelExchange"};
    const yk_fmi_description *d = &w->descriptions[index];
    ADD("      <ssd:Component");
    add_attribute(w, "name", w->info->subsystem_names[index]);
    ADD(" type=\"application/x-fmu-sharedlibrary\" source=\"resources/%s.fmu\"",
        w->info->subsystem_names[index]);
    ADD(" implementation=\"%s\">\n        <ssd:Connectors>\n",
        kinds[yk_node_choice(section, "interface_type")]);

    /* Inputs and outputs, and the parameters that are set. */
    const yk_node *set = yk_node_items(section, "start_values");
    for (int i = 0; i < d->variable_count; i++) {
        const yk_fmi_variable *v = &d->variables[i];
        bool is_set = false;
        for (const yk_node *item = set; item; item = item->next)
            is_set = is_set || strcmp(yk_node_text(item, "variable"), v->name) == 0;

        /* Other variables are listed only if they are set. */
        const char *kind = NULL;
        if (v->causality == YK_FMI_INPUT)
            kind = "input";
        else if (v->causality == YK_FMI_OUTPUT)
            kind = "output";
        else if (is_set)
            kind = "parameter";
        if (!kind || v->size != 1 || v->type >= YK_FMI_BINARY)
            continue;

        ADD("          <ssd:Connector");
        add_attribute(w, "name", v->name);
        ADD(" kind=\"%s\"><ssc:%s", kind, type_word(v->type));
        add_unit(w, v);
        ADD("/></ssd:Connector>\n");
    }

    ADD("        </ssd:Connectors>\n");

    /* Values set before the start. */
    if (set)
        ADD("        <ssd:ParameterBindings>\n          <ssd:ParameterBinding>\n"
            "            <ssd:ParameterValues>\n              <ssv:ParameterSet version=\"1.0\" "
            "name=\"values\">\n                <ssv:Parameters>\n");
    for (const yk_node *item = set; item; item = item->next) {
        /* It is there: loading the scenario compared all settings with the FMU. */
        const yk_fmi_variable *v = &d->variables[yk_fmi_find(d, yk_node_text(item, "variable"))];
        const yk_node *text = yk_node_get(item, "string");
        const yk_node *number = yk_node_get(item, "value");
        if (!number && !text)
            return yk_fail(
                w->context, YK_ERROR_CAPABILITY,
                "subsystem '%s': the array '%s' cannot be written; parameter sets of SSP "
                "1.0 have single values",
                w->info->subsystem_names[index], v->name);

        ADD("                  <ssv:Parameter");
        add_attribute(w, "name", v->name);
        ADD("><ssv:%s value=\"", type_word(v->type));
        if (text)
            yk_text_add_xml(w->context, &w->text, text->text);
        else if (v->type == YK_FMI_BOOLEAN)
            ADD("%s", number->value != 0 ? "true" : "false");
        else
            ADD("%.17g", number->value);
        ADD("\"");
        add_unit(w, v);
        ADD("/></ssv:Parameter>\n");
    }

    if (set)
        ADD("                </ssv:Parameters>\n              </ssv:ParameterSet>\n"
            "            </ssd:ParameterValues>\n          </ssd:ParameterBinding>\n"
            "        </ssd:ParameterBindings>\n");
    ADD("      </ssd:Component>\n");
    return YK_OK;
}

/* Connections ---------------------------------------------------------------------------------- */

/* The variable of a quantity of a port; NULL if there is none. */
static const char *variable_of(const writer *w, int subsystem, int port, const char *quantity)
{
    const yk_subsystem *object = w->info->subsystems[subsystem];
    const yk_port *ports;
    object->ops->ports(object, &ports);
    const char *name = ports[port].name;

    const yk_node *section = yk_node_at(yk_node_get(w->scenario->root, "subsystems"), subsystem);
    const yk_node *node = NULL;
    for (const yk_node *p = yk_node_items(section, "ports"); p; p = p->next)
        if (strcmp(yk_node_name(p), name) == 0)
            node = p;

    /* Without ports of its own each variable is one. */
    if (!node)
        return name;

    const char *type = yk_node_text(node, "type");
    if (strcmp(type, "signal") == 0)
        return yk_node_text(node, "variable");

    /* "velocity" of a scalar port, "velocity.x" of a marker. */
    char word[64];
    size_t length = strcspn(quantity, ".");
    snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), quantity);
    const yk_node *entry = yk_node_get(node, word);

    /* A reaction has the other sign in the FMU. */
    bool wrench = strcmp(word, "force") == 0 || strcmp(word, "torque") == 0;
    const yk_node *reaction = yk_node_get(node, "reaction");
    if (wrench && reaction && reaction->choice)
        return NULL;

    if (!entry || entry->kind == YK_NODE_SCALAR || quantity[length] != '.')
        return entry && entry->kind == YK_NODE_SCALAR ? entry->text : NULL;

    /* Quaternions begin with their real part. */
    const char *letters = entry->count == 4 ? "wxyz" : "xyz";
    const char *at = strchr(letters, quantity[length + 1]);
    const yk_node *item = at ? yk_node_at(entry, (int)(at - letters)) : NULL;
    if (item && entry->count > 1)
        return item->text;
    return NULL;
}

/* The package ---------------------------------------------------------------------------------- */

static yk_status describe(writer *w, const char *title)
{
    ADD("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ssd:SystemStructureDescription\n"
        "    xmlns:ssd=\"http://ssp-standard.org/SSP1/SystemStructureDescription\"\n"
        "    xmlns:ssc=\"http://ssp-standard.org/SSP1/SystemStructureCommon\"\n"
        "    xmlns:ssv=\"http://ssp-standard.org/SSP1/SystemStructureParameterValues\"\n"
        "    version=\"1.0\"");
    add_attribute(w, "name", title);
    ADD(" generationTool=\"Yoke %s\">\n  <ssd:System name=\"system\">\n    <ssd:Elements>\n",
        yk_version());

    /* The order is that of the standard. */
    yk_status status = YK_OK;
    const yk_node *section = yk_node_items(w->scenario->root, "subsystems");
    for (int i = 0; i < w->info->subsystem_count && status == YK_OK; i++, section = section->next)
        status = add_component(w, i, section);
    if (status != YK_OK)
        return status;

    ADD("    </ssd:Elements>\n");

    /* Wires are connections. */
    if (w->info->wire_count > 0)
        ADD("    <ssd:Connections>\n");

    const yk_node *item = yk_node_items(w->scenario->root, "wires");
    for (int i = 0; i < w->info->wire_count; i++, item = item->next) {
        const yk_wire_def *wire = &w->info->wires[i];
        const yk_subsystem *from = w->info->subsystems[wire->source_subsystem.index];
        const char *output = NULL;

        if (wire->source_port.index < 0) {
            const yk_channel *channels;
            from->ops->channels->list(from, &channels);
            output = channels[wire->source_channel].name;
        } else {
            /* The text after "subsystem.port." */
            const yk_port *ports;
            from->ops->ports(from, &ports);
            const char *text = yk_node_text(item, "from");
            size_t skip = strlen(w->info->subsystem_names[wire->source_subsystem.index]) +
                          strlen(ports[wire->source_port.index].name) + 2;
            const char *quantity = strlen(text) > skip ? text + skip : "";
            output =
                variable_of(w, wire->source_subsystem.index, wire->source_port.index, quantity);
        }

        /* Both ends must be variables. */
        const char *input =
            variable_of(w, wire->target_subsystem.index, wire->target_port.index, "");
        const yk_fmi_description *d = &w->descriptions[wire->source_subsystem.index];
        if (!output || !input || yk_fmi_find(d, output) < 0 || wire->sample_and_hold)
            return yk_fail(w->context, YK_ERROR_CAPABILITY, "wire '%s' cannot be written: %s",
                           wire->name,
                           wire->sample_and_hold ? "SSP has no signals that are held over a step"
                                                 : "its source is no variable of an FMU");

        /* Values are in the units that the wire expects. */
        ADD("      <ssd:Connection");
        add_attribute(w, "startElement", w->info->subsystem_names[wire->source_subsystem.index]);
        add_attribute(w, "startConnector", output);
        add_attribute(w, "endElement", w->info->subsystem_names[wire->target_subsystem.index]);
        add_attribute(w, "endConnector", input);
        ADD(" suppressUnitConversion=\"true\"");
        if (wire->gain == 1 && wire->offset == 0)
            ADD("/>\n");
        else
            ADD("><ssc:LinearTransformation factor=\"%.17g\" offset=\"%.17g\"/></ssd:Connection>\n",
                wire->gain, wire->offset);
    }

    if (w->info->wire_count > 0)
        ADD("    </ssd:Connections>\n");

    add_annotation(w);
    ADD("  </ssd:System>\n");

    /* Units of connectors, each once. */
    ADD("  <ssd:Units>\n");
    for (int i = 0; i < YK_FMI_UNITS; i++)
        if (strcmp(yk_fmi_units[i].ours, yk_fmi_units[i].name) == 0)
            ADD("    <ssc:Unit name=\"%s\"><ssc:BaseUnit %s/></ssc:Unit>\n", yk_fmi_units[i].name,
                yk_fmi_units[i].base);
    ADD("  </ssd:Units>\n  <ssd:DefaultExperiment startTime=\"%.17g\" stopTime=\"%.17g\"/>\n"
        "</ssd:SystemStructureDescription>\n",
        w->info->start, w->info->end);
    return w->text.failed ? YK_ERROR_MEMORY : YK_OK;
}

yk_status yk_ssp_write(yk_context *context, const char *path, const char *const *overrides,
                       int override_count, const char *file)
{
    /* Loaded without diagnostics: the first error is the message. */
    yk_scenario_def load = yk_scenario_default();
    load.path = path;
    load.overrides = overrides;
    load.override_count = override_count;
    yk_scenario *scenario;
    yk_status status = yk_scenario_load(context, &load, NULL, &scenario);
    if (status != YK_OK)
        return status;

    writer w = {.context = context, .scenario = scenario, .info = yk_scenario_get_info(scenario)};
    size_t count = (size_t)w.info->subsystem_count + 1;
    char *folder = NULL;
    w.descriptions = yk_allocate(context, count, sizeof *w.descriptions);
    if (!w.descriptions)
        status = YK_ERROR_MEMORY;

    /* The name of the system is the scenario's title, or its file. */
    const char *title = w.info->title;
    const char *slash = strrchr(path, '/');
    if (!title[0])
        title = slash ? slash + 1 : path;

    /* All files in a folder, which is packed at the end. */
    if (status == YK_OK)
        status = yk_archive_folder(context, &folder);

    /* The file of each subsystem, which must be an FMU, and its description. */
    const yk_node *section = yk_node_items(scenario->root, "subsystems");
    for (int i = 0; i < w.info->subsystem_count && status == YK_OK; i++, section = section->next) {
        const char *name = w.info->subsystem_names[i];
        if (strcmp(yk_node_text(section, "solver"), "fmu") != 0) {
            status = yk_fail(context, YK_ERROR_CAPABILITY,
                             "subsystem '%s' is no FMU, and a package of SSP is made of FMUs; "
                             "export it as one first",
                             name);
            break;
        }

        /* From the scenario's folder into the package. */
        const char *fmu = yk_node_text(section, "file");
        char whole[4096];
        char inside[200];
        snprintf(whole, sizeof whole, "%.2000s%.2000s",
                 fmu[0] == '/' ? "" : scenario->builder.folder, fmu);
        snprintf(inside, sizeof inside, "resources/%.150s.fmu", name);
        status = yk_archive_put_file(context, folder, inside, whole);

        char *unpacked = NULL;
        if (status == YK_OK)
            status = yk_archive_unpack(context, whole, &unpacked);
        if (status == YK_OK)
            status = yk_fmi_describe(context, unpacked, whole, &w.descriptions[i]);
        yk_archive_remove(context, unpacked);
    }

    /* The description of the system, and all of it in one archive. */
    if (status == YK_OK)
        status = describe(&w, title);
    if (status == YK_OK)
        status = yk_archive_put_text(context, folder, YK_SSP_DESCRIPTION, w.text.data);
    if (status == YK_OK)
        status = yk_archive_pack(context, folder, file);

    yk_text_destroy(context, &w.text);
    yk_archive_remove(context, folder);
    for (size_t i = 0; w.descriptions && i + 1 < count; i++)
        yk_fmi_forget(context, &w.descriptions[i]);
    yk_free(context, w.descriptions);
    yk_scenario_destroy(scenario);
    return status;
}
