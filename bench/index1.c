/* Chains of subsystems under the scheme index1: the cost of a macro step per link must not depend
 * on their number, and threads must share it. The links are bodies of the multibody solver with
 * their sensitivities, so the subsystems dominate. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "scene.h"

static bool open_chain(bench *run, int links, int threads, scene *s)
{
    char links_text[64], threads_text[64];
    const char *overrides[] = {links_text, threads_text, "coupling.jacobian_update=every-step"};
    snprintf(links_text, sizeof links_text, "parameters.links=%d", links);
    snprintf(threads_text, sizeof threads_text, "coupling.threads=%d", threads);
    return scene_open(run, "link-chain", overrides, 3, s);
}

/* CPU time of the calling thread: the part of the work that is left for it if others share it, on a
 * busy machine too. */
static double thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void step_chain(bench *run, int links, int threads)
{
    enum { STEPS = 5 };
    scene s;
    double fraction = 0, own = INFINITY;
    bool good = open_chain(run, links, threads, &s);
    while (good && bench_repeat(run)) {
        good = bench_check(run, yk_system_initialize(s.system));
        double seconds = -yk_clock_seconds(), cpu = -thread_seconds(), inside = 0;
        bench_start(run);
        for (int i = 0; good && i < STEPS; i++)
            good = !YK_FAILED(yk_system_step(s.system, NULL));
        bench_stop(run, STEPS * links);
        seconds += yk_clock_seconds(), cpu += thread_seconds();
        own = fmin(own, 1e9 * cpu / (STEPS * links));
        for (int i = 0; i < links; i++)
            inside += yk_system_subsystem_statistics(s.system, (yk_subsystem_id){i}).wall_time;
        if (inside / seconds > fraction)
            fraction = inside / seconds;
        if (!good)
            bench_fail(run, "%s", yk_last_message(bench_context(run)));
    }
    if (good)
        bench_note(run, "ns of the calling thread", own);
    if (good)
        bench_note(run, "largest fraction of the subsystems", fraction);
    if (good)
        bench_note(run, "iterations per step",
                   (double)yk_system_get_statistics(s.system).iterations / STEPS);
    scene_close(&s);
}

static void chain_2(bench *run)
{
    step_chain(run, 2, 1);
}

static void chain_8(bench *run)
{
    step_chain(run, 8, 1);
}

static void chain_32(bench *run)
{
    step_chain(run, 32, 1);
}

static void chain_32_threads(bench *run)
{
    step_chain(run, 32, 2);
}

const bench_case bench_index1[] = {
    {.name = "index1/chain of 2 links", .unit = "link and macro step", .run = chain_2},
    {.name = "index1/chain of 8 links",
     .unit = "link and macro step",
     .run = chain_8,
     .relative_to = "index1/chain of 2 links"},
    {.name = "index1/chain of 32 links",
     .unit = "link and macro step",
     .run = chain_32,
     .relative_to = "index1/chain of 2 links"},
    {.name = "index1/chain of 32 links, two threads",
     .unit = "link and macro step",
     .run = chain_32_threads,
     .relative_to = "index1/chain of 32 links"},
    {0},
};
