/* Reader of robots in the Unified Robot Description Format (wiki.ros.org/urdf/XML): a tree of
 * links. The origin of a joint places its child link in the frame of the parent. Lengths are in
 * meters, angles in radians. rpy are rotations about the fixed x, y and z axes, in this order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "interop/interop.h"
#include "interop/robots/link_tree.h"
#include "math/so3.h"

typedef struct reader {
    yk_robot *robot;
    const yk_xml_element *root;
} reader;

static yk_status read_origin(reader *r, const yk_xml_element *of, yk_pose *pose)
{
    /* Without an origin the frame is that of the parent. */
    *pose = (yk_pose){.orientation = yk_q_identity()};
    const yk_xml_element *origin = yk_xml_child(of, "origin");
    if (!origin)
        return YK_OK;

    double xyz[3] = {0}, rpy[3] = {0};

    const char *text = yk_xml_attribute_of(origin, "xyz");
    if (text) {
        yk_status status =
            yk_import_read_numbers(r->robot->import, origin, "xyz", text, xyz, 3, 3, NULL);
        if (status != YK_OK)
            return status;
    }

    text = yk_xml_attribute_of(origin, "rpy");
    if (text) {
        yk_status status =
            yk_import_read_numbers(r->robot->import, origin, "rpy", text, rpy, 3, 3, NULL);
        if (status != YK_OK)
            return status;
    }

    /* Rotate about the fixed axes: roll first, yaw last. */
    yk_quat roll = yk_so3_exp(yk_v3(rpy[0], 0, 0));
    yk_quat pitch = yk_so3_exp(yk_v3(0, rpy[1], 0));
    yk_quat yaw = yk_so3_exp(yk_v3(0, 0, rpy[2]));
    pose->position = yk_v3(xyz[0], xyz[1], xyz[2]);
    pose->orientation = yk_q_mul(yaw, yk_q_mul(pitch, roll));
    return YK_OK;
}

/* Reads a required attribute with one number. */
static yk_status read_number(reader *r, const yk_xml_element *element, const char *name,
                             double *value)
{
    const char *text = yk_xml_attribute_of(element, name);
    if (!text)
        return yk_import_fail(r->robot->import, element, "<%s> has no %s", element->name, name);
    return yk_import_read_numbers(r->robot->import, element, name, text, value, 1, 1, NULL);
}

static const char *name_of(const yk_xml_element *element)
{
    const char *name = yk_xml_attribute_of(element, "name");
    return name ? name : "";
}

/* Shapes --------------------------------------------------------------------------------------- */

static yk_status read_shape(reader *r, const yk_xml_element *element, int link, yk_pose link_pose,
                            bool touches)
{
    yk_pose own;
    yk_status status = read_origin(r, element, &own);
    if (status != YK_OK)
        return status;

    const yk_xml_element *geometry = yk_xml_child(element, "geometry");
    const yk_xml_element *form = NULL;
    if (geometry)
        form = geometry->first;

    if (!form)
        return yk_import_fail(r->robot->import, element, "<%s> has no <geometry>", element->name);

    /* A shape without extent is left out. */
    yk_robot_shape shape = {.link = link,
                            .pose = yk_robot_place(link_pose, own),
                            .has_contact = touches,
                            .friction = -1,
                            .contact_type = 1,
                            .contact_affinity = 1};
    bool take = true;

    if (yk_xml_is(form, "box")) {
        const char *text = yk_xml_attribute_of(form, "size");
        double size[3] = {0};

        status = yk_import_read_numbers(r->robot->import, form, "size", text ? text : "", size, 3,
                                        3, NULL);
        shape.kind = YK_ROBOT_BOX;
        shape.size = yk_v3(size[0], size[1], size[2]);
        take = size[0] > 0 && size[1] > 0 && size[2] > 0;
    } else if (yk_xml_is(form, "sphere")) {
        shape.kind = YK_ROBOT_SPHERE;
        status = read_number(r, form, "radius", &shape.size.x);
        take = shape.size.x > 0;
    } else if (yk_xml_is(form, "cylinder") || yk_xml_is(form, "capsule")) {
        /* Capsules are not part of the format, but some programs write them. */
        shape.kind = YK_ROBOT_CYLINDER;
        if (yk_xml_is(form, "capsule"))
            shape.kind = YK_ROBOT_CAPSULE;
        status = read_number(r, form, "radius", &shape.size.x);
        if (status == YK_OK)
            status = read_number(r, form, "length", &shape.size.z);
        take = shape.size.x > 0 && shape.size.z > 0;
    } else if (yk_xml_is(form, "mesh")) {
        const char *name = yk_xml_attribute_of(form, "filename");
        if (!name)
            return yk_import_fail(r->robot->import, form, "<mesh> has no filename");

        double scale[3] = {1, 1, 1};
        const char *text = yk_xml_attribute_of(form, "scale");
        if (text)
            status =
                yk_import_read_numbers(r->robot->import, form, "scale", text, scale, 3, 3, NULL);
        if (status != YK_OK)
            return status;

        /* A shape that the solver does not have is left out, with the reason. */
        const char *dot = strrchr(name, '.');
        static const char *const known[] = {".stl", ".STL", ".obj", ".OBJ"};
        take = false;
        for (int i = 0; dot && i < 4; i++)
            take = take || strcmp(dot, known[i]) == 0;
        if (!take)
            yk_import_add_note(r->robot->import, form, "mesh '%s': only STL and OBJ are read",
                               name);

        if (scale[0] != scale[1] || scale[0] != scale[2] || !(scale[0] > 0)) {
            yk_import_add_note(r->robot->import, form,
                               "mesh '%s': its scale is not one positive number", name);
            take = false;
        }

        /* In a package: the path below the folder of the package. */
        static const char package[] = "package://", file[] = "file://";
        shape.kind = YK_ROBOT_MESH;
        shape.scale = scale[0];
        shape.file = name;
        if (strncmp(name, package, sizeof package - 1) == 0) {
            const char *inside = strchr(name + sizeof package - 1, '/');
            if (inside)
                shape.file = inside + 1;
        } else if (strncmp(name, file, sizeof file - 1) == 0) {
            shape.file = name + sizeof file - 1;
        }
    } else {
        yk_import_add_note(r->robot->import, form, "shape <%s>", form->name);
        return YK_OK;
    }

    if (status != YK_OK)
        return status;

    /* A mesh has its note already. */
    if (!take) {
        if (shape.kind != YK_ROBOT_MESH)
            yk_import_add_note(r->robot->import, form, "<%s> without extent", form->name);
        return YK_OK;
    }

    if (yk_robot_add_shape(r->robot, &shape) < 0)
        return YK_ERROR_MEMORY;
    return YK_OK;
}

