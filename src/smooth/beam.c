/* Three-node beam from its strain energy (see beam.h).
 *
 * All linear algebra is done in the global frame, where no change of basis between the nodes is needed. With the
 * section frames S_i = R_i B_i, the line points p_i = x_i + o_i, o_i = R_i f_i, and ' the derivative by reference arc
 * length:
 *
 *   psi_i = log(S_i S_2^T)                    relative rotation of nodes 1 and 3, psi_2 = 0
 *   psi = sum N_i psi_i,  S = exp(psi) S_2    section frame at a point
 *   p = sum N_i p_i,  e = p'                  line and its tangent
 *   k = T(psi) psi'                           curvature, global components
 *   gamma = S^T e - gamma_0,  kappa = S^T k - kappa_0
 *   t = S N,  m = S M                         resultants of the section, global components
 *
 * Variations (delta_i the rotation of node i):
 *
 *   rotation of S:  sum G_i delta_i,  G_i = N_i T(psi) T(psi_i)^-1 for i = 1, 3,  G_2 = I - G_1 - G_3
 *   S d(kappa)  =   sum K_i delta_i,  K_i = G_i' = (N_i T'(psi; psi') + N_i' T(psi)) T(psi_i)^-1,  K_2 = - K_1 - K_3
 *   S d(gamma)  =   sum N_i' (dx_i + delta_i x o_i) + e x sum G_i delta_i
 *
 * Strain rates are the same expressions with velocities in the place of variations. The nodes feel minus the derivatives
 * of the energy, sums over both points with their weights w:
 *
 *   f_i = - sum w N_i' t
 *   m_i = - c_i - sum w N_i' o_i x t          with a = t x e and
 *   c_i = T(psi_i)^-T sum w (N_i (T^T a + T'^T m) + N_i' T^T m)  for i = 1, 3,   c_2 = sum w a - c_1 - c_3 */
#include "smooth/beam.h"

#include <string.h>

#include "math/so3.h"
#include "smooth/beam_rotation.h"

/* Nodes 1 and 3 carry a relative rotation, the middle one does not. */
enum { FIRST, MIDDLE, LAST };
static const int end_node[2] = {FIRST, LAST};

/* Derivatives of a vector by the rotations of the three nodes side by side. */
enum { ROTATION_COLUMNS = 9 };
typedef struct by_rotations {
    double m[3][ROTATION_COLUMNS];
} by_rotations;

typedef struct element_state {
    yk_vec3 arm[YK_BEAM_NODES];      /* o_i */
    yk_vec3 position[YK_BEAM_NODES]; /* p_i */
    yk_mat3 middle_frame;            /* S_2 */
    yk_vec3 psi[2];                  /* of the first and the last node */
    yk_tangent tangent[2];           /* at psi, from here on: Jacobian and damping only */
    yk_mat3 inverse[2];              /* T(psi)^-1 */
    /* damping only: */
    by_rotations
        psi_by_rotations[2]; /* derivative of psi, as seen from the middle node: inverse times (delta - delta_2) */
    yk_vec3 spin[2];         /* angular velocity relative to the middle node */
    yk_vec3 psi_rate[2];     /* as seen from the middle node: inverse * spin */
} element_state;

typedef struct point_state {
    yk_vec3 position, line; /* p, e */
    yk_tangent tangent;     /* at psi */
    yk_vec3 psi_slope;
    yk_mat3 frame; /* S */
    yk_vec3 force, torque;
    /* damping only: */
    yk_vec3 psi_rate, psi_rate_slope;
    yk_vec3 spin;                        /* of S relative to the middle node */
    yk_vec3 angular_velocity;            /* of S */
    yk_vec3 strain_rate, curvature_rate; /* S d(gamma)/dt, S d(kappa)/dt */
} point_state;

static inline yk_mat3 multiply(const yk_mat3 *a, const yk_mat3 *b)
{
    yk_mat3 c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.m[i][j] = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] + a->m[i][2] * b->m[2][j];
    return c;
}

static void shape_functions(double xi, double shape[YK_BEAM_NODES], double slope[YK_BEAM_NODES])
{
    shape[FIRST] = 0.5 * xi * (xi - 1);
    shape[MIDDLE] = 1 - xi * xi;
    shape[LAST] = 0.5 * xi * (xi + 1);
    slope[FIRST] = xi - 0.5;
    slope[MIDDLE] = -2 * xi;
    slope[LAST] = xi + 0.5;
}

static inline yk_vec3 interpolate(const double weight[YK_BEAM_NODES], const yk_vec3 v[YK_BEAM_NODES])
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

/* arcsin(sqrt(x)) / sqrt(x) for x below 0.02, to rounding. */
static inline double arc_by_sine(double x)
{
    static const double c[9] = {1,           1.0 / 6,       3.0 / 40,      5.0 / 112,      35.0 / 1152,
                                63.0 / 2816, 231.0 / 13312, 143.0 / 10240, 6435.0 / 557056};
    double sum = c[8];
    for (int k = 7; k >= 0; k--) sum = c[k] + x * sum;
    return sum;
}

/* The rotation vector of a rotation matrix, by the sine from its skew part and the cosine from its trace; near half a
 * turn, where the sine says nothing, by the careful way. */
static inline yk_vec3 relative_rotation(const yk_mat3 *r)
{
    yk_vec3 sine = {0.5 * (r->m[2][1] - r->m[1][2]), 0.5 * (r->m[0][2] - r->m[2][0]), 0.5 * (r->m[1][0] - r->m[0][1])};
    double cosine = 0.5 * (r->m[0][0] + r->m[1][1] + r->m[2][2] - 1);
    if (cosine < -0.7) return yk_so3_log_matrix(*r);
    double square = yk_v3_norm2(sine);
    if (square < 0.02 && cosine > 0) return yk_v3_scale(arc_by_sine(square), sine);
    double norm = sqrt(square);
    return yk_v3_scale(atan2(norm, cosine) / norm, sine);
}

static void place_nodes(const yk_beam *beam, const yk_frame *const node[YK_BEAM_NODES], element_state *element)
{
    yk_mat3 frame[YK_BEAM_NODES];
    for (int i = 0; i < YK_BEAM_NODES; i++) {
        frame[i] = beam->rotated ? multiply(&node[i]->rotation, &beam->section_frame[i]) : node[i]->rotation;
        element->arm[i] = beam->has_offset ? yk_m3_apply(node[i]->rotation, beam->offset[i]) : yk_v3(0, 0, 0);
        element->position[i] = yk_v3_add(node[i]->position, element->arm[i]);
    }
    element->middle_frame = frame[MIDDLE];
    yk_mat3 back = yk_m3_transpose(frame[MIDDLE]);
    for (int i = 0; i < 2; i++) {
        yk_mat3 relative = multiply(&frame[end_node[i]], &back);
        element->psi[i] = relative_rotation(&relative);
    }
}

