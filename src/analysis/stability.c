/* Stability of the coupling of any scenario, from the running system: advance to a state, find the
 * modes with the largest growth, and compare their growth with that in other runs; at one state, or
 * at several along the run. Other runs are the same scenario with some changed values. */
#include "analysis/stability.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "coupling/system_arrays.h"
#include "math/vec3.h"
#include "model/scenario.h"

yk_stability_options yk_stability_options_default(void)
{
    return (yk_stability_options){.time = NAN,
                                  .settle_steps = 20,
                                  .track_steps = 80,
                                  .sample_count = 1,
                                  .cpu_time_budget = 60};
}

bool yk_verdict_is_unstable(yk_verdict verdict)
{
    return verdict == YK_VERDICT_UNSTABLE_COUPLING || verdict == YK_VERDICT_COUPLING_BREAKDOWN ||
           verdict == YK_VERDICT_UNSTABLE_SOLVER;
}

typedef struct study {
    yk_context *context;
    const yk_scenario_info *info;
    const yk_stability_options *def;
    yk_step_map map;
    yk_comparison comparison;
    yk_stability_report report; /* of the present state */
} study;

static yk_stability_report empty_report(void)
{
    return (yk_stability_report){
        .spectral_radius = NAN,
        .spectral_radius_error = NAN,
        .tracked_growth = NAN,
        .coupling_growth = NAN,
        .stable_step = NAN,
        .remedy_radius = NAN,
        .unstable_subsystem = {-1},
    };
}

/* The scheme at a state: its modes with their bodies, and the accepted estimate of their growth. */
static yk_status examine(study *s, double time, yk_growth *growth)
{
    /* Count the cost for this state alone. */
    const yk_scenario_info *info = s->info;
    yk_stability_report *r = &s->report;
    yk_step_map *map = &s->map;
    int64_t steps = map->steps;
    int64_t unconverged = map->unconverged;
    *r = empty_report();
    r->state_size = map->n;

    /* The spectrum of the macro step there. */
    yk_growth_def def = {
        .time = time,
        .rest = s->def->find_equilibrium,
        .track = s->def->track_steps,
        .notable = log(2) / (info->end - info->start),
    };

    yk_spectrum spectrum;
    map->reached = false;
    yk_status status = yk_growth_find(map, info, &def, &spectrum, growth);
    if (status == YK_OK) {
        r->mode_count = spectrum.count;
        r->krylov_dimension = spectrum.dimension;
        r->residual = spectrum.pairs[0].residual;
    }

    /* The bodies that move in each mode. */
    for (int i = 0; status == YK_OK && i < r->mode_count; i++) {
        const yk_arnoldi_pair *p = &spectrum.pairs[i];
        double modulus = hypot(p->real, p->imaginary);
        r->modes[i] = (yk_stability_mode){
            .real = p->real,
            .imaginary = p->imaginary,
            .growth = modulus,
            .error = spectrum.errors[i],
            .rate = log(modulus) / info->step,
            .frequency = atan2(p->imaginary, p->real) / (2 * acos(-1) * info->step),
        };
        status = yk_stability_describe(map, info, spectrum.amplitude, p->vector_real,
                                       p->vector_imaginary, &r->modes[i]);
    }

    if (status == YK_OK)
        status = yk_growth_follow(map, &def, &spectrum, growth);

    yk_spectrum_release(s->context, &spectrum);
    r->step_count = map->steps - steps;
    r->steps_not_converged = map->unconverged - unconverged;

    return status;
}

static bool is_broken(yk_status status)
{
    return yk_growth_broke_down(status) || status == YK_ERROR_NO_SOLUTION;
}

