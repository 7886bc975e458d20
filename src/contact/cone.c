/* The projection on the friction cone, its derivative, the problem of one contact alone, and the
 * laws of contacts that keep their state. */
#include "contact/cone.h"

#include <string.h>

/* Root of f (see the header) by walking up its pieces: start with all groups that would be cut at
 * n = 0 and drop a group when the root lies above its kink. Each step drops at least one, and f
 * is increasing, so the result does not depend on order. */
static double projected_normal(const yk_cone *cone, double normal, const double *norm)
{
    bool cut[YK_FRICTION_GROUPS];
    for (int g = 0; g < YK_FRICTION_GROUPS; g++)
        cut[g] = norm[g] > 0;

    for (;;) {
        /* The root with those groups cut that are left. */
        double numerator = normal;
        double denominator = 1;
        for (int g = 0; g < YK_FRICTION_GROUPS; g++) {
            if (!cut[g])
                continue;
            numerator += cone->mu[g] * norm[g];
            denominator += cone->mu[g] * cone->mu[g];
        }

        double n = 0;
        if (numerator > 0)
            n = numerator / denominator;

        /* Groups whose friction is within its limit there are not cut. */
        bool changed = false;
        for (int g = 0; g < YK_FRICTION_GROUPS; g++) {
            if (!cut[g] || norm[g] >= cone->mu[g] * n)
                continue;
            cut[g] = false;
            changed = true;
        }

        if (!changed)
            return n;
    }
}

void yk_cone_project(const yk_cone *cone, const double *x, double *y)
{
    double norm[YK_FRICTION_GROUPS] = {0};
    for (int g = 0; g < YK_FRICTION_GROUPS && yk_cone_group_start[g] < cone->dim; g++)
        norm[g] = yk_cone_group_norm(cone->dim, g, x);

    /* The normal of the nearest point decides on all friction. */
    double n = projected_normal(cone, x[0], norm);
    y[0] = n;

    /* Friction is cut where it exceeds its limit. */
    for (int g = 0; g < YK_FRICTION_GROUPS; g++) {
        double limit = cone->mu[g] * n;
        double factor = 1;
        if (norm[g] > limit)
            factor = limit / norm[g];

        for (int k = yk_cone_group_start[g]; k < yk_cone_group_end(cone->dim, g); k++)
            y[k] = factor * x[k];
    }
}

void yk_box_project(const yk_cone *cone, double normal, const double *x, double *y)
{
    y[0] = fmax(0, x[0]);

    /* Each friction component has its own interval. */
    for (int g = 0; g < YK_FRICTION_GROUPS; g++) {
        double limit = cone->mu[g] * fmax(0, normal);
        for (int k = yk_cone_group_start[g]; k < yk_cone_group_end(cone->dim, g); k++)
            y[k] = fmin(limit, fmax(-limit, x[k])); /* NOLINT: x has cone->dim components */
    }
}

/* The point that is projected, r - rho u^. */
static void step_target(const yk_cone *cone, yk_friction_model friction, double rho,
                        const double *r, const double *u, double *v)
{
    for (int k = 0; k < cone->dim; k++)
        v[k] = r[k] - rho * u[k];
    if (friction == YK_FRICTION_COULOMB)
        v[0] -= rho * yk_cone_lift(cone, u);
}

void yk_cone_natural_map(const yk_cone *cone, yk_friction_model friction, double rho,
                         const double *r, const double *u, double *map)
{
    double moved[YK_CONTACT_DIM_MAX];
    step_target(cone, friction, rho, r, u, moved);

    /* The box is that of the present normal impulse. */
    double projected[YK_CONTACT_DIM_MAX];
    if (friction == YK_FRICTION_PYRAMID) {
        yk_box_project(cone, r[0], moved, projected);
    } else {
        yk_cone_project(cone, moved, projected);
    }

    for (int k = 0; k < cone->dim; k++)
        map[k] = r[k] - projected[k];
}

/* J of the projection on the cone at v. Where friction is cut it has the eigenvalue 1 along the
 * generating ray, 0 on the rest of the plane spanned by the normal and the directions that are
 * cut, and mu n / |v_g| across such a direction. */
