/* The accurate method: see accurate.c. */
#ifndef YK_CONTACT_ACCURATE_H
#define YK_CONTACT_ACCURATE_H

#include "contact/solver.h"

/* As yk_contact_solve, for YK_CONTACT_ACCURATE; u must not be NULL. */
yk_status yk_contact_solve_accurate(yk_context *context, const yk_contact_problem *problem,
                                    const yk_contact_options *options, double *r, double *u, yk_contact_report *report);

#endif
