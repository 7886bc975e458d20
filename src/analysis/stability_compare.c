/* Distinguishes growth of the motion from growth of the coupling.
 *
 * A falling pendulum, a negative damper, a controller with too much gain or colliding particles
 * make deviations grow with a rate per second that is a property of the model: every consistent
 * scheme shows it, more accurately with finer steps. So it is the growth of a reference at fine
 * steps; of several references the smallest growth counts, because a reference can only add growth
 * of its own.
 *
 * An unstable coupling has either a factor per step that does not depend on the step (the ratio of
 * two masses), so that its rate per second increases as the step decreases; or a rate that vanishes
 * with the step (a delay, a stiffness), unlike that of the motion. In both cases it exceeds the
 * rate of the reference by more than the errors of both.
 *
 * Solvers may be unstable by themselves, such as explicit ones beyond their stability limit. The
 * subsystem alone shows this. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/stability.h"
#include "base/clock.h"
#include "base/text.h"

/* The factor per step counts as constant if its logarithm decreases by no more than this over two
 * halvings of the step. */
static const double KEPT_FACTOR = 0.7;

/* Modes whose phase advances by more in a macro step (rad) are not resolved: fewer than 8 steps per
 * period. */
static const double UNRESOLVED = 0.785;

/* A mode whose rate in a scheme has a relative error up to this is still the same mode... */
static const double SAME_MODE = 0.5;
/* ... if half the step reduces the error to this fraction of it or less: first order gives a half. */
static const double SHRINKS = 0.75;

/* Growth per second that counts as growth: a deviation that increases by a tenth over the run. */
static double growth_limit(const yk_scenario_info *info)
{
    /* Per macro step: resolution of finite differences; for runs of few steps. */
    static const double LEAST = 1e-6;
    static const double MOST = 1e-4;
    double over_run = log(1.1) / (double)info->step_count;
    return fmin(fmax(over_run, LEAST), MOST) / info->step;
}

static double duration(const yk_comparison *c)
{
    return c->source.info->end - c->source.info->start;
}

static bool has_time(const yk_comparison *c)
{
    return yk_processor_seconds() < c->deadline;
}

/* Time for which a deviation is followed to see whether it grows exponentially: in time constants
 * of its growth, at most in lengths of the run, and at least in macro steps. */
static const double TIME_CONSTANTS = 3;
static const double LONGER_RUN = 10;
static const double LEAST_STEPS = 32;
/* Logarithm of the growth of the least stable mode along the run that leaves no doubt. */
static const double WITNESSED = 2;

static void report_progress(const yk_comparison *c, const char *format, ...) YK_PRINTF(2, 3);
static void report_progress(const yk_comparison *c, const char *format, ...)
{
    if (!c->def->progress)
        return;

    char text[160];
    va_list arguments;
    va_start(arguments, format);
    yk_format_list(text, sizeof text, format, arguments);
    va_end(arguments);
    c->def->progress(c->def->user, text);
}

/* Runs ----------------------------------------------------------------------------------------- */

static void change_step(const yk_comparison *c, double step, yk_changes *changes)
{
    /* The bounds of step control scale with it. */
    const yk_step_control *control = &c->source.info->step_control;
    double part = step / c->source.info->step;
    yk_changes_add(changes, "time.step=%.17g", step);
    if (control->max_step > 0)
        yk_changes_add(changes, "time.max_step=%.17g", part * control->max_step);
    if (control->min_step > 0)
        yk_changes_add(changes, "time.min_step=%.17g", part * control->min_step);
}

/* Growth of a system at the time of the report, followed over the same time as that of the scheme. */
static yk_status measure_system(yk_comparison *c, yk_context *context, yk_system *system,
                                const yk_scenario_info *info, yk_growth *growth, bool *reached)
{
    /* More of the smaller steps for the same time. */
    double steps = round(c->source.info->step / info->step);
    yk_growth_def def = {
        .time = c->report->time,
        .rest = c->def->find_equilibrium,
        .track = (int)(c->def->track_steps * fmax(1, steps)),
        .notable = log(2) / duration(c),
        .brief = true,
        .follow = c->follow,
    };

    /* Its modes, confirmed by the run. */
    yk_step_map map;
    yk_spectrum spectrum = {0};
    yk_status status = yk_step_map_open(context, system, &map);
    map.deadline = c->deadline;
    if (status == YK_OK)
        status = yk_growth_find(&map, info, &def, &spectrum, growth);
    if (status == YK_OK)
        status = yk_growth_follow(&map, &def, &spectrum, growth);

    c->report->step_count += map.steps;
    *reached = map.reached;
    yk_step_map_close(&map);
    yk_spectrum_release(context, &spectrum);
    return status;
}

