/* Which scheme and step to take: by trying them, the cheapest first.
 *
 *   pilot      three short runs tell what a step of each subsystem costs; from that and the time that is allowed
 *              follows the stretch of the scenario on which schemes are compared
 *   reference  the monolithic system where the subsystems can be merged, else the tightest scheme that runs, in steps
 *              so fine that its own error, measured as in error_bars.h, is a small part of the tolerance
 *   search     every scheme begins with the coarsest step. The one whose next trial would be cheapest goes on with half
 *              its step, until none that is cheaper than the cheapest that meets the tolerance is left
 *   verify     beyond the stretch that one is compared with itself in halves and quarters of its steps, over the whole
 *              scenario, and asked for its stability. One that fails goes on with half its step, or another takes its
 *              place
 *
 * The error of a scheme is its distance from the reference plus that of the reference, in the
 * measure of `yk_channel_error`. Cost is counted in steps of subsystems, weighed by what they
 * cost, and time is that of the processor: a busy machine takes longer and gives the same
 * answer. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/align.h"
#include "analysis/candidates.h"
#include "analysis/error_bars.h"
#include "analysis/trial.h"
#include "base/clock.h"
#include "model/scenario.h"

/* Steps that are tried: from GRID times that of the scenario down by halves. Samples are at
 * multiples of the coarsest. */
enum { GRID = 4, RUNGS = 7, PILOTS = 3, PILOT_STEPS = 256, STRETCH_LEAST = 64 };
/* The reference: parts of the scenario's step, and the most that it is refined to. */
enum { REFERENCE_LEVELS = 3, REFERENCE_PARTS = 8, REFERENCE_PARTS_MAX = 256 };
/* Parts of the tolerance: up to which the error of the reference does no harm, and from which a
 * channel cannot be judged. */
static const double REFERENCE_FINE = 0.1, REFERENCE_COARSE = 0.5;
/* Runs of the scenario that all trials amount to, roughly, and the part of the time that they may
 * take: to tell how long a stretch may be. */
static const double WORK = 150, SEARCH_FRACTION = 0.4;
/* The most that one trial may take. */
static const double TRIAL_FRACTION = 0.1;
/* What is kept of the time for the verification of a scheme that is good. */
static const double VERIFY_FRACTION = 0.4;
/* Energy that moves, by the rounding of all energies, below which it is no motion. */
static const double AT_REST = 1e5;
/* Macro steps that an inquiry about stability takes, roughly. */
static const double STABILITY_STEPS = 5000;
/* Costs nearer than this are equal: the scheme that is listed first is taken. */
static const double SAME_COST = 1.1;

/* One scheme on its way from coarse to fine steps. */
typedef struct contender {
    int rung;        /* that was tried last; -1: none */
    bool closed;     /* no finer step is tried any more */
    int64_t broke;   /* macro steps after which it broke down with the last step; 0: it did not */
    double work;     /* of the whole run, in weighed steps; NaN: not known */
    double verified; /* s, over which it met the tolerance */
    yk_run_report report;
} contender;

/* What schemes are compared with. */
typedef struct reference {
    const yk_variant *variant;
    int parts;         /* of the scenario's step */
    yk_record *record; /* the limit of its runs, in the context of the study; NULL: there is none */
    yk_run_report report;     /* of the finest */
    double stretch;           /* s, that it covers */
    double seconds;           /* of the processor, for all runs */
    double error;             /* of the worst channel */
    yk_channel_error *errors; /* per channel */
} reference;

typedef struct study {
    yk_context *context;
    const yk_advise_def *def;
    yk_advice *advice;
    int jobs;
    double budget, spent;    /* s of the processor */
    double step, start, end; /* of the scenario */
    bool mergeable, impacts;
    int subsystems, grid;
    double *weights, *call_seconds;
    double seconds_per_work, seconds_per_step; /* of the scenario as it is */
    const yk_variant *candidates;
    contender contenders[YK_ADVICE_MAX];
    int count;
    char (*names)[160];
    const char **channels;
    int channel_count;

    reference reference; /* on the present stretch */
    bool too_long;       /* one did not end in its time */

    /* The trials that run at present. */
    int batch[YK_ADVICE_MAX], batch_count;
    double used[YK_ADVICE_MAX]; /* s of the processor, of each */
    int done;
} study;

yk_advise_def yk_advise_default(void)
{
    return (yk_advise_def){
        .scenario = yk_scenario_default(), .tolerance = 0.01, .stretch = NAN, .seconds = 60};
}

static double time_left(const study *s)
{
    return s->budget - s->spent;
}

static double step_of(const study *s, int rung)
{
    return ldexp(s->grid * s->step, -rung);
}

static yk_trial_def trial_of(const study *s, const yk_variant *variant, double step)
{
    return (yk_trial_def){.scenario = &s->def->scenario,
                          .variant = variant,
                          .step = step,
                          .end = s->start + s->advice->stretch,
                          .channels = s->channels,
                          .channel_count = s->channel_count,
                          .every = (int)lround(s->grid * s->step / step),
                          .weights = s->weights,
                          .seconds = INFINITY};
}

static const yk_variant *variant_named(const study *s, const char *name)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->candidates[i].name, name) == 0)
            return &s->candidates[i];
    return NULL;
}

/* Preparation ---------------------------------------------------------------------------------- */

/* What is compared: position and velocity of the interfaces, and what is recorded; not gaps and
 * created energies, which are errors themselves. */
