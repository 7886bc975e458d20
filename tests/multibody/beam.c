/* The three-node beam as an element, and in statics. */
#include "multibody/beam.h"

#include <string.h>

#include "math/dense.h"
#include "math/so3.h"
#include "rod_reference.h"
#include "test.h"

enum { BEAMS_MAX = 20, UNKNOWNS_MAX = 12 * BEAMS_MAX };

/* Cantilever ----------------------------------------------------------------------------------- */

/* A row of beams whose first node is clamped. */
typedef struct cantilever {
    int beams;
    yk_beam beam[BEAMS_MAX];
    yk_frame node[2 * BEAMS_MAX + 1];
    yk_beam_loads loads[BEAMS_MAX];
} cantilever;

static double matrix[UNKNOWNS_MAX * UNKNOWNS_MAX], vector[UNKNOWNS_MAX];
static int pivot[UNKNOWNS_MAX];

static void rotate_and_shift(yk_frame *node, const double *by)
{
    node->position = yk_v3_add(node->position, yk_v3(by[0], by[1], by[2]));
    node->rotation = yk_m3_mul(yk_so3_exp_matrix(yk_v3(by[3], by[4], by[5])), node->rotation);
}

/* A rod of constant reference curvature (section axes) from the origin along x. */
static cantilever *row_of_beams(int beams, double length, yk_vec3 curvature,
                                const yk_beam_section *section)
{
    static cantilever row;
    row.beams = beams;
    for (int n = 0; n <= 2 * beams; n++) {
        double s = length * n / (2 * beams);
        yk_vec3 psi = yk_v3_scale(s, curvature);
        yk_mat3 tangent = yk_so3_left_tangent(psi);
        row.node[n] = (yk_frame){.position = yk_m3_apply(tangent, yk_v3(s, 0, 0)),
                                 .rotation = yk_so3_exp_matrix(psi)};
    }
    for (int b = 0; b < beams; b++) {
        yk_beam_def def = {.section = {*section, *section}};
        for (int i = 0; i < 3; i++) {
            def.position[i] = row.node[2 * b + i].position;
            def.orientation[i] = yk_so3_quat(row.node[2 * b + i].rotation);
            def.section_frame[i] = yk_q_identity();
        }
        assert_int_equal(yk_beam_create(NULL, &def, &row.beam[b]), YK_OK);
    }
    return &row;
}

static void evaluate(const yk_beam *beam, const yk_frame node[3], yk_beam_loads *loads,
                     yk_beam_jacobian *jacobian)
{
    const yk_frame *const three[3] = {&node[0], &node[1], &node[2]};
    yk_beam_evaluate(beam, three, loads, jacobian);
}

static void assemble(cantilever *row, int n)
{
    memset(matrix, 0, sizeof matrix);
    memset(vector, 0, sizeof vector);
    for (int b = 0; b < row->beams; b++) {
        yk_beam_jacobian jacobian;
        evaluate(&row->beam[b], &row->node[2 * b], &row->loads[b], &jacobian);
        for (int i = 0; i < 18; i++) {
            int r = 12 * b + i - 6;
            if (r < 0)
                continue;
            vector[r] +=
                (i % 6 < 3 ? &row->loads[b].force[i / 6].x : &row->loads[b].torque[i / 6].x)[i % 3];
            for (int j = 0; j < 18; j++)
                if (12 * b + j >= 6)
                    matrix[r * n + 12 * b + j - 6] -= jacobian.pose[i][j];
        }
    }
}

/* Newton to equilibrium under a dead force and torque on the tip, in equal steps; returns the
 * last correction. */
static double load_tip(cantilever *row, yk_vec3 force, yk_vec3 torque, int steps)
{
    int n = 12 * row->beams;
    double correction = 0;
    for (int step = 1; step <= steps; step++)
        for (int iteration = 0; iteration < 20; iteration++) {
            assemble(row, n);
            double fraction = (double)step / steps;
            for (int i = 0; i < 3; i++) {
                vector[n - 6 + i] += fraction * (&force.x)[i];
                vector[n - 3 + i] += fraction * (&torque.x)[i];
            }
            assert_int_equal(yk_lu_factor(n, matrix, pivot), YK_OK);
            yk_lu_solve(n, matrix, pivot, vector);
            for (int i = 0; i < 2 * row->beams; i++)
                rotate_and_shift(&row->node[i + 1], &vector[6 * i]);
            correction = yk_dense_norm((size_t)n, vector);
            if (correction < 1e-12)
                break;
        }
    return correction;
}

