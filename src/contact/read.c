/* Whitespace-separated numbers, as NumericsMatrix writes them:
 *
 *   <matrix>   storage size0 size1, then
 *   storage 0  size0 size1, values column-major
 *   storage 1  blocks block_rows block_columns, cumulative row sizes, cumulative column sizes, filled1 filled2,
 *              index1[filled1] (row starts), index2[filled2] (block columns), then each block's number and values
 * column-major
 */
#include "contact/read.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct reader {
    yk_context *context;
    const char *name;
    const char *at, *begin, *end; /* *end is a terminating zero */
    yk_status status;             /* the first thing that went wrong; later reads return 0 */
} reader;

static int line_of(const reader *in)
{
    int line = 1;
    for (const char *c = in->begin; c < in->at; c++) line += *c == '\n';
    return line;
}

static void refuse(reader *in, const char *what)
{
    if (in->status != YK_OK) return;
    in->status = yk_fail(in->context, YK_ERROR_INPUT, "%s:%d: %s (byte %zu)", in->name, line_of(in), what,
                         (size_t)(in->at - in->begin));
}

static void skip_space(reader *in)
{
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\t' || *in->at == '\n' || *in->at == '\r')) in->at++;
}

static double read_number(reader *in, const char *what)
{
    if (in->status != YK_OK) return 0;
    skip_space(in);
    char message[160];
    if (in->at >= in->end) {
        snprintf(message, sizeof message, "the file ends where %s was expected", what);
        refuse(in, message);
        return 0;
    }
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
    double value = read_number(in, what);
    if (in->status != YK_OK) return low;
    if (value != floor(value) || value < low || value > high) {
        char message[200];
        snprintf(message, sizeof message, "%s is %.17g, expected a whole number from %d to %d", what, value, low, high);
        refuse(in, message);
        return low;
    }
    return (int)value;
}

/* A count of things of which each takes at least `bytes` bytes of the rest of the file. */
static int read_count(reader *in, int low, size_t bytes, const char *what)
{
    size_t rest = (size_t)(in->end - in->at) / bytes + 1;
    int value = read_integer(in, low, 100000000, what);
    if (in->status == YK_OK && (size_t)value > rest) {
        char message[160];
        snprintf(message, sizeof message, "%s is %d, more than the rest of the file can hold", what, value);
        refuse(in, message);
    }
    return in->status == YK_OK ? value : low;
}

static void *reserve(reader *in, size_t count, size_t size)
{
    if (in->status != YK_OK) return NULL;
    void *memory = yk_allocate(in->context, count + 1, size);
    if (!memory) in->status = YK_ERROR_MEMORY;
    return memory;
}

/* Blocks of a stored matrix, before they are brought in order. */
typedef struct stored_matrix {
    int size0, size1;
    int storage;
    double *dense; /* row-major */
    int block_rows, filled;
    int *end; /* cumulative sizes of block rows and columns */
    int *start, *column;
    size_t *offset; /* of each block in value, row-major */
    double *value;
} stored_matrix;

static void stored_destroy(yk_context *context, stored_matrix *m)
{
    void *arrays[] = {m->dense, m->end, m->start, m->column, m->offset, m->value};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) yk_release(context, arrays[i]);
}

static void read_dense_values(reader *in, double *values, int rows, int columns)
{
    for (int c = 0; c < columns && in->status == YK_OK; c++)
        for (int r = 0; r < rows && in->status == YK_OK; r++)
            values[(size_t)r * (size_t)columns + (size_t)c] = read_number(in, "a matrix value");
}

static void read_dense(reader *in, stored_matrix *m)
{
    int rows = read_integer(in, 0, 100000000, "the number of rows");
    int columns = read_integer(in, 0, 100000000, "the number of columns");
    if (in->status == YK_OK && (rows != m->size0 || columns != m->size1))
        refuse(in, "the sizes of the dense matrix differ from those in its head");
    size_t count = (size_t)rows * (size_t)columns;
    if (in->status == YK_OK && count > (size_t)(in->end - in->at))
        refuse(in, "the matrix is larger than the rest of the file can hold");
    m->dense = reserve(in, count, sizeof *m->dense);
    if (in->status == YK_OK) read_dense_values(in, m->dense, rows, columns);
}

