/* yoke converge: errors of a scenario against an exact solution, for several step sizes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "scenario.h"
#include "yoke/analysis.h"

enum { STEPS_MAX = 32 };

static int read_steps(const char *text, double *steps)
{
    int count = 0;
    for (const char *at = text; *at && count < STEPS_MAX;) {
        char *end;
        double value = strtod(at, &end);
        if (end == at || !(value > 0) || !isfinite(value) || (*end && *end != ',')) break;
        steps[count++] = value;
        at = *end ? end + 1 : end;
        if (!*at) return count;
    }
    fprintf(stderr, "yoke: --steps '%s': write falling step sizes in s, such as 1e-3,1e-4,1e-5 (at most %d)\n", text,
            STEPS_MAX);
    return 0;
}

static void print_rows(const yk_convergence_row *rows, int count)
{
    printf("%12s %14s %14s %7s %10s %12s %12s\n", "step s", "error", "largest", "order", "steps", "iterations",
           "us/step");
    for (int i = 0; i < count; i++) {
        const yk_convergence_row *r = &rows[i];
        char order[16] = "-";
        if (isfinite(r->order)) snprintf(order, sizeof order, "%.3f", r->order);
        printf("%12.4g %14.6e %14.6e %7s %10lld %12lld %12.4g\n", r->step, r->error, r->largest, order,
               (long long)r->steps, (long long)r->iterations, 1e6 * r->seconds_per_step);
    }
}

static bool write_rows(const char *file, const yk_convergence_row *rows, int count)
{
    FILE *out = fopen(file, "w");
    if (out) fprintf(out, "step [s],relative_error,largest_error,order,steps,iterations,seconds_per_step [s]\n");
    for (int i = 0; out && i < count; i++)
        fprintf(out, "%.17g,%.9e,%.9e,%.6g,%lld,%lld,%.3e\n", rows[i].step, rows[i].error, rows[i].largest,
                rows[i].order, (long long)rows[i].steps, (long long)rows[i].iterations, rows[i].seconds_per_step);
    if (out && fclose(out) == 0) return true;
    fprintf(stderr, "yoke: cannot write %s\n", file);
    return false;
}

int command_converge(int argc, char **argv)
{
    option_list sets = {0};
    const char *signal = NULL, *exact = NULL, *steps_text = "1e-2,1e-3,1e-4", *output = NULL;
    const option_row rows[] = {
        {"signal", OPTION_TEXT, &signal, "NAME", "recorded signal to compare (its first component)"},
        {"exact", OPTION_TEXT, &exact, "EXPRESSION", "its exact course, of t and the scenario's parameters"},
        {"steps", OPTION_TEXT, &steps_text, "H,H,...", "macro steps in s, falling [1e-2,1e-3,1e-4]"},
        {"set", OPTION_LIST, &sets, "PATH=VALUE", "override a value of the scenario"},
        {"o", OPTION_TEXT, &output, "FILE", "write the table as CSV"},
        {.kind = OPTION_END},
    };
    const char *path;
    int parsed = options_parse("converge SCENARIO --signal NAME --exact EXPRESSION [--steps H,H,...]", rows, argc, argv,
                               &path, 1, 1);
    if (parsed < 0) return options_exit(parsed);
    double steps[STEPS_MAX];
    int count = read_steps(steps_text, steps);
    if (!count) return EXIT_MISUSE;
    if (!signal || !exact) {
        fprintf(stderr, "yoke: converge needs --signal and --exact\n");
        return EXIT_MISUSE;
    }
    yk_context *context = open_context();
    yk_diagnostics *diagnostics = NULL;
    if (!context || yk_diagnostics_create(context, &diagnostics) < 0) return EXIT_FAILED;
    yk_scenario_def def = yk_scenario_default();
    def.path = path, def.overrides = sets.items, def.override_count = sets.count;
    yk_convergence_row table[STEPS_MAX];
    yk_status status = yk_converge(context, &def, signal, exact, steps, count, diagnostics, table);
    int code = EXIT_GOOD;
    if (status < 0 && yk_diagnostics_errors(diagnostics) > 0) {
        char *text = yk_diagnostics_text(diagnostics);
        if (text) fputs(text, stderr);
        yk_release(context, text);
        code = EXIT_MISUSE;
    } else if (status < 0) {
        code = print_failure(context);
    } else {
        print_rows(table, count);
        if (output && !write_rows(output, table, count)) code = EXIT_FAILED;
    }
    yk_diagnostics_destroy(diagnostics);
    yk_context_destroy(context);
    return code;
}
