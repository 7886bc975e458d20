/* Acceleration of a fixed point x = H(x) of a small vector: the wrenches on one subsystem in a
 * tight iteration.
 *
 *   Aitken        x + factor (H(x) - x), the factor from the last two residuals; exact after two
 *                 iterations in one dimension, whatever the slope
 *   quasi-Newton  IQN-ILS (Degroote, Bathe, Vierendeels 2009): the combination of all earlier
 *                 differences of the residual that cancels the present one in the least-squares
 *                 sense, applied to the differences of H(x)
 *
 * The differences describe the derivative of H, which hardly changes from one macro step to the
 * next. They may be kept over steps (yk_accelerator_begin); they are state then, and belong into
 * the image of what owns the accelerator. Newer differences count first, and those of earlier
 * steps are dropped as soon as they make the residual larger. */
#ifndef YK_COUPLING_ACCELERATION_H
#define YK_COUPLING_ACCELERATION_H

#include "yoke/coupling.h"

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

#endif
