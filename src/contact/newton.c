/* Semismooth Newton steps on the natural map (Alart, Curnier 1991; Christensen, Klarbring, Pang,
 * Stroemberg 1998), with the factorisation that they need. */
#include "contact/newton.h"

#include <math.h>
#include <string.h>

#include "contact/cone.h"

/* Relative to the mean of the diagonal of W: the trace of the identity, and the least pivot. What
 * W does not determine is determined by the trace, with an error of rounding divided by it; what
 * it takes from the rest is refined away. */
static const double TRACE = 1e-10;
static const double LEAST_PIVOT = 1e-18;

yk_status yk_newton_create(yk_context *context, const yk_contact_problem *problem,
                           yk_friction_model friction, yk_newton *newton)
{
    const yk_block_matrix *w = &problem->w;
    size_t rows = (size_t)problem->row_count + 1;
    size_t blocks = (size_t)w->block_rows;

    *newton = (yk_newton){.problem = problem, .friction = friction};
    newton->mean = yk_contact_mean_diagonal(problem);

    /* The block diagonals L and R hold a square per block row. */
    newton->block_offset = yk_allocate(context, blocks + 1, sizeof *newton->block_offset);
    if (!newton->block_offset)
        return YK_ERROR_MEMORY;

    for (size_t i = 0; i < blocks; i++) {
        size_t dim = (size_t)(w->first[i + 1] - w->first[i]);
        newton->block_offset[i + 1] = newton->block_offset[i] + dim * dim;
    }

    newton->left = yk_allocate(context, newton->block_offset[blocks] + 1, sizeof *newton->left);
    newton->right = yk_allocate(context, newton->block_offset[blocks] + 1, sizeof *newton->right);
    newton->rho = yk_allocate(context, (size_t)problem->contact_count + 1, sizeof *newton->rho);
    yk_status status = YK_OK;
    if (!newton->left || !newton->right || !newton->rho)
        status = YK_ERROR_MEMORY;

    double **vectors[] = {&newton->rhs, &newton->step, &newton->trial, &newton->trial_u,
                          &newton->remainder};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = yk_allocate(context, rows, sizeof **vectors[i]);
        if (!*vectors[i])
            status = YK_ERROR_MEMORY;
    }

    if (status == YK_OK)
        status = yk_factor_create(context, w, &newton->factor);
    if (status != YK_OK) {
        yk_newton_destroy(context, newton);
        return status;
    }

    /* Any rho gives the natural map the same zeros; the contact's own scale makes the steps of
     * all contacts comparable. */
    for (int i = 0; i < problem->contact_count; i++) {
        int dim = w->first[i + 1] - w->first[i];
        const double *block = yk_contact_diagonal_block(problem, i);
        double sum = 0;
        for (int k = 0; k < dim; k++)
            sum += block[k * dim + k];
        newton->rho[i] = sum > 0 ? dim / sum : 1 / newton->mean;
    }

    return YK_OK;
}

void yk_newton_destroy(yk_context *context, yk_newton *newton)
{
    void *arrays[] = {newton->block_offset, newton->left,      newton->right,
                      newton->rhs,          newton->step,      newton->trial,
                      newton->trial_u,      newton->remainder, newton->rho};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        yk_release(context, arrays[i]);
    yk_factor_destroy(newton->factor);
    *newton = (yk_newton){0};
}

/* R += L times a diagonal: the same number everywhere, and the softness where there is one. */
static void add_to_right(yk_newton *newton, double number, const double *softness)
{
    const yk_block_matrix *w = &newton->problem->w;
    for (int i = 0; i < w->block_rows; i++) {
        int first = w->first[i];
        int dim = w->first[i + 1] - first;
        const double *left = newton->left + newton->block_offset[i];
        double *right = newton->right + newton->block_offset[i];

        for (int k = 0; k < dim; k++) {
            double soft = number;
            if (softness)
                soft += softness[first + k];
            if (newton->left_is_identity) {
                right[k * dim + k] += soft;
                continue;
            }
            for (int l = 0; l < dim; l++)
                right[l * dim + k] += soft * left[l * dim + k];
        }
    }
}

void yk_newton_factor(yk_newton *newton)
{
    const yk_contact_problem *problem = newton->problem;
    const double *left = newton->left_is_identity ? NULL : newton->left;

    /* The refinements are without the trace. */
    add_to_right(newton, TRACE * newton->mean, problem->softness);
    yk_factor_compute(newton->factor, &problem->w, left, newton->right, newton->block_offset,
                      LEAST_PIVOT * newton->mean);
    add_to_right(newton, -TRACE * newton->mean, NULL);
    newton->factorisations++;
}

