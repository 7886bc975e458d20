#include "coupling/interface.h"

#include "math/so3.h"

static void set_line(yk_signal *signal, yk_vec3 position, yk_vec3 velocity)
{
    signal->degree = 1;
    signal->linear[0] = position;
    signal->linear[1] = velocity;
}

static void set_scalar_line(yk_signal *signal, double position, double velocity)
{
    signal->degree = 1;
    signal->linear[0].x = position;
    signal->linear[1].x = velocity;
}

static void set_rotation_line(yk_signal *signal, yk_quat orientation, yk_vec3 angular_velocity)
{
    signal->orientation = orientation;
    signal->angular[0] = yk_v3(0, 0, 0);
    signal->angular[1] = angular_velocity;
}

/* The rotation vector, in the global frame, that turns `from` into `to`. */
static yk_vec3 rotation_between(yk_quat from, yk_quat to)
{
    return yk_so3_log(yk_q_mul(to, yk_q_conjugate(from)));
}

static yk_vec3 axis_of(yk_quat orientation, int axis)
{
    return yk_q_rotate(orientation, yk_v3(axis == 0, axis == 1, axis == 2));
}

/* One free axis: the shortest turn that brings b's free axis onto a's. */
static yk_vec3 turn_of_axis(yk_quat b, yk_quat a, int axis)
{
    yk_vec3 from = axis_of(b, axis), to = axis_of(a, axis), normal = yk_v3_cross(from, to);
    double sine = yk_v3_norm(normal), angle = atan2(sine, yk_v3_dot(from, to));
    return sine > 0 ? yk_v3_scale(angle / sine, normal) : normal;
}

/* Two free axes: the turn that makes the axis before the constrained one, on a, perpendicular to the one after it, on b
 * (a universal joint). */
static yk_vec3 turn_to_perpendicular(yk_quat b, yk_quat a, int constrained)
{
    yk_vec3 on_a = axis_of(a, (constrained + 1) % 3), on_b = axis_of(b, (constrained + 2) % 3);
    double lack = yk_v3_dot(on_a, on_b);
    return yk_v3_scale(asin(fmax(-1, fmin(1, lack))), yk_v3_unit(yk_v3_cross(on_a, on_b)));
}

/* The turn, in the global frame, that b lacks to follow a along the constrained rotations; free ones are left alone
 * however far they have gone. */
static yk_vec3 constrained_turn(unsigned rotations, yk_quat b, yk_quat a)
{
    switch (rotations) {
    case 0: return yk_v3(0, 0, 0);
    case 1: return turn_to_perpendicular(b, a, 0);
    case 2: return turn_to_perpendicular(b, a, 1);
    case 4: return turn_to_perpendicular(b, a, 2);
    case 6: return turn_of_axis(b, a, 0);
    case 5: return turn_of_axis(b, a, 1);
    case 3: return turn_of_axis(b, a, 2);
    default: return rotation_between(b, a);
    }
}

void yk_input_original(yk_port_kind kind, const yk_motion *a_start, const yk_motion *a_end, yk_signal *signal)
{
    if (kind == YK_PORT_SCALAR) {
        set_scalar_line(signal, a_start->position.x, a_end->velocity.x);
        return;
    }
    set_line(signal, a_start->position, a_end->velocity);
    set_rotation_line(signal, a_start->orientation, a_end->angular_velocity);
}

/* paper explicit (26): mean of the velocities that follow from position, velocity and acceleration of A. */
static double weighted(const yk_inputs *w, double h, double way, double a_velocity, double b_velocity,
                       double a_acceleration)
{
    double sum =
        w->position * (way / h) + w->velocity * a_velocity + w->acceleration * (b_velocity + h * a_acceleration);
    return sum / (w->position + w->velocity + w->acceleration);
}

static yk_vec3 weighted3(const yk_inputs *w, double h, yk_vec3 way, yk_vec3 a_velocity, yk_vec3 b_velocity,
                         yk_vec3 a_acceleration)
{
    return yk_v3(weighted(w, h, way.x, a_velocity.x, b_velocity.x, a_acceleration.x),
                 weighted(w, h, way.y, a_velocity.y, b_velocity.y, a_acceleration.y),
                 weighted(w, h, way.z, a_velocity.z, b_velocity.z, a_acceleration.z));
}

void yk_input_modified(yk_port_kind kind, unsigned constrained, const yk_inputs *weights, double h,
                       const yk_motion *b_start, const yk_motion *a_end, yk_signal *signal)
{
    if (kind == YK_PORT_SCALAR) {
        double way = a_end->position.x - b_start->position.x;
        set_scalar_line(signal, b_start->position.x,
                        weighted(weights, h, way, a_end->velocity.x, b_start->velocity.x, a_end->acceleration.x));
        return;
    }
    yk_vec3 way = yk_v3_sub(a_end->position, b_start->position);
    yk_vec3 turn = constrained_turn(constrained >> 3, b_start->orientation, a_end->orientation);
    set_line(signal, b_start->position,
             weighted3(weights, h, way, a_end->velocity, b_start->velocity, a_end->acceleration));
    set_rotation_line(
        signal, b_start->orientation,
        weighted3(weights, h, turn, a_end->angular_velocity, b_start->angular_velocity, a_end->angular_acceleration));
}

