/* Radau IIA of order 5 with its embedded error estimate (Hairer, Wanner 1996, IV.5 and IV.8), for a
 * few unknowns: all stages at once by Newton's method with exact Jacobians. */
#include "math/integrators.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"

#define SQRT6 2.449489742783178098

const double yk_radau_node[YK_RADAU_STAGES] = {(4 - SQRT6) / 10, (4 + SQRT6) / 10, 1};
const double yk_radau_weight[YK_RADAU_STAGES] = {(16 - SQRT6) / 36, (16 + SQRT6) / 36, 1.0 / 9};

static const double coefficient[YK_RADAU_STAGES][YK_RADAU_STAGES] = {
    {(88 - 7 * SQRT6) / 360, (296 - 169 * SQRT6) / 1800, (-2 + 3 * SQRT6) / 225},
    {(296 + 169 * SQRT6) / 1800, (88 + 7 * SQRT6) / 360, (-2 - 3 * SQRT6) / 225},
    {(16 - SQRT6) / 36, (16 + SQRT6) / 36, 1.0 / 9},
};
/* Of the embedded formula, and the real eigenvalue of the inverse of the coefficients. */
static const double error_weight[YK_RADAU_STAGES] = {-(13 + 7 * SQRT6) / 3, (-13 + 7 * SQRT6) / 3,
                                                     -1.0 / 3};
static const double REAL_EIGENVALUE = 3.6378342527444957;

static const double NEWTON_TOLERANCE = 1e-12;
enum { NEWTON_LIMIT = 25, UNKNOWNS_MAX = YK_RADAU_STAGES * YK_RADAU_SIZE_MAX };

/* Residual y + h sum a_ij f_j - Y_i in `b`, and I - h a_ij J_j in `matrix`. */
static void linearise(const yk_radau_problem *p, double t, double h, const double *y,
                      double stage[YK_RADAU_STAGES][YK_RADAU_SIZE_MAX], double *matrix, double *b)
{
    int n = p->n;
    int size = YK_RADAU_STAGES * n;
    double rate[YK_RADAU_STAGES][YK_RADAU_SIZE_MAX];
    double jacobian[YK_RADAU_SIZE_MAX * YK_RADAU_SIZE_MAX];

    /* Rates and Jacobians stage by stage. */
    for (int j = 0; j < YK_RADAU_STAGES; j++) {
        double at = t + yk_radau_node[j] * h;
        p->rate(p->user, at, stage[j], rate[j]);
        p->jacobian(p->user, at, stage[j], jacobian);

        for (int i = 0; i < YK_RADAU_STAGES; i++) {
            for (int r = 0; r < n; r++) {
                double *row = &matrix[(i * n + r) * size + j * n];
                for (int c = 0; c < n; c++)
                    row[c] = (i == j && r == c) - h * coefficient[i][j] * jacobian[r * n + c];
            }
        }
    }

    /* The residual. */
    for (int i = 0; i < YK_RADAU_STAGES; i++) {
        for (int r = 0; r < n; r++) {
            double sum = 0;
            for (int j = 0; j < YK_RADAU_STAGES; j++)
                sum += coefficient[i][j] * rate[j][r];
            b[i * n + r] = y[r] + h * sum - stage[i][r];
        }
    }
}

yk_status yk_radau_take(const yk_radau_problem *problem, double t, double h, const double *y,
                        double stage[YK_RADAU_STAGES][YK_RADAU_SIZE_MAX])
{
    double matrix[UNKNOWNS_MAX * UNKNOWNS_MAX];
    double b[UNKNOWNS_MAX];
    int pivot[UNKNOWNS_MAX];
    int size = YK_RADAU_STAGES * problem->n;

    /* Initial guess: the state at the start of the step. */
    for (int i = 0; i < YK_RADAU_STAGES; i++)
        memcpy(stage[i], y, (size_t)problem->n * sizeof *y);

    /* Newton's method on all of them. */
    double last = INFINITY;
    for (int iteration = 0; iteration < NEWTON_LIMIT; iteration++) {
        linearise(problem, t, h, y, stage, matrix, b);
        if (yk_lu_factor(size, matrix, pivot) != YK_OK)
            return YK_NOT_CONVERGED;

        yk_lu_solve(size, matrix, pivot, b);

        /* The largest correction, relative to the scale. */
        double change = 0;
        for (int i = 0; i < YK_RADAU_STAGES; i++) {
            double *value = stage[i];
            for (int r = 0; r < problem->n; r++) {
                double correction = b[i * problem->n + r];
                if (!isfinite(correction))
                    return YK_NOT_CONVERGED;

                value[r] += correction;
                change = fmax(change, fabs(correction) / (problem->scale[r] + fabs(value[r])));
            }
        }

        if (!isfinite(change))
            return YK_NOT_CONVERGED;

        /* The next correction, with quadratic convergence, would be a rounding error. */
        if (change <= NEWTON_TOLERANCE || (change < 1e-7 && change < 1e-3 * last))
            return YK_OK;

        last = change;
    }

    return YK_NOT_CONVERGED;
}

yk_status yk_radau_error(const yk_radau_problem *problem, double t, double h, const double *y,
                         double stage[YK_RADAU_STAGES][YK_RADAU_SIZE_MAX], double *error)
{
    int pivot[YK_RADAU_SIZE_MAX];
    int n = problem->n;
    double matrix[YK_RADAU_SIZE_MAX * YK_RADAU_SIZE_MAX];

    /* (gamma_0 / h - J)^-1 (f + sum e_i z_i / h): the embedded formula, filtered so that stiff
     * components do not make it too large. */
    problem->rate(problem->user, t, y, error);
    problem->jacobian(problem->user, t, y, matrix);
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < YK_RADAU_STAGES; i++)
            error[r] += error_weight[i] * (stage[i][r] - y[r]) / h;
        for (int c = 0; c < n; c++)
            matrix[r * n + c] = (r == c) * REAL_EIGENVALUE / h - matrix[r * n + c];
    }

    yk_status status = yk_lu_factor(n, matrix, pivot);
    if (status != YK_OK)
        return status;

    yk_lu_solve(n, matrix, pivot, error);
    return YK_OK;
}
