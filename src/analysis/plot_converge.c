/* The work-precision picture: errors over step, calls and time. */
#include <math.h>

#include "analysis/plot.h"
#include "yoke/analysis.h"

static const char *name_of(const yk_converge_def *def, int variant)
{
    return def->variant_count ? def->variants[variant].name : "scenario";
}

/* Only rows with an error that means something: those that failed or are unstable would only stretch the axes. */
static bool is_shown(const yk_convergence_row *row)
{
    return isfinite(row->error) && row->error > 0 && row->outcome < YK_OUTCOME_UNSTABLE;
}

static int variants_of(const yk_converge_def *def)
{
    return def->variant_count ? def->variant_count : 1;
}

static void add_data(yk_context *context, yk_text *script, const yk_converge_def *def, const yk_convergence_row *rows)
{
    for (int v = 0; v < variants_of(def); v++) {
        yk_text_add(context, script, "$d%d << EOD\n", v);
        for (int i = 0; i < def->step_count; i++) {
            const yk_convergence_row *r = &rows[v * def->step_count + i];
            if (is_shown(r))
                yk_text_add(context, script, "%.9g %.9g %lld %.9g\n", r->step, r->error, (long long)r->calls,
                            r->seconds);
        }
        yk_text_add(context, script, "EOD\n");
    }
}

static bool has_points(const yk_converge_def *def, const yk_convergence_row *rows, int variant)
{
    for (int i = 0; i < def->step_count; i++)
        if (is_shown(&rows[variant * def->step_count + i])) return true;
    return false;
}

static void add_panel(yk_context *context, yk_text *script, const yk_converge_def *def, const yk_convergence_row *rows,
                      const char *label, int column, bool legend)
{
    yk_text_add(context, script, "set xlabel '%s'\n%s\nplot ", label,
                legend ? "set key outside top center horizontal" : "set key off");
    const char *comma = "";
    for (int v = 0; v < variants_of(def); v++) {
        if (!has_points(def, rows, v)) continue;
        yk_text_add(context, script, "%s$d%d using %d:2 with linespoints pt 7 ps 0.7 lw 1.5 lc %d title ", comma, v,
                    column, v + 1);
        yk_plot_quote(context, script, name_of(def, v));
        yk_text_add(context, script, " noenhanced");
        comma = ", ";
    }
    yk_text_add(context, script, "%s\n", *comma ? "" : "NaN notitle");
}

yk_status yk_plot_convergence(yk_context *context, const char *base, const char *title, const yk_converge_def *def,
                              const yk_convergence_row *rows)
{
    yk_text script = {0};
    add_data(context, &script, def, rows);
    yk_text_add(context, &script, "set multiplot layout 3,1 title ");
    yk_plot_quote(context, &script, title);
    yk_text_add(context, &script,
                " noenhanced\nset logscale xy\nset format xy '10^{%%L}'\nset grid\n"
                "set ylabel 'relative error'\n");
    add_panel(context, &script, def, rows, "macro step in s", 1, true);
    add_panel(context, &script, def, rows, "calls of subsystems", 3, false);
    add_panel(context, &script, def, rows, "time in s", 4, false);
    yk_text_add(context, &script, "unset multiplot\n");
    yk_status status = script.failed ? YK_ERROR_MEMORY : yk_plot_panels(context, base, script.data, 3);
    yk_text_destroy(context, &script);
    return status;
}
