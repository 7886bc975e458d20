/* Variable macro steps (step_control.c). */
#ifndef YK_COUPLING_STEP_CONTROL_H
#define YK_COUPLING_STEP_CONTROL_H

#include "coupling/system.h"

yk_status yk_controller_create(yk_system *system, const yk_step_control *def);
yk_status yk_controller_start(yk_system *system);
void yk_controller_destroy(yk_system *system);
/* The part of step control in the state image. Set: false if the words are not those of a controller of this system. */
void yk_controller_get(const yk_controller *controller, double words[YK_CONTROLLER_WORDS]);
bool yk_controller_set(yk_controller *controller, const double words[YK_CONTROLLER_WORDS]);

/* Steps from t with the scheme over `left` (s), or over a part of it; *taken is the size of the
 * accepted step. All outputs are finite afterwards. */
yk_status yk_controller_step(yk_system *system, double t, double left, double *taken,
                             yk_step_report *report);
/* Saves the state at the start of a step, and restores it as if the step had not been tried. Only
 * the observed order of the error is kept. */
void yk_controller_keep(yk_system *system);
yk_status yk_controller_take_back(yk_system *system);
/* Whether a failed step may succeed with a smaller size or with other wrenches. */
bool yk_step_is_recoverable(yk_status status);
/* Raises speed and spin to the differences of two motions. A position difference counts as the
 * velocity that causes it in the time h. */
void yk_motion_error(yk_port_kind kind, double h, const yk_motion *a, const yk_motion *b,
                     double *speed, double *spin);

#endif
