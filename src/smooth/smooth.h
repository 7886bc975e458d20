/* The smooth multibody solver: rigid bodies, joints, forces and beams as one index-3 system of differential-algebraic
 * equations, integrated by the implicit two-step method of the papers (tight (1)-(6), explicit (5)-(10)).
 *
 *   nodes     frames on R3 x SO(3) with six unknowns each; YK_SMOOTH_GROUND is the one that never moves
 *   bodies    mass and inertia fixed to a node, any number on each; a node without is massless
 *   joints    between markers on two nodes (mechanics/joint.h), with reactions
 *   forces    between markers or on one (mechanics/force.h), gravity, artificial damping
 *   beams     three-node elements (smooth/beam.h)
 *   flexible  bodies with modes or in absolute nodal coordinates (smooth/flexible.h), and the places of theirs where
 *             joints, forces and ports attach
 *   ports     markers, distances between two markers, and signals, where the world meets the model
 *
 * A def names everything by index in its arrays; creation copies it. The result is a yk_subsystem (its first member)
 * that also runs alone: start, then step with inputs = NULL. */
#ifndef YK_SMOOTH_SMOOTH_H
#define YK_SMOOTH_SMOOTH_H

#include "mechanics/force.h"
#include "mechanics/inertia.h"
#include "mechanics/joint.h"
#include "smooth/beam.h"
#include "smooth/flexible.h"
#include "yoke/base.h"

enum { YK_SMOOTH_GROUND = -1 };

typedef struct yk_smooth yk_smooth;

/* A number that changes in time. Loads may read what the model computes through yk_smooth_channel_value: the latest
 * iterate of the step that is being solved. Absent when `value` is NULL. Several threads may ask at once. */
typedef struct yk_smooth_function {
    double (*value)(void *user, const yk_smooth *model, double t);
    void *user;
} yk_smooth_function;

typedef struct yk_smooth_node_def {
    const char *name;
    yk_vec3 position; /* a rough guess is enough where joints decide */
    yk_quat orientation;
    yk_vec3 displacement; /* at the start, away from `position`, where beams are free of strain */
    yk_vec3 rotation;     /* likewise from `orientation`: a rotation vector in global axes */
    yk_vec3 velocity;
    yk_vec3 angular_velocity;
    bool keep; /* at the start, move the other nodes rather than this one to satisfy the joints */
    int part;  /* of a merged model: which one it came from */
} yk_smooth_node_def;

typedef struct yk_smooth_body_def {
    const char *name;
    int node;
    double mass;
    yk_vec3 centre;  /* of mass, in the node's axes */
    yk_mat3 inertia; /* about the centre of mass, in the axes that follow */
    yk_quat axes;    /* from the axes of the inertia tensor to the node's */
} yk_smooth_body_def;

typedef struct yk_smooth_joint_def {
    const char *name;
    yk_joint_kind kind;
    int node[2];
    yk_marker marker[2];
    double length; /* distance; radius of a rolling disc */
    unsigned
        constrained; /* relative motions that YK_JOINT_AXES suppresses: YK_AXIS bits, in axes of the first marker */
    yk_smooth_function drive; /* what driven kinds prescribe; a distance may have one */
    double drive_unit;        /* of its values, in units of the model */
} yk_smooth_joint_def;

typedef struct yk_smooth_force_def {
    const char *name;
    yk_force_kind kind;
    int node[2]; /* a force or torque acts on node[1] alone */
    yk_marker marker[2];
    double stiffness, damping, free; /* spring (free length), torsion (free angle) */
    double bushing_stiffness[6][6];
    double bushing_damping[6][6];
    yk_vec3 vector;          /* of a force or torque */
    yk_smooth_function load; /* factor of the vector (1 if absent); added to the tension of a spring (0 if absent) */
    double load_unit;        /* of its values, in units of the model */
    int input;               /* signal port that gives the load in place of the function; -1: none */
    int first_channel;       /* of a merged model: where the channels begin that the load knows */
} yk_smooth_force_def;

/* A beam through three nodes, the middle one near half of its length; free of strain where the nodes are defined. Its
 * mass is shared out to the nodes. */
