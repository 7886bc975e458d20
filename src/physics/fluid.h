/* A compressible fluid: density over that at zero pressure is 1 + a p + b p^2, so that the bulk
 * modulus (1 + a p + b p^2) / (a + 2 b p) depends on the pressure (paper rim (49)).
 *
 * `head` stands for the state of a chamber: the pressure, as long as there is only liquid. Where
 * the liquid does not fill the chamber the pressure stays at the vapour pressure, and the head
 * goes on falling below it along the tangent of the density: it then says how much liquid is
 * missing. So cavities open and close without events. Far above the pressures that the law is
 * made for, where it would give a fluid that thins under pressure, the tangent takes over too. */
#ifndef YK_PHYSICS_FLUID_H
#define YK_PHYSICS_FLUID_H

#include <math.h>

#include "yoke/physics.h"

static inline double yk_fluid_pressure(const yk_fluid *fluid, double head)
{
    return head > fluid->vapour ? head : fluid->vapour;
}

/* Up to here the density law is taken as it is: well before it would begin to fall. */
static inline double yk_fluid_limit(const yk_fluid *fluid)
{
    return fluid->b < 0 ? -0.4 * fluid->a / fluid->b : INFINITY;
}

/* The head within the range of the density law; beyond it the density goes on along its tangent. */
static inline double yk_fluid_within(const yk_fluid *fluid, double head)
{
    return fmax(fluid->vapour, fmin(yk_fluid_limit(fluid), head));
}

/* Liquid in a unit of volume, measured by its volume at zero pressure; its derivatives by the
 * head. */
static inline double yk_fluid_fill(const yk_fluid *fluid, double head)
{
    double p = yk_fluid_within(fluid, head);
    return 1 + p * (fluid->a + p * fluid->b) + (head - p) * (fluid->a + 2 * fluid->b * p);
}

static inline double yk_fluid_fill_slope(const yk_fluid *fluid, double head)
{
    return fluid->a + 2 * fluid->b * yk_fluid_within(fluid, head);
}

static inline double yk_fluid_fill_curvature(const yk_fluid *fluid, double head)
{
    return head == yk_fluid_within(fluid, head) ? 2 * fluid->b : 0;
}

/* Fraction of the volume that is cavity. */
static inline double yk_fluid_void(const yk_fluid *fluid, double head)
{
    if (head > fluid->vapour)
        return 0;
    return 1 - yk_fluid_fill(fluid, head) / yk_fluid_fill(fluid, fluid->vapour);
}

/* Integral of dp / (density over that at zero pressure) from 0: what a unit of liquid brings
 * along when it flows, in J per m^3 at zero pressure. A throttle loses the difference. */
double yk_fluid_enthalpy(const yk_fluid *fluid, double pressure);

#endif
