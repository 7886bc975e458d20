/* Sparse LU of a block matrix with symmetric pattern, A = L W + R with block diagonal L and R, as
 * the accurate solver needs it over and over.
 *
 * Contacts of one body are a clique of the matrix, so supernodes are wide (math/supernodal.h).
 * Rows are exchanged inside supernodes only; pivots that are still too small are moved away from
 * zero, which the caller repairs by iterative refinement. */
#ifndef YK_CONTACT_FACTOR_H
#define YK_CONTACT_FACTOR_H

#include "contact/problem.h"

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

#endif
