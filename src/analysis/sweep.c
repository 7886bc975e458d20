/* Sweeps: a scenario run for every combination of varied values, in parallel, resumable.
 *
 * Each run is independent: its own context, scenario and record, so results do not depend on how many run at a time. A
 * finished run is a line in the journal, keyed by a fingerprint of the scenario as it runs and of the measures; a sweep
 * that is taken up again skips what it finds there, and what was changed in between is run anew. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/measure.h"
#include "analysis/trial.h"
#include "base/hash.h"
#include "base/pool.h"
#include "base/text.h"
#include "yoke/analysis.h"

typedef struct sweep {
    yk_context *context;
    const yk_sweep_def *def;
    yk_measure *measures;
    yk_diagnostics *diagnostics;
    double *results;
    uint64_t *fingerprints; /* of the journal's lines */
    double *kept;           /* their values */
    int kept_count;
    pthread_mutex_t lock; /* guards what follows, and the context */
    FILE *journal;
    int done, failed;
    bool stopped;
} sweep;

int yk_sweep_runs(const yk_sweep_def *def)
{
    int64_t runs = 1;
    for (int i = 0; i < def->axis_count; i++) {
        runs *= def->axes[i].count;
        if (runs > 10000000) return 0;
    }
    return (int)runs;
}

const char *yk_sweep_value(const yk_sweep_def *def, int run, int axis)
{
    for (int i = def->axis_count - 1; i > axis; i--) run /= def->axes[i].count;
    return def->axes[axis].values[run % def->axes[axis].count];
}

/* Journal ---------------------------------------------------------------------------------------------------------- */

/* With the terminator, so that texts in a row do not run into each other. */
static uint64_t mix(uint64_t hash, const char *text)
{
    return yk_hash_bytes(hash, text, strlen(text) + 1);
}

static uint64_t fingerprint(const sweep *s, const char *scenario)
{
    uint64_t hash = mix(YK_HASH_START, scenario);
    for (int i = 0; i < s->def->measure_count; i++) hash = mix(hash, s->def->measures[i]);
    const yk_stability_def *stability = s->def->stability;
    char text[96];
    if (!stability) return hash;
    snprintf(text, sizeof text, "%.17g %d %d %d %d", stability->time, stability->settle, stability->rest,
             stability->track, stability->samples);
    return mix(hash, text);
}

/* A line is "fingerprint value value ..."; one that was cut off by a kill is not complete, and ignored. */
static bool read_line(const char *line, int count, uint64_t *key, double *values)
{
    char *end;
    *key = strtoull(line, &end, 16);
    if (end == line) return false;
    for (int i = 0; i < count; i++) {
        const char *at = end;
        values[i] = strtod(at, &end);
        if (end == at) return false;
    }
    return *end == '\n';
}

static yk_status load_journal(sweep *s, int runs)
{
    int count = s->def->measure_count;
    FILE *file = s->def->journal ? fopen(s->def->journal, "r") : NULL;
    if (!file) return YK_OK;
    int capacity = runs + 1024;
    s->fingerprints = yk_allocate(s->context, (size_t)capacity, sizeof *s->fingerprints);
    s->kept = yk_allocate(s->context, (size_t)capacity * (size_t)count, sizeof *s->kept);
    char *line = NULL;
    size_t room = 0;
    while (s->fingerprints && s->kept && s->kept_count < capacity && getline(&line, &room, file) >= 0)
        if (read_line(line, count, &s->fingerprints[s->kept_count], &s->kept[(size_t)s->kept_count * (size_t)count]))
            s->kept_count++;
    free(line);
    fclose(file);
    return s->fingerprints && s->kept ? YK_OK : YK_ERROR_MEMORY;
}

static const double *find_kept(const sweep *s, uint64_t key)
{
    for (int i = s->kept_count - 1; i >= 0; i--)
        if (s->fingerprints[i] == key) return &s->kept[(size_t)i * (size_t)s->def->measure_count];
    return NULL;
}

static void write_line(sweep *s, uint64_t key, const double *values)
{
    if (!s->journal) return;
    fprintf(s->journal, "%016" PRIx64, key);
    for (int i = 0; i < s->def->measure_count; i++) fprintf(s->journal, " %.17g", values[i]);
    fprintf(s->journal, "\n");
    fflush(s->journal);
}

/* Runs ------------------------------------------------------------------------------------------------------------- */

