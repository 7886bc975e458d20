/* Reader of MuJoCo models (XML reference at mujoco.readthedocs.io): nested bodies, each with the
 * joints that connect it to its parent, and geoms that define shapes and, if a body has no
 * <inertial>, mass. Attributes that an element does not have come from its default class and the
 * classes that contain this class.
 *
 * Supported: compiler, option, default, include, asset/mesh, body, frame, inertial, joint,
 * freejoint, geom, site, equality/connect and weld, actuators on joints. A note is added for
 * everything else. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "interop/interop.h"
#include "interop/robots/link_tree.h"
#include "math/so3.h"

enum { NESTING_MAX = 200 };

typedef struct reader {
    yk_robot *robot;
    yk_xml_element *root;
    bool degrees;
    const char *euler_axes; /* Lower case: rotated axes, upper case: fixed axes. */
    const char *mesh_folder;
    enum { MASS_AUTOMATIC, MASS_OF_GEOMS, MASS_GIVEN } mass_source;
} reader;

/* Location of an element in the tree: its link, its frame, and the class of its defaults. */
typedef struct place {
    int link;
    yk_pose pose;
    const char *class;
    int depth;
} place;

/* Attributes with defaults --------------------------------------------------------------------- */

/* Finds the <default> of a class, and in *around the one that contains it. */
static const yk_xml_element *find_class(const yk_xml_element *at, const yk_xml_element *outer,
                                        const char *class, const yk_xml_element **around)
{
    for (; at; at = at->next) {
        if (!yk_xml_is(at, "default"))
            continue;

        /* The outermost class may have no name. It is then "main". */
        const char *name = yk_xml_attribute_of(at, "class");
        if (!name)
            name = "main";
        if (strcmp(name, class) == 0) {
            *around = outer;
            return at;
        }

        const yk_xml_element *inner = find_class(at->first, at, class, around);
        if (inner)
            return inner;
    }
    return NULL;
}

static const char *look_up(const reader *r, const yk_xml_element *element, const place *at,
                           const char *name)
{
    const char *value = yk_xml_attribute_of(element, name);

    /* The class of the element, or that of the body that contains it. */
    const char *class = yk_xml_attribute_of(element, "class");
    if (!class && at)
        class = at->class;
    if (!class)
        class = "main";

    /* Search from the class outwards. */
    while (!value && class) {
        const yk_xml_element *around = NULL;
        const yk_xml_element *defaults = find_class(r->root->first, NULL, class, &around);
        const yk_xml_element *of = NULL;
        if (defaults)
            of = yk_xml_child(defaults, element->name);

        if (of)
            value = yk_xml_attribute_of(of, name);

        class = NULL;
        if (around) {
            class = yk_xml_attribute_of(around, "class");
            if (!class)
                class = "main";
        }
    }

    return value;
}

/* Numbers of an attribute, from the element or its defaults. Values of an absent attribute do
 * not change. */
typedef struct request {
    const char *name;
    double *values;
    int least, most;
    int *count; /* Receives the number of values; may be NULL. */
} request;

static yk_status read_numbers(reader *r, const yk_xml_element *element, const place *at,
                              const request *requests, int request_count)
{
    for (int i = 0; i < request_count; i++) {
        const request *wanted = &requests[i];
        if (wanted->count)
            *wanted->count = 0;

        const char *text = look_up(r, element, at, wanted->name);
        if (!text)
            continue;

        yk_status status =
            yk_import_read_numbers(r->robot->import, element, wanted->name, text, wanted->values,
                                   wanted->least, wanted->most, wanted->count);
        if (status != YK_OK)
            return status;
    }
    return YK_OK;
}

#define READ_NUMBERS(r, element, at, requests) \
    read_numbers(r, element, at, requests, (int)(sizeof(requests) / sizeof *(requests)))

/* Converts an angle of the file to radians. */
static double angle(const reader *r, double value)
{
    if (r->degrees)
        return value * YK_PI / 180;
    return value;
}

/* Poses ---------------------------------------------------------------------------------------- */

/* The shortest rotation that turns z into the direction. */
static yk_quat quat_of_z(yk_vec3 z)
{
    /* The rotation vector is normal to both, and its length is the angle between them. */
    yk_vec3 axis = yk_v3_cross(yk_v3(0, 0, 1), z);
    double sine = yk_v3_norm(axis);
    if (!(sine > 1e-14) && z.z < 0)
        return (yk_quat){0, 1, 0, 0};
    if (!(sine > 1e-14))
        return yk_q_identity();

    return yk_so3_exp(yk_v3_scale(atan2(sine, z.z) / sine, axis));
}