static void prepare_tangents(element_state *element)
{
    for (int i = 0; i < 2; i++) {
        element->tangent[i] = yk_tangent_at(element->psi[i]);
        element->inverse[i] = yk_tangent_inverse(&element->tangent[i]);
    }
}

static void prepare_rates(const yk_frame *const node[YK_BEAM_NODES], element_state *element)
{
    for (int i = 0; i < 2; i++) {
        element->spin[i] = yk_v3_sub(node[end_node[i]]->angular_velocity, node[MIDDLE]->angular_velocity);
        element->psi_rate[i] = yk_m3_apply(element->inverse[i], element->spin[i]);
    }
}

static void prepare_rotations(element_state *element)
{
    for (int i = 0; i < 2; i++) {
        by_rotations *psi = &element->psi_by_rotations[i];
        memset(psi, 0, sizeof *psi);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                psi->m[r][3 * end_node[i] + c] = element->inverse[i].m[r][c];
                psi->m[r][3 * MIDDLE + c] = -element->inverse[i].m[r][c];
            }
    }
}

static inline void apply_section(const double matrix[6][6], const double v[6], double result[6])
{
    for (int i = 0; i < 6; i++) {
        double sum = 0;
        for (int j = 0; j < 6; j++) sum += matrix[i][j] * v[j];
        result[i] += sum;
    }
}

static inline void pack(yk_vec3 a, yk_vec3 b, double v[6])
{
    v[0] = a.x, v[1] = a.y, v[2] = a.z, v[3] = b.x, v[4] = b.y, v[5] = b.z;
}

/* Position, frame and total strain S^T (e, k) of the section at a point. */
static inline void place_point(const element_state *element, const double shape[YK_BEAM_NODES],
                               const double slope[YK_BEAM_NODES], point_state *state, double strain[6])
{
    state->position = interpolate(shape, element->position);
    state->line = interpolate(slope, element->position);
    state->tangent = yk_tangent_at(interpolate_ends(shape, element->psi));
    state->psi_slope = interpolate_ends(slope, element->psi);
    state->frame = yk_m3_mul(yk_tangent_exp(&state->tangent), element->middle_frame);
    yk_vec3 cross = yk_v3_cross(state->tangent.psi, state->psi_slope);
    yk_vec3 curvature = yk_v3_axpy(state->tangent.c[2], cross, state->psi_slope);
    curvature = yk_v3_axpy(state->tangent.c[3], yk_v3_cross(state->tangent.psi, cross), curvature);
    pack(yk_m3_apply_transposed(state->frame, state->line), yk_m3_apply_transposed(state->frame, curvature), strain);
}

/* Strain rates in section axes, and what the Jacobian needs of them. */
static void point_rates(const yk_beam_point *point, const element_state *element, const yk_frame *const node[],
                        point_state *state, double rate[6])
{
    yk_vec3 line_rate = {0, 0, 0};
    for (int i = 0; i < YK_BEAM_NODES; i++) {
        yk_vec3 velocity = yk_v3_add(node[i]->velocity, yk_v3_cross(node[i]->angular_velocity, element->arm[i]));
        line_rate = yk_v3_axpy(point->slope[i], velocity, line_rate);
    }
    yk_mat3 forward = yk_tangent_forward(&state->tangent);
    state->psi_rate = interpolate_ends(point->shape, element->psi_rate);
    state->psi_rate_slope = interpolate_ends(point->slope, element->psi_rate);
    state->spin = yk_m3_apply(forward, state->psi_rate);
    state->angular_velocity = yk_v3_add(node[MIDDLE]->angular_velocity, state->spin);
    state->strain_rate = yk_v3_add(line_rate, yk_v3_cross(state->line, state->angular_velocity));
    yk_mat3 along = yk_tangent_along(&state->tangent, state->psi_slope);
    state->curvature_rate = yk_v3_add(yk_m3_apply(along, state->psi_rate), yk_m3_apply(forward, state->psi_rate_slope));
    pack(yk_m3_apply_transposed(state->frame, state->strain_rate),
         yk_m3_apply_transposed(state->frame, state->curvature_rate), rate);
}

static void evaluate_point(const yk_beam *beam, int index, const element_state *element, const yk_frame *const node[],
                           point_state *state, yk_beam_loads *loads)
{
    const yk_beam_point *point = &beam->point[index];
    double *strain = loads->strain[index], *resultant = loads->resultant[index];
    place_point(element, point->shape, point->slope, state, strain);
    double work = 0;
    for (int i = 0; i < 6; i++) strain[i] -= point->strain[i], resultant[i] = 0;
    apply_section(point->stiffness, strain, resultant);
    for (int i = 0; i < 6; i++) work += strain[i] * resultant[i];
    loads->energy += 0.5 * point->length * work;
    if (beam->damped) {
        double rate[6], viscous[6] = {0}, power = 0;
        point_rates(point, element, node, state, rate);
        apply_section(point->damping, rate, viscous);
        for (int i = 0; i < 6; i++) resultant[i] += viscous[i], power += viscous[i] * rate[i];
        loads->loss += point->length * power;
    }
    state->force = yk_m3_apply(state->frame, yk_v3(resultant[0], resultant[1], resultant[2]));
    state->torque = yk_m3_apply(state->frame, yk_v3(resultant[3], resultant[4], resultant[5]));
}

/* What a point contributes to c_1 and c_3 before T(psi_i)^-T, and to the sum of all c. */
typedef struct moment_sums {
    yk_vec3 end[2];
    yk_vec3 all;
} moment_sums;

static inline void load_point(const yk_beam_point *point, const point_state *state, yk_beam_loads *loads,
                              moment_sums *sums)
{
    yk_vec3 swept = yk_v3_cross(state->force, state->line), by_psi, by_slope;
    yk_tangent_back_pair(&state->tangent, state->psi_slope, swept, state->torque, &by_psi, &by_slope);

    for (int i = 0; i < YK_BEAM_NODES; i++)
        loads->force[i] = yk_v3_axpy(-point->length * point->slope[i], state->force, loads->force[i]);
    for (int k = 0; k < 2; k++) {
        int i = end_node[k];
        yk_vec3 part = yk_v3_axpy(point->slope[i], by_slope, yk_v3_scale(point->shape[i], by_psi));
        sums->end[k] = yk_v3_axpy(point->length, part, sums->end[k]);
    }
    sums->all = yk_v3_axpy(point->length, swept, sums->all);
}

