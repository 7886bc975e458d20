/* One run of a scenario with some of its values changed, in a context of its own so that several
 * can run at a time; how far its channels are from those of another; and single numbers out of
 * them. */
#ifndef YK_ANALYSIS_TRIAL_H
#define YK_ANALYSIS_TRIAL_H

#include "yoke/analysis.h"

struct yk_trial;

typedef struct yk_trial_def {
    const yk_scenario_def *scenario;
    const yk_variant *variant; /* NULL: the scenario as it is */
    double step;               /* s; NaN: the scenario's */
    double refinement;         /* as in yk_scenario_def: of the step above, and of all others */
    double end;                /* s; NaN: the scenario's */
    const char *const *channels;
    int channel_count;   /* 0: what the scenario records */
    int every;           /* macro steps between samples, before refinement; 0: the scenario's */
    double seconds;      /* of the processor, at most; infinite: no limit */
    bool estimate_error; /* of the run, see yk_run_options */
    double error_tolerance;
    /* who may ask to stop, in the midst of a step as well; NULL: nobody */
    const yk_context *caller;
    /* what a step of each subsystem costs, in any unit: for `work`; NULL: one */
    const double *weights;
    /* receives the time that a step of each subsystem takes, on the clock; NULL: not wanted */
    double *call_seconds;
    /* as in yk_run_options, of the trial that runs; may be NULL */
    bool (*progress)(void *user, const struct yk_trial *trial, const yk_run_progress *progress);
    void *user;
} yk_trial_def;

/* Characters of the message of a failure. */
enum { YK_TRIAL_MESSAGE = 400 };

typedef struct yk_trial {
    yk_status status; /* of loading, or of the run */
    char message[YK_TRIAL_MESSAGE];
    yk_context *context;
    const yk_trial_def *def; /* while it runs */
    double begun, limit;     /* s of the processor: at the first step, and from then on at most */
    yk_record *record;       /* NULL if it could not be loaded */
    yk_run_report report;
    double seconds;     /* of the processor: the run, without what came before the first step */
    int64_t calls;      /* of all subsystems */
    int64_t iterations; /* sweeps over all of them */
    /* steps of subsystems by their weights: the same on any machine, however busy it is */
    double work;
} yk_trial;

/* Always leaves a trial that must be released. */
void yk_trial_run(const yk_trial_def *def, yk_trial *trial);
void yk_trial_release(yk_trial *trial);

/* A list of things to do at the same time, `jobs` of them, each with a plain result of so many
 * bytes. `work` gets the index; `finish`, which may be NULL, takes the results one after the other in
 * any order. False from `progress`, which may be NULL, stops what has not begun.
 *
 * A team shares the work: it makes one run per rank at a time, `work` is done by any of its
 * processes, `finish` where its rank is 0. Other ranks return when there is no more for them to do. */
typedef struct yk_trials_def {
    const yk_process_group *team; /* NULL: nobody */
    int jobs, count;
    size_t result_size;
    void (*work)(void *user, int index, void *result);
    void (*finish)(void *user, int index, const void *result);
    void *user;
    bool (*progress)(void *user, int done, int total);
    void *progress_user;
} yk_trials_def;

yk_status yk_trials_run(yk_context *context, const yk_trials_def *def);

/* Runs of one scenario find what takes long to prepare only once: sets what the def lacks for
 * that, and returns what is to be destroyed after them. */
yk_cache *yk_trials_prepare(yk_scenario_def *def);

/* Largest over the channels of the sum of absolute differences, by the sum of absolute deviations
 * of the reference from its mean; at the times of `trial` that the reference has too. Infinite if
 * they share none. *largest: of a single difference, in the channel's unit. */
double yk_record_distance(const yk_record *record, const yk_record *reference, double *largest);

/* Of a run that came to its end: whether something serious was found, and the kind. */
bool yk_report_serious(const yk_run_report *report, yk_finding_kind *kind);

/* Measures: one number out of a recorded channel (measure.c). */
typedef struct yk_measure {
    int kind;
    char channel[160];
    double frequency; /* Hz, line only */
    double from, to;  /* s */
} yk_measure;

/* True for measures of the macro step instead of a recorded channel. */
bool yk_measure_of_step(const yk_measure *measure);
/* What the measure of a channel of this unit has, "" for none. */
const char *yk_measure_unit(const yk_measure *measure, const char *unit);
/* Its value, from an analysis. */
double yk_measure_step_value(const yk_measure *measure, const yk_stability_report *report);

/* YK_ERROR_ARGUMENT with what is wrong in the message. */
yk_status yk_measure_parse(yk_context *context, const char *text, yk_measure *measure);
/* Of the first component of the channel that has the measure's channel as its name. */
yk_status yk_measure_value(yk_context *context, const yk_measure *measure, const yk_record *record,
                           double *value);

#endif
