#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>

struct yk_pool {
    yk_context *context;
    int workers; /* threads besides the caller */
    pthread_t *threads;
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    unsigned long job; /* number of the job that is, or was last, run */
    int busy;          /* workers that have not finished it */
    bool closing;
    size_t count, chunk_size;
    yk_pool_work work;
    void *user;
    atomic_size_t next_chunk;
};

static void run_chunks(yk_pool *pool)
{
    size_t chunks = (pool->count + pool->chunk_size - 1) / pool->chunk_size;
    for (;;) {
        size_t chunk = atomic_fetch_add_explicit(&pool->next_chunk, 1, memory_order_relaxed);
        if (chunk >= chunks) return;
        size_t begin = chunk * pool->chunk_size;
        size_t end = begin + pool->chunk_size;
        pool->work(pool->user, begin, end < pool->count ? end : pool->count, chunk);
    }
}

static void *worker_main(void *argument)
{
    yk_pool *pool = argument;
    unsigned long done = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->closing && pool->job == done) pthread_cond_wait(&pool->begin, &pool->lock);
        if (pool->closing) break;
        done = pool->job;
        pthread_mutex_unlock(&pool->lock);
        run_chunks(pool);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0) pthread_cond_signal(&pool->end);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

yk_status yk_pool_create(yk_context *context, int threads, yk_pool **pool)
{
    *pool = NULL;
    int total = threads > 0 ? threads : yk_context_threads(context);
    yk_pool *made = yk_allocate(context, 1, sizeof *made);
    if (!made) return YK_ERROR_MEMORY;
    made->context = context;
    made->threads = yk_allocate(context, (size_t)total, sizeof *made->threads);
    if (!made->threads) {
        yk_release(context, made);
        return YK_ERROR_MEMORY;
    }
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->begin, NULL);
    pthread_cond_init(&made->end, NULL);
    while (made->workers < total - 1) {
        if (pthread_create(&made->threads[made->workers], NULL, worker_main, made) != 0) {
            yk_status status =
                yk_fail(context, YK_ERROR_MEMORY, "cannot start worker thread %d of %d", made->workers + 1, total - 1);
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
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->workers; i++) pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->end);
    pthread_cond_destroy(&pool->begin);
    pthread_mutex_destroy(&pool->lock);
    yk_release(pool->context, pool->threads);
    yk_release(pool->context, pool);
}

int yk_pool_threads(const yk_pool *pool)
{
    return pool->workers + 1;
}

void yk_pool_run(yk_pool *pool, size_t count, size_t chunk_size, yk_pool_work work, void *user)
{
    if (count == 0) return;
    if (chunk_size == 0) chunk_size = 1;
    if (pool->workers == 0 || count <= chunk_size) {
        for (size_t begin = 0, chunk = 0; begin < count; begin += chunk_size, chunk++)
            work(user, begin, begin + chunk_size < count ? begin + chunk_size : count, chunk);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->count = count;
    pool->chunk_size = chunk_size;
    pool->work = work;
    pool->user = user;
    pool->busy = pool->workers;
    atomic_store_explicit(&pool->next_chunk, 0, memory_order_relaxed);
    pool->job++;
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->lock);
    run_chunks(pool);
    pthread_mutex_lock(&pool->lock);
    while (pool->busy > 0) pthread_cond_wait(&pool->end, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

typedef struct sum_job {
    yk_pool_term term;
    void *user;
    double *partials;
} sum_job;

static void sum_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    sum_job *job = user;
    job->partials[chunk] = job->term(job->user, begin, end, chunk);
}

double yk_pool_sum(yk_pool *pool, size_t count, size_t chunk_size, yk_pool_term term, void *user, double *partials)
{
    if (chunk_size == 0) chunk_size = 1;
    sum_job job = {term, user, partials};
    yk_pool_run(pool, count, chunk_size, sum_chunk, &job);
    double sum = 0;
    for (size_t chunk = 0; chunk < (count + chunk_size - 1) / chunk_size; chunk++) sum += partials[chunk];
    return sum;
}
