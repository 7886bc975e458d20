/* What the parts on both sides of an interface allow a coupling scheme, whatever the motion: mass
 * ratios and algebraic loops.
 *
 * An exchange of motion and wrench multiplies errors by the ratio of masses on both sides; what
 * ratio a scheme bears depends on the integrators of both. So both are found by trying: the ratio
 * on the system itself (yk_system_probe), the limit on two free masses in subsystems of the same
 * kinds and integrators, coupled by the same scheme (coupling/surrogate.h). */
#ifndef YK_ANALYSIS_LIMITS_H
#define YK_ANALYSIS_LIMITS_H

#include "yoke/analysis.h"

/* At the start of a system: the findings, and the mass ratio, into a report. What each interface
 * joins in `probes`, which may be NULL. */
yk_status yk_limits_find(yk_context *context, yk_system *system, const yk_scenario_info *info,
                         yk_run_report *report, yk_interface_probe *probes);

#endif
