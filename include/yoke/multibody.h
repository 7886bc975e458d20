/* Smooth mechanisms: rigid bodies, joints, forces and beams as one system of
 * differential-algebraic equations.
 *
 *        ground
 *          |  joint, force: between markers on two bodies, or on one and the ground       (yoke/mechanics.h)
 *        [body] -------- node o===== beam =====o node          body: mass and inertia fixed to a node
 *          |                                                   node: a frame on R3 x SO(3) with six unknowns
 *        port: where another subsystem is joined               beam: geometrically exact, through three nodes
 *
 * A body brings its node: the id that yk_multibody_add_body returns is that of the frame which it
 * moves with, and wherever a body is named in joints, forces, ports, beams and shapes, a node may
 * stand as well. Several bodies may share a node.
 *
 *   yk_multibody_def def = yk_multibody_default();
 *   yk_multibody_builder *arm = yk_multibody_begin(context, &def);
 *   yk_multibody_body_def link = yk_multibody_body_default();
 *   link.name = "link";
 *   link.mass = 2;
 *   link.inertia = yk_inertia_box(2, 0.05, 0.05, 1);
 *   int body = yk_multibody_add_body(arm, &link);
 *   ...
 *   yk_subsystem *subsystem;
 *   yk_status status = yk_multibody_create(arm, &subsystem);
 *
 * Mistakes are reported by yk_multibody_create, as yoke/mechanics.h says. The subsystem is coupled
 * by yoke/system.h and destroyed by its operations table: subsystem->ops->destroy(subsystem).
 * Its channels are named after what was added: "link.position", "pin.force", "boom.section_moment_1";
 * docs/scenario.md lists them. */
#ifndef YOKE_SMOOTH_H
#define YOKE_SMOOTH_H

#include "yoke/mechanics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Integration ---------------------------------------------------------------------------------- */

typedef enum yk_multibody_integrator {
    YK_MULTIBODY_TWO_STEP, /* implicit, second order, with numerical damping: the default */
    /* explicit, order 8 with error control: the last digits of models that are not stiff */
    YK_MULTIBODY_RUNGE_KUTTA,
    /* implicit, second order, on accelerations; takes the forms below */
    YK_MULTIBODY_GENERALIZED_ALPHA,
    YK_MULTIBODY_INTEGRATOR_COUNT
} yk_multibody_integrator;

/* How generalised-alpha meets the constraints. */
typedef enum yk_multibody_formulation {
    YK_MULTIBODY_FORMULATION_INDEX_3, /* as they are, at the end of the step */
    /* as (d/dt + stabilisation)^2 c = 0: ordinary differential equations, paper relaxed section
     * 3 */
    YK_MULTIBODY_FORMULATION_STABILIZED_ODE
} yk_multibody_formulation;

typedef struct yk_multibody_options {
    yk_multibody_integrator integrator;
    double rho_inf; /* asymptotic spectral radius, 0 to 1 */
    /* iterations stop when what remains is this fraction of the step's truncation error */
    double newton_relative_tolerance;
    double newton_absolute_tolerance; /* and below this change of position (m) and rotation (rad) */
    int max_newton_iterations;        /* at most, per step */
    double assembly_tolerance;        /* positions are assembled to this gap (m, rad) */
    /* local error of a step of variable size inside step(); 0: fixed steps. Two-step: m, rad,
     * coordinates of flexible bodies by the displacement that they cause; Runge-Kutta: relative to
     * the model's length and its typical speed */
    double error_tolerance;
    yk_multibody_formulation formulation; /* generalised-alpha */
    double stabilization_rate;            /* of the form ode (1/s); 0: one over the step */
    bool start_in_equilibrium;            /* begin in static equilibrium */
    double
        startup_damping; /* artificial: force -damping times momentum (1/s), removed linearly ... */
    double startup_damping_full_until; /* ... between these times (s) */
    double startup_damping_end;
} yk_multibody_options;

/* Two-step with rho_inf 0.6 in fixed steps. */
yk_multibody_options yk_multibody_options_default(void);

/* Parts ---------------------------------------------------------------------------------------- */

