/* Reads problems of the collections. Files are whitespace-separated numbers; which follow each other is
 * said in read.h. Matrices are as NumericsMatrix writes them:
 *
 *   <matrix>   storage size0 size1, then
 *   storage 0  size0 size1, values column-major
 *   storage 1  blocks block_rows block_columns, cumulative row sizes, cumulative column sizes, filled1 filled2,
 *              index1[filled1] (row starts), index2[filled2] (block columns), then each block's number and values
 *              column-major
 *   storage 2  as CSparse prints: lines up to one with `nnz: count`, then for each column
 *              `col j : locations a to b` and b - a + 1 lines `row : value`; or, where that line
 *              says `triplet:`, lines `row column : value`; after a first line `3` what is printed
 *              as columns are rows */
#include "contact/read.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/input.h"

typedef struct reader {
    yk_context *context;
    const char *name;
    const char *at, *begin, *end; /* *end is a terminating zero */
    yk_status status;             /* the first thing that went wrong; later reads return 0 */
} reader;

static reader reader_of(yk_context *context, const char *name, const char *text, size_t length)
{
    return (reader){
        .context = context, .name = name, .at = text, .begin = text, .end = text + length};
}

/* Notes the first thing that is wrong, with its location; all functions below do nothing after
 * it. */
static void refuse(reader *in, const char *what)
{
    if (in->status != YK_OK)
        return;

    /* Lines are counted when something is wrong, not while reading. */
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

/* `what` is named in errors. */
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

    /* The text ends with a zero, so that the number ends there at the latest. */
    char *after;
    double value = strtod(in->at, &after);
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
    /* Whole numbers may be written as any number is. */
    double value = read_number(in, what);
    if (in->status != YK_OK)
        return low;

    if (value != floor(value) || value < low || value > high) {
        char message[200];
        snprintf(message, sizeof message, "%s is %.17g, expected a whole number from %d to %d",
                 what, value, low, high);
        refuse(in, message);
        return low;
    }

    return (int)value;
}

