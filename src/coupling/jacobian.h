/* The Jacobian of the coupling conditions with respect to the parameters of the coupling wrenches,
 * assembled from the responses of the subsystems.
 *
 * The response of a subsystem is the derivative of the motions of its ports at the end of the step
 * with respect to the parameters of the wrenches at its ports. Two interfaces have a common block
 * in the Jacobian if they share a subsystem. Responses are computed subsystem by subsystem, so
 * their cost depends on the number of interfaces of a subsystem and not on the number of
 * subsystems. Then the blocks are assembled and factored.
 *
 * Responses can be kept for later steps. They are scaled to a step of unit size, which makes them
 * almost independent of the step size. Every correction improves the response of each subsystem by
 * Broyden's formula, with the change of that subsystem's motions, so that the improvement does not
 * become slower with the number of subsystems. After every step the responses are rotated with
 * their markers (jacobian_update.c). */
#ifndef YK_COUPLING_JACOBIAN_H
#define YK_COUPLING_JACOBIAN_H

#include "coupling/constraint.h"
#include "math/sparse.h"

/* In this file an interface is anything that has unknowns of its own. There are three kinds:
 *
 *   constraint  Unknowns: parameters of the multipliers; both sides see them. Conditions: the
 *               motions of both sides satisfy the joint.
 *   relation    Side B receives a motion and answers with a wrench. Unknowns: the parameters of the
 *               wrench on side A, then those of the motion of side B (position and velocity at the
 *               end of the step). Conditions: the wrench on A is the answer of B, and the motion of
 *               B is the motion of A. The answer of B consists of three moments of its wrench over
 *               the step, which are stored like the coordinates of a scalar motion
 *               (index1/constitutive.c).
 *   wire        Unknown: its value at the end of the step. The target receives it (side 1), the
 *               source returns it (side 0), both as the position of a scalar motion. */

/* Largest rates of a port's velocity by a force at the port (1/kg), and of its angular velocity by
 * a torque (1/(kg m^2)), in any direction; 0 if unknown. */
typedef struct yk_mobility {
    double translation, rotation;
} yk_mobility;

/* Replaces the mobility of a port that cannot rotate (or translate), which is only a rounding
 * error: its body counts as one of the size of the model, which is at least the distance of the
 * port from the origin (m) and at least 1 m. */
yk_mobility yk_mobility_of_model(yk_mobility mobility, double distance);

/* One side of one interface, from the point of view of a subsystem. */
typedef struct yk_connection {
    int interface, side, port;

    /* Mobility of the port in all directions, if the subsystem reports it, and errors of finite
     * differences in its rows of the response, 0 if there are none. */
    yk_mobility mobility, noise;

    /* Positions in the response: row of the port's first coordinate, column of the first interface
     * parameter that the side sees. */
    int row, column;
} yk_connection;

typedef struct yk_port_response {
    /* In the order of the ports. */
    yk_connection *connections;
    int connection_count;

    /* Row-major. Position rows are divided by h^2, velocity rows by h. */
    double *matrix;
    int rows, columns;

    /* Workspace of finite differences: columns x connections. */
    yk_motion *motion;

    /* Per connection: motion at the end of the last run. */
    yk_motion *last;

    /* Workspace of a row and a column. */
    double *change;
} yk_port_response;

/* One interface, from the point of view of the Jacobian. */
typedef struct yk_jacobian_interface {
    int participant[2], port[2];
    int rows;
    int coordinates;

    /* Scalar interfaces that are not constraints. */
    bool relation, wire;

    /* 3 if the first three rows are along the global axes, otherwise 0. */
    int global_rows;

    /* Index of its first unknown and of its first equation. */
    int first;
} yk_jacobian_interface;

/* Scale of position, velocity and acceleration in a step of size h. */
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

    /* Parameters per row of a constraint, which has as many conditions per row. */
    int parameters;

    /* For relations: number of parameters of the motion of side B, and level of the first one
     * (position, velocity or acceleration). */
    int motions, first_level;
} yk_jacobian_def;

yk_status yk_jacobian_create(yk_context *context, const yk_jacobian_def *def,
                             yk_jacobian **jacobian);
void yk_jacobian_destroy(yk_jacobian *jacobian);

int yk_jacobian_size(const yk_jacobian *jacobian);
int yk_jacobian_participants(const yk_jacobian *jacobian);
int yk_jacobian_parameters(const yk_jacobian *jacobian);
/* Number of unknowns of an interface, which is also its number of conditions. */
int yk_jacobian_interface_size(const yk_jacobian *jacobian, int interface);
/* Number of coordinates in the answer of a side of an interface. */
int yk_jacobian_coordinates(const yk_jacobian_interface *interface, int side);
/* Number of unknowns that a side of an interface sees, and the index of the first one. */
int yk_jacobian_columns(const yk_jacobian *jacobian, int interface, int side, int *first);
const yk_jacobian_interface *yk_jacobian_interfaces(const yk_jacobian *jacobian);
yk_port_response *yk_jacobian_response(yk_jacobian *jacobian, int participant);

