/* The servo cylinder (models/servo-cylinder): sampled position control through wires, in every
 * scheme that carries them. */
#include "scenario_run.h"

enum { PLACE, SPEED, FORCE, COMMAND };

/* Between 1 ms and the sampling of the controller the schemes may differ by a millimetre on the
 * way, not at rest. */
static void check(const char *const *overrides)
{
    run r = open_run("servo-cylinder/scenario.yaml", overrides);
    const double *s = r.sample;
    double furthest = 0;
    run_to(&r, 0.2);
    assert_near(s[PLACE], 0.1381, 1e-3);
    while (yk_system_time(r.system) < 0.99 - 1e-9) {
        step(&r);
        furthest = fmax(furthest, s[PLACE]);
    }
    assert_near(s[PLACE], 0.2, 1e-4);
    assert_true(furthest < 0.201);
    run_to(&r, 1.9);
    assert_near(s[PLACE], 0.05, 1e-4);
    assert_near(s[FORCE], 0, 20);
    /* 5 kN against it: the leak past the piston costs 0.03 mm. */
    run_to(&r, 3);
    assert_near(s[PLACE], 0.05, 1e-4);
    assert_near(s[FORCE], 5000, 20);
    assert_true(fabs(s[COMMAND]) < 1e-2);
    close_run(&r);
}

static void explicit_gauss_seidel(void **state)
{
    (void)state;
    check(NULL);
    const char *const fine[] = {"time.step=2e-4", NULL};
    check(fine);
}

static void tight(void **state)
{
    (void)state;
    const char *const overrides[] = {"coupling.scheme=tight", NULL};
    check(overrides);
}

static void rim(void **state)
{
    (void)state;
    const char *const overrides[] = {"coupling.scheme=rim", NULL};
    check(overrides);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(explicit_gauss_seidel),
        cmocka_unit_test(tight),
        cmocka_unit_test(rim),
    };
    return cmocka_run_group_tests_name("servo cylinder", tests, NULL, NULL);
}
