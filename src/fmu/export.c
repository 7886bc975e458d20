/* An FMU from a scenario: description, terminals, the scenario with its files, and the binary that
 * runs it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "fmu/interface.h"
#include "model/scenario.h"
#include "transport/fmi/archive.h"
#include "transport/fmi/description.h"

enum { PATH_BYTES = 4096 };

/* The folder of the binary as each version calls the platform. */
#if defined(__aarch64__)
static const char *const platforms[] = {"linux-aarch64", "aarch64-linux"};
#else
static const char *const platforms[] = {"linux64", "x86_64-linux"};
#endif

typedef struct output {
    yk_context *context;
    const yk_fmu_export_def *def;
    const yk_export_model *model;
    char *folder;
    char token[64];
    char identifier[64];
} output;

/* The scenario, with overrides in it, and the files that it names. */
static yk_status write_resources(output *o)
{
    const yk_export_def *def = &o->def->model;
    char *text;
    yk_status status =
        yk_scenario_edit(o->context, def->scenario, def->overrides, def->override_count, &text);
    if (status != YK_OK)
        return status;

    /* The token changes with everything that changes the variables of the FMU. */
    const char *subsystem = "";
    if (def->subsystem)
        subsystem = def->subsystem;
    uint64_t hash = yk_hash_bytes(YK_HASH_START, text, strlen(text));
    if (def->subsystem)
        hash = yk_hash_bytes(hash, subsystem, strlen(subsystem));
    snprintf(o->token, sizeof o->token, "{yoke-%016llx-%d%d}", (unsigned long long)hash,
             o->def->version, def->wrenches);

    status = yk_archive_put_text(o->context, o->folder, "resources/" YK_EXPORT_SCENARIO, text);
    yk_release(o->context, text);
    if (status != YK_OK)
        return status;

    /* Files keep their path below the folder, so that the scenario finds them there. */
    const yk_builder *builder = &o->model->scenario->builder;
    for (const yk_scenario_input *file = builder->files; file; file = file->next) {
        if (file->path[0] == '/' || strstr(file->path, ".."))
            return yk_fail(o->context, YK_ERROR_INPUT,
                           "the file %s lies outside of the scenario's folder and cannot be put "
                           "into an FMU",
                           file->path);

        char from[PATH_BYTES];
        char to[PATH_BYTES];
        snprintf(from, sizeof from, "%s%s", builder->folder, file->path);
        snprintf(to, sizeof to, "resources/%s", file->path);
        status = yk_archive_put_file(o->context, o->folder, to, from);
        if (status != YK_OK)
            return status;
    }

    /* What the binary reads back when it is loaded. */
    char notes[400];
    snprintf(notes, sizeof notes, "%s\n%.200s\n%d\n", o->token, subsystem, def->wrenches);
    return yk_archive_put_text(o->context, o->folder, "resources/" YK_EXPORT_NOTES, notes);
}

/* Descriptions --------------------------------------------------------------------------------- */

static void add_variable(const output *o, yk_text *to, int index)
{
    static const char *const causalities[] = {"independent", "parameter", "input", "output"};
    static const char *const variabilities[] = {"continuous", "fixed", "continuous", "continuous"};
    yk_context *context = o->context;
    const yk_export_model *m = o->model;
    const yk_export_variable *v = &m->variables[index];
    bool three = o->def->version == 3;

    /* Version 3 has an element per type, version 2 one for all with the type inside. */
    yk_text_add(context, to, "    <%s name=\"", three ? "Float64" : "ScalarVariable");
    yk_text_add_xml(context, to, v->name);
    yk_text_add(context, to, "\" valueReference=\"%d\" causality=\"%s\" variability=\"%s\"", index,
                causalities[v->role], variabilities[v->role]);

    if (v->role == YK_EXPORT_OUTPUT)
        yk_text_add(context, to, " initial=\"calculated\"");
    if (!three)
        yk_text_add(context, to, "><Real");

    /* A subsystem with units of its own shows numbers in these: then none is given. */
    bool in_si = true;
    if (m->subsystem >= 0) {
        const yk_transform *transform = &m->info->transforms[m->subsystem];
        in_si = transform->length == 1 && transform->mass == 1;
    }
    for (int i = 0; in_si && i < YK_FMI_UNITS; i++) {
        if (strcmp(v->unit, yk_fmi_units[i].ours) != 0)
            continue;

        yk_text_add(context, to, " unit=\"%s\"", yk_fmi_units[i].name);
        break;
    }

    /* Outputs have no start values: they are calculated. */
    if (v->role == YK_EXPORT_INPUT || v->role == YK_EXPORT_PARAMETER)
        yk_text_add(context, to, " start=\"%.17g\"", v->start);

    /* Wrenches that the model would not follow are better given as their mean. */
    bool wrench = v->port >= 0 && m->causalities[v->port] == YK_TAKES_WRENCH;
    bool follows = m->input_degree >= YK_INPUT_DEGREE_MAX;
    if (three && v->role == YK_EXPORT_INPUT && (follows || !wrench))
        yk_text_add(context, to, " intermediateUpdate=\"true\"");

    yk_text_add(context, to, three ? "/>\n" : "/></ScalarVariable>\n");
}

