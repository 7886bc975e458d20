/* yoke stability: whether the coupling of a scenario is stable, at a state of its run or as a map
 * over two of its values; without a scenario, the spectral radius of a coupling scheme on the
 * two-mass oscillator. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "json.h"
#include "mpi.h"
#include "pictures.h"

enum { MAP_NAME_MAX = 160 };

static char noun[] = "point"; /* that progress counts */

static const char usage[] =
    "stability SCENARIO [OPTIONS]\n"
    "       yoke stability SCENARIO --map PATH=FIRST:LAST:N --map PATH=FIRST:LAST:N "
    "[OPTIONS]\n"
    "       yoke stability [TWO-MASS OPTIONS]\n"
    "\n"
    "Linearize the macro step numerically and report the growth of small deviations. "
    "A comparison with smaller steps and with a reference solution separates an "
    "unstable coupling from an unstable motion. If the coupling is unstable, steps "
    "and schemes that are stable are searched. Without a scenario, analyze two "
    "rigidly coupled masses. Exit code 3: unstable.";

typedef struct request {
    const char *path; /* NULL: the two masses */
    option_list sets, maps;
    yk_stability_options def;
    bool all, quiet, json;
    int jobs;
    double deadline; /* s, of other ranks */
    const char *journal, *output, *plot;

    /* Options of the two-mass oscillator. */
    yk_two_mass_model model;
    double options[YK_SCHEME_OPTIONS_SIZE_MAX / sizeof(double)]; /* of its scheme */
    const char *scheme, *order, *exchange, *inputs, *extrapolation, *acceleration, *integrators;
    double iterations;
} request;

static void show_doing(void *user, const char *what)
{
    (void)user;
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r\033[K");
        print_err("looking at %s", what);
    }
}

/* One state ------------------------------------------------------------------------------------ */

/* The verdict in one line that can be read alone. */
static void print_verdict(const yk_scenario_info *info, const yk_stability_report *r)
{
    switch (r->verdict) {
    case YK_VERDICT_STABLE:
        print_styled(stdout, STYLE_GOOD, "STABLE");
        print_out(": deviations do not grow from step to step\n");
        break;

    case YK_VERDICT_UNSTABLE_MOTION:
        print_styled(stdout, STYLE_GOOD, "STABLE COUPLING");
        print_out(": the motion itself is unstable or chaotic\n");
        break;

    case YK_VERDICT_UNSTABLE_COUPLING: {
        int interface = -1;
        if (r->mode_count > 0)
            interface = r->modes[r->critical_mode].interface.index;
        print_styled(stdout, STYLE_ALARM, "UNSTABLE COUPLING");
        if (interface >= 0)
            print_out(" at interface '%s'", info->interfaces[interface].name);
        print_out("\n");
        break;
    }

    case YK_VERDICT_UNSTABLE_SOLVER:
        print_styled(stdout, STYLE_ALARM, "UNSTABLE SOLVER");
        print_out(" of subsystem '%s'\n", info->subsystem_names[r->unstable_subsystem.index]);
        break;

    case YK_VERDICT_COUPLING_BREAKDOWN:
        print_styled(stdout, STYLE_ALARM, "UNSTABLE COUPLING");
        print_out(": the run fails %g s after its start\n", r->time - info->start);
        break;

    case YK_VERDICT_UNDECIDED:
        print_styled(stdout, STYLE_WARNING, "UNDECIDED");
        print_out(": %s\n", r->reason);
        break;
    }
}

