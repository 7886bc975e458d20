/* Analyses of coupled systems: runs with a recorder, error bars, stability and convergence of a
 * scheme, sweeps and advice. */
#ifndef YOKE_ANALYSIS_H
#define YOKE_ANALYSIS_H

#include "yoke/base.h"
#include "yoke/record.h"
#include "yoke/scenario.h"
#include "yoke/system.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs ----------------------------------------------------------------------------------------- */

typedef struct yk_run_progress {
    int64_t step, step_count;
    double time;      /* s, simulated */
    double wall_time; /* wall time since the start (s) */
    /* Work after the run, such as "trying coupling.scheme=tight"; NULL: the run itself. */
    const char *stage;
} yk_run_progress;

/* The whole state of a run, from a file that an earlier run has written: the state image of the
 * system, its statistics, the observations for findings, the position of the record. */
typedef struct yk_checkpoint yk_checkpoint;

typedef struct yk_checkpoint_info {
    const char *scenario_path; /* path of the scenario, relative to the checkpoint's folder */
    const char *scenario_text; /* text of the resolved scenario, to be loaded under this path */
    const char *command;       /* for the record */
    const char *note;          /* yk_run_options.note of the run */
    int frame_count;           /* options of the run */
    int64_t step;
    double time; /* s */
} yk_checkpoint_info;

/* The last checkpoint with this name, or the previous one if that is missing or damaged.
 * YK_ERROR_FILE and YK_ERROR_INPUT with the reason, also if another version of the program wrote
 * it. */
yk_status yk_checkpoint_load(yk_context *context, const char *path, yk_checkpoint **checkpoint);
void yk_checkpoint_destroy(yk_checkpoint *checkpoint);
const yk_checkpoint_info *yk_checkpoint_get_info(const yk_checkpoint *checkpoint);

typedef struct yk_run_options {
    yk_recorder *recorder; /* NULL: nothing is recorded */
    const char *command;   /* the command line, for the record; may be NULL */
    /* Approximate number of frames of the scene, and one at the end; 0: none. Fewer if they would
     * need more than 256 MB. */
    int frame_count;
    int max_contacts_per_frame; /* largest number of contact points of each subsystem in a frame */
    /* Called a few times per second; false stops the run with YK_INTERRUPTED, and the record is
     * complete up to there. */
    bool (*progress)(void *user, const yk_run_progress *progress);
    void *user;
    /* File and interval of checkpoints (see yk_scenario_info); one is also written when `progress`
     * stops the run. Requires subsystems whose state can be saved, and a recorder that can resume.
     * NULL: none. A run that reaches its end removes them. A run that does not, and has written
     * any, also leaves its record open, as the journals of its recorder. A new run is rejected
     * (YK_ERROR_FILE) if there is a checkpoint with this name. */
    const char *checkpoint_path;
    yk_checkpoint_unit checkpoint_unit;
    double checkpoint_interval;
    const char *note; /* a text for the resumed run; may be NULL */
    /* Continues from there, in a scenario that was loaded from its text; NULL: from the start.
     * Command, frames and record must be those of the run that wrote it. */
    const yk_checkpoint *resume_from;
    /* Description of the scenario: the remedies of a run that is not trustworthy are then tried
     * before they are recommended, which may take twice as long as the run, at least 4 s and at
     * most one minute of processor time; `progress` is called during the trials too. NULL: no
     * trials. */
    const yk_scenario_def *remedy_scenario;
    /* Source of the scenario, to estimate the error of the run by companion runs with other steps:
     * half and twice the steps of a short run, else up to 32 times the steps. They take about 10 %
     * of the time of a run that is clearly good, and at most 1 s or that time again. NULL: no
     * estimate. */
    const yk_scenario_def *verdict_scenario;
    double error_tolerance; /* estimated error above which a run is not trustworthy; 0: 0.1 */
    /* Simulated time per wall time: 1 is real time. Each macro step ends at its time on the wall clock, or later if its work
     * takes too long. 0: as fast as possible. */
    double pace;
    /* Called after the last step: a text that says what the caller changed during the run, such as parameters. It becomes
     * the figure `changes` of the record, and yoke reproduce refuses such a record. NULL, also as its result: nothing. */
    const char *(*changes)(void *user);
} yk_run_options;

/* Findings about a run. The rules, with thresholds and reasons, are in docs/trust.md. */
typedef enum yk_finding_kind {
    YK_FINDING_GROWING_OSCILLATION, /* of an interface wrench; value: growth per macro step */
    /* value: energy created (negative: lost), relative to the reference energy */
    YK_FINDING_ENERGY_ERROR,
    /* value: residual relative to the impulse (relaxed: to the typical velocity) */
    YK_FINDING_NOT_CONVERGED,
    YK_FINDING_DRIFT,          /* value: gap at the end (m or rad) */
    YK_FINDING_ALGEBRAIC_LOOP, /* value: mass ratio at the step of the scenario */
    YK_FINDING_MASS_RATIO,     /* value: mass of the motion side / mass of the wrench side */
    /* value: velocity gap relative to the velocity, or position gap relative to the travel */
    YK_FINDING_INTERFACE_GAP,
    YK_FINDING_CONTACT_RESIDUAL, /* value: impulses that contacts miss, by those that they exchange */
    YK_FINDING_PENETRATION,      /* value: depth (m) */
    YK_FINDING_RUN_FAILED,       /* value: time reached (s) */
    YK_FINDING_RECOVERED,        /* value: number of failures */
    YK_FINDING_EMITTER_SHORTFALL, /* value: fraction of the particles due */
    YK_FINDING_WIRE_LOOP,         /* value: loop gain; NaN: unknown */
    /* value: estimated error relative to the range of the worst channel */
    YK_FINDING_ESTIMATED_ERROR,
    /* value: difference of displacement and integrated velocity, relative to the travel */
    YK_FINDING_INCONSISTENT_MOTION,
    /* value: change of a side's velocity at the start without an impulse, by its share of the mass */
    YK_FINDING_INCONSISTENT_START,
    YK_FINDING_COUNT
} yk_finding_kind;

