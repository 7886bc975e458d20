/* Coupled systems.
 *
 * A system connects subsystems at their ports and advances them with a coupling scheme.
 *
 *     yk_system_def def = yk_system_default();
 *     def.macro_step = 1e-3;
 *     yk_system_builder *builder = yk_system_begin(context, &def);
 *     yk_subsystem_id left = yk_system_add_owned_subsystem(builder, "left", left_subsystem);
 *     yk_subsystem_id right = yk_system_add_owned_subsystem(builder, "right", right_subsystem);
 *     yk_system_connect_ports(builder, "joint", left, tip, right, base);
 *
 *     yk_system *system;
 *     yk_status status = yk_system_create(builder, &system);      // frees the builder
 *     if (status == YK_OK)
 *         status = yk_system_run(system, 2.0);                    // initialize and step to 2 s
 *     yk_system_destroy(system);
 *
 * Errors in the description are collected and reported by yk_system_create(). Time is an integer number of macro
 * steps, so that it does not drift; step control subdivides macro steps, but does not move their ends. All quantities
 * are in SI units and in the axes of the system.
 *
 * yoke/access.h reads and changes a running system: channels, bodies, inputs, parameters, callbacks, snapshots. */
#ifndef YOKE_SYSTEM_H
#define YOKE_SYSTEM_H

#include "yoke/base.h"
#include "yoke/scheme_ops.h"
#include "yoke/schemes.h"
#include "yoke/subsystem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Building ------------------------------------------------------------------------------------- */

/* A wire carries a number of one subsystem to a signal input of another, without power.
 *
 * During a macro step the target sees a straight line between the values at both ends of the step if the source has
 * already made the step (Gauss-Seidel, later iterations), otherwise the value at the start. */
typedef struct yk_wire_def {
    const char *name;
    yk_subsystem_id source_subsystem;
    yk_port_id source_port; /* Any port; YK_NULL_PORT: a channel. */
    int source_channel;     /* Index in the list of the subsystem; used if source_port is null. */
    /* For a port, the index of a double in yk_port_value; for a channel, the index of its value. Both in SI units. */
    int component_index;
    yk_subsystem_id target_subsystem;
    yk_port_id target_port; /* A signal input. */
    /* The target receives the value at the start of the macro step for the whole step. */
    bool sample_and_hold;
    /* The wire carries gain * value + offset. */
    double gain, offset;
} yk_wire_def;

/* The units and axes of the system: SI. */
yk_transform yk_transform_identity(void);

/* Variable macro steps. `macro_step` of the system is then the largest step, and yk_system_step() still ends at its
 * multiples, so that results fall on the same grid as with constant steps. */
typedef struct yk_step_control {
    /* Target of the local error of the interface motions, relative to the largest velocities so far; 0: constant
     * steps. A scheme that predicts the step compares its prediction with the result; the others repeat the step in
     * two halves. Needs rollback of all subsystems. */
    double relative_tolerance;
    double absolute_tolerance; /* The same, absolute (m/s, rad/s). */
    /* Smallest step (s), accepted with any error, for example at impacts; 0: max_step / 10000. */
    double min_step;
    double max_step; /* Largest step (s); 0: macro_step. */
    /* Times (s) at which forces or inputs are discontinuous, in ascending order. Macro steps end there and nothing is
     * extrapolated over them, also with constant steps. Subsystems announce their own events (yk_event_ops). */
    const double *event_times;
    int event_time_count;
} yk_step_control;

/* Constant steps, absolute tolerance 1e-9, no events. */
yk_step_control yk_step_control_default(void);

/* Reaction of a system to a macro step that fails for a numerical reason: values that are not finite, a solver without
 * a solution, singular equations. A lost partner or missing memory always stops a run. Every reaction except
 * stopping needs rollback of all subsystems. */
typedef enum yk_on_failure {
    YK_ON_FAILURE_STOP,
    /* Repeat the step with half its size, and halve again while it fails. After some good steps the size is doubled
     * again, up to the macro step. */
    YK_ON_FAILURE_HALVE,
    /* Repeat the step with another scheme, and continue with that scheme. */
    YK_ON_FAILURE_FALLBACK
} yk_on_failure;

