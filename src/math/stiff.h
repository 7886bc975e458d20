/* Error-controlled integration of stiff systems y' = f(t, y) of any size.
 *
 * Radau IIA of order 5 (Hairer, Wanner 1996, IV.8): L-stable, stiffly accurate, variable step size,
 * simplified Newton iterations on the transformed stages with dense matrices. Each step is accepted
 * if the embedded error estimate of order 3 is at most 1 in the root mean square of error_i /
 * (absolute_i + relative |y_i|).
 *
 *   create -> restart -> step, interpolate ... -> restart after a discontinuity -> ... -> destroy
 *
 * All results depend only on the arguments of yk_stiff_restart() and of the steps since then, so a
 * caller that restarts with the same numbers gets the same bits. */
#ifndef YK_MATH_STIFF_H
#define YK_MATH_STIFF_H

#include "base/context.h"

typedef struct yk_stiff yk_stiff;

/* Both functions may return YK_NOT_CONVERGED if they have no value at this point: the step is then
 * repeated with a smaller size. Any other error ends the step. */
typedef struct yk_stiff_problem {
    int n;
    yk_status (*rate)(void *user, double t, const double *y, double *rate);
    /* Row-major, n x n; `rate` is f(t, y). */
    yk_status (*jacobian)(void *user, double t, const double *y, const double *rate,
                          double *jacobian);
    void *user;
    double relative;        /* tolerance */
    const double *absolute; /* tolerances, n */
} yk_stiff_problem;

/* `problem` and its arrays must outlive the integrator. */
yk_status yk_stiff_create(yk_context *context, const yk_stiff_problem *problem, yk_stiff **stiff);
void yk_stiff_destroy(yk_stiff *self);

/* Starts at (t, y) without history. `proposal` is the step size to try first, in s; 0: estimate it
 * from the rates. */
void yk_stiff_restart(yk_stiff *self, double t, const double *y, double proposal);

/* Makes one step that is no longer than `limit` and meets the tolerance. YK_NOT_CONVERGED: even the
 * smallest step that changes the time does not meet it. */
yk_status yk_stiff_step(yk_stiff *self, double limit);

/* Size of the last step, and the size that the error control proposes for the next one. */
double yk_stiff_size(const yk_stiff *self);
double yk_stiff_proposal(const yk_stiff *self);

/* States at the fraction 0 <= theta <= 1 of the last step; the end for 1. */
void yk_stiff_interpolate(const yk_stiff *self, double theta, double *y);

#endif
