/* The scheme rim on the models of its paper: stable at macro steps for which constant inputs are
 * unstable. */
#include <string.h>

#include "load_scenario.h"
#include "test.h"
#include "yoke/scenario.h"

enum { OVERRIDES_MAX = 12, SAMPLE_MAX = 64 };

typedef struct trial {
    const char *model;            /* folder of models/ */
    const char *extrapolation;    /* rim, hold, ... */
    double step, watch, end;      /* signals are watched from `watch` on */
    const char *const *overrides; /* further ones, ended by NULL */
} trial;

/* Signals of a run by number. */
typedef struct outcome {
    bool failed;
    char message[512]; /* of the failure */
    double least[SAMPLE_MAX], largest[SAMPLE_MAX], last[SAMPLE_MAX];
} outcome;

static void step_to_end(yk_scenario *scenario, yk_system *system, const trial *t, outcome *result)
{
    int size = yk_scenario_get_info(scenario)->values_per_sample;
    assert_in_range(size, 1, SAMPLE_MAX);
    while (!result->failed && yk_system_time(system) < t->end - 0.5 * t->step) {
        result->failed = YK_FAILED(yk_system_step(system, NULL));
        if (result->failed)
            break;
        yk_scenario_read_sample(scenario, result->last);
        if (yk_system_time(system) < t->watch)
            continue;
        for (int i = 0; i < size; i++) {
            result->least[i] = fmin(result->least[i], result->last[i]);
            result->largest[i] = fmax(result->largest[i], result->last[i]);
        }
    }
}

static outcome run(const trial *t)
{
    char step[64], extrapolation[64];
    const char *overrides[OVERRIDES_MAX + 1] = {step, extrapolation, "coupling.scheme=rim",
                                                "subsystems.hydraulics.max_substep=2e-4"};
    int count = 4;
    snprintf(step, sizeof step, "time.step=%.17g", t->step);
    snprintf(extrapolation, sizeof extrapolation, "coupling.extrapolation=%s", t->extrapolation);
    for (int i = 0; t->overrides && t->overrides[i]; i++)
        overrides[count++] = t->overrides[i];
    yk_context *context = yk_context_create(NULL);
    yk_system *system;
    outcome result = {.failed = false};
    for (int i = 0; i < SAMPLE_MAX; i++)
        result.least[i] = INFINITY, result.largest[i] = -INFINITY;
    yk_scenario *scenario = load_scenario(context, model_file(t->model), NULL, overrides);
    if (yk_scenario_system(scenario, &system) != YK_OK)
        fail_msg("%s", yk_last_message(context));
    if (YK_FAILED(yk_system_initialize(system)))
        fail_msg("%s", yk_last_message(context));
    step_to_end(scenario, system, t, &result);
    snprintf(result.message, sizeof result.message, "%s", yk_last_message(context));
    yk_scenario_destroy(scenario);
    yk_context_destroy(context);
    return result;
}

/* Forces that no sound run has, or an end of which the coupling is said to be the cause: not any
 * failure. */
static void assert_unstable(const outcome *o, int force, double beyond)
{
    if (o->failed)
        assert_int_equal(strncmp(o->message, "the coupling is unstable: ", 26), 0);
    else
        assert_true(o->least[force] < beyond);
}

/* Signals of the manipulator. */
enum { LENGTH_2 = 3, FORCE_2 = 5, BLOCK_X = 8 };

/* Samples in place of means, one macro step late: as the paper compares. */
static const char *const sampled[] = {"parameters.opening=-0.08", "coupling.sequence=jacobi",
                                      "coupling.slow_wrench=last", NULL};
static const char *const wide_opening[] = {"parameters.opening=-0.08", NULL};

/* Figure 7: the block slides to the wall at 1.5 m, half an edge before it, at 2.7 s. From then on
 * actuator 2 presses with 6 to 19 kN at every macro step. */
