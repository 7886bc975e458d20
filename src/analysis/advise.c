/* Recommends a scheme and a step by trial runs, the cheapest first.
 *
 *   pilot      three short runs measure the cost of a step of each subsystem; this cost and the
 *              time limit determine the part of the scenario over which schemes are compared
 *   reference  the monolithic system if the subsystems can be merged, otherwise the tightest scheme
 *              that runs, with steps so fine that its own error, measured as in error_bars.h, is a
 *              small part of the tolerance
 *   search     every scheme begins with the coarsest step. The scheme with the cheapest next trial
 *              continues with half its step, until no scheme is left that is cheaper than the
 *              cheapest one within the tolerance
 *   verify     over the whole scenario, the chosen scheme is compared with itself at half and a
 *              quarter of its step, and its stability is checked. If it fails, it continues with
 *              half its step, or another scheme is chosen
 *
 * The error of a scheme is its difference from the reference plus the error of the reference, in
 * the measure of `yk_channel_error`. Cost is counted in weighted steps of subsystems, and time is
 * processor time: a busy machine takes longer but gives the same answer. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/error_bars.h"
#include "analysis/remedies.h"
#include "analysis/scenario_run.h"
#include "base/clock.h"
#include "base/text.h"
#include "model/scenario.h"

/* Steps of the trials: from GRID times that of the scenario down by halves. Samples are at
 * multiples of the coarsest. */
enum { GRID = 4, RUNGS = 7, PILOTS = 3, PILOT_STEPS = 256, STRETCH_LEAST = 64 };
/* Part of the scenario over which the time of a run is measured: one in so many. */
enum { LONG_PILOT_PART = 16 };
/* Steps of the reference: initial fraction of the scenario's step, and largest refinement. */
enum { REFERENCE_LEVELS = 3, REFERENCE_PARTS = 8, REFERENCE_PARTS_MAX = 256 };
/* Fractions of the tolerance: error of the reference that is harmless, and error above which a
 * channel cannot be judged. */
static const double REFERENCE_FINE = 0.1;
static const double REFERENCE_COARSE = 0.5;
/* Approximate number of scenario runs to which all trials amount, and fraction of the time that
 * they may use. These determine the length of the compared part. */
static const double WORK = 150;
static const double SEARCH_FRACTION = 0.4;
/* Largest fraction of the time for one trial. */
static const double TRIAL_FRACTION = 0.1;
/* Automatic time limit: this many runs of the scenario, at least so many seconds in total, and at
 * most so many seconds per job. With the loading of the trials, the total is about ten runs. */
static const double BUDGET_RUNS = 5;
static const double BUDGET_LEAST = 5;
static const double BUDGET_MOST = 60;
/* Part of the predictable time of a chaotic motion over which schemes are compared. */
static const double PREDICTABLE = 0.5;
/* Fraction of the time reserved for the verification of a good scheme. */
static const double VERIFY_FRACTION = 0.4;
/* Energy of a motion, in units of the rounding errors of all energies, below which nothing moves. */
static const double AT_REST = 1e5;
/* Approximate number of macro steps of a stability analysis. */
static const double STABILITY_STEPS = 5000;
/* Costs with a smaller relative difference are equal: the scheme that is listed first is chosen. */
static const double SAME_COST = 1.1;

/* A scheme with its trials from coarse to fine steps. */
typedef struct contender {
    unsigned traits;
    yk_run_report report;

    /* Rung of the last trial; -1: none. Whether finer steps are excluded. */
    int rung;
    bool closed;

    /* Macro steps until the last trial broke down; 0: it did not. */
    int64_t broke;

    /* Cost of the whole run, in weighted steps; NaN: unknown. */
    double work;

    /* Time over which it met the tolerance (s). */
    double verified;
} contender;

/* The cheapest choice that met the tolerance on the compared part and was not verified beyond it,
 * because the time was too short. */
typedef struct unverified_choice {
    int index; /* -1: none */
    yk_advice_row row;
    yk_run_report report;
    double work, verified;
    bool is_answer; /* because no other choice is left */
} unverified_choice;

/* The reference for all schemes. */
typedef struct reference {
    /* Index of its scheme, and the refinement of the scenario's step. */
    int candidate;
    int parts;

    /* Extrapolated limit of its runs, NULL: there is none; and report of the finest run. */
    yk_record *record;
    yk_run_report report;

    /* Simulated time (s), and processor time of all its runs (s). */
    double stretch;
    double seconds;

    /* Error of the worst channel, and of each channel. */
    double error;
    yk_channel_error *errors;
} reference;

/* Candidates for the reference, the most accurate first. */
enum {
    BASELINE_MERGED,
    BASELINE_ACCELERATED,
    BASELINE_BOTH_WRENCHES,
    BASELINE_ITERATED,
    BASELINE_PLAIN,
    BASELINES
};

typedef struct study {
    yk_context *context;
    yk_diagnostics *diagnostics;
    const yk_advice_options *def;
    yk_advice_report *advice;
    int jobs;
    double budget, spent; /* processor time (s) */

    /* The scenario. */
    double step, start, end;
    bool mergeable, impacts;
    int subsystems, grid;
    char (*names)[160];
    const char **channels;
    int channel_count;

    /* What steps cost. */
    double *weights, *call_seconds;
    double seconds_per_work, seconds_per_step; /* of the unchanged scenario */

    /* Variants of all schemes, and the overrides of each. */
    yk_choice choices[YK_CHOICES_MAX];
    yk_changes changes[YK_CHOICES_MAX];
    const char *overrides[YK_CHOICES_MAX * YK_CHANGES_MAX];
    yk_variant candidates[YK_ADVICE_ROWS_MAX];
    contender contenders[YK_ADVICE_ROWS_MAX];
    int count;
    int baselines[BASELINES]; /* indices of candidates; -1: none */

    reference reference; /* for the present part of the run */
    bool too_long;       /* a reference run exceeded its time */
    unverified_choice unverified;

    /* Trials that are running. */
    int batch[YK_ADVICE_ROWS_MAX], batch_count;
    double used[YK_ADVICE_ROWS_MAX]; /* processor time of each (s) */
} study;

yk_advice_options yk_advice_options_default(void)
{
    return (yk_advice_options){
        .scenario = yk_scenario_default(),
        .tolerance = 0.01,
        .duration = NAN,
        .cpu_time_budget = NAN,
    };
}

static double time_left(const study *s)
{
    return s->budget - s->spent;
}

static yk_trial_def trial_of(const study *s, const yk_variant *variant, double step)
{
    /* Samples at the times of the coarsest step, whatever the step is. */
    return (yk_trial_def){
        .scenario = &s->def->scenario,
        .variant = variant,
        .step = step,
        .end = s->start + s->advice->duration,
        .channels = s->channels,
        .channel_count = s->channel_count,
        .every = (int)lround(s->grid * s->step / step),
        .weights = s->weights,
        .seconds = INFINITY,
        .caller = s->context,
    };
}

