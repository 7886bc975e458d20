/* Convergence of a scenario towards an exact solution: papers explicit figure 9, tight table 1. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/expression.h"
#include "model/scenario.h"
#include "yoke/analysis.h"

typedef struct study {
    yk_context *context;
    const yk_scenario_def *scenario;
    const char *signal;
    const char *exact;
    yk_diagnostics *diagnostics;
} study;

/* The scenario with one step size, recording every step. */
static yk_status load_with_step(const study *s, double step, yk_scenario **scenario)
{
    int given = s->scenario->override_count;
    const char **overrides = yk_allocate(s->context, (size_t)given + 3, sizeof *overrides);
    if (!overrides) return YK_ERROR_MEMORY;
    char step_text[64], signal_text[512];
    snprintf(step_text, sizeof step_text, "time.step=%.17g", step);
    snprintf(signal_text, sizeof signal_text, "record.signals=[%s]", s->signal);
    for (int i = 0; i < given; i++) overrides[i] = s->scenario->overrides[i];
    overrides[given] = step_text;
    overrides[given + 1] = "record.every=1";
    overrides[given + 2] = signal_text;
    yk_scenario_def def = *s->scenario;
    def.overrides = overrides;
    def.override_count = given + 3;
    yk_status status = yk_scenario_load(s->context, &def, s->diagnostics, scenario);
    yk_release(s->context, overrides);
    return status;
}

static yk_status compile_exact(const study *s, const yk_scenario *scenario, yk_expression **exact)
{
    static const char *const variables[] = {"t"};
    yk_scope scope = {.parameters = scenario->builder.scope->parameters,
                      .parameter_count = scenario->builder.scope->parameter_count,
                      .variables = variables,
                      .variable_count = 1};
    yk_expression_error error;
    yk_status status = yk_expression_create(s->context, s->exact, &scope, &error, exact);
    if (status == YK_ERROR_INPUT)
        yk_fail(s->context, status, "exact solution '%s', character %zu: %s", s->exact, error.offset + 1,
                error.message);
    return status;
}

static void compare(const yk_record *record, yk_expression *exact, yk_convergence_row *row)
{
    const double *time = yk_record_time(record), *value = yk_record_column(record, 0, 0);
    double error = 0, size = 0;
    for (size_t i = 0; i < yk_record_rows(record); i++) {
        double expected = yk_expression_value(exact, &time[i]);
        double off = fabs(value[i] - expected);
        error += off, size += fabs(expected);
        if (!(off <= row->largest)) row->largest = off;
    }
    row->error = error / size;
}

static yk_status measure(const study *s, yk_scenario *scenario, yk_convergence_row *row)
{
    yk_record *record = NULL;
    yk_expression *exact = NULL;
    yk_run_report report;
    yk_system *system = NULL;
    yk_status status = yk_record_create(s->context, &record);
    if (status >= 0) status = compile_exact(s, scenario, &exact);
    if (status >= 0) {
        yk_run_def def = {.recorder = yk_record_recorder(record)};
        status = yk_run(s->context, scenario, &def, &report);
    }
    if (status >= 0) status = yk_scenario_system(scenario, &system);
    if (status >= 0) {
        yk_system_statistics statistics = yk_system_statistics_get(system);
        row->steps = statistics.steps;
        row->iterations = statistics.iterations;
        row->seconds_per_step = report.seconds / (double)report.steps;
        compare(record, exact, row);
    }
    yk_expression_destroy(exact);
    yk_record_destroy(record);
    return status;
}

yk_status yk_converge(yk_context *context, const yk_scenario_def *scenario, const char *signal, const char *exact,
                      const double *steps, int count, yk_diagnostics *diagnostics, yk_convergence_row *rows)
{
    study s = {context, scenario, signal, exact, diagnostics};
    for (int i = 0; i < count; i++) {
        if (i > 0 && !(steps[i] < steps[i - 1]))
            return yk_fail(context, YK_ERROR_ARGUMENT, "converge: the steps must fall, but %g s follows %g s", steps[i],
                           steps[i - 1]);
        rows[i] = (yk_convergence_row){.step = steps[i], .order = NAN};
        yk_scenario *loaded = NULL;
        yk_status status = load_with_step(&s, steps[i], &loaded);
        if (status >= 0) status = measure(&s, loaded, &rows[i]);
        yk_scenario_destroy(loaded);
        if (status < 0) return status;
        if (i > 0) rows[i].order = log(rows[i - 1].error / rows[i].error) / log(steps[i - 1] / steps[i]);
    }
    return YK_OK;
}
