/* The trust suite: compares the program's statements about runs with reference solutions.
 *
 * A case is a typical scenario of users, with its values (cases.txt). Every case is run with many
 * variants of the coupling and three macro steps, and five things are judged:
 *
 *   run        the run's findings. The truth is the error of the recorded signals relative to a
 *              fine reference: monolithic if the parts can be merged, otherwise the tightest scheme
 *              that runs. A good run reported as not trustworthy is a false alarm, a wrong run that
 *              is not reported is a miss.
 *   stability  the verdict of `yoke stability`. The truth is a long run compared with the reference
 *              at the same step: it diverges, or it stays close to the reference.
 *   error      the error bars of `yoke run --error-bars`. The truth is the difference from the
 *              reference: a smaller bar is a miss, one that is larger than one percent and ten
 *              times the truth a false alarm.
 *   remedy     the first remedy of a run that is not trustworthy. It is applied: a trustworthy run
 *              that is not wrong is a success, any other a miss; a run without an applicable remedy
 *              is undecided.
 *   advise     the block that `yoke advise` prints. It is applied, run from start to end, and
 *              compared with the reference.
 *
 * Each case runs in a process of its own, so that one that hangs or crashes is counted as such and
 * the others continue.
 *
 *   build/release/studies/trust/yoke-trust [--set N] [--case NAME] [--only
 *   run|verdict|stability|error|remedy|advise] [--jobs N] [--verbose] */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "yoke/analysis.h"

enum { CASES_MAX = 256, OVERRIDES_MAX = 24, LINE_MAX_LENGTH = 1024 };

/* Errors, relative to the range of the signal, up to which a run is good, and above which it is
 * wrong; in between no verdict is counted. */
static const double GOOD = 0.03, WRONG = 0.2;
/* The same for the verdict of a user. */
static const double VERDICT_GOOD = 0.05, VERDICT_WRONG = 0.1;
/* At steps for which the reference scheme itself is less accurate than this, the coupling is not
 * judged. */
static const double TOO_COARSE = 0.1;
/* A long run has diverged, or has stayed, if the range of its signals is this multiple of that of
 * the reference. */
static const double RAN_AWAY = 20, STAYED = 2;
enum { LONG_RUN_STEPS = 4000 };

/* Limits: processor time (s) of a single run and of an advice, and wall time (s) of a whole case. */
static const double RUN_SECONDS = 60, ADVICE_SECONDS = 15;
enum { CASE_SECONDS = 7200 };

/* Macro steps relative to that of the scenario. The reference is sampled at multiples of the smallest. */
static const double step_factors[] = {4, 1, 0.25};
enum { STEP_COUNT = 3, FINE_PARTS = 16, COARSE_FACTOR = 4 };

typedef struct variant {
    const char *name;
    const char *overrides[YK_ADVICE_OVERRIDES_MAX];
} variant;

static const variant variants[] = {
    {"explicit", {"coupling={scheme: explicit}"}},
    {"explicit-index-1", {"coupling={scheme: explicit, modified_inputs: index-1}"}},
    {"explicit-original", {"coupling={scheme: explicit, modified_inputs: none}"}},
    {"explicit-jacobi", {"coupling={scheme: explicit, sequence: jacobi}"}},
    {"loose", {"coupling={scheme: loose}"}},
    {"tight", {"coupling={scheme: tight}"}},
    {"tight-plain", {"coupling={scheme: tight, acceleration: none}"}},
    {"tight-aitken", {"coupling={scheme: tight, acceleration: aitken}"}},
    {"index1", {"coupling={scheme: index1}"}},
    {"index1-degree-1", {"coupling={scheme: index1, polynomial_degree: 1}"}},
    {"rim", {"coupling={scheme: rim}"}},
    {"relaxed", {"coupling={scheme: relaxed}"}},
    {"monolithic", {"coupling={scheme: monolithic}"}},
};
enum { VARIANT_COUNT = sizeof variants / sizeof *variants };

/* Candidates for the reference, best first. */
static const variant references[] = {
    {"monolithic", {"coupling={scheme: monolithic}"}},
    {"tight",
     {"coupling={scheme: tight, acceleration: quasi-newton, max_iterations: 60, "
      "absolute_tolerance: 0, relative_tolerance: 1e-9}"}},
    {"index1", {"coupling={scheme: index1, absolute_tolerance: 0, relative_tolerance: 1e-9}"}},
};
enum { REFERENCE_COUNT = sizeof references / sizeof *references };

/* Marks an override for the reference, if no coupling scheme can be the reference. */
#define TRUTH "truth:"

typedef enum motion { MOTION_LINEAR, MOTION_GROWS, MOTION_ANY } motion;

typedef struct trust_case {
    char name[64];
    int set;
    char scenario[64];
    motion motion;
    char text[LINE_MAX_LENGTH]; /* holds the overrides */
    const char *overrides[OVERRIDES_MAX];
    int override_count;
    const char *truths[OVERRIDES_MAX]; /* more of them for the reference */
    int truth_count;
} trust_case;

