/* yoke convergence: errors of a scenario against the step for several schemes, with orders and
 * cost. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli.h"
#include "json.h"
#include "mpi.h"
#include "pictures.h"

enum { STEPS_MAX = 32, VARIANTS_MAX = 32, VARIANT_OVERRIDES_MAX = 16 };

static char noun[] = "run"; /* unit of the progress */

static const char usage[] =
    "convergence SCENARIO [OPTIONS]\n"
    "\n"
    "Run every scheme with every step, in parallel, and report errors, observed "
    "orders and cost. The errors are relative (L1 norm) to an exact solution, to the "
    "monolithic system or to the finest run.";

static const char *const outcomes[] = {
    [YK_OUTCOME_OK] = "",
    [YK_OUTCOME_NOT_CONVERGED] = "steps not converged",
    [YK_OUTCOME_UNSTABLE] = "UNSTABLE",
    [YK_OUTCOME_FAILED] = "FAILED",
};

/* The command line ----------------------------------------------------------------------------- */

/* Changes of the scenario with their names. */
typedef struct variant_list {
    int count;
    yk_variant items[VARIANTS_MAX];
    const char *overrides[VARIANTS_MAX][VARIANT_OVERRIDES_MAX];
    char *texts[VARIANTS_MAX]; /* memory of the items */
} variant_list;

/* "name;path=value;path=value", cut at its semicolons. False after a message. */
static bool add_variant(variant_list *list, const char *text)
{
    bool good = list->count < VARIANTS_MAX;
    if (good) {
        int index = list->count++;
        yk_variant *v = &list->items[index];
        char *copy = strdup(text);
        list->texts[index] = copy;

        *v = (yk_variant){.name = copy, .overrides = list->overrides[index]};

        /* The name ends at the first semicolon, each value at the next. */
        char *at = NULL;
        if (copy)
            at = strchr(copy, ';');
        for (; good && at; at = strchr(at, ';')) {
            *at++ = '\0';
            good = v->override_count < VARIANT_OVERRIDES_MAX && strchr(at, '=');
            if (good)
                list->overrides[index][v->override_count++] = at;
        }

        good = good && copy && *copy;
    }

    if (!good)
        print_err(
            "yoke: --variant '%s': write NAME;PATH=VALUE;PATH=VALUE, such as "
            "\"lazy;coupling.scheme=tight;coupling.max_iterations=0\" (at most %d variants with "
            "%d values each)\n",
            text, VARIANTS_MAX, VARIANT_OVERRIDES_MAX);
    return good;
}

/* Results -------------------------------------------------------------------------------------- */

static void write_json(const yk_convergence_options *def, const yk_convergence_row *rows,
                       size_t count, const yk_convergence_report *report)
{
    static const char *const names[] = {
        [YK_OUTCOME_OK] = "ok",
        [YK_OUTCOME_NOT_CONVERGED] = "not_converged",
        [YK_OUTCOME_UNSTABLE] = "unstable",
        [YK_OUTCOME_FAILED] = "failed",
    };

    json_writer json = json_begin(stdout);
    json_text(&json, "scenario", def->scenario.path);
    json_number(&json, "reference_error", report->reference_error);
    json_open_array(&json, "rows");
    for (size_t i = 0; i < count; i++) {
        const yk_convergence_row *row = &rows[i];
        json_open_object(&json, NULL);
        json_text(&json, "variant",
                  def->variant_count > 0 ? def->variants[row->variant].name : NULL);
        json_number(&json, "step", row->step);
        json_number(&json, "error", row->error);
        json_number(&json, "max_error", row->max_error);
        json_number(&json, "order", row->order);
        json_bool(&json, "below_reference_error", row->below_reference_error);
        json_integer(&json, "steps", row->step_count);
        json_integer(&json, "iterations", row->iteration_count);
        json_integer(&json, "calls", row->call_count);
        json_number(&json, "wall_time", row->wall_time);
        json_text(&json, "outcome", names[row->outcome]);
        json_text(&json, "message", row->message);
        json_close(&json);
    }
    json_close(&json);
    json_end(&json);
}

