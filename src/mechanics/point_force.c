/* The laws of point_force.h. */
#include "mechanics/point_force.h"

#include <string.h>

#include "math/so3.h"

enum { FORCE_A, TORQUE_A, FORCE_B, TORQUE_B };
enum { X, Y, Z };

/* Velocity of a point fixed to the body of a marker. */
static yk_vec3 velocity_at(const yk_marker_frame *marker, yk_vec3 point)
{
    yk_vec3 arm = yk_v3_sub(point, marker->position);
    return yk_v3_add(marker->velocity, yk_v3_cross(marker->angular_velocity, arm));
}

/* Relative velocity of the material points of b and a at one place. */
static yk_vec3 slip_at(const yk_marker_frame *a, const yk_marker_frame *b, yk_vec3 point)
{
    return yk_v3_sub(velocity_at(b, point), velocity_at(a, point));
}

/* Adds a force on b at a point, and the opposite on a. */
static void push(const yk_marker_frame *a, const yk_marker_frame *b, yk_vec3 point, yk_vec3 force,
                 yk_force_load *result)
{
    yk_vec3 arm_a = yk_v3_add(a->arm, yk_v3_sub(point, a->position));
    yk_vec3 arm_b = yk_v3_add(b->arm, yk_v3_sub(point, b->position));

    result->part[FORCE_A] = yk_v3_sub(result->part[FORCE_A], force);
    result->part[TORQUE_A] = yk_v3_sub(result->part[TORQUE_A], yk_v3_cross(arm_a, force));
    result->part[FORCE_B] = yk_v3_add(result->part[FORCE_B], force);
    result->part[TORQUE_B] = yk_v3_add(result->part[TORQUE_B], yk_v3_cross(arm_b, force));
}

/* Normal contact ------------------------------------------------------------------------------- */

/* The normal force of a penetration and its rate; adds energy and loss. */
static double normal_force(const yk_contact_force_def *law, double depth, double rate,
                           yk_force_load *result)
{
    if (depth <= 0)
        return 0;

    double elastic = law->stiffness * pow(depth, law->exponent);
    double force = fmax(0, elastic * (1 + law->damping * rate));
    result->energy += elastic * depth / (law->exponent + 1);
    result->loss += (force - elastic) * rate;

    return force;
}

/* Friction of a slip velocity, which is perpendicular to the normal; adds the loss. */
static yk_vec3 friction_force(const yk_contact_force_def *law, double normal, yk_vec3 slip,
                              yk_force_load *result)
{
    double speed = yk_v3_norm(slip);
    double ratio = speed / law->transition_velocity;
    double over_speed = 1 / law->transition_velocity;
    if (ratio > 1e-8)
        over_speed = tanh(ratio) / speed;

    double factor = law->friction * normal * over_speed;
    result->loss += factor * speed * speed;
    return yk_v3_scale(-factor, slip);
}

static yk_vec3 across(yk_vec3 v, yk_vec3 unit)
{
    return yk_v3_axpy(-yk_v3_dot(v, unit), unit, v);
}

/* Ground --------------------------------------------------------------------------------------- */

/* The ground below a point: height of the point above it, and the gradient of this height. */
typedef struct ground_place {
    double height;
    yk_vec3 gradient;
    yk_vec3 normal; /* unit */
} ground_place;

static ground_place ground_below(const yk_contact_force_def *law, const yk_marker_frame *a,
                                 yk_vec3 point)
{
    yk_vec3 d = yk_v3_sub(point, a->position);
    ground_place place = {.height = yk_v3_dot(a->axis[Z], d), .gradient = a->axis[Z]};
    if (law->height) {
        double unit = law->length_unit;
        double x = yk_v3_dot(a->axis[X], d) / unit;
        double y = yk_v3_dot(a->axis[Y], d) / unit;

        /* Slopes by central differences over a short distance. */
        double step = 1e-4 * law->radius / unit;
        void *user = law->height_user;
        double along = law->height(user, x + step, y) - law->height(user, x - step, y);
        double aside = law->height(user, x, y + step) - law->height(user, x, y - step);
        place.height -= unit * law->height(user, x, y);
        place.gradient = yk_v3_axpy(-along / (2 * step), a->axis[X], place.gradient);
        place.gradient = yk_v3_axpy(-aside / (2 * step), a->axis[Y], place.gradient);
    }

    place.normal = yk_v3_unit(place.gradient);
    return place;
}

static void touch_ground(const yk_contact_force_def *law, const yk_marker_frame *a,
                         const yk_marker_frame *b, yk_force_load *result)
{
    /* The centre over the ground. */
    ground_place place = ground_below(law, a, b->position);
    double rate = -yk_v3_dot(place.gradient, slip_at(a, b, b->position));
    double normal = normal_force(law, law->radius - place.height, rate, result);
    if (normal <= 0)
        return;

    /* The normal force goes through the centre, friction acts at the surface. */
    push(a, b, b->position, yk_v3_scale(normal, place.gradient), result);
    yk_vec3 point = yk_v3_axpy(-law->radius, place.normal, b->position);
    yk_vec3 slip = across(slip_at(a, b, point), place.normal);
    push(a, b, point, friction_force(law, normal, slip, result), result);
}

