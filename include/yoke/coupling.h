/* Coupled systems: subsystems joined at their ports, advanced together by a coupling scheme.
 *
 *   yk_system_def def = yk_system_default();
 *   def.step = 1e-3;
 *   yk_system_builder *builder = yk_system_begin(context, &def);
 *   yk_subsystem_def left = yk_subsystem_named("left", subsystem);         built in one style, as models are
 *   int left_id = yk_system_add_subsystem(builder, &left);
 *   ...
 *   yk_system_connect_ports(builder, "clamp", left_id, tip, right_id, base);
 *   yk_system *system;
 *   yk_status status = yk_system_create(builder, &system);
 *
 *   yk_system_initialize -> yk_system_step ... -> yk_system_get_statistics -> yk_system_destroy
 *
 * The wiring is checked at creation and frozen afterwards; what a scheme needs and a subsystem
 * lacks is an error then, not later. The macro clock is an integer count of steps, so time never
 * drifts; step control cuts steps, but does not move their ends. */
#ifndef YOKE_COUPLING_H
#define YOKE_COUPLING_H

#include "yoke/base.h"
#include "yoke/scheme.h"
#include "yoke/subsystem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A number of one subsystem that is the signal of another: no power, and nothing that the source
 * receives.
 *
 * Over a macro step the target sees a straight line between the values at both ends where the
 * source has already made the step (Gauss-Seidel, later iterations), else the value at the
 * start. */
typedef struct yk_wire_def {
    const char *name;
    int source_subsystem;
    int source_port;    /* any port; -1: a channel */
    int source_channel; /* read where source_port is -1 */
    /* of a port: which double of yk_port_value; of a channel: of its values; both in SI units */
    int component_index;
    int target_subsystem, target_port; /* a signal port that takes a signal */
    /* The target takes the value at the start of the macro step for the whole of it. What the source
     * reaches at t acts from t on, and shows in the target's outputs one macro step later. */
    bool sample_and_hold;
    /* What is carried is gain times the source's value plus offset; a gain of 0 counts as 1. */
    double gain, offset;
} yk_wire_def;

/* Schemes -------------------------------------------------------------------------------------- */

/* Each scheme of the library with its options, which are read at creation:
 *
 *   yk_tight_options options = yk_tight_options_default();
 *   options.iterations = 50;
 *   def.scheme = (yk_scheme_def){yk_scheme_tight(), &options};
 *
 * What the options mean, their units and their defaults stand in the rows of each scheme
 * (yk_scheme_ops) and in the reference of scenarios. */

/* The first scheme with its defaults: explicit. */
yk_scheme_def yk_scheme_default(void);

typedef enum yk_sequence {
    /* motion sides and sources of wires first, wrench sides with the new wrenches */
    YK_SEQUENCE_GAUSS_SEIDEL,
    YK_SEQUENCE_JACOBI /* all at once with what was known at the start of the step */
} yk_sequence;

/* What crosses an interface in schemes that call every subsystem once (explicit, loose, rim). */
typedef enum yk_exchange {
    /* a motion to one side, the wrench that it took to the other: the papers' schemes */
    YK_EXCHANGE_FORCE_MOTION,
    /* One wrench to both sides, found from what they say of their next step (step_model) so that
     * the joint holds at its end. Where a subsystem does not say that, or the scheme rim makes
     * small steps of it, as above. */
    YK_EXCHANGE_AUTO,
    /* The same, also where a subsystem has an interface model only, whose step may not be so
     * smooth: contact. */
    YK_EXCHANGE_FORCE_FORCE
} yk_exchange;

/* How an iteration uses those before it. Tight: with none, wrench sides make one iteration of
 * their own solver per sweep where they can; with the others, whole steps. Relaxed: the unknowns
 * of all parts together. */
typedef enum yk_acceleration {
    YK_ACCELERATION_NONE, /* the plain fixed point of paper tight 3.1 */
    /* one factor from the last two changes of all wrenches on one subsystem */
    YK_ACCELERATION_AITKEN,
    /* least squares over all changes of the wrenches of joined subsystems (IQN-ILS), those of
     * earlier steps too; relaxed: of the step */
    YK_ACCELERATION_QUASI_NEWTON
} yk_acceleration;

