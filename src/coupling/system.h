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

    /* The participant whose failure was reported last; -1: of none. */
    int failed;

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

/* options.c --------------------------------------------------------------------------------------
 *
 * Words of options that several schemes have: of yk_sequence, yk_exchange and yk_acceleration. */
extern const yk_option_choice yk_order_words[];
extern const yk_option_choice yk_exchange_words[];
extern const yk_option_choice yk_acceleration_words[];

/* At creation: the options of the scheme, or its defaults, as the system's own copy. */
yk_status yk_system_copy_options(yk_system *system, const yk_scheme_def *scheme);
/* The object of scheme_def, with those options. */
yk_status yk_system_create_scheme(yk_system *system);

/* The first scheme of the library that has a trait, or has it not, for messages that recommend
 * it. */
const char *yk_scheme_name_with(unsigned trait);
const char *yk_scheme_name_without(unsigned trait);

/* arguments.c -----------------------------------------------------------------------------------
 *
 * Checks of what users pass to the functions of a system. Each is true if the argument can be used;
 * otherwise the context has YK_ERROR_ARGUMENT with a message that names function and argument. A
 * system that is NULL has no context, so that only the result tells. */
bool yk_system_has_subsystem(const yk_system *system, const char *function, int subsystem);
bool yk_system_has_port(const yk_system *system, const char *function, int subsystem, int port);
bool yk_system_has_channel(const yk_system *system, const char *function, int subsystem,
                           int channel);
bool yk_system_has_interface(const yk_system *system, const char *function, int interface);
bool yk_system_has_wire(const yk_system *system, const char *function, int wire);
bool yk_system_has_loop(const yk_system *system, const char *function, int loop);
bool yk_system_has_input(const yk_system *system, const char *function, int input);
/* `count`: number of parameters of the subsystem that was asked for. */
bool yk_system_has_parameter(const yk_system *system, const char *function, int parameter,
                             int count);
bool yk_system_has_memory(const yk_system *system, const char *function, const char *argument,
                          const void *memory);

/* Sets the message of a name that was not found, with the most similar name of a list. */
typedef const char *(*yk_name_at)(const void *list, int index);
void yk_system_report_not_found(const yk_system *system, const char *function, const char *what,
                                const char *name, yk_name_at name_at, const void *list, int count);

/* wiring.c --------------------------------------------------------------------------------------*/

/* At creation: participants, interfaces, wires and their sequences. */
yk_status yk_wiring_create(yk_system *system, const yk_system_description *def);
/* sides.c: exchanges the sides of interfaces whose second side cannot follow the first. Ports are
 * not connected yet. */
yk_status yk_system_choose_sides(yk_system *system);
void yk_wiring_destroy(yk_system *system);

/* Whether the tables of operations of a subsystem are such that this library can call them
 * (yoke/subsystem.h). YK_ERROR_CAPABILITY, with the operation or group that is wrong, where a
 * required operation is missing, a group of capabilities is not whole, or a table was compiled for
 * another version of the contract. */
yk_status yk_contract_check(yk_context *context, const yk_subsystem *subsystem, const char *name);

/* participant.c ---------------------------------------------------------------------------------*/

/* Advance with step_sensitivity: derivatives of a participant's motions by the coefficients of
 * its inputs, in its own units. */
yk_status yk_system_advance_sensitive(yk_system *system, int participant, int degree,
                                      double *sensitivity);
/* Advance over a part of the step, from `offset` on, in so many substeps; its inputs begin
 * there. */
yk_status yk_system_advance_part(yk_system *system, int participant, double offset, double h,
                                 int substeps);
/* Advance by a function that prepares the participant's step and is counted and timed as part of
 * it. */
yk_status yk_system_advance_prepared(yk_system *system, int participant,
                                     yk_status (*prepare)(yk_system *system, int participant,
                                                          void *user),
                                     void *user);
/* One iteration of a participant's own solver towards the end of the macro step, and gather its
 * outputs. */
yk_status yk_system_iterate(yk_system *system, int participant);

/* Sends the step of a participant in another process ahead: the advance that follows waits for it.
 * Nothing happens to one that is here. */
