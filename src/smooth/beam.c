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

/* Derivatives of a vector by the rotations of the three nodes side by side: nine columns, and one so that rows are
 * aligned. Loops along the rows become vector instructions; what is computed so is only read so, or number by number,
 * because reading pairs of numbers that were just written one by one stalls the processor. */
enum { TURNS = 9, TURN_COLUMNS = 10 };
typedef struct by_turns {
    _Alignas(16) double m[3][TURN_COLUMNS];
} by_turns;

typedef struct element_state {
    yk_vec3 arm[YK_BEAM_NODES];   /* o_i */
    yk_vec3 place[YK_BEAM_NODES]; /* p_i */
    yk_mat3 middle_frame;         /* S_2 */
    yk_vec3 psi[2];               /* of the first and the last node */
    yk_tangent tangent[2];        /* at psi, from here on: Jacobian and damping only */
    yk_mat3 inverse[2];           /* T(psi)^-1 */
    by_turns psi_by_turns[2];     /* derivative of psi, as seen from the middle node: inverse times (delta - delta_2) */
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
        by_turns *psi = &element->psi_by_turns[i];
        memset(psi, 0, sizeof *psi);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                psi->m[r][3 * end_node[i] + c] = element->inverse[i].m[r][c];
                psi->m[r][3 * MIDDLE + c] = -element->inverse[i].m[r][c];
            }
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

/* S D S^T; the blocks off the diagonal are left out where they are zero. */
static void rotate_section(const double matrix[6][6], bool coupled, const yk_mat3 *frame, section_blocks *rotated)
{
    yk_mat3 transposed = yk_m3_transpose(*frame);
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 2; c++) {
            if (r != c && !coupled) continue;
            yk_mat3 block = section_block(matrix, r, c);
            yk_mat3 half = multiply(frame, &block);
            rotated->block[r][c] = multiply(&half, &transposed);
        }
}

/* to += a x v */
static inline void add_cross(by_turns *to, yk_vec3 a, const by_turns *v)
{
    for (int j = 0; j < TURN_COLUMNS; j++) {
        double x = v->m[0][j], y = v->m[1][j], z = v->m[2][j];
        to->m[0][j] += a.y * z - a.z * y;
        to->m[1][j] += a.z * x - a.x * z;
        to->m[2][j] += a.x * y - a.y * x;
    }
}

/* to += a v */
static inline void add_product(by_turns *to, const yk_mat3 *a, const by_turns *v)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < TURN_COLUMNS; j++)
            to->m[i][j] += a->m[i][0] * v->m[0][j] + a->m[i][1] * v->m[1][j] + a->m[i][2] * v->m[2][j];
}

static inline void combine_turns(double a, const by_turns *u, double b, const by_turns *v, by_turns *to)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < TURN_COLUMNS; j++) to->m[i][j] = a * u->m[i][j] + b * v->m[i][j];
}

/* Adds a block in the columns of one node. */
static inline void add_turn(by_turns *to, int node, const yk_mat3 *m)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) to->m[i][3 * node + j] += m->m[i][j];
}

/* Variations at a point: rotation, curvature and strain by the rotation of each node (G, K, X). The strain by the
 * position of node i is slope_i times the identity. */
typedef struct point_variation {
    by_turns rotation, curvature, strain;
    by_turns psi, psi_slope; /* as seen from the middle node */
} point_variation;

static void vary_point(const yk_beam *beam, const yk_beam_point *point, const element_state *element,
                       const point_state *state, point_variation *v)
{
    yk_mat3 forward = yk_tangent_forward(&state->tangent), identity = yk_m3_identity();
    yk_mat3 along = yk_tangent_along(&state->tangent, state->psi_slope);
    const by_turns *first = &element->psi_by_turns[0], *last = &element->psi_by_turns[1];
    combine_turns(point->shape[FIRST], first, point->shape[LAST], last, &v->psi);
    combine_turns(point->slope[FIRST], first, point->slope[LAST], last, &v->psi_slope);
    v->rotation = v->curvature = v->strain = (by_turns){{{0}}};
    add_product(&v->rotation, &forward, &v->psi);
    add_product(&v->curvature, &along, &v->psi);
    add_product(&v->curvature, &forward, &v->psi_slope);
    add_cross(&v->strain, state->line, &v->rotation);
    yk_mat3 middle = yk_m3_skew(state->line);
    add_turn(&v->rotation, MIDDLE, &identity);
    add_turn(&v->strain, MIDDLE, &middle);
    for (int i = 0; i < YK_BEAM_NODES && beam->has_offset; i++) {
        yk_mat3 arm = yk_m3_skew(yk_v3_scale(-point->slope[i], element->arm[i]));
        add_turn(&v->strain, i, &arm);
    }
}

