/* A spring and damper to the ground that is moved: f = k x + c v. */
#include "skeleton.h"

enum { X, V, F, K, C, FAULT, VALUES };
enum { STATES = 0, INDICATORS = 0 };
#define TOKEN "{spring}"

static const double start[VALUES] = {[K] = 100};
static const unsigned state_of[] = {X}, rate_of[] = {V};

static void calculate(double *v, double t)
{
    (void)t;
    v[F] = v[K] * v[X] + v[C] * v[V];
}

static void advance(double *v, const double *rate, double t, double h)
{
    (void)v, (void)rate, (void)t, (void)h;
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

#include "skeleton2.h"