/* A length in whole numbers of the coarsest step. */
static double whole_stretch(const study *s, double length)
{
    /* At most the whole run, and long enough for a motion to develop. */
    double grid = s->grid * s->step;
    double whole = s->end - s->start;
    double least = fmin(whole, STRETCH_LEAST * s->step);
    double steps = floor(fmin(whole, fmax(length, least)) / grid + 1e-9);
    return grid * fmax(1, steps);
}

/* Preparation ---------------------------------------------------------------------------------- */

/* The variants of the schemes, and the candidates for the reference. */
static yk_status list_candidates(study *s)
{
    s->count = yk_candidates(s->choices);
    const char **overrides = s->overrides;
    for (int k = 0; k < BASELINES; k++)
        s->baselines[k] = -1;

    /* Each with the overrides of the scenario. */
    s->advice->count = s->count;
    for (int i = 0; i < s->count; i++) {
        const yk_choice *choice = &s->choices[i];
        const yk_changes *changes = &s->changes[i];
        s->changes[i] = yk_choice_changes(choice);
        yk_advice_row *row = &s->advice->rows[i];
        *row = (yk_advice_row){.outcome = YK_ADVICE_NOT_TRIED, .error = NAN, .step = NAN};
        snprintf(row->name, sizeof row->name, "%s", choice->name);
        snprintf(row->message, sizeof row->message, "the time was over");

        for (int k = 0; k < changes->count; k++) {
            overrides[k] = changes->texts[k];
            snprintf(row->overrides[k], sizeof row->overrides[k], "%.*s",
                     (int)sizeof row->overrides[k] - 1, changes->texts[k]);
        }

        row->override_count = changes->count;
        s->candidates[i] = (yk_variant){choice->name, overrides, changes->count};
        overrides += changes->count;

        /* Its rank as a reference, if the scheme offers it as one. */
        unsigned traits = yk_choice_traits(s->context, choice);
        s->contenders[i] = (contender){.traits = traits, .rung = -1, .work = NAN};
        if (!choice->variant || !(choice->variant->purpose & YK_VARIANT_BASELINE))
            continue;

        int rank = BASELINE_PLAIN;
        if (traits & YK_SCHEME_IS_REFERENCE)
            rank = BASELINE_MERGED;
        else if (traits & YK_SCHEME_ACCELERATES)
            rank = BASELINE_ACCELERATED;
        else if (traits & YK_SCHEME_IS_FORCE_FORCE)
            rank = BASELINE_BOTH_WRENCHES;
        else if (traits & YK_SCHEME_ITERATES)
            rank = BASELINE_ITERATED;
        s->baselines[rank] = i;
    }

    return YK_OK;
}

static yk_status read_scenario(study *s)
{
    yk_scenario *scenario = NULL;
    yk_status status = yk_scenario_load(s->context, &s->def->scenario, s->diagnostics, &scenario);
    if (status != YK_OK)
        return status;

    /* Data for every trial. */
    const yk_scenario_info *info = yk_scenario_get_info(scenario);
    s->step = info->step;
    s->start = info->start;
    s->end = info->end;
    s->impacts = info->has_impacts;
    s->subsystems = info->subsystem_count;
    for (s->grid = GRID; s->grid > 1 && info->step_count % s->grid != 0;)
        s->grid /= 2;

    /* Subsystems of different kinds cannot be merged, so skip that trial. */
    s->mergeable = true;
    for (int i = 0; i < info->subsystem_count; i++) {
        const yk_subsystem_ops *ops = info->subsystems[i]->ops;
        if (!ops->merge || ops != info->subsystems[0]->ops)
            s->mergeable = false;
    }

    /* Memory, as much as there may be channels. */
    int given = s->def->channel_count;
    int of_interfaces = 2 * info->interface_count;
    int most = given;
    if (given == 0)
        most = of_interfaces + info->channel_count;
    s->weights = yk_allocate(s->context, (size_t)s->subsystems, sizeof *s->weights);
    s->call_seconds = yk_allocate(s->context, (size_t)s->subsystems, sizeof *s->call_seconds);
    s->names = yk_allocate(s->context, (size_t)most + 1, sizeof *s->names);
    s->channels = yk_allocate(s->context, (size_t)most + 1, sizeof *s->channels);
    if (!s->weights || !s->call_seconds || !s->names || !s->channels)
        status = YK_ERROR_MEMORY;
    else if (info->interface_count == 0 && info->wire_count == 0)
        status = yk_fail(s->context, YK_ERROR_ARGUMENT,
                         "advise: the scenario has no interfaces and no wires, so there is nothing "
                         "to couple; `yoke convergence` compares steps");

    /* Compared channels, each once: position and velocity of the interfaces, and recorded channels.
     * Not compared: gaps and created energies, which are errors themselves; iterations; and
     * energies of subsystems, because for merged ones only the sum is known. */
    for (int i = 0; status == YK_OK && i < most; i++) {
        char *name = s->names[s->channel_count];
        int recorded = i - of_interfaces;
        if (given > 0) {
            snprintf(name, sizeof *s->names, "%s", s->def->channels[i]);
        } else if (recorded < 0) {
            const char *quantity = i % 2 ? "velocity" : "position";
            snprintf(name, sizeof *s->names, "%s.%s", info->interfaces[i / 2].name, quantity);
        } else {
            const yk_channel_row *row = &scenario->rows[recorded];
            if (yk_channel_tells_of_coupling(row) || row->kind == YK_CHANNEL_ENERGY)
                continue;

            snprintf(name, sizeof *s->names, "%s", info->channels[recorded].name);
        }

        bool listed = false;
        for (int k = 0; k < s->channel_count; k++)
            listed = listed || strcmp(s->names[k], name) == 0;
        if (!listed)
            s->channels[s->channel_count++] = name;
    }

    yk_scenario_destroy(scenario);
    return status;
}

/* The time of one run, and the automatic time limit, which follows from it. */
static void set_budget(study *s)
{
    double whole = s->end - s->start;
    s->advice->run_time = s->seconds_per_step * whole / s->step;
    if (!isnan(s->def->cpu_time_budget) || BUDGET_RUNS * s->advice->run_time < BUDGET_LEAST)
        return;

    /* A short run is dominated by its start, so measure a longer one. */
    yk_trial_def def = trial_of(s, NULL, s->step);
    def.end = s->start + whole / LONG_PILOT_PART;
    def.seconds = s->budget / 10;
    double before = yk_processor_seconds();
    yk_trial pilot;
    yk_trial_run(&def, &pilot);
    s->spent += yk_processor_seconds() - before;
    if (pilot.status == YK_OK && pilot.report->step_count > 0) {
        double seconds = pilot.seconds / (double)pilot.report->step_count;
        s->advice->run_time = fmin(s->advice->run_time, seconds * whole / s->step);
    }

    yk_trial_release(&pilot);
    s->budget = fmin(s->budget, fmax(BUDGET_LEAST, BUDGET_RUNS * s->advice->run_time));
}

