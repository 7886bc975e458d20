/* Proximal point iterations; see newton.h for the method (Rockafellar 1976; Acary, Bremond, Huber
 * 2018). */
#include "contact/newton.h"

#include <math.h>
#include <string.h>

static const double ALPHA_LEAST = 1e-9;

enum {
    STEP_LIMIT = 40,     /* Newton steps for one proximal step */
    UNDAMPED_LIMIT = 15, /* of them without a line search, where those with one fail */
    STALL_LIMIT = 250,   /* Newton steps in which the best residual must fall by the gain below */
    FEW_STEPS = 4,       /* Newton steps after which alpha may fall, and may not stay */
    MANY_STEPS = 10
};
static const double INNER_GAIN = 0.1;
static const double OUTER_GAIN = 0.7;

/* Coulomb problems are not monotone: the iterates may circle around a solution or drift past it.
 * Which strategy gets there differs from problem to problem, so each is tried in turn, from the
 * best iterate so far. */
static const struct strategy {
    double momentum;
    bool undamped;
    double alpha;
} strategies[] = {{0.5, true, 1e-2}, {0.9, true, 1e-2},  {0.5, false, 1e-2},
                  {0, true, 1e-1},   {0.9, false, 1e-3}, {0.5, true, 1e-4}};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

yk_status yk_proximal_create(yk_context *context, const yk_contact_problem *problem, yk_proximal *p)
{
    size_t rows = (size_t)problem->row_count + 1;

    *p = (yk_proximal){.problem = problem, .shifted = *problem};
    p->shifted.q = NULL;
    p->shifted.softness = NULL;

    double **vectors[] = {
        &p->shifted.q, &p->shifted.softness, &p->scale, &p->centre, &p->last, &p->best, &p->best_u};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = yk_allocate(context, rows, sizeof **vectors[i]);
        if (*vectors[i])
            continue;
        yk_proximal_destroy(context, p);
        return YK_ERROR_MEMORY;
    }

    /* D: the mean diagonal of each block. */
    const yk_block_matrix *w = &problem->w;
    double mean = yk_contact_mean_diagonal(problem);
    for (int i = 0; i < w->block_rows; i++) {
        const double *block = yk_contact_diagonal_block(problem, i);
        int first = w->first[i];
        int dim = w->first[i + 1] - first;
        double sum = 0;
        for (int k = 0; k < dim; k++)
            sum += block[k * dim + k];
        double scale = sum > 0 ? sum / dim : mean;
        for (int k = 0; k < dim; k++)
            p->scale[first + k] = scale;
    }

    return YK_OK;
}

void yk_proximal_destroy(yk_context *context, yk_proximal *p)
{
    double *vectors[] = {p->shifted.q, p->shifted.softness, p->scale, p->centre, p->last, p->best,
                         p->best_u};

    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        yk_release(context, vectors[i]);
    *p = (yk_proximal){0};
}

/* One proximal step from r, whose residual is `now`; returns that of the result, which is r again
 * where it failed. */
static double proximal_step(yk_proximal *p, yk_newton *newton, int limit, double now, double *r,
                            double *u, int *steps)
{
    const yk_contact_problem *problem = p->problem;
    int rows = problem->row_count;

    /* The centre y is ahead of r in the direction of the last change. */
    double ratio = fmin(p->momentum, p->age / (p->age + 3.0));
    for (int k = 0; k < rows; k++)
        p->centre[k] = r[k] + ratio * (r[k] - p->last[k]);

    memcpy(p->last, r, (size_t)rows * sizeof *r);
    memcpy(r, p->centre, (size_t)rows * sizeof *r);

    /* W + alpha D and q - alpha D y. */
    for (int k = 0; k < rows; k++) {
        double added = p->alpha * p->scale[k];
        double soft = 0;
        if (problem->softness)
            soft = problem->softness[k];
        p->shifted.softness[k] = added + soft;
        p->shifted.q[k] = problem->q[k] - added * p->centre[k];
    }

    /* Newton's method on the shifted problem, without a line search where that gains too little. */
    newton->problem = &p->shifted;
    double residual = yk_contact_residual(&p->shifted, newton->friction, r, u);
    double goal = INNER_GAIN * residual;
    int most = limit < STEP_LIMIT ? limit : STEP_LIMIT;
    *steps = yk_newton_iterate(newton, goal, 0.999, most, r, u, &residual);
    if (p->undamped && residual > goal) {
        int left = limit - *steps;
        if (left > UNDAMPED_LIMIT)
            left = UNDAMPED_LIMIT;
        *steps += yk_newton_iterate_undamped(newton, goal, left, r, u, &residual);
    }

    newton->problem = problem;

    bool solved = residual <= goal;
    double next = yk_contact_residual(problem, newton->friction, r, u);
    if (solved && next <= 1.3 * now) {
        p->age++;
    } else {
        p->age = 0;
    }

    /* The next alpha, by the trouble that Newton had. */
    if (!solved) {
        p->alpha *= 4;
    } else if (*steps <= FEW_STEPS) {
        p->alpha = fmax(ALPHA_LEAST, p->alpha / 3);
    } else if (*steps > MANY_STEPS) {
        p->alpha *= 1.5;
    }

    /* What made it much worse is taken back. */
    if (isfinite(next) && (solved || next <= 3 * now))
        return next;

    memcpy(r, p->last, (size_t)rows * sizeof *r);
    return now;
}

int yk_proximal_iterate(yk_proximal *p, yk_newton *newton, double tolerance, int limit, double *r,
                        double *u, double *residual)
{
    size_t bytes = (size_t)p->problem->row_count * sizeof *r;
    double best = *residual;
    double now = best;

    memcpy(p->best, r, bytes);
    memcpy(p->best_u, u, bytes);

    /* All strategies in turn, until none of them gains. */
    int total = 0;
    int in_vain = 0; /* strategies since the last that gained */
    for (int attempt = 0; best > tolerance && total < limit; attempt++, in_vain++) {
        if (in_vain == STRATEGIES)
            break;
        const struct strategy *strategy = &strategies[attempt % STRATEGIES];

        p->momentum = strategy->momentum;
        p->undamped = strategy->undamped;
        p->age = 0;

        /* Iterates that drift slowly go on from where they are, those that went astray from the
         * best. */
        if (attempt == 0 || now > 4 * best) {
            p->alpha = strategy->alpha;
            memcpy(r, p->best, bytes);
            now = best;
        }

        memcpy(p->last, r, bytes);

        /* Proximal steps, as long as the best residual falls. */
        double milestone = best;
        int mark = total;
        while (best > tolerance && total < limit && total - mark < STALL_LIMIT) {
            int steps;
            now = proximal_step(p, newton, limit - total, now, r, u, &steps);
            total += steps;
            if (steps == 0)
                total++;

            if (now < best) {
                best = now;
                memcpy(p->best, r, bytes);
                memcpy(p->best_u, u, bytes);
            }

            if (best < OUTER_GAIN * milestone) {
                milestone = best;
                mark = total;
                in_vain = 0;
            }
        }
    }

    memcpy(r, p->best, bytes);
    memcpy(u, p->best_u, bytes);
    *residual = best;
    return total;
}
