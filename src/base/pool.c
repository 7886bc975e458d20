/* A worker claims a chunk by compare-and-swap on one word, which holds the number of chunks and the index of the next one.
 * The other fields of a job do not change before its last chunk is finished. A late worker therefore finds no chunk or a
 * chunk of the running job, and the caller never waits for idle workers.
 *
 * The loops of a step follow each other within microseconds, but waking a thread takes several. Workers therefore poll for
 * the next job, and the caller polls for the last chunks, before they sleep. The number of polls adapts: it is doubled if
 * the wait ended while polling or soon afterwards, and halved otherwise. If there are more threads than processors,
 * threads do not poll. */
#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

#include "base/clock.h"

enum { POLLS_MAX = 2000, POLLS_MIN = 16 }; /* about 50 and 0.5 microseconds */
static const double SHORT_SLEEP = 1e-4;    /* s */

struct yk_pool {
    yk_context *context;
    int workers; /* number of threads in addition to the caller */
    pthread_t *threads;
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    bool may_poll; /* There is a processor for each thread. */
    int caller_polls;
    size_t count, chunk_size;
    yk_pool_work work;
    void *user;
    atomic_uint_fast64_t claims; /* chunks in the upper half, the next one in the lower */
    atomic_size_t unfinished;    /* chunks */
    atomic_int sleeping;         /* workers */
    atomic_bool caller_sleeps, closing;
};

/* Pauses for some cycles and leaves the core to its other hardware thread. */
static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void adapt_polls(int *polls, bool useful)
{
    if (useful)
        *polls *= 2;
    else
        *polls /= 2;

    if (*polls > POLLS_MAX)
        *polls = POLLS_MAX;
    if (*polls < POLLS_MIN)
        *polls = POLLS_MIN;
}

static bool has_chunk(uint_fast64_t claims)
{
    return (claims & UINT32_MAX) < claims >> 32;
}

/* Computes chunks as long as there are any. The thread that finishes the last chunk wakes the caller. */
static void run_chunks(yk_pool *pool)
{
    uint_fast64_t claims = atomic_load(&pool->claims);
    while (has_chunk(claims)) {
        if (!atomic_compare_exchange_weak(&pool->claims, &claims, claims + 1))
            continue;

        size_t chunk = (size_t)(claims & UINT32_MAX);
        size_t begin = chunk * pool->chunk_size;
        size_t end = begin + pool->chunk_size;
        if (end > pool->count)
            end = pool->count;
        pool->work(pool->user, begin, end, chunk);

        /* A caller that does not sleep polls `unfinished`. */
        bool last = atomic_fetch_sub(&pool->unfinished, 1) == 1;
        if (last && atomic_load(&pool->caller_sleeps)) {
            pthread_mutex_lock(&pool->lock);
            pthread_cond_signal(&pool->end);
            pthread_mutex_unlock(&pool->lock);
        }

        claims = atomic_load(&pool->claims);
    }
}

static bool has_work(yk_pool *pool)
{
    return has_chunk(atomic_load(&pool->claims)) || atomic_load(&pool->closing);
}

static void wait_for_work(yk_pool *pool, int *polls)
{
    for (int i = 0; pool->may_poll && i < *polls; i++) {
        if (has_work(pool)) {
            adapt_polls(polls, true);
            return;
        }

        pause_briefly();
    }

    double asleep = yk_clock_seconds();
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleeping, 1);
    while (!has_work(pool))
        pthread_cond_wait(&pool->begin, &pool->lock);
    atomic_fetch_sub(&pool->sleeping, 1);
    pthread_mutex_unlock(&pool->lock);
    adapt_polls(polls, yk_clock_seconds() - asleep < SHORT_SLEEP);
}

static void *worker_main(void *argument)
{
    yk_pool *pool = argument;
    int polls = POLLS_MAX;

    while (!atomic_load(&pool->closing)) {
        wait_for_work(pool, &polls);
        run_chunks(pool);
    }

    return NULL;
}

