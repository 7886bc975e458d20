/* The solvers of networks.
 *
 * Gauss-Seidel works off the plan: colour after colour, the blocks of a colour by all threads,
 * then the joints. The threads stay together for the whole solution and wait for each other at a
 * spinning barrier between colours; who does which block does not matter for the result.
 *
 * The projected gradient is in network_gradient.c; the accurate method runs on the assembled
 * problem. */
#include <math.h>
#include <sched.h>
#include <string.h>

#include "base/clock.h"
#include "contact/network_data.h"

/* Phases in parallel --------------------------------------------------------------------------- */

typedef struct crew {
    yk_network *network;
    void (*work)(yk_network *network, size_t block, void *user);
    void (*after)(yk_network *network, void *user);
    void *user;
    int repeats;
    atomic_int arrived;
    atomic_uint phase;
} crew;

static void crew_member(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)begin;
    (void)end;
    crew *c = user;

    const yk_network *network = c->network;
    const size_t members = (size_t)network->members;
    for (int repeat = 0; repeat < c->repeats; repeat++) {
        for (size_t colour = 0; colour < network->colour_count; colour++) {
            const uint32_t *share = network->shares + colour * (members + 1);

            /* The own share first, whose contacts are in this processor's cache from the last
             * sweep; then what the others have left. */
            for (size_t k = 0; k < members; k++) {
                size_t m = (chunk + k) % members;
                atomic_uint *taken = &network->taken[m].count;
                const uint32_t count = share[m + 1] - share[m];
                while (atomic_load_explicit(taken, memory_order_relaxed) < count) {
                    uint32_t next = atomic_fetch_add_explicit(taken, 1, memory_order_relaxed);
                    if (next < count)
                        c->work(c->network, share[m] + next, c->user);
                }
            }

            /* All wait for the last, which prepares what comes next. */
            unsigned phase = atomic_load_explicit(&c->phase, memory_order_acquire);
            int arrived = atomic_fetch_add_explicit(&c->arrived, 1, memory_order_acq_rel) + 1;
            if (arrived == network->members) {
                if (c->after && colour + 1 == network->colour_count)
                    c->after(c->network, c->user);
                atomic_store_explicit(&c->arrived, 0, memory_order_relaxed);
                for (size_t m = 0; m < members; m++)
                    atomic_store_explicit(&network->taken[m].count, 0, memory_order_relaxed);
                atomic_store_explicit(&c->phase, phase + 1, memory_order_release);
                continue;
            }

            /* Most waits are short: the processor is given away only after many looks. */
            int spins = 0;
            while (atomic_load_explicit(&c->phase, memory_order_acquire) == phase) {
                if (++spins > 2000)
                    sched_yield();
            }
        }
    }
}

void yk_network_run(yk_network *network,
                    void (*work)(yk_network *network, size_t block, void *user),
                    void (*after)(yk_network *network, void *user), void *user, int repeats)
{
    /* One chunk per thread: none can end before all have begun, as they wait for each other. */
    if (network->members > 1 && network->block_count > 1) {
        crew c = {
            .network = network,
            .work = work,
            .after = after,
            .user = user,
            .repeats = repeats,
        };
        yk_pool_run(network->pool, (size_t)network->members, 1, crew_member, &c);
        return;
    }

    /* One thread: the same order of blocks, and so the same bits. */
    for (int repeat = 0; repeat < repeats; repeat++) {
        for (size_t k = 0; k < network->block_count; k++)
            work(network, k, user);
        if (after)
            after(network, user);
    }
}

static void clear_block(yk_network *network, size_t index, void *user)
{
    (void)user;
    const block *b = &network->blocks[index];
    yk_round_clear(network, b);
    yk_rolling_clear(network, b);
    yk_general_clear(network, b);
}

static void apply_block(yk_network *network, size_t index, void *user)
{
    (void)user;
    const block *b = &network->blocks[index];
    yk_round_apply(network, b);
    yk_rolling_apply(network, b);
    yk_general_apply(network, b);
}

static void sweep_block(yk_network *network, size_t index, void *user)
{
    const yk_contact_options *options = user;
    const block *b = &network->blocks[index];

    /* Each kind of contact has its own arrays and its own loops. */
    yk_round_sweep(network, b, options);
    yk_rolling_sweep(network, b, options);
    yk_general_sweep(network, b, options->friction_model, options->relaxation_factor,
                     options->exact_local_solve);
}

