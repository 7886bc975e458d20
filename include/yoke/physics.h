/* Small subsystem kinds besides mechanisms: oscillators, hydraulic circuits, controllers.
 *
 * An oscillator has no parts and is made from its def in one call:
 *
 *   yk_oscillator_def def = yk_oscillator_default();
 *   def.mass = 2;
 *   def.stiffness = 100;
 *   yk_subsystem *oscillator;
 *   yk_status status = yk_oscillator_create(context, &def, &oscillator);
 *
 * Circuits and controllers are built from parts, as mechanisms are (yoke/mechanics.h):
 *
 *   yk_hydraulic_builder *circuit = yk_hydraulic_begin(context, NULL);
 *   yk_hydraulic_cylinder_def ram = yk_hydraulic_cylinder_default();
 *   ram.name = "ram";
 *   yk_hydraulic_add_cylinder(circuit, &ram);
 *   yk_subsystem *hydraulics;
 *   yk_status status = yk_hydraulic_create(circuit, &hydraulics);
 *
 * Names must live until `create` has returned; functions of time must outlive the subsystem, which
 * is destroyed by its operations table. */
#ifndef YOKE_PHYSICS_H
#define YOKE_PHYSICS_H

#include <stdbool.h>

#include "yoke/base.h"
#include "yoke/subsystem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Oscillators ---------------------------------------------------------------------------------- */

/* A mass on a spring and a damper, with one scalar port: the smallest subsystem, and the test
 * equation of co-simulation (two of them joined at their masses).
 *
 *   m x'' + c x' + k x = force(t) + (force of the port)
 *
 * The port takes a force (the oscillator moves) or a prescribed motion (the oscillator answers
 * with the force that was needed). Units: kg, N/m, N s/m, m, m/s, N. */
typedef enum yk_oscillator_integrator {
    /* The implicit two-step method with rho_inf, started by the trapezoidal rule; a prescribed
     * motion is a constraint at position level. Papers: explicit (6), (7), (37), tight (2)-(6). */
    YK_OSCILLATOR_TWO_STEP,
    /* Semi-implicit Euler; a prescribed motion is a constraint at velocity level with position
     * stabilisation. Papers: explicit (11), (12), (38), tight (26). */
    YK_OSCILLATOR_SEMI_IMPLICIT,
    /* Matrix exponential; exact for inputs that are polynomials on the step. */
    YK_OSCILLATOR_EXACT
} yk_oscillator_integrator;

typedef struct yk_oscillator_def {
    double mass;      /* kg, > 0 */
    double stiffness; /* N/m */
    double damping;   /* N s/m */
    double position;  /* m, at the start */
    double velocity;  /* m/s, at the start */
    yk_time_function force;
    yk_oscillator_integrator integrator;
    double rho_inf; /* 0 to 1, two-step only */
} yk_oscillator_def;

/* 1 kg without spring, damper or force, at rest; two-step with rho_inf = 0.6. */
yk_oscillator_def yk_oscillator_default(void);

yk_status yk_oscillator_create(yk_context *context, const yk_oscillator_def *def,
                               yk_subsystem **oscillator);

/* Hydraulic circuits --------------------------------------------------------------------------- */

/* A fluid whose density over that at zero pressure is 1 + a p + b p^2 (paper rim (49)). */
typedef struct yk_fluid {
    double compressibility, compressibility_2; /* 1/Pa, 1/Pa^2 */
    double density;                            /* kg/m^3 */
    double vapor_pressure;                     /* pressure below which cavities open, Pa */
} yk_fluid;

/* The valve of a cylinder: four orifices between pump, chambers and tank. */
typedef enum yk_valve_kind {
    /* rim (51): spool k in [0, 1]; P1 and T2 open with k, T1 and P2 with 1 - k: opening it
     * retracts */
    YK_VALVE_OPEN_CENTER,
    /* Spool k in [-1, 1]: positive opens P2 and T1 (extends), negative P1 and T2 (retracts), 0
     * closes all. */
    YK_VALVE_CLOSED_CENTER
} yk_valve_kind;

typedef struct yk_valve {
    yk_valve_kind kind;
    double area;                  /* of an orifice that is open, m^2 */
    double discharge_coefficient; /* cd */
    double time_constant;         /* of the spool behind its command, time constant in s; 0: none */
    double laminar_pressure; /* the root is rounded off below this difference of pressures, Pa */
    bool allow_backflow;
} yk_valve;

typedef struct yk_cylinder {
    double area[2];          /* of the piston on the side of chamber 1 and of chamber 2, m^2 */
    double length;           /* of both chambers together, m */
    double initial_fraction; /* of chamber 1 in it at the start, in (0, 1) */
    double viscous_friction; /* N s/m */
    /* past the piston, from chamber 2 to 1: volume at zero pressure per time and pressure, m^3/(s
     * Pa) */
    double leakage;
    /* End stops: the piston meets them when a chamber is `stop` long: k d (1 + alpha d') pushes
     * back, never pulls. */
    double min_chamber_length; /* m */
    double stop_stiffness;     /* N/m */
    double stop_damping;       /* alpha, s/m */
    yk_valve valve;
} yk_cylinder;

/* A hydraulic circuit: cylinders behind valves on one pump and one tank (paper rim 5.1), as a
 * subsystem.
 *
 * Every cylinder NAME has two ports:
 *
 *   NAME         scalar, takes the motion of the actuator (length and rate) and answers with the force. The cylinder
 *                pushes its ends apart with the opposite of that force: what the mechanism's actuator receives.
 *   NAME.spool   signal, the command of its valve; where it is not connected, the function of the def
 *
 * The pressures are integrated by the Radau IIA method of order 5, in steps of a fixed size or
 * with error control. Pump and tank keep their pressure whatever they deliver, so no cylinder
 * knows of the others and each has its own steps. What an adaptive run would do next is part of
 * the state: rollback is exact to the bit. */
