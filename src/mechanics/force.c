/* The force laws of force.h: one function and one row of the table for each.
 *
 * Loads and their derivatives are in the order force a, torque a, force b, torque b. With
 * displacements dx and rotations theta of the bodies, d(theta x v) = -skew(v) theta, and (theta x
 * u) x w = yk_m3_rotated_cross(u, w) theta. */
#include "mechanics/force.h"

#include <string.h>

#include "math/so3.h"
#include "mechanics/point_force.h"

enum { FORCE_A, TORQUE_A, FORCE_B, TORQUE_B };

yk_force_def yk_force_default(void)
{
    return (yk_force_def){
        .kind = YK_FORCE_FORCE,
        .bodies = {YK_GROUND, YK_GROUND},
        .markers = {yk_marker_default(), yk_marker_default()},
        .signal_port = YK_NULL_PORT,
        .load_scale = 1,
        .contact = {.exponent = 1, .transition_velocity = 1e-2, .length_unit = 1},
        .terms = {.transition_velocity = 1e-3,
                  .stribeck_velocity = 1e-2,
                  .length_unit = 1,
                  .force_unit = 1},
        .adds_to = YK_NULL_FORCE,
        .ratio = 1,
    };
}

yk_force_law yk_force_of(const yk_force_def *def)
{
    yk_force_law law = {
        .kind = def->kind,
        .stiffness = def->stiffness,
        .damping = def->damping,
        .free = def->free_length,
        .vector = def->vector,
        .contact = def->contact,
        .terms = def->terms,
    };
    const yk_force_terms *terms = &def->terms;
    law.has_terms = terms->sides != YK_SIDES_BOTH || terms->play > 0 || terms->limited ||
                    terms->coulomb_friction > 0 || terms->static_friction > 0 ||
                    terms->characteristic != NULL || terms->resists;
    for (int side = 0; side < 2; side++) {
        law.offset[side] = def->markers[side].offset;
        law.axes[side] = yk_q_matrix(yk_q_unit(def->markers[side].orientation));
    }

    memcpy(law.bushing_stiffness, def->bushing_stiffness, sizeof law.bushing_stiffness);
    memcpy(law.bushing_damping, def->bushing_damping, sizeof law.bushing_damping);

    return law;
}

/* Both markers and their relative pose. */
typedef struct pair {
    yk_marker_frame a, b;
    yk_vec3 d, rate;
} pair;

static pair pair_of(const yk_force_law *law, const yk_frame *body_a, const yk_frame *body_b)
{
    pair p;
    yk_marker_place(body_a, law->offset[0], &law->axes[0], &p.a);
    yk_marker_place(body_b, law->offset[1], &law->axes[1], &p.b);

    p.d = yk_v3_sub(p.b.position, p.a.position);
    p.rate = yk_v3_sub(p.b.velocity, p.a.velocity);
    return p;
}

static yk_vec3 relative_spin(const pair *p)
{
    return yk_v3_sub(p->b.angular_velocity, p->a.angular_velocity);
}

static double angle_about_z(const pair *p)
{
    return atan2(yk_v3_dot(p->b.axis[0], p->a.axis[1]), yk_v3_dot(p->b.axis[0], p->a.axis[0]));
}

/* Velocity of b along the rotating axes of a. */
static yk_vec3 rate_seen_from_a(const pair *p)
{
    return yk_v3_sub(p->rate, yk_v3_cross(p->a.angular_velocity, p->d));
}

/* dd by displacement and rotation of a and b. */
static void separation(const pair *p, yk_mat3 jacobian[4])
{
    /* d = x_b + r_b - x_a - r_a */
    jacobian[FORCE_A] = yk_m3_diagonal(-1, -1, -1);
    jacobian[TORQUE_A] = yk_m3_skew(p->a.arm);
    jacobian[FORCE_B] = yk_m3_identity();
    jacobian[TORQUE_B] = yk_m3_skew(yk_v3_neg(p->b.arm));
}