/* Explicit: each subsystem is called once per macro step; paper explicit 3.1.
 *
 * Modified inputs set the velocity of a motion side to the mean of three, weighted with position,
 * velocity and acceleration: (x_A - x_B)/h, v_A and v_B + h a_A (paper explicit (26)). The
 * weights are alpha h^2, beta h and gamma of Baumgarte's stabilisation with the macro step h;
 * only their ratio matters. */
typedef enum yk_modified_inputs {
    YK_MODIFIED_INPUTS_NONE,    /* paper explicit (20) */
    YK_MODIFIED_INPUTS_INDEX_1, /* alpha = 2/h^2, beta = 2/h, gamma = 1 */
    YK_MODIFIED_INPUTS_INDEX_2, /* alpha = 1/h, beta = 1, gamma = 0 */
    YK_MODIFIED_INPUTS_INDEX_3, /* alpha = 1, beta = gamma = 0 */
    YK_MODIFIED_INPUTS_WEIGHTED /* by alpha (1/s^2), beta (1/s) and gamma of the options */
} yk_modified_inputs;

typedef struct yk_explicit_options {
    yk_sequence sequence;
    yk_exchange exchange;
    yk_modified_inputs modified_inputs;
    double alpha, beta, gamma;
    int thread_count; /* Jacobi: subsystems that advance at the same time; 0: one per core */
} yk_explicit_options;

yk_explicit_options yk_explicit_options_default(void);
const yk_scheme_ops *yk_scheme_explicit(void);

/* Tight: repeated until the interface wrenches converge; paper tight 3.1. Loose: the same with no
 * repetition; its rows are `exchange` and `velocity`. */
typedef enum yk_prescribed_velocity {
    /* from the positions at both ends, on SO(3) by SLERP: paper tight (21) */
    YK_PRESCRIBED_VELOCITY_DIFFERENCE,
    YK_PRESCRIBED_VELOCITY_PARTNER /* that of the partner's marker at the end of the step */
} yk_prescribed_velocity;

typedef struct yk_tight_options {
    int max_iterations; /* limit of repetitions in a macro step; 0: the loose scheme */
    /* largest change of an interface force (N) or torque (N m) that has converged */
    double tolerance;
    double relative_tolerance; /* the same, relative to the wrench */
    yk_acceleration acceleration;
    yk_prescribed_velocity prescribed_velocity; /* that is prescribed to motion sides */
    /* how often a step that does not converge may be halved; 0: it is taken as it is */
    int max_halvings;
    yk_exchange exchange; /* without iterations */
} yk_tight_options;

yk_tight_options yk_tight_options_default(void);
yk_tight_options yk_loose_default(void);
const yk_scheme_ops *yk_scheme_tight(void);
const yk_scheme_ops *yk_scheme_loose(void);

/* Monolithic: the parts merged to one subsystem with the joints as constraints: the reference. */
typedef struct yk_monolithic_options {
    int max_iterations; /* limit of repetitions of wires that go in a circle */
} yk_monolithic_options;

yk_monolithic_options yk_monolithic_options_default(void);
const yk_scheme_ops *yk_scheme_monolithic(void);

/* Index1: polynomial wrenches on both sides, constraints held on all levels; paper index1. */
typedef enum yk_jacobian_update {
    /* kept over steps, improved by each correction, until it does not serve any more */
    YK_JACOBIAN_UPDATE_REUSE,
    YK_JACOBIAN_UPDATE_EVERY_STEP, /* of every step */
    /* of every step, by finite differences even where subsystems report their sensitivities */
    YK_JACOBIAN_UPDATE_FINITE_DIFFERENCES
} yk_jacobian_update;

typedef struct yk_index1_options {
    int polynomial_degree; /* of the coupling wrenches in time, 0 to 3 */
    int max_iterations; /* limit of corrections in a step; 1 is the single Newton step of the paper */
    /* largest change of an interface force (N) or torque (N m) that has converged */
    double tolerance;
    double relative_tolerance; /* the same, relative to the wrench */
    yk_jacobian_update jacobian_update;
    int thread_count; /* subsystems that advance at the same time; 0: one per core */
} yk_index1_options;

