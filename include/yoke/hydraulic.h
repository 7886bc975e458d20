/* Hydraulic circuits: cylinders behind valves on one pump and one tank (Peiret et al. 2020, section 5.1).
 *
 *     yk_hydraulic_builder *circuit = yk_hydraulic_begin(context, NULL);
 *     yk_hydraulic_cylinder_def ram = yk_hydraulic_cylinder_default();
 *     ram.name = "ram";
 *     yk_hydraulic_add_cylinder(circuit, &ram);
 *     yk_subsystem *hydraulics;
 *     yk_status status = yk_hydraulic_create(circuit, &hydraulics);
 *
 * Each cylinder NAME has two ports:
 *
 *     NAME          Scalar. Receives the motion of the actuator (length and rate) and returns the force. The cylinder
 *                   pushes its ends apart with the opposite of that force, which the actuator of a mechanism receives.
 *     NAME.spool    Signal. The command of the valve; the function of the def if the port is not connected.
 *
 * The pressures are integrated by the Radau IIA method of order 5, with fixed steps or with error control. Pump and tank
 * keep their pressures, so the cylinders do not influence each other and each has its own steps. The next step of the
 * error control is part of the state, so that a rollback is bit-exact. Names must live until `create` returns;
 * functions of time must outlive the subsystem. */
#ifndef YOKE_HYDRAULIC_H
#define YOKE_HYDRAULIC_H

#include "yoke/base.h"
#include "yoke/ids.h"
#include "yoke/subsystem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A fluid whose density, relative to that at zero pressure, is 1 + compressibility p + compressibility_2 p^2
 * (Peiret et al. 2020, equation 49). */
typedef struct yk_fluid {
    double compressibility;   /* 1/Pa */
    double compressibility_2; /* 1/Pa^2 */
    double density;           /* kg/m^3 */
    double vapor_pressure;    /* Pressure below which the fluid cavitates (Pa). */
} yk_fluid;

/* The valve of a cylinder: four orifices between pump, chambers and tank. */
typedef enum yk_valve_kind {
    /* Spool k in [0, 1]: P1 and T2 open with k, T1 and P2 with 1 - k, so that opening the valve retracts the cylinder.
     * Peiret et al. 2020, equation 51. */
    YK_VALVE_OPEN_CENTER,
    /* Spool k in [-1, 1]: a positive k opens P2 and T1 and extends the cylinder, a negative k opens P1 and T2 and retracts
     * it, 0 closes all orifices. */
    YK_VALVE_CLOSED_CENTER
} yk_valve_kind;

typedef struct yk_valve {
    yk_valve_kind kind;
    double area; /* Of an open orifice (m^2). */
    double discharge_coefficient;
    double time_constant;    /* Lag of the spool behind its command (s); 0: none. */
    double laminar_pressure; /* Pressure difference below which the flow becomes laminar (Pa). */
    bool
        allow_backflow; /* Fluid may flow from a chamber to the pump and from the tank to a chamber. */
} yk_valve;

typedef struct yk_cylinder {
    double area[2];          /* Of the piston in chamber 1 and chamber 2 (m^2). */
    double length;           /* Of both chambers together (m). */
    double initial_fraction; /* Initial length of chamber 1 / length, between 0 and 1. */
    double viscous_friction; /* N s/m */
    double
        leakage; /* Past the piston from chamber 2 to chamber 1, at zero pressure (m^3/(s Pa)). */
    /* End stops. If a chamber is shorter than min_chamber_length by d, the piston is pushed back with
     * stop_stiffness d (1 + stop_damping d'), and never pulled. */
    double min_chamber_length; /* m */
    double stop_stiffness;     /* N/m */
    double stop_damping;       /* s/m */
    yk_valve valve;
} yk_cylinder;

/* How the initial pressures are found. */
typedef enum yk_hydraulic_initial_state {
    YK_HYDRAULIC_INITIAL_STEADY, /* The flows at the initial spool position balance without motion. */
    YK_HYDRAULIC_INITIAL_FORCE, /* A given force, and the mean of the pressures of pump and tank. */
    YK_HYDRAULIC_INITIAL_PRESSURE /* Given. */
} yk_hydraulic_initial_state;

typedef struct yk_hydraulic_cylinder_def {
    const char *name;
    yk_cylinder cylinder;
    yk_time_function spool_command; /* Used if no wire is connected. */
    double
        neutral_command; /* Used if there is no function either; NAN: the neutral position of the valve (0.5 or 0). */
    double initial_actuator_length; /* m; NAN: that of the initial motion of the port. */
    yk_hydraulic_initial_state initial_state;
    double pressure[2]; /* YK_HYDRAULIC_INITIAL_PRESSURE (Pa). */
    double force;       /* YK_HYDRAULIC_INITIAL_FORCE, positive if it pushes the ends apart (N). */
} yk_hydraulic_cylinder_def;

typedef struct yk_hydraulic_def {
    const char *name;
    yk_fluid fluid;
    yk_time_function pump_pressure; /* Pa */
    double tank_pressure;           /* Pa */
    double max_step;                /* Largest fixed step (s); 0: one step per call. */
    double relative_tolerance;      /* Relative error of the pressures per step; 0: fixed steps. */
    /* One pascal in the unit of pressure of all these numbers; 1 if it is not positive. Limits and tolerances of the
     * solver are scaled by it. */
    double pascal;
} yk_hydraulic_def;

/* The fluid of example 1 of Peiret et al. 2020 (table 1), between 7.6 and 0.1 MPa. */
yk_hydraulic_def yk_hydraulic_default(void);
/* The cylinder and the valve of the same example, without friction. */
yk_hydraulic_cylinder_def yk_hydraulic_cylinder_default(void);

typedef struct yk_hydraulic_builder yk_hydraulic_builder;

/* `def` may be NULL for the defaults. Returns NULL if memory is missing; the functions below accept NULL, and
 * yk_hydraulic_create() reports it. */
yk_hydraulic_builder *yk_hydraulic_begin(yk_context *context, const yk_hydraulic_def *def);
/* Returns the scalar port of the cylinder, or YK_NULL_PORT. */
yk_port_id yk_hydraulic_add_cylinder(yk_hydraulic_builder *builder,
                                     const yk_hydraulic_cylinder_def *def);
/* Creates the subsystem and frees the builder, also after an error. YK_ERROR_ARGUMENT: the message names the part that is
 * wrong. */
yk_status yk_hydraulic_create(yk_hydraulic_builder *builder, yk_subsystem **subsystem);
/* Frees a builder without creating a subsystem; NULL is allowed. */
void yk_hydraulic_discard(yk_hydraulic_builder *builder);

#ifdef __cplusplus
}
#endif

#endif
