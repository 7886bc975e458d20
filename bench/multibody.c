/* Time per step of the multibody solver, with its parts for assembly, factorization and solution,
 * compared with MBDyn's time for the same model, step and method (CPU time per step, its best
 * linear solver, on a machine of the same kind). */
#include <math.h>
#include <time.h>

#include "beam_model.h"
#include "bench.h"
#include "models.h"
#include "multibody/multibody.h"

/* CPU time, as MBDyn's figures are: other programs on the machine do not count. */
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Smallest of some samples of the parts of a step: [0] right-hand side, [1] matrix with it, [2]
 * factors, [3] solution.
 */
static void time_parts(yk_multibody *smooth, double part[4])
{
    const yk_multibody_model *model = &smooth->model;
    yk_multibody_workspace *work = &smooth->work;
    yk_linear_solver *solver = &smooth->solver;
    int rounds = 1 + 2000 / model->unknown_count;
    for (int k = 0; k < 4; k++)
        part[k] = 1e9;

    for (int sample = 0; sample < 5; sample++) {
        double at[5];
        at[0] = seconds();
        for (int i = 0; i < rounds; i++)
            yk_multibody_assemble(model, work, NULL, LEVEL_STEP);
        at[1] = seconds();
        for (int i = 0; i < rounds; i++)
            yk_multibody_assemble(model, work, solver, LEVEL_STEP);
        at[2] = seconds();
        for (int i = 0; i < rounds; i++)
            yk_sparse_refactor(solver->matrix, NULL);
        at[3] = seconds();
        for (int i = 0; i < rounds; i++)
            yk_multibody_solve(model, solver, work->right);
        at[4] = seconds();
        for (int k = 0; k < 4; k++)
            part[k] = fmin(part[k], (at[k + 1] - at[k]) / rounds);
    }
}

/* Runs the model from its start in each sample; returns the smallest time per step in seconds. */
static double run_model(bench *run, const yk_multibody_description *def, double h, int steps)
{
    yk_multibody *model = NULL;
    double least = 1e9;
    if (!bench_check(run, yk_multibody_make(bench_context(run), def, &model)))
        return least;
    while (bench_repeat(run)) {
        if (!bench_check(run, yk_multibody_start(model, 0, h)))
            break;
        double began = seconds();
        bench_start(run);
        yk_status status = YK_OK;
        for (int i = 0; i < steps && !YK_FAILED(status); i++)
            status = yk_multibody_step(model, i * h, h);
        bench_stop(run, steps);
        least = fmin(least, (seconds() - began) / steps);
        if (!bench_check(run, status))
            break;
    }
    yk_multibody_report report;
    yk_multibody_report_get(model, &report);
    double iterations = (double)report.iterations / (double)report.steps;
    double factorisations = (double)report.factorisations / (double)report.steps;
    double part[4];
    time_parts(model, part);
    double assembly = (iterations - factorisations) * part[0] + factorisations * part[1];
    bench_note(run, "iterations", iterations);
    bench_note(run, "factorisations", factorisations);
    bench_note(run, "assembly-share", assembly / least);
    bench_note(run, "factor-share", factorisations * part[2] / least);
    bench_note(run, "solve-share", iterations * part[3] / least);
    yk_multibody_destroy(model);
    return least;
}

static void beside_mbdyn(bench *run, double per_step, double mbdyn_us)
{
    bench_note(run, "MBDyn-us", mbdyn_us);
    bench_note(run, "times-faster", 1e-6 * mbdyn_us / per_step);
}

static void slider_crank(bench *run)
{
    model_kit kit;
    kit_slider_crank(&kit);
    beside_mbdyn(run, run_model(run, kit_def(&kit), 1e-3, 5000), 22);
    kit_close(&kit);
}

static void double_pendulum(bench *run)
{
    model_kit kit;
    kit_double_pendulum(&kit);
    beside_mbdyn(run, run_model(run, kit_def(&kit), 1e-3, 5000), 12.5);
    kit_close(&kit);
}

static double shaker(void *user, double t)
{
    (void)user;
    return 0.25 * sin(2 * YK_PI * 15.5 * t);
}