yk_index1_options yk_index1_options_default(void);
const yk_scheme_ops *yk_scheme_index1(void);

/* Rim: fast subsystems in small steps against reduced models of the slow ones; paper rim. */
typedef enum yk_extrapolation {
    /* by a reduced model of the slow participant, which feels the wrenches of the fast ones */
    YK_EXTRAPOLATION_INTERFACE_MODEL,
    YK_EXTRAPOLATION_CONSTANT, /* the velocity at the start */
    YK_EXTRAPOLATION_LINEAR,   /* the velocities at the starts of the last two macro steps */
    YK_EXTRAPOLATION_QUADRATIC /* of the last three */
} yk_extrapolation;

/* Where the reduced model says that the ports are. */
typedef enum yk_position_update {
    YK_POSITION_UPDATE_OWN_STEP, /* where the slow participant itself would come to in one step */
    YK_POSITION_UPDATE_INTEGRAL  /* the integral of the velocities, paper rim (45) */
} yk_position_update;

/* What slow participants receive of the wrenches of fast ones. */
typedef enum yk_slow_wrench {
    /* the mean over a macro step, so that the impulse is that of the fast participants */
    YK_SLOW_WRENCH_MEAN,
    /* the value at its end: sampled, as papers on co-simulation mostly have it */
    YK_SLOW_WRENCH_LAST
} yk_slow_wrench;

/* Where reduced models come from. */
typedef enum yk_interface_model_source {
    YK_INTERFACE_MODEL_REPORTED, /* by the subsystems where they can, else by trial steps */
    /* By trial steps: those see what happens within the macro step, such as the stiff springs of
     * a flexible mechanism. */
    YK_INTERFACE_MODEL_IDENTIFIED
} yk_interface_model_source;

typedef struct yk_rim_options {
    /* Gauss-Seidel: slow participants take the wrench of the macro step that the fast ones have
     * just made; Jacobi: that of the macro step before. */
    yk_sequence sequence;
    yk_exchange exchange;
    yk_extrapolation extrapolation;
    yk_interface_model_source interface_models;
    yk_slow_wrench slow_wrench;
    yk_position_update position_update;
    /* between fast participants and models in a macro step; 0: at every common step of the fast
     * participants */
    int exchanges_per_step;
    /* none: those with substeps that take no wrench, else those that take motions alone */
    yk_subsystem_list fast_subsystems;
} yk_rim_options;

yk_rim_options yk_rim_options_default(void);
const yk_scheme_ops *yk_scheme_rim(void);

/* Relaxed: the parts of the merged system one by one until nothing changes; paper relaxed. */
typedef struct yk_relaxed_options {
    yk_sequence sequence;
    yk_acceleration acceleration;
    double relative_tolerance; /* largest change of a velocity, relative to the typical velocity */
    int max_sweeps;            /* limit in a macro step */
    int thread_count;          /* Jacobi: parts that are solved at the same time; 0: one per core */
} yk_relaxed_options;

yk_relaxed_options yk_relaxed_options_default(void);
const yk_scheme_ops *yk_scheme_relaxed(void);

/* Whether one step of a subsystem follows wrenches of any degree that the scheme index1 applies.
 * Those that do not need several substeps in a macro step of it. */
bool yk_subsystem_can_follow_polynomials(const yk_subsystem *subsystem);

/* Systems -------------------------------------------------------------------------------------- */

/* The units and axes of the system: SI. */
yk_transform yk_transform_identity(void);

/* Macro steps of variable size. `step` of the system is then the largest, and its multiples stay
 * the times at which yk_system_step ends: results fall on the same grid as with steps of one
 * size. */
