/* Joints, forces and ports of mechanical models: the schema of their items, and the reader that
 * adds them to a model under construction. */
#include "model/registry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/vec3.h"
#include "mechanics/body.h"
#include "mechanics/joint.h"

/* Markers -------------------------------------------------------------------------------------- */

static const yk_option marker_fields[] = {
    {"offset", YK_ORIGIN, .description = "from the body's origin, in its axes"},
    {"orientation", YK_OPTION_ORIENTATION, .default_text = "[1, 0, 0, 0]",
     .description = "rotation from the marker's axes to the body's axes"},
    {0},
};
static const yk_option_section marker_section = {"marker", "A frame fixed to a body.",
                                                 marker_fields};
static const yk_option marker_item = {"markers", YK_OPTION_SECTION, .section = &marker_section,
                                      .description = ""};
static const yk_option attached_fields[] = {
    {"body", YK_OPTION_TEXT, .required = true, .description = "the body or node"},
    {"offset", YK_ORIGIN,
     .description = "position of the marker, from the body's origin, in its axes"},
    {"orientation", YK_OPTION_ORIENTATION, .default_text = "[1, 0, 0, 0]",
     .description = "rotation from the marker's axes to the body's axes"},
    {0},
};
const yk_option_section yk_marker_keys = {"marker", NULL, attached_fields};

/* Two markers. */
static const yk_option end_item = {"bodies or nodes", YK_OPTION_TEXT,
                                   .description = "a body, a node, or `ground`"};

/* Joints --------------------------------------------------------------------------------------- */

static const yk_option pair_fields[] = {
    {"between", YK_OPTION_LIST, .required = true, .min_count = 2, .max_count = 2, .item = &end_item,
     .description = "two bodies or nodes, or `ground`"},
    {"at", YK_OPTION_NUMBERS, "m", YK_VECTOR,
     .description = "initial position of both markers, global. Without `at` and `markers`, the "
                    "origins of both bodies coincide"},
    {"axis", YK_OPTION_NUMBERS, YK_VECTOR,
     .description = "initial direction of both z axes, global; of any length"},
    {"orientation", YK_OPTION_ORIENTATION,
     .description = "initial orientation of both markers, global; instead of `axis`"},
    {"markers", YK_OPTION_LIST, .min_count = 2, .max_count = 2, .item = &marker_item,
     .description = "the two markers in their bodies' axes; "
                    "instead of `at`, `axis` and `orientation`"},
    {0},
};
static const yk_option_section pair_section = {"joint", "", pair_fields};
/* Keys of all joints. */
static const yk_option joint_fields[] = {
    YK_INCLUDE(pair_section),
    {"initial_angle", YK_OPTION_NUMBER, "rad", "0",
     .description = "angle about z at the start, of the channel, springs, stops and drives: `at` "
                    "and `axis` then give the joint where it is at the start, and the angle has "
                    "its zero elsewhere"},
    {"initial_displacement", YK_OPTION_NUMBER, "m", "0",
     .description = "displacement along z at the start, in the same way"},
    {0},
};
static const yk_option_section joint_section = {"joint", "", joint_fields};
static const yk_option no_fields[] = {{0}};
#define DRIVE_SIGNAL                                                                       \
    {                                                                                      \
        "signal_port", YK_OPTION_TEXT,                                                     \
            .description = "instead of the function: the name of a signal port of the "    \
                           "subsystem, at which a wire ends that brings this motion with " \
                           "its derivatives; multibody only"                               \
    }
static const yk_option length_fields[] = {{"distance", YK_OPTION_FUNCTION, "m", .required = true,
                                           .description = "distance of the two origins"},
                                          {0}};
static const yk_option radius_fields[] = {{"radius", YK_OPTION_NUMBER, "m", .required = true,
                                           .range = YK_POSITIVE, .description = "of the disc"},
                                          {0}};
static const yk_option angle_fields[] = {
    {"angle", YK_OPTION_FUNCTION, "rad",
     .description = "angle of the second marker about the z axis, function of time"},
    DRIVE_SIGNAL,
    {0}};
static const yk_option position_fields[] = {
    {"displacement", YK_OPTION_FUNCTION, "m",
     .description = "of the second along the first's z axis"},
    DRIVE_SIGNAL,
    {0}};
static const yk_option spin_fields[] = {{"angular_velocity", YK_OPTION_FUNCTION, "rad/s",
                                         .description = "of the second about the first's z axis"},
                                        DRIVE_SIGNAL,
                                        {0}};
static const yk_option speed_fields[] = {{"velocity", YK_OPTION_FUNCTION, "m/s",
                                          .description = "of the second along the first's z axis"},
                                         DRIVE_SIGNAL,
                                         {0}};
static const yk_option_choice axis_words[] = {{"x", NULL},  {"y", NULL},  {"z", NULL}, {"rx", NULL},
                                              {"ry", NULL}, {"rz", NULL}, {NULL, NULL}};
static const yk_option axis_item = {"axes", YK_OPTION_CHOICE, .choices = axis_words,
                                    .description = "a relative motion"};
static const yk_option axes_fields[] = {
    {"constrained_axes", YK_OPTION_LIST, .required = true, .min_count = 1, .max_count = 6,
     .item = &axis_item, .description = "constrained relative motions, in the first marker's axes"},
    {0}};

/* In the order of yk_joint_kind. */
static const yk_option_section spherical_joint = {"spherical", "The origins coincide.", no_fields};
static const yk_option_section revolute_joint = {"revolute", "Turns about z.", no_fields};
static const yk_option_section universal_joint = {
    "universal", "The origins coincide, x of the first remains perpendicular to y of the second.",
    no_fields};
static const yk_option_section prismatic_joint = {"prismatic", "Slides along z of the first.",
                                                  no_fields};
static const yk_option_section cylindrical_joint = {
    "cylindrical", "Slides along and rotates about z of the first.", no_fields};
static const yk_option_section planar_joint = {
    "planar", "Moves in x and y of the first and rotates about its z.", no_fields};
static const yk_option_section fixed_joint = {"fixed", "No relative motion.", no_fields};
static const yk_option_section distance_joint = {
    "distance", "The origins keep a distance, which may be a function of time.", length_fields};
static const yk_option_section in_line_joint = {
    "in-line", "The second origin remains on z of the first.", no_fields};
static const yk_option_section in_plane_joint = {
    "in-plane", "The second origin remains in x and y of the first.", no_fields};
static const yk_option_section parallel_axes_joint = {"parallel-axes",
                                                      "The z axes remain parallel.", no_fields};
static const yk_option_section orientation_joint = {"fixed-orientation", "No relative rotation.",
                                                    no_fields};
static const yk_option_section rotation_joint = {
    "driven-rotation",
    "Prescribes the angle about the common z axis of a revolute or cylindrical joint of the same "
    "bodies; any number of turns.",
    angle_fields};
static const yk_option_section position_joint = {
    "driven-translation", "Prescribes the distance along z of the first.", position_fields};
static const yk_option_section angular_velocity_joint = {
    "driven-angular-velocity", "Prescribes the angular velocity about z of the first.",
    spin_fields};
static const yk_option_section velocity_joint = {
    "driven-velocity", "Prescribes the velocity along z of the first.", speed_fields};
static const yk_option_section knife_edge_joint = {
    "knife-edge", "The second origin moves only along its own x and z: a skate.", no_fields};
