/* Convergence studies: orders and errors that are known, and reports that name failing and unstable
 * runs as such. */
#include <string.h>

#include "context.h"
#include "test.h"
#include "yoke/analysis.h"

static yk_convergence_options study(const double *steps, int count)
{
    yk_convergence_options def = yk_convergence_options_default();
    def.scenario.path = YOKE_SOURCE_DIR "/models/two-mass-oscillator/scenario.yaml";
    def.steps = steps, def.step_count = count, def.jobs = 2;
    return def;
}

static yk_status converge(yk_context *context, const yk_convergence_options *def,
                          yk_convergence_row *rows, yk_convergence_report *report)
{
    yk_diagnostics *diagnostics = NULL;
    assert_int_equal(yk_diagnostics_create(context, &diagnostics), YK_OK);
    yk_status status = yk_study_convergence(context, def, diagnostics, rows, report);
    yk_diagnostics_destroy(diagnostics);
    return status;
}

/* papers/README: 1.40e-1, 1.55e-2, 1.57e-3 from two exact points; the start of our own adds a
 * step's share to the first. */
static void errors_against_the_exact_course_are_those_of_the_paper(void **state)
{
    const double steps[] = {1e-3, 1e-4, 1e-5};
    const char *const channel = "left.mass.position";
    yk_convergence_options def = study(steps, 3);
    def.channels = &channel, def.channel_count = 1, def.exact_expression = "v0/omega*sin(omega*t)";
    yk_convergence_row rows[3];
    yk_convergence_report report;
    assert_int_equal(converge(*state, &def, rows, &report), YK_OK);
    assert_near(rows[0].error, 1.406e-1, 1e-4);
    assert_near(rows[1].error, 1.553e-2, 1e-5);
    assert_near(rows[2].error, 1.568e-3, 1e-6);
    assert_near(rows[2].order, 1.0, 0.01);
    assert_int_equal(rows[2].step_count, 50000);
    assert_int_equal(rows[2].call_count, 100000);
    assert_near(report.reference_error, 0, 0);
}

static const char *const explicit_set[] = {"coupling.scheme=explicit"};
static const char *const monolithic_set[] = {"coupling.scheme=monolithic"};
static const char *const unstable_set[] = {"coupling.modified_inputs=none"};
static const char *const impossible_set[] = {
    "coupling.modified_inputs={alpha: -1, beta: 1, gamma: 0}"};
static const yk_variant variants[] = {{"explicit", explicit_set, 1},
                                      {"monolithic", monolithic_set, 1},
                                      {"unstable", unstable_set, 1},
                                      {"impossible", impossible_set, 1}};

static void orders_are_observed_for_every_variant(void **state)
{
    const double steps[] = {1e-3, 5e-4, 2.5e-4};
    yk_convergence_options def = study(steps, 3);
    def.variants = variants, def.variant_count = 4;
    yk_convergence_row rows[12];
    yk_convergence_report report;
    assert_int_equal(converge(*state, &def, rows, &report), YK_OK);
    assert_int_equal(report.reference, YK_REFERENCE_MONOLITHIC);
    assert_true(report.reference_error > 0 && report.reference_error < 1e-4);
    assert_near(rows[2].order, 1, 0.06);
    assert_near(rows[5].order, 2, 0.1);
    assert_int_equal(rows[2].outcome, YK_OUTCOME_OK);
    assert_int_equal(rows[6].outcome, YK_OUTCOME_UNSTABLE);
    assert_non_null(strstr(rows[6].message, "scheme is stable up to"));
    assert_true(isnan(rows[7].order));
    assert_int_equal(rows[9].outcome, YK_OUTCOME_FAILED);
    assert_non_null(strstr(rows[9].message, "alpha"));
    assert_int_equal(rows[9].variant, 3);
    assert_int_equal(rows[3].call_count, 500); /* one system instead of two */
}

static void what_cannot_be_merged_is_compared_with_the_finest_run(void **state)
{
    const double steps[] = {4e-3, 2e-3};
    static const char *const end = "time.end=0.2";
    yk_convergence_options def = study(steps, 2);
    def.scenario.path = YOKE_SOURCE_DIR "/models/servo-cylinder/scenario.yaml";
    def.scenario.overrides = &end, def.scenario.override_count = 1;
    yk_convergence_row rows[2];
    yk_convergence_report report;
    assert_int_equal(converge(*state, &def, rows, &report), YK_OK);
    assert_int_equal(report.reference, YK_REFERENCE_FINEST);
    assert_true(rows[0].error > rows[1].error && rows[1].error > 0 && rows[1].error < 0.05);
    def.reference = YK_REFERENCE_MONOLITHIC;
    assert_true(converge(*state, &def, rows, &report) < 0);
    assert_non_null(strstr(yk_last_message(*state), "reference failed"));
}

static void mistakes_are_refused(void **state)
{
    const double rising[] = {1e-4, 1e-3}, apart[] = {1e-3, 7e-4}, good[] = {1e-3};
    yk_convergence_row rows[2];
    yk_convergence_report report;
    yk_convergence_options def = study(rising, 2);
    assert_int_equal(converge(*state, &def, rows, &report), YK_ERROR_ARGUMENT);
    def = study(apart, 2);
    assert_int_equal(converge(*state, &def, rows, &report), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(*state), "whole part"));
    def = study(good, 1);
    def.exact_expression = "sin(t";
    assert_int_equal(converge(*state, &def, rows, &report), YK_ERROR_ARGUMENT);
    const char *const channel = "left.mass.position";
    def.channels = &channel, def.channel_count = 1;
    assert_int_equal(converge(*state, &def, rows, &report), YK_ERROR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_against_the_exact_course_are_those_of_the_paper),
        cmocka_unit_test(orders_are_observed_for_every_variant),
        cmocka_unit_test(what_cannot_be_merged_is_compared_with_the_finest_run),
        cmocka_unit_test(mistakes_are_refused),
    };
    return cmocka_run_group_tests_name("converge", tests, create_context, destroy_context);
}
