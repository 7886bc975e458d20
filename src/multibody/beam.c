/* Three-node beam from its strain energy (see beam.h), and common sections (Cowper 1966).
 *
 * All linear algebra uses the global frame, in which no change of basis between the nodes is
 * needed. With the section frames S_i = R_i B_i, the line points p_i = x_i + o_i, o_i = R_i f_i,
 * and ' the derivative with respect to the reference arc length:
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
 *   rotation of S   sum G_i delta_i   G_i = N_i T(psi) T(psi_i)^-1 for i = 1, 3
 *                                     G_2 = I - G_1 - G_3
 *   S d(kappa)      sum K_i delta_i   K_i = G_i' = (N_i T'(psi; psi') + N_i' T(psi)) T(psi_i)^-1
 *                                     K_2 = - K_1 - K_3
 *   S d(gamma)      sum N_i' (dx_i + delta_i x o_i) + e x sum G_i delta_i
 *
 * Strain rates are the same expressions with velocities instead of variations. The loads on the
 * nodes are minus the derivatives of the energy, sums over both points with their weights w:
 *
 *   f_i = - sum w N_i' t
 *   m_i = - c_i - sum w N_i' o_i x t          with a = t x e and
 *   c_i = T(psi_i)^-T sum w (N_i (T^T a + T'^T m) + N_i' T^T m)  for i = 1, 3
 *   c_2 = sum w a - c_1 - c_3 */
#include "multibody/beam.h"

#include <string.h>

#include "multibody/beam_state.h"

/* Placement ------------------------------------------------------------------------------------ */

static inline void shape_functions(double xi, double shape[YK_BEAM_NODE_COUNT],
                                   double slope[YK_BEAM_NODE_COUNT])
{
    shape[FIRST] = 0.5 * xi * (xi - 1);
    shape[MIDDLE] = 1 - xi * xi;
    shape[LAST] = 0.5 * xi * (xi + 1);

    slope[FIRST] = xi - 0.5;
    slope[MIDDLE] = -2 * xi;
    slope[LAST] = xi + 0.5;
}

/* For a quantity that vanishes at the middle node. */
static inline yk_vec3 interpolate_ends(const double weight[YK_BEAM_NODE_COUNT], const yk_vec3 v[2])
{
    return yk_v3_axpy(weight[LAST], v[1], yk_v3_scale(weight[FIRST], v[0]));
}

/* The rotation vector of a rotation matrix, by the sine from its skew part and the cosine from
 * its trace. */
static inline yk_vec3 relative_rotation(const yk_mat3 *r)
{
    yk_vec3 sine = {
        0.5 * (r->m[2][1] - r->m[1][2]),
        0.5 * (r->m[0][2] - r->m[2][0]),
        0.5 * (r->m[1][0] - r->m[0][1]),
    };
    double cosine = 0.5 * (r->m[0][0] + r->m[1][1] + r->m[2][2] - 1);

    /* Near half a turn the sine has no correct digits. */
    if (cosine < -0.7)
        return yk_so3_log_matrix(*r);

    /* For small rotations use the series of arcsin(s) / s in s^2, accurate to rounding errors,
     * without a square root. */
    double square = yk_v3_norm2(sine);
    if (square < 0.02 && cosine > 0) {
        static const double c[9] = {
            1,           1.0 / 6,       3.0 / 40,      5.0 / 112,      35.0 / 1152,
            63.0 / 2816, 231.0 / 13312, 143.0 / 10240, 6435.0 / 557056};
        double sum = c[8];
        for (int k = 7; k >= 0; k--)
            sum = c[k] + square * sum;
        return yk_v3_scale(sum, sine);
    }

    /* For larger rotations use the angle itself. */
    double norm = sqrt(square);
    return yk_v3_scale(atan2(norm, cosine) / norm, sine);
}

/* Points of the line at the nodes, and the rotations of the end nodes relative to the middle
 * one. */