static const yk_option_section rolling_joint = {
    "rolling", "A disc about z of the second rolls without slip on x and y of the first.",
    radius_fields};
static const yk_option_section custom_joint = {"custom", "Any set of constrained relative motions.",
                                               axes_fields};

static const yk_option_section *const joint_variants[] = {&spherical_joint,
                                                          &revolute_joint,
                                                          &universal_joint,
                                                          &prismatic_joint,
                                                          &cylindrical_joint,
                                                          &planar_joint,
                                                          &fixed_joint,
                                                          &distance_joint,
                                                          &in_line_joint,
                                                          &in_plane_joint,
                                                          &parallel_axes_joint,
                                                          &orientation_joint,
                                                          &rotation_joint,
                                                          &position_joint,
                                                          &angular_velocity_joint,
                                                          &velocity_joint,
                                                          &knife_edge_joint,
                                                          &rolling_joint,
                                                          &custom_joint,
                                                          NULL};
const yk_option yk_joint_item = {"joint",
                                 YK_OPTION_VARIANT,
                                 .section = &joint_section,
                                 .variants = joint_variants,
                                 .selector = "type",
                                 .description = "Ties two markers"};

/* Forces --------------------------------------------------------------------------------------- */

static const yk_option input_item = {
    "input", YK_OPTION_TEXT, .description = "`name.quantity.component`, as a channel is named"};
static const yk_option feedback_fields[] = {
    {"inputs", YK_OPTION_NAMED, .required = true, .min_count = 1,
     .max_count = YK_FEEDBACK_INPUTS_MAX, .item = &input_item,
     .description = "names in the expression, and the channels that they represent: `speed: "
                    "crank.angular_velocity.x`"},
    {"expression", YK_OPTION_EXPRESSION, .required = true,
     .description = "expression of the time `t`, the parameters and these names"},
    {0},
};
static const yk_option_section feedback_section = {
    "feedback", "A load that depends on channels of the model.", feedback_fields};

/* Alternatives to `load`. */
static const yk_option load_fields[] = {
    {"feedback", YK_OPTION_SECTION, .section = &feedback_section,
     .description = "instead of `load` (or `factor`)"},
    {"signal_port", YK_OPTION_TEXT,
     .description = "instead of `load` (or `factor`): the name of a signal port of the subsystem, "
                    "at which a wire ends; several forces may use the same"},
    {0},
};
static const yk_option_section load_keys = {"load", NULL, load_fields};

/* Further terms of laws on a coordinate. */
#define TERM(name) YK_MEMBER(yk_force_def, terms.name)
static const yk_option_choice side_words[] = {
    {"both", NULL},
    {"tension", "no force if it is shorter than without tension: a rope"},
    {"compression", "no force if it is longer than without tension: a buffer"},
    {NULL, NULL}};
static const char contact_text[] =
    "damping of a contact (of one side, after the play, at a stop): its force is that of the "
    "stiffness times 1 + this times the rate of penetration, never negative (Hunt and Crossley)";
static const yk_option side_fields[] = {
    {"acts_in", YK_OPTION_CHOICE, .default_text = "both", .choices = side_words, TERM(sides),
     .description = "direction of the elastic force"},
    {"play", YK_OPTION_NUMBER, "m or rad", "0", .range = YK_NOT_NEGATIVE, TERM(play),
     .description = "no elastic force within this distance from the free length or angle"},
    {"contact_damping", YK_OPTION_NUMBER, "s/m or s/rad", "0", .range = YK_NOT_NEGATIVE,
     TERM(contact_damping), .description = contact_text},
    {"characteristic", YK_OPTION_TEXT,
     .description = "an expression of the elongation `x` from the free length or angle, its rate "
                    "`v`, the `load` and tables: an additional force against `x`; of `motor` the "
                    "force or torque instead of the load. Its work counts as supplied"},
    {0}};
static const yk_option_section side_keys = {"characteristic", NULL, side_fields};

static const yk_option spring_fields[] = {
    YK_INCLUDE(pair_section),
    YK_INCLUDE(side_keys),
    {"stiffness", YK_OPTION_NUMBER, "N/m", "0", .description = "tension per elongation"},
    {"damping", YK_OPTION_NUMBER, "N s/m", "0", .description = "tension per rate of elongation"},
    {"free_length", YK_OPTION_NUMBER, "m", "0", .range = YK_NOT_NEGATIVE,
     .description = "length without tension"},
    {"load", YK_OPTION_FUNCTION, "N", "0", .description = "additional tension, function of time"},
    YK_INCLUDE(load_keys),
    {0}};
static const yk_option torsion_fields[] = {
    YK_INCLUDE(pair_section),
    {"stiffness", YK_OPTION_NUMBER, "N m/rad", "0", .description = "torque per angle"},
    {"damping", YK_OPTION_NUMBER, "N m s/rad", "0", .description = "torque per angular velocity"},
    {"free_angle", YK_OPTION_NUMBER, "rad", "0", .description = "angle without torque"},
    {"load", YK_OPTION_FUNCTION, "N m", "0",
     .description = "additional torque against the angle, function of time"},
    YK_INCLUDE(load_keys),
    {0}};
static const yk_option bushing_fields[] = {
    YK_INCLUDE(pair_section),
    {"stiffness", YK_OPTION_NUMBERS, "N/m, N m/rad", .required = true, .min_count = 6,
     .max_count = 36,
     .description = "six diagonal values, or 36 by rows, in the first marker's axes"},
    {"damping", YK_OPTION_NUMBERS, "N s/m, N m s/rad", "[0, 0, 0, 0, 0, 0]", .min_count = 6,
     .max_count = 36, .description = "likewise"},
    {0}};
static const yk_option force_fields[] = {
    YK_INCLUDE(yk_marker_keys),
    {"vector", YK_OPTION_NUMBERS, "N", .required = true, YK_VECTOR, .description = "the force"},
    {"follower", YK_OPTION_BOOLEAN, .default_text = "false",
     .description = "whether the vector is in the marker's axes"},
    {"factor", YK_OPTION_FUNCTION, NULL, "1",
     .description = "factor of the vector, function of time"},
    YK_INCLUDE(load_keys),
    {0}};
static const yk_option torque_fields[] = {
    YK_INCLUDE(yk_marker_keys),
    {"vector", YK_OPTION_NUMBERS, "N m", .required = true, YK_VECTOR, .description = "the torque"},
    {"follower", YK_OPTION_BOOLEAN, .default_text = "false",
     .description = "whether the vector is in the marker's axes"},
    {"factor", YK_OPTION_FUNCTION, NULL, "1",
     .description = "factor of the vector, function of time"},
    YK_INCLUDE(load_keys),
    {0}};
static const yk_option motor_fields[] = {
    {"joint", YK_OPTION_TEXT, .required = true,
     .description = "a joint of the subsystem: "
                    "a torque about the z axis of `revolute`, `cylindrical` and `driven-rotation`, "
                    "a force along the z axis of `prismatic`, `in-line` and `driven-translation`"},
    {"load", YK_OPTION_FUNCTION, "N m or N", "0",
     .description =
         "on the second body of the joint, in the direction of increasing angle or displacement"},
    {"characteristic", YK_OPTION_TEXT,
     .description = "the torque or force as an expression of the `load`, the angle or displacement "
                    "`x`, its rate `v` and tables, such as a torque map `map(abs(v))*load`"},
    YK_INCLUDE(load_keys),
    {0}};