static void cantilever(bench *run)
{
    beam_model_def *m = tight_cantilever(10);
    beam_model_force(m, YK_FORCE_FORCE, m->def.node_count - 1, yk_v3(0, 1, 0))->load.evaluate =
        shaker;
    beside_mbdyn(run, run_model(run, &m->def, 1e-4, 2000), 122);
}

static void flexible_crank(bench *run)
{
    int slider, crank, middle;
    beam_model_def *m = flexible_slider_crank(5, &slider, &crank, &middle);
    beside_mbdyn(run, run_model(run, &m->def, 1e-3, 1000), 89);
}

/* Zhou et al. 2022, table 2: the flexible rods compared with the rigid one at the same step, which
 * resolves their vibrations. */
static const double TABLE_STEP = 1e-4;

static void crank_by(bench *run, yk_multibody_integrator method, yk_multibody_formulation form)
{
    model_kit kit;
    kit_slider_crank(&kit);
    kit_def(&kit);
    kit.def.options.integrator = method;
    kit.def.options.formulation = form;
    run_model(run, &kit.def, TABLE_STEP, 5000);
    kit_close(&kit);
}

static void rigid_crank(bench *run)
{
    crank_by(run, YK_MULTIBODY_TWO_STEP, YK_MULTIBODY_FORMULATION_INDEX_3);
}

static void alpha_dae(bench *run)
{
    crank_by(run, YK_MULTIBODY_GENERALIZED_ALPHA, YK_MULTIBODY_FORMULATION_INDEX_3);
}

static void alpha_ode(bench *run)
{
    crank_by(run, YK_MULTIBODY_GENERALIZED_ALPHA, YK_MULTIBODY_FORMULATION_STABILIZED_ODE);
}

static void runge_kutta(bench *run)
{
    crank_by(run, YK_MULTIBODY_RUNGE_KUTTA, YK_MULTIBODY_FORMULATION_INDEX_3);
}

static void rod_crank(bench *run, bool modal)
{
    model_kit kit;
    if (!bench_check(run, kit_flexible_slider_crank(&kit, bench_context(run), modal)))
        return;
    run_model(run, kit_def(&kit), TABLE_STEP, 5000);
    yk_flexible_release((yk_flexible *)(uintptr_t)kit.flexible.body);
    kit_close(&kit);
}

static void modal_crank(bench *run)
{
    rod_crank(run, true);
}

static void ancf_crank(bench *run)
{
    rod_crank(run, false);
}

/* One element: loads, or loads and Jacobian. */
static void beam_element(bench *run, bool with_jacobian)
{
    beam_model_def *m = tight_cantilever(1);
    yk_beam_def def = yk_beam_straight(yk_v3(0, 0, 0), yk_v3(0.25, 0, 0), yk_v3(0, 1, 0),
                                       &m->beams[0].sections[0]);
    yk_beam beam;
    if (!bench_check(run, yk_beam_create(bench_context(run), &def, &beam)))
        return;
    yk_frame frame[YK_BEAM_NODE_COUNT];
    const yk_frame *const node[YK_BEAM_NODE_COUNT] = {&frame[0], &frame[1], &frame[2]};
    for (int i = 0; i < YK_BEAM_NODE_COUNT; i++)
        frame[i] = (yk_frame){.position = yk_v3(0.125 * i, 0.002 * i * i, 0),
                              .rotation = yk_so3_exp_matrix(yk_v3(0.01 * i, 0, 0.03 * i))};
    yk_beam_loads loads;
    yk_beam_jacobian jacobian;
    while (bench_repeat(run)) {
        bench_start(run);
        for (int i = 0; i < 10000; i++) {
            yk_beam_evaluate(&beam, node, &loads, with_jacobian ? &jacobian : NULL);
            bench_keep(&loads);
        }
        bench_stop(run, 10000);
    }
}

static void beam_loads(bench *run)
{
    beam_element(run, false);
}

static void beam_jacobian(bench *run)
{
    beam_element(run, true);
}

