/* The nonsmooth subsystem and its parts: a constant model, the state of the run, collision, the
 * contact problem, and the work space of a step. Files that join parts include this header; the
 * others include that of their part.
 *
 *   model.h      model.c builds it, merge.c joins several, compile.c gives slots and checks periods
 *   state.h      state.c writes and reads the image
 *   collision.h  neighbor_list.c, contact_detection.c
 *   world.h      step.c          the time step
 *                prescribed_motion.c  bodies that follow functions and ports; passages
 *                contact_rows.c  contacts as rows of the contact problem, laws of surfaces, impulses back
 *                impact.c        impact laws other than Newton's
 *                joint_rows.c    joints and partly prescribed ports as rows; line ports
 *                energy.c        what is stored, lost and brought in
 *                sleep.c         islands that come to rest, their contacts, and what wakes them
 *                emitter.c       particles that come and go
 *                interface.c     how the ports answer to wrenches
 *                world.c         life, start, what can be asked between steps
 *                subsystem.c     ops table; view.c: channels and scene */
#ifndef YK_NONSMOOTH_WORLD_H
#define YK_NONSMOOTH_WORLD_H

#include "base/context.h"
#include "nonsmooth/collision.h"

enum { YK_DEEPEST_CHUNKS = 256 };

/* The contact problem of a step: nodes are the dynamic bodies, rows its contacts and joints. */
typedef struct yk_problem {
    yk_network *network;
    yk_network_node *nodes;
    yk_joint_row *joint_rows;
    size_t joint_row_count;
    size_t *first_row;                 /* per joint; those of sleeping bodies have none */
    double deepest[YK_DEEPEST_CHUNKS]; /* largest overlap of each chunk of contacts */
} yk_problem;

/* Work space of impact laws, where there is one: see impact.c. */
typedef struct yk_impact_work {
    bool acted; /* in this step */
    /* Per contact that was found; impulses of all passes of a step, as of the contact problem. */
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
        double work[3];  /* of its impulses, as a polynomial in the fraction (J) */
        double fraction; /* of the restitution that is given */
    } * islands;
} yk_impact_work;

/* Wrenches that the program applies to bodies: see access.c. */
typedef struct yk_pushes {
    size_t count;
    int32_t *slots;      /* of the bodies that are pushed */
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
    /* Work space of a step. Wrenches and impulses are about the centres of mass. */
    struct {
        double h;         /* its length */
        yk_twist *before; /* velocities at the beginning of the step */
        /* Per dynamic body: velocities after impacts, from which it goes on; NULL: `before`. */
        const yk_twist *from;
        /* per body: all but gravity, contacts and joints; NULL: there is nothing else */
        yk_wrench *applied;
        yk_wrench *received; /* per body of known motion: impulses of contacts and joints */
        double *line_speeds; /* per port, at the beginning of the step */
        double *partials;    /* one per chunk of bodies */
        double contact_work; /* on bodies of known motion */
        double loss;         /* of force laws */
        double supply;       /* brought in by prescribed motions, drives and loads */
        double force_supply; /* of it, by loads */
        double port_work;    /* of it, through ports */
        /* Finite parts that reach into the region of an emitter, and their balls. */
        size_t around_count;
        int32_t *around;
        yk_ball *around_balls;
    } step;
    /* Work space of sleeping: see sleep.c. */
    struct {
        yk_body_state *ahead; /* bodies of known motion, with the velocity of the step */
        yk_wrench *received;  /* per body of known motion: mean wrench from sleeping bodies */
        uint8_t *disturbed;   /* per body: from outside; of known motion: moves in this step */
        int32_t *root;        /* of the island, per dynamic body */
        yk_contact_list spare;
    } sleep;
    yk_impact_work impact;
    yk_pushes pushes;
    struct yk_world_interface *interface; /* made when it is first asked for */
    bool laid_out;                        /* there is memory for a run */
    bool started;
    yk_own_message message;
    bool has_points; /* collision has the geometry of the contacts of the state */
    yk_nonsmooth_report report;
    /* of the contact problems since the start, m/s; steps that were repeated count too */
    double largest_residual;
    double largest_residual_ratio;   /* by the speed that its step resolves */
    int64_t steps, unresolved_steps; /* since the start; those with a ratio above 1 */
    size_t passage_count;
    /* Two solids that nothing keeps apart: see prescribed_motion.c. */
    struct {
        size_t driven, still; /* parts */
        double size;          /* radius of the finite one (m) */
        double start;         /* depth at the start (m) */
    } * passages;
    double largest_passage; /* since the start (m); steps that were repeated count too */
    size_t channel_count;
    yk_channel *channels;
    /* What each shows: see view.c. */
    struct {
        int kind;
        size_t index;
    } * channel_sources;
};