static yk_status read_pose(reader *r, const yk_xml_element *element, const place *at, yk_pose *pose)
{
    double p[3] = {0}, q[4] = {1, 0, 0, 0}, a[4] = {0}, e[3] = {0}, xy[6] = {0}, z[3] = {0};
    int quat, axis_angle, euler, axes, z_axis;

    const request requests[] = {{"pos", p, 3, 3, NULL},
                                {"quat", q, 4, 4, &quat},
                                {"axisangle", a, 4, 4, &axis_angle},
                                {"euler", e, 3, 3, &euler},
                                {"xyaxes", xy, 6, 6, &axes},
                                {"zaxis", z, 3, 3, &z_axis}};

    yk_status status = READ_NUMBERS(r, element, at, requests);
    if (status != YK_OK)
        return status;

    /* An orientation has one of five forms. */
    *pose = (yk_pose){yk_v3(p[0], p[1], p[2]), yk_q_identity()};
    if (quat)
        pose->orientation = yk_q_unit((yk_quat){q[0], q[1], q[2], q[3]});
    if (axis_angle) {
        yk_vec3 axis = yk_v3_unit(yk_v3(a[0], a[1], a[2]));
        pose->orientation = yk_so3_exp(yk_v3_scale(angle(r, a[3]), axis));
    }

    /* The letters of the sequence name the axes. Lower case: rotated axes, upper case: fixed
     * axes. */
    for (int k = 0; euler && k < 3; k++) {
        char letter = r->euler_axes[k];
        yk_vec3 axis = {letter == 'x' || letter == 'X', letter == 'y' || letter == 'Y',
                        letter == 'z' || letter == 'Z'};

        yk_quat next = yk_so3_exp(yk_v3_scale(angle(r, e[k]), axis));
        bool about_rotated_axis = letter >= 'a';
        if (about_rotated_axis)
            pose->orientation = yk_q_mul(pose->orientation, next);
        else
            pose->orientation = yk_q_mul(next, pose->orientation);
    }

    /* If the two axes are not perpendicular, the second one is corrected. */
    if (axes) {
        yk_vec3 x = yk_v3_unit(yk_v3(xy[0], xy[1], xy[2]));
        yk_vec3 y = yk_v3(xy[3], xy[4], xy[5]);
        y = yk_v3_unit(yk_v3_axpy(-yk_v3_dot(x, y), x, y));
        pose->orientation = yk_so3_quat(yk_m3_columns(x, y, yk_v3_cross(x, y)));
    }

    /* The z axis alone does not determine the rotation about it. */
    if (z_axis)
        pose->orientation = quat_of_z(yk_v3_unit(yk_v3(z[0], z[1], z[2])));

    /* A zero vector or quaternion is not a rotation. */
    if (!(fabs(yk_q_norm(pose->orientation) - 1) < 1e-6))
        return yk_import_fail(r->robot->import, element, "the orientation of <%s> has no direction",
                              element->name);

    return YK_OK;
}

/* Geoms ---------------------------------------------------------------------------------------- */

/* Volume, and the diagonal of the inertia about the center for a density of 1. A capsule is a
 * cylinder and two half balls. */
static double solid(const yk_robot_shape *shape, bool ellipsoid, double inertia[3])
{
    yk_vec3 size = shape->size;
    double r = size.x, l = size.z;
    double volume = 0;

    if (ellipsoid) {
        /* m / 5 (b^2 + c^2) with half axes; below for a box m / 12 (b^2 + c^2) with edges. */
        volume = 4 * YK_PI / 3 * size.x * size.y * size.z;
        inertia[0] = volume / 5 * (size.y * size.y + size.z * size.z);
        inertia[1] = volume / 5 * (size.x * size.x + size.z * size.z);
        inertia[2] = volume / 5 * (size.x * size.x + size.y * size.y);
    } else if (shape->kind == YK_ROBOT_SPHERE) {
        volume = 4 * YK_PI / 3 * r * r * r;
        inertia[0] = inertia[1] = inertia[2] = 0.4 * volume * r * r;
    } else if (shape->kind == YK_ROBOT_BOX) {
        volume = size.x * size.y * size.z;
        inertia[0] = volume / 12 * (size.y * size.y + size.z * size.z);
        inertia[1] = volume / 12 * (size.x * size.x + size.z * size.z);
        inertia[2] = volume / 12 * (size.x * size.x + size.y * size.y);
    } else if (shape->kind == YK_ROBOT_CYLINDER || shape->kind == YK_ROBOT_CAPSULE) {
        /* The centers of the half balls are 3 r / 8 beyond the ends of the cylinder. */
        double middle = YK_PI * r * r * l;
        double ball = 0;
        if (shape->kind == YK_ROBOT_CAPSULE)
            ball = 4 * YK_PI / 3 * r * r * r;

        volume = middle + ball;
        inertia[2] = 0.5 * middle * r * r + 0.4 * ball * r * r;
        inertia[0] =
            middle * (l * l / 12 + r * r / 4) + ball * (0.4 * r * r + 0.375 * l * r + 0.25 * l * l);
        inertia[1] = inertia[0];
    }

    return volume;
}

