/* The inside of a coupled system, and the verbs that schemes are made of.
 *
 * A scheme is one function that carries all subsystems from t to t + h. It sees the system through a few verbs
 *
 *   predict   the motion of a wrench side at t + h, before it is known
 *   advance   one subsystem over the macro step with its inputs, and gather its outputs
 *   mark      remember the state of all subsystems
 *   rewind    return one subsystem to the mark
 *   carry     the signals of a subsystem from what their sources are known to give (wire.c)
 *
 * so that every scheme runs on every subsystem that has the capabilities it asks for. */
#ifndef YK_COUPLING_SYSTEM_H
#define YK_COUPLING_SYSTEM_H

#include "base/pool.h"
#include "coupling/acceleration.h"
#include "yoke/coupling.h"

/* One wire in its place. */
typedef struct yk_wire {
    yk_wire_def def;
    double now, before; /* the source's value now, and at the start of the macro step */
    double *channel;    /* room for the whole channel; NULL: the source is a port */
    bool lagged;        /* in the sequence that has A sides first, the source comes after the target */
    double given;       /* then, what the target is told at t + h in a sweep of iterations over wrenches */
} yk_wire;

/* One subsystem in its place. */
typedef struct yk_participant {
    yk_subsystem *subsystem;
    const char *name;
    int port_count;
    const yk_port *ports;
    yk_transform *transform; /* NULL: that of the system */
    int substeps;
    /* index1: its substeps get straight lines or means in place of polynomials, so that both sides of an interface receive
     * the same impulse. */
    bool low_order;
    /* With substeps only, per port; part of the state image. */
    yk_wrench *mean_wrenches; /* over the macro step */
    yk_motion *earlier;       /* at the start of the macro step before */
    double earlier_step;      /* size of that step, 0 before the first (s) */
    /* With substeps only, per port, see ledger.c. */
    yk_motion *substep_start;
    double *port_work;      /* of the wrenches over the macro step, substep by substep (J) */
    yk_energy start_energy; /* at the start of the run */
    yk_input *inputs;       /* one per port, in the system's units and axes */
    yk_input *own_inputs;   /* the same as the subsystem takes them */
    yk_port_value *values;  /* one per port: outputs at the end of the last step or trial */
    yk_motion *before;      /* one per port: motion at the start of the macro step */
    yk_state_layout layout; /* zero if it cannot be rolled back */
    double *mark;           /* state image at the last mark */
    bool iterates;          /* takes wrenches only, and offers single iterations of its solver */
    /* All wrenches that it takes as one vector: as applied, and as the motion sides now need them. */
    int wrench_size;
    double *applied, *fresh;
    double *sensitivity; /* where the next advance puts its sensitivities; NULL: none wanted */
    int sensitivity_degree;
    int64_t difference_runs;
    yk_status status; /* of the last advance */
    yk_subsystem_statistics statistics;
    int64_t timed_calls;
    yk_motion *
        moments; /* index1, behind relations only, per port: of the wrenches over the macro step, see index1_relation.c */
    bool advanced; /* its outputs are those of a step or trial that ends with the macro step */
    int wire_count;
    yk_wire **wires; /* those that it is the source of */
} yk_participant;

/* One interface in its place. Side A takes the wrench, side B the motion. */
typedef struct yk_interface {
    yk_interface_def def;
    yk_port_kind kind;
    bool relation;        /* index1: side B cannot take a wrench, and is told the motion of A */
    bool balanced;        /* one wrench on both sides, see balance.h */
    int a_index, b_index; /* of the two sides in the Gauss-Seidel sequence */
    bool lagged;          /* in the sequence that has A sides first, A comes after B nevertheless: a circle */
    yk_motion given;      /* then, of A at t + h: what B is told in a sweep of iterations over wrenches */
    yk_wrench applied;    /* on A in this macro step */
    yk_wrench before;     /* what balanced B's wrench at the start of it, on A */
    yk_vec3 origin;       /* of A's marker where B's wrench belongs: the place at t + h that B was told */
    double residual;      /* what the iterations of this step left of the wrench's change (N or N m) */
    double largest;       /* wrench of any iteration of this step: what is rounding beside it has converged */
    yk_interface_statistics statistics;
    yk_interface_statistics kept; /* before a step that may be taken back */
} yk_interface;

/* A subsystem of the def as the system has it: its participant, and where its ports and channels begin there. */
typedef struct yk_system_part {
    int participant, port, channel;
    bool
        shows; /* the participant's energy and statistics are told as its own: it is the first of those that were merged */
} yk_system_part;

