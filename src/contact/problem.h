/* Frictional contact problems as plain data.
 *
 * Find impulses r with
 *
 *   u = W r + q velocities at the contacts, W symmetric, positive semidefinite
 *   K* contains u^ , perpendicular to r in K         per contact, see the friction models
 *   u = 0                                            per bilateral row, r free
 *
 * The components of a contact are ordered (N, T1, T2, S, R1, R2): normal, sliding, spinning about
 * the normal, rolling about the tangents. A contact has the first 1, 2, 3, 4 or 6 of them
 * (frictionless, planar, spatial, with spinning, with spinning and rolling).
 *
 * Friction models:
 *
 *   YK_FRICTION_CONVEX_CONE  K = {|r_T| <= mu r_N, |r_S| <= mu_spin r_N, |r_R| <= mu_roll r_N}, u^
 *                            = u: the convex cone complementarity problem (Zhang et al. 2020 (19)
 *                            with the term that makes it convex)
 *   YK_FRICTION_COULOMB      the same cone, u^ = u + (mu |u_T| + mu_spin |u_S| + mu_roll |u_R|)
 *                            e_N: true Coulomb friction
 *   YK_FRICTION_PYRAMID      each friction component separately, u_k against r_k in [-mu r_N, mu
 *                            r_N] (Peiret et al. 2020, equations 15 and 20)
 *
 * The assembled form of this header is for stored problems, for the interior-point and pivoting
 * solvers and for small problems. The factored form, network.h, never assembles W and is intended
 * for many bodies. */
#ifndef YK_CONTACT_PROBLEM_H
#define YK_CONTACT_PROBLEM_H

#include "math/sparse.h"
#include "yoke/contact.h"

enum { YK_CONTACT_DIM_MAX = 6 };

/* A square matrix of blocks in compressed rows: block row i has the blocks start[i] <= k < start[i
 * + 1] in ascending order of column[k], including the diagonal block; block (i, j) exists exactly
 * if (j, i) does. Row i has `first[i + 1] - first[i]` scalar rows. The values of block k are
 * row-major at value + offset[k]. */
typedef struct yk_block_matrix {
    int block_rows;
    int *first;     /* block_rows + 1 */
    int *start;     /* block_rows + 1 */
    int *column;    /* start[block_rows] */
    size_t *offset; /* start[block_rows] */
    double *value;
} yk_block_matrix;

typedef struct yk_contact_problem {
    yk_block_matrix w; /* contacts first; the following block rows are bilateral */
    int contact_count;
    int row_count;   /* scalar rows of w */
    double *q;       /* row_count */
    double *mu;      /* contact_count */
    double *mu_spin; /* contact_count; NULL: none (contacts of dim 4 and 6 only) */
    double *mu_roll; /* contact_count; NULL: none (contacts of dim 6 only) */
    /* row_count, >= 0: the diagonal C of Peiret et al. 2020 (42), added to W; NULL: rigid */
    double *softness;
} yk_contact_problem;

/* A problem owns its arrays, which come from the context. */
void yk_contact_problem_destroy(yk_context *context, yk_contact_problem *problem);

/* Allocates the arrays of a problem whose block rows have the sizes `dims`, contacts first; row i
 * has the blocks in the columns listed by `row_start` and `columns` (ascending). Values are zero. */
yk_status yk_contact_problem_create(yk_context *context, int block_rows, int contact_count,
                                    const int *dims, const int *row_start, const int *columns,
                                    yk_contact_problem *problem);

/* From a dense row-major W of contacts of equal dimension followed by `bilateral` single rows;
 * zero blocks are left out. */
yk_status yk_contact_problem_from_dense(yk_context *context, int dim, int contact_count,
                                        int bilateral, const double *w, const double *q,
                                        const double *mu, yk_contact_problem *problem);

/* A problem given by the entries of W, in any order; repeated entries are summed. Contacts have
 * `dim` rows each, bilateral rows follow. With dim 5, the storage format of problems with rolling
 * friction, the rows are (N, T1, T2, R1, R2), and a row for spinning without friction is inserted. */
typedef struct yk_contact_entries {
    int dim; /* 1, 2, 3, 5 or 6 */
    int contact_count, bilateral;
    const yk_matrix_entry *entry;
    size_t count;
    const double *q;       /* dim * contact_count + bilateral */
    const double *mu;      /* contact_count */
    const double *mu_roll; /* contact_count; NULL: none */
} yk_contact_entries;

yk_status yk_contact_problem_from_entries(yk_context *context, const yk_contact_entries *entries,
                                          yk_contact_problem *problem);

/* YK_ERROR_ARGUMENT names the first error: sizes, indices, numbers that are not finite, negative
 * mu. */
yk_status yk_contact_problem_check(yk_context *context, const yk_contact_problem *problem);

/* y = W x + C x. */
void yk_contact_multiply(const yk_contact_problem *problem, const double *x, double *y);

/* || r - P_K(r - rho u^) || / rho / ||q|| over all rows with rho = 1 / mean(diag W): the
 * unit-consistent natural map. Bilateral rows count with u. If q is zero the result is not divided
 * by ||q||. `u` (row_count) receives W r + C r + q. */
double yk_contact_residual(const yk_contact_problem *problem, yk_friction_model friction,
                           const double *r, double *u);

/* Parts of the above, for the solvers: the same measure for given r and u; one block row of W x + C
 * x + q; the diagonal block of W; the mean of its diagonal (1 if that is not positive). */
double yk_contact_residual_of(const yk_contact_problem *problem, yk_friction_model friction,
                              double rho, const double *r, const double *u);
void yk_contact_block_row(const yk_contact_problem *problem, int block, const double *x, double *y);
const double *yk_contact_diagonal_block(const yk_contact_problem *problem, int block);
double yk_contact_mean_diagonal(const yk_contact_problem *problem);

/* Contact problems in the velocities of bodies, before they are condensed to their contacts:
 *
 *   M v = H r + G l + f,   u = H^T v + w,   G^T v + b = 0
 *
 * M is symmetric and positive definite, H has a column per row of the contacts, G one per bilateral
 * row. After elimination of v
 *
 *   W = (H G)^T M^-1 (H G),   q = (H G)^T M^-1 f + (w b) */

/* Entries in any order; repeated entries are summed. */
typedef struct yk_entry_matrix {
    int rows, columns;
    size_t count;
    yk_matrix_entry *entry;
} yk_entry_matrix;

/* Owns its arrays, which come from the context. */
typedef struct yk_global_problem {
    int dim; /* as in yk_contact_entries */
    int contact_count;
    yk_entry_matrix m, h, g; /* without G: 0 columns */
    double *f;               /* rows of M */
    double *w;               /* columns of H */
    double *b;               /* columns of G */
    double *mu, *mu_roll;    /* contact_count; rolling friction with dim 5 only */
} yk_global_problem;

void yk_global_destroy(yk_context *context, yk_global_problem *problem);

/* Factors M and solves with it for every row, so that the cost is the number of rows times the size
 * of M. The caller destroys the condensed problem. YK_ERROR_ARGUMENT: sizes differ.
 * YK_ERROR_SINGULAR: M is singular. */
yk_status yk_global_condense(yk_context *context, const yk_global_problem *global,
                             yk_contact_problem *problem);

#endif
