/* Companions: runs of the same scenario with other steps, from which the error of a run follows.
 *
 * A companion multiplies all steps, those inside of subsystems too, by a factor f. If the error of
 * the run is C, that of a companion of order p is C f^p. The differences between the run and two
 * companions give C and p. */
#ifndef YK_ANALYSIS_COMPANIONS_H
#define YK_ANALYSIS_COMPANIONS_H

#include "analysis/error_monitor.h"
#include "analysis/scenario_run.h"

enum { YK_COMPANIONS_MAX = 8 };

typedef struct yk_companions {
    yk_context *context;
    const yk_error_monitor *monitor;
    const yk_run_options *options;
    double run_seconds;     /* of the processor, that the run took */
    double seconds;         /* of the processor, that are left */
    double end;             /* s */
    double energy;          /* J, of the motion */
    double energy_rounding; /* J */
    double dissipated;      /* J */
    /* Changes for all companions, which would repeat an error of the run otherwise; NULL: none. */
    const yk_remedy *changes;
    char stage[64]; /* for the progress */
    yk_trial trials[YK_COMPANIONS_MAX];
    int count;
    bool unpredictable; /* some recorded channel, forces included, depends on the step */
    double far; /* largest difference of the compared runs in the worst channel, by its range */
    double
        hidden; /* largest motion that the common rows do not show, by the range of its channel */
    yk_error_estimate *estimate;
} yk_companions;

/* A companion that came to its end. */
typedef struct yk_companion {
    const yk_trial *trial; /* NULL: it failed or had no time */
    double factor;         /* of the steps */
} yk_companion;

/* Difference between the compared runs, relative to the range, above which their order says nothing
 * about the run. */
#define YK_COMPANIONS_FAR 0.15

/* Below this fraction of the tolerance an error is clearly good. */
extern const double yk_error_clearly_good;

/* Runs companions until the error is clear or their time is over, and fills the estimate. A failure
 * means that no comparison was possible. */
yk_status yk_companions_estimate(yk_companions *c);
void yk_companions_release(yk_companions *c);

/* Why no comparison was possible, by the companion with the smallest steps. */
void yk_companions_explain(const yk_companions *c, yk_error_estimate *e);

/* Compares the run with one or two companions, and writes the worst channel into the estimate
 * (error_estimate.c). */
yk_status yk_compare_companions(yk_companions *c, const yk_companion *others, int count);

#endif
