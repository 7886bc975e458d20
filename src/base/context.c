/* The context: allocator, log sink and last message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/quiet.h"

enum { MESSAGE_CAPACITY = 4096 };

struct yk_context {
    yk_context_def def;
    char message[MESSAGE_CAPACITY];
    yk_status status; /* that it belongs to */
    int quiet;        /* depth of trials, see quiet.h */
};

static void *allocate_from_heap(void *user, void *block, size_t bytes)
{
    (void)user;
    if (bytes)
        return realloc(block, bytes);

    free(block);
    return NULL;
}

yk_context_def yk_context_default(void)
{
    return (yk_context_def){.log_level = YK_LOG_INFO};
}

yk_context *yk_context_create(const yk_context_def *def)
{
    yk_context_def used = def ? *def : yk_context_default();

    /* The heap, where the caller has no allocator. */
    if (!used.allocate)
        used.allocate = allocate_from_heap;

    /* As many threads as there are processors. */
    if (used.threads <= 0) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        used.threads = cores > 0 ? (int)cores : 1;
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
    return context->message;
}

yk_status yk_last_status(const yk_context *context)
{
    return context->status;
}

bool yk_stop_asked(const yk_context *context)
{
    const yk_context_def *def = &context->def;
    return def->stop && def->stop(def->stop_user);
}

int yk_context_threads(const yk_context *context)
{
    return context->def.threads;
}

yk_status yk_fail(yk_context *context, yk_status status, const char *format, ...)
{
    if (!context || context->quiet > 0)
        return status;

    /* Through a second buffer, so that a caller may quote yk_last_message() in the new message. */
    char text[MESSAGE_CAPACITY];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
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
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    context->def.log(context->def.log_user, level, text);
}

void *yk_reallocate(yk_context *context, void *block, size_t count, size_t size)
{
    /* A request for nothing is one byte, so that NULL always means failure. */
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

void yk_release(yk_context *context, void *block)
{
    if (block)
        context->def.allocate(context->def.allocate_user, block, 0);
}
