/* Pictures by gnuplot: scripts go to its standard input, SVG and PNG come out. */
#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/plot.h"
#include "yoke/analysis.h"

extern char **environ;

typedef struct terminal {
    const char *extension;
    const char *name, *settings;
    int scale; /* of its dots, against 800 x 600 */
} terminal;

static const terminal terminals[] = {
    {"svg", "svg", "dynamic font 'DejaVu Sans,14' background rgb 'white'", 1},
    {"png", "pngcairo", "fontscale 1.6 font 'DejaVu Sans,14' linewidth 2", 2},
};

void yk_plot_quote(yk_context *context, yk_text *script, const char *text)
{
    yk_text_add(context, script, "'");
    for (; *text; text++) {
        bool control = (unsigned char)*text < ' ';
        yk_text_add(context, script, *text == '\'' ? "''" : "%c", control ? ' ' : *text);
    }
    yk_text_add(context, script, "'");
}

/* Runs gnuplot with the script in a temporary file as its input, so that no pipe can fill up. */
static yk_status run_gnuplot(yk_context *context, const yk_text *script)
{
    FILE *input = tmpfile();
    if (!input)
        return yk_fail(context, YK_ERROR_FILE, "cannot create a temporary file for gnuplot: %s", strerror(errno));
    fwrite(script->data, 1, script->length, input);
    rewind(input);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(input), STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
    char program[] = "gnuplot";
    char *arguments[] = {program, NULL};
    pid_t child;
    int failure = posix_spawnp(&child, program, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    fclose(input);
    if (failure)
        return yk_fail(context, YK_ERROR_EXTERNAL, "cannot run gnuplot (%s): install it (Debian package gnuplot-nox)",
                       strerror(failure));
    int outcome = 0;
    while (waitpid(child, &outcome, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0) return YK_OK;
    return yk_fail(context, YK_ERROR_EXTERNAL, "gnuplot could not draw the picture (status %d)", outcome);
}

yk_status yk_plot(yk_context *context, const char *base, const char *script)
{
    return yk_plot_panels(context, base, script, 1);
}

/* The height that panels one below the other need for their tics and legends. */
static int height_of(int panels)
{
    return panels > 2 ? 250 * panels : 600;
}

yk_status yk_plot_panels(yk_context *context, const char *base, const char *script, int panels)
{
    for (size_t i = 0; i < sizeof terminals / sizeof *terminals; i++) {
        yk_text text = {0}, file = {0};
        yk_text_add(context, &file, "%s.%s", base, terminals[i].extension);
        const terminal *t = &terminals[i];
        yk_text_add(context, &text, "set encoding utf8\nset terminal %s size %d,%d %s\nset output ", t->name,
                    t->scale * 800, t->scale * height_of(panels), t->settings);
        if (file.data) yk_plot_quote(context, &text, file.data);
        yk_text_add(context, &text, "\n%s\nunset output\n", script);
        yk_status status = text.failed || file.failed ? YK_ERROR_MEMORY : run_gnuplot(context, &text);
        if (status == YK_OK && access(file.data, R_OK) != 0)
            status = yk_fail(context, YK_ERROR_FILE, "cannot write %s: is its folder there and writable?", file.data);
        yk_text_destroy(context, &text);
        yk_text_destroy(context, &file);
        if (status < 0) return status;
    }
    return YK_OK;
}

/* Radii as a data block, one line per point: x, y and a colour. Stable is 0; unstable 1 and more, by the decimal
 * logarithm of how much the radius exceeds 1, from 1e-6 (1) to 1 and beyond (7). */
static void add_map_data(yk_context *context, yk_text *script, const yk_map_axis *x, const yk_map_axis *y,
                         const double *radii)
{
    yk_text_add(context, script, "$radius << EOD\n");
    for (int j = 0; j < y->count; j++) {
        for (int i = 0; i < x->count; i++) {
            double radius = radii[(size_t)j * (size_t)x->count + (size_t)i];
            double colour = radius <= YK_STABILITY_LIMIT ? 0 : 7 + fmax(-6, fmin(0, log10(radius - 1)));
            yk_text_add(context, script, "%.9g %.9g %.4g\n", yk_map_axis_value(x, i), yk_map_axis_value(y, j), colour);
        }
        yk_text_add(context, script, "\n");
    }
    yk_text_add(context, script, "EOD\n");
}

static const char *axis_title(const char *parameter)
{
    static const char *const titles[][2] = {
        {"rho-inf", "asymptotic spectral radius ρ_∞"},
        {"omega-h", "ω_{01} h"},
        {"mass-ratio", "mass ratio m_2/m_1"},
        {"frequency-ratio", "frequency ratio ω_{02}/ω_{01}"},
        {"damping", "damping ξ_1"},
        {"damping-ratio", "damping ratio ξ_2/ξ_1"},
    };
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i][0], parameter) == 0) return titles[i][1];
    return parameter;
}

