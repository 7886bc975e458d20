/* The Jacobian of coupling conditions by the parameters of coupling wrenches, made of what each
 * subsystem answers.
 *
 * Two interfaces meet in the Jacobian if they share a subsystem. A subsystem's part in it is its
 * response: how the motions of its ports at the end of the step follow the parameters of the
 * wrenches at its ports. Responses are filled subsystem by subsystem, so their cost depends on
 * how many interfaces a subsystem has and not on how many subsystems there are; then the blocks
 * are put together and factored.
 *
 * Responses can be kept for later steps. They are scaled as if the step were of unit size, which
 * makes them almost independent of it, and every correction improves them by Broyden's formula,
 * each subsystem's by what that subsystem did: so many subsystems learn as fast as two. After
 * every step they turn with their markers (jacobian_learn.c). */
#ifndef YK_COUPLING_JACOBIAN_H
#define YK_COUPLING_JACOBIAN_H

#include "coupling/constraint.h"
#include "math/sparse.h"

/* Three kinds of interfaces. A constraint has wrenches on both sides as its unknowns, whose
 * parameters both sides see, and conditions on the motions of both. A relation is behind a side
 * that takes motion and answers with a wrench: its unknowns are the parameters of the wrench on
 * side A, then those of the motion that side B is told (position and velocity at the end of the
 * step); its conditions, that the first be the answer of B and the second the motion of A. What
 * side B of a relation answers are three moments of the wrench over the step, held like the
 * coordinates of a scalar motion (index1/relation.c). A wire has one unknown, its value at the
 * end of the step, which its target sees (side 1) and its source gives (side 0), as the position
 * of a scalar motion. */

/* One side of one interface, as a subsystem sees it. */
typedef struct yk_connection {
    int interface, side, port;
    int row;    /* of the port's first coordinate in the response */
    int column; /* of the interface's first parameter in it, of those that the side sees */
} yk_connection;

typedef struct yk_port_response {
    int connection_count;
    yk_connection *connections; /* in the order of the ports */
    int rows, columns;
    double *matrix;    /* row-major; motions divided by h^2, velocities by h */
    yk_motion *motion; /* room for finite differences: columns x connections */
    yk_motion *last;   /* per connection: where the last run led */
    double *change;    /* room for a row and a column */
} yk_port_response;

/* One interface, as the Jacobian sees it. */
typedef struct yk_jacobian_interface {
    int participant[2], port[2];
    int rows;
    bool relation; /* scalar */
    bool wire;     /* likewise */
    int coordinates;
    int global_rows; /* 3 where the first three rows are along the global axes, else 0 */
    int first;       /* of its unknowns and equations */
} yk_jacobian_interface;

/* Sizes of position, velocity and acceleration in a step of size h. */
static inline double yk_level_size(int level, double h)
{
    return level == 0 ? h * h : level == 1 ? h : 1;
}

static inline int yk_level_of(const yk_jacobian_interface *interface, int coordinate)
{
    return coordinate / (interface->coordinates / YK_LEVELS);
}

/* Whether the coordinates of a side are those of a motion, whose size depends on the step. */
static inline bool yk_is_motion(const yk_jacobian_interface *interface, int side)
{
    return !interface->wire && !(interface->relation && side == 1);
}

typedef struct yk_jacobian yk_jacobian;

typedef struct yk_jacobian_def {
    int participant_count;
    int interface_count;
    const yk_jacobian_interface *interfaces; /* `first` is not read */
    int parameters;                          /* per row, and conditions per row */
    int motions;     /* of relations: parameters of the motion of side B, from ... */
    int first_level; /* ... position, velocity or acceleration on */
} yk_jacobian_def;

yk_status yk_jacobian_create(yk_context *context, const yk_jacobian_def *def,
                             yk_jacobian **jacobian);
void yk_jacobian_destroy(yk_jacobian *jacobian);

int yk_jacobian_size(const yk_jacobian *jacobian);
int yk_jacobian_participants(const yk_jacobian *jacobian);
int yk_jacobian_parameters(const yk_jacobian *jacobian);
/* Unknowns, and conditions, of an interface. */
int yk_jacobian_interface_size(const yk_jacobian *jacobian, int interface);
/* Coordinates of what a side of an interface answers. */
int yk_jacobian_coordinates(const yk_jacobian_interface *interface, int side);
/* The unknowns that a side of an interface sees: how many, and the first of them. */
int yk_jacobian_columns(const yk_jacobian *jacobian, int interface, int side, int *first);
const yk_jacobian_interface *yk_jacobian_interfaces(const yk_jacobian *jacobian);
yk_port_response *yk_jacobian_response(yk_jacobian *jacobian, int participant);

/* The responses are new: the next assembly looks whether constraints are redundant. */
void yk_jacobian_renew(yk_jacobian *jacobian);

/* Divides the rows of a response that was filled for a step of size h, so that it serves for
 * other sizes too. */
void yk_response_scale(const yk_jacobian *jacobian, yk_port_response *response, double h);

/* Puts the responses together and factors the result. gradient(user, interface) gives the
 * derivatives of an interface's constraint; motion[e][level] are the weights of g / h^2, g' / h,
 * g'' in its conditions, moment[e][level] those of the moments in the conditions of relations. */
typedef const yk_constraint_gradient *(*yk_gradient_of)(void *user, int interface);
typedef struct yk_conditions {
    const double (*motion)[YK_LEVELS], (*moment)[YK_LEVELS];
    double h;
} yk_conditions;
yk_status yk_jacobian_assemble(yk_jacobian *jacobian, yk_gradient_of gradient, void *user,
                               const yk_conditions *conditions);

/* x = J^-1 x. */
void yk_jacobian_solve(const yk_jacobian *jacobian, double *x);

/* Where the responses say that one side of an interface, now at `motion`, comes to if the
 * parameters change by `step`. */
yk_motion yk_jacobian_expect(yk_jacobian *jacobian, const double *step, double h, int interface,
                             int side, const yk_motion *motion);

/* Keeps the motions (of side B of a relation, the moments) that the last run led to. */
typedef yk_motion (*yk_motion_of)(void *user, int interface, int side);
void yk_jacobian_keep(yk_jacobian *jacobian, yk_motion_of motion, void *user);
/* After the parameters changed by `step` (all of them, as solve numbers them) and the motions
 * since they were kept: improves all responses, and keeps the new motions. */
void yk_jacobian_learn(yk_jacobian *jacobian, const double *step, double h, yk_motion_of motion,
                       void *user);

/* Turns the responses with the markers, each by its rotation over the last step: a body that
 * turns goes on answering alike in its own axes, not in those of the world. */
typedef yk_quat (*yk_port_rotation)(void *user, int participant, int port);
void yk_jacobian_rotate(yk_jacobian *jacobian, yk_port_rotation rotation, void *user);

/* The responses as part of a state image. */
size_t yk_jacobian_words(const yk_jacobian *jacobian);
void yk_jacobian_get(const yk_jacobian *jacobian, double *words);
void yk_jacobian_set(yk_jacobian *jacobian, const double *words);

/* factor * (to - from) in the coordinates of step_sensitivity, `stride` apart. */
void yk_motion_difference(yk_port_kind kind, const yk_motion *from, const yk_motion *to,
                          double factor, double *column, int stride);

#endif