/* The same for the scenario with some changed values. A run that breaks down has grown without
 * limit. `message`, of YK_RERUN_MESSAGE characters, may be NULL. */
static yk_status measure(yk_comparison *c, const yk_changes *changes, yk_growth *growth,
                         char *message)
{
    *growth = (yk_growth){.rate = NAN, .step = NAN};
    yk_rerun rerun;
    yk_status status = yk_rerun_open(&c->source, changes, &rerun);

    /* The caller reports the reason. */
    if (message)
        snprintf(message, YK_RERUN_MESSAGE, "%s", rerun.message);
    if (!YK_FAILED(status)) {
        bool reached;
        status = measure_system(c, rerun.context, rerun.system, rerun.info, growth, &reached);
        growth->step = rerun.info->step;
        if (message && YK_FAILED(status))
            snprintf(message, YK_RERUN_MESSAGE, "%s", yk_last_message(rerun.context));

        /* A run that does not reach the state has grown without limit. */
        if (yk_growth_broke_down(status) && !reached) {
            growth->radius = INFINITY;
            growth->rate = INFINITY;
            status = YK_OK;
        }
    }

    yk_rerun_close(&rerun);
    return status;
}

/* The same for one subsystem alone; false if it is not available. */
static bool measure_alone(yk_comparison *c, int subsystem, double step, yk_growth *growth)
{
    yk_changes changes = {0};
    change_step(c, step, &changes);

    /* In a scenario of its own, because a subsystem belongs to one system at a time. */
    yk_rerun rerun;

    yk_system *system = NULL;
    bool reached;
    yk_status status = yk_rerun_open(&c->source, &changes, &rerun);
    if (!YK_FAILED(status))
        status = yk_rerun_alone(&rerun, subsystem, &system);
    if (!YK_FAILED(status))
        status = measure_system(c, rerun.context, system, rerun.info, growth, &reached);

    /* One that breaks down alone has grown without limit. */
    if (yk_growth_broke_down(status)) {
        growth->rate = INFINITY;
        growth->rate_error = 0;
        status = YK_OK;
    }

    yk_system_destroy(system);
    yk_rerun_close(&rerun);
    return status == YK_OK;
}

/* The scheme itself ---------------------------------------------------------------------------- */

/* Its rates at half and a quarter of the step, computed once. */
static void refine(yk_comparison *c)
{
    /* What is known already is not computed again. */
    yk_stability_report *r = c->report;
    if (r->rate_count > 1)
        return;

    for (int i = 1; i < YK_STABILITY_RATES_MAX && has_time(c); i++) {
        double step = ldexp(r->rates[0].step, -i);
        yk_changes changes = {0};
        change_step(c, step, &changes);
        report_progress(c, "the scheme itself at %g s", step);
        yk_growth growth;
        if (measure(c, &changes, &growth, NULL) != YK_OK)
            return;

        r->rates[r->rate_count++] = (yk_stability_rate){step, growth.rate, growth.rate_error};
    }
}

/* Whether the factor per step is constant as the step decreases, within the errors of the rates at
 * smaller steps. */
static bool keeps_factor(const yk_stability_report *r)
{
    if (r->rate_count < YK_STABILITY_RATES_MAX)
        return false;

    /* The logarithm of the factor is the rate times the step. */
    double first = r->rates[0].rate * r->rates[0].step;
    for (int i = 1; i < r->rate_count; i++) {
        const yk_stability_rate *finer = &r->rates[i];
        if (!((finer->rate - finer->error) * finer->step >= KEPT_FACTOR * first))
            return false;
    }

    return true;
}