typedef enum question {
    ASK_RUN,
    ASK_VERDICT,
    ASK_STABILITY,
    ASK_ERROR,
    ASK_REMEDY,
    ASK_ADVISE,
    QUESTION_COUNT
} question;

static const char *const question_names[] = {"run",   "verdict", "stability",
                                             "error", "remedy",  "advise"};

typedef enum judgement {
    RIGHT,
    FALSE_ALARM,
    MISS,
    UNDECIDED,
    NOT_COUNTED,
    BROKEN,
    JUDGEMENT_COUNT
} judgement;

static const char *const judgement_names[] = {"right",     "false alarm", "miss",
                                              "undecided", "not counted", "broken"};

/* One answer of the program and its evaluation; sent by a worker to the parent. */
typedef struct row {
    int case_index;
    question question;
    int variant; /* -1: none */
    double step; /* s */
    judgement judgement;
    /* error of the signals relative to their range; for stability: range relative to that of the
     * reference */
    double error;
    double estimate; /* of the error, by the program; NaN: none */
    double cost;     /* processor time of the estimate relative to that of the run */
    bool contact;
    char said[200];
} row;

typedef struct options {
    int set; /* 0: all */
    const char *only_case;
    bool asked[QUESTION_COUNT];
    int jobs;
    bool verbose;
    const char *folder;
} options;

/* Cases ---------------------------------------------------------------------------------------- */

static bool parse_case(char *line, trust_case *c)
{
    static const char *const words[] = {"linear", "grows", "any"};
    *c = (trust_case){0};
    snprintf(c->text, sizeof c->text, "%s", line);

    const char *fields[4 + OVERRIDES_MAX];
    int count = 0;
    for (char *word = strtok(c->text, " \t\n"); word && count < 4 + OVERRIDES_MAX;
         word = strtok(NULL, " \t\n"))
        fields[count++] = word;
    if (count < 4)
        return false;

    snprintf(c->name, sizeof c->name, "%s", fields[0]);
    snprintf(c->scenario, sizeof c->scenario, "%s", fields[2]);
    c->set = atoi(fields[1]);
    c->motion = MOTION_ANY;
    for (int i = 0; i < 3; i++)
        if (strcmp(fields[3], words[i]) == 0)
            c->motion = (motion)i;
    for (int i = 4; i < count; i++) {
        bool is_truth = strncmp(fields[i], TRUTH, strlen(TRUTH)) == 0;
        if (is_truth)
            c->truths[c->truth_count++] = fields[i] + strlen(TRUTH);
        else
            c->overrides[c->override_count++] = fields[i];
    }
    return true;
}

static int read_cases(const options *asked, trust_case *cases)
{
    char path[512], line[LINE_MAX_LENGTH];
    snprintf(path, sizeof path, "%s/cases.txt", asked->folder);
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "yoke-trust: cannot read %s: %s\n", path, strerror(errno));
        return -1;
    }

    int count = 0;
    while (count < CASES_MAX && fgets(line, sizeof line, file)) {
        trust_case *c = &cases[count];
        if (*line == '#' || *line == '\n')
            continue;
        if (!parse_case(line, c)) {
            fprintf(stderr, "yoke-trust: %s: cannot read the case '%s'\n", path, line);
            continue;
        }
        bool wanted = asked->only_case ? strstr(c->name, asked->only_case) != NULL : true;
        if (wanted && (asked->set == 0 || asked->set == c->set))
            count++;
    }
    fclose(file);
    return count;
}

/* Runs ----------------------------------------------------------------------------------------- */

typedef struct outcome {
    yk_status status;
    yk_context *context;
    yk_record *record;
    yk_run_report report;
    char message[512];
    double step, end; /* s, that the scenario has */
    bool contact;
    bool coupled; /* several subsystems */
} outcome;

static bool within_time(void *user, const yk_run_progress *progress)
{
    (void)progress;
    const clock_t *start = user;
    return (double)(clock() - *start) / CLOCKS_PER_SEC < RUN_SECONDS;
}

static void release(outcome *o)
{
    yk_record_destroy(o->record);
    if (o->context)
        yk_context_destroy(o->context);
    *o = (outcome){0};
}

/* A case with more overrides on top. */
typedef struct case_source {
    yk_scenario_def def;
    char path[512], texts[3][64];
    const char *overrides[OVERRIDES_MAX + 2 * YK_ADVICE_OVERRIDES_MAX + 4];
} case_source;