/* Short runs, of which the fastest counts, because other programs can only make them slower. If the
 * unchanged scenario breaks down, which costs more than normal steps, another scheme is used. */
static yk_status run_pilots(study *s)
{
    /* The unchanged scenario first. */
    const int others[] = {-1, s->baselines[BASELINE_ACCELERATED],
                          s->baselines[BASELINE_BOTH_WRENCHES]};
    double *least = yk_allocate(s->context, (size_t)s->subsystems, sizeof *least);
    if (!least)
        return YK_ERROR_MEMORY;

    /* Equal weights as long as costs are unknown. */
    for (int i = 0; i < s->subsystems; i++) {
        least[i] = INFINITY;
        s->weights[i] = 1;
    }

    s->advice->duration = whole_stretch(s, PILOT_STEPS * s->step);
    s->seconds_per_step = INFINITY;
    s->seconds_per_work = INFINITY;

    yk_status status = YK_OK;
    bool good = false;

    for (size_t k = 0; status == YK_OK && !good && k < sizeof others / sizeof *others; k++) {
        const yk_variant *variant = NULL;
        if (others[k] >= 0)
            variant = &s->candidates[others[k]];

        for (int n = 0; n < PILOTS && s->spent < s->budget / 5; n++) {
            yk_trial_def def = trial_of(s, variant, s->step);
            def.call_seconds = s->call_seconds;
            def.seconds = s->budget / 10;
            double before = yk_processor_seconds();
            yk_trial pilot;
            yk_trial_run(&def, &pilot);
            s->spent += yk_processor_seconds() - before;

            /* Relative costs of a step of the subsystems, rounded to powers of two, so that they
             * are reproducible. */
            double heaviest = 0;
            for (int i = 0; i < s->subsystems; i++) {
                if (!YK_FAILED(pilot.status) && s->call_seconds[i] > 0)
                    least[i] = fmin(least[i], s->call_seconds[i]);
                if (isfinite(least[i]))
                    heaviest = fmax(heaviest, least[i]);
            }

            for (int i = 0; i < s->subsystems; i++) {
                s->weights[i] = 1;
                if (isfinite(least[i]) && heaviest > 0)
                    s->weights[i] = exp2(round(log2(fmax(least[i] / heaviest, 1e-3))));
            }

            /* The first run was made before the weights were known. */
            good = !YK_FAILED(pilot.status) && pilot.report->step_count > 0;
            if (good) {
                double seconds = pilot.seconds / (double)pilot.report->step_count;
                s->seconds_per_step = fmin(s->seconds_per_step, seconds);
            }

            if (good && n > 0) {
                double seconds = pilot.seconds / fmax(pilot.work, 1);
                s->seconds_per_work = fmin(s->seconds_per_work, seconds);
            }

            if (pilot.status == YK_ERROR_INPUT || pilot.status == YK_ERROR_MEMORY)
                status = yk_fail(s->context, pilot.status, "advise: %s", pilot.message);
            yk_trial_release(&pilot);
            if (!good)
                break;
        }
    }

    yk_free(s->context, least);
    if (status != YK_OK)
        return status;

    if (isfinite(s->seconds_per_step))
        set_budget(s);

    /* If no run succeeded, an estimate that lets the search begin. */
    if (!isfinite(s->seconds_per_step))
        s->seconds_per_step = 1e-5;
    if (!isfinite(s->seconds_per_work))
        s->seconds_per_work = s->seconds_per_step / s->subsystems;
    s->seconds_per_step = fmax(s->seconds_per_step, 1e-7);

    /* The compared part: the run divided by a power of two, so that small changes of the time limit
     * have no effect. */
    double once = 0;
    for (int i = 0; i < s->subsystems; i++)
        once += s->weights[i];
    double whole = s->end - s->start;
    double length = whole;
    double seconds = WORK * once * s->seconds_per_work * whole / s->step;

    while (seconds > SEARCH_FRACTION * s->budget && length > STRETCH_LEAST * s->step) {
        seconds /= 2;
        length /= 2;
    }

    if (isfinite(s->def->duration))
        length = s->def->duration;
    s->advice->duration = whole_stretch(s, length);

    return YK_OK;
}

/* Comparison ----------------------------------------------------------------------------------- */

/* What is computed for every channel of some aligned records. */
enum { DISTANCE, BARS, TRUTH };

/* Errors of all channels. Bars and truth are written to `columns`, one per column, which may be
 * NULL for distances. */
static yk_status compare(const study *s, const yk_aligned *a, const yk_record_header *header,
                         int asked, double *const *columns, yk_channel_error *errors)
{
    size_t width = (size_t)a->runs * (size_t)a->width;
    const double **runs = yk_allocate(s->context, width + 1, sizeof *runs);
    double *ratios = yk_allocate(s->context, a->rows + 1, sizeof *ratios);
    yk_status status = YK_OK;
    if (!runs || !ratios)
        status = YK_ERROR_MEMORY;

    /* Channel by channel, with all of its components. */
    int first = 0;
    for (int i = 0; status == YK_OK && i < header->channel_count; i++) {
        int components = header->channels[i].component_count;
        yk_error_input input = yk_error_channel(a, first, components, s->impacts, runs);
        errors[i].unit = header->channels[i].unit;
        if (asked == DISTANCE)
            yk_error_distance(&input, &errors[i]);
        if (asked == BARS)
            yk_error_bars(&input, ratios, columns + first, &errors[i]);
        if (asked == TRUTH)
            yk_error_extrapolate(&input, columns + first, &errors[i]);
        first += components;
    }

    if (status == YK_OK)
        yk_error_relate(errors, header->channel_count);
    yk_free(s->context, ratios);
    yk_free(s->context, runs);
    return status;
}

/* Output columns: as many as the records have. */
static double **take_columns(const study *s, const yk_aligned *a)
{
    double **columns = yk_allocate(s->context, (size_t)a->width + 1, sizeof *columns);
    double *values = yk_allocate(s->context, (size_t)a->width * a->rows + 1, sizeof *values);
    if (!columns || !values) {
        yk_free(s->context, columns);
        yk_free(s->context, values);
        return NULL;
    }

    /* One block of numbers for all of them. */
    columns[0] = values;
    for (int c = 1; c < a->width; c++)
        columns[c] = values + (size_t)c * a->rows;

    return columns;
}

static void give_columns(const study *s, double **columns)
{
    if (columns)
        yk_free(s->context, columns[0]);
    yk_free(s->context, columns);
}

