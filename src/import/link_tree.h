/* What the readers share: documents, and the robot that most of them make and the scenario is
 * written from, links that joints connect in the configuration of the file, all in global axes.
 *
 * Links without a joint of their own are welded to their parent: yk_robot_finish() makes one link
 * of both, and keeps the frame of the welded one as a port where something can be attached. */
#ifndef YK_IMPORT_ROBOT_H
#define YK_IMPORT_ROBOT_H

#include "base/builder.h"
#include "import/import.h"
#include "math/vec3.h"

/* Documents (xml.c) ---------------------------------------------------------------------------- */

/* A small XML document in memory, as a tree of elements that know their file and line.
 *
 * Documents come from strangers: a document type declaration is refused, so that there are no
 * entities and nothing to look up, and size, depth and number of elements have limits. */
typedef struct yk_xml_element yk_xml_element;
struct yk_xml_element {
    const char *name;
    const char *file; /* as it was opened */
    int line;
    const char **attributes;      /* names and values in turn, up to a NULL */
    yk_xml_element *first, *next; /* child, sibling */
};

typedef struct yk_xml yk_xml;

/* The file, with a message that names file and line where it is not well-formed. */
yk_status yk_xml_read(yk_context *context, const char *path, yk_xml **xml);
void yk_xml_destroy(yk_xml *xml);
yk_xml_element *yk_xml_root(const yk_xml *xml);

/* NULL where it is absent. */
const char *yk_xml_attribute_of(const yk_xml_element *element, const char *name);
/* The first child of that name; NULL where there is none. */
const yk_xml_element *yk_xml_child(const yk_xml_element *element, const char *name);
bool yk_xml_is(const yk_xml_element *element, const char *name);

/* Robots --------------------------------------------------------------------------------------- */

enum { YK_ROBOT_GROUND = -1, YK_ROBOT_FILES = 64 };

typedef struct yk_robot_shape {
    int link;  /* that it moves with, or YK_ROBOT_GROUND */
    int owner; /* the link that it belongs to in the file, or YK_ROBOT_GROUND */
    enum {
        YK_ROBOT_SPHERE,   /* size.x: radius */
        YK_ROBOT_BOX,      /* size: edges */
        YK_ROBOT_CYLINDER, /* size.x: radius, size.z: length, about z */
        YK_ROBOT_CAPSULE,  /* likewise, length of the axis */
        YK_ROBOT_PLANE,    /* solid below z = 0 */
        YK_ROBOT_MESH
    } kind;
    yk_pose pose; /* global */
    yk_vec3 size;
    const char *folder; /* of a mesh, from that of the model; NULL: the same */
    const char *file;   /* of a mesh; an absolute path, or one from the folder */
    const char *above;  /* "../" as often as the mesh lies above the folder of the model */
    double scale;       /* m per unit of the file */
    double friction;    /* negative: none given */
    bool touches;       /* else only drawn */
    /* Two shapes touch if the type of one has a bit of the affinity of the other. */
    unsigned contact_type, contact_affinity;
} yk_robot_shape;

typedef struct yk_robot_link {
    const char *name; /* as in the file */
    const yk_xml_element *element;
    yk_pose pose;
    double mass;
    yk_vec3 centre;  /* global */
    yk_mat3 inertia; /* about the centre, global axes */
    int into;        /* the link that it became part of; itself if none */
    int above;       /* the link that its joint hangs on in the file, or YK_ROBOT_GROUND */
} yk_robot_link;

typedef struct yk_robot_joint {
    const char *name;
    const yk_xml_element *element;
    enum {
        YK_ROBOT_FIXED,
        YK_ROBOT_HINGE,
        YK_ROBOT_SLIDE,
        YK_ROBOT_BALL,
        YK_ROBOT_PLANAR, /* slides across the axis and turns about it */
        YK_ROBOT_FREE
    } kind;
    int parent, child;
    yk_vec3 point, axis;             /* global */
    double stiffness, damping, rest; /* of hinges and slides: rest from the file's configuration */
    bool driven;                     /* a motor acts on it */
    bool closes; /* closes a loop: not the joint by which the child hangs in the tree */
} yk_robot_joint;

/* Links that do not touch each other because the model says so. */
typedef struct yk_robot_named_pair {
    int link[2];
} yk_robot_named_pair;

/* Parts (contacts.c) that do not touch each other. */
typedef struct yk_robot_exclusion {
    int part[2];
} yk_robot_exclusion;

/* A frame that has a name. */
typedef struct yk_robot_frame {
    const char *name;
    int link;
    yk_pose pose;
} yk_robot_frame;

typedef struct yk_robot {
    yk_context *context;
    yk_building building; /* of the lists */
    const char *name;
    yk_vec3 gravity;
    double step; /* s; 0: none given */

    yk_robot_link *links;
    yk_robot_joint *joints;
    yk_robot_shape *shapes;
    yk_robot_frame *frames;
    yk_robot_named_pair *named_pairs;
    yk_robot_exclusion *exclusions;
    yk_import_note *notes;
    int link_count, joint_count, shape_count, frame_count, named_pair_count, exclusion_count,
        note_count;
    /* Links that a joint connects do not touch; the same for a link on a base that is fixed to the
     * ground. */
    bool joints_separate, base_joints_separate;
    char *files[YK_ROBOT_FILES]; /* names that notes refer to */
    int file_count;
} yk_robot;

