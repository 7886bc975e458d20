/* Supernodal LU (Demmel, Eisenstat, Gilbert, Li, Liu 1999; Chen, Davis, Hager, Rajamanickam 2008)
 * on a symmetric pattern.
 *
 * Symbolic phase: pattern of B + B^T with B = P A Q, columns of L by the elimination tree (Liu
 * 1990), runs of columns with the same pattern, merged further if few zeros are added. Numeric
 * phase: left-looking. A supernode subtracts the contributions of its descendants, in their order,
 * as products of a strip of four columns of U with rows of L; then its own block is factored. Inner
 * loops are compiled twice, for the baseline machine and for AVX2, with the same bits. */
#include "math/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/simd.h"

enum {
    STRIP = 4, /* columns per product */
    LANES = 4  /* rows per vector; products are padded to whole vectors */
};

typedef struct supernode {
    int first, width; /* pivots */
    int below;        /* rows below */
    size_t row;       /* first of its rows below, in `rows` */
    size_t lower;     /* block of D and L: (width + below) x width */
    /* block of D again and U: width x (width + below), so that each half of a solution reads one */
    size_t upper;
    size_t update; /* first of its updates */
    size_t updates;
} supernode;

/* An update of a supernode by a descendant, whose rows `begin` to `end` below its pivots belong to
 * the supernode. */
typedef struct descendant_update {
    int source;
    int begin, end;
} descendant_update;

struct yk_supernodal {
    yk_context *context;
    int n;
    bool exchange;
    supernode *nodes;
    int count;
    int *rows;                     /* below the supernodes, ascending in each */
    int *owner;                    /* pivot -> supernode */
    int *row_pivot, *column_pivot; /* rows and columns of the matrix -> pivot */
    descendant_update *updates;
    double *store;
    size_t size;
    double *inverse; /* of pivots */
    /* with exchanges: row of D with which pivot k was exchanged, from the supernode's first */
    int *pivot;
    /* Workspace. */
    double *vector;  /* two */
    double *product; /* a strip of the longest column */
    int *map;        /* row -> index in the supernode that is computed */
    int *position;   /* indices of a descendant's rows */
};

/* Symbolic phase ------------------------------------------------------------------------------- */

/* Columns of L below the diagonal by vertices, rows ascending. */
typedef struct pattern {
    int n;
    size_t *start; /* n + 1 */
    int *row;
    size_t capacity;
} pattern;

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a;
    int y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Entries of B + B^T below the diagonal, by columns: `from` has n + 1 starts (and memory for one
 * more), `to` the rows, with duplicates. */
static void symmetric_pattern(const yk_supernodal_def *def, const int *row_pivot,
                              const int *column_pivot, size_t *from, int *to)
{
    int n = def->vertices;
    memset(from, 0, ((size_t)n + 2) * sizeof *from);

    /* Count first, then list. */
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < n; j++) {
            int b = column_pivot[j];
            for (int k = def->starts[j]; k < def->starts[j + 1]; k++) {
                int a = row_pivot[def->rows[k]];
                int low = a < b ? a : b;
                int high = a < b ? b : a;
                if (low == high)
                    continue;
                if (pass == 0) {
                    from[low + 2]++;
                } else {
                    to[from[low + 1]++] = high;
                }
            }
        }

        if (pass == 1)
            break;

        /* Counts become starts, shifted by one: listing moves each to its end. */
        for (int j = 0; j < n; j++)
            from[j + 2] += from[j + 1];
    }
}

/* Column k of L: the union of the column of the matrix and those of its children in the elimination
 * tree, without their own first row. */