/* A sentence about the verdict. */
static void print_explanation(const yk_scenario_info *info, const yk_stability_report *r)
{
    const yk_stability_rate *rate = &r->rates[0];
    switch (r->verdict) {
    case YK_VERDICT_STABLE:
        /* Growth at one instant, of a motion whose neighbours stay near it. */
        if (isfinite(r->run_growth)) {
            print_out("  Deviations grow by %.4g 1/s at t = %g s, but do not go on growing: by a "
                      "factor of %.3g in three time constants.\n",
                      rate->rate, r->time, r->run_growth);
            break;
        }

        /* A growth that the run is too short to show does not count. */
        if (r->rate_count > 0 && rate->rate > rate->error &&
            r->spectral_radius - r->spectral_radius_error > 1)
            print_out(
                "  A deviation grows by a factor of %.3g until the end of the run, which does "
                "not count.\n",
                exp(rate->rate * (info->end - info->start)));
        break;

    case YK_VERDICT_UNSTABLE_MOTION:
        print_out("  Deviations grow by %.4g 1/s", rate->rate);
        if (*r->reference)
            print_out(", and by %.4g 1/s in the %s reference", r->reference_rate.rate,
                      r->reference);
        print_out(".\n");
        break;

    case YK_VERDICT_UNSTABLE_COUPLING:
        print_out("  A deviation grows by a factor of %.5g per macro step.", r->coupling_growth);
        if (r->unstable_at_every_step)
            print_out(" A smaller step does not help.");
        print_out("\n");
        break;

    case YK_VERDICT_UNSTABLE_SOLVER:
        print_out("  The subsystem alone is unstable with this step: a deviation grows by a factor "
                  "of %.5g per macro step.\n",
                  r->coupling_growth);
        break;

    case YK_VERDICT_COUPLING_BREAKDOWN:
        print_out("  The %s reference does not fail.\n  Cause: %s\n", r->reference, r->reason);
        break;

    case YK_VERDICT_UNDECIDED:
        print_out("  Choose another state with --at, or allow more time with --cpu-time.\n");
        break;
    }
}

/* The numbers that the verdict rests on. */
static void print_numbers(const yk_scenario_info *info, const yk_stability_report *r)
{
    print_out("\n  spectral radius   %.12g +- %.2g at t = %g s\n", r->spectral_radius,
              r->spectral_radius_error, r->time);
    if (isfinite(r->tracked_growth))
        print_out("  growth in the run %.9g per step\n", r->tracked_growth);
    if (isfinite(r->tracked_growth) && r->tracked_growth <= 1 &&
        r->spectral_radius - r->spectral_radius_error > 1)
        print_out(
            "                    the linearization grows at this instant, the run does not%s\n",
            info->has_impacts ? ": its contacts change" : "");

    if (r->rate_count > 1 || *r->reference) {
        print_out("  growth per second");
        for (int i = 0; i < r->rate_count; i++)
            print_out("%s %.4g (h = %.3g s)", i ? "," : "", r->rates[i].rate, r->rates[i].step);
        if (*r->reference)
            print_out("%s %s reference: %.4g (h = %.3g s)", r->rate_count > 0 ? ";" : "",
                      r->reference, r->reference_rate.rate, r->reference_rate.step);
        print_out("\n");
    }

    if (r->sample_count > 1) {
        print_out("  states           ");
        for (int i = 0; i < r->sample_count; i++)
            print_out("%s radius %.9g at t = %g s", i ? "," : "", r->samples[i].radius,
                      r->samples[i].time);
        print_out("\n");
    }

    if (r->steps_not_converged > 0)
        print_out(
            "  not converged     %lld macro steps; the result is that of the steps as they are\n",
            (long long)r->steps_not_converged);
}

static void print_mode(const yk_scenario_info *info, const yk_stability_mode *m, const char *title)
{
    print_out("  %-17s %.5g Hz, growth %.9g per step", title, m->frequency, m->growth);
    if (m->interface.index >= 0)
        print_out(", interface '%s'", info->interfaces[m->interface.index].name);
    if (*m->moving_bodies)
        print_out(", mostly %s", m->moving_bodies);
    if (m->subsystem.index >= 0)
        print_out(" (%.0f %% of the kinetic energy in '%s')", 100 * m->kinetic_fraction,
                  info->subsystem_names[m->subsystem.index]);
    print_out("\n");
}