void yk_cone_projection_slope(const yk_cone *cone, const double *v, double *slope)
{
    int dim = cone->dim;
    memset(slope, 0, (size_t)(dim * dim) * sizeof *slope);

    double norm[YK_FRICTION_GROUPS] = {0};
    for (int g = 0; g < YK_FRICTION_GROUPS && yk_cone_group_start[g] < dim; g++)
        norm[g] = yk_cone_group_norm(dim, g, v);

    /* What is projected on the tip stays there. */
    double normal = projected_normal(cone, v[0], norm);
    if (normal <= 0)
        return;

    double ray[YK_CONTACT_DIM_MAX] = {1};
    double length2 = 1;
    for (int g = 0; g < YK_FRICTION_GROUPS; g++) {
        int start = yk_cone_group_start[g];
        int end = yk_cone_group_end(dim, g);
        double mu = cone->mu[g];
        bool cut = mu <= 0 || norm[g] > mu * normal;

        /* Friction that is within its limit follows v, and none without a direction. */
        if (!cut || norm[g] <= 0) {
            for (int k = start; k < end; k++)
                slope[k * dim + k] = !cut;
            if (cut)
                length2 += mu * mu;
            continue;
        }

        /* Friction that is cut rotates with v across its direction, and along it grows with the
         * normal. */
        double across = mu * normal / norm[g];
        for (int k = start; k < end; k++) {
            slope[k * dim + k] = across;
            ray[k] = mu * v[k] / norm[g];
            for (int l = start; l < end; l++)
                slope[k * dim + l] -= across * (v[k] / norm[g]) * (v[l] / norm[g]);
        }

        length2 += mu * mu;
    }

    /* The generating ray with the eigenvalue 1. */
    for (int k = 0; k < dim; k++) {
        for (int l = 0; l < dim; l++)
            slope[k * dim + l] += ray[k] * ray[l] / length2;
    }
}

void yk_cone_linearise(const yk_cone *cone, yk_friction_model friction, double rho, const double *r,
                       const double *u, double *left, double *right, double *rhs)
{
    int dim = cone->dim;
    size_t bytes = (size_t)(dim * dim) * sizeof(double);

    /* -F / rho. */
    yk_cone_natural_map(cone, friction, rho, r, u, rhs);
    for (int k = 0; k < dim; k++)
        rhs[k] /= -rho;

    /* J in `left`. Components that the box clips follow the normal impulse, r_k = +-mu r_N: not an
     * effect of v, so that it is left to R. */
    double v[YK_CONTACT_DIM_MAX];
    step_target(cone, friction, rho, r, u, v);
    memset(right, 0, bytes);
    if (friction == YK_FRICTION_PYRAMID) {
        memset(left, 0, bytes);
        left[0] = v[0] > 0;
        for (int g = 0; g < YK_FRICTION_GROUPS; g++) {
            double limit = cone->mu[g] * fmax(0, r[0]);
            if (!(limit > 0))
                continue;
            for (int k = yk_cone_group_start[g]; k < yk_cone_group_end(dim, g); k++) {
                if (fabs(v[k]) <= limit) {
                    left[k * dim + k] = 1;
                } else {
                    right[k * dim] = copysign(cone->mu[g], -v[k]) / rho;
                }
            }
        }
    } else {
        yk_cone_projection_slope(cone, v, left);
    }

    /* R = (1 - J) / rho. */
    for (int k = 0; k < dim; k++) {
        for (int l = 0; l < dim; l++)
            right[k * dim + l] += ((k == l) - left[k * dim + l]) / rho;
    }

    /* L = J H: friction's velocities lift that of the normal. */
    if (friction != YK_FRICTION_COULOMB)
        return;
    for (int g = 0; g < YK_FRICTION_GROUPS && yk_cone_group_start[g] < dim; g++) {
        double norm = yk_cone_group_norm(dim, g, u);
        if (norm <= 0)
            continue;
        for (int k = yk_cone_group_start[g]; k < yk_cone_group_end(dim, g); k++) {
            for (int l = 0; l < dim; l++)
                left[l * dim + k] += left[l * dim] * cone->mu[g] * u[k] / norm;
        }
    }
}

