/* One interface to all solvers of assembled problems, and the shorter ones: block Gauss-Seidel
 * (Jean 1999; Tasora, Anitescu 2011), the accelerated projected gradient (Nesterov 1983; Mazhar,
 * Heyn, Negrut, Tasora 2015; O'Donoghue, Candes 2015) and pivoting for pyramid friction (Peiret et
 * al. 2020, equations 15 and 27). */
#include "contact/solver.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "contact/cone.h"
#include "contact/mlcp.h"

yk_contact_options yk_contact_options_default(void)
{
    return (yk_contact_options){.method = YK_CONTACT_AUTO,
                                .friction_model = YK_FRICTION_COULOMB,
                                .tolerance = 1e-8,
                                .relaxation_factor = 1,
                                .exact_local_solve = true,
                                .check_interval = 1};
}

/* Block Gauss-Seidel --------------------------------------------------------------------------- */

/* Block Gauss-Seidel: each contact in turn gets the impulse that satisfies its own conditions, with
 * all others held (Jean 1999; Tasora, Anitescu 2011), by an exact local solution or by one
 * projected step. Bilateral blocks are solved exactly. */

static void sweep_contact(const yk_contact_problem *problem, yk_friction_model friction,
                          double relaxation_factor, bool exact, int i, double *r)
{
    yk_cone cone = yk_problem_cone(problem, i);
    int dim = cone.dim;
    int first = problem->w.first[i];
    double *own = r + first;

    /* The present velocity, and the contact's own W. */
    double u[YK_CONTACT_DIM_MAX];
    double w[YK_CONTACT_DIM_MAX * YK_CONTACT_DIM_MAX];
    yk_contact_block_row(problem, i, r, u);
    memcpy(w, yk_contact_diagonal_block(problem, i), (size_t)(dim * dim) * sizeof *w);
    for (int k = 0; problem->softness && k < dim; k++)
        w[k * dim + k] += problem->softness[first + k];

    /* The exact solution needs the velocity without this contact. */
    double next[YK_CONTACT_DIM_MAX];
    memcpy(next, own, (size_t)dim * sizeof *next);
    if (exact) {
        for (int k = 0; k < dim; k++) {
            for (int l = 0; l < dim; l++)
                u[k] -= w[k * dim + l] * own[l];
        }
        yk_local_solve(&cone, friction, w, u, next);
    } else {
        yk_local_step(&cone, friction, w, u, next);
    }

    if (relaxation_factor == 1) {
        memcpy(own, next, (size_t)dim * sizeof *own);
        return;
    }

    /* Over-relaxed impulses may leave the cone. */
    for (int k = 0; k < dim; k++)
        next[k] = own[k] + relaxation_factor * (next[k] - own[k]);
    yk_friction_project(&cone, friction, next, own);
}

void yk_gauss_seidel_sweeps(const yk_contact_problem *problem, yk_friction_model friction,
                            double relaxation_factor, bool exact_local, int sweeps, double *r)
{
    const int *starts = problem->w.first;
    int contacts = problem->contact_count;

    for (int sweep = 0; sweep < sweeps; sweep++) {
        for (int i = 0; i < contacts; i++)
            sweep_contact(problem, friction, relaxation_factor, exact_local, i, r);

        /* The rows of a joint, with a small regularization for redundant ones. */
        for (int i = contacts; i < problem->w.block_rows; i++) {
            int first = starts[i];
            int dim = starts[i + 1] - first;
            double u[YK_CONTACT_DIM_MAX];
            double w[YK_CONTACT_DIM_MAX * YK_CONTACT_DIM_MAX];
            yk_contact_block_row(problem, i, r, u);
            memcpy(w, yk_contact_diagonal_block(problem, i), (size_t)(dim * dim) * sizeof *w);

            double largest = 0;
            for (int k = 0; k < dim; k++)
                largest = fmax(largest, w[k * dim + k]);
            for (int k = 0; k < dim; k++) {
                double soft = 0;
                if (problem->softness)
                    soft = problem->softness[first + k];
                w[k * dim + k] += 1e-12 * largest + soft;
            }

            if (!yk_small_solve(dim, w, u))
                continue;
            for (int k = 0; k < dim; k++)
                r[first + k] -= u[k];
        }
    }
}

