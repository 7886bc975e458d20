/* The contract of a coupling scheme: what carries all subsystems of a system from one macro point
 * to the next.
 *
 * A scheme is an object whose first member points to a constant table of operations, as a
 * subsystem is. The table has its name, its options as rows over a struct of its own, its traits,
 * and the operations
 *
 *   create -> start -> step ... -> destroy
 *
 * and it owns all data that it keeps between steps. Nobody asks which scheme a system has: who
 * needs to know something asks for a trait. So a scheme of one's own is one table, given to a
 * system by its def (yoke/system.h) or to a scenario by the def that loads it (yoke/scenario.h),
 * where its name stands behind `scheme:` and its options are keys beside it.
 *
 * A step is written with the verbs below: inputs of both sides of each interface, signals,
 * advance, and where steps are repeated mark and rewind. A typical one, Gauss-Seidel with the
 * predicted motion:
 *
 *   for each participant in yk_system_step_order()
 *       for each interface whose second side it is     yk_system_predict_motion, yk_system_prescribe_motion
 *       for each interface whose first side it is      yk_system_reaction_wrench, yk_system_apply_wrench
 *       yk_system_update_signals
 *       yk_system_advance_participant
 *
 * Participants are the subsystems of the system; where a scheme merges those that interfaces
 * join, what is left of them. */
#ifndef YOKE_SCHEME_OPS_H
#define YOKE_SCHEME_OPS_H

#include "yoke/base.h"
#include "yoke/subsystem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yk_system yk_system;
typedef struct yk_scheme_ops yk_scheme_ops;

/* Two ports joined rigidly along the constrained axes. One side takes the wrench and answers with
 * its motion, the other takes the motion and answers with the wrench (force-displacement
 * decomposition, paper explicit 2.1). */
typedef struct yk_interface_def {
    const char *name;
    int wrench_subsystem, wrench_port;
    int motion_subsystem, motion_port;
    /* YK_AXIS mask in the frame of the motion side's marker; scalar ports: YK_AXIS_X */
    unsigned constrained_axes;
    /* Of the wrench side's marker in the frame of the motion side's, which it moves (a rheonomic
     * joint): six, x to rz with the rotations as one rotation vector; scalar ports: the first.
     * With YK_AXIS_DISTANCE the first is the distance of both origins, and must be there. NULL:
     * none. For schemes that apply wrenches to both sides, or merge them. */
    const yk_relative_motion *drive;
} yk_interface_def;

/* What one macro step took. */
typedef struct yk_step_report {
    int iterations; /* sweeps over all subsystems */
    bool halved;    /* the step was cut in parts to converge */
    /* largest change of an interface wrench in the last iteration (N or N m); 0 if explicit */
    double wrench_change;
    /* Of a step that did not converge, where the scheme measures it so: the subsystem that
     * changed most, and by which part of the typical velocity it still did; `explained`: the
     * scheme has set the message. */
    int worst_subsystem;
    double residual;
    bool has_message;
} yk_step_report;

/* Options -------------------------------------------------------------------------------------- */

typedef enum yk_option_kind {
    YK_OPTION_NUMBER,     /* double */
    YK_OPTION_INTEGER,    /* int */
    YK_OPTION_BOOLEAN,    /* bool */
    YK_OPTION_CHOICE,     /* an enum: the index of one of `words` */
    YK_OPTION_SUBSYSTEMS, /* yk_subsystem_list; of schemes */
    YK_OPTION_TEXT,       /* const char * */
    YK_OPTION_PATH,       /* const char *: a file, found from the scenario's folder */
    YK_OPTION_NUMBERS,    /* `count` doubles in the struct, or with count 0 a yk_number_list */
    YK_OPTION_FUNCTION    /* yk_time_function: a number, or an expression of time */
} yk_option_kind;

typedef struct yk_number_list {
    const double *items;
    int count;
} yk_number_list;

typedef struct yk_subsystem_list {
    const int *items; /* read at creation */
    int count;
} yk_subsystem_list;

typedef struct yk_option_choice {
    const char *name; /* NULL ends the list */
    const char *description;
} yk_option_choice;

/* One row over the option struct of a scheme. From the rows come defaults, checks, the keys of a
 * scenario and their documentation. */
