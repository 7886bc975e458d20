/* Compressed columns and KLU (Davis, Palamadai Natarajan 2010): block triangular form, AMD
 * ordering, row scaling, threshold pivoting that prefers the diagonal. If the caller gives the
 * order, KLU chooses the pivots and the factorization with them uses dense panels (supernodal.c),
 * unless these would need too much memory.
 *
 * An order of elimination is AMD's, followed by a postorder of the elimination tree (Liu 1986; Liu
 * 1990): the columns of one supernode are consecutive in it, and the fill-in is the same in every
 * postorder. */
#include "math/sparse.h"

#include <amd.h>
#include <klu.h>
#include <limits.h>
#include <math.h>
#include <string.h>

struct yk_sparse {
    yk_context *context;
    int n;
    int *starts; /* n + 1 */
    int *rows;
    double *values;
    klu_common common;
    klu_symbolic *symbolic;
    /* with the pivots of the last full factorization; NULL after a failure */
    klu_numeric *numeric;
    klu_numeric *other;   /* with pivots of its own, for a matrix for which these were unsuitable */
    klu_numeric *present; /* one of both; NULL if the last factorization failed */
    bool ordered;         /* by the caller */
    yk_supernodal *lu;    /* in place of `numeric`, with its pivots; NULL: only KLU is used */
    bool in_panels;       /* the present factors are in panels */
    int *panel_pivots;    /* rows of the pivots of lu */
    int *panel_index;     /* of each value in lu */
    double *largest;      /* workspace: of the columns of U */
    double growth;        /* reciprocal pivot growth of the last full factorisation */
    double spread;        /* ratio of its smallest to its largest pivot */
};

/* Old pivots are used while the pivot growth is within this factor of that of new pivots: at worst
 * three digits of the solution are lost by a refactorization. Otherwise the matrix gets pivots of
 * its own, and the next one begins with the old ones again: so factors depend only on the full
 * factorization and the present values, and not on matrices in between, which a rollback discards. */
static const double GROWTH_LOSS = 1e-3;

/* Panels are padded with zeros. Limits: memory relative to KLU's factors, and number of values,
 * which must fit in the cache of a processor core, because otherwise memory bandwidth dominates and
 * the zeros are as expensive as the other entries. */
static const double PANELS_FRACTION = 3;
static const size_t PANELS_MOST = 1 << 18;

/* Pattern -------------------------------------------------------------------------------------- */

static yk_status check_entries(yk_context *context, int n, const yk_sparse_entry *entries,
                               size_t count)
{
    if (n < 1)
        return yk_fail(context, YK_ERROR_ARGUMENT, "a sparse matrix needs at least one row, not %d",
                       n);

    if (count > INT_MAX)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%zu entries are more than a sparse matrix can number", count);

    for (size_t k = 0; k < count; k++) {
        int row = entries[k].row;
        int column = entries[k].column;
        if (row < 0 || row >= n || column < 0 || column >= n)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "entry %zu at (%d, %d) lies outside the %d x %d matrix", k, row, column,
                           n, n);
    }

    return YK_OK;
}

/* Turns counts[i + 1] into starts: counts[i] is where group i begins. */
static void accumulate(int *counts, int n)
{
    for (int i = 0; i < n; i++)
        counts[i + 1] += counts[i];
}