static yk_status read_mesh_file(reader *r, const yk_xml_element *geom, const char *mesh,
                                yk_robot_shape *shape, bool *take)
{
    *take = false;

    /* Assets may be in several groups, also in included files. */
    for (const yk_xml_element *asset = r->root->first; asset; asset = asset->next) {
        if (!yk_xml_is(asset, "asset"))
            continue;

        for (const yk_xml_element *m = asset->first; m; m = m->next) {
            const char *file = yk_xml_attribute_of(m, "file");
            const char *name = yk_xml_attribute_of(m, "name");
            if (!yk_xml_is(m, "mesh") || !file)
                continue;

            /* The default name is that of the file. */
            const char *stem = file + yk_text_folder(file);
            size_t length = strcspn(stem, ".");
            bool same = strncmp(stem, mesh, length) == 0 && strlen(mesh) == length;
            if (name)
                same = strcmp(name, mesh) == 0;
            if (!same)
                continue;

            /* The solvers scale a mesh equally in all directions. */
            double scale[3] = {1, 1, 1};
            const request wanted[] = {{"scale", scale, 3, 3, NULL}};
            yk_status status = READ_NUMBERS(r, m, NULL, wanted);
            if (status != YK_OK)
                return status;

            shape->kind = YK_ROBOT_MESH;
            shape->folder = r->mesh_folder;
            shape->file = file;
            shape->scale = scale[0];
            *take = scale[0] > 0 && scale[0] == scale[1] && scale[0] == scale[2];

            if (!*take)
                yk_import_add_note(r->robot->import, m,
                                   "mesh '%s': its scale is not one positive number", mesh);
            return YK_OK;
        }
    }

    return yk_import_fail(r->robot->import, geom, "there is no mesh '%s' among the assets", mesh);
}

