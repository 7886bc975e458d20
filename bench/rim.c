/* Macro steps of the models of Peiret et al. 2020, figure 14: cost of the mechanism, its reduced
 * model and the hydraulics. */
#include <string.h>

#include "base/clock.h"
#include "scene.h"

static bool open_scene(bench *run, const char *model, const char *step, scene *s)
{
    const char *overrides[] = {step, "coupling.scheme=rim",
                               "subsystems.hydraulics.max_substep=2e-4"};
    return scene_open(run, model, overrides, 3, s);
}

static int find_subsystem(const scene *s, const char *name)
{
    const yk_scenario_info *info = yk_scenario_get_info(s->scenario);
    for (int i = 0; i < info->subsystem_count; i++)
        if (strcmp(info->subsystem_names[i], name) == 0)
            return i;
    return 0;
}

/* From the start of the scenario to `end`; parts of the time, and speed relative to the time of the
 * model. */
static void run_model(bench *run, const char *model, const char *step, double end)
{
    scene s;
    double seconds = 0;
    bool good = open_scene(run, model, step, &s);
    while (good && bench_repeat(run)) {
        good = bench_check(run, yk_system_initialize(s.system));
        bench_start(run);
        seconds = -yk_clock_seconds();
        while (good && yk_system_time(s.system) < end)
            good = !YK_FAILED(yk_system_step(s.system, NULL));
        seconds += yk_clock_seconds();
        bench_stop(run, (double)yk_system_step_count(s.system));
        if (!good)
            bench_fail(run, "%s", yk_last_message(bench_context(run)));
    }
    if (good) {
        yk_subsystem_statistics mechanism = yk_system_subsystem_statistics(
            s.system, (yk_subsystem_id){find_subsystem(&s, "mechanism")});
        yk_subsystem_statistics oil = yk_system_subsystem_statistics(
            s.system, (yk_subsystem_id){find_subsystem(&s, "hydraulics")});
        double steps = (double)yk_system_step_count(s.system);
        bench_note(run, "mechanism us", 1e6 * mechanism.wall_time / steps);
        bench_note(run, "model us", 1e6 * mechanism.model_wall_time / steps);
        bench_note(run, "hydraulics us", 1e6 * oil.wall_time / steps);
        bench_note(run, "model by mechanism", mechanism.model_wall_time / mechanism.wall_time);
        bench_note(run, "times real time", end / seconds);
    }
    scene_close(&s);
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
