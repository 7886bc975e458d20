/* Schemes with many subsystems: CPU time of a macro step of chains, rings, trees, stars and grids
 * against the number of parts, and the exponent of its growth. All start at rest. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"
#include "system/graphs.h"
#include "yoke/scenario.h"

enum { SIZES_MAX = 6, WARM_STEPS = 5, STEPS = 10 };

typedef struct scale_case {
    const char *coupling;
    graph_kind kind;
    int sizes[SIZES_MAX]; /* ended by 0 */
    double mass_ratio;    /* of neighboring parts */
} scale_case;

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct scaled_run {
    double cpu;        /* s per macro step */
    double iterations; /* per macro step */
    double failed;     /* Fraction of the steps that did not converge. */
} scaled_run;

static bool step_system(bench *run, yk_system *system, int count)
{
    for (int i = 0; i < count; i++)
        if (!bench_check(run, yk_system_step(system, NULL)))
            return false;
    return true;
}

/* After the steps of the start, in which factors and Jacobians are computed. */
static bool measure_system(bench *run, yk_system *system, scaled_run *result)
{
    if (!bench_check(run, yk_system_initialize(system)) || !step_system(run, system, WARM_STEPS))
        return false;
    yk_system_statistics before = yk_system_get_statistics(system);
    double begin = cpu_seconds();
    if (!step_system(run, system, STEPS))
        return false;
    result->cpu = (cpu_seconds() - begin) / STEPS;
    yk_system_statistics now = yk_system_get_statistics(system);
    result->iterations = (double)(now.iterations - before.iterations) / STEPS;
    result->failed = (double)(now.steps_not_converged - before.steps_not_converged) / STEPS;
    return true;
}

static bool measure_graph(bench *run, const graph_def *def, scaled_run *result)
{
    char *text = graph_text(def);
    yk_context *context = bench_context(run);
    yk_diagnostics *diagnostics = NULL;
    yk_scenario *scenario = NULL;
    yk_system *system = NULL;
    yk_scenario_def source = yk_scenario_default();
    source.path = "scale.yaml";
    source.text = text;
    bool good = text && bench_check(run, yk_diagnostics_create(context, &diagnostics)) &&
                bench_check(run, yk_scenario_load(context, &source, diagnostics, &scenario)) &&
                bench_check(run, yk_scenario_system(scenario, &system)) &&
                measure_system(run, system, result);
    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    free(text);
    return good;
}

/* Slope of the least-squares line through the logarithms. */
static double fit_exponent(const int *sizes, const double *seconds, int count)
{
    double x_mean = 0, y_mean = 0, covariance = 0, variance = 0;
    for (int i = 0; i < count; i++) {
        x_mean += log(sizes[i]) / count;
        y_mean += log(seconds[i]) / count;
    }
    for (int i = 0; i < count; i++) {
        double x = log(sizes[i]) - x_mean;
        covariance += x * (log(seconds[i]) - y_mean);
        variance += x * x;
    }
    return covariance / variance;
}

static void measure_sizes(bench *run, const scale_case *which)
{
    int count = 0;
    double seconds[SIZES_MAX];
    static char names[3][SIZES_MAX][32];
    for (; count < SIZES_MAX && which->sizes[count] > 0; count++)
        seconds[count] = INFINITY;

    while (bench_repeat(run)) {
        double per_part = 0;
        for (int i = 0; i < count; i++) {
            graph_def def = {which->kind, which->sizes[i], which->mass_ratio, which->coupling,
                             1e-3};
            scaled_run result;
            if (!measure_graph(run, &def, &result))
                return;
            seconds[i] = fmin(seconds[i], result.cpu);
            snprintf(names[0][i], sizeof names[0][i], "us at %d", def.parts);
            snprintf(names[1][i], sizeof names[1][i], "iterations at %d", def.parts);
            snprintf(names[2][i], sizeof names[2][i], "not converged at %d", def.parts);
            bench_note(run, names[0][i], 1e6 * seconds[i]);
            if (result.iterations > 1)
                bench_note(run, names[1][i], result.iterations);
            if (result.failed > 0)
                bench_note(run, names[2][i], result.failed);
            per_part = seconds[i] / def.parts;
        }
        bench_sample(run, 1e9 * per_part);
    }
    bench_note(run, "exponent", fit_exponent(which->sizes, seconds, count));
}

