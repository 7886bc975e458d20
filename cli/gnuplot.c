/* Maps, curves, convergence and sweeps as scripts for gnuplot, and the one caller of it. */
#include "gnuplot.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

extern char **environ;

static const struct {
    const char *extension;
    const char *name, *settings;
    double scale; /* of its units, against 800 x 600 */
    bool asked;   /* drawn where its ending is asked for, not with every BASE */
} terminals[] = {
    {"svg", "svg", "dynamic font 'DejaVu Sans,14' background rgb 'white'", 1, false},
    {"png", "pngcairo", "fontscale 1.6 font 'DejaVu Sans,14' linewidth 2", 2, false},
    {"pdf", "pdfcairo", "font 'DejaVu Sans,14'", 0.01, true}, /* inches */
};

enum { TERMINALS = sizeof terminals / sizeof *terminals };

/* The terminal whose ending the name of a picture has, and the length of the name without it; -1
 * where it has none. */
static int terminal_of(const char *base, int *length)
{
    const char *dot = strrchr(base, '.');
    for (int i = 0; i < TERMINALS && dot && dot > base; i++) {
        if (strcmp(dot + 1, terminals[i].extension) != 0)
            continue;

        *length = (int)(dot - base);
        return i;
    }

    *length = (int)strlen(base);
    return -1;
}

bool pictures_named(const char *option, const char *base)
{
    const char *endings[TERMINALS + 1] = {NULL};
    for (int i = 0; i < TERMINALS; i++)
        endings[i] = terminals[i].extension;
    return options_ending(option, base, endings);
}

/* Whether a picture of this kind is drawn: the one that was asked for, else those of every BASE. */
static bool is_drawn(int terminal, int only)
{
    if (only >= 0)
        return terminal == only;

    return !terminals[terminal].asked;
}

void print_pictures(const char *base)
{
    int length;
    int only = terminal_of(base, &length);
    const char *comma = "picture ";
    for (int i = 0; i < TERMINALS; i++) {
        if (!is_drawn(i, only))
            continue;

        print_out("%s%.*s.%s", comma, length, base, terminals[i].extension);
        comma = ", ";
    }
    print_out("\n");
}

/* Adds a text as gnuplot reads it between single quotes, where nothing is expanded or run; line
 * breaks become blanks. */
static void gnuplot_quote(yk_context *context, yk_text *script, const char *text)
{
    yk_text_add(context, script, "'");

    for (; *text; text++) {
        bool control = (unsigned char)*text < ' ';
        if (*text == '\'')
            yk_text_add(context, script, "''");
        else
            yk_text_add(context, script, "%c", control ? ' ' : *text);
    }
    yk_text_add(context, script, "'");
}