void yk_system_post(yk_system *system, int participant);
/* Likewise a part of it, as yk_system_advance_part will ask for it. */
void yk_system_post_part(yk_system *system, int participant, double offset, double whole,
                         int substeps);
/* Likewise the question for its step model. */
void yk_system_post_step_model(yk_system *system, int participant, const yk_step_model *model);
/* Several participants at the same time where the scheme has asked for threads; their statuses
 * are in the participants. */
yk_status yk_system_use_threads(yk_system *system, int threads);
void yk_system_for_all(yk_system *system, int count, yk_pool_work work, void *user);
/* All participants in this way, once each, by yk_system_advance_participant or by what a scheme makes of it:
 * those that are here first, then those whose steps were sent ahead. */
void yk_system_advance_all(yk_system *system,
                           yk_status (*advance)(yk_system *system, int participant));

/* The inputs of a participant in its own units. */
const yk_input *yk_system_inputs(yk_system *system, int participant);
/* Reads the outputs of a participant; advance does it by itself. */
void yk_system_gather(yk_participant *participant);
/* Fills a participant's vectors `fresh` and `applied`, and applies a vector of wrenches to it as
 * inputs. */
void yk_system_pack_wrenches(yk_system *system, int participant);
void yk_system_apply_wrenches(yk_system *system, int participant, const double *wrenches);

/* Where the velocities of each wrench port of a participant begin in its reduced or step model,
 * in the order of its ports: offsets has one entry per port, -1 for those that take no wrench.
 * Returns the number of velocities. */
int yk_system_number_velocities(const yk_system *system, int participant, int *offsets);
/* What a participant says of its next step, in the system's units; of its mechanism, in its own
 * units. The cost of models is counted from a time of the clock on. */
yk_status yk_system_step_model(yk_system *system, int participant, const int *offsets,
                               yk_step_model *model);
void yk_participant_transform_step_model(const yk_participant *participant, const int *offsets,
                                         yk_step_model *model);
yk_status yk_system_interface_model(yk_system *system, int participant, yk_interface_model *model);
void yk_system_count_model(yk_system *system, int participant, double begin);

/* scheme_api.c ---------------------------------------------------------------------------------------*/

/* Modified inputs of side B, from the motion of side A at the end of the step: as it is where A
 * has made the step, else as it is predicted. Without weights: original inputs. */
void yk_system_prescribe_weighted(yk_system *system, int interface, const yk_input_weights *weights,
                                  bool a_advanced);

/* Keeps the motions now as those at the start of the step that follows. */
void yk_system_keep_start(yk_system *system);
/* After a step that is kept: errors and work of its interfaces into the statistics; its start is
 * the earlier motion that the next prediction of participants with substeps knows. At its end,
 * not at the next start, so that the state image has it. */
void yk_system_keep_step(yk_system *system);
/* The step is now the part of it from t over h; what was reached of a part is kept, and the next
 * begins there. */
void yk_system_begin_part(yk_system *system, double t, double h);
void yk_system_end_part(yk_system *system);
/* Forces may jump now. */
void yk_system_announce_event(yk_system *system);

/* system.c: starts a participant with its inputs, and gathers its outputs. */
yk_status yk_system_start_participant(yk_system *system, int participant);
/* Starts the participants of loops that are left to the scheme in steps, with their present inputs. */
yk_status yk_system_start_joined_loops(yk_system *system);

/* wire.c ----------------------------------------------------------------------------------------*/

/* At creation: checks and connects the wires of the def. */
yk_status yk_wires_create(yk_system *system, const yk_system_description *def);
/* inputs.c */
yk_status yk_inputs_create(yk_system *system, const yk_system_description *def);
/* access.c: ends the wrenches that the program applied for one macro step. */
void yk_system_clear_wrenches(yk_system *system);
/* access.c: ends those among them that the function before_step applied. */
void yk_system_drop_callback_wrenches(yk_system *system);
void yk_wires_destroy(yk_system *system);
/* Reads what a participant gives. */
void yk_wires_read(yk_participant *participant);
/* As yk_system_update_signals, with what wires that run against the sequence are given of the end
 * of the step. */
