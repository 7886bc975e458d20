/* yoke stability: whether the coupling of a scenario is stable, at a state of its run or as a map over two of its values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "progress.h"
#include "scenario.h"
#include "two_mass.h"
#include "yoke/analysis.h"

static char noun[] = "point"; /* that progress counts */

static const char usage[] =
    "stability SCENARIO [--set PATH=VALUE ...] [--at T] [--rest]\n"
    "       yoke stability SCENARIO --map PATH=FIRST:LAST:N --map PATH=FIRST:LAST:N -o map.csv [--plot map]\n"
    "       yoke stability [--scheme S] [--inputs I] [--rho-inf R] [--omega-h W] ... [--map ...]\n\n"
    "The macro step of the scenario as it runs is differentiated about a state of the run. An eigenvalue above 1 is a\n"
    "deviation that grows with every step; whether the coupling or the model itself feeds it is told. Without a\n"
    "scenario: two masses joined rigidly, the test equation of coupling; mass 1 takes the effort, mass 2 the motion.";

typedef struct request {
    const char *path;
    option_list sets;
    yk_stability_def def;
    bool all;
    int jobs;
    const char *journal;
    two_mass_request oscillator; /* also holds --map, -o and --plot */
} request;

/* One state -------------------------------------------------------------------------------------------------------- */

static void print_mode(const yk_scenario_info *info, const yk_stability_mode *m)
{
    printf("  %.9g per step (error %.1g), %.4g per second, %.5g Hz\n", m->growth, m->error, m->rate, m->frequency);
    if (m->interface >= 0) {
        printf("    at interface '%s', whose work on it is %.3g times its %s\n", info->interfaces[m->interface].name,
               fabs(m->fed), m->growth > 1 ? "growth" : "decay");
    }
    if (*m->moving) printf("    moving: %s", m->moving);
    if (m->subsystem >= 0)
        printf("%s%.0f %% of the motion's energy in '%s'", *m->moving ? "; " : "    ", 100 * m->moving_share,
               info->names[m->subsystem]);
    if (*m->moving || m->subsystem >= 0) printf("\n");
}

static void print_verdict(const yk_scenario_info *info, const yk_stability_report *r)
{
    static const char remedy[] =
        "Try a smaller time.step, other coupling.inputs or another coupling.scheme, or the light "
        "side of the interface second (`between`)";
    switch (r->verdict) {
    case YK_VERDICT_STABLE: printf("stable: deviations do not grow from step to step\n"); break;
    case YK_VERDICT_MODEL:
        printf("stable coupling; the motion itself is unstable or chaotic: deviations grow, but the interfaces do not "
               "feed "
               "them\n");
        break;
    case YK_VERDICT_COUPLING:
        printf("UNSTABLE: the coupling feeds a deviation that grows by a factor of %.9g in every macro step.\n%s\n",
               r->coupling, remedy);
        break;
    case YK_VERDICT_FAILED:
        printf("UNSTABLE: the run breaks down after %g s.\n%s\n", r->time - info->start, remedy);
        break;
    }
}

static void print_report(const yk_scenario_info *info, const yk_stability_report *r, bool all)
{
    printf("spectral radius %.12g, error %.2g, at t = %g s\n", r->radius, r->error, r->time);
    if (isfinite(r->tracked))
        printf(
            "growth along the run %.9g per step, in which the interfaces create %.3g of the work that they exchange\n",
            r->tracked, r->created);
    if (isfinite(r->tracked) && r->tracked <= 1 && r->radius - r->error > 1)
        printf("(the derivative at this instant grows, the run does not: its contacts change)\n");
    if (r->unconverged)
        printf("%lld of %lld macro steps did not converge: what is told is of the steps as they are\n",
               (long long)r->unconverged, (long long)r->steps);
    if (r->mode_count) printf("%s\n", all ? "modes, the least stable first:" : "least stable mode:");
    for (int i = 0; i < (all ? r->mode_count : 1) && r->mode_count; i++) print_mode(info, &r->modes[i]);
    if (r->mode_count)
        printf("(%zu words of state, %lld macro steps, residual %.1g in a space of %d)\n", r->words,
               (long long)r->steps, r->residual, r->dimension);
    print_verdict(info, r);
}

