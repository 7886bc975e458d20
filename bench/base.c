/* Cost of starting a parallel loop. */
#include "base/pool.h"
#include "bench.h"

static void touch(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)begin;
    (void)end;
    double *places = user;
    places[chunk * 8] += 1.0;
}

/* A loop with one chunk per thread and nothing to do: what a parallel region costs by itself. */
static void dispatch(bench *run, int threads)
{
    enum { DISPATCHES = 2000, THREADS_MAX = 64 };
    double places[THREADS_MAX * 8] = {0};
    yk_pool *pool = NULL;
    if (!bench_check(run, yk_pool_create(bench_context(run), threads, &pool)))
        return;
    int chunks = yk_pool_threads(pool) < THREADS_MAX ? yk_pool_threads(pool) : THREADS_MAX;
    bench_note(run, "threads", yk_pool_threads(pool));
    while (bench_repeat(run)) {
        bench_start(run);
        for (int i = 0; i < DISPATCHES; i++)
            yk_pool_run(pool, (size_t)chunks, 1, touch, places);
        bench_stop(run, DISPATCHES);
        bench_keep(places);
    }
    yk_pool_destroy(pool);
}

static void dispatch_one(bench *run)
{
    dispatch(run, 1);
}

static void dispatch_all(bench *run)
{
    dispatch(run, 0);
}

const bench_case bench_base[] = {
    {.name = "base/pool-1-thread", .unit = "parallel loop", .run = dispatch_one},
    {.name = "base/pool-all-threads",
     .unit = "parallel loop",
     .run = dispatch_all,
     .relative_to = "base/pool-1-thread"},
    {0},
};
