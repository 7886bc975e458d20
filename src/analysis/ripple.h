/* Ripple of an interface effort from macro step to macro step: the signature of a coupling that goes unstable.
 *
 * Motion that the steps resolve changes an effort by differences that are alike from one step to the next. An unstable
 * coupling makes it swing to and fro with a period of two to four steps, and the swing grows by a fixed factor. So the
 * second differences of the effort are as large as the first ones, window after window, while both grow. Efforts of
 * impacts are rough too, but do not grow for long. Only the last steps of each window are looked at, so that most steps
 * cost a counter. */
#ifndef YK_ANALYSIS_RIPPLE_H
#define YK_ANALYSIS_RIPPLE_H

#include "yoke/coupling.h"

/* Windows of steps, and how many at the end of each are looked at; the first two of them only fill the differences. */
enum { YK_RIPPLE_WINDOW = 16, YK_RIPPLE_SEEN = 10 };

/* Windows in a row that are no accident. */
enum { YK_RIPPLE_ALARM = 4 };

typedef struct yk_ripple {
    int count;            /* steps in this window */
    int rising;           /* windows in a row that were rough and grew */
    double before;        /* squared first differences of the window before */
    double at_begin;      /* the same before the first of those windows */
    double first, second; /* sums of squares of first and second differences in this window */
    double last[6], change[6];
    double size; /* largest squared effort */
    /* The longest rise so far. */
    int longest;
    double growth; /* of the swing per macro step over it */
    double time;   /* s, at its end */
} yk_ripple;

/* Counts a step; true if its effort is to be added. */
static inline bool yk_ripple_counts(yk_ripple *ripple)
{
    return ++ripple->count > YK_RIPPLE_WINDOW - YK_RIPPLE_SEEN;
}

void yk_ripple_add(yk_ripple *ripple, const yk_effort *effort, double time);

#endif
