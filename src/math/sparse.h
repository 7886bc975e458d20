/* Sparse square systems in four phases: pattern (analyse), values, factor or refactor, solve.
 * Factorisation by KLU.
 *
 *   yk_sparse_create        from a list of (row, column) entries, duplicates welcome: finds the
 *                           pattern once and a map from each entry to its index, so assembly is
 *                           values[entry_index[k]] += x without searching
 *   yk_sparse_factor        full numerical factorisation with pivoting
 *   yk_sparse_refactor      same pivots as in yk_sparse_factor, several times cheaper; others for
 *                           this matrix alone where those do not serve
 *   yk_sparse_solve         as many right-hand sides as wanted
 */
#ifndef YK_MATH_SPARSE_H
#define YK_MATH_SPARSE_H

#include "yoke/base.h"

typedef struct yk_sparse yk_sparse;

typedef struct yk_sparse_entry {
    int row, column;
} yk_sparse_entry;

/* entry_index[k] is where entry k is assembled in the array yk_sparse_values(). */
yk_status yk_sparse_create(yk_context *context, int n, const yk_sparse_entry *entries,
                           size_t entry_count, int *entry_index, yk_sparse **matrix);
/* The same with the pivots taken from the diagonal in the given order (a permutation of 0 ..
 * n-1), as long as they are large enough: for matrices whose structure is known better than a
 * general ordering can see it. */
yk_status yk_sparse_create_ordered(yk_context *context, int n, const yk_sparse_entry *entries,
                                   size_t entry_count, int *entry_index, const int *order,
                                   yk_sparse **matrix);
void yk_sparse_destroy(yk_sparse *matrix);

/* A fill-reducing order of the vertices of an undirected graph (approximate minimum degree):
 * order[k] is the k-th to be eliminated. Edges in any order, duplicates and loops welcome. */
yk_status yk_graph_order(yk_context *context, int n, const yk_sparse_entry *edges,
                         size_t edge_count, int *order);
/* An order of elimination that keeps factors sparse and supernodes wide: approximate
 * minimum degree for a symmetric pattern in compressed columns without duplicates,
 * renumbered so that columns with the same pattern follow each other: order[k] is the k-th vertex
 * to be eliminated. All memory is the context's. */
yk_status yk_elimination_order(yk_context *context, int n, const int *starts, const int *rows,
                               int *order);

size_t yk_sparse_nonzeros(const yk_sparse *matrix);
/* Compressed columns. */
const int *yk_sparse_column_starts(const yk_sparse *matrix);
const int *yk_sparse_rows(const yk_sparse *matrix);
double *yk_sparse_values(yk_sparse *matrix);

/* YK_ERROR_SINGULAR or YK_ERROR_NOT_FINITE with the number of the column where it failed in
 * *column (may be NULL). Refactor allocates nothing unless it falls back. */
yk_status yk_sparse_factor(yk_sparse *matrix, int *column);
yk_status yk_sparse_refactor(yk_sparse *matrix, int *column);
/* x = A^-1 b in place, with the last factors (NaN when the last factorisation failed). */
void yk_sparse_solve(yk_sparse *matrix, double *b);
/* y = A x with the present values. */
void yk_sparse_multiply(const yk_sparse *matrix, const double *x, double *y);
/* Estimate of the reciprocal condition number in the 1-norm (Hager's); the values must be those
 * that were factored. */
double yk_sparse_rcond(yk_sparse *matrix);

#endif
