/* solver: smooth, what its section may say. Built by kind_smooth_build.c. */
#include "model/kind_smooth.h"
#include "model/mechanics_words.h"

/* Nodes and bodies ----------------------------------------------------------------------------- */

#define START_FIELDS                                                                       \
    {"displacement", ORIGIN,                                                               \
     .text = "at the start, away from `position`, where beams are free of strain"},        \
    {                                                                                      \
        "rotation", YK_TYPE_NUMBERS, "rad", VECTOR,                                        \
            .text = "likewise away from `orientation`, a rotation vector in global axes; " \
                    "without, nodes of a beam turn "                                       \
                    "with its displaced line, so that there is no shear"                   \
    }

static const yk_field node_fields[] = {NODE_FIELDS, START_FIELDS, {0}};
static const yk_section node_section = {
    "node",
    "A frame that moves, without mass of its own: bodies, joints, forces and beams meet there.",
    node_fields};
static const yk_field node_item = {"node", YK_TYPE_SECTION, .section = &node_section, .text = ""};

static const yk_field body_fields[] = {
    {"mass", YK_TYPE_NUMBER, "kg", .required = true, .range = YK_POSITIVE, .text = "mass"},
    {"inertia", YK_TYPE_INERTIA, "kg m²", "[0, 0, 0]",
     .text = "about the centre of mass: diagonal, or three rows"},
    {"centre", ORIGIN, .text = "centre of mass, from the origin, in the body's axes"},
    {"axes", YK_TYPE_ORIENTATION, .fallback = "[1, 0, 0, 0]",
     .text = "from the axes of `inertia` to the body's"},
    {"node", YK_TYPE_TEXT,
     .text = "the node it is fixed to; without, it has a node of its own with its name"},
    NODE_FIELDS,
    START_FIELDS,
    {0},
};
static const yk_section body_section = {
    "body",
    "A rigid body. `position` and what follows place its own node; with `node` they are not used.",
    body_fields};
static const yk_field body_item = {"body", YK_TYPE_SECTION, .section = &body_section, .text = ""};

/* Markers -------------------------------------------------------------------------------------- */

static const yk_field marker_fields[] = {
    {"offset", ORIGIN, .text = "from the body's origin, in its axes"},
    {"orientation", YK_TYPE_ORIENTATION, .fallback = "[1, 0, 0, 0]",
     .text = "from the marker's axes to the body's"},
    {0},
};
static const yk_section marker_section = {"marker", "A frame fixed to a body.", marker_fields};
static const yk_field marker_item = {"markers", YK_TYPE_SECTION, .section = &marker_section,
                                     .text = ""};
static const yk_field end_item = {"between", YK_TYPE_TEXT, .text = "a body, a node, or `ground`"};

#define PAIR_FIELDS                                                                                \
    {"between",                                                                                    \
     YK_TYPE_LIST,                                                                                 \
     .required = true,                                                                             \
     .least = 2,                                                                                   \
     .most = 2,                                                                                    \
     .item = &end_item,                                                                            \
     .text = "two bodies or nodes, or `ground`"},                                                  \
        {"at", YK_TYPE_NUMBERS, "m", VECTOR,                                                       \
         .text = "where both markers are at the start, global"},                                   \
        {"axis", YK_TYPE_NUMBERS, VECTOR,                                                          \
         .text = "direction of both z axes at the start, global; of any length"},                  \
        {"orientation", YK_TYPE_ORIENTATION,                                                       \
         .text = "of both markers at the start, global; instead of `axis`"},                       \
    {                                                                                              \
        "markers", YK_TYPE_LIST,                                                                   \
            .least = 2, .most = 2, .item = &marker_item,                                           \
            .text =                                                                                \
                "the two markers in their bodies' axes; instead of `at`, `axis` and `orientation`" \
    }

#define SINGLE_FIELDS                                                                      \
    {"on", YK_TYPE_TEXT, .required = true, .text = "the body or node"},                    \
        {"offset", ORIGIN, .text = "of the marker from the body's origin, in its axes"},   \
    {                                                                                      \
        "orientation", YK_TYPE_ORIENTATION, .fallback = "[1, 0, 0, 0]",                    \
                                            .text = "from the marker's axes to the body's" \
    }