/* An image needs even spacing; on a logarithmic axis points stand for its cells. */
static void add_axis(yk_context *context, yk_text *script, char letter, const yk_map_axis *axis)
{
    const char *title = axis_title(axis->parameter);
    yk_text_add(context, script, "set %clabel ", letter);
    yk_plot_quote(context, script, title);
    yk_text_add(context, script, title == axis->parameter ? " noenhanced\n" : "\n");
    double low = fmin(axis->first, axis->last), high = fmax(axis->first, axis->last);
    if (axis->logarithmic) yk_text_add(context, script, "set logscale %c\n", letter);
    double half_cell = axis->count > 1 && !axis->logarithmic ? (high - low) / (axis->count - 1) / 2 : 0;
    if (low < high)
        yk_text_add(context, script, "set %crange [%.9g:%.9g]\n", letter, low - half_cell, high + half_cell);
}

yk_status yk_plot_map(yk_context *context, const char *base, const char *title, const yk_map_axis *x,
                      const yk_map_axis *y, const double *radii)
{
    yk_text script = {0};
    add_map_data(context, &script, x, y, radii);
    yk_text_add(context, &script, "set title ");
    yk_plot_quote(context, &script, title);
    yk_text_add(context, &script, " noenhanced\n");
    add_axis(context, &script, 'x', x);
    add_axis(context, &script, 'y', y);
    const char *style = x->logarithmic || y->logarithmic ? "points pt 5 ps 0.7 palette" : "image";
    yk_text_add(context, &script,
                "set tics out nomirror\nset cbrange [0:7]\nset colorbox\n"
                "set palette defined (0 '#2b6cb0', 0.99 '#2b6cb0', 1 '#fdf3d8', 4 '#f0a35e', 7 '#9c2f1f')\n"
                "set cbtics ('stable' 0, '1+10^{-6}' 1, '1+10^{-4}' 3, '1+10^{-2}' 5, '≥ 2' 7)\n"
                "plot $radius using 1:2:3 with %s notitle\n",
                style);
    yk_status status = script.failed ? YK_ERROR_MEMORY : yk_plot(context, base, script.data);
    yk_text_destroy(context, &script);
    return status;
}

/* Curves --------------------------------------------------------------------------------------------------------- */

static const yk_record_channel *channel_of(const yk_plot_curve *curve)
{
    return &yk_record_get_header(curve->record)->channels[curve->channel];
}

static bool same_unit(const yk_plot_curve *a, const yk_plot_curve *b)
{
    return strcmp(channel_of(a)->unit, channel_of(b)->unit) == 0;
}

/* The first curve with this unit leads its panel. */
static bool leads_panel(const yk_plot_curve *curves, int index)
{
    for (int i = 0; i < index; i++)
        if (same_unit(&curves[i], &curves[index])) return false;
    return true;
}

/* More points than a picture has columns say nothing; of each stretch the smallest and largest value are kept. */
enum { STRETCHES = 2000 };

static void add_point(yk_context *context, yk_text *script, double time, double value)
{
    yk_text_add(context, script, isfinite(value) ? "%.9g %.9g\n" : "%.9g NaN\n", time, value);
}

