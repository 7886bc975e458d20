/* Interior-point solution of cone and Coulomb problems: a primal-dual interior-point method,
 * followed by semismooth Newton steps.
 *
 * Each friction group of a contact is a second-order cone. With T = diag(mu, 1, 1) on (r_N, r_g),
 *
 *   x = T (r_N, r_g), z = (a / mu, u_g) in the Lorentz cone, x o z = 0, sum over the groups of a =
 *   u_N + lift
 *
 * where lift = mu |u_T| gives true Coulomb friction and lift = 0 the convex problem. The steps are
 * Mehrotra's predictor and corrector with Nesterov-Todd scaling (Andersen, Roos, Terlaky 2003).
 * Eliminating z leaves
 *
 *   (W + block diagonal) dr = right-hand side
 *
 * which is regular however redundant the contacts are. The lift is linearized with the rest (E
 * below), so that Coulomb friction needs no outer iteration; the block diagonal is then not
 * symmetric. Interior iterates converge fast but lose their last digits at contacts that neither
 * press nor separate. As soon as the residual is small, Newton steps on the natural map (newton.c)
 * start from the iterate, which shows the contacts that stick, slide or separate, and finish in one
 * to four steps. Otherwise the interior-point method continues.
 *
 * With the linearized lift the method need not converge, because Coulomb problems are not monotone:
 * in dense heaps its path leaves the central path. It stops when the residual no longer decreases.
 * Proximal point iterations (newton.c) then continue from the best iterate, and from the result of
 * a few sweeps if that fails. Pyramid friction is solved by Gauss-Seidel sweeps alternating with
 * Newton steps. */
#include "contact/solver.h"

#include <math.h>
#include <string.h>

#include "contact/cone.h"
#include "contact/newton.h"

enum {
    CONE_DIM_MAX = 3,
    PATIENCE = 12,    /* interior-point steps within which the residual must halve */
    ITERATIONS = 2500 /* default limit of the steps of all methods together */
};

/* Default tolerance: Newton's method reaches it at the cost of a larger one. */
static const double DEFAULT_TOLERANCE = 1e-8;

/* One second-order cone. */
typedef struct cone_part {
    int contact;
    int normal;   /* row of the normal component */
    int friction; /* first row of the group */
    int dim;      /* 1 + rows of the group; 1: frictionless */
    double mu;    /* 1 for frictionless ones */
    double x[CONE_DIM_MAX], z[CONE_DIM_MAX];
    double dx[CONE_DIM_MAX], dz[CONE_DIM_MAX];
    double slope[CONE_DIM_MAX]; /* d lift / d z, without mu */
    double eta, scaling[CONE_DIM_MAX];
    double theta[CONE_DIM_MAX * CONE_DIM_MAX];
    double change[CONE_DIM_MAX]; /* dz = change - theta dx */
    double correction[CONE_DIM_MAX];
} cone_part;

typedef struct interior {
    yk_newton newton;
    yk_proximal proximal;
    cone_part *parts;
    int part_count;
    double *frozen_lift; /* per contact */
    bool lift_is_frozen;
    double *weight;      /* per contact: sum of mu^2 of its parts */
    double *gap, *moved; /* per row: residual of the velocity equation; W dr; normal mismatch */
    double *r, *u;       /* interior iterate */
    double *attempt, *attempt_u; /* for Newton steps */
    double complementarity;      /* mean of x . z */
    double scale;                /* of velocities */
    double *best, *best_u;
    double best_residual;
    double tolerance;
    int iterations, limit;
    yk_contact_options options;
    yk_contact_report *report;
} interior;

/* The algebra of one cone ---------------------------------------------------------------------- */

/* x_0^2 - |x_1|^2, kept positive despite rounding errors. */
static double determinant(int dim, const double *x)
{
    double sum = 0;
    for (int k = 1; k < dim; k++)
        sum += x[k] * x[k];

    /* As a product of two factors, with less cancellation than the difference of squares. */
    double norm = sqrt(sum);
    double gap = x[0] - norm;
    return fmax(gap, 1e-16 * fabs(x[0]) + 1e-300) * (x[0] + norm);
}