static void describe(const options *asked, const trust_case *c, const variant *v, double step,
                     double end, int every, case_source *out)
{
    *out = (case_source){.def = yk_scenario_default()};
    int count = 0;
    snprintf(out->path, sizeof out->path, "%s/scenarios/%s.yaml", asked->folder, c->scenario);
    for (int i = 0; i < c->override_count; i++)
        out->overrides[count++] = c->overrides[i];
    bool is_reference = v >= references && v < references + REFERENCE_COUNT;
    for (int i = 0; is_reference && i < c->truth_count; i++)
        out->overrides[count++] = c->truths[i];
    for (int i = 0; v && i < YK_ADVICE_OVERRIDES_MAX && v->overrides[i]; i++)
        out->overrides[count++] = v->overrides[i];

    if (step > 0) {
        snprintf(out->texts[0], sizeof out->texts[0], "time.step=%.17g", step);
        out->overrides[count++] = out->texts[0];
    }
    if (end > 0) {
        snprintf(out->texts[1], sizeof out->texts[1], "time.end=%.17g", end);
        out->overrides[count++] = out->texts[1];
    }
    if (every > 0) {
        snprintf(out->texts[2], sizeof out->texts[2], "record.every=%d", every);
        out->overrides[count++] = out->texts[2];
    }

    out->def.path = out->path;
    out->def.overrides = out->overrides;
    out->def.override_count = count;
}

/* NULL if it is rejected, with the reason in o->message. */
static yk_scenario *load(const case_source *from, outcome *o)
{
    *o = (outcome){.status = YK_ERROR_MEMORY};
    yk_context_def context_def = yk_context_default();
    context_def.thread_count = 1;
    o->context = yk_context_create(&context_def);
    if (!o->context)
        return NULL;

    yk_diagnostics *diagnostics = NULL;
    yk_scenario *scenario = NULL;
    o->status = yk_diagnostics_create(o->context, &diagnostics);
    if (!YK_FAILED(o->status))
        o->status = yk_scenario_load(o->context, &from->def, diagnostics, &scenario);
    if (YK_FAILED(o->status)) {
        const char *why = yk_diagnostics_count(diagnostics)
                              ? yk_diagnostics_at(diagnostics, 0)->message
                              : yk_last_message(o->context);
        snprintf(o->message, sizeof o->message, "%s", why);
    }
    yk_diagnostics_destroy(diagnostics);
    if (scenario) {
        o->step = yk_scenario_get_info(scenario)->step;
        o->end = yk_scenario_get_info(scenario)->end;
    }
    return scenario;
}

/* False: the scenario is rejected with this variant. With `tries`, remedies are tried as by the
 * program. */
typedef enum run_mode {
    RUN_PLAIN,
    RUN_WITH_REMEDIES,
    RUN_WITH_VERDICT /* estimates its error, like the command line */
} run_mode;

static bool run_source(const case_source *from, run_mode mode, outcome *o)
{
    yk_scenario *scenario = load(from, o);
    if (!scenario)
        return false;
    yk_system *system = NULL;
    yk_status status = yk_scenario_system(scenario, &system);
    if (!YK_FAILED(status))
        status = yk_record_create(o->context, &o->record);
    bool accepted = !YK_FAILED(status);
    if (accepted) {
        clock_t start = clock();
        yk_run_options def = {
            .recorder = yk_record_recorder(o->record), .progress = within_time, .user = &start};
        if (mode == RUN_WITH_REMEDIES)
            def.remedy_scenario = &from->def;
        if (mode == RUN_WITH_VERDICT)
            def.verdict_scenario = &from->def;
        o->contact = yk_scenario_get_info(scenario)->has_impacts;
        o->coupled = yk_scenario_get_info(scenario)->subsystem_count > 1;
        status = yk_run(o->context, scenario, &def, &o->report);
    }
    o->status = status;
    if (status != YK_OK)
        snprintf(o->message, sizeof o->message, "%s", yk_last_message(o->context));
    yk_scenario_destroy(scenario);
    return accepted;
}

static bool run(const options *asked, const trust_case *c, const variant *v, double step,
                double end, int every, outcome *o)
{
    case_source from;
    describe(asked, c, v, step, end, every, &from);
    return run_source(&from, RUN_PLAIN, o);
}

/* Largest and smallest value of a channel's components over the rows of a record. */
static double channel_range(const yk_record *record, int channel, int components)
{
    double widest = 0;
    for (int k = 0; k < components; k++) {
        const double *x = yk_record_column(record, channel, k);
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < yk_record_row_count(record); i++) {
            low = fmin(low, x[i]);
            high = fmax(high, x[i]);
        }
        if (high - low > widest)
            widest = high - low;
    }
    return widest;
}

/* Largest difference of the signals of two records at their common times, relative to the range of
 * the signal in the reference; infinite if the record ends before the reference does. */
static double distance(const yk_record *record, const yk_record *reference)
{
    const yk_record_header *header = yk_record_get_header(reference);
    const double *t = yk_record_times(record), *u = yk_record_times(reference);
    size_t rows = yk_record_row_count(record), others = yk_record_row_count(reference);
    if (rows == 0 || others < 2 || t[rows - 1] < u[others - 1] - 0.5 * (u[1] - u[0]))
        return INFINITY;

    double worst = 0;
    for (int channel = 0; channel < header->channel_count; channel++) {
        int components = header->channels[channel].component_count;
        double range = channel_range(reference, channel, components);
        if (!(range > 0))
            continue;
        for (int k = 0; k < components; k++) {
            const double *x = yk_record_column(record, channel, k),
                         *y = yk_record_column(reference, channel, k);
            for (size_t i = 0, j = 0; i < rows && j < others;) {
                double lag = t[i] - u[j];
                if (fabs(lag) < 1e-9 * (1 + fabs(u[j]))) {
                    double error = fabs(x[i] - y[j]) / range;
                    if (!(error <= worst))
                        worst = error;
                    i++;
                    j++;
                } else if (lag < 0) {
                    i++;
                } else {
                    j++;
                }
            }
        }
    }
    return isnan(worst) ? INFINITY : worst;
}

