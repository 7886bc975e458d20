/* Contact problems in HDF5 files of FCLIB: see fclib.h. */
#include "record/fclib.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input.h"
#include "base/text.h"
#include "contact/problem.h"
#include "contact/write.h"
#include "record/hdf5_read.h"

enum { PATH_BYTES = 64, ROWS_MAX = 100000000 };

/* An open file; all functions do nothing after an error. */
typedef struct fclib_file {
    yk_context *context;
    const char *path;
    yk_hdf5_input *input;
    yk_status status;
    bool global;
    /* In a local problem W, V, R correspond to M, H, G, q to w, and s to b; there is no f. */
    yk_global_problem data;
} fclib_file;

bool yk_fclib_is_hdf5(const char *path)
{
    unsigned char start[8] = {0};
    FILE *file = yk_regular_open(NULL, path, YK_ERROR_FILE);
    if (!file)
        return false;

    size_t got = fread(start, 1, sizeof start, file);
    fclose(file);
    return yk_hdf5_begins(start, got);
}

YK_PRINTF(2, 3)
static void refuse(fclib_file *in, const char *format, ...)
{
    if (in->status != YK_OK)
        return;

    /* The first error is kept. */
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    yk_format_list(what, sizeof what, format, arguments);
    va_end(arguments);

    in->status = yk_fail(in->context, YK_ERROR_INPUT, "'%s': %s", in->path, what);
}

/* Values --------------------------------------------------------------------------------------- */

static bool has(const fclib_file *in, const char *name)
{
    yk_hdf5_entry found;
    if (!yk_hdf5_find(in->input, NULL, name, &found))
        return false;

    yk_hdf5_release(in->input, &found);
    return true;
}

/* Reads a dataset of at least `count` numbers; returns memory of the context. A list may be longer
 * than its used part, because CSparse reserves memory. */
static void *read_values(fclib_file *in, const char *group, const char *name, yk_hdf5_type type,
                         size_t size, size_t count)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", group, name);
    if (in->status != YK_OK)
        return NULL;

    yk_hdf5_entry dataset;
    if (!yk_hdf5_find(in->input, NULL, path, &dataset)) {
        in->status = yk_hdf5_status(in->input);
        refuse(in, "there is no dataset '%s'", path);
        return NULL;
    }

    uint64_t stored = yk_hdf5_value_count(&dataset);
    void *values = NULL;
    bool whole = type == YK_HDF5_INT32;
    if (dataset.kind != YK_HDF5_NUMBERS || (whole && dataset.floating)) {
        refuse(in, "'%s' is not a list of numbers in the file itself, without compression", path);
    } else if (stored < count) {
        refuse(in, "'%s' has %llu numbers, expected %zu", path, (unsigned long long)stored, count);
    } else {
        values = yk_allocate(in->context, count + 1, size);
        if (!values)
            in->status = YK_ERROR_MEMORY;
        else if (!yk_hdf5_read(in->input, &dataset, type, 0, count, values))
            in->status = yk_hdf5_status(in->input);
    }

    yk_hdf5_release(in->input, &dataset);
    if (in->status != YK_OK) {
        yk_free(in->context, values);
        return NULL;
    }

    return values;
}

static double *read_vector(fclib_file *in, const char *group, const char *name, int count)
{
    return read_values(in, group, name, YK_HDF5_FLOAT64, sizeof(double), (size_t)count);
}

static int read_integer(fclib_file *in, const char *group, const char *name, int low, int high)
{
    int *value = read_values(in, group, name, YK_HDF5_INT32, sizeof *value, 1);
    if (!value)
        return low;

    int result = *value;
    yk_free(in->context, value);

    /* A rejected number gets a value with which the caller can continue. */
    if (result < low || result > high) {
        refuse(in, "'%s/%s' is %d, expected %d to %d", group, name, result, low, high);
        return low;
    }

    return result;
}

