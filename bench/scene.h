/* A scenario of models/ in a benchmark case. */
#ifndef YOKE_BENCH_SCENE_H
#define YOKE_BENCH_SCENE_H

#include "bench.h"
#include "yoke/scenario.h"

typedef struct scene {
    yk_diagnostics *diagnostics;
    yk_scenario *scenario;
    yk_system *system;
} scene;

/* models/MODEL/scenario.yaml with overrides; false after the case has failed. Close it in any case. */
bool scene_open(bench *run, const char *model, const char *const *overrides, int count, scene *s);
void scene_close(scene *s);

#endif
