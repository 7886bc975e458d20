/* Accelerated projected gradient (Nesterov 1983; Mazhar, Heyn, Negrut, Tasora 2015) for
 *
 *   minimise  r W r / 2 + (q + lift) r   over the cones, bilateral rows free
 *
 * in the metric of the diagonal blocks' means, which makes light and heavy bodies alike. The
 * Lipschitz constant L is found by backtracking; as the objective is quadratic the test is d W d
 * <= L |d|^2 for the step d, and the product W d serves for the gradient as well, so an iteration
 * costs one product. Momentum restarts when it points uphill (O'Donoghue, Candes 2015). With
 * Coulomb friction the lift mu |u_T| follows the iterates. */
#include "contact/solver.h"

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

/* One iteration: next = P(y - gradient(y) / (L metric)) with L large enough, then the next y. */
static void gradient_step(gradient *s)
{
    const yk_contact_problem *problem = s->problem;
    const int *first = problem->w.first;
    int blocks = problem->w.block_rows;

    /* L is tried a little smaller each time, and enlarged until the test below holds. */
    s->lipschitz *= 0.95;
    for (int tries = 0; tries < 60; tries++) {
        /* The projected step of every block in its own metric. */
        for (int i = 0; i < blocks; i++) {
            double size = 1 / (s->lipschitz * s->metric[i]);
            for (int k = first[i]; k < first[i + 1]; k++)
                s->next[k] = s->y[k] - size * (s->wy[k] + problem->q[k]);
            if (i >= problem->contact_count)
                continue;

            double *next = s->next + first[i];
            yk_cone cone = yk_problem_cone(problem, i);
            next[0] -= size * s->lift[i];
            yk_friction_project(&cone, s->friction, next, next);
        }

        yk_contact_multiply(problem, s->next, s->wnext);

        /* d W d <= L |d|^2 for d = next - y, but for rounding. */
        double energy = 0;
        double length = 0;
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

    /* The momentum leads uphill where the step from y to next and the progress from r to next
     * disagree. */
    double uphill = 0;
    for (int i = 0; i < blocks; i++) {
        for (int k = first[i]; k < first[i + 1]; k++)
            uphill += s->metric[i] * (s->y[k] - s->next[k]) * (s->next[k] - s->r[k]);
    }

    /* Nesterov's sequence of factors, from its beginning where the momentum leads uphill. */
    double square = s->theta * s->theta;
    double theta = (-square + s->theta * sqrt(square + 4)) / 2;
    double beta = s->theta * (1 - s->theta) / (square + theta);
    s->theta = theta;
    if (uphill > 0) {
        s->theta = 1;
        beta = 0;
    }

    /* y ahead of next in the direction of the last change; W y follows from W r and W next. */
    for (int k = 0; k < problem->row_count; k++) {
        s->y[k] = s->next[k] + beta * (s->next[k] - s->r[k]);
        s->wy[k] = s->wnext[k] + beta * (s->wnext[k] - s->wr[k]);
        s->r[k] = s->next[k];
        s->wr[k] = s->wnext[k];
    }
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

yk_status yk_contact_solve_gradient(yk_context *context, const yk_contact_problem *problem,
                                    const yk_contact_options *options, double *r, double *u,
                                    yk_contact_report *report)
{
    const yk_block_matrix *w = &problem->w;
    gradient s = {.problem = problem, .friction = options->friction, .lipschitz = 1, .theta = 1};

    /* One piece of memory for the six vectors, the metric and the lift. */
    size_t rows = (size_t)problem->row_count;
    size_t blocks = (size_t)w->block_rows;
    size_t contacts = (size_t)problem->contact_count;
    double *memory = yk_allocate(context, 6 * rows + blocks + contacts + 1, sizeof *memory);
    if (!memory)
        return YK_ERROR_MEMORY;
    s.r = memory;
    s.wr = s.r + rows;
    s.y = s.wr + rows;
    s.wy = s.y + rows;
    s.next = s.wy + rows;
    s.wnext = s.next + rows;
    s.metric = s.wnext + rows;
    s.lift = s.metric + blocks;

    /* The metric: mean diagonals of the blocks. */
    double mean = yk_contact_mean_diagonal(problem);
    for (int i = 0; i < w->block_rows; i++) {
        int first = w->first[i];
        int dim = w->first[i + 1] - first;
        const double *block = yk_contact_diagonal_block(problem, i);
        double sum = 0;
        for (int k = 0; k < dim; k++) {
            double soft = 0;
            if (problem->softness)
                soft = problem->softness[first + k];
            sum += block[k * dim + k] + soft;
        }

        s.metric[i] = sum > 0 ? sum / dim : mean;
    }

    /* From r, without momentum. */
    size_t bytes = rows * sizeof *r;
    memcpy(s.r, r, bytes);
    yk_contact_multiply(problem, s.r, s.wr);
    memcpy(s.y, s.r, bytes);
    memcpy(s.wy, s.wr, bytes);

    /* Steps may go up: the best iterate is kept. */
    int limit = options->iterations > 0 ? options->iterations : 10000;
    double rho = 1 / mean;
    double best = residual_of_iterate(&s, rho, u);
    while (best > options->tolerance && report->iterations < limit) {
        gradient_step(&s);
        report->iterations++;
        double residual = residual_of_iterate(&s, rho, u);
        if (!isfinite(residual))
            break;
        if (options->history && report->history_count < options->history_capacity)
            options->history[report->history_count++] = residual;
        if (residual >= best)
            continue;
        best = residual;
        memcpy(r, s.r, bytes);
    }

    yk_release(context, memory);

    report->residual = yk_contact_residual(problem, options->friction, r, u);
    if (best <= options->tolerance || options->tolerance <= 0)
        return YK_OK;
    return yk_fail(context, YK_NOT_CONVERGED,
                   "contact: residual %.3g after %d gradient steps, wanted %.3g", best,
                   report->iterations, options->tolerance);
}
