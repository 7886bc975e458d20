/* yoke contact solve: stored contact and complementarity problems, solved and tabulated. yoke
 * contact export: the contact problem of one step of a run. */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "contact/mlcp.h"
#include "contact/read.h"
#include "contact/solver.h"
#include "contact/write.h"
#include "nonsmooth/nonsmooth.h"
#include "record/fclib.h"

static const char solve_usage[] =
    "contact solve FILE|FOLDER... [OPTIONS]\n"
    "\n"
    "Solve contact problems (FCLIB, Siconos, LCP, MLCP) and compare solvers. Of a "
    "folder, all files that end in .dat, .hdf5 or .h5 are read. Global problems are "
    "condensed to their contacts. The residual of a contact problem is || r - P(r - "
    "rho u^) || / rho / ||q|| with rho = 1 / mean(diag W). If several solvers are "
    "selected, a performance profile is printed.";
static const char export_usage[] =
    "contact export SCENARIO -o FILE [OPTIONS]\n"
    "\n"
    "Write the contact problem of one step in a format that `yoke contact solve` "
    "reads: FCLIB's HDF5 if FILE ends in .hdf5 or .h5, otherwise text. Joints are "
    "eliminated.";

static const char *const solver_words[] = {"auto",           "gauss-seidel", "projected-gradient",
                                           "interior-point", "pivoting",     NULL};
static const char *const friction_words[] = {"convex-cone", "coulomb", "pyramid", NULL};

enum { FILES_MAX = 4096, HISTORY_MAX = 100000 };

/* Problems of one kind, or with one method. */
typedef struct tally {
    int solved, tried;
    double seconds;
} tally;

typedef struct session {
    yk_context *context;
    yk_contact_options options;
    yk_contact_method methods[OPTION_LIST_MAX];
    int method_count;
    FILE *history, *solution;
    double *times; /* per contact problem and method (s), infinite if it was not solved */
    int problem_count;
    tally contacts[OPTION_LIST_MAX]; /* per method */
    tally complementarity;
    int unreadable;
} session;

/* Prints a row of the table, and counts it in a tally. */
static void add_row(tally *t, const char *file, const char *kind, int size, const char *solver,
                    yk_status status, int iterations, double residual, double seconds)
{
    const char *outcome = "failed";
    if (status == YK_OK)
        outcome = "solved";
    else if (status == YK_NOT_CONVERGED)
        outcome = "not converged";
    else if (status == YK_ERROR_NO_SOLUTION)
        outcome = "no solution";

    print_out("%-36.36s %-8s %6d  %-18s %-13s %7d  %9.2e  %10.6f\n", behind_last(file, '/'), kind,
              size, solver, outcome, iterations, residual, seconds);

    t->tried++;
    if (status == YK_OK)
        t->solved++;
    t->seconds += seconds;
}

/* With every requested method. */
static yk_status solve_contact(session *s, const char *file)
{
    static const char *const components[YK_CONTACT_DIM_MAX] = {"N", "T1", "T2", "S", "R1", "R2"};

    yk_contact_problem problem;
    yk_status status;
    if (yk_fclib_is_hdf5(file))
        status = yk_fclib_read(s->context, file, &problem);
    else
        status = yk_contact_read(s->context, file, &problem);
    if (status != YK_OK)
        return status;

    double *r = yk_allocate(s->context, (size_t)problem.row_count + 1, sizeof *r);
    double *u = yk_allocate(s->context, (size_t)problem.row_count + 1, sizeof *u);

    double *times = s->times + (size_t)s->problem_count++ * OPTION_LIST_MAX;

    /* A table row per method, all on the same problem. */
    for (int m = 0; r && u && m < s->method_count; m++) {
        yk_contact_report report;
        s->options.method = s->methods[m];
        status = yk_contact_solve(s->context, &problem, &s->options, r, u, &report);
        times[m] = INFINITY;
        if (status == YK_OK)
            times[m] = report.seconds;

        const char *name = yk_contact_method_name(report.method);
        add_row(&s->contacts[m], file, "contact", problem.contact_count, name, status,
                report.iterations, report.residual, report.seconds);
        if (YK_FAILED(status))
            print_failure_of(file, s->context);

        /* If residuals are requested, store all of them. */
        for (int k = 0; s->history && k < report.history_count; k++)
            fprintf(s->history, "%s,%s,%d,%.9e\n", behind_last(file, '/'), name, k + 1,
                    s->options.residual_history[k]);

        /* Impulses and velocities, row by row, also of a solution that did not converge. */
        bool keep = s->solution && !YK_FAILED(status);
        for (int i = 0; keep && i < problem.contact_count; i++)
            for (int k = problem.w.first[i]; k < problem.w.first[i + 1]; k++)
                fprintf(s->solution, "%s,%s,%d,%s,%.17g,%.17g\n", behind_last(file, '/'), name,
                        i + 1, components[k - problem.w.first[i]], r[k], u[k]);
    }

    yk_free(s->context, r);
    yk_free(s->context, u);
    yk_contact_problem_destroy(s->context, &problem);
    return YK_OK;
}