/* Finds the pattern, and for each entry its index in it. */
static yk_status build_pattern(yk_sparse *matrix, const yk_sparse_entry *entries, size_t count,
                               int *entry_index)
{
    yk_context *context = matrix->context;
    int n = matrix->n;
    size_t size = (size_t)n;

    matrix->starts = yk_allocate(context, size + 1, sizeof *matrix->starts);
    matrix->rows = yk_allocate(context, count, sizeof *matrix->rows);
    int *order = yk_allocate(context, count, sizeof *order);
    int *next = yk_allocate(context, size + 1, sizeof *next);
    int *last = yk_allocate(context, size, sizeof *last); /* row seen last in each column */
    bool complete = matrix->starts && matrix->rows && order && next && last;
    if (complete) {
        /* Indices of the entries in the order of their rows. */
        for (size_t k = 0; k < count; k++)
            next[entries[k].row + 1]++;
        accumulate(next, n);
        for (size_t k = 0; k < count; k++)
            order[next[entries[k].row]++] = (int)k;

        /* In this order equal entries are consecutive in every column: count the different ones, */
        for (int j = 0; j < n; j++)
            last[j] = -1;
        for (size_t k = 0; k < count; k++) {
            yk_sparse_entry entry = entries[order[k]];
            if (last[entry.column] != entry.row)
                matrix->starts[entry.column + 1]++;
            last[entry.column] = entry.row;
        }

        accumulate(matrix->starts, n);

        /* then number them. */
        for (int j = 0; j < n; j++) {
            last[j] = -1;
            next[j] = matrix->starts[j];
        }

        for (size_t k = 0; k < count; k++) {
            yk_sparse_entry entry = entries[order[k]];
            if (last[entry.column] != entry.row)
                matrix->rows[next[entry.column]++] = entry.row;
            last[entry.column] = entry.row;
            entry_index[order[k]] = next[entry.column] - 1;
        }

        matrix->values = yk_allocate(context, yk_sparse_nonzeros(matrix), sizeof *matrix->values);
    }

    yk_free(context, last);
    yk_free(context, next);
    yk_free(context, order);

    return complete && matrix->values ? YK_OK : YK_ERROR_MEMORY;
}

static yk_status analyse(yk_sparse *matrix, int *order)
{
    klu_common *common = &matrix->common;

    klu_defaults(common);
    matrix->ordered = order != NULL;

    /* A block triangular form would change the given order. */
    if (order) {
        common->btf = 0;
        matrix->symbolic =
            klu_analyze_given(matrix->n, matrix->starts, matrix->rows, order, order, common);
    } else {
        matrix->symbolic = klu_analyze(matrix->n, matrix->starts, matrix->rows, common);
    }

    if (matrix->symbolic)
        return YK_OK;

    if (common->status == KLU_OUT_OF_MEMORY)
        return yk_fail(matrix->context, YK_ERROR_MEMORY,
                       "out of memory while ordering a sparse matrix of %d rows", matrix->n);
    return yk_fail(matrix->context, YK_ERROR_INTERNAL,
                   "KLU refused the pattern of a sparse matrix (status %d)", common->status);
}

static yk_status create_matrix(yk_context *context, int n, const yk_sparse_entry *entries,
                               size_t entry_count, int *entry_index, int *order, yk_sparse **matrix)
{
    *matrix = NULL;
    yk_status status = check_entries(context, n, entries, entry_count);
    if (status != YK_OK)
        return status;

    yk_sparse *made = yk_allocate(context, 1, sizeof *made);
    if (!made)
        return YK_ERROR_MEMORY;

    made->context = context;
    made->n = n;
    status = build_pattern(made, entries, entry_count, entry_index);
    if (status == YK_OK)
        status = analyse(made, order);
    if (status != YK_OK) {
        yk_sparse_destroy(made);
        return status;
    }

    *matrix = made;
    return YK_OK;
}

yk_status yk_sparse_create(yk_context *context, int n, const yk_sparse_entry *entries,
                           size_t entry_count, int *entry_index, yk_sparse **matrix)
{
    return create_matrix(context, n, entries, entry_count, entry_index, NULL, matrix);
}

yk_status yk_sparse_create_ordered(yk_context *context, int n, const yk_sparse_entry *entries,
                                   size_t entry_count, int *entry_index, const int *order,
                                   yk_sparse **matrix)
{
    *matrix = NULL;

    /* KLU's arguments are not const. */
    int *copy = yk_allocate(context, (size_t)(n > 0 ? n : 0), sizeof *copy);
    if (!copy)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < n; i++)
        copy[i] = order[i];
    yk_status status = create_matrix(context, n, entries, entry_count, entry_index, copy, matrix);
    yk_free(context, copy);

    return status;
}

static void discard_factors(yk_sparse *matrix, klu_numeric **factors)
{
    if (*factors)
        klu_free_numeric(factors, &matrix->common);
}

