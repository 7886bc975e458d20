/* Gaps and work of the interfaces, and the energy balance of the subsystems (see ledger.c). */
#ifndef YK_COUPLING_LEDGER_H
#define YK_COUPLING_LEDGER_H

#include "coupling/system.h"

/* The gap of an interface between two motions, with what it prescribes at the time t. */
yk_interface_error yk_gap_between(yk_port_kind kind, const yk_interface_def *def,
                                  const yk_motion *a, const yk_motion *b, double t);
/* The energy created over the step where a relative motion is prescribed: what moves B's frame on
 * its body does work as well, so that it is the work of the wrench on A along the displacement of
 * A less that of the driven frame (J). */
double yk_driven_created(const yk_system *system, const yk_interface *interface,
                         const yk_wrench *on_a, const double on[2]);
/* Raises the largest gaps to those at the time t. */
void yk_ledger_add_gap(yk_system *system, yk_interface *interface, double t);
/* Keeps the energies at the start. */
void yk_ledger_start(yk_system *system);
/* A participant with substeps: before the first, and after each of them with its outputs
 * gathered. */
void yk_ledger_begin_substeps(yk_participant *participant);
void yk_ledger_add_substep(yk_participant *participant, double h);

/* Whether a run has run away: what coupling and integration made of nothing is most of what
 * moves. */
typedef struct yk_runaway {
    bool known; /* all subsystems tell their energy */
    bool found;
    double made;   /* J */
    int interface; /* that made most; -1: there is none */
} yk_runaway;

yk_runaway yk_ledger_runaway(const yk_system *system);

#endif
