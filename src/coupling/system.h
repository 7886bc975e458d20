/* The inside of a coupled system, and the verbs that the schemes of this room use besides those
 * of yoke/scheme.h.
 *
 * A scheme is an object with a table of operations (yoke/scheme.h) that carries all subsystems
 * from t to t + h. It owns what it keeps between steps: nothing in this header belongs to one
 * scheme, and nothing outside a scheme's files asks which one it is. */
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
    bool lagged; /* in the sequence that has A sides first, the source comes after the target */
    /* then, what the target is told at t + h in a sweep of iterations over wrenches */
    double given;
} yk_wire;

/* One subsystem in its place. */
typedef struct yk_participant {
    yk_subsystem *subsystem;
    const char *name;
    int port_count;
    const yk_port *ports;
    yk_transform *transform; /* NULL: that of the system */
    int substeps;
    bool shaped; /* the scheme gives its inputs substep by substep (substep_input) */
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
    /* All wrenches that it takes as one vector: as applied, and as the motion sides now need
     * them. */
    int wrench_size;
    double *applied, *fresh;
    yk_status status; /* of the last advance */
    yk_subsystem_statistics statistics;
    int64_t timed_calls;
    bool advanced; /* its outputs are those of a step or trial that ends with the macro step */
    int wire_count;
    yk_wire **wires; /* those that it is the source of */
} yk_participant;

/* One interface in its place. Side A takes the wrench, side B the motion. */
typedef struct yk_interface {
    yk_interface_def def;
    yk_port_kind kind;
    yk_causality takes;   /* of side B: a wrench, where the scheme applies it to both sides */
    int a_index, b_index; /* of the two sides in the Gauss-Seidel sequence */
    /* in the sequence that has A sides first, A comes after B nevertheless: a circle */
    bool lagged;
    /* then, of A at t + h: what B is told in a sweep of iterations over wrenches */
    yk_motion given;
    yk_wrench applied; /* on A in this macro step */
    yk_vec3 origin; /* of A's marker where B's wrench belongs: the place at t + h that B was told */
    double residual; /* what the iterations of this step left of the wrench's change (N or N m) */
    yk_interface_statistics statistics;
    yk_interface_statistics kept; /* before a step that may be taken back */
} yk_interface;

/* A subsystem of the def as the system has it: its participant, and where its ports and channels
 * begin there. */
