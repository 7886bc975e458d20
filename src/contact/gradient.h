/* Accelerated projected gradient on assembled problems. */
#ifndef YK_CONTACT_GRADIENT_H
#define YK_CONTACT_GRADIENT_H

#include "contact/solver.h"

/* As yk_contact_solve, for YK_CONTACT_PROJECTED_GRADIENT; r holds the start value, u must not be NULL. */
yk_status yk_contact_solve_gradient(yk_context *context, const yk_contact_problem *problem,
                                    const yk_contact_options *options, double *r, double *u, yk_contact_report *report);

#endif