static void print_table(const yk_convergence_options *def, const yk_convergence_row *rows,
                        size_t count, const yk_convergence_report *report)
{
    /* The table, with the steps of a variant below its name. */
    print_out("%12s %14s %14s %7s %10s %12s %12s %12s\n", "step s", "error", "largest", "order",
              "steps", "iterations", "calls", "us/step");
    for (size_t i = 0; i < count; i++) {
        const yk_convergence_row *r = &rows[i];
        if (def->variant_count > 0 && i % (size_t)def->step_count == 0)
            print_out("%s\n", def->variants[r->variant].name);

        /* The first of the steps has no order. */
        char order[16] = "-";
        if (isfinite(r->order))
            snprintf(order, sizeof order, "%.3f", r->order);

        print_out("%12.4g %14.6e %14.6e %7s %10lld %12lld %12lld %12.4g", r->step, r->error,
                  r->max_error, order, (long long)r->step_count, (long long)r->iteration_count,
                  (long long)r->call_count, 1e6 * r->wall_time_per_step);
        if (r->below_reference_error)
            print_out("  (that of the reference)");
        if (r->outcome != YK_OUTCOME_OK)
            print_out("  %s", outcomes[r->outcome]);
        print_out("\n");
    }

    /* Reasons why rows failed, once for several steps with the same reason. */
    for (size_t i = 0; i < count; i++) {
        const yk_convergence_row *r = &rows[i];
        bool first = i % (size_t)def->step_count == 0 || rows[i - 1].outcome != r->outcome;
        if (r->outcome < YK_OUTCOME_UNSTABLE || !first)
            continue;

        const char *name = "scenario";
        if (def->variant_count > 0)
            name = def->variants[r->variant].name;
        print_out("%s, step %g s: %s\n", name, r->step, r->message);
    }

    /* The reference of the errors. */
    const char *reference = "the scenario";
    if (def->variant_count > 0)
        reference = def->variants[def->variant_count - 1].name;
    if (report->reference == YK_REFERENCE_MONOLITHIC)
        reference = "monolithic";

    if (!def->exact_expression)
        print_out("reference: %s with a step of %g s; its own error is about %.2g\n", reference,
                  def->steps[def->step_count - 1] / 4, report->reference_error);
}

static int run_study(const yk_convergence_options *def, const char *output, const char *plot,
                     bool as_json)
{
    yk_context *context = open_context();
    if (!context)
        return EXIT_FAILED;

    /* A row per variant and step; without variants, the unchanged scenario. */
    int variants = def->variant_count > 0 ? def->variant_count : 1;
    size_t count = (size_t)variants * (size_t)def->step_count;
    yk_convergence_row *rows = calloc(count, sizeof *rows);
    yk_diagnostics *diagnostics = NULL;
    yk_convergence_report report;
    yk_status status = YK_ERROR_MEMORY;
    if (rows)
        status = yk_diagnostics_create(context, &diagnostics);

    /* All runs, in parallel; after an interrupt there is no table. */
    catch_interrupts();
    if (status == YK_OK)
        status = yk_study_convergence(context, def, diagnostics, rows, &report);

    int code = EXIT_GOOD;
    if (!YK_FAILED(status) && ranks_own() == 0)
        print_diagnostics(diagnostics);
    if (status != YK_OK) {
        code = print_refusal(context, diagnostics, status);
    } else if (ranks_own() == 0) {
        if (as_json)
            write_json(def, rows, count, &report);
        else
            print_table(def, rows, count, &report);

        /* The same for programs: all digits, and a column instead of headings. */
        yk_output table = {0};
        if (output)
            table = yk_output_open(output);
        FILE *out = table.stream;
        if (out)
            fprintf(out, "step [s],relative_error,largest_error,order,steps,iterations,"
                         "seconds_per_step [s],calls,seconds [s],outcome,variant\n");

        for (size_t i = 0; out && i < count; i++) {
            const yk_convergence_row *r = &rows[i];
            const char *outcome = "good";
            if (r->outcome != YK_OUTCOME_OK)
                outcome = outcomes[r->outcome];

            const char *name = "";
            if (def->variant_count > 0)
                name = def->variants[r->variant].name;
            fprintf(out, "%.17g,%.9e,%.9e,%.6g,%lld,%lld,%.3e,%lld,%.3e,%s,\"%s\"\n", r->step,
                    r->error, r->max_error, r->order, (long long)r->step_count,
                    (long long)r->iteration_count, r->wall_time_per_step, (long long)r->call_count,
                    r->wall_time, outcome, name);
        }

        if (output && !close_written(&table, output))
            code = EXIT_FAILED;

        /* And as a picture. */
        if (plot && picture_convergence(context, plot, def->scenario.path, def, rows) != YK_OK)
            code = print_failure(context);
        else if (plot && !as_json)
            print_picture(plot);
    }

    yk_diagnostics_destroy(diagnostics);
    free(rows);
    yk_context_destroy(context);
    return code;
}

