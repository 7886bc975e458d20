/* The problem of one contact alone, the others held: u = W r + q with a W of at most 6 x 6. */
#ifndef YK_CONTACT_LOCAL_H
#define YK_CONTACT_LOCAL_H

#include "contact/cone.h"

/* Solves A x = b in place for n <= 6 by elimination with row exchanges; false when singular to
 * rounding. a is destroyed. */
bool yk_small_solve(int n, double *a, double *b);

/* Solves the contact's own problem to rounding, from r: parted, sticking, or sliding by Newton on
 * the natural map, with projected steps where that fails. w row-major. */
void yk_local_solve(const yk_cone *cone, yk_friction_model friction, const double *w,
                    const double *q, double *r);

/* One projected step, which needs no inverse: r = P(r - rho u^) with the contact's own rho. */
void yk_local_step(const yk_cone *cone, yk_friction_model friction, const double *w,
                   const double *u, double *r);

#endif
