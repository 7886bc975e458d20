/* Radau IIA of order 5 with error control; see stiff.h. Equation numbers are those of Hairer, Wanner
 * 1996, IV.8. */
#include "math/stiff.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "math/integrators.h"

enum { STAGES = YK_RADAU_STAGES, NEWTON_LIMIT = 7 };

#define SQRT6 2.449489742783178098

/* T block-diagonalizes the inverse of the coefficient matrix, (8.12): inverse(T) inverse(A) T has
 * the real eigenvalue GAMMA and the block of the complex pair ALPHA +- i BETA. */
static const double GAMMA = 3.6378342527444962;
static const double ALPHA = 2.6810828736277523;
static const double BETA = 3.0504301992474105;
static const double T[STAGES][STAGES] = {
    {9.1232394870892942792e-02, -0.14125529502095420843, -3.0029194105147424492e-02},
    {0.24171793270710701896, 0.20412935229379993199, 0.38294211275726193779},
    {0.96604818261509293619, 1, 0},
};
static const double T_INVERSE[STAGES][STAGES] = {
    {4.3255798900631553510, 0.33919925181580986954, 0.54177053993587487119},
    {-4.1787185915519047273, -0.32768282076106238708, 0.47662355450055045196},
    {-0.50287263494578687595, 2.5719269498556054292, -0.59603920482822492497},
};
/* Weights of the stages in the error estimate, (8.19). */
static const double ERROR_WEIGHT[STAGES] = {-(13 + 7 * SQRT6) / 3, (-13 + 7 * SQRT6) / 3, -1.0 / 3};

/* Convergence rate of Newton's method below which the next step reuses the Jacobian. */
static const double JACOBIAN_KEPT = 1e-3;
static const double SAFETY = 0.9;
static const double SHRINK_MOST = 1 / 8.0;
static const double GROW_MOST = 5;

struct yk_stiff {
    yk_context *context;
    const yk_stiff_problem *problem;

    double t;        /* start of the next step */
    double *y;       /* n, states there */
    double *rate;    /* n, f(t, y) */
    bool rate_known; /* `rate` belongs to (t, y) */
    double proposal; /* s; 0: unknown */

    /* The last step: its size, its start and the differences of the stages from it. The size is 0
     * if there is none since the restart. */
    double size;
    double *start; /* n */
    double *stage; /* STAGES * n */

    bool jacobian_known;   /* usable for the next step */
    bool jacobian_current; /* computed at (t, y) */
    double factored;       /* step size of the factors; 0: none */
    double *jacobian;      /* n * n */
    double *real_factors;  /* n * n */
    double *pair_factors;  /* 2n * 2n, the complex system in real numbers */
    int *real_pivot, *pair_pivot;

    /* Workspace. */
    double *scale;       /* n, error weights */
    double *trial;       /* STAGES * n, stages of the step that is tried */
    double *transformed; /* STAGES * n */
    double *stage_rate;  /* STAGES * n */
    double *change;      /* STAGES * n */
    double *point;       /* n */
    double *error;       /* n */
    double *memory;
    int *pivots;
};

/* An array of the one block of memory. */
typedef struct work_array {
    double **array;
    size_t count;
} work_array;

yk_status yk_stiff_create(yk_context *context, const yk_stiff_problem *problem, yk_stiff **stiff)
{
    yk_stiff *self = yk_allocate(context, 1, sizeof *self);
    *stiff = self;
    if (!self)
        return YK_ERROR_MEMORY;

    size_t n = (size_t)problem->n;
    self->context = context;
    self->problem = problem;
    self->memory = yk_allocate(context, 6 * n * n + (6 + 5 * STAGES) * n + 1, sizeof(double));
    self->pivots = yk_allocate(context, 3 * n + 1, sizeof *self->pivots);
    if (!self->memory || !self->pivots) {
        yk_stiff_destroy(self);
        *stiff = NULL;
        return YK_ERROR_MEMORY;
    }

    const work_array arrays[] = {
        {&self->jacobian, n * n},
        {&self->real_factors, n * n},
        {&self->pair_factors, 4 * n * n},
        {&self->stage, STAGES * n},
        {&self->trial, STAGES * n},
        {&self->transformed, STAGES * n},
        {&self->stage_rate, STAGES * n},
        {&self->change, STAGES * n},
        {&self->y, n},
        {&self->rate, n},
        {&self->start, n},
        {&self->scale, n},
        {&self->point, n},
        {&self->error, n},
    };
    double *next = self->memory;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i].array = next;
        next += arrays[i].count;
    }

    self->real_pivot = self->pivots;
    self->pair_pivot = self->pivots + n;
    return YK_OK;
}