/* Name of a kind as in records and documents, such as "energy_error"; NULL if there is none. */
const char *yk_finding_kind_name(yk_finding_kind kind);

typedef enum yk_finding_severity {
    YK_FINDING_SEVERITY_WARNING,
    YK_FINDING_SEVERITY_SERIOUS /* the run is not trustworthy */
} yk_finding_severity;

/* Cause of a finding, for kinds with several causes. */
typedef enum yk_finding_cause {
    YK_CAUSE_DEFAULT,
    YK_CAUSE_ROTATION,         /* interface_gap, drift */
    YK_CAUSE_POSITION,         /* interface_gap */
    YK_CAUSE_COUPLING_CREATES, /* energy_error */
    YK_CAUSE_COUPLING_DESTROYS,
    YK_CAUSE_INTEGRATION_CREATES,
    YK_CAUSE_INTEGRATION_DESTROYS,
    YK_CAUSE_RUNAWAY,
    YK_CAUSE_INTEGRATION_RUNAWAY,
    YK_CAUSE_ITERATION_LIMIT, /* not_converged */
    YK_CAUSE_LOOSE_TOLERANCE,
    YK_CAUSE_SWEEP_LIMIT,
    YK_CAUSE_UNSTABLE, /* algebraic_loop, mass_ratio */
    YK_CAUSE_NO_CONVERGENCE,
    YK_CAUSE_UNSTABLE_SPRINGS,
    YK_CAUSE_NO_CONVERGENCE_SPRINGS,
    YK_CAUSE_STEPS_REPEATED, /* recovered */
    YK_CAUSE_SCHEME_SWITCHED,
    YK_CAUSE_REGION_FULL, /* emitter_shortfall */
    YK_CAUSE_CAPACITY_REACHED,
    YK_CAUSE_LOOP_GROWS, /* wire_loop */
    YK_CAUSE_LOOP_CONVERGES,
    YK_CAUSE_LOOP_COUPLED,
    YK_CAUSE_CONTACTS_CREATE_ENERGY, /* contact_residual */
    YK_CAUSE_UNPREDICTABLE,          /* estimated_error */
    YK_CAUSE_UNBOUNDED,
    YK_CAUSE_STATISTICS,
    YK_CAUSE_DISSIPATION
} yk_finding_cause;

enum { YK_REMEDIES_MAX = 3, YK_REMEDY_OVERRIDES_MAX = 3 };

typedef enum yk_remedy_kind {
    YK_REMEDY_OVERRIDES,   /* of values of the scenario: the overrides, all of them together */
    YK_REMEDY_RUN_ADVISE,  /* another scheme or step, found by yk_advise() */
    YK_REMEDY_SMALLER_STEP /* a smaller step; yk_study_convergence() shows a sufficient one */
} yk_remedy_kind;

/* A remedy of a finding. */
typedef struct yk_remedy {
    yk_remedy_kind kind;
    int override_count;
    char overrides[YK_REMEDY_OVERRIDES_MAX][160]; /* "coupling.scheme=tight" */
    /* s: a run with them had no serious finding up to this time; 0: not tried. */
    double verified_until;
    /* of that run, relative to the range of its worst channel; NaN: unknown */
    double estimated_error;
} yk_remedy;

/* A measured number of a finding. */
typedef struct yk_finding_number {
    const char *name;
    double value; /* SI units */
} yk_finding_number;

enum { YK_FINDING_NUMBERS_MAX = 6 };

typedef struct yk_finding {
    yk_finding_kind kind;
    yk_finding_cause cause;
    yk_finding_severity severity;
    yk_subsystem_id subsystem;                         /* null: none */
    yk_interface_id interface_index;                   /* null: none */
    double time;                                       /* s, its start; NaN: the whole run */
    double value;                                      /* see yk_finding_kind */
    double limit;                                      /* of the value; NaN: none */
    yk_finding_number figures[YK_FINDING_NUMBERS_MAX]; /* up to a name that is NULL */
    char detail[256];  /* further text, such as the message of a failed step */
    char message[512]; /* all of the above as text, without a full stop */
    int remedy_count;
    yk_remedy remedies[YK_REMEDIES_MAX]; /* each one alone is sufficient; the best first */
} yk_finding;

/* A number of a finding by its name; also "value", "limit" and "time". NaN if there is none. */
double yk_finding_figure(const yk_finding *finding, const char *name);

enum { YK_FINDINGS_MAX = 16 };

/* The estimated error of a run in its worst recorded channel. */
typedef struct yk_error_estimate {
    bool available;
    char reason[200];      /* reason why it is not known; "" if it was not requested */
    double relative_error; /* largest error relative to the range of the channel */
    char channel[160];     /* the worst channel; "" if nothing that is recorded moves */
    /* Names of subsystems with steps of their own, whose error is not included; "": none. */
    char uncovered[160];
    /* the differences of the companion runs decrease as expected for a method */
    bool regular;
    double order;          /* observed; NaN: unknown */
    double reliable_until; /* s: the error exceeds the tolerance later; infinite: never */
    /* Largest difference of a mean or rms, relative to the range, and its channel, and of the
     * dissipated energy, relative to it, from the run with the nearest steps; NaN: unknown. They
     * are judged if contact makes single trajectories unpredictable (`by_statistics`). */
    double statistics_error;
    char statistics_channel[160];
    double dissipation_error;
    bool by_statistics;
    int run_count;        /* companions */
    double cpu_time;      /* s, of the companions, with loading them */
    double relative_cost; /* that time, relative to the processor time of the run */
} yk_error_estimate;

