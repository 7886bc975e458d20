/* Eigenvalues: of matrices through LAPACK, of operators by Arnoldi's method. */
#ifndef YK_MATH_EIGEN_H
#define YK_MATH_EIGEN_H

#include "yoke/base.h"

/* Number of threads of the loaded BLAS; each uses YK_BLAS_BUFFER bytes of address space. */
enum { YK_BLAS_BUFFER = 136 << 20 };
int yk_blas_threads(void);

/* Eigenvalues of a general real matrix (row-major, overwritten); workspace comes from the context. */
yk_status yk_eigen_general(yk_context *context, int n, double *a, double *real, double *imaginary);

/* The same with right eigenvectors as rows of `vectors` (n x n), of length one. If imaginary[i] >
 * 0, rows i and i + 1 are real and imaginary part of the vector of eigenvalue i; that of i + 1 is
 * its conjugate. */
yk_status yk_eigen_general_vectors(yk_context *context, int n, double *a, double *real,
                                   double *imaginary, double *vectors);

/* Largest modulus of the eigenvalues (a is overwritten). */
yk_status yk_eigen_spectral_radius(yk_context *context, int n, double *a, double *radius);

/* A x = lambda B x with A symmetric, B symmetric positive definite (row-major, both overwritten):
 * ascending eigenvalues, vectors as rows of a, B-orthonormal. */
yk_status yk_eigen_symmetric_pair(yk_context *context, int n, double *a, double *b, double *values);

/* The eigenvalues of largest modulus of an operator that is given as a function.
 *
 * Arnoldi's method with thick restarts. Vectors and their images are both stored, so that residuals
 * are those of the operator as it was applied, and valid for an inexact operator, such as a
 * difference quotient. */
typedef struct yk_arnoldi_options {
    int wanted;       /* eigenvalues, a conjugate pair counting once */
    int space;        /* largest number of stored vectors */
    int applications; /* largest number of applications of the operator */
    double tolerance; /* residual, relative to the eigenvalue, that counts as found */
    /* image = operator * vector; any status but YK_OK ends the search. */
    yk_status (*apply)(void *user, const double *vector, double *image);
    void *user;
} yk_arnoldi_options;

/* 6 eigenvalues, 48 vectors, 400 applications, tolerance 1e-7. */
yk_arnoldi_options yk_arnoldi_default(void);

/* An eigenvalue with imaginary part >= 0, and its vector of length one. */
typedef struct yk_arnoldi_pair {
    double real, imaginary;
    double residual;     /* |A v - lambda v| */
    double *vector_real; /* n each, memory of the caller */
    double *vector_imaginary;
} yk_arnoldi_pair;

/* Starts from the given vector. `pairs` has room for `wanted`, `vectors` for 2 * wanted * n; *found
 * are filled, with descending modulus. YK_NOT_CONVERGED: the residuals show the accuracy. */
yk_status yk_arnoldi(yk_context *context, size_t n, const double *start,
                     const yk_arnoldi_options *options, yk_arnoldi_pair *pairs, double *vectors,
                     int *found);

#endif
