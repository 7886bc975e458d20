/* Multibody systems: rigid bodies, joints, forces and beams as one system of
 * differential-algebraic equations.
 *
 *        ground
 *          |  joint, force: between markers on two bodies, or on one and the ground       (yoke/mechanics.h)
 *        [body] -------- node o===== beam =====o node          body: mass and inertia fixed to a node
 *          |                                                   node: a frame on R3 x SO(3) with six unknowns
 *        port: where another subsystem is joined               beam: geometrically exact, through three nodes
 *
 * Every body is fixed to a node. yk_multibody_add_body returns the id of that node. Joints, forces,
 * ports, beams and shapes accept the id of any node in place of a body. Several bodies may share a
 * node.
 *
 *   yk_multibody_def def = yk_multibody_default();
 *   yk_multibody_builder *arm = yk_multibody_begin(context, &def);
 *   yk_multibody_body_def link = yk_multibody_body_default();
 *   link.name = "link";
 *   link.mass = 2;
 *   link.inertia = yk_inertia_box(2, 0.05, 0.05, 1);
 *   yk_body_id body = yk_multibody_add_body(arm, &link);
 *   ...
 *   yk_subsystem *subsystem;
 *   yk_status status = yk_multibody_create(arm, &subsystem);
 *
 * yk_multibody_create reports errors (see yoke/mechanics.h). The subsystem is coupled by
 * yoke/system.h and destroyed by its operations table: subsystem->ops->destroy(subsystem). Channels
 * are named after the parts: "link.position", "pin.force", "boom.section_moment_1"; docs/scenario.md
 * lists them. */
#ifndef YOKE_MULTIBODY_H
#define YOKE_MULTIBODY_H

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
    /* explicit, second order, stabilised Runge-Kutta-Chebyshev method for damped models; constraints as
     * a pair of stabilised equations of first order */
    YK_MULTIBODY_CHEBYSHEV,
    YK_MULTIBODY_INTEGRATOR_COUNT
} yk_multibody_integrator;

/* The form of the constraints c = 0 in generalised-alpha. */
typedef enum yk_multibody_formulation {
    YK_MULTIBODY_FORMULATION_INDEX_3, /* c = 0 at the end of the step */
    /* (d/dt + stabilization_rate)^2 c = 0, which gives ordinary differential equations (paper
     * relaxed, section 3) */
    YK_MULTIBODY_FORMULATION_STABILIZED_ODE
} yk_multibody_formulation;

typedef struct yk_multibody_options {
    yk_multibody_integrator integrator;
    double rho_inf; /* asymptotic spectral radius, 0 to 1 */
    /* Newton's method stops if the remaining error is below this fraction of the truncation error
     * of the step, and below the absolute tolerance (m, rad). */
    double newton_relative_tolerance;
    double newton_absolute_tolerance;
    int max_newton_iterations; /* per step */
    double assembly_tolerance; /* largest gap of a joint at the start (m, rad) */
    /* Local error of the variable steps inside a macro step; 0: fixed steps. Two-step: m, rad, and
     * displacements caused by coordinates of flexible bodies. Runge-Kutta: relative to the length
     * and the typical speed of the model. */
    double error_tolerance;
    yk_multibody_formulation formulation; /* of generalised-alpha */
    double stabilization_rate;            /* of the stabilised form (1/s); 0: 1 / step */
    int stages;                           /* of the Runge-Kutta-Chebyshev method, 2 to 100 */
    bool start_in_equilibrium;            /* static equilibrium */
    /* Artificial force -startup_damping times momentum (1/s). It is reduced linearly to 0 between
     * the two times (s). */
    double startup_damping;
    double startup_damping_full_until;
    double startup_damping_end;
} yk_multibody_options;

/* Two-step with rho_inf 0.6 in fixed steps. */
yk_multibody_options yk_multibody_options_default(void);

/* Parts ---------------------------------------------------------------------------------------- */

/* A moving frame without mass. Bodies, joints, forces and beams are attached to it. */
typedef struct yk_multibody_node_def {
    const char *name;
    /* Pose in which beams are free of strain (m). A rough guess is enough if joints determine it. */
    yk_vec3 position;
    yk_quat orientation;
    yk_vec3 initial_displacement; /* at the start, from `position` (m) */
    yk_vec3 initial_rotation;     /* at the start, from `orientation`: rotation vector (rad) */
    yk_vec3 velocity;             /* m/s */
    yk_vec3 angular_velocity;     /* rad/s, global axes */
    bool keep_initial_pose; /* assemble the joints by moving other nodes, if that is possible */
    int part;               /* part of a merged model; set by the library */
} yk_multibody_node_def;

typedef struct yk_multibody_body_def {
    const char *name;
    yk_body_id node;             /* existing node; null: create a node with the name of the body */
    double mass;                 /* kg */
    yk_vec3 center_of_mass;      /* in the axes of the node (m) */
    yk_mat3 inertia;             /* about the centre of mass, in axes of its own (kg m2) */
    yk_quat inertia_orientation; /* from the axes of `inertia` to those of the node */
    /* Pose and velocities of the created node, as in yk_multibody_node_def; ignored if `node` is
     * given. */
    yk_vec3 position;
    yk_quat orientation;
    yk_vec3 velocity;
    yk_vec3 angular_velocity;
} yk_multibody_body_def;

