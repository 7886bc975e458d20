#include "mechanics/force.h"

#include <string.h>

#include "math/so3.h"

enum { FORCE_A, TORQUE_A, FORCE_B, TORQUE_B };

static const char *const names[YK_FORCE_KINDS] = {"spring", "torsion", "bushing",  "motor",          "thrust",
                                                  "force",  "torque",  "follower", "follower-torque"};

const char *yk_force_name(yk_force_kind kind)
{
    return names[kind];
}

bool yk_force_on_both(yk_force_kind kind)
{
    return kind <= YK_FORCE_THRUST;
}

/* Both markers and what separates them. */
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

/* A force at b's marker, its opposite at a's. */
static void put_force_pair(const pair *p, yk_vec3 force, yk_force_load *result)
{
    result->part[FORCE_A] = yk_v3_neg(force);
    result->part[TORQUE_A] = yk_v3_cross(force, p->a.arm);
    result->part[FORCE_B] = force;
    result->part[TORQUE_B] = yk_v3_cross(p->b.arm, force);
}

/* dp_b - dp_a by displacement and rotation of a and b. */
static void separation(const pair *p, yk_mat3 jacobian[4])
{
    jacobian[FORCE_A] = yk_m3_diagonal(-1, -1, -1);
    jacobian[TORQUE_A] = yk_m3_skew(p->a.arm);
    jacobian[FORCE_B] = yk_m3_identity();
    jacobian[TORQUE_B] = yk_m3_skew(yk_v3_neg(p->b.arm));
}

static void spring_tangent(const pair *p, const yk_force_law *law, yk_vec3 e, double length, double tension,
                           yk_force_tangent *tangent)
{
    yk_mat3 along = yk_m3_outer(e, e), jacobian[4];
    yk_mat3 across = yk_m3_scale(tension / length, yk_m3_sub(yk_m3_identity(), along));
    yk_mat3 stiff = yk_m3_add(yk_m3_scale(law->stiffness, along), across);
    separation(p, jacobian);
    for (int i = 0; i < 4; i++) {
        yk_mat3 left = yk_m3_transpose(jacobian[i]);
        for (int j = 0; j < 4; j++) {
            yk_m3_add_to(&tangent->placement[i][j], -1, yk_m3_mul(left, yk_m3_mul(stiff, jacobian[j])));
            yk_m3_add_to(&tangent->rate[i][j], -law->damping, yk_m3_mul(left, yk_m3_mul(along, jacobian[j])));
        }
    }
    yk_vec3 force = yk_v3_scale(-tension, e);
    yk_m3_add_to(&tangent->placement[TORQUE_A][TORQUE_A], -1, yk_m3_turned_cross(p->a.arm, force));
    yk_m3_add_to(&tangent->placement[TORQUE_B][TORQUE_B], 1, yk_m3_turned_cross(p->b.arm, force));
}

static void spring(const yk_force_law *law, const pair *p, double load, yk_force_load *result,
                   yk_force_tangent *tangent)
{
    double length = yk_v3_norm(p->d);
    if (length == 0) return; /* no direction: the force of a spring of length zero is not defined */
    yk_vec3 e = yk_v3_scale(1 / length, p->d);
    double rate = yk_v3_dot(e, p->rate), stretch = length - law->free;
    double tension = law->stiffness * stretch + law->damping * rate + load;
    put_force_pair(p, yk_v3_scale(-tension, e), result);
    result->energy = 0.5 * law->stiffness * stretch * stretch;
    result->loss = law->damping * rate * rate;
    result->supply = -load * rate;
    if (tangent) spring_tangent(p, law, e, length, tension, tangent);
}

static double angle_about_z(const pair *p)
{
    return atan2(yk_v3_dot(p->b.axis[0], p->a.axis[1]), yk_v3_dot(p->b.axis[0], p->a.axis[0]));
}

static void torsion(const yk_force_law *law, const pair *p, double load, yk_force_load *result,
                    yk_force_tangent *tangent)
{
    yk_vec3 z = p->a.axis[2];
    double turn = remainder(angle_about_z(p) - law->free, 2 * YK_PI);
    double rate = yk_v3_dot(z, yk_v3_sub(p->b.angular_velocity, p->a.angular_velocity));
    double torque = law->stiffness * turn + law->damping * rate + load;
    result->part[TORQUE_A] = yk_v3_scale(torque, z);
    result->part[TORQUE_B] = yk_v3_scale(-torque, z);
    result->energy = 0.5 * law->stiffness * turn * turn;
    result->loss = law->damping * rate * rate;
    result->supply = -load * rate;
    if (!tangent) return;
    yk_mat3 along = yk_m3_outer(z, z), axis_turns = yk_m3_skew(yk_v3_scale(torque, z));
    for (int i = 0; i < 2; i++) {
        int row = i ? TORQUE_B : TORQUE_A;
        double sign = i ? -1 : 1;
        yk_m3_add_to(&tangent->placement[row][TORQUE_A], -sign * law->stiffness, along);
        yk_m3_add_to(&tangent->placement[row][TORQUE_B], sign * law->stiffness, along);
        yk_m3_add_to(&tangent->placement[row][TORQUE_A], -sign, axis_turns);
        yk_m3_add_to(&tangent->rate[row][TORQUE_A], -sign * law->damping, along);
        yk_m3_add_to(&tangent->rate[row][TORQUE_B], sign * law->damping, along);
    }
}

