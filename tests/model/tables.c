/* Tables of scenarios: points and files as functions of expressions, and the messages about bad
 * ones. */
#include "loading.h"

#include <stdlib.h>
#include <unistd.h>

#include "yoke/record.h"
#include "yoke/system.h"

static const char head[] = "time: {end: 1, step: 0.01}\n"
                           "subsystems:\n"
                           "  a: {solver: oscillator, mass: 1, integrator: exact, force: \"%s\"}\n"
                           "tables:\n%s";

static loading load_table(const char *force, const char *tables)
{
    char text[2000];
    snprintf(text, sizeof text, head, force, tables);
    return load_text(text);
}

/* The force of the oscillator at a time, from its acceleration over a short time. */
static double force_at(const char *force, const char *tables, double start)
{
    char text[2000];
    int length = snprintf(text, sizeof text, head, force, tables);
    assert_true(length < (int)sizeof text);
    char times[100];
    char step[100];
    char end[100];
    snprintf(times, sizeof times, "time.start=%.17g", start);
    snprintf(end, sizeof end, "time.end=%.17g", start + 1e-3);
    snprintf(step, sizeof step, "time.step=1e-3");
    loading l = load_with(text, (const char *[]){times, end, step}, 3);
    if (l.status != YK_OK)
        print_error("%s", l.text);
    assert_int_equal(l.status, YK_OK);

    yk_system *system = NULL;
    assert_int_equal(yk_scenario_system(l.scenario, &system), YK_OK);
    assert_int_equal(yk_system_run(system, start + 1e-3), YK_OK);
    yk_port_value value;
    const yk_subsystem *a = yk_scenario_get_info(l.scenario)->subsystems[0];
    a->ops->get_port_value(a, 0, &value);
    double mean = value.motion.velocity.x / 1e-3;
    unload(&l);
    return mean;
}

static const char *write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return name;
}

static void a_load_follows_its_points(void **state)
{
    (void)state;
    const char *points = "  push: {points: [[0, 2], [1, 4], [3, 0]], scale: 10, offset: 1}\n";
    assert_near(force_at("push(t)", points, 0.4995), 31, 1e-6);
    assert_near(force_at("2*push(t - 1)", points, 1), 2 * 21.01, 1e-4);
    assert_near(force_at("push(5)", points, 0), 1, 1e-9);
}

static void a_file_has_columns_by_name(void **state)
{
    (void)state;
    write_file("road.csv",
               "# measured\nx [km], quality, height [mm]\n0,1,0\n0.01,1,20\n0.02,1,-20\n");

    /* Columns are converted to SI. */
    const char *table = "  road: {file: road.csv, argument: x, value: height}\n";
    assert_near(force_at("1e3*road(20*t)", table, 0.25 - 5e-4), 10, 1e-4);
    assert_near(force_at("1e3*road(20*t)", table, 0.75 - 5e-4), 0, 1e-4);

    /* Factors in the table replace those of the units. */
    table = "  road: {file: road.csv, argument: x, value: height, argument_scale: 500,\n"
            "         scale: 2, extrapolation: linear}\n";
    assert_near(force_at("road(10*t)", table, 0.25 - 5e-4), 20, 2e-4);
    unlink("road.csv");
}

static void a_file_may_be_a_run(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    yk_file_recorder_def def = yk_file_recorder_default();
    def.path = "earlier.h5";
    yk_recorder *recorder = NULL;
    assert_int_equal(yk_file_recorder_create(context, &def, &recorder), YK_OK);
    const yk_record_channel channel = {"a.mass.position", "m", 3, NULL};
    yk_record_header header = {.channels = &channel, .channel_count = 1};
    assert_int_equal(yk_recorder_begin(recorder, &header), YK_OK);
    for (int i = 0; i <= 10; i++)
        assert_int_equal(yk_recorder_sample(recorder, 0.1 * i, (double[]){i, 2 * i, i * i}), YK_OK);
    assert_int_equal(yk_recorder_end(recorder, &(yk_record_summary){0}), YK_OK);
    yk_recorder_destroy(recorder);
    yk_context_destroy(context);

    const char *table = "  run: {file: earlier.h5, argument: time, value: a.mass.position.z,\n"
                        "        interpolation: cubic}\n";
    assert_near(force_at("run(t)", table, 0.55 - 5e-4), 30.25, 1e-5);
    unlink("earlier.h5");
}

static void two_arguments_form_a_grid(void **state)
{
    (void)state;
    const char *points = "  map: {points: [[0, 0, 0], [0, 1, 2], [10, 0, 5], [10, 1, 9]]}\n";
    assert_near(force_at("map(5, t)", points, 0.5 - 5e-4), 0.5 * (2.5 + 5.5), 1e-6);
}

