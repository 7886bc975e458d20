/* The coefficients of the two-step method: order, stability on the imaginary axis, damping at
 * infinity. */
#include "math/integrators.h"

#include <complex.h>

#include "test.h"

/* The larger modulus of the roots of (1 - b0 z) x^2 - (a1 + b1 z) x - (a2 + b2 z) = 0:
 * amplification of y' = lambda y with z = h lambda. */
static double amplification(yk_two_step c, double complex z)
{
    double complex p = (c.a1 + c.b1 * z) / (1 - c.b0 * z), q = (c.a2 + c.b2 * z) / (1 - c.b0 * z);
    double complex root = csqrt(p * p / 4 + q);
    return fmax(cabs(p / 2 + root), cabs(p / 2 - root));
}

static void assert_second_order(yk_two_step c)
{
    /* Exact for y = 1, t, t^2 with t(n) = 0, h = 1. */
    assert_near(c.a1 + c.a2, 1, 1e-15);
    assert_near(-c.a2 + c.b0 + c.b1 + c.b2, 1, 1e-15);
    assert_near(c.a2 + 2 * (c.b0 - c.b2), 1, 1e-15);
}

static void order_is_two_for_every_dissipation(void **state)
{
    (void)state;
    for (int i = 0; i <= 20; i++)
        assert_second_order(yk_two_step_coefficients(i / 20.0));
    assert_second_order(yk_two_step_trapezoidal());
}

static void spectral_radius_at_infinity_is_rho(void **state)
{
    (void)state;
    for (int i = 0; i <= 20; i++) {
        double rho = i / 20.0;
        yk_two_step c = yk_two_step_coefficients(rho);
        /* Both roots of b0 x^2 + b1 x + b2 = 0 have modulus rho (a pair or a double root). */
        assert_near(c.b2 / c.b0, rho * rho, 1e-15);
        assert_near(amplification(c, -1e15), rho, 1e-7); /* a double root costs half the digits */
    }
}

static void no_oscillation_is_amplified(void **state)
{
    (void)state;
    for (int i = 0; i <= 20; i++) {
        yk_two_step c = yk_two_step_coefficients(i / 20.0);
        /* Farther out the two roots close in on each other, and the quadratic formula has fewer
         * digits. */
        for (double wh = 1e-3; wh < 1e3; wh *= 1.3) {
            assert_true(amplification(c, I * wh) <= 1 + 1e-12);
            assert_true(amplification(c, -wh) <= 1 + 1e-12);
        }
    }
}

/* Without dissipation the method keeps amplitudes; with full dissipation it is the second-order
 * BDF. */
static void ends_of_the_range_are_known_methods(void **state)
{
    (void)state;
    yk_two_step none = yk_two_step_coefficients(1), full = yk_two_step_coefficients(0);
    for (double wh = 0.01; wh < 100; wh *= 2)
        assert_near(amplification(none, I * wh), 1, 1e-12);
    assert_near(full.a1, 4 / 3.0, 1e-15);
    assert_near(full.a2, -1 / 3.0, 1e-15);
    assert_near(full.b0, 2 / 3.0, 1e-15);
    assert_near(full.b1, 0, 1e-15);
    assert_near(full.b2, 0, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_two_for_every_dissipation),
        cmocka_unit_test(spectral_radius_at_infinity_is_rho),
        cmocka_unit_test(no_oscillation_is_amplified),
        cmocka_unit_test(ends_of_the_range_are_known_methods),
    };
    return cmocka_run_group_tests_name("two_step", tests, NULL, NULL);
}