typedef struct yk_step_control {
    /* Local error of the interface motions that is aimed at, relative to the largest velocities
     * that they have had; 0: every step is as long as `step`. A scheme that predicts the step
     * compares its prediction with the result; the others take the step again in two halves.
     * Needs rollback of all subsystems. */
    double relative_tolerance;
    double absolute_tolerance; /* the same, absolute (m/s, rad/s) */
    /* step (s) that is taken whatever its error: at impacts and jumps; 0: largest / 10000 */
    double min_step;
    double max_step; /* step (s) that is taken however small its error; 0: `step` */
    /* Times (s) at which forces or inputs jump, in ascending order: macro steps end there, and
     * nothing is extrapolated over them. With steps of one size too. Besides these there are
     * those that subsystems announce (next_event). */
    const double *event_times;
    int event_time_count;
} yk_step_control;

/* Steps of one size, absolute 1e-9, no events. */
yk_step_control yk_step_control_default(void);

/* What a system does where a macro step fails for a numerical reason: numbers that are not finite,
 * a solver without a solution, singular equations. Partners that are gone, and memory that is not
 * there, always stop a run. Each needs rollback of all subsystems, but for stopping. */
typedef enum yk_on_failure {
    YK_ON_FAILURE_STOP,
    /* The step is taken again from its start with half the size, and halved further as long as it
     * fails; after some good steps the size is doubled again, up to the macro step. */
    YK_ON_FAILURE_HALVE,
    /* The step is taken again from its start with another scheme, with which the run goes on. */
    YK_ON_FAILURE_FALLBACK
} yk_on_failure;

typedef struct yk_failure_policy {
    yk_on_failure action;
    int max_halvings; /* of the macro step, at most: the smallest step is a 2^halvings-th of it */
    int steps_before_doubling; /* in a row, after which a halved step is doubled */
    /* The scheme to fall back to. Interfaces must be given the same as by the first one: a motion
     * and a wrench, or a wrench on both sides; neither may merge subsystems. */
    yk_scheme_def fallback_scheme;
} yk_failure_policy;

/* Stop; 10 halvings, 8 good steps. */
yk_failure_policy yk_failure_policy_default(void);

/* Building ------------------------------------------------------------------------------------- */

typedef struct yk_system_def {
    yk_scheme_def scheme;
    double start_time; /* s */
    double macro_step; /* macro step (s): has to be set */
    yk_step_control step_control;
    yk_failure_policy on_failure;
} yk_system_def;

/* The scheme explicit, from 0 s on, in steps of one size; a failure stops it. */
yk_system_def yk_system_default(void);

/* A subsystem in a system. It stays the caller's and must outlive the system, unless it is
 * owned. */
typedef struct yk_subsystem_def {
    const char *name;
    yk_subsystem *subsystem;
    yk_transform transform; /* its units and axes */
    int substeps;           /* steps that it makes in a macro step */
    bool owned; /* destroyed with the system, or with the builder where no system comes of it */
} yk_subsystem_def;

/* In the units and axes of the system, one step per macro step. */
yk_subsystem_def yk_subsystem_default(void);
yk_subsystem_def yk_subsystem_named(const char *name, yk_subsystem *subsystem);

/* All six axes, without a drive, of port 0 of subsystem 0 on both sides. */
yk_interface_def yk_interface_default(void);
/* Two ports clamped to each other: the first takes the wrench, the second the motion. */
yk_interface_def yk_interface_between(const char *name, int wrench_subsystem, int wrench_port,
                                      int motion_subsystem, int motion_port);

/* From port 0 of subsystem 0 to itself. */
yk_wire_def yk_wire_default(void);

typedef struct yk_system_builder yk_system_builder;

/* NULL: the default def. Returns NULL when out of memory, which the functions below take and
 * yk_system_create reports. */
yk_system_builder *yk_system_begin(yk_context *context, const yk_system_def *def);

/* Each returns the id of what was added, by which the functions of a system name it, or YK_NO_ID.
 * What the defs point to, such as names, must outlive the system. */
int yk_system_add_subsystem(yk_system_builder *builder, const yk_subsystem_def *def);
/* A subsystem that the system owns, in its units and axes, one step per macro step. NULL: creating
 * it has failed, which yk_system_create reports with the last message. */
