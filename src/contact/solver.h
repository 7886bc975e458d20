/* One interface to all solvers of contact problems: typed options in, a report out.
 *
 *   gauss-seidel        block Gauss-Seidel with over-relaxation; cheapest up to residuals of 1e-3
 *                       or 1e-4
 *   projected-gradient  accelerated projected gradient: Nesterov with adaptive restart and
 *                       backtracking
 *   interior-point      reaches 1e-8 and less on hard, rank-deficient problems (interior_point.c)
 *   pivoting            pyramid friction by pivoting on the mixed linear complementarity problem
 *                       (mlcp.c)
 *   auto                assembled problems: Gauss-Seidel for loose tolerances, then the
 *                       interior-point method, then pivoting for pyramid friction; networks:
 *                       Gauss-Seidel
 *
 * All solve the convex cone problem and true Coulomb friction; the gradient method updates the term
 * mu |u_T| with its iterates. Sweeps and gradient steps on Coulomb's problem need not converge:
 * with high friction they may cycle near the solution. Networks (network.h) use the same options;
 * for them the gradient method and Gauss-Seidel need no W, the interior-point method assembles it. */
#ifndef YK_CONTACT_SOLVER_H
#define YK_CONTACT_SOLVER_H

#include "contact/problem.h"

typedef struct yk_contact_report {
    yk_contact_method method; /* method that gave the result */
    int iterations;           /* sweeps, gradient or Newton steps, pivots */
    double residual;          /* of the result, always computed again */
    double seconds;           /* wall time */
    int history_count;
} yk_contact_report;

yk_contact_options yk_contact_options_default(void);
const char *yk_contact_method_name(yk_contact_method method);

/* r (row_count): initial guess if options->warm_start is set, and result; u (row_count, may be
 * NULL): velocities of the result. YK_NOT_CONVERGED: r contains the best iterate. */
yk_status yk_contact_solve(yk_context *context, const yk_contact_problem *problem,
                           const yk_contact_options *options, double *r, double *u,
                           yk_contact_report *report);

/* The methods for assembled problems, in solver.c and interior_point.c. A new one needs its
 * declaration here and its row in solver.c. */

/* Like yk_contact_solve() with checked options and problem; r contains the initial guess, u must
 * not be NULL. */
typedef yk_status yk_contact_run(yk_context *context, const yk_contact_problem *problem,
                                 const yk_contact_options *options, double *r, double *u,
                                 yk_contact_report *report);

yk_contact_run yk_contact_solve_gauss_seidel;
yk_contact_run yk_contact_solve_gradient;
yk_contact_run yk_contact_solve_accurate;
yk_contact_run yk_contact_solve_pivot;

/* Pivoting works on a dense matrix. */
enum { YK_PIVOT_ROWS_MAX = 1000 };

/* A request to stop is checked after this number of sweeps, independent of the interval of
 * residuals. */
enum { YK_SWEEPS_PER_LOOK = 32 };

/* Block Gauss-Seidel: `sweeps` over all contacts and bilateral blocks, r in place. */
void yk_gauss_seidel_sweeps(const yk_contact_problem *problem, yk_friction_model friction,
                            double relaxation_factor, bool exact_local, int sweeps, double *r);

#endif
