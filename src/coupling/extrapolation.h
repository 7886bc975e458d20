/* Extrapolation of the coupling motion: the motion of a wrench side at the end of a step, before that side has made the step.
 *
 * By default the subsystem itself predicts it (yk_system_predict_motion). The alternatives use the motions at the starts of
 * this step and of earlier ones, which may have different sizes:
 *
 *   constant    the present velocity
 *   linear      the velocity from the starts of the last two steps
 *   quadratic   the velocity from the starts of the last three steps
 *   hermite     the cubic through positions and velocities at the starts of the last two steps
 *
 * The position is the integral of the velocity. Rotations are extrapolated in the chart log(R R_n^T) around the present
 * orientation. The acceleration stays constant (Zhang et al. 2022, equation 35). Until there are enough steps, the order is lower. */
#ifndef YK_COUPLING_EXTRAPOLATION_H
#define YK_COUPLING_EXTRAPOLATION_H

#include "coupling/system.h"

/* Choices of yk_motion_extrapolation. */
extern const yk_option_choice yk_extrapolation_words[];

/* The rate at `tau` after now of the polynomial of the degree (0 to 2) through the present rate and the rates at one and two
 * earlier times, and its integral. steps[0]: from the last time to now; steps[1]: from the time before that to the last. */
yk_vec3 yk_extrapolate_rate(int degree, const double steps[2], double tau, yk_vec3 now,
                            const yk_vec3 *past, yk_vec3 *displacement);

/* What a scheme remembers for its extrapolation. NULL: the subsystems predict, and nothing is remembered. */
typedef struct yk_motion_history yk_motion_history;

yk_status yk_motion_history_create(yk_system *system, yk_motion_extrapolation kind,
                                   yk_motion_history **history);
void yk_motion_history_destroy(yk_motion_history *history, yk_system *system);
/* Forgets all earlier steps, at a start and after a jump. */
void yk_motion_history_restart(yk_motion_history *history);
/* Remembers the start of the step that is complete. */
void yk_motion_history_add_step(yk_motion_history *history, const yk_system *system);

/* The motion of the wrench side of an interface at the end of the step. */
void yk_motion_history_predict(const yk_motion_history *history, const yk_system *system,
                               int interface, yk_motion *end);

/* Its part of the state image. get and set return the word behind their continuous words. */
yk_state_layout yk_motion_history_layout(const yk_motion_history *history);
double *yk_motion_history_get(const yk_motion_history *history, double *continuous, double *opaque);
const double *yk_motion_history_set(yk_motion_history *history, const double *continuous,
                                    const double *opaque);
bool yk_motion_history_is_valid(const yk_motion_history *history, const double *opaque);

#endif