double yk_system_carry_given_signals(yk_system *system, int participant);
/* As the scheme last carried signals, for participants of a loop that it has not come to yet. */
void yk_wires_carry_again(yk_system *system, int participant);
/* At the start: as carry, from the present values; then the largest difference, relative to its
 * size or to 1, between a wire's value and what its target started with. */
void yk_wires_carry_start(yk_system *system, int participant);
double yk_wires_start_change(const yk_system *system);

/* loops.c ---------------------------------------------------------------------------------------*/

/* At creation: finds the loops of all wires; then, with the sequence of the participants, the order
 * of evaluation. */
yk_status yk_loops_create(yk_system *system);
yk_status yk_loops_order(yk_system *system);
void yk_loops_destroy(yk_system *system);
/* A step or a start of one participant of a loop. */
typedef yk_status (*yk_loop_evaluation)(yk_system *system, int participant, void *user);
/* Advances or starts all participants of a loop when the first of them is asked for, so that its
 * signals fit each other; the calls for the others return their status. */
yk_status yk_loops_advance(yk_system *system, int participant, yk_loop_evaluation advance,
                           void *user);
/* Spectral radius of the loop gain over one step from the present state, which the trial moves. All
 * members must be able to return. */
yk_status yk_loops_find_gain(yk_system *system, yk_loop *loop, double *gain);
yk_status yk_loops_start(yk_system *system, int participant, yk_loop_evaluation start);
/* Starts the participants of all loops that are left to the scheme in steps, so that the signals of each loop fit each
 * other with the present inputs. */
yk_status yk_loops_start_joined(yk_system *system, yk_loop_evaluation start);
/* Whether some loop is left to the iterations of the scheme. */
bool yk_loops_need_iterations(const yk_system *system);
/* No loop of the step that begins was solved yet. */
void yk_loops_begin_step(yk_system *system);

/* state.c ---------------------------------------------------------------------------------------*/

bool yk_participant_can_return(const yk_participant *participant);
/* At creation: whether every participant can be rolled back where the scheme or step control
 * needs it; after the participants have started: memory for their states. */
yk_status yk_system_check_rollback(const yk_system *system);
/* Before the start: tells the participants how the scheme will use their states. */
void yk_system_announce_states(yk_system *system);
yk_status yk_system_prepare_states(yk_system *system);
/* What the scheme keeps of its own: its words, and their part of an image. */
yk_state_layout yk_scheme_state_layout(const yk_system *system);
void yk_scheme_state_get(const yk_system *system, double *continuous, double *opaque);
void yk_scheme_state_set(yk_system *system, const double *continuous, const double *opaque);
/* Mark, of one participant. */
void yk_system_mark_participant(yk_system *system, int participant);

/* step_control.c --------------------------------------------------------------------------------*/

yk_status yk_controller_create(yk_system *system, const yk_step_control *def);
yk_status yk_controller_start(yk_system *system);
void yk_controller_destroy(yk_system *system);
/* Its part of the state image. */
void yk_controller_get(const yk_controller *controller, double words[YK_CONTROLLER_WORDS]);
/* False if the words are not those of a controller or policy of this system. */
bool yk_controller_set(yk_controller *controller, const double words[YK_CONTROLLER_WORDS]);
/* From t by the scheme over the time that is left, or over a part of it; *taken is what was made.
 * All outputs are finite afterwards. */
yk_status yk_controller_step(yk_system *system, double t, double left, double *taken,
                             yk_step_report *report);
/* Keeps the state at the start of a step, and goes back to it as if the step had not been tried;
 * only the order that attempts showed is kept. */
void yk_controller_keep(yk_system *system);
yk_status yk_controller_take_back(yk_system *system);
/* Whether a failed step may succeed with a smaller size, or with other wrenches. */
bool yk_step_can_be_mended(yk_status status);
/* Raises speed and spin to the differences of two motions, those of position as the velocity that
 * makes them in the time h. */
