/* The contract of a coupling scheme, which advances all subsystems of a system from one macro point to the next.
 *
 * A scheme is an object whose first member points to a constant table of operations. The table has the name of the scheme,
 * its options as rows over an option struct, its traits, and the operations
 *
 *   create -> initialize -> step ... -> destroy
 *
 * The scheme owns all data that it keeps between steps. Callers never ask which scheme a system has: they ask for traits.
 * Therefore a scheme of your own is one table. Give it to a system by yk_system_def.scheme (yoke/system.h), or to a scenario
 * by the def that loads it (yoke/scenario.h): the key `scheme` then accepts its name, and its options are keys next to it.
 *
 * A step uses the functions at the end of this header: it sets the inputs of both sides of each interface, updates signals
 * and advances participants. Schemes that repeat steps also save and roll back participants. A Gauss-Seidel step with
 * predicted motions:
 *
 *   for each participant in yk_system_step_order()
 *       for each interface whose motion side it is     yk_system_predict_motion, yk_system_prescribe_motion
 *       for each interface whose wrench side it is     yk_system_reaction_wrench, yk_system_apply_wrench
 *       yk_system_update_signals
 *       yk_system_advance_participant
 *
 * Participants are the subsystems of the system. If a scheme merges the subsystems that interfaces connect, each merged
 * subsystem is one participant. */
#ifndef YOKE_SCHEME_OPS_H
#define YOKE_SCHEME_OPS_H

#include "yoke/base.h"
#include "yoke/ids.h"
#include "yoke/option.h"
#include "yoke/subsystem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yk_system yk_system;
typedef struct yk_scheme_ops yk_scheme_ops;

/* A joint between two ports. The wrench side receives the wrench and answers with its motion; the motion side receives the
 * motion and answers with the wrench (force-displacement decomposition, Zhang et al. 2022, section 2.1). Schemes that apply the same
 * wrench to both sides call them the first and the second side. */
typedef struct yk_interface_def {
    const char *name;
    yk_subsystem_id wrench_subsystem;
    yk_port_id wrench_port;
    yk_subsystem_id motion_subsystem;
    yk_port_id motion_port;
    /* yk_axis bits in the frame of the motion side's marker; scalar ports: YK_AXIS_X. */
    unsigned constrained_axes;
    /* Prescribed motion of the wrench side's marker in the frame of the motion side's marker: six components, x to rz, with the
     * rotations as one rotation vector; scalar ports: the first component. With YK_AXIS_DISTANCE the first component is the
     * distance of both origins, and `drive` is required. NULL: at rest. Only schemes that apply wrenches to both sides, or that
     * merge subsystems, support it. */
    const yk_relative_motion *drive;
    double radius; /* YK_AXIS_ROLLING: radius of the disc (m). */
} yk_interface_def;

/* Result of one macro step. */
typedef struct yk_step_report {
    int iterations; /* Sweeps over all subsystems. */
    bool halved;    /* The step was subdivided because it did not converge. */
    double
        wrench_change; /* Largest change of an interface wrench in the last iteration (N or N m); 0: explicit. */
    /* Only for a step that did not converge, if the scheme measures it: the subsystem with the largest change, and that change
     * as a fraction of the typical velocity. */
    yk_subsystem_id worst_subsystem;
    double residual;
    bool has_message; /* The scheme has set the message. */
} yk_step_report;

/* Options -------------------------------------------------------------------------------------- */

/* A scheme with its options. */
typedef struct yk_scheme_def {
    const yk_scheme_ops *ops; /* NULL: the scheme explicit. */
    const void
        *options; /* The option struct of the scheme, read at creation; NULL: the defaults. */
} yk_scheme_def;

/* Traits --------------------------------------------------------------------------------------- */

