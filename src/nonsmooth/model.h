/* The constant model of a nonsmooth subsystem: bodies, solids, joints, forces, ports.
 *
 * It is built with the add functions of nonsmooth.h, with the user's numbers, and frozen once
 * (compile.c): bodies get slots, so that neighbours in space are neighbours in memory and dynamic
 * bodies come first; these are the nodes of the contact problem. Afterwards nothing changes except
 * the size of a shape (yk_nonsmooth_resize_shape). */
#ifndef YK_NONSMOOTH_MODEL_H
#define YK_NONSMOOTH_MODEL_H

#include "base/pool.h"
#include "nonsmooth/nonsmooth.h"

/* Number of bodies and of pairs in a chunk of a parallel loop. */
enum { YK_BODY_CHUNK = 1024, YK_PAIR_CHUNK = 512 };

/* Of the list of near pairs: largest skin in units of the smallest radius, and factor by which fast
 * pairs are listed from farther away than a step needs. */
static const double YK_SKIN_MOST = 0.5, YK_REACH_AHEAD = 1.25;

/* What determines the motion of a body. */
enum { YK_MOVED_BY_FORCES, YK_FIXED, YK_PRESCRIBED_BY_FUNCTION, YK_PRESCRIBED_BY_PORT };

typedef struct yk_body_model {
    double mass;
    double radius;  /* of a round body: one centred sphere and equal inertias; 0: not round */
    double inertia; /* of a round body */
    int32_t tensor; /* of the others: index in tensors, -1: none */
    uint8_t drive;  /* yk_drive: forces, or a prescribed motion */
} yk_body_model;

/* A convex solid or an unbounded one on a body; meshes are many. */
typedef struct yk_part {
    int32_t body;  /* user's number, or slot once the model is frozen; -1: the world */
    int32_t shape; /* user's number */
    int32_t material;
    uint8_t kind;  /* yk_solid_kind */
    uint8_t round; /* centred sphere of a round body */
    /* merged models: index of the original world; solids of different worlds do not touch */
    uint16_t world;
    int32_t geometry; /* index in geometries; -1: a centered sphere, which needs none */
} yk_part;

/* Pose of a part on its body, and its geometry. */
typedef struct yk_part_geometry {
    yk_vec3 position;
    yk_quat orientation;
    yk_vec3 size;
    unsigned open, group, mask;
    int32_t first_point, point_count;
    int32_t outside; /* see yk_solid */
} yk_part_geometry;

/* Two bodies that must not touch, the smaller number first. */
typedef struct yk_exclusion {
    int32_t body[2]; /* user's numbers */
} yk_exclusion;

typedef struct yk_joint_model {
    char *name;
    yk_joint_def def;
    yk_joint joint;
    int slot_a, slot_b;
    int port;        /* port whose prescribed frame replaces body b; -1: none */
    int driver;      /* line port that prescribes the distance; -1: none */
    size_t own_rows; /* index of its first impulse among those of all joints */
    int dampers;     /* first force with implicit damping between the same bodies; -1: none */
} yk_joint_model;

typedef struct yk_force_model {
    char *name;
    yk_force_def def;
    yk_force_law law; /* once the model is frozen without the damping below */
    int slot_a, slot_b;
    double damping[6]; /* implicit, as rows; see yk_force_take_dampers */
    int damper_count;  /* number of these rows */
    size_t own_rows;   /* as that of a joint */
    int next_damper;   /* next one of the same list; -1: none */
} yk_force_model;

typedef struct yk_port_model {
    char *name;
    int body, slot;
    yk_marker marker;
    yk_causality causality;
    unsigned constrained;
    bool whole_body; /* prescribes all six motions, so that no rows are needed */
    int joint;       /* joint with the rows of a partly prescribed port */
    /* Line ports: the marker on the other body, or on the ground (-1). */
    bool line;
    int far_body, far_slot;
    yk_marker far_marker;
    /* Merged models: original world of the port, joints that merging created at it, and the side of
     * them that belongs to the port. */
    int world, merged, merged_count, merged_side;
    int place; /* adopted models: place in the list of ports of its world, from 1; 0: in order */
} yk_port_model;

/* A signal: a number that arrives by a wire. */
typedef struct yk_signal_model {
    char *name;
    bool connected;
    int index; /* in the list of ports */
    int world; /* merged models: original world */
    int place; /* as that of a port */
} yk_signal_model;

typedef struct yk_prescription {
    int body;                    /* user's number */
    yk_motion_function function; /* NULL: the path is used */
    void *user;
    yk_prescribed_path path;
} yk_prescription;

