/* Systems of FMUs in the format of the standard System Structure and Parameterization, SSP 1.0 and
 * 2.0: a package (.ssp, a ZIP archive) with SystemStructure.ssd, FMUs and parameter sets, or such a
 * description alone (.ssd). Components become subsystems, connections wires; write.c converts in
 * the other direction.
 *
 * The standard has signals only. Ports with power, interfaces between them and the coupling scheme
 * are in an annotation of the system whose type is YK_SSP_ANNOTATION: sections of a scenario in its
 * own syntax, each an element <Section name="..." value="..."/>, with element="..." if it belongs
 * to a component.
 *
 * Nested systems are flattened: each connection is traced back through the connectors of systems to
 * the component that provides the value, and the conversions of units and the linear
 * transformations on the way are combined to one gain and one offset. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "interop/fmi/archive.h"
#include "interop/fmi/description.h"
#include "interop/import/importer.h"
#include "interop/interop.h"
#include "interop/ssp/ssp.h"

const char *const yk_ssp_system_sections[] = {"parameters", "interfaces", "coupling",
                                              "record",     "time.step",  NULL};
const char *const yk_ssp_component_sections[] = {
    "ports",  "max_step", "solver_tolerance", "use_directional_derivatives",
    "run_in", "timeout",  "channels",         "substeps",
    "pose",   "units",    "max_substep",      "log_all",
    NULL};

enum {
    NAME_BYTES = YK_IMPORT_NAME_BYTES,
    TRACE_MAX = 1000,
    DOCUMENTS_MAX = 64,
    DEPTH_MAX = 32,
    BASES = 8
};

/* Exponents in the order of the attributes of <BaseUnit>. */
static const char *const base_names[BASES] = {"kg", "m", "s", "A", "K", "mol", "cd", "rad"};

/* y = gain x + offset */
typedef struct linear {
    double gain, offset;
} linear;

/* A start value of a component. */
typedef struct setting {
    int component;
    int variable;
    double number;
    const char *text; /* of a String; NULL: the number */
} setting;

/* From an output of a component to an input of another. */
typedef struct wire {
    int from, output; /* component and variable */
    int to, input;
    linear l;
} wire;

/* A system or a component. */
typedef struct part {
    const yk_xml_element *xml;
    int system;             /* that it is in; -1: the root */
    const char *name;       /* in that system */
    char label[NAME_BYTES]; /* in the scenario */
    bool component;
    yk_fmi_description description;
} part;

typedef struct reader {
    yk_import *import;
    yk_context *context;
    const yk_import_options *options;
    const yk_xml_element *root;
    char folder[4096]; /* of the description, with a slash or empty */
    part *parts;
    int part_count;
    setting *settings;
    int setting_count;
    wire *wires;
    int wire_count;
    yk_xml *documents[DOCUMENTS_MAX]; /* parameter sets and mappings */
    int document_count;
} reader;

/* Texts ---------------------------------------------------------------------------------------- */

/* Prefixes of names are the document's own choice. */
static bool is(const yk_xml_element *element, const char *name)
{
    return strcmp(yk_xml_local_name(element->name), name) == 0;
}

static const yk_xml_element *child(const yk_xml_element *element, const char *name)
{
    for (const yk_xml_element *c = element ? element->first : NULL; c; c = c->next)
        if (is(c, name))
            return c;
    return NULL;
}

static const yk_xml_element *first_of(const yk_xml_element *element, const char *name)
{
    const yk_xml_element *list = child(element, name);
    if (list)
        return list->first;
    return NULL;
}

/* The value of an attribute, "" if it is missing. */
static const char *text_of(const yk_xml_element *element, const char *name)
{
    const char *value = yk_xml_attribute_of(element, name);
    if (value)
        return value;
    return "";
}

static yk_status number_of(reader *r, const yk_xml_element *element, const char *name,
                           double fallback, double *value)
{
    const char *text = yk_xml_attribute_of(element, name);
    *value = fallback;
    if (!text)
        return YK_OK;

    char *end;
    *value = yk_text_number(text, &end);
    if (end == text || *end || !isfinite(*value))
        return yk_import_fail(r->import, element, "%s is '%.60s', expected a number", name, text);
    return YK_OK;
}

/* In double quotes for YAML. */
static void write_quoted(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < 0x20 || c == 0x7F)
            fprintf(to, "\\x%02X", c);
        else
            fputc(c, to);
    }

    fputc('"', to);
}

/* Units ---------------------------------------------------------------------------------------- */

/* The definition of a unit in the description, or in another document: the exponents of its base
 * units, and the conversion of its values to those. */