/* Step control at work; all but the definition and the workspace is part of the state image. */
typedef struct yk_controller {
    yk_step_control def;
    double proposal;    /* s, the next step */
    double speed, spin; /* largest of any interface so far (m/s, rad/s) */
    double order;       /* by which power of the step the error falls */
    double floor;       /* error, against the tolerance, that smaller steps do not remove */
    double futile;      /* steps in a row that were too inaccurate at the smallest size ... */
    double least;       /* ... and the smallest of their errors */
    double *image;      /* of the whole system at the start of a step */
    yk_motion *whole;   /* per interface and side: where one whole step led ... */
    yk_motion *middle;  /* ... and by where its middle would be */
} yk_controller;

enum { YK_CONTROLLER_WORDS = 7 };

struct yk_system {
    yk_context *context;
    yk_scheme_def scheme;
    double start, step;
    int64_t step_count;
    double t, h; /* of the step that is being taken: the macro step, or a part of it */
    int participant_count;
    yk_participant *participants;
    int *sequence;         /* Gauss-Seidel order: B sides before their A sides */
    int *wrench_sequence;  /* the other way: A sides before their B sides; for iterations of wrenches */
    int last_wrench_index; /* of the last A side in it */
    int interface_count;
    yk_interface *interfaces;
    int wire_count;
    yk_wire *wires;
    int unknowns_count, start_unknowns_count;
    struct yk_unknowns *unknowns;       /* tight with an acceleration only */
    struct yk_unknowns *start_unknowns; /* of the consistent start */
    struct yk_balance *balance;         /* where interfaces are balanced */
    struct yk_index1 *index1;           /* index1 only */
    struct yk_rim *rim;                 /* rim only */
    struct yk_relaxed *relaxed;         /* relaxed only */
    struct yk_merging *merging;         /* monolithic and relaxed only */
    yk_system_part *parts;              /* one per subsystem of the def */
    yk_pool *pool;                      /* with several threads only: explicit and relaxed Jacobi, index1 */
    yk_controller control;
    yk_state_layout layout;
    double *scratch; /* state image of one participant */
    yk_system_statistics statistics;
};

/* Both sides of an interface. */
static inline yk_participant *yk_interface_a(const yk_system *system, const yk_interface *interface)
{
    return &system->participants[interface->def.wrench_subsystem];
}

/* What side B of an interface takes. */
static inline yk_causality yk_interface_takes(const yk_system *system, const yk_interface *interface)
{
    bool index1 = system->scheme.kind == YK_SCHEME_INDEX1 && !interface->relation;
    return index1 || interface->balanced ? YK_TAKES_WRENCH : YK_TAKES_MOTION;
}

static inline yk_participant *yk_interface_b(const yk_system *system, const yk_interface *interface)
{
    return &system->participants[interface->def.motion_subsystem];
}

/* Verbs ------------------------------------------------------------------------------------------------------------ */

/* See predict.c. */
void yk_system_predict(const yk_system *system, const yk_interface *interface, yk_motion *motion);
yk_status yk_system_advance(yk_system *system, int participant);
/* The same with step_sensitivity: derivatives of its motions by the coefficients of its inputs, in its own units. */
yk_status yk_system_advance_sensitive(yk_system *system, int participant, int degree, double *sensitivity);
/* One iteration of a participant's own solver towards the end of the macro step, and gather its outputs. */
yk_status yk_system_iterate(yk_system *system, int participant);
void yk_system_mark(yk_system *system);
yk_status yk_system_rewind(yk_system *system, int participant);
/* Starts a participant with its inputs, and gathers its outputs. */
yk_status yk_system_start_participant(yk_system *system, int participant);
/* The inputs of a participant in its own units. */
const yk_input *yk_system_inputs(yk_system *system, int participant);
/* Reads the outputs of a participant; advance does it by itself. */
void yk_system_gather(yk_participant *participant);
/* Fills a participant's vectors `fresh` and `applied`, and applies a vector of wrenches to it as inputs. */
void yk_system_pack_wrenches(yk_system *system, int participant);
void yk_system_apply_wrenches(yk_system *system, int participant, const double *wrenches);
/* Sets the signals that a participant takes, before it advances; returns the largest change of one at the end of the step
 * since it was last set, relative to its size or to 1. Schemes that do not call it cannot carry wires. */
