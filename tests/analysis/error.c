/* Error estimates: of artificial signals with a known error, and of runs with solutions in closed
 * form. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/error_bars.h"
#include "context.h"
#include "load_scenario.h"
#include "test.h"
#include "yoke/analysis.h"

enum { ROWS = 400 };

/* Made-up runs --------------------------------------------------------------------------------- */

/* Bars of the runs made by `value` with steps h, h/2, h/4; tells how often and how far they
 * hold. */
typedef struct outcome {
    yk_channel_error error;
    double covered; /* part of the samples whose error lies inside the bar */
    double ratio;   /* largest bar by largest error */
} outcome;

static double impact(double t, double h);

static outcome judge(double (*value)(double t, double h), double h, int runs)
{
    static double columns[YK_ERROR_RUNS_MAX][ROWS], time[ROWS], bars[ROWS], ratios[ROWS];
    const double *list[YK_ERROR_RUNS_MAX];
    for (int run = 0; run < runs; run++) {
        list[run] = columns[run];
        for (int i = 0; i < ROWS; i++)
            time[i] = 0.01 * i, columns[run][i] = value(time[i], h / (1 << run));
    }
    outcome o = {.covered = 0};
    yk_error_input input = {
        .runs = runs, .components = 1, .rows = ROWS, .time = time, .columns = list};
    input.impacts = value == impact;
    double *bar = bars;
    yk_error_bars(&input, ratios, &bar, &o.error);
    double largest = 0;
    for (int i = 0; i < ROWS; i++) {
        double error = fabs(columns[0][i] - value(time[i], 0));
        o.covered += error <= bars[i];
        largest = fmax(largest, error);
    }
    o.covered /= ROWS;
    o.ratio = o.error.max_error / largest;
    return o;
}

static double first_order(double t, double h)
{
    return sin(5 * t * (1 + h));
}

static double second_order(double t, double h)
{
    return sin(5 * t * (1 + h * h)) * exp(-h * h * t);
}

/* Two orders whose errors have opposite signs. */
static double mixed_orders(double t, double h)
{
    return cos(3 * t) + t * (2 * h * h - 0.05 * h);
}

static void orders_are_measured_and_bars_hold(void **state)
{
    (void)state;
    static const double steps[] = {0.1, 0.03, 0.01, 0.001};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        outcome one = judge(first_order, steps[i], 3), two = judge(second_order, steps[i], 3);
        assert_true(one.covered == 1 && one.ratio < 1.6);
        assert_true(two.covered == 1 && two.ratio < 1.3);
        if (steps[i] > 0.03)
            continue; /* phases are too far apart there for an order */
        assert_near(one.error.order, 1, 0.1);
        assert_near(two.error.order, 2, 0.1);
        assert_int_equal(one.error.accuracy, YK_ACCURACY_MEASURED_ORDER);
    }
    outcome mixed = judge(mixed_orders, 0.1, 3);
    assert_true(mixed.covered == 1 && mixed.ratio < 2);
}

static void two_runs_take_order_one(void **state)
{
    (void)state;
    outcome one = judge(first_order, 0.01, 2), two = judge(second_order, 0.01, 2);
    assert_int_equal(one.error.accuracy, YK_ACCURACY_ASSUMED_ORDER);
    assert_true(one.covered == 1 && one.ratio < 1.5);
    assert_true(two.covered == 1 && two.ratio < 2.2);
}

static void torques_count_beside_forces_at_the_arm_of_the_motion(void **state)
{
    (void)state;
    yk_channel_error channels[] = {
        {.unit = "m", .range = 2, .max_abs = 5},
        {.unit = "N", .range = 1e3, .max_abs = 1e4},
        {.unit = "N m", .range = 3e-3, .max_abs = 3e-3}, /* of 2e4 N m nothing */
        {.unit = "N m", .range = 3, .max_abs = 3},
    };
    yk_error_exempt_resting(channels, 3, 1);
    assert_false(channels[0].excluded);
    assert_false(channels[1].excluded);
    assert_true(channels[2].excluded);
    yk_error_exempt_resting(channels, 4, 1);
    assert_false(channels[3].excluded);

    /* Without motion there is no lever arm, and a torque is compared directly. */
    channels[2].excluded = false;
    yk_error_exempt_resting(channels + 1, 2, 1);
    assert_false(channels[2].excluded);
}

