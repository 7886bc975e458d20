/* Matrices of a linear model from observed deviations.
 *
 * The rows of all deviations before a step, a row per quantity, span the space of the motions that
 * the system can make. The states are rows that span it as well: at each stage the row that is
 * farthest from the span of those that were chosen (Gram-Schmidt with row pivoting). Other rows, and
 * the same rows one step later, are combinations of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/linear.h"
#include "math/dense.h"

/* Size relative to the largest row of the same kind of motion below which a row does not count. */
static const double NEGLIGIBLE = 1e-6;
/* Distance from the span of the chosen rows, relative to the size of the row, of a new state. */
static const double INDEPENDENT = 1e-5;
/* Error of a prediction by the chosen rows, relative to the size of the row, that means that states
 * are missing. */
static const double UNEXPLAINED = 1e-3;

static const double *row_of(const yk_deviations *d, const double *values, int row)
{
    return values + (size_t)row * (size_t)d->column_count;
}

/* Subtracts the parts along `count` orthonormal vectors, twice for accuracy; `parts` may be NULL. */
static void subtract_span(int length, const double *span, int count, double *vector, double *parts)
{
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < count; k++) {
            const double *direction = span + (size_t)k * (size_t)length;
            double part = yk_dense_dot((size_t)length, vector, direction);
            for (int j = 0; j < length; j++)
                vector[j] -= part * direction[j];
            if (parts)
                parts[k] += part;
        }
}

/* Whether two units measure the same kind of motion: rotations are compared with displacements, for
 * models in which nothing turns. */
static bool is_same_kind(const char *unit, const char *other)
{
    static const char *const kinds[2][2] = {{"m", "rad"}, {"m/s", "rad/s"}};
    if (strcmp(unit, other) == 0)
        return true;
    for (int k = 0; k < 2; k++) {
        bool first = strcmp(unit, kinds[k][0]) == 0 || strcmp(unit, kinds[k][1]) == 0;
        bool second = strcmp(other, kinds[k][0]) == 0 || strcmp(other, kinds[k][1]) == 0;
        if (first && second)
            return true;
    }
    return false;
}

/* Whether a row is not negligible next to similar rows: violations of constraints leave small
 * deviations. */
static bool is_notable(const yk_observer *o, const double *norms, int row)
{
    if (!isfinite(norms[row]) || !(norms[row] > 0))
        return false;
    const yk_observed_row *own = &o->rows[row];
    for (int i = 0; i < o->row_count; i++)
        if (o->rows[i].kind == own->kind && isfinite(norms[i]) &&
            is_same_kind(own->unit, o->rows[i].unit) && norms[row] <= NEGLIGIBLE * norms[i])
            return false;
    return true;
}

/* Workspace of the selection. */
typedef struct selection {
    const yk_observer *observer;
    const yk_deviations *deviations;
    bool *is_candidate;
    double *norms;    /* of the rows before the step */
    double *distance; /* squared, of normalized rows from the span */
    double *span;     /* orthonormal, one row of `column_count` per state */
    int *rows;
    int count, capacity;
} selection;

/* Adds rows of one class until all others depend on them. */
static void select_class(selection *s, yk_observed_class kind)
{
    const yk_deviations *d = s->deviations;
    int m = d->column_count;
    for (int i = 0; i < d->row_count; i++) {
        if (s->observer->rows[i].kind != kind || !s->is_candidate[i])
            continue;
        s->distance[i] = 1;
        for (int k = 0; k < s->count; k++) {
            double part =
                yk_dense_dot((size_t)m, row_of(d, d->before, i), s->span + (size_t)k * (size_t)m) /
                s->norms[i];
            s->distance[i] -= part * part;
        }
    }

    while (s->count < s->capacity && s->count < m) {
        int best = -1;
        for (int i = 0; i < d->row_count; i++)
            if (s->observer->rows[i].kind == kind && s->is_candidate[i] &&
                (best < 0 || s->distance[i] > s->distance[best]))
                best = i;
        if (best < 0)
            return;

        /* The distance by subtraction of squares is inaccurate when it is small: compute it. */
        double *next = s->span + (size_t)s->count * (size_t)m;
        for (int j = 0; j < m; j++)
            next[j] = row_of(d, d->before, best)[j] / s->norms[best];
        subtract_span(m, s->span, s->count, next, NULL);
        double length = yk_dense_norm((size_t)m, next);
        s->is_candidate[best] = false;
        if (!(length > INDEPENDENT))
            continue;

        for (int j = 0; j < m; j++)
            next[j] /= length;
        s->rows[s->count++] = best;
        for (int i = 0; i < d->row_count; i++) {
            if (s->observer->rows[i].kind != kind || !s->is_candidate[i])
                continue;
            double part = yk_dense_dot((size_t)m, row_of(d, d->before, i), next) / s->norms[i];
            s->distance[i] -= part * part;
        }
    }
}

/* Whether the chosen rows predict all quantities after the step. */
static bool is_complete(const selection *s, double *vector)
{
    const yk_deviations *d = s->deviations;
    int m = d->column_count;
    for (int i = 0; i < d->row_count; i++) {
        yk_observed_class kind = s->observer->rows[i].kind;
        if (kind == YK_OBSERVED_WORD || kind == YK_OBSERVED_OUTPUT ||
            !is_notable(s->observer, s->norms, i))
            continue;
        memcpy(vector, row_of(d, d->after, i), (size_t)m * sizeof *vector);
        double size = yk_dense_norm((size_t)m, vector);
        subtract_span(m, s->span, s->count, vector, NULL);
        if (yk_dense_norm((size_t)m, vector) > UNEXPLAINED * size)
            return false;
    }
    return true;
}

