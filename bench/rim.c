/* Macro steps of the models of paper rim, figure 14: what the mechanism, its reduced model and the hydraulics take. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "bench.h"
#include "yoke/model.h"

typedef struct scene {
    yk_diagnostics *diagnostics;
    yk_scenario *scenario;
    yk_system *system;
} scene;

static bool open_scene(bench *run, const char *model, const char *step, scene *s)
{
    char path[512];
    const char *overrides[] = {step, "coupling.scheme=rim", "subsystems.hydraulics.micro_step=2e-4"};
    yk_scenario_def def = yk_scenario_default();
    snprintf(path, sizeof path, "%s/models/%s/scenario.yaml", YOKE_SOURCE_DIR, model);
    def.path = path;
    def.overrides = overrides;
    def.override_count = 3;
    *s = (scene){0};
    yk_context *context = bench_context(run);
    return bench_check(run, yk_diagnostics_create(context, &s->diagnostics)) &&
           bench_check(run, yk_scenario_load(context, &def, s->diagnostics, &s->scenario)) &&
           bench_check(run, yk_scenario_system(s->scenario, &s->system));
}

static void close_scene(scene *s)
{
    yk_scenario_destroy(s->scenario);
    yk_diagnostics_destroy(s->diagnostics);
}

static int find_subsystem(const scene *s, const char *name)
{
    const yk_scenario_info *info = yk_scenario_get(s->scenario);
    for (int i = 0; i < info->subsystem_count; i++)
        if (strcmp(info->names[i], name) == 0) return i;
    return 0;
}

/* From the start of the scenario to `end`; shares of the time, and how much faster than the clock of the model. */
static void run_model(bench *run, const char *model, const char *step, double end)
{
    scene s;
    double seconds = 0;
    bool good = open_scene(run, model, step, &s);
    while (good && bench_repeat(run)) {
        good = bench_check(run, yk_system_start(s.system));
        bench_start(run);
        seconds = -yk_clock_seconds();
        while (good && yk_system_time(s.system) < end) good = yk_system_step(s.system, NULL) >= 0;
        seconds += yk_clock_seconds();
        bench_stop(run, (double)yk_system_steps(s.system));
        if (!good) bench_fail(run, "%s", yk_last_message(bench_context(run)));
    }
    if (good) {
        yk_subsystem_statistics mechanism = yk_system_subsystem_statistics(s.system, find_subsystem(&s, "mechanism"));
        yk_subsystem_statistics oil = yk_system_subsystem_statistics(s.system, find_subsystem(&s, "hydraulics"));
        double steps = (double)yk_system_steps(s.system);
        bench_note(run, "mechanism us", 1e6 * mechanism.seconds / steps);
        bench_note(run, "model us", 1e6 * mechanism.model_seconds / steps);
        bench_note(run, "hydraulics us", 1e6 * oil.seconds / steps);
        bench_note(run, "model by mechanism", mechanism.model_seconds / mechanism.seconds);
        bench_note(run, "times real time", end / seconds);
    }
    close_scene(&s);
}

static void manipulator_fine(bench *run)
{
    run_model(run, "manipulator", "time.step=1e-3", 3);
}

static void manipulator_coarse(bench *run)
{
    run_model(run, "manipulator", "time.step=1e-2", 3);
}

static void crane_fine(bench *run)
{
    run_model(run, "log-crane", "time.step=1e-3", 4);
}

static void crane_real_time(bench *run)
{
    run_model(run, "log-crane", "time.step=5e-3", 7);
}

static void crane_coarse(bench *run)
{
    run_model(run, "log-crane", "time.step=1e-2", 7);
}

const bench_case bench_rim[] = {
    {"rim/manipulator, 1 ms", "macro step", manipulator_fine, NULL, false},
    {"rim/manipulator, 10 ms", "macro step", manipulator_coarse, "rim/manipulator, 1 ms", false},
    {"rim/log crane, 1 ms", "macro step", crane_fine, NULL, true},
    {"rim/log crane, 5 ms", "macro step", crane_real_time, NULL, false},
    {"rim/log crane, 10 ms", "macro step", crane_coarse, NULL, true},
    {0},
};
