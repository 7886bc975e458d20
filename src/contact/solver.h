/* One interface to all solvers of contact problems: typed options in, a report back.
 *
 *   gauss-seidel        block Gauss-Seidel with over-relaxation; cheapest to 1e-3 or 1e-4
 *   projected-gradient  accelerated projected gradient: Nesterov with adaptive restart and backtracking
 *   accurate            reaches 1e-8 and less on hard, rank-deficient problems (see accurate.c)
 *   pivot               box friction by pivoting on the mixed linear complementarity problem (mlcp.h)
 *   automatic           a short Gauss-Seidel phase and, where that is not enough, the accurate method
 *
 * The gradient method solves the convex problem; true Coulomb friction is reached by an outer fixed point on the term
 * mu |u_T| which the projection of the next iterate takes from the last. */
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
    double tolerance;   /* on the residual: relative (yk_contact_residual) or, for networks, a velocity; 0: use all
                           iterations */
    int iterations;     /* at most; 0: the method's own limit */
    double relaxation;  /* Gauss-Seidel: factor on the local step, in (0, 2) */
    bool exact_local;   /* Gauss-Seidel: solve each contact's own problem exactly, not by one projected step */
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
const char *yk_friction_model_name(yk_friction_model friction);

/* r (row_count): start value with options->warm_start, result; u (row_count, may be NULL): velocities of the result.
 * YK_NOT_CONVERGED leaves the best iterate in r and says so in the report. */
yk_status yk_contact_solve(yk_context *context, const yk_contact_problem *problem, const yk_contact_options *options,
                           double *r, double *u, yk_contact_report *report);

#endif
