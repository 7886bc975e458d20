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
        double numerator = normal, denominator = 1;
        for (int g = 0; g < YK_FRICTION_GROUPS; g++) {
            if (!cut[g])
                continue;
            numerator += cone->mu[g] * norm[g];
            denominator += cone->mu[g] * cone->mu[g];
        }

        double n = numerator > 0 ? numerator / denominator : 0;

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
    double n = projected_normal(cone, x[0], norm);
    y[0] = n;

    /* Friction is cut where it exceeds its limit. */
    for (int g = 0; g < YK_FRICTION_GROUPS; g++) {
        double limit = cone->mu[g] * n;
        double factor = norm[g] > limit ? limit / norm[g] : 1;
        for (int k = yk_cone_group_start[g]; k < yk_cone_group_end(cone->dim, g); k++)
            y[k] = factor * x[k];
    }
}

void yk_box_project(const yk_cone *cone, double normal, const double *x, double *y)
{
    y[0] = fmax(0, x[0]);
    for (int g = 0; g < YK_FRICTION_GROUPS; g++) {
        double limit = cone->mu[g] * fmax(0, normal);
        for (int k = yk_cone_group_start[g]; k < yk_cone_group_end(cone->dim, g); k++)
            y[k] = fmin(limit, fmax(-limit, x[k]));
    }
}

void yk_cone_natural_map(const yk_cone *cone, yk_friction_model friction, double rho,
                         const double *r, const double *u, double *map)
{
    double moved[YK_CONTACT_DIM_MAX], projected[YK_CONTACT_DIM_MAX];
    for (int k = 0; k < cone->dim; k++)
        moved[k] = r[k] - rho * u[k];
    if (friction == YK_FRICTION_COULOMB)
        moved[0] -= rho * yk_cone_lift(cone, u);
    if (friction == YK_FRICTION_BOX) {
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
static void projection_slope(const yk_cone *cone, const double *v, double *slope)
{
    int dim = cone->dim;
    double norm[YK_FRICTION_GROUPS] = {0}, ray[YK_CONTACT_DIM_MAX] = {1}, length2 = 1;

    memset(slope, 0, (size_t)(dim * dim) * sizeof *slope);
    for (int g = 0; g < YK_FRICTION_GROUPS && yk_cone_group_start[g] < dim; g++)
        norm[g] = yk_cone_group_norm(dim, g, v);
    double normal = projected_normal(cone, v[0], norm);
    if (normal <= 0)
        return;

    for (int g = 0; g < YK_FRICTION_GROUPS; g++) {
        int start = yk_cone_group_start[g], end = yk_cone_group_end(dim, g);
        double mu = cone->mu[g];

        /* Across its direction friction that is cut turns with v, along it grows with the
         * normal. */
        bool cut = mu <= 0 || norm[g] > mu * normal;
        double across = 1;
        if (cut)
            across = norm[g] > 0 ? mu * normal / norm[g] : 0;
        for (int k = start; k < end; k++) {
            slope[k * dim + k] = across;
            if (!cut || norm[g] <= 0)
                continue;
            ray[k] = mu * v[k] / norm[g];
            for (int l = start; l < end; l++)
                slope[k * dim + l] -= across * (v[k] / norm[g]) * (v[l] / norm[g]);
        }

        if (cut)
            length2 += mu * mu;
    }

    for (int k = 0; k < dim; k++) {
        for (int l = 0; l < dim; l++)
            slope[k * dim + l] += ray[k] * ray[l] / length2;
    }
}

/* The same for box friction. Clipped components follow the normal impulse, r_k = +-mu r_N: not an
 * effect of v, so it is left to R. */
static void box_slope(const yk_cone *cone, double rho, double normal, const double *v,
                      double *slope, double *right)
{
    int dim = cone->dim;
    memset(slope, 0, (size_t)(dim * dim) * sizeof *slope);
    slope[0] = v[0] > 0;
    for (int g = 0; g < YK_FRICTION_GROUPS; g++) {
        double limit = cone->mu[g] * fmax(0, normal);
        for (int k = yk_cone_group_start[g]; k < yk_cone_group_end(dim, g); k++) {
            if (!(limit > 0))
                continue;
            if (fabs(v[k]) <= limit) {
                slope[k * dim + k] = 1;
            } else {
                right[k * dim] = (v[k] > 0 ? -cone->mu[g] : cone->mu[g]) / rho;
            }
        }
    }
}

/* Columns of L = J H: the normal velocity is lifted by the others. */
static void lift_columns(const yk_cone *cone, const double *u, double *left)
{
    int dim = cone->dim;
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

void yk_cone_linearise(const yk_cone *cone, yk_friction_model friction, double rho, const double *r,
                       const double *u, double *left, double *right, double *rhs)
{
    int dim = cone->dim;
    double v[YK_CONTACT_DIM_MAX];

    yk_cone_natural_map(cone, friction, rho, r, u, rhs);
    for (int k = 0; k < dim; k++) {
        v[k] = r[k] - rho * u[k];
        rhs[k] /= -rho;
    }

    if (friction == YK_FRICTION_COULOMB)
        v[0] -= rho * yk_cone_lift(cone, u);

    /* J in `left`, then R = (1 - J) / rho and L = J H. */
    memset(right, 0, (size_t)(dim * dim) * sizeof *right);
    if (friction == YK_FRICTION_BOX) {
        box_slope(cone, rho, r[0], v, left, right);
    } else {
        projection_slope(cone, v, left);
    }

    for (int k = 0; k < dim; k++) {
        for (int l = 0; l < dim; l++)
            right[k * dim + l] += ((k == l) - left[k * dim + l]) / rho;
    }
    if (friction == YK_FRICTION_COULOMB)
        lift_columns(cone, u, left);
}