typedef struct yk_failure_policy {
    yk_on_failure action;
    int max_halvings;          /* The smallest step is the macro step / 2^max_halvings. */
    int steps_before_doubling; /* Good steps in a row after which a halved step is doubled. */
    /* Scheme of YK_ON_FAILURE_FALLBACK. Its interfaces must exchange the same quantities as those of the first scheme,
     * and neither scheme may merge subsystems. */
    yk_scheme_def fallback_scheme;
} yk_failure_policy;

/* Stop; 10 halvings, 8 good steps. */
yk_failure_policy yk_failure_policy_default(void);

typedef struct yk_system_def {
    yk_scheme_def scheme;
    double start_time; /* s */
    double macro_step; /* s; required */
    yk_step_control step_control;
    yk_failure_policy on_failure;
} yk_system_def;

/* The scheme explicit, start at 0 s, constant steps, stop at a failure. */
yk_system_def yk_system_default(void);

/* A subsystem in a system. It belongs to the caller and must outlive the system, unless it is owned. */
typedef struct yk_subsystem_def {
    const char *name;
    yk_subsystem *subsystem;
    yk_transform transform; /* Units and axes of the subsystem. */
    int substeps;           /* Steps of the subsystem per macro step. */
    bool owned; /* Destroyed with the system, or with the builder if no system is created. */
} yk_subsystem_def;

/* Units and axes of the system, one step per macro step. */
yk_subsystem_def yk_subsystem_default(void);
yk_subsystem_def yk_subsystem_named(const char *name, yk_subsystem *subsystem);

/* All six axes constrained, no drive, port 0 of subsystem 0 on both sides. */
yk_interface_def yk_interface_default(void);
/* A fixed joint between two ports: the first receives the wrench, the second the motion. */
yk_interface_def yk_interface_between(const char *name, yk_subsystem_id wrench_subsystem,
                                      yk_port_id wrench_port, yk_subsystem_id motion_subsystem,
                                      yk_port_id motion_port);

/* From port 0 of subsystem 0 to itself, gain 1. */
yk_wire_def yk_wire_default(void);

typedef struct yk_system_builder yk_system_builder;

/* NULL: the default def. Returns NULL if memory is missing; the functions below accept NULL, and yk_system_create()
 * reports it. */
yk_system_builder *yk_system_begin(yk_context *context, const yk_system_def *def);

/* Each function returns the id of the added object, or a null id after an error. Names and other data that a def points to must
 * outlive the system. */
yk_subsystem_id yk_system_add_subsystem(yk_system_builder *builder, const yk_subsystem_def *def);
/* Adds a subsystem that the system owns, in the units and axes of the system, with one step per macro step. NULL: its
 * creation failed, which yk_system_create() reports with the last message. */
yk_subsystem_id yk_system_add_owned_subsystem(yk_system_builder *builder, const char *name,
                                              yk_subsystem *subsystem);
/* Scalar ports have one axis; all others are ignored. */
yk_interface_id yk_system_add_interface(yk_system_builder *builder, const yk_interface_def *def);
/* Adds the interface of yk_interface_between(). */
yk_interface_id yk_system_connect_ports(yk_system_builder *builder, const char *name,
                                        yk_subsystem_id wrench_subsystem, yk_port_id wrench_port,
                                        yk_subsystem_id motion_subsystem, yk_port_id motion_port);
yk_wire_id yk_system_add_wire(yk_system_builder *builder, const yk_wire_def *def);
/* Connects a signal port to an input that the program sets while the system runs (yk_system_set_input()). */
yk_input_id yk_system_add_input(yk_system_builder *builder, const char *name,
                                yk_subsystem_id subsystem, yk_port_id port, double value);

/* Creates the system and frees the builder, also after an error. YK_ERROR_ARGUMENT: the description is wrong.
 * YK_ERROR_CAPABILITY: a subsystem lacks a capability that the scheme needs. */
yk_status yk_system_create(yk_system_builder *builder, yk_system **system);
/* Frees a builder without creating a system; NULL is allowed. */
void yk_system_discard(yk_system_builder *builder);

/* Running -------------------------------------------------------------------------------------- */

void yk_system_destroy(yk_system *system);

