/* yoke advise: which coupling scheme and step to take for a scenario, found by trying them. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static const char usage[] =
    "advise SCENARIO [OPTIONS]\n"
    "\n"
    "Try all coupling schemes and several steps, and recommend the cheapest that "
    "meets the tolerance. The recommendation is verified over the whole scenario, as "
    "far as the time allows. The error is that of `yoke run --error-bars`, of the "
    "worst channel.";

static bool show_percent(void *user, int done, int total)
{
    (void)user;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\rtrying: %d %% of the time\033[K", 100 * done / total);

    return !was_interrupted();
}

/* All schemes and why some are not good; then of the best what is known, what to paste, and the
 * command that checks it. */
static void print_advice(const char *path, const option_list *sets, const yk_advice_report *a,
                         double length)
{
    static const char *const words[] = {
        [YK_ADVICE_ACCEPTED] = "good",       [YK_ADVICE_INACCURATE] = "not accurate enough",
        [YK_ADVICE_UNSTABLE] = "UNSTABLE",   [YK_ADVICE_FAILED] = "cannot run",
        [YK_ADVICE_NOT_TRIED] = "not tried",
    };

    /* A row per scheme, the reasons below, where they have space. */
    print_out("  %-22s %10s %11s %12s %12s\n", "scheme", "step s", "error", "whole run s", "calls");
    for (int i = 0; i < a->count; i++) {
        const yk_advice_row *r = &a->rows[i];
        const char *word = words[r->outcome];
        if (r->outcome == YK_ADVICE_FAILED && r->call_count > 0)
            word = "breaks down";

        print_out("%s %-22s %10.4g %11.3g %12.3g %12lld  %s\n", i == a->best_row ? ">" : " ",
                  r->name, r->step, r->error, r->wall_time, (long long)r->call_count, word);
    }
    print_out("\n");
    for (int i = 0; i < a->count; i++)
        if (*a->rows[i].message)
            print_out("  %s: %s\n", a->rows[i].name, a->rows[i].message);

    if (a->best_row < 0) {
        print_out("\nno scheme meets the tolerance; give a smaller time.step, a larger "
                  "--tolerance or more --cpu-time\n");
        return;
    }

    /* Of the choice: how far it was verified, and by which channels. */
    print_out("\nof the choice:\n");
    if (a->verified_until < length * (1 - 1e-6))
        print_out("  - verified on the first %g s of %g s only: more --cpu-time goes further\n",
                  a->verified_until, length);
    else
        print_out("  - verified over the whole run, %g s\n", length);

    if (a->unresolved_channel_count > 0) {
        const char *are = a->unresolved_channel_count > 1 ? " and others are" : " is";
        print_out(
            "  - %s%s not predictable to the tolerance, whatever the scheme, and did not count\n",
            a->unresolved_channel, are);
    }

    /* Its stability, where there was time to ask. */
    const yk_stability_report *stability = &a->stability;
    if (!a->has_stability)
        print_out("  - its stability was not looked into, which would have taken too long: `yoke "
                  "stability` does\n");
    else if (stability->verdict == YK_VERDICT_UNSTABLE_MOTION)
        print_out("  - the motion itself is unstable or chaotic (spectral radius %.6g, not by the "
                  "coupling): errors of any scheme grow in time\n",
                  stability->spectral_radius);
    else if (stability->verdict == YK_VERDICT_STABLE)
        print_out("  - its coupling is stable: spectral radius %.9g\n", stability->spectral_radius);

    /* What was found in its runs, and whether merging would be cheaper. */
    print_findings(stdout, "  - ", path, a->run_report.findings, a->run_report.finding_count);

    /* A row before the best one is good and cheaper: only the merged system stands there. */
    for (int i = 0; i < a->best_row; i++)
        if (a->rows[i].outcome == YK_ADVICE_ACCEPTED)
            print_out("  - the subsystems could be merged to one (%s, step %g s), which is cheaper "
                      "still\n",
                      a->rows[i].name, a->rows[i].step);

    /* The block, as it is pasted. */
    const yk_advice_row *best = &a->rows[a->best_row];
    print_out("\ntake, with the keys that are there already:\n\n  coupling: {");
    for (int i = 0; i < best->override_count; i++) {
        const char *key = best->overrides[i] + strlen("coupling.");
        const char *equals = strchr(key, '=');
        print_out("%s%.*s: %s", i ? ", " : "", (int)(equals - key), key, equals + 1);
    }

    const char *step = strchr(a->overrides[a->override_count - 1], '=') + 1;
    print_out("}\n  time: {step: %s}\n", step);

    /* The same as overrides of a run that estimates its own error. */
    print_out("\ncheck it:\n\n  yoke run %s", path);
    print_overrides(sets);
    for (int i = 0; i < a->override_count; i++)
        print_out(" --set %s", a->overrides[i]);
    print_out(" --error-bars\n");
}

/* Puts the advice into the scenario's file: under another name first, so that there is never half a
 * file, and with the rights that it had. */
