/* What the kinds of mechanical models have in common: the words for joints and forces, and how
 * markers are given. */
#ifndef YK_MODEL_MECHANICS_WORDS_H
#define YK_MODEL_MECHANICS_WORDS_H

#include "mechanics/force.h"
#include "mechanics/joint.h"
#include "model/registry.h"

/* Items of `joints` and `forces`. The choices of joints are in the order of yk_joint_kind;
 * yk_force_kind_of has what those of forces mean. (kind_smooth.c) */
extern const yk_field yk_joint_item;
extern const yk_field yk_force_item;
extern const yk_force_kind yk_force_kind_of[];
/* What a motor in a joint is: a torque about its axis or a force along it; false: it has no such
 * axis. */
bool yk_motor_kind(yk_joint_kind joint, yk_force_kind *kind);

/* A port between two markers: the variant `distance` of `ports`. */
extern const yk_section yk_distance_port_section;

/* Where a body's own frame is at the start. */
typedef struct yk_body_pose {
    yk_vec3 position;
    yk_quat orientation;
} yk_body_pose;

/* A frame with z along the axis, of any length but zero. */
yk_status yk_read_axis(yk_builder *builder, const yk_node *axis, yk_quat *frame);

/* The two markers of an item with `between`: by `markers`, or by `at` with `axis` or
 * `orientation`; where nothing is said, the bodies' origins with global axes. */
yk_status yk_read_markers(yk_builder *builder, const yk_node *item, const yk_body_pose poses[2],
                          yk_marker markers[2]);

/* Whether nothing in the section of a mechanical model sets it in motion: no gravity, force,
 * prescribed motion, velocity or deformation at the start. What arrives through its ports may. */
bool yk_mechanism_rests(const yk_node *section);

/* The `inertia` of a rigid body; an error with its place where no distribution of mass has it. */
yk_status yk_read_inertia(yk_builder *builder, const yk_node *inertia, yk_mat3 *tensor);

#endif