void yk_stiff_destroy(yk_stiff *self)
{
    if (!self)
        return;

    yk_free(self->context, self->memory);
    yk_free(self->context, self->pivots);
    yk_free(self->context, self);
}

void yk_stiff_restart(yk_stiff *self, double t, const double *y, double proposal)
{
    self->t = t;
    memcpy(self->y, y, (size_t)self->problem->n * sizeof *y);
    self->proposal = proposal;
    self->rate_known = false;
    self->size = 0;
    self->jacobian_known = false;
    self->jacobian_current = false;
    self->factored = 0;
}

double yk_stiff_size(const yk_stiff *self)
{
    return self->size;
}

double yk_stiff_proposal(const yk_stiff *self)
{
    return self->proposal;
}

/* The collocation polynomial of the last step, relative to its start, at the fraction theta. Beyond
 * 1 it extrapolates. */
static double collocation(const yk_stiff *self, double theta, int unknown)
{
    double sum = 0;
    for (int i = 0; i < STAGES; i++) {
        double basis = theta / yk_radau_node[i];
        for (int k = 0; k < STAGES; k++)
            if (k != i)
                basis *= (theta - yk_radau_node[k]) / (yk_radau_node[i] - yk_radau_node[k]);
        sum += basis * self->stage[i * self->problem->n + unknown];
    }

    return sum;
}

void yk_stiff_interpolate(const yk_stiff *self, double theta, double *y)
{
    if (theta == 1) {
        memcpy(y, self->y, (size_t)self->problem->n * sizeof *y);
        return;
    }

    for (int i = 0; i < self->problem->n; i++)
        y[i] = self->start[i] + collocation(self, theta, i);
}

/* Root mean square of `blocks` vectors of n numbers, relative to the tolerances. */
static double weighted_norm(const yk_stiff *self, const double *values, int blocks)
{
    int n = self->problem->n;
    double sum = 0;
    for (int b = 0; b < blocks; b++) {
        for (int i = 0; i < n; i++) {
            double part = values[b * n + i] / self->scale[i];
            sum += part * part;
        }
    }

    return sqrt(sum / (blocks * n));
}

static yk_status evaluate_rate(const yk_stiff *self, double t, const double *y, double *rate)
{
    const yk_stiff_problem *p = self->problem;
    yk_status status = p->rate(p->user, t, y, rate);
    for (int i = 0; i < p->n && status == YK_OK; i++)
        if (!isfinite(rate[i]))
            status = YK_NOT_CONVERGED;
    return status;
}

/* A first step size, from the size of the second derivative (Hairer, Norsett, Wanner 1993, II.4). */
static yk_status propose_first_size(yk_stiff *self, double limit)
{
    int n = self->problem->n;
    double value = weighted_norm(self, self->y, 1);
    double rate = weighted_norm(self, self->rate, 1);

    double small = 1e-6 * limit;
    if (value > 1e-5 && rate > 1e-5)
        small = fmin(limit, 0.01 * value / rate);
    for (int i = 0; i < n; i++)
        self->point[i] = self->y[i] + small * self->rate[i];

    yk_status status = evaluate_rate(self, self->t + small, self->point, self->error);
    if (status != YK_OK && status != YK_NOT_CONVERGED)
        return status;

    self->proposal = small;
    if (status == YK_NOT_CONVERGED)
        return YK_OK;

    for (int i = 0; i < n; i++)
        self->error[i] = (self->error[i] - self->rate[i]) / small;
    double second = weighted_norm(self, self->error, 1);
    double largest = fmax(rate, second);
    double size = limit;
    if (largest > 1e-15)
        size = pow(0.01 / largest, 0.25);
    self->proposal = fmin(limit, fmin(100 * small, size));
    return YK_OK;
}

static yk_status update_jacobian(yk_stiff *self)
{
    const yk_stiff_problem *p = self->problem;
    if (self->jacobian_known)
        return YK_OK;

    yk_status status = p->jacobian(p->user, self->t, self->y, self->rate, self->jacobian);
    if (status != YK_OK)
        return status;

    self->jacobian_known = true;
    self->jacobian_current = true;
    self->factored = 0;
    return YK_OK;
}

