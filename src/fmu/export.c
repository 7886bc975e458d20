/* An FMU from a scenario: description, terminals, the scenario with its files, and the binary that
 * runs it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/text.h"
#include "fmu/interface.h"
#include "model/scenario.h"
#include "transport/fmi/archive.h"

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

/* Files ---------------------------------------------------------------------------------------- */

static yk_status write_file(output *o, const char *name, const char *text)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", o->folder, name);

    for (char *at = path + strlen(o->folder) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(path, 0755);
        *at = '/';
    }

    FILE *stream = fopen(path, "wb");
    bool good = stream && fputs(text, stream) >= 0;
    if (stream)
        good = fclose(stream) == 0 && good;
    if (good)
        return YK_OK;

    return yk_fail(o->context, YK_ERROR_FILE, "cannot write %s: %s", path, strerror(errno));
}

static yk_status copy_file(output *o, const char *from, const char *name)
{
    yk_status status = write_file(o, name, ""); /* makes its folders */
    if (status != YK_OK)
        return status;

    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", o->folder, name);
    FILE *in = fopen(from, "rb");
    if (!in)
        return yk_fail(o->context, YK_ERROR_FILE, "cannot read %s: %s", from, strerror(errno));

    FILE *out = fopen(path, "wb");
    char block[1 << 16];
    bool good = out != NULL;
    for (size_t got; good && (got = fread(block, 1, sizeof block, in)) > 0;)
        good = fwrite(block, 1, got, out) == got;
    good = good && !ferror(in);
    fclose(in);
    if (out)
        good = fclose(out) == 0 && good;
    if (good)
        return YK_OK;

    return yk_fail(o->context, YK_ERROR_FILE, "cannot copy %s to %s", from, path);
}

/* The scenario, with overrides in it, and the files that it names. */
static yk_status write_resources(output *o)
{
    const yk_export_def *def = &o->def->model;
    char *text;
    yk_status status =
        yk_scenario_edit(o->context, def->scenario, def->overrides, def->override_count, &text);
    if (status != YK_OK)
        return status;

    uint64_t hash = yk_hash_bytes(YK_HASH_START, text, strlen(text));
    if (def->subsystem)
        hash = yk_hash_bytes(hash, def->subsystem, strlen(def->subsystem));
    snprintf(o->token, sizeof o->token, "{yoke-%016llx-%d%d}", (unsigned long long)hash,
             o->def->version, def->wrenches);
    status = write_file(o, "resources/" YK_EXPORT_SCENARIO, text);
    yk_release(o->context, text);

    const yk_builder *builder = &o->model->scenario->builder;

    for (const yk_scenario_file *file = builder->files; file && status == YK_OK;
         file = file->next) {
        if (file->path[0] == '/' || strstr(file->path, ".."))
            return yk_fail(o->context, YK_ERROR_INPUT,
                           "the file %s lies outside of the scenario's folder and cannot be put "
                           "into an FMU",
                           file->path);
        char from[PATH_BYTES], to[PATH_BYTES];
        snprintf(from, sizeof from, "%s%s", builder->folder, file->path);
        snprintf(to, sizeof to, "resources/%s", file->path);
        status = copy_file(o, from, to);
    }

    char notes[400];
    snprintf(notes, sizeof notes, "%s\n%.200s\n%d\n", o->token,
             def->subsystem ? def->subsystem : "", def->wrenches);
    if (status == YK_OK)
        status = write_file(o, "resources/" YK_EXPORT_NOTES, notes);

    return status;
}

/* Descriptions --------------------------------------------------------------------------------- */

/* Text as the value of an attribute. */
static void add_escaped(output *o, yk_text *to, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&': yk_text_add(o->context, to, "&amp;"); break;
        case '<': yk_text_add(o->context, to, "&lt;"); break;
        case '"': yk_text_add(o->context, to, "&quot;"); break;
        case '\n': yk_text_add(o->context, to, "&#10;"); break;
        default: yk_text_add(o->context, to, "%c", *text);
        }
    }
}

/* Units in the words of FMI; those that we do not know are left out. */
static const struct {
    const char *ours, *name, *base;
} units[] = {
    {"m", "m", "m=\"1\""},
    {"m/s", "m/s", "m=\"1\" s=\"-1\""},
    {"m/s2", "m/s2", "m=\"1\" s=\"-2\""},
    {"m/s^2", "m/s2", "m=\"1\" s=\"-2\""},
    {"rad", "rad", "rad=\"1\""},
    {"rad/s", "rad/s", "rad=\"1\" s=\"-1\""},
    {"rad/s2", "rad/s2", "rad=\"1\" s=\"-2\""},
    {"rad/s^2", "rad/s2", "rad=\"1\" s=\"-2\""},
    {"N", "N", "kg=\"1\" m=\"1\" s=\"-2\""},
    {"N m", "N.m", "kg=\"1\" m=\"2\" s=\"-2\""},
    {"N.m", "N.m", "kg=\"1\" m=\"2\" s=\"-2\""},
    {"J", "J", "kg=\"1\" m=\"2\" s=\"-2\""},
    {"W", "W", "kg=\"1\" m=\"2\" s=\"-3\""},
    {"Pa", "Pa", "kg=\"1\" m=\"-1\" s=\"-2\""},
    {"s", "s", "s=\"1\""},
    {"kg", "kg", "kg=\"1\""},
    {"Hz", "Hz", "s=\"-1\""},
};
enum { UNITS = sizeof units / sizeof *units };

