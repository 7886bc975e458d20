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

int main(void)
{
    enum { COUNT = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[COUNT];
    for (int i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){cases[i].file, every_step_converges, NULL, NULL,
                                       (void *)(uintptr_t)&cases[i]};
    return cmocka_run_group_tests_name("models under index1", tests, NULL, NULL);
}
