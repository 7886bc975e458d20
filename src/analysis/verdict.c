/* The verdict about the whole run: its estimated error, and what that means for its findings. */
#include "analysis/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/companions.h"
#include "analysis/finding_rules.h"
#include "analysis/remedies.h"
#include "base/clock.h"
#include "base/text.h"
#include "model/scenario.h"

/* Fraction of the tolerance up to which an estimate outweighs indirect findings. */
static const double OUTWEIGHS = 0.5;
/* Adds the finding of an error that is too large, with a step that would be small enough. */
static void add_error_finding(const yk_error_monitor *monitor, yk_run_report *report)
{
    const yk_error_estimate *e = &report->estimate;
    if (!e->available || !(e->relative_error > monitor->tolerance))
        return;

    yk_finding f = yk_finding_of(YK_FINDING_ESTIMATED_ERROR, YK_CAUSE_DEFAULT, e->relative_error);
    f.limit = monitor->tolerance;
    f.severity = YK_FINDING_SEVERITY_SERIOUS;
    if (!e->regular && e->relative_error > 0.5)
        f.cause = YK_CAUSE_UNPREDICTABLE;
    f.time = e->reliable_until;
    snprintf(f.detail, sizeof f.detail, "%s", e->channel);
    yk_finding_set(&f, "step", monitor->info->step);

    double order = isfinite(e->order) ? fmax(1, fmin(2, e->order)) : 1;
    double parts = pow(2 * e->relative_error / f.limit, 1 / order);
    if (parts < 64) {
        yk_changes changes = {0};
        yk_changes_add(&changes, "time.step=%.10g",
                       monitor->info->step / exp2(ceil(log2(fmax(2, parts)))));
        yk_finding_change(&f, &changes);
    }
    yk_finding_search(&f, YK_REMEDY_SMALLER_STEP);
    yk_finding_describe(monitor->info, &f);
    yk_finding_add(report, &f);
}

/* Adds the finding of means, rms or dissipated energies that other steps change too much. */
static void add_statistics_finding(const yk_error_monitor *monitor, yk_run_report *report)
{
    const yk_error_estimate *e = &report->estimate;
    bool dissipation = e->dissipation_error > e->statistics_error;
    double error = dissipation ? e->dissipation_error : e->statistics_error;
    if (!e->by_statistics || !(error > monitor->tolerance))
        return;

    yk_finding f = yk_finding_of(YK_FINDING_ESTIMATED_ERROR,
                                 dissipation ? YK_CAUSE_DISSIPATION : YK_CAUSE_STATISTICS, error);
    f.limit = monitor->tolerance;

    /* If the recorded motion does not depend on the step, what the contacts dissipate did not matter to it. */
    bool moves_right = e->relative_error <= monitor->tolerance;
    f.severity = moves_right ? YK_FINDING_SEVERITY_WARNING : YK_FINDING_SEVERITY_SERIOUS;
    snprintf(f.detail, sizeof f.detail, "%s", e->statistics_channel);
    yk_finding_set(&f, "step", monitor->info->step);
    yk_finding_search(&f, YK_REMEDY_SMALLER_STEP);
    yk_finding_describe(monitor->info, &f);
    yk_finding_add(report, &f);
}

/* Indirect evidence against a run whose error is known to be small is worth a warning. */
static void weigh_findings(const yk_error_monitor *monitor, yk_run_report *report)
{
    const yk_error_estimate *e = &report->estimate;
    bool good = e->available && e->relative_error <= OUTWEIGHS * monitor->tolerance &&
                (e->regular || e->relative_error <= yk_error_clearly_good * monitor->tolerance);
    if (!good)
        return;

    for (int i = 0; i < report->finding_count; i++) {
        yk_finding *f = &report->findings[i];
        /* All companions may share a position gap. */
        if (yk_finding_rule_of(f->kind)->is_indirect && f->cause != YK_CAUSE_POSITION)
            f->severity = YK_FINDING_SEVERITY_WARNING;
    }

    /* What remains of the energy error is said by the estimate. */
    int kept = 0;
    for (int i = 0; i < report->finding_count; i++) {
        const yk_finding *f = &report->findings[i];
        bool small = f->kind == YK_FINDING_ENERGY_ERROR && fabs(f->value) <= f->limit;
        if (!small)
            report->findings[kept++] = *f;
    }
    report->finding_count = kept;

    /* Limits that are known before the run are serious only next to another serious finding. */
    bool wrong = false;
    for (int i = 0; i < report->finding_count; i++) {
        const yk_finding *f = &report->findings[i];
        bool cause = yk_finding_rule_of(f->kind)->severity == YK_SERIOUS_IF_RUN_IS_WRONG;
        wrong = wrong || (!cause && f->severity == YK_FINDING_SEVERITY_SERIOUS);
    }
    for (int i = 0; i < report->finding_count && !wrong; i++)
        report->findings[i].severity = YK_FINDING_SEVERITY_WARNING;
}

/* Names the subsystems whose errors all companions repeat. */
static void name_uncovered(const yk_scenario_info *info, yk_error_estimate *e)
{
    size_t used = 0;
    for (int i = 0; i < info->subsystem_count; i++) {
        const yk_subsystem *s = info->subsystems[i];
        bool covered = !s->ops->keeps_own_steps || !s->ops->keeps_own_steps(s);
        if (!covered && used < sizeof e->uncovered)
            used += (size_t)snprintf(e->uncovered + used, sizeof e->uncovered - used, "%s'%s'",
                                     used > 0 ? ", " : "", info->subsystem_names[i]);
    }
}