#define JOINT_KEY                                                                            \
    {                                                                                        \
        "joint", YK_OPTION_TEXT,                                                             \
            .required = true,                                                                \
            .description =                                                                   \
                "a joint of the subsystem: the angle about the z axis of `revolute`, "       \
                "`cylindrical` and `driven-rotation`, the displacement along the z axis of " \
                "`prismatic`, `in-line` and `driven-translation`"                            \
    }
static const yk_option joint_spring_fields[] = {
    JOINT_KEY,
    {"stiffness", YK_OPTION_NUMBER, "N m/rad or N/m", "0", YK_MEMBER(yk_force_def, stiffness),
     .description = "torque per angle, or force per displacement"},
    {"damping", YK_OPTION_NUMBER, "N m s/rad or N s/m", "0", YK_MEMBER(yk_force_def, damping),
     .description = "the same per rate"},
    {"free", YK_OPTION_NUMBER, "rad or m", "0", YK_MEMBER(yk_force_def, free_length),
     .description = "angle or displacement without force"},
    {"load", YK_OPTION_FUNCTION, "N m or N", "0",
     .description = "additional torque or force against the angle or displacement, such as a "
                    "preload, function of time"},
    YK_INCLUDE(side_keys),
    YK_INCLUDE(load_keys),
    {0}};
static const yk_option joint_stop_fields[] = {
    JOINT_KEY,
    {"limits", YK_OPTION_NUMBERS, "rad or m", .required = true, .min_count = 2, .max_count = 2,
     TERM(limits), .description = "least and largest angle or displacement"},
    {"stiffness", YK_OPTION_NUMBER, "N m/rad or N/m", .required = true, .range = YK_POSITIVE,
     TERM(stop_stiffness), .description = "of the stops"},
    {"contact_damping", YK_OPTION_NUMBER, "s/rad or s/m", "0", .range = YK_NOT_NEGATIVE,
     TERM(contact_damping), .description = contact_text},
    {0}};
static const yk_option joint_friction_fields[] = {
    JOINT_KEY,
    {"coulomb", YK_OPTION_NUMBER, "N m or N", .required = true, .range = YK_NOT_NEGATIVE,
     TERM(coulomb_friction), .description = "friction torque or force in motion"},
    {"static", YK_OPTION_NUMBER, "N m or N", "0", .range = YK_NOT_NEGATIVE, TERM(static_friction),
     .description = "friction at the start of a motion, if it is larger (Stribeck effect)"},
    {"stribeck_velocity", YK_OPTION_NUMBER, "rad/s or m/s", "1e-2", .range = YK_POSITIVE,
     TERM(stribeck_velocity),
     .description = "rate at which 1/e of the excess of the static friction is left"},
    {"viscous", YK_OPTION_NUMBER, "N m s/rad or N s/m", "0", .range = YK_NOT_NEGATIVE,
     YK_MEMBER(yk_force_def, damping), .description = "friction per rate"},
    {"transition_velocity", YK_OPTION_NUMBER, "rad/s or m/s", "1e-3", .range = YK_POSITIVE,
     TERM(transition_velocity),
     .description = "friction is regularised by tanh(rate / this): a joint that sticks creeps at "
                    "less than this rate"},
    {0}};
static const yk_option_section joint_spring_law = {
    "joint-spring", "Spring and damper on the coordinate of a joint, also with play or a table.",
    joint_spring_fields};
static const yk_option_section joint_stop_law = {
    "joint-stop", "Elastic stops at both ends of the motion of a joint.", joint_stop_fields};
static const yk_option_section joint_friction_law = {
    "joint-friction", "Coulomb, Stribeck and viscous friction in a joint.", joint_friction_fields};

/* Contacts and fluids. */
static const yk_option ground_place_fields[] = {
    {"body", YK_OPTION_TEXT, .default_text = "ground", .description = "the body that carries it"},
    {"offset", YK_ORIGIN, .description = "its origin, in the axes of that body"},
    {"orientation", YK_OPTION_ORIENTATION, .default_text = "[1, 0, 0, 0]",
     .description = "its axes; z is up"},
    {"height", YK_OPTION_TEXT,
     .description = "height over the plane as an expression of the coordinates `x` and `y` and "
                    "tables, such as `road(x)`; it should be smooth on the scale of the radius"},
    {0}};
static const yk_option_section ground_section = {"ground", "A plane, or a road.",
                                                 ground_place_fields};
#define CONTACT(name) YK_MEMBER(yk_force_def, contact.name)
static const yk_option normal_fields[] = {
    {"stiffness", YK_OPTION_NUMBER, "N/m^exponent", .required = true, .range = YK_POSITIVE,
     CONTACT(stiffness), .description = "normal force per penetration to the power of `exponent`"},
    {"exponent", YK_OPTION_NUMBER, NULL, "1", .range = YK_POSITIVE, CONTACT(exponent),
     .description = "1: a linear spring, 1.5: Hertz"},
    {"contact_damping", YK_OPTION_NUMBER, "s/m", "0", .range = YK_NOT_NEGATIVE, CONTACT(damping),
     .description = "the normal force is multiplied by 1 + this times the rate of penetration, "
                    "never negative (Hunt and Crossley)"},
    {"friction", YK_OPTION_NUMBER, NULL, "0", .range = YK_NOT_NEGATIVE, CONTACT(friction),
     .description = "coefficient of Coulomb friction"},
    {"transition_velocity", YK_OPTION_NUMBER, "m/s", "1e-2", .range = YK_POSITIVE,
     CONTACT(transition_velocity),
     .description = "friction is regularised by tanh(slip velocity / this); of a tyre: added to "
                    "its speed by squares, so that a wheel at rest has a finite slip"},
    {0}};
static const yk_option_section normal_keys = {"contact", NULL, normal_fields};
static const yk_option ground_fields[] = {
    YK_INCLUDE(yk_marker_keys),
    {"radius", YK_OPTION_NUMBER, "m", .required = true, .range = YK_POSITIVE, CONTACT(radius),
     .description = "of the sphere or of the tyre"},
    {"ground", YK_OPTION_SECTION, .section = &ground_section,
     .description = "the ground; by default the x-y plane of the global frame"},
    YK_INCLUDE(normal_keys),
    {0}};
static const yk_option_section ground_keys = {"ground contact", NULL, ground_fields};
static const yk_option tyre_fields[] = {
    YK_INCLUDE(ground_keys),
    {"slip_stiffness", YK_OPTION_NUMBER, "N", .required = true, .range = YK_NOT_NEGATIVE,
     CONTACT(slip_stiffness), .description = "longitudinal force per slip, at small slip"},
    {"cornering_stiffness", YK_OPTION_NUMBER, "N/rad", .required = true, .range = YK_NOT_NEGATIVE,
     CONTACT(cornering_stiffness),
     .description = "lateral force per tangent of the slip angle, at small slip"},
    {"rolling_resistance", YK_OPTION_NUMBER, NULL, "0", .range = YK_NOT_NEGATIVE,
     CONTACT(rolling_resistance),
     .description = "torque against rolling, divided by normal force and radius"},
    {0}};
static const yk_option clearance_fields[] = {
    YK_INCLUDE(pair_section),
    {"radius", YK_OPTION_NUMBER, "m", .required = true, .range = YK_POSITIVE, CONTACT(radius),
     .description = "of the pin"},
    {"clearance", YK_OPTION_NUMBER, "m", .required = true, .range = YK_NOT_NEGATIVE,
     CONTACT(clearance), .description = "radial: radius of the hole minus that of the pin"},
    YK_INCLUDE(normal_keys),
    {0}};
