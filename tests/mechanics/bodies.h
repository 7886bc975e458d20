/* Two bodies in general position and motion, and small displacements of them. */
#ifndef YK_TESTS_MECHANICS_BODIES_H
#define YK_TESTS_MECHANICS_BODIES_H

#include "math/so3.h"
#include "mechanics/body.h"

static inline void general_bodies(yk_frame body[2])
{
    body[0] = (yk_frame){.position = {0.3, -0.2, 0.5},
                         .rotation = yk_so3_exp_matrix(yk_v3(0.4, -0.7, 0.2)),
                         .velocity = {0.2, 0.5, -0.3},
                         .angular_velocity = {1.1, -0.4, 0.8}};
    body[1] = (yk_frame){.position = {1.1, 0.4, 0.1},
                         .rotation = yk_so3_exp_matrix(yk_v3(-0.3, 0.5, 0.9)),
                         .velocity = {-0.6, 0.1, 0.4},
                         .angular_velocity = {0.3, 0.9, -1.2}};
}

static inline yk_marker general_marker(int side)
{
    return (yk_marker){side ? yk_v3(-0.2, 0.15, 0.3) : yk_v3(0.25, 0.1, -0.35),
                       yk_so3_exp(side ? yk_v3(0.2, 0.6, -0.4) : yk_v3(-0.5, 0.3, 0.7))};
}

/* Component 0..11: displacement and rotation of the first body, then of the second. */
static inline void displace(yk_frame body[2], int component, double by)
{
    double change[3] = {0};
    change[component % 3] = by;
    yk_vec3 v = {change[0], change[1], change[2]};
    yk_frame *moved = &body[component / 6];
    if (component % 6 < 3) {
        moved->position = yk_v3_add(moved->position, v);
    } else {
        moved->rotation = yk_m3_mul(yk_so3_exp_matrix(v), moved->rotation);
    }
}

/* Velocities instead of placements. */
static inline void hasten(yk_frame body[2], int component, double by)
{
    double change[3] = {0};
    change[component % 3] = by;
    yk_vec3 v = {change[0], change[1], change[2]};
    yk_frame *moved = &body[component / 6];
    yk_vec3 *rate = component % 6 < 3 ? &moved->velocity : &moved->angular_velocity;
    *rate = yk_v3_add(*rate, v);
}

/* Moves on with constant velocity and angular velocity. */
static inline yk_frame coasted(const yk_frame *body, double time)
{
    yk_frame moved = *body;
    moved.position = yk_v3_axpy(time, body->velocity, body->position);
    moved.rotation =
        yk_m3_mul(yk_so3_exp_matrix(yk_v3_scale(time, body->angular_velocity)), body->rotation);
    return moved;
}

static inline double component_of(yk_vec3 v, int k)
{
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

#endif