static void read_matrix(fclib_file *in, const char *group, yk_entry_matrix *m)
{
    /* The convention of CSparse: nz is the number of triplets; -1 means compressed columns, -2 compressed rows. */
    m->rows = read_integer(in, group, "m", 0, ROWS_MAX);
    m->columns = read_integer(in, group, "n", 0, ROWS_MAX);
    int count = read_integer(in, group, "nz", -2, INT32_MAX);
    bool triplets = count >= 0;
    bool by_rows = count == -2;
    int lines = m->columns;
    if (by_rows)
        lines = m->rows;

    /* The starts of compressed lines give the number of entries. */
    size_t starts = (size_t)lines + 1;
    if (triplets)
        starts = (size_t)count;

    int *p = read_values(in, group, "p", YK_HDF5_INT32, sizeof *p, starts);
    if (in->status == YK_OK && !triplets) {
        count = p[lines];
        bool rising = p[0] == 0;
        for (int i = 0; i < lines && rising; i++)
            rising = p[i] <= p[i + 1];
        if (!rising)
            refuse(in, "the starts of '%s' do not rise from 0", group);
    }

    /* Indices and values, the same number of each. */
    int *at = read_values(in, group, "i", YK_HDF5_INT32, sizeof *at, (size_t)count);
    double *x = read_values(in, group, "x", YK_HDF5_FLOAT64, sizeof *x, (size_t)count);
    if (in->status == YK_OK) {
        m->entry = yk_allocate(in->context, (size_t)count + 1, sizeof *m->entry);
        if (!m->entry)
            in->status = YK_ERROR_MEMORY;
    }

    /* Row, column and value of each. */
    int line = 0;
    for (int k = 0; k < count && in->status == YK_OK; k++) {
        /* The compressed line of the entry. */
        while (!triplets && p[line + 1] <= k)
            line++;

        int column = line;
        if (triplets)
            column = p[k];
        m->entry[m->count] = (yk_matrix_entry){at[k], column, x[k]};
        if (by_rows)
            m->entry[m->count] = (yk_matrix_entry){line, at[k], x[k]};
        m->count++;
    }

    yk_free(in->context, x);
    yk_free(in->context, at);
    yk_free(in->context, p);
}

/* The contents of the problem's group. */
static void read_problem(fclib_file *in)
{
    static const struct {
        const char *group;
        bool global, rolling;
        const char *matrices[3], *vectors[3];
    } kinds[] = {
        {"fclib_local", false, false, {"W", "V", "R"}, {NULL, "q", "s"}},
        {"fclib_global", true, false, {"M", "H", "G"}, {"f", "w", "b"}},
        {"fclib_global_rolling", true, true, {"M", "H", "G"}, {"f", "w", "b"}},
    };

    /* The name of the group is the kind of the problem. */
    size_t kind = 0;
    while (kind < 3 && !has(in, kinds[kind].group))
        kind++;
    if (kind == 3) {
        refuse(in, "no contact problem of FCLIB: there is no group fclib_local, fclib_global or "
                   "fclib_global_rolling");
        return;
    }

    /* The dimension of the contact space, with the rolling motions 5. */
    yk_global_problem *p = &in->data;
    const char *group = kinds[kind].group;
    in->global = kinds[kind].global;
    p->dim = read_integer(in, group, "spacedim", 2, 5);
    if (p->dim == 4 || (p->dim == 5) != kinds[kind].rolling)
        refuse(in, "%s has contacts of dimension %d", group, p->dim);

    /* Matrices; those of bilateral rows are optional. */
    yk_entry_matrix *const matrices[3] = {&p->m, &p->h, &p->g};
    for (int i = 0; i < 3; i++) {
        char name[PATH_BYTES];
        snprintf(name, sizeof name, "%s/%s", group, kinds[kind].matrices[i]);
        if (has(in, name) || i == 0 || (in->global && i == 1))
            read_matrix(in, name, matrices[i]);
    }

    /* Vectors of the sizes that the matrices have. */
    char vectors[PATH_BYTES];
    snprintf(vectors, sizeof vectors, "%s/vectors", group);
    int rows = in->global ? p->h.columns : p->m.rows;
    p->contact_count = rows / p->dim;

    if (in->global)
        p->f = read_vector(in, vectors, kinds[kind].vectors[0], p->m.rows);
    p->w = read_vector(in, vectors, kinds[kind].vectors[1], rows);
    if (p->g.columns > 0)
        p->b = read_vector(in, vectors, kinds[kind].vectors[2], p->g.columns);
    p->mu = read_vector(in, vectors, "mu", p->contact_count);
    if (kinds[kind].rolling)
        p->mu_roll = read_vector(in, vectors, "mu_r", p->contact_count);
}

/* The problem ---------------------------------------------------------------------------------- */

