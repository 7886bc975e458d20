/* Acceleration of fixed-point iterations with a known solution: linear maps, and the degenerate
 * cases of the least-squares problem. */
#include "coupling/interface_fixed_point.h"

#include <stdlib.h>

#include "test.h"

static yk_context *context;

enum { N = 6 };

/* H(x) = A x + b with eigenvalues well outside the unit circle: the plain fixed point diverges. */
static void diverging_map(const double *x, double *hx)
{
    for (int i = 0; i < N; i++) {
        hx[i] = 1 + i;
        for (int j = 0; j < N; j++)
            hx[i] += (i == j ? -3.0 - i : 0.3 / (1 + abs(i - j))) * x[j];
    }
}

static double residual_after(yk_acceleration kind, int iterations)
{
    yk_accelerator *a = NULL;
    assert_int_equal(yk_accelerator_create(context, kind, N, N, &a), YK_OK);
    yk_accelerator_restart(a);
    double x[N] = {0}, hx[N], next[N], residual = 0;
    for (int l = 0; l <= iterations; l++) {
        diverging_map(x, hx);
        residual = 0;
        for (int i = 0; i < N; i++)
            residual = fmax(residual, fabs(hx[i] - x[i]));
        yk_accelerator_next(a, x, hx, next);
        for (int i = 0; i < N; i++)
            x[i] = next[i];
    }
    yk_accelerator_destroy(context, a);
    return residual;
}

/* On a linear map of N components the least squares have all there is to know after N
 * differences. */
static void quasi_newton_solves_a_linear_map_in_its_dimension(void **state)
{
    (void)state;
    assert_true(residual_after(YK_ACCELERATION_QUASI_NEWTON, N - 1) > 1e-6);
    assert_true(residual_after(YK_ACCELERATION_QUASI_NEWTON, N + 1) < 1e-9);
}

/* Going on after the fixed point is reached: differences vanish, nothing may become infinite. */
static void quasi_newton_stays_at_the_fixed_point(void **state)
{
    (void)state;
    double residual = residual_after(YK_ACCELERATION_QUASI_NEWTON, 40);
    assert_true(isfinite(residual) && residual < 1e-9);
}

static void aitken_is_the_secant_method_in_one_dimension(void **state)
{
    (void)state;
    yk_accelerator *a = NULL;
    assert_int_equal(yk_accelerator_create(context, YK_ACCELERATION_AITKEN, 1, 1, &a), YK_OK);
    yk_accelerator_restart(a);
    double x = 0, next;
    for (int l = 0; l < 3; l++) {
        double hx = 5 - 40 * x; /* fixed point 5/41 */
        yk_accelerator_next(a, &x, &hx, &next);
        x = next;
    }
    assert_near(x, 5.0 / 41, 1e-14);
    yk_accelerator_destroy(context, a);
}

/* If nothing helps, as on a map that jumps, steps from the best x become ever shorter. */
static void steps_that_do_not_help_become_short(void **state)
{
    (void)state;
    yk_accelerator *a = NULL;
    assert_int_equal(yk_accelerator_create(context, YK_ACCELERATION_QUASI_NEWTON, 2, 2, &a), YK_OK);
    yk_accelerator_restart(a);
    const double best[2] = {3, -2};
    double x[2] = {3, -2}, next[2], longest[2] = {0};
    for (int l = 0; l < 40; l++) {
        /* The residual has length 1 at the best x and 2 everywhere else. */
        double angle = 2.4 * l;
        double hx[2] = {x[0] + (l ? 2 : 1) * cos(angle), x[1] + (l ? 2 : 1) * sin(angle)};
        yk_accelerator_next(a, x, hx, next);
        double step = hypot(next[0] - best[0], next[1] - best[1]);
        if (l < 4)
            longest[0] = fmax(longest[0], step);
        if (l > 35)
            longest[1] = fmax(longest[1], step);
        x[0] = next[0];
        x[1] = next[1];
    }
    assert_true(longest[0] > 0.1);
    assert_true(longest[1] < 1e-6);
    yk_accelerator_destroy(context, a);
}

int main(void)
{
    context = yk_context_create(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quasi_newton_solves_a_linear_map_in_its_dimension),
        cmocka_unit_test(quasi_newton_stays_at_the_fixed_point),
        cmocka_unit_test(aitken_is_the_secant_method_in_one_dimension),
        cmocka_unit_test(steps_that_do_not_help_become_short),
    };
    int failed = cmocka_run_group_tests_name("acceleration", tests, NULL, NULL);
    yk_context_destroy(context);
    return failed;
}
