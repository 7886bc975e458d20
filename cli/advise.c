/* yoke advise: recommends a coupling scheme and step for a scenario, found by trials. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "summary.h"

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

static const char *outcome_of(const yk_advice_row *row, double tolerance)
{
    switch (row->outcome) {
    case YK_ADVICE_ACCEPTED: return "";
    case YK_ADVICE_INACCURATE:
        return row->error <= tolerance ? "not verified to the end" : "error above tolerance";
    case YK_ADVICE_UNSTABLE: return "unstable";
    case YK_ADVICE_FAILED: return row->call_count > 0 ? "failed" : "not supported";
    case YK_ADVICE_NOT_TRIED: return "not tried";
    }
    return "";
}

static void print_row(const yk_advice_row *row, double tolerance, bool is_best)
{
    char step[16] = "-";
    char error[16] = "-";
    char seconds[16] = "-";
    char calls[24] = "-";
    if (row->step > 0)
        snprintf(step, sizeof step, "%.1e", row->step);
    bool is_measured = row->outcome == YK_ADVICE_ACCEPTED || row->outcome == YK_ADVICE_INACCURATE;
    if (is_measured) {
        snprintf(error, sizeof error, "%.3g %%", 100 * row->error);
        snprintf(seconds, sizeof seconds, "%.2g", row->wall_time);
        snprintf(calls, sizeof calls, "%lld", (long long)row->call_count);
    }

    char line[160];
    snprintf(line, sizeof line, "  %s %-26s %8s %10s %13s %10s", is_best ? "*" : " ", row->name,
             step, error, seconds, calls);
    if (is_best)
        print_styled(stdout, STYLE_GOOD, "%s\n", line);
    else if (*outcome_of(row, tolerance))
        print_out("%s   %s\n", line, outcome_of(row, tolerance));
    else
        print_out("%s\n", line);
}

static void print_table(const yk_advice_report *a, double tolerance)
{
    print_styled(stdout, STYLE_DIM, "    %-26s %8s %10s %13s %10s\n", "scheme", "step s", "error",
                 "run time s", "calls");
    for (int i = 0; i < a->count; i++)
        print_row(&a->rows[i], tolerance, i == a->best_row);

    const char *lead = "\n";
    for (int i = 0; i < a->count; i++) {
        if (!*a->rows[i].message || a->rows[i].outcome == YK_ADVICE_INACCURATE)
            continue;
        print_out("%s  %s: %s\n", lead, a->rows[i].name, a->rows[i].message);
        lead = "";
    }
}

/* Limits of the recommendation, and cheaper alternatives. */
static void print_notes(const yk_advice_report *a, const yk_scenario_info *info)
{
    const yk_stability_report *stability = &a->stability;
    if (!a->has_stability)
        print_out("Note: the stability was not analyzed; that would have taken too long. Run `yoke "
                  "stability`.\n");
    else if (stability->verdict == YK_VERDICT_UNSTABLE_MOTION)
        print_out("Note: the motion itself is unstable or chaotic (spectral radius %.6g). The "
                  "errors of all schemes grow in time.\n",
                  stability->spectral_radius);

    if (a->unresolved_channel_count > 0)
        print_out(
            "Note: %s%s not predictable to the tolerance with any scheme and did not count.\n",
            a->unresolved_channel,
            a->unresolved_channel_count > 1 ? " and other channels are" : " is");

    /* A row before the best one is accepted and cheaper only if it merges the subsystems. */
    for (int i = 0; i < a->best_row; i++) {
        char step[32];
        format_number(step, sizeof step, a->rows[i].step);
        if (a->rows[i].outcome == YK_ADVICE_ACCEPTED)
            print_out("Note: the subsystems can be merged; %s with step %s s is cheaper.\n",
                      a->rows[i].name, step);
    }

    print_findings(info, a->run_report.findings, a->run_report.finding_count);
}

/* The answer if no scheme meets the tolerance. Inaccurate rows are ordered by error, so the first
 * of them is the closest. */
