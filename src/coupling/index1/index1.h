/* The inside of the scheme index1 (see index1.c): polynomials of the multipliers, directions of
 * their wrenches, and the interfaces between interfaces and subsystems.
 *
 * Unknowns are numbered by interface, then by free parameter, then by row; equations by
 * interface, then by level, then by row, so that the Jacobian is square with one dense block per
 * pair of interfaces that meet in a subsystem. */
#ifndef YK_COUPLING_INDEX1_H
#define YK_COUPLING_INDEX1_H

#include "coupling/constraint.h"
#include "coupling/jacobian.h"
#include "coupling/system.h"

enum {
    YK_INDEX1_PARAMETERS = 3,
    YK_INDEX1_NODES = YK_INPUT_COEFFICIENT_COUNT,
    /* Position and velocity that a relation is given for the end of a step. */
    YK_INDEX1_MOTIONS = 2
};

/* The polynomials of one degree, in tau = (t - T) / H (see wrench.c). */
typedef struct yk_index1_basis {
    int degree;

    /* Free ones of every multiplier, and conditions at the end of the step. */
    int parameters;

    /* p_1 to p_3 in powers of tau. */
    double shape[YK_INDEX1_PARAMETERS][YK_INPUT_COEFFICIENT_COUNT];

    /* Weights of g / H^2, g' / H, g''; of the moments L1, L2, L3 of relations. */
    double condition[YK_INDEX1_PARAMETERS][YK_LEVELS];
    double moment[YK_INDEX1_PARAMETERS][YK_LEVELS];

    /* Where the directions of wrenches are taken; polynomials that are 1 at their node and 0 at
     * the others, in powers of tau; weights of quadrature over [0, 1]. */
    double node[YK_INDEX1_NODES];
    double lagrange[YK_INDEX1_NODES][YK_INPUT_COEFFICIENT_COUNT];
    double weight[YK_INDEX1_NODES];
} yk_index1_basis;

yk_index1_basis yk_index1_basis_of(int degree);

/* A multiplier over the step. */
typedef struct yk_index1_multiplier {
    double power[YK_INPUT_COEFFICIENT_COUNT]; /* of tau */
} yk_index1_multiplier;

/* What the scheme keeps of one interface. */
typedef struct yk_index1_interface {
    /* The larger of both sides, at the start; 0: not known. */
    yk_mobility mobility;

    yk_constraint constraint;

    /* Of the present step. */
    const yk_index1_basis *basis;

    /* Over the present step, or the last one; over the step before it, in a step. */
    yk_index1_multiplier multiplier[YK_JOINT_ROWS_MAX];
    yk_index1_multiplier last[YK_JOINT_ROWS_MAX];

    /* Change of their means from the last step but one to it; whether they are predicted as what
     * they were (see predict). */
    double trend[YK_JOINT_ROWS_MAX];
    bool repeats;

    /* Wrench of a unit multiplier at each node. */
    yk_wrench unit[2][YK_INDEX1_NODES][YK_JOINT_ROWS_MAX];

    /* Of both sides: motion at the start of the last step, and at the end of this one with the
     * predicted multipliers. */
    yk_motion earlier[2];
    yk_motion predicted[2];

    /* Mean wrench on both sides over their present substep, and over the last one of the last
     * step; see yk_index1_substep_line. */
    yk_wrench mean[2];
    yk_wrench last_mean[2];

    /* Of the constraint at the end of the step. */
    yk_constraint_gradient gradient;

    /* Relations: where side B will be at the end of the step. */
    double given[YK_INDEX1_MOTIONS];
} yk_index1_interface;

