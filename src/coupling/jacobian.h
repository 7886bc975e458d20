/* The Jacobian of coupling conditions by the parameters of coupling efforts, block by block, with quasi-Newton updates.
 *
 * Two interfaces meet in the Jacobian if they share a subsystem. A subsystem's part in it is its response: how the
 * motions of its ports at the end of the step follow the parameters of the efforts at its ports. Responses are filled
 * subsystem by subsystem, so their cost depends on how many interfaces a subsystem has and not on how many subsystems
 * there are; then the blocks are put together and factored.
 *
 * A Jacobian can be kept for later steps: every correction improves it by Broyden's formula, as rank-one terms that are
 * applied after the factors. */
#ifndef YK_COUPLING_JACOBIAN_H
#define YK_COUPLING_JACOBIAN_H

#include "coupling/constraint.h"
#include "math/sparse.h"

/* One side of one interface, as a subsystem sees it. */
typedef struct yk_connection {
    int link, side, port;
    int row;    /* of the port's first coordinate in the response */
    int column; /* of the interface's first parameter in it */
} yk_connection;

typedef struct yk_response {
    int connection_count;
    yk_connection *connections; /* in the order of the ports */
    int rows, columns;
    double *matrix;    /* row-major */
    yk_motion *motion; /* room for finite differences: columns x connections */
} yk_response;

/* One interface, as the Jacobian sees it. */
typedef struct yk_jacobian_link {
    int member[2], port[2];
    int rows;
    int coordinates;
    int first; /* of its unknowns and equations */
} yk_jacobian_link;

typedef struct yk_jacobian yk_jacobian;

typedef struct yk_jacobian_def {
    int member_count;
    int link_count;
    const yk_jacobian_link *links; /* `first` is not read */
    int parameters;                /* per row, and conditions per row */
} yk_jacobian_def;

yk_status yk_jacobian_create(yk_context *context, const yk_jacobian_def *def, yk_jacobian **jacobian);
void yk_jacobian_destroy(yk_jacobian *jacobian);

int yk_jacobian_size(const yk_jacobian *jacobian);
const yk_jacobian_link *yk_jacobian_links(const yk_jacobian *jacobian);
yk_response *yk_jacobian_response(yk_jacobian *jacobian, int member);

/* Puts the responses together. gradient(user, link) gives the derivatives of a link's constraint; condition[e][level]
 * are the weights of the levels in its conditions. */
typedef const yk_constraint_gradient *(*yk_gradient_of)(void *user, int link);
yk_status yk_jacobian_assemble(yk_jacobian *jacobian, yk_gradient_of gradient, void *user,
                               const double (*condition)[YK_LEVELS]);

/* x = J^-1 x with the updates. */
void yk_jacobian_solve(const yk_jacobian *jacobian, double *x);
/* After the parameters changed by `step`, and J^-1 of the new residual is `solved`: improves the inverse, and `solved`
 * with it. Returns false when there is no room for another update. */
bool yk_jacobian_update(yk_jacobian *jacobian, const double *step, double *solved);

/* The Jacobian as part of a state image. */
size_t yk_jacobian_words(const yk_jacobian *jacobian);
void yk_jacobian_get(const yk_jacobian *jacobian, double *words);
yk_status yk_jacobian_set(yk_jacobian *jacobian, const double *words);

#endif
