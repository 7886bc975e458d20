/* A hydraulic cylinder behind its valve: rates of the pressures as functions of motion, spool, pump and tank
 * (Peiret et al. 2020, equations 46 to 51).
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
 * s is the length of the actuator and s0 its initial length. The flow through each of the four orifices is
 * area * cd * sqrt(2 dp / density). A negative pressure difference gives no flow (the deltas of Peiret et al. 2020), or a backflow if
 * the valve allows it. Below the laminar pressure the root is replaced by a parabola with a finite slope.
 *
 * The unknowns are the heads of both chambers and, if the valve has a lag, the spool. All functions are pure. */
#ifndef YK_PHYSICS_CYLINDER_H
#define YK_PHYSICS_CYLINDER_H

#include <math.h>
#include <stdbool.h>

#include "yoke/hydraulic.h"

/* Fluid ---------------------------------------------------------------------------------------- */

/* A compressible fluid. Its density, relative to that at zero pressure, is 1 + a p + b p^2, and its bulk modulus is
 * (1 + a p + b p^2) / (a + 2 b p) (Peiret et al. 2020, equation 49).
 *
 * The state of a chamber is its head. The head is the pressure as long as liquid fills the chamber. In a cavitated chamber
 * the pressure is the vapor pressure, and the head continues below it along the tangent of the density, as a measure of
 * the missing liquid. Cavities therefore open and close without events. Far above the usual pressures, where the law would
 * give a density that falls with the pressure, the density follows its tangent, too. */
static inline double yk_fluid_pressure(const yk_fluid *fluid, double head)
{
    return head > fluid->vapor_pressure ? head : fluid->vapor_pressure;
}

/* Largest pressure for which the density law is used, well below its maximum. */
static inline double yk_fluid_limit(const yk_fluid *fluid)
{
    return fluid->compressibility_2 < 0 ? -0.4 * fluid->compressibility / fluid->compressibility_2
                                        : INFINITY;
}

/* The head, limited to the range of the density law. */
static inline double yk_fluid_within(const yk_fluid *fluid, double head)
{
    return fmax(fluid->vapor_pressure, fmin(yk_fluid_limit(fluid), head));
}

/* Liquid per unit of volume, as its volume at zero pressure, and its derivatives with respect to the head. */
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

/* Volume fraction of vapor. */
static inline double yk_fluid_void(const yk_fluid *fluid, double head)
{
    if (head > fluid->vapor_pressure)
        return 0;
    return 1 - yk_fluid_fill(fluid, head) / yk_fluid_fill(fluid, fluid->vapor_pressure);
}

/* Integral of dp / (relative density) from 0: the enthalpy of a liquid that flows (J per m^3 at zero pressure). An orifice
 * dissipates the difference of the enthalpies. */
double yk_fluid_enthalpy(const yk_fluid *fluid, double pressure);

/* Cylinder ------------------------------------------------------------------------------------- */

/* Inputs of a cylinder at one time. */
typedef struct yk_cylinder_drive {
    double length, rate; /* s - s0 (m) and s' (m/s). */
    double command;      /* of the spool */
    double pump, tank;   /* Pa */
} yk_cylinder_drive;

enum { YK_ORIFICE_P1, YK_ORIFICE_T1, YK_ORIFICE_P2, YK_ORIFICE_T2, YK_ORIFICES };

/* Volume flows at the pressure of the chamber (m^3/s): out of the pump, into the tank. */
typedef struct yk_cylinder_flow {
    double orifice[YK_ORIFICES];
    double slope[YK_ORIFICES];    /* Derivative with respect to the pressure of the chamber. */
    double by_spool[YK_ORIFICES]; /* Derivative with respect to the spool. */
    int blocked;                  /* Number of open orifices with a negative pressure difference. */
} yk_cylinder_flow;

/* Powers (W). The rate of the stored energy is port + supply - loss. */
typedef struct yk_cylinder_power {
    double port;   /* Of the force that the motion of the port needs. */
    double supply; /* From the pump, minus the power to the tank. */
    double loss;   /* In orifices, leakage, friction and stops. */
} yk_cylinder_power;

/* The spool, limited to its range. */
double yk_valve_limited(yk_valve_kind kind, double spool);
/* Number of unknowns: 2, or 3 if the valve has a lag. */
int yk_cylinder_size(const yk_cylinder *cylinder);
void yk_cylinder_rate(const yk_cylinder *cylinder, const yk_fluid *fluid,
                      const yk_cylinder_drive *drive, const double *unknowns, double *rate);
/* Row-major, yk_cylinder_size() rows and columns. */
void yk_cylinder_jacobian(const yk_cylinder *cylinder, const yk_fluid *fluid,
                          const yk_cylinder_drive *drive, const double *unknowns, double *jacobian);
void yk_cylinder_flows(const yk_cylinder *cylinder, const yk_fluid *fluid,
                       const yk_cylinder_drive *drive, const double *unknowns,
                       yk_cylinder_flow *flow);
/* Force that pushes the ends apart (N), and the part of the stops in it. */
double yk_cylinder_force(const yk_cylinder *cylinder, const yk_fluid *fluid,
                         const yk_cylinder_drive *drive, const double *unknowns);
double yk_cylinder_stop_force(const yk_cylinder *cylinder, double length, double rate);
/* Energy of the compressed fluid and stops (J), relative to zero pressure. */
double yk_cylinder_energy(const yk_cylinder *cylinder, const yk_fluid *fluid, double length,
                          const double *unknowns);
void yk_cylinder_powers(const yk_cylinder *cylinder, const yk_fluid *fluid,
                        const yk_cylinder_drive *drive, const double *unknowns,
                        yk_cylinder_power *power);
/* Pressures at which the flows balance without motion. False: all orifices of a chamber are closed. */
bool yk_cylinder_steady(const yk_cylinder *cylinder, const yk_cylinder_drive *drive,
                        double pressure[2]);

#endif
