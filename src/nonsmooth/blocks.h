/* Blocks of memory that a part of the subsystem needs while it runs: one list per part, so that
 * taking, releasing and counting agree. */
#ifndef YK_NONSMOOTH_BLOCKS_H
#define YK_NONSMOOTH_BLOCKS_H

#include "yoke/base.h"

typedef struct yk_block {
    void *pointer; /* address of the pointer */
    size_t count, size;
} yk_block;

#define YK_BLOCK(pointer, count)             \
    {                                        \
        &(pointer), count, sizeof *(pointer) \
    }
#define YK_BLOCK_IF(condition, pointer, count)                   \
    {                                                            \
        &(pointer), (condition) ? (count) : 0, sizeof *(pointer) \
    }

/* Not zeroed: pages that are never used are never touched. Blocks of no length are NULL. */
yk_status yk_blocks_take(yk_context *context, const yk_block *blocks, size_t count);
void yk_blocks_release(yk_context *context, const yk_block *blocks, size_t count);
size_t yk_blocks_bytes(const yk_block *blocks, size_t count);

#endif