static void print_tally(const char *name, const tally *t, int least)
{
    if (t->tried >= least)
        print_out("%s: %d of %d solved, %.6f s\n", name, t->solved, t->tried, t->seconds);
}

static bool ends_in_hdf5(const char *name)
{
    return ends_in(name, ".hdf5") || ends_in(name, ".h5");
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* The operands, with folders replaced by their problem files in alphabetical order; texts from
 * malloc. Returns their number, or -1 after a message. */
static int list_files(const char *const *operands, int count, char **files)
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        struct stat info;
        bool folder = stat(operands[i], &info) == 0 && S_ISDIR(info.st_mode);
        DIR *entries = NULL;
        if (folder)
            entries = opendir(operands[i]);
        if (folder && !entries) {
            print_err("yoke: the folder '%s' cannot be read\n", operands[i]);
            return -1;
        }

        int first = found;
        const struct dirent *entry = NULL;
        do {
            /* The operand itself, or the next file of the folder. */
            const char *name = operands[i];
            if (folder) {
                entry = readdir(entries);
                if (!entry)
                    break;

                name = entry->d_name;
                if (!ends_in(name, ".dat") && !ends_in_hdf5(name))
                    continue;
            }

            size_t size = strlen(operands[i]) + strlen(name) + 2;
            char *path = NULL;
            if (found < FILES_MAX)
                path = malloc(size);
            if (!path) {
                print_err("yoke: more than %d files\n", FILES_MAX);
                if (entries)
                    closedir(entries);
                return -1;
            }

            if (folder)
                snprintf(path, size, "%s/%s", operands[i], name);
            else
                snprintf(path, size, "%s", name);
            files[found++] = path;
        } while (folder);

        if (!folder)
            continue;

        /* In alphabetical order, because that of a folder differs between systems. */
        closedir(entries);
        qsort(files + first, (size_t)(found - first), sizeof *files, compare_names);
        if (found == first) {
            print_err("yoke: the folder '%s' has no files that end in .dat, .hdf5 or .h5\n",
                      operands[i]);
            return -1;
        }
    }

    return found;
}

