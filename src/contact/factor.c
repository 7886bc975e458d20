/* Left-looking supernodal LU on a symmetric pattern (Demmel, Eisenstat, Gilbert, Li, Liu 1999; Chen, Davis, Hager, Rajamanickam 2008),
 * with block rows of W as the vertices of the graph.
 *
 * A supernode is a range of columns [first, first + width) of the permuted matrix with common rows below:
 *
 *        width                     panel: `lower` holds the diagonal block and L below it, `upper` the
 *      +-------+                          transpose of U to the right of the diagonal block; both
 *      | diag  |  U^T alike               column-major with the stride `height`, the first width rows
 *      +-------+                          of `upper` are not used
 *      |   L   |
 *      +-------+
 */
#include "contact/factor.h"

#include <amd.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "contact/kernels.h"

typedef struct supernode {
    int first, width; /* columns */
    int height;       /* width + rows below */
    size_t rows;      /* into row_index: the rows below, rising */
    size_t panel;     /* into lower and upper */
} supernode;

struct yk_factor {
    yk_context *context;
    int n, blocks;
    int supernodes;
    supernode *nodes;
    int *node_of;     /* column -> supernode */
    int *row_index;   /* rows below the supernodes */
    int *place;       /* scalar row of the caller -> permuted */
    int *block_first; /* caller's first row of each block */
    double *panels;   /* lower and upper */
    double *lower, *upper;
    size_t *target; /* where each number of W goes in the panels */
    int *pivot;     /* per column: row exchanged with, inside the supernode */
    size_t panel_size;
    double tiny;
    int *map;         /* work: row -> place in the panel under construction */
    int *next, *head; /* work: lists of supernodes that update the one under construction */
    int *position;    /* work: how far a supernode's rows are used up */
    double *update;   /* work: dense product */
    double *vector;   /* work: permuted right-hand side */
};

/* Symbolic ------------------------------------------------------------------------------------------------------ */

typedef struct symbolic {
    int n;         /* blocks */
    int *permuted; /* k-th pivot block is permuted[k] */
    int *inverse;
    int *parent;
    size_t *start; /* structure below the diagonal of each block column, permuted numbers, rising */
    int *index;
    size_t capacity;
    int *mark;
} symbolic;

static void symbolic_destroy(yk_context *context, symbolic *s)
{
    void *arrays[] = {s->permuted, s->inverse, s->parent, s->start, s->index, s->mark};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) yk_release(context, arrays[i]);
}

static yk_status symbolic_create(yk_context *context, int n, symbolic *s)
{
    size_t count = (size_t)n + 1;
    *s = (symbolic){.n = n};
    s->permuted = yk_allocate(context, count, sizeof *s->permuted);
    s->inverse = yk_allocate(context, count, sizeof *s->inverse);
    s->parent = yk_allocate(context, count, sizeof *s->parent);
    s->start = yk_allocate(context, count, sizeof *s->start);
    s->mark = yk_allocate(context, count, sizeof *s->mark);
    return s->permuted && s->inverse && s->parent && s->start && s->mark ? YK_OK : YK_ERROR_MEMORY;
}

/* Parents in the elimination tree of the pattern A + A^T under the order s->permuted (Liu 1986). */
static void elimination_tree(const yk_block_matrix *a, symbolic *s, int *ancestor)
{
    for (int k = 0; k < s->n; k++) {
        s->parent[k] = -1;
        ancestor[k] = -1;
        int row = s->permuted[k];
        for (int p = a->start[row]; p < a->start[row + 1]; p++) {
            int i = s->inverse[a->column[p]];
            while (i >= 0 && i < k) {
                int above = ancestor[i];
                ancestor[i] = k;
                if (above < 0) s->parent[i] = k;
                i = above;
            }
        }
    }
}

/* Renumbers the pivots in postorder, so that columns of one supernode follow each other. */
static void postorder(symbolic *s, int *head, int *next, int *stack, int *order)
{
    int n = s->n, count = 0;
    for (int k = 0; k < n; k++) head[k] = -1;
    for (int k = n - 1; k >= 0; k--)
        if (s->parent[k] >= 0) {
            next[k] = head[s->parent[k]];
            head[s->parent[k]] = k;
        }
    for (int root = 0; root < n; root++) {
        if (s->parent[root] >= 0) continue;
        int top = 0;
        stack[0] = root;
        while (top >= 0) {
            int k = stack[top], child = head[k];
            if (child >= 0) {
                head[k] = next[child];
                stack[++top] = child;
            } else {
                order[count++] = k;
                top--;
            }
        }
    }
    for (int k = 0; k < n; k++) next[k] = s->permuted[order[k]];
    memcpy(s->permuted, next, (size_t)n * sizeof *next);
    for (int k = 0; k < n; k++) s->inverse[s->permuted[k]] = k;
}

