/* Smooth mechanisms: rigid bodies, joints, forces and beams as one system of
 * differential-algebraic equations.
 *
 *        ground
 *          |  joint, force: between markers on two bodies, or on one and the ground       (yoke/mechanics.h)
 *        [body] -------- node o===== beam =====o node          body: mass and inertia fixed to a node
 *          |                                                   node: a frame on R3 x SO(3) with six unknowns
 *        port: where another subsystem is joined               beam: geometrically exact, through three nodes
 *
 * A body brings its node: the id that yk_smooth_add_body returns is that of the frame which it
 * moves with, and wherever a body is named in joints, forces, ports, beams and shapes, a node may
 * stand as well. Several bodies may share a node.
 *
 *   yk_smooth_def def = yk_smooth_default();
 *   yk_smooth_builder *arm = yk_smooth_begin(context, &def);
 *   yk_smooth_body_def link = yk_smooth_body_default();
 *   link.name = "link";
 *   link.mass = 2;
 *   link.inertia = yk_inertia_box(2, 0.05, 0.05, 1);
 *   int body = yk_smooth_add_body(arm, &link);
 *   ...
 *   yk_subsystem *subsystem;
 *   yk_status status = yk_smooth_create(arm, &subsystem);
 *
 * Mistakes are reported by yk_smooth_create, as yoke/mechanics.h says. The subsystem is coupled
 * by yoke/coupling.h and destroyed by its operations table: subsystem->ops->destroy(subsystem).
 * Its channels are named after what was added: "link.position", "pin.force", "boom.moment_1";
 * docs/scenario.md lists them. */
#ifndef YOKE_SMOOTH_H
#define YOKE_SMOOTH_H

#include "yoke/mechanics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Integration ---------------------------------------------------------------------------------- */

typedef enum yk_smooth_integrator {
    YK_SMOOTH_TWO_STEP, /* implicit, second order, with numerical damping: the default */
    /* explicit, order 8 with error control: the last digits of models that are not stiff */
    YK_SMOOTH_RUNGE_KUTTA,
    /* implicit, second order, on accelerations; takes the forms below */
    YK_SMOOTH_GENERALISED_ALPHA,
    YK_SMOOTH_INTEGRATORS
} yk_smooth_integrator;

/* How generalised-alpha meets the constraints. */
typedef enum yk_smooth_form {
    YK_SMOOTH_DAE, /* as they are, at the end of the step */
    /* as (d/dt + stabilisation)^2 c = 0: ordinary differential equations, paper relaxed section
     * 3 */
    YK_SMOOTH_ODE
} yk_smooth_form;

typedef struct yk_smooth_options {
    yk_smooth_integrator integrator;
    double rho_inf; /* asymptotic spectral radius, 0 to 1 */
    /* iterations stop when what remains is this fraction of the step's truncation error */
    double newton_relative;
    double newton_absolute; /* and below this change of position (m) and rotation (rad) */
    int newton_iterations;  /* at most, per step */
    double assembly;        /* positions are assembled to this gap (m, rad) */
    /* local error of a step of variable size inside step(); 0: fixed steps. Two-step: m, rad,
     * coordinates of flexible bodies by the displacement that they cause; Runge-Kutta: relative to
     * the model's length and its typical speed */
    double error_tolerance;
    yk_smooth_form form;  /* generalised-alpha */
    double stabilisation; /* of the form ode (1/s); 0: one over the step */
    bool static_start;    /* begin in static equilibrium */
    double damping; /* artificial: force -damping times momentum (1/s), removed linearly ... */
    double damping_start; /* ... between these times (s) */
    double damping_end;
} yk_smooth_options;

/* Two-step with rho_inf 0.6 in fixed steps. */
yk_smooth_options yk_smooth_options_default(void);

/* Parts ---------------------------------------------------------------------------------------- */

