#include "coupling/frame.h"

#include "math/vec3.h"

yk_frame yk_frame_default(void)
{
    return (yk_frame){.orientation = {1, 0, 0, 0}, .length = 1, .mass = 1};
}

static double force_unit(const yk_frame *frame)
{
    return frame->mass * frame->length;
}

static yk_vec3 outward(const yk_frame *frame, double unit, yk_vec3 v)
{
    return yk_v3_scale(unit, yk_q_rotate(frame->orientation, v));
}

static yk_vec3 inward(const yk_frame *frame, double unit, yk_vec3 v)
{
    return yk_v3_scale(1 / unit, yk_q_rotate_back(frame->orientation, v));
}

void yk_frame_motion(const yk_frame *frame, yk_port_kind kind, yk_motion *motion)
{
    double length = frame->length;
    if (kind == YK_PORT_SCALAR) {
        motion->position.x *= length, motion->velocity.x *= length, motion->acceleration.x *= length;
        return;
    }
    motion->position = yk_v3_add(frame->position, outward(frame, length, motion->position));
    motion->velocity = outward(frame, length, motion->velocity);
    motion->acceleration = outward(frame, length, motion->acceleration);
    motion->orientation = yk_q_mul(frame->orientation, motion->orientation);
    motion->angular_velocity = outward(frame, 1, motion->angular_velocity);
    motion->angular_acceleration = outward(frame, 1, motion->angular_acceleration);
}

void yk_frame_port_value(const yk_frame *frame, yk_port_kind kind, yk_port_value *value)
{
    yk_frame_motion(frame, kind, &value->motion);
    if (kind == YK_PORT_SCALAR) {
        value->effort.force.x *= force_unit(frame);
        return;
    }
    value->effort.force = outward(frame, force_unit(frame), value->effort.force);
    value->effort.torque = outward(frame, force_unit(frame) * frame->length, value->effort.torque);
}

void yk_frame_energy(const yk_frame *frame, yk_energy *energy)
{
    double unit = force_unit(frame) * frame->length;
    energy->kinetic *= unit, energy->potential *= unit, energy->dissipated *= unit, energy->work *= unit;
}

void yk_frame_input(const yk_frame *frame, yk_port_kind kind, yk_causality causality, const yk_signal *input,
                    yk_signal *own)
{
    bool motion = causality == YK_TAKES_MOTION;
    double linear = motion ? frame->length : force_unit(frame);
    double angular = motion ? 1 : force_unit(frame) * frame->length;
    own->degree = input->degree;
    for (int i = 0; i <= input->degree; i++) {
        if (kind == YK_PORT_SCALAR) {
            own->linear[i].x = input->linear[i].x / linear;
            continue;
        }
        yk_vec3 value = input->linear[i];
        if (motion && i == 0) value = yk_v3_sub(value, frame->position);
        own->linear[i] = inward(frame, linear, value);
        own->angular[i] = inward(frame, angular, input->angular[i]);
    }
    if (kind == YK_PORT_MARKER) own->orientation = yk_q_mul(yk_q_conjugate(frame->orientation), input->orientation);
}
