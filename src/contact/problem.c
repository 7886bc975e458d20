/* Contact problems in assembled form: memory, checks, products with W, the residual; and problems
 * in the velocities of bodies, condensed to their contacts. */
#include "contact/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact/cone.h"

void yk_contact_problem_destroy(yk_context *context, yk_contact_problem *problem)
{
    void *arrays[] = {problem->w.first, problem->w.start, problem->w.column, problem->w.offset,
                      problem->w.value, problem->q,       problem->mu,       problem->mu_spin,
                      problem->mu_roll, problem->softness};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        yk_free(context, arrays[i]);

    *problem = (yk_contact_problem){0};
}

yk_status yk_contact_problem_create(yk_context *context, int block_rows, int contact_count,
                                    const int *dims, const int *row_start, const int *columns,
                                    yk_contact_problem *problem)
{
    *problem = (yk_contact_problem){.w.block_rows = block_rows, .contact_count = contact_count};

    /* Sizes first. */
    size_t blocks = (size_t)row_start[block_rows];
    size_t values = 0;
    for (int i = 0; i < block_rows; i++) {
        problem->row_count += dims[i];
        for (int k = row_start[i]; k < row_start[i + 1]; k++)
            values += (size_t)dims[i] * (size_t)dims[columns[k]];
    }

    yk_block_matrix *w = &problem->w;
    w->first = yk_allocate(context, (size_t)block_rows + 1, sizeof *w->first);
    w->start = yk_allocate(context, (size_t)block_rows + 1, sizeof *w->start);
    w->column = yk_allocate(context, blocks + 1, sizeof *w->column);
    w->offset = yk_allocate(context, blocks + 1, sizeof *w->offset);
    w->value = yk_allocate(context, values + 1, sizeof *w->value);
    problem->q = yk_allocate(context, (size_t)problem->row_count + 1, sizeof *problem->q);
    problem->mu = yk_allocate(context, (size_t)contact_count + 1, sizeof *problem->mu);
    if (!w->first || !w->start || !w->column || !w->offset || !w->value || !problem->q ||
        !problem->mu) {
        yk_contact_problem_destroy(context, problem);
        return YK_ERROR_MEMORY;
    }

    /* Blocks are stored row by row. */
    for (int i = 0; i < block_rows; i++)
        w->first[i + 1] = w->first[i] + dims[i];

    memcpy(w->start, row_start, ((size_t)block_rows + 1) * sizeof *w->start);
    memcpy(w->column, columns, blocks * sizeof *w->column);

    size_t offset = 0;
    for (int i = 0; i < block_rows; i++) {
        for (int k = row_start[i]; k < row_start[i + 1]; k++) {
            w->offset[k] = offset;
            offset += (size_t)dims[i] * (size_t)dims[columns[k]];
        }
    }

    return YK_OK;
}

yk_status yk_contact_problem_from_dense(yk_context *context, int dim, int contact_count,
                                        int bilateral, const double *w, const double *q,
                                        const double *mu, yk_contact_problem *problem)
{
    *problem = (yk_contact_problem){0};

    size_t blocks = (size_t)contact_count + (size_t)bilateral;
    int n = dim * contact_count + bilateral;
    int *dims = yk_allocate(context, blocks + 1, sizeof *dims);
    int *first = yk_allocate(context, blocks + 1, sizeof *first);
    int *start = yk_allocate(context, blocks + 1, sizeof *start);
    int *columns = yk_allocate(context, blocks * blocks + 1, sizeof *columns);
    yk_status status = YK_ERROR_MEMORY;

    if (dims && first && start && columns) {
        /* The pattern: nonzero blocks, and their transposes. */
        for (size_t i = 0; i < blocks; i++) {
            dims[i] = i < (size_t)contact_count ? dim : 1;
            first[i + 1] = first[i] + dims[i];
        }
        for (int i = 0; i < (int)blocks; i++) {
            start[i + 1] = start[i];
            for (int j = 0; j < (int)blocks; j++) {
                bool used = i == j;
                for (size_t r = (size_t)first[i]; r < (size_t)first[i + 1] && !used; r++) {
                    for (size_t c = (size_t)first[j]; c < (size_t)first[j + 1] && !used; c++)
                        used = w[r * (size_t)n + c] != 0 || w[c * (size_t)n + r] != 0;
                }
                if (used)
                    columns[start[i + 1]++] = j;
            }
        }

        status = yk_contact_problem_create(context, (int)blocks, contact_count, dims, start,
                                           columns, problem);
    }

    /* The values of these blocks, and the other arrays. */
    for (int i = 0; status == YK_OK && i < (int)blocks; i++) {
        for (int k = start[i]; k < start[i + 1]; k++) {
            double *value = problem->w.value + problem->w.offset[k];
            int j = columns[k];
            for (int r = first[i]; r < first[i + 1]; r++) {
                for (int c = first[j]; c < first[j + 1]; c++)
                    *value++ = w[(size_t)r * (size_t)n + (size_t)c];
            }
        }
    }

    if (status == YK_OK) {
        for (int i = 0; i < n; i++)
            problem->q[i] = q[i];
        for (int i = 0; i < contact_count; i++)
            problem->mu[i] = mu[i];
    }

    yk_free(context, columns);
    yk_free(context, start);
    yk_free(context, first);
    yk_free(context, dims);
    return status;
}