/* Appends a part; its index, or YK_NO_ID when out of memory. */
int yk_robot_add_link(yk_robot *robot, const yk_robot_link *link);
int yk_robot_add_joint(yk_robot *robot, const yk_robot_joint *joint);
int yk_robot_add_shape(yk_robot *robot, const yk_robot_shape *shape);
int yk_robot_add_frame(yk_robot *robot, const yk_robot_frame *frame);
int yk_robot_add_named_pair(yk_robot *robot, const yk_robot_named_pair *pair);
/* Keeps the name of a file as long as the robot; NULL when there are too many. */
const char *yk_robot_keep(yk_robot *robot, const char *file);
/* Keeps a note on an element. */
void yk_robot_note(yk_robot *robot, const yk_xml_element *element, const char *format, ...)
    YK_PRINTF(3, 4);

/* A failure that names file and line of an element. */
yk_status yk_robot_fail(yk_robot *robot, const yk_xml_element *element, const char *format, ...)
    YK_PRINTF(3, 4);

/* Between `least` and `most` numbers of an attribute's text; those that it lacks keep their value.
 * `count` (may be NULL) receives how many there were. */
yk_status yk_robot_numbers(yk_robot *robot, const yk_xml_element *element, const char *name,
                           const char *text, double *values, int least, int most, int *count);

/* The caller's step, the model's, or a usual one (s). */
double yk_robot_step(const yk_robot *robot, const yk_import_options *options);

yk_pose yk_robot_place(yk_pose outer, yk_pose inner);
/* Adds mass to a link: the pose of its centre, and the inertia about it in the axes of the pose. */
void yk_robot_add_mass(yk_robot_link *link, double mass, yk_pose centre, yk_mat3 own);

/* Raises principal moments that are too small for any body, with a note. */
yk_status yk_robot_mend_inertia(yk_robot *robot, yk_robot_link *link, bool may_vanish);

/* Welds links, and drops what has neither mass nor anything that moves with it. */
yk_status yk_robot_finish(yk_robot *robot);

/* Contacts (contacts.c) ------------------------------------------------------------------------ */

/* Finds the pairs of parts that do not touch, with notes on those that overlap. Meshes are found from
 * the path of the model. */
yk_status yk_robot_find_exclusions(yk_robot *robot, const char *model);
/* The part that a link belongs to: the link that it was welded into, or the root of the links that are
 * fixed to the ground; YK_ROBOT_GROUND: none. */
int yk_robot_part_of(const yk_robot *robot, int link);
bool yk_robot_is_base(const yk_robot *robot, int part);
bool yk_robot_excludes(const yk_robot *robot, int part_a, int part_b);
yk_status yk_robot_exclude(yk_robot *robot, int link_a, int link_b);
bool yk_robot_types_meet(const yk_robot_shape *a, const yk_robot_shape *b);
/* The path of a mesh: from the folder of the model, or from a folder above it ("../"). */
void yk_robot_mesh_path(const char *model, const yk_robot_shape *shape, const char *above,
                        char *path, size_t size);

/* Whether the model asks for contact: something can touch the ground or is free to fall. */
bool yk_robot_touches(const yk_robot *robot);
/* Mends and notes what the solver of the options cannot have, before anything is written. */
yk_status yk_robot_check(yk_robot *robot, const yk_import_options *options);
/* The head of a scenario: what it does not have of the model. */
void yk_robot_write_notes(const yk_robot *robot, FILE *to);
/* A name as scenarios have them: a letter first, then letters, digits, _ and -. */
enum { YK_ROBOT_NAME_BYTES = 80 };
void yk_robot_clean_name(const char *name, const char *fallback, char text[YK_ROBOT_NAME_BYTES]);
/* Values of a scenario, with as few digits as give the same number back. */
void yk_write_number(FILE *to, double value);
void yk_write_vector(FILE *to, yk_vec3 v);
void yk_write_quaternion(FILE *to, yk_quat q);
void yk_robot_write(const yk_robot *robot, const yk_import_options *options, FILE *to);

/* Readers -------------------------------------------------------------------------------------- */

yk_status yk_urdf_read(yk_robot *robot, const yk_xml_element *root,
                       const yk_import_options *options);
/* `files` keeps the documents that the model includes. */
yk_status yk_mjcf_read(yk_robot *robot, yk_xml_element *root, yk_xml **files, int *file_count);
enum { YK_MJCF_FILES = 32 };
/* MBDyn's statements become the scenario's text at once; to be freed. The robot keeps the notes. */
yk_status yk_mbdyn_read(yk_robot *robot, const char *path, yk_import_options *options,
                        char **scenario);

/* The description of a system of FMUs becomes the text of a scenario, to be freed. The robot keeps
 * the notes. FMUs are named from options->mesh_folder; the summary has the counts. (ssp.c) */
yk_status yk_ssp_read(yk_robot *robot, const char *path, const yk_xml_element *root,
                      const yk_import_options *options, char **scenario, char summary[100]);
/* The part of a name of XML behind its prefix: "System" of "ssd:System". */
const char *yk_ssp_local_name(const char *name);

/* Sections of a scenario that SSP has no words for, in its annotation: keys of the whole system,
 * and of a component; up to a NULL. */
#define YK_SSP_ANNOTATION "yoke.coupling"
extern const char *const yk_ssp_system_sections[];
extern const char *const yk_ssp_component_sections[];

#endif