/* Displacement, rotation vector and their rates of b in the axes of a. */
typedef struct deflection {
    double value[6], rate[6];
    yk_mat3 frame;   /* axes of a as columns */
    yk_mat3 tangent; /* spin of b relative to a = tangent . rate of the rotation vector, in a's axes */
} deflection;

static deflection deflection_of(const pair *p)
{
    deflection s;
    s.frame = yk_m3_columns(p->a.axis[0], p->a.axis[1], p->a.axis[2]);
    yk_mat3 other = yk_m3_columns(p->b.axis[0], p->b.axis[1], p->b.axis[2]);
    yk_vec3 turn = yk_so3_log_matrix(yk_m3_mul(yk_m3_transpose(s.frame), other));
    s.tangent = yk_so3_left_tangent(turn);
    yk_vec3 move = yk_m3_apply_transposed(s.frame, p->d);
    yk_vec3 slide = yk_m3_apply_transposed(s.frame, yk_v3_sub(p->rate, yk_v3_cross(p->a.angular_velocity, p->d)));
    yk_vec3 spin = yk_m3_apply_transposed(s.frame, yk_v3_sub(p->b.angular_velocity, p->a.angular_velocity));
    yk_vec3 turn_rate = yk_m3_apply(yk_so3_left_tangent_inverse(turn), spin);
    double value[6] = {move.x, move.y, move.z, turn.x, turn.y, turn.z};
    double rate[6] = {slide.x, slide.y, slide.z, turn_rate.x, turn_rate.y, turn_rate.z};
    memcpy(s.value, value, sizeof value);
    memcpy(s.rate, rate, sizeof rate);
    return s;
}

/* Block (i, j) of a 6 x 6 matrix in a's axes, turned to global axes; rotations enter through their tangent. */
static yk_mat3 turned_block(const double m[6][6], int i, int j, const yk_mat3 basis[2])
{
    yk_mat3 block;
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) block.m[row][column] = m[3 * i + row][3 * j + column];
    return yk_m3_mul(basis[i], yk_m3_mul(block, yk_m3_transpose(basis[j])));
}

static void bushing_tangent(const yk_force_law *law, const pair *p, const deflection *s, yk_vec3 force, yk_vec3 torque,
                            yk_force_tangent *tangent)
{
    yk_mat3 inverse = yk_m3_inverse(s->tangent);
    yk_mat3 basis[2] = {s->frame, yk_m3_mul(s->frame, yk_m3_transpose(inverse))};
    /* change[0]: of d as a sees it, dp_b - dp_a - theta_a x d; change[1]: relative rotation */
    yk_mat3 change[2][4];
    separation(p, change[0]);
    change[0][TORQUE_A] = yk_m3_add(change[0][TORQUE_A], yk_m3_skew(p->d));
    for (int j = 0; j < 4; j++) change[1][j] = yk_m3_zero();
    change[1][TORQUE_A] = yk_m3_diagonal(-1, -1, -1);
    change[1][TORQUE_B] = yk_m3_identity();
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++) {
            yk_mat3 stiff = turned_block(law->bushing_stiffness, i, k, basis);
            yk_mat3 damp = turned_block(law->bushing_damping, i, k, basis);
            for (int row = 0; row < 4; row++) {
                yk_mat3 left = yk_m3_transpose(change[i][row]);
                for (int j = 0; j < 4; j++) {
                    yk_m3_add_to(&tangent->placement[row][j], -1, yk_m3_mul(left, yk_m3_mul(stiff, change[k][j])));
                    yk_m3_add_to(&tangent->rate[row][j], -1, yk_m3_mul(left, yk_m3_mul(damp, change[k][j])));
                }
            }
        }
    }
    /* Force and torque turn with a; so do the arms. On a: force through b's origin, arm = arm_a + d. */
    yk_vec3 reach = yk_v3_add(p->a.arm, p->d);
    yk_mat3 skew_f = yk_m3_skew(force), skew_t = yk_m3_skew(torque), skew_b = yk_m3_skew(p->b.arm);
    yk_m3_add_to(&tangent->placement[FORCE_A][TORQUE_A], 1, skew_f);
    yk_m3_add_to(&tangent->placement[FORCE_B][TORQUE_A], -1, skew_f);
    yk_m3_add_to(&tangent->placement[TORQUE_A][FORCE_A], -1, skew_f);
    yk_m3_add_to(&tangent->placement[TORQUE_A][FORCE_B], 1, skew_f);
    yk_m3_add_to(&tangent->placement[TORQUE_A][TORQUE_A], 1, yk_m3_add(yk_m3_turned_cross(force, reach), skew_t));
    yk_mat3 both = yk_m3_mul(skew_f, skew_b);
    yk_m3_add_to(&tangent->placement[TORQUE_A][TORQUE_B], -1, both);
    yk_m3_add_to(&tangent->placement[TORQUE_B][TORQUE_A], -1, yk_m3_add(yk_m3_transpose(both), skew_t));
    yk_m3_add_to(&tangent->placement[TORQUE_B][TORQUE_B], 1, yk_m3_turned_cross(p->b.arm, force));
    /* The transposed tangent turns the torque by half of the relative rotation, to first order. */
    for (int column = TORQUE_A; column <= TORQUE_B; column += 2) {
        double half = column == TORQUE_A ? 0.5 : -0.5;
        yk_m3_add_to(&tangent->placement[TORQUE_B][column], half, skew_t);
        yk_m3_add_to(&tangent->placement[TORQUE_A][column], -half, skew_t);
    }
}

