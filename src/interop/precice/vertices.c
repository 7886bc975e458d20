/* Vertices that move with a marker as a rigid body.
 *
 * With p and Q the position of the marker and its rotation from the reference, a_i the arm from the
 * marker to vertex i in the reference and x_i the vertex there:
 *
 *   displacement   u_i = p + Q a_i - x_i             velocity   v_i = v + w x Q a_i
 *   wrench         F = sum f_i                       torque     T = sum Q a_i x f_i
 *
 * In the other direction, a wrench is converted to the smallest forces with this resultant: about
 * the mean of the vertices, with r_i the arms from there and J = sum (|r_i|^2 - r_i r_i^T),
 *
 *   f_i = F / n + (J^-1 T) x r_i
 *
 * and displacements are converted to the motion that fits them best in the least-squares sense.
 * Power is the same on both sides: sum f_i . v_i = F . v + T . w. */
#include "interop/precice/partner.h"

#include "math/so3.h"

/* Determinant of J relative to that of a sphere with the same trace, below which the vertices are
 * on a line within rounding errors. */
static const double ON_A_LINE = 1e-12;

/* Rotation vector (rad) at which a fit has converged, and largest number of iterations. */
static const double FIT_TOLERANCE = 1e-14;
enum { FIT_ITERATIONS = 100 };

static yk_vec3 arm(const yk_vertices *v, int i)
{
    return yk_v3_sub(v->points[i], v->position);
}

/* From the reference to now. */
static yk_quat rotation(const yk_vertices *v, const yk_motion *motion)
{
    return yk_q_mul(motion->orientation, yk_q_conjugate(v->orientation));
}

static yk_vec3 get(const yk_vertices *v, const double *values, int i)
{
    const double *at = values + (size_t)i * (size_t)v->dimensions;
    double z = 0;
    if (v->dimensions == 3)
        z = at[2];
    return yk_v3(at[0], at[1], z);
}

static void set(const yk_vertices *v, double *values, int i, yk_vec3 value)
{
    double *at = values + (size_t)i * (size_t)v->dimensions;
    at[0] = value.x;
    at[1] = value.y;
    if (v->dimensions == 3)
        at[2] = value.z;
}

void yk_vertices_prepare(yk_vertices *v)
{
    v->mean = yk_v3(0, 0, 0);
    for (int i = 0; i < v->count; i++)
        v->mean = yk_v3_axpy(1.0 / v->count, arm(v, i), v->mean);

    /* Inertia of unit masses at the vertices: its inverse distributes a torque over them. */
    yk_mat3 sum = yk_m3_zero();
    for (int i = 0; i < v->count; i++) {
        yk_vec3 r = yk_v3_sub(arm(v, i), v->mean);
        double square = yk_v3_norm2(r);
        yk_m3_add_to(&sum, 1, yk_m3_diagonal(square, square, square));
        yk_m3_add_to(&sum, -1, yk_m3_outer(r, r));
    }

    /* In a plane the only rotation is that about z. */
    v->inverse = yk_m3_zero();
    if (v->dimensions == 2) {
        v->rotates = sum.m[2][2] > 0;
        if (v->rotates)
            v->inverse.m[2][2] = 1 / sum.m[2][2];
        return;
    }

    /* On a line, or at one point, nothing determines a rotation about it. */
    double size = (sum.m[0][0] + sum.m[1][1] + sum.m[2][2]) / 3;
    v->rotates = yk_m3_determinant(sum) > ON_A_LINE * size * size * size;
    if (v->rotates)
        v->inverse = yk_m3_inverse(sum);
}

void yk_vertices_displace(const yk_vertices *v, const yk_motion *motion, double *displacements)
{
    /* u_i = p + Q a_i - x_i. */
    yk_quat q = rotation(v, motion);
    for (int i = 0; i < v->count; i++) {
        yk_vec3 now = yk_v3_add(motion->position, yk_q_rotate(q, arm(v, i)));
        set(v, displacements, i, yk_v3_sub(now, v->points[i]));
    }
}

void yk_vertices_move(const yk_vertices *v, const yk_motion *motion, double *velocities)
{
    /* v_i = v + w x Q a_i. */
    yk_quat q = rotation(v, motion);
    for (int i = 0; i < v->count; i++) {
        yk_vec3 around = yk_v3_cross(motion->angular_velocity, yk_q_rotate(q, arm(v, i)));
        set(v, velocities, i, yk_v3_add(motion->velocity, around));
    }
}

