/* yoke contact solve: stored contact and complementarity problems, solved and tabulated. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "contact/mlcp.h"
#include "contact/read.h"
#include "contact/solver.h"
#include "options.h"

static const char usage[] = "contact solve FILE... [--solver S]... [--friction F] [--tolerance T] "
                            "[--iterations N] [--history FILE.csv]\n\n"
                            "Solves frictional contact problems (FCLIB and Siconos text files), "
                            "LCPs and MLCPs and prints residual, iterations "
                            "and\n"
                            "time of each. The residual of contact problems is || r - P(r - rho "
                            "u^) || / rho / ||q|| with rho = 1 / mean(diag "
                            "W).";

static const char *const solver_words[] = {"automatic", "gauss-seidel", "projected-gradient",
                                           "accurate",  "pivot",        NULL};
static const char *const friction_words[] = {"cone", "coulomb", "box", NULL};

enum { FILES_MAX = 4096, HISTORY_MAX = 100000 };

typedef struct request {
    option_list solvers;
    const char *friction, *history;
    double tolerance, relaxation_factor;
    int iterations;
    bool simple;
} request;

typedef struct tally {
    int solved, tried;
    double seconds;
} tally;

typedef struct session {
    yk_context *context;
    const request *request;
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
    return slash ? slash + 1 : path;
}

static const char *outcome(yk_status status)
{
    if (status == YK_OK)
        return "solved";
    if (status == YK_NOT_CONVERGED)
        return "not converged";
    if (status == YK_ERROR_NO_SOLUTION)
        return "no solution";
    return "failed";
}

static void print_row(const char *file, const char *kind, int size, const char *solver,
                      yk_status status, int iterations, double residual, double seconds)
{
    printf("%-36.36s %-8s %6d  %-18s %-13s %7d  %9.2e  %10.6f\n", base_name(file), kind, size,
           solver, outcome(status), iterations, residual, seconds);
}

static void write_history(session *s, const char *file, const char *solver,
                          const yk_contact_report *report)
{
    for (int k = 0; s->history && k < report->history_count; k++)
        fprintf(s->history, "%s,%s,%d,%.9e\n", base_name(file), solver, k + 1,
                s->options.history[k]);
}

static void count(tally *t, yk_status status, double seconds)
{
    t->tried++;
    t->solved += status == YK_OK;
    t->seconds += seconds;
}

static void solve_contact(session *s, const char *file)
{
    yk_contact_problem problem;
    if (yk_contact_read(s->context, file, &problem) != YK_OK) {
        fprintf(stderr, "yoke: %s\n", yk_last_message(s->context));
        s->unreadable++;
        return;
    }
    double *r = yk_allocate(s->context, (size_t)problem.row_count + 1, sizeof *r);
    for (int m = 0; r && m < s->method_count; m++) {
        yk_contact_report report;
        s->options.method = s->methods[m];
        yk_status status = yk_contact_solve(s->context, &problem, &s->options, r, NULL, &report);
        print_row(file, "contact", problem.contact_count, yk_contact_method_name(report.method),
                  status, report.iterations, report.residual, report.seconds);
        if (status < 0)
            fprintf(stderr, "yoke: %s: %s\n", file, yk_last_message(s->context));
        write_history(s, file, yk_contact_method_name(report.method), &report);
        count(&s->contacts[m], status, report.seconds);
    }
    yk_release(s->context, r);
    yk_contact_problem_destroy(s->context, &problem);
}

static void solve_complementarity(session *s, const char *file, const char *kind)
{
    yk_mlcp problem;
    if (yk_mlcp_read(s->context, file, &problem) != YK_OK) {
        fprintf(stderr, "yoke: %s\n", yk_last_message(s->context));
        s->unreadable++;
        return;
    }
    double *z = yk_allocate(s->context, 2 * (size_t)problem.n + 1, sizeof *z);
    if (z) {
        yk_mlcp_options options = yk_mlcp_options_default();
        yk_mlcp_report report;
        yk_status status =
            yk_mlcp_solve(s->context, &problem, &options, z, z + problem.n, NULL, &report);
        print_row(file, kind, problem.n, "pivot", status, report.pivots, report.residual,
                  report.seconds);
        if (status < 0)
            printf("    %s\n", yk_last_message(s->context));
        count(&s->complementarity, status, report.seconds);
    }
    yk_release(s->context, z);
    yk_mlcp_destroy(s->context, &problem);
}

static void solve_file(session *s, const char *file)
{
    yk_problem_kind kind;
    if (yk_problem_file_kind(s->context, file, &kind) != YK_OK) {
        fprintf(stderr, "yoke: %s\n", yk_last_message(s->context));
        s->unreadable++;
    } else if (kind == YK_PROBLEM_CONTACT) {
        solve_contact(s, file);
    } else {
        solve_complementarity(s, file, kind == YK_PROBLEM_LCP ? "LCP" : "MLCP");
    }
}

static bool read_request(session *s, const request *r)
{
    int index = 0;
    if (!options_pick("friction", r->friction, friction_words, &index))
        return false;
    s->options = yk_contact_options_default();
    s->options.friction = (yk_friction_model)index;
    s->options.tolerance = r->tolerance;
    s->options.iterations = r->iterations;
    s->options.relaxation_factor = r->relaxation_factor;
    s->options.exact_local = !r->simple;
    for (int i = 0; i < r->solvers.count; i++) {
        if (!options_pick("solver", r->solvers.items[i], solver_words, &index))
            return false;
        s->methods[s->method_count++] = (yk_contact_method)index;
    }
    if (s->method_count == 0)
        s->methods[s->method_count++] = YK_CONTACT_AUTOMATIC;
    return true;
}

static bool open_history(session *s, const char *path)
{
    if (!path)
        return true;
    s->history = fopen(path, "w");
    s->options.history = calloc(HISTORY_MAX, sizeof *s->options.history);
    s->options.history_capacity = HISTORY_MAX;
    if (!s->history || !s->options.history) {
        fprintf(stderr, "yoke: cannot write %s: %s\n", path, strerror(errno));
        return false;
    }
    fprintf(s->history, "file,solver,check,residual\n");
    return true;
}

static bool print_tally(const char *name, const tally *t, bool always)
{
    if (t->tried > 1 || (always && t->tried > 0))
        printf("%s: %d of %d solved, %.6f s\n", name, t->solved, t->tried, t->seconds);
    return t->solved == t->tried;
}

/* Returns whether everything was solved. */
static bool print_totals(const session *s)
{
    bool all = s->unreadable == 0;
    for (int m = 0; m < s->method_count; m++)
        all &= print_tally(yk_contact_method_name(s->methods[m]), &s->contacts[m],
                           s->method_count > 1);
    all &= print_tally("complementarity", &s->complementarity, false);
    if (s->unreadable)
        printf("%d could not be read\n", s->unreadable);
    return all;
}

