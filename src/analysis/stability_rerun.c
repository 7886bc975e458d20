/* A scenario once more with some of its values changed: another step, another scheme. */
#include <stdio.h>
#include <string.h>

#include "analysis/stability.h"
#include "coupling/description.h"
#include "model/scenario.h"

yk_status yk_rerun_source_open(yk_context *context, const yk_scenario *scenario,
                               yk_rerun_source *source)
{
    /* The scenario as it was resolved, with the values that it has now. */
    *source = (yk_rerun_source){.context = context, .info = yk_scenario_get(scenario)};
    source->text = yk_scenario_text(scenario);

    /* Particles settle once for all reruns; for the caller's other scenarios too, where he keeps
     * what was found. */
    source->cache = scenario->builder.cache;
    source->owns_cache = !source->cache;
    if (source->owns_cache)
        source->cache = yk_cache_create();
    source->to_rounding = scenario->builder.to_rounding;

    if (!source->text)
        return YK_ERROR_MEMORY;
    return YK_OK;
}

void yk_rerun_source_close(yk_rerun_source *source)
{
    if (source->owns_cache)
        yk_cache_destroy(source->cache);
    if (source->context)
        yk_release(source->context, source->text);
    *source = (yk_rerun_source){0};
}

yk_status yk_rerun_open(const yk_rerun_source *source, const yk_changes *changes, yk_rerun *rerun)
{
    /* One thread, so that sweeps over many scenarios are what is parallel. */
    *rerun = (yk_rerun){0};
    yk_context_def context_def = yk_context_default();
    context_def.threads = 1;
    rerun->context = yk_context_create(&context_def);
    if (!rerun->context)
        return YK_ERROR_MEMORY;

    /* The text of the scenario, resolved, with the changes. */
    const char *overrides[YK_CHANGES_MAX];
    for (int i = 0; i < changes->count; i++)
        overrides[i] = changes->texts[i];
    yk_scenario_def def = yk_scenario_default();
    def.path = source->info->path;
    def.text = source->text;
    def.overrides = overrides;
    def.override_count = changes->count;
    def.to_rounding = true;
    def.cache = source->cache;

    /* Mistakes were reported when the scenario was first loaded. */
    yk_diagnostics *diagnostics = NULL;
    yk_status status = yk_diagnostics_create(rerun->context, &diagnostics);
    if (!YK_FAILED(status))
        status = yk_scenario_load(rerun->context, &def, diagnostics, &rerun->scenario);
    yk_diagnostics_destroy(diagnostics);
    if (!YK_FAILED(status)) {
        rerun->info = yk_scenario_get(rerun->scenario);
        status = yk_scenario_system(rerun->scenario, &rerun->system);
    }

    if (!YK_FAILED(status))
        status = yk_system_start(rerun->system);
    if (!YK_FAILED(status))
        return YK_OK;

    /* Why it is not there, in its own words. */
    const char *why = yk_last_message(rerun->context);
    if (!*why)
        why = yk_status_text(status);
    snprintf(rerun->message, sizeof rerun->message, "%s", why);

    return status;
}

yk_status yk_rerun_alone(yk_rerun *rerun, int subsystem, yk_system **system)
{
    const yk_scenario *scenario = rerun->scenario;
    yk_subsystem *const part = rerun->info->subsystems[subsystem];

    /* Without interfaces nothing is coupled. */
    yk_system_description def = {
        .subsystems = &part,
        .names = &rerun->info->names[subsystem],
        .subsystem_count = 1,
        .scheme = yk_scheme_default(),
        .start = rerun->info->start,
        .step = rerun->info->step,
        .control = yk_step_control_default(),
    };

    /* In units and with substeps of its own. */
    if (scenario->placed) {
        def.transforms = &scenario->transforms[subsystem];
        def.substeps = &scenario->substeps[subsystem];
    }

    yk_status status = yk_system_make(rerun->context, &def, system);
    if (!YK_FAILED(status))
        status = yk_system_start(*system);

    if (YK_FAILED(status))
        return status;
    return YK_OK;
}

void yk_rerun_close(yk_rerun *rerun)
{
    yk_scenario_destroy(rerun->scenario);
    if (rerun->context)
        yk_context_destroy(rerun->context);
    rerun->context = NULL;
    rerun->scenario = NULL;
    rerun->system = NULL;
}