/* Torques on the nodes: minus c_i, and the forces' moments about nodes that are off the line. Returns c_1 and c_3. */
static void load_nodes(const yk_beam *beam, const element_state *element, const moment_sums *sums, yk_vec3 c[2],
                       yk_beam_loads *loads)
{
    for (int k = 0; k < 2; k++) {
        c[k] = yk_back_inverse(element->psi[k], sums->end[k]);
        loads->torque[end_node[k]] = yk_v3_neg(c[k]);
    }
    loads->torque[MIDDLE] = yk_v3_sub(yk_v3_add(c[0], c[1]), sums->all);
    for (int i = 0; i < YK_BEAM_NODES && beam->has_offset; i++)
        loads->torque[i] = yk_v3_add(loads->torque[i], yk_v3_cross(element->arm[i], loads->force[i]));
}

/* Jacobian ------------------------------------------------------------------------------------------------------- */

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

static inline void add_to(yk_mat3 *sum, const yk_mat3 *m)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) sum->m[i][j] += m->m[i][j];
}

static inline void subtract_from(yk_mat3 *sum, const yk_mat3 *m)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) sum->m[i][j] -= m->m[i][j];
}

/* A 6 x 6 matrix as blocks: [row][column], 0 for force and strain, 1 for torque and curvature. */
typedef struct section_blocks {
    yk_mat3 block[2][2];
} section_blocks;

static inline yk_mat3 section_block(const double matrix[6][6], int r, int c)
{
    yk_mat3 m;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) m.m[i][j] = matrix[3 * r + i][3 * c + j];
    return m;
}

/* S D S^T of one block; of a diagonal one only half of the products are there. */
static inline yk_mat3 rotate_block(const double matrix[6][6], int r, int c, bool diagonal, const yk_mat3 *frame,
                                   const yk_mat3 *transposed)
{
    if (!diagonal) {
        yk_mat3 block = section_block(matrix, r, c), half = multiply(frame, &block);
        return multiply(&half, transposed);
    }
    yk_mat3 half, rotated;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) half.m[i][k] = frame->m[i][k] * matrix[3 * r + k][3 * c + k];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++)
            rotated.m[i][j] = rotated.m[j][i] =
                half.m[i][0] * frame->m[j][0] + half.m[i][1] * frame->m[j][1] + half.m[i][2] * frame->m[j][2];
    return rotated;
}

/* The blocks off the diagonal are left out where they are zero. */
static void rotate_section(const double matrix[6][6], bool coupled, bool diagonal, const yk_mat3 *frame,
                           section_blocks *rotated)
{
    yk_mat3 transposed = yk_m3_transpose(*frame);
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 2; c++)
            if (r == c || coupled) rotated->block[r][c] = rotate_block(matrix, r, c, diagonal, frame, &transposed);
}

/* a^T b */
static inline yk_mat3 multiply_back(const yk_mat3 *a, const yk_mat3 *b)
{
    yk_mat3 c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.m[i][j] = a->m[0][i] * b->m[0][j] + a->m[1][i] * b->m[1][j] + a->m[2][i] * b->m[2][j];
    return c;
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

static inline void add_times(yk_mat3 *sum, double factor, const yk_mat3 *m)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) sum->m[i][j] += factor * m->m[i][j];
}

/* Second derivatives of the energy per length at given resultants, as they are seen from the middle node: by psi, by its
 * slope and by the line; and those of a = t x e, and of t by a rotation that turns the line. */
typedef struct point_hessian {
    yk_mat3 psi_psi, psi_slope, slope_slope, psi_line, slope_line, line_line;
    yk_mat3 a_by_psi, a_by_slope, a_by_line;
    yk_mat3 line_rotation;
} point_hessian;

/* Not inlined for each point: twice the code would not fit the processor's instruction cache. */
__attribute__((noinline)) static void differentiate_point(const yk_beam_point *point, const point_state *state,
                                                          point_hessian *h)
{
    yk_vec3 line = state->line, back_line = yk_v3_neg(line), force = state->force;
    yk_mat3 forward = yk_tangent_forward(&state->tangent);
    yk_mat3 along = yk_tangent_along(&state->tangent, state->psi_slope);
    yk_mat3 force_skew = yk_m3_skew(force), torque_skew = yk_m3_skew(state->torque);
    section_blocks section;
    rotate_section(point->stiffness, point->coupled, point->diagonal, &state->frame, &section);
    h->line_line = section.block[0][0];

    /* Resultants by a rotation of the section, by psi and by its slope; by the line they are the stiffness itself. */
    h->line_rotation = cross_rows(&section.block[0][0], line);
    subtract_from(&h->line_rotation, &force_skew);
    yk_mat3 torque_by_rotation = point->coupled ? cross_rows(&section.block[1][0], line) : yk_m3_zero();
    subtract_from(&torque_by_rotation, &torque_skew);
    yk_mat3 force_by_psi = multiply(&h->line_rotation, &forward);
    yk_mat3 torque_by_psi = multiply(&torque_by_rotation, &forward);
    yk_mat3 torque_by_slope = multiply(&section.block[1][1], &forward);
    yk_mat3 curved = multiply(&section.block[1][1], &along);
    add_to(&torque_by_psi, &curved);

    /* T^T a + T'^T m by psi, by its slope and by the line; T^T m by the slope */
    yk_tangent reversed = yk_tangent_reversed(&state->tangent);
    yk_mat3 rotated_a = yk_tangent_by_psi(&reversed, yk_v3_cross(force, line));
    yk_mat3 rotated_torque = yk_tangent_by_psi(&reversed, state->torque);
    h->psi_psi = yk_tangent_second(&reversed, state->torque, state->psi_slope);
    subtract_from(&h->psi_psi, &rotated_a);
    h->psi_slope = multiply_back(&along, &torque_by_slope);
    subtract_from(&h->psi_slope, &rotated_torque);
    h->slope_slope = multiply_back(&forward, &torque_by_slope);
    if (point->coupled) {
        yk_mat3 coupled = multiply(&section.block[0][1], &along);
        yk_mat3 force_by_slope = multiply(&section.block[0][1], &forward);
        add_to(&force_by_psi, &coupled);
        h->a_by_slope = cross_columns(back_line, &force_by_slope);
        coupled = multiply_back(&forward, &h->a_by_slope);
        add_to(&h->psi_slope, &coupled);
        h->slope_line = multiply_back(&forward, &section.block[1][0]);
    }
    h->a_by_psi = cross_columns(back_line, &force_by_psi);
    h->a_by_line = cross_columns(back_line, &section.block[0][0]);
    add_to(&h->a_by_line, &force_skew);
    h->psi_line = multiply_back(&forward, &h->a_by_line);
    if (point->coupled) {
        yk_mat3 coupled = multiply_back(&along, &section.block[1][0]);
        add_to(&h->psi_line, &coupled);
    }
    yk_mat3 by_a = multiply_back(&forward, &h->a_by_psi), by_torque = multiply_back(&along, &torque_by_psi);
    add_to(&h->psi_psi, &by_a);
    add_to(&h->psi_psi, &by_torque);
}

