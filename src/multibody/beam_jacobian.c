/* Derivatives of the loads of a beam, in the notation of beam.c: its stiffness (second derivatives
 * of its strain energy), and the derivatives of its viscous loads.
 *
 * At a Gauss point the energy is a function of psi, of its slope psi' and of the line e, all
 * relative to the middle node. With the section's matrix in global axes, D = S diag(D_ee D_ek; D_ke
 * D_kk) S^T, the resultants change by
 *
 *   dt = D_ee (de + e x dphi) + D_ek dk - t x dphi        dphi = T(psi) dpsi, the rotation of S
 *   dm = D_ke (de + e x dphi) + D_kk dk - m x dphi        dk   = T'(psi; psi') dpsi + T(psi) dpsi'
 *
 * and a = t x e, T^T a + T'^T m and T^T m accordingly. The chain rule then gives the derivatives by
 * the motion of the nodes: psi_i rotates by T(psi_i)^-1 (delta_i - delta_2), and the line, relative
 * to the middle node, by -delta_2.
 *
 * Viscous resultants D_v (S gamma', S kappa') depend on the placement through the strain rates, and
 * on the rates as the elastic ones depend on the strains. Both derivatives with respect to the
 * rotations of the three nodes are stored in one array; those with respect to the position of node
 * i are N_i' times one matrix. */
#include <string.h>

#include "multibody/beam_state.h"

/* Products of 3 x 3 matrices by reference ------------------------------------------------------ */

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

/* S D S^T of one block. A diagonal block has only half of the products. */
static inline yk_mat3 rotate_block(const double matrix[6][6], int r, int c, bool diagonal,
                                   const yk_mat3 *frame, const yk_mat3 *transposed)
{
    yk_mat3 half;
    if (!diagonal) {
        yk_mat3 block;
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++)
                block.m[i][j] = matrix[3 * r + i][3 * c + j];
        }
        half = multiply(frame, &block);
        return multiply(&half, transposed);
    }

    /* The product of a diagonal matrix is symmetric, so compute half of it. */
    yk_mat3 rotated;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            half.m[i][k] = frame->m[i][k] * matrix[3 * r + k][3 * c + k];
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            const double *row = frame->m[j];
            double sum = half.m[i][0] * row[0] + half.m[i][1] * row[1] + half.m[i][2] * row[2];
            rotated.m[i][j] = sum;
            rotated.m[j][i] = sum;
        }
    }

    return rotated;
}

/* S D S^T of a section's matrix, block by block: [row][column], 0 for force and strain, 1 for
 * torque and curvature. Blocks off the diagonal are left out where they are zero. */
static void rotate_section(const double matrix[6][6], bool coupled, bool diagonal,
                           const yk_mat3 *frame, yk_mat3 rotated[2][2])
{
    yk_mat3 transposed = yk_m3_transpose(*frame);
    for (int r = 0; r < 2; r++) {
        for (int c = 0; c < 2; c++) {
            if (r == c || coupled)
                rotated[r][c] = rotate_block(matrix, r, c, diagonal, frame, &transposed);
        }
    }
}

void yk_beam_add_arms(const beam_state *state, const yk_vec3 *force,
                      double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS])
{
    for (int n = 0; n < YK_BEAM_NODE_COUNT; n++) {
        yk_vec3 arm = state->arm[n];
        double(*by)[YK_BEAM_UNKNOWNS] = &matrix[6 * n];
        double(*torque)[YK_BEAM_UNKNOWNS] = &matrix[6 * n + TORQUE];
        for (int j = 0; j < YK_BEAM_UNKNOWNS; j++) {
            torque[0][j] += arm.y * by[2][j] - arm.z * by[1][j];
            torque[1][j] += arm.z * by[0][j] - arm.x * by[2][j];
            torque[2][j] += arm.x * by[1][j] - arm.y * by[0][j];
        }

        /* The arm itself rotates under the force. */
        if (!force)
            continue;

        yk_mat3 arm_skew = yk_m3_skew(arm);
        yk_mat3 swept = cross_columns(force[n], &arm_skew);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++)
                torque[i][6 * n + TORQUE + j] += swept.m[i][j];
        }
    }
}

/* Stiffness ------------------------------------------------------------------------------------ */

/* Second derivatives of the energy per length at given resultants, relative to the middle node: by
 * psi, by its slope and by the line; and derivatives of a = t x e, and of t by a rotation of the
 * line. */
