/* Reads model descriptions with expat. Document type declarations are rejected, so that there are
 * no entities and no files or addresses to look up. */
#include "interop/fmi/description.h"

#include <errno.h>
#include <expat.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "base/text.h"

enum { DESCRIPTION_BYTES_MAX = 256 << 20, ELEMENTS_MAX = 1 << 24 };

/* Texts ---------------------------------------------------------------------------------------- */

typedef struct reader {
    yk_context *context;
    XML_Parser parser;
    yk_fmi_description *to;
    yk_status status;
    char problem[300];
    bool seen_root;
    bool in_variables, in_structure, in_types;
    bool in_derivatives, in_outputs; /* of the model structure of FMI 2 */
    int last;                        /* variable being read; -1: none */
    const char *type;                /* simple type being read (FMI 2) */

    size_t variable_capacity, state_capacity, terminal_capacity, member_capacity;

    /* Dimensions of arrays are known after all structural parameters have been read. */
    size_t dimension_count, dimension_capacity;
    struct {
        int variable;
        bool fixed;
        uint64_t size;      /* fixed */
        uint32_t reference; /* of the structural parameter otherwise */
    } * dimensions;

    /* Types to which variables refer. */
    size_t declared_count, declared_capacity;
    struct {
        const char *name, *unit;
    } * declared;

    const char *terminal_path[16];
    int terminal_index[16];
    int terminal_depth;
} reader;

static void give_up(reader *r, const char *format, ...) YK_PRINTF(2, 3);

static void give_up(reader *r, const char *format, ...)
{
    /* The first problem is reported, because others may follow from it. */
    if (r->status != YK_OK)
        return;

    va_list arguments;
    va_start(arguments, format);
    yk_format_list(r->problem, sizeof r->problem, format, arguments);
    va_end(arguments);

    r->status = YK_ERROR_INPUT;
    if (r->parser)
        XML_StopParser(r->parser, XML_FALSE);
}

static void out_of_memory(reader *r)
{
    r->status = YK_ERROR_MEMORY;
    XML_StopParser(r->parser, XML_FALSE);
}

/* A copy of a text that lives as long as the description; "" for NULL. */
static const char *keep(reader *r, const char *text)
{
    if (!text || !text[0])
        return "";

    const char *copy = yk_store_text(&r->to->store, text, strlen(text));
    if (copy)
        return copy;

    out_of_memory(r);
    return "";
}

/* Another element at the end of an array; false: memory is missing. */
static bool grow(reader *r, void **array, size_t count, size_t *capacity, size_t size)
{
    if (r->status != YK_OK)
        return false;
    if (count < *capacity)
        return true;

    size_t more = 32;
    if (*capacity > 0)
        more = 2 * *capacity;
    void *grown = yk_reallocate(r->context, *array, more, size);
    if (!grown) {
        out_of_memory(r);
        return false;
    }

    *array = grown;
    *capacity = more;
    return true;
}

/* Attributes ----------------------------------------------------------------------------------- */

static const char *attribute(const char **list, const char *name)
{
    for (; *list; list += 2)
        if (strcmp(list[0], name) == 0)
            return list[1];
    return NULL;
}

static bool truth(const char **list, const char *name)
{
    const char *text = attribute(list, name);
    return text && (strcmp(text, "true") == 0 || strcmp(text, "1") == 0);
}

/* A number, or the fallback if it is missing or invalid. */
static double number(const char **list, const char *name, double fallback)
{
    const char *text = attribute(list, name);
    if (!text)
        return fallback;

    char *end;
    double value = yk_text_number(text, &end);
    if (end == text)
        return fallback;
    return value;
}

static uint32_t whole(reader *r, const char **list, const char *name)
{
    const char *text = attribute(list, name);
    if (!text)
        text = "missing";

    char *end = NULL;
    unsigned long long value = strtoull(text, &end, 10);
    if (end == text || *end || value > UINT32_MAX) {
        give_up(r, "%s is '%.40s', expected a whole number", name, text);
        return 0;
    }

    return (uint32_t)value;
}

/* Elements ------------------------------------------------------------------------------------- */