enum { TORQUE = 3 }; /* unknowns of a node: where its rotation begins */

static inline void put_block(double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS], int row, int column, const yk_mat3 *m)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) matrix[row + i][column + j] = -m->m[i][j];
}

/* psi = sum of N_i psi_i: the block of two ends from both points. */
static inline yk_mat3 end_block(const yk_beam *beam, const point_hessian h[YK_BEAM_POINTS], int first, int second)
{
    yk_mat3 sum = yk_m3_zero();
    for (int p = 0; p < YK_BEAM_POINTS; p++) {
        const yk_beam_point *point = &beam->point[p];
        double shape = point->length * point->shape[first], slope = point->length * point->slope[first];
        double both = shape * point->shape[second], mixed = shape * point->slope[second];
        double other = slope * point->shape[second], slopes = slope * point->slope[second];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                sum.m[i][j] += both * h[p].psi_psi.m[i][j] + mixed * h[p].psi_slope.m[i][j] +
                               other * h[p].psi_slope.m[j][i] + slopes * h[p].slope_slope.m[i][j];
    }
    return sum;
}

/* factor[0] m[0] + factor[1] m[1] */
static inline yk_mat3 combine_blocks(const double factor[2], const yk_mat3 *first, const yk_mat3 *second)
{
    yk_mat3 sum;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) sum.m[i][j] = factor[0] * first->m[i][j] + factor[1] * second->m[i][j];
    return sum;
}

/* From psi to the rotations of the nodes, psi_i turning by T(psi_i)^-1 (delta_i - delta_2), and from derivatives seen
 * from the middle node, where the line turns by -delta_2, to global ones. */
static void put_hessian(const yk_beam *beam, const element_state *element, const point_state state[YK_BEAM_POINTS],
                        const moment_sums *values, const yk_vec3 c[2], const point_hessian h[YK_BEAM_POINTS],
                        double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS])
{
    static const int middle = 6 * MIDDLE + TORQUE;
    const double length[2] = {beam->point[0].length, beam->point[1].length};
    yk_mat3 skew = yk_m3_skew(yk_v3_neg(values->all)), all_rotate = skew, line_rotation[YK_BEAM_NODES];

    /* f_n = - sum w N_n' t, and sum w a, by positions and by the rotation of the middle node alone */
    for (int p = 0; p < YK_BEAM_POINTS; p++) {
        yk_mat3 rotated = cross_rows(&h[p].a_by_line, state[p].line);
        add_times(&all_rotate, length[p], &rotated);
    }
    for (int n = 0; n < YK_BEAM_NODES; n++) {
        const double slope[2] = {length[0] * beam->point[0].slope[n], length[1] * beam->point[1].slope[n]};
        yk_mat3 block = combine_blocks(slope, &h[0].a_by_line, &h[1].a_by_line);
        put_block(matrix, middle, 6 * n, &block);
        line_rotation[n] = combine_blocks(slope, &h[0].line_rotation, &h[1].line_rotation);
        for (int k = 0; k <= n; k++) {
            const double both[2] = {slope[0] * beam->point[0].slope[k], slope[1] * beam->point[1].slope[k]};
            block = combine_blocks(both, &h[0].line_line, &h[1].line_line);
            put_block(matrix, 6 * n, 6 * k, &block);
            if (k < n) put_block(matrix, 6 * k, 6 * n, &block); /* symmetric, as the section is */
        }
    }

    /* c_1 and c_3, and what the others change with their psi */
    yk_mat3 by_middle[2];
    for (int e = 0; e < 2; e++) {
        int i = end_node[e], torque = 6 * i + TORQUE;
        by_middle[e] = yk_m3_skew(yk_v3_neg(c[e]));
        yk_mat3 part[YK_BEAM_POINTS], all_psi = yk_m3_zero();
        for (int p = 0; p < YK_BEAM_POINTS; p++) {
            double shape = length[p] * beam->point[p].shape[i], slope = length[p] * beam->point[p].slope[i];
            yk_mat3 by_line = yk_m3_scale(shape, h[p].psi_line);
            add_times(&all_psi, shape, &h[p].a_by_psi);
            if (beam->point[p].coupled) {
                add_times(&by_line, slope, &h[p].slope_line);
                add_times(&all_psi, slope, &h[p].a_by_slope);
            }
            part[p] = multiply_back(&element->inverse[e], &by_line);
            yk_mat3 rotated = cross_rows(&part[p], state[p].line);
            add_to(&by_middle[e], &rotated);
        }
        for (int n = 0; n < YK_BEAM_NODES; n++) {
            const double slope[2] = {beam->point[0].slope[n], beam->point[1].slope[n]};
            yk_mat3 block = combine_blocks(slope, &part[0], &part[1]), transposed = yk_m3_transpose(block);
            put_block(matrix, torque, 6 * n, &block);
            put_block(matrix, 6 * n, torque, &transposed);
            subtract_from(&line_rotation[n], &transposed);
        }
        yk_mat3 all_end = multiply(&all_psi, &element->inverse[e]);
        put_block(matrix, middle, torque, &all_end);
        subtract_from(&all_rotate, &all_end);

        /* c = T^-T v: dc = T^-T (dv - d(T^T c)/dpsi dpsi) */
        yk_tangent reversed = yk_tangent_reversed(&element->tangent[e]);
        yk_mat3 own = end_block(beam, h, i, i), curved = yk_tangent_by_psi(&reversed, c[e]);
        add_to(&own, &curved);
        own = multiply_back(&element->inverse[e], &own);
        own = multiply(&own, &element->inverse[e]);
        put_block(matrix, torque, torque, &own);
        subtract_from(&by_middle[e], &own);
    }
    yk_mat3 across = end_block(beam, h, FIRST, LAST);
    across = multiply_back(&element->inverse[0], &across);
    across = multiply(&across, &element->inverse[1]);
    yk_mat3 across_back = yk_m3_transpose(across);
    put_block(matrix, 6 * FIRST + TORQUE, 6 * LAST + TORQUE, &across);
    put_block(matrix, 6 * LAST + TORQUE, 6 * FIRST + TORQUE, &across_back);
    subtract_from(&by_middle[0], &across);
    subtract_from(&by_middle[1], &across_back);
    for (int e = 0; e < 2; e++) put_block(matrix, 6 * end_node[e] + TORQUE, middle, &by_middle[e]);
    for (int n = 0; n < YK_BEAM_NODES; n++) put_block(matrix, 6 * n, middle, &line_rotation[n]);
    put_block(matrix, middle, middle, &all_rotate);

    /* c_2 = sum of w a - c_1 - c_3 */
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < YK_BEAM_UNKNOWNS; k++)
            matrix[middle + r][k] -= matrix[6 * FIRST + TORQUE + r][k] + matrix[6 * LAST + TORQUE + r][k];

    /* The line at node n moves with the node's rotation where it is off the node. */
    for (int n = 0; n < YK_BEAM_NODES && beam->has_offset; n++) {
        yk_vec3 arm = element->arm[n];
        for (int r = 0; r < YK_BEAM_UNKNOWNS; r++) {
            const double *by = &matrix[r][6 * n];
            double *rotation = &matrix[r][6 * n + TORQUE];
            rotation[0] -= by[1] * arm.z - by[2] * arm.y;
            rotation[1] -= by[2] * arm.x - by[0] * arm.z;
            rotation[2] -= by[0] * arm.y - by[1] * arm.x;
        }
    }
}