/* (W V; V^T R) and (q s). */
static void make_local(fclib_file *in, yk_contact_problem *problem)
{
    /* Sizes that do not agree are an error. */
    yk_context *context = in->context;
    const yk_global_problem *p = &in->data;
    const yk_entry_matrix *w = &p->m, *v = &p->h, *r = &p->g;
    int rows = w->rows, bilateral = r->columns;

    if (w->columns != rows || rows % p->dim != 0)
        refuse(in, "W has %d rows and %d columns, and contacts have dimension %d", rows, w->columns,
               p->dim);
    if (r->rows != bilateral || v->columns != bilateral || (bilateral > 0 && v->rows != rows))
        refuse(in, "the sizes of W, V and R do not fit each other");
    if (in->status != YK_OK)
        return;

    /* All entries in one list, and both vectors in one. */
    size_t count = w->count + 2 * v->count + r->count;
    yk_matrix_entry *entry = yk_allocate(context, count + 1, sizeof *entry);
    double *q = yk_allocate(context, (size_t)rows + (size_t)bilateral + 1, sizeof *q);
    in->status = YK_ERROR_MEMORY;
    if (entry && q) {
        size_t k = 0;
        for (size_t i = 0; i < w->count; i++)
            entry[k++] = w->entry[i];

        /* V couples both kinds of rows: it is next to W and, transposed, below. */
        for (size_t i = 0; i < v->count; i++) {
            yk_matrix_entry e = v->entry[i];
            entry[k++] = (yk_matrix_entry){e.row, rows + e.column, e.value};
            entry[k++] = (yk_matrix_entry){rows + e.column, e.row, e.value};
        }

        for (size_t i = 0; i < r->count; i++) {
            yk_matrix_entry e = r->entry[i];
            entry[k++] = (yk_matrix_entry){rows + e.row, rows + e.column, e.value};
        }

        /* Bilateral rows behind those of the contacts, as in the matrix. */
        if (rows > 0)
            memcpy(q, p->w, (size_t)rows * sizeof *q);
        if (bilateral > 0)
            memcpy(q + rows, p->b, (size_t)bilateral * sizeof *q);

        yk_contact_entries entries = {
            .dim = p->dim,
            .contact_count = p->contact_count,
            .bilateral = bilateral,
            .entry = entry,
            .count = count,
            .q = q,
            .mu = p->mu,
        };

        in->status = yk_contact_problem_from_entries(context, &entries, problem);
    }

    yk_free(context, q);
    yk_free(context, entry);
}

yk_status yk_fclib_read(yk_context *context, const char *path, yk_contact_problem *problem)
{
    *problem = (yk_contact_problem){0};
    struct stat found;
    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode))
        return yk_fail(context, YK_ERROR_FILE, "'%s' is not a file that can be read", path);

    fclib_file in = {.context = context, .path = path, .status = YK_OK};
    in.status = yk_hdf5_input_open(context, path, &in.input);
    if (in.status == YK_OK) {
        read_problem(&in);
        if (in.status == YK_OK)
            in.status = yk_hdf5_status(in.input);
        yk_hdf5_input_close(in.input);
    }

    if (in.status == YK_OK && (in.data.dim < 2 || in.data.dim > 5))
        refuse(&in, "contacts of dimension %d", in.data.dim);

    /* Indices and values are checked. */
    const char *const names[2][3] = {{"W", "V", "R"}, {"M", "H", "G"}};
    const yk_entry_matrix *const matrices[3] = {&in.data.m, &in.data.h, &in.data.g};
    for (int i = 0; i < 3; i++) {
        const yk_entry_matrix *m = matrices[i];
        const char *name = names[in.global][i];

        for (size_t k = 0; in.status == YK_OK && k < m->count; k++) {
            const yk_matrix_entry *e = &m->entry[k];
            if (e->row < 0 || e->row >= m->rows || e->column < 0 || e->column >= m->columns)
                refuse(&in, "entry %zu of %s is in row %d and column %d of %d x %d", k, name,
                       e->row, e->column, m->rows, m->columns);
            else if (!isfinite(e->value))
                refuse(&in, "entry %zu of %s is not finite", k, name);
        }
    }

    /* One problem of it. */
    if (in.status == YK_OK && in.global) {
        in.status = yk_global_condense(context, &in.data, problem);
        if (in.status == YK_ERROR_ARGUMENT || in.status == YK_ERROR_SINGULAR)
            in.status =
                yk_fail(context, YK_ERROR_INPUT, "'%s': %s", path, yk_last_message(context));
    } else if (in.status == YK_OK) {
        make_local(&in, problem);
    }

    /* Check what every solver assumes, wherever a problem comes from. */
    if (in.status == YK_OK && yk_contact_problem_check(context, problem) != YK_OK)
        refuse(&in, "%s", yk_last_message(context));

    yk_global_destroy(context, &in.data);
    if (in.status != YK_OK)
        yk_contact_problem_destroy(context, problem);
    return in.status;
}

