/* Three-node finite-volume beam (see beam.h).
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
 * A portion feels t, m at its right end and -t, -m at its left end. Variations (delta_i the rotation of node i):
 *
 *   rotation of S:  sum G_i delta_i,  G_i = N_i T(psi) T(psi_i)^-1 for i = 1, 3,  G_2 = I - G_1 - G_3
 *   S d(kappa)  =   sum K_i delta_i,  K_i = G_i' = (N_i T'(psi; psi') + N_i' T(psi)) T(psi_i)^-1,  K_2 = - K_1 - K_3
 *   S d(gamma)  =   sum N_i' (dx_i + delta_i x o_i) + e x sum G_i delta_i
 *
 * Strain rates are the same expressions with velocities in the place of variations. */
#include "smooth/beam.h"

#include <string.h>

#include "math/so3.h"
#include "smooth/beam_rotation.h"

/* Nodes 1 and 3 carry a relative rotation, the middle one does not. */
enum { FIRST, MIDDLE, LAST };
static const int end_node[2] = {FIRST, LAST};

typedef struct element_state {
    yk_vec3 arm[YK_BEAM_NODES];   /* o_i */
    yk_vec3 place[YK_BEAM_NODES]; /* p_i */
    yk_mat3 middle_frame;         /* S_2 */
    yk_vec3 psi[2];               /* of the first and the last node */
    yk_tangent tangent[2];        /* at psi, from here on: Jacobian and damping only */
    yk_mat3 inverse[2];           /* T(psi)^-1 */
    yk_vec3 spin[2];              /* angular velocity relative to the middle node */
    yk_vec3 psi_rate[2];          /* as seen from the middle node: inverse * spin */
} element_state;