static bool columns_of_lower(yk_context *context, const size_t *from, const int *to, int *mark,
                             int *child, int *sibling, pattern *l)
{
    /* No column is marked, and no vertex has a child. */
    for (int k = 0; k < l->n; k++)
        mark[k] = child[k] = -1;

    size_t count = 0;
    for (int k = 0; k < l->n; k++) {
        /* Memory for the longest possible column. */
        size_t begin = count;
        size_t wanted = count + (size_t)(l->n - k);
        if (wanted > l->capacity) {
            int *grown = yk_reallocate(context, l->row, 2 * wanted, sizeof *grown);
            if (!grown)
                return false;

            l->row = grown;
            l->capacity = 2 * wanted;
        }

        /* Rows of the matrix ... */
        l->start[k] = begin;
        mark[k] = k;
        for (size_t p = from[k]; p < from[k + 1]; p++) {
            if (mark[to[p]] == k)
                continue;

            mark[to[p]] = k;
            l->row[count++] = to[p];
        }

        /* ... and of the children, each once. */
        for (int c = child[k]; c >= 0; c = sibling[c]) {
            for (size_t p = l->start[c]; p < l->start[c + 1]; p++) {
                int row = l->row[p];
                if (mark[row] == k)
                    continue;

                mark[row] = k;
                l->row[count++] = row;
            }
        }

        l->start[k + 1] = count;
        if (count == begin)
            continue;

        /* The first row below is the parent in the tree. */
        qsort(&l->row[begin], count - begin, sizeof *l->row, ascending);
        int parent = l->row[begin];
        sibling[k] = child[parent];
        child[parent] = k;
    }

    return true;
}

/* Length of the run of columns from `first` on that becomes one supernode. A column is added if it
 * is the parent of the previous one, and the additional zeros are few compared with the entries, or
 * with the cost of one more supernode. */
static int run_length(const pattern *l, int first)
{
    size_t stored = 0; /* below the diagonals of the columns so far */
    for (int width = 1;; width++) {
        int last = first + width - 1;
        int next = last + 1;
        size_t below = l->start[last + 1] - l->start[last];
        if (below == 0 || l->row[l->start[last]] != next)
            return width;

        /* Zeros: entries of the joined block that its columns do not have. */
        stored += below;
        size_t w = (size_t)width;
        size_t after = l->start[next + 1] - l->start[next] + 1;
        size_t zeros = w * after + w * (w - 1) / 2 - stored;
        size_t whole = (w + 1) * (w + after);
        if (5 * zeros > whole && zeros > 12)
            return width;
    }
}

/* Supernodes with their pivots and rows below, in rows of the matrix; `begin` is the first pivot
 * of each vertex. */
static yk_status find_supernodes(yk_supernodal *lu, const pattern *l, const int *begin)
{
    /* Count the rows first, then list them. */
    size_t rows = 0;
    for (int pass = 0; pass < 2; pass++) {
        rows = 0;
        lu->count = 0;
        for (int first = 0, width; first < l->n; first += width) {
            width = run_length(l, first);

            /* A run of vertices; the rows below are those of its last. */
            supernode *node = &lu->nodes[lu->count++];
            int end = first + width;
            *node =
                (supernode){.first = begin[first], .width = begin[end] - begin[first], .row = rows};
            for (size_t p = l->start[end - 1]; p < l->start[end]; p++) {
                int vertex = l->row[p];
                for (int r = begin[vertex]; r < begin[vertex + 1]; r++, rows++) {
                    if (pass == 1)
                        lu->rows[rows] = r;
                }
            }

            node->below = (int)(rows - node->row);
        }

        if (pass == 1)
            break;

        lu->rows = yk_allocate(lu->context, rows, sizeof *lu->rows);
        if (!lu->rows)
            return YK_ERROR_MEMORY;
    }

    /* Blocks one behind the other, all of L before all of U. */
    size_t at = 0;
    for (int s = 0; s < lu->count; s++) {
        supernode *node = &lu->nodes[s];
        node->lower = at;
        at += (size_t)node->width * (size_t)(node->width + node->below);
        for (int k = 0; k < node->width; k++)
            lu->owner[node->first + k] = s;
    }

    for (int s = 0; s < lu->count; s++)
        lu->nodes[s].upper = at + lu->nodes[s].lower;
    lu->size = 2 * at;

    return YK_OK;
}

