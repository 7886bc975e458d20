/* The stiffness of the beam: second derivatives of its strain energy, in the notation of beam.c.
 *
 * At a point of Gauss the energy is a function of psi, of its slope psi' and of the line e, all
 * seen from the middle node. With the section's matrix turned to global axes, D = S diag(D_ee
 * D_ek; D_ke D_kk) S^T, the resultants change by
 *
 *   dt = D_ee (de + e x dphi) + D_ek dk - t x dphi        dphi = T(psi) dpsi, the rotation of S
 *   dm = D_ke (de + e x dphi) + D_kk dk - m x dphi        dk   = T'(psi; psi') dpsi + T(psi) dpsi'
 *
 * and a = t x e, T^T a + T'^T m and T^T m with them. The blocks of both points are then chained
 * to the nodes: psi_i turns by T(psi_i)^-1 (delta_i - delta_2), and the line, seen from the
 * middle node, by -delta_2. */
#include "smooth/beam_state.h"

/* S D S^T of one block; of a diagonal one only half of the products are there. */
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

    /* The product of a diagonal matrix is symmetric: half of it is computed. */
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

void yk_beam_rotate_section(const double matrix[6][6], bool coupled, bool diagonal,
                            const yk_mat3 *frame, beam_section_blocks *rotated)
{
    yk_mat3 transposed = yk_m3_transpose(*frame);
    for (int r = 0; r < 2; r++) {
        for (int c = 0; c < 2; c++) {
            if (r == c || coupled)
                rotated->block[r][c] = rotate_block(matrix, r, c, diagonal, frame, &transposed);
        }
    }
}

/* Second derivatives of the energy per length at given resultants, as they are seen from the
 * middle node: by psi, by its slope and by the line; and those of a = t x e, and of t by a
 * rotation that turns the line. */
typedef struct point_hessian {
    yk_mat3 psi_psi, psi_slope, slope_slope, psi_line, slope_line, line_line;
    yk_mat3 a_by_psi, a_by_slope, a_by_line;
    yk_mat3 line_rotation;
} point_hessian;

/* Not inlined for each point: twice the code would not fit the processor's instruction cache. */
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
    beam_section_blocks rotated;
    yk_beam_rotate_section(point->stiffness, point->coupled, point->diagonal, &section->frame,
                           &rotated);
    const yk_mat3 *d_ee = &rotated.block[0][0];
    const yk_mat3 *d_ek = &rotated.block[0][1];
    const yk_mat3 *d_ke = &rotated.block[1][0];
    const yk_mat3 *d_kk = &rotated.block[1][1];
    h->line_line = *d_ee;

    /* Resultants by a rotation of the section, by psi and by its slope; by the line they are the
     * stiffness itself. */
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

    /* a by psi and by the line, and with it the rest of T^T a + T'^T m. */
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

/* The nodes feel minus the derivatives of the energy. */
static inline void put_block(double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS], int row, int column,
                             const yk_mat3 *m)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            matrix[row + i][column + j] = -m->m[i][j];
    }
}

/* psi = sum of N_i psi_i: the block of two ends from both points. */
static inline yk_mat3 end_block(const yk_beam *beam, const point_hessian h[YK_BEAM_POINTS],
                                int first, int second)
{
    yk_mat3 sum = yk_m3_zero();
    for (int p = 0; p < YK_BEAM_POINTS; p++) {
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
                       const beam_section_state section[YK_BEAM_POINTS],
                       const beam_moments *moments,
                       double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS])
{
    static const int middle = 6 * MIDDLE + TORQUE;
    const yk_beam_point *point = beam->point;
    const double length[2] = {point[0].length, point[1].length};

    point_hessian h[YK_BEAM_POINTS];
    for (int p = 0; p < YK_BEAM_POINTS; p++)
        differentiate_point(&point[p], &section[p], &h[p]);

    /* sum w a by the rotation of the middle node alone */
    yk_mat3 all_rotate = yk_m3_skew(yk_v3_neg(moments->all));
    for (int p = 0; p < YK_BEAM_POINTS; p++) {
        yk_mat3 rotated = cross_rows(&h[p].a_by_line, section[p].line);
        add_times(&all_rotate, length[p], &rotated);
    }

    /* sum w a and f_n = - sum w N_n' t, by positions and by the rotation of the middle node
     * alone */
    yk_mat3 line_rotation[YK_BEAM_NODES];
    for (int n = 0; n < YK_BEAM_NODES; n++) {
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

    /* c_1 and c_3, and what the others change with their psi */
    yk_mat3 by_middle[2];
    for (int e = 0; e < 2; e++) {
        int i = end_node[e];
        int torque = 6 * i + TORQUE;
        const yk_mat3 *inverse = &state->inverse[e];

        /* by the line, at both points */
        yk_mat3 part[YK_BEAM_POINTS];
        yk_mat3 all_psi = yk_m3_zero();
        by_middle[e] = yk_m3_skew(yk_v3_neg(moments->c[e]));
        for (int p = 0; p < YK_BEAM_POINTS; p++) {
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

        /* so by the positions of the nodes, and the forces by psi_i */
        for (int n = 0; n < YK_BEAM_NODES; n++) {
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
        yk_mat3 curved = yk_tangent_by_psi(&reversed, moments->c[e]);
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
    for (int n = 0; n < YK_BEAM_NODES; n++)
        put_block(matrix, 6 * n, middle, &line_rotation[n]);
    put_block(matrix, middle, middle, &all_rotate);

    /* c_2 = sum of w a - c_1 - c_3 */
    for (int r = 0; r < 3; r++) {
        for (int k = 0; k < YK_BEAM_UNKNOWNS; k++)
            matrix[middle + r][k] -=
                matrix[6 * FIRST + TORQUE + r][k] + matrix[6 * LAST + TORQUE + r][k];
    }

    /* The line at node n moves with the node's rotation where it is off the node. */
    for (int n = 0; n < YK_BEAM_NODES && beam->has_offset; n++) {
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

void yk_beam_add_arms(const beam_state *state, const yk_vec3 *force,
                      double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS])
{
    for (int n = 0; n < YK_BEAM_NODES; n++) {
        yk_vec3 arm = state->arm[n];
        double(*by)[YK_BEAM_UNKNOWNS] = &matrix[6 * n];
        double(*torque)[YK_BEAM_UNKNOWNS] = &matrix[6 * n + TORQUE];
        for (int j = 0; j < YK_BEAM_UNKNOWNS; j++) {
            torque[0][j] += arm.y * by[2][j] - arm.z * by[1][j];
            torque[1][j] += arm.z * by[0][j] - arm.x * by[2][j];
            torque[2][j] += arm.x * by[1][j] - arm.y * by[0][j];
        }

        /* The arm itself turns under the force. */
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