static void place_nodes(const yk_beam *beam, const yk_frame *const node[YK_BEAM_NODE_COUNT],
                        beam_state *state)
{
    yk_mat3 frame[YK_BEAM_NODE_COUNT];

    /* Section frames of the nodes. */
    for (int i = 0; i < YK_BEAM_NODE_COUNT; i++) {
        frame[i] = node[i]->rotation;
        if (beam->rotated)
            frame[i] = multiply(&node[i]->rotation, &beam->section_frame[i]);

        /* The line may be off the node. */
        state->arm[i] = yk_v3(0, 0, 0);
        if (beam->has_offset)
            state->arm[i] = yk_m3_apply(node[i]->rotation, beam->offset[i]);

        state->point[i] = yk_v3_add(node[i]->position, state->arm[i]);
    }

    /* Rotations of the end nodes relative to the middle node. */
    state->middle_frame = frame[MIDDLE];
    yk_mat3 back = yk_m3_transpose(frame[MIDDLE]);
    for (int i = 0; i < 2; i++) {
        yk_mat3 relative = multiply(&frame[end_node[i]], &back);
        state->psi[i] = relative_rotation(&relative);
    }
}

static inline void pack(yk_vec3 a, yk_vec3 b, double v[6])
{
    v[0] = a.x;
    v[1] = a.y;
    v[2] = a.z;
    v[3] = b.x;
    v[4] = b.y;
    v[5] = b.z;
}

/* Position, frame and total strain S^T (e, k) of the section at a point. */
static inline void place_section(const beam_state *state, const double shape[YK_BEAM_NODE_COUNT],
                                 const double slope[YK_BEAM_NODE_COUNT],
                                 beam_section_state *section, double strain[6])
{
    section->position = interpolate(shape, state->point);
    section->line = interpolate(slope, state->point);
    section->tangent = yk_tangent_at(interpolate_ends(shape, state->psi));
    section->psi_slope = interpolate_ends(slope, state->psi);
    section->frame = yk_m3_mul(yk_tangent_exp(&section->tangent), state->middle_frame);

    /* k = T(psi) psi' */
    const yk_tangent *t = &section->tangent;
    yk_vec3 cross = yk_v3_cross(t->psi, section->psi_slope);
    yk_vec3 k = yk_v3_axpy(t->c[2], cross, section->psi_slope);
    k = yk_v3_axpy(t->c[3], yk_v3_cross(t->psi, cross), k);

    /* In the axes of the section. */
    yk_vec3 gamma = yk_m3_apply_transposed(section->frame, section->line);
    yk_vec3 kappa = yk_m3_apply_transposed(section->frame, k);
    pack(gamma, kappa, strain);
}

/* Loads ---------------------------------------------------------------------------------------- */

/* Strain rates in section axes, and terms for the Jacobian. */
static void section_rates(const yk_beam_point *point, const beam_state *state,
                          const yk_frame *const node[], beam_section_state *section, double rate[6])
{
    /* Rate of the line's tangent. */
    yk_vec3 line_rate = {0, 0, 0};
    for (int i = 0; i < YK_BEAM_NODE_COUNT; i++) {
        yk_vec3 swing = yk_v3_cross(node[i]->angular_velocity, state->arm[i]);
        yk_vec3 velocity = yk_v3_add(node[i]->velocity, swing);
        line_rate = yk_v3_axpy(point->slope[i], velocity, line_rate);
    }

    /* Angular velocity of the section: that of the middle node and T(psi) times the rate of psi. */
    yk_mat3 forward = yk_tangent_forward(&section->tangent);
    section->psi_rate = interpolate_ends(point->shape, state->psi_rate);
    section->psi_rate_slope = interpolate_ends(point->slope, state->psi_rate);
    section->spin = yk_m3_apply(forward, section->psi_rate);
    section->angular_velocity = yk_v3_add(node[MIDDLE]->angular_velocity, section->spin);

    /* S gamma' = d(e)/dt + e x w, and S kappa' = derivative of the spin along the beam. */
    yk_mat3 along = yk_tangent_along(&section->tangent, section->psi_slope);
    yk_vec3 rotating = yk_m3_apply(along, section->psi_rate);
    yk_vec3 swept = yk_v3_cross(section->line, section->angular_velocity);
    section->strain_rate = yk_v3_add(line_rate, swept);
    section->curvature_rate = yk_v3_add(rotating, yk_m3_apply(forward, section->psi_rate_slope));

    /* In section axes. */
    yk_vec3 gamma_rate = yk_m3_apply_transposed(section->frame, section->strain_rate);
    yk_vec3 kappa_rate = yk_m3_apply_transposed(section->frame, section->curvature_rate);
    pack(gamma_rate, kappa_rate, rate);
}

