/* Box friction as a sequence of mixed linear complementarity problems: friction is bounded by mu
 * times the normal impulse of the last problem, rim (15); a few Gauss-Seidel sweeps give the
 * first. The active and tight sets of rim (27) settle after a few problems, and so do the bounds
 * when friction does not change the normal impulses too much. */
#include "contact/solver.h"

#include <math.h>
#include <string.h>

#include "contact/cone.h"
#include "contact/mlcp.h"

/* Solves problem after problem, from the normal impulses of r, until the bounds settle. `pull` is a
 * trace of the identity on M, which draws to the last impulses. */
static yk_status iterate_bounds(yk_context *context, const yk_contact_problem *problem,
                                const yk_contact_options *options, double pull, yk_mlcp *mlcp,
                                double *z, double *r, double *u, yk_contact_report *report)
{
    yk_mlcp_options how = yk_mlcp_options_default();
    int limit = options->iterations > 0 ? options->iterations : 200;
    double residual = INFINITY;

    for (int round = 0; round < limit; round++) {
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

        /* The pull towards the last impulses selects one of many where W is singular. */
        for (int k = 0; k < problem->row_count; k++)
            mlcp->q[k] = problem->q[k] - pull * r[k];

        yk_mlcp_report detail;
        yk_status status = yk_mlcp_solve(context, mlcp, &how, z, u, NULL, &detail);
        report->iterations += detail.pivots;
        if (status != YK_OK)
            return status;

        memcpy(r, z, (size_t)problem->row_count * sizeof *r);

        /* Bounds that have settled show as a residual that is met. */
        residual = yk_contact_residual(problem, YK_FRICTION_BOX, r, u);
        if (options->history && report->history_count < options->history_capacity)
            options->history[report->history_count++] = residual;
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

        /* Small beside W, but enough to make M positive definite. */
        double pull = 1e-6 * yk_contact_mean_diagonal(problem);
        for (size_t row = 0; row < n; row++) {
            double soft = 0;
            if (problem->softness)
                soft = problem->softness[row];
            mlcp.m[row * n + row] += pull + soft;
        }

        /* No bounds, but for the normals. */
        for (size_t row = 0; row < n; row++)
            mlcp.lower[row] = -INFINITY;
        for (int i = 0; i < problem->contact_count; i++)
            mlcp.lower[w->first[i]] = 0;

        /* The first normal impulses from a few sweeps. */
        if (!options->warm_start)
            yk_gauss_seidel_sweeps(problem, YK_FRICTION_BOX, 1, true, 50, r);
        status = iterate_bounds(context, problem, options, pull, &mlcp, z, r, u, report);
    }

    yk_release(context, z);
    yk_mlcp_destroy(context, &mlcp);
    return status;
}
