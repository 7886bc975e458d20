/* A hydraulic circuit: cylinders behind valves on one pump and one tank (paper rim 5.1), as a
 * subsystem.
 *
 * Every cylinder NAME has two ports:
 *
 *   NAME         scalar, takes the motion of the actuator (length and rate) and answers with the force. The cylinder
 *                pushes its ends apart with the opposite of that force: what the mechanism's actuator receives.
 *   NAME.spool   signal, the command of its valve; where it is not connected, the function of the def
 *
 * The pressures are integrated by the Radau IIA method of order 5 (math/radau.h), in steps of a
 * fixed size or with error control. Pump and tank keep their pressure whatever they deliver, so
 * no cylinder knows of the others and each has its own steps. What an adaptive run would do next
 * is part of the state: rollback is exact to the bit. */
#ifndef YK_PHYSICS_HYDRAULIC_H
#define YK_PHYSICS_HYDRAULIC_H

#include "base/function.h"
#include "physics/cylinder.h"
#include "yoke/base.h"
#include "yoke/subsystem.h"

/* How the pressures at the start are found. */
typedef enum yk_hydraulic_start {
    YK_HYDRAULIC_STEADY,  /* the flows balance at the spool's place without motion */
    YK_HYDRAULIC_FORCE,   /* a given thrust, with the mean pressure between pump and tank */
    YK_HYDRAULIC_PRESSURE /* given */
} yk_hydraulic_start;

typedef struct yk_hydraulic_cylinder_def {
    const char *name; /* copied */
    yk_cylinder cylinder;
    yk_function spool; /* its command where no wire brings it */
    /* its command where there is no function either; NAN: 0.5 or 0, neutral for its valve */
    double neutral;
    double actuator_length; /* at the start, m; NAN: that of the motion that it is told then */
    yk_hydraulic_start start;
    double pressure[2]; /* YK_HYDRAULIC_PRESSURE, Pa */
    double force;       /* YK_HYDRAULIC_FORCE: pushes the ends apart, N */
} yk_hydraulic_cylinder_def;

typedef struct yk_hydraulic_def {
    const char *name;
    yk_fluid fluid;
    yk_function pump; /* pressure, Pa */
    double tank;      /* pressure, Pa */
    double step;      /* fixed steps no longer than this, s; 0: one per step that is asked for */
    /* with error control: relative error of the pressures per step; 0: fixed steps */
    double tolerance;
    const yk_hydraulic_cylinder_def *cylinders;
    int cylinder_count;
} yk_hydraulic_def;

/* The fluid and the valves of rim table 1, example 1: 7.6 and 0.1 MPa; no cylinder. */
yk_hydraulic_def yk_hydraulic_default(void);
yk_hydraulic_cylinder_def yk_hydraulic_cylinder_default(void);

yk_status yk_hydraulic_create(yk_context *context, const yk_hydraulic_def *def,
                              yk_subsystem **subsystem);

#endif
