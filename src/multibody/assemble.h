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

/* Computes the right-hand side (minus the scaled residual) of the trial, and the matrix if `solver`
 * is not NULL. */
void yk_multibody_assemble(const yk_multibody_model *model, yk_multibody_workspace *work,
                           yk_linear_solver *solver, assembly_level level);
/* Lists the entries of the matrix in the order of assembly and returns their number; `entries` may
 * be NULL. */
size_t yk_multibody_pattern(const yk_multibody_model *model, yk_multibody_workspace *work,
                            yk_sparse_entry *entries);
/* Inertia at the placement of the trial: momenta and, in a step, their rates. */
void yk_multibody_inertias(const yk_multibody_model *model, yk_multibody_workspace *work,
                           bool with_rates);
/* Coordinate of a term of a force. */
yk_force_coordinate yk_multibody_coordinate(const yk_multibody_workspace *work,
                                            const force_model *force);
/* The law of a force and of the terms after it, with the sum of their coordinates. */
yk_scalar_force yk_multibody_scalar_force(const yk_multibody_workspace *work,
                                          const force_model *force, double load);
/* Whether a joint has a drive, or the reference of an angle, that its rows need. */
static inline bool yk_multibody_has_drive(const joint_model *joint)
{
    return joint->driven || joint->joint.kind >= YK_JOINT_COUPLED_ROTATION;
}
/* Value and rates of a joint's drive at t. */
yk_drive yk_multibody_drive(const yk_multibody_workspace *work, const joint_model *joint, double t,
                            bool with_rates);

/* Passes --------------------------------------------------------------------------------------- */

/* Target of the entries of an assembly pass: a list of rows and columns (the pattern), or the
 * matrix. Entry k of a pass always has the same index, so that pattern and assembly cannot
 * disagree. */
typedef enum sink_mode { SINK_NONE, SINK_RECORD, SINK_ADD } sink_mode;

typedef struct sink {
    yk_sparse_entry *entries;
    const int *entry_index;
    double *values;
    size_t cursor;
    /* Scales of added entries. At the levels of the start c is zero, and the matrix contains the
     * masses only. */
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

/* flexible.c: contributions of flexible bodies to a pass. */

/* Gradient of the row of a joint whose ends may be attachments. */
void yk_multibody_chain_row(const yk_multibody_model *model, const yk_multibody_workspace *work,
                            const joint_model *joint, const yk_row *row, int equation,
                            const yk_gradient *gradient, bool hold, sink *to, sink_mode mode);
/* Blocks selected by the mask, bit 4 i + j: force and torque on both ends (i), with respect to
 * displacement and rotation of both ends (j). */
void yk_multibody_chain_blocks(const yk_multibody_model *model, const yk_multibody_workspace *work,
                               const int node[2], const yk_mat3 block[4][4], unsigned mask,
                               sink *to, sink_mode mode);
/* Inertia, elasticity and weight of all flexible bodies; `weight`: factor for nodes that should
 * move little. */
void yk_multibody_flexible_pass(const yk_multibody_model *model, yk_multibody_workspace *work,
                                assembly_level level, double weight, sink *to, sink_mode mode);
/* Transfers the loads on attachments to the coordinates. Must be called last. */
void yk_multibody_place_pass(const yk_multibody_model *model, yk_multibody_workspace *work,
                             sink *to, sink_mode mode);

#endif
