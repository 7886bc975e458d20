/* yoke stability: whether the coupling of a scenario is stable, at a state of its run or as a map
 * over two of its values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "pictures.h"
#include "progress.h"
#include "scenario.h"
#include "two_mass.h"
#include "yoke/analysis.h"

static char noun[] = "point"; /* that progress counts */

static const char usage[] =
    "stability SCENARIO [--set PATH=VALUE ...] [--at T] [--rest]\n"
    "       yoke stability SCENARIO --map PATH=FIRST:LAST:N --map PATH=FIRST:LAST:N -o map.csv "
    "[--plot map]\n"
    "       yoke stability [--scheme S] [--inputs I] [--rho-inf R] [--omega-h W] ... [--map "
    "...]\n\n"
    "The macro step of the scenario as it runs is differentiated about states of the run. An "
    "eigenvalue above 1 is a\n"
    "deviation that grows with every step. Whether the coupling or the motion itself makes it grow "
    "is found by "
    "comparison\n"
    "with smaller steps and with a reference; for a coupling that is unstable, steps and schemes "
    "that are not are "
    "looked\n"
    "for. Without a scenario: two masses joined rigidly, the test equation of coupling; mass 1 "
    "takes the force, mass 2 "
    "the\n"
    "motion. Exit codes: 0 stable or undecided, 3 unstable, 1 the work failed, 2 wrong input.";

typedef struct request {
    const char *path;
    option_list sets;
    yk_stability_def def;
    bool all, quiet;
    int jobs;
    const char *journal;
    two_mass_request oscillator; /* also holds --map, -o and --plot */
} request;

/* One state ------------------------------------------------------------------------------------ */

static void show_doing(void *user, const char *what)
{
    (void)user;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[Klooking at %s", what);
}

static void end_doing(void)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
}

static void print_mode(const yk_scenario_info *info, const yk_stability_mode *m)
{
    printf("  %.9g per step (error %.1g), %.4g per second, %.5g Hz\n", m->growth, m->error, m->rate,
           m->frequency);
    if (m->interface >= 0)
        printf("    at interface '%s'\n", info->interfaces[m->interface].name);
    if (*m->moving)
        printf("    moving: %s", m->moving);
    if (m->subsystem >= 0)
        printf("%s%.0f %% of the motion's energy in '%s'", *m->moving ? "; " : "    ",
               100 * m->moving_fraction, info->names[m->subsystem]);
    if (*m->moving || m->subsystem >= 0)
        printf("\n");
}

/* The cause, in one line that can be read alone. */
static void print_verdict(const yk_scenario_info *info, const yk_stability_report *r)
{
    switch (r->verdict) {
    case YK_VERDICT_STABLE:
        printf("stable: deviations do not grow from step to step");
        if (r->rate_count && r->rates[0].rate > r->rates[0].error && r->radius - r->error > 1)
            printf(
                ", or by so little that a deviation is %.3g times as large at the end of the run",
                exp(r->rates[0].rate * (info->end - info->start)));
        printf("\n");
        break;
    case YK_VERDICT_MODEL:
        printf("stable coupling: the motion itself is unstable or chaotic. Deviations grow by %.4g "
               "1/s",
               r->rates[0].rate);
        if (*r->reference)
            printf(", and by %.4g 1/s with the reference (%s, steps of %g s)",
                   r->reference_rate.rate, r->reference, r->reference_rate.step);
        printf("\n");
        break;
    case YK_VERDICT_COUPLING:
        printf("UNSTABLE coupling");
        if (r->mode_count && r->modes[r->mode].interface >= 0)
            printf(" at interface '%s'", info->interfaces[r->modes[r->mode].interface].name);
        printf(": a deviation grows by a factor of %.9g in every macro step", r->coupling);
        printf(r->every_step ? ", and by about as much in smaller ones\n" : " of %g s\n",
               info->step);
        break;
    case YK_VERDICT_SOLVER:
        printf("UNSTABLE solver of subsystem '%s': alone it grows too in steps of %g s; a "
               "deviation grows by a factor of "
               "%.9g in every macro step\n",
               info->names[r->solver], info->step, r->coupling);
        break;
    case YK_VERDICT_FAILED:
        printf("UNSTABLE coupling: the run breaks down %g s after its start, and with the "
               "reference (%s) it does not\n",
               r->time - info->start, r->reference);
        printf("  %s\n", r->reason);
        break;
    case YK_VERDICT_UNDECIDED: printf("UNDECIDED: %s\n", r->reason); break;
    }
}