typedef struct point_state {
    yk_vec3 place, line; /* p, e */
    yk_tangent tangent;  /* at psi */
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

/* The rotation vector of a rotation matrix, by the sine from its skew part and the cosine from its trace; near half a
 * turn, where the sine says nothing, by the careful way. */
static inline yk_vec3 relative_rotation(const yk_mat3 *r)
{
    yk_vec3 sine = {0.5 * (r->m[2][1] - r->m[1][2]), 0.5 * (r->m[0][2] - r->m[2][0]), 0.5 * (r->m[1][0] - r->m[0][1])};
    double cosine = 0.5 * (r->m[0][0] + r->m[1][1] + r->m[2][2] - 1);
    if (cosine < -0.7) return yk_so3_log_matrix(*r);
    double norm = yk_v3_norm(sine);
    return norm > 1e-8 ? yk_v3_scale(atan2(norm, cosine) / norm, sine) : sine;
}

static void place_nodes(const yk_beam *beam, const yk_frame *const node[YK_BEAM_NODES], element_state *element)
{
    yk_mat3 frame[YK_BEAM_NODES];
    for (int i = 0; i < YK_BEAM_NODES; i++) {
        frame[i] = beam->turned ? multiply(&node[i]->rotation, &beam->section_frame[i]) : node[i]->rotation;
        element->arm[i] = beam->has_offset ? yk_m3_apply(node[i]->rotation, beam->offset[i]) : yk_v3(0, 0, 0);
        element->place[i] = yk_v3_add(node[i]->position, element->arm[i]);
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
    state->place = interpolate(shape, element->place);
    state->line = interpolate(slope, element->place);
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

/* The portion on the left of the point is pulled by +resultant, the one on the right by -resultant. */
static void load_nodes(int index, const point_state *state, const yk_frame *const node[], yk_beam_loads *loads)
{
    for (int side = 0; side < 2; side++) {
        int i = index + side;
        double sign = side == 0 ? 1 : -1;
        yk_vec3 arm = yk_v3_sub(state->place, node[i]->position);
        yk_vec3 torque = yk_v3_add(state->torque, yk_v3_cross(arm, state->force));
        loads->force[i] = yk_v3_axpy(sign, state->force, loads->force[i]);
        loads->torque[i] = yk_v3_axpy(sign, torque, loads->torque[i]);
    }
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

static inline void add_scaled(yk_mat3 *sum, double s, const yk_mat3 *m)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) sum->m[i][j] += s * m->m[i][j];
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

/* S D S^T */
static void rotate_section(const double matrix[6][6], const yk_mat3 *frame, section_blocks *rotated)
{
    yk_mat3 transposed = yk_m3_transpose(*frame);
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 2; c++) {
            yk_mat3 m;
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) m.m[i][j] = matrix[3 * r + i][3 * c + j];
            yk_mat3 half = multiply(frame, &m);
            rotated->block[r][c] = multiply(&half, &transposed);
        }
}

/* Variations at a point: rotation, curvature and strain by the rotation of each node (G, K, X), and the strain by the
 * position of node i, which is slope_i times the identity. */
typedef struct point_variation {
    yk_mat3 rotation[YK_BEAM_NODES];
    yk_mat3 curvature[YK_BEAM_NODES];
    yk_mat3 strain[YK_BEAM_NODES];
} point_variation;

static void vary_point(const yk_beam *beam, const yk_beam_point *point, const element_state *element,
                       const point_state *state, point_variation *v)
{
    yk_mat3 forward = yk_tangent_forward(&state->tangent);
    yk_mat3 along = yk_tangent_along(&state->tangent, state->psi_slope);
    v->rotation[MIDDLE] = yk_m3_identity();
    v->curvature[MIDDLE] = yk_m3_zero();
    for (int e = 0; e < 2; e++) {
        int i = end_node[e];
        yk_mat3 slope = yk_m3_scale(point->shape[i], along);
        add_scaled(&slope, point->slope[i], &forward);
        yk_mat3 turned = multiply(&forward, &element->inverse[e]);
        v->rotation[i] = yk_m3_scale(point->shape[i], turned);
        v->curvature[i] = multiply(&slope, &element->inverse[e]);
        subtract_from(&v->rotation[MIDDLE], &v->rotation[i]);
        subtract_from(&v->curvature[MIDDLE], &v->curvature[i]);
    }
    for (int i = 0; i < YK_BEAM_NODES; i++) {
        v->strain[i] = cross_columns(state->line, &v->rotation[i]);
        if (!beam->has_offset) continue;
        yk_mat3 arm = yk_m3_skew(element->arm[i]);
        add_scaled(&v->strain[i], -point->slope[i], &arm);
    }
}

/* Derivatives of force (0) and torque (1) of the section, global components, by position and rotation of each node. */
typedef struct resultant_blocks {
    yk_mat3 by_position[2][YK_BEAM_NODES];
    yk_mat3 by_rotation[2][YK_BEAM_NODES];
} resultant_blocks;

/* rotated section matrix times the variations of the strains */
static void strain_terms(const yk_beam_point *point, const section_blocks *section, const point_variation *v,
                         resultant_blocks *blocks)
{
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < YK_BEAM_NODES; i++) {
            blocks->by_position[r][i] = yk_m3_scale(point->slope[i], section->block[r][0]);
            yk_mat3 bend = multiply(&section->block[r][1], &v->curvature[i]);
            blocks->by_rotation[r][i] = multiply(&section->block[r][0], &v->strain[i]);
            add_to(&blocks->by_rotation[r][i], &bend);
        }
}

/* The resultants turn with the section. */
static void turning_terms(const point_state *state, const point_variation *v, resultant_blocks *blocks)
{
    for (int i = 0; i < YK_BEAM_NODES; i++) {
        yk_mat3 force = cross_columns(state->force, &v->rotation[i]);
        yk_mat3 torque = cross_columns(state->torque, &v->rotation[i]);
        subtract_from(&blocks->by_rotation[0][i], &force);
        subtract_from(&blocks->by_rotation[1][i], &torque);
    }
}

/* Variation of the rotational rates at given angular velocities of the nodes: of the angular velocity of the section,
 * and of the curvature rate as seen from the middle node. With y_i = T(psi_i)^-1 (delta_i - delta_2) the variation of
 * psi_i and u_i the spin of node i, both as seen from the middle node,
 *   d(angular velocity) = sum (N_i L(psi, c) - G_i L(psi_i, c_i)) y_i + (sum G_i skew(u_i) - skew(spin)) delta_2
 * where L(psi, c) = d(T(psi) c)/dpsi and c_i, c are the rates of psi_i, psi; the curvature rate is its derivative along
 * the beam but for the last term. */
