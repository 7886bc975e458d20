/* Vectors, 3 x 3 matrices, quaternions and poses, by value and inline. Matrices are stored by rows. */
#ifndef YK_MATH_VEC3_H
#define YK_MATH_VEC3_H

#include <math.h>
#include <stdbool.h>

#include "yoke/subsystem.h"

#define YK_PI 3.14159265358979323846

typedef struct yk_pose {
    yk_vec3 position;
    yk_quat orientation;
} yk_pose;

static inline yk_vec3 yk_v3(double x, double y, double z)
{
    return (yk_vec3){x, y, z};
}

static inline yk_vec3 yk_v3_add(yk_vec3 a, yk_vec3 b)
{
    return (yk_vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline yk_vec3 yk_v3_sub(yk_vec3 a, yk_vec3 b)
{
    return (yk_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline yk_vec3 yk_v3_scale(double s, yk_vec3 a)
{
    return (yk_vec3){s * a.x, s * a.y, s * a.z};
}

/* a + s b */
static inline yk_vec3 yk_v3_axpy(double s, yk_vec3 b, yk_vec3 a)
{
    return (yk_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline yk_vec3 yk_v3_neg(yk_vec3 a)
{
    return (yk_vec3){-a.x, -a.y, -a.z};
}

static inline double yk_v3_dot(yk_vec3 a, yk_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline yk_vec3 yk_v3_cross(yk_vec3 a, yk_vec3 b)
{
    return (yk_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double yk_v3_norm2(yk_vec3 a)
{
    return yk_v3_dot(a, a);
}

static inline double yk_v3_norm(yk_vec3 a)
{
    return sqrt(yk_v3_norm2(a));
}

/* a / |a|; a zero vector is unchanged. */
static inline yk_vec3 yk_v3_unit(yk_vec3 a)
{
    double norm = yk_v3_norm(a);
    return norm > 0 ? yk_v3_scale(1 / norm, a) : a;
}

static inline bool yk_v3_finite(yk_vec3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

/* Two unit vectors that form a right-handed frame with the unit vector n: n x u = w. */
static inline void yk_v3_tangents(yk_vec3 n, yk_vec3 *u, yk_vec3 *w)
{
    yk_vec3 seed = fabs(n.x) < 0.6 ? yk_v3(1, 0, 0) : yk_v3(0, 1, 0);
    *u = yk_v3_unit(yk_v3_sub(seed, yk_v3_scale(yk_v3_dot(seed, n), n)));
    *w = yk_v3_cross(n, *u);
}

static inline yk_mat3 yk_m3_zero(void)
{
    return (yk_mat3){{{0}}};
}

static inline yk_mat3 yk_m3_diagonal(double a, double b, double c)
{
    return (yk_mat3){{{a, 0, 0}, {0, b, 0}, {0, 0, c}}};
}

static inline yk_mat3 yk_m3_identity(void)
{
    return yk_m3_diagonal(1, 1, 1);
}

/* The matrix of a x. */
static inline yk_mat3 yk_m3_skew(yk_vec3 a)
{
    return (yk_mat3){{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}};
}

static inline yk_mat3 yk_m3_columns(yk_vec3 a, yk_vec3 b, yk_vec3 c)
{
    return (yk_mat3){{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
}

static inline yk_vec3 yk_m3_row(const yk_mat3 *a, int i)
{
    return (yk_vec3){a->m[i][0], a->m[i][1], a->m[i][2]};
}

static inline yk_vec3 yk_m3_column(const yk_mat3 *a, int j)
{
    return (yk_vec3){a->m[0][j], a->m[1][j], a->m[2][j]};
}

static inline yk_mat3 yk_m3_add(yk_mat3 a, yk_mat3 b)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a.m[i][j] += b.m[i][j];
    return a;
}

static inline yk_mat3 yk_m3_sub(yk_mat3 a, yk_mat3 b)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a.m[i][j] -= b.m[i][j];
    return a;
}

static inline yk_mat3 yk_m3_scale(double s, yk_mat3 a)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a.m[i][j] *= s;
    return a;
}

static inline yk_mat3 yk_m3_transpose(yk_mat3 a)
{
    yk_mat3 t;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            t.m[i][j] = a.m[j][i];
    return t;
}

static inline yk_mat3 yk_m3_mul(yk_mat3 a, yk_mat3 b)
{
    yk_mat3 c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
    return c;
}

/* R a R^T: a tensor converted by the rotation R. */
static inline yk_mat3 yk_m3_rotate(yk_mat3 r, yk_mat3 a)
{
    return yk_m3_mul(r, yk_m3_mul(a, yk_m3_transpose(r)));
}

static inline yk_mat3 yk_m3_outer(yk_vec3 a, yk_vec3 b)
{
    return (yk_mat3){{{a.x * b.x, a.x * b.y, a.x * b.z},
                      {a.y * b.x, a.y * b.y, a.y * b.z},
                      {a.z * b.x, a.z * b.y, a.z * b.z}}};
}

/* sum += scale a */
static inline void yk_m3_add_to(yk_mat3 *sum, double scale, yk_mat3 a)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum->m[i][j] += scale * a.m[i][j];
}

/* Matrix of theta -> (theta x u) x w: u w^T - (u.w) 1. */
static inline yk_mat3 yk_m3_rotated_cross(yk_vec3 u, yk_vec3 w)
{
    double dot = u.x * w.x + u.y * w.y + u.z * w.z;
    yk_mat3 rotated = yk_m3_outer(u, w);
    for (int i = 0; i < 3; i++)
        rotated.m[i][i] -= dot;
    return rotated;
}

static inline yk_vec3 yk_m3_apply(yk_mat3 a, yk_vec3 v)
{
    return (yk_vec3){a.m[0][0] * v.x + a.m[0][1] * v.y + a.m[0][2] * v.z,
                     a.m[1][0] * v.x + a.m[1][1] * v.y + a.m[1][2] * v.z,
                     a.m[2][0] * v.x + a.m[2][1] * v.y + a.m[2][2] * v.z};
}

/* a^T v */
static inline yk_vec3 yk_m3_apply_transposed(yk_mat3 a, yk_vec3 v)
{
    return (yk_vec3){a.m[0][0] * v.x + a.m[1][0] * v.y + a.m[2][0] * v.z,
                     a.m[0][1] * v.x + a.m[1][1] * v.y + a.m[2][1] * v.z,
                     a.m[0][2] * v.x + a.m[1][2] * v.y + a.m[2][2] * v.z};
}

static inline double yk_m3_determinant(yk_mat3 a)
{
    return yk_v3_dot(yk_m3_row(&a, 0), yk_v3_cross(yk_m3_row(&a, 1), yk_m3_row(&a, 2)));
}

/* The inverse of a regular matrix. The caller knows that it is regular: inertias, tangents of
 * SO(3). */
static inline yk_mat3 yk_m3_inverse(yk_mat3 a)
{
    yk_vec3 r0 = yk_m3_row(&a, 0), r1 = yk_m3_row(&a, 1), r2 = yk_m3_row(&a, 2);
    double scale = 1 / yk_m3_determinant(a);
    return yk_m3_scale(
        scale, yk_m3_columns(yk_v3_cross(r1, r2), yk_v3_cross(r2, r0), yk_v3_cross(r0, r1)));
}

static inline yk_quat yk_q_identity(void)
{
    return (yk_quat){1, 0, 0, 0};
}

/* The rotation b followed by a. */
static inline yk_quat yk_q_mul(yk_quat a, yk_quat b)
{
    return (yk_quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                     a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                     a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                     a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

static inline yk_quat yk_q_conjugate(yk_quat q)
{
    return (yk_quat){q.w, -q.x, -q.y, -q.z};
}

static inline double yk_q_norm(yk_quat q)
{
    return sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
}

static inline yk_quat yk_q_unit(yk_quat q)
{
    double scale = 1 / yk_q_norm(q);
    return (yk_quat){scale * q.w, scale * q.x, scale * q.y, scale * q.z};
}

static inline yk_vec3 yk_q_rotate(yk_quat q, yk_vec3 v)
{
    yk_vec3 axis = {q.x, q.y, q.z};
    yk_vec3 twice = yk_v3_scale(2, yk_v3_cross(axis, v));
    return yk_v3_add(yk_v3_axpy(q.w, twice, v), yk_v3_cross(axis, twice));
}

static inline yk_vec3 yk_q_rotate_back(yk_quat q, yk_vec3 v)
{
    return yk_q_rotate(yk_q_conjugate(q), v);
}

static inline yk_mat3 yk_q_matrix(yk_quat q)
{
    double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    return (yk_mat3){{{1 - 2 * (yy + zz), 2 * (xy - wz), 2 * (xz + wy)},
                      {2 * (xy + wz), 1 - 2 * (xx + zz), 2 * (yz - wx)},
                      {2 * (xz - wy), 2 * (yz + wx), 1 - 2 * (xx + yy)}}};
}

#endif
