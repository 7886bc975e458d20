/* Attachments of a floating-frame body, at which joints, forces and ports act. The rotation of an
 * attachment relative to the frame is exp of the sum of the modal rotations: exact for a single
 * rotation axis, and to second order in general. */
#include <string.h>

#include "math/so3.h"
#include "multibody/ffrf.h"

yk_ffrf_node yk_ffrf_node_of(const yk_ffrf_point *point, int modes, yk_ffrf_bend *bends)
{
    yk_ffrf_node node = {
        .position = point->position,
        .displacement = point->displacement,
        .rotation = point->rotation,
        .bends = bends,
    };

    /* Shapes of second order, if there are any. */
    for (int k = 0; k < modes * modes && point->shortening; k++) {
        if (yk_v3_norm2(point->shortening[k]) > 0)
            bends[node.bend_count++] = (yk_ffrf_bend){k / modes, k % modes, point->shortening[k]};
    }

    /* Modes that displace or rotate it. */
    for (int k = 0; k < node.bend_count; k++)
        node.moves |= (uint64_t)1 << bends[k].i;
    for (int i = 0; i < modes; i++) {
        if (yk_v3_norm2(point->displacement[i]) > 0)
            node.moves |= (uint64_t)1 << i;
        if (point->rotation && yk_v3_norm2(point->rotation[i]) > 0)
            node.rotates |= (uint64_t)1 << i;
    }

    return node;
}

/* One of the modes in a set. */
static inline bool has(uint64_t set, int mode)
{
    return set >> mode & 1u;
}

/* The rotation vector of the attachment relative to the frame, or its rate. */
static yk_vec3 rotation_of(const yk_ffrf_node *node, int modes, const double *amplitude)
{
    yk_vec3 rotation = {0, 0, 0};
    for (int i = 0; i < modes; i++) {
        if (has(node->rotates, i))
            rotation = yk_v3_axpy(amplitude[i], node->rotation[i], rotation);
    }
    return rotation;
}

void yk_ffrf_node_pose(const yk_ffrf_node *node, int modes, const yk_frame *frame,
                       const double *amplitude, const double *rate, yk_ffrf_pose *pose,
                       yk_frame *placed)
{
    const yk_mat3 axes = frame->rotation;
    yk_vec3 w = frame->angular_velocity;

    /* u = u0 + s_i p_i + g_ij p_i p_j / 2 and its derivatives by p_i, in the axes of the frame */
    yk_vec3 position = node->position;
    for (int i = 0; i < modes; i++) {
        pose->pull[i] = node->displacement[i];
        if (has(node->moves, i))
            position = yk_v3_axpy(amplitude[i], node->displacement[i], position);
    }

    for (int k = 0; k < node->bend_count; k++) {
        const yk_ffrf_bend *bend = &node->bends[k];
        pose->pull[bend->i] = yk_v3_axpy(amplitude[bend->j], bend->value, pose->pull[bend->i]);
        position = yk_v3_axpy(0.5 * amplitude[bend->i] * amplitude[bend->j], bend->value, position);
    }

    pose->position = position;
    yk_vec3 relative = {0, 0, 0};
    for (int i = 0; i < modes; i++) {
        if (has(node->moves, i))
            relative = yk_v3_axpy(rate[i], pose->pull[i], relative);
    }

    /* From the axes of the frame to global ones. */
    yk_vec3 arm = yk_m3_apply(axes, position);
    yk_vec3 velocity = yk_v3_add(yk_m3_apply(axes, relative), yk_v3_cross(w, arm));
    placed->position = yk_v3_add(frame->position, arm);
    placed->velocity = yk_v3_add(frame->velocity, velocity);
    placed->rotation = axes;
    placed->angular_velocity = w;
    if (!node->rotation)
        return;

    /* Its rotation relative to the frame. */
    pose->rotation = yk_rotation_of(rotation_of(node, modes, amplitude));
    yk_vec3 spin = yk_rotation_tangent(&pose->rotation, rotation_of(node, modes, rate));
    placed->rotation = yk_m3_mul(axes, yk_q_matrix(pose->rotation.quaternion));
    placed->angular_velocity = yk_v3_add(w, yk_m3_apply(axes, spin));
}

