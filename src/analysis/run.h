/* Parts of a run (run.c): observation, findings with their remedies, display, and checkpoints.
 *
 *   energy       energy created or lost by coupling and integration, relative to that of the motion
 *                (energy_check.c)
 *   ripple       wrenches that alternate from step to step (growing_oscillation.c)
 *   limits       mass ratios and loops for which the scheme is unstable, before the run
 *                (mass_ratio.c)
 *   watch        all of them, and gaps and iterations, as findings (findings.c)
 *   scene        the geometry of the system (scene.c)
 *   checkpoints  data from which a run can be resumed (checkpoint.c) */
#ifndef YK_ANALYSIS_RUN_H
#define YK_ANALYSIS_RUN_H

#include "yoke/analysis.h"

/* Energy --------------------------------------------------------------------------------------- */

enum { YK_BUDGET_WINDOWS = 64 };

typedef struct yk_budget {
    yk_system *system;
    const yk_scenario_info *info;
    int64_t stride, next; /* macro steps between evaluations */
    double start_kinetic, start_potential;
    double released, fed; /* largest so far */
    double dissipated;    /* at the last evaluation */
    /* Largest value of `dissipated`, and its largest decrease since: energy that dissipation
     * created. */
    double most_dissipated, undissipated;
    double rounding; /* of the energies and works */
    double sound;    /* J: real energy when the created energy was last within the limits */
    double largest_kinetic, lowest_potential, highest_potential;
    bool moves;      /* a port moved by more than the rounding of its position */
    bool not_finite; /* an energy was not finite */
    int exploding;   /* consecutive evaluations with far more energy than possible */
    /* Consecutive evaluations with more energy than possible in a good run, and with twice the
     * created energy of the previous one; that energy. */
    int growing, doubling;
    double made;
    int count;
    /* Sums over windows of instants. */
    struct {
        int looks;
        double made, created; /* J: by interfaces and integration together; by interfaces alone */
        /* J: real energy at the end of the window, at least the level of rounding errors */
        double scale;
    } windows[YK_BUDGET_WINDOWS];
} yk_budget;

/* Called after the start of the system. */
void yk_budget_open(yk_budget *budget, yk_system *system, const yk_scenario_info *info);
/* Whether values restored from a file are those of a budget that evaluates every `stride` steps. */
bool yk_budget_is_valid(const yk_budget *budget, int64_t stride);
/* Called after a macro step, numbered from 1. */
void yk_budget_step(yk_budget *budget, int64_t step);

/* Whether an energy is infinite, or so large that nothing after it can be right; whether this will
 * happen soon, for a run that is evaluated in every step. */
bool yk_budget_exploded(const yk_budget *budget);
bool yk_budget_runs_away(const yk_budget *budget);

/* The energy error of a run, from which the summary, the finding, the record and JSON take their
 * numbers. */
typedef struct yk_energy_error {
    double scale;  /* J: the real energy; if more was created than is real, that before */
    double energy; /* J, created by interfaces and integration; negative: lost */
    /* energy / scale; infinite: not finite; NaN: no subsystem reports its energy */
    double fraction;
    double at_interfaces; /* J: the part of `energy` that the interfaces created */
} yk_energy_error;

/* Energy created or lost at the end of the run, or created where it was largest for some time. */
yk_energy_error yk_budget_conclude(const yk_budget *budget);

/* Ripple --------------------------------------------------------------------------------------- */

/* Steps per window, and number of steps at the end of each window that are evaluated. */
enum { YK_RIPPLE_WINDOW = 16, YK_RIPPLE_SEEN = 10 };

/* Number of consecutive windows that is significant. */
enum { YK_RIPPLE_ALARM = 4 };

typedef struct yk_ripple {
    int count; /* steps in this window */
    /* Of a wrench. */
    struct {
        double seen[YK_RIPPLE_SEEN]; /* its last values in this window */
        double before;               /* squared differences of the previous window */
        double at_begin;             /* the same before the first of the consecutive windows */
        int rising;                  /* consecutive windows with a growing oscillation */
    } components[6];
    /* Set before the first step: absolute tolerance of the coupling's iterations (N or N m), and
     * relative tolerance. */
    double resolved, relative;
    double size;  /* largest force or torque of the interface */
    double swing; /* largest amplitude in the last window, as a fraction of it */
    /* The longest growth so far. */
    int longest;
    double growth; /* of the amplitude per macro step */
    double time;   /* s, at its end */
} yk_ripple;