/* Writing -------------------------------------------------------------------------------------- */

/* W in compressed rows: row by row through the blocks of its contact. */
static void compress(const yk_contact_problem *problem, int *start, int *columns, double *values)
{
    const yk_block_matrix *w = &problem->w;
    int dim = w->first[1];
    int count = 0;
    for (int i = 0; i < problem->contact_count; i++) {
        for (int r = 0; r < dim; r++) {
            int row = w->first[i] + r;
            for (int k = w->start[i]; k < w->start[i + 1]; k++) {
                const double *value = w->value + w->offset[k] + r * dim;
                for (int c = 0; c < dim; c++) {
                    int column = w->first[w->column[k]] + c;

                    /* Softness is an additional mobility of a row; the format has no place for it. */
                    double soft = 0;
                    if (problem->softness && column == row)
                        soft = problem->softness[row];
                    columns[count] = column;
                    values[count++] = value[c] + soft;
                }
            }

            start[row + 1] = count;
        }
    }
}

/* A list of the layout; sizes are lists of one number. */
typedef struct stored_list {
    yk_hdf5_object *group;
    const char *name;
    yk_hdf5_type type;
    int count;
    const void *values;
} stored_list;

static void write_local(yk_hdf5_output *output, const yk_contact_problem *problem, const int *start,
                        const int *columns, const double *values)
{
    /* W is in compressed rows, as nz = -2 says. */
    int rows = problem->row_count, compressed_rows = -2;
    int count = start[rows];
    int dim = problem->w.first[1];
    yk_hdf5_object *local = yk_hdf5_add_group(output, yk_hdf5_root(output), "fclib_local");
    yk_hdf5_object *matrix = yk_hdf5_add_group(output, local, "W");
    yk_hdf5_object *vectors = yk_hdf5_add_group(output, local, "vectors");

    const stored_list lists[] = {
        {local, "spacedim", YK_HDF5_INT32, 1, &dim},
        {matrix, "m", YK_HDF5_INT32, 1, &rows},
        {matrix, "n", YK_HDF5_INT32, 1, &rows},
        {matrix, "nzmax", YK_HDF5_INT32, 1, &count},
        {matrix, "nz", YK_HDF5_INT32, 1, &compressed_rows},
        {matrix, "p", YK_HDF5_INT32, rows + 1, start},
        {matrix, "i", YK_HDF5_INT32, count, columns},
        {matrix, "x", YK_HDF5_FLOAT64, count, values},
        {vectors, "q", YK_HDF5_FLOAT64, rows, problem->q},
        {vectors, "mu", YK_HDF5_FLOAT64, problem->contact_count, problem->mu},
    };

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const stored_list *list = &lists[i];
        uint64_t size = (uint64_t)list->count;
        const yk_hdf5_object *dataset =
            yk_hdf5_add_dataset(output, list->group, list->name, list->type, 1, &size);
        yk_hdf5_write(output, dataset, 0, (size_t)size, list->values);
    }
}

yk_status yk_fclib_write(yk_context *context, const char *path, const yk_contact_problem *problem)
{
    yk_status status = yk_contact_check_storable(context, problem);
    if (status != YK_OK)
        return status;

    /* The format has single rows, contacts have blocks: write all entries of blocks, including
     * zeros. */
    const yk_block_matrix *w = &problem->w;
    size_t most =
        (size_t)w->start[problem->contact_count] * (size_t)w->first[1] * (size_t)w->first[1];
    int *start = yk_allocate(context, (size_t)problem->row_count + 1, sizeof *start);
    int *columns = yk_allocate(context, most + 1, sizeof *columns);
    double *values = yk_allocate(context, most + 1, sizeof *values);
    if (!start || !columns || !values)
        status = YK_ERROR_MEMORY;

    if (status == YK_OK) {
        compress(problem, start, columns, values);
        unlink(path);
        yk_hdf5_output *output = NULL;
        status = yk_hdf5_output_create(context, path, &output);
        if (status == YK_OK) {
            write_local(output, problem, start, columns, values);
            status = yk_hdf5_output_finish(output);
        }
        yk_hdf5_output_destroy(output);
    }

    yk_free(context, start);
    yk_free(context, columns);
    yk_free(context, values);
    return status;
}
