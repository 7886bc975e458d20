/* The integrator of model exchange: results against closed forms and converged references, events,
 * rollback, and errors. */
#include <math.h>

#include "fmus.h"
#include "interop/fmi/fmu.h"
#include "the_context.h"

enum { DECAY, VAN_DER_POL, EXPLOSION, RELAY, RECTIFIER }; /* of stiff.c */

typedef struct states {
    double x, v;
} states;

typedef struct experiment {
    double model, rate;
    states start;
    double tolerance, absolute_tolerance;
    bool differences; /* no directional derivatives */
} experiment;

static void check(yk_subsystem *s, yk_status status)
{
    if (status != YK_OK)
        fail_msg("%s", s->ops->last_message(s));
}

/* The FMU of stiff.c at its start. */
static yk_subsystem *begin(const fmu_recipe *recipe, const experiment *e)
{
    const yk_fmu_setting settings[] = {{"model", &e->model, 1, NULL},
                                       {"rate", &e->rate, 1, NULL},
                                       {"x", &e->start.x, 1, NULL},
                                       {"v", &e->start.v, 1, NULL}};
    char *file = make_fmu(context, recipe);
    yk_fmu_def def = yk_fmu_default();
    def.file = file;
    def.settings = settings;
    def.setting_count = 4;
    def.tolerance = e->tolerance;
    def.absolute_tolerance = e->absolute_tolerance;
    def.derivatives = !e->differences;
    yk_subsystem *s;
    if (yk_fmu_create(context, &def, &s) != YK_OK)
        fail_msg("%s", yk_last_message(context));
    free(file);
    check(s, s->ops->initialize(s, 0, 0.1, NULL));
    return s;
}

static states read_states(yk_subsystem *s)
{
    yk_port_value x = {0}, v = {0};
    s->ops->get_port_value(s, 0, &x);
    s->ops->get_port_value(s, 1, &v);
    return (states){x.motion.position.x, v.motion.position.x};
}

static states run_steps(yk_subsystem *s, double end, int steps)
{
    yk_input inputs[2] = {{0}};
    for (int i = 0; i < steps; i++)
        check(s, s->ops->step(s, end * i / steps, end / steps, inputs));
    return read_states(s);
}

static states run_experiment(const experiment *e, double end, int steps)
{
    static const fmu_recipe recipe = {.name = "stiff", STIFF2};
    yk_subsystem *s = begin(&recipe, e);
    states result = run_steps(s, end, steps);
    s->ops->destroy(s);
    return result;
}

/* Macro steps that an explicit method does not survive, from not stiff to very stiff. */
static void decay_meets_the_tolerance(void **state)
{
    (void)state;
    static const double tolerances[] = {1e-4, 1e-6, 1e-8, 1e-10, 0};
    static const double rates[] = {1, 50, 1e4, 1e9};
    for (size_t i = 0; i < sizeof tolerances / sizeof *tolerances; i++) {
        for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
            experiment e = {.model = DECAY, .rate = rates[k], .start = {1, 1}};
            e.tolerance = tolerances[i];
            e.differences = k % 2 == 1;
            double tolerance = tolerances[i] > 0 ? tolerances[i] : 1e-8;
            states end = run_experiment(&e, 2, 2);
            assert_near(end.x, exp(-2 * rates[k]), tolerance);
            assert_near(end.v, exp(-2), tolerance);
        }
    }
}

/* Nominal value of x: 1e-9. With a nominal value of 1 any number of this size meets the tolerance. */
static void nominal_values_scale_the_tolerance(void **state)
{
    (void)state;
    experiment e = {.model = DECAY, .rate = 3, .start = {1e-9, 1}};
    assert_near(run_experiment(&e, 1, 1).x, 1e-9 * exp(-3), 1e-8 * 1e-9);
    e.absolute_tolerance = 1e6;
    e.tolerance = 1e-4;
    assert_true(fabs(run_experiment(&e, 1, 1).v - exp(-1)) > 1e-6);
}