/* A channel that is not accurate in the reference cannot be used to judge others. */
static bool is_judged(const study *s, int channel)
{
    /* The error of the reference must be a fraction of the tolerance. */
    const yk_channel_error *e = &s->reference.errors[channel];
    return !e->excluded && e->error <= REFERENCE_COARSE * s->def->tolerance;
}

/* The error of the worst channel. DISTANCE: difference of a record from the reference, plus the
 * error of the reference; BARS: of a run from finer ones of its own, without channels that no run
 * predicts up to the end. Infinite if memory is missing. */
static double worst_error(const study *s, const yk_record *const *records, int count, int asked,
                          int *worst)
{
    /* The errors of all channels. */
    yk_channel_error *errors = yk_allocate(s->context, (size_t)s->channel_count, sizeof *errors);
    double **columns = NULL;
    yk_aligned a;
    yk_status status = yk_align(s->context, records, count, &a);
    if (status == YK_OK && asked != DISTANCE)
        columns = take_columns(s, &a);
    if (!errors || (asked != DISTANCE && !columns))
        status = YK_ERROR_MEMORY;
    if (status == YK_OK)
        status = compare(s, &a, yk_record_get_header(records[0]), asked, columns, errors);
    if (status == YK_OK && asked == BARS)
        yk_error_exempt_resting(errors, s->channel_count, s->advice->duration);

    /* The largest of those that count. */
    double error = INFINITY;
    *worst = -1;

    for (int i = 0; status == YK_OK && i < s->channel_count; i++) {
        const yk_channel_error *e = &errors[i];
        double here = e->error;
        if (!is_judged(s, i))
            continue;
        if (asked == DISTANCE)
            here += s->reference.errors[i].error;

        bool lost = e->accuracy == YK_ACCURACY_UNPREDICTABLE &&
                    e->predictable_until > s->start + s->advice->duration;
        if (asked == BARS && (e->excluded || lost))
            continue;
        if (*worst >= 0 && here <= error)
            continue;

        error = here;
        *worst = i;
    }

    if (status == YK_OK && *worst < 0)
        error = 0;

    give_columns(s, columns);
    yk_align_release(s->context, &a);
    yk_free(s->context, errors);
    return error;
}

/* One scheme in several steps ------------------------------------------------------------------ */

typedef struct refined_runs {
    const study *s;
    const yk_variant *variant;

    /* Coarsest step (s); each further run has half the step of the previous one. */
    double step, end;
    int count;

    /* Refinement of the last run. */
    int finest;

    /* Limits of processor time: for the finest run, for the others. */
    double seconds[2];

    /* The others are useless without the finest; the finest exceeded its time. */
    bool all;
    atomic_bool late;

    yk_trial runs[REFERENCE_LEVELS];
    double used[REFERENCE_LEVELS];
} refined_runs;

/* The finest first, because it takes more than half of the total time. */
static void run_refined(void *user, int index, void *result)
{
    (void)result;

    /* Without the finest the others need not be run. */
    refined_runs *r = user;
    yk_trial *run = &r->runs[r->count - 1 - index];
    if (r->all && r->late) {
        run->status = YK_INTERRUPTED;
        return;
    }

    /* Its time is that of the finest, or of the others. */
    yk_trial_def def = trial_of(r->s, r->variant, r->step);
    def.end = r->end;
    def.refinement = r->finest >> index;
    def.seconds = r->seconds[index > 0];

    double before = yk_processor_seconds();
    yk_trial_run(&def, run);
    r->used[index] = yk_processor_seconds() - before;
    if (index == 0 && run->status == YK_INTERRUPTED)
        r->late = true;
}

/* Reference ------------------------------------------------------------------------------------ */

static void release_reference(const study *s, reference *r)
{
    yk_record_destroy(r->record);
    yk_free(s->context, r->errors);
    *r = (reference){0};
}

/* Runs one candidate with three steps. Replaces the present reference if it is better. */
static void try_reference(study *s, int candidate, int parts, double seconds)
{
    if (candidate < 0)
        return;

    /* With a step and its halves, starting with the finest. */
    refined_runs r = {
        .s = s,
        .variant = &s->candidates[candidate],
        .step = s->step,
        .end = s->start + s->advice->duration,
        .count = REFERENCE_LEVELS,
        .finest = parts,
        .seconds = {0.6 * seconds, seconds},
        .all = true,
    };

    yk_trials_def runs = {
        .jobs = s->def->jobs,
        .count = REFERENCE_LEVELS,
        .work = run_refined,
        .user = &r,
    };
    yk_status status = yk_trials_run(s->context, &runs);

    /* All three must have reached their end, without serious findings. */
    bool good = status == YK_OK;
    const yk_record *records[REFERENCE_LEVELS];
    double used = 0;

    for (int i = 0; i < REFERENCE_LEVELS; i++) {
        yk_finding_kind kind;
        const yk_trial *run = &r.runs[i];
        bool late = run->status == YK_INTERRUPTED;
        bool ran = run->report != NULL; /* else an earlier one took too long */
        bool serious =
            ran && yk_report_serious(run->report, &kind) && kind != YK_FINDING_NOT_CONVERGED;
        if (late)
            s->too_long = true;
        if (late || YK_FAILED(run->status) || serious)
            good = false;
        records[i] = run->record;
        used += r.used[i];
    }

    s->spent += used;

    /* The limit of the three runs, and its error. */
    yk_channel_error *errors = NULL;
    double **limit = NULL;
    double *row = NULL;
    yk_record *record = NULL;
    yk_aligned a = {0};
    const yk_record_header *header = NULL;
    status = YK_ERROR_NO_SOLUTION;
    if (good) {
        header = yk_record_get_header(records[0]);
        errors = yk_allocate(s->context, (size_t)s->channel_count, sizeof *errors);
        status = yk_align(s->context, records, REFERENCE_LEVELS, &a);
    }

    if (status == YK_OK) {
        limit = take_columns(s, &a);
        row = yk_allocate(s->context, (size_t)a.width + 1, sizeof *row);
        if (!errors || !limit || !row)
            status = YK_ERROR_MEMORY;
    }

    if (status == YK_OK)
        status = compare(s, &a, header, TRUTH, limit, errors);

    /* Keep it as a record of its own. */
    if (status == YK_OK)
        status = yk_record_create(s->context, &record);
    if (status == YK_OK)
        status = yk_recorder_begin(yk_record_recorder(record), header);
    for (size_t i = 0; status == YK_OK && i < a.rows; i++) {
        for (int c = 0; c < a.width; c++)
            row[c] = limit[c][i];
        status = yk_recorder_sample(yk_record_recorder(record), a.time[i], row);
    }

    if (status == YK_OK)
        status = yk_recorder_end(yk_record_recorder(record), NULL);

    /* Use it if it is better than the present reference. */
    if (status == YK_OK) {
        double error = 0;
        yk_error_exempt_resting(errors, s->channel_count, s->advice->duration);
        for (int i = 0; i < s->channel_count; i++)
            if (!errors[i].excluded)
                error = fmax(error, errors[i].error);

        if (!s->reference.record || error < s->reference.error) {
            release_reference(s, &s->reference);
            s->reference = (reference){
                .candidate = candidate,
                .parts = parts,
                .record = record,
                .report = *r.runs[REFERENCE_LEVELS - 1].report,
                .stretch = s->advice->duration,
                .seconds = used,
                .error = error,
                .errors = errors,
            };
            record = NULL;
            errors = NULL;
        }
    }

    yk_record_destroy(record);
    give_columns(s, limit);
    yk_align_release(s->context, &a);
    yk_free(s->context, row);
    yk_free(s->context, errors);
    for (int i = 0; i < REFERENCE_LEVELS; i++)
        yk_trial_release(&r.runs[i]);
}