/* Range of the signals of a run relative to those of the reference. */
static double reach(const yk_record *record, const yk_record *reference)
{
    const yk_record_header *header = yk_record_get_header(reference);
    double most = 0;
    for (int channel = 0; channel < header->channel_count; channel++) {
        int components = header->channels[channel].component_count;
        double range = channel_range(reference, channel, components);
        double here = channel_range(record, channel, components);
        if (range > 0 && !(here / range <= most))
            most = here / range;
    }
    return isnan(most) ? INFINITY : most;
}

/* Judgements ----------------------------------------------------------------------------------- */

typedef struct work {
    const options *asked;
    const trust_case *c;
    int case_index;
    FILE *out;
    double step, end;                 /* s, of the scenario */
    int reference;                    /* index of the reference scheme */
    outcome fine;                     /* the truth */
    double reference_error;           /* estimated, of the truth */
    double coarse_errors[STEP_COUNT]; /* of the reference scheme with the steps of the runs */
} work;

static void report(work *w, row r)
{
    r.case_index = w->case_index;
    fwrite(&r, sizeof r, 1, w->out);
    fflush(w->out);
}

static bool find_reference(work *w)
{
    outcome o;
    case_source from;
    describe(w->asked, w->c, NULL, 0, 0, 0, &from);
    yk_scenario *scenario = load(&from, &o);
    w->step = o.step;
    w->end = o.end;
    yk_scenario_destroy(scenario);
    release(&o);
    if (!(w->step > 0))
        return false;

    for (w->reference = 0; w->reference < REFERENCE_COUNT; w->reference++) {
        const variant *v = &references[w->reference];
        int every = FINE_PARTS / COARSE_FACTOR;
        bool accepted = run(w->asked, w->c, v, w->step / FINE_PARTS, 0, every, &w->fine);
        if (accepted && !YK_FAILED(w->fine.status) && w->fine.status != YK_INTERRUPTED)
            return true;
        release(&w->fine);
    }
    return false;
}

static bool is_reported(const outcome *o, char *said, size_t size)
{
    snprintf(said, size, "%.190s", YK_FAILED(o->status) ? o->message : "");
    if (YK_FAILED(o->status))
        return true;
    for (int i = 0; i < o->report.finding_count; i++)
        if (o->report.findings[i].severity == YK_FINDING_SEVERITY_SERIOUS) {
            snprintf(said, size, "%.190s", o->report.findings[i].message);
            return true;
        }
    return false;
}

static void judge_runs(work *w)
{
    for (int i = 0; i < STEP_COUNT; i++) {
        outcome o;
        double step = w->step * step_factors[i];
        int every = (int)lround(COARSE_FACTOR / step_factors[i]);
        w->coarse_errors[i] = INFINITY;
        if (run(w->asked, w->c, &references[w->reference], step, 0, every, &o) &&
            !YK_FAILED(o.status))
            w->coarse_errors[i] = distance(o.record, w->fine.record);
        release(&o);
    }

    for (int v = 0; v < VARIANT_COUNT; v++)
        for (int i = 0; i < STEP_COUNT; i++) {
            outcome o;
            double step = w->step * step_factors[i];
            int every = (int)lround(COARSE_FACTOR / step_factors[i]);
            row r = {.question = ASK_RUN, .variant = v, .step = step};
            if (!run(w->asked, w->c, &variants[v], step, 0, every, &o)) {
                r.judgement = NOT_COUNTED;
                r.error = NAN;
                snprintf(r.said, sizeof r.said, "refused: %.180s", o.message);
            } else {
                bool reported = is_reported(&o, r.said, sizeof r.said);
                r.error = YK_FAILED(o.status) ? INFINITY : distance(o.record, w->fine.record);
                bool coarse = w->coarse_errors[i] > TOO_COARSE && r.error < 10;
                if (o.status == YK_INTERRUPTED) {
                    r.judgement = BROKEN;
                    snprintf(r.said, sizeof r.said, "took longer than %g s", RUN_SECONDS);
                } else if (coarse || (r.error > GOOD && r.error < WRONG)) {
                    r.judgement = NOT_COUNTED;
                } else if (r.error <= GOOD) {
                    r.judgement = reported ? FALSE_ALARM : RIGHT;
                } else {
                    r.judgement = reported ? RIGHT : MISS;
                }
            }
            release(&o);
            report(w, r);
        }
}

