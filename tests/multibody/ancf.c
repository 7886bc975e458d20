/* The rod in absolute nodal coordinates as an element, and in statics. */
#include "multibody/ancf.h"

#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "math/dense.h"
#include "math/eigen.h"
#include "math/so3.h"
#include "test.h"

enum { ELEMENTS_MAX = 8, ALL_MAX = 12 + 18 * ELEMENTS_MAX };

static yk_beam_section_def steel(double width_y, double width_z)
{
    yk_beam_section_def section = yk_beam_section_default();
    section.young_modulus = 207e9, section.poisson_ratio = 0.29, section.density = 7870;
    yk_beam_section_set_rectangle(&section, width_y, width_z);
    return section;
}

static const yk_frame tilted = {
    .position = {0.1, -0.2, 0.3}, .velocity = {1, 2, -1}, .angular_velocity = {3, -2, 4}};

static yk_ancf element_at(yk_context *context, const yk_beam_section_def *section, double length,
                          double *coordinates, double *rates)
{
    yk_frame start = tilted;
    start.rotation = yk_so3_exp_matrix(yk_v3(0.5, 1.1, -0.7));
    yk_ancf element;
    yk_ancf_straight(&start, 0, length, coordinates, rates);
    assert_int_equal(yk_ancf_create(context, length, section, coordinates, &element), YK_OK);
    return element;
}

/* Element -------------------------------------------------------------------------------------- */

static void rigid_motion_has_no_strain(void **state)
{
    yk_beam_section_def section = steel(0.01, 0.02);
    section.rayleigh_beta = 1e-3;
    double q[YK_ANCF_COORDINATES], v[YK_ANCF_COORDINATES];
    yk_ancf element = element_at(*state, &section, 0.2, q, v);
    /* turned by more than half a rotation and moved away, still turning */
    yk_frame start = {
        .position = {5, -7, 2}, .velocity = {3, 1, 2}, .angular_velocity = {-20, 30, 10}};
    start.rotation = yk_so3_exp_matrix(yk_v3(2, -2, 2.5));
    yk_ancf_straight(&start, 0.4, 0.2, q, v);
    yk_ancf_loads loads;
    yk_ancf_evaluate(&element, q, v, &loads);
    double stiff = section.young_modulus * section.area;
    for (int i = 0; i < YK_ANCF_COORDINATES; i++)
        assert_near(loads.force[i], 0, 1e-13 * stiff);
    assert_near(loads.energy, 0, 1e-20 * stiff);
}

static void mass_is_that_of_the_rod(void **state)
{
    yk_beam_section_def section = steel(0.01, 0.02);
    double q[YK_ANCF_COORDINATES], v[YK_ANCF_COORDINATES];
    yk_ancf element = element_at(*state, &section, 0.2, q, v);
    double kinetic = 0, line = section.density * section.area;
    for (int i = 0; i < YK_ANCF_VECTORS; i++)
        for (int j = 0; j < YK_ANCF_VECTORS; j++)
            for (int k = 0; k < 3; k++)
                kinetic += 0.5 * element.mass[i][j] * v[3 * i + k] * v[3 * j + k];
    /* the rigid rod, about its start */
    double m = line * 0.2,
           axial = section.density * (section.area_moment_y + section.area_moment_z) * 0.2;
    yk_mat3 rotation = yk_so3_exp_matrix(yk_v3(0.5, 1.1, -0.7));
    yk_vec3 w = yk_m3_apply_transposed(rotation, tilted.angular_velocity),
            u = yk_m3_apply_transposed(rotation, tilted.velocity);
    double across = m * 0.04 / 3;
    double j_y = across + section.density * section.area_moment_y * 0.2,
           j_z = across + section.density * section.area_moment_z * 0.2;
    double expected = 0.5 * m * yk_v3_norm2(u) +
                      0.5 * (axial * w.x * w.x + j_y * w.y * w.y + j_z * w.z * w.z) +
                      m * yk_v3_dot(u, yk_v3_cross(w, yk_v3(0.1, 0, 0)));
    assert_relative(kinetic, expected, 1e-12);
    double weight = 0;
    for (int i = 0; i < YK_ANCF_VECTORS; i++)
        weight += element.weight[i] * (i == 0 || i == 6);
    assert_relative(weight, m, 1e-13);
}

