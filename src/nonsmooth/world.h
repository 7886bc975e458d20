/* The nonsmooth subsystem and its parts: a constant model, the state of the run, collision
 * detection, the contact problem, and the workspace of a step. Files that connect parts include
 * this header; the others include that of their part.
 *
 *   model.h      model.c builds it, merge.c joins several, compile.c assigns slots and checks
 *                periods
 *   state.h      state.c writes and reads the image
 *   collision.h  neighbor_list.c, contact_detection.c
 *   world.h      step.c               the time step
 *                prescribed_motion.c  bodies that follow functions and ports; penetration between
 *                                     them and fixed solids
 *                contact_rows.c       contacts as rows of the contact problem, laws of surfaces,
 *                                     impulses of the solution
 *                impact.c             impact laws other than Newton's
 *                joint_rows.c         joints and partly prescribed ports as rows; line ports
 *                energy.c             stored, dissipated and supplied energy
 *                sleep.c              islands at rest, their contacts, and events that wake them
 *                adopt.c              mechanisms of other solvers as worlds
 *                emitter.c            particles that enter and leave
 *                interface.c          response of the ports to wrenches
 *                world.c              creation, start, access between steps
 *                subsystem.c          table of operations; view.c: channels and scene */
#ifndef YK_NONSMOOTH_WORLD_H
#define YK_NONSMOOTH_WORLD_H

#include "base/context.h"
#include "nonsmooth/collision.h"

enum { YK_CONTACT_CHUNKS = 256 };

/* The contact problem of a step: nodes are the dynamic bodies, rows are its contacts and joints. */
typedef struct yk_problem {
    yk_network *network;
    yk_network_node *nodes;
    yk_joint_row *joint_rows;
    size_t joint_row_count;
    size_t *first_row;  /* per joint; joints of sleeping bodies have none */
    size_t *damper_row; /* per force: first row of its damping; SIZE_MAX: none in this step */
    /* Largest overlap (m) and sum of the impulses (N s) per chunk of contacts. */
    double deepest[YK_CONTACT_CHUNKS], exchanged[YK_CONTACT_CHUNKS];
    double approach[YK_CONTACT_CHUNKS], rounding[YK_CONTACT_CHUNKS]; /* largest speeds (m/s) */
} yk_problem;

/* Workspace of impact laws, if there is one (impact.c). */
typedef struct yk_impact_work {
    bool acted; /* an impact occurred in this step */
    /* Per found contact; sum of the impulses of all passes of a step, in the order of the contact
     * problem. */
    yk_contact *rows;
    double *gaps;
    yk_vec3 *impulses, *torques;
    /* Per contact of a pass. */
    size_t count;
    uint32_t *contacts;
    yk_pair *pairs;
    yk_twist *before;
    yk_vec3 *impulse, *torque;
    /* Per joint row. */
    yk_joint_row *joint_rows;
    double *joint_impulses;
    /* Per dynamic body. */
    yk_twist *after; /* velocities after all passes */
    yk_network_node *compressed;
    int32_t *root;
    struct {
        /* work of the impulses, as a polynomial in the fraction of restitution (J) */
        double work[3];
        double fraction; /* applied fraction of the restitution */
    } * islands;
} yk_impact_work;

/* Wrenches that the program applies to bodies (access.c). */
typedef struct yk_pushes {
    size_t count;
    int32_t *slots;      /* of the bodies with a wrench */
    yk_wrench *wrenches; /* per body */
    yk_wrench *applied;  /* memory for step.applied if the model has no forces and ports */
} yk_pushes;

