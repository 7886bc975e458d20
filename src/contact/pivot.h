/* Box friction by pivoting. */
#ifndef YK_CONTACT_PIVOT_H
#define YK_CONTACT_PIVOT_H

#include "contact/solver.h"

enum { YK_PIVOT_ROWS_MAX = 1000 }; /* pivoting works on a dense matrix */

/* As yk_contact_solve, for YK_CONTACT_PIVOT; u must not be NULL. */
yk_status yk_contact_solve_pivot(yk_context *context, const yk_contact_problem *problem,
                                 const yk_contact_options *options, double *r, double *u, yk_contact_report *report);

#endif
