/* Rows on their way to a file: collected row by row, written a block at a time. */
#ifndef YK_RECORD_BLOCK_H
#define YK_RECORD_BLOCK_H

#include <time.h>

#include "yoke/record.h"

typedef struct yk_block {
    double *values; /* rows of `stride` doubles, time first */
    size_t stride;
    size_t rows;
    size_t capacity;      /* 0 while no record is open */
    double flush_seconds; /* at most so long do rows wait for a sample to carry them out */
    struct timespec flushed;
} yk_block;

yk_status yk_block_open(yk_context *context, yk_block *block, size_t width,
                        const yk_file_recorder_def *def);
void yk_block_close(yk_context *context, yk_block *block);

/* True when the rows should be written now. */
bool yk_block_due(const yk_block *block);
/* The rows were written. */
void yk_block_clear(yk_block *block);

static inline void yk_block_add(yk_block *block, double time, const double *row)
{
    double *place = block->values + block->rows++ * block->stride;
    place[0] = time;
    for (size_t i = 1; i < block->stride; i++)
        place[i] = row[i - 1];
}

#endif
