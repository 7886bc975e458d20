/* Path of a port between the two ends of a macro step: the polynomial of fifth degree that has the
 * positions, velocities and accelerations at both ends, on SO(3) for orientations. Its error is of
 * sixth order in the step. Beyond the end it extrapolates with the same order. */
#ifndef YK_COUPLING_PATH_H
#define YK_COUPLING_PATH_H

#include "yoke/subsystem.h"

enum { YK_PATH_COEFFICIENTS = 6 };

typedef struct yk_path {
    yk_port_kind kind;
    yk_vec3 linear[YK_PATH_COEFFICIENTS];

    /* Rotation vector relative to `orientation`. */
    yk_vec3 angular[YK_PATH_COEFFICIENTS];
    yk_quat orientation;
} yk_path;

/* Path from one motion to another in the time h. */
yk_path yk_path_between(yk_port_kind kind, double h, const yk_motion *from, const yk_motion *to);
/* Position, orientation and velocities at time t after the start of the path. Accelerations are
 * zero. */
void yk_path_at(const yk_path *path, double t, yk_motion *motion);

#endif
