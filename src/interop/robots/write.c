/* Writes a robot as a scenario with one subsystem, `robot`.
 *
 * With the multibody solver, bodies are placed by the frames of their links, massless nodes
 * separate several joints of a body, and shapes are drawn. With the nonsmooth solver, bodies are
 * placed by their centers of mass, shapes have contact, and several joints of a body must be
 * equivalent to one joint of the solver (find_combined_joint). */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "interop/robots/link_tree.h"
#include "math/so3.h"

/* Names are shortened so that an ending and a number fit. */
enum { NAME_MAX_LENGTH = YK_IMPORT_NAME_BYTES };

typedef struct writer {
    const yk_robot *robot;
    FILE *to;
    bool multibody;
    bool has_types; /* Contact types prevent the contact of some shapes. */
    const char *mesh_folder;
} writer;

/* Texts ---------------------------------------------------------------------------------------- */

static bool is_identity(yk_quat q)
{
    return hypot(hypot(q.x, q.y), q.z) < 1e-12;
}

static bool has_name(const char *a, const char *fallback_a, const char *text)
{
    char other[NAME_MAX_LENGTH];
    yk_import_clean_name(a, fallback_a, other);
    return strcmp(other, text) == 0;
}

/* Names are unique in a subsystem. If several parts have the same name, the n-th one gets the
 * number n. Joints and frames that have the name of a body get an ending. */
static void link_name(const writer *w, int link, char *text)
{
    const yk_robot *robot = w->robot;

    if (link == YK_ROBOT_GROUND) {
        strcpy(text, "ground");
        return;
    }

    /* Its number among the links with this name, and the number of these links. */
    yk_import_clean_name(robot->links[link].name, "body", text);
    int number = 1;
    for (int i = 0; i < link; i++)
        number += has_name(robot->links[i].name, "body", text);

    int same = number;
    for (int i = link; i < robot->link_count; i++)
        same += i > link && has_name(robot->links[i].name, "body", text);

    /* The last link of a name is the body. The others are between its joints. */
    if (number < same)
        snprintf(text + strlen(text), 14, "_%d", number);
}

static void joint_name(const writer *w, int joint, char *text)
{
    const yk_robot *robot = w->robot;
    yk_import_clean_name(robot->joints[joint].name, "joint", text);

    /* Its number among the joints with this name. */
    int number = 1;
    for (int i = 0; i < joint; i++)
        number += has_name(robot->joints[i].name, "joint", text) &&
                  robot->joints[i].kind != YK_ROBOT_FREE;

    /* Bodies and joints of a scenario share one set of names. */
    bool taken = false;
    for (int i = 0; i < robot->link_count; i++)
        taken = taken || has_name(robot->links[i].name, "body", text);
    if (taken)
        strcat(text, "_j");
    if (number > 1)
        snprintf(text + strlen(text), 14, "_%d", number);
}

/* Parts ---------------------------------------------------------------------------------------- */

/* Materials are identified by their friction. */
static int material_of(const writer *w, int shape)
{
    const yk_robot_shape *shapes = w->robot->shapes;
    int number = 1;

    /* Count the materials up to this shape. A friction that occurred before has its number. */
    for (int i = 0; i < shape; i++) {
        if (shapes[i].friction == shapes[shape].friction)
            return material_of(w, i);

        /* The first shape with a friction defines the number of its material. */
        bool first = shapes[i].has_contact;
        for (int k = 0; k < i; k++)
            first = first && !(shapes[k].has_contact && shapes[k].friction == shapes[i].friction);
        number += first;
    }
    return number;
}

/* Shapes of a group have contact with the same groups. A group is a base without contact to some
 * links, or the shapes with the same contact type and affinity if some types do not meet. */
typedef struct contact_group {
    int base; /* A part; YK_ROBOT_GROUND: none. */
    unsigned type, affinity;
} contact_group;

static contact_group group_of(const writer *w, const yk_robot_shape *shape)
{
    contact_group group = {.base = YK_ROBOT_GROUND};
    if (w->has_types) {
        group.type = shape->contact_type;
        group.affinity = shape->contact_affinity;
    }

    int part = yk_robot_part_of(w->robot, shape->owner);
    for (int i = 0; i < w->robot->exclusion_count; i++) {
        const int *pair = w->robot->exclusions[i].part;
        if (yk_robot_is_base(w->robot, part) && (pair[0] == part || pair[1] == part))
            group.base = part;
    }
    return group;
}

