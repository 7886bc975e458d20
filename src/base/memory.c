/* Lists of blocks, and memory that grows with its content. */
#include <stdalign.h>
#include <string.h>

#include "base/context.h"

/* Lists of blocks ------------------------------------------------------------------------------ */

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
        yk_free(context, *pointer);
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

/* Growing memory ------------------------------------------------------------------------------- */

enum { BLOCK_FIRST = 1 << 12, BLOCK_MAX = 1 << 20 };

struct yk_store_block {
    yk_store_block *next;
    size_t capacity, used;
    alignas(max_align_t) unsigned char data[];
};

void *yk_store_take(yk_store *store, size_t bytes)
{
    size_t unit = alignof(max_align_t);
    size_t rounded = (bytes + unit - 1) / unit * unit;
    yk_store_block *block = store->blocks;

    /* A new block is twice as large as the last one, up to BLOCK_MAX, or larger if the request is. */
    if (!block || block->capacity - block->used < rounded) {
        size_t capacity = BLOCK_FIRST;
        if (block)
            capacity = 2 * block->capacity;
        if (capacity > BLOCK_MAX)
            capacity = BLOCK_MAX;

        if (capacity < rounded)
            capacity = rounded;

        block = yk_allocate(store->context, 1, sizeof *block + capacity);
        if (!block)
            return NULL;

        block->capacity = capacity;
        block->next = store->blocks;
        store->blocks = block;
    }

    void *taken = block->data + block->used;
    block->used += rounded;
    return taken;
}

char *yk_store_text(yk_store *store, const char *text, size_t length)
{
    char *copy = yk_store_take(store, length + 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

void yk_store_destroy(yk_store *store)
{
    while (store->blocks) {
        yk_store_block *next = store->blocks->next;
        yk_free(store->context, store->blocks);
        store->blocks = next;
    }
}
