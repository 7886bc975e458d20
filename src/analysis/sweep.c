/* Sweeps: a scenario is run for every combination of varied values, in parallel, resumable.
 *
 * Each run is independent: it has its own context, scenario and record, so results do not depend on
 * the number of parallel runs. A finished run is a line in the journal, with a key that is a
 * fingerprint of the resolved scenario, of the contents of its files, of the measures and of the
 * program's version, and with a checksum at its end. A resumed sweep skips the runs in the journal.
 * Runs that were changed in between, and runs whose line is damaged, are repeated. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/scenario_run.h"
#include "base/input.h"
#include "base/text.h"
#include "yoke/analysis.h"

/* A larger number of combinations is an error of the caller. */
enum { RUNS_MAX = 10000000 };

/* The checksum at the end of a line of the journal. */
#define CHECKSUM_FORMAT "%016" PRIx64
enum { CHECKSUM_DIGITS = 16 };

typedef struct sweep {
    yk_context *context;
    const yk_sweep_options *def;
    yk_measure *measures;
    int channel_measures; /* of recorded channels; the others are of the macro step */
    double *results;

    /* Data of the journal: fingerprints and values. */
    uint64_t *fingerprints;
    double *kept;
    int kept_count, kept_capacity;
    bool kept_is_inside; /* in one block with the fingerprints */

    FILE *journal;
    int journal_error; /* errno of a line that could not be written; 0: there is none */
    int done, failed;
    yk_status broken; /* of a run that failed for a technical reason; YK_OK: there is none */
} sweep;

int yk_sweep_run_count(const yk_sweep_options *def)
{
    int64_t runs = 1;
    for (int i = 0; i < def->axis_count; i++) {
        runs *= def->axes[i].count;
        if (runs > RUNS_MAX)
            return 0;
    }

    return (int)runs;
}

const char *yk_sweep_value(const yk_sweep_options *def, int run, int axis)
{
    /* The last axis changes fastest. */
    for (int i = def->axis_count - 1; i > axis; i--)
        run /= def->axes[i].count;
    return def->axes[axis].values[run % def->axes[axis].count];
}

/* Journal -------------------------------------------------------------------------------------- */

/* Including the terminator, so that consecutive texts do not merge. */
static uint64_t mix(uint64_t hash, const char *text)
{
    return yk_hash_bytes(hash, text, strlen(text) + 1);
}

/* Fingerprint of everything that the values of a run depend on: the resolved scenario, the contents
 * of its input files, the measures and the program. False if a file cannot be read again. */
static bool fingerprint(const sweep *s, yk_context *context, const yk_scenario *scenario,
                        uint64_t *key)
{
    char *text = yk_scenario_resolved_text(scenario);
    if (!text)
        return false;

    uint64_t hash = mix(YK_HASH_START, yk_version());
    hash = mix(hash, text);
    yk_free(context, text);
    for (int i = 0; i < s->def->measure_count; i++)
        hash = mix(hash, s->def->measures[i]);

    const char *path;
    for (int i = 0; (path = yk_scenario_input_file(scenario, i, NULL)); i++) {
        uint64_t contents;
        if (yk_input_hash(context, path, &contents) != YK_OK)
            return false;

        hash = yk_hash_bytes(hash, &contents, sizeof contents);
    }

    const yk_stability_options *stability = s->def->stability;
    if (stability) {
        char settings[96];
        yk_format(settings, sizeof settings, "%.17g %d %d %d %d", stability->time,
                  stability->settle_steps, stability->find_equilibrium, stability->track_steps,
                  stability->sample_count);
        hash = mix(hash, settings);
    }

    *key = hash;
    return true;
}

/* Runs ----------------------------------------------------------------------------------------- */

/* Loads the scenario of one run: the overrides of the sweep, its varied values, and the measured
 * channels. */
