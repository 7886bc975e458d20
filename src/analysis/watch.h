/* What is watched in every run, and what follows from it: findings with their remedies. */
#ifndef YK_ANALYSIS_WATCH_H
#define YK_ANALYSIS_WATCH_H

#include "analysis/budget.h"
#include "analysis/ripple.h"
#include "yoke/analysis.h"

/* One interface under watch. */
typedef struct yk_watched {
    yk_ripple ripple;
    yk_interface_probe probe; /* at the start, see limits.h */
    yk_vec3 origin;           /* of the wrench side, at the start */
    double travel;            /* largest distance from there, looked at now and then */
    /* Largest gaps up to a quarter and half of the run, and the travel by then. */
    yk_interface_error quarter, half;
    double quarter_travel, half_travel;
    /* Sums of squares, now and then, of the velocity gap and of the velocity (m/s, rad/s). */
    double gap_squares, speed_squares;
    double spin_gap_squares, spin_squares;
} yk_watched;

typedef struct yk_watch {
    yk_context *context;
    yk_system *system;
    const yk_scenario_info *info;
    yk_budget budget;
    int64_t looks; /* that the sums of squares are of */
    int count; /* of interfaces; 0 where there are none, or the scheme has merged the subsystems */
    yk_watched *interfaces;
    yk_run_report *limits; /* findings of the start */
} yk_watch;

/* After the system has started; probes its interfaces once. Must be closed, whatever the status. */
yk_status yk_watch_open(yk_context *context, yk_system *system, const yk_scenario_info *info,
                        yk_watch *watch);
void yk_watch_close(yk_watch *watch);

/* After each macro step, numbered from 1. */
void yk_watch_step(yk_watch *watch, int64_t step);

/* The findings of a run with its outcome, the most serious first, into the report, whose steps
 * and time must be known. */
void yk_watch_conclude(const yk_watch *watch, yk_status outcome, yk_run_report *report);

/* The present value of a subsystem's channel with one component; false where there is none of
 * this name. */
bool yk_watch_channel(yk_system *system, const yk_scenario_info *info, int subsystem,
                      const char *name, double *value);

#endif
