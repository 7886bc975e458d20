/* Long runs of small systems: time does not drift, the sides of interfaces stay together, no memory
 * is taken and steps do not become slower.
 *
 * usage: test_long_runs [steps]   macro steps of each system, 20000 where nothing is said; 1e7 on
 * demand. Prints what it measured. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "failing_allocator.h"
#include "load_scenario.h"
#include "test.h"
#include "yoke/scenario.h"

enum { OVERRIDES_MAX = 4, PARTS = 10 };

static int64_t steps = 20000;

typedef struct long_case {
    const char *name, *model;
    const char *overrides[OVERRIDES_MAX];
} long_case;

#define TWO_MASSES "two-mass-oscillator"

static const long_case cases[] = {
    {"explicit", TWO_MASSES, {NULL}},
    {"tight", TWO_MASSES, {"coupling={scheme: tight}"}},
    {"index1", TWO_MASSES, {"coupling={scheme: index1}"}},
    {"rim", TWO_MASSES, {"coupling={scheme: rim}"}},
    {"monolithic", TWO_MASSES, {"coupling={scheme: monolithic}"}},
    /* Steps of 10 ms: 1e7 of them are 28 hours. */
    {"index1, a day",
     TWO_MASSES,
     {"time.step=1e-2", "parameters.stiffness=50", "coupling={scheme: index1}"}},
    {"controller and hydraulics", "servo-cylinder", {NULL}},
    {"pendulum", "pendulum", {NULL}},
    {"a ball that bounces", "bouncing-ball", {NULL}},
};

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void long_runs_stay_as_they_are(void **state)
{
    const long_case *c = *state;
    budget b = {.fails = -1};
    yk_context *context = budget_context(&b);
    yk_scenario *scenario = load_scenario(context, model_file(c->model), NULL, c->overrides);
    yk_system *system = NULL;
    if (yk_scenario_system(scenario, &system) != YK_OK || yk_system_initialize(system) != YK_OK)
        fail_msg("%s: %s", c->name, yk_last_message(context));

    /* Part by part: its time of the processor, the requests for memory up to its end, the largest gap. */
    const yk_scenario_info *info = yk_scenario_get_info(scenario);
    bool merged = info->scheme.ops == yk_scheme_monolithic();
    double seconds[PARTS], gap[PARTS] = {0};
    long requests[PARTS];
    for (int part = 0; part < PARTS; part++) {
        double begun = processor_seconds();
        for (int64_t i = 0; i < steps / PARTS; i++) {
            yk_status status = yk_system_step(system, NULL);
            if (status < 0)
                fail_msg("%s: %s", c->name, yk_last_message(context));
            for (int k = 0; k < info->interface_count && !merged; k++)
                gap[part] =
                    fmax(gap[part], yk_system_interface_gap(system, (yk_interface_id){k}).position);
        }
        seconds[part] = processor_seconds() - begun;
        requests[part] = b.made;
    }

    int64_t made = steps / PARTS * PARTS;
    double expected = info->start + (double)made * info->step;
    double drift = fabs(yk_system_time(system) - expected);
    print_message("%-26s %lld steps, %.3g s simulated: drift of time %.2g s, gap %.2g m in the "
                  "second part and %.2g m in the last, %.3g and %.3g us per step\n",
                  c->name, (long long)made, expected - info->start, drift, gap[1], gap[PARTS - 1],
                  1e6 * seconds[1] * PARTS / (double)made,
                  1e6 * seconds[PARTS - 1] * PARTS / (double)made);

    /* Time to its last digits; gaps no larger than before, up to rounding. */
    assert_true(drift <= 4e-16 * expected);
    assert_true(gap[PARTS - 1] <= 1.1 * gap[1] + 1e-12);
    assert_int_equal(requests[PARTS - 1], requests[PARTS / 2]);
    assert_true(seconds[PARTS - 1] < 3 * seconds[1] + 0.05);

    yk_scenario_destroy(scenario);
    yk_context_destroy(context);
    assert_int_equal(b.open, 0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        steps = (int64_t)atof(argv[1]);
    enum { COUNT = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[COUNT];
    for (int i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){cases[i].name, long_runs_stay_as_they_are, NULL, NULL,
                                       (void *)(uintptr_t)&cases[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
