/* Semismooth Newton steps on the natural map (Alart, Curnier 1991; Christensen, Klarbring, Pang,
 * Stroemberg 1998), the factors that they need (order of elimination and index of the entries of W,
 * then the supernodal LU of math), and proximal point iterations around them (Rockafellar 1976;
 * Acary, Bremond, Huber 2018). */
#include "contact/newton.h"

#include <math.h>
#include <string.h>

#include "contact/cone.h"
#include "math/sparse.h"

/* Factors -------------------------------------------------------------------------------------- */

struct yk_factor {
    yk_context *context;
    yk_supernodal *lu;
    size_t *index; /* position of each entry of W in the factors */
};

yk_status yk_factor_create(yk_context *context, const yk_block_matrix *w, yk_factor **factor)
{
    *factor = NULL;
    yk_factor *made = yk_allocate(context, 1, sizeof *made);
    if (!made)
        return YK_ERROR_MEMORY;

    made->context = context;

    /* Block rows are the vertices of the pattern; order of minimum degree. */
    int blocks = w->block_rows;
    int *order = yk_allocate(context, (size_t)blocks, sizeof *order);
    int *size = yk_allocate(context, (size_t)blocks, sizeof *size);
    yk_status status = YK_ERROR_MEMORY;
    if (order && size)
        status = yk_elimination_order(context, blocks, w->start, w->column, order);
    if (status == YK_OK) {
        for (int i = 0; i < blocks; i++)
            size[i] = w->first[i + 1] - w->first[i];
        yk_supernodal_def def = {
            .vertices = blocks,
            .size = size,
            .starts = w->start,
            .rows = w->column,
            .row_order = order,
            .column_order = order,
            .exchange = true,
        };
        status = yk_supernodal_create(context, &def, &made->lu);
    }

    yk_free(context, size);
    yk_free(context, order);

    /* One index per entry. */
    size_t count = 0;
    for (int i = 0; i < w->block_rows; i++) {
        size_t dim = (size_t)(w->first[i + 1] - w->first[i]);
        for (int k = w->start[i]; k < w->start[i + 1]; k++) {
            int j = w->column[k];
            count += dim * (size_t)(w->first[j + 1] - w->first[j]);
        }
    }

    if (status == YK_OK) {
        made->index = yk_allocate(context, count, sizeof *made->index);
        if (!made->index)
            status = YK_ERROR_MEMORY;
    }

    if (status != YK_OK) {
        yk_factor_destroy(made);
        return status;
    }

    /* Position of each entry of W in the factors. */
    for (int i = 0; i < w->block_rows; i++) {
        for (int k = w->start[i]; k < w->start[i + 1]; k++) {
            int j = w->column[k];
            size_t *index = made->index + w->offset[k];
            for (int r = w->first[i]; r < w->first[i + 1]; r++) {
                for (int c = w->first[j]; c < w->first[j + 1]; c++)
                    *index++ = yk_supernodal_index(made->lu, r, c);
            }
        }
    }

    *factor = made;
    return YK_OK;
}

void yk_factor_destroy(yk_factor *factor)
{
    if (!factor)
        return;

    yk_supernodal_destroy(factor->lu);
    yk_free(factor->context, factor->index);
    yk_free(factor->context, factor);
}

void yk_factor_compute(yk_factor *factor, const yk_block_matrix *w, const double *left,
                       const double *right, const size_t *offset, double smallest)
{
    double *store = yk_supernodal_clear(factor->lu);

    for (int i = 0; i < w->block_rows; i++) {
        int dim = w->first[i + 1] - w->first[i];
        for (int k = w->start[i]; k < w->start[i + 1]; k++) {
            int j = w->column[k];
            int columns = w->first[j + 1] - w->first[j];

            const double *block = w->value + w->offset[k];
            const size_t *index = factor->index + w->offset[k];

            /* One block of L W (of W if L is the identity). */
            for (int r = 0; left && r < dim; r++) {
                const double *row = left + offset[i] + r * dim;
                for (int c = 0; c < columns; c++) {
                    double sum = 0;
                    for (int l = 0; l < dim; l++)
                        sum += row[l] * block[l * columns + c];
                    store[index[r * columns + c]] = sum;
                }
            }

            for (int e = 0; !left && e < dim * columns; e++)
                store[index[e]] = block[e];

            /* R on the diagonal. */
            for (int e = 0; i == j && e < dim * dim; e++)
                store[index[e]] += right[offset[i] + (size_t)e];
        }
    }

    yk_supernodal_factor(factor->lu, smallest);
}

void yk_factor_solve(yk_factor *factor, double *b)
{
    yk_supernodal_solve(factor->lu, b);
}