/* The user's question: is this run within 10 % of the truth? All errors count, those of the time
 * integration as well as those of the coupling. */
static void judge_verdicts(work *w)
{
    outcome coarser;
    int every = 1;
    w->reference_error = INFINITY;
    if (run(w->asked, w->c, &references[w->reference], 4 * w->step / FINE_PARTS, 0, every,
            &coarser) &&
        !YK_FAILED(coarser.status))
        w->reference_error = distance(coarser.record, w->fine.record) / 3;
    release(&coarser);

    /* One subsystem is the same under every scheme. */
    for (int v = 0; v < (w->fine.coupled ? VARIANT_COUNT : 1); v++)
        for (int i = 0; i < STEP_COUNT; i++) {
            outcome o;
            case_source from;
            double step = w->step * step_factors[i];
            describe(w->asked, w->c, &variants[v], step, 0, 1, &from);
            row r = {.question = ASK_VERDICT, .variant = v, .step = step, .estimate = NAN};
            if (!run_source(&from, RUN_WITH_VERDICT, &o)) {
                release(&o);
                continue;
            }

            bool reported = is_reported(&o, r.said, sizeof r.said);
            r.error = YK_FAILED(o.status) ? INFINITY : distance(o.record, w->fine.record);
            const yk_error_estimate *e = &o.report.estimate;
            if (e->available)
                r.estimate = e->relative_error;
            r.cost = e->cpu_time / fmax(o.report.wall_time, 1e-9);
            r.contact = o.contact;
            if (o.status == YK_INTERRUPTED || w->reference_error > 0.1 * r.error + 0.01 ||
                (r.error > VERDICT_GOOD && r.error < VERDICT_WRONG))
                r.judgement = NOT_COUNTED;
            else if (r.error <= VERDICT_GOOD)
                r.judgement = reported ? FALSE_ALARM : RIGHT;
            else
                r.judgement = reported ? RIGHT : MISS;
            release(&o);
            report(w, r);
        }
}

static void judge_stability(work *w)
{
    static const char *const words[] = {[YK_VERDICT_STABLE] = "stable",
                                        [YK_VERDICT_UNSTABLE_MOTION] = "motion",
                                        [YK_VERDICT_UNSTABLE_COUPLING] = "UNSTABLE",
                                        [YK_VERDICT_UNSTABLE_SOLVER] = "SOLVER UNSTABLE",
                                        [YK_VERDICT_UNDECIDED] = "undecided",
                                        [YK_VERDICT_COUPLING_BREAKDOWN] = "failed"};
    double end = fmax(w->end, LONG_RUN_STEPS * w->step);
    outcome base;
    bool known = run(w->asked, w->c, &references[w->reference], w->step, end, COARSE_FACTOR, &base);
    known = known && !YK_FAILED(base.status) && base.status != YK_INTERRUPTED;

    for (int v = 0; known && v < VARIANT_COUNT; v++) {
        row r = {.question = ASK_STABILITY,
                 .variant = v,
                 .step = w->step,
                 .judgement = NOT_COUNTED,
                 .error = NAN};
        outcome o;

        /* The truth: does a long run stay with the reference? */
        if (!run(w->asked, w->c, &variants[v], w->step, end, COARSE_FACTOR, &o)) {
            release(&o);
            continue;
        }
        r.error = reach(o.record, base.record);
        bool away = !(r.error <= RAN_AWAY) || o.status == YK_ERROR_NOT_FINITE;
        bool stays = r.error < STAYED && !YK_FAILED(o.status) && o.status != YK_INTERRUPTED;
        if (YK_FAILED(o.status))
            snprintf(r.said, sizeof r.said, "%.190s", o.message);
        release(&o);
        /* A run that stops for another reason, such as an impact for which its iterations fail, is
         * not counted. */
        if (!away && !stays) {
            report(w, r);
            continue;
        }

        /* The answer. */
        case_source from;
        describe(w->asked, w->c, &variants[v], w->step, 0, 0, &from);
        yk_scenario *scenario = load(&from, &o);
        yk_stability_report verdict;
        yk_stability_options def = yk_stability_options_default();
        yk_status status =
            scenario ? yk_analyze_stability(o.context, scenario, &def, &verdict) : YK_ERROR_INPUT;
        if (YK_FAILED(status)) {
            r.judgement = BROKEN;
            snprintf(r.said, sizeof r.said, "%.190s", o.context ? yk_last_message(o.context) : "");
        } else {
            bool source = yk_verdict_is_unstable(verdict.verdict);
            bool model = verdict.verdict == YK_VERDICT_UNSTABLE_MOTION;
            r.judgement = RIGHT;
            if (away && !source)
                r.judgement = MISS;
            if (stays && source)
                r.judgement = FALSE_ALARM;
            if (stays && model && w->c->motion == MOTION_LINEAR)
                r.judgement = FALSE_ALARM;
            if (stays && !model && w->c->motion == MOTION_GROWS && !source)
                r.judgement = MISS;
            if (verdict.verdict == YK_VERDICT_UNDECIDED)
                r.judgement = UNDECIDED;
            snprintf(r.said, sizeof r.said, "%s, radius %.6g, %s; %.120s", words[verdict.verdict],
                     verdict.spectral_radius, away ? "ran away" : "stayed", verdict.reason);
        }
        yk_scenario_destroy(scenario);
        release(&o);
        report(w, r);
    }
    release(&base);
}

