/* yoke stability without a scenario: the spectral radius of a coupling scheme on the two-mass
 * oscillator. */
#include "two_mass.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pictures.h"
#include "yoke/analysis.h"

static bool read_integrators(const char *text, yk_two_mass *model)
{
    static const char *const words[] = {"two-step", "semi-implicit", "exact", NULL};
    char first[32], second[32], rest;
    if (sscanf(text, "%31[^,],%31[^,]%c", first, second, &rest) != 2) {
        fprintf(stderr, "yoke: --integrators '%s': name two, such as two-step,semi-implicit\n",
                text);
        return false;
    }
    int a, b;
    if (!options_pick("integrators", first, words, &a) ||
        !options_pick("integrators", second, words, &b))
        return false;
    model->integrators[0] = (yk_two_mass_integrator)a;
    model->integrators[1] = (yk_two_mass_integrator)b;
    return true;
}

/* Sets an option, where it was given or the scheme has it. */
static bool set_option(yk_context *context, two_mass_request *r, const char *key, const char *given,
                       const char *usual)
{
    const yk_scheme_ops *scheme = r->model.scheme.ops;
    const yk_option *row = yk_scheme_option(scheme, key);
    if (!given && !row)
        return true;

    /* A word that is not known, with the nearest. */
    const char *words[16] = {NULL};
    for (int i = 0; row && row->words && row->words[i].word && i < 15; i++)
        words[i] = row->words[i].word;
    int index;
    if (given && words[0] && !strchr(given, ',') && !options_pick(key, given, words, &index))
        return false;

    if (yk_scheme_set(context, scheme, r->options, key, given ? given : usual) == YK_OK)
        return true;
    fprintf(stderr, "yoke: %s\n", yk_last_message(context));
    return false;
}

static bool read_scheme(yk_context *context, two_mass_request *r)
{
    const char *words[32] = {NULL};
    int index;
    for (int i = 0; yk_scheme_at(i) && i < 31; i++)
        words[i] = yk_scheme_at(i)->name;
    if (!options_pick("scheme", r->scheme ? r->scheme : words[0], words, &index))
        return false;
    const yk_scheme_ops *scheme = yk_scheme_at(index);
    yk_scheme_fill(scheme, r->options);
    r->scheme = scheme->name;
    r->model.scheme = (yk_scheme_def){.ops = scheme, .options = r->options};

    /* The map is that of the converged scheme, up to rounding of deviations of 1; or that of a
     * fixed number of repetitions, converged or not, by tolerances that nothing meets: a question
     * about the plain iteration. */
    char iterations[24];
    bool fixed = r->iterations >= 0;
    r->model.fixed_iterations = fixed;
    snprintf(iterations, sizeof iterations, "%.0f", fixed ? r->iterations : 100);
    return set_option(context, r, "order", r->order, "gauss-seidel") &&
           set_option(context, r, "exchange", r->exchange, "motion") &&
           set_option(context, r, "inputs", r->inputs, "index-1") &&
           set_option(context, r, "acceleration", r->acceleration,
                      fixed ? "none" : "quasi-newton") &&
           set_option(context, r, "iterations", NULL, iterations) &&
           set_option(context, r, "tolerance", NULL, fixed ? "0" : "1e-12") &&
           set_option(context, r, "relative_tolerance", NULL, fixed ? "0" : "1e-14") &&
           read_integrators(r->integrators, &r->model);
}