/* Index of the first block in a row whose column is at least `column`, or of the last block. */
static int find_block(const yk_block_matrix *w, int row, int column)
{
    int low = w->start[row];
    int high = w->start[row + 1] - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (w->column[middle] < column) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low;
}

/* The block row of an entry's row, and the row inside the block. */
static int block_of(const yk_contact_entries *entries, int row, int *within)
{
    int contact_rows = entries->dim * entries->contact_count;
    *within = 0;
    if (row >= contact_rows)
        return entries->contact_count + row - contact_rows;

    *within = row % entries->dim;
    if (entries->dim == 5 && *within >= 3)
        (*within)++;
    return row / entries->dim;
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

yk_status yk_contact_problem_from_entries(yk_context *context, const yk_contact_entries *entries,
                                          yk_contact_problem *problem)
{
    *problem = (yk_contact_problem){0};
    int contacts = entries->contact_count;
    int dim = entries->dim == 5 ? YK_CONTACT_DIM_MAX : entries->dim;
    size_t blocks = (size_t)contacts + (size_t)entries->bilateral;

    uint64_t *keys = yk_allocate(context, 2 * entries->count + blocks + 1, sizeof *keys);
    int *start = yk_allocate(context, blocks + 1, sizeof *start);
    int *columns = yk_allocate(context, 2 * entries->count + blocks + 1, sizeof *columns);
    int *dims = yk_allocate(context, blocks + 1, sizeof *dims);
    yk_status status = YK_ERROR_MEMORY;

    if (keys && start && columns && dims) {
        /* Nonzero blocks, their transposes, and the diagonal, row after row. */
        size_t count = 0;
        for (size_t i = 0; i < blocks; i++)
            keys[count++] = (uint64_t)i << 32 | (uint64_t)i;
        for (size_t k = 0; k < entries->count; k++) {
            int within;
            uint64_t row = (uint64_t)block_of(entries, entries->entry[k].row, &within);
            uint64_t column = (uint64_t)block_of(entries, entries->entry[k].column, &within);
            keys[count++] = row << 32 | column;
            keys[count++] = column << 32 | row;
        }
        qsort(keys, count, sizeof *keys, compare_keys);

        /* Each once. */
        int listed = 0;
        for (size_t k = 0; k < count; k++) {
            if (k > 0 && keys[k] == keys[k - 1])
                continue;
            columns[listed++] = (int)(keys[k] & UINT32_MAX);
            start[(keys[k] >> 32) + 1] = listed;
        }
        for (size_t i = 0; i < blocks; i++)
            dims[i] = i < (size_t)contacts ? dim : 1;
        status = yk_contact_problem_create(context, (int)blocks, contacts, dims, start, columns,
                                           problem);
    }

    /* The numbers. */
    for (size_t k = 0; status == YK_OK && k < entries->count; k++) {
        int r, c;
        int row = block_of(entries, entries->entry[k].row, &r);
        int column = block_of(entries, entries->entry[k].column, &c);
        double *value = problem->w.value + problem->w.offset[find_block(&problem->w, row, column)];
        value[r * dims[column] + c] += entries->entry[k].value;
    }

    if (status == YK_OK && entries->mu_roll) {
        problem->mu_roll = yk_allocate(context, (size_t)contacts + 1, sizeof *problem->mu_roll);
        if (!problem->mu_roll)
            status = YK_ERROR_MEMORY;
    }

    if (status == YK_OK) {
        int rows = entries->dim * contacts + entries->bilateral;
        for (int i = 0; i < rows; i++) {
            int within;
            int block = block_of(entries, i, &within);
            problem->q[problem->w.first[block] + within] = entries->q[i];
        }

        for (int i = 0; i < contacts; i++) {
            problem->mu[i] = entries->mu[i];
            if (entries->mu_roll)
                problem->mu_roll[i] = entries->mu_roll[i];

            /* A row without effect gets the mean of the others on its diagonal, so that it does not
             * change the scale of W. */
            if (entries->dim != 5)
                continue;
            double *own = problem->w.value + problem->w.offset[find_block(&problem->w, i, i)];
            double sum = 0;
            for (int r = 0; r < dim; r++)
                sum += own[r * dim + r];
            own[3 * dim + 3] = sum / 5;
        }
    }

    yk_free(context, dims);
    yk_free(context, columns);
    yk_free(context, start);
    yk_free(context, keys);
    if (status != YK_OK)
        yk_contact_problem_destroy(context, problem);
    return status;
}

yk_status yk_contact_problem_check(yk_context *context, const yk_contact_problem *problem)
{
    const yk_block_matrix *w = &problem->w;
    size_t contacts = (size_t)problem->contact_count;
    size_t rows = (size_t)problem->row_count;

    /* Sizes of the blocks; columns are ascending, and contain the diagonal. */
    for (int i = 0; i < w->block_rows; i++) {
        int dim = w->first[i + 1] - w->first[i];
        bool known = dim >= 1 && dim <= 6 && (i >= problem->contact_count || dim != 5);
        if (!known)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "contact problem: block row %d has %d components; contacts have 1, 2, "
                           "3, 4 or 6 and bilateral blocks 1 to 6",
                           i, dim);

        bool diagonal = false;
        for (int k = w->start[i]; k < w->start[i + 1]; k++) {
            int j = w->column[k];
            if (j < 0 || j >= w->block_rows || (k > w->start[i] && j <= w->column[k - 1]))
                return yk_fail(context, YK_ERROR_ARGUMENT,
                               "contact problem: block row %d: column %d is out of range or not in "
                               "rising order",
                               i, j);
            diagonal |= j == i;
        }

        if (!diagonal)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "contact problem: block row %d has no diagonal block", i);
    }

    /* W is symmetric, so blocks exist on both sides of the diagonal. */
    size_t values = 0;

    for (int i = 0; i < w->block_rows; i++) {
        size_t dim = (size_t)(w->first[i + 1] - w->first[i]);
        for (int k = w->start[i]; k < w->start[i + 1]; k++) {
            int j = w->column[k];
            if (w->start[j] == w->start[j + 1] || w->column[find_block(w, j, i)] != i)
                return yk_fail(context, YK_ERROR_ARGUMENT,
                               "contact problem: block row %d has a block whose mirror image is "
                               "missing; add zero blocks",

                               i);
            values += dim * (size_t)(w->first[j + 1] - w->first[j]);
        }
    }

    /* All numbers are finite, and some nonnegative. */
    const struct {
        const char *name;
        const double *numbers;
        size_t count;
        bool non_negative;
    } arrays[] = {
        {"W", w->value, values, false},
        {"q", problem->q, rows, false},
        {"mu", problem->mu, contacts, true},
        {"mu_spin", problem->mu_spin, contacts, true},
        {"mu_roll", problem->mu_roll, contacts, true},
        {"softness", problem->softness, rows, true},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        const double *numbers = arrays[i].numbers;
        for (size_t k = 0; numbers && k < arrays[i].count; k++) {
            if (isfinite(numbers[k]) && !(arrays[i].non_negative && numbers[k] < 0))
                continue;

            /* A number that is not finite results from a failed run, not from an invalid
             * description. */
            yk_status status = YK_ERROR_ARGUMENT;
            if (!isfinite(numbers[k]))
                status = YK_ERROR_NOT_FINITE;
            return yk_fail(context, status, "contact problem: %s[%zu] = %g must be finite%s",
                           arrays[i].name, k, numbers[k],
                           arrays[i].non_negative ? " and not negative" : "");
        }
    }

    return YK_OK;
}

