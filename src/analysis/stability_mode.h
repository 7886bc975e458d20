/* What a mode of the macro step is: who moves, and at which interface. */
#ifndef YK_ANALYSIS_STABILITY_MODE_H
#define YK_ANALYSIS_STABILITY_MODE_H

#include "analysis/step_map.h"

/* Fills what the eigenvalue alone does not tell; `imaginary` may be NULL. The vectors are in
 * scaled words. */
yk_status yk_stability_describe(yk_step_map *map, const yk_scenario_info *info, double amplitude,
                                const double *real, const double *imaginary,
                                yk_stability_mode *mode);

#endif
