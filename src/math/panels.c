/* Supernodal LU without pivoting (panels.h). Symbolic phase: pattern of B + B^T with B = P A Q, columns of L by the
 * elimination tree (Liu 1990), runs of columns with the same pattern, joined further where few zeros are stored. Numeric
 * phase: right-looking, a supernode updates the panels of its ancestors through lists of positions found beforehand. */
#include "math/panels.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct supernode {
    int first, width; /* pivots */
    int below;        /* rows below */
    size_t row;       /* first of its rows below, in `rows` */
    size_t lower;     /* block of D and L: (width + below) x width */
    size_t upper;     /* block of D again and U: width x (width + below), so that each half of a solution reads one */
    size_t update;    /* first of its updates */
    int updates;
} supernode;

/* What a supernode does to one ancestor, whose pivots are its rows below from `begin` to `end`. */
typedef struct update {
    int target;
    int begin, end;
    size_t position; /* of rows begin .. below in the target's rows, in `positions` */
} update;

struct yk_panels {
    yk_context *context;
    int n;
    const int *starts, *entry_rows; /* of A, the caller's */
    int *row_order, *column_order;
    supernode *nodes;
    int count;
    int *rows;
    update *updates;
    int *positions;
    int *place; /* of each entry of A in the store */
    double *store;
    size_t size;
    double *inverse; /* of pivots */
    double *work;    /* two vectors */
};

/* Symbolic phase -------------------------------------------------------------------------------------------------- */

/* Columns of L below the diagonal, rows ascending; grows. */
typedef struct pattern {
    yk_context *context;
    int n;
    size_t *start; /* n + 1 */
    int *row;
    size_t capacity;
    int *owner; /* supernode of a column, as long as they are made */
} pattern;

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static bool reserve(pattern *l, size_t wanted)
{
    if (wanted <= l->capacity) return true;
    size_t capacity = 2 * wanted;
    int *grown = yk_allocate(l->context, capacity, sizeof *grown);
    if (!grown) return false;
    if (l->row) memcpy(grown, l->row, l->capacity * sizeof *grown);
    yk_release(l->context, l->row);
    l->row = grown;
    l->capacity = capacity;
    return true;
}

/* Places of rows and columns of A in the order of elimination, in `place` (2 n). */
static void invert_orders(const yk_panels *panels, int *place)
{
    for (int k = 0; k < panels->n; k++) {
        place[panels->row_order[k]] = k;
        place[panels->n + panels->column_order[k]] = k;
    }
}

/* Entries of B + B^T below the diagonal, by columns: `from` has n + 1 starts, `to` the rows, with duplicates. */
static void symmetric_pattern(const yk_panels *panels, const int *place, size_t *from, int *to)
{
    int n = panels->n;
    memset(from, 0, ((size_t)n + 2) * sizeof *from);
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < n; j++)
            for (int k = panels->starts[j]; k < panels->starts[j + 1]; k++) {
                int a = place[panels->entry_rows[k]], b = place[n + j], low = a < b ? a : b, high = a < b ? b : a;
                if (low == high) continue;
                if (pass == 0) {
                    from[low + 2]++;
                } else {
                    to[from[low + 1]++] = high;
                }
            }
        if (pass == 0)
            for (int j = 0; j < n; j++) from[j + 2] += from[j + 1];
    }
}