static const char *const type_names[] = {
#define TYPE_NAME(name, text) text,
    YK_FMI_TYPE_LIST(TYPE_NAME)
#undef TYPE_NAME
};
static const char *const causality_names[] = {
    "local",      "input", "output", "parameter", "calculatedParameter", "structuralParameter",
    "independent"};

const char *yk_fmi_type_name(yk_fmi_type type)
{
    return type_names[type];
}

const char *yk_fmi_causality_name(yk_fmi_causality causality)
{
    return causality_names[causality];
}

bool yk_fmi_type_is_number(yk_fmi_type type)
{
    return type <= YK_FMI_BOOLEAN;
}

/* The type of an element of either version; -1: it is not a variable. */
static int type_of_element(int version, const char *element)
{
    /* The names of FMI 2 for the two types of FMI 3 that they are here. */
    if (version == 2 && strcmp(element, "Real") == 0)
        return YK_FMI_FLOAT64;
    if (version == 2 && strcmp(element, "Integer") == 0)
        return YK_FMI_INT32;

    for (int i = 0; i < YK_FMI_TYPE_COUNT; i++)
        if (strcmp(element, type_names[i]) == 0)
            return i;
    return -1;
}

static void read_root(reader *r, const char **list)
{
    yk_fmi_description *d = r->to;
    const char *version = attribute(list, "fmiVersion");
    if (!version) {
        give_up(r, "fmiVersion is missing");
        return;
    }

    /* Minor versions of 3 add to it; there is only one of 2. */
    d->version_text = keep(r, version);
    if (strcmp(version, "2.0") == 0) {
        d->version = 2;
    } else if (strncmp(version, "3.", 2) == 0) {
        d->version = 3;
    } else {
        give_up(r, "it is an FMU of FMI %.20s; versions 2.0 and 3.0 can be used", version);
        return;
    }

    /* The token that the binary requires: it shows that description and binary belong together. */
    const char *token_name = "instantiationToken";
    if (d->version == 2)
        token_name = "guid";
    const char *token = attribute(list, token_name);
    if (!token)
        give_up(r, "%s is missing", token_name);

    /* Texts that are absent are empty. */
    d->model_name = keep(r, attribute(list, "modelName"));
    d->description = keep(r, attribute(list, "description"));
    d->tool = keep(r, attribute(list, "generationTool"));
    d->token = keep(r, token);
    d->indicator_count = (int)number(list, "numberOfEventIndicators", 0);
}

static void read_kind(reader *r, const char **list, yk_fmi_capabilities *c)
{
    /* It becomes a part of the path of the binary, and must not lead elsewhere. */
    const char *identifier = attribute(list, "modelIdentifier");
    if (!identifier || !identifier[0] || strchr(identifier, '/')) {
        give_up(r, "modelIdentifier is '%.60s', expected the name of a binary",
                identifier ? identifier : "missing");
        return;
    }

    /* Capabilities that are not mentioned are missing. */
    c->identifier = keep(r, identifier);
    c->needs_tool = truth(list, "needsExecutionTool");
    c->variable_step = truth(list, "canHandleVariableCommunicationStepSize");
    c->interpolates_inputs = truth(list, "canInterpolateInputs");
    c->output_derivatives = (int)number(list, "maxOutputDerivativeOrder", 0);
    c->adjoint = truth(list, "providesAdjointDerivatives");
    c->event_mode = truth(list, "hasEventMode");
    c->early_return = truth(list, "mightReturnEarlyFromDoStep") ||
                      truth(list, "canReturnEarlyAfterIntermediateUpdate");
    c->intermediate_update = truth(list, "providesIntermediateUpdate");
    c->internal_step = number(list, "fixedInternalStepSize", 0);

    /* Attributes with different spellings in the two versions. */
    if (r->to->version == 3) {
        const char *needed = attribute(list, "needsCompletedIntegratorStep");
        c->completed_step_unused = needed && strcmp(needed, "false") == 0;
        c->state = truth(list, "canGetAndSetFMUState");
        c->serialises = truth(list, "canSerializeFMUState");
        c->directional = truth(list, "providesDirectionalDerivatives");
    } else {
        c->completed_step_unused = truth(list, "completedIntegratorStepNotNeeded");
        c->state = truth(list, "canGetAndSetFMUstate");
        c->serialises = truth(list, "canSerializeFMUstate");
        c->directional = truth(list, "providesDirectionalDerivative");
    }
}

