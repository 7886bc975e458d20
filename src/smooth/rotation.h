/* Rotation increments of one step: exponential, tangent and inverse tangent of SO(3) applied to
 * vectors, from one set of coefficients. Below half a radian, where almost all steps are, by
 * short series without a call. */
#ifndef YK_SMOOTH_ROTATION_H
#define YK_SMOOTH_ROTATION_H

#include "math/vec3.h"

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
        /* Horner's scheme with the reciprocals written out: divisions would cost more than all
         * the rest. */
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

#endif
