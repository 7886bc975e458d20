/* The solvers of networks.
 *
 * Gauss-Seidel works off the plan: colour after colour, the blocks of a colour by all threads, then the joints. The
 * threads stay together for the whole solution and wait for each other at a spinning barrier between colours; who does
 * which block does not matter for the result.
 *
 * The accurate method and the projected gradient run on the assembled problem. */
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "contact/network_data.h"

static double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Phases in parallel ----------------------------------------------------------------------------------------------- */

typedef enum task { TASK_CLEAR, TASK_APPLY, TASK_SWEEP, TASK_RESIDUAL, TASK_DIAGONAL } task;

typedef struct crew {
    yk_network *network;
    const yk_contact_options *options;
    task task;
    int repeats;
    double rho;
    int members;
    atomic_int arrived;
    atomic_uint phase;
    atomic_size_t next; /* block of the colour that is worked on */
} crew;

static void work_block(crew *c, size_t index)
{
    yk_network *network = c->network;
    const block *b = &network->blocks[index];
    const yk_contact_options *options = c->options;
    double *partial = network->partials + 3 * index;
    switch (c->task) {
    case TASK_CLEAR:
        yk_round_clear(network, b);
        yk_general_clear(network, b);
        break;
    case TASK_APPLY:
        yk_round_apply(network, b);
        yk_general_apply(network, b);
        break;
    case TASK_SWEEP: {
        round_options how = {.coulomb = options->friction == YK_FRICTION_COULOMB,
                             .baseline = network->baseline,
                             .relaxation = options->relaxation};
        yk_round_sweep(network, b, &how);
        yk_general_sweep(network, b, options->friction, options->relaxation, options->exact_local);
        break;
    }
    case TASK_RESIDUAL:
        memset(partial, 0, 3 * sizeof *partial);
        yk_round_residual(network, b, options->friction == YK_FRICTION_COULOMB, c->rho, partial);
        yk_general_residual(network, b, options->friction, c->rho, partial);
        break;
    case TASK_DIAGONAL:
        memset(partial, 0, 3 * sizeof *partial);
        yk_round_diagonal(network, b, partial);
        yk_general_diagonal(network, b, partial);
        break;
    }
}

/* All members wait for the last, which prepares what comes next. */
static void wait_for_all(crew *c, bool joints)
{
    unsigned phase = atomic_load_explicit(&c->phase, memory_order_acquire);
    if (atomic_fetch_add_explicit(&c->arrived, 1, memory_order_acq_rel) + 1 == c->members) {
        if (joints) yk_joints_sweep(c->network, c->options->relaxation);
        atomic_store_explicit(&c->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&c->next, 0, memory_order_relaxed);
        atomic_store_explicit(&c->phase, phase + 1, memory_order_release);
        return;
    }
    for (int spins = 0; atomic_load_explicit(&c->phase, memory_order_acquire) == phase; spins++)
        if (spins > 2000) sched_yield();
}

static void crew_member(void *user, size_t begin, size_t end, size_t chunk)
{
    crew *c = user;
    const yk_network *network = c->network;
    (void)begin;
    (void)end;
    (void)chunk;
    for (int repeat = 0; repeat < c->repeats; repeat++)
        for (size_t colour = 0; colour < network->colour_count; colour++) {
            size_t first = network->colour_start[colour], count = network->colour_start[colour + 1] - first;
            for (;;) {
                size_t k = atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed);
                if (k >= count) break;
                work_block(c, first + k);
            }
            wait_for_all(c, c->task == TASK_SWEEP && colour + 1 == network->colour_count);
        }
}

/* One chunk per thread: none can end before all have begun, as they wait for each other. */
static void run_task(yk_network *network, const yk_contact_options *options, task what, int repeats, double rho)
{
    crew c = {.network = network, .options = options, .task = what, .repeats = repeats, .rho = rho};
    bool together = network->pool && network->block_count > 1;
    c.members = together ? yk_pool_threads(network->pool) : 1;
    if (c.members > 1) {
        yk_pool_run(network->pool, (size_t)c.members, 1, crew_member, &c);
        return;
    }
    for (int repeat = 0; repeat < repeats; repeat++) {
        for (size_t k = 0; k < network->block_count; k++) work_block(&c, k);
        if (what == TASK_SWEEP) yk_joints_sweep(network, options->relaxation);
    }
}

/* Residual --------------------------------------------------------------------------------------------------------- */

static double natural_rho(yk_network *network, const yk_contact_options *options)
{
    double sum = 0, rows = 0;
    run_task(network, options, TASK_DIAGONAL, 1, 0);
    for (size_t k = 0; k < network->block_count; k++) {
        sum += network->partials[3 * k + 1];
        rows += network->partials[3 * k + 2];
    }
    return sum > 0 ? rows / sum : 1;
}