static bool same_group(contact_group a, contact_group b)
{
    return a.base == b.base && a.type == b.type && a.affinity == b.affinity;
}

static bool has_types(const yk_robot *robot)
{
    for (int i = 0; i < robot->shape_count; i++) {
        for (int k = 0; k <= i; k++) {
            const yk_robot_shape *a = &robot->shapes[i], *b = &robot->shapes[k];
            if (a->has_contact && b->has_contact && !yk_robot_types_meet(a, b))
                return true;
        }
    }
    return false;
}

static void write_group_name(const writer *w, contact_group group)
{
    char name[NAME_MAX_LENGTH];
    if (group.base >= 0) {
        link_name(w, group.base, name);
        fputs(name, w->to);
    }
    if (w->has_types)
        fprintf(w->to, "%stype_%u_%u", group.base >= 0 ? "_" : "", group.type, group.affinity);
}

/* Writes the group of a shape, and the groups with which it has no contact. */
static void write_group(const writer *w, const yk_robot_shape *shape)
{
    const yk_robot *robot = w->robot;
    contact_group own = group_of(w, shape);
    if (own.base >= 0 || w->has_types) {
        fputs(", collision_group: ", w->to);
        write_group_name(w, own);
    }

    int passed = 0;
    for (int i = 0; i < robot->shape_count; i++) {
        const yk_robot_shape *other = &robot->shapes[i];
        contact_group group = group_of(w, other);
        bool first = other->has_contact;
        for (int k = 0; k < i && first; k++)
            first =
                !robot->shapes[k].has_contact || !same_group(group, group_of(w, &robot->shapes[k]));

        bool excluded = group.base >= 0 &&
                        yk_robot_excludes(robot, yk_robot_part_of(robot, shape->owner), group.base);
        if (!first || !(excluded || !yk_robot_types_meet(shape, other)))
            continue;

        fputs(passed++ == 0 ? ", no_collision_with: [" : ", ", w->to);
        write_group_name(w, group);
    }
    if (passed > 0)
        fputs("]", w->to);
}

/* Writes the pairs of bodies without contact. */
static void write_exclusions(const writer *w)
{
    const yk_robot *robot = w->robot;
    bool any = false;
    for (int i = 0; i < robot->exclusion_count; i++) {
        const int *part = robot->exclusions[i].part;
        if (yk_robot_is_base(robot, part[0]) || yk_robot_is_base(robot, part[1]) ||
            !(robot->links[part[0]].body.mass > 0) || !(robot->links[part[1]].body.mass > 0))
            continue;

        char a[NAME_MAX_LENGTH], b[NAME_MAX_LENGTH];
        link_name(w, part[0], a);
        link_name(w, part[1], b);
        if (!any)
            fprintf(w->to, "    exclusions:\n");
        any = true;
        fprintf(w->to, "      - {between: [%s, %s]}\n", a, b);
    }
}

/* Writes {type: box, ...}: for the multibody solver with a body and an offset, for the nonsmooth
 * solver with a position. */
