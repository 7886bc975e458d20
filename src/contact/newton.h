/* The accurate methods: semismooth Newton steps on the natural map with the factors that they need,
 * and proximal point iterations around them. */
#ifndef YK_CONTACT_NEWTON_H
#define YK_CONTACT_NEWTON_H

#include "contact/problem.h"
#include "contact/solver.h"

/* Sparse LU of a block matrix with symmetric pattern, A = L W + R with block diagonal L and R, as
 * the accurate solver needs it over and over.
 *
 * Contacts of one body are a clique of the matrix, so supernodes are wide (math/supernodal.c).
 * Rows are exchanged inside supernodes only; pivots that are still too small are moved away from
 * zero, which the caller repairs by iterative refinement. */
typedef struct yk_factor yk_factor;

/* Orders the blocks and finds the pattern of the factors. */
yk_status yk_factor_create(yk_context *context, const yk_block_matrix *pattern, yk_factor **factor);
void yk_factor_destroy(yk_factor *factor);

/* `left` (NULL: the identity) and `right` hold one row-major block per block row, block i
 * beginning at offset[i]. Pivots below `smallest` are moved to it. */
void yk_factor_compute(yk_factor *factor, const yk_block_matrix *w, const double *left,
                       const double *right, const size_t *offset, double smallest);
/* x = A^-1 b in place. */
void yk_factor_solve(yk_factor *factor, double *b);

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

/* Proximal point iterations for cone and Coulomb problems that Newton alone does not solve
 * (Rockafellar 1976; for Coulomb friction Acary, Bremond, Huber 2018).
 *
 * Each step solves the problem with W + alpha D in place of W and q - alpha D y in place of q by
 * Newton's method, where D holds the mean diagonals of the contacts' own blocks. With alpha large
 * enough Newton converges, because every contact then answers mostly to itself; its result is
 * where the next step starts, and where nothing moves any more the added terms cancel. alpha
 * follows the trouble that Newton has. The centre y is ahead of the iterates in the direction of
 * the last change (Nesterov 1983) until that fails, for what converges slowly does so in one
 * direction. */
typedef struct yk_proximal {
    yk_context *context; /* says when to stop */
    const yk_contact_problem *problem;
    yk_contact_problem shifted; /* shares W and mu */
    double *scale;              /* D */
    double *centre, *last;
    double *best, *best_u;
    double alpha, momentum;
    bool undamped; /* tries Newton steps without a line search */
    int age;       /* steps since the centre was last ahead in vain */
} yk_proximal;

yk_status yk_proximal_create(yk_context *context, const yk_contact_problem *problem,
                             yk_proximal *proximal);
void yk_proximal_destroy(yk_context *context, yk_proximal *proximal);

/* From r until the residual is at most `tolerance`, `limit` Newton steps are done, nothing is
 * gained any more, or it is asked to stop. r, u and *residual hold the best; returns the number of
 * Newton steps. `newton` must belong to the same problem. */
int yk_proximal_iterate(yk_proximal *proximal, yk_newton *newton, double tolerance, int limit,
                        double *r, double *u, double *residual);

#endif
