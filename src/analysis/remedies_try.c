/* Whether what findings recommend helps: by running the scenario with it, and where that is not
 * enough, with shorter macro steps as well. A remedy that was seen to fail is not recommended. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/remedies.h"
#include "analysis/trial.h"

/* Macro steps are halved up to so many times. */
enum { HALVINGS_MAX = 6 };

/* Seconds of the processor for all trials of a run: as much as the run took twice, between these. */
static const double SECONDS_LEAST = 4;
static const double SECONDS_MOST = 60;

typedef enum outcome {
    HELPS,
    FAILS,
    UNKNOWN /* there was not enough time, or the user wants to stop */
} outcome;

typedef struct attempts {
    const yk_scenario_def *scenario;
    const yk_run_def *run;
    double step;    /* s, of the scenario */
    double failed;  /* s: where the run failed; its start if it did not */
    double seconds; /* of the processor, that are left */
    bool stopped;   /* by the user */
} attempts;

static bool goes_on(void *user, const yk_run_progress *progress)
{
    attempts *a = user;
    if (a->run->progress && !a->run->progress(a->run->user, progress))
        a->stopped = true;
    return !a->stopped;
}

/* Runs the scenario with the overrides of a remedy; notes in it how far that went. */
static outcome try_once(attempts *a, yk_remedy *remedy)
{
    const char *overrides[YK_REMEDY_OVERRIDES_MAX];
    for (int i = 0; i < remedy->override_count; i++)
        overrides[i] = remedy->overrides[i];
    yk_variant variant = {.overrides = overrides, .override_count = remedy->override_count};
    yk_trial_def def = {
        .scenario = a->scenario,
        .variant = &variant,
        .step = NAN,
        .end = NAN,
        .every = 1 << 20, /* the record is not looked at */
        .seconds = a->seconds,
        .progress = goes_on,
        .user = a,
    };
    yk_trial trial;
    yk_trial_run(&def, &trial);
    a->seconds -= trial.seconds;
    yk_status status = trial.status;
    double reached = trial.report.time;
    yk_finding_kind kind;
    bool serious = yk_report_serious(&trial.report, &kind);
    yk_trial_release(&trial);

    /* Where time is short it has to come further than a run that failed. */
    if (a->stopped || status == YK_ERROR_MEMORY)
        return UNKNOWN;
    bool cut = status == YK_INTERRUPTED;
    if (serious || (YK_FAILED(status) && !cut))
        return FAILS;
    if (cut && !(reached > a->failed))
        return UNKNOWN;
    remedy->tried = reached;
    return HELPS;
}

/* The remedy as it is, from the given number of halvings on with shorter steps. */
static outcome try_remedy(attempts *a, yk_remedy *remedy, int halvings)
{
    for (; halvings <= HALVINGS_MAX; halvings++) {
        yk_remedy changed = *remedy;
        if (halvings > 0 && changed.override_count == YK_REMEDY_OVERRIDES_MAX)
            return FAILS;
        if (halvings > 0)
            snprintf(changed.overrides[changed.override_count++], sizeof changed.overrides[0],
                     "time.step=%.10g", ldexp(a->step, -halvings));

        outcome result = try_once(a, &changed);
        if (result == HELPS)
            *remedy = changed;
        if (result != FAILS)
            return result;
        if (!(a->seconds > 0))
            return UNKNOWN;
    }
    return FAILS;
}

static bool same_overrides(const yk_remedy *a, const yk_remedy *b)
{
    if (a->override_count != b->override_count)
        return false;
    for (int i = 0; i < a->override_count; i++)
        if (strcmp(a->overrides[i], b->overrides[i]) != 0)
            return false;
    return true;
}

void yk_remedies_try(yk_context *context, const yk_scenario_info *info, const yk_run_def *run,
                     yk_run_report *report)
{
    enum { TRIED_MAX = 8 };
    yk_scenario_def scenario = *run->source;
    yk_cache *cache = yk_trials_prepare(&scenario);
    attempts a = {
        .scenario = &scenario,
        .run = run,
        .step = info->step,
        .failed = info->start,
        .seconds = fmin(fmax(2 * report->seconds, SECONDS_LEAST), SECONDS_MOST),
    };
    if (report->time < info->end - 0.5 * info->step)
        a.failed = report->time;
    yk_log(context, YK_LOG_DEBUG, "trying what may help");

    /* Changes that findings recommend, in their order, until one helps; those that do not are taken
     * out. */
    yk_remedy asked[TRIED_MAX];
    yk_remedy found[TRIED_MAX];
    outcome outcomes[TRIED_MAX];
    int count = 0;
    const yk_remedy *helps = NULL;
    for (int i = 0; i < report->finding_count; i++) {
        yk_finding *f = &report->findings[i];
        int kept = 0;
        for (int k = 0; k < f->remedy_count; k++) {
            yk_remedy *remedy = &f->remedies[k];
            bool tries = f->serious && remedy->kind == YK_REMEDY_CHANGE;
            int known = 0;
            while (known < count && !same_overrides(&asked[known], remedy))
                known++;
            bool more = !helps && a.seconds > 0 && !a.stopped && count < TRIED_MAX;
            if (tries && more && known == count) {
                asked[count] = *remedy;
                found[count] = *remedy;
                outcomes[count] = try_remedy(&a, &found[count], 0);
                if (outcomes[count] == HELPS)
                    helps = &found[count];
                count++;
            }

            if (tries && known < count && outcomes[known] == FAILS)
                continue;
            if (tries && known < count && outcomes[known] == HELPS)
                *remedy = found[known];
            f->remedies[kept++] = *remedy;
        }
        f->remedy_count = kept;
    }

    /* One that helps a whole run helps those findings too that had nothing to recommend, or a smaller
     * step; without one, that step is looked for. */
    yk_remedy shorter = {.kind = YK_REMEDY_CHANGE};
    bool looked = helps != NULL;

    for (int i = 0; i < report->finding_count; i++) {
        yk_finding *f = &report->findings[i];
        bool lacks = f->remedy_count == 0 || f->remedies[0].kind != YK_REMEDY_CHANGE;
        if (!f->serious || !lacks)
            continue;
        if (!looked && a.seconds > 0 && !a.stopped && try_remedy(&a, &shorter, 1) == HELPS)
            helps = &shorter;
        looked = true;
        if (!helps)
            break;

        if (f->remedy_count == YK_REMEDIES_MAX)
            f->remedy_count--;
        memmove(&f->remedies[1], &f->remedies[0], (size_t)f->remedy_count * sizeof *f->remedies);
        f->remedies[0] = *helps;
        f->remedy_count++;
    }
    yk_cache_destroy(cache);
}