/* Attributes of variables that both versions share. */
static void begin_variable(reader *r, const char **list)
{
    yk_fmi_description *d = r->to;
    if (!grow(r, (void **)&d->variables, (size_t)d->variable_count, &r->variable_capacity,
              sizeof *d->variables))
        return;

    const char *name = attribute(list, "name");
    if (!name || !name[0]) {
        give_up(r, "variable %d has no name", d->variable_count + 1);
        return;
    }

    /* One number, until its dimensions are known. */
    yk_fmi_variable *v = &d->variables[d->variable_count];
    *v = (yk_fmi_variable){
        .name = keep(r, name),
        .description = keep(r, attribute(list, "description")),
        .unit = "",
        .start = "",
        .clocks = "",
        .ticks = "",
        .reference = whole(r, list, "valueReference"),
        .variability = keep(r, attribute(list, "variability")),
        .size = 1,
        .derivative_of = -1,
        .intermediate = truth(list, "intermediateUpdate"),
    };

    /* Without a causality it is local. */
    const char *causality = attribute(list, "causality");
    for (int i = 0; causality && i < YK_FMI_CAUSALITY_COUNT; i++)
        if (strcmp(causality, causality_names[i]) == 0)
            v->causality = (yk_fmi_causality)i;

    r->last = d->variable_count++;
}

/* Attributes of the element of the type: in FMI 2 inside ScalarVariable, in FMI 3 the variable
 * itself. */
static void read_type(reader *r, const char **list, int type)
{
    if (r->last < 0 || r->status != YK_OK)
        return;

    /* The start remains a text, because its meaning depends on the type. */
    yk_fmi_variable *v = &r->to->variables[r->last];
    v->type = (yk_fmi_type)type;
    v->unit = keep(r, attribute(list, "unit"));
    v->start = keep(r, attribute(list, "start"));

    /* The interval of a clock as a number, or as a fraction. */
    double resolution = number(list, "resolution", INFINITY);
    v->clocks = keep(r, attribute(list, "clocks"));
    v->ticks = keep(r, attribute(list, "intervalVariability"));
    v->interval = number(list, "intervalDecimal", number(list, "intervalCounter", 0) / resolution);
    v->shift = number(list, "shiftDecimal", number(list, "shiftCounter", 0) / resolution);

    /* An index or a reference, which is resolved at the end. */
    if (attribute(list, "derivative"))
        v->derivative_of = (int)whole(r, list, "derivative");

    /* The declared type may have a unit instead. */
    const char *declared = attribute(list, "declaredType");
    for (size_t i = 0; declared && !v->unit[0] && i < r->declared_count; i++)
        if (strcmp(r->declared[i].name, declared) == 0)
            v->unit = r->declared[i].unit;
}

static void declare_type(reader *r, const char *name, const char *unit)
{
    if (!grow(r, (void **)&r->declared, r->declared_count, &r->declared_capacity,
              sizeof *r->declared))
        return;

    size_t last = r->declared_count++;
    r->declared[last].name = keep(r, name);
    r->declared[last].unit = keep(r, unit);
}

/* An alias is another variable with the same reference. */
static void add_alias(reader *r, const char **list)
{
    yk_fmi_description *d = r->to;
    const char *name = attribute(list, "name");
    if (r->last < 0 || !name)
        return;
    if (!grow(r, (void **)&d->variables, (size_t)d->variable_count, &r->variable_capacity,
              sizeof *d->variables))
        return;

    /* Everything else is that of the variable. */
    yk_fmi_variable *v = &d->variables[d->variable_count++];
    *v = d->variables[r->last];
    v->name = keep(r, name);

    /* The variable itself is the output. */
    if (v->causality != YK_FMI_INPUT)
        v->causality = YK_FMI_LOCAL;
}

static void add_dimension(reader *r, const char **list)
{
    if (r->last < 0 || !grow(r, (void **)&r->dimensions, r->dimension_count, &r->dimension_capacity,
                             sizeof *r->dimensions))
        return;

    /* A fixed size, or that of a structural parameter, which may come later. */
    const char *start = attribute(list, "start");
    size_t last = r->dimension_count++;
    r->dimensions[last].variable = r->last;
    r->dimensions[last].fixed = start != NULL;
    if (start)
        r->dimensions[last].size = strtoull(start, NULL, 10);
    else
        r->dimensions[last].reference = whole(r, list, "valueReference");
}

