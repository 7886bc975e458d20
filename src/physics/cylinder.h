/* A hydraulic cylinder behind its valve: pressures from motion, spool, pump and tank (paper rim
 * (46)-(51)).
 *
 *       pump             pump
 *        | P1             | P2           the force pushes the ends apart:
 *     +--v------+--+------v----+
 *     | chamber |##|  chamber  |             f = p2 A2 - p1 A1 - c s' - stops
 *  ===+=========+##|           |
 *     |    1    |##|     2     +===      lengths of the chambers:
 *     +--|------+--+------|----+
 *        v T1             v T2               l1 = l share + s0 - s,  l2 = l (1 - share) + s - s0
 *       tank             tank
 *
 * s is the length of the actuator, s0 that at the start. Four orifices with the flow  area cd
 * sqrt(2 dp / density); a negative difference of pressures gives no flow (rim: the deltas), or
 * with `backflow` one in the other direction. Below a small difference of pressures the root is
 * rounded off, so that its slope stays finite.
 *
 * The unknowns are the heads of both chambers and, with a valve that lags, the spool.
 * Everything here is a pure function of them and of what drives them. */
#ifndef YK_PHYSICS_CYLINDER_H
#define YK_PHYSICS_CYLINDER_H

#include <math.h>
#include <stdbool.h>

#include "yoke/physics.h"

/* Fluid ---------------------------------------------------------------------------------------- */

/* A compressible fluid: density over that at zero pressure is 1 + a p + b p^2, so that the bulk
 * modulus (1 + a p + b p^2) / (a + 2 b p) depends on the pressure (paper rim (49)).
 *
 * `head` stands for the state of a chamber: the pressure, as long as there is only liquid. Where
 * the liquid does not fill the chamber the pressure stays at the vapour pressure, and the head
 * goes on falling below it along the tangent of the density: it then says how much liquid is
 * missing. So cavities open and close without events. Far above the pressures that the law is
 * made for, where it would give a fluid that thins under pressure, the tangent takes over too. */
static inline double yk_fluid_pressure(const yk_fluid *fluid, double head)
{
    return head > fluid->vapor_pressure ? head : fluid->vapor_pressure;
}

/* Up to here the density law is taken as it is: well before it would begin to fall. */
static inline double yk_fluid_limit(const yk_fluid *fluid)
{
    return fluid->compressibility_2 < 0 ? -0.4 * fluid->compressibility / fluid->compressibility_2
                                        : INFINITY;
}

/* The head within the range of the density law; beyond it the density goes on along its tangent. */
static inline double yk_fluid_within(const yk_fluid *fluid, double head)
{
    return fmax(fluid->vapor_pressure, fmin(yk_fluid_limit(fluid), head));
}

/* Liquid in a unit of volume, measured by its volume at zero pressure; its derivatives by the
 * head. */
static inline double yk_fluid_fill(const yk_fluid *fluid, double head)
{
    double p = yk_fluid_within(fluid, head);
    return 1 + p * (fluid->compressibility + p * fluid->compressibility_2) +
           (head - p) * (fluid->compressibility + 2 * fluid->compressibility_2 * p);
}

static inline double yk_fluid_fill_slope(const yk_fluid *fluid, double head)
{
    return fluid->compressibility + 2 * fluid->compressibility_2 * yk_fluid_within(fluid, head);
}

static inline double yk_fluid_fill_curvature(const yk_fluid *fluid, double head)
{
    return head == yk_fluid_within(fluid, head) ? 2 * fluid->compressibility_2 : 0;
}

/* Fraction of the volume that is cavity. */
static inline double yk_fluid_void(const yk_fluid *fluid, double head)
{
    if (head > fluid->vapor_pressure)
        return 0;
    return 1 - yk_fluid_fill(fluid, head) / yk_fluid_fill(fluid, fluid->vapor_pressure);
}

/* Integral of dp / (density over that at zero pressure) from 0: what a unit of liquid brings
 * along when it flows, in J per m^3 at zero pressure. A throttle loses the difference. */
double yk_fluid_enthalpy(const yk_fluid *fluid, double pressure);

/* Cylinder ------------------------------------------------------------------------------------- */

/* What drives a cylinder at one time. */
typedef struct yk_cylinder_drive {
    double length, rate; /* s and s', m and m/s; s - s0 for the length */
    double command;      /* of the spool */
    double pump, tank;   /* Pa */
} yk_cylinder_drive;

enum { YK_ORIFICE_P1, YK_ORIFICE_T1, YK_ORIFICE_P2, YK_ORIFICE_T2, YK_ORIFICES };

/* Volume flows at the pressure of the chamber (m^3/s): out of the pump, into the tank. */
typedef struct yk_cylinder_flow {
    double orifice[YK_ORIFICES];
    double slope[YK_ORIFICES];    /* derivative by the chamber's pressure */
    double by_spool[YK_ORIFICES]; /* derivative by the spool */
    int blocked;                  /* open orifices whose difference of pressures is negative */
} yk_cylinder_flow;

/* Powers, W. What comes in less what is lost is the rate of the energy stored. */
typedef struct yk_cylinder_power {
    double port;   /* of the force that the world needs for the motion */
    double supply; /* from the pump less what goes to the tank */
    double loss;   /* throttled, leaked, in friction and stops */
} yk_cylinder_power;

/* The spool within its limits. */
double yk_valve_limited(yk_valve_kind kind, double spool);
/* Two heads; with a lag the spool too. */
int yk_cylinder_size(const yk_cylinder *cylinder);
void yk_cylinder_rate(const yk_cylinder *cylinder, const yk_fluid *fluid,
                      const yk_cylinder_drive *drive, const double *unknowns, double *rate);
/* Row-major, of yk_cylinder_size(). */
void yk_cylinder_jacobian(const yk_cylinder *cylinder, const yk_fluid *fluid,
                          const yk_cylinder_drive *drive, const double *unknowns, double *jacobian);
void yk_cylinder_flows(const yk_cylinder *cylinder, const yk_fluid *fluid,
                       const yk_cylinder_drive *drive, const double *unknowns,
                       yk_cylinder_flow *flow);
/* With which it pushes its ends apart, N; the part of the stops. */
double yk_cylinder_force(const yk_cylinder *cylinder, const yk_fluid *fluid,
                         const yk_cylinder_drive *drive, const double *unknowns);
double yk_cylinder_stop_force(const yk_cylinder *cylinder, double length, double rate);
/* Compression of the fluid and of the stops, J, from the state at zero pressure. */
double yk_cylinder_energy(const yk_cylinder *cylinder, const yk_fluid *fluid, double length,
                          const double *unknowns);
void yk_cylinder_powers(const yk_cylinder *cylinder, const yk_fluid *fluid,
                        const yk_cylinder_drive *drive, const double *unknowns,
                        yk_cylinder_power *power);
/* Pressures at which the spool's flows balance without motion; false where all orifices of a
 * chamber are closed. */
bool yk_cylinder_steady(const yk_cylinder *cylinder, const yk_cylinder_drive *drive,
                        double pressure[2]);

#endif