static void multiply_block_row(const yk_block_matrix *w, int i, const double *x, double *y)
{
    int rows = w->first[i + 1] - w->first[i];
    for (int r = 0; r < rows; r++)
        y[r] = 0;

    for (int k = w->start[i]; k < w->start[i + 1]; k++) {
        int j = w->column[k];
        int columns = w->first[j + 1] - w->first[j];
        const double *block = w->value + w->offset[k];
        const double *from = x + w->first[j];

        /* The most frequent size, with the same order of summation as the loops below. */
        if (rows == 3 && columns == 3) {
            y[0] += block[0] * from[0] + block[1] * from[1] + block[2] * from[2];
            y[1] += block[3] * from[0] + block[4] * from[1] + block[5] * from[2];
            y[2] += block[6] * from[0] + block[7] * from[1] + block[8] * from[2];
            continue;
        }

        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++)
                y[r] += block[r * columns + c] * from[c];
        }
    }
}

void yk_contact_multiply(const yk_contact_problem *problem, const double *x, double *y)
{
    for (int i = 0; i < problem->w.block_rows; i++)
        multiply_block_row(&problem->w, i, x, y + problem->w.first[i]);

    /* Soft rows: (W + C) x. */
    for (int r = 0; problem->softness && r < problem->row_count; r++)
        y[r] += problem->softness[r] * x[r];
}