/* tangent += factor left^T . middle . right, block by block. */
static void add_product(yk_mat3 tangent[4][4], double factor, const yk_mat3 left[4], yk_mat3 middle,
                        const yk_mat3 right[4])
{
    for (int i = 0; i < 4; i++) {
        yk_mat3 transposed = yk_m3_transpose(left[i]);
        for (int j = 0; j < 4; j++)
            yk_m3_add_to(&tangent[i][j], factor,
                         yk_m3_mul(transposed, yk_m3_mul(middle, right[j])));
    }
}

/* Tension along the line between the origins. */
static void spring(const yk_force_law *law, const pair *p, double load, yk_force_load *result,
                   yk_force_tangent *tangent)
{
    /* A spring of length zero has no direction, so it has no force. */
    double length = yk_v3_norm(p->d);
    if (length == 0)
        return;

    /* Tension along e. */
    yk_vec3 e = yk_v3_scale(1 / length, p->d);
    double rate = yk_v3_dot(e, p->rate);
    double stretch = length - law->free;
    double tension = law->stiffness * stretch + law->damping * rate + load;

    yk_vec3 force = yk_v3_scale(-tension, e);
    result->part[FORCE_A] = yk_v3_neg(force);
    result->part[TORQUE_A] = yk_v3_cross(force, p->a.arm);
    result->part[FORCE_B] = force;
    result->part[TORQUE_B] = yk_v3_cross(p->b.arm, force);
    result->energy = 0.5 * law->stiffness * stretch * stretch;
    result->loss = law->damping * rate * rate;
    result->supply = -load * rate;
    if (!tangent)
        return;

    /* -d(tension e) = -(k e e^T + tension/length (I - e e^T)) dd, and the same of its torques. */
    yk_mat3 along = yk_m3_outer(e, e);
    yk_mat3 across = yk_m3_scale(tension / length, yk_m3_sub(yk_m3_identity(), along));
    yk_mat3 stiff = yk_m3_add(yk_m3_scale(law->stiffness, along), across);

    yk_mat3 dd[4];
    separation(p, dd);
    add_product(tangent->pose, -1, dd, stiff, dd);
    add_product(tangent->rate, -law->damping, dd, along, dd);

    /* The arms rotate under the force. */
    yk_m3_add_to(&tangent->pose[TORQUE_A][TORQUE_A], -1, yk_m3_rotated_cross(p->a.arm, force));
    yk_m3_add_to(&tangent->pose[TORQUE_B][TORQUE_B], 1, yk_m3_rotated_cross(p->b.arm, force));
}

/* Torque about z of a. */
static void torsion(const yk_force_law *law, const pair *p, double load, yk_force_load *result,
                    yk_force_tangent *tangent)
{
    yk_vec3 z = p->a.axis[2];
    double angle = remainder(angle_about_z(p) - law->free, 2 * YK_PI);
    double rate = yk_v3_dot(z, relative_spin(p));
    double torque = law->stiffness * angle + law->damping * rate + load;

    /* Opposite torques on both bodies. */
    result->part[TORQUE_A] = yk_v3_scale(torque, z);
    result->part[TORQUE_B] = yk_v3_scale(-torque, z);
    result->energy = 0.5 * law->stiffness * angle * angle;
    result->loss = law->damping * rate * rate;
    result->supply = -load * rate;
    if (!tangent)
        return;

    /* The angle changes with z . (theta_b - theta_a), and z rotates with a. */
    yk_mat3 along = yk_m3_outer(z, z);
    yk_mat3 axis_rotation = yk_m3_skew(yk_v3_scale(torque, z));
    for (int side = 0; side < 2; side++) {
        int row = side ? TORQUE_B : TORQUE_A;
        double sign = side ? -1 : 1;
        yk_m3_add_to(&tangent->pose[row][TORQUE_A], -sign * law->stiffness, along);
        yk_m3_add_to(&tangent->pose[row][TORQUE_B], sign * law->stiffness, along);
        yk_m3_add_to(&tangent->pose[row][TORQUE_A], -sign, axis_rotation);
        yk_m3_add_to(&tangent->rate[row][TORQUE_A], -sign * law->damping, along);
        yk_m3_add_to(&tangent->rate[row][TORQUE_B], sign * law->damping, along);
    }
}

