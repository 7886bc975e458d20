/* The inside of the nonsmooth subsystem: what its source files share.
 *
 *   model.c      adding bodies, shapes, joints, forces, ports
 *   layout.c     start: slots, solids, reserves
 *   near.c       solids, list of near pairs
 *   contacts.c   from positions to contact rows and back
 *   rows.c       joints and partly prescribed ports as rows
 *   line.c       distances of two markers as ports
 *   interface.c  how the ports answer to wrenches
 *   sleep.c      islands that come to rest and what wakes them
 *   frozen.c     the contacts of those that sleep
 *   step.c       the time step
 *   state.c      image of the run
 *   passage.c    bodies of known motion that pass through what never moves
 *   energy.c     what is stored, lost and brought in
 *   packing.c    fill, settle, save
 *   subsystem.c  ops table
 *   view.c       channels and shapes */
#ifndef YK_NONSMOOTH_WORLD_H
#define YK_NONSMOOTH_WORLD_H

#include "base/pool.h"
#include "contact/network.h"
#include "nonsmooth/broad.h"
#include "nonsmooth/nonsmooth.h"

enum { YK_BODY_CHUNK = 1024, YK_PAIR_CHUNK = 512 };

/* How a body is moved. */
typedef enum yk_drive_kind {
    YK_MOVED_BY_FORCES,
    YK_FIXED,
    YK_PRESCRIBED_BY_FUNCTION,
    YK_PRESCRIBED_BY_PORT
} yk_drive_kind;

/* What changes from step to step, besides the contact cache. In the order of slots. */
typedef struct yk_body_state {
    yk_vec3 position;
    yk_quat orientation;
    yk_vec3 velocity;
    yk_vec3 angular_velocity; /* global axes */
} yk_body_state;

typedef struct yk_twist {
    yk_vec3 linear, angular;
} yk_twist;

/* What does not change. */
typedef struct yk_body_model {
    double mass;
    double radius;  /* of a round body: one centred sphere and equal inertias; 0: not round */
    double inertia; /* of a round body */
    int32_t tensor; /* of the others: index in tensors, -1: none */
    uint8_t drive;  /* yk_drive_kind */
} yk_body_model;

typedef struct yk_tensor {
    yk_mat3 body, inverse; /* about the centre of mass, body axes */
} yk_tensor;

/* A convex solid or an unbounded one on a body; meshes are many. */
typedef struct yk_part {
    int32_t body;  /* slot, or -1 for the world */
    int32_t shape; /* of the user */
    int32_t material;
    uint8_t kind;     /* yk_solid_kind */
    uint8_t round;    /* centred sphere of a round body */
    uint16_t world;   /* of a merged model: which it came from; solids of different ones do not touch */
    int32_t geometry; /* index in placements; -1: a centred sphere needs none */
} yk_part;

/* Where a part sits on its body. */
typedef struct yk_part_geometry {
    yk_vec3 position;
    yk_quat orientation;
    yk_vec3 size;
    unsigned open, group, mask;
    int32_t first_point, point_count;
} yk_part_geometry;

/* A contact point: which solids and which of their features. General ones have their geometry in touches. */
typedef struct yk_contact_key {
    int32_t a, b; /* parts */
    uint32_t feature;
} yk_contact_key;

/* Contacts of one step in canonical order: the round ones first, in the order of rows of the list of near pairs, then
 * the general ones in the order of their pairs. */
typedef struct yk_contact_list {
    size_t count, round_count;
    yk_contact_key *keys;
} yk_contact_list;

