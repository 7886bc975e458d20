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

#endif