/* Whether the rate converges to a value as the step decreases. */
static bool settles(const yk_stability_report *r)
{
    if (r->rate_count < YK_STABILITY_RATES_MAX)
        return false;

    /* The second halving changes it less than the first, beyond the errors. */
    const yk_stability_rate *rates = r->rates;
    double noise = rates[0].error + rates[1].error + rates[2].error;
    double before = fabs(rates[1].rate - rates[0].rate);
    double after = fabs(rates[2].rate - rates[1].rate);

    return after <= SHRINKS * before + noise + 0.01 * fabs(rates[2].rate);
}

/* References ----------------------------------------------------------------------------------- */

/* Growth of the scheme beyond the motion (1/s), and the part that the errors can explain. A scheme
 * is not responsible for the decay of a decaying motion. */
static double beyond(const yk_stability_rate *rate, const yk_stability_rate *motion, double *error)
{
    *error = rate->error + motion->error;
    return rate->rate - fmax(motion->rate, 0);
}

/* A reference at half and a quarter of the step, and at finer ones as long as its own error hides
 * the answer. Growth followed along a run through contacts is noisy in comparison, and is compared
 * at the step of the scheme itself. */
static bool ask_reference(yk_comparison *c, const yk_choice *choice, bool followed,
                          yk_stability_rate *rate, yk_growth *finest)
{
    enum { LEVELS = 4 };
    double rates[LEVELS];

    for (int i = 0; i < LEVELS; i++) {
        /* Its growth at this step. */
        double step = c->source.info->step;
        if (!followed)
            step = ldexp(step, -1 - i);
        yk_changes changes = yk_choice_changes(choice);
        change_step(c, step, &changes);
        report_progress(c, "the reference %s at %g s", choice->name, step);
        yk_growth growth;
        yk_status status = measure(c, &changes, &growth, NULL);
        if (status != YK_OK || !isfinite(growth.rate))
            return i > 1;

        *finest = growth;
        rates[i] = growth.rate;
        *rate = (yk_stability_rate){growth.step, growth.rate, growth.rate_error};
        if (followed)
            return true;
        if (i == 0)
            continue;

        /* If the change by the last halving is larger than the sum of all later changes; with three
         * steps this sum is known. */
        double last = fabs(rates[i] - rates[i - 1]);
        double before = 0;
        if (i > 1)
            before = fabs(rates[i - 1] - rates[i - 2]);
        if (last < 0.7 * before)
            rate->error += last * last / (before - last);
        else
            rate->error += last;

        /* Refine only while its error hides whether the scheme grows more. */
        double error;
        double excess = beyond(&c->report->rates[0], rate, &error);
        bool hidden =
            excess > growth_limit(c->source.info) && excess <= error && rate->rate <= rate->error;
        if (!hidden || !has_time(c))
            return true;
    }

    return true;
}

/* The reference of the report at the step of the scheme. */
static bool measure_reference(yk_comparison *c, yk_growth *growth)
{
    /* By its name, because the report has no other reference to it. */
    yk_choice references[YK_CHOICES_MAX];
    int count = yk_choices(YK_VARIANT_REFERENCE, references);

    for (int i = 0; i < count; i++) {
        const yk_choice *reference = &references[i];
        if (strcmp(reference->name, c->report->reference) != 0)
            continue;

        report_progress(c, "the reference %s at %g s", reference->name, c->source.info->step);
        yk_changes changes = yk_choice_changes(reference);
        return measure(c, &changes, growth, NULL) == YK_OK;
    }

    return false;
}

/* The smallest growth of a reference is that of the motion. A reference that merges is accepted
 * immediately, because it has no coupling, and so is one that leaves growth unexplained. If a
 * reference that couples has the same growth, the rate of the scheme itself must converge too. */