/* Factors of gamma/h - J and of (alpha + i beta)/h - J, (8.13). */
static yk_status factor(yk_stiff *self, double h)
{
    int n = self->problem->n;
    if (self->factored == h)
        return YK_OK;

    self->factored = 0;
    for (int r = 0; r < n; r++) {
        double *upper = self->pair_factors + (size_t)r * (size_t)(2 * n);
        double *lower = self->pair_factors + (size_t)(n + r) * (size_t)(2 * n);
        for (int c = 0; c < n; c++) {
            double entry = self->jacobian[r * n + c];
            double unit = r == c ? 1 / h : 0;
            self->real_factors[r * n + c] = GAMMA * unit - entry;
            upper[c] = ALPHA * unit - entry;
            upper[n + c] = -BETA * unit;
            lower[c] = BETA * unit;
            lower[n + c] = ALPHA * unit - entry;
        }
    }

    if (yk_lu_factor(n, self->real_factors, self->real_pivot) != YK_OK ||
        yk_lu_factor(2 * n, self->pair_factors, self->pair_pivot) != YK_OK)
        return YK_NOT_CONVERGED;

    self->factored = h;
    return YK_OK;
}

/* result = matrix * vectors, for STAGES vectors of n numbers. */
static void transform(const double matrix[STAGES][STAGES], int n, const double *vectors,
                      double *result)
{
    for (int i = 0; i < n; i++)
        for (int s = 0; s < STAGES; s++)
            result[s * n + i] = matrix[s][0] * vectors[i] + matrix[s][1] * vectors[n + i] +
                                matrix[s][2] * vectors[2 * n + i];
}

typedef struct newton_result {
    int iterations;
    double rate; /* of convergence */
} newton_result;

/* Solves for the stages of a step of size h. YK_NOT_CONVERGED if h is too large for the Jacobian. */
static yk_status solve_stages(yk_stiff *self, double h, newton_result *result)
{
    int n = self->problem->n;
    double relative = self->problem->relative;
    double tolerance = fmax(10 * DBL_EPSILON / relative, fmin(0.03, sqrt(relative)));

    /* Extrapolate the last step; without one, the stages start at y. */
    for (int s = 0; s < STAGES; s++) {
        for (int i = 0; i < n; i++) {
            double guess = 0;
            if (self->size > 0)
                guess = collocation(self, 1 + yk_radau_node[s] * h / self->size, i) -
                        self->stage[(STAGES - 1) * n + i];
            self->trial[s * n + i] = guess;
        }
    }
    transform(T_INVERSE, n, self->trial, self->transformed);

    double last = 0;
    *result = (newton_result){.rate = JACOBIAN_KEPT};
    for (int k = 1; k <= NEWTON_LIMIT; k++) {
        for (int s = 0; s < STAGES; s++) {
            for (int i = 0; i < n; i++)
                self->point[i] = self->y[i] + self->trial[s * n + i];
            yk_status status = evaluate_rate(self, self->t + yk_radau_node[s] * h, self->point,
                                             self->stage_rate + s * n);
            if (status != YK_OK)
                return status;
        }

        double *first = self->change;
        double *second = first + n;
        double *third = second + n;
        transform(T_INVERSE, n, self->stage_rate, self->change);
        for (int i = 0; i < n; i++) {
            double w[STAGES];
            for (int s = 0; s < STAGES; s++)
                w[s] = self->transformed[s * n + i];
            first[i] -= GAMMA / h * w[0];
            second[i] -= (ALPHA * w[1] - BETA * w[2]) / h;
            third[i] -= (ALPHA * w[2] + BETA * w[1]) / h;
        }
        yk_lu_solve(n, self->real_factors, self->real_pivot, first);
        yk_lu_solve(2 * n, self->pair_factors, self->pair_pivot, second);

        for (int i = 0; i < STAGES * n; i++)
            self->transformed[i] += self->change[i];
        transform(T, n, self->transformed, self->trial);

        double size = weighted_norm(self, self->change, STAGES);
        if (!isfinite(size))
            return YK_NOT_CONVERGED;

        /* The remaining error is the geometric series of the next corrections, (8.10). */
        result->iterations = k;
        if (k > 1)
            result->rate = size / last;
        /* Corrections that no longer decrease but are below the tolerance are rounding errors of
         * the rates. */
        if (result->rate >= 0.99)
            return k > 1 && size <= tolerance ? YK_OK : YK_NOT_CONVERGED;
        bool done = k > 1 && result->rate / (1 - result->rate) * size <= tolerance;
        if (done || size <= 1e-3 * tolerance)
            return YK_OK;

        last = fmax(size, DBL_MIN);
    }

    return YK_NOT_CONVERGED;
}