int yk_system_add_owned_subsystem(yk_system_builder *builder, const char *name,
                                  yk_subsystem *subsystem);
/* Of scalar ports, which have one axis, all others are left out. */
int yk_system_add_interface(yk_system_builder *builder, const yk_interface_def *def);
/* The interface of yk_interface_between. */
int yk_system_connect_ports(yk_system_builder *builder, const char *name, int wrench_subsystem,
                            int wrench_port, int motion_subsystem, int motion_port);
int yk_system_add_wire(yk_system_builder *builder, const yk_wire_def *def);

/* Makes the system, and ends the builder whatever comes out. YK_ERROR_ARGUMENT with the name of
 * what is wrong; YK_ERROR_CAPABILITY where a subsystem lacks what the scheme needs. */
yk_status yk_system_create(yk_system_builder *builder, yk_system **system);
/* Ends a builder from which nothing is to be made; NULL is allowed. */
void yk_system_discard(yk_system_builder *builder);

/* Running -------------------------------------------------------------------------------------- */

void yk_system_destroy(yk_system *system);

/* Running, reading and saving a system refuse wrong arguments as yoke/base.h says for all functions:
 * with YK_ERROR_ARGUMENT, or with the value that is named here, and a message. */

/* Finds a consistent initial state, interface wrenches included. May be called again: returns to
 * the start. Redundant joints of a subsystem do not change the motion: they are a warning in the
 * log with their names, and the start returns YK_OK. Before a start that succeeded, a system can
 * neither be stepped nor asked for anything that it does. */
yk_status yk_system_initialize(yk_system *system);

/* One macro step, or as many as step control cuts it into. YK_NOT_CONVERGED: the step was taken
 * with the last iterate. Errors name the time, the subsystem and the remedy in
 * yk_last_message(). */
yk_status yk_system_step(yk_system *system, yk_step_report *report);

/* Starts the system and steps it to the first macro step that ends at or after `end` (s). Errors
 * end it; YK_NOT_CONVERGED where that was the outcome of a step. */
yk_status yk_system_run(yk_system *system, double end);

double yk_system_time(const yk_system *system);
int64_t yk_system_step_count(const yk_system *system);

/* The port with this name, as numbered by the subsystem; -1: there is none. */
int yk_subsystem_find_port(const yk_subsystem *subsystem, const char *name);
int yk_system_find_port(const yk_system *system, int subsystem, const char *name);

/* Motion and wrench of a port as numbered by the subsystem, in the system's units and axes, after
 * start or step. Of a port that does not exist, or before the start, all numbers are NaN; never
 * NULL. */
const yk_port_value *yk_system_port_value(const yk_system *system, int subsystem, int port);
/* A channel as numbered by the subsystem, in SI units and in the subsystem's own axes; also of
 * subsystems that the scheme has merged. A channel whose unit is not an SI unit, such as "bar",
 * stays in that unit. */
yk_status yk_system_read_channel(const yk_system *system, int subsystem, int channel,
                                 double *values);
/* What moves in place of a subsystem: itself, or the whole that the scheme has merged it into and
 * that it is the given part of, with the units and axes of what moves. NULL: there is no such
 * subsystem. */
const yk_subsystem *yk_system_visible_subsystem(const yk_system *system, int subsystem, int *part,
                                                yk_transform *transform);
/* The value of a wire's source at the present time, with gain and offset. The target of a wire with
 * `hold` takes it in the next macro step. NaN: there is no such wire. */
double yk_system_wire_value(const yk_system *system, int wire);

/* Wires that feed back to themselves at once, through subsystems with direct feed-through. Such a
 * loop is solved inside each step if its subsystems can be rolled back and have no interfaces; others
 * lag by a macro step, unless the scheme iterates. */
typedef struct yk_algebraic_loop {
    const char
        *text;     /* its wires: "'a.loop' -> 'b.loop.measured', 'b.loop' -> 'a.loop.measured'" */
    int wire;      /* one of them; with `hold` it closes no loop */
    bool solved;   /* by Newton's method, or by the iterations of the scheme */
    bool iterated; /* by the iterations of the scheme */
} yk_algebraic_loop;

