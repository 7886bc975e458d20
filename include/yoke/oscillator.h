/* Oscillators: a mass on a spring and a damper with one scalar port.
 *
 *     m x'' + c x' + k x = force(t) + (force of the port)
 *
 *     yk_oscillator_def def = yk_oscillator_default();
 *     def.mass = 2;
 *     def.stiffness = 100;
 *     yk_subsystem *oscillator;
 *     yk_status status = yk_oscillator_create(context, &def, &oscillator);
 *
 * An oscillator is the smallest subsystem. Two oscillators with joined masses are the test equation of co-simulation. The
 * port receives a force, and the oscillator moves; or it receives a motion, and the oscillator returns the force that
 * this motion needs. Functions of time must outlive the subsystem. */
#ifndef YOKE_OSCILLATOR_H
#define YOKE_OSCILLATOR_H

#include "yoke/base.h"
#include "yoke/subsystem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum yk_oscillator_integrator {
    /* The implicit two-step method with rho_inf, started by the trapezoidal rule. A prescribed motion is a constraint at
     * position level. Zhang et al. 2022 (6), (7), (37); Zhang et al. 2020 (2)-(6). */
    YK_OSCILLATOR_TWO_STEP,
    /* Semi-implicit Euler. A prescribed motion is a constraint at velocity level with position stabilization.
     * Zhang et al. 2022 (11), (12), (38); Zhang et al. 2020 (26). */
    YK_OSCILLATOR_SEMI_IMPLICIT,
    /* Matrix exponential, exact for inputs that are polynomials in the step. */
    YK_OSCILLATOR_EXACT
} yk_oscillator_integrator;

typedef struct yk_oscillator_def {
    double mass;      /* Positive (kg). */
    double stiffness; /* N/m */
    double damping;   /* N s/m */
    double position;  /* Initial position (m). */
    double velocity;  /* Initial velocity (m/s). */
    yk_time_function force;
    yk_oscillator_integrator integrator;
    double rho_inf; /* Spectral radius at infinity of the two-step method, 0 to 1. */
} yk_oscillator_def;

/* 1 kg without spring, damper and force, at rest; two-step method with rho_inf = 0.6. */
yk_oscillator_def yk_oscillator_default(void);

yk_status yk_oscillator_create(yk_context *context, const yk_oscillator_def *def,
                               yk_subsystem **oscillator);

#ifdef __cplusplus
}
#endif

#endif