static void explicit_chain(bench *run)
{
    static const scale_case which = {
        "{scheme: explicit, exchange: auto}", GRAPH_CHAIN, {10, 30, 100, 300, 1000}, 1};
    measure_sizes(run, &which);
}

/* The start and the length of the file take longer than the steps. */
static void explicit_long_chain(bench *run)
{
    static const scale_case which = {
        "{scheme: explicit, exchange: auto}", GRAPH_CHAIN, {1000, 3000, 10000}, 1};
    measure_sizes(run, &which);
}

static void explicit_tree(bench *run)
{
    static const scale_case which = {
        "{scheme: explicit, exchange: auto}", GRAPH_TREE, {10, 30, 100, 300, 1000}, 100};
    measure_sizes(run, &which);
}

static void explicit_star(bench *run)
{
    static const scale_case which = {
        "{scheme: explicit, exchange: auto}", GRAPH_STAR, {10, 30, 100}, 100};
    measure_sizes(run, &which);
}

static void tight_tree(bench *run)
{
    static const scale_case which = {"{scheme: tight}", GRAPH_TREE, {10, 30, 100, 300, 1000}, 100};
    measure_sizes(run, &which);
}

static void tight_grid(bench *run)
{
    static const scale_case which = {"{scheme: tight}", GRAPH_GRID, {9, 36, 100, 324, 1024}, 100};
    measure_sizes(run, &which);
}

static void index1_ring(bench *run)
{
    static const scale_case which = {"{scheme: index1}", GRAPH_RING, {10, 30, 100, 300, 1000}, 100};
    measure_sizes(run, &which);
}

static void index1_tree(bench *run)
{
    static const scale_case which = {"{scheme: index1}", GRAPH_TREE, {10, 30, 100, 300, 1000}, 100};
    measure_sizes(run, &which);
}

static void tight_chain(bench *run)
{
    static const scale_case which = {"{scheme: tight}", GRAPH_CHAIN, {10, 30, 100, 300, 1000}, 1};
    measure_sizes(run, &which);
}

static void index1_chain(bench *run)
{
    static const scale_case which = {"{scheme: index1}", GRAPH_CHAIN, {10, 30, 100, 300, 1000}, 1};
    measure_sizes(run, &which);
}

static void monolithic_chain(bench *run)
{
    static const scale_case which = {
        "{scheme: monolithic}", GRAPH_CHAIN, {10, 30, 100, 300, 1000}, 1};
    measure_sizes(run, &which);
}

#define UNIT .unit = "part and step, largest size", .slow = true

const bench_case bench_scale[] = {
    {.name = "scale/explicit chain", UNIT, .run = explicit_chain},
    {.name = "scale/explicit long chain", UNIT, .run = explicit_long_chain},
    {.name = "scale/explicit tree 1:100", UNIT, .run = explicit_tree},
    {.name = "scale/explicit star 1:100", UNIT, .run = explicit_star},
    {.name = "scale/tight chain", UNIT, .run = tight_chain},
    {.name = "scale/tight tree 1:100", UNIT, .run = tight_tree},
    {.name = "scale/tight grid 1:100", UNIT, .run = tight_grid},
    {.name = "scale/index1 chain", UNIT, .run = index1_chain},
    {.name = "scale/index1 ring 1:100", UNIT, .run = index1_ring},
    {.name = "scale/index1 tree 1:100", UNIT, .run = index1_tree},
    {.name = "scale/monolithic chain", UNIT, .run = monolithic_chain},
    {0},
};