/* world.c */
yk_status yk_world_lay_out(yk_nonsmooth *self);
yk_status yk_world_start(yk_nonsmooth *self, double t, double h, const yk_input *inputs);
/* The state has been set from outside. */
yk_status yk_world_set_state(yk_nonsmooth *self, const double *image);

/* subsystem.c, merge.c */
const yk_subsystem_ops *yk_nonsmooth_ops(void);
yk_status yk_nonsmooth_merge(const yk_merge_def *merge, yk_subsystem **merged);

/* step.c */
yk_status yk_world_step(yk_nonsmooth *self, double t, double h, const yk_input *inputs);
/* Contacts of the present configuration; wakes islands that something touches. */
yk_status yk_world_find_contacts(yk_nonsmooth *self, double h);
/* Velocities without contacts, joints and wrenches at ports, into the nodes; those of bodies of
 * known motion are set to the end of the step, and `before` holds all as they were. */
void yk_world_set_free_motion(yk_nonsmooth *self, double t, double h, const yk_input *inputs);

/* prescribed_motion.c: velocities over the step of the bodies of known motion, which stay where they
 * are. */
void yk_world_follow(const yk_nonsmooth *self, double t, double h, const yk_input *inputs,
                     yk_body_state *known);
/* At the start they are put where their functions and ports say. */
void yk_world_place_known_bodies(yk_nonsmooth *self, double t, const yk_input *inputs);
/* Derivative of fourth order in `width`. */
double yk_world_rate(yk_time_function function, double t, double width);
/* Whether a body would meet something that never moves, were its motion not prescribed by a port;
 * then at the start, and at the end of each step. */
bool yk_world_body_may_pass(const yk_world_model *model, int body);
yk_status yk_world_start_passages(yk_nonsmooth *self);
void yk_world_watch_passages(yk_nonsmooth *self);
void yk_world_release_passages(yk_nonsmooth *self);

/* contact_rows.c: contacts that were found as rows of the problem, whose nodes hold the free
 * velocities; after the solution, the impulses back into the state and onto bodies of known
 * motion. */
yk_status yk_problem_create(yk_nonsmooth *self);
yk_status yk_world_set_contacts(yk_nonsmooth *self, double h);
void yk_world_take_impulses(yk_nonsmooth *self, double h);
/* The speed (m/s) that a step resolves: what gravity adds in it, for contacts close somewhere
 * within the step, or a hundredth of the fastest approach. Before the impulses are taken. */
double yk_world_resolved_speed(const yk_nonsmooth *self, double h);
/* Row i of the problem, of a contact that was found; returns the gap. */
double yk_world_contact_row(const yk_nonsmooth *self, size_t i, double h, yk_contact *row);
/* Impacts slower than this (m/s) do not rebound. */
double yk_world_bounce_speed(const yk_world_model *model, double h);
/* Bodies of known motion receive what sleeping bodies bring, and nothing else yet. */
void yk_world_clear_received(yk_nonsmooth *self, double h);

/* impact.c: finds the velocities from which the step begins after its impacts; those of the nodes
 * are to be set anew. */
yk_status yk_world_resolve_impacts(yk_nonsmooth *self, double t, double h, const yk_input *inputs);
/* Adds what an impulse and a torque on side a of a contact do to its nodes. */
void yk_world_push(const yk_nonsmooth *self, const yk_pair *pair, const yk_contact *row,
                   yk_vec3 impulse, yk_vec3 torque, yk_network_node *nodes);

