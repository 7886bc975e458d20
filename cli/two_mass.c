/* yoke stability without a scenario: the spectral radius of a coupling scheme on the two-mass oscillator. */
#include "two_mass.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pictures.h"
#include "yoke/analysis.h"

static bool read_inputs(const char *text, yk_explicit_inputs *inputs)
{
    double a, b, c;
    char rest;
    if (strchr(text, ',')) {
        if (sscanf(text, "%lf,%lf,%lf%c", &a, &b, &c, &rest) == 3) {
            *inputs = (yk_explicit_inputs){true, a, b, c};
            return true;
        }
        fprintf(stderr, "yoke: --inputs '%s': the weights are three numbers alpha*h^2,beta*h,gamma such as 2,2,1\n",
                text);
        return false;
    }
    static const char *const words[] = {"original", "index-1", "index-2", "index-3", NULL};
    const yk_explicit_inputs values[] = {YK_EXPLICIT_INPUTS_ORIGINAL, YK_EXPLICIT_INPUTS_INDEX_1,
                                         YK_EXPLICIT_INPUTS_INDEX_2, YK_EXPLICIT_INPUTS_INDEX_3};
    int index;
    if (!options_pick("inputs", text, words, &index)) return false;
    *inputs = values[index];
    return true;
}

static bool read_integrators(const char *text, yk_two_mass *model)
{
    static const char *const words[] = {"two-step", "semi-implicit", "exact", NULL};
    char first[32], second[32], rest;
    if (sscanf(text, "%31[^,],%31[^,]%c", first, second, &rest) != 2) {
        fprintf(stderr, "yoke: --integrators '%s': name two, such as two-step,semi-implicit\n", text);
        return false;
    }
    int a, b;
    if (!options_pick("integrators", first, words, &a) || !options_pick("integrators", second, words, &b)) return false;
    model->integrators[0] = (yk_two_mass_integrator)a;
    model->integrators[1] = (yk_two_mass_integrator)b;
    return true;
}

static bool read_scheme(two_mass_request *r)
{
    static const char *const schemes[] = {"explicit", "tight", "monolithic", "loose", NULL};
    static const char *const orders[] = {"gauss-seidel", "jacobi", NULL};
    static const char *const exchanges[] = {"motion", "forces", NULL};
    static const char *const accelerations[] = {"none", "aitken", "quasi-newton", NULL};
    yk_scheme_def *scheme = &r->model.scheme;
    int kind, order, exchange, acceleration;
    if (!options_pick("scheme", r->scheme, schemes, &kind) || !options_pick("order", r->order, orders, &order) ||
        !options_pick("exchange", r->exchange, exchanges, &exchange) ||
        !options_pick("acceleration", r->acceleration, accelerations, &acceleration))
        return false;
    bool loose = kind == 3;
    scheme->kind = loose ? YK_SCHEME_TIGHT : (yk_scheme_kind)kind;
    scheme->order = (yk_order)order;
    scheme->exchange = exchange == 0 ? YK_EXCHANGE_MOTION : YK_EXCHANGE_FORCES;
    scheme->acceleration = (yk_acceleration)acceleration;
    if (r->iterations >= 0) {
        /* A fixed number of repetitions, converged or not: a tolerance that nothing meets. */
        scheme->iterations = (int)r->iterations;
        scheme->tolerance = scheme->relative_tolerance = 0;
        r->model.fixed_iterations = true;
    }
    if (loose) scheme->iterations = 0;
    return read_inputs(r->inputs, &scheme->inputs) && read_integrators(r->integrators, &r->model);
}

bool map_axis_read(const char *text, yk_map_axis *axis, char *name, size_t capacity)
{
    const char *equals = strchr(text, '=');
    char spacing[8] = "";
    int used = 0;
    *axis = (yk_map_axis){0};
    bool good = equals && (size_t)(equals - text) < capacity &&
                sscanf(equals + 1, "%lf:%lf:%d%n", &axis->first, &axis->last, &axis->count, &used) == 3;
    if (good && equals[1 + used]) {
        snprintf(spacing, sizeof spacing, "%s", equals + 1 + used);
        axis->logarithmic = strcmp(spacing, ":log") == 0;
        good = axis->logarithmic;
    }
    if (!good || !isfinite(axis->first) || !isfinite(axis->last) || axis->count < 1 || axis->count > 10000) {
        fprintf(stderr,
                "yoke: --map '%s': write parameter=first:last:count, such as time.step=1e-4:1e-2:21 (or ...:21:log)\n",
                text);
        return false;
    }
    if (axis->logarithmic && !(axis->first > 0 && axis->last > 0)) {
        fprintf(stderr, "yoke: --map '%s': it is spaced by ratios, so its ends must be positive\n", text);
        return false;
    }
    snprintf(name, capacity, "%.*s", (int)(equals - text), text);
    axis->parameter = name;
    return true;
}

