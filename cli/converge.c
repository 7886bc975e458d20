/* yoke converge: errors of a scenario against the step for several schemes, with orders and
 * cost. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "pictures.h"
#include "progress.h"
#include "scenario.h"
#include "variants.h"
#include "yoke/analysis.h"

enum { STEPS_MAX = 32 };

static char noun[] = "run"; /* that progress counts */

static const char usage[] =
    "converge SCENARIO [--schemes A,B,...] [--variant NAME;PATH=VALUE;...] [--steps H,H,...]\n"
    "       yoke converge SCENARIO --channel NAME --exact EXPRESSION [--steps H,H,...]\n\n"
    "Runs every scheme with every step, in parallel, and compares with an exact course, with "
    "the monolithic system or with\n"
    "the finest run. Errors are relative (L1); orders are observed from step to step; cost is "
    "calls of subsystems and time.";

static int read_steps(const char *text, double *steps)
{
    int count = 0;
    for (const char *at = text; *at && count < STEPS_MAX;) {
        char *end;
        double value = strtod(at, &end);
        if (end == at || !(value > 0) || !isfinite(value) || (*end && *end != ','))
            break;
        steps[count++] = value;
        at = *end ? end + 1 : end;
        if (!*at)
            return count;
    }
    fprintf(
        stderr,
        "yoke: --steps '%s': write falling step sizes in s, such as 1e-3,1e-4,1e-5 (at most %d)\n",
        text, STEPS_MAX);
    return 0;
}

static const char *const outcomes[] = {
    [YK_OUTCOME_GOOD] = "",
    [YK_OUTCOME_NOT_CONVERGED] = "steps not converged",
    [YK_OUTCOME_UNSTABLE] = "UNSTABLE",
    [YK_OUTCOME_FAILED] = "FAILED",
};

static const char *variant_name(const yk_converge_def *def, int variant)
{
    return def->variant_count ? def->variants[variant].name : "scenario";
}

static void print_rows(const yk_converge_def *def, const yk_convergence_row *rows)
{
    printf("%12s %14s %14s %7s %10s %12s %12s %12s\n", "step s", "error", "largest", "order",
           "steps", "iterations", "calls", "us/step");
    int variants = def->variant_count ? def->variant_count : 1;
    for (int v = 0; v < variants; v++) {
        if (def->variant_count)
            printf("%s\n", def->variants[v].name);
        for (int i = 0; i < def->step_count; i++) {
            const yk_convergence_row *r = &rows[v * def->step_count + i];
            char order[16] = "-";
            if (isfinite(r->order))
                snprintf(order, sizeof order, "%.3f", r->order);
            printf("%12.4g %14.6e %14.6e %7s %10lld %12lld %12lld %12.4g", r->step, r->error,
                   r->largest, order, (long long)r->steps, (long long)r->iterations,
                   (long long)r->calls, 1e6 * r->seconds_per_step);
            if (r->unresolved)
                printf("  (that of the reference)");
            if (r->outcome)
                printf("  %s", outcomes[r->outcome]);
            printf("\n");
        }
    }

    /* Why rows are no good, once for several steps that end alike. */
    for (int i = 0; i < variants * def->step_count; i++) {
        const yk_convergence_row *r = &rows[i];
        bool first = i % def->step_count == 0 || rows[i - 1].outcome != r->outcome;
        if (r->outcome < YK_OUTCOME_UNSTABLE || !first)
            continue;
        printf("%s, step %g s: %s\n", variant_name(def, r->variant), r->step, r->message);
    }
}

static bool write_rows(const char *file, const yk_converge_def *def, const yk_convergence_row *rows)
{
    int count = def->step_count * (def->variant_count ? def->variant_count : 1);
    FILE *out = fopen(file, "w");
    if (out)
        fprintf(out,
                "step [s],relative_error,largest_error,order,steps,iterations,seconds_per_step "
                "[s],calls,seconds "
                "[s],outcome,variant\n");
    for (int i = 0; out && i < count; i++) {
        const yk_convergence_row *r = &rows[i];
        fprintf(out, "%.17g,%.9e,%.9e,%.6g,%lld,%lld,%.3e,%lld,%.3e,%s,\"%s\"\n", r->step, r->error,
                r->largest, r->order, (long long)r->steps, (long long)r->iterations,
                r->seconds_per_step, (long long)r->calls, r->seconds,
                r->outcome ? outcomes[r->outcome] : "good",
                def->variant_count ? def->variants[r->variant].name : "");
    }
    if (out && fclose(out) == 0)
        return true;
    fprintf(stderr, "yoke: cannot write %s\n", file);
    return false;
}