/* The first candidate that gives a reference, the most accurate first, with steps that are halved
 * until it is good enough. Schemes of high order with wrenches on both sides are expensive: they
 * are tried if halving was not sufficient. */
static yk_status make_reference(study *s)
{
    yk_advice_report *advice = s->advice;
    reference *r = &s->reference;
    const double fine = REFERENCE_FINE * s->def->tolerance;

    /* If it takes too long, use a shorter part, unless a length was requested: an answer for a
     * shorter time is better than none. */
    for (;;) {
        double shorter = whole_stretch(s, advice->duration / 2);
        bool last = isfinite(s->def->duration) || !(shorter < advice->duration);
        double budget = SEARCH_FRACTION * time_left(s);
        if (last)
            budget = 2 * SEARCH_FRACTION * time_left(s);
        const double begun = s->spent;
        s->too_long = false;

        /* The first candidate that runs at all. */
        int rank = BASELINE_ACCELERATED;
        if (s->mergeable)
            rank = BASELINE_MERGED;
        for (; rank < BASELINES && !r->record; rank++) {
            double left = budget - (s->spent - begun);
            if (left > 0)
                try_reference(s, s->baselines[rank], REFERENCE_PARTS, left / 2);
        }

        /* Smaller steps, until it is good enough; once with the scheme of high order. */
        int high_order = s->baselines[BASELINE_BOTH_WRENCHES];
        bool asked = r->record && r->candidate == high_order;

        while (r->record && r->error > fine && r->parts < REFERENCE_PARTS_MAX) {
            double left = budget - (s->spent - begun);
            double before = r->error;
            if (2.2 * r->seconds < left)
                try_reference(s, r->candidate, 2 * r->parts, left);
            if (r->error < 0.7 * before)
                continue;
            if (asked)
                break;

            asked = true;
            left = budget - (s->spent - begun);
            if (left > 0)
                try_reference(s, high_order, REFERENCE_PARTS, left);
        }

        if (r->record || !s->too_long || last || time_left(s) <= 0)
            break;

        advice->duration = shorter;
    }

    if (!r->record && s->too_long)
        return yk_fail(s->context, YK_ERROR_NO_SOLUTION,
                       "advise: a reference for the first %g s takes too long; allow a shorter "
                       "stretch or more time than %g s",
                       advice->duration, s->budget / fmax(1, s->jobs));
    if (!r->record)
        return yk_fail(s->context, YK_ERROR_NO_SOLUTION,
                       "advise: no scheme gives a run that could serve as reference on the first "
                       "%g s, not even with a step of %g s; does the scenario run at all?",
                       advice->duration, s->step / REFERENCE_PARTS);

    /* Something must move, and be known. */
    if (r->report.max_energy <= AT_REST * r->report.energy_rounding)
        return yk_fail(s->context, YK_ERROR_ARGUMENT,
                       "advise: nothing moves in the first %g s, so there is nothing to compare; "
                       "take a longer stretch or another start",
                       advice->duration);

    int judged = 0;
    int moving = 0;
    const char *unknown = "";
    double predictable = INFINITY;

    for (int i = 0; i < s->channel_count; i++) {
        if (r->errors[i].excluded)
            continue;

        moving++;
        predictable = fmin(predictable, r->errors[i].predictable_until);
        if (is_judged(s, i))
            judged++;
        else
            unknown = s->channels[i];
    }

    /* Compare a chaotic motion only as long as it can be predicted. */
    double shorter = PREDICTABLE * (predictable - s->start);
    if (moving > 0 && judged == 0 && shorter < advice->duration &&
        shorter >= STRETCH_LEAST * s->step && !isfinite(s->def->duration)) {
        advice->predictable_until = predictable;
        advice->duration = whole_stretch(s, shorter);
        release_reference(s, r);
        *r = (reference){.candidate = -1};
        return make_reference(s);
    }

    if (moving > 0 && judged == 0 && isfinite(predictable))
        return yk_fail(s->context, YK_ERROR_NO_SOLUTION,
                       "advise: the motion is not predictable beyond t = %.4g s: runs with other "
                       "steps differ by as much as %s moves; set --duration %.2g",
                       predictable, unknown, shorter);
    if (moving > 0 && judged == 0)
        return yk_fail(s->context, YK_ERROR_NO_SOLUTION,
                       "advise: no channel is known to %g on the first %g s: the best reference, "
                       "%s with 1/%d of the step, is itself uncertain by %.2g in %s; a larger "
                       "tolerance, more time or a smaller macro step helps",
                       s->def->tolerance, advice->duration, s->candidates[r->candidate].name,
                       r->parts, r->error, unknown);

    return YK_OK;
}

/* Search --------------------------------------------------------------------------------------- */

