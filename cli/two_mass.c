/* yoke stability without a scenario: the spectral radius of a coupling scheme on the two-mass
 * oscillator. And what its maps share with those of scenarios. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "pictures.h"

/* Maps ----------------------------------------------------------------------------------------- */

const char **map_axis_spell(const yk_map_axis *axis, char **letters)
{
    enum { WIDTH = 32 };
    const char **values = malloc((size_t)axis->count * sizeof *values);
    *letters = malloc((size_t)axis->count * WIDTH);
    if (!values || !*letters) {
        free((void *)(uintptr_t)values);
        return NULL;
    }

    for (int i = 0; i < axis->count; i++) {
        char *word = *letters + (size_t)i * WIDTH;
        snprintf(word, WIDTH, "%.15g", yk_map_axis_value(axis, i));
        values[i] = word;
    }

    return values;
}

bool map_axis_read(const char *text, yk_map_axis *axis, char *name, size_t capacity)
{
    /* NAME=FIRST:LAST:COUNT, and :log behind it for equal ratios. */
    *axis = (yk_map_axis){0};
    const char *equals = strchr(text, '=');
    bool good = equals && (size_t)(equals - text) < capacity && read_range(equals + 1, axis);

    /* What cannot be an axis. */
    bool finite = isfinite(axis->first) && isfinite(axis->last);
    if (!good || !finite || axis->count < 1 || axis->count > 10000) {
        fprintf(stderr,
                "yoke: --map '%s': write parameter=first:last:count, such as "
                "time.step=1e-4:1e-2:21 (or ...:21:log)\n",
                text);
        return false;
    }

    if (axis->logarithmic && !(axis->first > 0 && axis->last > 0)) {
        fprintf(stderr, "yoke: --map '%s': it is spaced by ratios, so its ends must be positive\n",
                text);
        return false;
    }

    snprintf(name, capacity, "%.*s", (int)(equals - text), text);
    axis->parameter = name;
    return true;
}

int map_report(yk_context *context, const two_mass_request *q, const char *title,
               const yk_map_axis *x, const yk_map_axis *y, const double *radii)
{
    /* As a table. */
    if (q->output) {
        FILE *out = fopen(q->output, "w");
        if (out)
            fprintf(out, "%s,%s,spectral_radius,stable\n", x->parameter, y->parameter);

        for (int i = 0; out && i < x->count; i++) {
            for (int j = 0; j < y->count; j++) {
                double radius = radii[(size_t)j * (size_t)x->count + (size_t)i];
                fprintf(out, "%.17g,%.17g,%.17g,%d\n", yk_map_axis_value(x, i),
                        yk_map_axis_value(y, j), radius, radius <= YK_STABILITY_LIMIT);
            }
        }

        if (!close_written(out, q->output))
            return EXIT_FAILED;
    }

    /* The map in one number, and as a picture. */
    size_t count = (size_t)x->count * (size_t)y->count;
    printf("stable fraction %.4f\n", yk_stable_fraction(radii, count));
    if (!q->plot)
        return EXIT_GOOD;
    if (picture_map(context, q->plot, title, x, y, radii) != YK_OK)
        return print_failure(context);

    print_pictures(q->plot);
    return EXIT_GOOD;
}

/* The request ---------------------------------------------------------------------------------- */

/* Sets an option, where it was given or the scheme has it. */
static bool set_option(yk_context *context, two_mass_request *q, const char *key, const char *given,
                       const char *usual)
{
    const yk_scheme_ops *scheme = q->model.scheme.ops;
    const yk_option *row = yk_scheme_option(scheme, key);
    if (!given && !row)
        return true;

    /* A word that is not known is refused with the nearest one. */
    const char *words[16] = {NULL};
    for (int i = 0; row && row->words && row->words[i].word && i < 15; i++)
        words[i] = row->words[i].word;

    int index;
    if (given && words[0] && !strchr(given, ',') && !options_pick(key, given, words, &index))
        return false;

    const char *value = given ? given : usual;
    if (yk_scheme_set(context, scheme, q->options, key, value) == YK_OK)
        return true;

    print_failure(context);
    return false;
}

/* The same limits hold for a value and for the ends of an axis. */
static bool check_parameter(const char *name, double value)
{
    /* Without a step or without the second mass there is nothing to couple. */
    double low = 0;
    double high = 1e12;
    if (strcmp(name, "rho-inf") == 0)
        high = 1;
    if (strcmp(name, "omega-h") == 0 || strcmp(name, "mass-ratio") == 0)
        low = 1e-12;

    if (value >= low && value <= high)
        return true;

    fprintf(stderr, "yoke: --%s is %g, must lie between %g and %g\n", name, value, low, high);
    return false;
}

/* Answers -------------------------------------------------------------------------------------- */

static void show_progress(void *user, double fraction)
{
    (void)user;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\rmap %3.0f %%%s", 100 * fraction, fraction >= 1 ? "\n" : "");
}