/* Variants whose error bars are computed: one without iterations, one with, and the merged system. */
static const char *const barred[] = {"explicit", "tight", "index1", "monolithic"};

static bool is_barred(const variant *v)
{
    for (size_t i = 0; i < sizeof barred / sizeof *barred; i++)
        if (strcmp(v->name, barred[i]) == 0)
            return true;
    return false;
}

static void judge_error(work *w)
{
    for (int v = 0; v < VARIANT_COUNT; v++) {
        if (!is_barred(&variants[v]))
            continue;
        row r = {.question = ASK_ERROR,
                 .variant = v,
                 .step = w->step,
                 .judgement = NOT_COUNTED,
                 .error = NAN};
        outcome o;
        if (!run(w->asked, w->c, &variants[v], w->step, 0, COARSE_FACTOR, &o) ||
            YK_FAILED(o.status) || o.status == YK_INTERRUPTED) {
            release(&o);
            continue;
        }
        r.error = distance(o.record, w->fine.record);

        /* The same scenario, as the estimate loads it. */
        char path[512], step[64], every[64];
        const char *overrides[OVERRIDES_MAX + 4];
        int count = 0;
        snprintf(path, sizeof path, "%s/scenarios/%s.yaml", w->asked->folder, w->c->scenario);
        snprintf(step, sizeof step, "time.step=%.17g", w->step);
        snprintf(every, sizeof every, "record.every=%d", COARSE_FACTOR);
        for (int i = 0; i < w->c->override_count; i++)
            overrides[count++] = w->c->overrides[i];
        overrides[count++] = variants[v].overrides[0];
        overrides[count++] = step;
        overrides[count++] = every;
        yk_scenario_def def = yk_scenario_default();
        def.path = path;
        def.overrides = overrides;
        def.override_count = count;
        outcome loaded;
        case_source from;
        describe(w->asked, w->c, &variants[v], w->step, 0, COARSE_FACTOR, &from);
        yk_scenario *scenario = load(&from, &loaded);
        yk_accuracy_options error_def = {
            .scenario = def, .loaded_scenario = scenario, .record = o.record, .jobs = 1};
        yk_accuracy_report *bars = NULL;
        yk_status status =
            scenario ? yk_estimate_accuracy(o.context, &error_def, &bars) : YK_ERROR_INPUT;
        if (YK_FAILED(status) || !bars) {
            r.judgement = BROKEN;
            snprintf(r.said, sizeof r.said, "%.190s", yk_last_message(o.context));
        } else {
            double claimed = 0;
            for (int i = 0; i < bars->channel_count; i++)
                if (!bars->channels[i].excluded)
                    claimed = fmax(claimed, bars->channels[i].relative_to_range);
            if (!bars->is_bounded)
                claimed = INFINITY;
            /* both report the channel as unpredictable */
            bool lost = claimed > 0.5 && r.error > 0.1;
            r.judgement = RIGHT;
            if (!(r.error <= claimed + 1e-9) && !lost)
                r.judgement = MISS;
            if (claimed > 0.01 && claimed > 10 * r.error && isfinite(claimed))
                r.judgement = FALSE_ALARM;
            snprintf(r.said, sizeof r.said, "bar %.3g: %.150s", claimed, bars->summary);
        }
        if (bars)
            yk_accuracy_report_destroy(o.context, bars);
        yk_scenario_destroy(scenario);
        release(&loaded);
        release(&o);
        report(w, r);
    }
}

/* With the largest step, at which the remedies by other schemes fail most often. */
static void judge_remedies(work *w)
{
    double step = w->step * step_factors[0];
    for (int v = 0; v < VARIANT_COUNT; v++) {
        case_source from;
        outcome o;
        describe(w->asked, w->c, &variants[v], step, 0, 1, &from);
        row r = {.question = ASK_REMEDY, .variant = v, .step = step, .error = NAN};
        bool accepted = run_source(&from, RUN_WITH_REMEDIES, &o);
        bool asks =
            accepted && o.status != YK_INTERRUPTED && is_reported(&o, r.said, sizeof r.said);
        if (!asks) {
            release(&o);
            continue;
        }

        /* The first applicable remedy. */
        const yk_remedy *remedy = NULL;
        for (int i = 0; i < o.report.finding_count && !remedy; i++)
            for (int k = 0; k < o.report.findings[i].remedy_count && !remedy; k++)
                if (o.report.findings[i].remedies[k].override_count > 0)
                    remedy = &o.report.findings[i].remedies[k];
        r.judgement = UNDECIDED;
        if (remedy) {
            for (int i = 0; i < remedy->override_count; i++)
                from.overrides[from.def.override_count++] = remedy->overrides[i];
            snprintf(r.said, sizeof r.said, "%.60s %.60s %s", remedy->overrides[0],
                     remedy->override_count > 1 ? remedy->overrides[remedy->override_count - 1]
                                                : "",
                     remedy->verified_until > 0 ? "(tried)" : "(not tried)");

            outcome pasted;
            char said[200];
            r.judgement = MISS;
            if (run_source(&from, RUN_PLAIN, &pasted) && !is_reported(&pasted, said, sizeof said)) {
                r.error = distance(pasted.record, w->fine.record);
                if (r.error < WRONG)
                    r.judgement = RIGHT;
            }
            release(&pasted);
        }
        release(&o);
        report(w, r);
    }
}

