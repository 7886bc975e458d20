/* A subsystem for tests: one rigid body under gravity with markers that accept wrenches. Its
 * integrator (classical Runge-Kutta with small steps) is so accurate that only the error of the
 * coupling remains. A body without mass is the ground. */
#ifndef YOKE_TESTS_FREE_BODY_H
#define YOKE_TESTS_FREE_BODY_H

#include "yoke/base.h"
#include "yoke/subsystem.h"

enum { FREE_BODY_PORTS = 3 };

typedef struct free_body_def {
    double mass;     /* 0: the ground */
    yk_vec3 inertia; /* principal, in the body's axes */
    yk_vec3 gravity;
    yk_vec3 position, velocity, angular_velocity;
    yk_quat orientation;
    int port_count;
    yk_vec3 offset[FREE_BODY_PORTS];
    yk_quat rotation[FREE_BODY_PORTS]; /* from marker to body; zero: none */
    int substeps;                      /* of a macro step */
} free_body_def;

yk_subsystem *free_body_create(const free_body_def *def);

#endif