static void bend(double *q, double *v, double size)
{
    for (int i = 0; i < YK_ANCF_COORDINATES; i++) {
        q[i] += size * sin(3 + 5 * i);
        v[i] += 10 * size * cos(1 + 3 * i);
    }
}

static void tangents_are_derivatives(void **state)
{
    yk_beam_section_def section = steel(0.05, 0.03);
    section.young_modulus = 1e6;
    section.rayleigh_beta = 0.02;
    double q[YK_ANCF_COORDINATES], v[YK_ANCF_COORDINATES], h = 1e-6;
    yk_ancf element = element_at(*state, &section, 0.2, q, v);
    bend(q, v, 0.02);
    double pose[YK_ANCF_COORDINATES][YK_ANCF_COORDINATES],
        rate[YK_ANCF_COORDINATES][YK_ANCF_COORDINATES];
    yk_ancf_tangent(&element, q, v, pose, rate);
    double size = 0;
    for (int i = 0; i < YK_ANCF_COORDINATES; i++)
        for (int j = 0; j < YK_ANCF_COORDINATES; j++)
            size = fmax(size, fabs(pose[i][j]));
    for (int level = 0; level < 2; level++)
        for (int k = 0; k < YK_ANCF_COORDINATES; k++) {
            double *moved = level ? v : q, keep = moved[k];
            yk_ancf_loads plus, minus;
            moved[k] = keep + h;
            yk_ancf_evaluate(&element, q, v, &plus);
            moved[k] = keep - h;
            yk_ancf_evaluate(&element, q, v, &minus);
            moved[k] = keep;
            for (int i = 0; i < YK_ANCF_COORDINATES; i++)
                assert_near(level ? rate[i][k] : pose[i][k],
                            (plus.force[i] - minus.force[i]) / (2 * h), 2e-9 * size);
        }
}

static void power_is_rate_of_energy(void **state)
{
    yk_beam_section_def section = steel(0.05, 0.03);
    section.young_modulus = 1e6;
    section.rayleigh_beta = 0.02;
    double q[YK_ANCF_COORDINATES], v[YK_ANCF_COORDINATES], moved[YK_ANCF_COORDINATES], h = 1e-6;
    yk_ancf element = element_at(*state, &section, 0.2, q, v);
    bend(q, v, 0.02);
    yk_ancf_loads loads, side[2];
    yk_ancf_evaluate(&element, q, v, &loads);
    double power = 0;
    for (int i = 0; i < YK_ANCF_COORDINATES; i++)
        power -= loads.force[i] * v[i];
    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < YK_ANCF_COORDINATES; i++)
            moved[i] = q[i] + (s ? h : -h) * v[i];
        yk_ancf_evaluate(&element, moved, v, &side[s]);
    }
    double change = (side[1].energy - side[0].energy) / (2 * h);
    assert_near(change + loads.loss, power, 1e-7 * (fabs(change) + loads.loss));
    assert_true(loads.loss > 0);
}

/* Section frame -------------------------------------------------------------------------------- */

static void fill_section(double *q, double *v)
{
    static const double value[YK_ANCF_SECTION] = {0.1, 0.2, 0.3, 0.1, 0.9, 0.2, -0.2, 0.1, 1.1};
    for (int i = 0; i < YK_ANCF_SECTION; i++)
        q[i] = value[i], v[i] = 2 * sin(1 + 2 * i);
}

static void section_frame_follows_its_gradients(void **state)
{
    (void)state;
    double q[YK_ANCF_SECTION], v[YK_ANCF_SECTION], jacobian[6 * YK_ANCF_SECTION], h = 1e-5;
    fill_section(q, v);
    yk_frame here, side[2];
    yk_ancf_section_pose(q, v, &here, jacobian);
    yk_mat3 unit = yk_m3_mul(yk_m3_transpose(here.rotation), here.rotation);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            assert_near(unit.m[i][j], i == j, 1e-14);
    for (int s = 0; s < 2; s++) {
        double moved[YK_ANCF_SECTION];
        for (int i = 0; i < YK_ANCF_SECTION; i++)
            moved[i] = q[i] + (s ? h : -h) * v[i];
        yk_ancf_section_pose(moved, v, &side[s], NULL);
    }
    yk_vec3 rotated = yk_v3_scale(
        0.5 / h, yk_so3_log_matrix(yk_m3_mul(side[1].rotation, yk_m3_transpose(side[0].rotation))));
    assert_near(yk_v3_norm(yk_v3_sub(rotated, here.angular_velocity)), 0, 1e-8);
    double spin = 0;
    for (int j = 0; j < YK_ANCF_SECTION; j++)
        spin += jacobian[YK_ANCF_SECTION * 4 + j] * v[j];
    assert_near(spin, here.angular_velocity.y, 1e-14);
    yk_vec3 acceleration, swing;
    yk_ancf_section_bias(q, v, &acceleration, &swing);
    rotated = yk_v3_scale(0.5 / h, yk_v3_sub(side[1].angular_velocity, side[0].angular_velocity));
    assert_near(yk_v3_norm(yk_v3_sub(rotated, swing)), 0, 1e-6);
}

