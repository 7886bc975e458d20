#include "math/fourier.h"

#include "math/vec3.h"

void yk_fourier_transform(size_t n, double *real, double *imaginary)
{
    /* Reorders the entries by reversing the bits of their indices, in place. */
    for (size_t i = 1, j = 0; i < n; i++) {
        size_t bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i >= j)
            continue;

        double re = real[i], im = imaginary[i];
        real[i] = real[j];
        imaginary[i] = imaginary[j];
        real[j] = re;
        imaginary[j] = im;
    }

    /* Butterflies of increasing length. */
    for (size_t length = 2; length <= n; length *= 2) {
        size_t half = length / 2;
        for (size_t k = 0; k < half; k++) {
            /* Compute each factor from its own angle, because recurrences lose accuracy in long
             * transforms. */
            double angle = -2 * YK_PI * (double)k / (double)length;
            double c = cos(angle), s = sin(angle);
            for (size_t begin = k; begin < n; begin += length) {
                size_t other = begin + half;
                double re = c * real[other] - s * imaginary[other];
                double im = s * real[other] + c * imaginary[other];
                real[other] = real[begin] - re;
                imaginary[other] = imaginary[begin] - im;
                real[begin] += re;
                imaginary[begin] += im;
            }
        }
    }
}