/* c = a o b */
static void jordan_product(int dim, const double *a, const double *b, double *c)
{
    double sum = a[0] * b[0];
    for (int k = 1; k < dim; k++) {
        sum += a[k] * b[k];
        c[k] = a[0] * b[k] + b[0] * a[k];
    }

    c[0] = sum;
}

/* The largest step for which x + step dx remains in the cone: the first positive root of det(x +
 * step dx). */
static double step_to_boundary(int dim, const double *x, const double *dx)
{
    /* det(x + t dx) = a t^2 + 2 b t + c */
    double a = dx[0] * dx[0];
    double b = x[0] * dx[0];
    double c = determinant(dim, x);
    for (int k = 1; k < dim; k++) {
        a -= dx[k] * dx[k];
        b -= x[k] * dx[k];
    }

    /* The tip of the cone. */
    double best = INFINITY;
    if (dx[0] < 0)
        best = -x[0] / dx[0];

    double discriminant = b * b - a * c;
    if (discriminant < 0)
        return best;

    /* Both roots without cancellation. */
    double root = -(b + copysign(sqrt(discriminant), b));
    if (a != 0 && root / a > 0)
        best = fmin(best, root / a);
    if (root != 0 && c / root > 0)
        best = fmin(best, c / root);
    return best;
}

/* Nesterov-Todd scaling S with S x = S^-1 z: eta and the unit hyperbolic vector w (`scaling`);
 * theta = S^2 = eta^2 (2 w w^T - J). */
static void scale_part(cone_part *p)
{
    int dim = p->dim;
    double root_x = sqrt(determinant(dim, p->x));
    double root_z = sqrt(determinant(dim, p->z));

    /* Both vectors scaled to unit determinant; w points to their middle. */
    double product = 0;
    for (int k = 0; k < dim; k++)
        product += p->x[k] / root_x * (p->z[k] / root_z);

    double gamma = sqrt((1 + product) / 2);
    p->eta = sqrt(root_z / root_x);

    double tail = 0;
    for (int k = 1; k < dim; k++) {
        p->scaling[k] = (p->z[k] / root_z - p->x[k] / root_x) / (2 * gamma);
        tail += p->scaling[k] * p->scaling[k];
    }
    p->scaling[0] = sqrt(1 + tail); /* unit determinant despite rounding errors */

    /* S^2. */
    double eta2 = p->eta * p->eta;
    for (int k = 0; k < dim; k++) {
        for (int l = 0; l < dim; l++) {
            double j = 0; /* of -J = diag(-1, 1, 1) */
            if (k == l)
                j = k == 0 ? -1 : 1;
            p->theta[k * dim + l] = eta2 * (2 * p->scaling[k] * p->scaling[l] + j);
        }
    }
}

/* y = S x (sign 1) or S^-1 x (sign -1) */
static void apply_scaling(const cone_part *p, double sign, const double *x, double *y)
{
    const double *w = p->scaling;
    double factor = p->eta;

    if (sign < 0)
        factor = 1 / p->eta;

    /* The components of x along w and perpendicular to it. */
    double mixed = 0;
    for (int k = 1; k < p->dim; k++)
        mixed += w[k] * x[k];

    double along = sign * x[0] + mixed / (1 + w[0]);
    double head = w[0] * x[0] + sign * mixed;
    for (int k = 1; k < p->dim; k++)
        y[k] = factor * (x[k] + along * w[k]);
    y[0] = factor * head;
}

/* Row of the problem for component k of a part. */
static int part_row(const cone_part *p, int k)
{
    return k == 0 ? p->normal : p->friction + k - 1;
}

static double part_factor(const cone_part *p, int k)
{
    return k == 0 ? p->mu : 1;
}

/* Set-up --------------------------------------------------------------------------------------- */

/* Lists the cones of all contacts: one per friction group, or one for the normal of a contact
 * without friction. With `parts` NULL it only counts. */
