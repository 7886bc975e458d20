/* Statistics over realizations of the random numbers of a scenario: error bars for means, rms and
 * dissipated energy where contact makes single trajectories unpredictable. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>

#include "analysis/run_difference.h"
#include "analysis/scenario_run.h"
#include "base/context.h"
#include "model/scenario.h"

typedef struct seed_study {
    yk_context *context;
    const yk_seed_options *def;
    const yk_scenario_def *scenario; /* with a cache */
    yk_trial *trials;
    pthread_mutex_t lock;
    int done;
    bool stopped;
} seed_study;

typedef struct owned_report {
    yk_seed_report public; /* first */
    yk_context *context;
} owned_report;

/* Quantile 0.975 of Student's distribution: the half width of a 95 % confidence interval. */
static double student_quantile(int freedoms)
{
    static const double table[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                                   2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                                   2.131,  2.120, 2.110, 2.101, 2.093, 2.086};
    const int count = sizeof table / sizeof *table;
    if (freedoms <= count)
        return table[freedoms - 1];

    /* Expansion for many degrees of freedom: within 0.1 % of the exact value. */
    return 1.95996 + 2.3723 / freedoms + 2.8225 / ((double)freedoms * freedoms);
}

static yk_spread spread_of(const double *values, int count)
{
    double mean = 0;
    double square = 0;
    for (int i = 0; i < count; i++)
        mean += values[i] / count;
    for (int i = 0; i < count; i++)
        square += (values[i] - mean) * (values[i] - mean) / (count - 1);
    return (yk_spread){.mean = mean,
                       .deviation = sqrt(square),
                       .error = student_quantile(count - 1) * sqrt(square / count)};
}

static bool report_progress(void *user, const yk_trial *trial, const yk_run_progress *progress)
{
    (void)trial;
    (void)progress;
    seed_study *s = user;
    pthread_mutex_lock(&s->lock);
    if (s->def->progress && !s->stopped)
        s->stopped = !s->def->progress(s->def->user, (double)s->done / s->def->run_count);
    bool stopped = s->stopped;
    pthread_mutex_unlock(&s->lock);
    return !stopped;
}

static void run_realization(void *user, int index, void *result)
{
    (void)result;
    seed_study *s = user;
    yk_trial_def def = {.scenario = s->scenario,
                        .step = NAN,
                        .end = NAN,
                        .realization = index,
                        .seconds = INFINITY,
                        .caller = s->context,
                        .progress = report_progress,
                        .user = s};
    yk_trial_run(&def, &s->trials[index]);
    pthread_mutex_lock(&s->lock);
    s->done++;
    pthread_mutex_unlock(&s->lock);
}

/* Mean of a column, and rms of its deviations from the mean. */
static void column_statistics(const double *column, size_t rows, double *mean, double *rms)
{
    *mean = 0;
    *rms = 0;
    for (size_t i = 0; i < rows; i++)
        *mean += column[i] / (double)rows;
    for (size_t i = 0; i < rows; i++)
        *rms += (column[i] - *mean) * (column[i] - *mean) / (double)rows;
    *rms = sqrt(*rms);
}

static void name_statistic(const yk_record_channel *channel, int component,
                           yk_seed_statistic *statistic)
{
    static const char *const axes[] = {"x", "y", "z"};
    snprintf(statistic->unit, sizeof statistic->unit, "%s", channel->unit);
    if (channel->component_count == 1)
        snprintf(statistic->name, sizeof statistic->name, "%s", channel->name);
    else if (channel->component_count == 3)
        snprintf(statistic->name, sizeof statistic->name, "%.150s.%s", channel->name,
                 axes[component]);
    else
        snprintf(statistic->name, sizeof statistic->name, "%.140s.%d", channel->name,
                 component + 1);
}

