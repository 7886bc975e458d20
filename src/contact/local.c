#include "contact/cone.h"

#include <string.h>

bool yk_small_solve(int n, double *a, double *b)
{
    for (int k = 0; k < n; k++) {
        /* The largest pivot of the column. */
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
    double map[YK_CONTACT_DIM_MAX], rho = safe_rho(cone->dim, w);
    if (rho <= 0)
        return;
    yk_cone_natural_map(cone, friction, rho, r, u, map);
    for (int k = 0; k < cone->dim; k++)
        r[k] -= map[k];
}

static double map_norm(const yk_cone *cone, yk_friction_model friction, double rho, const double *r,
                       const double *u)
{
    double map[YK_CONTACT_DIM_MAX], sum = 0;
    yk_cone_natural_map(cone, friction, rho, r, u, map);
    for (int k = 0; k < cone->dim; k++)
        sum += map[k] * map[k];
    return sqrt(sum);
}

/* Newton steps; true when the map is zero to rounding. */
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
        double left[YK_CONTACT_DIM_MAX * YK_CONTACT_DIM_MAX],
            a[YK_CONTACT_DIM_MAX * YK_CONTACT_DIM_MAX];
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
        double trial[YK_CONTACT_DIM_MAX], part = 1, next = norm;
        for (; part > 0.05; part /= 2) {
            for (int k = 0; k < dim; k++)
                trial[k] = r[k] + part * g[k];
            velocity(dim, w, q, trial, u);
            next = map_norm(cone, friction, rho, trial, u);
            if (next < norm)
                break;
        }

        if (!(next < norm))
            return false;
        memcpy(r, trial, (size_t)dim * sizeof *r);
        norm = next;
    }

    return norm <= small;
}

/* Parted (r = 0) or sticking (u = 0)? */
static bool try_corners(const yk_cone *cone, yk_friction_model friction, const double *w,
                        const double *q, double *r)
{
    int dim = cone->dim;

    /* Parted: the velocity without an impulse does not approach. */
    double lift = friction == YK_FRICTION_COULOMB ? yk_cone_lift(cone, q) : 0;
    bool parted =
        friction == YK_FRICTION_CONE ? q[0] >= yk_cone_lift(cone, q) : q[0] + lift >= lift;
    if (parted) {
        memset(r, 0, (size_t)dim * sizeof *r);
        return true;
    }

    /* Sticking: the impulse that stops all motion is inside the cone. */
    double a[YK_CONTACT_DIM_MAX * YK_CONTACT_DIM_MAX], b[YK_CONTACT_DIM_MAX],
        projected[YK_CONTACT_DIM_MAX];
    memcpy(a, w, (size_t)(dim * dim) * sizeof *a);
    for (int k = 0; k < dim; k++)
        b[k] = -q[k];
    if (!yk_small_solve(dim, a, b))
        return false;

    if (friction == YK_FRICTION_BOX) {
        yk_box_project(cone, b[0], b, projected);
    } else {
        yk_cone_project(cone, b, projected);
    }

    for (int k = 0; k < dim; k++) {
        if (!(projected[k] == b[k]))
            return false;
    }

    memcpy(r, b, (size_t)dim * sizeof *r);
    return true;
}

void yk_local_solve(const yk_cone *cone, yk_friction_model friction, const double *w,
                    const double *q, double *r)
{
    int dim = cone->dim;
    double rho = safe_rho(dim, w);

    if (rho <= 0 || try_corners(cone, friction, w, q, r))
        return;

    double size = 0, trial[YK_CONTACT_DIM_MAX], u[YK_CONTACT_DIM_MAX];
    for (int k = 0; k < dim; k++)
        size += q[k] * q[k];
    double small = 1e-14 * rho * sqrt(size);

    /* Sliding: by Newton, which from r = 0 would see a contact that has parted. */
    memcpy(trial, r, (size_t)dim * sizeof *r);
    if (trial[0] <= 0) {
        velocity(dim, w, q, trial, u);
        yk_local_step(cone, friction, w, u, trial);
    }

    if (newton_steps(cone, friction, rho, w, q, small, trial)) {
        memcpy(r, trial, (size_t)dim * sizeof *r);
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
