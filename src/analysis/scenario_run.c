#include "analysis/scenario_run.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/pool.h"
#include "base/text.h"

/* A scenario with the overrides of a trial, which are valid as long as it exists. */
typedef struct trial_source {
    yk_scenario_def def;
    const char **overrides;
    yk_text channels;
    char step[64], end[64], every[64];
} trial_source;

enum { OWN = 4 };

static void release_source(yk_context *context, trial_source *source)
{
    yk_text_destroy(context, &source->channels);
    yk_free(context, source->overrides);
}

/* Collects the overrides of the scenario, of the variant, and of the trial itself. */
static yk_status make_source(const yk_trial_def *def, yk_trial *trial, trial_source *source)
{
    yk_context *context = trial->context;
    int given = def->scenario->override_count;
    int changed = 0;
    if (def->variant)
        changed = def->variant->override_count;
    size_t most = (size_t)(given + changed + OWN);
    *source = (trial_source){.def = *def->scenario};
    const char **overrides = yk_allocate(context, most, sizeof *overrides);
    source->overrides = overrides;
    if (!overrides)
        return YK_ERROR_MEMORY;

    /* In this order, because later ones take precedence. */
    int count = 0;
    for (int i = 0; i < given; i++)
        overrides[count++] = def->scenario->overrides[i];
    for (int i = 0; i < changed; i++)
        overrides[count++] = def->variant->overrides[i];

    yk_format(source->step, sizeof source->step, "time.step=%.17g", def->step);
    yk_format(source->end, sizeof source->end, "time.end=%.17g", def->end);
    snprintf(source->every, sizeof source->every, "record.every=%d", def->every);
    if (!isnan(def->step))
        overrides[count++] = source->step;
    if (!isnan(def->end))
        overrides[count++] = source->end;
    if (def->every > 0)
        overrides[count++] = source->every;

    yk_text *channels = &source->channels;
    yk_text_add(context, channels, "record.channels=[");
    for (int i = 0; i < def->channel_count; i++)
        yk_text_add(context, channels, "%s%s", i > 0 ? ", " : "", def->channels[i]);
    yk_text_add(context, channels, "]");
    if (channels->failed)
        return YK_ERROR_MEMORY;
    if (def->channel_count > 0)
        overrides[count++] = channels->data;

    /* A refined run divides every step of the scenario, not only the macro step. */
    source->def.overrides = overrides;
    source->def.override_count = count;
    if (def->refinement > 0)
        source->def.refinement = def->refinement;
    if (def->realization != 0)
        source->def.realization = def->realization;
    return YK_OK;
}

/* Processor time, so that a busy machine does not change the results. */
static bool gives_up(void *user)
{
    const yk_trial *trial = user;
    bool asked = trial->def->caller && yk_context_should_stop(trial->def->caller);
    return asked || yk_processor_seconds() - trial->begun >= trial->limit;
}

/* Checked between steps. */
static bool goes_on(void *user, const yk_run_progress *progress)
{
    const yk_trial *trial = user;
    if (gives_up(user))
        return false;
    if (!trial->def->progress)
        return true;
    return trial->def->progress(trial->def->user, trial, progress);
}