struct yk_nonsmooth {
    yk_subsystem base;
    yk_context *context;
    yk_pool *pool;
    yk_world_model model;
    yk_world_state state;
    yk_collision collision;
    yk_problem problem;
    /* Workspace of a step. Wrenches and impulses are about the centers of mass. */
    struct {
        double h;         /* size of the step */
        yk_twist *before; /* velocities at the start of the step */
        /* Per dynamic body: velocities after impacts, at which the free motion starts; NULL:
         * `before`. */
        const yk_twist *from;
        /* per body: all loads except gravity, contacts and joints; NULL: there are none */
        yk_wrench *applied;
        yk_wrench *received; /* per body with known motion: impulses of contacts and joints */
        double *line_speeds; /* per port, at the start of the step */
        double *partials;    /* one per chunk of bodies */
        double contact_work; /* on bodies with known motion */
        double loss;         /* of force laws */
        double supply;       /* energy supplied by prescribed motions, drives and loads */
        double force_supply; /* part of it by loads */
        double port_work;    /* part of it through ports */
        /* Finite parts that overlap the region of an emitter, and their balls. */
        size_t around_count;
        int32_t *around;
        yk_ball *around_balls;
    } step;
    /* Workspace of sleeping (sleep.c). */
    struct {
        yk_body_state *ahead; /* bodies with known motion, with the velocity of the step */
        yk_wrench *received;  /* per body with known motion: mean wrench from sleeping bodies */
        /* per body: disturbed from outside; known motion: moves in this step */
        uint8_t *disturbed;
        int32_t *root; /* root of the island of each dynamic body */
        yk_contact_list spare;
    } sleep;
    yk_impact_work impact;
    yk_pushes pushes;
    struct yk_world_interface *interface; /* created at the first request */
    bool laid_out;                        /* the memory of a run is allocated */
    bool started;
    yk_own_message message;
    bool has_points; /* collision contains the geometry of the contacts of the state */
    yk_nonsmooth_report report;
    /* of the contact problems since the start, m/s; repeated steps count too */
    double largest_residual;
    double largest_residual_ratio; /* relative to the speed that its step resolves */
    /* Momentum (N s) that contacts and joints exchanged since the start, and sum of the impulses by
     * which they missed their conditions in steps with a ratio above 1. */
    double exchanged_impulse, missed_impulse;
    int64_t steps, unresolved_steps; /* since the start; number of steps with a ratio above 1 */
    size_t passage_count;
    /* Pairs of solids with nothing to prevent penetration (prescribed_motion.c). */
    struct {
        size_t driven, still; /* parts */
        double size;          /* radius of the finite solid (m) */
        double start;         /* depth at the start (m) */
    } * passages;
    double largest_passage; /* since the start (m); repeated steps count too */
    size_t channel_count;
    yk_channel *channels;
    /* Component and owner of each channel (view.c). */
    struct {
        int kind;
        size_t index;
    } * channel_sources;
};

/* world.c */
yk_status yk_world_lay_out(yk_nonsmooth *self);
yk_status yk_world_start(yk_nonsmooth *self, double t, double h, const yk_input *inputs);
/* Called after the state has been set from outside. */
yk_status yk_world_set_state(yk_nonsmooth *self, const double *image);

/* subsystem.c, merge.c */
const yk_subsystem_ops *yk_nonsmooth_ops(void);
yk_status yk_nonsmooth_merge(const yk_merge_def *merge, yk_subsystem **merged);

/* adopt.c: a world with the rigid bodies of a subsystem of another kind, in its numbering, with the
 * options and the gravity of `like`. */
yk_status yk_nonsmooth_adopt(yk_context *context, const yk_nonsmooth_def *like,
                             const yk_subsystem *part, yk_nonsmooth **made);

/* step.c */
yk_status yk_world_step(yk_nonsmooth *self, double t, double h, const yk_input *inputs);
/* Contacts of the present configuration; wakes islands that are touched. */
yk_status yk_world_find_contacts(yk_nonsmooth *self, double h);
/* Velocities without contacts, joints and wrenches at ports, stored in the nodes. Those of bodies
 * with known motion are set to the end of the step; `before` keeps all previous velocities. */
void yk_world_set_free_motion(yk_nonsmooth *self, double t, double h, const yk_input *inputs);

/* prescribed_motion.c: sets the velocities over the step of the bodies with known motion; their
 * poses do not change. */
void yk_world_follow(const yk_nonsmooth *self, double t, double h, const yk_input *inputs,
                     yk_body_state *known);
/* At the start: sets their poses from their functions and ports. */
void yk_world_place_known_bodies(yk_nonsmooth *self, double t, const yk_input *inputs);
/* Derivative of fourth order with the step `width`. */
double yk_world_rate(yk_time_function function, double t, double width);
/* Whether a body would touch something that never moves, if a port did not prescribe its motion;
 * then the check at the start, and at the end of each step. */
bool yk_world_body_may_pass(const yk_world_model *model, int body);
yk_status yk_world_start_passages(yk_nonsmooth *self);
void yk_world_watch_passages(yk_nonsmooth *self);
void yk_world_release_passages(yk_nonsmooth *self);

/* contact_rows.c: adds the found contacts as rows of the problem, whose nodes have the free
 * velocities; after the solution, transfers the impulses to the state and to bodies with known
 * motion. */
yk_status yk_problem_create(yk_nonsmooth *self);
yk_status yk_world_set_contacts(yk_nonsmooth *self, double h);
void yk_world_take_impulses(yk_nonsmooth *self, double h);
/* The speed (m/s) that a step resolves: the change by gravity within a step, because contacts close
 * somewhere within it, or a hundredth of the fastest approach. Call before the impulses are taken. */
double yk_world_resolved_speed(yk_nonsmooth *self, double h);
/* Row i of the problem, for a found contact; returns the gap. */
double yk_world_contact_row(const yk_nonsmooth *self, size_t i, double h, yk_contact *row);
/* Impacts slower than this (m/s) do not rebound. */
double yk_world_bounce_speed(const yk_world_model *model, double h);
/* Resets the wrenches on bodies with known motion to those of sleeping bodies. */
void yk_world_clear_received(yk_nonsmooth *self, double h);