/* One contact alone ---------------------------------------------------------------------------- */

bool yk_small_solve(int n, double *a, double *b)
{
    for (int k = 0; k < n; k++) {
        /* The row with the largest pivot of the column comes to the top. */
        int best = k;
        for (int r = k + 1; r < n; r++) {
            if (fabs(a[r * n + k]) > fabs(a[best * n + k]))
                best = r;
        }
        if (!(fabs(a[best * n + k]) > 1e-300))
            return false;

        if (best != k) {
            for (int c = k; c < n; c++) {
                double swap = a[k * n + c];
                a[k * n + c] = a[best * n + c];
                a[best * n + c] = swap;
            }

            double swap = b[k];
            b[k] = b[best];
            b[best] = swap;
        }

        /* The pivot eliminates its column. */
        for (int r = k + 1; r < n; r++) {
            double factor = a[r * n + k] / a[k * n + k];
            for (int c = k + 1; c < n; c++)
                a[r * n + c] -= factor * a[k * n + c];
            b[r] -= factor * b[k];
        }
    }

    /* Backward substitution. */
    for (int k = n - 1; k >= 0; k--) {
        for (int c = k + 1; c < n; c++)
            b[k] -= a[k * n + c] * b[c];
        b[k] /= a[k * n + k];
    }

    return true;
}

/* u = W r + q */
static void velocity(int dim, const double *w, const double *q, const double *r, double *u)
{
    for (int k = 0; k < dim; k++) {
        u[k] = q[k];
        for (int l = 0; l < dim; l++)
            u[k] += w[k * dim + l] * r[l];
    }
}

/* A step that cannot overshoot: 1 over a bound of the largest eigenvalue. */
static double safe_rho(int dim, const double *w)
{
    double bound = 0;
    for (int k = 0; k < dim; k++) {
        double sum = 0;
        for (int l = 0; l < dim; l++)
            sum += fabs(w[k * dim + l]);
        bound = fmax(bound, sum);
    }

    return bound > 0 ? 1 / bound : 0;
}

void yk_local_step(const yk_cone *cone, yk_friction_model friction, const double *w,
                   const double *u, double *r)
{
    double rho = safe_rho(cone->dim, w);
    if (rho <= 0)
        return;

    double map[YK_CONTACT_DIM_MAX];
    yk_cone_natural_map(cone, friction, rho, r, u, map);
    for (int k = 0; k < cone->dim; k++)
        r[k] -= map[k];
}

static double map_norm(const yk_cone *cone, yk_friction_model friction, double rho, const double *r,
                       const double *u)
{
    double map[YK_CONTACT_DIM_MAX];
    yk_cone_natural_map(cone, friction, rho, r, u, map);

    double sum = 0;
    for (int k = 0; k < cone->dim; k++)
        sum += map[k] * map[k];
    return sqrt(sum);
}

/* Semismooth Newton steps (cone.h); true when the map is zero to rounding. */
static bool newton_steps(const yk_cone *cone, yk_friction_model friction, double rho,
                         const double *w, const double *q, double small, double *r)
{
    int dim = cone->dim;
    double u[YK_CONTACT_DIM_MAX];
    velocity(dim, w, q, r, u);
    double norm = map_norm(cone, friction, rho, r, u);

    for (int step = 0; step < 20; step++) {
        if (norm <= small)
            return true;

        /* (L W + R) g = -F / rho */
        double left[YK_CONTACT_DIM_MAX * YK_CONTACT_DIM_MAX];
        double a[YK_CONTACT_DIM_MAX * YK_CONTACT_DIM_MAX];
        double g[YK_CONTACT_DIM_MAX];
        yk_cone_linearise(cone, friction, rho, r, u, left, a, g);
        for (int k = 0; k < dim; k++) {
            for (int l = 0; l < dim; l++) {
                for (int m = 0; m < dim; m++)
                    a[k * dim + l] += left[k * dim + m] * w[m * dim + l];
            }
        }

        if (!yk_small_solve(dim, a, g))
            return false;

        /* Halved until the map falls. */
        double trial[YK_CONTACT_DIM_MAX];
        double next;
        double part = 1;
        do {
            for (int k = 0; k < dim; k++)
                trial[k] = r[k] + part * g[k];
            velocity(dim, w, q, trial, u);
            next = map_norm(cone, friction, rho, trial, u);
            part /= 2;
        } while (!(next < norm) && part > 0.05);

        if (!(next < norm))
            return false;
        memcpy(r, trial, (size_t)dim * sizeof *r);
        norm = next;
    }

    return norm <= small;
}

