/* Lemke's method for mixed problems with bounds, on a dense dictionary.
 *
 * Every row is transformed to w = M y + q, 0 <= y <= cap, 0 <= w while y is at 0: bounds are
 * shifted, rows with only an upper bound are mirrored, and a variable that reaches its upper bound
 * is mirrored during the solution (y -> cap - y, w -> -w), so that all nonbasic variables are
 * always zero. Equations (no bounds) are pivoted into the basis first and remain in it; if their
 * own matrix is singular, a complementary pair is pivoted in with them. Then, from the resulting
 * basis,
 *
 *   basis = dictionary . (nonbasic) + d t + constant
 *
 * t starts large enough to make all basic variables nonnegative and is reduced to zero along a path
 * of almost complementary bases (Lemke 1965; Cottle, Pang, Stone 1992, 4.4). Ties are broken
 * lexicographically, with the inverse of the basis stored, so that the path cannot cycle. It ends
 * at a solution or on a ray; for semidefinite M a ray proves that there is no solution. Otherwise
 * other directions d are tried, and small problems are enumerated.
 *
 * The active and tight sets are the essential result: the solution is recomputed from them with the
 * given numbers (Peiret et al. 2020, equations 29 and 30). */
#include "contact/mlcp.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "math/dense.h"

yk_mlcp_options yk_mlcp_options_default(void)
{
    return (yk_mlcp_options){.tolerance = 1e-10};
}

yk_status yk_mlcp_create(yk_context *context, int n, yk_mlcp *problem)
{
    size_t size = (size_t)n;
    *problem = (yk_mlcp){.n = n};
    problem->m = yk_allocate(context, size * size + 1, sizeof *problem->m);
    problem->q = yk_allocate(context, size + 1, sizeof *problem->q);
    problem->lower = yk_allocate(context, size + 1, sizeof *problem->lower);
    problem->upper = yk_allocate(context, size + 1, sizeof *problem->upper);
    if (!problem->m || !problem->q || !problem->lower || !problem->upper) {
        yk_mlcp_destroy(context, problem);
        return YK_ERROR_MEMORY;
    }

    /* The bounds of a linear complementarity problem. */
    for (int i = 0; i < n; i++)
        problem->upper[i] = INFINITY;
    return YK_OK;
}

void yk_mlcp_destroy(yk_context *context, yk_mlcp *problem)
{
    yk_free(context, problem->upper);
    yk_free(context, problem->lower);
    yk_free(context, problem->q);
    yk_free(context, problem->m);
    *problem = (yk_mlcp){0};
}

double yk_mlcp_residual(const yk_mlcp *problem, const double *z, double *w)
{
    size_t n = (size_t)problem->n;

    /* Bounds are compared with the largest component of z. */
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(z[i]));

    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        /* w, and the size of the terms of its sum. */
        const double *row = problem->m + i * n;
        double scale = fmax(1e-300, fabs(problem->q[i]));
        w[i] = problem->q[i];
        for (size_t j = 0; j < n; j++) {
            w[i] += row[j] * z[j];
            scale = fmax(scale, fabs(row[j]) * largest);
        }

        /* Inside the bounds w must be zero; at a bound it has a sign. */
        double relative = w[i] / scale;
        double below = (problem->lower[i] - z[i]) / fmax(largest, 1e-300);
        double above = (z[i] - problem->upper[i]) / fmax(largest, 1e-300);
        double violation = fabs(relative);
        if (below >= 0)
            violation = fmax(-relative, below);
        if (above >= 0)
            violation = fmax(relative, above);
        if (below >= 0 && above >= 0)
            violation = fmax(below, above);

        /* fmax() would hide values that are not a number. */
        if (!isfinite(violation))
            return INFINITY;
        worst = fmax(worst, violation);
    }

    return worst;
}

/* The dictionary ------------------------------------------------------------------------------- */

enum { COVER = -1 }; /* index of the artificial variable t */

