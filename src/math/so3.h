/* The rotation group SO(3): exponential, logarithm, their tangents.
 *
 * exp(theta) rotates by |theta| radians about theta. All functions have their correct limits at
 * theta = 0 (series below a small angle) and the logarithm is accurate up to and at |theta| = pi.
 *
 *   d/dt exp(theta(t)) = skew(omega) exp(theta),  omega = left_tangent(theta) theta'
 *
 * with the angular velocity omega in global axes. */
#ifndef YK_MATH_SO3_H
#define YK_MATH_SO3_H

#include "math/vec3.h"

yk_quat yk_so3_exp(yk_vec3 theta);
/* Rotation vector of shortest length, |theta| <= pi; q and -q give the same. */
yk_vec3 yk_so3_log(yk_quat q);

yk_mat3 yk_so3_exp_matrix(yk_vec3 theta);
/* The matrix need be orthogonal to rounding only. */
yk_vec3 yk_so3_log_matrix(yk_mat3 r);
/* Unit quaternion of a rotation matrix, w >= 0. */
yk_quat yk_so3_quat(yk_mat3 r);

/* T(theta) with omega = T theta', and its inverse (singular at |theta| = 2 pi). */
yk_mat3 yk_so3_left_tangent(yk_vec3 theta);
yk_mat3 yk_so3_left_tangent_inverse(yk_vec3 theta);
/* d/dt of T(theta(t)) for given theta and theta': for angular accelerations, alpha = T' theta' +
 * T theta''. */
yk_mat3 yk_so3_left_tangent_rate(yk_vec3 theta, yk_vec3 theta_rate);

#endif