static int look_at(const request *r)
{
    loaded l;
    if (!load_scenario_as(r->path, &r->sets, true, &l)) return EXIT_MISUSE;
    yk_stability_report report;
    yk_status status = yk_stability(l.context, l.scenario, &r->def, &report);
    int code = EXIT_GOOD;
    if (status < 0) {
        code = print_failure(l.context);
        if (status == YK_ERROR_ARGUMENT) code = EXIT_MISUSE;
    } else {
        print_report(yk_scenario_get(l.scenario), &report, r->all);
    }
    if (status >= 0 && report.verdict == YK_VERDICT_FAILED) printf("(%s)\n", yk_last_message(l.context));
    close_scenario(&l);
    return code;
}

/* Maps ------------------------------------------------------------------------------------------------------------- */

enum { VALUE_WIDTH = 32 };

/* The values of an axis as they stand after `=` in an override. */
static bool spell_axis(const yk_map_axis *axis, yk_sweep_axis *out, char **text)
{
    const char **values = malloc((size_t)axis->count * sizeof *values);
    *text = malloc((size_t)axis->count * VALUE_WIDTH);
    for (int i = 0; values && *text && i < axis->count; i++) {
        values[i] = *text + (size_t)i * VALUE_WIDTH;
        snprintf(*text + (size_t)i * VALUE_WIDTH, VALUE_WIDTH, "%.15g", yk_map_axis_value(axis, i));
    }
    *out = (yk_sweep_axis){axis->parameter, values, axis->count};
    return values && *text;
}

static int draw(yk_context *context, const request *r, const yk_map_axis *x, const yk_map_axis *y, const double *radii)
{
    size_t count = (size_t)x->count * (size_t)y->count;
    const two_mass_request *o = &r->oscillator;
    if (o->output && !map_write(o->output, x, y, radii)) return EXIT_FAILED;
    printf("stable share %.4f\n", yk_stable_share(radii, count));
    if (!o->plot) return EXIT_GOOD;
    char title[256];
    snprintf(title, sizeof title, "growth by the coupling per macro step, %s", r->path);
    if (yk_plot_map(context, o->plot, title, x, y, radii) < 0) return print_failure(context);
    printf("picture %s.svg, %s.png\n", o->plot, o->plot);
    return EXIT_GOOD;
}

static int make_map(const request *r, const yk_map_axis *x, const yk_map_axis *y, const yk_sweep_axis *axes)
{
    static const char *const measures[] = {"coupling"};
    yk_sweep_def def = {.axes = axes,
                        .axis_count = 2,
                        .measures = measures,
                        .measure_count = 1,
                        .stability = &r->def,
                        .jobs = r->jobs,
                        .journal = r->journal,
                        .progress = show_count,
                        .user = noun};
    def.scenario = yk_scenario_default();
    def.scenario.path = r->path;
    def.scenario.overrides = r->sets.items, def.scenario.override_count = r->sets.count;
    yk_context *context = open_context();
    double *radii = malloc((size_t)x->count * (size_t)y->count * sizeof *radii);
    yk_diagnostics *diagnostics = NULL;
    int code = EXIT_FAILED;
    if (context && radii && yk_diagnostics_create(context, &diagnostics) >= 0) {
        catch_interrupts();
        /* The axis that varies last is the fast one: rows of y, columns of x. */
        yk_status status = yk_sweep(context, &def, diagnostics, radii);
        if (status < 0 && print_diagnostics(context, diagnostics))
            code = EXIT_MISUSE;
        else if (status != YK_OK)
            code = print_failure(context);
        else
            code = draw(context, r, x, y, radii);
        if (status == YK_INTERRUPTED && r->journal) fprintf(stderr, "yoke: the same command takes it up again\n");
    }
    yk_diagnostics_destroy(diagnostics);
    free(radii);
    if (context) yk_context_destroy(context);
    return code;
}

static int map_scenario(const request *r)
{
    const two_mass_request *o = &r->oscillator;
    yk_map_axis axes[2];
    char names[2][MAP_NAME_MAX], *texts[2] = {NULL, NULL};
    if (o->maps.count != 2) {
        fprintf(stderr, "yoke: a map needs --map twice, once for each axis\n");
        return EXIT_MISUSE;
    }
    for (int i = 0; i < 2; i++)
        if (!map_axis_read(o->maps.items[i], &axes[i], names[i], sizeof names[i])) return EXIT_MISUSE;
    yk_sweep_axis spelled[2] = {{0}};
    bool good = spell_axis(&axes[1], &spelled[0], &texts[0]) && spell_axis(&axes[0], &spelled[1], &texts[1]);
    int code = good ? make_map(r, &axes[0], &axes[1], spelled) : EXIT_FAILED;
    for (int i = 0; i < 2; i++) {
        free((void *)(uintptr_t)spelled[i].values);
        free(texts[i]);
    }
    return code;
}