typedef struct yk_port_slot {
    char *name;
    int body; /* as the user numbers; slot after start in `slot` */
    int slot;
    yk_marker marker;
    yk_causality causality;
    unsigned constrained;
    bool whole_body;  /* prescribes all six motions: no rows needed */
    int joint;        /* rows of a partly prescribed port */
    yk_wrench wrench; /* mean of the last step, about the marker; of a line its x component */
    yk_twist rate;    /* acceleration of the body's centre of mass over the last step; of a line linear.x */
    /* Line ports: the distance to a marker on another body. */
    bool line;
    int far_body, far_slot; /* or -1: the ground */
    yk_marker far_marker;
    double speed; /* at the beginning of the step */
    /* Of a merged model: which world it came from; the joints that merging made at it, and its side of them. */
    int world, merged, merged_count, merged_side;
} yk_port_slot;

/* A length that an interface prescribes between worlds that were merged (m), in their unit of length. */
typedef struct yk_driven_length {
    const yk_relative_motion *motion;
    double unit;
} yk_driven_length;

/* A number that arrives by a wire. */
typedef struct yk_signal_slot {
    char *name;
    bool connected;
    double value; /* mean over the last step */
    int place;    /* in the list of ports */
    int world;    /* of a merged model */
} yk_signal_slot;

/* A line port at its present place. */
typedef struct yk_world_line {
    double length, rate;
    double bias;                 /* its second derivative at constant velocities of the bodies */
    yk_vec3 force[2], torque[2]; /* of a unit wrench on both bodies, about their centres of mass */
} yk_world_line;

typedef struct yk_joint_slot {
    char *name;
    yk_nonsmooth_joint_def def;
    yk_joint joint;
    int slot_a, slot_b;
    int port;         /* whose prescribed frame takes the place of body b; -1: none */
    int driver;       /* line port that prescribes the distance; -1: none */
    size_t first_row; /* in joint_rows; those of sleeping bodies are not there */
    size_t own_row;   /* in joint_impulses */
    yk_wrench wrench; /* on b at its marker, mean over the last step */
} yk_joint_slot;

typedef struct yk_force_slot {
    char *name;
    yk_nonsmooth_force_def def;
    int slot_a, slot_b;
} yk_force_slot;

typedef struct yk_location {
    yk_vec3 position;
    yk_quat orientation;
} yk_location;

/* Sleeping bodies: see sleep.c. Where sleeping is off there is no `rest_time`. */
typedef struct yk_sleep {
    size_t asleep; /* bodies */

    /* State */
    double *rest_time;      /* per body that forces move: seconds below the limits; infinite: asleep */
    yk_location *poses;     /* of bodies of known motion, then of inputs of ports: when they were last seen moving */
    yk_wrench *wrenches;    /* per body that forces move: applied when last seen changing; NULL: gravity alone */
    double *drives;         /* per joint, the same */
    yk_contact_list frozen; /* contacts of sleeping bodies, canonical order */
    yk_vec3 *forces;        /* mean over the last step, on a */
    yk_vec3 *torques;       /* general contacts only */
    yk_vec3 *points;        /* on the side of known motion, if there is one */

    /* Work space */
    yk_body_state *ahead; /* bodies of known motion, with the velocity of the step */
    yk_wrench *received;  /* per body of known motion: from sleeping bodies, mean force and torque */
    uint8_t *disturbed;   /* per body: disturbed from outside; of known motion: moves in this step */
    uint8_t *still;       /* per part: sleeps or does not move in this step */
    int32_t *root;        /* of the island, per body that forces move */
    yk_contact_key *spare_keys;
    yk_vec3 *spare_forces, *spare_torques, *spare_points;
} yk_sleep;

/* Two solids that nothing keeps apart: see passage.c. */
typedef struct yk_passage {
    size_t driven, still; /* parts */
    double size;          /* radius of the finite one (m) */
    double start;         /* depth at the start (m) */
} yk_passage;

/* What a channel shows: see view.c. */
typedef struct yk_channel_source {
    int kind;
    size_t index;
} yk_channel_source;

typedef struct yk_prescription {
    int body;                    /* the user's number */
    yk_motion_function function; /* NULL: the path is read */
    void *user;
    yk_nonsmooth_path path;
} yk_prescription;

