/* Internal structs of a coupled system.
 *
 * A scheme is an object with a table of operations (yoke/scheme_ops.h) that advances all subsystems
 * from t to t + h. A scheme owns all data that it keeps between steps: this header contains no data
 * of a particular scheme, and only the files of a scheme know which scheme it is. */
#ifndef YK_COUPLING_SYSTEM_H
#define YK_COUPLING_SYSTEM_H

#include "base/pool.h"
#include "coupling/channels.h"
#include "coupling/interface.h"
#include "coupling/system_arrays.h"

typedef struct yk_wire {
    yk_wire_def def;

    /* Value of the source at present, and at the start of the macro step. */
    double now, before;

    /* Buffer for the whole channel; NULL: the source is a port. */
    double *channel;

    /* Factor from the units of the channel to SI. */
    double factor;

    /* In the wrench sequence, the source comes after the target. `given` is then the value at t + h
     * that the target receives in a sweep. */
    bool lagged;
    double given;

    /* `looped`: both ends belong to one algebraic loop that loops.c solves. `torn`: Newton's method
     * prescribes the value at the end of the step, `torn_end`, to the target. */
    bool looped, torn;
    double torn_end;
} yk_wire;

/* An algebraic loop over wires, see loops.c. */
typedef struct yk_loop {
    char *text; /* Wires of the loop by their ports, for messages. */
    int *wires, wire_count;

    bool coupled;  /* A participant of the loop has an interface. */
    bool solvable; /* Newton's method can solve the loop inside a step. */
    /* The loop is solved at the start only. During steps the iterations of the scheme solve it, or
     * its wires lag by a step. */
    bool only_at_start;
    int *members, member_count; /* Participants in the order of evaluation. */
    int *torn, torn_count;      /* Wires against this order. */
    double *memory;
    int *pivot;
    /* Status of the last solution. If it is an error, the context has a message. */
    yk_status status;
    int64_t solved, evaluations;
} yk_loop;

typedef struct yk_participant {
    yk_subsystem *subsystem;
    const char *name;
    int port_count;
    const yk_port *ports;
    int substeps;

    /* Units and axes of the subsystem; NULL: those of the system. */
    yk_transform *transform;

    /* The scheme computes the inputs for each substep (substep_input). */
    bool shaped;

    /* Per port: the input in the system's units and axes, and in those of the subsystem. */
    yk_input *inputs;
    yk_input *own_inputs;

    /* Per port: outputs at the end of the last step or trial, and motion at the start of the macro
     * step. */
    yk_port_value *values;
    yk_motion *before;

    /* The outputs are those of a step or trial that ends with the macro step. */
    bool advanced;

    /* With substeps only, part of the state image. Per port: mean wrench over the macro step, and
     * motion at the start of the previous macro step. earlier_step is the size of the previous
     * macro step (s), 0 in the first one. */
    yk_wrench *mean_wrenches;
    yk_motion *earlier;
    double earlier_step;

    /* With substeps only, per port (energy_balance.c): motion at the start of the substep, and work
     * of the wrenches over the macro step, summed over the substeps (J). */
    yk_motion *substep_start;
    double *port_work;

    /* Energies at the start of the run. */
    yk_energy start_energy;

    /* Layout of the state, zero if the subsystem cannot be rolled back, and the saved state image. */
    yk_state_layout layout;
    double *mark;
    yk_state_use state_use;

    /* All wrenches on the wrench ports of the participant as one vector: the applied ones, and the
     * latest reaction wrenches of the motion sides. */
    int wrench_size;
    double *applied, *fresh;

    /* Wires whose source is this participant. */
    yk_wire **wires;
    int wire_count;

    /* Ascending indices of its interfaces, and of the wires that end at it. */
    int *joined, *received;
    int joined_count, received_count;

    /* The algebraic loop of the participant, NULL: none. `loop_done`: the loop was solved when
     * another participant of it was advanced, so the next advance of this one does nothing. */
    yk_loop *loop;
    bool loop_done;

    /* `posted`: the step was sent ahead to another process. `status`: status of the last advance. */
    bool posted;
    yk_status status;
    /* The scheme failed before the step of the subsystem. The context has the message. */
    bool failed_in_scheme;
    yk_subsystem_statistics statistics;
    int64_t timed_calls;
} yk_participant;

/* Whether iterations may give the target of a wire a value for the end of the step before the source has reached it. */
static inline bool yk_wire_can_lag(const yk_wire *wire)
{
    return !wire->def.sample_and_hold && !wire->looped;
}