static yk_status load_run(const sweep *s, yk_context *context, int run, yk_diagnostics *diagnostics,
                          yk_scenario **out)
{
    const yk_sweep_options *def = s->def;
    const yk_scenario_def *base = &def->scenario;
    size_t most = (size_t)(base->override_count + def->axis_count + 1);
    yk_text *texts = yk_allocate(context, (size_t)def->axis_count + 1, sizeof *texts);
    const char **overrides = yk_allocate(context, most, sizeof *overrides);
    yk_status status = YK_ERROR_MEMORY;
    if (texts && overrides) {
        /* The overrides of the sweep, then the values that it varies. */
        int count = 0;
        for (int i = 0; i < base->override_count; i++)
            overrides[count++] = base->overrides[i];
        for (int i = 0; i < def->axis_count; i++) {
            yk_text_add(context, &texts[i], "%s=%s", def->axes[i].path,
                        yk_sweep_value(def, run, i));
            overrides[count++] = texts[i].data;
        }

        /* Record the channels of the measures. */
        yk_text *channels = &texts[def->axis_count];
        yk_text_add(context, channels, "record.channels=[");
        const char *comma = "";

        for (int i = 0; i < def->measure_count; i++) {
            /* Several measures may use one channel, which is recorded once. */
            const char *channel = s->measures[i].channel;
            bool listed = yk_measure_of_step(&s->measures[i]);
            for (int k = 0; k < i; k++)
                listed = listed || strcmp(s->measures[k].channel, channel) == 0;
            if (listed)
                continue;

            yk_text_add(context, channels, "%s%s", comma, channel);
            comma = ", ";
        }

        yk_text_add(context, channels, "]");
        if (s->channel_measures > 0)
            overrides[count++] = channels->data;

        bool complete = true;
        for (int i = 0; i <= def->axis_count; i++)
            complete = complete && !texts[i].failed;

        /* Finite differences of steps need solvers that iterate to rounding errors. */
        yk_scenario_def changed = *base;
        changed.iterate_to_rounding = s->channel_measures == 0;
        changed.overrides = overrides;
        changed.override_count = count;
        if (complete)
            status = yk_scenario_load(context, &changed, diagnostics, out);
    }

    for (int i = 0; texts && i <= def->axis_count; i++)
        yk_text_destroy(context, &texts[i]);
    yk_free(context, texts);
    yk_free(context, overrides);
    return status;
}

/* All measures of one run. */
static yk_status measure_run(const sweep *s, yk_context *context, yk_scenario *scenario,
                             double *values)
{
    const yk_sweep_options *def = s->def;
    yk_status status = YK_OK;

    /* Measures of the macro step share one analysis. */
    if (s->channel_measures < def->measure_count) {
        yk_stability_options stability = yk_stability_options_default();
        if (def->stability)
            stability = *def->stability;
        yk_stability_report report;
        status = yk_analyze_stability(context, scenario, &stability, &report);
        if (YK_FAILED(status))
            return status;

        for (int i = 0; i < def->measure_count; i++)
            if (yk_measure_of_step(&s->measures[i]))
                values[i] = yk_measure_step_value(&s->measures[i], &report);
    }

    if (s->channel_measures == 0)
        return YK_OK;

    /* Measures of channels share one run. */
    yk_record *record = NULL;
    status = yk_record_create(context, &record);
    if (!YK_FAILED(status)) {
        yk_run_options run = {.recorder = yk_record_recorder(record)};
        status = yk_run(context, scenario, &run, NULL);
    }

    for (int i = 0; !YK_FAILED(status) && i < def->measure_count; i++) {
        if (yk_measure_of_step(&s->measures[i]))
            continue;

        status = yk_measure_value(context, &s->measures[i], record, &values[i]);
    }

    yk_record_destroy(record);
    return status;
}

/* Result of a run: plain data, which may come from another process. The values of the measures
 * follow it. */
typedef struct outcome {
    yk_status status;
    uint64_t fingerprint;
    bool fresh; /* not from the journal, so that it must be written */
    bool failed;
    char message[YK_TRIAL_MESSAGE];
} outcome;