/* Derivatives of force (0) and torque (1) of the section, global components: by the rotations of the nodes, and by the
 * position of node i after division by slope_i. */
typedef struct resultant_variation {
    by_turns by_rotation[2];
    yk_mat3 by_position[2];
} resultant_variation;

/* Adds a rotated section matrix times variations of strain and curvature. */
static void add_section(const yk_beam_point *point, const section_blocks *section, const by_turns *strain,
                        const by_turns *curvature, resultant_variation *r)
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

/* The resultants turn with the section. */
static void turning_terms(const point_state *state, const point_variation *v, resultant_variation *r)
{
    add_cross(&r->by_rotation[0], yk_v3_neg(state->force), &v->rotation);
    add_cross(&r->by_rotation[1], yk_v3_neg(state->torque), &v->rotation);
}

/* Variation of the rotational rates at given angular velocities of the nodes: of the angular velocity of the section,
 * and of the curvature rate as seen from the middle node. With u_i the spin of node i relative to the middle one, whose
 * variation seen from there is u_i x delta_2, and c_i = T(psi_i)^-1 u_i the rate of psi_i,
 *   d(c_i) = T(psi_i)^-1 (u_i x delta_2 - L(psi_i, c_i) d(psi_i)),   L(psi, c) = d(T(psi) c)/dpsi
 *   d(angular velocity) = L(psi, c) d(psi) + T(psi) d(c) + delta_2 x spin
 * and the curvature rate is its derivative along the beam but for the last term. */
static void vary_rates(const yk_beam_point *point, const element_state *element, const point_state *state,
                       const point_variation *v, by_turns *angular_velocity, by_turns *curvature_rate)
{
    by_turns rate[2], psi_rate, psi_rate_slope;
    for (int e = 0; e < 2; e++) {
        yk_mat3 by_psi = yk_tangent_by_psi(&element->tangent[e], element->psi_rate[e]);
        yk_mat3 minus = multiply(&element->inverse[e], &by_psi), spin = yk_m3_skew(element->spin[e]);
        minus = yk_m3_scale(-1, minus);
        spin = multiply(&element->inverse[e], &spin);
        rate[e] = (by_turns){{{0}}};
        add_product(&rate[e], &minus, &element->psi_by_turns[e]);
        add_turn(&rate[e], MIDDLE, &spin);
    }
    combine_turns(point->shape[FIRST], &rate[0], point->shape[LAST], &rate[1], &psi_rate);
    combine_turns(point->slope[FIRST], &rate[0], point->slope[LAST], &rate[1], &psi_rate_slope);
    yk_mat3 forward = yk_tangent_forward(&state->tangent);
    yk_mat3 along = yk_tangent_along(&state->tangent, state->psi_slope);
    yk_mat3 by_psi = yk_tangent_by_psi(&state->tangent, state->psi_rate);
    yk_mat3 by_psi_slope = yk_tangent_by_psi(&state->tangent, state->psi_rate_slope);
    yk_mat3 second = yk_tangent_second(&state->tangent, state->psi_rate, state->psi_slope);
    yk_mat3 middle = yk_m3_skew(yk_v3_neg(state->spin));
    add_to(&by_psi_slope, &second);
    *angular_velocity = *curvature_rate = (by_turns){{{0}}};
    add_product(angular_velocity, &by_psi, &v->psi);
    add_product(angular_velocity, &forward, &psi_rate);
    add_turn(angular_velocity, MIDDLE, &middle);
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
    by_turns angular_velocity, curvature_rate, strain_rate = {{{0}}};
    vary_rates(point, element, state, v, &angular_velocity, &curvature_rate);
    yk_mat3 middle = yk_m3_skew(yk_v3_neg(state->curvature_rate));
    add_turn(&curvature_rate, MIDDLE, &middle);
    add_cross(&curvature_rate, state->curvature_rate, &v->rotation);
    for (int i = 0; i < YK_BEAM_NODES && beam->has_offset; i++) {
        yk_mat3 arm = yk_m3_skew(yk_v3_scale(point->slope[i], element->arm[i]));
        yk_mat3 swept = cross_columns(yk_v3_sub(state->angular_velocity, node[i]->angular_velocity), &arm);
        add_turn(&strain_rate, i, &swept);
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

/* A share of the rows of a node: set, or added to those of the point before. */
static inline void put_number(double *to, double sign, bool add, double value)
{
    *to = add ? *to + value : sign * value;
}

/* The six rows of node n beside the point: force, and torque about the node. The arm of the torque changes as point and
 * node move by (dp - dx) x t; that term has no share in the derivatives by rates, where `force` is zero. */
static inline void put_rows(const yk_beam *beam, int index, int n, const element_state *element, yk_vec3 arm,
                            yk_vec3 force, const resultant_variation *r, double sign, bool add,
                            double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS])
{
    const yk_beam_point *point = &beam->point[index];
    by_turns torque = r->by_rotation[1];
    add_cross(&torque, arm, &r->by_rotation[0]);
    yk_mat3 by_position = cross_columns(arm, &r->by_position[0]), force_skew = yk_m3_skew(force);
    add_to(&by_position, &r->by_position[1]);
    for (int i = 0; i < YK_BEAM_NODES; i++) {
        double slope = point->slope[i], share = (i == n ? 1 : 0) - point->shape[i];
        for (int k = 0; k < 3; k++) {
            double *force_row = &matrix[6 * n + k][6 * i], *torque_row = &matrix[6 * n + 3 + k][6 * i];
            for (int j = 0; j < 3; j++) {
                put_number(&force_row[j], sign, add, slope * r->by_position[0].m[k][j]);
                put_number(&force_row[3 + j], sign, add, r->by_rotation[0].m[k][3 * i + j]);
                put_number(&torque_row[j], sign, add, slope * by_position.m[k][j] + share * force_skew.m[k][j]);
                put_number(&torque_row[3 + j], sign, add, torque.m[k][3 * i + j]);
            }
        }
        if (!beam->has_offset) continue;
        yk_mat3 offset = yk_m3_skew(yk_v3_scale(sign * point->shape[i], element->arm[i]));
        yk_mat3 swept = cross_columns(force, &offset);
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 3; j++) matrix[6 * n + 3 + k][6 * i + 3 + j] += swept.m[k][j];
    }
}

