/* Interface wrenches that depend on each other, as one vector x: the fixed point that the tight
 * scheme and the consistent start look for.
 *
 *   x   the wrenches that are applied to the wrench sides
 *   H   those that the motion sides need to follow the motion that comes of it
 *
 * All interfaces of subsystems that are joined, directly or over others, are one vector: in a
 * chain the wrench at one cut moves the next cut too, and an acceleration that sees only one of
 * them does not converge.
 *
 * Where interfaces run in a circle no order has every wrench side before its motion side. The
 * motion that such a motion side is given, and the value of a wire that runs against the order,
 * are unknowns then as the wrenches are: x has what was given, H(x) what came out. */
#ifndef YK_COUPLING_UNKNOWNS_H
#define YK_COUPLING_UNKNOWNS_H

#include "coupling/system.h"

/* Acceleration of a fixed point x = H(x) of a small vector: iteration_acceleration.c -----------------------*/

typedef struct yk_accelerator yk_accelerator;

/* For vectors of n components; `columns` earlier iterations are remembered at most. */
yk_status yk_accelerator_create(yk_context *context, yk_acceleration kind, int n, int columns,
                                yk_accelerator **accelerator);
void yk_accelerator_destroy(yk_context *context, yk_accelerator *accelerator);

/* Components from `first` to the next block on are of another unit than those before: in the
 * least squares every block counts as much as the first. At most as many blocks as components. */
void yk_accelerator_block(yk_accelerator *accelerator, int first);

/* Forgets everything: a new fixed point begins. */
void yk_accelerator_restart(yk_accelerator *accelerator);
/* A new fixed point of nearly the same map begins: differences are kept. */
void yk_accelerator_begin(yk_accelerator *accelerator);
/* From x and H(x) the next x. */
void yk_accelerator_next(yk_accelerator *accelerator, const double *x, const double *hx,
                         double *next);

/* The x with the smallest residual since the fixed point began, if that is known. */
void yk_accelerator_best(const yk_accelerator *accelerator, double *x);

/* What is kept from one fixed point to the next, as words of a state image. */
size_t yk_accelerator_words(const yk_accelerator *accelerator);
void yk_accelerator_get(const yk_accelerator *accelerator, double *words);
void yk_accelerator_set(yk_accelerator *accelerator, const double *words);
bool yk_accelerator_is_valid(const yk_accelerator *accelerator, const double *words);

/* Wrenches and what else is unknown: interface_fixed_point.c --------------------------------------------------*/

typedef struct yk_unknowns {
    /* Of the system, ascending; those whose motions are unknowns too; wires whose values are. */
    int interface_count;
    int *interfaces;
    int lagged_count;
    int *lagged;
    int wire_count;
    int *wires;

    /* Of a consistent start: motions are accelerations. */
    bool start;

    /* Rates at the end are given besides the displacement over the step. */
    bool rates;
    double tolerance, relative_tolerance;

    /* Per interface: wrench of any iteration of the step; what is rounding beside it has
     * converged. */
    double *largest;

    /* x, H(x), and the x that is tried next; the x before, to which a step that fails goes back. */
    int size;
    double *applied, *fresh, *next;
    double *tried;
    yk_accelerator *accelerator;
} yk_unknowns;

typedef struct yk_unknowns_def {
    yk_acceleration kind;

    /* One vector for each wrench side; one for all that are joined by interfaces and wires; the
     * same, for a consistent start. */
    enum { YK_UNKNOWNS_OF_SIDES, YK_UNKNOWNS_OF_JOINED, YK_UNKNOWNS_AT_START } what;

    /* Motions are given with the velocity at their end. */
    bool rates;
    double tolerance, relative_tolerance;
} yk_unknowns_def;

/* Every interface that prescribes a motion belongs to one vector. */
yk_status yk_unknowns_create(const yk_system *system, const yk_unknowns_def *def,
                             yk_unknowns **list, int *count);
void yk_unknowns_destroy(yk_context *context, yk_unknowns *list, int count);

/* Reads x from the interfaces, and H(x) from the outputs of all sides. */
void yk_unknowns_read(const yk_system *system, yk_unknowns *w);
/* Applies a vector: to the wrench sides, and to what is given. */
void yk_unknowns_apply(yk_system *system, const yk_unknowns *w, const double *x);
/* Whether H(x) and x differ by no more than the tolerance at each interface; *change is raised to
 * the largest difference (N or N m), and what is left beyond the tolerance is kept at each
 * interface. */
bool yk_unknowns_settled(yk_system *system, const yk_unknowns *w, double *change);

#endif
