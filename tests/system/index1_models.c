/* The scheme index1 on typical splits: mechanisms with contact and with large mass ratios. Every
 * step converges in few iterations. */
#include <stdlib.h>

#include "scenario_run.h"

typedef struct model_case {
    const char *file;
    double iterations; /* per step in the mean, at most */
} model_case;

static const model_case cases[] = {
    {"half-car", 5},
    {"wheels", 8},
    {"heavy-end", 12},
};

static void every_step_converges(void **state)
{
    const model_case *c = *state;
    char path[512];
    snprintf(path, sizeof path, "%s/tests/system/index1/%s.yaml", YOKE_SOURCE_DIR, c->file);
    run r = open_text(path, NULL, NULL);
    run_to(&r, r.info->end);
    yk_system_statistics s = yk_system_get_statistics(r.system);
    assert_int_equal(s.steps_not_converged, 0);
    double iterations = (double)s.iterations / (double)s.steps;
    if (iterations > c->iterations)
        fail_msg("%s: %g iterations per step", c->file, iterations);
    close_run(&r);
}

/* The positions of a run that ends at 0.5 s, relative to its pin. */
static void final_positions(const char *away, const char *step, double positions[6])
{
    char pin[64], size[64], path[512];
    snprintf(pin, sizeof pin, "parameters.away=%s", away);
    snprintf(size, sizeof size, "time.step=%s", step);
    snprintf(path, sizeof path, "%s/tests/system/index1/far-from-origin.yaml", YOKE_SOURCE_DIR);
    const char *const overrides[] = {pin, size, NULL};
    run r = open_text(path, NULL, overrides);
    run_to(&r, r.info->end);
    for (int i = 0; i < 6; i++)
        positions[i] = r.sample[i] - (i % 3 < 2 ? atof(away) : 0);
    close_run(&r);
}

/* Positions of 2e4 m have rounding errors of 4e-12 m. */
static void joints_hold_far_from_the_origin(void **state)
{
    (void)state;
    static const char *const steps[] = {"1e-2", "4e-3", "2e-3", "1e-3", "5e-4"};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        double near[6], far[6];
        final_positions("0", steps[i], near);
        final_positions("2e4", steps[i], far);
        for (int k = 0; k < 6; k++)
            assert_near(far[k], near[k], 1e-6);
    }
}

int main(void)
{
    enum { COUNT = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[COUNT + 1] = {
        [COUNT] = cmocka_unit_test(joints_hold_far_from_the_origin),
    };
    for (int i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){cases[i].file, every_step_converges, NULL, NULL,
                                       (void *)(uintptr_t)&cases[i]};
    return cmocka_run_group_tests_name("models under index1", tests, NULL, NULL);
}