static void judge_advice(work *w)
{
    char path[512];
    snprintf(path, sizeof path, "%s/scenarios/%s.yaml", w->asked->folder, w->c->scenario);
    yk_advice_options def = yk_advice_options_default();
    def.scenario.path = path;
    def.scenario.overrides = w->c->overrides;
    def.scenario.override_count = w->c->override_count;
    def.cpu_time_budget = ADVICE_SECONDS;
    def.jobs = 1;

    row r = {.question = ASK_ADVISE, .variant = -1, .judgement = BROKEN, .error = NAN};
    yk_context_def context_def = yk_context_default();
    yk_context *context = yk_context_create(&context_def);
    yk_advice_report *advice = calloc(1, sizeof *advice);
    yk_diagnostics *diagnostics = NULL;
    if (context && advice && !YK_FAILED(yk_diagnostics_create(context, &diagnostics))) {
        yk_status status = yk_advise(context, &def, diagnostics, advice);
        if (YK_FAILED(status)) {
            /* If a valid scenario gets no advice, print the reason. */
            r.judgement = yk_diagnostics_count(diagnostics) > 0 ? BROKEN : UNDECIDED;
            snprintf(r.said, sizeof r.said, "%.190s", yk_last_message(context));
        } else if (advice->best_row < 0) {
            r.judgement = UNDECIDED;
            snprintf(r.said, sizeof r.said, "no scheme meets the tolerance");
        } else {
            const yk_advice_row *best = &advice->rows[advice->best_row];
            variant pasted = {.name = "pasted"};
            for (int i = 0; i < advice->override_count && i < YK_ADVICE_OVERRIDES_MAX; i++)
                pasted.overrides[i] = advice->overrides[i];
            outcome o;
            r.step = best->step;
            bool accepted = run(w->asked, w->c, &pasted, 0, 0, 1, &o);
            r.error =
                accepted && !YK_FAILED(o.status) ? distance(o.record, w->fine.record) : INFINITY;
            r.judgement = r.error <= def.tolerance ? RIGHT : MISS;
            snprintf(r.said, sizeof r.said, "%.150s, step %g s", best->name, best->step);
            release(&o);
        }
    }
    free(advice);
    yk_diagnostics_destroy(diagnostics);
    if (context)
        yk_context_destroy(context);
    report(w, r);
}

static void judge_case(const options *asked, const trust_case *c, int index, FILE *out)
{
    work w = {.asked = asked, .c = c, .case_index = index, .out = out};
    if (!find_reference(&w)) {
        row r = {.variant = -1,
                 .judgement = BROKEN,
                 .error = NAN,
                 .said = "no scheme gives a reference"};
        report(&w, r);
        return;
    }
    if (asked->asked[ASK_RUN])
        judge_runs(&w);
    if (asked->asked[ASK_VERDICT])
        judge_verdicts(&w);
    if (asked->asked[ASK_STABILITY])
        judge_stability(&w);
    if (asked->asked[ASK_ERROR])
        judge_error(&w);
    if (asked->asked[ASK_REMEDY])
        judge_remedies(&w);
    if (asked->asked[ASK_ADVISE])
        judge_advice(&w);
    release(&w.fine);
}

/* All cases ------------------------------------------------------------------------------------ */

typedef struct tally {
    int counts[QUESTION_COUNT][JUDGEMENT_COUNT];
    int good[VARIANT_COUNT], tried[VARIANT_COUNT]; /* runs within GOOD of the truth, and all runs */
    /* For runs without contact and with known error: number of those estimated within a factor of
     * three. */
    int estimated, close;
} tally;

/* Errors below this (relative to the range) are rounding errors or those of the reference, and are
 * not compared; larger errors than the second number are equally wrong. */
static const double ESTIMATE_FROM = 1e-3, ESTIMATE_TO = 1;

static void print_row(const trust_case *cases, const row *r)
{
    printf("  %-11s %-20s %-10s %-18s h = %-9.3g error %-9.3g %s\n", judgement_names[r->judgement],
           cases[r->case_index].name, question_names[r->question],
           r->variant < 0 ? "" : variants[r->variant].name, r->step, r->error, r->said);
}