static const char *unit_of(const output *o, const yk_export_variable *v)
{
    /* A subsystem with units of its own shows numbers in these. */
    const yk_transform *transform = NULL;
    if (o->model->subsystem >= 0)
        transform = &o->model->info->transforms[o->model->subsystem];
    if (transform && (transform->length != 1 || transform->mass != 1))
        return NULL;
    for (int i = 0; i < UNITS; i++)
        if (strcmp(v->unit, units[i].ours) == 0)
            return units[i].name;

    return NULL;
}

static void add_units(output *o, yk_text *to)
{
    yk_text_add(o->context, to, "  <UnitDefinitions>\n");

    for (int i = 0; i < UNITS; i++) {
        bool first = true;
        for (int k = 0; k < i; k++)
            first = first && strcmp(units[k].name, units[i].name) != 0;
        if (first)
            yk_text_add(o->context, to, "    <Unit name=\"%s\"><BaseUnit %s/></Unit>\n",
                        units[i].name, units[i].base);
    }

    yk_text_add(o->context, to, "  </UnitDefinitions>\n");
}

static void add_variable(output *o, yk_text *to, int index)
{
    static const char *const causalities[] = {"independent", "parameter", "input", "output"};
    static const char *const variabilities[] = {"continuous", "fixed", "continuous", "continuous"};
    const yk_export_variable *v = &o->model->variables[index];
    bool three = o->def->version == 3;
    yk_text_add(o->context, to, three ? "    <Float64 name=\"" : "    <ScalarVariable name=\"");
    add_escaped(o, to, v->name);
    yk_text_add(o->context, to, "\" valueReference=\"%d\" causality=\"%s\" variability=\"%s\"",
                index, causalities[v->role], variabilities[v->role]);
    bool given = v->role == YK_EXPORT_INPUT || v->role == YK_EXPORT_PARAMETER;
    if (v->role == YK_EXPORT_OUTPUT)
        yk_text_add(o->context, to, " initial=\"calculated\"");
    if (!three)
        yk_text_add(o->context, to, "><Real");
    if (unit_of(o, v))
        yk_text_add(o->context, to, " unit=\"%s\"", unit_of(o, v));
    if (given)
        yk_text_add(o->context, to, " start=\"%.17g\"", v->start);
    /* Wrenches that the model would not follow are better given as their mean. */
    bool wrench = v->port >= 0 && o->model->causalities[v->port] == YK_TAKES_WRENCH;
    if (three && v->role == YK_EXPORT_INPUT && (o->model->follows || !wrench))
        yk_text_add(o->context, to, " intermediateUpdate=\"true\"");
    yk_text_add(o->context, to, three ? "/>\n" : "/></ScalarVariable>\n");
}

static yk_status write_description(output *o)
{
    const yk_export_model *m = o->model;
    bool three = o->def->version == 3;
    yk_text text = {0};
    yk_text_add(o->context, &text,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription "
                "fmiVersion=\"%d.0\" modelName=\"",
                o->def->version);
    add_escaped(o, &text, m->subsystem >= 0 ? m->info->names[m->subsystem] : o->identifier);
    yk_text_add(o->context, &text, "\" %s=\"%s\" generationTool=\"Yoke %s\"",
                three ? "instantiationToken" : "guid", o->token, yk_version());
    if (m->info->title[0]) {
        yk_text_add(o->context, &text, " description=\"");
        add_escaped(o, &text, m->info->title);
        yk_text_add(o->context, &text, "\"");
    }
    if (!three)
        yk_text_add(o->context, &text, " variableNamingConvention=\"flat\"");

    /* A subsystem takes steps of any size, a system multiples of its own. */
    bool any_step = m->subsystem >= 0;
    const char *truth[] = {"false", "true"};
    yk_text_add(o->context, &text, ">\n  <CoSimulation modelIdentifier=\"%s\"", o->identifier);
    yk_text_add(o->context, &text, " canHandleVariableCommunicationStepSize=\"%s\"",
                truth[any_step]);
    yk_text_add(o->context, &text,
                three ? " canGetAndSetFMUState=\"%s\" canSerializeFMUState=\"%s\""
                      : " canGetAndSetFMUstate=\"%s\" canSerializeFMUstate=\"%s\"",
                truth[m->rolls_back], truth[m->rolls_back]);
    if (three && any_step)
        yk_text_add(o->context, &text, " providesIntermediateUpdate=\"true\"");
    if (three && !any_step)
        yk_text_add(o->context, &text, " fixedInternalStepSize=\"%.17g\"", m->info->step);
    if (!three && any_step)
        yk_text_add(o->context, &text, " canInterpolateInputs=\"true\"");
    yk_text_add(o->context, &text, "/>\n");
    add_units(o, &text);
    yk_text_add(o->context, &text,
                "  <DefaultExperiment startTime=\"%.17g\" stopTime=\"%.17g\" stepSize=\"%.17g\"/>\n"
                "  <ModelVariables>\n",
                m->info->start, m->info->end, m->info->step);
    for (int i = 0; i < m->variable_count; i++)
        add_variable(o, &text, i);

    yk_text_add(o->context, &text, "  </ModelVariables>\n  <ModelStructure>\n");

    for (int pass = 0; pass < 2; pass++) {
        if (!three)
            yk_text_add(o->context, &text, pass ? "    <InitialUnknowns>\n" : "    <Outputs>\n");
        for (int i = 0; i < m->variable_count; i++) {
            if (m->variables[i].role != YK_EXPORT_OUTPUT)
                continue;
            if (three)
                yk_text_add(o->context, &text, "    <%s valueReference=\"%d\"/>\n",
                            pass ? "InitialUnknown" : "Output", i);
            else
                yk_text_add(o->context, &text, "      <Unknown index=\"%d\"/>\n", i + 1);
        }
        if (!three)
            yk_text_add(o->context, &text, pass ? "    </InitialUnknowns>\n" : "    </Outputs>\n");
    }

    yk_text_add(o->context, &text, "  </ModelStructure>\n</fmiModelDescription>\n");
    yk_status status =
        text.failed ? YK_ERROR_MEMORY : write_file(o, "modelDescription.xml", text.data);
    yk_text_destroy(o->context, &text);

    return status;
}

