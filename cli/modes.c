/* yoke modes: eigenfrequencies, damping, participation and shapes of a smooth subsystem. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "pictures.h"
#include "scenario.h"
#include "yoke/analysis.h"

static const char usage[] =
    "modes SCENARIO [--count N] [--static] [--time T] [-o FILE.csv] [--plot BASE]\n\n"
    "Linearises a smooth subsystem about its state at the start, in static equilibrium (--static) "
    "or at a time "
    "(--time)\n"
    "and lists its modes from the lowest frequency on. Ports that the scenario couples are left "
    "free.";

typedef struct request {
    option_list sets;
    const char *subsystem, *output, *plot;
    double count, time;
    bool statics;
} request;

/* The subsystem that is asked for, or the only smooth one. */
static yk_smooth *choose(const yk_scenario_info *info, const char *name)
{
    yk_smooth *chosen = NULL;
    int candidates = 0;
    for (int i = 0; i < info->subsystem_count; i++) {
        yk_smooth *model = yk_smooth_of(info->subsystems[i]);
        if (name && strcmp(name, info->names[i]) == 0 && !model) {
            fprintf(stderr,
                    "yoke: subsystem '%s' is of the kind %s; modes are found of smooth ones\n",
                    name, info->solvers[i]);
            return NULL;
        }
        if (!model || (name && strcmp(name, info->names[i]) != 0))
            continue;
        candidates++;
        chosen = model;
    }
    if (candidates == 1)
        return chosen;
    if (candidates > 1)
        fprintf(stderr, "yoke: %d subsystems are smooth; choose one with --subsystem\n",
                candidates);
    else if (name)
        fprintf(stderr, "yoke: there is no subsystem '%s'\n", name);
    else
        fprintf(stderr, "yoke: the scenario has no subsystem of the kind smooth\n");
    return NULL;
}

/* To the state about which the modes are. Redundant joints are told of as a warning by the
 * context. */
static yk_status prepare(yk_smooth *model, const yk_scenario_info *info, const request *r)
{
    yk_status status = yk_smooth_start(model, info->start, info->step);
    if (status < 0)
        return status;
    double t = info->start;
    for (long i = 0; t < r->time - 0.5 * info->step; i++) {
        status = yk_smooth_step(model, t, info->step);
        if (status < 0)
            return status;
        t = info->start + (double)(i + 1) * info->step;
    }
    return r->statics ? yk_smooth_statics(model, t) : YK_OK;
}

static void print_frequency(FILE *stream, const yk_mode *mode)
{
    if (mode->free_motion) {
        fprintf(stream, "%14s %12s", "free", "-");
    } else if (mode->omega > 0) {
        fprintf(stream, "%14.6f %12.6f", mode->frequency, mode->damping);
    } else {
        fprintf(stream, "%14s %12.6f", "0", mode->damping);
    }
}

static void print_table(const yk_modes *modes)
{
    printf("\n  mode   frequency Hz      damping   growth 1/s     mass along x, y, z %%\n");
    for (int i = 0; i < modes->count; i++) {
        const yk_mode *mode = &modes->mode[i];
        printf("  %4d ", i + 1);
        print_frequency(stdout, mode);
        printf(" %12.5g   %7.3f %7.3f %7.3f\n", mode->growth, 100 * mode->mass[0],
               100 * mode->mass[1], 100 * mode->mass[2]);
    }
}

static void print_remarks(const yk_smooth *model, const yk_modes *modes, int asked)
{
    int unstable = 0, idle = 0;
    for (int i = 0; i < modes->count; i++) {
        const yk_mode *mode = &modes->mode[i];
        idle += mode->free_motion;
        unstable += !mode->free_motion && mode->growth > 1e-9 * (mode->omega + fabs(mode->growth));
    }
    yk_energy energy;
    yk_smooth_energy(model, &energy);
    if (modes->count < asked)
        printf("\n  %d mode%s of the %d asked for: there are no others, or they are 1e6 times as "
               "fast as the slowest\n",
               modes->count, modes->count == 1 ? "" : "s", asked);
    if (idle)
        printf("\n  %d free motion%s: nothing resists, the frequency is zero\n", idle,
               idle > 1 ? "s" : "");
    if (unstable)
        printf("\n  %d mode%s grow%s: the state is unstable\n", unstable, unstable > 1 ? "s" : "",
               unstable > 1 ? "" : "s");
    if (energy.kinetic > 1e-12)
        printf("\n  the model moves (%.3g J): these are the modes of the moment in fixed axes, not "
               "of an equilibrium "
               "(see\n"
               "  --static); they are right for rotors that look the same at every angle, not for "
               "blades and cranks\n",
               energy.kinetic);
}

