/* What the accurate methods share: a problem with its factorisation, and semismooth Newton steps
 * on the natural map. */
#ifndef YK_CONTACT_NEWTON_H
#define YK_CONTACT_NEWTON_H

#include "contact/factor.h"
#include "contact/problem.h"
#include "contact/solver.h"

typedef struct yk_newton {
    const yk_contact_problem *problem;
    yk_friction_model friction;
    yk_factor *factor;
    size_t *block_offset; /* of each block row in left and right; block_rows + 1 */
    double *left, *right; /* block diagonals of the equation L (W + C) dr + R dr = rhs */
    bool left_is_identity;
    double *rhs, *step; /* of the linear equation; row_count each */
    double *trial, *trial_u;
    double *remainder; /* work of refine */
    double mean;       /* of the diagonal of W */
    double *rho;       /* per contact, for the natural map */
    int factorisations;
} yk_newton;

yk_status yk_newton_create(yk_context *context, const yk_contact_problem *problem,
                           yk_friction_model friction, yk_newton *newton);
void yk_newton_destroy(yk_context *context, yk_newton *newton);

/* Factors L (W + C) + R, W with a trace of the identity that makes rank-deficient problems
 * regular; the step's equation is then solved with `refinements` corrections. Changes R. */
void yk_newton_factor(yk_newton *newton);
void yk_newton_solve(yk_newton *newton, int refinements);

/* Newton steps with a line search from r, u = W r + C r + q, until the residual is at most
 * `tolerance`, or a step gains less than `gain` (a factor below 1), or `limit` steps are done. r,
 * u and *residual always hold the best; returns the number of steps. */
int yk_newton_iterate(yk_newton *newton, double tolerance, double gain, int limit, double *r,
                      double *u, double *residual);
/* Full steps without a line search, through iterates that are worse: where contacts change
 * between sticking, sliding and parting, the way down may lead up. Gives up when the residual is
 * a thousand times that of the start. */
int yk_newton_iterate_undamped(yk_newton *newton, double tolerance, int limit, double *r, double *u,
                               double *residual);

#endif