/* Joints --------------------------------------------------------------------------------------- */

static const yk_field pair_fields[] = {PAIR_FIELDS, {0}};
static const yk_section pair_section = {"joint", "", pair_fields};
static const yk_field no_fields[] = {{0}};
static const yk_field length_fields[] = {
    {"length", YK_TYPE_FUNCTION, "m", .required = true, .text = "distance of the two origins"},
    {0}};
static const yk_field radius_fields[] = {
    {"radius", YK_TYPE_NUMBER, "m", .required = true, .range = YK_POSITIVE, .text = "of the disc"},
    {0}};
static const yk_field angle_fields[] = {
    {"angle", YK_TYPE_FUNCTION, "rad", .required = true,
     .text = "of the second about the z axis, function of time"},
    {0}};
static const yk_field position_fields[] = {{"distance", YK_TYPE_FUNCTION, "m", .required = true,
                                            .text = "of the second along the first's z axis"},
                                           {0}};
static const yk_field spin_fields[] = {{"rate", YK_TYPE_FUNCTION, "rad/s", .required = true,
                                        .text = "of the second about the first's z axis"},
                                       {0}};
static const yk_field speed_fields[] = {{"rate", YK_TYPE_FUNCTION, "m/s", .required = true,
                                         .text = "of the second along the first's z axis"},
                                        {0}};
static const yk_word axis_words[] = {{"x", NULL},  {"y", NULL},  {"z", NULL}, {"rx", NULL},
                                     {"ry", NULL}, {"rz", NULL}, {NULL, NULL}};
static const yk_field axis_item = {"axes", YK_TYPE_CHOICE, .words = axis_words,
                                   .text = "a relative motion"};
static const yk_field axes_fields[] = {
    {"constrain", YK_TYPE_LIST, .required = true, .least = 1, .most = 6, .item = &axis_item,
     .text = "relative motions that are removed, in the first marker's axes"},
    {0}};

/* In the order of yk_joint_kind. */
static const yk_section spherical = {"spherical", "The origins coincide.", no_fields};
static const yk_section revolute = {"revolute", "Turns about z.", no_fields};
static const yk_section universal = {
    "universal", "The origins coincide, x of the first stays square to y of the second.",
    no_fields};
static const yk_section prismatic = {"prismatic", "Slides along z of the first.", no_fields};
static const yk_section cylindrical = {"cylindrical",
                                       "Slides along and turns about z of the first.", no_fields};
static const yk_section planar = {"planar", "Moves in x and y of the first and turns about its z.",
                                  no_fields};
static const yk_section clamp = {"clamp", "No relative motion.", no_fields};
static const yk_section distance = {
    "distance", "The origins keep a distance, which may be a function of time.", length_fields};
static const yk_section in_line = {"in-line", "The second origin stays on z of the first.",
                                   no_fields};
static const yk_section in_plane = {"in-plane", "The second origin stays in x and y of the first.",
                                    no_fields};
static const yk_section parallel_axes = {"parallel-axes", "The z axes stay parallel.", no_fields};
static const yk_section orientation = {"orientation", "No relative rotation.", no_fields};
static const yk_section rotation = {"rotation",
                                    "Prescribes the angle about the common z axis of a revolute or "
                                    "cylindrical joint beside it; any number of turns.",
                                    angle_fields};
static const yk_section position = {"position", "Prescribes the distance along z of the first.",
                                    position_fields};
static const yk_section angular_velocity = {
    "angular-velocity", "Prescribes the angular velocity about z of the first.", spin_fields};
static const yk_section velocity = {"velocity", "Prescribes the velocity along z of the first.",
                                    speed_fields};
static const yk_section knife_edge = {
    "knife-edge", "The second origin moves only along its own x and z: a skate.", no_fields};
static const yk_section rolling = {
    "rolling", "A disc about z of the second rolls without slip on x and y of the first.",
    radius_fields};
static const yk_section axes = {"axes", "Any set of relative motions removed.", axes_fields};

static const yk_section *const joint_variants[] = {
    &spherical,        &revolute, &universal,  &prismatic,     &cylindrical, &planar,   &clamp,
    &distance,         &in_line,  &in_plane,   &parallel_axes, &orientation, &rotation, &position,
    &angular_velocity, &velocity, &knife_edge, &rolling,       &axes,        NULL};
