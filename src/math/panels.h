/* Sparse LU with pivots that are given in advance, in dense panels.
 *
 * Neighbouring columns of L with (nearly) the same pattern, and the rows of U across from them, are stored and computed
 * as dense blocks: a supernode of w pivots and r rows below has
 *
 *   | D  U |  w        D and L in one block of w + r rows, column by column; U column by column
 *   | L    |  r
 *
 * so inner loops run over neighbouring numbers and indices are looked up once per row of a panel, not once per entry.
 * Made for matrices with a symmetric pattern that are factored thousands of times with the same pivots: those of
 * mechanics. The pattern is made symmetric, and panels are filled up where that joins them. */
#ifndef YK_MATH_PANELS_H
#define YK_MATH_PANELS_H

#include "yoke/base.h"

typedef struct yk_panels yk_panels;

/* A in compressed columns; pivot k is at (row_order[k], column_order[k]). */
yk_status yk_panels_create(yk_context *context, int n, const int *starts, const int *rows, const int *row_order,
                           const int *column_order, yk_panels **panels);
void yk_panels_destroy(yk_panels *panels);
/* Numbers that the factors take. */
size_t yk_panels_size(const yk_panels *panels);

/* The order of rows that it was made for. */
const int *yk_panels_rows(const yk_panels *panels);

/* False: a pivot is zero or not finite. */
bool yk_panels_factor(yk_panels *panels, const double *values);
/* Ratio of the smallest to the largest pivot. */
double yk_panels_spread(const yk_panels *panels);
/* Reciprocal pivot growth: the least ratio, over the columns, of the largest entry of A to that of U. */
double yk_panels_growth(yk_panels *panels, const double *values);
/* x = A^-1 b in place. */
void yk_panels_solve(yk_panels *panels, double *b);

#endif
