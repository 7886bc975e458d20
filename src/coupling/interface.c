#include "coupling/interface.h"

#include "coupling/axes.h"
#include "math/so3.h"

const yk_input_weights yk_weights_index1 = {2, 2, 1};

/* Rotations ------------------------------------------------------------------------------------ */

/* The rotation vector, in the global frame, from one orientation to another. */
static yk_vec3 rotation_between(yk_quat from, yk_quat to)
{
    return yk_so3_log(yk_q_mul(to, yk_q_conjugate(from)));
}

static yk_vec3 axis_of(yk_quat orientation, int axis)
{
    return yk_q_rotate(orientation, yk_v3(axis == 0, axis == 1, axis == 2));
}

/* The components of v along the chosen axes of a frame, in that frame. */
static yk_vec3 along_axes(unsigned axes, yk_quat frame, yk_vec3 v)
{
    yk_vec3 local = yk_q_rotate_back(frame, v);
    if (!(axes & 1))
        local.x = 0;
    if (!(axes & 2))
        local.y = 0;
    if (!(axes & 4))
        local.z = 0;
    return local;
}

/* Violation of the constrained rotations, in the global frame. It is zero if the joint is
 * satisfied, whatever the angles of the free rotations. The rate is the derivative in the frame of
 * b. */
typedef struct rotation_gap {
    yk_vec3 rotation; /* Rotation that would align b with a (rad). */
    yk_vec3 rate;     /* rad/s */
} rotation_gap;

/* All rotations are constrained. */
static rotation_gap gap_of_orientation(const yk_motion *b, const yk_motion *a, yk_vec3 relative)
{
    rotation_gap gap = {.rotation = rotation_between(b->orientation, a->orientation)};

    gap.rate = yk_m3_apply(yk_so3_left_tangent_inverse(gap.rotation), relative);
    return gap;
}

/* One rotation is free: the rows b_k . a_axis of the joint keep its axis parallel on both sides, in
 * the same or in the opposite direction. The gap is the shortest rotation to the nearer one. */
static rotation_gap gap_of_parallel_axes(const yk_motion *b, const yk_motion *a, yk_vec3 relative,
                                         int axis)
{
    yk_vec3 from = axis_of(b->orientation, axis);
    yk_vec3 to = axis_of(a->orientation, axis);
    double cosine = yk_v3_dot(from, to);
    if (cosine < 0) {
        to = yk_v3_neg(to);
        cosine = -cosine;
    }

    /* The rotation is angle * normal / sine, where |normal| = sine. Its derivative seen from b has
     * the part of the angle and, across it, that of the direction. */
    yk_vec3 normal = yk_v3_cross(from, to);
    yk_vec3 normal_rate = yk_v3_cross(from, yk_v3_cross(relative, to));
    double sine = yk_v3_norm(normal);
    if (!(sine > 0))
        return (rotation_gap){normal, normal_rate};

    double angle = atan2(sine, cosine);
    double ratio = angle / sine;
    double angle_rate = yk_v3_dot(relative, normal) / sine;
    double along = angle_rate * (1 - ratio * cosine) / sine;
    return (rotation_gap){
        .rotation = yk_v3_scale(ratio, normal),
        .rate = yk_v3_axpy(along, normal, yk_v3_scale(ratio, normal_rate)),
    };
}

/* Two rotations are free (a universal joint): the row b_(k+1) . a_(k+2) of the joint, with k the
 * constrained rotation, keeps one axis of each side perpendicular to the other. */
