/* What goes with a run (run.c). It is watched, and findings with their remedies follow from what was
 * seen; it is shown, and it can be taken up again.
 *
 *   energy       what coupling and integration made or lost, beside what moves (energy_check.c)
 *   ripple       wrenches that swing from step to step (growing_oscillation.c)
 *   limits       mass ratios and loops that the scheme does not bear, before the run (mass_ratio.c)
 *   watch        all of them, and gaps and iterations, as findings (findings.c)
 *   scene        what the system looks like (scene.c)
 *   checkpoints  all that it takes to go on with a run (checkpoint.c) */
#ifndef YK_ANALYSIS_RUN_H
#define YK_ANALYSIS_RUN_H

#include "yoke/analysis.h"

/* Energy --------------------------------------------------------------------------------------- */

enum { YK_BUDGET_WINDOWS = 64 };

typedef struct yk_budget {
    yk_system *system;
    const yk_scenario_info *info;
    int64_t stride, next; /* macro steps between looks */
    double start_kinetic, start_potential;
    double released, fed; /* largest so far */
    double dissipated;    /* at the last look */
    double rounding;      /* of the energies and works */
    double sound; /* J: energy at the start and fed in when no more than that had been made */
    double largest_kinetic, lowest_potential, highest_potential;
    bool moves;      /* a port moved by more than the rounding of its position */
    bool not_finite; /* an energy was */
    int exploding;   /* looks in a row at far more energy than there can be */
    /* Looks in a row at more energy than there can be in a good run, and at twice as much made as
     * at the look before; that. */
    int growing, doubling;
    double made;
    int count;
    /* Sums over windows of instants. */
    struct {
        int looks;
        double made, created; /* J: by interfaces and integration together; by interfaces alone */
        /* J: energy at the start and fed in by its end, at least what is not rounding */
        double scale;
    } windows[YK_BUDGET_WINDOWS];
} yk_budget;

/* After the start of the system. */
void yk_budget_open(yk_budget *budget, yk_system *system, const yk_scenario_info *info);
/* Whether values that were restored from a file are those of a budget that looks every `stride`
 * steps. */
bool yk_budget_is_valid(const yk_budget *budget, int64_t stride);
/* After a macro step, numbered from 1. */
void yk_budget_step(yk_budget *budget, int64_t step);

/* Whether an energy is infinite, or so large that nothing after it can be right; whether it is
 * about to become so, of a run that is looked at in every step. */
bool yk_budget_exploded(const yk_budget *budget);
bool yk_budget_runs_away(const yk_budget *budget);

/* What the run shows, as fractions of the energy at the start and fed in: what interfaces and
 * integration made, at the end or where it was largest for long; what was lost at the end. They are fractions of *scale (J); where more is made than there is, that is
 * as it was before. */
void yk_budget_conclude(const yk_budget *budget, double *made, double *lost, double *scale);

/* Ripple --------------------------------------------------------------------------------------- */

/* Windows of steps, and how many at the end of each are looked at. */
enum { YK_RIPPLE_WINDOW = 16, YK_RIPPLE_SEEN = 10 };

/* Windows in a row that are no accident. */
enum { YK_RIPPLE_ALARM = 4 };

typedef struct yk_ripple {
    int count; /* steps in this window */
    /* Of a wrench. */
    struct {
        double seen[YK_RIPPLE_SEEN]; /* its last values in this window */
        double before;               /* squared differences of the window before */
        double at_begin;             /* the same before the first of the windows in a row */
        int rising;                  /* windows in a row that swung by the law and grew */
    } components[6];
    /* Set before the first step: what the iterations of the coupling resolve (N or N m), and as a
     * fraction of the wrench. */
    double resolved, relative;
    double size;  /* largest force or torque of the interface */
    double swing; /* largest in the last window, as a fraction of it */
    /* The longest rise so far. */
    int longest;
    double growth; /* of the swing per macro step over it */
    double time;   /* s, at its end */
} yk_ripple;

