/* solver: multibody, the schema of its section. solver_multibody_build.c builds the model. */
#include "model/registry.h"
#include "multibody/options.h"
#include "nonsmooth/solids/solid.h"
#include "yoke/subsystem.h"

/* Nodes and bodies ----------------------------------------------------------------------------- */

static const yk_option state_fields[] = {
    {"position", YK_ORIGIN,
     .description =
         "initial position of the origin; an estimate is sufficient if joints determine it"},
    {"orientation", YK_OPTION_ORIENTATION, .default_text = "[1, 0, 0, 0]",
     .description = "rotation from its axes to the global axes"},
    {"velocity", YK_OPTION_NUMBERS, "m/s", "[0, 0, 0]", YK_VECTOR,
     .description = "initial velocity of the origin"},
    {"angular_velocity", YK_OPTION_NUMBERS, "rad/s", "[0, 0, 0]", YK_VECTOR,
     .description = "initial value, global axes"},
    {"keep_initial_pose", YK_OPTION_BOOLEAN, .default_text = "false",
     .description = "joints move other nodes at the start rather than this one"},
    {0},
};
static const yk_option_section node_keys = {"node", NULL, state_fields};

static const yk_option node_fields[] = {
    YK_INCLUDE(node_keys),
    {"initial_displacement", YK_ORIGIN,
     .description = "initial displacement from `position`, at which beams are strain-free"},
    {"initial_rotation", YK_OPTION_NUMBERS, "rad", YK_VECTOR,
     .description =
         "initial rotation from `orientation`, a rotation vector in global axes; default: nodes of "
         "a beam rotate with its displaced line, so that there is no shear"},
    {0},
};
static const yk_option_section node_section = {
    "node", "A massless frame that moves. Bodies, joints, forces and beams are attached to it.",
    node_fields};
static const yk_option node_item = {"node", YK_OPTION_SECTION, .section = &node_section,
                                    .description = ""};

static const yk_option body_fields[] = {
    {"mass", YK_OPTION_NUMBER, "kg", .required = true, .range = YK_POSITIVE, .description = "mass"},
    {"inertia", YK_OPTION_INERTIA, "kg m²", "[0, 0, 0]",
     .description = "about the center of mass: diagonal, or three rows; 0 is a point mass, on "
                    "which no torque may act"},
    {"center_of_mass", YK_ORIGIN,
     .description = "center of mass, from the origin, in the body's axes"},
    {"inertia_orientation", YK_OPTION_ORIENTATION, .default_text = "[1, 0, 0, 0]",
     .description = "rotation from the axes of `inertia` to the body's axes"},
    {"node", YK_OPTION_TEXT,
     .description = "the node to which it is fixed; default: a node of its own with its name"},
    YK_INCLUDE(node_section),
    {0},
};
static const yk_option_section body_section = {
    "body",
    "A rigid body. `position` and the following keys define its own node; with `node` they are not "
    "used.",
    body_fields};
static const yk_option body_item = {"body", YK_OPTION_SECTION, .section = &body_section,
                                    .description = ""};

/* Beams ---------------------------------------------------------------------------------------- */

static const yk_option material_fields[] = {
    {"young_modulus", YK_OPTION_NUMBER, "Pa", .required = true, .range = YK_POSITIVE,
     .description = "Young's modulus"},
    {"poisson_ratio", YK_OPTION_NUMBER, .default_text = "0.3",
     .range = {.minimum = -1,
               .maximum = 0.5,
               .bounds = YK_BOUND_MINIMUM | YK_BOUND_MINIMUM_OPEN | YK_BOUND_MAXIMUM},
     .description = "Poisson's ratio"},
    {"density", YK_OPTION_NUMBER, "kg/m³", .required = true, .range = YK_NOT_NEGATIVE,
     .description = "density"},
    {"rayleigh_beta", YK_OPTION_NUMBER, "s", "0", .range = YK_NOT_NEGATIVE,
     .description = "factor: damping = factor times stiffness"},
    {0},
};
static const yk_option_section material_keys = {"material", NULL, material_fields};

static const yk_option rectangle_fields[] = {YK_INCLUDE(material_keys),
                                             {"width_y", YK_OPTION_NUMBER, "m", .required = true,
                                              .range = YK_POSITIVE,
                                              .description = "along the section's y"},
                                             {"width_z", YK_OPTION_NUMBER, "m", .required = true,
                                              .range = YK_POSITIVE, .description = "along its z"},
                                             {0}};
static const yk_option tube_fields[] = {YK_INCLUDE(material_keys),
                                        {"radius", YK_OPTION_NUMBER, "m", .required = true,
                                         .range = YK_POSITIVE, .description = "outer radius"},
                                        {"inner_radius", YK_OPTION_NUMBER, "m", "0",
                                         .range = YK_NOT_NEGATIVE, .description = "inner radius"},
                                        {0}};