/* A frame that moves, without mass of its own: bodies, joints, forces and beams meet there. */
typedef struct yk_multibody_node_def {
    const char *name;
    yk_vec3 position; /* m; a rough guess is enough where joints decide */
    yk_quat orientation;
    /* at the start, away from `position`, where beams are free of strain (m) */
    yk_vec3 initial_displacement;
    yk_vec3
        initial_rotation; /* likewise from `orientation`: a rotation vector in global axes (rad) */
    yk_vec3 velocity;     /* m/s */
    yk_vec3 angular_velocity; /* rad/s, global axes */
    bool
        keep_initial_pose; /* at the start, move the other nodes rather than this one to satisfy the joints */
    int part;              /* set by the library: which part of a merged model it came from */
} yk_multibody_node_def;

typedef struct yk_multibody_body_def {
    const char *name;
    int node; /* that it is fixed to; YK_NO_ID: a node of its own with its name, placed as below */
    double mass;                 /* kg */
    yk_vec3 center_of_mass;      /* of mass, in the node's axes (m) */
    yk_mat3 inertia;             /* about the centre of mass, in the axes that follow (kg m2) */
    yk_quat inertia_orientation; /* from the axes of the inertia tensor to the node's */
    /* of its own node, as in yk_multibody_node_def; not read where `node` is given */
    yk_vec3 position;
    yk_quat orientation;      /* likewise */
    yk_vec3 velocity;         /* likewise */
    yk_vec3 angular_velocity; /* likewise */
} yk_multibody_body_def;

/* Beam sections. Section axes: x along the beam, y and z across. Strains and resultants are ordered
 *
 *   strain     gamma_x extension, gamma_y and gamma_z shear; kappa_x twist, kappa_y and kappa_z curvature (1/m)
 *   resultant  N_x, N_y, N_z (N); M_x, M_y, M_z (N m)
 *
 * and the stiffness may be any 6 x 6 matrix between them: eccentric or anisotropic sections
 * couple all of them. */
typedef struct yk_beam_section {
    double stiffness[6][6];
    double damping[6][6];   /* resultants from strain rates; all zero: none */
    double mass;            /* kg/m */
    yk_vec3 center_of_mass; /* of mass, from the reference line, in section axes (m) */
    yk_mat3 inertia;        /* about the centre of mass, in section axes (kg m) */
} yk_beam_section;

/* Homogeneous and isotropic, with its centre on the reference line and principal axes y and z. */
typedef struct yk_beam_section_def {
    double young_modulus;    /* Pa */
    double poisson_ratio;    /* 1 */
    double density;          /* kg/m3 */
    double area;             /* m2 */
    double area_moment_y;    /* second moment of area about y: bending in the x-z plane (m4) */
    double area_moment_z;    /* about z: bending in the x-y plane (m4) */
    double torsion_constant; /* torsion constant (m4) */
    double shear_factor_y; /* shear factors: fraction of the area that carries shear along y ... */
    double shear_factor_z; /* ... and along z */
    double rayleigh_beta;  /* damping = damping_ratio * stiffness (s) */
} yk_beam_section_def;

/* Steel with a solid circular section of 1 cm2; the shapes below fill in the geometry. */
yk_beam_section_def yk_beam_section_default(void);
/* Widths along y and z. Torsion by Saint-Venant's series, shear factor 5/6. */
void yk_beam_section_set_rectangle(yk_beam_section_def *def, double width_y, double width_z);
/* A tube, or a bar with inner radius zero. Shear factor after Cowper (1966) for the section's
 * Poisson ratio, which must be set before. */
void yk_beam_section_set_tube(yk_beam_section_def *def, double outer_radius, double inner_radius);
yk_beam_section yk_beam_section_from_def(const yk_beam_section_def *def);
/* The same section seen from axes that are turned by `angle` about x and from a reference line
 * that runs at `offset` (y, z in the old axes) from the old one. */
yk_beam_section yk_beam_section_transformed(const yk_beam_section *section, double angle,
                                            double offset_y, double offset_z);

enum { YK_BEAM_NODE_COUNT = 3, YK_BEAM_SECTION_COUNT = 2 };

/* A beam through three nodes, the middle one near half of its length; free of strain where the
 * nodes are defined. Its mass is shared out to the nodes. */
