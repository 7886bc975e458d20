/* Derivatives of the viscous loads of a beam, in the notation of beam.c.
 *
 * Viscous resultants D_v (S gamma', S kappa') depend on the placement through the strain rates,
 * and on the rates as the elastic ones do on the strains. Both derivatives are written by the
 * rotations of the three nodes side by side; those by the position of node i are N_i' times one
 * matrix. */
#include <string.h>

#include "smooth/beam_state.h"

/* Derivatives of a vector by the rotations of the three nodes. */
enum { ROTATION_COLUMNS = 9 };
typedef struct by_rotations {
    double m[3][ROTATION_COLUMNS];
} by_rotations;

/* to += a x v */
static inline void add_cross(by_rotations *to, yk_vec3 a, const by_rotations *v)
{
    for (int j = 0; j < ROTATION_COLUMNS; j++) {
        double x = v->m[0][j];
        double y = v->m[1][j];
        double z = v->m[2][j];
        to->m[0][j] += a.y * z - a.z * y;
        to->m[1][j] += a.z * x - a.x * z;
        to->m[2][j] += a.x * y - a.y * x;
    }
}

/* to += a v */
static inline void add_product(by_rotations *to, const yk_mat3 *a, const by_rotations *v)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < ROTATION_COLUMNS; j++)
            to->m[i][j] +=
                a->m[i][0] * v->m[0][j] + a->m[i][1] * v->m[1][j] + a->m[i][2] * v->m[2][j];
    }
}

static inline void add_scaled(by_rotations *to, double factor, const by_rotations *v)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < ROTATION_COLUMNS; j++)
            to->m[i][j] += factor * v->m[i][j];
    }
}

/* weight[FIRST] ends[0] + weight[LAST] ends[1]: of a quantity that vanishes at the middle node. */
static inline void interpolate_turns(const double weight[YK_BEAM_NODES], const by_rotations ends[2],
                                     by_rotations *to)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < ROTATION_COLUMNS; j++)
            to->m[i][j] = weight[FIRST] * ends[0].m[i][j] + weight[LAST] * ends[1].m[i][j];
    }
}

/* Adds a block in the columns of one node. */
static inline void add_rotation(by_rotations *to, int node, const yk_mat3 *m)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            to->m[i][3 * node + j] += m->m[i][j];
    }
}

/* A block that belongs to the sum of slope_i dx_i, in columns of positions. */
static inline void add_position(by_rotations *to, double factor, const yk_beam_point *point,
                                const yk_mat3 *m)
{
    for (int i = 0; i < 3; i++) {
        for (int n = 0; n < YK_BEAM_NODES; n++) {
            for (int j = 0; j < 3; j++)
                to->m[i][3 * n + j] += factor * point->slope[n] * m->m[i][j];
        }
    }
}

/* Variations at a point: rotation, curvature and strain by the rotation of each node (G, K, X).
 * The strain by the position of node i is slope_i times the identity. */
typedef struct point_variation {
    by_rotations rotation, curvature, strain;
    by_rotations psi, psi_slope; /* as seen from the middle node */
} point_variation;

static void vary_point(const yk_beam *beam, const yk_beam_point *point, const beam_state *state,
                       const beam_section_state *section, const by_rotations psi_ends[2],
                       point_variation *v)
{
    yk_mat3 forward = yk_tangent_forward(&section->tangent);
    yk_mat3 along = yk_tangent_along(&section->tangent, section->psi_slope);

    /* Seen from the middle node. */
    interpolate_turns(point->shape, psi_ends, &v->psi);
    interpolate_turns(point->slope, psi_ends, &v->psi_slope);
    v->rotation = (by_rotations){{{0}}};
    v->curvature = (by_rotations){{{0}}};
    v->strain = (by_rotations){{{0}}};

    add_product(&v->rotation, &forward, &v->psi);
    add_product(&v->curvature, &along, &v->psi);
    add_product(&v->curvature, &forward, &v->psi_slope);
    add_cross(&v->strain, section->line, &v->rotation);

    /* The rotation of the middle node itself, and of arms to the line. */
    yk_mat3 identity = yk_m3_identity();
    yk_mat3 middle = yk_m3_skew(section->line);
    add_rotation(&v->rotation, MIDDLE, &identity);
    add_rotation(&v->strain, MIDDLE, &middle);
    for (int i = 0; i < YK_BEAM_NODES && beam->has_offset; i++) {
        yk_mat3 arm = yk_m3_skew(yk_v3_scale(-point->slope[i], state->arm[i]));
        add_rotation(&v->strain, i, &arm);
    }
}