/* The derivative of a continuous state: by index from 1 in FMI 2, by reference in FMI 3. */
static void add_state(reader *r, uint32_t key)
{
    /* The variable is known only after all have been read. */
    yk_fmi_description *d = r->to;
    if (!grow(r, (void **)&d->derivatives, (size_t)d->state_count, &r->state_capacity,
              sizeof *d->derivatives))
        return;

    d->derivatives[d->state_count++] = (int)key;
}

static int find_reference(const yk_fmi_description *d, uint32_t reference, yk_fmi_causality only)
{
    for (int i = 0; i < d->variable_count; i++)
        if (d->variables[i].reference == reference &&
            (only == YK_FMI_CAUSALITY_COUNT || d->variables[i].causality == only))
            return i;
    return -1;
}

/* The variables precede the model structure in both versions. */
static void read_dependencies(reader *r, int output, const char **list)
{
    const char *dependencies = attribute(list, "dependencies");
    if (output >= 0 && output < r->to->variable_count && dependencies)
        r->to->variables[output].dependencies = keep(r, dependencies);
}

/* The states, event indicators and dependencies of outputs: FMI 2 lists the derivatives of states as <Unknown> of
 * <Derivatives>, FMI 3 has an element for each of both. */
static void read_structure(reader *r, const char *element, const char **list)
{
    if (r->to->version == 3) {
        if (strcmp(element, "ContinuousStateDerivative") == 0)
            add_state(r, whole(r, list, "valueReference"));
        else if (strcmp(element, "EventIndicator") == 0)
            r->to->indicator_count++;
        else if (strcmp(element, "Output") == 0)
            read_dependencies(
                r, find_reference(r->to, whole(r, list, "valueReference"), YK_FMI_OUTPUT), list);
        return;
    }

    /* <Unknown> also occurs in lists that are not used. */
    if (strcmp(element, "Unknown") != 0) {
        r->in_derivatives = strcmp(element, "Derivatives") == 0;
        r->in_outputs = strcmp(element, "Outputs") == 0;
    } else if (r->in_derivatives) {
        add_state(r, whole(r, list, "index"));
    } else if (r->in_outputs) {
        read_dependencies(r, (int)(whole(r, list, "index") - 1), list);
    }
}

static void XMLCALL begin_element(void *user, const char *element, const char **list)
{
    /* After a failure the rest is skipped. */
    reader *r = user;
    yk_fmi_description *d = r->to;
    if (r->status != YK_OK)
        return;

    /* The version is known before anything else is read. */
    if (!r->seen_root) {
        r->seen_root = true;
        if (strcmp(element, "fmiModelDescription") == 0)
            read_root(r, list);
        else
            give_up(r, "the root is <%.60s>, expected <fmiModelDescription>", element);
        return;
    }

    /* Inside one of the three lists, or at the top level. FMI 2 has the type of a variable in an
     * element of its own, FMI 3 in the name of the element. */
    int type = type_of_element(d->version, element);
    if (r->in_variables) {
        if (d->version == 2 && strcmp(element, "ScalarVariable") == 0)
            begin_variable(r, list);
        else if (d->version == 2 && type >= 0)
            read_type(r, list, type);
        else if (type >= 0) {
            begin_variable(r, list);
            read_type(r, list, type);
        } else if (strcmp(element, "Dimension") == 0) {
            add_dimension(r, list);
        } else if (strcmp(element, "Alias") == 0) {
            add_alias(r, list);
        } else if (strcmp(element, "Start") == 0 && r->last >= 0) {
            d->variables[r->last].start = keep(r, attribute(list, "value"));
        }
    } else if (r->in_structure) {
        read_structure(r, element, list);
    } else if (r->in_types) {
        /* FMI 2: <SimpleType name><Real unit/>; FMI 3: <Float64Type name unit/> */
        if (strcmp(element, "SimpleType") == 0)
            r->type = keep(r, attribute(list, "name"));
        else if (d->version == 2 && r->type && attribute(list, "unit"))
            declare_type(r, r->type, attribute(list, "unit"));
        else if (d->version == 3 && attribute(list, "name") && attribute(list, "unit"))
            declare_type(r, attribute(list, "name"), attribute(list, "unit"));
    } else if (strcmp(element, "CoSimulation") == 0) {
        /* An FMU may support both; the scenario chooses. */
        read_kind(r, list, &d->co_simulation);
    } else if (strcmp(element, "ModelExchange") == 0) {
        read_kind(r, list, &d->model_exchange);
    } else if (strcmp(element, "ScheduledExecution") == 0) {
        d->scheduled = true;
    } else if (strcmp(element, "DefaultExperiment") == 0) {
        d->start_time = number(list, "startTime", NAN);
        d->stop_time = number(list, "stopTime", NAN);
        d->step_size = number(list, "stepSize", NAN);
        d->tolerance = number(list, "tolerance", NAN);
    } else if (strcmp(element, "ModelVariables") == 0) {
        r->in_variables = true;
    } else if (strcmp(element, "ModelStructure") == 0) {
        r->in_structure = true;
    } else if (strcmp(element, "TypeDefinitions") == 0) {
        r->in_types = true;
    } else if (strcmp(element, YK_FMI_ANNOTATION) == 0) {
        /* Properties of FMUs made by Yoke for which the standard has no element. */
        d->input_degree = (int)fmin(number(list, "inputDegree", -1), 3);
        if (attribute(list, "derivativeStride"))
            d->derivative_stride = whole(r, list, "derivativeStride");
    }
}