static void print_closest(const yk_advice_report *a)
{
    print_out("\nNo tried scheme meets the tolerance.");
    for (int i = 0; i < a->count; i++) {
        const yk_advice_row *row = &a->rows[i];
        if (row->outcome != YK_ADVICE_INACCURATE || !isfinite(row->error))
            continue;

        char step[32];
        format_number(step, sizeof step, row->step);
        print_out(" Best: %s with step %s s, error %.3g %% (%s).", row->name, step,
                  100 * row->error, row->message);
        break;
    }
    print_out(" Use a smaller time.step, a larger --tolerance or more --cpu-time.\n");
}

/* The table of all schemes, the recommendation as a block to paste, and the command that checks
 * it. */
static void print_advice(const yk_scenario_info *info, const option_list *sets,
                         const yk_advice_report *a, double tolerance)
{
    print_table(a, tolerance);
    if (a->best_row < 0) {
        print_closest(a);
        return;
    }

    double length = info->end - info->start;
    print_styled(stdout, STYLE_TITLE, "\nRecommendation");
    if (a->verified_until < length * (1 - 1e-6))
        print_out(" (verified up to %g s of %g s; a larger --cpu-time goes further",
                  a->verified_until, length);
    else
        print_out(a->predictable_until > 0 ? " (verified as long as the motion is predictable"
                                           : " (verified over the whole run");
    if (a->has_stability)
        print_out(", spectral radius %.9g", a->stability.spectral_radius);
    print_out("):\n\n    coupling: {");

    const yk_advice_row *best = &a->rows[a->best_row];
    for (int i = 0; i < best->override_count; i++) {
        const char *key = best->overrides[i] + strlen("coupling.");
        const char *equals = strchr(key, '=');
        print_out("%s%.*s: %s", i ? ", " : "", (int)(equals - key), key, equals + 1);
    }

    const char *step = strchr(a->overrides[a->override_count - 1], '=') + 1;
    print_out("}\n    time: {step: %s}\n\n", step);
    print_out("Write it into the file with `yoke advise %s --write`.\n", info->path);

    /* The same as overrides of a run that estimates its own error. */
    print_out("Check it with `yoke run %s", info->path);
    print_overrides(sets);
    for (int i = 0; i < a->override_count; i++)
        print_out(" --set %s", a->overrides[i]);
    print_out(" --error-bars`.\n");
    print_notes(a, info);
}

static void write_json(const yk_scenario_info *info, const yk_advice_report *a, double tolerance)
{
    static const char *const outcomes[] = {
        [YK_ADVICE_ACCEPTED] = "accepted",   [YK_ADVICE_INACCURATE] = "inaccurate",
        [YK_ADVICE_UNSTABLE] = "unstable",   [YK_ADVICE_FAILED] = "failed",
        [YK_ADVICE_NOT_TRIED] = "not_tried",
    };

    json_writer json = json_begin(stdout);
    json_text(&json, "scenario", info->path);
    json_number(&json, "tolerance", tolerance);
    json_number(&json, "duration", a->duration);
    if (a->predictable_until > 0)
        json_number(&json, "predictable_until", a->predictable_until);
    json_text(&json, "reference", a->reference);
    json_number(&json, "reference_error", a->reference_error);
    json_open_array(&json, "schemes");
    for (int i = 0; i < a->count; i++) {
        const yk_advice_row *row = &a->rows[i];
        json_open_object(&json, NULL);
        json_text(&json, "name", row->name);
        json_text(&json, "outcome", outcomes[row->outcome]);
        json_number(&json, "step", row->step);
        json_number(&json, "error", row->error);
        json_text(&json, "worst_channel", row->worst_channel);
        json_number(&json, "wall_time", row->wall_time);
        json_integer(&json, "calls", row->call_count);
        json_text(&json, "message", row->message);
        json_open_array(&json, "overrides");
        for (int k = 0; k < row->override_count; k++)
            json_text(&json, NULL, row->overrides[k]);
        json_close(&json);
        json_close(&json);
    }
    json_close(&json);

    json_open_array(&json, "recommendation");
    for (int i = 0; a->best_row >= 0 && i < a->override_count; i++)
        json_text(&json, NULL, a->overrides[i]);
    json_close(&json);
    json_number(&json, "verified_until", a->verified_until);
    json_number(&json, "spectral_radius", a->has_stability ? a->stability.spectral_radius : NAN);
    write_findings_json(&json, info, a->run_report.findings, a->run_report.finding_count);
    json_end(&json);
}