/* Block (i, j) of a 6 x 6 matrix in a's axes, converted to global axes; rotations enter through
 * their tangent. */
static yk_mat3 rotated_block(const double m[6][6], int i, int j, const yk_mat3 basis[2])
{
    yk_mat3 block;
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++)
            block.m[row][column] = m[3 * i + row][3 * j + column];
    }

    return yk_m3_mul(basis[i], yk_m3_mul(block, yk_m3_transpose(basis[j])));
}

/* `frame` has the axes of a as columns, `inverse` is that of the tangent of the relative
 * rotation. */
static void bushing_tangent(const yk_force_law *law, const pair *p, const yk_mat3 *frame,
                            const yk_mat3 *inverse, yk_vec3 force, yk_vec3 torque,
                            yk_force_tangent *tangent)
{
    /* change[0]: of d in a's axes, dp_b - dp_a - theta_a x d; change[1]: of the relative rotation. */
    yk_mat3 basis[2] = {*frame, yk_m3_mul(*frame, yk_m3_transpose(*inverse))};
    yk_mat3 change[2][4];
    separation(p, change[0]);
    change[0][TORQUE_A] = yk_m3_add(change[0][TORQUE_A], yk_m3_skew(p->d));

    for (int j = 0; j < 4; j++)
        change[1][j] = yk_m3_zero();
    change[1][TORQUE_A] = yk_m3_diagonal(-1, -1, -1);
    change[1][TORQUE_B] = yk_m3_identity();

    /* Stiffness and damping at fixed directions. */
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++) {
            yk_mat3 stiff = rotated_block(law->bushing_stiffness, i, k, basis);
            yk_mat3 damp = rotated_block(law->bushing_damping, i, k, basis);
            add_product(tangent->pose, -1, change[i], stiff, change[k]);
            add_product(tangent->rate, -1, change[i], damp, change[k]);
        }
    }

    /* Force and torque rotate with a; so do the arms. On a: force through b's origin, arm = arm_a +
     * d. */
    yk_mat3(*by)[4] = tangent->pose;
    yk_vec3 arm_a = yk_v3_add(p->a.arm, p->d);
    yk_mat3 skew_f = yk_m3_skew(force);
    yk_mat3 skew_t = yk_m3_skew(torque);
    yk_mat3 both = yk_m3_mul(skew_f, yk_m3_skew(p->b.arm));
    yk_m3_add_to(&by[FORCE_A][TORQUE_A], 1, skew_f);
    yk_m3_add_to(&by[FORCE_B][TORQUE_A], -1, skew_f);
    yk_m3_add_to(&by[TORQUE_A][FORCE_A], -1, skew_f);
    yk_m3_add_to(&by[TORQUE_A][FORCE_B], 1, skew_f);
    yk_m3_add_to(&by[TORQUE_A][TORQUE_A], 1, yk_m3_add(yk_m3_rotated_cross(force, arm_a), skew_t));
    yk_m3_add_to(&by[TORQUE_A][TORQUE_B], -1, both);
    yk_m3_add_to(&by[TORQUE_B][TORQUE_A], -1, yk_m3_add(yk_m3_transpose(both), skew_t));
    yk_m3_add_to(&by[TORQUE_B][TORQUE_B], 1, yk_m3_rotated_cross(p->b.arm, force));

    /* The transposed tangent rotates the torque by half of the relative rotation, to first order. */
    yk_m3_add_to(&by[TORQUE_B][TORQUE_A], 0.5, skew_t);
    yk_m3_add_to(&by[TORQUE_A][TORQUE_A], -0.5, skew_t);
    yk_m3_add_to(&by[TORQUE_B][TORQUE_B], -0.5, skew_t);
    yk_m3_add_to(&by[TORQUE_A][TORQUE_B], 0.5, skew_t);
}

