/* The scheme relaxed with a flexible rod as one part: modes and absolute coordinates, against the
 * merged system. */
#include <string.h>

#include "scenario_run.h"

/* Position of the slider after 40 steps. */
static double slider(const char *rod, const char *scheme)
{
    char file[64];
    const char *const overrides[] = {scheme,
                                     "parameters.h=1e-5",
                                     "coupling.relative_tolerance=1e-10",
                                     "subsystems.bodies.integrator.newton_relative_tolerance=1e-9",
                                     "subsystems.rod.integrator.newton_relative_tolerance=1e-9",
                                     "record.channels=[bodies.slider.position.x]",
                                     NULL};
    snprintf(file, sizeof file, "../studies/relaxed/%s.yaml", rod);
    run r = open_run(file, overrides);
    run_to(&r, 4e-4);
    double position = r.sample[0];
    close_run(&r);
    return position;
}

static void check(const char *rod)
{
    double relaxed = slider(rod, "coupling.scheme=relaxed"),
           merged = slider(rod, "coupling.scheme=monolithic");
    double jacobi = slider(
        rod,
        "coupling={scheme: relaxed, sequence: jacobi, relative_tolerance: 1e-10, max_sweeps: 60}");
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

/* Steps of the first 6 ms in which the paper's choices (h = 1e-4 s, beta = 1/h, plain sweeps) do
 * not converge, with one remedy. */
static yk_system_statistics unconverged(const char *remedy)
{
    const char *const overrides[] = {"parameters.h=1e-4",
                                     "parameters.fraction=1",
                                     "coupling.relative_tolerance=1e-10",
                                     "coupling.acceleration=none",
                                     "coupling.max_sweeps=20",
                                     "record.channels=[bodies.slider.position.x]",
                                     remedy,
                                     NULL};
    run r = open_run("../studies/relaxed/absolute.yaml", overrides);
    run_to(&r, 6e-3);
    yk_system_statistics statistics = yk_system_get_statistics(r.system);
    if (statistics.steps_not_converged) {
        assert_non_null(strstr(yk_last_message(r.context), "subsystem '"));
        assert_non_null(
            strstr(yk_last_message(r.context), "smaller stabilisation of its constraints"));
    }
    close_run(&r);
    return statistics;
}

/* Table 2 of the paper has no convergence there; so have we, and each remedy that is named
 * helps. */
static void what_does_not_converge_is_reported_with_remedies_that_help(void **state)
{
    (void)state;
    yk_system_statistics plain = unconverged(NULL);
    assert_in_range(plain.steps_not_converged, 10, 50);
    assert_near(plain.first_not_converged_time, 1e-4, 1e-12);
    assert_in_range(plain.worst_subsystem.index, 0, 1);
    assert_int_equal(unconverged("coupling.acceleration=quasi-newton").steps_not_converged, 0);
    assert_int_equal(unconverged("parameters.fraction=0.1").steps_not_converged, 0);
    assert_int_equal(unconverged("parameters.h=5e-5").steps_not_converged, 0);
    assert_int_equal(unconverged("coupling.max_sweeps=60").steps_not_converged, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes), cmocka_unit_test(absolute_coordinates),
        cmocka_unit_test(what_does_not_converge_is_reported_with_remedies_that_help)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
