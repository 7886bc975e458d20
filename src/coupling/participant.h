/* Steps of single participants, with their inputs and outputs (participant.c). yk_system_advance_participant() of
 * yoke/scheme_ops.h is the plain step. */
#ifndef YK_COUPLING_PARTICIPANT_H
#define YK_COUPLING_PARTICIPANT_H

#include "coupling/system.h"

/* Makes a step and fills the derivatives of the participant's motions with respect to the coefficients of its inputs, in its
 * own units (yk_sensitivity_ops). */
yk_status yk_system_advance_sensitive(yk_system *system, int participant, int degree,
                                      double *sensitivity);
/* Advances over a part of the step that starts at `offset`, in the given number of substeps. Inputs start there too. */
yk_status yk_system_advance_part(yk_system *system, int participant, double offset, double h,
                                 int substeps);
/* Makes a step after `prepare`, which is counted and timed as a part of the step. */
yk_status yk_system_advance_prepared(yk_system *system, int participant,
                                     yk_status (*prepare)(yk_system *system, int participant,
                                                          void *user),
                                     void *user);
/* Makes one iteration of the participant's own solver towards the end of the macro step, and reads its outputs. */
yk_status yk_system_iterate(yk_system *system, int participant);

/* Sends the step of a participant in another process ahead; the advance that follows waits for it. Has no effect on
 * participants in this process. */
void yk_system_post(yk_system *system, int participant);
/* The same for yk_system_advance_part(), and for the request for a step model. */
void yk_system_post_part(yk_system *system, int participant, double offset, double whole,
                         int substeps);
void yk_system_post_step_model(yk_system *system, int participant, const yk_step_model *model);

/* Runs work for several participants at the same time, if the scheme has asked for threads. The participants have the
 * statuses. */
yk_status yk_system_use_threads(yk_system *system, int threads);
void yk_system_for_all(yk_system *system, int count, yk_pool_work work, void *user);
/* Advances each participant once by the given function: first those in this process, then those whose steps were sent
 * ahead. */
void yk_system_advance_all(yk_system *system,
                           yk_status (*advance)(yk_system *system, int participant));

/* Initializes a participant with its present inputs, and reads its outputs (system.c). */
yk_status yk_system_start_participant(yk_system *system, int participant);
/* The same for all participants of algebraic loops that are left to the scheme in steps. */
yk_status yk_system_start_joined_loops(yk_system *system);

/* The inputs of a participant in its own units. */
const yk_input *yk_system_inputs(yk_system *system, int participant);
/* Reads the outputs of a participant. An advance does this itself. */
void yk_system_gather(yk_participant *participant);
/* Fills the vectors `fresh` and `applied` of a participant, and applies a vector of wrenches as its inputs. */
void yk_system_pack_wrenches(yk_system *system, int participant);
void yk_system_apply_wrenches(yk_system *system, int participant, const double *wrenches);

/* Finds the row of each wrench port in the interface model or step model of a participant. `offsets` has one entry per port;
 * -1: the port receives no wrench. Returns the number of rows. */
int yk_system_number_velocities(const yk_system *system, int participant, int *offsets);
/* The step model of a participant, in the units of the system. */
yk_status yk_system_step_model(yk_system *system, int participant, const int *offsets,
                               yk_step_model *model);
/* The same for a part of the macro step that begins at `offset`, from the present state. */
yk_status yk_system_step_model_over(yk_system *system, int participant, double offset, double h,
                                    const int *offsets, yk_step_model *model);
void yk_participant_transform_step_model(const yk_participant *participant, const int *offsets,
                                         yk_step_model *model);
/* The interface model of a participant, in its own units. */
yk_status yk_system_interface_model(yk_system *system, int participant, yk_interface_model *model);
/* Counts an evaluation of a model that began at the time `begin` of the clock (s). */
void yk_system_count_model(yk_system *system, int participant, double begin);

#endif