/* One line per mode and node: displacement and rotation, real and imaginary. */
static bool write_csv(const char *file, const yk_smooth *model, const yk_modes *modes)
{
    FILE *out = fopen(file, "w");
    if (!out) {
        fprintf(stderr, "yoke: cannot write %s: %s\n", file, strerror(errno));
        return false;
    }
    const yk_smooth_description *def = yk_smooth_definition(model);
    fprintf(out, "mode,frequency_Hz,damping,growth,node,ux,uy,uz,rx,ry,rz,ux_im,uy_im,uz_im,rx_im,"
                 "ry_im,rz_im\n");
    for (int i = 0; i < modes->count; i++)
        for (int n = 0; n < modes->node_count; n++) {
            const yk_mode *mode = &modes->mode[i];
            fprintf(out, "%d,%.15g,%.15g,%.15g,%s", i + 1, mode->frequency, mode->damping,
                    mode->growth, yk_smooth_start_pose(def, n).name);
            for (int k = 0; k < 12; k++)
                fprintf(out, ",%.9g", yk_modes_shape(modes, i, n, k >= 6)[k % 6]);
            fprintf(out, "\n");
        }
    bool good = !ferror(out);
    if (fclose(out) == 0 && good)
        return true;
    fprintf(stderr, "yoke: cannot write %s: %s\n", file, strerror(errno));
    return false;
}

static int report(yk_context *context, const yk_smooth *model, const yk_modes *modes,
                  const request *r)
{
    print_table(modes);
    print_remarks(model, modes, (int)r->count);
    if (r->output && !write_csv(r->output, model, modes))
        return EXIT_FAILED;
    if (r->plot) {
        if (picture_modes(context, r->plot, model, modes) < 0)
            return print_failure(context);
        printf("\n  picture %s.svg, %s.png\n", r->plot, r->plot);
    }
    return EXIT_GOOD;
}

static int find_and_report(const loaded *l, const request *r)
{
    const yk_scenario_info *info = yk_scenario_get(l->scenario);
    yk_smooth *model = choose(info, r->subsystem);
    if (!model)
        return EXIT_MISUSE;
    if (prepare(model, info, r) < 0)
        return print_failure(l->context);
    yk_modes_options options = yk_modes_default();
    options.count = (int)r->count;
    yk_modes *modes;
    yk_status status = yk_modes_find(model, &options, &modes);
    if (!modes)
        return print_failure(l->context);
    printf("%s\n", *info->title ? info->title : info->path);
    int code = report(l->context, model, modes, r);
    yk_modes_destroy(modes);
    if (status == YK_NOT_CONVERGED)
        return print_failure(l->context);
    return code;
}

int command_modes(int argc, char **argv)
{
    request r = {.count = 10};
    const option_row rows[] = {
        {"count", OPTION_NUMBER, &r.count, "N", "how many modes [10]"},
        {"static", OPTION_FLAG, &r.statics, NULL, "about static equilibrium"},
        {"time", OPTION_NUMBER, &r.time, "T", "about the state at time T (s), reached alone"},
        {"subsystem", OPTION_TEXT, &r.subsystem, "NAME", "which one, where several are smooth"},
        {"set", OPTION_LIST, &r.sets, "PATH=VALUE", "override a value of the scenario"},
        {"o", OPTION_TEXT, &r.output, "FILE", "write shapes as CSV"},
        {"plot", OPTION_TEXT, &r.plot, "BASE",
         "draw the shapes as BASE.svg and BASE.png (needs gnuplot)"},
        {.kind = OPTION_END},
    };
    const char *path;
    int parsed = options_parse(usage, rows, argc, argv, &path, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);
    if (!(r.count >= 1 && r.count <= 10000)) {
        fprintf(stderr, "yoke: --count %g: ask for 1 to 10000 modes\n", r.count);
        return EXIT_MISUSE;
    }
    loaded l;
    if (!load_scenario(path, &r.sets, &l))
        return EXIT_MISUSE;
    int code = find_and_report(&l, &r);
    close_scenario(&l);
    return code;
}
