/* yoke advise: which coupling scheme and step to take for a scenario, found by trying them. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "progress.h"
#include "scenario.h"
#include "yoke/analysis.h"

static const char usage[] = "advise SCENARIO [--tolerance E] [--seconds S] [--write]\n\n"
                            "Tries every scheme with coarse and finer steps, the cheapest first, "
                            "until one meets the tolerance; verifies that "
                            "one\n"
                            "over the whole scenario, as far as the time allows; says what speaks "
                            "against the others, and prints the block to\n"
                            "paste and the command that checks it. The error is that of `yoke run "
                            "--error`, of the worst channel.";

static bool show_percent(void *user, int done, int total)
{
    (void)user;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\rtrying: %d %% of the time\033[K", 100 * done / total);
    return !was_interrupted();
}

/* Table ---------------------------------------------------------------------------------------- */

static void print_rows(const yk_advice *a)
{
    static const char *const words[] = {
        [YK_ADVICE_GOOD] = "good",           [YK_ADVICE_INACCURATE] = "not accurate enough",
        [YK_ADVICE_UNSTABLE] = "UNSTABLE",   [YK_ADVICE_FAILED] = "cannot run",
        [YK_ADVICE_NOT_TRIED] = "not tried",
    };
    printf("  %-22s %10s %11s %12s %12s\n", "scheme", "step s", "error", "whole run s", "calls");
    for (int i = 0; i < a->count; i++) {
        const yk_advice_row *r = &a->rows[i];
        const char *word = words[r->outcome];
        if (r->outcome == YK_ADVICE_FAILED && r->calls > 0)
            word = "breaks down";
        printf("%s %-22s %10.4g %11.3g %12.3g %12lld  %s\n", i == a->best ? ">" : " ", r->name,
               r->step, r->error, r->seconds, (long long)r->calls, word);
    }
    printf("\n");
    for (int i = 0; i < a->count; i++)
        if (*a->rows[i].message)
            printf("  %s: %s\n", a->rows[i].name, a->rows[i].message);
}

static void print_warnings(const char *path, const yk_advice *a, double end)
{
    if (a->verified < end * (1 - 1e-6))
        printf("  - verified on the first %g s of %g s only: more --seconds go further\n",
               a->verified, end);
    else
        printf("  - verified over the whole run, %g s\n", end);
    if (a->unknown_channels)
        printf(
            "  - %s%s not predictable to the tolerance, whatever the scheme, and did not count\n",
            a->unknown, a->unknown_channels > 1 ? " and others are" : " is");
    if (!a->asked)
        printf("  - its stability was not looked into, which would have taken too long: `yoke "
               "stability` does\n");
    else if (a->stability.verdict == YK_VERDICT_MODEL)
        printf("  - the motion itself is unstable or chaotic (spectral radius %.6g, not fed by the "
               "coupling): errors "
               "of any scheme grow in time\n",
               a->stability.radius);
    else if (a->stability.verdict == YK_VERDICT_STABLE)
        printf("  - its coupling is stable: spectral radius %.9g\n", a->stability.radius);
    for (int i = 0; i < a->watched.finding_count; i++) {
        printf("  - ");
        print_finding(stdout, path, &a->watched.findings[i]);
        printf("\n");
    }
    for (int i = 0; i < a->best; i++)
        if (a->rows[i].outcome == YK_ADVICE_GOOD)
            printf("  - the subsystems could be merged to one (%s, step %g s), which is cheaper "
                   "still\n",
                   a->rows[i].name, a->rows[i].step);
}

/* The file ------------------------------------------------------------------------------------- */

/* Under another name first, so that there is never half a file. */
static bool replace_file(const char *path, const char *text)
{
    static const char ending[] = ".XXXXXX";
    bool good = false;
    char *target = realpath(path, NULL);
    char *draft = target ? malloc(strlen(target) + sizeof ending) : NULL;
    if (draft) {
        strcpy(draft, target);
        strcat(draft, ending);
        int descriptor = mkstemp(draft);
        FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
        if (file) {
            /* With the rights that the file had. */
            struct stat as_it_was;
            good =
                stat(target, &as_it_was) == 0 && fchmod(descriptor, as_it_was.st_mode & 07777) == 0;
            good = fputs(text, file) >= 0 && good;
            good = fclose(file) == 0 && good;
            good = good && rename(draft, target) == 0;
        }
        if (!good && descriptor >= 0)
            unlink(draft);
    }
    free(draft);
    free(target);
    if (!good)
        perror("yoke: cannot write the scenario");
    return good;
}

