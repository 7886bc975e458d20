/* yoke-bench: runs the cases of bench_tables and prints a table, and JSON on request.
 *
 * All cases run in one process, one after another. The smallest sample is the least disturbed one;
 * the median shows the noise of the machine. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "bench_build.h"

enum { SAMPLES_MAX = 1000, SAMPLES_DEFAULT = 10 };

typedef struct note {
    const char *name;
    double value;
} note;

struct bench {
    yk_context *context;
    int repeats;
    int done; /* samples asked for so far; samples taken: sample_count */
    struct timespec started;
    double samples[SAMPLES_MAX]; /* nanoseconds per unit */
    int sample_count;
    note notes[BENCH_NOTES];
    int note_count;
    bool failed;
    bool skipped;
    char message[512];
};

typedef struct result {
    const bench_case *which;
    double smallest, median;
    int samples;
    note notes[BENCH_NOTES];
    int note_count;
} result;

typedef struct options {
    const char *filter;
    const char *json;
    int repeats;
    bool list;
    bool slow;
} options;

/* Functions for cases -------------------------------------------------------------------------- */

yk_context *bench_context(bench *run)
{
    return run->context;
}

bool bench_repeat(bench *run)
{
    return !run->failed && !run->skipped && run->done++ < run->repeats;
}

void bench_start(bench *run)
{
    clock_gettime(CLOCK_MONOTONIC, &run->started);
}

void bench_stop(bench *run, double units)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double elapsed = 1e9 * (double)(now.tv_sec - run->started.tv_sec) +
                     (double)(now.tv_nsec - run->started.tv_nsec);
    bench_sample(run, elapsed / units);
}

void bench_sample(bench *run, double nanoseconds)
{
    if (run->sample_count < SAMPLES_MAX)
        run->samples[run->sample_count++] = nanoseconds;
}

void bench_note(bench *run, const char *name, double value)
{
    int i = 0;
    while (i < run->note_count && strcmp(run->notes[i].name, name) != 0)
        i++;
    if (i == BENCH_NOTES) {
        bench_fail(run, "more than %d notes", BENCH_NOTES);
        return;
    }
    run->notes[i] = (note){name, value};
    if (i == run->note_count)
        run->note_count++;
}

void bench_fail(bench *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run->message, sizeof run->message, format, arguments);
    va_end(arguments);
    run->failed = true;
}

void bench_skip(bench *run, const char *why)
{
    snprintf(run->message, sizeof run->message, "%s", why);
    run->skipped = true;
}

bool bench_check(bench *run, yk_status status)
{
    if (!YK_FAILED(status))
        return true;
    bench_fail(run, "%s: %s", yk_status_text(status), yk_last_message(run->context));
    return false;
}

bool bench_added(bench *run, int id)
{
    return id != YK_NO_ID || bench_check(run, yk_last_status(run->context));
}

/* Selection and measurement -------------------------------------------------------------------- */

static bool is_named(const bench_case *which, const options *chosen)
{
    return !chosen->filter || strstr(which->name, chosen->filter);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef enum outcome { MEASURED, SKIPPED, FAILED } outcome;

/* Prints the reason if a case is skipped or fails. */
static outcome measure(const bench_case *which, int repeats, result *out)
{
    static bench run; /* too large for the stack of a small thread */
    memset(&run, 0, sizeof run);
    run.repeats = repeats;
    run.context = yk_context_create(NULL);
    if (!run.context) {
        fprintf(stderr, "%s: out of memory\n", which->name);
        return FAILED;
    }
    which->run(&run);
    yk_context_destroy(run.context);
    if (!run.failed && !run.skipped && run.sample_count == 0)
        bench_fail(&run, "took no sample");
    if (run.failed) {
        fprintf(stderr, "%s: %s\n", which->name, run.message);
        return FAILED;
    }
    if (run.skipped) {
        printf("%-44s skipped: %s\n", which->name, run.message);
        return SKIPPED;
    }
    qsort(run.samples, (size_t)run.sample_count, sizeof run.samples[0], ascending);
    int middle = run.sample_count / 2;
    *out = (result){.which = which, .smallest = run.samples[0], .samples = run.sample_count};
    out->median = run.sample_count % 2 ? run.samples[middle]
                                       : 0.5 * (run.samples[middle - 1] + run.samples[middle]);
    out->note_count = run.note_count;
    memcpy(out->notes, run.notes, sizeof run.notes);
    return MEASURED;
}

/* 0 if the case names no other, or that one did not run. */
static double ratio_of(const result *results, int count, const result *one)
{
    if (!one->which->relative_to)
        return 0;
    for (int i = 0; i < count; i++)
        if (strcmp(results[i].which->name, one->which->relative_to) == 0)
            return one->smallest / results[i].smallest;
    return 0;
}

/* Table ---------------------------------------------------------------------------------------- */

static void print_head(void)
{
    printf("%-44s %14s %14s %9s  %s\n", "case", "least ns", "median ns", "ratio", "per");
}

static void print_row(const result *results, int count, const result *one)
{
    double ratio = ratio_of(results, count, one);
    printf("%-44s %14.2f %14.2f ", one->which->name, one->smallest, one->median);
    if (ratio > 0)
        printf("%9.3f", ratio);
    else
        printf("%9s", "-");
    printf("  %s", one->which->unit);
    for (int i = 0; i < one->note_count; i++)
        printf("%s%s %.6g", i ? ", " : "  (", one->notes[i].name, one->notes[i].value);
    printf("%s\n", one->note_count ? ")" : "");
    fflush(stdout);
}

/* JSON ----------------------------------------------------------------------------------------- */

static void write_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fputc('\\', file);
        if ((unsigned char)*c >= 0x20)
            fputc(*c, file);
    }
    fputc('"', file);
}