/* Beam sections. Section axes: x along the beam, y and z across. Strains and resultants are ordered
 *
 *   strain     gamma_x extension, gamma_y and gamma_z shear; kappa_x twist, kappa_y and kappa_z curvature (1/m)
 *   resultant  N_x, N_y, N_z (N); M_x, M_y, M_z (N m)
 *
 * and the stiffness may be any 6 x 6 matrix: eccentric or anisotropic sections couple all
 * components. */
typedef struct yk_beam_section {
    double stiffness[6][6];
    double damping[6][6];   /* resultants by strain rates */
    double mass;            /* kg/m */
    yk_vec3 center_of_mass; /* from the reference line, in section axes (m) */
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
    double torsion_constant; /* m4 */
    double shear_factor_y;   /* fraction of the area that carries shear along y */
    double shear_factor_z;   /* and along z */
    double rayleigh_beta;    /* damping = rayleigh_beta * stiffness (s) */
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

/* A beam through three nodes, the middle one near half of its length. It is free of strain in the
 * reference pose of the nodes. Its mass is lumped at the nodes. */
typedef struct yk_multibody_beam_def {
    const char *name;
    yk_body_id nodes[YK_BEAM_NODE_COUNT];
    /* from each node to the line of the beam, in the axes of the node (m) */
    yk_vec3 offsets[YK_BEAM_NODE_COUNT];
    /* from section axes (x along the beam) to node axes: see yk_multibody_orient_beam_sections */
    yk_quat section_orientations[YK_BEAM_NODE_COUNT];
    yk_beam_section sections[YK_BEAM_SECTION_COUNT]; /* of the two halves */
} yk_multibody_beam_def;

/* A shape for drawings, fixed to a node. */
typedef struct yk_multibody_shape_def {
    yk_body_id node;
    yk_shape_kind kind;
    yk_marker marker;
    yk_vec3 size; /* see yk_shape_kind (m) */
} yk_multibody_shape_def;

yk_multibody_node_def yk_multibody_node_default(void);
/* A body without mass on a new node at the origin. */
yk_multibody_body_def yk_multibody_body_default(void);
/* A body on a new node at its centre of mass: mass (kg), inertia about the centre of mass (kg m2),
 * position (m). */
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
    double length_unit; /* of all lengths (m), by which messages state them in m */
} yk_multibody_def;

/* Gravity [0, 0, -9.81], lengths in m. */
yk_multibody_def yk_multibody_default(void);

typedef struct yk_multibody_builder yk_multibody_builder;

/* `def` may be NULL for the defaults. Returns NULL if out of memory; the functions below accept a
 * NULL builder, and yk_multibody_create reports the error. */
yk_multibody_builder *yk_multibody_begin(yk_context *context, const yk_multibody_def *def);

/* Each function returns the id of the added part, or a null id after an error. The id of a body is
 * that of its node. Parts to which nothing refers have no id: the functions return the status. */
yk_body_id yk_multibody_add_node(yk_multibody_builder *builder, const yk_multibody_node_def *def);
yk_body_id yk_multibody_add_body(yk_multibody_builder *builder, const yk_multibody_body_def *def);
yk_joint_id yk_multibody_add_joint(yk_multibody_builder *builder, const yk_joint_def *def);
yk_force_id yk_multibody_add_force(yk_multibody_builder *builder, const yk_force_def *def);
yk_status yk_multibody_add_beam(yk_multibody_builder *builder, const yk_multibody_beam_def *def);
yk_port_id yk_multibody_add_port(yk_multibody_builder *builder, const yk_port_def *def);
/* A marker port on a body. */
yk_port_id yk_multibody_add_marker_port(yk_multibody_builder *builder, const char *name,
                                        yk_body_id body, yk_marker marker);
yk_status yk_multibody_add_shape(yk_multibody_builder *builder, const yk_multibody_shape_def *def);

/* Sets the section axes of a beam: x along the parabola through its nodes, z as near as possible to
 * the direction `up` in global axes. The nodes must have been added and set in the def.
 * YK_ERROR_ARGUMENT if `up` is parallel to the beam or the nodes coincide. */
yk_status yk_multibody_orient_beam_sections(yk_multibody_builder *builder,
                                            yk_multibody_beam_def *beam, yk_vec3 up);

/* Creates the subsystem, and destroys the builder in any case. YK_ERROR_ARGUMENT with the name of
 * the invalid part. */
yk_status yk_multibody_create(yk_multibody_builder *builder, yk_subsystem **subsystem);
/* Returns the subsystem, or NULL after an error, which yk_system_create then reports: for a system
 * that takes ownership of the subsystem. */
yk_subsystem *yk_multibody_create_or_null(yk_multibody_builder *builder);
/* Destroys a builder without creating a subsystem. NULL is allowed. */
void yk_multibody_discard(yk_multibody_builder *builder);

#ifdef __cplusplus
}
#endif

#endif