void yk_sparse_destroy(yk_sparse *matrix)
{
    if (!matrix)
        return;

    yk_supernodal_destroy(matrix->lu);
    yk_free(matrix->context, matrix->panel_pivots);
    yk_free(matrix->context, matrix->panel_index);
    yk_free(matrix->context, matrix->largest);
    discard_factors(matrix, &matrix->numeric);
    discard_factors(matrix, &matrix->other);
    if (matrix->symbolic)
        klu_free_symbolic(&matrix->symbolic, &matrix->common);
    yk_free(matrix->context, matrix->values);
    yk_free(matrix->context, matrix->rows);
    yk_free(matrix->context, matrix->starts);
    yk_free(matrix->context, matrix);
}

size_t yk_sparse_nonzeros(const yk_sparse *matrix)
{
    return (size_t)matrix->starts[matrix->n];
}

const int *yk_sparse_column_starts(const yk_sparse *matrix)
{
    return matrix->starts;
}

const int *yk_sparse_rows(const yk_sparse *matrix)
{
    return matrix->rows;
}

double *yk_sparse_values(yk_sparse *matrix)
{
    return matrix->values;
}

/* Factors -------------------------------------------------------------------------------------- */

static yk_status check_values(yk_sparse *matrix, int *column)
{
    int bad = 0;
    int count = matrix->starts[matrix->n];

    for (int k = 0; k < count; k++)
        bad |= !isfinite(matrix->values[k]);
    if (!bad)
        return YK_OK;

    /* Find the first one that is not, and its column. */
    int j = 0;
    int k = 0;
    while (isfinite(matrix->values[k]))
        k++;
    while (matrix->starts[j + 1] <= k)
        j++;

    if (column)
        *column = j;
    return yk_fail(matrix->context, YK_ERROR_NOT_FINITE,
                   "the matrix is not finite at row %d, column %d", matrix->rows[k], j);
}

/* Ratio of the smallest to the largest pivot. */
static double pivot_spread(yk_sparse *matrix, klu_numeric *factors)
{
    klu_rcond(matrix->symbolic, factors, &matrix->common);
    return matrix->common.rcond;
}

/* Reciprocal pivot growth; 0 when a pivot is not finite. */
static double pivot_growth(yk_sparse *matrix, klu_numeric *factors)
{
    klu_rgrowth(matrix->starts, matrix->rows, matrix->values, matrix->symbolic, factors,
                &matrix->common);
    double growth = matrix->common.rgrowth;
    if (pivot_spread(matrix, factors) > 0 && isfinite(growth))
        return growth;
    return 0;
}

static yk_status full_factor(yk_sparse *matrix, klu_numeric **factors, double *growth, int *column)
{
    yk_context *context = matrix->context;
    matrix->present = NULL;
    matrix->in_panels = false;

    discard_factors(matrix, factors);
    *factors =
        klu_factor(matrix->starts, matrix->rows, matrix->values, matrix->symbolic, &matrix->common);

    /* Out of memory, or singular. */
    if (matrix->common.status == KLU_OUT_OF_MEMORY)
        return yk_fail(context, YK_ERROR_MEMORY,
                       "out of memory while factoring a sparse matrix of %d rows", matrix->n);
    if (!*factors || matrix->common.status != KLU_OK) {
        int where = matrix->common.singular_col;
        if (column)
            *column = where;
        discard_factors(matrix, factors);
        return yk_fail(context, YK_ERROR_SINGULAR,
                       "the matrix is singular: no pivot for column %d of %d", where, matrix->n);
    }

    /* Pivots that overflowed are none. */
    *growth = pivot_growth(matrix, *factors);
    if (*growth > 0) {
        matrix->present = *factors;
        return YK_OK;
    }

    discard_factors(matrix, factors);
    return yk_fail(
        context, YK_ERROR_NOT_FINITE,
        "factoring a sparse matrix of %d rows overflowed: its entries differ too much in size",
        matrix->n);
}