typedef struct yk_index1 {
    yk_scheme base;
    yk_index1_options options;
    yk_index1_basis bases[YK_INPUT_COEFFICIENT_COUNT];
    yk_index1_interface *interfaces;

    /* Wires that are solved for: the source of each gives at the end of the step what its target was
     * given. */
    int wire_count;
    struct {
        int wire;
        double end; /* of the step */

        /* At the start of the last step; part of the state. */
        double earlier;
    } * wires;

    /* Of constraints in the present step. */
    const yk_index1_basis *basis;

    /* Of interfaces, then wires; and of accelerations by constant multipliers. */
    yk_jacobian *jacobian;
    yk_jacobian *start_jacobian;

    /* Of the run that is being made: participants return to the mark first; it brings new
     * responses. */
    bool rewinds, responds;

    /* Per participant: of its last step; NULL: finite differences. */
    double **sensitivity;

    /* Of the parameters: what is to be subtracted from them, their change between the last run and
     * the present one, and since the last iterate that was no worse than the one before. */
    double *correction, *held;
    double *applied;
    double *change;

    /* Per participant behind relations, per port: of the wrenches over the step, see constitutive.c;
     * else NULL. */
    yk_motion **moments;

    /* Counts: Jacobians that were computed, and per participant calls for finite differences. */
    int64_t jacobians;
    int64_t *difference_runs;

    /* Part of the state. Size of the last step, 0: nothing to extrapolate from. */
    double last_step;

    /* Size of the step that the responses were computed in, 0: none; degree of the polynomials
     * then. */
    double jacobian_step;
    int jacobian_degree;

    /* By which the corrections of the last step shrank. */
    double last_rate;

    /* The multipliers may jump at the start of the step. */
    bool jumped;
} yk_index1;

static inline yk_index1 *yk_index1_of(const yk_system *system)
{
    return (yk_index1 *)system->scheme;
}

/* Side B of a relation cannot take a wrench, and is given the motion of A. */
static inline bool yk_index1_is_relation(const yk_interface *interface)
{
    return interface->takes == YK_CAUSALITY_MOTION_INPUT;
}

/* Paths, in wrench.c: how a port moves between the two ends of a macro step, as far as the
 * motions at its ends show: the polynomial of fifth degree that meets both with velocity and
 * acceleration, on SO(3) for orientations. Its error is of sixth order in the step; beyond the end
 * it extrapolates with the same order. */
enum { YK_PATH_COEFFICIENTS = 6 };

typedef struct yk_path {
    yk_port_kind kind;
    yk_vec3 linear[YK_PATH_COEFFICIENTS];

    /* Rotation vector, from `orientation` on. */
    yk_vec3 angular[YK_PATH_COEFFICIENTS];
    yk_quat orientation;
} yk_path;

/* From one motion to another in the time h. */
yk_path yk_path_between(yk_port_kind kind, double h, const yk_motion *from, const yk_motion *to);
/* Position, orientation and velocities at time t from the path's start; accelerations are not
 * filled. */
void yk_path_at(const yk_path *path, double t, yk_motion *motion);

/* wrench.c */
/* Where the constraint of an interface stands with the present motions of its sides. */
void yk_index1_kinematics(const yk_system *system, int interface, double t,
                          yk_constraint_kinematics *kinematics);
/* The directions of all wrenches, from the path of the last step extended (the predictor), or
 * from the motion that the sides will have reached when the parameters have changed by `step`: so
 * directions and multipliers converge together. */
void yk_index1_predict_directions(yk_system *system);
void yk_index1_update_directions(yk_system *system, const double *step);
/* The wrench of some multipliers on one side as an input. */
void yk_index1_input(const yk_index1_interface *interface, int side, double h,
                     const yk_index1_multiplier *multiplier, yk_input *input);
/* What acts in one substep of a participant that does not follow polynomials: a line in place of
 * the input, which begins `offset` after the start of the step. Such a participant takes the mean
 * of a wrench, or reads it at the end of its substep, and both must come to the same impulse
 * although polynomials of degree 2 and less jump between macro steps. So the line has the mean of
 * the polynomial, and at its end the value that this mean and the `last` one extrapolate to: of
 * second order, and the sum of the values at all ends is that of all means but for the first and
 * the last. */
yk_input yk_index1_substep_line(const yk_system *system, const yk_participant *participant,
                                double offset, const yk_input *input, const yk_wrench *last);
/* The same of an input of one side, with the mean that it had in the substep before. */
yk_input yk_index1_substep_input(yk_scheme *scheme, yk_system *system, int interface, int side,
                                 double offset);
/* All inputs of both sides of all interfaces. */
void yk_index1_set_inputs(yk_system *system);
/* Work of an interface on both of its sides in the step, without that of a prescribed motion. */
void yk_index1_work(const yk_scheme *scheme, const yk_system *system, int interface,
                    yk_interface_work *work);

