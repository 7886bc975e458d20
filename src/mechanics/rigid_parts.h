/* A mechanism of rigid bodies as plain data: what one solver needs of a model that was built for
 * another (yk_rigid_parts_ops in yoke/subsystem.h).
 *
 * Lengths, masses, axes and numbers of bodies and ports are those of the described subsystem. Body
 * frames have their origin anywhere in the body; markers are in these frames. */
#ifndef YK_MECHANICS_RIGID_PARTS_H
#define YK_MECHANICS_RIGID_PARTS_H

#include "yoke/mechanics.h"

typedef struct yk_rigid_part {
    const char *name;
    double mass;
    yk_vec3 center_of_mass; /* in the axes of the body */
    yk_mat3 inertia;        /* about the center of mass, in the axes of the body */
    yk_vec3 position;       /* of the frame, at the start */
    yk_quat orientation;
    yk_vec3 velocity; /* of the origin of the frame */
    yk_vec3 angular_velocity;
} yk_rigid_part;

/* The arrays belong to the described subsystem, except `bodies`, which the caller frees. */
typedef struct yk_rigid_parts {
    yk_vec3 gravity;
    yk_rigid_part *bodies;
    const yk_joint_def *joints; /* with markers in body frames */
    const yk_force_def *forces; /* signal_port: index of a port */
    const yk_port_def *ports;
    int body_count, joint_count, force_count, port_count;
} yk_rigid_parts;

#endif
