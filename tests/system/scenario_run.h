/* Runs a scenario of models/ in a test: loads it with overrides, steps it, samples it. */
#ifndef YOKE_TESTS_SCENARIO_RUN_H
#define YOKE_TESTS_SCENARIO_RUN_H

#include "load_scenario.h"
#include "test.h"
#include "yoke/scenario.h"

enum { RUN_SAMPLE_MAX = 1024 };

typedef struct run {
    yk_context *context;
    yk_scenario *scenario;
    const yk_scenario_info *info;
    yk_system *system;
    double sample[RUN_SAMPLE_MAX]; /* the recorded signals, one after the other */
} run;

/* The text of a scenario, or NULL for that of the file; with overrides up to a NULL. */
static inline run open_text(const char *path, const char *scenario, const char *const *overrides)
{
    run r = {.context = yk_context_create(NULL)};
    r.scenario = load_scenario(r.context, path, scenario, overrides);
    r.info = yk_scenario_get_info(r.scenario);
    assert_in_range(r.info->values_per_sample, 1, RUN_SAMPLE_MAX);
    yk_status status = yk_scenario_system(r.scenario, &r.system);
    if (status == YK_OK)
        status = yk_system_initialize(r.system);
    if (YK_FAILED(status))
        print_error("%s\n", yk_last_message(r.context));
    assert_true(!YK_FAILED(status));
    yk_scenario_read_sample(r.scenario, r.sample);
    return r;
}

/* A file under models/, with overrides up to a NULL. */
static inline run open_run(const char *file, const char *const *overrides)
{
    char path[512];
    snprintf(path, sizeof path, "%s/models/%s", YOKE_SOURCE_DIR, file);
    return open_text(path, NULL, overrides);
}

static inline void close_run(run *r)
{
    yk_scenario_destroy(r->scenario);
    yk_context_destroy(r->context);
}

static inline void step(run *r)
{
    yk_status status = yk_system_step(r->system, NULL);
    if (YK_FAILED(status))
        print_error("%s\n", yk_last_message(r->context));
    assert_true(!YK_FAILED(status));
    yk_scenario_read_sample(r->scenario, r->sample);
}

static inline void run_to(run *r, double time)
{
    while (yk_system_time(r->system) < time - 1e-9)
        step(r);
}

#endif