/* Column k of L: that of A and those of its children in the elimination tree, without their own first row. */
static bool columns_of_lower(pattern *l, const size_t *from, const int *to, int *mark, int *child, int *sibling)
{
    for (int k = 0; k < l->n; k++) mark[k] = child[k] = -1;
    size_t count = 0;
    for (int k = 0; k < l->n; k++) {
        size_t begin = count;
        l->start[k] = begin;
        mark[k] = k;
        if (!reserve(l, count + (size_t)(l->n - k))) return false;
        for (size_t p = from[k]; p < from[k + 1]; p++)
            if (mark[to[p]] != k) mark[to[p]] = k, l->row[count++] = to[p];
        for (int c = child[k]; c >= 0; c = sibling[c])
            for (size_t p = l->start[c]; p < l->start[c + 1]; p++)
                if (mark[l->row[p]] != k) mark[l->row[p]] = k, l->row[count++] = l->row[p];
        l->start[k + 1] = count;
        if (count == begin) continue;
        qsort(&l->row[begin], count - begin, sizeof *l->row, ascending);
        int parent = l->row[begin];
        sibling[k] = child[parent];
        child[parent] = k;
    }
    return true;
}

/* Whether the columns from `first` on, already one supernode of `width`, take one more: the next must be their parent,
 * and the zeros that are stored in addition be few beside what is there, or beside the cost of one more supernode. */
static bool joins(const pattern *l, int first, int width)
{
    int next = first + width;
    size_t last = (size_t)next - 1, below = l->start[last + 1] - l->start[last];
    if (below == 0 || l->row[l->start[last]] != next) return false;
    size_t after = l->start[next + 1] - l->start[next] + 1;
    size_t zeros = 0;
    for (int k = first; k < next; k++) {
        size_t full = after + (size_t)(next - 1 - k), have = l->start[k + 1] - l->start[k];
        zeros += full - have;
    }
    size_t whole = ((size_t)width + 1) * ((size_t)width + after);
    return 5 * zeros <= whole || zeros <= 12;
}

static void find_supernodes(const pattern *l, yk_panels *panels)
{
    int first = 0;
    while (first < l->n) {
        int width = 1;
        while (first + width < l->n && joins(l, first, width)) width++;
        for (int k = first; k < first + width; k++) l->owner[k] = panels->count;
        size_t last = (size_t)(first + width - 1);
        panels->nodes[panels->count++] = (supernode){
            .first = first, .width = width, .below = (int)(l->start[last + 1] - l->start[last]), .row = l->start[last]};
        first += width;
    }
}

/* Where row i stands among the rows of a supernode. */
static int position_of(const yk_panels *panels, const supernode *node, int i)
{
    if (i < node->first + node->width) return i - node->first;
    const int *rows = &panels->rows[node->row];
    int low = 0, high = node->below;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (rows[middle] <= i) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return node->width + low;
}

/* Counts, or fills, updates and positions. */
static void list_updates(yk_panels *panels, const int *owner, bool fill, size_t *updates, size_t *positions)
{
    *updates = *positions = 0;
    for (int s = 0; s < panels->count; s++) {
        supernode *node = &panels->nodes[s];
        const int *rows = &panels->rows[node->row];
        node->update = *updates;
        node->updates = 0;
        for (int begin = 0, end; begin < node->below; begin = end) {
            int target = owner[rows[begin]];
            for (end = begin; end < node->below && owner[rows[end]] == target;) end++;
            if (fill) {
                panels->updates[*updates] = (update){target, begin, end, *positions};
                for (int p = begin; p < node->below; p++)
                    panels->positions[*positions + (size_t)(p - begin)] =
                        position_of(panels, &panels->nodes[target], rows[p]);
            }
            node->updates++;
            *updates += 1;
            *positions += (size_t)(node->below - begin);
        }
    }
}

static void place_blocks(yk_panels *panels)
{
    size_t at = 0;
    for (int s = 0; s < panels->count; s++) {
        panels->nodes[s].lower = at;
        at += (size_t)panels->nodes[s].width * (size_t)(panels->nodes[s].width + panels->nodes[s].below);
    }
    for (int s = 0; s < panels->count; s++) panels->nodes[s].upper = at + panels->nodes[s].lower;
    panels->size = 2 * at;
}

