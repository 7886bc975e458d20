/* The pivoting solver: problems with known answers, random ones against enumeration, and problems
 * without solution. */
#include "contact/mlcp.h"

#include "contact/problems.h"

static yk_mlcp make(yk_context *context, int n, const double *m, const double *q)
{
    yk_mlcp problem;
    assert_int_equal(yk_mlcp_create(context, n, &problem), YK_OK);
    memcpy(problem.m, m, (size_t)(n * n) * sizeof *m);
    memcpy(problem.q, q, (size_t)n * sizeof *q);
    return problem;
}

static yk_status solve(yk_context *context, const yk_mlcp *problem, double *z, double *w, int *sets,
                       yk_contact_report *report)
{
    yk_mlcp_options options = yk_mlcp_options_default();
    return yk_mlcp_solve(context, problem, &options, z, w, sets, report);
}

/* Murty's example: principal pivoting by least index takes 2^n - 1 steps. */
static void murty_takes_few_pivots(void **state)
{
    (void)state;
    yk_context *context = make_context();
    enum { N = 24 };
    static double m[N * N], q[N], z[N], w[N];
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++)
            m[i * N + j] = 2;
        m[i * N + i] = 1;
        q[i] = -1;
    }
    yk_mlcp problem = make(context, N, m, q);
    yk_contact_report report;
    assert_int_equal(solve(context, &problem, z, w, NULL, &report), YK_OK);
    /* lower triangular: row by row z_1 = 1, then all w >= 1 */
    assert_near(z[0], 1, 1e-14);
    for (int i = 1; i < N; i++)
        assert_near(z[i], 0, 0);
    assert_true(report.iterations < 3 * N);
    yk_mlcp_destroy(context, &problem);
    yk_context_destroy(context);
}

static void no_solution_is_proved(void **state)
{
    (void)state;
    yk_context *context = make_context();
    /* semidefinite: z1 - z2 - 1 >= 0 and -z1 + z2 - 1 >= 0 contradict each other */
    const double m[] = {1, -1, -1, 1}, q[] = {-1, -1};
    yk_mlcp problem = make(context, 2, m, q);
    double z[3], w[3];
    yk_contact_report report;
    assert_int_equal(solve(context, &problem, z, w, NULL, &report), YK_ERROR_NO_SOLUTION);
    assert_non_null(strstr(yk_last_message(context), "ray"));
    yk_mlcp_destroy(context, &problem);
    /* indefinite and small: enumerated */
    const double indefinite[] = {0, -1, 0, 0}, wanting[] = {-1, -1};
    problem = make(context, 2, indefinite, wanting);
    assert_int_equal(solve(context, &problem, z, w, NULL, &report), YK_ERROR_NO_SOLUTION);
    assert_non_null(strstr(yk_last_message(context), "combinations"));
    yk_mlcp_destroy(context, &problem);
    /* equations that contradict each other */
    const double equal[] = {1, 1, 1, 1}, different[] = {-1, -2};
    problem = make(context, 2, equal, different);
    problem.lower[0] = problem.lower[1] = -INFINITY;
    assert_int_equal(solve(context, &problem, z, w, NULL, &report), YK_ERROR_NO_SOLUTION);
    yk_mlcp_destroy(context, &problem);
    yk_context_destroy(context);
}

/* If M is not semidefinite, a path that ends on a ray proves nothing: -z1 + z2 + 1 >= 0 and
 * z1 - 1 >= 0 have the solution (1, 0). */
static void rays_prove_nothing_of_indefinite_matrices(void **state)
{
    (void)state;
    yk_context *context = make_context();
    const double m[] = {-1, 1, 1, 0}, q[] = {1, -1};
    yk_mlcp problem = make(context, 2, m, q);
    double z[2], w[2];
    yk_contact_report report;
    assert_int_equal(solve(context, &problem, z, w, NULL, &report), YK_OK);
    assert_near(z[0], 1, 1e-14);
    assert_near(z[1], 0, 1e-14);
    yk_mlcp_destroy(context, &problem);
    yk_context_destroy(context);
}