void yk_motion_error(yk_port_kind kind, double h, const yk_motion *a, const yk_motion *b,
                     double *speed, double *spin);

/* failure.c: what is done -----------------------------------------------------------------------*/

/* At creation, after the scheme of the system; at the start of the system, before its scheme's. */
yk_status yk_policy_create(yk_system *system, const yk_failure_policy *def);
yk_status yk_policy_start(yk_system *system);
void yk_policy_destroy(yk_system *system);
/* As yk_controller_step, again where it fails and the policy says so. */
yk_status yk_policy_step(yk_system *system, double t, double left, double *taken,
                         yk_step_report *report);
/* Its part of the state image; setting it puts that scheme into use which was then. */
void yk_policy_get(const yk_system *system, double words[YK_POLICY_WORDS]);
bool yk_policy_set(yk_system *system, const double words[YK_POLICY_WORDS]);

static inline bool yk_policy_repeats(const yk_system *system)
{
    return system->policy.def.action != YK_ON_FAILURE_STOP;
}

/* energy_balance.c --------------------------------------------------------------------------------------*/

/* The gap of an interface between two motions, with what it prescribes at the time t. */
yk_interface_gap yk_gap_between(yk_port_kind kind, const yk_interface_def *def, const yk_motion *a,
                                const yk_motion *b, double t);
/* Raises the largest gaps to those at the time t. */
void yk_ledger_add_gap(yk_system *system, yk_interface *interface, double t);
/* Errors and work of all interfaces in the step, into the statistics. */
void yk_ledger_add_step(yk_system *system);
/* The energy created over the step where a relative motion is prescribed: what moves B's frame on
 * its body does work as well, so that it is the work of the wrench on A along the displacement of
 * A less that of the driven frame (J). */
double yk_driven_created(const yk_system *system, const yk_interface *interface,
                         const yk_wrench *on_a, const double on[2]);
/* Keeps the energies at the start. */
void yk_ledger_start(yk_system *system);
/* A participant with substeps: before the first, and after each of them with its outputs
 * gathered. */
void yk_ledger_begin_substeps(yk_participant *participant);
void yk_ledger_add_substep(yk_participant *participant, double h);

/* Whether a run has run away: what coupling and integration made of nothing (J) is most of what
 * moves. *known: all subsystems give their energy; *interface made most, -1: there is none. */
bool yk_ledger_runaway(const yk_system *system, bool *known, double *made, int *interface);

/* time_window.c ------------------------------------------------------------------------------------- */

/* Whether one side of an interface is carried by another master. */
bool yk_windows_meet(const yk_system *system, const yk_interface *interface);
/* The motion to its second side: the one that A has reached, or is known to reach. */
void yk_windows_prescribe(yk_system *system, int number, bool a_advanced);
/* Whether the scheme can follow another master, if there is one. */
yk_status yk_windows_check(const yk_system *system);
/* After the start, when it is known whether macro steps may be repeated. */
yk_status yk_windows_start(yk_system *system);
/* At the start of a macro step; whether it is to be made again; and the return to its start. */
void yk_windows_keep(yk_system *system);
bool yk_windows_repeat(const yk_system *system);
yk_status yk_windows_return(yk_system *system);

/* failure.c: what is said -----------------------------------------------------------------------*/

/* What a participant says of its last status. */
const char *yk_participant_message(const yk_participant *participant);
/* An error of a participant at a time of its own; yk_system_report_failure is at the end of the
 * step. */
yk_status yk_system_report_failure_at(yk_system *system, int participant, double t);
/* The message of a step whose iterations ended at their limit, and the error of one where even the
 * smallest size did not help. */
void yk_system_report_not_converged(yk_system *system, double t, const yk_step_report *report);
yk_status yk_system_report_never_converges(yk_system *system, double t,
                                           const yk_step_report *report);
/* Whether all outputs are finite, with an error that names the port. */
yk_status yk_system_check_finite(yk_system *system);
/* Warns of a gap between two sides at the start, and refuses markers that are rotated against each
 * other. */
yk_status yk_system_report_start_gap(yk_system *system, const char *name,
                                     const yk_interface_gap *gap);

#endif