static void vary_rates(const yk_beam_point *point, const element_state *element, const point_state *state,
                       const point_variation *v, yk_mat3 angular_velocity[], yk_mat3 curvature_rate[])
{
    yk_mat3 by_psi = yk_tangent_by_psi(&state->tangent, state->psi_rate);
    yk_mat3 by_psi_slope = yk_tangent_by_psi(&state->tangent, state->psi_rate_slope);
    yk_mat3 second = yk_tangent_second(&state->tangent, state->psi_rate, state->psi_slope);
    add_to(&by_psi_slope, &second);
    angular_velocity[MIDDLE] = yk_m3_scale(-1, yk_m3_skew(state->spin));
    curvature_rate[MIDDLE] = yk_m3_zero();
    for (int e = 0; e < 2; e++) {
        int i = end_node[e];
        yk_mat3 end_by_psi = yk_tangent_by_psi(&element->tangent[e], element->psi_rate[e]);
        yk_mat3 spin = yk_m3_skew(element->spin[e]);
        yk_mat3 turn = yk_m3_sub(yk_m3_scale(point->shape[i], by_psi), multiply(&v->rotation[i], &end_by_psi));
        yk_mat3 bend = yk_m3_sub(yk_m3_scale(point->shape[i], by_psi_slope), multiply(&v->curvature[i], &end_by_psi));
        add_scaled(&bend, point->slope[i], &by_psi);
        angular_velocity[i] = multiply(&turn, &element->inverse[e]);
        curvature_rate[i] = multiply(&bend, &element->inverse[e]);
        yk_mat3 turn_spin = multiply(&v->rotation[i], &spin), bend_spin = multiply(&v->curvature[i], &spin);
        subtract_from(&angular_velocity[MIDDLE], &angular_velocity[i]);
        subtract_from(&curvature_rate[MIDDLE], &curvature_rate[i]);
        add_to(&angular_velocity[MIDDLE], &turn_spin);
        add_to(&curvature_rate[MIDDLE], &bend_spin);
    }
}

/* Adds the damping matrix times the variation of the strain rates, at given velocities, to the blocks. */
static void damping_terms(const yk_beam *beam, const yk_beam_point *point, const element_state *element,
                          const point_state *state, const yk_frame *const node[], const section_blocks *section,
                          const point_variation *v, resultant_blocks *blocks)
{
    yk_mat3 angular_velocity[YK_BEAM_NODES], curvature_rate[YK_BEAM_NODES];
    vary_rates(point, element, state, v, angular_velocity, curvature_rate);
    yk_mat3 section_spin = yk_m3_skew(state->angular_velocity);
    yk_mat3 middle = yk_m3_skew(state->curvature_rate);
    subtract_from(&curvature_rate[MIDDLE], &middle);
    for (int i = 0; i < YK_BEAM_NODES; i++) {
        yk_mat3 turned = cross_columns(state->curvature_rate, &v->rotation[i]);
        add_to(&curvature_rate[i], &turned);
        yk_mat3 strain_rate = cross_columns(state->line, &angular_velocity[i]);
        turned = cross_columns(state->strain_rate, &v->rotation[i]);
        add_to(&strain_rate, &turned);
        if (beam->has_offset) {
            yk_mat3 arm = yk_m3_skew(element->arm[i]);
            yk_mat3 swept = cross_columns(yk_v3_sub(state->angular_velocity, node[i]->angular_velocity), &arm);
            add_scaled(&strain_rate, point->slope[i], &swept);
        }
        for (int r = 0; r < 2; r++) {
            yk_mat3 shift = multiply(&section->block[r][0], &section_spin);
            yk_mat3 stretch = multiply(&section->block[r][0], &strain_rate);
            yk_mat3 bend = multiply(&section->block[r][1], &curvature_rate[i]);
            add_scaled(&blocks->by_position[r][i], -point->slope[i], &shift);
            add_to(&blocks->by_rotation[r][i], &stretch);
            add_to(&blocks->by_rotation[r][i], &bend);
        }
    }
}

static inline void scatter(double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS], int row, int column, double sign,
                           const yk_mat3 *m)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) matrix[row + i][column + j] += sign * m->m[i][j];
}

