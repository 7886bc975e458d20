/* Force laws between two markers, and loads on one.
 *
 *   spring     along the line between the origins: tension = k (length - free length) + c (rate of
 *              length) + load
 *   torsion    about z of a: torque = k (angle - free angle) + c (angular velocity) + load, angle
 *              in (-pi, pi]
 *   motor      a torque equal to the load about z of a, on b, and its opposite on a
 *   thrust     a force equal to the load along z of a, on b at its marker, and its opposite on a at
 *              the same point
 *   bushing    6 x 6 stiffness and damping on the displacement and the rotation vector of b
 *              relative to a, in a's axes
 *   force, torque                      the vector times the load, on b at its marker, in global
 *                                      axes
 *   follower force, follower torque    the same in the axes of the marker b, rotating with it
 *   drag, ground, tyre, clearance      forces at a point of b (point_force.h)
 *
 * `load` is a number that the caller gives at each time: an expression, an actuator, a constant.
 * Force and torque act on b only, the others on both bodies. */
#ifndef YK_MECHANICS_FORCE_H
#define YK_MECHANICS_FORCE_H

#include "mechanics/body.h"

typedef struct yk_force_law {
    yk_force_kind kind;
    yk_vec3 offset[2]; /* of the markers, in their bodies' axes */
    yk_mat3 axes[2];
    double stiffness, damping, free; /* spring, torsion */
    double bushing_stiffness[6][6];
    double bushing_damping[6][6];
    yk_vec3 vector;
    yk_contact_force_def contact;
    yk_force_terms terms;
    bool has_terms; /* terms other than stiffness, damping and load */
} yk_force_law;

/* The loads on both bodies: force a, torque a, force b, torque b, torques about the bodies'
 * origins. */
typedef struct yk_force_load {
    yk_vec3 part[4];
    double energy; /* stored */
    double loss;   /* power that is dissipated */
    double supply; /* supplied power of the load and the force vectors */
} yk_force_load;

/* Derivatives of part[i] by displacement and rotation of a and b (in this order) and by their
 * velocities. Terms of damping times velocity by the change of geometry are neglected. */
typedef struct yk_force_tangent {
    yk_mat3 pose[4][4];
    yk_mat3 rate[4][4];
} yk_force_tangent;

typedef struct yk_force_traits {
    const char *name; /* "spring" */
    /* The relative motion in the law, which a sensor next to it measures. */
    enum {
        YK_FORCE_LENGTH, /* of the line between the origins */
        YK_FORCE_ANGLE,  /* of b about z of a */
        YK_FORCE_SLIDE   /* of b along z of a */
    } motion;
    bool on_both; /* acts on both bodies, otherwise on b only */
    bool torque;  /* the load is a torque, otherwise a force */
    bool vector;  /* the load has the direction of `vector` */
    bool follows; /* the vector rotates with the marker b */
    bool touches; /* between surfaces that may be apart: pictures have no line for it */
} yk_force_traits;

const yk_force_traits *yk_force_traits_of(yk_force_kind kind);
/* Checks a force: its kind, its bodies, its coefficients, and that its load has a single source.
 * `model` is the name of the model in messages. The solver checks ids of bodies and of the input,
 * because it knows their number. */
yk_status yk_force_check(yk_context *context, const char *model, const yk_force_def *def);
/* The law of a force from its description. */
yk_force_law yk_force_of(const yk_force_def *def);

/* The tangent may be NULL. */
void yk_force_evaluate(const yk_force_law *law, const yk_frame *body_a, const yk_frame *body_b,
                       double load, yk_force_load *result, yk_force_tangent *tangent);

/* One term of a sum of coordinates: the length, angle or displacement of a force between two
 * markers, its rate, and its gradient as wrenches on both bodies (force a, torque a, force b,
 * torque b). */
typedef struct yk_force_coordinate {
    double value, rate;
    yk_vec3 gradient[4];
} yk_force_coordinate;

/* Force against the growth of a coordinate, and its derivatives. */
typedef struct yk_scalar_force {
    double force;
    double by_value, by_rate;
    double energy, loss, supply; /* as in yk_force_load */
} yk_scalar_force;

/* Whether forces of this kind have a coordinate: springs, torsion springs and motors. */
bool yk_force_kind_has_coordinate(yk_force_kind kind);
/* `near_angle`: reference of an angle, which has any number of turns. */
yk_force_coordinate yk_force_coordinate_at(const yk_force_law *law, const yk_frame *body_a,
                                           const yk_frame *body_b, double near_angle);
/* Derivative by the poses of a force of constant size along the coordinate: minus the force times
 * the second derivative of the coordinate. */
void yk_force_geometric(const yk_force_law *law, const yk_frame *body_a, const yk_frame *body_b,
                        double force, yk_force_tangent *tangent);
/* The law on a coordinate, or on a sum of them. (scalar_force.c) */
yk_scalar_force yk_force_scalar(const yk_force_law *law, double value, double rate, double load);

/* Viscous damping that a solver may treat implicitly: that of torsion springs without further terms
 * and of bushings whose damping has no entries off the diagonal. Moves the coefficients from the
 * law to `damping`, by direction: displacements along x, y, z of a, then components of the rotation
 * vector (a torsion spring has the last one). Returns how many are positive; 0 leaves the law as it
 * is. */
int yk_force_take_dampers(yk_force_law *law, double damping[6]);
/* Gradient of the rate of one of these directions: force a, torque a, force b, torque b. */
void yk_force_damper_gradient(const yk_force_law *law, const yk_frame *body_a,
                              const yk_frame *body_b, int direction, yk_vec3 gradient[4]);

/* Present length, angle or displacement of the law, and its rate. */
void yk_force_stretch(const yk_force_law *law, const yk_frame *body_a, const yk_frame *body_b,
                      double *value, double *rate);

#endif