/* Functions of a system check their arguments as described in yoke/base.h: they return YK_ERROR_ARGUMENT, or the value
 * that is named here, and set a message. */

/* Computes a consistent initial state, including the interface wrenches. May be called again to return to the start.
 * Redundant joints of a subsystem do not change the motion: they cause a warning with their names, and the status is
 * YK_OK. A system cannot be stepped or read before it was initialized successfully. */
yk_status yk_system_initialize(yk_system *system);

/* Makes one macro step, subdivided by step control. YK_NOT_CONVERGED: the step was accepted with the last iterate.
 * The message of an error names the time, the subsystem and a remedy. `report` may be NULL. */
yk_status yk_system_step(yk_system *system, yk_step_report *report);

/* Initializes the system and steps it to the first macro step that ends at or after `end` (s). Stops at an error.
 * YK_NOT_CONVERGED: at least one step did not converge. */
yk_status yk_system_run(yk_system *system, double end);

double yk_system_time(const yk_system *system);
int64_t yk_system_step_count(const yk_system *system);

/* Destroys a subsystem that no system owns; NULL is allowed. */
void yk_subsystem_destroy(yk_subsystem *subsystem);
/* YK_NULL_PORT: there is no port with this name. */
yk_port_id yk_subsystem_find_port(const yk_subsystem *subsystem, const char *name);
yk_port_id yk_system_find_port(const yk_system *system, yk_subsystem_id subsystem,
                               const char *name);

/* Motion and wrench of a port, in the units and axes of the system. All numbers are NaN if the port does not exist or
 * the system is not initialized; never NULL. */
const yk_port_value *yk_system_port_value(const yk_system *system, yk_subsystem_id subsystem,
                                          yk_port_id port);
/* Reads a channel of a subsystem, in SI units and in the axes of the subsystem, also if the scheme has merged the
 * subsystem. A channel whose unit is not an SI unit, such as "bar", stays in that unit. */
yk_status yk_system_read_channel(const yk_system *system, yk_subsystem_id subsystem, int channel,
                                 double *values);
/* The object that moves for a subsystem: the subsystem itself, or the merged subsystem of which it is the given part,
 * with the units and axes of that object. NULL: there is no such subsystem. */
const yk_subsystem *yk_system_visible_subsystem(const yk_system *system, yk_subsystem_id subsystem,
                                                int *part, yk_transform *transform);
/* The value of a wire's source at the present time, with gain and offset. The target of a wire with `sample_and_hold`
 * receives it in the next macro step. NaN: there is no such wire. */
double yk_system_wire_value(const yk_system *system, yk_wire_id wire);

/* An algebraic loop: wires that feed back to themselves without delay, through subsystems with direct feed-through. A
 * loop is solved at the start, and inside each step if its subsystems can be rolled back and have no interfaces, or if the
 * scheme iterates; otherwise it lags by a macro step. */
typedef struct yk_algebraic_loop {
    const char *text; /* Its wires: "'a.out' -> 'b.in', 'b.out' -> 'a.in'". */
    yk_wire_id wire;  /* One of them; `sample_and_hold` on it opens the loop. */
    bool solved;      /* By Newton's method, or by the iterations of the scheme. */
    bool iterated;    /* By the iterations of the scheme. */
    bool coupled;     /* Some of its subsystems has an interface. */
} yk_algebraic_loop;

int yk_system_loop_count(const yk_system *system);
/* The text is empty if there is no such loop. */
yk_algebraic_loop yk_system_loop(const yk_system *system, int loop);
/* Gain of a loop over one macro step of the given size: the largest modulus of an eigenvalue, found by small changes of
 * its signals. A loop that lags by a macro step grows without bound if its gain is 1 or more. State, outputs and
 * statistics do not change. NaN: unknown, because a subsystem cannot be rolled back or there is no such loop. */
double yk_system_loop_gain(yk_system *system, int loop, double step);

/* False: the subsystem does not report its energy. The first of several merged subsystems reports the whole. */
bool yk_system_energy(const yk_system *system, yk_subsystem_id subsystem, yk_energy *energy);

/* Energy balance of a subsystem since the start (J):
 *
 *   kinetic + potential - initial + dissipated = external_work + interface_work + numerical */