/* result += matrix v */
static inline void apply_section(const double matrix[6][6], const double v[6], double result[6])
{
    for (int i = 0; i < 6; i++) {
        double sum = 0;
        for (int j = 0; j < 6; j++)
            sum += matrix[i][j] * v[j];
        result[i] += sum;
    }
}

/* Strain, resultants and energy of the section at a point, and its contribution to the loads. */
static void evaluate_section(const yk_beam *beam, int index, beam_state *state,
                             const yk_frame *const node[], beam_section_state *section,
                             yk_beam_loads *loads)
{
    const yk_beam_point *point = &beam->point[index];
    double *strain = loads->strain[index];
    double *resultant = loads->resultant[index];

    /* Elastic resultants. */
    place_section(state, point->shape, point->slope, section, strain);
    for (int i = 0; i < 6; i++) {
        strain[i] -= point->strain[i];
        resultant[i] = 0;
    }

    /* n = C (strain), and the energy length n . strain / 2. */
    apply_section(point->stiffness, strain, resultant);
    double work = 0;
    for (int i = 0; i < 6; i++)
        work += strain[i] * resultant[i];
    loads->energy += 0.5 * point->length * work;

    /* Viscous ones. */
    if (beam->damped) {
        double rate[6];
        double viscous[6] = {0};
        double power = 0;

        section_rates(point, state, node, section, rate);

        apply_section(point->damping, rate, viscous);
        for (int i = 0; i < 6; i++) {
            resultant[i] += viscous[i];
            power += viscous[i] * rate[i];
        }

        loads->loss += point->length * power;
    }

    /* In global axes. */
    section->force = yk_m3_apply(section->frame, yk_v3(resultant[0], resultant[1], resultant[2]));
    section->torque = yk_m3_apply(section->frame, yk_v3(resultant[3], resultant[4], resultant[5]));

    /* f_i = - sum w N_i' t, and the sums of c_i before T(psi_i)^-T */
    yk_vec3 a = yk_v3_cross(section->force, section->line);
    yk_vec3 by_psi, by_slope;
    yk_tangent_back_pair(&section->tangent, section->psi_slope, a, section->torque, &by_psi,
                         &by_slope);
    for (int i = 0; i < YK_BEAM_NODE_COUNT; i++)
        loads->force[i] =
            yk_v3_axpy(-point->length * point->slope[i], section->force, loads->force[i]);

    for (int k = 0; k < 2; k++) {
        int i = end_node[k];
        yk_vec3 part = yk_v3_axpy(point->slope[i], by_slope, yk_v3_scale(point->shape[i], by_psi));
        state->end[k] = yk_v3_axpy(point->length, part, state->end[k]);
    }

    state->all = yk_v3_axpy(point->length, a, state->all);
}