/* A signal port that the program sets (inputs.c). */
typedef struct yk_external_input {
    const char *name;
    int participant, port;
} yk_external_input;

/* Wrenches on bodies that the program has applied for the next macro step (access.c): the total on
 * each body, in the units and axes of the participant. */
typedef struct yk_pending_wrench {
    int participant, body;
    yk_wrench wrench;
    /* The part of it that the callback before_step has applied for the current step. */
    yk_wrench from_callback;
} yk_pending_wrench;

typedef struct yk_pending_wrenches {
    yk_pending_wrench *list;
    int count, capacity;
} yk_pending_wrenches;

/* Values of wires at the end of the step: the present values of their sources, or given values. */
typedef enum yk_carried_signals {
    YK_CARRY_PRESENT,
    YK_CARRY_GIVEN_BACKWARD, /* Given values on wires against the sequence. */
    YK_CARRY_ALL_GIVEN
} yk_carried_signals;

/* Phase of a macro step. The callbacks of the program must not step the system. */
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

/* Interface. Side A receives the wrench, side B the motion. */
typedef struct yk_interface {
    yk_interface_def def;
    yk_port_kind kind;

    /* What side B receives: a motion, or a wrench if the scheme applies the wrench to both sides. */
    yk_causality takes;

    /* Positions of the two sides in the Gauss-Seidel sequence. */
    int a_index, b_index;

    /* The interface belongs to a cycle, and side A comes after B in the wrench sequence. `given` is
     * then the motion of A at t + h that B receives in a sweep. */
    bool lagged;
    yk_motion given;

    /* Wrench on A in this macro step. */
    yk_wrench applied;

    /* Origin of A's marker at t + h in the motion that was prescribed to B. The wrench of B refers
     * to this point. */
    yk_vec3 origin;

    /* Change of the wrench that the iterations of this step left (N, N m). */
    double residual;

    /* Gaps of the two sides before the assembly or the first step closes them. */
    yk_interface_gap start_gap;

    /* Slip of a nonholonomic joint that has accumulated up to the start of the step (m), see slip.h.
     * Part of the state. */
    double slip[YK_SLIP_ROWS];

    /* Statistics of the run, and their values before a step that may be rolled back. */
    yk_interface_statistics statistics;
    yk_interface_statistics kept;
} yk_interface;

/* A subsystem of the def: its participant, and the indices of its first port, channel and body in
 * the participant. */
typedef struct yk_system_part {
    const char *name;
    int participant, port, channel, body;
    int port_count;
    int body_count; /* -1: all bodies of the participant */

    /* The subsystem represents the participant in energies and statistics, because it is the first
     * of the merged subsystems. */
    bool shows;

    /* Units of the subsystem's own numbers, including channels (m, kg). */
    double length, mass;
} yk_system_part;

/* Step control. Everything except the definition and the workspace is part of the state image. */
typedef struct yk_controller {
    yk_step_control def;

    /* Proposed size of the next step (s). */
    double proposal;

    /* Largest velocities of all interfaces so far (m/s, rad/s). */
    double speed, spin;

    /* Power of the step size with which the error falls. */
    double order;

    /* Error relative to the tolerance that smaller steps do not reduce. */
    double floor;

    /* Number of steps in a row that were too inaccurate at the smallest size, and the smallest of
     * their errors. */
    double futile, least;

    /* Workspace: image of the whole system at the start of a step; per interface and side, the
     * result of one whole step, and the expected motion in its middle. */
    double *image;
    yk_motion *whole;
    yk_motion *middle;
} yk_controller;

enum { YK_CONTROLLER_WORDS = 7 };

/* The scheme of the system that is not in use, with its options. */
typedef struct yk_scheme_slot {
    yk_scheme *scheme;
    yk_scheme_def def;
    void *options;
    int *option_items;
    unsigned traits;
    void (*substep)(yk_scheme *scheme, yk_system *system, int participant, int number);

    /* Per participant: yk_participant.shaped. */
    bool *shaped;
} yk_scheme_slot;

/* Failure policy. level, good and fallen are part of the state image if the policy is not to stop. */
typedef struct yk_policy {
    yk_failure_policy def;

    /* Number of times that the macro step is halved at present, and number of good steps in a row
     * since the last change. */
    int level, good;

    /* The scheme that is not in use. `fallen`: the fallback scheme is in use, and the first scheme
     * waits. other_start is the state of the fallback scheme after the start. other_layout is the
     * layout of the waiting scheme, `reserve` the room in the image for the larger of the two. */
    yk_scheme_slot other;
    bool fallen;
    double *other_start;
    yk_state_layout other_layout, reserve;

    yk_system_failures failures;
} yk_policy;

