/* Wires and inputs of the program: numbers that are passed to signal ports. */
#ifndef YK_COUPLING_WIRE_H
#define YK_COUPLING_WIRE_H

#include "coupling/system.h"

/* Checks and connects the wires of a description. */
yk_status yk_wires_create(yk_system *system, const yk_system_description *def);
void yk_wires_destroy(yk_system *system);
/* Checks and connects the inputs of the program, after the wires (inputs.c). */
yk_status yk_inputs_create(yk_system *system, const yk_system_description *def);

/* Reads the values of all wires with this source. */
void yk_wires_read(yk_participant *participant);
/* Like yk_system_update_signals(), but wires against the sequence, or all wires, carry their given
 * value at the end of the step. */
double yk_system_carry_given_signals(yk_system *system, int participant,
                                     yk_carried_signals signals);
/* Updates the signals in the same way as the last call of the scheme did, for participants of a
 * loop that the scheme has not reached yet. */
void yk_wires_carry_again(yk_system *system, int participant);
/* At the start: passes the present values to the targets. */
void yk_wires_carry_start(yk_system *system, int participant);
/* At the start: the largest difference between the value of a wire and the value that its target
 * was initialized with, relative to the value or to 1. */
double yk_wires_start_change(const yk_system *system);

#endif