/* Reads the shape and the mass of a geom. The mass is added to `link`, or ignored. */
static yk_status read_geom(reader *r, const yk_xml_element *geom, const place *at,
                           yk_robot_link *link)
{
    /* A geom with the attribute mesh is a mesh. */
    yk_robot *robot = r->robot;
    const char *type = look_up(r, geom, at, "type");
    const char *mesh = look_up(r, geom, at, "mesh");
    if (!type && mesh)
        type = "mesh";
    else if (!type)
        type = "sphere";

    /* Attributes with MuJoCo's default values. */
    double size[3] = {0}, ends[6] = {0}, friction[3] = {1, 0, 0}, mass = -1, density = 1000;
    double contype = 1, conaffinity = 1;
    int size_count, end_count, mass_count;
    const request requests[] = {
        {"size", size, 1, 3, &size_count},        {"fromto", ends, 6, 6, &end_count},
        {"friction", friction, 1, 3, NULL},       {"mass", &mass, 1, 1, &mass_count},
        {"density", &density, 1, 1, NULL},        {"contype", &contype, 1, 1, NULL},
        {"conaffinity", &conaffinity, 1, 1, NULL}};

    yk_pose own;
    yk_status status = read_pose(r, geom, at, &own);
    if (status == YK_OK)
        status = READ_NUMBERS(r, geom, at, requests);
    if (status != YK_OK)
        return status;

    /* A geom without bits in contype and conaffinity is drawn only. */
    yk_robot_shape shape = {.link = at->link, .friction = friction[0], .scale = 1};
    shape.has_contact = contype != 0 || conaffinity != 0;
    shape.contact_type = (unsigned)contype;
    shape.contact_affinity = (unsigned)conaffinity;

    bool take = true, ellipsoid = false, known = true;

    /* fromto gives center, direction and half length, which is the last size. */
    bool box = strcmp(type, "box") == 0;
    bool three_sizes = box || strcmp(type, "ellipsoid") == 0;
    if (end_count) {
        yk_vec3 from = {ends[0], ends[1], ends[2]};
        yk_vec3 to = {ends[3], ends[4], ends[5]};
        yk_vec3 along = yk_v3_sub(to, from);

        own.position = yk_v3_scale(0.5, yk_v3_add(from, to));
        own.orientation = quat_of_z(yk_v3_unit(along));

        if (three_sizes && size_count < 2)
            size[1] = size[0];
        size[three_sizes ? 2 : 1] = 0.5 * yk_v3_norm(along);
    }

    /* Sizes in the file are halves. */
    if (strcmp(type, "sphere") == 0) {
        shape.kind = YK_ROBOT_SPHERE;
        shape.size = yk_v3(size[0], 0, 0);
        take = size[0] > 0;
    } else if (strcmp(type, "capsule") == 0 || strcmp(type, "cylinder") == 0) {
        shape.kind = YK_ROBOT_CYLINDER;
        if (strcmp(type, "capsule") == 0)
            shape.kind = YK_ROBOT_CAPSULE;
        shape.size = yk_v3(size[0], size[0], 2 * size[1]);
        take = size[0] > 0 && size[1] > 0;
    } else if (box) {
        shape.kind = YK_ROBOT_BOX;
        shape.size = yk_v3_scale(2, yk_v3(size[0], size[1], size[2]));
        take = size[0] > 0 && size[1] > 0 && size[2] > 0;
    } else if (strcmp(type, "plane") == 0) {
        shape.kind = YK_ROBOT_PLANE;
    } else if (strcmp(type, "mesh") == 0) {
        status = read_mesh_file(r, geom, mesh ? mesh : "", &shape, &take);
        if (status != YK_OK)
            return status;
    } else if (strcmp(type, "ellipsoid") == 0) {
        /* No solver has contact with this shape. */
        ellipsoid = true;
        shape.size = yk_v3(size[0], size[1], size[2]);
        yk_import_add_note(robot->import, geom,
                           "shape of an ellipsoid: its mass counts, it touches nothing");
    } else {
        known = false;
        yk_import_add_note(robot->import, geom, "geom of type %s", type);
    }

    if (known && !take && shape.kind != YK_ROBOT_MESH)
        return yk_import_fail(robot->import, geom, "the geom (%s) has no size", type);

    /* Mass and inertia of a homogeneous solid. A plane has none, and meshes are not integrated. */
    shape.pose = yk_robot_place(at->pose, own);
    double diagonal[3] = {0};

    double volume = 0;
    if (known)
        volume = solid(&shape, ellipsoid, diagonal);

    if (link && volume > 0) {
        /* A given mass overrides the density. */
        double of_geom = density * volume;
        if (mass_count)
            of_geom = mass;

        double factor = of_geom / volume;
        yk_mat3 inertia =
            yk_m3_scale(factor, yk_m3_diagonal(diagonal[0], diagonal[1], diagonal[2]));
        yk_import_add_mass(&link->body, of_geom, shape.pose, inertia);
    } else if (link && shape.kind == YK_ROBOT_MESH) {
        yk_import_add_note(robot->import, geom, "mass of mesh '%s': give the body an <inertial>",
                           mesh);
    }

    /* The mass always counts. The geom becomes a shape only if the solvers have one like it. */
    if (!known || ellipsoid || !take)
        return YK_OK;
    if (yk_robot_add_shape(robot, &shape) < 0)
        return YK_ERROR_MEMORY;
    return YK_OK;
}

/* Bodies --------------------------------------------------------------------------------------- */

