/* A pool of worker threads for loops whose result must not depend on the number of threads.
 *
 * The range is cut into chunks of a fixed size that the caller names; a chunk is always computed
 * by one thread from start to end, and callers add up what chunks found in the order of the chunks.
 * So the same bits come out with 1 or 64 threads, as long as chunks write to disjoint places. */
#ifndef YK_BASE_POOL_H
#define YK_BASE_POOL_H

#include "yoke/base.h"

typedef struct yk_pool yk_pool;

/* Computes [begin, end) of the range; `chunk` counts from 0. */
typedef void (*yk_pool_work)(void *user, size_t begin, size_t end, size_t chunk);

/* threads: those that work at the same time, the calling one included; 0: as many as the context
 * says. */
yk_status yk_pool_create(yk_context *context, int threads, yk_pool **pool);
void yk_pool_destroy(yk_pool *pool);
int yk_pool_threads(const yk_pool *pool);

/* Runs all chunks and returns when the last has finished. Not reentrant. */
void yk_pool_run(yk_pool *pool, size_t count, size_t chunk_size, yk_pool_work work, void *user);

#endif