double yk_system_carry_signals(yk_system *system, int participant);
/* Keeps the motions now as those at the start of the step that follows. */
void yk_system_keep_start(yk_system *system);
/* After a step that is kept: its start is the earlier motion that the next prediction of participants with substeps knows. At
 * its end, not at the next start, so that the state image has it. */
void yk_system_keep_earlier(yk_system *system);
/* Errors and work of all interfaces since then, into the statistics. */
void yk_system_observe(yk_system *system);
/* Turns the status of a failed participant into an error with time, name and remedy. */
yk_status yk_system_report_failure(yk_system *system, int participant);

/* At creation: whether every participant can be rolled back where the scheme needs it; after the participants have started: room
 * for their states. See state.c. */
yk_status yk_system_check_rollback(const yk_system *system);
yk_status yk_system_prepare_states(yk_system *system);

/* Wires, see wire.c. At creation: checks and connects them; room for them. Reads what a participant gives. At the start: as
 * carry, from the present values. */
yk_status yk_system_check_wires(const yk_system *system); /* whether the scheme carries wires */
yk_status yk_wires_create(yk_system *system, const yk_system_def *def);
void yk_wires_destroy(yk_system *system);
void yk_wires_read(yk_participant *participant);
void yk_wires_carry_start(yk_system *system, int participant);
/* The largest difference, relative to its size or to 1, between a wire's value and what its target started with. */
double yk_wires_start_change(const yk_system *system);

/* Steps: step_control.c. */
yk_status yk_controller_create(yk_system *system, const yk_step_control *def);
yk_status yk_controller_start(yk_system *system);
/* Its part of the state image. */
void yk_controller_get(const yk_controller *controller, double words[YK_CONTROLLER_WORDS]);
void yk_controller_set(yk_controller *controller, const double words[YK_CONTROLLER_WORDS]);
void yk_controller_destroy(yk_system *system);
/* From system->t over system->h by the scheme; all outputs are finite afterwards. */
yk_status yk_system_scheme_step(yk_system *system, yk_step_report *report);
/* Whether a failed step may succeed with a smaller size, or with other wrenches. */
bool yk_step_can_be_mended(yk_status status);
/* Raises speed and spin to the differences of two motions, those in place as what makes them in the time h. */
void yk_motion_error(yk_port_kind kind, double h, const yk_motion *a, const yk_motion *b, double *speed, double *spin);
const char *yk_system_scheme_name(const yk_system *system);
/* Warns of a gap between two sides at the start, and refuses markers that are turned against each other. */
yk_status yk_system_report_start_gap(yk_system *system, const char *name, const yk_interface_error *gap);
/* The gap of an interface at a time, with its prescribed motion. */
yk_interface_error yk_system_gap(const yk_system *system, const yk_interface *interface, double t);

/* Schemes ---------------------------------------------------------------------------------------------------------- */

yk_status yk_explicit_step(yk_system *system, yk_step_report *report);
yk_status yk_tight_step(yk_system *system, yk_step_report *report);
/* The motion of an interface's wrench side over the step, to this end, as the tight scheme prescribes it to the other. */
void yk_tight_motion_input(yk_system *system, yk_interface *interface, const yk_motion *end);
/* The wrench that is applied at an interface, or at all of a participant, as inputs of side A over the step. */
void yk_tight_wrench_input(const yk_system *system, const yk_interface *interface);
void yk_tight_wrench_inputs(yk_system *system, int participant);
yk_status yk_tight_iterate_accelerated(yk_system *system, yk_step_report *report);
yk_status yk_monolithic_step(yk_system *system, yk_step_report *report);
yk_status yk_index1_step(yk_system *system, yk_step_report *report);
yk_status yk_rim_step(yk_system *system, yk_step_report *report);
yk_status yk_relaxed_step(yk_system *system, yk_step_report *report);
/* The motion of an interface's wrench side as the explicit scheme prescribes it to the other. */
void yk_explicit_motion_input(yk_system *system, yk_interface *interface, bool a_advanced);
/* The moments of a participant's wrenches: before it steps, and after each of its substeps, numbered from 1. */
void yk_index1_begin_moments(yk_participant *participant);
void yk_index1_add_moments(yk_participant *participant, int substep);
/* Difference of prediction and result at the interfaces, as the speed and spin that it means over the step. */
void yk_index1_estimate(const yk_system *system, double *speed, double *spin);
bool yk_index1_has_history(const yk_system *system);
/* The wrenches may jump now: nothing is extrapolated from what was before. */
void yk_index1_jump(yk_system *system);

#endif