static void sweep_joints(yk_network *network, void *user)
{
    const yk_contact_options *options = user;
    yk_joints_sweep(network, options->relaxation_factor);
}

/* Residual ------------------------------------------------------------------------------------- */

static void sum_diagonal(yk_network *network, size_t index, void *user)
{
    (void)user;
    const block *b = &network->blocks[index];
    double *partial = network->partials + 3 * index;

    memset(partial, 0, 3 * sizeof *partial);
    yk_round_diagonal(network, b, partial);
    yk_rolling_diagonal(network, b, partial);
    yk_general_diagonal(network, b, partial);
}

double yk_network_rho(yk_network *network)
{
    yk_network_run(network, sum_diagonal, NULL, NULL, 1);

    /* One step length for all: the inverse of the mean diagonal of W. */
    double sum = 0;
    double rows = 0;
    for (size_t k = 0; k < network->block_count; k++) {
        sum += network->partials[3 * k + 1];
        rows += network->partials[3 * k + 2];
    }

    network->rho = sum > 0 ? rows / sum : 1;
    return network->rho;
}

static void measure_block(yk_network *network, size_t index, void *user)
{
    const yk_friction_model *friction = user;
    const block *b = &network->blocks[index];
    double *partial = network->partials + 3 * index;

    /* The same partial sums for all kinds of contacts. */
    memset(partial, 0, 3 * sizeof *partial);
    bool coulomb = *friction == YK_FRICTION_COULOMB;

    yk_round_residual(network, b, coulomb, network->rho, partial);
    yk_rolling_residual(network, b, coulomb, network->rho, partial);
    yk_general_residual(network, b, *friction, network->rho, partial);
}

double yk_network_measure(yk_network *network, yk_friction_model friction, double *rms)
{
    double total[3] = {0};

    /* Partial sums of the blocks, in their order whatever thread found them. */
    yk_network_run(network, measure_block, NULL, &friction, 1);
    for (size_t k = 0; k < network->block_count; k++) {
        total[0] = fmax(total[0], network->partials[3 * k]);
        total[1] += network->partials[3 * k + 1];
        total[2] += network->partials[3 * k + 2];
    }

    yk_joints_residual(network, network->rho, total);

    /* A maximum hides what is not a number, a sum does not. */
    size_t count = network->contact_count + network->joint_count;
    double mean = count > 0 ? total[1] / (double)count : 0;
    if (!isfinite(total[1]))
        total[0] = mean = INFINITY;

    network->impulse_residual = network->rho * total[2];
    if (rms)
        *rms = sqrt(mean);
    return sqrt(total[0]);
}

double yk_network_residual(yk_network *network, yk_friction_model friction, double *rms)
{
    yk_network_rho(network);
    return yk_network_measure(network, friction, rms);
}

double yk_network_impulse_residual(const yk_network *network)
{
    return network->impulse_residual;
}

/* Solvers -------------------------------------------------------------------------------------- */

void yk_network_start(yk_network *network, bool warm_start)
{
    if (warm_start) {
        yk_network_run(network, apply_block, NULL, NULL, 1);
        yk_joints_apply(network);
        return;
    }

    /* From zero impulses. */
    yk_network_run(network, clear_block, NULL, NULL, 1);
    for (size_t i = 0; i < network->joint_count; i++)
        network->joints[i].impulse = 0;
}

void yk_report_note(const yk_contact_options *options, yk_contact_report *report, double residual)
{
    report->residual = residual;
    if (options->residual_history && report->history_count < options->residual_history_capacity)
        options->residual_history[report->history_count++] = residual;
}

int yk_network_sweeps(yk_network *network, const yk_contact_options *options, int sweeps)
{
    yk_contact_options how = *options;
    int done = 0;
    while (done < sweeps && !yk_context_should_stop(network->context)) {
        int left = sweeps - done;
        int piece = left < YK_SWEEPS_PER_LOOK ? left : YK_SWEEPS_PER_LOOK;
        yk_network_run(network, sweep_block, sweep_joints, &how, piece);
        done += piece;
    }

    return done;
}