static void XMLCALL end_element(void *user, const char *element)
{
    reader *r = user;
    if (strcmp(element, "ModelVariables") == 0)
        r->in_variables = false;
    else if (strcmp(element, "ModelStructure") == 0)
        r->in_structure = false;
    else if (strcmp(element, "TypeDefinitions") == 0)
        r->in_types = false;
}

static void XMLCALL refuse_doctype(void *user, const char *name, const char *system,
                                   const char *public, int internal)
{
    /* Declarations allow entities, which can refer to files or grow without limit. */
    (void)name;
    (void)system;
    (void)public;
    (void)internal;
    give_up(user, "it has a document type declaration, which descriptions of models have not");
}

/* After the last element ----------------------------------------------------------------------- */

/* Resolve references between elements: dimensions of arrays by structural parameters, derivatives
 * of variables, and the continuous states. */
static yk_status resolve(reader *r)
{
    yk_fmi_description *d = r->to;

    /* The sizes of arrays: each dimension multiplies. */
    for (size_t i = 0; i < r->dimension_count; i++) {
        yk_fmi_variable *v = &d->variables[r->dimensions[i].variable];
        uint64_t size = r->dimensions[i].size;
        if (!r->dimensions[i].fixed) {
            uint32_t reference = r->dimensions[i].reference;
            int by = find_reference(d, reference, YK_FMI_STRUCTURAL_PARAMETER);
            if (by < 0) {
                give_up(r, "'%.100s' has a dimension by a structural parameter that is not there",
                        v->name);
                return r->status;
            }

            /* Structural parameters keep their start values: none is set here. */
            size = strtoull(d->variables[by].start, NULL, 10);
        }

        /* Both factors are below the limit when they are multiplied, so there is no overflow. */
        if (size > ELEMENTS_MAX || (uint64_t)v->size * size > ELEMENTS_MAX) {
            give_up(r, "'%.100s' has more than %d elements", v->name, ELEMENTS_MAX);
            return r->status;
        }

        v->size *= (int)size;
    }

    /* FMI 2 numbers variables from 1, FMI 3 has references. */
    for (int i = 0; i < d->variable_count; i++) {
        yk_fmi_variable *v = &d->variables[i];
        if (v->derivative_of < 0)
            continue;

        int of = v->derivative_of - 1;
        if (d->version == 3)
            of = find_reference(d, (uint32_t)v->derivative_of, YK_FMI_CAUSALITY_COUNT);
        if (of < 0 || of >= d->variable_count) {
            give_up(r, "'%.100s' is the derivative of a variable that is not there", v->name);
            return r->status;
        }

        v->derivative_of = of;
    }

    /* The model structure names the derivatives; the states are what they are derivatives of. */
    d->states = yk_allocate(r->context, (size_t)d->state_count + 1, sizeof *d->states);
    if (!d->states)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < d->state_count; i++) {
        int key = d->derivatives[i];
        int index = key - 1;
        if (d->version == 3)
            index = find_reference(d, (uint32_t)key, YK_FMI_CAUSALITY_COUNT);
        if (index < 0 || index >= d->variable_count || d->variables[index].derivative_of < 0) {
            give_up(r, "the model structure names a derivative of a state, number %d, that is none",
                    i + 1);
            return r->status;
        }

        d->derivatives[i] = index;
        d->states[i] = d->variables[index].derivative_of;
    }

    return YK_OK;
}