/* Variables: y_i has index i, w_i has index n + i. */
typedef struct lemke {
    const yk_mlcp *problem;
    int n;
    int columns;    /* n nonbasic, the cover, the constant, n of the inverse of the basis */
    int constant;   /* column of the constant; the inverse of the basis follows */
    double *table;  /* n x columns */
    int *row_of;    /* variable -> row it is basic in, or -1; 2 n */
    int *column_of; /* variable -> column, or -1; 2 n */
    int *basic;     /* row -> variable (or COVER) */
    int *nonbasic;  /* column -> variable (or COVER); n + 1 */
    double *cap;    /* of y_i, scaled */
    double *row_scale, *column_scale;
    bool *free_row; /* equation: y_i has no bounds */
    bool *fixed;    /* lower = upper: w_i has no sign */
    bool *mirrored; /* y_i counts down from the upper bound */
    int pivots, limit;
    double *work; /* n x n for the final solution */
    double *vector, *correction;
    int *exchange, *index;
} lemke;

static double *table_row(const lemke *s, int row)
{
    return s->table + (size_t)row * (size_t)s->columns;
}

/* Powers of two that scale the largest number of each row and column to about one; they change no
 * sign and no bit of a solution. */
static void equilibrate(lemke *s)
{
    size_t n = (size_t)s->n;
    const double *m = s->problem->m;

    for (size_t i = 0; i < n; i++) {
        s->row_scale[i] = 1;
        s->column_scale[i] = 1;
    }

    /* Scale rows and columns alternately; this converges after a few passes. */
    for (int pass = 0; pass < 4; pass++) {
        for (size_t i = 0; i < n; i++) {
            double row = 0;
            double column = 0;
            for (size_t j = 0; j < n; j++) {
                row = fmax(row, fabs(m[i * n + j]) * s->column_scale[j]);
                column = fmax(column, fabs(m[j * n + i]) * s->row_scale[j]);
            }

            if (row > 0)
                s->row_scale[i] = exp2(-round(log2(row)));
            if (column > 0)
                s->column_scale[i] = exp2(-round(log2(column)));
        }
    }
}

/* The value for y = 0: the bound from which the row starts. */
static double origin(const lemke *s, int i)
{
    if (s->free_row[i])
        return 0;
    if (s->mirrored[i])
        return s->problem->upper[i];
    return s->problem->lower[i];
}

static double direction(const lemke *s, int i)
{
    return s->mirrored[i] ? -1 : 1;
}

/* The initial dictionary: w = M y + q in scaled and mirrored variables, all w in the basis. */
static void fill_table(lemke *s, double regularisation)
{
    const yk_mlcp *problem = s->problem;
    int n = s->n;

    /* The kind of each row. */
    for (int i = 0; i < n; i++) {
        double low = problem->lower[i];
        double high = problem->upper[i];
        s->free_row[i] = isinf(low) && isinf(high);
        s->fixed[i] = low == high;
        s->mirrored[i] = isinf(low) && !isinf(high);

        s->cap[i] = INFINITY;
        if (!isinf(low) && !isinf(high))
            s->cap[i] = (high - low) / s->column_scale[i];
    }

    /* Shift the origin to the bounds; the inverse of the basis is the identity. */
    memset(s->table, 0, (size_t)n * (size_t)s->columns * sizeof *s->table);
    for (int i = 0; i < n; i++) {
        const double *m = problem->m + (size_t)i * (size_t)n;
        double *row = table_row(s, i);
        double sign = direction(s, i);

        double constant = problem->q[i];
        for (int j = 0; j < n; j++) {
            double value = m[j];
            if (i == j)
                value += regularisation;
            constant += value * origin(s, j);
            row[j] = sign * s->row_scale[i] * s->column_scale[j] * value * direction(s, j);
        }

        row[s->constant] = sign * s->row_scale[i] * constant;
        row[s->constant + 1 + i] = 1;
    }

    /* y nonbasic, w basic. */
    for (int i = 0; i < n; i++) {
        s->basic[i] = n + i;
        s->nonbasic[i] = i;
        s->row_of[n + i] = i;
        s->column_of[n + i] = -1;
        s->row_of[i] = -1;
        s->column_of[i] = i;
    }

    s->nonbasic[n] = COVER;
}

