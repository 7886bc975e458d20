/* The schemes tight and loose. Loose is tight without repetitions.
 *
 * A sweep advances all participants once over the macro step, from the state that was saved at its start. Sweeps differ
 * with the variant:
 *
 *   plain (tight.c)              motion sides first. The first sweep prescribes predicted motions and applies the wrenches of
 *                                these motion sides. Each later sweep starts from the motions that the wrench sides reached in
 *                                the sweep before. A wrench side with a solver that iterates makes one iteration of it per
 *                                sweep and is not rolled back.
 *   accelerated (accelerated.c)  wrench sides first. The first sweep applies the wrenches at the end of the step before. Each
 *                                later sweep applies the wrenches that the acceleration computed from all sweeps of the step
 *                                (quasi-Newton: also of earlier steps), and prescribes the motions that these wrenches caused.
 *                                All participants are rolled back before each sweep.
 *
 * With the sequence jacobi all participants make a sweep at the same time (jacobi.c), with the wrenches and motions that the
 * sweep before has reached, or that the acceleration computed from them: motions are then unknowns like wrenches.
 *
 * Loose makes the first plain sweep only. Algebraic loops of wires through participants with interfaces always use
 * quasi-Newton. */
#ifndef YK_COUPLING_TIGHT_H
#define YK_COUPLING_TIGHT_H

#include "coupling/force_force/balance.h"
#include "coupling/interface_fixed_point.h"
#include "coupling/interface_newton.h"
#include "coupling/modified_inputs.h"

typedef struct yk_tight {
    yk_scheme base;
    yk_tight_options options;
    yk_balance *balance;             /* Loose only; NULL: no interface is balanced. */
    const yk_input_weights *weights; /* NULL: inputs are not modified. */
    yk_input_weights own_weights;
    yk_motion_history *history;

    bool
        last_sweep; /* Sequence jacobi: the sweep that is being made is the last one, in which all participants make the step. */

    /* Plain sweeps. Per participant: it receives wrenches only, and its solver offers single iterations. */
    bool *iterates;
    /* Per participant: its result depends on the input within the macro step, because it has substeps or follows polynomials. */
    bool *looks_inside;

    int last_wrench_index; /* Of the last wrench side in the sequence of plain sweeps. */
    yk_wrench *before;     /* Per interface: reaction wrench at the start of the step. */

    /* Accelerated sweeps only. */
    int unknowns_count;
    yk_unknowns *unknowns;
    /* Per vector of unknowns; NULL: the acceleration combines earlier iterations. */
    yk_interface_newton **newtons;
} yk_tight;

/* Relative change of a signal that counts as converged. */
#define YK_TIGHT_SIGNAL_TOLERANCE 1e-9

/* Prescribes to the motion side of an interface the motion of the wrench side over the step, which ends at `end`. */
void yk_tight_motion_input(const yk_tight *x, yk_system *system, int interface,
                           const yk_motion *end);
/* Turns the applied wrench of an interface, or of all interfaces of a participant, into inputs of the wrench side over the
 * step. */
void yk_tight_wrench_input(const yk_tight *x, const yk_system *system, int interface);
void yk_tight_wrench_inputs(const yk_tight *x, yk_system *system, int participant);

/* Sets the wrenches that the motion sides of a participant now need. In a repetition (not first), *change is raised to the
 * largest of their changes since the last sweep, and *converged is cleared if one exceeds the tolerance. */
void yk_tight_set_wrenches(const yk_tight *x, yk_system *system, int participant, bool first,
                           bool *converged, double *change);

/* accelerated.c: one macro step with accelerated sweeps. */
yk_status yk_tight_iterate_accelerated(yk_tight *x, yk_system *system, yk_step_report *report);

/* Applies values of a vector of unknowns, and sets the inputs of its wrench sides. */
void yk_tight_apply(const yk_tight *x, yk_system *system, const yk_unknowns *w,
                    const double *values);
/* Starts the unknowns of a step with the wrenches at the end of the previous one. */
void yk_tight_begin_unknowns(yk_tight *x, yk_system *system);
/* Shortens the change that led to the present x, because a subsystem failed with it. False: it was shortened often enough. */
bool yk_tight_shorten(yk_tight *x, yk_system *system, int *shortenings);

/* One sweep of all participants at the same time with the wrenches, motions and signals of x. */
yk_status yk_tight_sweep_together(yk_tight *x, yk_system *system, bool first);
/* The last sweep of a step: wrench sides step with the reaction wrenches of the motion sides. */
yk_status yk_tight_exchange(const yk_tight *x, yk_system *system);

/* newton.c: one macro step with sweeps of all participants at the same time by Newton's method. */
yk_status yk_tight_iterate_newton(yk_tight *x, yk_system *system, yk_step_report *report);

/* jacobi.c: one macro step with plain sweeps of all participants at the same time; and one sweep with the inputs that the
 * participants have. */
yk_status yk_tight_iterate_jacobi(yk_tight *x, yk_system *system, yk_step_report *report);
yk_status yk_tight_sweep_jacobi(yk_tight *x, yk_system *system, bool first, bool last);

#endif
