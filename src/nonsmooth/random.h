/* Random numbers of our own, so that a seed means the same everywhere. */
#ifndef YK_NONSMOOTH_RANDOM_H
#define YK_NONSMOOTH_RANDOM_H

#include <math.h>
#include <stdint.h>

#include "math/vec3.h"

/* Uniform in [0, 1): SplitMix64 (Steele, Lea, Flood 2014). */
static inline double yk_random(uint64_t *seed)
{
    *seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *seed;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

/* Uniform in all rotations (Shoemake 1992). */
static inline yk_quat yk_random_orientation(uint64_t *seed)
{
    double u = yk_random(seed);
    double a = 2 * YK_PI * yk_random(seed);
    double b = 2 * YK_PI * yk_random(seed);
    return (yk_quat){sqrt(u) * cos(b), sqrt(1 - u) * sin(a), sqrt(1 - u) * cos(a),
                     sqrt(u) * sin(b)};
}

#endif