void yk_local_solve(const yk_cone *cone, yk_friction_model friction, const double *w,
                    const double *q, double *r)
{
    int dim = cone->dim;
    size_t bytes = (size_t)dim * sizeof *r;
    double rho = safe_rho(dim, w);
    if (rho <= 0)
        return;

    /* Parted: the velocity without an impulse does not approach, but for rounding of the lift; in
     * the convex cone it is in the dual cone, which is less wide. */
    double lift = 0;
    if (friction != YK_FRICTION_PYRAMID)
        lift = yk_cone_lift(cone, q);
    bool parted = q[0] + lift >= lift;
    if (friction == YK_FRICTION_CONVEX_CONE)
        parted = q[0] >= lift;
    if (parted) {
        memset(r, 0, bytes);
        return;
    }

    /* Sticking: the impulse that stops all motion is inside the cone. */
    double a[YK_CONTACT_DIM_MAX * YK_CONTACT_DIM_MAX];
    double stop[YK_CONTACT_DIM_MAX] = {0};
    memcpy(a, w, (size_t)(dim * dim) * sizeof *a);
    for (int k = 0; k < dim; k++)
        stop[k] = -q[k];
    if (yk_small_solve(dim, a, stop)) {
        double projected[YK_CONTACT_DIM_MAX];
        yk_friction_project(cone, friction, stop, projected);
        bool inside = true;
        for (int k = 0; k < dim; k++)
            inside = inside && projected[k] == stop[k];
        if (inside) {
            memcpy(r, stop, bytes);
            return;
        }
    }

    /* Sliding: by Newton, which from r = 0 would see a contact that has parted. */
    double size = 0;
    for (int k = 0; k < dim; k++)
        size += q[k] * q[k];
    double small = 1e-14 * rho * sqrt(size);

    double trial[YK_CONTACT_DIM_MAX];
    double u[YK_CONTACT_DIM_MAX];
    memcpy(trial, r, bytes);
    if (trial[0] <= 0) {
        velocity(dim, w, q, trial, u);
        yk_local_step(cone, friction, w, u, trial);
    }
    if (newton_steps(cone, friction, rho, w, q, small, trial)) {
        memcpy(r, trial, bytes);
        return;
    }

    /* Where that fails, by projected steps. */
    for (int step = 0; step < 100; step++) {
        velocity(dim, w, q, r, u);
        if (map_norm(cone, friction, rho, r, u) <= small)
            return;
        yk_local_step(cone, friction, w, u, r);
    }
}

/* Contacts that keep their state --------------------------------------------------------------- */

/* Which piece: r - u / w, one projected step on the contact's own problem. At a solution it
 * projects back to r, so that what is cut off tells sticking from slipping and closed from open,
 * and neither an impulse nor a velocity has to be compared with zero. */

static double target(const yk_held_point *at, int k)
{
    return at->r[k] - at->u[k] / at->w[k];
}

/* Of a friction group: length of its target, and the mean of its w. */
static double group_target(const yk_held_point *at, int begin, int end, double *w)
{
    *w = 0;
    for (int k = begin; k < end; k++)
        *w += at->w[k] / (end - begin);

    double sum = 0;
    for (int k = begin; k < end; k++) {
        double part = at->r[k] - at->u[k] / *w;
        sum += part * part;
    }

    return sqrt(sum);
}