const yk_field yk_joint_item = {"joint",
                                YK_TYPE_VARIANT,
                                .section = &pair_section,
                                .variants = joint_variants,
                                .selector = "type",
                                .text = "Ties two markers"};

/* Forces --------------------------------------------------------------------------------------- */

static const yk_field input_item = {"input", YK_TYPE_TEXT,
                                    .text = "`name.quantity.component`, as a channel is named"};
static const yk_field feedback_fields[] = {
    {"inputs", YK_TYPE_NAMED, .required = true, .least = 1, .most = YK_FEEDBACK_MAX,
     .item = &input_item,
     .text = "names in the expression, and what of the model they stand for: `speed: "
             "crank.angular_velocity.x`"},
    {"value", YK_TYPE_TEXT, .required = true,
     .text = "expression of the time `t`, the parameters and these names"},
    {0},
};
static const yk_section feedback_section = {
    "feedback", "A load that depends on what the model does.", feedback_fields};

#define INPUT_FIELD                                                                              \
    {                                                                                            \
        "input", YK_TYPE_TEXT,                                                                   \
            .text = "instead of `load`: the name of a signal port of the subsystem, at which a " \
                    "wire ends; several "                                                        \
                    "forces may have one"                                                        \
    }
#define LOAD_FIELDS(unit_of_load, default_load, meaning)                                          \
    {"load", YK_TYPE_FUNCTION, unit_of_load, default_load, .text = meaning},                      \
        {"feedback", YK_TYPE_SECTION, .section = &feedback_section, .text = "instead of `load`"}, \
        INPUT_FIELD

static const yk_field spring_fields[] = {
    PAIR_FIELDS,
    {"stiffness", YK_TYPE_NUMBER, "N/m", "0", .text = "tension per elongation"},
    {"damping", YK_TYPE_NUMBER, "N s/m", "0", .text = "tension per rate of elongation"},
    {"free_length", YK_TYPE_NUMBER, "m", "0", .range = YK_NOT_NEGATIVE,
     .text = "length without tension"},
    LOAD_FIELDS("N", "0", "tension that is added, function of time"),
    {0}};
static const yk_field torsion_fields[] = {
    PAIR_FIELDS,
    {"stiffness", YK_TYPE_NUMBER, "N m/rad", "0", .text = "torque per angle"},
    {"damping", YK_TYPE_NUMBER, "N m s/rad", "0", .text = "torque per angular velocity"},
    {"free_angle", YK_TYPE_NUMBER, "rad", "0", .text = "angle without torque"},
    LOAD_FIELDS("N m", "0", "torque that is added against the angle, function of time"),
    {0}};
static const yk_field bushing_fields[] = {
    PAIR_FIELDS,
    {"stiffness", YK_TYPE_NUMBERS, "N/m, N m/rad", .required = true, .least = 6, .most = 36,
     .text = "six diagonal values, or 36 by rows, in the first marker's axes"},
    {"damping", YK_TYPE_NUMBERS, "N s/m, N m s/rad", "[0, 0, 0, 0, 0, 0]", .least = 6, .most = 36,
     .text = "likewise"},
    {0}};
static const yk_field force_fields[] = {
    SINGLE_FIELDS,
    {"vector", YK_TYPE_NUMBERS, "N", .required = true, VECTOR, .text = "the force"},
    {"follows", YK_TYPE_BOOLEAN, .fallback = "false",
     .text = "whether the vector is in the marker's axes"},
    LOAD_FIELDS(NULL, "1", "factor of the vector, function of time"),
    {0}};
static const yk_field torque_fields[] = {
    SINGLE_FIELDS,
    {"vector", YK_TYPE_NUMBERS, "N m", .required = true, VECTOR, .text = "the torque"},
    {"follows", YK_TYPE_BOOLEAN, .fallback = "false",
     .text = "whether the vector is in the marker's axes"},
    LOAD_FIELDS(NULL, "1", "factor of the vector, function of time"),
    {0}};