/* How the pressures at the start are found. */
typedef enum yk_hydraulic_initial_state {
    YK_HYDRAULIC_INITIAL_STEADY,  /* the flows balance at the spool's place without motion */
    YK_HYDRAULIC_INITIAL_FORCE,   /* a given thrust, with the mean pressure between pump and tank */
    YK_HYDRAULIC_INITIAL_PRESSURE /* given */
} yk_hydraulic_initial_state;

typedef struct yk_hydraulic_cylinder_def {
    const char *name;
    yk_cylinder cylinder;
    yk_time_function spool_command; /* its command where no wire brings it */
    /* its command where there is no function either; NAN: 0.5 or 0, neutral for its valve */
    double neutral_command;
    double
        initial_actuator_length; /* at the start, m; NAN: that of the motion that it is given then */
    yk_hydraulic_initial_state initial_state;
    double pressure[2]; /* YK_HYDRAULIC_INITIAL_PRESSURE, Pa */
    double force;       /* YK_HYDRAULIC_INITIAL_FORCE: pushes the ends apart, N */
} yk_hydraulic_cylinder_def;

typedef struct yk_hydraulic_def {
    const char *name;
    yk_fluid fluid;
    yk_time_function pump_pressure; /* pressure, Pa */
    double tank_pressure;           /* pressure, Pa */
    double max_step; /* fixed steps no longer than this, s; 0: one per step that is asked for */
    /* with error control: relative error of the pressures per step; 0: fixed steps */
    double relative_tolerance;
    /* One pascal in the unit of pressure of all these numbers; 1 if it is not positive. Limits and tolerances
     * of the solver follow it. */
    double pascal;
} yk_hydraulic_def;

/* The fluid of rim table 1, example 1, between 7.6 and 0.1 MPa. */
yk_hydraulic_def yk_hydraulic_default(void);
/* The cylinder and the valve of the same example, without friction. */
yk_hydraulic_cylinder_def yk_hydraulic_cylinder_default(void);

typedef struct yk_hydraulic_builder yk_hydraulic_builder;

/* NULL: the default def. Returns NULL when out of memory, which the functions below take and
 * yk_hydraulic_create reports. */
yk_hydraulic_builder *yk_hydraulic_begin(yk_context *context, const yk_hydraulic_def *def);
/* The number of its port, or YK_NO_ID. That of its spool is found by its name. */
int yk_hydraulic_add_cylinder(yk_hydraulic_builder *builder, const yk_hydraulic_cylinder_def *def);
/* Makes the subsystem, and ends the builder whatever comes out. YK_ERROR_ARGUMENT with the name of
 * what is wrong. */
yk_status yk_hydraulic_create(yk_hydraulic_builder *builder, yk_subsystem **subsystem);
/* Ends a builder from which nothing is to be made; NULL is allowed. */
void yk_hydraulic_discard(yk_hydraulic_builder *builder);

/* Controllers ---------------------------------------------------------------------------------- */

/* Controllers: loops that compare a measured signal with a reference and give a command (paper
 * rim (53)).
 *
 *   e = reference - measured,   v = P e + I (integral of e) + D e'
 *
 *   YK_CONTROL_OUTPUT_VALUE   command = offset + v
 *   YK_CONTROL_OUTPUT_RATE    command' = v, from the offset on: rim (53) with P = -k^P, D = -k^D
 *
 * The command stays within its limits and changes no faster than its rate limit. Integrals do not
 * wind up: while the command is held back, an error that would drive it further is not
 * integrated.
 *
 * Every loop NAME has four signal ports: it gives `NAME` and takes `NAME.measured`, and if they
 * are connected `NAME.rate` (the derivative of what is measured; without it e' comes from
 * differences of e, smoothed by the filter) and `NAME.reference` (instead of the function). With
 * a period they are read at its samples, else all the time. */
typedef enum yk_control_output {
    YK_CONTROL_OUTPUT_VALUE,
    YK_CONTROL_OUTPUT_RATE
} yk_control_output;

typedef struct yk_control_loop_def {
    const char *name;
    yk_control_output output;
    yk_time_function reference;
    double proportional, integral, derivative;
    double derivative_filter;        /* time constant of e', s; 0: none */
    double command_offset;           /* command without error; form rate: command at the start */
    double min_command, max_command; /* limits of the command */
    double max_command_rate;         /* of the command, 1/s */
} yk_control_loop_def;

typedef struct yk_control_def {
    const char *name;
    double
        sample_period; /* between samples, s; the command is held from one to the next; 0: continuous */
    double max_step; /* continuous: longest own step, s; 0: one per step that is asked for */
} yk_control_def;

/* Continuous. */
yk_control_def yk_control_default(void);
/* No gains, no limits. */
yk_control_loop_def yk_control_loop_default(void);

typedef struct yk_control_builder yk_control_builder;

/* NULL: the default def. Returns NULL when out of memory, which the functions below take and
 * yk_control_create reports. */
yk_control_builder *yk_control_begin(yk_context *context, const yk_control_def *def);
/* The number of the port that gives its command, or YK_NO_ID; those of its other ports follow, in
 * the order above. */
int yk_control_add_loop(yk_control_builder *builder, const yk_control_loop_def *def);
/* Makes the subsystem, and ends the builder whatever comes out. YK_ERROR_ARGUMENT with the name of
 * what is wrong. */
yk_status yk_control_create(yk_control_builder *builder, yk_subsystem **subsystem);
/* Ends a builder from which nothing is to be made; NULL is allowed. */
void yk_control_discard(yk_control_builder *builder);

#ifdef __cplusplus
}
#endif

#endif