typedef struct yk_option {
    const char *key; /* NULL ends the list */
    yk_option_kind kind;
    size_t offset;            /* in the struct */
    const char *unit;         /* NULL: none */
    const char *default_text; /* the default as a scenario would have it; NULL: zero */
    bool has_derived_default; /* where it is not given, it may follow from other options (derive) */
    double minimum, maximum;  /* both 0: any number */
    /* a finer run of the same scenario divides it by so many powers of its refinement; 0: it
     * stays */
    int refinement_exponent;
    const yk_option_choice *choices;
    /* A choice that can also be given by keys of its own, numbers of the same struct; it is then
     * the index behind all words. */
    const struct yk_option *custom_fields;
    const char *description;
    bool required; /* it has no default and must be given */
    int count;     /* of YK_OPTION_NUMBERS: as many as there must be; 0: any number */
} yk_option;

/* A scheme with its options: what a system is created with. */
typedef struct yk_scheme_def {
    const yk_scheme_ops *ops; /* NULL: the first of the library, explicit */
    const void *options;      /* its struct, read at creation; NULL: the defaults */
} yk_scheme_def;

/* Traits --------------------------------------------------------------------------------------- */

/* What others may ask of a scheme with its options. */
enum {
    /* yk_system_update_signals comes before every advance, so that wires are carried. */
    YK_SCHEME_CARRIES_SIGNALS = 1 << 0,
    /* Without any, the subsystems step side by side by the first scheme of the library. */
    YK_SCHEME_NEEDS_INTERFACES = 1 << 1,
    /* It repeats steps of every subsystem. */
    YK_SCHEME_NEEDS_ROLLBACK = 1 << 2,
    /* Until the wrenches change by no more than its tolerances. */
    YK_SCHEME_ITERATES = 1 << 3,
    /* Its iterations use those before, and converge whatever the ratio of masses. */
    YK_SCHEME_ACCELERATES = 1 << 4,
    /* A motion is exchanged for the wrench that it took, so that the ratio of masses of both
     * sides matters. */
    YK_SCHEME_EXCHANGES_MOTION = 1 << 5,
    /* One wrench on both sides where they say what their next step does. */
    YK_SCHEME_CAN_EXCHANGE_FORCE_FORCE = 1 << 6,
    /* One wrench on both sides always, but for scalar ports that take motion only. */
    YK_SCHEME_IS_FORCE_FORCE = 1 << 7,
    /* Velocities alone are exchanged, so that positions may drift apart. */
    YK_SCHEME_IGNORES_POSITIONS = 1 << 8,
    /* Subsystems that interfaces join become one participant, which makes no substeps. */
    YK_SCHEME_MERGES = 1 << 9,
    /* Of a merged participant one by one. */
    YK_SCHEME_SOLVES_PARTS_SEPARATELY = 1 << 10,
    /* It has no coupling error: what others are compared with. */
    YK_SCHEME_IS_REFERENCE = 1 << 11,
    /* Mean torques of sides with substeps are taken about the marker that they follow. */
    YK_SCHEME_SHIFTS_TORQUE_POINT = 1 << 12,
    /* Subsystems that another master carries come last, with motions that were reached. */
    YK_SCHEME_SUPPORTS_TIME_WINDOWS = 1 << 13,
    /* Of a merged participant at the same time, in other processes too. */
    YK_SCHEME_DISTRIBUTES_PARTS = 1 << 14,
    /* It tries steps of subsystems that can return to an earlier state, and takes them back. */
    YK_SCHEME_TRIES_STEPS = 1 << 15
};

/* Ways to run a scheme that an analysis may try in place of the one that a scenario has. */
enum {
    YK_VARIANT_REFERENCE = 1 << 0,    /* to compare with: as accurate as the scheme can be */
    YK_VARIANT_REMEDY = 1 << 1,       /* where another scheme is unstable */
    YK_VARIANT_STRICTER = 1 << 2,     /* than the same scheme as users run it */
    YK_VARIANT_DRIFT_REMEDY = 1 << 3, /* of positions, for the same scheme */
    YK_VARIANT_ANY_MASS_RATIO =
        1 << 4, /* carries any ratio of masses with motions prescribed to one side */
    YK_VARIANT_CANDIDATE = 1 << 5, /* to be ranked with others by accuracy and cost */
    YK_VARIANT_BASELINE =
        1 << 6 /* a candidate that in fine steps may be what others are compared with */
};

typedef struct yk_scheme_variant {
    const char *name; /* NULL ends the list */
    unsigned purpose; /* YK_VARIANT bits */
    int cost;         /* calls of a subsystem per macro step, about: cheaper ones are tried first */
    const char *options[6]; /* "acceleration=quasi-newton", ended by NULL where there are fewer */
} yk_scheme_variant;

/* Two ports that an interface joins, first the side that takes the wrench. */
typedef struct yk_port_pair {
    const yk_subsystem *subsystem[2];
    int subsystem_index[2]; /* of the subsystems */
    int port[2];
} yk_port_pair;

