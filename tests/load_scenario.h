/* Scenarios for tests: described by a file and overrides, and loaded. */
#ifndef YOKE_TESTS_LOAD_H
#define YOKE_TESTS_LOAD_H

#include <stdio.h>

#include "test.h"
#include "yoke/scenario.h"

/* The scenario of a model, until that of another one is asked for. */
static inline const char *model_file(const char *model)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/models/%s/scenario.yaml", YOKE_SOURCE_DIR, model);
    return path;
}

/* The text of a scenario, or NULL for that of the file; with overrides up to a NULL. */
static inline yk_scenario_def describe_scenario(const char *path, const char *text,
                                                const char *const *overrides)
{
    yk_scenario_def def = yk_scenario_default();
    def.path = path;
    def.text = text;
    def.overrides = overrides;
    while (overrides && overrides[def.override_count])
        def.override_count++;
    return def;
}

/* Fails with all mistakes, or the reason why it cannot be loaded. */
static inline yk_scenario *load_described(yk_context *context, const yk_scenario_def *def)
{
    yk_diagnostics *diagnostics = NULL;
    yk_scenario *scenario = NULL;
    assert_int_equal(yk_diagnostics_create(context, &diagnostics), YK_OK);
    if (yk_scenario_load(context, def, diagnostics, &scenario) != YK_OK)
        fail_msg("%s: %s\n%s", def->path, yk_last_message(context),
                 yk_diagnostics_format(diagnostics));

    yk_diagnostics_destroy(diagnostics);
    return scenario;
}

static inline yk_scenario *load_scenario(yk_context *context, const char *path, const char *text,
                                         const char *const *overrides)
{
    yk_scenario_def def = describe_scenario(path, text, overrides);
    return load_described(context, &def);
}

#endif
