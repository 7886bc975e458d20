/* How a port moves between the two ends of a macro step, as far as the motions at its ends tell:
 * the polynomial of fifth degree that meets both with velocity and acceleration, on SO(3) for
 * orientations. Its error is of sixth order in the step; beyond the end it extrapolates with the
 * same order. */
#ifndef YK_COUPLING_PATH_H
#define YK_COUPLING_PATH_H

#include "yoke/subsystem.h"

enum { YK_PATH_COEFFICIENTS = 6 };

typedef struct yk_path {
    yk_port_kind kind;
    yk_vec3 linear[YK_PATH_COEFFICIENTS];
    yk_vec3 angular[YK_PATH_COEFFICIENTS]; /* rotation vector, from `orientation` on */
    yk_quat orientation;
} yk_path;

/* From one motion to another in the time h. */
yk_path yk_path_between(yk_port_kind kind, double h, const yk_motion *from, const yk_motion *to);
/* From a motion on with its acceleration. */
yk_path yk_path_from(yk_port_kind kind, const yk_motion *from);
/* Position, orientation and velocities at time t from the path's start; accelerations are not
 * filled. */
void yk_path_at(const yk_path *path, double t, yk_motion *motion);

#endif