typedef struct yk_smooth_beam_def {
    const char *name;
    int node[YK_BEAM_NODES];
    yk_vec3 offset[YK_BEAM_NODES];        /* from the node to the line of the beam, in the node's axes */
    yk_quat section_frame[YK_BEAM_NODES]; /* from section axes (x along the beam) to the node's axes */
    yk_beam_section section[YK_BEAM_POINTS];
} yk_smooth_beam_def;

/* A flexible body. A modal one has its floating frame on a node that moves with it; a rod starts with its origin, the
 * first end, at the given place, along the x axis of the orientation there, and moving as a rigid body. */
typedef struct yk_smooth_flexible_def {
    const char *name;
    const yk_flexible *body;
    int node; /* of a modal body */
    yk_vec3 position;
    yk_quat orientation;
    yk_vec3 velocity;
    yk_vec3 angular_velocity;
    const double *amplitudes;      /* of a modal body at the start, one per shape; NULL: zero */
    const double *amplitude_rates; /* likewise (1/s) */
    yk_vec3 curvature;             /* of a rod at the start, in its section's axes: twist, and bending about y and z */
    int part;                      /* of a merged model: which one it came from */
} yk_smooth_flexible_def;

/* An attachment of a flexible body as a frame: wherever a node is named in joints, forces, ports and shapes, node_count + i stands
 * for attachment i of this list. */
typedef struct yk_smooth_attachment_def {
    const char *name;
    int flexible;
    int attachment; /* of the body */
} yk_smooth_attachment_def;

/* Something to draw, fixed to a node. */
typedef struct yk_smooth_shape_def {
    int node;
    yk_shape_kind kind;
    yk_marker marker;
    yk_vec3 size;
} yk_smooth_shape_def;

/* marker: a frame on node[0]; scalar: the distance from marker[0] on node[0] to marker[1] on node[1]; signal: a number
 * that arrives by a wire and loads the forces that name the port. */
typedef struct yk_smooth_port_def {
    const char *name;
    yk_port_kind kind;
    int node[2];
    yk_marker marker[2];
} yk_smooth_port_def;

typedef enum yk_smooth_integrator {
    YK_SMOOTH_TWO_STEP,    /* implicit, second order, with numerical damping: the default */
    YK_SMOOTH_RUNGE_KUTTA, /* explicit, order 8 with error control: the last digits of models that are not stiff */
    YK_SMOOTH_GENERALISED_ALPHA, /* implicit, second order, on accelerations; takes the forms below */
    YK_SMOOTH_INTEGRATORS
} yk_smooth_integrator;

/* How generalised-alpha meets the constraints. */
typedef enum yk_smooth_form {
    YK_SMOOTH_DAE, /* as they are, at the end of the step */
    YK_SMOOTH_ODE  /* as (d/dt + stabilisation)^2 c = 0: ordinary differential equations, paper relaxed section 3 */
} yk_smooth_form;

typedef struct yk_smooth_options {
    yk_smooth_integrator integrator;
    double rho_inf;         /* asymptotic spectral radius, 0 to 1 */
    double newton_relative; /* iterations stop when what remains is this fraction of the step's truncation error */
    double newton_absolute; /* and below this change of position (m) and rotation (rad) */
    int newton_iterations;  /* at most, per step */
    double assembly;        /* positions are assembled to this gap (m, rad) */
    double error_tolerance; /* local error of a step of variable size inside step(); 0: fixed steps. Two-step: m, rad,
                               coordinates of flexible bodies by the displacement that they cause; Runge-Kutta: relative
                               to the model's length and its typical speed */
    yk_smooth_form form;    /* generalised-alpha */
    double stabilisation;   /* of the form ode (1/s); 0: one over the step */
    bool static_start;      /* begin in static equilibrium */
    double damping;         /* artificial: force -damping times momentum (1/s), removed linearly ... */
    double damping_start;   /* ... between these times */
    double damping_end;
} yk_smooth_options;

typedef struct yk_smooth_def {
    const char *name;
    yk_vec3 gravity;
    yk_smooth_options options;
    const yk_smooth_node_def *nodes;
    const yk_smooth_body_def *bodies;
    const yk_smooth_joint_def *joints;
    const yk_smooth_force_def *forces;
    const yk_smooth_beam_def *beams;
    const yk_smooth_flexible_def *flexibles;
    const yk_smooth_attachment_def *attachments;
    const yk_smooth_shape_def *shapes;
    const yk_smooth_port_def *ports;
    int part_count; /* of a merged model: how many it was merged from; 0: it is one */
    int node_count, body_count, joint_count, force_count, beam_count, shape_count, port_count;
    int flexible_count, attachment_count;
} yk_smooth_def;

