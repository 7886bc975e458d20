/* Exponential, logarithm and tangents of SO(3) from 0 to pi, Cayley-Gibbs-Rodrigues parameters,
 * SLERP. */
#include "math/so3.h"

#include "test.h"

static const double angles[] = {
    0,         1e-300, 1e-160, 1e-12, 1e-8,         1e-4,         0.01,          0.5,
    1.9999999, 2.0,    2.1,    3,     YK_PI - 1e-4, YK_PI - 1e-8, YK_PI - 1e-10, YK_PI - 1e-15};
enum { ANGLES = sizeof angles / sizeof *angles };

static const yk_vec3 directions[] = {{1, 0, 0},       {0, -1, 0},    {0, 0, 1},
                                     {0.6, 0, -0.8},  {0, 0.6, 0.8}, {-2 / 3.0, 1 / 3.0, 2 / 3.0},
                                     {1e-9, 1, -1e-9}};
enum { DIRECTIONS = sizeof directions / sizeof *directions };

static yk_vec3 rotation(int angle, int direction)
{
    return yk_v3_scale(angles[angle], yk_v3_unit(directions[direction]));
}

static void assert_vectors(yk_vec3 actual, yk_vec3 expected, double tolerance)
{
    assert_near(actual.x, expected.x, tolerance);
    assert_near(actual.y, expected.y, tolerance);
    assert_near(actual.z, expected.z, tolerance);
}

static void assert_matrices(yk_mat3 actual, yk_mat3 expected, double tolerance)
{
    for (int i = 0; i < 3; i++)
        assert_vectors(yk_m3_row(&actual, i), yk_m3_row(&expected, i), tolerance);
}

static void assert_same_rotation(yk_quat a, yk_quat b, double tolerance)
{
    double sign = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z < 0 ? -1 : 1;
    assert_near(a.w, sign * b.w, tolerance);
    assert_vectors(yk_v3(a.x, a.y, a.z), yk_v3_scale(sign, yk_v3(b.x, b.y, b.z)), tolerance);
}

static void logarithm_inverts_the_exponential_at_every_angle(void **state)
{
    (void)state;
    for (int i = 0; i < ANGLES; i++)
        for (int j = 0; j < DIRECTIONS; j++) {
            yk_vec3 theta = rotation(i, j);
            /* Relative to the angle, so that the tiny ones count too. */
            assert_vectors(yk_so3_log(yk_so3_exp(theta)), theta, 4e-16 * angles[i]);
        }
}

static void logarithm_of_a_matrix_is_as_good_as_the_matrix(void **state)
{
    (void)state;
    for (int i = 0; i < ANGLES; i++)
        for (int j = 0; j < DIRECTIONS; j++) {
            yk_vec3 theta = rotation(i, j);
            /* Entries near one hide up to half a rounding unit; small angles sit in the
             * off-diagonal alone. */
            double tolerance = angles[i] < 1e-3 ? 1e-15 * angles[i] : 2e-15;
            assert_vectors(yk_so3_log_matrix(yk_so3_exp_matrix(theta)), theta, tolerance);
        }
}

static void half_turns_have_one_logarithm(void **state)
{
    (void)state;
    for (int j = 0; j < DIRECTIONS; j++) {
        yk_vec3 e = yk_v3_unit(directions[j]);
        yk_vec3 theta = yk_so3_log((yk_quat){0, e.x, e.y, e.z});
        yk_vec3 opposite = yk_so3_log((yk_quat){0, -e.x, -e.y, -e.z});
        assert_vectors(theta, opposite, 0);
        assert_near(yk_v3_norm(theta), YK_PI, 1e-15);
        assert_near(fabs(yk_v3_dot(theta, e)), YK_PI, 1e-15);
        yk_mat3 half_rotation = yk_m3_sub(yk_m3_scale(2, yk_m3_outer(e, e)), yk_m3_identity());
        assert_near(fabs(yk_v3_dot(yk_so3_log_matrix(half_rotation), e)), YK_PI, 2e-15);
    }
}

