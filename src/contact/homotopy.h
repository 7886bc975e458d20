/* A path to the solution of a Coulomb problem from any start, for where Newton's method runs in circles.
 *
 * Coulomb friction is not monotone: full Newton steps circle, short ones stop where the residual has a local minimum.
 * The function of Alart and Curnier (1991),
 *
 *   F_N = r_N - max(0, n),   F_g = r_g - P(r_g - rho u_g),   n = r_N - rho u_N,   P: on the disc of radius mu_g max(0, n)
 *
 * is piecewise smooth: on each piece a contact is open or presses, and each of its friction groups sticks or slides.
 * From the start, where F = F_0, the path F = theta F_0 leads to theta = 0. It is a chain of nearly straight lines with a
 * kink wherever a contact changes its piece, and theta need not fall all along it. So the path is followed by its length:
 * straight on to the next kink, over it to the side on which the contact lies then, and so on (Eaves 1976 and Lemke's
 * pivoting do the same for linear complementarity). One factorisation leads from kink to kink. */
#ifndef YK_CONTACT_HOMOTOPY_H
#define YK_CONTACT_HOMOTOPY_H

#include "contact/newton.h"

typedef struct yk_homotopy {
    unsigned char *piece;              /* per contact */
    double *start;                     /* F_0 */
    double *tangent_rhs;               /* for dr / dtheta; newton->rhs is for the correction */
    double *correction, *correction_u; /* changes of r and u, per row, as all below */
    double *tangent, *tangent_u;
    double *ahead; /* tangent, in the direction of travel */
    double *base;  /* r where the last straight line began */
} yk_homotopy;

yk_status yk_homotopy_create(yk_context *context, const yk_contact_problem *problem, yk_homotopy *homotopy);
void yk_homotopy_destroy(yk_context *context, yk_homotopy *homotopy);

/* Follows the path of newton->problem, whose W + C must be regular, for at most `limit` factorisations; returns how
 * many. r, u and *residual hold where it ended, which may be anywhere if the limit was reached. True Coulomb friction
 * only. */
int yk_homotopy_follow(yk_homotopy *homotopy, yk_newton *newton, int limit, double *r, double *u, double *residual);

#endif