static yk_status read_joint(reader *r, const yk_xml_element *element, const place *at, int parent,
                            int child)
{
    /* The default type is a hinge. */
    yk_robot *robot = r->robot;

    static const char *const words[] = {"hinge", "slide", "ball", "free"};
    static const int kinds[] = {YK_ROBOT_HINGE, YK_ROBOT_SLIDE, YK_ROBOT_BALL, YK_ROBOT_FREE};

    const char *type = look_up(r, element, at, "type");
    if (yk_xml_is(element, "freejoint"))
        type = "free";
    if (!type)
        type = "hinge";

    int k = 0;
    while (k < 4 && strcmp(words[k], type) != 0)
        k++;
    if (k == 4)
        return yk_import_fail(robot->import, element,
                              "joint of type '%s'; expected hinge, slide, ball or free", type);

    /* Polynomial stiffness and damping have up to five numbers. The first one is linear. */
    double p[3] = {0}, axis[3] = {0, 0, 1}, range[2] = {0}, rest = 0, reference = 0;
    double armature = 0, friction = 0, stiffness[5] = {0}, damping[5] = {0};
    int range_count;

    const request requests[] = {{"pos", p, 3, 3, NULL},
                                {"axis", axis, 3, 3, NULL},
                                {"range", range, 2, 2, &range_count},
                                {"stiffness", stiffness, 1, 5, NULL},
                                {"damping", damping, 1, 5, NULL},
                                {"springref", &rest, 1, 1, NULL},
                                {"ref", &reference, 1, 1, NULL},
                                {"armature", &armature, 1, 1, NULL},
                                {"frictionloss", &friction, 1, 1, NULL}};

    yk_status status = READ_NUMBERS(r, element, at, requests);
    if (status != YK_OK)
        return status;

    /* The default name is that of the body. */
    const char *name = yk_xml_attribute_of(element, "name");
    if (!name)
        name = robot->links[child].name;
    yk_robot_joint joint = {.name = name,
                            .element = element,
                            .kind = kinds[k],
                            .parent = parent,
                            .child = child,
                            .stiffness = stiffness[0],
                            .damping = damping[0]};

    /* Point and axis in the configuration of the file, from which angles are measured. */
    yk_pose point = {yk_v3(p[0], p[1], p[2]), yk_q_identity()};
    joint.point = yk_robot_place(at->pose, point).position;

    yk_vec3 own = yk_v3_unit(yk_v3(axis[0], axis[1], axis[2]));
    joint.axis = yk_q_rotate(at->pose.orientation, own);
    if (!(yk_v3_norm2(own) > 0))
        return yk_import_fail(robot->import, element, "the axis of the joint is zero");

    /* The rest position of the spring is relative to the reference. */
    joint.rest = rest - reference;
    if (joint.kind == YK_ROBOT_HINGE)
        joint.rest = angle(r, joint.rest);

    /* Features that a joint of a scenario does not have. */
    const char *limited = look_up(r, element, at, "limited");

    if (range_count && !(limited && strcmp(limited, "false") == 0))
        yk_import_add_note(robot->import, element, "limits of joint '%s' (%g to %g)", joint.name,
                           range[0], range[1]);

    if (armature != 0)
        yk_import_add_note(robot->import, element, "armature of joint '%s' (%g)", joint.name,
                           armature);
    if (friction != 0)
        yk_import_add_note(robot->import, element, "frictionloss of joint '%s' (%g)", joint.name,
                           friction);
    if (joint.kind == YK_ROBOT_BALL && (joint.stiffness != 0 || joint.damping != 0))
        yk_import_add_note(robot->import, element, "stiffness and damping of ball joint '%s'",
                           joint.name);

    if (yk_robot_add_joint(robot, &joint) < 0)
        return YK_ERROR_MEMORY;
    return YK_OK;
}

static yk_status read_children(reader *r, const yk_xml_element *element, place at, int body);

/* Reads a body with its joints. Several joints of a body act one after another on massless
 * links. */
static yk_status read_body(reader *r, const yk_xml_element *element, const place *parent)
{
    /* The pose of a body has no defaults. */
    yk_robot *robot = r->robot;
    yk_pose own;
    yk_status status = read_pose(r, element, NULL, &own);
    if (status != YK_OK)
        return status;

    const char *name = yk_xml_attribute_of(element, "name");
    if (!name)
        name = "body";

    /* The default class is that of the containing body. */
    const char *class = yk_xml_attribute_of(element, "childclass");
    if (!class)
        class = parent->class;
    place at = {
        .pose = yk_robot_place(parent->pose, own), .class = class, .depth = parent->depth + 1};

    int joint_count = 0;
    for (const yk_xml_element *e = element->first; e; e = e->next)
        joint_count += yk_xml_is(e, "joint") || yk_xml_is(e, "freejoint");

    /* Links are in the order of the joints. The last one is the body. */
    int before = parent->link, index = before;
    const yk_xml_element *joint = element->first;

    for (int k = 0; k == 0 || k < joint_count; k++) {
        yk_robot_link link = {.name = name,
                              .element = element,
                              .pose = at.pose,
                              .body.center = at.pose.position,
                              .into = robot->link_count};

        index = yk_robot_add_link(robot, &link);
        if (index < 0)
            return YK_ERROR_MEMORY;

        /* A body without joints is fixed to its parent. */
        if (joint_count == 0) {
            yk_robot_joint weld = {.name = link.name,
                                   .element = element,
                                   .kind = YK_ROBOT_FIXED,
                                   .parent = before,
                                   .child = index};

            if (yk_robot_add_joint(robot, &weld) < 0)
                return YK_ERROR_MEMORY;
            break;
        }

        /* Geoms and bodies may stand between the joints. */
        while (joint && !yk_xml_is(joint, "joint") && !yk_xml_is(joint, "freejoint"))
            joint = joint->next;
        if (!joint)
            break;

        status = read_joint(r, joint, &at, before, index);
        if (status != YK_OK)
            return status;

        joint = joint->next;
        before = index;
    }

    /* The mass is given, or that of the geoms. */
    at.link = index;
    const yk_xml_element *inertial = yk_xml_child(element, "inertial");

    if (inertial && r->mass_source != MASS_OF_GEOMS) {
        double mass = 0, diagonal[3] = {0}, full[6] = {0};
        int mass_count, full_count;
        const request requests[] = {{"mass", &mass, 1, 1, &mass_count},
                                    {"diaginertia", diagonal, 3, 3, NULL},
                                    {"fullinertia", full, 6, 6, &full_count}};
        yk_pose centre;
        status = read_pose(r, inertial, &at, &centre);
        if (status == YK_OK)
            status = READ_NUMBERS(r, inertial, &at, requests);
        if (status != YK_OK)
            return status;

        if (!mass_count)
            return yk_import_fail(robot->import, inertial, "<inertial> has no mass");

        /* The diagonal, or xx yy zz xy xz yz. */
        yk_mat3 inertia = yk_m3_diagonal(diagonal[0], diagonal[1], diagonal[2]);
        if (full_count) {
            const double xx = full[0], yy = full[1], zz = full[2];
            const double xy = full[3], xz = full[4], yz = full[5];
            inertia = (yk_mat3){{{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}}};
        }

        yk_robot_link *link = &robot->links[index];
        yk_import_add_mass(&link->body, mass, yk_robot_place(at.pose, centre), inertia);
    }

    /* Geoms define the mass if the compiler says so, or if nothing else does. */
    bool counts =
        r->mass_source == MASS_OF_GEOMS || (r->mass_source == MASS_AUTOMATIC && !inertial);
    return read_children(r, element, at, counts ? index : YK_ROBOT_GROUND);
}

