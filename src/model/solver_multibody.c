/* solver: multibody, what its section may say. Built by solver_multibody_build.c. */
#include "model/registry.h"
#include "yoke/subsystem.h"

/* Nodes and bodies ----------------------------------------------------------------------------- */

static const yk_field state_fields[] = {
    {"position", YK_ORIGIN,
     .text = "of the origin at the start; a guess is enough where joints decide"},
    {"orientation", YK_TYPE_ORIENTATION, .fallback = "[1, 0, 0, 0]",
     .text = "from its axes to the global ones"},
    {"velocity", YK_TYPE_NUMBERS, "m/s", "[0, 0, 0]", YK_VECTOR,
     .text = "of the origin at the start"},
    {"angular_velocity", YK_TYPE_NUMBERS, "rad/s", "[0, 0, 0]", YK_VECTOR,
     .text = "at the start, global axes"},
    {"keep_initial_pose", YK_TYPE_BOOLEAN, .fallback = "false",
     .text = "at the start, joints move the others rather than this one"},
    {0},
};
static const yk_section node_keys = {"node", NULL, state_fields};

static const yk_field node_fields[] = {
    YK_INCLUDE(node_keys),
    {"initial_displacement", YK_ORIGIN,
     .text = "at the start, away from `position`, where beams are free of strain"},
    {"initial_rotation", YK_TYPE_NUMBERS, "rad", YK_VECTOR,
     .text = "likewise away from `orientation`, a rotation vector in global axes; "
             "without, nodes of a beam turn with its displaced line, so that there is no shear"},
    {0},
};
static const yk_section node_section = {"node",
                                        "A frame that moves, without mass of its own: "
                                        "bodies, joints, forces and beams meet there.",
                                        node_fields};
static const yk_field node_item = {"node", YK_TYPE_SECTION, .section = &node_section, .text = ""};

static const yk_field body_fields[] = {
    {"mass", YK_TYPE_NUMBER, "kg", .required = true, .range = YK_POSITIVE, .text = "mass"},
    {"inertia", YK_TYPE_INERTIA, "kg m²", "[0, 0, 0]",
     .text =
         "about the centre of mass: diagonal, or three rows; 0 is a point mass, which no torque "
         "may turn"},
    {"center_of_mass", YK_ORIGIN, .text = "centre of mass, from the origin, in the body's axes"},
    {"inertia_orientation", YK_TYPE_ORIENTATION, .fallback = "[1, 0, 0, 0]",
     .text = "from the axes of `inertia` to the body's"},
    {"node", YK_TYPE_TEXT,
     .text = "the node it is fixed to; "
             "without, it has a node of its own with its name"},
    YK_INCLUDE(node_section),
    {0},
};
static const yk_section body_section = {
    "body",
    "A rigid body. `position` and what follows place its own node; "
    "with `node` they are not used.",
    body_fields};
static const yk_field body_item = {"body", YK_TYPE_SECTION, .section = &body_section, .text = ""};

/* Beams ---------------------------------------------------------------------------------------- */

static const yk_field material_fields[] = {
    {"young_modulus", YK_TYPE_NUMBER, "Pa", .required = true, .range = YK_POSITIVE,
     .text = "Young's modulus"},
    {"poisson_ratio", YK_TYPE_NUMBER, .fallback = "0.3",
     .range = {.low = -1, .high = 0.5, .bounds = YK_LOW | YK_LOW_OPEN | YK_HIGH},
     .text = "Poisson's ratio"},
    {"density", YK_TYPE_NUMBER, "kg/m³", .required = true, .range = YK_NOT_NEGATIVE,
     .text = "density"},
    {"rayleigh_beta", YK_TYPE_NUMBER, "s", "0", .range = YK_NOT_NEGATIVE,
     .text = "damping = this times stiffness"},
    {0},
};
static const yk_section material_keys = {"material", NULL, material_fields};

static const yk_field rectangle_fields[] = {
    YK_INCLUDE(material_keys),
    {"width_y", YK_TYPE_NUMBER, "m", .required = true, .range = YK_POSITIVE,
     .text = "along the section's y"},
    {"width_z", YK_TYPE_NUMBER, "m", .required = true, .range = YK_POSITIVE, .text = "along its z"},
    {0}};
static const yk_field tube_fields[] = {
    YK_INCLUDE(material_keys),
    {"radius", YK_TYPE_NUMBER, "m", .required = true, .range = YK_POSITIVE, .text = "outer radius"},
    {"inner_radius", YK_TYPE_NUMBER, "m", "0", .range = YK_NOT_NEGATIVE, .text = "inner radius"},
    {0}};
