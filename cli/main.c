/* yoke COMMAND ...: one row per subcommand. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"
#include "cli.h"
#include "math/eigen.h"
#include "ranks.h"
#include "transport/fmi/archive.h"

static const command_row commands[] = {
    {"run", "run a scenario, with results in HDF5 or CSV", command_run},
    {"resume", "go on with a run that was stopped, from its checkpoint", command_resume},
    {"replay", "run what is recorded again, and find the first step that differs", command_replay},
    {"recover", "make a results file of a run that was killed or could not write it",
     command_recover},
    {"check", "find every mistake in a scenario", command_check},
    {"draw", "draw the model at its start", command_draw},
    {"plot", "draw recorded channels over time", command_plot},
    {"report", "recorded runs as one HTML file: 3D playback, plots, findings", command_report},
    {"export", "a recorded run for other programs: VTKHDF for ParaView, CSV", command_export},
    {"compare", "whether two recorded runs are the same, channel by channel", command_compare},
    {"stability",
     "whether a coupling is stable: of a scenario or the two-mass oscillator, at a point or as a "
     "map",
     command_stability},
    {"converge", "errors of a scenario for several schemes and steps, with orders and cost",
     command_converge},
    {"advise", "which scheme and step to take for a scenario, found by trying them",
     command_advise},
    {"modes", "eigenfrequencies, damping and shapes of a mechanism", command_modes},
    {"body", "inertia invariants and shapes of a flexible body as tables", command_body},
    {"sweep", "run a scenario for many values, in parallel, and tabulate measures", command_sweep},
    {"contact", "solve stored contact and complementarity problems", command_contact},
    {"serve", "offer subsystems of a scenario to runs in other processes", command_serve},
    {"fmu", "FMUs: what is inside, how they are connected, and new ones from scenarios",
     command_fmu},
    {"import", "scenarios from models of others: URDF, MJCF, MBDyn, SSP", command_import},
    {"ssp", "systems of FMUs (SSP): packages from scenarios; elsewhere they are read as scenarios",
     command_ssp},
    {"schema", "all keys of a scenario, with units and defaults (Markdown)", command_schema},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

#ifdef __clang__
static const char compiler[] = __VERSION__; /* begins with its name */
#else
static const char compiler[] = "gcc " __VERSION__;
#endif

static void print_commands(FILE *stream)
{
    fprintf(stream,
            "yoke %s: co-simulation of mechanical systems\n\nusage: yoke [--no-plugins] COMMAND "
            "...\n\n",
            yk_version());
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(stream, "  %-12s %s\n", commands[i].name, commands[i].summary);
    fprintf(stream, "\n--no-plugins refuses scenarios that load code of others: plug-ins, FMUs and "
                    "libraries.\n");
    fprintf(stream, "\n`yoke COMMAND --help` says more. Exit codes: 0 good, 1 the work failed, 2 "
                    "wrong input: options, scenario,\nor a file to be read, 3 the result is not to "
                    "be trusted.\n");
}

static int run_command(int argc, char **argv)
{
    /* Other ranks have a part in some commands; the rest is done by rank 0 alone. */
    static const char *const shared[] = {"run", "resume", "sweep", "converge", "stability"};
    const char *word = argv[0];
    bool takes_part = ranks_own() == 0;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        takes_part = takes_part || strcmp(word, shared[i]) == 0;
    if (!takes_part)
        return EXIT_GOOD;

    const char *names[COMMAND_COUNT + 1] = {NULL};
    for (int i = 0; i < COMMAND_COUNT; i++) {
        names[i] = commands[i].name;
        if (strcmp(word, names[i]) != 0)
            continue;

        /* A system of FMUs is a scenario to all but those who make one of it. */
        bool reads = commands[i].run == command_import || commands[i].run == command_ssp;
        char **system = NULL;
        for (int k = 1; k < argc && !reads && !system; k++)
            if (ends_in(argv[k], ".ssp") || ends_in(argv[k], ".ssd"))
                system = &argv[k];
        if (!system)
            return commands[i].run(argc, argv);

        /* It runs from a folder of its own, which goes again. */
        yk_context *context = open_context();
        if (!context)
            return EXIT_FAILED;

        char *folder;
        char *scenario = ssp_open(context, *system, &folder);
        int code = EXIT_MISUSE;
        if (scenario) {
            *system = scenario;
            code = commands[i].run(argc, argv);
        }
        yk_archive_remove(context, folder);
        yk_context_destroy(context);
        free(scenario);
        return code;
    }

    fprintf(stderr, "yoke: unknown command '%s'", word);
    const char *nearest = yk_text_nearest(word, names);
    if (nearest)
        fprintf(stderr, ", did you mean '%s'?", nearest);
    fprintf(stderr, "\n`yoke --help` lists the commands.\n");
    return EXIT_MISUSE;
}

int main(int argc, char **argv)
{
    /* A stream that the caller has closed leaves its number to the next file that is opened, and
     * messages would go into results. What is written to the standard output is still to fail. */
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) >= 0)
            continue;

        int mode = O_RDONLY;
        if (stream == STDERR_FILENO)
            mode = O_WRONLY;
        if (open("/dev/null", mode) != stream)
            _exit(EXIT_FAILED);
    }

    /* A limit on the size of files is then an error of the write. */
    signal(SIGXFSZ, SIG_IGN);

    if (argc < 2) {
        print_commands(stderr);
        return EXIT_MISUSE;
    }

    if (strcmp(argv[1], "--no-plugins") == 0 && argc > 2) {
        forbid_plugins();
        argc--;
        argv++;
    }

    /* OpenBLAS waits for ever where its threads get no buffers of 128 MiB, also with signals that
     * would end it. Where memory is limited, there must be room for them. */
    static const double REST = 40e6;
    struct rlimit most;
    bool limited = getrlimit(RLIMIT_AS, &most) == 0 && most.rlim_cur != RLIM_INFINITY;
    int threads = yk_blas_threads();
    double needed = (double)YK_BLAS_BUFFER * threads + REST;
    if (limited && (double)most.rlim_cur < needed) {
        fprintf(stderr,
                "yoke: memory is limited to %.0f MB (ulimit -v), and OpenBLAS takes %.0f MB of "
                "addresses (threads: %d); allow more%s\n",
                1e-6 * (double)most.rlim_cur, 1e-6 * needed, threads,
                threads > 1 ? ", or set OPENBLAS_NUM_THREADS=1" : "");
        _exit(EXIT_FAILED); /* its end would wait for these threads as well */
    }

    if (!ranks_begin())
        return EXIT_FAILED;

    /* yoke help COMMAND is yoke COMMAND --help. */
    const char *word = argv[1];
    bool help = is_help(word) || strcmp(word, "help") == 0;

    int code = EXIT_GOOD;
    if (help && argc > 2) {
        char option[] = "--help";
        char *asked[] = {argv[2], option, NULL};
        code = run_command(2, asked);
    } else if (help) {
        print_commands(stdout);
    } else if (strcmp(word, "--version") == 0) {
        printf("yoke %s, compiled by %s\n", yk_version(), compiler);
    } else {
        code = run_command(argc - 1, argv + 1);
    }

    /* Where there are several processes, they leave together. */
    code = ranks_end(code);

    /* A table that went nowhere is a failure, even if everything else went well. */
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;

    fprintf(stderr, "yoke: cannot write to the standard output: %s\n", strerror(errno));
    if (code == EXIT_GOOD)
        code = EXIT_FAILED;
    return code;
}
