/* The inside of the scheme tight, and of loose, which is the same without repetitions; see
 * tight.c and accelerated.c. */
#ifndef YK_COUPLING_TIGHT_H
#define YK_COUPLING_TIGHT_H

#include "coupling/force_force/balance.h"
#include "coupling/interface_fixed_point.h"

typedef struct yk_tight {
    yk_scheme base;
    yk_tight_options options;
    /* Loose only; NULL: no interface is balanced. */
    yk_balance *balance;

    /* Per participant: it takes wrenches only, and offers single iterations of its solver; it sees
     * what happens within the macro step, by several steps or by following polynomials in one. */
    bool *iterates, *looks_inside;

    /* Of the last A side in the sequence. */
    int last_wrench_index;

    /* Per interface: what balanced B's wrench at the start of the step. */
    yk_wrench *before;

    /* With an acceleration only. */
    int unknowns_count;
    yk_unknowns *unknowns;
} yk_tight;

/* Relative change of a wire that counts as none. */
#define YK_TIGHT_SIGNAL_TOLERANCE 1e-9

/* The motion of an interface's wrench side over the step, to this end, as it is prescribed to the
 * other. */
void yk_tight_motion_input(const yk_tight *x, yk_system *system, int interface,
                           const yk_motion *end);
/* The wrench that is applied at an interface, or at all of a participant, as inputs of side A
 * over the step. */
void yk_tight_wrench_input(const yk_tight *x, const yk_system *system, int interface);
void yk_tight_wrench_inputs(const yk_tight *x, yk_system *system, int participant);

/* accelerated.c: one macro step with an acceleration. */
yk_status yk_tight_iterate_accelerated(yk_tight *x, yk_system *system, yk_step_report *report);

#endif
