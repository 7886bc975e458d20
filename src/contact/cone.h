/* The friction cone of one contact and projections on it.
 *
 *   K = {x_N >= 0, |x_g| <= mu_g x_N for the friction groups g: sliding (T1, T2), spinning (S), rolling (R1, R2)}
 *
 * The Euclidean projection is exact. With y_N = n the nearest point keeps each group's direction
 * and cuts its length to min(|x_g|, mu_g n), so n is the root of the increasing, piecewise linear
 * function
 *
 *   f(n) = n - x_N - sum_g mu_g max(0, |x_g| - mu_g n)
 *
 * with one kink per group at |x_g| / mu_g; without spinning and rolling this is the textbook
 * formula. */
#ifndef YK_CONTACT_CONE_H
#define YK_CONTACT_CONE_H

#include <math.h>

#include "contact/problem.h"

enum { YK_FRICTION_GROUPS = 3 };

typedef struct yk_cone {
    int dim;
    double mu[YK_FRICTION_GROUPS]; /* sliding, spinning, rolling */
} yk_cone;

/* The components of a group are [yk_cone_group_start[g], yk_cone_group_end(dim, g)). */
static const int yk_cone_group_start[YK_FRICTION_GROUPS] = {1, 3, 4};

static inline int yk_cone_group_end(int dim, int group)
{
    static const int end[YK_FRICTION_GROUPS] = {3, 4, 6};
    return end[group] < dim ? end[group] : dim;
}

static inline yk_cone yk_problem_cone(const yk_contact_problem *problem, int contact)
{
    const int *first = problem->w.first + contact;
    yk_cone cone = {.dim = first[1] - first[0], .mu = {problem->mu[contact]}};
    if (problem->mu_spin)
        cone.mu[1] = problem->mu_spin[contact];
    if (problem->mu_roll)
        cone.mu[2] = problem->mu_roll[contact];

    return cone;
}

static inline double yk_cone_group_norm(int dim, int group, const double *x)
{
    double sum = 0;
    for (int k = yk_cone_group_start[group]; k < yk_cone_group_end(dim, group); k++)
        sum += x[k] * x[k];

    return sqrt(sum);
}

/* The velocity that is complementary to the impulse: true Coulomb friction lifts its normal
 * part. */
static inline double yk_cone_lift(const yk_cone *cone, const double *u)
{
    double lift = 0;
    for (int g = 0; g < YK_FRICTION_GROUPS && yk_cone_group_start[g] < cone->dim; g++)
        lift += cone->mu[g] * yk_cone_group_norm(cone->dim, g, u);

    return lift;
}

/* Nearest point of K; x and y may be the same. */
void yk_cone_project(const yk_cone *cone, const double *x, double *y);
/* Its derivative at x, a symmetric dim x dim matrix; one of several where there is none. */
void yk_cone_projection_slope(const yk_cone *cone, const double *x, double *slope);

/* Clips the friction components to +-mu * normal, each on its own, and x_N to >= 0. */
void yk_box_project(const yk_cone *cone, double normal, const double *x, double *y);

/* The nearest point that the friction model allows, the box that of x_N; x and y may be the
 * same. */
static inline void yk_friction_project(const yk_cone *cone, yk_friction_model friction,
                                       const double *x, double *y)
{
    if (friction == YK_FRICTION_PYRAMID) {
        yk_box_project(cone, x[0], x, y);
    } else {
        yk_cone_project(cone, x, y);
    }
}

/* r - P(r - rho u^): zero where r and u solve the contact's own conditions. */
void yk_cone_natural_map(const yk_cone *cone, yk_friction_model friction, double rho,
                         const double *r, const double *u, double *map);

/* Semismooth Newton for the natural map (Alart, Curnier 1991; Christensen, Klarbring, Pang,
 * Stroemberg 1998): the step of one contact satisfies
 *
 *   L (W dr) + R dr = -F / rho,   L = J H,   R = (1 - J) / rho
 *
 * where F is the map, J the derivative of the projection and H = d u^ / d u. J is singular where
 * impulses are given; neither it nor anything large is inverted, so that no digits are lost. L
 * and R are row-major, dim x dim. */
void yk_cone_linearise(const yk_cone *cone, yk_friction_model friction, double rho, const double *r,
                       const double *u, double *left, double *right, double *rhs);

/* The problem of one contact alone, the others held: u = W r + q with a W of at most 6 x
 * 6. */

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
