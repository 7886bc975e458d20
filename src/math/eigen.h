/* Eigenvalues through LAPACK. */
#ifndef YK_MATH_EIGEN_H
#define YK_MATH_EIGEN_H

#include "yoke/base.h"

/* Threads of the BLAS that is loaded; each takes a buffer of addresses, YK_BLAS_BUFFER bytes. */
enum { YK_BLAS_BUFFER = 136 << 20 };
int yk_blas_threads(void);

/* Eigenvalues of a general real matrix (row-major, destroyed); workspace comes from the context. */
yk_status yk_eigen_general(yk_context *context, int n, double *a, double *real, double *imaginary);

/* The same with right eigenvectors as rows of `vectors` (n x n), of length one. Where
 * imaginary[i] > 0 rows i and i + 1 are real and imaginary part of the vector of eigenvalue i;
 * that of i + 1 is its conjugate. */
yk_status yk_eigen_general_vectors(yk_context *context, int n, double *a, double *real,
                                   double *imaginary, double *vectors);

/* Largest modulus of the eigenvalues (a is destroyed). */
yk_status yk_eigen_spectral_radius(yk_context *context, int n, double *a, double *radius);

/* A x = lambda B x with A symmetric, B symmetric positive definite (row-major, both destroyed):
 * ascending eigenvalues, vectors as rows of a, B-orthonormal. */
yk_status yk_eigen_symmetric_pair(yk_context *context, int n, double *a, double *b, double *values);

#endif
