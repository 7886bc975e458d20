/* The error of a run: runs of the same scenario with finer steps, and the resulting error bars
 * (error_bars.h). */
#include <math.h>
#include <pthread.h>
#include <stdio.h>

#include "analysis/error_bars.h"
#include "analysis/scenario_run.h"
#include "base/text.h"
#include "model/scenario.h"
#include "yoke/analysis.h"

/* If the error of an irregular channel may exceed this, an eighth of the step is run too. */
static const double WORTH_A_RUN = 1e-4;

typedef struct study {
    yk_context *context;
    const yk_accuracy_options *def;
    /* Runs with h/2, h/4, h/8, and number of these that must be released. */
    yk_trial finer[YK_ERROR_RUNS_MAX - 1];
    int begun;

    /* Guards the following members: fraction of each run that is done. */
    pthread_mutex_t lock;
    double fractions[YK_ERROR_RUNS_MAX - 1];
    bool stopped;
} study;

/* Runs ----------------------------------------------------------------------------------------- */

/* The work of a run doubles with its number of steps. */
static bool report_progress(void *user, const yk_trial *trial, const yk_run_progress *progress)
{
    study *s = user;
    double fraction = 1;
    if (progress->step_count > 0)
        fraction = (double)progress->step / (double)progress->step_count;

    /* Runs report from threads of their own. */
    pthread_mutex_lock(&s->lock);
    s->fractions[trial - s->finer] = fraction;
    double done = 0;
    double all = 0;

    for (int i = 0; i < s->begun; i++) {
        done += (2 << i) * s->fractions[i];
        all += 2 << i;
    }

    if (s->def->progress && !s->stopped)
        s->stopped = !s->def->progress(s->def->user, done / all);
    bool stopped = s->stopped;
    pthread_mutex_unlock(&s->lock);

    return !stopped;
}

static void run_finer(void *user, int index, void *result)
{
    (void)result;

    /* The longest run first. */
    study *s = user;
    int at = s->begun - 1 - index;
    yk_trial_def def = {
        .scenario = &s->def->scenario,
        .step = NAN,
        .refinement = 2 << at,
        .end = yk_scenario_get_info(s->def->loaded_scenario)->end,
        .seconds = INFINITY,
        .caller = s->context,
        .progress = report_progress,
        .user = s,
    };

    yk_trial_run(&def, &s->finer[at]);
}

/* Reports -------------------------------------------------------------------------------------- */

typedef struct report {
    yk_accuracy_report public; /* first */
    size_t rows;
    double **bars;
    double *values;
} report;

void yk_accuracy_report_destroy(yk_context *context, yk_accuracy_report *public)
{
    report *r = (report *)public;
    if (!r)
        return;

    yk_free(context, r->public.channels);
    yk_free(context, r->bars);
    yk_free(context, r->values);
    yk_free(context, r);
}

/* Bars from the run and the given number of finer ones. */
static yk_status make_bars(study *s, int finer, report *r)
{
    /* Align the records at their common times. */
    const yk_record_header *header = yk_record_get_header(s->def->record);
    const yk_record *records[YK_ERROR_RUNS_MAX] = {s->def->record};
    for (int i = 0; i < finer; i++)
        records[i + 1] = s->finer[i].record;

    /* Bars are computed from columns of one length. */
    int runs = finer + 1;
    size_t width = (size_t)yk_record_width(header);
    double *ratios = yk_allocate(s->context, r->rows + 1, sizeof *ratios);
    const double **columns = yk_allocate(s->context, (size_t)runs * width + 1, sizeof *columns);
    yk_aligned a;
    yk_status status = yk_align(s->context, records, runs, &a);
    if (!ratios || !columns)
        status = YK_ERROR_MEMORY;

    /* Channel by channel, with all components of all runs. */
    int at = 0;
    for (int i = 0; status == YK_OK && i < header->channel_count; i++) {
        int components = header->channels[i].component_count;
        bool impacts = yk_scenario_get_info(s->def->loaded_scenario)->has_impacts;
        yk_error_input input = yk_error_channel(&a, at, components, impacts, columns);
        yk_error_bars(&input, ratios, r->bars + at, &r->public.channels[i]);
        at += components;
    }

    /* The largest error of all channels that count. */
    if (status == YK_OK) {
        yk_accuracy_report *public = &r->public;
        double duration = 0;
        if (a.rows > 0)
            duration = a.time[a.rows - 1] - a.time[0];
        yk_error_exempt_resting(public->channels, public->channel_count, duration);
        public->is_bounded = true;
        public->refined_run_count = finer;
        public->worst_channel = -1;
        public->error = 0;

        for (int i = 0; i < public->channel_count; i++) {
            const yk_channel_error *e = &public->channels[i];
            if (e->excluded || (public->worst_channel >= 0 && !(e->error > public->error)))
                continue;

            public->worst_channel = i;
            public->error = e->error;
        }
    }

    yk_align_release(s->context, &a);
    yk_free(s->context, columns);
    yk_free(s->context, ratios);
    return status;
}