/* Exchanges the basic variable of `row` with the nonbasic one of `column`. */
static void pivot(lemke *s, int row, int column)
{
    /* Solve the chosen row for the entering variable, and substitute it in all others. */
    double *chosen = table_row(s, row);
    double inverse = 1 / chosen[column];
    for (int j = 0; j < s->columns; j++)
        chosen[j] *= -inverse;
    chosen[column] = inverse;

    for (int i = 0; i < s->n; i++) {
        double *other = table_row(s, i);
        double factor = other[column];
        if (i == row || factor == 0)
            continue;

        other[column] = 0;
        for (int j = 0; j < s->columns; j++)
            other[j] += factor * chosen[j];
    }

    /* The two variables exchange their positions. */
    int entering = s->nonbasic[column];
    int leaving = s->basic[row];

    s->basic[row] = entering;
    s->nonbasic[column] = leaving;
    if (entering != COVER) {
        s->row_of[entering] = row;
        s->column_of[entering] = -1;
    }
    if (leaving != COVER) {
        s->row_of[leaving] = -1;
        s->column_of[leaving] = column;
    }

    s->pivots++;
}

/* y_i -> cap - y_i and w_i -> -w_i, in the basis or out of it. */
static void mirror(lemke *s, int i)
{
    const int variables[2] = {i, s->n + i};
    const double shifts[2] = {s->cap[i], 0};

    for (int v = 0; v < 2; v++) {
        int row = s->row_of[variables[v]];
        int column = s->column_of[variables[v]];
        double shift = shifts[v];

        /* A basic variable changes its row, a nonbasic one its column. */
        if (row >= 0) {
            double *values = table_row(s, row);
            for (int j = 0; j < s->columns; j++)
                values[j] = -values[j];
            values[s->constant] += shift;
            continue;
        }

        for (int k = 0; k < s->n; k++) {
            double *values = table_row(s, k);
            if (shift != 0)
                values[s->constant] += shift * values[column];
            values[column] = -values[column];
        }
    }

    s->mirrored[i] = !s->mirrored[i];
}

/* Equations ------------------------------------------------------------------------------------ */

/* Pivots the variables of equations into the basis, the largest element first, until only rounding
 * errors remain. */
static void pivot_equations(lemke *s)
{
    int n = s->n;
    for (;;) {
        /* The largest element of an equation and a variable without bounds. */
        double best = 0;
        int row = 0;
        int column = 0;
        for (int i = 0; i < n; i++) {
            int r = s->row_of[n + i];
            if (!s->free_row[i] || r < 0)
                continue;
            for (int j = 0; j < n; j++) {
                int c = s->column_of[j];
                if (!s->free_row[j] || c < 0)
                    continue;

                double size = fabs(table_row(s, r)[c]);
                if (size > best) {
                    best = size;
                    row = r;
                    column = c;
                }
            }
        }

        /* The remaining elements are rounding errors. */
        if (!(best > 1e-11))
            return;
        pivot(s, row, column);
    }
}

/* Brings the variables of all equations into the basis. Returns false if equations contradict each
 * other. */
