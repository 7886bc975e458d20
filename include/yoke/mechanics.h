/* Mechanisms: markers, joints, forces and ports, for all solvers of bodies.
 *
 *        marker a                marker b      A marker is a frame fixed to a body. Joints and
 *     z ^   ______ joint ______   ^ z          forces act between two of them, a port offers one
 *       |  /      or force     \  |            (or the distance of two) to other subsystems.
 *       o-'                     '-o
 *      /                            \          A body is named by the id that its solver gave it
 *  bodies[0]                     bodies[1]     when it was added; YK_GROUND is what never moves,
 *                                              and its markers are global frames.
 *
 * Models are built in one style, here shown for yoke/multibody.h; yoke/nonsmooth.h has the same words:
 *
 *   yk_multibody_def def = yk_multibody_default();                      a def struct with defaults
 *   yk_multibody_builder *model = yk_multibody_begin(context, &def);
 *   yk_body_id rod = yk_multibody_add_body(model, &rod_def);                parts in any number; `add` returns an id
 *   yk_joint_id pin = yk_multibody_add_joint(model, &pin_def);
 *   yk_status status = yk_multibody_create(model, &subsystem);       one create, which also ends the builder
 *
 * Errors need to be checked in one place only: if `add` cannot accept a part it returns a null id, the
 * builder continues, and `create` returns the status of the first error, with a message that names
 * the part. Data that a def points to, such as names, must live until `create` has returned;
 * functions of time must outlive the subsystem.
 *
 * Units are those of the model: SI unless the system declares others (yk_transform). Angles are in radians; quaternions have the scalar first. */
#ifndef YOKE_MECHANICS_H
#define YOKE_MECHANICS_H

#include <stdbool.h>

#include "yoke/base.h"
#include "yoke/ids.h"
#include "yoke/subsystem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Markers -------------------------------------------------------------------------------------- */

/* A frame fixed to a body: its origin in body axes (m), and the rotation from marker to body axes. */
typedef struct yk_marker {
    yk_vec3 offset;
    yk_quat orientation;
} yk_marker;

/* At the origin of the body, with the axes of the body. */
yk_marker yk_marker_default(void);
/* At a point of the body (m), with the axes of the body. */
yk_marker yk_marker_at(double x, double y, double z);
/* At a point of the body, with z along an axis of any nonzero length. x and y are chosen. */
yk_marker yk_marker_along(yk_vec3 origin, yk_vec3 axis);
/* At a point, with z towards another point. x and y are chosen. */
yk_marker yk_marker_towards(yk_vec3 origin, yk_vec3 towards);
/* Converts a marker in global axes to a marker of a body that starts at `position` with
 * `orientation`. */
yk_marker yk_marker_in_body(yk_marker global, yk_vec3 position, yk_quat orientation);

/* Inertia -------------------------------------------------------------------------------------- */

/* Inertia of homogeneous bodies about the centre of mass (kg m2): a box with these edges, a sphere, a
 * cylinder along z. */
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
    /* terms of a coupling, see `adds_to` */
    YK_JOINT_COUPLED_ROTATION,    /* angle of b about z of a, any number of turns */
    YK_JOINT_COUPLED_TRANSLATION, /* z of a . d */
    YK_JOINT_COUPLED_DISTANCE,    /* |d| */
    YK_JOINT_KIND_COUNT
} yk_joint_kind;

typedef struct yk_joint_def {
    const char *name;
    yk_joint_kind kind;
    yk_body_id bodies[2]; /* one of them may be YK_GROUND */
    yk_marker markers[2];
    /* markers[0] is the common place of both markers at the start, in global axes; markers[1] is
     * ignored. */
    bool marker_is_global;
    double length; /* distance; radius of a rolling disc (m) */
    /* YK_JOINT_CUSTOM: prevented motions, YK_AXIS bits in the axes of the first marker */
    unsigned constrained_axes;
    /* prescribed by driven kinds (m, rad, m/s, rad/s); allowed for a distance, instead of `length` */
    yk_time_function drive;
    /* used instead of the drive: id of a signal port, whose value prescribes the motion; null: none.
     * In multibody systems */
    yk_port_id signal_port;
    double drive_scale; /* factor of the drive */
    /* Coupled kinds: the sum of ratio times coordinate over this joint and the following ones that
     * add to it equals its value at the start plus the drive. The terms are added one after the
     * other; all but the first name the id of the first. Other kinds: null, and no ratio. */
    yk_joint_id adds_to;
    double ratio;
} yk_joint_def;

