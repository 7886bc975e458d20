/* The scheme relaxed on systems beyond those of the papers: closed loops with redundant joints,
 * universal, prismatic and spherical joints between three and four subsystems, flexible bodies on
 * both sides of an interface, steps shortened by events, a controller inside one part. Each is
 * compared with the merged system. Systems that cannot be merged are rejected with a message that
 * names the remedy. */
#include <stdlib.h>
#include <string.h>

#include "scenario_run.h"

typedef struct general_case {
    const char *name, *file;
    double end, tolerance; /* s; largest difference of a recorded value */
    const char *override;  /* of all runs; NULL: none */
} general_case;

static const general_case cases[] = {
    {"closed loop, redundant joints", "loop", 0.25, 1e-8, NULL},
    {"universal, prismatic, spherical", "chain", 0.3, 1e-8, NULL},
    {"steps cut by events", "chain", 0.1, 1e-7, "time.events=[0.0123456, 0.0501, 0.0907]"},
    {"free rate of stabilisation", "chain", 0.1, 1e-8, "parameters.rate=50"},
    {"flexible on both sides", "flexible", 2e-3, 1e-8, NULL},
    {"motor of the second part under control", "controlled", 0.02, 1e-7, NULL},
};

static const char *const couplings[] = {
    "coupling={scheme: relaxed, relative_tolerance: 1e-11, max_sweeps: 200}",
    ("coupling={scheme: relaxed, sequence: jacobi, relative_tolerance: 1e-11, max_sweeps: 200, "
     "threads: 2}"),
    "coupling={scheme: relaxed, relative_tolerance: 1e-11, max_sweeps: 200, acceleration: none}",
    "coupling={scheme: relaxed, relative_tolerance: 1e-11, max_sweeps: 200, acceleration: aitken}",
};

static run open_case(const char *file, const char *coupling, const char *override)
{
    char path[512];
    const char *const overrides[] = {coupling, override, NULL};
    snprintf(path, sizeof path, "%s/tests/system/relaxed/%s.yaml", YOKE_SOURCE_DIR, file);
    return open_text(path, NULL, overrides);
}

static void agrees_with_the_merged_system(void **state)
{
    const general_case *c = *state;
    run merged = open_case(c->file, "coupling={scheme: monolithic}", c->override);
    run_to(&merged, c->end);
    for (size_t k = 0; k < sizeof couplings / sizeof *couplings; k++) {
        run r = open_case(c->file, couplings[k], c->override);
        run_to(&r, c->end);
        assert_int_equal(yk_system_get_statistics(r.system).steps_not_converged, 0);
        for (int i = 0; i < merged.info->values_per_sample; i++) {
            double difference = fabs(r.sample[i] - merged.sample[i]);
            if (!(difference < c->tolerance))
                print_error("%s, value %d: %g\n", couplings[k], i, difference);
            assert_true(difference < c->tolerance);
        }
        close_run(&r);
    }
    close_run(&merged);
}

/* The message with which a system is refused. */
static void refused(const char *override, const char *const *words)
{
    char path[512];
    const char *const overrides[] = {override, NULL};
    snprintf(path, sizeof path, "%s/tests/system/relaxed/chain.yaml", YOKE_SOURCE_DIR);
    yk_context *context = yk_context_create(NULL);
    yk_scenario *scenario = load_scenario(context, path, NULL, overrides);
    yk_system *system;
    yk_status status = yk_scenario_system(scenario, &system);
    if (status == YK_OK)
        status = yk_system_initialize(system);
    assert_true(YK_FAILED(status));
    for (; *words; words++) {
        if (!strstr(yk_last_message(context), *words))
            print_error("%s\n", yk_last_message(context));
        assert_non_null(strstr(yk_last_message(context), *words));
    }
    yk_scenario_destroy(scenario);
    yk_context_destroy(context);
}

static void what_cannot_be_merged_is_refused(void **state)
{
    (void)state;
    const char *const damping[] = {"'a' and 'c'", "different damping", "give both the same", NULL};
    refused("subsystems.c.startup_damping={rate: 1, full_until: 0, end: 1}", damping);
    const char *const gravity[] = {"'a' and 'd'", "different gravity", "give both the same", NULL};
    refused("subsystems.d.gravity=[0, 0, 0]", gravity);
}

int main(void)
{
    enum { COUNT = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[COUNT + 1];
    for (int i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){cases[i].name, agrees_with_the_merged_system, NULL, NULL,
                                       (void *)(uintptr_t)&cases[i]};
    tests[COUNT] = (struct CMUnitTest)cmocka_unit_test(what_cannot_be_merged_is_refused);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