void yk_newton_solve(yk_newton *newton, int refinements)
{
    const yk_contact_problem *problem = newton->problem;
    const yk_block_matrix *w = &problem->w;
    int rows = problem->row_count;

    memcpy(newton->step, newton->rhs, (size_t)rows * sizeof *newton->step);
    yk_factor_solve(newton->factor, newton->step);

    for (int pass = 0; pass < refinements; pass++) {
        /* remainder = rhs - (L W + R) step; R has the softness in it. */
        yk_contact_multiply(problem, newton->step, newton->remainder);
        for (int i = 0; i < w->block_rows; i++) {
            int first = w->first[i];
            int dim = w->first[i + 1] - first;
            const double *left = newton->left + newton->block_offset[i];
            const double *right = newton->right + newton->block_offset[i];
            const double *step = newton->step + first;
            double *remainder = newton->remainder + first;

            /* W times the step, without the softness that R has. */
            double moved[YK_CONTACT_DIM_MAX];
            for (int k = 0; k < dim; k++) {
                moved[k] = remainder[k];
                if (problem->softness)
                    moved[k] -= problem->softness[first + k] * step[k];
            }

            /* L times that, and R times the step. */
            for (int k = 0; k < dim; k++) {
                double sum = newton->rhs[first + k];
                if (newton->left_is_identity)
                    sum -= moved[k];
                for (int l = 0; l < dim; l++) {
                    if (!newton->left_is_identity)
                        sum -= left[k * dim + l] * moved[l];
                    sum -= right[k * dim + l] * step[l];
                }
                remainder[k] = sum;
            }
        }

        yk_factor_solve(newton->factor, newton->remainder);
        for (int k = 0; k < rows; k++)
            newton->step[k] += newton->remainder[k];
    }
}

/* The natural map of the contacts linearised, and the bilateral rows, which are equations of W
 * alone; then the step. */
static void newton_step(yk_newton *newton, const double *r, const double *u)
{
    const yk_contact_problem *problem = newton->problem;
    const int *first = problem->w.first;

    /* L (W dr) + R dr = -F / rho of every contact (cone.h). */
    newton->left_is_identity = false;
    for (int i = 0; i < problem->contact_count; i++) {
        yk_cone cone = yk_problem_cone(problem, i);
        size_t offset = newton->block_offset[i];
        yk_cone_linearise(&cone, newton->friction, newton->rho[i], r + first[i], u + first[i],
                          newton->left + offset, newton->right + offset, newton->rhs + first[i]);
    }

    /* Bilateral: L = 1, R = 0. */
    for (int i = problem->contact_count; i < problem->w.block_rows; i++) {
        int dim = first[i + 1] - first[i];
        double *left = newton->left + newton->block_offset[i];
        double *right = newton->right + newton->block_offset[i];

        memset(right, 0, (size_t)(dim * dim) * sizeof *right);
        for (int k = 0; k < dim * dim; k++)
            left[k] = k % (dim + 1) == 0;
        for (int k = first[i]; k < first[i + 1]; k++)
            newton->rhs[k] = -u[k];
    }

    yk_newton_factor(newton);
    yk_newton_solve(newton, 2);
}

int yk_newton_iterate(yk_newton *newton, double tolerance, double gain, int limit, double *r,
                      double *u, double *residual)
{
    int rows = newton->problem->row_count;
    size_t bytes = (size_t)rows * sizeof *r;
    int steps = 0;

    while (*residual > tolerance && steps < limit) {
        double before = *residual;
        newton_step(newton, r, u);
        steps++;

        /* The step is halved until the residual falls. */
        bool found = false;
        double part = 1;
        do {
            for (int k = 0; k < rows; k++)
                newton->trial[k] = r[k] + part * newton->step[k];
            double next = yk_contact_residual(newton->problem, newton->friction, newton->trial,
                                              newton->trial_u);
            found = next < before * (1 - 1e-4 * part);
            if (found)
                *residual = next;
            part /= 2;
        } while (!found && part > 1e-3);

        if (!found)
            break;
        memcpy(r, newton->trial, bytes);
        memcpy(u, newton->trial_u, bytes);

        /* Where it falls slowly another method does better. */
        if (*residual > gain * before)
            break;
    }

    return steps;
}

int yk_newton_iterate_undamped(yk_newton *newton, double tolerance, int limit, double *r, double *u,
                               double *residual)
{
    int rows = newton->problem->row_count;
    size_t bytes = (size_t)rows * sizeof *r;

    memcpy(newton->trial, r, bytes);
    memcpy(newton->trial_u, u, bytes);
    double begin = *residual;
    double now = begin;
    int steps = 0;

    while (steps < limit && now > tolerance && now < 1e3 * begin) {
        newton_step(newton, newton->trial, newton->trial_u);
        steps++;
        for (int k = 0; k < rows; k++)
            newton->trial[k] += newton->step[k];

        /* Worse ones are gone through, the best is kept. */
        now =
            yk_contact_residual(newton->problem, newton->friction, newton->trial, newton->trial_u);
        if (!(now < *residual))
            continue;
        *residual = now;
        memcpy(r, newton->trial, bytes);
        memcpy(u, newton->trial_u, bytes);
    }

    return steps;
}
