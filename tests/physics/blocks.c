/* Blocks from scenario files against closed forms and difference equations. */
#include <math.h>

#include "../model/loading.h"

/* The recorded channels at the end. */
#define HEAD(end, step)                      \
    "time: {end: " end ", step: " step "}\n" \
    "subsystems:\n"                          \
    "  b:\n"                                 \
    "    solver: blocks\n"                   \
    "    blocks:\n"

static void continuous_blocks_follow_their_equations(void **state)
{
    (void)state;
    double at[6];
    run_to_sample(
        HEAD("2", "1e-2") "      integral: {type: integrator, input: cos(t), initial: 0.5}\n"
                          "      held: {type: integrator, input: 1, limits: [-1, 0.7]}\n"
                          "      slope: {type: derivative, input: 3*t, filter: 0.5}\n"
                          "      filter: {type: transfer-function, input: 1, numerator: [2, 0], "
                          "denominator: [2, 0.8, 8]}\n"
                          "      same: {type: state-space, input: 1, a: [0, 1, -4, -0.4], b: [0, "
                          "1], c: [0, 1]}\n"
                          "      direct: {type: transfer-function, input: 1, numerator: [1, 3], "
                          "denominator: [1, 1]}\n"
                          "record: {channels: [b.integral, b.held, b.slope, b.filter, b.same, "
                          "b.direct]}\n",
        at);
    assert_near(at[0], 0.5 + sin(2), 1e-9);
    assert_near(at[1], 0.7, 1e-12);
    assert_near(at[2], 3 * (1 - exp(-2 / 0.5)), 1e-7);
    double omega = sqrt(4 - 0.04);
    assert_near(at[3], exp(-0.2 * 2) * sin(omega * 2) / omega, 1e-8);
    assert_near(at[4], at[3], 1e-12);
    assert_near(at[5], 3 - 2 * exp(-2), 1e-9);
}

static void memories_follow_their_difference_equations(void **state)
{
    (void)state;
    double at[6];
    run_to_sample(
        HEAD("1.05",
             "0.01") "      late: {type: delay, input: t^2, time: 0.3}\n"
                     "      held: {type: sample, input: t, period: 0.1}\n"
                     "      recursion: {type: sample, input: 0.5*recursion + 1, period: 0.1}\n"
                     "      follow: {type: rate-limit, input: \"step(t, 0.195)*5\", rates: [-1, "
                     "2]}\n"
                     "      relay: {type: relay, input: sin(2*pi*t), levels: [-0.5, 0.5], values: "
                     "[3, 7]}\n"
                     "      blink: {type: state-machine, states: [off, on], transitions: [{from: "
                     "off, to: on, "
                     "when: duration >= 0.2 - 1e-9}, {from: on, to: off, when: duration >= 0.1 - "
                     "1e-9}]}\n"
                     "record: {channels: [b.late, b.held, b.recursion, b.follow, b.relay, "
                     "b.blink]}\n",
        at);
    assert_near(at[0], 0.75 * 0.75, 3e-5);
    assert_near(at[1], 1, 1e-12);
    assert_near(at[2], 2 * (1 - pow(0.5, 11)), 1e-12);
    assert_near(at[3], 2 * (1.05 - 0.19), 1e-9);
    assert_near(at[4], 3, 0);
    assert_near(at[5], 0, 0);
}

static void static_blocks_and_logic(void **state)
{
    (void)state;
    double at[4];
    run_to_sample(
        "tables: {curve: {points: [[0, 0], [1, 10], [2, 0]]}}\n" HEAD(
            "1.5", "0.1") "      limited: {type: saturation, input: t, limits: [-1, 1]}\n"
                          "      zone: {type: dead-zone, input: -t, limits: [-0.5, 0.5]}\n"
                          "      both: {value: \"limited >= 1 && zone < 0\"}\n"
                          "      lookup: {value: both*curve(t)}\n"
                          "record: {channels: [b.limited, b.zone, b.both, b.lookup]}\n",
        at);
    assert_near(at[0], 1, 0);
    assert_near(at[1], -1, 1e-12);
    assert_near(at[2], 1, 0);
    assert_near(at[3], 5, 1e-9);
}

static void algebraic_loops_are_solved(void **state)
{
    (void)state;
    double at[3];
    run_to_sample(HEAD("1", "0.1") "      cosine: {value: cos(cosine)}\n"
                                   "      one: {value: 3 - 2*two}\n"
                                   "      two: {value: one/4 + t}\n"
                                   "record: {channels: [b.cosine, b.one, b.two]}\n",
                  at);
    assert_near(at[0], 0.73908513321516, 1e-10);
    assert_near(at[1], (3 - 2.0) / 1.5, 1e-10);
    assert_near(at[2], at[1] / 4 + 1, 1e-10);
}

/* The integral stops at the limit, and the command leaves it at once when the error changes its
 * sign: with windup it would stay there for another second. */