void yk_contact_block_row(const yk_contact_problem *problem, int block, const double *x, double *y)
{
    int first = problem->w.first[block];
    int rows = problem->w.first[block + 1] - first;

    /* Its row of u = (W + C) x + q. */
    multiply_block_row(&problem->w, block, x, y);
    for (int r = 0; r < rows; r++) {
        if (problem->softness)
            y[r] += problem->softness[first + r] * x[first + r];
        y[r] += problem->q[first + r];
    }
}

const double *yk_contact_diagonal_block(const yk_contact_problem *problem, int block)
{
    const yk_block_matrix *w = &problem->w;
    return w->value + w->offset[find_block(w, block, block)];
}

double yk_contact_mean_diagonal(const yk_contact_problem *problem)
{
    double sum = 0;
    for (int i = 0; i < problem->w.block_rows; i++) {
        const double *block = yk_contact_diagonal_block(problem, i);
        int dim = problem->w.first[i + 1] - problem->w.first[i];
        for (int k = 0; k < dim; k++)
            sum += block[k * dim + k];
    }

    return problem->row_count > 0 && sum > 0 ? sum / problem->row_count : 1;
}

double yk_contact_residual_of(const yk_contact_problem *problem, yk_friction_model friction,
                              double rho, const double *r, const double *u)
{
    const int *first = problem->w.first;
    double sum = 0;

    /* Natural maps of the contacts. */
    for (int i = 0; i < problem->contact_count; i++) {
        yk_cone cone = yk_problem_cone(problem, i);
        double map[YK_CONTACT_DIM_MAX];
        yk_cone_natural_map(&cone, friction, rho, r + first[i], u + first[i], map);

        for (int k = 0; k < cone.dim; k++)
            sum += map[k] * map[k];
    }

    /* Bilateral rows count with their velocity. */
    sum /= rho * rho;
    for (int k = first[problem->contact_count]; k < problem->row_count; k++)
        sum += u[k] * u[k];

    /* Relative to q, unless q is zero. */
    double scale = 0;
    for (int k = 0; k < problem->row_count; k++)
        scale += problem->q[k] * problem->q[k];
    return scale > 0 ? sqrt(sum / scale) : sqrt(sum);
}

double yk_contact_residual(const yk_contact_problem *problem, yk_friction_model friction,
                           const double *r, double *u)
{
    if (problem->row_count == 0)
        return 0;

    /* u = W r + q. */
    yk_contact_multiply(problem, r, u);
    for (int k = 0; k < problem->row_count; k++)
        u[k] += problem->q[k];

    return yk_contact_residual_of(problem, friction, 1 / yk_contact_mean_diagonal(problem), r, u);
}

/* Problems in the velocities of bodies --------------------------------------------------------- */

void yk_global_destroy(yk_context *context, yk_global_problem *problem)
{
    void *arrays[] = {problem->m.entry, problem->h.entry, problem->g.entry, problem->f,
                      problem->w,       problem->b,       problem->mu,      problem->mu_roll};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        yk_free(context, arrays[i]);
    *problem = (yk_global_problem){0};
}