/* The portion on the left of the point feels the resultants, the one on the right their opposite; the middle node has a
 * point on either side. */
static void put_point(const yk_beam *beam, int index, const element_state *element, const point_state *state,
                      const yk_frame *const node[], yk_vec3 force, const resultant_variation *r,
                      double matrix[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS])
{
    yk_vec3 left = yk_v3_sub(state->place, node[index]->position);
    yk_vec3 right = yk_v3_sub(state->place, node[index + 1]->position);
    if (index == 0) {
        put_rows(beam, 0, FIRST, element, left, force, r, 1, false, matrix);
        put_rows(beam, 0, MIDDLE, element, right, force, r, -1, false, matrix);
    } else {
        put_rows(beam, 1, MIDDLE, element, left, force, r, 1, true, matrix);
        put_rows(beam, 1, LAST, element, right, force, r, -1, false, matrix);
    }
}

/* Not inlined for each point: twice the code would not fit the processor's instruction cache. */
__attribute__((noinline)) static void differentiate_point(const yk_beam *beam, int index, const element_state *element,
                                                          const point_state *state, const yk_frame *const node[],
                                                          yk_beam_jacobian *jacobian)
{
    const yk_beam_point *point = &beam->point[index];
    point_variation v;
    section_blocks section, damping;
    resultant_variation by_placement, by_rate;
    vary_point(beam, point, element, state, &v);
    rotate_section(point->stiffness, point->coupled, &state->frame, &section);
    strain_terms(point, &section, &v, &by_placement);
    turning_terms(state, &v, &by_placement);
    if (beam->damped) {
        rotate_section(point->damping, point->coupled, &state->frame, &damping);
        strain_terms(point, &damping, &v, &by_rate);
        damping_terms(beam, point, element, state, node, &damping, &v, &by_placement);
    }
    put_point(beam, index, element, state, node, state->force, &by_placement, jacobian->placement);
    if (beam->damped) put_point(beam, index, element, state, node, yk_v3(0, 0, 0), &by_rate, jacobian->rate);
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
    }
    if (!(half[0] < 3 * half[1] && half[1] < 3 * half[0]))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "beam: the middle node is too close to an end; keep it near half of the length");
    for (int i = 0; i < 2; i++)
        if (!(yk_v3_norm(element->psi[i]) < 0.9 * YK_PI))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "beam: the section turns by nearly half a turn between two nodes; use more beams");
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
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++) {
                beam->damped |= point->damping[i][j] != 0;
                if (i / 3 != j / 3) point->coupled |= point->stiffness[i][j] != 0 || point->damping[i][j] != 0;
            }
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