static const yk_option general_fields[] = {
    YK_INCLUDE(material_keys),
    {"area", YK_OPTION_NUMBER, "m²", .required = true, .range = YK_POSITIVE,
     .description = "of the section"},
    {"area_moment_y", YK_OPTION_NUMBER, "m⁴", .required = true, .range = YK_POSITIVE,
     .description = "bending in x-z"},
    {"area_moment_z", YK_OPTION_NUMBER, "m⁴", .required = true, .range = YK_POSITIVE,
     .description = "bending in x-y"},
    {"torsion_constant", YK_OPTION_NUMBER, "m⁴", .required = true, .range = YK_POSITIVE,
     .description = "torsion constant"},
    {"shear_factor_y", YK_OPTION_NUMBER, .default_text = "1", .range = YK_POSITIVE,
     .description = "shear factor along y"},
    {"shear_factor_z", YK_OPTION_NUMBER, .default_text = "1", .range = YK_POSITIVE,
     .description = "shear factor along z"},
    {0}};
static const yk_option matrix_fields[] = {
    {"stiffness", YK_OPTION_NUMBERS, "N, N m, N m²", .required = true, .min_count = 6,
     .max_count = 36,
     .description =
         "maps extension, shear along y and z (1), twist, curvature about y and z (1/m) to the "
         "force and the moment in section axes: six diagonal values, or 36 by rows"},
    {"damping", YK_OPTION_NUMBERS, "N s, N m s, N m² s", "[0, 0, 0, 0, 0, 0]", .min_count = 6,
     .max_count = 36, .description = "the same for their rates"},
    {"mass_per_length", YK_OPTION_NUMBER, "kg/m", .required = true, .range = YK_NOT_NEGATIVE,
     .description = "per length"},
    {"center_of_mass", YK_OPTION_NUMBERS, "m", "[0, 0]", .min_count = 2, .max_count = 2,
     .description = "center of mass: y and z from the beam's line"},
    {"inertia_per_length", YK_OPTION_INERTIA, "kg m", "[0, 0, 0]",
     .description = "per length, about the center of mass, section axes"},
    {0}};
static const yk_option_section rectangle = {"rectangle", "Solid, with shear factor 5/6.",
                                            rectangle_fields};
static const yk_option_section tube = {"tube", "A tube, or a round bar.", tube_fields};
static const yk_option_section general = {"properties", "By its numbers.", general_fields};
static const yk_option_section matrix = {
    "matrix", "Any linear section: eccentric, composite, with coupled strains.", matrix_fields};
/* Built by solver_multibody_build.c in this order; rods have all but the last. */
static const yk_option_section *const section_variants[] = {&rectangle, &tube, &general, &matrix,
                                                            NULL};
static const yk_option_section *const plain_sections[] = {&rectangle, &tube, &general, NULL};
static const yk_option beam_node_item = {"nodes", YK_OPTION_TEXT, .description = "a node or body"};
static const yk_option beam_fields[] = {
    {"nodes", YK_OPTION_LIST, .required = true, .min_count = 3, .max_count = 3,
     .item = &beam_node_item,
     .description = "its two ends with the middle between them; strain-free in their initial "
                    "places. Three nodes that are not on a line make a curved beam"},
    {"section", YK_OPTION_VARIANT, .required = true, .variants = section_variants,
     .selector = "type", .description = "Section and material"},
    {"second_section", YK_OPTION_VARIANT, .variants = section_variants, .selector = "type",
     .description = "section of its second half; default: that of the first"},
    {"section_z", YK_OPTION_NUMBERS, .default_text = "[0, 0, 1]", YK_VECTOR,
     .description = "initial direction in the section's x-z plane, global; x is along the beam"},
    {"offset", YK_ORIGIN,
     .description = "initial offset of the beam's line from its nodes, global"},
    {0},
};
static const yk_option_section beam_section = {"beam", "A geometrically exact three-node beam.",
                                               beam_fields};
static const yk_option beam_item = {"beam", YK_OPTION_SECTION, .section = &beam_section,
                                    .description = ""};

/* Flexible bodies ------------------------------------------------------------------------------ */

#define COUNT YK_OPTION_INTEGER, .range = YK_AT_LEAST(0)

enum { AMPLITUDES_MAX = 1000 };

static const yk_option moving_fields[] = {
    YK_INCLUDE(node_keys),
    {"initial_amplitudes", YK_OPTION_NUMBERS, .min_count = 1, .max_count = AMPLITUDES_MAX,
     .description = "initial values, in the order of the channels `modal_amplitude_1` and so on; "
                    "missing values are zero"},
    {"initial_amplitude_rates", YK_OPTION_NUMBERS, "1/s", .min_count = 1,
     .max_count = AMPLITUDES_MAX, .description = "likewise"},
    {"constant_mass_matrix", YK_OPTION_BOOLEAN, .default_text = "false",
     .description = "neglect the deformation in all acceleration terms of the inertia: simpler, "
                    "less accurate"},
    {0},
};
static const yk_option_section moving_keys = {"moving", NULL, moving_fields};