/* Counts a step; returns true if its wrench is to be added. */
static inline bool yk_ripple_counts(yk_ripple *ripple)
{
    return ++ripple->count > YK_RIPPLE_WINDOW - YK_RIPPLE_SEEN;
}

/* Whether the wrench still oscillates by a significant fraction, and that fraction. */
bool yk_ripple_matters(const yk_ripple *ripple);
double yk_ripple_limit(void);

/* Whether counts restored from a file are valid between two steps. */
bool yk_ripple_is_valid(const yk_ripple *ripple);

void yk_ripple_add(yk_ripple *ripple, const yk_wrench *wrench, double time);

/* Limits --------------------------------------------------------------------------------------- */

/* At the start of a system: adds the findings, and the mass ratio, to a report. `probes` has the
 * masses at each interface; it may be NULL. */
yk_status yk_limits_find(yk_context *context, yk_system *system, const yk_scenario_info *info,
                         yk_run_report *report, yk_interface_masses *probes);

/* The largest mass ratio for which the scheme is stable at an interface, up to YK_RATIO_MOST; NaN:
 * its exchange does not depend on masses. Makes about a dozen trials. */
#define YK_RATIO_MOST 1e4
yk_status yk_limits_ratio(yk_context *context, yk_system *system, const yk_scenario_info *info,
                          int interface, double *limit);

/* Watch ---------------------------------------------------------------------------------------- */

/* The position of one side of an interface, compared with its integrated velocity. */
typedef struct yk_watched_path {
    yk_vec3 position, velocity; /* after the previous step */
    yk_vec3 displacement;       /* since the start (m), by positions */
    yk_vec3 integral;           /* of the velocity (m) */
    double difference;          /* largest distance between both (m) */
    double travel;              /* largest length of one of them (m) */
} yk_watched_path;

/* One interface under watch. */
typedef struct yk_watched {
    yk_ripple ripple;
    yk_interface_masses probe; /* masses at the start, see mass_ratio.c */
    yk_vec3 origin;            /* initial position of the wrench side */
    double travel;             /* largest distance from there, updated at intervals */
    /* Largest gaps up to a quarter and half of the run, and the travel up to these times. */
    yk_interface_gap quarter, half;
    double quarter_travel, half_travel;
    /* Sums of squares, updated at intervals, of the velocity gap and of the velocity (m/s, rad/s). */
    double gap_squares, speed_squares;
    double spin_gap_squares, spin_squares;
    double force_squares, torque_squares;
    /* J: largest energy of the wrench side and of the motion side, potential energy relative to the
     * start. */
    double side_energy[2], initial_potential[2];
    yk_watched_path paths[2]; /* of the wrench side and of the motion side */
    double last_time;         /* s, of the previous step */
} yk_watched;

/* An algebraic loop with a lag, represented by one of its wires. */
typedef struct yk_watched_loop {
    double last;                    /* value of the wire after the previous step */
    double change_squares, squares; /* sums over all steps: of its changes, and of its values */
} yk_watched_loop;

typedef struct yk_watch {
    yk_context *context;
    yk_system *system;
    const yk_scenario_info *info;
    yk_budget budget;
    int64_t looks; /* number of terms in the sums of squares */
    int count;     /* of interfaces; 0 if there are none, or the scheme has merged the subsystems */
    yk_watched *interfaces;
    int loop_count;
    yk_watched_loop *loops;
    yk_run_report *limits; /* findings at the start */
} yk_watch;

/* Whether the scheme of the scenario has a trait. */
bool yk_watch_has_trait(const yk_watch *watch, unsigned trait);
/* Tolerances of the iterations of the scheme (N or N m, and relative); 0 if it does not iterate. */
void yk_watch_tolerances(const yk_watch *watch, double *absolute, double *relative);

/* Called after the start of the system; probes its interfaces once. Must be closed, whatever the
 * status. */
yk_status yk_watch_open(yk_context *context, yk_system *system, const yk_scenario_info *info,
                        yk_watch *watch);
void yk_watch_close(yk_watch *watch);

