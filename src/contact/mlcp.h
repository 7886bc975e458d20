/* Mixed linear complementarity problems with bounds, and a pivoting solver that finds active and
 * tight sets.
 *
 *   w = M z + q, for each row: z = lower and w >= 0, or lower < z < upper and w = 0, or z = upper
 *   and w <= 0
 *
 * (Peiret et al. 2020, equations 19, 20, 26). lower = 0, upper = inf is the linear complementarity
 * problem; lower = -inf, upper = inf an equation. M need be neither symmetric nor definite. */
#ifndef YK_CONTACT_MLCP_H
#define YK_CONTACT_MLCP_H

#include "contact/solver.h"

typedef struct yk_mlcp {
    int n;
    double *m; /* row-major, n x n */
    double *q;
    double *lower, *upper;
} yk_mlcp;

/* Set of a row: active (w = 0) or tight at a bound (Peiret et al. 2020). */
enum { YK_MLCP_LOWER = -1, YK_MLCP_ACTIVE = 0, YK_MLCP_UPPER = 1 };

typedef struct yk_mlcp_options {
    int pivots;       /* largest number of pivots; 0: 50 (n + 10) */
    double tolerance; /* on the residual of the result */
    /* added to the diagonal of M, relative to its largest element (Peiret et al. 2020, section
     * 4.1); 0: none */
    double regularisation;
} yk_mlcp_options;

yk_mlcp_options yk_mlcp_options_default(void);

/* Allocates zeroed arrays from the context; the bounds are those of a linear complementarity
 * problem. */
yk_status yk_mlcp_create(yk_context *context, int n, yk_mlcp *problem);
void yk_mlcp_destroy(yk_context *context, yk_mlcp *problem);

/* z and w (n each) receive the solution, state (n, may be NULL) the sets. The residual in the
 * report is the largest violation: w relative to |q| and max |M| max |z| of its row, z relative to
 * max |z|. YK_ERROR_NO_SOLUTION, with an explanation: there is no solution or none was found.
 * YK_ERROR_ARGUMENT: crossed bounds, or numbers that are not finite. */
yk_status yk_mlcp_solve(yk_context *context, const yk_mlcp *problem, const yk_mlcp_options *options,
                        double *z, double *w, int *state, yk_contact_report *report);

/* The same residual for any z; w receives M z + q. */
double yk_mlcp_residual(const yk_mlcp *problem, const double *z, double *w);

#endif