static yk_status choose_channels(study *s, const yk_scenario *scenario)
{
    const yk_scenario_info *info = yk_scenario_get(scenario);
    int most = s->def->channel_count ? s->def->channel_count
                                     : 2 * info->interface_count + info->channel_count;
    s->names = yk_allocate(s->context, (size_t)most + 1, sizeof *s->names);
    s->channels = yk_allocate(s->context, (size_t)most + 1, sizeof *s->channels);
    if (!s->names || !s->channels)
        return YK_ERROR_MEMORY;
    for (int i = 0; i < most; i++) {
        char *name = s->names[s->channel_count];
        int recorded = i - 2 * info->interface_count;
        if (s->def->channel_count) {
            snprintf(name, sizeof *s->names, "%s", s->def->channels[i]);
        } else if (recorded < 0) {
            snprintf(name, sizeof *s->names, "%s.%s", info->interfaces[i / 2].name,
                     i % 2 ? "velocity" : "position");
        } else {
            yk_channel_kind kind = scenario->rows[recorded].kind;
            if (kind == YK_CHANNEL_GAP || kind == YK_CHANNEL_CREATED)
                continue;
            snprintf(name, sizeof *s->names, "%s", info->channels[recorded].name);
        }
        bool listed = false;
        for (int k = 0; k < s->channel_count; k++)
            listed = listed || strcmp(s->names[k], name) == 0;
        if (listed)
            continue;
        s->channels[s->channel_count++] = name;
    }
    return YK_OK;
}

/* Subsystems of different kinds cannot be merged: that need not be tried. */
static bool can_merge(const yk_scenario_info *info)
{
    for (int i = 0; i < info->subsystem_count; i++)
        if (!info->subsystems[i]->ops->merging ||
            info->subsystems[i]->ops != info->subsystems[0]->ops)
            return false;
    return true;
}

static yk_status read_scenario(study *s, yk_diagnostics *diagnostics)
{
    yk_scenario *scenario = NULL;
    yk_status status = yk_scenario_load(s->context, &s->def->scenario, diagnostics, &scenario);
    if (status < 0)
        return status;
    const yk_scenario_info *info = yk_scenario_get(scenario);
    s->step = info->step, s->start = info->start, s->end = info->end;
    s->mergeable = can_merge(info);
    s->impacts = info->impacts;
    s->subsystems = info->subsystem_count;
    for (s->grid = GRID; s->grid > 1 && info->steps % s->grid != 0;)
        s->grid /= 2;
    s->weights = yk_allocate(s->context, (size_t)s->subsystems, sizeof *s->weights);
    s->call_seconds = yk_allocate(s->context, (size_t)s->subsystems, sizeof *s->call_seconds);
    if (!s->weights || !s->call_seconds)
        status = YK_ERROR_MEMORY;
    else if (info->interface_count == 0)
        status = yk_fail(s->context, YK_ERROR_ARGUMENT,
                         "advise: the scenario has no interfaces, so there is nothing to couple");
    else
        status = choose_channels(s, scenario);
    yk_scenario_destroy(scenario);
    return status;
}

/* Whole numbers of the coarsest step. */
static double whole_stretch(const study *s, double length)
{
    double grid = s->grid * s->step, whole = s->end - s->start;
    double least = fmin(whole, STRETCH_LEAST * s->step);
    double steps = floor(fmin(whole, fmax(length, least)) / grid + 1e-9);
    return grid * fmax(1, steps);
}

/* What a step of each subsystem costs beside the others, in powers of two, so that it is the same
 * every time. */
static void weigh(study *s, const double *least)
{
    double heaviest = 0;
    for (int i = 0; i < s->subsystems; i++)
        if (isfinite(least[i]))
            heaviest = fmax(heaviest, least[i]);
    for (int i = 0; i < s->subsystems; i++) {
        bool known = isfinite(least[i]) && heaviest > 0;
        s->weights[i] = known ? exp2(round(log2(fmax(least[i] / heaviest, 1e-3)))) : 1;
    }
}

static yk_status run_pilot(study *s, const yk_variant *variant, double *least, yk_trial *pilot)
{
    yk_trial_def def = trial_of(s, variant, s->step);
    def.call_seconds = s->call_seconds;
    def.seconds = s->budget / 10;
    double before = yk_processor_seconds();
    yk_trial_run(&def, pilot);
    s->spent += yk_processor_seconds() - before;
    if (pilot->status == YK_ERROR_INPUT || pilot->status == YK_ERROR_MEMORY)
        return yk_fail(s->context, pilot->status, "advise: %s", pilot->message);
    for (int i = 0; pilot->status >= 0 && i < s->subsystems; i++)
        if (s->call_seconds[i] > 0)
            least[i] = fmin(least[i], s->call_seconds[i]);
    weigh(s, least);
    return YK_OK;
}

/* Short runs, of which the quickest counts, for other programs only ever make them longer. Where
 * the scenario as it is breaks down, which costs more than steps that go well, another scheme
 * tells. */
static yk_status run_pilots(study *s)
{
    static const char *const others[] = {NULL, "tight, quasi-newton", "index1, degree 3"};
    double *least = yk_allocate(s->context, (size_t)s->subsystems, sizeof *least);
    if (!least)
        return YK_ERROR_MEMORY;
    for (int i = 0; i < s->subsystems; i++)
        least[i] = INFINITY, s->weights[i] = 1;
    s->advice->stretch = whole_stretch(s, PILOT_STEPS * s->step);
    s->seconds_per_step = s->seconds_per_work = INFINITY;
    yk_status status = YK_OK;
    for (size_t k = 0; status == YK_OK && k < sizeof others / sizeof *others; k++) {
        const yk_variant *variant = others[k] ? variant_named(s, others[k]) : NULL;
        bool good = false;
        for (int n = 0; status == YK_OK && n < PILOTS && s->spent < s->budget / 5; n++) {
            yk_trial pilot;
            status = run_pilot(s, variant, least, &pilot);
            good = pilot.status >= 0 && pilot.report.steps > 0;
            if (good)
                s->seconds_per_step =
                    fmin(s->seconds_per_step, pilot.seconds / (double)pilot.report.steps);
            if (good && n > 0)
                s->seconds_per_work =
                    fmin(s->seconds_per_work, pilot.seconds / fmax(pilot.work, 1));
            yk_trial_release(&pilot);
            if (!good)
                break;
        }
        if (good)
            break;
    }
    yk_release(s->context, least);
    if (status != YK_OK)
        return status;
    if (!isfinite(s->seconds_per_step))
        s->seconds_per_step = 1e-5;
    if (!isfinite(s->seconds_per_work))
        s->seconds_per_work = s->seconds_per_step / s->subsystems;
    s->seconds_per_step = fmax(s->seconds_per_step, 1e-7);

    /* Halves of the run, so that a little more or less time changes nothing. */
    double whole = s->end - s->start, length = whole, once = 0;
    for (int i = 0; i < s->subsystems; i++)
        once += s->weights[i];
    double seconds = WORK * once * s->seconds_per_work * whole / s->step;
    for (; seconds > SEARCH_FRACTION * s->budget && length > STRETCH_LEAST * s->step; seconds /= 2)
        length /= 2;
    s->advice->stretch = whole_stretch(s, isfinite(s->def->stretch) ? s->def->stretch : length);
    return YK_OK;
}