/* Six by six coefficients on displacement and rotation vector of b, in the axes of a. */
static void bushing(const yk_force_law *law, const pair *p, double load, yk_force_load *result,
                    yk_force_tangent *tangent)
{
    (void)load;

    /* Deflection and its rate. */
    yk_mat3 frame = yk_m3_columns(p->a.axis[0], p->a.axis[1], p->a.axis[2]);
    yk_mat3 other = yk_m3_columns(p->b.axis[0], p->b.axis[1], p->b.axis[2]);
    yk_vec3 rotation = yk_so3_log_matrix(yk_m3_mul(yk_m3_transpose(frame), other));
    yk_vec3 displacement = yk_m3_apply_transposed(frame, p->d);
    yk_vec3 velocity = yk_m3_apply_transposed(frame, rate_seen_from_a(p));
    yk_vec3 spin = yk_m3_apply_transposed(frame, relative_spin(p));
    yk_vec3 rotation_rate = yk_m3_apply(yk_so3_left_tangent_inverse(rotation), spin);

    double value[6] = {displacement.x, displacement.y, displacement.z,
                       rotation.x,     rotation.y,     rotation.z};
    double rate[6] = {velocity.x,      velocity.y,      velocity.z,
                      rotation_rate.x, rotation_rate.y, rotation_rate.z};

    /* Force and generalized torque that resist it. */
    double resisting[6];
    for (int i = 0; i < 6; i++) {
        double elastic = 0;
        double viscous = 0;

        for (int j = 0; j < 6; j++) {
            elastic += law->bushing_stiffness[i][j] * value[j];
            viscous += law->bushing_damping[i][j] * rate[j];
        }

        resisting[i] = elastic + viscous;
        result->energy += 0.5 * elastic * value[i];
        result->loss += viscous * rate[i];
    }

    /* To global axes. The torque does work on the spin T theta', its components above on theta':
     * torque = T^-T of them. */
    yk_mat3 inverse = yk_m3_inverse(yk_so3_left_tangent(rotation));
    yk_vec3 on_rotation = yk_v3(-resisting[3], -resisting[4], -resisting[5]);
    yk_vec3 force = yk_m3_apply(frame, yk_v3(-resisting[0], -resisting[1], -resisting[2]));
    yk_vec3 torque = yk_m3_apply(frame, yk_m3_apply_transposed(inverse, on_rotation));

    /* The force acts on a at the origin of b. */
    yk_vec3 arm_a = yk_v3_add(p->a.arm, p->d);
    result->part[FORCE_A] = yk_v3_neg(force);
    result->part[TORQUE_A] = yk_v3_sub(yk_v3_cross(force, arm_a), torque);
    result->part[FORCE_B] = force;
    result->part[TORQUE_B] = yk_v3_add(yk_v3_cross(p->b.arm, force), torque);
    if (tangent)
        bushing_tangent(law, p, &frame, &inverse, force, torque, tangent);
}

int yk_force_take_dampers(yk_force_law *law, double damping[6])
{
    memset(damping, 0, 6 * sizeof *damping);

    bool torsion_spring = law->kind == YK_FORCE_TORSION_SPRING && !law->has_terms;
    if (torsion_spring && law->damping > 0) {
        damping[5] = law->damping;
        law->damping = 0;
        return 1;
    }
    if (law->kind != YK_FORCE_BUSHING)
        return 0;

    /* Coupled directions would need a full matrix, negative ones add energy. */
    int count = 0;
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) {
            double entry = law->bushing_damping[i][k];
            if (i == k ? entry < 0 : entry != 0)
                return 0;
        }
        count += law->bushing_damping[i][i] > 0;
    }

    for (int i = 0; i < 6; i++) {
        damping[i] = law->bushing_damping[i][i];
        law->bushing_damping[i][i] = 0;
    }
    return count;
}

