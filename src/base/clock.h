/* The time on the clock, for reports of what work took. */
#ifndef YK_BASE_CLOCK_H
#define YK_BASE_CLOCK_H

#include <time.h>

/* Seconds since some fixed moment; never goes back. */
static inline double yk_clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Of the processor, that the calling thread has used: other programs do not count. */
static inline double yk_processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
