/* Internal structs and functions of the scheme rim (see rim.c): fast participants, reduced models
 * of the slow ones, and the data kept for interfaces. */
#ifndef YK_COUPLING_RIM_H
#define YK_COUPLING_RIM_H

#include "coupling/force_force/balance.h"
#include "coupling/system.h"

/* Data of one participant. */
typedef struct yk_rim_participant {
    bool fast;

    /* Slow: the inputs are set, and the step was sent ahead if the participant is in another
     * process. */
    bool begun;

    /* Fast: number of its steps between two exchanges; per port, mean wrench that the partners
     * receive for the macro step so far, and motion at the last exchange. */
    int parts;
    yk_wrench *given;
    yk_motion *from;

    /* Slow with fast partners: its reduced model, in the system's units and axes, over all
     * connected wrench ports in the order of the ports. size is 0 if there is no model. offsets has
     * the first velocity of each port, or -1. */
    int size;
    int *offsets;
    yk_interface_model model;

    /* The participant reports a step model of its own method, from which the reduced model is made. */
    bool steps;
    yk_step_model step;

    /* Rates of the positions in addition to the velocities of the model, 0 without a step model
     * (m/s, rad/s). */
    double *drift;

    /* Velocities at the start of the macro step, present velocities of the model, and their
     * integral since the start. */
    double *start, *now, *displacement;

    /* Velocities at the start of the run, at which all positions belong together. */
    double *initial;

    /* Wrenches on the ports, opposite to those on the partners. */
    double *wrenches;

    /* Workspace for the identification of the model. */
    double *scratch;
} yk_rim_participant;

enum { YK_RIM_PAST = 2 };

typedef struct yk_rim_interface {
    /* Role of an interface by the speed of its sides. Modelled: the wrench side is slow and the
     * motion side is fast, so that a reduced model is used. Shared: one side is fast, the other slow,
     * and both receive a wrench, which is found at every exchange from models of both (shared.c).
     * Fast: both sides are fast and exchange at every exchange. Slow: both sides are slow and exchange
     * as in the explicit scheme. Reversed: the wrench side is fast and the motion side is slow. */
    enum { YK_RIM_MODELLED, YK_RIM_SHARED, YK_RIM_FAST, YK_RIM_SLOW, YK_RIM_REVERSED } role;

    /* Work on both sides, summed over the exchanges if the side is fast. */
    double work[2];

    /* Fast wrench side: mean wrench over the macro step so far. */
    yk_wrench applied;

    /* Velocities of the wrench side at the starts of earlier macro steps, latest first, for
     * extrapolation. */
    yk_vec3 past[YK_RIM_PAST], past_angular[YK_RIM_PAST];

    /* Mean wrench on the slow side in the last macro step, and the wrenches that its method was given
     * in the last macro steps (yk_rim_method_wrench()). */
    yk_wrench mean;
    yk_wrench given[YK_RIM_PAST];
} yk_rim_interface;

typedef struct yk_rim_shared yk_rim_shared;

typedef struct yk_rim {
    yk_scheme base;
    yk_rim_options options;
    yk_rim_participant *participants;
    yk_rim_interface *interfaces;
    int exchanges; /* Exchanges per macro step. */

    /* Interfaces between slow participants with a wrench on both sides, and shared ones; NULL: there
     * are none. `start` has both for a consistent start if there are shared ones, otherwise NULL. */
    yk_balance *balance;
    yk_rim_shared *shared;
    yk_balance *start;

    /* Number of earlier steps stored in `past`, at most YK_RIM_PAST. */
    int64_t past_count;
} yk_rim;

static inline yk_rim *yk_rim_of(const yk_system *system)
{
    return (yk_rim *)system->scheme;
}

/* model.c: computes the model of a slow participant for the macro step that begins. At creation:
 * checks whether there can be a model. */
yk_status yk_rim_find_model(yk_system *system, int participant);
yk_status yk_rim_check_model(yk_system *system, int participant);

/* The wrench that the method of the slow side of a modelled or shared interface must be given, so
 * that its velocity gains the impulse of the mean wrench in this step. */
yk_wrench yk_rim_method_wrench(const yk_system *system, int interface, const yk_wrench *mean);

/* rim.c: motion of a port of a slow participant by its reduced model, h after the present time of the model, under its present
 * wrenches. The position is the integral of the velocities. */
yk_motion yk_rim_integrated_motion(const yk_system *system, int participant, int port, double h);

/* shared.c. All functions accept NULL, which stands for no shared interfaces, except those for a single interface. */
yk_status yk_rim_shared_create(yk_system *system, yk_rim_shared **shared);
void yk_rim_shared_destroy(yk_rim_shared *shared, yk_system *system);
/* Begins a run without wrenches. */
void yk_rim_shared_restart(yk_rim_shared *shared);
/* Begins the means of a macro step. */
void yk_rim_shared_begin(yk_rim_shared *shared);
/* Finds and applies the wrenches of the exchange from tau to tau + h. */
yk_status yk_rim_shared_solve(yk_rim_shared *shared, yk_system *system, double tau, double h);
/* Wrench on a side of a shared interface: of the last exchange, and the mean over the macro step. */
yk_wrench yk_rim_shared_wrench(const yk_rim_shared *shared, int interface, int side);
yk_wrench yk_rim_shared_mean(const yk_rim_shared *shared, int interface, int side);
size_t yk_rim_shared_words(const yk_rim_shared *shared);
double *yk_rim_shared_get(const yk_rim_shared *shared, double *words);
const double *yk_rim_shared_set(yk_rim_shared *shared, const double *words);
/* Port at which a fast partner acts on a slow participant through an interface; -1: none does. */
int yk_rim_slow_port(const yk_system *system, int interface, int participant);

/* create.c */
yk_status yk_rim_create(yk_system *system, const void *options, yk_scheme **scheme);
void yk_rim_destroy(yk_scheme *scheme, yk_system *system);
/* A consistent start: only its wrenches are kept. */
yk_status yk_rim_start(yk_scheme *scheme, yk_system *system);
/* Part of the state image, continuous except for the last word. */
yk_state_layout yk_rim_layout(const yk_scheme *scheme, const yk_system *system);
void yk_rim_get(const yk_scheme *scheme, const yk_system *system, double *continuous,
                double *opaque);
void yk_rim_set(yk_scheme *scheme, yk_system *system, const double *continuous,
                const double *opaque);
bool yk_rim_is_valid(const yk_scheme *scheme, const yk_system *system, const double *continuous,
                     const double *opaque);
void yk_rim_work(const yk_scheme *scheme, const yk_system *system, int interface,
                 yk_interface_work *work);

#endif