void yk_input_interpolated(yk_port_kind kind, double h, const yk_motion *a_start, const yk_motion *a_end,
                           yk_signal *signal)
{
    if (kind == YK_PORT_SCALAR) {
        set_scalar_line(signal, a_start->position.x, (a_end->position.x - a_start->position.x) / h);
        return;
    }
    yk_vec3 way = yk_v3_sub(a_end->position, a_start->position);
    set_line(signal, a_start->position, yk_v3_scale(1 / h, way));
    yk_vec3 turn = rotation_between(a_start->orientation, a_end->orientation);
    set_rotation_line(signal, a_start->orientation, yk_v3_scale(1 / h, turn));
}

static void set_cubic(double h, yk_vec3 way, yk_vec3 rate, yk_vec3 end_rate, yk_vec3 c[YK_SIGNAL_COEFFICIENTS])
{
    /* y = rate t + (3 way/h - 2 rate - end_rate) t^2/h + (rate + end_rate - 2 way/h) t^3/h^2 */
    yk_vec3 mean = yk_v3_scale(1 / h, way), sum = yk_v3_add(rate, end_rate);
    c[1] = rate;
    c[2] = yk_v3_scale(1 / h, yk_v3_sub(yk_v3_axpy(3, mean, yk_v3_neg(rate)), sum));
    c[3] = yk_v3_scale(1 / (h * h), yk_v3_axpy(-2, mean, sum));
}

void yk_input_cubic(yk_port_kind kind, double h, const yk_motion *a_start, const yk_motion *a_end, yk_signal *signal)
{
    signal->degree = 3;
    signal->linear[0] = a_start->position;
    set_cubic(h, yk_v3_sub(a_end->position, a_start->position), a_start->velocity, a_end->velocity, signal->linear);
    if (kind == YK_PORT_SCALAR) return;
    yk_vec3 turn = rotation_between(a_start->orientation, a_end->orientation);
    yk_vec3 end_rate = yk_m3_apply(yk_so3_left_tangent_inverse(turn), a_end->angular_velocity);
    signal->orientation = a_start->orientation;
    signal->angular[0] = yk_v3(0, 0, 0);
    set_cubic(h, turn, a_start->angular_velocity, end_rate, signal->angular);
}

void yk_input_taylor(yk_port_kind kind, const yk_motion *a, yk_signal *signal)
{
    set_line(signal, a->position, a->velocity);
    signal->degree = 2;
    signal->linear[2] = yk_v3_scale(0.5, a->acceleration);
    if (kind == YK_PORT_SCALAR) return;
    set_rotation_line(signal, a->orientation, a->angular_velocity);
    signal->angular[2] = yk_v3_scale(0.5, a->angular_acceleration);
}

yk_effort yk_effort_opposite(yk_port_kind kind, const yk_port_value *b, yk_vec3 a_origin)
{
    if (kind == YK_PORT_SCALAR) return (yk_effort){{-b->effort.force.x, 0, 0}, {0, 0, 0}};
    yk_vec3 arm = yk_v3_sub(b->motion.position, a_origin);
    yk_vec3 torque = yk_v3_add(b->effort.torque, yk_v3_cross(arm, b->effort.force));
    return (yk_effort){yk_v3_neg(b->effort.force), yk_v3_neg(torque)};
}

void yk_input_constant(yk_port_kind kind, const yk_effort *effort, yk_signal *signal)
{
    signal->degree = 0;
    signal->linear[0].x = effort->force.x;
    if (kind == YK_PORT_SCALAR) return;
    signal->linear[0] = effort->force;
    signal->angular[0] = effort->torque;
}

void yk_input_line(yk_port_kind kind, const yk_effort *effort, double at, const yk_effort *before, double since,
                   yk_signal *signal)
{
    yk_effort change = yk_effort_combine(kind, effort, -1, before);
    signal->degree = 1;
    signal->linear[1] = yk_v3_scale(1 / since, change.force);
    signal->linear[0] = yk_v3_axpy(-at, signal->linear[1], effort->force);
    if (kind == YK_PORT_SCALAR) return;
    signal->angular[1] = yk_v3_scale(1 / since, change.torque);
    signal->angular[0] = yk_v3_axpy(-at, signal->angular[1], effort->torque);
}

static yk_vec3 along_axes(unsigned axes, yk_quat frame, yk_vec3 v)
{
    yk_vec3 local = yk_q_rotate_back(frame, v);
    return yk_v3(axes & 1 ? local.x : 0, axes & 2 ? local.y : 0, axes & 4 ? local.z : 0);
}

