/* Sweeps: a scenario run for every combination of varied values, in parallel, resumable.
 *
 * Each run is independent: its own context, scenario and record, so results do not depend on how
 * many run at a time. A finished run is a line in the journal, keyed by a fingerprint of the
 * scenario as it runs, of the contents of its files, of the measures and of the program's version;
 * a sweep that is taken up again skips what it finds there, and what was changed in between is run
 * anew. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/trial.h"
#include "base/hash.h"
#include "base/input.h"
#include "base/text.h"
#include "yoke/analysis.h"

/* Combinations beyond this are a mistake of the caller. */
enum { RUNS_MAX = 10000000 };

typedef struct sweep {
    yk_context *context;
    const yk_sweep_def *def;
    yk_measure *measures;
    int channel_measures; /* of recorded channels; the others are of the macro step */
    double *results;

    /* Lines of the journal: fingerprints and values. */
    uint64_t *fingerprints;
    double *kept;
    int kept_count;

    /* Guards what follows, and the context. */
    pthread_mutex_t lock;
    FILE *journal;
    int done, failed;
} sweep;

int yk_sweep_runs(const yk_sweep_def *def)
{
    int64_t runs = 1;
    for (int i = 0; i < def->axis_count; i++) {
        runs *= def->axes[i].count;
        if (runs > RUNS_MAX)
            return 0;
    }

    return (int)runs;
}

const char *yk_sweep_value(const yk_sweep_def *def, int run, int axis)
{
    /* The last axis changes fastest. */
    for (int i = def->axis_count - 1; i > axis; i--)
        run /= def->axes[i].count;
    return def->axes[axis].values[run % def->axes[axis].count];
}

/* Journal -------------------------------------------------------------------------------------- */

/* With the terminator, so that texts in a row do not run into each other. */
static uint64_t mix(uint64_t hash, const char *text)
{
    return yk_hash_bytes(hash, text, strlen(text) + 1);
}

/* Of all that the values of a run depend on: the scenario as it runs, what is in the files that it
 * was built from, the measures and the program. False where a file cannot be read again. */
static bool fingerprint(const sweep *s, yk_context *context, const yk_scenario *scenario,
                        uint64_t *key)
{
    char *text = yk_scenario_text(scenario);
    if (!text)
        return false;

    uint64_t hash = mix(YK_HASH_START, yk_version());
    hash = mix(hash, text);
    yk_release(context, text);
    for (int i = 0; i < s->def->measure_count; i++)
        hash = mix(hash, s->def->measures[i]);

    const char *path;
    for (int i = 0; (path = yk_scenario_file(scenario, i, NULL)); i++) {
        uint64_t contents;
        if (yk_input_hash(context, path, &contents) != YK_OK)
            return false;

        hash = yk_hash_bytes(hash, &contents, sizeof contents);
    }

    const yk_stability_def *stability = s->def->stability;
    if (stability) {
        char settings[96];
        snprintf(settings, sizeof settings, "%.17g %d %d %d %d", stability->time, stability->settle,
                 stability->rest, stability->track, stability->samples);
        hash = mix(hash, settings);
    }

    *key = hash;
    return true;
}

/* Runs ----------------------------------------------------------------------------------------- */

/* Loads the scenario of one run: the overrides of the sweep, its varied values, and the channels
 * that are measured. */
static yk_status load_run(const sweep *s, yk_context *context, int run, yk_diagnostics *diagnostics,
                          yk_scenario **out)
{
    const yk_sweep_def *def = s->def;
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

        /* What is recorded is what the measures need. */
        yk_text *channels = &texts[def->axis_count];
        yk_text_add(context, channels, "record.channels=[");
        const char *comma = "";

        for (int i = 0; i < def->measure_count; i++) {
            /* Several measures may ask for one channel, which is recorded once. */
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

        /* Differences of steps want solvers to rounding. */
        yk_scenario_def changed = *base;
        changed.to_rounding = s->channel_measures == 0;
        changed.overrides = overrides;
        changed.override_count = count;
        status = yk_scenario_load(context, &changed, diagnostics, out);
    }

    for (int i = 0; texts && i <= def->axis_count; i++)
        yk_text_destroy(context, &texts[i]);
    yk_release(context, texts);
    yk_release(context, overrides);
    return status;
}