void yk_beam_evaluate(const yk_beam *beam, const yk_frame *const node[YK_BEAM_NODE_COUNT],
                      yk_beam_loads *loads, yk_beam_jacobian *jacobian)
{
    beam_state state;
    beam_section_state section[YK_BEAM_SECTION_COUNT];

    /* Relative rotations of the end nodes, their tangents and their rates, as far as they are
     * needed. */
    place_nodes(beam, node, &state);
    for (int i = 0; i < 2 && (jacobian || beam->damped); i++) {
        state.tangent[i] = yk_tangent_at(state.psi[i]);
        state.inverse[i] = yk_tangent_inverse(&state.tangent[i]);
    }

    for (int i = 0; i < 2 && beam->damped; i++) {
        yk_vec3 middle = node[MIDDLE]->angular_velocity;
        state.spin[i] = yk_v3_sub(node[end_node[i]]->angular_velocity, middle);
        state.psi_rate[i] = yk_m3_apply(state.inverse[i], state.spin[i]);
    }

    /* Loads of both points of Gauss. */
    loads->energy = 0;
    loads->loss = 0;
    for (int i = 0; i < YK_BEAM_NODE_COUNT; i++)
        loads->force[i] = yk_v3(0, 0, 0);
    state.end[0] = yk_v3(0, 0, 0);
    state.end[1] = yk_v3(0, 0, 0);
    state.all = yk_v3(0, 0, 0);
    for (int p = 0; p < YK_BEAM_SECTION_COUNT; p++)
        evaluate_section(beam, p, &state, node, &section[p], loads);

    /* Torques: minus c_i, and the moments of the forces about nodes that are not on the line. */
    for (int k = 0; k < 2; k++) {
        state.c[k] = yk_back_inverse(state.psi[k], state.end[k]);
        loads->torque[end_node[k]] = yk_v3_neg(state.c[k]);
    }

    loads->torque[MIDDLE] = yk_v3_sub(yk_v3_add(state.c[0], state.c[1]), state.all);
    for (int i = 0; i < YK_BEAM_NODE_COUNT && beam->has_offset; i++)
        loads->torque[i] = yk_v3_add(loads->torque[i], yk_v3_cross(state.arm[i], loads->force[i]));

    /* Second derivatives of the energy, and the terms of velocities and arms. */
    if (!jacobian)
        return;

    yk_beam_stiffness(beam, &state, section, jacobian->pose);
    if (beam->damped)
        yk_beam_damping(beam, &state, section, node, jacobian);
    if (beam->has_offset)
        yk_beam_add_arms(&state, loads->force, jacobian->pose);
}

/* Set-up --------------------------------------------------------------------------------------- */

yk_beam_def yk_beam_straight(yk_vec3 start, yk_vec3 end, yk_vec3 up, const yk_beam_section *section)
{
    yk_beam_def def = {.section = {*section, *section}};
    yk_vec3 along = yk_v3_sub(end, start);
    yk_vec3 x = yk_v3_unit(along);
    yk_vec3 z = yk_v3_unit(yk_v3_cross(x, up));
    yk_quat frame = yk_so3_quat(yk_m3_columns(x, yk_v3_cross(z, x), z));

    /* Nodes at both ends and in the middle. */
    for (int i = 0; i < YK_BEAM_NODE_COUNT; i++) {
        def.position[i] = yk_v3_axpy(0.5 * i, along, start);
        def.orientation[i] = frame;
        def.section_frame[i] = yk_q_identity();
    }

    return def;
}

/* The beam's geometry without section, with its nodes in the reference shape. */
static void reference_shape(const yk_beam_def *def, yk_beam *beam,
                            yk_frame node[YK_BEAM_NODE_COUNT], beam_state *state)
{
    memset(beam, 0, sizeof *beam);
    for (int i = 0; i < YK_BEAM_NODE_COUNT; i++) {
        /* Offsets and axes of the section, where there are any. */
        yk_quat section_frame = yk_q_unit(def->section_frame[i]);
        beam->offset[i] = def->offset[i];
        beam->section_frame[i] = yk_q_matrix(section_frame);
        beam->rotated |= fabs(section_frame.w) != 1;
        beam->has_offset |= yk_v3_norm2(def->offset[i]) > 0;

        /* Its nodes, at rest. */
        node[i] = (yk_frame){0};
        node[i].position = def->position[i];
        node[i].rotation = yk_q_matrix(yk_q_unit(def->orientation[i]));
    }

    place_nodes(beam, (const yk_frame *const[]){&node[0], &node[1], &node[2]}, state);
}