int two_mass_run(two_mass_request *q)
{
    yk_context *context = yk_context_create(NULL);
    if (!context)
        return EXIT_FAILED;

    int index = 0;
    if (q->scheme && !options_pick_scheme("scheme", q->scheme, &index)) {
        yk_context_destroy(context);
        return EXIT_MISUSE;
    }

    /* The scheme with the options that it has by itself. */
    const yk_scheme_ops *scheme = yk_scheme_at(index);
    yk_scheme_fill(scheme, q->options);
    q->scheme = scheme->name;
    q->model.scheme = (yk_scheme_def){.ops = scheme, .options = q->options};

    /* The map is that of the converged scheme, up to rounding of deviations of 1; or that of a
     * fixed number of repetitions, converged or not, by tolerances that nothing meets: a question
     * about the plain iteration. */
    const char *acceleration = "quasi-newton";
    const char *absolute = "1e-12";
    const char *relative = "1e-14";
    char iterations[24] = "100";
    q->model.fixed_iterations = q->iterations >= 0;
    if (q->model.fixed_iterations) {
        acceleration = "none";
        absolute = "0";
        relative = "0";
        snprintf(iterations, sizeof iterations, "%.0f", q->iterations);
    }

    bool good = set_option(context, q, "order", q->order, "gauss-seidel") &&
                set_option(context, q, "exchange", q->exchange, "motion") &&
                set_option(context, q, "inputs", q->inputs, "index-1") &&
                set_option(context, q, "acceleration", q->acceleration, acceleration) &&
                set_option(context, q, "iterations", NULL, iterations) &&
                set_option(context, q, "tolerance", NULL, absolute) &&
                set_option(context, q, "relative_tolerance", NULL, relative);

    /* "two-step,exact": the integrators of both masses. */
    static const char *const words[] = {"two-step", "semi-implicit", "exact", NULL};
    const char *integrators = q->integrators ? q->integrators : "two-step,semi-implicit";

    char integrator[2][32];
    char rest;
    if (good &&
        sscanf(integrators, "%31[^,],%31[^,]%c", integrator[0], integrator[1], &rest) != 2) {
        fprintf(stderr, "yoke: --integrators '%s': name two, such as two-step,semi-implicit\n",
                integrators);
        good = false;
    }

    for (int i = 0; i < 2 && good; i++) {
        good = options_pick("integrators", integrator[i], words, &index);
        if (good)
            q->model.integrators[i] = (yk_two_mass_integrator)index;
    }

    /* Parameters, within the limits that hold for axes too. */
    yk_map_axis axes[2];
    char names[2][MAP_NAME_MAX];
    for (const char *const *name = yk_two_mass_parameters(); good && *name; name++)
        good = check_parameter(*name, *yk_two_mass_parameter(&q->model, *name));

    /* The two axes of a map, if there is one. */
    const option_list *maps = &q->maps;
    if (good && maps->count != 0 && maps->count != 2) {
        fprintf(stderr, "yoke: a map needs --map twice, once for each axis\n");
        good = false;
    }

    for (int i = 0; good && i < maps->count; i++) {
        good = map_axis_read(maps->items[i], &axes[i], names[i], MAP_NAME_MAX) &&
               options_pick("map", names[i], yk_two_mass_parameters(), &index) &&
               check_parameter(names[i], axes[i].first) && check_parameter(names[i], axes[i].last);
    }

    if (good && maps->count == 0 && (q->output || q->plot)) {
        fprintf(stderr, "yoke: -o and --plot write maps; add --map twice\n");
        good = false;
    }

    if (good && maps->count == 2 && strcmp(names[0], names[1]) == 0) {
        fprintf(stderr, "yoke: both axes of the map are %s\n", names[0]);
        good = false;
    }

    /* A map, or one point. */
    int code = EXIT_MISUSE;
    double radius;
    if (good && q->maps.count > 0) {
        const yk_map_axis *x = &axes[0];
        const yk_map_axis *y = &axes[1];
        size_t count = (size_t)x->count * (size_t)y->count;
        double *radii = malloc(count * sizeof *radii);
        code = EXIT_FAILED;
        if (!radii) {
            fprintf(stderr, "yoke: out of memory for a map of %zu points\n", count);
        } else if (yk_two_mass_map(context, &q->model, x, y, radii, show_progress, NULL) != YK_OK) {
            code = print_failure(context);
        } else {
            char title[160];
            int length = snprintf(title, sizeof title, "spectral radius of scheme %s", q->scheme);
            if (yk_scheme_option(q->model.scheme.ops, "inputs"))
                snprintf(title + length, sizeof title - (size_t)length, ", inputs %s",
                         q->inputs ? q->inputs : "index-1");

            code = map_report(context, q, title, x, y, radii);
        }
        free(radii);
    } else if (good && yk_two_mass_radius(context, &q->model, &radius) != YK_OK) {
        print_failure(context);
    } else if (good) {
        printf("spectral radius %.12g\n", radius);
        if (radius <= YK_STABILITY_LIMIT)
            printf("stable\n");
        else
            printf("unstable: errors grow with every macro step\n");
        code = EXIT_GOOD;
    }

    yk_context_destroy(context);
    return code;
}