typedef struct request {
    option_list sets, channels, variants;
    const char *schemes, *exact, *steps, *reference, *output, *plot;
    int jobs;
} request;

static int run_study(const request *r, const yk_converge_def *def)
{
    yk_context *context = open_context();
    int count = def->step_count * (def->variant_count ? def->variant_count : 1);
    yk_convergence_row *rows = calloc((size_t)count, sizeof *rows);
    yk_diagnostics *diagnostics = NULL;
    int code = EXIT_FAILED;
    if (context && rows && yk_diagnostics_create(context, &diagnostics) >= 0) {
        yk_convergence_report report;
        catch_interrupts();
        yk_status status = yk_converge(context, def, diagnostics, rows, &report);
        if (status != YK_OK) {
            code = print_refusal(context, diagnostics, status);
        } else {
            print_rows(def, rows);
            const char *reference = "the scenario";
            if (def->variant_count)
                reference = def->variants[def->variant_count - 1].name;
            if (report.reference == YK_REFERENCE_MONOLITHIC)
                reference = "monolithic";
            if (!def->exact)
                printf("reference: %s with a step of %g s; its own error is about %.2g\n",
                       reference, def->steps[def->step_count - 1] / 4, report.reference_error);
            code = r->output && !write_rows(r->output, def, rows) ? EXIT_FAILED : EXIT_GOOD;
            if (r->plot && picture_convergence(context, r->plot, def->scenario.path, def, rows) < 0)
                code = print_failure(context);
            else if (r->plot)
                printf("picture %s.svg, %s.png\n", r->plot, r->plot);
        }
    }
    yk_diagnostics_destroy(diagnostics);
    free(rows);
    if (context)
        yk_context_destroy(context);
    return code;
}

static bool read_reference(const char *word, yk_reference *reference)
{
    static const char *const words[] = {[YK_REFERENCE_AUTO] = "auto",
                                        [YK_REFERENCE_MONOLITHIC] = "monolithic",
                                        [YK_REFERENCE_FINEST] = "finest"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(word, words[i]) != 0)
            continue;
        *reference = (yk_reference)i;
        return true;
    }
    fprintf(stderr, "yoke: --reference '%s': choose auto, monolithic or finest\n", word);
    return false;
}

int command_converge(int argc, char **argv)
{
    request r = {.steps = "1e-2,1e-3,1e-4", .reference = "auto"};
    const option_row rows[] = {
        {"schemes", OPTION_TEXT, &r.schemes, "A,B,...", "values of coupling.scheme to compare"},
        {"variant", OPTION_LIST, &r.variants, "NAME;PATH=VALUE;...",
         "any changes to compare, under a name"},
        {"channel", OPTION_LIST, &r.channels, "NAME",
         "channel to compare; may be repeated [position and velocity of all interfaces]"},
        {"exact", OPTION_TEXT, &r.exact, "EXPRESSION",
         "exact course of the one channel's first component, of t and the scenario's parameters"},
        {"reference", OPTION_TEXT, &r.reference, "WHICH",
         "monolithic, or finest: the last scheme; either with a quarter of the finest step [auto: "
         "what works]"},
        {"steps", OPTION_TEXT, &r.steps, "H,H,...", "macro steps in s, falling [1e-2,1e-3,1e-4]"},
        {"set", OPTION_LIST, &r.sets, "PATH=VALUE", "override a value of the scenario"},
        {"jobs", OPTION_COUNT, &r.jobs, "N", "runs at the same time [one per core]"},
        {"o", OPTION_TEXT, &r.output, "FILE", "write the table as CSV"},
        {"plot", OPTION_TEXT, &r.plot, "BASE",
         "errors over step, calls and time as BASE.svg and BASE.png"},
        {.kind = OPTION_END},
    };
    const char *path;
    int parsed = options_parse(usage, rows, argc, argv, &path, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);
    double steps[STEPS_MAX];
    variant_list variants;
    yk_converge_def def = yk_converge_default();
    def.steps = steps, def.step_count = read_steps(r.steps, steps);
    if (!def.step_count || !read_reference(r.reference, &def.reference))
        return EXIT_MISUSE;
    if (!variants_read(r.schemes, &r.variants, &variants))
        return EXIT_MISUSE;
    def.scenario = scenario_def(path, &r.sets);
    def.variants = variants.items, def.variant_count = variants.count;
    def.channels = r.channels.items, def.channel_count = r.channels.count;
    def.exact = r.exact, def.jobs = r.jobs, def.progress = show_count, def.user = noun;
    int code = run_study(&r, &def);
    variants_free(&variants);
    return code;
}