/* Runs one scheme with its present step over the compared part. */
static void try_candidate(void *user, int index, void *result)
{
    (void)result;

    study *s = user;
    int number = s->batch[index];
    contender *c = &s->contenders[number];
    yk_advice_row *row = &s->advice->rows[number];
    double step = ldexp(s->grid * s->step, -c->rung);

    /* Within its share of the time: a longer trial would be too expensive anyway. */
    yk_trial_def def = trial_of(s, &s->candidates[number], step);
    def.seconds = fmin(fmax(time_left(s), 0), TRIAL_FRACTION * s->budget);
    double before = yk_processor_seconds();
    yk_trial trial;
    yk_trial_run(&def, &trial);
    s->used[index] = yk_processor_seconds() - before;
    if (trial.status == YK_INTERRUPTED) {
        c->closed = true;
        yk_trial_release(&trial);
        return;
    }

    /* Its cost over the whole run. A trial that broke down has made only some of its steps. */
    row->step = step;
    row->spurious_energy = trial.report->spurious_energy;
    row->error = NAN;
    row->message[0] = '\0';
    if (trial.report->step_count > 0) {
        double scale = (s->end - s->start) / s->advice->duration;
        double part = s->advice->duration / fmax(trial.report->time - s->start, step);
        c->work = trial.work * scale * fmax(1, part);
        row->call_count = (int64_t)llround((double)trial.calls * scale * fmax(1, part));
        row->wall_time = c->work * s->seconds_per_work;
    }

    /* Its error, and its findings. */
    yk_finding_kind kind;
    bool serious = yk_report_serious(trial.report, &kind);
    bool open = serious && kind == YK_FINDING_NOT_CONVERGED;
    if (YK_FAILED(trial.status)) {
        bool grew = trial.status == YK_ERROR_NOT_FINITE || (serious && !open);
        row->outcome = YK_ADVICE_FAILED;
        if (grew)
            row->outcome = YK_ADVICE_UNSTABLE;
        snprintf(row->message, sizeof row->message, "%s", trial.message);
    } else {
        const yk_record *records[2] = {trial.record, s->reference.record};
        int worst;
        row->error = worst_error(s, records, 2, DISTANCE, &worst);
        row->outcome = YK_ADVICE_INACCURATE;
        if (serious && !open)
            row->outcome = YK_ADVICE_UNSTABLE;
        if (serious)
            snprintf(row->message, sizeof row->message, "%s", trial.report->findings[0].message);
        else if (row->error <= s->def->tolerance)
            row->outcome = YK_ADVICE_ACCEPTED;
        if (!serious && worst >= 0)
            snprintf(row->worst_channel, sizeof row->worst_channel, "%s", s->channels[worst]);
    }
    c->report = *trial.report;
    if (row->outcome == YK_ADVICE_ACCEPTED)
        c->verified = s->advice->duration;

    /* Another step does not help against a missing capability, or a breakdown after the same number
     * of steps, however small these are. */
    int64_t broke = 0;
    if (YK_FAILED(trial.status))
        broke = trial.report->step_count;
    bool no_better = broke > 0 && c->broke > 0 && (double)broke < 1.5 * (double)c->broke;
    bool refused = trial.status == YK_ERROR_CAPABILITY || trial.status == YK_ERROR_INPUT;
    if (no_better || refused || trial.status == YK_ERROR_ARGUMENT)
        c->closed = true;
    c->broke = broke;
    yk_trial_release(&trial);
}

/* By the part of the time that has gone. */
static bool report_progress(void *user, int done, int total)
{
    study *s = user;
    (void)done;
    (void)total;
    int percent = (int)fmin(99, 100 * s->spent / s->budget);
    return !s->def->progress || s->def->progress(s->def->user, percent, 100);
}

static yk_status run_batch(study *s)
{
    yk_trials_def trials = {
        .jobs = s->def->jobs,
        .count = s->batch_count,
        .work = try_candidate,
        .user = s,
        .progress = report_progress,
        .progress_user = s,
    };
    yk_status status = yk_trials_run(s->context, &trials);
    for (int i = 0; i < s->batch_count; i++)
        s->spent += s->used[i];
    return status;
}

/* Costs in units that are too small to matter, so that equal ones are equal. */
static double cost_class(double work)
{
    return round(log(work) / log(SAME_COST));
}

/* A scheme that merges all subsystems is the reference, not a coupling. */
static int cheapest_good(const study *s)
{
    /* Among equal costs, the first in the list. */
    int best = -1;
    for (int i = 0; i < s->count; i++) {
        const contender *c = &s->contenders[i];
        bool couples = !(c->traits & YK_SCHEME_IS_REFERENCE);
        if (s->advice->rows[i].outcome != YK_ADVICE_ACCEPTED || !couples)
            continue;
        if (best < 0 || cost_class(c->work) < cost_class(s->contenders[best].work))
            best = i;
    }

    return best;
}

/* Work of the next trial of a scheme: with half the step about twice that of the last. Infinite if
 * there is none. */
static double next_work(const study *s, int i)
{
    /* No trial is left for a scheme that is accepted, rejected, or at its finest step. */
    const contender *c = &s->contenders[i];
    bool good = s->advice->rows[i].outcome == YK_ADVICE_ACCEPTED;
    if (c->closed || good || c->rung + 1 >= RUNGS)
        return INFINITY;
    if (c->rung < 0)
        return 0;
    if (!isfinite(c->work))
        return INFINITY;
    return 2 * c->work;
}

/* Continues with the schemes whose next trial is cheapest, and with those within a factor of two of
 * it at the same time, as long as their cost relative to the cheapest accepted scheme is below
 * `limit`. */
static yk_status search(study *s, double limit)
{
    /* Round by round, the cheapest first. */
    yk_status status = YK_OK;
    while (status == YK_OK && time_left(s) > 0) {
        int best = cheapest_good(s);
        if (best >= 0 && time_left(s) < VERIFY_FRACTION * s->budget)
            break;

        /* Schemes that may still be cheaper than the cheapest accepted one. If an unverified choice
         * exists, only schemes of which one run fits into half of the time that remains after its
         * own run. */
        double bound = INFINITY;
        if (s->unverified.index >= 0)
            bound = 0.5 * (time_left(s) / s->seconds_per_work - s->unverified.work);
        if (best >= 0)
            bound = limit * s->contenders[best].work / SAME_COST;
        double least = INFINITY;
        for (int i = 0; i < s->count; i++)
            least = fmin(least, next_work(s, i));
        if (!(least < bound))
            break;

        /* All trials with about the same cost. */
        s->batch_count = 0;
        for (int i = 0; i < s->count; i++) {
            double next = next_work(s, i);
            if (!(next < bound) || next > 2 * least)
                continue;

            s->contenders[i].rung++;
            s->batch[s->batch_count++] = i;
        }

        status = run_batch(s);
    }

    return status;
}

/* Verification --------------------------------------------------------------------------------- */

/* Beyond the compared part, the choice is its own reference, as in yk_estimate_accuracy(). If there
 * is not enough time for that, it must at least reach the end. False: it is rejected. */