static const yk_option along_item = {"point", YK_OPTION_NUMBER, "m",
                                     .description = "distance from the origin along the rod"};
static const yk_option number_item = {"point", YK_OPTION_INTEGER,
                                      .description = "number of a node"};
static const yk_option_choice support_words[] = {
    {"clamped-free", "fixed to the section at the origin: shapes of a cantilever"},
    {"pinned-pinned", "x axis through both ends: half waves"},
    {"free-free", "moves with the mean motion of the rod: modes of a free rod"},
    {NULL, NULL}};

static const yk_option rod_fields[] = {
    {"length", YK_OPTION_NUMBER, "m", .required = true, .range = YK_POSITIVE,
     .description = "along x of its frame"},
    {"section", YK_OPTION_VARIANT, .required = true, .variants = plain_sections, .selector = "type",
     .description = "Section and material"},
    {"reference_conditions", YK_OPTION_CHOICE, .default_text = "clamped-free",
     .choices = support_words, .description = "motion of the floating frame"},
    {"bending_modes_y", COUNT, .default_text = "2",
     .description = "number of vibration shapes with deflection along y"},
    {"bending_modes_z", COUNT, .default_text = "2", .description = "and along z"},
    {"extension_modes", COUNT, .default_text = "1", .description = "shapes along x"},
    {"torsion_modes", COUNT, .default_text = "1", .description = "shapes about x"},
    {"static_modes", YK_OPTION_BOOLEAN, .default_text = "false",
     .description =
         "two more shapes in each plane of bending: the exact deflections under loads at its ends"},
    {"geometric_stiffening", YK_OPTION_BOOLEAN, .default_text = "true",
     .description = "bending shortens the rod, so that axial forces and fast rotation stiffen it"},
    {"damping_ratio", YK_OPTION_NUMBER, .default_text = "0", .range = YK_NOT_NEGATIVE,
     .description = "of each shape, as a fraction of critical damping"},
    {"attachments", YK_OPTION_NAMED, .item = &along_item,
     .description = "points at which joints, forces and ports attach"},
    YK_INCLUDE(moving_keys),
    {0}};

static const yk_option modal_fields[] = {
    {"nodes_file", YK_OPTION_PATH,
     .description = "table of coordinates and lumped masses, see modal.md"},
    {"modes_file", YK_OPTION_PATH, .description = "table of displacements, by mode and node"},
    {"frequencies_file", YK_OPTION_PATH, .description = "table of frequencies, by mode"},
    {"second_order_file", YK_OPTION_PATH,
     .description = "table of second-order displacements, by two modes and node, which describe "
                    "the stiffening of the body under loads"},
    {"invariants_file", YK_OPTION_PATH,
     .description = "table of inertia invariants, which replaces lumped masses, and of modal mass, "
                    "stiffness and damping"},
    {"mbdyn_fem_file", YK_OPTION_PATH,
     .description =
         "file with the record groups of MBDyn's modal joint, which replaces all tables"},
    {"selected_modes", YK_OPTION_NUMBERS, .min_count = 1, .max_count = 1000,
     .description = "numbers of the modes to use; default: all"},
    {"damping_ratio", YK_OPTION_NUMBER, .default_text = "0", .range = YK_NOT_NEGATIVE,
     .description =
         "of all shapes, as a fraction of critical damping, if the files contain no damping"},
    {"attachments", YK_OPTION_NAMED, .item = &number_item,
     .description =
         "points at which joints, forces and ports attach: numbers of nodes in the table"},
    YK_INCLUDE(moving_keys),
    {0}};

static const yk_option ancf_fields[] = {
    {"length", YK_OPTION_NUMBER, "m", .required = true, .range = YK_POSITIVE,
     .description = "along x of its orientation"},
    {"elements", YK_OPTION_INTEGER, .default_text = "4", .range = YK_BETWEEN(1, 100000),
     .description = "of equal length"},
    {"section", YK_OPTION_VARIANT, .required = true, .variants = plain_sections, .selector = "type",
     .description = "Section and material"},
    {"attachments", YK_OPTION_NAMED, .item = &number_item,
     .description = "points at which joints, forces and ports attach: numbers of nodes, 0 at the "
                    "start, `elements` at the end"},
    {"curvature", YK_OPTION_NUMBERS, "1/m", "[0, 0, 0]", YK_VECTOR,
     .description = "initial curvature, constant along the rod: twist about x of its section, "
                    "bending about y and z"},
    YK_INCLUDE(node_keys),
    {0}};