static void print_rates(const yk_stability_report *r)
{
    if (r->rate_count > 1 || *r->reference) {
        printf("growth per second:");
        for (int i = 0; i < r->rate_count; i++)
            printf("%s %.4g (error %.1g) in steps of %g s", i ? "," : "", r->rates[i].rate,
                   r->rates[i].error, r->rates[i].step);
        printf("\n");
    }
    if (*r->reference)
        printf("  of the reference, %s: %.4g (error %.1g) in steps of %g s: that is the motion's\n",
               r->reference, r->reference_rate.rate, r->reference_rate.error,
               r->reference_rate.step);
}

/* What was tried and works, as it can be pasted. */
static void print_remedies(const char *path, const option_list *sets, const yk_stability_report *r)
{
    if (isfinite(r->stable_step))
        printf("stable from steps of %g s on: --set time.step=%g\n", r->stable_step,
               r->stable_step);
    if (*r->remedy) {
        printf("stable at this step (%.9g per step):\n  yoke stability %s", r->remedy_radius, path);
        for (int i = 0; i < sets->count; i++)
            printf(" --set '%s'", sets->items[i]);
        const char *at = r->remedy;
        while (*at) {
            int length = (int)strcspn(at, "\n");
            printf(" --set '%.*s'", length, at);
            at += length + (at[length] == '\n');
        }
        printf("\n");
    }
}

static void print_report(const request *asked, const yk_scenario_info *info,
                         const yk_stability_report *r)
{
    bool all = asked->all;
    print_verdict(info, r);

    printf("spectral radius %.12g, error %.2g, at t = %g s\n", r->radius, r->error, r->time);
    if (isfinite(r->tracked))
        printf("growth along the run %.9g per step\n", r->tracked);
    if (isfinite(r->tracked) && r->tracked <= 1 && r->radius - r->error > 1)
        printf("(the derivative at this instant grows, the run does not: its contacts change)\n");
    print_rates(r);
    for (int i = 0; r->sample_count > 1 && i < r->sample_count; i++)
        printf("%s radius %.9g at t = %g s%s", i ? "," : "states:", r->samples[i].radius,
               r->samples[i].time, i == r->sample_count - 1 ? "\n" : "");
    if (r->unconverged)
        printf("%lld macro steps did not converge: what is told is of the steps as they are\n",
               (long long)r->unconverged);

    if (r->mode_count)
        printf("%s\n", all ? "modes, the least stable first:" : "least stable mode:");
    int first = all ? 0 : r->mode, last = all ? r->mode_count - 1 : r->mode;
    for (int i = first; r->mode_count && i <= last; i++)
        print_mode(info, &r->modes[i]);
    if (r->mode_count)
        printf("(%zu words of state, %lld macro steps, residual %.1g in a space of %d)\n", r->words,
               (long long)r->steps, r->residual, r->dimension);
    print_remedies(asked->path, &asked->sets, r);
}

static int look_at(const request *r)
{
    loaded l;
    if (!load_scenario_as(r->path, &r->sets, true, &l))
        return EXIT_MISUSE;
    yk_stability_def def = r->def;
    def.progress = r->quiet ? NULL : show_doing;

    yk_stability_report report;
    yk_status status = yk_stability(l.context, l.scenario, &def, &report);
    end_doing();
    int code = EXIT_GOOD;
    if (status < 0) {
        code = print_failure(l.context);
        if (status == YK_ERROR_ARGUMENT)
            code = EXIT_MISUSE;
    } else if (yk_verdict_unstable(report.verdict)) {
        code = EXIT_UNTRUSTED;
    }
    if (status >= 0 && r->quiet)
        print_verdict(yk_scenario_get(l.scenario), &report);
    else if (status >= 0)
        print_report(r, yk_scenario_get(l.scenario), &report);
    close_scenario(&l);
    return code;
}