static const yk_option drag_fields[] = {
    YK_INCLUDE(yk_marker_keys),
    {"quadratic", YK_OPTION_NUMBER, "N s2/m2", "0", .range = YK_NOT_NEGATIVE,
     CONTACT(quadratic_drag),
     .description = "drag per square of the speed: half of density, area and drag coefficient"},
    {"linear", YK_OPTION_NUMBER, "N s/m", "0", .range = YK_NOT_NEGATIVE, CONTACT(linear_drag),
     .description = "drag per speed"},
    {"wind", YK_OPTION_NUMBERS, "m/s", YK_VECTOR, CONTACT(wind),
     .description = "velocity of the fluid, global"},
    {0}};
static const yk_option_section ground_law = {
    "ground-contact",
    "A sphere on the body touches the ground: regularised normal force and friction.",
    ground_fields};
static const yk_option_section tyre_law = {
    "tyre",
    "A wheel that spins about z of its marker rolls on the ground: radial spring and the brush "
    "model (Fiala) for longitudinal and lateral slip.",
    tyre_fields};
static const yk_option_section clearance_law = {
    "clearance", "A pin at the second marker in a hole along z of the first, with clearance.",
    clearance_fields};
static const yk_option_section drag_law = {"drag", "Resistance of a fluid against a body.",
                                           drag_fields};

static const yk_option_section motor_law = {
    "motor", "Drives a joint: acts on its second body, with the opposite on the first.",
    motor_fields};
static const yk_option_section spring_law = {"spring", "Along the line between the origins.",
                                             spring_fields};
static const yk_option_section torsion_law = {
    "torsion-spring", "About the common z axis of a joint of the same bodies.", torsion_fields};
static const yk_option_section bushing_law = {
    "bushing", "Elastic connection of all six relative motions.", bushing_fields};
static const yk_option_section force_law = {"force", "At a marker.", force_fields};
static const yk_option_section torque_law = {"torque", "On a body.", torque_fields};

static const yk_option_section *const force_variants[] = {
    &spring_law,         &torsion_law, &bushing_law,      &motor_law,
    &force_law,          &torque_law,  &joint_spring_law, &joint_stop_law,
    &joint_friction_law, &ground_law,  &tyre_law,         &clearance_law,
    &drag_law,           NULL};
enum { FORCE_JOINT_SPRING = 6 };
/* Meanings of the variants. */
static const yk_force_kind force_kinds[] = {
    YK_FORCE_SPRING, YK_FORCE_TORSION_SPRING, YK_FORCE_BUSHING, YK_FORCE_MOTOR, YK_FORCE_FORCE,
    YK_FORCE_TORQUE, YK_FORCE_MOTOR,          YK_FORCE_MOTOR,   YK_FORCE_MOTOR, YK_FORCE_GROUND,
    YK_FORCE_TYRE,   YK_FORCE_CLEARANCE,      YK_FORCE_DRAG};

const yk_option yk_force_item = {"force", YK_OPTION_VARIANT, .variants = force_variants,
                                 .selector = "type", .description = "A force law"};

/* Couplings ------------------------------------------------------------------------------------ */

static const yk_option_choice coordinate_words[] = {
    {"angle", "about the z axis of the joint, over any number of turns"},
    {"displacement", "along the z axis of the joint"},
    {NULL, NULL}};
static const yk_option term_fields[] = {
    {"joint", YK_OPTION_TEXT, .required = true, .description = "a joint of the subsystem"},
    {"ratio", YK_OPTION_NUMBER, NULL, "1",
     .description = "factor of its coordinate; a gear or a drum has its radius here, a screw its "
                    "lead per turn divided by 2 pi"},
    {"coordinate", YK_OPTION_CHOICE, .choices = coordinate_words,
     .description = "by default the angle of a joint that turns, and the displacement of one that "
                    "slides"},
    {0}};
static const yk_option_section term_section = {"term", "A coordinate with its factor.",
                                               term_fields};
static const yk_option term_item = {"terms", YK_OPTION_SECTION, .section = &term_section,
                                    .description = ""};
#define TERMS(least)                                                                           \
    {                                                                                          \
        "terms", YK_OPTION_LIST,                                                               \
            .required = (least) > 0, .min_count = (least), .max_count = YK_COUPLING_TERMS_MAX, \
            .item = &term_item,                                                                \
            .description = "the coordinates; their sum with the ratios as factors is the "     \
                           "coordinate of the coupling"                                        \
    }
enum { YK_COUPLING_TERMS_MAX = 16 };

static const yk_option rigid_fields[] = {
    TERMS(1),
    {"drive", YK_OPTION_FUNCTION, "m or rad", "0",
     .description = "the sum minus its value at the start, function of time"},
    {0}};
static const yk_option elastic_fields[] = {
    TERMS(1),
    {"stiffness", YK_OPTION_NUMBER, "N/m or N m/rad", "0", YK_MEMBER(yk_force_def, stiffness),
     .description = "force per change of the sum since the start"},
    {"damping", YK_OPTION_NUMBER, "N s/m or N m s/rad", "0", YK_MEMBER(yk_force_def, damping),
     .description = "force per rate of the sum"},
    {"load", YK_OPTION_FUNCTION, "N or N m", "0",
     .description = "additional force against the growth of the sum, function of time"},
    YK_INCLUDE(side_keys),
    YK_INCLUDE(load_keys),
    {0}};
static const yk_option point_fields[] = {
    {"body", YK_OPTION_TEXT, .required = true, .description = "a body, a node, or `ground`"},
    {"offset", YK_ORIGIN, .description = "from the body's origin, in its axes"},
    {0}};
static const yk_option_section point_section = {"point", "A point of a body.", point_fields};
static const yk_option point_item = {"path", YK_OPTION_SECTION, .section = &point_section,
                                     .description = ""};
static const yk_option rope_fields[] = {
    {"path", YK_OPTION_LIST, .required = true, .min_count = 2, .max_count = YK_COUPLING_TERMS_MAX,
     .item = &point_item,
     .description = "the points that the rope connects; it slides without friction over all but "
                    "the ends, which stand for pulleys that are small and light"},
    TERMS(0),
    {"stiffness", YK_OPTION_NUMBER, "N/m", .required = true, .range = YK_POSITIVE,
     YK_MEMBER(yk_force_def, stiffness), .description = "of the whole rope"},
    {"contact_damping", YK_OPTION_NUMBER, "s/m", "0", .range = YK_NOT_NEGATIVE,
     TERM(contact_damping), .description = contact_text},
    {"free_length", YK_OPTION_NUMBER, "m", .range = YK_POSITIVE,
     .description = "length without tension, with what is on drums at the start; by default the "
                    "length at the start minus `pretension` divided by the stiffness"},
    {"pretension", YK_OPTION_NUMBER, "N", "0", .range = YK_NOT_NEGATIVE,
     .description = "tension at the start, without `free_length`"},
    {0}};
static const yk_option_section rigid_coupling = {"rigid",
                                                 "The sum remains what it is at the start: a gear "
                                                 "pair, a rack, a belt, a screw, a differential.",
                                                 rigid_fields};