/* The index among all runs: part k of n makes every n-th of them. */
static int number_of(const sweep *s, int index)
{
    if (s->def->part_index == 0)
        return index;
    return index * s->def->part_count + s->def->part_index - 1;
}

static void do_run(void *user, int index, void *result)
{
    sweep *s = user;
    const yk_sweep_options *def = s->def;
    outcome *out = result;
    double *values = (double *)(out + 1);
    *out = (outcome){.failed = true, .status = YK_ERROR_MEMORY};
    for (int i = 0; i < def->measure_count; i++)
        values[i] = NAN;

    /* One thread, because the runs are parallel. */
    yk_context_def context_def = yk_context_default();
    context_def.thread_count = 1;
    context_def.log = NULL; /* the outcome is reported, not the log */
    yk_context *context = yk_context_create(&context_def);
    if (!context)
        return;

    yk_diagnostics *diagnostics = NULL;
    yk_scenario *scenario = NULL;
    yk_status status = yk_diagnostics_create(context, &diagnostics);
    if (!YK_FAILED(status))
        status = load_run(s, context, number_of(s, index), diagnostics, &scenario);

    /* A run in the journal is not repeated. */
    if (!YK_FAILED(status)) {
        bool known = fingerprint(s, context, scenario, &out->fingerprint);
        const double *kept = NULL;
        for (int i = 0; known && i < s->kept_count; i++)
            if (s->fingerprints[i] == out->fingerprint)
                kept = &s->kept[(size_t)i * (size_t)def->measure_count];
        out->fresh = known && !kept;
        if (kept)
            memcpy(values, kept, (size_t)def->measure_count * sizeof *values);
        else
            status = measure_run(s, context, scenario, values);
    }

    out->status = status;
    out->failed = YK_FAILED(status);
    if (out->failed)
        snprintf(out->message, sizeof out->message, "%s", yk_last_message(context));
    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    yk_context_destroy(context);
}

/* Write each run to the journal when it is finished; log each failed run. */
static void finish_run(void *user, int index, const void *result)
{
    sweep *s = user;
    const yk_sweep_options *def = s->def;
    const outcome *out = result;
    const double *values = (const double *)(out + 1);
    int run = number_of(s, index);
    size_t width = (size_t)def->measure_count;
    memcpy(&s->results[(size_t)run * width], values, width * sizeof *values);

    s->done++;
    if (out->failed) {
        yk_text where = {0};
        for (int i = 0; i < def->axis_count; i++)
            yk_text_add(s->context, &where, "%s%s=%s", i ? ", " : "", def->axes[i].path,
                        yk_sweep_value(def, run, i));
        yk_log(s->context, YK_LOG_WARNING, "run %d (%s) failed: %s", run + 1,
               where.data ? where.data : "", out->message);
        yk_text_destroy(s->context, &where);
        s->failed++;

        /* A run that diverges has no value; a run that could not read its files may succeed later. */
        if (out->status == YK_ERROR_FILE || out->status == YK_ERROR_MEMORY)
            s->broken = out->status;
    } else if (out->fresh && s->journal) {
        yk_text line = {0};
        yk_text_add(s->context, &line, "%016" PRIx64, out->fingerprint);
        for (int i = 0; i < def->measure_count; i++)
            yk_text_add(s->context, &line, " %.17g", values[i]);
        errno = ENOMEM;
        bool written = !line.failed &&
                       fprintf(s->journal, "%s " CHECKSUM_FORMAT "\n", line.data,
                               yk_hash_bytes(YK_HASH_START, line.data, line.length)) > 0 &&
                       fflush(s->journal) == 0;
        if (!written && s->journal_error == 0)
            s->journal_error = errno;
        yk_text_destroy(s->context, &line);
    }
}

