/* Mechanisms: what the solvers of bodies have in common, as it is described to them.
 *
 *        marker a                marker b      A marker is a frame fixed to a body. Joints and
 *     z ^   ______ joint ______   ^ z          forces act between two of them, a port offers one
 *       |  /      or force     \  |            (or the distance of two) to the world.
 *       o-'                     '-o
 *      /                            \          A body is named by the id that its solver gave it
 *   body[0]                       body[1]      when it was added; YK_GROUND is what never moves,
 *                                              and its markers are global frames.
 *
 * Models are built in one style, here shown for yoke/multibody.h; yoke/nonsmooth.h has the same words:
 *
 *   yk_multibody_def def = yk_multibody_default();                      a def struct with defaults
 *   yk_multibody_builder *model = yk_multibody_begin(context, &def);
 *   int rod = yk_multibody_add_body(model, &rod_def);                parts in any number; `add` returns an id
 *   int pin = yk_multibody_add_joint(model, &pin_def);
 *   yk_status status = yk_multibody_create(model, &subsystem);       one create, which also ends the builder
 *
 * Mistakes need to be looked for in one place only: where `add` cannot take a part, it returns
 * YK_NO_ID, the model goes on, and `create` returns the status of the first mistake, with a
 * message that names the part and the unit. What defs point to, such as names, must live until
 * `create` has returned; functions of time must outlive the subsystem.
 *
 * Units are those of the model: SI unless the system that it is coupled in says otherwise
 * (yk_transform). Angles are in radians; quaternions have the scalar first. */
#ifndef YOKE_MECHANICS_H
#define YOKE_MECHANICS_H

#include <stdbool.h>

#include "yoke/base.h"
#include "yoke/subsystem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In place of a body: what never moves. */
enum { YK_GROUND = -1 };

/* Markers -------------------------------------------------------------------------------------- */

/* A frame fixed to a body: offset of its origin in the body's axes, and rotation from marker axes
 * to body axes. */
typedef struct yk_marker {
    yk_vec3 offset;
    yk_quat orientation;
} yk_marker;

/* At the body's origin, with its axes. */
yk_marker yk_marker_default(void);
/* At a point of the body, with its axes. */
yk_marker yk_marker_at(double x, double y, double z);
/* At a point of the body with z along an axis, of any length but zero; x and y are chosen. */
yk_marker yk_marker_along(yk_vec3 origin, yk_vec3 axis);
/* At one point with z towards another; x and y are chosen. */
yk_marker yk_marker_towards(yk_vec3 origin, yk_vec3 towards);
/* The same place seen from a body that starts at `position` with `orientation`: from a marker in
 * global axes to one of that body, so that a joint can be described where it is. */
yk_marker yk_marker_in_body(yk_marker global, yk_vec3 position, yk_quat orientation);

/* Inertia -------------------------------------------------------------------------------------- */

/* Tensors about the centre of mass of homogeneous bodies, in their own axes: a box with these
 * edges, a sphere, a cylinder along z. */
yk_mat3 yk_inertia_box(double mass, double x, double y, double z);
yk_mat3 yk_inertia_sphere(double mass, double radius);
yk_mat3 yk_inertia_cylinder(double mass, double radius, double length);

/* Joints --------------------------------------------------------------------------------------- */

/* a is the first marker, b the second, d the line from the origin of a to that of b. */
typedef enum yk_joint_kind {
    YK_JOINT_SPHERICAL,               /* points coincide */
    YK_JOINT_REVOLUTE,                /* spherical, z axes parallel */
    YK_JOINT_UNIVERSAL,               /* spherical, x of a perpendicular to y of b */
    YK_JOINT_PRISMATIC,               /* slides along z of a */
    YK_JOINT_CYLINDRICAL,             /* slides along and turns about z of a */
    YK_JOINT_PLANAR,                  /* moves in the x-y plane of a, turns about its z */
    YK_JOINT_FIXED,                   /* no relative motion */
    YK_JOINT_DISTANCE,                /* |d| = length, or the drive */
    YK_JOINT_IN_LINE,                 /* the point b on z of a */
    YK_JOINT_IN_PLANE,                /* the point b in the x-y plane of a */
    YK_JOINT_PARALLEL_AXES,           /* z axes parallel */
    YK_JOINT_FIXED_ORIENTATION,       /* no relative rotation */
    YK_JOINT_DRIVEN_ROTATION,         /* angle of b about the common z axis = drive */
    YK_JOINT_DRIVEN_TRANSLATION,      /* z of a . d = drive */
    YK_JOINT_DRIVEN_ANGULAR_VELOCITY, /* angular velocity of b about z of a = drive */
    YK_JOINT_DRIVEN_VELOCITY,         /* velocity of b along z of a = drive */
    YK_JOINT_KNIFE_EDGE,              /* b does not move along its own y: a skate along x */
    YK_JOINT_ROLLING, /* a disc of radius `length` about z of b rolls on the x-y plane of a */
    YK_JOINT_CUSTOM,  /* any set of relative motions, see `constrained` */
    YK_JOINT_KIND_COUNT
} yk_joint_kind;

