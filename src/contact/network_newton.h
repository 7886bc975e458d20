/* Newton's method on one island of a network: see network_newton.c. For network_islands.c only. */
#ifndef YK_CONTACT_NETWORK_NEWTON_H
#define YK_CONTACT_NETWORK_NEWTON_H

#include "contact/network_data.h"

/* Contacts, then blocks of joints. */
typedef struct yk_newton_island {
    const element *elements;
    size_t count, contacts;
    const yk_joint_row *const *rows; /* of each block of joints */
    const int32_t *local;            /* per node of the network: its number in the island, or -1 */
    size_t points;                   /* nodes of the island */
} yk_newton_island;

typedef struct yk_newton_result {
    bool solved;      /* within one of the tolerances */
    int steps;        /* factorisations */
    double violation; /* of the impulses that are returned (m/s) */
} yk_newton_result;

/* r: the impulses that the velocities of the nodes contain; replaced by better ones if any are found.
 * The method does not take box friction, soft contacts, and islands whose factors would be too
 * large. All memory is the context's, which is reset by the caller. */
yk_status yk_newton_solve_island(yk_context *context, const yk_network *network,
                                 const yk_newton_island *island, yk_friction_model friction,
                                 const yk_island_tolerances *tolerances, double *r,
                                 yk_newton_result *result);

#endif