/* A count of things of which each takes at least `bytes` bytes of the rest of the file. */
static int read_count(reader *in, int low, size_t bytes, const char *what)
{
    /* A damaged count is refused before memory is taken for it. */
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

/* Whether another number follows, not the end or a remark; false after a mistake. */
static bool more_follows(reader *in)
{
    if (in->status != YK_OK)
        return false;

    skip_space(in);
    return in->at < in->end && *in->at != '\0' && strchr("+-.0123456789", *in->at);
}

/* Matrices ------------------------------------------------------------------------------------- */

/* A stored matrix as it stands in the file: dense values, blocks, or single entries, not brought
 * in order. */
typedef struct stored_entry {
    int row, column;
    double value;
} stored_entry;

typedef struct stored_matrix {
    int size0, size1;
    int storage;
    double *dense; /* row-major */
    int entries;   /* storage 2 */
    stored_entry *entry;
    int block_rows, filled;
    int *end; /* cumulative sizes of block rows and columns */
    int *start, *column;
    size_t *offset; /* of each block in value, row-major */
    double *value;
} stored_matrix;

/* Size of block row i, from the cumulative sizes. */
static int block_size(const int *end, int i)
{
    return end[i] - (i > 0 ? end[i - 1] : 0);
}

static void stored_destroy(yk_context *context, stored_matrix *m)
{
    void *arrays[] = {m->dense, m->entry, m->end, m->start, m->column, m->offset, m->value};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        yk_release(context, arrays[i]);
}

/* Values column by column, as files have them, to rows. */
static void read_dense_values(reader *in, double *values, int rows, int columns)
{
    for (int c = 0; c < columns && in->status == YK_OK; c++) {
        for (int r = 0; r < rows && in->status == YK_OK; r++)
            values[(size_t)r * (size_t)columns + (size_t)c] = read_number(in, "a matrix value");
    }
}

/* Cumulative sizes: rising and ending at `total`. */
static void read_ends(reader *in, int *end, int count, int total)
{
    /* Each block has a row at least. */
    int last = 0;
    for (int i = 0; i < count && in->status == YK_OK; i++) {
        last = read_integer(in, last + 1, total, "the end of a block row or column");
        end[i] = last;
    }

    if (count > 0 && last != total)
        refuse(in, "the blocks do not add up to the size of the matrix");
}

static void read_blocks(reader *in, stored_matrix *m)
{
    int blocks = read_count(in, 0, 2, "the number of blocks");
    int block_rows = read_count(in, 0, 2, "the number of block rows");
    int block_columns = read_count(in, 0, 2, "the number of block columns");

    if (m->size0 != m->size1 || block_columns != block_rows)
        refuse(in, "the block matrix is not square");
    m->block_rows = block_rows;

    /* Where block rows and columns end: at the same numbers. */
    m->end = reserve(in, (size_t)block_rows, sizeof *m->end);
    int *columns_end = reserve(in, (size_t)block_rows, sizeof *columns_end);
    read_ends(in, m->end, block_rows, m->size0);
    read_ends(in, columns_end, block_rows, m->size1);
    for (int i = 0; i < block_rows && in->status == YK_OK; i++) {
        if (m->end[i] != columns_end[i])
            refuse(in, "rows and columns are cut into different blocks");
    }
    yk_release(in->context, columns_end);

    /* Row starts, which rise to the number of blocks, and the columns of the blocks. */
    int starts = read_count(in, 0, 2, "the number of row starts");
    m->filled = read_count(in, 0, 2, "the number of blocks in rows");

    if (starts != block_rows + 1 || m->filled != blocks)
        refuse(in, "the index of the blocks does not fit their number");

    m->start = reserve(in, (size_t)block_rows + 1, sizeof *m->start);
    m->column = reserve(in, (size_t)m->filled, sizeof *m->column);
    m->offset = reserve(in, (size_t)m->filled, sizeof *m->offset);

    int last = 0;
    for (int i = 0; i <= block_rows && in->status == YK_OK; i++) {
        last = read_integer(in, last, m->filled, "a row start");
        m->start[i] = last;
    }
    if (in->status == YK_OK && (m->start[0] != 0 || last != m->filled))
        refuse(in, "the row starts do not span all blocks");

    for (int k = 0; k < m->filled && in->status == YK_OK; k++)
        m->column[k] = read_integer(in, 0, block_rows - 1, "a block column");
    if (in->status != YK_OK)
        return;

    /* Memory for the values. */
    size_t total = 0;
    for (int i = 0; i < block_rows; i++) {
        size_t rows = (size_t)block_size(m->end, i);
        for (int k = m->start[i]; k < m->start[i + 1]; k++) {
            m->offset[k] = total;
            total += rows * (size_t)block_size(m->end, m->column[k]);
        }
    }

    /* Each value takes a byte at least: a damaged size is refused before memory is taken. */
    if (total > (size_t)(in->end - in->at))
        refuse(in, "the blocks are larger than the rest of the file can hold");
    m->value = reserve(in, total, sizeof *m->value);

    /* Each block with its number before it. */
    for (int i = 0; i < block_rows && in->status == YK_OK; i++) {
        int rows = block_size(m->end, i);
        for (int k = m->start[i]; k < m->start[i + 1]; k++) {
            int columns = block_size(m->end, m->column[k]);
            read_integer(in, k, k, "the number of a block");
            read_dense_values(in, m->value + m->offset[k], rows, columns);
        }
    }
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

/* One entry; its column is read where it is not known (-1). */
static void read_entry(reader *in, stored_matrix *m, int k, int column)
{
    int row = read_integer(in, 0, m->size0 - 1, "the row of an entry");
    if (column < 0)
        column = read_integer(in, 0, m->size1 - 1, "the column of an entry");
    expect_word(in, ":");
    m->entry[k] = (stored_entry){row, column, read_number(in, "a matrix value")};
}

static void read_entries(reader *in, stored_matrix *m)
{
    /* The head is prose of the library that printed it; two words of it are relied on. */
    const char *mark = strstr(in->at, "nnz:");
    const char *triplet = strstr(in->at, "triplet:");
    if (!mark) {
        refuse(in, "the sparse matrix has no line with 'nnz:'");
        return;
    }

    /* Compressed rows are printed as if they were columns, after the number 3. */
    skip_space(in);
    bool rows = in->at < mark && *in->at == '3' && in->at[1] == '\n';
    in->at = mark + strlen("nnz:");

    m->entries = read_count(in, 0, 4, "the number of entries");
    while (in->at < in->end && *in->at != '\n')
        in->at++;
    m->entry = reserve(in, (size_t)m->entries, sizeof *m->entry);

    /* Rows and columns of all entries, or column after column. */
    int k = 0;
    if (triplet && triplet < mark) {
        for (; k < m->entries && in->status == YK_OK; k++)
            read_entry(in, m, k, -1);
    } else {
        for (int j = 0; j < m->size1 && in->status == YK_OK; j++) {
            expect_word(in, "col");
            read_integer(in, j, j, "the number of a column");
            expect_word(in, ":");
            expect_word(in, "locations");
            read_integer(in, k, k, "the first location of a column");
            expect_word(in, "to");

            int last = read_integer(in, k - 1, m->entries - 1, "the last location of a column");
            for (; k <= last && in->status == YK_OK; k++)
                read_entry(in, m, k, j);
        }

        if (k != m->entries)
            refuse(in, "the columns do not hold all entries");
    }

    if (in->status != YK_OK || !rows)
        return;

    /* What was printed as columns are rows. */
    for (k = 0; k < m->entries; k++) {
        stored_entry e = m->entry[k];
        m->entry[k] = (stored_entry){e.column, e.row, e.value};
    }
}

static void read_matrix(reader *in, stored_matrix *m)
{
    m->storage =
        read_integer(in, 0, 2, "the storage of the matrix (0 dense, 1 block sparse, 2 sparse)");
    m->size0 = read_integer(in, 0, 100000000, "the number of rows");
    m->size1 = read_integer(in, 0, 100000000, "the number of columns");
    if (in->status != YK_OK)
        return;

    if (m->storage == 1) {
        read_blocks(in, m);
        return;
    }
    if (m->storage == 2) {
        read_entries(in, m);
        return;
    }

    /* Dense: the sizes once more, then the values. */
    int rows = read_integer(in, 0, 100000000, "the number of rows");
    int columns = read_integer(in, 0, 100000000, "the number of columns");
    if (rows != m->size0 || columns != m->size1)
        refuse(in, "the sizes of the dense matrix differ from those in its head");
    size_t count = (size_t)rows * (size_t)columns;
    if (count > (size_t)(in->end - in->at))
        refuse(in, "the matrix is larger than the rest of the file can hold");
    m->dense = reserve(in, count, sizeof *m->dense);
    read_dense_values(in, m->dense, rows, columns);
}

/* Blocks from entries -------------------------------------------------------------------------- */

/* A block by its row and column; `number` is that of the stored block, or of the entry that belongs
 * to it. */
typedef struct listed_block {
    int row, column;
    int number;
} listed_block;

/* Rows, then columns, then numbers rise. */
static int compare_blocks(const void *a, const void *b)
{
    const listed_block *x = a;
    const listed_block *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* From single entries to blocks of `dim` rows and columns (storage 1). */
static void entries_to_blocks(reader *in, stored_matrix *m, int dim)
{
    if (m->size0 != m->size1 || m->size0 % dim != 0)
        refuse(in, "the sparse matrix is not made of square blocks of the contacts' dimension");

    size_t entries = (size_t)m->entries;
    size_t size = (size_t)dim * (size_t)dim;
    m->block_rows = m->size0 / dim;

    /* A block for each entry is the most that there can be. */
    listed_block *order = reserve(in, entries, sizeof *order);
    m->end = reserve(in, (size_t)m->block_rows, sizeof *m->end);
    m->start = reserve(in, (size_t)m->block_rows + 1, sizeof *m->start);
    m->column = reserve(in, entries, sizeof *m->column);
    m->offset = reserve(in, entries, sizeof *m->offset);
    m->value = reserve(in, entries * size, sizeof *m->value);
    if (in->status != YK_OK) {
        yk_release(in->context, order);
        return;
    }

    /* Entries of one block follow each other. */
    for (int i = 0; i < m->block_rows; i++)
        m->end[i] = (i + 1) * dim;
    for (int k = 0; k < m->entries; k++)
        order[k] = (listed_block){m->entry[k].row / dim, m->entry[k].column / dim, k};
    qsort(order, entries, sizeof *order, compare_blocks);

    /* A new block where row or column differ from those of the entry before. */
    int block = -1;
    for (int k = 0; k < m->entries; k++) {
        const listed_block *o = &order[k];
        if (k == 0 || o->row != o[-1].row || o->column != o[-1].column) {
            block++;
            m->column[block] = o->column;
            m->offset[block] = (size_t)block * size;
            m->start[o->row + 1]++;
        }

        /* Entries that are given twice add up, as in CSparse. */
        const stored_entry *entry = &m->entry[o->number];
        double *value = m->value + m->offset[block];
        value[entry->row % dim * dim + entry->column % dim] += entry->value;
    }

    /* Counts of the rows to starts. */
    m->filled = block + 1;
    for (int i = 0; i < m->block_rows; i++)
        m->start[i + 1] += m->start[i];
    m->storage = 1;
    yk_release(in->context, order);
}

/* Contact problems ----------------------------------------------------------------------------- */

/* Marks a block that is not stored. All numbers of stored ones are smaller. */
enum { NOT_STORED = INT_MAX };

/* W with what the solvers rely on and the file may leave out: the diagonal, and blocks opposite
 * stored ones. */
static void problem_from_blocks(reader *in, const stored_matrix *m, int dim,
                                yk_contact_problem *problem)
{
    size_t rows = (size_t)m->block_rows;
    for (int i = 0; i < m->block_rows; i++) {
        if (block_size(m->end, i) != dim)
            refuse(in, "the blocks of W are not those of the contacts");
    }

    /* Every stored block may bring one opposite to it, every row a diagonal. */
    listed_block *blocks = reserve(in, 2 * (size_t)m->filled + rows, sizeof *blocks);
    int *start = reserve(in, rows + 1, sizeof *start);
    int *columns = reserve(in, 2 * (size_t)m->filled + rows, sizeof *columns);
    int *dims = reserve(in, rows, sizeof *dims);
    int count = 0;

    /* All blocks in rising order. */
    if (in->status == YK_OK) {
        int listed = 0;
        for (int i = 0; i < m->block_rows; i++) {
            blocks[listed++] = (listed_block){i, i, NOT_STORED};
            for (int k = m->start[i]; k < m->start[i + 1]; k++) {
                blocks[listed++] = (listed_block){i, m->column[k], k};
                blocks[listed++] = (listed_block){m->column[k], i, NOT_STORED};
            }
        }

        qsort(blocks, (size_t)listed, sizeof *blocks, compare_blocks);

        /* Each once: equal ones follow each other, the stored one first. */
        for (int k = 0; k < listed; k++) {
            const listed_block *last = count > 0 ? &blocks[count - 1] : NULL;
            bool same = last && last->row == blocks[k].row && last->column == blocks[k].column;
            if (!same) {
                blocks[count++] = blocks[k];
            } else if (blocks[k].number != NOT_STORED) {
                refuse(in, "a block of W is given twice");
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

    /* Blocks that the file does not have stay zero. */
    for (int k = 0; in->status == YK_OK && k < count; k++) {
        if (blocks[k].number == NOT_STORED)
            continue;
        const double *from = m->value + m->offset[blocks[k].number];
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
    reader in = reader_of(context, name, text, length);
    *problem = (yk_contact_problem){0};

    /* dim nc <W> q mu */
    int dim = read_integer(&in, 2, 3, "the dimension");
    int contacts = read_count(&in, 0, 2, "the number of contacts");
    int rows = dim * contacts;
    stored_matrix m = {0};
    read_matrix(&in, &m);
    if (m.size0 != rows || m.size1 != rows)
        refuse(&in, "the size of W is not dimension times contacts");

    double *q = reserve(&in, (size_t)rows, sizeof *q);
    double *mu = reserve(&in, (size_t)contacts, sizeof *mu);
    read_vector(&in, q, rows, "a value of q");
    read_vector(&in, mu, contacts, "a value of mu");

    /* Some have a flag. Global and plasticity problems begin like this, and go on. */
    if (more_follows(&in))
        read_number(&in, "the flag");
    if (more_follows(&in))
        refuse(&in,
               "numbers follow after mu: this is not a contact problem with W, q and mu alone");

    /* The problem in blocks, however the matrix was stored. */
    if (m.storage == 2)
        entries_to_blocks(&in, &m, dim);
    if (in.status == YK_OK && m.storage == 0) {
        in.status =
            yk_contact_problem_from_dense(context, dim, contacts, 0, m.dense, q, mu, problem);
    } else if (in.status == YK_OK) {
        problem_from_blocks(&in, &m, dim, problem);
    }

    /* What stands beside W. */
    if (in.status == YK_OK) {
        memcpy(problem->q, q, (size_t)rows * sizeof *q);
        memcpy(problem->mu, mu, (size_t)contacts * sizeof *mu);
        for (int i = 0; i < contacts; i++) {
            if (mu[i] < 0)
                refuse(&in, "a friction coefficient is negative");
        }
    }

    yk_release(context, mu);
    yk_release(context, q);
    stored_destroy(context, &m);
    if (in.status != YK_OK)
        yk_contact_problem_destroy(context, problem);
    return in.status;
}

/* LCP and MLCP --------------------------------------------------------------------------------- */

static void mlcp_from_stored(reader *in, const stored_matrix *m, yk_mlcp *problem)
{
    if (in->status != YK_OK)
        return;

    /* Dense values as they are, single entries where they belong; given twice, they add up. */
    size_t n = (size_t)problem->n;
    if (m->storage == 0) {
        memcpy(problem->m, m->dense, n * n * sizeof *problem->m);
        return;
    }
    if (m->storage == 2) {
        for (int k = 0; k < m->entries; k++) {
            const stored_entry *e = &m->entry[k];
            problem->m[(size_t)e->row * n + (size_t)e->column] += e->value;
        }
        return;
    }

    /* Blocks, row by row of each. */
    for (int i = 0; i < m->block_rows; i++) {
        int rows = block_size(m->end, i);
        size_t row = (size_t)(m->end[i] - rows);
        for (int k = m->start[i]; k < m->start[i + 1]; k++) {
            int j = m->column[k];
            int columns = block_size(m->end, j);
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

static void read_mlcp(reader *in, stored_matrix *stored, yk_mlcp *problem)
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
        yk_release(in->context, end);

        read_matrix(in, stored);
        if (stored->size0 != n + m || stored->size1 != n + m)
            refuse(in, "M is not (n+m) x (n+m)");
        mlcp_from_stored(in, stored, problem);
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

/* What the file holds, by its first numbers: a contact problem has W of dim * nc rows, an LCP M of
 * n rows, an MLCP two flags. */
static yk_problem_kind kind_of(reader *in)
{
    double head[5] = {0};
    for (int i = 0; i < 5; i++)
        head[i] = read_number(in, "one of the first five numbers");

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
    stored_matrix stored = {0};
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
        if (stored.size0 != n || stored.size1 != n)
            refuse(&in, "M is not n x n");
        if (in.status == YK_OK)
            in.status = yk_mlcp_create(context, n, problem);
        mlcp_from_stored(&in, &stored, problem);
        read_vector(&in, problem->q, n, "a value of q");

        /* Some are followed by their solution, which is not negative; a relay problem by its lower
         * bounds, which are. */
        while (more_follows(&in)) {
            if (read_number(&in, "a value after q") < 0)
                refuse(&in,
                       "a negative number follows after q: this is a relay problem, or damaged");
        }
    }

    stored_destroy(context, &stored);
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

    reader in = reader_of(context, path, text, length);
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