static bool verify_whole(study *s, int index)
{
    contender *c = &s->contenders[index];
    yk_advice_row *row = &s->advice->rows[index];
    double stretch = s->advice->duration;
    double whole = s->end - s->start;
    double one_run = c->work * s->seconds_per_work;
    int refined = 0;
    if (7 * one_run < time_left(s))
        refined = 2;

    /* Errors grow with time, usually at most proportionally to it. */
    bool grows = row->error > stretch / whole * s->def->tolerance;
    if (refined == 0 && grows && !s->unverified.is_answer) {
        if (s->unverified.index < 0 && one_run < time_left(s)) {
            s->unverified = (unverified_choice){
                .index = index,
                .row = *row,
                .report = c->report,
                .work = c->work,
                .verified = c->verified,
            };
        }

        row->outcome = YK_ADVICE_INACCURATE;
        yk_format(row->message, sizeof row->message,
                  "good on the first %g s; there was no time to see whether its error stays below "
                  "the tolerance later",
                  stretch);
        return false;
    }

    if (one_run > time_left(s))
        return true;

    /* With its own step, and half and a quarter of it. */
    double seconds = fmax(time_left(s), 1);
    refined_runs w = {
        .s = s,
        .variant = &s->candidates[index],
        .step = row->step,
        .end = s->end,
        .count = refined + 1,
        .finest = 1 << refined,
        .seconds = {seconds, seconds},
    };

    yk_trials_def runs = {
        .jobs = s->def->jobs,
        .count = w.count,
        .work = run_refined,
        .user = &w,
    };
    yk_trials_run(s->context, &runs);
    const yk_record *records[REFERENCE_LEVELS];
    const yk_trial *failed = NULL;

    for (int i = refined; i >= 0; i--) {
        const yk_trial *run = &w.runs[i];
        records[i] = run->record;
        s->spent += w.used[i];
        if (YK_FAILED(run->status) || run->status == YK_INTERRUPTED)
            failed = run;
    }

    /* Whether it reached its end, and its result is accurate there. */
    yk_finding_kind kind;
    bool serious = yk_report_serious(w.runs[0].report, &kind) && kind != YK_FINDING_NOT_CONVERGED;
    bool broke_down = failed && YK_FAILED(failed->status);
    bool good = true;
    if (broke_down || serious) {
        const char *why = w.runs[0].report->findings[0].message;
        if (broke_down)
            why = failed->message;
        row->outcome = YK_ADVICE_UNSTABLE;
        yk_format(row->message, sizeof row->message, "good on the first %g s, but later: %.600s",
                  stretch, why);
        good = false;
    } else if (!failed) {
        c->report = *w.runs[0].report;
        int worst = -1;
        double error = 0;
        if (refined)
            error = worst_error(s, records, w.count, BARS, &worst);

        if (error > s->def->tolerance) {
            row->outcome = YK_ADVICE_INACCURATE;
            row->error = error;
            char where[200] = "";
            if (worst >= 0)
                snprintf(where, sizeof where, " in %.190s", s->channels[worst]);
            yk_format(row->message, sizeof row->message,
                      "good on the first %g s, but wrong by %.2g at the end%s", stretch, error,
                      where);
            good = false;
        } else if (refined) {
            c->verified = whole;
            row->error = fmax(row->error, error);
        }
    }

    for (int i = 0; i < w.count; i++)
        yk_trial_release(&w.runs[i]);
    return good;
}

/* The choice over the whole scenario, and its stability. False: it is rejected. */
static bool verify(study *s, int index)
{
    contender *c = &s->contenders[index];
    yk_advice_row *row = &s->advice->rows[index];
    yk_advice_report *advice = s->advice;
    bool whole = c->verified > (1 - 1e-9) * (s->end - s->start);
    if (!whole && !isfinite(s->def->duration) && !verify_whole(s, index))
        return false;

    /* Check stability if there is enough time. */
    advice->has_stability = false;
    double steps = (s->end - s->start) / row->step;
    double seconds_per_step = fmax(s->seconds_per_step, c->work * s->seconds_per_work / steps);
    if (time_left(s) < STABILITY_STEPS * seconds_per_step)
        return true;

    /* The scenario with the overrides of the choice. */
    const yk_variant *variant = &s->candidates[index];
    int given = s->def->scenario.override_count;
    const char **overrides =
        yk_allocate(s->context, (size_t)(given + variant->override_count + 1), sizeof *overrides);
    if (!overrides)
        return true;

    int count = 0;
    for (int i = 0; i < given; i++)
        overrides[count++] = s->def->scenario.overrides[i];
    for (int i = 0; i < variant->override_count; i++)
        overrides[count++] = variant->overrides[i];
    char step[64];
    yk_format(step, sizeof step, "time.step=%.17g", row->step);
    overrides[count++] = step;

    /* The same analysis as yk_analyze_stability() for users. */
    yk_scenario_def def = s->def->scenario;
    def.overrides = overrides;
    def.override_count = count;
    def.iterate_to_rounding = true;
    yk_diagnostics *diagnostics = NULL;
    yk_scenario *scenario = NULL;
    yk_stability_options stability = yk_stability_options_default();
    double before = yk_processor_seconds();
    yk_status status = yk_diagnostics_create(s->context, &diagnostics);
    if (status == YK_OK)
        status = yk_scenario_load(s->context, &def, diagnostics, &scenario);
    if (status == YK_OK)
        status = yk_analyze_stability(s->context, scenario, &stability, &advice->stability);
    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    yk_free(s->context, overrides);
    s->spent += yk_processor_seconds() - before;
    advice->has_stability = !YK_FAILED(status);

    /* The cause is the mass ratio and not the step, so do not try smaller ones. */
    yk_verdict verdict = advice->stability.verdict;
    bool unstable =
        verdict == YK_VERDICT_UNSTABLE_COUPLING || verdict == YK_VERDICT_COUPLING_BREAKDOWN;
    if (!advice->has_stability || !unstable)
        return true;

    row->outcome = YK_ADVICE_UNSTABLE;
    c->closed = true;
    yk_format(row->message, sizeof row->message,
              "meets the tolerance on the first %g s, but its coupling makes a deviation grow by a "
              "factor of %.6g per macro step",
              advice->duration, advice->stability.coupling_growth);

    return false;
}

/* The cheapest scheme that passes verification. If one fails, the search continues with schemes
 * that may be cheaper than the next one. */