/* Marks the responses as new, so that the next assembly determines whether constraints are
 * redundant. */
void yk_jacobian_renew(yk_jacobian *jacobian);

/* Sets what is known about redundant constraints from responses without errors of finite
 * differences: with these errors, a long chain, whose condition number is large, cannot be
 * distinguished from redundant constraints. Default: true. */
void yk_jacobian_expect_redundant(yk_jacobian *jacobian, bool redundant);

/* Scales a response that was computed for a step of size h, so that it can be used for other sizes. */
void yk_response_scale(const yk_jacobian *jacobian, yk_port_response *response, double h);

/* Assembles the responses and factors the result. gradient(user, interface) returns the derivatives
 * of the constraint of an interface. motion[e][level] are the weights of g / h^2, g' / h, g'' in
 * condition e, moment[e][level] those of the moments in the conditions of relations. */
yk_status yk_jacobian_assemble(yk_jacobian *jacobian,
                               const yk_constraint_gradient *(*gradient)(void *user, int interface),
                               void *user, const double (*motion)[YK_LEVELS],
                               const double (*moment)[YK_LEVELS], double h);

/* Computes x = J^-1 x, the correction that is subtracted from the unknowns. If conditions are
 * redundant, it is the least-squares solution. It then also removes the part of `held`, the
 * unknowns before the correction, that has no effect on any condition, so that redundant
 * constraints get wrenches of least norm. `held` is overwritten; NULL: that part is kept. */
void yk_jacobian_solve(const yk_jacobian *jacobian, double *x, double *held);

/* The matrix of the last assembly as part of a state image, for callers that keep its factors over
 * steps; not if conditions are redundant. set marks the factors as outdated if the words differ;
 * yk_jacobian_restore() then computes them again. */
size_t yk_jacobian_matrix_words(const yk_jacobian *jacobian);
void yk_jacobian_get_matrix(const yk_jacobian *jacobian, double *words);
void yk_jacobian_set_matrix(yk_jacobian *jacobian, const double *words);
yk_status yk_jacobian_restore(yk_jacobian *jacobian);
/* Largest component of unknowns in the scale of the columns of the last assembly. */
double yk_jacobian_unknown_size(const yk_jacobian *jacobian, const double *unknowns);
/* Largest component of conditions in the scale of the rows of the last assembly. */
double yk_jacobian_condition_size(const yk_jacobian *jacobian, const double *conditions);

/* Returns whether conditions were redundant when the responses were new. */
bool yk_jacobian_is_redundant(const yk_jacobian *jacobian);

/* Predicts the motion of one side of an interface, now at `motion`, for a change of the parameters
 * by `step`, from the responses. */
yk_motion yk_jacobian_expect(yk_jacobian *jacobian, const double *step, double h, int interface,
                             int side, const yk_motion *motion);

/* Saves the motions (for side B of a relation, the moments) at the end of the last run. */
void yk_jacobian_keep(yk_jacobian *jacobian,
                      yk_motion (*motion)(void *user, int interface, int side), void *user);
/* Improves all responses after the parameters changed by `step` (all of them, numbered as in
 * yk_jacobian_solve()), from the changes of the motions since they were saved. Then saves the new
 * motions. */
void yk_jacobian_learn(yk_jacobian *jacobian, const double *step, double h,
                       yk_motion (*motion)(void *user, int interface, int side), void *user);

/* Rotates the responses with the markers, each by its rotation over the last step, because the
 * response of a rotating body is nearly constant in the axes of the body, not in global axes. */
void yk_jacobian_rotate(yk_jacobian *jacobian,
                        yk_quat (*rotation)(void *user, int participant, int port), void *user);

/* The responses, and which conditions are redundant, as part of a state image. */
size_t yk_jacobian_words(const yk_jacobian *jacobian);
void yk_jacobian_get(const yk_jacobian *jacobian, double *words);
void yk_jacobian_set(yk_jacobian *jacobian, const double *words);
/* Whether words of unknown origin can be set. */
bool yk_jacobian_is_valid(const yk_jacobian *jacobian, const double *words);

/* factor * (to - from) in the coordinates of step_sensitivity, `stride` apart. */
void yk_motion_difference(yk_port_kind kind, const yk_motion *from, const yk_motion *to,
                          double factor, double *column, int stride);

#endif
