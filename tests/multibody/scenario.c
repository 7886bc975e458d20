/* Multibody systems from scenario files: keys, errors with their places, and loads that depend on
 * the model. */
#include "../model/loading.h"

#define HEAD                       \
    "time: {end: 1, step: 1e-3}\n" \
    "subsystems:\n"                \
    "  mechanism:\n"               \
    "    solver: multibody\n"

static void assert_mistake(const char *text, const char *place, const char *message)
{
    loading l = load_text(text);
    assert_int_equal(l.status, YK_ERROR_INPUT);
    if (!strstr(l.text, place) || !strstr(l.text, message))
        print_error("%s", l.text);
    assert_non_null(strstr(l.text, place));
    assert_non_null(strstr(l.text, message));
    unload(&l);
}

static void unknown_bodies_are_reported_with_the_nearest(void **state)
{
    (void)state;
    assert_mistake(HEAD "    bodies:\n"
                        "      crank: {mass: 1}\n"
                        "    joints:\n"
                        "      pin: {type: revolute, between: [ground, crnk]}\n",
                   "file.yaml:8:", "Did you mean 'crank'");
}

static void contradictions_are_reported_at_their_place(void **state)
{
    (void)state;
    assert_mistake(
        HEAD
        "    bodies:\n"
        "      a: {mass: 1}\n"
        "    joints:\n"
        "      pin: {type: revolute, between: [ground, a], at: [0, 0, 0], markers: [{}, {}]}\n",
        "file.yaml:8:", "give either 'markers'");
    assert_mistake(HEAD "    bodies:\n"
                        "      a: {mass: 1}\n"
                        "    joints:\n"
                        "      pin: {type: revolute, between: [a, a]}\n",
                   "file.yaml:8:", "both ends");
    assert_mistake(HEAD "    bodies:\n"
                        "      a: {mass: 1}\n"
                        "    joints:\n"
                        "      pin: {type: revolut, between: [ground, a]}\n",
                   "file.yaml:8:", "revolute");
    assert_mistake(HEAD "    nodes:\n"
                        "      a: {}\n"
                        "    bodies:\n"
                        "      a: {mass: 1}\n",
                   "file.yaml", "are named 'a'");
    assert_mistake(HEAD "    bodies:\n"
                        "      a: {mass: 1, inertia: [1, 1, -1]}\n",
                   "file.yaml:6:", "below zero");
    assert_mistake(HEAD "    bodies:\n"
                        "      a: {mass: 1}\n"
                        "    forces:\n"
                        "      f: {type: force, body: a, vector: [1, 0, 0], feedback: {inputs: {x: "
                        "a.place.x}, expression: -x}}\n",
                   "file.yaml:8:", "there is no channel 'a.place.x'");
    assert_mistake(HEAD "    bodies:\n"
                        "      a: {mass: 1}\n"
                        "    forces:\n"
                        "      f: {type: force, body: a, vector: [1, 0, 0], feedback: {inputs: {x: "
                        "a.position.x}, expression: -y}}\n",
                   "file.yaml:8:", "y");
}

#define TWO_BODIES              \
    HEAD "    bodies:\n"        \
         "      a: {mass: 1}\n" \
         "      b: {mass: 1}\n"
#define BEAM(middle, section)                                                                    \
    HEAD "    nodes: {n0: {}, n1: {position: [" middle ", 0, 0]}, n2: {position: [1, 0, 0]}}\n"  \
         "    beams:\n"                                                                          \
         "      e: {nodes: [n0, n1, n2], section: {young_modulus: 2e11, density: 7800, " section \
         "}}\n"

static void words_that_mean_nothing_are_reported(void **state)
{
    (void)state;
    assert_mistake(HEAD "    bodies:\n"
                        "      ground: {mass: 1}\n",
                   "file.yaml:6:", "name of the fixed ground");
    assert_mistake(TWO_BODIES "    forces:\n"
                              "      f: {type: force, body: ground, vector: [1, 0, 0]}\n",
                   "file.yaml:9:30", "the ground does not move");
    assert_mistake(TWO_BODIES
                   "    forces:\n"
                   "      f: {type: force, body: a, vector: [1, 0, 0], feedback: {inputs: "
                   "{x: a.velocity}, expression: x}}\n",
                   "file.yaml:9:", "such as 'a.velocity.x'");
    assert_mistake(TWO_BODIES
                   "    forces:\n"
                   "      f: {type: force, body: a, vector: [1, 0, 0], feedback: {inputs: "
                   "{x: a.velocity.w}, expression: x}}\n",
                   "file.yaml:9:", "name one component");
    assert_mistake(TWO_BODIES "    nodes:\n"
                              "      b: {}\n",
                   "file.yaml:7:", "rename one of them");
}

