/* yoke advise: which coupling scheme and step to take for a scenario, found by trying them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "progress.h"
#include "scenario.h"
#include "yoke/analysis.h"

static char noun[] = "scheme"; /* that progress counts */

static const char usage[] = "advise SCENARIO [--tolerance E] [--seconds S]\n\n"
                            "Tries every scheme on a stretch of the scenario, from coarse to fine steps, ranks those "
                            "that meet the tolerance by their\n"
                            "cost, tells what speaks against the others, and prints the block to paste.";

static void print_rows(const yk_advice *a)
{
    static const char *const words[] = {[YK_ADVICE_GOOD] = "good",
                                        [YK_ADVICE_INACCURATE] = "not accurate enough",
                                        [YK_ADVICE_UNSTABLE] = "UNSTABLE",
                                        [YK_ADVICE_FAILED] = "cannot run",
                                        [YK_ADVICE_NOT_TRIED] = "not tried"};
    printf("  %-22s %10s %11s %12s %12s  %s\n", "scheme", "step s", "error", "whole run s", "calls", "");
    for (int i = 0; i < a->count; i++) {
        const yk_advice_row *r = &a->rows[i];
        printf("%s %-22s %10.4g %11.3g %12.3g %12lld  %s\n", i == a->best ? ">" : " ", r->name, r->step, r->error,
               r->seconds, (long long)r->calls, words[r->outcome]);
    }
    printf("\n");
    for (int i = 0; i < a->count; i++)
        if (*a->rows[i].message) printf("  %s: %s\n", a->rows[i].name, a->rows[i].message);
}

static void print_warnings(const yk_advice *a, double tolerance)
{
    if (a->reference_error > 0.3 * tolerance)
        printf("  - the reference itself is only known to %.2g: errors below that mean nothing; give a smaller "
               "time.step\n",
               a->reference_error);
    if (!a->asked)
        printf("  - its stability was not looked into, which would have taken too long: `yoke stability` does\n");
    else if (a->stability.verdict == YK_VERDICT_MODEL)
        printf("  - the motion itself is unstable or chaotic (spectral radius %.6g, not fed by the coupling): errors "
               "of any "
               "scheme grow in time\n",
               a->stability.radius);
    else
        printf("  - its coupling is stable: spectral radius %.9g\n", a->stability.radius);
    for (int i = 0; i < a->watched.finding_count; i++) printf("  - %s\n", a->watched.findings[i].text);
    for (int i = 0; i < a->best; i++)
        if (a->rows[i].outcome == YK_ADVICE_GOOD)
            printf("  - the subsystems could be merged to one (%s, step %g s), which is cheaper still\n",
                   a->rows[i].block, a->rows[i].step);
}

static int print_advice(const yk_advice *a, double tolerance)
{
    printf("tolerance %g, on the first %g s, against %s with a sixteenth of the step (own error %.2g)\n\n", tolerance,
           a->stretch, a->reference, a->reference_error);
    print_rows(a);
    if (a->best < 0) {
        printf("\nno scheme meets the tolerance; give a smaller time.step, a larger --tolerance or more --seconds\n");
        return EXIT_FAILED;
    }
    const yk_advice_row *best = &a->rows[a->best];
    printf("\nof the choice:\n");
    print_warnings(a, tolerance);
    printf("\ntake, with the keys that are there already:\n\n  %s\n  time: {step: %g}\n", best->block, best->step);
    return EXIT_GOOD;
}

int command_advise(int argc, char **argv)
{
    option_list sets = {0}, signals = {0};
    yk_advise_def def = yk_advise_default();
    const option_row rows[] = {
        {"tolerance", OPTION_NUMBER, &def.tolerance, "E", "relative error that is good enough [0.01]"},
        {"signal", OPTION_LIST, &signals, "NAME",
         "signal to compare; may be repeated [position and velocity of all interfaces]"},
        {"stretch", OPTION_NUMBER, &def.stretch, "T", "seconds of the scenario to try [as --seconds allows]"},
        {"seconds", OPTION_NUMBER, &def.seconds, "S", "time for all of it, roughly [60]"},
        {"set", OPTION_LIST, &sets, "PATH=VALUE", "override a value of the scenario"},
        {"jobs", OPTION_COUNT, &def.jobs, "N", "schemes at the same time [one per core]"},
        {.kind = OPTION_END},
    };
    int parsed = options_parse(usage, rows, argc, argv, &def.scenario.path, 1, 1);
    if (parsed < 0) return options_exit(parsed);
    def.scenario.overrides = sets.items, def.scenario.override_count = sets.count;
    def.signals = signals.items, def.signal_count = signals.count;
    def.progress = show_count, def.user = noun;
    catch_interrupts();
    yk_context *context = open_context();
    yk_diagnostics *diagnostics = NULL;
    yk_advice *advice = malloc(sizeof *advice);
    int code = EXIT_FAILED;
    if (context && advice && yk_diagnostics_create(context, &diagnostics) >= 0) {
        yk_status status = yk_advise(context, &def, diagnostics, advice);
        if (status != YK_OK) {
            code = print_refusal(context, diagnostics, status);
        } else {
            code = print_advice(advice, def.tolerance);
        }
    }
    free(advice);
    yk_diagnostics_destroy(diagnostics);
    if (context) yk_context_destroy(context);
    return code;
}
