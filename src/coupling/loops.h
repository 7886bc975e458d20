/* Algebraic loops over wires (loops.c). */
#ifndef YK_COUPLING_LOOPS_H
#define YK_COUPLING_LOOPS_H

#include "coupling/system.h"

/* Finds the loops of all wires. */
yk_status yk_loops_create(yk_system *system);
/* Finds the order of evaluation of each loop. The sequences of the participants must be known. */
yk_status yk_loops_order(yk_system *system);
void yk_loops_destroy(yk_system *system);
/* Marks all loops as unsolved, at the start of a step. */
void yk_loops_begin_step(yk_system *system);

/* A step or a start of one participant of a loop. */
typedef yk_status (*yk_loop_evaluation)(yk_system *system, int participant, void *user);
/* Advances or starts all participants of a loop when the first of them is requested, so that the
 * signals are consistent. The calls for the other participants return their status. */
yk_status yk_loops_advance(yk_system *system, int participant, yk_loop_evaluation advance,
                           void *user);
yk_status yk_loops_start(yk_system *system, int participant, yk_loop_evaluation start);
/* Starts the participants of all loops that the scheme solves during steps, with the present
 * inputs. */
yk_status yk_loops_start_joined(yk_system *system, yk_loop_evaluation start);
/* Whether the iterations of the scheme have to solve some loop. */
bool yk_loops_need_iterations(const yk_system *system);
/* Spectral radius of the gain of a loop over one step from the present state. All participants of
 * the loop must support rollback; the trial changes their states. */
yk_status yk_loops_find_gain(yk_system *system, yk_loop *loop, double *gain);

#endif