static int write_block(yk_context *context, const char *path, const yk_advice_report *a)
{
    const char *overrides[YK_ADVICE_OVERRIDES_MAX];
    for (int i = 0; i < a->override_count; i++)
        overrides[i] = a->overrides[i];

    char *text = NULL;
    yk_status status = yk_scenario_edit(context, path, overrides, a->override_count, &text);
    if (status != YK_OK)
        return print_refusal(context, NULL, status);

    /* Beside the file, so that the rename is atomic. */
    static const char ending[] = ".XXXXXX";
    char *target = realpath(path, NULL);
    char *draft = NULL;
    int descriptor = -1;
    FILE *file = NULL;

    if (target)
        draft = malloc(strlen(target) + sizeof ending);
    if (draft) {
        strcpy(draft, target);
        strcat(draft, ending);
        descriptor = mkstemp(draft);
    }

    if (descriptor >= 0)
        file = fdopen(descriptor, "w");

    /* The rights first: the draft never has more of them than the scenario. */
    bool good = false;
    if (file) {
        struct stat before;
        good = stat(target, &before) == 0 && fchmod(descriptor, before.st_mode & 07777) == 0;
        good = fputs(text, file) >= 0 && good;
        good = fclose(file) == 0 && good;
        good = good && rename(draft, target) == 0;
    }

    /* Nothing is left behind where it could not be done. */
    if (!good)
        perror("yoke: cannot write the scenario");
    if (!good && descriptor >= 0)
        unlink(draft);

    free(draft);
    free(target);
    yk_free(context, text);
    if (!good)
        return EXIT_FAILED;

    print_out("\nwritten to %s\n", path);
    return EXIT_GOOD;
}

int command_advise(int argc, char **argv)
{
    option_list sets = {0};
    option_list channels = {0};
    bool write = false;
    yk_advice_options def = yk_advice_options_default();

    const option_row rows[] = {
        {"tolerance", OPTION_NUMBER, &def.tolerance, "E",
         "Accept this error of the worst channel, relative to its range (default: 0.01)"},
        {"channel", OPTION_LIST, &channels, "NAME",
         "Judge by this channel; may be repeated (default: interface motions and recorded "
         "channels)"},
        {"duration", OPTION_NUMBER, &def.duration, "SECONDS",
         "Try only the first SECONDS of the scenario (default: as long as --cpu-time allows)"},
        {"cpu-time", OPTION_NUMBER, &def.cpu_time_budget, "SECONDS",
         "Limit the processor time, approximately (default: 60)"},
        SET_ROW(&sets),
        {"jobs", OPTION_COUNT, &def.jobs, "N", "Try N schemes in parallel (default: one per core)"},
        {"write", OPTION_FLAG, &write, NULL,
         "Write the recommendation into the scenario file; comments and layout are preserved"},
        RENAMED_ROW("stretch", "duration"),
        RENAMED_ROW("seconds", "cpu-time"),
        {.kind = OPTION_END},
    };

    const char *path;
    int parsed = options_parse(usage, rows, argc, argv, &path, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);

    def.scenario = scenario_def(path, &sets);
    def.channels = channels.items;
    def.channel_count = channels.count;
    def.progress = show_percent;

    /* The length of the scenario, for the words about it; and its mistakes, before anything is
     * tried. */
    loaded l;
    if (!load_scenario(path, &sets, LOAD_TO_RUN, &l))
        return l.code;

    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
    double length = info->end - info->start;
    close_scenario(&l);

    /* Interrupted, it advises by what was tried until then. */
    catch_interrupts();
    yk_context *context = open_context();
    if (!context)
        return EXIT_FAILED;

    /* All schemes with several steps, the cheapest first, until the time is over. */
    yk_diagnostics *diagnostics = NULL;
    yk_advice_report *a = malloc(sizeof *a); /* too large for the stack */
    yk_status status = YK_ERROR_MEMORY;
    if (a)
        status = yk_diagnostics_create(context, &diagnostics);
    if (status == YK_OK)
        status = yk_advise(context, &def, diagnostics, a);
    clear_progress();

    int code = EXIT_GOOD;
    if (status != YK_OK) {
        code = print_refusal(context, diagnostics, status);
    } else {
        print_out("tolerance %g, on the first %g s, against %s with 1/%d of the step (own error "
                  "%.2g); %.0f s of %g used\n\n",
                  def.tolerance, a->duration, a->reference, a->reference_refinement,
                  a->reference_error, a->cpu_time, def.cpu_time_budget);

        print_advice(path, &sets, a, length);
        if (a->best_row < 0)
            code = EXIT_FAILED;

        /* The file is written last, so that the advice is seen even where that fails. */
        if (a->best_row >= 0 && write) {
            if (sets.count > 0)
                print_out("\nnote: what was given with --set is not written\n");
            code = write_block(context, path, a);
        }
    }

    free(a);
    yk_diagnostics_destroy(diagnostics);
    yk_context_destroy(context);
    return code;
}