/* Files ---------------------------------------------------------------------------------------- */

/* The whole file; NULL with *missing if it does not exist. */
static yk_status read_whole(yk_context *context, const char *path, char **bytes, size_t *size,
                            bool *missing)
{
    *bytes = NULL;
    *missing = false;
    FILE *stream = yk_regular_open(context, path, YK_ERROR_FILE);
    if (!stream) {
        *missing = errno == ENOENT;
        return YK_ERROR_FILE;
    }

    /* Check the size before allocating: the archive is not trusted. */
    yk_status status = YK_OK;
    fseek(stream, 0, SEEK_END);
    long length = ftell(stream);
    rewind(stream);
    if (length < 0 || length > DESCRIPTION_BYTES_MAX)
        status = yk_fail(context, YK_ERROR_INPUT, "%s has %ld bytes, more than the limit of %d",
                         path, length, DESCRIPTION_BYTES_MAX);

    if (status == YK_OK)
        *bytes = yk_allocate(context, (size_t)length + 1, 1);
    if (status == YK_OK && !*bytes)
        status = YK_ERROR_MEMORY;
    if (status == YK_OK)
        *size = fread(*bytes, 1, (size_t)length, stream);
    status = yk_input_check(context, stream, path, status);
    fclose(stream);
    return status;
}

/* Parses a file of the FMU with the given handlers. */
static yk_status parse(reader *r, const char *folder, const char *name, const char *file,
                       XML_StartElementHandler begin, XML_EndElementHandler end, bool *missing)
{
    char path[4096];
    char *bytes;
    size_t size = 0;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    yk_status status = read_whole(r->context, path, &bytes, &size, missing);
    if (status != YK_OK)
        return status;

    r->parser = XML_ParserCreate(NULL);
    if (!r->parser) {
        yk_free(r->context, bytes);
        return YK_ERROR_MEMORY;
    }

    /* Without declarations of types there are no entities that grow without end. */
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, begin, end);
    XML_SetStartDoctypeDeclHandler(r->parser, refuse_doctype);

    r->status = YK_OK;
    r->problem[0] = '\0';
    r->last = -1;

    /* The line of a problem is where the parser was stopped. */
    enum XML_Status parsed = XML_Parse(r->parser, bytes, (int)size, 1);
    unsigned long line = XML_GetCurrentLineNumber(r->parser);

    /* Errors of the handlers come first: expat only knows that it was stopped. */
    if (r->status == YK_ERROR_INPUT)
        status = yk_fail(r->context, YK_ERROR_INPUT, "%s: %s, line %lu: %s", file, name, line,
                         r->problem);
    else if (r->status != YK_OK)
        status = r->status;
    else if (parsed != XML_STATUS_OK)
        status = yk_fail(r->context, YK_ERROR_INPUT, "%s: %s, line %lu: %s", file, name, line,
                         XML_ErrorString(XML_GetErrorCode(r->parser)));

    XML_ParserFree(r->parser);
    r->parser = NULL;
    yk_free(r->context, bytes);
    return status;
}

/* Terminals ------------------------------------------------------------------------------------ */

