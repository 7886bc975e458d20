/* Reads problems of the collections. Files contain numbers separated by white space; read.h
 * describes their order. Matrices have the format of NumericsMatrix:
 *
 *   <matrix>   storage size0 size1, then
 *   storage 0  size0 size1, values column-major
 *   storage 1  blocks block_rows block_columns, cumulative row sizes, cumulative column sizes,
 *              filled1 filled2, index1[filled1] (row starts), index2[filled2] (block columns), then
 *              each block's number and values column-major
 *   storage 2  as printed by CSparse: lines up to one with `nnz: count`, then for each column `col
 *              j : locations a to b` and b - a + 1 lines `row : value`; or, if that line contains
 *              `triplet:`, lines `row column : value`; after a first line `3` printed columns are
 *              rows */
#include "contact/read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/input.h"
#include "base/text.h"
#include "contact/problem.h"

typedef struct reader {
    yk_context *context;
    const char *name;
    const char *at, *begin, *end; /* *end is a terminating zero */
    yk_status status;             /* first error; later reads return 0 */
} reader;

static reader reader_of(yk_context *context, const char *name, const char *text, size_t length)
{
    return (reader){
        .context = context, .name = name, .at = text, .begin = text, .end = text + length};
}

/* Stores the first error with its location; all functions below do nothing after it. */
static void refuse(reader *in, const char *what)
{
    if (in->status != YK_OK)
        return;

    /* Lines are counted only after an error. */
    int line = 1;

    for (const char *c = in->begin; c < in->at; c++)
        line += *c == '\n';
    size_t byte = (size_t)(in->at - in->begin);
    in->status =
        yk_fail(in->context, YK_ERROR_INPUT, "%s:%d: %s (byte %zu)", in->name, line, what, byte);
}

static void skip_space(reader *in)
{
    while (in->at < in->end && *in->at != '\0' && strchr(" \t\n\r", *in->at))
        in->at++;
}

/* `what` is used in messages. */
static double read_number(reader *in, const char *what)
{
    if (in->status != YK_OK)
        return 0;

    skip_space(in);

    char message[160];
    if (in->at >= in->end) {
        snprintf(message, sizeof message, "the file ends where %s was expected", what);
        refuse(in, message);
        return 0;
    }

    /* The text is terminated by a zero, so the number ends there at the latest. */
    char *after;
    double value = yk_text_number(in->at, &after);
    if (after == in->at || after > in->end || !isfinite(value)) {
        snprintf(message, sizeof message, "%s: expected a finite number", what);
        refuse(in, message);
        return 0;
    }

    in->at = after;
    return value;
}

static int read_integer(reader *in, int low, int high, const char *what)
{
    /* Integers may be written like any number. */
    double value = read_number(in, what);
    if (in->status != YK_OK)
        return low;

    if (value != floor(value) || value < low || value > high) {
        char message[200];
        yk_format(message, sizeof message, "%s is %.17g, expected a whole number from %d to %d",
                  what, value, low, high);
        refuse(in, message);
        return low;
    }

    return (int)value;
}

/* A count of items, each of which needs at least `bytes` bytes of the rest of the file. */
static int read_count(reader *in, int low, size_t bytes, const char *what)
{
    /* Reject a damaged count before memory is allocated for it. */
    size_t rest = (size_t)(in->end - in->at) / bytes + 1;
    int value = read_integer(in, low, 100000000, what);

    if (in->status == YK_OK && (size_t)value > rest) {
        char message[160];
        snprintf(message, sizeof message, "%s is %d, more than the rest of the file can hold", what,
                 value);
        refuse(in, message);
        return low;
    }

    return value;
}

static void *reserve(reader *in, size_t count, size_t size)
{
    if (in->status != YK_OK)
        return NULL;

    /* One more than needed, so that empty lists have memory too. */
    void *memory = yk_allocate(in->context, count + 1, size);
    if (!memory)
        in->status = YK_ERROR_MEMORY;
    return memory;
}

static void read_vector(reader *in, double *values, int count, const char *what)
{
    for (int i = 0; i < count && in->status == YK_OK; i++)
        values[i] = read_number(in, what);
}

