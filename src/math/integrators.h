/* Integrators shared by several modules: the two-step method as data (Zhang et al. 2022, equations
 * 6 and 7; Zhang et al. 2020, equations 2 to 6), and Radau's for small stiff systems (Hairer,
 * Wanner 1996; radau.c). */
#ifndef YK_MATH_INTEGRATORS_H
#define YK_MATH_INTEGRATORS_H

#include "yoke/status.h"

/* Two-step method ------------------------------------------------------------------------------ */

/* The implicit linear two-step method with tunable dissipation, as data.
 *
 *   y(n+1) = a1 y(n) + a2 y(n-1) + h (b0 y'(n+1) + b1 y'(n) + b2 y'(n-1))
 *
 * Second order, A-stable, asymptotic spectral radius rho_inf in [0, 1] (0: L-stable); Zhang et al.
 * 2022 (6), (7); Zhang et al. 2020 (2)-(4). The predictor is cubic Hermite extrapolation of the
 * rate, Zhang et al. 2022 (33), Zhang et al. 2020 (5):
 *
 *   y'(n+1) = -12/h (y(n) - y(n-1)) + 8 y'(n) + 5 y'(n-1)
 *
 * Zhang et al. 2022 (34) and Zhang et al. 2020 (6) follow by inserting it in the method. The first
 * step has no y(n-1): it uses the trapezoidal rule, which is the same formula with a2 = b2 = 0. It
 * is of second order, so that starting does not reduce the order. */
typedef struct yk_two_step {
    double a1, a2;
    double b0, b1, b2;
} yk_two_step;

static inline yk_two_step yk_two_step_coefficients(double rho_inf)
{
    double loss = (1 - rho_inf) * (1 - rho_inf);
    double beta = (3 * loss + 4 * (2 * rho_inf - 1)) / (4 - loss);
    double delta = loss / (2 * (4 - loss));
    return (yk_two_step){.a1 = 1 - beta,
                         .a2 = beta,
                         .b0 = delta + 0.5,
                         .b1 = beta / 2 + 0.5 - 2 * delta,
                         .b2 = beta / 2 + delta};
}

/* The same for a step that is `ratio` times as long as the previous one; h is the new step. Second
 * order for any values of the two parameters; these keep both roots at infinity at -rho_inf. */
static inline yk_two_step yk_two_step_variable(double rho_inf, double ratio)
{
    double loss = (1 - rho_inf) * (1 - rho_inf);
    double scale = 1 / (2 * (1 + ratio) - loss);
    double beta = ratio * (loss * (2 + ratio) + 2 * (2 * rho_inf - 1) * (1 + ratio)) * scale;
    double delta = 0.5 * ratio * ratio * loss * scale;
    return (yk_two_step){.a1 = 1 - beta,
                         .a2 = beta,
                         .b0 = (delta / ratio + 0.5 * ratio) / ratio,
                         .b1 = (0.5 * beta + 0.5 * ratio - delta / ratio * (1 + ratio)) / ratio,
                         .b2 = (0.5 * beta + delta) / ratio};
}

static inline yk_two_step yk_two_step_trapezoidal(void)
{
    return (yk_two_step){.a1 = 1, .b0 = 0.5, .b1 = 0.5};
}

/* Radau ---------------------------------------------------------------------------------------- */

/* One step of the Radau IIA method with three stages for small stiff systems y' = f(t, y).
 *
 * Order 5, stiffly accurate and L-stable (Hairer, Wanner 1996, IV.5, IV.8). The stages are solved
 * together by Newton's method with the Jacobian at each of them, so that kinks of f cost an
 * iteration and do not make the step fail. The stage values are returned: with the weights of the
 * last stage they integrate other functions along the step with the same order. */
enum { YK_RADAU_STAGES = 3, YK_RADAU_SIZE_MAX = 4 };

typedef struct yk_radau_problem {
    int n; /* at most YK_RADAU_SIZE_MAX */
    void (*rate)(void *user, double t, const double *y, double *rate);
    void (*jacobian)(void *user, double t, const double *y,
                     double *jacobian); /* row-major, n x n */
    void *user;
    /* n: scale of the unknowns; Newton's method stops at 1e-12 of scale + |y| */
    const double *scale;
} yk_radau_problem;

/* Times of the stages in the step, and the weights of the quadrature. */
extern const double yk_radau_node[YK_RADAU_STAGES], yk_radau_weight[YK_RADAU_STAGES];

/* The last stage is the result. YK_NOT_CONVERGED: the step is too long for Newton's method; `stage`
 * is invalid then. */
yk_status yk_radau_take(const yk_radau_problem *problem, double t, double h, const double *y,
                        double stage[YK_RADAU_STAGES][YK_RADAU_SIZE_MAX]);
/* Estimate of the local error of the finished step, of order 3: `error` receives one value per
 * unknown. */
yk_status yk_radau_error(const yk_radau_problem *problem, double t, double h, const double *y,
                         double stage[YK_RADAU_STAGES][YK_RADAU_SIZE_MAX], double *error);

#endif