static void XMLCALL begin_terminal(void *user, const char *element, const char **list)
{
    reader *r = user;
    yk_fmi_description *d = r->to;
    if (strcmp(element, "Terminal") == 0) {
        int depth = r->terminal_depth++;
        if (depth >= 16) {
            give_up(r, "terminals are nested more than 16 deep");
            return;
        }

        if (!grow(r, (void **)&d->terminals, (size_t)d->terminal_count, &r->terminal_capacity,
                  sizeof *d->terminals))
            return;

        /* A nested terminal is "outer.inner". */
        const char *name = attribute(list, "name");
        if (!name)
            name = "";
        char whole_name[300];
        if (depth > 0)
            snprintf(whole_name, sizeof whole_name, "%s.%s", r->terminal_path[depth - 1], name);
        else
            snprintf(whole_name, sizeof whole_name, "%s", name);
        r->terminal_path[depth] = keep(r, whole_name);
        r->terminal_index[depth] = d->terminal_count;

        /* Its members follow those of the previous terminal. */
        yk_fmi_terminal *terminal = &d->terminals[d->terminal_count++];
        *terminal = (yk_fmi_terminal){
            .name = r->terminal_path[depth],
            .kind = keep(r, attribute(list, "terminalKind")),
        };

        if (d->terminal_count > 1) {
            const yk_fmi_terminal *before = terminal - 1;
            terminal->first_member = before->first_member + before->member_count;
        }
        return;
    }

    /* Members after a nested terminal are rare, and are ignored. */
    if (strcmp(element, "TerminalMemberVariable") != 0 || r->terminal_depth == 0)
        return;

    int last = d->terminal_count - 1;
    yk_fmi_terminal *terminal = &d->terminals[last];
    if (r->terminal_index[r->terminal_depth - 1] != last)
        return;

    size_t count = (size_t)terminal->first_member + (size_t)terminal->member_count;
    if (!grow(r, (void **)&d->members, count, &r->member_capacity, sizeof *d->members))
        return;

    /* A member without a name of its own has that of its variable. */
    const char *variable = attribute(list, "variableName");
    const char *member = attribute(list, "memberName");
    if (!member)
        member = variable;
    d->members[count] = (yk_fmi_member){
        .name = keep(r, member),
        .variable = keep(r, variable),
        .kind = keep(r, attribute(list, "variableKind")),
    };

    terminal->member_count++;
}

static void XMLCALL end_terminal(void *user, const char *element)
{
    reader *r = user;
    if (strcmp(element, "Terminal") == 0 && r->terminal_depth > 0)
        r->terminal_depth--;
}

/* All ------------------------------------------------------------------------------------------ */

yk_status yk_fmi_describe(yk_context *context, const char *folder, const char *file,
                          yk_fmi_description *description)
{
    *description = (yk_fmi_description){.start_time = NAN,
                                        .stop_time = NAN,
                                        .step_size = NAN,
                                        .tolerance = NAN,
                                        .input_degree = -1,
                                        .store = {.context = context}};
    reader r = {.context = context, .to = description, .last = -1};

    bool missing;
    yk_status status =
        parse(&r, folder, "modelDescription.xml", file, begin_element, end_element, &missing);
    if (status == YK_ERROR_FILE && missing)
        status = yk_fail(context, YK_ERROR_INPUT,
                         "%s is no FMU: the archive has no modelDescription.xml", file);

    /* Checks that need the complete description. */
    if (status == YK_OK) {
        status = resolve(&r);
        if (status == YK_ERROR_INPUT)
            yk_fail(context, status, "%s: modelDescription.xml: %s", file, r.problem);
    }

    /* Scheduled execution alone requires a scheduler of tasks, which Yoke does not have. */
    bool usable = description->co_simulation.identifier || description->model_exchange.identifier;
    if (status == YK_OK && !usable) {
        const char *other = description->scheduled ? ", only scheduled execution" : "";
        status = yk_fail(context, YK_ERROR_INPUT,
                         "%s has neither co-simulation nor model exchange%s", file, other);
    }

    /* Terminals may be absent. */
    if (status == YK_OK && description->version == 3) {
        status = parse(&r, folder, "terminalsAndIcons/terminalsAndIcons.xml", file, begin_terminal,
                       end_terminal, &missing);
        if (status == YK_ERROR_FILE && missing)
            status = YK_OK;
    }

    yk_free(context, r.dimensions);
    yk_free(context, r.declared);
    if (status != YK_OK)
        yk_fmi_forget(context, description);
    return status;
}

void yk_fmi_forget(yk_context *context, yk_fmi_description *description)
{
    yk_store_destroy(&description->store);
    yk_free(context, description->variables);
    yk_free(context, description->derivatives);
    yk_free(context, description->states);
    yk_free(context, description->terminals);
    yk_free(context, description->members);
    *description = (yk_fmi_description){0};
}

