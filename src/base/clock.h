/* Clocks that measure the duration of work. */
#ifndef YK_BASE_CLOCK_H
#define YK_BASE_CLOCK_H

#include <time.h>

/* Monotonic wall time (s) since an arbitrary moment. */
static inline double yk_clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Processor time (s) of the calling thread. */
static inline double yk_processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
