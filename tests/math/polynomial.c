/* Polynomials on a step and the motion of signals. */
#include "math/polynomial.h"

#include "inputs.h"
#include "math/so3.h"
#include "test.h"

static const double cubic[4] = {2, -3, 0.5, 4}; /* 2 - 3t + t^2/2 + 4t^3 */

static void derivatives_of_a_cubic(void **state)
{
    (void)state;
    assert_near(yk_poly_value(cubic, 3, 2), 30, 0);
    assert_near(polynomial_rate(cubic, 3, 2), 47, 0);
    assert_near(polynomial_second_rate(cubic, 3, 2), 49, 0);
    assert_near(yk_poly_value(cubic, 0, 2), 2, 0);
    assert_near(polynomial_rate(cubic, 0, 2), 0, 0);
    assert_near(polynomial_second_rate(cubic, 1, 2), 0, 0);
}

static void shift_keeps_the_polynomial(void **state)
{
    (void)state;
    double c[4] = {cubic[0], cubic[1], cubic[2], cubic[3]};
    yk_poly_shift(c, 3, 0.5);
    for (double t = -1; t <= 1; t += 0.125)
        assert_near(yk_poly_value(c, 3, t), yk_poly_value(cubic, 3, t + 0.5), 1e-14);
    yk_poly_shift(c, 3, -0.5);
    for (int i = 0; i < 4; i++)
        assert_near(c[i], cubic[i], 1e-15);
}

static void interpolation_recovers_the_polynomial(void **state)
{
    (void)state;
    const double t[4] = {-2, -1, 0, 1.5};
    for (int degree = 0; degree <= 3; degree++) {
        double y[4], c[4];
        for (int i = 0; i <= degree; i++)
            y[i] = yk_poly_value(cubic, degree, t[i]);
        yk_poly_interpolate(t, y, degree, c);
        for (int i = 0; i <= degree; i++)
            assert_near(c[i], cubic[i], 1e-14);
    }
}

static yk_input scalar_input(int degree)
{
    yk_input input = {.degree = degree};
    for (int i = 0; i < 4; i++)
        input.linear[i].x = cubic[i];
    return input;
}

static void scalar_inputs_agree_with_polynomials(void **state)
{
    (void)state;
    for (int degree = 0; degree <= 3; degree++) {
        yk_input input = scalar_input(degree);
        yk_motion motion = yk_input_motion(&input, YK_PORT_SCALAR, 0.3);
        assert_near(motion.position.x, yk_poly_value(cubic, degree, 0.3), 1e-15);
        assert_near(motion.velocity.x, polynomial_rate(cubic, degree, 0.3), 1e-15);
        assert_near(motion.acceleration.x, polynomial_second_rate(cubic, degree, 0.3), 2e-15);
        assert_near(yk_input_scalar(&input, 0.3), motion.position.x, 0);
        assert_near(yk_input_scalar_rate(&input, 0.3), motion.velocity.x, 1e-15);
        assert_near(yk_input_scalar_second_rate(&input, 0.3), motion.acceleration.x, 2e-15);
    }
    yk_input constant = constant_signal(7), linear = linear_signal(7, -2);
    assert_near(yk_input_scalar(&constant, 5), 7, 0);
    assert_near(yk_input_scalar(&linear, 5), -3, 0);
    assert_near(yk_input_scalar_rate(&linear, 5), -2, 0);
}

static yk_input rotating_input(double angle)
{
    return (yk_input){
        .degree = 3,
        .linear = {{1, 2, 3}, {-1, 0.5, 0.25}, {0.5, 0, -2}, {0.1, 0.2, 0.3}},
        .angular = {{angle * 0.6, 0, -angle * 0.8},
                    {0.4, -1.3, 0.2},
                    {0.7, 0.5, -0.9},
                    {-0.3, 0.8, 0.6}},
        .base_orientation = yk_so3_exp(yk_v3(0.3, 0.2, -0.7)),
    };
}

static void assert_vectors(yk_vec3 actual, yk_vec3 expected, double tolerance)
{
    assert_near(actual.x, expected.x, tolerance);
    assert_near(actual.y, expected.y, tolerance);
    assert_near(actual.z, expected.z, tolerance);
}

static yk_vec3 angular_velocity_by_differences(const yk_input *input, double t, double step)
{
    yk_quat after = yk_input_motion(input, YK_PORT_MARKER, t + step).orientation;
    yk_quat before = yk_input_motion(input, YK_PORT_MARKER, t - step).orientation;
    return yk_v3_scale(0.5 / step, yk_so3_log(yk_q_mul(after, yk_q_conjugate(before))));
}

