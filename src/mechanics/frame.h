/* Where a body is and how it moves, and the markers fixed to it. */
#ifndef YK_MECHANICS_FRAME_H
#define YK_MECHANICS_FRAME_H

#include "math/vec3.h"

/* Placement and motion of a body's own frame (its node), in the global frame; the rotation turns body axes to global.
 */
typedef struct yk_frame {
    yk_vec3 position;
    yk_mat3 rotation;
    yk_vec3 velocity;
    yk_vec3 angular_velocity;
} yk_frame;

/* A frame fixed to a body: offset of its origin in the body's axes, and rotation from marker axes to body axes. */
typedef struct yk_marker {
    yk_vec3 offset;
    yk_quat orientation;
} yk_marker;

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

static inline yk_marker yk_marker_at(double x, double y, double z)
{
    return (yk_marker){.offset = {x, y, z}, .orientation = {1, 0, 0, 0}};
}

/* A marker at the body's origin with its axes. */
static inline yk_marker yk_marker_default(void)
{
    return yk_marker_at(0, 0, 0);
}

static inline void yk_marker_place(const yk_frame *body, yk_vec3 offset, const yk_mat3 *axes, yk_marker_frame *placed)
{
    placed->arm = yk_m3_apply(body->rotation, offset);
    placed->position = yk_v3_add(body->position, placed->arm);
    placed->velocity = yk_v3_add(body->velocity, yk_v3_cross(body->angular_velocity, placed->arm));
    placed->angular_velocity = body->angular_velocity;
    for (int k = 0; k < 3; k++) placed->axis[k] = yk_m3_apply(body->rotation, yk_m3_column(axes, k));
}

#endif
