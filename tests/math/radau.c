/* The Radau IIA step: order 5, stiff problems, an error estimate of order 3, and reported failures. */
#include "math/integrators.h"

#include <math.h>

#include "test.h"

static const double scale[YK_RADAU_SIZE_MAX] = {1, 1, 1, 1};

/* A pendulum with damping: smooth and nonlinear. */
static void pendulum_rate(void *user, double t, const double *y, double *rate)
{
    (void)user;
    rate[0] = y[1];
    rate[1] = -4 * sin(y[0]) - 0.3 * y[1] * y[1] * y[1] + 0.5 * cos(t);
}

static void pendulum_jacobian(void *user, double t, const double *y, double *jacobian)
{
    (void)user, (void)t;
    jacobian[0] = 0, jacobian[1] = 1;
    jacobian[2] = -4 * cos(y[0]), jacobian[3] = -0.9 * y[1] * y[1];
}

/* Prothero and Robinson: y = sin(t) for every stiffness. */
static void stiff_rate(void *user, double t, const double *y, double *rate)
{
    rate[0] = *(const double *)user * (sin(t) - y[0]) + cos(t);
}

static void stiff_jacobian(void *user, double t, const double *y, double *jacobian)
{
    (void)t, (void)y;
    jacobian[0] = -*(const double *)user;
}

static double run_pendulum(int steps, double *quadrature)
{
    yk_radau_problem problem = {2, pendulum_rate, pendulum_jacobian, NULL, scale};
    double y[2] = {1.2, 0}, h = 2.0 / steps;
    *quadrature = 0;
    for (int i = 0; i < steps; i++) {
        double stage[YK_RADAU_STAGES][YK_RADAU_SIZE_MAX];
        assert_int_equal(yk_radau_take(&problem, i * h, h, y, stage), YK_OK);
        for (int k = 0; k < YK_RADAU_STAGES; k++)
            *quadrature += h * yk_radau_weight[k] * stage[k][1];
        y[0] = stage[2][0], y[1] = stage[2][1];
    }
    /* The integral of the velocity is the way, which is a component: exact to the solver's
     * tolerance. */
    assert_near(*quadrature, y[0] - 1.2, 1e-10);
    return y[0];
}

static void order_is_five(void **state)
{
    (void)state;
    double q, coarse = run_pendulum(10, &q), middle = run_pendulum(20, &q),
              fine = run_pendulum(40, &q);
    double order = log2(fabs(coarse - middle) / fabs(middle - fine));
    if (!(order > 4.7))
        print_error("order %g\n", order);
    assert_true(order > 4.7);
}

static void stiff_solutions_are_followed(void **state)
{
    (void)state;
    double lambda = 1e8, y = 0;
    yk_radau_problem problem = {1, stiff_rate, stiff_jacobian, &lambda, scale};
    for (int i = 0; i < 20; i++) {
        double stage[YK_RADAU_STAGES][YK_RADAU_SIZE_MAX];
        assert_int_equal(yk_radau_take(&problem, 0.1 * i, 0.1, &y, stage), YK_OK);
        y = stage[2][0];
        assert_near(y, sin(0.1 * (i + 1)), 1e-9);
    }
    /* Off the solution by one: of the difference a step leaves 3 / (lambda h). */
    double stage[YK_RADAU_STAGES][YK_RADAU_SIZE_MAX];
    y += 1;
    assert_int_equal(yk_radau_take(&problem, 2, 0.1, &y, stage), YK_OK);
    assert_near(stage[2][0], sin(2.1), 4e-7);
}

static void the_estimate_is_of_order_three(void **state)
{
    (void)state;
    yk_radau_problem problem = {2, pendulum_rate, pendulum_jacobian, NULL, scale};
    double y[2] = {1.2, -0.4}, size[2];
    for (int i = 0; i < 2; i++) {
        double h = 0.1 / (1 << i), error[2];
        double stage[YK_RADAU_STAGES][YK_RADAU_SIZE_MAX];
        assert_int_equal(yk_radau_take(&problem, 0, h, y, stage), YK_OK);
        assert_int_equal(yk_radau_error(&problem, 0, h, y, stage, error), YK_OK);
        size[i] = fmax(fabs(error[0]), fabs(error[1]));
    }
    assert_true(size[0] > 1e-9);
    assert_near(log2(size[0] / size[1]), 4, 0.3);
}

static void not_a_number(void *user, double t, const double *y, double *rate)
{
    (void)user, (void)t, (void)y;
    rate[0] = NAN;
}

static void what_cannot_be_solved_is_said(void **state)
{
    (void)state;
    double lambda = 1, y = 0;
    yk_radau_problem problem = {1, not_a_number, stiff_jacobian, &lambda, scale};
    double stage[YK_RADAU_STAGES][YK_RADAU_SIZE_MAX];
    assert_int_equal(yk_radau_take(&problem, 0, 0.1, &y, stage), YK_NOT_CONVERGED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_five),
        cmocka_unit_test(stiff_solutions_are_followed),
        cmocka_unit_test(the_estimate_is_of_order_three),
        cmocka_unit_test(what_cannot_be_solved_is_said),
    };
    return cmocka_run_group_tests_name("radau", tests, NULL, NULL);
}
