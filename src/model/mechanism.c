/* Joints, forces and ports of mechanical models: the schema of their items, and the reader that
 * adds them to a model under construction. */
#include "model/registry.h"

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
static const yk_option no_fields[] = {{0}};
static const yk_option length_fields[] = {{"distance", YK_OPTION_FUNCTION, "m", .required = true,
                                           .description = "distance of the two origins"},
                                          {0}};
static const yk_option radius_fields[] = {{"radius", YK_OPTION_NUMBER, "m", .required = true,
                                           .range = YK_POSITIVE, .description = "of the disc"},
                                          {0}};
static const yk_option angle_fields[] = {
    {"angle", YK_OPTION_FUNCTION, "rad", .required = true,
     .description = "angle of the second marker about the z axis, function of time"},
    {0}};
static const yk_option position_fields[] = {
    {"displacement", YK_OPTION_FUNCTION, "m", .required = true,
     .description = "of the second along the first's z axis"},
    {0}};
static const yk_option spin_fields[] = {{"angular_velocity", YK_OPTION_FUNCTION, "rad/s",
                                         .required = true,
                                         .description = "of the second about the first's z axis"},
                                        {0}};
static const yk_option speed_fields[] = {{"velocity", YK_OPTION_FUNCTION, "m/s", .required = true,
                                          .description = "of the second along the first's z axis"},
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
                                 .section = &pair_section,
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
    {"expression", YK_OPTION_TEXT, .required = true,
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

static const yk_option spring_fields[] = {
    YK_INCLUDE(pair_section),
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
    YK_INCLUDE(load_keys),
    {0}};
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
    &spring_law, &torsion_law, &bushing_law, &motor_law, &force_law, &torque_law, NULL};
/* Meanings of the variants. */
static const yk_force_kind force_kinds[] = {YK_FORCE_SPRING,  YK_FORCE_TORSION_SPRING,
                                            YK_FORCE_BUSHING, YK_FORCE_MOTOR,
                                            YK_FORCE_FORCE,   YK_FORCE_TORQUE};

const yk_option yk_force_item = {"force", YK_OPTION_VARIANT, .variants = force_variants,
                                 .selector = "type", .description = "A force law"};

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
    int *inputs;
    int input_count;
    yk_status status; /* status of the first error */
} reader;

static void note(reader *r, yk_status status)
{
    if (r->status == YK_OK && YK_FAILED(status))
        r->status = status;
}

/* Reports the solver's message about an invalid part at its item. */
static int added(reader *r, const yk_node *item, int id)
{
    const char *message = yk_last_message(yk_builder_context(r->builder));
    if (id < 0)
        note(r, yk_builder_error(r->builder, item, "%s", message));
    return id;
}