/* A frame that moves, without mass of its own: bodies, joints, forces and beams meet there. */
typedef struct yk_smooth_node_def {
    const char *name;
    yk_vec3 position; /* m; a rough guess is enough where joints decide */
    yk_quat orientation;
    /* at the start, away from `position`, where beams are free of strain (m) */
    yk_vec3 displacement;
    yk_vec3 rotation; /* likewise from `orientation`: a rotation vector in global axes (rad) */
    yk_vec3 velocity; /* m/s */
    yk_vec3 angular_velocity; /* rad/s, global axes */
    bool keep; /* at the start, move the other nodes rather than this one to satisfy the joints */
    int part;  /* set by the library: which part of a merged model it came from */
} yk_smooth_node_def;

typedef struct yk_smooth_body_def {
    const char *name;
    int node; /* that it is fixed to; YK_NO_ID: a node of its own with its name, placed as below */
    double mass;     /* kg */
    yk_vec3 centre;  /* of mass, in the node's axes (m) */
    yk_mat3 inertia; /* about the centre of mass, in the axes that follow (kg m2) */
    yk_quat axes;    /* from the axes of the inertia tensor to the node's */
    /* of its own node, as in yk_smooth_node_def; not read where `node` is given */
    yk_vec3 position;
    yk_quat orientation;      /* likewise */
    yk_vec3 velocity;         /* likewise */
    yk_vec3 angular_velocity; /* likewise */
} yk_smooth_body_def;

/* Beam sections. Section axes: x along the beam, y and z across. Strains and resultants are ordered
 *
 *   strain     gamma_x extension, gamma_y and gamma_z shear; kappa_x twist, kappa_y and kappa_z curvature (1/m)
 *   resultant  N_x, N_y, N_z (N); M_x, M_y, M_z (N m)
 *
 * and the stiffness may be any 6 x 6 matrix between them: eccentric or anisotropic sections
 * couple all of them. */
typedef struct yk_beam_section {
    double stiffness[6][6];
    double damping[6][6]; /* resultants from strain rates; all zero: none */
    double mass;          /* kg/m */
    yk_vec3 centre;       /* of mass, from the reference line, in section axes (m) */
    yk_mat3 inertia;      /* about the centre of mass, in section axes (kg m) */
} yk_beam_section;

/* Homogeneous and isotropic, with its centre on the reference line and principal axes y and z. */
typedef struct yk_beam_section_def {
    double young;         /* Pa */
    double poisson;       /* 1 */
    double density;       /* kg/m3 */
    double area;          /* m2 */
    double inertia_y;     /* second moment of area about y: bending in the x-z plane (m4) */
    double inertia_z;     /* about z: bending in the x-y plane (m4) */
    double torsion;       /* torsion constant (m4) */
    double shear_y;       /* shear factors: fraction of the area that carries shear along y ... */
    double shear_z;       /* ... and along z */
    double damping_ratio; /* damping = damping_ratio * stiffness (s) */
} yk_beam_section_def;

/* Steel with a solid circular section of 1 cm2; the shapes below fill in the geometry. */
yk_beam_section_def yk_beam_section_default(void);
/* Widths along y and z. Torsion by Saint-Venant's series, shear factor 5/6. */
void yk_beam_section_rectangle(yk_beam_section_def *def, double width_y, double width_z);
/* A tube, or a bar with inner radius zero. Shear factor after Cowper (1966) for the section's
 * Poisson ratio, which must be set before. */
void yk_beam_section_tube(yk_beam_section_def *def, double outer_radius, double inner_radius);
yk_beam_section yk_beam_section_create(const yk_beam_section_def *def);
/* The same section seen from axes that are turned by `angle` about x and from a reference line
 * that runs at `offset` (y, z in the old axes) from the old one. */
yk_beam_section yk_beam_section_moved(const yk_beam_section *section, double angle, double offset_y,
                                      double offset_z);

enum { YK_BEAM_NODES = 3, YK_BEAM_POINTS = 2 };

/* A beam through three nodes, the middle one near half of its length; free of strain where the
 * nodes are defined. Its mass is shared out to the nodes. */