static const yk_option_section elastic_coupling = {
    "elastic", "A spring on the sum: elastic gears and belts, also with backlash.", elastic_fields};
static const yk_option_section rope_coupling = {
    "rope",
    "A rope over pulleys and from drums (terms with the radius, of either sign); it only "
    "pulls.",
    rope_fields};
static const yk_option_section *const coupling_variants[] = {&rigid_coupling, &elastic_coupling,
                                                             &rope_coupling, NULL};
const yk_option yk_coupling_item = {"coupling",
                                    YK_OPTION_VARIANT,
                                    .variants = coupling_variants,
                                    .selector = "type",
                                    .default_variant = "rigid",
                                    .description = "Couples the coordinates of joints"};

/* Ports ---------------------------------------------------------------------------------------- */

static const yk_option_section marker_port = {
    "marker", "A frame on a body, which receives a wrench or a motion.", attached_fields};
static const yk_option_section distance_port = {
    "distance",
    "The distance of two markers, an actuator: receives a force, which pushes them apart, or a "
    "length.",
    pair_fields};
static const yk_option_section *const port_variants[] = {&marker_port, &distance_port, NULL};
const yk_option yk_port_item = {"port",
                                YK_OPTION_VARIANT,
                                .variants = port_variants,
                                .selector = "type",
                                .default_variant = "marker",
                                .description = "A point that can be coupled with other subsystems"};

/* Reading -------------------------------------------------------------------------------------- */

typedef struct reader {
    yk_builder *builder;
    const yk_node *section;
    const yk_mechanism_ops *ops;
    void *model;
    /* Signal ports created for forces, each once. */
    const char **input_names;
    yk_port_id *inputs;
    int input_count;
    yk_status status; /* status of the first error */
} reader;

static void note(reader *r, yk_status status)
{
    if (r->status == YK_OK && YK_FAILED(status))
        r->status = status;
}

/* Reports the solver's message about an invalid part at its item. */
static void check_added(reader *r, const yk_node *item, bool was_added)
{
    const char *message = yk_last_message(yk_builder_context(r->builder));
    if (!was_added)
        note(r, yk_builder_error(r->builder, item, "%s", message));
}

static yk_joint_id add_joint(reader *r, const yk_node *item, const yk_joint_def *def)
{
    yk_joint_id id = r->ops->add_joint(r->model, def);
    check_added(r, item, yk_joint_is_valid(id));
    return id;
}

static yk_force_id add_force(reader *r, const yk_node *item, const yk_force_def *def)
{
    yk_force_id id = r->ops->add_force(r->model, def);
    check_added(r, item, yk_force_is_valid(id));
    return id;
}

static yk_port_id add_port(reader *r, const yk_node *item, const yk_port_def *def)
{
    yk_port_id id = r->ops->add_port(r->model, def);
    check_added(r, item, yk_port_is_valid(id));
    return id;
}

static yk_body_id find(reader *r, const yk_node *reference)
{
    yk_body_id body = r->ops->find(r->model, reference);
    if (body.index == YK_NO_ID)
        note(r, YK_ERROR_INPUT);
    return body;
}

/* Calls a function for each item of a collection. */
static void for_all(reader *r, const char *key, void (*read)(reader *r, const yk_node *item))
{
    for (const yk_node *item = yk_node_items(r->section, key); item; item = item->next)
        read(r, item);
}

yk_status yk_read_axis(yk_builder *builder, const yk_node *axis, yk_quat *frame)
{
    yk_vec3 z = yk_v3(axis->values[0], axis->values[1], axis->values[2]);
    if (yk_v3_norm(z) == 0)
        return yk_builder_error(builder, axis, "the axis has no length");
    *frame = yk_marker_along(yk_v3(0, 0, 0), z).orientation;
    return YK_OK;
}

yk_marker yk_read_marker(const yk_node *item)
{
    return (yk_marker){yk_node_vector(item, "offset"), yk_node_orientation(item, "orientation")};
}

/* The two bodies and markers of an item with `between`: by `markers`, or by `at` with `axis` or
 * `orientation`; by default the bodies' origins with global axes. */
static void read_pair(reader *r, const yk_node *item, yk_body_id body[2], yk_marker marker[2])
{
    /* The two bodies, which must differ. */
    const yk_node *between = yk_node_get(item, "between");
    for (int side = 0; side < 2; side++)
        body[side] = find(r, yk_node_at(between, side));
    if (body[0].index == YK_NO_ID || body[1].index == YK_NO_ID)
        return;
    if (body[0].index == body[1].index)
        note(r, yk_builder_error(r->builder, between, "both ends are on '%s'",
                                 yk_node_at(between, 0)->text));

    /* Each marker in its body's axes. */
    const yk_node *given = yk_node_get(item, "markers");
    const yk_node *at = yk_node_get(item, "at");
    const yk_node *axis = yk_node_get(item, "axis");
    const yk_node *orientation = yk_node_get(item, "orientation");
    if (given && (at || axis || orientation))
        note(r, yk_builder_error(r->builder, given,
                                 "give either 'markers', or 'at' with 'axis' or 'orientation'"));
    if (given) {
        for (int side = 0; side < 2; side++)
            marker[side] = yk_read_marker(yk_node_at(given, side));
        return;
    }

    /* One global frame, expressed in both bodies; without `at` its origin is that of each body. */
    yk_marker global = yk_marker_default();
    if (axis && orientation)
        note(r, yk_builder_error(r->builder, axis, "give either 'axis' or 'orientation'"));
    if (orientation)
        global.orientation = yk_node_orientation(item, "orientation");
    if (axis)
        note(r, yk_read_axis(r->builder, axis, &global.orientation));

    for (int side = 0; side < 2; side++) {
        yk_motion pose = r->ops->pose(r->model, body[side]);
        global.offset = pose.position;
        if (at)
            global.offset = yk_node_vector(item, "at");

        marker[side] = yk_marker_in_body(global, pose.position, pose.orientation);
    }
}

static double always_zero(void *user, double t)
{
    (void)user;
    (void)t;
    return 0;
}

/* The markers of a joint. The zeros of its angle and displacement follow from their initial values:
 * they move the first marker. */
static void read_joint_pair(reader *r, const yk_node *item, yk_body_id body[2], yk_marker marker[2])
{
    read_pair(r, item, body, marker);
    double angle = yk_node_number(item, "initial_angle");
    double displacement = yk_node_number(item, "initial_displacement");
    if (angle == 0 && displacement == 0)
        return;

    yk_quat axes = yk_q_unit(marker[0].orientation);
    yk_vec3 z = yk_q_rotate(axes, yk_v3(0, 0, 1));
    yk_quat back = {cos(angle / 2), 0, 0, -sin(angle / 2)};
    marker[0].offset = yk_v3_axpy(-displacement, z, marker[0].offset);
    marker[0].orientation = yk_q_mul(axes, back);
}

static yk_port_id find_input(reader *r, const yk_node *input);