/* A length that an interface prescribes between merged worlds (m), in their unit of length. */
typedef struct yk_driven_length {
    const yk_relative_motion *motion;
    double unit;
} yk_driven_length;

/* Its particles are bodies [first, first + count), by the user's numbers. */
typedef struct yk_emitter_model {
    char *name;
    size_t first, count;
    double rate, mass_rate; /* one of them */
    double from, until;
    uint64_t limit;       /* UINT64_MAX: none */
    bool cylinder;        /* the region; else a box */
    yk_vec3 size;         /* as the size of a cavity */
    yk_vec3 position;     /* center of the region */
    yk_body_state motion; /* initial motion of particles; the position is not read */
    bool random_orientation;
    uint64_t seed;
    int world; /* merged models: original world */
} yk_emitter_model;

typedef struct yk_sink_model {
    char *name;
    yk_solid region;
    int world; /* merged models: original world */
} yk_sink_model;

/* Combined properties of two materials. */
typedef struct yk_surface_law {
    yk_material material;
    double damping_ratio; /* zeta of Hertz's law, from the restitution */
} yk_surface_law;

typedef struct yk_world_model {
    yk_context *context;
    yk_nonsmooth_def def;
    bool frozen;

    /* Bodies. `initial` and `names` are in the user's order; `bodies` is sorted by slots. */
    size_t body_count, body_capacity, dynamic_count;
    yk_body_state *initial;
    yk_body_model *bodies;
    char **names;
    int32_t *slot_of, *body_of;
    size_t tensor_count, tensor_capacity;
    struct {
        yk_mat3 body, inverse; /* about the center of mass, body axes */
    } * tensors;

    /* Solids; the finite ones come first once the model is frozen. */
    size_t part_count, part_capacity, finite_count, shape_count;
    yk_part *parts;
    size_t geometry_count, geometry_capacity;
    yk_part_geometry *geometries;
    size_t point_count, point_capacity;
    yk_vec3 *points;
    size_t material_count, material_capacity;
    yk_material *materials;
    size_t surface_pair_count, surface_pair_capacity;
    yk_material_pair_def *surface_pairs;
    size_t exclusion_count, exclusion_capacity;
    yk_exclusion *exclusions;  /* sorted by body once the model is frozen */
    int surface_count;         /* largest number of a surface */
    yk_surface_law *pair_laws; /* for all pairs of materials */
    bool yields, coheres;      /* some materials yield; some cohere */
    double smallest_radius;    /* of the moving parts */
    double envelope;           /* gap below which contacts are detected */
    bool periodic;             /* in some direction */
    yk_vec3 period;            /* 0: not periodic in this direction */

    size_t joint_count, joint_capacity; /* including those of ports */
    yk_joint_model *joints;
    size_t joint_row_count;
    size_t force_count, force_capacity;
    yk_force_model *forces;
    int free_dampers; /* first force with implicit damping between bodies without a joint; -1 */
    size_t prescription_count, prescription_capacity;
    yk_prescription *prescriptions;

    /* With emitters or sinks, bodies may be absent. */
    size_t emitter_count;
    yk_emitter_model *emitters;
    size_t sink_count;
    yk_sink_model *sinks;
    uint8_t *leaves; /* per dynamic body, by slots: sinks may remove it; NULL: there are no sinks */

    /* Ports, then signals, in one list; in merged models those of each world in turn. */
    size_t port_count, port_capacity;
    yk_port_model *ports;
    size_t signal_count, signal_capacity;
    yk_signal_model *signals;
    yk_port *port_list;
    /* entry of the list: index of the port, or complement of the index of the signal */
    int *port_numbers;

    /* Merged models: first body, joint and force of each world, and the end of the last. 0: not
     * merged. */
    int world_count;
    size_t *world_bodies, *world_joints, *world_forces;
    /* Adopted models: origin of the frame of each body, from its center of mass, in the user's order
     * (m). NULL: frames have their origin there. */
    yk_vec3 *origins;
    yk_driven_length *driven_lengths;
    int driven_count;

    /* Capacity for contacts. General contacts are those that need stored geometry
     * (contact_detection.c). */
    size_t contact_capacity, general_capacity;
} yk_world_model;

/* model.c */
void yk_world_model_destroy(yk_world_model *model);
/* Rebuilds the list of ports. */
yk_status yk_world_list_ports(yk_world_model *model);

/* compile.c, called once: assigns slots to bodies, sorts parts, combines materials, chooses the
 * envelope and capacities, and checks whether space can be periodic. */
