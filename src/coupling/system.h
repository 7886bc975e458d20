/* The inside of a coupled system, and the verbs that the schemes of this module use besides those
 * of yoke/scheme_ops.h.
 *
 * A scheme is an object with a table of operations (yoke/scheme_ops.h) that carries all subsystems
 * from t to t + h. It owns what it keeps between steps: nothing in this header belongs to one
 * scheme, and nothing outside a scheme's files asks which one it is.
 *
 * Types first, then the functions by the file that has them. */
#ifndef YK_COUPLING_SYSTEM_H
#define YK_COUPLING_SYSTEM_H

#include "base/pool.h"
#include "coupling/channels.h"
#include "coupling/interface.h"
#include "coupling/system_arrays.h"

typedef struct yk_wire {
    yk_wire_def def;

    /* The source's value now, and at the start of the macro step. */
    double now, before;

    /* Memory for the whole channel; NULL: the source is a port. */
    double *channel;

    /* From the units of the channel to SI. */
    double factor;

    /* In the sequence that has A sides first, the source comes after the target: what the target
     * is then given for t + h in a sweep of iterations over wrenches. */
    bool lagged;
    double given;

    /* Both ends are in one algebraic loop that is solved (loops.c). While the wire is torn, its
     * target is given `torn_end` for the end of the step. */
    bool looped, torn;
    double torn_end;
} yk_wire;

/* An algebraic loop over wires, see loops.c. */
typedef struct yk_loop {
    char *text; /* the wires of the loop by their ports, for messages */
    int *wires, wire_count;

    bool solvable;              /* by Newton's method inside a step */
    bool only_at_start;         /* in steps, the scheme itself solves for its wires, or they lag */
    int *members, member_count; /* participants in the order of evaluation */
    int *torn, torn_count;      /* wires against this order */
    double *memory;
    int *pivot;
    yk_status status; /* of the last solution; an error has its message */
    int64_t solved, evaluations;
} yk_loop;

typedef struct yk_participant {
    yk_subsystem *subsystem;
    const char *name;
    int port_count;
    const yk_port *ports;
    int substeps;

    /* Its units and axes; NULL: those of the system. */
    yk_transform *transform;

    /* The scheme gives its inputs substep by substep (substep_input). */
    bool shaped;

    /* Per port: the input in the system's units and axes, and as the subsystem takes it. */
    yk_input *inputs;
    yk_input *own_inputs;

    /* Per port: outputs at the end of the last step or trial; motion at the start of the macro
     * step. */
    yk_port_value *values;
    yk_motion *before;

    /* Its outputs are those of a step or trial that ends with the macro step. */
    bool advanced;

    /* With substeps only, and part of the state image. Per port: the mean wrench over the macro
     * step, and the motion at the start of the macro step before; the size of that step, 0 before
     * the first (s). */
    yk_wrench *mean_wrenches;
    yk_motion *earlier;
    double earlier_step;

    /* With substeps only, per port, see energy_balance.c: the motion at the start of the substep, and the
     * work of the wrenches over the macro step, substep by substep (J). */
    yk_motion *substep_start;
    double *port_work;

    /* At the start of the run. */
    yk_energy start_energy;

    /* Of its state, zero if it cannot be rolled back; the state image at the last mark. */
    yk_state_layout layout;
    double *mark;
    yk_state_use state_use;

    /* All wrenches that it takes as one vector: as applied, and as the motion sides now need
     * them. */
    int wrench_size;
    double *applied, *fresh;

    /* Those that it is the source of. */
    yk_wire **wires;
    int wire_count;

    /* The algebraic loop that it is solved with, NULL: none; the loop was solved for another of its
     * participants, and the next advance of this one has nothing to do. */
    yk_loop *loop;
    bool loop_done;

    /* Its step was sent ahead; of the last advance. */
    bool posted;
    yk_status status;
    /* The scheme failed before the step of the subsystem, and has left the reason in the context. */
    bool failed_in_scheme;
    yk_subsystem_statistics statistics;
    int64_t timed_calls;
} yk_participant;

/* A signal port that the program sets, see inputs.c. */
typedef struct yk_external_input {
    const char *name;
    int participant, port;
} yk_external_input;

/* Wrenches on bodies that the program has applied for the next macro step, see access.c: the total on each body, in the
 * units and axes of the participant. */