/* Checks that the stiffness of a section is symmetric and positive definite. */
static yk_status check_section(yk_context *context, const yk_beam_section *section, int p)
{
    double a[6][6];
    memcpy(a, section->stiffness, sizeof a);

    /* A positive diagonal, with a hint for users who specify a rigid direction by zero. */
    for (int i = 0; i < 6; i++) {
        if (!(a[i][i] > 0))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "beam: stiffness %d of section %d is not positive; for a stiff "
                           "direction give a large number, not zero",
                           i + 1, p + 1);
    }

    /* Symmetric: otherwise a closed path of strains would generate energy. */
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < i; j++) {
            double upper = a[j][i];
            double lower = a[i][j];

            if (fabs(upper - lower) > 1e-6 * sqrt(a[i][i] * a[j][j]))
                return yk_fail(context, YK_ERROR_ARGUMENT,
                               "beam: the stiffness of section %d is not symmetric, %g in row %d "
                               "and %g in row %d: no material gives it, and motions would grow by "
                               "it; take the mean of both",
                               p + 1, upper, j + 1, lower, i + 1);
        }
    }

    /* Gaussian elimination meets positive pivots. */
    for (int k = 0; k < 6; k++) {
        if (!(a[k][k] > 0))
            return yk_fail(
                context, YK_ERROR_ARGUMENT,
                "beam: the stiffness of section %d is not positive definite: strains that involve "
                "component %d would release energy; make the terms off the diagonal smaller",
                p + 1, k + 1);
        for (int i = k + 1; i < 6; i++) {
            for (int j = k + 1; j < 6; j++)
                a[i][j] -= a[i][k] * a[k][j] / a[k][k];
        }
    }

    return YK_OK;
}

