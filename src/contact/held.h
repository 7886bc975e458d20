/* A contact that keeps its state: the linear law between its impulse and its velocity.
 *
 * Near a solution of the contact problem, r and u of one contact stay on one smooth piece of its
 * law, which is linear in unknowns z of the contact (rim (27)-(29), and the same for round
 * cones):
 *
 *   r = directions z,     rates u + softness z = 0
 *
 *   open       r = 0
 *   sticking   r = z, u = 0, regularised u + softness r = 0 (rim (42))
 *   slipping   r = z_N (1, mu e): friction follows the normal impulse. Against u_N = 0 (Coulomb, box), or against
 *              u_N + mu e.u_T = 0 (the convex cone). A round cone lets the direction e turn with the sliding velocity:
 *              across e the impulse is -mu r_N / |u_T| times the velocity, a damper.
 *
 * Spinning and rolling friction go the same way, each on its own. */
#ifndef YK_CONTACT_HELD_H
#define YK_CONTACT_HELD_H

#include "contact/cone.h"

/* A contact near a solution: its impulse, its velocity with softness times r in it, the diagonal
 * of its own W, the softness of its rows. */
typedef struct yk_held_point {
    double r[YK_CONTACT_DIM_MAX], u[YK_CONTACT_DIM_MAX], w[YK_CONTACT_DIM_MAX],
        softness[YK_CONTACT_DIM_MAX];
} yk_held_point;

typedef struct yk_held_law {
    double directions[YK_CONTACT_DIM_MAX][YK_CONTACT_DIM_MAX]; /* r = directions z */
    double rates[YK_CONTACT_DIM_MAX][YK_CONTACT_DIM_MAX];      /* which velocities vanish */
    double softness[YK_CONTACT_DIM_MAX];                       /* diagonal */
} yk_held_law;

/* Whether the contact is closed, and the piece of the law that it lies on if it is. */
bool yk_held_is_closed(const yk_cone *cone, yk_friction_model friction, const yk_held_point *at);
void yk_held_law_of(const yk_cone *cone, yk_friction_model friction, const yk_held_point *at,
                    yk_held_law *law);
/* That of a contact which sticks, whatever r and u. */
void yk_held_sticking_law(const yk_cone *cone, const yk_held_point *at, yk_held_law *law);

#endif