/* FMI 3: a port with power is a terminal whose members are its quantities. */
static yk_status write_terminals(output *o)
{
    const yk_export_model *m = o->model;
    yk_text text = {0};
    int count = 0;
    yk_text_add(o->context, &text,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiTerminalsAndIcons "
                "fmiVersion=\"3.0\">\n  <Terminals>\n");

    for (int port = 0; port < m->port_count; port++) {
        if (m->causalities[port] == YK_UNCONNECTED || m->ports[port].kind == YK_PORT_SIGNAL)
            continue;
        count++;
        yk_text_add(o->context, &text, "    <Terminal name=\"");
        add_escaped(o, &text, m->ports[port].name);
        yk_text_add(o->context, &text, "\" matchingRule=\"plug\" terminalKind=\"%s\">\n",
                    m->ports[port].kind == YK_PORT_MARKER ? "yoke.marker" : "yoke.scalar");
        for (int i = 0; i < m->variable_count; i++) {
            const yk_export_variable *v = &m->variables[i];
            if (v->port != port)
                continue;
            bool flow = strncmp(v->member, "force", 5) == 0 || strncmp(v->member, "torque", 6) == 0;
            yk_text_add(o->context, &text, "      <TerminalMemberVariable variableName=\"");
            add_escaped(o, &text, v->name);
            yk_text_add(o->context, &text, "\" memberName=\"%s\" variableKind=\"%s\"/>\n",
                        v->member, flow ? "inflow" : "signal");
        }
        yk_text_add(o->context, &text, "    </Terminal>\n");
    }

    yk_text_add(o->context, &text, "  </Terminals>\n</fmiTerminalsAndIcons>\n");
    yk_status status = text.failed ? YK_ERROR_MEMORY : YK_OK;
    if (status == YK_OK && count > 0)
        status = write_file(o, "terminalsAndIcons/terminalsAndIcons.xml", text.data);
    yk_text_destroy(o->context, &text);

    return status;
}

/* All ------------------------------------------------------------------------------------------ */

/* The name of the binary: letters of the file's name. */
static void choose_identifier(output *o)
{
    const char *name = strrchr(o->def->file, '/');
    name = name ? name + 1 : o->def->file;
    size_t used = 0;

    for (; *name && *name != '.' && used + 1 < sizeof o->identifier; name++) {
        bool letter = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z');
        bool digit = *name >= '0' && *name <= '9';
        if (used == 0 && !letter)
            o->identifier[used++] = 'm';
        if (used + 1 < sizeof o->identifier)
            o->identifier[used++] = letter || digit ? *name : '_';
    }

    if (used == 0)
        snprintf(o->identifier, sizeof o->identifier, "model");
}

yk_status yk_fmu_export(yk_context *context, const yk_fmu_export_def *def)
{
    yk_export_model model;
    yk_status status = yk_export_open(context, &def->model, &model);
    if (status != YK_OK)
        return status;

    output o = {.context = context, .def = def, .model = &model};
    choose_identifier(&o);
    status = yk_archive_folder(context, &o.folder);
    if (status == YK_OK)
        status = write_resources(&o);
    if (status == YK_OK)
        status = write_description(&o);
    if (status == YK_OK && def->version == 3)
        status = write_terminals(&o);
    if (status == YK_OK) {
        char name[200];
        snprintf(name, sizeof name, "binaries/%s/%s.so", platforms[def->version == 3],
                 o.identifier);
        status = copy_file(&o, def->binary, name);
    }
    if (status == YK_OK)
        status = yk_archive_pack(context, o.folder, def->file);
    yk_archive_remove(context, o.folder);
    yk_export_close(&model);

    return status;
}
