/* The inside of the scheme rim (see rim.c): who is fast, the reduced models of who is not, and
 * what interfaces remember. */
#ifndef YK_COUPLING_RIM_H
#define YK_COUPLING_RIM_H

#include "coupling/force_force/balance.h"
#include "coupling/system.h"

/* One participant as the scheme sees it. */
typedef struct yk_rim_participant {
    bool fast;

    /* Slow: its inputs are set, and its step was sent ahead where it is in another process. */
    bool begun;

    /* Fast: its steps from one exchange to the next; per port, what the partners receive of the
     * macro step so far, and the motion at the last exchange. */
    int parts;
    yk_wrench *given;
    yk_motion *from;

    /* Slow with fast partners: its reduced model, in the system's units and axes, over all wrench
     * ports that are connected, in port order. size is 0 where there is none; offsets has per port
     * its first velocity, or -1. */
    int size;
    int *offsets;
    yk_interface_model model;

    /* It says what its own method makes of a step, of which the model is made. */
    bool steps;
    yk_step_model step;

    /* Of the positions beyond the model's velocities, zero for the others (m/s, rad/s). */
    double *drift;

    /* Velocities at the start of the macro step, as the model has carried them on, and their
     * integral since then. */
    double *start, *now, *displacement;

    /* On the ports, opposite to those of the partners. */
    double *wrenches;

    /* Where the model is identified. */
    double *scratch;
} yk_rim_participant;

enum { YK_RIM_PAST = 2 };

typedef struct yk_rim_interface {
    /* By which of its sides are fast. Modelled, from a slow participant that takes the wrench to a
     * fast one: where the scheme makes a difference. Fast: at every exchange. Slow: as in the explicit
     * scheme. Reversed: from a fast participant that takes the wrench to a slow one. */
    enum { YK_RIM_MODELLED, YK_RIM_FAST, YK_RIM_SLOW, YK_RIM_REVERSED } role;

    /* On both sides, as far as they are fast, exchange by exchange. */
    double work[2];

    /* On a fast wrench side: mean over the macro step so far. */
    yk_wrench applied;

    /* Velocities of the wrench side at the starts of earlier macro steps, the last first: for
     * extrapolation. */
    yk_vec3 past[YK_RIM_PAST], past_angular[YK_RIM_PAST];

    /* Of the last macro step on A; what its method was given for it in the last macro steps, see
     * yk_rim_method_wrench. */
    yk_wrench mean;
    yk_wrench given[YK_RIM_PAST];
} yk_rim_interface;

typedef struct yk_rim {
    yk_scheme base;
    yk_rim_options options;
    yk_rim_participant *participants;
    yk_rim_interface *interfaces;
    int exchanges; /* in a macro step */

    /* Between slow participants; NULL: no interface is balanced. */
    yk_balance *balance;

    /* Steps behind that `past` knows, at most YK_RIM_PAST. */
    int64_t past_count;
} yk_rim;

static inline yk_rim *yk_rim_of(const yk_system *system)
{
    return (yk_rim *)system->scheme;
}

/* model.c: the model of a slow participant for the macro step that begins. At creation: whether
 * there can be one. */
yk_status yk_rim_find_model(yk_system *system, int participant);
yk_status yk_rim_check_model(yk_system *system, int participant);

/* What the method of a slow wrench side has to be given now, so that its velocity gains the
 * impulse of the mean wrench. */
yk_wrench yk_rim_method_wrench(const yk_system *system, int interface, const yk_wrench *mean);

/* create.c */
yk_status yk_rim_create(yk_system *system, const void *options, yk_scheme **scheme);
void yk_rim_destroy(yk_scheme *scheme, yk_system *system);
/* A consistent start: nothing is remembered but its wrenches. */
yk_status yk_rim_start(yk_scheme *scheme, yk_system *system);
/* Its part of the state image, all of it continuous but the last word. */
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
