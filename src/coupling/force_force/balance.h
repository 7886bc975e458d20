/* Force-force exchange: one wrench on both sides of an interface, computed before any subsystem
 * steps. Such interfaces are called balanced.
 *
 * If a motion is prescribed to one side, an error of the motion causes a wrench error proportional
 * to its mass, and the other side turns that into a motion error divided by its own mass. So a
 * force-motion exchange multiplies errors by the mass ratio, whatever the step size. Here both
 * sides receive the wrench, and every subsystem predicts its next step (step model, linear in the
 * wrenches f):
 *
 *   w = w0 + Y (f - f0)        x = x0 + lead h Y (f - f0)         at the end of the step
 *
 * The joint equations g hold at the end of the step, on position and velocity level together,
 *
 *   g' + g / h = 0             for all balanced interfaces at once
 *
 * which is one small linear system for the multipliers. Its matrix contains the sum of Y of both
 * sides, so that a model error is divided by the sum and multiplied by one of the terms: the mass
 * ratio does not matter. For linear subsystems that use the same one-step implicit method, the
 * result is that of the method applied to the merged system.
 *
 * The remaining g after the step is of higher order and is removed by the next step. Each subsystem
 * is called once; all of them may run at the same time.
 *
 * The factors of the matrix are kept over steps as long as they contract the conditions well
 * (kept_factors.c); in such a step the subsystems only predict w0 and x0.
 *
 * Methods evaluate a constant wrench at different points of the step (`sample`). The wrench on the
 * side that evaluates it later is extrapolated to that point along its last change. Otherwise the
 * sides would act on each other with a delay, which adds energy to every oscillation. */
#ifndef YK_COUPLING_BALANCE_H
#define YK_COUPLING_BALANCE_H

#include "coupling/constraint.h"
#include "coupling/extrapolation.h"
#include "coupling/jacobian.h"
#include "coupling/system.h"

/* One subsystem with balanced interfaces. */
typedef struct yk_balance_participant {
    /* Number of velocities of its connected wrench ports, balanced or not; 0: none is balanced. */
    int size;

    /* Per port: index of its first velocity, or -1. */
    int *offsets;

    /* In the system's units and axes. */
    yk_step_model model;

    /* Only for subsystems without a step model: their interface model, and the wrenches on it. */
    double *inverse_mass, *rate, *wrenches;
} yk_balance_participant;

typedef struct yk_balance_interface {
    int interface; /* Index in the system. */
    yk_constraint constraint;

    /* Wrenches of a unit multiplier on both sides. */
    yk_wrench unit[2][YK_JOINT_ROWS_MAX];

    /* Factor of the last change with which the wrench of a side is extrapolated. */
    double shift[2];

    /* Gradient of the constraint at the end of the step. */
    yk_constraint_gradient gradient;

    /* Part of the state: multipliers and wrenches of the last step, before extrapolation. */
    double multiplier[YK_JOINT_ROWS_MAX];
    yk_wrench wrench[2];
} yk_balance_interface;

/* State of the factors that are kept over steps (kept_factors.c). All members are part of the state
 * image, as opaque words. */
typedef struct yk_kept_factors {
    double valid;      /* 0: the next step needs new factors; 1: there are factors to reuse. */
    double age;        /* Number of steps since the factors were computed. */
    double h;          /* Size of the step of the factors (s). */
    double conditions; /* Conditions before the correction of the last step, scaled by rows. */
    double rounding;   /* Rounding errors of these conditions, in the same scale. */
    double growth;     /* Growth of the contraction rate per step of age, as last measured. */
    double unmeasured; /* Number of steps since then. */
} yk_kept_factors;

typedef struct yk_balance {
    yk_balance_participant *participants;
    int count;
    yk_balance_interface *interfaces;
    int rows; /* conditions of all interfaces */
    /* One number per condition: the conditions, then the correction; multipliers before it; the correction by
     * old factors. */
    double *residual, *held, *old_correction;

    /* Derivatives of all conditions with respect to all multipliers, whose factors are reused. */
    yk_jacobian *jacobian;
    yk_kept_factors kept;

    /* The step models have been requested before, so that it is known at which point each side
     * evaluates its wrench. */
    bool asked;
} yk_balance;

/* A balance belongs to the scheme that uses it. It is NULL if no interface is balanced; functions
 * that take a balance accept NULL. */

/* Causality of the second side of an interface: a wrench, if the exchange asks for it and both
 * subsystems support it. */
yk_causality yk_balance_second_side(yk_exchange exchange, const yk_port_pair *joined);
/* Creates the balance for all interfaces whose second side receives a wrench, except those that are
 * excluded. `excluded` has one entry per interface; NULL: none is. */
yk_status yk_balance_create(yk_system *system, const bool *excluded, yk_balance **balance);
/* Copies multipliers and wrenches from a balance that has all of its interfaces and has started. */
void yk_balance_copy_start(yk_balance *balance, const yk_balance *started);
void yk_balance_destroy(yk_balance *balance, yk_system *system);
/* Part of the state image. get and set move both addresses behind their last words. */
yk_state_layout yk_balance_layout(const yk_balance *balance);
void yk_balance_get(const yk_balance *balance, double **continuous, double **opaque);
void yk_balance_set(yk_balance *balance, const double **continuous, const double **opaque);
/* Whether opaque words of unknown origin can be set; moves the address behind them. */
bool yk_balance_is_valid(const yk_balance *balance, const double **opaque);
/* After a discontinuity: the next step computes new factors. */
void yk_balance_restart(yk_balance *balance);

/* start.c: finds wrenches with which the accelerations of both sides agree, together with those of
 * all other interfaces. */
yk_status yk_balance_start(yk_balance *balance, yk_system *system);

/* Computes the wrenches of the next step and sets them as inputs of both sides. Other interfaces
 * have the inputs of the explicit scheme with the given weights and extrapolation. */
yk_status yk_balance_solve(yk_balance *balance, yk_system *system, const yk_input_weights *weights,
                           const yk_motion_history *history);
/* After the state of a later step was set in a system that has made no step: requests the step
 * models that a previous step would have requested. */
void yk_balance_take_over(yk_balance *balance, yk_system *system);
/* Wrenches of unit multipliers at a time, for the given motions of both sides. */
void yk_balance_directions(yk_balance_interface *own, double t, const yk_motion *a,
                           const yk_motion *b);
/* kept_factors.c. Measures how far the last step contracted the conditions, from the present motions
 * at the end of that step. */
void yk_balance_measure_factors(yk_balance *balance, const yk_system *system);
/* Whether a step of size h needs new factors, before its conditions are known, and when they are. */
/* Before new factors are computed: the correction by the old ones, to be compared with the new one. False: there is nothing to
 * compare. */
bool yk_balance_try_old_factors(yk_balance *balance);
void yk_balance_compare_factors(yk_balance *balance);
bool yk_balance_needs_factors(const yk_balance *balance, double h);
bool yk_balance_has_jump(const yk_balance *balance, const double *conditions);
/* After a step of size h was solved with factors that were computed in this step or earlier. */
void yk_balance_age_factors(yk_balance *balance, const yk_system *system, double conditions,
                            bool computed);
/* The conditions g / h^2 + g' / h of one interface. */
void yk_balance_conditions(const yk_balance_interface *own, double h,
                           const yk_constraint_kinematics *kinematics, double *conditions);
/* Sets the wrenches of the multipliers, extrapolated, as inputs of both sides. */
void yk_balance_apply(yk_system *system, yk_balance_interface *own);

#endif
