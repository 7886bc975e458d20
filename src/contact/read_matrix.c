#include "contact/read_matrix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int line_of(const yk_reader *in)
{
    int line = 1;
    for (const char *c = in->begin; c < in->at; c++)
        line += *c == '\n';
    return line;
}

void yk_read_refuse(yk_reader *in, const char *what)
{
    if (in->status != YK_OK)
        return;
    in->status = yk_fail(in->context, YK_ERROR_INPUT, "%s:%d: %s (byte %zu)", in->name, line_of(in),
                         what, (size_t)(in->at - in->begin));
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
    }
    return in->status == YK_OK ? value : low;
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
    if (in->status == YK_OK && (rows != m->size0 || columns != m->size1))
        yk_read_refuse(in, "the sizes of the dense matrix differ from those in its head");
    size_t count = (size_t)rows * (size_t)columns;
    if (in->status == YK_OK && count > (size_t)(in->end - in->at))
        yk_read_refuse(in, "the matrix is larger than the rest of the file can hold");
    m->dense = yk_read_reserve(in, count, sizeof *m->dense);
    if (in->status == YK_OK)
        read_dense_values(in, m->dense, rows, columns);
}

/* Cumulative sizes: rising and ending at `total`. */
static void read_ends(yk_reader *in, int *end, int count, int total)
{
    for (int i = 0; i < count && in->status == YK_OK; i++) {
        int value = yk_read_integer(in, i > 0 ? end[i - 1] + 1 : 1, total,
                                    "the end of a block row or column");
        if (in->status == YK_OK)
            end[i] = value;
    }
    if (in->status == YK_OK && count > 0 && end[count - 1] != total)
        yk_read_refuse(in, "the blocks do not add up to the size of the matrix");
}

/* Row starts and columns of the blocks. */
static void read_block_index(yk_reader *in, yk_stored_matrix *m, int blocks)
{
    int starts = yk_read_count(in, 0, 2, "the number of row starts");
    m->filled = yk_read_count(in, 0, 2, "the number of blocks in rows");
    if (in->status == YK_OK && (starts != m->block_rows + 1 || m->filled != blocks))
        yk_read_refuse(in, "the index of the blocks does not fit their number");
    m->start = yk_read_reserve(in, (size_t)m->block_rows + 1, sizeof *m->start);
    m->column = yk_read_reserve(in, (size_t)m->filled, sizeof *m->column);
    m->offset = yk_read_reserve(in, (size_t)m->filled, sizeof *m->offset);

    /* Row starts rise to the number of blocks. */
    for (int i = 0; i <= m->block_rows && in->status == YK_OK; i++) {
        int least = i > 0 ? m->start[i - 1] : 0;
        m->start[i] = yk_read_integer(in, least, m->filled, "a row start");
    }

    if (in->status == YK_OK && (m->start[0] != 0 || m->start[m->block_rows] != m->filled))
        yk_read_refuse(in, "the row starts do not span all blocks");
    for (int k = 0; k < m->filled && in->status == YK_OK; k++)
        m->column[k] = yk_read_integer(in, 0, m->block_rows - 1, "a block column");
}

static void read_block_values(yk_reader *in, yk_stored_matrix *m)
{
    size_t total = 0;
    for (int i = 0; i < m->block_rows; i++) {
        size_t rows = (size_t)yk_stored_block(m->end, i);
        for (int k = m->start[i]; k < m->start[i + 1]; k++) {
            m->offset[k] = total;
            total += rows * (size_t)yk_stored_block(m->end, m->column[k]);
        }
    }

    if (total > (size_t)(in->end - in->at))
        yk_read_refuse(in, "the blocks are larger than the rest of the file can hold");
    m->value = yk_read_reserve(in, total, sizeof *m->value);

    /* Each with its number before it. */
    for (int i = 0; i < m->block_rows && in->status == YK_OK; i++) {
        int rows = yk_stored_block(m->end, i);
        for (int k = m->start[i]; k < m->start[i + 1] && in->status == YK_OK; k++) {
            yk_read_integer(in, k, k, "the number of a block");
            read_dense_values(in, m->value + m->offset[k], rows,
                              yk_stored_block(m->end, m->column[k]));
        }
    }
}