/* Cumulative sizes: rising and ending at `total`. */
static void read_ends(reader *in, int *end, int count, int total)
{
    for (int i = 0; i < count && in->status == YK_OK; i++) {
        int value = read_integer(in, i > 0 ? end[i - 1] + 1 : 1, total, "the end of a block row or column");
        if (in->status == YK_OK) end[i] = value;
    }
    if (in->status == YK_OK && count > 0 && end[count - 1] != total)
        refuse(in, "the blocks do not add up to the size of the matrix");
}

static int block_size(const int *end, int i)
{
    return end[i] - (i > 0 ? end[i - 1] : 0);
}

static void read_block_index(reader *in, stored_matrix *m, int blocks)
{
    int filled1 = read_count(in, 0, 2, "the number of row starts");
    m->filled = read_count(in, 0, 2, "the number of blocks in rows");
    if (in->status == YK_OK && (filled1 != m->block_rows + 1 || m->filled != blocks))
        refuse(in, "the index of the blocks does not fit their number");
    m->start = reserve(in, (size_t)m->block_rows + 1, sizeof *m->start);
    m->column = reserve(in, (size_t)m->filled, sizeof *m->column);
    m->offset = reserve(in, (size_t)m->filled, sizeof *m->offset);
    for (int i = 0; i <= m->block_rows && in->status == YK_OK; i++)
        m->start[i] =
            read_integer(in, i > 0 ? m->start[i - 1] : 0, i < m->block_rows ? m->filled : m->filled, "a row start");
    if (in->status == YK_OK && (m->start[0] != 0 || m->start[m->block_rows] != m->filled))
        refuse(in, "the row starts do not span all blocks");
    for (int k = 0; k < m->filled && in->status == YK_OK; k++)
        m->column[k] = read_integer(in, 0, m->block_rows - 1, "a block column");
}

static void read_block_values(reader *in, stored_matrix *m)
{
    size_t total = 0;
    for (int i = 0; i < m->block_rows; i++)
        for (int k = m->start[i]; k < m->start[i + 1]; k++) {
            m->offset[k] = total;
            total += (size_t)block_size(m->end, i) * (size_t)block_size(m->end, m->column[k]);
        }
    if (total > (size_t)(in->end - in->at)) refuse(in, "the blocks are larger than the rest of the file can hold");
    m->value = reserve(in, total, sizeof *m->value);
    for (int i = 0; i < m->block_rows && in->status == YK_OK; i++)
        for (int k = m->start[i]; k < m->start[i + 1] && in->status == YK_OK; k++) {
            read_integer(in, k, k, "the number of a block");
            read_dense_values(in, m->value + m->offset[k], block_size(m->end, i), block_size(m->end, m->column[k]));
        }
}

static void read_blocks(reader *in, stored_matrix *m)
{
    int blocks = read_count(in, 0, 2, "the number of blocks");
    m->block_rows = read_count(in, 0, 2, "the number of block rows");
    int block_columns = read_count(in, 0, 2, "the number of block columns");
    if (in->status == YK_OK && (m->size0 != m->size1 || block_columns != m->block_rows))
        refuse(in, "the block matrix is not square");
    m->end = reserve(in, (size_t)m->block_rows, sizeof *m->end);
    int *columns_end = reserve(in, (size_t)m->block_rows, sizeof *columns_end);
    if (in->status == YK_OK) read_ends(in, m->end, m->block_rows, m->size0);
    if (in->status == YK_OK) read_ends(in, columns_end, m->block_rows, m->size1);
    if (in->status == YK_OK && memcmp(m->end, columns_end, (size_t)m->block_rows * sizeof *m->end) != 0)
        refuse(in, "rows and columns are cut into different blocks");
    yk_release(in->context, columns_end);
    if (in->status == YK_OK) read_block_index(in, m, blocks);
    if (in->status == YK_OK) read_block_values(in, m);
}

static void read_matrix(reader *in, stored_matrix *m)
{
    m->storage = read_integer(in, 0, 1, "the storage of the matrix (0 dense, 1 block sparse)");
    m->size0 = read_integer(in, 0, 100000000, "the number of rows");
    m->size1 = read_integer(in, 0, 100000000, "the number of columns");
    if (in->status != YK_OK) return;
    if (m->storage == 0)
        read_dense(in, m);
    else
        read_blocks(in, m);
}