static yk_status find_unit(reader *r, const yk_xml_element *document, const char *name,
                           double exponents[BASES], linear *to_base, bool *known)
{
    const yk_xml_element *const places[] = {document, r->root};
    *known = false;
    for (int i = 0; i < 2 && !*known; i++) {
        for (const yk_xml_element *u = first_of(places[i], "Units"); u; u = u->next) {
            const yk_xml_element *base = child(u, "BaseUnit");
            if (strcmp(text_of(u, "name"), name) != 0 || !base)
                continue;

            /* Missing attributes have the defaults of the standard. */
            *known = true;
            yk_status status = number_of(r, base, "factor", 1, &to_base->gain);
            if (status == YK_OK)
                status = number_of(r, base, "offset", 0, &to_base->offset);
            for (int k = 0; k < BASES && status == YK_OK; k++)
                status = number_of(r, base, base_names[k], 0, &exponents[k]);
            if (status == YK_OK && to_base->gain == 0)
                status = yk_import_fail(r->import, base, "the factor of unit '%.60s' is 0", name);
            return status;
        }
    }

    return YK_OK;
}

/* Appends the conversion from one unit to another; units without a name fit all. */
static yk_status convert(reader *r, const yk_xml_element *at, const yk_xml_element *document,
                         const char *from, const char *to, linear *l)
{
    if (!from[0] || !to[0] || strcmp(from, to) == 0)
        return YK_OK;

    /* Both in base units. */
    double exponents[2][BASES] = {{0}};
    linear a = {0};
    linear b = {0};
    bool known_a = false;
    bool known_b = false;
    yk_status status = find_unit(r, document, from, exponents[0], &a, &known_a);
    if (status == YK_OK)
        status = find_unit(r, document, to, exponents[1], &b, &known_b);
    if (status != YK_OK)
        return status;

    if (!known_a || !known_b)
        return yk_import_fail(
            r->import, at,
            "from unit '%.60s' to '%.60s': '%.60s' is not defined; define it under "
            "<Units> with its <BaseUnit>, or say suppressUnitConversion=\"true\"",
            from, to, known_a ? to : from);

    for (int i = 0; i < BASES; i++)
        if (exponents[0][i] != exponents[1][i])
            return yk_import_fail(r->import, at, "units '%.60s' and '%.60s' are of different kinds",
                                  from, to);

    /* y = (a.gain x + a.offset - b.offset) / b.gain */
    double gain = a.gain / b.gain;
    l->offset = gain * l->offset + (a.offset - b.offset) / b.gain;
    l->gain *= gain;
    return YK_OK;
}

/* Appends the linear transformation of a connection or of a mapping. */
static yk_status transform(reader *r, const yk_xml_element *at, linear *l)
{
    for (const yk_xml_element *c = at->first; c; c = c->next) {
        const char *name = yk_xml_local_name(c->name);
        if (strstr(name, "MappingTransformation"))
            return yk_import_fail(r->import, c,
                                  "<%.60s> is not supported; only <LinearTransformation> is", name);
        if (strcmp(name, "LinearTransformation") != 0)
            continue;

        double factor = 1;
        double offset = 0;
        yk_status status = number_of(r, c, "factor", 1, &factor);
        if (status == YK_OK)
            status = number_of(r, c, "offset", 0, &offset);
        if (status != YK_OK)
            return status;
        if (factor == 0)
            return yk_import_fail(r->import, c, "factor is 0, so that nothing would arrive");

        /* After the previous conversion of the value. */
        l->offset = factor * l->offset + offset;
        l->gain *= factor;
    }

    return YK_OK;
}

static bool converts(const yk_xml_element *at)
{
    const char *word = text_of(at, "suppressUnitConversion");
    return strcmp(word, "true") != 0 && strcmp(word, "1") != 0;
}

/* Parts ---------------------------------------------------------------------------------------- */

static int find_part(const reader *r, int system, const char *name)
{
    for (int i = 0; i < r->part_count; i++)
        if (r->parts[i].system == system && i > 0 && strcmp(r->parts[i].name, name) == 0)
            return i;
    return -1;
}

/* The path of a source within the package or next to the description; it must not lead out. */
static yk_status resolve_source(reader *r, const yk_xml_element *at, const char *source,
                                char path[4096])
{
    /* A downloaded package must not access other files of the reader's machine. */
    bool leaves = source[0] == '/' || strncmp(source, "../", 3) == 0 || strstr(source, "/../");
    if (!source[0] || strchr(source, ':') || leaves)
        return yk_import_fail(r->import, at,
                              "source is '%.200s'; expected a file of the package, such as "
                              "resources/model.fmu",
                              source);

    snprintf(path, 4096, "%.2000s%.2000s", r->folder, source);
    if (access(path, R_OK) != 0)
        return yk_import_fail(r->import, at, "source '%.200s' is not in the package", source);
    return YK_OK;
}

