/* Rotation vectors: exponential, tangent and inverse tangent of SO(3) for time steps, and their
 * derivatives for beams. */
#ifndef YK_MULTIBODY_ROTATION_H
#define YK_MULTIBODY_ROTATION_H

#include "math/vec3.h"

/* Increments of a step ------------------------------------------------------------------------- */

/* Rotation increments of one step: exponential, tangent and inverse tangent of SO(3) applied to
 * vectors, from one set of coefficients. Below half a radian, which covers almost all steps, by
 * short series without a function call. */
typedef struct yk_rotation {
    yk_vec3 phi;
    yk_quat quaternion; /* exp(phi) */
    double p, q;        /* T = I + p S + q S^2, S = skew(phi) */
    double r;           /* T^-1 = I - S/2 + r S^2 */
} yk_rotation;

static inline yk_rotation yk_rotation_of(yk_vec3 phi)
{
    double x = yk_v3_norm2(phi);
    yk_rotation rotation = {.phi = phi};
    double half; /* sin(|phi|/2) / |phi| */
    if (x < 0.25) {
        /* Horner's scheme with the reciprocals written out: divisions would dominate the cost. */
        double y = 0.25 * x;
        half =
            0.5 *
            (1 - y * (1.0 / 6) *
                     (1 - y * (1.0 / 20) *
                              (1 - y * (1.0 / 42) * (1 - y * (1.0 / 72) * (1 - y * (1.0 / 110))))));
        rotation.quaternion.w =
            1 - y * (1.0 / 2) *
                    (1 - y * (1.0 / 12) *
                             (1 - y * (1.0 / 30) *
                                      (1 - y * (1.0 / 56) *
                                               (1 - y * (1.0 / 90) * (1 - y * (1.0 / 132))))));
        rotation.q =
            (1.0 / 6) *
            (1 - x * (1.0 / 20) *
                     (1 - x * (1.0 / 42) *
                              (1 - x * (1.0 / 72) *
                                       (1 - x * (1.0 / 110) *
                                                (1 - x * (1.0 / 156) * (1 - x * (1.0 / 210)))))));

        /* (1 - (|phi|/2) cot(|phi|/2)) / x by the Bernoulli numbers */
        rotation.r =
            1.0 / 12 +
            x * (1.0 / 720 +
                 x * (1.0 / 30240 +
                      x * (1.0 / 1209600 + x * (1.0 / 47900160 + x * (691.0 / 1307674368000 +
                                                                      x * (1.0 / 74724249600))))));
    } else {
        double angle = sqrt(x), sine = sin(0.5 * angle);
        half = sine / angle;
        rotation.quaternion.w = cos(0.5 * angle);
        rotation.q = (1 - 2 * half * rotation.quaternion.w) / x;
        rotation.r = (1 - 0.5 * angle * rotation.quaternion.w / sine) / x;
    }
    rotation.p = 2 * half * half;
    rotation.quaternion.x = half * phi.x;
    rotation.quaternion.y = half * phi.y;
    rotation.quaternion.z = half * phi.z;
    return rotation;
}

/* T(phi) a: angular velocity from the rate of phi. */
static inline yk_vec3 yk_rotation_tangent(const yk_rotation *rotation, yk_vec3 a)
{
    yk_vec3 once = yk_v3_cross(rotation->phi, a), twice = yk_v3_cross(rotation->phi, once);
    return yk_v3_axpy(rotation->q, twice, yk_v3_axpy(rotation->p, once, a));
}

/* T(phi)^-1 a */
static inline yk_vec3 yk_rotation_tangent_inverse(const yk_rotation *rotation, yk_vec3 a)
{
    yk_vec3 once = yk_v3_cross(rotation->phi, a), twice = yk_v3_cross(rotation->phi, once);
    return yk_v3_axpy(rotation->r, twice, yk_v3_axpy(-0.5, once, a));
}

/* Tangents and their derivatives --------------------------------------------------------------- */

/* Tangents of the exponential map of SO(3) and their derivatives at one rotation vector psi, from
 * one set of coefficients. Beams need many of them.
 *
 *   T(psi) a = a + c2 psi x a + c3 psi x (psi x a)
 *
 * with Stumpff's functions c_k(x) = sum over i of (-x)^i / (2 i + k)! of x = psi.psi. They satisfy
 *
 *   c_k = 1/k! - x c_(k+2)      dc_k/dx = (k c_(k+2) - c_(k+1)) / 2
 *
 * so the two highest are computed from their series, the others by recurrence without cancellation,
 * and no derivative needs a division. The series is accurate to rounding errors up to psi = pi, the
 * largest angle that the logarithm returns. */
typedef struct yk_tangent {
    yk_vec3 psi;
    double x;
    double c[8];
} yk_tangent;