static void sets_are_named(void **state)
{
    (void)state;
    yk_context *context = make_context();
    /* independent rows z + q: below, inside, above, equation, mirrored, fixed */
    const double m[] = {1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
                        0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1};
    const double q[] = {3, -0.5, -9, 7, 4, -2};
    yk_mlcp problem = make(context, 6, m, q);
    const double lower[] = {-1, -1, -1, -INFINITY, -INFINITY, 2},
                 upper[] = {1, 1, 1, INFINITY, 1, 2};
    memcpy(problem.lower, lower, sizeof lower);
    memcpy(problem.upper, upper, sizeof upper);
    double z[6], w[6];
    int sets[6];
    yk_contact_report report;
    assert_int_equal(solve(context, &problem, z, w, sets, &report), YK_OK);
    const double expected[] = {-1, 0.5, 1, -7, -4, 2};
    const int states[] = {YK_MLCP_LOWER, YK_MLCP_ACTIVE, YK_MLCP_UPPER, YK_MLCP_ACTIVE,
                          YK_MLCP_ACTIVE};
    for (int i = 0; i < 6; i++)
        assert_near(z[i], expected[i], 1e-15);
    for (int i = 0; i < 5; i++)
        assert_int_equal(sets[i], states[i]);
    yk_mlcp_destroy(context, &problem);
    yk_context_destroy(context);
}

/* Positive definite: the solution is unique, so any z without residual is it. Bounds of all
 * kinds, n up to 40. */
static void random_definite_problems(void **state)
{
    (void)state;
    yk_context *context = make_context();
    stream s = {11};
    for (int trial = 0; trial < 200; trial++) {
        int n = 1 + trial % 40;
        double *m = random_gram(&s, n, n + 3, n + 3), q[40], z[40], w[40];
        for (int i = 0; i < n; i++) {
            q[i] = 3 * next_number(&s);
            m[i * n + i] += 0.1;
            for (int j = 0; j < i;
                 j++) { /* a skew part keeps it definite and makes it unsymmetric */
                double skew = next_number(&s);
                m[i * n + j] += skew;
                m[j * n + i] -= skew;
            }
        }
        yk_mlcp problem = make(context, n, m, q);
        for (int i = 0; i < n; i++) {
            int kind = (int)(2.5 * (next_number(&s) + 1));
            if (kind == 1 || kind == 3)
                problem.lower[i] = -INFINITY;
            if (kind == 1)
                problem.upper[i] = INFINITY;
            if (kind == 2 || kind == 3)
                problem.upper[i] = 0.3;
            if (kind == 4)
                problem.lower[i] = -0.2;
        }
        yk_contact_report report;
        assert_int_equal(solve(context, &problem, z, w, NULL, &report), YK_OK);
        assert_true(report.residual < 1e-12);
        for (int i = 0; i < n; i++)
            assert_true(z[i] >= problem.lower[i] && z[i] <= problem.upper[i]);
        yk_mlcp_destroy(context, &problem);
        free(m);
    }
    yk_context_destroy(context);
}

/* Semidefinite and feasible by construction, highly degenerate: small whole numbers. */
static void random_degenerate_problems(void **state)
{
    (void)state;
    yk_context *context = make_context();
    stream s = {23};
    for (int trial = 0; trial < 300; trial++) {
        int n = 2 + trial % 11, rank = 1 + n / 2;
        double m[144] = {0}, d[144], q[12], z[12], w[12];
        for (int i = 0; i < n * rank; i++)
            d[i] = round(1.49 * next_number(&s));
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < rank; k++)
                    m[i * n + j] += d[i * rank + k] * d[j * rank + k];
        for (int i = 0; i < n; i++) { /* q = -M z + w with z, w >= 0, z . w = 0 and many zeros */
            q[i] = 0;
            z[i] = fmax(0, round(1.49 * next_number(&s)));
        }
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++)
                q[i] -= m[i * n + j] * z[j];
            if (z[i] == 0)
                q[i] += fmax(0, round(1.49 * next_number(&s)));
        }
        yk_mlcp problem = make(context, n, m, q);
        yk_contact_report report;
        assert_int_equal(solve(context, &problem, z, w, NULL, &report), YK_OK);
        assert_true(report.residual < 1e-12);
        yk_mlcp_destroy(context, &problem);
    }
    yk_context_destroy(context);
}

