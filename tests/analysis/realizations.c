/* Statistics over realizations of random numbers, against the known distribution of a noise. */
#include <math.h>
#include <string.h>

#include "context.h"
#include "test.h"
#include "yoke/analysis.h"

static yk_seed_report *repeat(yk_context *context, const char *text, int runs)
{
    yk_scenario_def scenario = yk_scenario_default();
    scenario.path = "model.yaml";
    scenario.text = text;
    yk_seed_options def = {.scenario = scenario, .run_count = runs, .jobs = 2};
    yk_seed_report *report = NULL;
    assert_int_equal(yk_run_seeds(context, &def, &report), YK_OK);
    return report;
}

/* Values with the mean 2 and the deviation 0.5, 100 of them per run: the mean of a run has the
 * deviation 0.05. */
static void error_bars_of_a_noise_are_those_of_its_distribution(void **state)
{
    static const char text[] =
        "time: {end: 1, step: 1e-2}\n"
        "subsystems:\n"
        "  source:\n"
        "    solver: blocks\n"
        "    blocks: {n: {type: noise, interval: 0.01, deviation: 0.5, mean: 2}}\n"
        "record: {channels: [source.n]}\n";
    enum { RUNS = 24 };
    yk_seed_report *report = repeat(*state, text, RUNS);
    assert_true(report->is_random);
    assert_int_equal(report->run_count, RUNS);
    assert_int_equal(report->statistic_count, 1);
    const yk_seed_statistic *s = &report->statistics[0];
    assert_string_equal(s->name, "source.n");

    /* Four standard errors of the estimates. */
    assert_true(fabs(s->mean.mean - 2) < 4 * 0.05 / sqrt(RUNS));
    assert_true(fabs(s->mean.deviation - 0.05) < 4 * 0.05 / sqrt(2.0 * (RUNS - 1)));
    assert_true(fabs(s->rms.mean - 0.5) < 0.03);

    /* Student's quantile of 23 degrees of freedom is 2.069. */
    double half = 2.069 * s->mean.deviation / sqrt(RUNS);
    assert_true(fabs(s->mean.error - half) < 2e-3 * half);
    yk_seed_report_destroy(report);
}

static void particles_of_other_realizations_lie_elsewhere(void **state)
{
    static const char text[] =
        "time: {end: 0.02, step: 1e-3}\n"
        "subsystems:\n"
        "  box:\n"
        "    solver: nonsmooth\n"
        "    materials: {m: {friction: 0.3}}\n"
        "    ground_shapes: [{type: box-cavity, size: [0.1, 0.1, 0.1], material: m}]\n"
        "    particles:\n"
        "      p: {type: lattice, count: 8, radius: 0.01, density: 1000, material: m,\n"
        "          container: box, container_size: [0.1, 0.1, 0.1]}\n"
        "record: {channels: [box.energy.kinetic]}\n";
    yk_seed_report *report = repeat(*state, text, 3);
    assert_true(report->is_random);
    yk_seed_report_destroy(report);
}

static void a_scenario_without_random_numbers_says_so(void **state)
{
    static const char text[] = "time: {end: 1, step: 1e-2}\n"
                               "subsystems: {m: {solver: oscillator, mass: 1, velocity: 1}}\n"
                               "record: {channels: [m.mass.position]}\n";
    yk_seed_report *report = repeat(*state, text, 2);
    assert_false(report->is_random);
    assert_true(report->statistics[0].mean.error == 0);
    yk_seed_report_destroy(report);

    yk_seed_options one = {.scenario = yk_scenario_default(), .run_count = 1};
    assert_int_equal(yk_run_seeds(*state, &one, &report), YK_ERROR_ARGUMENT);
    assert_null(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_bars_of_a_noise_are_those_of_its_distribution),
        cmocka_unit_test(particles_of_other_realizations_lie_elsewhere),
        cmocka_unit_test(a_scenario_without_random_numbers_says_so),
    };
    return cmocka_run_group_tests_name("realizations", tests, create_context, destroy_context);
}