static void read_vector(reader *in, double *values, int count, const char *what)
{
    for (int i = 0; i < count && in->status == YK_OK; i++) values[i] = read_number(in, what);
}

/* Contact problems --------------------------------------------------------------------------------------------- */

/* A place of W: a stored block, or none (-1) where the diagonal or a block's mirror image was left out of the file. */
typedef struct place {
    int row, column;
    int block;
} place;

static int compare_places(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return (x->block < y->block) - (x->block > y->block); /* stored ones first */
}

/* All places in rising order, each once, with the diagonal and symmetric: what the solvers rely on. Returns their number. */
static int list_places(reader *in, const stored_matrix *m, place *places)
{
    int listed = 0, count = 0;
    for (int i = 0; i < m->block_rows; i++) {
        places[listed++] = (place){i, i, -1};
        for (int k = m->start[i]; k < m->start[i + 1]; k++) {
            places[listed++] = (place){i, m->column[k], k};
            places[listed++] = (place){m->column[k], i, -1};
        }
    }
    qsort(places, (size_t)listed, sizeof *places, compare_places);
    for (int k = 0; k < listed; k++) {
        const place *last = count > 0 ? &places[count - 1] : NULL;
        if (!last || last->row != places[k].row || last->column != places[k].column)
            places[count++] = places[k];
        else if (places[k].block >= 0)
            refuse(in, "a block of W is given twice");
    }
    return count;
}

static void create_from_places(reader *in, const stored_matrix *m, int dim, const place *places, int count,
                               yk_contact_problem *problem)
{
    size_t rows = (size_t)m->block_rows;
    int *start = reserve(in, rows + 1, sizeof *start), *columns = reserve(in, (size_t)count, sizeof *columns);
    int *dims = reserve(in, rows, sizeof *dims);
    if (in->status == YK_OK) {
        for (int k = 0; k < count; k++) {
            columns[k] = places[k].column;
            start[places[k].row + 1] = k + 1;
        }
        for (size_t i = 0; i < rows; i++) dims[i] = dim;
        in->status =
            yk_contact_problem_create(in->context, m->block_rows, m->block_rows, dims, start, columns, problem);
    }
    for (int k = 0; in->status == YK_OK && k < count; k++)
        if (places[k].block >= 0)
            memcpy(problem->w.value + problem->w.offset[k], m->value + m->offset[places[k].block],
                   (size_t)dim * (size_t)dim * sizeof(double));
    yk_release(in->context, dims);
    yk_release(in->context, columns);
    yk_release(in->context, start);
}

static void problem_from_blocks(reader *in, const stored_matrix *m, int dim, yk_contact_problem *problem)
{
    for (int i = 0; i < m->block_rows; i++)
        if (block_size(m->end, i) != dim) refuse(in, "the blocks of W are not those of the contacts");
    place *places = reserve(in, 2 * (size_t)m->filled + (size_t)m->block_rows, sizeof *places);
    int count = in->status == YK_OK ? list_places(in, m, places) : 0;
    if (in->status == YK_OK) create_from_places(in, m, dim, places, count, problem);
    yk_release(in->context, places);
}

static void read_contact_problem(reader *in, stored_matrix *m, yk_contact_problem *problem)
{
    int dim = read_integer(in, 2, 3, "the dimension");
    int contacts = read_count(in, 0, 2, "the number of contacts");
    if (in->status == YK_OK) read_matrix(in, m);
    if (in->status == YK_OK && (m->size0 != dim * contacts || m->size1 != dim * contacts))
        refuse(in, "the size of W is not dimension times contacts");
    double *q = reserve(in, (size_t)(dim * contacts), sizeof *q), *mu = reserve(in, (size_t)contacts, sizeof *mu);
    if (in->status == YK_OK) read_vector(in, q, dim * contacts, "a value of q");
    if (in->status == YK_OK) read_vector(in, mu, contacts, "a value of mu");
    if (in->status == YK_OK) {
        if (m->storage == 0)
            in->status = yk_contact_problem_from_dense(in->context, dim, contacts, 0, m->dense, q, mu, problem);
        else
            problem_from_blocks(in, m, dim, problem);
    }
    if (in->status == YK_OK) {
        memcpy(problem->q, q, (size_t)problem->row_count * sizeof *q);
        memcpy(problem->mu, mu, (size_t)contacts * sizeof *mu);
        for (int i = 0; i < contacts; i++)
            if (mu[i] < 0) refuse(in, "a friction coefficient is negative");
    }
    yk_release(in->context, mu);
    yk_release(in->context, q);
}