/* rim 4.1: redundant constraints share the load when they are regularised. */
static void regularisation_shares_the_load(void **state)
{
    (void)state;
    yk_context *context = make_context();
    const double m[] = {1, 1, 1, 1}, q[] = {-2, -2};
    yk_mlcp problem = make(context, 2, m, q);
    double z[2], w[2];
    yk_contact_report report;
    assert_int_equal(solve(context, &problem, z, w, NULL, &report), YK_OK);
    assert_near(z[0] + z[1], 2, 1e-12);
    yk_mlcp_options options = yk_mlcp_options_default();
    options.regularisation = 1e-6;
    options.tolerance = 1e-5;
    assert_int_equal(yk_mlcp_solve(context, &problem, &options, z, w, NULL, &report), YK_OK);
    assert_near(z[0], z[1], 1e-9);
    yk_mlcp_destroy(context, &problem);
    yk_context_destroy(context);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    yk_context *context = make_context();
    const double m[] = {1}, q[] = {-1};
    yk_mlcp problem = make(context, 1, m, q);
    double z[1], w[1];
    yk_contact_report report;
    problem.lower[0] = 2;
    problem.upper[0] = 1;
    assert_int_equal(solve(context, &problem, z, w, NULL, &report), YK_ERROR_ARGUMENT);
    problem.lower[0] = 0;
    problem.m[0] = INFINITY;
    assert_int_equal(solve(context, &problem, z, w, NULL, &report), YK_ERROR_ARGUMENT);
    yk_mlcp_destroy(context, &problem);
    assert_int_equal(yk_mlcp_create(context, 0, &problem), YK_OK);
    assert_int_equal(solve(context, &problem, z, w, NULL, &report), YK_OK);
    yk_mlcp_destroy(context, &problem);
    yk_context_destroy(context);
}

/* One unknown z in [0, 1] with w = 2 z + q: w may not be negative at the lower bound, not
 * positive at the upper one, and is zero between them. */
static void residuals_are_those_of_each_set(void **state)
{
    (void)state;
    static const struct {
        double q, z, residual;
    } rows[] = {
        {3, 0, 0},          {-3, 0, 1},        /* lower: w = q */
        {-6, 1, 0},         {6, 1, 8.0 / 6},   /* upper: w = 2 + q, by |q| */
        {-2, 1, 0},                            /* both at once */
        {-1, 0.5, 0},       {-2, 0.5, 1. / 2}, /* between: w = 1 + q */
        {-6, 1.25, 1. / 5},                    /* outside by 1/5 of z */
        {3, -0.5, 1},                          /* outside by all of z */
    };
    yk_context *context = yk_context_create(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double m[] = {2};
        yk_mlcp problem = make(context, 1, m, &rows[i].q);
        double w;
        problem.lower[0] = 0;
        problem.upper[0] = 1;
        assert_near(yk_mlcp_residual(&problem, &rows[i].z, &w), rows[i].residual, 1e-15);
        yk_mlcp_destroy(context, &problem);
    }
    yk_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(murty_takes_few_pivots),
        cmocka_unit_test(no_solution_is_proved),
        cmocka_unit_test(rays_prove_nothing_of_indefinite_matrices),
        cmocka_unit_test(sets_are_named),
        cmocka_unit_test(random_definite_problems),
        cmocka_unit_test(random_degenerate_problems),
        cmocka_unit_test(regularisation_shares_the_load),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(residuals_are_those_of_each_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