static yk_status choose(study *s)
{
    yk_status status = search(s, 1);
    int best = cheapest_good(s);

    /* The longest part that the time allows: continue on a longer part if the remaining time is
     * sufficient and there is a reference for it. */
    double whole = whole_stretch(s, INFINITY);
    double begun = 0;

    while (status == YK_OK && best >= 0 && !isfinite(s->def->duration)) {
        double present = s->advice->duration;
        double length = present;
        double cost = 2 * (s->spent - begun);
        while (length < whole && cost < 0.5 * time_left(s)) {
            length *= 2;
            cost *= 2;
        }
        if (!(present < whole) || !(length > present))
            break;

        /* Keep the present reference in case there is no other. */
        begun = s->spent;
        reference kept = s->reference;
        s->reference = (reference){0};
        s->advice->duration = whole_stretch(s, length);
        if (length > 0.9 * whole)
            s->advice->duration = whole;
        if (make_reference(s) != YK_OK || !(s->advice->duration > present)) {
            release_reference(s, &s->reference);
            s->reference = kept;
            s->advice->duration = present;
            break;
        }

        release_reference(s, &kept);

        /* Schemes accepted on a shorter part are tried again; a trial that exceeds its time leaves
         * the result unchanged. */
        while (status == YK_OK && best >= 0 && s->contenders[best].verified < s->advice->duration) {
            s->batch[0] = best;
            s->batch_count = 1;
            run_batch(s);
            if (s->advice->rows[best].outcome == YK_ADVICE_ACCEPTED)
                break;

            status = search(s, 1);
            best = cheapest_good(s);
        }
    }

    /* Over the whole scenario. */
    while (status == YK_OK && best >= 0 && !verify(s, best)) {
        status = search(s, 1);
        best = cheapest_good(s);
    }

    /* No time to verify any choice: the cheapest on the compared part is the answer, unless it does
     * not reach the end. */
    if (status == YK_OK && best < 0 && s->unverified.index >= 0) {
        const unverified_choice *u = &s->unverified;
        contender *c = &s->contenders[u->index];
        s->advice->rows[u->index] = u->row;
        c->report = u->report;
        c->work = u->work;
        c->verified = u->verified;
        s->unverified.is_answer = true;
        if (verify(s, u->index))
            best = u->index;
    }

    s->advice->best_row = best;
    if (best >= 0) {
        s->advice->verified_until = s->contenders[best].verified;
        s->advice->run_report = s->contenders[best].report;
    }

    /* Use the remaining time to explain schemes that were given up. */
    if (status == YK_OK && best >= 0 && s->spent < 0.5 * s->budget)
        status = search(s, 4);

    return status;
}

static yk_status write_advice(study *s)
{
    yk_advice_report *advice = s->advice;
    const reference *r = &s->reference;

    /* Basis of the answer. */
    advice->cpu_time = s->spent / fmax(1, s->jobs);
    advice->reference_error = r->error;
    advice->reference_refinement = r->parts;
    snprintf(advice->reference, sizeof advice->reference, "%s", s->candidates[r->candidate].name);
    /* Channels that could not be judged. */
    for (int i = 0; i < s->channel_count; i++) {
        if (r->errors[i].excluded || is_judged(s, i))
            continue;

        advice->unresolved_channel_count++;
        snprintf(advice->unresolved_channel, sizeof advice->unresolved_channel, "%s",
                 s->channels[i]);
    }

    /* Schemes whose search was not finished. */
    for (int i = 0; i < s->count; i++) {
        yk_advice_row *row = &advice->rows[i];
        if (row->outcome != YK_ADVICE_INACCURATE || *row->message)
            continue;

        const contender *c = &s->contenders[i];
        const char *rest = "";
        if (advice->best_row >= 0 && c->rung + 1 < RUNGS && !c->closed)
            rest = "; smaller steps would cost more than the choice";
        char worst[sizeof row->worst_channel];
        memcpy(worst, row->worst_channel, sizeof worst);
        yk_format(row->message, sizeof row->message, "wrong by %.2g in %s%s", row->error, worst,
                  rest);
    }

    /* The table in its order: accepted schemes by cost, the others by error. */
    yk_advice_row *rows = yk_allocate(s->context, (size_t)s->count, sizeof *rows);
    if (!rows)
        return YK_ERROR_MEMORY;

    int order[YK_ADVICE_ROWS_MAX];
    for (int i = 0; i < s->count; i++) {
        const yk_advice_row *own = &advice->rows[i];
        int k = i;

        for (; k > 0; k--) {
            int other = order[k - 1];
            const yk_advice_row *before = &advice->rows[other];
            double cost = cost_class(s->contenders[i].work);
            bool better = own->error < before->error;
            if (own->outcome == YK_ADVICE_ACCEPTED)
                better = cost < cost_class(s->contenders[other].work);
            if (own->outcome != before->outcome)
                better = own->outcome < before->outcome;
            if (!better)
                break;

            order[k] = other;
        }

        order[k] = i;
    }

    /* Keep track of the row of the choice. */
    int best = advice->best_row;
    for (int i = 0; i < s->count; i++) {
        rows[i] = advice->rows[order[i]];
        if (order[i] == best)
            advice->best_row = i;
    }

    memcpy(advice->rows, rows, (size_t)s->count * sizeof *rows);
    yk_free(s->context, rows);
    if (best < 0)
        return YK_OK;

    /* The overrides of the choice; the step with as many digits as necessary. */
    const yk_advice_row *row = &advice->rows[advice->best_row];
    for (int i = 0; i < row->override_count; i++)
        memcpy(advice->overrides[i], row->overrides[i], sizeof advice->overrides[i]);
    char *step = advice->overrides[row->override_count];
    advice->override_count = row->override_count + 1;

    for (int digits = 6; digits <= 17; digits++) {
        yk_format(step, sizeof *advice->overrides, "time.step=%.*g", digits, row->step);
        if (yk_text_number(step + strlen("time.step="), NULL) == row->step)
            break;
    }

    return YK_OK;
}

yk_status yk_advise(yk_context *context, const yk_advice_options *def, yk_diagnostics *diagnostics,
                    yk_advice_report *advice)
{
    *advice = (yk_advice_report){.best_row = -1};
    bool is_automatic = isnan(def->cpu_time_budget);
    if (!(def->tolerance > 0) || !(is_automatic || def->cpu_time_budget > 0))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "advise: tolerance (%g) and time (%g s) must be positive", def->tolerance,
                       def->cpu_time_budget);

    /* All runs share data that are expensive to compute. */
    yk_advice_options own = *def;
    yk_cache *cache = yk_trials_prepare(&own.scenario);
    study *s = yk_allocate(context, 1, sizeof *s);
    if (!s) {
        yk_cache_destroy(cache);
        return YK_ERROR_MEMORY;
    }

    s->context = context;
    s->diagnostics = diagnostics;
    s->def = &own;
    s->advice = advice;
    s->jobs = def->jobs;
    if (s->jobs <= 0)
        s->jobs = yk_context_threads(context);
    double seconds = is_automatic ? BUDGET_MOST : def->cpu_time_budget;
    s->budget = seconds * fmax(1, s->jobs);
    s->unverified.index = -1;

    /* From the scenario to the choice, up to the first failure. */
    static yk_status (*const stages[])(study *) = {
        list_candidates, read_scenario, run_pilots, make_reference, choose, write_advice,
    };
    yk_status status = YK_OK;
    for (size_t i = 0; status == YK_OK && i < sizeof stages / sizeof *stages; i++)
        status = stages[i](s);

    release_reference(s, &s->reference);
    yk_free(context, s->names);
    yk_free(context, (void *)(uintptr_t)s->channels);
    yk_free(context, s->weights);
    yk_free(context, s->call_seconds);
    yk_free(context, s);
    yk_cache_destroy(cache);
    return status;
}
