/* Which scheme and step to take: by trying them.
 *
 * A short run of the scenario shows what a macro step costs; from that and the time that is allowed follows the stretch on
 * which all are tried. The reference is the monolithic system where the subsystems can be merged, else the tightest scheme
 * that runs, with a sixteenth of the scenario's step. Every scheme then goes from four times the step down to a quarter of
 * it, as far as the time allows, until the tolerance is met. The cheapest that meets it is asked for its stability. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/candidates.h"
#include "analysis/trial.h"
#include "base/clock.h"

/* Steps that are tried, by that of the scenario; samples are at multiples of the coarsest of all. Scenarios that take long to
 * load, such as those whose particles settle first, are tried with fewer. */
enum { GRID = 4, ROUNDS_MAX = 5 };
static const double MANY[ROUNDS_MAX] = {GRID, 2, 1, 0.5, 0.25}, SOME[] = {2, 1, 0.5}, FEW[] = {1, 0.5};
enum { REFERENCE_PARTS = 16, REFERENCE_SHARE = 6, PILOT_STEPS = 256, STRETCH_LEAST = 64 };
/* Macro steps that all trials take for one of the stretch, iterations included: to tell how long a stretch may be. */
static const double WORK = 1000;
/* Energy that moves, by the rounding of all energies, below which it is no motion. */
static const double AT_REST = 1e5;
/* Macro steps that an inquiry about stability takes, roughly. */
static const double STABILITY_STEPS = 5000;

typedef struct study {
    yk_context *context;
    const yk_advise_def *def;
    yk_advice *advice;
    double begun;
    double step, start, end; /* of the scenario */
    bool mergeable;
    double seconds_per_step; /* from the pilot */
    const double *factors;   /* of the step, one per round */
    int rounds;
    bool too_long; /* a reference did not end in its time */
    const yk_variant *candidates;
    int candidate_count;
    yk_trial reference;
    char (*names)[160];
    const char **signals;
    int signal_count;
    yk_run_report *reports; /* of the candidates' last runs */
    int round;              /* which step is tried */
    bool settled[YK_ADVICE_MAX];
} study;

yk_advise_def yk_advise_default(void)
{
    return (yk_advise_def){.scenario = yk_scenario_default(), .tolerance = 0.01, .stretch = NAN, .seconds = 60};
}

static double time_left(const study *s)
{
    return s->def->seconds - (yk_clock_seconds() - s->begun);
}

static yk_trial_def trial_of(const study *s, const yk_variant *variant, double step, double seconds)
{
    return (yk_trial_def){.scenario = &s->def->scenario,
                          .variant = variant,
                          .step = step,
                          .end = s->start + s->advice->stretch,
                          .signals = s->signals,
                          .signal_count = s->signal_count,
                          .every = (int)lround(GRID * s->step / step),
                          .seconds = seconds};
}

/* Preparation ------------------------------------------------------------------------------------------------------ */

static yk_status choose_signals(study *s, const yk_scenario_info *info)
{
    s->signal_count = s->def->signal_count ? s->def->signal_count : 2 * info->interface_count;
    s->names = yk_allocate(s->context, (size_t)s->signal_count, sizeof *s->names);
    s->signals = yk_allocate(s->context, (size_t)s->signal_count, sizeof *s->signals);
    if (!s->names || !s->signals) return YK_ERROR_MEMORY;
    for (int i = 0; i < s->signal_count; i++) {
        if (s->def->signal_count)
            snprintf(s->names[i], sizeof *s->names, "%s", s->def->signals[i]);
        else
            snprintf(s->names[i], sizeof *s->names, "%s.%s", info->interfaces[i / 2].name,
                     i % 2 ? "velocity" : "position");
        s->signals[i] = s->names[i];
    }
    return YK_OK;
}

/* Subsystems of different kinds cannot be merged: that need not be tried. */
static bool can_merge(const yk_scenario_info *info)
{
    for (int i = 0; i < info->subsystem_count; i++)
        if (!info->subsystems[i]->ops->merge || info->subsystems[i]->ops != info->subsystems[0]->ops) return false;
    return true;
}

