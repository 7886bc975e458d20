/* yoke contact solve: stored contact and complementarity problems, solved and tabulated. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "contact/mlcp.h"
#include "contact/read.h"
#include "contact/solver.h"

static const char usage[] =
    "contact solve FILE... [--solver S]... [--friction F] [--tolerance T] [--iterations N] "
    "[--history FILE.csv]\n\n"
    "Solves frictional contact problems (FCLIB and Siconos text files), LCPs and MLCPs and prints "
    "residual, iterations and\n"
    "time of each. The residual of contact problems is || r - P(r - rho u^) || / rho / ||q|| with "
    "rho = 1 / mean(diag W).";

static const char *const solver_words[] = {"automatic", "gauss-seidel", "projected-gradient",
                                           "accurate",  "pivot",        NULL};
static const char *const friction_words[] = {"cone", "coulomb", "box", NULL};

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
    FILE *history;
    tally contacts[OPTION_LIST_MAX]; /* per method */
    tally complementarity;
    int unreadable;
} session;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash)
        return slash + 1;
    return path;
}

/* A row of the table, counted in a tally. */
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

    printf("%-36.36s %-8s %6d  %-18s %-13s %7d  %9.2e  %10.6f\n", base_name(file), kind, size,
           solver, outcome, iterations, residual, seconds);

    t->tried++;
    if (status == YK_OK)
        t->solved++;
    t->seconds += seconds;
}

/* By every method that is asked for. */
static yk_status solve_contact(session *s, const char *file)
{
    yk_contact_problem problem;
    yk_status status = yk_contact_read(s->context, file, &problem);
    if (status != YK_OK)
        return status;

    double *r = yk_allocate(s->context, (size_t)problem.row_count + 1, sizeof *r);

    /* A table row per method, all on the same problem. */
    for (int m = 0; r && m < s->method_count; m++) {
        yk_contact_report report;

        s->options.method = s->methods[m];
        status = yk_contact_solve(s->context, &problem, &s->options, r, NULL, &report);
        const char *name = yk_contact_method_name(report.method);
        add_row(&s->contacts[m], file, "contact", problem.contact_count, name, status,
                report.iterations, report.residual, report.seconds);
        if (YK_FAILED(status))
            fprintf(stderr, "yoke: %s: %s\n", file, yk_last_message(s->context));

        /* Where residuals are wanted, all of them. */
        for (int k = 0; s->history && k < report.history_count; k++)
            fprintf(s->history, "%s,%s,%d,%.9e\n", base_name(file), name, k + 1,
                    s->options.history[k]);
    }

    yk_release(s->context, r);
    yk_contact_problem_destroy(s->context, &problem);
    return YK_OK;
}

static yk_status solve_complementarity(session *s, const char *file, const char *kind)
{
    yk_mlcp problem;
    yk_status status = yk_mlcp_read(s->context, file, &problem);
    if (status != YK_OK)
        return status;

    /* The unknowns and what is complementary to them. */
    double *z = yk_allocate(s->context, 2 * (size_t)problem.n + 1, sizeof *z);
    if (z) {
        yk_mlcp_options options = yk_mlcp_options_default();
        yk_mlcp_report report;
        status = yk_mlcp_solve(s->context, &problem, &options, z, z + problem.n, NULL, &report);
        add_row(&s->complementarity, file, kind, problem.n, "pivot", status, report.pivots,
                report.residual, report.seconds);
        if (YK_FAILED(status))
            printf("    %s\n", yk_last_message(s->context));
    }

    yk_release(s->context, z);
    yk_mlcp_destroy(s->context, &problem);
    return YK_OK;
}

static void print_tally(const char *name, const tally *t, int least)
{
    if (t->tried >= least)
        printf("%s: %d of %d solved, %.6f s\n", name, t->solved, t->tried, t->seconds);
}

