/* Short runs are compared with half and twice their steps, and with a quarter of them in doubt.
 * Longer runs begin with 32 and 16 times their steps, which costs 10 % of the run. The factors are
 * halved until the differences fall regularly and the error is clearly below its tolerance. So a
 * run whose steps are small for its error costs little to judge, and a doubtful one up to its own
 * time again. */
#include "analysis/companions.h"

#include <math.h>
#include <stdio.h>

#include "base/text.h"

/* Processor time of all companions: as a fraction of the run, and in s if that is less. */
static const double COST = 1.1;
static const double SECONDS_LEAST = 1;
/* Processor time (s) of a run up to which it is short. */
static const double SHORT_SECONDS = 0.1;
/* Time of a companion (s) that no clock resolves well. */
static const double CLOCK_SECONDS = 0.05;
/* Processor time (s) up to which an important doubt is resolved by half the steps. */
static const double DOUBT_SECONDS = 5;
/* Cost of a companion relative to its number of steps: iterations vary with the step. */
static const double COST_MARGIN = 1.2;
/* Time of a companion by what its steps would take: after more it has failed. */
static const double TOO_SLOW = 3;
/* Largest factor of the steps of a companion, without and with contact, and the number of steps
 * that it must have left. */
static const double FACTOR_LEAST = 0.0625;
enum { FACTOR_MAX = 32, FACTOR_MAX_CONTACT = 4, COMPANION_STEPS = 24 };
/* Motion between the common samples, relative to the range, whose error they may miss. */
static const double HIDDEN = 0.25;

const double yk_error_clearly_good = 0.2;

static bool companion_goes_on(void *user, const yk_trial *trial, const yk_run_progress *progress)
{
    (void)trial;
    const yk_companions *c = user;
    yk_run_progress shown = *progress;
    shown.stage = c->stage;
    return !c->options->progress || c->options->progress(c->options->user, &shown);
}

static yk_companion run_companion(yk_companions *c, double factor)
{
    yk_companion result = {.factor = factor};
    double limit = TOO_SLOW * c->run_seconds / factor + CLOCK_SECONDS;
    if (c->count == YK_COMPANIONS_MAX || !(c->seconds > 0))
        return result;

    snprintf(c->stage, sizeof c->stage, "estimating the error: %g times the steps", factor);
    yk_trial *trial = &c->trials[c->count++];
    const char *overrides[YK_REMEDY_OVERRIDES_MAX];
    yk_variant variant = {.overrides = overrides};
    for (; c->changes && variant.override_count < c->changes->override_count;
         variant.override_count++)
        overrides[variant.override_count] = c->changes->overrides[variant.override_count];
    yk_trial_def def = {
        .scenario = c->monitor->source,
        .variant = c->changes ? &variant : NULL,
        .step = NAN,
        .refinement = 1 / factor,
        .end = c->end,
        /* At least one step of a coarser run lies between samples. */
        .every = (int)fmax((double)c->monitor->stride, factor),
        .seconds = fmin(c->seconds, limit),
        .caller = c->context,
        .progress = companion_goes_on,
        .user = c,
    };
    yk_trial_run(&def, trial);
    c->seconds -= trial->seconds;
    c->estimate->run_count++;
    if (!YK_FAILED(trial->status) && trial->status != YK_INTERRUPTED)
        result.trial = trial;
    return result;
}

/* Whether more companions could change the verdict. */
static bool is_decided(const yk_companions *c)
{
    const yk_error_estimate *e = c->estimate;
    double error = e->relative_error / c->monitor->tolerance;
    return e->regular && !c->unpredictable && c->far <= YK_COMPANIONS_FAR && c->hidden <= HIDDEN &&
           error <= yk_error_clearly_good;
}

