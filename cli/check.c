/* yoke check: all errors of a scenario in one pass. */
#include <string.h>

#include "cli.h"
#include "json.h"
#include "summary.h"

static const char check_usage[] =
    "check SCENARIO [OPTIONS]\n\n"
    "Validate a scenario and report all errors with line, column and a suggestion.";

static void write_diagnostics_json(json_writer *json, const yk_diagnostics *diagnostics)
{
    json_open_array(json, "diagnostics");
    for (int i = 0; i < yk_diagnostics_count(diagnostics); i++) {
        const yk_diagnostic *entry = yk_diagnostics_at(diagnostics, i);
        json_open_object(json, NULL);
        json_text(json, "severity", entry->severity == YK_SEVERITY_ERROR ? "error" : "warning");
        json_text(json, "source", entry->source);
        json_integer(json, "line", entry->line);
        json_integer(json, "column", entry->column);
        json_integer(json, "length", entry->length);
        json_text(json, "path", entry->path);
        json_text(json, "message", entry->message);
        json_close(json);
    }
    json_close(json);
}

/* The messages and findings of a check as one JSON object. Returns the exit code. */
static int check_as_json(const char *path, const option_list *sets)
{
    yk_context *context = open_context();
    if (!context)
        return EXIT_FAILED;

    yk_scenario_def def = scenario_def(path, sets);
    def.skip_settling = true;
    yk_diagnostics *diagnostics = NULL;
    yk_scenario *scenario = NULL;
    yk_system *system = NULL;
    yk_status status = yk_diagnostics_create(context, &diagnostics);
    if (status == YK_OK)
        status = yk_scenario_load(context, &def, diagnostics, &scenario);
    if (!YK_FAILED(status))
        status = yk_scenario_system(scenario, &system);
    bool starts = !YK_FAILED(status) && !yk_system_uses_time_windows(system);
    if (starts)
        status = yk_system_initialize(system);

    static yk_run_report report; /* too large for a small stack */
    if (starts && !YK_FAILED(status))
        status = yk_check_coupling_limits(context, scenario, &report);

    bool valid = !YK_FAILED(status);
    json_writer json = json_begin(stdout);
    json_text(&json, "scenario", path);
    json_bool(&json, "valid", valid);
    json_text(&json, "message", valid ? NULL : yk_last_message(context));
    if (diagnostics)
        write_diagnostics_json(&json, diagnostics);
    if (valid) {
        const yk_scenario_info *info = yk_scenario_get_info(scenario);
        json_integer(&json, "subsystem_count", info->subsystem_count);
        json_integer(&json, "interface_count", info->interface_count);
        json_integer(&json, "wire_count", info->wire_count);
        json_integer(&json, "steps", info->step_count);
        json_number(&json, "step", info->step);
        write_findings_json(&json, info, report.findings, report.finding_count);
    }
    json_end(&json);

    int code = valid ? EXIT_GOOD : input_code(status);
    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    yk_context_destroy(context);
    return code;
}

