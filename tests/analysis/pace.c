/* Runs in real time. Sleep never ends early, so that lower bounds of the duration hold on a loaded
 * machine as well. */
#include "base/clock.h"
#include "context.h"
#include "load_scenario.h"
#include "test.h"
#include "yoke/analysis.h"

static const char *const overrides[] = {"time.end=0.05", "time.step=1e-3", NULL};

static yk_run_report run_paced(yk_context *context, double pace, double *duration)
{
    yk_scenario *scenario =
        load_scenario(context, model_file("two-mass-oscillator"), NULL, overrides);
    yk_run_options options = {.pace = pace};
    yk_run_report report;
    double begin = yk_clock_seconds();
    assert_int_equal(yk_run(context, scenario, &options, &report), YK_OK);
    *duration = yk_clock_seconds() - begin;
    assert_int_equal(report.step_count, 50);
    yk_scenario_destroy(scenario);
    return report;
}

static void a_paced_run_takes_its_time(void **state)
{
    double duration;
    yk_run_report free_run = run_paced(*state, 0, &duration);
    assert_true(free_run.pace.factor == 0 && free_run.pace.longest_step == 0);

    yk_run_report paced = run_paced(*state, 0.5, &duration);
    assert_true(duration > 0.1);
    assert_true(paced.pace.factor == 0.5);
    assert_true(paced.pace.longest_step > 0 && paced.pace.longest_step < duration);
    assert_true(paced.pace.longest_step_time > 0 && paced.pace.longest_step_time <= 0.05 + 1e-9);
    assert_true(paced.pace.overruns >= 0 && paced.pace.overruns <= 50);
    assert_int_equal(paced.state_hash, free_run.state_hash);
}

/* At a rate that no computer reaches, every step is late, and the last one by nearly the whole duration. */
static void steps_that_are_late_are_counted(void **state)
{
    double duration;
    yk_run_report report = run_paced(*state, 1e9, &duration);
    assert_int_equal(report.pace.overruns, 50);
    assert_true(report.pace.largest_lateness >= report.pace.longest_step / 2);
    assert_true(report.pace.largest_lateness < duration);
}

static void a_pace_that_is_no_rate_is_refused(void **state)
{
    yk_scenario *scenario =
        load_scenario(*state, model_file("two-mass-oscillator"), NULL, overrides);
    const double wrong[] = {-1, NAN, INFINITY};
    for (int i = 0; i < 3; i++) {
        yk_run_options options = {.pace = wrong[i]};
        assert_int_equal(yk_run(*state, scenario, &options, NULL), YK_ERROR_ARGUMENT);
    }
    yk_scenario_destroy(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_paced_run_takes_its_time),
        cmocka_unit_test(steps_that_are_late_are_counted),
        cmocka_unit_test(a_pace_that_is_no_rate_is_refused),
    };
    return cmocka_run_group_tests(tests, create_context, destroy_context);
}
