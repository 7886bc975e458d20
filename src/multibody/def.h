/* The multibody solver: rigid bodies, joints, forces and beams as one index-3 system of
 * differential-algebraic equations, integrated by the implicit two-step method of the papers
 * (tight (1)-(6), explicit (5)-(10)).
 *
 *   nodes     frames on R3 x SO(3) with six unknowns each; YK_GROUND is the one that never moves
 *   bodies    mass and inertia fixed to a node; a node may have any number of bodies, or none
 *   joints    between markers on two nodes (mechanics/joint.h), with reactions
 *   forces    between markers or on one (mechanics/force.h), gravity, artificial damping
 *   beams     three-node elements (multibody/beam.h)
 *   flexible  bodies with modes or in absolute nodal coordinates (multibody/flexible.h), and the
 *             attachments of theirs where joints, forces and ports attach
 *   ports     markers, distances between two markers, and signals: connections to other subsystems
 *
 * A description refers to its parts by index. The builder of yoke/multibody.h (builder.c) creates a
 * description, and yk_multibody_make creates the model from a copy of it. The model is a yk_subsystem
 * (its first member) that also runs alone: start, then step with inputs = NULL. */
#ifndef YK_MULTIBODY_DEF_H
#define YK_MULTIBODY_DEF_H

#include "base/builder.h"
#include "mechanics/body.h"
#include "mechanics/force.h"
#include "mechanics/joint.h"
#include "multibody/beam.h"
#include "multibody/flexible.h"
#include "yoke/multibody.h"

typedef struct yk_multibody yk_multibody;

/* A flexible body. A modal one has its floating frame on a node that moves with it. A rod starts
 * with its origin (its first end) at the given position, along the x axis of the given orientation,
 * and moves as a rigid body. */
typedef struct yk_multibody_flexible_def {
    const char *name;
    const yk_flexible *body;
    int node; /* of a modal body */
    yk_vec3 position;
    yk_quat orientation;
    yk_vec3 velocity;
    yk_vec3 angular_velocity;
    const double *amplitudes;      /* of a modal body at the start, one per shape; NULL: zero */
    const double *amplitude_rates; /* likewise (1/s) */
    /* of a rod at the start, in its section's axes: twist, and bending about y and z */
    yk_vec3 curvature;
    int part; /* merged models: index of the part that it belonged to */
} yk_multibody_flexible_def;

/* An attachment of a flexible body as a frame: in joints, forces, ports and shapes, the node index
 * node_count + i means attachment i of this list. */
typedef struct yk_multibody_attachment_def {
    const char *name;
    int flexible;
    int attachment; /* of the body */
} yk_multibody_attachment_def;

/* A whole model. Joints, forces, ports and shapes refer to nodes, and by node_count + i to
 * attachment i of flexible bodies. */
typedef struct yk_multibody_description {
    const char *name;
    yk_vec3 gravity;
    yk_multibody_options options;
    double length_unit; /* see yk_multibody_def */
    const yk_multibody_node_def *nodes;
    const yk_multibody_body_def *bodies;
    const yk_joint_def *joints;
    const yk_force_def *forces;
    const yk_multibody_beam_def *beams;
    const yk_multibody_flexible_def *flexibles;
    const yk_multibody_attachment_def *attachments;
    const yk_multibody_shape_def *shapes;
    const yk_port_def *ports;
    int node_count, body_count, joint_count, force_count, beam_count, shape_count, port_count;
    int flexible_count, attachment_count;
    /* Merged models: number of parts (0: not merged); per force, the first channel of its part,
     * from which on the inputs of feedbacks are searched (NULL: from the first of all). */
    int part_count;
    const int *force_channels;
} yk_multibody_description;

/* Counters since the start. */
typedef struct yk_multibody_report {
    int64_t steps;
    int64_t iterations;
    int64_t factorisations;
    int64_t rejected; /* steps that the error control repeated */
    int unknowns; /* six per node, the coordinates of flexible bodies, and one per joint equation */
    int redundant;     /* joint equations that depend on others */
    double correction; /* of the last iteration, relative to the tolerance */
    double error;      /* estimated local error of the last step (m, rad), with error control */
} yk_multibody_report;

/* A description without parts and gravity, for tests that do not use the builder. */
yk_multibody_description yk_multibody_description_empty(void);
yk_multibody_flexible_def yk_multibody_flexible_default(void);

/* Initial frame of a node, or of an attachment of a flexible body, in the def. */
yk_multibody_node_def yk_multibody_start_pose(const yk_multibody_description *def, int node);

/* A beam as an element: its reference shape is given by the nodes as defined. */
yk_beam_def yk_multibody_beam_shape(const yk_multibody_description *def,
                                    const yk_multibody_beam_def *beam);

