/* Interface wrenches that depend on each other, as one vector x: the fixed point that the tight scheme and the consistent
 * start look for.
 *
 *   x   the wrenches that are applied to the effort sides
 *   H   those that the motion sides need to follow the motion that comes of it
 *
 * All interfaces of subsystems that are joined, directly or over others, are one vector: in a chain the wrench at one cut
 * moves the next cut too, and an acceleration that sees only one of them does not converge.
 *
 * Where interfaces run in a circle no order has every effort side before its motion side. The motion that such a motion
 * side is told, and the value of a wire that runs against the order, are unknowns then as the wrenches are: x has what was
 * told, H(x) what came out. */
#ifndef YK_COUPLING_WRENCHES_H
#define YK_COUPLING_WRENCHES_H

#include "coupling/system.h"

typedef struct yk_wrenches {
    int link_count;
    int *links; /* of the system, ascending */
    int lagged_count;
    int *lagged; /* links whose motions are unknowns */
    int wire_count;
    int *wires; /* whose values are unknowns */
    bool start; /* of a consistent start: motions are accelerations */
    int size;
    double *applied, *fresh, *next; /* x, H(x), and the x that is tried next */
    double *tried;                  /* the x before, to which a step that fails goes back */
    yk_accelerator *accelerator;
} yk_wrenches;

typedef enum yk_wrenches_of {
    YK_WRENCHES_OF_SIDES,  /* one vector for each effort side */
    YK_WRENCHES_OF_JOINED, /* one for all that are joined by interfaces and wires */
    YK_WRENCHES_AT_START   /* the same, for a consistent start */
} yk_wrenches_of;

/* Every interface belongs to one vector. */
yk_status yk_wrenches_create(const yk_system *system, yk_relaxation kind, yk_wrenches_of what, yk_wrenches **list,
                             int *count);
void yk_wrenches_destroy(yk_context *context, yk_wrenches *list, int count);

/* Reads x from the interfaces, and H(x) from the outputs of all sides. */
void yk_wrenches_read(const yk_system *system, yk_wrenches *w);
/* Applies a vector: to the effort sides, and to what is told. */
void yk_wrenches_apply(yk_system *system, const yk_wrenches *w, const double *x);
/* Whether H(x) and x differ by no more than the tolerance at each interface; *change is raised to the largest difference
 * (N or N m), and what is left beyond the tolerance is kept at each interface. */
bool yk_wrenches_settled(yk_system *system, const yk_wrenches *w, double *change);

#endif
