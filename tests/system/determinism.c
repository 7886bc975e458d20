/* The number of threads does not change a bit: runs with 1, 2, 4 and 16 threads have the same state
 * hash, for all schemes that advance subsystems in parallel and for models with more bodies and
 * contacts than one thread processes at a time. scripts/same-bits compares builds. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "load_scenario.h"
#include "test.h"
#include "yoke/analysis.h"

enum { OVERRIDES_MAX = 6 };

typedef struct run_case {
    const char *name, *model;
    const char *overrides[OVERRIDES_MAX];
} run_case;

#define HEAP "subsystems.world.particles.grains."

static const run_case cases[] = {
    {"explicit, jacobi",
     "hinged-links",
     {"time.end=0.1", "coupling={scheme: explicit, sequence: jacobi, threads: 0}"}},
    {"index1", "link-chain", {"time.end=0.02", "coupling.threads=0"}},
    {"index1, mixed", "split-pendulum", {"time.end=0.1", "coupling={scheme: index1, threads: 0}"}},
    {"relaxed, jacobi",
     "relaxed-slider-crank",
     {"time.step=1e-3", "time.end=0.05",
      "coupling={scheme: relaxed, sequence: jacobi, max_sweeps: 60, threads: 0}"}},
    {"particles, explicit", "cantilever-damper", {"time.end=0.005", "coupling.scheme=explicit"}},
    {"particles, tight", "cantilever-damper", {"time.end=0.002"}},
    {"particles, rim", "cantilever-damper", {"time.end=0.005", "coupling.scheme=rim"}},
    {"spheres",
     "heap",
     {"time.end=0.03", HEAP "count=6000", HEAP "container_size=[18e-3, 18e-3, 0.5]",
      HEAP "position=[0, 0, 0.25]"}},
    {"shapes", "gravel", {"time.end=0.05"}},
    {"impacts", "newton-cradle", {"time.end=0.2"}},
};

static yk_cache *settled; /* where particles came to rest */

static uint64_t hash_with(const run_case *c, int threads)
{
    yk_context_def context_def = yk_context_default();
    context_def.thread_count = threads;
    yk_context *context = yk_context_create(&context_def);
    yk_scenario_def def = describe_scenario(model_file(c->model), NULL, c->overrides);
    def.cache = settled;
    yk_scenario *scenario = load_described(context, &def);

    yk_run_report report;
    yk_status status = yk_run(context, scenario, &(yk_run_options){0}, &report);
    if (YK_FAILED(status))
        fail_msg("%s: %s", c->name, yk_last_message(context));
    yk_scenario_destroy(scenario);
    yk_context_destroy(context);
    return report.state_hash;
}

static void threads_change_no_bit(void **state)
{
    const run_case *c = *state;
    static const int threads[] = {2, 4, 16};
    settled = yk_cache_create();
    uint64_t expected = hash_with(c, 1);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        uint64_t hash = hash_with(c, threads[i]);
        if (hash != expected)
            fail_msg("%s: state %016" PRIx64 " with %d threads, %016" PRIx64 " with one", c->name,
                     hash, threads[i], expected);
    }

    yk_cache_destroy(settled);
}

int main(void)
{
    enum { COUNT = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[COUNT];
    for (int i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){cases[i].name, threads_change_no_bit, NULL, NULL,
                                       (void *)(uintptr_t)&cases[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