static bool find_motion(yk_comparison *c, yk_stability_rate *motion, yk_growth *growth)
{
    yk_stability_report *r = c->report;
    const yk_scenario_info *info = c->source.info;
    bool followed = c->follow > 0;
    yk_choice references[YK_CHOICES_MAX];
    int count = yk_choices(YK_VARIANT_REFERENCE, references);

    /* The most accurate reference first. */
    *motion = (yk_stability_rate){.rate = INFINITY};

    for (int i = 0; i < count && has_time(c); i++) {
        const yk_choice *choice = &references[i];
        bool stricter = choice->variant->purpose & YK_VARIANT_STRICTER;
        if (choice->scheme == info->scheme.ops && !stricter)
            continue;

        /* Its rate at fine steps; the smallest of all references counts. */
        yk_stability_rate rate;
        yk_growth found;
        if (!ask_reference(c, choice, followed, &rate, &found))
            continue;
        if (rate.rate < motion->rate) {
            *motion = rate;
            *growth = found;
            snprintf(r->reference, sizeof r->reference, "%s", choice->name);
            r->reference_rate = rate;
        }

        /* Whether another reference could change the answer. */
        double error;
        double excess = beyond(&r->rates[0], motion, &error);
        bool explained = excess <= error + growth_limit(info);
        unsigned traits = yk_scheme_traits(&(yk_scheme_def){.ops = choice->scheme});
        if (traits & YK_SCHEME_MERGES || !explained || followed)
            break;

        refine(c);
        if (settles(r))
            break;
    }

    return isfinite(motion->rate);
}

/* Verdicts ------------------------------------------------------------------------------------- */

static void leave_undecided(yk_comparison *c, const char *format, ...) YK_PRINTF(2, 3);
static void leave_undecided(yk_comparison *c, const char *format, ...)
{
    /* The coupling cannot be judged then. */
    c->report->verdict = YK_VERDICT_UNDECIDED;
    c->report->coupling_growth = NAN;
    va_list arguments;
    va_start(arguments, format);
    yk_format_list(c->report->reason, sizeof c->report->reason, format, arguments);
    va_end(arguments);
}

/* Along a motion the state at the end of the map differs from that at its start, and directions
 * rotate in between: eigenvalues then show an apparent growth of about the square of the rotation
 * within the map, divided by its length. It is slow compared with the steps, and no deviation
 * actually grows much. */
static bool is_marked(const yk_growth *growth)
{
    if (growth->phase > UNRESOLVED || growth->witnessed > log(10))
        return true;
    return !isfinite(growth->tracked);
}

static void attribute_to_coupling(yk_comparison *c, const yk_growth *growth)
{
    yk_stability_report *r = c->report;
    const yk_scenario_info *info = c->source.info;
    const yk_stability_rate *rate = &r->rates[0];
    r->verdict = YK_VERDICT_UNSTABLE_COUPLING;
    r->unstable_at_every_step = keeps_factor(r);
    r->coupling_growth = exp(rate->rate * growth->step);
    if (r->unstable_at_every_step || !is_marked(growth))
        return;

    /* Unless a solver is unstable: a subsystem whose growth alone is at least half of that of the
     * scheme, and which does not grow at a finer step. */
    double notable = fmax(growth_limit(info), 0.5 * rate->rate);
    r->unstable_subsystem = YK_NULL_SUBSYSTEM;

    for (int i = 0; r->unstable_subsystem.index < 0 && i < info->subsystem_count && has_time(c);
         i++) {
        yk_growth coarse;
        yk_growth fine;
        report_progress(c, "subsystem '%s' alone", info->subsystem_names[i]);
        if (!measure_alone(c, i, rate->step, &coarse))
            continue;
        if (!(coarse.rate - coarse.rate_error > notable))
            continue;
        if (!measure_alone(c, i, ldexp(rate->step, -3), &fine))
            continue;
        if (fine.rate < 0.25 * coarse.rate)
            r->unstable_subsystem = (yk_subsystem_id){i};
    }

    if (r->unstable_subsystem.index >= 0)
        r->verdict = YK_VERDICT_UNSTABLE_SOLVER;
}