static const yk_field general_fields[] = {YK_INCLUDE(material_keys),
                                          {"area", YK_TYPE_NUMBER, "m²", .required = true,
                                           .range = YK_POSITIVE, .text = "of the section"},
                                          {"area_moment_y", YK_TYPE_NUMBER, "m⁴", .required = true,
                                           .range = YK_POSITIVE, .text = "bending in x-z"},
                                          {"area_moment_z", YK_TYPE_NUMBER, "m⁴", .required = true,
                                           .range = YK_POSITIVE, .text = "bending in x-y"},
                                          {"torsion_constant", YK_TYPE_NUMBER, "m⁴",
                                           .required = true, .range = YK_POSITIVE,
                                           .text = "torsion constant"},
                                          {"shear_factor_y", YK_TYPE_NUMBER, .fallback = "1",
                                           .range = YK_POSITIVE, .text = "shear factor along y"},
                                          {"shear_factor_z", YK_TYPE_NUMBER, .fallback = "1",
                                           .range = YK_POSITIVE, .text = "shear factor along z"},
                                          {0}};
static const yk_field matrix_fields[] = {
    {"stiffness", YK_TYPE_NUMBERS, "N, N m, N m²", .required = true, .least = 6, .most = 36,
     .text = "from extension, shear along y and z (1), twist, "
             "curvature about y and z (1/m) to the force and the moment in section axes: "
             "six diagonal values, or 36 by rows"},
    {"damping", YK_TYPE_NUMBERS, "N s, N m s, N m² s", "[0, 0, 0, 0, 0, 0]", .least = 6, .most = 36,
     .text = "likewise, from their rates"},
    {"mass_per_length", YK_TYPE_NUMBER, "kg/m", .required = true, .range = YK_NOT_NEGATIVE,
     .text = "per length"},
    {"center_of_mass", YK_TYPE_NUMBERS, "m", "[0, 0]", .least = 2, .most = 2,
     .text = "of mass: y and z from the beam's line"},
    {"inertia_per_length", YK_TYPE_INERTIA, "kg m", "[0, 0, 0]",
     .text = "per length, about the centre of mass, section axes"},
    {0}};
static const yk_section rectangle = {"rectangle", "Solid, with shear factor 5/6.",
                                     rectangle_fields};
static const yk_section tube = {"tube", "A tube, or a round bar.", tube_fields};
static const yk_section general = {"properties", "By its numbers.", general_fields};
static const yk_section matrix = {
    "matrix", "Any linear section: eccentric, composite, with coupled strains.", matrix_fields};
/* Built by solver_multibody_build.c in this order; rods have all but the last. */
static const yk_section *const section_variants[] = {&rectangle, &tube, &general, &matrix, NULL};
static const yk_section *const plain_sections[] = {&rectangle, &tube, &general, NULL};
static const yk_field beam_node_item = {"nodes", YK_TYPE_TEXT, .text = "a node or body"};
static const yk_field beam_fields[] = {
    {"nodes", YK_TYPE_LIST, .required = true, .least = 3, .most = 3, .item = &beam_node_item,
     .text = "its two ends with the middle between them; "
             "free of strain where they start. "
             "Three nodes that are not in a line make a curved beam"},
    {"section", YK_TYPE_VARIANT, .required = true, .variants = section_variants, .selector = "type",
     .text = "What it is made of"},
    {"second_section", YK_TYPE_VARIANT, .variants = section_variants, .selector = "type",
     .text = "Section of its second half; "
             "where it is absent, that of the first"},
    {"section_z", YK_TYPE_NUMBERS, .fallback = "[0, 0, 1]", YK_VECTOR,
     .text = "a direction in the section's x-z plane at the start, global; x runs along the beam"},
    {"offset", YK_ORIGIN, .text = "of the beam's line from its nodes at the start, global"},
    {0},
};
static const yk_section beam_section = {"beam", "A geometrically exact three-node beam.",
                                        beam_fields};
static const yk_field beam_item = {"beam", YK_TYPE_SECTION, .section = &beam_section, .text = ""};

/* Flexible bodies ------------------------------------------------------------------------------ */

#define COUNT YK_TYPE_INTEGER, .range = YK_AT_LEAST(0)

enum { AMPLITUDES_MAX = 1000 };