/* Residual of structures of faces by the speed that the step resolves: in a tower of n bodies the
 * errors of all contacts add up, and n^2 of them do in the motion of its top. */
static const double FACE_TOLERANCE = 1e-6;
/* The same where they move and this would take many more steps. */
static const double LOOSE_TOLERANCE = 1e-3;
/* At rest, solutions are much more exact, which costs few further steps. An error e of a velocity is a gap
 * h e, which the next step closes; it leaves impulses that accelerate the structure by 2 e in the step after
 * that. Three exact steps in a row end this, and their impulses then hold for hundreds of steps: as long as
 * they hardly change a velocity. */
static const double EXACT_TOLERANCE = 1e-12;
static const double REST_TOLERANCE = 1e-7;
static const double STEADY_TOLERANCE = 1e-8;
/* Residual at which sweeps of round contacts end if their number was not given: by the residual of the
 * impulses of the last step, which says how much happens in this one, and at most by the resolution. In a
 * shaken particle damper 20 sweeps reach it on average, and leave less than 50 sweeps in each step. With
 * faces the errors of contacts add up, so that their residual does not decide. */
static const double SWEEP_TOLERANCE = 1e-2;
static const double SWEEP_TOLERANCE_MAX = 0.05;
/* Sweeps between two looks at this residual: a look costs nearly as much as a sweep. */
enum { SHORT_INTERVAL = 5, LONG_INTERVAL = 10, MANY_SWEEPS = 20 };

static yk_status sweep(yk_network *network, const yk_contact_options *options,
                       yk_contact_report *report)
{
    int limit = options->max_iterations > 0 ? options->max_iterations : 50;
    int interval = limit;
    double tolerance = options->tolerance;

    /* Without a tolerance all sweeps are made if their number was given. */
    bool open = network->resolution > 0 && !network->makes_all_sweeps && !(tolerance > 0);
    if (!open && options->check_interval > 0 && tolerance > 0)
        interval = options->check_interval;

    /* The step length belongs to the matrix, which sweeps do not change. */
    yk_network_rho(network);
    yk_network_start(network, options->warm_start);

    /* Structures of faces first: at rest they need nothing. */
    bool faces = network->resolution > 0 && network->general_count > 0;
    yk_island_tolerances goals = {
        .exact = EXACT_TOLERANCE * network->resolution,
        .rest = REST_TOLERANCE * network->resolution,
        .steady = STEADY_TOLERANCE * network->resolution,
        .good = FACE_TOLERANCE * network->resolution,
        .loose = LOOSE_TOLERANCE * network->resolution,
    };
    if (tolerance > 0)
        goals = yk_equal_tolerances(tolerance);

    if (faces || open)
        yk_report_note(options, report, yk_network_measure(network, options->friction_model, NULL));
    open = open && !faces;
    if (open)
        tolerance =
            fmin(SWEEP_TOLERANCE * report->residual, SWEEP_TOLERANCE_MAX * network->resolution);

    if (faces) {
        if (report->residual <= goals.rest && yk_network_is_steady(network, goals.steady))
            return YK_OK;

        yk_status status = yk_network_solve_structures(network, options, &goals, false, report);
        if (status != YK_OK || report->residual <= goals.loose)
            return status;
    }

    /* Sweeps, with a look at the violation after each interval. */
    for (int done = 0; done < limit && !yk_context_should_stop(network->context);) {
        int left = limit - done;
        if (open)
            interval = done < MANY_SWEEPS ? SHORT_INTERVAL : LONG_INTERVAL;
        int sweeps = interval < left ? interval : left;
        sweeps = yk_network_sweeps(network, options, sweeps);
        done += sweeps;
        report->iterations += sweeps;
        yk_report_note(options, report, yk_network_measure(network, options->friction_model, NULL));
        if (!(report->residual > tolerance))
            break;
    }

    /* Then those that spheres touch. */
    bool round = network->pair_groups + network->single_groups + network->rolling_groups > 0;
    if (faces && round) {
        goals.exact = goals.good;
        yk_status status = yk_network_solve_structures(network, options, &goals, true, report);
        if (status != YK_OK)
            return status;
    }

    if (isfinite(report->residual))
        return YK_OK;
    return yk_fail(network->context, YK_ERROR_NOT_FINITE,
                   "contact network: velocities are not finite after %d sweeps; check masses, "
                   "normals and biases",
                   report->iterations);
}