/* YK_ERROR_ARGUMENT names the invalid part. Destroy the subsystem through its table of operations. */
yk_status yk_multibody_make(yk_context *context, const yk_multibody_description *def,
                            yk_multibody **model);
yk_subsystem *yk_multibody_subsystem(yk_multibody *model);
/* The description that the model was created from. */
const yk_multibody_description *yk_multibody_definition(const yk_multibody *model);
/* The solver behind the contract of subsystems (subsystem.c). */
const yk_subsystem_ops *yk_multibody_ops(void);
/* NULL for a subsystem of another kind. */
yk_multibody *yk_multibody_of(yk_subsystem *subsystem);

/* The operations of the contract for a model that runs alone. YK_REDUNDANT_CONSTRAINTS from start
 * is a success with a message. */
yk_status yk_multibody_start(yk_multibody *model, double t, double h);
yk_status yk_multibody_step(yk_multibody *model, double t, double h);
void yk_multibody_destroy(yk_multibody *model);

/* After start, step, or inside a trial. */
void yk_multibody_motion(const yk_multibody *model, int node, yk_motion *motion);
void yk_multibody_marker_motion(const yk_multibody *model, int node, const yk_marker *marker,
                                yk_motion *motion);
/* The wrench of a joint on its second body, at the marker of that body, in global axes. Reactions of
 * redundant joints: see initialize.c. */
void yk_multibody_reaction(const yk_multibody *model, int joint, yk_wrench *reaction);
/* Strains and resultants at the two evaluation points, loads on the nodes. */
void yk_multibody_beam_loads(const yk_multibody *model, int beam, yk_beam_loads *loads);
/* Strain energy of all beams and flexible bodies (J). */
double yk_multibody_strain_energy(const yk_multibody *model);
void yk_multibody_energy(const yk_multibody *model, yk_energy *energy);
/* Cost of the steps, for tests and benchmarks. */
void yk_multibody_report_get(const yk_multibody *model, yk_multibody_report *report);

/* Finds the static equilibrium from the present state; velocities become zero. */
yk_status yk_multibody_statics(yk_multibody *model, double t);

/* One component of a channel, for functions that depend on the state of the model. */
double yk_multibody_channel_value(const yk_multibody *model, int channel, int component);

/* The builder ---------------------------------------------------------------------------------- */

/* The builder of yoke/multibody.h, for library code: flexible bodies, access to added parts, and
 * parts that merging adds directly. */

/* Ids of attachments begin here while a model is built, because the number of nodes may still grow. */
enum { YK_MULTIBODY_FIRST_ATTACHMENT = 1 << 24 };

struct yk_multibody_builder {
    yk_building building;
    yk_multibody_description description; /* its counts are those of the arrays below */
    yk_multibody_node_def *nodes;
    yk_multibody_body_def *bodies;
    yk_joint_def *joints;
    yk_force_def *forces;
    yk_multibody_beam_def *beams;
    yk_multibody_flexible_def *flexibles;
    yk_multibody_attachment_def *attachments;
    yk_multibody_shape_def *shapes;
    yk_port_def *ports;
    int *force_channels; /* of a merged model, one per force; else NULL */
};

/* Adds an element without checks and returns its index, or YK_NO_ID. */
#define YK_MULTIBODY_APPEND(builder, list, counter, part)                                       \
    yk_building_append(&(builder)->building, &(builder)->list, &(builder)->description.counter, \
                       part, sizeof *(builder)->list)

/* The complete description, with attachments numbered after the nodes. Nothing can be added
 * afterwards. The builder owns the arrays. */
yk_multibody_description yk_multibody_describe(yk_multibody_builder *builder);

/* Adds a flexible body, then its attachments one by one. The ids of attachments can be used as
 * bodies in joints, forces, ports and shapes. The caller must release the def's body. */
int yk_multibody_add_flexible(yk_multibody_builder *builder, const yk_multibody_flexible_def *def);
int yk_multibody_add_attachment(yk_multibody_builder *builder,
                                const yk_multibody_attachment_def *def);

/* Initial frame of a node or an attachment. */
yk_multibody_node_def yk_multibody_frame_at(const yk_multibody_builder *builder, int id);
/* The nodes by their ids. They may be changed until the model is created. The address is invalid
 * after another node was added. */
yk_multibody_node_def *yk_multibody_nodes_of(yk_multibody_builder *builder);
/* The beams that were added; returns their number. */
int yk_multibody_beams_of(const yk_multibody_builder *builder, const yk_multibody_beam_def **beams);
/* A beam as an element that is strain-free at the defined places of its nodes. */
yk_beam_def yk_multibody_beam_element(const yk_multibody_builder *builder,
                                      const yk_multibody_beam_def *beam);
/* Tangent of the parabola through the three nodes of a beam, at one of them. */
yk_vec3 yk_multibody_beam_tangent(const yk_vec3 position[YK_BEAM_NODE_COUNT], int k);

#endif