void yk_force_damper_gradient(const yk_force_law *law, const yk_frame *body_a,
                              const yk_frame *body_b, int direction, yk_vec3 gradient[4])
{
    pair p = pair_of(law, body_a, body_b);
    memset(gradient, 0, 4 * sizeof *gradient);

    /* The rate of a displacement: e . (velocity of b at its origin, as seen from a). */
    if (direction < 3) {
        yk_vec3 e = p.a.axis[direction];
        gradient[FORCE_A] = yk_v3_neg(e);
        gradient[TORQUE_A] = yk_v3_cross(e, yk_v3_add(p.a.arm, p.d));
        gradient[FORCE_B] = e;
        gradient[TORQUE_B] = yk_v3_cross(p.b.arm, e);
        return;
    }

    /* The rates of an angle about z, and of a component of the rotation vector. */
    yk_vec3 axis = p.a.axis[2];
    if (law->kind == YK_FORCE_BUSHING) {
        yk_mat3 frame = yk_m3_columns(p.a.axis[0], p.a.axis[1], p.a.axis[2]);
        yk_mat3 other = yk_m3_columns(p.b.axis[0], p.b.axis[1], p.b.axis[2]);
        yk_vec3 rotation = yk_so3_log_matrix(yk_m3_mul(yk_m3_transpose(frame), other));
        yk_mat3 inverse = yk_so3_left_tangent_inverse(rotation);
        yk_vec3 unit = yk_v3(direction == 3, direction == 4, direction == 5);
        axis = yk_m3_apply(frame, yk_m3_apply_transposed(inverse, unit));
    }
    gradient[TORQUE_A] = yk_v3_neg(axis);
    gradient[TORQUE_B] = axis;
}

/* The load as a torque about z of a. */
static void motor(const yk_force_law *law, const pair *p, double load, yk_force_load *result,
                  yk_force_tangent *tangent)
{
    (void)law;

    yk_vec3 torque = yk_v3_scale(load, p->a.axis[2]);
    result->part[TORQUE_A] = yk_v3_neg(torque);
    result->part[TORQUE_B] = torque;
    result->supply = yk_v3_dot(torque, relative_spin(p));
    if (!tangent)
        return;

    /* The axis rotates with a. */
    yk_mat3 axis_rotation = yk_m3_skew(torque);
    yk_m3_add_to(&tangent->pose[TORQUE_A][TORQUE_A], 1, axis_rotation);
    yk_m3_add_to(&tangent->pose[TORQUE_B][TORQUE_A], -1, axis_rotation);
}

/* The load as a force along z of a, at the marker b on both bodies. */
static void thrust(const yk_force_law *law, const pair *p, double load, yk_force_load *result,
                   yk_force_tangent *tangent)
{
    (void)law;

    yk_vec3 force = yk_v3_scale(load, p->a.axis[2]);
    yk_vec3 arm_a = yk_v3_add(p->a.arm, p->d);

    result->part[FORCE_A] = yk_v3_neg(force);
    result->part[TORQUE_A] = yk_v3_cross(force, arm_a);
    result->part[FORCE_B] = force;
    result->part[TORQUE_B] = yk_v3_cross(p->b.arm, force);
    result->supply = load * yk_v3_dot(p->a.axis[2], rate_seen_from_a(p));
    if (!tangent)
        return;

    /* The force rotates with a; on a it acts at a point that moves with b. */
    yk_mat3(*by)[4] = tangent->pose;
    yk_mat3 skew_f = yk_m3_skew(force);
    yk_mat3 skew_b = yk_m3_skew(p->b.arm);
    yk_m3_add_to(&by[FORCE_A][TORQUE_A], 1, skew_f);
    yk_m3_add_to(&by[FORCE_B][TORQUE_A], -1, skew_f);
    yk_m3_add_to(&by[TORQUE_A][FORCE_A], -1, skew_f);
    yk_m3_add_to(&by[TORQUE_A][FORCE_B], 1, skew_f);
    yk_m3_add_to(&by[TORQUE_A][TORQUE_A], 1, yk_m3_mul(yk_m3_skew(arm_a), skew_f));
    yk_m3_add_to(&by[TORQUE_A][TORQUE_B], -1, yk_m3_mul(skew_f, skew_b));
    yk_m3_add_to(&by[TORQUE_B][TORQUE_A], -1, yk_m3_mul(skew_b, skew_f));
    yk_m3_add_to(&by[TORQUE_B][TORQUE_B], 1, yk_m3_rotated_cross(p->b.arm, force));
}

