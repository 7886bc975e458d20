/* Condenses problems in the velocities of bodies to their contacts: see global.h. */
#include "contact/global.h"

#include <string.h>

#include "math/sparse.h"

void yk_global_destroy(yk_context *context, yk_global_problem *problem)
{
    void *arrays[] = {problem->m.entry, problem->h.entry, problem->g.entry, problem->f,
                      problem->w,       problem->b,       problem->mu,      problem->mu_roll};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        yk_release(context, arrays[i]);
    *problem = (yk_global_problem){0};
}

static yk_status factor_mass(yk_context *context, const yk_entry_matrix *m, yk_sparse **mass)
{
    *mass = NULL;
    yk_sparse_entry *entries = yk_allocate(context, m->count + 1, sizeof *entries);
    int *index = yk_allocate(context, m->count + 1, sizeof *index);
    yk_status status = YK_ERROR_MEMORY;

    /* The pattern, in which entries that are given twice share a place. */
    if (entries && index) {
        for (size_t k = 0; k < m->count; k++)
            entries[k] = (yk_sparse_entry){m->entry[k].row, m->entry[k].column};
        status = yk_sparse_create(context, m->rows, entries, m->count, index, mass);
    }

    /* Its values, and their factors. */
    if (status == YK_OK) {
        double *values = yk_sparse_values(*mass);
        for (size_t k = 0; k < m->count; k++)
            values[index[k]] += m->entry[k].value;

        int column = 0;
        status = yk_sparse_factor(*mass, &column);
        if (status != YK_OK)
            status = yk_fail(context, status,
                             "contact: the mass matrix M is singular or not finite in column %d",
                             column);
    }

    yk_release(context, index);
    yk_release(context, entries);
    return status;
}

/* Columns of H and G one behind the other: those of column j are entry[start[j]] to
 * entry[start[j + 1] - 1]. */
typedef struct joined {
    int columns;
    size_t *start;
    yk_matrix_entry *entry;
} joined;

static yk_status join_columns(yk_context *context, const yk_global_problem *global, joined *j)
{
    const yk_entry_matrix *parts[2] = {&global->h, &global->g};
    j->columns = global->h.columns + global->g.columns;
    j->start = yk_allocate(context, (size_t)j->columns + 2, sizeof *j->start);
    j->entry = yk_allocate(context, global->h.count + global->g.count + 1, sizeof *j->entry);
    if (!j->start || !j->entry)
        return YK_ERROR_MEMORY;

    /* Counted two further on, so that the starts are in their position once the columns are
     * filled. */
    const int shift[2] = {0, global->h.columns};
    for (int p = 0; p < 2; p++) {
        for (size_t k = 0; k < parts[p]->count; k++)
            j->start[parts[p]->entry[k].column + shift[p] + 2]++;
    }
    for (int c = 2; c <= j->columns + 1; c++)
        j->start[c] += j->start[c - 1];

    /* Entries into their columns, those of G behind those of H. */
    for (int p = 0; p < 2; p++) {
        for (size_t k = 0; k < parts[p]->count; k++) {
            yk_matrix_entry e = parts[p]->entry[k];
            e.column += shift[p];
            j->entry[j->start[e.column + 1]++] = e;
        }
    }

    return YK_OK;
}

static double column_product(const joined *j, int column, const double *x)
{
    double sum = 0;
    for (size_t k = j->start[column]; k < j->start[column + 1]; k++)
        sum += j->entry[k].value * x[j->entry[k].row];
    return sum;
}

/* W and q, column by column. W is kept where it is not zero. */
static yk_status condense(yk_context *context, const yk_global_problem *global, yk_sparse *mass,
                          const joined *j, yk_contact_problem *problem)
{
    size_t n = (size_t)global->m.rows, rows = (size_t)j->columns;
    double *x = yk_allocate(context, n, sizeof *x);
    double *q = yk_allocate(context, rows + 1, sizeof *q);
    yk_matrix_entry *w = NULL;
    size_t count = 0, capacity = 0;
    yk_status status = YK_OK;
    if (!x || !q)
        status = YK_ERROR_MEMORY;

    /* q = J^T M^-1 f + (w b) */
    if (status == YK_OK) {
        memcpy(x, global->f, n * sizeof *x);
        yk_sparse_solve(mass, x);

        for (int i = 0; i < global->h.columns; i++)
            q[i] = column_product(j, i, x) + global->w[i];
        for (int i = global->h.columns; i < j->columns; i++)
            q[i] = column_product(j, i, x) + global->b[i - global->h.columns];
    }

    for (int c = 0; status == YK_OK && c < j->columns; c++) {
        /* M^-1 times a column of J. */
        memset(x, 0, n * sizeof *x);
        for (size_t k = j->start[c]; k < j->start[c + 1]; k++)
            x[j->entry[k].row] += j->entry[k].value;
        yk_sparse_solve(mass, x);

        /* Room for a whole column of W, then what of it is not zero. */
        if (!w || count + rows > capacity) {
            capacity = 2 * capacity + rows;
            yk_matrix_entry *larger = yk_reallocate(context, w, capacity, sizeof *w);
            if (!larger) {
                status = YK_ERROR_MEMORY;
                break;
            }
            w = larger;
        }

        for (int r = 0; r < j->columns; r++) {
            double value = column_product(j, r, x);
            if (value != 0)
                w[count++] = (yk_matrix_entry){r, c, value};
        }
    }

    /* The problem in blocks. */
    if (status == YK_OK) {
        yk_contact_entries entries = {
            .dim = global->dim,
            .contact_count = global->contact_count,
            .bilateral = global->g.columns,
            .entry = w,
            .count = count,
            .q = q,
            .mu = global->mu,
            .mu_roll = global->mu_roll,
        };
        status = yk_contact_problem_from_entries(context, &entries, problem);
    }

    yk_release(context, w);
    yk_release(context, q);
    yk_release(context, x);
    return status;
}

yk_status yk_global_condense(yk_context *context, const yk_global_problem *global,
                             yk_contact_problem *problem)
{
    *problem = (yk_contact_problem){0};

    /* Sizes that fit each other. */
    const yk_entry_matrix *m = &global->m;
    const yk_entry_matrix *h = &global->h;
    const yk_entry_matrix *g = &global->g;
    int rows = global->dim * global->contact_count;
    if (m->rows != m->columns || m->rows < 1)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "contact: the mass matrix M has %d rows and %d columns, it must be square",
                       m->rows, m->columns);
    if (h->rows != m->rows || (g->columns > 0 && g->rows != m->rows))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "contact: M has %d rows, H %d, G %d; they must be as many", m->rows, h->rows,
                       g->rows);
    if (h->columns != rows)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "contact: H has %d columns, and %d contacts of dimension %d have %d rows",
                       h->columns, global->contact_count, global->dim, rows);

    /* M^-1, J = (H G), and their products. */
    yk_sparse *mass;
    joined j = {0};
    yk_status status = factor_mass(context, &global->m, &mass);
    if (status == YK_OK)
        status = join_columns(context, global, &j);
    if (status == YK_OK)
        status = condense(context, global, mass, &j, problem);

    yk_release(context, j.entry);
    yk_release(context, j.start);
    yk_sparse_destroy(mass);
    return status;
}