typedef struct yk_energy_balance {
    bool known; /* The subsystem reports its energy, or has no ports that could carry any. */
    double kinetic, potential;
    double initial; /* kinetic + potential at the start */
    double dissipated;
    /* Work of the subsystem's own forces, drives and pumps. Unknown balances have all work of the interfaces here. */
    double external_work;
    double interface_work; /* Work of the interfaces on the subsystem. */
    double numerical;      /* Created by the integration; negative: lost by it. */
} yk_energy_balance;

/* The first of several merged subsystems has the balance of the whole. */
yk_energy_balance yk_system_energy_balance(const yk_system *system, yk_subsystem_id subsystem);

/* Whether the scheme prescribes the motion of the second side of an interface. */
bool yk_system_is_motion_prescribed(const yk_system *system, yk_interface_id interface);

/* Whether an external coupling library controls a subsystem (yk_time_window_ops). Initialization then waits for it. */
bool yk_system_uses_time_windows(const yk_system *system);

/* Difference between the two sides of an interface along the constrained axes. NaN: there is no such interface, or the
 * system is not initialized. */
typedef struct yk_interface_gap {
    double position;         /* m */
    double rotation;         /* rad */
    double velocity;         /* m/s */
    double angular_velocity; /* rad/s */
} yk_interface_gap;

yk_interface_gap yk_system_interface_gap(const yk_system *system, yk_interface_id interface);
/* The gaps with which the two sides started, before the first step closed them. NaN also for sides that the scheme has merged. */
yk_interface_gap yk_system_interface_start_gap(const yk_system *system, yk_interface_id interface);

/* State ---------------------------------------------------------------------------------------- */

/* The state of all subsystems and the clock as one image (yk_state_layout); statistics are not part of it. The word count
 * is 0 if a subsystem cannot be rolled back. Some subsystems (FMUs) prepare for images only when this is called, or if
 * the scheme repeats steps. yk_snapshot (yoke/access.h) is the convenient form. */
yk_state_layout yk_system_state_layout(const yk_system *system);
/* The same layout for callers that save images and never restore them in this run (checkpoints). */
yk_state_layout yk_system_saved_layout(yk_system *system);
yk_status yk_system_get_state(const yk_system *system, double *image);
/* YK_ERROR_ARGUMENT, without any change, if the image does not come from such a system or has values that are not
 * finite. */
yk_status yk_system_set_state(yk_system *system, const double *image);
/* A hash of the image, or of the outputs if there is no image: equal states have equal hashes, to the last bit. */
yk_status yk_system_state_hash(yk_system *system, uint64_t *hash);
/* Status of the subsystems in other processes. Images, energies and channels that were read before are valid if this is
 * YK_OK. */
yk_status yk_system_remote_status(yk_system *system);

/* The first subsystem whose state cannot be written to a file, because it has no image or because the image is valid in
 * this process only. YK_NULL_SUBSYSTEM: there is none. */
yk_subsystem_id yk_system_first_without_state(const yk_system *system);

/* Statistics ----------------------------------------------------------------------------------- */

typedef struct yk_subsystem_statistics {
    int64_t calls;
    int64_t steps; /* Several per call if the subsystem has substeps. */
    double
        wall_time; /* In the subsystem (s); measured on a sample of the steps if they are short. */
    int64_t model_calls;    /* Evaluations of step models and interface models. */
    double model_wall_time; /* s */
} yk_subsystem_statistics;

typedef struct yk_interface_statistics {
    yk_interface_gap max_gap;
    double work[2]; /* On the wrench side and on the motion side (J). */
    double
        energy_created; /* Work that the two sides received and neither supplied (J); negative: destroyed. */
    double impulse;          /* The wrench integrated over time (N s, N m s). */
    double residual_impulse; /* The part of it that iterations without convergence left open. */
    double max_residual;     /* N or N m */
} yk_interface_statistics;

