#include "analysis/remedies.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/finding_rules.h"
#include "analysis/scenario_run.h"
#include "base/text.h"

void yk_changes_add(yk_changes *changes, const char *format, ...)
{
    if (changes->count == YK_CHANGES_MAX)
        return;

    va_list arguments;
    va_start(arguments, format);
    yk_format_list(changes->texts[changes->count++], YK_CHANGE_TEXT, format, arguments);
    va_end(arguments);
}

/* Choices -------------------------------------------------------------------------------------- */

yk_changes yk_choice_changes(const yk_choice *choice)
{
    yk_changes changes = {0};
    yk_changes_add(&changes, "coupling.scheme=%s", choice->scheme->name);
    if (!choice->variant)
        return changes;

    const yk_scheme_variant *variant = choice->variant;
    const int most = sizeof variant->options / sizeof *variant->options;
    for (int i = 0; i < most && variant->options[i]; i++)
        yk_changes_add(&changes, "coupling.%s", variant->options[i]);

    return changes;
}

int yk_choices(unsigned purpose, yk_choice *list)
{
    /* All variants of all schemes that serve the purpose. */
    int count = 0;
    const yk_scheme_ops *scheme;

    for (int i = 0; (scheme = yk_scheme_at(i)); i++) {
        const yk_scheme_variant *variant = scheme->variants;
        for (; variant && variant->name && count < YK_CHOICES_MAX; variant++) {
            if (!(variant->purpose & purpose))
                continue;

            /* By cost; those that cost the same stay in the order of the schemes. */
            int index = count++;
            for (; index > 0 && list[index - 1].variant->cost > variant->cost; index--)
                list[index] = list[index - 1];
            list[index] = (yk_choice){scheme, variant, variant->name};
        }
    }

    return count;
}

int yk_candidates(yk_choice *list)
{
    int count = yk_choices(YK_VARIANT_CANDIDATE, list);
    int offered = count;

    /* Schemes that offer nothing are tried as they are. */
    const yk_scheme_ops *scheme;
    for (int i = 0; (scheme = yk_scheme_at(i)) && count < YK_CHOICES_MAX; i++) {
        bool listed = false;
        for (int k = 0; k < offered; k++)
            listed = listed || list[k].scheme == scheme;
        if (!listed)
            list[count++] = (yk_choice){scheme, NULL, scheme->name};
    }

    return count;
}

unsigned yk_choice_traits(yk_context *context, const yk_choice *choice)
{
    /* The scheme as the variant changes it. */
    double options[YK_SCHEME_OPTIONS_SIZE_MAX / sizeof(double)];
    yk_scheme_set_defaults(choice->scheme, options);

    /* The options of the variant behind "coupling."; the first change is the scheme itself. */
    yk_changes changes = yk_choice_changes(choice);
    for (int i = 1; i < changes.count; i++) {
        const char *change = changes.texts[i] + strlen("coupling.");
        const char *equals = strchr(change, '=');
        char key[YK_CHANGE_TEXT];
        snprintf(key, sizeof key, "%.*s", (int)(equals - change), change);
        yk_scheme_set_option(context, choice->scheme, options, key, equals + 1);
    }

    return yk_scheme_traits(&(yk_scheme_def){.ops = choice->scheme, .options = options});
}

const yk_scheme_ops *yk_scheme_with(unsigned trait)
{
    const yk_scheme_ops *scheme;
    for (int i = 0; (scheme = yk_scheme_at(i)); i++)
        if (yk_scheme_traits(&(yk_scheme_def){.ops = scheme}) & trait)
            return scheme;

    return NULL;
}

bool yk_scheme_fits(const yk_scheme_ops *scheme, const yk_scenario_info *info)
{
    double options[YK_SCHEME_OPTIONS_SIZE_MAX / sizeof(double)];
    yk_scheme_set_defaults(scheme, options);

    /* Steps that are repeated. */
    if (yk_scheme_traits(&(yk_scheme_def){.ops = scheme}) & YK_SCHEME_NEEDS_ROLLBACK)
        for (int i = 0; i < info->subsystem_count; i++)
            if (!info->subsystems[i]->ops->rollback)
                return false;

    /* What each side of an interface would have to take. */
    for (int i = 0; i < info->interface_count; i++) {
        const yk_interface_def *def = &info->interfaces[i];
        const yk_port_pair joined = {
            .subsystem = {info->subsystems[def->wrench_subsystem.index],
                          info->subsystems[def->motion_subsystem.index]},
            .subsystem_index = {def->wrench_subsystem.index, def->motion_subsystem.index},
            .port = {def->wrench_port.index, def->motion_port.index},
        };
        yk_causality takes[2] = {YK_CAUSALITY_WRENCH_INPUT, YK_CAUSALITY_MOTION_INPUT};
        if (scheme->second_side_causality)
            takes[1] = scheme->second_side_causality(options, &joined);

        for (int side = 0; side < 2; side++) {
            const yk_subsystem *subsystem = joined.subsystem[side];
            const yk_port *ports;
            subsystem->ops->ports(subsystem, &ports);
            if (!(ports[joined.port[side]].allowed_causalities & takes[side]))
                return false;
        }
    }

    return true;
}