void yk_trial_run(const yk_trial_def *def, yk_trial *trial)
{
    /* One thread, because the trials run in parallel. */
    static const yk_run_report no_report;
    *trial =
        (yk_trial){.status = YK_ERROR_MEMORY, .def = def, .limit = INFINITY, .report = &no_report};
    yk_context_def context_def = yk_context_default();
    context_def.thread_count = 1;
    context_def.log = NULL; /* the outcome is reported, not the log */
    context_def.should_stop = gives_up;
    context_def.should_stop_user = trial;
    trial->context = yk_context_create(&context_def);
    if (!trial->context)
        return;

    /* Reports are too large for the stack. */
    trial->own_report = yk_allocate(trial->context, 1, sizeof *trial->own_report);
    if (!trial->own_report)
        return;

    trial->report = trial->own_report;
    yk_diagnostics *diagnostics = NULL;
    yk_scenario *scenario = NULL;
    yk_system *system = NULL;
    yk_status status = yk_diagnostics_create(trial->context, &diagnostics);
    trial_source source = {0};
    if (!YK_FAILED(status))
        status = make_source(def, trial, &source);
    if (!YK_FAILED(status))
        status = yk_scenario_load(trial->context, &source.def, diagnostics, &scenario);
    if (!YK_FAILED(status))
        status = yk_record_create(trial->context, &trial->record);
    if (!YK_FAILED(status))
        status = yk_scenario_system(scenario, &system);

    /* The run, within its time. */
    bool runs = !YK_FAILED(status);
    trial->begun = yk_processor_seconds();
    trial->limit = def->seconds;
    if (runs) {
        yk_run_options run_def = {
            .recorder = yk_record_recorder(trial->record),
            .progress = goes_on,
            .user = trial,
            .verdict_scenario = def->estimate_error ? &source.def : NULL,
            .error_tolerance = def->error_tolerance,
        };
        status = yk_run(trial->context, scenario, &run_def, trial->own_report);
        trial->seconds = yk_processor_seconds() - trial->begun;
        trial->iterations = yk_system_get_statistics(system).iterations;
    }

    /* The work, in weighted steps of subsystems. */
    const yk_scenario_info *info = NULL;
    if (runs)
        info = yk_scenario_get_info(scenario);
    double all_weights = 0;

    for (int i = 0; runs && i < info->subsystem_count; i++) {
        yk_subsystem_statistics s = yk_system_subsystem_statistics(system, (yk_subsystem_id){i});
        double weight = 1;
        if (def->weights)
            weight = def->weights[i];
        all_weights += weight;
        trial->calls += s.calls;
        trial->work += weight * (double)(s.steps + s.model_calls);
        if (!def->call_seconds)
            continue;

        def->call_seconds[i] = 0;
        if (s.steps > 0)
            def->call_seconds[i] = s.wall_time / (double)s.steps;
    }

    /* Merged subsystems are called as one, once per sweep. */
    bool several = runs && info->subsystem_count > 1;
    if (several && yk_scheme_traits(&info->scheme) & YK_SCHEME_MERGES)
        trial->work = all_weights * fmax((double)trial->calls, (double)trial->iterations);
    trial->status = status;
    /* The reason of the failure. */
    if (trial->status != YK_OK) {
        const char *why = yk_last_message(trial->context);
        if (!*why)
            why = yk_status_text(trial->status);
        snprintf(trial->message, sizeof trial->message, "%s", why);
    }

    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    release_source(trial->context, &source);
    trial->def = NULL;
}

void yk_trial_release(yk_trial *trial)
{
    yk_record_destroy(trial->record);
    if (trial->context) {
        yk_free(trial->context, trial->own_report);
        yk_context_destroy(trial->context);
    }

    *trial = (yk_trial){0};
}

/* Many ----------------------------------------------------------------------------------------- */

/* Message of a rank to rank 0 before a result, and the reply. */
enum { NO_RUN = -1 };

typedef struct sharing {
    yk_context *context;
    const yk_trials_def *def;
    void *results; /* of this process: one for each of its threads */
    /* Guards the following members. */
    pthread_mutex_t lock;
    int next, done;
    /* Rank of each run in progress, and its start. */
    struct {
        int rank;
        bool done;
        double since; /* wall time (s) */
    } * runs;
    double longest; /* s, of the finished runs */
    bool stopped;
} sharing;

/* The next run that is not in progress, for a rank; NO_RUN: there is none. */
static int take_run(sharing *s, int rank)
{
    pthread_mutex_lock(&s->lock);
    int index = NO_RUN;
    if (!s->stopped && s->next < s->def->count) {
        index = s->next++;
        s->runs[index].rank = rank;
        s->runs[index].since = yk_clock_seconds();
    }

    pthread_mutex_unlock(&s->lock);
    return index;
}

/* For rank 0, if all runs are in progress: one whose rank has been silent for too long. */
static int take_lost_run(sharing *s)
{
    enum { TIMES_LONGEST = 10 };
    double deadline = s->def->team->timeout;
    if (!(deadline > 0))
        return NO_RUN;

    pthread_mutex_lock(&s->lock);
    double now = yk_clock_seconds();
    double most = fmax(deadline, TIMES_LONGEST * s->longest);
    int index = NO_RUN;
    for (int i = 0; i < s->next && index == NO_RUN && !s->stopped; i++)
        if (!s->runs[i].done && s->runs[i].rank > 0 && now - s->runs[i].since > most)
            index = i;

    int rank = 0;
    double silent = 0;
    if (index != NO_RUN) {
        rank = s->runs[index].rank;
        silent = now - s->runs[index].since;
        s->runs[index].rank = 0;
        s->runs[index].since = now;
    }

    pthread_mutex_unlock(&s->lock);
    if (index != NO_RUN)
        yk_log(s->context, YK_LOG_WARNING,
               "rank %d has not finished run %d within %.3g s: rank 0 makes it", rank, index + 1,
               silent);
    return index;
}

