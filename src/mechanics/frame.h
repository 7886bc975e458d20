/* Where a body is and how it moves, and the markers fixed to it (yoke/mechanics.h) at their
 * present place. */
#ifndef YK_MECHANICS_FRAME_H
#define YK_MECHANICS_FRAME_H

#include "math/vec3.h"
#include "yoke/mechanics.h"

/* Placement and motion of a body's own frame (its node), in the global frame; the rotation turns
 * body axes to global.
 */
typedef struct yk_frame {
    yk_vec3 position;
    yk_mat3 rotation;
    yk_vec3 velocity;
    yk_vec3 angular_velocity;
} yk_frame;

/* A marker where it is now, and how it moves. */
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

#endif