/* Runs without a line would be lost with the next interruption, so stop now. */
static bool goes_on(void *user, int done, int total)
{
    const sweep *s = user;
    if (s->journal_error != 0 || s->broken != YK_OK)
        return false;
    return !s->def->progress || s->def->progress(s->def->user, done, total);
}

/* Removes the checksum from the end of a line. False: the line is incomplete or damaged. */
static bool check_line(char *line, size_t length)
{
    enum { TAIL = 1 + CHECKSUM_DIGITS + 1 }; /* space, checksum, line break */
    if (length <= TAIL || line[length - 1] != '\n' || line[length - TAIL] != ' ')
        return false;

    line[length - TAIL] = '\0';
    char expected[CHECKSUM_DIGITS + 2];
    snprintf(expected, sizeof expected, CHECKSUM_FORMAT "\n",
             yk_hash_bytes(YK_HASH_START, line, length - TAIL));
    return memcmp(expected, line + length - TAIL + 1, CHECKSUM_DIGITS + 1) == 0;
}

/* Reads "fingerprint value value ..." into the next place; false: the line is something else. */
static bool parse_line(sweep *s, const char *line)
{
    size_t width = (size_t)s->def->measure_count;
    double *values = &s->kept[(size_t)s->kept_count * width];
    char *end;
    s->fingerprints[s->kept_count] = strtoull(line, &end, 16);
    bool good = end != line;
    for (size_t i = 0; good && i < width; i++) {
        const char *number = end;
        values[i] = yk_text_number(number, &end);
        good = end != number;
    }

    return good && *end == '\0';
}

static bool reserve_line(sweep *s)
{
    if (s->kept_count < s->kept_capacity)
        return true;

    size_t width = (size_t)s->def->measure_count;
    size_t capacity = 2 * (size_t)s->kept_capacity + 1024;
    uint64_t *keys = yk_reallocate(s->context, s->fingerprints, capacity, sizeof *s->fingerprints);
    if (keys)
        s->fingerprints = keys;
    double *kept = yk_reallocate(s->context, s->kept, capacity * width, sizeof *s->kept);
    if (kept)
        s->kept = kept;
    if (!keys || !kept)
        return false;

    s->kept_capacity = (int)capacity;
    return true;
}

/* Adds the lines of a journal, if there is one. A line is "fingerprint value value ... checksum".
 * The run of an incomplete or damaged line is repeated. A line with other measures belongs to
 * another sweep. */
static yk_status read_journal(sweep *s, const char *path)
{
    FILE *file = yk_regular_open(NULL, path, YK_ERROR_FILE);
    if (!file && errno == ENOENT)
        return YK_OK;

    char *line = NULL;
    size_t capacity = 0;
    int damaged = 0;
    yk_status status = YK_OK;
    errno = file ? 0 : errno;
    ssize_t length = -1;
    while (file && status == YK_OK && (length = getline(&line, &capacity, file)) >= 0) {
        if (!reserve_line(s))
            status = YK_ERROR_MEMORY;
        else if (!check_line(line, (size_t)length))
            damaged++;
        else if (parse_line(s, line))
            s->kept_count++;
        errno = 0;
    }

    /* Continue after a line that cannot be read. */
    if (status == YK_OK && (!file || !feof(file)))
        status = yk_fail(s->context, errno == ENOMEM ? YK_ERROR_MEMORY : YK_ERROR_FILE,
                         "cannot read the journal %s: %s", path, strerror(errno ? errno : EIO));
    if (status == YK_OK && damaged > 0)
        yk_log(s->context, YK_LOG_WARNING,
               "%d line%s of the journal %s %s damaged, cut off or of an older version; these runs "
               "are made again",
               damaged, damaged == 1 ? "" : "s", path, damaged == 1 ? "is" : "are");
    free(line);
    if (file)
        fclose(file);
    return status;
}

/* Opens a journal for appending. An incomplete line gets a line break, so that it does not merge
 * with the next. */