/* Options that were tried and work. */
static void print_fixes(const yk_stability_report *r)
{
    const char *lead = "\nFix:";
    if (isfinite(r->stable_step)) {
        print_styled(stdout, STYLE_GOOD, "%s", lead);
        print_out(" --set time.step=%g", r->stable_step);
        print_styled(stdout, STYLE_DIM, "  (verified: stable with this step)\n");
        lead = "    ";
    }

    if (*r->remedy) {
        print_styled(stdout, STYLE_GOOD, "%s", lead);
        for (const char *line = r->remedy; *line;) {
            int length = (int)strcspn(line, "\n");
            print_out(" --set %.*s", length, line);
            line += length + (line[length] == '\n');
        }
        print_styled(stdout, STYLE_DIM, "  (verified: spectral radius %.9g)\n", r->remedy_radius);
    }
}

static void write_json(const yk_scenario_info *info, const yk_stability_report *r)
{
    static const char *const verdicts[] = {
        [YK_VERDICT_STABLE] = "stable",
        [YK_VERDICT_UNSTABLE_MOTION] = "unstable_motion",
        [YK_VERDICT_UNSTABLE_COUPLING] = "unstable_coupling",
        [YK_VERDICT_COUPLING_BREAKDOWN] = "coupling_breakdown",
        [YK_VERDICT_UNSTABLE_SOLVER] = "unstable_solver",
        [YK_VERDICT_UNDECIDED] = "undecided",
    };

    json_writer json = json_begin(stdout);
    json_text(&json, "scenario", info->path);
    json_text(&json, "verdict", verdicts[r->verdict]);
    json_text(&json, "reason", r->reason);
    json_number(&json, "time", r->time);
    json_number(&json, "spectral_radius", r->spectral_radius);
    json_number(&json, "spectral_radius_error", r->spectral_radius_error);
    json_number(&json, "tracked_growth", r->tracked_growth);
    json_number(&json, "coupling_growth", r->coupling_growth);
    json_bool(&json, "unstable_at_every_step", r->unstable_at_every_step);
    json_number(&json, "stable_step", r->stable_step);
    json_text(&json, "reference", r->reference);

    json_open_array(&json, "rates");
    for (int i = 0; i < r->rate_count; i++) {
        json_open_object(&json, NULL);
        json_number(&json, "step", r->rates[i].step);
        json_number(&json, "rate", r->rates[i].rate);
        json_number(&json, "error", r->rates[i].error);
        json_close(&json);
    }
    json_close(&json);

    json_open_array(&json, "modes");
    for (int i = 0; i < r->mode_count; i++) {
        const yk_stability_mode *m = &r->modes[i];
        json_open_object(&json, NULL);
        json_bool(&json, "critical", i == r->critical_mode);
        json_number(&json, "real", m->real);
        json_number(&json, "imaginary", m->imaginary);
        json_number(&json, "growth", m->growth);
        json_number(&json, "error", m->error);
        json_number(&json, "rate", m->rate);
        json_number(&json, "frequency", m->frequency);
        json_text(&json, "interface",
                  m->interface.index >= 0 ? info->interfaces[m->interface.index].name : NULL);
        json_text(&json, "subsystem",
                  m->subsystem.index >= 0 ? info->subsystem_names[m->subsystem.index] : NULL);
        json_number(&json, "kinetic_fraction", m->kinetic_fraction);
        json_text(&json, "moving_bodies", m->moving_bodies);
        json_close(&json);
    }
    json_close(&json);

    /* One override per line of the remedy. */
    json_open_array(&json, "remedy");
    for (const char *line = r->remedy; *line;) {
        char text[sizeof r->remedy];
        size_t length = strcspn(line, "\n");
        snprintf(text, sizeof text, "%.*s", (int)length, line);
        json_text(&json, NULL, text);
        line += length + (line[length] == '\n');
    }
    json_close(&json);
    json_number(&json, "remedy_radius", *r->remedy ? r->remedy_radius : NAN);
    json_end(&json);
}