/* Reads geoms, sites, frames and bodies of an element. `body` is the link that receives the mass
 * of geoms; YK_ROBOT_GROUND: the mass is ignored. */
static yk_status read_children(reader *r, const yk_xml_element *element, place at, int body)
{
    /* These are read with their body, or do not influence the motion. */
    yk_robot *robot = r->robot;
    static const char *const silent[] = {"inertial", "joint", "freejoint", "light", "camera"};
    if (at.depth > NESTING_MAX)
        return yk_import_fail(robot->import, element, "bodies are nested more than %d deep",
                              NESTING_MAX);

    yk_status status = YK_OK;
    for (const yk_xml_element *e = element->first; e && status == YK_OK; e = e->next) {
        bool skip = false;
        for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
            skip = skip || yk_xml_is(e, silent[i]);
        if (skip)
            continue;

        if (yk_xml_is(e, "body")) {
            status = read_body(r, e, &at);
        } else if (yk_xml_is(e, "geom")) {
            /* Take the address each time, because the list of links moves when bodies are added. */
            yk_robot_link *link = body >= 0 ? &robot->links[body] : NULL;
            status = read_geom(r, e, &at, link);
        } else if (yk_xml_is(e, "site")) {
            /* Sites become ports, which need a name. */
            yk_pose own;
            status = read_pose(r, e, &at, &own);
            const char *name = yk_xml_attribute_of(e, "name");
            yk_robot_frame frame = {name, at.link, yk_robot_place(at.pose, own)};
            if (status == YK_OK && name && yk_robot_add_frame(robot, &frame) < 0)
                status = YK_ERROR_MEMORY;
        } else if (yk_xml_is(e, "frame")) {
            /* A frame shifts its content and moves with the body that contains it. */
            yk_pose own;
            status = read_pose(r, e, NULL, &own);

            place inner = at;
            const char *class = yk_xml_attribute_of(e, "childclass");
            inner.pose = yk_robot_place(at.pose, own);
            if (class)
                inner.class = class;
            inner.depth++;

            if (status == YK_OK)
                status = read_children(r, e, inner, body);
        } else {
            yk_import_add_note(robot->import, e, "<%s>", e->name);
        }
    }

    return status;
}

/* Sections next to the bodies ------------------------------------------------------------------ */

/* The link of a body with this name: the last one of its chain. */
static int find_link(const yk_robot *robot, const char *name)
{
    int found = YK_ROBOT_GROUND;
    for (int i = 0; name && i < robot->link_count; i++)
        if (strcmp(robot->links[i].name, name) == 0)
            found = i;
    return found;
}