static const yk_field motor_fields[] = {
    {"joint", YK_TYPE_TEXT, .required = true,
     .text = "a joint of the subsystem: a torque about the z axis of `revolute`, `cylindrical` and "
             "`rotation`, a force "
             "along the z axis of `prismatic`, `in-line` and `position`"},
    LOAD_FIELDS(
        "N m or N", "0",
        "on the second body of the joint, in the sense in which its angle or displacement grows"),
    {0}};
static const yk_section motor = {
    "motor", "Drives a joint: acts on its second body, with the opposite on the first.",
    motor_fields};
static const yk_section spring = {"spring", "Along the line between the origins.", spring_fields};
static const yk_section torsion = {"torsion", "About the common z axis of a joint beside it.",
                                   torsion_fields};
static const yk_section bushing = {"bushing", "Holds all six relative motions elastically.",
                                   bushing_fields};
static const yk_section force = {"force", "At a marker.", force_fields};
static const yk_section torque = {"torque", "On a body.", torque_fields};

/* In the order of yk_force_word. */
static const yk_section *const force_variants[] = {&spring, &torsion, &bushing, &motor,
                                                   &force,  &torque,  NULL};
const yk_force_kind yk_force_kind_of[] = {YK_FORCE_SPRING, YK_FORCE_TORSION, YK_FORCE_BUSHING,
                                          YK_FORCE_MOTOR,  YK_FORCE_VECTOR,  YK_FORCE_TORQUE};

bool yk_motor_kind(yk_joint_kind joint, yk_force_kind *kind)
{
    yk_joint_motion motion = yk_joint_traits_of(joint)->motion;
    *kind = motion == YK_MOTION_ROTATION ? YK_FORCE_MOTOR : YK_FORCE_THRUST;
    return motion != YK_MOTION_NONE;
}

const yk_field yk_force_item = {"force", YK_TYPE_VARIANT, .variants = force_variants,
                                .selector = "type", .text = "A force law"};

/* Beams ---------------------------------------------------------------------------------------- */

#define POISSON                                                          \
    {                                                                    \
        .low = -1, .high = 0.5, .bounds = YK_LOW | YK_LOW_OPEN | YK_HIGH \
    }
#define MATERIAL_FIELDS                                                                     \
    {"young",          YK_TYPE_NUMBER,       "Pa",                                          \
     .required = true, .range = YK_POSITIVE, .text = "Young's modulus"},                    \
        {"poisson", YK_TYPE_NUMBER, .fallback = "0.3", .range = POISSON,                    \
         .text = "Poisson's ratio"},                                                        \
        {"density",        YK_TYPE_NUMBER,           "kg/m³",                               \
         .required = true, .range = YK_NOT_NEGATIVE, .text = "density"},                    \
    {                                                                                       \
        "damping_ratio", YK_TYPE_NUMBER, "s", "0", .range = YK_NOT_NEGATIVE,                \
                                                   .text = "damping = this times stiffness" \
    }

static const yk_field rectangle_fields[] = {
    MATERIAL_FIELDS,
    {"width_y", YK_TYPE_NUMBER, "m", .required = true, .range = YK_POSITIVE,
     .text = "along the section's y"},
    {"width_z", YK_TYPE_NUMBER, "m", .required = true, .range = YK_POSITIVE, .text = "along its z"},
    {0}};
static const yk_field tube_fields[] = {
    MATERIAL_FIELDS,
    {"radius", YK_TYPE_NUMBER, "m", .required = true, .range = YK_POSITIVE, .text = "outer radius"},
    {"inner_radius", YK_TYPE_NUMBER, "m", "0", .range = YK_NOT_NEGATIVE, .text = "inner radius"},
    {0}};
static const yk_field general_fields[] = {MATERIAL_FIELDS,
                                          {"area", YK_TYPE_NUMBER, "m²", .required = true,
                                           .range = YK_POSITIVE, .text = "of the section"},
                                          {"inertia_y", YK_TYPE_NUMBER, "m⁴", .required = true,
                                           .range = YK_POSITIVE, .text = "bending in x-z"},
                                          {"inertia_z", YK_TYPE_NUMBER, "m⁴", .required = true,
                                           .range = YK_POSITIVE, .text = "bending in x-y"},
                                          {"torsion", YK_TYPE_NUMBER, "m⁴", .required = true,
                                           .range = YK_POSITIVE, .text = "torsion constant"},
                                          {"shear_y", YK_TYPE_NUMBER, .fallback = "1",
                                           .range = YK_POSITIVE, .text = "shear factor along y"},
                                          {"shear_z", YK_TYPE_NUMBER, .fallback = "1",
                                           .range = YK_POSITIVE, .text = "shear factor along z"},
                                          {0}};