/* Rows of the two nodes beside the point: the force, and the torque about the node. */
static void scatter_resultants(int index, const point_state *state, const yk_frame *const node[],
                               const resultant_blocks *blocks, double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS])
{
    for (int side = 0; side < 2; side++) {
        int row = 6 * (index + side);
        double sign = side == 0 ? 1 : -1;
        yk_vec3 arm = yk_v3_sub(state->place, node[index + side]->position);
        for (int i = 0; i < YK_BEAM_NODES; i++) {
            yk_mat3 by_position = cross_columns(arm, &blocks->by_position[0][i]);
            yk_mat3 by_rotation = cross_columns(arm, &blocks->by_rotation[0][i]);
            add_to(&by_position, &blocks->by_position[1][i]);
            add_to(&by_rotation, &blocks->by_rotation[1][i]);
            scatter(matrix, row, 6 * i, sign, &blocks->by_position[0][i]);
            scatter(matrix, row, 6 * i + 3, sign, &blocks->by_rotation[0][i]);
            scatter(matrix, row + 3, 6 * i, sign, &by_position);
            scatter(matrix, row + 3, 6 * i + 3, sign, &by_rotation);
        }
    }
}

/* The point moves relative to the node about which the torque is taken: (dp - dx) x t. */
static void scatter_arm(const yk_beam *beam, int index, const element_state *element, const point_state *state,
                        double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS])
{
    const double *shape = beam->point[index].shape;
    yk_mat3 force = yk_m3_skew(state->force);
    for (int side = 0; side < 2; side++) {
        int n = index + side, row = 6 * n + 3;
        double sign = side == 0 ? 1 : -1;
        scatter(matrix, row, 6 * n, sign, &force);
        for (int i = 0; i < YK_BEAM_NODES; i++) {
            scatter(matrix, row, 6 * i, -sign * shape[i], &force);
            if (!beam->has_offset) continue;
            yk_mat3 arm = yk_m3_skew(element->arm[i]);
            yk_mat3 swept = cross_columns(state->force, &arm);
            scatter(matrix, row, 6 * i + 3, sign * shape[i], &swept);
        }
    }
}

static void differentiate_point(const yk_beam *beam, int index, const element_state *element, const point_state *state,
                                const yk_frame *const node[], yk_beam_jacobian *jacobian)
{
    const yk_beam_point *point = &beam->point[index];
    point_variation v;
    section_blocks section;
    resultant_blocks blocks;
    vary_point(beam, point, element, state, &v);
    rotate_section(point->stiffness, &state->frame, &section);
    strain_terms(point, &section, &v, &blocks);
    turning_terms(state, &v, &blocks);
    if (beam->damped) {
        section_blocks damping;
        resultant_blocks rate_blocks;
        rotate_section(point->damping, &state->frame, &damping);
        damping_terms(beam, point, element, state, node, &damping, &v, &blocks);
        strain_terms(point, &damping, &v, &rate_blocks);
        scatter_resultants(index, state, node, &rate_blocks, jacobian->rate);
    }
    scatter_resultants(index, state, node, &blocks, jacobian->placement);
    scatter_arm(beam, index, element, state, jacobian->placement);
}

void yk_beam_evaluate(const yk_beam *beam, const yk_frame *const node[YK_BEAM_NODES], yk_beam_loads *loads,
                      yk_beam_jacobian *jacobian)
{
    element_state element;
    point_state state[YK_BEAM_POINTS];
    place_nodes(beam, node, &element);
    if (jacobian || beam->damped) prepare_tangents(&element);
    if (beam->damped) prepare_rates(node, &element);
    loads->energy = loads->loss = 0;
    for (int i = 0; i < YK_BEAM_NODES; i++) loads->force[i] = loads->torque[i] = yk_v3(0, 0, 0);
    for (int i = 0; i < YK_BEAM_POINTS; i++) {
        evaluate_point(beam, i, &element, node, &state[i], loads);
        load_nodes(i, &state[i], node, loads);
    }
    if (!jacobian) return;
    memset(jacobian->placement, 0, sizeof jacobian->placement);
    if (beam->damped) memset(jacobian->rate, 0, sizeof jacobian->rate);
    for (int i = 0; i < YK_BEAM_POINTS; i++) differentiate_point(beam, i, &element, &state[i], node, jacobian);
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
        beam->turned |= fabs(section_frame.w) != 1;
        beam->has_offset |= yk_v3_norm2(def->offset[i]) > 0;
        node[i] = (yk_frame){.position = def->position[i], .rotation = yk_q_matrix(yk_q_unit(def->orientation[i]))};
    }
}