static int look_at(const request *q)
{
    loaded l;
    if (!load_scenario(q->path, &q->sets, LOAD_TO_DIFFERENCE, &l))
        return l.code;

    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
    yk_stability_options def = q->def;
    if (!q->quiet)
        def.progress = show_doing;

    /* This takes time: the state is reached, and step after step repeated from it. */
    yk_stability_report report;
    const yk_stability_report *r = &report;
    yk_status status = yk_analyze_stability(l.context, l.scenario, &def, &report);
    clear_progress();

    /* A state that the scenario does not reach is a mistake of the command. */
    if (YK_FAILED(status)) {
        int code = print_failure(l.context);
        if (status == YK_ERROR_ARGUMENT)
            code = EXIT_MISUSE;
        close_scenario(&l);
        return code;
    }

    /* Scripts see an unstable coupling by the exit code. */
    int code = EXIT_GOOD;
    if (yk_verdict_is_unstable(r->verdict))
        code = EXIT_UNTRUSTED;

    if (q->json) {
        write_json(info, r);
        close_scenario(&l);
        return code;
    }

    print_verdict(info, r);
    if (q->quiet) {
        close_scenario(&l);
        return code;
    }

    print_explanation(info, r);
    print_numbers(info, r);
    for (int i = 0; i < r->mode_count; i++)
        if (q->all || i == r->critical_mode)
            print_mode(info, &r->modes[i], i == r->critical_mode ? "critical mode" : "mode");
    if (r->mode_count > 0 && q->all)
        print_out(
            "  method            %zu state variables, %lld macro steps, residual %.1g, Krylov "
            "dimension %d\n",
            r->state_size, (long long)r->step_count, r->residual, r->krylov_dimension);
    print_fixes(r);

    close_scenario(&l);
    return code;
}

/* Maps ----------------------------------------------------------------------------------------- */

/* "rho-inf=0:1:51", optionally ":log"; the name goes to `name`, to which the axis then points.
 * False after a message. */
static bool map_axis_read(const char *text, yk_map_axis *axis, char *name, size_t capacity)
{
    /* NAME=FIRST:LAST:COUNT, and :log behind it for equal ratios. */
    *axis = (yk_map_axis){0};
    const char *equals = strchr(text, '=');
    bool good = equals && (size_t)(equals - text) < capacity && read_range(equals + 1, axis);

    /* Options that cannot be an axis. */
    bool finite = isfinite(axis->first) && isfinite(axis->last);
    if (!good || !finite || axis->count < 1 || axis->count > 10000) {
        print_err("yoke: --map '%s': write parameter=first:last:count, such as "
                  "time.step=1e-4:1e-2:21 (or ...:21:log)\n",
                  text);
        return false;
    }

    if (axis->is_logarithmic && !(axis->first > 0 && axis->last > 0)) {
        print_err("yoke: --map '%s': it is spaced by ratios, so its ends must be positive\n", text);
        return false;
    }

    snprintf(name, capacity, "%.*s", (int)(equals - text), text);
    axis->parameter = name;
    return true;
}

/* Writes the map, if a file was asked for, prints the stable fraction and draws the picture.
 * Returns the exit code. */
