/* The step in progress: its start, its parts and its end (scheme_api.c). Schemes that subdivide a
 * step use these functions in addition to those of yoke/scheme_ops.h. */
#ifndef YK_COUPLING_STEP_FRAME_H
#define YK_COUPLING_STEP_FRAME_H

#include "coupling/system.h"

/* Sets the modified inputs of a motion side from the motion of the wrench side at the end of the step. Without weights:
 * original inputs. */
void yk_system_prescribe_weighted(yk_system *system, int interface, const yk_input_weights *weights,
                                  const yk_motion *end);

/* Saves the present motions as those at the start of the next step. */
void yk_system_keep_start(yk_system *system);
/* Ends an accepted step: adds gaps and work of the interfaces to the statistics, and saves the
 * motions at its start, which are needed to predict participants with substeps. These motions
 * belong to the state image, so they must be saved here and not at the next start. */
void yk_system_keep_step(yk_system *system);
/* Starts a part of the step at t with the size h, and ends it: the next part starts from its result. */
void yk_system_begin_part(yk_system *system, double t, double h);
void yk_system_end_part(yk_system *system);
/* Tells the scheme that forces may jump at the present time. */
void yk_system_announce_event(yk_system *system);

#endif