int command_check(int argc, char **argv)
{
    option_list sets = {0};
    bool print = false;
    bool origins = false;
    bool as_json = false;

    const option_row rows[] = {
        SET_ROW(&sets),
        {"print", OPTION_FLAG, &print, NULL,
         "Print the scenario as it will run, with defaults and overrides"},
        {"origins", OPTION_FLAG, &origins, NULL,
         "The same, with the file and line, override or default that each value comes from"},
        JSON_ROW(&as_json),
        {.kind = OPTION_END},
    };

    /* The text is printed in place of the checks that need a start. */
    const char *path;
    int parsed = options_parse(check_usage, rows, argc, argv, &path, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);

    print = print || origins;
    if (as_json)
        return check_as_json(path, &sets);

    loaded l;
    if (!load_scenario(path, &sets, LOAD_TO_CHECK, &l))
        return l.code;

    /* Whether the scenario can be initialized. This is not needed to print it. Partners of an
     * external coupling library are not waited for. */
    yk_system *system;
    int code = EXIT_GOOD;
    yk_status status = yk_scenario_system(l.scenario, &system);
    bool starts = !YK_FAILED(status) && !print && !yk_system_uses_time_windows(system);
    if (starts)
        status = yk_system_initialize(system);

    if (YK_FAILED(status)) {
        print_failure_of(path, l.context);
        code = input_code(status);
    } else if (print) {
        char *text = origins ? yk_scenario_text_with_origins(l.scenario)
                             : yk_scenario_resolved_text(l.scenario);
        if (text)
            fputs(text, stdout);
        yk_free(l.context, text);
    }

    if (YK_FAILED(status) || print) {
        close_scenario(&l);
        return code;
    }

    /* Checks of an initialized system. First, subsystems to which interfaces prescribe more motions
     * than their own joints leave free. */
    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
    yk_scenario_def def = scenario_def(path, &sets);
    def.skip_settling = true;
    for (int i = 0; starts && i < info->subsystem_count; i++) {
        bool prescribed = false;
        for (int k = 0; k < info->interface_count; k++) {
            bool moves_it = info->interfaces[k].motion_subsystem.index == i;
            if (moves_it && yk_system_is_motion_prescribed(system, (yk_interface_id){k}))
                prescribed = true;
        }

        yk_prescribed_dofs freedoms;
        if (!prescribed ||
            yk_scenario_prescribed_dofs(l.context, &def, (yk_subsystem_id){i}, &freedoms) != YK_OK)
            continue;

        if (freedoms.prescribed_count > freedoms.independent_count)
            print_err("yoke: warning: interfaces prescribe %d motions of '%s', whose own joints "
                      "leave %d of them free: free the others in the interfaces' joints, remove a "
                      "joint inside, or exchange the two sides\n",
                      freedoms.prescribed_count, info->subsystem_names[i],
                      freedoms.independent_count);
    }

    /* Then couplings that are unstable because of masses or algebraic loops. */
    static yk_run_report report; /* too large for a small stack */
    if (starts)
        status = yk_check_coupling_limits(l.context, l.scenario, &report);
    if (status == YK_OK)
        print_warnings("warning", info, report.findings, report.finding_count);

    /* Its parts, and loaded code. */
    char step[32];
    format_number(step, sizeof step, info->step);
    print_out("%s: ", path);
    print_styled(stdout, STYLE_GOOD, "valid");
    print_out(" (%d subsystem%s, %d interface%s, ", info->subsystem_count,
              plural(info->subsystem_count), info->interface_count, plural(info->interface_count));
    if (info->wire_count > 0)
        print_out("%d wire%s, ", info->wire_count, plural(info->wire_count));
    print_out("%lld steps of %s s)\n", (long long)info->step_count, step);

    for (int i = 0; starts && i < yk_system_loop_count(system); i++) {
        yk_algebraic_loop loop = yk_system_loop(system, i);
        if (loop.solved)
            print_out("the wires %s are an algebraic loop, which %s in every step\n", loop.text,
                      loop.iterated ? "the scheme iterates" : "is solved by Newton's method");
    }

    for (int i = 0; i < info->plugin_count; i++) {
        const yk_plugin_info *plugin = &info->plugins[i];
        const char *name = *plugin->name ? plugin->name : "(unnamed)";
        const char *comma = *plugin->license ? ", " : "";
        print_out("loads code from %s: %s%s%s\n", plugin->path, name, comma, plugin->license);
    }

    /* FMUs and libraries are external code, too; plug-ins are among the files with code, listed
     * above. */
    const char *file;
    bool has_code;
    for (int i = 0; (file = yk_scenario_input_file(l.scenario, i, &has_code)); i++) {
        for (int k = 0; k < info->plugin_count; k++)
            if (strcmp(info->plugins[k].path, file) == 0)
                has_code = false;

        const char *ending = strrchr(file, '.');
        const char *what = "a library";
        if (ending && strcmp(ending, ".fmu") == 0)
            what = "an FMU";
        if (has_code)
            print_out("loads code from %s: %s\n", file, what);
    }

    if (!starts)
        print_out("it was not started: that waits for the partners\n");

    close_scenario(&l);
    return code;
}
