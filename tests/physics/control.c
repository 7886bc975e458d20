/* Controllers, compared with the behaviour that their gains imply: each term alone, output limits,
 * anti-windup of the integral, sampling, and equation (53) of the paper on the scheme rim. */
#include "yoke/control.h"

#include <string.h>

#include "context.h"
#include "inputs.h"
#include "math/polynomial.h"
#include "test.h"

enum { COMMAND, MEASURED, RATE, REFERENCE, PORTS };

static double ramp(void *user, double t)
{
    return *(const double *)user * t;
}

static double level(void *user, double t)
{
    (void)t;
    return *(const double *)user;
}

/* A controller with one loop. */
static yk_subsystem *create(yk_context *context, yk_control_loop_def *loop, double period)
{
    yk_control_def def = yk_control_default();
    yk_subsystem *made;
    loop->name = "speed";
    def.sample_period = period;
    yk_control_builder *builder = yk_control_begin(context, &def);
    assert_int_equal(yk_control_add_loop(builder, loop).index, 0);
    yk_status status = yk_control_create(builder, &made);
    if (status != YK_OK)
        print_error("%s\n", yk_last_message(context));
    assert_int_equal(status, YK_OK);
    return made;
}

/* All signals constant. */
static double hold(yk_subsystem *s, double t, double h, double measured, double rate,
                   double reference)
{
    yk_input inputs[PORTS] = {constant_signal(0), constant_signal(measured), constant_signal(rate),
                              constant_signal(reference)};
    yk_port_value value = {0};
    assert_int_equal(s->ops->step(s, t, h, inputs), YK_OK);
    s->ops->get_port_value(s, COMMAND, &value);
    return value.motion.position.x;
}

static void begin(yk_subsystem *s, double measured)
{
    yk_input inputs[PORTS] = {constant_signal(0), constant_signal(measured)};
    assert_int_equal(s->ops->initialize(s, 0, 0.1, inputs), YK_OK);
}

static void each_gain_does_its_part(void **state)
{
    double target = 5;
    yk_control_loop_def loop = yk_control_loop_default();
    loop.reference = (yk_time_function){.evaluate = level, .user = &target};
    loop.proportional = 2, loop.command_offset = 1;
    yk_subsystem *s = create(*state, &loop, 0);
    assert_int_equal(s->ops->connect(s, MEASURED, YK_CAUSALITY_SIGNAL_INPUT, 0), YK_OK);
    begin(s, 3);
    assert_near(hold(s, 0, 0.1, 3, 0, 0), 1 + 2 * 2, 1e-14);
    s->ops->destroy(s);

    loop.proportional = 0, loop.integral = 0.5;
    s = create(*state, &loop, 0);
    s->ops->connect(s, MEASURED, YK_CAUSALITY_SIGNAL_INPUT, 0);
    begin(s, 3);
    for (int i = 0; i < 10; i++)
        assert_near(hold(s, 0.1 * i, 0.1, 3, 0, 0), 1 + 0.5 * 2 * 0.1 * (i + 1), 1e-13);
    s->ops->destroy(s);

    /* D on a ramp of the reference is its slope; behind a filter it gets there with its time
     * constant. */
    double slope = 4;
    loop.integral = 0, loop.derivative = 3,
    loop.reference = (yk_time_function){.evaluate = ramp, .user = &slope};
    for (int filtered = 0; filtered < 2; filtered++) {
        loop.derivative_filter = filtered ? 0.2 : 0;
        s = create(*state, &loop, 0);
        begin(s, 0);
        for (int i = 0; i < 10; i++) {
            double whole = 1 - (filtered ? exp(-0.1 * (i + 1) / 0.2) : 0);
            assert_near(hold(s, 0.1 * i, 0.1, 0, 0, 0), 1 + 3 * 4 * whole, 1e-12);
        }
        s->ops->destroy(s);
    }
}

