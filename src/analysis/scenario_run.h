/* One run of a scenario with some changed values, in a context of its own so that several can run
 * at the same time; differences of its channels from those of another run; and single numbers
 * computed from channels. */
#ifndef YK_ANALYSIS_TRIAL_H
#define YK_ANALYSIS_TRIAL_H

#include "yoke/analysis.h"

struct yk_trial;

typedef struct yk_trial_def {
    const yk_scenario_def *scenario;
    const yk_variant *variant; /* NULL: the unchanged scenario */
    double step;               /* s; NaN: the scenario's */
    /* as in yk_scenario_def: of the step above, and of all other steps */
    double refinement;
    int realization; /* as in yk_scenario_def */
    double end;      /* s; NaN: the scenario's */
    const char *const *channels;
    int channel_count;   /* 0: the channels recorded by the scenario */
    int every;           /* macro steps between samples, before refinement; 0: the scenario's */
    double seconds;      /* limit of processor time; infinite: no limit */
    bool estimate_error; /* of the run, see yk_run_options */
    double error_tolerance;
    /* request to stop, checked within a step as well; NULL: none */
    const yk_context *caller;
    /* cost of a step of each subsystem, in any unit: for `work`; NULL: one */
    const double *weights;
    /* receives the wall time of a step of each subsystem; NULL: not needed */
    double *call_seconds;
    /* as in yk_run_options, of the running trial; may be NULL */
    bool (*progress)(void *user, const struct yk_trial *trial, const yk_run_progress *progress);
    void *user;
} yk_trial_def;

/* Length of the message of a failure. */
enum { YK_TRIAL_MESSAGE = 400 };

typedef struct yk_trial {
    yk_status status; /* of loading, or of the run */
    char message[YK_TRIAL_MESSAGE];
    yk_context *context;
    const yk_trial_def *def;     /* while it runs */
    double begun, limit;         /* processor time (s): at the first step, and limit from then on */
    yk_record *record;           /* NULL if it could not be loaded */
    const yk_run_report *report; /* all zero if it did not run */
    yk_run_report *own_report;   /* memory of the report */
    double seconds;              /* processor time of the run, from the first step on */
    int64_t calls;               /* of all subsystems */
    int64_t iterations;          /* sweeps over all of them */
    /* steps of subsystems by their weights: the same on any machine, however busy it is */
    double work;
} yk_trial;

/* The trial must always be released. */
void yk_trial_run(const yk_trial_def *def, yk_trial *trial);
void yk_trial_release(yk_trial *trial);

/* Runs `jobs` jobs in parallel, each with a plain result of the given size. `work` receives the
 * index; `finish`, which may be NULL, receives the results one after another in any order. If
 * `progress`, which may be NULL, returns false, no further job begins.
 *
 * A process group shares the work: it makes one run per rank at a time; `work` is called in any of
 * its processes, `finish` only on rank 0. Other ranks return when there is no more work for them. */
typedef struct yk_trials_def {
    const yk_process_group *team; /* NULL: no other process */
    int jobs, count;
    size_t result_size;
    void (*work)(void *user, int index, void *result);
    void (*finish)(void *user, int index, const void *result);
    void *user;
    bool (*progress)(void *user, int done, int total);
    void *progress_user;
} yk_trials_def;

yk_status yk_trials_run(yk_context *context, const yk_trials_def *def);

/* Lets runs of one scenario share data that are expensive to prepare: sets the missing members of
 * the def, and returns what must be destroyed afterwards. */
yk_cache *yk_trials_prepare(yk_scenario_def *def);

/* Largest value over the channels of the sum of absolute differences, divided by the sum of
 * absolute deviations of the reference from its mean, at the common times of both. Infinite if
 * there are none. *largest: largest single difference, in the channel's unit. */
double yk_record_distance(const yk_record *record, const yk_record *reference, double *largest);

/* For a run that reached its end: whether it has a serious finding, and its kind. */
bool yk_report_serious(const yk_run_report *report, yk_finding_kind *kind);

/* Measures: one number out of a recorded channel (measure.c). */
typedef struct yk_measure {
    int kind;
    char channel[160];
    double frequency; /* Hz, line only */
    double from, to;  /* s */
} yk_measure;

/* True for measures of the macro step, which need no recorded channel. */
bool yk_measure_of_step(const yk_measure *measure);
/* The unit of the measure for a channel of this unit, "" for none. */
const char *yk_measure_unit(const yk_measure *measure, const char *unit);
/* Its value, from an analysis. */
double yk_measure_step_value(const yk_measure *measure, const yk_stability_report *report);

/* YK_ERROR_ARGUMENT: the message names the error. */
yk_status yk_measure_parse(yk_context *context, const char *text, yk_measure *measure);
/* For the first component of the channel with the measure's name. */
yk_status yk_measure_value(yk_context *context, const yk_measure *measure, const yk_record *record,
                           double *value);

#endif