/* joint_rows.c: joints, and ports of which some motions are prescribed, as rows of the problem;
 * reactions back. */
yk_status yk_world_set_joint_rows(yk_nonsmooth *self, double t, double h, const yk_input *inputs);
void yk_world_take_reactions(yk_nonsmooth *self, double h);

/* A line port as it is now. */
typedef struct yk_world_line {
    double length, rate;
    double bias;                 /* its second derivative at constant velocities of the bodies */
    yk_vec3 force[2], torque[2]; /* of a unit wrench on both bodies, about their centres of mass */
} yk_world_line;
yk_world_line yk_world_line_at(const yk_nonsmooth *self, const yk_port_model *port);
/* At the end of a step of constant velocities. */
yk_world_line yk_world_line_ahead(const yk_nonsmooth *self, const yk_port_model *port, double h);

/* world.c: mean over the last step of the force of all contacts on the body in a slot. */
yk_vec3 yk_world_contact_force(const yk_nonsmooth *self, int32_t slot);

/* energy.c: adds up the step that has just been solved; false when a velocity is not finite. */
double yk_world_body_kinetic(const yk_nonsmooth *self, size_t slot, yk_vec3 v, yk_vec3 w);
bool yk_world_balance_energy(yk_nonsmooth *self, double h);

/* sleep.c: at the beginning of a step, wakes who is disturbed and marks who stands still; true
 * when everything rests and there is nothing to find. After the contacts were found: true when
 * some woke and the search must be repeated. At the end: who has been at rest for long enough
 * falls asleep. */
bool yk_sleep_begin(yk_nonsmooth *self, double t, double h, const yk_input *inputs);
bool yk_sleep_was_touched(yk_nonsmooth *self, double h);
void yk_sleep_end(yk_nonsmooth *self, double h);
void yk_sleep_start(yk_nonsmooth *self, double t, const yk_input *inputs);
/* Between steps; a slot, or -1 for all. */
void yk_sleep_wake(yk_nonsmooth *self, int32_t slot);
/* Once the state has been set: what follows from it. */
void yk_sleep_sum(yk_nonsmooth *self);

/* emitter.c: at the end of a step, particles in sinks leave, and those that are due appear. */
void yk_world_drain(yk_nonsmooth *self);
void yk_world_emit(yk_nonsmooth *self, double t);
/* Bodies that can be absent and are there, and their mass. */
size_t yk_world_present(const yk_nonsmooth *self, int world, double *mass);
/* The largest fraction of what was due from an emitter that has not come, and whether that one has
 * no particles left. */
double yk_world_shortfall(const yk_nonsmooth *self, int world, bool *exhausted);

/* interface.c: see yk_interface_model. */
yk_status yk_world_interface_model(yk_nonsmooth *self, double t, double h, const yk_input *inputs,
                                   yk_interface_model *model);
void yk_world_release_interface(yk_nonsmooth *self);

/* access.c */
extern const yk_body_ops yk_nonsmooth_body_ops;
extern const yk_parameter_ops yk_nonsmooth_parameter_ops;
/* Adds the wrenches of the program to those that are applied; and their work to that of the step. */
void yk_world_apply_pushes(yk_nonsmooth *self);
void yk_world_account_pushes(yk_nonsmooth *self, double h);
void yk_world_release_pushes(yk_nonsmooth *self);

/* view.c */
yk_status yk_world_name_channels(yk_nonsmooth *self);
void yk_world_release_channels(yk_nonsmooth *self);
void yk_world_read_channel(const yk_nonsmooth *self, size_t channel, double *values);
/* As the scene of the contract. */
int yk_world_scene_bodies(const yk_nonsmooth *self, yk_scene_body *list, int capacity);
int yk_world_scene_shapes(const yk_nonsmooth *self, yk_shape *list, int capacity);
void yk_world_scene_poses(const yk_nonsmooth *self, yk_scene_pose *list);
int yk_world_contact_points(const yk_nonsmooth *self, yk_contact_point *list, int capacity);

#endif