static int map_report(yk_context *context, const request *q, const char *title,
                      const yk_map_axis *x, const yk_map_axis *y, const double *radii)
{
    /* The map as a table. */
    if (q->output) {
        yk_output table = yk_output_open(q->output);
        FILE *out = table.stream;
        if (out)
            fprintf(out, "%s,%s,spectral_radius,stable\n", x->parameter, y->parameter);

        for (int i = 0; out && i < x->count; i++) {
            for (int j = 0; j < y->count; j++) {
                double radius = radii[(size_t)j * (size_t)x->count + (size_t)i];
                const char *stable = radius <= YK_SPECTRAL_RADIUS_LIMIT ? "1" : "0";
                if (isnan(radius))
                    stable = "";
                fprintf(out, "%.17g,%.17g,%.17g,%s\n", yk_map_axis_value(x, i),
                        yk_map_axis_value(y, j), radius, stable);
            }
        }

        if (!close_written(&table, q->output))
            return EXIT_FAILED;
    }

    /* The map in one number, and as a picture. */
    size_t count = (size_t)x->count * (size_t)y->count;
    size_t undecided = 0;
    for (size_t i = 0; i < count; i++)
        undecided += isnan(radii[i]);
    print_out("stable fraction %.4f\n", yk_stable_fraction(radii, count));
    if (undecided > 0)
        print_out("undecided fraction %.4f\n", (double)undecided / (double)count);
    if (!q->plot)
        return EXIT_GOOD;
    if (picture_map(context, q->plot, title, x, y, radii) != YK_OK)
        return print_failure(context);

    print_picture(q->plot);
    return EXIT_GOOD;
}

/* A map is a sweep of the growth by the coupling. The axis that varies last is the fast one: rows
 * of y, columns of x. */
static int map_scenario(const request *q)
{
    const option_list *maps = &q->maps;
    /* Both axes as options give them. */
    yk_map_axis x;
    yk_map_axis y;
    char names[2][MAP_NAME_MAX];
    if (!map_axis_read(maps->items[0], &x, names[0], sizeof names[0]) ||
        !map_axis_read(maps->items[1], &y, names[1], sizeof names[1]))
        return EXIT_MISUSE;

    yk_context *context = open_context();
    if (!context)
        return EXIT_FAILED;

    /* One state of each run, and only its growth. */
    static const char *const measures[] = {"coupling"};
    yk_stability_options stability = q->def;
    stability.sample_count = 1;
    stability.find_remedies = false;

    yk_sweep_axis axes[2] = {{0}};
    yk_sweep_options def = {
        .scenario = scenario_def(q->path, &q->sets),
        .axes = axes,
        .axis_count = 2,
        .measures = measures,
        .measure_count = 1,
        .stability = &stability,
        .jobs = q->jobs,
        .journal = q->journal,
        .team = ranks_team(q->deadline),
        .progress = show_count,
        .user = noun,
    };

    /* Every point is a run of its own; a journal lets them be taken up again. */
    char *texts[2] = {NULL, NULL};
    axes[0] = (yk_sweep_axis){y.parameter, spell_range(&y, &texts[0]), y.count};
    axes[1] = (yk_sweep_axis){x.parameter, spell_range(&x, &texts[1]), x.count};
    double *radii = malloc((size_t)x.count * (size_t)y.count * sizeof *radii);
    yk_diagnostics *diagnostics = NULL;
    yk_status status = YK_ERROR_MEMORY;
    if (axes[0].values && axes[1].values && radii)
        status = yk_diagnostics_create(context, &diagnostics);

    catch_interrupts();
    if (status == YK_OK)
        status = yk_sweep(context, &def, diagnostics, radii);

    /* Rank 0 alone reports; the others have made their part of the runs. */
    int code;
    bool shown = diagnostics && (YK_FAILED(status) || ranks_own() == 0);
    if (shown && print_diagnostics(diagnostics)) {
        code = EXIT_MISUSE;
    } else if (status != YK_OK) {
        code = print_failure(context);
    } else if (ranks_own() > 0) {
        code = EXIT_GOOD;
    } else {
        char title[256];
        snprintf(title, sizeof title, "growth by the coupling per macro step, %s", q->path);
        code = map_report(context, q, title, &x, &y, radii);
    }

    if (status == YK_INTERRUPTED && q->journal)
        print_err("yoke: the same command takes it up again\n");

    for (int i = 0; i < 2; i++) {
        free((void *)(uintptr_t)axes[i].values);
        free(texts[i]);
    }
    yk_diagnostics_destroy(diagnostics);
    free(radii);
    yk_context_destroy(context);
    return code;
}