static const yk_field moving_fields[] = {
    YK_INCLUDE(node_keys),
    {"initial_amplitudes", YK_TYPE_NUMBERS, .least = 1, .most = AMPLITUDES_MAX,
     .text =
         "of the shapes at the start, in the order of the channels `modal_amplitude_1` and so on; "
         "those that are left out are zero"},
    {"initial_amplitude_rates", YK_TYPE_NUMBERS, "1/s", .least = 1, .most = AMPLITUDES_MAX,
     .text = "likewise"},
    {"constant_mass_matrix", YK_TYPE_BOOLEAN, .fallback = "false",
     .text = "neglect the deformation in the inertia, where accelerations enter: "
             "faster to reason about, less exact"},
    {0},
};
static const yk_section moving_keys = {"moving", NULL, moving_fields};

static const yk_field along_item = {"point", YK_TYPE_NUMBER, "m",
                                    .text = "distance from the origin along the rod"};
static const yk_field number_item = {"point", YK_TYPE_INTEGER, .text = "number of a node"};
static const yk_word support_words[] = {
    {"clamped-free", "fixed to the section at the origin: shapes of a cantilever"},
    {"pinned-pinned", "its x axis runs through both ends: half waves"},
    {"free-free", "moves with the mean of the rod: modes of a free rod"},
    {NULL, NULL}};

static const yk_field rod_fields[] = {
    {"length", YK_TYPE_NUMBER, "m", .required = true, .range = YK_POSITIVE,
     .text = "along x of its frame"},
    {"section", YK_TYPE_VARIANT, .required = true, .variants = plain_sections, .selector = "type",
     .text = "What it is made of"},
    {"reference_conditions", YK_TYPE_CHOICE, .fallback = "clamped-free", .words = support_words,
     .text = "how the frame floats"},
    {"bending_modes_y", COUNT, .fallback = "2",
     .text = "shapes of vibration with deflection along y"},
    {"bending_modes_z", COUNT, .fallback = "2", .text = "and along z"},
    {"extension_modes", COUNT, .fallback = "1", .text = "shapes along x"},
    {"torsion_modes", COUNT, .fallback = "1", .text = "shapes about x"},
    {"static_modes", YK_TYPE_BOOLEAN, .fallback = "false",
     .text = "two more shapes in each plane that bends: "
             "the exact deflections under loads at its ends"},
    {"geometric_stiffening", YK_TYPE_BOOLEAN, .fallback = "true",
     .text = "bending draws the rod in, so that axial forces and fast rotation stiffen it"},
    {"damping_ratio", YK_TYPE_NUMBER, .fallback = "0", .range = YK_NOT_NEGATIVE,
     .text = "of each shape, as a fraction of critical damping"},
    {"attachments", YK_TYPE_NAMED, .item = &along_item,
     .text = "where joints, forces and ports attach"},
    YK_INCLUDE(moving_keys),
    {0}};

static const yk_field modal_fields[] = {
    {"nodes_file", YK_TYPE_PATH, .text = "table of coordinates and lumped masses, see modal.md"},
    {"modes_file", YK_TYPE_PATH, .text = "table of displacements, by mode and node"},
    {"frequencies_file", YK_TYPE_PATH, .text = "table of frequencies, by mode"},
    {"second_order_file", YK_TYPE_PATH,
     .text = "table of second-order displacements, by two modes and node: "
             "what stiffens the body under loads"},
    {"invariants_file", YK_TYPE_PATH,
     .text = "table of inertia invariants, in the place of lumped masses, "
             "and of modal mass, stiffness and damping"},
    {"mbdyn_fem_file", YK_TYPE_PATH,
     .text = "file with the record groups of MBDyn's modal joint, in the place of all tables"},
    {"selected_modes", YK_TYPE_NUMBERS, .least = 1, .most = 1000,
     .text = "numbers of the modes that take part; without, all"},
    {"damping_ratio", YK_TYPE_NUMBER, .fallback = "0", .range = YK_NOT_NEGATIVE,
     .text = "of all shapes, as a fraction of critical damping, where the files have no damping"},
    {"attachments", YK_TYPE_NAMED, .item = &number_item,
     .text = "where joints, forces and ports attach: "
             "numbers of nodes in the table"},
    YK_INCLUDE(moving_keys),
    {0}};

static const yk_field ancf_fields[] = {
    {"length", YK_TYPE_NUMBER, "m", .required = true, .range = YK_POSITIVE,
     .text = "along x of its orientation"},
    {"elements", YK_TYPE_INTEGER, .fallback = "4", .range = YK_BETWEEN(1, 100000),
     .text = "of equal length"},
    {"section", YK_TYPE_VARIANT, .required = true, .variants = plain_sections, .selector = "type",
     .text = "What it is made of"},
    {"attachments", YK_TYPE_NAMED, .item = &number_item,
     .text = "where joints, forces and ports attach: "
             "numbers of nodes, 0 at the start, `elements` at the end"},
    {"curvature", YK_TYPE_NUMBERS, "1/m", "[0, 0, 0]", YK_VECTOR,
     .text = "at the start, constant along it: "
             "twist about x of its section, bending about y and z"},
    YK_INCLUDE(node_keys),
    {0}};