static int list_parts(const yk_contact_problem *problem, cone_part *parts)
{
    int count = 0;
    for (int i = 0; i < problem->contact_count; i++) {
        yk_cone cone = yk_problem_cone(problem, i);
        int first = problem->w.first[i];
        int before = count;

        for (int g = 0; g < YK_FRICTION_GROUPS; g++) {
            int start = yk_cone_group_start[g];
            int size = yk_cone_group_end(cone.dim, g) - start;
            if (size <= 0 || cone.mu[g] <= 0)
                continue;
            if (parts) {
                cone_part *p = &parts[count];
                *p = (cone_part){.contact = i, .normal = first};
                p->friction = first + start;
                p->dim = 1 + size;
                p->mu = cone.mu[g];
            }

            count++;
        }

        /* Without friction: the half-line of the normal. */
        if (count > before)
            continue;
        if (parts)
            parts[count] = (cone_part){.contact = i, .normal = first, .dim = 1, .mu = 1};
        count++;
    }

    return count;
}

static void interior_destroy(yk_context *context, interior *s)
{
    void *arrays[] = {s->parts, s->frozen_lift, s->weight,    s->gap,  s->moved, s->r,
                      s->u,     s->attempt,     s->attempt_u, s->best, s->best_u};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        yk_free(context, arrays[i]);
    yk_newton_destroy(context, &s->newton);
    yk_proximal_destroy(context, &s->proximal);
}

static yk_status interior_create(yk_context *context, const yk_contact_problem *problem,
                                 const yk_contact_options *options, interior *s)
{
    size_t rows = (size_t)problem->row_count + 1;
    size_t contacts = (size_t)problem->contact_count + 1;

    *s = (interior){.options = *options, .best_residual = INFINITY};

    s->tolerance = DEFAULT_TOLERANCE;
    if (options->tolerance > 0)
        s->tolerance = options->tolerance;

    s->limit = ITERATIONS;
    if (options->max_iterations > 0)
        s->limit = options->max_iterations;

    /* Memory shared by the phases, then that of the interior-point method. */
    yk_status status = yk_newton_create(context, problem, options->friction_model, &s->newton);
    if (status != YK_OK)
        return status;

    status = yk_proximal_create(context, problem, &s->proximal);

    /* First count, then list. */
    s->part_count = list_parts(problem, NULL);
    s->parts = yk_allocate(context, (size_t)s->part_count + 1, sizeof *s->parts);
    s->frozen_lift = yk_allocate(context, contacts, sizeof *s->frozen_lift);
    s->weight = yk_allocate(context, contacts, sizeof *s->weight);
    if (!s->parts || !s->frozen_lift || !s->weight)
        status = YK_ERROR_MEMORY;

    double **vectors[] = {&s->gap,     &s->moved,     &s->r,    &s->u,
                          &s->attempt, &s->attempt_u, &s->best, &s->best_u};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = yk_allocate(context, rows, sizeof **vectors[i]);
        if (!*vectors[i])
            status = YK_ERROR_MEMORY;
    }

    if (status != YK_OK) {
        interior_destroy(context, s);
        return status;
    }

    /* Weights of the parts of a contact. */
    list_parts(problem, s->parts);
    for (int i = 0; i < s->part_count; i++)
        s->weight[s->parts[i].contact] += s->parts[i].mu * s->parts[i].mu;

    /* The scale of velocities. */
    double sum = 0;
    for (int k = 0; k < problem->row_count; k++)
        sum += problem->q[k] * problem->q[k];

    s->scale = 1;
    if (sum > 0)
        s->scale = sqrt(sum / problem->row_count);
    return YK_OK;
}

static size_t row_bytes(const interior *s)
{
    return (size_t)s->newton.problem->row_count * sizeof(double);
}

/* Stores the best iterate of all phases, and the history. */
static void note(interior *s, const double *r, const double *u, double residual)
{
    /* A phase may end with a worse iterate than its best. */
    if (residual < s->best_residual) {
        s->best_residual = residual;
        memcpy(s->best, r, row_bytes(s));
        memcpy(s->best_u, u, row_bytes(s));
    }

    if (s->options.residual_history &&
        s->report->history_count < s->options.residual_history_capacity)
        s->options.residual_history[s->report->history_count++] = residual;
}

/* One interior-point step ---------------------------------------------------------------------- */

/* Computes x from r, the slope of the lift, the residual of the velocity equation (gap) and the
 * complementarity. */
