/* Pacing: each macro step ends at its time on the wall clock or, if it is late, as soon as possible. Deadlines are absolute: a late
 * step does not shift the deadlines after it, so that the run catches up. */
#include "analysis/pace.h"

#include <math.h>

#include "base/clock.h"

yk_pacer yk_pacer_start(double factor, double time, yk_pace_report *report)
{
    yk_pacer pacer = {.factor = factor, .time_start = time, .report = report};
    report->factor = factor;
    if (factor > 0)
        pacer.wall_start = yk_clock_seconds();
    return pacer;
}

void yk_pacer_begin_step(yk_pacer *pacer)
{
    if (pacer->factor > 0)
        pacer->step_start = yk_clock_seconds();
}

void yk_pacer_end_step(yk_pacer *pacer, double time)
{
    if (!(pacer->factor > 0))
        return;

    double now = yk_clock_seconds();
    yk_pace_report *report = pacer->report;
    double duration = now - pacer->step_start;
    if (duration > report->longest_step) {
        report->longest_step = duration;
        report->longest_step_time = time;
    }

    pacer->deadline = pacer->wall_start + (time - pacer->time_start) / pacer->factor;
    double lateness = now - pacer->deadline;
    if (lateness > 0)
        report->overruns++;
    if (lateness > report->largest_lateness)
        report->largest_lateness = lateness;
}

void yk_pacer_wait(const yk_pacer *pacer)
{
    if (!(pacer->factor > 0))
        return;

    /* A signal ends the wait: the caller may want to stop. */
    double rest = pacer->deadline - yk_clock_seconds();
    if (!(rest > 0))
        return;

    double seconds = floor(pacer->deadline);
    struct timespec end = {.tv_sec = (time_t)seconds,
                           .tv_nsec = (long)(1e9 * (pacer->deadline - seconds))};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
}