static void write_shape(const writer *w, int index)
{
    const yk_robot_shape *shape = &w->robot->shapes[index];
    static const char *const words[] = {"sphere", "box", "cylinder", "capsule", "plane", "mesh"};
    FILE *to = w->to;

    fprintf(to, "{type: %s", words[shape->kind]);

    /* Pose in the frame of the body. */
    yk_pose frame = {.orientation = yk_q_identity()};
    if (shape->link >= 0) {
        const yk_robot_link *link = &w->robot->links[shape->link];
        frame = link->pose;
        if (!w->multibody)
            frame.position = link->body.center;
    }

    yk_vec3 offset = yk_v3_sub(shape->pose.position, frame.position);
    offset = yk_q_rotate_back(frame.orientation, offset);
    yk_quat rotation = yk_q_mul(yk_q_conjugate(frame.orientation), shape->pose.orientation);

    if (w->multibody) {
        char name[NAME_MAX_LENGTH];
        link_name(w, shape->link, name);
        fprintf(to, ", body: %s, offset: ", name);
    } else {
        fprintf(to, ", position: ");
    }

    yk_write_vector(to, offset);

    /* The identity is the default. */
    if (!is_identity(rotation)) {
        fputs(", orientation: ", to);
        yk_write_quaternion(to, rotation);
    }

    if (shape->kind == YK_ROBOT_BOX) {
        fputs(", size: ", to);
        yk_write_vector(to, shape->size);

    } else if (shape->kind == YK_ROBOT_MESH) {
        /* The path is relative to the folder of the model or a folder above it, unless it is
         * absolute. */
        const char *folder = w->mesh_folder;
        if (shape->file[0] == '/')
            folder = "";

        fprintf(to, ", file: \"%s%s", folder, shape->above);
        if (shape->folder)
            fprintf(to, "%s/", shape->folder);
        fprintf(to, "%s\", scale: ", shape->file);
        yk_write_number(to, shape->scale);
    } else if (shape->kind != YK_ROBOT_PLANE) {
        fputs(", radius: ", to);
        yk_write_number(to, shape->size.x);
        if (shape->kind != YK_ROBOT_SPHERE) {
            fputs(", length: ", to);
            yk_write_number(to, shape->size.z);
        }
    }

    /* Only the nonsmooth solver has materials and groups. */
    if (!w->multibody && !shape->has_contact)
        fputs(", collides: false", to);
    if (!w->multibody && shape->has_contact)
        fprintf(to, ", material: surface_%d", material_of(w, index));

    if (!w->multibody && shape->has_contact)
        write_group(w, shape);
    fputs("}\n", to);
}

/* Whether a shape is written. Each solver prefers the shapes that were made for it, for contact
 * or for drawing, and takes the others for links that have none. */
static bool is_written(const writer *w, const yk_robot_shape *shape)
{
    /* The nonsmooth solver has no massless bodies. The multibody solver draws no meshes, planes
     * and shapes of the ground. */
    bool can = shape->link < 0 || w->robot->links[shape->link].body.mass > 0;
    if (w->multibody)
        can = shape->link >= 0 && shape->kind != YK_ROBOT_MESH && shape->kind != YK_ROBOT_PLANE;

    bool wanted = !w->multibody;
    if (!can || shape->has_contact == wanted)
        return can;

    /* Shapes of the other kind are used only for a link without shapes of the preferred kind. */
    for (int i = 0; i < w->robot->shape_count; i++) {
        const yk_robot_shape *other = &w->robot->shapes[i];
        if (other->link == shape->link && other->has_contact == wanted)
            return false;
    }
    return true;
}

/* Writes the shapes of a link or of the ground, under a heading if there are any. */
static void write_shapes_of(const writer *w, int link, const char *heading, const char *indent)
{
    bool any = false;
    for (int i = 0; i < w->robot->shape_count; i++) {
        const yk_robot_shape *shape = &w->robot->shapes[i];
        if (shape->link != link || !is_written(w, shape))
            continue;

        if (!any)
            fprintf(w->to, "%s%s:\n", indent, heading);
        any = true;

        fprintf(w->to, "%s  - ", indent);
        write_shape(w, i);
    }
}

