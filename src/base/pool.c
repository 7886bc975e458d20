/* Chunks are claimed from one word that holds how many there are and which is next. A claim
 * succeeds only on the word as it is now, and the job's other fields do not change before its
 * last chunk is finished; so a worker that comes late finds no chunk, or one of the job that
 * runs, and the caller never waits for workers that have none.
 *
 * Loops of a step follow each other within microseconds, while waking a thread costs several. So
 * workers look out for the next job, and the caller for the last chunks, for a short while before
 * they sleep. How long follows what it is good for: doubled when the wait ended while looking or
 * soon after, halved when it did not, nothing where there are more threads than processors. */
#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

#include "base/clock.h"

enum { LOOKS_MOST = 2000, LOOKS_LEAST = 16 }; /* some 50 and some 0.5 microseconds */
static const double SOON = 1e-4;              /* seconds */

struct yk_pool {
    yk_context *context;
    int workers; /* threads besides the caller */
    pthread_t *threads;
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    /* there is a processor for each thread: looking out takes nothing from the others */
    bool patient;
    int caller_looks;
    size_t count, chunk_size;
    yk_pool_work work;
    void *user;
    atomic_uint_fast64_t claims; /* chunks in the upper half, the next one in the lower */
    atomic_size_t unfinished;    /* chunks */
    atomic_int sleeping;         /* workers */
    atomic_bool caller_sleeps, closing;
};

/* Pauses for some cycles, which leaves the core to its other thread. */
static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void adapt(int *looks, bool useful)
{
    if (useful) {
        *looks *= 2;
    } else {
        *looks /= 2;
    }

    if (*looks > LOOKS_MOST)
        *looks = LOOKS_MOST;
    if (*looks < LOOKS_LEAST)
        *looks = LOOKS_LEAST;
}

static bool has_chunk(uint_fast64_t claims)
{
    return (claims & UINT32_MAX) < claims >> 32;
}

/* Works on what there is to do; the thread that finishes the last chunk wakes the caller. */
static void run_chunks(yk_pool *pool)
{
    uint_fast64_t claims = atomic_load(&pool->claims);
    while (has_chunk(claims)) {
        if (!atomic_compare_exchange_weak(&pool->claims, &claims, claims + 1))
            continue;

        /* The chunk is this thread's alone. */
        size_t chunk = (size_t)(claims & UINT32_MAX);
        size_t begin = chunk * pool->chunk_size;
        size_t end = begin + pool->chunk_size;
        if (end > pool->count)
            end = pool->count;
        pool->work(pool->user, begin, end, chunk);

        /* A caller that is still awake looks for itself. */
        bool last = atomic_fetch_sub(&pool->unfinished, 1) == 1;
        if (last && atomic_load(&pool->caller_sleeps)) {
            pthread_mutex_lock(&pool->lock);
            pthread_cond_signal(&pool->end);
            pthread_mutex_unlock(&pool->lock);
        }

        claims = atomic_load(&pool->claims);
    }
}

static bool wanted(yk_pool *pool)
{
    return has_chunk(atomic_load(&pool->claims)) || atomic_load(&pool->closing);
}

static void wait_for_work(yk_pool *pool, int *looks)
{
    /* Awake at first, as long as that was worth it. */
    for (int i = 0; pool->patient && i < *looks; i++) {
        if (wanted(pool)) {
            adapt(looks, true);
            return;
        }

        pause_briefly();
    }

    /* Asleep; a short sleep would have been worth a longer look. */
    double asleep = yk_clock_seconds();
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleeping, 1);
    while (!wanted(pool))
        pthread_cond_wait(&pool->begin, &pool->lock);
    atomic_fetch_sub(&pool->sleeping, 1);
    pthread_mutex_unlock(&pool->lock);
    adapt(looks, yk_clock_seconds() - asleep < SOON);
}

static void *worker_main(void *argument)
{
    yk_pool *pool = argument;
    int looks = LOOKS_MOST;

    while (!atomic_load(&pool->closing)) {
        wait_for_work(pool, &looks);
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

    /* Threads, a lock and two conditions. */
    made->context = context;
    made->patient = total <= sysconf(_SC_NPROCESSORS_ONLN);
    made->caller_looks = LOOKS_MOST;
    made->threads = yk_allocate(context, (size_t)total, sizeof *made->threads);
    if (!made->threads) {
        yk_free(context, made);
        return YK_ERROR_MEMORY;
    }

    /* One condition for jobs that begin, one for jobs that end. */
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->begin, NULL);
    pthread_cond_init(&made->end, NULL);

    /* The calling thread works too. */
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

    /* Workers end when they see it; under the lock, so that none falls asleep just before. */
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->closing, true);
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->lock);

    /* What they hold is released when all have ended. */
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

/* Until other threads have finished the chunks that they claimed. */
static void wait_for_end(yk_pool *pool)
{
    if (atomic_load(&pool->unfinished) == 0)
        return;

    /* Awake at first, then asleep. */
    for (int i = 0; pool->patient && i < pool->caller_looks; i++) {
        pause_briefly();
        if (atomic_load(&pool->unfinished) > 0)
            continue;

        adapt(&pool->caller_looks, true);
        return;
    }

    /* Asleep; a short sleep would have been worth a longer look. */
    double asleep = yk_clock_seconds();
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->caller_sleeps, true);
    while (atomic_load(&pool->unfinished) > 0)
        pthread_cond_wait(&pool->end, &pool->lock);
    atomic_store(&pool->caller_sleeps, false);
    pthread_mutex_unlock(&pool->lock);
    adapt(&pool->caller_looks, yk_clock_seconds() - asleep < SOON);
}

void yk_pool_run(yk_pool *pool, size_t count, size_t chunk_size, yk_pool_work work, void *user)
{
    if (count == 0)
        return;
    if (chunk_size == 0)
        chunk_size = 1;

    size_t chunks = (count - 1) / chunk_size + 1;

    /* Alone. */
    if (pool->workers == 0 || chunks == 1 || chunks > UINT32_MAX) {
        for (size_t chunk = 0; chunk < chunks; chunk++) {
            size_t begin = chunk * chunk_size;
            size_t end = chunk + 1 < chunks ? begin + chunk_size : count;
            work(user, begin, end, chunk);
        }

        return;
    }

    /* The claims come last: with them a worker that looks out may begin. */
    pool->count = count;
    pool->chunk_size = chunk_size;
    pool->work = work;
    pool->user = user;
    atomic_store(&pool->unfinished, chunks);
    atomic_store(&pool->claims, (uint_fast64_t)chunks << 32);

    /* Workers that sleep do not look. */
    if (atomic_load(&pool->sleeping) > 0) {
        pthread_mutex_lock(&pool->lock);
        pthread_cond_broadcast(&pool->begin);
        pthread_mutex_unlock(&pool->lock);
    }

    /* The caller works too, then waits for what others have claimed. */
    run_chunks(pool);
    wait_for_end(pool);
}