typedef struct yk_multibody_beam_def {
    const char *name;
    int nodes[YK_BEAM_NODE_COUNT];
    /* from the node to the line of the beam, in the node's axes (m) */
    yk_vec3 offsets[YK_BEAM_NODE_COUNT];
    /* From section axes (x along the beam) to the node's axes; yk_multibody_orient_beam_sections finds them. */
    yk_quat section_orientations[YK_BEAM_NODE_COUNT];
    yk_beam_section sections[YK_BEAM_SECTION_COUNT]; /* each holds for half of the beam */
} yk_multibody_beam_def;

/* Something to draw, fixed to a node. */
typedef struct yk_multibody_shape_def {
    int node;
    yk_shape_kind kind;
    yk_marker marker;
    yk_vec3 size; /* as yk_shape_kind says (m) */
} yk_multibody_shape_def;

yk_multibody_node_def yk_multibody_node_default(void);
/* With a node of its own at the origin; without mass. */
yk_multibody_body_def yk_multibody_body_default(void);
/* The same with a mass (kg) and an inertia tensor about its origin, which is its centre (kg m2), at
 * a position (m). */
yk_multibody_body_def yk_multibody_body_named(const char *name, double mass, yk_mat3 inertia,
                                              yk_vec3 position);
/* Nodes on the ground, section axes along those of the nodes, no section. */
yk_multibody_beam_def yk_multibody_beam_default(void);
/* A sphere at the origin of the ground, without a size. */
yk_multibody_shape_def yk_multibody_shape_default(void);

/* Building ------------------------------------------------------------------------------------- */

typedef struct yk_multibody_def {
    const char *name; /* in messages */
    yk_vec3 gravity;  /* m/s2 */
    yk_multibody_options options;
} yk_multibody_def;

/* Gravity [0, 0, -9.81]. */
yk_multibody_def yk_multibody_default(void);

typedef struct yk_multibody_builder yk_multibody_builder;

/* NULL: the default def. Returns NULL when out of memory, which the functions below take and
 * yk_multibody_create reports. */
yk_multibody_builder *yk_multibody_begin(yk_context *context, const yk_multibody_def *def);

/* Each returns the id of what was added, or YK_NO_ID. Bodies return that of their node. */
int yk_multibody_add_node(yk_multibody_builder *builder, const yk_multibody_node_def *def);
int yk_multibody_add_body(yk_multibody_builder *builder, const yk_multibody_body_def *def);
int yk_multibody_add_joint(yk_multibody_builder *builder, const yk_joint_def *def);
int yk_multibody_add_force(yk_multibody_builder *builder, const yk_force_def *def);
int yk_multibody_add_beam(yk_multibody_builder *builder, const yk_multibody_beam_def *def);
int yk_multibody_add_port(yk_multibody_builder *builder, const yk_port_def *def);
/* A port that is a marker of a body. */
int yk_multibody_add_marker_port(yk_multibody_builder *builder, const char *name, int body,
                                 yk_marker marker);
int yk_multibody_add_shape(yk_multibody_builder *builder, const yk_multibody_shape_def *def);

/* Sets the section axes of a beam: x along the parabola through its nodes, z as near as that
 * allows to `up`, a direction in global axes. After the nodes were added and named in the def.
 * YK_ERROR_ARGUMENT where `up` runs along the beam or the nodes are in one place. */
yk_status yk_multibody_orient_beam_sections(yk_multibody_builder *builder,
                                            yk_multibody_beam_def *beam, yk_vec3 up);

/* Makes the subsystem of all that was added, and ends the builder whatever comes out.
 * YK_ERROR_ARGUMENT with the name of what is wrong. */
yk_status yk_multibody_create(yk_multibody_builder *builder, yk_subsystem **subsystem);
/* The same in one word, for a system that adopts it: NULL after a mistake, which yk_system_create
 * then reports. */
yk_subsystem *yk_multibody_create_or_null(yk_multibody_builder *builder);
/* Ends a builder from which nothing is to be made; NULL is allowed. */
void yk_multibody_discard(yk_multibody_builder *builder);

#ifdef __cplusplus
}
#endif

#endif