static yk_status read_scenario(study *s, yk_diagnostics *diagnostics)
{
    yk_scenario *scenario = NULL;
    yk_status status = yk_scenario_load(s->context, &s->def->scenario, diagnostics, &scenario);
    if (status < 0) return status;
    const yk_scenario_info *info = yk_scenario_get(scenario);
    s->step = info->step, s->start = info->start, s->end = info->end;
    s->mergeable = can_merge(info);
    if (info->interface_count == 0)
        status = yk_fail(s->context, YK_ERROR_ARGUMENT,
                         "advise: the scenario has no interfaces, so there is nothing to couple");
    else
        status = choose_signals(s, info);
    yk_scenario_destroy(scenario);
    return status;
}

/* Whole numbers of the coarsest step. */
static double whole_stretch(const study *s, double length)
{
    double grid = GRID * s->step, whole = s->end - s->start;
    double least = fmin(whole, STRETCH_LEAST * s->step);
    double steps = floor(fmin(whole, fmax(length, least)) / grid + 1e-9);
    return grid * fmax(1, steps);
}

static void choose_rounds(study *s, double affordable)
{
    s->factors = affordable > ROUNDS_MAX ? MANY : affordable > 3 ? SOME : FEW;
    s->rounds = s->factors == MANY ? ROUNDS_MAX : s->factors == SOME ? 3 : 2;
}

/* What a macro step of the scenario as it is costs, and the stretch that follows. */
static yk_status find_stretch(study *s)
{
    s->advice->stretch = whole_stretch(s, PILOT_STEPS * s->step);
    yk_trial_def def = trial_of(s, NULL, s->step, s->def->seconds / 10);
    yk_trial pilot;
    double before = yk_clock_seconds();
    yk_trial_run(&def, &pilot);
    double loading = yk_clock_seconds() - before - pilot.report.seconds;
    yk_status status = YK_OK;
    if (pilot.status == YK_ERROR_INPUT || pilot.status == YK_ERROR_MEMORY)
        status = yk_fail(s->context, pilot.status, "advise: %s", pilot.message);
    double seconds = pilot.report.seconds / fmax(1, (double)pilot.report.steps);
    s->seconds_per_step = fmax(seconds, 1e-7);
    yk_trial_release(&pilot);
    int jobs = s->def->jobs > 0 ? s->def->jobs : yk_context_threads(s->context);
    choose_rounds(s, 0.6 * s->def->seconds * fmax(1, jobs) / (s->candidate_count * fmax(loading, 1e-6)));
    double steps = fmax(1, jobs) * s->def->seconds / (WORK * s->seconds_per_step);
    s->advice->stretch = whole_stretch(s, isfinite(s->def->stretch) ? s->def->stretch : steps * s->step);
    return status;
}

/* Reference -------------------------------------------------------------------------------------------------------- */

typedef struct reference_runs {
    const study *s;
    const yk_variant *variant;
    yk_trial runs[2]; /* with the step of the reference, and twice that */
} reference_runs;

static void run_reference(void *user, int index)
{
    reference_runs *r = user;
    const study *s = r->s;
    yk_trial_def def =
        trial_of(s, r->variant, (index + 1) * s->step / REFERENCE_PARTS, s->def->seconds / REFERENCE_SHARE);
    yk_trial_run(&def, &r->runs[index]);
}

static bool try_reference(study *s, const yk_variant *variant)
{
    reference_runs r = {.s = s, .variant = variant};
    yk_finding_kind kind;
    bool good = yk_trials_run(s->context, s->def->jobs, 2, run_reference, &r, NULL, NULL) == YK_OK;
    for (int i = 0; i < 2; i++) {
        s->too_long = s->too_long || r.runs[i].status == YK_INTERRUPTED;
        good = good && r.runs[i].status == YK_OK && !yk_report_serious(&r.runs[i].report, &kind);
    }
    if (good) {
        double largest;
        s->advice->reference_error = yk_record_distance(r.runs[1].record, r.runs[0].record, &largest);
        snprintf(s->advice->reference, sizeof s->advice->reference, "%s", variant->name);
        s->reference = r.runs[0];
    } else {
        yk_trial_release(&r.runs[0]);
    }
    yk_trial_release(&r.runs[1]);
    return good;
}

