/* Joint equations, shared by all solvers.
 *
 * A joint connects a marker a on one body with a marker b on another. It is a list of scalar rows,
 * each one of the fundamental constraints. With d = (origin of b) - (origin of a), and a_k and b_k
 * the markers' axes:
 *
 *   point       d . E_k             = 0          k-th global component: points coincide
 *   in plane    a_k . d             = drive      the point b lies in a plane of a
 *   axes        a_k . b_l = 0 axes remain perpendicular; if the row is driven, the drive rotates
 *               a_k about a_z
 *   distance    |d|                 = drive
 *   wheel       a_z . d = r sqrt(1 - (a_z . b_z)^2) a disc about b_z touches the plane of a
 *   slip        e . (velocity of b's origin relative to a)        = drive    e an axis of a or of b
 *   spin        a_k . (angular velocity of b relative to a)       = drive
 *   roll        e . (velocity of the disc's contact point) = 0 e along or across the rolling
 *               direction
 *   angle       angle of b about a_z = drive, nearest to a reference: any number of turns
 *
 * Slip, spin and roll are on velocity level (nonholonomic, or driven by a speed). Every row gives
 *
 *   value       g on position level
 *   rate        dg/dt, or the equation on velocity level itself
 *   bias        d2g/dt2 without the terms that are linear in the accelerations
 *   gradient    of g by displacement and rotation of both bodies: as two unit wrenches about the
 *               bodies' origins
 *   stiffness   derivative of gradient^T lambda
 *
 * where a rotation theta changes the orientation R of a body to exp(theta) R. Rows without a drive
 * have drive = 0. */
#ifndef YK_MECHANICS_JOINT_H
#define YK_MECHANICS_JOINT_H

#include "mechanics/body.h"

/* One scalar equation: k and l are axes of a and b (point: k the global axis; roll: k = 0 along,
 * 1 across). */
typedef struct yk_row {
    enum {
        YK_ROW_POINT,
        YK_ROW_IN_PLANE,
        YK_ROW_AXES,
        YK_ROW_DISTANCE,
        YK_ROW_WHEEL,
        YK_ROW_SLIP_A,
        YK_ROW_SLIP_B,
        YK_ROW_SPIN,
        YK_ROW_ROLL,
        YK_ROW_ANGLE
    } kind;
    int k, l;
} yk_row;

enum { YK_JOINT_ROWS_MAX = 6 };

typedef struct yk_joint {
    yk_joint_kind kind;
    int row_count;
    yk_row row[YK_JOINT_ROWS_MAX];
    yk_vec3 offset[2]; /* of the markers, in their bodies' axes */
    yk_mat3 axes[2];   /* of the markers, in their bodies' axes */
    double length;     /* distance, or the disc's radius */
    bool driven;       /* the drive is part of its last row */
    double ratio;      /* factor of all rows, of a term of a coupling; otherwise 1 */
} yk_joint;

/* The prescribed value with its derivatives by time. */
typedef struct yk_drive {
    double value, rate, second;
    double near_angle; /* reference of a row on an angle */
} yk_drive;

/* The present places of the markers, shared by all rows of the joint. */
typedef struct yk_joint_kinematics {
    yk_marker_frame a, b;
    yk_vec3 d;
    yk_drive drive; /* divided by the ratio */
    double length;
    double ratio;
} yk_joint_kinematics;

/* dg = force[0] . dx_a + torque[0] . dtheta_a + force[1] . dx_b + torque[1] . dtheta_b */
typedef struct yk_gradient {
    yk_vec3 force[2];
    yk_vec3 torque[2];
} yk_gradient;

/* The relative motion about or along z of a that an actuator parallel to the joint can drive. */
typedef enum yk_joint_motion {
    YK_MOTION_NONE,
    YK_MOTION_ROTATION,
    YK_MOTION_TRANSLATION
} yk_joint_motion;

/* The prescribed quantity of a kind of joint: the "length" of the line between the origins, the
 * "angle" of b about z of a, the "distance" of b along it, or the "rate" of either. */
typedef struct yk_joint_drive_traits {
    const char *name; /* NULL if the kind prescribes nothing */
    bool required;    /* without it the joint has no effect; a length may be a constant */
    bool angular;     /* an angle or an angular velocity: independent of the unit of length */
    bool on_velocity; /* the value itself is a velocity */
} yk_joint_drive_traits;

