#include "scene.h"

#include <stdio.h>

bool scene_open(bench *run, const char *model, const char *const *overrides, int count, scene *s)
{
    char path[512];
    snprintf(path, sizeof path, "%s/models/%s/scenario.yaml", YOKE_SOURCE_DIR, model);
    yk_scenario_def def = yk_scenario_default();
    def.path = path;
    def.overrides = overrides;
    def.override_count = count;
    *s = (scene){0};
    yk_context *context = bench_context(run);
    return bench_check(run, yk_diagnostics_create(context, &s->diagnostics)) &&
           bench_check(run, yk_scenario_load(context, &def, s->diagnostics, &s->scenario)) &&
           bench_check(run, yk_scenario_system(s->scenario, &s->system));
}

void scene_close(scene *s)
{
    yk_scenario_destroy(s->scenario);
    yk_diagnostics_destroy(s->diagnostics);
}