static yk_status read_equality(reader *r, const yk_xml_element *equality)
{
    yk_robot *robot = r->robot;
    for (const yk_xml_element *e = equality->first; e; e = e->next) {
        bool connect = yk_xml_is(e, "connect");
        const char *name = yk_xml_attribute_of(e, "name");
        const char *first = yk_xml_attribute_of(e, "body1");
        const char *second = yk_xml_attribute_of(e, "body2");

        /* Both bodies must exist, or the second one is the world. */
        int a = find_link(robot, first), b = find_link(robot, second);
        bool found = a >= 0 && (b >= 0 || !second || strcmp(second, "world") == 0);
        if ((!connect && !yk_xml_is(e, "weld")) || !found) {
            yk_import_add_note(robot->import, e, "equality <%s>%s%s", e->name, name ? " " : "",
                               name ? name : "");
            continue;
        }

        /* A ball joint at the anchor, which is in the frame of the first body, or a weld. */
        double anchor[3] = {0};
        const request wanted[] = {{"anchor", anchor, 3, 3, NULL}};
        yk_status status = READ_NUMBERS(r, e, NULL, wanted);
        if (status != YK_OK)
            return status;

        /* The joint closes a loop and does not place a body. */
        yk_pose own = {yk_v3(anchor[0], anchor[1], anchor[2]), yk_q_identity()};
        if (!name)
            name = e->name;
        yk_robot_joint joint = {.name = name,
                                .element = e,
                                .kind = connect ? YK_ROBOT_BALL : YK_ROBOT_FIXED,
                                .parent = b,
                                .child = a,
                                .point = yk_robot_place(robot->links[a].pose, own).position,
                                .axis = {0, 0, 1},
                                .closes = true};

        if (yk_robot_add_joint(robot, &joint) < 0)
            return YK_ERROR_MEMORY;
    }
    return YK_OK;
}

/* Pairs of bodies without contact. <pair> would add contacts, which the scenario finds by
 * itself. */
static yk_status read_contact(reader *r, const yk_xml_element *contact)
{
    yk_robot *robot = r->robot;
    for (const yk_xml_element *e = contact->first; e; e = e->next) {
        if (!yk_xml_is(e, "exclude")) {
            yk_import_add_note(robot->import, e, "contact <%s>", e->name);
            continue;
        }

        const char *first = yk_xml_attribute_of(e, "body1");
        const char *second = yk_xml_attribute_of(e, "body2");
        yk_robot_named_pair pair = {{find_link(robot, first), find_link(robot, second)}};
        if (pair.link[0] < 0 || pair.link[1] < 0) {
            yk_import_add_note(robot->import, e, "<exclude> of bodies '%s' and '%s'",
                               first ? first : "", second ? second : "");
            continue;
        }
        if (yk_robot_add_named_pair(robot, &pair) < 0)
            return YK_ERROR_MEMORY;
    }
    return YK_OK;
}

/* Replaces <include> by the content of the included document. */
static yk_status expand(reader *r, yk_xml_element *element, int depth)
{
    if (depth > NESTING_MAX)
        return yk_import_fail(r->robot->import, element, "elements are nested too deep");

    /* Included files may include others. */
    yk_xml_element **at = &element->first;
    while (*at) {
        yk_xml_element *e = *at;
        if (!yk_xml_is(e, "include")) {
            yk_status status = expand(r, e, depth + 1);
            if (status != YK_OK)
                return status;

            at = &e->next;
            continue;
        }

        /* The path is relative to the folder of the main file. */
        const char *file = yk_xml_attribute_of(e, "file");
        int folder = (int)yk_text_folder(r->root->file);
        char path[4096];
        yk_import *import = r->robot->import;
        if (!file || import->document_count == YK_IMPORT_DOCUMENTS_MAX)
            return yk_import_fail(r->robot->import, e,
                                  "<include> has no file, or there are more than %d",
                                  (int)YK_IMPORT_DOCUMENTS_MAX);

        int length = snprintf(path, sizeof path, "%.*s%s", folder, r->root->file, file);
        if (length >= (int)sizeof path)
            return yk_import_fail(r->robot->import, e, "the path of the included file is too long");

        yk_xml **xml = &import->documents[import->document_count];
        yk_status status = yk_xml_read(import->context, path, xml);
        if (status != YK_OK)
            return status;

        import->document_count++;

        /* The included elements replace <include>, and may include more. */
        *at = yk_xml_root(*xml)->first;
        yk_xml_element **end = at;
        while (*end)
            end = &(*end)->next;
        *end = e->next;
    }

    return YK_OK;
}