int yk_system_loop_count(const yk_system *system);
/* An empty text: there is no such loop. */
yk_algebraic_loop yk_system_loop(const yk_system *system, int loop);
/* Gain of a loop over one macro step of the given size, found after start by small changes of its
 * signals: the largest modulus of an eigenvalue. A loop that lags by a macro step grows without
 * bounds if its gain is 1 or more. State, outputs and statistics stay as they were. NaN: not known,
 * because a subsystem cannot return to an earlier state, or there is no such loop. */
double yk_system_loop_gain(yk_system *system, int loop, double step);

/* False if the subsystem does not report it; of parts that were merged the first reports the
 * whole. */
bool yk_system_energy(const yk_system *system, int subsystem, yk_energy *energy);

/* Where the energy of a subsystem came from, in J, since the start:
 *
 *   kinetic + potential - start + dissipated = external + interfaces + numerical */
typedef struct yk_energy_balance {
    bool known; /* it reports its energy, or has no ports that could carry any */
    double kinetic, potential;
    double initial; /* kinetic + potential at the start */
    double dissipated;
    /* fed in by forces, drives and pumps of its own; not known: all that its interfaces took */
    double external_work;
    double interface_work; /* work of its interfaces on it */
    double numerical;      /* made by the integration, beyond all that; negative: lost by it */
} yk_energy_balance;

/* Parts of a merged system show the whole in the first. */
yk_energy_balance yk_system_energy_balance(const yk_system *system, int subsystem);

/* Whether the scheme prescribes the motion of the second side of an interface, and not a wrench or
 * nothing at all. */
bool yk_system_is_motion_prescribed(const yk_system *system, int interface);

/* Whether another master carries a subsystem (yk_time_window_ops): the start then waits for partners. */
bool yk_system_uses_time_windows(const yk_system *system);

/* How far the two sides of an interface are apart now, along the constrained axes. NaN: there is no
 * such interface, or the system has not started. */
typedef struct yk_interface_gap {
    double position;         /* m */
    double rotation;         /* rad */
    double velocity;         /* m/s */
    double angular_velocity; /* rad/s */
} yk_interface_gap;

yk_interface_gap yk_system_interface_gap(const yk_system *system, int interface);

/* The whole state as one image (see yk_state_layout), after start; the clock is in its opaque
 * part, statistics are not in it. Words are 0 if a subsystem cannot be rolled back. Some subsystems
 * (FMUs) prepare for images only when this is called, or if the scheme repeats steps. */
yk_state_layout yk_system_state_layout(const yk_system *system);
/* The same layout, for callers that take images and do not set them in this run (checkpoints). */
yk_state_layout yk_system_saved_layout(yk_system *system);
yk_status yk_system_get_state(const yk_system *system, double *image);
/* An image that this system did not fill is refused with YK_ERROR_ARGUMENT, and so are numbers that
 * are not finite; nothing is changed then. */
yk_status yk_system_set_state(yk_system *system, const double *image);
/* A fingerprint of that image, or of the outputs where there is none: equal states have equal
 * hashes, to the last bit. */
yk_status yk_system_state_hash(yk_system *system, uint64_t *hash);
/* Whether subsystems in other processes have answered. Images, energies and channels that were read
 * before count where this is YK_OK: reading them cannot fail by itself. */
yk_status yk_system_remote_status(yk_system *system);

/* Whether the image means something outside this process, so that it can be kept in a file. Where
 * it does not, or where there is none, the first subsystem that causes it; -1: all is well. */
int yk_system_first_without_state(const yk_system *system);

typedef struct yk_subsystem_statistics {
    int64_t calls;
    int64_t steps; /* made in them: several per call of a subsystem with substeps */
    /* spent in the subsystem; measured on a sample of the steps when they are short */
    double wall_time;
    int64_t model_calls; /* for models of its next step or of its interfaces */
    double model_wall_time;
} yk_subsystem_statistics;