/* The load times a vector, as a force at the marker b or as a torque on b. */
static void applied(const yk_force_law *law, const pair *p, double load, yk_force_load *result,
                    yk_force_tangent *tangent)
{
    const yk_force_traits *traits = yk_force_traits_of(law->kind);
    yk_vec3 vector = yk_v3_scale(load, law->vector);

    /* A follower is fixed to b. */
    if (traits->follows)
        vector = yk_m3_apply(yk_m3_columns(p->b.axis[0], p->b.axis[1], p->b.axis[2]), vector);
    yk_mat3 vector_turns = yk_m3_skew(yk_v3_neg(vector));

    /* A torque has no arm. */
    if (traits->torque) {
        result->part[TORQUE_B] = vector;
        result->supply = yk_v3_dot(vector, p->b.angular_velocity);
        if (tangent && traits->follows)
            yk_m3_add_to(&tangent->pose[TORQUE_B][TORQUE_B], 1, vector_turns);
        return;
    }

    /* A force has the lever arm of the marker. */
    yk_vec3 torque = yk_v3_cross(p->b.arm, vector);
    result->part[FORCE_B] = vector;
    result->part[TORQUE_B] = torque;
    result->supply = yk_v3_dot(vector, p->b.velocity);
    if (!tangent)
        return;

    /* A follower rotates with its arm, and its torque with both; otherwise only the arm rotates
     * under the force. */
    if (traits->follows) {
        yk_m3_add_to(&tangent->pose[FORCE_B][TORQUE_B], 1, vector_turns);
        yk_m3_add_to(&tangent->pose[TORQUE_B][TORQUE_B], 1, yk_m3_skew(yk_v3_neg(torque)));
    } else {
        yk_m3_add_to(&tangent->pose[TORQUE_B][TORQUE_B], 1, yk_m3_rotated_cross(p->b.arm, vector));
    }
}

/* Forces of fluids and of contacts. */
static void at_a_point(const yk_force_law *law, const pair *p, double load, yk_force_load *result,
                       yk_force_tangent *tangent)
{
    (void)load;
    yk_point_force_evaluate(law->kind, &law->contact, &p->a, &p->b, result, tangent);
}

typedef void (*evaluate_force)(const yk_force_law *law, const pair *p, double load,
                               yk_force_load *out, yk_force_tangent *tangent);

typedef struct force_kind {
    yk_force_traits traits;
    evaluate_force evaluate;
} force_kind;

static const force_kind table[YK_FORCE_KIND_COUNT] = {
    [YK_FORCE_SPRING] = {{"spring", .on_both = true}, spring},
    [YK_FORCE_TORSION_SPRING] = {{"torsion", YK_FORCE_ANGLE, .on_both = true, .torque = true},
                                 torsion},
    [YK_FORCE_BUSHING] = {{"bushing", .on_both = true}, bushing},
    [YK_FORCE_MOTOR] = {{"motor", YK_FORCE_ANGLE, .on_both = true, .torque = true}, motor},
    [YK_FORCE_LINEAR_MOTOR] = {{"thrust", YK_FORCE_SLIDE, .on_both = true}, thrust},
    [YK_FORCE_FORCE] = {{"force", .vector = true}, applied},
    [YK_FORCE_TORQUE] = {{"torque", .vector = true, .torque = true}, applied},
    [YK_FORCE_FOLLOWER_FORCE] = {{"follower", .vector = true, .follows = true}, applied},
    [YK_FORCE_FOLLOWER_TORQUE] = {{"follower-torque", .vector = true, .torque = true,
                                   .follows = true},
                                  applied},
    [YK_FORCE_DRAG] = {{.name = "drag"}, at_a_point},
    [YK_FORCE_GROUND] = {{"ground-contact", YK_FORCE_SLIDE, .on_both = true, .touches = true},
                         at_a_point},
    [YK_FORCE_TYRE] = {{"tyre", YK_FORCE_SLIDE, .on_both = true, .touches = true}, at_a_point},
    [YK_FORCE_CLEARANCE] = {{"clearance", YK_FORCE_SLIDE, .on_both = true, .touches = true},
                            at_a_point},
};