static int run_solve(int argc, char **argv)
{
    static const char *files[FILES_MAX];
    request r = {.friction = "coulomb", .tolerance = 1e-8, .relaxation_factor = 1};
    const option_row rows[] = {
        {"solver", OPTION_LIST, &r.solvers, "NAME",
         "automatic, gauss-seidel, projected-gradient, accurate or pivot; may be given again"},
        {"friction", OPTION_TEXT, &r.friction, "MODEL", "cone, coulomb (default) or box"},
        {"tolerance", OPTION_NUMBER, &r.tolerance, "T", "on the residual (default 1e-8)"},
        {"iterations", OPTION_COUNT, &r.iterations, "N", "at most (default: the solver's own)"},
        {"relaxation-factor", OPTION_NUMBER, &r.relaxation_factor, "W",
         "of Gauss-Seidel, between 0 and 2 (default 1)"},
        {"simple", OPTION_FLAG, &r.simple, NULL,
         "Gauss-Seidel takes one projected step per contact, no exact local solution"},
        {"history", OPTION_TEXT, &r.history, "FILE", "write all residuals as CSV"},
        {.kind = OPTION_END}};
    int parsed = options_parse(usage, rows, argc, argv, files, 1, FILES_MAX);
    if (parsed < 0)
        return options_exit(parsed);
    session s = {.request = &r};
    if (!read_request(&s, &r))
        return EXIT_MISUSE;
    yk_context_def def = yk_context_default();
    s.context = yk_context_create(&def);
    bool all = s.context && open_history(&s, r.history);
    if (all) {
        printf("%-36s %-8s %6s  %-18s %-13s %7s  %9s  %10s\n", "file", "kind", "size", "solver",
               "outcome", "steps", "residual", "seconds");
        for (int i = 0; i < parsed; i++)
            solve_file(&s, files[i]);
        all = print_totals(&s);
    }
    if (s.history && fclose(s.history) != 0) {
        fprintf(stderr, "yoke: cannot write %s: %s\n", r.history, strerror(errno));
        all = false;
    }
    free(s.options.history);
    yk_context_destroy(s.context);
    return s.unreadable ? EXIT_MISUSE : all ? EXIT_GOOD : EXIT_FAILED;
}

int command_contact(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "solve") == 0)
        return run_solve(argc - 1, argv + 1);
    bool help = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    fprintf(help ? stdout : stderr, "usage: yoke %s\n", usage);
    return help ? EXIT_GOOD : EXIT_MISUSE;
}