static yk_status write_description(output *o)
{
    yk_context *context = o->context;
    const yk_export_model *m = o->model;
    bool three = o->def->version == 3;
    yk_text text = {0};
    yk_text *to = &text;

    /* The root. */
    const char *name = o->identifier;
    if (m->subsystem >= 0)
        name = m->info->names[m->subsystem];

    yk_text_add(context, to,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription "
                "fmiVersion=\"%d.0\" modelName=\"",
                o->def->version);
    yk_text_add_xml(context, to, name);
    yk_text_add(context, to, "\" %s=\"%s\" generationTool=\"Yoke %s\"",
                three ? "instantiationToken" : "guid", o->token, yk_version());

    /* A title may hold what XML does not take as it is. */
    if (m->info->title[0]) {
        yk_text_add(context, to, " description=\"");
        yk_text_add_xml(context, to, m->info->title);
        yk_text_add(context, to, "\"");
    }
    if (!three)
        yk_text_add(context, to, " variableNamingConvention=\"flat\"");

    /* Capabilities. A subsystem takes steps of any size, a system multiples of its own. */
    bool any_step = m->subsystem >= 0;
    const char *truth[] = {"false", "true"};
    const char *state = three ? "State" : "state";
    yk_text_add(context, to, ">\n  <CoSimulation modelIdentifier=\"%s\"", o->identifier);
    yk_text_add(context, to, " canHandleVariableCommunicationStepSize=\"%s\"", truth[any_step]);
    yk_text_add(context, to, " canGetAndSetFMU%s=\"%s\"", state, truth[m->rolls_back]);
    yk_text_add(context, to, " canSerializeFMU%s=\"%s\"", state, truth[m->rolls_back]);

    if (three && m->differentiable)
        yk_text_add(context, to,
                    " providesDirectionalDerivatives=\"true\""
                    " providesAdjointDerivatives=\"true\"");
    if (!three && m->differentiable)
        yk_text_add(context, to, " providesDirectionalDerivative=\"true\"");

    /* Inputs within a step: asked for in FMI 3, as lines in FMI 2. */
    if (three && any_step)
        yk_text_add(context, to, " providesIntermediateUpdate=\"true\"");
    if (three && !any_step)
        yk_text_add(context, to, " fixedInternalStepSize=\"%.17g\"", m->info->step);
    if (!three && any_step)
        yk_text_add(context, to, " canInterpolateInputs=\"true\"");
    yk_text_add(context, to, "/>\n");

    /* Units, each once. */
    yk_text_add(context, to, "  <UnitDefinitions>\n");
    for (int i = 0; i < YK_FMI_UNITS; i++) {
        bool first = true;
        for (int k = 0; k < i; k++)
            first = first && strcmp(yk_fmi_units[k].name, yk_fmi_units[i].name) != 0;

        if (first)
            yk_text_add(context, to, "    <Unit name=\"%s\"><BaseUnit %s/></Unit>\n",
                        yk_fmi_units[i].name, yk_fmi_units[i].base);
    }
    yk_text_add(context, to, "  </UnitDefinitions>\n");

    /* The experiment is the scenario's own, the variables those of the model. */
    yk_text_add(
        context, to,
        "  <DefaultExperiment startTime=\"%.17g\" stopTime=\"%.17g\" stepSize=\"%.17g\"/>\n",
        m->info->start, m->info->end, m->info->step);

    /* What the standard has no words for, and only Yoke reads. */
    char note[120] = "";
    if (m->differentiable)
        snprintf(note, sizeof note, " derivativeStride=\"%d\"", m->variable_count);
    if (!three && m->subsystem >= 0)
        yk_text_add(context, to,
                    "  <VendorAnnotations>\n    <Tool name=\"yoke\"><" YK_FMI_ANNOTATION
                    " inputDegree=\"%d\"%s/></Tool>\n  </VendorAnnotations>\n",
                    m->input_degree, note);

    yk_text_add(context, to, "  <ModelVariables>\n");
    for (int i = 0; i < m->variable_count; i++)
        add_variable(o, to, i);
    yk_text_add(context, to, "  </ModelVariables>\n");

    /* The structure: all outputs, and again as what is unknown at the start. */
    static const char *const element[] = {"Output", "InitialUnknown"};
    yk_text_add(context, to, "  <ModelStructure>\n");
    for (int pass = 0; pass < 2; pass++) {
        if (!three)
            yk_text_add(context, to, "    <%ss>\n", element[pass]);

        for (int i = 0; i < m->variable_count; i++) {
            if (m->variables[i].role != YK_EXPORT_OUTPUT)
                continue;
            if (three)
                yk_text_add(context, to, "    <%s valueReference=\"%d\"/>\n", element[pass], i);
            else
                yk_text_add(context, to, "      <Unknown index=\"%d\"/>\n", i + 1);
        }
        if (!three)
            yk_text_add(context, to, "    </%ss>\n", element[pass]);
    }
    yk_text_add(context, to, "  </ModelStructure>\n");
    if (three && m->subsystem >= 0)
        yk_text_add(context, to,
                    "  <Annotations>\n    <Annotation type=\"yoke\"><" YK_FMI_ANNOTATION
                    " inputDegree=\"%d\"%s/></Annotation>\n  </Annotations>\n",
                    m->input_degree, note);
    yk_text_add(context, to, "</fmiModelDescription>\n");

    yk_status status = YK_ERROR_MEMORY;
    if (!text.failed)
        status = yk_archive_put_text(o->context, o->folder, "modelDescription.xml", text.data);
    yk_text_destroy(context, to);
    return status;
}

