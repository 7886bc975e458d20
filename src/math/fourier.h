/* Discrete Fourier transform of a power of two points, in place (radix 2, decimation in time).
 * The distribution's double precision libraries are under the GPL or C++ headers, and this is all
 * that spectra of recorded signals need.
 */
#ifndef YK_MATH_FOURIER_H
#define YK_MATH_FOURIER_H

#include <stddef.h>

/* X(k) = sum over j of x(j) exp(-2 pi i j k / n); n must be a power of two. */
void yk_fourier_transform(size_t n, double *real, double *imaginary);

#endif