static void measure(interior *s)
{
    const yk_contact_problem *problem = s->newton.problem;
    const int *first = problem->w.first;
    bool lifted = s->newton.friction == YK_FRICTION_COULOMB && !s->lift_is_frozen;

    /* The normal equation of a contact begins with its velocity; its parts add their terms. */
    for (int i = 0; i < problem->contact_count; i++) {
        double lift = 0;
        if (s->lift_is_frozen)
            lift = s->frozen_lift[i];
        s->gap[first[i]] = -s->u[first[i]] - lift;
    }

    /* Per cone: its impulse, its term in the normal equation, and the equations of friction. */
    double sum = 0;
    for (int i = 0; i < s->part_count; i++) {
        cone_part *p = &s->parts[i];
        double norm = 0;
        for (int k = 0; k < p->dim; k++) {
            p->x[k] = part_factor(p, k) * s->r[part_row(p, k)];
            sum += p->x[k] * p->z[k];
            if (k > 0)
                norm += p->z[k] * p->z[k];
        }

        norm = sqrt(norm);

        for (int k = 1; k < p->dim; k++) {
            int row = p->friction + k - 1;
            p->slope[k] = 0;
            if (lifted && norm > 0)
                p->slope[k] = p->z[k] / norm;
            s->gap[row] = p->z[k] - s->u[row];
        }

        s->gap[p->normal] += p->mu * (p->z[0] - (lifted ? norm : 0));
    }

    /* Bilateral rows have no cone. */
    for (int k = first[problem->contact_count]; k < problem->row_count; k++)
        s->gap[k] = -s->u[k];

    s->complementarity = 0;
    if (s->part_count > 0)
        s->complementarity = sum / s->part_count;
}

/* Friction components without a friction coefficient remain zero: a very large diagonal entry holds
 * them, and their right-hand side is zero. */
static void hold_frictionless_rows(interior *s, bool rhs_too)
{
    const yk_contact_problem *problem = s->newton.problem;
    for (int i = 0; i < problem->contact_count; i++) {
        yk_cone cone = yk_problem_cone(problem, i);
        double *right = s->newton.right + s->newton.block_offset[i];
        double *rhs = s->newton.rhs + problem->w.first[i];

        for (int g = 0; g < YK_FRICTION_GROUPS; g++) {
            if (cone.mu[g] > 0)
                continue;
            for (int k = yk_cone_group_start[g]; k < yk_cone_group_end(cone.dim, g); k++) {
                if (rhs_too) {
                    rhs[k] = 0;
                } else {
                    right[k * cone.dim + k] = 1e16 * s->newton.mean;
                }
            }
        }
    }
}

/* Solves for dr, then computes dx and dz: the direction towards x o z = target. */
static void find_direction(interior *s, double target, bool correct)
{
    const yk_contact_problem *problem = s->newton.problem;
    double *rhs = s->newton.rhs;

    memcpy(rhs, s->gap, row_bytes(s));

    /* The complementarity condition of each part: change with dz = change - theta dx. */
    for (int i = 0; i < s->part_count; i++) {
        cone_part *p = &s->parts[i];
        double lambda[CONE_DIM_MAX];
        double goal[CONE_DIM_MAX];
        double scaled[CONE_DIM_MAX];
        apply_scaling(p, 1, p->x, lambda);
        jordan_product(p->dim, lambda, lambda, goal);
        for (int k = 0; k < p->dim; k++) {
            double second_order = 0;
            if (correct)
                second_order = p->correction[k];
            goal[k] = -goal[k] - second_order;
        }

        goal[0] += target;

        /* Solve lambda o scaled = goal for scaled. */
        double mixed = 0;
        for (int k = 1; k < p->dim; k++)
            mixed += lambda[k] * goal[k];
        double first = (lambda[0] * goal[0] - mixed) / determinant(p->dim, lambda);
        for (int k = 1; k < p->dim; k++)
            scaled[k] = (goal[k] - first * lambda[k]) / lambda[0];
        scaled[0] = first;
        apply_scaling(p, 1, scaled, p->change);

        for (int k = 0; k < p->dim; k++) {
            rhs[part_row(p, k)] += part_factor(p, k) * p->change[k];
            rhs[p->normal] -= p->mu * p->slope[k] * p->change[k];
        }
    }

    hold_frictionless_rows(s, true);
    yk_newton_solve(&s->newton, 1);

    /* dz of friction from the velocity equation, that of the normal from the complementarity. */
    double *moved = s->moved;
    yk_contact_multiply(problem, s->newton.step, moved);
    for (int k = 0; k < problem->row_count; k++)
        moved[k] -= s->gap[k];
    for (int i = 0; i < s->part_count; i++) {
        cone_part *p = &s->parts[i];
        for (int k = 0; k < p->dim; k++)
            p->dx[k] = part_factor(p, k) * s->newton.step[part_row(p, k)];

        p->dz[0] = p->change[0];
        for (int k = 0; k < p->dim; k++)
            p->dz[0] -= p->theta[k] * p->dx[k];
        moved[p->normal] -= p->mu * p->dz[0];

        for (int k = 1; k < p->dim; k++) {
            p->dz[k] = moved[p->friction + k - 1];
            moved[p->normal] += p->mu * p->slope[k] * p->dz[k];
        }
    }

    /* Distribute the remainder of the normal equation to the parts, so that it holds to rounding
     * errors. */
    for (int i = 0; i < s->part_count; i++) {
        cone_part *p = &s->parts[i];
        p->dz[0] += p->mu / s->weight[p->contact] * moved[p->normal];
    }
}

