/* yoke fmu: describes an FMU and its connection in a scenario; creates FMUs from scenarios. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli.h"
#include "interop/fmi/archive.h"
#include "interop/fmi/description.h"
#include "interop/fmi/export.h"
#include "interop/fmi/fmu.h"
#include "json.h"

/* Contents ------------------------------------------------------------------------------------- */

static void print_kind(const char *title, const yk_fmi_capabilities *c)
{
    const struct {
        bool has;
        const char *text;
    } rows[] = {
        {c->variable_step, "steps of any size"},
        {c->interpolates_inputs, "interpolates inputs"},
        {c->output_derivatives > 0, "derivatives of outputs"},
        {c->state, c->serialises ? "rollback, state as bytes" : "rollback, state kept in the FMU"},
        {c->directional, "directional derivatives"},
        {c->adjoint, "adjoint derivatives"},
        {c->event_mode, "event mode"},
        {c->early_return, "may return early"},
        {c->intermediate_update, "asks for inputs within steps"},
        {c->needs_tool, "needs the program that made it"},
    };

    if (!c->identifier)
        return;

    /* Capabilities only, in one line. */
    print_out("  %-16s %s", title, c->identifier);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].has)
            print_out(", %s", rows[i].text);
    print_out("\n");
}

/* How it can be connected ---------------------------------------------------------------------- */

/* Units of the quantities of a scalar port, along a line and about an axis. */
static const struct {
    const char *key;
    const char *units[6];
} roles[] = {
    {"position", {"m", "rad"}},
    {"velocity", {"m/s", "m.s-1", "rad/s", "rad.s-1"}},
    {"acceleration", {"m/s2", "m.s-2", "m/s^2", "rad/s2", "rad.s-2", "rad/s^2"}},
    {"force", {"N", "N.m", "N m", "N*m"}},
};
enum { POSITION, VELOCITY, ACCELERATION, FORCE, ROLES };

static int role_of(const yk_fmi_variable *v)
{
    bool outside = v->causality == YK_FMI_INPUT || v->causality == YK_FMI_OUTPUT;
    if (!outside || v->type != YK_FMI_FLOAT64 || v->size != 1)
        return -1;

    for (int r = 0; r < ROLES; r++)
        for (int u = 0; u < 6 && roles[r].units[u]; u++)
            if (strcmp(v->unit, roles[r].units[u]) == 0)
                return r;
    return -1;
}

/* The part of a name before its last dot, common to the variables of one connector. */
static size_t stem(const char *name)
{
    const char *dot = strrchr(name, '.');
    if (!dot)
        return 0;
    return (size_t)(dot - name);
}

/* A word that may be a name in a scenario. */
static void print_word(const char *text, size_t length, const char *otherwise)
{
    if (length == 0) {
        print_out("%s", otherwise);
        return;
    }

    /* Letters and digits; all else becomes an underscore. */
    if (!isalpha((unsigned char)text[0]))
        putchar('_');
    for (size_t i = 0; i < length; i++)
        putchar(isalnum((unsigned char)text[i]) ? text[i] : '_');
}

