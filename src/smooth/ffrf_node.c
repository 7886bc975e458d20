/* Places on a floating-frame body: where joints, forces and ports attach. The rotation of a place relative to the frame
 * is exp of the sum of the modal rotations, exact for one rotation axis and to second order for all. */
#include <string.h>

#include "math/so3.h"
#include "smooth/ffrf.h"

/* The place in the axes of the frame, and how the amplitudes move it. */
typedef struct local {
    yk_vec3 position, velocity; /* velocity: from the amplitudes alone */
    yk_vec3 bend;               /* acceleration from the shapes of second order: g_ij p_i' p_j' */
    yk_vec3 turn, turn_rate;
} local;

/* du/dp_i */
static yk_vec3 shape_of(const yk_ffrf_node *node, int modes, const double *amplitude, int i)
{
    yk_vec3 s = node->displacement[i];
    for (int j = 0; j < modes && node->shortening; j++)
        s = yk_v3_axpy(amplitude[j], node->shortening[modes * i + j], s);
    return s;
}

static local local_place(const yk_ffrf_node *node, int modes, const double *amplitude, const double *rate)
{
    local at = {.position = node->position};
    for (int i = 0; i < modes; i++) {
        yk_vec3 s = node->displacement[i], pull = shape_of(node, modes, amplitude, i);
        /* u0 + s_i p_i + g_ij p_i p_j / 2 */
        at.position = yk_v3_axpy(0.5 * amplitude[i], yk_v3_add(s, pull), at.position);
        at.velocity = yk_v3_axpy(rate[i], pull, at.velocity);
        for (int j = 0; j < modes && node->shortening; j++)
            at.bend = yk_v3_axpy(rate[i] * rate[j], node->shortening[modes * i + j], at.bend);
        if (!node->rotation) continue;
        at.turn = yk_v3_axpy(amplitude[i], node->rotation[i], at.turn);
        at.turn_rate = yk_v3_axpy(rate[i], node->rotation[i], at.turn_rate);
    }
    return at;
}

static void put_column(double *jacobian, int size, int row, int column, yk_vec3 v)
{
    jacobian[size * row + column] = v.x;
    jacobian[size * (row + 1) + column] = v.y;
    jacobian[size * (row + 2) + column] = v.z;
}

static void fill_jacobian(const yk_ffrf_node *node, int modes, const yk_mat3 *turn, const double *amplitude,
                          const yk_mat3 *tangent, yk_vec3 arm, double *jacobian)
{
    int size = 6 + modes;
    yk_mat3 lever = yk_m3_skew(yk_v3_neg(arm)), unit = yk_m3_identity();
    memset(jacobian, 0, 6 * (size_t)size * sizeof *jacobian);
    for (int j = 0; j < 3; j++) {
        put_column(jacobian, size, 0, j, yk_m3_column(&unit, j));
        put_column(jacobian, size, 0, 3 + j, yk_m3_column(&lever, j));
        put_column(jacobian, size, 3, 3 + j, yk_m3_column(&unit, j));
    }
    for (int i = 0; i < modes; i++) {
        put_column(jacobian, size, 0, 6 + i, yk_m3_apply(*turn, shape_of(node, modes, amplitude, i)));
        if (node->rotation)
            put_column(jacobian, size, 3, 6 + i, yk_m3_apply(*turn, yk_m3_apply(*tangent, node->rotation[i])));
    }
}

void yk_ffrf_node_place(const yk_ffrf_node *node, int modes, const yk_frame *frame, const double *amplitude,
                        const double *rate, yk_frame *placed, double *jacobian)
{
    local at = local_place(node, modes, amplitude, rate);
    const yk_mat3 turn = frame->rotation, tangent = yk_so3_left_tangent(at.turn);
    yk_vec3 arm = yk_m3_apply(turn, at.position), w = frame->angular_velocity;
    yk_vec3 relative = yk_m3_apply(turn, at.velocity);
    placed->position = yk_v3_add(frame->position, arm);
    placed->velocity = yk_v3_add(yk_v3_add(frame->velocity, relative), yk_v3_cross(w, arm));
    placed->rotation = yk_m3_mul(turn, yk_so3_exp_matrix(at.turn));
    placed->angular_velocity = yk_v3_add(w, yk_m3_apply(turn, yk_m3_apply(tangent, at.turn_rate)));
    if (jacobian) fill_jacobian(node, modes, &turn, amplitude, &tangent, arm, jacobian);
}