static void count_rows(const options *asked, const trust_case *cases, FILE *in, tally *all)
{
    row r;
    rewind(in);
    while (fread(&r, sizeof r, 1, in) == 1) {
        all->counts[r.question][r.judgement]++;
        if (r.question == ASK_RUN && r.variant >= 0) {
            all->tried[r.variant]++;
            all->good[r.variant] += r.error <= GOOD;
        }
        if (r.question == ASK_VERDICT && !r.contact && r.judgement != NOT_COUNTED &&
            r.error >= ESTIMATE_FROM && !isnan(r.estimate)) {
            double ratio = fmin(r.estimate, ESTIMATE_TO) / fmin(r.error, ESTIMATE_TO);
            bool close = ratio >= 1.0 / 3 && ratio <= 3;
            all->estimated++;
            all->close += close;
            if (!close && asked->verbose)
                printf("  estimate    %-20s %-10s %-18s h = %-9.3g error %-9.3g estimate %.3g\n",
                       cases[r.case_index].name, "", variants[r.variant].name, r.step, r.error,
                       r.estimate);
        }
        bool worth = r.judgement == FALSE_ALARM || r.judgement == MISS || r.judgement == BROKEN;
        if (worth || asked->verbose)
            print_row(cases, &r);
    }
    fflush(stdout);
}

static void judge_all(const options *asked, const trust_case *cases, int count, tally *all)
{
    FILE *files[CASES_MAX];
    pid_t workers[CASES_MAX];
    int begun = 0, running = 0, done = 0;
    for (int i = 0; i < count; i++)
        files[i] = tmpfile();

    while (done < count) {
        while (begun < count && running < asked->jobs) {
            fflush(stdout);
            pid_t child = fork();
            if (child == 0) {
                alarm(CASE_SECONDS);
                judge_case(asked, &cases[begun], begun, files[begun]);
                _exit(0);
            }
            workers[begun++] = child;
            running++;
        }

        int status;
        pid_t ended = wait(&status);
        if (ended < 0)
            break;
        for (int i = 0; i < begun; i++) {
            if (workers[i] != ended)
                continue;
            done++;
            running--;
            if (isatty(STDERR_FILENO))
                fprintf(stderr, "\r%d of %d cases ", done, count);
            count_rows(asked, cases, files[i], all);
            if (!WIFEXITED(status)) {
                printf("  broken      %-20s the process ended by signal %d\n", cases[i].name,
                       WTERMSIG(status));
                all->counts[ASK_RUN][BROKEN]++;
            }
        }
    }
    for (int i = 0; i < count; i++)
        fclose(files[i]);
}

static void print_tally(const options *asked, const tally *all)
{
    printf("\n| question | right | false alarm | miss | undecided | not counted | broken "
           "|\n|---|---|---|---|---|---|---|\n");
    for (int q = 0; q < QUESTION_COUNT; q++) {
        if (!asked->asked[q])
            continue;
        printf("| %s |", question_names[q]);
        for (int j = 0; j < JUDGEMENT_COUNT; j++)
            printf(" %d |", all->counts[q][j]);
        printf("\n");
    }
    if (asked->asked[ASK_VERDICT])
        printf("\nestimated errors within a factor of 3, without contact: %d of %d\n", all->close,
               all->estimated);
    if (!asked->asked[ASK_RUN])
        return;
    printf("\n| variant | runs | within %g %% |\n|---|---|---|\n", 100 * GOOD);
    for (int v = 0; v < VARIANT_COUNT; v++)
        printf("| %s | %d | %d |\n", variants[v].name, all->tried[v], all->good[v]);
}

static int usage(void)
{
    fprintf(stderr, "usage: yoke-trust [--set N] [--case NAME] [--only "
                    "run|verdict|stability|error|remedy|advise] [--jobs N] [--folder F] "
                    "[--verbose]\n");
    return 2;
}

int main(int argc, char **argv)
{
    options asked = {
        .jobs = 2, .asked = {true, true, true, true, true, true}, .folder = "studies/trust"};
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--verbose") == 0) {
            asked.verbose = true;
        } else if (strcmp(argv[i], "--set") == 0 && more) {
            asked.set = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--case") == 0 && more) {
            asked.only_case = argv[++i];
        } else if (strcmp(argv[i], "--jobs") == 0 && more) {
            asked.jobs = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--folder") == 0 && more) {
            asked.folder = argv[++i];
        } else if (strcmp(argv[i], "--only") == 0 && more) {
            i++;
            for (int q = 0; q < QUESTION_COUNT; q++)
                asked.asked[q] = strcmp(argv[i], question_names[q]) == 0;
        } else {
            return usage();
        }
    }
    if (asked.jobs < 1)
        return usage();

    static trust_case cases[CASES_MAX];
    int count = read_cases(&asked, cases);
    if (count < 0)
        return 2;
    if (count == 0) {
        fprintf(stderr, "yoke-trust: no case fits\n");
        return 2;
    }

    tally all = {0};
    judge_all(&asked, cases, count, &all);
    print_tally(&asked, &all);
    return 0;
}