/* Assembles the network, solves it and takes the impulses over. The problem has another shape in
 * each step; all its memory is that of the steps before, which only grows. */
static yk_status solve_assembled(yk_network *network, const yk_contact_options *options,
                                 yk_contact_report *report)
{
    if (!network->scratch)
        network->scratch = yk_scratch_create(network->context);
    if (!network->scratch)
        return YK_ERROR_MEMORY;

    /* The memory of a scratch context is released at the end, all at once. */
    yk_context *context = yk_scratch_context(network->scratch);
    yk_contact_problem problem;
    double *r = NULL;
    yk_status status = yk_network_assemble_in(context, network, &problem);
    if (status == YK_OK) {
        r = yk_allocate(context, (size_t)problem.row_count + 1, sizeof *r);
        if (!r)
            status = YK_ERROR_MEMORY;
    }

    /* The tolerance of a problem is relative to |q|, that of a network a velocity. */
    if (status == YK_OK) {
        yk_contact_options relative = *options;
        double scale = 0;
        for (int k = 0; k < problem.row_count; k++)
            scale += problem.q[k] * problem.q[k];
        if (scale > 0)
            relative.tolerance = options->tolerance / sqrt(scale);

        if (options->warm_start)
            yk_network_take_impulses(network, &problem, r);

        status = yk_contact_solve(context, &problem, &relative, r, NULL, report);

        /* Velocities of the nodes follow from the impulses, and the violation from both. */
        if (!YK_FAILED(status)) {
            yk_network_give_impulses(network, &problem, r);
            yk_network_start(network, true);
            report->residual = yk_network_residual(network, options->friction_model, NULL);
        }
    }

    /* The message was left in the scratch context, which nobody else reads. */
    if (status != YK_OK)
        yk_fail(network->context, status, "%s", yk_last_message(context));
    yk_scratch_reset(network->scratch);
    return status;
}

yk_status yk_network_solve(yk_network *network, const yk_contact_options *options,
                           yk_contact_report *report)
{
    yk_context *context = network->context;
    double start = yk_clock_seconds();

    *report = (yk_contact_report){.method = options->method};
    network->impulse_residual = 0;
    if (!(options->relaxation_factor > 0 && options->relaxation_factor < 2))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "contact: the relaxation factor is %g, it must lie between 0 and 2",
                       options->relaxation_factor);

    /* Round contacts have no tangents, and with them no box. */
    bool round = network->pair_groups + network->single_groups + network->rolling_groups > 0;
    if (options->friction_model == YK_FRICTION_PYRAMID && round)
        return yk_fail(
            context, YK_ERROR_ARGUMENT,
            "contact: box friction needs tangents; make the pairs general, or use the cone");

    /* Local matrices of general contacts and joints. */
    yk_general_prepare(network);
    yk_rolling_prepare(network);
    yk_status status = yk_joints_prepare(network);
    if (status != YK_OK)
        return status;

    /* The accurate method and pivoting work on the assembled problem. */
    switch (options->method) {
    case YK_CONTACT_GAUSS_SEIDEL:
    case YK_CONTACT_AUTO:
        report->method = YK_CONTACT_GAUSS_SEIDEL;
        status = sweep(network, options, report);
        break;
    case YK_CONTACT_PROJECTED_GRADIENT:
        status = yk_network_solve_gradient(network, options, report);
        break;
    default: status = solve_assembled(network, options, report); break;
    }

    /* What was found until a stop is no solution. */
    report->seconds = yk_clock_seconds() - start;
    if (yk_context_should_stop(context))
        return yk_fail(context, YK_ERROR_ABORTED, "contact network: stopped after %d iterations",
                       report->iterations);
    if (status == YK_OK && options->tolerance > 0 && report->residual > options->tolerance)
        return yk_fail(context, YK_NOT_CONVERGED,
                       "contact network: violation %.3g after %d iterations, wanted %.3g",
                       report->residual, report->iterations, options->tolerance);
    return status;
}