static void wires_bring_rate_and_reference(void **state)
{
    yk_control_loop_def loop = yk_control_loop_default();
    loop.derivative = 2, loop.proportional = 1;
    yk_subsystem *s = create(*state, &loop, 0);
    for (int port = MEASURED; port <= REFERENCE; port++)
        assert_int_equal(s->ops->connect(s, port, YK_CAUSALITY_SIGNAL_INPUT, 0), YK_OK);
    assert_int_equal(s->ops->connect(s, COMMAND, YK_CAUSALITY_SIGNAL_INPUT, 0), YK_ERROR_ARGUMENT);
    yk_input inputs[PORTS] = {{0}};
    inputs[REFERENCE] = constant_signal(7);
    assert_int_equal(s->ops->initialize(s, 0, 0.1, inputs), YK_OK);
    /* The measured value jumps, which the measured rate knows better. */
    assert_near(hold(s, 0, 0.1, 4, 0.5, 7), (7 - 4) - 2 * 0.5, 1e-13);
    s->ops->destroy(s);
}

/* A step of more samples than a run can take ends with the reason. */
static void endless_steps_are_refused(void **state)
{
    yk_control_loop_def loop = yk_control_loop_default();
    yk_subsystem *s = create(*state, &loop, 1e-3);
    begin(s, 0);
    yk_input inputs[PORTS] = {{0}};
    assert_int_equal(s->ops->step(s, 0, 1e13, inputs), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(s->ops->last_message(s), "1e+16 steps of the controller"));

    /* A shorter one is made, and the reason is gone. */
    assert_int_equal(s->ops->step(s, 0, 1e-2, inputs), YK_OK);
    assert_null(strstr(s->ops->last_message(s), "steps of the controller"));
    s->ops->destroy(s);
}

/* If D acts on the rate of the command, it adds up to the integral of the measured rate: of 0.5
 * + 3 t over 0.1 s that is 0.065. */
static void measured_rates_are_integrated(void **state)
{
    yk_control_loop_def loop = yk_control_loop_default();
    loop.output = YK_CONTROL_OUTPUT_RATE;
    loop.derivative = 2;
    yk_subsystem *s = create(*state, &loop, 0);
    assert_int_equal(s->ops->connect(s, RATE, YK_CAUSALITY_SIGNAL_INPUT, 0), YK_OK);
    begin(s, 0);
    yk_input inputs[PORTS] = {{0}};
    inputs[RATE] = linear_signal(0.5, 3);
    yk_port_value value = {0};
    assert_int_equal(s->ops->step(s, 0, 0.1, inputs), YK_OK);
    s->ops->get_port_value(s, COMMAND, &value);
    assert_near(value.motion.position.x, -2 * 0.065, 1e-15);
    s->ops->destroy(s);
}

/* rim (53) with its limit, in its own letters, by Euler's method in tiny steps. */
static void law_of_the_paper(void **state)
{
    const double kp = 6, kd = 1, limit = 3, k0 = 0.4;
    double target = -0.05, kappa = k0, h = 1e-3, own = 1e-6;
    yk_control_loop_def loop = yk_control_loop_default();
    loop.output = YK_CONTROL_OUTPUT_RATE;
    loop.reference = (yk_time_function){.evaluate = ramp, .user = &target};
    loop.proportional = -kp, loop.derivative = -kd, loop.command_offset = k0;
    loop.min_command = 0, loop.max_command = 1, loop.max_command_rate = limit;
    yk_subsystem *s = create(*state, &loop, 0);
    s->ops->connect(s, MEASURED, YK_CAUSALITY_SIGNAL_INPUT, 0);
    begin(s, 0);
    for (int i = 0; i < 500; i++) {
        double t = i * h, w = 0.1 * sin(40 * t), end = 0.1 * sin(40 * (t + h)), command = 0;
        yk_input inputs[PORTS] = {{0}};
        inputs[MEASURED] = linear_signal(w, (end - w) / h);
        assert_int_equal(s->ops->step(s, t, h, inputs), YK_OK);
        for (int k = 0; k < 1000; k++) {
            double at = t + (k + 0.5) * own, measured = w + (end - w) * (k + 0.5) * own / h;
            double rate = -kp * (target * at - measured) - kd * (target - (end - w) / h);
            kappa += own * fmax(-limit, fmin(limit, rate));
        }
        yk_port_value value = {0};
        s->ops->get_port_value(s, COMMAND, &value);
        command = value.motion.position.x;
        assert_near(command, kappa, 1e-5);
    }
    double limited = 0;
    s->ops->channels->read(s, 2, &limited);
    assert_in_range((int)(1e3 * limited), 100,
                    400); /* 4 cos(40 t) is above the limit for half of the time */
    s->ops->destroy(s);
}

