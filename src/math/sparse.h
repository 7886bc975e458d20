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

/* With its value, where matrices are handed on by their entries. */
typedef struct yk_matrix_entry {
    int row, column;
    double value;
} yk_matrix_entry;

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

/* Dense panels --------------------------------------------------------------------------------- */

/* Sparse LU in dense panels, for matrices with a (nearly) symmetric pattern: those of mechanics
 * and of contact.
 *
 * Neighbouring columns of L with (nearly) the same pattern, and the rows of U across from them,
 * are stored and computed as dense blocks: a supernode of w pivots and r rows below has
 *
 *   | D  U |  w        D and L in one block of w + r rows, column by column; U column by column
 *   | L    |  r
 *
 * so inner loops run over neighbouring numbers and indices are looked up once per row of a panel,
 * not once per entry. The pattern is made symmetric, and panels are filled up where that joins
 * them.
 *
 *   yk_supernodal_create   pattern of the factors, for pivots in an order that is given (see
 *                          yk_elimination_order)
 *   yk_supernodal_index    where each number of the matrix belongs
 *   yk_supernodal_clear    all numbers zero; the caller then writes those of the matrix to their
 *                          indices
 *   yk_supernodal_factor   in place
 *   yk_supernodal_solve    as many right-hand sides as wanted
 *
 * Pivots are taken as they come, or, for matrices that need it, exchanged for others of the same
 * supernode. */
typedef struct yk_supernodal yk_supernodal;

/* The pattern is one of vertices, each of which stands for `size` neighbouring rows and columns
 * of the matrix. */
typedef struct yk_supernodal_def {
    int vertices;
    const int *size;          /* rows of each vertex; NULL: one each */
    const int *starts, *rows; /* entries in compressed columns */
    /* Pivot k is at (row_order[k], column_order[k]), two vertices of the same size. */
    const int *row_order, *column_order;
    bool exchange; /* rows inside supernodes, for the sake of large pivots */
    size_t most;   /* numbers that the factors may take; 0: any */
} yk_supernodal_def;

/* *lu is NULL, with YK_OK, where the factors would take more than `most` numbers. */
yk_status yk_supernodal_create(yk_context *context, const yk_supernodal_def *def,
                               yk_supernodal **lu);
void yk_supernodal_destroy(yk_supernodal *lu);

/* Where the number at a row and column of the matrix belongs in the array that
 * yk_supernodal_clear returns. */
size_t yk_supernodal_index(const yk_supernodal *lu, int row, int column);
double *yk_supernodal_clear(yk_supernodal *lu);

/* Pivots smaller than `least` are moved to it, which the caller repairs by iterative refinement.
 * With `least` zero there is no repair; false: a pivot is zero or not finite. */
bool yk_supernodal_factor(yk_supernodal *lu, double least);
/* x = A^-1 b in place. */
void yk_supernodal_solve(yk_supernodal *lu, double *b);

/* Ratio of the smallest to the largest pivot. */
double yk_supernodal_spread(const yk_supernodal *lu);
/* The largest magnitude in each column of U, by the columns of the matrix. */
void yk_supernodal_largest(const yk_supernodal *lu, double *largest);

#endif
