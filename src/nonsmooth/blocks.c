#include "nonsmooth/blocks.h"

yk_status yk_blocks_take(yk_context *context, const yk_block *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void **pointer = blocks[i].pointer;
        *pointer = NULL;

        if (blocks[i].count == 0)
            continue;
        *pointer = yk_reallocate(context, NULL, blocks[i].count, blocks[i].size);
        if (!*pointer)
            return YK_ERROR_MEMORY;
    }

    return YK_OK;
}

void yk_blocks_release(yk_context *context, const yk_block *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void **pointer = blocks[i].pointer;
        yk_release(context, *pointer);
        *pointer = NULL;
    }
}

size_t yk_blocks_bytes(const yk_block *blocks, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += blocks[i].count * blocks[i].size;
    return bytes;
}