/* The command ------------------------------------------------------------------------------------------------------ */

static int run_request(request *r, const yk_two_mass *untouched)
{
    const two_mass_request *o = &r->oscillator;
    bool oscillator = o->scheme || o->order || o->inputs || o->relaxation || o->integrators || o->iterations >= 0 ||
                      memcmp(&o->model, untouched, sizeof *untouched) != 0;
    if (r->path && oscillator) {
        fprintf(stderr,
                "yoke: the options of the two-mass oscillator do not go with a scenario; use --set, such as --set "
                "coupling.inputs=index-1\n");
        return EXIT_MISUSE;
    }
    if (r->path && o->maps.count) return map_scenario(r);
    if (r->path && (o->output || o->plot)) {
        fprintf(stderr, "yoke: -o and --plot write maps; add --map twice\n");
        return EXIT_MISUSE;
    }
    return r->path ? look_at(r) : two_mass_run(&r->oscillator);
}

int command_stability(int argc, char **argv)
{
    request r = {.def = yk_stability_default(), .oscillator = {.model = yk_two_mass_default(), .iterations = -1}};
    two_mass_request *o = &r.oscillator;
    yk_two_mass *m = &o->model, untouched;
    memcpy(&untouched, m, sizeof untouched);
    const option_row rows[] = {
        {"set", OPTION_LIST, &r.sets, "PATH=VALUE", "override a value of the scenario"},
        {"at", OPTION_NUMBER, &r.def.time, "T", "time of the state in s [after --settle]"},
        {"settle", OPTION_COUNT, &r.def.settle, "N", "macro steps before it [20]"},
        {"rest", OPTION_FLAG, &r.def.rest, NULL, "look for a state of rest near it first"},
        {"track", OPTION_COUNT, &r.def.track, "N", "macro steps over which the growth is checked in the run [40]"},
        {"all", OPTION_FLAG, &r.all, NULL, "print all modes that were found"},
        {"map", OPTION_LIST, &o->maps, "P=FIRST:LAST:N",
         "vary a value; give it twice for the two axes; :log for ratios"},
        {"jobs", OPTION_COUNT, &r.jobs, "N", "points of a map at the same time [one per core]"},
        {"journal", OPTION_TEXT, &r.journal, "FILE",
         "keep finished points there; the same command then goes on after a stop"},
        {"o", OPTION_TEXT, &o->output, "FILE", "write the map as CSV"},
        {"plot", OPTION_TEXT, &o->plot, "BASE", "draw the map as BASE.svg and BASE.png (needs gnuplot)"},
        {"scheme", OPTION_TEXT, &o->scheme, "NAME", "two masses: explicit, tight, loose or monolithic [explicit]"},
        {"order", OPTION_TEXT, &o->order, "NAME", "two masses, explicit: gauss-seidel or jacobi [gauss-seidel]"},
        {"inputs", OPTION_TEXT, &o->inputs, "NAME",
         "two masses, explicit: original, index-1, index-2, index-3, or alpha*h^2,beta*h,gamma [index-1]"},
        {"iterations", OPTION_NUMBER, &o->iterations, "N",
         "two masses, tight: exactly N repetitions [until converged]"},
        {"relaxation", OPTION_TEXT, &o->relaxation, "NAME",
         "two masses, tight: none, aitken or quasi-newton [quasi-newton]"},
        {"integrators", OPTION_TEXT, &o->integrators, "A,B",
         "two masses: two-step, semi-implicit or exact [two-step,semi-implicit]"},
        {"rho-inf", OPTION_NUMBER, &m->rho_inf, "R", "asymptotic spectral radius of the two-step method [0.6]"},
        {"omega-h", OPTION_NUMBER, &m->omega_h, "W",
         "frequency of mass 1 alone (rad/s) times the macro step (s) [0.1]"},
        {"mass-ratio", OPTION_NUMBER, &m->mass_ratio, "R", "m2/m1 [1]"},
        {"frequency-ratio", OPTION_NUMBER, &m->frequency_ratio, "R", "omega2/omega1 [0]"},
        {"damping", OPTION_NUMBER, &m->damping, "X", "damping ratio of mass 1 [0]"},
        {"damping-ratio", OPTION_NUMBER, &m->damping_ratio, "R", "damping ratio of mass 2 over that of mass 1 [0]"},
        {.kind = OPTION_END},
    };
    int parsed = options_parse(usage, rows, argc, argv, &r.path, 0, 1);
    if (parsed < 0) return options_exit(parsed);
    return run_request(&r, &untouched);
}