static yk_status check_def(yk_context *context, const yk_beam_def *def, const beam_state *state)
{
    double half[2];

    /* Nodes do not coincide, and the middle node is between the ends. */
    for (int i = 0; i < 2; i++) {
        half[i] = yk_v3_norm(yk_v3_sub(state->point[i + 1], state->point[i]));
        if (!(half[i] > 0))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "beam: nodes %d and %d put the reference line in one place; move one of "
                           "them or its offset",
                           i + 1, i + 2);
    }

    if (!(half[0] < 3 * half[1] && half[1] < 3 * half[0]))
        return yk_fail(
            context, YK_ERROR_ARGUMENT,
            "beam: the middle node is too close to an end; keep it near half of the length");

    /* The interpolation of rotations is valid for less than half a turn. */
    for (int i = 0; i < 2; i++) {
        if (!(yk_v3_norm(state->psi[i]) < 0.9 * YK_PI))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "beam: the section turns by nearly half a rotation between two nodes; "
                           "use more beams");
    }

    /* Sections that store energy. */
    for (int p = 0; p < YK_BEAM_SECTION_COUNT; p++) {
        yk_status status = check_section(context, &def->section[p], p);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

yk_status yk_beam_create(yk_context *context, const yk_beam_def *def, yk_beam *beam)
{
    static const double sign[YK_BEAM_SECTION_COUNT] = {-1, 1};

    yk_frame node[YK_BEAM_NODE_COUNT];
    beam_state state;
    reference_shape(def, beam, node, &state);
    yk_status status = check_def(context, def, &state);
    if (status != YK_OK)
        return status;

    for (int p = 0; p < YK_BEAM_SECTION_COUNT; p++) {
        yk_beam_point *point = &beam->point[p];

        /* Slopes by arc length, and the strain of the reference shape. */
        beam_section_state section;
        shape_functions(sign[p] / sqrt(3), point->shape, point->slope);
        point->length = yk_v3_norm(interpolate(point->slope, state.point));
        for (int i = 0; i < YK_BEAM_NODE_COUNT; i++)
            point->slope[i] /= point->length;
        place_section(&state, point->shape, point->slope, &section, point->strain);

        /* The structure of the section's matrices, which saves work. */
        memcpy(point->stiffness, def->section[p].stiffness, sizeof point->stiffness);
        memcpy(point->damping, def->section[p].damping, sizeof point->damping);

        point->diagonal = true;
        for (int i = 0; i < 6; i++) {
            for (int j = 0; j < 6; j++) {
                bool stiff = point->stiffness[i][j] != 0;
                bool damped = point->damping[i][j] != 0;
                beam->damped |= damped;
                if (i != j && stiff)
                    point->diagonal = false;
                if (i / 3 != j / 3)
                    point->coupled |= stiff || damped;
            }
        }
    }

    return YK_OK;
}

/* A slice of the beam of the given length as a part of the body on a node. */
static void add_slice(const yk_beam_section *section, const beam_section_state *state,
                      double length, const yk_frame *node, yk_inertia *lump)
{
    /* The arm of its center of mass and its axes, in the frame of the node. */
    yk_mat3 back = yk_m3_transpose(node->rotation);
    yk_quat axes = yk_so3_quat(multiply(&back, &state->frame));
    yk_vec3 centre = yk_v3_add(state->position, yk_m3_apply(state->frame, section->center_of_mass));
    yk_vec3 arm = yk_m3_apply(back, yk_v3_sub(centre, node->position));

    yk_inertia slice = yk_inertia_of_body(section->mass * length, arm,
                                          yk_m3_scale(length, section->inertia), axes);
    yk_inertia_add(lump, &slice);
}

void yk_beam_lumps(const yk_beam_def *def, yk_inertia lump[YK_BEAM_NODE_COUNT])
{
    yk_beam beam;
    yk_frame node[YK_BEAM_NODE_COUNT];

    beam_state state;
    reference_shape(def, &beam, node, &state);
    memset(lump, 0, YK_BEAM_NODE_COUNT * sizeof *lump);

    /* If the halves differ, the center of the middle portion is not at the node, so that the center
     * of the whole is correct. */
    double first = def->section[0].mass;
    double last = def->section[1].mass;
    double middle = 0;
    if (first + last > 0)
        middle = 0.25 * (last - first) / (first + last);

    /* Simpson's rule: the end receives a third of its half of the beam, the middle node two thirds. */
    const double xi[YK_BEAM_NODE_COUNT] = {-1, middle, 1};
    const double fraction[YK_BEAM_NODE_COUNT] = {1.0 / 3, 2.0 / 3, 1.0 / 3};
    for (int i = 0; i < YK_BEAM_NODE_COUNT; i++) {
        double shape[YK_BEAM_NODE_COUNT];
        double slope[YK_BEAM_NODE_COUNT];
        double strain[6];
        beam_section_state section;

        shape_functions(xi[i], shape, slope);
        place_section(&state, shape, slope, &section, strain);

        /* Slices at the ends have the section of their half, the middle one half of each. */
        double length = yk_v3_norm(section.line) * fraction[i];
        if (i <= MIDDLE)
            add_slice(&def->section[0], &section, length, &node[i], &lump[i]);
        if (i >= MIDDLE)
            add_slice(&def->section[1], &section, length, &node[i], &lump[i]);
    }
}

/* Sections ------------------------------------------------------------------------------------- */

/* Elastic and inertial properties of common sections. */

yk_beam_section_def yk_beam_section_default(void)
{
    yk_beam_section_def def = {.young_modulus = 210e9, .poisson_ratio = 0.3, .density = 7850};
    yk_beam_section_set_tube(&def, sqrt(1e-4 / YK_PI), 0);
    return def;
}

void yk_beam_section_set_rectangle(yk_beam_section_def *def, double width_y, double width_z)
{
    def->area = width_y * width_z;
    def->area_moment_y = width_y * width_z * width_z * width_z / 12;
    def->area_moment_z = width_z * width_y * width_y * width_y / 12;
    def->shear_factor_y = def->shear_factor_z = 5.0 / 6;

    /* Saint-Venant: J = a b^3 (1/3 - 64 b / (pi^5 a) sum over odd n of tanh(n pi a / 2 b) / n^5)
     * for a >= b. All tanh except the first are one within rounding errors, and the sum over odd n
     * of 1 / n^5 is 31/32 zeta(5). */
    double a = fmax(width_y, width_z);
    double b = fmin(width_y, width_z);
    double sum = 31.0 / 32 * 1.0369277551433699263;
    for (int n = 1; n <= 11; n += 2)
        sum -= (1 - tanh(0.5 * n * YK_PI * a / b)) / pow(n, 5);
    double factor = 1.0 / 3 - 64 / pow(YK_PI, 5) * b / a * sum;
    def->torsion_constant = factor * a * b * b * b;
}

void yk_beam_section_set_tube(yk_beam_section_def *def, double outer_radius, double inner_radius)
{
    double outer2 = outer_radius * outer_radius;
    double inner2 = inner_radius * inner_radius;

    def->area = YK_PI * (outer2 - inner2);
    def->area_moment_y = 0.25 * YK_PI * (outer2 * outer2 - inner2 * inner2);
    def->area_moment_z = def->area_moment_y;
    def->torsion_constant = 2 * def->area_moment_y;

    /* Cowper 1966, with the ratio of both radii squared */
    double nu = def->poisson_ratio;
    double m2 = inner2 / outer2;
    double sum2 = (1 + m2) * (1 + m2);
    def->shear_factor_y = 6 * (1 + nu) * sum2 / ((7 + 6 * nu) * sum2 + (20 + 12 * nu) * m2);
    def->shear_factor_z = def->shear_factor_y;
}

yk_beam_section yk_beam_section_from_def(const yk_beam_section_def *def)
{
    double young = def->young_modulus;
    double shear = 0.5 * young / (1 + def->poisson_ratio);
    const double stiffness[6] = {
        young * def->area,
        shear * def->area * def->shear_factor_y,
        shear * def->area * def->shear_factor_z,
        shear * def->torsion_constant,
        young * def->area_moment_y,
        young * def->area_moment_z,
    };

    /* Damping proportional to the stiffness. */
    yk_beam_section section = {.mass = def->density * def->area};
    for (int i = 0; i < 6; i++) {
        section.stiffness[i][i] = stiffness[i];
        section.damping[i][i] = def->rayleigh_beta * stiffness[i];
    }

    double polar = def->area_moment_y + def->area_moment_z;
    double rho = def->density;
    section.inertia =
        yk_m3_diagonal(rho * polar, rho * def->area_moment_y, rho * def->area_moment_z);

    return section;
}

/* matrix = p^T matrix p */
static void transform(double matrix[6][6], double p[6][6])
{
    double half[6][6] = {{0}};
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            for (int k = 0; k < 6; k++)
                half[i][j] += matrix[i][k] * p[k][j];
        }
    }

    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            matrix[i][j] = 0;
            for (int k = 0; k < 6; k++)
                matrix[i][j] += p[k][i] * half[k][j];
        }
    }
}