/* 1/k! (1 - x/((k+1)(k+2)) (1 - x/((k+3)(k+4)) (...))) */
static inline double yk_tangent_series(int k, int terms, double inverse_factorial, double x)
{
    double sum = 1;
    for (int j = k + 2 * terms - 1; j > k; j -= 2)
        sum = 1 - x * (1.0 / (double)(j * (j + 1))) * sum;
    return inverse_factorial * sum;
}

static inline yk_tangent yk_tangent_at(yk_vec3 psi)
{
    yk_tangent t = {.psi = psi, .x = yk_v3_norm2(psi)};
    if (t.x < 0.25) {
        t.c[6] = yk_tangent_series(6, 6, 1.0 / 720, t.x);
        t.c[7] = yk_tangent_series(7, 6, 1.0 / 5040, t.x);
    } else {
        t.c[6] = yk_tangent_series(6, 14, 1.0 / 720, t.x);
        t.c[7] = yk_tangent_series(7, 14, 1.0 / 5040, t.x);
    }
    t.c[5] = 1.0 / 120 - t.x * t.c[7];
    t.c[4] = 1.0 / 24 - t.x * t.c[6];
    t.c[3] = 1.0 / 6 - t.x * t.c[5];
    t.c[2] = 1.0 / 2 - t.x * t.c[4];
    t.c[1] = 1 - t.x * t.c[3];
    t.c[0] = 1 - t.x * t.c[2];
    return t;
}

/* s I + p skew(psi) + q psi psi^T */
static inline yk_mat3 yk_tangent_matrix(yk_vec3 psi, double s, double p, double q)
{
    yk_vec3 u = yk_v3_scale(q, psi);
    yk_vec3 w = yk_v3_scale(p, psi);
    double xy = u.x * psi.y;
    double xz = u.x * psi.z;
    double yz = u.y * psi.z;

    return (yk_mat3){{{s + u.x * psi.x, xy - w.z, xz + w.y},
                      {xy + w.z, s + u.y * psi.y, yz - w.x},
                      {xz - w.y, yz + w.x, s + u.z * psi.z}}};
}

/* exp(psi) */
static inline yk_mat3 yk_tangent_exp(const yk_tangent *t)
{
    return yk_tangent_matrix(t->psi, t->c[0], t->c[1], t->c[2]);
}

/* T */
static inline yk_mat3 yk_tangent_forward(const yk_tangent *t)
{
    return yk_tangent_matrix(t->psi, t->c[1], t->c[2], t->c[3]);
}

/* T^-1 = I - skew/2 + q skew^2 */
static inline yk_mat3 yk_tangent_inverse(const yk_tangent *t)
{
    double q = (t->c[3] - 2 * t->c[4]) / (2 * t->c[2]);
    return yk_tangent_matrix(t->psi, 1 - q * t->x, -0.5, q);
}

/* T^T a + T'^T m, T' the derivative of T along b, and T^T m. */
static inline void yk_tangent_back_pair(const yk_tangent *t, yk_vec3 b, yk_vec3 a, yk_vec3 m,
                                        yk_vec3 *both, yk_vec3 *back)
{
    double c2 = t->c[2];
    double c3 = t->c[3];
    double dot = yk_v3_dot(t->psi, b);
    double d2 = dot * (2 * t->c[4] - c3);
    double d3 = dot * (3 * t->c[5] - t->c[4]);

    /* T^T m = m - c2 psi x m + c3 psi x (psi x m) */
    yk_vec3 once = yk_v3_cross(t->psi, m);
    yk_vec3 twice = yk_v3_cross(t->psi, once);
    *back = yk_v3_axpy(c3, twice, yk_v3_axpy(-c2, once, m));

    /* The same of a, and the derivatives of c2, c3 and psi along b. */
    yk_vec3 slope = yk_v3_cross(b, m);
    yk_vec3 inner = yk_v3_axpy(c3, yk_v3_add(yk_v3_cross(t->psi, a), slope), yk_v3_scale(-c2, a));
    yk_vec3 outer = yk_v3_axpy(-c2, slope, yk_v3_axpy(-d2, once, yk_v3_axpy(d3, twice, a)));
    *both = yk_v3_axpy(c3, yk_v3_cross(b, once), yk_v3_add(yk_v3_cross(t->psi, inner), outer));
}

/* T(psi)^-T v = v + psi x v / 2 + q psi x (psi x v); q by the Bernoulli numbers, or beyond their
 * range as above. */
static inline yk_vec3 yk_back_inverse(yk_vec3 psi, yk_vec3 v)
{
    double x = yk_v3_norm2(psi);
    double q;
    if (x < 0.25) {
        q = 1.0 / 12 +
            x * (1.0 / 720 +
                 x * (1.0 / 30240 +
                      x * (1.0 / 1209600 + x * (1.0 / 47900160 + x * (691.0 / 1307674368000 +
                                                                      x * (1.0 / 74724249600))))));
    } else {
        yk_tangent t = yk_tangent_at(psi);
        q = (t.c[3] - 2 * t.c[4]) / (2 * t.c[2]);
    }

    yk_vec3 once = yk_v3_cross(psi, v);
    yk_vec3 twice = yk_v3_cross(psi, once);
    return yk_v3_axpy(q, twice, yk_v3_axpy(0.5, once, v));
}

