/* Oscillators against the analytic solution, and what their creation refuses. */
#include "yoke/oscillator.h"

#include <string.h>

#include "inputs.h"
#include "math/polynomial.h"
#include "test.h"

static yk_context *context;

static yk_subsystem *make(const yk_oscillator_def *def, yk_causality causality)
{
    yk_subsystem *oscillator = NULL;
    assert_int_equal(yk_oscillator_create(context, def, &oscillator), YK_OK);
    if (causality)
        assert_int_equal(oscillator->ops->connect(oscillator, 0, causality, YK_AXIS_X), YK_OK);
    return oscillator;
}

static yk_port_value value_of(const yk_subsystem *oscillator)
{
    yk_port_value value = {.motion.orientation.w = 1};
    oscillator->ops->get_port_value(oscillator, 0, &value);
    return value;
}

/* Damped free vibration from (x0, v0). */
static double free_vibration(const yk_oscillator_def *d, double t)
{
    double decay = d->damping / (2 * d->mass), omega = sqrt(d->stiffness / d->mass - decay * decay);
    return exp(-decay * t) * (d->position * cos(omega * t) +
                              (d->velocity + decay * d->position) / omega * sin(omega * t));
}

static double free_error(yk_oscillator_def def, double h, int steps)
{
    yk_subsystem *oscillator = make(&def, YK_CAUSALITY_NONE);
    oscillator->ops->initialize(oscillator, 0, h, NULL);
    double worst = 0;
    for (int i = 0; i < steps; i++) {
        assert_int_equal(oscillator->ops->step(oscillator, i * h, h, NULL), YK_OK);
        worst = fmax(worst, fabs(value_of(oscillator).motion.position.x -
                                 free_vibration(&def, (i + 1) * h)));
    }
    oscillator->ops->destroy(oscillator);
    return worst;
}

static yk_oscillator_def damped(yk_oscillator_integrator integrator)
{
    return (yk_oscillator_def){.mass = 1.5,
                               .stiffness = 600,
                               .damping = 3,
                               .position = 0.02,
                               .velocity = -0.3,
                               .integrator = integrator,
                               .rho_inf = 0.6};
}

static void exact_integrator_is_exact(void **state)
{
    (void)state;
    assert_true(free_error(damped(YK_OSCILLATOR_EXACT), 0.05, 40) < 1e-14);
}

static void two_step_is_of_second_order_from_the_first_step_on(void **state)
{
    (void)state;
    for (double rho = 0; rho <= 1; rho += 0.25) {
        yk_oscillator_def def = damped(YK_OSCILLATOR_TWO_STEP);
        def.rho_inf = rho;
        double coarse = free_error(def, 2e-3, 100), fine = free_error(def, 1e-3, 200);
        assert_true(log2(coarse / fine) > 1.9);
        /* The first step alone: its error is of third order, so starting costs nothing. */
        assert_true(log2(free_error(def, 2e-3, 1) / free_error(def, 1e-3, 1)) > 2.8);
    }
}

static void semi_implicit_is_of_first_order(void **state)
{
    (void)state;
    yk_oscillator_def def = damped(YK_OSCILLATOR_SEMI_IMPLICIT);
    double order = log2(free_error(def, 2e-3, 100) / free_error(def, 1e-3, 200));
    assert_true(order > 0.9 && order < 1.2);
}

static double harmonic(void *user, double t)
{
    return *(double *)user * sin(7 * t);
}

/* m x'' + k x = F sin(w t) from rest: x = F/m (sin wt - (w/W) sin Wt) / (W^2 - w^2). */
static void external_force_drives_the_exact_integrator(void **state)
{
    (void)state;
    double amplitude = 4;
    yk_oscillator_def def = {
        .mass = 2, .stiffness = 450, .integrator = YK_OSCILLATOR_EXACT, .rho_inf = 1};
    def.force = (yk_time_function){.evaluate = harmonic, .user = &amplitude};
    yk_subsystem *oscillator = make(&def, YK_CAUSALITY_NONE);
    double h = 5e-3, w = 7, natural = 15;
    oscillator->ops->initialize(oscillator, 0, h, NULL);
    for (int i = 0; i < 200; i++)
        oscillator->ops->step(oscillator, i * h, h, NULL);
    double expected =
        amplitude / 2 * (sin(w) - w / natural * sin(natural)) / (natural * natural - w * w);
    assert_near(value_of(oscillator).motion.position.x, expected, 1e-11);
    yk_energy energy;
    oscillator->ops->energy->read(oscillator, &energy);
    assert_near(energy.kinetic + energy.potential, energy.work, 1e-8);
    oscillator->ops->destroy(oscillator);
}