static const yk_section rod = {
    "rod",
    "A uniform rod in small deformation, seen from a floating frame at its start; "
    "the frame is a node of its name.",
    rod_fields};
static const yk_section modal = {
    "modal", "Any body in small deformation, with the shapes of a finite-element program.",
    modal_fields};
static const yk_section ancf = {
    "ancf",
    "A uniform rod in deformation of any size, in absolute nodal coordinates; "
    "free of strain where it is straight.",
    ancf_fields};

/* Built by solver_multibody_build.c in this order. */
static const yk_section *const flexible_variants[] = {&rod, &modal, &ancf, NULL};
static const yk_field flexible_item = {"flexible body", YK_TYPE_VARIANT,
                                       .variants = flexible_variants, .selector = "type",
                                       .text = "A body that deforms"};

/* Shapes --------------------------------------------------------------------------------------- */

static const yk_field sphere_fields[] = {
    YK_INCLUDE(yk_marker_keys),
    {"radius", YK_TYPE_NUMBER, "m", .required = true, .range = YK_POSITIVE, .text = "radius"},
    {0}};
static const yk_field box_fields[] = {
    YK_INCLUDE(yk_marker_keys),
    {"size", YK_TYPE_NUMBERS, "m", .required = true, YK_VECTOR, .text = "its edges"},
    {0}};
static const yk_field round_fields[] = {
    YK_INCLUDE(yk_marker_keys),
    {"radius", YK_TYPE_NUMBER, "m", .required = true, .range = YK_POSITIVE, .text = "radius"},
    {"length", YK_TYPE_NUMBER, "m", .required = true, .range = YK_POSITIVE,
     .text = "along z of the marker"},
    {0}};
static const yk_field line_fields[] = {YK_INCLUDE(yk_marker_keys),
                                       {"to", YK_TYPE_NUMBERS, "m", .required = true, YK_VECTOR,
                                        .text = "its end, in the marker's axes"},
                                       {0}};
static const yk_section sphere = {"sphere", "", sphere_fields};
static const yk_section box = {"box", "", box_fields};
static const yk_section cylinder = {"cylinder", "About z of the marker.", round_fields};
static const yk_section capsule = {
    "capsule", "A cylinder with round ends; `length` is that of its axis.", round_fields};
static const yk_section line = {"line", "", line_fields};

/* Kinds that a scenario can ask for. */
static const yk_section *const shape_variants[] = {
    [YK_SHAPE_SPHERE] = &sphere,   [YK_SHAPE_BOX] = &box,   [YK_SHAPE_CYLINDER] = &cylinder,
    [YK_SHAPE_CAPSULE] = &capsule, [YK_SHAPE_LINE] = &line, [YK_SHAPE_LINE + 1] = NULL,
};
static const yk_field shape_item = {"shapes", YK_TYPE_VARIANT, .variants = shape_variants,
                                    .selector = "type", .text = "Something to draw"};

/* The solver ----------------------------------------------------------------------------------- */

static const char rho_text[] =
    "spectral radius at infinite frequency: 1 no numerical damping, 0 most; "
    "with joints 0.9 at most (except formulation stabilized-ode), "
    "for errors of their reactions grow where nothing damps them";