/* Counts a step; true if its wrench is to be added. */
static inline bool yk_ripple_counts(yk_ripple *ripple)
{
    return ++ripple->count > YK_RIPPLE_WINDOW - YK_RIPPLE_SEEN;
}

/* Whether the wrench still swings by a fraction of itself that matters, and which that is. */
bool yk_ripple_matters(const yk_ripple *ripple);
double yk_ripple_limit(void);

/* Whether counts that were restored from a file are those of a ripple between two steps. */
bool yk_ripple_is_valid(const yk_ripple *ripple);

void yk_ripple_add(yk_ripple *ripple, const yk_wrench *wrench, double time);

/* Limits --------------------------------------------------------------------------------------- */

/* At the start of a system: the findings, and the mass ratio, into a report. What each interface
 * joins in `probes`, which may be NULL. */
yk_status yk_limits_find(yk_context *context, yk_system *system, const yk_scenario_info *info,
                         yk_run_report *report, yk_interface_masses *probes);

/* The largest ratio of masses that the scheme bears at an interface, whatever it has there, up to
 * YK_RATIO_MOST; NaN: it exchanges nothing that depends on masses. Takes a dozen trials. */
#define YK_RATIO_MOST 1e4
yk_status yk_limits_ratio(yk_context *context, yk_system *system, const yk_scenario_info *info,
                          int interface, double *limit);

/* Watch ---------------------------------------------------------------------------------------- */

/* One interface under watch. */
typedef struct yk_watched {
    yk_ripple ripple;
    yk_interface_masses probe; /* at the start, see mass_ratio.c */
    yk_vec3 origin;            /* of the wrench side, at the start */
    double travel;             /* largest distance from there, looked at now and then */
    /* Largest gaps up to a quarter and half of the run, and the travel by then. */
    yk_interface_gap quarter, half;
    double quarter_travel, half_travel;
    /* Sums of squares, now and then, of the velocity gap and of the velocity (m/s, rad/s). */
    double gap_squares, speed_squares;
    double spin_gap_squares, spin_squares;
    double force_squares, torque_squares;
    /* J: largest energy of the wrench side and of the motion side, potential energy relative to the
     * start. */
    double side_energy[2], initial_potential[2];
} yk_watched;

/* An algebraic loop that lags, by one of its wires. */
typedef struct yk_watched_loop {
    double last;                    /* value of the wire after the step before */
    double change_squares, squares; /* sums over all steps: of its changes, and of its values */
} yk_watched_loop;

typedef struct yk_watch {
    yk_context *context;
    yk_system *system;
    const yk_scenario_info *info;
    yk_budget budget;
    int64_t looks; /* that the sums of squares are of */
    int count; /* of interfaces; 0 where there are none, or the scheme has merged the subsystems */
    yk_watched *interfaces;
    int loop_count;
    yk_watched_loop *loops;
    yk_run_report *limits; /* findings of the start */
} yk_watch;

/* Whether the scheme of the scenario has a trait. */
bool yk_watch_has_trait(const yk_watch *watch, unsigned trait);
/* Tolerances of the iterations of the scheme (N or N m, and relative); 0 if it does not iterate. */
void yk_watch_tolerances(const yk_watch *watch, double *absolute, double *relative);

/* After the system has started; probes its interfaces once. Must be closed, whatever the status. */
yk_status yk_watch_open(yk_context *context, yk_system *system, const yk_scenario_info *info,
                        yk_watch *watch);
void yk_watch_close(yk_watch *watch);

/* After each macro step, numbered from 1. An error where the run has exploded: the energy is far
 * beyond all that there was and was fed in. */
yk_status yk_watch_step(yk_watch *watch, int64_t step);

/* Whether the coupling is about to run away, with the interface and the reason; the state before
 * the step is still good enough to go on from with another scheme. */
bool yk_watch_runs_away(const yk_watch *watch, char *reason, size_t capacity);

/* All that it has seen since the start, as 8-byte words; a watch that was opened on the same system
 * continues from them. Restoring checks them: YK_ERROR_INPUT if they are those of no watch, and the
 * watch may then only be closed. */