/* The force in the plane of the ground by the brush model, from the slips times their
 * stiffnesses. */
static void brush(double limit, double *along, double *aside)
{
    double linear = hypot(*along, *aside);
    double slip = linear / limit;
    double factor = 1;
    if (slip >= 3)
        factor = limit / linear;
    else if (slip > 0)
        factor = 1 - slip / 3 + slip * slip / 27;

    *along *= factor;
    *aside *= factor;
}

static void roll_tyre(const yk_contact_force_def *law, const yk_marker_frame *a,
                      const yk_marker_frame *b, yk_force_load *result)
{
    /* The lowest point of the wheel, in its own plane. */
    yk_vec3 spin_axis = b->axis[Z];
    ground_place place = ground_below(law, a, b->position);
    yk_vec3 up = yk_v3_unit(across(a->axis[Z], spin_axis));
    double lean = yk_v3_dot(up, a->axis[Z]);
    double depth = law->radius * lean - place.height;

    /* A tilt of the wheel lowers its lowest point. */
    yk_vec3 spin = yk_v3_sub(b->angular_velocity, a->angular_velocity);
    double tilt = yk_v3_dot(spin, yk_v3_cross(spin_axis, up)) * yk_v3_dot(spin_axis, a->axis[Z]);
    double rate = -law->radius * tilt - yk_v3_dot(place.gradient, slip_at(a, b, b->position));
    double normal = normal_force(law, depth, rate, result);
    if (normal <= 0)
        return;

    /* The normal force through the centre, and the couple of a tilted wheel. */
    yk_vec3 point = yk_v3_axpy(-law->radius, up, b->position);
    yk_vec3 couple = yk_v3_scale(normal * law->radius * yk_v3_dot(spin_axis, a->axis[Z]),
                                 yk_v3_cross(spin_axis, up));
    push(a, b, b->position, yk_v3_scale(normal, place.gradient), result);
    result->part[TORQUE_A] = yk_v3_sub(result->part[TORQUE_A], couple);
    result->part[TORQUE_B] = yk_v3_add(result->part[TORQUE_B], couple);

    /* Slips along the wheel and across it. */
    yk_vec3 ahead = yk_v3_unit(yk_v3_cross(spin_axis, place.normal));
    yk_vec3 aside = yk_v3_cross(place.normal, ahead);
    yk_vec3 travel = slip_at(a, b, b->position);
    yk_vec3 slip = slip_at(a, b, point);
    double speed = hypot(yk_v3_dot(ahead, travel), law->transition_velocity);
    double force_ahead = -law->slip_stiffness * yk_v3_dot(ahead, slip) / speed;
    double force_aside = -law->cornering_stiffness * yk_v3_dot(aside, slip) / speed;
    brush(law->friction * normal, &force_ahead, &force_aside);

    yk_vec3 force = yk_v3_scale(force_ahead, ahead);
    force = yk_v3_axpy(force_aside, aside, force);
    push(a, b, point, force, result);
    result->loss -= yk_v3_dot(force, slip);

    /* Rolling resistance, a torque against the spin. */
    double turn = yk_v3_dot(spin, spin_axis);
    double resistance = law->rolling_resistance * normal * law->radius *
                        tanh(turn * law->radius / law->transition_velocity);
    result->part[TORQUE_A] = yk_v3_axpy(resistance, spin_axis, result->part[TORQUE_A]);
    result->part[TORQUE_B] = yk_v3_axpy(-resistance, spin_axis, result->part[TORQUE_B]);
    result->loss += resistance * turn;
}

/* Pin in a hole -------------------------------------------------------------------------------- */

static void touch_hole(const yk_contact_force_def *law, const yk_marker_frame *a,
                       const yk_marker_frame *b, yk_force_load *result)
{
    /* Distance of the pin's centre from the axis of the hole. */
    yk_vec3 offset = across(yk_v3_sub(b->position, a->position), a->axis[Z]);
    double distance = yk_v3_norm(offset);
    double depth = distance - law->clearance;
    if (depth <= 0 || distance == 0)
        return;

    yk_vec3 outward = yk_v3_scale(1 / distance, offset);
    double rate = yk_v3_dot(outward, slip_at(a, b, b->position));
    double normal = normal_force(law, depth, rate, result);
    push(a, b, b->position, yk_v3_scale(-normal, outward), result);

    yk_vec3 point = yk_v3_axpy(law->radius, outward, b->position);
    yk_vec3 slip = across(slip_at(a, b, point), outward);
    push(a, b, point, friction_force(law, normal, slip, result), result);
}

/* Drag ----------------------------------------------------------------------------------------- */