static bool solve_equations(lemke *s)
{
    int n = s->n;

    pivot_equations(s);

    for (int i = 0; i < n; i++) {
        if (!s->free_row[i] || s->row_of[n + i] < 0)
            continue;

        /* The remainder is singular: pivot in a variable together with the complementary pair whose
         * two off-diagonal elements are largest. */
        bool done = false;
        for (int j = 0; j < n && !done; j++) {
            int row = s->row_of[n + i];
            if (row < 0)
                break; /* a pair has removed the equation, but not introduced its variable */
            if (!s->free_row[j] || s->column_of[j] < 0)
                continue;

            int column = s->column_of[j];
            int pair = -1;
            double best = 1e-9;
            for (int k = 0; k < n; k++) {
                if (s->free_row[k] || s->fixed[k] || s->column_of[k] < 0)
                    continue;

                /* The smaller of the two is the limiting one. */
                double across = table_row(s, row)[s->column_of[k]];
                double down = table_row(s, s->row_of[n + k])[column];
                double size = fmin(fabs(across), fabs(down));
                if (isinf(s->cap[k]))
                    size *= 1e3; /* prefer a pair without upper bound */
                if (size > best) {
                    best = size;
                    pair = k;
                }
            }

            if (pair < 0)
                continue;

            /* Two pivots: the pair with the equation, the variable with the pair. */
            int pair_row = s->row_of[n + pair];
            pivot(s, row, s->column_of[pair]);
            done = fabs(table_row(s, pair_row)[column]) > 1e-10;
            if (done)
                pivot(s, pair_row, column);
        }

        if (done) {
            pivot_equations(s);
            continue;
        }

        /* A zero row with a constant of zero is satisfied; with another constant it has no
         * solution. */
        int r = s->row_of[n + i];
        if (r < 0)
            continue;

        const double *values = table_row(s, r);
        double largest = 0;
        for (int j = 0; j < n; j++) {
            if (s->nonbasic[j] >= 0 && s->nonbasic[j] < n)
                largest = fmax(largest, fabs(values[j]));
        }
        if (largest < 1e-11 && fabs(values[s->constant]) > 1e-8)
            return false;
    }

    return true;
}

/* The path ------------------------------------------------------------------------------------- */

/* A basic variable that must stay between 0 and a limit. Variables of equations and the w of fixed
 * rows are free. */
static bool is_bounded(const lemke *s, int variable, double *limit)
{
    *limit = INFINITY;
    if (variable == COVER)
        return true;

    /* The w of an equation must be zero, and is constant if the equations are regular. */
    int i = variable < s->n ? variable : variable - s->n;
    if (s->free_row[i])
        return false;
    if (variable >= s->n)
        return !s->fixed[i];

    *limit = s->cap[i];
    return true;
}

/* A basic variable that limits the growth of the entering one. */
typedef struct block {
    int row;       /* -1: none */
    bool at_limit; /* the basic variable reaches its upper limit, not zero */
    double rate;   /* rate of approach, > 0 */
} block;

/* Element k of the perturbed distance of a row to its bound: the constant, then the row of the
 * inverse basis. */
static double distance(const lemke *s, block b, int k)
{
    double value = table_row(s, b.row)[s->constant + k];
    if (!b.at_limit)
        return value;
    if (k > 0)
        return -value;

    double limit = 0;
    is_bounded(s, s->basic[b.row], &limit);
    return limit - value;
}

/* Whether two numbers of the lexicographic tests differ by more than rounding errors. */
static bool differ(double x, double y)
{
    return fabs(x - y) > 1e-12 * fmax(fabs(x), fabs(y)) + 1e-15;
}

/* Whether a is reached before b: lexicographic in distance / rate; the cover wins ties. */
static bool earlier(const lemke *s, block a, block b)
{
    if (b.row < 0)
        return true;

    double x = fmax(0, distance(s, a, 0)) / a.rate;
    double y = fmax(0, distance(s, b, 0)) / b.rate;
    if (differ(x, y))
        return x < y;
    if (s->basic[a.row] == COVER)
        return true;
    if (s->basic[b.row] == COVER)
        return false;

    /* Ties by the rows of the inverse basis, which are independent of each other. */
    for (int k = 1; k <= s->n; k++) {
        x = distance(s, a, k) / a.rate;
        y = distance(s, b, k) / b.rate;
        if (differ(x, y))
            return x < y;
    }

    return a.rate > b.rate;
}

typedef enum outcome { SOLVED, CONTRADICTION, ON_RAY, TOO_LONG } outcome;