typedef struct point_hessian {
    yk_mat3 psi_psi, psi_slope, slope_slope, psi_line, slope_line, line_line;
    yk_mat3 a_by_psi, a_by_slope, a_by_line;
    yk_mat3 line_rotation;
} point_hessian;

/* Not inlined for each point, because twice the code would not fit in the processor's instruction
 * cache. */
__attribute__((noinline)) static void
differentiate_point(const yk_beam_point *point, const beam_section_state *section, point_hessian *h)
{
    yk_vec3 line = section->line;
    yk_vec3 back_line = yk_v3_neg(line);
    yk_mat3 force_skew = yk_m3_skew(section->force);
    yk_mat3 torque_skew = yk_m3_skew(section->torque);
    yk_mat3 forward = yk_tangent_forward(&section->tangent);                 /* T */
    yk_mat3 along = yk_tangent_along(&section->tangent, section->psi_slope); /* T' */
    yk_tangent reversed = yk_tangent_reversed(&section->tangent);            /* for T^T */

    /* The section's matrix in global axes. */
    yk_mat3 rotated[2][2];
    rotate_section(point->stiffness, point->coupled, point->diagonal, &section->frame, rotated);
    const yk_mat3 *d_ee = &rotated[0][0];
    const yk_mat3 *d_ek = &rotated[0][1];
    const yk_mat3 *d_ke = &rotated[1][0];
    const yk_mat3 *d_kk = &rotated[1][1];
    h->line_line = *d_ee;

    /* Derivatives of the resultants by a rotation of the section, by psi and by its slope. Those by
     * the line are the stiffness itself. */
    h->line_rotation = cross_rows(d_ee, line);
    subtract_from(&h->line_rotation, &force_skew);
    yk_mat3 torque_by_rotation = yk_m3_zero();
    if (point->coupled)
        torque_by_rotation = cross_rows(d_ke, line);
    subtract_from(&torque_by_rotation, &torque_skew);
    yk_mat3 force_by_psi = multiply(&h->line_rotation, &forward);
    yk_mat3 torque_by_psi = multiply(&torque_by_rotation, &forward);
    yk_mat3 torque_by_slope = multiply(d_kk, &forward);
    yk_mat3 curved = multiply(d_kk, &along);
    add_to(&torque_by_psi, &curved);

    /* T^T a + T'^T m by psi and by its slope; T^T m by the slope. */
    yk_mat3 rotated_a = yk_tangent_by_psi(&reversed, yk_v3_cross(section->force, line));
    yk_mat3 rotated_torque = yk_tangent_by_psi(&reversed, section->torque);
    h->psi_psi = yk_tangent_second(&reversed, section->torque, section->psi_slope);
    subtract_from(&h->psi_psi, &rotated_a);
    h->psi_slope = multiply_back(&along, &torque_by_slope);
    subtract_from(&h->psi_slope, &rotated_torque);
    h->slope_slope = multiply_back(&forward, &torque_by_slope);
    if (point->coupled) {
        yk_mat3 coupled = multiply(d_ek, &along);
        yk_mat3 force_by_slope = multiply(d_ek, &forward);
        add_to(&force_by_psi, &coupled);
        h->a_by_slope = cross_columns(back_line, &force_by_slope);
        coupled = multiply_back(&forward, &h->a_by_slope);
        add_to(&h->psi_slope, &coupled);
        h->slope_line = multiply_back(&forward, d_ke);
    }

    /* a by psi and by the line, and the remaining terms of T^T a + T'^T m. */
    h->a_by_psi = cross_columns(back_line, &force_by_psi);
    h->a_by_line = cross_columns(back_line, d_ee);
    add_to(&h->a_by_line, &force_skew);
    h->psi_line = multiply_back(&forward, &h->a_by_line);
    if (point->coupled) {
        yk_mat3 coupled = multiply_back(&along, d_ke);
        add_to(&h->psi_line, &coupled);
    }

    yk_mat3 by_a = multiply_back(&forward, &h->a_by_psi);
    yk_mat3 by_torque = multiply_back(&along, &torque_by_psi);
    add_to(&h->psi_psi, &by_a);
    add_to(&h->psi_psi, &by_torque);
}