/* What a side answers: its motion, the moments of the wrench of a relation, or the value of a
 * wire. Interfaces as the Jacobian numbers them. */
static inline yk_motion yk_index1_answer(const yk_system *system, int interface, int side)
{
    /* A wire: what its source gives, or what its target was given. */
    const yk_index1 *x = yk_index1_of(system);
    if (interface >= system->interface_count) {
        int number = interface - system->interface_count;
        double value = x->wires[number].end;
        if (side == 0)
            value = system->wires[x->wires[number].wire].now;
        return (yk_motion){.position.x = value};
    }

    const yk_interface *l = &system->interfaces[interface];
    if (side == 0)
        return yk_value_a(system, l)->motion;
    if (!yk_index1_is_relation(l))
        return yk_value_b(system, l)->motion;
    return x->moments[l->def.motion_subsystem][l->def.motion_port];
}

/* Whether the response of a participant comes from its own sensitivities, which are those of one
 * step and know wrenches alone; the others are differenced. After its moments are created. */
static inline bool yk_index1_has_sensitivity(const yk_system *system, int participant)
{
    const yk_participant *p = &system->participants[participant];
    const yk_index1 *x = yk_index1_of(system);
    if (x->options.jacobian_update == YK_JACOBIAN_UPDATE_FINITE_DIFFERENCES ||
        x->moments[participant])
        return false;
    return p->subsystem->ops->sensitivity && p->substeps == 1;
}

/* constitutive.c: wires that are solved for. Memory for them at creation; their values at the end of the
 * step as they are extrapolated, and after a correction; as inputs of a participant; one of them
 * as an input; a change for finite differences; conditions; and what is kept of the step. */
yk_status yk_index1_create_wires(yk_system *system);
void yk_index1_predict_wires(yk_system *system);
void yk_index1_correct_wires(yk_system *system, const double *correction);
void yk_index1_carry_signals(yk_system *system, int participant);
void yk_index1_wire_input(const yk_system *system, int number, double end, yk_input *input);
double yk_index1_wire_change(const yk_system *system, int number);
/* Residual per wire: the value that the target was given less the value of the source. Returns the
 * largest one relative to 1 + |source|. */
double yk_index1_evaluate_wires(const yk_system *system, double *residual);
void yk_index1_keep_wires(yk_system *system);

/* Relations: the motion that side B is given, first as A's is extrapolated, and as its input; a
 * change of it for finite differences, as an acceleration over the step; the conditions, which
 * follow each other in `residual` and raise the largest ones on motions and on wrenches (N); the
 * work. */
/* Moments: before a participant steps, and after each of its substeps, numbered from 1. */
void yk_index1_substep(yk_scheme *scheme, yk_system *system, int participant, int number);
void yk_index1_predict_relation(yk_system *system, int interface);
void yk_index1_motion_input(const yk_system *system, int interface,
                            const double given[YK_INDEX1_MOTIONS], yk_input *input);
double yk_index1_motion_change(const yk_system *system, int interface);
double *yk_index1_evaluate_relation(const yk_system *system, int interface, double *residual,
                                    double *condition, double *force);
void yk_index1_relation_work(const yk_system *system, int interface, yk_interface_work *work);

/* response.c */
/* A step of a participant with the derivatives of its motions by the parameters; the participant
 * must be at the mark. */
yk_status yk_index1_advance_with_response(yk_system *system, int participant);
/* create.c */
yk_status yk_index1_create(yk_system *system, const void *options, yk_scheme **scheme);
void yk_index1_destroy(yk_scheme *scheme, yk_system *system);
yk_status yk_index1_start(yk_scheme *scheme, yk_system *system);
/* Its part of the state image: continuous words, then opaque ones. */
yk_state_layout yk_index1_layout(const yk_scheme *scheme, const yk_system *system);
void yk_index1_get(const yk_scheme *scheme, const yk_system *system, double *continuous,
                   double *opaque);
void yk_index1_set(yk_scheme *scheme, yk_system *system, const double *continuous,
                   const double *opaque);
bool yk_index1_is_valid(const yk_scheme *scheme, const yk_system *system, const double *continuous,
                        const double *opaque);

#endif