/* Removes the cover from the basis. `left` has just left the basis at zero; its complement enters. */
static outcome follow(lemke *s, int left)
{
    int n = s->n;
    while (s->pivots < s->limit) {
        int entering = left < n ? left + n : left - n;
        int column = s->column_of[entering];

        /* The first basic variable that reaches a bound when the entering one grows. */
        block first = {.row = -1};
        for (int i = 0; i < n; i++) {
            double limit;
            double rate = table_row(s, i)[column];
            if (!is_bounded(s, s->basic[i], &limit))
                continue;
            if (fabs(rate) < 1e-11 || (rate > 0 && isinf(limit)))
                continue;
            block candidate = {.row = i, .at_limit = rate > 0, .rate = fabs(rate)};
            if (earlier(s, candidate, first))
                first = candidate;
        }

        /* Nothing limits the growth: a ray. */
        double own = INFINITY;
        if (entering < n)
            own = s->cap[entering];
        if (first.row < 0 && isinf(own))
            return ON_RAY;

        /* The entering variable reaches its own upper bound first: no exchange; its w may now grow
         * in the other direction. */
        double reach = INFINITY;
        if (first.row >= 0)
            reach = fmax(0, distance(s, first, 0)) / first.rate;
        if (own < reach) {
            mirror(s, entering);
            s->pivots++;
            left = entering;
            continue;
        }

        /* The variable that is reached first leaves the basis, mirrored if it is at its upper
         * bound. */
        left = s->basic[first.row];
        if (first.at_limit)
            mirror(s, left);
        pivot(s, first.row, column);
        if (left == COVER)
            return SOLVED;
    }

    return TOO_LONG;
}

static double next_random(uint32_t *random)
{
    *random = *random * 1664525u + 1013904223u;
    return (*random >> 8) / 16777216.;
}

/* One path from a new dictionary; attempts differ in the direction of the cover. */
static outcome attempt_path(lemke *s, int attempt, double regularisation)
{
    fill_table(s, regularisation);
    if (!solve_equations(s))
        return CONTRADICTION;

    /* Rounding errors can violate the lexicographic order if very many rows tie. Small irregular
     * numbers added to the constants separate them permanently; the final refinement removes their
     * effect. */
    uint32_t random = 99u + 7919u * (uint32_t)attempt;
    for (int i = 0; attempt > 0 && i < s->n; i++) {
        double *constant = &table_row(s, i)[s->constant];
        *constant += 1e-12 * fmax(1e-3, fabs(*constant)) * (1 + next_random(&random));
    }

    /* Directions of the cover: all ones, then as needed, then fixed irregular ones. */
    double *cover = s->vector;
    random = 12345u + 7919u * (uint32_t)attempt;
    for (int i = 0; i < s->n; i++) {
        double irregular = 0.05 + next_random(&random);
        cover[i] = 1;
        if (attempt == 1)
            cover[i] = 1e-3 + fmax(0, -table_row(s, i)[s->constant]);
        if (attempt > 1)
            cover[i] = irregular;
    }

    /* The row that is most negative relative to its element of the direction leaves, with ties
     * broken as in the ratio test. If no row is negative, the origin is a solution. */
    int n = s->n;
    int worst = -1;
    for (int i = 0; i < n; i++) {
        double *row = table_row(s, i);
        double limit;
        row[n] = 0;
        if (is_bounded(s, s->basic[i], &limit))
            row[n] = cover[i];
        if (!(row[n] > 0 && row[s->constant] < -1e-13))
            continue;

        bool more_negative = worst < 0;
        for (int k = 0; k <= n && worst >= 0; k++) {
            const double *other = table_row(s, worst);
            double x = row[s->constant + k] / row[n];
            double y = other[s->constant + k] / other[n];
            if (differ(x, y)) {
                more_negative = x < y;
                break;
            }
        }

        if (more_negative)
            worst = i;
    }

    if (worst < 0)
        return SOLVED;

    int left = s->basic[worst];
    pivot(s, worst, n);
    return follow(s, left);
}

/* The result ----------------------------------------------------------------------------------- */