/* All measures of one run. */
static yk_status measure_run(const sweep *s, yk_context *context, yk_scenario *scenario,
                             double *values)
{
    const yk_sweep_def *def = s->def;
    yk_status status = YK_OK;

    /* Measures of the macro step share one analysis. */
    if (s->channel_measures < def->measure_count) {
        yk_stability_def stability = yk_stability_default();
        if (def->stability)
            stability = *def->stability;
        yk_stability_report report;
        status = yk_stability(context, scenario, &stability, &report);
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
        yk_run_def run = {.recorder = yk_record_recorder(record)};
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

static void do_run(void *user, int run)
{
    sweep *s = user;
    const yk_sweep_def *def = s->def;
    double *values = &s->results[(size_t)run * (size_t)def->measure_count];

    /* One thread: the runs are what is parallel. */
    yk_context_def context_def = yk_context_default();
    context_def.threads = 1;
    yk_context *context = yk_context_create(&context_def);
    if (!context)
        return;

    yk_diagnostics *diagnostics = NULL;
    yk_scenario *scenario = NULL;
    yk_status status = yk_diagnostics_create(context, &diagnostics);
    if (!YK_FAILED(status))
        status = load_run(s, context, run, diagnostics, &scenario);

    /* A run that the journal has is not repeated. */
    uint64_t key = 0;
    bool fresh = false;
    if (!YK_FAILED(status)) {
        bool known = fingerprint(s, context, scenario, &key);
        const double *kept = NULL;
        for (int i = 0; known && i < s->kept_count; i++)
            if (s->fingerprints[i] == key)
                kept = &s->kept[(size_t)i * (size_t)def->measure_count];
        fresh = known && !kept;
        if (kept)
            memcpy(values, kept, (size_t)def->measure_count * sizeof *values);
        else
            status = measure_run(s, context, scenario, values);
    }

    /* The journal gets each run as soon as it is finished; of one that failed the log says
     * which. */
    pthread_mutex_lock(&s->lock);
    s->done++;
    if (YK_FAILED(status)) {
        yk_text where = {0};
        for (int i = 0; i < def->axis_count; i++)
            yk_text_add(context, &where, "%s%s=%s", i ? ", " : "", def->axes[i].path,
                        yk_sweep_value(def, run, i));
        yk_log(s->context, YK_LOG_WARNING, "run %d (%s) failed: %s", run + 1,
               where.data ? where.data : "", yk_last_message(context));
        yk_text_destroy(context, &where);
        s->failed++;
    } else if (fresh && s->journal) {
        fprintf(s->journal, "%016" PRIx64, key);
        for (int i = 0; i < def->measure_count; i++)
            fprintf(s->journal, " %.17g", values[i]);
        fprintf(s->journal, "\n");
        fflush(s->journal);
    }

    pthread_mutex_unlock(&s->lock);

    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    yk_context_destroy(context);
}

/* Parses the measures, checks the first run, and opens the journal. */
static yk_status prepare(sweep *s, yk_diagnostics *diagnostics, int runs)
{
    const yk_sweep_def *def = s->def;
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

    /* The first run is loaded once with the caller's diagnostics, so that mistakes of the
     * scenario are listed once. */
    yk_scenario *scenario = NULL;
    yk_status status = load_run(s, s->context, 0, diagnostics, &scenario);
    yk_scenario_destroy(scenario);
    if (YK_FAILED(status) || !def->journal)
        return status;

    /* Runs that were finished before. A line is "fingerprint value value ..."; one that was cut
     * off by a kill is not complete, and ignored. */
    FILE *file = fopen(def->journal, "r");
    if (file) {
        size_t width = (size_t)def->measure_count;
        size_t capacity = (size_t)runs + 1024;
        s->fingerprints = yk_allocate(s->context, capacity, sizeof *s->fingerprints);
        s->kept = yk_allocate(s->context, capacity * width, sizeof *s->kept);
        if (!s->fingerprints || !s->kept) {
            fclose(file);
            return YK_ERROR_MEMORY;
        }

        char *line = NULL;
        size_t length = 0;

        while ((size_t)s->kept_count < capacity && getline(&line, &length, file) >= 0) {
            double *values = &s->kept[(size_t)s->kept_count * width];
            char *end;
            s->fingerprints[s->kept_count] = strtoull(line, &end, 16);
            bool good = end != line;

            for (size_t i = 0; good && i < width; i++) {
                const char *number = end;
                values[i] = strtod(number, &end);
                good = end != number;
            }

            if (good && *end == '\n')
                s->kept_count++;
        }

        free(line);
        fclose(file);
    }

    /* Runs that are finished from now on are added to it. */
    s->journal = fopen(def->journal, "a");
    if (s->journal)
        return YK_OK;

    return yk_fail(s->context, YK_ERROR_FILE, "cannot write the journal %s: %s", def->journal,
                   strerror(errno));
}

yk_status yk_sweep(yk_context *context, const yk_sweep_def *def, yk_diagnostics *diagnostics,
                   double *results)
{
    /* All runs share what takes long to find. */
    yk_sweep_def own = *def;
    yk_cache *prepared = yk_trials_prepare(&own.scenario);
    sweep s = {.context = context, .def = &own, .results = results};
    pthread_mutex_init(&s.lock, NULL);

    int runs = yk_sweep_runs(def);
    yk_status status = prepare(&s, diagnostics, runs);
    if (!YK_FAILED(status)) {
        size_t count = (size_t)runs * (size_t)def->measure_count;
        for (size_t i = 0; i < count; i++)
            results[i] = NAN;
        status = yk_trials_run(context, def->jobs, runs, do_run, &s, def->progress, def->user);
    }

    /* A sweep that was stopped can be taken up; one without a single result has failed. */
    if (status == YK_INTERRUPTED)
        yk_fail(context, status, "the sweep was stopped after %d of %d runs", s.done, runs);
    else if (!YK_FAILED(status) && s.failed == runs)
        status = yk_fail(context, YK_ERROR_SUBSYSTEM, "none of the %d runs succeeded", runs);

    if (s.journal)
        fclose(s.journal);
    yk_release(context, s.measures);
    yk_release(context, s.fingerprints);
    yk_release(context, s.kept);
    pthread_mutex_destroy(&s.lock);
    yk_cache_destroy(prepared);
    return status;
}
