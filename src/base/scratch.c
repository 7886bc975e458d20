/* A context whose memory is one stack. Each piece has a head that stores its size, because growing it copies it. Pieces that
 * do not fit come from the parent one by one, and the next reset replaces the stack by one that is large enough. */
#include <string.h>

#include "base/context.h"

enum { ALIGNMENT = 64 }; /* room for a head */

typedef struct piece {
    size_t bytes;
    struct piece *next; /* In the list of pieces that did not fit. */
} piece;

struct yk_scratch {
    yk_context *parent, *context;
    unsigned char *block;
    size_t capacity, used;
    size_t total; /* Bytes of all pieces since the last reset. */
    size_t due;   /* Capacity of a block that is allocated with the next piece; 0: none. */
    piece *others;
};

static void *take_piece(yk_scratch *s, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;

    if (s->due > 0) {
        s->block = yk_reallocate(s->parent, NULL, 1, s->due);
        if (!s->block)
            return NULL;

        s->capacity = s->due;
        s->due = 0;
    }

    size_t size = ALIGNMENT + (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    piece *head;
    if (size <= s->capacity - s->used) {
        head = (piece *)(void *)(s->block + s->used);
        *head = (piece){.bytes = bytes};
        s->used += size;
    } else {
        head = yk_reallocate(s->parent, NULL, 1, size);
        if (!head)
            return NULL;

        *head = (piece){.bytes = bytes, .next = s->others};
        s->others = head;
    }

    s->total += size;
    return (unsigned char *)head + ALIGNMENT;
}

static void *allocate_scratch(void *user, void *block, size_t bytes)
{
    yk_scratch *s = user;

    /* Only a reset frees memory. */
    if (bytes == 0)
        return NULL;

    void *fresh = take_piece(s, bytes);
    if (!fresh || !block)
        return fresh;

    const piece *old = (const piece *)(const void *)((unsigned char *)block - ALIGNMENT);

    memcpy(fresh, block, old->bytes < bytes ? old->bytes : bytes);
    return fresh;
}

yk_scratch *yk_scratch_create(yk_context *parent)
{
    yk_scratch *s = yk_allocate(parent, 1, sizeof *s);
    if (!s)
        return NULL;

    s->parent = parent;
    yk_context_def def = yk_context_default();
    def.allocate = allocate_scratch;
    def.allocate_user = s;
    def.thread_count = yk_context_threads(parent);
    def.log = NULL;
    yk_context_inherit_stop(&def, parent);

    /* Take the piece of the context itself out of the list, so that no reset frees it. */
    s->context = yk_context_create(&def);

    piece *own = s->others;
    s->others = NULL;
    s->total = 0;
    if (s->context)
        return s;

    yk_free(parent, own);
    yk_free(parent, s);

    return NULL;
}

static void release_others(yk_scratch *s)
{
    while (s->others) {
        piece *head = s->others;
        s->others = head->next;
        yk_free(s->parent, head);
    }
}

void yk_scratch_destroy(yk_scratch *s)
{
    if (!s)
        return;

    yk_context *parent = s->parent;
    release_others(s);
    yk_free(parent, s->block);
    yk_free(parent, (unsigned char *)s->context - ALIGNMENT);
    yk_free(parent, s);
}

yk_context *yk_scratch_context(yk_scratch *s)
{
    return s->context;
}

void yk_scratch_reset(yk_scratch *s)
{
    /* Pieces did not fit: allocate one block for all of them next time. */
    if (s->others) {
        release_others(s);
        yk_free(s->parent, s->block);
        s->block = NULL;
        s->capacity = 0;
        s->due = s->total + s->total / 4;
    }

    s->used = s->total = 0;
}