/* Derivatives of the viscous force (0) and torque (1) of the section, as it sees them: by the
 * rotations of the nodes, and by the position of node i after division by slope_i. */
typedef struct resultant_variation {
    by_rotations by_rotation[2];
    yk_mat3 by_position[2];
} resultant_variation;

/* Adds a rotated section matrix times variations of strain and curvature. */
static void add_section(const yk_beam_point *point, const beam_section_blocks *rotated,
                        const by_rotations *strain, const by_rotations *curvature,
                        resultant_variation *r)
{
    add_product(&r->by_rotation[0], &rotated->block[0][0], strain);
    add_product(&r->by_rotation[1], &rotated->block[1][1], curvature);
    if (!point->coupled)
        return;

    add_product(&r->by_rotation[0], &rotated->block[0][1], curvature);
    add_product(&r->by_rotation[1], &rotated->block[1][0], strain);
}

/* Variation of the rotational rates at given angular velocities of the nodes: of the angular
 * velocity of the section, and of the curvature rate as seen from the middle node. With u_i the
 * spin of node i relative to the middle one, whose variation seen from there is u_i x delta_2,
 * and c_i = T(psi_i)^-1 u_i the rate of psi_i,
 *   d(c_i) = T(psi_i)^-1 (u_i x delta_2 - L(psi_i, c_i) d(psi_i)),   L(psi, c) = d(T(psi) c)/dpsi
 *   d(angular velocity) = L(psi, c) d(psi) + T(psi) d(c) + delta_2 x spin
 * and the curvature rate is its derivative along the beam but for the last term. */
static void vary_rates(const yk_beam_point *point, const beam_state *state,
                       const beam_section_state *section, const by_rotations psi_ends[2],
                       const point_variation *v, by_rotations *angular_velocity,
                       by_rotations *curvature_rate)
{
    /* d(c_i) of both ends, interpolated */
    by_rotations rate[2];
    for (int e = 0; e < 2; e++) {
        yk_mat3 by_psi = yk_tangent_by_psi(&state->tangent[e], state->psi_rate[e]);
        yk_mat3 minus = yk_m3_scale(-1, multiply(&state->inverse[e], &by_psi));
        yk_mat3 spin = yk_m3_skew(state->spin[e]);
        spin = multiply(&state->inverse[e], &spin);

        rate[e] = (by_rotations){{{0}}};
        add_product(&rate[e], &minus, &psi_ends[e]);
        add_rotation(&rate[e], MIDDLE, &spin);
    }

    /* At the point, and along the beam. */
    by_rotations psi_rate;
    by_rotations psi_rate_slope;
    interpolate_turns(point->shape, rate, &psi_rate);
    interpolate_turns(point->slope, rate, &psi_rate_slope);

    /* T, T', L and its derivative along the beam */
    const yk_tangent *t = &section->tangent;
    yk_mat3 forward = yk_tangent_forward(t);
    yk_mat3 along = yk_tangent_along(t, section->psi_slope);
    yk_mat3 by_psi = yk_tangent_by_psi(t, section->psi_rate);
    yk_mat3 by_psi_slope = yk_tangent_by_psi(t, section->psi_rate_slope);
    yk_mat3 second = yk_tangent_second(t, section->psi_rate, section->psi_slope);
    add_to(&by_psi_slope, &second);

    /* d(angular velocity), with delta_2 x spin */
    yk_mat3 middle = yk_m3_skew(yk_v3_neg(section->spin));
    *angular_velocity = (by_rotations){{{0}}};
    add_product(angular_velocity, &by_psi, &v->psi);
    add_product(angular_velocity, &forward, &psi_rate);
    add_rotation(angular_velocity, MIDDLE, &middle);

    /* Its derivative along the beam. */
    *curvature_rate = (by_rotations){{{0}}};
    add_product(curvature_rate, &by_psi_slope, &v->psi);
    add_product(curvature_rate, &by_psi, &v->psi_slope);
    add_product(curvature_rate, &along, &psi_rate);
    add_product(curvature_rate, &forward, &psi_rate_slope);
}

