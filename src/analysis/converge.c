/* Convergence of a scenario for several schemes (Zhang et al. 2022, figure 9; Zhang et al. 2020,
 * table 1; Meyer et al. 2018, figures 5 to 13): one run per variant and step, compared with an
 * exact solution or with a reference run that is finer than all of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/remedies.h"
#include "analysis/scenario_run.h"
#include "model/expression.h"
#include "model/scenario.h"
#include "yoke/analysis.h"

/* Largest number of steps of the coarsest run, because samples are counted by an int. */
static const double PARTS_MAX = 1e9;
/* Number of steps of the reference per step of the finest run. A run with half of them shows its
 * own error. */
enum { REFERENCE_PARTS = 4 };
/* An error below this multiple of the reference's own error is not significant. */
static const double RESOLVED = 3;

typedef struct study {
    yk_context *context;
    const yk_convergence_options *def;
    yk_convergence_row *rows;
    yk_reference kind;        /* kind of the reference */
    yk_trial reference, half; /* if there is no exact solution */
    char (*names)[160];       /* of the channels, if the caller names none */
    const char **channels;
    int channel_count;
} study;

yk_convergence_options yk_convergence_options_default(void)
{
    return (yk_convergence_options){.scenario = yk_scenario_default(),
                                    .reference = YK_REFERENCE_AUTO};
}

/* Exact courses -------------------------------------------------------------------------------- */

static yk_status compile_exact(yk_context *context, const char *text, const yk_scenario *scenario,
                               yk_expression **exact)
{
    /* A function of time, with the parameters of the scenario. */
    static const char *const variables[] = {"t"};
    yk_scope scope = {
        .parameters = scenario->builder.scope->parameters,
        .parameter_count = scenario->builder.scope->parameter_count,
        .variables = variables,
        .variable_count = 1,
    };

    yk_expression_error error;
    yk_status status = yk_expression_create(context, text, &scope, &error, exact);
    if (status == YK_ERROR_INPUT)
        yk_fail(context, status, "exact solution '%s', character %zu: %s", text, error.offset + 1,
                error.message);

    return status;
}

/* Relative L1 error of the first component (Zhang et al. 2022, equation 47; Zhang et al. 2020,
 * equation 34). */
static yk_status compare_exact(const study *s, const yk_trial *trial, yk_convergence_row *row)
{
    /* A scenario of its own, because expressions have a state during evaluation. */
    yk_context *context = trial->context;
    yk_diagnostics *diagnostics = NULL;
    yk_scenario *scenario = NULL;
    yk_expression *exact = NULL;
    yk_status status = yk_diagnostics_create(context, &diagnostics);
    if (!YK_FAILED(status))
        status = yk_scenario_load(context, &s->def->scenario, diagnostics, &scenario);
    if (!YK_FAILED(status))
        status = compile_exact(context, s->def->exact_expression, scenario, &exact);

    if (!YK_FAILED(status)) {
        /* Sample by sample; a value that is not a number counts as the largest error. */
        const double *time = yk_record_times(trial->record);
        const double *value = yk_record_column(trial->record, 0, 0);
        double error = 0;
        double size = 0;
        row->max_error = 0;

        for (size_t i = 0; i < yk_record_row_count(trial->record); i++) {
            double expected = yk_expression_value(exact, &time[i]);
            double difference = fabs(value[i] - expected);
            error += difference;
            size += fabs(expected);
            if (!(difference <= row->max_error))
                row->max_error = difference;
        }

        row->error = error / size;
    }

    yk_expression_destroy(exact);
    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    return status;
}

/* Runs ----------------------------------------------------------------------------------------- */

static yk_trial_def trial_of(const study *s, const yk_variant *variant, double step)
{
    /* All runs have samples at the times of the coarsest. */
    int every = 1;
    if (!s->def->exact_expression)
        every = (int)lround(s->def->steps[0] / step);

    return (yk_trial_def){
        .scenario = &s->def->scenario,
        .variant = variant,
        .step = step,
        .end = NAN,
        .channels = s->channels,
        .channel_count = s->channel_count,
        .every = every,
        .seconds = INFINITY,
        .caller = s->context,
    };
}