/* Words ---------------------------------------------------------------------------------------- */

/* The largest error as a text. */
static void describe(const study *s, yk_accuracy_report *r)
{
    if (r->worst_channel < 0) {
        snprintf(r->summary, sizeof r->summary, "nothing that is recorded moves");
        return;
    }

    /* Its size, channel and time. */
    const yk_channel_error *e = &r->channels[r->worst_channel];
    double step = yk_scenario_get_info(s->def->loaded_scenario)->step;
    double percent = 100 * e->error;

    /* The measure depends on the behavior of the error. */
    yk_text text = {0};
    if (e->accuracy == YK_ACCURACY_DISCONTINUOUS)
        yk_text_add(s->context, &text, "%.2g %% on average at h = %g s (%s, which jumps)", percent,
                    step, e->name);
    else if (e->relative_to_range >= e->relative_mean)
        yk_text_add(s->context, &text, "%.2g %% of its range at h = %g s (%s)", percent, step,
                    e->name);
    else
        yk_text_add(s->context, &text, "%.2g %% of its mean deviation at h = %g s (%s)", percent,
                    step, e->name);

    /* And its reliability. */
    if (isfinite(e->order))
        yk_text_add(s->context, &text, ", order %.1f", e->order);
    if (e->accuracy == YK_ACCURACY_ASSUMED_ORDER)
        yk_text_add(s->context, &text, ", order 1 assumed: two runs only");
    if (e->accuracy == YK_ACCURACY_UPPER_BOUND)
        yk_text_add(s->context, &text,
                    ", an upper bound: the error does not fall regularly with the step");
    if (e->accuracy == YK_ACCURACY_UNPREDICTABLE) {
        yk_text_add(s->context, &text, ", not predictable");
        if (isfinite(e->predictable_until))
            yk_text_add(s->context, &text, " beyond t = %.4g s", e->predictable_until);
    }

    if (!text.failed)
        snprintf(r->summary, sizeof r->summary, "%s", text.data);
    yk_text_destroy(s->context, &text);
}

/* The whole ------------------------------------------------------------------------------------ */