static void antipodal_quaternions_have_the_same_logarithm(void **state)
{
    (void)state;
    for (int i = 0; i < ANGLES; i++)
        for (int j = 0; j < DIRECTIONS; j++) {
            yk_quat q = yk_so3_exp(rotation(i, j));
            assert_vectors(yk_so3_log(q), yk_so3_log((yk_quat){-q.w, -q.x, -q.y, -q.z}), 0);
        }
}

static void angles_beyond_pi_come_back_the_short_way(void **state)
{
    (void)state;
    yk_vec3 e = yk_v3_unit(directions[5]);
    yk_vec3 theta = yk_so3_log(yk_so3_exp(yk_v3_scale(YK_PI + 0.25, e)));
    assert_vectors(theta, yk_v3_scale(-(YK_PI - 0.25), e), 1e-15);
}

static void exponential_agrees_with_known_rotations(void **state)
{
    (void)state;
    yk_mat3 quarter = yk_so3_exp_matrix(yk_v3(0, 0, YK_PI / 2));
    assert_matrices(quarter, (yk_mat3){{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}}, 3e-16);
    /* A third of a rotation about the space diagonal permutes the axes. */
    double c = 2 * YK_PI / 3 / sqrt(3);
    assert_matrices(yk_so3_exp_matrix(yk_v3(c, c, c)), (yk_mat3){{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}},
                    5e-16);
}

static void quaternion_of_a_matrix_survives_every_largest_component(void **state)
{
    (void)state;
    const yk_quat samples[] = {{0.9, 0.1, -0.2, 0.3},   {0.1, 0.9, -0.2, 0.3},
                               {0.1, -0.2, 0.9, 0.3},   {0.1, 0.2, -0.3, 0.9},
                               {0.5, 0.5, 0.5, 0.5},    {0.5, -0.5, 0.5, -0.5},
                               {1e-9, 0.7, -0.7, 1e-5}, {0, 0, 0.6, -0.8}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        yk_quat q = yk_q_unit(samples[i]);
        yk_quat back = yk_so3_quat(yk_q_matrix(q));
        assert_true(back.w >= 0);
        assert_same_rotation(back, q, 4e-16);
    }
}

/* omega of the exponential by central differences: exp(theta + d) exp(theta - d)^-1 = exp(2 omega
 * dt). */
static yk_vec3 difference_of_exponentials(yk_vec3 theta, yk_vec3 rate, double step)
{
    yk_quat after = yk_so3_exp(yk_v3_axpy(step, rate, theta)),
            before = yk_so3_exp(yk_v3_axpy(-step, rate, theta));
    return yk_v3_scale(0.5 / step, yk_so3_log(yk_q_mul(after, yk_q_conjugate(before))));
}

/* Fourth order, from steps h and 2h. */
static yk_vec3 extrapolated(yk_vec3 fine, yk_vec3 coarse)
{
    return yk_v3_scale(1.0 / 3, yk_v3_sub(yk_v3_scale(4, fine), coarse));
}

static void tangent_is_the_derivative_of_the_exponential(void **state)
{
    (void)state;
    const yk_vec3 rate = {0.3, -0.7, 0.5};
    for (int i = 0; i < ANGLES; i++)
        for (int j = 0; j < DIRECTIONS; j++) {
            yk_vec3 theta = rotation(i, j);
            yk_vec3 expected = extrapolated(difference_of_exponentials(theta, rate, 1e-3),
                                            difference_of_exponentials(theta, rate, 2e-3));
            assert_vectors(yk_m3_apply(yk_so3_left_tangent(theta), rate), expected, 2e-12);
        }
}