/* Solves all files. Returns the exit code. */
static int solve_files(session *s, char *const *files, int count)
{
    print_out("%-36s %-8s %6s  %-18s %-13s %7s  %9s  %10s\n", "file", "kind", "size", "solver",
              "outcome", "steps", "residual", "seconds");

    for (int i = 0; i < count; i++) {
        /* The contents determine the kind of the file. */
        const char *file = files[i];
        yk_problem_kind kind = YK_PROBLEM_CONTACT;
        yk_mlcp mlcp = {0};
        yk_status status = YK_OK;
        if (!yk_fclib_is_hdf5(file))
            status = yk_problem_file_kind(s->context, file, &kind);

        /* Contact problems are solved by all methods, complementarity problems by the only one. */
        bool is_contact = kind == YK_PROBLEM_CONTACT;
        if (status == YK_OK && is_contact)
            status = solve_contact(s, file);
        else if (status == YK_OK)
            status = yk_mlcp_read(s->context, file, &mlcp);

        if (status != YK_OK) {
            print_failure(s->context);
            s->unreadable++;
            continue;
        }

        if (is_contact)
            continue;

        /* The unknowns and the complementary variables. */
        double *z = yk_allocate(s->context, 2 * (size_t)mlcp.n + 1, sizeof *z);
        if (z) {
            yk_mlcp_options options = yk_mlcp_options_default();
            yk_contact_report report;
            status = yk_mlcp_solve(s->context, &mlcp, &options, z, z + mlcp.n, NULL, &report);
            add_row(&s->complementarity, file, kind == YK_PROBLEM_LCP ? "LCP" : "MLCP", mlcp.n,
                    "pivoting", status, report.iterations, report.residual, report.seconds);
            if (YK_FAILED(status))
                print_out("    %s\n", yk_last_message(s->context));

            for (int k = 0; s->solution && status == YK_OK && k < mlcp.n; k++)
                fprintf(s->solution, "%s,pivoting,%d,,%.17g,%.17g\n", behind_last(file, '/'), k + 1,
                        z[k], z[mlcp.n + k]);
        }

        yk_free(s->context, z);
        yk_mlcp_destroy(s->context, &mlcp);
    }

    /* Totals if there are several rows, or several methods to compare. */
    bool all = s->complementarity.solved == s->complementarity.tried;
    for (int m = 0; m < s->method_count; m++) {
        const tally *t = &s->contacts[m];
        print_tally(yk_contact_method_name(s->methods[m]), t, s->method_count > 1 ? 1 : 2);
        if (t->solved != t->tried)
            all = false;
    }

    print_tally("complementarity", &s->complementarity, 2);

    /* Comparison of the methods on the contact problems: a performance profile at three ratios to
     * the fastest. */
    bool comparable = s->method_count >= 2 && s->problem_count > 0;
    if (comparable)
        print_out("\n%-18s %9s %9s %10s %10s\n", "solver", "solved", "fastest", "within 2x",
                  "within 10x");

    for (int m = 0; comparable && m < s->method_count; m++) {
        static const double ratios[] = {1, 2, 10};
        int counts[3] = {0};
        for (int i = 0; i < s->problem_count; i++) {
            const double *times = s->times + (size_t)i * OPTION_LIST_MAX;
            double best = INFINITY;
            for (int k = 0; k < s->method_count; k++)
                best = fmin(best, times[k]);

            for (int k = 0; k < 3 && isfinite(times[m]); k++)
                counts[k] += times[m] <= ratios[k] * best;
        }

        print_out("%-18s %9d %9d %10d %10d\n", yk_contact_method_name(s->methods[m]),
                  s->contacts[m].solved, counts[0], counts[1], counts[2]);
    }

    if (comparable)
        print_out("of %d problems\n", s->problem_count);

    /* A file that could not be read determines the exit code, rather than an unsolved problem. */
    if (s->unreadable > 0) {
        print_out("%d could not be read\n", s->unreadable);
        return EXIT_MISUSE;
    }

    if (!all)
        return EXIT_FAILED;
    return EXIT_GOOD;
}