/* A second at the limit, then the error turns: the command leaves the limit at once. */
static void integrals_do_not_wind_up(void **state)
{
    double target = 0;
    yk_control_loop_def loop = yk_control_loop_default();
    loop.reference = (yk_time_function){.evaluate = level, .user = &target};
    loop.integral = 5, loop.min_command = -1, loop.max_command = 1;
    yk_subsystem *s = create(*state, &loop, 0);
    s->ops->connect(s, MEASURED, YK_CAUSALITY_SIGNAL_INPUT, 0);
    begin(s, 0);
    for (int i = 0; i < 100; i++)
        hold(s, 0.01 * i, 0.01, -2, 0, 0);
    assert_near(hold(s, 1, 0.01, -2, 0, 0), 1, 0);
    assert_near(hold(s, 1.01, 0.01, 2, 0, 0), 0.9, 0.06);
    assert_near(hold(s, 1.02, 0.01, 2, 0, 0), 0.8, 0.06);
    s->ops->destroy(s);
}

static void rates_of_the_command_are_limited(void **state)
{
    double target = 1;
    yk_control_loop_def loop = yk_control_loop_default();
    loop.reference = (yk_time_function){.evaluate = level, .user = &target};
    loop.proportional = 10, loop.max_command_rate = 3, loop.command_offset = 0;
    yk_subsystem *s = create(*state, &loop, 0);
    s->ops->connect(s, MEASURED, YK_CAUSALITY_SIGNAL_INPUT, 0);
    begin(s, 1);
    for (int i = 0; i < 5; i++)
        assert_near(hold(s, 0.1 * i, 0.1, 0, 0, 0), 0.3 * (i + 1), 1e-14);
    s->ops->destroy(s);
}

/* Every 0.25 s, independent of the steps: in between the command is held. */
static void samples_are_held(void **state)
{
    double slope = 2;
    yk_control_loop_def loop = yk_control_loop_default();
    loop.reference = (yk_time_function){.evaluate = ramp, .user = &slope};
    loop.proportional = 3, loop.integral = 1;
    yk_subsystem *s = create(*state, &loop, 0.25);
    begin(s, 0);
    double integral = 0, last = 0;
    for (int i = 1; i <= 100; i++) {
        double command = hold(s, 0.02 * (i - 1), 0.02, 0, 0, 0), t = 0.02 * i;
        int taken = (int)floor(t / 0.25 + 1e-9), before = (int)floor((t - 0.02) / 0.25 + 1e-9);
        if (taken > before) {
            integral += 0.25 * 2 * 0.25 * taken;
            last = 3 * 2 * 0.25 * taken + integral;
        }
        assert_near(command, last, 1e-12);
    }
    s->ops->destroy(s);
}