static yk_vec3 tip(const cantilever *row)
{
    return row->node[2 * row->beams].position;
}

/* Sections ------------------------------------------------------------------------------------- */

static yk_beam_section unit_section(void)
{
    yk_beam_section_def def = yk_beam_section_default();
    def.young_modulus = 2e6, def.poisson_ratio = 0.25;
    yk_beam_section_set_rectangle(&def, 0.05, 0.1);
    return yk_beam_section_from_def(&def);
}

/* Symmetric positive definite, every strain coupled with every resultant. */
static yk_beam_section coupled_section(void)
{
    yk_beam_section section = unit_section();
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            double scale = sqrt(unit_section().stiffness[i][i] * unit_section().stiffness[j][j]);
            if (i != j)
                section.stiffness[i][j] += 0.12 * scale * cos(1 + i + j + i * j);
        }
    return section;
}

/* Element -------------------------------------------------------------------------------------- */

static double pseudo_random(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (double)(state >> 11) / 4503599627370496.0 - 1;
}

static yk_vec3 random_vector(double size)
{
    double x = pseudo_random(), y = pseudo_random(), z = pseudo_random();
    return yk_v3_scale(size, yk_v3(x, y, z));
}

/* A curved, twisted, eccentric, damped beam of any section in some reference shape. */
static void odd_beam(yk_beam *beam, yk_frame node[3], double bend)
{
    yk_beam_section section = coupled_section();
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            section.damping[i][j] = 1e-2 * section.stiffness[i][j] * (1 + 0.1 * i);
    yk_beam_def def =
        yk_beam_straight(yk_v3(0.1, -0.2, 0.3), yk_v3(0.8, 0.4, 0.1), yk_v3(0, 0, 1), &section);
    for (int i = 0; i < 3; i++) {
        def.position[i] = yk_v3_add(def.position[i], random_vector(0.05));
        def.orientation[i] = yk_q_mul(yk_so3_exp(random_vector(0.3)), def.orientation[i]);
        def.section_frame[i] = yk_so3_exp(random_vector(0.3));
        def.offset[i] = random_vector(0.1);
    }
    assert_int_equal(yk_beam_create(NULL, &def, beam), YK_OK);
    for (int i = 0; i < 3; i++) {
        node[i].position = yk_v3_add(def.position[i], random_vector(0.1));
        node[i].rotation =
            yk_q_matrix(yk_q_mul(yk_so3_exp(random_vector(bend)), def.orientation[i]));
        node[i].velocity = random_vector(2);
        node[i].angular_velocity = random_vector(3);
    }
}

static void reference_shape_has_no_load(void **unused)
{
    (void)unused;
    yk_beam_section section = coupled_section();
    yk_beam_def def = yk_beam_straight(yk_v3(1, 2, 3), yk_v3(2, 1, 3.5), yk_v3(0, 0, 1), &section);
    def.orientation[0] = yk_q_mul(yk_so3_exp(yk_v3(0.4, 0.2, -0.3)), def.orientation[0]);
    def.position[1] = yk_v3_add(def.position[1], yk_v3(0.1, 0.05, 0.2));
    yk_beam beam;
    assert_int_equal(yk_beam_create(NULL, &def, &beam), YK_OK);
    yk_frame node[3];
    memset(node, 0, sizeof node);
    yk_vec3 rotation = {0.7, -1.9, 1.1};
    for (int i = 0; i < 3; i++) {
        node[i].position =
            yk_v3_add(yk_v3(5, -4, 2), yk_q_rotate(yk_so3_exp(rotation), def.position[i]));
        node[i].rotation = yk_q_matrix(yk_q_mul(yk_so3_exp(rotation), def.orientation[i]));
    }
    yk_beam_loads loads;
    evaluate(&beam, node, &loads, NULL);
    for (int i = 0; i < 3; i++) {
        assert_near(yk_v3_norm(loads.force[i]), 0, 1e-14 * section.stiffness[0][0]);
        assert_near(yk_v3_norm(loads.torque[i]), 0, 1e-14 * section.stiffness[0][0]);
    }
}

/* Loads turn with the beam for every deformation; an additional rigid velocity field changes
 * nothing. */