/* Computes z from the sets of the dictionary and the given numbers. Returns its residual. */
static double finish(lemke *s, double *z, double *w, int *state)
{
    const yk_mlcp *problem = s->problem;
    size_t n = (size_t)s->n;
    int *active = s->index;
    int count = 0;

    /* z of the dictionary, and the active rows. */
    for (int i = 0; i < s->n; i++) {
        int row = s->row_of[i];
        double y = 0;
        if (row >= 0) {
            y = table_row(s, row)[s->constant];
            active[count++] = i;
        }
        z[i] = origin(s, i) + direction(s, i) * s->column_scale[i] * y;

        if (!state)
            continue;
        state[i] = s->mirrored[i] ? YK_MLCP_UPPER : YK_MLCP_LOWER;
        if (row >= 0 || s->free_row[i])
            state[i] = YK_MLCP_ACTIVE;
    }

    /* The active rows and columns, scaled. */
    for (int a = 0; a < count; a++) {
        const double *row = problem->m + (size_t)active[a] * n;
        double row_scale = s->row_scale[active[a]];
        for (int b = 0; b < count; b++) {
            int j = active[b];
            s->work[a * count + b] = row_scale * s->column_scale[j] * row[j];
        }
    }

    double residual = yk_mlcp_residual(problem, z, w);
    if (count == 0 || yk_lu_factor(count, s->work, s->exchange) != YK_OK)
        return residual;

    /* w = 0 in the active rows: Newton's method on a linear equation, repeated as long as it
     * reduces rounding errors. */
    for (int pass = 0; pass < 4; pass++) {
        for (int a = 0; a < count; a++)
            s->correction[a] = -s->row_scale[active[a]] * w[active[a]];
        yk_lu_solve(count, s->work, s->exchange, s->correction);

        memcpy(s->vector, z, n * sizeof *z);
        for (int a = 0; a < count; a++)
            s->vector[active[a]] += s->column_scale[active[a]] * s->correction[a];

        /* Keep the result only if it is better. */
        double next = yk_mlcp_residual(problem, s->vector, w);
        if (!(next < residual))
            break;
        residual = next;
        memcpy(z, s->vector, n * sizeof *z);
    }

    return yk_mlcp_residual(problem, z, w);
}

/* Whether the symmetric part is semidefinite, by elimination with the largest diagonal element as
 * pivot. */
static bool is_semidefinite(lemke *s)
{
    int n = s->n;
    int *index = s->index;
    double *a = s->work;
    const double *m = s->problem->m;

    /* The symmetric part, and the order of pivots. */
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            a[i * n + j] = (m[i * n + j] + m[j * n + i]) / 2;
        index[i] = i;
    }

    double largest = 0;
    for (int k = 0; k < n; k++) {
        /* The largest remaining diagonal element. */
        int best = k;
        for (int i = k + 1; i < n; i++) {
            if (a[index[i] * n + index[i]] > a[index[best] * n + index[best]])
                best = i;
        }
        int p = index[best];
        index[best] = index[k];
        index[k] = p;
        double head = a[p * n + p];
        largest = fmax(largest, head);

        /* If the diagonal of a semidefinite matrix is zero, the rest must be zero. */
        if (head <= 1e-12 * largest + 1e-300) {
            for (int i = k; i < n; i++) {
                for (int j = k; j < n; j++) {
                    if (fabs(a[index[i] * n + index[j]]) > 1e-9 * largest + 1e-300)
                        return false;
                }
            }

            return true;
        }

        /* The pivot eliminates its column. */
        for (int i = k + 1; i < n; i++) {
            double factor = a[index[i] * n + p] / head;
            for (int j = k + 1; j < n; j++)
                a[index[i] * n + index[j]] -= factor * a[p * n + index[j]];
        }
    }

    return true;
}

/* Enumeration ---------------------------------------------------------------------------------- */