static yk_status factor_mass(yk_context *context, const yk_entry_matrix *m, yk_sparse **mass)
{
    *mass = NULL;
    yk_sparse_entry *entries = yk_allocate(context, m->count + 1, sizeof *entries);
    int *index = yk_allocate(context, m->count + 1, sizeof *index);
    yk_status status = YK_ERROR_MEMORY;

    /* The pattern, in which repeated entries share a place. */
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

    yk_free(context, index);
    yk_free(context, entries);
    return status;
}

/* Columns of H and G one after another: those of column j are entry[start[j]] to entry[start[j + 1]
 * - 1]. The arrays are zero initially; they have two more starts than columns. */
static void join_columns(const yk_global_problem *global, size_t *start, yk_matrix_entry *entry)
{
    const yk_entry_matrix *parts[2] = {&global->h, &global->g};
    int columns = global->h.columns + global->g.columns;

    /* Counts have an offset of two, so that the starts are in their final position once the columns
     * are filled. */
    const int shift[2] = {0, global->h.columns};
    for (int p = 0; p < 2; p++) {
        for (size_t k = 0; k < parts[p]->count; k++)
            start[parts[p]->entry[k].column + shift[p] + 2]++;
    }
    for (int c = 2; c <= columns + 1; c++)
        start[c] += start[c - 1];

    /* Sort the entries into their columns, those of G after those of H. */
    for (int p = 0; p < 2; p++) {
        for (size_t k = 0; k < parts[p]->count; k++) {
            yk_matrix_entry e = parts[p]->entry[k];
            e.column += shift[p];
            entry[start[e.column + 1]++] = e;
        }
    }
}

static double column_product(const size_t *start, const yk_matrix_entry *entry, int column,
                             const double *x)
{
    double sum = 0;
    for (size_t k = start[column]; k < start[column + 1]; k++)
        sum += entry[k].value * x[entry[k].row];
    return sum;
}

/* W and q, column by column. Only nonzero entries of W are stored. */
static yk_status condense(yk_context *context, const yk_global_problem *global, yk_sparse *mass,
                          const size_t *start, const yk_matrix_entry *entry,
                          yk_contact_problem *problem)
{
    int columns = global->h.columns + global->g.columns;
    size_t n = (size_t)global->m.rows, rows = (size_t)columns;
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
            q[i] = column_product(start, entry, i, x) + global->w[i];
        for (int i = global->h.columns; i < columns; i++)
            q[i] = column_product(start, entry, i, x) + global->b[i - global->h.columns];
    }

    for (int c = 0; status == YK_OK && c < columns; c++) {
        /* M^-1 times a column of J. */
        memset(x, 0, n * sizeof *x);
        for (size_t k = start[c]; k < start[c + 1]; k++)
            x[entry[k].row] += entry[k].value;
        yk_sparse_solve(mass, x);

        /* Memory for a whole column of W, then its nonzero entries. */
        if (!w || count + rows > capacity) {
            capacity = 2 * capacity + rows;
            yk_matrix_entry *larger = yk_reallocate(context, w, capacity, sizeof *w);
            if (!larger) {
                status = YK_ERROR_MEMORY;
                break;
            }
            w = larger;
        }

        for (int r = 0; r < columns; r++) {
            double value = column_product(start, entry, r, x);
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

    yk_free(context, w);
    yk_free(context, q);
    yk_free(context, x);
    return status;
}

yk_status yk_global_condense(yk_context *context, const yk_global_problem *global,
                             yk_contact_problem *problem)
{
    *problem = (yk_contact_problem){0};

    /* Check the sizes. */
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
    size_t columns = (size_t)h->columns + (size_t)g->columns;
    size_t *start = yk_allocate(context, columns + 2, sizeof *start);
    yk_matrix_entry *entry = yk_allocate(context, h->count + g->count + 1, sizeof *entry);
    yk_status status = factor_mass(context, &global->m, &mass);
    if (status == YK_OK && !(start && entry))
        status = YK_ERROR_MEMORY;
    if (status == YK_OK) {
        join_columns(global, start, entry);
        status = condense(context, global, mass, start, entry, problem);
    }

    yk_free(context, entry);
    yk_free(context, start);
    yk_sparse_destroy(mass);
    return status;
}