/* Whether another number follows, and not the end or a comment; false after an error. */
static bool more_follows(reader *in)
{
    if (in->status != YK_OK)
        return false;

    skip_space(in);
    return in->at < in->end && *in->at != '\0' && strchr("+-.0123456789", *in->at);
}

/* Matrices ------------------------------------------------------------------------------------- */

/* Size of block row or column i, from the cumulative sizes. */
static int block_size(const int *end, int i)
{
    return end[i] - (i > 0 ? end[i - 1] : 0);
}

/* Allocates this number of entries in total. */
static void reserve_entries(reader *in, yk_entry_matrix *m, size_t count)
{
    m->entry = reserve(in, count, sizeof *m->entry);
    m->count = 0;
}

/* Values column by column, from this row and column on. */
static void read_dense_values(reader *in, yk_entry_matrix *m, int row, int column, int rows,
                              int columns)
{
    for (int c = 0; c < columns && in->status == YK_OK; c++) {
        for (int r = 0; r < rows && in->status == YK_OK; r++) {
            double value = read_number(in, "a matrix value");
            if (in->status == YK_OK)
                m->entry[m->count++] = (yk_matrix_entry){row + r, column + c, value};
        }
    }
}

/* Cumulative sizes: ascending, ending at `total`. */
static void read_ends(reader *in, int *end, int count, int total)
{
    /* Each block has at least one row. */
    int last = 0;
    for (int i = 0; i < count && in->status == YK_OK; i++) {
        last = read_integer(in, last + 1, total, "the end of a block row or column");
        end[i] = last;
    }

    if (count > 0 && last != total)
        refuse(in, "the blocks do not add up to the size of the matrix");
}

static void read_blocks(reader *in, yk_entry_matrix *m)
{
    int blocks = read_count(in, 0, 2, "the number of blocks");
    int block_rows = read_count(in, 0, 2, "the number of block rows");
    int block_columns = read_count(in, 0, 2, "the number of block columns");

    /* Ends of block rows and columns. */
    int *row_end = reserve(in, (size_t)block_rows, sizeof *row_end);
    int *column_end = reserve(in, (size_t)block_columns, sizeof *column_end);
    read_ends(in, row_end, block_rows, m->rows);
    read_ends(in, column_end, block_columns, m->columns);

    /* Row starts, which ascend to the number of blocks, and the columns of the blocks. */
    int starts = read_count(in, 0, 2, "the number of row starts");
    int filled = read_count(in, 0, 2, "the number of blocks in rows");
    if (starts != block_rows + 1 || filled != blocks)
        refuse(in, "the index of the blocks does not fit their number");

    int *start = reserve(in, (size_t)block_rows + 1, sizeof *start);
    int *column = reserve(in, (size_t)filled, sizeof *column);
    int *seen = reserve(in, (size_t)block_columns, sizeof *seen);
    int last = 0;
    for (int i = 0; i <= block_rows && in->status == YK_OK; i++) {
        last = read_integer(in, last, filled, "a row start");
        start[i] = last;
    }
    if (in->status == YK_OK && (start[0] != 0 || last != filled))
        refuse(in, "the row starts do not span all blocks");
    for (int k = 0; k < filled && in->status == YK_OK; k++)
        column[k] = read_integer(in, 0, block_columns - 1, "a block column");

    /* Each block once, and their total number of values. */
    size_t total = 0;
    for (int i = 0; i < block_rows && in->status == YK_OK; i++) {
        for (int k = start[i]; k < start[i + 1]; k++) {
            if (seen[column[k]] == i + 1)
                refuse(in, "a block is given twice");
            seen[column[k]] = i + 1;
            total += (size_t)block_size(row_end, i) * (size_t)block_size(column_end, column[k]);
        }
    }

    /* Each value needs at least one byte: reject a damaged size before memory is allocated. */
    if (total > (size_t)(in->end - in->at))
        refuse(in, "the blocks are larger than the rest of the file can hold");
    reserve_entries(in, m, total);

    /* Each block with its number before it. */
    for (int i = 0; i < block_rows && in->status == YK_OK; i++) {
        int rows = block_size(row_end, i);
        for (int k = start[i]; k < start[i + 1]; k++) {
            int columns = block_size(column_end, column[k]);
            read_integer(in, k, k, "the number of a block");
            read_dense_values(in, m, row_end[i] - rows, column_end[column[k]] - columns, rows,
                              columns);
        }
    }

    yk_free(in->context, seen);
    yk_free(in->context, column);
    yk_free(in->context, start);
    yk_free(in->context, column_end);
    yk_free(in->context, row_end);
}