yk_status gnuplot_draw(yk_context *context, const char *base, yk_text *script, int panels)
{
    /* Three panels and more need space for their tics and legends. */
    int height = panels > 2 ? 250 * panels : 600;
    int length;
    int only = terminal_of(base, &length);
    yk_status status = YK_OK;
    if (script->failed)
        status = YK_ERROR_MEMORY;

    /* The same script for every kind of picture, behind the terminal that it is drawn with. */
    for (int i = 0; !YK_FAILED(status) && i < TERMINALS; i++) {
        if (!is_drawn(i, only))
            continue;

        yk_text text = {0};
        yk_text file = {0};
        yk_text_add(context, &file, "%.*s.%s", length, base, terminals[i].extension);
        yk_text_add(context, &text, "set encoding utf8\nset terminal %s size %g,%g %s\n%s\n",
                    terminals[i].name, terminals[i].scale * 800, terminals[i].scale * height,
                    terminals[i].settings, script->data);

        if (text.failed || file.failed)
            status = YK_ERROR_MEMORY;

        /* gnuplot sees neither the name of the file, in which it would take '|' for a command, nor
         * the file itself: it draws to its standard output, and only a whole picture is copied.
         * That goes through temporary files and not pipes, which could fill up. */
        FILE *input = tmpfile();
        FILE *output = tmpfile();
        bool ready = false;
        if (status == YK_OK && input && output)
            ready = fwrite(text.data, 1, text.length, input) == text.length && fflush(input) == 0;

        if (status == YK_OK && !ready)
            status = yk_fail(context, YK_ERROR_FILE,
                             "cannot write a temporary file for gnuplot: %s", strerror(errno));

        /* What gnuplot says on its standard error is of no use to who asked for a picture. */
        pid_t child = -1;
        if (status == YK_OK) {
            rewind(input);
            posix_spawn_file_actions_t actions;
            posix_spawn_file_actions_init(&actions);
            posix_spawn_file_actions_adddup2(&actions, fileno(input), STDIN_FILENO);
            posix_spawn_file_actions_adddup2(&actions, fileno(output), STDOUT_FILENO);
            posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);

            char program[] = "gnuplot";
            char *arguments[] = {program, NULL};
            int failure = posix_spawnp(&child, program, &actions, NULL, arguments, environ);
            posix_spawn_file_actions_destroy(&actions);
            if (failure)
                status = yk_fail(context, YK_ERROR_EXTERNAL,
                                 "cannot run gnuplot (%s): install it (Debian package gnuplot-nox)",
                                 strerror(failure));
        }

        /* A script that it does not understand is a mistake of ours; the file stays as it was. */
        if (status == YK_OK) {
            int outcome = 0;
            while (waitpid(child, &outcome, 0) < 0 && errno == EINTR)
                continue;
            if (!WIFEXITED(outcome) || WEXITSTATUS(outcome) != 0)
                status = yk_fail(context, YK_ERROR_EXTERNAL,
                                 "gnuplot could not draw the picture (status %d)", outcome);
        }

        /* A full disk may cut the picture short without a word of gnuplot. */
        if (status == YK_OK && (fseek(output, 0, SEEK_END) != 0 || ftell(output) <= 0))
            status = yk_fail(context, YK_ERROR_EXTERNAL, "gnuplot drew an empty picture for %s",
                             file.data);

        /* The whole picture to where it belongs. */
        if (status == YK_OK) {
            rewind(output);
            yk_output picture = yk_output_open(file.data);
            char bytes[1 << 14];
            size_t count;
            while (picture.stream && (count = fread(bytes, 1, sizeof bytes, output)) > 0)
                fwrite(bytes, 1, count, picture.stream);

            /* A picture that cannot be read from gnuplot whole is not kept. */
            bool whole = !ferror(output);
            if (!whole)
                yk_output_discard(&picture);
            if (!whole || !yk_output_close(&picture))
                status = yk_fail(context, YK_ERROR_FILE, "cannot write %s: %s", file.data,
                                 strerror(errno));
        }

        if (input)
            fclose(input);
        if (output)
            fclose(output);

        yk_text_destroy(context, &text);
        yk_text_destroy(context, &file);
    }

    yk_text_destroy(context, script);
    return status;
}

static void add_title(yk_context *context, yk_text *script, const char *what, const char *title)
{
    yk_text_add(context, script, "set %s ", what);
    gnuplot_quote(context, script, title);
    yk_text_add(context, script, " noenhanced\n");
}

/* Maps ----------------------------------------------------------------------------------------- */

/* Where the cell around a point of an axis begins and ends: half way to its neighbours, on a
 * logarithmic axis at the geometric mean. */
static void cell_of(const yk_map_axis *axis, int index, double cell[2])
{
    double at = yk_map_axis_value(axis, index);
    cell[0] = at;
    cell[1] = at;
    if (axis->count < 2)
        return;

    /* Steps between points are even, so one neighbour says where both ends are. */
    int other = index > 0 ? index - 1 : index + 1;
    double near = yk_map_axis_value(axis, other);
    double half = 0.5 * (at - near);
    double one = at - half;
    double two = at + half;
    if (axis->is_logarithmic) {
        half = sqrt(at / near);
        one = at / half;
        two = at * half;
    }

    cell[0] = fmin(one, two);
    cell[1] = fmax(one, two);
}

