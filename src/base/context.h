/* Functions of contexts that are internal to the library: quiet sections, messages of objects, and three kinds of
 * memory. yoke/base.h is the public part. */
#ifndef YK_BASE_CONTEXT_H
#define YK_BASE_CONTEXT_H

#include "yoke/base.h"

/* Whether a number that came from another process is a status of YK_STATUS_LIST. */
bool yk_status_is_known(int value);

/* A section in which failures are expected: nothing is logged and the last message does not change. Sections nest. */
void yk_quiet_begin(yk_context *context);
void yk_quiet_end(yk_context *context);

/* Copies the should_stop function of a context to the def of a context that works for it. */
void yk_context_inherit_stop(yk_context_def *def, const yk_context *parent);

/* Fails because a required argument is NULL: "yk_system_create: 'system' is NULL". */
yk_status yk_refuse_null(yk_context *context, const char *function, const char *argument);

/* Names of what a failure is about, "" if it names none, so that callers need not read the message. */
typedef struct yk_failure_subject {
    char part[96]; /* Such as the force of a multibody system. */
    char item[96]; /* Such as one input of the force. */
} yk_failure_subject;

/* Like yk_fail(), and states the subject. The next failure replaces both. */
yk_status yk_fail_about(yk_context *context, yk_status status, const yk_failure_subject *subject,
                        const char *format, ...) YK_PRINTF(4, 5);
yk_failure_subject yk_last_subject(const yk_context *context);

/* Message of an object's last call that did not return YK_OK. Several objects share a context, which keeps only the
 * last message of all. */
typedef struct yk_own_message {
    char text[1024];
} yk_own_message;

/* Copies the message of the context if it belongs to `status`. Returns the status. */
yk_status yk_keep_message(yk_own_message *own, const yk_context *context, yk_status status);

/* Working memory of an object as one list of blocks, so that allocation, release and size cannot disagree. */
typedef struct yk_block {
    void *pointer; /* Address of the pointer to the block. */
    size_t count, size;
} yk_block;

#define YK_BLOCK(pointer, count)             \
    {                                        \
        &(pointer), count, sizeof *(pointer) \
    }
#define YK_BLOCK_IF(condition, pointer, count)                   \
    {                                                            \
        &(pointer), (condition) ? (count) : 0, sizeof *(pointer) \
    }

/* The memory is not zeroed, so that unused pages are never touched. Blocks with a count of 0 become NULL. */
yk_status yk_blocks_take(yk_context *context, const yk_block *blocks, size_t count);
void yk_blocks_release(yk_context *context, const yk_block *blocks, size_t count);
size_t yk_blocks_bytes(const yk_block *blocks, size_t count);

/* Memory that grows with its content and is freed as a whole. */
typedef struct yk_store_block yk_store_block;

typedef struct yk_store {
    yk_context *context;
    yk_store_block *blocks;
} yk_store;

/* Zeroed memory, aligned for any type; NULL if memory is missing. */
void *yk_store_take(yk_store *store, size_t bytes);
char *yk_store_text(yk_store *store, const char *text, size_t length);
void yk_store_destroy(yk_store *store);

/* A context for work that allocates and frees memory in every step. A reset frees all of it at once, and the next step
 * uses the same memory again. The allocator of the parent is called only if a step needs more memory than all steps
 * before. */
typedef struct yk_scratch yk_scratch;

/* NULL, with a message in the parent: memory is missing. */
yk_scratch *yk_scratch_create(yk_context *parent);
void yk_scratch_destroy(yk_scratch *scratch);

/* Memory from this context must not be used after a reset. */
yk_context *yk_scratch_context(yk_scratch *scratch);
void yk_scratch_reset(yk_scratch *scratch);

#endif