/* Since start. */
typedef struct yk_smooth_report {
    int64_t steps;
    int64_t iterations;
    int64_t factorisations;
    int64_t rejected;  /* steps that the error control repeated */
    int unknowns;      /* six per node, the coordinates of flexible bodies, and one per joint equation */
    int redundant;     /* joint equations that depend on others */
    double correction; /* of the last iteration, relative to the tolerance */
    double error;      /* estimated local error of the last step (m, rad), with error control */
} yk_smooth_report;

yk_smooth_options yk_smooth_options_default(void);
yk_smooth_def yk_smooth_default(void);
yk_smooth_node_def yk_smooth_node_default(void);
yk_smooth_body_def yk_smooth_body_default(void);
yk_smooth_joint_def yk_smooth_joint_default(void);
yk_smooth_force_def yk_smooth_force_default(void);
/* Nodes on the ground, section axes along those of the nodes, no section. */
yk_smooth_beam_def yk_smooth_beam_default(void);
yk_smooth_flexible_def yk_smooth_flexible_default(void);
yk_smooth_port_def yk_smooth_port_default(void);

/* Where a node, or an attachment of a flexible body, is at the start as the def has it. */
yk_smooth_node_def yk_smooth_start_pose(const yk_smooth_def *def, int node);

/* A beam as an element: the reference shape is that of the nodes as they are defined. */
yk_beam_def yk_smooth_beam_shape(const yk_smooth_def *def, const yk_smooth_beam_def *beam);

/* YK_ERROR_ARGUMENT with the name of what is wrong; destroy through the ops table. */
yk_status yk_smooth_create(yk_context *context, const yk_smooth_def *def, yk_smooth **model);
yk_subsystem *yk_smooth_subsystem(yk_smooth *model);
/* The model as it was created. */
const yk_smooth_def *yk_smooth_definition(const yk_smooth *model);
/* NULL for a subsystem of another kind. */
yk_smooth *yk_smooth_of(yk_subsystem *subsystem);

/* The operations of the contract for a model that runs alone; YK_REDUNDANT from start is a success with a message. */
yk_status yk_smooth_start(yk_smooth *model, double t, double h);
yk_status yk_smooth_step(yk_smooth *model, double t, double h);
void yk_smooth_destroy(yk_smooth *model);

/* After start, step, or inside a trial. */
void yk_smooth_motion(const yk_smooth *model, int node, yk_motion *motion);
void yk_smooth_marker_motion(const yk_smooth *model, int node, const yk_marker *marker, yk_motion *motion);
/* On the second body, at its marker, in global axes. */
void yk_smooth_reaction(const yk_smooth *model, int joint, yk_wrench *reaction);
/* Strains and resultants at the two evaluation points, loads on the nodes. */
void yk_smooth_beam_loads(const yk_smooth *model, int beam, yk_beam_loads *loads);
/* Amplitudes of a modal body, or coordinates of a rod. */
const double *yk_smooth_flexible_values(const yk_smooth *model, int flexible);
/* What beams and flexible bodies hold by their deformation, all together (J). */
double yk_smooth_strain_energy(const yk_smooth *model);
void yk_smooth_energy(const yk_smooth *model, yk_energy *energy);
void yk_smooth_report_get(const yk_smooth *model, yk_smooth_report *report);

/* Static equilibrium from the present state; velocities become zero. */
yk_status yk_smooth_statics(yk_smooth *model, double t);

/* Channels by name ("crank.position", "pin.reaction"), for functions that depend on the model's own state. */
int yk_smooth_channel_find(const yk_smooth *model, const char *name);
double yk_smooth_channel_value(const yk_smooth *model, int channel, int component);
/* Component by letter: x, y, z, or w, x, y, z of an orientation; 0 for the one of a scalar channel. -1: there is none. */
int yk_smooth_channel_component(const yk_smooth *model, int channel, char letter);

#endif