static const yk_field matrix_fields[] = {
    {"stiffness", YK_TYPE_NUMBERS, "N, N m, N m²", .required = true, .least = 6, .most = 36,
     .text = "from extension, shear along y and z (1), twist, curvature about y and z (1/m) to the "
             "force and the moment "
             "in section axes: six diagonal values, or 36 by rows"},
    {"damping", YK_TYPE_NUMBERS, "N s, N m s, N m² s", "[0, 0, 0, 0, 0, 0]", .least = 6, .most = 36,
     .text = "likewise, from their rates"},
    {"mass", YK_TYPE_NUMBER, "kg/m", .required = true, .range = YK_NOT_NEGATIVE,
     .text = "per length"},
    {"centre", YK_TYPE_NUMBERS, "m", "[0, 0]", .least = 2, .most = 2,
     .text = "of mass: y and z from the beam's line"},
    {"inertia", YK_TYPE_INERTIA, "kg m", "[0, 0, 0]",
     .text = "per length, about the centre of mass, section axes"},
    {0}};
static const yk_section rectangle = {"rectangle", "Solid, with shear factor 5/6.",
                                     rectangle_fields};
static const yk_section tube = {"tube", "A tube, or a round bar.", tube_fields};
static const yk_section general = {"general", "By its numbers.", general_fields};
static const yk_section matrix = {
    "matrix", "Any linear section: eccentric, composite, with coupled strains.", matrix_fields};
static const yk_section *const section_variants[] = {&rectangle, &tube, &general, &matrix, NULL};
const yk_section *const yk_plain_sections[] = {&rectangle, &tube, &general, NULL};
static const yk_field beam_node_item = {"nodes", YK_TYPE_TEXT, .text = "a node or body"};
static const yk_field beam_fields[] = {
    {"nodes", YK_TYPE_LIST, .required = true, .least = 3, .most = 3, .item = &beam_node_item,
     .text = "its two ends with the middle between them; free of strain where they start. Three "
             "nodes that are not in a "
             "line make a curved beam"},
    {"section", YK_TYPE_VARIANT, .required = true, .variants = section_variants,
     .selector = "shape", .text = "What it is made of"},
    {"end_section", YK_TYPE_VARIANT, .variants = section_variants, .selector = "shape",
     .text = "Section of its second half; where it is absent, that of the first"},
    {"up", YK_TYPE_NUMBERS, .fallback = "[0, 0, 1]", VECTOR,
     .text = "a direction in the section's x-z plane at the start, global; x runs along the beam"},
    {"offset", ORIGIN, .text = "of the beam's line from its nodes at the start, global"},
    {0},
};
static const yk_section beam_section = {"beam", "A geometrically exact three-node beam.",
                                        beam_fields};
static const yk_field beam_item = {"beam", YK_TYPE_SECTION, .section = &beam_section, .text = ""};

/* Ports and shapes ----------------------------------------------------------------------------- */

static const yk_field marker_port_fields[] = {SINGLE_FIELDS, {0}};
static const yk_section marker_port = {"marker", "A frame on a body: takes a wrench or a motion.",
                                       marker_port_fields};
const yk_section yk_distance_port_section = {"distance",
                                             "The distance of two markers, an actuator: takes a "
                                             "force, which pushes them apart, or a length.",
                                             pair_fields};
static const yk_section *const port_variants[] = {&marker_port, &yk_distance_port_section, NULL};
static const yk_field port_item = {"port",
                                   YK_TYPE_VARIANT,
                                   .variants = port_variants,
                                   .selector = "type",
                                   .selector_fallback = "marker",
                                   .text = "Where the world meets the model"};

static const yk_field sphere_fields[] = {
    SINGLE_FIELDS,
    {"radius", YK_TYPE_NUMBER, "m", .required = true, .range = YK_POSITIVE, .text = "radius"},
    {0}};