/* The verdict on a state. */
static yk_status judge(study *s, double time, bool may_be_earlier)
{
    static const double OFTEN = 0.1;
    static const double FAR = 1e-3;
    enum { STEPS_ON = 1000 };
    const yk_scenario_info *info = s->info;
    yk_stability_report *r = &s->report;
    yk_step_map *map = &s->map;
    int64_t steps_before = map->steps;
    int64_t unconverged_before = map->unconverged;
    double left_before = map->left;

    /* The modes; near the start if the run breaks down before. */
    yk_growth growth;
    double earliest = info->start + YK_PASSAGE * info->step;
    s->comparison.report = r;
    yk_status status = examine(s, time, &growth);
    if (is_broken(status) && may_be_earlier && time > earliest) {
        status = yk_system_initialize(map->system);
        if (!YK_FAILED(status))
            status = examine(s, earliest, &growth);
    }

    /* Either the run breaks down, or all deviations from it do: a violently unstable coupling has
     * no state that can be linearized. Determine whether the run itself continues. */
    if (is_broken(status) && !s->def->find_equilibrium) {
        char message[sizeof r->reason];
        snprintf(message, sizeof message, "%.390s", yk_last_message(s->context));
        if (!map->reached)
            return yk_compare_breakdown(&s->comparison, yk_system_time(map->system), message);

        status = yk_system_set_state(map->system, map->base);
        if (!YK_FAILED(status))
            status = yk_step_map_run(map, STEPS_ON);
        if (yk_growth_broke_down(status))
            return yk_compare_breakdown(&s->comparison, yk_system_time(map->system),
                                        yk_last_message(s->context));

        r->time = time;
        r->verdict = YK_VERDICT_UNDECIDED;
        yk_format(r->reason, sizeof r->reason,
                  "the run comes to %g s, but every small deviation from it that was tried breaks "
                  "down (%.200s); try another time",
                  time, message);
        return YK_OK;
    }

    if (status != YK_OK)
        return status;

    /* The cause of the growth. */
    r->time = growth.time;
    r->spectral_radius = growth.radius;
    r->spectral_radius_error = growth.error;
    r->tracked_growth = growth.tracked;
    status = yk_compare(&s->comparison, &growth);

    /* Unconverged iterations in the analysis matter only if the run has them too, which may not be
     * the case with solvers that iterate to rounding errors. Growth is growth in any case, but the
     * stability of such a coupling cannot be certified. */
    double steps = (double)(map->steps - steps_before);
    double unconverged = (double)(map->unconverged - unconverged_before);
    double left = map->left - left_before;
    if (yk_verdict_is_unstable(r->verdict) || unconverged <= OFTEN * steps)
        return status;

    /* Residual, relative to the wrenches. */
    double largest = 0;
    for (int i = 0; i < info->interface_count; i++) {
        const yk_interface_def *def = &info->interfaces[i];
        const yk_port_value *value =
            yk_system_port_value(map->system, def->motion_subsystem, def->motion_port);
        double force = yk_v3_norm(value->wrench.force);
        double torque = yk_v3_norm(value->wrench.torque);
        largest = fmax(largest, fmax(force, torque));
    }

    if (left / unconverged <= FAR * largest)
        return status;

    r->verdict = YK_VERDICT_UNDECIDED;
    r->coupling_growth = NAN;
    yk_format(r->reason, sizeof r->reason,
              "the iterations of %.0f %% of the macro steps stop far from convergence (%.2g N or N "
              "m, of %.2g), so that the growth is that of wherever they stop; accelerated "
              "iterations, or a scheme that applies wrenches to both sides, may converge",
              100 * unconverged / steps, left / unconverged, largest);

    return status;
}