static int compare_integers(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static yk_status grow_index(yk_context *context, symbolic *s, size_t needed)
{
    if (needed <= s->capacity) return YK_OK;
    size_t capacity = 2 * needed;
    int *larger = yk_reallocate(context, s->index, capacity, sizeof *larger);
    if (!larger) return YK_ERROR_MEMORY;
    s->index = larger;
    s->capacity = capacity;
    return YK_OK;
}

static void merge_row(symbolic *s, int k, int i, size_t *end)
{
    if (i <= k || s->mark[i] == k) return;
    s->mark[i] = k;
    s->index[(*end)++] = i;
}

/* Structure of every column: its own entries and those of its children in the tree. */
static yk_status column_structures(yk_context *context, const yk_block_matrix *a, symbolic *s, int *child, int *sibling)
{
    for (int k = 0; k < s->n; k++) {
        child[k] = -1;
        s->mark[k] = -1;
    }
    for (int k = s->n - 1; k >= 0; k--)
        if (s->parent[k] >= 0) {
            sibling[k] = child[s->parent[k]];
            child[s->parent[k]] = k;
        }
    size_t end = 0;
    for (int k = 0; k < s->n; k++) {
        s->start[k] = end;
        if (grow_index(context, s, end + (size_t)(s->n - k)) != YK_OK) return YK_ERROR_MEMORY;
        int row = s->permuted[k];
        for (int p = a->start[row]; p < a->start[row + 1]; p++) merge_row(s, k, s->inverse[a->column[p]], &end);
        for (int c = child[k]; c >= 0; c = sibling[c])
            for (size_t p = s->start[c]; p < s->start[c + 1]; p++) merge_row(s, k, s->index[p], &end);
        qsort(s->index + s->start[k], end - s->start[k], sizeof *s->index, compare_integers);
        s->start[k + 1] = end;
    }
    return YK_OK;
}

/* Approximate minimum degree, with the work in memory of the context: amd_order would call the allocator of its own. The
 * pattern is symmetric by contract; AMD wants it without the diagonal. */
static yk_status order_blocks(yk_context *context, const yk_block_matrix *a, symbolic *s)
{
    int n = a->block_rows, entries = 0;
    size_t stored = (size_t)a->start[n], room = stored + stored / 5 + (size_t)n + 1;
    int *work = room < INT_MAX ? yk_allocate(context, room + 8 * (size_t)n, sizeof *work) : NULL;
    if (!work) return YK_ERROR_MEMORY;
    int *begin = work + room, *length = begin + n, *count = length + n, *next = count + n, *head = next + n;
    int *elements = head + n, *degree = elements + n, *mark = degree + n;
    for (int i = 0; i < n; i++) {
        begin[i] = entries;
        for (int p = a->start[i]; p < a->start[i + 1]; p++)
            if (a->column[p] != i) work[entries++] = a->column[p];
        length[i] = entries - begin[i];
    }
    double control[AMD_CONTROL], info[AMD_INFO];
    amd_defaults(control);
    amd_2(n, begin, work, length, (int)room, entries, count, next, s->permuted, head, elements, degree, mark, control,
          info);
    yk_release(context, work);
    return YK_OK;
}

static yk_status analyse(yk_context *context, const yk_block_matrix *a, symbolic *s)
{
    size_t n = (size_t)a->block_rows;
    yk_status status = symbolic_create(context, a->block_rows, s);
    int *work = yk_allocate(context, 4 * n + 4, sizeof *work);
    if (status != YK_OK || !work) {
        yk_release(context, work);
        return YK_ERROR_MEMORY;
    }
    if (s->n > 0) status = order_blocks(context, a, s);
    if (status == YK_OK) {
        for (int k = 0; k < s->n; k++) s->inverse[s->permuted[k]] = k;
        elimination_tree(a, s, work);
        postorder(s, work, work + n, work + 2 * n, work + 3 * n);
        elimination_tree(a, s, work);
        status = column_structures(context, a, s, work, work + n);
    }
    yk_release(context, work);
    return status;
}

/* Joining a column with the supernode before it stores some zeros; worth it while they are few or the panel is small.
 */
static bool worth_joining(int width, size_t rows_before, size_t rows_joined)
{
    double zeros = (double)width * (double)(rows_joined - rows_before);
    double size = (double)(width + 1) * (double)(rows_joined + 1);
    return zeros <= 0.15 * size || (width <= 4 && zeros <= 12);
}

/* Number of the supernode that each block column belongs to; the structure of a supernode is that of its last column.
 */
static int find_supernodes(const symbolic *s, int *node)
{
    int count = 0, width = 0;
    for (int k = 0; k < s->n; k++) {
        bool join = false;
        if (k > 0 && s->parent[k - 1] == k) {
            size_t before = s->start[k] - s->start[k - 1], own = s->start[k + 1] - s->start[k];
            join = worth_joining(width, before, own + 1);
        }
        if (!join) {
            count++;
            width = 0;
        }
        width++;
        node[k] = count - 1;
    }
    return count;
}

/* Scalar rows below each supernode, panel sizes. */
static yk_status lay_out(yk_factor *f, const symbolic *s, const int *dims, const int *node)
{
    int n = s->n;
    size_t rows = 0;
    int column = 0, *first = f->map; /* permuted block -> first scalar column; map has room and is free now */
    for (int k = 0; k < n; k++) {
        first[k] = column;
        column += dims[s->permuted[k]];
    }
    for (int pass = 0; pass < 2; pass++) {
        rows = 0;
        size_t panel = 0;
        for (int k = 0; k < n; k++) {
            supernode *node_k = &f->nodes[node[k]];
            if (k == 0 || node[k] != node[k - 1])
                *node_k = (supernode){.first = first[k], .rows = rows, .panel = panel};
            node_k->width += dims[s->permuted[k]];
            if (k + 1 < n && node[k + 1] == node[k]) continue;
            int below = 0;
            for (size_t p = s->start[k]; p < s->start[k + 1]; p++)
                for (int r = 0; r < dims[s->permuted[s->index[p]]]; r++, below++)
                    if (pass == 1) f->row_index[rows + (size_t)below] = first[s->index[p]] + r;
            node_k->height = node_k->width + below;
            rows += (size_t)below;
            panel += (size_t)node_k->height * (size_t)node_k->width;
        }
        if (pass == 0) {
            f->panel_size = panel;
            f->row_index = yk_allocate(f->context, rows + 1, sizeof *f->row_index);
            f->panels = yk_allocate(f->context, 2 * panel + 1, sizeof *f->panels);
            if (!f->row_index || !f->panels) return YK_ERROR_MEMORY;
            f->lower = f->panels;
            f->upper = f->panels + panel;
        }
    }
    for (int k = 0; k < n; k++)
        for (int r = 0; r < dims[s->permuted[k]]; r++) {
            f->place[f->block_first[s->permuted[k]] + r] = first[k] + r;
            f->node_of[first[k] + r] = node[k];
        }
    return YK_OK;
}

static yk_status reserve_update(yk_factor *f)
{
    size_t largest = 0;
    for (int d = 0; d < f->supernodes; d++) {
        const supernode *node = &f->nodes[d];
        const int *rows = f->row_index + node->rows;
        int below = node->height - node->width;
        for (int p = 0; p < below;) {
            int q = p;
            while (q < below && f->node_of[rows[q]] == f->node_of[rows[p]]) q++;
            size_t size = (size_t)(below - p) * (size_t)(q - p);
            if (size > largest) largest = size;
            p = q;
        }
    }
    f->update = yk_allocate(f->context, largest + 8, sizeof *f->update);
    return f->update ? YK_OK : YK_ERROR_MEMORY;
}

/* Where the number at (row, column) of the permuted matrix lives in the panels; the diagonal blocks are all in `lower`.
 */
static size_t place_of_entry(const yk_factor *f, int row, int column)
{
    int outer = row < column ? column : row, inner = row < column ? row : column;
    const supernode *node = &f->nodes[f->node_of[inner]];
    size_t height = (size_t)node->height;
    if (outer - node->first < node->width)
        return node->panel + (size_t)(column - node->first) * height + (size_t)(row - node->first);
    const int *rows = f->row_index + node->rows;
    int low = 0, high = node->height - node->width - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (rows[middle] < outer)
            low = middle + 1;
        else
            high = middle;
    }
    size_t place = node->panel + (size_t)(inner - node->first) * height + (size_t)(node->width + low);
    return row < column ? f->panel_size + place : place;
}

