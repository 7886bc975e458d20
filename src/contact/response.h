/* Response of the nodes of a network to impulses while its contacts and joints keep the state of
 * the last solution.
 *
 * With the law of every closed contact fixed (cone.h), the conditions of a network are linear
 * equations for velocities and impulses,
 *
 *   | 1     -M^-1 D | | v |   | v_free + M^-1 (impulses) |
 *   | G      C      | | z | = | -(biases)                |
 *
 * which is the form before (26) and (35) of Peiret et al. 2020 without its tight rows, and with
 * M^-1 in place of M, so that nothing is inverted (56). They are factored sparsely, for the nodes
 * that closed contacts and joints connect with the requested nodes. Dependent rows (a table on four
 * legs, a closed chain) share their impulse: a small softness selects the impulses of least norm
 * and has no notable effect on the velocities.
 *
 *   yk_response_factor        after the rows of the network are set, instead of solving it
 *   yk_response_review        opens and closes contacts that cannot keep their state
 *   yk_response_begin_free    the velocities at the end of the step, or
 *   yk_response_begin_zero    only the change of velocities by the following impulses
 *   yk_response_push ...      impulses on nodes
 *   yk_response_solve
 *   yk_response_velocity ... */
#ifndef YK_CONTACT_RESPONSE_H
#define YK_CONTACT_RESPONSE_H

#include "contact/network.h"

typedef struct yk_response yk_response;

yk_status yk_response_create(yk_context *context, yk_response **response);
void yk_response_destroy(yk_response *response);

typedef struct yk_response_def {
    yk_friction_model friction;
    /* velocities of the nodes after the last solution, in the format of the network's nodes */
    const yk_network_node *present;
    /* factor of the initial impulses: size of the step relative to that of the last solution */
    double impulse_scale;
    const int32_t *nodes; /* nodes that will be pushed or read */
    int node_count;
} yk_response_def;

/* The network's nodes have their free velocities, and the initial impulses of its contacts and
 * joints are those of the last solution. The network must not change until the last solve.
 * Allocates memory if the set of closed contacts has changed. */
yk_status yk_response_factor(yk_response *response, yk_network *network,
                             const yk_response_def *def);

/* After the solution of the expected next step: contacts that it would close or open change their
 * state, and then the equations are factored again; `changed` reports this. Contacts that approach
 * slower than `speed` stay open. */
yk_status yk_response_review(yk_response *response, const yk_response_def *def, double speed,
                             bool *changed);

void yk_response_begin_free(yk_response *response);
void yk_response_begin_zero(yk_response *response);
/* Adds an impulse and an angular impulse about its reference point to a node. */
void yk_response_push(yk_response *response, int32_t node, yk_vec3 impulse, yk_vec3 angular);
void yk_response_solve(yk_response *response);
/* The same without the added softness; for begin_zero, if the rows do not contradict each other. */
void yk_response_solve_refined(yk_response *response);
yk_vec3 yk_response_velocity(const yk_response *response, int32_t node);
yk_vec3 yk_response_angular_velocity(const yk_response *response, int32_t node);

#endif
