/* The verdict about the whole run: its estimated error, and what that means for its findings. */
#ifndef YK_ANALYSIS_VERDICT_H
#define YK_ANALYSIS_VERDICT_H

#include "analysis/error_monitor.h"

/* Runs the companions, if anything moves, within a budget that follows from the processor time of
 * the run (s), and fills the estimate of the report, after a run that came to its end. Adds
 * a finding if the error is too large; a small error outweighs indirect findings. */
void yk_error_monitor_judge(yk_error_monitor *monitor, const yk_run_options *options,
                            double run_seconds, bool moves, yk_run_report *report);

#endif