yk_status yk_world_freeze(yk_world_model *model);
int yk_world_compare_exclusions(const void *a, const void *b);
/* emitter.c: bodies that sinks may remove; checks that nothing is joined to particles of emitters. */
yk_status yk_world_freeze_flow(yk_world_model *model);
size_t yk_world_model_bytes(const yk_world_model *model);

/* contact_rows.c: combined laws of two surfaces. */
yk_surface_law yk_surface_law_of(const yk_material *material);

/* A contact point at the start of a step. */
typedef struct yk_hertz_contact {
    double gap;        /* negative: overlap (m) */
    double separation; /* rate of the gap (m/s) */
    double curvature;  /* 1 / R of both solids together (1/m) */
    double mass;       /* reduced mass of the bodies (kg) */
} yk_hertz_contact;

/* Softness and bias of the normal row (contact/network.h) over a step h. */
void yk_surface_hertz(const yk_surface_law *law, const yk_hertz_contact *at, double h,
                      double *softness, double *bias);

/* The solid of a part in its own frame: its kind, size and points, without a pose. */
yk_solid yk_world_part_solid(const yk_world_model *model, const yk_part *part);

static inline bool yk_world_is_dynamic(const yk_world_model *model, int32_t slot)
{
    return slot >= 0 && model->bodies[slot].drive == YK_MOVED_BY_FORCES;
}

/* Whether bodies may be absent: before emission, or after removal by a sink. */
static inline bool yk_world_may_be_absent(const yk_world_model *model)
{
    return model->emitter_count > 0 || model->sink_count > 0;
}

/* Displacement of a point to the periodic image nearest to another point. */
static inline yk_vec3 yk_world_image(const yk_world_model *model, yk_vec3 of, yk_vec3 point)
{
    yk_vec3 shift = {0, 0, 0}, period = model->period;
    if (!model->periodic)
        return shift;

    if (period.x > 0)
        shift.x = period.x * rint((of.x - point.x) / period.x);
    if (period.y > 0)
        shift.y = period.y * rint((of.y - point.y) / period.y);
    if (period.z > 0)
        shift.z = period.z * rint((of.z - point.z) / period.z);
    return shift;
}

/* The image of a point in the first period. */
static inline yk_vec3 yk_world_wrap(const yk_world_model *model, yk_vec3 point)
{
    yk_vec3 low = model->def.periodic.lower, period = model->period;
    if (period.x > 0)
        point.x -= period.x * floor((point.x - low.x) / period.x);
    if (period.y > 0)
        point.y -= period.y * floor((point.y - low.y) / period.y);
    if (period.z > 0)
        point.z -= period.z * floor((point.z - low.z) / period.z);
    return point;
}

/* Model of a body, before and after the model is frozen. */
static inline size_t yk_world_body_index(const yk_world_model *model, size_t body)
{
    return model->frozen ? (size_t)model->slot_of[body] : body;
}

/* Bodies with known motion: fixed or prescribed. They follow the dynamic ones. */
static inline size_t yk_world_known_count(const yk_world_model *model)
{
    return model->body_count - model->dynamic_count;
}

static inline const yk_surface_law *yk_world_pair_law(const yk_world_model *model, const yk_part *a,
                                                      const yk_part *b)
{
    size_t row = (size_t)a->material * model->material_count;
    return &model->pair_laws[row + (size_t)b->material];
}

static inline const yk_material *yk_world_pair_material(const yk_world_model *model,
                                                        const yk_part *a, const yk_part *b)
{
    return &yk_world_pair_law(model, a, b)->material;
}

/* Whether there is rolling or spinning friction between them. */
static inline bool yk_world_resists_rotation(const yk_world_model *model, const yk_part *a,
                                             const yk_part *b)
{
    const yk_material *material = yk_world_pair_material(model, a, b);
    return material->rolling_friction > 0 || material->spinning_friction > 0;
}

/* The ball that contains a part. */
static inline double yk_world_part_radius(const yk_world_model *model, const yk_part *part)
{
    if (part->round)
        return model->bodies[part->body].radius;
    yk_solid solid = yk_world_part_solid(model, part);
    return yk_solid_radius(&solid);
}

/* Parts that are not round, which need an orientation and an extent. */
static inline size_t yk_world_general_parts(const yk_world_model *model)
{
    size_t count = 0;
    for (size_t i = 0; i < model->finite_count; i++)
        count += !model->parts[i].round;
    return count;
}

#endif