/* The scenario section for the FMU: ports derived from its variables, and all parameters. */
static void print_section(yk_context *context, const yk_fmi_description *d, const char *file)
{
    /* A variable of a port is not offered as a signal. */
    bool *used = yk_allocate(context, (size_t)d->variable_count + 1, sizeof *used);
    if (!used)
        return;

    print_out("\nAs a subsystem of a scenario:\n\nsubsystems:\n  ");
    print_word(d->model_name, strlen(d->model_name), "fmu");
    print_out(":\n    solver: fmu\n    file: \"%s\"\n", file);

    /* Terminals define ports explicitly. */
    print_out("    ports:\n");
    for (int i = 0; i < d->terminal_count; i++) {
        const yk_fmi_terminal *terminal = &d->terminals[i];
        print_out("      ");
        print_word(terminal->name, strlen(terminal->name), "terminal");
        print_out(": {type: terminal, terminal: \"%s\"}\n", terminal->name);
        for (int k = 0; k < terminal->member_count; k++) {
            int v = yk_fmi_find(d, d->members[terminal->first_member + k].variable);
            if (v >= 0)
                used[v] = true;
        }
    }

    /* Variables with the units of a connector: those with one stem, by their roles. Two variables
     * with the same role are no port, because the intended one is unknown. */
    for (int i = 0; i < d->variable_count; i++) {
        const char *name = d->variables[i].name;
        if (used[i] || role_of(&d->variables[i]) != FORCE)
            continue;

        int found[ROLES] = {-1, -1, -1, -1};
        bool is_port = true;
        for (int k = 0; k < d->variable_count; k++) {
            int role = role_of(&d->variables[k]);
            const char *other = d->variables[k].name;
            if (role < 0 || stem(other) != stem(name) || strncmp(other, name, stem(name)) != 0)
                continue;

            is_port = is_port && found[role] < 0;
            found[role] = k;
        }

        /* If the force is an input, no part of the motion may be one, and the reverse. */
        bool takes_wrench = d->variables[i].causality == YK_FMI_INPUT;
        for (int r = POSITION; r < FORCE; r++)
            if (found[r] >= 0 && (d->variables[found[r]].causality == YK_FMI_INPUT) == takes_wrench)
                is_port = false;
        if (!is_port || found[POSITION] < 0)
            continue;

        print_out("      ");
        print_word(name, stem(name), "port");
        print_out(": {type: scalar");
        for (int r = 0; r < ROLES; r++) {
            if (found[r] < 0)
                continue;

            print_out(", %s: \"%s\"", roles[r].key, d->variables[found[r]].name);
            used[found[r]] = true;
        }
        print_out("}\n");
    }

    /* All others have no power; texts and arrays cannot be wired. */
    for (int i = 0; i < d->variable_count; i++) {
        const yk_fmi_variable *v = &d->variables[i];
        bool outside = v->causality == YK_FMI_INPUT || v->causality == YK_FMI_OUTPUT;
        if (used[i] || !outside || !yk_fmi_type_is_number(v->type) || v->size != 1)
            continue;

        print_out("      ");
        print_word(v->name, strlen(v->name), "signal");
        print_out(": {type: signal, variable: \"%s\"} # %s\n", v->name,
                  yk_fmi_causality_name(v->causality));
    }

    /* Its parameters, as they are. */
    bool first = true;
    for (int i = 0; i < d->variable_count; i++) {
        const yk_fmi_variable *v = &d->variables[i];
        char *end;
        bool number = v->start[0] && (yk_text_number(v->start, &end), *end == '\0');
        bool fixed = strcmp(v->variability, "constant") == 0;

        if (v->causality != YK_FMI_PARAMETER || v->type != YK_FMI_FLOAT64 || v->size != 1 ||
            !number || fixed)
            continue;

        if (first)
            print_out("    start_values:\n");
        first = false;
        print_out("      - {variable: \"%s\", value: %s}\n", v->name, v->start);
    }
    yk_free(context, used);
}

static bool is_internal(const yk_fmi_variable *v)
{
    return v->causality == YK_FMI_LOCAL || v->causality == YK_FMI_INDEPENDENT ||
           v->causality == YK_FMI_CALCULATED_PARAMETER;
}

static void write_json(const char *file, const yk_fmi_description *d, bool all)
{
    json_writer json = json_begin(stdout);
    json_text(&json, "file", file);
    json_text(&json, "model", d->model_name);
    json_text(&json, "fmi_version", d->version_text);
    json_text(&json, "tool", d->tool);
    json_text(&json, "description", d->description);
    json_bool(&json, "co_simulation", d->co_simulation.identifier != NULL);
    json_bool(&json, "model_exchange", d->model_exchange.identifier != NULL);
    json_number(&json, "stop_time", d->stop_time);
    json_number(&json, "step_size", d->step_size);
    json_open_array(&json, "variables");
    for (int i = 0; i < d->variable_count; i++) {
        const yk_fmi_variable *v = &d->variables[i];
        if (is_internal(v) && !all)
            continue;

        json_open_object(&json, NULL);
        json_text(&json, "name", v->name);
        json_text(&json, "type", yk_fmi_type_name(v->type));
        json_text(&json, "causality", yk_fmi_causality_name(v->causality));
        json_text(&json, "variability", v->variability);
        json_text(&json, "unit", v->unit);
        json_text(&json, "start", v->start);
        json_integer(&json, "size", v->size);
        json_text(&json, "description", v->description);
        json_close(&json);
    }
    json_close(&json);

    json_open_array(&json, "terminals");
    for (int i = 0; i < d->terminal_count; i++) {
        const yk_fmi_terminal *terminal = &d->terminals[i];
        json_open_object(&json, NULL);
        json_text(&json, "name", terminal->name);
        json_text(&json, "kind", terminal->kind);
        json_open_array(&json, "members");
        for (int k = 0; k < terminal->member_count; k++)
            json_text(&json, NULL, d->members[terminal->first_member + k].variable);
        json_close(&json);
        json_close(&json);
    }
    json_close(&json);
    json_end(&json);
}