static yk_status check_motion(const study *s)
{
    const yk_run_report *r = &s->reference.report;
    if (!(r->largest_energy <= AT_REST * r->rounding)) return YK_OK;
    return yk_fail(
        s->context, YK_ERROR_ARGUMENT,
        "advise: nothing moves in the first %g s, so there is nothing to compare; name a longer stretch (--stretch) "
        "or another start",
        s->advice->stretch);
}

/* The most exact first. */
static bool find_reference(study *s)
{
    static const char *const order[] = {"monolithic", "index1, degree 3", "tight, quasi-newton", "tight, aitken",
                                        "explicit, index-1"};
    s->too_long = false;
    for (size_t k = s->mergeable ? 0 : 1; k < sizeof order / sizeof *order && time_left(s) > 0; k++)
        for (int i = 0; i < s->candidate_count; i++)
            if (strcmp(s->candidates[i].name, order[k]) == 0 && try_reference(s, &s->candidates[i])) return true;
    return false;
}

/* On a shorter stretch where it takes too long, unless a length was asked for: a short answer is better than none. */
static yk_status make_reference(study *s)
{
    if (find_reference(s)) return check_motion(s);
    double shorter = whole_stretch(s, s->advice->stretch / 4);
    if (s->too_long && !isfinite(s->def->stretch) && shorter < s->advice->stretch) {
        s->advice->stretch = shorter;
        if (find_reference(s)) return check_motion(s);
    }
    if (s->too_long)
        return yk_fail(
            s->context, YK_ERROR_NO_SOLUTION,
            "advise: a reference for the first %g s takes longer than %g s; give a shorter --stretch or more "
            "--seconds",
            s->advice->stretch, s->def->seconds / REFERENCE_SHARE);
    return yk_fail(
        s->context, YK_ERROR_NO_SOLUTION,
        "advise: no scheme gives a run that could serve as reference on the first %g s, not even with a step of "
        "%g s; does the scenario run at all?",
        s->advice->stretch, s->step / REFERENCE_PARTS);
}

/* Candidates ------------------------------------------------------------------------------------------------------- */

static void judge_trial(const study *s, const yk_trial *trial, yk_advice_row *row)
{
    yk_finding_kind kind;
    double largest, scale = (s->end - s->start) / s->advice->stretch;
    row->seconds = trial->report.seconds * scale;
    row->calls = (int64_t)llround((double)trial->calls * scale);
    row->energy_share = trial->report.energy_created / trial->report.largest_energy;
    row->error = NAN;
    row->message[0] = '\0';
    bool serious = yk_report_serious(&trial->report, &kind);
    if (trial->status < 0 && !(serious && kind != YK_FINDING_NOT_CONVERGED)) {
        bool blew_up = trial->status == YK_ERROR_NOT_FINITE;
        row->outcome = blew_up ? YK_ADVICE_UNSTABLE : YK_ADVICE_FAILED;
        snprintf(row->message, sizeof row->message, "%s", trial->message);
        return;
    }
    if (trial->status == YK_INTERRUPTED) {
        row->outcome = YK_ADVICE_NOT_TRIED;
        snprintf(row->message, sizeof row->message, "the time was over");
        return;
    }
    if (trial->status >= 0) row->error = yk_record_distance(trial->record, s->reference.record, &largest);
    row->outcome = serious                           ? YK_ADVICE_UNSTABLE
                   : row->error <= s->def->tolerance ? YK_ADVICE_GOOD
                                                     : YK_ADVICE_INACCURATE;
    if (serious && kind == YK_FINDING_NOT_CONVERGED) row->outcome = YK_ADVICE_INACCURATE;
    if (serious) snprintf(row->message, sizeof row->message, "%s", trial->report.findings[0].text);
}