/* Whether deviations of the motion go on growing exponentially, as far as is known. */
static bool grows_along_run(yk_comparison *c)
{
    if (c->along_run_known)
        return c->grows_along_run;

    report_progress(c, "the growth along the run");
    c->along_run_known = true;
    c->grows_along_run = true;
    c->run_growth = NAN;
    if (c->witnessed > WITNESSED)
        return true;

    double logarithm = NAN;
    yk_changes none = {0};
    yk_rerun rerun;
    yk_status status = yk_rerun_open(&c->source, &none, &rerun);
    if (!YK_FAILED(status)) {
        yk_step_map map;
        bool exponential;
        status = yk_step_map_open(rerun.context, rerun.system, &map);
        map.deadline = c->deadline;

        double h = rerun.info->step;
        double most = LONGER_RUN * (double)rerun.info->step_count;
        double steps = fmin(TIME_CONSTANTS / (c->report->rates[0].rate * h), most);
        if (status == YK_OK)
            status = yk_step_map_run(
                &map, (int64_t)fmax(0, (c->report->time - rerun.info->start) / h - YK_PASSAGE));
        if (status == YK_OK)
            status = yk_growth_along_run(&map, c->amplitude, (int64_t)fmax(steps, LEAST_STEPS),
                                         &logarithm, &exponential);
        if (status == YK_OK && isfinite(logarithm))
            c->grows_along_run = exponential;
        c->report->step_count += map.steps;
        yk_step_map_close(&map);
    }
    yk_rerun_close(&rerun);
    c->run_growth = exp(logarithm);
    return c->grows_along_run;
}

/* An eigenvalue at one instant is that of the motion: whether it is unstable shows along the run. */
static void attribute_to_motion(yk_comparison *c)
{
    yk_stability_report *r = c->report;
    bool notable = r->rates[0].rate * duration(c) > log(1.01);
    bool at_rest = c->def->find_equilibrium;
    r->verdict = YK_VERDICT_STABLE;
    if (notable && (at_rest || grows_along_run(c)))
        r->verdict = YK_VERDICT_UNSTABLE_MOTION;
    r->run_growth = c->along_run_known ? c->run_growth : NAN;
}

/* One subsystem, or several merged ones: the cause is its motion or its solver. */
static void judge_merged(yk_comparison *c, const yk_growth *growth)
{
    yk_stability_report *r = c->report;
    refine(c);
    attribute_to_motion(c);

    /* Growth that vanishes with the step belongs to the solver. */
    bool known = r->rate_count == YK_STABILITY_RATES_MAX;
    bool vanishes = known && r->rates[2].rate < 0.25 * r->rates[0].rate;
    if (!vanishes || !is_marked(growth))
        return;

    r->verdict = YK_VERDICT_UNSTABLE_SOLVER;
    r->coupling_growth = exp(growth->rate * growth->step);
    r->unstable_subsystem = (yk_subsystem_id){0};
    if (r->modes[0].subsystem.index >= 0)
        r->unstable_subsystem = r->modes[0].subsystem;
}

/* The growth is not larger than that of the reference. */
static void judge_explained(yk_comparison *c, const yk_growth *growth, const yk_growth *reference,
                            const yk_stability_rate *motion)
{
    /* Growth of the coupling may be hidden by a faster one of the motion: modes too fast for the
     * step, which the reference resolves and does not have. */
    yk_stability_report *r = c->report;
    double limit = growth_limit(c->source.info);
    double error;
    double excess = beyond(&r->rates[0], motion, &error);

    for (int i = 1; growth->confirmed && i < growth->mode_count; i++) {
        double rate = growth->modes[i].rate;
        double rate_error = growth->modes[i].error;
        double frequency = growth->modes[i].frequency;
        if (growth->modes[i].phase < UNRESOLVED || rate - rate_error <= limit)
            continue;

        int count = reference->mode_count;
        bool found = count == 0 || reference->modes[count - 1].rate > rate;
        for (int k = 0; k < count; k++)
            if (fabs(reference->modes[k].frequency - frequency) < 0.2 * frequency)
                found = true;
        if (found)
            continue;

        r->critical_mode = i;
        r->rates[0] = (yk_stability_rate){growth->step, rate, rate_error};
        r->rate_count = 1;
        attribute_to_coupling(c, growth);
        return;
    }

    /* The motion grows, or nothing does that matters. */
    bool moves = motion->rate > motion->error && motion->rate > limit;
    if (moves || excess <= limit) {
        attribute_to_motion(c);
        return;
    }

    /* Neither is certain: a constant factor per step belongs to the coupling. */
    refine(c);
    if (keeps_factor(r))
        attribute_to_coupling(c, growth);
    else
        leave_undecided(c,
                        "growth of %.3g 1/s with an error of %.2g 1/s cannot be distinguished from "
                        "that of the reference (%s), %.3g 1/s with an error of %.2g 1/s",
                        growth->rate, growth->rate_error, r->reference, motion->rate,
                        motion->error);
}