static void bushing(const yk_force_law *law, const pair *p, yk_force_load *result, yk_force_tangent *tangent)
{
    deflection s = deflection_of(p);
    double effort[6];
    for (int i = 0; i < 6; i++) {
        double elastic = 0, viscous = 0;
        for (int j = 0; j < 6; j++) {
            elastic += law->bushing_stiffness[i][j] * s.value[j];
            viscous += law->bushing_damping[i][j] * s.rate[j];
        }
        effort[i] = elastic + viscous;
        result->energy += 0.5 * elastic * s.value[i];
        result->loss += viscous * s.rate[i];
    }
    yk_vec3 force = yk_m3_apply(s.frame, yk_v3(-effort[0], -effort[1], -effort[2]));
    /* Work on the rotation vector: torque = tangent^-T . effort. */
    yk_mat3 inverse = yk_m3_inverse(s.tangent);
    yk_vec3 torque = yk_m3_apply(s.frame, yk_m3_apply_transposed(inverse, yk_v3(-effort[3], -effort[4], -effort[5])));
    result->part[FORCE_A] = yk_v3_neg(force);
    result->part[TORQUE_A] = yk_v3_sub(yk_v3_cross(force, yk_v3_add(p->a.arm, p->d)), torque);
    result->part[FORCE_B] = force;
    result->part[TORQUE_B] = yk_v3_add(yk_v3_cross(p->b.arm, force), torque);
    if (tangent) bushing_tangent(law, p, &s, force, torque, tangent);
}

/* The displacement of b along z of a, and its rate. */
static void slide_along_z(const pair *p, double *value, double *rate)
{
    yk_vec3 z = p->a.axis[2];
    *value = yk_v3_dot(z, p->d);
    *rate = yk_v3_dot(z, yk_v3_sub(p->rate, yk_v3_cross(p->a.angular_velocity, p->d)));
}

static void motor(const pair *p, double load, yk_force_load *result, yk_force_tangent *tangent)
{
    yk_vec3 torque = yk_v3_scale(load, p->a.axis[2]);
    result->part[TORQUE_A] = yk_v3_neg(torque);
    result->part[TORQUE_B] = torque;
    result->supply = yk_v3_dot(torque, yk_v3_sub(p->b.angular_velocity, p->a.angular_velocity));
    if (!tangent) return;
    yk_mat3 axis_turns = yk_m3_skew(torque); /* theta x torque = -skew(torque) theta */
    yk_m3_add_to(&tangent->placement[TORQUE_A][TORQUE_A], 1, axis_turns);
    yk_m3_add_to(&tangent->placement[TORQUE_B][TORQUE_A], -1, axis_turns);
}

