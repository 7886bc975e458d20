/* Schemes with many subsystems: chains, rings, trees, stars and grids. The joints hold, and the
 * number of iterations does not grow with the number of subsystems. */
#include <math.h>
#include <stdlib.h>

#include "graphs.h"
#include "load_scenario.h"

typedef struct growth_case {
    graph_kind kind;
    int parts;
    double mass_ratio;
    const char *coupling;
    double gap;        /* Largest gap after the steps (m). */
    double iterations; /* Largest mean number per step. */
} growth_case;

enum { STEPS = 6 };
static const double STEP = 1e-3; /* s */

static double largest_gap(const yk_system *system)
{
    double largest = 0;
    for (int i = 0; i < yk_system_interface_count(system); i++)
        largest = fmax(largest, yk_system_interface_gap(system, (yk_interface_id){i}).position);
    return largest;
}

static void run_case(const growth_case *c)
{
    graph_def def = {c->kind, c->parts, c->mass_ratio, c->coupling, STEP};
    char *text = graph_text(&def);
    assert_non_null(text);
    yk_context *context = yk_context_create(NULL);
    yk_scenario *scenario = load_scenario(context, "growth.yaml", text, NULL);
    yk_system *system = NULL;
    assert_int_equal(yk_scenario_system(scenario, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);

    /* The first step has no history. */
    yk_status worst = yk_system_step(system, NULL);
    int64_t first = yk_system_get_statistics(system).iterations;
    for (int i = 1; i < STEPS && worst == YK_OK; i++)
        worst = yk_system_step(system, NULL);
    int64_t later = yk_system_get_statistics(system).iterations - first;
    double iterations = (double)later / (STEPS - 1);
    double gap = largest_gap(system);
    if (worst != YK_OK || !(gap < c->gap) || !(iterations <= c->iterations))
        print_error("%s of %d under %s, masses 1:%g: status %d, gap %g m, %g iterations\n",
                    graph_names[c->kind], c->parts, c->coupling, c->mass_ratio, worst, gap,
                    iterations);
    assert_int_equal(worst, YK_OK);
    assert_true(gap < c->gap);
    assert_true(iterations <= c->iterations);

    yk_scenario_destroy(scenario);
    yk_context_destroy(context);
    free(text);
}

static void run_cases(const growth_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        run_case(&cases[i]);
}

static void index1_holds_the_joints(void **state)
{
    (void)state;
    static const growth_case cases[] = {
        {GRAPH_CHAIN, 10, 1, "{scheme: index1}", 1e-12, 6},
        {GRAPH_CHAIN, 300, 1, "{scheme: index1}", 1e-11, 6},
        {GRAPH_RING, 100, 1, "{scheme: index1}", 1e-11, 6},
        {GRAPH_TREE, 100, 100, "{scheme: index1}", 1e-11, 6},
        {GRAPH_STAR, 20, 1, "{scheme: index1}", 1e-11, 6},
    };
    run_cases(cases, sizeof cases / sizeof *cases);
}

static void explicit_holds_the_joints(void **state)
{
    (void)state;
    static const growth_case cases[] = {
        {GRAPH_CHAIN, 1500, 1, "{scheme: explicit}", 1e-7, 1},
        {GRAPH_RING, 100, 0.01, "{scheme: explicit}", 1e-7, 1},
        {GRAPH_TREE, 100, 100, "{scheme: explicit}", 1e-7, 1},
        {GRAPH_GRID, 25, 1, "{scheme: explicit}", 1e-7, 1},
    };
    run_cases(cases, sizeof cases / sizeof *cases);
}

static void tight_iterates_few_times(void **state)
{
    (void)state;
    static const growth_case cases[] = {
        {GRAPH_CHAIN, 30, 1, "{scheme: tight}", 1e-10, 6},
        {GRAPH_CHAIN, 100, 100, "{scheme: tight}", 1e-10, 6},
        {GRAPH_CHAIN, 100, 0.01, "{scheme: tight}", 1e-10, 6},
        {GRAPH_CHAIN, 1000, 1, "{scheme: tight}", 1e-10, 6},
        {GRAPH_TREE, 255, 1, "{scheme: tight}", 1e-10, 6},
        {GRAPH_TREE, 255, 100, "{scheme: tight}", 1e-10, 6},
        {GRAPH_GRID, 100, 1, "{scheme: tight}", 1e-10, 6},
        {GRAPH_GRID, 100, 100, "{scheme: tight}", 1e-10, 6},
    };
    run_cases(cases, sizeof cases / sizeof *cases);
}

static void step_times(yk_system *system, int count)
{
    for (int i = 0; i < count; i++)
        assert_int_equal(yk_system_step(system, NULL), YK_OK);
}

/* The responses are part of the state: a repetition from an image gives the same bits. */
static void tight_repeats_from_its_state(void **state)
{
    (void)state;
    graph_def def = {GRAPH_CHAIN, 30, 3, "{scheme: tight}", STEP};
    char *text = graph_text(&def);
    assert_non_null(text);
    yk_context *context = yk_context_create(NULL);
    yk_scenario *scenario = load_scenario(context, "growth.yaml", text, NULL);
    yk_system *system = NULL;
    assert_int_equal(yk_scenario_system(scenario, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);

    size_t words = yk_system_state_layout(system).word_count;
    double *images[3];
    for (int i = 0; i < 3; i++)
        assert_non_null(images[i] = calloc(words, sizeof(double)));
    step_times(system, STEPS);
    assert_int_equal(yk_system_get_state(system, images[0]), YK_OK);
    step_times(system, STEPS);
    assert_int_equal(yk_system_get_state(system, images[1]), YK_OK);
    assert_int_equal(yk_system_set_state(system, images[0]), YK_OK);
    step_times(system, STEPS);
    assert_int_equal(yk_system_get_state(system, images[2]), YK_OK);
    assert_memory_equal(images[1], images[2], words * sizeof(double));

    for (int i = 0; i < 3; i++)
        free(images[i]);
    yk_scenario_destroy(scenario);
    yk_context_destroy(context);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(index1_holds_the_joints),
        cmocka_unit_test(explicit_holds_the_joints),
        cmocka_unit_test(tight_iterates_few_times),
        cmocka_unit_test(tight_repeats_from_its_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
