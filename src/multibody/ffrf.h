/* A body with small deformations in a floating frame of reference (Zhou et al. 2022, section 2.2).
 *
 * A point at u0 in the undeformed body is, in the axes of the floating frame, at
 *
 *   u = u0 + s_i p_i + 1/2 g_ij p_i p_j                     (sum over repeated indices)
 *
 * with amplitudes p_i, any shapes s_i, and optionally shapes of second order g_ij, which describe
 * the shortening of a bent rod. They cause the stiffening of a rotating beam; a body without them
 * is too soft under large axial loads and at high speeds.
 *
 * Inertia needs only integrals of the shapes over the mass, which are computed once
 * (yk_ffrf_create):
 *
 *   moment S0 = int u0       shift_i  = int s_i       curve_ij = int g_ij
 *   second W0 = int u0 u0^T  spread_i = int u0 s_i^T  pair_ij  = int s_j s_i^T + int u0 g_ij^T
 *
 * Everything else follows from Y_i = spread_i + pair_ij p_j = int u (du/dp_i)^T: its antisymmetric
 * part is the angular momentum about the origin per rate of p_i, its symmetric part is half the
 * derivative of the inertia tensor by p_i. The equations of motion follow from the kinetic energy
 *
 *   T = m v.v/2 + v.(w x S) + w.J w/2 + (v.S_i + w.Gamma_i) p_i' + p_i' M_ij p_j' /2
 *
 * by Lagrange's equations for the quasi-velocities v, w; S_i and Gamma_i are the derivatives of the
 * momenta by p_i'. So the body conserves energy with and without the shapes of second order.
 *
 * The element does not depend on a solver: it maps the motion of the frame and the amplitudes to
 * loads and exact derivatives. */
#ifndef YK_MULTIBODY_FFRF_H
#define YK_MULTIBODY_FFRF_H

#include "mechanics/body.h"
#include "multibody/rotation.h"
#include "yoke/base.h"

enum { YK_FFRF_MODES_MAX = 60 };

/* A piece of the body: a lump of its mass, or an attachment point of joints. */
typedef struct yk_ffrf_point {
    double mass;
    yk_vec3 position; /* undeformed, in the axes of the floating frame */
    yk_mat3 second;   /* sum of m rho rho^T about its own centre: zero for point masses */
    const yk_vec3 *displacement; /* s_i, per mode */
    const yk_vec3 *rotation;     /* of the piece per mode (rad); NULL: none */
    const yk_vec3 *shortening;   /* g_ij, modes x modes, symmetric; NULL: none */
} yk_ffrf_point;

/* The integrals above if they are known from another source: a consistent mass matrix, or another
 * program. */
typedef struct yk_ffrf_invariants {
    double mass;
    yk_vec3 moment;
    yk_mat3 second;
    const yk_vec3 *shift;  /* per mode */
    const yk_mat3 *spread; /* per mode */
    const yk_mat3 *pair;   /* modes x modes */
    const yk_vec3 *curve;  /* modes x modes; NULL: none */
} yk_ffrf_invariants;

typedef struct yk_ffrf_def {
    int mode_count;
    const yk_ffrf_point *points;
    int point_count;
    /* NULL: sums over the points; otherwise the points have no mass */
    const yk_ffrf_invariants *invariants;
    /* modes x modes, symmetric; NULL: the integral of s_i . s_j over the points */
    const double *mass;
    const double *stiffness; /* modes x modes, symmetric */
    const double *damping;   /* modes x modes, symmetric; NULL: none */
    /* inertia of the undeformed body in all acceleration terms (Zhou et al. 2022, section 5.2) */
    bool constant_mass;
} yk_ffrf_def;

/* A vector of modes i and j, such as a shape of second order g_ij at an attachment. */
typedef struct yk_ffrf_bend {
    int i, j;
    yk_vec3 value;
} yk_ffrf_bend;

/* A nonzero number of modes i and j: an entry of pair_ij (3 row + column), a component of the axial
 * vector of pair_ji, or for i <= j the coefficient of p_i p_j in an entry of the second moments. */