static void read_joint(reader *r, const yk_node *item)
{
    yk_joint_def joint = yk_joint_default();
    joint.name = yk_node_name(item);
    joint.kind = (yk_joint_kind)item->choice;
    read_joint_pair(r, item, joint.bodies, joint.markers);

    /* Its drive: a number or a function of time; for a distance the number is its length. */
    const char *drive_key = yk_joint_traits_of(joint.kind)->drive.name;
    const yk_node *drive = drive_key ? yk_node_get(item, drive_key) : NULL;
    bool constant = drive && drive->value_count == 1;
    if (joint.kind == YK_JOINT_DISTANCE && constant)
        joint.length = drive->value;
    else if (drive)
        note(r, yk_builder_function_of(r->builder, drive, &joint.drive));

    /* Or a signal. */
    const yk_node *signal = yk_node_get(item, "signal_port");
    if (signal && drive)
        note(r,
             yk_builder_error(r->builder, signal, "give either '%s' or 'signal_port'", drive_key));
    if (signal && !r->ops->feedback)
        note(r, yk_builder_error(r->builder, signal,
                                 "joints here are driven by functions of time only"));
    if (!signal && !drive && yk_joint_traits_of(joint.kind)->drive.required)
        note(r, yk_builder_error(r->builder, item, "'%s' or 'signal_port' is missing", drive_key));
    if (signal && r->status == YK_OK)
        joint.signal_port = find_input(r, signal);

    /* A drive that is constantly zero is a drive too. */
    if (drive && !joint.drive.evaluate && joint.kind != YK_JOINT_DISTANCE)
        joint.drive.evaluate = always_zero;

    /* Further keys of the kind. */
    if (joint.kind == YK_JOINT_ROLLING)
        joint.length = yk_node_number(item, "radius");

    for (const yk_node *axis = yk_node_items(item, "constrained_axes"); axis; axis = axis->next)
        joint.constrained_axes |= 1u << axis->choice;
    if (r->status == YK_OK)
        add_joint(r, item, &joint);
}

/* Loads and forces ----------------------------------------------------------------------------- */

/* An expression of time and of channels of the model. */
typedef struct feedback_expression {
    yk_expression *expression;
    int input_count;
    const char *inputs[YK_FEEDBACK_INPUTS_MAX];
} feedback_expression;

static double feedback_value(void *user, double t, const double *inputs)
{
    const feedback_expression *f = user;
    double variables[1 + YK_FEEDBACK_INPUTS_MAX] = {t};
    memcpy(variables + 1, inputs, (size_t)f->input_count * sizeof *inputs);
    return yk_expression_value(f->expression, variables);
}

static void read_feedback(reader *r, const yk_node *section, yk_feedback *feedback)
{
    if (!r->ops->feedback) {
        note(r, yk_builder_error(r->builder, section, "loads here are functions of time only"));
        return;
    }

    feedback_expression *f = yk_builder_take(r->builder, sizeof *f);
    if (!f) {
        note(r, YK_ERROR_MEMORY);
        return;
    }

    /* Time first, then the inputs by their names in the expression. */
    const char *variables[1 + YK_FEEDBACK_INPUTS_MAX] = {"t"};
    for (const yk_node *input = yk_node_items(section, "inputs"); input; input = input->next) {
        f->inputs[f->input_count++] = input->text;
        variables[f->input_count] = yk_node_name(input);
    }

    const yk_node *value = yk_node_get(section, "expression");
    int count = 1 + f->input_count;
    note(r, yk_builder_expression(r->builder, value, variables, count, &f->expression));
    *feedback = (yk_feedback){feedback_value, f, f->inputs, f->input_count};
}

/* The signal port of a load; several forces may use the same. */
static yk_port_id find_input(reader *r, const yk_node *input)
{
    /* A port that an earlier force has created. */
    for (int i = 0; i < r->input_count; i++)
        if (strcmp(r->input_names[i], input->text) == 0)
            return r->inputs[i];

    /* Names of ports are used once. */
    for (const yk_node *port = yk_node_items(r->section, "ports"); port; port = port->next)
        if (strcmp(yk_node_name(port), input->text) == 0)
            note(r,
                 yk_builder_error(r->builder, input,
                                  "a port is already named '%s': choose another name for the input",
                                  input->text));

    /* A new one, for this and for later forces. */
    yk_port_def port = yk_port_signal(input->text);
    yk_port_id id = add_port(r, input, &port);
    r->input_names[r->input_count] = input->text;
    r->inputs[r->input_count++] = id;

    return id;
}

/* The joint that an item names; NULL after a message. */
static const yk_node *find_joint(reader *r, const yk_node *item)
{
    const yk_node *reference = yk_node_get(item, "joint");
    const yk_node *joints = yk_node_get(r->section, "joints");
    const yk_names *names = yk_builder_names(r->builder, joints);
    if (!names) {
        note(r, YK_ERROR_MEMORY);
        return NULL;
    }

    int index = yk_builder_find(r->builder, names, reference, "joint", NULL);
    if (index < 0) {
        note(r, YK_ERROR_INPUT);
        return NULL;
    }

    return yk_node_at(joints, index);
}

/* Bodies and markers of the joint that a motor drives, and whether it pushes or rotates. */
static void read_motor(reader *r, const yk_node *item, yk_force_def *force)
{
    const yk_node *reference = yk_node_get(item, "joint");
    const yk_node *joint = find_joint(r, item);
    if (!joint)
        return;

    /* It acts at the place of the joint, along its free motion. */
    yk_joint_kind kind = (yk_joint_kind)joint->choice;
    read_joint_pair(r, joint, force->bodies, force->markers);

    switch (yk_joint_traits_of(kind)->motion) {
    case YK_MOTION_ROTATION: force->kind = YK_FORCE_MOTOR; break;
    case YK_MOTION_TRANSLATION: force->kind = YK_FORCE_LINEAR_MOTOR; break;
    case YK_MOTION_NONE:
        note(r, yk_builder_error(r->builder, reference,
                                 "a motor drives a revolute, cylindrical, driven-rotation, "
                                 "prismatic, in-line or driven-translation joint; this one is %s",
                                 yk_joint_kind_name(kind)));
    }
}

static double characteristic_value(void *user, double x, double v, double load)
{
    const double variables[] = {x, v, load};
    return yk_expression_value(user, variables);
}

static double height_value(void *user, double x, double y)
{
    const double variables[] = {x, y};
    return yk_expression_value(user, variables);
}

/* The markers of a contact of the body with the ground. */
static void read_ground(reader *r, const yk_node *item, yk_force_def *force)
{
    force->bodies[1] = find(r, yk_node_get(item, "body"));
    force->markers[1] = yk_read_marker(item);
    const yk_node *ground = yk_node_get(item, "ground");
    if (!ground)
        return;

    const yk_node *body = yk_node_get(ground, "body");
    if (body && strcmp(body->text, "ground") != 0)
        force->bodies[0] = find(r, body);
    force->markers[0] = yk_read_marker(ground);

    static const char *const coordinates[] = {"x", "y"};
    const yk_node *height = yk_node_get(ground, "height");
    yk_expression *expression = NULL;
    if (height)
        note(r, yk_builder_expression(r->builder, height, coordinates, 2, &expression));
    if (expression) {
        force->contact.height = height_value;
        force->contact.height_user = expression;
    }
}

static double zero_value(void *user, double t)
{
    (void)user;
    (void)t;
    return 0;
}

/* The load: a signal, a feedback, or a function of time. */
static void read_load(reader *r, const yk_node *item, yk_force_def *force)
{
    const yk_node *input = yk_node_get(item, "signal_port");
    const yk_node *feedback = yk_node_get(item, "feedback");
    const yk_node *load = yk_node_get(item, "load");
    const yk_node *factor = yk_node_get(item, "factor");
    if (!load)
        load = factor;
    if (input)
        force->signal_port = find_input(r, input);
    else if (feedback)
        read_feedback(r, feedback, &force->feedback);
    else if (load)
        note(r, yk_builder_function_of(r->builder, load, &force->load));

    /* Without a function a load is zero, but a factor is one. */
    bool is_function = load && !input && !feedback;
    if (is_function && load == factor && !force->load.evaluate)
        force->load.evaluate = zero_value;
}