static void write_links(const writer *w)
{
    const yk_robot *robot = w->robot;
    FILE *to = w->to;
    char name[NAME_MAX_LENGTH];

    /* Massless links that carry others are nodes. */
    bool heading = false;
    for (int i = 0; w->multibody && i < robot->link_count; i++) {
        const yk_robot_link *link = &robot->links[i];
        if (link->into != i || link->body.mass > 0)
            continue;

        if (!heading)
            fprintf(to, "    nodes:\n");
        heading = true;

        link_name(w, i, name);
        fprintf(to, "      %s: {position: ", name);
        yk_write_vector(to, link->pose.position);
        fputs(", orientation: ", to);
        yk_write_quaternion(to, link->pose.orientation);
        fprintf(to, "}\n");
    }

    /* All other links are bodies. */
    heading = false;
    for (int i = 0; i < robot->link_count; i++) {
        const yk_robot_link *link = &robot->links[i];
        if (link->into != i || !(link->body.mass > 0))
            continue;

        if (!heading)
            fprintf(to, "    bodies:\n");
        heading = true;

        link_name(w, i, name);
        fprintf(to, "      %s:\n        mass: ", name);
        yk_write_number(to, link->body.mass);

        /* Inertia in the axes of the link. */
        yk_mat3 axes = yk_q_matrix(link->pose.orientation);
        yk_mat3 own = yk_m3_rotate(yk_m3_transpose(axes), link->body.inertia);
        /* Remove the asymmetry that the rotation leaves by rounding. */
        own = yk_m3_scale(0.5, yk_m3_add(own, yk_m3_transpose(own)));

        fprintf(to, "\n        inertia: [");
        for (int k = 0; k < 3; k++) {
            yk_write_vector(to, yk_m3_row(&own, k));
            fputs(k < 2 ? ", " : "]\n", to);
        }

        /* The multibody solver places the frame of the link, the nonsmooth solver its center of
         * mass. */
        yk_vec3 origin = link->body.center;
        if (w->multibody)
            origin = link->pose.position;
        yk_vec3 centre =
            yk_q_rotate_back(link->pose.orientation, yk_v3_sub(link->body.center, origin));
        if (w->multibody && yk_v3_norm(centre) > 1e-15) {
            fputs("        center_of_mass: ", to);
            yk_write_vector(to, centre);
            fputs("\n", to);
        }

        fputs("        position: ", to);
        yk_write_vector(to, origin);
        fputs("\n", to);

        if (!is_identity(link->pose.orientation)) {
            fputs("        orientation: ", to);
            yk_write_quaternion(to, link->pose.orientation);
            fputs("\n", to);
        }

        if (!w->multibody)
            write_shapes_of(w, i, "shapes", "        ");
    }
}

/* Joints --------------------------------------------------------------------------------------- */

/* A frame with the given z axis, whose x axis is as close as possible to another direction. */
static yk_quat frame_about(yk_vec3 z, yk_vec3 x)
{
    x = yk_v3_unit(yk_v3_axpy(-yk_v3_dot(x, z), z, x));
    return yk_so3_quat(yk_m3_columns(x, yk_v3_cross(z, x), z));
}

/* Finds one joint that is equivalent to several consecutive joints of a body, for the solver
 * without massless bodies. `first` is the first of `count` joints. False: there is none. */
typedef struct combined {
    const char *type; /* NULL: all motions are free. */
    const char *constrain;
    yk_quat orientation;
    yk_vec3 point;
} combined;