/* A motion side answers with m a + c v + k x of the prescribed motion. */
static void prescribed_motion_needs_the_wrench_of_the_equation_of_motion(void **state)
{
    (void)state;
    yk_oscillator_def def = damped(YK_OSCILLATOR_EXACT);
    yk_subsystem *oscillator = make(&def, YK_CAUSALITY_MOTION_INPUT);
    yk_input input = {.degree = 3, .linear = {{0.1, 0, 0}, {2, 0, 0}, {-3, 0, 0}, {5, 0, 0}}};
    oscillator->ops->initialize(oscillator, 0, 0.1, &input);
    assert_int_equal(oscillator->ops->step(oscillator, 0, 0.1, &input), YK_OK);
    double x = 0.1 + 0.2 - 0.03 + 0.005, v = 2 - 0.6 + 0.15, a = -6 + 3;
    yk_port_value value = value_of(oscillator);
    assert_near(value.motion.position.x, x, 1e-15);
    assert_near(value.motion.velocity.x, v, 1e-15);
    assert_near(value.wrench.force.x, 1.5 * a + 3 * v + 600 * x, 1e-12);
    oscillator->ops->destroy(oscillator);
}

/* A straight line has its acceleration in the kink at its start. */
static void exact_method_follows_a_line(void **state)
{
    (void)state;
    yk_oscillator_def def = damped(YK_OSCILLATOR_EXACT);
    def.position = 0.1;
    def.velocity = 2;
    yk_subsystem *oscillator = make(&def, YK_CAUSALITY_MOTION_INPUT);
    yk_input input = linear_signal(0.1, 2);
    oscillator->ops->initialize(oscillator, 0, 0.1, &input);
    input = linear_signal(0.1, 3);
    assert_int_equal(oscillator->ops->step(oscillator, 0, 0.1, &input), YK_OK);
    yk_port_value value = value_of(oscillator);
    assert_near(value.motion.velocity.x, 3, 1e-14);
    assert_near(value.motion.acceleration.x, (3 - 2) / 0.1, 1e-12);
    assert_near(value.wrench.force.x, 1.5 * (3 - 2) / 0.1 + 3 * 3 + 600 * 0.25, 1e-11);
    oscillator->ops->destroy(oscillator);
}

/* The same with the two-step method, whose velocity and acceleration are of second order. */
static void two_step_method_follows_a_motion(void **state)
{
    (void)state;
    yk_oscillator_def def = damped(YK_OSCILLATOR_TWO_STEP);
    def.position = 0;
    def.velocity = 0.3;
    yk_subsystem *oscillator = make(&def, YK_CAUSALITY_MOTION_INPUT);
    double h = 1e-3;
    yk_input input = linear_signal(0, 0.3);
    oscillator->ops->initialize(oscillator, 0, h, &input);
    for (int i = 0; i < 200; i++) {
        double begin = 0.1 * sin(3 * i * h), end = 0.1 * sin(3 * (i + 1) * h);
        input = linear_signal(begin, (end - begin) / h);
        assert_int_equal(oscillator->ops->step(oscillator, i * h, h, &input), YK_OK);
    }
    double x = 0.1 * sin(0.6), v = 0.3 * cos(0.6), a = -0.9 * sin(0.6);
    yk_port_value value = value_of(oscillator);
    assert_near(value.motion.position.x, x, 1e-15);
    assert_near(value.motion.velocity.x, v, 1e-5);
    assert_near(value.wrench.force.x, 1.5 * a + 3 * v + 600 * x, 1e-3);
    oscillator->ops->destroy(oscillator);
}

/* paper explicit (38c): the position at the start of the input corrects an error of the last step
 * in one step. */
static void velocity_constraint_pulls_the_mass_back_to_its_input(void **state)
{
    (void)state;
    yk_oscillator_def def = damped(YK_OSCILLATOR_SEMI_IMPLICIT);
    def.position = 0.5;
    yk_subsystem *oscillator = make(&def, YK_CAUSALITY_MOTION_INPUT);
    yk_input input = linear_signal(0.4, 3);
    oscillator->ops->initialize(oscillator, 0, 0.01, &input);
    oscillator->ops->step(oscillator, 0, 0.01, &input);
    assert_near(value_of(oscillator).motion.position.x, 0.4 + 0.03, 1e-15);
    oscillator->ops->destroy(oscillator);
}

static void at_rest(void *user, double t, double value[3])
{
    (void)user, (void)t;
    value[0] = value[1] = value[2] = 0;
}

static void driven_oscillators_are_not_merged(void **state)
{
    yk_oscillator_def def = yk_oscillator_default();
    yk_subsystem *parts[2] = {make(&def, YK_CAUSALITY_NONE), make(&def, YK_CAUSALITY_NONE)},
                 *merged = NULL;
    yk_relative_motion drive[6] = {{at_rest, NULL}};
    yk_merge_joint joint = {.part_b = 1, .constrained_axes = YK_AXIS_X, .drive = drive};
    yk_merge_def merge = {
        .parts = parts, .part_count = 2, .joints = &joint, .joint_count = 1, .length_unit = 1};
    (void)state;
    assert_int_equal(parts[0]->ops->merge->merge(&merge, &merged), YK_ERROR_CAPABILITY);
    for (int i = 0; i < 2; i++)
        parts[i]->ops->destroy(parts[i]);
}