/* Writes the advice to the scenario's file: under another name first, so that the file is never
 * incomplete, with the original permissions. */
static int write_block(yk_context *context, const char *path, const yk_advice_report *a)
{
    const char *overrides[YK_ADVICE_OVERRIDES_MAX];
    for (int i = 0; i < a->override_count; i++)
        overrides[i] = a->overrides[i];

    char *text = NULL;
    yk_status status = yk_scenario_edit(context, path, overrides, a->override_count, &text);
    if (status != YK_OK)
        return print_refusal(context, NULL, status);

    /* In the same folder, so that the rename is atomic. */
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

    /* Set the permissions first, so that the draft never has more of them than the scenario. */
    bool good = false;
    if (file) {
        struct stat before;
        good = stat(target, &before) == 0 && fchmod(descriptor, before.st_mode & 07777) == 0;
        good = fputs(text, file) >= 0 && good;
        good = fclose(file) == 0 && good;
        good = good && rename(draft, target) == 0;
    }

    /* Remove the draft after a failure. */
    if (!good)
        perror("yoke: cannot write the scenario");
    if (!good && descriptor >= 0)
        unlink(draft);

    free(draft);
    free(target);
    yk_free(context, text);
    if (!good)
        return EXIT_FAILED;

    print_err("yoke: written to %s\n", path);
    return EXIT_GOOD;
}

int command_advise(int argc, char **argv)
{
    option_list sets = {0};
    option_list channels = {0};
    bool write = false;
    bool as_json = false;
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
         "Limit the processor time per job, approximately (default: about ten runs of the "
         "scenario in total, at least 5 s in total, at most 60 s per job)"},
        SET_ROW(&sets),
        {"jobs", OPTION_COUNT, &def.jobs, "N", "Try N schemes in parallel (default: one per core)"},
        {"write", OPTION_FLAG, &write, NULL,
         "Write the recommendation into the scenario file; comments and layout are preserved"},
        RENAMED_ROW("stretch", "duration"),
        RENAMED_ROW("seconds", "cpu-time"),
        JSON_ROW(&as_json),
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

    loaded l;
    if (!load_scenario(path, &sets, LOAD_TO_RUN, &l))
        return l.code;

    /* After an interrupt, the advice is based on the finished trials. */
    catch_interrupts();
    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
    yk_context *context = l.context;

    /* All schemes with several steps, the cheapest first, up to the time limit. */
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
        if (as_json)
            write_json(info, a, def.tolerance);
        else
            print_out(
                "tolerance %.3g %%, compared over %g s with the %s solution (own error %.2g)\n"
                "processor time of one run: about %.2g s\n\n",
                100 * def.tolerance, a->duration, a->reference, a->reference_error, a->run_time);
        if (!as_json && a->predictable_until > 0)
            print_out(
                "the motion is not predictable beyond t = %.4g s: schemes are compared before "
                "that\n\n",
                a->predictable_until);

        if (!as_json)
            print_advice(info, &sets, a, def.tolerance);
        if (a->best_row < 0)
            code = EXIT_FAILED;

        /* Write the file last, so that the advice is printed even if that fails. */
        if (a->best_row >= 0 && write) {
            if (sets.count > 0 && !as_json)
                print_out("\nNote: overrides given with --set are not written.\n");
            code = write_block(context, path, a);
        }
    }

    free(a);
    yk_diagnostics_destroy(diagnostics);
    close_scenario(&l);
    return code;
}