/* Torques about nodes that are off the line: the rows of o_i x f_i, and what turning the arm adds at given forces. */
static void add_arms(const element_state *element, const yk_vec3 *force,
                     double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS])
{
    for (int n = 0; n < YK_BEAM_NODES; n++) {
        yk_vec3 arm = element->arm[n];
        double(*by)[YK_BEAM_UNKNOWNS] = &matrix[6 * n], (*torque)[YK_BEAM_UNKNOWNS] = &matrix[6 * n + TORQUE];
        for (int j = 0; j < YK_BEAM_UNKNOWNS; j++) {
            torque[0][j] += arm.y * by[2][j] - arm.z * by[1][j];
            torque[1][j] += arm.z * by[0][j] - arm.x * by[2][j];
            torque[2][j] += arm.x * by[1][j] - arm.y * by[0][j];
        }
        if (!force) continue;
        yk_mat3 arm_skew = yk_m3_skew(arm), swept = cross_columns(force[n], &arm_skew);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) torque[i][6 * n + TORQUE + j] += swept.m[i][j];
    }
}

/* Damping -------------------------------------------------------------------------------------------------------- */

/* to += a x v */
static inline void add_cross(by_rotations *to, yk_vec3 a, const by_rotations *v)
{
    for (int j = 0; j < ROTATION_COLUMNS; j++) {
        double x = v->m[0][j], y = v->m[1][j], z = v->m[2][j];
        to->m[0][j] += a.y * z - a.z * y;
        to->m[1][j] += a.z * x - a.x * z;
        to->m[2][j] += a.x * y - a.y * x;
    }
}

/* to += a v */
static inline void add_product(by_rotations *to, const yk_mat3 *a, const by_rotations *v)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < ROTATION_COLUMNS; j++)
            to->m[i][j] += a->m[i][0] * v->m[0][j] + a->m[i][1] * v->m[1][j] + a->m[i][2] * v->m[2][j];
}

static inline void combine_rotations(double a, const by_rotations *u, double b, const by_rotations *v, by_rotations *to)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < ROTATION_COLUMNS; j++) to->m[i][j] = a * u->m[i][j] + b * v->m[i][j];
}

/* Adds a block in the columns of one node. */
static inline void add_rotation(by_rotations *to, int node, const yk_mat3 *m)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) to->m[i][3 * node + j] += m->m[i][j];
}

/* Variations at a point: rotation, curvature and strain by the rotation of each node (G, K, X). The strain by the
 * position of node i is slope_i times the identity. */
typedef struct point_variation {
    by_rotations rotation, curvature, strain;
    by_rotations psi, psi_slope; /* as seen from the middle node */
} point_variation;

static void vary_point(const yk_beam *beam, const yk_beam_point *point, const element_state *element,
                       const point_state *state, point_variation *v)
{
    yk_mat3 forward = yk_tangent_forward(&state->tangent), identity = yk_m3_identity();
    yk_mat3 along = yk_tangent_along(&state->tangent, state->psi_slope);
    const by_rotations *first = &element->psi_by_rotations[0], *last = &element->psi_by_rotations[1];
    combine_rotations(point->shape[FIRST], first, point->shape[LAST], last, &v->psi);
    combine_rotations(point->slope[FIRST], first, point->slope[LAST], last, &v->psi_slope);
    v->rotation = v->curvature = v->strain = (by_rotations){{{0}}};
    add_product(&v->rotation, &forward, &v->psi);
    add_product(&v->curvature, &along, &v->psi);
    add_product(&v->curvature, &forward, &v->psi_slope);
    add_cross(&v->strain, state->line, &v->rotation);
    yk_mat3 middle = yk_m3_skew(state->line);
    add_rotation(&v->rotation, MIDDLE, &identity);
    add_rotation(&v->strain, MIDDLE, &middle);
    for (int i = 0; i < YK_BEAM_NODES && beam->has_offset; i++) {
        yk_mat3 arm = yk_m3_skew(yk_v3_scale(-point->slope[i], element->arm[i]));
        add_rotation(&v->strain, i, &arm);
    }
}

/* Derivatives of the viscous force (0) and torque (1) of the section, as it sees them: by the rotations of the nodes, and
 * by the position of node i after division by slope_i. */
typedef struct resultant_variation {
    by_rotations by_rotation[2];
    yk_mat3 by_position[2];
} resultant_variation;

/* Adds a rotated section matrix times variations of strain and curvature. */
static void add_section(const yk_beam_point *point, const section_blocks *section, const by_rotations *strain,
                        const by_rotations *curvature, resultant_variation *r)
{
    add_product(&r->by_rotation[0], &section->block[0][0], strain);
    add_product(&r->by_rotation[1], &section->block[1][1], curvature);
    if (!point->coupled) return;
    add_product(&r->by_rotation[0], &section->block[0][1], curvature);
    add_product(&r->by_rotation[1], &section->block[1][0], strain);
}

