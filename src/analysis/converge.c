/* Convergence of a scenario for several schemes (papers explicit figure 9, tight table 1, index1 figures 5 to 13): one run per
 * variant and step, against an exact course or against a run that is finer than all of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/trial.h"
#include "model/expression.h"
#include "model/scenario.h"
#include "yoke/analysis.h"

/* The reference takes so many steps where the finest run takes one; half as many show its own error. */
enum { REFERENCE_PARTS = 4 };

typedef struct study {
    yk_context *context;
    const yk_converge_def *def;
    yk_convergence_row *rows;
    yk_reference kind;        /* of the reference that is tried */
    yk_trial reference, half; /* without an exact course */
    char (*names)[160];       /* of the signals, where the caller names none */
    const char **signals;
    int signal_count;
} study;

yk_converge_def yk_converge_default(void)
{
    return (yk_converge_def){.scenario = yk_scenario_default(), .reference = YK_REFERENCE_AUTO};
}

/* Signals ---------------------------------------------------------------------------------------------------------- */

/* Position and velocity of every interface, for want of better. */
static yk_status choose_signals(study *s, const yk_scenario_info *info)
{
    const yk_converge_def *def = s->def;
    s->signals = def->signals ? (const char **)(uintptr_t)def->signals : NULL;
    s->signal_count = def->signal_count;
    if (def->signal_count > 0) return YK_OK;
    if (info->interface_count == 0)
        return yk_fail(s->context, YK_ERROR_ARGUMENT, "converge: there are no interfaces; name a signal to compare");
    s->signal_count = 2 * info->interface_count;
    s->names = yk_allocate(s->context, (size_t)s->signal_count, sizeof *s->names);
    s->signals = yk_allocate(s->context, (size_t)s->signal_count, sizeof *s->signals);
    if (!s->names || !s->signals) return YK_ERROR_MEMORY;
    for (int i = 0; i < s->signal_count; i++) {
        snprintf(s->names[i], sizeof *s->names, "%s.%s", info->interfaces[i / 2].name, i % 2 ? "velocity" : "position");
        s->signals[i] = s->names[i];
    }
    return YK_OK;
}

/* Exact courses ---------------------------------------------------------------------------------------------------- */

static yk_status compile_exact(yk_context *context, const char *text, const yk_scenario *scenario,
                               yk_expression **exact)
{
    static const char *const variables[] = {"t"};
    yk_scope scope = {.parameters = scenario->builder.scope->parameters,
                      .parameter_count = scenario->builder.scope->parameter_count,
                      .variables = variables,
                      .variable_count = 1};
    yk_expression_error error;
    yk_status status = yk_expression_create(context, text, &scope, &error, exact);
    if (status == YK_ERROR_INPUT)
        yk_fail(context, status, "exact solution '%s', character %zu: %s", text, error.offset + 1, error.message);
    return status;
}

/* Relative L1 error of the first component, papers explicit (47), tight (34). */
static void compare_exact(const yk_record *record, yk_expression *exact, yk_convergence_row *row)
{
    const double *time = yk_record_time(record), *value = yk_record_column(record, 0, 0);
    double error = 0, size = 0;
    row->largest = 0;
    for (size_t i = 0; i < yk_record_rows(record); i++) {
        double expected = yk_expression_value(exact, &time[i]);
        double off = fabs(value[i] - expected);
        error += off, size += fabs(expected);
        if (!(off <= row->largest)) row->largest = off;
    }
    row->error = error / size;
}

/* Expressions keep a state while they are evaluated, so each run has its own. */
static yk_status measure_exact(const study *s, const yk_trial *trial, yk_convergence_row *row)
{
    yk_diagnostics *diagnostics = NULL;
    yk_scenario *scenario = NULL;
    yk_expression *exact = NULL;
    yk_status status = yk_diagnostics_create(trial->context, &diagnostics);
    if (status >= 0) status = yk_scenario_load(trial->context, &s->def->scenario, diagnostics, &scenario);
    if (status >= 0) status = compile_exact(trial->context, s->def->exact, scenario, &exact);
    if (status >= 0) compare_exact(trial->record, exact, row);
    yk_expression_destroy(exact);
    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    return status;
}