static int find(reader *r, const yk_node *reference)
{
    int body = r->ops->find(r->model, reference);
    if (body == YK_NO_ID)
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
static void read_pair(reader *r, const yk_node *item, int body[2], yk_marker marker[2])
{
    /* The two bodies, which must differ. */
    const yk_node *between = yk_node_get(item, "between");
    for (int side = 0; side < 2; side++)
        body[side] = find(r, yk_node_at(between, side));
    if (body[0] == YK_NO_ID || body[1] == YK_NO_ID)
        return;
    if (body[0] == body[1])
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

static void read_joint(reader *r, const yk_node *item)
{
    yk_joint_def joint = yk_joint_default();
    joint.name = yk_node_name(item);
    joint.kind = (yk_joint_kind)item->choice;
    read_pair(r, item, joint.bodies, joint.markers);

    /* Its drive: a number or a function of time; for a distance the number is its length. */
    const char *drive_key = yk_joint_traits_of(joint.kind)->drive.name;
    const yk_node *drive = drive_key ? yk_node_get(item, drive_key) : NULL;
    bool constant = drive && drive->value_count == 1;
    if (joint.kind == YK_JOINT_DISTANCE && constant)
        joint.length = drive->value;
    else if (drive)
        note(r, yk_builder_function_of(r->builder, drive, &joint.drive));

    /* A drive that is constantly zero is a drive too. */
    if (drive && !joint.drive.evaluate && joint.kind != YK_JOINT_DISTANCE)
        joint.drive.evaluate = always_zero;

    /* Further keys of the kind. */
    if (joint.kind == YK_JOINT_ROLLING)
        joint.length = yk_node_number(item, "radius");

    for (const yk_node *axis = yk_node_items(item, "constrained_axes"); axis; axis = axis->next)
        joint.constrained_axes |= 1u << axis->choice;
    if (r->status == YK_OK)
        added(r, item, r->ops->add_joint(r->model, &joint));
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
static int find_input(reader *r, const yk_node *input)
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
    int id = added(r, input, r->ops->add_port(r->model, &port));
    r->input_names[r->input_count] = input->text;
    r->inputs[r->input_count++] = id;

    return id;
}

/* Bodies and markers of the joint that a motor drives, and whether it pushes or rotates. */
static void read_motor(reader *r, const yk_node *item, yk_force_def *force)
{
    /* The joint by its name. */
    const yk_node *reference = yk_node_get(item, "joint");
    const yk_node *joints = yk_node_get(r->section, "joints");
    const yk_names *names = yk_builder_names(r->builder, joints);
    if (!names) {
        note(r, YK_ERROR_MEMORY);
        return;
    }

    int index = yk_builder_find(r->builder, names, reference, "joint", NULL);
    if (index < 0) {
        note(r, YK_ERROR_INPUT);
        return;
    }

    /* It acts at the place of the joint, along its free motion. */
    const yk_node *joint = yk_node_at(joints, index);
    yk_joint_kind kind = (yk_joint_kind)joint->choice;
    read_pair(r, joint, force->bodies, force->markers);

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

static void read_force(reader *r, const yk_node *item)
{
    yk_force_def force = yk_force_default();
    force.name = yk_node_name(item);
    force.kind = force_kinds[item->choice];

    /* The load: a signal, a feedback, or a function of time. */
    const yk_node *input = yk_node_get(item, "signal_port");
    const yk_node *feedback = yk_node_get(item, "feedback");
    const yk_node *load = yk_node_get(item, "load");
    if (!load)
        load = yk_node_get(item, "factor");
    if (input)
        force.signal_port = find_input(r, input);
    else if (feedback)
        read_feedback(r, feedback, &force.feedback);
    else if (load)
        note(r, yk_builder_function_of(r->builder, load, &force.load));

    /* Its ends, and its law. */
    const yk_node *on = yk_node_get(item, "body");
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
    case YK_FORCE_BUSHING:
        read_pair(r, item, force.bodies, force.markers);
        note(r, yk_read_six_by_six(r->builder, item, "stiffness", force.bushing_stiffness));
        note(r, yk_read_six_by_six(r->builder, item, "damping", force.bushing_damping));
        break;
    default:
        /* A force or a torque on one body, with a vector that may follow its marker. */
        force.bodies[1] = find(r, on);
        if (force.bodies[1] == YK_GROUND)
            note(r,
                 yk_builder_error(r->builder, on, "the ground does not move: name a body or node"));

        force.markers[1] = yk_read_marker(item);
        force.vector = yk_node_vector(item, "vector");
        bool follows = yk_node_boolean(item, "follower");
        if (follows && force.kind == YK_FORCE_FORCE)
            force.kind = YK_FORCE_FOLLOWER_FORCE;
        if (follows && force.kind == YK_FORCE_TORQUE)
            force.kind = YK_FORCE_FOLLOWER_TORQUE;
    }

    /* After an error, forces are checked but not added. */
    if (r->status == YK_OK)
        added(r, item, r->ops->add_force(r->model, &force));
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
        added(r, item, r->ops->add_port(r->model, &port));
}

yk_status yk_read_mechanism(yk_builder *builder, const yk_node *section,
                            const yk_mechanism_ops *ops, void *model)
{
    reader r = {.builder = builder, .section = section, .ops = ops, .model = model};

    /* At most one signal port per force. */
    const yk_node *forces = yk_node_get(section, "forces");
    size_t most_inputs = forces ? (size_t)forces->count : 0;
    r.input_names = yk_builder_take(builder, (most_inputs + 1) * sizeof *r.input_names);
    r.inputs = yk_builder_take(builder, (most_inputs + 1) * sizeof *r.inputs);
    if (!r.input_names || !r.inputs)
        return YK_ERROR_MEMORY;

    /* Ports come before forces, whose signals follow them in the list of ports. */
    for_all(&r, "joints", read_joint);
    for_all(&r, "ports", read_port);
    for_all(&r, "forces", read_force);

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