static bool find_combined_joint(const yk_robot_joint *first, int count, combined *out)
{
    /* Sort the axes by kind. */
    yk_vec3 slides[3] = {{0}}, hinges[3] = {{0}};
    int slide_count = 0, hinge_count = 0;
    bool ball = false;

    *out = (combined){.orientation = yk_q_identity(), .point = first->point};
    for (int i = 0; i < count; i++) {
        const yk_robot_joint *joint = &first[i];
        ball = ball || joint->kind == YK_ROBOT_BALL;
        if (joint->kind == YK_ROBOT_SLIDE && slide_count < 3)
            slides[slide_count++] = joint->axis;
        else if (joint->kind == YK_ROBOT_HINGE && hinge_count < 3)
            hinges[hinge_count++] = joint->axis;
        else if (joint->kind != YK_ROBOT_BALL)
            return false;

        /* The position of rotations is decisive, that of translations is not. */
        if (joint->kind != YK_ROBOT_SLIDE)
            out->point = joint->point;
    }

    /* Rotations about different points cannot be combined. */
    for (int i = 0; i < count; i++)
        if (first[i].kind != YK_ROBOT_SLIDE &&
            yk_v3_norm(yk_v3_sub(first[i].point, out->point)) > 1e-9)
            return false;

    /* Three hinges with independent directions are a ball joint. */
    yk_vec3 normal = yk_v3_cross(hinges[0], hinges[1]);
    ball = ball || (hinge_count == 3 && fabs(yk_v3_dot(normal, hinges[2])) > 0.1);

    /* Two slides span a plane, three span space. */
    yk_vec3 across = yk_v3_cross(slides[0], slides[1]);
    bool in_plane = slide_count == 2 && yk_v3_norm(across) > 0.1;
    bool all = slide_count == 3 && fabs(yk_v3_dot(across, slides[2])) > 0.1;

    /* Select the joint that leaves these motions free. */
    if (all && ball) {
        out->type = NULL;
    } else if (all && hinge_count == 0) {
        out->type = "fixed-orientation";
    } else if (slide_count == 0 && ball) {
        out->type = "spherical";
    } else if (slide_count == 0 && hinge_count == 2 &&
               fabs(yk_v3_dot(hinges[0], hinges[1])) < 1e-9) {
        /* The two axes are x and y of the frame. */
        out->type = "universal";
        out->orientation = frame_about(normal, hinges[0]);
    } else if (slide_count == 1 && hinge_count == 1 &&
               yk_v3_norm(yk_v3_cross(slides[0], hinges[0])) < 1e-9) {
        yk_vec3 side, other;
        yk_v3_tangents(slides[0], &side, &other);
        out->type = "cylindrical";
        out->orientation = frame_about(slides[0], side);
    } else if (in_plane && hinge_count == 1 && yk_v3_norm(yk_v3_cross(across, hinges[0])) < 1e-9) {
        /* The axis of the hinge is the normal of the plane. */
        out->type = "planar";
        out->orientation = frame_about(hinges[0], slides[0]);
    } else if (in_plane && hinge_count == 0) {
        out->type = "custom";
        out->constrain = "[z, rx, ry, rz]";
        out->orientation = frame_about(yk_v3_unit(across), slides[0]);
    } else {
        return false;
    }
    return true;
}

/* Number of consecutive joints, from this one on, that lead through massless links to one body
 * with mass. Welds and joints that close loops are not part of a chain. */
static int chain_length(const yk_robot *robot, int joint)
{
    int count = 1;
    while (joint + count < robot->joint_count) {
        const yk_robot_joint *last = &robot->joints[joint + count - 1];
        const yk_robot_joint *next = last + 1;
        bool tree = !last->closes && !next->closes;
        bool movable = last->kind != YK_ROBOT_FIXED && next->kind != YK_ROBOT_FIXED;
        if (!tree || !movable || next->parent != last->child)
            break;
        if (robot->links[last->child].body.mass > 0)
            break;
        count++;
    }
    return count;
}

static void write_between(const writer *w, int parent, int child)
{
    char a[NAME_MAX_LENGTH], b[NAME_MAX_LENGTH];

    link_name(w, parent, a);
    link_name(w, child, b);
    fprintf(w->to, "between: [%s, %s]", a, b);
}

static void write_joints(const writer *w)
{
    const yk_robot *robot = w->robot;
    static const char *const types[] = {"fixed",     "revolute", "prismatic",
                                        "spherical", "planar",   NULL};
    FILE *to = w->to;
    bool heading = false;

    for (int i = 0; i < robot->joint_count; i++) {
        const yk_robot_joint *joint = &robot->joints[i];
        const char *type = types[joint->kind];

        /* Welded links are one body already, and free links need no joint. */
        bool welded = joint->kind == YK_ROBOT_FIXED && !joint->closes;
        if (!type || welded || joint->parent == joint->child)
            continue;

        /* Combine the joints of a chain if massless links are impossible. */
        int count = 1;
        if (!w->multibody)
            count = chain_length(robot, i);
        combined several = {.type = type, .point = joint->point};
        bool by_axis = joint->kind != YK_ROBOT_BALL && joint->kind != YK_ROBOT_FIXED;
        if (count > 1) {
            by_axis = false;
            if (!find_combined_joint(joint, count, &several))
                several.type = NULL;
        }

        /* Without a type the link moves freely. */
        if (several.type) {
            char name[NAME_MAX_LENGTH];
            if (!heading)
                fprintf(to, "    joints:\n");
            heading = true;

            joint_name(w, i, name);
            fprintf(to, "      %s: {type: %s, ", name, several.type);
            write_between(w, joint->parent, joint[count - 1].child);
            fputs(", at: ", to);
            yk_write_vector(to, several.point);

            if (by_axis) {
                fputs(", axis: ", to);
                yk_write_vector(to, joint->axis);
            } else if (count > 1 && !is_identity(several.orientation)) {
                fputs(", orientation: ", to);
                yk_write_quaternion(to, several.orientation);
            }

            if (several.constrain)
                fprintf(to, ", constrained_axes: %s", several.constrain);
            fputs("}\n", to);
        }

        i += count - 1;
    }
}

