/* The benchmark harness: cases in one table (cases.c), measured in one process so that their ratios
 * are meaningful.
 *
 * A case prepares its work, then times it as often as the harness requests, with many units of work
 * per sample:
 *
 *     static void arena_take(bench *run)
 *     {
 *         ... set up ...
 *         while (bench_repeat(run)) {
 *             bench_start(run);
 *             for (int i = 0; i < 1000; i++)
 *                 ... one unit ...
 *             bench_stop(run, 1000);
 *         }
 *         ... tear down ...
 *     }
 *
 * The report contains the smallest and the median cost of a unit in nanoseconds, and the ratio of
 * the smallest cost to that of the case named in `relative_to`. Seconds depend on the machine;
 * ratios are comparable between machines. */
#ifndef YK_BENCH_BENCH_H
#define YK_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include "yoke/base.h"
#include "yoke/ids.h"

typedef struct bench bench;

typedef struct bench_case {
    const char *name; /* "module/what", unique */
    const char *unit; /* what one cost belongs to: "step", "contact and sweep", ... */
    void (*run)(bench *run);
    const char *relative_to; /* name of the case that the ratio is taken to; NULL: none */
    bool slow;               /* takes more than some seconds: runs with --slow only */
} bench_case;

/* Each file of cases exports one table, ended by a case without name; cases.c lists the tables,
 * ended by NULL. */
extern const bench_case bench_base[];
extern const bench_case bench_contact[];
extern const bench_case bench_access[];
extern const bench_case bench_coupling[];
extern const bench_case bench_coulomb[];
extern const bench_case bench_fmu[];
extern const bench_case bench_index1[];
extern const bench_case bench_nonsmooth[];
extern const bench_case bench_physics[];
extern const bench_case bench_record[];
extern const bench_case bench_rim[];
extern const bench_case bench_scale[];
extern const bench_case bench_smooth[];
extern const bench_case bench_transport[];
extern const bench_case *const bench_tables[];

/* Under mpirun -n 2: rank 1 serves the case that has a subsystem there, and ends with rank 0, which
 * measures. False: it is not possible. */
bool bench_begin_ranks(void);
void bench_end_ranks(void);

yk_context *bench_context(bench *run);

/* True as many times as samples are requested, and false after a failure. */
bool bench_repeat(bench *run);
void bench_start(bench *run);
void bench_stop(bench *run, double units);
/* A sample that the case has measured itself, in nanoseconds per unit. */
void bench_sample(bench *run, double nanoseconds);

/* Another value of the case, such as contacts, bytes per sphere, residual, for table and JSON. The
 * last value counts. At most BENCH_NOTES per case. */
enum { BENCH_NOTES = 16 };
void bench_note(bench *run, const char *name, double value);

/* The case cannot be measured; the program prints the reason and exits non-zero at the end. */
void bench_fail(bench *run, const char *format, ...) YK_PRINTF(2, 3);
/* The case is not applicable, for example because files are missing: not a failure. */
void bench_skip(bench *run, const char *why);
/* Like bench_fail() if status is an error, with the context's last message; returns true otherwise. */
bool bench_check(bench *run, yk_status status);
/* The same for an id that a builder returned, or YK_NO_ID. */
bool bench_added(bench *run, int id);

/* Prevents the compiler from computing `value` less often than written. */
static inline void bench_keep(const void *value)
{
    __asm__ volatile("" : : "g"(value) : "memory");
}

#endif