/* A run that was made twice, because its rank was presumed lost, counts once. */
static void finish_run(sharing *s, int index, const void *result)
{
    const yk_trials_def *def = s->def;
    pthread_mutex_lock(&s->lock);
    if (!s->runs[index].done) {
        s->runs[index].done = true;
        s->longest = fmax(s->longest, yk_clock_seconds() - s->runs[index].since);
        if (def->finish)
            def->finish(def->user, index, result);
        s->done++;
        if (def->progress && !def->progress(def->progress_user, s->done, def->count))
            s->stopped = true;
    }

    pthread_mutex_unlock(&s->lock);
}

static bool is_over(sharing *s)
{
    pthread_mutex_lock(&s->lock);
    bool over = s->stopped || s->done == s->def->count;
    pthread_mutex_unlock(&s->lock);
    return over;
}

/* A thread of this process, until no run is left. */
static void make_runs(void *user, size_t begin, size_t end, size_t chunk)
{
    sharing *s = user;
    (void)end;
    (void)chunk;
    void *result = (char *)s->results + begin * s->def->result_size;
    for (int index = take_run(s, 0); index != NO_RUN; index = take_run(s, 0)) {
        s->def->work(s->def->user, index, result);
        finish_run(s, index, result);
    }
}

static const double LOOK = 0.01; /* s */

/* Rank 0: its own runs, then those of lost ranks, until all are done. */
static void *make_own_runs(void *user)
{
    sharing *s = user;
    make_runs(s, 0, 1, 0);
    while (!is_over(s)) {
        int index = take_lost_run(s);
        if (index != NO_RUN) {
            s->def->work(s->def->user, index, s->results);
            finish_run(s, index, s->results);
            continue;
        }

        struct timespec pause = {.tv_nsec = (long)(1e9 * LOOK)};
        nanosleep(&pause, NULL);
    }

    return NULL;
}

/* A message to rank 0 contains the index of a run and its result, aligned for any type. */
enum { MESSAGE_HEAD = 16 };

/* Rank 0 makes runs on another thread, and distributes others here. It does not wait for a rank
 * that never reports, and gives nothing to a lost one. */
static yk_status hand_out(sharing *s, char *message)
{
    const yk_process_group *team = s->def->team;
    pthread_t own;
    if (pthread_create(&own, NULL, make_own_runs, s) != 0)
        return yk_fail(s->context, YK_ERROR_MEMORY, "no thread for the runs of rank 0");

    size_t whole = MESSAGE_HEAD + s->def->result_size;
    yk_status status = YK_OK;
    while (!is_over(s)) {
        int from = -1;
        size_t bytes = 0;
        if (team->probe(team->user, LOOK, &from, &bytes) != YK_OK)
            continue;
        if (bytes != whole) {
            status =
                yk_fail(s->context, YK_ERROR_EXTERNAL,
                        "rank %d sent a result of %zu bytes, not of %zu: it asks for something "
                        "else",
                        from, bytes, whole);
            break;
        }

        /* The result of the rank, and its next run. */
        int32_t index;
        status = team->receive(team->user, from, message, bytes);
        memcpy(&index, message, sizeof index);
        if (status == YK_OK && index >= 0 && index < s->def->count)
            finish_run(s, index, message + MESSAGE_HEAD);
        index = take_run(s, from);
        if (status == YK_OK && index != NO_RUN)
            status = team->send(team->user, from, &index, sizeof index);
        if (status != YK_OK)
            break;
    }

    pthread_mutex_lock(&s->lock);
    s->stopped = true;
    pthread_mutex_unlock(&s->lock);
    pthread_join(own, NULL);
    return status;
}

/* Other ranks make the runs distributed by rank 0, until it ends. */
static yk_status take_orders(sharing *s, char *message)
{
    const yk_process_group *team = s->def->team;
    size_t whole = MESSAGE_HEAD + s->def->result_size;
    int32_t index = NO_RUN;
    memset(message, 0, whole);

    for (;;) {
        memcpy(message, &index, sizeof index);
        yk_status status = team->send(team->user, 0, message, whole);
        int from = 0;
        size_t bytes = 0;
        if (status == YK_OK)
            status = team->probe(team->user, INFINITY, &from, &bytes);
        if (status == YK_INTERRUPTED)
            return YK_OK;
        if (status == YK_OK && bytes == sizeof index)
            status = team->receive(team->user, 0, &index, sizeof index);
        if (status != YK_OK)
            return status;

        s->def->work(s->def->user, index, message + MESSAGE_HEAD);
    }
}