int yk_linear_select(yk_context *context, const yk_observer *observer,
                     const yk_deviations *deviations, int *rows, int capacity, bool *complete,
                     yk_status *status)
{
    size_t count = (size_t)deviations->row_count;
    size_t m = (size_t)deviations->column_count;
    selection s = {
        .observer = observer, .deviations = deviations, .rows = rows, .capacity = capacity};
    s.is_candidate = yk_allocate(context, count + 1, sizeof *s.is_candidate);
    s.norms = yk_allocate(context, 2 * count + 1, sizeof *s.norms);
    s.span = yk_allocate(context, ((size_t)capacity + 1) * m + 1, sizeof *s.span);
    *status = YK_ERROR_MEMORY;
    if (s.is_candidate && s.norms && s.span) {
        *status = YK_OK;
        s.distance = s.norms + count;
        for (int i = 0; i < deviations->row_count; i++)
            s.norms[i] = yk_dense_norm(m, row_of(deviations, deviations->before, i));
        for (int i = 0; i < deviations->row_count; i++)
            s.is_candidate[i] = is_notable(observer, s.norms, i);

        select_class(&s, YK_OBSERVED_MOTION);
        select_class(&s, YK_OBSERVED_OTHER);
        select_class(&s, YK_OBSERVED_WORD);
        *complete = is_complete(&s, s.span + (size_t)capacity * m);
    }

    yk_free(context, s.is_candidate);
    yk_free(context, s.norms);
    yk_free(context, s.span);
    return s.count;
}

yk_status yk_linear_regress(yk_context *context, const yk_deviations *d, const int *states, int n,
                            const double *values, const int *rows, int count, double *matrix)
{
    /* Normalized states = lower triangle * orthonormal rows. */
    int m = d->column_count;
    size_t size = (size_t)n;
    double *span = yk_allocate(context, size * ((size_t)m + size + 2) + 1, sizeof *span);
    if (!span)
        return YK_ERROR_MEMORY;
    double *lower = span + size * (size_t)m;
    double *norms = lower + size * size;
    double *parts = norms + size;

    yk_status status = YK_OK;
    for (int i = 0; status == YK_OK && i < n; i++) {
        const double *row = row_of(d, d->before, states[i]);
        double *own = span + (size_t)i * (size_t)m;
        norms[i] = yk_dense_norm((size_t)m, row);
        if (!(norms[i] > 0)) {
            status = YK_ERROR_SINGULAR;
            break;
        }
        for (int j = 0; j < m; j++)
            own[j] = row[j] / norms[i];
        subtract_span(m, span, i, own, lower + (size_t)i * size);
        double length = yk_dense_norm((size_t)m, own);
        lower[(size_t)i * size + (size_t)i] = length;
        if (!(length > 0))
            status = YK_ERROR_SINGULAR;
        for (int j = 0; j < m; j++)
            own[j] /= length;
    }

    /* row = x * states: x * lower = row * transposed span. */
    for (int r = 0; status == YK_OK && r < count; r++) {
        const double *row = row_of(d, values, rows[r]);
        double *x = matrix + (size_t)r * size;
        for (int i = 0; i < n; i++)
            parts[i] = yk_dense_dot((size_t)m, row, span + (size_t)i * (size_t)m);
        for (int i = n - 1; i >= 0; i--) {
            double sum = parts[i];
            for (int k = i + 1; k < n; k++)
                sum -= x[k] * lower[(size_t)k * size + (size_t)i];
            x[i] = sum / lower[(size_t)i * size + (size_t)i];
        }
        for (int i = 0; i < n; i++)
            x[i] /= norms[i];
    }

    yk_free(context, span);
    return status;
}

yk_status yk_linear_make_continuous(yk_context *context, double step, int n, int m, double *a,
                                    double *b)
{
    /* A = 2/h (Ad + 1)^-1 (Ad - 1), B = 2/h (Ad + 1)^-1 Bd: exact for the trapezoidal rule. */
    size_t size = (size_t)n;
    double *sum = yk_allocate(context, size * size + size + 1, sizeof *sum);
    int *pivot = yk_allocate(context, size + 1, sizeof *pivot);
    yk_status status = YK_ERROR_MEMORY;
    if (sum && pivot) {
        double *column = sum + size * size;
        memcpy(sum, a, size * size * sizeof *a);
        for (size_t i = 0; i < size; i++) {
            sum[i * size + i] += 1;
            a[i * size + i] -= 1;
        }
        status = n > 0 ? yk_lu_factor(n, sum, pivot) : YK_OK;
        for (int j = 0; status == YK_OK && j < n + m; j++) {
            double *of = j < n ? a : b;
            int width = j < n ? n : m;
            int own = j < n ? j : j - n;
            for (int i = 0; i < n; i++)
                column[i] = of[i * width + own];
            yk_lu_solve(n, sum, pivot, column);
            for (int i = 0; i < n; i++)
                of[i * width + own] = 2 / step * column[i];
        }
    }

    yk_free(context, sum);
    yk_free(context, pivot);
    return status;
}
