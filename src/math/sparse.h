/* Sparse square systems in four phases: pattern (analyze), values, factor or refactor, solve.
 * Factorization by KLU.
 *
 *   yk_sparse_create        from a list of (row, column) entries, which may contain duplicates:
 *                           finds the pattern once and a map from each entry to its index, so that
 *                           assembly is values[entry_index[k]] += x without a search
 *   yk_sparse_factor        full numerical factorization with pivoting
 *   yk_sparse_refactor      with the pivots of yk_sparse_factor(), several times cheaper; with
 *                           other pivots for this matrix only if those are unsuitable
 *   yk_sparse_solve         any number of right-hand sides */
#ifndef YK_MATH_SPARSE_H
#define YK_MATH_SPARSE_H

#include "yoke/base.h"

typedef struct yk_sparse yk_sparse;

typedef struct yk_sparse_entry {
    int row, column;
} yk_sparse_entry;

/* An entry with its value. */
typedef struct yk_matrix_entry {
    int row, column;
    double value;
} yk_matrix_entry;

/* entry_index[k] is the index of entry k in the array yk_sparse_values(). */
yk_status yk_sparse_create(yk_context *context, int n, const yk_sparse_entry *entries,
                           size_t entry_count, int *entry_index, yk_sparse **matrix);
/* The same with the pivots taken from the diagonal in the given order (a permutation of 0 .. n-1),
 * as long as they are large enough: for matrices whose structure the caller knows better than a
 * general ordering. */
yk_status yk_sparse_create_ordered(yk_context *context, int n, const yk_sparse_entry *entries,
                                   size_t entry_count, int *entry_index, const int *order,
                                   yk_sparse **matrix);
void yk_sparse_destroy(yk_sparse *matrix);

/* A fill-reducing order of the vertices of an undirected graph (approximate minimum degree):
 * order[k] is the k-th vertex to be eliminated. Edges in any order; duplicates and loops are
 * allowed. */
yk_status yk_graph_order(yk_context *context, int n, const yk_sparse_entry *edges,
                         size_t edge_count, int *order);
/* An order of elimination that keeps factors sparse and supernodes wide: approximate minimum degree
 * for a symmetric pattern in compressed columns without duplicates, renumbered so that columns with
 * the same pattern are consecutive: order[k] is the k-th vertex to be eliminated. All memory
 * belongs to the context. */
yk_status yk_elimination_order(yk_context *context, int n, const int *starts, const int *rows,
                               int *order);

size_t yk_sparse_nonzeros(const yk_sparse *matrix);
/* Compressed columns. */
const int *yk_sparse_column_starts(const yk_sparse *matrix);
const int *yk_sparse_rows(const yk_sparse *matrix);
double *yk_sparse_values(yk_sparse *matrix);

/* YK_ERROR_SINGULAR or YK_ERROR_NOT_FINITE: *column (may be NULL) receives the column of the
 * failure. Refactor allocates nothing unless it needs new pivots. */
yk_status yk_sparse_factor(yk_sparse *matrix, int *column);
yk_status yk_sparse_refactor(yk_sparse *matrix, int *column);
/* x = A^-1 b in place, with the last factors (NaN if the last factorization failed). */
void yk_sparse_solve(yk_sparse *matrix, double *b);
/* y = A x with the present values. */
void yk_sparse_multiply(const yk_sparse *matrix, const double *x, double *y);
/* Estimate of the reciprocal condition number in the 1-norm (Hager's); the values must not have
 * changed since the factorization. */
double yk_sparse_rcond(yk_sparse *matrix);
/* Ratio of the smallest to the largest pivot of the last factorization: at most about the rounding
 * errors of the entries if rows depend on each other, but not small for long chains, whose condition
 * number is large. 0: the last factorization failed. */
double yk_sparse_pivot_spread(yk_sparse *matrix);

/* Dense panels --------------------------------------------------------------------------------- */

/* Sparse LU in dense panels, for matrices with a (nearly) symmetric pattern: those of mechanics and
 * of contact.
 *
 * Neighbouring columns of L with (nearly) the same pattern, and the corresponding rows of U, are
 * stored and computed as dense blocks: a supernode of w pivots and r rows below them has
 *
 *   | D  U |  w        D and L in one block of w + r rows, column by column; U column by column
 *   | L    |  r
 *
 * so that inner loops use consecutive numbers and indices are looked up once per row of a panel,
 * not once per entry. The pattern is made symmetric, and panels are padded if that lets columns
 * share one.
 *
 *   yk_supernodal_create   pattern of the factors, for pivots in a given order (see
 *                          yk_elimination_order)
 *   yk_supernodal_index    place of each entry of the matrix
 *   yk_supernodal_clear    sets all values to zero; the caller then writes those of the matrix to
 *                          their places
 *   yk_supernodal_factor   in place
 *   yk_supernodal_solve    any number of right-hand sides
 *
 * Pivots are used in the given order or, for matrices that need it, exchanged for others of the
 * same supernode. */
typedef struct yk_supernodal yk_supernodal;

/* The pattern consists of vertices, each of which represents `size` neighbouring rows and columns
 * of the matrix. */
typedef struct yk_supernodal_def {
    int vertices;
    const int *size;          /* rows of each vertex; NULL: one each */
    const int *starts, *rows; /* entries in compressed columns */
    /* Pivot k is at (row_order[k], column_order[k]), two vertices of the same size. */
    const int *row_order, *column_order;
    bool exchange; /* exchange rows inside supernodes to get large pivots */
    size_t most;   /* largest number of values of the factors; 0: any */
} yk_supernodal_def;

/* *lu is NULL, with YK_OK, if the factors would need more than `most` values. */
yk_status yk_supernodal_create(yk_context *context, const yk_supernodal_def *def,
                               yk_supernodal **lu);
void yk_supernodal_destroy(yk_supernodal *lu);

/* Index of an entry of the matrix in the array that yk_supernodal_clear() returns. */
size_t yk_supernodal_index(const yk_supernodal *lu, int row, int column);
double *yk_supernodal_clear(yk_supernodal *lu);

/* Smaller pivots are increased to `least`, whose effect the caller removes by iterative refinement.
 * If `least` is zero, false means that a pivot is zero or not finite. */
bool yk_supernodal_factor(yk_supernodal *lu, double least);
/* x = A^-1 b in place. */
void yk_supernodal_solve(yk_supernodal *lu, double *b);

/* Ratio of the smallest to the largest pivot. */
double yk_supernodal_spread(const yk_supernodal *lu);
/* The largest absolute value in each column of U, in the order of the columns of the matrix. */
void yk_supernodal_largest(const yk_supernodal *lu, double *largest);

#endif