yk_status yk_contact_solve_gauss_seidel(yk_context *context, const yk_contact_problem *problem,
                                        const yk_contact_options *options, double *r, double *u,
                                        yk_contact_report *report)
{
    int limit = options->max_iterations > 0 ? options->max_iterations : 10000;
    int interval = options->check_interval > 0 ? options->check_interval : 1;
    double residual = yk_contact_residual(problem, options->friction_model, r, u);

    /* The residual costs as much as a sweep, so it is evaluated after each interval only. */
    while (residual > options->tolerance && report->iterations < limit &&
           !yk_context_should_stop(context)) {
        int left = limit - report->iterations;
        int sweeps = interval < left ? interval : left;
        for (int done = 0; done < sweeps && !yk_context_should_stop(context);
             done += YK_SWEEPS_PER_LOOK) {
            int piece = sweeps - done < YK_SWEEPS_PER_LOOK ? sweeps - done : YK_SWEEPS_PER_LOOK;
            yk_gauss_seidel_sweeps(problem, options->friction_model, options->relaxation_factor,
                                   options->exact_local_solve, piece, r);
            report->iterations += piece;
        }

        residual = yk_contact_residual(problem, options->friction_model, r, u);
        if (options->residual_history && report->history_count < options->residual_history_capacity)
            options->residual_history[report->history_count++] = residual;
        if (!isfinite(residual))
            return yk_fail(context, YK_ERROR_NOT_FINITE, "contact: Gauss-Seidel diverged");
    }

    report->residual = residual;
    if (residual <= options->tolerance || options->tolerance <= 0)
        return YK_OK;
    return yk_fail(context, YK_NOT_CONVERGED, "contact: residual %.3g after %d sweeps, wanted %.3g",
                   residual, report->iterations, options->tolerance);
}

/* Projected gradient --------------------------------------------------------------------------- */

/* Accelerated projected gradient (Nesterov 1983; Mazhar, Heyn, Negrut, Tasora 2015) for
 *
 *   minimize  r W r / 2 + (q + lift) r   over the cones, bilateral rows free
 *
 * in the metric of the means of the diagonal blocks, which scales light and heavy bodies equally.
 * The Lipschitz constant L is found by backtracking. The objective is quadratic, so the test is d W
 * d <= L |d|^2 for the step d, and the product W d is used for the gradient too: an iteration costs
 * one product. Momentum restarts if it points uphill (O'Donoghue, Candes 2015). With Coulomb
 * friction the lift mu |u_T| is updated with the iterates. */
typedef struct gradient {
    const yk_contact_problem *problem;
    yk_friction_model friction;
    double *metric; /* per block row */
    double *r, *wr; /* iterate and W r */
    double *y, *wy; /* extrapolated point */
    double *next, *wnext;
    double *lift; /* per contact */
    double lipschitz, theta;
} gradient;