static void section_stiffness_is_a_derivative(void **state)
{
    (void)state;
    double q[YK_ANCF_SECTION], v[YK_ANCF_SECTION], tangent[YK_ANCF_SECTION * YK_ANCF_SECTION] = {0},
                                                                             h = 1e-6;
    const yk_vec3 torque = {3, -2, 5};
    const double load[3] = {3, -2, 5};
    fill_section(q, v);
    yk_ancf_section_stiffness(q, torque, 2, tangent);
    for (int k = 0; k < YK_ANCF_SECTION; k++) {
        double general[2][YK_ANCF_SECTION] = {{0}}, keep = q[k];
        for (int s = 0; s < 2; s++) {
            double jacobian[6 * YK_ANCF_SECTION];
            yk_frame placed;
            q[k] = keep + (s ? h : -h);
            yk_ancf_section_pose(q, v, &placed, jacobian);
            for (int j = 0; j < YK_ANCF_SECTION; j++)
                for (int i = 0; i < 3; i++)
                    general[s][j] += jacobian[YK_ANCF_SECTION * (3 + i) + j] * load[i];
        }
        q[k] = keep;
        for (int j = 0; j < YK_ANCF_SECTION; j++)
            assert_near(tangent[YK_ANCF_SECTION * j + k],
                        2 * (general[1][j] - general[0][j]) / (2 * h), 1e-7);
    }
}

/* Cantilever ----------------------------------------------------------------------------------- */

typedef struct rod {
    int elements, all;
    yk_ancf element[ELEMENTS_MAX];
    double q[ALL_MAX], force[ALL_MAX];
    double matrix[ALL_MAX * ALL_MAX], mass[ALL_MAX * ALL_MAX];
    bool fixed[ALL_MAX];
} rod;

static rod *make_rod(yk_context *context, int elements, double length,
                     const yk_beam_section_def *section)
{
    rod *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->elements = elements, r->all = 12 + 18 * elements;
    yk_frame start = {.rotation = yk_m3_identity()};
    double part = length / elements;
    for (int e = 0; e < elements; e++) {
        yk_ancf_straight(&start, e * part, part, r->q + 18 * e, NULL);
        assert_int_equal(yk_ancf_create(context, part, section, r->q + 18 * e, &r->element[e]),
                         YK_OK);
    }
    /* clamped: the place and the axes of the section, which may get thinner */
    static const int held[] = {0, 1, 2, 6, 8, 9, 10};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++)
        r->fixed[held[i]] = true;
    return r;
}

static void assemble(rod *r)
{
    memset(r->matrix, 0, sizeof r->matrix);
    memset(r->mass, 0, sizeof r->mass);
    memset(r->force, 0, sizeof r->force);
    for (int e = 0; e < r->elements; e++) {
        double tangent[YK_ANCF_COORDINATES][YK_ANCF_COORDINATES];
        yk_ancf_loads loads;
        const double *q = r->q + 18 * e;
        yk_ancf_evaluate(&r->element[e], q, NULL, &loads);
        yk_ancf_tangent(&r->element[e], q, NULL, tangent, NULL);
        for (int i = 0; i < YK_ANCF_COORDINATES; i++) {
            r->force[18 * e + i] += loads.force[i];
            for (int j = 0; j < YK_ANCF_COORDINATES; j++) {
                int at = r->all * (18 * e + i) + 18 * e + j;
                r->matrix[at] -= tangent[i][j];
                if (i % 3 == j % 3)
                    r->mass[at] += r->element[e].mass[i / 3][j / 3];
            }
        }
    }
}

