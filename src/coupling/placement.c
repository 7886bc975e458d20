#include "coupling/placement.h"

#include "math/vec3.h"

yk_placement yk_placement_default(void)
{
    return (yk_placement){.orientation = {1, 0, 0, 0}, .length = 1, .mass = 1};
}

static double force_unit(const yk_placement *placement)
{
    return placement->mass * placement->length;
}

static yk_vec3 outward(const yk_placement *placement, double unit, yk_vec3 v)
{
    return yk_v3_scale(unit, yk_q_rotate(placement->orientation, v));
}

static yk_vec3 inward(const yk_placement *placement, double unit, yk_vec3 v)
{
    return yk_v3_scale(1 / unit, yk_q_rotate_back(placement->orientation, v));
}

void yk_placement_motion(const yk_placement *placement, yk_port_kind kind, yk_motion *motion)
{
    double length = placement->length;
    if (kind == YK_PORT_SIGNAL) return;
    if (kind == YK_PORT_SCALAR) {
        motion->position.x *= length, motion->velocity.x *= length, motion->acceleration.x *= length;
        return;
    }
    motion->position = yk_v3_add(placement->position, outward(placement, length, motion->position));
    motion->velocity = outward(placement, length, motion->velocity);
    motion->acceleration = outward(placement, length, motion->acceleration);
    motion->orientation = yk_q_mul(placement->orientation, motion->orientation);
    motion->angular_velocity = outward(placement, 1, motion->angular_velocity);
    motion->angular_acceleration = outward(placement, 1, motion->angular_acceleration);
}

void yk_placement_value(const yk_placement *placement, yk_port_kind kind, yk_port_value *value)
{
    if (kind == YK_PORT_SIGNAL) return;
    yk_placement_motion(placement, kind, &value->motion);
    if (kind == YK_PORT_SCALAR) {
        value->effort.force.x *= force_unit(placement);
        return;
    }
    value->effort.force = outward(placement, force_unit(placement), value->effort.force);
    value->effort.torque = outward(placement, force_unit(placement) * placement->length, value->effort.torque);
}

void yk_placement_variation(const yk_placement *placement, yk_port_kind kind, double *change, int stride)
{
    for (int level = 0; level < 3; level++) {
        if (kind == YK_PORT_SCALAR) {
            change[level * stride] *= placement->length;
            continue;
        }
        for (int i = 0; i < 2; i++) {
            double *place = change + (6 * level + 3 * i) * stride;
            yk_vec3 v =
                outward(placement, i ? 1 : placement->length, yk_v3(place[0], place[stride], place[2 * stride]));
            place[0] = v.x, place[stride] = v.y, place[2 * stride] = v.z;
        }
    }
}

/* Three numbers `stride` apart. */
static void turn(const yk_placement *placement, double unit, double *v, int stride)
{
    yk_vec3 out = outward(placement, unit, yk_v3(v[0], v[stride], v[2 * stride]));
    v[0] = out.x, v[stride] = out.y, v[2 * stride] = out.z;
}

void yk_placement_rates(const yk_placement *placement, yk_port_kind kind, double *rates)
{
    if (kind == YK_PORT_SCALAR) {
        rates[0] *= placement->length;
        return;
    }
    turn(placement, placement->length, rates, 1);
    turn(placement, 1, rates + 3, 1);
}

void yk_placement_response(const yk_placement *placement, yk_port_kind kind, int offset, int size, double *matrix)
{
    double length = placement->length, force = force_unit(placement);
    for (int k = 0; k < size; k++) {
        double *row = &matrix[offset * size + k], *column = &matrix[k * size + offset];
        if (kind == YK_PORT_SCALAR) {
            row[0] *= length;
            column[0] /= force;
            continue;
        }
        turn(placement, length, row, size);
        turn(placement, 1, row + 3 * size, size);
    }
    for (int k = 0; kind != YK_PORT_SCALAR && k < size; k++) {
        turn(placement, 1 / force, &matrix[k * size + offset], 1);
        turn(placement, 1 / (force * length), &matrix[k * size + offset + 3], 1);
    }
}

void yk_placement_energy(const yk_placement *placement, yk_energy *energy)
{
    double unit = force_unit(placement) * placement->length;
    energy->kinetic *= unit, energy->potential *= unit, energy->dissipated *= unit, energy->work *= unit;
    energy->port_work *= unit;
}

void yk_placement_input(const yk_placement *placement, yk_port_kind kind, yk_causality causality,
                        const yk_signal *input, yk_signal *own)
{
    bool motion = causality == YK_TAKES_MOTION;
    double linear = motion ? placement->length : force_unit(placement);
    double angular = motion ? 1 : force_unit(placement) * placement->length;
    own->degree = input->degree;
    for (int i = 0; i <= input->degree; i++) {
        if (kind == YK_PORT_SCALAR) {
            own->linear[i].x = input->linear[i].x / linear;
            continue;
        }
        yk_vec3 value = input->linear[i];
        if (motion && i == 0) value = yk_v3_sub(value, placement->position);
        own->linear[i] = inward(placement, linear, value);
        own->angular[i] = inward(placement, angular, input->angular[i]);
    }
    if (kind == YK_PORT_MARKER) own->orientation = yk_q_mul(yk_q_conjugate(placement->orientation), input->orientation);
}