/* A fixed joint to the ground at the origins, without a name. */
yk_joint_def yk_joint_default(void);
/* Between two bodies, at their origins. */
yk_joint_def yk_joint_named(const char *name, yk_joint_kind kind, yk_body_id body_a,
                            yk_body_id body_b);
/* Between two bodies, at a marker in global axes at the start. */
yk_joint_def yk_joint_at(const char *name, yk_joint_kind kind, yk_body_id body_a, yk_body_id body_b,
                         yk_marker global);
/* "revolute" */
const char *yk_joint_kind_name(yk_joint_kind kind);

/* Forces --------------------------------------------------------------------------------------- */

/* The kinds use the number `load` as described. Forces and torques act on the second body only, the
 * other kinds on both bodies. */
typedef enum yk_force_kind {
    /* along the line of the origins: tension = k (length - free) + c (its rate) + load */
    YK_FORCE_SPRING,
    /* about z of a: torque = k (angle - free) + c (its rate) + load, angle in (-pi, pi] */
    YK_FORCE_TORSION_SPRING,
    /* 6 x 6 stiffness and damping on displacement and rotation vector of b in axes of a */
    YK_FORCE_BUSHING,
    YK_FORCE_MOTOR,        /* torque `load` about z of a, on b, and its opposite on a */
    YK_FORCE_LINEAR_MOTOR, /* force `load` along z of a, on b, and its opposite on a */
    YK_FORCE_FORCE,        /* a force on b at its marker: the vector times the load, global axes */
    YK_FORCE_TORQUE,       /* a torque on b, the same way */
    YK_FORCE_FOLLOWER_FORCE,  /* the vector in the axes of the marker, turning with it */
    YK_FORCE_FOLLOWER_TORQUE, /* likewise */
    YK_FORCE_DRAG,            /* resistance of a fluid on b, see yk_contact_force_def */
    YK_FORCE_GROUND,          /* a sphere at b touches the ground, whose height is along z of a */
    YK_FORCE_TYRE,            /* a tyre that spins about z of b rolls on this ground */
    YK_FORCE_CLEARANCE,       /* a pin at b in a hole along z of a, with clearance */
    YK_FORCE_KIND_COUNT
} yk_force_kind;

/* Coefficients of drag, contact and tyres. With the penetration p and its rate p', the normal force is
 * stiffness p^exponent (1 + damping p'), but never negative (Hunt and Crossley 1975). */
typedef struct yk_contact_force_def {
    double radius;    /* of the sphere, the tyre or the pin (m) */
    double stiffness; /* N/m^exponent */
    double exponent;  /* 1: a linear spring, 1.5: Hertz */
    double damping;   /* s/m */
    double clearance; /* radial, of a pin (m) */
    double friction;  /* coefficient of Coulomb friction */
    /* slip at which friction is nearly full, tanh(1) of it; of a tyre: the speed below which its
     * slip is computed with this speed (m/s) */
    double transition_velocity;
    /* tyre: force per longitudinal slip (N), and per tangent of the slip angle (N) */
    double slip_stiffness, cornering_stiffness;
    double rolling_resistance; /* tyre: torque per normal force and radius */
    double linear_drag;        /* N s/m */
    double quadratic_drag;     /* N s2/m2: half of density, area and drag coefficient */
    yk_vec3 wind;              /* velocity of the fluid, global axes (m/s) */
    /* height of the ground along z of a over the coordinates x and y of a (m); NULL: a plane */
    double (*height)(void *user, double x, double y);
    void *height_user;
    double length_unit; /* of the height and its arguments */
} yk_contact_force_def;

/* A load as a function of time and of channels of the model, such as "crank.angular_velocity.x" or
 * "strut.elongation". The inputs have the values of the step that is being solved. */