static const yk_option_section rod = {
    "rod",
    "A uniform rod with small deformation, relative to a floating frame at its start; the frame is "
    "a node with the rod's name.",
    rod_fields};
static const yk_option_section modal = {
    "modal", "Any body with small deformation, with the shapes of a finite-element program.",
    modal_fields};
static const yk_option_section ancf = {"ancf",
                                       "A uniform rod with large deformation, in absolute nodal "
                                       "coordinates; strain-free if it is straight.",
                                       ancf_fields};

/* Built by solver_multibody_build.c in this order. */
static const yk_option_section *const flexible_variants[] = {&rod, &modal, &ancf, NULL};
static const yk_option flexible_item = {"flexible body", YK_OPTION_VARIANT,
                                        .variants = flexible_variants, .selector = "type",
                                        .description = "A flexible body"};

/* Shapes --------------------------------------------------------------------------------------- */

static const yk_option drawing_keys[] = {YK_INCLUDE(yk_marker_keys), {0}};
static const yk_option_section drawing_section = {"shape", "", drawing_keys};
static const yk_option line_keys[] = {{"to", YK_OPTION_NUMBERS, "m", .required = true,
                                       .size = sizeof(yk_vec3), YK_VECTOR,
                                       .description = "its end, in the marker's axes"},
                                      {0}};
static const yk_option_section line = {"line", "", line_keys};

#define VARIANT(name, kind) &yk_##name##_ops.section,
const yk_option_section *const yk_drawing_variants[] = {
    &yk_sphere_ops.section, YK_PRIMITIVE_SOLID_LIST(VARIANT) & line, NULL};
#define KIND(name, kind) YK_SHAPE_##kind,
const yk_shape_kind yk_drawing_kinds[] = {YK_SHAPE_SPHERE,
                                          YK_PRIMITIVE_SOLID_LIST(KIND) YK_SHAPE_LINE};
static const yk_option shape_item = {"shapes",
                                     YK_OPTION_VARIANT,
                                     .section = &drawing_section,
                                     .variants = yk_drawing_variants,
                                     .selector = "type",
                                     .description = "Something to draw"};

/* The solver ----------------------------------------------------------------------------------- */

static const yk_option fields[] = {
    {"components", YK_OPTION_COMPONENTS, .item = &yk_component_item,
     .description = "instances of components that consist of bodies, joints, forces and so on"},
    YK_INCLUDE(yk_multibody_gravity),
    {"nodes", YK_OPTION_NAMED, .item = &node_item,
     .description = "massless or shared nodes; bodies have nodes of their own"},
    {"bodies", YK_OPTION_NAMED, .item = &body_item, .description = "rigid bodies"},
    {"joints", YK_OPTION_NAMED, .item = &yk_joint_item,
     .description = "joints and prescribed motions"},
    {"forces", YK_OPTION_NAMED, .item = &yk_force_item,
     .description = "forces between bodies and on them"},
    {"couplings", YK_OPTION_NAMED, .item = &yk_coupling_item,
     .description = "gears, racks, screws, differentials, ropes: equations and forces between the "
                    "coordinates of several joints"},
    {"beams", YK_OPTION_NAMED, .item = &beam_item, .description = "flexible beams"},
    {"flexible_bodies", YK_OPTION_NAMED, .item = &flexible_item,
     .description =
         "flexible bodies; their points are named `body.point` in place of a body or node"},
    {"ports", YK_OPTION_NAMED, .item = &yk_port_item,
     .description = "points that can be coupled with other subsystems"},
    {"shapes", YK_OPTION_LIST, .item = &shape_item, .description = "shapes to draw"},
    YK_INCLUDE(yk_multibody_options_rows),
    {0},
};

static const char solver_text[] =
    "A mechanism of rigid bodies, joints, forces and flexible beams, "
    "solved as differential-algebraic equations. "
    "Channels: of nodes and bodies `position`, `orientation`, `velocity`, "
    "`angular_velocity`, `acceleration`, `angular_acceleration`; "
    "of joints `force` and `torque`, on the second body at its marker, "
    "and as a sensor in the joint reports them `angle` (in (-pi, pi]) "
    "and `angular_velocity` about the first's z axis, "
    "`displacement` and `velocity` along it; "
    "of springs `elongation` and `elongation_rate`, of torsion springs `angle` and "
    "`angular_velocity`; "
    "of beams `section_force_1`, `section_moment_1`, `section_force_2`, "
    "`section_moment_2` at its two evaluation points and `strain_energy`; "
    "of flexible bodies `strain_energy` and, with modes, "
    "`modal_amplitude_1` and so on, and of their points what nodes have; "
    "of the whole `energy` and `strain_energy`.";

const yk_option_section yk_multibody_section = {"multibody", solver_text, fields};