/* Error estimate of the trial step relative to the tolerance, (8.19) and (8.20). */
static yk_status estimate_error(yk_stiff *self, double h, bool doubtful, double *norm)
{
    int n = self->problem->n;
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int s = 0; s < STAGES; s++)
            sum += ERROR_WEIGHT[s] * self->trial[s * n + i];
        self->point[i] = sum / h;
        self->error[i] = self->rate[i] + self->point[i];
    }
    yk_lu_solve(n, self->real_factors, self->real_pivot, self->error);
    *norm = weighted_norm(self, self->error, 1);
    if (!(*norm >= 1) || !doubtful)
        return YK_OK;

    /* For stiff components that have not decayed yet, the first estimate is far too large. */
    double *at = self->change;
    for (int i = 0; i < n; i++)
        at[i] = self->y[i] + self->error[i];
    yk_status status = evaluate_rate(self, self->t, at, self->error);
    if (status == YK_NOT_CONVERGED)
        return YK_OK;
    if (status != YK_OK)
        return status;

    for (int i = 0; i < n; i++)
        self->error[i] += self->point[i];
    yk_lu_solve(n, self->real_factors, self->real_pivot, self->error);
    *norm = weighted_norm(self, self->error, 1);
    return YK_OK;
}

static void accept_step(yk_stiff *self, double h, double convergence_rate)
{
    int n = self->problem->n;
    memcpy(self->start, self->y, (size_t)n * sizeof *self->y);
    for (int i = 0; i < n; i++)
        self->y[i] += self->trial[(STAGES - 1) * n + i];

    double *previous = self->stage;
    self->stage = self->trial;
    self->trial = previous;
    self->t += h;
    self->size = h;
    self->rate_known = false;
    self->jacobian_current = false;
    self->jacobian_known = convergence_rate <= JACOBIAN_KEPT;
}

yk_status yk_stiff_step(yk_stiff *self, double limit)
{
    const yk_stiff_problem *p = self->problem;
    if (p->n == 0) {
        self->t += limit;
        self->size = limit;
        self->proposal = limit;
        return YK_OK;
    }

    for (int i = 0; i < p->n; i++)
        self->scale[i] = p->absolute[i] + p->relative * fabs(self->y[i]);
    yk_status status = YK_OK;
    if (!self->rate_known)
        status = evaluate_rate(self, self->t, self->y, self->rate);
    self->rate_known = status == YK_OK;
    if (status == YK_OK && !(self->proposal > 0))
        status = propose_first_size(self, limit);
    if (status != YK_OK)
        return status;

    /* Two nearly equal steps to the limit instead of a long one and a tiny one. */
    double h = self->proposal;
    if (h >= limit)
        h = limit;
    else if (2 * h > limit)
        h = limit / 2;

    bool rejected = false;
    for (;;) {
        /* The stages would not have different times. A step to the limit may be as small as the
         * caller requests. */
        if (h < limit && h < 16 * DBL_EPSILON * fmax(fabs(self->t), limit))
            return YK_NOT_CONVERGED;

        newton_result newton = {0};
        double error = 0;
        status = update_jacobian(self);
        if (status == YK_OK)
            status = factor(self, h);
        if (status == YK_OK)
            status = solve_stages(self, h, &newton);
        if (status == YK_OK)
            status = estimate_error(self, h, rejected || self->size == 0, &error);
        if (status != YK_OK && status != YK_NOT_CONVERGED)
            return status;

        /* The cause may be an old Jacobian: try a new one before a smaller step. */
        if (status == YK_NOT_CONVERGED || !isfinite(error)) {
            if (self->jacobian_current || !self->jacobian_known)
                h /= 2;
            self->jacobian_known = self->jacobian_current;
            self->proposal = h;
            rejected = true;
            continue;
        }

        /* Steps whose Newton iterations converge slowly should not grow. */
        double safety = SAFETY * (2 * NEWTON_LIMIT + 1) / (2 * NEWTON_LIMIT + newton.iterations);
        double factor = safety * pow(fmax(error, 1e-10), -0.25);
        factor = fmin(GROW_MOST, fmax(SHRINK_MOST, factor));
        if (error < 1) {
            /* A step that was shortened by the limit does not change the proposal. */
            double next = h * (rejected ? fmin(factor, 1) : factor);
            bool cut = h < self->proposal;
            self->proposal = cut ? fmax(next, self->proposal) : next;
            accept_step(self, h, newton.rate);
            return YK_OK;
        }

        h *= fmin(factor, SAFETY);
        self->proposal = h;
        self->jacobian_known = self->jacobian_current;
        rejected = true;
    }
}
