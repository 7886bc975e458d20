/* Forces at a point of body b: drag of a fluid, contact of a sphere with the ground, a tyre on the
 * ground, and a pin in a hole with clearance. Each is a function of the relative motion of two
 * markers. The tangent is computed by central differences, because these laws have many cases.
 *
 *   normal    N = k p^n (1 + d p'), not negative (Hunt and Crossley 1975): continuous at the start
 *             and at the end of a contact. The stored energy is k p^(n+1) / (n+1).
 *   friction  mu N tanh(v / v0) against the slip velocity v
 *   tyre      brush model with a parabolic pressure (Fiala; Pacejka 2012, section 3.2): with the
 *             slips kappa and tan(alpha), s = |(C_k kappa, C_a tan(alpha))| / (mu N), the force is
 *             mu N (1 - (1 - s/3)^3) up to s = 3 and mu N beyond, along this vector
 *   ground    height h(x, y) over the x-y plane of a. The normal force is N (-dh/dx, -dh/dy, 1), the
 *             gradient of the height above the ground, so that a fixed ground does no work. The
 *             length of this vector differs from 1 by half of the square of the slope. */
#ifndef YK_MECHANICS_POINT_FORCE_H
#define YK_MECHANICS_POINT_FORCE_H

#include "mechanics/force.h"

/* The tangent may be NULL. */
void yk_point_force_evaluate(yk_force_kind kind, const yk_contact_force_def *law,
                             const yk_marker_frame *a, const yk_marker_frame *b,
                             yk_force_load *result, yk_force_tangent *tangent);

bool yk_contact_force_valid(const yk_contact_force_def *law);

#endif
