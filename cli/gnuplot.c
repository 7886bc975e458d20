#include "gnuplot.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

void gnuplot_quote(yk_context *context, yk_text *script, const char *text)
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

static yk_status run_gnuplot(yk_context *context, const yk_text *script)
{
    /* The script is a temporary file and not a pipe, which could fill up. */
    FILE *input = tmpfile();
    if (!input)
        return yk_fail(context, YK_ERROR_FILE, "cannot create a temporary file for gnuplot: %s",
                       strerror(errno));
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
        return yk_fail(context, YK_ERROR_EXTERNAL,
                       "cannot run gnuplot (%s): install it (Debian package gnuplot-nox)",
                       strerror(failure));

    int outcome = 0;
    while (waitpid(child, &outcome, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0)
        return YK_OK;
    return yk_fail(context, YK_ERROR_EXTERNAL, "gnuplot could not draw the picture (status %d)",
                   outcome);
}

yk_status gnuplot_draw(yk_context *context, const char *base, yk_text *script, int panels)
{
    /* Three panels and more need room for their tics and legends. */
    int height = panels > 2 ? 250 * panels : 600;
    yk_status status = script->failed ? YK_ERROR_MEMORY : YK_OK;
    for (size_t i = 0; status >= 0 && i < sizeof terminals / sizeof *terminals; i++) {
        const terminal *t = &terminals[i];
        yk_text text = {0}, file = {0};
        yk_text_add(context, &file, "%s.%s", base, t->extension);
        yk_text_add(context, &text, "set encoding utf8\nset terminal %s size %d,%d %s\nset output ",
                    t->name, t->scale * 800, t->scale * height, t->settings);
        if (file.data)
            gnuplot_quote(context, &text, file.data);
        yk_text_add(context, &text, "\n%s\nunset output\n", script->data);

        status = YK_ERROR_MEMORY;
        if (!text.failed && !file.failed)
            status = run_gnuplot(context, &text);
        if (status == YK_OK && access(file.data, R_OK) != 0)
            status = yk_fail(context, YK_ERROR_FILE,
                             "cannot write %s: is its folder there and writable?", file.data);
        yk_text_destroy(context, &text);
        yk_text_destroy(context, &file);
    }
    yk_text_destroy(context, script);
    return status;
}