typedef struct yk_system_statistics {
    int64_t steps; /* Accepted macro steps. */
    int64_t iterations;
    int64_t steps_not_converged;
    double time_not_converged;       /* Simulated time that these steps cover (s). */
    double first_not_converged_time; /* End of the first of them (s). */
    yk_subsystem_id
        worst_subsystem; /* Largest change in the first of them, if the scheme reports it. */
    double residual_not_converged; /* Sum of their residuals, relative to the typical velocity. */
    int64_t steps_halved;
    int max_iterations;
    int last_iterations;    /* Of the last macro step, with all its subdivisions. */
    int64_t steps_rejected; /* Step control: repeated because of the error or of a failure. */
    int64_t
        steps_accepted_at_min_step; /* Step control: accepted although the error was too large. */
    double min_step;                /* s */
    double max_step;                /* s */
} yk_system_statistics;

yk_system_statistics yk_system_get_statistics(const yk_system *system);
/* Counters of the scheme; returns the number of rows. */
int yk_system_scheme_statistics(const yk_system *system,
                                yk_scheme_statistic rows[YK_SCHEME_STATISTICS_MAX]);
yk_subsystem_statistics yk_system_subsystem_statistics(const yk_system *system,
                                                       yk_subsystem_id subsystem);
yk_interface_statistics yk_system_interface_statistics(const yk_system *system,
                                                       yk_interface_id interface);

/* The last failure of a subsystem as data; yk_last_message() has the words. */
typedef struct yk_failure {
    yk_status status; /* YK_OK: no subsystem has failed. */
    double time;      /* End of the step that failed, or the start (s). */
    int64_t step;     /* Number of the step, from 1; 0: the start. */
    yk_subsystem_id
        subsystem; /* That failed; merged subsystems count as the first of them. Null: none. */
    /* The interface that created most of the energy of an unstable coupling. Null: the coupling is not the cause, or the cause
     * is unknown because some subsystem does not report its energy. */
    yk_interface_id interface;
    double energy; /* Energy that the coupling created (J), if the interface is known. */
    bool is_cause_known;
} yk_failure;

yk_failure yk_system_last_failure(const yk_system *system);

/* Steps that failed and were repeated by the failure policy. */
typedef struct yk_system_failures {
    int64_t count;
    double first_time, last_time; /* Starts of the first and of the last of them (s). */
    yk_subsystem_id subsystem;    /* That failed in the first of them; null: unknown. */
    double min_step;              /* Smallest step after halving (s); 0: no step was halved. */
    bool used_fallback;           /* The run continues with the fallback scheme, since last_time. */
    char first_message[400];
} yk_system_failures;

yk_system_failures yk_system_get_failures(const yk_system *system);

/* Continues with the fallback scheme from the present time on, if the system has one that is not in use yet; for
 * callers that detect a problem before a step fails. `reason` becomes the message of a failure. YK_ERROR_CAPABILITY:
 * there is no fallback scheme. */
yk_status yk_system_switch_to_fallback(yk_system *system, const char *reason);

/* Data that a resumed run needs in addition to the state image, as 8-byte words: statistics except those of the scheme,
 * input values, and the last outputs of ports, interfaces and wires. Set them after the state.
 * yk_system_set_checkpoint_data() checks the words: after YK_ERROR_ARGUMENT the system may only be destroyed. */
size_t yk_system_checkpoint_size(const yk_system *system);
yk_status yk_system_get_checkpoint_data(const yk_system *system, double *words);
yk_status yk_system_set_checkpoint_data(yk_system *system, const double *words);

/* Effective masses (kg) or inertias (kg m^2) of both sides of an interface, along the constrained direction in which they
 * differ most. They include everything that other interfaces attach to a side. Springs and dampers count as the mass that
 * would need the same wrench in a step. */
typedef struct yk_interface_masses {
    int axis; /* 0 to 5: x, y, z, rx, ry, rz of the motion side's marker (nearest); -1: unknown. */
    double wrench_mass; /* Of the wrench side. */
    double motion_mass; /* Of the motion side. */
    double mass_ratio;  /* motion_mass / wrench_mass; NaN: unknown. */
} yk_interface_masses;

/* Finds the masses of all interfaces by small changes in steps of the given size. Needs subsystems that can be rolled
 * back. The masses are unknown if both sides receive wrenches. State, outputs and statistics do not change. */
yk_status yk_system_probe_interfaces(yk_system *system, double step, yk_interface_masses *masses);

#ifdef __cplusplus
}
#endif

#endif