static const char info_usage[] =
    "fmu info FILE [OPTIONS]\n\n"
    "Print the variables of an FMU and a scenario section that connects it.";

static int info(int argc, char **argv)
{
    bool all = false;
    bool as_json = false;

    const option_row rows[] = {
        {"all-variables", OPTION_FLAG, &all, NULL, "List the internal variables too"},
        RENAMED_ROW("all", "all-variables"),
        JSON_ROW(&as_json),
        {.kind = OPTION_END},
    };

    const char *file;
    int parsed = options_parse(info_usage, rows, argc, argv, &file, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);

    yk_context *context = open_context();
    if (!context)
        return EXIT_FAILED;

    /* The FMU is not run: its description is sufficient. */
    char *folder;
    yk_fmi_description d = {0};
    yk_status status = yk_archive_unpack(context, file, &folder);
    if (status == YK_OK)
        status = yk_fmi_describe(context, folder, file, &d);

    int code = EXIT_GOOD;
    if (status == YK_OK && as_json) {
        write_json(file, &d, all);
    } else if (status == YK_OK) {
        print_out("%s: %s, FMI %s%s%s\n", file, d.model_name, d.version_text,
                  d.tool[0] ? ", made by " : "", d.tool);
        if (d.description[0])
            print_out("  %s\n", d.description);

        /* Capabilities, and default experiment. */
        print_kind("co-simulation", &d.co_simulation);
        print_kind("model exchange", &d.model_exchange);
        if (d.scheduled)
            print_out("  scheduled execution, which is not supported\n");

        if (isfinite(d.stop_time))
            print_out("  %-16s to %g s", "experiment", d.stop_time);
        if (isfinite(d.stop_time) && isfinite(d.step_size))
            print_out(", step %g s", d.step_size);
        if (isfinite(d.stop_time))
            print_out("\n");

        /* Variables; local ones only on request. */
        int hidden = 0;
        print_out("\n  %-32s %-10s %-12s %-8s %-10s %-12s %s\n", "variable", "type", "causality",
                  "unit", "start", "variability", "description");
        for (int i = 0; i < d.variable_count; i++) {
            const yk_fmi_variable *v = &d.variables[i];
            if (is_internal(v) && !all) {
                hidden++;
                continue;
            }

            /* An array has its size after its name. */
            char name[300];
            snprintf(name, sizeof name, v->size == 1 ? "%.280s" : "%.280s (%d)", v->name, v->size);
            print_out("  %-32s %-10s %-12s %-8s %-10.10s %-12s %s\n", name,
                      yk_fmi_type_name(v->type), yk_fmi_causality_name(v->causality), v->unit,
                      v->start, v->variability, v->description);
        }

        if (hidden)
            print_out("  and %d inside; --all lists them\n", hidden);

        /* Terminals group variables as connectors do. */
        if (d.terminal_count > 0)
            print_out("\n  %-32s %-24s members\n", "terminal", "kind");
        for (int i = 0; i < d.terminal_count; i++) {
            const yk_fmi_terminal *terminal = &d.terminals[i];
            print_out("  %-32s %-24s", terminal->name, terminal->kind);
            for (int k = 0; k < terminal->member_count; k++) {
                const yk_fmi_member *member = &d.members[terminal->first_member + k];
                print_out("%s%s: %s", k ? ", " : " ", member->name, member->variable);
            }
            print_out("\n");
        }

        print_section(context, &d, file);
    } else {
        print_failure(context);
        code = EXIT_MISUSE;
    }

    yk_fmi_forget(context, &d);
    yk_archive_remove(context, folder);
    yk_context_destroy(context);
    return code;
}

