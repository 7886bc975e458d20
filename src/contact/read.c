/* The problems of the collections: which numbers follow each other is said in read.h, matrices in
 * read_matrix.h. */
#include "contact/read.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "contact/read_matrix.h"

/* Contact problems ----------------------------------------------------------------------------- */

/* A place of W: a stored block, or none (-1) where the diagonal or a block's mirror image was
 * left out of the file. */
typedef struct place {
    int row, column;
    int block;
} place;

static int compare_places(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return (x->block < y->block) - (x->block > y->block); /* stored ones first */
}

/* All places in rising order, each once, with the diagonal and symmetric: what the solvers rely
 * on. Returns their number. */
static int list_places(yk_reader *in, const yk_stored_matrix *m, place *places)
{
    int listed = 0;
    for (int i = 0; i < m->block_rows; i++) {
        places[listed++] = (place){i, i, -1};
        for (int k = m->start[i]; k < m->start[i + 1]; k++) {
            places[listed++] = (place){i, m->column[k], k};
            places[listed++] = (place){m->column[k], i, -1};
        }
    }

    qsort(places, (size_t)listed, sizeof *places, compare_places);

    /* Equal ones follow each other, the stored one first. */
    int count = 0;
    for (int k = 0; k < listed; k++) {
        const place *last = count > 0 ? &places[count - 1] : NULL;
        if (!last || last->row != places[k].row || last->column != places[k].column) {
            places[count++] = places[k];
        } else if (places[k].block >= 0) {
            yk_read_refuse(in, "a block of W is given twice");
        }
    }
    return count;
}

static void problem_from_blocks(yk_reader *in, const yk_stored_matrix *m, int dim,
                                yk_contact_problem *problem)
{
    size_t rows = (size_t)m->block_rows;
    for (int i = 0; i < m->block_rows; i++) {
        if (yk_stored_block(m->end, i) != dim)
            yk_read_refuse(in, "the blocks of W are not those of the contacts");
    }

    place *places = yk_read_reserve(in, 2 * (size_t)m->filled + rows, sizeof *places);
    int count = in->status == YK_OK ? list_places(in, m, places) : 0;

    /* The pattern, then the blocks that are stored. */
    int *start = yk_read_reserve(in, rows + 1, sizeof *start);
    int *columns = yk_read_reserve(in, (size_t)count, sizeof *columns);
    int *dims = yk_read_reserve(in, rows, sizeof *dims);
    if (in->status == YK_OK) {
        for (int k = 0; k < count; k++) {
            columns[k] = places[k].column;
            start[places[k].row + 1] = k + 1;
        }
        for (size_t i = 0; i < rows; i++)
            dims[i] = dim;
        in->status = yk_contact_problem_create(in->context, m->block_rows, m->block_rows, dims,
                                               start, columns, problem);
    }

    size_t bytes = (size_t)dim * (size_t)dim * sizeof(double);
    for (int k = 0; in->status == YK_OK && k < count; k++) {
        if (places[k].block < 0)
            continue;
        memcpy(problem->w.value + problem->w.offset[k], m->value + m->offset[places[k].block],
               bytes);
    }

    yk_release(in->context, dims);
    yk_release(in->context, columns);
    yk_release(in->context, start);
    yk_release(in->context, places);
}

