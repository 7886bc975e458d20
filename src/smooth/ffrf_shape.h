/* Between ffrf.c and ffrf_tangent.c: a floating-frame body in one shape and one state of motion,
 * in its own axes. */
#ifndef YK_SMOOTH_FFRF_SHAPE_H
#define YK_SMOOTH_FFRF_SHAPE_H

#include "smooth/ffrf.h"

/* The vector of the antisymmetric part of int u s^T: int u x s. */
static inline yk_vec3 yk_ffrf_axial(const yk_mat3 *y)
{
    return yk_v3(y->m[1][2] - y->m[2][1], y->m[2][0] - y->m[0][2], y->m[0][1] - y->m[1][0]);
}

/* tr(Y) w - (Y + Y^T) w / 2: half the derivative of the inertia tensor, applied to w. */
static inline yk_vec3 yk_ffrf_half_tensor(const yk_mat3 *y, yk_vec3 w)
{
    double trace = y->m[0][0] + y->m[1][1] + y->m[2][2];
    yk_vec3 sum = yk_v3_add(yk_m3_apply(*y, w), yk_m3_apply_transposed(*y, w));
    return yk_v3_axpy(-0.5, sum, yk_v3_scale(trace, w));
}

static inline yk_mat3 yk_ffrf_tensor(const yk_mat3 *second)
{
    double trace = second->m[0][0] + second->m[1][1] + second->m[2][2];
    return yk_m3_sub(yk_m3_diagonal(trace, trace, trace), *second);
}

/* Inertia that belongs to a deformed shape, and its derivatives by the amplitudes. */
typedef struct yk_ffrf_shape {
    yk_vec3 moment;
    yk_mat3 tensor;
    yk_vec3 shift[YK_FFRF_MODES_MAX];  /* dS/dp_i */
    yk_vec3 spin[YK_FFRF_MODES_MAX];   /* Gamma_i */
    yk_mat3 spread[YK_FFRF_MODES_MAX]; /* Y_i */
} yk_ffrf_shape;

/* Motion as the floating frame sees it, and what rates of the amplitudes add up to. */
typedef struct yk_ffrf_seen {
    yk_vec3 v, w, g;
    yk_vec3 drift;                   /* sum of dS/dp_i p_i' */
    yk_vec3 swirl;                   /* sum of Gamma_i p_i' */
    yk_mat3 flow;                    /* sum of Y_i p_i' */
    yk_mat3 rate[YK_FFRF_MODES_MAX]; /* sum over j of pair_ij p_j' */
    yk_vec3 bend[YK_FFRF_MODES_MAX]; /* sum over j of curve_ij p_j' */
    yk_vec3 gyro[YK_FFRF_MODES_MAX]; /* sum over j of gyro_ij p_j' */
} yk_ffrf_seen;

/* Amplitudes NULL: undeformed. */
void yk_ffrf_shape_at(const yk_ffrf *body, const double *amplitude, yk_ffrf_shape *at);
void yk_ffrf_see(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity,
                 const yk_ffrf_shape *at, yk_ffrf_seen *s);

#endif