static int write_block(yk_context *context, const char *path, const yk_advice *a)
{
    const char *overrides[YK_ADVICE_OVERRIDES_MAX];
    for (int i = 0; i < a->override_count; i++)
        overrides[i] = a->overrides[i];
    char *text = NULL;
    yk_status status = yk_scenario_edit(context, path, overrides, a->override_count, &text);
    if (status < 0)
        return print_refusal(context, NULL, status);

    int code = replace_file(path, text) ? EXIT_GOOD : EXIT_FAILED;
    yk_release(context, text);
    if (code == EXIT_GOOD)
        printf("\nwritten to %s\n", path);
    return code;
}

/* Advice --------------------------------------------------------------------------------------- */

typedef struct request {
    option_list sets, channels;
    bool write;
} request;

static int print_advice(yk_context *context, const request *q, const yk_advise_def *def,
                        const yk_advice *a, double end)
{
    printf("tolerance %g, on the first %g s, against %s with 1/%d of the step (own error %.2g); "
           "%.0f s of %g used\n\n",
           def->tolerance, a->stretch, a->reference, a->reference_parts, a->reference_error,
           a->seconds, def->seconds);
    print_rows(a);
    if (a->best < 0) {
        printf("\nno scheme meets the tolerance; give a smaller time.step, a larger --tolerance or "
               "more --seconds\n");
        return EXIT_FAILED;
    }
    printf("\nof the choice:\n");
    print_warnings(def->scenario.path, a, end);

    /* What to paste, and the command that checks it. */
    const yk_advice_row *best = &a->rows[a->best];
    const char *step = strchr(a->overrides[a->override_count - 1], '=') + 1;
    printf("\ntake, with the keys that are there already:\n\n  coupling: {");
    for (int i = 0; i < best->override_count; i++) {
        const char *key = best->overrides[i] + strlen("coupling.");
        const char *equals = strchr(key, '=');
        printf("%s%.*s: %s", i ? ", " : "", (int)(equals - key), key, equals + 1);
    }
    printf("}\n  time: {step: %s}\n", step);
    printf("\ncheck it:\n\n  yoke run %s", def->scenario.path);
    for (int i = 0; i < q->sets.count; i++)
        printf(" --set '%s'", q->sets.items[i]);
    for (int i = 0; i < a->override_count; i++)
        printf(" --set %s", a->overrides[i]);
    printf(" --error\n");

    if (!q->write)
        return EXIT_GOOD;
    if (q->sets.count)
        printf("\nnote: what was given with --set is not written\n");
    return write_block(context, def->scenario.path, a);
}

int command_advise(int argc, char **argv)
{
    request q = {0};
    yk_advise_def def = yk_advise_default();
    const option_row rows[] = {
        {"tolerance", OPTION_NUMBER, &def.tolerance, "E",
         "error of the worst channel that is good enough, by its range [0.01]"},
        {"channel", OPTION_LIST, &q.channels, "NAME",
         "channel to compare; may be repeated [position and velocity of all interfaces, and what "
         "is recorded]"},
        {"stretch", OPTION_NUMBER, &def.stretch, "T",
         "seconds of the scenario to try [as --seconds allows]"},
        {"seconds", OPTION_NUMBER, &def.seconds, "S", "time for all of it, roughly [60]"},
        {"set", OPTION_LIST, &q.sets, "PATH=VALUE", "override a value of the scenario"},
        {"jobs", OPTION_COUNT, &def.jobs, "N", "schemes at the same time [one per core]"},
        {"write", OPTION_FLAG, &q.write, NULL,
         "put the advice into the scenario's file, and leave the rest as it is"},
        {.kind = OPTION_END},
    };
    int parsed = options_parse(usage, rows, argc, argv, &def.scenario.path, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);
    def.scenario = scenario_def(def.scenario.path, &q.sets);
    def.channels = q.channels.items;
    def.channel_count = q.channels.count;
    def.progress = show_percent;

    /* The length of the scenario, for the words about it; and its mistakes, before anything is
     * tried. */
    loaded l;
    if (!load_scenario(def.scenario.path, &q.sets, &l))
        return EXIT_MISUSE;
    double length = yk_scenario_get(l.scenario)->end - yk_scenario_get(l.scenario)->start;
    close_scenario(&l);

    catch_interrupts();
    yk_context *context = open_context();
    yk_diagnostics *diagnostics = NULL;
    yk_advice *advice = malloc(sizeof *advice);
    int code = EXIT_FAILED;
    if (context && advice && yk_diagnostics_create(context, &diagnostics) >= 0) {
        yk_status status = yk_advise(context, &def, diagnostics, advice);
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\r\033[K");
        if (status != YK_OK)
            code = print_refusal(context, diagnostics, status);
        else
            code = print_advice(context, &q, &def, advice, length);
    }
    free(advice);
    yk_diagnostics_destroy(diagnostics);
    if (context)
        yk_context_destroy(context);
    return code;
}
