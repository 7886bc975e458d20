/* Block Gauss-Seidel on assembled problems. */
#ifndef YK_CONTACT_GAUSS_SEIDEL_H
#define YK_CONTACT_GAUSS_SEIDEL_H

#include "contact/solver.h"

/* `sweeps` over all contacts and bilateral blocks, r in place. */
void yk_gauss_seidel_sweeps(const yk_contact_problem *problem, yk_friction_model friction, double relaxation_factor,
                            bool exact_local, int sweeps, double *r);

/* As yk_contact_solve, for YK_CONTACT_GAUSS_SEIDEL; r holds the start value, u must not be NULL. */
yk_status yk_contact_solve_gauss_seidel(yk_context *context, const yk_contact_problem *problem,
                                        const yk_contact_options *options, double *r, double *u,
                                        yk_contact_report *report);

#endif