/* Solves for the active rows of `sets`; returns false if their matrix is singular. */
static bool solve_sets(lemke *s, const int *sets, double *z)
{
    const yk_mlcp *problem = s->problem;
    size_t n = (size_t)s->n;
    int *active = s->index;
    int count = 0;

    /* Rows that are not active are at a bound. */
    for (int i = 0; i < s->n; i++) {
        if (s->free_row[i] || (sets[i] == 0 && !s->fixed[i])) {
            active[count++] = i;
            z[i] = 0;
        } else if (sets[i] > 0) {
            z[i] = problem->upper[i];
        } else {
            z[i] = problem->lower[i];
        }
    }

    if (count == 0)
        return true;

    /* w = 0 in the active rows, with the others at their bounds. */
    for (int a = 0; a < count; a++) {
        const double *row = problem->m + (size_t)active[a] * n;
        s->vector[a] = -problem->q[active[a]];
        for (size_t j = 0; j < n; j++)
            s->vector[a] -= row[j] * z[j];
        for (int b = 0; b < count; b++)
            s->work[a * count + b] = row[active[b]];
    }

    if (yk_lu_factor(count, s->work, s->exchange) != YK_OK)
        return false;

    yk_lu_solve(count, s->work, s->exchange, s->vector);
    for (int a = 0; a < count; a++)
        z[active[a]] = s->vector[a];
    return true;
}

/* Tries all combinations of active and tight rows, if there are few. */
static yk_status enumerate(yk_context *context, lemke *s, double tolerance, double *z, double *w,
                           int *state, double *residual)
{
    /* Each row is at one of its bounds or active. */
    double combinations = 1;
    for (int i = 0; i < s->n; i++) {
        bool low = !isinf(s->problem->lower[i]);
        bool high = !isinf(s->problem->upper[i]);
        if (low != high)
            combinations *= 2;
        if (low && high && !s->fixed[i])
            combinations *= 3;
    }

    if (combinations > 100000)
        return yk_fail(context, YK_ERROR_NO_SOLUTION,
                       "MLCP: no solution found: all paths end on rays (%d pivots); M is not "
                       "semidefinite, so this is no proof",
                       s->pivots);

    int *sets = yk_allocate(context, (size_t)s->n + 1, sizeof *sets);
    if (!sets)
        return YK_ERROR_MEMORY;

    /* Start with all rows at their lower bounds. */
    for (int i = 0; i < s->n; i++) {
        sets[i] = -1;
        if (s->free_row[i] || isinf(s->problem->lower[i]))
            sets[i] = 0;
    }

    bool found = false;
    bool more = true;
    while (more && !found) {
        if (solve_sets(s, sets, z)) {
            *residual = yk_mlcp_residual(s->problem, z, w);
            found = *residual <= tolerance;
        }

        /* The next combination, counted like an odometer: each row is at its lower bound, active,
         * or at its upper bound. */
        more = false;
        for (int i = 0; i < s->n && !found && !more; i++) {
            if (s->free_row[i] || s->fixed[i])
                continue;
            bool high = !isinf(s->problem->upper[i]);
            if (sets[i] == -1 || (sets[i] == 0 && high)) {
                sets[i]++;
                more = true;
            } else {
                sets[i] = isinf(s->problem->lower[i]) ? 0 : -1;
            }
        }
    }

    for (int i = 0; found && state && i < s->n; i++)
        state[i] = sets[i];
    yk_free(context, sets);
    if (found)
        return YK_OK;

    *residual = INFINITY;
    return yk_fail(context, YK_ERROR_NO_SOLUTION,
                   "MLCP: no solution: none of the %.0f combinations of active and tight rows "
                   "gives one",
                   combinations);
}

/* Solving -------------------------------------------------------------------------------------- */