/* Findings ------------------------------------------------------------------------------------- */

yk_finding yk_finding_of(yk_finding_kind kind, yk_finding_cause cause, double value)
{
    const yk_finding_rule *rule = yk_finding_rule_of(kind);
    bool serious = rule->severity == YK_SERIOUS_ALWAYS ||
                   (rule->severity == YK_SERIOUS_ABOVE_THRESHOLD &&
                    !(isnan(rule->serious) || fabs(value) <= rule->serious));
    return (yk_finding){
        .kind = kind,
        .cause = cause,
        .severity = serious ? YK_FINDING_SEVERITY_SERIOUS : YK_FINDING_SEVERITY_WARNING,
        .subsystem = {-1},
        .interface_index = {-1},
        .time = NAN,
        .value = value,
        .limit = rule->serious,
    };
}

void yk_finding_set(yk_finding *finding, const char *name, double value)
{
    for (int i = 0; i < YK_FINDING_NUMBERS_MAX; i++) {
        if (finding->figures[i].name)
            continue;

        finding->figures[i] = (yk_finding_number){name, value};
        return;
    }

    assert(false);
}

void yk_finding_add(yk_run_report *report, const yk_finding *finding)
{
    /* The causes come first, so what comes after the list is full matters less. */
    if (report->finding_count < YK_FINDINGS_MAX)
        report->findings[report->finding_count++] = *finding;
}

void yk_finding_search(yk_finding *finding, yk_remedy_kind kind)
{
    if (finding->remedy_count == YK_REMEDIES_MAX)
        return;

    finding->remedies[finding->remedy_count++] = (yk_remedy){.kind = kind};
}

void yk_finding_change(yk_finding *finding, const yk_changes *changes)
{
    if (finding->remedy_count == YK_REMEDIES_MAX)
        return;

    yk_remedy *remedy = &finding->remedies[finding->remedy_count++];
    *remedy = (yk_remedy){.kind = YK_REMEDY_OVERRIDES};

    for (int i = 0; i < changes->count && i < YK_REMEDY_OVERRIDES_MAX; i++) {
        char *override = remedy->overrides[remedy->override_count++];
        snprintf(override, sizeof remedy->overrides[0], "%.*s",
                 (int)sizeof remedy->overrides[0] - 1, changes->texts[i]);
    }
}

void yk_finding_choice(yk_finding *finding, const yk_choice *choice, const yk_scenario_info *info)
{
    /* Who has the scheme already needs its options only. */
    yk_changes all = yk_choice_changes(choice);
    bool same_scheme = choice->scheme == info->scheme.ops && all.count > 1;
    yk_changes changes = {0};
    for (int i = same_scheme; i < all.count; i++)
        yk_changes_add(&changes, "%s", all.texts[i]);
    yk_finding_change(finding, &changes);
}

void yk_finding_scheme(yk_finding *finding, const yk_scheme_ops *scheme)
{
    yk_changes changes = {0};
    yk_changes_add(&changes, "coupling.scheme=%s", scheme->name);
    yk_finding_change(finding, &changes);
}

/* Trying them ------------------------------------------------------------------------------------
 *
 * Whether what findings recommend helps: by running the scenario with it, and where that is not
 * enough, with shorter macro steps as well. A remedy that was seen to fail is not recommended. */

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
    const yk_run_options *run;
    double step;     /* s, of the scenario */
    double failed;   /* s: where the run failed; its start if it did not */
    double seconds;  /* of the processor, that are left */
    bool stopped;    /* by the user */
    char stage[200]; /* for the progress */
} attempts;

static bool goes_on(void *user, const yk_trial *trial, const yk_run_progress *progress)
{
    (void)trial;
    attempts *a = user;
    yk_run_progress shown = *progress;
    shown.stage = a->stage;
    if (a->run->progress && !a->run->progress(a->run->user, &shown))
        a->stopped = true;
    return !a->stopped;
}

