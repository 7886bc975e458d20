#include "contact/proximal.h"

#include <math.h>
#include <string.h>

static const double ALPHA_LEAST = 1e-9;

enum {
    STEP_LIMIT = 40, /* Newton steps for one proximal step */
    BOLD_LIMIT = 15, /* of them without a line search, where those with one fail */
    PATIENCE = 250,  /* Newton steps in which the best residual must fall by the gain below */
    EASY = 4,        /* Newton steps after which alpha may fall, and may not stay */
    LABORIOUS = 10
};
static const double INNER_GAIN = 0.1, PATIENT_GAIN = 0.7;

/* Coulomb problems are not monotone: the iterates may circle around a solution or drift past it. Which temper gets there
 * differs from problem to problem, so each has its rotation, from the best iterate so far. */
static const struct temper {
    double momentum;
    bool bold;
    double alpha;
} tempers[] = {{0.5, true, 1e-2}, {0.9, true, 1e-2},  {0.5, false, 1e-2},
               {0, true, 1e-1},   {0.9, false, 1e-3}, {0.5, true, 1e-4}};
enum { TEMPERS = sizeof tempers / sizeof *tempers };

static void set_scale(yk_proximal *p)
{
    const yk_block_matrix *w = &p->problem->w;
    double mean = yk_contact_mean_diagonal(p->problem);
    for (int i = 0; i < w->block_rows; i++) {
        const double *block = yk_contact_diagonal_block(p->problem, i);
        int first = w->first[i], dim = w->first[i + 1] - first;
        double sum = 0;
        for (int k = 0; k < dim; k++) sum += block[k * dim + k];
        for (int k = 0; k < dim; k++) p->scale[first + k] = sum > 0 ? sum / dim : mean;
    }
}

yk_status yk_proximal_create(yk_context *context, const yk_contact_problem *problem, yk_proximal *p)
{
    size_t rows = (size_t)problem->row_count + 1;
    *p = (yk_proximal){.problem = problem, .shifted = *problem};
    p->shifted.q = p->shifted.softness = NULL;
    double **vectors[] = {&p->shifted.q, &p->shifted.softness, &p->scale, &p->centre, &p->last, &p->best, &p->best_u};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = yk_allocate(context, rows, sizeof **vectors[i]);
        if (*vectors[i]) continue;
        yk_proximal_destroy(context, p);
        return YK_ERROR_MEMORY;
    }
    set_scale(p);
    return YK_OK;
}

void yk_proximal_destroy(yk_context *context, yk_proximal *p)
{
    double *vectors[] = {p->shifted.q, p->shifted.softness, p->scale, p->centre, p->last, p->best, p->best_u};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) yk_release(context, vectors[i]);
    *p = (yk_proximal){0};
}

/* Chooses the centre and moves r there. */
static void run_ahead(yk_proximal *p, double *r)
{
    int rows = p->problem->row_count;
    double fraction = fmin(p->momentum, p->age / (p->age + 3.0));
    for (int k = 0; k < rows; k++) p->centre[k] = r[k] + fraction * (r[k] - p->last[k]);
    memcpy(p->last, r, (size_t)rows * sizeof *r);
    memcpy(r, p->centre, (size_t)rows * sizeof *r);
}

static void shift_problem(yk_proximal *p)
{
    const yk_contact_problem *problem = p->problem;
    for (int k = 0; k < problem->row_count; k++) {
        double added = p->alpha * p->scale[k];
        p->shifted.softness[k] = added + (problem->softness ? problem->softness[k] : 0);
        p->shifted.q[k] = problem->q[k] - added * p->centre[k];
    }
}

/* Newton's method on the shifted problem; false when it gained too little. */
static bool solve_shifted(yk_proximal *p, yk_newton *newton, int limit, double *r, double *u, int *steps)
{
    newton->problem = &p->shifted;
    double residual = yk_contact_residual(&p->shifted, newton->friction, r, u), goal = INNER_GAIN * residual;
    *steps = yk_newton_iterate(newton, goal, 0.999, limit < STEP_LIMIT ? limit : STEP_LIMIT, r, u, &residual);
    if (p->bold && residual > goal) {
        int bold = limit - *steps < BOLD_LIMIT ? limit - *steps : BOLD_LIMIT;
        *steps += yk_newton_iterate_boldly(newton, goal, bold, r, u, &residual);
    }
    newton->problem = p->problem;
    return residual <= goal;
}

static void adapt(yk_proximal *p, bool solved, int steps)
{
    if (!solved)
        p->alpha *= 4;
    else if (steps <= EASY)
        p->alpha = fmax(ALPHA_LEAST, p->alpha / 3);
    else if (steps > LABORIOUS)
        p->alpha *= 1.5;
}

/* One proximal step from r, whose residual is `now`; returns that of the result, which is r again where it failed. */
static double advance(yk_proximal *p, yk_newton *newton, int limit, double now, double *r, double *u, int *steps)
{
    run_ahead(p, r);
    shift_problem(p);
    bool solved = solve_shifted(p, newton, limit, r, u, steps);
    double next = yk_contact_residual(p->problem, newton->friction, r, u);
    p->age = solved && next <= 1.3 * now ? p->age + 1 : 0;
    adapt(p, solved, *steps);
    if (isfinite(next) && (solved || next <= 3 * now)) return next;
    memcpy(r, p->last, (size_t)p->problem->row_count * sizeof *r);
    return now;
}

/* Iterates that drift slowly go on from where they are, those that went astray from the best. */
static void begin_again(yk_proximal *p, int attempt, bool astray, double *r)
{
    size_t bytes = (size_t)p->problem->row_count * sizeof *r;
    const struct temper *temper = &tempers[attempt % TEMPERS];
    p->momentum = temper->momentum;
    p->bold = temper->bold;
    p->age = 0;
    if (astray) {
        p->alpha = temper->alpha;
        memcpy(r, p->best, bytes);
    }
    memcpy(p->last, r, bytes);
}

int yk_proximal_iterate(yk_proximal *p, yk_newton *newton, double tolerance, int limit, double *r, double *u,
                        double *residual)
{
    size_t bytes = (size_t)p->problem->row_count * sizeof *r;
    double best = *residual, now = best;
    int total = 0;
    memcpy(p->best, r, bytes);
    memcpy(p->best_u, u, bytes);
    for (int attempt = 0, vain = 0; best > tolerance && total < limit && vain < TEMPERS; attempt++, vain++) {
        double milestone = best;
        bool astray = attempt == 0 || now > 4 * best;
        begin_again(p, attempt, astray, r);
        if (astray) now = best;
        for (int mark = total; best > tolerance && total < limit && total - mark < PATIENCE;) {
            int steps;
            now = advance(p, newton, limit - total, now, r, u, &steps);
            total += steps > 0 ? steps : 1;
            if (now < best) {
                best = now;
                memcpy(p->best, r, bytes);
                memcpy(p->best_u, u, bytes);
            }
            if (best < PATIENT_GAIN * milestone) {
                milestone = best;
                mark = total;
                vain = 0;
            }
        }
    }
    memcpy(r, p->best, bytes);
    memcpy(u, p->best_u, bytes);
    *residual = best;
    return total;
}
