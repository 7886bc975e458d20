/* Two free masses in place of the two sides of an interface, each in a subsystem of the same kind
 * with the same integrator and substeps, joined along x by the same scheme: what ratio of masses
 * the scheme bears is tried on them. */
#ifndef YK_COUPLING_SURROGATE_H
#define YK_COUPLING_SURROGATE_H

#include "yoke/coupling.h"

typedef struct yk_surrogate {
    yk_system *system;
    yk_subsystem *masses[2]; /* 1 kg on the wrench side, the ratio on the motion side */
} yk_surrogate;

/* Of two subsystems of a system, the second for the side that takes the motion; they may be the
 * same. YK_ERROR_CAPABILITY: a subsystem makes no free masses. To be destroyed whatever the
 * status. */
yk_status yk_surrogate_create(const yk_system *system, const int sides[2], yk_port_kind kind,
                              double step, double ratio, yk_surrogate *surrogate);
void yk_surrogate_destroy(yk_surrogate *surrogate);

typedef enum yk_surrogate_fate {
    YK_SURROGATE_STABLE,       /* deviations from rest die out, or stay */
    YK_SURROGATE_UNSTABLE,     /* they grow */
    YK_SURROGATE_NOT_CONVERGED /* they grow because iterations of the scheme do not converge */
} yk_surrogate_fate;

/* What becomes of small deviations from rest in the scheme as it is. */
yk_status yk_surrogate_try(yk_context *context, const yk_surrogate *surrogate,
                           yk_surrogate_fate *fate);

#endif
