/* Block Gauss-Seidel: one contact after the other takes the impulse that its own conditions ask
 * for, all others held (Jean 1999; Tasora, Anitescu 2011), by an exact local solution or by one
 * projected step. Bilateral blocks are solved exactly. */
#include "contact/methods.h"

#include <math.h>
#include <string.h>

#include "contact/cone.h"

static void sweep_contact(const yk_contact_problem *problem, yk_friction_model friction,
                          double relaxation_factor, bool exact, int i, double *r)
{
    yk_cone cone = yk_problem_cone(problem, i);
    int dim = cone.dim, first = problem->w.first[i];
    double u[YK_CONTACT_DIM_MAX], next[YK_CONTACT_DIM_MAX],
        w[YK_CONTACT_DIM_MAX * YK_CONTACT_DIM_MAX];
    double *own = r + first;

    yk_contact_block_row(problem, i, r, u);
    memcpy(w, yk_contact_diagonal_block(problem, i), (size_t)(dim * dim) * sizeof *w);
    for (int k = 0; problem->softness && k < dim; k++)
        w[k * dim + k] += problem->softness[first + k];

    memcpy(next, own, (size_t)dim * sizeof *next);
    if (exact) { /* u becomes the velocity without this contact */
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
    if (friction == YK_FRICTION_BOX) {
        yk_box_project(&cone, next[0], next, own);
    } else {
        yk_cone_project(&cone, next, own);
    }
}

/* The rows of a joint, with a trace of the diagonal for redundant ones. */
static void sweep_bilateral(const yk_contact_problem *problem, int i, double *r)
{
    int first = problem->w.first[i], dim = problem->w.first[i + 1] - first;
    double u[YK_CONTACT_DIM_MAX], w[YK_CONTACT_DIM_MAX * YK_CONTACT_DIM_MAX], largest = 0;

    yk_contact_block_row(problem, i, r, u);
    memcpy(w, yk_contact_diagonal_block(problem, i), (size_t)(dim * dim) * sizeof *w);
    for (int k = 0; k < dim; k++)
        largest = fmax(largest, w[k * dim + k]);
    for (int k = 0; k < dim; k++) {
        double soft = problem->softness ? problem->softness[first + k] : 0;
        w[k * dim + k] += 1e-12 * largest + soft;
    }

    if (!yk_small_solve(dim, w, u))
        return;

    for (int k = 0; k < dim; k++)
        r[first + k] -= u[k];
}

void yk_gauss_seidel_sweeps(const yk_contact_problem *problem, yk_friction_model friction,
                            double relaxation_factor, bool exact_local, int sweeps, double *r)
{
    int contacts = problem->contact_count;
    for (int sweep = 0; sweep < sweeps; sweep++) {
        for (int i = 0; i < contacts; i++)
            sweep_contact(problem, friction, relaxation_factor, exact_local, i, r);
        for (int i = contacts; i < problem->w.block_rows; i++)
            sweep_bilateral(problem, i, r);
    }
}

yk_status yk_contact_solve_gauss_seidel(yk_context *context, const yk_contact_problem *problem,
                                        const yk_contact_options *options, double *r, double *u,
                                        yk_contact_report *report)
{
    int limit = options->iterations > 0 ? options->iterations : 10000;
    int interval = options->check_interval > 0 ? options->check_interval : 1;
    double residual = yk_contact_residual(problem, options->friction, r, u);

    /* Sweeps, with a look at the residual after each interval. */
    while (residual > options->tolerance && report->iterations < limit) {
        int left = limit - report->iterations;
        int sweeps = interval < left ? interval : left;
        yk_gauss_seidel_sweeps(problem, options->friction, options->relaxation_factor,
                               options->exact_local, sweeps, r);
        report->iterations += sweeps;
        residual = yk_contact_residual(problem, options->friction, r, u);
        if (options->history && report->history_count < options->history_capacity)
            options->history[report->history_count++] = residual;
        if (!isfinite(residual))
            return yk_fail(context, YK_ERROR_NOT_FINITE, "contact: Gauss-Seidel diverged");
    }

    report->residual = residual;
    if (residual <= options->tolerance || options->tolerance <= 0)
        return YK_OK;
    return yk_fail(context, YK_NOT_CONVERGED, "contact: residual %.3g after %d sweeps, wanted %.3g",
                   residual, report->iterations, options->tolerance);
}
