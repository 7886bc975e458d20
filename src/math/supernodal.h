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
 *                          yk_elimination_order of sparse.h)
 *   yk_supernodal_index    where each number of the matrix belongs
 *   yk_supernodal_clear    all numbers zero; the caller then writes those of the matrix to their
 *                          indices
 *   yk_supernodal_factor   in place
 *   yk_supernodal_solve    as many right-hand sides as wanted
 *
 * Pivots are taken as they come, or, for matrices that need it, exchanged for others of the same
 * supernode. */
#ifndef YK_MATH_SUPERNODAL_H
#define YK_MATH_SUPERNODAL_H

#include "yoke/base.h"

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
