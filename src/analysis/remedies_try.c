/* Whether what findings recommend helps: by running the scenario with it, and where that is not
 * enough, with shorter macro steps as well. A remedy that was seen to fail is not recommended. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/remedies.h"
#include "analysis/trial.h"

/* Macro steps are halved up to so many times. */
enum { HALVINGS_MAX = 6 };

/* Seconds of the processor for all trials of a run: as much as the run took twice, between
 * these. */
static const double SECONDS_LEAST = 4;
static const double SECONDS_MOST = 60;

typedef enum outcome {
    HELPS,
    FAILS,
    UNKNOWN /* there was not enough time, or the user wants to stop */
} outcome;

typedef struct attempts {
    const yk_context *context;
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
        .every = 1 << 20,            /* the record is not looked at */
        .seconds = 0.5 * a->seconds, /* the other half is for others */
        .caller = a->context,
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

    if (yk_stop_asked(a->context))
        a->stopped = true;

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

/* The index of a remedy with the same overrides; -1: there is none. */
static int find(const yk_remedy *list, int count, const yk_remedy *remedy)
{
    for (int i = 0; i < count; i++) {
        bool same = list[i].override_count == remedy->override_count;
        for (int k = 0; same && k < remedy->override_count; k++)
            same = strcmp(list[i].overrides[k], remedy->overrides[k]) == 0;
        if (same)
            return i;
    }

    return -1;
}

void yk_remedies_try(yk_context *context, const yk_scenario_info *info, const yk_run_def *run,
                     yk_run_report *report)
{
    enum { TRIED_MAX = 8 };
    yk_scenario_def scenario = *run->source;
    yk_cache *cache = yk_trials_prepare(&scenario);
    attempts a = {
        .context = context,
        .scenario = &scenario,
        .run = run,
        .step = info->step,
        .failed = info->start,
        .seconds = fmin(fmax(2 * report->seconds, SECONDS_LEAST), SECONDS_MOST),
    };
    if (report->time < info->end - 0.5 * info->step)
        a.failed = report->time;
    yk_log(context, YK_LOG_DEBUG, "trying what may help");

    /* The changes that findings recommend, each once; a shorter step alone where there is none. */
    yk_remedy asked[TRIED_MAX];
    int count = 0;
    for (int i = 0; i < report->finding_count; i++) {
        const yk_finding *f = &report->findings[i];
        for (int k = 0; k < f->remedy_count && f->serious && count < TRIED_MAX; k++)
            if (f->remedies[k].kind == YK_REMEDY_CHANGE && find(asked, count, &f->remedies[k]) < 0)
                asked[count++] = f->remedies[k];
    }

    bool shorter_alone = count == 0;
    if (shorter_alone)
        asked[count++] = (yk_remedy){.kind = YK_REMEDY_CHANGE};

    /* All of them with the step that the scenario has, then with shorter ones, until one helps. */
    outcome outcomes[TRIED_MAX];
    yk_remedy helps;
    int helping = -1;
    for (int k = 0; k < count; k++)
        outcomes[k] = UNKNOWN;
    for (int halvings = shorter_alone; halvings <= HALVINGS_MAX && helping < 0; halvings++)
        for (int k = 0; k < count && helping < 0 && a.seconds > 0 && !a.stopped; k++) {
            /* The remedy, with macro steps that are halved so many times. */
            helps = asked[k];
            bool fits = halvings == 0 || helps.override_count < YK_REMEDY_OVERRIDES_MAX;
            if (halvings > 0 && fits)
                snprintf(helps.overrides[helps.override_count++], sizeof helps.overrides[0],
                         "time.step=%.10g", ldexp(a.step, -halvings));

            outcome result = FAILS;
            if (fits)
                result = try_once(&a, &helps);
            if (halvings == 0)
                outcomes[k] = result;
            if (result == HELPS)
                helping = k;
        }

    /* What was seen to fail is taken out of the findings; what helps comes first, also where there
     * was nothing to recommend. */
    for (int i = 0; i < report->finding_count; i++) {
        yk_finding *f = &report->findings[i];
        if (!f->serious)
            continue;

        int kept = 0;
        for (int k = 0; k < f->remedy_count; k++) {
            int known = find(asked, count, &f->remedies[k]);
            bool change = f->remedies[k].kind == YK_REMEDY_CHANGE;
            if (change && known >= 0 && (outcomes[known] == FAILS || known == helping))
                continue;

            f->remedies[kept++] = f->remedies[k];
        }

        f->remedy_count = kept;

        if (helping < 0)
            continue;
        if (f->remedy_count == YK_REMEDIES_MAX)
            f->remedy_count--;
        memmove(&f->remedies[1], &f->remedies[0], (size_t)f->remedy_count * sizeof *f->remedies);
        f->remedies[0] = helps;
        f->remedy_count++;
    }

    yk_cache_destroy(cache);
}