static yk_status estimate(study *s, report *r)
{
    /* Half and a quarter of the step at the same time. */
    s->begun = 2;
    yk_trials_def runs = {.jobs = s->def->jobs, .count = 2, .work = run_finer, .user = s};
    yk_status status = yk_trials_run(s->context, &runs);
    if (status != YK_OK)
        return status;

    /* If a finer run fails, the steps of this run are no valid approximation. */
    static const char *const parts[] = {"half", "a quarter of"};
    for (int i = 0; i < 2; i++) {
        const yk_trial *trial = &s->finer[i];
        if (!YK_FAILED(trial->status))
            continue;

        yk_accuracy_report *public = &r->public;
        double step = yk_scenario_get_info(s->def->loaded_scenario)->step / (2 << i);
        public->is_bounded = false;
        public->error = INFINITY;
        public->worst_channel = -1;
        yk_format(public->summary, sizeof public->summary,
                  "not known: with %s the step, %g s, the run fails: %s", parts[i], step,
                  trial->message);

        for (int k = 0; k < public->channel_count; k++) {
            yk_channel_error *e = &public->channels[k];
            e->accuracy = YK_ACCURACY_UNPREDICTABLE;
            e->max_error = INFINITY;
            e->relative_to_range = INFINITY;
            e->relative_mean = INFINITY;
            e->error = INFINITY;
            e->order = NAN;
            e->range = NAN;
            e->predictable_until = trial->report->time;
        }

        return YK_OK;
    }

    /* Bars from the runs that reached their end. */
    int finer = 0;
    while (finer < 2 && s->finer[finer].status != YK_INTERRUPTED)
        finer++;
    if (finer == 0)
        return yk_fail(s->context, YK_INTERRUPTED,
                       "stopped before a finer run had ended: there are no error bars");

    status = make_bars(s, finer, r);
    if (status != YK_OK)
        return status;

    /* With an eighth of the step, a law may become visible that three runs do not show. */
    bool irregular = false;
    for (int i = 0; i < r->public.channel_count; i++) {
        const yk_channel_error *e = &r->public.channels[i];
        if (e->accuracy == YK_ACCURACY_UPPER_BOUND && !e->excluded && e->error > WORTH_A_RUN)
            irregular = true;
    }

    if (finer == 2 && irregular) {
        s->begun = 3;
        run_finer(s, 0, NULL);
        if (!YK_FAILED(s->finer[2].status) && s->finer[2].status != YK_INTERRUPTED)
            status = make_bars(s, 3, r);
    }

    if (status == YK_OK)
        describe(s, &r->public);

    return status;
}

yk_status yk_estimate_accuracy(yk_context *context, const yk_accuracy_options *def,
                               yk_accuracy_report **made)
{
    *made = NULL;
    const yk_record_header *header = yk_record_get_header(def->record);
    report *r = yk_allocate(context, 1, sizeof *r);
    if (!r)
        return YK_ERROR_MEMORY;

    /* One allocation for all bars, which are infinite initially. */
    size_t width = (size_t)yk_record_width(header);
    size_t count = (size_t)header->channel_count;
    r->rows = yk_record_row_count(def->record);
    r->public.channels = yk_allocate(context, count + 1, sizeof *r->public.channels);
    r->bars = yk_allocate(context, width + 1, sizeof *r->bars);
    r->values = yk_allocate(context, width * r->rows + 1, sizeof *r->values);
    if (!r->public.channels || !r->bars || !r->values) {
        yk_accuracy_report_destroy(context, &r->public);
        return YK_ERROR_MEMORY;
    }

    for (size_t i = 0; i < width; i++)
        r->bars[i] = r->values + i * r->rows;
    for (size_t i = 0; i < width * r->rows; i++)
        r->values[i] = INFINITY;
    r->public.error_bars = (const double *const *)r->bars;

    /* Gaps and created energies are errors themselves, iterations are not results. */
    r->public.channel_count = header->channel_count;
    for (int i = 0; i < header->channel_count; i++) {
        yk_channel_error *channel = &r->public.channels[i];
        channel->name = header->channels[i].name;
        channel->unit = header->channels[i].unit;
        channel->excluded = yk_channel_tells_of_coupling(&def->loaded_scenario->rows[i]);
    }

    /* All runs share data that are expensive to compute. */
    yk_accuracy_options own = *def;
    yk_cache *prepared = yk_trials_prepare(&own.scenario);
    study s = {.context = context, .def = &own};
    pthread_mutex_init(&s.lock, NULL);
    yk_status status = estimate(&s, r);

    for (int i = 0; i < s.begun; i++)
        yk_trial_release(&s.finer[i]);
    pthread_mutex_destroy(&s.lock);
    yk_cache_destroy(prepared);

    /* A report is made from the available runs, even if a finer run failed. */
    if (YK_FAILED(status) || status == YK_INTERRUPTED) {
        yk_accuracy_report_destroy(context, &r->public);
        return status;
    }

    *made = &r->public;
    return YK_OK;
}

/* Records -------------------------------------------------------------------------------------- */