yk_beam_section yk_beam_section_transformed(const yk_beam_section *section, double angle,
                                            double offset_y, double offset_z)
{
    double c = cos(angle);
    double s = sin(angle);
    yk_mat3 rotation = {{{1, 0, 0}, {0, c, -s}, {0, s, c}}}; /* new components to old */
    yk_vec3 offset = yk_v3(0, offset_y, offset_z);

    /* A section that turns by kappa carries the old line, which sits at -offset, along: gamma_old
     * = gamma - kappa x offset = gamma + skew(offset) kappa, all in old axes. So old strain = p
     * new strain, new matrix = p^T old p. */
    yk_mat3 arm = yk_m3_mul(yk_m3_skew(offset), rotation);
    double p[6][6] = {{0}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            p[i][j] = rotation.m[i][j];
            p[i + 3][j + 3] = rotation.m[i][j];
            p[i][j + 3] = arm.m[i][j];
        }
    }

    yk_beam_section moved = *section;
    transform(moved.stiffness, p);
    transform(moved.damping, p);
    moved.center_of_mass =
        yk_m3_apply_transposed(rotation, yk_v3_sub(section->center_of_mass, offset));
    moved.inertia = yk_m3_rotate(yk_m3_transpose(rotation), section->inertia);

    return moved;
}