/* Newton's method ------------------------------------------------------------------------------ */

/* Relative to the mean of the diagonal of W: the regularizing multiple of the identity, and the
 * smallest pivot. The regularization determines the components that W does not, with an error of
 * rounding divided by it; iterative refinement removes its effect on the others. */
static const double TRACE = 1e-10;
static const double LEAST_PIVOT = 1e-18;

yk_status yk_newton_create(yk_context *context, const yk_contact_problem *problem,
                           yk_friction_model friction, yk_newton *newton)
{
    const yk_block_matrix *w = &problem->w;
    size_t rows = (size_t)problem->row_count + 1;
    size_t blocks = (size_t)w->block_rows;

    *newton = (yk_newton){.problem = problem, .friction = friction};
    newton->mean = yk_contact_mean_diagonal(problem);

    /* The block diagonals L and R store a square per block row. */
    newton->block_offset = yk_allocate(context, blocks + 1, sizeof *newton->block_offset);
    if (!newton->block_offset)
        return YK_ERROR_MEMORY;

    for (size_t i = 0; i < blocks; i++) {
        size_t dim = (size_t)(w->first[i + 1] - w->first[i]);
        newton->block_offset[i + 1] = newton->block_offset[i] + dim * dim;
    }

    newton->left = yk_allocate(context, newton->block_offset[blocks] + 1, sizeof *newton->left);
    newton->right = yk_allocate(context, newton->block_offset[blocks] + 1, sizeof *newton->right);
    newton->rho = yk_allocate(context, (size_t)problem->contact_count + 1, sizeof *newton->rho);
    yk_status status = YK_OK;
    if (!newton->left || !newton->right || !newton->rho)
        status = YK_ERROR_MEMORY;

    double **vectors[] = {&newton->rhs, &newton->step, &newton->trial, &newton->trial_u,
                          &newton->remainder};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = yk_allocate(context, rows, sizeof **vectors[i]);
        if (!*vectors[i])
            status = YK_ERROR_MEMORY;
    }

    if (status == YK_OK)
        status = yk_factor_create(context, w, &newton->factor);
    if (status != YK_OK) {
        yk_newton_destroy(context, newton);
        return status;
    }

    /* The natural map has the same zeros for any rho; the contact's own scale makes the steps of
     * all contacts comparable. */
    for (int i = 0; i < problem->contact_count; i++) {
        int dim = w->first[i + 1] - w->first[i];
        const double *block = yk_contact_diagonal_block(problem, i);
        double sum = 0;
        for (int k = 0; k < dim; k++)
            sum += block[k * dim + k];
        newton->rho[i] = sum > 0 ? dim / sum : 1 / newton->mean;
    }

    return YK_OK;
}

void yk_newton_destroy(yk_context *context, yk_newton *newton)
{
    void *arrays[] = {newton->block_offset, newton->left,      newton->right,
                      newton->rhs,          newton->step,      newton->trial,
                      newton->trial_u,      newton->remainder, newton->rho};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        yk_free(context, arrays[i]);
    yk_factor_destroy(newton->factor);
    *newton = (yk_newton){0};
}

/* R += L times a diagonal: a constant, and the softness if there is any. */
static void add_to_right(yk_newton *newton, double number, const double *softness)
{
    const yk_block_matrix *w = &newton->problem->w;
    for (int i = 0; i < w->block_rows; i++) {
        int first = w->first[i];
        int dim = w->first[i + 1] - first;
        const double *left = newton->left + newton->block_offset[i];
        double *right = newton->right + newton->block_offset[i];

        for (int k = 0; k < dim; k++) {
            double soft = number;
            if (softness)
                soft += softness[first + k];
            if (newton->left_is_identity) {
                right[k * dim + k] += soft;
                continue;
            }
            for (int l = 0; l < dim; l++)
                right[l * dim + k] += soft * left[l * dim + k];
        }
    }
}

void yk_newton_factor(yk_newton *newton)
{
    const yk_contact_problem *problem = newton->problem;
    const double *left = newton->left_is_identity ? NULL : newton->left;

    /* The refinements are without the regularization. */
    add_to_right(newton, TRACE * newton->mean, problem->softness);
    yk_factor_compute(newton->factor, &problem->w, left, newton->right, newton->block_offset,
                      LEAST_PIVOT * newton->mean);
    add_to_right(newton, -TRACE * newton->mean, NULL);
    newton->factorisations++;
}

