/* The state of a multibody system: one flat image of doubles, which alone determines the next step.
 * Rollback saves and restores the image. The pointers of the state point into it. Matrix factors
 * and Jacobians that are kept over several steps are functions of placements in the image, so that
 * the same bits can be recomputed from an image. */
#ifndef YK_MULTIBODY_STATE_H
#define YK_MULTIBODY_STATE_H

#include "multibody/model.h"

/* A node at an accepted time. */
typedef struct node_state {
    yk_vec3 position;
    yk_quat orientation;
    yk_vec3 velocity;
    yk_vec3 angular_velocity;
    yk_momentum momentum;
    yk_momentum momentum_rate;
    yk_vec3 acceleration;
    yk_vec3 angular_acceleration;
} node_state;

/* A generalised coordinate at an accepted time. */
typedef struct coordinate_state {
    double value, rate;
    double momentum, momentum_rate;
    double acceleration;
} coordinate_state;

/* Placement of a coordinate when the matrix was assembled. */
typedef struct coordinate_reference {
    double value, rate;
} coordinate_reference;

/* Counters and sums that belong to the state; all are eight bytes wide. */
typedef struct clock_state {
    double t, h;
    int64_t steps; /* since the start; 0: there is no previous step */
    /* last measured contraction of the iteration with kept factors, per step of their age */
    double rate;
    double fresh_rate; /* contraction in the step in which factors were made */
    double age;        /* of the factors, in steps */
    double refresh;    /* not zero: make new factors in the next step */
    double unmeasured; /* steps since a contraction was measured */
    double correction; /* first correction of the last step: its estimated local error */
    double size;       /* of the next internal step, with error control */
    double h_before;   /* size of the step before the last */
    double unchanged;  /* steps since the size changed */
    /* Not 0: constraint rows that are not left out depend on each other in the present position, so
     * that the matrix needs a compliance. */
    double redundant;
    double work, port_work, dissipated;
    /* powers at t; port_supply is the part of supply through ports */
    double supply, port_supply, loss;
} clock_state;

/* Where the Jacobian of a part was evaluated, and its contraction (relaxed.c). In the image the
 * placement follows: all frames, then all coordinates. */
typedef struct part_state {
    double t, h; /* h = 0: there is no Jacobian */
    double stale;
    double rate;    /* last measured contraction */
    double trusted; /* relaxations since the last measurement */
} part_state;

/* Numbers with which the matrix was assembled. */
typedef struct factor_state {
    double c;
    double t;
    double damping;
    double level; /* an assembly_level: LEVEL_STEP or LEVEL_ACCELERATION */
} factor_state;

typedef struct yk_multibody_state {
    double *image;
    size_t words;

    node_state *now, *before;
    coordinate_state *coordinate_now, *coordinate_before;
    yk_vec3 *rotation;                    /* rotation from before to now */
    yk_vec3 *older_move, *older_rotation; /* the same one step earlier, for the local error */
    double *older_change;                 /* and of each coordinate */
    double *lambda;                       /* present multipliers */
    double *lambda_before;
    double *method;    /* algorithmic accelerations of an integrator, one per unknown of motion */
    double *angle;     /* angles over any number of turns, the references of those of a step */
    yk_wrench *wrench; /* wrench on each port */
    yk_frame *driven;  /* prescribed frames */

    double *parts; /* part_words each, beginning with a part_state; only if parts can be relaxed */
    size_t part_words;

    /* Data with which the matrix was assembled, so that the same factors can be made again after a
     * rollback: frames, coordinates, multipliers, and numbers. */
    yk_frame *reference;
    coordinate_reference *reference_coordinate;
    double *reference_lambda;
    factor_state *factor;

    clock_state *clock;
} yk_multibody_state;

/* state.c: depends on the def and the connections only, so that it can be called before the start. */
yk_state_layout yk_multibody_state_layout(const yk_multibody_model *model);
yk_status yk_multibody_state_create(const yk_multibody_model *model, yk_multibody_state *state);
void yk_multibody_state_release(const yk_multibody_model *model, yk_multibody_state *state);

#endif