/* Maps ----------------------------------------------------------------------------------------- */

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

static int draw(yk_context *context, const request *r, const yk_map_axis *x, const yk_map_axis *y,
                const double *radii)
{
    size_t count = (size_t)x->count * (size_t)y->count;
    const two_mass_request *o = &r->oscillator;
    if (o->output && !map_write(o->output, x, y, radii))
        return EXIT_FAILED;
    printf("stable fraction %.4f\n", yk_stable_fraction(radii, count));
    if (!o->plot)
        return EXIT_GOOD;
    char title[256];
    snprintf(title, sizeof title, "growth by the coupling per macro step, %s", r->path);
    if (picture_map(context, o->plot, title, x, y, radii) < 0)
        return print_failure(context);
    printf("picture %s.svg, %s.png\n", o->plot, o->plot);
    return EXIT_GOOD;
}

static int make_map(const request *r, const yk_map_axis *x, const yk_map_axis *y,
                    const yk_sweep_axis *axes)
{
    static const char *const measures[] = {"coupling"};
    yk_stability_def stability = r->def;
    stability.samples = 1;
    stability.remedies = false;
    yk_sweep_def def = {.axes = axes,
                        .axis_count = 2,
                        .measures = measures,
                        .measure_count = 1,
                        .stability = &stability,
                        .jobs = r->jobs,
                        .journal = r->journal,
                        .progress = show_count,
                        .user = noun};
    def.scenario = scenario_def(r->path, &r->sets);
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
        if (status == YK_INTERRUPTED && r->journal)
            fprintf(stderr, "yoke: the same command takes it up again\n");
    }
    yk_diagnostics_destroy(diagnostics);
    free(radii);
    if (context)
        yk_context_destroy(context);
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
        if (!map_axis_read(o->maps.items[i], &axes[i], names[i], sizeof names[i]))
            return EXIT_MISUSE;
    yk_sweep_axis spelled[2] = {{0}};
    bool good = spell_axis(&axes[1], &spelled[0], &texts[0]) &&
                spell_axis(&axes[0], &spelled[1], &texts[1]);
    int code = good ? make_map(r, &axes[0], &axes[1], spelled) : EXIT_FAILED;
    for (int i = 0; i < 2; i++) {
        free((void *)(uintptr_t)spelled[i].values);
        free(texts[i]);
    }
    return code;
}

/* The command ---------------------------------------------------------------------------------- */

static int run_request(request *r, const yk_two_mass *untouched)
{
    const two_mass_request *o = &r->oscillator;
    bool oscillator = o->scheme || o->order || o->exchange || o->inputs || o->acceleration ||
                      o->integrators || o->iterations >= 0 ||
                      memcmp(&o->model, untouched, sizeof *untouched) != 0;
    if (r->path && oscillator) {
        fprintf(stderr, "yoke: the options of the two-mass oscillator do not go with a scenario; "
                        "use --set, such as --set "
                        "coupling.inputs=index-1\n");
        return EXIT_MISUSE;
    }
    if (r->path && o->maps.count)
        return map_scenario(r);
    if (r->path && (o->output || o->plot)) {
        fprintf(stderr, "yoke: -o and --plot write maps; add --map twice\n");
        return EXIT_MISUSE;
    }
    return r->path ? look_at(r) : two_mass_run(&r->oscillator);
}

