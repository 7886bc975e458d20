/* The equations of the trial and their matrix: see internal.h. */
#ifndef YK_SMOOTH_ASSEMBLE_H
#define YK_SMOOTH_ASSEMBLE_H

#include "smooth/linear_solver.h"

typedef enum assembly_level {
    LEVEL_STEP,
    LEVEL_POSITION,
    LEVEL_VELOCITY,
    LEVEL_ACCELERATION,
    LEVEL_STATIC
} assembly_level;

/* The right-hand side (minus the scaled residual) of the trial, and the matrix where a solver is
 * given for it; else NULL. */
void yk_smooth_assemble(const yk_smooth_model *model, yk_smooth_workspace *work,
                        yk_linear_solver *solver, assembly_level level);
/* The entries of the matrix in the order of assembly, and how many there are; `entries` may be
 * NULL. */
size_t yk_smooth_pattern(const yk_smooth_model *model, yk_smooth_workspace *work,
                         yk_sparse_entry *entries);
/* Inertia at the trial's placement: momenta and, inside a step, their rates. */
void yk_smooth_inertias(const yk_smooth_model *model, yk_smooth_workspace *work, bool with_rates);
/* What a joint's drive prescribes at t. */
yk_drive yk_smooth_drive(const yk_smooth_workspace *work, const joint_model *joint, double t,
                         bool with_rates);

#endif
