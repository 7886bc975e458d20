/* Gaps, work and energy of the interfaces (energy_balance.c). */
#ifndef YK_COUPLING_ENERGY_BALANCE_H
#define YK_COUPLING_ENERGY_BALANCE_H

#include "coupling/system.h"

/* The gap of an interface between two motions, with the prescribed relative motion at the time t. */
yk_interface_gap yk_gap_between(yk_port_kind kind, const yk_interface_def *def, const yk_motion *a,
                                const yk_motion *b, double t);
/* Updates the largest gaps of an interface with those at the time t. */
void yk_ledger_add_gap(yk_system *system, yk_interface *interface, double t);
/* Adds the gaps and the work of all interfaces in the step to the statistics. */
void yk_ledger_add_step(yk_system *system);
/* Energy that an interface with a prescribed relative motion created in the step (J). The motion of
 * B's frame on its body also does work: the work of the wrench on A along the displacement of A,
 * minus the work along the displacement of the driven frame. */
double yk_driven_created(const yk_system *system, const yk_interface *interface,
                         const yk_wrench *on_a, const double on[2]);
/* Saves the energies at the start. */
void yk_ledger_start(yk_system *system);
/* For participants with substeps: called before the first substep, and after each substep once the
 * outputs have been read. */
void yk_ledger_begin_substeps(yk_participant *participant);
void yk_ledger_add_substep(yk_participant *participant, double h);

/* Returns whether the coupling and the integration created most of the energy of the motion.
 * *known: all subsystems report their energy. *made: energy created (J). *interface: the interface
 * that created most of it, -1: none. */
bool yk_ledger_runaway(const yk_system *system, bool *known, double *made, int *interface);

#endif