static rotation_gap gap_of_perpendicular_axes(const yk_motion *b, const yk_motion *a,
                                              yk_vec3 relative, int constrained)
{
    yk_vec3 on_b = axis_of(b->orientation, (constrained + 1) % 3);
    yk_vec3 on_a = axis_of(a->orientation, (constrained + 2) % 3);
    /* The cosine of the angle between the axes is the sine of its deviation from 90 degrees. */
    double sine = yk_v3_dot(on_a, on_b);
    double angle = asin(fmax(-1, fmin(1, sine)));

    /* Axes that have become parallel are 90 degrees off about any normal of them. */
    yk_vec3 normal = yk_v3_cross(on_a, on_b);
    if (!(yk_v3_norm(normal) > 0))
        normal = axis_of(b->orientation, constrained);
    normal = yk_v3_unit(normal);
    return (rotation_gap){
        .rotation = yk_v3_scale(angle, normal),
        .rate = yk_v3_scale(yk_v3_dot(relative, normal), normal),
    };
}

static rotation_gap gap_of_rotation(unsigned constrained, const yk_motion *b, const yk_motion *a)
{
    yk_vec3 relative = yk_v3_sub(a->angular_velocity, b->angular_velocity);

    switch (yk_rotation_axes(constrained)) {
    case 0: return (rotation_gap){{0, 0, 0}, {0, 0, 0}};
    case YK_AXIS_X: return gap_of_perpendicular_axes(b, a, relative, 0);
    case YK_AXIS_Y: return gap_of_perpendicular_axes(b, a, relative, 1);
    case YK_AXIS_Z: return gap_of_perpendicular_axes(b, a, relative, 2);
    case YK_AXIS_Y | YK_AXIS_Z: return gap_of_parallel_axes(b, a, relative, 0);
    case YK_AXIS_X | YK_AXIS_Z: return gap_of_parallel_axes(b, a, relative, 1);
    case YK_AXIS_X | YK_AXIS_Y: return gap_of_parallel_axes(b, a, relative, 2);
    default: return gap_of_orientation(b, a, relative);
    }
}

/* Motion inputs -------------------------------------------------------------------------------- */

static void set_line(yk_input *input, yk_vec3 position, yk_vec3 velocity)
{
    input->degree = 1;
    input->linear[0] = position;
    input->linear[1] = velocity;
}

static void set_scalar_line(yk_input *input, double position, double velocity)
{
    input->degree = 1;
    input->linear[0].x = position;
    input->linear[1].x = velocity;
}

static void set_rotation_line(yk_input *input, yk_quat orientation, yk_vec3 angular_velocity)
{
    input->base_orientation = orientation;
    input->angular[0] = yk_v3(0, 0, 0);
    input->angular[1] = angular_velocity;
}

void yk_input_original(yk_port_kind kind, const yk_motion *a_start, const yk_motion *a_end,
                       yk_input *input)
{
    /* Zhang et al. 2022, equation 20. */
    if (kind == YK_PORT_SCALAR) {
        set_scalar_line(input, a_start->position.x, a_end->velocity.x);
        return;
    }

    set_line(input, a_start->position, a_end->velocity);
    set_rotation_line(input, a_start->orientation, a_end->angular_velocity);
}

/* Zhang et al. 2022, equation 26: mean of the velocities that follow from position, velocity and
 * acceleration of A. */
static double weighted(const yk_input_weights *w, double h, double displacement, double a_velocity,
                       double b_velocity, double a_acceleration)
{
    double sum = w->position * (displacement / h) + w->velocity * a_velocity +
                 w->acceleration * (b_velocity + h * a_acceleration);
    return sum / (w->position + w->velocity + w->acceleration);
}

static yk_vec3 weighted3(const yk_input_weights *w, double h, yk_vec3 displacement,
                         yk_vec3 a_velocity, yk_vec3 b_velocity, yk_vec3 a_acceleration)
{
    return yk_v3(weighted(w, h, displacement.x, a_velocity.x, b_velocity.x, a_acceleration.x),
                 weighted(w, h, displacement.y, a_velocity.y, b_velocity.y, a_acceleration.y),
                 weighted(w, h, displacement.z, a_velocity.z, b_velocity.z, a_acceleration.z));
}

