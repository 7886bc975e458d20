/* The inside of the hydraulic circuit: what its source files share.
 *
 *   hydraulic.c         creation, start, outputs, the table of operations
 *   hydraulic_step.c    the integration */
#ifndef YK_PHYSICS_HYDRAULIC_PARTS_H
#define YK_PHYSICS_HYDRAULIC_PARTS_H

#include "math/polynomial.h"
#include "physics/cylinder.h"
#include "yoke/physics.h"

/* Everything that changes while stepping, per cylinder, in the order of the state image: first
 * what the step map depends on continuously ... */
typedef struct yk_hydraulic_state {
    double unknown[3]; /* heads (Pa), spool */
    double length;     /* of the actuator, as given last (m) */
    double rate;
} yk_hydraulic_state;

/* What is worth a word: the valve kept fluid from flowing back, a chamber cavitated, the piston
 * was at a stop, the spool's command was limited, a pressure was beyond the range of the density
 * law. */
enum { YK_BLOCKED, YK_CAVITATED, YK_STOPPED, YK_LIMITED, YK_BEYOND_RANGE, YK_HYDRAULIC_EVENTS };

/* ... then outputs, sums and the step of the error control. */
typedef struct yk_hydraulic_ledger {
    double acceleration;
    double time;
    double next_step; /* of the error control; 0: none yet */
    double work, port_work, dissipated;
    double event_time[YK_HYDRAULIC_EVENTS];  /* for which each went on, s */
    double event_first[YK_HYDRAULIC_EVENTS]; /* when it was first seen */
} yk_hydraulic_ledger;

enum {
    YK_HYDRAULIC_STATE_WORDS = sizeof(yk_hydraulic_state) / sizeof(double),
    YK_HYDRAULIC_LEDGER_WORDS = sizeof(yk_hydraulic_ledger) / sizeof(double)
};

/* Channels of a cylinder. */
enum {
    YK_PRESSURE_1,
    YK_PRESSURE_2,
    YK_FLOW_1,
    YK_FLOW_2,
    YK_THRUST,
    YK_OPENING,
    YK_VOID_1,
    YK_VOID_2,
    YK_EVENT_TIMES, /* one for each event, in their order */
    YK_HYDRAULIC_CHANNELS = YK_EVENT_TIMES + YK_HYDRAULIC_EVENTS
};

typedef struct yk_hydraulic_slot {
    char *name, *spool_name, *channel_names[YK_HYDRAULIC_CHANNELS];
    yk_cylinder cylinder;
    yk_hydraulic_cylinder_def def;
    double origin; /* s0 */
    bool joined, wired;
    yk_hydraulic_state *now;
    yk_hydraulic_ledger *ledger;
} yk_hydraulic_slot;

typedef struct yk_hydraulic {
    yk_subsystem subsystem;
    yk_context *context;
    yk_fluid fluid;
    yk_hydraulic_def def;
    char *name;
    int count;
    yk_hydraulic_slot *slots;
    yk_port *ports; /* power ports first, then spools */
    double *image;
    yk_channel *channels;
    bool ran;
    char message[256];
} yk_hydraulic;

/* What a cylinder is given over the step that is being taken. */
typedef struct yk_hydraulic_job {
    const yk_hydraulic *self;
    const yk_hydraulic_slot *at;
    const yk_input *motion, *spool; /* NULL: unconnected */
    double begin;                   /* of the signals' local time */
} yk_hydraulic_job;

/* hydraulic_step.c */
yk_cylinder_drive yk_hydraulic_drive(const yk_hydraulic_job *job, double t);
yk_status yk_hydraulic_advance(yk_hydraulic *self, double t, double h, const yk_input *inputs);

#endif
