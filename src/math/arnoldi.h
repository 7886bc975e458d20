/* The eigenvalues of largest modulus of an operator that is only known by what it does to a vector.
 *
 * Arnoldi's method with thick restarts. Vectors and their images are both kept, so that residuals
 * are those of the operator as it was applied, and hold for one that is itself inexact, such as a
 * difference quotient. */
#ifndef YK_MATH_ARNOLDI_H
#define YK_MATH_ARNOLDI_H

#include "yoke/base.h"

typedef struct yk_arnoldi_options {
    int wanted;       /* eigenvalues, a conjugate pair counting once */
    int space;        /* vectors that are kept at most */
    int applications; /* of the operator, at most */
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
    double *vector_real; /* n each, in the caller's room */
    double *vector_imaginary;
} yk_arnoldi_pair;

/* From the start vector on. `pairs` has room for `wanted`, `vectors` for 2 * wanted * n; *found
 * are filled, falling in modulus. YK_NOT_CONVERGED: the residuals say how good they are. */
yk_status yk_arnoldi(yk_context *context, size_t n, const double *start,
                     const yk_arnoldi_options *options, yk_arnoldi_pair *pairs, double *vectors,
                     int *found);

#endif