/* Newton's method under a force on the tip and a torque on its section, in `steps` equal parts. */
static void equilibrium(rod *r, yk_vec3 force, yk_vec3 torque, int steps)
{
    static double matrix[ALL_MAX * ALL_MAX], change[ALL_MAX];
    static int pivot[ALL_MAX];
    int n = r->all, tip = n - 12;
    for (int step = 1; step <= steps; step++)
        for (int k = 0; k < 40; k++) {
            assemble(r);
            double fraction = (double)step / steps, size = 0, jacobian[6 * YK_ANCF_SECTION];
            double stiffness[YK_ANCF_SECTION * YK_ANCF_SECTION] = {0}, section[YK_ANCF_SECTION],
                                               rates[9] = {0};
            static const int place[YK_ANCF_SECTION] = {0, 1, 2, 6, 7, 8, 9, 10, 11};
            for (int i = 0; i < YK_ANCF_SECTION; i++)
                section[i] = r->q[tip + place[i]];
            yk_frame placed;
            yk_ancf_section_pose(section, rates, &placed, jacobian);
            yk_ancf_section_stiffness(section, torque, fraction, stiffness);
            const double load[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
            for (int i = 0; i < YK_ANCF_SECTION; i++) {
                for (int c = 0; c < 6; c++)
                    r->force[tip + place[i]] +=
                        fraction * load[c] * jacobian[YK_ANCF_SECTION * c + i];
                for (int j = 0; j < YK_ANCF_SECTION; j++)
                    r->matrix[n * (tip + place[i]) + tip + place[j]] -=
                        stiffness[YK_ANCF_SECTION * i + j];
            }
            memcpy(matrix, r->matrix, sizeof matrix);
            memcpy(change, r->force, sizeof change);
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n && r->fixed[i]; j++) {
                    matrix[n * i + j] = matrix[n * j + i] = i == j;
                    change[i] = 0;
                }
            assert_int_equal(yk_lu_factor(n, matrix, pivot), YK_OK);
            yk_lu_solve(n, matrix, pivot, change);
            for (int i = 0; i < n; i++)
                r->q[i] += change[i], size = fmax(size, fabs(change[i]));
            if (size < 1e-11)
                break;
            assert_true(k < 39);
        }
}

static yk_vec3 tip_of(const rod *r)
{
    const double *q = r->q + r->all - 12;
    return yk_v3(q[0], q[1], q[2]);
}

static void small_deflections_are_those_of_beam_theory(void **state)
{
    yk_beam_section_def section = steel(0.01, 0.02);
    double shear = 0.5 * section.young_modulus / (1 + section.poisson_ratio), l = 0.5;
    double y = l * l * l / (3 * section.young_modulus * section.area_moment_z) +
               l / (shear * section.area * section.shear_factor_y);
    double z = l * l * l / (3 * section.young_modulus * section.area_moment_y) +
               l / (shear * section.area * section.shear_factor_z);
    for (int elements = 1; elements <= 4; elements *= 2) {
        rod *r = make_rod(*state, elements, l, &section);
        equilibrium(r, yk_v3(0, 1e-3, 1e-3), yk_v3(0, 0, 0), 1);
        assert_relative(tip_of(r).y, 1e-3 * y, 1e-6);
        assert_relative(tip_of(r).z, 1e-3 * z, 1e-6);
        free(r);
        r = make_rod(*state, elements, l, &section);
        equilibrium(r, yk_v3(10, 0, 0), yk_v3(1e-3, 0, 0), 1);
        assert_relative(tip_of(r).x - l, 10 * l / (section.young_modulus * section.area), 2e-4);
        const double *q = r->q + r->all - 12;
        assert_relative(q[8], 1e-3 * l / (shear * section.torsion_constant), 2e-3);
        free(r);
    }
}

/* A cantilever that a moment at its end rolls up to a full circle. */
static void moment_rolls_up_to_a_circle(void **state)
{
    yk_beam_section_def section = steel(0.002, 0.004);
    double l = 1, moment = 2 * YK_PI * section.young_modulus * section.area_moment_z / l, gap[2];
    for (int k = 0; k < 2; k++) {
        rod *r = make_rod(*state, k ? 8 : 4, l, &section);
        equilibrium(r, yk_v3(0, 0, 0), yk_v3(0, 0, moment), 16);
        gap[k] = yk_v3_norm(tip_of(r));
        free(r);
    }
    assert_true(gap[1] < 2e-3);
    assert_true(gap[1] < gap[0] / 8); /* at least third order */
}

