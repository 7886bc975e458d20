/* What scenarios say of mechanisms, whichever solver moves them: markers, joints, forces and
 * ports, in one set of words and with one reader. A kind of mechanical model says which
 * bodies it has and takes the parts. */
#ifndef YK_MODEL_MECHANISM_H
#define YK_MODEL_MECHANISM_H

#include "model/registry.h"
#include "yoke/mechanics.h"

/* Items of `joints`, `forces` and `ports`. */
extern const yk_field yk_joint_item;
extern const yk_field yk_force_item;
extern const yk_field yk_port_item;

/* To be included: `on`, `offset` and `orientation` of one marker; and `gravity`, as
 * yk_smooth_default and yk_nonsmooth_default have it. */
extern const yk_section yk_marker_keys;
extern const yk_section yk_gravity_keys;

/* How the reader meets a model in the making. */
typedef struct yk_mechanism_ops {
    /* The body that a reference names; YK_NO_ID after a message. */
    int (*find)(void *model, const yk_node *reference);
    /* Where a body's own frame is at the start: position and orientation. */
    yk_motion (*pose)(const void *model, int body);
    /* As the functions of yoke/smooth.h and yoke/nonsmooth.h. */
    int (*add_joint)(void *model, const yk_joint_def *def);
    int (*add_force)(void *model, const yk_force_def *def);
    int (*add_port)(void *model, const yk_port_def *def);
    bool feedback; /* loads may depend on what the model does */
} yk_mechanism_ops;

/* Adds the items of `joints`, `forces` and `ports` of a section, and a signal port for each input
 * of a force. Reports all mistakes; the status of the first. */
yk_status yk_read_mechanism(yk_builder *builder, const yk_node *section,
                            const yk_mechanism_ops *ops, void *model);

/* A frame with z along the axis, of any length but zero. */
yk_status yk_read_axis(yk_builder *builder, const yk_node *axis, yk_quat *frame);
/* The marker of an item that includes yk_marker_keys. */
yk_marker yk_read_marker(const yk_node *item);
/* Six diagonal values, or 36 by rows. */
yk_status yk_read_six_by_six(yk_builder *builder, const yk_node *item, const char *key,
                             double matrix[6][6]);
/* The `inertia` of a rigid body; an error at its location where no distribution of mass has it. */
yk_status yk_read_inertia(yk_builder *builder, const yk_node *inertia, yk_mat3 *tensor);

#endif
