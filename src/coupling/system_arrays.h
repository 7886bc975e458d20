/* Systems that the library itself creates: from plain arrays, and of two free masses. */
#ifndef YK_COUPLING_DESCRIPTION_H
#define YK_COUPLING_DESCRIPTION_H

#include "yoke/system.h"

/* A signal port that the program sets (yk_system_add_input). */
typedef struct yk_system_input_def {
    const char *name;
    int subsystem, port;
    double value;
} yk_system_input_def;

/* Description of a system as plain arrays. The builder of yoke/system.h makes one; library code
 * that has the arrays already uses it directly. */
typedef struct yk_system_description {
    /* Subsystems. The caller owns them, and they must outlive the system. */
    yk_subsystem *const *subsystems;
    const char *const *names;
    int subsystem_count;

    /* For merged subsystems whose parts other processes relax: per subsystem, the remote stand-in
     * of the copy of the whole (yk_system_make_copy) that relaxes this part; NULL for parts that
     * are relaxed in this process. NULL: all parts are. */
    yk_subsystem *const *copies;

    /* One per subsystem; NULL: all have the units and axes of the system. */
    const yk_transform *transforms;

    /* Steps of each subsystem per macro step; NULL: one. */
    const int *substeps;

    const yk_interface_def *interfaces;
    int interface_count;
    const yk_wire_def *wires;
    int wire_count;
    const yk_system_input_def *inputs;
    int input_count;
    yk_scheme_def scheme;

    /* Start of the run, and macro step (s). */
    double start;
    double step;
    yk_step_control control;
    yk_failure_policy on_failure;
} yk_system_description;

/* The objects that the description points to must outlive the system; its arrays need not. */
yk_status yk_system_make(yk_context *context, const yk_system_description *description,
                         yk_system **system);

/* For schemes that merge: makes another copy of the merged subsystem that contains the given
 * subsystem. The caller owns the copy. Subsystems that no interface connects may be absent (NULL). */
yk_status yk_system_make_copy(yk_context *context, const yk_system_description *description,
                              int subsystem, yk_subsystem **copy);

/* A replacement of one interface by two free masses, each in a subsystem of the same kind with the
 * same integrator and substeps, connected along x by the same scheme. It is used to find the stable
 * mass ratios of the scheme (interface_masses.c). */
typedef struct yk_surrogate {
    yk_system *system;
    yk_subsystem *masses[2]; /* 1 kg on the wrench side, the mass ratio on the motion side. */
} yk_surrogate;

/* Creates the masses from two subsystems of a system. The second one is the motion side; both may
 * be the same. YK_ERROR_CAPABILITY: a subsystem cannot create a free mass. Destroy the surrogate
 * whatever the status. */
yk_status yk_surrogate_create(const yk_system *system, const int sides[2], yk_port_kind kind,
                              double step, double ratio, yk_surrogate *surrogate);
void yk_surrogate_destroy(yk_surrogate *surrogate);

typedef enum yk_surrogate_fate {
    YK_SURROGATE_STABLE,   /* Deviations from rest decay or stay constant. */
    YK_SURROGATE_UNSTABLE, /* Deviations grow. */
    /* Deviations grow because the iterations of the scheme do not converge. */
    YK_SURROGATE_NOT_CONVERGED
} yk_surrogate_fate;

/* Behavior of small deviations from rest under the scheme as configured. */
yk_status yk_surrogate_try(yk_context *context, const yk_surrogate *surrogate,
                           yk_surrogate_fate *fate);

/* Whether a system has been initialized; otherwise YK_ERROR_ARGUMENT with a message that names the
 * function. */
bool yk_system_has_started(const yk_system *system, const char *function);

#endif