typedef struct yk_smooth_beam_def {
    const char *name;
    int node[YK_BEAM_NODES];
    /* from the node to the line of the beam, in the node's axes (m) */
    yk_vec3 offset[YK_BEAM_NODES];
    /* From section axes (x along the beam) to the node's axes; yk_smooth_beam_axes finds them. */
    yk_quat section_frame[YK_BEAM_NODES];
    yk_beam_section section[YK_BEAM_POINTS]; /* each holds for half of the beam */
} yk_smooth_beam_def;

/* Something to draw, fixed to a node. */
typedef struct yk_smooth_shape_def {
    int node;
    yk_shape_kind kind;
    yk_marker marker;
    yk_vec3 size; /* as yk_shape_kind says (m) */
} yk_smooth_shape_def;

yk_smooth_node_def yk_smooth_node_default(void);
/* With a node of its own at the origin; without mass. */
yk_smooth_body_def yk_smooth_body_default(void);
/* The same with a mass (kg) and an inertia tensor about its origin, which is its centre (kg m2), at
 * a position (m). */
yk_smooth_body_def yk_smooth_body_named(const char *name, double mass, yk_mat3 inertia,
                                        yk_vec3 position);
/* Nodes on the ground, section axes along those of the nodes, no section. */
yk_smooth_beam_def yk_smooth_beam_default(void);
/* A sphere at the origin of the ground, without a size. */
yk_smooth_shape_def yk_smooth_shape_default(void);

/* Building ------------------------------------------------------------------------------------- */

typedef struct yk_smooth_def {
    const char *name; /* in messages */
    yk_vec3 gravity;  /* m/s2 */
    yk_smooth_options options;
} yk_smooth_def;

/* Gravity [0, 0, -9.81]. */
yk_smooth_def yk_smooth_default(void);

typedef struct yk_smooth_builder yk_smooth_builder;

/* NULL: the default def. Returns NULL when out of memory, which the functions below take and
 * yk_smooth_create reports. */
yk_smooth_builder *yk_smooth_begin(yk_context *context, const yk_smooth_def *def);

/* Each returns the id of what was added, or YK_NO_ID. Bodies return that of their node. */
int yk_smooth_add_node(yk_smooth_builder *builder, const yk_smooth_node_def *def);
int yk_smooth_add_body(yk_smooth_builder *builder, const yk_smooth_body_def *def);
int yk_smooth_add_joint(yk_smooth_builder *builder, const yk_joint_def *def);
int yk_smooth_add_force(yk_smooth_builder *builder, const yk_force_def *def);
int yk_smooth_add_beam(yk_smooth_builder *builder, const yk_smooth_beam_def *def);
int yk_smooth_add_port(yk_smooth_builder *builder, const yk_port_def *def);
/* A port that is a marker of a body. */
int yk_smooth_add_marker(yk_smooth_builder *builder, const char *name, int body, yk_marker marker);
int yk_smooth_add_shape(yk_smooth_builder *builder, const yk_smooth_shape_def *def);

/* Sets the section axes of a beam: x along the parabola through its nodes, z as near as that
 * allows to `up`, a direction in global axes. After the nodes were added and named in the def.
 * YK_ERROR_ARGUMENT where `up` runs along the beam or the nodes are in one place. */
yk_status yk_smooth_beam_axes(yk_smooth_builder *builder, yk_smooth_beam_def *beam, yk_vec3 up);

/* Makes the subsystem of all that was added, and ends the builder whatever comes out.
 * YK_ERROR_ARGUMENT with the name of what is wrong. */
yk_status yk_smooth_create(yk_smooth_builder *builder, yk_subsystem **subsystem);
/* The same in one word, for a system that adopts it: NULL after a mistake, which yk_system_create
 * then reports. */
yk_subsystem *yk_smooth_finish(yk_smooth_builder *builder);
/* Ends a builder from which nothing is to be made; NULL is allowed. */
void yk_smooth_discard(yk_smooth_builder *builder);

#ifdef __cplusplus
}
#endif

#endif