static void default_experiment_gives_the_tolerance(void **state)
{
    (void)state;
    static const fmu_recipe loose = {.name = "loose",
                                     STIFF2,
                                     .find = "<DefaultExperiment startTime=\"0\"",
                                     .replace = "<DefaultExperiment tolerance=\"1e-3\""};
    experiment e = {.model = DECAY, .rate = 3, .start = {1, 1}};
    double error[2];
    for (int given = 0; given < 2; given++) {
        e.tolerance = given ? 1e-9 : 0;
        yk_subsystem *s = begin(&loose, &e);
        error[given] = fabs(run_steps(s, 1, 1).x - exp(-3));
        s->ops->destroy(s);
    }
    assert_true(error[0] < 1e-3 && error[0] > 1e-9);
    assert_true(error[1] < 1e-9);
}

/* mu = 1000 in the time of its slow phases, at t = 2 after three jumps. Reference: problem VDPOL of the
 * Test Set for Initial Value Problem Solvers. */
static void van_der_pol_agrees_with_the_test_set(void **state)
{
    (void)state;
    experiment e = {.model = VAN_DER_POL, .rate = 1e6, .start = {2, 0}};
    for (int differences = 0; differences < 2; differences++) {
        e.differences = differences;
        for (int steps = 1; steps <= 100; steps *= 10) {
            states end = run_experiment(&e, 2, steps);
            assert_near(end.x, 0.1706167732170483e1, 1e-7);
            assert_near(end.v, -0.8928097010247975, 1e-7);
        }
    }
}

/* Reference: Radau IIA of SciPy with a relative tolerance of 1e-11. */
static void rectifier_agrees_with_a_converged_reference(void **state)
{
    (void)state;
    experiment e = {.model = RECTIFIER, .rate = 1, .differences = true};
    for (int steps = 1; steps <= 4500; steps *= 67) {
        states end = run_experiment(&e, 0.045, steps);
        assert_near(end.x, 9.350718872923, 1e-6);
        assert_near(end.v, 0.0037228838030232, 1e-9);
    }
}

static void time_events_end_steps(void **state)
{
    (void)state;
    experiment e = {.model = RELAY, .rate = 1};
    static const int steps[] = {1, 3, 7, 1000};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        assert_near(run_experiment(&e, 1, steps[i]).x, 0.3 - 0.1, 1e-12);
}

static void repeated_steps_give_the_same_bits(void **state)
{
    (void)state;
    static const fmu_recipe recipe = {.name = "again", STIFF2};
    experiment e = {.model = VAN_DER_POL, .rate = 1e6, .start = {2, 0}};
    yk_subsystem *s = begin(&recipe, &e);
    yk_input inputs[2] = {{0}};
    double *image = calloc(s->ops->rollback->layout(s).word_count, sizeof *image);
    states first[20];
    for (int i = 0; i < 20; i++) {
        if (i == 10)
            s->ops->rollback->get(s, image);
        check(s, s->ops->step(s, 0.1 * i, 0.1, inputs));
        first[i] = read_states(s);
    }

    /* Here and in another instance, which has another history. */
    yk_subsystem *other = begin(&recipe, &e);
    for (int k = 0; k < 2; k++) {
        yk_subsystem *by = k == 0 ? s : other;
        check(by, by->ops->rollback->set(by, image));
        for (int i = 10; i < 20; i++) {
            check(by, by->ops->step(by, 0.1 * i, 0.1, inputs));
            states second = read_states(by);
            assert_memory_equal(&second, &first[i], sizeof second);
        }
    }
    free(image);
    other->ops->destroy(other);
    s->ops->destroy(s);
}