/* The loads on the nodes are minus the derivatives of the energy. */
static inline void put_block(double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS], int row, int column,
                             const yk_mat3 *m)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            matrix[row + i][column + j] = -m->m[i][j];
    }
}

/* psi = sum of N_i psi_i: the block of two ends from both points. */
static inline yk_mat3 end_block(const yk_beam *beam, const point_hessian h[YK_BEAM_SECTION_COUNT],
                                int first, int second)
{
    yk_mat3 sum = yk_m3_zero();
    for (int p = 0; p < YK_BEAM_SECTION_COUNT; p++) {
        const yk_beam_point *point = &beam->point[p];
        double shape = point->length * point->shape[first];
        double slope = point->length * point->slope[first];
        double both = shape * point->shape[second];
        double mixed = shape * point->slope[second];
        double other = slope * point->shape[second];
        double slopes = slope * point->slope[second];

        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++)
                sum.m[i][j] += both * h[p].psi_psi.m[i][j] + mixed * h[p].psi_slope.m[i][j] +
                               other * h[p].psi_slope.m[j][i] + slopes * h[p].slope_slope.m[i][j];
        }
    }

    return sum;
}

void yk_beam_stiffness(const yk_beam *beam, const beam_state *state,
                       const beam_section_state section[YK_BEAM_SECTION_COUNT],
                       double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS])
{
    static const int middle = 6 * MIDDLE + TORQUE;
    const yk_beam_point *point = beam->point;
    const double length[2] = {point[0].length, point[1].length};

    point_hessian h[YK_BEAM_SECTION_COUNT];
    for (int p = 0; p < YK_BEAM_SECTION_COUNT; p++)
        differentiate_point(&point[p], &section[p], &h[p]);

    /* sum w a by the rotation of the middle node alone */
    yk_mat3 all_rotate = yk_m3_skew(yk_v3_neg(state->all));
    for (int p = 0; p < YK_BEAM_SECTION_COUNT; p++) {
        yk_mat3 rotated = cross_rows(&h[p].a_by_line, section[p].line);
        add_times(&all_rotate, length[p], &rotated);
    }

    /* sum w a and f_n = - sum w N_n' t, by positions and by the rotation of the middle node
     * alone */
    yk_mat3 line_rotation[YK_BEAM_NODE_COUNT];
    for (int n = 0; n < YK_BEAM_NODE_COUNT; n++) {
        const double slope[2] = {length[0] * point[0].slope[n], length[1] * point[1].slope[n]};
        yk_mat3 block = combine_blocks(slope, &h[0].a_by_line, &h[1].a_by_line);

        put_block(matrix, middle, 6 * n, &block);
        line_rotation[n] = combine_blocks(slope, &h[0].line_rotation, &h[1].line_rotation);
        for (int k = 0; k <= n; k++) {
            const double both[2] = {slope[0] * point[0].slope[k], slope[1] * point[1].slope[k]};
            block = combine_blocks(both, &h[0].line_line, &h[1].line_line);
            put_block(matrix, 6 * n, 6 * k, &block);
            if (k < n)
                put_block(matrix, 6 * k, 6 * n, &block); /* symmetric, as the section is */
        }
    }

    /* c_1 and c_3, and the change of the others by their psi */
    yk_mat3 by_middle[2];
    for (int e = 0; e < 2; e++) {
        int i = end_node[e];
        int torque = 6 * i + TORQUE;
        const yk_mat3 *inverse = &state->inverse[e];

        /* by the line, at both points */
        yk_mat3 part[YK_BEAM_SECTION_COUNT];
        yk_mat3 all_psi = yk_m3_zero();
        by_middle[e] = yk_m3_skew(yk_v3_neg(state->c[e]));
        for (int p = 0; p < YK_BEAM_SECTION_COUNT; p++) {
            double shape = length[p] * point[p].shape[i];
            double slope = length[p] * point[p].slope[i];
            yk_mat3 by_line = yk_m3_scale(shape, h[p].psi_line);

            add_times(&all_psi, shape, &h[p].a_by_psi);
            if (point[p].coupled) {
                add_times(&by_line, slope, &h[p].slope_line);
                add_times(&all_psi, slope, &h[p].a_by_slope);
            }

            part[p] = multiply_back(inverse, &by_line);
            yk_mat3 rotated = cross_rows(&part[p], section[p].line);
            add_to(&by_middle[e], &rotated);
        }

        /* and likewise by the positions of the nodes, and the forces by psi_i */
        for (int n = 0; n < YK_BEAM_NODE_COUNT; n++) {
            const double slope[2] = {point[0].slope[n], point[1].slope[n]};
            yk_mat3 block = combine_blocks(slope, &part[0], &part[1]);
            yk_mat3 transposed = yk_m3_transpose(block);
            put_block(matrix, torque, 6 * n, &block);
            put_block(matrix, 6 * n, torque, &transposed);
            subtract_from(&line_rotation[n], &transposed);
        }

        yk_mat3 all_end = multiply(&all_psi, inverse);
        put_block(matrix, middle, torque, &all_end);
        subtract_from(&all_rotate, &all_end);

        /* by its own psi: c = T^-T v, dc = T^-T (dv - d(T^T c)/dpsi dpsi) */
        yk_tangent reversed = yk_tangent_reversed(&state->tangent[e]);
        yk_mat3 own = end_block(beam, h, i, i);
        yk_mat3 curved = yk_tangent_by_psi(&reversed, state->c[e]);
        add_to(&own, &curved);
        own = multiply_back(inverse, &own);
        own = multiply(&own, inverse);
        put_block(matrix, torque, torque, &own);
        subtract_from(&by_middle[e], &own);
    }

    /* c_1 by psi_3 and c_3 by psi_1 */
    yk_mat3 across = end_block(beam, h, FIRST, LAST);
    across = multiply_back(&state->inverse[0], &across);
    across = multiply(&across, &state->inverse[1]);
    yk_mat3 across_back = yk_m3_transpose(across);
    put_block(matrix, 6 * FIRST + TORQUE, 6 * LAST + TORQUE, &across);
    put_block(matrix, 6 * LAST + TORQUE, 6 * FIRST + TORQUE, &across_back);
    subtract_from(&by_middle[0], &across);
    subtract_from(&by_middle[1], &across_back);

    /* all of them by the rotation of the middle node */
    for (int e = 0; e < 2; e++)
        put_block(matrix, 6 * end_node[e] + TORQUE, middle, &by_middle[e]);
    for (int n = 0; n < YK_BEAM_NODE_COUNT; n++)
        put_block(matrix, 6 * n, middle, &line_rotation[n]);
    put_block(matrix, middle, middle, &all_rotate);

    /* c_2 = sum of w a - c_1 - c_3 */
    for (int r = 0; r < 3; r++) {
        for (int k = 0; k < YK_BEAM_UNKNOWNS; k++)
            matrix[middle + r][k] -=
                matrix[6 * FIRST + TORQUE + r][k] + matrix[6 * LAST + TORQUE + r][k];
    }

    /* If the line is not at the node, its point rotates with the node. */
    for (int n = 0; n < YK_BEAM_NODE_COUNT && beam->has_offset; n++) {
        yk_vec3 arm = state->arm[n];
        for (int r = 0; r < YK_BEAM_UNKNOWNS; r++) {
            const double *by = &matrix[r][6 * n];
            double *rotation = &matrix[r][6 * n + TORQUE];
            rotation[0] -= by[1] * arm.z - by[2] * arm.y;
            rotation[1] -= by[2] * arm.x - by[0] * arm.z;
            rotation[2] -= by[0] * arm.y - by[1] * arm.x;
        }
    }
}