/* The numbers of the run that are not per body or contact. */
typedef struct yk_run {
    double time;
    double dissipated;
    double work;
    double port_work; /* of it, through ports */
    double step;      /* length of the last own step; 0 before the first */
} yk_run;

struct yk_nonsmooth {
    yk_subsystem base;
    yk_context *context;
    yk_nonsmooth_def def;
    yk_pool *pool;
    bool started;

    /* Model, as the user numbers */
    size_t body_count, body_capacity;
    yk_body_state *initial;
    yk_body_model *models; /* in the order of slots after start */
    char **names;
    size_t tensor_count, tensor_capacity;
    yk_tensor *tensors;
    size_t part_count, part_capacity, finite_count;
    yk_part *parts; /* finite ones first after start */
    size_t geometry_count, geometry_capacity;
    yk_part_geometry *geometries;
    size_t point_count, point_capacity;
    yk_vec3 *points;
    size_t material_count, material_capacity;
    yk_material *materials;
    yk_material *pair_materials; /* of all pairs of materials */
    size_t shape_count;
    size_t joint_count, joint_capacity; /* those of ports among them */
    yk_joint_slot *joints;
    size_t force_count, force_capacity;
    yk_force_slot *forces;
    size_t port_count, port_capacity;
    yk_port_slot *ports;
    size_t signal_count, signal_capacity;
    yk_signal_slot *signals;
    yk_port *port_list; /* of ports and signals, in this order; of a merged model those of each world in turn */
    int *port_numbers;  /* what stands there: the port, or the complement of the signal */
    /* Of a merged model: the first body and joint of each world, and behind the last. 0: it is one. */
    int world_count;
    size_t *world_bodies, *world_joints;
    yk_driven_length *driven_lengths;
    int driven_count;
    size_t prescription_count, prescription_capacity;
    yk_prescription *prescriptions;

    /* Order: neighbours in space are neighbours in memory; bodies moved by forces come first and are the solver's nodes
     */
    size_t dynamic_count;
    int32_t *slot_of;
    int32_t *body_of;

    /* State */
    yk_run run;
    yk_body_state *bodies;
    yk_contact_list cache;  /* contacts of the last step, for the next to start from */
    yk_vec3 *impulses;      /* of these contacts: on a, global axes */
    yk_vec3 *torques;       /* of rolling and spinning friction, on a; general contacts only */
    double *joint_impulses; /* per row */

    yk_sleep sleep;

    /* Work space of a step */
    yk_twist *before;     /* velocities at the beginning of the step */
    yk_wrench *applied;   /* per body: force and torque of everything but contacts and joints; NULL: gravity alone */
    yk_wrench *received;  /* per body of known motion: impulses of contacts and joints, about its centre of mass */
    yk_wrench *reactions; /* per body of known motion: mean force and torque that held it on its course */
    yk_ball *balls;       /* finite parts */
    yk_ball *listed;      /* the same when the list was made */
    int32_t *extent_of;
    yk_vec3 *half_extents;
    yk_quat *rotated; /* orientation of parts that are not spheres when the list was made */
    yk_solid *unbounded;
    double listed_wall_margin;
    double skin;          /* as it was last chosen */
    size_t list_age;      /* steps */
    double listed_margin; /* reach of the list; 0: there is none */
    double reach;         /* from the centre of unbounded solids to the farthest ball */
    yk_broad broad;
    uint32_t *row_contacts;      /* first contact of each row of the list, finite + 1 */
    uint32_t *last_row_contacts; /* those of the cache */
    yk_contact_list next;
    size_t general_capacity, general_pair_count, general_pair_capacity;
    int32_t (*general_pairs)[2];
    yk_touch *touches; /* of the general contacts */
    yk_touch *batch;   /* one batch of general pairs */
    int *batch_counts;
    yk_pair *pairs;
    size_t planned_count; /* pairs that the solver's plan is made for */
    size_t contact_capacity;
    yk_network *network;
    int32_t round_kind; /* yk_pair_kind of pairs with lever arms along the normal */
    yk_network_node *nodes;
    yk_joint_row *joint_rows;
    size_t joint_row_count, joint_row_capacity;
    double *partials;
    size_t partial_count;
    size_t rotated_count;
    double step_work, step_loss, step_supply, step_force_supply, step_port_work; /* see energy.c */
    double smallest_radius;                                                      /* of the parts that move */
    int32_t *mesh_last, *mesh_link; /* chains of contacts with the triangles of a mesh; NULL: no mesh */
    double envelope;
    yk_nonsmooth_report report;
    double largest_residual; /* of the contact problems since the start, m/s; steps that were repeated count too */
    size_t passage_count;
    yk_passage *passages;
    double largest_passage; /* since the start (m); steps that were repeated count too */
    size_t channel_count;
    yk_channel *channels;
    yk_channel_source *channel_sources;
    struct yk_world_interface *interface; /* made when it is first asked for */
};