static void place_entries(yk_panels *panels, const int *owner, const int *place)
{
    for (int j = 0; j < panels->n; j++)
        for (int k = panels->starts[j]; k < panels->starts[j + 1]; k++) {
            int row = place[panels->entry_rows[k]], column = place[panels->n + j];
            const supernode *node = &panels->nodes[owner[row < column ? row : column]];
            size_t height = (size_t)(node->width + node->below);
            int i = position_of(panels, node, row), c = position_of(panels, node, column);
            if (c < node->width) {
                panels->place[k] = (int)(node->lower + (size_t)i + height * (size_t)c);
            } else {
                panels->place[k] = (int)(node->upper + (size_t)i + (size_t)(node->width * c));
            }
        }
}

/* The pattern of L, then of its panels. */
static yk_status analyse(yk_panels *panels, pattern *l, int *place)
{
    yk_context *context = panels->context;
    size_t n = (size_t)panels->n, entries = (size_t)panels->starts[n];
    size_t *from = yk_allocate(context, n + 2, sizeof *from);
    int *to = yk_allocate(context, entries, sizeof *to), *lists = yk_allocate(context, 3 * n, sizeof *lists);
    bool good = from && to && lists;
    if (good) {
        invert_orders(panels, place);
        symmetric_pattern(panels, place, from, to);
        good = columns_of_lower(l, from, to, lists, lists + n, lists + 2 * n);
    }
    yk_release(context, from);
    yk_release(context, to);
    yk_release(context, lists);
    return good ? YK_OK : YK_ERROR_MEMORY;
}

static yk_status lay_out(yk_panels *panels, pattern *l, const int *place)
{
    yk_context *context = panels->context;
    size_t updates, positions;
    find_supernodes(l, panels);
    panels->rows = l->row, l->row = NULL;
    list_updates(panels, l->owner, false, &updates, &positions);
    panels->updates = yk_allocate(context, updates, sizeof *panels->updates);
    panels->positions = yk_allocate(context, positions, sizeof *panels->positions);
    place_blocks(panels);
    if (panels->size > INT_MAX)
        return yk_fail(context, YK_ERROR_MEMORY, "the factors of a sparse matrix of %d rows would be too large",
                       panels->n);
    panels->store = yk_allocate(context, panels->size, sizeof *panels->store);
    if (!panels->updates || !panels->positions || !panels->store) return YK_ERROR_MEMORY;
    list_updates(panels, l->owner, true, &updates, &positions);
    place_entries(panels, l->owner, place);
    return YK_OK;
}

static yk_status build(yk_panels *panels)
{
    yk_context *context = panels->context;
    size_t n = (size_t)panels->n;
    pattern l = {.context = context, .n = panels->n};
    l.start = yk_allocate(context, n + 1, sizeof *l.start);
    l.owner = yk_allocate(context, n, sizeof *l.owner);
    int *place = yk_allocate(context, 2 * n, sizeof *place);
    yk_status status = l.start && l.owner && place ? YK_OK : YK_ERROR_MEMORY;
    if (status == YK_OK) status = analyse(panels, &l, place);
    if (status == YK_OK) status = lay_out(panels, &l, place);
    yk_release(context, l.start);
    yk_release(context, l.owner);
    yk_release(context, l.row);
    yk_release(context, place);
    return status;
}

yk_status yk_panels_create(yk_context *context, int n, const int *starts, const int *rows, const int *row_order,
                           const int *column_order, yk_panels **result)
{
    *result = NULL;
    yk_panels *panels = yk_allocate(context, 1, sizeof *panels);
    if (!panels) return YK_ERROR_MEMORY;
    *panels = (yk_panels){.context = context, .n = n, .starts = starts, .entry_rows = rows};
    panels->row_order = yk_allocate(context, (size_t)n, sizeof *panels->row_order);
    panels->column_order = yk_allocate(context, (size_t)n, sizeof *panels->column_order);
    panels->nodes = yk_allocate(context, (size_t)n, sizeof *panels->nodes);
    panels->place = yk_allocate(context, (size_t)starts[n], sizeof *panels->place);
    panels->inverse = yk_allocate(context, (size_t)n, sizeof *panels->inverse);
    panels->work = yk_allocate(context, 2 * (size_t)n, sizeof *panels->work);
    bool complete =
        panels->row_order && panels->column_order && panels->nodes && panels->place && panels->inverse && panels->work;
    yk_status status = complete ? YK_OK : YK_ERROR_MEMORY;
    if (complete) {
        memcpy(panels->row_order, row_order, (size_t)n * sizeof *row_order);
        memcpy(panels->column_order, column_order, (size_t)n * sizeof *column_order);
        status = build(panels);
    }
    if (status != YK_OK) {
        yk_panels_destroy(panels);
        return status;
    }
    *result = panels;
    return YK_OK;
}

