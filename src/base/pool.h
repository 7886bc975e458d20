/* A pool of worker threads for loops whose result must not depend on the number of threads.
 *
 * A range is divided into chunks of a size that the caller selects. Each chunk is computed by one thread, and callers
 * combine the results of chunks in the order of the chunks. The result therefore has the same bits with any number of
 * threads, if chunks write to disjoint memory. */
#ifndef YK_BASE_POOL_H
#define YK_BASE_POOL_H

#include "yoke/base.h"

typedef struct yk_pool yk_pool;

/* Computes [begin, end) of the range. `chunk` is the index of the chunk. */
typedef void (*yk_pool_work)(void *user, size_t begin, size_t end, size_t chunk);

/* `threads` includes the calling thread; 0: yk_context_threads(). */
yk_status yk_pool_create(yk_context *context, int threads, yk_pool **pool);
void yk_pool_destroy(yk_pool *pool);
int yk_pool_threads(const yk_pool *pool);

/* Runs all chunks and returns when the last has finished. Not reentrant. */
void yk_pool_run(yk_pool *pool, size_t count, size_t chunk_size, yk_pool_work work, void *user);

#endif
