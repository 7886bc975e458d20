/* One step of an oscillator in this process, behind shared memory, behind sockets, and on another
 * rank: the difference is the cost of a request and its answer. */
#include "bench.h"
#include "remote/rank_serving.h"
#include "remote/serving.h"
#include "yoke/oscillator.h"
#include "yoke/remote.h"

enum { STEPS = 2000 };

static yk_status create(void *user, yk_context *context, const char *name, yk_subsystem **subsystem)
{
    (void)user, (void)name;
    yk_oscillator_def def = yk_oscillator_default();
    def.mass = 1;
    def.stiffness = 100;
    def.velocity = 1;
    return yk_oscillator_create(context, &def, subsystem);
}

static void measure(bench *run, yk_subsystem *s)
{
    bool good = bench_check(run, s->ops->connect(s, 0, YK_CAUSALITY_WRENCH_INPUT, YK_AXIS_X));
    yk_input input = {.linear = {{0.1, 0, 0}}};
    while (good && bench_repeat(run)) {
        good = bench_check(run, s->ops->initialize(s, 0, 1e-3, &input));
        bench_start(run);
        for (int i = 0; good && i < STEPS; i++)
            good = bench_check(run, s->ops->step(s, i * 1e-3, 1e-3, &input));
        bench_stop(run, STEPS);
    }
    s->ops->destroy(s);
}

static void here(bench *run)
{
    yk_subsystem *s;
    if (bench_check(run, create(NULL, bench_context(run), "", &s)))
        measure(run, s);
}

static void there(bench *run, const char *address, bool socket_only)
{
    serving server;
    if (!serving_start(&server, address, NULL, create)) {
        bench_fail(run, "no server at %s", address ? address : "a UNIX socket");
        return;
    }
    yk_remote_def def = yk_remote_default();
    def.address = server.address;
    def.disable_shared_memory = socket_only;
    yk_subsystem *s;
    if (bench_check(run, yk_remote_create(bench_context(run), &def, &s)))
        measure(run, s);
    serving_stop(&server);
}

static void memory(bench *run)
{
    there(run, NULL, false);
}

static void local(bench *run)
{
    there(run, NULL, true);
}

static void inet(bench *run)
{
    there(run, "tcp:127.0.0.1:0", true);
}

/* Ranks ---------------------------------------------------------------------------------------- */

static rank_serving served;

static yk_status create_on_rank(yk_context *context, int index, yk_subsystem **subsystem)
{
    (void)index;
    return create(NULL, context, "", subsystem);
}

bool bench_begin_ranks(void)
{
    if (!yk_ranks_launched())
        return true;

#ifdef BENCH_MPI
    setenv("YOKE_MPI_MODULE", BENCH_MPI, 0);
#else
    fputs("this program was built without MPI\n", stderr);
    return false;
#endif

    /* Rank 1 does not return from here. */
    if (!rank_serving_start(&served, create_on_rank, 1))
        return false;
    if (served.ranks->count == 2)
        return true;

    fputs("the cases are measured in one process, one of them with a second: start this without a "
          "launcher, or by mpirun -n 2\n",
          stderr);
    served.ranks->driver->abort(2);
    return false;
}

void bench_end_ranks(void)
{
    if (served.ranks)
        rank_serving_stop(&served);
}

static void rank(bench *run)
{
    static bool met;
    yk_subsystem *s;
    if (!served.ranks)
        bench_skip(run, "there is no other rank; mpirun -n 2 starts two");
    else if (!met && bench_check(run, yk_ranks_remote(bench_context(run), served.ranks, 1, 0,
                                                      "oscillator", 30, &s)))
        measure(run, s);
    met = true;
}

const bench_case bench_transport[] = {
    {"transport/step in this process", "step", here, NULL, false},
    {"transport/step behind shared memory", "step", memory, "transport/step in this process",
     false},
    {"transport/step behind a UNIX socket", "step", local, "transport/step in this process", false},
    {"transport/step behind a TCP socket", "step", inet, "transport/step in this process", false},
    {"transport/step on another rank", "step", rank, "transport/step in this process", false},
    {0},
};