/* Runs the scenario with the overrides of a remedy; notes in it how far that went. */
static outcome try_once(attempts *a, yk_remedy *remedy)
{
    const char *overrides[YK_REMEDY_OVERRIDES_MAX];
    size_t used = (size_t)snprintf(a->stage, sizeof a->stage, "trying");
    for (int i = 0; i < remedy->override_count; i++) {
        overrides[i] = remedy->overrides[i];
        if (used < sizeof a->stage)
            used += (size_t)snprintf(a->stage + used, sizeof a->stage - used, " %s", overrides[i]);
    }
    yk_variant variant = {.overrides = overrides, .override_count = remedy->override_count};
    yk_trial_def def = {
        .scenario = a->scenario,
        .variant = &variant,
        .step = NAN,
        .end = NAN,
        .every = 1 << 20,            /* the record is not looked at */
        .seconds = 0.5 * a->seconds, /* the other half is for others */
        .estimate_error = a->run->verdict_scenario,
        .error_tolerance = a->run->error_tolerance,
        .caller = a->context,
        .progress = goes_on,
        .user = a,
    };
    yk_trial trial;
    yk_trial_run(&def, &trial);
    a->seconds -= trial.seconds;
    yk_status status = trial.status;
    double reached = trial.report->time;
    double error = trial.report->estimate.available ? trial.report->estimate.relative_error : NAN;
    yk_finding_kind kind;
    bool serious = yk_report_serious(trial.report, &kind);
    yk_trial_release(&trial);

    if (yk_context_should_stop(a->context))
        a->stopped = true;

    /* Where time is short it has to come further than a run that failed. */
    if (a->stopped || status == YK_ERROR_MEMORY)
        return UNKNOWN;

    bool cut = status == YK_INTERRUPTED;
    if (serious || (YK_FAILED(status) && !cut))
        return FAILS;
    if (cut && !(reached > a->failed))
        return UNKNOWN;

    remedy->verified_until = reached;
    remedy->estimated_error = error;
    return HELPS;
}

/* Halves the macro step of a remedy so many times: that of its own, if it has one, else the step of
 * the scenario. False if the remedy has no place for it. */
static bool set_step(yk_remedy *remedy, double step, int halvings)
{
    static const char key[] = "time.step=";
    int at = remedy->override_count;
    for (int i = 0; i < remedy->override_count; i++)
        if (strncmp(remedy->overrides[i], key, strlen(key)) == 0) {
            at = i;
            step = yk_text_number(remedy->overrides[i] + strlen(key), NULL);
        }
    if (at == YK_REMEDY_OVERRIDES_MAX)
        return false;

    yk_format(remedy->overrides[at], sizeof remedy->overrides[at], "%s%.10g", key,
              ldexp(step, -halvings));
    if (at == remedy->override_count)
        remedy->override_count++;
    return true;
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

void yk_remedies_try(yk_context *context, const yk_scenario_info *info, const yk_run_options *run,
                     yk_run_report *report)
{
    enum { TRIED_MAX = 8 };
    yk_scenario_def scenario = *run->remedy_scenario;
    yk_cache *cache = yk_trials_prepare(&scenario);
    attempts a = {
        .context = context,
        .scenario = &scenario,
        .run = run,
        .step = info->step,
        .failed = info->start,
        .seconds = fmin(fmax(2 * report->wall_time, SECONDS_LEAST), SECONDS_MOST),
    };
    if (report->time < info->end - 0.5 * info->step)
        a.failed = report->time;
    yk_log(context, YK_LOG_DEBUG, "trying what may help");

    /* The changes that findings recommend, each once; a shorter step alone where there is none. */
    yk_remedy asked[TRIED_MAX];
    int count = 0;
    for (int i = 0; i < report->finding_count; i++) {
        const yk_finding *f = &report->findings[i];
        for (int k = 0;
             k < f->remedy_count && f->severity == YK_FINDING_SEVERITY_SERIOUS && count < TRIED_MAX;
             k++)
            if (f->remedies[k].kind == YK_REMEDY_OVERRIDES &&
                find(asked, count, &f->remedies[k]) < 0)
                asked[count++] = f->remedies[k];
    }

    bool shorter_alone = count == 0;
    if (shorter_alone)
        asked[count++] = (yk_remedy){.kind = YK_REMEDY_OVERRIDES};

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
            bool fits = halvings == 0 || set_step(&helps, a.step, halvings);

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
        if (f->severity != YK_FINDING_SEVERITY_SERIOUS)
            continue;

        int kept = 0;
        for (int k = 0; k < f->remedy_count; k++) {
            int known = find(asked, count, &f->remedies[k]);
            bool change = f->remedies[k].kind == YK_REMEDY_OVERRIDES;
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