enum { YK_POLICY_WORDS = 3 };

struct yk_system {
    yk_context *context;

    /* All subsystems have been initialized, so that they can be read and stepped. */
    bool started;
    yk_scheme *scheme;

    /* The scheme with copies of its options and of the lists in them. */
    yk_scheme_def scheme_def;
    void *options;
    int *option_items;
    unsigned traits;

    /* Operation after_substep of the scheme; NULL: none. */
    void (*substep)(yk_scheme *scheme, yk_system *system, int participant, int number);

    /* The macro clock: start time, macro step, number of macro steps made. */
    double start, step;
    int64_t step_count;

    /* The step in progress: the macro step, or a part of it. */
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

    /* The values that the signals were last updated with, see yk_system_carry_given_signals(). */
    yk_carried_signals carried;

    /* Order of the participants. `sequence`: B sides before their A sides (Gauss-Seidel).
     * `wrench_sequence`: A sides before their B sides, for iterations over wrenches. */
    int *sequence;
    int *wrench_sequence;

    /* Memory of the lists `joined`, `received` and `wires` of all participants. */
    int *joined, *received;
    yk_wire **sent;

    /* Unknowns of the consistent start. */
    int start_unknowns_count;
    struct yk_unknowns *start_unknowns;

    /* Set if the scheme merges subsystems. */
    struct yk_merging *merging;

    /* One part for each subsystem of the def. */
    int subsystem_count;
    yk_subsystem **owned; /* destroyed with the system */
    int owned_count;
    yk_system_part *parts;

    /* Threads of schemes that advance several participants at the same time. */
    yk_pool *pool;
    yk_controller control;
    yk_policy policy;

    /* The failure that was reported last. Its subsystem is the index of the participant. */
    yk_failure failure;

    /* Layout of the state image; layout without the participants that cannot be rolled back; buffer
     * for the image of one participant. */
    yk_state_layout layout, returning;
    double *scratch;
    /* Some participants have not been asked for the size of their images, because none is used. */
    bool states_deferred;
    yk_system_statistics statistics;

    /* State image at the start of the macro step if an external coupling library may repeat the
     * step; otherwise NULL. */
    double *window;
};

/* The sides of an interface ---------------------------------------------------------------------*/

static inline yk_participant *yk_interface_a(const yk_system *system, const yk_interface *interface)
{
    return &system->participants[interface->def.wrench_subsystem.index];
}

static inline yk_participant *yk_interface_b(const yk_system *system, const yk_interface *interface)
{
    return &system->participants[interface->def.motion_subsystem.index];
}

/* Outputs and inputs of the ports of the two sides. */
static inline yk_port_value *yk_value_a(const yk_system *system, const yk_interface *interface)
{
    return &yk_interface_a(system, interface)->values[interface->def.wrench_port.index];
}

static inline yk_port_value *yk_value_b(const yk_system *system, const yk_interface *interface)
{
    return &yk_interface_b(system, interface)->values[interface->def.motion_port.index];
}

static inline yk_input *yk_input_a(const yk_system *system, const yk_interface *interface)
{
    return &yk_interface_a(system, interface)->inputs[interface->def.wrench_port.index];
}

static inline yk_input *yk_input_b(const yk_system *system, const yk_interface *interface)
{
    return &yk_interface_b(system, interface)->inputs[interface->def.motion_port.index];
}

/* Motions of the two sides at the start of the macro step. */
static inline yk_motion *yk_before_a(const yk_system *system, const yk_interface *interface)
{
    return &yk_interface_a(system, interface)->before[interface->def.wrench_port.index];
}

static inline yk_motion *yk_before_b(const yk_system *system, const yk_interface *interface)
{
    return &yk_interface_b(system, interface)->before[interface->def.motion_port.index];
}

/* The scheme applies one wrench to both sides; no side receives a motion. */
static inline bool yk_both_take_wrench(const yk_interface *interface)
{
    return interface->takes == YK_CAUSALITY_WRENCH_INPUT;
}

/* Whether a participant is side B and receives the motion of A, or side A and receives the reaction
 * wrench. */
static inline bool yk_is_motion_side(const yk_interface *interface, int participant)
{
    return interface->def.motion_subsystem.index == participant && !yk_both_take_wrench(interface);
}

static inline bool yk_is_wrench_side(const yk_interface *interface, int participant)
{
    return interface->def.wrench_subsystem.index == participant && !yk_both_take_wrench(interface);
}

static inline const char *yk_system_scheme_name(const yk_system *system)
{
    return system->scheme_def.ops->name;
}

#endif