/* Tries the paths, then enumerates small problems. */
static yk_status search(yk_context *context, lemke *s, const yk_mlcp_options *options, double *z,
                        double *w, int *state, double *residual)
{
    size_t n = (size_t)s->n;
    double largest = 0;

    for (size_t i = 0; i < n * n; i++)
        largest = fmax(largest, fabs(s->problem->m[i]));

    int limit = 50 * (s->n + 10);
    if (options->pivots > 0)
        limit = options->pivots;

    for (int attempt = 0; attempt < 6; attempt++) {
        /* The last attempts regularize a singular matrix; the refinement removes the effect. */
        double extra = 0;
        if (attempt >= 4)
            extra = 1e-9 * largest;
        s->limit = s->pivots + limit;
        outcome end = attempt_path(s, attempt % 4, options->regularisation * largest + extra);

        /* Contradicting equations, or a solution. */
        if (end == CONTRADICTION && attempt < 4)
            return yk_fail(context, YK_ERROR_NO_SOLUTION,
                           "MLCP: the equations contradict each other");
        if (end == SOLVED) {
            *residual = finish(s, z, w, state);
            if (*residual <= options->tolerance)
                return YK_OK;
        }

        if (end != ON_RAY || attempt > 0)
            continue;

        /* A ray of the first path is a proof if M is semidefinite and there are no equations. */
        bool equations = false;
        for (int i = 0; i < s->n; i++)
            equations = equations || s->free_row[i];
        if (!equations && is_semidefinite(s))
            return yk_fail(context, YK_ERROR_NO_SOLUTION,
                           "MLCP: no solution: the path of bases ends on a ray after %d pivots, "
                           "and M is positive semidefinite, so the inequalities contradict each "
                           "other",
                           s->pivots);
    }

    return enumerate(context, s, options->tolerance, z, w, state, residual);
}

yk_status yk_mlcp_solve(yk_context *context, const yk_mlcp *problem, const yk_mlcp_options *options,
                        double *z, double *w, int *state, yk_contact_report *report)
{
    double start = yk_clock_seconds();
    size_t n = (size_t)problem->n;

    *report = (yk_contact_report){.method = YK_CONTACT_PIVOTING, .residual = INFINITY};

    /* Bounds and numbers as they are given. */
    for (size_t i = 0; i < n; i++) {
        double low = problem->lower[i];
        double high = problem->upper[i];
        if (!(low <= high) || low == INFINITY || high == -INFINITY)
            return yk_fail(context, YK_ERROR_ARGUMENT, "MLCP: bounds of row %zu are [%g, %g]", i,
                           low, high);
        if (!isfinite(problem->q[i]))
            return yk_fail(context, YK_ERROR_ARGUMENT, "MLCP: q[%zu] is not finite", i);
        for (size_t j = 0; j < n; j++) {
            if (!isfinite(problem->m[i * n + j]))
                return yk_fail(context, YK_ERROR_ARGUMENT, "MLCP: M[%zu][%zu] is not finite", i, j);
        }
    }

    /* One allocation each for numbers, indices and flags. */
    lemke s = {.problem = problem, .n = problem->n};
    s.constant = s.n + 1;
    s.columns = 2 * s.n + 2;
    size_t table = n * (size_t)s.columns;
    double *numbers = yk_allocate(context, table + n * n + 5 * n + 1, sizeof *numbers);
    int *indices = yk_allocate(context, 8 * n + 1, sizeof *indices);
    bool *flags = yk_allocate(context, 3 * n + 1, sizeof *flags);
    yk_status status = YK_ERROR_MEMORY;

    if (numbers && indices && flags) {
        s.table = numbers;
        s.work = s.table + table;
        s.cap = s.work + n * n;
        s.row_scale = s.cap + n;
        s.column_scale = s.row_scale + n;
        s.vector = s.column_scale + n;
        s.correction = s.vector + n;

        s.row_of = indices;
        s.column_of = s.row_of + 2 * n;
        s.basic = s.column_of + 2 * n;
        s.exchange = s.basic + n;
        s.index = s.exchange + n;
        s.nonbasic = s.index + n;

        s.free_row = flags;
        s.fixed = s.free_row + n;
        s.mirrored = s.fixed + n;

        equilibrate(&s);
        status = search(context, &s, options, z, w, state, &report->residual);
    }

    report->iterations = s.pivots;

    yk_free(context, flags);
    yk_free(context, indices);
    yk_free(context, numbers);
    report->seconds = yk_clock_seconds() - start;
    return status;
}