/* Single entries ------------------------------------------------------------------------------- */

static void expect_word(reader *in, const char *word)
{
    size_t length = strlen(word);
    if (in->status != YK_OK)
        return;

    skip_space(in);
    if ((size_t)(in->end - in->at) >= length && memcmp(in->at, word, length) == 0) {
        in->at += length;
        return;
    }

    char message[80];
    snprintf(message, sizeof message, "expected '%s' in the sparse matrix", word);
    refuse(in, message);
}

/* One entry; its column is read if it is unknown (-1). */
static void read_entry(reader *in, yk_entry_matrix *m, int column)
{
    int row = read_integer(in, 0, m->rows - 1, "the row of an entry");
    if (column < 0)
        column = read_integer(in, 0, m->columns - 1, "the column of an entry");
    expect_word(in, ":");
    double value = read_number(in, "a matrix value");
    if (in->status == YK_OK)
        m->entry[m->count++] = (yk_matrix_entry){row, column, value};
}

static void read_entries(reader *in, yk_entry_matrix *m)
{
    /* The header is text of the library that printed it; only two words of it are used. */
    const char *mark = strstr(in->at, "nnz:");
    const char *triplet = strstr(in->at, "triplet:");
    if (!mark) {
        refuse(in, "the sparse matrix has no line with 'nnz:'");
        return;
    }

    /* Compressed rows are printed as if they were columns, after the number 3. */
    skip_space(in);
    bool by_rows = in->at < mark && *in->at == '3' && in->at[1] == '\n';
    in->at = mark + strlen("nnz:");
    if (by_rows) {
        int rows = m->rows;
        m->rows = m->columns;
        m->columns = rows;
    }

    int count = read_count(in, 0, 4, "the number of entries");
    while (in->at < in->end && *in->at != '\n')
        in->at++;
    reserve_entries(in, m, (size_t)count);

    /* Rows and columns of all entries, or column after column. */
    if (triplet && triplet < mark) {
        for (int k = 0; k < count && in->status == YK_OK; k++)
            read_entry(in, m, -1);
    } else {
        int k = 0;
        for (int j = 0; j < m->columns && in->status == YK_OK; j++) {
            expect_word(in, "col");
            read_integer(in, j, j, "the number of a column");
            expect_word(in, ":");
            expect_word(in, "locations");
            read_integer(in, k, k, "the first location of a column");
            expect_word(in, "to");

            int last = read_integer(in, k - 1, count - 1, "the last location of a column");
            for (; k <= last && in->status == YK_OK; k++)
                read_entry(in, m, j);
        }

        if (k != count)
            refuse(in, "the columns do not hold all entries");
    }

    if (in->status != YK_OK || !by_rows)
        return;

    /* Printed columns are rows. */
    int rows = m->rows;
    m->rows = m->columns;
    m->columns = rows;
    for (size_t k = 0; k < m->count; k++) {
        yk_matrix_entry e = m->entry[k];
        m->entry[k] = (yk_matrix_entry){e.column, e.row, e.value};
    }
}