typedef struct yk_pending_wrench {
    int participant, body;
    yk_wrench wrench;
    /* The part of it that the function before_step has applied for the step that is being made. */
    yk_wrench from_callback;
} yk_pending_wrench;

typedef struct yk_pending_wrenches {
    yk_pending_wrench *list;
    int count, capacity;
} yk_pending_wrenches;

/* What a system does at present: the functions of the program may not step it. */
typedef enum yk_step_phase {
    YK_PHASE_IDLE,
    YK_PHASE_BEFORE_STEP,
    YK_PHASE_STEP,
    YK_PHASE_AFTER_STEP
} yk_step_phase;

typedef struct yk_step_callback {
    yk_step_function call; /* NULL: none */
    void *user;
} yk_step_callback;

/* Side A takes the wrench, side B the motion. */
typedef struct yk_interface {
    yk_interface_def def;
    yk_port_kind kind;

    /* What side B takes: a wrench, where the scheme applies it to both sides. */
    yk_causality takes;

    /* Of the two sides in the Gauss-Seidel sequence. */
    int a_index, b_index;

    /* In the sequence that has A sides first, A comes after B nevertheless, for interfaces run in
     * a circle: the motion of A at t + h that B is then given in a sweep of iterations over
     * wrenches. */
    bool lagged;
    yk_motion given;

    /* On A in this macro step. */
    yk_wrench applied;

    /* Of A's marker at t + h as B was given it: there B's wrench belongs. */
    yk_vec3 origin;

    /* What the iterations of this step left of the wrench's change (N, N m). */
    double residual;

    /* Between the two sides before anything closed it (m). */
    double start_gap;

    /* Over the run; as they were before a step that may be taken back. */
    yk_interface_statistics statistics;
    yk_interface_statistics kept;
} yk_interface;

/* A subsystem of the def as the system has it: its participant, and where its ports and channels
 * begin there. */
typedef struct yk_system_part {
    const char *name;
    int participant, port, channel, body;
    int port_count;
    int body_count; /* -1: all bodies of the participant */

    /* It stands for the participant in energies and statistics: the first of those merged. */
    bool shows;

    /* Units of the subsystem's own numbers, channels included (m, kg). */
    double length, mass;
} yk_system_part;

/* Step control; all but the definition and the workspace is part of the state image. */
typedef struct yk_controller {
    yk_step_control def;

    /* The next step (s). */
    double proposal;

    /* Largest of any interface so far (m/s, rad/s). */
    double speed, spin;

    /* By which power of the step the error falls. */
    double order;

    /* Error, against the tolerance, that smaller steps do not remove. */
    double floor;

    /* Steps in a row that were too inaccurate at the smallest size, and the smallest of their
     * errors. */
    double futile, least;

    /* Workspace: the image of the whole system at the start of a step; per interface and side,
     * where one whole step led, and where its middle would be. */
    double *image;
    yk_motion *whole;
    yk_motion *middle;
} yk_controller;

enum { YK_CONTROLLER_WORDS = 7 };

/* A scheme that the system has besides the one in use, with all that is known of it. */
typedef struct yk_scheme_slot {
    yk_scheme *scheme;
    yk_scheme_def def;
    void *options;
    int *option_items;
    unsigned traits;
    void (*substep)(yk_scheme *scheme, yk_system *system, int participant, int number);

    /* Per participant. */
    bool *shaped;
} yk_scheme_slot;

/* What happens where a step fails. Level, good and fallen are part of the state image of systems
 * whose failures do not stop them. */
typedef struct yk_policy {
    yk_failure_policy def;

    /* The macro step is halved so many times now; good steps in a row since that changed. */
    int level, good;

    /* The other scheme, and whether it is the first one that is waiting now. What it keeps over
     * steps, as it was after the start; words that the image has for either of them. */
    yk_scheme_slot other;
    bool fallen;
    double *other_start;
    yk_state_layout other_layout, reserve;

    yk_system_failures failures;
} yk_policy;

enum { YK_POLICY_WORDS = 3 };

struct yk_system {
    yk_context *context;

    /* The subsystems have found their initial states, so that they may be asked and stepped. */
    bool started;
    yk_scheme *scheme;

    /* With the copy of the options, and of the lists in them. */
    yk_scheme_def scheme_def;
    void *options;
    int *option_items;
    unsigned traits;

