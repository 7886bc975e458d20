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

/* A block of W as the solvers need it: one that is stored, or an empty one (-1) on the diagonal or
 * opposite a stored one, which the file may leave out. */
typedef struct listed_block {
    int row, column;
    int stored;
} listed_block;

static int compare_blocks(const void *a, const void *b)
{
    const listed_block *x = a;
    const listed_block *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return (x->stored < y->stored) - (x->stored > y->stored); /* stored ones first */
}

static void problem_from_blocks(yk_reader *in, const yk_stored_matrix *m, int dim,
                                yk_contact_problem *problem)
{
    size_t rows = (size_t)m->block_rows;
    for (int i = 0; i < m->block_rows; i++) {
        if (yk_stored_block(m->end, i) != dim)
            yk_read_refuse(in, "the blocks of W are not those of the contacts");
    }

    listed_block *blocks = yk_read_reserve(in, 2 * (size_t)m->filled + rows, sizeof *blocks);
    int *start = yk_read_reserve(in, rows + 1, sizeof *start);
    int *columns = yk_read_reserve(in, 2 * (size_t)m->filled + rows, sizeof *columns);
    int *dims = yk_read_reserve(in, rows, sizeof *dims);
    int count = 0;

    /* All blocks in rising order, with the diagonal and symmetric: what the solvers rely on. */
    if (in->status == YK_OK) {
        int listed = 0;
        for (int i = 0; i < m->block_rows; i++) {
            blocks[listed++] = (listed_block){i, i, -1};
            for (int k = m->start[i]; k < m->start[i + 1]; k++) {
                blocks[listed++] = (listed_block){i, m->column[k], k};
                blocks[listed++] = (listed_block){m->column[k], i, -1};
            }
        }

        qsort(blocks, (size_t)listed, sizeof *blocks, compare_blocks);

        /* Each once: equal ones follow each other, the stored one first. */
        for (int k = 0; k < listed; k++) {
            const listed_block *last = count > 0 ? &blocks[count - 1] : NULL;
            bool same = last && last->row == blocks[k].row && last->column == blocks[k].column;
            if (!same) {
                blocks[count++] = blocks[k];
            } else if (blocks[k].stored >= 0) {
                yk_read_refuse(in, "a block of W is given twice");
            }
        }
    }

    /* The pattern, then the numbers of the blocks that are stored. */
    if (in->status == YK_OK) {
        for (int k = 0; k < count; k++) {
            columns[k] = blocks[k].column;
            start[blocks[k].row + 1] = k + 1;
        }
        for (size_t i = 0; i < rows; i++)
            dims[i] = dim;
        in->status = yk_contact_problem_create(in->context, m->block_rows, m->block_rows, dims,
                                               start, columns, problem);
    }

    for (int k = 0; in->status == YK_OK && k < count; k++) {
        if (blocks[k].stored < 0)
            continue;
        const double *from = m->value + m->offset[blocks[k].stored];
        size_t bytes = (size_t)dim * (size_t)dim * sizeof *from;
        memcpy(problem->w.value + problem->w.offset[k], from, bytes);
    }

    yk_release(in->context, dims);
    yk_release(in->context, columns);
    yk_release(in->context, start);
    yk_release(in->context, blocks);
}