/* A short run: half and twice the steps, and a quarter if that leaves a doubt. */
static yk_status compare_with_finer(yk_companions *c)
{
    yk_companion others[2] = {run_companion(c, 0.5)};
    if (!others[0].trial)
        return YK_ERROR_ARGUMENT;

    yk_status status = yk_compare_companions(c, others, 1);
    others[1] = run_companion(c, 2);
    if (!YK_FAILED(status) && others[1].trial)
        status = yk_compare_companions(c, others, 2);

    double near = c->estimate->relative_error / c->monitor->tolerance;
    bool doubtful = !others[1].trial || !c->estimate->regular;
    doubtful = (doubtful && near > yk_error_clearly_good) || (near > 0.5 && near < 10);
    if (YK_FAILED(status) || !doubtful || !(4 * COST_MARGIN * c->run_seconds <= c->seconds))
        return status;

    others[1] = run_companion(c, 0.25);
    if (others[1].trial)
        status = yk_compare_companions(c, others, 2);

    /* Impacts hide the law at large steps. Only if finer runs do not approach each other either, the
     * motion is unpredictable. */
    double factor = 0.125;
    while (!YK_FAILED(status) && others[1].trial && c->unpredictable && !c->estimate->regular &&
           c->estimate->relative_error > c->monitor->tolerance && factor >= FACTOR_LEAST &&
           COST_MARGIN * c->run_seconds / factor <= DOUBT_SECONDS) {
        c->seconds = fmax(c->seconds, DOUBT_SECONDS);
        yk_companion finer[2] = {run_companion(c, factor), others[1]};
        if (!finer[0].trial)
            break;

        status = yk_compare_companions(c, finer, 2);
        others[1] = finer[0];
        factor /= 2;
    }
    return status;
}

/* A longer run: from much larger steps on down to twice the steps, until the error is clear. */
static yk_status compare_with_coarser(yk_companions *c)
{
    double factor = c->monitor->info->has_impacts ? FACTOR_MAX_CONTACT : FACTOR_MAX;
    double steps = (double)c->monitor->info->step_count;
    while (factor > 4 && steps < COMPANION_STEPS * factor)
        factor /= 2;

    yk_companion coarser = {0};
    yk_status status = YK_ERROR_ARGUMENT;
    while (factor >= 2 && COST_MARGIN * c->run_seconds / factor <= c->seconds) {
        yk_companion others[2] = {run_companion(c, factor), coarser};
        bool useless = !others[0].trial;
        if (!useless) {
            status = yk_compare_companions(c, others, coarser.trial ? 2 : 1);
            if (YK_FAILED(status) || (coarser.trial && is_decided(c)))
                return status;
            useless = c->far > YK_COMPANIONS_FAR;
            coarser = others[0];
        }

        /* Steps that are far too large are followed by much smaller ones. */
        factor = useless && factor > 4 ? factor / 4 : factor / 2;
    }

    /* Larger steps that say nothing, or a doubt that matters. */
    double near = c->estimate->relative_error / c->monitor->tolerance;
    bool impacts = c->monitor->info->has_impacts; /* make runs differ anyway */
    bool doubtful = YK_FAILED(status) || (!c->estimate->regular && near > yk_error_clearly_good) ||
                    (!impacts && (c->hidden > HIDDEN || c->far > YK_COMPANIONS_FAR)) ||
                    (near > 0.5 && near < 2);
    if (!doubtful || !(2 * COST_MARGIN * c->run_seconds <= DOUBT_SECONDS))
        return status;

    c->seconds = DOUBT_SECONDS;
    yk_companion others[2] = {run_companion(c, 0.5), coarser};
    if (others[0].trial)
        status = yk_compare_companions(c, others, coarser.trial ? 2 : 1);
    return status;
}

yk_status yk_companions_estimate(yk_companions *c)
{
    c->seconds = fmax(COST * c->run_seconds, SECONDS_LEAST);
    yk_status status = YK_ERROR_ARGUMENT;
    if (c->run_seconds <= SHORT_SECONDS)
        status = compare_with_finer(c);
    if (YK_FAILED(status))
        status = compare_with_coarser(c);
    return status;
}

void yk_companions_release(yk_companions *c)
{
    for (int i = 0; i < c->count; i++)
        yk_trial_release(&c->trials[i]);
}

void yk_companions_explain(const yk_companions *c, yk_error_estimate *e)
{
    e->available = false;
    const yk_trial *last = c->count > 0 ? &c->trials[c->count - 1] : NULL;
    if (!last)
        yk_format(e->reason, sizeof e->reason, "there was no time for a run with other steps");
    else if (last->status == YK_INTERRUPTED)
        yk_format(e->reason, sizeof e->reason, "runs with other steps took too long");
    else
        yk_format(e->reason, sizeof e->reason, "the run with other steps failed: %.150s",
                  last->message);
}