/* The updates of each supernode, in the order of their sources. */
static yk_status list_updates(yk_supernodal *lu)
{
    /* Count first, then list; sources are ascending, so the updates of each target are too. */
    for (int pass = 0; pass < 2; pass++) {
        for (int s = 0; s < lu->count; s++) {
            const supernode *node = &lu->nodes[s];
            const int *rows = &lu->rows[node->row];

            for (int begin = 0, end; begin < node->below; begin = end) {
                supernode *target = &lu->nodes[lu->owner[rows[begin]]];
                end = begin;
                while (end < node->below && rows[end] < target->first + target->width)
                    end++;
                size_t at = target->update + target->updates++;
                if (pass == 0)
                    continue;

                lu->updates[at].source = s;
                lu->updates[at].begin = begin;
                lu->updates[at].end = end;
            }
        }

        if (pass == 1)
            break;

        /* Index of the first update of each target. */
        size_t count = 0;
        for (int s = 0; s < lu->count; s++) {
            lu->nodes[s].update = count;
            count += lu->nodes[s].updates;
            lu->nodes[s].updates = 0;
        }

        lu->updates = yk_allocate(lu->context, count, sizeof *lu->updates);
        if (!lu->updates)
            return YK_ERROR_MEMORY;
    }

    return YK_OK;
}

/* Indices of the vertices in the order of elimination, and of their rows. */
static void invert_order(const yk_supernodal_def *def, const int *order, const int *begin,
                         int *vertex_pivot, int *pivot)
{
    for (int k = 0; k < def->vertices; k++)
        vertex_pivot[order[k]] = k;
    for (int v = 0, row = 0; v < def->vertices; v++) {
        int size = def->size ? def->size[v] : 1;
        for (int r = 0; r < size; r++)
            pivot[row++] = begin[vertex_pivot[v]] + r;
    }
}

/* The pattern of L, and of its panels. */
static yk_status analyse(yk_supernodal *lu, const yk_supernodal_def *def)
{
    yk_context *context = lu->context;
    size_t vertices = (size_t)def->vertices;
    size_t n = (size_t)lu->n;
    pattern l = {.n = def->vertices};

    /* Pattern of L, work of its search, and the maps of the panels. */
    l.start = yk_allocate(context, vertices + 1, sizeof *l.start);
    int *begin = yk_allocate(context, vertices + 1, sizeof *begin);
    int *indices = yk_allocate(context, 2 * vertices, sizeof *indices);
    size_t *from = yk_allocate(context, vertices + 2, sizeof *from);
    int *to = yk_allocate(context, (size_t)def->starts[vertices], sizeof *to);
    int *lists = yk_allocate(context, 3 * vertices, sizeof *lists);
    lu->nodes = yk_allocate(context, vertices, sizeof *lu->nodes);
    lu->owner = yk_allocate(context, n, sizeof *lu->owner);
    lu->row_pivot = yk_allocate(context, n, sizeof *lu->row_pivot);
    lu->column_pivot = yk_allocate(context, n, sizeof *lu->column_pivot);
    bool complete = l.start && begin && indices && from && to && lists && lu->nodes && lu->owner &&
                    lu->row_pivot && lu->column_pivot;
    yk_status status = complete ? YK_OK : YK_ERROR_MEMORY;

    if (status == YK_OK) {
        /* First rows of the vertices in the order of elimination. */
        for (int k = 0; k < def->vertices; k++)
            begin[k + 1] = begin[k] + (def->size ? def->size[def->row_order[k]] : 1);
        invert_order(def, def->row_order, begin, indices, lu->row_pivot);
        invert_order(def, def->column_order, begin, indices + vertices, lu->column_pivot);

        /* Pattern of the matrix, then of L. */
        symmetric_pattern(def, indices, indices + vertices, from, to);
        if (!columns_of_lower(context, from, to, lists, lists + vertices, lists + 2 * vertices, &l))
            status = YK_ERROR_MEMORY;
    }

    if (status == YK_OK)
        status = find_supernodes(lu, &l, begin);

    yk_free(context, l.start);
    yk_free(context, l.row);
    yk_free(context, from);
    yk_free(context, to);
    yk_free(context, lists);
    yk_free(context, begin);
    yk_free(context, indices);

    return status;
}