yk_status yk_contact_parse(yk_context *context, const char *name, const char *text, size_t length,
                           yk_contact_problem *problem)
{
    reader in = {.context = context, .name = name, .at = text, .begin = text, .end = text + length};
    stored_matrix m = {0};
    *problem = (yk_contact_problem){0};
    read_contact_problem(&in, &m, problem);
    stored_destroy(context, &m);
    if (in.status != YK_OK) yk_contact_problem_destroy(context, problem);
    return in.status;
}

/* LCP and MLCP ------------------------------------------------------------------------------------------------- */

static void mlcp_from_stored(reader *in, const stored_matrix *m, yk_mlcp *problem)
{
    size_t n = (size_t)problem->n;
    if (m->storage == 0) {
        memcpy(problem->m, m->dense, n * n * sizeof *problem->m);
        return;
    }
    for (int i = 0; i < m->block_rows && in->status == YK_OK; i++)
        for (int k = m->start[i]; k < m->start[i + 1]; k++) {
            int j = m->column[k], rows = block_size(m->end, i), columns = block_size(m->end, j);
            size_t row = (size_t)(m->end[i] - rows), column = (size_t)(m->end[j] - columns);
            for (int r = 0; r < rows; r++)
                memcpy(problem->m + (row + (size_t)r) * n + column, m->value + m->offset[k] + r * columns,
                       (size_t)columns * sizeof(double));
        }
}

static void read_lcp(reader *in, stored_matrix *m, yk_mlcp *problem)
{
    int n = read_count(in, 0, 2, "the size");
    if (in->status == YK_OK) read_matrix(in, m);
    if (in->status == YK_OK && (m->size0 != n || m->size1 != n)) refuse(in, "M is not n x n");
    if (in->status == YK_OK) in->status = yk_mlcp_create(in->context, n, problem);
    if (in->status != YK_OK) return;
    mlcp_from_stored(in, m, problem);
    read_vector(in, problem->q, n, "a value of q");
}

/* The rows of each block are equations (kind 0) or complementarities (kind 1). */
static void read_row_kinds(reader *in, int n, int m, yk_mlcp *problem)
{
    int size = n + m, count = 0;
    int *end = reserve(in, (size_t)size, sizeof *end);
    if (in->status != YK_OK) return;
    read_integer(in, 0, 0, "the begin of the first block row");
    while (in->status == YK_OK && (count == 0 || end[count - 1] < size)) {
        int value = read_integer(in, count > 0 ? end[count - 1] + 1 : 1, size, "the end of a block row");
        if (in->status == YK_OK) end[count++] = value;
    }
    int equations = 0;
    for (int b = 0; b < count && in->status == YK_OK; b++) {
        int kind = read_integer(in, 0, 1, "the kind of a block row");
        for (int r = b > 0 ? end[b - 1] : 0; r < end[b]; r++) problem->lower[r] = kind == 0 ? -INFINITY : 0;
        if (kind == 0) equations += block_size(end, b);
    }
    if (in->status == YK_OK && equations != n) refuse(in, "the block rows do not hold n equations");
    yk_release(in->context, end);
}

/* A (n x n), B (m x m), C (n x m), D (m x n), a, b: plain rows. */
static void read_separate_parts(reader *in, int n, int m, yk_mlcp *problem)
{
    size_t size = (size_t)(n + m);
    const struct {
        int row, column, rows, columns;
    } parts[] = {{0, 0, n, n}, {n, n, m, m}, {0, n, n, m}, {n, 0, m, n}};
    for (size_t p = 0; p < 4; p++)
        for (int r = 0; r < parts[p].rows; r++)
            read_vector(in, problem->m + (size_t)(parts[p].row + r) * size + (size_t)parts[p].column, parts[p].columns,
                        "a matrix value");
    read_vector(in, problem->q, n + m, "a value of a or b");
    for (int r = 0; r < n; r++) problem->lower[r] = -INFINITY;
}

