/* Accelerated projected gradient (Nesterov 1983; Mazhar, Heyn, Negrut, Tasora 2015) for
 *
 *   minimise  r W r / 2 + (q + lift) r   over the cones, bilateral rows free
 *
 * in the metric of the diagonal blocks' means, which makes light and heavy bodies alike. The
 * Lipschitz constant L is found by backtracking; as the objective is quadratic the test is d W d
 * <= L |d|^2 for the step d, and the product W d serves for the gradient as well, so an iteration
 * costs one product. Momentum restarts when it points uphill (O'Donoghue, Candes 2015). With
 * Coulomb friction the lift mu |u_T| follows the iterates. */
#include "contact/methods.h"

#include <math.h>
#include <string.h>

#include "contact/cone.h"

typedef struct gradient {
    const yk_contact_problem *problem;
    yk_friction_model friction;
    double *metric; /* per block row */
    double *r, *wr; /* iterate and W r */
    double *y, *wy; /* extrapolated point */
    double *next, *wnext;
    double *lift; /* per contact */
    double lipschitz, theta;
} gradient;

static yk_status gradient_create(yk_context *context, const yk_contact_problem *problem,
                                 yk_friction_model friction, gradient *s)
{
    *s = (gradient){.problem = problem, .friction = friction, .lipschitz = 1, .theta = 1};
    double **vectors[] = {&s->r, &s->wr, &s->y, &s->wy, &s->next, &s->wnext};
    yk_status status = YK_OK;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = yk_allocate(context, (size_t)problem->row_count + 1, sizeof **vectors[i]);
        if (!*vectors[i])
            status = YK_ERROR_MEMORY;
    }

    s->metric = yk_allocate(context, (size_t)problem->w.block_rows + 1, sizeof *s->metric);
    s->lift = yk_allocate(context, (size_t)problem->contact_count + 1, sizeof *s->lift);
    if (!s->metric || !s->lift || status != YK_OK)
        return YK_ERROR_MEMORY;

    /* The metric: mean diagonals of the blocks. */
    double mean = yk_contact_mean_diagonal(problem);
    for (int i = 0; i < problem->w.block_rows; i++) {
        int first = problem->w.first[i], dim = problem->w.first[i + 1] - first;
        const double *block = yk_contact_diagonal_block(problem, i);
        double sum = 0;
        for (int k = 0; k < dim; k++)
            sum += block[k * dim + k] + (problem->softness ? problem->softness[first + k] : 0);
        s->metric[i] = sum > 0 ? sum / dim : mean;
    }

    return YK_OK;
}

static void gradient_destroy(yk_context *context, gradient *s)
{
    void *arrays[] = {s->r, s->wr, s->y, s->wy, s->next, s->wnext, s->metric, s->lift};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        yk_release(context, arrays[i]);
}

/* y ahead of next in the direction of the last change, unless momentum leads uphill: the step
 * from y to next and the progress from r to next disagree. */
static void extrapolate(gradient *s)
{
    const int *first = s->problem->w.first;
    double uphill = 0;

    for (int i = 0; i < s->problem->w.block_rows; i++) {
        for (int k = first[i]; k < first[i + 1]; k++)
            uphill += s->metric[i] * (s->y[k] - s->next[k]) * (s->next[k] - s->r[k]);
    }

    /* Nesterov's sequence of factors. */
    double square = s->theta * s->theta;
    double theta = (-square + s->theta * sqrt(square + 4)) / 2;
    double beta = s->theta * (1 - s->theta) / (square + theta);
    s->theta = theta;
    if (uphill > 0) {
        s->theta = 1;
        beta = 0;
    }

    for (int k = 0; k < s->problem->row_count; k++) {
        s->y[k] = s->next[k] + beta * (s->next[k] - s->r[k]);
        s->wy[k] = s->wnext[k] + beta * (s->wnext[k] - s->wr[k]);
        s->r[k] = s->next[k];
        s->wr[k] = s->wnext[k];
    }
}

