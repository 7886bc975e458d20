/* Pictures by gnuplot: scripts go to its standard input, SVG and PNG come out. */
#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "yoke/analysis.h"

extern char **environ;

typedef struct terminal {
    const char *extension;
    const char *settings;
} terminal;

static const terminal terminals[] = {
    {"svg", "svg size 800,600 dynamic font 'DejaVu Sans,14' background rgb 'white'"},
    {"png", "pngcairo size 1600,1200 fontscale 1.6 font 'DejaVu Sans,14' linewidth 2"},
};

/* A file name as gnuplot reads it between single quotes. */
static void add_quoted(yk_context *context, yk_text *script, const char *name)
{
    yk_text_add(context, script, "'");
    for (; *name; name++) yk_text_add(context, script, *name == '\'' ? "''" : "%c", *name);
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
    for (size_t i = 0; i < sizeof terminals / sizeof *terminals; i++) {
        yk_text text = {0}, file = {0};
        yk_text_add(context, &file, "%s.%s", base, terminals[i].extension);
        yk_text_add(context, &text, "set encoding utf8\nset terminal %s\nset output ", terminals[i].settings);
        if (file.data) add_quoted(context, &text, file.data);
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

/* Radii as a data block, one line per point; beyond 2 all are alike to the eye. */
static void add_map_data(yk_context *context, yk_text *script, const yk_map_axis *x, const yk_map_axis *y,
                         const double *radii)
{
    yk_text_add(context, script, "$radius << EOD\n");
    for (int i = 0; i < x->count; i++) {
        for (int j = 0; j < y->count; j++) {
            double radius = radii[(size_t)j * (size_t)x->count + (size_t)i];
            yk_text_add(context, script, "%.9g %.9g %.9g %d\n", yk_map_axis_value(x, i), yk_map_axis_value(y, j),
                        fmin(radius, 2), radius <= YK_STABILITY_LIMIT);
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

static void add_axis(yk_context *context, yk_text *script, char letter, const yk_map_axis *axis)
{
    yk_text_add(context, script, "set %clabel '%s'\n", letter, axis_title(axis->parameter));
    if (axis->logarithmic) yk_text_add(context, script, "set logscale %c\n", letter);
    if (axis->first != axis->last)
        yk_text_add(context, script, "set %crange [%g:%g]\n", letter, fmin(axis->first, axis->last),
                    fmax(axis->first, axis->last));
}

yk_status yk_plot_map(yk_context *context, const char *base, const char *title, const yk_map_axis *x,
                      const yk_map_axis *y, const double *radii)
{
    yk_text script = {0};
    add_map_data(context, &script, x, y, radii);
    yk_text_add(context, &script, "set title ");
    add_quoted(context, &script, title);
    yk_text_add(context, &script, " noenhanced\n");
    add_axis(context, &script, 'x', x);
    add_axis(context, &script, 'y', y);
    yk_text_add(context, &script,
                "set tics out nomirror\nset key outside bottom center horizontal\n"
                "plot $radius using 1:($4==1?$2:1/0) with points pt 5 ps 0.6 lc rgb '#2b6cb0' title 'stable', "
                "$radius using 1:($4==0?$2:1/0) with points pt 7 ps 0.25 lc rgb '#e2b3a8' title 'unstable'\n");
    yk_status status = script.failed ? YK_ERROR_MEMORY : yk_plot(context, base, script.data);
    yk_text_destroy(context, &script);
    return status;
}
