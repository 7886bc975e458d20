/* Mechanisms without contact, split at a joint, with one solver call per subsystem and step: the
 * motion is that of the undivided mechanism for any mass ratio. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_run.h"

static const char *const pendulum =
    "parameters: {ratio: 1, first: 0.6, second: 0.6}\n"
    "time: {end: 1, step: 2e-3}\n"
    "subsystems:\n"
    "  upper:\n"
    "    solver: multibody\n"
    "    gravity: [1, -9.81, 2]\n"
    "    bodies:\n"
    "      rod: {mass: 1, inertia: [1/12, 0.01, 1/12], position: [sin(first)/2, -cos(first)/2, "
    "0],\n"
    "            orientation: {axis: [0, 0, 1], angle: first}}\n"
    "    joints:\n"
    "      pin: {type: universal, between: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0]}\n"
    "    ports:\n"
    "      end: {body: rod, offset: [0, -0.5, 0]}\n"
    "  lower:\n"
    "    solver: multibody\n"
    "    gravity: [1, -9.81, 2]\n"
    "    bodies:\n"
    "      rod: {mass: ratio, inertia: [ratio/12, ratio/100, ratio/12],\n"
    "            position: [sin(first) + sin(second)/2, -cos(first) - cos(second)/2, 0],\n"
    "            orientation: {axis: [0, 0, 1], angle: second}}\n"
    "    ports:\n"
    "      start: {body: rod, offset: [0, 0.5, 0]}\n"
    "      end: {body: rod, offset: [0, -0.5, 0]}\n"
    "interfaces:\n"
    "  elbow: {between: [upper.end, lower.start], joint: spherical}\n"
    "coupling: {scheme: explicit}\n"
    "record: {channels: [lower.end.position, upper.end.position, elbow.gap_position, "
    "elbow.gap_velocity]}\n";

enum { POSITIONS = 6, GAP = POSITIONS };

/* The largest distance of two runs in the recorded positions, and the gap of the first. */
static double distance(const char *const *overrides, const char *const *others, double *gap)
{
    run a = open_text("pendulum", pendulum, overrides), b = open_text("pendulum", pendulum, others);
    double largest = 0;
    *gap = 0;
    for (int step = 0; step < a.info->step_count; step++) {
        yk_step_report report;
        assert_int_equal(yk_system_step(a.system, &report), YK_OK);
        assert_int_equal(report.iterations, 1);
        assert_int_equal(yk_system_step(b.system, &report), YK_OK);
        yk_scenario_read_sample(a.scenario, a.sample);
        yk_scenario_read_sample(b.scenario, b.sample);
        for (int k = 0; k < POSITIONS; k++)
            largest = fmax(largest, fabs(a.sample[k] - b.sample[k]));
        *gap = fmax(*gap, a.sample[GAP]);
    }
    for (int part = 0; part < 2; part++)
        assert_int_equal(yk_system_subsystem_statistics(a.system, (yk_subsystem_id){part}).calls,
                         a.info->step_count);
    close_run(&a), close_run(&b);
    return largest;
}

/* Against the monolithic run in the same steps, for every joint, scheme and ratio of masses. */
static void parts_move_as_the_whole(void **state)
{
    (void)state;
    static const char *const joints[] = {"spherical",   "fixed",     "revolute",
                                         "cylindrical", "prismatic", "planar"};
    static const char *const schemes[] = {"explicit", "loose", "rim"};
    for (int i = 0; i < 18; i++) {
        char joint[64], scheme[64], ratio[64];
        snprintf(joint, sizeof joint, "interfaces.elbow.joint=%s", joints[i % 6]);
        snprintf(scheme, sizeof scheme, "coupling.scheme=%s", schemes[i / 6]);
        snprintf(ratio, sizeof ratio, "parameters.ratio=1e%d", 3 * (i % 3) - 3);
        const char *const coupled[] = {joint, ratio, scheme, NULL};
        const char *const whole[] = {joint, ratio, "coupling.scheme=monolithic", NULL};
        double gap, off = distance(coupled, whole, &gap);
        if (!(off < 1e-3 && gap < 1e-5))
            print_error("%s, %s, %s: off by %g m, gap %g m\n", joint, ratio, scheme, off, gap);
        assert_true(off < 1e-3);
        assert_true(gap < 1e-5);
    }
}