static FILE *open_journal(const char *path)
{
    FILE *journal = fopen(path, "a+");
    if (!journal || fseek(journal, -1, SEEK_END) != 0)
        return journal; /* it is empty */

    int last = fgetc(journal);
    fseek(journal, 0, SEEK_END);
    if (last != '\n')
        fputc('\n', journal);
    return journal;
}

/* The contents of the journals, for all ranks of a process group: only rank 0 needs access to the
 * files. */
static yk_status share_journal(sweep *s)
{
    const yk_process_group *team = s->def->team;
    size_t width = (size_t)s->def->measure_count;
    if (team->rank == 0) {
        size_t keys = (size_t)s->kept_count * sizeof *s->fingerprints;
        size_t values = (size_t)s->kept_count * width * sizeof *s->kept;
        char *bytes = yk_allocate(s->context, keys + values + 1, 1);
        if (!bytes)
            return YK_ERROR_MEMORY;

        if (s->kept_count > 0) {
            memcpy(bytes, s->fingerprints, keys);
            memcpy(bytes + keys, s->kept, values);
        }

        yk_status status = YK_OK;
        for (int rank = 1; status == YK_OK && rank < team->count; rank++)
            status = team->send(team->user, rank, bytes, keys + values);
        yk_free(s->context, bytes);
        return status;
    }

    int from = 0;
    size_t size = 0;
    yk_status status = team->probe(team->user, INFINITY, &from, &size);
    if (status != YK_OK)
        return status;

    /* Upper bound of the number of lines from the size. */
    size_t count = size / (sizeof *s->fingerprints + width * sizeof *s->kept);
    s->fingerprints = yk_allocate(s->context, size + 1, 1);
    if (!s->fingerprints)
        return YK_ERROR_MEMORY;

    status = team->receive(team->user, 0, s->fingerprints, size);
    s->kept_count = (int)count;
    s->kept = (double *)(s->fingerprints + count);
    s->kept_is_inside = true;
    return status;
}

/* Units of the axes and of the measures, from the first run. */
static void find_units(const sweep *s, const yk_scenario *scenario)
{
    const yk_sweep_options *def = s->def;
    const yk_scenario_info *info = yk_scenario_get_info(scenario);
    for (int i = 0; i < def->axis_count; i++)
        snprintf(def->units[i], YK_SWEEP_UNIT_MAX, "%s",
                 yk_scenario_unit(scenario, def->axes[i].path));

    for (int i = 0; i < def->measure_count; i++) {
        /* A component belongs to the channel with the same beginning. */
        const char *name = s->measures[i].channel;
        const char *own = "";
        for (int k = 0; k < info->channel_count; k++) {
            const yk_channel *channel = &info->channels[k];
            size_t length = strlen(channel->name);
            bool begins = strncmp(name, channel->name, length) == 0;
            if (begins && (!name[length] || name[length] == '.') && channel->unit)
                own = channel->unit;
        }
        snprintf(def->units[def->axis_count + i], YK_SWEEP_UNIT_MAX, "%s",
                 yk_measure_unit(&s->measures[i], own));
    }
}