/* Several measures may ask for one signal, which is recorded once. */
static bool is_first_of_signal(const sweep *s, int measure)
{
    if (yk_measure_of_step(&s->measures[measure])) return false;
    for (int i = 0; i < measure; i++)
        if (strcmp(s->measures[i].signal, s->measures[measure].signal) == 0) return false;
    return true;
}

static int signal_measures(const sweep *s)
{
    int count = 0;
    for (int i = 0; i < s->def->measure_count; i++) count += !yk_measure_of_step(&s->measures[i]);
    return count;
}

/* The overrides of one run: those of the sweep, its varied values, and the signals that are measured. */
static yk_status load_run(const sweep *s, yk_context *context, int run, yk_diagnostics *diagnostics, yk_scenario **out)
{
    const yk_scenario_def *base = &s->def->scenario;
    int count = base->override_count + s->def->axis_count + 1;
    yk_text *texts = yk_allocate(context, (size_t)s->def->axis_count + 1, sizeof *texts);
    const char **overrides = yk_allocate(context, (size_t)count, sizeof *overrides);
    yk_status status = texts && overrides ? YK_OK : YK_ERROR_MEMORY;
    for (int i = 0; status == YK_OK && i < base->override_count; i++) overrides[i] = base->overrides[i];
    for (int i = 0; status == YK_OK && i < s->def->axis_count; i++) {
        yk_text_add(context, &texts[i], "%s=%s", s->def->axes[i].path, yk_sweep_value(s->def, run, i));
        overrides[base->override_count + i] = texts[i].data;
    }
    if (status == YK_OK) {
        yk_text *signals = &texts[s->def->axis_count];
        yk_text_add(context, signals, "record.signals=[");
        const char *comma = "";
        for (int i = 0; i < s->def->measure_count; i++) {
            if (!is_first_of_signal(s, i)) continue;
            yk_text_add(context, signals, "%s%s", comma, s->measures[i].signal);
            comma = ", ";
        }
        yk_text_add(context, signals, "]");
        overrides[count - 1] = signals->data;
        yk_scenario_def def = *base;
        def.precise = signal_measures(s) == 0;
        def.overrides = overrides;
        def.override_count = *comma ? count : count - 1;
        status = yk_scenario_load(context, &def, diagnostics, out);
    }
    for (int i = 0; texts && i <= s->def->axis_count; i++) yk_text_destroy(context, &texts[i]);
    yk_release(context, texts);
    yk_release(context, overrides);
    return status;
}

static yk_status measure_signals(const sweep *s, yk_context *context, yk_scenario *scenario, double *values)
{
    yk_record *record = NULL;
    yk_status status = yk_record_create(context, &record);
    if (status >= 0) {
        yk_run_def def = {.recorder = yk_record_recorder(record)};
        status = yk_run(context, scenario, &def, NULL);
    }
    for (int i = 0; status >= 0 && i < s->def->measure_count; i++)
        if (!yk_measure_of_step(&s->measures[i]))
            status = yk_measure_value(context, &s->measures[i], record, &values[i]);
    yk_record_destroy(record);
    return status;
}

static yk_status measure_run(const sweep *s, yk_context *context, yk_scenario *scenario, double *values)
{
    int signals = signal_measures(s);
    if (signals < s->def->measure_count) {
        yk_stability_def def = s->def->stability ? *s->def->stability : yk_stability_default();
        yk_stability_report report;
        yk_status status = yk_stability(context, scenario, &def, &report);
        if (status < 0) return status;
        for (int i = 0; i < s->def->measure_count; i++)
            if (yk_measure_of_step(&s->measures[i])) values[i] = yk_measure_step_value(&s->measures[i], &report);
    }
    return signals ? measure_signals(s, context, scenario, values) : YK_OK;
}

static void report_failure(sweep *s, yk_context *context, int run)
{
    yk_text where = {0};
    for (int i = 0; i < s->def->axis_count; i++)
        yk_text_add(context, &where, "%s%s=%s", i ? ", " : "", s->def->axes[i].path, yk_sweep_value(s->def, run, i));
    yk_log(s->context, YK_LOG_WARNING, "run %d (%s) failed: %s", run + 1, where.data ? where.data : "",
           yk_last_message(context));
    yk_text_destroy(context, &where);
}

/* Hands over the outcome of a run. */
static void finish_run(sweep *s, yk_context *context, int run, yk_status status, bool fresh, uint64_t key)
{
    double *values = &s->results[(size_t)run * (size_t)s->def->measure_count];
    pthread_mutex_lock(&s->lock);
    if (status < 0)
        report_failure(s, context, run), s->failed++;
    else if (fresh)
        write_line(s, key, values);
    s->done++;
    if (s->def->progress && !s->def->progress(s->def->user, s->done, yk_sweep_runs(s->def))) s->stopped = true;
    pthread_mutex_unlock(&s->lock);
}

