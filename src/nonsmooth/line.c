/* Line ports: the distance of two markers on two bodies, or on one and the ground, as a scalar port. An actuator.
 *
 *   a ----- e -----> b      position |d|, velocity e . d', wrench pushes the markers apart
 *
 * As everything in the step, the direction is that of the beginning. A prescribed distance is a row like a driven
 * joint: the input's value at the beginning of the step and its rate at the end. */
#include "math/polynomial.h"
#include "math/so3.h"
#include "nonsmooth/world.h"

static yk_world_line line_between(const yk_port_slot *port, const yk_frame *a, const yk_frame *b)
{
    yk_world_line line;
    yk_vec3 arm_a = yk_m3_apply(a->rotation, port->marker.offset);
    yk_vec3 arm_b = yk_m3_apply(b->rotation, port->far_marker.offset);
    yk_vec3 d = yk_v3_sub(yk_v3_add(b->position, arm_b), yk_v3_add(a->position, arm_a));
    yk_vec3 speed_a = yk_v3_add(a->velocity, yk_v3_cross(a->angular_velocity, arm_a));
    yk_vec3 speed_b = yk_v3_add(b->velocity, yk_v3_cross(b->angular_velocity, arm_b));
    yk_vec3 speed = yk_v3_sub(speed_b, speed_a), e = yk_v3_unit(d);
    yk_vec3 rotating_a = yk_v3_cross(a->angular_velocity, yk_v3_cross(a->angular_velocity, arm_a));
    yk_vec3 rotating_b = yk_v3_cross(b->angular_velocity, yk_v3_cross(b->angular_velocity, arm_b));
    line.length = yk_v3_norm(d);
    line.rate = yk_v3_dot(e, speed);
    double across = yk_v3_norm2(speed) - line.rate * line.rate;
    line.bias = yk_v3_dot(e, yk_v3_sub(rotating_b, rotating_a)) + (line.length > 0 ? across / line.length : 0);
    line.force[0] = yk_v3_neg(e), line.torque[0] = yk_v3_cross(arm_a, line.force[0]);
    line.force[1] = e, line.torque[1] = yk_v3_cross(arm_b, e);
    return line;
}

yk_world_line yk_world_line_at(const yk_nonsmooth *self, const yk_port_slot *port)
{
    yk_frame a = yk_world_frame(self, port->slot), b = yk_world_frame(self, port->far_slot);
    return line_between(port, &a, &b);
}

/* At constant velocities of both bodies. */
static yk_frame moved(const yk_nonsmooth *self, int slot, double h)
{
    if (slot < 0) return yk_frame_ground();
    yk_body_state body = self->bodies[slot];
    yk_quat rotation = yk_so3_exp(yk_v3_scale(h, body.angular_velocity));
    return (yk_frame){yk_v3_axpy(h, body.velocity, body.position), yk_q_matrix(yk_q_mul(rotation, body.orientation)),
                      body.velocity, body.angular_velocity};
}

void yk_world_predict_line(const yk_nonsmooth *self, const yk_port_slot *port, double h, yk_motion *motion)
{
    yk_frame a = moved(self, port->slot, h), b = moved(self, port->far_slot, h);
    yk_world_line line = line_between(port, &a, &b);
    motion->position.x = line.length;
    motion->velocity.x = line.rate;
    motion->acceleration.x = port->rate.linear.x;
}

void yk_world_line_output(const yk_nonsmooth *self, const yk_port_slot *port, yk_port_value *value)
{
    yk_world_line line = yk_world_line_at(self, port);
    value->motion.position.x = line.length;
    value->motion.velocity.x = line.rate;
    value->motion.acceleration.x = port->rate.linear.x;
    value->wrench.force.x = port->wrench.force.x;
}

/* Simpson's rule is exact for the cubics that inputs are. */
double yk_world_line_wrench(const yk_input *input, double h)
{
    return (yk_input_scalar(input, 0) + 4 * yk_input_scalar(input, h / 2) + yk_input_scalar(input, h)) / 6;
}

/* Work of the force over the step by the mean velocity; the bodies are not moved yet. */
double yk_world_line_work(const yk_nonsmooth *self, const yk_port_slot *port, double h)
{
    yk_world_line line = yk_world_line_at(self, port);
    int slots[2] = {port->slot, port->far_slot};
    double rate = 0;
    for (int side = 0; side < 2; side++) {
        if (slots[side] < 0) continue;
        const yk_body_state *body = &self->bodies[slots[side]];
        const yk_twist *before = &self->before[slots[side]];
        rate += 0.5 * yk_v3_dot(line.force[side], yk_v3_add(body->velocity, before->linear));
        rate += 0.5 * yk_v3_dot(line.torque[side], yk_v3_add(body->angular_velocity, before->angular));
    }
    return h * port->wrench.force.x * rate;
}