yk_status yk_supernodal_create(yk_context *context, const yk_supernodal_def *def,
                               yk_supernodal **result)
{
    *result = NULL;
    yk_supernodal *lu = yk_allocate(context, 1, sizeof *lu);
    if (!lu)
        return YK_ERROR_MEMORY;

    /* Vertices have one row each, or as many as the caller says. */
    lu->context = context;
    lu->exchange = def->exchange;
    lu->n = def->vertices;
    if (def->size) {
        lu->n = 0;
        for (int v = 0; v < def->vertices; v++)
            lu->n += def->size[v];
    }

    yk_status status = analyse(lu, def);

    /* Factors that would be too large are not created. */
    bool too_large = status == YK_OK && def->most > 0 && lu->size > def->most;
    if (status == YK_OK && !too_large)
        status = list_updates(lu);
    if (status != YK_OK || too_large) {
        yk_supernodal_destroy(lu);
        return status;
    }

    /* Factors and work, now that the sizes are known. */
    size_t n = (size_t)lu->n;
    size_t longest = 0;

    /* The longest column determines the workspace. */
    for (int s = 0; s < lu->count; s++) {
        size_t height = (size_t)(lu->nodes[s].width + lu->nodes[s].below);
        if (height > longest)
            longest = height;
    }

    /* Whole vectors may be read beyond the end of a block. */
    lu->store = yk_allocate(context, lu->size + 2 * LANES, sizeof *lu->store);
    lu->inverse = yk_allocate(context, n, sizeof *lu->inverse);
    lu->pivot = yk_allocate(context, n, sizeof *lu->pivot);
    lu->vector = yk_allocate(context, 2 * n, sizeof *lu->vector);
    lu->product = yk_allocate(context, STRIP * (longest + 2 * LANES), sizeof *lu->product);
    lu->map = yk_allocate(context, n, sizeof *lu->map);
    lu->position = yk_allocate(context, longest, sizeof *lu->position);
    bool complete = lu->store && lu->inverse && lu->pivot && lu->vector && lu->product && lu->map &&
                    lu->position;
    if (!complete) {
        yk_supernodal_destroy(lu);
        return YK_ERROR_MEMORY;
    }

    *result = lu;
    return YK_OK;
}

void yk_supernodal_destroy(yk_supernodal *lu)
{
    if (!lu)
        return;

    yk_context *context = lu->context;
    yk_free(context, lu->nodes);
    yk_free(context, lu->rows);
    yk_free(context, lu->owner);
    yk_free(context, lu->row_pivot);
    yk_free(context, lu->column_pivot);
    yk_free(context, lu->updates);
    yk_free(context, lu->store);
    yk_free(context, lu->inverse);
    yk_free(context, lu->pivot);
    yk_free(context, lu->vector);
    yk_free(context, lu->product);
    yk_free(context, lu->map);
    yk_free(context, lu->position);
    yk_free(context, lu);
}

/* Position of row i among the rows of a supernode. */
static size_t position_of(const yk_supernodal *lu, const supernode *node, int i)
{
    if (i < node->first + node->width)
        return (size_t)(i - node->first);

    /* Rows below ascend. */
    const int *rows = &lu->rows[node->row];
    int low = 0;
    int high = node->below;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (rows[middle] <= i) {
            low = middle;
        } else {
            high = middle;
        }
    }

    return (size_t)(node->width + low);
}

size_t yk_supernodal_index(const yk_supernodal *lu, int row, int column)
{
    int r = lu->row_pivot[row];
    int c = lu->column_pivot[column];
    const supernode *node = &lu->nodes[lu->owner[r < c ? r : c]];
    size_t width = (size_t)node->width;
    size_t height = (size_t)(node->width + node->below);
    size_t i = position_of(lu, node, r);
    size_t j = position_of(lu, node, c);

    /* Columns of pivots are in the block of L, the others in that of U. */
    if (j < width)
        return node->lower + i + height * j;

    return node->upper + i + width * j;
}

