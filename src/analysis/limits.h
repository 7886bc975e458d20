/* What the parts on both sides of an interface allow a coupling scheme, whatever the motion: mass ratios and algebraic
 * loops. */
#ifndef YK_ANALYSIS_LIMITS_H
#define YK_ANALYSIS_LIMITS_H

#include "analysis/watch.h"

/* The findings of a run, and its mass ratio, into the report. */
void yk_limits_conclude(const yk_watch *watch, yk_run_report *report);

#endif