static void open_row(const study *s, int index)
{
    yk_advice_row *row = &s->advice->rows[index];
    *row = (yk_advice_row){.outcome = YK_ADVICE_NOT_TRIED, .error = NAN, .step = NAN};
    snprintf(row->name, sizeof row->name, "%s", s->candidates[index].name);
    snprintf(row->message, sizeof row->message, "the time was over");
    yk_candidate_block(&s->candidates[index], row->block, sizeof row->block);
}

/* One candidate with the step of this round, unless it is done. */
static void try_candidate(void *user, int index)
{
    study *s = user;
    yk_advice_row *row = &s->advice->rows[index];
    double left = time_left(s);
    if (s->settled[index] || left <= 0) return;
    yk_advice_row attempt = *row;
    attempt.step = s->factors[s->round] * s->step;
    yk_trial_def def = trial_of(s, &s->candidates[index], attempt.step, left);
    yk_trial trial;
    yk_trial_run(&def, &trial);
    judge_trial(s, &trial, &attempt);
    /* Another step changes nothing about a capability. */
    bool hopeless =
        trial.status == YK_ERROR_CAPABILITY || trial.status == YK_ERROR_INPUT || trial.status == YK_ERROR_ARGUMENT;
    if (attempt.outcome != YK_ADVICE_NOT_TRIED || s->round == 0) {
        *row = attempt;
        s->reports[index] = trial.report;
    }
    s->settled[index] = hopeless || attempt.outcome == YK_ADVICE_GOOD;
    yk_trial_release(&trial);
}

/* Coarse steps of all schemes first: they are cheap, and what meets the tolerance there needs no finer one. */
static bool tell_progress(void *user, int done, int total)
{
    study *s = user;
    return !s->def->progress || s->def->progress(s->def->user, s->round * total + done, s->rounds * total);
}

static yk_status try_candidates(study *s)
{
    for (int i = 0; i < s->candidate_count; i++) open_row(s, i);
    yk_status status = YK_OK;
    for (s->round = 0; status == YK_OK && s->round < s->rounds; s->round++)
        status = yk_trials_run(s->context, s->def->jobs, s->candidate_count, try_candidate, s, tell_progress, s);
    return status;
}

/* Schemes that make as many calls with the same step cost the same: the calls are what takes time, what the clock says besides
 * is noise, and those that are listed first are the sturdier ones. */
static void level_costs(yk_advice *advice)
{
    for (int i = 0; i < advice->count; i++)
        for (int k = 0; k < i; k++) {
            yk_advice_row *a = &advice->rows[i], *b = &advice->rows[k];
            if (a->calls == b->calls && a->step == b->step) a->seconds = b->seconds = fmin(a->seconds, b->seconds);
        }
}

static bool comes_before(const yk_advice_row *a, const yk_advice_row *b)
{
    if (a->outcome != b->outcome) return a->outcome < b->outcome;
    if (a->outcome == YK_ADVICE_GOOD) return a->seconds < b->seconds;
    return a->error < b->error;
}

static void sort_rows(study *s)
{
    yk_advice *advice = s->advice;
    level_costs(advice);
    for (int i = 1; i < advice->count; i++) {
        yk_advice_row row = advice->rows[i];
        yk_run_report report = s->reports[i];
        int at = i;
        for (; at > 0 && comes_before(&row, &advice->rows[at - 1]); at--) {
            advice->rows[at] = advice->rows[at - 1];
            s->reports[at] = s->reports[at - 1];
        }
        advice->rows[at] = row;
        s->reports[at] = report;
    }
}

/* Stability -------------------------------------------------------------------------------------------------------- */

static const yk_variant *variant_named(const study *s, const char *name)
{
    for (int i = 0; i < s->candidate_count; i++)
        if (strcmp(s->candidates[i].name, name) == 0) return &s->candidates[i];
    return NULL;
}

