/* The program: one row per command, and headings without a name. */
#define _XOPEN_SOURCE 700 /* sigaltstack */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"
#include "cli.h"
#include "interop/fmi/archive.h"
#include "interop/fmi/fmu.h"
#include "math/eigen.h"
#include "mpi.h"
#include "yoke_build.h"

static const command_row commands[] = {
    {.summary = "Run"},
    {"run", "Run a scenario and write the results to HDF5 or CSV", command_run},
    {"resume", "Resume a stopped run from its checkpoint", command_resume},
    {"recover", "Write a results file from the journal of an interrupted run", command_recover},
    {"check", "Validate a scenario and report all errors", command_check},
    {"serve", "Offer subsystems of a scenario to runs in other processes", command_serve},

    {.summary = "Results"},
    {"report", "Write an HTML report of recorded runs", command_report},
    {"plot", "Plot recorded channels over time", command_plot},
    {"draw", "Draw the model in its initial configuration", command_draw},
    {"export", "Convert a recorded run to VTKHDF (ParaView) or CSV", command_export},
    {"compare", "Compare two recorded runs channel by channel", command_compare},
    {"reproduce", "Run a recorded scenario again and check that all samples are identical",
     command_reproduce},

    {.summary = "Analysis"},
    {"advise", "Recommend a coupling scheme and a step for a scenario", command_advise},
    {"stability", "Analyze the stability of a coupling", command_stability},
    {"convergence", "Measure errors, orders and cost for several schemes and steps",
     command_convergence},
    {"sweep", "Run a scenario for many parameter values and tabulate results", command_sweep},
    {"modes", "Compute eigenfrequencies, damping and mode shapes", command_modes},
    {"linearize", "Linearize a coupled system and write its matrices", command_linearize},
    {"frequency-response", "Compute transfer functions of a coupled system",
     command_frequency_response},

    {.summary = "Models"},
    {"import", "Convert a URDF, MJCF, MBDyn or SSP model to a scenario", command_import},
    {"fmu", "Inspect an FMU, or export a scenario as an FMU", command_fmu},
    {"ssp", "Export a system of FMUs as an SSP package", command_ssp},
    {"flexible", "Export a flexible body as tables", command_flexible},
    {"contact", "Solve or export contact problems", command_contact},
    {"schema", "Print the reference of all scenario keys", command_schema},
    {"models", "List or copy the scenarios of the model library", command_models},
    {"new", "Write a commented scenario to start from", command_new},

    {.summary = "Program"},
    {"completion", "Print the completion for bash, zsh or fish", command_completion},
    {"man", "Print the manual page of a command", command_man},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

const command_row *program_commands(int *count)
{
    *count = COMMAND_COUNT;
    return commands;
}

typedef struct renamed_command {
    const char *old, *now;
} renamed_command;

static const renamed_command renamed_commands[] = {
    {"converge", "convergence"},
    {"replay", "reproduce"},
    {"body", "flexible"},
};

#ifdef __clang__
static const char compiler[] = __VERSION__; /* begins with its name */
#else
static const char compiler[] = "gcc " __VERSION__;
#endif

static void print_version(void)
{
    print_out("yoke %s", yk_version());
    if (*YOKE_COMMIT)
        print_out(" (commit %s)", YOKE_COMMIT);
    print_out("\nbuild: %s, %s\noptions: mpi %s, live view %s, report viewer %s\n", YOKE_BUILD_TYPE,
              compiler, YOKE_HAS_MPI ? "on" : "off", YOKE_HAS_LIVE ? "on" : "off",
              YOKE_HAS_VIEWER ? "on" : "off");
}

static void print_commands(FILE *stream)
{
    fprintf(stream,
            "yoke %s - co-simulation of mechanical systems\n\n"
            "Usage: yoke [OPTIONS] COMMAND [ARGUMENTS]\n",
            yk_version());
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (commands[i].name)
            fprintf(stream, "  %-12s %s\n", commands[i].name, commands[i].summary);
        else
            fprintf(stream, "\n%s\n", commands[i].summary);
    }
    fprintf(stream,
            "\nOptions\n"
            "  --no-external-code   Refuse scenarios that load plug-ins, FMUs or libraries\n"
            "  --version            Print the version\n"
            "  --help               Print this help\n\n"
            "Exit codes: 0 success, 1 the command failed, 2 invalid input, 3 the result is "
            "not trustworthy.\n"
            "Run `yoke COMMAND --help` for the options of a command.\n");
}