static void rigid_motion_is_invisible(void **unused)
{
    (void)unused;
    for (int trial = 0; trial < 20; trial++) {
        yk_beam beam;
        yk_frame node[3], moved[3];
        odd_beam(&beam, node, 1);
        yk_quat rotation = yk_so3_exp(random_vector(3));
        yk_vec3 shift = random_vector(10), velocity = random_vector(3), omega = random_vector(4);
        for (int i = 0; i < 3; i++) {
            moved[i].position = yk_v3_add(shift, yk_q_rotate(rotation, node[i].position));
            moved[i].rotation = yk_m3_mul(yk_q_matrix(rotation), node[i].rotation);
            yk_vec3 carried = yk_v3_add(velocity, yk_v3_cross(omega, moved[i].position));
            moved[i].velocity = yk_v3_add(yk_q_rotate(rotation, node[i].velocity), carried);
            moved[i].angular_velocity =
                yk_v3_add(yk_q_rotate(rotation, node[i].angular_velocity), omega);
        }
        yk_beam_loads a, b;
        evaluate(&beam, node, &a, NULL);
        evaluate(&beam, moved, &b, NULL);
        for (int i = 0; i < 3; i++) {
            yk_vec3 force = yk_v3_sub(yk_q_rotate(rotation, a.force[i]), b.force[i]);
            yk_vec3 torque = yk_v3_sub(yk_q_rotate(rotation, a.torque[i]), b.torque[i]);
            assert_near(yk_v3_norm(force), 0, 1e-12 * yk_v3_norm(a.force[i]));
            assert_near(yk_v3_norm(torque), 0, 1e-11 * yk_v3_norm(a.torque[i]));
        }
        assert_relative(b.energy, a.energy, 1e-12);
        assert_relative(b.loss, a.loss, 1e-11);
    }
}

/* The beam is in equilibrium as a whole. */
static void loads_balance(void **unused)
{
    (void)unused;
    yk_beam beam;
    yk_frame node[3];
    odd_beam(&beam, node, 1);
    yk_beam_loads loads;
    evaluate(&beam, node, &loads, NULL);
    yk_vec3 force = {0, 0, 0}, torque = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        force = yk_v3_add(force, loads.force[i]);
        torque = yk_v3_add(
            torque, yk_v3_add(loads.torque[i], yk_v3_cross(node[i].position, loads.force[i])));
    }
    assert_near(yk_v3_norm(force), 0, 1e-12 * yk_v3_norm(loads.force[0]));
    assert_near(yk_v3_norm(torque), 0, 1e-12 * yk_v3_norm(loads.force[0]));
}

static double *unknown(yk_frame node[3], int j, bool rate)
{
    yk_frame *n = &node[j / 6];
    if (!rate)
        return &(&n->position.x)[j % 3];
    return j % 6 < 3 ? &(&n->velocity.x)[j % 3] : &(&n->angular_velocity.x)[j % 3];
}

static void perturb(yk_frame node[3], int j, bool rate, double by)
{
    if (rate || j % 6 < 3) {
        *unknown(node, j, rate) += by;
        return;
    }
    double step[6] = {0};
    step[j % 6] = by;
    rotate_and_shift(&node[j / 6], step);
}

static double load(const yk_beam_loads *loads, int i)
{
    return (i % 6 < 3 ? &loads->force[i / 6].x : &loads->torque[i / 6].x)[i % 3];
}