yk_status yk_force_check(yk_context *context, const char *model, const yk_force_def *def)
{
    const char *name = def->name ? def->name : "";
    if ((unsigned)def->kind >= YK_FORCE_KIND_COUNT)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: force '%s' is of no known kind (%d): take a yk_force_kind", model, name,
                       (int)def->kind);

    /* A force without a body is an error. */
    const yk_force_traits *traits = &table[def->kind].traits;
    if (!traits->on_both && def->bodies[1].index == YK_GROUND_INDEX)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: %s '%s' acts on the ground, which never moves: name the body that it "
                       "acts on as its second one (body[1])",
                       model, traits->name, name);
    if (traits->on_both && def->bodies[0].index == def->bodies[1].index)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: %s '%s' has both ends on one body: name two different ones", model,
                       traits->name, name);

    double largest = 0;
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 6; k++)
            largest += fabs(def->bushing_stiffness[i][k]) + fabs(def->bushing_damping[i][k]);
    if (!isfinite(def->stiffness) || !isfinite(def->damping) || !isfinite(def->free_length) ||
        !isfinite(def->load_scale) || !yk_v3_finite(def->vector) || !isfinite(largest))
        return yk_fail(context, YK_ERROR_ARGUMENT, "%s: a coefficient of %s '%s' is not finite",
                       model, traits->name, name);
    if (def->adds_to.index != YK_NO_ID && !yk_force_kind_has_coordinate(def->kind))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: %s '%s' has no coordinate that could be added to another force", model,
                       traits->name, name);
    const yk_force_terms *terms = &def->terms;
    if (terms->play < 0 || terms->contact_damping < 0 || terms->stop_stiffness < 0 ||
        terms->coulomb_friction < 0 || terms->static_friction < 0 ||
        !(terms->transition_velocity > 0) || !(terms->stribeck_velocity > 0) ||
        (terms->limited && !(terms->limits[0] < terms->limits[1])))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: %s '%s' needs limits in ascending order, positive velocities of "
                       "friction, and no negative coefficient",
                       model, traits->name, name);
    if (traits->touches && !yk_contact_force_valid(&def->contact))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: %s '%s' needs a positive stiffness, exponent and transition velocity, "
                       "and no negative coefficient",
                       model, traits->name, name);

    /* The load must have a single source. */
    if (def->signal_port.index < 0 && def->signal_port.index != YK_NO_ID)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: the input of %s '%s' is port %d: take the id of a signal port, or "
                       "YK_NO_ID",
                       model, traits->name, name, def->signal_port.index);

    bool has_load = def->load.evaluate;
    bool has_feedback = def->feedback.value;
    bool has_input = def->signal_port.index != YK_NO_ID;
    if (has_load + has_feedback + has_input > 1)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: %s '%s' has several loads (%s%s%s): give one of load, feedback and "
                       "input",
                       model, traits->name, name, has_load ? "load " : "",
                       has_feedback ? "feedback " : "", has_input ? "input" : "");
    return YK_OK;
}

const yk_force_traits *yk_force_traits_of(yk_force_kind kind)
{
    return &table[kind].traits;
}

const char *yk_force_kind_name(yk_force_kind kind)
{
    if ((unsigned)kind >= YK_FORCE_KIND_COUNT)
        return "unknown";
    return table[kind].traits.name;
}

bool yk_force_kind_acts_on_both(yk_force_kind kind)
{
    if ((unsigned)kind >= YK_FORCE_KIND_COUNT)
        return false;
    return table[kind].traits.on_both;
}

bool yk_force_kind_has_coordinate(yk_force_kind kind)
{
    return kind == YK_FORCE_SPRING || kind == YK_FORCE_TORSION_SPRING || kind == YK_FORCE_MOTOR ||
           kind == YK_FORCE_LINEAR_MOTOR;
}

