/* Systems as the library itself makes them: from plain arrays, and of two free masses. */
#ifndef YK_COUPLING_DESCRIPTION_H
#define YK_COUPLING_DESCRIPTION_H

#include "yoke/system.h"

/* A signal port that the program sets (yk_system_add_input). */
typedef struct yk_system_input_def {
    const char *name;
    int subsystem, port;
    double value;
} yk_system_input_def;

/* A whole system as plain arrays: what the builder of yoke/system.h makes, and what the library
 * itself starts from where it has the arrays already. */
typedef struct yk_system_description {
    /* They stay the caller's, and must outlive the system. */
    yk_subsystem *const *subsystems;
    const char *const *names;
    int subsystem_count;

    /* Where other processes relax parts of a merged subsystem: what stands for the copy of the whole
     * (yk_system_make_copy) on which this one is relaxed there, NULL for those that are relaxed
     * here; NULL: all are. */
    yk_subsystem *const *copies;

    /* One per subsystem; NULL: all as the system. */
    const yk_transform *transforms;

    /* Steps of each subsystem in a macro step; NULL: one. */
    const int *substeps;

    const yk_interface_def *interfaces;
    int interface_count;
    const yk_wire_def *wires;
    int wire_count;
    const yk_system_input_def *inputs;
    int input_count;
    yk_scheme_def scheme;

    /* The start of the run, and the macro step (s). */
    double start;
    double step;
    yk_step_control control;
    yk_failure_policy on_failure;
} yk_system_description;

/* What it points to must outlive the system; its arrays need not. */
yk_status yk_system_make(yk_context *context, const yk_system_description *description,
                         yk_system **system);

/* For schemes that merge: another copy of the whole that the subsystem becomes a part of, which is
 * the caller's. Subsystems that no interface joins may be absent (NULL). */
yk_status yk_system_make_copy(yk_context *context, const yk_system_description *description,
                              int subsystem, yk_subsystem **copy);

/* Two free masses in place of the two sides of an interface, each in a subsystem of the same kind
 * with the same integrator and substeps, joined along x by the same scheme: what ratio of masses
 * the scheme bears is tried on them (interface_masses.c). */
typedef struct yk_surrogate {
    yk_system *system;
    yk_subsystem *masses[2]; /* 1 kg on the wrench side, the ratio on the motion side */
} yk_surrogate;

/* Of two subsystems of a system, the second for the side that takes the motion; they may be the
 * same. YK_ERROR_CAPABILITY: a subsystem makes no free masses. To be destroyed whatever the
 * status. */
yk_status yk_surrogate_create(const yk_system *system, const int sides[2], yk_port_kind kind,
                              double step, double ratio, yk_surrogate *surrogate);
void yk_surrogate_destroy(yk_surrogate *surrogate);

typedef enum yk_surrogate_fate {
    YK_SURROGATE_STABLE,       /* deviations from rest die out, or stay */
    YK_SURROGATE_UNSTABLE,     /* they grow */
    YK_SURROGATE_NOT_CONVERGED /* they grow because iterations of the scheme do not converge */
} yk_surrogate_fate;

/* What becomes of small deviations from rest in the scheme as it is. */
yk_status yk_surrogate_try(yk_context *context, const yk_surrogate *surrogate,
                           yk_surrogate_fate *fate);

/* Whether a system has started; otherwise YK_ERROR_ARGUMENT with a message that names the function. */
bool yk_system_has_started(const yk_system *system, const char *function);

#endif
