/* How the nodes of a network answer to impulses while its contacts and joints keep the state of
 * the last solution.
 *
 * With the law of every closed contact held (cone.h) the conditions of a network are linear
 * equations for velocities and impulses,
 *
 *   | 1     -M^-1 D | | v |   | v_free + M^-1 (impulses) |
 *   | G      C      | | z | = | -(biases)                |
 *
 * the form before (26) and (35) of paper rim with its tight rows taken out, and M^-1 in place of
 * M, so that nothing is inverted (56). They are factored sparsely, for the nodes that closed
 * contacts and joints connect with the nodes that are asked for. Rows that depend on each other
 * (a table on four legs, a closed chain) share their impulse: a trace of softness selects the
 * impulses of least norm and moves the velocities by nothing that counts.
 *
 *   yk_response_factor        after the rows of the network are set, instead of solving it
 *   yk_response_review        contacts that cannot keep their state
 *   yk_response_begin_free    the velocities of the end of the step, or
 *   yk_response_begin_zero    the change of velocities alone, which
 *   yk_response_push ...      impulses on nodes cause
 *   yk_response_solve
 *   yk_response_velocity ...
 */
#ifndef YK_CONTACT_RESPONSE_H
#define YK_CONTACT_RESPONSE_H

#include "contact/network.h"

typedef struct yk_response yk_response;

yk_status yk_response_create(yk_context *context, yk_response **response);
void yk_response_destroy(yk_response *response);

typedef struct yk_response_def {
    yk_friction_model friction;
    /* velocities of the nodes after the last solution, as the network's nodes hold them */
    const yk_network_node *present;
    /* start impulses times this belong to the step: its size over that of the last solution */
    double impulse_scale;
    const int32_t *nodes; /* that will be pushed or asked for */
    int node_count;
} yk_response_def;

/* The network has its nodes at their free velocities, the start impulses of its contacts and
 * joints are those of the last solution. It must stay as it is until the last solve. Allocates
 * where the set of closed contacts has changed. */
yk_status yk_response_factor(yk_response *response, yk_network *network,
                             const yk_response_def *def);

/* After the solution of what is expected to happen: contacts that this would close or open change
 * their state, and the equations are factored anew if there are any; `changed` says so. Contacts
 * that approach slower than `speed` stay open.
 */
yk_status yk_response_review(yk_response *response, const yk_response_def *def, double speed,
                             bool *changed);

void yk_response_begin_free(yk_response *response);
void yk_response_begin_zero(yk_response *response);
/* Impulse and angular impulse about its reference point, on a node. */
void yk_response_push(yk_response *response, int32_t node, yk_vec3 impulse, yk_vec3 angular);
void yk_response_solve(yk_response *response);
/* The same without the softness that was added; for begin_zero, where the rows do not contradict
 * each other. */
void yk_response_solve_refined(yk_response *response);
yk_vec3 yk_response_velocity(const yk_response *response, int32_t node);
yk_vec3 yk_response_angular_velocity(const yk_response *response, int32_t node);

#endif