void yk_newton_solve(yk_newton *newton, int refinements)
{
    const yk_contact_problem *problem = newton->problem;
    const yk_block_matrix *w = &problem->w;
    int rows = problem->row_count;

    memcpy(newton->step, newton->rhs, (size_t)rows * sizeof *newton->step);
    yk_factor_solve(newton->factor, newton->step);

    for (int pass = 0; pass < refinements; pass++) {
        /* remainder = rhs - (L W + R) step; R includes the softness. */
        yk_contact_multiply(problem, newton->step, newton->remainder);
        for (int i = 0; i < w->block_rows; i++) {
            int first = w->first[i];
            int dim = w->first[i + 1] - first;
            const double *left = newton->left + newton->block_offset[i];
            const double *right = newton->right + newton->block_offset[i];
            const double *step = newton->step + first;
            double *remainder = newton->remainder + first;

            /* W times the step, without the softness that R contains. */
            double moved[YK_CONTACT_DIM_MAX];
            for (int k = 0; k < dim; k++) {
                moved[k] = remainder[k];
                if (problem->softness)
                    moved[k] -= problem->softness[first + k] * step[k];
            }

            /* L times that, and R times the step. */
            for (int k = 0; k < dim; k++) {
                double sum = newton->rhs[first + k];
                if (newton->left_is_identity)
                    sum -= moved[k];
                for (int l = 0; l < dim; l++) {
                    if (!newton->left_is_identity)
                        sum -= left[k * dim + l] * moved[l];
                    sum -= right[k * dim + l] * step[l];
                }
                remainder[k] = sum;
            }
        }

        yk_factor_solve(newton->factor, newton->remainder);
        for (int k = 0; k < rows; k++)
            newton->step[k] += newton->remainder[k];
    }
}

/* The linearized natural map of the contacts, and the bilateral rows, which are equations of W
 * alone; then the step. */
static void newton_step(yk_newton *newton, const double *r, const double *u)
{
    const yk_contact_problem *problem = newton->problem;
    const int *first = problem->w.first;

    /* L (W dr) + R dr = -F / rho of every contact (cone.h). */
    newton->left_is_identity = false;
    for (int i = 0; i < problem->contact_count; i++) {
        yk_cone cone = yk_problem_cone(problem, i);
        size_t offset = newton->block_offset[i];
        yk_cone_linearise(&cone, newton->friction, newton->rho[i], r + first[i], u + first[i],
                          newton->left + offset, newton->right + offset, newton->rhs + first[i]);
    }

    /* Bilateral: L = 1, R = 0. */
    for (int i = problem->contact_count; i < problem->w.block_rows; i++) {
        int dim = first[i + 1] - first[i];
        double *left = newton->left + newton->block_offset[i];
        double *right = newton->right + newton->block_offset[i];

        memset(right, 0, (size_t)(dim * dim) * sizeof *right);
        for (int k = 0; k < dim * dim; k++)
            left[k] = k % (dim + 1) == 0;
        for (int k = first[i]; k < first[i + 1]; k++)
            newton->rhs[k] = -u[k];
    }

    yk_newton_factor(newton);
    yk_newton_solve(newton, 2);
}

int yk_newton_iterate(yk_newton *newton, double tolerance, double gain, int limit, double *r,
                      double *u, double *residual)
{
    int rows = newton->problem->row_count;
    size_t bytes = (size_t)rows * sizeof *r;
    int steps = 0;

    while (*residual > tolerance && steps < limit) {
        double before = *residual;
        newton_step(newton, r, u);
        steps++;

        /* Halve the step until the residual decreases. */
        bool found = false;
        double part = 1;
        do {
            for (int k = 0; k < rows; k++)
                newton->trial[k] = r[k] + part * newton->step[k];
            double next = yk_contact_residual(newton->problem, newton->friction, newton->trial,
                                              newton->trial_u);
            found = next < before * (1 - 1e-4 * part);
            if (found)
                *residual = next;
            part /= 2;
        } while (!found && part > 1e-3);

        if (!found)
            break;
        memcpy(r, newton->trial, bytes);
        memcpy(u, newton->trial_u, bytes);

        /* If the decrease is slow, another method is better. */
        if (*residual > gain * before)
            break;
    }

    return steps;
}

/* Full steps without a line search, through worse iterates: if contacts change between sticking,
 * sliding and separating, the residual may have to increase first. Gives up if the residual is a
 * thousand times that of the start. */
