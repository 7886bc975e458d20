/* yoke sweep: a scenario for many values, in parallel, with one table and picture of chosen
 * measures. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "pictures.h"
#include "progress.h"
#include "scenario.h"
#include "yoke/analysis.h"

enum { AXES_MAX = 8, VALUES_MAX = 100000 };

static char noun[] = "run"; /* that progress counts */

typedef struct request {
    yk_context *context;
    option_list sets, varies, measures;
    const char *scenario, *output, *plot, *journal;
    int jobs;
    int axis_count;
    yk_sweep_axis axes[AXES_MAX];
    char *texts[AXES_MAX]; /* the axes' words, cut in pieces */
} request;

/* Axes ----------------------------------------------------------------------------------------- */

static bool refuse_axis(const char *text)
{
    fprintf(stderr,
            "yoke: --vary '%s': write PATH=FIRST:LAST:COUNT, PATH=FIRST:LAST:COUNT:log or "
            "PATH=value,value,...\n",
            text);
    return false;
}

/* FIRST:LAST:COUNT as text, one value after the other. */
static char *spell_range(double first, double last, int count, bool logarithmic)
{
    enum { WIDTH = 32 };
    char *text = malloc((size_t)count * WIDTH);
    for (int i = 0; text && i < count; i++) {
        yk_map_axis axis = {"", first, last, count, logarithmic};
        snprintf(text + (size_t)i * WIDTH, WIDTH, "%.15g", yk_map_axis_value(&axis, i));
    }
    return text;
}

static bool set_range(yk_sweep_axis *axis, char **text, double first, double last, int count,
                      bool logarithmic)
{
    const char **values = malloc((size_t)count * sizeof *values);
    *text = spell_range(first, last, count, logarithmic);
    for (int i = 0; values && *text && i < count; i++)
        values[i] = *text + (size_t)i * 32;
    axis->values = values;
    axis->count = count;
    return values && *text;
}

/* Commas part the values, except inside brackets: a value may be a list. */
static bool set_list(yk_sweep_axis *axis, char *text)
{
    int count = 1, depth = 0;
    for (const char *at = text; *at; at++)
        count += *at == ',';
    const char **values = malloc((size_t)count * sizeof *values);
    if (!values)
        return false;
    axis->values = values;
    values[axis->count++] = text;
    for (char *at = text; *at; at++) {
        if (strchr("[{(", *at))
            depth++;
        if (strchr("]})", *at))
            depth--;
        if (*at != ',' || depth > 0)
            continue;
        *at = '\0';
        values[axis->count++] = at + 1;
    }
    return true;
}

static bool read_axis(request *r, const char *text)
{
    const char *equals = strchr(text, '=');
    if (r->axis_count == AXES_MAX || !equals || equals == text || !equals[1])
        return refuse_axis(text);
    yk_sweep_axis *axis = &r->axes[r->axis_count];
    char **copy = &r->texts[r->axis_count++];
    double first, last;
    int count, used = 0;
    bool range = sscanf(equals + 1, "%lf:%lf:%d%n", &first, &last, &count, &used) == 3;
    const char *rest = equals + 1 + used;
    axis->path = strndup(text, (size_t)(equals - text));
    if (range && (!*rest || strcmp(rest, ":log") == 0)) {
        bool logarithmic = *rest != '\0';
        if (count < 1 || count > VALUES_MAX || (logarithmic && !(first > 0 && last > 0)))
            return refuse_axis(text);
        return set_range(axis, copy, first, last, count, logarithmic);
    }
    *copy = strdup(equals + 1);
    return *copy && set_list(axis, *copy);
}

/* Results -------------------------------------------------------------------------------------- */

static void write_row(FILE *out, const yk_sweep_def *def, const double *results, int run,
                      int digits)
{
    for (int i = 0; i < def->axis_count; i++) {
        const char *value = yk_sweep_value(def, run, i), *quote = strpbrk(value, ",\"") ? "\"" : "";
        fputs(quote, out);
        for (const char *at = value; *at; at++)
            fprintf(out, *at == '"' ? "\"\"" : "%c", *at);
        fprintf(out, "%s,", quote);
    }
    for (int i = 0; i < def->measure_count; i++) {
        fprintf(out, "%.*g", digits, results[(size_t)run * (size_t)def->measure_count + (size_t)i]);
        fputs(i + 1 < def->measure_count ? "," : "\n", out);
    }
}