static void read_matrix(reader *in, yk_entry_matrix *m)
{
    int storage =
        read_integer(in, 0, 2, "the storage of the matrix (0 dense, 1 block sparse, 2 sparse)");
    m->rows = read_integer(in, 0, 100000000, "the number of rows");
    m->columns = read_integer(in, 0, 100000000, "the number of columns");
    if (in->status != YK_OK)
        return;

    if (storage == 1) {
        read_blocks(in, m);
        return;
    }
    if (storage == 2) {
        read_entries(in, m);
        return;
    }

    /* Dense: the sizes again, then the values. */
    int rows = read_integer(in, 0, 100000000, "the number of rows");
    int columns = read_integer(in, 0, 100000000, "the number of columns");
    if (rows != m->rows || columns != m->columns)
        refuse(in, "the sizes of the dense matrix differ from those in its head");
    size_t values = (size_t)rows * (size_t)columns;
    if (values > (size_t)(in->end - in->at))
        refuse(in, "the matrix is larger than the rest of the file can hold");
    reserve_entries(in, m, values);
    read_dense_values(in, m, 0, 0, rows, columns);

    /* Zero blocks are not stored. */
    size_t kept = 0;
    for (size_t k = 0; in->status == YK_OK && k < m->count; k++)
        if (m->entry[k].value != 0)
            m->entry[kept++] = m->entry[k];
    m->count = kept;
}

/* Contact problems ----------------------------------------------------------------------------- */

/* Whether the header of a matrix of this size follows. */
static bool matrix_follows(const reader *in, int rows, int columns)
{
    reader ahead = *in;
    const double expected[] = {rows, columns};
    char *after;
    double storage = yk_text_number(ahead.at, &after);
    if (after == ahead.at || (storage != 0 && storage != 1 && storage != 2))
        return false;

    for (int i = 0; i < 2; i++) {
        ahead.at = after;
        if (yk_text_number(ahead.at, &after) != expected[i] || after == ahead.at)
            return false;
    }
    return true;
}

/* Number of words up to the end of the file. */
static size_t words_left(const reader *in)
{
    size_t count = 0;
    bool inside = false;
    for (const char *c = in->at; c < in->end; c++) {
        bool space = *c == '\0' || strchr(" \t\n\r", *c) != NULL;
        if (!space && !inside)
            count++;
        inside = !space;
    }
    return count;
}

/* Rows of contacts, coefficients of friction. */
static void read_contact_vectors(reader *in, yk_global_problem *p)
{
    int contacts = p->contact_count;
    int rows = p->dim * contacts;
    p->w = reserve(in, (size_t)rows, sizeof *p->w);
    p->mu = reserve(in, (size_t)contacts, sizeof *p->mu);
    read_vector(in, p->w, rows, "a value of q");
    read_vector(in, p->mu, contacts, "a value of mu");
    if (p->dim == 5) {
        p->mu_roll = reserve(in, (size_t)contacts, sizeof *p->mu_roll);
        read_vector(in, p->mu_roll, contacts, "a value of mu_r");
    }

    for (int i = 0; i < contacts && in->status == YK_OK; i++)
        if (p->mu[i] < 0 || (p->mu_roll && p->mu_roll[i] < 0))
            refuse(in, "a friction coefficient is negative");
}

yk_status yk_contact_parse(yk_context *context, const char *name, const char *text, size_t length,
                           yk_contact_problem *problem)
{
    reader in = reader_of(context, name, text, length);
    *problem = (yk_contact_problem){0};

    /* dim nc, then W or M. */
    yk_global_problem p = {.dim = read_integer(&in, 2, 5, "the dimension")};
    if (p.dim == 4)
        refuse(&in, "the dimension is 4, expected 2, 3 or 5 (rolling friction)");
    p.contact_count = read_count(&in, 0, 2, "the number of contacts");
    int rows = p.dim * p.contact_count;
    read_matrix(&in, &p.m);

    /* If a second matrix follows, the problem is one in the velocities of bodies: <H> q b mu. If M
     * has the size of W, the vectors of a problem with W might look like the header of a matrix,
     * but are shorter. */
    bool fits = p.m.rows == rows && p.m.columns == rows;
    size_t most = (size_t)rows + (size_t)p.contact_count * (p.dim == 5 ? 2 : 1) + 1;
    bool global = in.status == YK_OK && matrix_follows(&in, p.m.rows, rows) &&
                  (!fits || words_left(&in) > most);
    if (!global && !fits)
        refuse(&in, "the size of W is not dimension times contacts, and no matrix H follows");
    if (global) {
        read_matrix(&in, &p.h);
        if ((size_t)p.m.rows > (size_t)(in.end - in.at))
            refuse(&in, "q is longer than the rest of the file can hold");
        p.f = reserve(&in, (size_t)p.m.rows, sizeof *p.f);
        read_vector(&in, p.f, p.m.rows, "a value of q");
    }
    read_contact_vectors(&in, &p);

    /* Some have a flag. Other kinds begin like this, and go on. */
    if (more_follows(&in) && !global && p.dim == 3 && words_left(&in) == (size_t)p.contact_count &&
        p.contact_count > 1)
        refuse(&in, "a number for each contact follows after mu: this is a planar problem with "
                    "rolling friction (RFC2D), which is not solved here");
    if (more_follows(&in))
        read_number(&in, "the flag");
    if (more_follows(&in))
        refuse(&in,
               "numbers follow after mu: this is not a contact problem with W, q and mu alone");

    if (in.status == YK_OK && global) {
        in.status = yk_global_condense(context, &p, problem);
    } else if (in.status == YK_OK) {
        yk_contact_entries entries = {
            .dim = p.dim,
            .contact_count = p.contact_count,
            .entry = p.m.entry,
            .count = p.m.count,
            .q = p.w,
            .mu = p.mu,
            .mu_roll = p.mu_roll,
        };
        in.status = yk_contact_problem_from_entries(context, &entries, problem);
    }

    yk_global_destroy(context, &p);
    return in.status;
}