/* Properties of a scheme with its options, as bits. */
typedef enum yk_scheme_trait {
    /* Calls yk_system_update_signals() before every advance, so that wires work. */
    YK_SCHEME_CARRIES_SIGNALS = 1 << 0,
    /* Needs interfaces. A system without interfaces uses the scheme explicit instead. */
    YK_SCHEME_NEEDS_INTERFACES = 1 << 1,
    /* Repeats steps of every subsystem. */
    YK_SCHEME_NEEDS_ROLLBACK = 1 << 2,
    /* Iterates until the changes of the wrenches are below its tolerances. */
    YK_SCHEME_ITERATES = 1 << 3,
    /* Accelerates its iterations, which therefore converge for any mass ratio. */
    YK_SCHEME_ACCELERATES = 1 << 4,
    /* Exchanges a motion for the wrench that it required, so that the mass ratio of the two sides matters. */
    YK_SCHEME_EXCHANGES_MOTION = 1 << 5,
    /* Applies one wrench to both sides if both have a step model. */
    YK_SCHEME_CAN_EXCHANGE_FORCE_FORCE = 1 << 6,
    /* Always applies one wrench to both sides, except at scalar ports that accept a motion only. */
    YK_SCHEME_IS_FORCE_FORCE = 1 << 7,
    /* Exchanges velocities only, so that positions may drift apart. */
    YK_SCHEME_IGNORES_POSITIONS = 1 << 8,
    /* Merges the subsystems that interfaces connect into one participant, which has no substeps. */
    YK_SCHEME_MERGES = 1 << 9,
    /* Solves the parts of a merged participant one after another. */
    YK_SCHEME_SOLVES_PARTS_SEPARATELY = 1 << 10,
    /* Has no coupling error: other schemes are compared with it. */
    YK_SCHEME_IS_REFERENCE = 1 << 11,
    /* Takes mean torques of sides with substeps about the marker that these sides follow. */
    YK_SCHEME_SHIFTS_TORQUE_POINT = 1 << 12,
    /* Advances subsystems with time windows (yk_time_window_ops) last, with motions that were reached. */
    YK_SCHEME_SUPPORTS_TIME_WINDOWS = 1 << 13,
    /* Solves the parts of a merged participant at the same time, also in other processes. */
    YK_SCHEME_DISTRIBUTES_PARTS = 1 << 14,
    /* Tries steps of subsystems that can be rolled back, and rolls them back. */
    YK_SCHEME_TRIES_STEPS = 1 << 15
} yk_scheme_trait;

/* Uses of a variant of a scheme in analyses, as bits. */
typedef enum yk_variant_purpose {
    YK_VARIANT_REFERENCE = 1 << 0,    /* To compare with: as accurate as the scheme can be. */
    YK_VARIANT_REMEDY = 1 << 1,       /* If another scheme is unstable. */
    YK_VARIANT_STRICTER = 1 << 2,     /* Stricter than the scheme as users run it. */
    YK_VARIANT_DRIFT_REMEDY = 1 << 3, /* If the positions drift with the same scheme. */
    YK_VARIANT_ANY_MASS_RATIO =
        1 << 4,                    /* Stable for any mass ratio although it prescribes motions. */
    YK_VARIANT_CANDIDATE = 1 << 5, /* Ranked with others by accuracy and cost. */
    YK_VARIANT_BASELINE = 1 << 6   /* A candidate that with fine steps may be the reference. */
} yk_variant_purpose;

/* A set of options with which an analysis may run a scheme. */
typedef struct yk_scheme_variant {
    const char *name; /* NULL ends the list. */
    unsigned purpose; /* yk_variant_purpose bits */
    int cost; /* Approximate calls of a subsystem per macro step; cheap variants are tried first. */
    const char *options[6]; /* "acceleration=quasi-newton"; NULL ends a shorter list. */
} yk_scheme_variant;

/* The two ports of an interface: the wrench side, then the motion side. */
typedef struct yk_port_pair {
    const yk_subsystem *subsystem[2];
    int subsystem_index[2];
    int port[2];
} yk_port_pair;

/* Work of an interface in one step (J). */
typedef struct yk_interface_work {
    double work[2];        /* On the wrench side and on the motion side. */
    double energy_created; /* The sum of both, without the work of a prescribed relative motion. */
} yk_interface_work;

/* A counter of a scheme. */
typedef struct yk_scheme_statistic {
    const char *name; /* "coupling Jacobians" */
    double value;
} yk_scheme_statistic;

enum { YK_SCHEME_STATISTICS_MAX = 8 };

enum { YK_SCHEME_OPTIONS_MAX = 64, YK_SCHEME_OPTIONS_SIZE_MAX = 512 };

/* The contract --------------------------------------------------------------------------------- */

typedef struct yk_scheme {
    const yk_scheme_ops *ops;
} yk_scheme;

struct yk_scheme_ops {
    size_t size;      /* sizeof(yk_scheme_ops) of the header that the scheme was compiled with. */
    const char *name; /* One word. */
    const char *description;           /* For the documentation. */
    size_t options_size;               /* At most YK_SCHEME_OPTIONS_SIZE_MAX bytes. */
    const yk_option *options;          /* At most YK_SCHEME_OPTIONS_MAX rows; NULL: none. */
    const yk_scheme_variant *variants; /* NULL: none. */
    unsigned constant_traits;          /* yk_scheme_trait bits for all options. */
    unsigned (*traits)(
        const void *options); /* Further bits that depend on the options; NULL: none. */

