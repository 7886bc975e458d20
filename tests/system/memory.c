/* Memory that systems allocate when they are created and started: every request fails once, for all
 * solvers, integrators and schemes. Each failure is reported, without crashes and without leaks.
 * Steps allocate nothing. */
#include <string.h>

#include "failing_allocator.h"
#include "load_scenario.h"
#include "test.h"
#include "yoke/scenario.h"

enum { OVERRIDES_MAX = 4, FIRST_STEPS = 1, STEPS = 20 };

typedef struct memory_case {
    const char *name, *file;
    const char *overrides[OVERRIDES_MAX];
} memory_case;

#define INTEGRATOR(text) "subsystems.mechanism.integrator={" text "}"
#define CHAIN "tests/system/relaxed/chain.yaml"
#define SPLIT "models/split-pendulum/scenario.yaml"
#define TWO_MASSES "models/two-mass-oscillator/scenario.yaml"
#define SLIDER_CRANK "models/slider-crank/scenario.yaml"

static const memory_case cases[] = {
    {"two-step", SLIDER_CRANK, {NULL}},
    {"generalised-alpha", SLIDER_CRANK, {INTEGRATOR("type: generalized-alpha")}},
    {"generalised-alpha, ode",
     SLIDER_CRANK,
     {INTEGRATOR("type: generalized-alpha, formulation: stabilized-ode")}},
    {"runge-kutta", SLIDER_CRANK, {INTEGRATOR("type: runge-kutta")}},
    {"rod, runge-kutta",
     "models/ancf-slider-crank/scenario.yaml",
     {"time.step=1e-6", INTEGRATOR("type: runge-kutta")}},
    {"monolithic", CHAIN, {"coupling={scheme: monolithic}"}},
    {"relaxed", CHAIN, {"coupling={scheme: relaxed}"}},
    {"relaxed, jacobi", CHAIN, {"coupling={scheme: relaxed, sequence: jacobi, threads: 2}"}},
    {"relaxed, flexible", "studies/relaxed/absolute.yaml", {NULL}},
    {"index1", "models/coupled-pendulum/scenario.yaml", {NULL}},
    {"oscillators, explicit", TWO_MASSES, {NULL}},
    {"oscillators, tight", TWO_MASSES, {"coupling={scheme: tight}"}},
    {"oscillators, loose", TWO_MASSES, {"coupling={scheme: loose}"}},
    {"oscillators, rim", TWO_MASSES, {"coupling={scheme: rim}"}},
    {"oscillators, index1", TWO_MASSES, {"coupling={scheme: index1}"}},
    {"fall back",
     TWO_MASSES,
     {"coupling.on_failure={type: fallback, scheme: tight}", "parameters.right_mass=1.9"}},
    {"halved steps", TWO_MASSES, {"coupling.on_failure={type: halve}"}},
    {"step control", SPLIT, {"time.step_tolerance=1e-4", "coupling={scheme: tight}"}},
    {"two solvers, explicit", SPLIT, {NULL}},
    {"two solvers, rim", SPLIT, {"coupling={scheme: rim}"}},
    {"controller and hydraulics", "models/servo-cylinder/scenario.yaml", {NULL}},
    {"controller and wires", "models/controlled-arm/scenario.yaml", {NULL}},
    {"boxes", "models/box-stack/scenario.yaml", {NULL}},
    {"impacts", "models/newton-cradle/scenario.yaml", {NULL}},
    {"modes of another program", "models/modal-cantilever/scenario.yaml", {NULL}},
    {"beams", "models/cantilever/scenario.yaml", {NULL}},
};

typedef struct outcome {
    yk_status status;
    bool loaded;
    bool contacts; /* steps take memory where there are more of them than ever before */
    uint64_t hash; /* of the last state */
    long at_load, at_start, at_end; /* requests up to there */
} outcome;

/* A run in which one request fails. */
static outcome run_limited(const memory_case *c, long fails)
{
    budget b = {.fails = fails, .once = true};
    char path[512];
    snprintf(path, sizeof path, "%s/%s", YOKE_SOURCE_DIR, c->file);
    yk_context *context = budget_context(&b);
    yk_scenario_def def = describe_scenario(path, NULL, c->overrides);
    yk_diagnostics *diagnostics = NULL;
    yk_scenario *scenario = NULL;
    yk_system *system = NULL;
    outcome end = {.status = yk_diagnostics_create(context, &diagnostics)};
    if (end.status == YK_OK)
        end.status = yk_scenario_load(context, &def, diagnostics, &scenario);
    end.loaded = end.status == YK_OK;
    end.at_load = b.made;
    for (int i = 0; end.loaded && i < yk_scenario_get_info(scenario)->subsystem_count; i++)
        if (strcmp(yk_scenario_get_info(scenario)->subsystem_solvers[i], "nonsmooth") == 0)
            end.contacts = true;
    if (end.status == YK_OK)
        end.status = yk_scenario_system(scenario, &system);
    if (end.status == YK_OK)
        end.status = yk_system_initialize(system);
    end.at_start = b.made;
    /* Sensitivities are made room for when they are first asked for. */
    bool sensitive = end.loaded && yk_scenario_get_info(scenario)->scheme.ops == yk_scheme_index1();
    for (int i = 0; i < STEPS && !YK_FAILED(end.status); i++) {
        end.status = yk_system_step(system, NULL);
        if (i < FIRST_STEPS && sensitive)
            end.at_start = b.made;
    }
    end.at_end = b.made;
    if (!YK_FAILED(end.status))
        yk_system_state_hash(system, &end.hash);
    if (YK_FAILED(end.status) && fails < 0)
        print_error("%s\n", yk_last_message(context));
    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    yk_context_destroy(context);
    if (b.open != 0)
        print_error("%s: %ld blocks are left when request %ld fails\n", c->name, b.open, fails);
    assert_int_equal(b.open, 0);
    return end;
}

static void every_request_may_fail(void **state)
{
    const memory_case *c = *state;
    outcome whole = run_limited(c, -1);
    assert_true(whole.loaded && !YK_FAILED(whole.status));
    assert_true(whole.at_start > whole.at_load);
    if (!whole.contacts)
        assert_int_equal(whole.at_end, whole.at_start); /* stepping takes no memory */
    for (long fails = whole.at_load; fails < whole.at_end; fails++) {
        outcome end = run_limited(c, fails);

        /* Worlds of bodies give back what they do not need; where that fails nothing is lost. */
        if (whole.contacts && !YK_FAILED(end.status) && end.hash == whole.hash)
            continue;
        if (end.status != YK_ERROR_MEMORY)
            print_error("%s: request %ld fails, status %d\n", c->name, fails, end.status);
        assert_int_equal(end.status, YK_ERROR_MEMORY);
    }
}

int main(void)
{
    enum { COUNT = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[COUNT];
    for (int i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){cases[i].name, every_request_may_fail, NULL, NULL,
                                       (void *)(uintptr_t)&cases[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
