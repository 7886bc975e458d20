/* One interface to all solvers of contact problems: typed options in, a report back.
 *
 *   gauss-seidel        block Gauss-Seidel with over-relaxation; cheapest to 1e-3 or 1e-4
 *   projected-gradient  accelerated projected gradient: Nesterov with adaptive restart and backtracking
 *   accurate            reaches 1e-8 and less on hard, rank-deficient problems (accurate.c)
 *   pivot               box friction by pivoting on the mixed linear complementarity problem (pivot.c, mlcp.c)
 *   automatic           assembled problems: Gauss-Seidel for loose tolerances, then the accurate method, then for box
 * friction
 *                       pivoting; networks: Gauss-Seidel
 *
 * All solve the convex cone problem and true Coulomb friction; the gradient method lets the term
 * mu |u_T| follow its iterates. Sweeps and gradient steps on Coulomb's problem need not converge:
 * with much friction they may run in circles near the solution. Networks (network.h) take the
 * same options; there the gradient and Gauss-Seidel need no W, the accurate method assembles it. */
#ifndef YK_CONTACT_SOLVER_H
#define YK_CONTACT_SOLVER_H

#include "contact/problem.h"

typedef enum yk_contact_method {
    YK_CONTACT_AUTOMATIC,
    YK_CONTACT_GAUSS_SEIDEL,
    YK_CONTACT_PROJECTED_GRADIENT,
    YK_CONTACT_ACCURATE,
    YK_CONTACT_PIVOT
} yk_contact_method;

typedef struct yk_contact_options {
    yk_contact_method method;
    yk_friction_model friction;
    double
        tolerance; /* on the residual: relative (yk_contact_residual) or, for networks, a velocity; 0: use all
                           iterations, the accurate method a relative 1e-8 */
    int iterations;           /* at most; 0: the method's own limit */
    double relaxation_factor; /* Gauss-Seidel: factor on the local step, in (0, 2) */
    /* Gauss-Seidel: solve each contact's own problem, not just one projected step on it */
    bool exact_local;
    bool warm_start;    /* start from the given impulses, not from zero */
    int check_interval; /* Gauss-Seidel: sweeps between looks at the residual */
    double *history;    /* NULL, or room for the residual after each check */
    int history_capacity;
} yk_contact_options;

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

#endif