static void a_tolerance_that_cannot_be_met_is_an_error(void **state)
{
    (void)state;
    static const fmu_recipe recipe = {.name = "explosion", STIFF2};
    experiment e = {.model = EXPLOSION, .rate = 1, .start = {1, 0}, .differences = true};
    yk_subsystem *s = begin(&recipe, &e);
    yk_input inputs[2] = {{0}};
    check(s, s->ops->step(s, 0, 0.5, inputs));
    assert_near(read_states(s).x, 2, 1e-7);
    assert_true(YK_FAILED(s->ops->step(s, 0.5, 1, inputs)));
    const char *message = s->ops->last_message(s);
    assert_non_null(strstr(message, "explosion.fmu: the integration cannot meet the relative "
                                    "tolerance 1e-08 at t = "));
    assert_near(atof(strstr(message, "t = ") + 4), 1, 1e-6);
    s->ops->destroy(s);
}

/* All bounces of a second and a half within a few macro steps; times from the closed form. */
static void balls_bounce_within_long_steps(void **state)
{
    (void)state;
    const fmu_recipe recipes[] = {{.name = "ball2", BALL2}, {.name = "ball3", BALL3}};
    for (int r = 0; r < 2; r++) {
        for (int steps = 1; steps <= 4; steps++) {
            char *file = make_fmu(context, &recipes[r]);
            yk_fmu_def def = yk_fmu_default();
            def.file = file;
            yk_subsystem *s;
            assert_int_equal(yk_fmu_create(context, &def, &s), YK_OK);
            check(s, s->ops->initialize(s, 0, 0.1, NULL));

            const double g = 9.81, restitution = 0.7, end = 1.5;
            double last = sqrt(2 / g), speed = g * last * restitution;
            while (last + 2 * speed / g < end) {
                last += 2 * speed / g;
                speed *= restitution;
            }
            yk_input inputs[3] = {{0}};
            for (int i = 0; i < steps; i++)
                check(s, s->ops->step(s, end * i / steps, end / steps, inputs));
            states final = read_states(s);
            double since = end - last;
            assert_near(final.x, speed * since - g / 2 * since * since, 1e-11);
            assert_near(final.v, speed - g * since, 1e-11);
            s->ops->destroy(s);
            free(file);
        }
    }
}

/* Runs with other macro steps repeat the errors of model exchange if its tolerance is loose, and
 * those of a solver inside the FMU. */
static void the_steps_of_a_loose_tolerance_are_its_own(void **state)
{
    (void)state;
    static const fmu_recipe recipe = {.name = "stiff", STIFF2};
    static const double tolerances[] = {1e-3, 1e-8};
    for (int i = 0; i < 2; i++) {
        experiment e = {.model = DECAY, .rate = 1, .start = {1, 0}, .tolerance = tolerances[i]};
        yk_subsystem *s = begin(&recipe, &e);
        assert_int_equal(s->ops->keeps_own_steps(s), i == 0);
        s->ops->destroy(s);
    }

    static const fmu_recipe co_simulation = {.name = "mass", MASS2};
    char *file = make_fmu(context, &co_simulation);
    yk_fmu_def def = yk_fmu_default();
    def.file = file;
    yk_subsystem *s;
    assert_int_equal(yk_fmu_create(context, &def, &s), YK_OK);
    assert_true(s->ops->keeps_own_steps(s));
    s->ops->destroy(s);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_steps_of_a_loose_tolerance_are_its_own),
        cmocka_unit_test(decay_meets_the_tolerance),
        cmocka_unit_test(nominal_values_scale_the_tolerance),
        cmocka_unit_test(default_experiment_gives_the_tolerance),
        cmocka_unit_test(van_der_pol_agrees_with_the_test_set),
        cmocka_unit_test(rectifier_agrees_with_a_converged_reference),
        cmocka_unit_test(time_events_end_steps),
        cmocka_unit_test(repeated_steps_give_the_same_bits),
        cmocka_unit_test(a_tolerance_that_cannot_be_met_is_an_error),
        cmocka_unit_test(balls_bounce_within_long_steps),
    };
    int failed = cmocka_run_group_tests_name("exchange", tests, open_context, close_context);
    remove_test_folder();
    return failed;
}