static double longest_step(const interior *s)
{
    double step = INFINITY;
    for (int i = 0; i < s->part_count; i++) {
        const cone_part *p = &s->parts[i];
        step = fmin(step, step_to_boundary(p->dim, p->x, p->dx));
        step = fmin(step, step_to_boundary(p->dim, p->z, p->dz));
    }

    return step;
}

/* Direction and length of a step from the evaluated point. */
static double plan_step(interior *s)
{
    yk_newton *newton = &s->newton;
    const int *first = newton->problem->w.first;
    size_t numbers = newton->block_offset[newton->problem->w.block_rows];

    /* The block diagonal: T E theta T of every part. */
    memset(newton->right, 0, numbers * sizeof *newton->right);
    newton->left_is_identity = true;
    for (int i = 0; i < s->part_count; i++) {
        cone_part *p = &s->parts[i];
        int begin = first[p->contact];
        int dim = first[p->contact + 1] - begin;
        double *block = newton->right + newton->block_offset[p->contact];
        scale_part(p);

        for (int l = 0; l < p->dim; l++) {
            double lifted = 0;
            for (int k = 1; k < p->dim; k++)
                lifted += p->slope[k] * p->theta[k * p->dim + l];

            int column = part_row(p, l) - begin;
            for (int k = 0; k < p->dim; k++) {
                int row = part_row(p, k) - begin;
                double value = p->theta[k * p->dim + l] - (k == 0 ? lifted : 0);
                block[row * dim + column] += part_factor(p, k) * value * part_factor(p, l);
            }
        }
    }

    hold_frictionless_rows(s, false);
    yk_newton_factor(newton);

    /* With joints only, there is nothing to predict. */
    if (s->part_count == 0) {
        find_direction(s, 0, false);
        return fmin(1, 0.995 * longest_step(s));
    }

    /* Predictor: decrease of the complementarity without centering, and its second-order term. */
    find_direction(s, 0, false);
    double step = fmin(1, longest_step(s));
    double sum = 0;
    for (int i = 0; i < s->part_count; i++) {
        cone_part *p = &s->parts[i];
        double scaled_dx[CONE_DIM_MAX];
        double scaled_dz[CONE_DIM_MAX];
        for (int k = 0; k < p->dim; k++)
            sum += (p->x[k] + step * p->dx[k]) * (p->z[k] + step * p->dz[k]);
        apply_scaling(p, 1, p->dx, scaled_dx);
        apply_scaling(p, -1, p->dz, scaled_dz);
        jordan_product(p->dim, scaled_dx, scaled_dz, p->correction);
    }

    /* Corrector: the better the predictor, the less centering (Mehrotra). */
    double ratio = sum / (s->part_count * s->complementarity);
    double centring = fmin(1, fmax(1e-6, ratio * ratio * ratio));
    find_direction(s, centring * s->complementarity, true);
    return fmin(1, 0.995 * longest_step(s));
}