static void read_mlcp(reader *in, stored_matrix *stored, yk_mlcp *problem)
{
    int blocks = read_integer(in, 0, 1, "the flag of the block form");
    int parts = read_integer(in, 0, 1, "the flag of the separate form");
    int n = read_count(in, 0, 2, "the number of equations");
    int m = read_count(in, 0, 2, "the number of complementarities");
    if (in->status == YK_OK && !blocks && !parts) refuse(in, "neither form of the problem is given");
    size_t size = (size_t)n + (size_t)m;
    if (in->status == YK_OK && size * size > (size_t)(in->end - in->at))
        refuse(in, "the matrix is larger than the rest of the file can hold");
    if (in->status == YK_OK) in->status = yk_mlcp_create(in->context, n + m, problem);
    if (in->status != YK_OK) return;
    if (!blocks) {
        read_separate_parts(in, n, m, problem);
        return;
    }
    read_row_kinds(in, n, m, problem);
    if (in->status == YK_OK) read_matrix(in, stored);
    if (in->status == YK_OK && (stored->size0 != n + m || stored->size1 != n + m)) refuse(in, "M is not (n+m) x (n+m)");
    if (in->status == YK_OK) mlcp_from_stored(in, stored, problem);
    read_vector(in, problem->q, n + m, "a value of q");
}

/* The first numbers tell: a contact problem has W of dim * nc rows, an LCP M of n rows, an MLCP two flags. */
static yk_status kind_of(reader *in, yk_problem_kind *kind)
{
    double head[5] = {0};
    for (int i = 0; i < 5 && in->status == YK_OK; i++) head[i] = read_number(in, "one of the first five numbers");
    if (in->status != YK_OK) return in->status;
    bool contact = (head[0] == 2 || head[0] == 3) && (head[2] == 0 || head[2] == 1) && head[3] == head[0] * head[1] &&
                   head[4] == head[3];
    bool lcp = head[2] == head[0] && head[3] == head[0] &&
               ((head[1] == 0 && head[4] == head[0]) || (head[1] == 1 && head[4] >= 1));
    bool mlcp = (head[0] == 0 || head[0] == 1) && (head[1] == 0 || head[1] == 1);
    if (!contact && !lcp && !mlcp) refuse(in, "neither a contact problem nor an LCP nor an MLCP begins like this");
    *kind = contact ? YK_PROBLEM_CONTACT : lcp ? YK_PROBLEM_LCP : YK_PROBLEM_MLCP;
    return in->status;
}

yk_status yk_mlcp_parse(yk_context *context, const char *name, const char *text, size_t length, yk_mlcp *problem)
{
    reader in = {.context = context, .name = name, .at = text, .begin = text, .end = text + length};
    stored_matrix m = {0};
    yk_problem_kind kind = YK_PROBLEM_LCP;
    *problem = (yk_mlcp){0};
    kind_of(&in, &kind);
    in.at = text;
    if (in.status == YK_OK && kind == YK_PROBLEM_CONTACT) refuse(&in, "this is a contact problem, not an LCP or MLCP");
    if (in.status == YK_OK) {
        if (kind == YK_PROBLEM_MLCP)
            read_mlcp(&in, &m, problem);
        else
            read_lcp(&in, &m, problem);
    }
    stored_destroy(context, &m);
    if (in.status != YK_OK) yk_mlcp_destroy(context, problem);
    return in.status;
}

/* Files -------------------------------------------------------------------------------------------------------- */

static yk_status load_text(yk_context *context, const char *path, char **text, size_t *length)
{
    *text = NULL;
    *length = 0;
    FILE *file = fopen(path, "rb");
    if (!file) return yk_fail(context, YK_ERROR_FILE, "%s: %s", path, strerror(errno));
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
    if (status != YK_OK) return status;
    reader in = {.context = context, .name = path, .at = text, .begin = text, .end = text + length};
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
    if (status != YK_OK) return status;
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
    if (status != YK_OK) return status;
    status = yk_mlcp_parse(context, path, text, length, problem);
    yk_release(context, text);
    return status;
}