/* Damping -------------------------------------------------------------------------------------- */

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
static inline void interpolate_turns(const double weight[YK_BEAM_NODE_COUNT],
                                     const by_rotations ends[2], by_rotations *to)
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

/* A block that multiplies the sum of slope_i dx_i, in columns of positions. */
static inline void add_position(by_rotations *to, double factor, const yk_beam_point *point,
                                const yk_mat3 *m)
{
    for (int i = 0; i < 3; i++) {
        for (int n = 0; n < YK_BEAM_NODE_COUNT; n++) {
            for (int j = 0; j < 3; j++)
                to->m[i][3 * n + j] += factor * point->slope[n] * m->m[i][j];
        }
    }
}

/* Variations at a point: rotation, curvature and strain by the rotation of each node (G, K, X). The
 * strain by the position of node i is slope_i times the identity. */
typedef struct point_variation {
    by_rotations rotation, curvature, strain;
    by_rotations psi, psi_slope; /* relative to the middle node */
} point_variation;

static void vary_point(const yk_beam *beam, const yk_beam_point *point, const beam_state *state,
                       const beam_section_state *section, const by_rotations psi_ends[2],
                       point_variation *v)
{
    yk_mat3 forward = yk_tangent_forward(&section->tangent);
    yk_mat3 along = yk_tangent_along(&section->tangent, section->psi_slope);

    /* Relative to the middle node. */
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
    for (int i = 0; i < YK_BEAM_NODE_COUNT && beam->has_offset; i++) {
        yk_mat3 arm = yk_m3_skew(yk_v3_scale(-point->slope[i], state->arm[i]));
        add_rotation(&v->strain, i, &arm);
    }
}

