/* What a mode of the macro step is: who moves, and which interface feeds it. */
#ifndef YK_ANALYSIS_STABILITY_MODE_H
#define YK_ANALYSIS_STABILITY_MODE_H

#include "analysis/step_map.h"

/* Fills what the eigenvalue alone does not tell; `imaginary` may be NULL. The vectors are in scaled words. */
yk_status yk_stability_describe(yk_step_map *map, const yk_scenario_info *info, double amplitude, const double *real,
                                const double *imaginary, yk_stability_mode *mode);

typedef struct yk_track {
    double growth;  /* per macro step */
    double created; /* by the interfaces on the deviation, share of what they exchange with it: -1 to 1 */
    int interface;  /* that created most; -1: none */
} yk_track;

/* A deviation along the trajectory of the system itself, from the base on, cut back to the amplitude in every step; told
 * over the later part of `steps` macro steps. The base moves on. */
yk_status yk_stability_track(yk_step_map *map, const yk_scenario_info *info, double amplitude, const double *real,
                             const double *imaginary, int steps, yk_track *track);

#endif