size_t yk_watch_words(const yk_watch *watch);
void yk_watch_save(const yk_watch *watch, double *words);
yk_status yk_watch_restore(yk_watch *watch, const double *words);

/* The findings of a run with its outcome, the most serious first, into the report, whose steps
 * and time must be known. */
void yk_watch_conclude(const yk_watch *watch, yk_status outcome, yk_run_report *report);

/* The number of a subsystem's channel with one component; -1 where there is none of this name. */
int yk_watch_find(const yk_scenario_info *info, int subsystem, const char *name);

/* Its present value; false where there is none. */
bool yk_watch_channel(yk_system *system, const yk_scenario_info *info, int subsystem,
                      const char *name, double *value);

/* Scene ----------------------------------------------------------------------------------------
 *
 * What a running system looks like, for the record: the scenes of its subsystems as one, in metres
 * and the axes of the system, and where everything is at the present time. */

typedef struct yk_scene {
    yk_context *context;
    const yk_system *system;
    const yk_scenario_info *info;
    const yk_watch *watch;
    yk_record_scene record; /* refers to the lists below and to names of the scenario */
    yk_record_body *bodies;
    yk_shape *shapes;
    yk_record_connection *links;
    yk_vec3 *points;
    /* What moves, once each. Its bodies begin at `first`. */
    struct moving {
        const yk_subsystem *subsystem;
        yk_transform transform;
        int first, count; /* bodies */
        int shapes;
        int contacts; /* in a frame at most */
    } * moving;
    int moving_count;
    int *
        told; /* channels of what is watched, YK_MONITOR_SUBSYSTEM_VALUES of each subsystem; -1: none */
    yk_scene_pose *poses;       /* of the largest of them */
    yk_contact_point *contacts; /* of all of them */
    float *frame;               /* the latest, see yk_frame_table */
} yk_scene;

/* After the system has started, with the watch over it. `contacts`: of a frame at most, for each
 * subsystem. Must be closed, whatever the status. */
yk_status yk_scene_open(yk_context *context, const yk_system *system, const yk_scenario_info *info,
                        const yk_watch *watch, int contacts, yk_scene *scene);
void yk_scene_close(yk_scene *scene);

/* The present time, into scene->frame. Allocates nothing. */
void yk_scene_read(yk_scene *scene);

/* Checkpoints ----------------------------------------------------------------------------------
 *
 * When they are due, what is in them, and how a run goes on from one. */

typedef struct yk_checkpointer {
    yk_context *context;
    const yk_run_options *def;
    yk_system *system;
    yk_watch *watch;
    const yk_scenario_info *info;
    char *scenario; /* as text */
    char *inputs;   /* as yk_scenario_inputs has them, of the run that began the record */
    size_t state_words, memory_words, watch_words;
    double *words; /* of all three */
    int64_t last_step;
    double last_time, last_clock;
    bool written; /* there is one to go on from */

    /* Of the checkpoint that the run is resumed from: whether it had converged until then, the time
     * that it had taken (s), and where its record is to go on. */
    bool converged;
    double seconds;
    yk_journal_position position;
} yk_checkpointer;

/* After the start of the system and its watch. YK_ERROR_CAPABILITY with the name of what cannot be
 * saved. */
yk_status yk_checkpointer_open(yk_context *context, const yk_run_options *def,
                               yk_scenario *scenario, yk_system *system, yk_watch *watch,
                               yk_checkpointer *made);
void yk_checkpointer_close(yk_checkpointer *self);

/* After a step; `clock` is the time on it. */
bool yk_checkpointer_due(const yk_checkpointer *self, int64_t step, double clock);
yk_status yk_checkpointer_write(yk_checkpointer *self, int64_t step, bool converged,
                                double seconds);

/* System, watch and the step as they were. YK_ERROR_INPUT if the checkpoint does not fit, or if
 * files that the scenario names have changed since. */
yk_status yk_checkpointer_restore(yk_checkpointer *self, const yk_checkpoint *from);

#endif