/* Comparison ----------------------------------------------------------------------------------- */

/* What is asked of every channel of some aligned records. */
typedef enum measure { DISTANCE, BARS, TRUTH } measure;

/* Errors of all channels; bars and truth go to `columns`, one per column, which may be NULL for
 * distances. */
static yk_status compare(const study *s, const yk_aligned *a, const yk_record_header *header,
                         measure asked, double *const *columns, yk_channel_error *errors)
{
    const double **runs =
        yk_allocate(s->context, (size_t)a->runs * (size_t)a->width + 1, sizeof *runs);
    double *ratios = yk_allocate(s->context, a->rows + 1, sizeof *ratios);
    yk_status status = runs && ratios ? YK_OK : YK_ERROR_MEMORY;
    int at = 0;
    for (int i = 0; status == YK_OK && i < header->channel_count; i++) {
        int components = header->channels[i].components;
        for (int run = 0; run < a->runs; run++)
            for (int c = 0; c < components; c++)
                runs[run * components + c] = a->columns[run * a->width + at + c];
        yk_error_input input = {.runs = a->runs,
                                .impacts = s->impacts,
                                .components = components,
                                .rows = a->rows,
                                .time = a->time,
                                .columns = runs};
        errors[i].unit = header->channels[i].unit;
        if (asked == DISTANCE)
            yk_error_distance(&input, &errors[i]);
        if (asked == BARS)
            yk_error_bars(&input, ratios, columns + at, &errors[i]);
        if (asked == TRUTH)
            yk_error_extrapolate(&input, columns + at, &errors[i]);
        at += components;
    }
    yk_release(s->context, ratios);
    yk_release(s->context, runs);
    return status;
}

/* A channel that the reference itself does not know well enough is no measure of anything else. */
static bool is_judged(const study *s, int channel)
{
    const yk_channel_error *e = &s->reference.errors[channel];
    return !e->exempt && e->error <= REFERENCE_COARSE * s->def->tolerance;
}

/* Distance from the reference and its own error, of the worst channel. Infinite when out of
 * memory. */
static double error_of(const study *s, const yk_record *record, int *worst)
{
    const yk_record *records[2] = {record, s->reference.record};
    yk_channel_error *errors = yk_allocate(s->context, (size_t)s->channel_count, sizeof *errors);
    yk_aligned a;
    yk_status status = yk_align(s->context, records, 2, &a);
    if (status == YK_OK && errors)
        status = compare(s, &a, yk_record_get_header(record), DISTANCE, NULL, errors);
    double error = INFINITY;
    *worst = -1;
    if (status == YK_OK && errors) {
        error = 0;
        for (int i = 0; i < s->channel_count; i++) {
            double all = errors[i].error + s->reference.errors[i].error;
            if (!is_judged(s, i) || (*worst >= 0 && all <= error))
                continue;
            error = all;
            *worst = i;
        }
    }
    yk_align_release(s->context, &a);
    yk_release(s->context, errors);
    return error;
}

/* Reference ------------------------------------------------------------------------------------ */

typedef struct reference_runs {
    const study *s;
    const yk_variant *variant;
    int parts;        /* of the finest */
    double seconds;   /* for all, roughly */
    atomic_bool late; /* the finest did not end in its time */
    yk_trial runs[REFERENCE_LEVELS];
    double used[REFERENCE_LEVELS];
} reference_runs;

/* The finest first: it takes more than half of the time of all, and where that is not enough the
 * others are of no use. */
static void run_reference(void *user, int index)
{
    reference_runs *r = user;
    yk_trial *run = &r->runs[REFERENCE_LEVELS - 1 - index];
    yk_trial_def def = trial_of(r->s, r->variant, r->s->step);
    def.refinement = r->parts >> index;
    def.seconds = index == 0 ? 0.6 * r->seconds : r->seconds;
    if (r->late) {
        run->status = YK_INTERRUPTED;
        return;
    }
    double before = yk_processor_seconds();
    yk_trial_run(&def, run);
    r->used[index] = yk_processor_seconds() - before;
    if (index == 0 && run->status == YK_INTERRUPTED)
        r->late = true;
}

static void release_reference(const study *s, reference *r)
{
    yk_record_destroy(r->record);
    yk_release(s->context, r->errors);
    *r = (reference){0};
}

/* A record with the truth that three runs tell. */
static yk_record *record_truth(const study *s, const yk_aligned *a, const yk_record_header *header,
                               double *const *truth)
{
    yk_record *record = NULL;
    double *row = yk_allocate(s->context, (size_t)a->width + 1, sizeof *row);
    yk_status status = row ? yk_record_create(s->context, &record) : YK_ERROR_MEMORY;
    if (status == YK_OK)
        status = yk_recorder_begin(yk_record_recorder(record), header);
    for (size_t i = 0; status == YK_OK && i < a->rows; i++) {
        for (int c = 0; c < a->width; c++)
            row[c] = truth[c][i];
        status = yk_recorder_sample(yk_record_recorder(record), a->time[i], row);
    }
    if (status == YK_OK)
        status = yk_recorder_end(yk_record_recorder(record), NULL);
    yk_release(s->context, row);
    if (status == YK_OK)
        return record;
    yk_record_destroy(record);
    return NULL;
}

