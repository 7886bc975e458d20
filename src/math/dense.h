/* Small dense kernels in place, row-major, leading dimension n, for sizes that fit in the cache (up
 * to about 100). */
#ifndef YK_MATH_DENSE_H
#define YK_MATH_DENSE_H

#include "yoke/base.h"

/* LU with partial pivoting of the n x n matrix a; pivot holds n row numbers. YK_ERROR_SINGULAR if
 * a pivot is exactly zero or not finite; `a` is then not usable. */
yk_status yk_lu_factor(int n, double *a, int *pivot);
/* Solves A x = b, in place. */
void yk_lu_solve(int n, const double *a, const int *pivot, double *b);

/* Matrix exponential of a (n <= 16) by scaling and squaring with a Pade approximant (Higham
 * 2005), after balancing. YK_ERROR_NOT_FINITE if a, or the result, is not finite. `result` may be
 * `a`. */
yk_status yk_dense_exp(int n, const double *a, double *result);

/* Rank of a symmetric positive semidefinite matrix by Cholesky's method with the largest pivot:
 * pivots up to the tolerance count as 0. Overwrites `a`. */
int yk_dense_rank(int n, double *a, double tolerance);

double yk_dense_dot(size_t n, const double *a, const double *b);
/* Euclidean norm, without overflow or underflow of the squares. */
double yk_dense_norm(size_t n, const double *a);

#endif