/* Fourth-order differences of the loads by unknown j. */
static void difference(const yk_beam *beam, const yk_frame node[3], int j, bool rate,
                       double column[18])
{
    static const double place[4] = {-2, -1, 1, 2},
                        weight[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
    double step = rate ? 1e-1 : 1e-3;
    memset(column, 0, 18 * sizeof *column);
    for (int k = 0; k < 4; k++) {
        yk_frame moved[3];
        yk_beam_loads loads;
        memcpy(moved, node, sizeof moved);
        perturb(moved, j, rate, place[k] * step);
        evaluate(beam, moved, &loads, NULL);
        for (int i = 0; i < 18; i++)
            column[i] += weight[k] / step * load(&loads, i);
    }
}

static void jacobian_matches_differences(double bend, bool damped)
{
    yk_beam beam;
    yk_frame node[3];
    odd_beam(&beam, node, bend);
    beam.damped = damped;
    yk_beam_loads loads;
    yk_beam_jacobian jacobian;
    evaluate(&beam, node, &loads, &jacobian);
    double scale = 0;
    for (int i = 0; i < 18 * 18; i++)
        scale = fmax(scale, fabs((&jacobian.pose[0][0])[i]));
    for (int j = 0; j < 18; j++) {
        double column[18];
        difference(&beam, node, j, false, column);
        for (int i = 0; i < 18; i++)
            assert_near(jacobian.pose[i][j], column[i], 2e-9 * scale);
        if (!damped)
            continue;
        difference(&beam, node, j, true, column);
        for (int i = 0; i < 18; i++)
            assert_near(jacobian.rate[i][j], column[i], 1e-10 * scale);
    }
}

static void jacobian_is_exact(void **unused)
{
    (void)unused;
    for (int trial = 0; trial < 10; trial++) {
        jacobian_matches_differences(0.02, false);
        jacobian_matches_differences(0.9, false);
        jacobian_matches_differences(0.02, true);
        jacobian_matches_differences(0.9, true);
    }
}

/* Nodes next to the line only add lever arms. */
static void offset_is_a_lever(void **unused)
{
    (void)unused;
    yk_beam_section section = coupled_section();
    yk_beam_def def = yk_beam_straight(yk_v3(0, 0, 0), yk_v3(1, 0, 0), yk_v3(0, 1, 0), &section);
    yk_beam on_line, beside;
    assert_int_equal(yk_beam_create(NULL, &def, &on_line), YK_OK);
    yk_frame a[3], b[3];
    for (int i = 0; i < 3; i++) {
        a[i] = (yk_frame){
            .position = yk_v3_add(def.position[i], random_vector(0.1)),
            .rotation = yk_q_matrix(yk_q_mul(yk_so3_exp(random_vector(0.4)), def.orientation[i]))};
        def.offset[i] = random_vector(0.3);
        def.position[i] =
            yk_v3_sub(def.position[i], yk_q_rotate(def.orientation[i], def.offset[i]));
        b[i] = a[i];
        b[i].position = yk_v3_sub(a[i].position, yk_m3_apply(a[i].rotation, def.offset[i]));
    }
    assert_int_equal(yk_beam_create(NULL, &def, &beside), YK_OK);
    yk_beam_loads plain, levered;
    evaluate(&on_line, a, &plain, NULL);
    evaluate(&beside, b, &levered, NULL);
    for (int i = 0; i < 3; i++) {
        yk_vec3 arm = yk_v3_sub(a[i].position, b[i].position);
        yk_vec3 torque = yk_v3_add(plain.torque[i], yk_v3_cross(arm, plain.force[i]));
        assert_near(yk_v3_norm(yk_v3_sub(plain.force[i], levered.force[i])), 0, 1e-9);
        assert_near(yk_v3_norm(yk_v3_sub(torque, levered.torque[i])), 0, 1e-9);
    }
}

static void proportional_damping_lags(void **unused)
{
    (void)unused;
    /* Uniform extension at a given rate: resultant EA (strain + ratio * rate). */
    yk_beam_section_def def = yk_beam_section_default();
    def.rayleigh_beta = 0.02;
    yk_beam_section section = yk_beam_section_from_def(&def);
    yk_beam_def beam_def =
        yk_beam_straight(yk_v3(0, 0, 0), yk_v3(2, 0, 0), yk_v3(0, 1, 0), &section);
    yk_beam beam;
    assert_int_equal(yk_beam_create(NULL, &beam_def, &beam), YK_OK);
    yk_frame node[3];
    double strain = 1e-3, rate = 0.3, stiffness = section.stiffness[0][0];
    for (int i = 0; i < 3; i++)
        node[i] = (yk_frame){.position = {i * (1 + strain), 0, 0},
                             .rotation = yk_q_matrix(beam_def.orientation[i]),
                             .velocity = {i * rate, 0, 0}};
    yk_beam_loads loads;
    evaluate(&beam, node, &loads, NULL);
    assert_relative(loads.force[0].x, stiffness * (strain + 0.02 * rate), 1e-12);
    assert_near(loads.force[1].x, 0, 1e-12 * stiffness);
    assert_relative(loads.loss, 2 * 0.02 * stiffness * rate * rate, 1e-12);
    assert_relative(loads.energy, 0.5 * 2 * stiffness * strain * strain, 1e-9);
}

static void mistakes_are_named(void **unused)
{
    (void)unused;
    yk_context_def context_def = yk_context_default();
    yk_context *context = yk_context_create(&context_def);
    yk_beam_section section = unit_section();
    yk_beam beam;
    yk_beam_def def = yk_beam_straight(yk_v3(0, 0, 0), yk_v3(1, 0, 0), yk_v3(0, 1, 0), &section);
    def.position[1] = def.position[0];
    assert_int_equal(yk_beam_create(context, &def, &beam), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(context), "nodes 1 and 2"));
    def.position[1] = yk_v3(0.1, 0, 0);
    assert_int_equal(yk_beam_create(context, &def, &beam), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(context), "middle node"));
    def.position[1] = yk_v3(0.5, 0, 0);
    def.orientation[2] = yk_so3_exp(yk_v3(3.1, 0, 0));
    assert_int_equal(yk_beam_create(context, &def, &beam), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(context), "half a rotation"));
    def.orientation[2] = yk_q_identity();
    def.section[1].stiffness[4][4] = 0;
    assert_int_equal(yk_beam_create(context, &def, &beam), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(context), "stiffness 5 of section 2"));
    def.section[1] = section;
    def.section[1].stiffness[1][3] = 1e-3 * section.stiffness[1][1];
    assert_int_equal(yk_beam_create(context, &def, &beam), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(context), "stiffness of section 2 is not symmetric"));
    def.section[1].stiffness[1][3] = def.section[1].stiffness[3][1] =
        1.01 * sqrt(section.stiffness[1][1] * section.stiffness[3][3]);
    assert_int_equal(yk_beam_create(context, &def, &beam), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(context), "not positive definite"));
    yk_context_destroy(context);
}