/* Panels for the pivots that KLU has chosen; none if they would need too much memory. */
static yk_status make_panels(yk_sparse *matrix)
{
    yk_context *context = matrix->context;
    size_t n = (size_t)matrix->n;
    size_t entries = yk_sparse_nonzeros(matrix);
    const int *pivots = matrix->numeric->Pnum;

    /* Reuse panels for the same pivots. */
    if (matrix->lu && memcmp(matrix->panel_pivots, pivots, n * sizeof *pivots) == 0)
        return YK_OK;

    yk_supernodal_destroy(matrix->lu);
    matrix->lu = NULL;
    if (!matrix->panel_pivots) {
        matrix->panel_pivots = yk_allocate(context, n, sizeof *matrix->panel_pivots);
        matrix->panel_index = yk_allocate(context, entries, sizeof *matrix->panel_index);
        matrix->largest = yk_allocate(context, n, sizeof *matrix->largest);
    }

    if (!matrix->panel_pivots || !matrix->panel_index || !matrix->largest)
        return YK_ERROR_MEMORY;

    /* Limited to a useful size. Panels contain all of KLU's entries. */
    double least = (double)matrix->numeric->lnz + (double)matrix->numeric->unz;
    double most = PANELS_FRACTION * least;
    if (least > PANELS_MOST)
        return YK_OK;

    yk_supernodal_def def = {
        .vertices = matrix->n,
        .starts = matrix->starts,
        .rows = matrix->rows,
        .row_order = pivots,
        .column_order = matrix->symbolic->Q,
        .most = most < PANELS_MOST ? (size_t)most : PANELS_MOST,
    };
    yk_status status = yk_supernodal_create(context, &def, &matrix->lu);
    if (status != YK_OK || !matrix->lu)
        return status;

    /* The pivots of the panels, and the place of each value. */
    memcpy(matrix->panel_pivots, pivots, n * sizeof *pivots);
    for (int j = 0; j < matrix->n; j++) {
        for (int k = matrix->starts[j]; k < matrix->starts[j + 1]; k++)
            matrix->panel_index[k] = (int)yk_supernodal_index(matrix->lu, matrix->rows[k], j);
    }

    return YK_OK;
}

static bool factor_panels(yk_sparse *matrix)
{
    double *store = yk_supernodal_clear(matrix->lu);
    int entries = matrix->starts[matrix->n];
    for (int k = 0; k < entries; k++)
        store[matrix->panel_index[k]] = matrix->values[k];
    return yk_supernodal_factor(matrix->lu, 0);
}

/* Reciprocal pivot growth: the least ratio, over the columns, of the largest entry of A to that
 * of U. */
static double panel_growth(yk_sparse *matrix)
{
    double least = INFINITY;
    yk_supernodal_largest(matrix->lu, matrix->largest);
    for (int j = 0; j < matrix->n; j++) {
        double most = 0;
        for (int k = matrix->starts[j]; k < matrix->starts[j + 1]; k++) {
            double size = fabs(matrix->values[k]);
            if (size > most)
                most = size;
        }

        least = fmin(least, most / matrix->largest[j]);
    }

    return least;
}

yk_status yk_sparse_factor(yk_sparse *matrix, int *column)
{
    /* KLU chooses pivots. */
    yk_status status = check_values(matrix, column);
    if (status != YK_OK)
        return status;

    status = full_factor(matrix, &matrix->numeric, &matrix->growth, column);
    if (status != YK_OK)
        return status;

    /* Create the panels for these pivots, if the order is the caller's. */
    matrix->spread = pivot_spread(matrix, matrix->numeric);
    if (matrix->ordered)
        status = make_panels(matrix);
    if (status != YK_OK || !matrix->lu)
        return status;

    /* Without KLU's scaling of the rows the same pivots may fail. */
    if (!factor_panels(matrix)) {
        yk_supernodal_destroy(matrix->lu);
        matrix->lu = NULL;
        return YK_OK;
    }

    /* From here on the factors are those of the panels. */
    matrix->in_panels = true;
    matrix->spread = yk_supernodal_spread(matrix->lu);
    matrix->growth = panel_growth(matrix);
    matrix->present = NULL;
    discard_factors(matrix, &matrix->numeric);

    return YK_OK;
}

/* Whether the pivots are still suitable. The growth, which needs every entry, is computed only if
 * the size of the pivots has changed. */
