/* Data shared by the files of the beam element: its state at one motion of the nodes, in the
 * notation of beam.c. */
#ifndef YK_MULTIBODY_BEAM_STATE_H
#define YK_MULTIBODY_BEAM_STATE_H

#include "math/so3.h"
#include "multibody/beam.h"
#include "multibody/rotation.h"

/* Nodes 1 and 3 have a relative rotation, the middle one does not. */
enum { FIRST, MIDDLE, LAST };
static const int end_node[2] = {FIRST, LAST};

enum { TORQUE = 3 }; /* unknowns of a node: where its rotation begins */

typedef struct beam_state {
    yk_vec3 arm[YK_BEAM_NODE_COUNT];   /* o_i */
    yk_vec3 point[YK_BEAM_NODE_COUNT]; /* p_i */
    yk_mat3 middle_frame;              /* S_2 */
    yk_vec3 psi[2];                    /* of the first and the last node */
    /* Jacobian and damping only: */
    yk_tangent tangent[2]; /* at psi */
    yk_mat3 inverse[2];    /* T(psi)^-1 */
    /* damping only: */
    yk_vec3 spin[2];     /* angular velocity relative to the middle node */
    yk_vec3 psi_rate[2]; /* as seen from the middle node: inverse * spin */
    /* from the loads on: the moments c_i before they are distributed to the nodes */
    yk_vec3 end[2]; /* sum w (N_i (T^T a + T'^T m) + N_i' T^T m) of the first and the last node */
    yk_vec3 all;    /* sum w a: that of all three c_i */
    yk_vec3 c[2];   /* c_1, c_3 */
} beam_state;

/* State at one Gauss point. */
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

/* Derivatives of the loads without damping with respect to the placement. Writes the whole matrix. */
void yk_beam_stiffness(const yk_beam *beam, const beam_state *state,
                       const beam_section_state section[YK_BEAM_SECTION_COUNT],
                       double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS]);
/* Adds the derivatives of the viscous loads, and writes the derivatives with respect to rates. */
void yk_beam_damping(const yk_beam *beam, const beam_state *state,
                     const beam_section_state section[YK_BEAM_SECTION_COUNT],
                     const yk_frame *const node[YK_BEAM_NODE_COUNT], yk_beam_jacobian *jacobian);
/* Torques about nodes that are not on the line: adds the rows of o_i x f_i, and the effect of
 * rotating the arm at constant forces. */
void yk_beam_add_arms(const beam_state *state, const yk_vec3 *force,
                      double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS]);

/* Weighted sum of a quantity over the nodes. */
static inline yk_vec3 interpolate(const double weight[YK_BEAM_NODE_COUNT],
                                  const yk_vec3 v[YK_BEAM_NODE_COUNT])
{
    yk_vec3 sum = yk_v3_scale(weight[FIRST], v[FIRST]);

    sum = yk_v3_axpy(weight[MIDDLE], v[MIDDLE], sum);
    return yk_v3_axpy(weight[LAST], v[LAST], sum);
}

/* By reference, because an element has many matrices. */
static inline yk_mat3 multiply(const yk_mat3 *a, const yk_mat3 *b)
{
    yk_mat3 c;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            c.m[i][j] = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] + a->m[i][2] * b->m[2][j];
    }
    return c;
}

#endif