static void add_curve_data(yk_context *context, yk_text *script, const yk_plot_curve *curve, int number)
{
    const double *time = yk_record_time(curve->record);
    const double *value = yk_record_column(curve->record, curve->channel, curve->component);
    size_t rows = yk_record_rows(curve->record), stretch = rows / STRETCHES + 1;
    yk_text_add(context, script, "$curve%d << EOD\n", number);
    for (size_t begin = 0; begin < rows; begin += stretch) {
        size_t end = begin + stretch < rows ? begin + stretch : rows, low = begin, high = begin;
        for (size_t i = begin; i < end; i++) {
            if (value[i] < value[low]) low = i;
            if (value[i] > value[high]) high = i;
        }
        size_t first = low < high ? low : high, second = low < high ? high : low;
        add_point(context, script, time[first], value[first]);
        if (second != first) add_point(context, script, time[second], value[second]);
    }
    yk_text_add(context, script, "EOD\n");
}

/* The last word of a channel's name: "position" of "left.mass.position". */
static const char *quantity_of(const yk_plot_curve *curve)
{
    const char *name = channel_of(curve)->name, *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

/* "position in m", or the unit alone where the panel's curves are of several quantities. */
static void add_label(yk_context *context, yk_text *script, const yk_plot_curve *curves, int count, int leader)
{
    const char *quantity = quantity_of(&curves[leader]), *unit = channel_of(&curves[leader])->unit;
    bool same = true;
    for (int i = leader; i < count; i++)
        if (same_unit(&curves[leader], &curves[i])) same = same && strcmp(quantity_of(&curves[i]), quantity) == 0;
    yk_text label = {0};
    yk_text_add(context, &label, "%s%s%s", same ? quantity : "", same && *unit ? " in " : "", unit);
    yk_text_add(context, script, "set ylabel ");
    yk_plot_quote(context, script, label.data ? label.data : "");
    yk_text_add(context, script, " noenhanced\n");
    yk_text_destroy(context, &label);
}

/* Curves after the first are dashed in turn, so that those that coincide can all be seen. */
static void add_panel(yk_context *context, yk_text *script, const yk_plot_curve *curves, int count, int leader)
{
    static const char *const dashes[] = {"solid", "'-'", "'.'", "'-.'"};
    add_label(context, script, curves, count, leader);
    const char *comma = "plot ";
    for (int i = leader, shown = 0; i < count; i++) {
        if (!same_unit(&curves[leader], &curves[i])) continue;
        yk_text_add(context, script, "%s$curve%d with lines linewidth 1.5 dashtype %s title ", comma, i,
                    dashes[shown++ % 4]);
        yk_plot_quote(context, script, curves[i].title);
        yk_text_add(context, script, " noenhanced");
        comma = ", ";
    }
    yk_text_add(context, script, "\n");
}

/* As many columns of the legend as fit beside each other. */
static int legend_columns(const yk_plot_curve *curves, int count)
{
    size_t longest = 0;
    for (int i = 0; i < count; i++)
        if (strlen(curves[i].title) > longest) longest = strlen(curves[i].title);
    return longest < 16 ? 4 : longest < 22 ? 3 : longest < 36 ? 2 : 1;
}

yk_status yk_plot_curves(yk_context *context, const char *base, const char *title, const yk_plot_curve *curves,
                         int count)
{
    yk_text script = {0};
    int panels = 0, shown = 0;
    for (int i = 0; i < count; i++) {
        add_curve_data(context, &script, &curves[i], i);
        panels += leads_panel(curves, i);
    }
    yk_text_add(context, &script, "set multiplot layout %d,1 title ", panels > 0 ? panels : 1);
    yk_plot_quote(context, &script, title);
    yk_text_add(context, &script, " noenhanced\nset grid\nset key outside top center horizontal maxcols %d\n",
                legend_columns(curves, count));
    yk_text_add(context, &script, "set tics out nomirror\nset lmargin 12\nset rmargin 3\n");
    for (int i = 0; i < count; i++) {
        if (!leads_panel(curves, i)) continue;
        if (++shown == panels) yk_text_add(context, &script, "set xlabel 'time in s'\n");
        add_panel(context, &script, curves, count, i);
    }
    yk_text_add(context, &script, "unset multiplot\n");
    yk_status status = script.failed ? YK_ERROR_MEMORY : yk_plot_panels(context, base, script.data, panels);
    yk_text_destroy(context, &script);
    return status;
}