/* One iteration: next = P(y - gradient(y) / (L metric)) with L large enough, then the next y. */
static void gradient_step(gradient *s)
{
    const yk_contact_problem *problem = s->problem;
    const int *first = problem->w.first;
    int blocks = problem->w.block_rows;

    /* L is first reduced a little, and increased until the test below is satisfied. */
    s->lipschitz *= 0.95;
    for (int tries = 0; tries < 60; tries++) {
        /* The projected step of every block in its own metric. */
        for (int i = 0; i < blocks; i++) {
            double size = 1 / (s->lipschitz * s->metric[i]);
            for (int k = first[i]; k < first[i + 1]; k++)
                s->next[k] = s->y[k] - size * (s->wy[k] + problem->q[k]);
            if (i >= problem->contact_count)
                continue;

            double *next = s->next + first[i];
            yk_cone cone = yk_problem_cone(problem, i);
            next[0] -= size * s->lift[i];
            yk_friction_project(&cone, s->friction, next, next);
        }

        yk_contact_multiply(problem, s->next, s->wnext);

        /* d W d <= L |d|^2 for d = next - y, within rounding errors. */
        double energy = 0;
        double length = 0;
        for (int i = 0; i < blocks; i++) {
            for (int k = first[i]; k < first[i + 1]; k++) {
                double d = s->next[k] - s->y[k];
                energy += d * (s->wnext[k] - s->wy[k]);
                length += s->metric[i] * d * d;
            }
        }

        if (energy <= s->lipschitz * length * (1 + 1e-10))
            break;
        s->lipschitz *= 1.6;
    }

    /* The momentum leads uphill if the step from y to next and the progress from r to next
     * disagree. */
    double uphill = 0;
    for (int i = 0; i < blocks; i++) {
        for (int k = first[i]; k < first[i + 1]; k++)
            uphill += s->metric[i] * (s->y[k] - s->next[k]) * (s->next[k] - s->r[k]);
    }

    /* Nesterov's sequence of factors, restarted if the momentum leads uphill. */
    double square = s->theta * s->theta;
    double theta = (-square + s->theta * sqrt(square + 4)) / 2;
    double beta = s->theta * (1 - s->theta) / (square + theta);
    s->theta = theta;
    if (uphill > 0) {
        s->theta = 1;
        beta = 0;
    }

    /* y is extrapolated from next in the direction of the last change; W y follows from W r and W
     * next. */
    for (int k = 0; k < problem->row_count; k++) {
        s->y[k] = s->next[k] + beta * (s->next[k] - s->r[k]);
        s->wy[k] = s->wnext[k] + beta * (s->wnext[k] - s->wr[k]);
        s->r[k] = s->next[k];
        s->wr[k] = s->wnext[k];
    }
}

/* The residual with u of the iterate, and its lift. */
static double residual_of_iterate(gradient *s, double rho, double *u)
{
    const yk_contact_problem *problem = s->problem;
    for (int k = 0; k < problem->row_count; k++)
        u[k] = s->wr[k] + problem->q[k];

    for (int i = 0; s->friction == YK_FRICTION_COULOMB && i < problem->contact_count; i++) {
        yk_cone cone = yk_problem_cone(problem, i);
        s->lift[i] = yk_cone_lift(&cone, u + problem->w.first[i]);
    }

    return yk_contact_residual_of(problem, s->friction, rho, s->r, u);
}

yk_status yk_contact_solve_gradient(yk_context *context, const yk_contact_problem *problem,
                                    const yk_contact_options *options, double *r, double *u,
                                    yk_contact_report *report)
{
    const yk_block_matrix *w = &problem->w;
    gradient s = {
        .problem = problem, .friction = options->friction_model, .lipschitz = 1, .theta = 1};

    /* One allocation for the six vectors, the metric and the lift. */
    size_t rows = (size_t)problem->row_count;
    size_t blocks = (size_t)w->block_rows;
    size_t contacts = (size_t)problem->contact_count;
    double *memory = yk_allocate(context, 6 * rows + blocks + contacts + 1, sizeof *memory);
    if (!memory)
        return YK_ERROR_MEMORY;
    s.r = memory;
    s.wr = s.r + rows;
    s.y = s.wr + rows;
    s.wy = s.y + rows;
    s.next = s.wy + rows;
    s.wnext = s.next + rows;
    s.metric = s.wnext + rows;
    s.lift = s.metric + blocks;

    /* The metric: mean diagonals of the blocks. */
    double mean = yk_contact_mean_diagonal(problem);
    for (int i = 0; i < w->block_rows; i++) {
        int first = w->first[i];
        int dim = w->first[i + 1] - first;
        const double *block = yk_contact_diagonal_block(problem, i);
        double sum = 0;
        for (int k = 0; k < dim; k++) {
            double soft = 0;
            if (problem->softness)
                soft = problem->softness[first + k];
            sum += block[k * dim + k] + soft;
        }

        s.metric[i] = sum > 0 ? sum / dim : mean;
    }

    /* From r, without momentum. */
    size_t bytes = rows * sizeof *r;
    memcpy(s.r, r, bytes);
    yk_contact_multiply(problem, s.r, s.wr);
    memcpy(s.y, s.r, bytes);
    memcpy(s.wy, s.wr, bytes);

    /* The residual may increase: keep the best iterate. */
    int limit = options->max_iterations > 0 ? options->max_iterations : 10000;
    double rho = 1 / mean;
    double best = residual_of_iterate(&s, rho, u);
    while (best > options->tolerance && report->iterations < limit &&
           !yk_context_should_stop(context)) {
        gradient_step(&s);
        report->iterations++;
        double residual = residual_of_iterate(&s, rho, u);
        if (!isfinite(residual))
            break;
        if (options->residual_history && report->history_count < options->residual_history_capacity)
            options->residual_history[report->history_count++] = residual;
        if (residual >= best)
            continue;
        best = residual;
        memcpy(r, s.r, bytes);
    }

    yk_free(context, memory);

    report->residual = yk_contact_residual(problem, options->friction_model, r, u);
    if (best <= options->tolerance || options->tolerance <= 0)
        return YK_OK;
    return yk_fail(context, YK_NOT_CONVERGED,
                   "contact: residual %.3g after %d gradient steps, wanted %.3g", best,
                   report->iterations, options->tolerance);
}

