/* The context: allocator, log function and last message. All functions of the library work in a context.
 *
 * The library never exits the process and has no global state. A context with the default log function writes warnings
 * and errors to stderr; the library prints nothing else. A context must be used by one thread at a time. Different
 * contexts are independent. */
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

/* Version of the linked library, "0.1.0". The macros are the version of the headers. */
const char *yk_version(void);

/* Name ("YK_ERROR_MEMORY") and description of a status; never NULL. */
const char *yk_status_name(yk_status status);
const char *yk_status_text(yk_status status);

typedef enum yk_log_level { YK_LOG_DEBUG, YK_LOG_INFO, YK_LOG_WARNING, YK_LOG_ERROR } yk_log_level;

typedef void (*yk_log_function)(void *user, yk_log_level level, const char *message);

/* The contract of realloc(3). A request for 0 bytes frees the block. The memory must be aligned for any type. */
typedef void *(*yk_allocate_function)(void *user, void *block, size_t bytes);

typedef struct yk_context_def {
    yk_allocate_function allocate; /* NULL: realloc and free */
    void *allocate_user;
    yk_log_function log; /* Default: warnings and errors go to stderr. NULL: no log. */
    void *log_user;
    yk_log_level log_level; /* Messages below this level are not logged. */
    int thread_count;       /* Threads of parallel loops; 0: one per core. */
    /* Called often during long work, by several threads at the same time. True aborts a step with YK_ERROR_ABORTED; the
     * state is then inconsistent and cannot be stepped further. NULL: work is never aborted. */
    bool (*should_stop)(void *user);
    void *should_stop_user;
} yk_context_def;

typedef struct yk_context yk_context;

yk_context_def yk_context_default(void);

/* `def` may be NULL for the defaults. Returns NULL if memory is missing. */
yk_context *yk_context_create(const yk_context_def *def);
void yk_context_destroy(yk_context *context);

/* Message of the last status other than YK_OK, with a remedy; "" if there was none.
 *
 * Functions that return a value instead of a status also set a message if an argument is invalid (an id out of range,
 * a call before initialization), and return the value that their header names: NULL, NaN, false or 0. A function whose
 * object is NULL cannot set a message; it returns the same value, or YK_ERROR_ARGUMENT. */
const char *yk_last_message(const yk_context *context);
/* The status of that message; YK_OK if there was none. */
yk_status yk_last_status(const yk_context *context);

/* Sets the message and returns the status, so that a function can end with `return yk_fail(...)`. */
yk_status yk_fail(yk_context *context, yk_status status, const char *format, ...) YK_PRINTF(3, 4);

void yk_log(yk_context *context, yk_log_level level, const char *format, ...) YK_PRINTF(3, 4);

/* Zeroed memory from the allocator of the context. NULL, with a message: memory is missing. */
void *yk_allocate(yk_context *context, size_t count, size_t size);
/* Changes the size of a block. New bytes are not zeroed. After a failure the old block is still valid. */
void *yk_reallocate(yk_context *context, void *block, size_t count, size_t size);
void yk_free(yk_context *context, void *block);

int yk_context_threads(const yk_context *context);

/* Whether the caller wants to abort. Solvers check this between their own steps. */
bool yk_context_should_stop(const yk_context *context);

/* A function of time: a load, a drive, a command. It may be called for any time, also before and after the present
 * step, and by several threads at the same time. It must return the same value for the same time. */
typedef struct yk_time_function {
    double (*evaluate)(void *user, double t); /* NULL: the function is 0. */
    void *user;                               /* Must outlive the model. */
    /* First time after t at which the function or its derivative jumps; infinity: none. NULL: no such times. */
    double (*next_event)(void *user, double t);
} yk_time_function;

#ifdef __cplusplus
}
#endif

#endif