/* Iterations that end at once do so in all companions too, so these get a tighter tolerance. */
static const yk_remedy *find_tighter_tolerance(const yk_run_report *report)
{
    for (int i = 0; i < report->finding_count; i++) {
        const yk_finding *f = &report->findings[i];
        bool loose = f->cause == YK_CAUSE_LOOSE_TOLERANCE && f->remedy_count > 0;
        if (loose && f->remedies[0].kind == YK_REMEDY_OVERRIDES)
            return &f->remedies[0];
    }

    return NULL;
}

void yk_error_monitor_judge(yk_error_monitor *monitor, const yk_run_options *options,
                            double run_seconds, bool moves, yk_run_report *report)
{
    yk_error_estimate *e = &report->estimate;
    if (monitor->reason)
        snprintf(e->reason, sizeof e->reason, "%s", monitor->reason);
    if (!monitor->record)
        return;

    /* The motion of a system at rest is rounding. */
    if (!moves) {
        e->available = true;
        e->regular = true;
        e->order = NAN;
        e->statistics_error = NAN;
        e->dissipation_error = NAN;
        e->reliable_until = INFINITY;
        return;
    }

    yk_companions c = {
        .context = monitor->context,
        .monitor = monitor,
        .options = options,
        .run_seconds = run_seconds,
        .end = monitor->info->end,
        .energy = report->max_energy,
        .energy_rounding = report->energy_rounding,
        .dissipated = report->dissipated_energy,
        .changes = find_tighter_tolerance(report),
        .estimate = e,
    };
    yk_log(monitor->context, YK_LOG_DEBUG, "estimating the error");
    name_uncovered(monitor->info, e);
    double begun = yk_processor_seconds();
    if (YK_FAILED(yk_companions_estimate(&c)))
        yk_companions_explain(&c, e);
    yk_companions_release(&c);
    e->cpu_time = yk_processor_seconds() - begun;
    e->relative_cost = run_seconds > 0 ? e->cpu_time / run_seconds : 0;

    /* Every impact may send a body another way, so that no step gives the same trajectory. If
     * differences fall by a law, though, the trajectory is predictable, and the step too large. */
    bool converges = e->regular && isfinite(e->order);
    e->by_statistics = e->available && monitor->info->has_impacts && c.unpredictable;
    if (e->by_statistics && !converges && e->relative_error > monitor->tolerance) {
        e->available = false;
        yk_format(e->reason, sizeof e->reason,
                  "contact: single trajectories depend on the step from t = %.4g s on",
                  e->reliable_until);
    }

    add_error_finding(monitor, report);
    add_statistics_finding(monitor, report);
    weigh_findings(monitor, report);
}

/* Error bars ------------------------------------------------------------------------------------- */

/* The first time at which the error bar of the worst channel exceeds the tolerance (s). */
static double time_of_error(const yk_record *record, const yk_accuracy_report *accuracy,
                            double tolerance)
{
    const yk_record_header *header = yk_record_get_header(record);
    int first = 0;
    for (int i = 0; i < accuracy->worst_channel; i++)
        first += header->channels[i].component_count;

    const yk_channel_error *worst = &accuracy->channels[accuracy->worst_channel];
    for (size_t row = 0; row < yk_record_row_count(record); row++)
        for (int c = 0; c < header->channels[accuracy->worst_channel].component_count; c++)
            if (!(accuracy->error_bars[first + c][row] <= tolerance * worst->range))
                return yk_record_times(record)[row];
    return yk_record_times(record)[0];
}

void yk_accuracy_judge(const yk_scenario *scenario, const yk_record *record,
                       const yk_accuracy_report *accuracy, double tolerance, yk_run_report *report)
{
    const yk_scenario_info *info = yk_scenario_get_info(scenario);
    yk_error_estimate *e = &report->estimate;
    *e = (yk_error_estimate){.available = true,
                             .relative_error = accuracy->worst_channel < 0 ? 0 : accuracy->error,
                             .order = NAN,
                             .reliable_until = INFINITY,
                             .statistics_error = NAN,
                             .dissipation_error = NAN,
                             .run_count = accuracy->refined_run_count};
    if (!accuracy->is_bounded) {
        yk_finding f = yk_finding_of(YK_FINDING_ESTIMATED_ERROR, YK_CAUSE_UNBOUNDED, INFINITY);
        e->available = false;
        snprintf(e->reason, sizeof e->reason, "%.190s", accuracy->summary);
        snprintf(f.detail, sizeof f.detail, "%.250s", accuracy->summary);
        yk_finding_search(&f, YK_REMEDY_SMALLER_STEP);
        yk_finding_describe(info, &f);
        yk_finding_add(report, &f);
        return;
    }
    if (accuracy->worst_channel < 0)
        return;

    const yk_channel_error *worst = &accuracy->channels[accuracy->worst_channel];
    snprintf(e->channel, sizeof e->channel, "%s", worst->name);
    e->order = worst->order;
    e->regular = worst->accuracy != YK_ACCURACY_UNPREDICTABLE;
    if (worst->error > tolerance)
        e->reliable_until = time_of_error(record, accuracy, tolerance);

    /* Both runs of the bars have smaller steps. */
    yk_error_monitor monitor = {.info = info, .tolerance = tolerance};
    add_error_finding(&monitor, report);
    weigh_findings(&monitor, report);
}
