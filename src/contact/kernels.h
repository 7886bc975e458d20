/* Dense kernels of the supernodal factorisation, in four-lane vectors with an AVX2 build chosen at run time; both give
 * the same bits. */
#ifndef YK_CONTACT_KERNELS_H
#define YK_CONTACT_KERNELS_H

#include <stddef.h>

/* C (m x n) = A (m x k) B^T (B is n x k), all column-major with the strides given. C may be written up to the next
 * multiple of nothing beyond m rows. */
void yk_multiply_transposed(int m, int n, int k, const double *a, size_t stride_a, const double *b, size_t stride_b,
                            double *c, size_t stride_c);

#endif