bool map_axis_read(const char *text, yk_map_axis *axis, char *name, size_t capacity)
{
    const char *equals = strchr(text, '=');
    char spacing[8] = "";
    int used = 0;
    *axis = (yk_map_axis){0};
    bool good =
        equals && (size_t)(equals - text) < capacity &&
        sscanf(equals + 1, "%lf:%lf:%d%n", &axis->first, &axis->last, &axis->count, &used) == 3;
    if (good && equals[1 + used]) {
        snprintf(spacing, sizeof spacing, "%s", equals + 1 + used);
        axis->logarithmic = strcmp(spacing, ":log") == 0;
        good = axis->logarithmic;
    }
    if (!good || !isfinite(axis->first) || !isfinite(axis->last) || axis->count < 1 ||
        axis->count > 10000) {
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

static bool check_range(const char *name, double value, double low, double high)
{
    if (value >= low && value <= high)
        return true;
    fprintf(stderr, "yoke: --%s is %g, must lie between %g and %g\n", name, value, low, high);
    return false;
}

/* The same limits hold for a value and for the ends of an axis. */
static bool check_parameter(const char *name, double value)
{
    if (strcmp(name, "rho-inf") == 0)
        return check_range(name, value, 0, 1);
    if (strcmp(name, "omega-h") == 0 || strcmp(name, "mass-ratio") == 0)
        return check_range(name, value, 1e-12, 1e12);
    return check_range(name, value, 0, 1e12);
}

static int print_radius(yk_context *context, const two_mass_request *r)
{
    double radius;
    yk_status status = yk_two_mass_radius(context, &r->model, &radius);
    if (status != YK_OK) {
        fprintf(stderr, "yoke: %s\n", yk_last_message(context));
        return EXIT_MISUSE;
    }
    printf("spectral radius %.12g\n", radius);
    printf("%s\n",
           radius <= YK_STABILITY_LIMIT ? "stable" : "unstable: errors grow with every macro step");
    return EXIT_GOOD;
}

bool map_write(const char *file, const yk_map_axis *x, const yk_map_axis *y, const double *radii)
{
    FILE *out = fopen(file, "w");
    if (!out) {
        fprintf(stderr, "yoke: cannot write %s: %s\n", file, strerror(errno));
        return false;
    }
    fprintf(out, "%s,%s,spectral_radius,stable\n", x->parameter, y->parameter);
    for (int i = 0; i < x->count; i++)
        for (int j = 0; j < y->count; j++) {
            double radius = radii[(size_t)j * (size_t)x->count + (size_t)i];
            fprintf(out, "%.17g,%.17g,%.17g,%d\n", yk_map_axis_value(x, i), yk_map_axis_value(y, j),
                    radius, radius <= YK_STABILITY_LIMIT);
        }
    bool good = !ferror(out);
    if (fclose(out) != 0 || !good) {
        fprintf(stderr, "yoke: cannot write %s: %s\n", file, strerror(errno));
        return false;
    }
    return true;
}

static void show_progress(void *user, double fraction)
{
    (void)user;
    fprintf(stderr, "\rmap %3.0f %%%s", 100 * fraction, fraction >= 1 ? "\n" : "");
}

static int make_map(yk_context *context, const two_mass_request *r, const yk_map_axis *x,
                    const yk_map_axis *y)
{
    size_t count = (size_t)x->count * (size_t)y->count;
    double *radii = malloc(count * sizeof *radii);
    if (!radii) {
        fprintf(stderr, "yoke: out of memory for a map of %zu points\n", count);
        return EXIT_FAILED;
    }
    yk_status status = yk_two_mass_map(context, &r->model, x, y, radii,
                                       isatty(STDERR_FILENO) ? show_progress : NULL, NULL);
    bool good = status == YK_OK && (!r->output || map_write(r->output, x, y, radii));
    if (good)
        printf("stable fraction %.4f\n", yk_stable_fraction(radii, count));
    if (good && r->plot) {
        char title[160];
        const char *inputs = r->inputs ? r->inputs : "index-1";
        bool has_inputs = yk_scheme_option(r->model.scheme.ops, "inputs");
        snprintf(title, sizeof title, "spectral radius of scheme %s%s%s", r->scheme,
                 has_inputs ? ", inputs " : "", has_inputs ? inputs : "");
        status = picture_map(context, r->plot, title, x, y, radii);
        if (status == YK_OK)
            printf("picture %s.svg, %s.png\n", r->plot, r->plot);
    }
    free(radii);
    if (status < 0)
        fprintf(stderr, "yoke: %s\n", yk_last_message(context));
    return good && status == YK_OK ? EXIT_GOOD : EXIT_FAILED;
}

static bool read_axis(const char *text, yk_map_axis *axis, char *name, size_t capacity)
{
    int index;
    if (!map_axis_read(text, axis, name, capacity) ||
        !options_pick("map", name, yk_two_mass_parameters(), &index))
        return false;
    return check_parameter(name, axis->first) && check_parameter(name, axis->last);
}

static int run_request(const two_mass_request *r)
{
    yk_map_axis axes[2];
    char names[2][MAP_NAME_MAX];
    if (r->maps.count != 0 && r->maps.count != 2) {
        fprintf(stderr, "yoke: a map needs --map twice, once for each axis\n");
        return EXIT_MISUSE;
    }
    for (int i = 0; i < r->maps.count; i++)
        if (!read_axis(r->maps.items[i], &axes[i], names[i], sizeof names[i]))
            return EXIT_MISUSE;
    if (r->maps.count == 0 && (r->output || r->plot)) {
        fprintf(stderr, "yoke: -o and --plot write maps; add --map twice\n");
        return EXIT_MISUSE;
    }
    if (r->maps.count == 2 && strcmp(axes[0].parameter, axes[1].parameter) == 0) {
        fprintf(stderr, "yoke: both axes of the map are %s\n", axes[0].parameter);
        return EXIT_MISUSE;
    }
    yk_context *context = yk_context_create(NULL);
    if (!context)
        return EXIT_FAILED;
    int code = r->maps.count ? make_map(context, r, &axes[0], &axes[1]) : print_radius(context, r);
    yk_context_destroy(context);
    return code;
}

int two_mass_run(two_mass_request *r)
{
    yk_two_mass *m = &r->model;
    if (!r->integrators)
        r->integrators = "two-step,semi-implicit";
    yk_context *context = yk_context_create(NULL);
    if (!context)
        return EXIT_FAILED;
    bool good = read_scheme(context, r);
    yk_context_destroy(context);
    if (!good)
        return EXIT_MISUSE;
    for (const char *const *name = yk_two_mass_parameters(); *name; name++)
        if (!check_parameter(*name, *yk_two_mass_parameter(m, *name)))
            return EXIT_MISUSE;
    return run_request(r);
}