static void tables_are_lines_with_jumps(void **state)
{
    (void)state;
    const double time[] = {1, 2, 2, 4}, value[] = {5, 7, -1, 3};
    yk_table table = {4, time, value};
    const double at[][2] = {{0, 5}, {1, 5}, {1.5, 6}, {2, -1}, {3, 1}, {4, 3}, {9, 3}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        assert_near(yk_table_value(&table, at[i][0]), at[i][1], 1e-15);
}

static double corner_value(void *user, double t)
{
    return yk_table_value(user, t);
}

static double next_corner(void *user, double t)
{
    return yk_table_next_point(user, t);
}

/* Points of the reference and samples, whichever comes first; none of a reference that comes by
 * wire. */
static void events_are_announced(void **state)
{
    const double time[] = {0, 0.1, 0.1, 0.7}, value[] = {0, 0, 1, 2};
    yk_table table = {4, time, value};
    yk_control_loop_def loop = yk_control_loop_default();
    loop.reference = (yk_time_function){corner_value, &table, next_corner};
    for (int sampled = 0; sampled < 2; sampled++) {
        yk_subsystem *s = create(*state, &loop, sampled ? 0.25 : 0);
        assert_int_equal(s->ops->initialize(s, 0, 0.01, NULL), YK_OK);
        assert_near(s->ops->events->next_time(s, -1), sampled ? -0.75 : 0, 0);
        assert_near(s->ops->events->next_time(s, 0), 0.1, 0);
        assert_near(s->ops->events->next_time(s, 0.1), sampled ? 0.25 : 0.7, 0);
        assert_near(s->ops->events->next_time(s, 0.6), 0.7, 0);
        assert_true(s->ops->events->next_time(s, 0.7) == (sampled ? 0.75 : INFINITY));
        assert_int_equal(s->ops->connect(s, 3, YK_CAUSALITY_SIGNAL_INPUT, 0), YK_OK);
        assert_true(s->ops->events->next_time(s, 0) == (sampled ? 0.25 : INFINITY));
        s->ops->destroy(s);
    }
}

static void expect_refusal(yk_context *context, const yk_control_def *def,
                           const yk_control_loop_def *loop, const char *words)
{
    yk_subsystem *s;
    yk_control_builder *builder = yk_control_begin(context, def);
    if (loop)
        yk_control_add_loop(builder, loop);
    assert_int_equal(yk_control_create(builder, &s), YK_ERROR_ARGUMENT);
    assert_null(s);
    if (!strstr(yk_last_message(context), words))
        print_error("message: %s\n", yk_last_message(context));
    assert_non_null(strstr(yk_last_message(context), words));
}

/* The state of each loop has four words: command, integral, error and filter. */
static void every_loop_has_its_state(void **state)
{
    size_t words[3] = {0};
    for (int count = 1; count <= 2; count++) {
        yk_control_def def = yk_control_default();
        yk_control_builder *builder = yk_control_begin(*state, &def);
        yk_control_loop_def loop = yk_control_loop_default();
        static const char *const names[] = {"first", "second"};
        for (int i = 0; i < count; i++) {
            loop.name = names[i];
            assert_true(yk_control_add_loop(builder, &loop).index >= 0);
        }
        yk_subsystem *made;
        assert_int_equal(yk_control_create(builder, &made), YK_OK);
        yk_state_layout layout = made->ops->rollback->layout(made);
        assert_true(layout.continuous_count < layout.word_count);
        words[count] = layout.continuous_count;
        made->ops->destroy(made);
    }
    assert_int_equal(words[1], 4);
    assert_int_equal(words[2], 8);
}

static void bad_definitions_are_refused(void **state)
{
    yk_control_def def = yk_control_default();
    expect_refusal(*state, &def, NULL, "at least one loop");
    yk_control_loop_def loop = yk_control_loop_default();
    loop.name = "";
    expect_refusal(*state, &def, &loop, "a loop has no name");
    loop.name = NULL;
    expect_refusal(*state, &def, &loop, "a loop has no name");
    loop.name = "speed";
    loop.min_command = 1, loop.max_command = 0;
    expect_refusal(*state, &def, &loop, "loop 'speed': the limits of its command (1, 0)");
    loop.min_command = 0, loop.max_command = 1, loop.command_offset = 2;
    expect_refusal(*state, &def, &loop, "offset 2 is outside");
    loop.command_offset = 0, loop.max_command_rate = 0;
    expect_refusal(*state, &def, &loop, "rate limit");
    loop.max_command_rate = 1, loop.proportional = NAN;
    expect_refusal(*state, &def, &loop, "gains and offset must be finite");
    loop.proportional = 1, def.sample_period = -1;
    expect_refusal(*state, &def, &loop, "period (-1 s)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_gain_does_its_part),
        cmocka_unit_test(wires_bring_rate_and_reference),
        cmocka_unit_test(endless_steps_are_refused),
        cmocka_unit_test(measured_rates_are_integrated),
        cmocka_unit_test(law_of_the_paper),
        cmocka_unit_test(integrals_do_not_wind_up),
        cmocka_unit_test(rates_of_the_command_are_limited),
        cmocka_unit_test(samples_are_held),
        cmocka_unit_test(tables_are_lines_with_jumps),
        cmocka_unit_test(events_are_announced),
        cmocka_unit_test(every_loop_has_its_state),
        cmocka_unit_test(bad_definitions_are_refused),
    };
    return cmocka_run_group_tests_name("control", tests, create_context, destroy_context);
}