static void manipulator_is_stable_with_models(void **state)
{
    (void)state;
    static const double steps[] = {2e-3, 5e-3, 1e-2, 2e-2};
    for (int i = 0; i < 4; i++) {
        const char *const *timings[] = {wide_opening, sampled};
        for (int k = 0; k < 2; k++) {
            trial t = {"manipulator", "interface-model", steps[i], 3, 4, timings[k]};
            outcome o = run(&t);
            assert_false(o.failed);
            assert_near(o.last[BLOCK_X], 1.4, 1e-6);
            assert_near(o.last[LENGTH_2], 0.54449, k == 0 ? 1e-4 : 2e-4);
            assert_true(o.least[FORCE_2] > 5.6e3 && o.largest[FORCE_2] < 1.91e4);
        }
    }
}

/* With the printed change of the valve actuator 2 stalls at the block. */
static void manipulator_stalls_at_the_block(void **state)
{
    (void)state;
    trial t = {"manipulator", "interface-model", 2e-2, 2.5, 3.5, NULL};
    outcome o = run(&t);
    assert_false(o.failed);
    assert_near(o.last[LENGTH_2], 0.46878, 1e-5);
    assert_near(o.least[FORCE_2], 5419, 2);
    assert_near(o.largest[FORCE_2], 5419, 2);
    assert_near(o.last[BLOCK_X], 1.3, 1e-4);
}

/* Two actuators with friction c on masses m, sampled and one step late, are stable up to H = m /
 * c: about 22 ms in free motion. Before that the impact makes them swing. */
static void manipulator_is_not_with_hold(void **state)
{
    (void)state;
    trial t = {"manipulator", "constant", 2e-3, 2.9, 4, sampled};
    outcome o = run(&t);
    assert_false(o.failed);
    assert_near(o.last[LENGTH_2], 0.54449, 2e-4);
    t.step = 2e-2;
    o = run(&t);
    assert_false(o.failed);
    assert_true(o.least[FORCE_2] < 0 && o.largest[FORCE_2] > 2.2e4);
    t.step = 2.5e-2;
    o = run(&t);
    assert_unstable(&o, FORCE_2, -1e5);
    t.extrapolation = "linear", t.step = 2e-2;
    o = run(&t);
    assert_unstable(&o, FORCE_2, -1e5);
}

/* Signals of the crane. */
enum { BOOM_RATE = 1, BOOM_FORCE = 2, LOG_X = 8, LOG_Z = 10, ROTATOR_X = 11, ROTATOR_Z = 13 };

/* Figures 11 and 12: the log is lifted with the boom's actuator at -50 mm/s, and stays where the
 * claws hold it. */
static void crane_is_stable_with_models(void **state)
{
    (void)state;
    static const double steps[] = {1.6e-2, 2e-2};
    for (int i = 0; i < 2; i++) {
        trial t = {"log-crane", "interface-model", steps[i], 6.5, 7.04, NULL};
        outcome o = run(&t);
        assert_false(o.failed);
        assert_near(o.least[BOOM_RATE], -0.05, 1e-3);
        assert_near(o.largest[BOOM_RATE], -0.05, 1e-3);
        assert_true(o.least[BOOM_FORCE] > -4.5e4 && o.largest[BOOM_FORCE] < -3.5e4);
        assert_true(o.last[LOG_Z] > 1);
        double apart = hypot(o.last[LOG_X] - o.last[ROTATOR_X], o.last[LOG_Z] - o.last[ROTATOR_Z]);
        assert_near(apart, 0.5, 5e-3);
    }
}

static void crane_is_not_with_hold(void **state)
{
    (void)state;
    static const double steps[] = {1.6e-2, 2e-2};
    static const char *const late[] = {"coupling.sequence=jacobi", "coupling.slow_wrench=last",
                                       NULL};
    for (int i = 0; i < 2; i++) {
        trial t = {"log-crane", "constant", steps[i], 0, 3, late};
        outcome o = run(&t);
        assert_unstable(&o, BOOM_FORCE, -1e5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(manipulator_is_stable_with_models),
                                       cmocka_unit_test(manipulator_stalls_at_the_block),
                                       cmocka_unit_test(manipulator_is_not_with_hold),
                                       cmocka_unit_test(crane_is_stable_with_models),
                                       cmocka_unit_test(crane_is_not_with_hold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