void yk_ffrf_node_bias(const yk_ffrf_node *node, int modes, const yk_frame *frame, const double *amplitude,
                       const double *rate, yk_vec3 *acceleration, yk_vec3 *angular_acceleration)
{
    local at = local_place(node, modes, amplitude, rate);
    const yk_mat3 turn = frame->rotation;
    yk_vec3 w = frame->angular_velocity, arm = yk_m3_apply(turn, at.position);
    yk_vec3 relative = yk_m3_apply(turn, at.velocity);
    yk_vec3 swing = yk_v3_cross(w, yk_v3_axpy(2, relative, yk_v3_cross(w, arm)));
    *acceleration = yk_v3_add(swing, yk_m3_apply(turn, at.bend));
    yk_vec3 spin = yk_m3_apply(turn, yk_m3_apply(yk_so3_left_tangent(at.turn), at.turn_rate));
    yk_mat3 change = yk_so3_left_tangent_rate(at.turn, at.turn_rate);
    *angular_acceleration = yk_v3_add(yk_v3_cross(w, spin), yk_m3_apply(turn, yk_m3_apply(change, at.turn_rate)));
}

static void add_row(double *tangent, int size, int row, int column, double scale, yk_vec3 v)
{
    double *at = &tangent[size * row + column];
    at[0] += scale * v.x, at[1] += scale * v.y, at[2] += scale * v.z;
}

/* jacobian^T load = (F, arm x F + T, F.R s_i + T.R tangent theta_i); R turns with the frame, the arm with both. */
void yk_ffrf_node_stiffness(const yk_ffrf_node *node, int modes, const yk_frame *frame, const double *amplitude,
                            yk_vec3 force, yk_vec3 torque, double scale, double *tangent)
{
    static const double still[YK_FFRF_MODES_MAX] = {0};
    local at = local_place(node, modes, amplitude, still);
    int size = 6 + modes;
    const yk_mat3 turn = frame->rotation, map = yk_so3_left_tangent(at.turn);
    yk_vec3 arm = yk_m3_apply(turn, at.position);
    yk_vec3 local_force = yk_m3_apply_transposed(turn, force), local_torque = yk_m3_apply_transposed(turn, torque);
    /* (d x arm) x F = (arm F^T - arm.F I) d */
    yk_mat3 lever = yk_m3_outer(arm, force);
    double dot = yk_v3_dot(arm, force);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) tangent[size * (3 + i) + 3 + j] += scale * (lever.m[i][j] - (i == j ? dot : 0));
    for (int i = 0; i < modes; i++) {
        yk_vec3 s = yk_m3_apply(turn, shape_of(node, modes, amplitude, i)), theta = {0, 0, 0};
        if (node->rotation) theta = yk_m3_apply(turn, yk_m3_apply(map, node->rotation[i]));
        yk_vec3 twist = yk_v3_scale(scale, yk_v3_cross(s, force));
        tangent[size * 3 + 6 + i] += twist.x;
        tangent[size * 4 + 6 + i] += twist.y;
        tangent[size * 5 + 6 + i] += twist.z;
        /* F.(d x s) = d.(s x F) */
        add_row(tangent, size, 6 + i, 3, scale, yk_v3_add(yk_v3_cross(s, force), yk_v3_cross(theta, torque)));
        for (int j = 0; j < modes; j++) {
            double change = 0;
            if (node->shortening) change += yk_v3_dot(local_force, node->shortening[modes * i + j]);
            if (node->rotation) {
                yk_mat3 moved = yk_so3_left_tangent_rate(at.turn, node->rotation[j]);
                change += yk_v3_dot(local_torque, yk_m3_apply(moved, node->rotation[i]));
            }
            tangent[size * (6 + i) + 6 + j] += scale * change;
        }
    }
}