static yk_status place_entries(yk_factor *f, const yk_block_matrix *w)
{
    size_t count = 0;
    for (int i = 0; i < w->block_rows; i++)
        for (int k = w->start[i]; k < w->start[i + 1]; k++)
            count +=
                (size_t)(w->first[i + 1] - w->first[i]) * (size_t)(w->first[w->column[k] + 1] - w->first[w->column[k]]);
    f->target = yk_allocate(f->context, count + 1, sizeof *f->target);
    if (!f->target) return YK_ERROR_MEMORY;
    for (int i = 0; i < w->block_rows; i++)
        for (int k = w->start[i]; k < w->start[i + 1]; k++) {
            int j = w->column[k];
            size_t *target = f->target + w->offset[k];
            for (int r = w->first[i]; r < w->first[i + 1]; r++)
                for (int c = w->first[j]; c < w->first[j + 1]; c++)
                    *target++ = place_of_entry(f, f->place[r], f->place[c]);
        }
    return YK_OK;
}

static yk_status reserve_factor(yk_factor *f)
{
    size_t n = (size_t)f->n + 1, blocks = (size_t)f->blocks + 1;
    f->nodes = yk_allocate(f->context, blocks, sizeof *f->nodes);
    f->node_of = yk_allocate(f->context, n, sizeof *f->node_of);
    f->place = yk_allocate(f->context, n, sizeof *f->place);
    f->block_first = yk_allocate(f->context, blocks, sizeof *f->block_first);
    f->pivot = yk_allocate(f->context, n, sizeof *f->pivot);
    f->map = yk_allocate(f->context, n, sizeof *f->map);
    f->next = yk_allocate(f->context, blocks, sizeof *f->next);
    f->head = yk_allocate(f->context, blocks, sizeof *f->head);
    f->position = yk_allocate(f->context, blocks, sizeof *f->position);
    f->vector = yk_allocate(f->context, n, sizeof *f->vector);
    bool all = f->nodes && f->node_of && f->place && f->block_first && f->pivot && f->map && f->next && f->head &&
               f->position && f->vector;
    return all ? YK_OK : YK_ERROR_MEMORY;
}