/* A rate is judged by its integral over the run, compared with the size of the quantity that it changes. */
static void rates_count_by_what_they_amount_to(void **state)
{
    (void)state;
    yk_channel_error channels[] = {
        {.unit = "m", .range = 2, .max_abs = 5},
        {.unit = "m/s", .range = 4e-9, .max_abs = 4e-9},
        {.unit = "kg", .range = 1, .max_abs = 1},
        {.unit = "kg/s", .range = 1e-8, .max_abs = 1e-8},
        {.unit = "rad", .range = 1, .max_abs = 1},
        {.unit = "rad/s^2", .range = 2e-10, .max_abs = 2e-10},
    };
    yk_error_exempt_resting(channels, 6, 1);
    assert_false(channels[0].excluded);
    assert_true(channels[1].excluded);  /* 4e-9 of 5 */
    assert_false(channels[3].excluded); /* 1e-8 of 1 */
    assert_true(channels[5].excluded);  /* 2e-10 of 1 */

    /* Ten times as long: 4e-8 of 5, and 2e-8 of 1 by the square. */
    channels[1].excluded = false;
    channels[5].excluded = false;
    yk_error_exempt_resting(channels, 6, 10);
    assert_false(channels[1].excluded);
    assert_false(channels[5].excluded);
}

/* A velocity that changes sign at an impact, whose time is wrong by a few steps. */
static double impact(double t, double h)
{
    return t < 2 + 3 * h ? 1 : -1;
}

static void a_jump_counts_by_its_mean(void **state)
{
    (void)state;
    outcome o = judge(impact, 0.008, 3);
    assert_int_equal(o.error.accuracy, YK_ACCURACY_DISCONTINUOUS);
    assert_true(o.covered == 1);
    assert_true(o.error.relative_to_range >= 1 && o.error.error < 0.05);
    assert_true(o.error.error >= 3 * 0.008 * 2 / 4); /* the true mean error */
}

/* A valve opens, and the flow follows within two samples. */
static double transient(double t, double h)
{
    return 1 - exp(-t / (0.01 * (1 + 40 * h)));
}

static void a_transient_without_impacts_counts_by_its_peak(void **state)
{
    (void)state;
    outcome o = judge(transient, 0.005, 3);
    assert_int_equal(o.error.accuracy, YK_ACCURACY_MEASURED_ORDER);
    assert_true(o.covered == 1);
    assert_true(o.error.error >= 0.05 && o.error.error == o.error.relative_to_range);
}

/* The logistic map: nearby starts separate by a factor of about 60 per second at every step size. */
static double chaos(double t, double h)
{
    double x = 0.4 + 1e-3 * sin(1e5 * h);
    for (int n = 0; n < (int)(8 * t + 1e-9); n++)
        x = 3.97 * x * (1 - x);
    return x;
}

static void chaos_is_reported_with_its_time(void **state)
{
    (void)state;
    outcome o = judge(chaos, 0.01, 3);
    assert_int_equal(o.error.accuracy, YK_ACCURACY_UNPREDICTABLE);
    assert_true(o.error.predictable_until > 0.5 && o.error.predictable_until < 3);
    assert_true(o.error.relative_to_range >= 1);
    assert_true(o.covered >= 0.95);
}

static double exact(double t, double h)
{
    return sin(t) + 1e-16 * (h > 0.004);
}

static void rounding_is_no_error(void **state)
{
    (void)state;
    outcome o = judge(exact, 0.01, 3);
    assert_int_equal(o.error.accuracy, YK_ACCURACY_ROUNDING);
    assert_true(o.covered == 1 && o.error.relative_to_range < 1e-13);
}

/* Scenarios ------------------------------------------------------------------------------------ */

/* Two masses with overrides up to a NULL, for as long as no other model is asked for. */
typedef struct loaded {
    yk_scenario_def def;
    yk_scenario *scenario;
} loaded;

static loaded load(yk_context *context, const char *const *overrides, double refinement)
{
    loaded l = {.def = describe_scenario(model_file("two-mass-oscillator"), NULL, overrides)};
    l.def.refinement = refinement;
    l.scenario = load_described(context, &l.def);
    return l;
}

static void refinement_divides_all_steps(void **state)
{
    static const char *const sets[] = {"time.step_tolerance=1e-4", "time.min_step=1e-6",
                                       "record.every=5", "coupling.scheme=tight", NULL};
    loaded l = load(*state, sets, 4);
    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
    assert_near(info->step, 2.5e-5, 1e-18);
    assert_near(info->step_control.min_step, 2.5e-7, 1e-20);
    assert_near(info->step_control.relative_tolerance, 1e-4 / 64, 1e-18);
    assert_near(((const yk_tight_options *)info->scheme.options)->tolerance, 1e-6 / 4, 1e-18);
    assert_int_equal(info->record_interval, 20);
    assert_int_equal(info->step_count, 20000);
    yk_scenario_destroy(l.scenario);
}

static yk_accuracy_report *estimate(yk_context *context, const loaded *l, yk_record *record)
{
    yk_run_options run = {.recorder = yk_record_recorder(record)};
    assert_int_equal(yk_run(context, l->scenario, &run, NULL), YK_OK);
    yk_accuracy_options def = {
        .scenario = l->def, .loaded_scenario = l->scenario, .record = record, .jobs = 1};
    yk_accuracy_report *report;
    assert_int_equal(yk_estimate_accuracy(context, &def, &report), YK_OK);
    return report;
}

