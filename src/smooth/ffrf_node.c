/* Places on a floating-frame body: where joints, forces and ports attach. The rotation of a place relative to the frame
 * is exp of the sum of the modal rotations, exact for one rotation axis and to second order for all. */
#include <string.h>

#include "math/so3.h"
#include "smooth/ffrf.h"

yk_ffrf_node yk_ffrf_node_of(const yk_ffrf_point *point, int modes, yk_ffrf_bend *bends)
{
    yk_ffrf_node node = {
        .position = point->position, .displacement = point->displacement, .rotation = point->rotation, .bends = bends};
    for (int k = 0; k < modes * modes && point->shortening; k++)
        if (yk_v3_norm2(point->shortening[k]) > 0)
            bends[node.bend_count++] = (yk_ffrf_bend){k / modes, k % modes, point->shortening[k]};
    for (int k = 0; k < node.bend_count; k++) node.moves |= (uint64_t)1 << bends[k].i;
    for (int i = 0; i < modes; i++) {
        if (yk_v3_norm2(point->displacement[i]) > 0) node.moves |= (uint64_t)1 << i;
        if (point->rotation && yk_v3_norm2(point->rotation[i]) > 0) node.rotates |= (uint64_t)1 << i;
    }
    return node;
}

/* One of the modes in a set. */
static inline bool has(uint64_t set, int mode)
{
    return set >> mode & 1u;
}

/* The transposed tangent: from torques to loads on the rotation vector. */
static yk_vec3 rotate_back(const yk_rotation *rotation, yk_vec3 a)
{
    yk_vec3 once = yk_v3_cross(rotation->phi, a), twice = yk_v3_cross(rotation->phi, once);
    return yk_v3_axpy(rotation->q, twice, yk_v3_axpy(-rotation->p, once, a));
}

static yk_vec3 rotation_of(const yk_ffrf_node *node, int modes, const double *amplitude)
{
    yk_vec3 rotation = {0, 0, 0};
    for (int i = 0; i < modes; i++)
        if (has(node->rotates, i)) rotation = yk_v3_axpy(amplitude[i], node->rotation[i], rotation);
    return rotation;
}

void yk_ffrf_node_pose(const yk_ffrf_node *node, int modes, const yk_frame *frame, const double *amplitude,
                       const double *rate, yk_ffrf_pose *pose, yk_frame *placed)
{
    yk_vec3 position = node->position, velocity = {0, 0, 0};
    const yk_mat3 axes = frame->rotation;
    for (int i = 0; i < modes; i++) {
        pose->pull[i] = node->displacement[i];
        if (has(node->moves, i)) position = yk_v3_axpy(amplitude[i], node->displacement[i], position);
    }
    for (int k = 0; k < node->bend_count; k++) {
        const yk_ffrf_bend *bend = &node->bends[k];
        pose->pull[bend->i] = yk_v3_axpy(amplitude[bend->j], bend->value, pose->pull[bend->i]);
        position = yk_v3_axpy(0.5 * amplitude[bend->i] * amplitude[bend->j], bend->value, position);
    }
    for (int i = 0; i < modes; i++)
        if (has(node->moves, i)) velocity = yk_v3_axpy(rate[i], pose->pull[i], velocity);
    pose->position = position;
    yk_vec3 arm = yk_m3_apply(axes, position), w = frame->angular_velocity;
    placed->position = yk_v3_add(frame->position, arm);
    placed->velocity = yk_v3_add(frame->velocity, yk_v3_add(yk_m3_apply(axes, velocity), yk_v3_cross(w, arm)));
    placed->rotation = axes;
    placed->angular_velocity = w;
    if (!node->rotation) return;
    pose->rotation = yk_rotation_of(rotation_of(node, modes, amplitude));
    placed->rotation = yk_m3_mul(axes, yk_q_matrix(pose->rotation.quaternion));
    yk_vec3 spin = yk_rotation_tangent(&pose->rotation, rotation_of(node, modes, rate));
    placed->angular_velocity = yk_v3_add(w, yk_m3_apply(axes, spin));
}

static void put_column(double *jacobian, int size, int row, int column, yk_vec3 v)
{
    jacobian[size * row + column] = v.x;
    jacobian[size * (row + 1) + column] = v.y;
    jacobian[size * (row + 2) + column] = v.z;
}

void yk_ffrf_node_jacobian(const yk_ffrf_node *node, int modes, const yk_frame *frame, const yk_ffrf_pose *pose,
                           double *jacobian)
{
    int size = 6 + modes;
    const yk_mat3 axes = frame->rotation, unit = yk_m3_identity();
    yk_mat3 lever = yk_m3_skew(yk_v3_neg(yk_m3_apply(axes, pose->position)));
    memset(jacobian, 0, 6 * (size_t)size * sizeof *jacobian);
    for (int j = 0; j < 3; j++) {
        put_column(jacobian, size, 0, j, yk_m3_column(&unit, j));
        put_column(jacobian, size, 0, 3 + j, yk_m3_column(&lever, j));
        put_column(jacobian, size, 3, 3 + j, yk_m3_column(&unit, j));
    }
    for (int i = 0; i < modes; i++) {
        put_column(jacobian, size, 0, 6 + i, yk_m3_apply(axes, pose->pull[i]));
        if (node->rotation)
            put_column(jacobian, size, 3, 6 + i,
                       yk_m3_apply(axes, yk_rotation_tangent(&pose->rotation, node->rotation[i])));
    }
}