static bool size_is_kept(const yk_sparse *matrix, double spread)
{
    double change = spread / matrix->spread;
    return change > 0.5 && change < 2;
}

yk_status yk_sparse_refactor(yk_sparse *matrix, int *column)
{
    /* In panels; values that are not finite lead to pivots that are not. */
    bool factored = matrix->lu && factor_panels(matrix);
    matrix->in_panels = factored && (size_is_kept(matrix, yk_supernodal_spread(matrix->lu)) ||
                                     panel_growth(matrix) > GROWTH_LOSS * matrix->growth);
    if (matrix->in_panels)
        return YK_OK;

    yk_status status = check_values(matrix, column);
    if (status != YK_OK)
        return status;

    /* KLU with its old pivots. */
    klu_numeric *old = matrix->numeric;
    if (old) {
        bool done = klu_refactor(matrix->starts, matrix->rows, matrix->values, matrix->symbolic,
                                 old, &matrix->common) &&
                    matrix->common.status == KLU_OK;
        if (done && (size_is_kept(matrix, pivot_spread(matrix, old)) ||
                     pivot_growth(matrix, old) > GROWTH_LOSS * matrix->growth)) {
            matrix->present = old;
            return YK_OK;
        }
    }

    /* Pivots of this matrix's own. */
    double growth;
    return full_factor(matrix, &matrix->other, &growth, column);
}

void yk_sparse_solve(yk_sparse *matrix, double *b)
{
    if (matrix->in_panels) {
        yk_supernodal_solve(matrix->lu, b);
        return;
    }

    if (klu_solve(matrix->symbolic, matrix->present, matrix->n, 1, b, &matrix->common))
        return;

    /* There are no factors: the result must not look like a solution. */
    for (int i = 0; i < matrix->n; i++)
        b[i] = NAN;
}

void yk_sparse_multiply(const yk_sparse *matrix, const double *x, double *y)
{
    for (int i = 0; i < matrix->n; i++)
        y[i] = 0;
    for (int j = 0; j < matrix->n; j++) {
        for (int k = matrix->starts[j]; k < matrix->starts[j + 1]; k++)
            y[matrix->rows[k]] += matrix->values[k] * x[j];
    }
}

double yk_sparse_rcond(yk_sparse *matrix)
{
    /* KLU's estimate needs KLU's factors. */
    if (matrix->in_panels) {
        double growth;
        yk_status status = full_factor(matrix, &matrix->other, &growth, NULL);
        if (status != YK_OK)
            return 0;
    }

    if (!matrix->present)
        return 0;

    klu_condest(matrix->starts, matrix->values, matrix->symbolic, matrix->present, &matrix->common);
    return 1 / matrix->common.condest;
}

double yk_sparse_pivot_spread(yk_sparse *matrix)
{
    if (matrix->in_panels)
        return yk_supernodal_spread(matrix->lu);
    return matrix->present ? pivot_spread(matrix, matrix->present) : 0;
}

/* Orders of elimination ------------------------------------------------------------------------ */

yk_status yk_graph_order(yk_context *context, int n, const yk_sparse_entry *edges,
                         size_t edge_count, int *order)
{
    yk_sparse graph = {.context = context, .n = n};
    yk_status status = check_entries(context, n, edges, edge_count);
    if (status != YK_OK)
        return status;

    int *entry_index = yk_allocate(context, edge_count, sizeof *entry_index);
    status = entry_index ? build_pattern(&graph, edges, edge_count, entry_index) : YK_ERROR_MEMORY;
    if (status == YK_OK && amd_order(n, graph.starts, graph.rows, order, NULL, NULL) < AMD_OK)
        status = yk_fail(context, YK_ERROR_MEMORY,
                         "out of memory while ordering a graph of %d vertices", n);
    yk_free(context, entry_index);
    yk_free(context, graph.values);
    yk_free(context, graph.rows);
    yk_free(context, graph.starts);

    return status;
}

