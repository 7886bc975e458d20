/* The scheme rim on the models of its paper: stable at macro steps for which constant inputs are
 * unstable. */
#include <stdlib.h>
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

/* Both sides receive a wrench: a heavy or light mass, slow, joined to a mass on a spring, fast. The whole is an oscillator with the
 * angular frequency w = sqrt(k / (m + M)) and the largest speed 1. */
typedef struct pair {
    double slow_mass, fast_mass, step;
    const char *slow_integrator, *fast_integrator;
    bool fast_first;
} pair;

static const double STIFFNESS = 1e4;

static double pair_frequency(const pair *p)
{
    return sqrt(STIFFNESS / (p->slow_mass + p->fast_mass));
}

/* Positions and velocities, slow then fast, at the end of the given number of steps; *amplitude receives the largest position of
 * the fast mass in the last third of the run. */
static void run_pair(const pair *p, int steps, double motion[4], double *amplitude)
{
    char text[1024];
    snprintf(text, sizeof text,
             "time: {end: %.17g, step: %.17g}\nsubsystems:\n"
             "  slow: {solver: oscillator, mass: %g, velocity: 1, integrator: %s}\n"
             "  fast: {solver: oscillator, mass: %g, stiffness: %g, velocity: 1, integrator: %s, "
             "max_substep: %.17g}\n"
             "interfaces: [{name: joint, between: [%s], joint: fixed}]\n"
             "coupling: {scheme: rim, fast_subsystems: [fast], exchange: %s}\n"
             "record: {channels: [slow.mass.position, slow.mass.velocity, fast.mass.position, "
             "fast.mass.velocity]}\n",
             steps * p->step, p->step, p->slow_mass, p->slow_integrator, p->fast_mass, STIFFNESS,
             p->fast_integrator, p->step / 50,
             p->fast_first ? "fast.mass, slow.mass" : "slow.mass, fast.mass",
             p->fast_first ? "auto" : "force-force");
    yk_context *context = yk_context_create(NULL);
    const char *const none[] = {NULL};
    yk_scenario *scenario = load_scenario(context, "pair", text, none);
    yk_system *system;
    assert_int_equal(yk_scenario_system(scenario, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);
    *amplitude = 0;
    for (int i = 0; i < steps; i++) {
        assert_int_equal(yk_system_step(system, NULL), YK_OK);
        yk_scenario_read_sample(scenario, motion);
        if (3 * i > 2 * steps)
            *amplitude = fmax(*amplitude, fabs(motion[2]));
    }
    yk_scenario_destroy(scenario);
    yk_context_destroy(context);
}

/* Largest error after one second, in units of the amplitude and of the largest speed. */
static double pair_error(pair p, double step)
{
    double motion[4], amplitude;
    p.step = step;
    run_pair(&p, (int)lround(1 / step), motion, &amplitude);
    double w = pair_frequency(&p);
    double error = 0;
    for (int i = 0; i < 4; i += 2) {
        error = fmax(error, fabs(motion[i] * w - sin(w)));
        error = fmax(error, fabs(motion[i + 1] - cos(w)));
    }
    return error;
}

static void shared_wrenches_are_of_second_order(void **state)
{
    (void)state;
    static const pair pairs[] = {
        {10, 0.01, 0, "exact", "exact", false},      {10, 0.01, 0, "exact", "exact", true},
        {10, 10, 0, "two-step", "exact", false},     {10, 0.1, 0, "exact", "two-step", true},
        {1000, 0.01, 0, "two-step", "exact", false},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        double coarse = pair_error(pairs[i], 4e-3);
        double fine = pair_error(pairs[i], 2e-3);
        assert_true(coarse < 0.05);
        assert_true(coarse > 3.4 * fine);
    }
}

/* At every mass ratio, for macro steps up to 2 / w. The fast mass by itself would swing up to ten times in such a step. */
static void shared_wrenches_are_stable_at_every_mass_ratio(void **state)
{
    (void)state;
    static const char *const integrators[] = {"exact", "two-step", "semi-implicit"};
    static const double masses[] = {1e-3, 0.1, 1, 10, 1e3};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < 5; i++)
            for (double turned = 0.25; turned <= 2; turned += 0.25) {
                pair p = {masses[i], 1, 0, integrators[k], "exact", turned > 1};
                double w = pair_frequency(&p);
                p.step = turned / w;
                double motion[4], amplitude;
                run_pair(&p, 300, motion, &amplitude);
                if (!(amplitude * w < 1.1))
                    print_error("%s M %g, w H %g: %g\n", integrators[k], masses[i], turned,
                                amplitude * w);
                assert_true(amplitude * w < 1.1);
            }
}

/* A link in units and axes of its own on a hinge, fast, in either order: near the merged system, and the same again from a saved
 * state. */
static void shared_wrenches_hold_a_hinge(void **state)
{
    (void)state;
    static const char *const ways[][5] = {
        {"coupling={scheme: monolithic}", "time.step=1e-3", NULL},
        {"coupling={scheme: rim, fast_subsystems: [lower], exchange: force-force}",
         "time.step=5e-3", "subsystems.lower.max_substep=2.5e-4", NULL},
        {"coupling={scheme: rim, fast_subsystems: [upper]}", "time.step=5e-3",
         "subsystems.upper.max_substep=2.5e-4", NULL},
    };
    double reference[2] = {0, 0};
    for (int i = 0; i < 3; i++) {
        yk_context *context = yk_context_create(NULL);
        yk_scenario *scenario = load_scenario(context, model_file("hinged-links"), NULL, ways[i]);
        yk_system *system;
        double sample[SAMPLE_MAX], again[SAMPLE_MAX];
        assert_int_equal(yk_scenario_system(scenario, &system), YK_OK);
        assert_int_equal(yk_system_initialize(system), YK_OK);
        while (yk_system_time(system) < 0.5 - 1e-9)
            assert_int_equal(yk_system_step(system, NULL), YK_OK);
        size_t words = yk_system_state_layout(system).word_count;
        double *image = malloc(words * sizeof *image);
        assert_int_equal(yk_system_get_state(system, image), YK_OK);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(yk_system_set_state(system, image), YK_OK);
            while (yk_system_time(system) < 1 - 1e-9)
                assert_int_equal(yk_system_step(system, NULL), YK_OK);
            yk_scenario_read_sample(scenario, k == 0 ? sample : again);
        }
        for (int k = 0; k < 2; k++) {
            assert_true(sample[k] == again[k]);
            if (i == 0)
                reference[k] = sample[k];
            assert_near(sample[k], reference[k], 1e-3);
        }
        if (i > 0)
            assert_near(
                yk_system_interface_statistics(system, (yk_interface_id){0}).max_gap.position, 0,
                1e-4);
        free(image);
        yk_scenario_destroy(scenario);
        yk_context_destroy(context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(manipulator_is_stable_with_models),
        cmocka_unit_test(manipulator_stalls_at_the_block),
        cmocka_unit_test(manipulator_is_not_with_hold),
        cmocka_unit_test(crane_is_stable_with_models),
        cmocka_unit_test(crane_is_not_with_hold),
        cmocka_unit_test(shared_wrenches_are_of_second_order),
        cmocka_unit_test(shared_wrenches_hold_a_hinge),
        cmocka_unit_test(shared_wrenches_are_stable_at_every_mass_ratio)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
