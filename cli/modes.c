/* yoke modes: eigenfrequencies, damping, participation and shapes of a smooth subsystem. */
#include <math.h>
#include <string.h>

#include "cli.h"
#include "pictures.h"

static const char usage[] =
    "modes SCENARIO [--count N] [--static] [--time T] [-o FILE.csv] [--plot BASE]\n\n"
    "Linearises a smooth subsystem about its state at the start, in static equilibrium (--static) "
    "or at a time (--time)\n"
    "and lists its modes from the lowest frequency on. Ports that the scenario couples are left "
    "free.";

/* The table of modes, and their shapes into a file where one is named. False after a message. */
static bool report_modes(const yk_smooth *model, const yk_modes *modes, int asked, const char *file)
{
    /* A row per mode; free motions have no frequency, overdamped ones no oscillation. */
    int growing = 0;
    int idle = 0;
    printf("\n  mode   frequency Hz      damping   growth 1/s     mass along x, y, z %%\n");

    for (int i = 0; i < modes->count; i++) {
        const yk_mode *mode = &modes->mode[i];
        printf("  %4d ", i + 1);
        if (mode->free_motion)
            printf("%14s %12s", "free", "-");
        else if (mode->omega > 0)
            printf("%14.6f %12.6f", mode->frequency, mode->damping);
        else
            printf("%14s %12.6f", "0", mode->damping);

        /* Masses along the axes, of the whole. */
        printf(" %12.5g   %7.3f %7.3f %7.3f\n", mode->growth, 100 * mode->mass[0],
               100 * mode->mass[1], 100 * mode->mass[2]);

        /* Growth below rounding of the frequency is none. */
        if (mode->free_motion)
            idle++;
        else if (mode->growth > 1e-9 * (mode->omega + fabs(mode->growth)))
            growing++;
    }

    /* What is to be known about them. */
    if (modes->count < asked)
        printf("\n  %d mode%s of the %d asked for: there are no others, or they are 1e6 times as "
               "fast as the slowest\n",
               modes->count, plural(modes->count), asked);

    if (idle > 0)
        printf("\n  %d free motion%s: nothing resists, the frequency is zero\n", idle,
               plural(idle));

    if (growing > 0)
        printf("\n  %d mode%s grow%s: the state is unstable\n", growing, plural(growing),
               growing > 1 ? "" : "s");

    /* A model that moves has no equilibrium. */
    yk_energy energy;
    yk_smooth_energy(model, &energy);
    if (energy.kinetic > 1e-12)
        printf("\n  the model moves (%.3g J): these are the modes of the moment in fixed axes, not "
               "of an equilibrium (see\n  --static); they are right for rotors that look the same "
               "at every angle, not for blades and cranks\n",
               energy.kinetic);

    if (!file)
        return true;

    /* Rows that spreadsheets can filter by mode and node: displacement and rotation, real and
     * imaginary. */
    FILE *out = fopen(file, "w");
    if (out)
        fprintf(out, "mode,frequency_Hz,damping,growth,node,ux,uy,uz,rx,ry,rz,ux_im,uy_im,uz_im,"
                     "rx_im,ry_im,rz_im\n");

    const yk_smooth_description *def = yk_smooth_definition(model);
    for (int i = 0; out && i < modes->count; i++) {
        const yk_mode *mode = &modes->mode[i];
        for (int n = 0; n < modes->node_count; n++) {
            fprintf(out, "%d,%.15g,%.15g,%.15g,%s", i + 1, mode->frequency, mode->damping,
                    mode->growth, yk_smooth_start_pose(def, n).name);
            for (int k = 0; k < 12; k++)
                fprintf(out, ",%.9g", yk_modes_shape(modes, i, n, k >= 6)[k % 6]);
            fprintf(out, "\n");
        }
    }

    return close_written(out, file);
}

