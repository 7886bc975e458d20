/* The equations of the trial and their matrix: see multibody.h. */
#ifndef YK_MULTIBODY_ASSEMBLE_H
#define YK_MULTIBODY_ASSEMBLE_H

#include "multibody/linear_solver.h"

typedef enum assembly_level {
    LEVEL_STEP,
    LEVEL_POSITION,
    LEVEL_VELOCITY,
    LEVEL_ACCELERATION,
    LEVEL_STATIC
} assembly_level;

/* The right-hand side (minus the scaled residual) of the trial, and the matrix where a solver is
 * given for it; else NULL. */
void yk_multibody_assemble(const yk_multibody_model *model, yk_multibody_workspace *work,
                           yk_linear_solver *solver, assembly_level level);
/* The entries of the matrix in the order of assembly, and how many there are; `entries` may be
 * NULL. */
size_t yk_multibody_pattern(const yk_multibody_model *model, yk_multibody_workspace *work,
                            yk_sparse_entry *entries);
/* Inertia at the trial's placement: momenta and, inside a step, their rates. */
void yk_multibody_inertias(const yk_multibody_model *model, yk_multibody_workspace *work,
                           bool with_rates);
/* What a joint's drive prescribes at t. */
yk_drive yk_multibody_drive(const yk_multibody_workspace *work, const joint_model *joint, double t,
                            bool with_rates);

/* Passes --------------------------------------------------------------------------------------- */

/* Where the passes of assembly put their entries: into a list of rows and columns (the pattern),
 * or into the matrix. Entry k of a pass always has the same index, so pattern and assembly cannot
 * disagree. */
typedef enum sink_mode { SINK_NONE, SINK_RECORD, SINK_ADD } sink_mode;

typedef struct sink {
    yk_sparse_entry *entries;
    const int *entry_index;
    double *values;
    size_t cursor;
    /* Scales of what is added. At the levels of the start c is zero and the matrix is that of the
     * masses. */
    double c;
    double inertia; /* 1/s */
    double node;    /* c^2/s, of node equations in a step */
    double rate;    /* c/s */
} sink;

static inline void sink_put(sink *to, sink_mode mode, int row, int column, double value)
{
    if (mode == SINK_ADD) {
        to->values[to->entry_index[to->cursor]] += value;
    } else if (to->entries) {
        to->entries[to->cursor] = (yk_sparse_entry){row, column};
    }

    to->cursor++;
}

static inline void sink_put_block(sink *to, sink_mode mode, int row, int column, double scale,
                                  const yk_mat3 *block)
{
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 3; i++)
            sink_put(to, mode, row + i, column + j, scale * block->m[i][j]);
    }
}

/* flexible.c: shares of flexible bodies in a pass. */

/* Gradient of a joint's row whose ends may be attachments. */
void yk_multibody_chain_row(const yk_multibody_model *model, const yk_multibody_workspace *work,
                            const joint_model *joint, const yk_row *row, int equation,
                            const yk_gradient *gradient, bool hold, sink *to, sink_mode mode);
/* Blocks (force and torque on both ends, by displacement and rotation of both) in the mask, bit 4
 * i + j. */
void yk_multibody_chain_blocks(const yk_multibody_model *model, const yk_multibody_workspace *work,
                               const int node[2], const yk_mat3 block[4][4], unsigned mask,
                               sink *to, sink_mode mode);
/* Inertia, elasticity and weight of all flexible bodies; `weight`: of nodes that are to be kept. */
void yk_multibody_flexible_pass(const yk_multibody_model *model, yk_multibody_workspace *work,
                                assembly_level level, double weight, sink *to, sink_mode mode);
/* What acts on the attachments, passed on to the coordinates; comes last. */
void yk_multibody_place_pass(const yk_multibody_model *model, yk_multibody_workspace *work,
                             sink *to, sink_mode mode);

#endif
