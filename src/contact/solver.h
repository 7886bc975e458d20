/* One interface to all solvers of contact problems: typed options in, a report back.
 *
 *   gauss-seidel        block Gauss-Seidel with over-relaxation; cheapest to 1e-3 or 1e-4
 *   projected-gradient  accelerated projected gradient: Nesterov with adaptive restart and backtracking
 *   accurate            reaches 1e-8 and less on hard, rank-deficient problems (interior_point.c)
 *   pivot               box friction by pivoting on the mixed linear complementarity problem (mlcp.c)
 *   automatic           assembled problems: Gauss-Seidel for loose tolerances, then the accurate method, then
 *                       pivoting for box friction; networks: Gauss-Seidel
 *
 * All solve the convex cone problem and true Coulomb friction; the gradient method lets the term
 * mu |u_T| follow its iterates. Sweeps and gradient steps on Coulomb's problem need not converge:
 * with much friction they may run in circles near the solution. Networks (network.h) take the
 * same options; there the gradient and Gauss-Seidel need no W, the accurate method assembles it. */
#ifndef YK_CONTACT_SOLVER_H
#define YK_CONTACT_SOLVER_H

#include "contact/problem.h"

typedef struct yk_contact_report {
    yk_contact_method method; /* that gave the result */
    int iterations;           /* sweeps, gradient or Newton steps, pivots */
    double residual;          /* of the result, always computed afresh */
    double seconds;           /* wall time */
    int history_count;
} yk_contact_report;

yk_contact_options yk_contact_options_default(void);
const char *yk_contact_method_name(yk_contact_method method);

/* r (row_count): start value with options->warm_start, result; u (row_count, may be NULL):
 * velocities of the result. YK_NOT_CONVERGED leaves the best iterate in r and says so in the
 * report. */
yk_status yk_contact_solve(yk_context *context, const yk_contact_problem *problem,
                           const yk_contact_options *options, double *r, double *u,
                           yk_contact_report *report);

/* The methods for assembled problems, in solver.c and interior_point.c. A new one is its declaration here
 * and its row in solver.c. */

/* As yk_contact_solve with options and problem checked; r holds the start value, u must not be
 * NULL. */
typedef yk_status yk_contact_run(yk_context *context, const yk_contact_problem *problem,
                                 const yk_contact_options *options, double *r, double *u,
                                 yk_contact_report *report);

yk_contact_run yk_contact_solve_gauss_seidel;
yk_contact_run yk_contact_solve_gradient;
yk_contact_run yk_contact_solve_accurate;
yk_contact_run yk_contact_solve_pivot;

/* Pivoting works on a dense matrix. */
enum { YK_PIVOT_ROWS_MAX = 1000 };

/* A stop is looked for after so many sweeps, however many are made between two residuals. */
enum { YK_SWEEPS_PER_LOOK = 32 };

/* Block Gauss-Seidel: `sweeps` over all contacts and bilateral blocks, r in place. */
void yk_gauss_seidel_sweeps(const yk_contact_problem *problem, yk_friction_model friction,
                            double relaxation_factor, bool exact_local, int sweeps, double *r);

#endif