double *yk_supernodal_clear(yk_supernodal *lu)
{
    memset(lu->store, 0, lu->size * sizeof *lu->store);
    return lu->store;
}

/* Numeric phase -------------------------------------------------------------------------------- */

/* z -= columns k .. k+3 of a block times four numbers, rows begin .. end. */
YK_INLINE void sweep(const double *block, size_t height, const double v[4], int begin, int end,
                     double *restrict z)
{
    for (int i = begin; i < end; i++) {
        z[i] -= (v[0] * block[i] + v[1] * block[i + height]) +
                (v[2] * block[i + 2 * height] + v[3] * block[i + 3 * height]);
    }
}

/* Forward substitution with the columns of a block, whose first rows are unit triangular, for all
 * `rows` of z. */
YK_INLINE void sweep_down(const double *block, size_t h, int width, int rows, double *z)
{
    int k = 0;
    for (; k + 4 <= width; k += 4, block += 4 * h) {
        const double *a = block;
        const double *b = a + h;
        const double *c = b + h;

        /* The triangle of four columns, then all rows below it at once. */
        z[k + 1] -= a[k + 1] * z[k];
        z[k + 2] -= a[k + 2] * z[k] + b[k + 2] * z[k + 1];
        z[k + 3] -= a[k + 3] * z[k] + b[k + 3] * z[k + 1] + c[k + 3] * z[k + 2];

        const double v[4] = {z[k], z[k + 1], z[k + 2], z[k + 3]};
        sweep(block, h, v, k + 4, rows, z);
    }

    /* Remaining columns. */
    for (; k < width; k++, block += h) {
        for (int i = k + 1; i < rows; i++)
            z[i] -= z[k] * block[i];
    }
}

/* Tiles of C = A B in registers: 4 * `vectors` rows, up to four columns. Products are added four at
 * a time. */
YK_INLINE void multiply_tile(int vectors, int columns, int k, const double *a, size_t sa,
                             const double *b, size_t sb, double *c, size_t sc)
{
    yk_v4 sum[STRIP][2] = {{{0}}};
    int p = 0;

    /* Four columns of A at a time. */
    for (; p + 4 <= k; p += 4, a += 4 * sa) {
        for (int v = 0; v < vectors; v++) {
            const double *at = a + LANES * v;
            yk_v4 a0 = yk_v4_load(at);
            yk_v4 a1 = yk_v4_load(at + sa);
            yk_v4 a2 = yk_v4_load(at + 2 * sa);
            yk_v4 a3 = yk_v4_load(at + 3 * sa);

            for (int j = 0; j < columns; j++) {
                const double *bj = b + (size_t)j * sb + p;
                sum[j][v] += (yk_v4_set(bj[0]) * a0 + yk_v4_set(bj[1]) * a1) +
                             (yk_v4_set(bj[2]) * a2 + yk_v4_set(bj[3]) * a3);
            }
        }
    }

    /* The rest, one by one. */
    for (; p < k; p++, a += sa) {
        for (int v = 0; v < vectors; v++) {
            yk_v4 a0 = yk_v4_load(a + LANES * v);
            for (int j = 0; j < columns; j++)
                sum[j][v] += yk_v4_set(b[(size_t)j * sb + (size_t)p]) * a0;
        }
    }

    for (int j = 0; j < columns; j++) {
        for (int v = 0; v < vectors; v++)
            yk_v4_store(c + (size_t)j * sc + (size_t)(LANES * v), sum[j][v]);
    }
}

/* C (m x columns) = A (m x k) B (k x columns), column by column with the given strides. The last
 * vector of each column of A is read, and that of C written, completely. */
YK_INLINE void multiply_strip(int columns, int m, int k, const double *a, size_t sa,
                              const double *b, size_t sb, double *c, size_t sc)
{
    int i = 0;
    for (; i + LANES < m; i += 2 * LANES)
        multiply_tile(2, columns, k, a + i, sa, b, sb, c + i, sc);
    if (i < m)
        multiply_tile(1, columns, k, a + i, sa, b, sb, c + i, sc);
}