/* An expression of the coordinate, its rate and the load. */
static void read_characteristic(reader *r, const yk_node *item, yk_force_def *force)
{
    static const char *const state[] = {"x", "v", "load"};
    const yk_node *characteristic = yk_node_get(item, "characteristic");
    yk_expression *expression = NULL;
    if (characteristic)
        note(r, yk_builder_expression(r->builder, characteristic, state, 3, &expression));
    if (expression) {
        force->terms.characteristic = characteristic_value;
        force->terms.characteristic_user = expression;
    }
}

static void read_force(reader *r, const yk_node *item)
{
    yk_force_def force = yk_force_default();
    force.name = yk_node_name(item);
    force.kind = force_kinds[item->choice];
    read_load(r, item, &force);
    read_characteristic(r, item, &force);

    /* Its ends, and its law. */
    const yk_node *on = yk_node_get(item, "body");
    note(r, yk_option_read_all(r->builder, force_variants[item->choice]->options, item, &force));
    force.terms.limited = yk_node_get(item, "limits") != NULL;
    force.terms.resists = item->choice == FORCE_JOINT_SPRING;
    switch (force.kind) {
    case YK_FORCE_MOTOR: read_motor(r, item, &force); break;
    case YK_FORCE_SPRING:
        /* Along the line between the origins; about the common axis below. */
        read_pair(r, item, force.bodies, force.markers);
        force.stiffness = yk_node_number(item, "stiffness");
        force.damping = yk_node_number(item, "damping");
        force.free_length = yk_node_number(item, "free_length");
        break;
    case YK_FORCE_TORSION_SPRING:
        read_pair(r, item, force.bodies, force.markers);
        force.stiffness = yk_node_number(item, "stiffness");
        force.damping = yk_node_number(item, "damping");
        force.free_length = yk_node_number(item, "free_angle");
        break;
    case YK_FORCE_GROUND:
    case YK_FORCE_TYRE: read_ground(r, item, &force); break;
    case YK_FORCE_CLEARANCE: read_pair(r, item, force.bodies, force.markers); break;
    case YK_FORCE_BUSHING:
        read_pair(r, item, force.bodies, force.markers);
        note(r, yk_read_six_by_six(r->builder, item, "stiffness", force.bushing_stiffness));
        note(r, yk_read_six_by_six(r->builder, item, "damping", force.bushing_damping));
        break;
    default:
        /* A force or a torque on one body, with a vector that may follow its marker. */
        force.bodies[1] = find(r, on);
        if (force.bodies[1].index == YK_GROUND_INDEX)
            note(r,
                 yk_builder_error(r->builder, on, "the ground does not move: name a body or node"));

        force.markers[1] = yk_read_marker(item);
        if (force.kind == YK_FORCE_DRAG)
            break;

        force.vector = yk_node_vector(item, "vector");
        bool follows = yk_node_boolean(item, "follower");
        if (follows && force.kind == YK_FORCE_FORCE)
            force.kind = YK_FORCE_FOLLOWER_FORCE;
        if (follows && force.kind == YK_FORCE_TORQUE)
            force.kind = YK_FORCE_FOLLOWER_TORQUE;
    }

    /* After an error, forces are checked but not added. */
    if (r->status == YK_OK)
        add_force(r, item, &force);
}

/* Couplings ------------------------------------------------------------------------------------ */

/* A term of a coupling: two markers and their relative motion. */
typedef struct coupling_term {
    yk_body_id bodies[2];
    yk_marker markers[2];
    yk_joint_motion motion; /* none: the distance of the markers */
    double ratio;
} coupling_term;

typedef struct coupling_terms {
    int count;
    coupling_term list[2 * YK_COUPLING_TERMS_MAX];
    double fixed_length; /* of parts of a rope between points of one body */
} coupling_terms;

static void read_terms(reader *r, const yk_node *item, coupling_terms *terms)
{
    for (const yk_node *term = yk_node_items(item, "terms"); term; term = term->next) {
        const yk_node *joint = find_joint(r, term);
        if (!joint)
            continue;

        coupling_term *made = &terms->list[terms->count++];
        *made = (coupling_term){.ratio = yk_node_number(term, "ratio")};
        read_joint_pair(r, joint, made->bodies, made->markers);
        yk_joint_kind kind = (yk_joint_kind)joint->choice;
        const yk_node *coordinate = yk_node_get(term, "coordinate");
        made->motion = yk_joint_traits_of(kind)->motion;
        if (coordinate)
            made->motion = coordinate->choice == 0 ? YK_MOTION_ROTATION : YK_MOTION_TRANSLATION;
        if (made->motion == YK_MOTION_NONE)
            note(r, yk_builder_error(r->builder, yk_node_get(term, "joint"),
                                     "a %s joint has no single coordinate: give 'coordinate', or "
                                     "name a revolute, cylindrical, prismatic or in-line joint",
                                     yk_joint_kind_name(kind)));
        if (made->ratio == 0)
            note(r, yk_builder_error(r->builder, term,
                                     "the ratio of a term must not be zero: leave out the term"));
    }
}

static yk_vec3 global_point(reader *r, yk_body_id body, yk_vec3 offset)
{
    yk_motion pose = r->ops->pose(r->model, body);
    return yk_v3_add(pose.position, yk_q_rotate(pose.orientation, offset));
}

/* The parts of a rope between its points. */
static void read_path(reader *r, const yk_node *item, coupling_terms *terms)
{
    const yk_node *before = NULL;
    for (const yk_node *point = yk_node_items(item, "path"); point; point = point->next) {
        if (before) {
            coupling_term part = {.ratio = 1, .motion = YK_MOTION_NONE};
            const yk_node *const ends[2] = {before, point};
            for (int side = 0; side < 2; side++) {
                part.bodies[side] = find(r, yk_node_get(ends[side], "body"));
                part.markers[side] = yk_marker_default();
                part.markers[side].offset = yk_node_vector(ends[side], "offset");
            }

            if (part.bodies[0].index == YK_NO_ID || part.bodies[1].index == YK_NO_ID)
                return;
            if (part.bodies[0].index == part.bodies[1].index)
                terms->fixed_length +=
                    yk_v3_norm(yk_v3_sub(part.markers[1].offset, part.markers[0].offset));
            else
                terms->list[terms->count++] = part;
        }
        before = point;
    }
}

/* The sum at the start. */
static double sum_at_start(reader *r, const coupling_terms *terms)
{
    double sum = 0;
    for (int i = 0; i < terms->count; i++) {
        const coupling_term *term = &terms->list[i];
        yk_frame frame[2];
        for (int side = 0; side < 2; side++) {
            yk_motion pose = r->ops->pose(r->model, term->bodies[side]);
            frame[side] = (yk_frame){.position = pose.position,
                                     .rotation = yk_q_matrix(yk_q_unit(pose.orientation))};
        }

        yk_joint joint = yk_joint_make(YK_JOINT_FIXED, &term->markers[0], &term->markers[1], 0);
        yk_joint_reading reading = yk_joint_read(&joint, &frame[0], &frame[1]);
        double value = reading.displacement;
        if (term->motion == YK_MOTION_ROTATION)
            value = reading.angle;
        if (term->motion == YK_MOTION_NONE)
            value =
                yk_v3_norm(yk_v3_sub(global_point(r, term->bodies[1], term->markers[1].offset),
                                     global_point(r, term->bodies[0], term->markers[0].offset)));
        sum += term->ratio * value;
    }

    return sum;
}

