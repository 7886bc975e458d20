#include "contact/read_matrix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void yk_read_refuse(yk_reader *in, const char *what)
{
    if (in->status != YK_OK)
        return;

    int line = 1;
    for (const char *c = in->begin; c < in->at; c++)
        line += *c == '\n';
    size_t byte = (size_t)(in->at - in->begin);
    in->status =
        yk_fail(in->context, YK_ERROR_INPUT, "%s:%d: %s (byte %zu)", in->name, line, what, byte);
}

static void skip_space(yk_reader *in)
{
    while (in->at < in->end && *in->at != '\0' && strchr(" \t\n\r", *in->at))
        in->at++;
}

double yk_read_number(yk_reader *in, const char *what)
{
    if (in->status != YK_OK)
        return 0;

    skip_space(in);
    char message[160];
    if (in->at >= in->end) {
        snprintf(message, sizeof message, "the file ends where %s was expected", what);
        yk_read_refuse(in, message);
        return 0;
    }

    /* The text ends with a zero, so that the number ends there at the latest. */
    char *after;
    double value = strtod(in->at, &after);
    if (after == in->at || after > in->end || !isfinite(value)) {
        snprintf(message, sizeof message, "%s: expected a finite number", what);
        yk_read_refuse(in, message);
        return 0;
    }

    in->at = after;
    return value;
}

int yk_read_integer(yk_reader *in, int low, int high, const char *what)
{
    double value = yk_read_number(in, what);
    if (in->status != YK_OK)
        return low;

    if (value != floor(value) || value < low || value > high) {
        char message[200];
        snprintf(message, sizeof message, "%s is %.17g, expected a whole number from %d to %d",
                 what, value, low, high);
        yk_read_refuse(in, message);
        return low;
    }

    return (int)value;
}

int yk_read_count(yk_reader *in, int low, size_t bytes, const char *what)
{
    size_t rest = (size_t)(in->end - in->at) / bytes + 1;
    int value = yk_read_integer(in, low, 100000000, what);

    if (in->status == YK_OK && (size_t)value > rest) {
        char message[160];
        snprintf(message, sizeof message, "%s is %d, more than the rest of the file can hold", what,
                 value);
        yk_read_refuse(in, message);
        return low;
    }

    return value;
}

void *yk_read_reserve(yk_reader *in, size_t count, size_t size)
{
    if (in->status != YK_OK)
        return NULL;

    void *memory = yk_allocate(in->context, count + 1, size);
    if (!memory)
        in->status = YK_ERROR_MEMORY;
    return memory;
}

void yk_stored_destroy(yk_context *context, yk_stored_matrix *m)
{
    void *arrays[] = {m->dense, m->entry, m->end, m->start, m->column, m->offset, m->value};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        yk_release(context, arrays[i]);
}

static void read_dense_values(yk_reader *in, double *values, int rows, int columns)
{
    for (int c = 0; c < columns && in->status == YK_OK; c++) {
        for (int r = 0; r < rows && in->status == YK_OK; r++)
            values[(size_t)r * (size_t)columns + (size_t)c] = yk_read_number(in, "a matrix value");
    }
}

static void read_dense(yk_reader *in, yk_stored_matrix *m)
{
    int rows = yk_read_integer(in, 0, 100000000, "the number of rows");
    int columns = yk_read_integer(in, 0, 100000000, "the number of columns");

    if (rows != m->size0 || columns != m->size1)
        yk_read_refuse(in, "the sizes of the dense matrix differ from those in its head");

    size_t count = (size_t)rows * (size_t)columns;
    if (count > (size_t)(in->end - in->at))
        yk_read_refuse(in, "the matrix is larger than the rest of the file can hold");
    m->dense = yk_read_reserve(in, count, sizeof *m->dense);
    read_dense_values(in, m->dense, rows, columns);
}

/* Cumulative sizes: rising and ending at `total`. */
static void read_ends(yk_reader *in, int *end, int count, int total)
{
    int last = 0;
    for (int i = 0; i < count && in->status == YK_OK; i++) {
        last = yk_read_integer(in, last + 1, total, "the end of a block row or column");
        end[i] = last;
    }
    if (count > 0 && last != total)
        yk_read_refuse(in, "the blocks do not add up to the size of the matrix");
}