/* Joints --------------------------------------------------------------------------------------- */

static const char *link_named_by(const yk_xml_element *joint, const char *side)
{
    const yk_xml_element *element = yk_xml_child(joint, side);
    const char *name = NULL;

    if (element)
        name = yk_xml_attribute_of(element, "link");
    return name ? name : "";
}

static yk_status read_joint(reader *r, const yk_xml_element *element, int parent, int child,
                            yk_pose pose)
{
    static const struct {
        const char *word;
        int kind;
    } kinds[] = {{"revolute", YK_ROBOT_HINGE},  {"continuous", YK_ROBOT_HINGE},
                 {"prismatic", YK_ROBOT_SLIDE}, {"fixed", YK_ROBOT_FIXED},
                 {"floating", YK_ROBOT_FREE},   {"planar", YK_ROBOT_PLANAR}};

    yk_robot_joint joint = {.name = name_of(element),
                            .element = element,
                            .parent = parent,
                            .child = child,
                            .point = pose.position};

    const char *type = yk_xml_attribute_of(element, "type");
    size_t k = 0;
    while (k < sizeof kinds / sizeof *kinds && type && strcmp(kinds[k].word, type) != 0)
        k++;
    if (!type || k == sizeof kinds / sizeof *kinds)
        return yk_import_fail(r->robot->import, element,
                              "joint '%s' is of type '%s'; expected revolute, continuous, "
                              "prismatic, fixed, floating or planar",
                              joint.name, type ? type : "");

    joint.kind = kinds[k].kind;

    /* The axis is in the frame of the joint. The default is x. */
    double axis[3] = {1, 0, 0};
    const yk_xml_element *direction = yk_xml_child(element, "axis");
    if (direction) {
        const char *text = yk_xml_attribute_of(direction, "xyz");
        yk_status status = yk_import_read_numbers(r->robot->import, direction, "xyz",
                                                  text ? text : "", axis, 3, 3, NULL);
        if (status != YK_OK)
            return status;
    }

    yk_vec3 own = yk_v3_unit(yk_v3(axis[0], axis[1], axis[2]));
    bool needs_axis = joint.kind != YK_ROBOT_FIXED && joint.kind != YK_ROBOT_FREE;
    if (needs_axis && !(yk_v3_norm2(own) > 0))
        return yk_import_fail(r->robot->import, direction, "the axis of joint '%s' is zero",
                              joint.name);

    joint.axis = yk_q_rotate(pose.orientation, own);

    for (const yk_xml_element *e = element->first; e; e = e->next) {
        if (yk_xml_is(e, "dynamics")) {
            if (yk_xml_attribute_of(e, "damping")) {
                yk_status status = read_number(r, e, "damping", &joint.damping);
                if (status != YK_OK)
                    return status;
            }
            const char *friction = yk_xml_attribute_of(e, "friction");
            if (friction && yk_text_number(friction, NULL) != 0)
                yk_import_add_note(r->robot->import, e, "friction of joint '%s'", joint.name);
        } else if (yk_xml_is(e, "limit") && type && strcmp(type, "continuous") != 0) {
            /* Joints of a scenario have no limits. */
            const char *lower = yk_xml_attribute_of(e, "lower");
            const char *upper = yk_xml_attribute_of(e, "upper");
            bool limited = lower || upper;
            if (!lower)
                lower = "0";
            if (!upper)
                upper = "0";
            if (limited)
                yk_import_add_note(r->robot->import, e, "limits of joint '%s' (%s to %s)",
                                   joint.name, lower, upper);
        } else if (yk_xml_is(e, "mimic")) {
            const char *leader = yk_xml_attribute_of(e, "joint");
            yk_import_add_note(r->robot->import, e, "joint '%s' does not follow '%s'", joint.name,
                               leader ? leader : "");
        }
    }

    if (yk_robot_add_joint(r->robot, &joint) < 0)
        return YK_ERROR_MEMORY;
    return YK_OK;
}