static void add_map_axis(yk_context *context, yk_text *script, char letter, const yk_map_axis *axis)
{
    static const char *const titles[][2] = {
        {"rho-inf", "asymptotic spectral radius ρ_∞"},
        {"omega-h", "ω_{01} h"},
        {"mass-ratio", "mass ratio m_2/m_1"},
        {"frequency-ratio", "frequency ratio ω_{02}/ω_{01}"},
        {"damping", "damping ξ_1"},
        {"damping-ratio", "damping ratio ξ_2/ξ_1"},
    };

    /* Parameters of the two-mass oscillator as papers write them, keys of scenarios as they are. */
    const char *title = axis->parameter;
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i][0], axis->parameter) == 0)
            title = titles[i][1];

    yk_text_add(context, script, "set %clabel ", letter);
    gnuplot_quote(context, script, title);
    yk_text_add(context, script, "%s\n", title == axis->parameter ? " noenhanced" : "");

    /* Cells reach half their width beyond their points. */
    if (axis->is_logarithmic)
        yk_text_add(context, script, "set logscale %c\n", letter);

    double ends[2][2];
    cell_of(axis, 0, ends[0]);
    cell_of(axis, axis->count - 1, ends[1]);
    double low = fmin(ends[0][0], ends[1][0]);
    double high = fmax(ends[0][1], ends[1][1]);
    if (low < high)
        yk_text_add(context, script, "set %crange [%.9g:%.9g]\n", letter, low, high);
}

yk_status picture_map(yk_context *context, const char *base, const char *title,
                      const yk_map_axis *x, const yk_map_axis *y, const double *radii)
{
    yk_text script = {0};

    /* One line per point: x, y, the cell around it and a colour. Stable is 0; unstable 1 and
     * more, by the decimal logarithm of how much the radius exceeds 1, from 1e-6 (1) to 1 and
     * beyond (7). Points whose radius is not known are in a table of their own. */
    bool undecided = false;
    for (int table = 0; table < 2; table++) {
        yk_text_add(context, &script, "%s << EOD\n", table == 0 ? "$radius" : "$undecided");
        for (int j = 0; j < y->count; j++) {
            for (int i = 0; i < x->count; i++) {
                double radius = radii[(size_t)j * (size_t)x->count + (size_t)i];
                if (table == 1 && !isnan(radius))
                    continue;

                char colour[32] = "0";
                if (isnan(radius))
                    snprintf(colour, sizeof colour, "NaN");
                else if (radius > YK_SPECTRAL_RADIUS_LIMIT)
                    snprintf(colour, sizeof colour, "%.4g",
                             7 + fmax(-6, fmin(0, log10(radius - 1))));

                double across[2];
                double up[2];
                cell_of(x, i, across);
                cell_of(y, j, up);
                undecided = undecided || isnan(radius);
                yk_text_add(context, &script, "%.9g %.9g %.9g %.9g %.9g %.9g %s\n",
                            yk_map_axis_value(x, i), yk_map_axis_value(y, j), across[0], across[1],
                            up[0], up[1], colour);
            }
            if (table == 0)
                yk_text_add(context, &script, "\n");
        }
        yk_text_add(context, &script, "EOD\n");
    }

    add_title(context, &script, "title", title);
    add_map_axis(context, &script, 'x', x);
    add_map_axis(context, &script, 'y', y);

    /* An image needs even spacing; on logarithmic axes cells are boxes. */
    const char *style = "using 1:2:7 with image";
    if (x->is_logarithmic || y->is_logarithmic)
        style = "using 1:2:3:4:5:6:7 with boxxyerror fillstyle solid 1 noborder linecolor palette";
    yk_text_add(
        context, &script,
        "set tics out nomirror\nset cbrange [0:7]\nset colorbox\nset key outside bottom center\n"
        "set palette defined (0 '#2b6cb0', 0.99 '#2b6cb0', 1 '#fdf3d8', 4 '#f0a35e', 7 '#9c2f1f')\n"
        "set cbtics ('stable' 0, '1+10^{-6}' 1, '1+10^{-4}' 3, '1+10^{-2}' 5, '≥ 2' 7)\n"
        "plot $radius %s notitle",
        style);
    if (undecided)
        yk_text_add(context, &script,
                    ", $undecided using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder "
                    "linecolor rgb '#8a8f98' title 'undecided'");
    yk_text_add(context, &script, "\n");
    return gnuplot_draw(context, base, &script, 1);
}

/* Curves --------------------------------------------------------------------------------------- */