/* Writes springs, dampers and motors of hinges and slides. */
static void write_forces(const writer *w)
{
    const yk_robot *robot = w->robot;
    FILE *to = w->to;
    bool heading = false;

    for (int i = 0; i < robot->joint_count; i++) {
        const yk_robot_joint *joint = &robot->joints[i];

        /* A combined joint has no springs. */
        bool hinge = joint->kind == YK_ROBOT_HINGE;
        bool single = w->multibody || chain_length(robot, i) == 1;
        single = single && (i == 0 || w->multibody || chain_length(robot, i - 1) == 1);
        bool elastic = joint->stiffness != 0 || joint->damping != 0;
        if ((!hinge && joint->kind != YK_ROBOT_SLIDE) || !single || !(elastic || joint->driven))
            continue;

        char name[NAME_MAX_LENGTH];
        joint_name(w, i, name);

        if (!heading)
            fprintf(to, "    forces:\n");
        heading = true;

        /* The load of a motor is 0. The user replaces it. */
        if (joint->driven)
            fprintf(to, "      %s_motor: {type: motor, joint: %s, load: 0}\n", name, name);
        if (!elastic)
            continue;

        /* A slide is the z direction of a bushing whose other directions are free. */
        const char *type = "torsion-spring";
        yk_vec3 at = joint->point;
        if (!hinge) {
            type = "bushing";
            at = yk_v3_add(joint->point, yk_v3_scale(joint->rest, joint->axis));
        }
        fprintf(to, "      %s_spring: {type: %s, ", name, type);
        write_between(w, joint->parent, joint->child);
        fputs(", at: ", to);
        yk_write_vector(to, at);
        fputs(", axis: ", to);
        yk_write_vector(to, joint->axis);

        /* A torsion spring has one number, a bushing has six. */
        fputs(hinge ? ", stiffness: " : ", stiffness: [0, 0, ", to);
        yk_write_number(to, joint->stiffness);
        fputs(hinge ? ", damping: " : ", 0, 0, 0], damping: [0, 0, ", to);
        yk_write_number(to, joint->damping);

        /* The rest position of a slide is part of the point. */
        if (hinge && joint->rest != 0) {
            fputs(", free_angle: ", to);
            yk_write_number(to, joint->rest);
        }
        fputs(hinge ? "}\n" : ", 0, 0, 0]}\n", to);
    }
}

static void write_ports(const writer *w)
{
    const yk_robot *robot = w->robot;
    FILE *to = w->to;
    bool heading = false;

    for (int i = 0; i < robot->frame_count; i++) {
        const yk_robot_frame *frame = &robot->frames[i];
        /* Only the multibody solver has massless links, as nodes. */
        if (frame->link < 0 || !(robot->links[frame->link].body.mass > 0 || w->multibody))
            continue;

        /* Offsets are relative to the frame that the solver places: that of the link or that of
         * its center of mass. */
        const yk_robot_link *link = &robot->links[frame->link];
        yk_vec3 origin = link->body.center;
        if (w->multibody)
            origin = link->pose.position;
        yk_quat back = yk_q_conjugate(link->pose.orientation);

        /* Frames with equal names get a number. */
        char name[NAME_MAX_LENGTH], on[NAME_MAX_LENGTH];
        yk_import_clean_name(frame->name, "frame", name);
        int number = 1;
        for (int k = 0; k < i; k++)
            number += has_name(robot->frames[k].name, "frame", name);
        if (number > 1)
            snprintf(name + strlen(name), 14, "_%d", number);
        link_name(w, frame->link, on);

        if (!heading)
            fprintf(to, "    ports:\n");
        heading = true;
        fprintf(to, "      %s: {body: %s, offset: ", name, on);
        yk_write_vector(to, yk_q_rotate(back, yk_v3_sub(frame->pose.position, origin)));

        yk_quat rotation = yk_q_mul(back, frame->pose.orientation);
        if (!is_identity(rotation)) {
            fputs(", orientation: ", to);
            yk_write_quaternion(to, rotation);
        }
        fputs("}\n", to);
    }
}