/* Columns that are written to: as many as the records have. */
static double **take_columns(const study *s, const yk_aligned *a)
{
    double **columns = yk_allocate(s->context, (size_t)a->width + 1, sizeof *columns);
    double *values = yk_allocate(s->context, (size_t)a->width * a->rows + 1, sizeof *values);
    if (!columns || !values) {
        yk_release(s->context, columns);
        yk_release(s->context, values);
        return NULL;
    }
    columns[0] = values;
    for (int c = 1; c < a->width; c++)
        columns[c] = values + (size_t)c * a->rows;
    return columns;
}

static void give_columns(const study *s, double **columns)
{
    if (columns)
        yk_release(s->context, columns[0]);
    yk_release(s->context, columns);
}

/* Runs one scheme in three steps. Takes the place of the reference that there is if it is
 * better. */
static void try_reference(study *s, const yk_variant *variant, int parts, double seconds)
{
    reference_runs r = {.s = s, .variant = variant, .parts = parts, .seconds = seconds};
    bool good = yk_trials_run(s->context, s->def->jobs, REFERENCE_LEVELS, run_reference, &r, NULL,
                              NULL) == YK_OK;
    const yk_record *records[REFERENCE_LEVELS];
    double used = 0;
    for (int i = 0; i < REFERENCE_LEVELS; i++) {
        yk_finding_kind kind;
        const yk_trial *run = &r.runs[i];
        used += r.used[i];
        s->too_long = s->too_long || run->status == YK_INTERRUPTED;
        good = good && run->status >= 0 && run->status != YK_INTERRUPTED;
        good =
            good && (!yk_report_serious(&run->report, &kind) || kind == YK_FINDING_NOT_CONVERGED);
        records[i] = run->record;
    }
    s->spent += used;

    /* What they tell of the truth, and how well. */
    yk_channel_error *errors =
        good ? yk_allocate(s->context, (size_t)s->channel_count, sizeof *errors) : NULL;
    yk_aligned a = {0};
    double **truth = NULL;
    yk_record *record = NULL;
    if (errors && yk_align(s->context, records, REFERENCE_LEVELS, &a) == YK_OK)
        truth = take_columns(s, &a);
    if (truth && compare(s, &a, yk_record_get_header(records[0]), TRUTH, truth, errors) == YK_OK)
        record = record_truth(s, &a, yk_record_get_header(records[0]), truth);
    double error = 0;
    if (record)
        yk_error_exempt_resting(errors, s->channel_count, s->advice->stretch);
    for (int i = 0; record && i < s->channel_count; i++)
        if (!errors[i].exempt)
            error = fmax(error, errors[i].error);
    if (record && (!s->reference.record || error < s->reference.error)) {
        release_reference(s, &s->reference);
        s->reference = (reference){.variant = variant,
                                   .parts = parts,
                                   .record = record,
                                   .report = r.runs[REFERENCE_LEVELS - 1].report,
                                   .stretch = s->advice->stretch,
                                   .seconds = used,
                                   .error = error,
                                   .errors = errors};
        record = NULL;
        errors = NULL;
    }
    yk_record_destroy(record);
    give_columns(s, truth);
    yk_align_release(s->context, &a);
    yk_release(s->context, errors);
    for (int i = 0; i < REFERENCE_LEVELS; i++)
        yk_trial_release(&r.runs[i]);
}

/* The first scheme that gives one, the most exact before the others, in steps that are halved
 * until it is good enough. Polynomial wrenches are of high order and cost much: they are tried
 * where halving did not do. */
static void find_reference(study *s, double budget)
{
    static const char *const order[] = {"monolithic", "tight, quasi-newton", "index1, degree 3",
                                        "tight, aitken", "explicit, index-1"};
    const size_t count = sizeof order / sizeof *order;
    const double fine = REFERENCE_FINE * s->def->tolerance, begun = s->spent;
    reference *r = &s->reference;
    s->too_long = false;
    for (size_t k = s->mergeable ? 0 : 1; k < count && !r->record; k++) {
        double left = budget - (s->spent - begun);
        if (left > 0)
            try_reference(s, variant_named(s, order[k]), REFERENCE_PARTS, left / 2);
    }
    bool asked = r->record && strcmp(r->variant->name, "index1, degree 3") == 0;
    while (r->record && r->error > fine && r->parts < REFERENCE_PARTS_MAX) {
        double left = budget - (s->spent - begun), before = r->error;
        if (2.2 * r->seconds < left)
            try_reference(s, r->variant, 2 * r->parts, left);
        if (r->error < 0.7 * before)
            continue;
        if (asked)
            break;
        asked = true;
        left = budget - (s->spent - begun);
        if (left > 0)
            try_reference(s, variant_named(s, "index1, degree 3"), REFERENCE_PARTS, left);
    }
}

static yk_status check_reference(study *s)
{
    const yk_run_report *r = &s->reference.report;
    if (r->largest_energy <= AT_REST * r->rounding)
        return yk_fail(s->context, YK_ERROR_ARGUMENT,
                       "advise: nothing moves in the first %g s, so there is nothing to compare; "
                       "name a longer stretch "
                       "(--stretch) or another start",
                       s->advice->stretch);
    int judged = 0, moving = 0;
    const char *unknown = "";
    for (int i = 0; i < s->channel_count; i++) {
        judged += is_judged(s, i);
        moving += !s->reference.errors[i].exempt;
        if (!is_judged(s, i) && !s->reference.errors[i].exempt)
            unknown = s->channels[i];
    }
    if (moving > 0 && judged == 0)
        return yk_fail(s->context, YK_ERROR_NO_SOLUTION,
                       "advise: no channel is known to %g on the first %g s: the best reference, "
                       "%s with 1/%d of the "
                       "step, is itself uncertain by %.2g in %s; give a larger --tolerance, more "
                       "--seconds or a "
                       "smaller time.step",
                       s->def->tolerance, s->advice->stretch, s->reference.variant->name,
                       s->reference.parts, s->reference.error, unknown);
    return YK_OK;
}

