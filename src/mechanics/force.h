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

/* Present length, angle or displacement of the law, and its rate. */
void yk_force_stretch(const yk_force_law *law, const yk_frame *body_a, const yk_frame *body_b,
                      double *value, double *rate);

#endif
