/* The context: allocator, log function, last message. */
#include "base/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

enum { MESSAGE_CAPACITY = 4096 };

struct yk_context {
    yk_context_def def;
    char message[MESSAGE_CAPACITY];
    yk_status status; /* Of the message. */
    yk_failure_subject subject;
    int quiet_depth; /* Number of open quiet sections. */
};

static void *allocate_from_heap(void *user, void *block, size_t bytes)
{
    (void)user;
    if (bytes)
        return realloc(block, bytes);

    free(block);
    return NULL;
}

/* Writes warnings and errors to stderr and drops the other messages. */
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

    if (!used.allocate)
        used.allocate = allocate_from_heap;

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

    /* The message of the context may belong to an earlier status. */
    const char *text = context->status == status ? context->message : "";
    snprintf(own->text, sizeof own->text, "%.*s", (int)sizeof own->text - 1, text);
    return status;
}

bool yk_context_should_stop(const yk_context *context)
{
    const yk_context_def *def = &context->def;
    return def->should_stop && def->should_stop(def->should_stop_user);
}

void yk_context_inherit_stop(yk_context_def *def, const yk_context *parent)
{
    def->should_stop = parent->def.should_stop;
    def->should_stop_user = parent->def.should_stop_user;
}

int yk_context_threads(const yk_context *context)
{
    return context->def.thread_count;
}

static yk_status fail(yk_context *context, yk_status status, const yk_failure_subject *subject,
                      const char *format, va_list arguments) YK_PRINTF(4, 0);
static yk_status fail(yk_context *context, yk_status status, const yk_failure_subject *subject,
                      const char *format, va_list arguments)
{
    if (!context || context->quiet_depth > 0)
        return status;

    /* A second buffer lets callers quote yk_last_message() in the new message. */
    char text[MESSAGE_CAPACITY];
    yk_format_list(text, sizeof text, format, arguments);
    memcpy(context->message, text, sizeof text);
    context->status = status;
    context->subject = *subject;

    return status;
}

yk_status yk_fail(yk_context *context, yk_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(context, status, &(yk_failure_subject){.part = ""}, format, arguments);
    va_end(arguments);
    return status;
}

yk_status yk_fail_about(yk_context *context, yk_status status, const yk_failure_subject *subject,
                        const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(context, status, subject, format, arguments);
    va_end(arguments);
    return status;
}

yk_failure_subject yk_last_subject(const yk_context *context)
{
    return context->subject;
}

void yk_quiet_begin(yk_context *context)
{
    context->quiet_depth++;
}

void yk_quiet_end(yk_context *context)
{
    context->quiet_depth--;
}

void yk_log(yk_context *context, yk_log_level level, const char *format, ...)
{
    if (!context || !context->def.log || level < context->def.log_level || context->quiet_depth > 0)
        return;

    char text[MESSAGE_CAPACITY];
    va_list arguments;
    va_start(arguments, format);
    yk_format_list(text, sizeof text, format, arguments);
    va_end(arguments);

    context->def.log(context->def.log_user, level, text);
}

void *yk_reallocate(yk_context *context, void *block, size_t count, size_t size)
{
    if (!context)
        return NULL;

    /* Allocate at least one byte, so that NULL always means failure. */
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
        yk_fail(context, YK_ERROR_MEMORY, "out of memory: %zu bytes were requested", bytes);

    return memory;
}

void *yk_allocate(yk_context *context, size_t count, size_t size)
{
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