/* Derivatives of the viscous force (0) and torque (1) of the section, in its own axes: by the
 * rotations of the nodes, and by the position of node i after division by slope_i. */
typedef struct resultant_variation {
    by_rotations by_rotation[2];
    yk_mat3 by_position[2];
} resultant_variation;

/* Adds a rotated section matrix times variations of strain and curvature. */
static void add_section(const yk_beam_point *point, yk_mat3 rotated[2][2],
                        const by_rotations *strain, const by_rotations *curvature,
                        resultant_variation *r)
{
    add_product(&r->by_rotation[0], &rotated[0][0], strain);
    add_product(&r->by_rotation[1], &rotated[1][1], curvature);
    if (!point->coupled)
        return;

    add_product(&r->by_rotation[0], &rotated[0][1], curvature);
    add_product(&r->by_rotation[1], &rotated[1][0], strain);
}

/* Variation of the rotational rates at given angular velocities of the nodes: of the angular
 * velocity of the section, and of the curvature rate relative to the middle node. With u_i the spin
 * of node i relative to the middle one, whose variation relative to it is u_i x delta_2, and c_i =
 * T(psi_i)^-1 u_i the rate of psi_i,
 *
 *   d(c_i) = T(psi_i)^-1 (u_i x delta_2 - L(psi_i, c_i) d(psi_i)),   L(psi, c) = d(T(psi) c)/dpsi
 *   d(angular velocity) = L(psi, c) d(psi) + T(psi) d(c) + delta_2 x spin
 *
 * and the curvature rate is its derivative along the beam, without the last term. */
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
                              yk_mat3 damping[2][2], const point_variation *v,
                              resultant_variation *r)
{
    by_rotations angular_velocity;

    by_rotations curvature_rate;
    vary_rates(point, state, section, psi_ends, v, &angular_velocity, &curvature_rate);

    /* The curvature rate in axes of the section, which rotate. */
    yk_mat3 middle = yk_m3_skew(yk_v3_neg(section->curvature_rate));
    add_rotation(&curvature_rate, MIDDLE, &middle);
    add_cross(&curvature_rate, section->curvature_rate, &v->rotation);

    /* S gamma' = sum N_i' (v_i + w_i x o_i) + e x w, in the same axes */
    by_rotations strain_rate = {{{0}}};
    for (int i = 0; i < YK_BEAM_NODE_COUNT && beam->has_offset; i++) {
        yk_mat3 arm = yk_m3_skew(yk_v3_scale(point->slope[i], state->arm[i]));
        yk_mat3 swept =
            cross_columns(yk_v3_sub(section->angular_velocity, node[i]->angular_velocity), &arm);
        add_rotation(&strain_rate, i, &swept);
    }

    /* The section's own rotation. */
    add_cross(&strain_rate, section->line, &angular_velocity);
    add_cross(&strain_rate, section->strain_rate, &v->rotation);

    /* Resultants by rotations, and by positions, which move the line that rotates with w. */
    memset(r, 0, sizeof *r);
    add_section(point, damping, &strain_rate, &curvature_rate, r);

    yk_mat3 spin = yk_m3_skew(section->angular_velocity);
    int rows = point->coupled ? 2 : 1;
    for (int k = 0; k < rows; k++) {
        yk_mat3 shift = multiply(&damping[k][0], &spin);
        subtract_from(&r->by_position[k], &shift);
    }
}

/* Derivatives by the rotations and by the positions of the three nodes, three columns each. */
typedef struct by_nodes {
    by_rotations rotation, position;
} by_nodes;

/* Rows of the forces, and the contribution of the point to the sums of the moments, at a given
 * placement: those of the end nodes, and the total at the middle node. */