static bool check_range(const char *name, double value, double low, double high)
{
    if (value >= low && value <= high) return true;
    fprintf(stderr, "yoke: --%s is %g, must lie between %g and %g\n", name, value, low, high);
    return false;
}

/* The same limits hold for a value and for the ends of an axis. */
static bool check_parameter(const char *name, double value)
{
    if (strcmp(name, "rho-inf") == 0) return check_range(name, value, 0, 1);
    if (strcmp(name, "omega-h") == 0 || strcmp(name, "mass-ratio") == 0) return check_range(name, value, 1e-12, 1e12);
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
    printf("%s\n", radius <= YK_STABILITY_LIMIT ? "stable" : "unstable: errors grow with every macro step");
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
            fprintf(out, "%.17g,%.17g,%.17g,%d\n", yk_map_axis_value(x, i), yk_map_axis_value(y, j), radius,
                    radius <= YK_STABILITY_LIMIT);
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

static int make_map(yk_context *context, const two_mass_request *r, const yk_map_axis *x, const yk_map_axis *y)
{
    size_t count = (size_t)x->count * (size_t)y->count;
    double *radii = malloc(count * sizeof *radii);
    if (!radii) {
        fprintf(stderr, "yoke: out of memory for a map of %zu points\n", count);
        return EXIT_FAILED;
    }
    yk_status status =
        yk_two_mass_map(context, &r->model, x, y, radii, isatty(STDERR_FILENO) ? show_progress : NULL, NULL);
    bool good = status == YK_OK && (!r->output || map_write(r->output, x, y, radii));
    if (good) printf("stable fraction %.4f\n", yk_stable_fraction(radii, count));
    if (good && r->plot) {
        char title[160];
        bool inputs = r->model.scheme.kind == YK_SCHEME_EXPLICIT;
        snprintf(title, sizeof title, "spectral radius of scheme %s%s%s", r->scheme, inputs ? ", inputs " : "",
                 inputs ? r->inputs : "");
        status = picture_map(context, r->plot, title, x, y, radii);
        if (status == YK_OK) printf("picture %s.svg, %s.png\n", r->plot, r->plot);
    }
    free(radii);
    if (status < 0) fprintf(stderr, "yoke: %s\n", yk_last_message(context));
    return good && status == YK_OK ? EXIT_GOOD : EXIT_FAILED;
}

static bool read_axis(const char *text, yk_map_axis *axis, char *name, size_t capacity)
{
    int index;
    if (!map_axis_read(text, axis, name, capacity) || !options_pick("map", name, yk_two_mass_parameters(), &index))
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
        if (!read_axis(r->maps.items[i], &axes[i], names[i], sizeof names[i])) return EXIT_MISUSE;
    if (r->maps.count == 0 && (r->output || r->plot)) {
        fprintf(stderr, "yoke: -o and --plot write maps; add --map twice\n");
        return EXIT_MISUSE;
    }
    if (r->maps.count == 2 && strcmp(axes[0].parameter, axes[1].parameter) == 0) {
        fprintf(stderr, "yoke: both axes of the map are %s\n", axes[0].parameter);
        return EXIT_MISUSE;
    }
    yk_context *context = yk_context_create(NULL);
    if (!context) return EXIT_FAILED;
    int code = r->maps.count ? make_map(context, r, &axes[0], &axes[1]) : print_radius(context, r);
    yk_context_destroy(context);
    return code;
}

int two_mass_run(two_mass_request *r)
{
    yk_two_mass *m = &r->model;
    if (!r->scheme) r->scheme = "explicit";
    if (!r->order) r->order = "gauss-seidel";
    if (!r->exchange) r->exchange = "motion";
    if (!r->inputs) r->inputs = "index-1";
    /* A fixed number of repetitions is a question about the plain iteration. */
    if (!r->acceleration) r->acceleration = r->iterations >= 0 ? "none" : "quasi-newton";
    if (!r->integrators) r->integrators = "two-step,semi-implicit";
    if (!read_scheme(r)) return EXIT_MISUSE;
    for (const char *const *name = yk_two_mass_parameters(); *name; name++)
        if (!check_parameter(*name, *yk_two_mass_parameter(m, *name))) return EXIT_MISUSE;
    return run_request(r);
}
