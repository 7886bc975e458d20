/* Whether growth of deviations is the coupling's or the motion's, by comparison of runs. */
#ifndef YK_ANALYSIS_STABILITY_COMPARE_H
#define YK_ANALYSIS_STABILITY_COMPARE_H

#include "analysis/stability_growth.h"
#include "analysis/stability_rerun.h"

typedef struct yk_comparison {
    yk_rerun_source source;
    const yk_stability_def *def;
    yk_stability_report *report;
    double deadline; /* of the processor, for all of it */
    /* see yk_growth_def: growth of the scheme that only shows along its run is compared with the
     * like */
    double follow;
    double at_step;    /* 1/s, growth of the reference at the step of the scheme, for remedies */
    bool first_sample; /* all schemes agree on the state: it is near the start */
    /* Largest growth of the motion at any state so far, and of which reference: for states that
     * other schemes do not come to. */
    yk_stability_rate largest;
    char largest_reference[64];
} yk_comparison;

/* Growth per second that counts as growth: a deviation that becomes a tenth larger over the run. */
double yk_growth_limit(const yk_scenario_info *info);

/* Fills the verdict and what belongs to it for a growth of the scheme itself. */
yk_status yk_compare(yk_comparison *c, const yk_growth *growth);

/* The scheme's run broke down at a time: does that of a reference too? */
yk_status yk_compare_breakdown(yk_comparison *c, double time, const char *message);

/* Of a coupling that is unstable: the longest stable step, and the cheapest scheme that is stable
 * at the scenario's step. */
yk_status yk_compare_remedies(yk_comparison *c);

#endif
