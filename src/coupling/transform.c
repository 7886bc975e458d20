#include "coupling/transform.h"

#include "math/vec3.h"

yk_transform yk_transform_default(void)
{
    return (yk_transform){.orientation = {1, 0, 0, 0}, .length = 1, .mass = 1};
}

static double force_unit(const yk_transform *transform)
{
    return transform->mass * transform->length;
}

static yk_vec3 outward(const yk_transform *transform, double unit, yk_vec3 v)
{
    return yk_v3_scale(unit, yk_q_rotate(transform->orientation, v));
}

static yk_vec3 inward(const yk_transform *transform, double unit, yk_vec3 v)
{
    return yk_v3_scale(1 / unit, yk_q_rotate_back(transform->orientation, v));
}

void yk_transform_motion(const yk_transform *transform, yk_port_kind kind, yk_motion *motion)
{
    double length = transform->length;
    if (kind == YK_PORT_SIGNAL)
        return;
    if (kind == YK_PORT_SCALAR) {
        motion->position.x *= length, motion->velocity.x *= length,
            motion->acceleration.x *= length;
        return;
    }
    motion->position = yk_v3_add(transform->position, outward(transform, length, motion->position));
    motion->velocity = outward(transform, length, motion->velocity);
    motion->acceleration = outward(transform, length, motion->acceleration);
    motion->orientation = yk_q_mul(transform->orientation, motion->orientation);
    motion->angular_velocity = outward(transform, 1, motion->angular_velocity);
    motion->angular_acceleration = outward(transform, 1, motion->angular_acceleration);
}

void yk_transform_value(const yk_transform *transform, yk_port_kind kind, yk_port_value *value)
{
    if (kind == YK_PORT_SIGNAL)
        return;
    yk_transform_motion(transform, kind, &value->motion);
    if (kind == YK_PORT_SCALAR) {
        value->wrench.force.x *= force_unit(transform);
        return;
    }
    value->wrench.force = outward(transform, force_unit(transform), value->wrench.force);
    value->wrench.torque =
        outward(transform, force_unit(transform) * transform->length, value->wrench.torque);
}

void yk_transform_variation(const yk_transform *transform, yk_port_kind kind, double *change,
                            int stride)
{
    for (int level = 0; level < 3; level++) {
        if (kind == YK_PORT_SCALAR) {
            change[level * stride] *= transform->length;
            continue;
        }
        for (int i = 0; i < 2; i++) {
            double *place = change + (6 * level + 3 * i) * stride;
            yk_vec3 v = outward(transform, i ? 1 : transform->length,
                                yk_v3(place[0], place[stride], place[2 * stride]));
            place[0] = v.x, place[stride] = v.y, place[2 * stride] = v.z;
        }
    }
}

/* Three numbers `stride` apart. */
static void rotation(const yk_transform *transform, double unit, double *v, int stride)
{
    yk_vec3 out = outward(transform, unit, yk_v3(v[0], v[stride], v[2 * stride]));
    v[0] = out.x, v[stride] = out.y, v[2 * stride] = out.z;
}

void yk_transform_rates(const yk_transform *transform, yk_port_kind kind, double *rates)
{
    if (kind == YK_PORT_SCALAR) {
        rates[0] *= transform->length;
        return;
    }
    rotation(transform, transform->length, rates, 1);
    rotation(transform, 1, rates + 3, 1);
}

void yk_transform_response(const yk_transform *transform, yk_port_kind kind, int offset, int size,
                           double *matrix)
{
    double length = transform->length, force = force_unit(transform);
    for (int k = 0; k < size; k++) {
        double *row = &matrix[offset * size + k], *column = &matrix[k * size + offset];
        if (kind == YK_PORT_SCALAR) {
            row[0] *= length;
            column[0] /= force;
            continue;
        }
        rotation(transform, length, row, size);
        rotation(transform, 1, row + 3 * size, size);
    }
    for (int k = 0; kind != YK_PORT_SCALAR && k < size; k++) {
        rotation(transform, 1 / force, &matrix[k * size + offset], 1);
        rotation(transform, 1 / (force * length), &matrix[k * size + offset + 3], 1);
    }
}

void yk_transform_energy(const yk_transform *transform, yk_energy *energy)
{
    double unit = force_unit(transform) * transform->length;
    energy->kinetic *= unit, energy->potential *= unit, energy->dissipated *= unit,
        energy->work *= unit;
    energy->port_work *= unit;
}

void yk_transform_input(const yk_transform *transform, yk_port_kind kind, yk_causality causality,
                        const yk_input *input, yk_input *own)
{
    bool motion = causality == YK_TAKES_MOTION;
    double linear = motion ? transform->length : force_unit(transform);
    double angular = motion ? 1 : force_unit(transform) * transform->length;
    own->degree = input->degree;
    for (int i = 0; i <= input->degree; i++) {
        if (kind == YK_PORT_SCALAR) {
            own->linear[i].x = input->linear[i].x / linear;
            continue;
        }
        yk_vec3 value = input->linear[i];
        if (motion && i == 0)
            value = yk_v3_sub(value, transform->position);
        own->linear[i] = inward(transform, linear, value);
        own->angular[i] = inward(transform, angular, input->angular[i]);
    }
    if (kind == YK_PORT_MARKER)
        own->orientation = yk_q_mul(yk_q_conjugate(transform->orientation), input->orientation);
}