/* Pivoting ------------------------------------------------------------------------------------- */

/* Pyramid friction as a sequence of mixed linear complementarity problems: friction is bounded by
 * mu times the normal impulse of the last problem (Peiret et al. 2020, equation 15); a few
 * Gauss-Seidel sweeps give the first one. The active and tight sets (equation 27) become constant
 * after a few problems, and so do the bounds if the influence of friction on the normal impulses is
 * not too large. */

/* Solves problem after problem, from the normal impulses of r, until the bounds converge. `pull` is
 * a multiple of the identity added to M, which pulls the solution towards the last impulses. */
static yk_status iterate_bounds(yk_context *context, const yk_contact_problem *problem,
                                const yk_contact_options *options, double pull, yk_mlcp *mlcp,
                                double *z, double *r, double *u, yk_contact_report *report)
{
    yk_mlcp_options how = yk_mlcp_options_default();
    int limit = options->max_iterations > 0 ? options->max_iterations : 200;
    double residual = INFINITY;

    for (int round = 0; round < limit && !yk_context_should_stop(context); round++) {
        /* Friction is bounded by mu times the last normal impulse. */
        for (int i = 0; i < problem->contact_count; i++) {
            yk_cone cone = yk_problem_cone(problem, i);
            int first = problem->w.first[i];
            for (int g = 0; g < YK_FRICTION_GROUPS; g++) {
                double bound = cone.mu[g] * fmax(0, r[first]);
                for (int k = yk_cone_group_start[g]; k < yk_cone_group_end(cone.dim, g); k++) {
                    mlcp->upper[first + k] = bound;
                    mlcp->lower[first + k] = -bound;
                }
            }
        }

        /* The pull towards the last impulses selects one of many solutions if W is singular. */
        for (int k = 0; k < problem->row_count; k++)
            mlcp->q[k] = problem->q[k] - pull * r[k];

        yk_contact_report detail;
        yk_status status = yk_mlcp_solve(context, mlcp, &how, z, u, NULL, &detail);
        report->iterations += detail.iterations;
        if (status != YK_OK)
            return status;

        memcpy(r, z, (size_t)problem->row_count * sizeof *r);

        /* Converged bounds show as a residual within the tolerance. */
        residual = yk_contact_residual(problem, YK_FRICTION_PYRAMID, r, u);
        if (options->residual_history && report->history_count < options->residual_history_capacity)
            options->residual_history[report->history_count++] = residual;
        if (residual <= options->tolerance)
            break;
    }

    report->residual = residual;
    if (residual <= options->tolerance)
        return YK_OK;
    return yk_fail(context, YK_NOT_CONVERGED,
                   "contact: the bounds of box friction did not settle: residual %.3g after %d "
                   "problems, wanted %.3g",
                   residual, limit, options->tolerance);
}