/* A system with its contents, nested to any depth. */
static yk_status add_part(reader *r, const yk_xml_element *xml, int system, int depth)
{
    const char *name = text_of(xml, "name");
    if (system >= 0 && !name[0])
        return yk_import_fail(r->import, xml, "<%.60s> has no name", yk_xml_local_name(xml->name));
    if (system >= 0 && find_part(r, system, name) >= 0)
        return yk_import_fail(r->import, xml, "the name '%.60s' occurs twice in its system", name);
    if (depth > DEPTH_MAX)
        return yk_import_fail(r->import, xml, "systems are nested more than %d deep", DEPTH_MAX);

    const part made = {
        .xml = xml, .system = system, .name = name, .component = is(xml, "Component")};
    yk_building *building = &r->import->building;
    int index = yk_building_append(building, &r->parts, &r->part_count, &made, sizeof made);
    if (index == YK_NO_ID)
        return YK_ERROR_MEMORY;

    /* The label: the path from the root, without invalid characters, and different from all others. */
    part *p = &r->parts[index];
    if (system > 0) {
        char path[2 * NAME_BYTES + 200];
        snprintf(path, sizeof path, "%s_%.100s", r->parts[system].label, name);
        yk_import_clean_name(path, "part", p->label);
    } else {
        yk_import_clean_name(name, "part", p->label);
    }

    /* A number makes it unique; then it is compared with all others again. */
    char base[NAME_BYTES];
    snprintf(base, sizeof base, "%s", p->label);
    for (int i = 1, number = 2; i < index; i++) {
        if (strcmp(r->parts[i].label, p->label) != 0)
            continue;

        snprintf(p->label, sizeof p->label, "%.60s_%d", base, number++);
        i = 0;
    }

    if (p->component) {
        const char *type = text_of(xml, "type");
        const char *source = text_of(xml, "source");
        if (type[0] && strcmp(type, "application/x-fmu-sharedlibrary") != 0)
            return yk_import_fail(r->import, xml,
                                  "component '%.60s' is of type '%.60s'; only FMUs "
                                  "(application/x-fmu-sharedlibrary) can be read",
                                  name, type);

        char file[4096];
        yk_status status = resolve_source(r, xml, source, file);
        if (status != YK_OK)
            return status;

        /* The FMU describes its variables and their units, which is all that is needed. */
        char *folder;
        status = yk_archive_unpack(r->context, file, &folder);
        if (status == YK_OK)
            status = yk_fmi_describe(r->context, folder, source, &p->description);
        yk_archive_remove(r->context, folder);
        if (status == YK_OK)
            return YK_OK;

        /* The context keeps one message, which the next failure overwrites. */
        char reason[400];
        snprintf(reason, sizeof reason, "%s", yk_last_message(r->context));
        return yk_import_fail(r->import, xml, "component '%.60s': %s", name, reason);
    }

    /* The list of parts may move while it grows. */
    for (const yk_xml_element *e = first_of(xml, "Elements"); e; e = e->next) {
        yk_status status = YK_OK;
        if (is(e, "Component") || is(e, "System"))
            status = add_part(r, e, index, depth + 1);
        else
            yk_import_add_note(r->import, e, "<%.60s> '%.60s'", yk_xml_local_name(e->name),
                               text_of(e, "name"));
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

static const yk_xml_element *find_connector(const part *p, const char *name)
{
    for (const yk_xml_element *c = first_of(p->xml, "Connectors"); c; c = c->next)
        if (strcmp(text_of(c, "name"), name) == 0)
            return c;
    return NULL;
}

/* The unit of the connector, otherwise that of the FMU. */
static const char *connector_unit(const part *p, const char *name)
{
    const yk_xml_element *connector = find_connector(p, name);
    for (const yk_xml_element *type = connector ? connector->first : NULL; type; type = type->next)
        if (text_of(type, "unit")[0])
            return text_of(type, "unit");

    int variable = p->component ? yk_fmi_find(&p->description, name) : -1;
    if (variable >= 0)
        return p->description.variables[variable].unit;
    return "";
}

static yk_status find_variable(reader *r, const yk_xml_element *at, const part *p, const char *name,
                               int *variable)
{
    char hint[160];
    *variable = yk_fmi_find(&p->description, name);
    if (*variable < 0)
        return yk_import_fail(r->import, at, "the FMU of '%.60s' has no variable '%.100s'%s",
                              p->name, name, yk_fmi_suggest(&p->description, name, hint));
    return YK_OK;
}

/* Parameters ----------------------------------------------------------------------------------- */

/* A number or a text, as in <Real value="1" unit="mm"/>. */
typedef struct parameter_value {
    double number;
    const char *text; /* NULL: the number */
    const char *unit;
    const yk_xml_element *document; /* whose units apply */
    linear after;                   /* a transformation, in the unit of the destination */
} parameter_value;

static yk_status read_value(reader *r, const yk_xml_element *parameter,
                            const yk_xml_element *document, parameter_value *v)
{
    const yk_xml_element *type = parameter->first;
    while (type && is(type, "Annotations"))
        type = type->next;
    if (!type || !yk_xml_attribute_of(type, "value"))
        return yk_import_fail(r->import, parameter, "parameter '%.100s' has no value",
                              text_of(parameter, "name"));

    /* Texts and booleans unchanged. */
    const char *text = text_of(type, "value");
    *v = (parameter_value){.unit = text_of(type, "unit"), .document = document, .after = {1, 0}};
    if (is(type, "String")) {
        v->text = text;
        return YK_OK;
    }

    if (is(type, "Boolean") && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)) {
        v->number = strcmp(text, "true") == 0;
        return YK_OK;
    }

    /* An item of an enumeration that one of the documents lists. */
    const yk_xml_element *const places[] = {document, r->root};
    for (int i = 0; is(type, "Enumeration") && i < 2; i++) {
        for (const yk_xml_element *e = first_of(places[i], "Enumerations"); e; e = e->next) {
            if (strcmp(text_of(e, "name"), text_of(type, "name")) != 0)
                continue;

            for (const yk_xml_element *item = e->first; item; item = item->next)
                if (is(item, "Item") && strcmp(text_of(item, "name"), text) == 0)
                    return number_of(r, item, "value", 0, &v->number);
        }
    }

    return number_of(r, type, "value", 0, &v->number);
}

/* Sets a parameter or start value: of a component by the variable's name; of a system by the path
 * of a part in it, or by a connector whose connections are followed. */
static yk_status apply(reader *r, const yk_xml_element *at, int to, const char *name,
                       parameter_value v, int depth)
{
    const part *p = &r->parts[to];
    if (depth > DEPTH_MAX)
        return yk_import_fail(r->import, at, "connections of '%.100s' go round in a circle", name);

    /* A set may have more values than are used; a note reports values without a destination. */
    if (p->component) {
        int variable = yk_fmi_find(&p->description, name);
        if (variable < 0) {
            char hint[160];
            yk_import_add_note(r->import, at,
                               "the value of '%.60s': '%.60s' has no such variable%s", name,
                               p->name, yk_fmi_suggest(&p->description, name, hint));
            return YK_OK;
        }

        const yk_fmi_variable *target = &p->description.variables[variable];
        linear l = {1, 0};
        yk_status status = YK_OK;
        if (!v.text)
            status = convert(r, at, v.document, v.unit, target->unit, &l);
        if (status == YK_OK && (v.text != NULL) != (target->type == YK_FMI_STRING))
            status = yk_import_fail(r->import, at, "'%.100s' is of type %s", name,
                                    yk_fmi_type_name(target->type));
        if (status == YK_OK && target->size != 1)
            status = yk_import_fail(r->import, at,
                                    "'%.100s' is an array; only single values are read", name);
        if (status != YK_OK)
            return status;

        /* The last value counts. */
        double converted = l.gain * v.number + l.offset;
        setting s = {to, variable, v.after.gain * converted + v.after.offset, v.text};
        for (int i = 0; i < r->setting_count; i++) {
            if (r->settings[i].component != to || r->settings[i].variable != variable)
                continue;

            r->settings[i] = s;
            return YK_OK;
        }

        yk_building *building = &r->import->building;
        yk_building_append(building, &r->settings, &r->setting_count, &s, sizeof s);
        return building->status;
    }

    /* "part.rest" */
    for (int i = 1; i < r->part_count; i++) {
        size_t length = strlen(r->parts[i].name);
        if (r->parts[i].system == to && strncmp(r->parts[i].name, name, length) == 0 &&
            name[length] == '.')
            return apply(r, at, i, name + length + 1, v, depth + 1);
    }

    /* A connector of the system itself: set everything connected to it inside. */
    if (!find_connector(p, name))
        yk_import_add_note(r->import, at,
                           "the value of '%.60s', which is no part or connector of '%.60s'", name,
                           p->name);
    for (const yk_xml_element *c = first_of(p->xml, "Connections"); c; c = c->next) {
        if (text_of(c, "startElement")[0] || strcmp(text_of(c, "startConnector"), name) != 0)
            continue;

        int next = find_part(r, to, text_of(c, "endElement"));
        if (next < 0)
            continue; /* reported with the connections */

        /* In the connector's unit from here on, where it has one. */
        parameter_value carried = v;
        yk_status status = YK_OK;
        const char *unit_here = connector_unit(p, name);
        if (unit_here[0] && !v.text) {
            linear l = {1, 0};
            status = convert(r, c, v.document, v.unit, unit_here, &l);
            double converted = l.gain * v.number + l.offset;
            carried.number = v.after.gain * converted + v.after.offset;
            carried.unit = unit_here;
            carried.after = (linear){1, 0};
        }

        if (status == YK_OK && !v.text)
            status = transform(r, c, &carried.after);
        /* A number without a unit fits every unit. */
        if (!converts(c))
            carried.unit = "";
        if (status == YK_OK)
            status = apply(r, at, next, text_of(c, "endConnector"), carried, depth + 1);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

/* The document named by an attribute, or the element inside. */
static yk_status open_document(reader *r, const yk_xml_element *at, const yk_xml_element *holder,
                               const char *inside, const yk_xml_element **document)
{
    *document = NULL;
    const char *source = text_of(at, "source");
    if (!source[0]) {
        for (const yk_xml_element *c = holder ? holder->first : NULL; c; c = c->next)
            if (is(c, inside))
                *document = c;
        return YK_OK;
    }

    char path[4096];
    yk_status status = resolve_source(r, at, source, path);
    if (status == YK_OK && r->document_count == DOCUMENTS_MAX)
        status = yk_import_fail(r->import, at, "more than %d parameter sets and mappings",
                                DOCUMENTS_MAX);
    /* Notes name the file after its document is gone. */
    const char *kept = NULL;
    if (status == YK_OK)
        kept = yk_import_keep_name(r->import, path);
    if (status == YK_OK && !kept)
        status = YK_ERROR_MEMORY;
    if (status == YK_OK)
        status = yk_xml_read(r->context, kept, &r->documents[r->document_count]);
    if (status != YK_OK)
        return status;

    yk_xml_element *root = yk_xml_root(r->documents[r->document_count++]);
    if (!is(root, inside))
        return yk_import_fail(r->import, root, "the root is <%.60s>, expected <%s>", root->name,
                              inside);
    *document = root;
    return YK_OK;
}

/* One binding: the values of a parameter set, under their names or those of a mapping. */
static yk_status bind(reader *r, int to, const yk_xml_element *binding)
{
    /* The values, and the requested names. */
    const yk_xml_element *set;
    const yk_xml_element *mapping = NULL;
    yk_status status =
        open_document(r, binding, child(binding, "ParameterValues"), "ParameterSet", &set);
    const yk_xml_element *mapped = child(binding, "ParameterMapping");
    if (status == YK_OK && mapped)
        status = open_document(r, mapped, mapped, "ParameterMapping", &mapping);

    /* The entries may also be in the outer element itself. */
    if (mapped && !mapping)
        mapping = mapped;
    if (status != YK_OK)
        return status;
    if (!set)
        return yk_import_fail(r->import, binding,
                              "a parameter binding has neither a source nor <ParameterValues>");

    /* One value after another. */
    const char *prefix = text_of(binding, "prefix");
    for (const yk_xml_element *e = first_of(set, "Parameters"); e; e = e->next) {
        const char *name = text_of(e, "name");
        parameter_value v;
        status = read_value(r, e, set, &v);

        /* Under the names of the mapping, of which there may be several, otherwise under its own. */
        bool renamed = false;
        for (const yk_xml_element *m = mapping ? mapping->first : NULL; m && status == YK_OK;
             m = m->next) {
            if (!is(m, "MappingEntry") || strcmp(text_of(m, "source"), name) != 0)
                continue;

            renamed = true;
            parameter_value other = v;
            if (!v.text)
                status = transform(r, m, &other.after);
            if (!converts(m))
                other.unit = "";

            char target[600];
            snprintf(target, sizeof target, "%.250s%.250s", prefix, text_of(m, "target"));
            if (status == YK_OK)
                status = apply(r, m, to, target, other, 0);
        }

        if (status == YK_OK && !renamed) {
            char target[600];
            snprintf(target, sizeof target, "%.250s%.250s", prefix, name);
            status = apply(r, e, to, target, v, 0);
        }

        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

/* Connections ---------------------------------------------------------------------------------- */

/* The connection of a system that ends at a connector of a part in it, or of its own (part -1). */
static const yk_xml_element *find_connection(const reader *r, int system, int to, const char *name)
{
    for (const yk_xml_element *c = first_of(r->parts[system].xml, "Connections"); c; c = c->next) {
        const char *element = text_of(c, "endElement");
        const char *wanted = to < 0 ? "" : r->parts[to].name;
        if (is(c, "Connection") && strcmp(element, wanted) == 0 &&
            strcmp(text_of(c, "endConnector"), name) == 0)
            return c;
    }

    return NULL;
}

/* Traces an input of a component back to its source; *from is -1 if there is none. */
static yk_status trace(reader *r, int component, const char *input, int *from, const char **output,
                       linear *whole, const yk_xml_element **last)
{
    int at = component;
    int system = r->parts[component].system;
    bool own = false; /* the connector is the system's, seen from inside */
    const char *name = input;
    *from = -1;
    *whole = (linear){1, 0};

    for (int steps = 0; steps < TRACE_MAX; steps++) {
        /* One connection back; if there is none, the input has no source. */
        const yk_xml_element *c = find_connection(r, system, own ? -1 : at, name);
        if (!c)
            return YK_OK;
        *last = c;

        /* The part at which it starts, or the enclosing system. */
        const char *start = text_of(c, "startElement");
        const char *connector = text_of(c, "startConnector");
        int source = system;
        if (start[0])
            source = find_part(r, system, start);
        if (source < 0)
            return yk_import_fail(r->import, c, "startElement '%.60s' is no part of '%.60s'", start,
                                  r->parts[system].name);

        /* The conversion by this connection, applied before those that follow. */
        linear l = {1, 0};
        yk_status status = YK_OK;
        const part *end = &r->parts[own ? system : at];
        if (converts(c))
            status = convert(r, c, NULL, connector_unit(&r->parts[source], connector),
                             connector_unit(end, name), &l);
        if (status == YK_OK)
            status = transform(r, c, &l);
        if (status != YK_OK)
            return status;

        whole->offset += whole->gain * l.offset;
        whole->gain *= l.gain;

        /* A component is the source; a system passes the value on. */
        name = connector;
        if (r->parts[source].component) {
            *from = source;
            *output = connector;
            return YK_OK;
        }

        /* Continue into the system that provides it, or out to the enclosing one. */
        if (start[0]) {
            own = true;
            system = source;
        } else {
            own = false;
            at = system;
            system = r->parts[system].system;
            if (system < 0)
                return YK_OK;
        }
    }

    return yk_import_fail(r->import, *last, "connections go round in a circle");
}

/* Annotation ----------------------------------------------------------------------------------- */

/* A section of the annotation; NULL if it is missing. */
static const char *find_section(const reader *r, const char *element, const char *name)
{
    const yk_xml_element *system = r->parts[0].xml;
    for (const yk_xml_element *a = first_of(system, "Annotations"); a; a = a->next) {
        if (strcmp(text_of(a, "type"), YK_SSP_ANNOTATION) != 0)
            continue;

        for (const yk_xml_element *s = first_of(a, "Coupling"); s; s = s->next)
            if (strcmp(text_of(s, "element"), element) == 0 &&
                strcmp(text_of(s, "name"), name) == 0)
                return text_of(s, "value");
    }

    return NULL;
}

/* Check that all names refer to existing objects. */
static yk_status check_names(reader *r)
{
    /* Sections of the annotation, which belong to the whole or to a component. */
    for (int i = 0; i < r->part_count; i++) {
        const part *p = &r->parts[i];
        for (const yk_xml_element *a = first_of(p->xml, "Annotations"); a; a = a->next) {
            if (strcmp(text_of(a, "type"), YK_SSP_ANNOTATION) != 0)
                continue;
            if (i > 0)
                return yk_import_fail(r->import, a,
                                      "the annotation " YK_SSP_ANNOTATION
                                      " belongs to the outermost system");

            for (const yk_xml_element *s = first_of(a, "Coupling"); s; s = s->next) {
                const char *element = text_of(s, "element");
                const char *name = text_of(s, "name");

                /* A connector of an existing component, or of the whole system. */
                bool known = false;
                for (int k = 1; k < r->part_count; k++)
                    known =
                        known || (r->parts[k].component && strcmp(r->parts[k].label, element) == 0);
                if (element[0] && !known)
                    return yk_import_fail(r->import, s, "there is no component '%.60s'", element);

                /* Its name must be in the list, so that no other key gets into the scenario. */
                const char *const *list = yk_ssp_system_sections;
                if (element[0])
                    list = yk_ssp_component_sections;
                while (*list && strcmp(*list, name) != 0)
                    list++;
                if (!*list || !text_of(s, "value")[0])
                    return yk_import_fail(r->import, s,
                                          "'%.60s' is no section of this annotation, or has no "
                                          "value",
                                          name);
            }
        }
    }

    /* Both ends of every connection: a part of the system, or the system itself. */
    for (int i = 0; i < r->part_count; i++) {
        for (const yk_xml_element *c = first_of(r->parts[i].xml, "Connections");
             c && !r->parts[i].component; c = c->next) {
            static const char *const ends[2][2] = {{"startElement", "startConnector"},
                                                   {"endElement", "endConnector"}};
            for (int k = 0; k < 2 && is(c, "Connection"); k++) {
                const char *element = text_of(c, ends[k][0]);
                const char *connector = text_of(c, ends[k][1]);

                int index = i;
                if (element[0])
                    index = find_part(r, i, element);
                if (index < 0)
                    return yk_import_fail(r->import, c, "%s '%.60s' is no part of '%.60s'",
                                          ends[k][0], element, r->parts[i].name);

                /* Every variable of a component can be an end, even without a connector. */
                const part *p = &r->parts[index];
                int variable;
                yk_status status = YK_OK;
                if (p->component)
                    status = find_variable(r, c, p, connector, &variable);
                else if (!find_connector(p, connector))
                    status = yk_import_fail(r->import, c, "'%.60s' is no connector of '%.60s'",
                                            connector, p->name);
                if (status != YK_OK)
                    return status;
            }
        }
    }

    return YK_OK;
}

/* A value of the annotation on one line. */
static void write_section(FILE *to, const char *value, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (value[i] == '\n' || value[i] == '\r')
            fputc(' ', to);
        else
            fputc(value[i], to);
    }
}

/* The scenario --------------------------------------------------------------------------------- */

/* The sources of all inputs of components. */
static yk_status find_wires(reader *r)
{
    for (int i = 1; i < r->part_count; i++) {
        part *p = &r->parts[i];
        for (int k = 0; p->component && k < p->description.variable_count; k++) {
            const yk_fmi_variable *v = &p->description.variables[k];
            const yk_xml_element *at = find_connection(r, p->system, i, v->name);
            if (!at)
                continue;

            const char *output = NULL;
            wire w = {.to = i, .input = k};
            yk_status status = trace(r, i, v->name, &w.from, &output, &w.l, &at);
            if (status == YK_OK && w.from >= 0)
                status = find_variable(r, at, &r->parts[w.from], output, &w.output);
            if (status != YK_OK)
                return status;

            /* Values that cannot change from step to step keep their start value. */
            const char *problem = NULL;
            if (w.from < 0)
                problem = "nothing gives its value";
            else if (v->causality != YK_FMI_INPUT)
                problem = "it is no input";
            else if (v->size != 1)
                problem = "it is an array";
            if (problem) {
                yk_import_add_note(r->import, at, "the connection to '%.60s' of '%.60s': %s",
                                   v->name, p->name, problem);
                continue;
            }

            yk_building *building = &r->import->building;
            yk_building_append(building, &r->wires, &r->wire_count, &w, sizeof w);
            if (building->status != YK_OK)
                return building->status;
        }
    }

    return YK_OK;
}

static void write_component(reader *r, FILE *to, int index)
{
    const part *p = &r->parts[index];
    fprintf(to, "  %s:\n    solver: fmu\n    file: ", p->label);
    char path[4200];
    snprintf(path, sizeof path, "%.4000s%s", r->options->mesh_folder, text_of(p->xml, "source"));
    write_quoted(to, path);

    /* The interface type, if an FMU has both and the description specifies one. */
    const char *kind = text_of(p->xml, "implementation");
    if (strcmp(kind, "CoSimulation") == 0)
        fprintf(to, "\n    interface_type: co-simulation");
    if (strcmp(kind, "ModelExchange") == 0)
        fprintf(to, "\n    interface_type: model-exchange");
    fprintf(to, "\n");

    /* Ports with power from the annotation: the text between its braces. */
    const char *own = find_section(r, p->label, "ports");
    const char *begin = own ? strchr(own, '{') : NULL;
    const char *end = own ? strrchr(own, '}') : NULL;
    const char *separator = "    ports: {";
    if (begin && end > begin + 1) {
        fprintf(to, "%s", separator);
        write_section(to, begin + 1, (size_t)(end - begin - 1));
        separator = ",";
    }

    /* Then a signal port at each end of a wire. */
    for (int i = 0; i < p->description.variable_count; i++) {
        bool used = false;
        for (int k = 0; k < r->wire_count; k++) {
            const wire *w = &r->wires[k];
            used = used || (w->from == index && w->output == i);
            used = used || (w->to == index && w->input == i);
        }
        if (!used)
            continue;

        const char *variable = p->description.variables[i].name;
        char name[NAME_BYTES];
        yk_import_clean_name(variable, "port", name);
        fprintf(to, "%s\n      %s: {type: signal, variable: ", separator, name);
        write_quoted(to, variable);
        fprintf(to, "}");
        separator = ",";
    }
    if (separator[0] == ',')
        fprintf(to, "}\n");

    /* The other sections of the annotation. */
    for (int i = 0; yk_ssp_component_sections[i]; i++) {
        const char *name = yk_ssp_component_sections[i];
        const char *value = find_section(r, p->label, name);
        if (value && strcmp(name, "ports") != 0) {
            fprintf(to, "    %s: ", name);
            write_section(to, value, strlen(value));
            fprintf(to, "\n");
        }
    }

    /* Its values. */
    bool head = false;
    for (int i = 0; i < r->setting_count; i++) {
        const setting *s = &r->settings[i];
        if (s->component != index)
            continue;

        if (!head)
            fprintf(to, "    start_values:\n");
        head = true;
        fprintf(to, "      - {variable: ");
        write_quoted(to, p->description.variables[s->variable].name);
        fprintf(to, s->text ? ", string: " : ", value: ");
        if (s->text)
            write_quoted(to, s->text);
        else
            yk_write_number(to, s->number);
        fprintf(to, "}\n");
    }
}

static yk_status write_scenario(reader *r, FILE *to)
{
    const char *title = text_of(r->root, "name");
    if (title[0]) {
        fprintf(to, "title: ");
        write_quoted(to, title);
        fprintf(to, "\n");
    }

    /* Sections to which others may refer come first. */
    const char *parameters = find_section(r, "", "parameters");
    if (parameters) {
        fprintf(to, "parameters: ");
        write_section(to, parameters, strlen(parameters));
        fprintf(to, "\n");
    }

    /* The time of the experiment; the step is the smallest that an FMU requests. */
    double start = 0;
    double end = 1;
    double step = 0;
    const yk_xml_element *experiment = child(r->root, "DefaultExperiment");
    yk_status status = YK_OK;
    if (experiment)
        status = number_of(r, experiment, "startTime", 0, &start);
    if (status == YK_OK && experiment)
        status = number_of(r, experiment, "stopTime", start + 1, &end);
    if (status != YK_OK)
        return status;

    for (int i = 1; i < r->part_count; i++) {
        double own = r->parts[i].description.step_size;
        if (r->parts[i].component && own > 0 && (step == 0 || own < step))
            step = own;
    }

    /* Options have priority, and there is always a value. */
    const char *noted = find_section(r, "", "time.step");
    if (noted)
        step = yk_text_number(noted, NULL);
    if (r->options->step > 0)
        step = r->options->step;
    if (!(step > 0))
        step = 1e-3;
    if (r->options->end > 0)
        end = r->options->end;

    fprintf(to, "time: {start: ");
    yk_write_number(to, start);
    fprintf(to, ", end: ");
    yk_write_number(to, end);
    fprintf(to, ", step: ");
    yk_write_number(to, step);
    fprintf(to, "}\n");

    fprintf(to, "\nsubsystems:\n");
    for (int i = 1; i < r->part_count; i++)
        if (r->parts[i].component)
            write_component(r, to, i);

    /* Wires, with the conversions of their connections. */
    if (r->wire_count > 0)
        fprintf(to, "\nwires:\n");
    for (int i = 0; i < r->wire_count; i++) {
        const wire *w = &r->wires[i];
        const part *from = &r->parts[w->from];
        const part *target = &r->parts[w->to];
        char output[NAME_BYTES];
        char input[NAME_BYTES];
        yk_import_clean_name(from->description.variables[w->output].name, "port", output);
        yk_import_clean_name(target->description.variables[w->input].name, "port", input);

        fprintf(to, "  w%d: {from: %s.%s, to: %s.%s", i + 1, from->label, output, target->label,
                input);
        if (w->l.gain != 1) {
            fprintf(to, ", gain: ");
            yk_write_number(to, w->l.gain);
        }
        if (w->l.offset != 0) {
            fprintf(to, ", offset: ");
            yk_write_number(to, w->l.offset);
        }
        fprintf(to, "}\n");
    }

    /* Coupling, and recording. */
    static const char *const last[] = {"interfaces", "coupling", "record"};
    for (int i = 0; i < 3; i++) {
        const char *value = find_section(r, "", last[i]);
        if (!value)
            continue;

        fprintf(to, "\n%s: ", last[i]);
        write_section(to, value, strlen(value));
        fprintf(to, "\n");
    }

    return YK_OK;
}

static yk_status import_ssp(yk_import *import, const char *path, yk_xml_element *root)
{
    reader r = {
        .import = import, .context = import->context, .options = &import->options, .root = root};
    const char *slash = strrchr(path, '/');
    if (slash)
        snprintf(r.folder, sizeof r.folder, "%.*s", (int)(slash - path) + 1, path);

    /* All versions with this beginning have these elements. */
    const char *version = text_of(root, "version");
    const yk_xml_element *system = child(root, "System");
    if (version[0] != '1' && version[0] != '2')
        return yk_import_fail(import, root, "version is '%.20s'; 1.0 and 2.0 can be read", version);
    if (!system)
        return yk_import_fail(import, root, "there is no <System>");

    /* Parts, values, connections; then it is written in one go. */
    yk_status status = add_part(&r, system, -1, 0);
    if (status == YK_OK)
        status = check_names(&r);

    /* Bindings from the innermost part to the outermost, so that the outermost system has priority. */
    for (int i = r.part_count - 1; i >= 0 && status == YK_OK; i--)
        for (const yk_xml_element *b = first_of(r.parts[i].xml, "ParameterBindings");
             b && status == YK_OK; b = b->next)
            if (is(b, "ParameterBinding"))
                status = bind(&r, i, b);
    if (status == YK_OK)
        status = find_wires(&r);

    /* Notes made while writing precede the text. */
    char *body = NULL;
    char *text = NULL;
    size_t size = 0;
    for (int pass = 0; pass < 2 && status == YK_OK; pass++) {
        FILE *to = open_memstream(pass == 0 ? &body : &text, &size);
        if (!to) {
            status = YK_ERROR_MEMORY;
            break;
        }

        if (pass == 0) {
            status = write_scenario(&r, to);
        } else {
            yk_import_write_notes(import, to);
            fputs(body, to);
        }

        if (fclose(to) != 0 && status == YK_OK)
            status = YK_ERROR_MEMORY;
    }

    free(body);

    /* A summary in one line for the program. */
    int components = 0;
    for (int i = 0; i < r.part_count; i++)
        components += r.parts[i].component;
    snprintf(import->summary, sizeof import->summary, "components %d, wires %d, values %d",
             components, r.wire_count, r.setting_count);

    for (int i = 0; i < r.part_count; i++)
        yk_fmi_forget(r.context, &r.parts[i].description);
    for (int i = 0; i < r.document_count; i++)
        yk_xml_destroy(r.documents[i]);
    yk_free(r.context, r.parts);
    yk_free(r.context, r.settings);
    yk_free(r.context, r.wires);
    if (status != YK_OK) {
        free(text);
        return status;
    }
    import->scenario = text;
    return YK_OK;
}

const yk_import_format yk_ssp_format = {
    .name = "SSP", .root_element = "SystemStructureDescription", .read = import_ssp};