YK_INLINE void multiply(int columns, int m, int k, const double *a, size_t sa, const double *b,
                        size_t sb, double *c, size_t sc)
{
    switch (columns) {
    case 1: multiply_strip(1, m, k, a, sa, b, sb, c, sc); break;
    case 2: multiply_strip(2, m, k, a, sa, b, sb, c, sc); break;
    case 3: multiply_strip(3, m, k, a, sa, b, sb, c, sc); break;
    default: multiply_strip(4, m, k, a, sa, b, sb, c, sc); break;
    }
}

static inline int at_most(int a, int b)
{
    return a < b ? a : b;
}

/* Subtracts the product L U of a descendant from a supernode: an update of the list. */
YK_INLINE void take_update(yk_supernodal *lu, const supernode *node, size_t update)
{
    const supernode *source = &lu->nodes[lu->updates[update].source];
    const int *rows = &lu->rows[source->row];
    int begin = lu->updates[update].begin;
    int end = lu->updates[update].end;
    int below = source->below;
    size_t width = (size_t)source->width;
    size_t height = (size_t)(source->width + below);
    const double *lower = lu->store + source->lower + width + begin;
    const double *upper = lu->store + source->upper + width * width;
    double *product = lu->product;
    int *position = lu->position;

    /* Positions of the rows of the source among those of the supernode. */
    for (int q = begin; q < below; q++)
        position[q - begin] = lu->map[rows[q]];

    /* D and L: all rows from the first common one, in the columns that are its pivots. */
    size_t node_height = (size_t)(node->width + node->below);
    size_t stride = (size_t)(below - begin + 2 * LANES);
    for (int p = begin; p < end; p += STRIP) {
        int columns = at_most(STRIP, end - p);
        multiply(columns, below - begin, source->width, lower, height, upper + (size_t)p * width,
                 width, product, stride);

        for (int j = 0; j < columns; j++) {
            double *to =
                lu->store + node->lower + node_height * (size_t)(rows[p + j] - node->first);
            const double *from = product + (size_t)j * stride;
            for (int q = 0; q < below - begin; q++)
                to[position[q]] -= from[q];
        }
    }

    /* U: the rows that are its pivots, in the columns after them. */
    for (int p = end; p < below; p += STRIP) {
        int columns = at_most(STRIP, below - p);
        multiply(columns, end - begin, source->width, lower, height, upper + (size_t)p * width,
                 width, product, stride);

        for (int j = 0; j < columns; j++) {
            double *to =
                lu->store + node->upper + (size_t)node->width * (size_t)position[p + j - begin];
            const double *from = product + (size_t)j * stride;
            for (int q = 0; q < end - begin; q++)
                to[position[q]] -= from[q];
        }
    }
}

/* Exchanges row k with the largest row of column k of D. */
static void exchange_rows(double *block, int width, size_t height, int k, int *pivot)
{
    const double *column = block + (size_t)k * height;
    int best = k;

    for (int r = k + 1; r < width; r++) {
        if (fabs(column[r]) > fabs(column[best]))
            best = r;
    }

    /* The exchanged row, from the supernode's first. */
    *pivot = best;
    if (best == k)
        return;

    for (int c = 0; c < width; c++, block += height) {
        double value = block[k];
        block[k] = block[best];
        block[best] = value;
    }
}

/* D = L U in place, with the rows below; false: a pivot is zero or not finite. */
YK_INLINE bool factor_lower(yk_supernodal *lu, const supernode *node, double least)
{
    double *block = lu->store + node->lower;
    int width = node->width;
    int height = node->width + node->below;

    for (int k = 0; k < width; k++) {
        double *column = block + (size_t)k * (size_t)height;
        sweep_down(block, (size_t)height, k, height, column);

        if (lu->exchange)
            exchange_rows(block, width, (size_t)height, k, &lu->pivot[node->first + k]);

        /* A pivot that is too small is increased if the caller gives a limit; otherwise it is an
         * error. */
        if (least > 0 && !(fabs(column[k]) > least))
            column[k] = column[k] < 0 ? -least : least;

        double pivot = column[k];
        double scale = 1 / pivot;
        if (!(least > 0) && (pivot == 0 || !isfinite(scale) || !isfinite(pivot)))
            return false;

        /* L below the pivot. */
        lu->inverse[node->first + k] = scale;
        for (int i = k + 1; i < height; i++)
            column[i] *= scale;
    }

    return true;
}

