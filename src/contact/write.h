/* Writes contact problems in the text format of the FCLIB and Siconos collections, which read.h
 * reads. So their solvers can be tried on any step of a run. */
#ifndef YK_CONTACT_WRITE_H
#define YK_CONTACT_WRITE_H

#include "contact/problem.h"

/* `dim nc <W> q mu`, with every bit of every number. YK_ERROR_CAPABILITY: the format does not
 * support joints, spinning and rolling friction. */
yk_status yk_contact_write(yk_context *context, const char *path,
                           const yk_contact_problem *problem);

/* YK_ERROR_CAPABILITY or YK_ERROR_ARGUMENT with the reason why a problem cannot be written. */
yk_status yk_contact_check_storable(yk_context *context, const yk_contact_problem *problem);

/* The same problem in terms of its contacts only; the impulses of joints follow from those of
 * contacts,
 *
 *   W = W_cc - W_cb W_bb^-1 W_bc,  q = q_c - W_cb W_bb^-1 q_b
 *
 * The caller destroys it. */
yk_status yk_contact_eliminate_joints(yk_context *context, const yk_contact_problem *problem,
                                      yk_contact_problem *reduced);

#endif
