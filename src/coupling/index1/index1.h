/* Internal structs and functions of the scheme index1 (see index1.c): polynomials of the
 * multipliers, directions of their wrenches, and the connection of interfaces and subsystems.
 *
 * Unknowns are numbered by interface, then by free parameter, then by row; equations by interface,
 * then by level, then by row. So the Jacobian is square, with one dense block per pair of
 * interfaces that share a subsystem. */
#ifndef YK_COUPLING_INDEX1_H
#define YK_COUPLING_INDEX1_H

#include "coupling/constraint.h"
#include "coupling/jacobian.h"
#include "coupling/path.h"
#include "coupling/system.h"

enum {
    YK_INDEX1_PARAMETERS = 3,
    YK_INDEX1_NODES = YK_INPUT_COEFFICIENT_COUNT,
    /* Position and velocity of side B of a relation at the end of a step. */
    YK_INDEX1_MOTIONS = 2
};

/* The polynomials of one degree, in tau = (t - T) / H (see wrench.c). */
typedef struct yk_index1_basis {
    int degree;

    /* Number of free parameters of every multiplier, and of conditions at the end of the step. */
    int parameters;

    /* Shapes p_1 to p_3 in powers of tau. */
    double shape[YK_INDEX1_PARAMETERS][YK_INPUT_COEFFICIENT_COUNT];

    /* Per condition: weights of g / H^2, g' / H, g''; weights of the moments L1, L2, L3 of
     * relations. */
    double condition[YK_INDEX1_PARAMETERS][YK_LEVELS];
    double moment[YK_INDEX1_PARAMETERS][YK_LEVELS];

    /* Nodes at which the directions of wrenches are evaluated; Lagrange polynomials of the nodes in
     * powers of tau; weights of the quadrature over [0, 1]. */
    double node[YK_INDEX1_NODES];
    double lagrange[YK_INDEX1_NODES][YK_INPUT_COEFFICIENT_COUNT];
    double weight[YK_INDEX1_NODES];
} yk_index1_basis;

yk_index1_basis yk_index1_basis_of(int degree);

/* A multiplier over the step. */
typedef struct yk_index1_multiplier {
    double power[YK_INPUT_COEFFICIENT_COUNT]; /* of tau */
} yk_index1_multiplier;

/* Data of one interface. */
typedef struct yk_index1_interface {
    /* The larger mobility of both sides, at the start; 0: unknown. */
    yk_mobility mobility;

    yk_constraint constraint;

    /* Basis of the present step. */
    const yk_index1_basis *basis;

    /* Multipliers of the present step (between steps: of the last one), and of the step before it. */
    yk_index1_multiplier multiplier[YK_JOINT_ROWS_MAX];
    yk_index1_multiplier last[YK_JOINT_ROWS_MAX];

    /* Change of the mean multipliers from the step before the last to the last step; whether the
     * prediction repeats the shape of the last step instead of extrapolating it (predict_row). */
    double trend[YK_JOINT_ROWS_MAX];
    bool repeats;

    /* Wrenches of a unit multiplier on both sides at each node. */
    yk_wrench unit[2][YK_INDEX1_NODES][YK_JOINT_ROWS_MAX];

    /* Per side: motion at the start of the last step, and motion at the end of this step with the
     * predicted multipliers. */
    yk_motion earlier[2];
    yk_motion predicted[2];

    /* Per side: mean wrench over its present substep, and over the last substep of the last step;
     * see yk_index1_substep_line(). */
    yk_wrench mean[2];
    yk_wrench last_mean[2];

    /* Gradient of the constraint at the end of the step. */
    yk_constraint_gradient gradient;

    /* Relations: position and velocity that side B is given for the end of the step. */
    double given[YK_INDEX1_MOTIONS];
} yk_index1_interface;