/* Runs ------------------------------------------------------------------------------------------------------------- */

/* Macro steps between samples: all runs have those of the coarsest. */
static int samples_every(const study *s, double step)
{
    return s->def->exact ? 1 : (int)lround(s->def->steps[0] / step);
}

static yk_trial_def trial_of(const study *s, const yk_variant *variant, double step)
{
    return (yk_trial_def){.scenario = &s->def->scenario,
                          .variant = variant,
                          .step = step,
                          .end = NAN,
                          .signals = s->signals,
                          .signal_count = s->signal_count,
                          .every = samples_every(s, step),
                          .seconds = INFINITY};
}

static const yk_variant *variant_of(const study *s, int index)
{
    return s->def->variant_count ? &s->def->variants[index] : NULL;
}

static void note_outcome(const yk_trial *trial, yk_convergence_row *row)
{
    yk_finding_kind kind;
    if (trial->status < 0)
        row->outcome = YK_OUTCOME_FAILED;
    else if (yk_report_serious(&trial->report, &kind) && kind != YK_FINDING_NOT_CONVERGED)
        row->outcome = YK_OUTCOME_UNSTABLE;
    else if (trial->status == YK_NOT_CONVERGED)
        row->outcome = YK_OUTCOME_NOT_CONVERGED;
    snprintf(row->message, sizeof row->message, "%.*s", (int)sizeof row->message - 1,
             row->outcome == YK_OUTCOME_UNSTABLE ? trial->report.findings[0].text : trial->message);
}

static void do_row(void *user, int index)
{
    study *s = user;
    int variant = index / s->def->step_count, k = index % s->def->step_count;
    yk_convergence_row *row = &s->rows[index];
    *row =
        (yk_convergence_row){.variant = variant, .step = s->def->steps[k], .error = NAN, .largest = NAN, .order = NAN};
    yk_trial_def def = trial_of(s, variant_of(s, variant), row->step);
    yk_trial trial;
    yk_trial_run(&def, &trial);
    note_outcome(&trial, row);
    row->steps = trial.report.steps, row->iterations = trial.iterations, row->calls = trial.calls;
    row->seconds = trial.report.seconds;
    row->seconds_per_step = row->steps ? row->seconds / (double)row->steps : NAN;
    if (trial.status >= 0 && s->def->exact) {
        yk_status status = measure_exact(s, &trial, row);
        if (status < 0) {
            row->outcome = YK_OUTCOME_FAILED;
            snprintf(row->message, sizeof row->message, "%s", yk_last_message(trial.context));
        }
    } else if (trial.status >= 0) {
        row->error = yk_record_distance(trial.record, s->reference.record, &row->largest);
    }
    yk_trial_release(&trial);
}

static void do_reference(void *user, int index)
{
    study *s = user;
    static const char *const monolithic = "coupling.scheme=monolithic";
    static const yk_variant merged = {"monolithic", &monolithic, 1};
    const yk_converge_def *d = s->def;
    const yk_variant *variant = s->kind == YK_REFERENCE_MONOLITHIC ? &merged : variant_of(s, d->variant_count - 1);
    double finest = d->steps[d->step_count - 1];
    yk_trial_def def = trial_of(s, variant, finest / (index == 0 ? REFERENCE_PARTS : REFERENCE_PARTS / 2));
    yk_trial_run(&def, index == 0 ? &s->reference : &s->half);
}

static yk_status try_reference(study *s, yk_reference kind, yk_convergence_report *report)
{
    yk_trial_release(&s->reference);
    yk_trial_release(&s->half);
    s->kind = report->reference = kind;
    yk_status status = yk_trials_run(s->context, s->def->jobs, 2, do_reference, s, NULL, NULL);
    if (status != YK_OK) return status;
    for (int i = 0; i < 2; i++) {
        const yk_trial *trial = i == 0 ? &s->reference : &s->half;
        if (trial->status < 0)
            return yk_fail(s->context, trial->status, "converge: the reference failed: %s", trial->message);
    }
    double largest;
    report->reference_error = yk_record_distance(s->half.record, s->reference.record, &largest);
    return YK_OK;
}

