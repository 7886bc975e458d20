#include "base/arena.h"

#include <stdint.h>

enum { ALIGNMENT = 64 };

yk_status yk_arena_create(yk_context *context, size_t bytes, yk_arena *arena)
{
    *arena = (yk_arena){0};
    arena->block = yk_allocate(context, bytes + ALIGNMENT, 1);
    if (!arena->block) return YK_ERROR_MEMORY;
    arena->capacity = bytes + ALIGNMENT;
    return YK_OK;
}

void yk_arena_destroy(yk_context *context, yk_arena *arena)
{
    yk_release(context, arena->block);
    *arena = (yk_arena){0};
}

void *yk_arena_take(yk_arena *arena, size_t count, size_t size)
{
    uintptr_t place = (uintptr_t)arena->block + arena->used;
    size_t padding = (ALIGNMENT - place % ALIGNMENT) % ALIGNMENT;
    size_t left = arena->capacity - arena->used;
    if (padding > left) return NULL;
    left -= padding;
    if (size && count > left / size) return NULL;
    void *taken = arena->block + arena->used + padding;
    arena->used += padding + count * size;
    if (arena->used > arena->peak) arena->peak = arena->used;
    return taken;
}

size_t yk_arena_mark(const yk_arena *arena)
{
    return arena->used;
}

void yk_arena_release(yk_arena *arena, size_t mark)
{
    arena->used = mark;
}