void yk_panels_destroy(yk_panels *panels)
{
    if (!panels) return;
    yk_context *context = panels->context;
    yk_release(context, panels->row_order);
    yk_release(context, panels->column_order);
    yk_release(context, panels->nodes);
    yk_release(context, panels->rows);
    yk_release(context, panels->updates);
    yk_release(context, panels->positions);
    yk_release(context, panels->place);
    yk_release(context, panels->store);
    yk_release(context, panels->inverse);
    yk_release(context, panels->work);
    yk_release(context, panels);
}

size_t yk_panels_size(const yk_panels *panels)
{
    return panels->size;
}

const int *yk_panels_rows(const yk_panels *panels)
{
    return panels->row_order;
}

/* Numeric phase --------------------------------------------------------------------------------------------------- */

/* z -= columns k .. k+3 of a block times four numbers, rows begin .. end. */
static inline void sweep(const double *block, size_t height, const double v[4], int begin, int end, double *restrict z)
{
    for (int i = begin; i < end; i++)
        z[i] -= (v[0] * block[i] + v[1] * block[i + height]) +
                (v[2] * block[i + 2 * height] + v[3] * block[i + 3 * height]);
}

/* Forward substitution with the columns of a block, whose first rows are unit triangular, to all `rows` of z. */
static void sweep_down(const double *block, size_t h, int width, int rows, double *z)
{
    int k = 0;
    for (; k + 4 <= width; k += 4, block += 4 * h) {
        const double *a = block, *b = a + h, *c = b + h;
        z[k + 1] -= a[k + 1] * z[k];
        z[k + 2] -= a[k + 2] * z[k] + b[k + 2] * z[k + 1];
        z[k + 3] -= a[k + 3] * z[k] + b[k + 3] * z[k + 1] + c[k + 3] * z[k + 2];
        const double v[4] = {z[k], z[k + 1], z[k + 2], z[k + 3]};
        sweep(block, h, v, k + 4, rows, z);
    }
    for (; k < width; k++, block += h)
        for (int i = k + 1; i < rows; i++) z[i] -= z[k] * block[i];
}

/* D = L U in place without pivoting, with the rows below; false: a pivot is zero or not finite. */
static bool factor_lower(double *block, int width, int height, double *inverse)
{
    for (int k = 0; k < width; k++) {
        double *column = block + (size_t)k * (size_t)height;
        sweep_down(block, (size_t)height, k, height, column);
        double pivot = column[k], scale = 1 / pivot;
        if (pivot == 0 || !isfinite(scale) || !isfinite(pivot)) return false;
        inverse[k] = scale;
        for (int i = k + 1; i < height; i++) column[i] *= scale;
    }
    return true;
}

/* D, and U = L^-1 of what stands across from it. */
static void factor_upper(const double *lower, int width, int height, double *upper, int below)
{
    for (int k = 0; k < width; k++, upper += width)
        for (int i = 0; i < k; i++) upper[i] = lower[(size_t)k * (size_t)height + (size_t)i];
    for (int q = 0; q < below; q++, upper += width) sweep_down(lower, (size_t)height, width, width, upper);
}

