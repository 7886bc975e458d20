/* Acceleration of a fixed point x = H(x) of a small vector: the efforts on one subsystem in a tight iteration.
 *
 *   Aitken        x + factor (H(x) - x), the factor from the last two residuals; exact after two iterations in one
 *                 dimension, whatever the slope
 *   quasi-Newton  IQN-ILS (Degroote, Bathe, Vierendeels 2009): the combination of all earlier differences of
 *                 the residual that cancels the present one in the least-squares sense, applied to the differences of
 *                 H(x)
 *
 * Nothing is carried from one macro step to the next, so that a step depends on the state alone. */
#ifndef YK_COUPLING_ACCELERATION_H
#define YK_COUPLING_ACCELERATION_H

#include "yoke/coupling.h"

typedef struct yk_accelerator yk_accelerator;

/* For vectors of n components; `columns` earlier iterations are remembered at most. */
yk_status yk_accelerator_create(yk_context *context, yk_relaxation kind, int n, int columns,
                                yk_accelerator **accelerator);
void yk_accelerator_destroy(yk_context *context, yk_accelerator *accelerator);

/* Forgets everything: a new fixed point begins. */
void yk_accelerator_restart(yk_accelerator *accelerator);
/* From x and H(x) the next x. */
void yk_accelerator_next(yk_accelerator *accelerator, const double *x, const double *hx, double *next);

#endif
