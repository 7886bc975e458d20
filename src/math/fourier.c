#include "math/fourier.h"

#include "math/vec3.h"

static void swap(double *a, double *b)
{
    double kept = *a;
    *a = *b;
    *b = kept;
}

static void reverse_bits(size_t n, double *real, double *imaginary)
{
    for (size_t i = 1, j = 0; i < n; i++) {
        size_t bit = n >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
        if (i >= j) continue;
        swap(&real[i], &real[j]);
        swap(&imaginary[i], &imaginary[j]);
    }
}

void yk_fourier_transform(size_t n, double *real, double *imaginary)
{
    reverse_bits(n, real, imaginary);
    for (size_t length = 2; length <= n; length *= 2) {
        size_t half = length / 2;
        for (size_t k = 0; k < half; k++) {
            /* Each factor from its own angle: recurrences lose digits over long transforms. */
            double angle = -2 * YK_PI * (double)k / (double)length, c = cos(angle), s = sin(angle);
            for (size_t begin = k; begin < n; begin += length) {
                size_t other = begin + half;
                double re = c * real[other] - s * imaginary[other], im = s * real[other] + c * imaginary[other];
                real[other] = real[begin] - re, imaginary[other] = imaginary[begin] - im;
                real[begin] += re, imaginary[begin] += im;
            }
        }
    }
}