yk_wrench yk_vertices_reduce(const yk_vertices *v, const yk_motion *motion, const double *forces)
{
    /* F = sum f_i and T = sum Q a_i x f_i. */
    yk_quat q = rotation(v, motion);
    yk_wrench wrench = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < v->count; i++) {
        yk_vec3 force = get(v, forces, i);
        yk_vec3 torque = yk_v3_cross(yk_q_rotate(q, arm(v, i)), force);
        wrench.force = yk_v3_add(wrench.force, force);
        wrench.torque = yk_v3_add(wrench.torque, torque);
    }

    return wrench;
}

void yk_vertices_distribute(const yk_vertices *v, const yk_motion *motion, const yk_wrench *wrench,
                            double *forces)
{
    /* The torque about the mean of the vertices, and J^-1 times it, in present axes. */
    yk_quat q = rotation(v, motion);
    yk_vec3 mean = yk_q_rotate(q, v->mean);
    yk_vec3 torque = yk_v3_sub(wrench->torque, yk_v3_cross(mean, wrench->force));
    yk_vec3 spin = yk_q_rotate(q, yk_m3_apply(v->inverse, yk_q_rotate_back(q, torque)));

    /* f_i = F / n + (J^-1 T) x r_i. */
    for (int i = 0; i < v->count; i++) {
        yk_vec3 r = yk_q_rotate(q, yk_v3_sub(arm(v, i), v->mean));
        yk_vec3 force = yk_v3_axpy(1.0 / v->count, wrench->force, yk_v3_cross(spin, r));
        set(v, forces, i, force);
    }
}

void yk_vertices_fit(const yk_vertices *v, const double *displacements, yk_motion *motion)
{
    /* The present mean of the vertices. */
    yk_vec3 mean = yk_v3_add(v->position, v->mean);
    for (int i = 0; i < v->count; i++)
        mean = yk_v3_axpy(1.0 / v->count, get(v, displacements, i), mean);

    /* Gauss-Newton on SO(3): J rotates with Q, and w = J^-1 sum Q r_i x y_i. */
    yk_quat q = rotation(v, motion);
    for (int n = 0; v->rotates && n < FIT_ITERATIONS; n++) {
        yk_vec3 sum = yk_v3(0, 0, 0);
        for (int i = 0; i < v->count; i++) {
            yk_vec3 r = yk_q_rotate(q, yk_v3_sub(arm(v, i), v->mean));
            yk_vec3 now = yk_v3_add(v->points[i], get(v, displacements, i));
            sum = yk_v3_add(sum, yk_v3_cross(r, yk_v3_sub(now, mean)));
        }

        yk_vec3 change = yk_q_rotate(q, yk_m3_apply(v->inverse, yk_q_rotate_back(q, sum)));
        q = yk_q_unit(yk_q_mul(yk_so3_exp(change), q));
        if (!(yk_v3_norm(change) > FIT_TOLERANCE))
            break;
    }

    /* From the mean of the vertices back to the marker. */
    motion->orientation = yk_q_mul(q, v->orientation);
    motion->position = yk_v3_sub(mean, yk_q_rotate(q, v->mean));
}

void yk_vertices_fit_velocity(const yk_vertices *v, const double *velocities, yk_motion *motion)
{
    /* w = J^-1 sum Q r_i x v_i, and the velocity of the mean. */
    yk_quat q = rotation(v, motion);
    yk_vec3 mean = yk_v3(0, 0, 0);
    yk_vec3 sum = yk_v3(0, 0, 0);
    for (int i = 0; i < v->count; i++) {
        yk_vec3 r = yk_q_rotate(q, yk_v3_sub(arm(v, i), v->mean));
        yk_vec3 velocity = get(v, velocities, i);
        mean = yk_v3_axpy(1.0 / v->count, velocity, mean);
        sum = yk_v3_add(sum, yk_v3_cross(r, velocity));
    }

    motion->angular_velocity = yk_q_rotate(q, yk_m3_apply(v->inverse, yk_q_rotate_back(q, sum)));
    yk_vec3 to_mean = yk_q_rotate(q, v->mean);
    motion->velocity = yk_v3_sub(mean, yk_v3_cross(motion->angular_velocity, to_mean));
}