static yk_network_violation measure(yk_network *network, const yk_contact_options *options, double rho)
{
    double total[3] = {0};
    run_task(network, options, TASK_RESIDUAL, 1, rho);
    for (size_t k = 0; k < network->block_count; k++) {
        total[0] = fmax(total[0], network->partials[3 * k]);
        total[1] += network->partials[3 * k + 1];
    }
    yk_joints_residual(network, rho, total);
    size_t count = network->contact_count + network->joint_count;
    if (!isfinite(total[1]))
        return (yk_network_violation){INFINITY, INFINITY}; /* a maximum hides what is not a number */
    return (yk_network_violation){.largest = sqrt(total[0]), .rms = count > 0 ? sqrt(total[1] / (double)count) : 0};
}

yk_network_violation yk_network_residual(yk_network *network, yk_friction_model friction)
{
    yk_contact_options options = yk_contact_options_default();
    options.friction = friction;
    return measure(network, &options, natural_rho(network, &options));
}

/* Solvers ---------------------------------------------------------------------------------------------------------- */

static void start_impulses(yk_network *network, const yk_contact_options *options)
{
    if (options->warm_start) {
        run_task(network, options, TASK_APPLY, 1, 0);
        yk_joints_apply(network);
        return;
    }
    run_task(network, options, TASK_CLEAR, 1, 0);
    for (size_t i = 0; i < network->joint_count; i++) network->joints[i].impulse = 0;
}

static void note(const yk_contact_options *options, yk_contact_report *report, double residual)
{
    report->residual = residual;
    if (options->history && report->history_count < options->history_capacity)
        options->history[report->history_count++] = residual;
}

static yk_status sweep(yk_network *network, const yk_contact_options *options, yk_contact_report *report)
{
    int limit = options->iterations > 0 ? options->iterations : 50;
    int interval = options->check_interval > 0 && options->tolerance > 0 ? options->check_interval : limit;
    double rho = natural_rho(network, options);
    start_impulses(network, options);
    while (report->iterations < limit) {
        int sweeps = interval < limit - report->iterations ? interval : limit - report->iterations;
        run_task(network, options, TASK_SWEEP, sweeps, 0);
        report->iterations += sweeps;
        note(options, report, measure(network, options, rho).largest);
        if (!(report->residual > options->tolerance)) break;
    }
    if (isfinite(report->residual)) return YK_OK;
    return yk_fail(network->context, YK_ERROR_NOT_FINITE,
                   "contact network: velocities are not finite after %d sweeps; check masses, normals and biases",
                   report->iterations);
}

/* Impulses of the assembled problem in the order of pairs and joints; see network_assemble.c. */
static yk_status solve_assembled(yk_network *network, const yk_contact_options *options, yk_contact_report *report)
{
    yk_contact_problem problem;
    yk_status status = yk_network_assemble(network, &problem);
    if (status != YK_OK) return status;
    double *r = yk_allocate(network->context, (size_t)problem.row_count + 1, sizeof *r), scale = 0;
    if (!r) status = YK_ERROR_MEMORY;
    if (status == YK_OK) {
        yk_contact_options relative = *options;
        for (int k = 0; k < problem.row_count; k++) scale += problem.q[k] * problem.q[k];
        if (scale > 0) relative.tolerance = options->tolerance / sqrt(scale);
        if (options->warm_start) yk_network_take_impulses(network, &problem, r);
        status = yk_contact_solve(network->context, &problem, &relative, r, NULL, report);
        if (status >= 0) {
            yk_network_give_impulses(network, &problem, r);
            run_task(network, options, TASK_APPLY, 1, 0);
            yk_joints_apply(network);
            report->residual = measure(network, options, natural_rho(network, options)).largest;
        }
    }
    yk_release(network->context, r);
    yk_contact_problem_destroy(network->context, &problem);
    return status;
}

static yk_status check_options(yk_network *network, const yk_contact_options *options)
{
    if (!(options->relaxation > 0 && options->relaxation < 2))
        return yk_fail(network->context, YK_ERROR_ARGUMENT, "contact: relaxation is %g, it must lie between 0 and 2",
                       options->relaxation);
    bool round = network->pair_groups + network->single_groups > 0;
    if (options->friction == YK_FRICTION_BOX && round)
        return yk_fail(network->context, YK_ERROR_ARGUMENT,
                       "contact: box friction needs tangents; make the pairs general, or use the cone");
    return YK_OK;
}

yk_status yk_network_solve(yk_network *network, const yk_contact_options *options, yk_contact_report *report)
{
    double start = seconds_now();
    *report = (yk_contact_report){.method = options->method};
    yk_status status = check_options(network, options);
    if (status != YK_OK) return status;
    yk_general_prepare(network);
    status = yk_joints_prepare(network);
    if (status != YK_OK) return status;
    bool sweeps = options->method == YK_CONTACT_GAUSS_SEIDEL || options->method == YK_CONTACT_AUTOMATIC;
    if (sweeps) {
        report->method = YK_CONTACT_GAUSS_SEIDEL;
        status = sweep(network, options, report);
    } else {
        status = solve_assembled(network, options, report);
    }
    report->seconds = seconds_now() - start;
    if (status == YK_OK && options->tolerance > 0 && report->residual > options->tolerance)
        return yk_fail(network->context, YK_NOT_CONVERGED,
                       "contact network: violation %.3g after %d iterations, wanted %.3g", report->residual,
                       report->iterations, options->tolerance);
    return status;
}