/* How well a paced run followed the wall clock. */
typedef struct yk_pace_report {
    double factor;            /* simulated time per wall time; 0: the run was not paced */
    int64_t overruns;         /* macro steps that ended after their time on the wall clock */
    double largest_lateness;  /* s, by which a step ended too late */
    double longest_step;      /* s, wall: work of a macro step, with its record */
    double longest_step_time; /* s, simulated, at the end of that step */
} yk_pace_report;

typedef struct yk_run_report {
    int64_t step_count; /* macro steps taken */
    double time;        /* s, reached */
    double wall_time;   /* wall time (s) */
    /* J: initial kinetic energy, potential energy released since, work supplied from outside */
    double reference_energy;
    /* by coupling and integration, as a fraction of that; negative: lost; infinite: not finite;
     * NaN: no subsystem reports its energy */
    double spurious_energy;
    /* J: kinetic, and the range of the potential, of all subsystems that report it */
    double max_energy;
    double energy_rounding;   /* J: of the energies and works of the run; smaller values are zero */
    double energy_created;    /* J, by all interfaces: their part of the spurious energy */
    double dissipated_energy; /* J, in all subsystems */
    /* motion side / wrench side at the start, largest of all interfaces; NaN: unknown */
    double mass_ratio;
    bool record_is_complete; /* the record has an end */
    bool can_resume; /* the run or its record did not end; it can be resumed from a checkpoint */
    /* of the final state (yk_system_state_hash): equal runs have equal hashes */
    uint64_t state_hash;
    yk_pace_report pace;
    yk_error_estimate estimate;
    int finding_count;
    yk_finding findings[YK_FINDINGS_MAX];
} yk_run_report;

/* Runs a scenario from start to end. The record of a run that fails extends to the failure, and
 * contains its message. A run of which some steps did not converge ends with YK_NOT_CONVERGED.
 * Without options nothing is recorded; the report may be NULL. */
yk_status yk_run(yk_context *context, yk_scenario *scenario, const yk_run_options *def,
                 yk_run_report *report);

/* Quality of the contact solution of a run: the largest violation of the contact conditions in any
 * step, as a velocity in m/s. False: the subsystem has no contacts. */
bool yk_run_max_contact_residual(yk_scenario *scenario, yk_subsystem_id subsystem,
                                 double *residual);

/* Accuracy of a run ---------------------------------------------------------------------------- */

/* Method by which a bar was found. */
typedef enum yk_accuracy {
    YK_ACCURACY_MEASURED_ORDER, /* differences decrease from run to run: a measured order */
    YK_ACCURACY_ROUNDING,       /* all runs agree within rounding errors */
    /* the channel jumps, and at a jump the error is the jump: the mean error decreases */
    YK_ACCURACY_DISCONTINUOUS,
    YK_ACCURACY_ASSUMED_ORDER, /* two runs only: order 1 is assumed */
    YK_ACCURACY_UPPER_BOUND,   /* differences do not decrease regularly: a bound from the largest */
    /* unpredictable: differences are as large as the motion, at any step size */
    YK_ACCURACY_UNPREDICTABLE
} yk_accuracy;

/* The error of one recorded channel, of all its components together. */
typedef struct yk_channel_error {
    const char *name, *unit;
    yk_accuracy accuracy;
    double max_error; /* largest error bar, in the channel's unit */
    /* the same, relative to the channel's range (of a vector: of the component with the largest
     * motion) */
    double relative_to_range;
    double relative_mean; /* mean error relative to the channel's mean deviation from its mean */
    /* decisive error: the larger of relative and mean; for channels that jump, the mean */
    double error;
    double range;             /* largest minus smallest value, in the channel's unit */
    double max_abs;           /* largest absolute value */
    double order;             /* observed: log2 of the ratio between runs; NaN: none */
    double predictable_until; /* s: unpredictable from here on; infinite: predictable */
    /* excluded: a gap or created energy, which are errors themselves, or a channel at rest */
    bool excluded;
} yk_channel_error;

typedef struct yk_accuracy_options {
    yk_scenario_def scenario;           /* of the run */
    const yk_scenario *loaded_scenario; /* the same, as it was run */
    const yk_record *record;            /* of the run */
    int jobs;                           /* runs at the same time; 0: one per core */
    bool (*progress)(void *user,
                     /* called at intervals; false stops, with the bars that are available then */
                     double fraction);
    void *user;
} yk_accuracy_options;

typedef struct yk_accuracy_report {
    /* false: a finer run failed, so that nothing bounds the error; the text names it */
    bool is_bounded;
    int refined_run_count; /* number of runs for the bars */
    int channel_count;     /* of channels, as in the record */
    yk_channel_error *channels;
    int worst_channel;               /* the channel with the decisive error; -1: none */
    double error;                    /* of that channel; 0 if there is none, infinite if unknown */
    const double *const *error_bars; /* per column of the record, with as many rows */
    char summary[512]; /* as text: "0.3 % of its range at h = 0.001 s (hinge.position), order 2" */
} yk_accuracy_report;

/* Work of the error bars of a run, as a multiple of the run. */
#define YK_ACCURACY_COST 6