/* "model name : X" of the first core, or the machine's kind. */
static void cpu_model(char *text, size_t size)
{
    struct utsname name;
    snprintf(text, size, "%s", uname(&name) == 0 ? name.machine : "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file)
        return;
    char line[256];
    while (fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        colon += 1 + strspn(colon + 1, " ");
        colon[strcspn(colon, "\n")] = 0;
        snprintf(text, size, "%s", colon);
        break;
    }
    fclose(file);
}

static void write_machine(FILE *file)
{
    char cpu[256];
    cpu_model(cpu, sizeof cpu);
    fprintf(file, "  \"machine\": {\"cpu\": ");
    write_string(file, cpu);
    fprintf(file, ", \"cores\": %ld, \"compiler\": ", sysconf(_SC_NPROCESSORS_ONLN));
    write_string(file, BENCH_COMPILER);
    fprintf(file, ", \"flags\": ");
    write_string(file, BENCH_FLAGS);
    fprintf(file, ", \"version\": ");
    write_string(file, yk_version());
    fprintf(file, ", \"revision\": ");
    write_string(file, BENCH_REVISION);
    fprintf(file, "},\n");
}

static void write_result(FILE *file, const result *results, int count, const result *one)
{
    double ratio = ratio_of(results, count, one);
    fprintf(file,
            "    {\"name\": \"%s\", \"unit\": \"%s\", \"least_ns\": %.6g, \"median_ns\": %.6g, "
            "\"samples\": %d",
            one->which->name, one->which->unit, one->smallest, one->median, one->samples);
    if (ratio > 0)
        fprintf(file, ", \"relative_to\": \"%s\", \"ratio\": %.6g", one->which->relative_to, ratio);
    if (one->note_count)
        fprintf(file, ", \"notes\": {");
    for (int i = 0; i < one->note_count; i++)
        fprintf(file, "%s\"%s\": %.10g", i ? ", " : "", one->notes[i].name, one->notes[i].value);
    fprintf(file, "%s}", one->note_count ? "}" : "");
}

static bool write_json(const char *path, const result *results, int count)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return false;
    }
    fprintf(file, "{\n");
    write_machine(file);
    fprintf(file, "  \"results\": [\n");
    for (int i = 0; i < count; i++) {
        write_result(file, results, count, &results[i]);
        fprintf(file, "%s\n", i + 1 < count ? "," : "");
    }
    fprintf(file, "  ]\n}\n");
    if (fclose(file) == 0)
        return true;
    perror(path);
    return false;
}

/* Command line --------------------------------------------------------------------------------- */

static const char usage[] =
    "usage: yoke-bench [--list] [--filter TEXT] [--repeat N] [--slow] [--json FILE]\n"
    "\n"
    "  --list         names the cases and ends\n"
    "  --filter TEXT  runs the cases whose name contains TEXT\n"
    "  --repeat N     samples per case, 1 to 1000 (default 10)\n"
    "  --slow         also the cases that take long, of those chosen\n"
    "  --json FILE    writes machine and results\n";

/* False after an error. */
static bool read_options(int argc, char **argv, options *chosen)
{
    *chosen = (options){.repeats = SAMPLES_DEFAULT};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--list") == 0) {
            chosen->list = true;
            continue;
        }
        if (strcmp(argv[i], "--slow") == 0) {
            chosen->slow = true;
            continue;
        }
        if (!value)
            return false;
        if (strcmp(argv[i], "--filter") == 0)
            chosen->filter = value;
        else if (strcmp(argv[i], "--json") == 0)
            chosen->json = value;
        else if (strcmp(argv[i], "--repeat") == 0)
            chosen->repeats = atoi(value);
        else
            return false;
        i++;
    }
    return chosen->repeats >= 1 && chosen->repeats <= SAMPLES_MAX;
}

static void list_cases(void)
{
    for (const bench_case *const *table = bench_tables; *table; table++)
        for (const bench_case *which = *table; which->name; which++)
            printf("%-44s per %s%s\n", which->name, which->unit, which->slow ? " (slow)" : "");
}

static int count_cases(void)
{
    int count = 0;
    for (const bench_case *const *table = bench_tables; *table; table++)
        for (const bench_case *which = *table; which->name; which++)
            count++;
    return count;
}

int main(int argc, char **argv)
{
    options chosen;
    if (!read_options(argc, argv, &chosen)) {
        fputs(usage, stderr);
        return 2;
    }
    if (chosen.list) {
        list_cases();
        return 0;
    }
    result *results = calloc((size_t)count_cases(), sizeof *results);
    if (!results || !bench_begin_ranks())
        return 1;
    int count = 0, failures = 0, skipped = 0, absent = 0;
    print_head();
    for (const bench_case *const *table = bench_tables; *table; table++)
        for (const bench_case *which = *table; which->name; which++) {
            if (!is_named(which, &chosen))
                continue;
            if (which->slow && !chosen.slow) {
                skipped++;
                continue;
            }
            switch (measure(which, chosen.repeats, &results[count])) {
            case MEASURED:
                count++;
                print_row(results, count, &results[count - 1]);
                break;
            case SKIPPED: absent++; break;
            case FAILED: failures++; break;
            }
        }
    if (skipped)
        printf("%d slow case%s skipped; --slow runs %s too\n", skipped, skipped == 1 ? "" : "s",
               skipped == 1 ? "it" : "them");
    if (count + failures + skipped + absent == 0)
        fprintf(stderr, "no case has a name that contains \"%s\"\n", chosen.filter);
    bench_end_ranks();
    bool written = !chosen.json || write_json(chosen.json, results, count);
    free(results);
    return count + skipped + absent > 0 && failures == 0 && written ? 0 : 1;
}