static void put_column(double *jacobian, int size, int row, int column, yk_vec3 v)
{
    jacobian[size * row + column] = v.x;
    jacobian[size * (row + 1) + column] = v.y;
    jacobian[size * (row + 2) + column] = v.z;
}

void yk_ffrf_node_jacobian(const yk_ffrf_node *node, int modes, const yk_frame *frame,
                           const yk_ffrf_pose *pose, double *jacobian)
{
    int size = 6 + modes;
    const yk_mat3 axes = frame->rotation;
    const yk_mat3 unit = yk_m3_identity();

    memset(jacobian, 0, 6 * (size_t)size * sizeof *jacobian);

    /* As for a rigid body. */
    yk_mat3 lever = yk_m3_skew(yk_v3_neg(yk_m3_apply(axes, pose->position)));
    for (int j = 0; j < 3; j++) {
        put_column(jacobian, size, 0, j, yk_m3_column(&unit, j));
        put_column(jacobian, size, 0, 3 + j, yk_m3_column(&lever, j));
        put_column(jacobian, size, 3, 3 + j, yk_m3_column(&unit, j));
    }

    /* The modes. */
    for (int i = 0; i < modes; i++) {
        put_column(jacobian, size, 0, 6 + i, yk_m3_apply(axes, pose->pull[i]));
        if (!node->rotation)
            continue;

        yk_vec3 spin = yk_rotation_tangent(&pose->rotation, node->rotation[i]);
        put_column(jacobian, size, 3, 6 + i, yk_m3_apply(axes, spin));
    }
}

yk_vec3 yk_ffrf_node_spread(const yk_ffrf_node *node, int modes, const yk_frame *frame,
                            const yk_ffrf_pose *pose, yk_vec3 force, yk_vec3 torque, double *modal)
{
    const yk_mat3 axes = frame->rotation;
    yk_vec3 local_force = yk_m3_apply_transposed(axes, force);
    yk_vec3 twist = yk_m3_apply_transposed(axes, torque);

    /* From torque to load on the rotation vector: the transposed tangent. */
    if (node->rotation) {
        const yk_rotation *rotation = &pose->rotation;
        yk_vec3 once = yk_v3_cross(rotation->phi, twist);
        yk_vec3 twice = yk_v3_cross(rotation->phi, once);
        twist = yk_v3_axpy(rotation->q, twice, yk_v3_axpy(-rotation->p, once, twist));
    }

    for (int i = 0; i < modes; i++) {
        if (has(node->moves, i))
            modal[i] += yk_v3_dot(local_force, pose->pull[i]);
        if (node->rotation && has(node->rotates, i))
            modal[i] += yk_v3_dot(twist, node->rotation[i]);
    }

    return yk_v3_add(torque, yk_v3_cross(yk_m3_apply(axes, pose->position), force));
}

void yk_ffrf_node_bias(const yk_ffrf_node *node, int modes, const yk_frame *frame,
                       const double *amplitude, const double *rate, const yk_ffrf_pose *pose,
                       yk_vec3 *acceleration, yk_vec3 *angular_acceleration)
{
    const yk_mat3 axes = frame->rotation;
    yk_vec3 w = frame->angular_velocity;
    yk_vec3 arm = yk_m3_apply(axes, pose->position);

    /* w x (w x r + 2 u') + g_ij p_i' p_j' */
    yk_vec3 velocity = {0, 0, 0};
    yk_vec3 curve = {0, 0, 0};
    for (int i = 0; i < modes; i++)
        velocity = yk_v3_axpy(rate[i], pose->pull[i], velocity);
    for (int k = 0; k < node->bend_count; k++) {
        const yk_ffrf_bend *bend = &node->bends[k];
        curve = yk_v3_axpy(rate[bend->i] * rate[bend->j], bend->value, curve);
    }

    yk_vec3 relative = yk_m3_apply(axes, velocity);
    yk_vec3 swing = yk_v3_cross(w, yk_v3_axpy(2, relative, yk_v3_cross(w, arm)));
    *acceleration = yk_v3_add(swing, yk_m3_apply(axes, curve));

    /* w x (T theta') + T' theta' */
    *angular_acceleration = yk_v3(0, 0, 0);
    if (!node->rotation)
        return;

    yk_vec3 theta = rotation_of(node, modes, amplitude);
    yk_vec3 theta_rate = rotation_of(node, modes, rate);
    yk_vec3 spin = yk_m3_apply(axes, yk_rotation_tangent(&pose->rotation, theta_rate));
    yk_mat3 change = yk_so3_left_tangent_rate(theta, theta_rate);
    yk_vec3 rotating = yk_m3_apply(axes, yk_m3_apply(change, theta_rate));
    *angular_acceleration = yk_v3_add(yk_v3_cross(w, spin), rotating);
}