typedef struct yk_system_part {
    const char *name;
    int participant, port, channel;
    /* the participant's energy and statistics are told as its own: it is the first of those that
     * were merged */
    bool shows;
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
    yk_scheme *scheme;
    yk_scheme_def scheme_def; /* with the copy of the options */
    void *options;
    int *option_items; /* of the lists in them */
    /* Of the scheme's operations, beside the participants that call it at every step; NULL: it
     * has none. */
    void (*substep)(yk_scheme *scheme, yk_system *system, int participant, int number);
    unsigned traits;
    double start, step;
    int64_t step_count;
    double t, h; /* of the step that is being taken: the macro step, or a part of it */
    int participant_count;
    yk_participant *participants;
    int *sequence; /* Gauss-Seidel order: B sides before their A sides */
    /* the other way: A sides before their B sides; for iterations of wrenches */
    int *wrench_sequence;
    int interface_count;
    yk_interface *interfaces;
    int wire_count;
    yk_wire *wires;
    int start_unknowns_count;
    struct yk_unknowns *start_unknowns; /* of the consistent start */
    struct yk_merging *merging;         /* where the scheme merges */
    int subsystem_count;                /* of the def */
    yk_system_part *parts;              /* one for each of them */
    yk_pool *pool; /* of schemes that advance several participants at the same time */
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

static inline yk_participant *yk_interface_b(const yk_system *system, const yk_interface *interface)
{
    return &system->participants[interface->def.motion_subsystem];
}

/* Both sides, one wrench on each, found by the scheme: none is told a motion. */
static inline bool yk_both_take_wrench(const yk_interface *interface)
{
    return interface->takes == YK_TAKES_WRENCH;
}

/* Where the velocities of each wrench port of a participant begin in its reduced or step model,
 * in the order of its ports: offsets has one entry per port, -1 for those that take no wrench.
 * Returns the number of velocities. */
int yk_system_number_velocities(const yk_system *system, int participant, int *offsets);

/* Verbs ---------------------------------------------------------------------------------------- */

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
typedef yk_status (*yk_preparation)(yk_system *system, int participant, void *user);
yk_status yk_system_advance_prepared(yk_system *system, int participant, yk_preparation prepare,
                                     void *user);
/* One iteration of a participant's own solver towards the end of the macro step, and gather its
 * outputs. */
yk_status yk_system_iterate(yk_system *system, int participant);
/* Several participants at the same time where the scheme has asked for threads; their statuses
 * are in the participants. */
void yk_system_for_all(yk_system *system, int count, yk_pool_work work, void *user);
yk_status yk_system_use_threads(yk_system *system, int threads);
/* The step is now the part of it from t over h; what was reached of a part is kept, and the next
 * begins there. */
void yk_system_begin_part(yk_system *system, double t, double h);
void yk_system_end_part(yk_system *system);
/* Starts a participant with its inputs, and gathers its outputs. */
yk_status yk_system_start_participant(yk_system *system, int participant);
/* The inputs of a participant in its own units. */
const yk_input *yk_system_inputs(yk_system *system, int participant);
/* Reads the outputs of a participant; advance does it by itself. */
void yk_system_gather(yk_participant *participant);
/* Fills a participant's vectors `fresh` and `applied`, and applies a vector of wrenches to it as
 * inputs. */
void yk_system_pack_wrenches(yk_system *system, int participant);
void yk_system_apply_wrenches(yk_system *system, int participant, const double *wrenches);
/* Feed, with what wires that run against the sequence are told of the end of the step. */
double yk_system_carry_given_signals(yk_system *system, int participant);
/* Keeps the motions now as those at the start of the step that follows. */
void yk_system_keep_start(yk_system *system);
/* After a step that is kept: errors and work of its interfaces into the statistics; its start is
 * the earlier motion that the next prediction of participants with substeps knows. At its end,
 * not at the next start, so that the state image has it. */
void yk_system_keep_step(yk_system *system);
/* Errors and work of all interfaces since then, into the statistics. */
void yk_system_observe(yk_system *system);
/* What a participant says of its next step, with the place of its ports' velocities in the model
 * or -1, in the system's units; of its mechanism, in its own units. Their cost is counted from a
 * time of the clock on. */
yk_status yk_system_step_model(yk_system *system, int participant, const int *offsets,
                               yk_step_model *model);
yk_status yk_system_interface_model(yk_system *system, int participant, yk_interface_model *model);
void yk_participant_place_step_model(const yk_participant *participant, const int *offsets,
                                     yk_step_model *model);
void yk_system_count_model(yk_system *system, int participant, double begin);
/* Mark, of one participant. */
void yk_system_mark_participant(yk_system *system, int participant);

/* At creation: whether every participant can be rolled back where the scheme needs it; after the
 * participants have started: room for their states. See state.c. */
bool yk_participant_can_return(const yk_participant *participant);
yk_status yk_system_check_rollback(const yk_system *system);
yk_status yk_system_prepare_states(yk_system *system);

/* Wires, see wire.c. At creation: checks and connects them; room for them. Reads what a
 * participant gives. At the start: as carry, from the present values. */
yk_status yk_wires_create(yk_system *system, const yk_system_def *def);
void yk_wires_destroy(yk_system *system);
void yk_wires_read(yk_participant *participant);
void yk_wires_carry_start(yk_system *system, int participant);
/* The largest difference, relative to its size or to 1, between a wire's value and what its
 * target started with. */
double yk_wires_start_change(const yk_system *system);

/* Steps: step_control.c. */
yk_status yk_controller_create(yk_system *system, const yk_step_control *def);
yk_status yk_controller_start(yk_system *system);
/* Its part of the state image. */
void yk_controller_get(const yk_controller *controller, double words[YK_CONTROLLER_WORDS]);
void yk_controller_set(yk_controller *controller, const double words[YK_CONTROLLER_WORDS]);
void yk_controller_destroy(yk_system *system);
/* From t over `room` by the scheme, or over a part of it; *taken is what was made. All outputs
 * are finite afterwards. */
yk_status yk_controller_step(yk_system *system, double t, double room, double *taken,
                             yk_step_report *report);
/* Forces may jump now. */
void yk_system_announce_event(yk_system *system);
/* Whether a failed step may succeed with a smaller size, or with other wrenches. */
bool yk_step_can_be_mended(yk_status status);
/* Raises speed and spin to the differences of two motions, those in place as what makes them in
 * the time h. */
void yk_motion_error(yk_port_kind kind, double h, const yk_motion *a, const yk_motion *b,
                     double *speed, double *spin);

static inline const char *yk_system_scheme_name(const yk_system *system)
{
    return system->scheme_def.ops->name;
}

/* The gap of an interface at a time, with its prescribed motion. */
yk_interface_error yk_system_gap(const yk_system *system, const yk_interface *interface, double t);

/* At creation: participants, interfaces, wires and their sequences; see wiring.c. */
yk_status yk_wiring_create(yk_system *system, const yk_system_def *def);
void yk_wiring_destroy(yk_system *system);

#endif
