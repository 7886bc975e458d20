/* What the relaxed scheme keeps between steps; see relaxed.c. */
#ifndef YK_COUPLING_RELAXED_H
#define YK_COUPLING_RELAXED_H

#include "coupling/system.h"

/* One merged participant. */
typedef struct yk_relaxed_group {
    int part_count;         /* 0: the participant is not merged */
    const char **names;     /* of the parts */
    yk_subsystem **workers; /* Jacobi: one per part, the merged subsystem itself and copies of it */
    int worker_count;
    size_t *offset;   /* of each part in `words` */
    size_t *unknowns; /* the first words of each */
    double *words;    /* what the parts exchange */
    double *change;   /* that the last sweep made in each part, as a fraction of the typical velocity */
    yk_status *status;
    double *image; /* of the merged subsystem at the start of a step */
    /* Acceleration of the sweeps: all unknowns before a sweep, after it, and before the next; NULL: none. */
    yk_accelerator *accelerator;
    double *before, *after, *next;
} yk_relaxed_group;

typedef struct yk_relaxed {
    yk_relaxed_group *groups; /* one per participant */
    int sweeps;               /* the most that a participant took in this macro step */
    yk_status outcome;        /* of this macro step: YK_NOT_CONVERGED if a participant's sweeps did not converge */
    int source;               /* subsystem that changed most in the last step that did not converge */
    double left;              /* its change, as a fraction of the typical velocity */
} yk_relaxed;

yk_status yk_relaxed_create(yk_system *system, const yk_system_def *def);
yk_status yk_relaxed_start(yk_system *system);
void yk_relaxed_destroy(yk_system *system);
/* The sweeps of a merged participant from system->t over system->h; its step then accepts what they reached. */
yk_status yk_relaxed_sweep(yk_system *system, yk_participant *participant);

#endif