static void apply_exchanges(const int *pivot, int width, double *z)
{
    for (int k = 0; k < width; k++) {
        double value = z[pivot[k]];
        z[pivot[k]] = z[k];
        z[k] = value;
    }
}

/* D, and U = L^-1 of the block to the right. */
YK_INLINE void factor_upper(yk_supernodal *lu, const supernode *node)
{
    const double *lower = lu->store + node->lower;
    double *upper = lu->store + node->upper;
    int width = node->width;
    size_t height = (size_t)(node->width + node->below);

    /* D again, without its unit triangle. */
    for (int k = 0; k < width; k++, upper += width) {
        for (int i = 0; i < k; i++)
            upper[i] = lower[(size_t)k * height + (size_t)i];
    }

    /* U = L^-1 P A column by column. */
    for (int q = 0; q < node->below; q++, upper += width) {
        if (lu->exchange)
            apply_exchanges(lu->pivot + node->first, width, upper);
        sweep_down(lower, height, width, width, upper);
    }
}

YK_INLINE bool factor(yk_supernodal *lu, double least)
{
    for (int s = 0; s < lu->count; s++) {
        const supernode *node = &lu->nodes[s];

        /* Positions of rows of the matrix in this supernode. */
        if (node->updates > 0) {
            const int *rows = &lu->rows[node->row];
            for (int k = 0; k < node->width; k++)
                lu->map[node->first + k] = k;
            for (int q = 0; q < node->below; q++)
                lu->map[rows[q]] = node->width + q;
        }

        for (size_t u = 0; u < node->updates; u++)
            take_update(lu, node, node->update + u);
        if (!factor_lower(lu, node, least))
            return false;

        factor_upper(lu, node);
    }

    return true;
}

YK_TARGET_AVX2 static bool factor_avx2(yk_supernodal *lu, double least)
{
    return factor(lu, least);
}

bool yk_supernodal_factor(yk_supernodal *lu, double least)
{
    if (yk_have_avx2())
        return factor_avx2(lu, least);
    return factor(lu, least);
}

double yk_supernodal_spread(const yk_supernodal *lu)
{
    double least = INFINITY;
    double most = 0;
    for (int k = 0; k < lu->n; k++) {
        double size = fabs(lu->inverse[k]);
        least = size < least ? size : least;
        most = size > most ? size : most;
    }

    return least / most;
}

static double larger(double a, double b)
{
    return fabs(b) > a ? fabs(b) : a;
}

void yk_supernodal_largest(const yk_supernodal *lu, double *largest)
{
    double *of_pivot = lu->vector;
    memset(of_pivot, 0, (size_t)lu->n * sizeof *of_pivot);
    for (int s = 0; s < lu->count; s++) {
        const supernode *node = &lu->nodes[s];
        const double *lower = lu->store + node->lower;

        /* Columns of D above the diagonal, then those of U. */
        for (int j = 0; j < node->width; j++, lower += node->width + node->below) {
            double *of = &of_pivot[node->first + j];
            for (int i = 0; i <= j; i++)
                *of = larger(*of, lower[i]);
        }

        const double *upper = lu->store + node->upper + (size_t)node->width * (size_t)node->width;
        for (int q = 0; q < node->below; q++, upper += node->width) {
            double *of = &of_pivot[lu->rows[node->row + (size_t)q]];
            for (int i = 0; i < node->width; i++)
                *of = larger(*of, upper[i]);
        }
    }

    for (int j = 0; j < lu->n; j++)
        largest[j] = of_pivot[lu->column_pivot[j]];
}

/* Solution ------------------------------------------------------------------------------------- */