/* Returns the length of the step. If the linearized lift leads directly out of the cones, which is
 * possible because the problem is not monotone, the step is repeated with a constant lift. */
static double interior_step(interior *s)
{
    const yk_contact_problem *problem = s->newton.problem;
    double step = plan_step(s);

    /* Repeat with the present lift of the iterate. */
    if (step < 1e-2 && s->newton.friction == YK_FRICTION_COULOMB && !s->lift_is_frozen) {
        memset(s->frozen_lift, 0, (size_t)problem->contact_count * sizeof *s->frozen_lift);
        for (int i = 0; i < s->part_count; i++) {
            const cone_part *p = &s->parts[i];
            double norm = 0;
            for (int k = 1; k < p->dim; k++)
                norm += p->z[k] * p->z[k];
            s->frozen_lift[p->contact] += p->mu * sqrt(norm);
        }

        s->lift_is_frozen = true;
        measure(s);
        step = plan_step(s);
        s->lift_is_frozen = false;
        s->iterations++;
    }

    /* r and z; x follows r. */
    for (int k = 0; k < problem->row_count; k++)
        s->r[k] += step * s->newton.step[k];
    for (int i = 0; i < s->part_count; i++) {
        cone_part *p = &s->parts[i];
        for (int k = 0; k < p->dim; k++)
            p->z[k] += step * p->dz[k];
    }

    s->iterations++;
    return step;
}

/* The phases ----------------------------------------------------------------------------------- */

static double residual_of(interior *s, const double *r)
{
    return yk_contact_residual(s->newton.problem, s->newton.friction, r, s->u);
}

/* Newton steps from the given iterate; returns true if the tolerance is met. */
static bool polish(interior *s, const double *r, const double *u, double residual, double gain,
                   int limit)
{
    int left = s->limit - s->iterations;
    if (limit > left)
        limit = left;

    memcpy(s->attempt, r, row_bytes(s));
    memcpy(s->attempt_u, u, row_bytes(s));
    s->iterations += yk_newton_iterate(&s->newton, s->tolerance, gain, limit, s->attempt,
                                       s->attempt_u, &residual);

    note(s, s->attempt, s->attempt_u, residual);
    return residual <= s->tolerance;
}

/* Interior-point steps until Newton's method can finish, or until there is no progress. */
static bool approach(interior *s, int limit, double size)
{
    /* A point well inside all cones, scaled by q and W. */
    double impulse = size * s->scale / s->newton.mean;
    memset(s->r, 0, row_bytes(s));
    for (int i = 0; i < s->part_count; i++) {
        cone_part *p = &s->parts[i];
        s->r[p->normal] = fmax(s->r[p->normal], impulse / p->mu);
        memset(p->z, 0, sizeof p->z);
        p->z[0] = size * s->scale;
    }

    /* The residual must halve every few steps. */
    double try_newton_at = 1e-5;
    double smallest = INFINITY;
    /* the residual when it had last halved, and the number of that step */
    double milestone = INFINITY;
    int mark = 0;
    int short_steps = 0;
    for (int i = 0; i < limit && s->iterations < s->limit; i++) {
        double residual = residual_of(s, s->r);
        note(s, s->r, s->u, residual);
        if (residual <= s->tolerance)
            return true;

        /* No progress: the residual grows, or has not halved for many steps. */
        if (!isfinite(residual) || residual > 30 * smallest ||
            yk_context_should_stop(s->proximal.context))
            return false;
        smallest = fmin(smallest, residual);
        if (smallest < 0.5 * milestone) {
            milestone = smallest;
            mark = i;
        }
        if (i - mark > PATIENCE)
            return false;

        /* The residual may be small enough for Newton's method. */
        if (residual <= try_newton_at) {
            if (polish(s, s->r, s->u, residual, 0.3, 6))
                return true;
            try_newton_at = 0.03 * residual;
        }

        /* A step. Several short steps in a row mean failure. */
        measure(s);
        double step = interior_step(s);
        short_steps++;
        if (!(step < 1e-2))
            short_steps = 0;
        if (!(step > 1e-6) || short_steps >= 3)
            return false;
    }

    return false;
}