static yk_status read_robot(yk_robot *robot, yk_xml_element *root)
{
    static const char *const read_or_of_no_effect[] = {
        "compiler",  "option",  "default",   "asset",    "visual",   "size",
        "statistic", "include", "worldbody", "equality", "actuator", "contact"};
    static const char *const of_little_effect[] = {"fusestatic", "settotalmass", "boundmass",
                                                   "boundinertia"};

    /* MuJoCo's defaults. */
    reader r = {.robot = robot, .root = root, .degrees = true, .euler_axes = "xyz"};

    robot->name = yk_xml_attribute_of(root, "model");
    robot->gravity = yk_v3(0, 0, -9.81);
    robot->step = 0.002;
    /* A body has contact with a static parent, but with no other parent. */
    robot->joints_separate = true;

    yk_status status = expand(&r, root, 0);

    /* Options and compiler settings first, because the other elements depend on them. */
    for (const yk_xml_element *e = root->first; e && status == YK_OK; e = e->next) {
        if (yk_xml_is(e, "option")) {
            double g[3] = {0, 0, -9.81};
            const request requests[] = {{"gravity", g, 3, 3, NULL},
                                        {"timestep", &robot->step, 1, 1, NULL}};
            status = READ_NUMBERS(&r, e, NULL, requests);
            robot->gravity = yk_v3(g[0], g[1], g[2]);

            const yk_xml_element *flag = yk_xml_child(e, "flag");
            const char *filter = flag ? yk_xml_attribute_of(flag, "filterparent") : NULL;
            if (filter)
                robot->joints_separate = strcmp(filter, "disable") != 0;
        }
        if (!yk_xml_is(e, "compiler"))
            continue;

        const char *text = yk_xml_attribute_of(e, "angle");
        if (text)
            r.degrees = strcmp(text, "radian") != 0;

        text = yk_xml_attribute_of(e, "eulerseq");
        if (text && strlen(text) == 3 && strspn(text, "xyzXYZ") == 3)
            r.euler_axes = text;

        /* Meshes have a folder of their own, or share that of all assets. */
        text = yk_xml_attribute_of(e, "meshdir");
        if (!text)
            text = yk_xml_attribute_of(e, "assetdir");
        if (text)
            r.mesh_folder = text;

        text = yk_xml_attribute_of(e, "inertiafromgeom");
        if (text && strcmp(text, "true") == 0)
            r.mass_source = MASS_OF_GEOMS;
        else if (text && strcmp(text, "false") == 0)
            r.mass_source = MASS_GIVEN;

        /* Settings that would change the model, and settings with little effect. */
        text = yk_xml_attribute_of(e, "coordinate");
        if (text && strcmp(text, "global") == 0)
            return yk_import_fail(robot->import, e,
                                  "global coordinates are of MuJoCo before 2.3.3; "
                                  "save the model with a newer one");

        for (size_t i = 0; i < sizeof of_little_effect / sizeof *of_little_effect; i++)
            if (yk_xml_attribute_of(e, of_little_effect[i]))
                yk_import_add_note(robot->import, e, "%s of <compiler>", of_little_effect[i]);
    }

    /* Bodies, from the world outwards. */
    for (const yk_xml_element *e = root->first; e && status == YK_OK; e = e->next) {
        place world = {.link = YK_ROBOT_GROUND, .pose = {.orientation = yk_q_identity()}};
        if (yk_xml_is(e, "worldbody"))
            status = read_children(&r, e, world, YK_ROBOT_GROUND);

        /* Note elements that are not supported and influence the motion. */
        bool known = false;
        for (size_t i = 0; i < sizeof read_or_of_no_effect / sizeof *read_or_of_no_effect; i++)
            known = known || yk_xml_is(e, read_or_of_no_effect[i]);
        if (!known)
            yk_import_add_note(robot->import, e, "<%s>", e->name);
    }

    /* Elements that refer to bodies and joints come last. */
    for (const yk_xml_element *e = root->first; e && status == YK_OK; e = e->next) {
        if (yk_xml_is(e, "equality"))
            status = read_equality(&r, e);
        if (yk_xml_is(e, "contact") && status == YK_OK)
            status = read_contact(&r, e);
        if (!yk_xml_is(e, "actuator"))
            continue;

        for (const yk_xml_element *actuator = e->first; actuator; actuator = actuator->next) {
            /* An actuator may act on a joint. Actuators on tendons and sites have none. */
            const char *name = yk_xml_attribute_of(actuator, "joint");
            yk_robot_joint *joint = NULL;
            for (int i = 0; name && i < robot->joint_count; i++)
                if (strcmp(robot->joints[i].name, name) == 0)
                    joint = &robot->joints[i];

            /* Only hinges and slides can have a motor in a scenario. */
            bool drives = joint && (joint->kind == YK_ROBOT_HINGE || joint->kind == YK_ROBOT_SLIDE);
            if (drives) {
                joint->driven = true;
                yk_import_add_note(robot->import, actuator,
                                   "actuator on joint '%s' is a motor whose load is 0: give it one",
                                   name);
            } else {
                yk_import_add_note(robot->import, actuator, "actuator <%s>", actuator->name);
            }
        }
    }

    return status;
}

static yk_status import_mjcf(yk_import *import, const char *path, yk_xml_element *root)
{
    return yk_robot_import(import, path, root, read_robot);
}

const yk_import_format yk_mjcf_format = {
    .name = "MJCF", .root_element = "mujoco", .read = import_mjcf};