/* On shorter stretches where it takes too long, unless a length was asked for: a short answer is
 * better than none. */
static yk_status make_reference(study *s)
{
    for (;;) {
        double shorter = whole_stretch(s, s->advice->stretch / 2);
        bool last = isfinite(s->def->stretch) || !(shorter < s->advice->stretch);
        find_reference(s, (last ? 2 : 1) * SEARCH_FRACTION * time_left(s));
        if (s->reference.record)
            return check_reference(s);
        if (!s->too_long || last || time_left(s) <= 0)
            break;
        s->advice->stretch = shorter;
    }
    if (s->too_long)
        return yk_fail(s->context, YK_ERROR_NO_SOLUTION,
                       "advise: a reference for the first %g s takes too long; give a shorter "
                       "--stretch or more "
                       "--seconds than %g",
                       s->advice->stretch, s->def->seconds);
    return yk_fail(s->context, YK_ERROR_NO_SOLUTION,
                   "advise: no scheme gives a run that could serve as reference on the first %g s, "
                   "not even with a step "
                   "of %g s; does the scenario run at all?",
                   s->advice->stretch, s->step / REFERENCE_PARTS);
}

/* Search --------------------------------------------------------------------------------------- */

static void open_row(const study *s, int index)
{
    yk_advice_row *row = &s->advice->rows[index];
    *row = (yk_advice_row){.outcome = YK_ADVICE_NOT_TRIED, .error = NAN, .step = NAN};
    snprintf(row->name, sizeof row->name, "%s", s->candidates[index].name);
    snprintf(row->message, sizeof row->message, "the time was over");
    yk_candidate_block(&s->candidates[index], row->block, sizeof row->block);
}

static void judge_trial(const study *s, const yk_trial *trial, contender *c, yk_advice_row *row)
{
    double scale = (s->end - s->start) / s->advice->stretch;
    row->energy_fraction = trial->report.energy_created / trial->report.largest_energy;
    row->error = NAN;
    row->message[0] = '\0';
    if (trial->report.steps > 0) {
        /* A run that broke down has made only some of its steps. */
        double part = s->advice->stretch / fmax(trial->report.time - s->start, row->step);
        c->work = trial->work * scale * fmax(1, part);
        row->calls = (int64_t)llround((double)trial->calls * scale * fmax(1, part));
        row->seconds = c->work * s->seconds_per_work;
    }
    yk_finding_kind kind;
    bool serious = yk_report_serious(&trial->report, &kind);
    if (trial->status < 0) {
        bool blew_up =
            trial->status == YK_ERROR_NOT_FINITE || (serious && kind != YK_FINDING_NOT_CONVERGED);
        row->outcome = blew_up ? YK_ADVICE_UNSTABLE : YK_ADVICE_FAILED;
        snprintf(row->message, sizeof row->message, "%s", trial->message);
        return;
    }
    int worst;
    row->error = error_of(s, trial->record, &worst);
    if (serious) {
        row->outcome = kind == YK_FINDING_NOT_CONVERGED ? YK_ADVICE_INACCURATE : YK_ADVICE_UNSTABLE;
        snprintf(row->message, sizeof row->message, "%s", trial->report.findings[0].text);
        return;
    }
    row->outcome = row->error <= s->def->tolerance ? YK_ADVICE_GOOD : YK_ADVICE_INACCURATE;
    if (worst >= 0)
        snprintf(row->worst, sizeof row->worst, "%s", s->channels[worst]);
}

/* Runs one scheme with the step of its rung on the present stretch. */
static void try_candidate(void *user, int index)
{
    study *s = user;
    int at = s->batch[index];
    contender *c = &s->contenders[at];
    yk_advice_row *row = &s->advice->rows[at], attempt = *row;
    attempt.step = step_of(s, c->rung);
    yk_trial_def def = trial_of(s, &s->candidates[at], attempt.step);
    def.seconds = fmin(fmax(time_left(s), 0), TRIAL_FRACTION * s->budget);
    double before = yk_processor_seconds();
    yk_trial trial;
    yk_trial_run(&def, &trial);
    s->used[index] = yk_processor_seconds() - before;
    if (trial.status == YK_INTERRUPTED) {
        c->closed = true;
    } else {
        judge_trial(s, &trial, c, &attempt);
        *row = attempt;
        c->report = trial.report;
        /* Another step changes nothing about a capability, nor where a run breaks down after as
         * many steps, however long. */
        int64_t broke = trial.status < 0 ? trial.report.steps : 0;
        bool no_better = broke > 0 && c->broke > 0 && (double)broke < 1.5 * (double)c->broke;
        c->closed = c->closed || no_better || trial.status == YK_ERROR_CAPABILITY ||
                    trial.status == YK_ERROR_INPUT || trial.status == YK_ERROR_ARGUMENT;
        c->broke = broke;
        if (row->outcome == YK_ADVICE_GOOD)
            c->verified = s->advice->stretch;
    }
    yk_trial_release(&trial);
}

/* Progress is told by the part of the time that has gone. */
static bool report_progress(void *user, int done, int total)
{
    study *s = user;
    (void)done;
    (void)total;
    s->done++;
    int fraction = (int)fmin(99, 100 * s->spent / s->budget);
    return !s->def->progress || s->def->progress(s->def->user, fraction, 100);
}

static yk_status run_batch(study *s)
{
    yk_status status = yk_trials_run(s->context, s->def->jobs, s->batch_count, try_candidate, s,
                                     report_progress, s);
    for (int i = 0; i < s->batch_count; i++)
        s->spent += s->used[i];
    return status;
}

