/* Assembled problems: layout, matrix product, residual, and invalid input that is rejected. */
#include "contact/problem.h"

#include "contact/problems.h"

static void product_equals_dense(void **state)
{
    (void)state;
    yk_context *context = make_context();
    stream s = {5};
    int n = 3 * 4 + 2;
    double *w = random_gram(&s, n, 9, 9), q[14], mu[4] = {0.1, 0.2, 0.3, 0.4}, x[14], y[14];
    for (int i = 0; i < n; i++) {
        q[i] = next_number(&s);
        x[i] = next_number(&s);
    }
    yk_contact_problem problem;
    assert_int_equal(yk_contact_problem_from_dense(context, 3, 4, 2, w, q, mu, &problem), YK_OK);
    assert_int_equal(yk_contact_problem_check(context, &problem), YK_OK);
    assert_int_equal(problem.row_count, n);
    yk_contact_multiply(&problem, x, y);
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += w[i * n + j] * x[j];
        assert_near(y[i], sum, 1e-14);
    }
    free(w);
    yk_contact_problem_destroy(context, &problem);
    yk_context_destroy(context);
}

/* Mass 1 on the floor pushed down by 2 and aside by (3, 0), mu 0.5: r = (2, -1, 0), it slides on
 * with 2. */
static void residual_of_known_solution(void **state)
{
    (void)state;
    yk_context *context = make_context();
    const double w[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[] = {-2, 3, 0}, mu[] = {0.5};
    yk_contact_problem problem;
    assert_int_equal(yk_contact_problem_from_dense(context, 3, 1, 0, w, q, mu, &problem), YK_OK);
    double r[] = {2, -1, 0}, u[3];
    assert_near(yk_contact_residual(&problem, YK_FRICTION_COULOMB, r, u), 0, 1e-15);
    assert_near(u[1], 2, 0);
    /* box friction agrees as it slides along an axis; the convex cone lifts the mass off: u_N =
     * mu |u_T| */
    assert_near(yk_contact_residual(&problem, YK_FRICTION_PYRAMID, r, u), 0, 1e-15);
    assert_true(yk_contact_residual(&problem, YK_FRICTION_CONVEX_CONE, r, u) > 0.1);
    double lifted[] = {2.8, -1.4, 0};
    assert_near(yk_contact_residual(&problem, YK_FRICTION_CONVEX_CONE, lifted, u), 0, 1e-15);
    assert_near(u[0], 0.8, 1e-15);
    /* the residual of r = 0 is the projection of -q: (2.8, -1.4, 0) over |q| */
    double zero[] = {0, 0, 0};
    assert_near(yk_contact_residual(&problem, YK_FRICTION_CONVEX_CONE, zero, u),
                sqrt((2.8 * 2.8 + 1.4 * 1.4) / 13), 1e-15);
    yk_contact_problem_destroy(context, &problem);
    yk_context_destroy(context);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    yk_context *context = make_context();
    const double w[] = {1, 0, 0, 1}, q[] = {-1, 0}, mu[] = {0.5};
    yk_contact_problem problem;
    assert_int_equal(yk_contact_problem_from_dense(context, 2, 1, 0, w, q, mu, &problem), YK_OK);
    problem.mu[0] = -1;
    assert_int_equal(yk_contact_problem_check(context, &problem), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(context), "mu[0]"));
    problem.mu[0] = 0.5;
    problem.q[1] = NAN;
    assert_int_equal(yk_contact_problem_check(context, &problem), YK_ERROR_NOT_FINITE);
    assert_non_null(strstr(yk_last_message(context), "q[1]"));
    problem.q[1] = 0;
    problem.w.column[0] = 5;
    assert_int_equal(yk_contact_problem_check(context, &problem), YK_ERROR_ARGUMENT);
    problem.w.column[0] = 0;
    yk_contact_problem_destroy(context, &problem);
    yk_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(product_equals_dense),
        cmocka_unit_test(residual_of_known_solution),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
