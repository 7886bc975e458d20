/* Operations of a kind of flexible body inside a model: one table each, in flexible_modal.c and
 * flexible_rod.c. The loops over all bodies and attachments are in flexible.c. */
#ifndef YK_MULTIBODY_FLEXIBLE_KIND_H
#define YK_MULTIBODY_FLEXIBLE_KIND_H

#include "multibody/assemble.h"

typedef struct flexible_kind {
    /* Number of unknowns that move an attachment; doubles of the body's tangent in the workspace,
     * and of an attachment in addition to its map. */
    int (*attachment_columns)(const yk_flexible *body);
    size_t (*tangent_words)(const yk_flexible *body);
    size_t (*attachment_words)(const yk_flexible *body);
    /* Fills `column` and `moves` of an attachment. */
    void (*map_attachment)(const yk_multibody_model *model, attachment_model *attachment);
    void (*start)(const yk_multibody_flexible_def *def, coordinate_state *now);

    /* The frame of an attachment in the trial, and the requested further data: ATTACHMENT_LOADS,
     * ATTACHMENT_MAPS, ATTACHMENT_BIASES. */
    void (*locate)(const yk_multibody_model *model, yk_multibody_workspace *work, int attachment,
                   unsigned what);
    /* Its acceleration, from the accelerations of the trial. */
    void (*accelerate)(const yk_multibody_model *model, const yk_multibody_workspace *work,
                       int attachment, trial_node *own);

    /* Momenta of the coordinates. Those of a floating frame are added to its node, in a step with
     * their rates. */
    void (*momenta)(const yk_multibody_model *model, yk_multibody_workspace *work, int flexible,
                    bool with_rates, double *momentum);
    /* Momenta and their rates from the trial's accelerations, into the trial. */
    void (*momentum_rates)(const yk_multibody_model *model, yk_multibody_workspace *work,
                           int flexible);
    /* Adds the body's part to energies and to the power of damping. */
    void (*energy)(const yk_multibody_model *model, const yk_multibody_workspace *work,
                   int flexible, yk_energy *energy, double *loss);
    double (*strain_energy)(const yk_flexible *body, const flexible_trial *at);

    /* Inertia, elasticity and weight in a pass of assembly. */
    void (*pass)(const yk_multibody_model *model, yk_multibody_workspace *work, int flexible,
                 assembly_level level, double weight, sink *to, sink_mode mode);
    /* Adds J^T of a load on an attachment to the coordinates, and scale times its derivative at
     * constant load to the body's tangent. */
    void (*spread_load)(const yk_multibody_model *model, yk_multibody_workspace *work,
                        int attachment, yk_vec3 force, yk_vec3 torque);
    void (*spread_stiffness)(const yk_multibody_model *model, const yk_multibody_workspace *work,
                             int attachment, const yk_wrench *load, double scale);

    /* Points of the line to draw. */
    int (*outline)(const yk_flexible *body);
    yk_vec3 (*outline_point)(const yk_multibody_model *model, const yk_multibody_workspace *work,
                             int flexible, int point);
} flexible_kind;

extern const flexible_kind yk_flexible_kind_modal;
extern const flexible_kind yk_flexible_kind_rod;

static inline const flexible_kind *yk_flexible_kind_of(const yk_flexible *body)
{
    return body->kind == YK_FLEXIBLE_MODAL ? &yk_flexible_kind_modal : &yk_flexible_kind_rod;
}

#endif