    /* Of the scheme's operations, beside the participants that call it at every step; NULL: it
     * has none. */
    void (*substep)(yk_scheme *scheme, yk_system *system, int participant, int number);

    /* The macro clock. */
    double start, step;
    int64_t step_count;

    /* Of the step that is being taken: the macro step, or a part of it. */
    double t, h;

    int participant_count;
    yk_participant *participants;
    int interface_count;
    yk_interface *interfaces;
    int wire_count;
    yk_wire *wires;
    int loop_count;
    yk_loop *loops;
    int input_count;
    yk_external_input *inputs;

    /* Access by the program while the system runs. */
    yk_channel_table *channels;
    yk_pending_wrenches pending;
    yk_step_callback before_step, after_step;
    yk_step_phase phase;

    /* Signals were last carried with those that are given, see yk_system_carry_given_signals. */
    bool carries_given;

    /* Gauss-Seidel: B sides before their A sides; and A sides before their B sides, for iterations
     * over wrenches. */
    int *sequence;
    int *wrench_sequence;

    /* Of the consistent start. */
    int start_unknowns_count;
    struct yk_unknowns *start_unknowns;

    /* Where the scheme merges. */
    struct yk_merging *merging;

    /* One for each subsystem of the def. */
    int subsystem_count;
    yk_subsystem **owned; /* destroyed with the system */
    int owned_count;
    yk_system_part *parts;

    /* Of schemes that advance several participants at the same time. */
    yk_pool *pool;
    yk_controller control;
    yk_policy policy;

    /* The failure that was reported last; its subsystem is the participant. */
    yk_failure failure;

    /* Of the state; the same without the participants that cannot return; the image of one
     * participant. */
    yk_state_layout layout, returning;
    double *scratch;
    /* Some participants have not been asked for the size of their images, because none is used. */
    bool states_deferred;
    yk_system_statistics statistics;

    /* At the start of the macro step, where another master may ask for it again; else NULL. */
    double *window;
};

/* The sides of an interface ---------------------------------------------------------------------*/

static inline yk_participant *yk_interface_a(const yk_system *system, const yk_interface *interface)
{
    return &system->participants[interface->def.wrench_subsystem];
}

static inline yk_participant *yk_interface_b(const yk_system *system, const yk_interface *interface)
{
    return &system->participants[interface->def.motion_subsystem];
}

/* What their ports show, and what they are given. */
static inline yk_port_value *yk_value_a(const yk_system *system, const yk_interface *interface)
{
    return &yk_interface_a(system, interface)->values[interface->def.wrench_port];
}

static inline yk_port_value *yk_value_b(const yk_system *system, const yk_interface *interface)
{
    return &yk_interface_b(system, interface)->values[interface->def.motion_port];
}

static inline yk_input *yk_input_a(const yk_system *system, const yk_interface *interface)
{
    return &yk_interface_a(system, interface)->inputs[interface->def.wrench_port];
}

static inline yk_input *yk_input_b(const yk_system *system, const yk_interface *interface)
{
    return &yk_interface_b(system, interface)->inputs[interface->def.motion_port];
}

/* Where they were at the start of the macro step. */
static inline yk_motion *yk_before_a(const yk_system *system, const yk_interface *interface)
{
    return &yk_interface_a(system, interface)->before[interface->def.wrench_port];
}

static inline yk_motion *yk_before_b(const yk_system *system, const yk_interface *interface)
{
    return &yk_interface_b(system, interface)->before[interface->def.motion_port];
}

/* One wrench on both sides, found by the scheme: neither is prescribed a motion. */
static inline bool yk_both_take_wrench(const yk_interface *interface)
{
    return interface->takes == YK_CAUSALITY_WRENCH_INPUT;
}

/* Whether a participant is side B and is prescribed the motion of A, or side A and takes the wrench
 * that this needed. */
static inline bool yk_is_motion_side(const yk_interface *interface, int participant)
{
    return interface->def.motion_subsystem == participant && !yk_both_take_wrench(interface);
}

static inline bool yk_is_wrench_side(const yk_interface *interface, int participant)
{
    return interface->def.wrench_subsystem == participant && !yk_both_take_wrench(interface);
}

static inline const char *yk_system_scheme_name(const yk_system *system)
{
    return system->scheme_def.ops->name;
}

#endif
