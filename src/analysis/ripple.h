/* Ripple of an interface wrench from macro step to macro step: the signature of a coupling that
 * goes unstable.
 *
 * Motion that the steps resolve changes a wrench by differences that are alike from one step to
 * the next. An unstable coupling makes it swing to and fro with a period of two to five steps,
 * and the swing grows by a fixed factor: it is a mode of the linear map from step to step, so
 * each difference follows from the two before it,
 *     d[k+1] = a d[k] + b d[k-1],
 * and the roots of z^2 = a z + b give the factor. Wrenches of impacts are rough too, and now and
 * then grow for a while, but follow no such law. Only the last steps of each window are looked
 * at, so that most steps cost a counter. */
#ifndef YK_ANALYSIS_RIPPLE_H
#define YK_ANALYSIS_RIPPLE_H

#include "yoke/coupling.h"

/* Windows of steps, and how many at the end of each are looked at. */
enum { YK_RIPPLE_WINDOW = 16, YK_RIPPLE_SEEN = 10 };

/* Windows in a row that are no accident. */
enum { YK_RIPPLE_ALARM = 4 };

/* One component of a wrench. */
typedef struct yk_ripple_component {
    double seen[YK_RIPPLE_SEEN]; /* its last values in this window */
    double before;               /* squared differences of the window before */
    double at_begin;             /* the same before the first of the windows in a row */
    int rising;                  /* windows in a row that swung by the law and grew */
} yk_ripple_component;

typedef struct yk_ripple {
    int count; /* steps in this window */
    yk_ripple_component components[6];
    /* Set before the first step: what the iterations of the coupling resolve (N or N m), and as a
     * fraction of the wrench. */
    double resolved, relative;
    double size;  /* largest force or torque of the interface */
    double swing; /* largest in the last window, as a fraction of it */
    /* The longest rise so far. */
    int longest;
    double growth; /* of the swing per macro step over it */
    double time;   /* s, at its end */
} yk_ripple;

/* Counts a step; true if its wrench is to be added. */
static inline bool yk_ripple_counts(yk_ripple *ripple)
{
    return ++ripple->count > YK_RIPPLE_WINDOW - YK_RIPPLE_SEEN;
}

/* Whether the wrench still swings by a fraction of itself that matters. */
bool yk_ripple_matters(const yk_ripple *ripple);

void yk_ripple_add(yk_ripple *ripple, const yk_wrench *wrench, double time);

#endif
