/* Pacing of a run against the wall clock. */
#ifndef YK_ANALYSIS_PACE_H
#define YK_ANALYSIS_PACE_H

#include "yoke/analysis.h"

typedef struct yk_pacer {
    double
        factor; /* Simulated time per wall time; 0: no pacing, and the other functions do nothing. */
    double wall_start; /* s */
    double time_start; /* s, simulated */
    double step_start; /* s, wall: when the present step began */
    double deadline;   /* s, wall: when the last step should have ended */
    yk_pace_report *report;
} yk_pacer;

/* Starts the clock at a simulated time. */
yk_pacer yk_pacer_start(double factor, double time, yk_pace_report *report);
/* Before and after the work of a macro step, which has reached the simulated time. */
void yk_pacer_begin_step(yk_pacer *pacer);
void yk_pacer_end_step(yk_pacer *pacer, double time);
/* Waits until the wall clock has reached the time of the last step. */
void yk_pacer_wait(const yk_pacer *pacer);

#endif
