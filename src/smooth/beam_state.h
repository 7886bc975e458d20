/* What the parts of the beam element share: its state at one motion of the nodes, in the notation
 * of beam.c, and the small products that they are made of. */
#ifndef YK_SMOOTH_BEAM_STATE_H
#define YK_SMOOTH_BEAM_STATE_H

#include "math/so3.h"
#include "smooth/beam.h"
#include "smooth/rotation.h"

/* Nodes 1 and 3 have a relative rotation, the middle one does not. */
enum { FIRST, MIDDLE, LAST };
static const int end_node[2] = {FIRST, LAST};

enum { TORQUE = 3 }; /* unknowns of a node: where its rotation begins */

typedef struct beam_state {
    yk_vec3 arm[YK_BEAM_NODES];   /* o_i */
    yk_vec3 point[YK_BEAM_NODES]; /* p_i */
    yk_mat3 middle_frame;         /* S_2 */
    yk_vec3 psi[2];               /* of the first and the last node */
    /* Jacobian and damping only: */
    yk_tangent tangent[2]; /* at psi */
    yk_mat3 inverse[2];    /* T(psi)^-1 */
    /* damping only: */
    yk_vec3 spin[2];     /* angular velocity relative to the middle node */
    yk_vec3 psi_rate[2]; /* as seen from the middle node: inverse * spin */
    /* from the loads on: the moments c_i before they are shared out to the nodes */
    yk_vec3 end[2]; /* sum w (N_i (T^T a + T'^T m) + N_i' T^T m) of the first and the last node */
    yk_vec3 all;    /* sum w a: that of all three c_i */
    yk_vec3 c[2];   /* c_1, c_3 */
} beam_state;

/* At one point of Gauss. */
typedef struct beam_section_state {
    yk_vec3 position, line; /* p, e */
    yk_tangent tangent;     /* at psi */
    yk_vec3 psi_slope;      /* psi' */
    yk_mat3 frame;          /* S */
    yk_vec3 force, torque;  /* t, m */
    /* damping only: */
    yk_vec3 psi_rate, psi_rate_slope;
    yk_vec3 spin;                        /* of S relative to the middle node */
    yk_vec3 angular_velocity;            /* of S */
    yk_vec3 strain_rate, curvature_rate; /* S d(gamma)/dt, S d(kappa)/dt */
} beam_section_state;

/* Derivatives of the loads without damping by the placement: writes all of the matrix. */
void yk_beam_stiffness(const yk_beam *beam, const beam_state *state,
                       const beam_section_state section[YK_BEAM_POINTS],
                       double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS]);
/* Adds those of the viscous loads, and writes the derivatives by rates. */
void yk_beam_damping(const yk_beam *beam, const beam_state *state,
                     const beam_section_state section[YK_BEAM_POINTS],
                     const yk_frame *const node[YK_BEAM_NODES], yk_beam_jacobian *jacobian);
/* Torques about nodes that are off the line: the rows of o_i x f_i, and what turning the arm adds
 * at given forces. */
void yk_beam_add_arms(const beam_state *state, const yk_vec3 *force,
                      double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS]);

/* Interpolation -------------------------------------------------------------------------------- */

static inline void shape_functions(double xi, double shape[YK_BEAM_NODES],
                                   double slope[YK_BEAM_NODES])
{
    shape[FIRST] = 0.5 * xi * (xi - 1);
    shape[MIDDLE] = 1 - xi * xi;
    shape[LAST] = 0.5 * xi * (xi + 1);

    slope[FIRST] = xi - 0.5;
    slope[MIDDLE] = -2 * xi;
    slope[LAST] = xi + 0.5;
}

static inline yk_vec3 interpolate(const double weight[YK_BEAM_NODES],
                                  const yk_vec3 v[YK_BEAM_NODES])
{
    yk_vec3 sum = yk_v3_scale(weight[FIRST], v[FIRST]);

    sum = yk_v3_axpy(weight[MIDDLE], v[MIDDLE], sum);
    return yk_v3_axpy(weight[LAST], v[LAST], sum);
}

/* Of a quantity that vanishes at the middle node. */
static inline yk_vec3 interpolate_ends(const double weight[YK_BEAM_NODES], const yk_vec3 v[2])
{
    return yk_v3_axpy(weight[LAST], v[1], yk_v3_scale(weight[FIRST], v[0]));
}

/* Products of 3 x 3 matrices by reference ------------------------------------------------------ */

static inline yk_mat3 multiply(const yk_mat3 *a, const yk_mat3 *b)
{
    yk_mat3 c;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            c.m[i][j] = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] + a->m[i][2] * b->m[2][j];
    }
    return c;
}

/* a^T b */
static inline yk_mat3 multiply_back(const yk_mat3 *a, const yk_mat3 *b)
{
    yk_mat3 c;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            c.m[i][j] = a->m[0][i] * b->m[0][j] + a->m[1][i] * b->m[1][j] + a->m[2][i] * b->m[2][j];
    }
    return c;
}

/* skew(a) m */
static inline yk_mat3 cross_columns(yk_vec3 a, const yk_mat3 *m)
{
    yk_mat3 r;
    for (int j = 0; j < 3; j++) {
        r.m[0][j] = a.y * m->m[2][j] - a.z * m->m[1][j];
        r.m[1][j] = a.z * m->m[0][j] - a.x * m->m[2][j];
        r.m[2][j] = a.x * m->m[1][j] - a.y * m->m[0][j];
    }

    return r;
}

/* m skew(a) */
static inline yk_mat3 cross_rows(const yk_mat3 *m, yk_vec3 a)
{
    yk_mat3 r;
    for (int i = 0; i < 3; i++) {
        const double *row = m->m[i];
        r.m[i][0] = row[1] * a.z - row[2] * a.y;
        r.m[i][1] = row[2] * a.x - row[0] * a.z;
        r.m[i][2] = row[0] * a.y - row[1] * a.x;
    }

    return r;
}

static inline void add_to(yk_mat3 *sum, const yk_mat3 *m)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            sum->m[i][j] += m->m[i][j];
    }
}

static inline void subtract_from(yk_mat3 *sum, const yk_mat3 *m)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            sum->m[i][j] -= m->m[i][j];
    }
}

static inline void add_times(yk_mat3 *sum, double factor, const yk_mat3 *m)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            sum->m[i][j] += factor * m->m[i][j];
    }
}

/* factor[0] first + factor[1] second */
static inline yk_mat3 combine_blocks(const double factor[2], const yk_mat3 *first,
                                     const yk_mat3 *second)
{
    yk_mat3 sum;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            sum.m[i][j] = factor[0] * first->m[i][j] + factor[1] * second->m[i][j];
    }
    return sum;
}

#endif