/* The motion that the marker of A would have if the joint were satisfied: constrained coordinates
 * and rates from B, free ones from A, because reactions act at the place of A along directions that
 * rotate with it. Free rotations of joints other than universal ones have no influence on the
 * reactions, and are taken from B. */
static yk_motion joined_motion(unsigned constrained, const yk_motion *a, const yk_motion *b)
{
    yk_motion joined = *b;

    if (!yk_joins_origins(constrained)) {
        yk_quat frame = b->orientation;
        yk_vec3 reach = yk_v3_sub(a->position, b->position);
        yk_vec3 carried = yk_v3_add(b->velocity, yk_v3_cross(b->angular_velocity, reach));
        yk_vec3 slide = along_axes(~constrained, frame, reach);
        yk_vec3 slip = along_axes(~constrained, frame, yk_v3_sub(a->velocity, carried));

        reach = yk_q_rotate(frame, slide);
        carried = yk_v3_add(b->velocity, yk_v3_cross(b->angular_velocity, reach));
        joined.position = yk_v3_add(b->position, reach);
        joined.velocity = yk_v3_add(carried, yk_q_rotate(frame, slip));
    }

    if (yk_is_universal(constrained)) {
        rotation_gap gap = gap_of_rotation(constrained, b, a);
        joined.orientation = yk_q_mul(yk_so3_exp(yk_v3_neg(gap.rotation)), a->orientation);
        joined.angular_velocity = a->angular_velocity;
        gap = gap_of_rotation(constrained, b, &joined);
        joined.angular_velocity = yk_v3_sub(a->angular_velocity, gap.rate);
    }

    return joined;
}

void yk_input_modified(yk_port_kind kind, unsigned constrained, const yk_input_weights *weights,
                       double h, const yk_motion *a_start, const yk_motion *b_start,
                       const yk_motion *a_end, yk_input *input)
{
    /* Zhang et al. 2022, equation 25: a line from the present position of B, with the velocity of
     * equation 26. */
    if (kind == YK_PORT_SCALAR) {
        double displacement = a_end->position.x - b_start->position.x;
        double velocity = weighted(weights, h, displacement, a_end->velocity.x, b_start->velocity.x,
                                   a_end->acceleration.x);
        set_scalar_line(input, b_start->position.x, velocity);
        return;
    }

    yk_motion start = joined_motion(constrained, a_start, b_start);
    yk_vec3 displacement = yk_v3_sub(a_end->position, start.position);
    yk_vec3 velocity =
        weighted3(weights, h, displacement, a_end->velocity, start.velocity, a_end->acceleration);
    set_line(input, start.position, velocity);

    /* Zhang et al. 2022, equation 32b, with the part of the rotation that the reactions depend on. */
    yk_vec3 rotation = gap_of_rotation(constrained, &start, a_end).rotation;
    if (yk_is_universal(constrained))
        rotation = rotation_between(start.orientation, a_end->orientation);
    yk_vec3 spin = weighted3(weights, h, rotation, a_end->angular_velocity, start.angular_velocity,
                             a_end->angular_acceleration);
    set_rotation_line(input, start.orientation, spin);
}

void yk_input_interpolated(yk_port_kind kind, double h, const yk_motion *a_start,
                           const yk_motion *a_end, yk_input *input)
{
    if (kind == YK_PORT_SCALAR) {
        double displacement = a_end->position.x - a_start->position.x;
        set_scalar_line(input, a_start->position.x, displacement / h);
        return;
    }

    yk_vec3 displacement = yk_v3_sub(a_end->position, a_start->position);
    set_line(input, a_start->position, yk_v3_scale(1 / h, displacement));

    /* SLERP: along the shortest rotation, at constant speed. */
    yk_vec3 rotation = rotation_between(a_start->orientation, a_end->orientation);
    set_rotation_line(input, a_start->orientation, yk_v3_scale(1 / h, rotation));
}

/* With the mean rate m = displacement / h:
 * y = rate t + (3 m - 2 rate - end_rate) t^2 / h + (rate + end_rate - 2 m) t^3 / h^2 */
