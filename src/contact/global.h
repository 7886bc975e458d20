/* Contact problems in the velocities of bodies, before they are condensed to their contacts:
 *
 *   M v = H r + G l + f,   u = H^T v + w,   G^T v + b = 0
 *
 * M is symmetric and positive definite, H has a column per row of the contacts, G one per bilateral
 * row. With v eliminated
 *
 *   W = (H G)^T M^-1 (H G),   q = (H G)^T M^-1 f + (w b) */
#ifndef YK_CONTACT_GLOBAL_H
#define YK_CONTACT_GLOBAL_H

#include "contact/problem.h"

/* Entries in any order; those that are given twice add up. */
typedef struct yk_entry_matrix {
    int rows, columns;
    size_t count;
    yk_matrix_entry *entry;
} yk_entry_matrix;

/* Owns its arrays, which come from the context. */
typedef struct yk_global_problem {
    int dim; /* as of yk_contact_entries */
    int contact_count;
    yk_entry_matrix m, h, g; /* without G: 0 columns */
    double *f;               /* rows of M */
    double *w;               /* columns of H */
    double *b;               /* columns of G */
    double *mu, *mu_roll;    /* contact_count; rolling friction with dim 5 alone */
} yk_global_problem;

void yk_global_destroy(yk_context *context, yk_global_problem *problem);

/* M is factored, and solved with for every row: as much work as rows times the size of M. The
 * caller destroys the condensed problem. YK_ERROR_ARGUMENT where sizes differ,
 * YK_ERROR_SINGULAR. */
yk_status yk_global_condense(yk_context *context, const yk_global_problem *global,
                             yk_contact_problem *problem);

#endif
