/* What the relaxed scheme keeps between steps; see relaxed.c. */
#ifndef YK_COUPLING_RELAXED_H
#define YK_COUPLING_RELAXED_H

#include "coupling/system.h"

typedef struct yk_relaxed {
    int part_count;
    const char **names;
    yk_subsystem **workers; /* Jacobi: one per part, the merged subsystem itself and copies of it */
    int worker_count;
    size_t *offset;   /* of each part in `words` */
    size_t *unknowns; /* the first words of each */
    double *words;    /* what the parts exchange */
    double *change;   /* that the last sweep made in each part, as a share of the typical velocity */
    yk_status *status;
    int blamed;    /* part that changed most in the last step that did not converge */
    double *image; /* of the merged subsystem at the start of a step */
    /* Acceleration of the sweeps: all unknowns before a sweep, after it, and before the next; NULL: none. */
    yk_accelerator *accelerator;
    double *before, *after, *next;
} yk_relaxed;

yk_status yk_relaxed_create(yk_system *system, const yk_system_def *def);
yk_status yk_relaxed_start(yk_system *system);
void yk_relaxed_destroy(yk_system *system);

#endif
