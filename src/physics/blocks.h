/* Block diagrams: a subsystem of signals only, described by blocks that read each other and inputs.
 *
 *   inputs     signal ports that wires feed
 *   blocks     each gives one signal, which is an output port and a channel of the same name
 *   functions  what a block reads: a function of any signals and of time
 *
 * Continuous states follow the classical Runge-Kutta method with steps of at most max_step. Blocks
 * with a memory (delay, sampler, relay, state machine, rate limit) change at the ends of these steps,
 * all at once, from the signals before the change. Signals are computed in an order in which every
 * block that passes its input on without delay comes after what it reads; blocks in algebraic loops
 * are solved together by Newton's method. */
#ifndef YK_PHYSICS_BLOCKS_H
#define YK_PHYSICS_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "yoke/base.h"
#include "yoke/subsystem.h"

typedef enum yk_block_kind {
    YK_BLOCK_EXPRESSION,    /* y = u */
    YK_BLOCK_INTEGRATOR,    /* y' = u, within the limits */
    YK_BLOCK_DERIVATIVE,    /* y = (u - x) / time, x' = y */
    YK_BLOCK_STATE_SPACE,   /* x' = A x + B u, y = C x + D u; also of transfer functions */
    YK_BLOCK_SATURATION,    /* y = u within the limits */
    YK_BLOCK_DEAD_ZONE,     /* y = 0 within the limits, u minus the nearest limit outside */
    YK_BLOCK_RATE_LIMIT,    /* y follows u with a rate within the limits */
    YK_BLOCK_DELAY,         /* y(t) = u(t - time) */
    YK_BLOCK_SAMPLE,        /* y = u at the last of the times offset + k time */
    YK_BLOCK_RELAY,         /* y changes at two levels of u */
    YK_BLOCK_STATE_MACHINE, /* y: index of the state */
    YK_BLOCK_PID,           /* of the error u, within the limits, without windup */
    YK_BLOCK_NOISE,         /* normally distributed numbers, one in each interval `time` */
    YK_BLOCK_KIND_COUNT
} yk_block_kind;

/* Arguments of functions: signals have numbers from 0, inputs first and then blocks. */
enum { YK_BLOCK_TIME = -1, YK_BLOCK_STATE_TIME = -2, YK_BLOCK_ARGUMENTS_MAX = 15 };

typedef struct yk_block_function {
    double (*value)(void *user, const double *arguments); /* NULL: zero */
    void *user;
    int argument_count;
    int arguments[YK_BLOCK_ARGUMENTS_MAX];
} yk_block_function;

typedef struct yk_block_transition {
    int from, to;
    yk_block_function when; /* not zero */
} yk_block_transition;

enum { YK_BLOCK_ORDER_MAX = 16 };

typedef struct yk_block_def {
    const char *name;
    yk_block_kind kind;
    yk_block_function input;
    double initial;
    double limits[2]; /* infinite by default */
    double time, offset;
    double proportional, integral, derivative;
    double levels[2], values[2]; /* relay: off and on */
    int order;                   /* of a state space */
    double a[YK_BLOCK_ORDER_MAX][YK_BLOCK_ORDER_MAX];
    double b[YK_BLOCK_ORDER_MAX], c[YK_BLOCK_ORDER_MAX], d;
    int transition_count;
    const yk_block_transition *transitions;
    int64_t seed;
    double deviation; /* of the noise */
} yk_block_def;

typedef struct yk_blocks_def {
    const char *name;
    double max_step; /* s; 0: one step per call */
    int input_count;
    const char *const *inputs;
    int block_count;
    const yk_block_def *blocks;
} yk_blocks_def;

yk_block_def yk_block_default(void);
/* Copies the def, but not the data of functions. YK_ERROR_ARGUMENT names the wrong block. */
yk_status yk_blocks_create(yk_context *context, const yk_blocks_def *def, yk_subsystem **subsystem);

/* Block kinds (block_kinds.c) ------------------------------------------------------------------ */

/* A block at one time: its input, its continuous states and its memory. */
typedef struct yk_block_view {
    const yk_block_def *def;
    double t, start; /* now, and at the start of the run */
    double input;
    const double *x;
    const double *memory;
} yk_block_view;

typedef struct yk_block_traits {
    const char *name;
    bool direct;  /* the output depends on the input of the same time */
    bool follows; /* has a memory that changes at the end of a step */
} yk_block_traits;

const yk_block_traits *yk_block_traits_of(yk_block_kind kind);
bool yk_block_is_direct(const yk_block_def *def);
int yk_block_state_count(const yk_block_def *def);
int yk_block_memory_count(const yk_block_def *def);
double yk_block_output(const yk_block_view *view);
void yk_block_rates(const yk_block_view *view, double *rates);
/* States and memory at the start, in three phases: what does not depend on the input, what follows
 * it, and samples at the start. */
typedef enum yk_block_phase { YK_BLOCK_GIVEN, YK_BLOCK_FOLLOWS, YK_BLOCK_SAMPLES } yk_block_phase;
void yk_block_start(const yk_block_view *view, yk_block_phase phase, double *x, double *memory);
/* Changes the memory at the end of a step of length h; `fire`: index of the transition of a state
 * machine that takes place, or -1. Keeps states within limits. */
void yk_block_update(const yk_block_view *view, double h, int fire, double *x, double *memory);
/* The next time after t at which the block samples its input or changes by itself. */
double yk_block_next_event(const yk_block_def *def, double start, double t);

#endif
