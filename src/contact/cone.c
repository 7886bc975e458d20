#include "contact/cone.h"

#include <string.h>

/* Root of f (see the header) by walking up its pieces: start with all groups that would be cut at n = 0 and drop a
 * group when the root lies above its kink. Each step drops at least one, and f is increasing, so the result does not
 * depend on order. */
static double projected_normal(const yk_cone *cone, double normal, const double *norm)
{
    bool cut[YK_FRICTION_GROUPS];
    for (int g = 0; g < YK_FRICTION_GROUPS; g++) cut[g] = norm[g] > 0;
    for (;;) {
        double numerator = normal, denominator = 1;
        for (int g = 0; g < YK_FRICTION_GROUPS; g++)
            if (cut[g]) {
                numerator += cone->mu[g] * norm[g];
                denominator += cone->mu[g] * cone->mu[g];
            }
        double n = numerator > 0 ? numerator / denominator : 0;
        bool changed = false;
        for (int g = 0; g < YK_FRICTION_GROUPS; g++)
            if (cut[g] && norm[g] < cone->mu[g] * n) {
                cut[g] = false;
                changed = true;
            }
        if (!changed) return n;
    }
}

void yk_cone_project(const yk_cone *cone, const double *x, double *y)
{
    double norm[YK_FRICTION_GROUPS] = {0};
    for (int g = 0; g < YK_FRICTION_GROUPS && yk_cone_group_start[g] < cone->dim; g++)
        norm[g] = yk_cone_group_norm(cone->dim, g, x);
    double n = projected_normal(cone, x[0], norm);
    y[0] = n;
    for (int g = 0; g < YK_FRICTION_GROUPS; g++) {
        double limit = cone->mu[g] * n;
        double factor = norm[g] > limit ? limit / norm[g] : 1;
        for (int k = yk_cone_group_start[g]; k < yk_cone_group_end(cone->dim, g); k++) y[k] = factor * x[k];
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

void yk_cone_natural_map(const yk_cone *cone, yk_friction_model friction, double rho, const double *r, const double *u,
                         double *map)
{
    double moved[YK_CONTACT_DIM_MAX], projected[YK_CONTACT_DIM_MAX];
    for (int k = 0; k < cone->dim; k++) moved[k] = r[k] - rho * u[k];
    if (friction == YK_FRICTION_COULOMB) moved[0] -= rho * yk_cone_lift(cone, u);
    if (friction == YK_FRICTION_BOX)
        yk_box_project(cone, r[0], moved, projected);
    else
        yk_cone_project(cone, moved, projected);
    for (int k = 0; k < cone->dim; k++) map[k] = r[k] - projected[k];
}

/* Eigenvalue of J that stands for zero. */
static const double vanishing = 1e-11;

typedef struct cut {
    double norm[YK_FRICTION_GROUPS];      /* of the point before projection */
    double direction[YK_CONTACT_DIM_MAX]; /* unit, per group */
    bool cut[YK_FRICTION_GROUPS];         /* shortened by the projection */
    double normal;                        /* of the projected point */
} cut;

static cut cut_groups(const yk_cone *cone, const double *v)
{
    cut c = {.normal = 0};
    for (int g = 0; g < YK_FRICTION_GROUPS && yk_cone_group_start[g] < cone->dim; g++) {
        c.norm[g] = yk_cone_group_norm(cone->dim, g, v);
        for (int k = yk_cone_group_start[g]; k < yk_cone_group_end(cone->dim, g); k++)
            c.direction[k] = c.norm[g] > 0 ? v[k] / c.norm[g] : 0;
    }
    c.normal = projected_normal(cone, v[0], c.norm);
    for (int g = 0; g < YK_FRICTION_GROUPS; g++) c.cut[g] = cone->mu[g] <= 0 || c.norm[g] > cone->mu[g] * c.normal;
    return c;
}

/* J^-1 - 1 of the projection on the cone at v. On its boundary J has the eigenvalue 1 along the generating ray, 0 on
 * the rest of the plane spanned by the normal and the directions that are cut, and mu n / |v_g| across a direction that
 * is cut. */
static void inverse_excess(const yk_cone *cone, const double *v, double *excess)
{
    int dim = cone->dim;
    cut c = cut_groups(cone, v);
    memset(excess, 0, (size_t)(dim * dim) * sizeof *excess);
    if (c.normal <= 0) {
        for (int k = 0; k < dim; k++) excess[k * dim + k] = 1 / vanishing - 1;
        return;
    }
    double ray[YK_CONTACT_DIM_MAX] = {1}, length2 = 1;
    for (int g = 0; g < YK_FRICTION_GROUPS; g++) {
        if (!c.cut[g]) continue;
        length2 += cone->mu[g] * cone->mu[g];
        double across = c.norm[g] > 0 ? fmax(vanishing, fmin(1, cone->mu[g] * c.normal / c.norm[g])) : vanishing;
        int start = yk_cone_group_start[g], end = yk_cone_group_end(dim, g);
        for (int k = start; k < end; k++) {
            ray[k] = cone->mu[g] * c.direction[k];
            for (int l = start; l < end; l++) {
                double along = c.direction[k] * c.direction[l];
                excess[k * dim + l] += along * (1 / vanishing - 1) + ((k == l) - along) * (1 / across - 1);
            }
        }
    }
    if (length2 <= 1) return; /* nothing is cut, or only groups without friction */
    excess[0] += 1 / vanishing - 1;
    for (int k = 0; k < dim; k++)
        for (int l = 0; l < dim; l++) excess[k * dim + l] -= ray[k] * ray[l] / length2 * (1 / vanishing - 1);
}

/* The same for box friction: clipped components follow the normal impulse, r_k = +-mu r_N. */
static void box_excess(const yk_cone *cone, double normal, const double *v, double *excess)
{
    int dim = cone->dim;
    memset(excess, 0, (size_t)(dim * dim) * sizeof *excess);
    if (v[0] <= 0) excess[0] = 1 / vanishing - 1;
    for (int g = 0; g < YK_FRICTION_GROUPS; g++)
        for (int k = yk_cone_group_start[g]; k < yk_cone_group_end(dim, g); k++) {
            double limit = cone->mu[g] * fmax(0, normal);
            if (limit > 0 && fabs(v[k]) <= limit) continue;
            excess[k * dim + k] = 1 / vanishing - 1;
            if (limit > 0) excess[k * dim] = -(v[k] > 0 ? cone->mu[g] : -cone->mu[g]) / vanishing;
        }
}

/* Rows of H^-1: the lift of the normal velocity taken back. */
static void unlift(const yk_cone *cone, const double *u, double *b, double *g)
{
    int dim = cone->dim;
    for (int group = 0; group < YK_FRICTION_GROUPS && yk_cone_group_start[group] < dim; group++) {
        double norm = yk_cone_group_norm(dim, group, u);
        if (norm <= 0) continue;
        for (int k = yk_cone_group_start[group]; k < yk_cone_group_end(dim, group); k++) {
            double slope = cone->mu[group] * u[k] / norm;
            g[0] -= slope * g[k];
            for (int l = 0; l < dim; l++) b[l] -= slope * b[k * dim + l];
        }
    }
}

void yk_cone_linearise(const yk_cone *cone, yk_friction_model friction, double rho, const double *r, const double *u,
                       double *b, double *g)
{
    int dim = cone->dim;
    double map[YK_CONTACT_DIM_MAX], v[YK_CONTACT_DIM_MAX];
    yk_cone_natural_map(cone, friction, rho, r, u, map);
    for (int k = 0; k < dim; k++) v[k] = r[k] - rho * u[k];
    if (friction == YK_FRICTION_COULOMB) v[0] -= rho * yk_cone_lift(cone, u);
    if (friction == YK_FRICTION_BOX)
        box_excess(cone, r[0], v, b);
    else
        inverse_excess(cone, v, b);
    for (int k = 0; k < dim; k++) {
        double sum = map[k];
        for (int l = 0; l < dim; l++)
            if (k == l || friction != YK_FRICTION_BOX) sum += b[k * dim + l] * map[l];
        g[k] = -sum / rho;
    }
    for (int k = 0; k < dim * dim; k++) b[k] /= rho;
    if (friction == YK_FRICTION_COULOMB) unlift(cone, u, b, g);
}