/* A constant tension, or with the opposite sign a constant motor. */
static void constant_tension(const yk_force_law *law, const pair *p, double tension,
                             yk_force_load *result, yk_force_tangent *tangent)
{
    yk_force_law bare = {.kind = law->kind};
    bool drives = law->kind == YK_FORCE_MOTOR || law->kind == YK_FORCE_LINEAR_MOTOR;

    memset(result, 0, sizeof *result);
    table[law->kind].evaluate(&bare, p, drives ? -tension : tension, result, tangent);
}

yk_force_coordinate yk_force_coordinate_at(const yk_force_law *law, const yk_frame *body_a,
                                           const yk_frame *body_b, double near_angle)
{
    yk_force_coordinate coordinate;
    pair p = pair_of(law, body_a, body_b);
    yk_force_load unit;
    constant_tension(law, &p, -1, &unit, NULL);
    memcpy(coordinate.gradient, unit.part, sizeof coordinate.gradient);

    yk_force_stretch(law, body_a, body_b, &coordinate.value, &coordinate.rate);
    if (table[law->kind].traits.motion == YK_FORCE_ANGLE)
        coordinate.value = near_angle + remainder(coordinate.value - near_angle, 2 * YK_PI);
    return coordinate;
}

void yk_force_geometric(const yk_force_law *law, const yk_frame *body_a, const yk_frame *body_b,
                        double force, yk_force_tangent *tangent)
{
    pair p = pair_of(law, body_a, body_b);
    yk_force_load result;
    memset(tangent, 0, sizeof *tangent);
    constant_tension(law, &p, force, &result, tangent);
}

/* A law with further terms on its own coordinate. Angles are taken within half a turn of the middle
 * of the limits. */
static void evaluate_terms(const yk_force_law *law, const yk_frame *body_a, const yk_frame *body_b,
                           double load, yk_force_load *result, yk_force_tangent *tangent)
{
    double near = law->free;
    if (law->terms.limited)
        near = 0.5 * (law->terms.limits[0] + law->terms.limits[1]);
    yk_force_coordinate coordinate = yk_force_coordinate_at(law, body_a, body_b, near);
    yk_scalar_force scalar = yk_force_scalar(law, coordinate.value, coordinate.rate, load);

    for (int i = 0; i < 4; i++)
        result->part[i] = yk_v3_scale(-scalar.force, coordinate.gradient[i]);
    result->energy = scalar.energy;
    result->loss = scalar.loss;
    result->supply = scalar.supply;
    if (!tangent)
        return;

    yk_force_geometric(law, body_a, body_b, scalar.force, tangent);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            yk_mat3 outer = yk_m3_outer(coordinate.gradient[i], coordinate.gradient[j]);
            yk_m3_add_to(&tangent->pose[i][j], -scalar.by_value, outer);
            yk_m3_add_to(&tangent->rate[i][j], -scalar.by_rate, outer);
        }
    }
}

void yk_force_evaluate(const yk_force_law *law, const yk_frame *body_a, const yk_frame *body_b,
                       double load, yk_force_load *result, yk_force_tangent *tangent)
{
    pair p = pair_of(law, body_a, body_b);

    memset(result, 0, sizeof *result);
    if (tangent)
        memset(tangent, 0, sizeof *tangent);

    if (law->has_terms && yk_force_kind_has_coordinate(law->kind)) {
        evaluate_terms(law, body_a, body_b, load, result, tangent);
        return;
    }

    table[law->kind].evaluate(law, &p, load, result, tangent);
}

void yk_force_stretch(const yk_force_law *law, const yk_frame *body_a, const yk_frame *body_b,
                      double *value, double *rate)
{
    pair p = pair_of(law, body_a, body_b);

    switch (table[law->kind].traits.motion) {
    case YK_FORCE_LENGTH:
        *value = yk_v3_norm(p.d);
        *rate = yk_v3_dot(yk_v3_unit(p.d), p.rate);
        return;
    case YK_FORCE_ANGLE:
        *value = angle_about_z(&p);
        *rate = yk_v3_dot(p.a.axis[2], relative_spin(&p));
        return;
    case YK_FORCE_SLIDE:
        *value = yk_v3_dot(p.a.axis[2], p.d);
        *rate = yk_v3_dot(p.a.axis[2], rate_seen_from_a(&p));
        return;
    }
}