static void read_blocks(yk_reader *in, yk_stored_matrix *m)
{
    int blocks = yk_read_count(in, 0, 2, "the number of blocks");
    m->block_rows = yk_read_count(in, 0, 2, "the number of block rows");
    int block_columns = yk_read_count(in, 0, 2, "the number of block columns");
    if (in->status == YK_OK && (m->size0 != m->size1 || block_columns != m->block_rows))
        yk_read_refuse(in, "the block matrix is not square");

    /* Where block rows and columns end. */
    m->end = yk_read_reserve(in, (size_t)m->block_rows, sizeof *m->end);
    int *columns_end = yk_read_reserve(in, (size_t)m->block_rows, sizeof *columns_end);
    if (in->status == YK_OK)
        read_ends(in, m->end, m->block_rows, m->size0);
    if (in->status == YK_OK)
        read_ends(in, columns_end, m->block_rows, m->size1);
    if (in->status == YK_OK &&
        memcmp(m->end, columns_end, (size_t)m->block_rows * sizeof *m->end) != 0)
        yk_read_refuse(in, "rows and columns are cut into different blocks");
    yk_release(in->context, columns_end);

    if (in->status == YK_OK)
        read_block_index(in, m, blocks);
    if (in->status == YK_OK)
        read_block_values(in, m);
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

static void read_entry(yk_reader *in, yk_stored_matrix *m, int k, int column)
{
    int row = yk_read_integer(in, 0, m->size0 - 1, "the row of an entry");
    if (column < 0)
        column = yk_read_integer(in, 0, m->size1 - 1, "the column of an entry");
    expect_word(in, ":");
    m->entry[k] = (struct yk_stored_entry){row, column, yk_read_number(in, "a matrix value")};
}

static void read_columns(yk_reader *in, yk_stored_matrix *m)
{
    int k = 0;
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
    if (in->status == YK_OK && k != m->entries)
        yk_read_refuse(in, "the columns do not hold all entries");
}

static void read_entries(yk_reader *in, yk_stored_matrix *m)
{
    const char *mark = strstr(in->at, "nnz:"), *kind = strstr(in->at, "triplet:");
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
    if (in->status != YK_OK)
        return;

    if (!kind || kind > mark) {
        read_columns(in, m);
    } else {
        for (int k = 0; k < m->entries && in->status == YK_OK; k++)
            read_entry(in, m, k, -1);
    }

    for (int k = 0; rows && k < m->entries && in->status == YK_OK; k++) {
        struct yk_stored_entry e = m->entry[k];
        m->entry[k] = (struct yk_stored_entry){e.column, e.row, e.value};
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

typedef struct block_place {
    int row, column, entry;
} block_place;

static int compare_block_places(const void *a, const void *b)
{
    const block_place *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

static void fill_blocks(yk_stored_matrix *m, const block_place *places, int dim)
{
    size_t size = (size_t)dim * (size_t)dim;
    int block = -1;
    for (int k = 0; k < m->entries; k++) {
        bool same =
            k > 0 && places[k].row == places[k - 1].row && places[k].column == places[k - 1].column;
        if (!same) {
            m->column[++block] = places[k].column;
            m->offset[block] = (size_t)block * size;
            m->start[places[k].row + 1]++;
        }

        /* Entries that are given twice add up, as in CSparse. */
        const struct yk_stored_entry *entry = &m->entry[places[k].entry];
        double *value = m->value + m->offset[block];
        value[entry->row % dim * dim + entry->column % dim] += entry->value;
    }

    m->filled = block + 1;
    for (int i = 0; i < m->block_rows; i++)
        m->start[i + 1] += m->start[i];
}

void yk_stored_to_blocks(yk_reader *in, yk_stored_matrix *m, int dim)
{
    if (in->status != YK_OK)
        return;
    if (m->size0 != m->size1 || m->size0 % dim != 0) {
        yk_read_refuse(in,
                       "the sparse matrix is not made of square blocks of the contacts' dimension");
        return;
    }

    size_t entries = (size_t)m->entries;
    m->block_rows = m->size0 / dim;
    block_place *places = yk_read_reserve(in, entries, sizeof *places);
    m->end = yk_read_reserve(in, (size_t)m->block_rows, sizeof *m->end);
    m->start = yk_read_reserve(in, (size_t)m->block_rows + 1, sizeof *m->start);
    m->column = yk_read_reserve(in, entries, sizeof *m->column);
    m->offset = yk_read_reserve(in, entries, sizeof *m->offset);
    m->value = yk_read_reserve(in, entries * (size_t)dim * (size_t)dim, sizeof *m->value);
    if (in->status == YK_OK) {
        for (int i = 0; i < m->block_rows; i++)
            m->end[i] = (i + 1) * dim;
        for (int k = 0; k < m->entries; k++)
            places[k] = (block_place){m->entry[k].row / dim, m->entry[k].column / dim, k};
        qsort(places, entries, sizeof *places, compare_block_places);
        fill_blocks(m, places, dim);
        m->storage = 1;
    }
    yk_release(in->context, places);
}