/* The damping matrix times the variation of the strain rates at given velocities. */
static void vary_by_placement(const yk_beam *beam, const yk_beam_point *point,
                              const beam_state *state, const beam_section_state *section,
                              const yk_frame *const node[], const by_rotations psi_ends[2],
                              const beam_section_blocks *damping, const point_variation *v,
                              resultant_variation *r)
{
    by_rotations angular_velocity;

    by_rotations curvature_rate;
    vary_rates(point, state, section, psi_ends, v, &angular_velocity, &curvature_rate);

    /* The curvature rate in axes of the section, which turn. */
    yk_mat3 middle = yk_m3_skew(yk_v3_neg(section->curvature_rate));
    add_rotation(&curvature_rate, MIDDLE, &middle);
    add_cross(&curvature_rate, section->curvature_rate, &v->rotation);

    /* S gamma' = sum N_i' (v_i + w_i x o_i) + e x w, in the same axes */
    by_rotations strain_rate = {{{0}}};
    for (int i = 0; i < YK_BEAM_NODES && beam->has_offset; i++) {
        yk_mat3 arm = yk_m3_skew(yk_v3_scale(point->slope[i], state->arm[i]));
        yk_mat3 swept =
            cross_columns(yk_v3_sub(section->angular_velocity, node[i]->angular_velocity), &arm);
        add_rotation(&strain_rate, i, &swept);
    }

    /* The section's own rotation. */
    add_cross(&strain_rate, section->line, &angular_velocity);
    add_cross(&strain_rate, section->strain_rate, &v->rotation);

    /* Resultants by rotations, and by positions, which move the line that turns with w. */
    memset(r, 0, sizeof *r);
    add_section(point, damping, &strain_rate, &curvature_rate, r);

    yk_mat3 spin = yk_m3_skew(section->angular_velocity);
    int rows = point->coupled ? 2 : 1;
    for (int k = 0; k < rows; k++) {
        yk_mat3 shift = multiply(&damping->block[k][0], &spin);
        subtract_from(&r->by_position[k], &shift);
    }
}

/* Derivatives by the rotations and by the positions of the three nodes, three columns each. */
typedef struct by_nodes {
    by_rotations rotation, position;
} by_nodes;

/* Of the sums in beam_moments. */
typedef struct moment_variations {
    by_nodes end[2], all;
} moment_variations;

/* Rows of the forces, and what the point contributes to the moments, at a given placement. */
static void vary_loads(const yk_beam_point *point, const beam_section_state *section,
                       const resultant_variation *r, moment_variations *sums,
                       double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS])
{
    yk_vec3 back_line = yk_v3_neg(section->line);
    yk_tangent reversed = yk_tangent_reversed(&section->tangent);
    yk_mat3 back = yk_tangent_forward(&reversed);
    yk_mat3 back_along = yk_m3_scale(-1, yk_tangent_along(&reversed, section->psi_slope));

    /* a = t x e, T^T a + T'^T m, T^T m, by rotations and by positions */
    by_rotations a = {{{0}}};
    by_rotations by_psi = {{{0}}};
    by_rotations by_slope = {{{0}}};
    add_cross(&a, back_line, &r->by_rotation[0]);
    add_product(&by_psi, &back, &a);
    add_product(&by_psi, &back_along, &r->by_rotation[1]);
    add_product(&by_slope, &back, &r->by_rotation[1]);

    /* The same by positions. */
    yk_mat3 a_position = cross_columns(back_line, &r->by_position[0]);
    yk_mat3 psi_position = multiply(&back, &a_position);
    yk_mat3 slope_position = multiply(&back, &r->by_position[1]);
    yk_mat3 along_position = multiply(&back_along, &r->by_position[1]);
    add_to(&psi_position, &along_position);

    /* The sums of both points. */
    add_scaled(&sums->all.rotation, point->length, &a);
    add_position(&sums->all.position, point->length, point, &a_position);
    for (int k = 0; k < 2; k++) {
        double shape = point->length * point->shape[end_node[k]];
        double slope = point->length * point->slope[end_node[k]];
        add_scaled(&sums->end[k].rotation, shape, &by_psi);
        add_scaled(&sums->end[k].rotation, slope, &by_slope);
        add_position(&sums->end[k].position, shape, point, &psi_position);
        add_position(&sums->end[k].position, slope, point, &slope_position);
    }

    /* f_i = - w N_i' t */
    for (int n = 0; n < YK_BEAM_NODES; n++) {
        double factor = -point->length * point->slope[n];
        for (int k = 0; k < 3; k++) {
            double *row = matrix[6 * n + k];
            for (int i = 0; i < YK_BEAM_NODES; i++) {
                for (int j = 0; j < 3; j++) {
                    row[6 * i + j] += factor * point->slope[i] * r->by_position[0].m[k][j];
                    row[6 * i + TORQUE + j] += factor * r->by_rotation[0].m[k][3 * i + j];
                }
            }
        }
    }
}