/* Error bars for every recorded channel: the scenario is run again with half and a quarter of all
 * its steps, and with an eighth if the differences do not decrease regularly. The caller destroys
 * the report. A finer run that fails is a result and not an error. YK_INTERRUPTED: stopped before
 * there was a result. */
yk_status yk_estimate_accuracy(yk_context *context, const yk_accuracy_options *def,
                               yk_accuracy_report **report);
void yk_accuracy_report_destroy(yk_context *context, yk_accuracy_report *report);

/* Judges the run by its error bars: they take the place of the estimate in its report, which gets a
 * finding if the largest error is above the tolerance. `record` is that of the run. */
void yk_accuracy_judge(const yk_scenario *scenario, const yk_record *record,
                       const yk_accuracy_report *accuracy, double tolerance, yk_run_report *report);

/* Writes a record to a recorder together with the error bars of its channels, as channels
 * "error.NAME", and the values of the report in the summary. */
yk_status yk_accuracy_report_write(yk_context *context, const yk_record *record,
                                   const yk_accuracy_report *report, yk_recorder *recorder);

/* A number over several realizations of random numbers. */
typedef struct yk_spread {
    double mean;
    double deviation; /* standard deviation of a single run */
    double error;     /* half width of the 95 % confidence interval of the mean */
} yk_spread;

/* A component of a recorded channel. */
typedef struct yk_seed_statistic {
    char name[160];
    char unit[32];
    yk_spread mean, rms; /* over the run; the rms is that of deviations from the mean */
} yk_seed_statistic;

enum { YK_SEED_RUNS_MAX = 1000 };

typedef struct yk_seed_options {
    yk_scenario_def scenario;
    int run_count; /* number of runs, including the scenario itself; at least 2 */
    int jobs;      /* runs at the same time; 0: one per core */
    bool (*progress)(void *user,
                     double fraction); /* called at intervals; false stops; may be NULL */
    void *user;
} yk_seed_options;

typedef struct yk_seed_report {
    int run_count;
    bool is_random;      /* false: all runs are equal, since the scenario has no random numbers */
    int untrusted_count; /* runs with a serious finding of the coupling or of contacts */
    int statistic_count;
    yk_seed_statistic *statistics;
    yk_spread dissipated_energy; /* J */
} yk_seed_report;

/* Repeats a scenario with other seeds of its random numbers (packings, emitters, noise), and gives
 * error bars for statistics of the recorded channels. The caller destroys the report. */
yk_status yk_run_seeds(yk_context *context, const yk_seed_options *def, yk_seed_report **report);
void yk_seed_report_destroy(yk_seed_report *report);

/* Checks whether the masses and loops at the interfaces of a scenario are within the limits of its
 * scheme (YK_FINDING_MASS_RATIO, YK_FINDING_ALGEBRAIC_LOOP), before a run. The system must be
 * initialized; it is not changed. */
yk_status yk_check_coupling_limits(yk_context *context, yk_scenario *scenario,
                                   yk_run_report *report);

/* Convergence ---------------------------------------------------------------------------------- */

/* A scenario with some values changed: a scheme, an input, anything. */
typedef struct yk_variant {
    const char *name;
    const char *const *overrides; /* "coupling.scheme=tight" */
    int override_count;
} yk_variant;

typedef enum yk_reference {
    YK_REFERENCE_AUTO,       /* monolithic if the subsystems can be merged, otherwise the finest */
    YK_REFERENCE_MONOLITHIC, /* the subsystems merged to one */
    YK_REFERENCE_FINEST      /* the last variant */
} yk_reference;

/* Processes that share the runs of an analysis. Each of them calls the same analysis with its own
 * rank. Only the results on rank 0 are valid. */
typedef struct yk_process_group {
    int rank, count;
    /* One message of plain bytes to a rank. */
    yk_status (*send)(void *user, int to, const void *bytes, size_t count);
    /* Waits for a message for at most this time (s), and returns its sender and its size;
     * YK_INTERRUPTED: none has arrived. */
    yk_status (*probe)(void *user, double seconds, int *from, size_t *count);
    yk_status (*receive)(void *user, int from, void *bytes, size_t count);
    void *user;
    /* s; a rank that takes longer for a run, and ten times longer than the longest run, is presumed
     * lost: rank 0 makes that run itself. 0: wait without limit. */
    double timeout;
} yk_process_group;

typedef struct yk_convergence_options {
    yk_scenario_def scenario;
    const yk_variant *variants;
    int variant_count;   /* 0: the unchanged scenario */
    const double *steps; /* s, descending; without an exact solution, all must divide the first */
    int step_count;
    const char *const
        *channels; /* compared channels; none: position and velocity of all interfaces */
    int channel_count;
    /* exact solution of the one channel's first component: an expression of t and the parameters */
    const char *exact_expression;
    yk_reference reference; /* otherwise: a run with a quarter of the finest step */
    int jobs;               /* runs at the same time; 0: one per core */
    /* processes that share the runs, one run per rank at a time; NULL: this process only */
    const yk_process_group *team;
    /* Called after each run; false: no further run begins. */
    bool (*progress)(void *user, int done, int total);
    void *user;
} yk_convergence_options;

yk_convergence_options yk_convergence_options_default(void);

typedef enum yk_run_outcome {
    YK_OUTCOME_OK,
    YK_OUTCOME_NOT_CONVERGED, /* iterations of some steps */
    YK_OUTCOME_UNSTABLE,      /* it reached its end, but is not trustworthy (see yk_finding) */
    YK_OUTCOME_FAILED
} yk_run_outcome;