/* sum = columns of a block times a vector, four at a time. */
static void multiply(const double *block, int columns, int height, int count, const double *vector,
                     double *restrict sum)
{
    size_t h = (size_t)height;
    int k = 0;
    for (int i = 0; i < count; i++) sum[i] = 0;
    for (; k + 4 <= columns; k += 4, block += 4 * h) {
        double a = vector[k], b = vector[k + 1], c = vector[k + 2], d = vector[k + 3];
        for (int i = 0; i < count; i++)
            sum[i] += (a * block[i] + b * block[i + h]) + (c * block[i + 2 * h] + d * block[i + 3 * h]);
    }
    for (; k < columns; k++, block += h) {
        double a = vector[k];
        for (int i = 0; i < count; i++) sum[i] += a * block[i];
    }
}

/* Subtracts L U of a supernode from its ancestors, a column at a time. */
static void update_ancestors(yk_panels *panels, const supernode *node)
{
    int width = node->width, height = width + node->below;
    const double *lower = panels->store + node->lower + width;
    const double *upper = panels->store + node->upper + (size_t)width * (size_t)width;
    const int *rows = &panels->rows[node->row];
    double *product = panels->work;
    for (int p = 0; p < node->below; p++) {
        multiply(lower, width, height, node->below, upper + (size_t)p * (size_t)width, product);
        for (int u = 0; u < node->updates; u++) {
            const update *by = &panels->updates[node->update + (size_t)u];
            const supernode *target = &panels->nodes[by->target];
            const int *position = &panels->positions[by->position];
            int begin = by->begin;
            if (p < by->end) {
                double *to = panels->store + target->lower +
                             (size_t)(target->width + target->below) * (size_t)(rows[p] - target->first);
                for (int q = begin; q < node->below; q++) to[position[q - begin]] -= product[q];
                break;
            }
            double *to = panels->store + target->upper + (size_t)(target->width * position[p - begin]);
            for (int q = begin; q < by->end; q++) to[rows[q] - target->first] -= product[q];
        }
    }
}

bool yk_panels_factor(yk_panels *panels, const double *values)
{
    memset(panels->store, 0, panels->size * sizeof *panels->store);
    size_t entries = (size_t)panels->starts[panels->n];
    for (size_t k = 0; k < entries; k++) panels->store[panels->place[k]] = values[k];
    for (int s = 0; s < panels->count; s++) {
        const supernode *node = &panels->nodes[s];
        double *lower = panels->store + node->lower;
        int height = node->width + node->below;
        if (!factor_lower(lower, node->width, height, panels->inverse + node->first)) return false;
        factor_upper(lower, node->width, height, panels->store + node->upper, node->below);
        update_ancestors(panels, node);
    }
    return true;
}

double yk_panels_spread(const yk_panels *panels)
{
    double least = INFINITY, most = 0;
    for (int k = 0; k < panels->n; k++) {
        double size = fabs(panels->inverse[k]);
        least = size < least ? size : least;
        most = size > most ? size : most;
    }
    return least / most;
}

static double larger(double a, double b)
{
    return fabs(b) > a ? fabs(b) : a;
}

double yk_panels_growth(yk_panels *panels, const double *values)
{
    double *largest = panels->work, least = INFINITY;
    for (int k = 0; k < panels->n; k++) largest[k] = 0;
    for (int s = 0; s < panels->count; s++) {
        const supernode *node = &panels->nodes[s];
        const double *lower = panels->store + node->lower, *upper = panels->store + node->upper;
        for (int j = 0; j < node->width; j++, lower += node->width + node->below)
            for (int i = 0; i <= j; i++) largest[node->first + j] = larger(largest[node->first + j], lower[i]);
        upper += (size_t)node->width * (size_t)node->width;
        for (int q = 0; q < node->below; q++)
            for (int i = 0; i < node->width; i++, upper++) {
                double *of = &largest[panels->rows[node->row + (size_t)q]];
                *of = larger(*of, *upper);
            }
    }
    for (int k = 0; k < panels->n; k++) {
        int j = panels->column_order[k];
        double most = 0;
        for (int p = panels->starts[j]; p < panels->starts[j + 1]; p++) most = larger(most, values[p]);
        least = fmin(least, most / largest[k]);
    }
    return least;
}