static yk_vec3 angular_acceleration_by_differences(const yk_input *input, double t, double step)
{
    yk_motion after = yk_input_motion(input, YK_PORT_MARKER, t + step);
    yk_motion before = yk_input_motion(input, YK_PORT_MARKER, t - step);
    return yk_v3_scale(0.5 / step, yk_v3_sub(after.angular_velocity, before.angular_velocity));
}

/* Fourth order, from steps h and 2h. */
static yk_vec3 extrapolated(yk_vec3 fine, yk_vec3 coarse)
{
    return yk_v3_scale(1.0 / 3, yk_v3_sub(yk_v3_scale(4, fine), coarse));
}

static void rotating_inputs_have_consistent_rates(void **state)
{
    (void)state;
    const double angles[] = {0, 1e-9, 0.3, 1.9, 2.5};
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        yk_input input = rotating_input(angles[i]);
        for (double t = 0; t <= 0.4; t += 0.2) {
            yk_motion motion = yk_input_motion(&input, YK_PORT_MARKER, t);
            yk_vec3 velocity = extrapolated(angular_velocity_by_differences(&input, t, 1e-3),
                                            angular_velocity_by_differences(&input, t, 2e-3));
            yk_vec3 acceleration =
                extrapolated(angular_acceleration_by_differences(&input, t, 1e-3),
                             angular_acceleration_by_differences(&input, t, 2e-3));
            assert_vectors(motion.angular_velocity, velocity, 1e-10);
            assert_vectors(motion.angular_acceleration, acceleration, 1e-10);
        }
    }
}

static void shifted_inputs_move_alike(void **state)
{
    (void)state;
    yk_input input = rotating_input(0.8);
    yk_input shifted = yk_input_shift(&input, YK_PORT_MARKER, 0.3);
    yk_motion expected = yk_input_motion(&input, YK_PORT_MARKER, 0.5);
    yk_motion motion = yk_input_motion(&shifted, YK_PORT_MARKER, 0.2);
    assert_vectors(motion.position, expected.position, 2e-15);
    assert_vectors(motion.velocity, expected.velocity, 2e-15);
    assert_vectors(motion.acceleration, expected.acceleration, 4e-15);
    assert_vectors(motion.angular_velocity, expected.angular_velocity, 4e-15);
    assert_vectors(motion.angular_acceleration, expected.angular_acceleration, 8e-15);
    assert_vectors(yk_so3_log(yk_q_mul(motion.orientation, yk_q_conjugate(expected.orientation))),
                   yk_v3(0, 0, 0), 2e-15);
    yk_wrench wrench = yk_input_wrench(&shifted, 0.2), same = yk_input_wrench(&input, 0.5);
    assert_vectors(wrench.force, same.force, 2e-15);
    assert_vectors(wrench.torque, same.torque, 2e-15);
    assert_near(wrench.force.x, expected.position.x, 2e-15);
}

static void reduced_inputs_keep_the_impulse(void **state)
{
    (void)state;
    const double h = 0.7;
    yk_input input = rotating_input(0.8);
    yk_input mean = yk_input_reduce(&input, h, 0), line = yk_input_reduce(&input, h, 1);
    assert_int_equal(mean.degree, 0);
    assert_int_equal(line.degree, 1);
    /* Simpson's rule is exact for cubics. */
    yk_wrench begin = yk_input_wrench(&input, 0), middle = yk_input_wrench(&input, h / 2),
              end = yk_input_wrench(&input, h);
    yk_vec3 expected =
        yk_v3_scale(1.0 / 6, yk_v3_axpy(4, middle.torque, yk_v3_add(begin.torque, end.torque)));
    assert_vectors(yk_input_wrench(&mean, 0).torque, expected, 2e-15);
    assert_vectors(yk_input_wrench(&line, h / 2).torque, expected, 2e-15);
    yk_vec3 change = yk_v3_sub(yk_input_wrench(&line, h).force, yk_input_wrench(&line, 0).force);
    assert_vectors(change, yk_v3_sub(end.force, begin.force), 4e-15);
    yk_input same = yk_input_reduce(&line, h, 1);
    assert_vectors(yk_input_wrench(&same, 0.3).force, yk_input_wrench(&line, 0.3).force, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_of_a_cubic),
        cmocka_unit_test(shift_keeps_the_polynomial),
        cmocka_unit_test(interpolation_recovers_the_polynomial),
        cmocka_unit_test(scalar_inputs_agree_with_polynomials),
        cmocka_unit_test(rotating_inputs_have_consistent_rates),
        cmocka_unit_test(shifted_inputs_move_alike),
        cmocka_unit_test(reduced_inputs_keep_the_impulse),
    };
    return cmocka_run_group_tests_name("polynomial", tests, NULL, NULL);
}