/* One iteration: next = P(y - gradient(y) / (L metric)) with L large enough, then the next y. */
static void gradient_step(gradient *s)
{
    const yk_contact_problem *problem = s->problem;
    const int *first = problem->w.first;
    int blocks = problem->w.block_rows;

    s->lipschitz *= 0.95;
    for (int tries = 0; tries < 60; tries++) {
        for (int i = 0; i < blocks; i++) {
            double size = 1 / (s->lipschitz * s->metric[i]);
            for (int k = first[i]; k < first[i + 1]; k++)
                s->next[k] = s->y[k] - size * (s->wy[k] + problem->q[k]);
            if (i >= problem->contact_count)
                continue;

            double *next = s->next + first[i];
            yk_cone cone = yk_problem_cone(problem, i);
            next[0] -= size * s->lift[i];
            if (s->friction == YK_FRICTION_BOX) {
                yk_box_project(&cone, next[0], next, next);
            } else {
                yk_cone_project(&cone, next, next);
            }
        }

        yk_contact_multiply(problem, s->next, s->wnext);

        /* d W d <= L |d|^2 for d = next - y, with room for rounding. */
        double energy = 0, length = 0;
        for (int i = 0; i < blocks; i++) {
            for (int k = first[i]; k < first[i + 1]; k++) {
                double d = s->next[k] - s->y[k];
                energy += d * (s->wnext[k] - s->wy[k]);
                length += s->metric[i] * d * d;
            }
        }

        if (energy <= s->lipschitz * length * (1 + 1e-10))
            break;
        s->lipschitz *= 1.6;
    }

    extrapolate(s);
}

/* The residual with u of the iterate, and its lift. */
static double residual_of_iterate(gradient *s, double rho, double *u)
{
    const yk_contact_problem *problem = s->problem;
    for (int k = 0; k < problem->row_count; k++)
        u[k] = s->wr[k] + problem->q[k];
    for (int i = 0; s->friction == YK_FRICTION_COULOMB && i < problem->contact_count; i++) {
        yk_cone cone = yk_problem_cone(problem, i);
        s->lift[i] = yk_cone_lift(&cone, u + problem->w.first[i]);
    }
    return yk_contact_residual_of(problem, s->friction, rho, s->r, u);
}

static yk_status iterate(yk_context *context, gradient *s, const yk_contact_options *options,
                         double *r, double *u, yk_contact_report *report)
{
    size_t bytes = (size_t)s->problem->row_count * sizeof *r;
    int limit = options->iterations > 0 ? options->iterations : 10000;
    double rho = 1 / yk_contact_mean_diagonal(s->problem);

    memcpy(s->r, r, bytes);
    yk_contact_multiply(s->problem, s->r, s->wr);
    memcpy(s->y, s->r, bytes);
    memcpy(s->wy, s->wr, bytes);

    /* Steps may go up: the best iterate is kept. */
    double residual = residual_of_iterate(s, rho, u), best = residual;
    while (best > options->tolerance && report->iterations < limit) {
        gradient_step(s);
        report->iterations++;
        residual = residual_of_iterate(s, rho, u);
        if (!isfinite(residual))
            break;
        if (options->history && report->history_count < options->history_capacity)
            options->history[report->history_count++] = residual;
        if (residual >= best)
            continue;
        best = residual;
        memcpy(r, s->r, bytes);
    }

    report->residual = yk_contact_residual(s->problem, s->friction, r, u);
    if (best <= options->tolerance || options->tolerance <= 0)
        return YK_OK;
    return yk_fail(context, YK_NOT_CONVERGED,
                   "contact: residual %.3g after %d gradient steps, wanted %.3g", best,
                   report->iterations, options->tolerance);
}

yk_status yk_contact_solve_gradient(yk_context *context, const yk_contact_problem *problem,
                                    const yk_contact_options *options, double *r, double *u,
                                    yk_contact_report *report)
{
    gradient s;
    yk_status status = gradient_create(context, problem, options->friction, &s);
    if (status == YK_OK)
        status = iterate(context, &s, options, r, u, report);
    gradient_destroy(context, &s);
    return status;
}