static const yk_field box_fields[] = {
    SINGLE_FIELDS,
    {"size", YK_TYPE_NUMBERS, "m", .required = true, VECTOR, .text = "its edges"},
    {0}};
static const yk_field rod_fields[] = {
    SINGLE_FIELDS,
    {"radius", YK_TYPE_NUMBER, "m", .required = true, .range = YK_POSITIVE, .text = "radius"},
    {"length", YK_TYPE_NUMBER, "m", .required = true, .range = YK_POSITIVE,
     .text = "along z of the marker"},
    {0}};
static const yk_field line_fields[] = {
    SINGLE_FIELDS,
    {"to", YK_TYPE_NUMBERS, "m", .required = true, VECTOR, .text = "its end, in the marker's axes"},
    {0}};
static const yk_section sphere = {"sphere", "", sphere_fields};
static const yk_section box = {"box", "", box_fields};
static const yk_section cylinder = {"cylinder", "About z of the marker.", rod_fields};
static const yk_section capsule = {
    "capsule", "A cylinder with round ends; `length` is that of its axis.", rod_fields};
static const yk_section line = {"line", "", line_fields};

/* In the order of yk_shape_kind. */
static const yk_section *const shape_variants[] = {&sphere, &box, &cylinder, &capsule, &line, NULL};
static const yk_field shape_item = {"shape", YK_TYPE_VARIANT, .variants = shape_variants,
                                    .selector = "type", .text = "Something to draw"};

/* The solver ----------------------------------------------------------------------------------- */

#define RHO_TEXT                                                                                 \
    "spectral radius at infinite frequency: 1 no numerical damping, 0 most; with joints 0.9 at " \
    "most (except form "                                                                         \
    "ode), for errors of their reactions grow where nothing damps them"
#define NEWTON_TEXT                                                                               \
    "iterations stop when what remains is this fraction of the step's local error; at most 1e-8 " \
    "where steps are "                                                                            \
    "repeated "                                                                                   \
    "and compared: schemes tight and index1, and time.tolerance"
static const yk_field two_step_fields[] = {
    {"rho_inf", YK_TYPE_NUMBER, .fallback = "0.6", .range = YK_BETWEEN(0, 1), .text = RHO_TEXT},
    {"error_tolerance", YK_TYPE_NUMBER, "m, rad", "0", .range = YK_NOT_NEGATIVE, .refines = 3,
     .text = "local error of an internal step, of nodes and of what flexible bodies deform, which "
             "then has variable size; "
             "0: the macro step is the step"},
    {"newton_relative", YK_TYPE_NUMBER, .fallback = "1e-4", .range = YK_POSITIVE, .refines = 1,
     .text = NEWTON_TEXT},
    {"newton_absolute", YK_TYPE_NUMBER, "m, rad", "1e-8", .range = YK_POSITIVE, .refines = 3,
     .text = "and below this"},
    {"iterations", YK_TYPE_INTEGER, .fallback = "30", .range = YK_AT_LEAST(1),
     .text = "largest number in a step"},
    {0},
};
static const yk_field runge_kutta_fields[] = {
    {"error_tolerance", YK_TYPE_NUMBER, .fallback = "1e-12", .range = YK_NOT_NEGATIVE, .refines = 3,
     .text = "local error of an internal step, relative to the model's length and its typical "
             "speed; 0: the macro step "
             "is the step"},
    {0},
};
static const yk_word form_words[] = {
    {"dae", "the constraints as they are, at the end of the step: index 3"},
    {"ode", "the constraints stabilised, the multipliers eliminated: paper relaxed"},
    {NULL, NULL}};
static const yk_field generalised_alpha_fields[] = {
    {"form", YK_TYPE_CHOICE, .fallback = "dae", .words = form_words,
     .text = "how the constraints are met"},
    {"rho_inf", YK_TYPE_NUMBER, .fallback = "0.6", .range = YK_BETWEEN(0, 1), .text = RHO_TEXT},
    {"stabilisation", YK_TYPE_NUMBER, "1/s", "0", .range = YK_NOT_NEGATIVE,
     .text = "beta of the form ode, the rate at which gaps of joints close; 0: one over the step"},
    {"newton_relative", YK_TYPE_NUMBER, .fallback = "1e-4", .range = YK_POSITIVE, .refines = 1,
     .text = NEWTON_TEXT},
    {"newton_absolute", YK_TYPE_NUMBER, "m, rad", "1e-8", .range = YK_POSITIVE, .refines = 3,
     .text = "and below this"},
    {"iterations", YK_TYPE_INTEGER, .fallback = "30", .range = YK_AT_LEAST(1),
     .text = "largest number in a step"},
    {0},
};
static const yk_section generalised_alpha = {
    "generalised-alpha", "Implicit, of second order, on accelerations, with numerical damping.",
    generalised_alpha_fields};