/* In the rows of the torque on node n. */
static inline void subtract_rows(const by_nodes *v, int n,
                                 double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS])
{
    for (int k = 0; k < 3; k++) {
        double *row = matrix[6 * n + TORQUE + k];
        for (int i = 0; i < YK_BEAM_NODES; i++) {
            for (int j = 0; j < 3; j++) {
                row[6 * i + j] -= v->position.m[k][3 * i + j];
                row[6 * i + TORQUE + j] -= v->rotation.m[k][3 * i + j];
            }
        }
    }
}

/* Rows of the torques: c_i = T(psi_i)^-T of the sums for the end nodes, c_2 = sum w a - c_1 -
 * c_3. */
static void vary_torques(const beam_state *state, moment_variations *sums,
                         double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS])
{
    for (int k = 0; k < 2; k++) {
        /* T(psi_i)^-T of the sums, which c_2 is without. */
        yk_mat3 back_inverse = yk_m3_transpose(state->inverse[k]);
        by_nodes part = {.rotation = {{{0}}}};
        add_product(&part.rotation, &back_inverse, &sums->end[k].rotation);
        add_product(&part.position, &back_inverse, &sums->end[k].position);
        add_scaled(&sums->all.rotation, -1, &part.rotation);
        add_scaled(&sums->all.position, -1, &part.position);
        subtract_rows(&part, end_node[k], matrix);
    }

    subtract_rows(&sums->all, MIDDLE, matrix);
}

void yk_beam_damping(const yk_beam *beam, const beam_state *state,
                     const beam_section_state section[YK_BEAM_POINTS],
                     const yk_frame *const node[YK_BEAM_NODES], yk_beam_jacobian *jacobian)
{
    moment_variations sums;
    moment_variations rate_sums;

    memset(&sums, 0, sizeof sums);
    memset(&rate_sums, 0, sizeof rate_sums);
    memset(jacobian->rate, 0, sizeof jacobian->rate);

    /* d(psi_i) = T(psi_i)^-1 (delta_i - delta_2), as seen from the middle node */
    by_rotations psi_ends[2];
    memset(psi_ends, 0, sizeof psi_ends);
    for (int e = 0; e < 2; e++) {
        for (int r = 0; r < 3; r++) {
            for (int c = 0; c < 3; c++) {
                double entry = state->inverse[e].m[r][c];
                psi_ends[e].m[r][3 * end_node[e] + c] = entry;
                psi_ends[e].m[r][3 * MIDDLE + c] = -entry;
            }
        }
    }

    /* Both points of Gauss. */
    for (int p = 0; p < YK_BEAM_POINTS; p++) {
        const yk_beam_point *point = &beam->point[p];
        point_variation v;
        beam_section_blocks damping;

        /* Variations of the section, and its damping matrix in global axes. */
        vary_point(beam, point, state, &section[p], psi_ends, &v);
        yk_beam_rotate_section(point->damping, point->coupled, false, &section[p].frame, &damping);

        /* By the placement, at given velocities. */
        resultant_variation by_pose;
        vary_by_placement(beam, point, state, &section[p], node, psi_ends, &damping, &v, &by_pose);
        vary_loads(point, &section[p], &by_pose, &sums, jacobian->pose);

        /* By the rates: the damping matrix in the place of the stiffness. */
        resultant_variation by_rate;
        memset(&by_rate, 0, sizeof by_rate);
        add_section(point, &damping, &v.strain, &v.curvature, &by_rate);
        by_rate.by_position[0] = damping.block[0][0];
        if (point->coupled)
            by_rate.by_position[1] = damping.block[1][0];
        vary_loads(point, &section[p], &by_rate, &rate_sums, jacobian->rate);
    }

    /* Torques of both, and of nodes that are off the line. */
    vary_torques(state, &sums, jacobian->pose);
    vary_torques(state, &rate_sums, jacobian->rate);
    if (beam->has_offset)
        yk_beam_add_arms(state, NULL, jacobian->rate);
}