static void thrust(const pair *p, double load, yk_force_load *result, yk_force_tangent *tangent)
{
    yk_vec3 force = yk_v3_scale(load, p->a.axis[2]), reach = yk_v3_add(p->a.arm, p->d);
    double place, rate;
    slide_along_z(p, &place, &rate);
    result->part[FORCE_A] = yk_v3_neg(force);
    result->part[TORQUE_A] = yk_v3_cross(force, reach);
    result->part[FORCE_B] = force;
    result->part[TORQUE_B] = yk_v3_cross(p->b.arm, force);
    result->supply = load * rate;
    if (!tangent) return;

    /* The force turns with a; on a it acts at a point that moves with b. */
    yk_mat3 skew_f = yk_m3_skew(force), skew_b = yk_m3_skew(p->b.arm);
    yk_m3_add_to(&tangent->placement[FORCE_A][TORQUE_A], 1, skew_f);
    yk_m3_add_to(&tangent->placement[FORCE_B][TORQUE_A], -1, skew_f);
    yk_m3_add_to(&tangent->placement[TORQUE_A][FORCE_A], -1, skew_f);
    yk_m3_add_to(&tangent->placement[TORQUE_A][FORCE_B], 1, skew_f);
    yk_m3_add_to(&tangent->placement[TORQUE_A][TORQUE_A], 1, yk_m3_mul(yk_m3_skew(reach), skew_f));
    yk_m3_add_to(&tangent->placement[TORQUE_A][TORQUE_B], -1, yk_m3_mul(skew_f, skew_b));
    yk_m3_add_to(&tangent->placement[TORQUE_B][TORQUE_A], -1, yk_m3_mul(skew_b, skew_f));
    yk_m3_add_to(&tangent->placement[TORQUE_B][TORQUE_B], 1, yk_m3_turned_cross(p->b.arm, force));
}

static void applied(const yk_force_law *law, const pair *p, double load, yk_force_load *result,
                    yk_force_tangent *tangent)
{
    bool follows = law->kind == YK_FORCE_FOLLOWER || law->kind == YK_FORCE_FOLLOWER_TORQUE;
    bool is_force = law->kind == YK_FORCE_VECTOR || law->kind == YK_FORCE_FOLLOWER;
    yk_vec3 value = yk_v3_scale(load, law->vector);
    if (follows) value = yk_m3_apply(yk_m3_columns(p->b.axis[0], p->b.axis[1], p->b.axis[2]), value);
    yk_mat3 turns = yk_m3_skew(yk_v3_neg(value)); /* theta x value */
    if (is_force) {
        result->part[FORCE_B] = value;
        result->part[TORQUE_B] = yk_v3_cross(p->b.arm, value);
        result->supply = yk_v3_dot(value, p->b.velocity);
        if (tangent && follows) {
            yk_m3_add_to(&tangent->placement[FORCE_B][TORQUE_B], 1, turns);
            yk_m3_add_to(&tangent->placement[TORQUE_B][TORQUE_B], 1, yk_m3_skew(yk_v3_neg(result->part[TORQUE_B])));
        } else if (tangent) {
            yk_m3_add_to(&tangent->placement[TORQUE_B][TORQUE_B], 1, yk_m3_turned_cross(p->b.arm, value));
        }
        return;
    }
    result->part[TORQUE_B] = value;
    result->supply = yk_v3_dot(value, p->b.angular_velocity);
    if (tangent && follows) yk_m3_add_to(&tangent->placement[TORQUE_B][TORQUE_B], 1, turns);
}

void yk_force_evaluate(const yk_force_law *law, const yk_frame *body_a, const yk_frame *body_b, double load,
                       yk_force_load *result, yk_force_tangent *tangent)
{
    pair p = pair_of(law, body_a, body_b);
    memset(result, 0, sizeof *result);
    if (tangent) memset(tangent, 0, sizeof *tangent);
    switch (law->kind) {
    case YK_FORCE_SPRING: spring(law, &p, load, result, tangent); return;
    case YK_FORCE_TORSION: torsion(law, &p, load, result, tangent); return;
    case YK_FORCE_BUSHING: bushing(law, &p, result, tangent); return;
    case YK_FORCE_MOTOR: motor(&p, load, result, tangent); return;
    case YK_FORCE_THRUST: thrust(&p, load, result, tangent); return;
    default: applied(law, &p, load, result, tangent); return;
    }
}

void yk_force_stretch(const yk_force_law *law, const yk_frame *body_a, const yk_frame *body_b, double *value,
                      double *rate)
{
    pair p = pair_of(law, body_a, body_b);
    if (law->kind == YK_FORCE_THRUST) {
        slide_along_z(&p, value, rate);
        return;
    }
    if (law->kind == YK_FORCE_TORSION || law->kind == YK_FORCE_MOTOR) {
        *value = angle_about_z(&p);
        *rate = yk_v3_dot(p.a.axis[2], yk_v3_sub(p.b.angular_velocity, p.a.angular_velocity));
        return;
    }
    *value = yk_v3_norm(p.d);
    *rate = yk_v3_dot(yk_v3_unit(p.d), p.rate);
}
