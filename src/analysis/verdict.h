/* The verdict about the whole run: its estimated error, from companion runs with other steps. */
#ifndef YK_ANALYSIS_VERDICT_H
#define YK_ANALYSIS_VERDICT_H

#include "yoke/analysis.h"

/* Samples of the run that companions are compared with. */
typedef struct yk_error_monitor {
    yk_context *context;
    yk_scenario *scenario;
    const yk_scenario_info *info;
    const yk_scenario_def *source; /* NULL: no estimate is wanted */
    const char *reason;            /* no comparison is possible, because ...; NULL: it is */
    double tolerance;
    int64_t stride;    /* macro steps between samples */
    yk_record *record; /* NULL: nothing is sampled */
} yk_error_monitor;

/* After the system is initialized. Must be closed, whatever the status. */
yk_status yk_error_monitor_open(yk_context *context, yk_scenario *scenario,
                                const yk_run_options *options, yk_error_monitor *monitor);
void yk_error_monitor_close(yk_error_monitor *monitor);

/* After a macro step, and at the start with step 0; `row` is workspace for one sample. */
yk_status yk_error_monitor_sample(yk_error_monitor *monitor, int64_t step, double time,
                                  double *row);

/* Runs the companions, if anything moves, within a budget that follows from the processor time of
 * the run (s), and fills the estimate of the report, after a run that came to its end. Adds
 * a finding if the error is too large; a small error outweighs indirect findings. */
void yk_error_monitor_judge(yk_error_monitor *monitor, const yk_run_options *options,
                            double run_seconds, bool moves, yk_run_report *report);

#endif