/* FMI 3: a port with power is a terminal whose members are its quantities. */
static yk_status write_terminals(output *o)
{
    yk_context *context = o->context;
    const yk_export_model *m = o->model;
    yk_text text = {0};
    yk_text *to = &text;
    int count = 0;
    yk_text_add(context, to,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiTerminalsAndIcons "
                "fmiVersion=\"3.0\">\n  <Terminals>\n");

    for (int i = 0; i < m->port_count; i++) {
        const yk_port *port = &m->ports[i];
        if (m->causalities[i] == YK_UNCONNECTED || port->kind == YK_PORT_SIGNAL)
            continue;

        count++;
        yk_text_add(context, to, "    <Terminal name=\"");
        yk_text_add_xml(context, to, port->name);
        yk_text_add(context, to, "\" matchingRule=\"plug\" terminalKind=\"%s\">\n",
                    port->kind == YK_PORT_MARKER ? "yoke.marker" : "yoke.scalar");

        /* Forces are flows: at a connection they sum to zero. */
        for (int k = 0; k < m->variable_count; k++) {
            const yk_export_variable *v = &m->variables[k];
            if (v->port != i)
                continue;

            bool flow = strncmp(v->member, "force", 5) == 0 || strncmp(v->member, "torque", 6) == 0;

            yk_text_add(context, to, "      <TerminalMemberVariable variableName=\"");
            yk_text_add_xml(context, to, v->name);
            yk_text_add(context, to, "\" memberName=\"%s\" variableKind=\"%s\"/>\n", v->member,
                        flow ? "inflow" : "signal");
        }
        yk_text_add(context, to, "    </Terminal>\n");
    }
    yk_text_add(context, to, "  </Terminals>\n</fmiTerminalsAndIcons>\n");

    /* A model without ports of power needs no terminals. */
    yk_status status = YK_OK;
    if (text.failed)
        status = YK_ERROR_MEMORY;
    if (status == YK_OK && count > 0)
        status = yk_archive_put_text(o->context, o->folder,
                                     "terminalsAndIcons/terminalsAndIcons.xml", text.data);
    yk_text_destroy(context, to);
    return status;
}

/* All ------------------------------------------------------------------------------------------ */

yk_status yk_fmu_export(yk_context *context, const yk_fmu_export_def *def)
{
    yk_export_model model;
    yk_status status = yk_export_open(context, &def->model, &model);
    if (status != YK_OK)
        return status;

    output o = {.context = context, .def = def, .model = &model};

    /* The name of the binary is that of the file, as an identifier of C: functions of FMI 2 that
     * are linked statically begin with it. */
    const char *name = strrchr(def->file, '/');
    if (name)
        name++;
    else
        name = def->file;
    size_t used = 0;
    for (; *name && *name != '.' && used + 1 < sizeof o.identifier; name++) {
        bool letter = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z');
        bool digit = *name >= '0' && *name <= '9';

        if (used == 0 && !letter)
            o.identifier[used++] = 'm';
        if (used + 1 < sizeof o.identifier)
            o.identifier[used++] = letter || digit ? *name : '_';
    }

    if (used == 0)
        snprintf(o.identifier, sizeof o.identifier, "model");

    /* All files in a folder, which is packed at the end. */
    status = yk_archive_folder(context, &o.folder);
    if (status == YK_OK)
        status = write_resources(&o);
    if (status == YK_OK)
        status = write_description(&o);
    if (status == YK_OK && def->version == 3)
        status = write_terminals(&o);
    if (status == YK_OK) {
        char binary[200];
        const char *platform = platforms[def->version == 3];
        snprintf(binary, sizeof binary, "binaries/%s/%s.so", platform, o.identifier);
        status = yk_archive_put_file(context, o.folder, binary, def->binary);
    }
    if (status == YK_OK)
        status = yk_archive_pack(context, o.folder, def->file);

    yk_archive_remove(context, o.folder);
    yk_export_close(&model);
    return status;
}