/* A scheme that merges all subsystems is the reference, and no coupling. */
static bool is_eligible(const study *s, int i)
{
    return strcmp(s->candidates[i].name, "monolithic") != 0;
}

/* Costs in steps that are too small to matter, so that equal ones are equal. */
static double cost_class(double work)
{
    return round(log(work) / log(SAME_COST));
}

static int cheapest_good(const study *s)
{
    int best = -1;
    for (int i = 0; i < s->count; i++) {
        if (s->advice->rows[i].outcome != YK_ADVICE_GOOD || !is_eligible(s, i))
            continue;
        if (best < 0 || cost_class(s->contenders[i].work) < cost_class(s->contenders[best].work))
            best = i;
    }
    return best;
}

/* Work of the next trial of a scheme: with half the step about twice that of the last. */
static double next_work(const contender *c)
{
    if (c->rung < 0)
        return 0;
    return isfinite(c->work) ? 2 * c->work : INFINITY;
}

static bool goes_on(const study *s, int i)
{
    const contender *c = &s->contenders[i];
    return !c->closed && c->rung + 1 < RUNGS && s->advice->rows[i].outcome != YK_ADVICE_GOOD;
}

/* Goes on with the schemes whose next trial is cheapest, and within a factor of two of it at the
 * same time, as long as they are cheaper than `limit` allows beside the cheapest that is good. */
static yk_status search(study *s, double limit)
{
    yk_status status = YK_OK;
    while (status == YK_OK && time_left(s) > 0) {
        int best = cheapest_good(s);
        if (best >= 0 && time_left(s) < VERIFY_FRACTION * s->budget)
            break;
        double bound = best >= 0 ? limit * s->contenders[best].work / SAME_COST : INFINITY,
               least = INFINITY;
        for (int i = 0; i < s->count; i++)
            if (goes_on(s, i))
                least = fmin(least, next_work(&s->contenders[i]));
        if (!(least < bound))
            break;
        s->batch_count = 0;
        for (int i = 0; i < s->count; i++) {
            double next = next_work(&s->contenders[i]);
            if (!goes_on(s, i) || !(next < bound) || next > 2 * least)
                continue;
            s->contenders[i].rung++;
            s->batch[s->batch_count++] = i;
        }
        if (s->batch_count == 0)
            break;
        status = run_batch(s);
    }
    return status;
}

/* Verification --------------------------------------------------------------------------------- */

/* The choice over the whole scenario, in its own steps and in halves and quarters of them. */
typedef struct whole_runs {
    study *s;
    int index;
    int refined; /* runs with finer steps: 2, or 0 */
    yk_trial runs[REFERENCE_LEVELS];
    double used[REFERENCE_LEVELS];
} whole_runs;

static void run_whole(void *user, int index)
{
    whole_runs *w = user;
    int at = w->refined - index; /* the longest first */
    yk_trial_def def =
        trial_of(w->s, &w->s->candidates[w->index], w->s->advice->rows[w->index].step);
    def.end = w->s->end;
    def.refinement = 1 << at;
    def.seconds = 2 * fmax(time_left(w->s), 1);
    double before = yk_processor_seconds();
    yk_trial_run(&def, &w->runs[at]);
    w->used[at] = yk_processor_seconds() - before;
}

/* The largest error of the channels that can be known: those that no run predicts to the end are
 * left out. */
static double whole_error(const study *s, const whole_runs *w, int *worst)
{
    const yk_record *records[REFERENCE_LEVELS];
    for (int i = 0; i <= w->refined; i++)
        records[i] = w->runs[i].record;
    yk_channel_error *errors = yk_allocate(s->context, (size_t)s->channel_count, sizeof *errors);
    yk_aligned a = {0};
    double **bars = NULL, error = INFINITY;
    if (errors && yk_align(s->context, records, w->refined + 1, &a) == YK_OK)
        bars = take_columns(s, &a);
    *worst = -1;
    if (bars && compare(s, &a, yk_record_get_header(records[0]), BARS, bars, errors) == YK_OK) {
        yk_error_exempt_resting(errors, s->channel_count, s->advice->stretch);
        error = 0;
        for (int i = 0; i < s->channel_count; i++) {
            bool lost = errors[i].accuracy == YK_ACCURACY_LOST &&
                        errors[i].horizon > s->start + s->advice->stretch;
            if (errors[i].exempt || lost || !is_judged(s, i) ||
                (*worst >= 0 && errors[i].error <= error))
                continue;
            error = errors[i].error;
            *worst = i;
        }
    }
    give_columns(s, bars);
    yk_align_release(s->context, &a);
    yk_release(s->context, errors);
    return error;
}

/* Beyond the stretch on which it was compared the choice is its own reference, as in
 * yk_error_estimate; where there is no time for that it must at least come to the end. */