static void set_cubic(double h, yk_vec3 displacement, yk_vec3 rate, yk_vec3 end_rate,
                      yk_vec3 c[YK_INPUT_COEFFICIENT_COUNT])
{
    yk_vec3 mean = yk_v3_scale(1 / h, displacement);
    yk_vec3 sum = yk_v3_add(rate, end_rate);

    c[1] = rate;
    c[2] = yk_v3_scale(1 / h, yk_v3_sub(yk_v3_axpy(3, mean, yk_v3_neg(rate)), sum));
    c[3] = yk_v3_scale(1 / (h * h), yk_v3_axpy(-2, mean, sum));
}

void yk_input_cubic(yk_port_kind kind, double h, const yk_motion *a_start, const yk_motion *a_end,
                    yk_input *input)
{

    input->degree = 3;
    yk_vec3 displacement = yk_v3_sub(a_end->position, a_start->position);
    input->linear[0] = a_start->position;
    set_cubic(h, displacement, a_start->velocity, a_end->velocity, input->linear);
    if (kind == YK_PORT_SCALAR)
        return;

    /* The rate of the rotation vector is the angular velocity only at the start; at the end the
     * tangent map of SO(3) relates them. */
    yk_vec3 rotation = rotation_between(a_start->orientation, a_end->orientation);
    yk_mat3 tangent = yk_so3_left_tangent_inverse(rotation);
    yk_vec3 end_rate = yk_m3_apply(tangent, a_end->angular_velocity);
    input->base_orientation = a_start->orientation;
    input->angular[0] = yk_v3(0, 0, 0);
    set_cubic(h, rotation, a_start->angular_velocity, end_rate, input->angular);
}

void yk_input_taylor(yk_port_kind kind, const yk_motion *a, yk_input *input)
{
    /* y = y0 + y' t + y'' t^2 / 2, for the position and for the rotation vector. */
    set_line(input, a->position, a->velocity);
    input->degree = 2;
    input->linear[2] = yk_v3_scale(0.5, a->acceleration);
    if (kind == YK_PORT_SCALAR)
        return;

    set_rotation_line(input, a->orientation, a->angular_velocity);
    input->angular[2] = yk_v3_scale(0.5, a->angular_acceleration);
}

/* Wrenches ------------------------------------------------------------------------------------- */

yk_wrench yk_wrench_opposite(yk_port_kind kind, const yk_port_value *b, yk_vec3 a_origin)
{
    if (kind == YK_PORT_SCALAR)
        return (yk_wrench){{-b->wrench.force.x, 0, 0}, {0, 0, 0}};

    /* B's force has a moment about A's origin. */
    yk_vec3 arm = yk_v3_sub(b->motion.position, a_origin);
    yk_vec3 torque = yk_v3_add(b->wrench.torque, yk_v3_cross(arm, b->wrench.force));

    return (yk_wrench){yk_v3_neg(b->wrench.force), yk_v3_neg(torque)};
}

void yk_input_constant(yk_port_kind kind, const yk_wrench *wrench, yk_input *input)
{
    input->degree = 0;
    input->linear[0].x = wrench->force.x;
    if (kind == YK_PORT_SCALAR)
        return;

    input->linear[0] = wrench->force;
    input->angular[0] = wrench->torque;
}

void yk_input_line(yk_port_kind kind, const yk_wrench *wrench, double at, const yk_wrench *before,
                   double since, yk_input *input)
{
    /* f(t) = f + (t - at) (f - before) / since. */
    yk_wrench change = yk_wrench_combine(kind, wrench, -1, before);
    input->degree = 1;
    input->linear[1] = yk_v3_scale(1 / since, change.force);
    input->linear[0] = yk_v3_axpy(-at, input->linear[1], wrench->force);
    if (kind == YK_PORT_SCALAR)
        return;

    input->angular[1] = yk_v3_scale(1 / since, change.torque);
    input->angular[0] = yk_v3_axpy(-at, input->angular[1], wrench->torque);
}