static yk_status evaluate(const seed_study *s, yk_seed_report *report)
{
    int runs = s->def->run_count;
    const yk_record_header *header = yk_record_get_header(s->trials[0].record);
    int width = yk_record_width(header);
    report->statistics = yk_allocate(s->context, (size_t)width + 1, sizeof *report->statistics);
    double *values = yk_allocate(s->context, 3 * (size_t)runs, sizeof *values);
    if (!report->statistics || !values) {
        yk_free(s->context, values);
        return YK_ERROR_MEMORY;
    }

    double *means = values;
    double *squares = values + runs;
    double *dissipated = values + 2 * (size_t)runs;
    for (int channel = 0; channel < header->channel_count; channel++)
        for (int k = 0; k < header->channels[channel].component_count; k++) {
            for (int run = 0; run < runs; run++) {
                const yk_record *record = s->trials[run].record;
                column_statistics(yk_record_column(record, channel, k), yk_record_row_count(record),
                                  &means[run], &squares[run]);
            }

            yk_seed_statistic *statistic = &report->statistics[report->statistic_count++];
            name_statistic(&header->channels[channel], k, statistic);
            statistic->mean = spread_of(means, runs);
            statistic->rms = spread_of(squares, runs);
        }

    for (int run = 0; run < runs; run++) {
        const yk_run_report *r = s->trials[run].report;
        dissipated[run] = r->dissipated_energy;
        report->is_random = report->is_random || r->state_hash != s->trials[0].report->state_hash;
        yk_finding_kind kind;
        report->untrusted_count += yk_report_serious(r, &kind);
    }
    report->dissipated_energy = spread_of(dissipated, runs);
    yk_free(s->context, values);
    return YK_OK;
}

yk_status yk_run_seeds(yk_context *context, const yk_seed_options *def, yk_seed_report **made)
{
    *made = NULL;
    if (def->run_count < 2 || def->run_count > YK_SEED_RUNS_MAX)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%d realizations: error bars need from 2 to %d of them", def->run_count,
                       YK_SEED_RUNS_MAX);

    owned_report *r = yk_allocate(context, 1, sizeof *r);
    seed_study s = {.context = context, .def = def};
    s.trials = yk_allocate(context, (size_t)def->run_count, sizeof *s.trials);
    if (!r || !s.trials) {
        yk_free(context, r);
        yk_free(context, s.trials);
        return YK_ERROR_MEMORY;
    }

    r->context = context;
    r->public.run_count = def->run_count;
    yk_scenario_def scenario = def->scenario;
    yk_cache *cache = yk_trials_prepare(&scenario);
    s.scenario = &scenario;
    pthread_mutex_init(&s.lock, NULL);
    yk_trials_def runs = {
        .jobs = def->jobs, .count = def->run_count, .work = run_realization, .user = &s};
    yk_status status = yk_trials_run(context, &runs);

    for (int i = 0; i < def->run_count && status == YK_OK; i++) {
        const yk_trial *trial = &s.trials[i];
        if (trial->status == YK_INTERRUPTED || s.stopped)
            status = yk_fail(context, YK_INTERRUPTED, "stopped before all realizations had ended");
        else if (YK_FAILED(trial->status))
            status = yk_fail(context, trial->status, "realization %d of %d: %s", i + 1,
                             def->run_count, trial->message);
    }
    if (status == YK_OK)
        status = evaluate(&s, &r->public);

    for (int i = 0; i < def->run_count; i++)
        if (s.trials[i].context)
            yk_trial_release(&s.trials[i]);
    pthread_mutex_destroy(&s.lock);
    yk_cache_destroy(cache);
    yk_free(context, s.trials);
    if (status != YK_OK) {
        yk_seed_report_destroy(&r->public);
        return status;
    }

    *made = &r->public;
    return YK_OK;
}

void yk_seed_report_destroy(yk_seed_report *report)
{
    owned_report *r = (owned_report *)report;
    if (!r)
        return;

    yk_free(r->context, r->public.statistics);
    yk_free(r->context, r);
}