typedef struct yk_convergence_row {
    int variant;
    double step; /* s */
    /* Exact: relative L1 error over the run (Zhang et al. 2022, equation 47; Zhang et al. 2020,
     * equation 34). Otherwise the same at the times of the coarsest run, relative to the deviation
     * of the reference from its mean, for the worst channel. */
    double error;
    double max_error; /* largest absolute error, in the channel's unit */
    /* observed, from the previous row; NaN in the first row and if there is none */
    double order;
    bool below_reference_error; /* the error cannot be distinguished from that of the reference */
    int64_t step_count;         /* macro steps */
    int64_t iteration_count;    /* sweeps over all subsystems */
    int64_t call_count;         /* of all subsystems */
    double wall_time, wall_time_per_step; /* wall time, including recording */
    yk_run_outcome outcome;
    char message[768]; /* if the outcome is not YK_OUTCOME_OK */
} yk_convergence_row;

typedef struct yk_convergence_report {
    yk_reference reference; /* the reference used */
    /* of the reference itself, from a run with twice its step; 0 if exact */
    double reference_error;
} yk_convergence_report;

/* Runs the scenario once per variant and step, in parallel: rows[variant * step_count + step]. A
 * run that fails has its reason in its row; only a failed reference is an error. */
yk_status yk_study_convergence(yk_context *context, const yk_convergence_options *def,
                               yk_diagnostics *diagnostics, yk_convergence_row *rows,
                               yk_convergence_report *report);

/* Sweeps --------------------------------------------------------------------------------------- */

/* One value of the scenario that is varied, with all its values in the form of an override after
 * `=`. */
typedef struct yk_sweep_axis {
    const char *path; /* "subsystems.damper.height" */
    const char *const *values;
    int count;
} yk_sweep_axis;

enum { YK_SWEEP_UNIT_MAX = 32 };

typedef struct yk_sweep_options {
    yk_scenario_def scenario;
    const yk_sweep_axis *axes; /* every combination is run, the last axis fastest */
    int axis_count;
    /* "rms(tip.position.y, 1, 2)": rms, mean, deviation, min, max, peak, amplitude, final or
     * frequency of (channel, from, to), or line(channel, frequency, from, to); the times are
     * optional. "radius" and "coupling" are the numbers of yk_stability_report. */
    const char *const *measures;
    int measure_count;
    const struct yk_stability_options *stability; /* options of these two; NULL: the defaults */
    int jobs;                                     /* runs at the same time; 0: one per core */
    /* processes that share the runs, one run per rank at a time; NULL: this process only */
    const yk_process_group *team;
    /* file with finished runs, so that a sweep can be stopped and resumed; NULL: none */
    const char *journal;
    /* Divides a sweep into independent parts, such as the tasks of an array job: part 1 to `parts`
     * makes every parts-th run and stores it in JOURNAL.PART. Part 0 gathers the journals of all,
     * and makes the missing runs. 0 parts: not divided. */
    int part_index, part_count;
    /* Receives the units of the axes, then those of the measures, "" for pure numbers and if
     * unknown; NULL: not needed. */
    char (*units)[YK_SWEEP_UNIT_MAX];
    /* Called after each run; false: no further run begins. */
    bool (*progress)(void *user, int done, int total);
    void *user;
} yk_sweep_options;

/* Number of combinations; 0 if there are none, or too many to count. */
int yk_sweep_run_count(const yk_sweep_options *def);
/* The value of an axis in a run. */
const char *yk_sweep_value(const yk_sweep_options *def, int run, int axis);

/* Runs all combinations: results[run * measure_count + measure]. A run that fails has NaN, and the
 * context's log has its reason. Runs in the journal with the same scenario and measures are not
 * repeated. */
yk_status yk_sweep(yk_context *context, const yk_sweep_options *def, yk_diagnostics *diagnostics,
                   double *results);

/* Stability ------------------------------------------------------------------------------------ */

/* Response of the macro step of a system to small deviations, from the running system itself: for
 * any scheme and subsystems, the step map is differentiated by central differences about a state of
 * a run, and its eigenvalues are computed. An eigenvalue with a modulus above 1 is a deviation that
 * grows with every macro step.
 *
 * A comparison decides whether the coupling or the motion causes the growth. Growth of the motion
 * itself, such as that of a falling pendulum, has a rate per second that does not depend on step
 * and scheme. So the rate is compared with that of a reference, the subsystems merged or coupled as
 * tightly as possible, at finer steps; and with that of the scheme itself at half and a quarter of
 * its step. See docs/trust.md. */
typedef struct yk_stability_options {
    /* s, of the state about which the step is linearized; NaN: after `settle` macro steps */
    double time;
    int settle_steps;
    bool
        /* search for a state of rest near it first, with constant external loads */
        find_equilibrium;
    /* macro steps over which the growth is checked against a second run; 0: none */
    int track_steps;
    /* without a time: number of states along the run, 1 to YK_STABILITY_SAMPLES_MAX */
    int sample_count;
    /* for an unstable coupling: search for a stable scheme and step */
    bool find_remedies;
    /* approximate limit of processor time; other programs do not change the result */
    double cpu_time_budget;
    /* Receives the next stage as text; may be NULL. */
    void (*progress)(void *user, const char *what);
    void *user;
} yk_stability_options;

/* One state after 20 steps, not at rest, 80 steps of twin run, no remedies, 60 s. */
yk_stability_options yk_stability_options_default(void);