static int run_command(int argc, char **argv)
{
    /* Other ranks take part in some commands; rank 0 alone does the rest. */
    static const char *const shared[] = {"run", "resume", "sweep", "convergence", "stability"};
    const char *word = argv[0];
    bool takes_part = ranks_own() == 0;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        takes_part = takes_part || strcmp(word, shared[i]) == 0;
    if (!takes_part)
        return EXIT_GOOD;

    const char *names[COMMAND_COUNT + 1] = {NULL};
    int name_count = 0;
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (!commands[i].name)
            continue;
        names[name_count++] = commands[i].name;
        if (strcmp(word, commands[i].name) != 0)
            continue;

        /* An SSP system is a scenario for all commands except those that create one from it. */
        bool reads = commands[i].run == command_import || commands[i].run == command_ssp;
        char **system = NULL;
        for (int k = 1; k < argc && !reads && !system; k++)
            if (ends_in(argv[k], ".ssp") || ends_in(argv[k], ".ssd"))
                system = &argv[k];
        if (!system)
            return commands[i].run(argc, argv);

        /* It runs from a temporary folder, which is removed. */
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

    for (size_t i = 0; i < sizeof renamed_commands / sizeof *renamed_commands; i++) {
        if (strcmp(word, renamed_commands[i].old) != 0)
            continue;
        print_err("yoke: '%s' was renamed to '%s'\n", word, renamed_commands[i].now);
        return EXIT_MISUSE;
    }

    print_err("yoke: unknown command '%s'", word);
    const char *nearest = yk_text_nearest(word, names);
    if (nearest)
        print_err(". Did you mean '%s'?", nearest);
    print_err("\n`yoke --help` lists the commands.\n");
    return EXIT_MISUSE;
}

/* Crashes of FMUs --------------------------------------------------------------------------------
 *
 * An FMU runs in this process unless its scenario contains `run_in: child-process`. If it crashes,
 * the state of this process is undefined, so the program ends with a message that names the FMU. */

static void write_text(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written; /* nothing can be done about it here */
}

static void report_crash(int number)
{
    /* Only functions that signal handlers may call, and memory of this thread. */
    const char *file = yk_fmu_running_file();
    if (file) {
        write_text("yoke: the FMU ");
        write_text(file);
        write_text(" crashed in ");
        write_text(yk_fmu_running_function());
        write_text(". What was recorded before is in the journal (`yoke recover`). With `process: "
                   "child` in its section the FMU runs in a process of its own.\n");
    }

    signal(number, SIG_DFL);
    raise(number);
}

static void watch_for_crashes(void)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static char stack[65536];
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    bool has_stack = sigaltstack(&own, NULL) == 0;

    /* Debuggers and sanitizers may have handlers of their own, which report more. */
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        struct sigaction action;
        if (sigaction(crashes[i], NULL, &action) != 0 || action.sa_handler != SIG_DFL)
            continue;

        action = (struct sigaction){.sa_handler = report_crash, .sa_flags = SA_NODEFER};
        if (has_stack)
            action.sa_flags |= SA_ONSTACK;
        sigaction(crashes[i], &action, NULL);
    }
}

int main(int argc, char **argv)
{
    /* The number of a closed standard stream would be given to the next opened file, and messages
     * would be written into results. Writing to a closed standard output must fail. */
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) >= 0)
            continue;

        int mode = O_RDONLY;
        if (stream == STDERR_FILENO)
            mode = O_WRONLY;
        if (open("/dev/null", mode) != stream)
            _exit(EXIT_FAILED);
    }

    /* A plug-in or an FMU may set another locale for the process. Tables and pictures keep the
     * decimal point. */
    uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));

    /* Exceeding a limit on the size of files is then an error of the write. */
    signal(SIGXFSZ, SIG_IGN);
    watch_for_crashes();

    if (argc < 2) {
        print_commands(stderr);
        return EXIT_MISUSE;
    }

    /* Options before the command. */
    while (argc > 2) {
        int count = 1;
        if (strcmp(argv[1], "--no-external-code") == 0) {
            forbid_plugins();
        } else if (is_color_option(argv[1])) {
            const char *equals = strchr(argv[1], '=');
            count = equals ? 1 : 2;
            if (!choose_color(equals ? equals + 1 : argv[2]))
                return EXIT_MISUSE;
        } else {
            break;
        }
        argc -= count;
        argv += count;
    }

    if (argc < 2) {
        print_commands(stderr);
        return EXIT_MISUSE;
    }

    if (strcmp(argv[1], "--no-plugins") == 0) {
        print_err("yoke: --no-plugins was renamed to --no-external-code\n");
        return EXIT_MISUSE;
    }

    /* OpenBLAS waits forever if its threads get no buffers of 128 MiB, even after signals that
     * should end it. If memory is limited, check that there is room for them. */
    static const double REST = 40e6;
    struct rlimit most;
    bool limited = getrlimit(RLIMIT_AS, &most) == 0 && most.rlim_cur != RLIM_INFINITY;
    int threads = yk_blas_threads();
    double needed = (double)YK_BLAS_BUFFER * threads + REST;
    if (limited && (double)most.rlim_cur < needed) {
        print_err("yoke: memory is limited to %.0f MB (ulimit -v), and OpenBLAS takes %.0f MB of "
                  "addresses (threads: %d); allow more%s\n",
                  1e-6 * (double)most.rlim_cur, 1e-6 * needed, threads,
                  threads > 1 ? ", or set OPENBLAS_NUM_THREADS=1" : "");
        _exit(EXIT_FAILED); /* a normal end would wait for these threads too */
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
        print_version();
    } else {
        code = run_command(argc - 1, argv + 1);
    }

    /* If there are several processes, they end together. */
    code = ranks_end(code);

    /* If the output could not be written, the command failed, even if everything else succeeded. */
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;

    print_err("yoke: cannot write to the standard output: %s\n", strerror(errno));
    if (code == EXIT_GOOD)
        code = EXIT_FAILED;
    return code;
}