/* The same at -psi, where T is the transposed of T at psi. */
static inline yk_tangent yk_tangent_reversed(const yk_tangent *t)
{
    yk_tangent reversed = *t;
    reversed.psi = yk_v3_neg(t->psi);
    return reversed;
}

/* d/de T(psi + e b) at e = 0, a matrix */
static inline yk_mat3 yk_tangent_along(const yk_tangent *t, yk_vec3 b)
{
    double dot = yk_v3_dot(t->psi, b);
    double d2 = dot * (2 * t->c[4] - t->c[3]);
    double d3 = dot * (3 * t->c[5] - t->c[4]);

    /* Derivatives of the coefficients, then of psi. */
    yk_mat3 sum = yk_tangent_matrix(t->psi, -2 * dot * t->c[3] - d3 * t->x, d2, d3);
    yk_vec3 w = yk_v3_scale(t->c[2], b);
    yk_mat3 outer = yk_m3_outer(yk_v3_scale(t->c[3], b), t->psi);
    yk_mat3 skew = yk_m3_skew(w);

    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            sum.m[i][j] += skew.m[i][j] + outer.m[i][j] + outer.m[j][i];
    }

    return sum;
}

/* d(T(psi) a)/dpsi, a matrix; yk_tangent_by_psi(t, a) b = yk_tangent_along(t, b) a */
static inline yk_mat3 yk_tangent_by_psi(const yk_tangent *t, yk_vec3 a)
{
    yk_vec3 cross = yk_v3_cross(t->psi, a);
    yk_vec3 double_cross = yk_v3_cross(t->psi, cross);
    yk_vec3 by_once = yk_v3_scale(2 * t->c[4] - t->c[3], cross);
    yk_vec3 by_twice = yk_v3_scale(3 * t->c[5] - t->c[4], double_cross);
    yk_vec3 radial = yk_v3_add(by_once, by_twice);

    yk_mat3 nested = yk_m3_mul(yk_m3_skew(t->psi), yk_m3_skew(a));
    yk_mat3 sum = yk_m3_outer(radial, t->psi);
    sum = yk_m3_sub(sum, yk_m3_scale(t->c[3], nested));
    return yk_m3_sub(sum, yk_m3_skew(yk_v3_axpy(t->c[3], cross, yk_v3_scale(t->c[2], a))));
}

/* d(T'(psi; b) a)/dpsi, the second derivative of T(psi) a with one direction b given, a matrix */
static inline yk_mat3 yk_tangent_second(const yk_tangent *t, yk_vec3 a, yk_vec3 b)
{
    const double *c = t->c;
    double d2 = 2 * c[4] - c[3];
    double d3 = 3 * c[5] - c[4];
    double e2 = 8 * c[6] - 5 * c[5] + c[4];
    double e3 = 15 * c[7] - 7 * c[6] + c[5];
    double dot = yk_v3_dot(t->psi, b);

    /* Products of psi, b and a. */
    yk_vec3 psi_a = yk_v3_cross(t->psi, a);
    yk_vec3 b_a = yk_v3_cross(b, a);
    yk_vec3 psi_psi_a = yk_v3_cross(t->psi, psi_a);

    yk_vec3 mixed = yk_v3_add(yk_v3_cross(b, psi_a), yk_v3_cross(t->psi, b_a));

    /* The coefficients' derivatives along psi and along b ... */
    yk_vec3 first = yk_v3_add(yk_v3_scale(d2, b_a), yk_v3_scale(d3, mixed));
    yk_vec3 second = yk_v3_add(yk_v3_scale(dot * e2, psi_a), yk_v3_scale(dot * e3, psi_psi_a));
    yk_vec3 by_psi = yk_v3_add(first, second);
    yk_vec3 by_b = yk_v3_add(yk_v3_scale(d2, psi_a), yk_v3_scale(d3, psi_psi_a));

    /* ... and those of the vectors. */
    yk_vec3 rotated = yk_v3_axpy(dot * d3, psi_a, yk_v3_scale(dot * d2, a));
    yk_vec3 skewed = yk_v3_add(yk_v3_scale(c[3], b_a), rotated);
    yk_vec3 nested = yk_v3_axpy(dot * d3, t->psi, yk_v3_scale(c[3], b));

    yk_mat3 sum = yk_m3_add(yk_m3_outer(by_psi, t->psi), yk_m3_outer(by_b, b));
    sum = yk_m3_sub(sum, yk_m3_skew(skewed));
    return yk_m3_sub(sum, yk_m3_mul(yk_m3_skew(nested), yk_m3_skew(a)));
}

#endif
