/* A whole system as plain arrays: what the builder of yoke/coupling.h makes, and what the library
 * itself starts from where it has the arrays already. */
#ifndef YK_COUPLING_DESCRIPTION_H
#define YK_COUPLING_DESCRIPTION_H

#include "yoke/coupling.h"

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

#endif
