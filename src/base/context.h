/* What the library does with contexts beyond the public interface (yoke/base.h). */
#ifndef YK_BASE_CONTEXT_H
#define YK_BASE_CONTEXT_H

#include "yoke/base.h"

/* Whether a number from outside, as another process sends it, is one of YK_STATUS_LIST. */
bool yk_status_is_known(int value);

/* Trials that may fail, and about which nobody is to be told: while a context is quiet, nothing
 * is logged and the last message stays. Calls nest. */
void yk_quiet_begin(yk_context *context);
void yk_quiet_end(yk_context *context);

/* Refuses a required argument that is NULL: "yk_system_create: 'system' is NULL". */
yk_status yk_refuse_null(yk_context *context, const char *function, const char *argument);

/* The message of an object's last call that did not return YK_OK. The context has only the last of
 * all messages, and several objects share it. */
typedef struct yk_own_message {
    char text[1024];
} yk_own_message;

/* Keeps the context's message if it belongs to `status`, and returns the status. */
yk_status yk_keep_message(yk_own_message *own, const yk_context *context, yk_status status);

/* Blocks of memory that something needs while it runs: one list of them, so that taking, releasing
 * and counting agree. */
typedef struct yk_block {
    void *pointer; /* address of the pointer */
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

/* Not zeroed: pages that are never used are never touched. Blocks of no length are NULL. */
yk_status yk_blocks_take(yk_context *context, const yk_block *blocks, size_t count);
void yk_blocks_release(yk_context *context, const yk_block *blocks, size_t count);
size_t yk_blocks_bytes(const yk_block *blocks, size_t count);

/* Memory that grows with what is read, and is given back as a whole. */
typedef struct yk_store_block yk_store_block;

typedef struct yk_store {
    yk_context *context;
    yk_store_block *blocks;
} yk_store;

/* Zeroed and aligned for any type; NULL when out of memory. */
void *yk_store_take(yk_store *store, size_t bytes);
char *yk_store_text(yk_store *store, const char *text, size_t length);
void yk_store_destroy(yk_store *store);

/* A context whose memory is kept: for work that is set up anew in each step by code that takes
 * and releases memory as it goes. All of it is given back at once by a reset, and the next round
 * takes the same bytes again. The parent's allocator is called only when a round needs more than
 * any round before. */
typedef struct yk_scratch yk_scratch;

/* NULL when out of memory, with the message in the parent. */
yk_scratch *yk_scratch_create(yk_context *parent);
void yk_scratch_destroy(yk_scratch *scratch);

/* Nothing that was taken from this context may be used after a reset. */
yk_context *yk_scratch_context(yk_scratch *scratch);
void yk_scratch_reset(yk_scratch *scratch);

#endif