static const yk_variant *variant_of(const study *s, int index)
{
    if (s->def->variant_count == 0)
        return NULL;
    return &s->def->variants[index];
}

static void do_row(void *user, int index, void *result)
{
    study *s = user;
    yk_convergence_row *row = result;
    *row = (yk_convergence_row){.error = NAN, .max_error = NAN, .order = NAN};
    row->variant = index / s->def->step_count;
    row->step = s->def->steps[index % s->def->step_count];

    yk_trial_def def = trial_of(s, variant_of(s, row->variant), row->step);
    yk_trial trial;
    yk_trial_run(&def, &trial);
    row->step_count = trial.report->step_count;
    row->iteration_count = trial.iterations;
    row->call_count = trial.calls;
    row->wall_time = trial.report->wall_time;
    row->wall_time_per_step = NAN;
    if (row->step_count > 0)
        row->wall_time_per_step = row->wall_time / (double)row->step_count;

    /* The outcome, and the reason if it is not good. */
    yk_finding_kind kind;
    const char *message = trial.message;
    if (YK_FAILED(trial.status)) {
        row->outcome = YK_OUTCOME_FAILED;
    } else if (yk_report_serious(trial.report, &kind) && kind != YK_FINDING_NOT_CONVERGED) {
        row->outcome = YK_OUTCOME_UNSTABLE;
        message = trial.report->findings[0].message;
    } else if (trial.status == YK_NOT_CONVERGED) {
        row->outcome = YK_OUTCOME_NOT_CONVERGED;
    }

    snprintf(row->message, sizeof row->message, "%.*s", (int)sizeof row->message - 1, message);

    /* The error, if the run reached its end. */
    if (!YK_FAILED(trial.status) && s->def->exact_expression) {
        if (compare_exact(s, &trial, row) != YK_OK) {
            row->outcome = YK_OUTCOME_FAILED;
            snprintf(row->message, sizeof row->message, "%s", yk_last_message(trial.context));
        }
    } else if (!YK_FAILED(trial.status)) {
        row->error = yk_record_distance(trial.record, s->reference.record, &row->max_error);
    }

    yk_trial_release(&trial);
}

static void keep_row(void *user, int index, const void *result)
{
    study *s = user;
    s->rows[index] = *(const yk_convergence_row *)result;
}

/* Index 0: the reference itself; 1: one of twice its step. */
static void do_reference(void *user, int index, void *result)
{
    (void)result;

    study *s = user;
    const yk_convergence_options *d = s->def;

    /* The merged subsystems, or the last variant. */
    yk_changes changes = {0};
    const yk_scheme_ops *merging = yk_scheme_with(YK_SCHEME_IS_REFERENCE);
    yk_changes_add(&changes, "coupling.scheme=%s", merging->name);
    const char *const override = changes.texts[0];
    const yk_variant merged = {merging->name, &override, 1};
    const yk_variant *variant = &merged;
    if (s->kind != YK_REFERENCE_MONOLITHIC)
        variant = variant_of(s, d->variant_count - 1);

    /* With finer steps than all runs that are compared with it. */
    int parts = REFERENCE_PARTS;
    yk_trial *trial = &s->reference;
    if (index == 1) {
        parts = REFERENCE_PARTS / 2;
        trial = &s->half;
    }

    yk_trial_def def = trial_of(s, variant, d->steps[d->step_count - 1] / parts);
    yk_trial_run(&def, trial);
}