/* LCP and MLCP --------------------------------------------------------------------------------- */

/* Entries where they belong; given twice, they add up. */
static void fill_mlcp(reader *in, const yk_entry_matrix *m, yk_mlcp *problem)
{
    for (size_t k = 0; in->status == YK_OK && k < m->count; k++) {
        const yk_matrix_entry *e = &m->entry[k];
        problem->m[(size_t)e->row * (size_t)problem->n + (size_t)e->column] += e->value;
    }
}

static void read_mlcp(reader *in, yk_entry_matrix *stored, yk_mlcp *problem)
{
    int blocks = read_integer(in, 0, 1, "the flag of the block form");
    int separate = read_integer(in, 0, 1, "the flag of the separate form");
    int n = read_count(in, 0, 2, "the number of equations");
    int m = read_count(in, 0, 2, "the number of complementarities");

    if (!blocks && !separate)
        refuse(in, "neither form of the problem is given");

    /* The matrix is dense here, however the file stores it. */
    size_t size = (size_t)n + (size_t)m;
    if (size * size > (size_t)(in->end - in->at))
        refuse(in, "the matrix is larger than the rest of the file can hold");
    if (in->status != YK_OK)
        return;

    in->status = yk_mlcp_create(in->context, n + m, problem);
    if (in->status != YK_OK)
        return;

    /* One matrix whose block rows are equations (kind 0) or complementarities (kind 1). */
    if (blocks) {
        int *end = reserve(in, size, sizeof *end);

        /* Where each block row ends. */
        int count = 0;
        int last = 0;
        read_integer(in, 0, 0, "the begin of the first block row");
        while (in->status == YK_OK && (count == 0 || last < n + m)) {
            last = read_integer(in, last + 1, n + m, "the end of a block row");
            if (in->status == YK_OK)
                end[count++] = last;
        }

        /* The kind of each. */
        int equations = 0;
        for (int b = 0; b < count && in->status == YK_OK; b++) {
            int kind = read_integer(in, 0, 1, "the kind of a block row");
            int rows = block_size(end, b);
            for (int r = end[b] - rows; r < end[b]; r++)
                problem->lower[r] = kind == 0 ? -INFINITY : 0;
            if (kind == 0)
                equations += rows;
        }

        if (equations != n)
            refuse(in, "the block rows do not hold n equations");
        yk_free(in->context, end);

        read_matrix(in, stored);
        if (stored->rows != n + m || stored->columns != n + m)
            refuse(in, "M is not (n+m) x (n+m)");
        fill_mlcp(in, stored, problem);
        read_vector(in, problem->q, n + m, "a value of q");
        return;
    }

    /* A (n x n), B (m x m), C (n x m), D (m x n), a, b: plain rows. */
    const struct {
        int row, column, rows, columns;
    } parts[] = {{0, 0, n, n}, {n, n, m, m}, {0, n, n, m}, {n, 0, m, n}};
    for (size_t p = 0; p < 4; p++) {
        double *at = problem->m + (size_t)parts[p].row * size + (size_t)parts[p].column;
        for (int r = 0; r < parts[p].rows; r++, at += size)
            read_vector(in, at, parts[p].columns, "a matrix value");
    }

    read_vector(in, problem->q, n + m, "a value of a or b");
    for (int r = 0; r < n; r++)
        problem->lower[r] = -INFINITY;
}