yk_status yk_contact_solve_pivot(yk_context *context, const yk_contact_problem *problem,
                                 const yk_contact_options *options, double *r, double *u,
                                 yk_contact_report *report)
{
    if (problem->row_count > YK_PIVOT_ROWS_MAX)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "contact: pivoting works on a dense matrix and is limited to %d rows, the "
                       "problem has %d; use gauss-seidel or accurate",
                       YK_PIVOT_ROWS_MAX, problem->row_count);

    size_t n = (size_t)problem->row_count;
    yk_mlcp mlcp;
    yk_status status = yk_mlcp_create(context, problem->row_count, &mlcp);
    double *z = yk_allocate(context, n + 1, sizeof *z);
    if (status == YK_OK && !z)
        status = YK_ERROR_MEMORY;

    if (status == YK_OK) {
        /* M = W + softness + pull. */
        const yk_block_matrix *w = &problem->w;
        for (int i = 0; i < w->block_rows; i++) {
            for (int k = w->start[i]; k < w->start[i + 1]; k++) {
                const double *value = w->value + w->offset[k];
                int j = w->column[k];
                for (int row = w->first[i]; row < w->first[i + 1]; row++) {
                    for (int c = w->first[j]; c < w->first[j + 1]; c++)
                        mlcp.m[(size_t)row * n + (size_t)c] = *value++;
                }
            }
        }

        /* Small compared with W, but enough to make M positive definite. */
        double pull = 1e-6 * yk_contact_mean_diagonal(problem);
        for (size_t row = 0; row < n; row++) {
            double soft = 0;
            if (problem->softness)
                soft = problem->softness[row];
            mlcp.m[row * n + row] += pull + soft;
        }

        /* No bounds, except for the normals. */
        for (size_t row = 0; row < n; row++)
            mlcp.lower[row] = -INFINITY;
        for (int i = 0; i < problem->contact_count; i++)
            mlcp.lower[w->first[i]] = 0;

        /* The first normal impulses from a few sweeps. */
        if (!options->warm_start)
            yk_gauss_seidel_sweeps(problem, YK_FRICTION_PYRAMID, 1, true, 50, r);
        status = iterate_bounds(context, problem, options, pull, &mlcp, z, r, u, report);
    }

    yk_free(context, z);
    yk_mlcp_destroy(context, &mlcp);
    return status;
}

/* All methods ---------------------------------------------------------------------------------- */

/* Sweeps before the interior-point method is used: per round, and in total. */
enum { SWEEPS = 10, SWEEPS_MAX = 100 };

/* Whether sweeps that reduced the residual from `before` to `after` will reach the tolerance within
 * the remaining number. */
static bool sweeps_will_do(double before, double after, double tolerance, int sweeps_left)
{
    if (!(after < before))
        return false;

    /* Linear convergence: assume the rate of the last round. */
    double rounds = log(tolerance / after) / log(after / before);
    return rounds * SWEEPS <= sweeps_left;
}

/* A few sweeps are often enough for loose tolerances. The interior-point method is faster for
 * smaller ones, and if sweeps converge slowly, so that a loose tolerance never costs more than a
 * tight one. */