/* x = v0/omega sin(omega t), with every scheme and with steps from coarse to fine. */
static void the_oscillator_lies_inside_its_bars(void **state)
{
    static const char *const variants[][2] = {{"coupling.scheme=explicit", "time.step=2e-3"},
                                              {"coupling.scheme=explicit", "time.step=1e-4"},
                                              {"coupling.scheme=tight", "time.step=1e-3"},
                                              {"coupling.scheme=monolithic", "time.step=5e-3"},
                                              {"coupling.scheme=monolithic", "time.step=2e-4"}};
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        const char *const sets[] = {variants[v][0], variants[v][1], "parameters.right_mass=0.3",
                                    "coupling.acceleration=aitken", NULL};
        loaded l = load(*state, sets, 0);
        yk_record *record;
        assert_int_equal(yk_record_create(*state, &record), YK_OK);
        yk_accuracy_report *report = estimate(*state, &l, record);
        assert_true(report->is_bounded && report->worst_channel >= 0 && *report->summary);
        double omega = sqrt(5000 / 1.3), largest = 0;
        int channel = yk_record_find_channel(record, "left.mass.position");
        assert_int_equal(channel, 0);
        for (size_t i = 0; i < yk_record_row_count(record); i++) {
            double error = fabs(yk_record_column(record, channel, 0)[i] -
                                0.1 / omega * sin(omega * yk_record_times(record)[i]));
            assert_true(error <= report->error_bars[0][i]);
            largest = fmax(largest, error);
        }
        assert_true(report->channels[channel].max_error < 2.5 * largest);
        yk_accuracy_report_destroy(*state, report);
        yk_record_destroy(record);
        yk_scenario_destroy(l.scenario);
    }
}

/* Original inputs with equal masses blow up, the sooner the smaller the step: what the coarse run
 * gives is no answer. */
static void finer_runs_that_fail_leave_nothing_known(void **state)
{
    static const char *const sets[] = {"coupling.modified_inputs=none", "time.step=5e-3",
                                       "parameters.right_mass=1.5", "time.end=0.1", NULL};
    loaded l = load(*state, sets, 0);
    yk_record *record;
    assert_int_equal(yk_record_create(*state, &record), YK_OK);
    yk_accuracy_report *report = estimate(*state, &l, record);
    assert_true(!report->is_bounded || report->error > 1);
    yk_accuracy_report_destroy(*state, report);
    yk_record_destroy(record);
    yk_scenario_destroy(l.scenario);
}

static void bars_go_to_the_record(void **state)
{
    static const char *const sets[] = {"time.end=0.1", NULL};
    loaded l = load(*state, sets, 0);
    yk_record *record, *copy;
    assert_int_equal(yk_record_create(*state, &record), YK_OK);
    assert_int_equal(yk_record_create(*state, &copy), YK_OK);
    yk_accuracy_report *report = estimate(*state, &l, record);
    assert_int_equal(yk_accuracy_report_write(*state, record, report, yk_record_recorder(copy)),
                     YK_OK);
    assert_int_equal(yk_record_get_header(copy)->channel_count,
                     2 * yk_record_get_header(record)->channel_count);
    int bar = yk_record_find_channel(copy, "left.mass.velocity_error_bar"),
        channel = yk_record_find_channel(copy, "left.mass.velocity");
    assert_true(bar >= 0 && channel >= 0);
    size_t last = yk_record_row_count(copy) - 1;
    assert_true(last + 1 == yk_record_row_count(record));
    assert_true(yk_record_column(copy, bar, 0)[last] == report->channels[1].max_error);
    bool reported = false;
    const yk_record_summary *summary = yk_record_get_summary(copy);
    for (int i = 0; i < summary->count; i++)
        reported = reported || (strcmp(summary->values[i].name, "error") == 0 &&
                                summary->values[i].value == report->error);
    assert_true(reported);
    yk_accuracy_report_destroy(*state, report);
    yk_record_destroy(record);
    yk_record_destroy(copy);
    yk_scenario_destroy(l.scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_are_measured_and_bars_hold),
        cmocka_unit_test(two_runs_take_order_one),
        cmocka_unit_test(torques_count_beside_forces_at_the_arm_of_the_motion),
        cmocka_unit_test(rates_count_by_what_they_amount_to),
        cmocka_unit_test(a_jump_counts_by_its_mean),
        cmocka_unit_test(a_transient_without_impacts_counts_by_its_peak),
        cmocka_unit_test(chaos_is_reported_with_its_time),
        cmocka_unit_test(rounding_is_no_error),
        cmocka_unit_test(refinement_divides_all_steps),
        cmocka_unit_test(the_oscillator_lies_inside_its_bars),
        cmocka_unit_test(finer_runs_that_fail_leave_nothing_known),
        cmocka_unit_test(bars_go_to_the_record),
    };
    return cmocka_run_group_tests_name("error", tests, create_context, destroy_context);
}
