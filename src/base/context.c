/* The context: allocator, log sink and last message; blocks of its memory, and memory that grows;
 * the names of statuses; contexts whose memory is kept. */
#include "base/context.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

enum { MESSAGE_CAPACITY = 4096 };

struct yk_context {
    yk_context_def def;
    char message[MESSAGE_CAPACITY];
    yk_status status; /* that it belongs to */
    int quiet;        /* depth of trials */
};

static void *allocate_from_heap(void *user, void *block, size_t bytes)
{
    (void)user;
    if (bytes)
        return realloc(block, bytes);

    free(block);
    return NULL;
}

/* Writes warnings and errors to stderr. Messages below a warning are for callers that
 * bring their own sink. */
static void log_warnings_to_stderr(void *user, yk_log_level level, const char *message)
{
    (void)user;
    if (level >= YK_LOG_WARNING)
        fprintf(stderr, "yoke: %s: %s\n", level == YK_LOG_WARNING ? "warning" : "error", message);
}

yk_context_def yk_context_default(void)
{
    return (yk_context_def){.log = log_warnings_to_stderr, .log_level = YK_LOG_INFO};
}

yk_context *yk_context_create(const yk_context_def *def)
{
    yk_context_def used = def ? *def : yk_context_default();

    /* The heap, where the caller has no allocator. */
    if (!used.allocate)
        used.allocate = allocate_from_heap;

    /* As many threads as there are processors. */
    if (used.thread_count <= 0) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        used.thread_count = cores > 0 ? (int)cores : 1;
    }

    yk_context *context = used.allocate(used.allocate_user, NULL, sizeof *context);
    if (!context)
        return NULL;

    *context = (yk_context){.def = used};
    return context;
}

void yk_context_destroy(yk_context *context)
{
    if (context)
        context->def.allocate(context->def.allocate_user, context, 0);
}

const char *yk_last_message(const yk_context *context)
{
    return context ? context->message : "";
}

yk_status yk_last_status(const yk_context *context)
{
    return context ? context->status : YK_OK;
}

yk_status yk_refuse_null(yk_context *context, const char *function, const char *argument)
{
    return yk_fail(context, YK_ERROR_ARGUMENT, "%s: '%s' is NULL", function, argument);
}

yk_status yk_keep_message(yk_own_message *own, const yk_context *context, yk_status status)
{
    if (status == YK_OK)
        return YK_OK;

    /* A status without a message of its own has none here. */
    const char *text = context->status == status ? context->message : "";
    snprintf(own->text, sizeof own->text, "%.*s", (int)sizeof own->text - 1, text);
    return status;
}

bool yk_context_should_stop(const yk_context *context)
{
    const yk_context_def *def = &context->def;
    return def->should_stop && def->should_stop(def->should_stop_user);
}

int yk_context_threads(const yk_context *context)
{
    return context->def.thread_count;
}

yk_status yk_fail(yk_context *context, yk_status status, const char *format, ...)
{
    if (!context || context->quiet > 0)
        return status;

    /* Through a second buffer, so that a caller may quote yk_last_message() in the new message. */
    char text[MESSAGE_CAPACITY];
    va_list arguments;
    va_start(arguments, format);
    yk_format_list(text, sizeof text, format, arguments);
    va_end(arguments);

    memcpy(context->message, text, sizeof text);
    context->status = status;

    return status;
}

void yk_quiet_begin(yk_context *context)
{
    context->quiet++;
}

void yk_quiet_end(yk_context *context)
{
    context->quiet--;
}

void yk_log(yk_context *context, yk_log_level level, const char *format, ...)
{
    if (!context || !context->def.log || level < context->def.log_level || context->quiet > 0)
        return;

    /* The text is the sink's for the time of the call. */
    char text[MESSAGE_CAPACITY];
    va_list arguments;
    va_start(arguments, format);
    yk_format_list(text, sizeof text, format, arguments);
    va_end(arguments);

    context->def.log(context->def.log_user, level, text);
}

