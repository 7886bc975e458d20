/* One step of the Radau IIA method with three stages for small stiff systems y' = f(t, y).
 *
 * Order 5, stiffly accurate and L-stable (Hairer, Wanner 1996, IV.5, IV.8). The stages are solved
 * together by Newton's method with the Jacobian at each of them, so that kinks of f cost an
 * iteration, not the step. The stage values are handed back: with the weights of the last stage
 * they integrate anything along the way to the same order. */
#ifndef YK_MATH_RADAU_H
#define YK_MATH_RADAU_H

#include "yoke/status.h"

enum { YK_RADAU_STAGES = 3, YK_RADAU_SIZE_MAX = 4 };

typedef struct yk_radau_problem {
    int n; /* at most YK_RADAU_SIZE_MAX */
    void (*rate)(void *user, double t, const double *y, double *rate);
    void (*jacobian)(void *user, double t, const double *y,
                     double *jacobian); /* row-major, n x n */
    void *user;
    const double *scale; /* n: what counts as one; Newton stops at 1e-12 of scale + |y| */
} yk_radau_problem;

typedef struct yk_radau_step {
    double stage[YK_RADAU_STAGES][YK_RADAU_SIZE_MAX]; /* the last is the result */
    int iterations;
} yk_radau_step;

/* Places of the stages in the step, and the weights of the quadrature. */
extern const double yk_radau_node[YK_RADAU_STAGES], yk_radau_weight[YK_RADAU_STAGES];

/* YK_NOT_CONVERGED: the step is too long for Newton's method; `step` is of no use then. */
yk_status yk_radau_take(const yk_radau_problem *problem, double t, double h, const double *y,
                        yk_radau_step *step);
/* Estimate of the local error of a step that was taken, of order 3: `error` gets one per
 * unknown. */
yk_status yk_radau_error(const yk_radau_problem *problem, double t, double h, const double *y,
                         const yk_radau_step *step, double *error);

#endif
