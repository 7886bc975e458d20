/* Whitespace-separated numbers and the matrices made of them, as NumericsMatrix writes them:
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
#ifndef YK_CONTACT_READ_MATRIX_H
#define YK_CONTACT_READ_MATRIX_H

#include "yoke/base.h"

typedef struct yk_reader {
    yk_context *context;
    const char *name;
    const char *at, *begin, *end; /* *end is a terminating zero */
    yk_status status;             /* the first thing that went wrong; later reads return 0 */
} yk_reader;

static inline yk_reader yk_reader_of(yk_context *context, const char *name, const char *text,
                                     size_t length)
{
    return (yk_reader){
        .context = context, .name = name, .at = text, .begin = text, .end = text + length};
}

/* Notes the first thing that is wrong, with its location; all functions below do nothing after
 * it. */
void yk_read_refuse(yk_reader *in, const char *what);
/* `what` is named in errors. */
double yk_read_number(yk_reader *in, const char *what);
int yk_read_integer(yk_reader *in, int low, int high, const char *what);
/* A count of things of which each takes at least `bytes` bytes of the rest of the file. */
int yk_read_count(yk_reader *in, int low, size_t bytes, const char *what);
void yk_read_vector(yk_reader *in, double *values, int count, const char *what);
/* Whether another number follows, not the end or a remark; false after a mistake. */
bool yk_read_more(yk_reader *in);
void *yk_read_reserve(yk_reader *in, size_t count, size_t size);

/* A stored matrix as it stands in the file: dense values, blocks, or single entries, not brought
 * in order. */
typedef struct yk_stored_entry {
    int row, column;
    double value;
} yk_stored_entry;

typedef struct yk_stored_matrix {
    int size0, size1;
    int storage;
    double *dense; /* row-major */
    int entries;   /* storage 2 */
    yk_stored_entry *entry;
    int block_rows, filled;
    int *end; /* cumulative sizes of block rows and columns */
    int *start, *column;
    size_t *offset; /* of each block in value, row-major */
    double *value;
} yk_stored_matrix;

/* Size of block row i, from the cumulative sizes. */
static inline int yk_stored_block(const int *end, int i)
{
    return end[i] - (i > 0 ? end[i - 1] : 0);
}

void yk_read_matrix(yk_reader *in, yk_stored_matrix *m);
void yk_stored_destroy(yk_context *context, yk_stored_matrix *m);
/* From single entries to blocks of `dim` rows and columns (storage 1). */
void yk_stored_to_blocks(yk_reader *in, yk_stored_matrix *m, int dim);

#endif