static bool verify_whole(study *s, int index)
{
    contender *c = &s->contenders[index];
    yk_advice_row *row = &s->advice->rows[index];
    whole_runs w = {.s = s, .index = index};
    double one = c->work * s->seconds_per_work, part = s->advice->stretch / (s->end - s->start);
    if (7 * one < time_left(s))
        w.refined = 2;

    /* Errors grow in time, mostly no slower than the time itself. */
    if (w.refined == 0 && row->error > part * s->def->tolerance) {
        row->outcome = YK_ADVICE_INACCURATE;
        snprintf(row->message, sizeof row->message,
                 "good on the first %g s; there was no time to see whether its error stays below "
                 "the tolerance later",
                 s->advice->stretch);
        return false;
    }
    if (one > time_left(s))
        return true;
    yk_trials_run(s->context, s->def->jobs, w.refined + 1, run_whole, &w, NULL, NULL);
    yk_finding_kind kind = YK_FINDING_NOT_CONVERGED;
    yk_status status = YK_OK;
    int failed = 0;
    for (int i = w.refined; i >= 0; i--) {
        s->spent += w.used[i];
        if (w.runs[i].status >= 0 && w.runs[i].status != YK_INTERRUPTED)
            continue;
        status = w.runs[i].status;
        failed = i;
    }
    bool serious = yk_report_serious(&w.runs[0].report, &kind);
    bool good = true;
    if (status < 0 || (serious && kind != YK_FINDING_NOT_CONVERGED)) {
        row->outcome = YK_ADVICE_UNSTABLE;
        snprintf(row->message, sizeof row->message, "good on the first %g s, but later: %.600s",
                 s->advice->stretch,
                 status < 0 ? w.runs[failed].message : w.runs[0].report.findings[0].text);
        good = false;
    } else if (status == YK_OK) {
        c->report = w.runs[0].report;
        int worst = -1;
        double error = w.refined ? whole_error(s, &w, &worst) : 0;
        if (error > s->def->tolerance) {
            row->outcome = YK_ADVICE_INACCURATE;
            row->error = error;
            snprintf(row->message, sizeof row->message,
                     "good on the first %g s, but wrong by %.2g at the end%s%s", s->advice->stretch,
                     error, worst >= 0 ? " in " : "", worst >= 0 ? s->channels[worst] : "");
            good = false;
        } else if (w.refined) {
            c->verified = s->end - s->start;
            row->error = fmax(row->error, error);
        }
    }
    for (int i = 0; i <= w.refined; i++)
        yk_trial_release(&w.runs[i]);
    return good;
}

static yk_status ask_stability(study *s, int index)
{
    const yk_variant *variant = &s->candidates[index];
    int given = s->def->scenario.override_count, count = 0;
    const char **overrides =
        yk_allocate(s->context, (size_t)(given + variant->override_count + 1), sizeof *overrides);
    if (!overrides)
        return YK_ERROR_MEMORY;
    char step[64];
    snprintf(step, sizeof step, "time.step=%.17g", s->advice->rows[index].step);
    for (int i = 0; i < given; i++)
        overrides[count++] = s->def->scenario.overrides[i];
    for (int i = 0; i < variant->override_count; i++)
        overrides[count++] = variant->overrides[i];
    overrides[count++] = step;
    yk_scenario_def def = s->def->scenario;
    def.overrides = overrides, def.override_count = count, def.to_rounding = true;
    yk_diagnostics *diagnostics = NULL;
    yk_scenario *scenario = NULL;
    yk_stability_def stability = yk_stability_default();
    yk_status status = yk_diagnostics_create(s->context, &diagnostics);
    if (status >= 0)
        status = yk_scenario_load(s->context, &def, diagnostics, &scenario);
    if (status >= 0)
        status = yk_stability(s->context, scenario, &stability, &s->advice->stability);
    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    yk_release(s->context, overrides);
    return status < 0 ? status : YK_OK;
}

/* The choice over the whole scenario, and its stability. False: it is not good any more. */
static bool verify(study *s, int index)
{
    contender *c = &s->contenders[index];
    yk_advice_row *row = &s->advice->rows[index];
    bool whole = c->verified > (1 - 1e-9) * (s->end - s->start);
    if (!whole && !isfinite(s->def->stretch) && !verify_whole(s, index))
        return false;
    s->advice->asked = false;
    if (time_left(s) < STABILITY_STEPS * s->seconds_per_step)
        return true;
    double before = yk_processor_seconds();
    s->advice->asked = ask_stability(s, index) == YK_OK;
    s->spent += yk_processor_seconds() - before;
    const yk_stability_report *r = &s->advice->stability;
    bool unstable = r->verdict == YK_VERDICT_COUPLING || r->verdict == YK_VERDICT_FAILED;
    if (!s->advice->asked || !unstable)
        return true;
    row->outcome = YK_ADVICE_UNSTABLE;
    c->closed = true; /* mass ratios decide, not steps */
    snprintf(row->message, sizeof row->message,
             "meets the tolerance on the first %g s, but its coupling feeds a deviation that grows "
             "by a factor of %.6g "
             "per macro step",
             s->advice->stretch, r->coupling);
    return false;
}

/* A reference for a longer stretch, where what was done so far has left the time to do as much on
 * it. False: there is no time, or no reference. */
static bool lengthen(study *s, double stage)
{
    double present = s->advice->stretch, whole = whole_stretch(s, INFINITY), length = present;
    if (isfinite(s->def->stretch) || !(present < whole))
        return false;
    for (double cost = 2 * stage; length < whole && cost < 0.5 * time_left(s); cost *= 2)
        length *= 2;
    if (!(length > present))
        return false;

    reference kept = s->reference;
    s->reference = (reference){0};
    s->advice->stretch = length > 0.9 * whole ? whole : whole_stretch(s, length);
    bool good = make_reference(s) == YK_OK && s->advice->stretch > present;
    release_reference(s, good ? &kept : &s->reference);
    if (!good) {
        s->reference = kept;
        s->advice->stretch = present;
        return false;
    }
    return true;
}

/* On the present stretch, where it was good on a shorter one. One that does not end in its time
 * stays as it was. */
static bool try_again(study *s, int index)
{
    if (s->contenders[index].verified >= s->advice->stretch)
        return true;
    s->batch[0] = index;
    s->batch_count = 1;
    run_batch(s);
    return s->advice->rows[index].outcome == YK_ADVICE_GOOD;
}

/* The cheapest that stands verification. Where one fails the search goes on with what may be
 * cheaper than the next. */
static yk_status choose(study *s)
{
    double begun = 0;
    yk_status status = search(s, 1);
    int best = cheapest_good(s);
    for (double now = s->spent; status == YK_OK && best >= 0 && lengthen(s, now - begun);
         now = s->spent) {
        begun = now;
        while (status == YK_OK && best >= 0 && !try_again(s, best)) {
            status = search(s, 1);
            best = cheapest_good(s);
        }
    }
    while (status == YK_OK && best >= 0 && !verify(s, best)) {
        status = search(s, 1);
        best = cheapest_good(s);
    }
    s->advice->best = best;
    if (best >= 0) {
        s->advice->verified = s->contenders[best].verified;
        s->advice->watched = s->contenders[best].report;
    }
    return status;
}