static double chain(bench *run, int links, yk_joint_kind kind, double mbdyn_us)
{
    model_kit kit;
    kit_chain(&kit, links, kind);
    int steps = links <= 100 ? 1000 : 50;
    double per_step = run_model(run, kit_def(&kit), 1e-3, steps);
    if (mbdyn_us > 0)
        beside_mbdyn(run, per_step, mbdyn_us);
    kit_close(&kit);
    return per_step;
}

/* Smallest CPU time of a step over the first 50, the same span of motion for chains of all
 * lengths. */
static double first_steps(bench *run, int links, yk_joint_kind kind)
{
    enum { STEPS = 50, SAMPLES = 5 };
    model_kit kit;
    kit_chain(&kit, links, kind);
    yk_multibody *model = NULL;
    double least = 1e9, h = 1e-3;
    bool good = bench_check(run, yk_multibody_make(bench_context(run), kit_def(&kit), &model));
    for (int sample = 0; sample < SAMPLES && good; sample++) {
        good = bench_check(run, yk_multibody_start(model, 0, h));
        double began = seconds();
        for (int i = 0; i < STEPS && good; i++)
            good = bench_check(run, yk_multibody_step(model, i * h, h));
        least = fmin(least, (seconds() - began) / STEPS);
    }
    yk_multibody_destroy(model);
    kit_close(&kit);
    return least;
}

/* Exponents of the growth with the number of links: from 10 of them, and from a tenth. The last
 * decade reflects the processor's caches, and a motion that is harder to solve because more mass
 * pulls at the pin. */
static void long_chain(bench *run, int links, yk_joint_kind kind)
{
    double ten = first_steps(run, 10, kind), tenth = first_steps(run, links / 10, kind);
    double per_step = chain(run, links, kind, 0);
    bench_note(run, "growth-exponent", log10(per_step / ten) / log10(links / 10.0));
    bench_note(run, "growth-last-decade", log10(per_step / tenth));
}

static void revolute_10(bench *run)
{
    chain(run, 10, YK_JOINT_REVOLUTE, 78);
}

static void revolute_40(bench *run)
{
    chain(run, 40, YK_JOINT_REVOLUTE, 365);
}

static void revolute_100(bench *run)
{
    chain(run, 100, YK_JOINT_REVOLUTE, 1122);
}

static void revolute_1000(bench *run)
{
    long_chain(run, 1000, YK_JOINT_REVOLUTE);
}

static void revolute_10000(bench *run)
{
    long_chain(run, 10000, YK_JOINT_REVOLUTE);
}

static void spherical_10(bench *run)
{
    chain(run, 10, YK_JOINT_SPHERICAL, 44);
}

static void spherical_40(bench *run)
{
    chain(run, 40, YK_JOINT_SPHERICAL, 182);
}

static void spherical_100(bench *run)
{
    chain(run, 100, YK_JOINT_SPHERICAL, 630);
}

static void spherical_1000(bench *run)
{
    long_chain(run, 1000, YK_JOINT_SPHERICAL);
}

static void spherical_10000(bench *run)
{
    long_chain(run, 10000, YK_JOINT_SPHERICAL);
}

/* The start of a model with many redundant loops, without the compilation of the model. */
static void start_loops(bench *run, void (*make_kit)(model_kit *, int), int loops)
{
    model_kit kit;
    yk_multibody *model = NULL;
    make_kit(&kit, loops);
    if (!bench_check(run, yk_multibody_make(bench_context(run), kit_def(&kit), &model)) ||
        !bench_check(run, yk_multibody_start(model, 0, 1e-3))) {
        kit_close(&kit);
        return;
    }

    while (bench_repeat(run)) {
        bench_start(run);
        yk_status status = yk_multibody_start(model, 0, 1e-3);
        bench_stop(run, loops);
        if (!bench_check(run, status))
            break;
    }

    yk_multibody_report report;
    yk_multibody_report_get(model, &report);
    bench_note(run, "redundant", report.redundant);
    yk_multibody_destroy(model);
    kit_close(&kit);
}