double yk_wrench_work(yk_port_kind kind, const yk_wrench *wrench, const yk_motion *from,
                      const yk_motion *to)
{
    /* Along the displacement, and along the rotation vector between both ends. */
    if (kind == YK_PORT_SCALAR)
        return wrench->force.x * (to->position.x - from->position.x);

    yk_vec3 displacement = yk_v3_sub(to->position, from->position);
    yk_vec3 rotation = rotation_between(from->orientation, to->orientation);

    return yk_v3_dot(wrench->force, displacement) + yk_v3_dot(wrench->torque, rotation);
}

double yk_wrench_impulse_work(yk_port_kind kind, double h, const yk_wrench *wrench,
                              const yk_motion *from, const yk_motion *to)
{
    /* f h (v0 + v1) / 2. */
    if (kind == YK_PORT_SCALAR)
        return 0.5 * h * wrench->force.x * (from->velocity.x + to->velocity.x);

    yk_vec3 velocity = yk_v3_add(from->velocity, to->velocity);
    yk_vec3 spin = yk_v3_add(from->angular_velocity, to->angular_velocity);

    return 0.5 * h * (yk_v3_dot(wrench->force, velocity) + yk_v3_dot(wrench->torque, spin));
}

yk_wrench yk_wrench_combine(yk_port_kind kind, const yk_wrench *a, double factor,
                            const yk_wrench *b)
{
    if (kind == YK_PORT_SCALAR)
        return (yk_wrench){{a->force.x + factor * b->force.x, 0, 0}, {0, 0, 0}};

    return (yk_wrench){yk_v3_axpy(factor, b->force, a->force),
                       yk_v3_axpy(factor, b->torque, a->torque)};
}

double yk_wrench_size(yk_port_kind kind, const yk_wrench *a)
{
    /* Forces and torques are compared by their numbers, as tolerances are specified. */
    if (kind == YK_PORT_SCALAR)
        return fabs(a->force.x);
    return fmax(yk_v3_norm(a->force), yk_v3_norm(a->torque));
}

double *yk_wrench_pack(yk_port_kind kind, const yk_wrench *wrench, double *array)
{
    *array++ = wrench->force.x;
    if (kind == YK_PORT_SCALAR)
        return array;

    *array++ = wrench->force.y;
    *array++ = wrench->force.z;
    *array++ = wrench->torque.x;
    *array++ = wrench->torque.y;
    *array++ = wrench->torque.z;
    return array;
}

const double *yk_wrench_unpack(yk_port_kind kind, const double *array, yk_wrench *wrench)
{
    /* In the order of yk_wrench_pack. */
    wrench->force.x = *array++;
    if (kind == YK_PORT_SCALAR)
        return array;

    wrench->force.y = *array++;
    wrench->force.z = *array++;
    wrench->torque.x = *array++;
    wrench->torque.y = *array++;
    wrench->torque.z = *array++;

    return array;
}

/* Both ----------------------------------------------------------------------------------------- */

yk_interface_gap yk_compute_interface_gap(yk_port_kind kind, unsigned constrained,
                                          const yk_motion *a, const yk_motion *b)
{
    if (kind == YK_PORT_SCALAR) {
        return (yk_interface_gap){
            .position = fabs(a->position.x - b->position.x),
            .velocity = fabs(a->velocity.x - b->velocity.x),
        };
    }

    /* Joints that constrain all translations do so along global axes, other joints along the axes
     * of b. Markers of sliding joints are far apart, and rotations of b move the axes at A. */
    yk_vec3 position = yk_v3_sub(a->position, b->position);
    yk_vec3 velocity = yk_v3_sub(a->velocity, b->velocity);
    if (!yk_joins_origins(constrained)) {
        velocity = yk_v3_sub(velocity, yk_v3_cross(b->angular_velocity, position));
        velocity = along_axes(constrained, b->orientation, velocity);
        position = along_axes(constrained, b->orientation, position);
    }

    rotation_gap gap = gap_of_rotation(constrained, b, a);
    return (yk_interface_gap){
        .position = yk_v3_norm(position),
        .rotation = yk_v3_norm(gap.rotation),
        .velocity = yk_v3_norm(velocity),
        .angular_velocity = yk_v3_norm(gap.rate),
    };
}