/* subsystem.c */
const yk_subsystem_ops *yk_nonsmooth_ops(void);

/* layout.c */
yk_status yk_world_layout(yk_nonsmooth *self);
void yk_world_release_layout(yk_nonsmooth *self);

/* state.c */
yk_state_layout yk_world_state_layout(const yk_nonsmooth *self);
void yk_world_state_get(const yk_nonsmooth *self, double *image);
yk_status yk_world_state_set(yk_nonsmooth *self, const double *image);

/* view.c */
/* Makes the list of ports anew. */
yk_status yk_world_list_ports(yk_nonsmooth *self);
yk_status yk_nonsmooth_merge(const yk_merge_def *merge, yk_subsystem **merged);
yk_status yk_world_name_channels(yk_nonsmooth *self);
void yk_world_release_channels(yk_nonsmooth *self);
void yk_world_read_channel(const yk_nonsmooth *self, size_t channel, double *values);
int yk_world_shapes(const yk_nonsmooth *self, yk_shape *list, int capacity);

/* near.c: solids at their places and a list of near pairs that is good for gaps up to `reach`. */
yk_status yk_world_update_list(yk_nonsmooth *self, double h, double *reach);
yk_solid yk_world_solid(const yk_nonsmooth *self, size_t part);
yk_quat yk_world_part_orientation(const yk_nonsmooth *self, size_t part);
void yk_world_forget_list(yk_nonsmooth *self);
/* Whether groups and masks let two parts touch. */
bool yk_world_layers_meet(const yk_nonsmooth *self, const yk_part *a, const yk_part *b);

/* contacts.c: contacts of the present configuration as rows of the network, which holds the free velocities; after the
 * solution, the impulses back into the cache and onto bodies of known motion. */
yk_status yk_world_find_contacts(yk_nonsmooth *self, double h);
yk_status yk_world_set_contacts(yk_nonsmooth *self, double h);
void yk_world_take_impulses(yk_nonsmooth *self, double h);
void yk_world_clear_received(yk_nonsmooth *self, double h);
bool yk_world_resists_rotation(const yk_nonsmooth *self, const yk_part *a, const yk_part *b);
void yk_world_index_cache(yk_nonsmooth *self);

/* The geometry of a contact of the last search, or of a round one by its key. */
yk_touch yk_world_touch(const yk_nonsmooth *self, const yk_contact_list *list, size_t contact);

/* sleep.c. At the beginning of a step, with the applied wrenches in place: what is disturbed wakes; true when everything
 * rests and there is nothing to find. After the contacts were found: true when some woke and the search must be
 * repeated. At the end: who has been at rest for long enough falls asleep. */