typedef struct yk_feedback {
    double (*value)(void *user, double t, const double *inputs); /* NULL: no feedback */
    void *user;
    const char *const *inputs;
    int input_count; /* at most YK_FEEDBACK_INPUTS_MAX */
} yk_feedback;

enum { YK_FEEDBACK_INPUTS_MAX = 15 };

/* Directions in which a spring acts. */
typedef enum yk_force_sides {
    YK_SIDES_BOTH,
    YK_SIDES_TENSION,    /* like a rope */
    YK_SIDES_COMPRESSION /* like a buffer */
} yk_force_sides;

/* Further terms of springs, torsion springs and motors, on their coordinate: the elongation
 * x = coordinate - free and its rate v. Forces of contacts (of one side, after a play, at a stop) are
 * stiffness p (1 + contact_damping p') of their penetration p, never negative. */
typedef struct yk_force_terms {
    yk_force_sides sides;
    double play;            /* no elastic force for |x| <= play (m, rad) */
    double contact_damping; /* s/m, s/rad */
    bool limited;
    double limits[2];      /* of the coordinate */
    double stop_stiffness; /* beyond the limits */
    /* friction against v: (coulomb + (static - coulomb) exp(-(v/stribeck)^2)) tanh(v/transition) */
    double coulomb_friction, static_friction;
    double stribeck_velocity, transition_velocity;
    /* an additional tension of springs, or the driving force of motors, from x, v and the load; the
     * load then has no other effect. NULL: none */
    double (*characteristic)(void *user, double x, double v, double load);
    void *characteristic_user;
    double length_unit, force_unit; /* of its arguments and of its value */
    bool resists; /* of motors: load and characteristic act against the coordinate, as in springs */
} yk_force_terms;

typedef struct yk_force_def {
    const char *name;
    yk_force_kind kind;
    yk_body_id bodies[2]; /* forces and torques use the second only */
    yk_marker markers[2];
    double stiffness, damping; /* spring (N/m, N s/m), torsion (N m/rad, N m s/rad) */
    double free_length;        /* without tension: length (m) or angle (rad) */
    double bushing_stiffness[6][6];
    double bushing_damping[6][6];
    yk_vec3 vector; /* of a force (N) or torque (N m) */
    yk_contact_force_def contact;
    yk_time_function load;  /* if not set: 1 for forces and torques, 0 for other kinds */
    yk_feedback feedback;   /* used instead of `load` if set */
    yk_port_id signal_port; /* used instead of both; null: none */
    double load_scale;      /* factor of the load */
    yk_force_terms terms;
    /* Springs, torsion springs and motors: this force is a term of the coordinate of an earlier one,
     * whose law acts on the sum of ratio times coordinate; the terms are added one after the other.
     * Null: a force of its own. */
    yk_force_id adds_to;
    double ratio;
} yk_force_def;

/* A constant force of zero on the ground, without a name. */
yk_force_def yk_force_default(void);
/* "spring" */
const char *yk_force_kind_name(yk_force_kind kind);
/* Returns whether a force of this kind acts on both bodies. */
bool yk_force_kind_acts_on_both(yk_force_kind kind);

/* Ports ---------------------------------------------------------------------------------------- */

/* A port connects a mechanism to other subsystems. Its id is the index of the port in interfaces and
 * wires. */
typedef struct yk_port_def {
    const char *name;
    /* marker: markers[0] on bodies[0]; scalar: distance of two markers; signal: load of forces */
    yk_port_kind kind;
    yk_body_id bodies[2];
    yk_marker markers[2];
} yk_port_def;

/* A marker at the origin of the ground, without a name. */
yk_port_def yk_port_default(void);
/* A frame on a body. It accepts a wrench or a motion. */
yk_port_def yk_port_marker(const char *name, yk_body_id body, yk_marker marker);
/* The distance of two markers, as of an actuator. It accepts a force, positive if it pushes the
 * markers apart, or a length. One of the bodies may be YK_GROUND. */
yk_port_def yk_port_distance(const char *name, yk_body_id body_a, yk_marker marker_a,
                             yk_body_id body_b, yk_marker marker_b);
/* A number from a wire: the load of the forces that have the port as their `signal_port`. */
yk_port_def yk_port_signal(const char *name);

#ifdef __cplusplus
}
#endif

#endif
