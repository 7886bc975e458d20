/* A restored state leads to bitwise the same continuation, both in the system that saved it and in
 * another one that has only been started; for every integrator of the solver `multibody` and for
 * the scheme relaxed, whose factors and Jacobians are reused over many steps. The number of threads
 * does not matter. */
#include <stdlib.h>
#include <string.h>

#include "scenario_run.h"

enum { OVERRIDES_MAX = 8 };

typedef struct rollback_case {
    const char *name, *file;
    int steps, more; /* to the mark, and beyond it */
    const char *overrides[OVERRIDES_MAX];
} rollback_case;

#define INTEGRATOR(subsystem, text) "subsystems." subsystem ".integrator={" text "}"
#define MECHANISM(text) INTEGRATOR("mechanism", text)
#define RELAXED "relaxed-slider-crank/scenario.yaml"
#define FLOATING "../studies/relaxed/floating.yaml"
#define ABSOLUTE "../studies/relaxed/absolute.yaml"
#define JACOBI(threads)                                                                       \
    "coupling={scheme: relaxed, sequence: jacobi, relative_tolerance: 1e-7, max_sweeps: 60, " \
    "threads: " #threads "}"

static const rollback_case cases[] = {
    {"two-step", "slider-crank/scenario.yaml", 500, 300, {"time.step=1e-3"}},
    {"generalised-alpha",
     "slider-crank/scenario.yaml",
     500,
     300,
     {"time.step=1e-3", MECHANISM("type: generalized-alpha")}},
    {"generalised-alpha, ode",
     "slider-crank/scenario.yaml",
     500,
     300,
     {"time.step=1e-3", MECHANISM("type: generalized-alpha, formulation: stabilized-ode")}},
    {"runge-kutta",
     "slider-crank/scenario.yaml",
     60,
     40,
     {"time.step=1e-2", MECHANISM("type: runge-kutta, step_tolerance: 1e-9")}},
    {"two-step, redundant joints", "bricard/scenario.yaml", 200, 100, {NULL}},
    {"two-step, pivots that change", "four-bars/scenario.yaml", 5, 3000, {NULL}},
    {"two-step, beams", "flexible-slider-crank/scenario.yaml", 60, 40, {"time.step=2e-3"}},
    {"two-step, modes", "floating-slider-crank/scenario.yaml", 60, 40, {"time.step=1e-3"}},
    {"generalised-alpha, modes",
     "floating-slider-crank/scenario.yaml",
     60,
     40,
     {"time.step=1e-3", MECHANISM("type: generalized-alpha")}},
    {"runge-kutta, modes",
     "floating-slider-crank/scenario.yaml",
     4,
     3,
     {"time.step=1e-3", MECHANISM("type: runge-kutta, step_tolerance: 1e-7")}},
    {"two-step, rod", "ancf-slider-crank/scenario.yaml", 60, 40, {"time.step=5e-4"}},
    {"generalised-alpha, rod, ode",
     "ancf-slider-crank/scenario.yaml",
     60,
     40,
     {"time.step=5e-4", MECHANISM("type: generalized-alpha, formulation: stabilized-ode")}},
    {"index1, parabolas",
     "split-pendulum/scenario.yaml",
     50,
     30,
     {"coupling={scheme: index1, polynomial_degree: 2}",
      "record.channels=[upper.end.position, hinge.force]"}},
    {"monolithic", RELAXED, 300, 200, {"time.step=1e-3", "coupling.scheme=monolithic"}},
    {"relaxed", RELAXED, 300, 200, {"time.step=1e-3"}},
    {"relaxed, loose tolerance",
     RELAXED,
     300,
     200,
     {"time.step=1e-3", "coupling.relative_tolerance=1e-3"}},
    {"relaxed, jacobi", RELAXED, 300, 200, {"time.step=1e-3", JACOBI(1)}},
    {"relaxed, jacobi, two threads", RELAXED, 300, 200, {"time.step=1e-3", JACOBI(2)}},
    {"relaxed, modes", FLOATING, 150, 100, {"parameters.h=5e-5"}},
    {"relaxed, modes, jacobi", FLOATING, 150, 100, {"parameters.h=5e-5", JACOBI(2)}},
    {"relaxed, rod", ABSOLUTE, 60, 40, {"parameters.h=2e-5"}},
    {"relaxed, rod, jacobi", ABSOLUTE, 40, 20, {"parameters.h=2e-5", JACOBI(2)}},
};

typedef struct outcome {
    double *image, *sample;
} outcome;

static outcome go_on(run *r, int steps, size_t words)
{
    for (int i = 0; i < steps; i++)
        step(r);
    outcome end = {test_malloc(words * sizeof(double)), test_malloc(sizeof r->sample)};
    yk_system_get_state(r->system, end.image);
    memcpy(end.sample, r->sample, sizeof r->sample);
    return end;
}

static void check_same(const rollback_case *c, const char *what, const outcome *a, outcome b,
                       size_t words)
{
    size_t first = 0, samples = 0;
    while (first < words && memcmp(&a->image[first], &b.image[first], sizeof *b.image) == 0)
        first++;
    while (samples < RUN_SAMPLE_MAX &&
           memcmp(&a->sample[samples], &b.sample[samples], sizeof *b.sample) == 0)
        samples++;
    test_free(b.image), test_free(b.sample);
    if (first < words || samples < RUN_SAMPLE_MAX)
        fail_msg("%s, %s: word %zu of %zu, sample %zu differ", c->name, what, first, words,
                 samples);
}

static void states_repeat_their_steps(void **state)
{
    const rollback_case *c = *state;
    run r = open_run(c->file, c->overrides), other = open_run(c->file, c->overrides);
    for (int i = 0; i < c->steps; i++)
        step(&r);
    size_t words = yk_system_state_layout(r.system).word_count;
    assert_true(words > 0);
    double *mark = test_malloc(words * sizeof *mark);
    yk_system_get_state(r.system, mark);
    outcome first = go_on(&r, c->more, words);
    assert_int_equal(yk_system_set_state(r.system, mark), YK_OK);
    check_same(c, "restored", &first, go_on(&r, c->more, words), words);
    assert_int_equal(yk_system_set_state(other.system, mark), YK_OK);
    check_same(c, "taken over", &first, go_on(&other, c->more, words), words);
    test_free(mark), test_free(first.image), test_free(first.sample);
    close_run(&r), close_run(&other);
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    static const char *const threads[] = {JACOBI(1), JACOBI(2), JACOBI(4)};
    outcome first = {0};
    size_t words = 0;
    for (int i = 0; i < 3; i++) {
        const char *const overrides[] = {"parameters.h=5e-5", threads[i], NULL};
        run r = open_run(FLOATING, overrides);
        words = yk_system_state_layout(r.system).word_count;
        outcome end = go_on(&r, 100, words);
        if (i == 0)
            first = end;
        else
            check_same(&cases[0], threads[i], &first, end, words);
        close_run(&r);
    }
    test_free(first.image), test_free(first.sample);
}

int main(void)
{
    enum { COUNT = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[COUNT + 1];
    for (int i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){cases[i].name, states_repeat_their_steps, NULL, NULL,
                                       (void *)(uintptr_t)&cases[i]};
    tests[COUNT] = (struct CMUnitTest)cmocka_unit_test(threads_change_no_bit);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
