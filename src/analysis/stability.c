/* Stability of the coupling of any scenario, from the running system: go on to a state, find the
 * modes that grow most there, and compare what grows with what grows in other runs; at one state,
 * or at several along the run. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/stability_compare.h"
#include "analysis/stability_mode.h"
#include "base/clock.h"
#include "math/vec3.h"

yk_stability_def yk_stability_default(void)
{
    return (yk_stability_def){.time = NAN, .settle = 20, .track = 80, .samples = 1, .seconds = 60};
}

bool yk_verdict_unstable(yk_verdict verdict)
{
    return verdict == YK_VERDICT_COUPLING || verdict == YK_VERDICT_FAILED ||
           verdict == YK_VERDICT_SOLVER;
}

/* From good to bad. */
static int badness(yk_verdict verdict)
{
    switch (verdict) {
    case YK_VERDICT_STABLE: return 0;
    case YK_VERDICT_MODEL: return 1;
    case YK_VERDICT_UNDECIDED: return 2;
    case YK_VERDICT_SOLVER: return 3;
    case YK_VERDICT_COUPLING: return 4;
    case YK_VERDICT_FAILED: return 5;
    }
    return 5;
}

typedef struct study {
    yk_context *context;
    const yk_scenario_info *info;
    const yk_stability_def *def;
    yk_step_map map;
    yk_comparison comparison;
    yk_stability_report report; /* of the state in work */
} study;

static yk_stability_report empty_report(void)
{
    return (yk_stability_report){.radius = NAN,
                                 .error = NAN,
                                 .tracked = NAN,
                                 .coupling = NAN,
                                 .stable_step = NAN,
                                 .remedy_radius = NAN,
                                 .solver = -1};
}

/* The modes of the scheme at the state, with who moves in them. */
static yk_status describe(study *s, const yk_spectrum *spectrum)
{
    yk_stability_report *r = &s->report;
    r->mode_count = spectrum->count;
    r->dimension = spectrum->dimension;
    r->residual = spectrum->pairs[0].residual;

    yk_status status = YK_OK;
    for (int i = 0; status == YK_OK && i < r->mode_count; i++) {
        const yk_eigenpair *p = &spectrum->pairs[i];
        double growth = hypot(p->real, p->imaginary);
        r->modes[i] = (yk_stability_mode){
            .real = p->real,
            .imaginary = p->imaginary,
            .growth = growth,
            .error = p->error,
            .rate = log(growth) / s->info->step,
            .frequency = atan2(p->imaginary, p->real) / (2 * acos(-1) * s->info->step),
        };
        status = yk_stability_describe(&s->map, s->info, spectrum->amplitude, p->vector[0],
                                       p->vector[1], &r->modes[i]);
    }
    return status;
}

/* The scheme at a state: its modes and what of their growth is believed. */
static yk_status examine(study *s, double time, yk_growth *growth)
{
    yk_stability_report *r = &s->report;
    yk_growth_def def = {.time = time, .rest = s->def->rest, .track = s->def->track};
    def.notable = log(2) / (s->info->end - s->info->start);
    yk_spectrum spectrum;
    int64_t before = s->map.steps, unconverged = s->map.unconverged;
    *r = empty_report();
    r->words = s->map.n;

    s->map.placed = false;
    yk_status status = yk_growth_find(&s->map, s->info, &def, &spectrum, growth);
    if (status == YK_OK)
        status = describe(s, &spectrum);
    if (status == YK_OK)
        status = yk_growth_follow(&s->map, &def, &spectrum, growth);
    yk_spectrum_release(s->context, &spectrum);
    r->steps = s->map.steps - before;
    r->unconverged = s->map.unconverged - unconverged;
    return status;
}

static bool is_broken(yk_status status)
{
    return yk_growth_broke_down(status) || status == YK_ERROR_NO_SOLUTION;
}

/* The run breaks down, or all deviations from it do. A coupling that is violently unstable has
 * not much of a state to look at. */
