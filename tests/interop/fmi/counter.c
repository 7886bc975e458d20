/* Counts its steps, and knows what time it was told. */
#include "skeleton.h"

enum { STEPS, TIME, F, FAULT, VALUES };
enum { STATES = 0, INDICATORS = 0 };
#define TOKEN "{counter}"

static const double start[VALUES];
static const unsigned state_of[] = {STEPS}, rate_of[] = {STEPS};

static void calculate(double *v, double t)
{
    v[TIME] = t;
}

/* FMI 3 makes four of one step, see skeleton3.h. */
static void advance(double *v, const double *rate, double t, double h)
{
    (void)rate, (void)t, (void)h;
    v[STEPS] += VERSION == 2 ? 1 : 0.25;
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