/* impact.c: finds the velocities after impacts, with which the step begins; the caller must set
 * those of the nodes again. */
yk_status yk_world_resolve_impacts(yk_nonsmooth *self, double t, double h, const yk_input *inputs);
/* Adds the effect of an impulse and a torque on side a of a contact to its nodes. */
void yk_world_push(const yk_nonsmooth *self, const yk_pair *pair, const yk_contact *row,
                   yk_vec3 impulse, yk_vec3 torque, yk_network_node *nodes);

/* joint_rows.c: joints, and ports with partly prescribed motion, as rows of the problem; transfer
 * of the reactions. */
yk_status yk_world_set_joint_rows(yk_nonsmooth *self, double t, double h, const yk_input *inputs);
void yk_world_take_reactions(yk_nonsmooth *self, double h);

/* Present state of a line port. */
typedef struct yk_world_line {
    double length, rate;
    double bias;                 /* its second derivative at constant velocities of the bodies */
    yk_vec3 force[2], torque[2]; /* of a unit wrench on both bodies, about their centers of mass */
} yk_world_line;
yk_world_line yk_world_line_at(const yk_nonsmooth *self, const yk_port_model *port);
/* At the end of a step with constant velocities. */
yk_world_line yk_world_line_ahead(const yk_nonsmooth *self, const yk_port_model *port, double h);

/* world.c: mean over the last step of the force of all contacts on the body in a slot. */
yk_vec3 yk_world_contact_force(const yk_nonsmooth *self, int32_t slot);

/* energy.c: adds the energies of the solved step; returns false if a velocity is not finite. */
double yk_world_body_kinetic(const yk_nonsmooth *self, size_t slot, yk_vec3 v, yk_vec3 w);
bool yk_world_balance_energy(yk_nonsmooth *self, double h);

/* sleep.c: at the start of a step, wakes disturbed islands and marks parts that do not move;
 * returns true if everything is at rest, so that no search is needed. After the contacts were
 * found: returns true if islands woke and the search must be repeated. At the end: puts islands to
 * sleep that have been at rest for long enough. */
bool yk_sleep_begin(yk_nonsmooth *self, double t, double h, const yk_input *inputs);
bool yk_sleep_was_touched(yk_nonsmooth *self, double h);
void yk_sleep_end(yk_nonsmooth *self, double h);
void yk_sleep_start(yk_nonsmooth *self, double t, const yk_input *inputs);
/* Wakes the island of a body between steps; a slot, or -1 for all. */
void yk_sleep_wake(yk_nonsmooth *self, int32_t slot);
/* Updates the derived data after the state was set. */
void yk_sleep_sum(yk_nonsmooth *self);

/* emitter.c: at the end of a step, removes particles in sinks and adds those that are due. */
void yk_world_drain(yk_nonsmooth *self);
void yk_world_emit(yk_nonsmooth *self, double t);
/* Number of present bodies among those that can be absent, and their mass. */
size_t yk_world_present(const yk_nonsmooth *self, int world, double *mass);
/* The largest fraction of an emitter's due particles that could not be placed, and whether that
 * emitter has no particles left. */
double yk_world_shortfall(const yk_nonsmooth *self, int world, bool *exhausted);

/* interface.c: see yk_interface_model. */
yk_status yk_world_interface_model(yk_nonsmooth *self, double t, double h, const yk_input *inputs,
                                   yk_interface_model *model);
void yk_world_release_interface(yk_nonsmooth *self);

/* access.c */
extern const yk_body_ops yk_nonsmooth_body_ops;
extern const yk_parameter_ops yk_nonsmooth_parameter_ops;
/* Adds the wrenches of the program to the applied ones; and their work to that of the step. */
void yk_world_apply_pushes(yk_nonsmooth *self);
void yk_world_account_pushes(yk_nonsmooth *self, double h);
void yk_world_release_pushes(yk_nonsmooth *self);

/* view.c */
yk_status yk_world_name_channels(yk_nonsmooth *self);
/* The same of a merged model: a part of another kind keeps the channels of its kind. */
yk_status yk_world_name_merged_channels(yk_nonsmooth *self, yk_subsystem *const *parts);
void yk_world_release_channels(yk_nonsmooth *self);
void yk_world_read_channel(const yk_nonsmooth *self, size_t channel, double *values);
/* Whether a channel belongs to the contact problem instead of the motion. */
bool yk_world_is_diagnostic_channel(const yk_nonsmooth *self, int channel);
/* As the scene of the contract. */
int yk_world_scene_bodies(const yk_nonsmooth *self, yk_scene_body *list, int capacity);
int yk_world_scene_shapes(const yk_nonsmooth *self, yk_shape *list, int capacity);
void yk_world_scene_poses(const yk_nonsmooth *self, yk_scene_pose *list);
int yk_world_contact_points(const yk_nonsmooth *self, yk_contact_point *list, int capacity);

#endif
