/* Samples of a run that its companions are compared with. */
#ifndef YK_ANALYSIS_ERROR_MONITOR_H
#define YK_ANALYSIS_ERROR_MONITOR_H

#include "yoke/analysis.h"

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

/* Call it after the system is initialized, and close the monitor also after an error. */
yk_status yk_error_monitor_open(yk_context *context, yk_scenario *scenario,
                                const yk_run_options *options, yk_error_monitor *monitor);
void yk_error_monitor_close(yk_error_monitor *monitor);

/* After a macro step, and at the start with step 0; `row` is workspace for one sample. */
yk_status yk_error_monitor_sample(yk_error_monitor *monitor, int64_t step, double time,
                                  double *row);

#endif
