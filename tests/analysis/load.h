/* A scenario of a test, loaded. */
#ifndef YOKE_TESTS_ANALYSIS_LOAD_H
#define YOKE_TESTS_ANALYSIS_LOAD_H

#include "test.h"
#include "yoke/model.h"

/* The text of a scenario, or NULL for that of the file; with overrides up to a NULL. */
static inline yk_scenario *load_scenario(yk_context *context, const char *path, const char *text,
                                         const char *const *overrides)
{
    yk_scenario_def def = yk_scenario_default();
    def.path = path;
    def.text = text;
    def.overrides = overrides;
    while (overrides && overrides[def.override_count])
        def.override_count++;

    yk_scenario *scenario = NULL;
    if (yk_scenario_load(context, &def, NULL, &scenario) != YK_OK)
        fail_msg("%s", yk_last_message(context));
    return scenario;
}

#endif
