/* Block Gauss-Seidel: one contact after the other takes the impulse that its own conditions ask
 * for, all others held (Jean 1999; Tasora, Anitescu 2011), by an exact local solution or by one
 * projected step. Bilateral blocks are solved exactly. */
#include "contact/solver.h"

#include <math.h>
#include <string.h>

#include "contact/cone.h"

static void sweep_contact(const yk_contact_problem *problem, yk_friction_model friction,
                          double relaxation_factor, bool exact, int i, double *r)
{
    yk_cone cone = yk_problem_cone(problem, i);
    int dim = cone.dim;
    int first = problem->w.first[i];
    double *own = r + first;

    /* The velocity as it is, and the contact's own W. */
    double u[YK_CONTACT_DIM_MAX];
    double w[YK_CONTACT_DIM_MAX * YK_CONTACT_DIM_MAX];
    yk_contact_block_row(problem, i, r, u);
    memcpy(w, yk_contact_diagonal_block(problem, i), (size_t)(dim * dim) * sizeof *w);
    for (int k = 0; problem->softness && k < dim; k++)
        w[k * dim + k] += problem->softness[first + k];

    /* The exact solution begins with the velocity without this contact. */
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

        /* The rows of a joint, with a trace of the diagonal for redundant ones. */
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
    int limit = options->iterations > 0 ? options->iterations : 10000;
    int interval = options->check_interval > 0 ? options->check_interval : 1;
    double residual = yk_contact_residual(problem, options->friction, r, u);

    /* The residual costs as much as a sweep, so that it is found after each interval only. */
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
