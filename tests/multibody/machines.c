/* Machines in models/ against numbers that follow from statics, geometry or power alone. */
#include <math.h>

#include "test.h"
#include "yoke/scenario.h"

static const double G = 9.81;

enum { VALUES_MAX = 32 };

/* The recorded values of a run at its end, and their extremes in its last `window` seconds. */
typedef struct outcome {
    double end[VALUES_MAX], largest[VALUES_MAX], smallest[VALUES_MAX];
} outcome;

static outcome run(const char *model, double window)
{
    char path[512];
    snprintf(path, sizeof path, "%s/models/%s/scenario.yaml", YOKE_SOURCE_DIR, model);
    yk_context *context = yk_context_create(NULL);
    yk_diagnostics *diagnostics;
    assert_int_equal(yk_diagnostics_create(context, &diagnostics), YK_OK);
    yk_scenario_def def = yk_scenario_default();
    def.path = path;
    yk_scenario *scenario;
    yk_status status = yk_scenario_load(context, &def, diagnostics, &scenario);
    if (status != YK_OK) {
        char *text = yk_diagnostics_format(diagnostics);
        print_error("%s", text);
        yk_free(context, text);
    }
    assert_int_equal(status, YK_OK);

    const yk_scenario_info *info = yk_scenario_get_info(scenario);
    yk_system *system;
    assert_int_equal(yk_scenario_system(scenario, &system), YK_OK);
    assert_false(YK_FAILED(yk_system_initialize(system)));
    assert_true(info->values_per_sample <= VALUES_MAX);
    outcome o;
    for (int i = 0; i < info->values_per_sample; i++) {
        o.largest[i] = -INFINITY;
        o.smallest[i] = INFINITY;
    }
    while (yk_system_time(system) < info->end - 0.5 * info->step) {
        assert_false(YK_FAILED(yk_system_step(system, NULL)));
        yk_scenario_read_sample(scenario, o.end);
        for (int i = 0; i < info->values_per_sample; i++) {
            if (yk_system_time(system) < info->end - window)
                break;
            o.largest[i] = fmax(o.largest[i], o.end[i]);
            o.smallest[i] = fmin(o.smallest[i], o.end[i]);
        }
    }

    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    yk_context_destroy(context);
    return o;
}

static void quarter_car_comes_to_rest(void **state)
{
    (void)state;
    outcome o = run("quarter-car", 0);
    assert_near(o.end[2], 0.7, 1e-4);
    assert_near(o.end[5], 0.3 - 390 * G / 2e5, 1e-5);
}

static void washing_machine_circles_about_its_centre_of_mass(void **state)
{
    (void)state;
    outcome o = run("washing-machine", 0.2);

    /* Forced oscillation of the vertical motion, without the small friction. */
    double amplitude = 0.5 * (o.largest[2] - o.smallest[2]);
    double natural = sqrt(2 * 4e3 / 45.5);
    double expected = 1.5 * 0.25 / 45.5 / (1 - pow(natural / o.end[3], 2));
    assert_near(amplitude, expected, 0.05 * expected);
}

/* Bisection for the speed at which the drive equals the resistance. */
static void drive_train_reaches_its_top_speed(void **state)
{
    (void)state;
    outcome o = run("drive-train", 0);
    double low = 34, high = 40;
    for (int i = 0; i < 60; i++) {
        double v = 0.5 * (low + high);
        double torque = 80 * (1200 - 30 * v) / 200;
        if (30 * torque > 0.45 * v * v + 150)
            low = v;
        else
            high = v;
    }
    assert_near(o.end[0], low, 0.01);
}

static void door_opens_to_its_stop_and_closes(void **state)
{
    (void)state;
    outcome o = run("door-closer", 10);
    double end = 95 * 3.14159265358979323846 / 180;
    assert_true(o.largest[0] > end && o.largest[0] < end + 0.1);
    assert_near(o.end[0], -8 * 30 * 3.14159265358979323846 / 180 / 5e3, 1e-4);
}

/* Sides of the triangle of foot, cylinder and boom; rope and height of the load. */
static void crane_lifts_its_load(void **state)
{
    (void)state;
    outcome o = run("crane", 0);
    double foot = atan2(2, 1.5), a = 2.5, b = 3, c = 3.1;
    double luff = acos((a * a + b * b - c * c) / (2 * a * b)) - foot;
    assert_near(o.end[4], -luff, 1e-6);
    assert_near(o.end[2], 2 + 8 * sin(luff) - 2.5 - 0.5, 1e-2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quarter_car_comes_to_rest),
        cmocka_unit_test(washing_machine_circles_about_its_centre_of_mass),
        cmocka_unit_test(drive_train_reaches_its_top_speed),
        cmocka_unit_test(door_opens_to_its_stop_and_closes),
        cmocka_unit_test(crane_lifts_its_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