static const yk_record_channel *channel_of(const picture_curve *curve)
{
    return &yk_record_get_header(curve->record)->channels[curve->channel];
}

static bool same_unit(const picture_curve *a, const picture_curve *b)
{
    return strcmp(channel_of(a)->unit, channel_of(b)->unit) == 0;
}

/* The first curve with this unit leads its panel. */
static bool leads_panel(const picture_curve *curves, int index)
{
    for (int i = 0; i < index; i++)
        if (same_unit(&curves[i], &curves[index]))
            return false;
    return true;
}

int picture_panels(const picture_curve *curves, int count)
{
    int panels = 0;
    for (int i = 0; i < count; i++)
        if (leads_panel(curves, i))
            panels++;
    return panels;
}

/* The last word of a channel's name: "position" of "left.mass.position". */
static const char *quantity_of(const picture_curve *curve)
{
    return behind_last(channel_of(curve)->name, '.');
}

void curve_extremes(const double *values, size_t from, size_t end, size_t rows[2])
{
    size_t least = from;
    size_t largest = from;
    for (size_t i = from; i < end; i++) {
        if (values[i] < values[least])
            least = i;
        if (values[i] > values[largest])
            largest = i;
    }

    bool falls = largest < least;
    rows[falls] = least;
    rows[!falls] = largest;
}

static void add_point(yk_context *context, yk_text *script, double time, double value)
{
    if (isfinite(value))
        yk_text_add(context, script, "%.9g %.9g\n", time, value);
    else
        yk_text_add(context, script, "%.9g NaN\n", time);
}

