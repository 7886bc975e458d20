/* A stack of memory for one step: allocation moves a pointer, reset frees all. Never calls the allocator after
 * creation, so stepping allocates nothing. */
#ifndef YK_BASE_ARENA_H
#define YK_BASE_ARENA_H

#include "yoke/base.h"

typedef struct yk_arena {
    unsigned char *block;
    size_t capacity;
    size_t used;
    size_t peak; /* largest `used` so far */
} yk_arena;

yk_status yk_arena_create(yk_context *context, size_t bytes, yk_arena *arena);
void yk_arena_destroy(yk_context *context, yk_arena *arena);

/* 64-byte aligned and not zeroed; NULL when the arena is full. */
void *yk_arena_take(yk_arena *arena, size_t count, size_t size);

/* Frees everything taken since the mark. */
size_t yk_arena_mark(const yk_arena *arena);
void yk_arena_release(yk_arena *arena, size_t mark);

#endif