/* Parses the measures, checks the first run, and opens the journal. */
static yk_status prepare(sweep *s, yk_diagnostics *diagnostics, int runs)
{
    const yk_sweep_options *def = s->def;
    if (runs == 0 || def->measure_count == 0)
        return yk_fail(s->context, YK_ERROR_ARGUMENT,
                       "a sweep needs at least one value to vary and one measure, and at most "
                       "10 million runs");

    /* The measures. */
    s->measures = yk_allocate(s->context, (size_t)def->measure_count, sizeof *s->measures);
    if (!s->measures)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < def->measure_count; i++) {
        yk_status status = yk_measure_parse(s->context, def->measures[i], &s->measures[i]);
        if (YK_FAILED(status))
            return status;
        if (!yk_measure_of_step(&s->measures[i]))
            s->channel_measures++;
    }

    /* Load the first run once with the caller's diagnostics, so that errors of the scenario are
     * listed once. */
    yk_scenario *scenario = NULL;
    yk_status status = load_run(s, s->context, 0, diagnostics, &scenario);
    if (!YK_FAILED(status) && def->units)
        find_units(s, scenario);
    yk_scenario_destroy(scenario);
    if (YK_FAILED(status) || !def->journal || (def->team && def->team->rank > 0))
        return status;

    /* Finished runs: of this part, or of all gathered parts. */
    yk_text path = {0};
    int first = 0;
    int last = 0;
    if (def->part_count > 0)
        first = def->part_index;
    if (def->part_count > 0)
        last = def->part_index > 0 ? def->part_index : def->part_count;
    for (int part = first; status == YK_OK && part <= last; part++) {
        yk_text_destroy(s->context, &path);
        yk_text_add(s->context, &path, "%s", def->journal);
        if (part > 0)
            yk_text_add(s->context, &path, ".%d", part);
        status = path.failed ? YK_ERROR_MEMORY : read_journal(s, path.data);
    }

    /* Open the journal for runs that finish from now on. */
    const char *own = def->part_index > 0 ? path.data : def->journal;
    if (status == YK_OK) {
        s->journal = open_journal(own);
        if (!s->journal)
            status = yk_fail(s->context, YK_ERROR_FILE, "cannot write the journal %s: %s", own,
                             strerror(errno));
    }

    yk_text_destroy(s->context, &path);
    return status;
}

yk_status yk_sweep(yk_context *context, const yk_sweep_options *def, yk_diagnostics *diagnostics,
                   double *results)
{
    /* All runs share data that are expensive to compute. */
    yk_sweep_options own = *def;
    yk_cache *prepared = yk_trials_prepare(&own.scenario);
    sweep s = {.context = context, .def = &own, .results = results};

    int runs = yk_sweep_run_count(def);
    yk_status status = prepare(&s, diagnostics, runs);
    if (status == YK_OK && def->team)
        status = share_journal(&s);
    if (!YK_FAILED(status)) {
        size_t count = (size_t)runs * (size_t)def->measure_count;
        for (size_t i = 0; i < count; i++)
            results[i] = NAN;
        if (def->part_index > 0)
            runs = (runs - def->part_index + def->part_count) / def->part_count;

        yk_trials_def work = {
            .team = def->team,
            .jobs = def->jobs,
            .count = runs,
            .result_size = sizeof(outcome) + (size_t)def->measure_count * sizeof(double),
            .work = do_run,
            .finish = finish_run,
            .user = &s,
            .progress = goes_on,
            .progress_user = &s,
        };
        status = yk_trials_run(context, &work);
    }

    /* A sweep that was stopped can be resumed; one without any result has failed. */
    if (s.journal_error != 0)
        status = yk_fail(context, YK_ERROR_FILE,
                         "cannot write the journal %s after %d of %d runs: %s; the same sweep goes "
                         "on from there",
                         def->journal, s.done, runs, strerror(s.journal_error));
    else if (s.broken != YK_OK && (status == YK_OK || status == YK_INTERRUPTED))
        status = yk_fail(context, s.broken,
                         "the sweep was stopped after %d of %d runs, because a run could not read "
                         "its files or had no memory. With a journal the same command continues "
                         "it",
                         s.done, runs);
    else if (status == YK_INTERRUPTED)
        yk_fail(context, status, "the sweep was stopped after %d of %d runs", s.done, runs);
    else if (!YK_FAILED(status) && s.failed == runs && runs > 0)
        status = yk_fail(context, YK_ERROR_SUBSYSTEM, "none of the %d runs succeeded", runs);

    if (s.journal)
        fclose(s.journal);
    yk_free(context, s.measures);
    yk_free(context, s.fingerprints);
    if (!s.kept_is_inside)
        yk_free(context, s.kept);
    yk_cache_destroy(prepared);
    return status;
}