/* Two masses ----------------------------------------------------------------------------------- */

/* Sets an option, where it was given or the scheme has it. */
static bool set_option(yk_context *context, request *q, const char *key, const char *given,
                       const char *usual)
{
    const yk_scheme_ops *scheme = q->model.scheme.ops;
    const yk_option *row = yk_scheme_find_option(scheme, key);
    if (!given && (!row || !usual))
        return true;

    /* A word that is not known is refused with the nearest one. */
    const char *words[16] = {NULL};
    for (int i = 0; row && row->choices && row->choices[i].name && i < 15; i++)
        words[i] = row->choices[i].name;

    int index;
    if (given && words[0] && !strchr(given, ',') && !options_pick(key, given, words, &index))
        return false;

    const char *value = given ? given : usual;
    if (yk_scheme_set_option(context, scheme, q->options, key, value) == YK_OK)
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

    print_err("yoke: --%s is %g, must lie between %g and %g\n", name, value, low, high);
    return false;
}

static void show_map(void *user, double fraction)
{
    (void)user;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\rmap %3.0f %%%s", 100 * fraction, fraction >= 1 ? "\n" : "");
}

static int run_two_mass(request *q)
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
    yk_scheme_set_defaults(scheme, q->options);
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

    /* Schemes that repeat steps need no modified inputs. */
    const char *inputs = "index-1";
    if (yk_scheme_traits(&q->model.scheme) & YK_SCHEME_ITERATES)
        inputs = "none";

    bool good = set_option(context, q, "sequence", q->order, "gauss-seidel") &&
                set_option(context, q, "exchange", q->exchange, "force-motion") &&
                set_option(context, q, "modified_inputs", q->inputs, inputs) &&
                set_option(context, q, "motion_extrapolation", q->extrapolation, NULL) &&
                set_option(context, q, "acceleration", q->acceleration, acceleration) &&
                set_option(context, q, "max_iterations", NULL, iterations) &&
                set_option(context, q, "absolute_tolerance", NULL, absolute) &&
                set_option(context, q, "relative_tolerance", NULL, relative);

    /* "two-step,exact": the integrators of both masses. */
    static const char *const words[] = {"two-step", "semi-implicit", "exact", NULL};
    const char *integrators = q->integrators ? q->integrators : "two-step,semi-implicit";

    char integrator[2][32];
    char rest;
    if (good &&
        sscanf(integrators, "%31[^,],%31[^,]%c", integrator[0], integrator[1], &rest) != 2) {
        print_err("yoke: --integrators '%s': name two, such as two-step,semi-implicit\n",
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
    for (const char *const *name = yk_two_mass_parameter_names(); good && *name; name++)
        good = check_parameter(*name, *yk_two_mass_find_parameter(&q->model, *name));

    /* The two axes of a map, if there is one. */
    const option_list *maps = &q->maps;
    for (int i = 0; good && i < maps->count; i++) {
        good = map_axis_read(maps->items[i], &axes[i], names[i], MAP_NAME_MAX) &&
               options_pick("map", names[i], yk_two_mass_parameter_names(), &index) &&
               check_parameter(names[i], axes[i].first) && check_parameter(names[i], axes[i].last);
    }

    if (good && maps->count == 2 && strcmp(names[0], names[1]) == 0) {
        print_err("yoke: both axes of the map are %s\n", names[0]);
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
            print_err("yoke: out of memory for a map of %zu points\n", count);
        } else if (yk_two_mass_map(context, &q->model, x, y, radii, show_map, NULL) != YK_OK) {
            code = print_failure(context);
        } else {
            char title[160];
            int length = snprintf(title, sizeof title, "spectral radius of scheme %s", q->scheme);
            if (yk_scheme_find_option(q->model.scheme.ops, "modified_inputs"))
                snprintf(title + length, sizeof title - (size_t)length, ", inputs %s",
                         q->inputs ? q->inputs : inputs);

            code = map_report(context, q, title, x, y, radii);
        }
        free(radii);
    } else if (good && yk_two_mass_radius(context, &q->model, &radius) != YK_OK) {
        print_failure(context);
    } else if (good) {
        print_out("spectral radius %.12g\n", radius);
        if (radius <= YK_SPECTRAL_RADIUS_LIMIT)
            print_out("stable\n");
        else
            print_out("unstable: errors grow with every macro step\n");
        code = EXIT_GOOD;
    }

    yk_context_destroy(context);
    return code;
}