/* Proximal point steps from r, u. */
static bool persist(interior *s, double residual)
{
    int left = s->limit - s->iterations;
    int limit = left < 1200 ? left : 1200;
    s->iterations +=
        yk_proximal_iterate(&s->proximal, &s->newton, s->tolerance, limit, s->r, s->u, &residual);

    note(s, s->r, s->u, residual);
    return residual <= s->tolerance;
}

static void return_to_best(interior *s)
{
    memcpy(s->r, s->best, row_bytes(s));
    memcpy(s->u, s->best_u, row_bytes(s));
}

/* Tries the methods in turn, the cheapest first, until one meets the tolerance. */
static bool run_cascade(interior *s, const double *start)
{
    const yk_contact_problem *problem = s->newton.problem;
    yk_friction_model friction = s->newton.friction;

    /* Starting from the solution of the last step, Newton steps may be sufficient. */
    if (start) {
        double residual = residual_of(s, start);
        note(s, start, s->u, residual);
        if (residual <= s->tolerance || polish(s, start, s->u, residual, 0.5, 6))
            return true;
    }

    /* Pyramid friction: Gauss-Seidel sweeps and Newton steps in turn, from the best iterate so far. */
    if (friction == YK_FRICTION_PYRAMID) {
        memset(s->r, 0, row_bytes(s));
        if (isfinite(s->best_residual))
            memcpy(s->r, s->best, row_bytes(s));
        int sweeps = 20;
        for (int round = 0; round < 8 && s->iterations < s->limit; round++) {
            yk_gauss_seidel_sweeps(problem, friction, 1, true, sweeps, s->r);
            double residual = residual_of(s, s->r);
            if (!isfinite(residual))
                return false;
            note(s, s->r, s->u, residual);
            if (residual <= s->tolerance || polish(s, s->r, s->u, residual, 0.9, 20))
                return true;
            sweeps *= 2;
        }

        return false;
    }

    /* For easy problems a few sweeps, and possibly Newton steps, are sufficient. */
    memset(s->r, 0, row_bytes(s));
    yk_gauss_seidel_sweeps(problem, friction, 1, true, 10, s->r);
    double residual = residual_of(s, s->r);
    note(s, s->r, s->u, residual);
    if (residual <= s->tolerance)
        return true;
    if (residual < 1e-2 && polish(s, s->r, s->u, residual, 0.5, 6))
        return true;

    /* The interior-point method. If it stalls, Newton steps with more patience from the best
     * iterate. */
    if (approach(s, 60, 30))
        return true;

    if (s->best_residual < 1e-3) {
        return_to_best(s);
        if (polish(s, s->r, s->u, s->best_residual, 0.95, 30))
            return true;
    }

    /* Proximal point steps from the best iterate, then from the result of a few sweeps: if one of
     * them cycles, the other often converges. */
    if (isfinite(s->best_residual)) {
        return_to_best(s);
        if (persist(s, s->best_residual))
            return true;
    }

    memset(s->r, 0, row_bytes(s));
    yk_gauss_seidel_sweeps(problem, friction, 1, true, 10, s->r);
    residual = residual_of(s, s->r);
    if (!isfinite(residual))
        return false;
    return persist(s, residual);
}

yk_status yk_contact_solve_accurate(yk_context *context, const yk_contact_problem *problem,
                                    const yk_contact_options *options, double *r, double *u,
                                    yk_contact_report *report)
{
    interior s;
    yk_status status = interior_create(context, problem, options, &s);
    if (status != YK_OK)
        return status;

    s.report = report;
    bool done = run_cascade(&s, options->warm_start ? r : NULL);

    /* The best iterate of all phases is the result. */
    if (isfinite(s.best_residual)) {
        memcpy(r, s.best, row_bytes(&s));
        memcpy(u, s.best_u, row_bytes(&s));
    }

    report->iterations = s.iterations;
    report->residual = s.best_residual;
    if (!done)
        status = yk_fail(context, YK_NOT_CONVERGED,
                         "contact: residual %.3g after %d steps, wanted %.3g; the problem may have "
                         "no solution, or its W may not be symmetric and positive semidefinite",
                         s.best_residual, s.iterations, s.tolerance);
    interior_destroy(context, &s);
    return status;
}