yk_vec3 yk_ffrf_node_spread(const yk_ffrf_node *node, int modes, const yk_frame *frame, const yk_ffrf_pose *pose,
                            yk_vec3 force, yk_vec3 torque, double *modal)
{
    const yk_mat3 axes = frame->rotation;
    yk_vec3 pulling = yk_m3_apply_transposed(axes, force), twist = yk_m3_apply_transposed(axes, torque);
    if (node->rotation) twist = rotate_back(&pose->rotation, twist);
    for (int i = 0; i < modes; i++) {
        if (has(node->moves, i)) modal[i] += yk_v3_dot(pulling, pose->pull[i]);
        if (has(node->rotates, i)) modal[i] += yk_v3_dot(twist, node->rotation[i]);
    }
    return yk_v3_add(torque, yk_v3_cross(yk_m3_apply(axes, pose->position), force));
}

void yk_ffrf_node_bias(const yk_ffrf_node *node, int modes, const yk_frame *frame, const double *amplitude,
                       const double *rate, const yk_ffrf_pose *pose, yk_vec3 *acceleration,
                       yk_vec3 *angular_acceleration)
{
    const yk_mat3 axes = frame->rotation;
    yk_vec3 w = frame->angular_velocity, arm = yk_m3_apply(axes, pose->position), velocity = {0, 0, 0},
            curve = {0, 0, 0};
    for (int i = 0; i < modes; i++) velocity = yk_v3_axpy(rate[i], pose->pull[i], velocity);
    for (int k = 0; k < node->bend_count; k++)
        curve = yk_v3_axpy(rate[node->bends[k].i] * rate[node->bends[k].j], node->bends[k].value, curve);
    yk_vec3 relative = yk_m3_apply(axes, velocity);
    yk_vec3 swing = yk_v3_cross(w, yk_v3_axpy(2, relative, yk_v3_cross(w, arm)));
    *acceleration = yk_v3_add(swing, yk_m3_apply(axes, curve));
    *angular_acceleration = yk_v3(0, 0, 0);
    if (!node->rotation) return;
    yk_vec3 rotation = rotation_of(node, modes, amplitude), rotation_rate = rotation_of(node, modes, rate);
    yk_vec3 spin = yk_m3_apply(axes, yk_rotation_tangent(&pose->rotation, rotation_rate));
    yk_mat3 change = yk_so3_left_tangent_rate(rotation, rotation_rate);
    *angular_acceleration = yk_v3_add(yk_v3_cross(w, spin), yk_m3_apply(axes, yk_m3_apply(change, rotation_rate)));
}

static void add_row(double *tangent, int size, int row, int column, double scale, yk_vec3 v)
{
    double *at = &tangent[size * row + column];
    at[0] += scale * v.x, at[1] += scale * v.y, at[2] += scale * v.z;
}

/* T . R tangent(theta) theta_i by theta_j. */
static void add_rotating(const yk_ffrf_node *node, int modes, const double *amplitude, yk_vec3 torque, double scale,
                         double *tangent)
{
    int size = 6 + modes;
    yk_vec3 rotation = rotation_of(node, modes, amplitude);
    for (int j = 0; j < modes; j++) {
        if (yk_v3_norm2(node->rotation[j]) == 0) continue;
        yk_mat3 moved = yk_so3_left_tangent_rate(rotation, node->rotation[j]);
        yk_vec3 load = yk_m3_apply_transposed(moved, torque);
        for (int i = 0; i < modes; i++) tangent[size * (6 + i) + 6 + j] += scale * yk_v3_dot(load, node->rotation[i]);
    }
}

/* jacobian^T load = (F, arm x F + T, F.R s_i + T.R tangent theta_i); R turns with the frame, the arm with both. */
void yk_ffrf_node_stiffness(const yk_ffrf_node *node, int modes, const yk_frame *frame, const double *amplitude,
                            const yk_ffrf_pose *pose, yk_vec3 force, yk_vec3 torque, double scale, double *tangent)
{
    int size = 6 + modes;
    const yk_mat3 axes = frame->rotation;
    yk_vec3 arm = yk_m3_apply(axes, pose->position);
    yk_vec3 local_force = yk_m3_apply_transposed(axes, force), local_torque = yk_m3_apply_transposed(axes, torque);
    /* (d x arm) x F = (arm F^T - arm.F I) d */
    yk_mat3 lever = yk_m3_outer(arm, force);
    double dot = yk_v3_dot(arm, force);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) tangent[size * (3 + i) + 3 + j] += scale * (lever.m[i][j] - (i == j ? dot : 0));
    for (int i = 0; i < modes; i++) {
        yk_vec3 s = yk_m3_apply(axes, pose->pull[i]), theta = {0, 0, 0};
        if (node->rotation) theta = yk_m3_apply(axes, yk_rotation_tangent(&pose->rotation, node->rotation[i]));
        yk_vec3 twist = yk_v3_scale(scale, yk_v3_cross(s, force));
        tangent[size * 3 + 6 + i] += twist.x;
        tangent[size * 4 + 6 + i] += twist.y;
        tangent[size * 5 + 6 + i] += twist.z;
        /* F.(d x s) = d.(s x F) */
        add_row(tangent, size, 6 + i, 3, scale, yk_v3_add(yk_v3_cross(s, force), yk_v3_cross(theta, torque)));
    }
    for (int k = 0; k < node->bend_count; k++) {
        const yk_ffrf_bend *bend = &node->bends[k];
        tangent[size * (6 + bend->i) + 6 + bend->j] += scale * yk_v3_dot(local_force, bend->value);
    }
    if (node->rotation && yk_v3_norm2(torque) > 0) add_rotating(node, modes, amplitude, local_torque, scale, tangent);
}