static void strain_terms(const yk_beam_point *point, const section_blocks *section, const point_variation *v,
                         resultant_variation *r)
{
    memset(r, 0, sizeof *r);
    add_section(point, section, &v->strain, &v->curvature, r);
    r->by_position[0] = section->block[0][0];
    if (point->coupled) r->by_position[1] = section->block[1][0];
}

/* Variation of the rotational rates at given angular velocities of the nodes: of the angular velocity of the section,
 * and of the curvature rate as seen from the middle node. With u_i the spin of node i relative to the middle one, whose
 * variation seen from there is u_i x delta_2, and c_i = T(psi_i)^-1 u_i the rate of psi_i,
 *   d(c_i) = T(psi_i)^-1 (u_i x delta_2 - L(psi_i, c_i) d(psi_i)),   L(psi, c) = d(T(psi) c)/dpsi
 *   d(angular velocity) = L(psi, c) d(psi) + T(psi) d(c) + delta_2 x spin
 * and the curvature rate is its derivative along the beam but for the last term. */
static void vary_rates(const yk_beam_point *point, const element_state *element, const point_state *state,
                       const point_variation *v, by_rotations *angular_velocity, by_rotations *curvature_rate)
{
    by_rotations rate[2], psi_rate, psi_rate_slope;
    for (int e = 0; e < 2; e++) {
        yk_mat3 by_psi = yk_tangent_by_psi(&element->tangent[e], element->psi_rate[e]);
        yk_mat3 minus = multiply(&element->inverse[e], &by_psi), spin = yk_m3_skew(element->spin[e]);
        minus = yk_m3_scale(-1, minus);
        spin = multiply(&element->inverse[e], &spin);
        rate[e] = (by_rotations){{{0}}};
        add_product(&rate[e], &minus, &element->psi_by_rotations[e]);
        add_rotation(&rate[e], MIDDLE, &spin);
    }
    combine_rotations(point->shape[FIRST], &rate[0], point->shape[LAST], &rate[1], &psi_rate);
    combine_rotations(point->slope[FIRST], &rate[0], point->slope[LAST], &rate[1], &psi_rate_slope);
    yk_mat3 forward = yk_tangent_forward(&state->tangent);
    yk_mat3 along = yk_tangent_along(&state->tangent, state->psi_slope);
    yk_mat3 by_psi = yk_tangent_by_psi(&state->tangent, state->psi_rate);
    yk_mat3 by_psi_slope = yk_tangent_by_psi(&state->tangent, state->psi_rate_slope);
    yk_mat3 second = yk_tangent_second(&state->tangent, state->psi_rate, state->psi_slope);
    yk_mat3 middle = yk_m3_skew(yk_v3_neg(state->spin));
    add_to(&by_psi_slope, &second);
    *angular_velocity = *curvature_rate = (by_rotations){{{0}}};
    add_product(angular_velocity, &by_psi, &v->psi);
    add_product(angular_velocity, &forward, &psi_rate);
    add_rotation(angular_velocity, MIDDLE, &middle);
    add_product(curvature_rate, &by_psi_slope, &v->psi);
    add_product(curvature_rate, &by_psi, &v->psi_slope);
    add_product(curvature_rate, &along, &psi_rate);
    add_product(curvature_rate, &forward, &psi_rate_slope);
}

/* Adds the damping matrix times the variation of the strain rates at given velocities. */
static void damping_terms(const yk_beam *beam, const yk_beam_point *point, const element_state *element,
                          const point_state *state, const yk_frame *const node[], const section_blocks *section,
                          const point_variation *v, resultant_variation *r)
{
    by_rotations angular_velocity, curvature_rate, strain_rate = {{{0}}};
    vary_rates(point, element, state, v, &angular_velocity, &curvature_rate);
    yk_mat3 middle = yk_m3_skew(yk_v3_neg(state->curvature_rate));
    add_rotation(&curvature_rate, MIDDLE, &middle);
    add_cross(&curvature_rate, state->curvature_rate, &v->rotation);
    for (int i = 0; i < YK_BEAM_NODES && beam->has_offset; i++) {
        yk_mat3 arm = yk_m3_skew(yk_v3_scale(point->slope[i], element->arm[i]));
        yk_mat3 swept = cross_columns(yk_v3_sub(state->angular_velocity, node[i]->angular_velocity), &arm);
        add_rotation(&strain_rate, i, &swept);
    }
    add_cross(&strain_rate, state->line, &angular_velocity);
    add_cross(&strain_rate, state->strain_rate, &v->rotation);
    add_section(point, section, &strain_rate, &curvature_rate, r);
    yk_mat3 spin = yk_m3_skew(state->angular_velocity);
    for (int k = 0; k < (point->coupled ? 2 : 1); k++) {
        yk_mat3 shift = multiply(&section->block[k][0], &spin);
        subtract_from(&r->by_position[k], &shift);
    }
}

/* Derivatives by the rotations and by the positions of the three nodes, three columns each. */
typedef struct by_nodes {
    by_rotations rotation, position;
} by_nodes;

/* Of the moment sums. */
typedef struct moment_variations {
    by_nodes end[2], all;
} moment_variations;

static inline void add_scaled(by_rotations *to, double factor, const by_rotations *v)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < ROTATION_COLUMNS; j++) to->m[i][j] += factor * v->m[i][j];
}

/* A block that belongs to the sum of slope_i dx_i. */
static inline void add_position(by_rotations *to, double factor, const yk_beam_point *point, const yk_mat3 *m)
{
    for (int i = 0; i < 3; i++)
        for (int n = 0; n < YK_BEAM_NODES; n++)
            for (int j = 0; j < 3; j++) to->m[i][3 * n + j] += factor * point->slope[n] * m->m[i][j];
}

