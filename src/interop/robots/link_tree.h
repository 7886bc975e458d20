/* A robot in the form that URDF and MJCF share: links that joints connect, in the configuration of the
 * file, all in global axes and SI units. write.c writes the robot as a scenario.
 *
 * Links without a joint of their own are welded to their parent: yk_robot_finish() makes one link of
 * both, and keeps the frame of the welded link as a port if something can be attached there. */
#ifndef YK_INTEROP_ROBOTS_LINK_TREE_H
#define YK_INTEROP_ROBOTS_LINK_TREE_H

#include "interop/import/importer.h"

enum { YK_ROBOT_GROUND = -1 };

typedef struct yk_robot_shape {
    int link;  /* Link with which it moves, or YK_ROBOT_GROUND. */
    int owner; /* Link to which it belongs in the file, or YK_ROBOT_GROUND. */
    enum {
        YK_ROBOT_SPHERE,   /* size.x: radius */
        YK_ROBOT_BOX,      /* size: edges */
        YK_ROBOT_CYLINDER, /* size.x: radius, size.z: length along z */
        YK_ROBOT_CAPSULE,  /* size.x: radius, size.z: length along z without the caps */
        YK_ROBOT_PLANE,    /* Solid below z = 0. */
        YK_ROBOT_MESH
    } kind;
    yk_pose pose; /* Global. */
    yk_vec3 size;
    const char *folder; /* Of a mesh, relative to the folder of the model; NULL: the same. */
    const char *file;   /* Of a mesh; an absolute path, or one relative to the folder. */
    const char *above;  /* "../" for each folder by which the mesh is above the model. */
    double scale;       /* m per unit of the file */
    double friction;    /* Negative: not given. */
    bool has_contact;   /* Otherwise it is drawn only. */
    /* Two shapes have contact if the type of one has a bit of the affinity of the other. */
    unsigned contact_type, contact_affinity;
} yk_robot_shape;

typedef struct yk_robot_link {
    const char *name; /* As in the file. */
    const yk_xml_element *element;
    yk_pose pose;
    yk_import_mass body;
    int into;  /* The link of which it became a part; itself if none. */
    int above; /* The parent of its joint in the file, or YK_ROBOT_GROUND. */
} yk_robot_link;

typedef struct yk_robot_joint {
    const char *name;
    const yk_xml_element *element;
    enum {
        YK_ROBOT_FIXED,
        YK_ROBOT_HINGE,
        YK_ROBOT_SLIDE,
        YK_ROBOT_BALL,
        YK_ROBOT_PLANAR, /* Slides across the axis and rotates about it. */
        YK_ROBOT_FREE
    } kind;
    int parent, child;
    yk_vec3 point, axis; /* Global. */
    double stiffness, damping,
        rest;    /* Of hinges and slides; `rest` is relative to the configuration of the file. */
    bool driven; /* A motor acts on the joint. */
    bool closes; /* The joint closes a loop: it is not the joint of the child in the tree. */
} yk_robot_joint;

/* Links that have no contact because the model says so. */
typedef struct yk_robot_named_pair {
    int link[2];
} yk_robot_named_pair;

/* Parts (contacts.c) that have no contact. */
typedef struct yk_robot_exclusion {
    int part[2];
} yk_robot_exclusion;

/* A named frame of a link. */
typedef struct yk_robot_frame {
    const char *name;
    int link;
    yk_pose pose;
} yk_robot_frame;

typedef struct yk_robot {
    yk_import *import; /* Keeps the notes. */
    const char *name;
    yk_vec3 gravity;
    double step; /* s; 0: not given */

    yk_robot_link *links;
    yk_robot_joint *joints;
    yk_robot_shape *shapes;
    yk_robot_frame *frames;
    yk_robot_named_pair *named_pairs;
    yk_robot_exclusion *exclusions;
    int link_count, joint_count, shape_count, frame_count, named_pair_count, exclusion_count;
    /* Links that a joint connects have no contact; the same for a link on a base that is fixed
     * to the ground. */
    bool joints_separate, base_joints_separate;
} yk_robot;

/* Append a part and return its index, or YK_NO_ID if memory is missing. */
int yk_robot_add_link(yk_robot *robot, const yk_robot_link *link);
int yk_robot_add_joint(yk_robot *robot, const yk_robot_joint *joint);
int yk_robot_add_shape(yk_robot *robot, const yk_robot_shape *shape);
int yk_robot_add_frame(yk_robot *robot, const yk_robot_frame *frame);
int yk_robot_add_named_pair(yk_robot *robot, const yk_robot_named_pair *pair);
yk_pose yk_robot_place(yk_pose outer, yk_pose inner);

/* Welds links, and drops links without mass that carry no mass. */
yk_status yk_robot_finish(yk_robot *robot);

/* Contacts (contacts.c) ------------------------------------------------------------------------ */

/* Finds the pairs of parts without contact, with notes on those that overlap. `model` is the
 * path of the model, from which meshes are found. */
yk_status yk_robot_find_exclusions(yk_robot *robot, const char *model);
/* The part of a link: the link into which it was welded, or the root of the links that are fixed
 * to the ground; YK_ROBOT_GROUND: none. */
int yk_robot_part_of(const yk_robot *robot, int link);
bool yk_robot_is_base(const yk_robot *robot, int part);
bool yk_robot_excludes(const yk_robot *robot, int part_a, int part_b);
yk_status yk_robot_exclude(yk_robot *robot, int link_a, int link_b);
bool yk_robot_types_meet(const yk_robot_shape *a, const yk_robot_shape *b);
/* The path of a mesh, in the folder of the model or in a folder above it ("../"). */
void yk_robot_mesh_path(const char *model, const yk_robot_shape *shape, const char *above,
                        char *path, size_t size);

/* Scenarios (write.c) -------------------------------------------------------------------------- */

/* Fills a robot from a document. */
typedef yk_status (*yk_robot_read_function)(yk_robot *robot, yk_xml_element *root);
/* Reads a robot and converts it to a scenario: welds links, finds meshes, selects the solver. */
yk_status yk_robot_import(yk_import *import, const char *path, yk_xml_element *root,
                          yk_robot_read_function read);

/* Whether the model needs contact: something can touch the ground or can fall. */
bool yk_robot_needs_contact(const yk_robot *robot);
/* Replaces or notes features that the selected solver does not have. */
yk_status yk_robot_check(yk_robot *robot);
/* Writes the scenario. */
void yk_robot_write(const yk_robot *robot, FILE *to);

#endif
