/* Structs of a hydraulic circuit.
 *
 *     hydraulic.c         creation, initialization, outputs, operations
 *     hydraulic_step.c    integration */
#ifndef YK_PHYSICS_HYDRAULIC_PARTS_H
#define YK_PHYSICS_HYDRAULIC_PARTS_H

#include "math/polynomial.h"
#include "physics/cylinder.h"
#include "yoke/hydraulic.h"

/* State of a cylinder, on which a step depends continuously. The state image has the states of all cylinders first. */
typedef struct yk_hydraulic_state {
    double unknown[3]; /* Heads (Pa), spool. */
    double length;     /* Length of the actuator at the last input (m). */
    double rate;
} yk_hydraulic_state;

/* Events that cause a warning: the valve blocked a backflow, a chamber cavitated, the piston was at a stop, the command of the
 * spool was limited, a pressure was outside the range of the density law. */
enum { YK_BLOCKED, YK_CAVITATED, YK_STOPPED, YK_LIMITED, YK_BEYOND_RANGE, YK_HYDRAULIC_EVENTS };

/* Outputs, sums and the step of the error control, which follow in the state image. */
typedef struct yk_hydraulic_ledger {
    double acceleration;
    double time;
    double next_step; /* Of the error control (s); 0: none yet. */
    double work, port_work, dissipated;
    double event_time[YK_HYDRAULIC_EVENTS];  /* Total duration (s). */
    double event_first[YK_HYDRAULIC_EVENTS]; /* First time (s). */
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
    YK_EVENT_TIMES, /* One for each event, in their order. */
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
    yk_port *ports; /* Power ports first, then spools. */
    double *image;
    yk_channel *channels;
    bool ran;
    char message[256];
} yk_hydraulic;

/* Inputs of a cylinder in the present step. */
typedef struct yk_hydraulic_job {
    const yk_hydraulic *self;
    const yk_hydraulic_slot *at;
    const yk_input *motion, *spool; /* NULL: not connected. */
    double begin;                   /* Start of the local time of the signals (s). */
} yk_hydraulic_job;

/* hydraulic_step.c */
yk_cylinder_drive yk_hydraulic_drive(const yk_hydraulic_job *job, double t);
yk_status yk_hydraulic_advance(yk_hydraulic *self, double t, double h, const yk_input *inputs);

#endif