/* Solves all files. Returns the exit code. */
static int solve_files(session *s, const char *const *files, int count)
{
    printf("%-36s %-8s %6s  %-18s %-13s %7s  %9s  %10s\n", "file", "kind", "size", "solver",
           "outcome", "steps", "residual", "seconds");

    /* What the file holds is found from its contents. */
    for (int i = 0; i < count; i++) {
        yk_problem_kind kind;
        yk_status status = yk_problem_file_kind(s->context, files[i], &kind);
        if (status == YK_OK && kind == YK_PROBLEM_CONTACT)
            status = solve_contact(s, files[i]);
        else if (status == YK_OK)
            status = solve_complementarity(s, files[i], kind == YK_PROBLEM_LCP ? "LCP" : "MLCP");

        if (status != YK_OK) {
            print_failure(s->context);
            s->unreadable++;
        }
    }

    /* Totals where there are several rows, or several methods beside each other. */
    bool all = s->complementarity.solved == s->complementarity.tried;
    for (int m = 0; m < s->method_count; m++) {
        const tally *t = &s->contacts[m];
        print_tally(yk_contact_method_name(s->methods[m]), t, s->method_count > 1 ? 1 : 2);
        if (t->solved != t->tried)
            all = false;
    }
    print_tally("complementarity", &s->complementarity, 2);

    if (s->unreadable > 0) {
        printf("%d could not be read\n", s->unreadable);
        return EXIT_MISUSE;
    }

    if (!all)
        return EXIT_FAILED;
    return EXIT_GOOD;
}

int command_contact(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "solve") != 0) {
        bool help = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
        fprintf(help ? stdout : stderr, "usage: yoke %s\n", usage);
        if (help)
            return EXIT_GOOD;
        return EXIT_MISUSE;
    }

    static const char *files[FILES_MAX];
    session s = {.options = yk_contact_options_default()};
    option_list solvers = {0};
    const char *friction = "coulomb";
    const char *history = NULL;
    bool simple = false;
    s.options.tolerance = 1e-8;
    s.options.iterations = 0;
    s.options.relaxation_factor = 1;

    const option_row rows[] = {
        {"solver", OPTION_LIST, &solvers, "NAME",
         "automatic, gauss-seidel, projected-gradient, accurate or pivot; may be given again"},
        {"friction", OPTION_TEXT, &friction, "MODEL", "cone, coulomb (default) or box"},
        {"tolerance", OPTION_NUMBER, &s.options.tolerance, "T", "on the residual (default 1e-8)"},
        {"iterations", OPTION_COUNT, &s.options.iterations, "N",
         "at most (default: the solver's own)"},
        {"relaxation-factor", OPTION_NUMBER, &s.options.relaxation_factor, "W",
         "of Gauss-Seidel, between 0 and 2 (default 1)"},
        {"simple", OPTION_FLAG, &simple, NULL,
         "Gauss-Seidel takes one projected step per contact, no exact local solution"},
        {"history", OPTION_TEXT, &history, "FILE", "write all residuals as CSV"},
        {.kind = OPTION_END},
    };
    int count = options_parse(usage, rows, argc - 1, argv + 1, files, 1, FILES_MAX);
    if (count < 0)
        return options_exit(count);

    /* The words of the options; solvers in the order in which they were given. */
    int index = 0;
    if (!options_pick("friction", friction, friction_words, &index))
        return EXIT_MISUSE;

    s.options.friction = (yk_friction_model)index;
    s.options.exact_local = !simple;
    for (int i = 0; i < solvers.count; i++) {
        if (!options_pick("solver", solvers.items[i], solver_words, &index))
            return EXIT_MISUSE;

        s.methods[s.method_count++] = (yk_contact_method)index;
    }

    if (s.method_count == 0)
        s.methods[s.method_count++] = YK_CONTACT_AUTOMATIC;

    /* Residuals of all iterations, where they are asked for. */
    bool good = true;
    if (history) {
        s.history = fopen(history, "w");
        s.options.history = calloc(HISTORY_MAX, sizeof *s.options.history);
        s.options.history_capacity = HISTORY_MAX;
        good = s.history && s.options.history;
        if (good)
            fprintf(s.history, "file,solver,check,residual\n");
        else
            print_unwritable(history);
    }

    int code = EXIT_FAILED;
    s.context = yk_context_create(NULL);
    if (good && s.context)
        code = solve_files(&s, files, count);
    if (s.history && fclose(s.history) != 0) {
        print_unwritable(history);
        if (code == EXIT_GOOD)
            code = EXIT_FAILED;
    }

    free(s.options.history);
    yk_context_destroy(s.context);
    return code;
}
