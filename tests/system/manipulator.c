/* The hydraulic manipulator (models/manipulator) through its scenario files: in static equilibrium, against an
 * integration that shares nothing with it, and at the block. */
#include <stdlib.h>

#include "test.h"
#include "yoke/model.h"

#include "manipulator_reference.h"

/* Signals in the order of the scenario. */
enum { LENGTH, RATE, FORCE, ACTUATOR_SIZE, OPENING = 2 * ACTUATOR_SIZE, BLOCK = OPENING + 2 };

typedef struct run {
    yk_context *context;
    yk_diagnostics *diagnostics;
    yk_scenario *scenario;
    yk_system *system;
    double step;
    double sample[32];
} run;

static run open_run(const char *file, const char *const *overrides)
{
    run r = {.context = yk_context_create(NULL)};
    char path[512];
    snprintf(path, sizeof path, "%s/models/manipulator/%s", YOKE_SOURCE_DIR, file);
    yk_scenario_def def = yk_scenario_default();
    def.path = path;
    def.overrides = overrides;
    while (overrides && overrides[def.override_count]) def.override_count++;
    assert_int_equal(yk_diagnostics_create(r.context, &r.diagnostics), YK_OK);
    yk_status status = yk_scenario_load(r.context, &def, r.diagnostics, &r.scenario);
    if (status != YK_OK) print_error("%s\n", yk_last_message(r.context));
    assert_int_equal(status, YK_OK);
    assert_in_range(yk_scenario_get(r.scenario)->sample_size, 1, 32);
    r.step = yk_scenario_get(r.scenario)->step;
    assert_int_equal(yk_scenario_system(r.scenario, &r.system), YK_OK);
    assert_true(yk_system_start(r.system) >= 0);
    return r;
}

static void close_run(run *r)
{
    yk_scenario_destroy(r->scenario);
    yk_diagnostics_destroy(r->diagnostics);
    yk_context_destroy(r->context);
}

static void advance(run *r)
{
    yk_status status = yk_system_step(r->system, NULL);
    if (status < 0) print_error("%s\n", yk_last_message(r->context));
    assert_true(status >= 0);
    yk_scenario_sample(r->scenario, r->sample);
}

/* rim 5.2: openings 0.44160 and 0.48711 hold the manipulator where it is. */
static void openings_of_static_equilibrium(void **state)
{
    (void)state;
    reference expected = reference_begin();
    assert_near(expected.kappa[0], 0.44160, 5e-6);
    assert_near(expected.kappa[1], 0.48711, 5e-6);
    const char *const overrides[] = {"time.step=1e-3", NULL};
    run r = open_run("scenario.yaml", overrides);
    for (int i = 0; i < 1000; i++) {
        advance(&r);
        for (int k = 0; k < 2; k++) {
            assert_near(r.sample[OPENING + k], expected.kappa[k], 1e-12);
            assert_near(r.sample[ACTUATOR_SIZE * k + LENGTH], expected.length_start[k], 1e-11);
        }
    }
    close_run(&r);
}

static void compare_before_impact(const char *file)
{
    run r = open_run(file, NULL);
    reference expected = reference_begin();
    int parts = (int)ceil(r.step / 5e-5 - 1e-9);
    double length = 0, force = 0;
    while (expected.t + r.step < 1.86) {
        advance(&r);
        for (int i = 0; i < parts; i++) reference_step(&expected, r.step / parts);
        reference_geometry g = reference_place(expected.y);
        for (int k = 0; k < 2; k++) {
            const double *of = &r.sample[ACTUATOR_SIZE * k];
            length = fmax(length, fabs(of[LENGTH] - g.length[k]));
            force = fmax(force, fabs(of[FORCE] / reference_force(expected.y, k) - 1));
        }
    }
    if (!(length < 1e-6 && force < 1e-3)) print_error("%s: %g m, %g of the force\n", file, length, force);
    assert_true(length < 1e-6 && force < 1e-3);
    close_run(&r);
}

/* The way until then is 7 mm, and the force grows by a fifth. */
static void motion_before_the_impact(void **state)
{
    (void)state;
    compare_before_impact("scenario.yaml");
    compare_before_impact("smooth.yaml");
}

/* The paper's change of the spool stalls at 0.66 kN against the block, which friction holds with 2.45 kN; a larger one
 * pushes it the 0.1 m to the wall, sliding on the ground. */
static void the_block_goes_to_the_wall(void **state)
{
    (void)state;
    const char *const overrides[] = {"time.step=5e-4", "parameters.opening=-0.08", NULL};
    run r = open_run("scenario.yaml", overrides);
    double x = 1.3;
    while (yk_system_time(r.system) < 2.9) {
        advance(&r);
        assert_true(r.sample[BLOCK] > x - 1e-6);
        assert_near(r.sample[BLOCK + 1], 0.1, 1e-5);
        x = r.sample[BLOCK];
    }
    assert_near(x, 1.4, 1e-6);
    close_run(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(openings_of_static_equilibrium),
        cmocka_unit_test(motion_before_the_impact),
        cmocka_unit_test(the_block_goes_to_the_wall),
    };
    return cmocka_run_group_tests_name("manipulator", tests, NULL, NULL);
}
