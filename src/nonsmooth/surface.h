/* Laws of two surfaces that touch, at one contact point and over one step.
 *
 *   friction    F_T <= mu F_N with mu = mu_k + (mu_s - mu_k) exp(-(v / v_s)^2), v the sliding speed at
 *               the beginning of the step (Stribeck's curve: Armstrong-Helouvry, Dupont,
 *               Canudas de Wit 1994). The coefficient is known when the problem of the step is posed, so
 *               that it stays a problem of Coulomb's law; what sticks has mu_s, what slides mu_k.
 *   cohesion    a constant force c pulls the surfaces together while they touch: F_N >= -c and
 *               F_T <= mu (F_N + c), the friction cone moved down by c (Tasora, Anitescu, Negrini,
 *               Negrut 2013). In the problem stand F_N + c and the pull c on both bodies.
 *   Hertz       F_N = k d^(3/2) + zeta sqrt(5 m k) d^(1/4) d', k = 4/3 E sqrt(R), of the overlap d of
 *               solids with radii R and the reduced mass m (Tsuji, Tanaka, Ishida 1992)
 *
 * The damper of Hertz's law gives one coefficient of restitution for all speeds. Along the variable
 * s, ds = d^(1/4) dt, the contact is a linear oscillator with the damping ratio zeta (Antypov,
 * Elliott 2011), and as contacts do not pull it ends where the force ends, with
 *
 *   e = exp(-2 zeta arccos(zeta) / sqrt(1 - zeta^2))             (Schwager, Poeschel 2007) */
#ifndef YK_NONSMOOTH_SURFACE_H
#define YK_NONSMOOTH_SURFACE_H

#include "yoke/nonsmooth.h"

/* What counts between two materials. */
typedef struct yk_surface_law {
    yk_material material;
    double damping_ratio; /* zeta of Hertz's law, from the restitution */
} yk_surface_law;

yk_surface_law yk_surface_law_of(const yk_material *material);

/* mu at a sliding speed (m/s). */
double yk_surface_friction(const yk_material *material, double sliding);

/* A contact point at the beginning of a step. */
typedef struct yk_hertz_contact {
    double gap;        /* negative: overlap (m) */
    double separation; /* rate of the gap (m/s) */
    double curvature;  /* 1 / R, of both solids together (1/m) */
    double mass;       /* reduced mass of the bodies (kg) */
} yk_hertz_contact;

/* Softness and bias of the normal row (network.h) over a step h. */
void yk_surface_hertz(const yk_surface_law *law, const yk_hertz_contact *at, double h,
                      double *softness, double *bias);

#endif