bool yk_robot_needs_contact(const yk_robot *robot)
{
    /* There is a ground with a shape, or a body that would fall through it. */
    for (int i = 0; i < robot->shape_count; i++)
        if (robot->shapes[i].link == YK_ROBOT_GROUND && robot->shapes[i].has_contact)
            return true;

    for (int i = 0; i < robot->joint_count; i++)
        if (robot->joints[i].kind == YK_ROBOT_FREE)
            return true;
    return false;
}

/* Mass fraction of the bodies that the nonsmooth solver needs between joints that cannot be
 * combined. */
static const double SMALL_PART = 0.01;

/* Largest stable step of the spring and damper of a joint with the inertia J of the link about the
 * axis. The spring acts with the angle at the start of the step, the damper with the velocity at
 * its end: h^2 k < 4 J + 2 h c, which has no limit without a spring. */
static double stable_step(const yk_robot *robot, const yk_robot_joint *joint)
{
    const yk_robot_link *link = &robot->links[joint->child];

    /* Inertia against the motion of the joint, about an axis by Steiner's theorem. */
    double inertia = link->body.mass;
    if (joint->kind == YK_ROBOT_HINGE) {
        yk_vec3 arm = yk_v3_sub(link->body.center, joint->point);
        double across = yk_v3_norm2(yk_v3_cross(joint->axis, arm));
        yk_vec3 moment = yk_m3_apply(link->body.inertia, joint->axis);
        inertia = yk_v3_dot(joint->axis, moment) + link->body.mass * across;
    }

    double k = joint->stiffness, c = fmax(0, joint->damping);
    if (!(k > 0))
        return INFINITY;
    return (c + sqrt(c * c + 4 * inertia * k)) / k;
}

yk_status yk_robot_check(yk_robot *robot)
{
    yk_import *import = robot->import;
    bool multibody = import->options.solver == YK_IMPORT_MULTIBODY;
    double step = import->options.step;

    int moving = 0;
    for (int i = 0; i < robot->link_count; i++) {
        yk_robot_link *link = &robot->links[i];
        if (link->into != i || !(link->body.mass > 0))
            continue;

        moving++;
        char name[120];
        snprintf(name, sizeof name, "link '%.100s'", link->name);
        yk_status status =
            yk_import_repair_inertia(import, link->element, name, &link->body, multibody);
        if (status != YK_OK)
            return status;
    }

    if (moving == 0)
        return yk_fail(import->context, YK_ERROR_INPUT,
                       "nothing in the model moves: all links are fixed to the ground, or have no "
                       "mass; --floating-base frees the root of a URDF");

    /* One note for all meshes that are not drawn. */
    int meshes = 0;
    const yk_xml_element *of_mesh = NULL;
    for (int i = 0; i < robot->shape_count && multibody; i++) {
        const yk_robot_shape *shape = &robot->shapes[i];
        if (shape->kind != YK_ROBOT_MESH || shape->link < 0)
            continue;
        if (meshes++ == 0)
            of_mesh = robot->links[shape->link].element;
    }
    if (meshes > 0)
        yk_import_add_note(import, of_mesh,
                           "%d mesh%s from here on: the multibody solver draws none", meshes,
                           meshes == 1 ? "" : "es");

    /* Several joints of a body become one, or get bodies between them. */
    for (int i = 0; i < robot->joint_count && !multibody; i++) {
        const yk_robot_joint *joint = &robot->joints[i];
        if (joint->closes || joint->kind == YK_ROBOT_FIXED)
            continue;

        int count = chain_length(robot, i);
        combined several;

        /* Springs of the nonsmooth solver are explicit and limit the step; dampers do not. */
        if (count == 1 && stable_step(robot, joint) < step)
            yk_import_add_note(import, joint->element,
                               "the spring of joint '%s' needs steps below %.2g s (%g s here); the "
                               "multibody solver takes longer ones",
                               joint->name, stable_step(robot, joint), step);
        if (count == 1)
            continue;

        const yk_robot_link *body = &robot->links[joint[count - 1].child];

        /* A combined joint has no springs and motors of the single joints. */
        if (find_combined_joint(joint, count, &several)) {
            for (int k = 0; k < count; k++)
                if (joint[k].stiffness != 0 || joint[k].damping != 0 || joint[k].driven)
                    yk_import_add_note(
                        import, joint[k].element,
                        "stiffness, damping and motor of joint '%s', which is one of "
                        "several of its link",
                        joint[k].name);
        } else {
            yk_import_add_note(
                import, joint->element,
                "between the %d joints of link '%s' are bodies with %g of its mass; the "
                "multibody solver needs none",
                count, body->name, SMALL_PART);
            for (int k = 0; k < count - 1; k++) {
                yk_robot_link *between = &robot->links[joint[k].child];
                between->body.mass = SMALL_PART * body->body.mass;
                between->body.center = joint[k].point;
                between->body.inertia = yk_m3_scale(SMALL_PART, body->body.inertia);
            }
        }
        i += count - 1;
    }

    return YK_OK;
}