/* The growth is larger than that of the reference. It may still be the motion, shown inaccurately;
 * or, later in the run, at a state that the reference does not reach. */
static void judge_excess(yk_comparison *c, const yk_growth *growth, const yk_growth *reference,
                         const yk_stability_rate *motion)
{
    static const double ALIKE = 0.2;
    yk_stability_report *r = c->report;
    const yk_stability_rate *rates = r->rates;

    /* The reference grows equally fast at the same step: then the cause is the motion, as seen with
     * these steps and differences, or a solver, but not the coupling. */
    yk_growth shared;
    if (measure_reference(c, &shared) && isfinite(shared.rate)) {
        yk_stability_rate same = {shared.step, shared.rate, shared.rate_error};
        double error;
        double excess = beyond(&rates[0], &same, &error);
        if (excess <= error + ALIKE * fabs(rates[0].rate)) {
            r->reference_rate = same;
            judge_merged(c, growth);
            return;
        }
    }

    /* Growth of a mode that the steps resolve, at a rate that remains at smaller steps: a
     * consistent scheme has such a rate only because of the motion, in its own variables; those of
     * another scheme along a moving state may differ. */
    refine(c);
    if (settles(r) && growth->phase <= UNRESOLVED) {
        double left = fabs(rates[2].rate - rates[1].rate);
        if (rates[2].rate > 2 * left && rates[2].rate > 2 * rates[2].error) {
            snprintf(r->reference, sizeof r->reference, "the scheme itself");
            r->reference_rate = rates[YK_STABILITY_RATES_MAX - 1];
            attribute_to_motion(c);
            return;
        }
    }

    /* A mode of the motion that the scheme shows inaccurately: close to that of the reference, and
     * closer with half the step. */
    bool same_mode = false;
    if (motion->rate > motion->error && r->rate_count >= 2) {
        double two_pi = 2 * acos(-1);
        double size = hypot(motion->rate, two_pi * reference->frequency);
        double faster = two_pi * (growth->frequency - reference->frequency);
        double apart = hypot(growth->rate - motion->rate, faster);
        double before = fabs(rates[0].rate - motion->rate);
        double after = fabs(rates[1].rate - motion->rate);
        same_mode = apart <= SAME_MODE * size && after <= SHRINKS * before + motion->error;
    }

    /* At a state that the reference does not reach, growth equal to an earlier growth of the motion
     * is the motion's. */
    bool elsewhere = !c->first_sample && !keeps_factor(r) && growth->rate <= 2 * c->largest.rate;
    if (elsewhere || same_mode)
        attribute_to_motion(c);
    else
        attribute_to_coupling(c, growth);
}

