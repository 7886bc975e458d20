/* Shared by the tests of the module model: loading a scenario from a string and examining the
 * messages. */
#ifndef YOKE_TESTS_MODEL_LOADING_H
#define YOKE_TESTS_MODEL_LOADING_H

#include "test.h"

#include <string.h>

#include "yoke/scenario.h"
#include "yoke/system.h"

typedef struct loading {
    yk_context *context;
    yk_diagnostics *diagnostics;
    yk_scenario *scenario; /* NULL after mistakes */
    yk_status status;
    char *text; /* the diagnostics as printed */
} loading;

/* In a context, which goes with what was loaded. */
static inline loading load_in(yk_context *context, const yk_scenario_def *def)
{
    loading l = {.context = context};
    assert_int_equal(yk_diagnostics_create(l.context, &l.diagnostics), YK_OK);
    l.status = yk_scenario_load(l.context, def, l.diagnostics, &l.scenario);
    l.text = yk_diagnostics_format(l.diagnostics);
    return l;
}

static inline loading load_with(const char *text, const char *const *overrides, int count)
{
    yk_scenario_def def = yk_scenario_default();
    def.path = "file.yaml";
    def.text = text;
    def.overrides = overrides;
    def.override_count = count;
    return load_in(yk_context_create(NULL), &def);
}

static inline loading load_text(const char *text)
{
    return load_with(text, NULL, 0);
}

/* Fails with the messages if there are errors. */
static inline loading load_good(const char *text)
{
    loading l = load_text(text);
    if (l.status != YK_OK)
        print_error("%s", l.text);
    assert_int_equal(l.status, YK_OK);
    return l;
}

static inline void unload(loading *l)
{
    yk_scenario_destroy(l->scenario);
    yk_free(l->context, l->text);
    yk_diagnostics_destroy(l->diagnostics);
    yk_context_destroy(l->context);
}

/* Runs a scenario to its end, and takes the last sample of its recorded channels. */
static inline void run_to_sample(const char *text, double *sample)
{
    loading l = load_good(text);
    yk_system *system;
    assert_int_equal(yk_scenario_system(l.scenario, &system), YK_OK);
    yk_status status = yk_system_run(system, yk_scenario_get_info(l.scenario)->end);
    if (YK_FAILED(status))
        print_error("%s\n%s", yk_last_message(l.context), text);
    assert_false(YK_FAILED(status));
    yk_scenario_read_sample(l.scenario, sample);
    unload(&l);
}

#endif
