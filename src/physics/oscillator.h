/* A mass on a spring and a damper, with one scalar port: the smallest subsystem, and the test
 * equation of co-simulation (two of them joined at their masses).
 *
 *   m x'' + c x' + k x = force(t) + (force of the port)
 *
 * The port takes a force (the oscillator moves) or a prescribed motion (the oscillator answers
 * with the force that was needed). Units: kg, N/m, N s/m, m, m/s, N. */
#ifndef YK_PHYSICS_OSCILLATOR_H
#define YK_PHYSICS_OSCILLATOR_H

#include "base/function.h"
#include "yoke/base.h"
#include "yoke/subsystem.h"

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
    yk_function force;
    yk_oscillator_integrator integrator;
    double rho_inf; /* 0 to 1, two-step only */
} yk_oscillator_def;

/* 1 kg without spring, damper or force, at rest; two-step with rho_inf = 0.6. */
yk_oscillator_def yk_oscillator_default(void);

yk_status yk_oscillator_create(yk_context *context, const yk_oscillator_def *def,
                               yk_subsystem **oscillator);

#endif
