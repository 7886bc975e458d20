/* Interface wrenches that depend on each other, as one vector x. The accelerated scheme tight and
 * the consistent start solve the fixed point x = H(x):
 *
 *   x   wrenches that are applied to the wrench sides
 *   H   reaction wrenches of the motion sides that follow the motions caused by x
 *
 * All interfaces of subsystems that are connected, directly or through others, share one vector: in
 * a chain, the wrench at one interface also moves the next one, and an acceleration that sees a
 * single interface does not converge.
 *
 * If interfaces form a cycle, no order has every wrench side before its motion side. The motion
 * that is prescribed to such a motion side, and the value of a wire against the order, are then
 * unknowns too: x contains the prescribed value, H(x) the resulting value. */
#ifndef YK_COUPLING_UNKNOWNS_H
#define YK_COUPLING_UNKNOWNS_H

#include "coupling/system.h"

/* Acceleration of a fixed point x = H(x) of a small vector: iteration_acceleration.c -----------------------*/

typedef struct yk_accelerator yk_accelerator;

/* For vectors of n components. Keeps at most `columns` earlier iterations. */
yk_status yk_accelerator_create(yk_context *context, yk_acceleration kind, int n, int columns,
                                yk_accelerator **accelerator);
void yk_accelerator_destroy(yk_context *context, yk_accelerator *accelerator);

/* Starts a block of components with another unit at `first`. In the least squares each block has the same weight. At most as
 * many blocks as components. */
void yk_accelerator_block(yk_accelerator *accelerator, int first);

/* Starts a new fixed point without data from earlier ones. */
void yk_accelerator_restart(yk_accelerator *accelerator);
/* Starts a new fixed point of nearly the same map: the differences of earlier ones are kept. */
void yk_accelerator_begin(yk_accelerator *accelerator);
/* Computes the next x from x and H(x). */
void yk_accelerator_next(yk_accelerator *accelerator, const double *x, const double *hx,
                         double *next);

/* Sets x to the iterate of this fixed point with the smallest residual, if there is one. */
void yk_accelerator_best(const yk_accelerator *accelerator, double *x);

/* The data that are kept between fixed points, as words of a state image. */
size_t yk_accelerator_words(const yk_accelerator *accelerator);
void yk_accelerator_get(const yk_accelerator *accelerator, double *words);
void yk_accelerator_set(yk_accelerator *accelerator, const double *words);
bool yk_accelerator_is_valid(const yk_accelerator *accelerator, const double *words);

/* The unknowns: interface_fixed_point.c --------------------------------------------------*/

/* What an unknown motion at the end of the step consists of. */
typedef enum yk_unknown_motion {
    YK_UNKNOWN_POSITION,
    YK_UNKNOWN_VELOCITY,    /* Position and velocity. */
    YK_UNKNOWN_ACCELERATION /* Position, velocity and acceleration. */
} yk_unknown_motion;

typedef struct yk_unknowns {
    /* Ascending indices: interfaces of the vector, those with unknown motions, and wires with unknown values. */
    int interface_count;
    int *interfaces;
    int lagged_count;
    int *lagged;
    int wire_count;
    int *wires;

    bool start; /* Consistent start: motions are accelerations. */
    yk_unknown_motion motion;
    double tolerance, relative_tolerance;

    /* Per interface: largest wrench of the iterations of the step. A change that is rounding error
     * relative to this wrench counts as converged. */
    double *largest;

    /* x, H(x), the next x, and the previous x, which is restored if an iteration fails. */
    int size;
    double *applied, *fresh, *next;
    double *tried;
    yk_accelerator *accelerator;
} yk_unknowns;

typedef enum yk_unknowns_scope {
    YK_UNKNOWNS_OF_SIDES,  /* One vector for each wrench side. */
    YK_UNKNOWNS_OF_JOINED, /* One vector for all participants that interfaces and wires connect. */
    YK_UNKNOWNS_AT_START   /* The same for a consistent start. */
} yk_unknowns_scope;

typedef struct yk_unknowns_def {
    yk_acceleration kind;

    yk_unknowns_scope what;
    yk_unknown_motion motion;
    /* All subsystems step at the same time: the motions of all interfaces and the signals of all wires are unknown. */
    bool simultaneous;
    double tolerance, relative_tolerance;
} yk_unknowns_def;

/* Every interface that prescribes a motion belongs to one vector. */
yk_status yk_unknowns_create(const yk_system *system, const yk_unknowns_def *def,
                             yk_unknowns **list, int *count);
/* Whether a vector of these has more components than the acceleration can keep differences. */
bool yk_unknowns_exceed_columns(const yk_unknowns *list, int count);
void yk_unknowns_destroy(yk_context *context, yk_unknowns *list, int count);

/* Reads x from the interfaces and H(x) from the outputs of both sides. */
void yk_unknowns_read(const yk_system *system, yk_unknowns *w);
/* Applies a vector to the wrench sides, and to the prescribed motions and signals. */
void yk_unknowns_apply(yk_system *system, const yk_unknowns *w, const double *x);
/* The same for one interface of the vector: sets its wrench, or its given motion, and reads the motion that its wrench
 * side has reached, or the reaction wrench of its motion side. */
void yk_unknowns_set_wrench(yk_system *system, int interface, const double *x);
void yk_unknowns_set_motion(yk_system *system, const yk_unknowns *w, int interface,
                            const double *x);
void yk_unknowns_get_motion(const yk_system *system, const yk_unknowns *w, int interface,
                            double *values);
void yk_unknowns_get_reaction(const yk_system *system, int interface, double *values);

/* Whether H(x) and x differ by at most the tolerance at each interface. Raises *change to the largest difference (N or N m),
 * and stores differences above the tolerance as the residuals of their interfaces. */
bool yk_unknowns_settled(yk_system *system, const yk_unknowns *w, double *change);

#endif