static void tangent_times_its_inverse_is_the_identity(void **state)
{
    (void)state;
    for (int i = 0; i < ANGLES; i++)
        for (int j = 0; j < DIRECTIONS; j++) {
            yk_vec3 theta = rotation(i, j);
            yk_mat3 product =
                yk_m3_mul(yk_so3_left_tangent(theta), yk_so3_left_tangent_inverse(theta));
            assert_matrices(product, yk_m3_identity(), 2e-15);
        }
}

/* R(theta) T(theta)^T = T(theta): ties the tangent to the exponential without differences. */
static void tangent_and_its_transpose_differ_by_the_rotation(void **state)
{
    (void)state;
    for (int i = 0; i < ANGLES; i++)
        for (int j = 0; j < DIRECTIONS; j++) {
            yk_vec3 theta = rotation(i, j);
            yk_mat3 tangent = yk_so3_left_tangent(theta);
            assert_matrices(yk_m3_mul(yk_so3_exp_matrix(theta), yk_m3_transpose(tangent)), tangent,
                            2e-15);
        }
}

static yk_vec3 tangent_column(yk_vec3 theta, yk_vec3 rate, double time, yk_vec3 v)
{
    return yk_m3_apply(yk_so3_left_tangent(yk_v3_axpy(time, rate, theta)), v);
}

static yk_vec3 difference_of_tangents(yk_vec3 theta, yk_vec3 rate, double step, yk_vec3 v)
{
    return yk_v3_scale(0.5 / step, yk_v3_sub(tangent_column(theta, rate, step, v),
                                             tangent_column(theta, rate, -step, v)));
}

static void tangent_rate_is_the_derivative_of_the_tangent(void **state)
{
    (void)state;
    const yk_vec3 rate = {0.3, -0.7, 0.5}, v = {-0.2, 0.4, 0.9};
    for (int i = 0; i < ANGLES; i++)
        for (int j = 0; j < DIRECTIONS; j++) {
            yk_vec3 theta = rotation(i, j);
            yk_vec3 expected = extrapolated(difference_of_tangents(theta, rate, 1e-3, v),
                                            difference_of_tangents(theta, rate, 2e-3, v));
            assert_vectors(yk_m3_apply(yk_so3_left_tangent_rate(theta, rate), v), expected, 2e-12);
        }
}

static void tangents_agree_on_both_sides_of_the_switch(void **state)
{
    (void)state;
    /* Series below two radians, sine and cosine above: across the switch only the slope may
     * show. */
    const yk_vec3 e = {0.6, 0, -0.8}, rate = {0.3, -0.7, 0.5};
    yk_vec3 below = yk_v3_scale(2 - 1e-14, e), above = yk_v3_scale(2 + 1e-14, e);
    assert_matrices(yk_so3_left_tangent(below), yk_so3_left_tangent(above), 3e-14);
    assert_matrices(yk_so3_left_tangent_inverse(below), yk_so3_left_tangent_inverse(above), 3e-14);
    assert_matrices(yk_so3_left_tangent_rate(below, rate), yk_so3_left_tangent_rate(above, rate),
                    3e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithm_inverts_the_exponential_at_every_angle),
        cmocka_unit_test(logarithm_of_a_matrix_is_as_good_as_the_matrix),
        cmocka_unit_test(half_turns_have_one_logarithm),
        cmocka_unit_test(antipodal_quaternions_have_the_same_logarithm),
        cmocka_unit_test(angles_beyond_pi_come_back_the_short_way),
        cmocka_unit_test(exponential_agrees_with_known_rotations),
        cmocka_unit_test(quaternion_of_a_matrix_survives_every_largest_component),
        cmocka_unit_test(tangent_is_the_derivative_of_the_exponential),
        cmocka_unit_test(tangent_times_its_inverse_is_the_identity),
        cmocka_unit_test(tangent_and_its_transpose_differ_by_the_rotation),
        cmocka_unit_test(tangent_rate_is_the_derivative_of_the_tangent),
        cmocka_unit_test(tangents_agree_on_both_sides_of_the_switch),
    };
    return cmocka_run_group_tests_name("so3", tests, NULL, NULL);
}
