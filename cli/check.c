/* yoke check: every mistake of a scenario in one pass. yoke schema: the reference of its keys. */
#include <string.h>

#include "cli.h"
#include "summary.h"

static const char check_usage[] =
    "check SCENARIO [OPTIONS]\n\n"
    "Validate a scenario and report all errors with line, column and a suggestion.";

int command_check(int argc, char **argv)
{
    option_list sets = {0};
    bool print = false;

    const option_row rows[] = {
        SET_ROW(&sets),
        {"print", OPTION_FLAG, &print, NULL,
         "Print the scenario as it will run, with defaults and overrides"},
        {.kind = OPTION_END},
    };

    const char *path;
    int parsed = options_parse(check_usage, rows, argc, argv, &path, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);

    loaded l;
    if (!load_scenario(path, &sets, LOAD_TO_CHECK, &l))
        return l.code;

    /* Whether it starts; to print it, it need not, and partners of another master are not waited
     * for. */
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
        char *text = yk_scenario_resolved_text(l.scenario);
        if (text)
            fputs(text, stdout);
        yk_free(l.context, text);
    }

    if (YK_FAILED(status) || print) {
        close_scenario(&l);
        return code;
    }

    /* What a system that starts may still get wrong. First, subsystems of which interfaces
     * prescribe more motions than their own joints leave free. */
    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
    yk_scenario_def def = scenario_def(path, &sets);
    def.skip_settling = true;
    for (int i = 0; starts && i < info->subsystem_count; i++) {
        bool prescribed = false;
        for (int k = 0; k < info->interface_count; k++) {
            bool moves_it = info->interfaces[k].motion_subsystem == i;
            if (moves_it && yk_system_is_motion_prescribed(system, k))
                prescribed = true;
        }

        yk_prescribed_dofs freedoms;
        if (!prescribed || yk_scenario_prescribed_dofs(l.context, &def, i, &freedoms) != YK_OK)
            continue;

        if (freedoms.prescribed_count > freedoms.independent_count)
            print_err("yoke: warning: interfaces prescribe %d motions of '%s', whose own joints "
                      "leave %d of them free: free the others in the interfaces' joints, remove a "
                      "joint inside, or exchange the two sides\n",
                      freedoms.prescribed_count, info->subsystem_names[i],
                      freedoms.independent_count);
    }

    /* Then couplings that masses or algebraic loops make unstable. */
    yk_run_report report = {0};
    if (starts)
        status = yk_check_coupling_limits(l.context, l.scenario, &report);
    if (status == YK_OK)
        print_warnings("warning", info, report.findings, report.finding_count);

    /* What it consists of, and whose code it loads. */
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

    /* FMUs and libraries are code of others as well; plug-ins are among the files with code, and
     * listed above. */
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

int command_schema(int argc, char **argv)
{
    const option_row rows[] = {{.kind = OPTION_END}};
    const char *path = NULL;
    int parsed = options_parse("schema [SCENARIO]\n\nPrint the reference of all scenario keys as "
                               "Markdown, with those of the plug-ins of a scenario.",
                               rows, argc, argv, &path, 0, 1);
    if (parsed < 0)
        return options_exit(parsed);

    /* With a scenario, the keys of its plug-ins too. */
    loaded l = {0};
    if (path && !load_scenario(path, &(option_list){0}, LOAD_TO_RUN, &l))
        return l.code;
    if (!path)
        l.context = open_context();
    if (!l.context)
        return EXIT_FAILED;

    char *text = yk_scenario_schema_markdown(l.context, l.scenario);
    int code = EXIT_GOOD;
    if (text)
        fputs(text, stdout);
    else
        code = print_failure(l.context);

    yk_free(l.context, text);
    close_scenario(&l);
    return code;
}