/* Work of an interface in one step (J). */
typedef struct yk_interface_work {
    double work[2];        /* on the side that takes the wrench, and on the other */
    double energy_created; /* both together, less what a prescribed relative motion did */
} yk_interface_work;

/* A number that a scheme counts. */
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
    size_t size;                       /* of this table as it was compiled */
    const char *name;                  /* one word */
    const char *description;           /* what it does, for the documentation */
    size_t options_size;               /* at most YK_SCHEME_OPTIONS_SIZE_MAX bytes */
    const yk_option *options;          /* at most YK_SCHEME_OPTIONS_MAX rows; NULL: none */
    const yk_scheme_variant *variants; /* NULL: none */
    /* Traits that it has whatever its options are, and those that follow from them (NULL: none). */
    unsigned constant_traits;
    unsigned (*traits)(const void *options);

    /* Required. Create sets *scheme as soon as there is an object, whose table the system sets;
     * where it fails later, the system destroys what is there. Start finds initial wrenches that fit the motions; it may be
     * called again. Step carries all participants over the present step. Where iterations end at
     * their limit it takes the last iterate and returns YK_NOT_CONVERGED. */
    yk_status (*create)(yk_system *system, const void *options, yk_scheme **scheme);
    void (*destroy)(yk_scheme *scheme, yk_system *system);
    yk_status (*initialize)(yk_scheme *scheme, yk_system *system);
    yk_status (*step)(yk_scheme *scheme, yk_system *system, yk_step_report *report);

    /* Everything below may be NULL.
     *
     * Options. Derive: those that were not given (bit i: row i was) from the others. Check: what
     * the rows' ranges do not say. Sharpen: so strict that steps can be differenced. Simplify:
     * for a trial on two bodies whose wrenches are known to an absolute tolerance (N).
     * Tolerances: of its iterations (N or N m, and relative). Title: of a run, if it is not the
     * name. */
    void (*derive)(void *options, uint64_t given);
    yk_status (*check)(yk_context *context, const void *options);
    void (*tighten_tolerances)(void *options);
    void (*configure_for_trial)(void *options, double tolerance);
    void (*tolerances)(const void *options, double *absolute, double *relative);
    void (*display_name)(const void *options, char *text, size_t capacity);
    /* Steps of a subsystem in a macro step where nothing is said of them, and the fewest with
     * which the scheme works; NULL: 1. */
    int (*default_substeps)(const void *options, const yk_subsystem *subsystem, int *fewest);
    /* What the second side of an interface takes; NULL: motion. */
    yk_causality (*second_side_causality)(const void *options, const yk_port_pair *ports);
    /* Whether it rewinds a participant, of schemes that repeat steps; NULL: all of them. One that
     * it does not rewind, because its own solver iterates, needs no rollback. */
    bool (*needs_rollback_of)(const yk_scheme *scheme, const yk_system *system, int participant);
    /* What helps where its iterations do not converge. */
    const char *(*convergence_hint)(const yk_scheme *scheme);

    /* State: what the scheme keeps over steps, as part of the system's image. Where that is numbers
     * which change smoothly and lie together: where they are, and how many. Else the next three
     * operations: continuous words, then opaque ones. Words may come from a checkpoint of a stranger:
     * is_valid_state checks all counts, indices and truth values among them before state_set; NULL:
     * there are none. */
    double *(*state_array)(yk_scheme *scheme, const yk_system *system, size_t *count);
    yk_state_layout (*state_layout)(const yk_scheme *scheme, const yk_system *system);
    void (*state_get)(const yk_scheme *scheme, const yk_system *system, double *continuous,
                      double *opaque);
    void (*state_set)(yk_scheme *scheme, yk_system *system, const double *continuous,
                      const double *opaque);
    bool (*is_valid_state)(const yk_scheme *scheme, const yk_system *system,
                           const double *continuous, const double *opaque);

    /* Step control. Order: the power of the step by which the difference of one step and two
     * halves falls; 0: not known. Foretells: whether it predicts the step that follows, so that
     * no step is taken twice. Estimate: then, the difference of prediction and result as speed
     * and spin, and returns the power of the step by which it falls. */
    double (*order)(const yk_scheme *scheme, const yk_system *system);
    bool (*predicts_step)(const yk_scheme *scheme, const yk_system *system);
    double (*estimate_error)(const yk_scheme *scheme, const yk_system *system, double *speed,
                             double *spin);
    /* Forces may jump now: nothing may be extrapolated over this time. */
    void (*handle_event)(yk_scheme *scheme, yk_system *system);

    /* Within an advance. Substep: after each step of a participant with its outputs read,
     * numbered from 1; before the first: 0. Substep_input: of a side of an interface from
     * `offset` on in the step, for participants whose inputs the scheme shapes; else inputs are
     * shifted. */
    void (*after_substep)(yk_scheme *scheme, yk_system *system, int participant, int number);
    yk_input (*substep_input)(yk_scheme *scheme, yk_system *system, int interface, int side,
                              double offset);

    /* The work of an interface in the step, where it is not that of its wrench along both sides'
     * ways. */
    void (*interface_work)(const yk_scheme *scheme, const yk_system *system, int interface,
                           yk_interface_work *work);
    /* Fills at most YK_SCHEME_STATISTICS_MAX rows; returns how many. */
    int (*statistics)(const yk_scheme *scheme, const yk_system *system, yk_scheme_statistic *rows);
};

