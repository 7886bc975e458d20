/* Between the units and axes of a subsystem and those of the system (paper tight (20)): a point x
 * of the subsystem is at position + length Q x in the system. Forces have the unit mass length
 * (seconds are the same everywhere), torques and energies mass length^2. */
#include "coupling/interface.h"

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

/* The same for three numbers `stride` apart, in place. */
static void outward_strided(const yk_transform *transform, double unit, double *v, int stride)
{
    yk_vec3 out = outward(transform, unit, yk_v3(v[0], v[stride], v[2 * stride]));
    v[0] = out.x;
    v[stride] = out.y;
    v[2 * stride] = out.z;
}

void yk_transform_motion(const yk_transform *transform, yk_port_kind kind, yk_motion *motion)
{
    double length = transform->length;

    /* Signals have no unit. */
    if (kind == YK_PORT_SIGNAL)
        return;
    if (kind == YK_PORT_SCALAR) {
        motion->position.x *= length;
        motion->velocity.x *= length;
        motion->acceleration.x *= length;
        return;
    }

    motion->position = yk_v3_add(transform->position, outward(transform, length, motion->position));
    motion->velocity = outward(transform, length, motion->velocity);
    motion->acceleration = outward(transform, length, motion->acceleration);

    /* Angles have the same unit everywhere. */
    motion->orientation = yk_q_mul(transform->orientation, motion->orientation);
    motion->angular_velocity = outward(transform, 1, motion->angular_velocity);
    motion->angular_acceleration = outward(transform, 1, motion->angular_acceleration);
}

void yk_transform_value(const yk_transform *transform, yk_port_kind kind, yk_port_value *value)
{
    if (kind == YK_PORT_SIGNAL)
        return;

    yk_transform_motion(transform, kind, &value->motion);

    double force = force_unit(transform);
    yk_wrench *wrench = &value->wrench;
    if (kind == YK_PORT_SCALAR) {
        wrench->force.x *= force;
        return;
    }

    wrench->force = outward(transform, force, wrench->force);
    wrench->torque = outward(transform, force * transform->length, wrench->torque);
}

void yk_transform_variation(const yk_transform *transform, yk_port_kind kind, double *change,
                            int stride)
{
    /* Position, velocity and acceleration have the same units of length and angle. */
    for (int level = 0; level < 3; level++) {
        if (kind == YK_PORT_SCALAR) {
            change[level * stride] *= transform->length;
            continue;
        }

        double *linear = change + 6 * level * stride;
        double *angular = linear + 3 * stride;
        outward_strided(transform, transform->length, linear, stride);
        outward_strided(transform, 1, angular, stride);
    }
}

void yk_transform_rates(const yk_transform *transform, yk_port_kind kind, double *rates)
{
    if (kind == YK_PORT_SCALAR) {
        rates[0] *= transform->length;
        return;
    }

    outward_strided(transform, transform->length, rates, 1);
    outward_strided(transform, 1, rates + 3, 1);
}

void yk_transform_response(const yk_transform *transform, yk_port_kind kind, int offset, int size,
                           double *matrix)
{
    double length = transform->length;
    double force = force_unit(transform);

    /* A scalar port has one row and one column. */
    if (kind == YK_PORT_SCALAR) {
        for (int k = 0; k < size; k++) {
            matrix[offset * size + k] *= length;
            matrix[k * size + offset] /= force;
        }

        return;
    }

    /* Rows are velocities, in the units of motion ... */
    for (int k = 0; k < size; k++) {
        double *row = &matrix[offset * size + k];
        outward_strided(transform, length, row, size);
        outward_strided(transform, 1, row + 3 * size, size);
    }

    /* ... columns those of a unit force or torque of the system. */
    for (int k = 0; k < size; k++) {
        double *column = &matrix[k * size + offset];
        outward_strided(transform, 1 / force, column, 1);
        outward_strided(transform, 1 / (force * length), column + 3, 1);
    }
}

void yk_transform_energy(const yk_transform *transform, yk_energy *energy)
{
    double unit = force_unit(transform) * transform->length;
    energy->kinetic *= unit;
    energy->potential *= unit;
    energy->dissipated *= unit;
    energy->work *= unit;
    energy->port_work *= unit;
}

void yk_transform_input(const yk_transform *transform, yk_port_kind kind, yk_causality causality,
                        const yk_input *input, yk_input *own)
{
    /* A motion in lengths and angles, a wrench in forces and torques. */
    bool motion = causality == YK_TAKES_MOTION;
    double linear = transform->length;
    double angular = 1;
    if (!motion) {
        linear = force_unit(transform);
        angular = force_unit(transform) * transform->length;
    }

    own->degree = input->degree;
    for (int i = 0; i <= input->degree; i++) {
        if (kind == YK_PORT_SCALAR) {
            own->linear[i].x = input->linear[i].x / linear;
            continue;
        }

        /* Only a position has an origin. */
        yk_vec3 value = input->linear[i];
        if (motion && i == 0)
            value = yk_v3_sub(value, transform->position);
        own->linear[i] = inward(transform, linear, value);
        own->angular[i] = inward(transform, angular, input->angular[i]);
    }

    if (kind == YK_PORT_MARKER)
        own->orientation = yk_q_mul(yk_q_conjugate(transform->orientation), input->orientation);
}