/* Called after each macro step, numbered from 1. An error: the energy is far beyond the real
 * energy. */
yk_status yk_watch_step(yk_watch *watch, int64_t step);

/* Whether the coupling is becoming unstable, with the interface and the reason. The state before
 * the step is still good enough to continue from with another scheme. */
bool yk_watch_runs_away(const yk_watch *watch, char *reason, size_t capacity);

/* All observations since the start, as 8-byte words; a watch of the same system can continue from
 * them. Setting checks them: YK_ERROR_INPUT if they are invalid, and the watch may then only be
 * closed. */
size_t yk_watch_words(const yk_watch *watch);
void yk_watch_save(const yk_watch *watch, double *words);
yk_status yk_watch_restore(yk_watch *watch, const double *words);

/* Adds the findings of a run with its outcome to the report, the most serious first. Steps and time
 * of the report must be set. */
void yk_watch_conclude(const yk_watch *watch, yk_status outcome, yk_run_report *report);

/* The index of a subsystem's channel with one component; -1: not found. */
int yk_watch_find(const yk_scenario_info *info, int subsystem, const char *name);

/* Its present value; false: there is none. */
bool yk_watch_channel(yk_system *system, const yk_scenario_info *info, int subsystem,
                      const char *name, double *value);

/* Scene ------------------------------------------------------------------------------------------
 *
 * Geometry of a running system for the record: the scenes of its subsystems as one, in metres and
 * the axes of the system, and the present poses. */

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
    /* Moving objects, each once. Their bodies begin at `first`. */
    struct moving {
        const yk_subsystem *subsystem;
        yk_transform transform;
        int first, count; /* bodies */
        int shapes;
        int contacts; /* largest number of contacts in a frame */
    } * moving;
    int moving_count;
    int *told; /* channels for the monitor, YK_MONITOR_SUBSYSTEM_VALUES per subsystem; -1: none */
    yk_scene_pose *poses;       /* buffer for the largest of them */
    yk_contact_point *contacts; /* buffer for all of them */
    float *frame;               /* the latest frame, see yk_frame_table */
} yk_scene;

/* Called after the start of the system and its watch. `contacts`: largest number in a frame, for
 * each subsystem. Must be closed, whatever the status. */
yk_status yk_scene_open(yk_context *context, const yk_system *system, const yk_scenario_info *info,
                        const yk_watch *watch, int contacts, yk_scene *scene);
void yk_scene_close(yk_scene *scene);

/* Stores the present state in scene->frame. Allocates nothing. */
void yk_scene_read(yk_scene *scene);

/* Checkpoints ------------------------------------------------------------------------------------
 *
 * When they are due, their contents, and resuming a run from one. */

typedef struct yk_checkpointer {
    yk_context *context;
    const yk_run_options *def;
    yk_system *system;
    yk_watch *watch;
    const yk_scenario_info *info;
    char *scenario; /* as text */
    char *inputs;   /* as in yk_scenario_inputs(), of the run that began the record */
    size_t state_words, memory_words, watch_words;
    double *words; /* buffer for all three */
    int64_t last_step;
    double last_time, last_clock;
    bool written; /* there is a checkpoint */

    /* From the checkpoint that is resumed: whether the run had converged, its elapsed time (s), and
     * the position of its record. */
    bool converged;
    double seconds;
    yk_journal_position position;
} yk_checkpointer;

/* Called after the start of the system and its watch. YK_ERROR_CAPABILITY names the subsystem that
 * cannot be saved. */
yk_status yk_checkpointer_open(yk_context *context, const yk_run_options *def,
                               yk_scenario *scenario, yk_system *system, yk_watch *watch,
                               yk_checkpointer *made);
void yk_checkpointer_close(yk_checkpointer *self);

/* Called after a step; `clock` is the present wall time. */
bool yk_checkpointer_due(const yk_checkpointer *self, int64_t step, double clock);
yk_status yk_checkpointer_write(yk_checkpointer *self, int64_t step, bool converged,
                                double seconds);

/* Restores system, watch and step. YK_ERROR_INPUT: the checkpoint does not fit, or files that the
 * scenario names have changed since. */
yk_status yk_checkpointer_restore(yk_checkpointer *self, const yk_checkpoint *from);

#endif