typedef struct yk_ffrf_term {
    int i, j, entry;
    double value;
} yk_ffrf_term;

enum { YK_FFRF_SYMMETRIC = 6 }; /* entries xx, yy, zz, xy, xz, yz */

typedef struct yk_ffrf {
    int modes;
    bool constant_mass;
    double mass;
    yk_vec3 moment;
    yk_mat3 second;
    yk_vec3 *shift;               /* per mode */
    yk_mat3 *spread;              /* per mode */
    yk_mat3 *pair;                /* modes x modes */
    yk_ffrf_term *terms;          /* of pair, by mode i */
    int *first_term;              /* modes + 1 */
    yk_ffrf_bend *curves, *gyros; /* curve and gyro, entries that are not zero */
    yk_ffrf_term *swirls;         /* of the axial vectors of all pairs */
    int curve_count, gyro_count, swirl_count;
    yk_ffrf_term *squares; /* of the second moments, by entry */
    int first_square[YK_FFRF_SYMMETRIC + 1];
    bool *coupled;  /* (6 + modes) square: see yk_ffrf_coupled */
    yk_vec3 *curve; /* modes x modes */
    yk_vec3 *gyro;  /* modes x modes: 2 int s_j x s_i, the Coriolis coupling of the amplitudes */
    double *modal_mass; /* modes x modes */
    double *stiffness, *damping;
    double *reach;  /* per mode: largest displacement of a point per unit of it (m) */
    double slowest; /* lowest angular frequency of the shapes if the frame is held (rad/s) */
    bool damped;
    bool diagonal; /* modal mass and stiffness */
    void *store;
} yk_ffrf;

/* Motion of the floating frame in global axes, and of the amplitudes. */
typedef struct yk_ffrf_motion {
    yk_frame frame;
    yk_vec3 acceleration, angular_acceleration;
    const double *amplitude, *rate, *second; /* per mode */
} yk_ffrf_motion;

/* Loads that hold the body in its motion: inertia, weight, elasticity and damping. They are the
 * negative of the loads exerted by the body. */
typedef struct yk_ffrf_loads {
    yk_vec3 force;
    yk_vec3 torque; /* about the floating frame's origin, global axes */
    double modal[YK_FFRF_MODES_MAX];
    double kinetic, potential; /* J; potential: elastic and of the weight */
    double loss;               /* W */
} yk_ffrf_loads;

/* YK_ERROR_ARGUMENT: too many modes, or data that no body can have: no mass, impossible moments of
 * inertia, matrices that are not symmetric, a mass matrix of frame and shapes that is not positive
 * definite. */
yk_status yk_ffrf_create(yk_context *context, const yk_ffrf_def *def, yk_ffrf *body);
void yk_ffrf_destroy(yk_context *context, yk_ffrf *body);

/* Conversion of other programs' quantities to spread_i or pair_ij: from the derivative of the
 * inertia tensor by p_i (or the second one by p_i and p_j) and the antisymmetric part, int u0 x s_i
 * (or int s_j x s_i + int u0 x g_ij); and the conversion back. */
yk_mat3 yk_ffrf_compose(const yk_mat3 *tensor_change, yk_vec3 axial);
yk_mat3 yk_ffrf_tensor_change(const yk_mat3 *y);
yk_vec3 yk_ffrf_axial_of(const yk_mat3 *y);

/* Inertia of the body, as if rigid, in the shape with the given amplitudes (NULL: undeformed). */
yk_inertia yk_ffrf_inertia(const yk_ffrf *body, const double *amplitude);

/* All loads at the given accelerations. */
void yk_ffrf_evaluate(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity,
                      yk_ffrf_loads *loads);

/* The same motion in terms of momenta, for the step of a time integration:
 *
 *   p' + f = F,   l' + v x p + t = T,   pi_i' + m_i = Q_i
 *
 * with linear and angular momentum (about the origin, global axes) and modal momenta pi.
 * yk_ffrf_rest() returns f, t and m_i. Accelerations are not read. */
void yk_ffrf_rest(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity,
                  yk_momentum *momentum, double *modal_momentum, yk_ffrf_loads *loads);

