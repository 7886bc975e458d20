/* Models for the integrator of model exchange; the parameter `model` selects one. */
#include "skeleton.h"

enum { X, V, DX, DV, MODEL, RATE, SIGN, FAULT, VALUES };
enum { STATES = 2, INDICATORS = 0 };
enum { DECAY, VAN_DER_POL, EXPLOSION, RELAY, RECTIFIER };
#define TOKEN "{stiff}"
#define NOMINALS \
    {            \
        1e-9, 1  \
    }
#define NEXT_EVENT(v, t) ((v)[MODEL] == RELAY ? 0.3 * (floor((t) / 0.3 + 0.5) + 1) : INFINITY)

static const double start[VALUES] = {[X] = 1, [RATE] = 1, [SIGN] = -1};
static const unsigned state_of[] = {X, V}, rate_of[] = {DX, DV};

static void calculate(double *v, double t)
{
    switch ((int)v[MODEL]) {
    case DECAY: /* a component of any stiffness that follows a slow one */
        v[DX] = -v[RATE] * v[X];
        v[DV] = -v[V];
        break;
    case VAN_DER_POL:
        v[DX] = v[V];
        v[DV] = v[RATE] * ((1 - v[X] * v[X]) * v[V] - v[X]);
        break;
    case EXPLOSION: /* x = 1 / (1 - t) */
        v[DX] = v[X] * v[X];
        v[DV] = 0;
        break;
    case RELAY: /* the sign changes at multiples of 0.3 s */
        v[DX] = v[SIGN];
        v[DV] = 0;
        break;
    default: { /* a diode that charges 1 mF, with 100 Ohm as load; V is the charge of the load */
        double source = 10 * sin(2 * 3.14159265358979323846 * 50 * t);
        double diode = 1e-12 * (exp((source - v[X]) / 0.025) - 1);
        v[DX] = (diode - v[X] / 100) / 1e-3;
        v[DV] = v[X] / 100;
    }
    }
}

static void indicate(const double *v, double *z)
{
    (void)v, (void)z;
}

static bool react(double *v, double t)
{
    (void)t;
    v[SIGN] = -v[SIGN];
    return false;
}

/* Co-simulation is not offered. */
static void advance(double *v, const double *rate, double t, double h)
{
    (void)v, (void)rate, (void)t, (void)h;
}

#include "skeleton2.h"