static void vary_loads(const yk_beam_point *point, const beam_section_state *section,
                       const resultant_variation *r, by_nodes sums[YK_BEAM_NODE_COUNT],
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
    add_scaled(&sums[MIDDLE].rotation, point->length, &a);
    add_position(&sums[MIDDLE].position, point->length, point, &a_position);
    for (int k = 0; k < 2; k++) {
        double shape = point->length * point->shape[end_node[k]];
        double slope = point->length * point->slope[end_node[k]];
        add_scaled(&sums[end_node[k]].rotation, shape, &by_psi);
        add_scaled(&sums[end_node[k]].rotation, slope, &by_slope);
        add_position(&sums[end_node[k]].position, shape, point, &psi_position);
        add_position(&sums[end_node[k]].position, slope, point, &slope_position);
    }

    /* f_i = - w N_i' t */
    for (int n = 0; n < YK_BEAM_NODE_COUNT; n++) {
        double factor = -point->length * point->slope[n];
        for (int k = 0; k < 3; k++) {
            double *row = matrix[6 * n + k];
            for (int i = 0; i < YK_BEAM_NODE_COUNT; i++) {
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
        for (int i = 0; i < YK_BEAM_NODE_COUNT; i++) {
            for (int j = 0; j < 3; j++) {
                row[6 * i + j] -= v->position.m[k][3 * i + j];
                row[6 * i + TORQUE + j] -= v->rotation.m[k][3 * i + j];
            }
        }
    }
}

/* Rows of the torques: c_i = T(psi_i)^-T of the sums for the end nodes, c_2 = sum w a - c_1 -
 * c_3. */
static void vary_torques(const beam_state *state, by_nodes sums[YK_BEAM_NODE_COUNT],
                         double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS])
{
    for (int k = 0; k < 2; k++) {
        /* T(psi_i)^-T of the sums; c_2 uses the sums themselves. */
        yk_mat3 back_inverse = yk_m3_transpose(state->inverse[k]);
        by_nodes part = {.rotation = {{{0}}}};
        add_product(&part.rotation, &back_inverse, &sums[end_node[k]].rotation);
        add_product(&part.position, &back_inverse, &sums[end_node[k]].position);
        add_scaled(&sums[MIDDLE].rotation, -1, &part.rotation);
        add_scaled(&sums[MIDDLE].position, -1, &part.position);
        subtract_rows(&part, end_node[k], matrix);
    }

    subtract_rows(&sums[MIDDLE], MIDDLE, matrix);
}

void yk_beam_damping(const yk_beam *beam, const beam_state *state,
                     const beam_section_state section[YK_BEAM_SECTION_COUNT],
                     const yk_frame *const node[YK_BEAM_NODE_COUNT], yk_beam_jacobian *jacobian)
{
    by_nodes sums[YK_BEAM_NODE_COUNT];
    by_nodes rate_sums[YK_BEAM_NODE_COUNT];

    memset(sums, 0, sizeof sums);
    memset(rate_sums, 0, sizeof rate_sums);
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
    for (int p = 0; p < YK_BEAM_SECTION_COUNT; p++) {
        const yk_beam_point *point = &beam->point[p];
        point_variation v;
        yk_mat3 damping[2][2];

        /* Variations of the section, and its damping matrix in global axes. */
        vary_point(beam, point, state, &section[p], psi_ends, &v);
        rotate_section(point->damping, point->coupled, false, &section[p].frame, damping);

        /* By the placement, at given velocities. */
        resultant_variation by_pose;
        vary_by_placement(beam, point, state, &section[p], node, psi_ends, damping, &v, &by_pose);
        vary_loads(point, &section[p], &by_pose, sums, jacobian->pose);

        /* By the rates: the damping matrix instead of the stiffness. */
        resultant_variation by_rate;
        memset(&by_rate, 0, sizeof by_rate);
        add_section(point, damping, &v.strain, &v.curvature, &by_rate);
        by_rate.by_position[0] = damping[0][0];
        if (point->coupled)
            by_rate.by_position[1] = damping[1][0];
        vary_loads(point, &section[p], &by_rate, rate_sums, jacobian->rate);
    }

    /* Torques of both, and of nodes that are not on the line. */
    vary_torques(state, sums, jacobian->pose);
    vary_torques(state, rate_sums, jacobian->rate);
    if (beam->has_offset)
        yk_beam_add_arms(state, NULL, jacobian->rate);
}