int command_stability(int argc, char **argv)
{
    request r = {.def = yk_stability_default(),
                 .oscillator = {.model = yk_two_mass_default(), .iterations = -1}};
    r.def.samples = YK_STABILITY_SAMPLES;
    r.def.remedies = true;
    two_mass_request *o = &r.oscillator;
    yk_two_mass *m = &o->model, untouched;
    memcpy(&untouched, m, sizeof untouched);
    const option_row rows[] = {
        {"set", OPTION_LIST, &r.sets, "PATH=VALUE", "override a value of the scenario"},
        {"at", OPTION_NUMBER, &r.def.time, "T", "time of the state in s [after --settle]"},
        {"settle", OPTION_COUNT, &r.def.settle, "N", "macro steps before it [20]"},
        {"rest", OPTION_FLAG, &r.def.rest, NULL, "look for a state of rest near it first"},
        {"track", OPTION_COUNT, &r.def.track, "N",
         "macro steps over which the growth is checked in the run [40]"},
        {"samples", OPTION_COUNT, &r.def.samples, "N",
         "states along the run that are looked at without --at, 1 to 3 [3]"},
        {"seconds", OPTION_NUMBER, &r.def.seconds, "S",
         "time of the processor for all of it, roughly [60]"},
        {"all", OPTION_FLAG, &r.all, NULL, "print all modes that were found"},
        {"quiet", OPTION_FLAG, &r.quiet, NULL, "print the verdict alone"},
        {"map", OPTION_LIST, &o->maps, "P=FIRST:LAST:N",
         "vary a value; give it twice for the two axes; :log for ratios"},
        {"jobs", OPTION_COUNT, &r.jobs, "N", "points of a map at the same time [one per core]"},
        {"journal", OPTION_TEXT, &r.journal, "FILE",
         "keep finished points there; the same command then goes on after a stop"},
        {"o", OPTION_TEXT, &o->output, "FILE", "write the map as CSV"},
        {"plot", OPTION_TEXT, &o->plot, "BASE",
         "draw the map as BASE.svg and BASE.png (needs gnuplot)"},
        {"scheme", OPTION_TEXT, &o->scheme, "NAME",
         "two masses: explicit, tight, loose or monolithic [explicit]"},
        {"order", OPTION_TEXT, &o->order, "NAME",
         "two masses, explicit: gauss-seidel or jacobi [gauss-seidel]"},
        {"exchange", OPTION_TEXT, &o->exchange, "NAME",
         "two masses, explicit, loose: motion or forces [motion]"},
        {"inputs", OPTION_TEXT, &o->inputs, "NAME",
         "two masses, explicit: original, index-1, index-2, index-3, or alpha*h^2,beta*h,gamma "
         "[index-1]"},
        {"iterations", OPTION_NUMBER, &o->iterations, "N",
         "two masses, tight: exactly N repetitions [until converged]"},
        {"acceleration", OPTION_TEXT, &o->acceleration, "NAME",
         "two masses, tight: none, aitken or quasi-newton [quasi-newton]"},
        {"integrators", OPTION_TEXT, &o->integrators, "A,B",
         "two masses: two-step, semi-implicit or exact [two-step,semi-implicit]"},
        {"rho-inf", OPTION_NUMBER, &m->rho_inf, "R",
         "asymptotic spectral radius of the two-step method [0.6]"},
        {"omega-h", OPTION_NUMBER, &m->omega_h, "W",
         "frequency of mass 1 alone (rad/s) times the macro step (s) [0.1]"},
        {"mass-ratio", OPTION_NUMBER, &m->mass_ratio, "R", "m2/m1 [1]"},
        {"frequency-ratio", OPTION_NUMBER, &m->frequency_ratio, "R", "omega2/omega1 [0]"},
        {"damping", OPTION_NUMBER, &m->damping, "X", "damping ratio of mass 1 [0]"},
        {"damping-ratio", OPTION_NUMBER, &m->damping_ratio, "R",
         "damping ratio of mass 2 over that of mass 1 [0]"},
        {.kind = OPTION_END},
    };
    int parsed = options_parse(usage, rows, argc, argv, &r.path, 0, 1);
    if (parsed < 0)
        return options_exit(parsed);
    return run_request(&r, &untouched);
}