static void pid_does_not_wind_up(void **state)
{
    (void)state;
    double at[2];
    run_to_sample(
        HEAD("1.1", "0.01") "      pid: {type: pid, input: \"1 - 2*step(t, 1)\", proportional: 1, "
                            "integral: 2, limits: [-5, 1.5]}\n"
                            "      free: {type: pid, input: t, proportional: 1, integral: 2, "
                            "derivative: 0.5, derivative_filter: 1e-2}\n"
                            "record: {channels: [b.pid, b.free]}\n",
        at);
    assert_near(at[0], -1 + 0.5 - 2 * 0.1, 0.05);
    assert_near(at[1], 1.1 + 1.21 + 0.5, 1e-6);
}

static void noise_has_its_deviation_and_repeats(void **state)
{
    (void)state;
    static const char text[] = HEAD(
        "20", "1e-2") "      noise: {type: noise, interval: 1e-2, deviation: 3, mean: 1, seed: 5}\n"
                      "      mean: {type: integrator, input: noise/20}\n"
                      "      square: {type: integrator, input: (noise - 1)^2/20}\n"
                      "record: {channels: [b.noise, b.mean, b.square]}\n";
    double at[3], again[3];
    run_to_sample(text, at);
    run_to_sample(text, again);
    assert_memory_equal(at, again, sizeof at);
    assert_near(at[1], 1, 4 * 3 / sqrt(2000));
    assert_near(at[2], 9, 4 * 9 * sqrt(2.0 / 2000));
}

/* A controller of blocks moves an oscillator like the solver `control`. */
static void blocks_control_like_a_controller(void **state)
{
    (void)state;
    static const char *const controllers[] = {
        "  c:\n"
        "    solver: control\n"
        "    max_step: 1e-3\n"
        "    loops: {loop: {reference: 0.1, proportional: 40, integral: 30}}\n",
        "  c:\n"
        "    solver: blocks\n"
        "    inputs: [measured]\n"
        "    max_step: 1e-3\n"
        "    blocks: {loop: {type: pid, input: 0.1 - measured, proportional: 40, integral: 30}}\n"};
    static const char *const ports[] = {"c.loop.measured", "c.measured"};
    double at[2];
    for (int i = 0; i < 2; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "time: {end: 2, step: 1e-3}\n"
                 "subsystems:\n%s"
                 "  m:\n"
                 "    solver: multibody\n"
                 "    gravity: [0, 0, 0]\n"
                 "    bodies: {s: {mass: 2, inertia: [1, 1, 1]}}\n"
                 "    joints: {guide: {type: prismatic, between: [ground, s], axis: [1, 0, 0]}}\n"
                 "    forces:\n"
                 "      drive: {type: motor, joint: guide, signal_port: drive}\n"
                 "      brake: {type: joint-spring, joint: guide, damping: 5}\n"
                 "    ports: {s: {body: s}}\n"
                 "wires:\n"
                 "  measured: {from: m.s.position.x, to: %s}\n"
                 "  command: {from: c.loop, to: m.drive}\n"
                 "coupling: {scheme: tight}\n"
                 "record: {channels: [m.s.position.x]}\n",
                 controllers[i], ports[i]);
        run_to_sample(text, &at[i]);
    }
    assert_near(at[0], at[1], 1e-6);
    assert_true(fabs(at[0]) > 0.05);
}

static void mistakes_are_reported(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {HEAD("1", "1") "      a: {value: 2*unknown}\n", "unknown"},
        {HEAD("1", "1") "      sin: {value: 2}\n", "choose another name"},
        {HEAD("1", "1") "      a: {type: transfer-function, input: t, numerator: [1, 0, 0], "
                        "denominator: [1, 1]}\n",
         "not causal"},
        {HEAD("1", "1") "      a: {type: state-space, input: t, a: [1, 2], b: [1, 1], c: [1, 1]}\n",
         "must have 4"},
        {HEAD("1", "1") "      a: {type: pid, input: t, derivative: 1}\n", "derivative_filter"},
        {HEAD("1", "1") "      a: {type: state-machine, states: [x], transitions: [{from: x, to: "
                        "y, when: 1}]}\n",
         "no state 'y'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        loading l = load_text(cases[i].text);
        if (l.status != YK_ERROR_INPUT || !strstr(l.text, cases[i].message))
            print_error("%s%s", cases[i].text, l.text);
        assert_int_equal(l.status, YK_ERROR_INPUT);
        assert_non_null(strstr(l.text, cases[i].message));
        unload(&l);
    }

    loading l = load_good(HEAD("1", "0.1") "      a: {value: a^2 + 1}\n");
    yk_system *system;
    assert_int_equal(yk_scenario_system(l.scenario, &system), YK_OK);
    assert_true(yk_system_run(system, 1) != YK_OK);
    assert_non_null(strstr(yk_last_message(l.context), "algebraic loop of the block 'a'"));
    unload(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(continuous_blocks_follow_their_equations),
        cmocka_unit_test(memories_follow_their_difference_equations),
        cmocka_unit_test(static_blocks_and_logic),
        cmocka_unit_test(algebraic_loops_are_solved),
        cmocka_unit_test(pid_does_not_wind_up),
        cmocka_unit_test(noise_has_its_deviation_and_repeats),
        cmocka_unit_test(blocks_control_like_a_controller),
        cmocka_unit_test(mistakes_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