yk_status yk_contact_parse(yk_context *context, const char *name, const char *text, size_t length,
                           yk_contact_problem *problem)
{
    yk_reader in = yk_reader_of(context, name, text, length);
    yk_stored_matrix m = {0};

    *problem = (yk_contact_problem){0};

    int dim = yk_read_integer(&in, 2, 3, "the dimension");
    int contacts = yk_read_count(&in, 0, 2, "the number of contacts");
    int rows = dim * contacts;
    yk_read_matrix(&in, &m);
    if (m.size0 != rows || m.size1 != rows)
        yk_read_refuse(&in, "the size of W is not dimension times contacts");

    double *q = yk_read_reserve(&in, (size_t)rows, sizeof *q);
    double *mu = yk_read_reserve(&in, (size_t)contacts, sizeof *mu);
    yk_read_vector(&in, q, rows, "a value of q");
    yk_read_vector(&in, mu, contacts, "a value of mu");

    /* Some have a flag. Global and plasticity problems begin like this, and go on. */
    if (yk_read_more(&in))
        yk_read_number(&in, "the flag");
    if (yk_read_more(&in))
        yk_read_refuse(
            &in, "numbers follow after mu: this is not a contact problem with W, q and mu alone");

    /* The problem in blocks, however the matrix was stored. */
    if (m.storage == 2)
        yk_stored_to_blocks(&in, &m, dim);
    if (in.status == YK_OK && m.storage == 0) {
        in.status =
            yk_contact_problem_from_dense(context, dim, contacts, 0, m.dense, q, mu, problem);
    } else if (in.status == YK_OK) {
        problem_from_blocks(&in, &m, dim, problem);
    }
    if (in.status == YK_OK) {
        memcpy(problem->q, q, (size_t)rows * sizeof *q);
        memcpy(problem->mu, mu, (size_t)contacts * sizeof *mu);
        for (int i = 0; i < contacts; i++) {
            if (mu[i] < 0)
                yk_read_refuse(&in, "a friction coefficient is negative");
        }
    }

    yk_release(context, mu);
    yk_release(context, q);
    yk_stored_destroy(context, &m);
    if (in.status != YK_OK)
        yk_contact_problem_destroy(context, problem);
    return in.status;
}

/* LCP and MLCP --------------------------------------------------------------------------------- */

static void mlcp_from_stored(yk_reader *in, const yk_stored_matrix *m, yk_mlcp *problem)
{
    size_t n = (size_t)problem->n;
    if (in->status != YK_OK)
        return;
    if (m->storage == 0) {
        memcpy(problem->m, m->dense, n * n * sizeof *problem->m);
        return;
    }
    if (m->storage == 2) {
        for (int k = 0; k < m->entries; k++) {
            const yk_stored_entry *e = &m->entry[k];
            problem->m[(size_t)e->row * n + (size_t)e->column] += e->value;
        }
        return;
    }

    /* Blocks, row by row of each. */
    for (int i = 0; i < m->block_rows; i++) {
        int rows = yk_stored_block(m->end, i);
        size_t row = (size_t)(m->end[i] - rows);
        for (int k = m->start[i]; k < m->start[i + 1]; k++) {
            int j = m->column[k];
            int columns = yk_stored_block(m->end, j);
            size_t column = (size_t)(m->end[j] - columns);
            const double *from = m->value + m->offset[k];
            for (int r = 0; r < rows; r++) {
                double *to = problem->m + (row + (size_t)r) * n + column;
                memcpy(to, from, (size_t)columns * sizeof *from);
                from += columns;
            }
        }
    }
}

/* The rows of each block are equations (kind 0) or complementarities (kind 1). */
static void read_row_kinds(yk_reader *in, int n, int m, yk_mlcp *problem)
{
    int size = n + m;
    int *end = yk_read_reserve(in, (size_t)size, sizeof *end);

    /* Where each block row ends. */
    int count = 0;
    int last = 0;
    yk_read_integer(in, 0, 0, "the begin of the first block row");
    while (in->status == YK_OK && (count == 0 || last < size)) {
        last = yk_read_integer(in, last + 1, size, "the end of a block row");
        if (in->status == YK_OK)
            end[count++] = last;
    }

    int equations = 0;
    for (int b = 0; b < count && in->status == YK_OK; b++) {
        int kind = yk_read_integer(in, 0, 1, "the kind of a block row");
        int rows = yk_stored_block(end, b);
        for (int r = end[b] - rows; r < end[b]; r++)
            problem->lower[r] = kind == 0 ? -INFINITY : 0;
        if (kind == 0)
            equations += rows;
    }

    if (equations != n)
        yk_read_refuse(in, "the block rows do not hold n equations");
    yk_release(in->context, end);
}