/* Terms after the first have names with a number. */
static const char *term_name(reader *r, const yk_node *item, int i)
{
    const char *name = yk_node_name(item);
    if (i == 0)
        return name;

    size_t bytes = strlen(name) + 16;
    char *numbered = yk_builder_take(r->builder, bytes);
    if (!numbered) {
        note(r, YK_ERROR_MEMORY);
        return name;
    }

    snprintf(numbered, bytes, "%s.%d", name, i + 1);
    return numbered;
}

static void add_equation(reader *r, const yk_node *item, const coupling_terms *terms)
{
    static const yk_joint_kind kinds[] = {
        [YK_MOTION_NONE] = YK_JOINT_COUPLED_DISTANCE,
        [YK_MOTION_ROTATION] = YK_JOINT_COUPLED_ROTATION,
        [YK_MOTION_TRANSLATION] = YK_JOINT_COUPLED_TRANSLATION,
    };
    yk_joint_id first = YK_NULL_JOINT;
    for (int i = 0; i < terms->count && r->status == YK_OK; i++) {
        const coupling_term *term = &terms->list[i];
        yk_joint_def joint = yk_joint_default();
        joint.name = term_name(r, item, i);
        joint.kind = kinds[term->motion];
        memcpy(joint.bodies, term->bodies, sizeof joint.bodies);
        memcpy(joint.markers, term->markers, sizeof joint.markers);
        joint.ratio = term->ratio;
        joint.adds_to = first;
        if (i == 0)
            note(r, yk_builder_function(r->builder, item, "drive", &joint.drive));
        yk_joint_id id = add_joint(r, item, &joint);
        if (i == 0)
            first = id;
    }
}

static void add_elastic(reader *r, const yk_node *item, const coupling_terms *terms,
                        yk_force_def *law)
{
    static const yk_force_kind kinds[] = {
        [YK_MOTION_NONE] = YK_FORCE_SPRING,
        [YK_MOTION_ROTATION] = YK_FORCE_MOTOR,
        [YK_MOTION_TRANSLATION] = YK_FORCE_LINEAR_MOTOR,
    };
    yk_force_id first = YK_NULL_FORCE;
    for (int i = 0; i < terms->count && r->status == YK_OK; i++) {
        const coupling_term *term = &terms->list[i];
        yk_force_def force = yk_force_default();
        if (i == 0)
            force = *law;
        force.name = term_name(r, item, i);
        force.kind = kinds[term->motion];

        memcpy(force.bodies, term->bodies, sizeof force.bodies);
        memcpy(force.markers, term->markers, sizeof force.markers);
        force.ratio = term->ratio;
        force.adds_to = first;
        yk_force_id id = add_force(r, item, &force);
        if (i == 0)
            first = id;
    }
}

static void read_coupling(reader *r, const yk_node *item)
{
    enum { RIGID, ELASTIC, ROPE };
    coupling_terms terms = {0};
    if (item->choice == ROPE)
        read_path(r, item, &terms);
    read_terms(r, item, &terms);
    if (r->status != YK_OK)
        return;

    if (terms.count == 0) {
        note(r,
             yk_builder_error(r->builder, item,
                              "all points of the rope are on one body: name a point of another"));
        return;
    }
    if (item->choice == RIGID) {
        add_equation(r, item, &terms);
        return;
    }

    yk_force_def law = yk_force_default();
    law.name = yk_node_name(item);
    law.terms.resists = true;
    note(r, yk_option_read_all(r->builder, coupling_variants[item->choice]->options, item, &law));
    law.free_length = sum_at_start(r, &terms);
    if (item->choice == ROPE) {
        law.terms.sides = YK_SIDES_TENSION;
        law.free_length -= yk_node_number(item, "pretension") / law.stiffness;
        const yk_node *length = yk_node_get(item, "free_length");
        if (length)
            law.free_length = length->value - terms.fixed_length;
    } else {
        read_load(r, item, &law);
        read_characteristic(r, item, &law);
    }

    if (r->status == YK_OK)
        add_elastic(r, item, &terms, &law);
}

/* All ------------------------------------------------------------------------------------------ */

static void read_port(reader *r, const yk_node *item)
{
    enum { MARKER };
    yk_port_def port = yk_port_default();
    port.name = yk_node_name(item);

    /* A frame on one body, or the distance of two frames. */
    if (item->choice == MARKER) {
        port.bodies[0] = find(r, yk_node_get(item, "body"));
        port.markers[0] = yk_read_marker(item);
    } else {
        port.kind = YK_PORT_SCALAR;
        read_pair(r, item, port.bodies, port.markers);
    }

    if (r->status == YK_OK)
        add_port(r, item, &port);
}

yk_status yk_read_mechanism(yk_builder *builder, const yk_node *section,
                            const yk_mechanism_ops *ops, void *model)
{
    reader r = {.builder = builder, .section = section, .ops = ops, .model = model};

    /* At most one signal port per force. */
    const yk_node *forces = yk_node_get(section, "forces");
    const yk_node *couplings = yk_node_get(section, "couplings");
    const yk_node *joints = yk_node_get(section, "joints");
    size_t most_inputs = forces ? (size_t)forces->count : 0;
    most_inputs += couplings ? (size_t)couplings->count : 0;
    most_inputs += joints ? (size_t)joints->count : 0;
    r.input_names = yk_builder_take(builder, (most_inputs + 1) * sizeof *r.input_names);
    r.inputs = yk_builder_take(builder, (most_inputs + 1) * sizeof *r.inputs);
    if (!r.input_names || !r.inputs)
        return YK_ERROR_MEMORY;

    /* Ports come before joints and forces, whose signals follow them in the list of ports. */
    for_all(&r, "ports", read_port);
    for_all(&r, "joints", read_joint);
    for_all(&r, "forces", read_force);
    for_all(&r, "couplings", read_coupling);

    return r.status;
}

/* Numbers -------------------------------------------------------------------------------------- */

yk_status yk_read_six_by_six(yk_builder *builder, const yk_node *item, const char *key,
                             double matrix[6][6])
{
    const yk_node *list = yk_node_get(item, key);
    if (list->value_count != 6 && list->value_count != 36)
        return yk_builder_error(builder, list, "expected 6 or 36 numbers, not %d",
                                list->value_count);

    /* The diagonal, or all entries by rows. */
    if (list->value_count == 6) {
        for (int i = 0; i < 6; i++)
            matrix[i][i] = list->values[i];
    } else {
        for (int i = 0; i < 36; i++)
            matrix[i / 6][i % 6] = list->values[i];
    }

    return YK_OK;
}

yk_status yk_read_inertia(yk_builder *builder, const yk_node *inertia, yk_mat3 *tensor)
{
    memcpy(tensor->m, inertia->values, sizeof tensor->m);
    char why[240];
    if (yk_inertia_possible(tensor, why, sizeof why))
        return YK_OK;

    return yk_builder_error(builder, inertia, "no body has this inertia tensor: %s", why);
}
