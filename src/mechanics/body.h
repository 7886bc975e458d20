/* Bodies: pose and motion, the present place of markers fixed to them (yoke/mechanics.h), and the
 * inertia of everything fixed to one node, with its momenta.
 *
 * Mass m, first moment S = m b (b from the node to the center of mass) and second moment J about
 * the node's origin. With the node's velocity v and angular velocity w, linear momentum and angular
 * momentum about the node are
 *
 *   p = m v + w x S        l = S x v + J w
 *
 * and the equations of motion, with force F and torque T about the node,
 *
 *   p' = F                 l' + v x p = T
 *
 * S and J are constant in the node's axes. MBDyn uses the same form; gyroscopic terms such as w x J
 * w do not appear explicitly, because they are part of l'. */
#ifndef YK_MECHANICS_BODY_H
#define YK_MECHANICS_BODY_H

#include <stdbool.h>
#include <stddef.h>

#include "math/vec3.h"
#include "yoke/mechanics.h"

/* Pose and motion of a body's own frame (its node), in the global frame; the rotation converts body
 * axes to global. */
typedef struct yk_frame {
    yk_vec3 position;
    yk_mat3 rotation;
    yk_vec3 velocity;
    yk_vec3 angular_velocity;
} yk_frame;

/* The present place and motion of a marker. */
typedef struct yk_marker_frame {
    yk_vec3 position;
    yk_vec3 arm; /* from the body's origin to the marker's, global axes */
    yk_vec3 velocity;
    yk_vec3 angular_velocity;
    yk_vec3 axis[3]; /* of the marker, global components */
} yk_marker_frame;

static inline yk_frame yk_frame_ground(void)
{
    return (yk_frame){.rotation = yk_m3_identity()};
}

static inline void yk_marker_place(const yk_frame *body, yk_vec3 offset, const yk_mat3 *axes,
                                   yk_marker_frame *placed)
{
    placed->arm = yk_m3_apply(body->rotation, offset);
    placed->position = yk_v3_add(body->position, placed->arm);
    placed->velocity = yk_v3_add(body->velocity, yk_v3_cross(body->angular_velocity, placed->arm));
    placed->angular_velocity = body->angular_velocity;
    for (int k = 0; k < 3; k++)
        placed->axis[k] = yk_m3_apply(body->rotation, yk_m3_column(axes, k));
}

/* In the axes of the body, or converted to global ones by yk_inertia_rotate(). */
typedef struct yk_inertia {
    double mass;
    yk_vec3 moment; /* first moment */
    yk_mat3 tensor; /* second moment about the origin */
} yk_inertia;

typedef struct yk_momentum {
    yk_vec3 linear;
    yk_vec3 angular; /* about the node */
} yk_momentum;

/* m (|b|^2 I - b b^T), the contribution of a point mass at b to a tensor about the origin. */
yk_mat3 yk_inertia_of_point(double mass, yk_vec3 b);
/* A body of the given mass with its center of mass at `centre` and its inertia tensor about the
 * center of mass; `axes` converts the axes of the tensor to the node's. */
yk_inertia yk_inertia_of_body(double mass, yk_vec3 centre, yk_mat3 central, yk_quat axes);
void yk_inertia_add(yk_inertia *sum, const yk_inertia *part);
/* Smallest eigenvalue of the tensor about the center of mass: negative for an impossible tensor. */
double yk_inertia_least(const yk_inertia *inertia);
/* Whether a mass distribution can have this tensor about its center of mass: it is symmetric, and
 * no principal moment is negative or larger than the sum of the other two, which is the limit of a
 * flat plate. Half a per cent more is accepted, because digits may have been rounded. Otherwise
 * `why` describes the error and a remedy. */
bool yk_inertia_possible(const yk_mat3 *central, char *why, size_t size);

/* From body axes to global ones. The following functions need an inertia in global axes. */
void yk_inertia_rotate(const yk_inertia *inertia, const yk_mat3 *rotation, yk_inertia *global);
yk_momentum yk_inertia_momentum(const yk_inertia *inertia, yk_vec3 velocity,
                                yk_vec3 angular_velocity);
double yk_inertia_kinetic(const yk_momentum *momentum, yk_vec3 velocity, yk_vec3 angular_velocity);

/* Relation between the changes of the angular velocity and of the rotation: dw = (I - c share
 * skew(w)) dtheta / c. A step of a time integration writes the rotation in a chart around the last
 * one, which is fixed; for a small motion about a given one dtheta is in fixed axes, and dw =
 * dtheta' + dtheta x w. */
#define YK_ROTATION_OF_STEP 0.5
#define YK_ROTATION_IN_FIXED_AXES 1.0

/* c^2 times the derivative of (p', l' + v x p) by a displacement and a rotation of the node when
 * dv = dx / c, dw as above and dp' = dp / c; c = 0 gives the mass matrix. */
void yk_inertia_tangent(const yk_inertia *inertia, const yk_frame *node, double c, double fraction,
                        double tangent[6][6]);

/* Velocity-dependent part of (p', l' + v x p) at zero acceleration: the gyroscopic and
 * centrifugal terms. */
void yk_inertia_bias(const yk_inertia *inertia, const yk_frame *node, yk_vec3 *force,
                     yk_vec3 *torque);

#endif