void yk_factor_destroy(yk_factor *f)
{
    if (!f) return;
    void *arrays[] = {f->nodes, f->node_of, f->row_index, f->place, f->block_first, f->panels, f->target,
                      f->pivot, f->map,     f->next,      f->head,  f->position,    f->update, f->vector};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) yk_release(f->context, arrays[i]);
    yk_release(f->context, f);
}

static yk_status build(yk_factor *f, const yk_block_matrix *pattern)
{
    symbolic s = {0};
    yk_status status = reserve_factor(f);
    if (status == YK_OK) status = analyse(f->context, pattern, &s);
    int *dims = yk_allocate(f->context, (size_t)f->blocks + 1, sizeof *dims);
    int *node = yk_allocate(f->context, (size_t)f->blocks + 1, sizeof *node);
    if (!dims || !node) status = YK_ERROR_MEMORY;
    if (status == YK_OK) {
        for (int i = 0; i < f->blocks; i++) {
            f->block_first[i] = pattern->first[i];
            dims[i] = pattern->first[i + 1] - pattern->first[i];
        }
        f->supernodes = find_supernodes(&s, node);
        status = lay_out(f, &s, dims, node);
    }
    if (status == YK_OK) status = reserve_update(f);
    if (status == YK_OK) status = place_entries(f, pattern);
    yk_release(f->context, node);
    yk_release(f->context, dims);
    symbolic_destroy(f->context, &s);
    return status;
}

yk_status yk_factor_create(yk_context *context, const yk_block_matrix *pattern, yk_factor **factor)
{
    *factor = NULL;
    yk_factor *f = yk_allocate(context, 1, sizeof *f);
    if (!f) return YK_ERROR_MEMORY;
    f->context = context;
    f->blocks = pattern->block_rows;
    f->n = pattern->block_rows > 0 ? pattern->first[pattern->block_rows] : 0;
    yk_status status = build(f, pattern);
    if (status == YK_OK)
        *factor = f;
    else
        yk_factor_destroy(f);
    return status;
}

/* Numeric ------------------------------------------------------------------------------------------------------- */

/* One block of L W, column by column of the block of W. */
static void load_product(yk_factor *f, int dim, int columns, const double *left, const double *block,
                         const size_t *target)
{
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < columns; c++) {
            double sum = 0;
            for (int k = 0; k < dim; k++) sum += left[r * dim + k] * block[k * columns + c];
            f->panels[*target++] = sum;
        }
}

