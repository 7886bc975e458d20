/* What the relaxed scheme keeps between steps; see relaxed.c. */
#ifndef YK_COUPLING_RELAXED_H
#define YK_COUPLING_RELAXED_H

#include "coupling/system.h"

typedef struct yk_relaxed {
    int part_count;
    const char **names;
    yk_subsystem **workers; /* Jacobi: one per part, the merged subsystem itself and copies of it */
    int worker_count;
    size_t *offset; /* of each part in `words` */
    double *words;  /* what the parts exchange */
    double *change; /* that the last sweep made in each part, as a share of the typical velocity */
    yk_status *status;
    double *image; /* of the merged subsystem at the start of a step */
} yk_relaxed;

yk_status yk_relaxed_create(yk_system *system, const yk_system_def *def);
yk_status yk_relaxed_start(yk_system *system);
void yk_relaxed_destroy(yk_system *system);

#endif
