/* Semismooth Newton steps on the natural map, the factors that they need, and proximal point
 * iterations around them. */
#ifndef YK_CONTACT_NEWTON_H
#define YK_CONTACT_NEWTON_H

#include "contact/problem.h"
#include "contact/solver.h"

/* Sparse LU of a block matrix with symmetric pattern, A = L W + R with block diagonal L and R,
 * which is refactored repeatedly.
 *
 * Contacts of one body are a clique of the matrix, so supernodes are wide (math/supernodal.c). Rows
 * are exchanged inside supernodes only. Pivots that are still too small are replaced by larger
 * ones, whose effect the caller removes by iterative refinement. */
typedef struct yk_factor yk_factor;

/* Orders the blocks and finds the pattern of the factors. */
yk_status yk_factor_create(yk_context *context, const yk_block_matrix *pattern, yk_factor **factor);
void yk_factor_destroy(yk_factor *factor);

/* `left` (NULL: the identity) and `right` store one row-major block per block row; block i begins
 * at offset[i]. Smaller pivots are increased to `smallest`. */
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
    double *remainder; /* workspace of refine */
    double mean;       /* of the diagonal of W */
    double *rho;       /* per contact, for the natural map */
    int factorisations;
} yk_newton;

yk_status yk_newton_create(yk_context *context, const yk_contact_problem *problem,
                           yk_friction_model friction, yk_newton *newton);
void yk_newton_destroy(yk_context *context, yk_newton *newton);

/* Factors L (W + C) + R, where W is regularized by a multiple of the identity for rank-deficient
 * problems. The step's equation is then solved with `refinements` corrections. Changes R. */
void yk_newton_factor(yk_newton *newton);
void yk_newton_solve(yk_newton *newton, int refinements);

/* Newton steps with a line search from r, u = W r + C r + q, until the residual is at most
 * `tolerance`, or a step gains less than `gain` (a factor below 1), or `limit` steps are made. r, u
 * and *residual always contain the best iterate; returns the number of steps. */
int yk_newton_iterate(yk_newton *newton, double tolerance, double gain, int limit, double *r,
                      double *u, double *residual);

/* Proximal point iterations for cone and Coulomb problems that Newton's method alone does not solve
 * (Rockafellar 1976; for Coulomb friction Acary, Bremond, Huber 2018).
 *
 * Each step solves the problem with W + alpha D in place of W and q - alpha D y in place of q by
 * Newton's method, where D contains the mean diagonals of the contacts' own blocks. If alpha is
 * large enough, Newton's method converges, because every contact then responds mainly to itself.
 * The result is the start of the next step. When the iterates converge, the added terms cancel.
 * alpha is adapted to the convergence of Newton's method. The center y is extrapolated in the
 * direction of the last change (Nesterov 1983) until that fails, because slow convergence occurs in
 * one direction. */
typedef struct yk_proximal {
    yk_context *context; /* for should_stop */
    const yk_contact_problem *problem;
    yk_contact_problem shifted; /* shares W and mu */
    double *scale;              /* D */
    double *centre, *last;
    double *best, *best_u;
    double alpha, momentum;
    bool undamped; /* uses Newton steps without a line search */
    int age;       /* steps since the extrapolation of the center last failed */
} yk_proximal;

yk_status yk_proximal_create(yk_context *context, const yk_contact_problem *problem,
                             yk_proximal *proximal);
void yk_proximal_destroy(yk_context *context, yk_proximal *proximal);

/* Iterates from r until the residual is at most `tolerance`, `limit` Newton steps are made, there
 * is no more progress, or the context requests a stop. r, u and *residual contain the best iterate;
 * returns the number of Newton steps. `newton` must belong to the same problem. */
int yk_proximal_iterate(yk_proximal *proximal, yk_newton *newton, double tolerance, int limit,
                        double *r, double *u, double *residual);

#endif
