/* Options of contact solvers, which yoke/nonsmooth.h offers to users.
 *
 *   gauss-seidel        block Gauss-Seidel with over-relaxation; cheapest up to residuals of 1e-3
 *                       or 1e-4
 *   projected-gradient  accelerated projected gradient: Nesterov with adaptive restart and
 *                       backtracking
 *   interior-point      reaches 1e-8 and less on hard, rank-deficient problems
 *   pivoting            pyramid friction by pivoting on the mixed linear complementarity problem;
 *                       assembled problems only
 *   auto                assembled problems: Gauss-Seidel for loose tolerances, then interior-point,
 *                       for pyramid friction pivoting; networks of bodies: Gauss-Seidel
 *
 * All solve the convex cone problem and true Coulomb friction. Sweeps and gradient steps on
 * Coulomb's problem need not converge: with high friction they may cycle near the solution. */
#ifndef YOKE_CONTACT_H
#define YOKE_CONTACT_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum yk_friction_model {
    /* the convex cone complementarity problem: sliding contacts separate with friction times speed */
    YK_FRICTION_CONVEX_CONE,
    YK_FRICTION_COULOMB, /* true Coulomb friction */
    YK_FRICTION_PYRAMID  /* two separate directions */
} yk_friction_model;

typedef enum yk_contact_method {
    YK_CONTACT_AUTO,
    YK_CONTACT_GAUSS_SEIDEL,
    YK_CONTACT_PROJECTED_GRADIENT,
    YK_CONTACT_INTERIOR_POINT,
    YK_CONTACT_PIVOTING
} yk_contact_method;

typedef struct yk_contact_options {
    yk_contact_method method;
    yk_friction_model friction_model;
    /* on the residual: of networks a velocity (m/s), otherwise relative; 0: make all iterations,
     * interior-point a relative 1e-8 */
    double tolerance;
    int max_iterations;       /* at most; 0: the method's own limit */
    double relaxation_factor; /* Gauss-Seidel: factor on the local step, in (0, 2) */
    /* Gauss-Seidel: solve each contact's own problem, not just one projected step on it */
    bool exact_local_solve;
    bool warm_start;          /* start from the given impulses, not from zero */
    int check_interval;       /* Gauss-Seidel: sweeps between looks at the residual */
    double *residual_history; /* NULL, or room for the residual after each check */
    int residual_history_capacity;
} yk_contact_options;

/* Automatic, Coulomb friction, tolerance 1e-8. */
yk_contact_options yk_contact_options_default(void);
/* "gauss-seidel" */
const char *yk_contact_method_name(yk_contact_method method);

#ifdef __cplusplus
}
#endif

#endif