enum { FIGURES_PER_CHANNEL = 3, FIGURE_NAME = 200 };

/* The summary of the record, and its error. */
static yk_status end_record(yk_context *context, const yk_record *record,
                            const yk_accuracy_report *r, yk_recorder *recorder)
{
    /* The statistics of the record, and additional ones per channel and for the whole. */
    const yk_record_summary *given = yk_record_get_summary(record);
    int most = given->count + FIGURES_PER_CHANNEL * r->channel_count + 2;
    int count = 0;
    yk_record_value *values = yk_allocate(context, (size_t)most + 1, sizeof *values);
    char(*names)[FIGURE_NAME] = yk_allocate(context, (size_t)most + 1, sizeof *names);
    yk_status status = YK_ERROR_MEMORY;
    if (values && names) {
        for (; count < given->count; count++)
            values[count] = given->values[count];

        /* The error of each channel. */
        for (int i = 0; i < r->channel_count; i++) {
            const yk_channel_error *e = &r->channels[i];
            const struct {
                const char *what;
                double value;
                const char *unit;
            } figures[FIGURES_PER_CHANNEL] = {
                {"max_error", e->max_error, e->unit},
                {"relative_error", e->error, ""},
                {"error_order", e->order, ""},
            };

            for (int k = 0; k < FIGURES_PER_CHANNEL; k++, count++) {
                snprintf(names[count], FIGURE_NAME, "%s.%s", e->name, figures[k].what);
                values[count] = (yk_record_value){
                    .name = names[count], .value = figures[k].value, .unit = figures[k].unit};
            }
        }

        /* Of the whole. */
        values[count++] = (yk_record_value){.name = "error", .value = r->error, .text = r->summary};
        values[count++] =
            (yk_record_value){.name = "error_finer_runs", .value = r->refined_run_count};

        status = yk_recorder_end(recorder, &(yk_record_summary){values, count});
    }

    yk_free(context, names);
    yk_free(context, values);
    return status;
}

yk_status yk_accuracy_report_write(yk_context *context, const yk_record *record,
                                   const yk_accuracy_report *r, yk_recorder *recorder)
{
    /* The channels of the record, then the bars of each. */
    const yk_record_header *given = yk_record_get_header(record);
    int channels = given->channel_count, width = yk_record_width(given);
    yk_record_channel *list = yk_allocate(context, (size_t)(2 * channels) + 1, sizeof *list);
    char(*names)[FIGURE_NAME] = yk_allocate(context, (size_t)channels + 1, sizeof *names);
    double *row = yk_allocate(context, (size_t)(2 * width) + 1, sizeof *row);
    yk_status status = list && names && row ? YK_OK : YK_ERROR_MEMORY;

    /* Bars are channels of their own, named after their channel. */
    if (status == YK_OK) {
        for (int i = 0; i < channels; i++) {
            list[i] = given->channels[i];
            snprintf(names[i], FIGURE_NAME, "%s_error_bar", given->channels[i].name);
            list[channels + i] = given->channels[i];
            list[channels + i].name = names[i];
        }

        yk_record_header header = *given;
        header.channels = list;
        header.channel_count = 2 * channels;
        status = yk_recorder_begin(recorder, &header);
    }

    /* Row by row: the values, then their bars. */
    for (size_t i = 0; !YK_FAILED(status) && i < yk_record_row_count(record); i++) {
        int at = 0;
        for (int c = 0; c < channels; c++) {
            for (int k = 0; k < given->channels[c].component_count; k++, at++) {
                row[at] = yk_record_column(record, c, k)[i];
                row[width + at] = r->error_bars[at][i];
            }
        }

        status = yk_recorder_sample(recorder, yk_record_times(record)[i], row);
    }

    for (size_t i = 0; !YK_FAILED(status) && i < yk_record_frame_count(record); i++)
        status = yk_recorder_frame(recorder, yk_record_frame_time(record, i),
                                   yk_record_frame(record, i));

    if (!YK_FAILED(status))
        status = end_record(context, record, r, recorder);
    yk_free(context, row);
    yk_free(context, names);
    yk_free(context, list);
    return status;
}