    /* Required. */

    /* Sets *scheme as soon as the object exists; the system sets its table. If create() then fails, the system calls
     * destroy(). */
    yk_status (*create)(yk_system *system, const void *options, yk_scheme **scheme);
    void (*destroy)(yk_scheme *scheme, yk_system *system);
    /* Finds initial wrenches that are consistent with the motions. May be called again. */
    yk_status (*initialize)(yk_scheme *scheme, yk_system *system);
    /* Advances all participants over the present step. If iterations reach their limit: accepts the last iterate and returns
     * YK_NOT_CONVERGED. */
    yk_status (*step)(yk_scheme *scheme, yk_system *system, yk_step_report *report);

    /* Optional: each operation may be NULL. */

    /* Options. */

    /* Computes options that were not given from the others. Bit i of `given`: row i was given. */
    void (*derive)(void *options, uint64_t given);
    /* Checks that the ranges of the rows do not cover. */
    yk_status (*check)(yk_context *context, const void *options);
    /* Makes the tolerances so small that finite differences of steps are accurate. */
    void (*tighten_tolerances)(void *options);
    /* Simplifies the options for a trial with two bodies, whose wrenches need the given absolute tolerance (N). */
    void (*configure_for_trial)(void *options, double tolerance);
    /* Tolerances of the iterations: absolute (N or N m) and relative. */
    void (*tolerances)(const void *options, double *absolute, double *relative);
    /* The name in the title of a run; NULL: the name of the scheme. */
    void (*display_name)(const void *options, char *text, size_t capacity);
    /* Substeps of a subsystem if the description has none; *fewest: the smallest number with which the scheme works. NULL:
     * 1. */
    int (*default_substeps)(const void *options, const yk_subsystem *subsystem, int *fewest);
    /* The input of the motion side of an interface; NULL: a motion. */
    yk_causality (*second_side_causality)(const void *options, const yk_port_pair *ports);
    /* Whether the scheme rolls back a participant; NULL: all of them, if the scheme repeats steps. A participant that is not
     * rolled back, because its own solver iterates, needs no rollback. */
    bool (*needs_rollback_of)(const yk_scheme *scheme, const yk_system *system, int participant);
    /* A remedy if the iterations do not converge: "more iterations or a smaller macro step". */
    const char *(*convergence_hint)(const yk_scheme *scheme);

    /* State: data that the scheme keeps between steps, as a part of the state image of the system. A scheme whose data are
     * one array of numbers that change smoothly has state_array only. Other schemes have the next three operations, with
     * continuous words followed by opaque words. Words may come from a checkpoint of unknown origin: is_valid_state() checks
     * all counts, indices and truth values before state_set(); NULL: there are none. */
    double *(*state_array)(yk_scheme *scheme, const yk_system *system, size_t *count);
    yk_state_layout (*state_layout)(const yk_scheme *scheme, const yk_system *system);
    void (*state_get)(const yk_scheme *scheme, const yk_system *system, double *continuous,
                      double *opaque);
    void (*state_set)(yk_scheme *scheme, yk_system *system, const double *continuous,
                      const double *opaque);
    bool (*is_valid_state)(const yk_scheme *scheme, const yk_system *system,
                           const double *continuous, const double *opaque);

    /* Step control. */

    /* The power of the step with which the difference between one step and two half steps decreases; 0: unknown. */
    double (*order)(const yk_scheme *scheme, const yk_system *system);
    /* Whether the scheme predicts the next step, so that no step is made twice to estimate the error. */
    bool (*predicts_step)(const yk_scheme *scheme, const yk_system *system);
    /* If so: the difference between prediction and result as a speed (m/s) and an angular speed (rad/s). Returns the power of
     * the step with which it decreases. */
    double (*estimate_error)(const yk_scheme *scheme, const yk_system *system, double *speed,
                             double *spin);
    /* Forces may jump at the present time: nothing may be extrapolated over it. */
    void (*handle_event)(yk_scheme *scheme, yk_system *system);

    /* During an advance. */

    /* Called after each substep of a participant, numbered from 1, when its outputs have been read; and with 0 before the
     * first substep. */
    void (*after_substep)(yk_scheme *scheme, yk_system *system, int participant, int number);
    /* The input of a side of an interface from `offset` in the step on, for participants whose inputs the scheme shapes
     * substep by substep. NULL: the input of the step is shifted. */
    yk_input (*substep_input)(yk_scheme *scheme, yk_system *system, int interface, int side,
                              double offset);