static void read_blocks(yk_reader *in, yk_stored_matrix *m)
{
    int blocks = yk_read_count(in, 0, 2, "the number of blocks");
    int block_rows = yk_read_count(in, 0, 2, "the number of block rows");
    int block_columns = yk_read_count(in, 0, 2, "the number of block columns");

    if (m->size0 != m->size1 || block_columns != block_rows)
        yk_read_refuse(in, "the block matrix is not square");
    m->block_rows = block_rows;

    /* Where block rows and columns end: at the same numbers. */
    m->end = yk_read_reserve(in, (size_t)block_rows, sizeof *m->end);
    int *columns_end = yk_read_reserve(in, (size_t)block_rows, sizeof *columns_end);
    read_ends(in, m->end, block_rows, m->size0);
    read_ends(in, columns_end, block_rows, m->size1);
    for (int i = 0; i < block_rows && in->status == YK_OK; i++) {
        if (m->end[i] != columns_end[i])
            yk_read_refuse(in, "rows and columns are cut into different blocks");
    }
    yk_release(in->context, columns_end);

    /* Row starts, which rise to the number of blocks, and the columns of the blocks. */
    int starts = yk_read_count(in, 0, 2, "the number of row starts");
    m->filled = yk_read_count(in, 0, 2, "the number of blocks in rows");
    if (starts != block_rows + 1 || m->filled != blocks)
        yk_read_refuse(in, "the index of the blocks does not fit their number");
    m->start = yk_read_reserve(in, (size_t)block_rows + 1, sizeof *m->start);
    m->column = yk_read_reserve(in, (size_t)m->filled, sizeof *m->column);
    m->offset = yk_read_reserve(in, (size_t)m->filled, sizeof *m->offset);
    int last = 0;
    for (int i = 0; i <= block_rows && in->status == YK_OK; i++) {
        last = yk_read_integer(in, last, m->filled, "a row start");
        m->start[i] = last;
    }
    if (in->status == YK_OK && (m->start[0] != 0 || last != m->filled))
        yk_read_refuse(in, "the row starts do not span all blocks");
    for (int k = 0; k < m->filled && in->status == YK_OK; k++)
        m->column[k] = yk_read_integer(in, 0, block_rows - 1, "a block column");
    if (in->status != YK_OK)
        return;

    /* Memory for the values. */
    size_t total = 0;
    for (int i = 0; i < block_rows; i++) {
        size_t rows = (size_t)yk_stored_block(m->end, i);
        for (int k = m->start[i]; k < m->start[i + 1]; k++) {
            m->offset[k] = total;
            total += rows * (size_t)yk_stored_block(m->end, m->column[k]);
        }
    }

    if (total > (size_t)(in->end - in->at))
        yk_read_refuse(in, "the blocks are larger than the rest of the file can hold");
    m->value = yk_read_reserve(in, total, sizeof *m->value);

    /* Each block with its number before it. */
    for (int i = 0; i < block_rows && in->status == YK_OK; i++) {
        int rows = yk_stored_block(m->end, i);
        for (int k = m->start[i]; k < m->start[i + 1]; k++) {
            int columns = yk_stored_block(m->end, m->column[k]);
            yk_read_integer(in, k, k, "the number of a block");
            read_dense_values(in, m->value + m->offset[k], rows, columns);
        }
    }
}

/* Single entries ------------------------------------------------------------------------------- */

static void expect_word(yk_reader *in, const char *word)
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
    yk_read_refuse(in, message);
}

/* One entry; its column is read where it is not known (-1). */
static void read_entry(yk_reader *in, yk_stored_matrix *m, int k, int column)
{
    int row = yk_read_integer(in, 0, m->size0 - 1, "the row of an entry");
    if (column < 0)
        column = yk_read_integer(in, 0, m->size1 - 1, "the column of an entry");
    expect_word(in, ":");
    m->entry[k] = (yk_stored_entry){row, column, yk_read_number(in, "a matrix value")};
}