static yk_status try_reference(study *s, yk_reference kind, yk_convergence_report *report)
{
    /* Another one may have been tried before. */
    yk_trial_release(&s->reference);
    yk_trial_release(&s->half);
    s->kind = kind;
    report->reference = kind;
    yk_trials_def runs = {.jobs = s->def->jobs, .count = 2, .work = do_reference, .user = s};
    yk_status status = yk_trials_run(s->context, &runs);
    if (status != YK_OK)
        return status;

    const yk_trial *trials[2] = {&s->reference, &s->half};
    for (int i = 0; i < 2; i++) {
        if (YK_FAILED(trials[i]->status))
            return yk_fail(s->context, trials[i]->status, "converge: the reference failed: %s",
                           trials[i]->message);
    }

    /* How far half the steps are from it is its own error, at most. */
    double largest;
    report->reference_error = yk_record_distance(s->half.record, s->reference.record, &largest);

    return YK_OK;
}

/* The whole study ------------------------------------------------------------------------------ */

/* Steps that fall, at the times of the coarsest. */
static yk_status check(yk_context *context, const yk_convergence_options *def)
{
    /* What cannot be compared is refused before anything runs. */
    if (def->step_count < 1)
        return yk_fail(context, YK_ERROR_ARGUMENT, "converge: no steps are given");

    const double *steps = def->steps;
    for (int i = 0; i < def->step_count; i++) {
        if (i > 0 && !(steps[i] < steps[i - 1]))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "converge: the steps must fall, but %g s follows %g s", steps[i],
                           steps[i - 1]);

        double parts = steps[0] / steps[i];
        if (!def->exact_expression && fabs(parts - round(parts)) > 1e-6 * parts)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "converge: %g s is not a whole part of the coarsest step, %g s; runs "
                           "are compared at its times",
                           steps[i], steps[0]);
        if (!(parts < PARTS_MAX))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "converge: the coarsest step, %g s, is %g times the step %g s; the "
                           "limit is %g",
                           steps[0], parts, steps[i], PARTS_MAX);
    }

    for (int i = 0; i < def->channel_count; i++)
        if (strspn(def->channels[i], " \t") == strlen(def->channels[i]))
            return yk_fail(context, YK_ERROR_ARGUMENT, "converge: channel %d has no name", i + 1);

    if (def->exact_expression && def->channel_count != 1)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "converge: an exact course is that of one channel; name it");

    return YK_OK;
}

/* Loads every variant that changes more than the coupling, to report errors in its overrides: a
 * misspelled name is an error. A scheme or an option that does not suit the scenario is a result,
 * reported in its row. */
static yk_status check_variants(yk_context *context, const yk_convergence_options *def,
                                yk_diagnostics *diagnostics)
{
    static const char coupling[] = "coupling.";
    yk_status status = YK_OK;
    for (int i = 0; i < def->variant_count && status == YK_OK; i++) {
        const yk_variant *variant = &def->variants[i];
        bool coupling_alone = true;
        for (int k = 0; k < variant->override_count; k++)
            if (strncmp(variant->overrides[k], coupling, strlen(coupling)) != 0)
                coupling_alone = false;
        if (coupling_alone)
            continue;

        size_t given = (size_t)def->scenario.override_count;
        size_t count = given + (size_t)variant->override_count;
        const char **overrides = yk_allocate(context, count + 1, sizeof *overrides);
        if (!overrides)
            return YK_ERROR_MEMORY;

        for (size_t k = 0; k < given; k++)
            overrides[k] = def->scenario.overrides[k];
        for (size_t k = given; k < count; k++)
            overrides[k] = variant->overrides[k - given];

        yk_scenario_def changed = def->scenario;
        changed.overrides = overrides;
        changed.override_count = (int)count;
        changed.skip_settling = true;
        yk_scenario *scenario = NULL;
        status = yk_scenario_load(context, &changed, diagnostics, &scenario);
        yk_scenario_destroy(scenario);
        yk_free(context, overrides);
    }

    return status;
}