/* Export --------------------------------------------------------------------------------------- */

static int export(int argc, char **argv)
{
    static const char usage[] =
        "fmu export SCENARIO -o FILE.fmu [OPTIONS]\n\n"
        "Export a scenario, or one subsystem, as a co-simulation FMU that contains the scenario "
        "and its files. The outputs of a scenario "
        "are its recorded channels; inputs and outputs of a subsystem are its ports.";
    option_list sets = {0};
    const char *output = NULL;
    const char *subsystem = NULL;
    const char *version = "3";
    const char *binary = NULL;
    bool wrench = false;

    const option_row rows[] = {
        {"output", OPTION_TEXT, &output, "FILE", "Write the FMU to FILE"},
        {"fmi", OPTION_TEXT, &version, "2|3", "Select the version of the standard (default: 3)"},
        {"subsystem", OPTION_TEXT, &subsystem, "NAME", "Export this subsystem alone"},
        {"wrench-inputs", OPTION_FLAG, &wrench, NULL, "Prefer wrenches as inputs of ports"},
        SET_ROW(&sets),
        {"library", OPTION_TEXT, &binary, "FILE", "Put this library into the FMU (for developers)"},
        RENAMED_ROW("wrench", "wrench-inputs"),
        RENAMED_ROW("binary", "library"),
        {.kind = OPTION_END},
    };

    const char *scenario;
    int parsed = options_parse(usage, rows, argc, argv, &scenario, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);

    /* Options. */
    static const char *const versions[] = {"2", "3", NULL};
    int index;
    if (!options_pick("fmi", version, versions, &index))
        return EXIT_MISUSE;

    if (!output) {
        print_err("yoke: name the FMU to be written with -o FILE.fmu\n");
        return EXIT_MISUSE;
    }

    /* The library for exported FMUs: next to the program in a build, or where it is installed. */
    static const char *const candidates[] = {
        "yoke-fmu.so",
        "../" YOKE_LIBRARY_FOLDER "/yoke/yoke-fmu.so",
    };

    char path[4000];
    size_t count = sizeof candidates / sizeof *candidates;
    if (!binary && find_beside_program(candidates, count, path, sizeof path))
        binary = path;

    if (!binary) {
        print_err("yoke: yoke-fmu.so, which goes into FMUs, is not where this program is "
                  "installed; name it with --library FILE\n");
        return EXIT_FAILED;
    }

    /* The FMU loads it again, with a context of its own. */
    int code;
    yk_context *context = open_checked(scenario, &sets, &code);
    if (!context)
        return code;

    yk_fmu_export_def def = {
        .model =
            {
                .scenario = resolve_scenario(scenario),
                .overrides = sets.items,
                .override_count = sets.count,
                .subsystem = subsystem,
                .wrenches = wrench,
            },
        .version = index + 2,
        .binary = binary,
        .file = output,
    };

    code = EXIT_GOOD;
    yk_status status = yk_fmu_export(context, &def);
    if (status == YK_OK)
        print_out("%s: FMI %d.0\n", output, def.version);
    else
        code = print_failure(context);

    /* A scenario that cannot become an FMU is wrong input. */
    if (status == YK_ERROR_INPUT)
        code = EXIT_MISUSE;

    yk_context_destroy(context);
    return code;
}

/* Commands ------------------------------------------------------------------------------------- */

int command_fmu(int argc, char **argv)
{
    static const char usage[] = "Usage: yoke fmu COMMAND ...\n\n"
                                "  info         what is inside of an FMU, and how it is connected\n"
                                "  export       an FMU from a scenario or one of its subsystems\n";
    static const command_row commands[] = {
        {.name = "info", .run = info},
        {.name = "export", .run = export},
    };
    return run_subcommand(usage, commands, 2, argc, argv);
}