/* c^2 times the derivative of (p' + f, l' + v x p + t, pi' + m) with respect to (displacement,
 * rotation of the frame, amplitudes), where velocities depend on them as in yk_inertia_tangent():
 * dv = dx / c, dw by `fraction`, dp' = dp / c; `damping` adds that multiple of the momenta. c = 0
 * gives the mass matrix. Row-major, (6 + modes) square. With a constant mass, terms of the order of
 * the amplitudes are neglected. */
void yk_ffrf_tangent(const yk_ffrf *body, const yk_ffrf_motion *motion, yk_vec3 gravity, double c,
                     double fraction, double damping, double *tangent);
/* Whether an entry of the tangent can be nonzero in any motion. */
bool yk_ffrf_coupled(const yk_ffrf *body, int row, int column);

/* An attachment: a point of the body at which joints act. Modal rotations are composed as a
 * rotation vector. */
typedef struct yk_ffrf_node {
    yk_vec3 position;
    const yk_vec3 *displacement;
    const yk_vec3 *rotation; /* NULL: none */
    const yk_ffrf_bend *bends;
    int bend_count;
    uint64_t moves, rotates; /* modes that displace it, and modes that rotate it, as bits */
} yk_ffrf_node;

/* The attachment in one shape of the body, in the axes of the floating frame. */
typedef struct yk_ffrf_pose {
    yk_vec3 position;
    yk_rotation rotation; /* of the attachment relative to the frame */
    /* per mode: derivative of the displacement by the amplitude; memory of the caller */
    yk_vec3 *pull;
} yk_ffrf_pose;

/* Nonzero entries of a point, as an attachment; `bends` has room for modes x modes. */
yk_ffrf_node yk_ffrf_node_of(const yk_ffrf_point *point, int modes, yk_ffrf_bend *bends);

void yk_ffrf_node_pose(const yk_ffrf_node *node, int modes, const yk_frame *frame,
                       const double *amplitude, const double *rate, yk_ffrf_pose *pose,
                       yk_frame *placed);
/* The 6 x (6 + modes) map, row-major, from the velocities of frame and amplitudes to velocity and
 * angular velocity. */
void yk_ffrf_node_jacobian(const yk_ffrf_node *node, int modes, const yk_frame *frame,
                           const yk_ffrf_pose *pose, double *jacobian);
/* The transposed map: adds a force and a torque at the attachment to the modal loads and to a
 * torque about the origin of the frame. The force itself is unchanged. */
yk_vec3 yk_ffrf_node_spread(const yk_ffrf_node *node, int modes, const yk_frame *frame,
                            const yk_ffrf_pose *pose, yk_vec3 force, yk_vec3 torque, double *modal);
/* Acceleration of the attachment if the accelerations of the frame and of the amplitudes are zero. */
void yk_ffrf_node_bias(const yk_ffrf_node *node, int modes, const yk_frame *frame,
                       const double *amplitude, const double *rate, const yk_ffrf_pose *pose,
                       yk_vec3 *acceleration, yk_vec3 *angular_acceleration);
/* Adds scale times the derivative of (jacobian^T load) at a fixed force and torque, (6 + modes)
 * square. */
void yk_ffrf_node_stiffness(const yk_ffrf_node *node, int modes, const yk_frame *frame,
                            const double *amplitude, const yk_ffrf_pose *pose, yk_vec3 force,
                            yk_vec3 torque, double scale, double *tangent);

/* Inertia from the integrals over the mass ----------------------------------------------------- */

/* The vector of the antisymmetric part of int u s^T: int u x s. */
static inline yk_vec3 yk_ffrf_axial(const yk_mat3 *y)
{
    return yk_v3(y->m[1][2] - y->m[2][1], y->m[2][0] - y->m[0][2], y->m[0][1] - y->m[1][0]);
}

/* The inertia tensor of the second moments int u u^T. */
static inline yk_mat3 yk_ffrf_tensor(const yk_mat3 *second)
{
    double trace = second->m[0][0] + second->m[1][1] + second->m[2][2];
    return yk_m3_sub(yk_m3_diagonal(trace, trace, trace), *second);
}

#endif