static yk_status judge_broken(study *s, double time)
{
    enum { STEPS_ON = 1000 };
    yk_stability_report *r = &s->report;
    char message[sizeof r->reason];
    snprintf(message, sizeof message, "%.390s", yk_last_message(s->context));
    if (!s->map.placed)
        return yk_compare_breakdown(&s->comparison, yk_system_time(s->map.system), message);

    /* Does the run itself go on? */
    yk_status status = yk_system_state_set(s->map.system, s->map.base);
    if (status >= 0)
        status = yk_step_map_run(&s->map, STEPS_ON);
    if (yk_growth_broke_down(status))
        return yk_compare_breakdown(&s->comparison, yk_system_time(s->map.system),
                                    yk_last_message(s->context));
    r->time = time;
    r->verdict = YK_VERDICT_UNDECIDED;
    snprintf(r->reason, sizeof r->reason,
             "the run comes to %g s, but every small deviation from it that was tried breaks down "
             "(%.200s); try "
             "another time "
             "(--at)",
             time, message);
    return YK_OK;
}

/* Steps whose iterations stop far from convergence are those of a run only if they stop as they
 * do there, which solvers to rounding do not. Growth is growth all the same; but nothing can be
 * said for such a coupling. */
static void doubt_unconverged(study *s, int64_t steps, int64_t unconverged, double left)
{
    static const double OFTEN = 0.1, FAR = 1e-3;
    yk_stability_report *r = &s->report;
    if (yk_verdict_unstable(r->verdict) || (double)unconverged <= OFTEN * (double)steps)
        return;

    double largest = 0;
    for (int i = 0; i < s->info->interface_count; i++) {
        const yk_interface_def *interface = &s->info->interfaces[i];
        yk_wrench wrench =
            yk_system_output(s->map.system, interface->motion_subsystem, interface->motion_port)
                ->wrench;
        largest = fmax(largest, fmax(yk_v3_norm(wrench.force), yk_v3_norm(wrench.torque)));
    }
    if (left / (double)unconverged <= FAR * largest)
        return;
    r->verdict = YK_VERDICT_UNDECIDED;
    r->coupling = NAN;
    snprintf(r->reason, sizeof r->reason,
             "the iterations of %.0f %% of the macro steps stop far from convergence (%.2g N or N "
             "m, of %.2g), so that "
             "the growth "
             "is that of wherever they stop; try coupling.acceleration quasi-newton or "
             "coupling.scheme index1",
             100 * (double)unconverged / (double)steps, left / (double)unconverged, largest);
}

/* The verdict on a state. */
static yk_status look_at(study *s, double time, bool may_be_earlier)
{
    yk_growth growth;
    int64_t steps = s->map.steps, unconverged = s->map.unconverged;
    double left = s->map.left;
    double earliest = s->info->start + YK_PASSAGE * s->info->step;
    s->comparison.report = &s->report;
    yk_status status = examine(s, time, &growth);
    if (is_broken(status) && may_be_earlier && time > earliest) {
        status = yk_system_start(s->map.system);
        if (status >= 0)
            status = examine(s, earliest, &growth);
    }
    if (is_broken(status) && !s->def->rest)
        return judge_broken(s, time);
    if (status != YK_OK)
        return status;

    yk_stability_report *r = &s->report;
    r->time = growth.time;
    r->radius = growth.radius, r->error = growth.error;
    r->tracked = growth.tracked;
    status = yk_compare(&s->comparison, &growth);
    doubt_unconverged(s, s->map.steps - steps, s->map.unconverged - unconverged,
                      s->map.left - left);
    return status;
}

/* Times of the states: after settling, in the middle, and at the end as far as it can be seen. */
static int choose_times(const study *s, double times[YK_STABILITY_SAMPLES])
{
    const yk_scenario_info *info = s->info;
    double settled = info->start + info->step * s->def->settle;
    times[0] = isfinite(s->def->time) ? s->def->time : settled;
    if (isfinite(s->def->time) || s->def->rest || s->def->samples <= 1)
        return 1;

    int count = 1;
    double last = info->end - info->step * s->def->track;
    for (int i = 1; i < s->def->samples && i < YK_STABILITY_SAMPLES; i++) {
        double time = settled + (last - settled) * i / (s->def->samples - 1);
        if (time > times[count - 1] + info->step * (YK_PASSAGE + s->def->track))
            times[count++] = time;
    }
    return count;
}