/* The states along the run, of which the worst is reported. */
static yk_status investigate(study *s, yk_stability_report *worst)
{
    static const int badness[] = {
        [YK_VERDICT_STABLE] = 0,
        [YK_VERDICT_UNSTABLE_MOTION] = 1,
        [YK_VERDICT_UNDECIDED] = 2,
        [YK_VERDICT_UNSTABLE_SOLVER] = 3,
        [YK_VERDICT_UNSTABLE_COUPLING] = 4,
        [YK_VERDICT_COUPLING_BREAKDOWN] = 5,
    };

    const yk_scenario_info *info = s->info;
    const yk_stability_options *def = s->def;
    const yk_stability_report *r = &s->report;

    /* Times: after settling, in the middle, and at the end as far as it can be analyzed. */
    double times[YK_STABILITY_SAMPLES_MAX];
    bool given = isfinite(def->time);
    double settled = info->start + info->step * def->settle_steps;
    times[0] = settled;
    if (given)
        times[0] = def->time;
    int count = 1;
    double last = info->end - info->step * def->track_steps;
    int samples = def->sample_count;
    if (given || def->find_equilibrium)
        samples = 1;
    for (int i = 1; i < samples && i < YK_STABILITY_SAMPLES_MAX; i++) {
        double time = settled + (last - settled) * i / (def->sample_count - 1);
        if (time > times[count - 1] + info->step * (YK_PASSAGE + def->track_steps))
            times[count++] = time;
    }

    for (int i = 0; i < count; i++) {
        if (i > 0 && def->progress) {
            char text[80];
            yk_format(text, sizeof text, "the state at %g s", times[i]);
            def->progress(def->user, text);
        }

        /* Continue from the previous state, which is the base of the map. */
        yk_status status = YK_OK;
        if (i > 0)
            status = yk_system_set_state(s->map.system, s->map.base);
        s->comparison.first_sample = i == 0;
        if (!YK_FAILED(status))
            status = judge(s, times[i], i == 0 && !given);
        if (YK_FAILED(status))
            return status;
        if (status == YK_INTERRUPTED && i > 0)
            break;

        if (status == YK_INTERRUPTED) {
            *worst = *r;
            worst->verdict = YK_VERDICT_UNDECIDED;
            yk_format(
                worst->reason, sizeof worst->reason,
                "%g s of the processor were not enough for the modes of one state; allow more",
                def->cpu_time_budget);
            break;
        }

        /* The worst so far, with the totals of steps and samples. */
        yk_stability_report earlier = *worst;
        bool worse =
            badness[r->verdict] > badness[earlier.verdict] ||
            (r->verdict == earlier.verdict && r->spectral_radius > earlier.spectral_radius);
        if (i == 0 || worse) {
            *worst = *r;
            worst->step_count += earlier.step_count;
            worst->steps_not_converged += earlier.steps_not_converged;
            memcpy(worst->samples, earlier.samples, sizeof worst->samples);
        } else {
            worst->step_count += r->step_count;
            worst->steps_not_converged += r->steps_not_converged;
        }

        worst->samples[earlier.sample_count].time = r->time;
        worst->samples[earlier.sample_count].radius = r->spectral_radius;
        worst->samples[earlier.sample_count].verdict = r->verdict;
        worst->sample_count = earlier.sample_count + 1;
        if (yk_verdict_is_unstable(worst->verdict))
            break;
    }

    /* Remedies. */
    if (!def->find_remedies || !yk_verdict_is_unstable(worst->verdict))
        return YK_OK;

    s->comparison.report = worst;

    return yk_compare_remedies(&s->comparison);
}

static yk_status ask(yk_context *context, yk_scenario *scenario, const yk_rerun_source *source,
                     const yk_stability_options *def, yk_stability_report *report)
{
    study s = {.context = context, .info = yk_scenario_get_info(scenario), .def = def};
    s.comparison.source = *source;
    s.comparison.def = def;
    s.comparison.deadline = yk_processor_seconds() + def->cpu_time_budget;

    /* The system after its start, and its step as a map. */
    yk_system *system;
    yk_status status = yk_scenario_system(scenario, &system);
    if (status == YK_OK)
        status = yk_system_initialize(system);
    if (!YK_FAILED(status))
        status = yk_step_map_open(context, system, &s.map);
    s.map.deadline = s.comparison.deadline;
    if (status == YK_OK)
        status = investigate(&s, report);
    yk_step_map_close(&s.map);
    if (YK_FAILED(status))
        return status;

    /* Restore the system. */
    yk_status restarted = yk_system_initialize(system);
    if (YK_FAILED(restarted))
        return restarted;
    return YK_OK;
}

/* Reruns -----------------------------------------------------------------------------------------
 *
 * The same scenario with some changed values: another step, another scheme. */

static yk_status open_source(yk_context *context, const yk_scenario *scenario,
                             yk_rerun_source *source)
{
    /* The resolved scenario, with its present values. */
    *source = (yk_rerun_source){.context = context, .info = yk_scenario_get_info(scenario)};
    source->text = yk_scenario_resolved_text(scenario);

    /* Particles settle once for all reruns, and for the caller's other scenarios if the caller
     * keeps the cache. */
    source->cache = scenario->builder.cache;
    source->owns_cache = !source->cache;
    if (source->owns_cache)
        source->cache = yk_cache_create();
    source->to_rounding = scenario->builder.to_rounding;

    if (!source->text)
        return YK_ERROR_MEMORY;
    return YK_OK;
}