typedef struct yk_index1 {
    yk_scheme base;
    yk_index1_options options;
    yk_index1_basis bases[YK_INPUT_COEFFICIENT_COUNT];
    yk_index1_interface *interfaces;

    /* Wires whose values are unknowns. The condition of each is that its source has, at the end of
     * the step, the value that the target was given. */
    int wire_count;
    struct {
        int wire;
        double end; /* Value at the end of the step. */

        /* Value at the start of the last step; part of the state. */
        double earlier;
    } * wires;

    /* Basis of constraints in the present step. */
    const yk_index1_basis *basis;

    /* Jacobian of interfaces, then wires; Jacobian of accelerations with respect to constant
     * multipliers, for the start. */
    yk_jacobian *jacobian;
    yk_jacobian *start_jacobian;

    /* Options of the present run: participants are rolled back first; the run computes new
     * responses. */
    bool rewinds, responds;
    /* Change of a multiplier for finite differences (N, N m). */
    double change_of_wrenches;

    /* Per participant: sensitivities of its last step; NULL: finite differences are used. */
    double **sensitivity;

    /* Vectors of parameters. `correction` is subtracted from them; `held` is a copy for
     * yk_jacobian_solve(); `applied` is their change between the last two runs; `change` is their
     * change since the last iterate that did not increase the residual. */
    double *correction, *held;
    double *applied;
    double *change;

    /* Per participant with relations, per port: moments of its wrenches over the step
     * (constitutive.c); otherwise NULL. */
    yk_motion **moments;

    /* Counters: computed Jacobians, and per participant calls for finite differences. */
    int64_t jacobians;
    int64_t *difference_runs;

    /* Part of the state. Size of the last step; 0: there is nothing to extrapolate. */
    double last_step;

    /* Step size for which the responses were computed, 0: none; degree of the polynomials at that
     * time. */
    double jacobian_step;
    int jacobian_degree;

    /* Factor by which the corrections of the last step decreased. */
    double last_rate;

    /* The multipliers may jump at the start of the step. */
    bool jumped;
} yk_index1;

static inline yk_index1 *yk_index1_of(const yk_system *system)
{
    return (yk_index1 *)system->scheme;
}

/* Side B of a relation cannot receive a wrench. It receives the motion of A. */
static inline bool yk_index1_is_relation(const yk_interface *interface)
{
    return interface->takes == YK_CAUSALITY_MOTION_INPUT;
}

/* wrench.c */
/* Evaluates the constraint of an interface with the present motions of its sides. */
void yk_index1_kinematics(const yk_system *system, int interface, double t,
                          yk_constraint_kinematics *kinematics);
/* Computes the directions of all wrenches: from the extrapolated path of the last step (predictor),
 * or from the predicted motions of the sides after the parameters change by `step`. So directions
 * and multipliers converge together. */
void yk_index1_predict_directions(yk_system *system);
void yk_index1_update_directions(yk_system *system, const double *step);
/* The wrench on one side, caused by the given multipliers, as an input. */
void yk_index1_input(const yk_index1_interface *interface, int side, double h,
                     const yk_index1_multiplier *multiplier, yk_input *input);
/* The wrench during one substep of a participant that does not follow polynomials: a line that
 * replaces the input and begins `offset` after the start of the step. Such a participant uses the
 * mean of a wrench, or its value at the end of the substep. Both must give the same impulse,
 * although polynomials of degree 2 and less jump between macro steps. Therefore the line has the
 * mean of the polynomial, and its end value is extrapolated from this mean and the `last` mean.
 * This is of second order, and the sum of the end values equals the sum of the means, except for
 * the first and the last. */
yk_input yk_index1_substep_line(const yk_system *system, const yk_participant *participant,
                                double offset, const yk_input *input, const yk_wrench *last);
/* The same for an input of one side, with its mean in the previous substep. */
yk_input yk_index1_substep_input(yk_scheme *scheme, yk_system *system, int interface, int side,
                                 double offset);
/* Sets the inputs of both sides of all interfaces. */
void yk_index1_set_inputs(yk_system *system);
/* Work of an interface on both of its sides in the step, without that of a prescribed motion. */
void yk_index1_work(const yk_scheme *scheme, const yk_system *system, int interface,
                    yk_interface_work *work);