static double frequency(const rod *r, yk_context *context, int number)
{
    static double a[ALL_MAX * ALL_MAX], b[ALL_MAX * ALL_MAX], values[ALL_MAX];
    int n = 0, free_one[ALL_MAX];
    for (int i = 0; i < r->all; i++)
        if (!r->fixed[i])
            free_one[n++] = i;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            a[n * i + j] = r->matrix[r->all * free_one[i] + free_one[j]];
            b[n * i + j] = r->mass[r->all * free_one[i] + free_one[j]];
        }
    assert_int_equal(yk_eigen_symmetric_pair(context, n, a, b, values), YK_OK);
    return sqrt(values[number]);
}

/* A slender cantilever of different widths: bending frequencies of both planes, from Euler and
 * Bernoulli. */
static void frequencies_converge_to_beam_theory(void **state)
{
    yk_beam_section_def section = steel(0.002, 0.003);
    double l = 0.5, wave = sqrt(section.young_modulus * section.area_moment_z /
                                (section.density * section.area)) /
                           (l * l);
    static const double root[2] = {1.8751040687119611, 4.6940911329741745};
    double error[4];
    for (int k = 0; k < 4; k++) {
        rod *r = make_rod(*state, 1 << k, l, &section);
        assemble(r);
        assert_relative(frequency(r, *state, 0), root[0] * root[0] * wave, k ? 5e-4 : 1e-2);
        assert_relative(frequency(r, *state, 1), 1.5 * root[0] * root[0] * wave, k ? 5e-4 : 1e-2);
        error[k] = fabs(frequency(r, *state, 2) / (root[1] * root[1] * wave) - 1);
        free(r);
    }
    assert_true(error[1] < error[0] / 7 && error[2] < error[1] / 7 && error[3] < error[2] / 7);
}

/* Bent and loaded elements keep six and only six motions without energy. */
static void only_rigid_motions_cost_nothing(void **state)
{
    yk_beam_section_def section = steel(0.01, 0.02);
    static double a[ALL_MAX * ALL_MAX], b[ALL_MAX * ALL_MAX], values[ALL_MAX];
    rod *r = make_rod(*state, 1, 0.3, &section);
    assemble(r);
    memcpy(a, r->matrix, sizeof a);
    memcpy(b, r->mass, sizeof b);
    assert_int_equal(yk_eigen_symmetric_pair(*state, r->all, a, b, values), YK_OK);
    for (int i = 0; i < 6; i++)
        assert_near(values[i], 0, 1e-9 * values[6]);
    assert_true(values[6] > 1e3);
    free(r);
}

static void bad_elements_are_refused(void **state)
{
    yk_beam_section_def section = steel(0.01, 0.02);
    double q[YK_ANCF_COORDINATES];
    yk_frame start = {.rotation = yk_m3_identity()};
    yk_ancf element;
    yk_ancf_straight(&start, 0, 1, q, NULL);
    assert_int_equal(yk_ancf_create(*state, 0, &section, q, &element), YK_ERROR_ARGUMENT);
    section.poisson_ratio = 0.5;
    assert_int_equal(yk_ancf_create(*state, 1, &section, q, &element), YK_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rigid_motion_has_no_strain),
        cmocka_unit_test(mass_is_that_of_the_rod),
        cmocka_unit_test(tangents_are_derivatives),
        cmocka_unit_test(power_is_rate_of_energy),
        cmocka_unit_test(section_frame_follows_its_gradients),
        cmocka_unit_test(section_stiffness_is_a_derivative),
        cmocka_unit_test(small_deflections_are_those_of_beam_theory),
        cmocka_unit_test(moment_rolls_up_to_a_circle),
        cmocka_unit_test(frequencies_converge_to_beam_theory),
        cmocka_unit_test(only_rigid_motions_cost_nothing),
        cmocka_unit_test(bad_elements_are_refused),
    };
    return cmocka_run_group_tests(tests, create_context, destroy_context);
}
