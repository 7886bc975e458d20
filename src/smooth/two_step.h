/* What the two-step method and its derivatives share. */
#ifndef YK_SMOOTH_TWO_STEP_H
#define YK_SMOOTH_TWO_STEP_H

#include "smooth/internal.h"

/* Internal steps of the given sizes from the accepted state, without error control. */
yk_status yk_two_step_repeat(yk_smooth *smooth, double t, const double *sizes, int count);

/* two_step_variation.c: at the converged end of a single internal step; and by repetition of
 * several from the image `mark`, with room for an image in `end`. */
yk_status yk_two_step_vary(yk_smooth *smooth);
yk_status yk_two_step_differences(yk_smooth *smooth, double t, double h, const double *mark,
                                  const double *sizes, int count, double *end);

#endif