typedef enum yk_verdict {
    YK_VERDICT_STABLE,
    /* deviations grow, but not because of the coupling: the motion itself is unstable or chaotic */
    YK_VERDICT_UNSTABLE_MOTION,
    YK_VERDICT_UNSTABLE_COUPLING, /* a deviation grows because of the coupling */
    /* the run breaks down, and that of a reference does not: the coupling is unstable */
    YK_VERDICT_COUPLING_BREAKDOWN,
    /* a subsystem alone is unstable at this step, because of its own integrator */
    YK_VERDICT_UNSTABLE_SOLVER,
    /* deviations grow, and `reason` tells why the cause is unknown */
    YK_VERDICT_UNDECIDED
} yk_verdict;

/* Whether the computation makes a run unstable: the coupling or a solver. */
bool yk_verdict_is_unstable(yk_verdict verdict);

enum { YK_STABILITY_MODES_MAX = 6, YK_STABILITY_SAMPLES_MAX = 3, YK_STABILITY_RATES_MAX = 3 };

typedef struct yk_stability_mode {
    double real, imaginary;    /* eigenvalue of a macro step, imaginary part >= 0 */
    double growth;             /* its modulus: factor per macro step */
    double error;              /* of the modulus, estimated from differences of several sizes */
    double rate;               /* 1/s */
    double frequency;          /* Hz; half the sampling rate: the sign changes with every step */
    yk_interface_id interface; /* interface that does most work on it; null: none */
    yk_subsystem_id subsystem; /* subsystem with the largest kinetic energy; null: unknown */
    double kinetic_fraction;   /* of the kinetic energy, in that subsystem */
    char moving_bodies
        /* the bodies or ports with the largest motion, "beam.n_20, damper.container"; "": unknown */
        [160];
} yk_stability_mode;

/* The largest growth of deviations in runs with one macro step. */
typedef struct yk_stability_rate {
    double step;  /* s */
    double rate;  /* 1/s; infinite: the run breaks down before the state */
    double error; /* 1/s */
} yk_stability_rate;

typedef struct yk_stability_report {
    /* the worst of all analyzed states; the following members refer to that state */
    yk_verdict verdict;
    double time; /* s, of the state */

    double spectral_radius,
        spectral_radius_error; /* spectral radius and its error; infinite if the run broke down */
    /* growth per step of the first mode along the run itself; NaN if not requested */
    double tracked_growth;
    /* factor by which a deviation grew during three time constants of its growth; NaN if not
     * requested */
    double run_growth;
    /* Growth per macro step of the mode driven by the coupling or a solver; at most 1 if there is
     * none; undecided: NaN. */
    double coupling_growth;

    /* Growth per second on which the verdict is based: of the scheme at its step and, if compared,
     * at half and a quarter of it; of the reference, whose growth is that of the motion. */
    int rate_count;
    yk_stability_rate rates[YK_STABILITY_RATES_MAX];
    char reference[64]; /* "monolithic", "tight, quasi-newton"; "" if there was none */
    yk_stability_rate reference_rate;

    /* the factor per step is constant as the step decreases: no step is small enough */
    bool unstable_at_every_step;
    /* s, the longest tried step without the coupling's growth; NaN: none */
    double stable_step;
    /* Overrides that were tried and are stable: "coupling.scheme=tight
     * coupling.acceleration=quasi-newton"; "" */
    char remedy[400];
    double remedy_radius;               /* growth per macro step with these */
    char reason[400];                   /* of verdicts undecided and failed; "" */
    yk_subsystem_id unstable_subsystem; /* with the verdict solver; otherwise null */
    int critical_mode;                  /* the mode on which the verdict is based */

    int sample_count; /* number of analyzed states */
    struct {
        double time; /* s */
        double radius;
        yk_verdict verdict;
    } samples[YK_STABILITY_SAMPLES_MAX];

    size_t state_size;    /* continuous words of the state */
    int krylov_dimension; /* of the space in which eigenvalues were computed */
    /* of the first mode: |A v - lambda v| / |lambda| of the differentiated map */
    double residual;
    int64_t step_count; /* total number of macro steps, including those of comparisons */
    /* steps of the scheme itself whose iterations did not converge */
    int64_t steps_not_converged;
    int mode_count;
    yk_stability_mode modes[YK_STABILITY_MODES_MAX]; /* descending in growth */
} yk_stability_report;

/* Analyzes the system of the scenario from its start, to which it returns. A run that breaks down
 * is a result (verdict failed, with the message in yk_last_message()), not an error. */
yk_status yk_analyze_stability(yk_context *context, yk_scenario *scenario,
                               const yk_stability_options *def, yk_stability_report *report);

/* Spectral radius of the macro step of a linear system about rest, word by word of the state image:
 * sufficient for maps of the two-mass oscillator. A step that does not converge ends it with
 * YK_NOT_CONVERGED unless `accept` is set. The system returns to its start. */
yk_status yk_spectral_radius(yk_context *context, yk_system *system, bool accept_unconverged,
                             double *radius);

/* Equations (37), (38) of Zhang et al. 2022; exact: by the matrix exponential. */
typedef enum yk_two_mass_integrator {
    YK_TWO_MASS_TWO_STEP,
    YK_TWO_MASS_SEMI_IMPLICIT,
    YK_TWO_MASS_EXACT
} yk_two_mass_integrator;

/* The two-mass oscillator, the test equation of coupling schemes (Zhang et al. 2022, section 4.1;
 * Zhang et al. 2020, section 4), in dimensionless form: mass 1 is the wrench side, mass 2 the
 * motion side. */
typedef struct yk_two_mass_model {
    double rho_inf;         /* of the two-step method */
    double omega_h;         /* natural frequency of mass 1 alone times the macro step */
    double mass_ratio;      /* m2 / m1 */
    double frequency_ratio; /* omega2 / omega1 */
    double damping;         /* damping ratio xi1 of mass 1 */
    double damping_ratio;   /* xi2 / xi1 */
    yk_two_mass_integrator integrators[2];
    yk_scheme_def scheme;
    /* the radius is that of all allowed repetitions of the scheme, converged or not */
    bool fixed_iterations;
} yk_two_mass_model;