yk_status yk_study_convergence(yk_context *context, const yk_convergence_options *given,
                               yk_diagnostics *diagnostics, yk_convergence_row *rows,
                               yk_convergence_report *report)
{
    /* All runs share data that are expensive to compute. */
    yk_convergence_options own = *given;
    const yk_convergence_options *def = &own;
    yk_cache *prepared = yk_trials_prepare(&own.scenario);
    study s = {.context = context, .def = def, .rows = rows};
    *report = (yk_convergence_report){0};

    /* The unchanged scenario, for its errors and those of the exact solution, and for its
     * interfaces. */
    yk_scenario *scenario = NULL;
    yk_status status = check(context, def);
    if (status == YK_OK)
        status = yk_scenario_load(context, &def->scenario, diagnostics, &scenario);
    if (status == YK_OK)
        status = check_variants(context, def, diagnostics);
    if (status == YK_OK && def->exact_expression) {
        yk_expression *exact = NULL;
        status = compile_exact(context, def->exact_expression, scenario, &exact);
        yk_expression_destroy(exact);
    }

    /* Compared channels: the caller's, otherwise position and velocity of every interface. */
    s.channel_count = def->channel_count;
    if (def->channel_count > 0)
        s.channels = (const char **)(uintptr_t)def->channels;
    if (status == YK_OK && def->channel_count == 0) {
        const yk_scenario_info *info = yk_scenario_get_info(scenario);
        size_t names = 2 * (size_t)info->interface_count;
        s.channel_count = 2 * info->interface_count;
        s.names = yk_allocate(context, names + 1, sizeof *s.names);
        s.channels = yk_allocate(context, names + 1, sizeof *s.channels);
        if (!s.names || !s.channels)
            status = YK_ERROR_MEMORY;
        else if (info->interface_count == 0)
            status = yk_fail(context, YK_ERROR_ARGUMENT,
                             "converge: there are no interfaces; name a channel to compare");

        for (int i = 0; status == YK_OK && i < s.channel_count; i++) {
            const char *quantity = "position";
            if (i % 2 == 1)
                quantity = "velocity";
            snprintf(s.names[i], sizeof *s.names, "%s.%s", info->interfaces[i / 2].name, quantity);
            s.channels[i] = s.names[i];
        }
    }

    yk_scenario_destroy(scenario);

    /* The reference. If the subsystems cannot be merged, the last variant with the finest step. */
    if (status == YK_OK && !def->exact_expression) {
        bool automatic = def->reference == YK_REFERENCE_AUTO;
        yk_reference kind = def->reference;
        if (automatic)
            kind = YK_REFERENCE_MONOLITHIC;
        status = try_reference(&s, kind, report);
        if (YK_FAILED(status) && automatic)
            status = try_reference(&s, YK_REFERENCE_FINEST, report);
    }

    /* One run per variant and step. */
    int count = def->step_count;
    if (def->variant_count > 0)
        count = def->step_count * def->variant_count;
    if (status == YK_OK) {
        yk_trials_def work = {
            .team = def->team,
            .jobs = def->jobs,
            .count = count,
            .result_size = sizeof *rows,
            .work = do_row,
            .finish = keep_row,
            .user = &s,
            .progress = def->progress,
            .progress_user = def->user,
        };
        status = yk_trials_run(context, &work);
    }

    /* Orders between consecutive rows of one variant; none if the error of the reference is not
     * smaller. */
    for (int i = 0; status == YK_OK && i < count; i++) {
        yk_convergence_row *row = &rows[i];
        row->below_reference_error = row->error < RESOLVED * report->reference_error;
        if (i % def->step_count == 0 || row->below_reference_error ||
            row->outcome == YK_OUTCOME_UNSTABLE)
            continue;

        const yk_convergence_row *before = row - 1;
        row->order = log(before->error / row->error) / log(before->step / row->step);
        if (!isfinite(row->order))
            row->order = NAN;
    }
    yk_trial_release(&s.reference);
    yk_trial_release(&s.half);

    /* The caller owns its channels. */
    if (s.channels != (const char **)(uintptr_t)def->channels)
        yk_free(context, (void *)(uintptr_t)s.channels);
    yk_free(context, s.names);
    yk_cache_destroy(prepared);
    return status;
}