/* Rows of the forces, and what the point contributes to the moment sums, at a given placement. */
static void vary_loads(const yk_beam_point *point, const point_state *state, const resultant_variation *r,
                       moment_variations *sums, double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS])
{
    /* a = t x e, T^T a + T'^T m, T^T m */
    yk_vec3 back_line = yk_v3_neg(state->line);
    yk_tangent reversed = yk_tangent_reversed(&state->tangent);
    yk_mat3 back = yk_tangent_forward(&reversed);
    yk_mat3 back_along = yk_m3_scale(-1, yk_tangent_along(&reversed, state->psi_slope));
    by_rotations a = {{{0}}}, by_psi = {{{0}}}, by_slope = {{{0}}};
    add_cross(&a, back_line, &r->by_rotation[0]);
    add_product(&by_psi, &back, &a);
    add_product(&by_psi, &back_along, &r->by_rotation[1]);
    add_product(&by_slope, &back, &r->by_rotation[1]);
    yk_mat3 a_position = cross_columns(back_line, &r->by_position[0]);
    yk_mat3 psi_position = multiply(&back, &a_position), slope_position = multiply(&back, &r->by_position[1]);
    yk_mat3 along_position = multiply(&back_along, &r->by_position[1]);
    add_to(&psi_position, &along_position);

    /* The sums of both points. */
    add_scaled(&sums->all.rotation, point->length, &a);
    add_position(&sums->all.position, point->length, point, &a_position);
    for (int k = 0; k < 2; k++) {
        double shape = point->length * point->shape[end_node[k]], slope = point->length * point->slope[end_node[k]];
        add_scaled(&sums->end[k].rotation, shape, &by_psi);
        add_scaled(&sums->end[k].rotation, slope, &by_slope);
        add_position(&sums->end[k].position, shape, point, &psi_position);
        add_position(&sums->end[k].position, slope, point, &slope_position);
    }

    /* f_i = - w N_i' t */
    for (int n = 0; n < YK_BEAM_NODES; n++)
        for (int k = 0; k < 3; k++) {
            double factor = -point->length * point->slope[n], *row = matrix[6 * n + k];
            for (int i = 0; i < YK_BEAM_NODES; i++)
                for (int j = 0; j < 3; j++) {
                    row[6 * i + j] += factor * point->slope[i] * r->by_position[0].m[k][j];
                    row[6 * i + TORQUE + j] += factor * r->by_rotation[0].m[k][3 * i + j];
                }
        }
}

/* In the rows of the torque on node n. */
static inline void subtract_rows(const by_nodes *v, int n, double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS])
{
    for (int k = 0; k < 3; k++) {
        double *row = matrix[6 * n + TORQUE + k];
        for (int i = 0; i < YK_BEAM_NODES; i++)
            for (int j = 0; j < 3; j++) {
                row[6 * i + j] -= v->position.m[k][3 * i + j];
                row[6 * i + TORQUE + j] -= v->rotation.m[k][3 * i + j];
            }
    }
}

/* Rows of the torques from the moment sums. */
static void vary_torques(const element_state *element, moment_variations *sums,
                         double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS])
{
    for (int k = 0; k < 2; k++) {
        yk_mat3 back_inverse = yk_m3_transpose(element->inverse[k]);
        by_nodes part = {.rotation = {{{0}}}};
        add_product(&part.rotation, &back_inverse, &sums->end[k].rotation);
        add_product(&part.position, &back_inverse, &sums->end[k].position);
        add_scaled(&sums->all.rotation, -1, &part.rotation);
        add_scaled(&sums->all.position, -1, &part.position);
        subtract_rows(&part, end_node[k], matrix);
    }
    subtract_rows(&sums->all, MIDDLE, matrix);
}

/* What viscous resultants add to the derivatives by placement, and the derivatives by rates. */
static void differentiate_damping(const yk_beam *beam, element_state *element, const point_state state[YK_BEAM_POINTS],
                                  const yk_frame *const node[], yk_beam_jacobian *jacobian)
{
    moment_variations sums, rate_sums;
    memset(&sums, 0, sizeof sums);
    memset(&rate_sums, 0, sizeof rate_sums);
    memset(jacobian->rate, 0, sizeof jacobian->rate);
    prepare_rotations(element);
    for (int p = 0; p < YK_BEAM_POINTS; p++) {
        const yk_beam_point *point = &beam->point[p];
        point_variation v;
        section_blocks damping;
        resultant_variation by_pose, by_rate;
        vary_point(beam, point, element, &state[p], &v);
        rotate_section(point->damping, point->coupled, false, &state[p].frame, &damping);
        memset(&by_pose, 0, sizeof by_pose);
        damping_terms(beam, point, element, &state[p], node, &damping, &v, &by_pose);
        strain_terms(point, &damping, &v, &by_rate);
        vary_loads(point, &state[p], &by_pose, &sums, jacobian->pose);
        vary_loads(point, &state[p], &by_rate, &rate_sums, jacobian->rate);
    }
    vary_torques(element, &sums, jacobian->pose);
    vary_torques(element, &rate_sums, jacobian->rate);
    if (beam->has_offset) add_arms(element, NULL, jacobian->rate);
}

void yk_beam_evaluate(const yk_beam *beam, const yk_frame *const node[YK_BEAM_NODES], yk_beam_loads *loads,
                      yk_beam_jacobian *jacobian)
{
    element_state element;
    point_state state[YK_BEAM_POINTS];
    moment_sums sums = {0};
    yk_vec3 c[2];
    place_nodes(beam, node, &element);
    if (jacobian || beam->damped) prepare_tangents(&element);
    if (beam->damped) prepare_rates(node, &element);

    loads->energy = loads->loss = 0;
    for (int i = 0; i < YK_BEAM_NODES; i++) loads->force[i] = yk_v3(0, 0, 0);
    for (int p = 0; p < YK_BEAM_POINTS; p++) {
        evaluate_point(beam, p, &element, node, &state[p], loads);
        load_point(&beam->point[p], &state[p], loads, &sums);
    }
    load_nodes(beam, &element, &sums, c, loads);
    if (!jacobian) return;

    point_hessian second[YK_BEAM_POINTS];
    for (int p = 0; p < YK_BEAM_POINTS; p++) differentiate_point(&beam->point[p], &state[p], &second[p]);
    put_hessian(beam, &element, state, &sums, c, second, jacobian->pose);
    if (beam->damped) differentiate_damping(beam, &element, state, node, jacobian);
    if (beam->has_offset) add_arms(&element, loads->force, jacobian->pose);
}

/* Set-up --------------------------------------------------------------------------------------------------------- */

yk_beam_def yk_beam_straight(yk_vec3 start, yk_vec3 end, yk_vec3 up, const yk_beam_section *section)
{
    yk_beam_def def = {.section = {*section, *section}};
    yk_vec3 x = yk_v3_unit(yk_v3_sub(end, start));
    yk_vec3 z = yk_v3_unit(yk_v3_cross(x, up));
    yk_quat frame = yk_so3_quat(yk_m3_columns(x, yk_v3_cross(z, x), z));
    for (int i = 0; i < YK_BEAM_NODES; i++) {
        def.position[i] = yk_v3_axpy(0.5 * i, yk_v3_sub(end, start), start);
        def.orientation[i] = frame;
        def.section_frame[i] = yk_q_identity();
    }
    return def;
}

