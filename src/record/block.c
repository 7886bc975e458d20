#include "record/block.h"

yk_status yk_block_open(yk_context *context, yk_block *block, size_t width,
                        const yk_file_recorder_def *def)
{
    size_t rows = def->block_rows > 0 ? (size_t)def->block_rows : 1;
    *block = (yk_block){.stride = width + 1, .flush_seconds = def->flush_seconds};
    size_t bytes = block->stride * sizeof *block->values;
    block->values = yk_allocate(context, rows, bytes);
    if (!block->values)
        return YK_ERROR_MEMORY;
    block->capacity = rows;
    clock_gettime(CLOCK_MONOTONIC, &block->flushed);
    return YK_OK;
}

void yk_block_close(yk_context *context, yk_block *block)
{
    yk_release(context, block->values);
    *block = (yk_block){0};
}

bool yk_block_due(const yk_block *block)
{
    if (block->rows == block->capacity)
        return true;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double passed = (double)(now.tv_sec - block->flushed.tv_sec) +
                    1e-9 * (double)(now.tv_nsec - block->flushed.tv_nsec);
    return passed >= block->flush_seconds;
}

void yk_block_clear(yk_block *block)
{
    block->rows = 0;
    clock_gettime(CLOCK_MONOTONIC, &block->flushed);
}