static void start_rows_100(bench *run)
{
    start_loops(run, kit_four_bars, 100);
}

static void start_rows_1000(bench *run)
{
    start_loops(run, kit_four_bars, 1000);
}

static void start_separate_1000(bench *run)
{
    start_loops(run, kit_separate_four_bars, 1000);
}

static void start_hanging_1000(bench *run)
{
    start_loops(run, kit_hanging_four_bars, 1000);
}

const bench_case bench_smooth[] = {
    {.name = "multibody/slider-crank", .unit = "step", .run = slider_crank},
    {.name = "multibody/double-pendulum", .unit = "step", .run = double_pendulum},
    {.name = "multibody/cantilever-21", .unit = "step", .run = cantilever},
    {.name = "multibody/flexible-slider-crank", .unit = "step", .run = flexible_crank},
    {.name = "multibody/rigid-rod", .unit = "step", .run = rigid_crank},
    {.name = "multibody/modal-rod",
     .unit = "step",
     .run = modal_crank,
     .relative_to = "multibody/rigid-rod"},
    {.name = "multibody/ancf-rod",
     .unit = "step",
     .run = ancf_crank,
     .relative_to = "multibody/rigid-rod"},
    {.name = "multibody/rigid-rod-alpha-dae",
     .unit = "step",
     .run = alpha_dae,
     .relative_to = "multibody/rigid-rod"},
    {.name = "multibody/rigid-rod-alpha-ode",
     .unit = "step",
     .run = alpha_ode,
     .relative_to = "multibody/rigid-rod"},
    {.name = "multibody/rigid-rod-runge-kutta",
     .unit = "step",
     .run = runge_kutta,
     .relative_to = "multibody/rigid-rod"},
    {.name = "multibody/beam-loads", .unit = "beam", .run = beam_loads},
    {.name = "multibody/beam-jacobian",
     .unit = "beam",
     .run = beam_jacobian,
     .relative_to = "multibody/beam-loads"},
    {.name = "multibody/revolute-chain-10", .unit = "step", .run = revolute_10},
    {.name = "multibody/revolute-chain-40",
     .unit = "step",
     .run = revolute_40,
     .relative_to = "multibody/revolute-chain-10"},
    {.name = "multibody/revolute-chain-100",
     .unit = "step",
     .run = revolute_100,
     .relative_to = "multibody/revolute-chain-10"},
    {.name = "multibody/revolute-chain-1000",
     .unit = "step",
     .run = revolute_1000,
     .relative_to = "multibody/revolute-chain-10",
     .slow = true},
    {.name = "multibody/revolute-chain-10000",
     .unit = "step",
     .run = revolute_10000,
     .relative_to = "multibody/revolute-chain-10",
     .slow = true},
    {.name = "multibody/start-loops-100", .unit = "loop", .run = start_rows_100},
    {.name = "multibody/start-loops-1000",
     .unit = "loop",
     .run = start_rows_1000,
     .relative_to = "multibody/start-loops-100"},
    {.name = "multibody/start-separate-loops-1000",
     .unit = "loop",
     .run = start_separate_1000,
     .relative_to = "multibody/start-loops-100"},
    {.name = "multibody/start-hanging-loops-1000",
     .unit = "loop",
     .run = start_hanging_1000,
     .relative_to = "multibody/start-loops-100"},
    {.name = "multibody/spherical-chain-10", .unit = "step", .run = spherical_10},
    {.name = "multibody/spherical-chain-40",
     .unit = "step",
     .run = spherical_40,
     .relative_to = "multibody/spherical-chain-10"},
    {.name = "multibody/spherical-chain-100",
     .unit = "step",
     .run = spherical_100,
     .relative_to = "multibody/spherical-chain-10"},
    {.name = "multibody/spherical-chain-1000",
     .unit = "step",
     .run = spherical_1000,
     .relative_to = "multibody/spherical-chain-10",
     .slow = true},
    {.name = "multibody/spherical-chain-10000",
     .unit = "step",
     .run = spherical_10000,
     .relative_to = "multibody/spherical-chain-10",
     .slow = true},
    {0},
};
