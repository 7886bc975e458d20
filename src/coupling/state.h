/* The state of a system as one image (state.c), and the use of states by a run. */
#ifndef YK_COUPLING_STATE_H
#define YK_COUPLING_STATE_H

#include "coupling/system.h"

bool yk_participant_can_return(const yk_participant *participant);
/* At creation: checks that every participant can be rolled back if the scheme, step control or the failure policy needs it. */
yk_status yk_system_check_rollback(const yk_system *system);
/* Before the start: tells the participants how the run will use their states. */
void yk_system_announce_states(yk_system *system);
/* After the start of the participants: finds the layout and allocates memory. */
yk_status yk_system_prepare_states(yk_system *system);

/* The words that the scheme keeps between steps, and their part of a state image. */
yk_state_layout yk_scheme_state_layout(const yk_system *system);
void yk_scheme_state_get(const yk_system *system, double *continuous, double *opaque);
void yk_scheme_state_set(yk_system *system, const double *continuous, const double *opaque);

/* Saves the state of one participant, to which yk_system_rollback_participant() returns. */
void yk_system_mark_participant(yk_system *system, int participant);

#endif
