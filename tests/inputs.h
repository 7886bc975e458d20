/* Inputs of scalar ports, and polynomials with their derivatives, as tests write them. */
#ifndef YK_TESTS_SIGNALS_H
#define YK_TESTS_SIGNALS_H

#include "math/vec3.h"

static inline yk_input constant_signal(double value)
{
    return (yk_input){.linear[0].x = value, .base_orientation = yk_q_identity()};
}

static inline yk_input linear_signal(double value, double rate)
{
    return (yk_input){.degree = 1,
                      .linear[0].x = value,
                      .linear[1].x = rate,
                      .base_orientation = yk_q_identity()};
}

static inline double polynomial_rate(const double *c, int degree, double t)
{
    double rate = 0;
    for (int i = degree; i >= 1; i--)
        rate = rate * t + i * c[i];
    return rate;
}

static inline double polynomial_second_rate(const double *c, int degree, double t)
{
    double rate = 0;
    for (int i = degree; i >= 2; i--)
        rate = rate * t + i * (i - 1) * c[i];
    return rate;
}

/* Cubic with values and rates at t = 0 and t = h. */
static inline void hermite_cubic(double h, double y0, double rate0, double y1, double rate1,
                                 double c[4])
{
    double slope = (y1 - y0) / h;
    c[0] = y0;
    c[1] = rate0;
    c[2] = (3 * slope - 2 * rate0 - rate1) / h;
    c[3] = (rate0 + rate1 - 2 * slope) / (h * h);
}

#endif