bool yk_port_value_finite(yk_port_kind kind, const yk_port_value *value)
{
    /* One value that is not finite makes the sum not finite. */
    const yk_motion *m = &value->motion;
    if (kind != YK_PORT_MARKER)
        return isfinite(m->position.x + m->velocity.x + value->wrench.force.x);

    const yk_quat *q = &m->orientation;
    return yk_v3_finite(m->position) && yk_v3_finite(m->velocity) &&
           yk_v3_finite(m->angular_velocity) && yk_v3_finite(value->wrench.force) &&
           yk_v3_finite(value->wrench.torque) && isfinite(q->w + q->x + q->y + q->z);
}

/* Units and axes ---------------------------------------------------------------------------------
 *
 * Between the units and axes of a subsystem and those of the system (Zhang et al. 2020, equation 20): a point x
 * of the subsystem is at position + length Q x in the system. Forces have the unit mass length
 * (seconds are the same everywhere), torques and energies mass length^2. */

yk_transform yk_transform_identity(void)
{
    return (yk_transform){.orientation = {1, 0, 0, 0}, .length_unit = 1, .mass_unit = 1};
}

static double force_unit(const yk_transform *transform)
{
    return transform->mass_unit * transform->length_unit;
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
    double length = transform->length_unit;

    /* Signals have no units. */
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
    wrench->torque = outward(transform, force * transform->length_unit, wrench->torque);
}

void yk_transform_variation(const yk_transform *transform, yk_port_kind kind, double *change,
                            int stride)
{
    /* Position, velocity and acceleration have the same units of length and angle. */
    for (int level = 0; level < 3; level++) {
        if (kind == YK_PORT_SCALAR) {
            change[level * stride] *= transform->length_unit;
            continue;
        }

        double *linear = change + 6 * level * stride;
        double *angular = linear + 3 * stride;
        outward_strided(transform, transform->length_unit, linear, stride);
        outward_strided(transform, 1, angular, stride);
    }
}

void yk_transform_rates(const yk_transform *transform, yk_port_kind kind, double *rates)
{
    if (kind == YK_PORT_SCALAR) {
        rates[0] *= transform->length_unit;
        return;
    }

    outward_strided(transform, transform->length_unit, rates, 1);
    outward_strided(transform, 1, rates + 3, 1);
}

void yk_transform_response(const yk_transform *transform, yk_port_kind kind, int offset, int size,
                           double *matrix)
{
    double length = transform->length_unit;
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
    double unit = force_unit(transform) * transform->length_unit;
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
    bool motion = causality == YK_CAUSALITY_MOTION_INPUT;
    double linear = transform->length_unit;
    double angular = 1;
    if (!motion) {
        linear = force_unit(transform);
        angular = force_unit(transform) * transform->length_unit;
    }

    own->degree = input->degree;
    for (int i = 0; i <= input->degree; i++) {
        if (kind == YK_PORT_SCALAR) {
            own->linear[i].x = input->linear[i].x / linear;
            continue;
        }

        /* Only a position depends on the origin. */
        yk_vec3 value = input->linear[i];
        if (motion && i == 0)
            value = yk_v3_sub(value, transform->position);
        own->linear[i] = inward(transform, linear, value);
        own->angular[i] = inward(transform, angular, input->angular[i]);
    }

    if (kind == YK_PORT_MARKER)
        own->base_orientation =
            yk_q_mul(yk_q_conjugate(transform->orientation), input->base_orientation);
}