static void read_contact_problem(yk_reader *in, yk_stored_matrix *m, yk_contact_problem *problem)
{
    int dim = yk_read_integer(in, 2, 3, "the dimension");
    int contacts = yk_read_count(in, 0, 2, "the number of contacts");
    if (in->status == YK_OK)
        yk_read_matrix(in, m);
    if (in->status == YK_OK && (m->size0 != dim * contacts || m->size1 != dim * contacts))
        yk_read_refuse(in, "the size of W is not dimension times contacts");

    double *q = yk_read_reserve(in, (size_t)(dim * contacts), sizeof *q);
    double *mu = yk_read_reserve(in, (size_t)contacts, sizeof *mu);
    if (in->status == YK_OK)
        yk_read_vector(in, q, dim * contacts, "a value of q");
    if (in->status == YK_OK)
        yk_read_vector(in, mu, contacts, "a value of mu");

    /* Some have a flag. Global and plasticity problems begin like this, and go on. */
    if (yk_read_more(in))
        yk_read_number(in, "the flag");
    if (yk_read_more(in))
        yk_read_refuse(
            in, "numbers follow after mu: this is not a contact problem with W, q and mu alone");

    if (in->status == YK_OK && m->storage == 2)
        yk_stored_to_blocks(in, m, dim);
    if (in->status == YK_OK && m->storage == 0) {
        in->status =
            yk_contact_problem_from_dense(in->context, dim, contacts, 0, m->dense, q, mu, problem);
    } else if (in->status == YK_OK) {
        problem_from_blocks(in, m, dim, problem);
    }

    if (in->status == YK_OK) {
        memcpy(problem->q, q, (size_t)problem->row_count * sizeof *q);
        memcpy(problem->mu, mu, (size_t)contacts * sizeof *mu);
        for (int i = 0; i < contacts; i++) {
            if (mu[i] < 0)
                yk_read_refuse(in, "a friction coefficient is negative");
        }
    }

    yk_release(in->context, mu);
    yk_release(in->context, q);
}

yk_status yk_contact_parse(yk_context *context, const char *name, const char *text, size_t length,
                           yk_contact_problem *problem)
{
    yk_reader in = {
        .context = context, .name = name, .at = text, .begin = text, .end = text + length};
    yk_stored_matrix m = {0};
    *problem = (yk_contact_problem){0};
    read_contact_problem(&in, &m, problem);
    yk_stored_destroy(context, &m);
    if (in.status != YK_OK)
        yk_contact_problem_destroy(context, problem);
    return in.status;
}

/* LCP and MLCP --------------------------------------------------------------------------------- */

static void mlcp_from_stored(yk_reader *in, const yk_stored_matrix *m, yk_mlcp *problem)
{
    size_t n = (size_t)problem->n;
    if (m->storage == 0) {
        memcpy(problem->m, m->dense, n * n * sizeof *problem->m);
        return;
    }

    for (int k = 0; k < m->entries; k++)
        problem->m[(size_t)m->entry[k].row * n + (size_t)m->entry[k].column] += m->entry[k].value;
    if (m->storage == 2)
        return;

    /* Blocks, row by row of each. */
    for (int i = 0; i < m->block_rows && in->status == YK_OK; i++) {
        int rows = yk_stored_block(m->end, i);
        size_t row = (size_t)(m->end[i] - rows);
        for (int k = m->start[i]; k < m->start[i + 1]; k++) {
            int j = m->column[k];
            int columns = yk_stored_block(m->end, j);
            size_t column = (size_t)(m->end[j] - columns);
            const double *from = m->value + m->offset[k];
            for (int r = 0; r < rows; r++, from += columns)
                memcpy(problem->m + (row + (size_t)r) * n + column, from,
                       (size_t)columns * sizeof *from);
        }
    }
}

/* The rows of each block are equations (kind 0) or complementarities (kind 1). */
static void read_row_kinds(yk_reader *in, int n, int m, yk_mlcp *problem)
{
    int size = n + m, count = 0;
    int *end = yk_read_reserve(in, (size_t)size, sizeof *end);
    if (in->status != YK_OK)
        return;
    yk_read_integer(in, 0, 0, "the begin of the first block row");
    while (in->status == YK_OK && (count == 0 || end[count - 1] < size)) {
        int value =
            yk_read_integer(in, count > 0 ? end[count - 1] + 1 : 1, size, "the end of a block row");
        if (in->status == YK_OK)
            end[count++] = value;
    }

    /* The kind of each. */
    int equations = 0;
    for (int b = 0; b < count && in->status == YK_OK; b++) {
        int kind = yk_read_integer(in, 0, 1, "the kind of a block row");
        int size_of_block = yk_stored_block(end, b);
        for (int r = end[b] - size_of_block; r < end[b]; r++)
            problem->lower[r] = kind == 0 ? -INFINITY : 0;
        if (kind == 0)
            equations += size_of_block;
    }

    if (in->status == YK_OK && equations != n)
        yk_read_refuse(in, "the block rows do not hold n equations");
    yk_release(in->context, end);
}