static void drag(const yk_contact_force_def *law, const yk_marker_frame *b, yk_force_load *result)
{
    yk_vec3 relative = yk_v3_sub(b->velocity, law->wind);
    double factor = law->linear_drag + law->quadratic_drag * yk_v3_norm(relative);
    yk_vec3 force = yk_v3_scale(-factor, relative);

    result->part[FORCE_B] = force;
    result->part[TORQUE_B] = yk_v3_cross(b->arm, force);
    result->loss = factor * yk_v3_norm2(relative);
    result->supply = yk_v3_dot(force, law->wind);
}

/* All ------------------------------------------------------------------------------------------ */

static void evaluate(yk_force_kind kind, const yk_contact_force_def *law, const yk_marker_frame *a,
                     const yk_marker_frame *b, yk_force_load *result)
{
    memset(result, 0, sizeof *result);
    switch (kind) {
    case YK_FORCE_GROUND: touch_ground(law, a, b, result); return;
    case YK_FORCE_TYRE: roll_tyre(law, a, b, result); return;
    case YK_FORCE_CLEARANCE: touch_hole(law, a, b, result); return;
    default: drag(law, b, result);
    }
}

/* Moves the body of a marker by a small displacement (0..2) or rotation (3..5). */
static void displace(yk_marker_frame *marker, int component, double by)
{
    double change[3] = {0};
    change[component % 3] = by;
    yk_vec3 v = {change[X], change[Y], change[Z]};
    if (component < 3) {
        marker->position = yk_v3_add(marker->position, v);
        return;
    }

    yk_mat3 turn = yk_so3_exp_matrix(v);
    yk_vec3 arm = yk_m3_apply(turn, marker->arm);
    yk_vec3 moved = yk_v3_sub(arm, marker->arm);
    marker->position = yk_v3_add(marker->position, moved);
    marker->velocity = yk_v3_add(marker->velocity, yk_v3_cross(marker->angular_velocity, moved));
    marker->arm = arm;
    for (int k = 0; k < 3; k++)
        marker->axis[k] = yk_m3_apply(turn, marker->axis[k]);
}

/* Changes the velocity (0..2) or the angular velocity (3..5) of its body. */
static void hasten(yk_marker_frame *marker, int component, double by)
{
    double change[3] = {0};
    change[component % 3] = by;
    yk_vec3 v = {change[X], change[Y], change[Z]};
    if (component < 3) {
        marker->velocity = yk_v3_add(marker->velocity, v);
    } else {
        marker->angular_velocity = yk_v3_add(marker->angular_velocity, v);
        marker->velocity = yk_v3_add(marker->velocity, yk_v3_cross(v, marker->arm));
    }
}

static void set_column(yk_mat3 tangent[4][4], int column, const yk_force_load *ahead,
                       const yk_force_load *behind, double inverse)
{
    for (int i = 0; i < 4; i++) {
        yk_vec3 slope = yk_v3_scale(inverse, yk_v3_sub(ahead->part[i], behind->part[i]));
        tangent[i][column / 3].m[X][column % 3] = slope.x;
        tangent[i][column / 3].m[Y][column % 3] = slope.y;
        tangent[i][column / 3].m[Z][column % 3] = slope.z;
    }
}

void yk_point_force_evaluate(yk_force_kind kind, const yk_contact_force_def *law,
                             const yk_marker_frame *a, const yk_marker_frame *b,
                             yk_force_load *result, yk_force_tangent *tangent)
{
    evaluate(kind, law, a, b, result);
    if (!tangent)
        return;

    /* Steps are small compared with a penetration and with the transition velocity. */
    double length = law->radius > 0 ? law->radius : 1;
    double speed = law->transition_velocity > 0 ? law->transition_velocity : 1;
    double step = 1e-6 * length;
    double rate_step = 1e-4 * speed;
    for (int k = 0; k < 12; k++) {
        for (int rates = 0; rates < 2; rates++) {
            yk_marker_frame ends[2][2] = {{*a, *b}, {*a, *b}};
            double by = rates ? rate_step : step;
            if (k % 6 >= 3)
                by /= length;
            for (int sign = 0; sign < 2; sign++) {
                double change = sign ? -by : by;
                if (rates)
                    hasten(&ends[sign][k / 6], k % 6, change);
                else
                    displace(&ends[sign][k / 6], k % 6, change);
            }

            yk_force_load ahead, behind;
            evaluate(kind, law, &ends[0][0], &ends[0][1], &ahead);
            evaluate(kind, law, &ends[1][0], &ends[1][1], &behind);
            set_column(rates ? tangent->rate : tangent->pose, k, &ahead, &behind, 1 / (2 * by));
        }
    }
}

bool yk_contact_force_valid(const yk_contact_force_def *law)
{
    const double coefficients[] = {law->radius,
                                   law->damping,
                                   law->clearance,
                                   law->friction,
                                   law->slip_stiffness,
                                   law->cornering_stiffness,
                                   law->rolling_resistance};
    for (size_t i = 0; i < sizeof coefficients / sizeof *coefficients; i++)
        if (!(coefficients[i] >= 0 && isfinite(coefficients[i])))
            return false;

    return law->stiffness > 0 && law->exponent > 0 && law->transition_velocity > 0 &&
           isfinite(law->stiffness) && isfinite(law->exponent);
}