yk_status yk_compare(yk_comparison *c, const yk_growth *growth)
{
    yk_stability_report *r = c->report;
    const yk_scenario_info *info = c->source.info;
    double limit = growth_limit(info);

    c->amplitude = growth->amplitude > 0 ? growth->amplitude : 1;
    c->witnessed = growth->witnessed;
    r->run_growth = NAN;

    /* Stable by default. */
    r->rates[0] = (yk_stability_rate){growth->step, growth->rate, growth->rate_error};
    r->rate_count = 1;
    r->coupling_growth = fmin(1, exp(growth->rate * growth->step));
    r->verdict = YK_VERDICT_STABLE;

    /* Compare equal kinds: growth visible along the run only, or through contacts, with the same
     * kind in other runs. */
    bool rough = isnan(growth->tracked) && growth->error > 1e-4 * fabs(growth->radius - 1);
    c->follow = growth->amplitude;
    if (growth->confirmed && !rough)
        c->follow = 0;

    /* No growth, or not enough to matter within the run. */
    bool grows = growth->rate - growth->rate_error > limit;
    bool notable = growth->rate > limit && growth->rate * duration(c) > log(2);
    bool unknown = notable && isnan(growth->tracked);
    if (!grows && !unknown)
        return YK_OK;

    /* Nothing is coupled. */
    bool alone = info->interface_count == 0 && info->wire_count == 0;
    if (alone || yk_scheme_traits(&info->scheme) & YK_SCHEME_IS_REFERENCE) {
        judge_merged(c, growth);
        return YK_OK;
    }

    /* Later in the run: at most the growth of the motion seen before. */
    if (!c->first_sample && growth->rate - growth->rate_error <= c->largest.rate) {
        attribute_to_motion(c);
        r->reference_rate = c->largest;
        snprintf(r->reference, sizeof r->reference, "%s", c->largest_reference);
        return YK_OK;
    }

    /* The growth of the motion itself. Without a reference, only the dependence of the scheme's own
     * growth on the step is available. */
    yk_growth reference = {0};
    yk_stability_rate motion;
    if (!find_motion(c, &motion, &reference)) {
        if (!c->first_sample && !has_time(c))
            return YK_INTERRUPTED;

        refine(c);
        const yk_stability_rate *rates = r->rates;
        double left = fabs(rates[2].rate - rates[1].rate);
        if (r->rate_count < YK_STABILITY_RATES_MAX)
            leave_undecided(c,
                            "deviations grow by %.3g 1/s, and there was nothing to compare with: "
                            "no reference and not the scheme itself at smaller steps%s",
                            growth->rate, has_time(c) ? "" : " within the time that was given");
        else if (keeps_factor(r) || rates[2].rate <= limit)
            attribute_to_coupling(c, growth);
        else if (settles(r) && rates[2].rate > left)
            attribute_to_motion(c);
        else
            leave_undecided(c, "no reference could be had (all schemes that could be one are "
                               "refused or break down), and the growth per second neither settles "
                               "nor keeps its factor per step as the step falls");
        return YK_OK;
    }

    /* For later states, at which there may be no reference. */
    if (motion.rate > c->largest.rate) {
        c->largest = motion;
        snprintf(c->largest_reference, sizeof c->largest_reference, "%s", r->reference);
    }

    double error;
    double excess = beyond(&r->rates[0], &motion, &error);
    if (excess <= error + limit)
        judge_explained(c, growth, &reference, &motion);
    else
        judge_excess(c, growth, &reference, &motion);

    return YK_OK;
}

yk_status yk_compare_breakdown(yk_comparison *c, double time, const char *message)
{
    yk_stability_report *r = c->report;
    r->time = time;
    r->spectral_radius = INFINITY;
    r->coupling_growth = INFINITY;
    r->verdict = YK_VERDICT_COUPLING_BREAKDOWN;
    snprintf(r->reason, sizeof r->reason, "%s", message);

    /* A reference that reaches the same time proves that the coupling is the cause. */
    char why[YK_RERUN_MESSAGE] = "";
    yk_choice references[YK_CHOICES_MAX];
    int count = yk_choices(YK_VARIANT_REFERENCE, references);

    for (int i = 0; i < count && has_time(c); i++) {
        const yk_choice *choice = &references[i];
        report_progress(c, "the reference %s", choice->name);
        yk_growth growth;
        yk_changes changes = yk_choice_changes(choice);
        yk_status status = measure(c, &changes, &growth, why);
        if (status != YK_OK || !isfinite(growth.rate))
            continue;

        snprintf(r->reference, sizeof r->reference, "%s", choice->name);
        r->reference_rate = (yk_stability_rate){growth.step, growth.rate, growth.rate_error};
        return YK_OK;
    }

    leave_undecided(
        c, "the run breaks down at %g s, and so does every reference that was tried (%.150s)", time,
        why);

    return YK_OK;
}

/* Remedies ------------------------------------------------------------------------------------- */

/* Whether a growth is at most that of the motion. Its own error may explain only a small part of
 * the growth to be fixed. */