static yk_status ask_stability(study *s, yk_advice_row *row)
{
    const yk_variant *variant = variant_named(s, row->name);
    int given = s->def->scenario.override_count;
    const char **overrides = yk_allocate(s->context, (size_t)(given + variant->override_count + 1), sizeof *overrides);
    if (!overrides) return YK_ERROR_MEMORY;
    char step[64];
    int count = 0;
    snprintf(step, sizeof step, "time.step=%.17g", row->step);
    for (int i = 0; i < given; i++) overrides[count++] = s->def->scenario.overrides[i];
    for (int i = 0; i < variant->override_count; i++) overrides[count++] = variant->overrides[i];
    overrides[count++] = step;
    yk_scenario_def def = s->def->scenario;
    def.overrides = overrides, def.override_count = count, def.precise = true;
    yk_diagnostics *diagnostics = NULL;
    yk_scenario *scenario = NULL;
    yk_stability_def stability = yk_stability_default();
    yk_status status = yk_diagnostics_create(s->context, &diagnostics);
    if (status >= 0) status = yk_scenario_load(s->context, &def, diagnostics, &scenario);
    if (status >= 0) status = yk_stability(s->context, scenario, &stability, &s->advice->stability);
    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    yk_release(s->context, overrides);
    if (status < 0) return status;
    s->advice->asked = true;
    return YK_OK;
}

/* The cheapest that meets the tolerance and whose coupling is stable, as far as there is time to ask. */
static void choose_best(study *s)
{
    yk_advice *advice = s->advice;
    advice->best = -1;
    for (int i = 0; i < advice->count && advice->best < 0; i++) {
        yk_advice_row *row = &advice->rows[i];
        if (row->outcome != YK_ADVICE_GOOD || strcmp(row->name, "monolithic") == 0) continue;
        bool affordable = time_left(s) > STABILITY_STEPS * s->seconds_per_step;
        advice->asked = false;
        bool told = affordable && ask_stability(s, row) >= 0;
        bool unstable = told && (advice->stability.verdict == YK_VERDICT_COUPLING ||
                                 advice->stability.verdict == YK_VERDICT_FAILED);
        if (!unstable) {
            advice->best = i;
            advice->watched = s->reports[i];
            break;
        }
        row->outcome = YK_ADVICE_UNSTABLE;
        snprintf(
            row->message, sizeof row->message,
            "meets the tolerance on the stretch, but its coupling feeds a deviation that grows by a factor of %.6g per "
            "macro step",
            advice->stability.coupling);
    }
}

static yk_status advise(yk_context *context, const yk_advise_def *def, yk_diagnostics *diagnostics, yk_advice *advice)
{
    *advice = (yk_advice){.best = -1};
    if (!(def->tolerance > 0) || !(def->seconds > 0))
        return yk_fail(context, YK_ERROR_ARGUMENT, "advise: tolerance (%g) and time (%g s) must be positive",
                       def->tolerance, def->seconds);
    study s = {.context = context, .def = def, .advice = advice, .begun = yk_clock_seconds()};
    yk_variant room[YK_ADVICE_MAX];
    const char *overrides[YK_ADVICE_MAX];
    char texts[YK_ADVICE_MAX][64];
    s.candidate_count = advice->count = yk_candidates(&s.candidates, room, overrides, texts);
    s.reports = yk_allocate(context, (size_t)s.candidate_count, sizeof *s.reports);
    yk_status status = s.reports ? read_scenario(&s, diagnostics) : YK_ERROR_MEMORY;
    if (status == YK_OK) status = find_stretch(&s);
    if (status == YK_OK) status = make_reference(&s);
    if (status == YK_OK) status = try_candidates(&s);
    if (status == YK_OK) {
        sort_rows(&s);
        choose_best(&s);
    }
    yk_trial_release(&s.reference);
    yk_release(context, s.names);
    yk_release(context, (void *)(uintptr_t)s.signals);
    yk_release(context, s.reports);
    return status;
}

yk_status yk_advise(yk_context *context, const yk_advise_def *def, yk_diagnostics *diagnostics, yk_advice *advice)
{
    yk_advise_def own = *def;
    yk_preparations *prepared = yk_trials_prepare(&own.scenario);
    yk_status status = advise(context, &own, diagnostics, advice);
    yk_preparations_destroy(prepared);
    return status;
}
