/* Contact problems in HDF5 files of FCLIB: see fclib.h.
 *
 * A process of its own (apart.h) reads the file, as HDF5 does not survive everything that it is
 * given, and sends matrices and vectors; the caller checks them and makes the problem. */
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
#include "record/hdf5_access.h"

enum { PATH_BYTES = 64, ROWS_MAX = 100000000 };

/* A file that is read; all functions do nothing once something is wrong. */
typedef struct fclib_file {
    yk_context *context;
    const char *path;
    hid_t file;
    yk_status status;
    bool global;
    /* Of a local problem W, V, R stand for M, H, G, q for w, and s for b; there is no f. */
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

    /* The first mistake counts. */
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    yk_format_list(what, sizeof what, format, arguments);
    va_end(arguments);

    in->status = yk_fail(in->context, YK_ERROR_INPUT, "'%s': %s", in->path, what);
}

/* Values --------------------------------------------------------------------------------------- */

/* Whether the file has this object, by links within it alone: others may lead anywhere. */
static bool has(const fclib_file *in, const char *name)
{
    char part[PATH_BYTES];
    for (const char *end = name; *end; end++) {
        if (end[1] != '/' && end[1] != '\0')
            continue;

        size_t length = (size_t)(end + 1 - name);
        if (length >= sizeof part)
            return false;

        memcpy(part, name, length);
        part[length] = '\0';

        /* Every group on the way is a link of this file. */
        H5L_info_t info;
        if (H5Lexists(in->file, part, H5P_DEFAULT) <= 0 ||
            H5Lget_info(in->file, part, &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_HARD)
            return false;
    }

    return true;
}

/* Reads a dataset of numbers that has at least `count` of them; returns memory of the context. */
static void *read_values(fclib_file *in, const char *group, const char *name, hid_t type,
                         size_t size, size_t count)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", group, name);
    if (in->status != YK_OK)
        return NULL;

    if (!has(in, path)) {
        refuse(in, "there is no dataset '%s'", path);
        return NULL;
    }

    /* Numbers, in a list, in this file, and as many as the sizes say. */
    hid_t dataset = H5Dopen2(in->file, path, H5P_DEFAULT);
    hid_t stored = dataset >= 0 ? H5Dget_type(dataset) : -1;
    hid_t space = dataset >= 0 ? H5Dget_space(dataset) : -1;
    H5T_class_t class = stored >= 0 ? H5Tget_class(stored) : H5T_NO_CLASS;
    bool number = class == H5T_INTEGER || (class == H5T_FLOAT && type == H5T_NATIVE_DOUBLE);
    hssize_t there = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;

    /* Values may lie in other files, which a stranger's file must not read for him. */
    hid_t how = dataset >= 0 ? H5Dget_create_plist(dataset) : -1;
    bool here = how >= 0 && H5Pget_external_count(how) == 0 && H5Pget_layout(how) != H5D_VIRTUAL;
    if (how >= 0)
        H5Pclose(how);

    if (!number || there < 0 || !here)
        refuse(in, "'%s' is not a list of numbers in the file itself", path);
    else if ((size_t)there < count)
        refuse(in, "'%s' has %lld numbers, expected %zu", path, (long long)there, count);

    /* A list may be longer than what of it is used, as CSparse reserves memory; but not longer than
     * what is stored can be, compressed to a thousandth. */
    void *values = NULL;
    if (in->status == YK_OK && (hsize_t)there > 130 * H5Dget_storage_size(dataset) + 64)
        refuse(in, "'%s' says to have more numbers than it stores", path);
    if (in->status == YK_OK) {
        values = yk_allocate(in->context, (size_t)there + 1, size);
        if (!values)
            in->status = YK_ERROR_MEMORY;
        else if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
            refuse(in, "'%s' cannot be read", path);
    }

    if (space >= 0)
        H5Sclose(space);
    if (stored >= 0)
        H5Tclose(stored);
    if (dataset >= 0)
        H5Dclose(dataset);
    if (in->status != YK_OK) {
        yk_free(in->context, values);
        return NULL;
    }

    return values;
}

