/* Parts of a merged model that move one by one: see relax and its kin in yoke/subsystem.h. */
#ifndef YK_SMOOTH_RELAXATION_H
#define YK_SMOOTH_RELAXATION_H

#include "smooth/internal.h"

yk_status yk_smooth_relax(yk_smooth *model, int part, double t, double h, double *change);
/* Before an image replaces the model's own: which Jacobians belong to it. */
void yk_smooth_relaxation_compare(yk_smooth *model, const double *image);
/* The open trial becomes the state as it stands. */
yk_status yk_smooth_accept_relaxed(yk_smooth *model);
yk_status yk_smooth_part_words(yk_smooth *model, int part, size_t *words, size_t *unknowns);
void yk_smooth_part_get(yk_smooth *model, int part, double *words);
void yk_smooth_part_set(yk_smooth *model, int part, const double *words);

#endif
