/* The methods behind yk_contact_solve (solver.h) for assembled problems, one file each:
 * gauss_seidel.c, gradient.c, accurate.c, pivot.c. A new one is its file, its declaration here
 * and its row in solver.c. */
#ifndef YK_CONTACT_METHODS_H
#define YK_CONTACT_METHODS_H

#include "contact/solver.h"

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

/* Block Gauss-Seidel: `sweeps` over all contacts and bilateral blocks, r in place. */
void yk_gauss_seidel_sweeps(const yk_contact_problem *problem, yk_friction_model friction,
                            double relaxation_factor, bool exact_local, int sweeps, double *r);

#endif
