/* yoke check: every mistake of a scenario in one pass. */
#include <stdio.h>

#include "commands.h"
#include "scenario.h"
#include "yoke/analysis.h"

/* Subsystems that are told more motions than their own joints leave them. */
static void report_freedoms(const char *path, const option_list *sets, const loaded *l,
                            const yk_system *system)
{
    const yk_scenario_info *info = yk_scenario_get(l->scenario);
    yk_scenario_def def = scenario_def(path, sets);
    for (int i = 0; i < info->subsystem_count; i++) {
        yk_freedoms freedoms;
        bool prescribed = false;
        for (int k = 0; k < info->interface_count; k++)
            prescribed = prescribed || (info->interfaces[k].motion_subsystem == i &&
                                        yk_system_prescribes_motion(system, k));
        if (!prescribed || yk_scenario_freedoms(l->context, &def, i, &freedoms) != YK_OK)
            continue;
        if (freedoms.prescribed <= freedoms.independent)
            continue;
        fprintf(
            stderr,
            "yoke: warning: interfaces prescribe %d motions of '%s', whose own joints leave %d of "
            "them free: free the "
            "others in the interfaces' joints, remove a joint inside, or exchange the two sides\n",
            freedoms.prescribed, info->names[i], freedoms.independent);
    }
}

/* Couplings that masses or algebraic loops make unstable. */
static void report_limits(const loaded *l)
{
    yk_run_report report;
    if (yk_limits(l->context, l->scenario, &report) < 0)
        return;
    for (int i = 0; i < report.finding_count; i++) {
        fprintf(stderr, "yoke: warning: ");
        print_finding(stderr, yk_scenario_get(l->scenario)->path, &report.findings[i]);
        fprintf(stderr, "\n");
    }
}

int command_check(int argc, char **argv)
{
    option_list sets = {0};
    bool print = false;
    const option_row rows[] = {
        {"set", OPTION_LIST, &sets, "PATH=VALUE", "override a value: --set coupling.scheme=tight"},
        {"print", OPTION_FLAG, &print, NULL,
         "print the scenario as it will run: defaults and overrides filled in"},
        {.kind = OPTION_END},
    };
    const char *path;
    int parsed = options_parse("check SCENARIO [--set PATH=VALUE ...] [--print]", rows, argc, argv,
                               &path, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);
    loaded l;
    if (!load_scenario_to_check(path, &sets, &l))
        return EXIT_MISUSE;
    yk_system *system;
    int code = EXIT_GOOD;
    if (yk_scenario_system(l.scenario, &system) < 0) {
        fprintf(stderr, "yoke: %s: %s\n", path, yk_last_message(l.context));
        code = EXIT_MISUSE;
    } else if (!print && yk_system_start(system) < 0) {
        fprintf(stderr, "yoke: %s: %s\n", path, yk_last_message(l.context));
        code = EXIT_MISUSE;
    } else if (print) {
        char *text = yk_scenario_text(l.scenario);
        if (text)
            fputs(text, stdout);
        yk_release(l.context, text);
    } else {
        const yk_scenario_info *info = yk_scenario_get(l.scenario);
        report_freedoms(path, &sets, &l, system);
        report_limits(&l);
        printf("%s is good: %d subsystem%s, %d interface%s, ", path, info->subsystem_count,
               info->subsystem_count == 1 ? "" : "s", info->interface_count,
               info->interface_count == 1 ? "" : "s");
        if (info->wire_count > 0)
            printf("%d wire%s, ", info->wire_count, info->wire_count == 1 ? "" : "s");
        printf("%lld steps of %g s\n", (long long)info->steps, info->step);
        for (int i = 0; i < info->plugin_count; i++) {
            const yk_plugin_info *plugin = &info->plugins[i];
            printf("loads code from %s: %s%s%s\n", plugin->path,
                   plugin->name[0] ? plugin->name : "(unnamed)", plugin->licence[0] ? ", " : "",
                   plugin->licence);
        }
    }
    close_scenario(&l);
    return code;
}