/* The schemes of the library, the default first, and one by its name; NULL behind the last, or if
 * there is none. */
const yk_scheme_ops *yk_scheme_at(int number);
const yk_scheme_ops *yk_scheme_find(const char *name);

unsigned yk_scheme_traits(const yk_scheme_def *scheme);
/* The defaults of a scheme's rows into its struct. */
void yk_scheme_set_defaults(const yk_scheme_ops *ops, void *options);
const yk_option *yk_scheme_find_option(const yk_scheme_ops *ops,
                                       const char *key); /* NULL: it has none of that name */
/* One option from text, as a scenario has it: "20", "quasi-newton"; a choice that has keys of its
 * own also as their numbers, "2,2,1". Messages name the option and what it may be. */
yk_status yk_scheme_set_option(yk_context *context, const yk_scheme_ops *ops, void *options,
                               const char *key, const char *text);
/* Whether the table is complete, and all options lie in their ranges. */
yk_status yk_scheme_validate(yk_context *context, const yk_scheme_def *scheme);
/* What a run calls it: "explicit, jacobi". */
void yk_scheme_display_name(const yk_scheme_def *scheme, char *text, size_t capacity);

/* Verbs ---------------------------------------------------------------------------------------- */

yk_context *yk_system_context(const yk_system *system);
int yk_system_participant_count(const yk_system *system);
int yk_system_interface_count(const yk_system *system);
const yk_interface_def *yk_system_interface(const yk_system *system, int interface);
/* The participants so that second sides of interfaces and sources of wires come before their
 * partners, where that is possible. */
const int *yk_system_step_order(const yk_system *system);
/* Of the step that is being taken (s): the macro step, or a part of it. */
double yk_system_step_start_time(const yk_system *system);
double yk_system_step_size(const yk_system *system);

/* The motion of a side of an interface, 0 or 1: after the last advance, and at the start of the
 * step. */
const yk_motion *yk_system_interface_motion(const yk_system *system, int interface, int side);
const yk_motion *yk_system_interface_motion_at_step_start(const yk_system *system, int interface,
                                                          int side);
/* The motion of the first side at the end of the step, before it has made it. */
void yk_system_predict_motion(const yk_system *system, int interface, yk_motion *end);
/* The wrench on the first side that balances what the second one last needed to follow its
 * motion. */
yk_wrench yk_system_reaction_wrench(const yk_system *system, int interface);

/* Inputs over the step: the second side follows the straight path of the first from its start to
 * `end`, with the mean velocity; the first side takes a constant wrench. */
void yk_system_prescribe_motion(yk_system *system, int interface, const yk_motion *end);
void yk_system_apply_wrench(yk_system *system, int interface, const yk_wrench *wrench);
/* Sets the signals that a participant takes, before it advances; returns the largest change of
 * one at the end of the step since it was last set, relative to its size or to 1. */
double yk_system_update_signals(yk_system *system, int participant);

/* One participant over the step with its inputs; its outputs are read. */
yk_status yk_system_advance_participant(yk_system *system, int participant);
/* Remembers the state of all participants; returns one of them to it. */
void yk_system_save_participants(yk_system *system);
yk_status yk_system_rollback_participant(yk_system *system, int participant);
/* Turns the status of a participant that failed into an error with time, name and remedy. */
yk_status yk_system_report_failure(yk_system *system, int participant);

/* Initial wrenches and accelerations that fit each other, for schemes that prescribe motions to
 * second sides. */
yk_status yk_system_initialize_wrenches(yk_system *system);
/* What iterations left of the change of a wrench (N or N m), for the statistics; 0: they
 * converged. */
void yk_system_set_interface_residual(yk_system *system, int interface, double residual);

#ifdef __cplusplus
}
#endif

#endif