int yk_fmi_find(const yk_fmi_description *description, const char *name)
{
    for (int i = 0; i < description->variable_count; i++)
        if (strcmp(description->variables[i].name, name) == 0)
            return i;
    return -1;
}

const char *yk_fmi_suggest(const yk_fmi_description *description, const char *name,
                           char buffer[160])
{
    /* Names that differ by at most three letters. */
    const char *nearest = NULL;
    int best = 4;
    for (int i = 0; i < description->variable_count && best > 0; i++) {
        int distance = yk_text_distance(name, description->variables[i].name, best - 1);
        if (distance < best) {
            best = distance;
            nearest = description->variables[i].name;
        }
    }

    buffer[0] = '\0';

    /* A name with no common letter is not suggested. */
    if (nearest && best < (int)strlen(name))
        snprintf(buffer, 160, "; did you mean '%.120s'?", nearest);
    return buffer;
}

bool yk_fmi_depends(const yk_fmi_description *d, int output, int input)
{
    const char *text = d->variables[output].dependencies;
    if (!text)
        return true;

    unsigned long key = d->variables[input].reference;
    if (d->version == 2)
        key = (unsigned long)input + 1;
    for (;;) {
        char *end;
        unsigned long listed = strtoul(text, &end, 10);
        if (end == text)
            return false;
        if (listed == key)
            return true;
        text = end;
    }
}

int yk_fmi_derivative_of(const yk_fmi_description *description, int variable)
{
    /* By reference, so that an alias has the derivative too. */
    uint32_t reference = description->variables[variable].reference;
    for (int i = 0; i < description->variable_count; i++) {
        int of = description->variables[i].derivative_of;
        if (of >= 0 && description->variables[of].reference == reference)
            return i;
    }

    return -1;
}

int yk_fmi_find_terminal(const yk_fmi_description *description, const char *name)
{
    for (int i = 0; i < description->terminal_count; i++)
        if (strcmp(description->terminals[i].name, name) == 0)
            return i;
    return -1;
}

/* Units ---------------------------------------------------------------------------------------- */

const yk_fmi_unit yk_fmi_units[YK_FMI_UNITS] = {
    {"m", "m", "m=\"1\""},
    {"m/s", "m/s", "m=\"1\" s=\"-1\""},
    {"m/s2", "m/s2", "m=\"1\" s=\"-2\""},
    {"m/s^2", "m/s2", "m=\"1\" s=\"-2\""},
    {"rad", "rad", "rad=\"1\""},
    {"rad/s", "rad/s", "rad=\"1\" s=\"-1\""},
    {"rad/s2", "rad/s2", "rad=\"1\" s=\"-2\""},
    {"rad/s^2", "rad/s2", "rad=\"1\" s=\"-2\""},
    {"N", "N", "kg=\"1\" m=\"1\" s=\"-2\""},
    {"N.m", "N.m", "kg=\"1\" m=\"2\" s=\"-2\""},
    {"N m", "N.m", "kg=\"1\" m=\"2\" s=\"-2\""},
    {"J", "J", "kg=\"1\" m=\"2\" s=\"-2\""},
    {"W", "W", "kg=\"1\" m=\"2\" s=\"-3\""},
    {"Pa", "Pa", "kg=\"1\" m=\"-1\" s=\"-2\""},
    {"s", "s", "s=\"1\""},
    {"kg", "kg", "kg=\"1\""},
    {"m3/s", "m3/s", "m=\"3\" s=\"-1\""},
    {"m^3/s", "m3/s", "m=\"3\" s=\"-1\""},
    {"Hz", "Hz", "s=\"-1\""},
};

const char *yk_fmi_unit_ours(const char *name)
{
    /* The last of several spellings is that of channels: "m/s^2", "N m". */
    const char *found = name;
    for (int i = 0; i < YK_FMI_UNITS; i++)
        if (strcmp(yk_fmi_units[i].name, name) == 0)
            found = yk_fmi_units[i].ours;
    return found;
}

const char *yk_fmi_unit_base(const char *name)
{
    for (int i = 0; i < YK_FMI_UNITS; i++)
        if (strcmp(yk_fmi_units[i].name, name) == 0)
            return yk_fmi_units[i].base;
    return NULL;
}