void yk_robot_write(const yk_robot *robot, FILE *to)
{
    const yk_import_options *options = &robot->import->options;
    writer w = {.robot = robot,
                .to = to,
                .multibody = options->solver == YK_IMPORT_MULTIBODY,
                .has_types = has_types(robot),
                .mesh_folder = options->mesh_folder ? options->mesh_folder : ""};

    /* A parameter for the friction of shapes without friction in the model. */
    bool friction = false;
    for (int i = 0; i < robot->shape_count; i++)
        friction = friction || (robot->shapes[i].has_contact && robot->shapes[i].friction < 0);

    /* Notes and title. Characters that would end the text become spaces. */
    yk_import_write_notes(robot->import, to);
    fputs("title: \"", to);
    const char *title = robot->name ? robot->name : "robot";
    while (*title) {
        size_t bytes = yk_text_printable(title);
        bool plain = bytes > 0 && *title != '"' && *title != '\\';
        if (plain)
            fwrite(title, 1, bytes, to);
        else
            fputc(' ', to);
        title += bytes > 0 ? bytes : 1;
    }
    fputs("\"\n\n", to);

    if (!w.multibody && friction)
        fprintf(to, "parameters:\n  friction: 0.5    # the model says nothing of it\n\n");

    fputs("time: {end: ", to);
    yk_write_number(to, options->end);
    fputs(", step: ", to);
    yk_write_number(to, options->step);
    fprintf(to, "}\n\nsubsystems:\n  robot:\n    solver: %s\n    gravity: ",
            w.multibody ? "multibody" : "nonsmooth");
    yk_write_vector(to, robot->gravity);
    fputs("\n", to);

    if (!w.multibody) {
        /* Materials. An unknown friction is a parameter, so that it can be changed in one place. */
        int known = 0;
        for (int i = 0; i < robot->shape_count; i++) {
            const yk_robot_shape *shape = &robot->shapes[i];
            if (!shape->has_contact || material_of(&w, i) <= known)
                continue;

            if (known++ == 0)
                fprintf(to, "    materials:\n");
            fprintf(to, "      surface_%d: {friction: ", known);
            if (shape->friction < 0)
                fputs("friction", to);
            else
                yk_write_number(to, shape->friction);
            fputs("}\n", to);
        }

        write_shapes_of(&w, YK_ROBOT_GROUND, "ground_shapes", "    ");
    }
    write_links(&w);
    if (!w.multibody)
        write_exclusions(&w);
    write_joints(&w);
    write_forces(&w);
    write_ports(&w);

    /* The multibody solver has one list of drawn shapes for all links. */
    if (w.multibody) {
        bool any = false;
        for (int i = 0; i < robot->shape_count; i++) {
            if (!is_written(&w, &robot->shapes[i]))
                continue;
            if (!any)
                fprintf(to, "    shapes:\n");
            any = true;
            fputs("      - ", to);
            write_shape(&w, i);
        }
    }
}