bool yk_sleep_begin(yk_nonsmooth *self, double t, double h, const yk_input *inputs);
bool yk_sleep_was_touched(yk_nonsmooth *self, double h);
void yk_sleep_end(yk_nonsmooth *self, double h);
void yk_sleep_start(yk_nonsmooth *self, double t, const yk_input *inputs);
/* Between steps; a slot, or -1 for all. */
void yk_sleep_wake(yk_nonsmooth *self, int32_t slot);

/* frozen.c: contacts change lists where their bodies fell asleep or woke. */
void yk_frozen_take(yk_nonsmooth *self, double h);
void yk_frozen_return(yk_nonsmooth *self, double h);
/* Once the state has been set: what follows from it. */
void yk_frozen_sum(yk_nonsmooth *self);

/* rows.c: joints, and ports of which some motions are prescribed, as rows of the network. */
yk_status yk_world_set_rows(yk_nonsmooth *self, double t, double h, const yk_input *inputs);
void yk_world_take_reactions(yk_nonsmooth *self, double h);
yk_frame yk_world_frame(const yk_nonsmooth *self, int slot);

/* interface.c: see yk_interface_model. */
yk_status yk_world_interface_model(yk_nonsmooth *self, double t, double h, const yk_input *inputs,
                                   yk_interface_model *model);
void yk_world_release_interface(yk_nonsmooth *self);

/* line.c */
yk_world_line yk_world_line_at(const yk_nonsmooth *self, const yk_port_slot *port);
void yk_world_predict_line(const yk_nonsmooth *self, const yk_port_slot *port, double h, yk_motion *motion);
void yk_world_line_output(const yk_nonsmooth *self, const yk_port_slot *port, yk_port_value *value);
double yk_world_line_wrench(const yk_input *input, double h);
double yk_world_line_work(const yk_nonsmooth *self, const yk_port_slot *port, double h);

/* passage.c: at the start, and at the end of each step. */
yk_status yk_world_start_passages(yk_nonsmooth *self);
void yk_world_watch_passages(yk_nonsmooth *self);

/* energy.c: books the step that has just been solved; false when a velocity is not finite. */
double yk_world_body_kinetic(const yk_nonsmooth *self, size_t slot, yk_vec3 v, yk_vec3 w);
bool yk_world_balance_energy(yk_nonsmooth *self, double h);

/* step.c */
yk_status yk_world_step(yk_nonsmooth *self, double t, double h, const yk_input *inputs);
/* Velocities without contacts, joints and wrenches at ports, into the nodes; those of bodies of known motion are set to
 * the end of the step, and `before` holds all as they were. */
void yk_world_set_free_motion(yk_nonsmooth *self, double t, double h, const yk_input *inputs);
yk_motion yk_world_prescribed(const yk_nonsmooth *self, const yk_prescription *prescription, double t);
/* Velocities over the step of the bodies of known motion; they stand where they are. */
void yk_world_follow(const yk_nonsmooth *self, double t, double h, const yk_input *inputs, yk_body_state *known);
/* Derivative of fourth order in `width`. */
double yk_world_rate(yk_function function, double t, double width);

static inline yk_mat3 yk_world_inverse_inertia(const yk_nonsmooth *self, size_t slot)
{
    yk_mat3 r = yk_q_matrix(self->bodies[slot].orientation);
    return yk_m3_mul(yk_m3_mul(r, self->tensors[self->models[slot].tensor].inverse), yk_m3_transpose(r));
}

static inline bool yk_world_is_dynamic(const yk_nonsmooth *self, int32_t slot)
{
    return slot >= 0 && self->models[slot].drive == YK_MOVED_BY_FORCES;
}

static inline bool yk_world_is_asleep(const yk_nonsmooth *self, int32_t slot)
{
    return self->sleep.rest_time && slot >= 0 && (size_t)slot < self->dynamic_count &&
           isinf(self->sleep.rest_time[slot]);
}

static inline size_t yk_world_known_count(const yk_nonsmooth *self)
{
    return self->body_count - self->dynamic_count;
}

#endif