yk_status picture_curves(yk_context *context, const char *base, const char *title,
                         const picture_curve *curves, int count)
{
    /* The data. More points than a picture has columns show nothing more; of each stretch the
     * smallest and the largest value are kept, in the order of time. */
    enum { STRETCHES = 2000 };
    yk_text script = {0};
    size_t longest = 0;
    for (int i = 0; i < count; i++) {
        const picture_curve *curve = &curves[i];
        const double *time = yk_record_times(curve->record);
        const double *value = yk_record_column(curve->record, curve->channel, curve->component);
        size_t rows = yk_record_row_count(curve->record);
        size_t stretch = rows / STRETCHES + 1;
        yk_text_add(context, &script, "$curve%d << EOD\n", i);
        for (size_t begin = 0; begin < rows; begin += stretch) {
            size_t ends[2];
            curve_extremes(value, begin, begin + stretch < rows ? begin + stretch : rows, ends);
            add_point(context, &script, time[ends[0]], value[ends[0]]);
            if (ends[1] != ends[0])
                add_point(context, &script, time[ends[1]], value[ends[1]]);
        }
        yk_text_add(context, &script, "EOD\n");

        if (strlen(curves[i].title) > longest)
            longest = strlen(curves[i].title);
    }

    /* As many columns of the legend as fit beside each other. */
    int columns = 1;
    if (longest < 36)
        columns = 2;
    if (longest < 22)
        columns = 3;
    if (longest < 16)
        columns = 4;

    /* The empty line below the title is for the legend of the first panel. */
    int panels = picture_panels(curves, count);
    yk_text_add(context, &script, "set multiplot layout %d,1 title ", panels > 0 ? panels : 1);
    gnuplot_quote(context, &script, title);
    yk_text_add(context, &script, ".\"\\n\" noenhanced\n");
    yk_text_add(context, &script,
                "set grid\nset key above center horizontal maxcols %d samplen 3\n", columns);
    yk_text_add(context, &script, "set tics out nomirror\nset lmargin 12\nset rmargin 3\n");
    if (panels > 2)
        yk_text_add(context, &script, "set tics font ',10'\nset key font ',11'\n");

    /* The panels one below the other; only the last one names the axis of time. */
    for (int i = 0, shown = 0; i < count; i++) {
        if (!leads_panel(curves, i))
            continue;
        if (++shown == panels)
            yk_text_add(context, &script, "set xlabel 'time in s'\n");

        /* What its curves have in common, and between which values they lie. */
        const picture_curve *leader = &curves[i];
        const char *quantity = quantity_of(leader);
        bool one_quantity = true;
        double low = INFINITY;
        double high = -INFINITY;
        for (int k = i; k < count; k++) {
            const picture_curve *curve = &curves[k];
            if (!same_unit(leader, curve))
                continue;
            if (strcmp(quantity_of(curve), quantity) != 0)
                one_quantity = false;

            const double *value = yk_record_column(curve->record, curve->channel, curve->component);
            for (size_t row = 0; row < yk_record_row_count(curve->record); row++) {
                low = fmin(low, value[row]);
                high = fmax(high, value[row]);
            }
        }

        /* "position in m", or the unit alone where they are of several quantities; 1 is a
         * number. */
        const char *unit = channel_of(leader)->unit;
        if (strcmp(unit, "1") == 0)
            unit = "";
        yk_text label = {0};
        if (one_quantity)
            yk_text_add(context, &label, "%s%s", quantity, *unit ? " in " : "");
        yk_text_add(context, &label, "%s", unit);
        add_title(context, &script, "ylabel", label.data ? label.data : "");
        yk_text_destroy(context, &label);

        /* Curves keep some distance from the frame; those that are nowhere negative stand on it.
         * What does not change but for rounding is a line, not noise at full height. */
        double size = fmax(fabs(low), fabs(high));
        yk_text_add(context, &script, "set autoscale y\n");
        yk_text_add(context, &script, "set offsets graph 0, graph 0, graph 0.04, graph %s\n",
                    low < 0 ? "0.04" : "0");
        if (isfinite(size) && size < 1e-12)
            yk_text_add(context, &script, "set yrange [-1e-12:1e-12]\n");
        else if (isfinite(size) && high - low < 1e-9 * size)
            yk_text_add(context, &script, "set yrange [%.9g:%.9g]\n", low - 0.5 * size,
                        high + 0.5 * size);

        /* Curves after the first have other dashes, so that those that coincide can all be seen. */
        static const char *const dashes[] = {"solid", "'-'", "'-.'", "'_'"};
        const char *comma = "plot ";
        for (int k = i, drawn = 0; k < count; k++) {
            if (!same_unit(leader, &curves[k]))
                continue;

            yk_text_add(context, &script, "%s$curve%d with lines linewidth 1.5 dashtype %s title ",
                        comma, k, dashes[drawn++ % 4]);
            gnuplot_quote(context, &script, curves[k].title);
            yk_text_add(context, &script, " noenhanced");
            comma = ", ";
        }
        yk_text_add(context, &script, "\n");
    }
    yk_text_add(context, &script, "unset multiplot\n");
    return gnuplot_draw(context, base, &script, panels);
}

/* Convergence ---------------------------------------------------------------------------------- */

/* Only rows with an error that means something: those that failed or are unstable would only
 * stretch the axes. */
static bool is_shown(const yk_convergence_row *row)
{
    return isfinite(row->error) && row->error > 0 && row->outcome < YK_OUTCOME_UNSTABLE;
}