/* A (n x n), B (m x m), C (n x m), D (m x n), a, b: plain rows. */
static void read_separate_parts(yk_reader *in, int n, int m, yk_mlcp *problem)
{
    size_t size = (size_t)(n + m);
    const struct {
        int row, column, rows, columns;
    } parts[] = {{0, 0, n, n}, {n, n, m, m}, {0, n, n, m}, {n, 0, m, n}};
    for (size_t p = 0; p < 4; p++) {
        double *at = problem->m + (size_t)parts[p].row * size + (size_t)parts[p].column;
        for (int r = 0; r < parts[p].rows; r++, at += size)
            yk_read_vector(in, at, parts[p].columns, "a matrix value");
    }

    yk_read_vector(in, problem->q, n + m, "a value of a or b");
    for (int r = 0; r < n; r++)
        problem->lower[r] = -INFINITY;
}

static void read_mlcp(yk_reader *in, yk_stored_matrix *stored, yk_mlcp *problem)
{
    int blocks = yk_read_integer(in, 0, 1, "the flag of the block form");
    int parts = yk_read_integer(in, 0, 1, "the flag of the separate form");
    int n = yk_read_count(in, 0, 2, "the number of equations");
    int m = yk_read_count(in, 0, 2, "the number of complementarities");
    if (in->status == YK_OK && !blocks && !parts)
        yk_read_refuse(in, "neither form of the problem is given");

    /* The matrix is dense here, however the file stores it. */
    size_t size = (size_t)n + (size_t)m;
    if (in->status == YK_OK && size * size > (size_t)(in->end - in->at))
        yk_read_refuse(in, "the matrix is larger than the rest of the file can hold");
    if (in->status == YK_OK)
        in->status = yk_mlcp_create(in->context, n + m, problem);
    if (in->status != YK_OK)
        return;
    if (!blocks) {
        read_separate_parts(in, n, m, problem);
        return;
    }

    read_row_kinds(in, n, m, problem);
    if (in->status == YK_OK)
        yk_read_matrix(in, stored);
    if (in->status == YK_OK && (stored->size0 != n + m || stored->size1 != n + m))
        yk_read_refuse(in, "M is not (n+m) x (n+m)");
    if (in->status == YK_OK)
        mlcp_from_stored(in, stored, problem);
    yk_read_vector(in, problem->q, n + m, "a value of q");
}

/* The first numbers tell: a contact problem has W of dim * nc rows, an LCP M of n rows, an MLCP
 * two flags. */
static yk_status kind_of(yk_reader *in, yk_problem_kind *kind)
{
    double head[5] = {0};
    for (int i = 0; i < 5 && in->status == YK_OK; i++)
        head[i] = yk_read_number(in, "one of the first five numbers");
    if (in->status != YK_OK)
        return in->status;

    /* Sizes that fit each other. */
    bool square = head[3] == head[0] * head[1] && head[4] == head[3];
    bool contact = (head[0] == 2 || head[0] == 3) && head[2] >= 0 && head[2] <= 2 && square;
    bool of_size = head[2] == head[0] && head[3] == head[0];
    bool lcp = of_size && ((head[1] == 0 && head[4] == head[0]) || (head[1] == 1 && head[4] >= 1));
    bool mlcp = (head[0] == 0 || head[0] == 1) && (head[1] == 0 || head[1] == 1);
    if (contact) {
        *kind = YK_PROBLEM_CONTACT;
    } else if (lcp) {
        *kind = YK_PROBLEM_LCP;
    } else if (mlcp) {
        *kind = YK_PROBLEM_MLCP;
    } else {
        yk_read_refuse(in, "neither a contact problem nor an LCP nor an MLCP begins like this");
    }
    return in->status;
}