static yk_status make_reference(study *s, yk_convergence_report *report)
{
    if (s->def->exact) return YK_OK;
    bool automatic = s->def->reference == YK_REFERENCE_AUTO;
    yk_status status = try_reference(s, automatic ? YK_REFERENCE_MONOLITHIC : s->def->reference, report);
    if (status < 0 && automatic) status = try_reference(s, YK_REFERENCE_FINEST, report);
    return status;
}

/* Orders ----------------------------------------------------------------------------------------------------------- */

/* From row to row of one variant; none where the reference itself is no better. */
static void find_orders(study *s, const yk_convergence_report *report)
{
    for (int i = 0; i < s->def->step_count * (s->def->variant_count ? s->def->variant_count : 1); i++) {
        yk_convergence_row *row = &s->rows[i], *before = row - 1;
        row->drowned = row->error < 3 * report->reference_error;
        if (i % s->def->step_count == 0 || row->drowned || row->outcome == YK_OUTCOME_UNSTABLE) continue;
        row->order = log(before->error / row->error) / log(before->step / row->step);
        if (!isfinite(row->order)) row->order = NAN;
    }
}

static yk_status check(yk_context *context, const yk_converge_def *def)
{
    if (def->step_count < 1) return yk_fail(context, YK_ERROR_ARGUMENT, "converge: no steps are given");
    for (int i = 0; i < def->step_count; i++) {
        if (i > 0 && !(def->steps[i] < def->steps[i - 1]))
            return yk_fail(context, YK_ERROR_ARGUMENT, "converge: the steps must fall, but %g s follows %g s",
                           def->steps[i], def->steps[i - 1]);
        double parts = def->steps[0] / def->steps[i];
        if (!def->exact && fabs(parts - round(parts)) > 1e-6 * parts)
            return yk_fail(
                context, YK_ERROR_ARGUMENT,
                "converge: %g s is not a whole part of the coarsest step, %g s; runs are compared at its times",
                def->steps[i], def->steps[0]);
    }
    if (def->exact && def->signal_count != 1)
        return yk_fail(context, YK_ERROR_ARGUMENT, "converge: an exact course is that of one signal; name it");
    return YK_OK;
}

static yk_status converge(yk_context *context, const yk_converge_def *def, yk_diagnostics *diagnostics,
                          yk_convergence_row *rows, yk_convergence_report *report)
{
    *report = (yk_convergence_report){0};
    study s = {.context = context, .def = def, .rows = rows};
    yk_scenario *scenario = NULL;
    yk_status status = check(context, def);
    if (status == YK_OK) status = yk_scenario_load(context, &def->scenario, diagnostics, &scenario);
    if (status == YK_OK && def->exact) {
        yk_expression *exact = NULL;
        status = compile_exact(context, def->exact, scenario, &exact);
        yk_expression_destroy(exact);
    }
    if (status == YK_OK) status = choose_signals(&s, yk_scenario_get(scenario));
    yk_scenario_destroy(scenario);
    if (status == YK_OK) status = make_reference(&s, report);
    int count = def->step_count * (def->variant_count ? def->variant_count : 1);
    if (status == YK_OK) status = yk_trials_run(context, def->jobs, count, do_row, &s, def->progress, def->user);
    if (status == YK_OK) find_orders(&s, report);
    yk_trial_release(&s.reference);
    yk_trial_release(&s.half);
    if (s.names) yk_release(context, (void *)(uintptr_t)s.signals);
    yk_release(context, s.names);
    return status;
}

yk_status yk_converge(yk_context *context, const yk_converge_def *def, yk_diagnostics *diagnostics,
                      yk_convergence_row *rows, yk_convergence_report *report)
{
    yk_converge_def own = *def;
    yk_preparations *prepared = yk_trials_prepare(&own.scenario);
    yk_status status = converge(context, &own, diagnostics, rows, report);
    yk_preparations_destroy(prepared);
    return status;
}