static void read_mlcp(yk_reader *in, yk_stored_matrix *stored, yk_mlcp *problem)
{
    int blocks = yk_read_integer(in, 0, 1, "the flag of the block form");
    int separate = yk_read_integer(in, 0, 1, "the flag of the separate form");
    int n = yk_read_count(in, 0, 2, "the number of equations");
    int m = yk_read_count(in, 0, 2, "the number of complementarities");

    if (!blocks && !separate)
        yk_read_refuse(in, "neither form of the problem is given");

    /* The matrix is dense here, however the file stores it. */
    size_t size = (size_t)n + (size_t)m;
    if (size * size > (size_t)(in->end - in->at))
        yk_read_refuse(in, "the matrix is larger than the rest of the file can hold");
    if (in->status != YK_OK)
        return;

    in->status = yk_mlcp_create(in->context, n + m, problem);
    if (in->status != YK_OK)
        return;

    if (blocks) {
        read_row_kinds(in, n, m, problem);
        yk_read_matrix(in, stored);
        if (stored->size0 != n + m || stored->size1 != n + m)
            yk_read_refuse(in, "M is not (n+m) x (n+m)");
        mlcp_from_stored(in, stored, problem);
        yk_read_vector(in, problem->q, n + m, "a value of q");
        return;
    }

    /* A (n x n), B (m x m), C (n x m), D (m x n), a, b: plain rows. */
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

static void read_lcp(yk_reader *in, yk_stored_matrix *stored, yk_mlcp *problem)
{
    int n = yk_read_count(in, 0, 2, "the size");
    yk_read_matrix(in, stored);
    if (stored->size0 != n || stored->size1 != n)
        yk_read_refuse(in, "M is not n x n");
    if (in->status != YK_OK)
        return;

    in->status = yk_mlcp_create(in->context, n, problem);
    if (in->status != YK_OK)
        return;

    mlcp_from_stored(in, stored, problem);
    yk_read_vector(in, problem->q, n, "a value of q");

    /* Some are followed by their solution, which is not negative; a relay problem by its lower
     * bounds, which are. */
    while (yk_read_more(in)) {
        if (yk_read_number(in, "a value after q") < 0)
            yk_read_refuse(
                in, "a negative number follows after q: this is a relay problem, or damaged");
    }
}

/* What the file holds, by its first numbers: a contact problem has W of dim * nc rows, an LCP M of
 * n rows, an MLCP two flags. */
static yk_problem_kind kind_of(yk_reader *in)
{
    double head[5] = {0};
    for (int i = 0; i < 5; i++)
        head[i] = yk_read_number(in, "one of the first five numbers");

    /* dim nc <storage rows columns> */
    bool flat_or_solid = head[0] == 2 || head[0] == 3;
    bool storage = head[2] >= 0 && head[2] <= 2;
    bool square = head[3] == head[0] * head[1] && head[4] == head[3];
    if (flat_or_solid && storage && square)
        return YK_PROBLEM_CONTACT;

    /* n <storage n n>, followed by the size again or by the number of blocks */
    bool of_size = head[2] == head[0] && head[3] == head[0];
    bool dense = head[1] == 0 && head[4] == head[0];
    bool blocks = head[1] == 1 && head[4] >= 1;
    if (of_size && (dense || blocks))
        return YK_PROBLEM_LCP;

    bool flags = (head[0] == 0 || head[0] == 1) && (head[1] == 0 || head[1] == 1);
    if (!flags)
        yk_read_refuse(in, "neither a contact problem nor an LCP nor an MLCP begins like this");
    return YK_PROBLEM_MLCP;
}

yk_status yk_mlcp_parse(yk_context *context, const char *name, const char *text, size_t length,
                        yk_mlcp *problem)
{
    yk_reader in = yk_reader_of(context, name, text, length);
    yk_stored_matrix stored = {0};

    *problem = (yk_mlcp){0};

    yk_problem_kind kind = kind_of(&in);
    in.at = text;
    if (kind == YK_PROBLEM_CONTACT) {
        yk_read_refuse(&in, "this is a contact problem, not an LCP or MLCP");
    } else if (kind == YK_PROBLEM_MLCP) {
        read_mlcp(&in, &stored, problem);
    } else {
        read_lcp(&in, &stored, problem);
    }

    yk_stored_destroy(context, &stored);
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

    if (status == YK_OK) {
        size_t size = (size_t)about.st_size;
        *text = yk_allocate(context, size + 1, 1);
        *length = size;
        if (!*text) {
            status = YK_ERROR_MEMORY;
        } else if (fread(*text, 1, size, file) != size) {
            status = yk_fail(context, YK_ERROR_FILE, "%s: cannot be read", path);
        }
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

    yk_reader in = yk_reader_of(context, path, text, length);
    *kind = kind_of(&in);
    yk_release(context, text);
    return in.status;
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