/* AMD with memory of the context, because amd_order() would use its own allocator. */
static yk_status minimum_degree(yk_context *context, int n, const int *starts, const int *rows,
                                int *order)
{
    size_t stored = (size_t)starts[n];
    size_t most = stored + stored / 5 + (size_t)n + 1; /* required by AMD */
    int *work = NULL;

    if (most < INT_MAX)
        work = yk_allocate(context, most + 8 * (size_t)n, sizeof *work);
    if (!work)
        return YK_ERROR_MEMORY;

    /* Arrays of AMD, one after another. */
    int *begin = work + most;
    int *length = begin + n;
    int *count = length + n;
    int *next = count + n;
    int *head = next + n;
    int *elements = head + n;
    int *degree = elements + n;
    int *mark = degree + n;

    /* It wants the pattern without the diagonal. */
    int entries = 0;
    for (int i = 0; i < n; i++) {
        begin[i] = entries;
        for (int p = starts[i]; p < starts[i + 1]; p++) {
            if (rows[p] != i)
                work[entries++] = rows[p];
        }

        length[i] = entries - begin[i];
    }

    /* Its statistics are not needed. */
    double control[AMD_CONTROL], info[AMD_INFO];
    amd_defaults(control);
    amd_2(n, begin, work, length, (int)most, entries, count, next, order, head, elements, degree,
          mark, control, info);
    yk_free(context, work);

    return YK_OK;
}

/* Parents in the elimination tree for an order, with path compression (Liu 1986). */
static void elimination_tree(int n, const int *starts, const int *rows, const int *order,
                             const int *inverse, int *ancestor, int *parent)
{
    for (int k = 0; k < n; k++) {
        parent[k] = -1;
        ancestor[k] = -1;

        /* Entries before k in its row lead to roots of subtrees, whose parent is k. */
        int vertex = order[k];
        for (int p = starts[vertex]; p < starts[vertex + 1]; p++) {
            int i = inverse[rows[p]];
            while (i >= 0 && i < k) {
                int above = ancestor[i];
                ancestor[i] = k;
                if (above < 0)
                    parent[i] = k;
                i = above;
            }
        }
    }
}

/* Postorder: children before their parents, with contiguous subtrees. Position `count` of the new
 * order is `sequence[count]` of the old. */
static void postorder(int n, const int *parent, int *child, int *sibling, int *stack, int *sequence)
{
    /* Lists of children, the lowest first. */
    for (int k = 0; k < n; k++)
        child[k] = -1;
    for (int k = n - 1; k >= 0; k--) {
        if (parent[k] < 0)
            continue;

        sibling[k] = child[parent[k]];
        child[parent[k]] = k;
    }

    /* Depth first; a vertex is numbered when it has no child left. */
    int count = 0;
    for (int root = 0; root < n; root++) {
        if (parent[root] >= 0)
            continue;

        /* A stack of vertices with unnumbered children. */
        int top = 0;
        stack[0] = root;
        while (top >= 0) {
            int k = stack[top];
            if (child[k] >= 0) {
                stack[++top] = child[k];
                child[k] = sibling[child[k]];
            } else {
                sequence[count++] = k;
                top--;
            }
        }
    }
}

yk_status yk_elimination_order(yk_context *context, int n, const int *starts, const int *rows,
                               int *order)
{
    if (n == 0)
        return YK_OK;

    int *work = yk_allocate(context, 5 * (size_t)n, sizeof *work);
    if (!work)
        return YK_ERROR_MEMORY;

    /* An order of little fill. */
    yk_status status = minimum_degree(context, n, starts, rows, order);
    if (status != YK_OK) {
        yk_free(context, work);
        return status;
    }

    /* Its elimination tree, in postorder; reuses memory. */
    int *inverse = work;
    int *parent = work + n;
    for (int k = 0; k < n; k++)
        inverse[order[k]] = k;
    elimination_tree(n, starts, rows, order, inverse, work + 2 * n, parent);

    /* Positions in postorder, and the order with them. */
    int *sequence = work;
    postorder(n, parent, work + 2 * n, work + 3 * n, work + 4 * n, sequence);

    int *last = parent;
    memcpy(last, order, (size_t)n * sizeof *order);
    for (int k = 0; k < n; k++)
        order[k] = last[sequence[k]];
    yk_free(context, work);

    return YK_OK;
}
