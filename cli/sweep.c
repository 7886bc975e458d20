/* yoke sweep: a scenario for many values, in parallel, with one table and picture of chosen
 * measures. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli.h"
#include "json.h"
#include "mpi.h"
#include "pictures.h"

enum { AXES_MAX = 8, VALUES_MAX = 100000 };

static char noun[] = "run"; /* that progress counts */

/* "PATH=FIRST:LAST:COUNT", "...:log" or "PATH=value,value,..." into an axis, whose words lie in
 * *words. False after a message. */
static bool read_axis(const char *text, yk_sweep_axis *axis, char **words)
{
    const char *equals = strchr(text, '=');
    bool named = equals && equals != text && equals[1];

    /* A range, or a list of words. */
    yk_map_axis range = {.parameter = ""};
    bool is_range = named && read_range(equals + 1, &range);
    bool sound = named;
    if (is_range)
        sound = range.count >= 1 && range.count <= VALUES_MAX;
    if (is_range && range.is_logarithmic)
        sound = sound && range.first > 0 && range.last > 0;

    if (!sound) {
        print_err("yoke: --vary '%s': write PATH=FIRST:LAST:COUNT, PATH=FIRST:LAST:COUNT:log or "
                  "PATH=value,value,...\n",
                  text);
        return false;
    }

    /* Memory for as many values as there may be; numbers become words, for an override is a
     * text. */
    const char **values = NULL;
    if (is_range) {
        values = spell_range(&range, words);
        axis->count = range.count;
    } else {
        int most = 1;
        for (const char *at = equals; *at; at++)
            most += *at == ',';
        values = malloc((size_t)most * sizeof *values);
        *words = strdup(equals + 1);
    }

    axis->path = strndup(text, (size_t)(equals - text));
    axis->values = values;
    if (!values || !axis->path || !*words) {
        print_no_memory();
        return false;
    }

    if (is_range)
        return true;

    /* Commas part the values, except inside brackets: a value may be a list. */
    int depth = 0;
    values[axis->count++] = *words;
    for (char *at = *words; *at; at++) {
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

static void write_json(const yk_sweep_options *def, const double *results, int runs)
{
    json_writer json = json_begin(stdout);
    json_text(&json, "scenario", def->scenario.path);
    json_open_array(&json, "columns");
    for (int i = 0; i < def->axis_count + def->measure_count; i++) {
        bool is_axis = i < def->axis_count;
        json_open_object(&json, NULL);
        json_text(&json, "name", is_axis ? def->axes[i].path : def->measures[i - def->axis_count]);
        json_text(&json, "unit", def->units[i]);
        json_bool(&json, "varied", is_axis);
        json_close(&json);
    }
    json_close(&json);

    json_open_array(&json, "rows");
    for (int run = 0; run < runs; run++) {
        json_open_object(&json, NULL);
        json_open_array(&json, "values");
        for (int i = 0; i < def->axis_count; i++)
            json_text(&json, NULL, yk_sweep_value(def, run, i));
        json_close(&json);
        json_open_array(&json, "measures");
        for (int i = 0; i < def->measure_count; i++)
            json_number(&json, NULL, results[(size_t)run * (size_t)def->measure_count + (size_t)i]);
        json_close(&json);
        json_close(&json);
    }
    json_close(&json);
    json_end(&json);
}

static int run_sweep(const yk_sweep_options *def, const char *output, const char *plot,
                     bool as_json)
{
    yk_context *context = open_context();
    if (!context)
        return EXIT_FAILED;

    /* Every combination of values, with a journal to go on after a stop. */
    catch_interrupts();

    int runs = yk_sweep_run_count(def);
    double *results = malloc(((size_t)runs * (size_t)def->measure_count + 1) * sizeof *results);
    yk_diagnostics *diagnostics = NULL;
    yk_status status = YK_ERROR_MEMORY;
    if (results)
        status = yk_diagnostics_create(context, &diagnostics);
    if (status == YK_OK)
        status = yk_sweep(context, def, diagnostics, results);

    int code = EXIT_GOOD;
    if (!YK_FAILED(status) && ranks_own() == 0)
        print_diagnostics(diagnostics);
    if (status != YK_OK) {
        code = print_refusal(context, diagnostics, status);

        /* The journal has the runs that were finished. */
        if (status == YK_INTERRUPTED && def->journal)
            print_err("yoke: the same command takes it up again\n");
    } else if (ranks_own() == 0 && def->part_index == 0) {
        /* A part has no table: it waits in its journal until all are gathered. Files have all
         * digits, a screen those that can be read. */
        if (as_json)
            write_json(def, results, runs);
        FILE *out = as_json ? NULL : stdout;
        yk_output table = {0};
        int digits = 6;
        if (output) {
            table = yk_output_open(output);
            out = table.stream;
            digits = 17;
        }

        /* The names of the columns, with their units as records have them; measures have commas. */
        int columns = def->axis_count + def->measure_count;
        for (int i = 0; out && i < columns; i++) {
            char unit[YK_SWEEP_UNIT_MAX + 4] = "";
            if (def->units[i][0])
                snprintf(unit, sizeof unit, " [%s]", def->units[i]);
            if (i < def->axis_count)
                fprintf(out, "%s%s,", def->axes[i].path, unit);
            else
                fprintf(out, "\"%s%s\"%s", def->measures[i - def->axis_count], unit,
                        i + 1 < columns ? "," : "\n");
        }

        /* The runs in their order, the last axis fastest; values quoted as CSV wants it. */
        const double *result = results;
        for (int run = 0; out && run < runs; run++) {
            for (int i = 0; i < def->axis_count; i++) {
                const char *value = yk_sweep_value(def, run, i);
                const char *quote = "";
                if (strpbrk(value, ",\""))
                    quote = "\"";

                fputs(quote, out);
                for (; *value; value++) {
                    if (*value == '"')
                        fputc('"', out);
                    fputc(*value, out);
                }
                fprintf(out, "%s,", quote);
            }

            for (int i = 0; i < def->measure_count; i++)
                fprintf(out, "%.*g%s", digits, *result++, i + 1 < def->measure_count ? "," : "\n");
        }

        /* Errors of the output are reported at the end of the program. */
        if (output && !close_written(&table, output))
            code = EXIT_FAILED;

        if (plot && picture_sweep(context, plot, def->scenario.path, def, results) != YK_OK)
            code = print_failure(context);
        if (plot && !as_json && code == EXIT_GOOD)
            print_picture(plot);
    }

    yk_diagnostics_destroy(diagnostics);
    free(results);
    yk_context_destroy(context);
    return code;
}

/* Array jobs ----------------------------------------------------------------------------------- */

/* A script for sbatch whose tasks each make a part of the sweep, and below it, as its last words,
 * the command that gathers them. */
static int write_array_job(const char *file, int tasks, const char *path, const option_list *sets,
                           const option_list *varies, const option_list *measures,
                           const char *journal)
{
    /* The sweep as it was asked for, without what belongs to this command. */
    const char *words[6 + 6 * OPTION_LIST_MAX] = {"sweep", path};
    int count = 2;
    const struct {
        const char *option;
        const option_list *list;
    } lists[] = {{"--vary", varies}, {"--measure", measures}, {"--set", sets}};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (int k = 0; k < lists[i].list->count; k++) {
            words[count++] = lists[i].option;
            words[count++] = lists[i].list->items[k];
        }
    }

    words[count++] = "--journal";
    words[count++] = journal;

    /* Tasks run this program in this folder, wherever they are started. */
    yk_context *context = open_context();
    char program[4096] = "";
    char folder[4096] = "";

    yk_text command = {0};
    yk_text place = {0};
    yk_output script = {0};
    errno = ENOMEM;
    if (context && find_program(program, sizeof program) && getcwd(folder, sizeof folder)) {
        const char *const where[] = {"cd", folder};
        join_arguments(context, &command, count, words);
        join_arguments(context, &place, 2, where);
        if (!command.failed && !place.failed)
            script = yk_output_open(file);
    }

    FILE *out = script.stream;
    if (!out) {
        close_written(&script, file);
        yk_text_destroy(context, &command);
        yk_text_destroy(context, &place);
        yk_context_destroy(context);
        return EXIT_FAILED;
    }

    /* join_arguments puts the name of the program first. */
    const char *arguments = strchr(command.data, ' ');
    fprintf(
        out,
        "#!/bin/bash\n"
        "#SBATCH --job-name=yoke-sweep\n"
        "#SBATCH --array=1-%d\n"
        "#SBATCH --ntasks=1\n"
        "# Every task makes every %d-th run and keeps it in %s.TASK; a task that is started again\n"
        "# continues. When all have ended, or at any time:\n"
        "#   '%s'%s --merge-parts %d -o TABLE.csv\n"
        "set -euo pipefail\n"
        "%s\n"
        "exec '%s'%s --part \"$SLURM_ARRAY_TASK_ID/%d\" --jobs \"${SLURM_CPUS_PER_TASK:-1}\"\n",
        tasks, tasks, journal, program, arguments, tasks, strchr(place.data, ' ') + 1, program,
        arguments, tasks);

    /* The next commands, ready to be pasted. */
    int code = EXIT_FAILED;
    if (close_written(&script, file)) {
        print_out("sbatch %s\n%s --merge-parts %d -o TABLE.csv   # when its tasks have ended\n",
                  file, command.data, tasks);
        code = EXIT_GOOD;
    }

    yk_text_destroy(context, &command);
    yk_text_destroy(context, &place);
    yk_context_destroy(context);
    return code;
}

static const char usage[] =
    "sweep SCENARIO --vary PATH=VALUES ... --measure KIND(CHANNEL) ... [OPTIONS]\n"
    "\n"
    "Run every combination of values and tabulate the measures. Under mpirun the "
    "runs are distributed over all ranks; --slurm writes an array job instead.";

int command_sweep(int argc, char **argv)
{
    option_list sets = {0};
    option_list varies = {0};
    option_list measures = {0};
    const char *path;
    const char *output = NULL;
    const char *plot = NULL;
    const char *slurm = NULL;
    const char *part = NULL;
    bool as_json = false;
    int tasks = 0;
    double deadline = RANKS_DEADLINE;
    char units[AXES_MAX + OPTION_LIST_MAX][YK_SWEEP_UNIT_MAX] = {{0}};
    yk_sweep_options def = {.progress = show_count, .user = noun, .units = units};

    const option_row rows[] = {
        {"vary", OPTION_LIST, &varies, "PATH=VALUES",
         "Vary a value: FIRST:LAST:COUNT, FIRST:LAST:COUNT:log, or a,b,c; may be repeated"},
        {"measure", OPTION_LIST, &measures, "KIND(CHANNEL)",
         "Tabulate rms, mean, deviation, min, max, peak, amplitude, final or frequency (CHANNEL[, "
         "FROM[, TO]]), or line(CHANNEL, HZ)"},
        SET_ROW(&sets),
        {"jobs", OPTION_COUNT, &def.jobs, "N", "Make N runs in parallel (default: one per core)"},
        {"journal", OPTION_TEXT, &def.journal, "FILE",
         "Keep finished runs in FILE, so that the command can be repeated after a stop"},
        {"slurm", OPTION_TEXT, &slurm, "FILE",
         "Write a Slurm array job to FILE instead of running"},
        {"tasks", OPTION_COUNT, &tasks, "N", "Use N tasks in the array job (default: 64)"},
        {"part", OPTION_TEXT, &part, "K/N",
         "Run every N-th combination, starting with the K-th; the runs are kept in JOURNAL.K"},
        {"merge-parts", OPTION_COUNT, &def.part_count, "N",
         "Merge the journals of N parts and run what is missing"},
        {"timeout", OPTION_NUMBER, &deadline, "SECONDS", RANKS_DEADLINE_TEXT},
        {"output", OPTION_TEXT, &output, "FILE", "Write the table as CSV (default: print it)"},
        {"plot", OPTION_TEXT, &plot, "BASE",
         "Draw the measures over the last --vary as BASE.svg, or as the .svg, .png or .pdf file of "
         "this name"},
        RENAMED_ROW("deadline", "timeout"),
        RENAMED_ROW("gather", "merge-parts"),
        JSON_ROW(&as_json),
        {.kind = OPTION_END},
    };

    int parsed = options_parse(usage, rows, argc, argv, &path, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);
    if (!picture_is_named("--plot", plot))
        return EXIT_MISUSE;

    /* Mistakes that can be seen before anything is read. */
    yk_sweep_axis axes[AXES_MAX] = {{0}};
    char *words[AXES_MAX] = {NULL};
    bool good = varies.count > 0 && measures.count > 0;
    if (!good)
        print_err("yoke: sweep needs --vary and --measure\n");

    if (varies.count > AXES_MAX) {
        print_err("yoke: sweep takes at most %d --vary\n", AXES_MAX);
        good = false;
    }

    if (good && (slurm || part || def.part_count > 0) && !def.journal) {
        print_err("yoke: parts of a sweep meet in their journals: name one with --journal\n");
        good = false;
    }

    /* "K/N": a part of the sweep. */
    if (good && part) {
        char *slash;
        char *end = NULL;
        long number = strtol(part, &slash, 10);
        long all = *slash == '/' ? strtol(slash + 1, &end, 10) : 0;
        good = end && !*end && number >= 1 && number <= all && all <= INT_MAX;
        def.part_index = good ? (int)number : 0;
        def.part_count = good ? (int)all : 0;
        if (!good)
            print_err("yoke: --part '%s': write K/N, such as 3/8, with K from 1 to N\n", part);
    }

    /* Axes point into texts of their own, because overrides are texts. */
    for (int i = 0; good && i < varies.count; i++)
        good = read_axis(varies.items[i], &axes[i], &words[i]);

    /* Other ranks have nothing to say to a script that one of them writes. */
    int code = EXIT_MISUSE;
    if (good && slurm) {
        enum { TASKS = 64 };
        if (tasks == 0)
            tasks = TASKS;
        if (ranks_own() == 0)
            code = write_array_job(slurm, tasks, path, &sets, &varies, &measures, def.journal);
    } else if (good) {
        def.scenario = scenario_def(path, &sets);
        def.axes = axes;
        def.axis_count = varies.count;
        def.measures = measures.items;
        def.measure_count = measures.count;
        def.team = ranks_team(deadline);
        code = run_sweep(&def, output, plot, as_json);
    }

    for (int i = 0; i < AXES_MAX; i++) {
        free((void *)(uintptr_t)axes[i].path);
        free((void *)(uintptr_t)axes[i].values);
        free(words[i]);
    }

    return code;
}