static yk_status solve_automatic(yk_context *context, const yk_contact_problem *problem,
                                 const yk_contact_options *options, double *r, double *u,
                                 yk_contact_report *report)
{
    yk_contact_options part = *options;
    int limit = SWEEPS_MAX;
    if (options->max_iterations > 0 && options->max_iterations < limit)
        limit = options->max_iterations;

    /* Sweeps, as long as their rate of convergence will reach the tolerance within the limit. */
    if (options->tolerance >= 1e-4) {
        part.check_interval = SWEEPS;
        part.relaxation_factor = 1;
        report->method = YK_CONTACT_GAUSS_SEIDEL;
        double before = INFINITY;
        do {
            part.max_iterations = report->iterations + SWEEPS;
            if (part.max_iterations > limit)
                part.max_iterations = limit;
            if (isfinite(report->residual) && report->iterations > 0)
                before = report->residual;
            if (yk_contact_solve_gauss_seidel(context, problem, &part, r, u, report) == YK_OK)
                return YK_OK;
        } while (report->iterations < limit && !yk_context_should_stop(context) &&
                 (isinf(before) || sweeps_will_do(before, report->residual, options->tolerance,
                                                  limit - report->iterations)));
    }

    /* The interior-point method, which makes its own initial guess; the limit includes all steps. */
    int sweeps = report->iterations;
    part.max_iterations = options->max_iterations;
    if (options->max_iterations > 0) {
        if (sweeps >= options->max_iterations)
            return yk_fail(context, YK_NOT_CONVERGED,
                           "contact: residual %.3g after %d sweeps, wanted %.3g", report->residual,
                           sweeps, options->tolerance);
        part.max_iterations -= sweeps;
    }

    part.relaxation_factor = options->relaxation_factor;
    report->method = YK_CONTACT_INTERIOR_POINT;
    yk_status status = yk_contact_solve_accurate(context, problem, &part, r, u, report);
    report->iterations += sweeps;

    /* Pyramid friction of small problems by pivoting. */
    if (status != YK_NOT_CONVERGED || options->friction_model != YK_FRICTION_PYRAMID ||
        problem->row_count > YK_PIVOT_ROWS_MAX)
        return status;

    part.warm_start = true;
    report->method = YK_CONTACT_PIVOTING;
    return yk_contact_solve_pivot(context, problem, &part, r, u, report);
}

static const struct {
    const char *name;
    yk_contact_run *run;
} methods[] = {
    [YK_CONTACT_AUTO] = {"auto", solve_automatic},
    [YK_CONTACT_GAUSS_SEIDEL] = {"gauss-seidel", yk_contact_solve_gauss_seidel},
    [YK_CONTACT_PROJECTED_GRADIENT] = {"projected-gradient", yk_contact_solve_gradient},
    [YK_CONTACT_INTERIOR_POINT] = {"interior-point", yk_contact_solve_accurate},
    [YK_CONTACT_PIVOTING] = {"pivoting", yk_contact_solve_pivot},
};
enum { METHODS = sizeof methods / sizeof *methods };

const char *yk_contact_method_name(yk_contact_method method)
{
    if ((unsigned)method >= METHODS)
        return "unknown";
    return methods[method].name;
}

yk_status yk_contact_solve(yk_context *context, const yk_contact_problem *problem,
                           const yk_contact_options *options, double *r, double *u,
                           yk_contact_report *report)
{
    double start = yk_clock_seconds();
    *report = (yk_contact_report){.method = options->method};

    /* Check options and problem. */
    if (!(options->relaxation_factor > 0 && options->relaxation_factor < 2))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "contact: the relaxation factor is %g, it must lie between 0 and 2",
                       options->relaxation_factor);
    if ((unsigned)options->method >= METHODS)
        return yk_fail(context, YK_ERROR_ARGUMENT, "contact: unknown method %d",
                       (int)options->method);
    if (!(options->tolerance >= 0) || options->max_iterations < 0)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "contact: tolerance %g and iterations %d must not be negative",
                       options->tolerance, options->max_iterations);
    if (options->method == YK_CONTACT_PIVOTING && options->friction_model != YK_FRICTION_PYRAMID)
        return yk_fail(
            context, YK_ERROR_ARGUMENT,
            "contact: pivoting knows linear bounds only; ask for box friction or another method");

    yk_status status = yk_contact_problem_check(context, problem);
    if (status != YK_OK)
        return status;

    /* Start from zero, or from the caller's values. */
    size_t rows = (size_t)problem->row_count;
    if (!options->warm_start)
        memset(r, 0, rows * sizeof *r);
    if (rows == 0)
        return YK_OK;

    /* Compute the velocities even if the caller does not request them. */
    double *own_u = u;
    if (!own_u)
        own_u = yk_allocate(context, rows, sizeof *own_u);
    if (!own_u)
        return YK_ERROR_MEMORY;

    status = methods[options->method].run(context, problem, options, r, own_u, report);
    if (!u)
        yk_free(context, own_u);
    report->seconds = yk_clock_seconds() - start;

    /* The impulses of an aborted solver are not a solution. */
    if (yk_context_should_stop(context))
        return yk_fail(context, YK_ERROR_ABORTED, "contact: stopped after %d iterations",
                       report->iterations);
    return status;
}