static bool write_table(const char *file, const yk_sweep_def *def, const double *results)
{
    FILE *out = file ? fopen(file, "w") : stdout;
    if (!out) {
        fprintf(stderr, "yoke: cannot write %s: %s\n", file, strerror(errno));
        return false;
    }
    for (int i = 0; i < def->axis_count; i++)
        fprintf(out, "%s,", def->axes[i].path);
    for (int i = 0; i < def->measure_count; i++)
        fprintf(out, "\"%s\"%s", def->measures[i], i + 1 < def->measure_count ? "," : "\n");
    for (int run = 0; run < yk_sweep_runs(def); run++)
        write_row(out, def, results, run, file ? 17 : 6);
    bool good = !ferror(out);
    return (out == stdout || fclose(out) == 0) && good;
}

static int run_sweep(request *r, const yk_sweep_def *def)
{
    yk_context *context = r->context;
    int runs = yk_sweep_runs(def);
    double *results = malloc(((size_t)runs * (size_t)def->measure_count + 1) * sizeof *results);
    yk_diagnostics *diagnostics = NULL;
    yk_status status = results ? yk_diagnostics_create(context, &diagnostics) : YK_ERROR_MEMORY;
    if (status >= 0)
        status = yk_sweep(context, def, diagnostics, results);
    int code = EXIT_GOOD;
    if (status != YK_OK) {
        code = print_refusal(context, diagnostics, status);
        if (status == YK_INTERRUPTED && r->journal)
            fprintf(stderr, "yoke: the same command takes it up again\n");
    } else {
        if (!write_table(r->output, def, results))
            code = EXIT_FAILED;
        if (r->plot && picture_sweep(context, r->plot, r->scenario, def, results) < 0)
            code = print_failure(context);
        if (r->plot && code == EXIT_GOOD)
            printf("picture %s.svg, %s.png\n", r->plot, r->plot);
    }
    yk_diagnostics_destroy(diagnostics);
    free(results);
    return code;
}

int command_sweep(int argc, char **argv)
{
    request r = {0};
    const option_row rows[] = {
        {"vary", OPTION_LIST, &r.varies, "PATH=VALUES",
         "FIRST:LAST:COUNT, FIRST:LAST:COUNT:log or value,value,...; every combination is run"},
        {"measure", OPTION_LIST, &r.measures, "KIND(SIGNAL)",
         "rms, mean, deviation, min, max, peak, amplitude, final, frequency (SIGNAL[, FROM[, "
         "TO]]), line(SIGNAL, HZ)"},
        {"set", OPTION_LIST, &r.sets, "PATH=VALUE", "override a value for all runs"},
        {"jobs", OPTION_COUNT, &r.jobs, "N", "runs at the same time [one per core]"},
        {"journal", OPTION_TEXT, &r.journal, "FILE",
         "keep finished runs there; the same command then goes on after a stop"},
        {"o", OPTION_TEXT, &r.output, "FILE", "table as CSV [printed]"},
        {"plot", OPTION_TEXT, &r.plot, "BASE",
         "picture BASE.svg and BASE.png, over the last --vary"},
        {.kind = OPTION_END},
    };
    int parsed = options_parse("sweep SCENARIO --vary PATH=VALUES ... --measure KIND(SIGNAL) ...",
                               rows, argc, argv, &r.scenario, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);
    bool good = true;
    for (int i = 0; good && i < r.varies.count; i++)
        good = read_axis(&r, r.varies.items[i]);
    if (good && (r.axis_count == 0 || r.measures.count == 0)) {
        fprintf(stderr, "yoke: sweep needs --vary and --measure\n");
        good = false;
    }
    int code = EXIT_MISUSE;
    r.context = good ? open_context() : NULL;
    if (r.context) {
        catch_interrupts();
        yk_sweep_def def = {.axes = r.axes,
                            .axis_count = r.axis_count,
                            .measures = r.measures.items,
                            .measure_count = r.measures.count,
                            .jobs = r.jobs,
                            .journal = r.journal,
                            .progress = show_count,
                            .user = noun};
        def.scenario = scenario_def(r.scenario, &r.sets);
        code = run_sweep(&r, &def);
        yk_context_destroy(r.context);
    }
    for (int i = 0; i < r.axis_count; i++) {
        free((void *)(uintptr_t)r.axes[i].path);
        free((void *)(uintptr_t)r.axes[i].values);
        free(r.texts[i]);
    }
    return code;
}