/* At their place, before anything runs. */
static void beams_that_cannot_be_are_reported(void **state)
{
    (void)state;
    assert_mistake(BEAM("0.99", "type: tube, radius: 0.01"),
                   "file.yaml:7:", "the middle node is too close to an end");
    assert_mistake(BEAM("0.5", "type: tube, radius: 0.01, inner_radius: 0.02"),
                   "file.yaml:7:", "less than the outer one, which is 0.01");
    assert_mistake(BEAM("0.5", "type: tube, radius: 0.01, poisson_ratio: -1"),
                   "file.yaml:7:", "greater than -1");
}

static double run_to_end(loading *l, double *sample)
{
    yk_system *system;
    assert_int_equal(yk_scenario_system(l->scenario, &system), YK_OK);
    assert_true(!YK_FAILED(yk_system_initialize(system)));
    const yk_scenario_info *info = yk_scenario_get_info(l->scenario);
    for (int64_t i = 0; i < info->step_count; i++)
        assert_true(!YK_FAILED(yk_system_step(system, NULL)));
    yk_scenario_read_sample(l->scenario, sample);
    return yk_system_time(system);
}

/* A controller on position and velocity is a spring and a damper: m x'' + c x' + k x = 0. */
static void feedback_makes_a_damped_spring(void **state)
{
    (void)state;
    loading l = load_good("parameters: {k: 40, c: 0.4}\n" HEAD "    bodies:\n"
                          "      cart: {mass: 0.4, position: [0.1, 0, 0]}\n"
                          "    forces:\n"
                          "      controller:\n"
                          "        type: force\n"
                          "        body: cart\n"
                          "        vector: [1, 0, 0]\n"
                          "        feedback: {inputs: {x: cart.position.x, v: cart.velocity.x}, "
                          "expression: -k*x - c*v}\n"
                          "record: {channels: [mechanism.cart.position.x]}\n");
    double x, t = run_to_end(&l, &x);
    double decay = 0.5, omega = sqrt(100 - decay * decay);
    double exact = 0.1 * exp(-decay * t) * (cos(omega * t) + decay / omega * sin(omega * t));
    assert_near(x, exact, 3e-5);
    unload(&l);
}

/* The same spring as a spring, between a shared node and the ground; the load is a preload that
 * moves the equilibrium.
 */
static void springs_nodes_and_preloads(void **state)
{
    (void)state;
    loading l = load_good(
        HEAD
        "    nodes:\n"
        "      hook: {position: [1, 0, 0]}\n"
        "    bodies:\n"
        "      left: {node: hook, mass: 0.3}\n"
        "      right: {node: hook, mass: 0.1}\n"
        "    joints:\n"
        "      rail: {type: prismatic, between: [ground, hook], at: [1, 0, 0], axis: [1, 0, 0]}\n"
        "    forces:\n"
        "      spring: {type: spring, between: [ground, hook], stiffness: 40, free_length: 0.9, "
        "load: 4}\n"
        "record: {channels: [mechanism.hook.position.x, mechanism.spring.elongation]}\n");
    double sample[2], t = run_to_end(&l, sample);
    /* Equilibrium at 0.9 - 4/40 = 0.8: released 0.2 beyond it. */
    assert_near(sample[0], 0.8 + 0.2 * cos(10 * t), 1e-4);
    assert_near(sample[1], sample[0], 1e-12);
    unload(&l);
}

/* w, x, y, z of an orientation: 60 degrees about x. */
static void feedback_reads_orientations(void **state)
{
    (void)state;
    loading l = load_good(
        HEAD
        "    bodies:\n"
        "      a: {mass: 1, inertia: [1, 1, 1], orientation: {axis: [1, 0, 0], angle: rad(60)}}\n"
        "    forces:\n"
        "      f: {type: force, body: a, vector: [1, 0, 0], feedback: {inputs: {q: "
        "a.orientation.w}, "
        "expression: q}}\n"
        "      g: {type: force, body: a, vector: [0, 1, 0], feedback: {inputs: {q: "
        "a.orientation.x}, "
        "expression: q}}\n"
        "record: {channels: [mechanism.a.velocity]}\n");
    double sample[3], t = run_to_end(&l, sample);
    assert_near(sample[0], t * sqrt(0.75), 1e-9);
    assert_near(sample[1], t * 0.5, 1e-9);
    unload(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_bodies_are_reported_with_the_nearest),
        cmocka_unit_test(contradictions_are_reported_at_their_place),
        cmocka_unit_test(words_that_mean_nothing_are_reported),
        cmocka_unit_test(beams_that_cannot_be_are_reported),
        cmocka_unit_test(feedback_reads_orientations),
        cmocka_unit_test(feedback_makes_a_damped_spring),
        cmocka_unit_test(springs_nodes_and_preloads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