/* What the table says of schemes that were not followed to the end. */
static void explain_rest(study *s)
{
    for (int i = 0; i < s->count; i++) {
        yk_advice_row *row = &s->advice->rows[i];
        if (row->outcome != YK_ADVICE_INACCURATE || *row->message)
            continue;
        bool costly =
            s->advice->best >= 0 && s->contenders[i].rung + 1 < RUNGS && !s->contenders[i].closed;
        char worst[sizeof row->worst];
        memcpy(worst, row->worst, sizeof worst);
        snprintf(row->message, sizeof row->message, "wrong by %.2g in %s%s", row->error, worst,
                 costly ? "; smaller steps would cost more than the choice" : "");
    }
}

/* Those that meet the tolerance by cost, the others by error. */
static bool comes_before(const study *s, int a, int b)
{
    const yk_advice_row *first = &s->advice->rows[a], *second = &s->advice->rows[b];
    if (first->outcome != second->outcome)
        return first->outcome < second->outcome;
    if (first->outcome == YK_ADVICE_GOOD)
        return cost_class(s->contenders[a].work) < cost_class(s->contenders[b].work);
    return first->error < second->error;
}

static yk_status sort_rows(study *s)
{
    int order[YK_ADVICE_MAX];
    yk_advice_row *rows = yk_allocate(s->context, (size_t)s->count, sizeof *rows);
    if (!rows)
        return YK_ERROR_MEMORY;
    for (int i = 0; i < s->count; i++) {
        int at = i;
        for (; at > 0 && comes_before(s, i, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    int best = s->advice->best;
    for (int i = 0; i < s->count; i++) {
        rows[i] = s->advice->rows[order[i]];
        if (order[i] == best)
            s->advice->best = i;
    }
    memcpy(s->advice->rows, rows, (size_t)s->count * sizeof *rows);
    yk_release(s->context, rows);
    return YK_OK;
}

/* The values of the choice, as overrides. */
static void put_overrides(study *s)
{
    yk_advice *advice = s->advice;
    if (advice->best < 0)
        return;
    const yk_advice_row *best = &advice->rows[advice->best];
    const yk_variant *variant = variant_named(s, best->name);
    for (int i = 0; i < variant->override_count; i++)
        snprintf(advice->overrides[advice->override_count++], sizeof *advice->overrides, "%s",
                 variant->overrides[i]);
    char *step = advice->overrides[advice->override_count++];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(step, sizeof *advice->overrides, "time.step=%.*g", digits, best->step);
        if (strtod(step + strlen("time.step="), NULL) == best->step)
            break;
    }
}

static yk_status advise(yk_context *context, const yk_advise_def *def, yk_diagnostics *diagnostics,
                        yk_advice *advice)
{
    *advice = (yk_advice){.best = -1};
    if (!(def->tolerance > 0) || !(def->seconds > 0))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "advise: tolerance (%g) and time (%g s) must be positive", def->tolerance,
                       def->seconds);
    study *s = yk_allocate(context, 1, sizeof *s);
    if (!s)
        return YK_ERROR_MEMORY;
    s->context = context, s->def = def, s->advice = advice;
    s->jobs = def->jobs > 0 ? def->jobs : yk_context_threads(context);
    s->budget = def->seconds * fmax(1, s->jobs);

    /* What the schemes offer. */
    yk_choice choices[YK_CHOICES_MAX];
    yk_variant variants[YK_CHOICES_MAX];
    const char *overrides[YK_CHOICES_MAX][YK_CHOICE_OPTIONS + 1];
    s->count = advice->count = yk_candidates(choices);
    s->candidates = variants;
    for (int i = 0; i < s->count; i++) {
        for (int k = 0; k < choices[i].change_count; k++)
            overrides[i][k] = choices[i].changes[k];
        variants[i] = (yk_variant){choices[i].name, overrides[i], choices[i].change_count};
    }
    for (int i = 0; i < s->count; i++) {
        s->contenders[i] = (contender){.rung = -1, .work = NAN};
        open_row(s, i);
    }

    yk_status status = read_scenario(s, diagnostics);
    if (status == YK_OK)
        status = run_pilots(s);
    if (status == YK_OK)
        status = make_reference(s);
    if (status == YK_OK)
        status = choose(s);
    /* What is left of the time tells more of the schemes that were given up. */
    if (status == YK_OK && advice->best >= 0 && s->spent < 0.5 * s->budget) {
        int best = advice->best;
        status = search(s, 4);
        advice->best = best;
    }
    if (status == YK_OK) {
        explain_rest(s);
        for (int i = 0; i < s->channel_count; i++)
            if (!s->reference.errors[i].exempt && !is_judged(s, i)) {
                advice->unknown_channels++;
                snprintf(advice->unknown, sizeof advice->unknown, "%s", s->channels[i]);
            }
        advice->seconds = s->spent / fmax(1, s->jobs);
        advice->reference_error = s->reference.error;
        advice->reference_parts = s->reference.parts;
        snprintf(advice->reference, sizeof advice->reference, "%s", s->reference.variant->name);
        status = sort_rows(s);
    }
    if (status == YK_OK)
        put_overrides(s);
    release_reference(s, &s->reference);
    yk_release(context, s->names);
    yk_release(context, (void *)(uintptr_t)s->channels);
    yk_release(context, s->weights);
    yk_release(context, s->call_seconds);
    yk_release(context, s);
    return status;
}

yk_status yk_advise(yk_context *context, const yk_advise_def *def, yk_diagnostics *diagnostics,
                    yk_advice *advice)
{
    yk_advise_def own = *def;
    yk_cache *prepared = yk_trials_prepare(&own.scenario);
    yk_status status = advise(context, &own, diagnostics, advice);
    yk_cache_destroy(prepared);
    return status;
}