typedef struct yk_joint_def {
    const char *name;
    yk_joint_kind kind;
    int bodies[2]; /* one of them may be YK_GROUND */
    yk_marker markers[2];
    /* marker[0] is where both are at the start, in global axes: each is found from it and the pose
     * that its body starts with */
    bool marker_is_global;
    double length; /* distance; radius of a rolling disc (m) */
    /* YK_JOINT_CUSTOM: the motions that it removes, YK_AXIS bits in the axes of the first marker */
    unsigned constrained_axes;
    /* what driven kinds prescribe (m, rad, m/s, rad/s); a distance may have one instead of
     * `length` */
    yk_time_function drive;
    double drive_scale; /* the drive's values are multiplied by this; 1 */
} yk_joint_def;

/* A clamp to the ground at the origins, without a name. */
yk_joint_def yk_joint_default(void);
/* Between two bodies, at their origins. */
yk_joint_def yk_joint_named(const char *name, yk_joint_kind kind, int body_a, int body_b);
/* Between two bodies, where a marker in global axes is at the start. */
yk_joint_def yk_joint_at(const char *name, yk_joint_kind kind, int body_a, int body_b,
                         yk_marker global);
/* "revolute" */
const char *yk_joint_kind_name(yk_joint_kind kind);

/* Forces --------------------------------------------------------------------------------------- */

/* What the number `load` means is said with each kind; force and torque act on the second body
 * alone, the others on both. */
typedef enum yk_force_kind {
    /* along the line of the origins: tension = k (length - free) + c (its rate) + load */
    YK_FORCE_SPRING,
    /* about z of a: torque = k (angle - free) + c (its rate) + load, angle in (-pi, pi] */
    YK_FORCE_TORSION_SPRING,
    /* 6 x 6 stiffness and damping on displacement and rotation vector of b in axes of a */
    YK_FORCE_BUSHING,
    YK_FORCE_MOTOR, /* a torque of the size of the load about z of a, on b, and its opposite on a */
    YK_FORCE_LINEAR_MOTOR, /* a force of the size of the load along z of a, on b, and its opposite on a */
    YK_FORCE_FORCE,        /* a force on b at its marker: the vector times the load, global axes */
    YK_FORCE_TORQUE,       /* a torque on b, the same way */
    YK_FORCE_FOLLOWER_FORCE,  /* the vector in the axes of the marker, turning with it */
    YK_FORCE_FOLLOWER_TORQUE, /* likewise */
    YK_FORCE_KIND_COUNT
} yk_force_kind;

/* A load that depends on what the model does: a function of time and of channels of the model,
 * which are named as "crank.angular_velocity.x" or, of a single number, "strut.elongation". Inputs
 * have the values of the step that is being solved. */
typedef struct yk_feedback {
    double (*value)(void *user, double t, const double *inputs); /* NULL: there is none */
    void *user;
    const char *const *inputs;
    int input_count; /* at most YK_FEEDBACK_INPUTS_MAX */
} yk_feedback;

enum { YK_FEEDBACK_INPUTS_MAX = 15 };

typedef struct yk_force_def {
    const char *name;
    yk_force_kind kind;
    int bodies[2]; /* of a force or torque the second alone is read */
    yk_marker markers[2];
    double stiffness, damping; /* spring (N/m, N s/m), torsion (N m/rad, N m s/rad) */
    double free_length;        /* length (m) or angle (rad) without tension */
    double bushing_stiffness[6][6];
    double bushing_damping[6][6];
    yk_vec3 vector;        /* of a force (N) or torque (N m) */
    yk_time_function load; /* without one: 1 for a force or torque, 0 for the others */
    yk_feedback feedback;  /* instead of the load */
    /* instead of both: the id of a signal port that brings the load by a wire; YK_NO_ID: none */
    int signal_port;
    double load_scale; /* all of them are multiplied by this; 1 */
} yk_force_def;

/* A constant force of zero on the ground, without a name. */
yk_force_def yk_force_default(void);
/* "spring" */
const char *yk_force_kind_name(yk_force_kind kind);
/* Whether a law of this kind acts on both bodies. */
bool yk_force_kind_acts_on_both(yk_force_kind kind);

/* Ports ---------------------------------------------------------------------------------------- */

/* Where the world meets a mechanism; the ids of ports are the numbers that the subsystem's ports
 * have in interfaces and wires. */
typedef struct yk_port_def {
    const char *name;
    /* marker: of body[0]; scalar: the distance of two markers; signal: a number that loads
     * forces */
    yk_port_kind kind;
    int bodies[2];
    yk_marker markers[2];
} yk_port_def;

/* A marker at the origin of the ground, without a name. */
yk_port_def yk_port_default(void);
/* A frame on a body: takes a wrench or a motion. */
yk_port_def yk_port_marker(const char *name, int body, yk_marker marker);
/* The distance of two markers, an actuator: takes a force, positive pushes them apart, or a
 * length. One of the bodies may be YK_GROUND. */
yk_port_def yk_port_distance(const char *name, int body_a, yk_marker marker_a, int body_b,
                             yk_marker marker_b);
/* A number that arrives by a wire and loads the forces that name the port as their input. */
yk_port_def yk_port_signal(const char *name);

#ifdef __cplusplus
}
#endif

#endif
