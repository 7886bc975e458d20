/* A mass on a spring, m x'' + k x = f, exact for forces that change linearly over a step. */
#include "skeleton.h"

enum { X, V, A, F, M, K, CLOCK, DX, FAULT, VALUES };
enum { STATES = 2, INDICATORS = 0 };
#define TOKEN "{mass}"

static const double start[VALUES] = {[X] = 0, [M] = 1};
static const unsigned state_of[] = {X, V}, rate_of[] = {DX, A};

static void calculate(double *v, double t)
{
    v[A] = (v[F] - v[K] * v[X]) / v[M];
    v[DX] = v[V];
    v[CLOCK] = t;
}

static inline void advance(double *v, const double *rate, double t, double h)
{
    (void)t;
    double m = v[M], k = v[K], f = v[F], r = rate[F], x = v[X], u = v[V];
    if (k == 0) {
        v[X] = x + h * (u + h * (f / 2 + h * r / 6) / m);
        v[V] = u + h * (f + h * r / 2) / m;
        return;
    }
    /* About the moving point of rest (f + r t) / k. */
    double w = sqrt(k / m), e = x - f / k, de = u - r / k;
    v[X] = (f + r * h) / k + e * cos(w * h) + de / w * sin(w * h);
    v[V] = r / k - e * w * sin(w * h) + de * cos(w * h);
}

static void indicate(const double *v, double *z)
{
    (void)v, (void)z;
}

static bool react(double *v, double t)
{
    (void)v, (void)t;
    return false;
}

#if VERSION == 2
#include "skeleton2.h"
#else
#include "skeleton3.h"
#endif