/* Statics -------------------------------------------------------------------------------------- */

/* One beam and an end load, linearised at the straight beam: exact in extension, shear, torsion
 * and bending. */
static void one_beam_is_exact_for_small_end_loads(void **unused)
{
    (void)unused;
    yk_beam_section section = unit_section();
    double length = 1.5, l2 = length * length / 2, l3 = length * length * length / 3;
    double d[6];
    for (int i = 0; i < 6; i++)
        d[i] = section.stiffness[i][i];
    yk_vec3 force = {3, 2, -1}, torque = {0.7, 0.4, 0.9};
    for (int beams = 1; beams <= 3; beams += 2) {
        int n = 12 * beams;
        assemble(row_of_beams(beams, length, yk_v3(0, 0, 0), &section), n);
        memcpy(&vector[n - 6], &force, sizeof force);
        memcpy(&vector[n - 3], &torque, sizeof torque);
        assert_int_equal(yk_lu_factor(n, matrix, pivot), YK_OK);
        yk_lu_solve(n, matrix, pivot, vector);
        const double *tip_shift = &vector[n - 6], *rotation = &vector[n - 3];
        assert_relative(tip_shift[0], force.x * length / d[0], 1e-11);
        assert_relative(tip_shift[1], force.y * (l3 / d[5] + length / d[1]) + torque.z * l2 / d[5],
                        1e-11);
        assert_relative(tip_shift[2], force.z * (l3 / d[4] + length / d[2]) - torque.y * l2 / d[4],
                        1e-11);
        assert_relative(rotation[0], torque.x * length / d[3], 1e-11);
        assert_relative(rotation[1], -force.z * l2 / d[4] + torque.y * length / d[4], 1e-11);
        assert_relative(rotation[2], force.y * l2 / d[5] + torque.z * length / d[5], 1e-11);
    }
}

/* Middle nodes and ends off the regular places. */
static cantilever *uneven_row(const yk_beam_section *section)
{
    static const double s[7] = {0, 0.12, 0.3, 0.42, 0.5, 0.63, 0.8};
    cantilever *row = row_of_beams(3, 0.8, yk_v3(0, 0, 0), section);
    for (int n = 0; n < 7; n++)
        row->node[n].position = yk_v3(s[n], 0, 0);
    for (int b = 0; b < 3; b++) {
        yk_beam_def def = {.section = {*section, *section}};
        for (int i = 0; i < 3; i++) {
            def.position[i] = row->node[2 * b + i].position;
            def.orientation[i] = def.section_frame[i] = yk_q_identity();
        }
        assert_int_equal(yk_beam_create(NULL, &def, &row->beam[b]), YK_OK);
    }
    return row;
}

static void assert_strain(const cantilever *row, const double strain[6])
{
    for (int b = 0; b < row->beams; b++)
        for (int p = 0; p < 2; p++)
            for (int i = 0; i < 6; i++)
                assert_near(row->loads[b].strain[p][i], strain[i], 1e-11);
}