int command_stability(int argc, char **argv)
{
    request q = {
        .def = yk_stability_options_default(),
        .deadline = RANKS_DEADLINE,
        .model = yk_two_mass_default(),
        .iterations = -1,
    };

    q.def.sample_count = YK_STABILITY_SAMPLES_MAX;
    q.def.find_remedies = true;

    /* The values before the options are read, to see which of them were given. */
    yk_two_mass_model *m = &q.model;
    yk_two_mass_model untouched;
    memcpy(&untouched, m, sizeof untouched);

    const option_row rows[] = {
        SET_ROW(&q.sets),
        {"at", OPTION_NUMBER, &q.def.time, "SECONDS",
         "Linearize at this time (default: after --settle-steps)"},
        {"settle-steps", OPTION_COUNT, &q.def.settle_steps, "N",
         "Take N macro steps first (default: 20)"},
        {"equilibrium", OPTION_FLAG, &q.def.find_equilibrium, NULL,
         "Find a nearby equilibrium first"},
        {"track-steps", OPTION_COUNT, &q.def.track_steps, "N",
         "Verify the growth along N macro steps of the run (default: 80)"},
        {"samples", OPTION_COUNT, &q.def.sample_count, "N",
         "Analyze N states along the run, 1 to 3 (default: 3)"},
        {"cpu-time", OPTION_NUMBER, &q.def.cpu_time_budget, "SECONDS",
         "Limit the processor time, approximately (default: 60)"},
        {"all-modes", OPTION_FLAG, &q.all, NULL, "Print all modes that were computed"},
        {"quiet", OPTION_FLAG, &q.quiet, NULL, "Print the verdict only"},
        JSON_ROW(&q.json),
        {"map", OPTION_LIST, &q.maps, "PATH=FIRST:LAST:N[:log]",
         "Vary a value; give the option twice for a map"},
        {"jobs", OPTION_COUNT, &q.jobs, "N",
         "Compute N points in parallel (default: one per core)"},
        {"timeout", OPTION_NUMBER, &q.deadline, "SECONDS", RANKS_DEADLINE_TEXT},
        {"journal", OPTION_TEXT, &q.journal, "FILE",
         "Keep finished points in FILE, so that the command can be repeated after a stop"},
        {"output", OPTION_TEXT, &q.output, "FILE", "Write the map as CSV"},
        {"plot", OPTION_TEXT, &q.plot, "BASE",
         "Draw the map as BASE.svg, or as the .svg, .png or .pdf file of this name"},
        {"scheme", OPTION_TEXT, &q.scheme, "NAME",
         "Two masses: explicit, tight, loose or monolithic (default: explicit)"},
        {"sequence", OPTION_TEXT, &q.order, "NAME",
         "Two masses, explicit or tight: gauss-seidel or jacobi (default: gauss-seidel)"},
        {"exchange", OPTION_TEXT, &q.exchange, "NAME",
         "Two masses, explicit or loose: motion or forces (default: motion)"},
        {"modified-inputs", OPTION_TEXT, &q.inputs, "NAME",
         "Two masses, explicit or tight: none, index-1, index-2, index-3, or "
         "alpha*h^2,beta*h,gamma (default: index-1; tight: none)"},
        {"extrapolation", OPTION_TEXT, &q.extrapolation, "NAME",
         "Two masses, explicit or loose: solver, constant, linear, quadratic or hermite (default: "
         "solver)"},
        {"iterations", OPTION_NUMBER, &q.iterations, "N",
         "Two masses, tight: repeat exactly N times (default: until converged)"},
        {"acceleration", OPTION_TEXT, &q.acceleration, "NAME",
         "Two masses, tight: none, aitken or quasi-newton (default: quasi-newton)"},
        {"integrators", OPTION_TEXT, &q.integrators, "A,B",
         "Two masses: two-step, semi-implicit or exact (default: two-step,semi-implicit)"},
        {"rho-inf", OPTION_NUMBER, &m->rho_inf, "R",
         "Spectral radius of the two-step method at infinite frequency (default: 0.6)"},
        {"omega-h", OPTION_NUMBER, &m->omega_h, "W",
         "Frequency of mass 1 alone (rad/s) times the macro step (s) (default: 0.1)"},
        {"mass-ratio", OPTION_NUMBER, &m->mass_ratio, "R", "m2/m1 (default: 1)"},
        {"frequency-ratio", OPTION_NUMBER, &m->frequency_ratio, "R", "omega2/omega1 (default: 0)"},
        {"damping", OPTION_NUMBER, &m->damping, "X", "Damping ratio of mass 1 (default: 0)"},
        {"damping-ratio", OPTION_NUMBER, &m->damping_ratio, "R",
         "Damping ratio of mass 2 divided by that of mass 1 (default: 0)"},
        RENAMED_ROW("deadline", "timeout"),
        RENAMED_ROW("seconds", "cpu-time"),
        RENAMED_ROW("rest", "equilibrium"),
        RENAMED_ROW("all", "all-modes"),
        RENAMED_ROW("settle", "settle-steps"),
        RENAMED_ROW("track", "track-steps"),
        RENAMED_ROW("inputs", "modified-inputs"),
        RENAMED_ROW("order", "sequence"),
        {.kind = OPTION_END},
    };

    int parsed = options_parse(usage, rows, argc, argv, &q.path, 0, 1);
    if (parsed < 0)
        return options_exit(parsed);
    if (!picture_is_named("--plot", q.plot))
        return EXIT_MISUSE;

    /* Only maps of scenarios are shared. */
    if (ranks_own() > 0 && (!q.path || q.maps.count == 0))
        return EXIT_GOOD;

    if (q.maps.count != 0 && q.maps.count != 2) {
        print_err("yoke: a map needs --map twice, once for each axis\n");
        return EXIT_MISUSE;
    }

    if (q.maps.count == 0 && (q.output || q.plot)) {
        print_err("yoke: -o and --plot write maps; add --map twice\n");
        return EXIT_MISUSE;
    }

    if (q.json && (!q.path || q.maps.count > 0)) {
        print_err("yoke: --json is for a scenario without --map; -o writes maps as CSV\n");
        return EXIT_MISUSE;
    }

    /* Without a scenario the question is about the test equation. */
    if (!q.path)
        return run_two_mass(&q);

    /* A scenario: what belongs to the two masses is refused. */
    bool words = q.scheme || q.order || q.exchange || q.inputs || q.extrapolation;
    bool methods = q.acceleration || q.integrators || q.iterations >= 0;
    bool numbers = memcmp(m, &untouched, sizeof untouched) != 0;
    if (words || methods || numbers) {
        print_err("yoke: the options of the two-mass oscillator do not go with a scenario; "
                  "use --set, such as --set coupling.scheme=tight\n");
        return EXIT_MISUSE;
    }

    /* A map over two values, or one state. */
    if (q.maps.count > 0)
        return map_scenario(&q);

    return look_at(&q);
}