yk_interface_error yk_interface_gap(yk_port_kind kind, unsigned constrained, const yk_motion *a, const yk_motion *b)
{
    if (kind == YK_PORT_SCALAR)
        return (yk_interface_error){.position = fabs(a->position.x - b->position.x),
                                    .velocity = fabs(a->velocity.x - b->velocity.x)};
    unsigned rotations = constrained >> 3;
    yk_quat frame = b->orientation;
    yk_vec3 reach = yk_v3_sub(a->position, b->position);
    yk_vec3 position = along_axes(constrained, frame, reach);
    yk_vec3 rotation = constrained_turn(rotations, b->orientation, a->orientation);

    /* Seen from b, whose axes turn: where markers slide they are far apart, and a moves across b's axes with them. */
    yk_vec3 carried = yk_v3_add(b->velocity, yk_v3_cross(b->angular_velocity, reach));
    yk_vec3 velocity = along_axes(constrained, frame, yk_v3_sub(a->velocity, carried));
    yk_vec3 relative = yk_v3_sub(a->angular_velocity, b->angular_velocity);
    yk_vec3 spin = along_axes(rotations, frame, relative);
    if (rotations == 1 || rotations == 2 || rotations == 4) {
        /* Two free axes: the rate at which the other two leave their right angle. */
        int axis = rotations == 4 ? 2 : (int)rotations - 1;
        yk_vec3 on_a = axis_of(a->orientation, (axis + 1) % 3), on_b = axis_of(frame, (axis + 2) % 3);
        spin = yk_v3(yk_v3_dot(relative, yk_v3_cross(on_a, on_b)), 0, 0);
    }
    return (yk_interface_error){.position = yk_v3_norm(position),
                                .rotation = yk_v3_norm(rotation),
                                .velocity = yk_v3_norm(velocity),
                                .angular_velocity = yk_v3_norm(spin)};
}

double yk_effort_work(yk_port_kind kind, const yk_effort *effort, const yk_motion *from, const yk_motion *to)
{
    if (kind == YK_PORT_SCALAR) return effort->force.x * (to->position.x - from->position.x);
    return yk_v3_dot(effort->force, yk_v3_sub(to->position, from->position)) +
           yk_v3_dot(effort->torque, rotation_between(from->orientation, to->orientation));
}

double yk_effort_impulse_work(yk_port_kind kind, double h, const yk_effort *effort, const yk_motion *from,
                              const yk_motion *to)
{
    if (kind == YK_PORT_SCALAR) return 0.5 * h * effort->force.x * (from->velocity.x + to->velocity.x);
    yk_vec3 velocity = yk_v3_add(from->velocity, to->velocity);
    yk_vec3 spin = yk_v3_add(from->angular_velocity, to->angular_velocity);
    return 0.5 * h * (yk_v3_dot(effort->force, velocity) + yk_v3_dot(effort->torque, spin));
}

yk_effort yk_effort_combine(yk_port_kind kind, const yk_effort *a, double factor, const yk_effort *b)
{
    if (kind == YK_PORT_SCALAR) return (yk_effort){{a->force.x + factor * b->force.x, 0, 0}, {0, 0, 0}};
    return (yk_effort){yk_v3_axpy(factor, b->force, a->force), yk_v3_axpy(factor, b->torque, a->torque)};
}

double *yk_effort_pack(yk_port_kind kind, const yk_effort *effort, double *array)
{
    *array++ = effort->force.x;
    if (kind == YK_PORT_SCALAR) return array;
    *array++ = effort->force.y, *array++ = effort->force.z;
    *array++ = effort->torque.x, *array++ = effort->torque.y, *array++ = effort->torque.z;
    return array;
}

const double *yk_effort_unpack(yk_port_kind kind, const double *array, yk_effort *effort)
{
    effort->force.x = *array++;
    if (kind == YK_PORT_SCALAR) return array;
    effort->force.y = *array++, effort->force.z = *array++;
    effort->torque.x = *array++, effort->torque.y = *array++, effort->torque.z = *array++;
    return array;
}

double yk_effort_size(yk_port_kind kind, const yk_effort *a)
{
    if (kind == YK_PORT_SCALAR) return fabs(a->force.x);
    return fmax(yk_v3_norm(a->force), yk_v3_norm(a->torque));
}

bool yk_port_value_finite(yk_port_kind kind, const yk_port_value *value)
{
    const yk_motion *m = &value->motion;
    if (kind != YK_PORT_MARKER) return isfinite(m->position.x + m->velocity.x + value->effort.force.x);
    return yk_v3_finite(m->position) && yk_v3_finite(m->velocity) && yk_v3_finite(m->angular_velocity) &&
           yk_v3_finite(value->effort.force) && yk_v3_finite(value->effort.torque) &&
           isfinite(m->orientation.w + m->orientation.x + m->orientation.y + m->orientation.z);
}