static void read_entries(yk_reader *in, yk_stored_matrix *m)
{
    const char *mark = strstr(in->at, "nnz:");
    const char *triplet = strstr(in->at, "triplet:");

    if (!mark) {
        yk_read_refuse(in, "the sparse matrix has no line with 'nnz:'");
        return;
    }

    /* Compressed rows are printed as if they were columns, after the number 3. */
    skip_space(in);
    bool rows = in->at < mark && *in->at == '3' && in->at[1] == '\n';
    in->at = mark + strlen("nnz:");
    m->entries = yk_read_count(in, 0, 4, "the number of entries");
    while (in->at < in->end && *in->at != '\n')
        in->at++;
    m->entry = yk_read_reserve(in, (size_t)m->entries, sizeof *m->entry);

    int k = 0;
    if (triplet && triplet < mark) {
        for (; k < m->entries && in->status == YK_OK; k++)
            read_entry(in, m, k, -1);
    } else {
        for (int j = 0; j < m->size1 && in->status == YK_OK; j++) {
            expect_word(in, "col");
            yk_read_integer(in, j, j, "the number of a column");
            expect_word(in, ":");
            expect_word(in, "locations");
            yk_read_integer(in, k, k, "the first location of a column");
            expect_word(in, "to");
            int last = yk_read_integer(in, k - 1, m->entries - 1, "the last location of a column");
            for (; k <= last && in->status == YK_OK; k++)
                read_entry(in, m, k, j);
        }

        if (k != m->entries)
            yk_read_refuse(in, "the columns do not hold all entries");
    }

    if (in->status != YK_OK || !rows)
        return;

    for (k = 0; k < m->entries; k++) {
        yk_stored_entry e = m->entry[k];
        m->entry[k] = (yk_stored_entry){e.column, e.row, e.value};
    }
}

void yk_read_matrix(yk_reader *in, yk_stored_matrix *m)
{
    m->storage =
        yk_read_integer(in, 0, 2, "the storage of the matrix (0 dense, 1 block sparse, 2 sparse)");
    m->size0 = yk_read_integer(in, 0, 100000000, "the number of rows");
    m->size1 = yk_read_integer(in, 0, 100000000, "the number of columns");
    if (in->status != YK_OK)
        return;

    switch (m->storage) {
    case 0: read_dense(in, m); break;
    case 1: read_blocks(in, m); break;
    default: read_entries(in, m); break;
    }
}

void yk_read_vector(yk_reader *in, double *values, int count, const char *what)
{
    for (int i = 0; i < count && in->status == YK_OK; i++)
        values[i] = yk_read_number(in, what);
}

bool yk_read_more(yk_reader *in)
{
    if (in->status != YK_OK)
        return false;

    skip_space(in);
    return in->at < in->end && *in->at != '\0' && strchr("+-.0123456789", *in->at);
}

/* Blocks from entries -------------------------------------------------------------------------- */

/* The block that an entry belongs to. */
typedef struct entry_block {
    int row, column, entry;
} entry_block;

static int compare_entry_blocks(const void *a, const void *b)
{
    const entry_block *x = a;
    const entry_block *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

void yk_stored_to_blocks(yk_reader *in, yk_stored_matrix *m, int dim)
{
    if (m->size0 != m->size1 || m->size0 % dim != 0)
        yk_read_refuse(in,
                       "the sparse matrix is not made of square blocks of the contacts' dimension");

    size_t entries = (size_t)m->entries;
    size_t size = (size_t)dim * (size_t)dim;
    m->block_rows = m->size0 / dim;
    entry_block *order = yk_read_reserve(in, entries, sizeof *order);
    m->end = yk_read_reserve(in, (size_t)m->block_rows, sizeof *m->end);
    m->start = yk_read_reserve(in, (size_t)m->block_rows + 1, sizeof *m->start);
    m->column = yk_read_reserve(in, entries, sizeof *m->column);
    m->offset = yk_read_reserve(in, entries, sizeof *m->offset);
    m->value = yk_read_reserve(in, entries * size, sizeof *m->value);
    if (in->status != YK_OK) {
        yk_release(in->context, order);
        return;
    }

    /* Entries of one block follow each other. */
    for (int i = 0; i < m->block_rows; i++)
        m->end[i] = (i + 1) * dim;
    for (int k = 0; k < m->entries; k++)
        order[k] = (entry_block){m->entry[k].row / dim, m->entry[k].column / dim, k};
    qsort(order, entries, sizeof *order, compare_entry_blocks);

    int block = -1;
    for (int k = 0; k < m->entries; k++) {
        const entry_block *o = &order[k];
        if (k == 0 || o->row != o[-1].row || o->column != o[-1].column) {
            block++;
            m->column[block] = o->column;
            m->offset[block] = (size_t)block * size;
            m->start[o->row + 1]++;
        }

        /* Entries that are given twice add up, as in CSparse. */
        const yk_stored_entry *entry = &m->entry[o->entry];
        double *value = m->value + m->offset[block];
        value[entry->row % dim * dim + entry->column % dim] += entry->value;
    }

    m->filled = block + 1;
    for (int i = 0; i < m->block_rows; i++)
        m->start[i + 1] += m->start[i];
    m->storage = 1;
    yk_release(in->context, order);
}