static void tables_stand_in_parameters_of_loads_and_in_feedback(void **state)
{
    (void)state;
    loading l =
        load_good("time: {end: 1, step: 1e-3}\n"
                  "tables:\n"
                  "  damper: {points: [[-1, -200], [0, 0], [1, 600]], extrapolation: linear}\n"
                  "subsystems:\n"
                  "  m:\n"
                  "    solver: multibody\n"
                  "    gravity: [0, 0, 0]\n"
                  "    bodies: {b: {mass: 1, inertia: [1, 1, 1], velocity: [1, 0, 0]}}\n"
                  "    joints: {g: {type: prismatic, between: [ground, b], axis: [1, 0, 0]}}\n"
                  "    forces:\n"
                  "      d: {type: motor, joint: g,\n"
                  "          feedback: {inputs: {v: b.velocity.x}, expression: -damper(v)}}\n"
                  "    ports: {b: {body: b}}\n");
    /* v' = -600 v. */
    yk_system *system = NULL;
    assert_int_equal(yk_scenario_system(l.scenario, &system), YK_OK);
    assert_int_equal(yk_system_run(system, 2e-3), YK_OK);
    yk_port_value value;
    const yk_subsystem *m = yk_scenario_get_info(l.scenario)->subsystems[0];
    m->ops->get_port_value(m, 0, &value);
    assert_near(value.motion.velocity.x, exp(-1.2), 0.02);
    unload(&l);
}

static void expect(const char *force, const char *tables, const char *message)
{
    loading l = load_table(force, tables);
    if (l.status == YK_OK || !strstr(l.text, message))
        fail_msg("expected '%s', got '%s'", message, l.text);
    assert_null(strstr(l.text, "unknown function"));
    unload(&l);
}

static void errors_name_the_file_and_the_line(void **state)
{
    (void)state;
    write_file("back.csv", "t,value\n0,1\n2,1\n\n1,3\n");
    write_file("nan.csv", "t,value\n0,1\n1,nan\n");
    write_file("same.csv", "t,value\n0,1\n1,2\n1,3\n2,3\n");
    write_file("none.csv", "t,value\n");
    write_file("not.h5", "t,value\n0,1\n");
    expect("f(t)", "  f: {file: back.csv}\n", "back.csv:5: the argument is below the one before");
    expect("f(t)", "  f: {file: back.csv, value: force}\n", "there is no column 'force'");
    expect("f(t)", "  f: {file: nan.csv}\n", "nan.csv:3:3: expected a number under 'value'");
    expect("f(t)", "  f: {file: same.csv, interpolation: cubic}\n",
           "same.csv:4: the argument is the same");
    expect("f(t)", "  f: {file: none.csv}\n", "none.csv has no rows");
    expect("f(t)", "  f: {file: missing.csv}\n", "missing.csv");
    expect("f(t)", "  f: {file: not.h5}\n", "not.h5");
    expect("f(t)", "  f: {}\n", "give either 'points' or 'file'");
    expect("f(t)", "  f: {points: [[0, 0], [1, 1]], file: nan.csv}\n",
           "give either 'points' or 'file'");
    expect("f(t)", "  f: {points: [[0, 0], [1, 1]], extrapolation: periodic}\n",
           "the last value must be the first");
    expect("f(t, 1)", "  f: {points: [[0, 0, 1], [1, 1, 2], [1, 0, 3]]}\n", "are not a full grid");
    expect("f(t, 1)", "  f: {points: [[0, 0, 1], [1, 1]]}\n", "expected 3 numbers");
    expect("f(t, 1)", "  f: {points: [[0, 0, 1], [1, 0, 1]], interpolation: akima}\n",
           "with two arguments");
    expect("t", "  sin: {points: [[0, 0], [1, 1]]}\n", "is the name of a function");
    expect("f(t) + f", "  f: {points: [[0, 0], [1, 1]]}\n", "'f' is a function");
    expect("f(t, 2)", "  f: {points: [[0, 0], [1, 1]]}\n", "'f' takes 1 argument, not 2");
    for (int i = 0; i < 5; i++)
        unlink((const char *[]){"back.csv", "nan.csv", "same.csv", "none.csv", "not.h5"}[i]);
}

static void names_are_suggested(void **state)
{
    (void)state;
    loading l = load_table("roads(t)", "  road: {points: [[0, 0], [1, 1]]}\n");
    assert_non_null(strstr(l.text, "unknown function 'roads'. Did you mean 'road'?"));
    unload(&l);
}

static void outside_of_the_points_may_be_an_error(void **state)
{
    (void)state;
    loading l = load_table("f(t)", "  f: {points: [[0, 0], [0.5, 1]], extrapolation: none}\n");
    assert_int_equal(l.status, YK_OK);
    yk_system *system = NULL;
    assert_int_equal(yk_scenario_system(l.scenario, &system), YK_OK);
    assert_true(yk_system_run(system, 1) < 0);
    unload(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_follows_its_points),
        cmocka_unit_test(a_file_has_columns_by_name),
        cmocka_unit_test(a_file_may_be_a_run),
        cmocka_unit_test(two_arguments_form_a_grid),
        cmocka_unit_test(tables_stand_in_parameters_of_loads_and_in_feedback),
        cmocka_unit_test(errors_name_the_file_and_the_line),
        cmocka_unit_test(names_are_suggested),
        cmocka_unit_test(outside_of_the_points_may_be_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