static int iterate_undamped(yk_newton *newton, double tolerance, int limit, double *r, double *u,
                            double *residual)
{
    int rows = newton->problem->row_count;
    size_t bytes = (size_t)rows * sizeof *r;

    memcpy(newton->trial, r, bytes);
    memcpy(newton->trial_u, u, bytes);
    double begin = *residual;
    double now = begin;
    int steps = 0;

    while (steps < limit && now > tolerance && now < 1e3 * begin) {
        newton_step(newton, newton->trial, newton->trial_u);
        steps++;
        for (int k = 0; k < rows; k++)
            newton->trial[k] += newton->step[k];

        /* Continue from worse iterates, but keep the best. */
        now =
            yk_contact_residual(newton->problem, newton->friction, newton->trial, newton->trial_u);
        if (!(now < *residual))
            continue;
        *residual = now;
        memcpy(r, newton->trial, bytes);
        memcpy(u, newton->trial_u, bytes);
    }

    return steps;
}

/* Proximal point iterations -------------------------------------------------------------------- */

static const double ALPHA_LEAST = 1e-9;

enum {
    STEP_LIMIT = 40,     /* Newton steps for one proximal step */
    UNDAMPED_LIMIT = 15, /* number of them without a line search, if those with one fail */
    /* Newton steps within which the best residual must decrease by the gain below */
    STALL_LIMIT = 250,
    FEW_STEPS = 4, /* if fewer Newton steps are sufficient, alpha may decrease */
    MANY_STEPS = 10
};
static const double INNER_GAIN = 0.1;
static const double OUTER_GAIN = 0.7;

/* Coulomb problems are not monotone: the iterates may cycle around a solution or drift past it. The
 * best strategy depends on the problem, so each is tried in turn, from the best iterate so far. */
static const struct {
    double momentum;
    bool undamped;
    double alpha;
} strategies[] = {{0.5, true, 1e-2}, {0.9, true, 1e-2},  {0.5, false, 1e-2},
                  {0, true, 1e-1},   {0.9, false, 1e-3}, {0.5, true, 1e-4}};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

yk_status yk_proximal_create(yk_context *context, const yk_contact_problem *problem, yk_proximal *p)
{
    size_t rows = (size_t)problem->row_count + 1;

    *p = (yk_proximal){.context = context, .problem = problem, .shifted = *problem};
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
        yk_free(context, vectors[i]);
    *p = (yk_proximal){0};
}

/* One proximal step from r, whose residual is `now`. Returns the residual of the result; if the
 * step failed, r is unchanged. */
static double proximal_step(yk_proximal *p, yk_newton *newton, int limit, double now, double *r,
                            double *u, int *steps)
{
    const yk_contact_problem *problem = p->problem;
    int rows = problem->row_count;

    /* The center y is extrapolated from r in the direction of the last change. */
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

    /* Newton's method on the shifted problem, without a line search if that gains too little. */
    newton->problem = &p->shifted;
    double residual = yk_contact_residual(&p->shifted, newton->friction, r, u);
    double goal = INNER_GAIN * residual;
    int most = limit < STEP_LIMIT ? limit : STEP_LIMIT;
    *steps = yk_newton_iterate(newton, goal, 0.999, most, r, u, &residual);
    if (p->undamped && residual > goal) {
        int left = limit - *steps;
        if (left > UNDAMPED_LIMIT)
            left = UNDAMPED_LIMIT;
        *steps += iterate_undamped(newton, goal, left, r, u, &residual);
    }

    newton->problem = problem;

    bool solved = residual <= goal;
    double next = yk_contact_residual(problem, newton->friction, r, u);
    if (solved && next <= 1.3 * now) {
        p->age++;
    } else {
        p->age = 0;
    }

    /* The next alpha, from the convergence of Newton's method. */
    if (!solved) {
        p->alpha *= 4;
    } else if (*steps <= FEW_STEPS) {
        p->alpha = fmax(ALPHA_LEAST, p->alpha / 3);
    } else if (*steps > MANY_STEPS) {
        p->alpha *= 1.5;
    }

    /* Undo an iteration that increased the residual strongly. */
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

    /* All strategies in turn, until none of them reduces the residual. */
    int total = 0;
    int in_vain = 0; /* strategies since the last success */
    for (int attempt = 0; best > tolerance && total < limit; attempt++, in_vain++) {
        if (in_vain == STRATEGIES || yk_context_should_stop(p->context))
            break;
        int strategy = attempt % STRATEGIES;
        p->momentum = strategies[strategy].momentum;
        p->undamped = strategies[strategy].undamped;
        p->age = 0;

        /* Iterates that drift slowly continue from the present one, others from the best. */
        if (attempt == 0 || now > 4 * best) {
            p->alpha = strategies[strategy].alpha;
            memcpy(r, p->best, bytes);
            now = best;
        }

        memcpy(p->last, r, bytes);

        /* Proximal steps, as long as the best residual decreases. */
        double milestone = best;
        int mark = total;
        while (best > tolerance && total < limit && total - mark < STALL_LIMIT) {
            if (yk_context_should_stop(p->context))
                break;

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