int command_convergence(int argc, char **argv)
{
    static const char *const references[] = {
        [YK_REFERENCE_AUTO] = "auto",
        [YK_REFERENCE_MONOLITHIC] = "monolithic",
        [YK_REFERENCE_FINEST] = "finest",
        NULL,
    };

    option_list sets = {0};
    option_list channels = {0};
    option_list changes = {0};
    const char *step_text = "1e-2,1e-3,1e-4";
    const char *reference = "auto";
    const char *schemes = NULL;
    const char *output = NULL;
    const char *plot = NULL;
    bool as_json = false;
    double deadline = RANKS_DEADLINE;
    yk_convergence_options def = yk_convergence_options_default();

    const option_row rows[] = {
        {"schemes", OPTION_TEXT, &schemes, "A,B,...", "Compare these values of coupling.scheme"},
        {"variant", OPTION_LIST, &changes, "NAME;PATH=VALUE;...",
         "Compare these changes under NAME; may be repeated"},
        {"channel", OPTION_LIST, &channels, "NAME",
         "Compare this channel; may be repeated (default: interface motions)"},
        {"exact-solution", OPTION_TEXT, &def.exact_expression, "EXPRESSION",
         "Compare with an expression of t and the parameters (one channel, first component)"},
        {"reference", OPTION_TEXT, &reference, "WHICH",
         "Compare with monolithic, finest or auto (default: auto)"},
        {"steps", OPTION_TEXT, &step_text, "H,H,...",
         "Use these macro steps in s, decreasing (default: 1e-2,1e-3,1e-4)"},
        SET_ROW(&sets),
        {"jobs", OPTION_COUNT, &def.jobs, "N", "Make N runs in parallel (default: one per core)"},
        {"timeout", OPTION_NUMBER, &deadline, "SECONDS", RANKS_DEADLINE_TEXT},
        {"output", OPTION_TEXT, &output, "FILE", "Write the table as CSV"},
        {"plot", OPTION_TEXT, &plot, "BASE",
         "Draw errors over step, calls and time as BASE.svg, or as the .svg, .png or .pdf file of "
         "this name"},
        RENAMED_ROW("deadline", "timeout"),
        RENAMED_ROW("exact", "exact-solution"),
        JSON_ROW(&as_json),
        {.kind = OPTION_END},
    };

    const char *path;
    int parsed = options_parse(usage, rows, argc, argv, &path, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);
    if (!picture_is_named("--plot", plot))
        return EXIT_MISUSE;

    /* Steps are numbers separated by commas; a trailing comma is allowed. */
    double steps[STEPS_MAX];
    bool all_read = false;
    def.steps = steps;
    def.step_count = 0;
    for (const char *at = step_text; !all_read && def.step_count < STEPS_MAX;) {
        char *end;
        double value = yk_text_number(at, &end);
        if (end == at || !(value > 0) || !isfinite(value) || (*end && *end != ','))
            break;

        steps[def.step_count++] = value;
        all_read = !*end || !end[1];
        at = end + 1;
    }

    if (!all_read) {
        print_err("yoke: --steps '%s': write falling step sizes in s, such as 1e-3,1e-4,1e-5 (at "
                  "most %d)\n",
                  step_text, STEPS_MAX);
        return EXIT_MISUSE;
    }

    int index;
    if (!options_pick("reference", reference, references, &index))
        return EXIT_MISUSE;

    /* Compared channels, and output. */
    def.reference = (yk_reference)index;
    def.scenario = scenario_def(path, &sets);
    def.channels = channels.items;
    def.channel_count = channels.count;
    def.progress = show_count;
    def.user = noun;
    def.team = ranks_team(deadline);

    /* Schemes are variants too: each with the other options of the scenario. */
    variant_list variants = {0};
    bool good = true;
    while (good && schemes && *schemes) {
        int length = (int)strcspn(schemes, ",");
        char word[40];
        char text[160];
        snprintf(word, sizeof word, "%.*s", length, schemes);
        snprintf(text, sizeof text, "%s;coupling.scheme=%s", word, word);
        good = options_pick_scheme("schemes", word, &index) && add_variant(&variants, text);
        schemes += length;
        if (*schemes == ',')
            schemes++;
    }

    for (int i = 0; good && i < changes.count; i++)
        good = add_variant(&variants, changes.items[i]);

    /* The variants own the texts to which the def points. */
    def.variants = variants.items;
    def.variant_count = variants.count;

    int code = EXIT_MISUSE;
    if (good)
        code = run_study(&def, output, plot, as_json);

    for (int i = 0; i < variants.count; i++)
        free(variants.texts[i]);
    return code;
}