static void load_values(yk_factor *f, const yk_block_matrix *w, const double *left, const double *right,
                        const size_t *offset)
{
    memset(f->panels, 0, 2 * f->panel_size * sizeof *f->panels);
    for (int i = 0; i < f->blocks; i++) {
        int dim = w->first[i + 1] - w->first[i];
        for (int k = w->start[i]; k < w->start[i + 1]; k++) {
            int j = w->column[k], columns = w->first[j + 1] - w->first[j];
            const double *block = w->value + w->offset[k];
            const size_t *target = f->target + w->offset[k];
            if (left)
                load_product(f, dim, columns, left + offset[i], block, target);
            else
                for (int e = 0; e < dim * columns; e++) f->panels[target[e]] = block[e];
            if (i != j) continue;
            for (int e = 0; e < dim * dim; e++) f->panels[target[e]] += right[offset[i] + (size_t)e];
        }
    }
}

/* Subtracts what supernode d contributes to the panel of s: its rows [from, to) are columns of s. */
static void apply_update(yk_factor *f, const supernode *s, const supernode *d, int from, int to)
{
    const int *rows = f->row_index + d->rows;
    int below = d->height - d->width, m = below - from, n = to - from;
    size_t height = (size_t)d->height, top = d->panel + (size_t)(d->width + from);
    yk_multiply_transposed(m, n, d->width, f->lower + top, height, f->upper + top, height, f->update, (size_t)m);
    for (int c = 0; c < n; c++) {
        double *column = f->lower + s->panel + (size_t)(rows[from + c] - s->first) * (size_t)s->height;
        const double *update = f->update + (size_t)c * (size_t)m;
        for (int r = 0; r < m; r++) column[f->map[rows[from + r]]] -= update[r];
    }
    m = below - to;
    if (m <= 0) return;
    size_t under = d->panel + (size_t)(d->width + to);
    yk_multiply_transposed(m, n, d->width, f->upper + under, height, f->lower + top, height, f->update, (size_t)m);
    for (int c = 0; c < n; c++) {
        double *column = f->upper + s->panel + (size_t)(rows[from + c] - s->first) * (size_t)s->height;
        const double *update = f->update + (size_t)c * (size_t)m;
        for (int r = 0; r < m; r++) column[f->map[rows[to + r]]] -= update[r];
    }
}

/* LU of the diagonal block with row exchanges inside it. Returns the pivots moved. */
static int factor_diagonal(const supernode *s, double *a, double *upper, int *pivot, double tiny)
{
    int moved = 0;
    size_t height = (size_t)s->height;
    for (int k = 0; k < s->width; k++) {
        int best = k;
        for (int r = k + 1; r < s->width; r++)
            if (fabs(a[(size_t)k * height + (size_t)r]) > fabs(a[(size_t)k * height + (size_t)best])) best = r;
        pivot[k] = best;
        if (best != k) {
            for (int c = 0; c < s->width; c++) {
                double swap = a[(size_t)c * height + (size_t)k];
                a[(size_t)c * height + (size_t)k] = a[(size_t)c * height + (size_t)best];
                a[(size_t)c * height + (size_t)best] = swap;
            }
            for (int r = s->width; r < s->height; r++) {
                double swap = upper[(size_t)k * height + (size_t)r];
                upper[(size_t)k * height + (size_t)r] = upper[(size_t)best * height + (size_t)r];
                upper[(size_t)best * height + (size_t)r] = swap;
            }
        }
        double *head = &a[(size_t)k * height + (size_t)k];
        if (!(fabs(*head) > tiny)) {
            *head = *head < 0 ? -tiny : tiny;
            moved++;
        }
        double scale = 1 / *head;
        for (int r = k + 1; r < s->width; r++) a[(size_t)k * height + (size_t)r] *= scale;
        for (int c = k + 1; c < s->width; c++) {
            double factor = a[(size_t)c * height + (size_t)k];
            if (factor == 0) continue;
            for (int r = k + 1; r < s->width; r++)
                a[(size_t)c * height + (size_t)r] -= factor * a[(size_t)k * height + (size_t)r];
        }
    }
    return moved;
}