static yk_status investigate(study *s, yk_stability_report *worst)
{
    double times[YK_STABILITY_SAMPLES];
    int count = choose_times(s, times);
    yk_status status = YK_OK;
    for (int i = 0; i < count; i++) {
        if (i > 0 && s->def->progress) {
            char text[80];
            snprintf(text, sizeof text, "the state at %g s", times[i]);
            s->def->progress(s->def->user, text);
        }
        if (i > 0)
            status = yk_system_state_set(s->map.system, s->map.base);
        s->comparison.first_sample = i == 0;
        if (status >= 0)
            status = look_at(s, times[i], i == 0 && !isfinite(s->def->time));
        bool out_of_time = status == YK_INTERRUPTED;
        if (out_of_time && i > 0)
            break;
        if (out_of_time) {
            s->report.verdict = YK_VERDICT_UNDECIDED;
            snprintf(s->report.reason, sizeof s->report.reason,
                     "%g s of the processor were not enough for the modes of one state; give more "
                     "(--seconds)",
                     s->def->seconds);
            *worst = s->report;
            break;
        }
        if (status < 0)
            return status;

        int sampled = worst->sample_count;
        if (i == 0 || badness(s->report.verdict) > badness(worst->verdict) ||
            (s->report.verdict == worst->verdict && s->report.radius > worst->radius)) {
            yk_stability_report earlier = *worst;
            *worst = s->report;
            worst->steps += earlier.steps, worst->unconverged += earlier.unconverged;
            memcpy(worst->samples, earlier.samples, sizeof worst->samples);
        } else {
            worst->steps += s->report.steps, worst->unconverged += s->report.unconverged;
        }
        worst->samples[sampled].time = s->report.time;
        worst->samples[sampled].radius = s->report.radius;
        worst->samples[sampled].verdict = s->report.verdict;
        worst->sample_count = sampled + 1;
        if (yk_verdict_unstable(worst->verdict))
            break;
    }
    if (s->def->remedies && yk_verdict_unstable(worst->verdict)) {
        s->comparison.report = worst;
        return yk_compare_remedies(&s->comparison);
    }
    return YK_OK;
}

static yk_status ask(yk_context *context, yk_scenario *scenario, const yk_rerun_source *source,
                     const yk_stability_def *def, yk_stability_report *report)
{
    study s = {.context = context, .info = yk_scenario_get(scenario), .def = def};
    s.comparison.source = *source;
    s.comparison.def = def;
    s.comparison.deadline = yk_processor_seconds() + def->seconds;

    yk_system *system;
    yk_status status = yk_scenario_system(scenario, &system);
    if (status == YK_OK)
        status = yk_system_start(system);
    if (status >= 0)
        status = yk_step_map_open(context, system, &s.map);
    s.map.deadline = s.comparison.deadline;
    if (status == YK_OK)
        status = investigate(&s, report);
    yk_step_map_close(&s.map);
    if (status < 0)
        return status;

    yk_status restarted = yk_system_start(system);
    return restarted < 0 ? restarted : YK_OK;
}

yk_status yk_stability(yk_context *context, yk_scenario *scenario, const yk_stability_def *def,
                       yk_stability_report *report)
{
    *report = empty_report();
    const yk_scenario_info *info = yk_scenario_get(scenario);
    if (isfinite(def->time) &&
        (def->time < info->start || def->time > info->start + 1e12 * info->step))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "stability: the run starts at %g s, so there is no state at %g s",
                       info->start, def->time);

    yk_rerun_source source;
    yk_status status = yk_rerun_source_open(context, scenario, &source);
    if (status == YK_OK && source.to_rounding)
        status = ask(context, scenario, &source, def, report);

    /* Solvers that end their iterations at a tolerance make noise of differences: then the same
     * scenario to rounding. */
    if (status == YK_OK && !source.to_rounding) {
        yk_rerun rerun;
        status = yk_rerun_open(&source, &(yk_changes){0}, &rerun);
        if (status == YK_OK)
            status = ask(rerun.context, rerun.scenario, &source, def, report);
        if (status < 0 && rerun.context)
            yk_fail(context, status, "%s", yk_last_message(rerun.context));
        yk_rerun_close(&rerun);
    }
    yk_rerun_source_close(&source);
    return status;
}