int command_modes(int argc, char **argv)
{
    option_list sets = {0};
    const char *path;
    const char *subsystem = NULL;
    const char *output = NULL;
    const char *plot = NULL;
    double count = 10;
    double time = 0;
    bool equilibrium = false;

    const option_row rows[] = {
        {"count", OPTION_NUMBER, &count, "N", "how many modes [10]"},
        {"static", OPTION_FLAG, &equilibrium, NULL, "about static equilibrium"},
        {"time", OPTION_NUMBER, &time, "T", "about the state at time T (s), reached alone"},
        {"subsystem", OPTION_TEXT, &subsystem, "NAME", "which one, where several are smooth"},
        {"set", OPTION_LIST, &sets, "PATH=VALUE", "override a value of the scenario"},
        {"o", OPTION_TEXT, &output, "FILE", "write shapes as CSV"},
        {"plot", OPTION_TEXT, &plot, "BASE",
         "draw the shapes as BASE.svg and BASE.png (needs gnuplot)"},
        {.kind = OPTION_END},
    };

    int parsed = options_parse(usage, rows, argc, argv, &path, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);

    if (!(count >= 1 && count <= 10000)) {
        fprintf(stderr, "yoke: --count %g: ask for 1 to 10000 modes\n", count);
        return EXIT_MISUSE;
    }

    loaded l;
    if (!load_scenario(path, &sets, LOAD_TO_RUN, &l))
        return l.code;

    /* The subsystem that is asked for, or the only smooth one. */
    const yk_scenario_info *info = yk_scenario_get(l.scenario);
    yk_smooth *model = NULL;
    const char *solver = NULL; /* of the one with this name */
    int candidates = 0;
    for (int i = 0; i < info->subsystem_count; i++) {
        if (subsystem && strcmp(subsystem, info->names[i]) != 0)
            continue;

        solver = info->solvers[i];
        yk_smooth *smooth = yk_smooth_of(info->subsystems[i]);
        if (!smooth)
            continue;

        candidates++;
        model = smooth;
    }

    if (candidates != 1) {
        if (candidates > 1)
            fprintf(stderr, "yoke: %d subsystems are smooth; choose one with --subsystem\n",
                    candidates);
        else if (subsystem && solver)
            fprintf(stderr,
                    "yoke: subsystem '%s' is of the kind %s; modes are found of smooth ones\n",
                    subsystem, solver);
        else if (subsystem)
            fprintf(stderr, "yoke: there is no subsystem '%s'\n", subsystem);
        else
            fprintf(stderr, "yoke: the scenario has no subsystem of the kind smooth\n");

        close_scenario(&l);
        return EXIT_MISUSE;
    }

    /* To the state about which the modes are. */
    double t = info->start;
    yk_status status = yk_smooth_start(model, info->start, info->step);
    for (long i = 0; !YK_FAILED(status) && t < time - 0.5 * info->step; i++) {
        status = yk_smooth_step(model, t, info->step);
        t = info->start + (double)(i + 1) * info->step;
    }

    /* Steps that did not quite converge are good enough to linearise about. */
    if (!YK_FAILED(status))
        status = YK_OK;
    if (status == YK_OK && equilibrium)
        status = yk_smooth_statics(model, t);

    /* Redundant joints are reported as a warning by the context. */
    yk_modes *modes = NULL;
    yk_modes_options options = yk_modes_default();
    options.count = (int)count;
    if (status == YK_OK)
        status = yk_modes_find(model, &options, &modes);

    /* The table, the shapes for other programs, and a picture of them. */
    int code = EXIT_GOOD;
    if (modes) {
        printf("%s\n", scenario_title(info));
        if (!report_modes(model, modes, options.count, output))
            code = EXIT_FAILED;
        else if (plot && picture_modes(l.context, plot, model, modes) != YK_OK)
            code = print_failure(l.context);
        else if (plot) {
            printf("\n  ");
            print_pictures(plot);
        }
    }

    /* What was found is printed, even where the search did not converge. */
    if (!modes || status == YK_NOT_CONVERGED)
        code = print_failure(l.context);

    yk_modes_destroy(modes);
    close_scenario(&l);
    return code;
}