/* Trees ---------------------------------------------------------------------------------------- */

/* Reads a link and its descendants, parents first. */
static yk_status read_tree(reader *r, const yk_xml_element *element, yk_pose pose,
                           const yk_xml_element *by, int parent, int depth)
{
    if (depth > 1000)
        return yk_import_fail(r->robot->import, element, "links hang on each other in a ring");

    yk_robot_link link = {.name = name_of(element), .element = element, .pose = pose};
    link.into = r->robot->link_count;
    link.body.center = pose.position;

    /* <inertial> must have a mass. The inertia is about its own origin. */
    yk_status status = YK_OK;
    const yk_xml_element *inertial = yk_xml_child(element, "inertial");
    if (inertial) {
        yk_pose own;
        status = read_origin(r, inertial, &own);
        if (status != YK_OK)
            return status;

        const yk_xml_element *mass = yk_xml_child(inertial, "mass");
        double kilograms = 0;
        if (!mass)
            return yk_import_fail(r->robot->import, inertial,
                                  "<inertial> of link '%s' has no <mass>", link.name);

        status = read_number(r, mass, "value", &kilograms);
        if (status != YK_OK)
            return status;

        if (kilograms < 0)
            return yk_import_fail(r->robot->import, mass, "the mass of link '%s' is negative",
                                  link.name);

        /* The six values are the upper triangle; without <inertia> it is zero. */
        static const char *const names[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
        static const int rows[6] = {0, 1, 2, 0, 0, 1}, columns[6] = {0, 1, 2, 1, 2, 2};
        const yk_xml_element *moments = yk_xml_child(inertial, "inertia");
        yk_mat3 inertia = yk_m3_zero();
        for (int k = 0; moments && k < 6; k++) {
            double value = 0;
            status = read_number(r, moments, names[k], &value);
            if (status != YK_OK)
                return status;

            inertia.m[rows[k]][columns[k]] = inertia.m[columns[k]][rows[k]] = value;
        }

        yk_import_add_mass(&link.body, kilograms, yk_robot_place(link.pose, own), inertia);
    }

    int index = yk_robot_add_link(r->robot, &link);
    if (index < 0)
        return YK_ERROR_MEMORY;

    for (const yk_xml_element *e = element->first; e && status == YK_OK; e = e->next) {
        bool touches = yk_xml_is(e, "collision");
        if (touches || yk_xml_is(e, "visual"))
            status = read_shape(r, e, index, pose, touches);
    }

    if (status == YK_OK && by)
        status = read_joint(r, by, parent, index, pose);

    for (const yk_xml_element *e = r->root->first; e && status == YK_OK; e = e->next) {
        if (!yk_xml_is(e, "joint") || strcmp(link_named_by(e, "parent"), link.name) != 0)
            continue;

        /* The frame of a joint is that of the child link. */
        yk_pose own;
        status = read_origin(r, e, &own);

        const char *child = link_named_by(e, "child");
        const yk_xml_element *next = r->root->first;
        while (next && !(yk_xml_is(next, "link") && strcmp(name_of(next), child) == 0))
            next = next->next;

        if (status == YK_OK && !next)
            status = yk_import_fail(r->robot->import, e,
                                    "joint '%s' has the child '%s', which is no link", name_of(e),
                                    child);

        if (status == YK_OK && next)
            status = read_tree(r, next, yk_robot_place(pose, own), e, index, depth + 1);
    }

    return status;
}

/* Contacts ------------------------------------------------------------------------------------- */

static int find_link(const yk_robot *robot, const char *name)
{
    for (int i = 0; name && i < robot->link_count; i++)
        if (strcmp(robot->links[i].name, name) == 0)
            return i;
    return YK_ROBOT_GROUND;
}

/* <disable_collisions link1="a" link2="b"/> of a semantic description (SRDF). */
static yk_status read_disabled_collisions(yk_robot *robot, const yk_xml_element *root)
{
    for (const yk_xml_element *e = root->first; e; e = e->next) {
        if (!yk_xml_is(e, "disable_collisions"))
            continue;

        const char *first = yk_xml_attribute_of(e, "link1");
        const char *second = yk_xml_attribute_of(e, "link2");
        yk_robot_named_pair pair = {{find_link(robot, first), find_link(robot, second)}};
        if (pair.link[0] < 0 || pair.link[1] < 0) {
            yk_import_add_note(robot->import, e,
                               "<disable_collisions> of '%s' and '%s': not links of the robot",
                               first ? first : "", second ? second : "");
            continue;
        }
        if (yk_robot_add_named_pair(robot, &pair) < 0)
            return YK_ERROR_MEMORY;
    }
    return YK_OK;
}

/* The semantic description of a robot is the file of the same name with the ending .srdf. */
static yk_status read_semantic_file(yk_robot *robot, const char *model)
{
    char path[4096];
    const char *dot = strrchr(model, '.');
    int stem = dot ? (int)(dot - model) : (int)strlen(model);
    int length = snprintf(path, sizeof path, "%.*s.srdf", stem, model);
    if (length >= (int)sizeof path || access(path, R_OK) != 0)
        return YK_OK;

    yk_xml *xml = NULL;
    yk_status status = YK_ERROR_MEMORY;
    if (yk_import_keep_name(robot->import, path))
        status = yk_xml_read(robot->import->context, path, &xml);
    if (status == YK_OK)
        status = read_disabled_collisions(robot, yk_xml_root(xml));
    yk_xml_destroy(xml);
    return status;
}

static yk_status read_robot(yk_robot *robot, yk_xml_element *root)
{
    robot->joints_separate = robot->base_joints_separate = true;
    reader r = {.robot = robot, .root = root};
    robot->name = name_of(root);
    robot->gravity = yk_v3(0, 0, -9.81);

    /* The root is the only link that is not the child of a joint. */
    const yk_xml_element *base = NULL;
    for (const yk_xml_element *e = root->first; e; e = e->next) {
        if (yk_xml_is(e, "transmission") || yk_xml_is(e, "gazebo"))
            yk_import_add_note(robot->import, e, "<%s>", e->name);
        if (!yk_xml_is(e, "link"))
            continue;

        bool child = false;
        for (const yk_xml_element *j = root->first; j && !child; j = j->next)
            child = yk_xml_is(j, "joint") && strcmp(link_named_by(j, "child"), name_of(e)) == 0;
        if (child)
            continue;

        if (base)
            return yk_import_fail(robot->import, e,
                                  "links '%s' and '%s' hang on nothing; a robot has one root",
                                  name_of(base), name_of(e));
        base = e;
    }

    if (!base)
        return yk_import_fail(robot->import, root, "the robot has no root link");

    yk_pose origin = {.orientation = yk_q_identity()};
    yk_status status = read_tree(&r, base, origin, NULL, YK_ROBOT_GROUND, 0);
    if (status != YK_OK)
        return status;

    status = read_disabled_collisions(robot, root);
    if (status == YK_OK)
        status = read_semantic_file(robot, root->file);
    if (status != YK_OK)
        return status;

    /* Link 0, the root, is fixed to the ground unless it floats. */
    yk_robot_joint held = {
        .name = name_of(base), .element = base, .kind = YK_ROBOT_FIXED, .parent = YK_ROBOT_GROUND};
    bool floating = robot->import->options.floating_base;
    if (floating)
        held.kind = YK_ROBOT_FREE;

    if (floating && !(robot->links[0].body.mass > 0))
        yk_import_add_note(robot->import, base,
                           "the root link '%s' floats and has no mass of its own", name_of(base));

    if (yk_robot_add_joint(robot, &held) < 0)
        return YK_ERROR_MEMORY;
    return YK_OK;
}

static yk_status import_urdf(yk_import *import, const char *path, yk_xml_element *root)
{
    return yk_robot_import(import, path, root, read_robot);
}

const yk_import_format yk_urdf_format = {
    .name = "URDF", .root_element = "robot", .read = import_urdf};
