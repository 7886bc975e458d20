/* Interfaces in balance: one wrench on both sides, found before any subsystem moves.
 *
 * A motion that is prescribed to one side comes back as a wrench of its mass times the error of
 * the motion; the other side makes an error of that wrench over its own mass. So an exchange of
 * motion and wrench multiplies errors by the ratio of masses, whatever the step. Here both sides
 * take the wrench, and every subsystem says what its next step will do (step_model of the
 * contract, linear in the wrenches):
 *
 *   w = w0 + Y (f - f0)        x = x0 + lead h Y (f - f0)         at the end of the step
 *
 * The joints' equations g hold at the end of the step, on position and velocity level together,
 *
 *   g' + g / h = 0             of all balanced interfaces at once
 *
 * which is one small linear system for the multipliers. Y of both sides adds up in it, so an
 * error of a model is divided by the sum of both and multiplied by one of them: the ratio of
 * masses does not matter. For linear subsystems that step by one implicit method, the outcome is
 * that of the method applied to the joined whole.
 *
 * What is left of g after the step is a term of higher order, and is closed by the next step.
 * Each subsystem is called once; all of them may run at the same time.
 *
 * Methods take a constant wrench at different points of the step (`sample`). A wrench of the
 * earlier of both sides is carried on to the later side along its last change: without that, the
 * sides would act on each other with a delay, which adds energy to every swing. */
#ifndef YK_COUPLING_BALANCE_H
#define YK_COUPLING_BALANCE_H

#include "coupling/constraint.h"
#include "coupling/jacobian.h"
#include "coupling/system.h"

/* One subsystem with balanced interfaces. */
typedef struct yk_balance_participant {
    /* Velocities of its wrench ports that are connected, balanced or not; 0: none is balanced. */
    int size;

    /* Per port: its first velocity, or -1. */
    int *offsets;

    /* In the system's units and axes. */
    yk_step_model model;

    /* Of those that have an interface model only, and the wrenches on it. */
    double *inverse_mass, *rate, *wrenches;
} yk_balance_participant;

typedef struct yk_balance_interface {
    int interface; /* of the system */
    yk_constraint constraint;

    /* Wrench of a unit multiplier on either side. */
    yk_wrench unit[2][YK_JOINT_ROWS_MAX];

    /* By how much of its last change the wrench of a side is carried on. */
    double shift[2];

    /* At the end of the step. */
    yk_constraint_gradient gradient;

    /* Part of the state: of the last step, the wrenches before they were carried on. */
    double multiplier[YK_JOINT_ROWS_MAX];
    yk_wrench wrench[2];
} yk_balance_interface;

typedef struct yk_balance {
    yk_balance_participant *participants;
    int count;
    yk_balance_interface *interfaces;
    double *residual, *held;

    /* Of all conditions by all multipliers. */
    yk_jacobian *jacobian;

    /* The models are those of an earlier step, which says when each side takes its wrench. */
    bool asked;
} yk_balance;

/* A balance is a part of the schemes that use it; NULL where no interface is balanced,
 * and then all of these do what is left to do without. */

/* What the second side of an interface takes: a wrench, where it is to be balanced and both
 * subsystems can be. */
yk_causality yk_balance_second_side(yk_exchange exchange, const yk_port_pair *joined);
/* Of all interfaces whose second side takes a wrench. */
yk_status yk_balance_create(yk_system *system, yk_balance **balance);
void yk_balance_destroy(yk_balance *balance, yk_system *system);
/* Its part of the state image, all of it continuous; get and set return the word behind. */
yk_state_layout yk_balance_layout(const yk_balance *balance);
double *yk_balance_get(const yk_balance *balance, double *words);
const double *yk_balance_set(yk_balance *balance, const double *words);

/* start.c: wrenches with which the accelerations of both sides fit each other, together with
 * those of all other interfaces. */
yk_status yk_balance_start(yk_balance *balance, yk_system *system);

/* The wrenches of the step that follows, as inputs of both sides. Other interfaces are
 * known to have the inputs of the explicit scheme with the given weights. */
yk_status yk_balance_solve(yk_balance *balance, yk_system *system, const yk_input_weights *weights);
/* After the state of a later step was set in a system that has made none: asks the subsystems what
 * a step before would have asked. */
void yk_balance_take_over(yk_balance *balance, yk_system *system);
/* Unit wrenches where both sides are at a time, from their motions there. */
void yk_balance_directions(yk_balance_interface *own, double t, const yk_motion *a,
                           const yk_motion *b);
/* The wrenches of the multipliers, carried on, as inputs of both sides. */
void yk_balance_apply(yk_system *system, yk_balance_interface *own);

#endif