/* Solution -------------------------------------------------------------------------------------------------------- */

static void sweep_up(const double *block, int width, const double *inverse, double *z)
{
    size_t h = (size_t)width;
    int k = width;
    for (; k >= 4; k -= 4) {
        const double *a = block + (size_t)(k - 4) * h, *b = a + h, *c = b + h, *d = c + h;
        z[k - 1] *= inverse[k - 1];
        z[k - 2] = (z[k - 2] - d[k - 2] * z[k - 1]) * inverse[k - 2];
        z[k - 3] = (z[k - 3] - d[k - 3] * z[k - 1] - c[k - 3] * z[k - 2]) * inverse[k - 3];
        z[k - 4] = (z[k - 4] - d[k - 4] * z[k - 1] - c[k - 4] * z[k - 2] - b[k - 4] * z[k - 3]) * inverse[k - 4];
        const double v[4] = {z[k - 4], z[k - 3], z[k - 2], z[k - 1]};
        sweep(a, h, v, 0, k - 4, z);
    }
    for (k--; k >= 0; k--) {
        z[k] *= inverse[k];
        for (int i = 0; i < k; i++) z[i] -= z[k] * block[(size_t)k * h + (size_t)i];
    }
}

static void forward(const yk_panels *panels, const supernode *node, double *x, double *z)
{
    int width = node->width, below = node->below;
    const double *lower = panels->store + node->lower;
    const int *rows = &panels->rows[node->row];
    double *own = x + node->first;
    if (width == 1) {
        for (int q = 0; q < below; q++) x[rows[q]] -= own[0] * lower[1 + q];
        return;
    }
    for (int k = 0; k < width; k++) z[k] = own[k];
    for (int q = 0; q < below; q++) z[width + q] = 0;
    /* below the pivots' share are zeros, which become -L x */
    sweep_down(lower, (size_t)(width + below), width, width + below, z);
    for (int k = 0; k < width; k++) own[k] = z[k];
    for (int q = 0; q < below; q++) x[rows[q]] += z[width + q];
}

static void backward(const yk_panels *panels, const supernode *node, double *x, double *gathered)
{
    int width = node->width, below = node->below;
    const double *upper = panels->store + node->upper, *inverse = panels->inverse + node->first;
    const int *rows = &panels->rows[node->row];
    double *own = x + node->first;
    if (width == 1) {
        double sum = own[0];
        for (int q = 0; q < below; q++) sum -= upper[1 + q] * x[rows[q]];
        own[0] = sum * inverse[0];
        return;
    }
    size_t w = (size_t)width;
    int q = 0;
    for (int k = 0; k < below; k++) gathered[k] = x[rows[k]];
    const double *across = upper + w * w;
    for (; q + 4 <= below; q += 4, across += 4 * w) sweep(across, w, gathered + q, 0, width, own);
    for (; q < below; q++, across += w)
        for (int k = 0; k < width; k++) own[k] -= gathered[q] * across[k];
    sweep_up(upper, width, inverse, own);
}

void yk_panels_solve(yk_panels *panels, double *b)
{
    int n = panels->n;
    double *x = panels->work, *z = x + n;
    for (int k = 0; k < n; k++) x[k] = b[panels->row_order[k]];
    for (int s = 0; s < panels->count; s++) forward(panels, &panels->nodes[s], x, z);
    for (int s = panels->count - 1; s >= 0; s--) backward(panels, &panels->nodes[s], x, z);
    for (int k = 0; k < n; k++) b[panels->column_order[k]] = x[k];
}