static int command_solve(int argc, char **argv)
{
    static const char *operands[FILES_MAX];
    static char *files[FILES_MAX];
    session s = {.options = yk_contact_options_default()};
    option_list solvers = {0};
    const char *friction = "coulomb";
    const char *history = NULL;
    const char *solution = NULL;
    bool simple = false;

    /* Defaults of options that a run takes from its scenario. */
    s.options.tolerance = 1e-8;
    s.options.max_iterations = 0;
    s.options.relaxation_factor = 1;

    const option_row rows[] = {
        {"solver", OPTION_LIST, &solvers, "NAME",
         "Use auto, gauss-seidel, projected-gradient, interior-point or pivoting; may be repeated"},
        {"friction-model", OPTION_TEXT, &friction, "MODEL",
         "Use convex-cone, coulomb or pyramid (default: coulomb)"},
        {"tolerance", OPTION_NUMBER, &s.options.tolerance, "T",
         "Stop at this residual (default: 1e-8)"},
        {"max-iterations", OPTION_COUNT, &s.options.max_iterations, "N",
         "Limit the iterations (default: that of the solver)"},
        {"relaxation-factor", OPTION_NUMBER, &s.options.relaxation_factor, "W",
         "Relaxation factor of Gauss-Seidel, between 0 and 2 (default: 1)"},
        {"projected-step", OPTION_FLAG, &simple, NULL,
         "Take one projected step per contact in Gauss-Seidel instead of an exact local solution"},
        {"solution", OPTION_TEXT, &solution, "FILE", "Write impulses and velocities as CSV"},
        {"history", OPTION_TEXT, &history, "FILE", "Write the residuals of all iterations as CSV"},
        RENAMED_ROW("simple", "projected-step"),
        RENAMED_ROW("friction", "friction-model"),
        RENAMED_ROW("iterations", "max-iterations"),
        {.kind = OPTION_END},
    };

    int count = options_parse(solve_usage, rows, argc, argv, operands, 1, FILES_MAX);
    if (count < 0)
        return options_exit(count);

    /* The words of the options; solvers in the given order. */
    int index = 0;
    if (!options_pick("friction-model", friction, friction_words, &index))
        return EXIT_MISUSE;

    s.options.friction_model = (yk_friction_model)index;
    s.options.exact_local_solve = !simple;
    for (int i = 0; i < solvers.count; i++) {
        if (!options_pick("solver", solvers.items[i], solver_words, &index))
            return EXIT_MISUSE;

        s.methods[s.method_count++] = (yk_contact_method)index;
    }

    /* Without a word the library chooses for each problem. */
    if (s.method_count == 0)
        s.methods[s.method_count++] = YK_CONTACT_AUTO;

    /* Residuals of all iterations, if requested. */
    yk_output outputs[2] = {0};
    bool good = true;
    if (history) {
        outputs[0] = yk_output_open(history);
        s.history = outputs[0].stream;
        s.options.residual_history = calloc(HISTORY_MAX, sizeof *s.options.residual_history);
        s.options.residual_history_capacity = HISTORY_MAX;
        good = s.history && s.options.residual_history;
        if (good)
            fprintf(s.history, "file,solver,check,residual\n");
        else
            print_unwritable(history);
    }

    /* All impulses and velocities, for programs that compare them. */
    if (solution && good) {
        outputs[1] = yk_output_open(solution);
        s.solution = outputs[1].stream;
        good = s.solution != NULL;
        if (good)
            fprintf(s.solution, "file,solver,contact,component,impulse,velocity\n");
        else
            print_unwritable(solution);
    }

    /* Replace folders by their files. */
    int code = EXIT_FAILED;
    int file_count = 0;
    if (good)
        file_count = list_files(operands, count, files);
    if (file_count < 0) {
        code = EXIT_MISUSE;
        file_count = 0;
    }

    /* A time per problem and method, for the comparison at the end. */
    s.times = calloc((size_t)file_count * OPTION_LIST_MAX + 1, sizeof *s.times);
    s.context = yk_context_create(NULL);
    if (file_count > 0 && s.context && s.times)
        code = solve_files(&s, files, file_count);

    /* If the output is incomplete, the command fails. */
    const char *const names[] = {history, solution};
    for (int i = 0; i < 2; i++) {
        bool opened = outputs[i].stream != NULL;
        if (!opened)
            yk_output_discard(&outputs[i]);
        if (!opened || close_written(&outputs[i], names[i]))
            continue;
        if (code == EXIT_GOOD)
            code = EXIT_FAILED;
    }

    for (int i = 0; i < FILES_MAX; i++)
        free(files[i]);
    free(s.times);
    free(s.options.residual_history);
    yk_context_destroy(s.context);
    return code;
}

/* Export --------------------------------------------------------------------------------------- */