static void merged_oscillators_move_as_one_mass(void **state)
{
    (void)state;
    yk_oscillator_def a = damped(YK_OSCILLATOR_EXACT), b = a, sum = a;
    b.mass = 0.5, b.stiffness = 100, b.damping = 1;
    sum.mass = 2, sum.stiffness = 700, sum.damping = 4;
    yk_subsystem *parts[2] = {make(&a, YK_CAUSALITY_NONE), make(&b, YK_CAUSALITY_NONE)},
                 *merged = NULL;
    yk_merge_joint joint = {.part_b = 1, .constrained_axes = YK_AXIS_X};
    assert_int_equal(
        parts[0]->ops->merge->merge(
            &(yk_merge_def){.parts = parts, .part_count = 2, .joints = &joint, .joint_count = 1},
            &merged),
        YK_OK);
    merged->ops->initialize(merged, 0, 0.02, NULL);
    for (int i = 0; i < 30; i++)
        merged->ops->step(merged, i * 0.02, 0.02, NULL);
    yk_port_value ports[2] = {{.motion.orientation.w = 1}, {.motion.orientation.w = 1}};
    for (int i = 0; i < 2; i++)
        merged->ops->get_port_value(merged, i, &ports[i]);
    assert_near(ports[0].motion.position.x, free_vibration(&sum, 0.6), 1e-14);
    /* The parts pull at each other with opposite forces. */
    assert_near(ports[0].wrench.force.x + ports[1].wrench.force.x, 0, 1e-12);
    assert_true(fabs(ports[0].wrench.force.x) > 1e-3);
    merged->ops->destroy(merged);
    for (int i = 0; i < 2; i++)
        parts[i]->ops->destroy(parts[i]);
}

static void merging_what_does_not_fit_is_refused(void **state)
{
    (void)state;
    yk_oscillator_def a = damped(YK_OSCILLATOR_EXACT), b = a;
    yk_subsystem *parts[2] = {make(&a, YK_CAUSALITY_NONE), make(&b, YK_CAUSALITY_NONE)},
                 *merged = NULL;
    assert_int_equal(
        parts[0]->ops->merge->merge(&(yk_merge_def){.parts = parts, .part_count = 2}, &merged),
        YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(context), "do not join all"));
    parts[1]->ops->destroy(parts[1]);
    b.position += 0.1;
    parts[1] = make(&b, YK_CAUSALITY_NONE);
    yk_merge_joint joint = {.part_b = 1, .constrained_axes = YK_AXIS_X};
    assert_int_equal(
        parts[0]->ops->merge->merge(
            &(yk_merge_def){.parts = parts, .part_count = 2, .joints = &joint, .joint_count = 1},
            &merged),
        YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(context), "0.1 m"));
    for (int i = 0; i < 2; i++)
        parts[i]->ops->destroy(parts[i]);
}

static void bad_definitions_are_refused_with_their_value(void **state)
{
    (void)state;
    static const struct {
        yk_oscillator_def def;
        const char *word;
    } bad[] = {
        {{.mass = 0, .rho_inf = 0.5}, "mass is 0 kg"},
        {{.mass = NAN, .rho_inf = 0.5}, "mass is nan"},
        {{.mass = 1, .rho_inf = 1.5}, "rho_inf is 1.5"},
        {{.mass = 1, .rho_inf = 0.5, .stiffness = INFINITY}, "must be finite"},
        {{.mass = 1, .rho_inf = 0.5, .velocity = NAN}, "must be finite"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        yk_subsystem *oscillator = NULL;
        assert_int_equal(yk_oscillator_create(context, &bad[i].def, &oscillator),
                         YK_ERROR_ARGUMENT);
        assert_null(oscillator);
        assert_non_null(strstr(yk_last_message(context), bad[i].word));
    }
}

int main(void)
{
    context = yk_context_create(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_integrator_is_exact),
        cmocka_unit_test(two_step_is_of_second_order_from_the_first_step_on),
        cmocka_unit_test(semi_implicit_is_of_first_order),
        cmocka_unit_test(external_force_drives_the_exact_integrator),
        cmocka_unit_test(prescribed_motion_needs_the_wrench_of_the_equation_of_motion),
        cmocka_unit_test(exact_method_follows_a_line),
        cmocka_unit_test(two_step_method_follows_a_motion),
        cmocka_unit_test(velocity_constraint_pulls_the_mass_back_to_its_input),
        cmocka_unit_test(driven_oscillators_are_not_merged),
        cmocka_unit_test(merged_oscillators_move_as_one_mass),
        cmocka_unit_test(merging_what_does_not_fit_is_refused),
        cmocka_unit_test(bad_definitions_are_refused_with_their_value),
    };
    int failed = cmocka_run_group_tests_name("oscillator", tests, NULL, NULL);
    yk_context_destroy(context);
    return failed;
}