    /* The work of an interface in the step. NULL: the work of its wrench along the displacements of both sides. */
    void (*interface_work)(const yk_scheme *scheme, const yk_system *system, int interface,
                           yk_interface_work *work);
    /* Fills at most YK_SCHEME_STATISTICS_MAX rows and returns their number. */
    int (*statistics)(const yk_scheme *scheme, const yk_system *system, yk_scheme_statistic *rows);
};

/* The schemes of the library, the default first. NULL: there is no such scheme. */
const yk_scheme_ops *yk_scheme_at(int number);
const yk_scheme_ops *yk_scheme_find(const char *name);

/* yk_scheme_trait bits. */
unsigned yk_scheme_traits(const yk_scheme_def *scheme);
/* Sets an option struct to the defaults of its rows. */
void yk_scheme_set_defaults(const yk_scheme_ops *ops, void *options);
/* NULL: there is no such option. */
const yk_option *yk_scheme_find_option(const yk_scheme_ops *ops, const char *key);
/* Sets one option from text, as in a scenario: "20", "quasi-newton". A choice with custom fields also accepts their numbers:
 * "2,2,1". Messages name the option and its possible values. */
yk_status yk_scheme_set_option(yk_context *context, const yk_scheme_ops *ops, void *options,
                               const char *key, const char *text);
/* Checks that the table is complete and that all options are in their ranges. */
yk_status yk_scheme_validate(yk_context *context, const yk_scheme_def *scheme);
/* The name of the scheme in the title of a run: "explicit, jacobi". */
void yk_scheme_display_name(const yk_scheme_def *scheme, char *text, size_t capacity);

/* Functions for schemes ------------------------------------------------------------------------ */

yk_context *yk_system_context(const yk_system *system);
int yk_system_participant_count(const yk_system *system);
int yk_system_interface_count(const yk_system *system);
const yk_interface_def *yk_system_interface(const yk_system *system, int interface);
/* All participants, motion sides of interfaces and sources of wires before their partners as far as possible. */
const int *yk_system_step_order(const yk_system *system);
/* Start and size of the present step, which is the macro step or a part of it (s). */
double yk_system_step_start_time(const yk_system *system);
double yk_system_step_size(const yk_system *system);

/* The motion of a side of an interface (0: wrench side, 1: motion side) after the last advance, and at the start of the
 * step. */
const yk_motion *yk_system_interface_motion(const yk_system *system, int interface, int side);
const yk_motion *yk_system_interface_motion_at_step_start(const yk_system *system, int interface,
                                                          int side);
/* Predicts the motion of the wrench side at the end of the step. */
void yk_system_predict_motion(const yk_system *system, int interface, yk_motion *end);
/* The wrench on the wrench side that is in equilibrium with the latest wrench on the motion side. */
yk_wrench yk_system_reaction_wrench(const yk_system *system, int interface);

/* Sets the inputs over the step: the motion side moves on a straight line from the start of the wrench side to `end`, with
 * the mean velocity; the wrench side receives a constant wrench. */
void yk_system_prescribe_motion(yk_system *system, int interface, const yk_motion *end);
void yk_system_apply_wrench(yk_system *system, int interface, const yk_wrench *wrench);
/* Sets the signals of a participant before it advances. Returns the largest change of a signal at the end of the step since
 * the signals were last set, relative to its size or to 1. */
double yk_system_update_signals(yk_system *system, int participant);

/* Advances one participant over the step with its inputs, and reads its outputs. */
yk_status yk_system_advance_participant(yk_system *system, int participant);
/* Saves the states of all participants, and returns one participant to its saved state. */
void yk_system_save_participants(yk_system *system);
yk_status yk_system_rollback_participant(yk_system *system, int participant);
/* Turns the status of a failed participant into an error with time, name and remedy. */
yk_status yk_system_report_failure(yk_system *system, int participant);

/* Finds consistent initial wrenches and accelerations, for schemes that prescribe motions to motion sides. */
yk_status yk_system_initialize_wrenches(yk_system *system);
/* Reports the change of a wrench that was left when iterations ended without convergence, for the statistics (N or N m). 0:
 * the iterations converged. */
void yk_system_set_interface_residual(yk_system *system, int interface, double residual);

#ifdef __cplusplus
}
#endif

#endif