/* Constant strain of finite size on an uneven mesh: pull, twist, bend about both axes. */
static void constant_strain_patches(void **unused)
{
    (void)unused;
    yk_beam_section section = unit_section();
    static const double strain[4] = {0.2, 1.7, 0.9, -1.3};
    static const int axis[4] = {0, 3, 4, 5};
    for (int k = 0; k < 4; k++) {
        cantilever *row = uneven_row(&section);
        double expected[6] = {0}, wrench[6] = {0};
        expected[axis[k]] = strain[k];
        wrench[axis[k]] = section.stiffness[axis[k]][axis[k]] * strain[k];
        yk_vec3 force = yk_v3(wrench[0], wrench[1], wrench[2]),
                torque = yk_v3(wrench[3], wrench[4], wrench[5]);
        assert_true(load_tip(row, force, torque, 4) < 1e-12);
        assert_strain(row, expected);
    }
}

/* Sections that stay parallel while the line slants: shear and a little extension, no curvature. */
static void constant_shear_patch(void **unused)
{
    (void)unused;
    yk_beam_section section = unit_section();
    cantilever *row = uneven_row(&section);
    double expected[6] = {0, 0.3, -0.2, 0, 0, 0};
    for (int n = 0; n < 7; n++) {
        double s = row->node[n].position.x;
        row->node[n].position = yk_v3(s, expected[1] * s, expected[2] * s);
    }
    assemble(row, 36);
    assert_strain(row, expected);
    assert_relative(row->loads[2].force[2].y, -section.stiffness[1][1] * expected[1], 1e-12);
    assert_near(row->loads[1].force[1].y, 0, 1e-9);
}

/* EI 2 pi / L bends a slender beam to a full circle: the tip comes back to the clamp, exactly on
 * any mesh. */
static void end_moment_closes_a_circle(void **unused)
{
    (void)unused;
    yk_beam_section section = unit_section();
    for (int beams = 3; beams <= 12; beams += 3) {
        cantilever *row = row_of_beams(beams, 10, yk_v3(0, 0, 0), &section);
        double moment = section.stiffness[5][5] * 2 * YK_PI / 10;
        assert_true(load_tip(row, yk_v3(0, 0, 0), yk_v3(0, 0, moment), 12) < 1e-11);
        assert_near(yk_v3_norm(tip(row)), 0, 1e-11);
        assert_near(row->node[2 * beams].rotation.m[0][0], 1, 1e-11);
        /* half-way stands a diameter above the clamp */
        double diameter = 10 / YK_PI;
        double rotation = YK_PI / beams;
        if (beams % 2 == 0)
            assert_near(row->node[beams].position.y, diameter, 0.01 * diameter * pow(rotation, 4));
    }
}

static double tip_error(int beams, const rod *r, const yk_beam_section *section, rod_state exact,
                        int steps)
{
    cantilever *row = row_of_beams(beams, r->length, r->curvature, section);
    assert_true(load_tip(row, r->force, r->torque, steps) < 1e-10);
    return yk_v3_norm(yk_v3_sub(tip(row), exact.place)) / r->length;
}

/* Against the independent integration: error below `tolerance` with eight beams, third order at
 * least. */
static void converges_to_rod(const rod *r, const yk_beam_section *section, double tolerance)
{
    rod_state exact = rod_solve(*r);
    double coarse = tip_error(4, r, section, exact, 10);
    double middle = tip_error(8, r, section, exact, 10);
    double fine = tip_error(16, r, section, exact, 10);
    if (!(middle < tolerance && coarse / middle > 7.5 && middle / fine > 7.5))
        fail_msg("tip errors with 4, 8, 16 beams: %g %g %g", coarse, middle, fine);
}

static rod rod_of(double length, const yk_beam_section *section)
{
    rod r = {.length = length};
    memcpy(r.stiffness, section->stiffness, sizeof r.stiffness);
    return r;
}

/* A transverse load of 10 EI/L^2: the tip nearly hangs in the direction of the load. */
static void elastica_under_a_large_tip_load(void **unused)
{
    (void)unused;
    yk_beam_section section = unit_section();
    rod r = rod_of(1.5, &section);
    r.force = yk_v3(0, 10 * section.stiffness[5][5] / (1.5 * 1.5), 0);
    converges_to_rod(&r, &section, 1e-4);
}

/* Princeton's experiment: a thin blade loaded across both of its axes, so that it bends, twists
 * and tilts. */