static const yk_section two_step = {
    "two-step", "Implicit, of second order, with numerical damping.", two_step_fields};
static const yk_section runge_kutta = {
    "runge-kutta",
    "Explicit, of order 8, with steps of variable size inside the macro step and "
    "projection onto the joints: many digits "
    "for models without beams or stiff springs.",
    runge_kutta_fields};
/* In the order of yk_smooth_integrator. */
static const yk_section *const integrators[] = {&two_step, &runge_kutta, &generalised_alpha, NULL};
static const yk_field damping_fields[] = {
    {"rate", YK_TYPE_NUMBER, "1/s", .required = true, .range = YK_NOT_NEGATIVE,
     .text = "force per momentum"},
    {"start", YK_TYPE_NUMBER, "s", "0", .text = "until when it is full"},
    {"end", YK_TYPE_NUMBER, "s", .required = true, .text = "when it has gone, falling linearly"},
    {0},
};
static const yk_section damping_section = {
    "damping",
    "Artificial damping of all motion that is gradually removed, to settle under gravity.",
    damping_fields};

static const yk_field fields[] = {
    {"gravity", YK_TYPE_NUMBERS, "m/s²", "[0, 0, 0]", VECTOR, .text = "acceleration of gravity"},
    {"nodes", YK_TYPE_NAMED, .item = &node_item,
     .text = "massless or shared nodes; bodies have their own"},
    {"bodies", YK_TYPE_NAMED, .item = &body_item, .text = "rigid bodies"},
    {"joints", YK_TYPE_NAMED, .item = &yk_joint_item, .text = "joints and prescribed motions"},
    {"forces", YK_TYPE_NAMED, .item = &yk_force_item, .text = "forces between bodies and on them"},
    {"beams", YK_TYPE_NAMED, .item = &beam_item, .text = "flexible beams"},
    {"flexible", YK_TYPE_NAMED, .item = &yk_flexible_item,
     .text = "flexible bodies; their points are named `body.point` wherever a body or node is"},
    {"ports", YK_TYPE_NAMED, .item = &port_item, .text = "where other subsystems are joined"},
    {"shapes", YK_TYPE_LIST, .item = &shape_item, .text = "what the viewer draws"},
    {"integrator", YK_TYPE_VARIANT, .fallback = "{}", .variants = integrators, .selector = "type",
     .selector_fallback = "two-step", .text = "Time integration"},
    {"static_start", YK_TYPE_BOOLEAN, .fallback = "false", .text = "begin in static equilibrium"},
    {"damping", YK_TYPE_SECTION, .section = &damping_section,
     .text = "artificial damping at the beginning"},
    {0},
};

const yk_section yk_smooth_section = {"smooth",
                                      "A mechanism of rigid bodies, joints, forces and flexible "
                                      "beams, solved as differential-algebraic equations. "
                                      "Channels: of nodes and bodies `position`, `orientation`, "
                                      "`velocity`, `angular_velocity`, `acceleration`, "
                                      "`angular_acceleration`; of joints `force` and `torque`, on "
                                      "the second body at its marker, and as a sensor in the "
                                      "joint tells them `angle` (in (-pi, pi]) and `angle_rate` "
                                      "about the first's z axis, `displacement` and "
                                      "`displacement_rate` along it; of springs `stretch` "
                                      "and "
                                      "`stretch_rate`; of beams `force_1`, `moment_1`, `force_2`, "
                                      "`moment_2` at its two evaluation points and "
                                      "`strain_energy`; of flexible bodies `strain_energy` and, "
                                      "with modes, `amplitude_1` and so on, and of their points "
                                      "what nodes have; of the "
                                      "whole `energy` and `strain_energy`.",
                                      fields};