yk_status yk_trials_run(yk_context *context, const yk_trials_def *def)
{
    sharing s = {.context = context, .def = def};
    pthread_mutex_init(&s.lock, NULL);
    yk_pool *pool = NULL;
    yk_status status = YK_OK;
    int threads = 1;
    if (!def->team) {
        status = yk_pool_create(context, def->jobs, &pool);
        if (status == YK_OK)
            threads = yk_pool_threads(pool);
    }

    /* A result for each thread, and one in transit. */
    s.results = yk_allocate(context, (size_t)threads, def->result_size);
    s.runs = yk_allocate(context, (size_t)def->count + 1, sizeof *s.runs);
    char *message = yk_allocate(context, 1, MESSAGE_HEAD + def->result_size);
    if (status == YK_OK && (!s.results || !s.runs || !message))
        status = YK_ERROR_MEMORY;
    if (status == YK_OK && !def->team)
        yk_pool_run(pool, (size_t)threads, 1, make_runs, &s);
    else if (status == YK_OK && def->team->rank == 0)
        status = hand_out(&s, message);
    else if (status == YK_OK)
        status = take_orders(&s, message);

    yk_free(context, s.results);
    yk_free(context, s.runs);
    yk_free(context, message);
    yk_pool_destroy(pool);
    pthread_mutex_destroy(&s.lock);
    bool first = !def->team || def->team->rank == 0;
    if (status == YK_OK && first && s.done < def->count)
        return yk_fail(context, YK_INTERRUPTED, "stopped after %d of %d runs", s.done, def->count);

    return status;
}

yk_cache *yk_trials_prepare(yk_scenario_def *def)
{
    if (def->cache)
        return NULL;

    return def->cache = yk_cache_create();
}

/* Distances ------------------------------------------------------------------------------------ */

/* The next rows of both records with the same time; false if there are no more. */
static bool next_common_row(const yk_record *a, const yk_record *b, size_t *i, size_t *j)
{
    /* Times are equal if their difference is smaller than that of samples. */
    const double *t = yk_record_times(a);
    const double *u = yk_record_times(b);
    size_t rows = yk_record_row_count(a);
    size_t others = yk_record_row_count(b);
    double grid = 1;
    if (rows > 1)
        grid = t[1] - t[0];
    while (*i < rows && *j < others) {
        if (fabs(t[*i] - u[*j]) <= 1e-6 * grid)
            return true;
        if (t[*i] < u[*j])
            ++*i;
        else
            ++*j;
    }

    return false;
}

double yk_record_distance(const yk_record *record, const yk_record *reference, double *largest)
{
    /* The worst channel counts. */
    const yk_record_header *header = yk_record_get_header(record);
    double worst = 0;
    *largest = 0;

    for (int c = 0; c < header->channel_count; c++) {
        size_t count = 0;
        double difference = 0;
        double deviation = 0;
        double most = 0;

        for (int k = 0; k < header->channels[c].component_count; k++) {
            const double *x = yk_record_column(record, c, k);
            const double *y = yk_record_column(reference, c, k);

            /* First the mean of the reference, then the sums of differences and of deviations from
             * it. */
            double mean = 0;
            size_t rows = 0;

            for (size_t i = 0, j = 0; next_common_row(record, reference, &i, &j); i++, j++) {
                mean += y[j];
                rows++;
            }

            if (rows)
                mean /= (double)rows;
            count += rows;

            for (size_t i = 0, j = 0; next_common_row(record, reference, &i, &j); i++, j++) {
                double off = fabs(x[i] - y[j]);
                difference += off;
                deviation += fabs(y[j] - mean);
                if (!(off <= most))
                    most = off;
            }
        }

        if (count == 0)
            return INFINITY;

        /* The sum of differences divided by that of deviations (Zhang et al. 2022, equation 47;
         * Zhang et al. 2020, equation 34). */
        double error = 0;
        if (deviation > 0)
            error = difference / deviation;
        else if (difference > 0)
            error = INFINITY;
        if (!(error <= worst))
            worst = error;
        if (!(most <= *largest))
            *largest = most;
    }

    return worst;
}

bool yk_report_serious(const yk_run_report *report, yk_finding_kind *kind)
{
    for (int i = 0; i < report->finding_count; i++) {
        if (report->findings[i].severity != YK_FINDING_SEVERITY_SERIOUS)
            continue;

        *kind = report->findings[i].kind;
        return true;
    }

    return false;
}