static void inclined_blade_bends_and_twists(void **unused)
{
    (void)unused;
    yk_beam_section_def def = yk_beam_section_default();
    def.young_modulus = 71.7e9, def.poisson_ratio = 0.31;
    yk_beam_section_set_rectangle(&def, 0.0127, 0.0032);
    yk_beam_section section = yk_beam_section_from_def(&def);
    rod r = rod_of(0.508, &section);
    for (int tilt = 15; tilt <= 75; tilt += 30) {
        double angle = tilt * YK_PI / 180;
        r.force = yk_v3(0, -13.345 * cos(angle), -13.345 * sin(angle));
        converges_to_rod(&r, &section, 1e-5);
    }
}

static void coupled_sections_match_the_rod(void **unused)
{
    (void)unused;
    yk_beam_section section = coupled_section();
    rod r = rod_of(1.5, &section);
    r.force = yk_v3(3, 4, -5), r.torque = yk_v3(1, 2, -1);
    converges_to_rod(&r, &section, 1e-4);
}

static void curved_and_twisted_reference(void **unused)
{
    (void)unused;
    yk_beam_section section = unit_section();
    rod r = rod_of(1.5, &section);
    r.curvature = yk_v3(1.5, 0.6, 0.8);
    r.force = yk_v3(2, 5, -4);
    converges_to_rod(&r, &section, 2e-4);
}

/* Mass ----------------------------------------------------------------------------------------- */

static void lumps_add_up_to_the_beam(void **unused)
{
    (void)unused;
    yk_beam_section section = unit_section();
    section.center_of_mass = yk_v3(0, 0.01, -0.02);
    yk_beam_def def = yk_beam_straight(yk_v3(1, 0, 0), yk_v3(1, 3, 0), yk_v3(0, 0, 1), &section);
    yk_inertia lump[3];
    yk_beam_lumps(&def, lump);
    double length = 3, mass = section.mass * length;
    static const double portion[3] = {1.0 / 6, 4.0 / 6, 1.0 / 6};
    double about_middle = 0;
    for (int i = 0; i < 3; i++) {
        double m = portion[i] * mass, part = portion[i] * length, away = 0.5 * length * (i - 1);
        assert_relative(lump[i].mass, m, 1e-12);
        assert_near(lump[i].moment.x, 0, 1e-12);
        assert_relative(lump[i].moment.y, 0.01 * m, 1e-12);
        assert_relative(lump[i].moment.z, -0.02 * m, 1e-12);
        assert_relative(lump[i].tensor.m[0][0], part * section.inertia.m[0][0] + m * 5e-4, 1e-12);
        assert_relative(lump[i].tensor.m[1][1], part * section.inertia.m[1][1] + m * 4e-4, 1e-12);
        about_middle += lump[i].tensor.m[1][1] + m * away * away;
    }
    assert_relative(about_middle,
                    mass * length * length / 12 + length * section.inertia.m[1][1] + mass * 4e-4,
                    1e-12);
}

/* Halves of different mass: mass and centre are exact, the moment of inertia as the header says. */
static void stepped_beam_keeps_its_centre(void **unused)
{
    (void)unused;
    yk_beam_section heavy = unit_section(), light = unit_section();
    heavy.mass = 2, light.mass = 1;
    heavy.inertia = light.inertia = yk_m3_zero();
    yk_beam_def def = yk_beam_straight(yk_v3(0, 0, 0), yk_v3(2, 0, 0), yk_v3(0, 1, 0), &heavy);
    def.section[1] = light;
    yk_inertia lump[3];
    yk_beam_lumps(&def, lump);
    double mass = 0, moment = 0, inertia = 0;
    for (int i = 0; i < 3; i++) {
        double s = lump[i].moment.x, m = lump[i].mass;
        mass += m, moment += s + m * i, inertia += lump[i].tensor.m[2][2] + 2 * s * i + m * i * i;
    }
    assert_relative(mass, 3.0, 1e-12);
    assert_relative(moment, 2 * 0.5 + 1 * 1.5, 1e-12);
    assert_relative(inertia - 2 * moment + mass, 1 + 1.0 / 72,
                    1e-12); /* about the middle, where 1 is exact */
}

/* Growing modes -------------------------------------------------------------------------------- */

/* Symmetric stiffness in equilibrium and positive masses leave no mode that grows. */
static void assert_symmetric(int n, const char *what)
{
    double largest = 0, difference = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            double scale = sqrt(fabs(matrix[i * n + i] * matrix[j * n + j]));
            largest = fmax(largest, fabs(matrix[i * n + j]) / scale);
            difference = fmax(difference, fabs(matrix[i * n + j] - matrix[j * n + i]) / scale);
        }
    if (!(difference < 1e-9 * largest))
        fail_msg("%s: not symmetric by %g of %g", what, difference, largest);
}