/* L below the diagonal block: X U = A; U to the right, transposed: Y L^T = A. */
static void divide_panels(const supernode *s, double *lower, double *upper)
{
    int m = s->height - s->width;
    if (m <= 0) return;
    size_t height = (size_t)s->height, top = (size_t)s->width;
    for (int j = 0; j < s->width; j++) {
        double *x = lower + (size_t)j * height + top, *y = upper + (size_t)j * height + top;
        for (int p = 0; p < j; p++) {
            double u = lower[(size_t)j * height + (size_t)p], l = lower[(size_t)p * height + (size_t)j];
            const double *xp = lower + (size_t)p * height + top, *yp = upper + (size_t)p * height + top;
            for (int r = 0; r < m; r++) {
                x[r] -= u * xp[r];
                y[r] -= l * yp[r];
            }
        }
        double scale = 1 / lower[(size_t)j * height + (size_t)j];
        for (int r = 0; r < m; r++) x[r] *= scale;
    }
}

/* Puts supernode d on the list of the supernode that its next row belongs to. */
static void enlist(yk_factor *f, int d)
{
    const supernode *node = &f->nodes[d];
    if (f->position[d] >= node->height - node->width) return;
    int owner = f->node_of[f->row_index[node->rows + (size_t)f->position[d]]];
    f->next[d] = f->head[owner];
    f->head[owner] = d;
}

static void gather_updates(yk_factor *f, int s)
{
    const supernode *node = &f->nodes[s];
    for (int r = 0; r < node->width; r++) f->map[node->first + r] = r;
    for (int r = node->width; r < node->height; r++) f->map[f->row_index[node->rows + (size_t)(r - node->width)]] = r;
    for (int d = f->head[s]; d >= 0;) {
        int following = f->next[d], from = f->position[d], to = from;
        const supernode *source = &f->nodes[d];
        const int *rows = f->row_index + source->rows;
        while (to < source->height - source->width && rows[to] < node->first + node->width) to++;
        apply_update(f, node, source, from, to);
        f->position[d] = to;
        enlist(f, d);
        d = following;
    }
}

int yk_factor_compute(yk_factor *f, const yk_block_matrix *w, const double *left, const double *right,
                      const size_t *offset, double smallest)
{
    f->tiny = smallest;
    int moved = 0;
    load_values(f, w, left, right, offset);
    for (int s = 0; s < f->supernodes; s++) {
        f->head[s] = -1;
        f->position[s] = 0;
    }
    for (int s = 0; s < f->supernodes; s++) {
        const supernode *node = &f->nodes[s];
        double *lower = f->lower + node->panel, *upper = f->upper + node->panel;
        gather_updates(f, s);
        moved += factor_diagonal(node, lower, upper, f->pivot + node->first, f->tiny);
        divide_panels(node, lower, upper);
        enlist(f, s);
    }
    return moved;
}

static void solve_lower(const yk_factor *f, double *x)
{
    for (int s = 0; s < f->supernodes; s++) {
        const supernode *node = &f->nodes[s];
        const double *lower = f->lower + node->panel;
        const int *rows = f->row_index + node->rows;
        double *own = x + node->first;
        for (int k = 0; k < node->width; k++) {
            int other = f->pivot[node->first + k];
            double value = own[other];
            own[other] = own[k];
            own[k] = value;
        }
        for (int k = 0; k < node->width; k++) {
            const double *column = lower + (size_t)k * (size_t)node->height;
            double value = own[k];
            for (int r = k + 1; r < node->width; r++) own[r] -= column[r] * value;
            for (int r = node->width; r < node->height; r++) x[rows[r - node->width]] -= column[r] * value;
        }
    }
}

static void solve_upper(const yk_factor *f, double *x)
{
    for (int s = f->supernodes - 1; s >= 0; s--) {
        const supernode *node = &f->nodes[s];
        const double *lower = f->lower + node->panel, *upper = f->upper + node->panel;
        const int *rows = f->row_index + node->rows;
        double *own = x + node->first;
        for (int k = node->width - 1; k >= 0; k--) {
            const double *column = upper + (size_t)k * (size_t)node->height;
            double value = own[k];
            for (int r = node->width; r < node->height; r++) value -= column[r] * x[rows[r - node->width]];
            for (int c = k + 1; c < node->width; c++)
                value -= lower[(size_t)c * (size_t)node->height + (size_t)k] * own[c];
            own[k] = value / lower[(size_t)k * (size_t)node->height + (size_t)k];
        }
    }
}

void yk_factor_solve(yk_factor *f, double *b)
{
    for (int i = 0; i < f->n; i++) f->vector[f->place[i]] = b[i];
    solve_lower(f, f->vector);
    solve_upper(f, f->vector);
    for (int i = 0; i < f->n; i++) b[i] = f->vector[f->place[i]];
}

size_t yk_factor_nonzeros(const yk_factor *f)
{
    return 2 * f->panel_size;
}
