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
 * every step they rotate with their markers (jacobian_update.c). */
#ifndef YK_COUPLING_JACOBIAN_H
#define YK_COUPLING_JACOBIAN_H

#include "coupling/constraint.h"
#include "math/sparse.h"

/* An interface is here whatever has unknowns of its own, of three kinds. A constraint has wrenches
 * on both sides as its unknowns, whose parameters both sides see, and conditions on the motions of
 * both. A relation is behind a side that takes motion and answers with a wrench: its unknowns are
 * the parameters of the wrench on side A, then those of the motion that side B is given (position
 * and velocity at the end of the step); its conditions, that the first be the answer of B and the
 * second the motion of A. What side B of a relation answers are three moments of the wrench over
 * the step, held like the coordinates of a scalar motion (index1/relation.c). A wire has one
 * unknown, its value at the end of the step, which its target sees (side 1) and its source gives
 * (side 0), as the position of a scalar motion. */

/* The largest rate of a port's velocity by a force there (1/kg), and of its angular velocity by a
 * torque (1/(kg m^2)), in any direction; 0 if it is unknown. */
typedef struct yk_mobility {
    double translation, rotation;
} yk_mobility;

/* Replaces the mobility of a port that cannot rotate, or translate, which is a rounding error: its
 * body counts as one of the size of the model, no smaller than the distance of the port from the
 * origin (m) or 1 m, whichever is the more cautious. */
yk_mobility yk_mobility_of_model(yk_mobility mobility, double distance);

/* One side of one interface, as a subsystem sees it. */
typedef struct yk_connection {
    int interface, side, port;

    /* Mobility of the port in all directions, if the subsystem can be asked for it; and the errors
     * of finite differences in its rows of the response, 0 if there are none. */
    yk_mobility mobility, noise;

    /* In the response: of the port's first coordinate, and of the interface's first parameter of
     * those that the side sees. */
    int row, column;
} yk_connection;

typedef struct yk_port_response {
    /* In the order of the ports. */
    yk_connection *connections;
    int connection_count;

    /* Row-major; motions divided by h^2, velocities by h. */
    double *matrix;
    int rows, columns;

    /* Workspace of finite differences: columns x connections. */
    yk_motion *motion;

    /* Per connection: where the last run led. */
    yk_motion *last;

    /* Workspace of a row and a column. */
    double *change;
} yk_port_response;

/* One interface, as the Jacobian sees it. */
typedef struct yk_jacobian_interface {
    int participant[2], port[2];
    int rows;
    int coordinates;

    /* Scalar ones that are no constraints. */
    bool relation, wire;

    /* 3 where the first three rows are along the global axes, else 0. */
    int global_rows;

    /* Of its unknowns and equations. */
    int first;
} yk_jacobian_interface;

/* Sizes of position, velocity and acceleration in a step of size h. */
static inline double yk_level_size(int level, double h)
{
    if (level == 0)
        return h * h;
    return level == 1 ? h : 1;
}

static inline int yk_level_of(const yk_jacobian_interface *interface, int coordinate)
{
    return coordinate * YK_LEVELS / interface->coordinates;
}

/* Whether the coordinates of a side are those of a motion, whose size depends on the step. */
static inline bool yk_is_motion(const yk_jacobian_interface *interface, int side)
{
    return !interface->wire && !(interface->relation && side == 1);
}

typedef struct yk_jacobian yk_jacobian;

typedef struct yk_jacobian_def {
    int participant_count;

    /* `first` is not read. */
    const yk_jacobian_interface *interfaces;
    int interface_count;

    /* Per row; so many conditions per row too. */
    int parameters;

    /* Of relations: parameters of the motion of side B, and the level of the first: position,
     * velocity or acceleration. */
    int motions, first_level;
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
yk_status yk_jacobian_assemble(yk_jacobian *jacobian,
                               const yk_constraint_gradient *(*gradient)(void *user, int interface),
                               void *user, const double (*motion)[YK_LEVELS],
                               const double (*moment)[YK_LEVELS], double h);

/* x = J^-1 x, the correction that is subtracted from the unknowns. If conditions are redundant it is
 * the least-squares solution, and it takes away what `held`, the unknowns before the correction,
 * contains without an effect on any condition, so that redundant constraints have wrenches of
 * least norm. `held` is overwritten; NULL: such parts stay as they are. */
void yk_jacobian_solve(const yk_jacobian *jacobian, double *x, double *held);

/* Where the responses say that one side of an interface, now at `motion`, comes to if the
 * parameters change by `step`. */
yk_motion yk_jacobian_expect(yk_jacobian *jacobian, const double *step, double h, int interface,
                             int side, const yk_motion *motion);

/* Keeps the motions (of side B of a relation, the moments) that the last run led to. */
void yk_jacobian_keep(yk_jacobian *jacobian,
                      yk_motion (*motion)(void *user, int interface, int side), void *user);
/* After the parameters changed by `step` (all of them, as solve numbers them) and the motions
 * since they were kept: improves all responses, and keeps the new motions. */
void yk_jacobian_learn(yk_jacobian *jacobian, const double *step, double h,
                       yk_motion (*motion)(void *user, int interface, int side), void *user);

/* Rotates the responses with the markers, each by its rotation over the last step: a body that
 * rotates goes on answering alike in its own axes, not in those of the world. */
void yk_jacobian_rotate(yk_jacobian *jacobian,
                        yk_quat (*rotation)(void *user, int participant, int port), void *user);

/* The responses as part of a state image. */
size_t yk_jacobian_words(const yk_jacobian *jacobian);
void yk_jacobian_get(const yk_jacobian *jacobian, double *words);
void yk_jacobian_set(yk_jacobian *jacobian, const double *words);

/* factor * (to - from) in the coordinates of step_sensitivity, `stride` apart. */
void yk_motion_difference(yk_port_kind kind, const yk_motion *from, const yk_motion *to,
                          double factor, double *column, int stride);

#endif