/* The normal impulse after the step. In the convex cone friction that is cut off lifts it. */
static double normal_impulse(const yk_cone *cone, yk_friction_model friction,
                             const yk_held_point *at)
{
    double normal = target(at, 0);
    if (friction != YK_FRICTION_CONVEX_CONE)
        return normal;

    /* Weighted with W, as the projection in that metric has it (cone.h). */
    double sum = normal * at->w[0];
    double weight = at->w[0];
    for (int g = 0; g < YK_FRICTION_GROUPS && yk_cone_group_start[g] < cone->dim; g++) {
        int begin = yk_cone_group_start[g];
        int end = yk_cone_group_end(cone->dim, g);
        double mu = cone->mu[g];

        double w;
        double length = group_target(at, begin, end, &w);

        /* Within its limit friction is not cut. */
        if (length <= mu * normal)
            continue;

        sum += mu * w * length;
        weight += mu * mu * w;
    }

    return sum / weight;
}

bool yk_held_is_closed(const yk_cone *cone, yk_friction_model friction, const yk_held_point *at)
{
    return normal_impulse(cone, friction, at) > 0;
}

static bool sticks(double bound, double length)
{
    /* Rounding must not let a contact that sticks slip. */
    return length <= bound * (1 + 1e-9);
}

static void stick(int k, const yk_held_point *at, yk_held_law *law)
{
    law->directions[k][k] = 1;
    law->rates[k][k] = 1;
    law->softness[k] = at->softness[k];
}

/* Nothing of the component's own: z_k = 0. */
static void idle(int k, yk_held_law *law)
{
    law->softness[k] = 1;
}

/* The normal equation of the convex cone has the friction's rates in it. */
static void follow_normal(yk_friction_model friction, int k, double fraction,
                          const yk_held_point *at, yk_held_law *law)
{
    law->directions[k][0] = fraction;

    if (friction != YK_FRICTION_CONVEX_CONE)
        return;

    law->rates[0][k] = fraction;
    law->softness[0] += fraction * fraction * at->softness[k];
}

void yk_held_law_of(const yk_cone *cone, yk_friction_model friction, const yk_held_point *at,
                    yk_held_law *law)
{
    double normal = normal_impulse(cone, friction, at);

    memset(law, 0, sizeof *law);
    stick(0, at, law);

    for (int g = 0; g < YK_FRICTION_GROUPS && yk_cone_group_start[g] < cone->dim; g++) {
        int begin = yk_cone_group_start[g];
        int end = yk_cone_group_end(cone->dim, g);
        double mu = cone->mu[g];

        /* Components with a bound of their own. */
        if (mu <= 0 || end - begin != 2 || friction == YK_FRICTION_PYRAMID) {
            for (int k = begin; k < end; k++) {
                double wanted = target(at, k);
                if (mu > 0 && sticks(mu * normal, fabs(wanted))) {
                    stick(k, at, law);
                    continue;
                }
                if (mu > 0)
                    follow_normal(friction, k, copysign(mu, wanted), at, law);
                idle(k, law);
            }

            continue;
        }

        /* Two components of a round cone. */
        int k = begin;
        double w;
        double length = group_target(at, k, k + 2, &w);
        if (sticks(mu * normal, length)) {
            stick(k, at, law);
            stick(k + 1, at, law);
            continue;
        }

        /* Slipping: along the direction of friction e the impulse follows the normal, across it has
         * an unknown of its own, the first of the two; the second is idle. */
        double e[2];
        for (int i = 0; i < 2; i++)
            e[i] = (at->r[k + i] - at->u[k + i] / w) / length;
        double across[2] = {-e[1], e[0]};
        for (int i = 0; i < 2; i++) {
            follow_normal(friction, k + i, mu * e[i], at, law);
            law->directions[k + i][k] = across[i];
            law->rates[k][k + i] = across[i];
        }

        law->softness[k] = at->softness[k] + hypot(at->u[k], at->u[k + 1]) / (mu * normal);
        idle(k + 1, law);
    }
}

void yk_held_sticking_law(const yk_cone *cone, const yk_held_point *at, yk_held_law *law)
{
    memset(law, 0, sizeof *law);
    stick(0, at, law);

    for (int g = 0; g < YK_FRICTION_GROUPS && yk_cone_group_start[g] < cone->dim; g++) {
        for (int k = yk_cone_group_start[g]; k < yk_cone_group_end(cone->dim, g); k++) {
            if (cone->mu[g] > 0) {
                stick(k, at, law);
            } else {
                idle(k, law);
            }
        }
    }
}