/* Second order, also between different methods. */
static void halved_steps_quarter_the_error(void **state)
{
    (void)state;
    static const char *const methods[] = {"two-step", "generalized-alpha", "runge-kutta"};
    for (int i = 0; i < 9; i++) {
        char upper[64], lower[64];
        snprintf(upper, sizeof upper, "subsystems.upper.integrator=%s", methods[i / 3]);
        snprintf(lower, sizeof lower, "subsystems.lower.integrator=%s", methods[i % 3]);
        double end[3][POSITIONS];
        for (int k = 0; k < 3; k++) {
            static const char *const steps[] = {"time.step=4e-3", "time.step=2e-3",
                                                "time.step=1e-3"};
            const char *const overrides[] = {upper,          lower, steps[k], "parameters.ratio=10",
                                             "time.end=0.6", NULL};
            run r = open_text("pendulum", pendulum, overrides);
            yk_step_report report;
            for (int step = 0; step < r.info->step_count; step++)
                assert_int_equal(yk_system_step(r.system, &report), YK_OK);
            yk_scenario_read_sample(r.scenario, r.sample);
            memcpy(end[k], r.sample, sizeof end[k]);
            close_run(&r);
        }
        double first = 0, second = 0;
        for (int k = 0; k < POSITIONS; k++) {
            first = fmax(first, fabs(end[1][k] - end[0][k]));
            second = fmax(second, fabs(end[2][k] - end[1][k]));
        }
        if (!(second < first / 3))
            print_error("%s, %s: %g, then %g\n", upper, lower, first, second);
        assert_true(second < first / 3);
    }
}

static void a_rollback_repeats_the_steps_to_the_bit(void **state)
{
    (void)state;
    run r = open_text("pendulum", pendulum, NULL);
    yk_step_report report;
    for (int step = 0; step < 50; step++)
        assert_int_equal(yk_system_step(r.system, &report), YK_OK);
    size_t words = yk_system_state_layout(r.system).word_count;
    double *image = malloc(words * sizeof *image), *ends = malloc(2 * words * sizeof *ends);
    yk_system_get_state(r.system, image);
    for (int round = 0; round < 2; round++) {
        for (int step = 0; step < 50; step++)
            assert_int_equal(yk_system_step(r.system, &report), YK_OK);
        yk_system_get_state(r.system, ends + (size_t)round * words);
        assert_int_equal(yk_system_set_state(r.system, image), YK_OK);
    }
    assert_memory_equal(ends, ends + words, words * sizeof *ends);
    free(image), free(ends);
    close_run(&r);
}

/* Inputs by name are those of the paper, and a motion is prescribed as before. */
static void inputs_by_name_prescribe_a_motion(void **state)
{
    (void)state;
    const char *const by_name[] = {"coupling.modified_inputs=index-1", NULL}, *const plain[] = {
                                                                                  NULL};
    run named = open_text("pendulum", pendulum, by_name),
        open = open_text("pendulum", pendulum, plain);
    assert_int_equal(((const yk_explicit_options *)named.info->scheme.options)->exchange,
                     YK_EXCHANGE_FORCE_MOTION);
    assert_int_equal(((const yk_explicit_options *)open.info->scheme.options)->exchange,
                     YK_EXCHANGE_AUTO);
    close_run(&named), close_run(&open);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_move_as_the_whole),
        cmocka_unit_test(halved_steps_quarter_the_error),
        cmocka_unit_test(a_rollback_repeats_the_steps_to_the_bit),
        cmocka_unit_test(inputs_by_name_prescribe_a_motion),
    };
    return cmocka_run_group_tests_name("balance", tests, NULL, NULL);
}
