/* A stack in one block, with a head before each piece that knows its size. What does not fit
 * comes from the parent piece by piece; the reset after that replaces the block by one for all. */
#include "base/scratch.h"

#include <string.h>

enum { ALIGNMENT = 64 }; /* holds a head; what the parent gives is aligned for any type */

typedef struct piece {
    size_t bytes;
    struct piece *next; /* of those that did not fit */
} piece;

struct yk_scratch {
    yk_context *parent, *context;
    unsigned char *block;
    size_t capacity, used;
    size_t wanted; /* what this round has taken in all */
    size_t due;    /* capacity of the block that is to be taken with the first piece */
    piece *others;
};

static void *take(yk_scratch *s, size_t bytes)
{
    /* More than there can be. */
    if (bytes > SIZE_MAX / 2)
        return NULL;

    /* The block is taken with the first piece that needs it. */
    if (s->due > 0) {
        s->block = yk_reallocate(s->parent, NULL, 1, s->due);
        if (!s->block)
            return NULL;

        s->capacity = s->due;
        s->due = 0;
    }

    /* A head, then what was asked for. */
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

    s->wanted += size;
    return (unsigned char *)head + ALIGNMENT;
}

static void *allocate(void *user, void *block, size_t bytes)
{
    yk_scratch *s = user;

    /* Nothing is released one by one: the reset gives all back. */
    if (bytes == 0)
        return NULL;

    void *fresh = take(s, bytes);
    if (!fresh || !block)
        return fresh;

    /* A piece that grows is copied. */
    const piece *old = (const piece *)(const void *)((unsigned char *)block - ALIGNMENT);

    memcpy(fresh, block, old->bytes < bytes ? old->bytes : bytes);
    return fresh;
}

yk_scratch *yk_scratch_create(yk_context *parent)
{
    yk_scratch *s = yk_allocate(parent, 1, sizeof *s);
    if (!s)
        return NULL;

    /* A context whose allocator is this stack. */
    s->parent = parent;
    yk_context_def def = yk_context_default();
    def.allocate = allocate;
    def.allocate_user = s;
    def.threads = yk_context_threads(parent);

    /* The context is a piece of its own that no reset takes. */
    s->context = yk_context_create(&def);

    piece *own = s->others;
    s->others = NULL;
    s->wanted = 0;
    if (s->context)
        return s;

    yk_release(parent, own);
    yk_release(parent, s);

    return NULL;
}

static void release_others(yk_scratch *s)
{
    while (s->others) {
        piece *head = s->others;
        s->others = head->next;
        yk_release(s->parent, head);
    }
}

void yk_scratch_destroy(yk_scratch *s)
{
    if (!s)
        return;

    /* Pieces, the block, and the context that no reset takes. */
    yk_context *parent = s->parent;
    release_others(s);
    yk_release(parent, s->block);
    yk_release(parent, (unsigned char *)s->context - ALIGNMENT);
    yk_release(parent, s);
}

yk_context *yk_scratch_context(yk_scratch *s)
{
    return s->context;
}

void yk_scratch_reset(yk_scratch *s)
{
    /* What did not fit: one block for all in the next round. */
    if (s->others) {
        release_others(s);
        yk_release(s->parent, s->block);
        s->block = NULL;
        s->capacity = 0;
        s->due = s->wanted + s->wanted / 4;
    }

    s->used = s->wanted = 0;
}