yk_status yk_pool_create(yk_context *context, int threads, yk_pool **pool)
{
    *pool = NULL;
    int total = threads > 0 ? threads : yk_context_threads(context);
    yk_pool *made = yk_allocate(context, 1, sizeof *made);
    if (!made)
        return YK_ERROR_MEMORY;

    made->context = context;
    made->may_poll = total <= sysconf(_SC_NPROCESSORS_ONLN);
    made->caller_polls = POLLS_MAX;
    made->threads = yk_allocate(context, (size_t)total, sizeof *made->threads);
    if (!made->threads) {
        yk_free(context, made);
        return YK_ERROR_MEMORY;
    }

    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->begin, NULL);
    pthread_cond_init(&made->end, NULL);

    /* The calling thread is the last one. */
    while (made->workers < total - 1) {
        if (pthread_create(&made->threads[made->workers], NULL, worker_main, made) != 0) {
            yk_status status =
                yk_fail(context, YK_ERROR_MEMORY, "cannot start worker thread %d of %d",
                        made->workers + 1, total - 1);
            yk_pool_destroy(made);
            return status;
        }

        made->workers++;
    }

    *pool = made;
    return YK_OK;
}

void yk_pool_destroy(yk_pool *pool)
{
    if (!pool)
        return;

    /* Set the flag under the lock, so that no worker misses it and falls asleep. */
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->closing, true);
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->lock);

    for (int i = 0; i < pool->workers; i++)
        pthread_join(pool->threads[i], NULL);

    pthread_cond_destroy(&pool->end);
    pthread_cond_destroy(&pool->begin);
    pthread_mutex_destroy(&pool->lock);
    yk_free(pool->context, pool->threads);
    yk_free(pool->context, pool);
}

int yk_pool_threads(const yk_pool *pool)
{
    return pool->workers + 1;
}

/* Waits until the other threads have finished the chunks that they claimed. */
static void wait_for_end(yk_pool *pool)
{
    if (atomic_load(&pool->unfinished) == 0)
        return;

    for (int i = 0; pool->may_poll && i < pool->caller_polls; i++) {
        pause_briefly();
        if (atomic_load(&pool->unfinished) > 0)
            continue;

        adapt_polls(&pool->caller_polls, true);
        return;
    }

    double asleep = yk_clock_seconds();
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->caller_sleeps, true);
    while (atomic_load(&pool->unfinished) > 0)
        pthread_cond_wait(&pool->end, &pool->lock);
    atomic_store(&pool->caller_sleeps, false);
    pthread_mutex_unlock(&pool->lock);
    adapt_polls(&pool->caller_polls, yk_clock_seconds() - asleep < SHORT_SLEEP);
}

void yk_pool_run(yk_pool *pool, size_t count, size_t chunk_size, yk_pool_work work, void *user)
{
    if (count == 0)
        return;
    if (chunk_size == 0)
        chunk_size = 1;

    size_t chunks = (count - 1) / chunk_size + 1;

    if (pool->workers == 0 || chunks == 1 || chunks > UINT32_MAX) {
        for (size_t chunk = 0; chunk < chunks; chunk++) {
            size_t begin = chunk * chunk_size;
            size_t end = chunk + 1 < chunks ? begin + chunk_size : count;
            work(user, begin, end, chunk);
        }

        return;
    }

    /* Set the claims last: a polling worker starts as soon as it sees them. */
    pool->count = count;
    pool->chunk_size = chunk_size;
    pool->work = work;
    pool->user = user;
    atomic_store(&pool->unfinished, chunks);
    atomic_store(&pool->claims, (uint_fast64_t)chunks << 32);

    if (atomic_load(&pool->sleeping) > 0) {
        pthread_mutex_lock(&pool->lock);
        pthread_cond_broadcast(&pool->begin);
        pthread_mutex_unlock(&pool->lock);
    }

    run_chunks(pool);
    wait_for_end(pool);
}
