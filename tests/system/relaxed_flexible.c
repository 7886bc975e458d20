/* The scheme relaxed with a flexible rod as one part: modes and absolute coordinates, against the merged system. */
#include <string.h>

#include "test.h"
#include "yoke/model.h"

enum { SAMPLE_MAX = 32 };

/* Position of the slider after 40 steps. */
static double slider(const char *rod, const char *scheme)
{
    char path[512];
    const char *overrides[] = {scheme,
                               "parameters.h=1e-5",
                               "coupling.tolerance=1e-10",
                               "subsystems.bodies.integrator.newton_relative=1e-9",
                               "subsystems.rod.integrator.newton_relative=1e-9",
                               "record.signals=[bodies.slider.position.x, bodies.slider.velocity.x]"};
    snprintf(path, sizeof path, "%s/studies/relaxed/%s.yaml", YOKE_SOURCE_DIR, rod);
    yk_context *context = yk_context_create(NULL);
    yk_diagnostics *diagnostics;
    yk_scenario *scenario;
    yk_system *system;
    yk_scenario_def def = yk_scenario_default();
    def.path = path;
    def.overrides = overrides;
    def.override_count = sizeof overrides / sizeof *overrides;
    assert_int_equal(yk_diagnostics_create(context, &diagnostics), YK_OK);
    if (yk_scenario_load(context, &def, diagnostics, &scenario) != YK_OK) fail_msg("%s", yk_last_message(context));
    if (yk_scenario_system(scenario, &system) != YK_OK) fail_msg("%s", yk_last_message(context));
    if (yk_system_start(system) < 0) fail_msg("%s", yk_last_message(context));
    for (int i = 0; i < 40; i++)
        if (yk_system_step(system, NULL) != YK_OK) fail_msg("%s", yk_last_message(context));
    double sample[SAMPLE_MAX];
    assert_in_range(yk_scenario_get(scenario)->sample_size, 2, SAMPLE_MAX);
    yk_scenario_sample(scenario, sample);
    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    yk_context_destroy(context);
    return sample[0];
}

static void check(const char *rod)
{
    double relaxed = slider(rod, "coupling.scheme=relaxed"), merged = slider(rod, "coupling.scheme=monolithic");
    double jacobi = slider(rod, "coupling={scheme: relaxed, order: jacobi, tolerance: 1e-10, iterations: 60}");
    assert_near(merged, 0.2000960, 1e-6); /* it began with 0.24 m/s at 0.2 m */
    assert_near(relaxed, merged, 1e-12);
    assert_near(jacobi, merged, 1e-12);
}

static void modes(void **state)
{
    (void)state;
    check("floating");
}

static void absolute_coordinates(void **state)
{
    (void)state;
    check("absolute");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(modes), cmocka_unit_test(absolute_coordinates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