static void do_run(sweep *s, int run)
{
    double *values = &s->results[(size_t)run * (size_t)s->def->measure_count];
    for (int i = 0; i < s->def->measure_count; i++) values[i] = NAN;
    pthread_mutex_lock(&s->lock);
    bool stopped = s->stopped;
    pthread_mutex_unlock(&s->lock);
    if (stopped) return;
    yk_context_def context_def = yk_context_default();
    context_def.threads = 1; /* the runs are what is parallel */
    yk_context *context = yk_context_create(&context_def);
    if (!context) return;
    yk_diagnostics *diagnostics = NULL;
    yk_scenario *scenario = NULL;
    uint64_t key = 0;
    bool fresh = false;
    yk_status status = yk_diagnostics_create(context, &diagnostics);
    if (status >= 0) status = load_run(s, context, run, diagnostics, &scenario);
    if (status >= 0) {
        char *text = yk_scenario_text(scenario);
        key = fingerprint(s, text ? text : "");
        yk_release(context, text);
        const double *kept = find_kept(s, key);
        fresh = !kept;
        if (kept)
            memcpy(values, kept, (size_t)s->def->measure_count * sizeof *values);
        else
            status = measure_run(s, context, scenario, values);
    }
    finish_run(s, context, run, status, fresh, key);
    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    yk_context_destroy(context);
}

static void do_runs(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    for (size_t i = begin; i < end; i++) do_run(user, (int)i);
}

/* Preparation ------------------------------------------------------------------------------------------------------ */

/* The first run is loaded once with the caller's diagnostics, so that mistakes are told as `yoke check` does. */
static yk_status check_first_run(sweep *s)
{
    yk_scenario *scenario = NULL;
    yk_status status = load_run(s, s->context, 0, s->diagnostics, &scenario);
    yk_scenario_destroy(scenario);
    return status;
}

static yk_status prepare(sweep *s, int runs)
{
    if (runs == 0 || s->def->measure_count == 0)
        return yk_fail(s->context, YK_ERROR_ARGUMENT,
                       "a sweep needs at least one value to vary and one measure, and at most "
                       "10 million runs");
    s->measures = yk_allocate(s->context, (size_t)s->def->measure_count, sizeof *s->measures);
    if (!s->measures) return YK_ERROR_MEMORY;
    yk_status status = YK_OK;
    for (int i = 0; status >= 0 && i < s->def->measure_count; i++)
        status = yk_measure_parse(s->context, s->def->measures[i], &s->measures[i]);
    if (status >= 0) status = check_first_run(s);
    if (status >= 0) status = load_journal(s, runs);
    if (status < 0 || !s->def->journal) return status;
    s->journal = fopen(s->def->journal, "a");
    if (s->journal) return YK_OK;
    return yk_fail(s->context, YK_ERROR_FILE, "cannot write the journal %s: %s", s->def->journal, strerror(errno));
}

yk_status yk_sweep(yk_context *context, const yk_sweep_def *def, yk_diagnostics *diagnostics, double *results)
{
    yk_sweep_def own = *def;
    yk_preparations *prepared = yk_trials_prepare(&own.scenario);
    sweep s = {.context = context, .def = &own, .diagnostics = diagnostics, .results = results};
    pthread_mutex_init(&s.lock, NULL);
    int runs = yk_sweep_runs(def);
    yk_pool *pool = NULL;
    yk_status status = prepare(&s, runs);
    if (status >= 0) status = yk_pool_create(context, def->jobs, &pool);
    if (status >= 0) {
        yk_pool_run(pool, (size_t)runs, 1, do_runs, &s);
        if (s.stopped)
            status = yk_fail(context, YK_INTERRUPTED, "the sweep was stopped after %d of %d runs", s.done, runs);
        else if (s.failed == runs)
            status = yk_fail(context, YK_ERROR_SUBSYSTEM, "none of the %d runs succeeded", runs);
    }
    yk_pool_destroy(pool);
    if (s.journal) fclose(s.journal);
    yk_release(context, s.measures);
    yk_release(context, s.fingerprints);
    yk_release(context, s.kept);
    pthread_mutex_destroy(&s.lock);
    yk_preparations_destroy(prepared);
    return status;
}
