/* A ball that bounces on the ground: h' = v, v' = -g; where h = 0 and v < 0 it leaves with -e v. */
#include "skeleton.h"

enum { H, V, DH, DV, G, E, BOUNCES, FAULT, VALUES };
enum { STATES = 2, INDICATORS = 1 };
#define TOKEN "{ball}"

static const double start[VALUES] = {[H] = 1, [G] = 9.81, [E] = 0.7};
static const unsigned state_of[] = {H, V}, rate_of[] = {DH, DV};

static void calculate(double *v, double t)
{
    (void)t;
    v[DH] = v[V];
    v[DV] = -v[G];
}

static void indicate(const double *v, double *z)
{
    z[0] = v[H];
}

static bool react(double *v, double t)
{
    (void)t;
    if (v[H] > 0 || v[V] >= 0)
        return false;
    v[H] = 0;
    v[V] *= -v[E];
    v[BOUNCES]++;
    return true;
}

/* Co-simulation is not offered. */
static void advance(double *v, const double *rate, double t, double h)
{
    (void)v, (void)rate, (void)t, (void)h;
}

#if VERSION == 2
#include "skeleton2.h"
#else
#include "skeleton3.h"
#endif