static double *read_vector(fclib_file *in, const char *group, const char *name, int count)
{
    return read_values(in, group, name, H5T_NATIVE_DOUBLE, sizeof(double), (size_t)count);
}

static int read_integer(fclib_file *in, const char *group, const char *name, int low, int high)
{
    int *value = read_values(in, group, name, H5T_NATIVE_INT, sizeof *value, 1);
    if (!value)
        return low;

    int result = *value;
    yk_free(in->context, value);

    /* A number that is refused still has a value with which the caller can go on. */
    if (result < low || result > high) {
        refuse(in, "'%s/%s' is %d, expected %d to %d", group, name, result, low, high);
        return low;
    }

    return result;
}

static void read_matrix(fclib_file *in, const char *group, yk_entry_matrix *m)
{
    /* As CSparse stores it: nz counts triplets, -1 stands for compressed columns, -2 for rows. */
    m->rows = read_integer(in, group, "m", 0, ROWS_MAX);
    m->columns = read_integer(in, group, "n", 0, ROWS_MAX);
    int count = read_integer(in, group, "nz", -2, INT32_MAX);
    bool triplets = count >= 0;
    bool by_rows = count == -2;
    int lines = m->columns;
    if (by_rows)
        lines = m->rows;

    /* Starts of compressed lines say how many entries there are. */
    size_t starts = (size_t)lines + 1;
    if (triplets)
        starts = (size_t)count;

    int *p = read_values(in, group, "p", H5T_NATIVE_INT, sizeof *p, starts);
    if (in->status == YK_OK && !triplets) {
        count = p[lines];
        bool rising = p[0] == 0;
        for (int i = 0; i < lines && rising; i++)
            rising = p[i] <= p[i + 1];
        if (!rising)
            refuse(in, "the starts of '%s' do not rise from 0", group);
    }

    /* Indices and values, as many. */
    int *at = read_values(in, group, "i", H5T_NATIVE_INT, sizeof *at, (size_t)count);
    double *x = read_values(in, group, "x", H5T_NATIVE_DOUBLE, sizeof *x, (size_t)count);
    if (in->status == YK_OK) {
        m->entry = yk_allocate(in->context, (size_t)count + 1, sizeof *m->entry);
        if (!m->entry)
            in->status = YK_ERROR_MEMORY;
    }

    /* Row, column and value of each. */
    int line = 0;
    for (int k = 0; k < count && in->status == YK_OK; k++) {
        /* Which compressed line the entry is in. */
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

/* The group of the problem, as it is. */
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

    /* The kind of problem is the name of its group. */
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

    /* Matrices; those of bilateral rows may be absent. */
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

/* From the process that reads to the caller ---------------------------------------------------- */

/* All lists of a problem with their lengths, which follow from the sizes. */
enum { LISTS = 8 };

typedef struct list {
    const void *values;
    size_t count, size;
} list;

static void list_all(const fclib_file *in, list lists[LISTS])
{
    const yk_global_problem *p = &in->data;

    /* Local problems have neither bodies nor their forces, and few have rolling friction. */
    size_t contacts = (size_t)p->contact_count;
    size_t rows = (size_t)(in->global ? p->h.columns : p->m.rows);
    size_t bodies = in->global ? (size_t)p->m.rows : 0;
    size_t rolling = p->dim == 5 ? contacts : 0;

    const list all[LISTS] = {
        {p->m.entry, p->m.count, sizeof *p->m.entry},
        {p->h.entry, p->h.count, sizeof *p->h.entry},
        {p->g.entry, p->g.count, sizeof *p->g.entry},
        {p->f, bodies, sizeof *p->f},
        {p->w, rows, sizeof *p->w},
        {p->b, (size_t)p->g.columns, sizeof *p->b},
        {p->mu, contacts, sizeof *p->mu},
        {p->mu_roll, rolling, sizeof *p->mu_roll},
    };

    memcpy(lists, all, sizeof all);
}

/* Reads the file and sends the sizes, then the lists. */
static yk_status send_problem(void *user, int stream)
{
    fclib_file *in = user;
    yk_hdf5_session session;
    yk_hdf5_enter(&session);

    /* In a process of its own: a damaged file may crash the library. */
    in->file = H5Fopen(in->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (in->file < 0) {
        refuse(in, "a damaged or truncated HDF5 file (%s)", session.reason);
    } else {
        read_problem(in);
        H5Fclose(in->file);
    }

    in->status = yk_hdf5_judge(in->context, &session, in->path, in->status);
    yk_hdf5_leave(&session);
    if (in->status != YK_OK)
        return in->status;

    /* The pointers among the sizes mean nothing to the caller. */
    list lists[LISTS];
    list_all(in, lists);
    FILE *out = fdopen(dup(stream), "wb");
    bool sent = out && fwrite(&in->global, sizeof in->global, 1, out) == 1 &&
                fwrite(&in->data, sizeof in->data, 1, out) == 1;
    for (int i = 0; i < LISTS && sent; i++) {
        if (lists[i].count == 0)
            continue;

        sent = fwrite(lists[i].values, lists[i].size, lists[i].count, out) == lists[i].count;
    }

    /* What was only buffered may fail here. */
    if (out && fclose(out) != 0)
        sent = false;
    if (!sent)
        return yk_fail(in->context, YK_ERROR_EXTERNAL, "'%s' cannot be sent on", in->path);
    return YK_OK;
}

static yk_status receive_problem(void *user, int stream)
{
    fclib_file *in = user;
    FILE *from = fdopen(dup(stream), "rb");
    if (!from)
        return yk_fail(in->context, YK_ERROR_EXTERNAL, "'%s' cannot be received", in->path);

    /* Sizes, without the memory of the other process. A sender that ends early says why itself. */
    yk_global_problem sizes;
    bool there = fread(&in->global, sizeof in->global, 1, from) == 1 &&
                 fread(&sizes, sizeof sizes, 1, from) == 1;
    if (there) {
        /* The sizes say how much memory the lists need. */
        in->data = (yk_global_problem){
            .dim = sizes.dim,
            .contact_count = sizes.contact_count,
            .m = {sizes.m.rows, sizes.m.columns, sizes.m.count, NULL},
            .h = {sizes.h.rows, sizes.h.columns, sizes.h.count, NULL},
            .g = {sizes.g.rows, sizes.g.columns, sizes.g.count, NULL},
        };

        list lists[LISTS];
        void *values[LISTS] = {NULL};
        list_all(in, lists);
        for (int i = 0; i < LISTS && in->status == YK_OK; i++) {
            values[i] = yk_allocate(in->context, lists[i].count + 1, lists[i].size);
            if (!values[i])
                in->status = YK_ERROR_MEMORY;
            else if (fread(values[i], lists[i].size, lists[i].count, from) != lists[i].count)
                break;
        }

        /* In the order of list_all. */
        in->data.m.entry = values[0];
        in->data.h.entry = values[1];
        in->data.g.entry = values[2];
        in->data.f = values[3];
        in->data.w = values[4];
        in->data.b = values[5];
        in->data.mu = values[6];
        in->data.mu_roll = values[7];

        /* Where there is no rolling friction there is no list of it, not even an empty one. */
        if (in->data.dim != 5) {
            yk_free(in->context, in->data.mu_roll);
            in->data.mu_roll = NULL;
        }
    }

    fclose(from);
    return in->status;
}

/* The problem ---------------------------------------------------------------------------------- */

/* (W V; V^T R) and (q s). */
static void make_local(fclib_file *in, yk_contact_problem *problem)
{
    /* Sizes that do not fit each other have no problem. */
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

        /* V couples both kinds of rows: it stands beside W and, transposed, below. */
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
        memcpy(q, p->w, (size_t)rows * sizeof *q);
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

    /* libhdf5 reads in a process of its own, which a damaged file may take down. */
    fclib_file in = {.context = context, .path = path, .status = YK_OK};
    in.status = yk_hdf5_read_apart(context, path, (double)found.st_size, send_problem,
                                   receive_problem, &in);
    if (in.status == YK_OK && (in.data.dim < 2 || in.data.dim > 5))
        refuse(&in, "contacts of dimension %d", in.data.dim);

    /* Indices and values as they came, checked. */
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

    /* What every solver takes for granted is checked, wherever a problem comes from. */
    if (in.status == YK_OK && yk_contact_problem_check(context, problem) != YK_OK)
        refuse(&in, "%s", yk_last_message(context));

    yk_global_destroy(context, &in.data);
    if (in.status != YK_OK)
        yk_contact_problem_destroy(context, problem);
    return in.status;
}

/* Writing -------------------------------------------------------------------------------------- */

/* W in compressed rows: row after row through the blocks of its contact. */
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

                    /* Softness is more mobility of a row; the format has nothing else for it. */
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

static bool write_local(hid_t file, const yk_contact_problem *problem, const int *start,
                        const int *columns, const double *values)
{
    /* The layout of a local problem, with W in compressed rows, which is what nz = -2 says. */
    int rows = problem->row_count, compressed_rows = -2;
    int count = start[rows];
    int dim = problem->w.first[1];
    hid_t local = H5Gcreate2(file, "fclib_local", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t matrix = H5Gcreate2(file, "fclib_local/W", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t vectors = H5Gcreate2(file, "fclib_local/vectors", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool done = local >= 0 && matrix >= 0 && vectors >= 0;

    /* All lists of the layout, sizes as lists of one number. */
    const struct {
        hid_t group;
        const char *name;
        hid_t type;
        int count;
        const void *values;
    } lists[] = {
        {local, "spacedim", H5T_NATIVE_INT, 1, &dim},
        {matrix, "m", H5T_NATIVE_INT, 1, &rows},
        {matrix, "n", H5T_NATIVE_INT, 1, &rows},
        {matrix, "nzmax", H5T_NATIVE_INT, 1, &count},
        {matrix, "nz", H5T_NATIVE_INT, 1, &compressed_rows},
        {matrix, "p", H5T_NATIVE_INT, rows + 1, start},
        {matrix, "i", H5T_NATIVE_INT, count, columns},
        {matrix, "x", H5T_NATIVE_DOUBLE, count, values},
        {vectors, "q", H5T_NATIVE_DOUBLE, rows, problem->q},
        {vectors, "mu", H5T_NATIVE_DOUBLE, problem->contact_count, problem->mu},
    };

    for (size_t i = 0; done && i < sizeof lists / sizeof *lists; i++) {
        hsize_t size = (hsize_t)lists[i].count;
        hid_t space = H5Screate_simple(1, &size, NULL);
        hid_t dataset = H5Dcreate2(lists[i].group, lists[i].name, lists[i].type, space, H5P_DEFAULT,
                                   H5P_DEFAULT, H5P_DEFAULT);
        done = dataset >= 0 && H5Dwrite(dataset, lists[i].type, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                                        lists[i].values) >= 0;
        if (dataset >= 0 && H5Dclose(dataset) < 0)
            done = false;
        H5Sclose(space);
    }

    /* From the inside out. */
    const hid_t groups[] = {vectors, matrix, local};
    for (size_t i = 0; i < 3; i++)
        if (groups[i] >= 0)
            H5Gclose(groups[i]);
    return done;
}

yk_status yk_fclib_write(yk_context *context, const char *path, const yk_contact_problem *problem)
{
    yk_status status = yk_contact_check_storable(context, problem);
    if (status != YK_OK)
        return status;

    /* The format has rows of single numbers, contacts have blocks: as many entries as all blocks
     * have, zeros too. */
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
        yk_hdf5_session session;
        yk_hdf5_enter(&session);
        hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);

        bool done = file >= 0 && write_local(file, problem, start, columns, values);

        /* What the library has kept back is written now, and may fail now. */
        if (file >= 0 && H5Fclose(file) < 0)
            done = false;
        if (!done)
            status = yk_fail(context, YK_ERROR_FILE, "'%s' cannot be written (%s)", path,
                             session.reason);
        yk_hdf5_leave(&session);
    }

    yk_free(context, start);
    yk_free(context, columns);
    yk_free(context, values);
    return status;
}