yk_status picture_convergence(yk_context *context, const char *base, const char *title,
                              const yk_convergence_options *def, const yk_convergence_row *rows)
{
    static const struct {
        const char *label;
        int column;
    } panels[3] = {{"macro step in s", 1}, {"calls of subsystems", 3}, {"time in s", 4}};
    int variants = def->variant_count > 0 ? def->variant_count : 1;
    yk_text script = {0};

    /* A block of data per variant: step, error, calls, seconds. */
    for (int v = 0; v < variants; v++) {
        yk_text_add(context, &script, "$d%d << EOD\n", v);
        for (int i = 0; i < def->step_count; i++) {
            const yk_convergence_row *r = &rows[v * def->step_count + i];
            if (!is_shown(r))
                continue;

            yk_text_add(context, &script, "%.9g %.9g %lld %.9g\n", r->step, r->error,
                        (long long)r->call_count, r->wall_time);
        }
        yk_text_add(context, &script, "EOD\n");
    }

    /* Orders are slopes on logarithmic axes. */
    add_title(context, &script, "multiplot layout 3,1 title", title);
    yk_text_add(
        context, &script,
        "set logscale xy\nset format xy '10^{%%L}'\nset grid\nset ylabel 'relative error'\n");

    /* Errors over each measure of the cost, with one legend for all. */
    for (int p = 0; p < 3; p++) {
        const char *key = p == 0 ? "set key outside top center horizontal" : "set key off";
        yk_text_add(context, &script, "set xlabel '%s'\n%s\nplot ", panels[p].label, key);

        /* Variants without any point are not in the legend. */
        const char *comma = "";
        for (int v = 0; v < variants; v++) {
            bool has_points = false;
            for (int i = 0; i < def->step_count; i++)
                if (is_shown(&rows[v * def->step_count + i]))
                    has_points = true;
            if (!has_points)
                continue;

            yk_text_add(context, &script,
                        "%s$d%d using %d:2 with linespoints pt 7 ps 0.7 lw 1.5 lc %d title ", comma,
                        v, panels[p].column, v + 1);
            gnuplot_quote(context, &script,
                          def->variant_count ? def->variants[v].name : "scenario");
            yk_text_add(context, &script, " noenhanced");
            comma = ", ";
        }

        yk_text_add(context, &script, "%s\n", *comma ? "" : "NaN notitle");
    }

    yk_text_add(context, &script, "unset multiplot\n");
    return gnuplot_draw(context, base, &script, 3);
}

/* Sweeps --------------------------------------------------------------------------------------- */

/* The title of an axis, with the unit of what it shows. */
static void add_quantity(yk_context *context, yk_text *script, const char *what, const char *name,
                         const char *unit)
{
    yk_text title = {0};
    yk_text_add(context, &title, "%s", name);
    if (*unit)
        yk_text_add(context, &title, " [%s]", unit);
    add_title(context, script, what, title.data ? title.data : name);
    yk_text_destroy(context, &title);
}

yk_status picture_sweep(yk_context *context, const char *base, const char *title,
                        const yk_sweep_options *def, const double *results)
{
    /* Curves over the last axis, one for each combination of the others. */
    int last = def->axis_count - 1;
    int points = def->axes[last].count;
    int curves = yk_sweep_run_count(def) / points;
    int measures = def->measure_count;
    yk_text script = {0};

    /* A block of data per measure and curve. */
    for (int m = 0; m < measures; m++) {
        for (int c = 0; c < curves; c++) {
            yk_text_add(context, &script, "$d%d_%d << EOD\n", m, c);
            for (int i = 0; i < points; i++) {
                size_t run = (size_t)c * (size_t)points + (size_t)i;
                double value = results[run * (size_t)measures + (size_t)m];
                const char *word = def->axes[last].values[i];
                for (; *word; word++)
                    yk_text_add(context, &script, "%c", (unsigned char)*word < ' ' ? ' ' : *word);
                yk_text_add(context, &script, " %.9g\n", value);
            }
            yk_text_add(context, &script, "EOD\n");
        }
    }

    /* A panel per measure, one below the other. */
    char layout[64];
    snprintf(layout, sizeof layout, "multiplot layout %d,1 title", measures);
    add_title(context, &script, layout, title);
    yk_text_add(context, &script,
                "set grid\nset key outside top center horizontal maxcols 2\nset lmargin 12\n");
    add_quantity(context, &script, "xlabel", def->axes[last].path, def->units[last]);

    for (int m = 0; m < measures; m++) {
        add_quantity(context, &script, "ylabel", def->measures[m], def->units[def->axis_count + m]);
        for (int c = 0; c < curves; c++) {
            /* A curve is named by the values of the other axes. */
            yk_text name = {0};
            for (int i = 0; i < last; i++)
                yk_text_add(context, &name, "%s%s=%s", i ? ", " : "", def->axes[i].path,
                            yk_sweep_value(def, c * points, i));

            yk_text_add(context, &script, "%s$d%d_%d with linespoints pt 7 title ",
                        c ? ", " : "plot ", m, c);
            gnuplot_quote(context, &script, name.data ? name.data : "");
            yk_text_add(context, &script, " noenhanced");
            yk_text_destroy(context, &name);
        }
        yk_text_add(context, &script, "\n");
    }
    yk_text_add(context, &script, "unset multiplot\n");
    return gnuplot_draw(context, base, &script, measures);
}
