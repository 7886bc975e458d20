/* Parts of a merged model between their own units and axes and those of the whole; see
 * transform_part.c. */
#ifndef YK_SMOOTH_TRANSFORM_PART_H
#define YK_SMOOTH_TRANSFORM_PART_H

#include "smooth/smooth.h"

/* What the numbers of a channel are, so that they can be told in other units and axes. */
typedef enum yk_smooth_quantity {
    YK_QUANTITY_NUMBER, /* the same in all units */
    YK_QUANTITY_POINT,
    YK_QUANTITY_ORIENTATION,
    YK_QUANTITY_VELOCITY, /* or acceleration */
    YK_QUANTITY_ANGULAR_VELOCITY,
    YK_QUANTITY_FORCE,
    YK_QUANTITY_TORQUE,
    YK_QUANTITY_OWN_FORCE, /* in the axes of an element, which turn with the part */
    YK_QUANTITY_OWN_TORQUE,
    YK_QUANTITY_LENGTH, /* or its rate */
    YK_QUANTITY_ENERGY
} yk_smooth_quantity;

/* From the part to the whole, in place. */
void yk_smooth_convert_node(const yk_transform *at, yk_smooth_node_def *node);
void yk_smooth_convert_body(const yk_transform *at, yk_smooth_body_def *body);
void yk_smooth_convert_joint(const yk_transform *at, yk_joint_def *joint);
void yk_smooth_convert_force(const yk_transform *at, yk_force_def *force);
void yk_smooth_convert_beam(const yk_transform *at, yk_smooth_beam_def *beam);
void yk_smooth_convert_flexible(const yk_transform *at,
                                yk_smooth_flexible_def *flexible); /* not its body */
void yk_smooth_convert_shape(const yk_transform *at, yk_smooth_shape_def *shape);
void yk_smooth_convert_port(const yk_transform *at, yk_port_def *port);
yk_vec3 yk_smooth_convert_gravity(const yk_transform *at, yk_vec3 gravity);

/* What the whole computed, as the part would tell it. */
void yk_smooth_quantity_of_part(const yk_transform *at, yk_smooth_quantity quantity, int components,
                                double *values);

#endif