/* Answer of a side: its motion, the moments of the wrench of a relation, or the value of a wire.
 * Interfaces are numbered as in the Jacobian. */
static inline yk_motion yk_index1_answer(const yk_system *system, int interface, int side)
{
    /* For a wire: the value of its source, or the value that its target was given. */
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
    return x->moments[l->def.motion_subsystem.index][l->def.motion_port.index];
}

/* Whether the response of a participant is computed from its own sensitivities. They cover one step
 * and wrenches only; all other responses are computed by finite differences. Requires that moments
 * have been created. */
static inline bool yk_index1_has_sensitivity(const yk_system *system, int participant)
{
    const yk_participant *p = &system->participants[participant];
    const yk_index1 *x = yk_index1_of(system);
    if (x->options.jacobian_update == YK_JACOBIAN_UPDATE_FINITE_DIFFERENCES ||
        x->moments[participant])
        return false;
    return p->subsystem->ops->sensitivity && p->substeps == 1;
}

/* constitutive.c: wires whose values are unknowns. In order: allocation; extrapolated values at the
 * end of the step; correction of the values; inputs of a participant; input of a single wire;
 * perturbation for finite differences. */
yk_status yk_index1_create_wires(yk_system *system);
void yk_index1_predict_wires(yk_system *system);
void yk_index1_correct_wires(yk_system *system, const double *correction);
void yk_index1_carry_signals(yk_system *system, int participant);
void yk_index1_wire_input(const yk_system *system, int number, double end, yk_input *input);
double yk_index1_wire_change(const yk_system *system, int number);
/* Residual per wire: the value that the target was given minus the value of the source. Returns the
 * largest one relative to 1 + |source|. */
double yk_index1_evaluate_wires(const yk_system *system, double *residual);
void yk_index1_keep_wires(yk_system *system);

/* Relations, in the order of the functions below: prediction of the motion of side B from the
 * extrapolated motion of A; its input; its perturbation for finite differences, as an acceleration
 * over the step; the residuals of the conditions, which also updates the largest residuals of
 * motions and of wrenches (N) and returns the address after the last residual; the work. */
/* Moments: called before a participant steps, and after each of its substeps, numbered from 1. */
void yk_index1_substep(yk_scheme *scheme, yk_system *system, int participant, int number);
void yk_index1_predict_relation(yk_system *system, int interface);
void yk_index1_motion_input(const yk_system *system, int interface,
                            const double given[YK_INDEX1_MOTIONS], yk_input *input);
double yk_index1_motion_change(const yk_system *system, int interface);
double *yk_index1_evaluate_relation(const yk_system *system, int interface, double *residual,
                                    double *condition, double *force);
void yk_index1_relation_work(const yk_system *system, int interface, yk_interface_work *work);

/* response.c */
/* Chooses the change of the multipliers for finite differences, before the runs that use it. */
void yk_index1_find_change(yk_system *system);
/* Makes a step of a participant and computes the derivatives of its motions with respect to the
 * parameters. The participant must be in its saved state. */
yk_status yk_index1_advance_with_response(yk_system *system, int participant);
/* create.c */
yk_status yk_index1_create(yk_system *system, const void *options, yk_scheme **scheme);
void yk_index1_destroy(yk_scheme *scheme, yk_system *system);
yk_status yk_index1_start(yk_scheme *scheme, yk_system *system);
/* Part of the state image: continuous words, then opaque words. */
yk_state_layout yk_index1_layout(const yk_scheme *scheme, const yk_system *system);
void yk_index1_get(const yk_scheme *scheme, const yk_system *system, double *continuous,
                   double *opaque);
void yk_index1_set(yk_scheme *scheme, yk_system *system, const double *continuous,
                   const double *opaque);
bool yk_index1_is_valid(const yk_scheme *scheme, const yk_system *system, const double *continuous,
                        const double *opaque);

#endif