static const yk_field newton_fields[] = {
    {"newton_relative_tolerance", YK_TYPE_NUMBER, .fallback = "1e-4", .range = YK_POSITIVE,
     .refines = 1,
     .text = "iterations stop when what remains is this fraction of the step's local error; "
             "at most 1e-8 where steps are repeated and compared: "
             "schemes tight and index1, and time.step_tolerance"},
    {"newton_absolute_tolerance", YK_TYPE_NUMBER, "m, rad", "1e-8", .range = YK_POSITIVE,
     .refines = 3, .text = "and below this"},
    {"max_newton_iterations", YK_TYPE_INTEGER, .fallback = "30", .range = YK_AT_LEAST(1),
     .text = "largest number in a step"},
    {0},
};
static const yk_section newton_keys = {"newton", NULL, newton_fields};
static const yk_field two_step_fields[] = {
    {"rho_inf", YK_TYPE_NUMBER, .fallback = "0.6", .range = YK_BETWEEN(0, 1), .text = rho_text},
    {"step_tolerance", YK_TYPE_NUMBER, "m, rad", "0", .range = YK_NOT_NEGATIVE, .refines = 3,
     .text = "local error of an internal step, "
             "of nodes and of what flexible bodies deform, which then has variable size; "
             "0: the macro step is the step"},
    YK_INCLUDE(newton_keys),
    {0},
};
static const yk_field runge_kutta_fields[] = {
    {"step_tolerance", YK_TYPE_NUMBER, .fallback = "1e-12", .range = YK_NOT_NEGATIVE, .refines = 3,
     .text = "local error of an internal step, "
             "relative to the model's length and its typical speed; "
             "0: the macro step is the step"},
    {0},
};
static const yk_word form_words[] = {
    {"index-3", "the constraints as they are, at the end of the step: index 3"},
    {"stabilized-ode", "the constraints stabilised, the multipliers eliminated: paper relaxed"},
    {NULL, NULL}};
static const yk_field generalized_alpha_fields[] = {
    {"formulation", YK_TYPE_CHOICE, .fallback = "index-3", .words = form_words,
     .text = "how the constraints are met"},
    {"rho_inf", YK_TYPE_NUMBER, .fallback = "0.6", .range = YK_BETWEEN(0, 1), .text = rho_text},
    {"stabilization_rate", YK_TYPE_NUMBER, "1/s", "auto", .takes_auto = true,
     .range = YK_NOT_NEGATIVE,
     .text = "beta of the formulation stabilized-ode, the rate at which gaps of joints close; 0: "
             "one over the step"},
    YK_INCLUDE(newton_keys),
    {0},
};
static const yk_section generalized_alpha = {
    "generalized-alpha", "Implicit, of second order, on accelerations, with numerical damping.",
    generalized_alpha_fields};
static const yk_section two_step = {
    "two-step", "Implicit, of second order, with numerical damping.", two_step_fields};
static const yk_section runge_kutta = {
    "runge-kutta",
    "Explicit, of order 8, with steps of variable size inside the macro step "
    "and projection onto the joints: "
    "many digits for models without beams or stiff springs.",
    runge_kutta_fields};
/* In the order of yk_multibody_integrator. */
static const yk_section *const integrators[] = {&two_step, &runge_kutta, &generalized_alpha, NULL};
static const yk_field damping_fields[] = {
    {"rate", YK_TYPE_NUMBER, "1/s", .required = true, .range = YK_NOT_NEGATIVE,
     .text = "force per momentum"},
    {"full_until", YK_TYPE_NUMBER, "s", "0", .text = "until when it is full"},
    {"end", YK_TYPE_NUMBER, "s", .required = true, .text = "when it has gone, falling linearly"},
    {0},
};
static const yk_section damping_section = {
    "startup_damping",
    "Artificial damping of all motion that is gradually removed, to settle under gravity.",
    damping_fields};

static const yk_field fields[] = {
    YK_INCLUDE(yk_gravity_keys),
    {"nodes", YK_TYPE_NAMED, .item = &node_item,
     .text = "massless or shared nodes; bodies have their own"},
    {"bodies", YK_TYPE_NAMED, .item = &body_item, .text = "rigid bodies"},
    {"joints", YK_TYPE_NAMED, .item = &yk_joint_item, .text = "joints and prescribed motions"},
    {"forces", YK_TYPE_NAMED, .item = &yk_force_item, .text = "forces between bodies and on them"},
    {"beams", YK_TYPE_NAMED, .item = &beam_item, .text = "flexible beams"},
    {"flexible_bodies", YK_TYPE_NAMED, .item = &flexible_item,
     .text = "flexible bodies; their points are named `body.point` wherever a body or node is"},
    {"ports", YK_TYPE_NAMED, .item = &yk_port_item, .text = "where other subsystems are joined"},
    {"shapes", YK_TYPE_LIST, .item = &shape_item, .text = "what the viewer draws"},
    {"integrator", YK_TYPE_VARIANT, .fallback = "{}", .variants = integrators, .selector = "type",
     .selector_fallback = "two-step", .text = "Time integration"},
    {"start_in_equilibrium", YK_TYPE_BOOLEAN, .fallback = "false",
     .text = "begin in static equilibrium"},
    {"startup_damping", YK_TYPE_SECTION, .section = &damping_section,
     .text = "artificial damping at the beginning"},
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

const yk_section yk_multibody_section = {"multibody", solver_text, fields};