static double force_of(const yk_beam_section *section, double fraction, double length)
{
    return fraction * section->stiffness[5][5] / (length * length);
}

/* Thickness over length of an element from a thousandth to one; straight, curved, bent far, and
 * pressed. */
static void stiffness_is_symmetric_at_any_slenderness(void **unused)
{
    (void)unused;
    static const double slenderness[] = {1e-3, 1e-2, 0.1, 0.25, 1.0 / 3, 0.4, 0.5, 0.7, 1};
    for (int k = 0; k < 9; k++)
        for (int beams = 1; beams <= 20; beams = beams < 4 ? beams + 1 : beams + 8) {
            yk_beam_section_def def = yk_beam_section_default();
            def.young_modulus = 2e6, def.poisson_ratio = 0.3;
            yk_beam_section_set_rectangle(&def, slenderness[k] / beams,
                                          1.7 * slenderness[k] / beams);
            yk_beam_section section = yk_beam_section_from_def(&def);
            double length = 1;
            double side =
                beams < 4 ? 0.4
                          : 0.05; /* as far as Newton's method follows the thinnest in few steps */
            int steps = beams < 4 ? 64 : 4;
            cantilever *row = row_of_beams(beams, length, yk_v3(0, 0, 0), &section);
            assemble(row, 12 * beams);
            assert_symmetric(12 * beams, "straight");
            assert_true(
                load_tip(row,
                         yk_v3(force_of(&section, -1, length), force_of(&section, 1, length), 0),
                         yk_v3(0, 0, 0), steps) < 1e-9);
            assemble(row, 12 * beams);
            assert_symmetric(12 * beams, "pressed and bent");
            row = row_of_beams(beams, length, yk_v3(0.3 / length, -1 / length, 1.5 / length),
                               &section);
            assemble(row, 12 * beams);
            assert_symmetric(12 * beams, "curved");
            assert_true(load_tip(row,
                                 yk_v3(0, force_of(&section, side, length),
                                       force_of(&section, -side, length)),
                                 yk_v3(0, 0, 0), steps) < 1e-9);
            assemble(row, 12 * beams);
            assert_symmetric(12 * beams, "curved and loaded");
        }
}

/* Loads are minus the derivative of the energy, for any section, shape, offset and strain. */
static void loads_derive_from_the_energy(void **unused)
{
    (void)unused;
    for (int trial = 0; trial < 10; trial++) {
        yk_beam beam;
        yk_frame node[3];
        yk_beam_loads loads;
        odd_beam(&beam, node, 0.8);
        beam.damped = false;
        evaluate(&beam, node, &loads, NULL);
        double scale = yk_v3_norm(loads.force[0]) + yk_v3_norm(loads.torque[1]);
        for (int j = 0; j < 18; j++) {
            static const double place[4] = {-2, -1, 1, 2},
                                weight[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
            double slope = 0, step = 1e-3;
            for (int k = 0; k < 4; k++) {
                yk_frame moved[3];
                yk_beam_loads there;
                memcpy(moved, node, sizeof moved);
                perturb(moved, j, false, place[k] * step);
                evaluate(&beam, moved, &there, NULL);
                slope += weight[k] / step * there.energy;
            }
            assert_near(load(&loads, j), -slope, 1e-8 * scale);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_shape_has_no_load),
        cmocka_unit_test(rigid_motion_is_invisible),
        cmocka_unit_test(loads_balance),
        cmocka_unit_test(jacobian_is_exact),
        cmocka_unit_test(offset_is_a_lever),
        cmocka_unit_test(proportional_damping_lags),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(one_beam_is_exact_for_small_end_loads),
        cmocka_unit_test(constant_strain_patches),
        cmocka_unit_test(constant_shear_patch),
        cmocka_unit_test(end_moment_closes_a_circle),
        cmocka_unit_test(elastica_under_a_large_tip_load),
        cmocka_unit_test(inclined_blade_bends_and_twists),
        cmocka_unit_test(coupled_sections_match_the_rod),
        cmocka_unit_test(curved_and_twisted_reference),
        cmocka_unit_test(lumps_add_up_to_the_beam),
        cmocka_unit_test(stepped_beam_keeps_its_centre),
        cmocka_unit_test(stiffness_is_symmetric_at_any_slenderness),
        cmocka_unit_test(loads_derive_from_the_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
