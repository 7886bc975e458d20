#include "contact/solver.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

yk_contact_options yk_contact_options_default(void)
{
    return (yk_contact_options){.method = YK_CONTACT_AUTOMATIC,
                                .friction = YK_FRICTION_COULOMB,
                                .tolerance = 1e-8,
                                .relaxation_factor = 1,
                                .exact_local = true,
                                .check_interval = 1};
}

/* Sweeps before the accurate method takes over, as many at a time, and at most. */
enum { SWEEPS = 10, SWEEPS_MAX = 100 };

/* Whether sweeps that took the residual from `before` to `after` will meet the tolerance within
 * those that are left. */
static bool sweeps_will_do(double before, double after, double tolerance, int sweeps_left)
{
    if (!(after < before))
        return false;

    /* Linear convergence: the rate of the last round is that of the next ones. */
    double rounds = log(tolerance / after) / log(after / before);
    return rounds * SWEEPS <= sweeps_left;
}

/* A few sweeps are often enough for loose tolerances; the accurate method wins soon below, and
 * wherever sweeps converge slowly, so that a loose tolerance costs no more than a tight one. */
static yk_status solve_automatic(yk_context *context, const yk_contact_problem *problem,
                                 const yk_contact_options *options, double *r, double *u,
                                 yk_contact_report *report)
{
    yk_contact_options part = *options;
    int limit = SWEEPS_MAX;
    if (options->iterations > 0 && options->iterations < limit)
        limit = options->iterations;

    /* Sweeps, as long as their rate of convergence promises the tolerance within the limit. */
    if (options->tolerance >= 1e-4) {
        part.check_interval = SWEEPS;
        part.relaxation_factor = 1;
        report->method = YK_CONTACT_GAUSS_SEIDEL;
        double before = INFINITY;
        do {
            part.iterations = report->iterations + SWEEPS;
            if (part.iterations > limit)
                part.iterations = limit;
            if (isfinite(report->residual) && report->iterations > 0)
                before = report->residual;
            if (yk_contact_solve_gauss_seidel(context, problem, &part, r, u, report) == YK_OK)
                return YK_OK;
        } while (report->iterations < limit &&
                 (isinf(before) || sweeps_will_do(before, report->residual, options->tolerance,
                                                  limit - report->iterations)));
    }

    /* The accurate method, which makes its own start; the limit is that of all steps together. */
    int sweeps = report->iterations;
    part.iterations = options->iterations;
    if (options->iterations > 0) {
        if (sweeps >= options->iterations)
            return yk_fail(context, YK_NOT_CONVERGED,
                           "contact: residual %.3g after %d sweeps, wanted %.3g", report->residual,
                           sweeps, options->tolerance);
        part.iterations -= sweeps;
    }

    part.relaxation_factor = options->relaxation_factor;
    report->method = YK_CONTACT_ACCURATE;
    yk_status status = yk_contact_solve_accurate(context, problem, &part, r, u, report);
    report->iterations += sweeps;

    /* Box friction of small problems by pivoting. */
    if (status != YK_NOT_CONVERGED || options->friction != YK_FRICTION_BOX ||
        problem->row_count > YK_PIVOT_ROWS_MAX)
        return status;

    part.warm_start = true;
    report->method = YK_CONTACT_PIVOT;
    return yk_contact_solve_pivot(context, problem, &part, r, u, report);
}

static const struct {
    const char *name;
    yk_contact_run *run;
} methods[] = {
    [YK_CONTACT_AUTOMATIC] = {"automatic", solve_automatic},
    [YK_CONTACT_GAUSS_SEIDEL] = {"gauss-seidel", yk_contact_solve_gauss_seidel},
    [YK_CONTACT_PROJECTED_GRADIENT] = {"projected-gradient", yk_contact_solve_gradient},
    [YK_CONTACT_ACCURATE] = {"accurate", yk_contact_solve_accurate},
    [YK_CONTACT_PIVOT] = {"pivot", yk_contact_solve_pivot},
};
enum { METHODS = sizeof methods / sizeof *methods };

const char *yk_contact_method_name(yk_contact_method method)
{
    if ((unsigned)method >= METHODS)
        return "unknown";
    return methods[method].name;
}

yk_status yk_contact_solve(yk_context *context, const yk_contact_problem *problem,
                           const yk_contact_options *options, double *r, double *u,
                           yk_contact_report *report)
{
    double start = yk_clock_seconds();
    *report = (yk_contact_report){.method = options->method};

    /* Options and problem as they are given. */
    if (!(options->relaxation_factor > 0 && options->relaxation_factor < 2))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "contact: the relaxation factor is %g, it must lie between 0 and 2",
                       options->relaxation_factor);
    if ((unsigned)options->method >= METHODS)
        return yk_fail(context, YK_ERROR_ARGUMENT, "contact: unknown method %d",
                       (int)options->method);
    if (!(options->tolerance >= 0) || options->iterations < 0)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "contact: tolerance %g and iterations %d must not be negative",
                       options->tolerance, options->iterations);
    if (options->method == YK_CONTACT_PIVOT && options->friction != YK_FRICTION_BOX)
        return yk_fail(
            context, YK_ERROR_ARGUMENT,
            "contact: pivoting knows linear bounds only; ask for box friction or another method");

    yk_status status = yk_contact_problem_check(context, problem);
    if (status != YK_OK)
        return status;

    /* From zero, or from what the caller knows. */
    size_t rows = (size_t)problem->row_count;
    if (!options->warm_start)
        memset(r, 0, rows * sizeof *r);
    if (rows == 0)
        return YK_OK;

    /* The velocities are found even where nobody asks for them. */
    double *own_u = u;
    if (!own_u)
        own_u = yk_allocate(context, rows, sizeof *own_u);
    if (!own_u)
        return YK_ERROR_MEMORY;

    status = methods[options->method].run(context, problem, options, r, own_u, report);
    if (!u)
        yk_release(context, own_u);
    report->seconds = yk_clock_seconds() - start;
    return status;
}