/* The beam's geometry without section, and its nodes in the reference shape. */
static void reference(const yk_beam_def *def, yk_beam *beam, yk_frame node[YK_BEAM_NODES])
{
    memset(beam, 0, sizeof *beam);
    for (int i = 0; i < YK_BEAM_NODES; i++) {
        yk_quat section_frame = yk_q_unit(def->section_frame[i]);
        beam->offset[i] = def->offset[i];
        beam->section_frame[i] = yk_q_matrix(section_frame);
        beam->rotated |= fabs(section_frame.w) != 1;
        beam->has_offset |= yk_v3_norm2(def->offset[i]) > 0;
        node[i] = (yk_frame){.position = def->position[i], .rotation = yk_q_matrix(yk_q_unit(def->orientation[i]))};
    }
}

/* A section that stores energy: its stiffness is symmetric and positive definite. */
static yk_status check_section(yk_context *context, const yk_beam_section *section, int p)
{
    for (int i = 0; i < 6; i++)
        if (!(section->stiffness[i][i] > 0))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "beam: stiffness %d of section %d is not positive; for a stiff direction give a large "
                           "number, not zero",
                           i + 1, p + 1);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++) {
            double upper = section->stiffness[j][i], lower = section->stiffness[i][j];
            if (fabs(upper - lower) > 1e-6 * sqrt(section->stiffness[i][i] * section->stiffness[j][j]))
                return yk_fail(context, YK_ERROR_ARGUMENT,
                               "beam: the stiffness of section %d is not symmetric, %g in row %d and %g in row %d: no "
                               "material gives it, and motions would grow by it; take the mean of both",
                               p + 1, upper, j + 1, lower, i + 1);
        }

    /* Gaussian elimination meets positive pivots. */
    double a[6][6];
    memcpy(a, section->stiffness, sizeof a);
    for (int k = 0; k < 6; k++) {
        if (!(a[k][k] > 0))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "beam: the stiffness of section %d is not positive definite: strains that involve component "
                           "%d would release energy; make the terms off the diagonal smaller",
                           p + 1, k + 1);
        for (int i = k + 1; i < 6; i++)
            for (int j = k + 1; j < 6; j++) a[i][j] -= a[i][k] * a[k][j] / a[k][k];
    }
    return YK_OK;
}

static yk_status check(yk_context *context, const yk_beam_def *def, const element_state *element)
{
    double half[2];
    for (int i = 0; i < 2; i++) {
        half[i] = yk_v3_norm(yk_v3_sub(element->position[i + 1], element->position[i]));
        if (!(half[i] > 0))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "beam: nodes %d and %d put the reference line in one place; move one of them or its offset",
                           i + 1, i + 2);
    }
    if (!(half[0] < 3 * half[1] && half[1] < 3 * half[0]))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "beam: the middle node is too close to an end; keep it near half of the length");
    for (int i = 0; i < 2; i++)
        if (!(yk_v3_norm(element->psi[i]) < 0.9 * YK_PI))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "beam: the section turns by nearly half a rotation between two nodes; use more beams");
    for (int p = 0; p < YK_BEAM_POINTS; p++) {
        yk_status status = check_section(context, &def->section[p], p);
        if (status != YK_OK) return status;
    }
    return YK_OK;
}

yk_status yk_beam_create(yk_context *context, const yk_beam_def *def, yk_beam *beam)
{
    yk_frame node[YK_BEAM_NODES];
    element_state element;
    reference(def, beam, node);
    place_nodes(beam, (const yk_frame *const[]){&node[0], &node[1], &node[2]}, &element);
    yk_status status = check(context, def, &element);
    if (status != YK_OK) return status;
    for (int p = 0; p < YK_BEAM_POINTS; p++) {
        yk_beam_point *point = &beam->point[p];
        point_state state;
        shape_functions((p == 0 ? -1 : 1) / sqrt(3), point->shape, point->slope);
        point->length = yk_v3_norm(interpolate(point->slope, element.position));
        for (int i = 0; i < YK_BEAM_NODES; i++) point->slope[i] /= point->length;
        place_point(&element, point->shape, point->slope, &state, point->strain);
        memcpy(point->stiffness, def->section[p].stiffness, sizeof point->stiffness);
        memcpy(point->damping, def->section[p].damping, sizeof point->damping);
        point->diagonal = true;
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++) {
                beam->damped |= point->damping[i][j] != 0;
                if (i != j) point->diagonal &= point->stiffness[i][j] == 0;
                if (i / 3 != j / 3) point->coupled |= point->stiffness[i][j] != 0 || point->damping[i][j] != 0;
            }
    }
    return YK_OK;
}

/* A slice of the beam of the given length as a part of the body on a node. */
static void add_slice(const yk_beam_section *section, const point_state *state, double length, const yk_frame *node,
                      yk_inertia *lump)
{
    yk_vec3 centre = yk_v3_add(state->position, yk_m3_apply(state->frame, section->centre));
    yk_mat3 back = yk_m3_transpose(node->rotation);
    yk_quat axes = yk_so3_quat(multiply(&back, &state->frame));
    yk_vec3 arm = yk_m3_apply(back, yk_v3_sub(centre, node->position));
    yk_inertia slice = yk_inertia_of_body(section->mass * length, arm, yk_m3_scale(length, section->inertia), axes);
    yk_inertia_add(lump, &slice);
}

/* Simpson's rule: of each half of the beam a third goes to the end and the rest to the middle node. */
void yk_beam_lumps(const yk_beam_def *def, yk_inertia lump[YK_BEAM_NODES])
{
    yk_beam beam;
    yk_frame node[YK_BEAM_NODES];
    element_state element;
    reference(def, &beam, node);
    place_nodes(&beam, (const yk_frame *const[]){&node[0], &node[1], &node[2]}, &element);
    memset(lump, 0, YK_BEAM_NODES * sizeof *lump);

    /* The middle portion has its centre off the node where the halves differ, so that the centre of the whole is right. */
    double first = def->section[0].mass, last = def->section[1].mass;
    double middle = first + last > 0 ? 0.25 * (last - first) / (first + last) : 0;
    const double xi[YK_BEAM_NODES] = {-1, middle, 1};
    for (int i = 0; i < YK_BEAM_NODES; i++) {
        double shape[YK_BEAM_NODES], slope[YK_BEAM_NODES], strain[6];
        point_state state;
        shape_functions(xi[i], shape, slope);
        place_point(&element, shape, slope, &state, strain);
        double length = yk_v3_norm(state.line) * (i == MIDDLE ? 2.0 / 3 : 1.0 / 3);
        if (i <= MIDDLE) add_slice(&def->section[0], &state, length, &node[i], &lump[i]);
        if (i >= MIDDLE) add_slice(&def->section[1], &state, length, &node[i], &lump[i]);
    }
}