/* rho_inf 0.6, omega_h 0.1, equal masses, no spring or damper on mass 2; two-step and
 * semi-implicit; the default scheme. The map of a scheme that iterates depends on its tolerances,
 * relative to deviations of size 1. */
yk_two_mass_model yk_two_mass_default(void);

/* The names of the six numbers above, as on the command line ("rho-inf", "omega-h", ...);
 * NULL-terminated. */
const char *const *yk_two_mass_parameter_names(void);
/* The number with that name; NULL if there is none. */
double *yk_two_mass_find_parameter(yk_two_mass_model *model, const char *name);

yk_status yk_two_mass_radius(yk_context *context, const yk_two_mass_model *model, double *radius);

/* One axis of a map: `count` values from first to last, evenly spaced (or by equal ratios). */
typedef struct yk_map_axis {
    const char *parameter;
    double first, last;
    int count;
    bool is_logarithmic;
} yk_map_axis;

double yk_map_axis_value(const yk_map_axis *axis, int index);

/* Spectral radius up to which a point of a map counts as stable: 1 except for rounding errors
 * (Zhang et al. 2020, section 4.3). */
#define YK_SPECTRAL_RADIUS_LIMIT (1 + 1e-6)

/* Radii over two parameters: radii[j * x.count + i] at x value i and y value j. Infinite if the
 * scheme does not converge. `progress` (may be NULL) receives the finished fraction. */
yk_status yk_two_mass_map(yk_context *context, const yk_two_mass_model *model, const yk_map_axis *x,
                          const yk_map_axis *y, double *radii,
                          void (*progress)(void *user, double fraction), void *user);

/* Stable fraction of the radii. */
double yk_stable_fraction(const double *radii, size_t count);

/* Advice --------------------------------------------------------------------------------------- */

/* Recommendation of a scheme and step: all schemes of the program are tried on a part of the
 * scenario, from coarse to fine steps, the cheapest first, and compared with a reference whose own
 * error is known. The cheapest that meets the tolerance is verified over the whole scenario, or as
 * far as the time allows. */
typedef struct yk_advice_options {
    yk_scenario_def scenario;
    double tolerance; /* acceptable error, as in yk_channel_error, of the worst channel */
    double duration; /* s, from the start; NaN: as long as the time allows, at most the whole run */
    /* approximate limit of processor time per job; on a busy machine the wall time is longer. NaN:
     * about ten runs of the scenario in total, but at least 5 s in total and at most 60 s per job */
    double cpu_time_budget;
    const char *const *
        /* compared channels; none: position and velocity of all interfaces, and recorded channels */
        channels;
    int channel_count;
    int jobs; /* number of schemes tried in parallel; 0: one per core */
    bool (*progress)(void *user, int done, int total); /* percent of the time; false stops */
    void *user;
} yk_advice_options;

/* Tolerance 0.01, automatic time limit. */
yk_advice_options yk_advice_options_default(void);

typedef enum yk_advice_outcome {
    YK_ADVICE_ACCEPTED,   /* meets the tolerance */
    YK_ADVICE_INACCURATE, /* does not, with any tried step */
    YK_ADVICE_UNSTABLE,   /* the coupling creates energy, or makes a deviation grow */
    YK_ADVICE_FAILED,     /* the run broke down, or a capability is missing */
    YK_ADVICE_NOT_TRIED   /* the time limit was reached */
} yk_advice_outcome;

enum { YK_ADVICE_ROWS_MAX = 32, YK_ADVICE_OVERRIDES_MAX = 8 };

typedef struct yk_advice_row {
    char name[48];
    /* Overrides of the scenario for this row: "coupling.scheme=tight". */
    int override_count;
    char overrides[YK_ADVICE_OVERRIDES_MAX][64];
    yk_advice_outcome outcome;
    double step; /* s: the coarsest that meets the tolerance, otherwise the last tried one */
    /* of the worst channel: its difference from the reference plus the error of the reference */
    double error;
    char worst_channel[160]; /* that channel */
    /* of the whole run, computed from the steps of subsystems and their cost */
    double wall_time;
    int64_t call_count;     /* of subsystems, for the whole run */
    double spurious_energy; /* as in the report of a run */
    char message[768];      /* reason of a failure, or remarks; "" */
} yk_advice_row;

typedef struct yk_advice_report {
    int count;
    /* rows that meet the tolerance first, by cost; then by error */
    yk_advice_row rows[YK_ADVICE_ROWS_MAX];
    /* the cheapest that couples instead of merging; -1: none meets the tolerance */
    int best_row;
    int override_count; /* overrides of the best row: "time.step=1e-3" */
    char overrides[YK_ADVICE_OVERRIDES_MAX][64];
    char reference[64];           /* the reference used */
    int reference_refinement;     /* its step: this fraction of the scenario's */
    double reference_error;       /* of the reference, in its worst channel */
    int unresolved_channel_count; /* channels that are not accurate enough in the reference */
    char unresolved_channel[160]; /* one of them */
    double duration;              /* s, compared part of the run */
    double predictable_until;     /* s, the motion is chaotic and not known later; 0: it is known */
    double verified_until;        /* s, time up to which the best row meets the tolerance */
    double cpu_time;              /* processor time (s), divided by the number of jobs */
    double run_time;              /* s, estimated processor time of the unchanged scenario */
    yk_run_report run_report;     /* findings of the best over that time */
    bool has_stability;           /* whether there was time for the stability of the best */
    yk_stability_report stability;
} yk_advice_report;