/* jacobian^T load = (F, arm x F + T, F.R s_i + T.R tangent theta_i); R rotates with the frame, the
 * arm with both. */
void yk_ffrf_node_stiffness(const yk_ffrf_node *node, int modes, const yk_frame *frame,
                            const double *amplitude, const yk_ffrf_pose *pose, yk_vec3 force,
                            yk_vec3 torque, double scale, double *tangent)
{
    int size = 6 + modes;
    const yk_mat3 axes = frame->rotation;
    yk_vec3 arm = yk_m3_apply(axes, pose->position);

    /* By the rotation of the frame: (d x arm) x F = (arm F^T - arm.F I) d */
    yk_mat3 lever = yk_m3_outer(arm, force);
    double dot = yk_v3_dot(arm, force);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double entry = lever.m[i][j] - (i == j ? dot : 0);
            tangent[size * (3 + i) + 3 + j] += scale * entry;
        }
    }

    /* The torque of the force by the modes, and the modes by the rotation: F.(d x s) = d.(s x F) */
    for (int i = 0; i < modes; i++) {
        yk_vec3 s = yk_m3_apply(axes, pose->pull[i]);
        yk_vec3 theta = {0, 0, 0};

        if (node->rotation)
            theta = yk_m3_apply(axes, yk_rotation_tangent(&pose->rotation, node->rotation[i]));

        yk_vec3 twist = yk_v3_scale(scale, yk_v3_cross(s, force));
        tangent[size * 3 + 6 + i] += twist.x;
        tangent[size * 4 + 6 + i] += twist.y;
        tangent[size * 5 + 6 + i] += twist.z;

        yk_vec3 rotated = yk_v3_add(yk_v3_cross(s, force), yk_v3_cross(theta, torque));
        double *row = &tangent[size * (6 + i) + 3];
        row[0] += scale * rotated.x;
        row[1] += scale * rotated.y;
        row[2] += scale * rotated.z;
    }

    /* Modes by modes: the shapes of second order. */
    yk_vec3 local_force = yk_m3_apply_transposed(axes, force);
    for (int k = 0; k < node->bend_count; k++) {
        const yk_ffrf_bend *bend = &node->bends[k];
        tangent[size * (6 + bend->i) + 6 + bend->j] += scale * yk_v3_dot(local_force, bend->value);
    }

    /* T . R tangent(theta) theta_i by theta_j */
    if (!node->rotation || !(yk_v3_norm2(torque) > 0))
        return;

    yk_vec3 local_torque = yk_m3_apply_transposed(axes, torque);
    yk_vec3 theta = rotation_of(node, modes, amplitude);
    for (int j = 0; j < modes; j++) {
        if (yk_v3_norm2(node->rotation[j]) == 0)
            continue;

        yk_mat3 moved = yk_so3_left_tangent_rate(theta, node->rotation[j]);
        yk_vec3 load = yk_m3_apply_transposed(moved, local_torque);
        for (int i = 0; i < modes; i++)
            tangent[size * (6 + i) + 6 + j] += scale * yk_v3_dot(load, node->rotation[i]);
    }
}