static bool is_sound(const yk_comparison *c, const yk_growth *growth)
{
    static const double EXCUSED = 0.05;
    const yk_stability_report *r = c->report;
    yk_stability_rate motion = {0};
    if (*r->reference)
        motion = r->reference_rate;

    /* By its own rate, and by the growth of the reference at this step. */
    double floor = fmax(0, fmax(motion.rate, c->at_step));
    double excused = motion.error;
    double rate = growth->rate;

    /* The derivative of a remedy must be stable as well, if it is known. */
    if (growth->error < 0.1 * (growth->radius - 1))
        rate = fmax(rate, log(growth->radius) / growth->step);
    if (r->rate_count > 0)
        excused = fmin(excused + growth->rate_error, EXCUSED * fabs(r->rates[0].rate - floor));

    return isfinite(rate) && rate <= floor + excused + growth_limit(c->source.info);
}

static const char *port_name(const yk_scenario_info *info, int subsystem, int port)
{
    const yk_port *ports;
    info->subsystems[subsystem]->ops->ports(info->subsystems[subsystem], &ports);
    return ports[port].name;
}

static bool try_remedy(yk_comparison *c, const yk_changes *changes)
{
    /* Whether the scenario with these values is stable. */
    yk_stability_report *r = c->report;
    yk_growth growth;
    report_progress(c, "remedy: %s", changes->texts[0]);
    if (measure(c, changes, &growth, NULL) != YK_OK || !is_sound(c, &growth))
        return false;

    /* Then they are the remedy, line by line. */
    size_t used = 0;
    for (int i = 0; i < changes->count && used < sizeof r->remedy; i++) {
        const char *separator = i > 0 ? "\n" : "";
        size_t left = sizeof r->remedy - used;
        used += (size_t)snprintf(r->remedy + used, left, "%s%s", separator, changes->texts[i]);
    }

    r->remedy_radius = growth.radius;
    if (isnan(growth.radius))
        r->remedy_radius = growth.tracked;

    return true;
}

yk_status yk_compare_remedies(yk_comparison *c)
{
    enum { HALVINGS = 7 };
    yk_stability_report *r = c->report;
    const yk_scenario_info *info = c->source.info;

    /* Growth of the motion at the step at which schemes are tried. */
    yk_growth same;
    c->at_step = 0;
    if (measure_reference(c, &same) && isfinite(same.rate))
        c->at_step = same.rate;

    /* The longest stable step. */
    for (int i = 1; i <= HALVINGS && !r->unstable_at_every_step && has_time(c); i++) {
        double step = ldexp(info->step, -i);
        yk_changes changes = {0};
        change_step(c, step, &changes);
        report_progress(c, "the scheme itself at %g s", step);
        yk_growth growth;
        if (measure(c, &changes, &growth, NULL) != YK_OK)
            break;
        if (!is_sound(c, &growth))
            continue;

        r->stable_step = growth.step;
        break;
    }

    /* No coupling helps against an unstable solver. */
    if (r->verdict == YK_VERDICT_UNSTABLE_SOLVER)
        return YK_OK;

    /* Exchange the two sides of the interface that drives the mode. */
    int number = -1;
    if (r->mode_count > 0)
        number = r->modes[r->critical_mode].interface.index;
    else if (info->interface_count == 1)
        number = 0;
    if (number >= 0) {
        const yk_interface_def *def = &info->interfaces[number];
        yk_changes changes = {0};
        yk_changes_add(&changes, "interfaces.%s.between=[%s.%s, %s.%s]", def->name,
                       info->subsystem_names[def->motion_subsystem.index],
                       port_name(info, def->motion_subsystem.index, def->motion_port.index),
                       info->subsystem_names[def->wrench_subsystem.index],
                       port_name(info, def->wrench_subsystem.index, def->wrench_port.index));
        if (has_time(c) && try_remedy(c, &changes))
            return YK_OK;
    }

    /* The cheapest scheme that is stable. */
    yk_choice remedies[YK_CHOICES_MAX];
    int count = yk_choices(YK_VARIANT_REMEDY, remedies);
    for (int i = 0; i < count && has_time(c); i++) {
        yk_changes changes = yk_choice_changes(&remedies[i]);
        if (try_remedy(c, &changes))
            break;
    }

    return YK_OK;
}
