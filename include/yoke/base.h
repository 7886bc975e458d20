/* What every part of Yoke is handed: a context with the allocator, the log sink and the last
 * message.
 *
 * The library never exits and keeps no globals: messages go through the context. A context with
 * the default log writes warnings to stderr; nothing else is ever printed. A context may be used by one thread at a time; different contexts are independent. */
#ifndef YOKE_BASE_H
#define YOKE_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yoke/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define YK_PRINTF(format_index, first_argument) \
    __attribute__((format(printf, format_index, first_argument)))
#else
#define YK_PRINTF(format_index, first_argument)
#endif

#define YK_VERSION_MAJOR 0
#define YK_VERSION_MINOR 1
#define YK_VERSION_PATCH 0

/* "0.1.0", of the library that is linked (the macros tell of the headers that were compiled). */
const char *yk_version(void);

/* The enumerator's name ("YK_ERROR_MEMORY") and its description; never NULL. */
const char *yk_status_name(yk_status status);
const char *yk_status_text(yk_status status);

typedef enum yk_log_level { YK_LOG_DEBUG, YK_LOG_INFO, YK_LOG_WARNING, YK_LOG_ERROR } yk_log_level;

typedef void (*yk_log_function)(void *user, yk_log_level level, const char *message);

/* Same contract as realloc(3), with free as a request for zero bytes; must return memory aligned
 * for any type. */
typedef void *(*yk_allocate_function)(void *user, void *block, size_t bytes);

typedef struct yk_context_def {
    yk_allocate_function allocate; /* NULL: realloc and free */
    void *allocate_user;
    yk_log_function log; /* default: warnings go to stderr; NULL: messages are dropped */
    void *log_user;
    yk_log_level log_level; /* messages below this level are not passed on */
    int thread_count;       /* worker threads for parallel loops; 0: one per core */
    /* Asked again and again within long work, by several threads at a time: whether to give it up.
     * True ends a step in its midst with YK_ERROR_ABORTED; the state is then that of no time, and
     * cannot be stepped on. NULL: never. */
    bool (*should_stop)(void *user);
    void *should_stop_user;
} yk_context_def;

typedef struct yk_context yk_context;

yk_context_def yk_context_default(void);

/* NULL for the default def. Returns NULL when out of memory. */
yk_context *yk_context_create(const yk_context_def *def);
void yk_context_destroy(yk_context *context);

/* The text that belongs to the last status other than YK_OK, with the remedy; "" if there was
 * none.
 *
 * Functions that return a value instead of a status report wrong arguments here, too: an id out of
 * range, a question before the start. They then return what their header names: NULL, NaN, false or
 * zero. A function without a context to report to, because its object is NULL, returns the same, or
 * YK_ERROR_ARGUMENT. */
const char *yk_last_message(const yk_context *context);
/* That status itself; YK_OK if there was none. */
yk_status yk_last_status(const yk_context *context);

/* Records a message and returns the status, so that a failing function ends with `return
 * yk_fail(...)`. */
yk_status yk_fail(yk_context *context, yk_status status, const char *format, ...) YK_PRINTF(3, 4);

void yk_log(yk_context *context, yk_log_level level, const char *format, ...) YK_PRINTF(3, 4);

/* Zeroed memory from the context's allocator, or NULL with the message set. */
void *yk_allocate(yk_context *context, size_t count, size_t size);
/* Grows or shrinks; new bytes are not zeroed. The old block stays valid on failure. */
void *yk_reallocate(yk_context *context, void *block, size_t count, size_t size);
void yk_free(yk_context *context, void *block);

int yk_context_threads(const yk_context *context);

/* Whether the caller wants what is being done to end now: for solvers, between steps of their
 * own. */
bool yk_context_should_stop(const yk_context *context);

/* Models and systems are built in one style: a def struct from its `_default()`, `begin`, parts
 * that `add` takes and gives ids, one `create`. Where `add` cannot take a part it returns this,
 * and `create` returns the status of the first mistake, with a message that names the part. */
enum { YK_NO_ID = -2 };

/* A function of time that a model is given: a load, a drive, a command. It may be called at any
 * time, before and after the step that is being made, and by several threads at once; it must
 * answer the same number to the same time. */
typedef struct yk_time_function {
    double (*evaluate)(void *user, double t); /* NULL: the function is zero */
    void *user;                               /* must outlive what uses the function */
    /* The first time after t at which it jumps or has a kink, infinity where there is none; NULL:
     * none is known. */
    double (*next_event)(void *user, double t);
} yk_time_function;

#ifdef __cplusplus
}
#endif

#endif