static void close_source(yk_rerun_source *source)
{
    if (source->owns_cache)
        yk_cache_destroy(source->cache);
    if (source->context)
        yk_free(source->context, source->text);
    *source = (yk_rerun_source){0};
}

yk_status yk_rerun_open(const yk_rerun_source *source, const yk_changes *changes, yk_rerun *rerun)
{
    /* One thread, because sweeps over many scenarios run in parallel. */
    *rerun = (yk_rerun){0};
    yk_context_def context_def = yk_context_default();
    context_def.thread_count = 1;
    context_def.log = NULL; /* the outcome is reported, not the log */
    rerun->context = yk_context_create(&context_def);
    if (!rerun->context)
        return YK_ERROR_MEMORY;

    /* The text of the resolved scenario, with the changes. */
    const char *overrides[YK_CHANGES_MAX];
    for (int i = 0; i < changes->count; i++)
        overrides[i] = changes->texts[i];
    yk_scenario_def def = yk_scenario_default();
    def.path = source->info->path;
    def.text = source->text;
    def.overrides = overrides;
    def.override_count = changes->count;
    def.iterate_to_rounding = true;
    def.cache = source->cache;

    /* Errors were reported when the scenario was first loaded. */
    yk_diagnostics *diagnostics = NULL;
    yk_status status = yk_diagnostics_create(rerun->context, &diagnostics);
    if (!YK_FAILED(status))
        status = yk_scenario_load(rerun->context, &def, diagnostics, &rerun->scenario);
    yk_diagnostics_destroy(diagnostics);
    if (!YK_FAILED(status)) {
        rerun->info = yk_scenario_get_info(rerun->scenario);
        status = yk_scenario_system(rerun->scenario, &rerun->system);
    }

    if (!YK_FAILED(status))
        status = yk_system_initialize(rerun->system);
    if (!YK_FAILED(status))
        return YK_OK;

    /* The reason in its own words. */
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
        .names = &rerun->info->subsystem_names[subsystem],
        .subsystem_count = 1,
        .scheme = yk_scheme_default(),
        .start = rerun->info->start,
        .step = rerun->info->step,
        .control = yk_step_control_default(),
    };

    /* With its own units and substeps. */
    if (scenario->placed) {
        def.transforms = &scenario->transforms[subsystem];
        def.substeps = &scenario->substeps[subsystem];
    }

    yk_status status = yk_system_make(rerun->context, &def, system);
    if (!YK_FAILED(status))
        status = yk_system_initialize(*system);

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

/* The question --------------------------------------------------------------------------------- */

yk_status yk_analyze_stability(yk_context *context, yk_scenario *scenario,
                               const yk_stability_options *def, yk_stability_report *report)
{
    *report = empty_report();

    /* A time at which there is a state. */
    const yk_scenario_info *info = yk_scenario_get_info(scenario);
    double last = info->start + 1e12 * info->step;
    if (isfinite(def->time) && (def->time < info->start || def->time > last))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "stability: the run starts at %g s, so there is no state at %g s",
                       info->start, def->time);

    yk_rerun_source source;
    yk_status status = open_source(context, scenario, &source);
    if (status == YK_OK && source.to_rounding)
        status = ask(context, scenario, &source, def, report);

    /* Solvers that iterate to a tolerance make differences noisy: load the same scenario with
     * iterations to rounding errors. */
    if (status == YK_OK && !source.to_rounding) {
        yk_rerun rerun;
        status = yk_rerun_open(&source, &(yk_changes){0}, &rerun);
        if (status == YK_OK)
            status = ask(rerun.context, rerun.scenario, &source, def, report);
        if (YK_FAILED(status) && rerun.context)
            yk_fail(context, status, "%s", yk_last_message(rerun.context));
        yk_rerun_close(&rerun);
    }

    close_source(&source);
    return status;
}