/* Backward substitution with the columns of a triangular block. */
static void sweep_up(const double *block, int width, const double *inverse, double *z)
{
    size_t h = (size_t)width;
    int k = width;

    for (; k >= 4; k -= 4) {
        const double *a = block + (size_t)(k - 4) * h;
        const double *b = a + h;
        const double *c = b + h;
        const double *d = c + h;

        /* The triangle of four columns, then all rows above it at once. */
        z[k - 1] *= inverse[k - 1];
        z[k - 2] = (z[k - 2] - d[k - 2] * z[k - 1]) * inverse[k - 2];
        z[k - 3] = (z[k - 3] - d[k - 3] * z[k - 1] - c[k - 3] * z[k - 2]) * inverse[k - 3];
        z[k - 4] = (z[k - 4] - d[k - 4] * z[k - 1] - c[k - 4] * z[k - 2] - b[k - 4] * z[k - 3]) *
                   inverse[k - 4];

        const double v[4] = {z[k - 4], z[k - 3], z[k - 2], z[k - 1]};
        sweep(a, h, v, 0, k - 4, z);
    }

    /* Remaining columns. */
    for (k--; k >= 0; k--) {
        z[k] *= inverse[k];
        for (int i = 0; i < k; i++)
            z[i] -= z[k] * block[(size_t)k * h + (size_t)i];
    }
}

static void forward(const yk_supernodal *lu, const supernode *node, double *x, double *z)
{
    int width = node->width;
    int below = node->below;
    const double *lower = lu->store + node->lower;
    const int *rows = &lu->rows[node->row];
    double *own = x + node->first;

    /* A single pivot needs no gathering. */
    if (width == 1) {
        for (int q = 0; q < below; q++)
            x[rows[q]] -= own[0] * lower[1 + q];
        return;
    }

    /* Below the values of the pivots are zeros, which become -L x. */
    if (lu->exchange)
        apply_exchanges(lu->pivot + node->first, width, own);
    for (int k = 0; k < width; k++)
        z[k] = own[k];
    for (int q = 0; q < below; q++)
        z[width + q] = 0;

    sweep_down(lower, (size_t)(width + below), width, width + below, z);
    for (int k = 0; k < width; k++)
        own[k] = z[k];
    for (int q = 0; q < below; q++)
        x[rows[q]] += z[width + q];
}

static void backward(const yk_supernodal *lu, const supernode *node, double *x, double *gathered)
{
    int width = node->width;
    int below = node->below;
    const double *upper = lu->store + node->upper;
    const double *inverse = lu->inverse + node->first;
    const int *rows = &lu->rows[node->row];
    double *own = x + node->first;

    /* The same for a single pivot. */
    if (width == 1) {
        double sum = own[0];
        for (int q = 0; q < below; q++)
            sum -= upper[1 + q] * x[rows[q]];
        own[0] = sum * inverse[0];
        return;
    }

    /* The contribution of the rows after the pivots, four at a time, then the triangle. */
    size_t w = (size_t)width;
    const double *across = upper + w * w;
    int q = 0;

    for (int k = 0; k < below; k++)
        gathered[k] = x[rows[k]];
    for (; q + 4 <= below; q += 4, across += 4 * w)
        sweep(across, w, gathered + q, 0, width, own);
    for (; q < below; q++, across += w) {
        for (int k = 0; k < width; k++)
            own[k] -= gathered[q] * across[k];
    }

    sweep_up(upper, width, inverse, own);
}

void yk_supernodal_solve(yk_supernodal *lu, double *b)
{
    double *x = lu->vector;
    double *z = x + lu->n;

    /* P b, L^-1, U^-1, Q x. */
    for (int i = 0; i < lu->n; i++)
        x[lu->row_pivot[i]] = b[i];

    for (int s = 0; s < lu->count; s++)
        forward(lu, &lu->nodes[s], x, z);
    for (int s = lu->count - 1; s >= 0; s--)
        backward(lu, &lu->nodes[s], x, z);
    for (int j = 0; j < lu->n; j++)
        b[j] = x[lu->column_pivot[j]];
}