static yk_status check(yk_context *context, const yk_beam_def *def, const element_state *element)
{
    double half[2];
    for (int i = 0; i < 2; i++) {
        half[i] = yk_v3_norm(yk_v3_sub(element->place[i + 1], element->place[i]));
        if (!(half[i] > 0))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "beam: nodes %d and %d put the reference line in one place; move one of them or its offset",
                           i + 1, i + 2);
        if (!(yk_v3_norm(element->psi[i]) < 0.9 * YK_PI))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "beam: the section turns by nearly half a turn between two nodes; use more beams");
    }
    if (!(half[0] < 3 * half[1] && half[1] < 3 * half[0]))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "beam: the middle node is too close to an end; keep it near half of the length");
    for (int p = 0; p < YK_BEAM_POINTS; p++)
        for (int i = 0; i < 6; i++)
            if (!(def->section[p].stiffness[i][i] > 0))
                return yk_fail(context, YK_ERROR_ARGUMENT,
                               "beam: stiffness %d of section %d is not positive; for a stiff direction give a large "
                               "number, not zero",
                               i + 1, p + 1);
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
        point->length = yk_v3_norm(interpolate(point->slope, element.place));
        for (int i = 0; i < YK_BEAM_NODES; i++) point->slope[i] /= point->length;
        place_point(&element, point->shape, point->slope, &state, point->strain);
        memcpy(point->stiffness, def->section[p].stiffness, sizeof point->stiffness);
        memcpy(point->damping, def->section[p].damping, sizeof point->damping);
        for (int i = 0; i < 36; i++) beam->damped |= (&point->damping[0][0])[i] != 0;
    }
    return YK_OK;
}

/* A slice of the beam of the given length as a part of the body on a node. */
static void add_slice(const yk_beam_section *section, const point_state *state, double length, const yk_frame *node,
                      yk_inertia *lump)
{
    yk_vec3 centre = yk_v3_add(state->place, yk_m3_apply(state->frame, section->centre));
    yk_mat3 back = yk_m3_transpose(node->rotation);
    yk_quat axes = yk_so3_quat(multiply(&back, &state->frame));
    yk_vec3 arm = yk_m3_apply(back, yk_v3_sub(centre, node->position));
    yk_inertia slice = yk_inertia_of_body(section->mass * length, arm, yk_m3_scale(length, section->inertia), axes);
    yk_inertia_add(lump, &slice);
}

/* Three Gauss points from one value of xi to another. */
static void add_portion(const yk_beam_section *section, const element_state *element, double from, double to,
                        const yk_frame *node, yk_inertia *lump)
{
    static const double abscissa[3] = {-0.77459666924148337704, 0, 0.77459666924148337704};
    static const double weight[3] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
    for (int g = 0; g < 3; g++) {
        double shape[YK_BEAM_NODES], slope[YK_BEAM_NODES], strain[6];
        point_state state;
        shape_functions(0.5 * (from + to) + 0.5 * (to - from) * abscissa[g], shape, slope);
        place_point(element, shape, slope, &state, strain);
        add_slice(section, &state, 0.5 * (to - from) * weight[g] * yk_v3_norm(state.line), node, lump);
    }
}

void yk_beam_lumps(const yk_beam_def *def, yk_inertia lump[YK_BEAM_NODES])
{
    static const double border[5] = {-1, -0.57735026918962576451, 0, 0.57735026918962576451, 1};
    static const int portion[4] = {FIRST, MIDDLE, MIDDLE, LAST};
    yk_beam beam;
    yk_frame node[YK_BEAM_NODES];
    element_state element;
    reference(def, &beam, node);
    place_nodes(&beam, (const yk_frame *const[]){&node[0], &node[1], &node[2]}, &element);
    memset(lump, 0, YK_BEAM_NODES * sizeof *lump);
    for (int s = 0; s < 4; s++) {
        int i = portion[s];
        add_portion(&def->section[s / 2], &element, border[s], border[s + 1], &node[i], &lump[i]);
    }
}