/* What the file holds, by its first numbers: a contact problem has W of dim * nc rows or a square
 * M, an LCP M of n rows, an MLCP two flags. */
static yk_problem_kind kind_of(reader *in)
{
    double head[5] = {0};
    for (int i = 0; i < 5; i++)
        head[i] = read_number(in, "one of the first five numbers");

    /* dim nc <storage rows columns> */
    bool flat_or_solid = head[0] == 2 || head[0] == 3 || head[0] == 5;
    bool storage = head[2] >= 0 && head[2] <= 2;
    bool square = head[3] == head[4] && head[3] > 0;
    if (flat_or_solid && head[1] >= 1 && storage && square)
        return YK_PROBLEM_CONTACT;

    /* n <storage n n>, followed by the size again or by the number of blocks */
    bool of_size = head[2] == head[0] && head[3] == head[0];
    bool dense = head[1] == 0 && head[4] == head[0];
    bool blocks = head[1] == 1 && head[4] >= 1;
    if (of_size && (dense || blocks))
        return YK_PROBLEM_LCP;

    /* two flags, each 0 or 1 */
    bool flags = (head[0] == 0 || head[0] == 1) && (head[1] == 0 || head[1] == 1);
    if (!flags)
        refuse(in, "neither a contact problem nor an LCP nor an MLCP begins like this");
    return YK_PROBLEM_MLCP;
}

yk_status yk_mlcp_parse(yk_context *context, const char *name, const char *text, size_t length,
                        yk_mlcp *problem)
{
    reader in = reader_of(context, name, text, length);
    yk_entry_matrix stored = {0};
    *problem = (yk_mlcp){0};

    /* The first numbers are read twice: to see what the file holds, then as part of it. */
    yk_problem_kind kind = kind_of(&in);
    in.at = text;
    if (kind == YK_PROBLEM_CONTACT)
        refuse(&in, "this is a contact problem, not an LCP or MLCP");
    if (kind == YK_PROBLEM_MLCP)
        read_mlcp(&in, &stored, problem);

    if (kind == YK_PROBLEM_LCP) {
        int n = read_count(&in, 0, 2, "the size");
        read_matrix(&in, &stored);
        if (stored.rows != n || stored.columns != n)
            refuse(&in, "M is not n x n");
        if (in.status == YK_OK)
            in.status = yk_mlcp_create(context, n, problem);
        fill_mlcp(&in, &stored, problem);
        read_vector(&in, problem->q, n, "a value of q");

        /* Some are followed by their solution, which is not negative; a relay problem by its lower
         * bounds, which are. */
        while (more_follows(&in)) {
            if (read_number(&in, "a value after q") < 0)
                refuse(&in,
                       "a negative number follows after q: this is a relay problem, or damaged");
        }
    }

    yk_free(context, stored.entry);
    if (in.status != YK_OK)
        yk_mlcp_destroy(context, problem);
    return in.status;
}

/* Files ---------------------------------------------------------------------------------------- */

static yk_status load_text(yk_context *context, const char *path, char **text, size_t *length)
{
    *text = NULL;
    *length = 0;
    FILE *file = yk_input_open(context, path, YK_ERROR_FILE);
    if (!file)
        return YK_ERROR_FILE;

    yk_status status = YK_OK;

    /* Folders and devices open too, but have no length. */
    struct stat about;
    if (fstat(fileno(file), &about) != 0)
        status = yk_fail(context, YK_ERROR_FILE, "%s: cannot be read", path);

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
        yk_free(context, *text);
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

    reader in = reader_of(context, path, text, length);
    *kind = kind_of(&in);
    yk_free(context, text);
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
    yk_free(context, text);
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
    yk_free(context, text);
    return status;
}
