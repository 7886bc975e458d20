/* Line ports: the distance of two markers on two bodies, or on one and the ground, as a scalar
 * port. An actuator.
 *
 *   a ----- e -----> b      position |d|, velocity e . d', wrench pushes the markers apart
 *
 * As everything in the step, the direction is that of the beginning. A prescribed distance is a
 * row like a driven joint: the input's value at the beginning of the step and its rate at the
 * end. */
#include "math/so3.h"
#include "nonsmooth/world.h"

/* The vector from marker to marker, and its direction. */
static yk_world_line line_between(const yk_port_model *port, const yk_frame *a, const yk_frame *b)
{
    yk_vec3 wa = a->angular_velocity, wb = b->angular_velocity;
    yk_vec3 arm_a = yk_m3_apply(a->rotation, port->marker.offset);
    yk_vec3 arm_b = yk_m3_apply(b->rotation, port->far_marker.offset);
    yk_vec3 d = yk_v3_sub(yk_v3_add(b->position, arm_b), yk_v3_add(a->position, arm_a));
    yk_vec3 e = yk_v3_unit(d);

    /* Length and rate. */
    yk_vec3 velocity_a = yk_v3_add(a->velocity, yk_v3_cross(wa, arm_a));
    yk_vec3 velocity_b = yk_v3_add(b->velocity, yk_v3_cross(wb, arm_b));
    yk_vec3 velocity = yk_v3_sub(velocity_b, velocity_a);
    yk_world_line line = {.length = yk_v3_norm(d), .rate = yk_v3_dot(e, velocity)};

    /* d'' at constant velocities: centripetal along e, and the speed across e over the length. */
    yk_vec3 centripetal_a = yk_v3_cross(wa, yk_v3_cross(wa, arm_a));
    yk_vec3 centripetal_b = yk_v3_cross(wb, yk_v3_cross(wb, arm_b));
    double across = yk_v3_norm2(velocity) - line.rate * line.rate;
    line.bias = yk_v3_dot(e, yk_v3_sub(centripetal_b, centripetal_a));
    if (line.length > 0)
        line.bias += across / line.length;

    /* A unit wrench pushes the bodies apart. */
    line.force[0] = yk_v3_neg(e);
    line.force[1] = e;
    line.torque[0] = yk_v3_cross(arm_a, line.force[0]);
    line.torque[1] = yk_v3_cross(arm_b, line.force[1]);
    return line;
}

yk_world_line yk_world_line_at(const yk_nonsmooth *self, const yk_port_model *port)
{
    yk_frame a = yk_world_frame(&self->state, port->slot);
    yk_frame b = yk_world_frame(&self->state, port->far_slot);
    return line_between(port, &a, &b);
}

static yk_frame frame_ahead(const yk_world_state *state, int slot, double h)
{
    if (slot < 0)
        return yk_frame_ground();

    const yk_body_state *body = &state->bodies[slot];

    yk_quat rotation = yk_so3_exp(yk_v3_scale(h, body->angular_velocity));
    return (yk_frame){
        yk_v3_axpy(h, body->velocity, body->position),
        yk_q_matrix(yk_q_mul(rotation, body->orientation)),
        body->velocity,
        body->angular_velocity,
    };
}

yk_world_line yk_world_line_ahead(const yk_nonsmooth *self, const yk_port_model *port, double h)
{
    yk_frame a = frame_ahead(&self->state, port->slot, h);
    yk_frame b = frame_ahead(&self->state, port->far_slot, h);
    return line_between(port, &a, &b);
}