void *yk_reallocate(yk_context *context, void *block, size_t count, size_t size)
{
    /* A request for nothing is one byte, so that NULL always means failure. */
    if (!context)
        return NULL;

    size_t bytes = 0;
    if (count == 0)
        count = 1;
    if (size == 0)
        size = 1;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        yk_fail(context, YK_ERROR_MEMORY, "a request for %zu x %zu bytes overflows", count, size);
        return NULL;
    }

    void *memory = context->def.allocate(context->def.allocate_user, block, bytes);
    if (!memory)
        yk_fail(context, YK_ERROR_MEMORY, "out of memory: %zu bytes were asked for", bytes);

    return memory;
}

void *yk_allocate(yk_context *context, size_t count, size_t size)
{
    /* At least a byte, as above. */
    if (count == 0)
        count = 1;
    if (size == 0)
        size = 1;
    void *memory = yk_reallocate(context, NULL, count, size);
    if (memory)
        memset(memory, 0, count * size);

    return memory;
}

void yk_free(yk_context *context, void *block)
{
    if (block && context)
        context->def.allocate(context->def.allocate_user, block, 0);
}

/* Blocks of memory ----------------------------------------------------------------------------- */

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

/* Memory that grows ---------------------------------------------------------------------------- */

enum { BLOCK_FIRST = 1 << 12, BLOCK_LARGEST = 1 << 20 };

struct yk_store_block {
    yk_store_block *next;
    size_t capacity, used;
    alignas(max_align_t) unsigned char data[];
};

void *yk_store_take(yk_store *store, size_t bytes)
{
    /* Rounded up, so that what follows is aligned. */
    size_t unit = alignof(max_align_t);
    size_t rounded = (bytes + unit - 1) / unit * unit;
    yk_store_block *block = store->blocks;

    /* A new block, twice as large as the last up to a bound. */
    if (!block || block->capacity - block->used < rounded) {
        size_t capacity = BLOCK_FIRST;
        if (block)
            capacity = 2 * block->capacity;
        if (capacity > BLOCK_LARGEST)
            capacity = BLOCK_LARGEST;

        /* What is larger than any block gets one for itself. */
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

/* Version and statuses ------------------------------------------------------------------------- */

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *yk_version(void)
{
    return TEXT(YK_VERSION_MAJOR) "." TEXT(YK_VERSION_MINOR) "." TEXT(YK_VERSION_PATCH);
}

const char *yk_status_name(yk_status status)
{
    switch (status) {
#define NAME_CASE(name, value, text) \
    case name: return #name;
        YK_STATUS_LIST(NAME_CASE)
#undef NAME_CASE
    }

    return "YK_UNKNOWN";
}

bool yk_status_is_known(int value)
{
    switch (value) {
#define KNOWN_CASE(name, value, text) \
    case name: return true;
        YK_STATUS_LIST(KNOWN_CASE)
#undef KNOWN_CASE
    }

    return false;
}

const char *yk_status_text(yk_status status)
{
    switch (status) {
#define TEXT_CASE(name, value, text) \
    case name: return text;
        YK_STATUS_LIST(TEXT_CASE)
#undef TEXT_CASE
    }

    return "unknown status";
}

/* Memory that is kept -------------------------------------------------------------------------- */

/* A stack in one block, with a head before each piece that knows its size. What does not fit
 * comes from the parent piece by piece; the reset after that replaces the block by one for all. */

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
    def.thread_count = yk_context_threads(parent);
    def.log = NULL;
    def.should_stop = parent->def.should_stop;
    def.should_stop_user = parent->def.should_stop_user;

    /* The context is a piece of its own that no reset takes. */
    s->context = yk_context_create(&def);

    piece *own = s->others;
    s->others = NULL;
    s->wanted = 0;
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

    /* Pieces, the block, and the context that no reset takes. */
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
    /* What did not fit: one block for all in the next round. */
    if (s->others) {
        release_others(s);
        yk_free(s->parent, s->block);
        s->block = NULL;
        s->capacity = 0;
        s->due = s->wanted + s->wanted / 4;
    }

    s->used = s->wanted = 0;
}