/* Properties of a kind of joint that do not depend on bodies. Its rows are in joint.c. */
typedef struct yk_joint_traits {
    const char *name; /* "revolute" */
    yk_joint_drive_traits drive;
    yk_joint_motion motion;
    bool coupled; /* a term of a sum that is one equation (adds_to) */
} yk_joint_traits;

const yk_joint_traits *yk_joint_traits_of(yk_joint_kind kind);
/* Checks a joint: its kind, and the length, axes or drive that the kind needs. `model` is the name
 * of the model in messages. The solver checks bodies and markers. */
yk_status yk_joint_check(yk_context *context, const char *model, const yk_joint_def *def);
/* The equations of a joint from its description. */
yk_joint yk_joint_of(const yk_joint_def *def);
/* A joint of the list; `length` is used for distance and rolling. */
yk_joint yk_joint_make(yk_joint_kind kind, const yk_marker *a, const yk_marker *b, double length);
/* Rows for the relative motions in the mask of YK_AXIS bits, in the axes of a (all six: fixed). */
yk_joint yk_joint_of_axes(unsigned constrained, const yk_marker *a, const yk_marker *b);

/* One joint of the list; `axes` rotates z of both markers to the driven axis. */
typedef struct yk_joint_piece {
    yk_joint_kind kind;
    unsigned constrained; /* of YK_JOINT_CUSTOM */
    yk_quat axes;
    int driven; /* index of the driven motion, or -1 */
} yk_joint_piece;

enum { YK_JOINT_PIECES_MAX = 5 };

/* The joints that together represent a mask of relative motions, some of them driven, in the axes
 * of the first marker, or the joint of a mask that is combined with no other axis. At most one rotation can be driven: about an axis that the joint otherwise
 * keeps common, or alone, with the translations perpendicular to it all constrained or all free.
 * Returns 0 if it is not possible. */
int yk_joint_pieces(unsigned constrained, unsigned driven,
                    yk_joint_piece pieces[YK_JOINT_PIECES_MAX]);

bool yk_row_on_velocity(const yk_row *row);
/* Whether the value of a row is an angle (rad) instead of a length. */
bool yk_row_is_angle(const yk_row *row);

void yk_joint_kinematics_at(const yk_joint *joint, const yk_frame *body_a, const yk_frame *body_b,
                            const yk_drive *drive, yk_joint_kinematics *kinematics);

/* The motion of marker b measured by a sensor in the joint: its angle about z of a, in (-pi, pi],
 * its displacement along it, and the rates of both. */
typedef struct yk_joint_reading {
    double angle, angle_rate;               /* rad, rad/s */
    double displacement, displacement_rate; /* m, m/s */
} yk_joint_reading;

yk_joint_reading yk_joint_read(const yk_joint *joint, const yk_frame *body_a,
                               const yk_frame *body_b);

double yk_row_value(const yk_row *row, const yk_joint_kinematics *kinematics);
double yk_row_rate(const yk_row *row, const yk_joint_kinematics *kinematics);
void yk_row_gradient(const yk_row *row, const yk_joint_kinematics *kinematics,
                     yk_gradient *gradient);
/* d2g/dt2 at zero accelerations of both bodies. */
double yk_row_bias(const yk_row *row, const yk_joint *joint, const yk_frame *body_a,
                   const yk_frame *body_b, const yk_drive *drive);

/* Adds lambda times the derivative of the gradient: block (i, j) of `stiffness` is the derivative
 * of force (i = 0) or torque (1) on a, force (2) or torque (3) on b by displacement or rotation (j
 * in the same order). Rows on velocity level and wheels add nothing, because their contribution is
 * of the order of the step size. */
void yk_row_stiffness(const yk_row *row, const yk_joint_kinematics *kinematics, double lambda,
                      yk_mat3 stiffness[4][4]);

/* Structurally nonzero entries of the gradient, bit 3 * (2 * body + (torque ? 1 : 0)) + component. */
unsigned yk_row_mask(const yk_row *row);
/* Structurally nonzero blocks of the stiffness, bit 4 i + j. */
unsigned yk_row_stiffness_mask(const yk_row *row);

#endif