yk_status yk_mlcp_parse(yk_context *context, const char *name, const char *text, size_t length,
                        yk_mlcp *problem)
{
    yk_reader in = {
        .context = context, .name = name, .at = text, .begin = text, .end = text + length};
    yk_stored_matrix m = {0};
    yk_problem_kind kind = YK_PROBLEM_LCP;
    *problem = (yk_mlcp){0};
    kind_of(&in, &kind);
    in.at = text;
    if (in.status == YK_OK && kind == YK_PROBLEM_CONTACT)
        yk_read_refuse(&in, "this is a contact problem, not an LCP or MLCP");
    if (in.status == YK_OK && kind == YK_PROBLEM_MLCP)
        read_mlcp(&in, &m, problem);
    if (in.status == YK_OK && kind == YK_PROBLEM_LCP) {
        int n = yk_read_count(&in, 0, 2, "the size");
        if (in.status == YK_OK)
            yk_read_matrix(&in, &m);
        if (in.status == YK_OK && (m.size0 != n || m.size1 != n))
            yk_read_refuse(&in, "M is not n x n");
        if (in.status == YK_OK)
            in.status = yk_mlcp_create(context, n, problem);
        if (in.status == YK_OK)
            mlcp_from_stored(&in, &m, problem);
        if (in.status == YK_OK)
            yk_read_vector(&in, problem->q, n, "a value of q");

        /* Some are followed by their solution, which is not negative; a relay problem by its
         * lower bounds, which are.
         * */
        while (yk_read_more(&in)) {
            if (yk_read_number(&in, "a value after q") < 0)
                yk_read_refuse(
                    &in, "a negative number follows after q: this is a relay problem, or damaged");
        }
    }
    yk_stored_destroy(context, &m);
    if (in.status != YK_OK)
        yk_mlcp_destroy(context, problem);
    return in.status;
}

/* Files ---------------------------------------------------------------------------------------- */

static yk_status load_text(yk_context *context, const char *path, char **text, size_t *length)
{
    *text = NULL;
    *length = 0;
    FILE *file = fopen(path, "rb");
    if (!file)
        return yk_fail(context, YK_ERROR_FILE, "%s: %s", path, strerror(errno));

    yk_status status = YK_OK;
    struct stat about;
    if (fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode))
        status = yk_fail(context, YK_ERROR_FILE, "%s: not a regular file", path);
    size_t size = status == YK_OK ? (size_t)about.st_size : 0;
    if (status == YK_OK) {
        *text = yk_allocate(context, size + 1, 1);
        if (!*text)
            status = YK_ERROR_MEMORY;
        else if (fread(*text, 1, size, file) != size)
            status = yk_fail(context, YK_ERROR_FILE, "%s: cannot be read", path);
        else
            *length = size;
    }

    fclose(file);
    if (status != YK_OK) {
        yk_release(context, *text);
        *text = NULL;
    }
    return status;
}

yk_status yk_problem_file_kind(yk_context *context, const char *path, yk_problem_kind *kind)
{
    char *text;
    size_t length;
    yk_status status = load_text(context, path, &text, &length);
    if (status != YK_OK)
        return status;
    yk_reader in = {
        .context = context, .name = path, .at = text, .begin = text, .end = text + length};
    status = kind_of(&in, kind);
    yk_release(context, text);
    return status;
}

yk_status yk_contact_read(yk_context *context, const char *path, yk_contact_problem *problem)
{
    char *text;
    size_t length;
    *problem = (yk_contact_problem){0};
    yk_status status = load_text(context, path, &text, &length);
    if (status != YK_OK)
        return status;
    status = yk_contact_parse(context, path, text, length, problem);
    yk_release(context, text);
    return status;
}

yk_status yk_mlcp_read(yk_context *context, const char *path, yk_mlcp *problem)
{
    char *text;
    size_t length;
    *problem = (yk_mlcp){0};
    yk_status status = load_text(context, path, &text, &length);
    if (status != YK_OK)
        return status;
    status = yk_mlcp_parse(context, path, text, length, problem);
    yk_release(context, text);
    return status;
}