static int command_export_problem(int argc, char **argv)
{
    const char *path;
    const char *output = NULL;
    const char *name = NULL;
    double time = NAN;
    option_list sets = {0};

    const option_row rows[] = {
        {"output", OPTION_TEXT, &output, "FILE", "Write the problem to FILE"},
        {"at", OPTION_NUMBER, &time, "SECONDS",
         "Take the step that ends at this time (default: the last step of the run)"},
        {"subsystem", OPTION_TEXT, &name, "NAME", "Select the subsystem, if several have contacts"},
        SET_ROW(&sets),
        RENAMED_ROW("time", "at"),
        {.kind = OPTION_END},
    };

    int count = options_parse(export_usage, rows, argc, argv, &path, 1, 1);
    if (count < 0)
        return options_exit(count);
    if (!output) {
        print_err("yoke: contact export needs -o FILE\n");
        return EXIT_MISUSE;
    }

    loaded l;
    if (!load_scenario(path, &sets, LOAD_TO_RUN, &l))
        return EXIT_MISUSE;

    /* Times before the end of the first step have no problem, nor have times after the run. */
    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
    double end = info->start + info->step * (double)info->step_count;
    if (isnan(time))
        time = end;
    if (!(time >= info->start + 0.5 * info->step && time <= end + 0.5 * info->step)) {
        print_err("yoke: --at %g: the run has steps up to t = %g s\n", time, end);
        close_scenario(&l);
        return EXIT_MISUSE;
    }

    yk_system *system;
    yk_status status = yk_scenario_system(l.scenario, &system);
    if (!YK_FAILED(status))
        status = yk_system_initialize(system);

    /* The nonsmooth subsystem with this name, or the only one; merged ones are one. */
    yk_nonsmooth *world = NULL;
    bool several = false;
    for (int i = 0; !YK_FAILED(status) && i < info->subsystem_count; i++) {
        int part;
        yk_transform transform;
        const yk_subsystem *shown =
            yk_system_visible_subsystem(system, (yk_subsystem_id){i}, &part, &transform);
        if (strcmp(shown->ops->kind, "nonsmooth") != 0)
            continue;
        if (name && strcmp(info->subsystem_names[i], name) != 0)
            continue;

        yk_nonsmooth *found = (yk_nonsmooth *)(uintptr_t)shown;
        several = several || (world && world != found);
        world = found;
    }

    if (!YK_FAILED(status) && (several || !world)) {
        if (several)
            print_err("yoke: several subsystems have contacts: choose one by --subsystem\n");
        else if (name)
            print_err("yoke: there is no nonsmooth subsystem '%s'\n", name);
        else
            print_err("yoke: no subsystem has contacts\n");
        close_scenario(&l);
        return EXIT_MISUSE;
    }

    /* Steps end at integer counts, and `time` may differ from one by rounding errors. */
    while (!YK_FAILED(status) && yk_system_time(system) < time - 0.5 * info->step)
        status = yk_system_step(system, NULL);

    /* Joints are eliminated, because the format does not support them. */
    yk_contact_problem problem = {0};
    yk_contact_problem reduced = {0};
    const yk_contact_problem *written = &problem;
    if (!YK_FAILED(status))
        status = yk_nonsmooth_problem(world, &problem);
    if (status == YK_OK && problem.w.block_rows > problem.contact_count) {
        status = yk_contact_eliminate_joints(l.context, &problem, &reduced);
        written = &reduced;
    }

    /* The ending of the name determines the format. */
    if (status == YK_OK && ends_in_hdf5(output))
        status = yk_fclib_write(l.context, output, written);
    else if (status == YK_OK)
        status = yk_contact_write(l.context, output, written);

    int code = EXIT_GOOD;
    if (status == YK_OK)
        print_out("%s: %d contacts of the step to t = %g s\n", output, problem.contact_count,
                  yk_system_time(system));
    else if (YK_FAILED(status))
        code = print_failure(l.context);

    yk_contact_problem_destroy(l.context, &problem);
    yk_contact_problem_destroy(l.context, &reduced);
    close_scenario(&l);
    return code;
}

int command_contact(int argc, char **argv)
{
    static const command_row commands[] = {
        {.name = "solve", .run = command_solve},
        {.name = "export", .run = command_export_problem},
    };

    if (argc > 1 && strcmp(argv[1], "dump") == 0) {
        print_err("yoke: 'contact dump' was renamed to 'contact export'\n");
        return EXIT_MISUSE;
    }

    char usages[4096];
    snprintf(usages, sizeof usages, "Usage: yoke %s\n\n       yoke %s\n", solve_usage,
             export_usage);
    return run_subcommand(usages, commands, 2, argc, argv);
}