typedef struct yk_interface_statistics {
    yk_interface_gap max_gap;
    /* J: on the side that takes the wrench, and on the side that takes the motion */
    double work[2];
    /* J: work that the two sides received and neither gave; negative: destroyed */
    double energy_created;
    /* N s or N m s: the wrench over time, and what iterations that did not converge left of its
     * change. */
    double impulse, residual_impulse;
    double max_residual; /* N or N m */
} yk_interface_statistics;

typedef struct yk_system_statistics {
    int64_t steps; /* macro steps that were taken */
    int64_t iterations;
    int64_t steps_not_converged;
    double time_not_converged;       /* s, that these steps covered */
    double first_not_converged_time; /* s, the end of the first of them */
    /* the subsystem that changed most in the first of them, where the scheme reports it */
    int worst_subsystem;
    /* sum of what they left, as parts of the typical velocity, where it reports that */
    double residual_not_converged;
    int64_t steps_halved;
    int max_iterations;
    int last_iterations; /* of the last macro step, all parts that it was cut into together */
    /* step control: repeated because of their error, or because a subsystem failed */
    int64_t steps_rejected;
    int64_t
        steps_accepted_at_min_step; /* step control: taken at the smallest size in spite of their error */
    double min_step;                /* s */
    double max_step;                /* s */
} yk_system_statistics;

yk_system_statistics yk_system_get_statistics(const yk_system *system);
/* What the scheme counts besides; returns the number of rows. */
int yk_system_scheme_statistics(const yk_system *system,
                                yk_scheme_statistic rows[YK_SCHEME_STATISTICS_MAX]);
yk_subsystem_statistics yk_system_subsystem_statistics(const yk_system *system, int subsystem);
yk_interface_statistics yk_system_interface_statistics(const yk_system *system, int interface);

/* Steps that failed and were taken again by the policy of the system. */
typedef struct yk_system_failures {
    int64_t count;
    double first_time, last_time; /* s: the starts of the first and of the last of them */
    int subsystem;                /* that failed in the first; -1: not known */
    double min_step;              /* s: the smallest step that halving led to; 0: none was halved */
    bool used_fallback;           /* the run goes on with the other scheme, since `last` */
    char first_message[400];      /* the message of the first */
} yk_system_failures;

yk_system_failures yk_system_get_failures(const yk_system *system);

/* Goes on with the scheme to fall back to, from the present time on, where the system has one that
 * is not yet in use: for callers that see a run go wrong before a step of it fails.
 * YK_ERROR_CAPABILITY if there is none. `reason` is kept as the message of a failure. */
yk_status yk_system_switch_to_fallback(yk_system *system, const char *reason);

/* What a system knows besides its state, as 8-byte words: all statistics but those of the scheme,
 * and what its ports, interfaces and wires showed last. With the state image it is what a run that
 * is resumed in another process continues from; restored after the state is set. Restoring checks
 * the words: YK_ERROR_ARGUMENT if no such system has them, and the system may then only be
 * destroyed. */
size_t yk_system_checkpoint_size(const yk_system *system);
yk_status yk_system_get_checkpoint_data(const yk_system *system, double *words);
yk_status yk_system_set_checkpoint_data(yk_system *system, const double *words);

/* What an interface joins. Along the direction, of all that the joint constrains, in which they
 * differ most: the effective masses (kg) or inertias (kg m2) of both sides, with what is joined
 * to either of them by other interfaces, as a step feels them: springs and dampers count as the
 * mass that would need the same wrench in a step. */
typedef struct yk_interface_masses {
    /* 0 to 5: x, y, z, rx, ry, rz of the motion side's marker, the nearest; -1: not known */
    int axis;
    double wrench_mass; /* of the side that takes the wrench */
    double motion_mass; /* of the side that takes the motion */
    double mass_ratio;  /* motion side by wrench side; NaN if not known */
} yk_interface_masses;

/* Of all interfaces, found after start by trying small changes in steps of the given size; needs
 * subsystems that can be rolled back. Not known where both sides take wrenches. State, outputs
 * and statistics stay as they were. */
yk_status yk_system_probe_interfaces(yk_system *system, double step, yk_interface_masses *probes);

#ifdef __cplusplus
}
#endif

#endif