yk_status yk_advise(yk_context *context, const yk_advice_options *def, yk_diagnostics *diagnostics,
                    yk_advice_report *advice);

/* Linear models -------------------------------------------------------------------------------- */

/* The coupled system, linearized about a state:
 *
 *   x' = A x + B u,   y = C x + D u
 *
 * with the deviations x of states, u of inputs and y of outputs from their values at that state.
 *
 * The model is identified from the running system, so it covers all solvers, FMUs and plug-ins that
 * can return to an earlier state. Contacts keep the state that they have. Small
 * deviations are followed over some macro steps, until they are motions that the system itself can
 * make. As many independent positions, velocities and other channels as these motions have degrees
 * of freedom become the states. The step from one of their values to the next gives A by the
 * bilinear transformation. This is repeated with half the step, and extrapolated to a step of zero;
 * the change is the error. */
typedef struct yk_linearize_options {
    double time;           /* s, of the state; NaN: the start */
    bool find_equilibrium; /* search for a state of rest near it first, with constant loads */
    /* Linearize with the scheme of the scenario, whose coupling errors are then part of the model.
     * Otherwise the subsystems are merged, or coupled as tightly as possible. */
    bool keep_scheme;
    /* A component of a wrench on a body, "arm.crank.force.x" or "arm.crank.torque.z" (global axes,
     * at the origin of the body); an input of the system; or "parameters.NAME". */
    const char *const *inputs;
    int input_count;
    /* Channels, with or without a component ("arm.tip.position.x"). None: the recorded channels. */
    const char *const *outputs;
    int output_count;
    int mode_count;   /* number of the slowest modes whose error decides; 0: all */
    double tolerance; /* relative error of these modes for which no smaller step is tried */
    int max_halvings; /* of the step, 2 to 12 */
    /* Receives the next stage as text; may be NULL. */
    void (*progress)(void *user, const char *what);
    void *user;
} yk_linearize_options;

/* The start, the 6 slowest modes, tolerance 1e-6, at most 6 halvings. */
yk_linearize_options yk_linearize_options_default(void);

/* A name and unit of a state, input or output. */
typedef struct yk_linear_variable {
    char name[160];
    char unit[24]; /* "1" for pure numbers */
    double value;  /* at the state of linearization */
} yk_linear_variable;

typedef struct yk_linear_mode {
    double real, imaginary; /* eigenvalue of A (1/s), imaginary part >= 0 */
    double error;           /* of its modulus (1/s), estimated */
    double frequency;       /* Hz: imaginary part / 2 pi */
    double damping;         /* -real / modulus: 1 and above: no oscillation */
    bool is_free;           /* the modulus is zero within its error: a motion without resistance */
    /* The mode is too fast for the smallest step, or has no physical meaning: error above 10 %. */
    bool is_uncertain;
    /* eigenvector, as deviations of the states; the imaginary part is zero for real modes */
    const double *shape_real, *shape_imaginary;
} yk_linear_mode;

typedef struct yk_linear_model {
    yk_context *context;
    double time;     /* s, of the state */
    double step;     /* s, the smallest that was used */
    int order;       /* of the error in the step, by which the matrices were extrapolated */
    char scheme[64]; /* that coupled the subsystems */
    /* The states determine all motions. False: a subsystem has states that no channel shows, or the
     * motion is not smooth. */
    bool is_complete;
    int state_count, input_count, output_count;
    yk_linear_variable *states, *inputs, *outputs;
    double *a, *b, *c, *d; /* row-major */
    int mode_count;
    yk_linear_mode *modes; /* by ascending modulus; a pair of complex modes counts once */
    double *shapes;        /* memory of the modes */
    int64_t step_count;    /* number of macro steps that were needed */
} yk_linear_model;

/* YK_ERROR_CAPABILITY: a subsystem cannot return to an earlier state. YK_ERROR_ARGUMENT: unknown
 * input or output, or too many states. YK_ERROR_NO_SOLUTION: the decisive modes do not converge as the
 * step decreases. The diagnostics may be NULL. */
yk_status yk_linearize(yk_context *context, const yk_scenario_def *scenario,
                       yk_diagnostics *diagnostics, const yk_linearize_options *options,
                       yk_linear_model **model);
void yk_linear_model_destroy(yk_linear_model *model);

/* The transfer functions from all inputs to all outputs at one frequency (Hz):
 * C (2 pi i f - A)^-1 B + D, row-major by output and input. YK_ERROR_SINGULAR: an undamped mode has
 * this frequency. */
yk_status yk_linear_model_response(const yk_linear_model *model, double frequency, double *real,
                                   double *imaginary);

/* Writes the model. The ending of the name selects the format:
 * .mat  MATLAB file (version 5) with A, B, C, D, names and units
 * .csv  one table [A B; C D] with the names of its rows and columns */
yk_status yk_linear_model_write(const yk_linear_model *model, const char *path);

/* Freedoms ------------------------------------------------------------------------------------- */

/* Motions that interfaces prescribe to a subsystem. */
typedef struct yk_prescribed_dofs {
    int prescribed_count;
    /* independent ones of them that its own joints leave free */
    int independent_count;
} yk_prescribed_dofs;

/* For a subsystem to which interfaces prescribe motions, at the start; YK_ERROR_CAPABILITY: its
 * solver has no interface model. */
yk_status yk_scenario_prescribed_dofs(yk_context *context, const yk_scenario_def *def,
                                      yk_subsystem_id subsystem, yk_prescribed_dofs *freedoms);

#ifdef __cplusplus
}
#endif

#endif
