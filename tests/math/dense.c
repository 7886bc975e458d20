/* LU, LDLT, matrix exponential and vector kernels against known solutions. */
#include "math/dense.h"

#include <string.h>

#include "test.h"

enum { LARGEST = 60 };

/* Repeatable numbers in [-1, 1). */
static double next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 4503599627370496.0 - 1;
}

/* b = A x for x = 1, 2, ..., n */
static void right_hand_side(int n, const double *a, double *b)
{
    for (int i = 0; i < n; i++) {
        b[i] = 0;
        for (int j = 0; j < n; j++)
            b[i] += a[i * n + j] * (j + 1);
    }
}

static void assert_counts_up(int n, const double *x, double tolerance)
{
    for (int i = 0; i < n; i++)
        assert_near(x[i], i + 1, tolerance);
}

static void lu_solves_a_system_that_needs_pivoting(void **state)
{
    (void)state;
    double a[9] = {0, 2, 1, 1, 1, 0, 3, 0, -1}, b[3];
    int pivot[3];
    right_hand_side(3, a, b);
    assert_int_equal(yk_lu_factor(3, a, pivot), YK_OK);
    yk_lu_solve(3, a, pivot, b);
    assert_counts_up(3, b, 1e-15);
}

static void lu_solves_random_systems_of_every_size(void **state)
{
    (void)state;
    static double a[LARGEST * LARGEST], b[LARGEST];
    int pivot[LARGEST];
    uint64_t seed = 1;
    for (int n = 1; n <= LARGEST; n++) {
        for (int i = 0; i < n * n; i++)
            a[i] = next_random(&seed);
        right_hand_side(n, a, b);
        assert_int_equal(yk_lu_factor(n, a, pivot), YK_OK);
        yk_lu_solve(n, a, pivot, b);
        assert_counts_up(n, b, 1e-9);
    }
}

static void lu_names_singular_and_broken_matrices(void **state)
{
    (void)state;
    double rank_one[4] = {1, 2, 2, 4}, zero[1] = {0}, broken[4] = {1, NAN, 0, 1},
           infinite[4] = {1, 0, INFINITY, 1};
    int pivot[2];
    assert_int_equal(yk_lu_factor(2, rank_one, pivot), YK_ERROR_SINGULAR);
    assert_int_equal(yk_lu_factor(1, zero, pivot), YK_ERROR_SINGULAR);
    assert_int_equal(yk_lu_factor(2, broken, pivot), YK_ERROR_SINGULAR);
    assert_int_equal(yk_lu_factor(2, infinite, pivot), YK_ERROR_SINGULAR);
}

static void exponential_of_a_skew_matrix_is_a_rotation(void **state)
{
    (void)state;
    const double angles[] = {1e-10, 1e-3, 0.1, 0.8, 2, 5, 40};
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        double w = angles[i], a[4] = {0, -w, w, 0}, r[4];
        assert_int_equal(yk_dense_exp(2, a, r), YK_OK);
        double tolerance = 4e-16 * (1 + 2 * w);
        assert_near(r[0], cos(w), tolerance);
        assert_near(r[1], -sin(w), tolerance);
        assert_near(r[2], sin(w), tolerance);
        assert_near(r[3], cos(w), tolerance);
    }
}

/* Position and velocity differ in size by omega: balancing keeps the number of squarings, and the
 * error, small. */
static void exponential_of_a_fast_oscillator(void **state)
{
    (void)state;
    double w = 1e4, h = 1e-3, a[4] = {0, h, -w * w * h, 0}, r[4];
    assert_int_equal(yk_dense_exp(2, a, r), YK_OK);
    assert_near(r[0], cos(w * h), 1e-14);
    assert_near(r[1] * w, sin(w * h), 1e-14);
    assert_near(r[2] / w, -sin(w * h), 1e-14);
    assert_near(r[3], cos(w * h), 1e-14);
}

static void exponential_of_a_nilpotent_matrix_is_a_polynomial(void **state)
{
    (void)state;
    double a[16] = {0}, r[16];
    for (int i = 0; i < 3; i++)
        a[i * 4 + i + 1] = 3;
    assert_int_equal(yk_dense_exp(4, a, r), YK_OK);
    const double expected[4] = {1, 3, 4.5, 4.5};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            assert_near(r[i * 4 + j], j < i ? 0 : expected[j - i], 4e-15);
}

static void exponential_of_a_stiff_diagonal(void **state)
{
    (void)state;
    double a[9] = {-1e4, 0, 0, 0, -1, 0, 0, 0, -1e-6}, r[9];
    assert_int_equal(yk_dense_exp(3, a, r), YK_OK);
    assert_near(r[0], 0, 1e-300);
    assert_relative(r[4], exp(-1), 1e-12);
    assert_relative(r[8], exp(-1e-6), 1e-12);
}

/* The largest size, and in place. */
static void exponential_of_the_negative_is_the_inverse(void **state)
{
    (void)state;
    enum { N = 16 };
    double plus[N * N], minus[N * N];
    uint64_t seed = 3;
    for (int i = 0; i < N * N; i++)
        plus[i] = next_random(&seed), minus[i] = -plus[i];
    assert_int_equal(yk_dense_exp(N, plus, plus), YK_OK);
    assert_int_equal(yk_dense_exp(N, minus, minus), YK_OK);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += plus[i * N + k] * minus[k * N + j];
            assert_near(sum, i == j, 1e-10);
        }
}

static void exponential_refuses_what_it_cannot_do(void **state)
{
    (void)state;
    double a[17 * 17] = {0}, r[17 * 17], huge[1] = {1e4}, broken[1] = {NAN},
                  infinite[1] = {INFINITY};
    assert_int_equal(yk_dense_exp(17, a, r), YK_ERROR_ARGUMENT);
    assert_int_equal(yk_dense_exp(0, a, r), YK_ERROR_ARGUMENT);
    assert_int_equal(yk_dense_exp(1, huge, r), YK_ERROR_NOT_FINITE);
    assert_int_equal(yk_dense_exp(1, broken, r), YK_ERROR_NOT_FINITE);
    assert_int_equal(yk_dense_exp(1, infinite, r), YK_ERROR_NOT_FINITE);
}

static void dot_and_norm_agree_with_closed_forms(void **state)
{
    (void)state;
    double x[7] = {1, 2, 3, 4, 5, 6, 7}, huge[3] = {3e200, 0, 4e200}, tiny[2] = {3e-200, 4e-200};
    for (size_t n = 0; n <= 7; n++)
        assert_near(yk_dense_dot(n, x, x), (double)(n * (n + 1) * (2 * n + 1) / 6), 0);
    assert_relative(yk_dense_norm(3, huge), 5e200, 1e-15);
    assert_relative(yk_dense_norm(2, tiny), 5e-200, 1e-15);
    assert_near(yk_dense_norm(0, x), 0, 0);
    huge[1] = NAN;
    assert_true(isnan(yk_dense_norm(3, huge)));
}

/* The rank of B B^T is that of B, for every order of its rows. */
static void rank_of_a_semidefinite_matrix(void **state)
{
    (void)state;
    enum { N = 5 };
    static const double rows[N][3] = {{0, 0, 0}, {1, 2, 0}, {2, 4, 0}, {0, 1, -1}, {1, 3, -1}};
    for (int rank = 0; rank <= 2; rank++) {
        int n = rank == 0 ? 1 : rank == 1 ? 3 : N;
        double a[N * N];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                const double *u = rows[i], *v = rows[j];
                a[i * n + j] = u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
            }
        assert_int_equal(yk_dense_rank(n, a, 1e-9), rank);
    }
    double full[4] = {1, 0.5, 0.5, 1e-3 + 0.25};
    assert_int_equal(yk_dense_rank(2, full, 1e-6), 2);
    double nearly[4] = {1, 0.5, 0.5, 1e-8 + 0.25};
    assert_int_equal(yk_dense_rank(2, nearly, 1e-6), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank_of_a_semidefinite_matrix),
        cmocka_unit_test(lu_solves_a_system_that_needs_pivoting),
        cmocka_unit_test(lu_solves_random_systems_of_every_size),
        cmocka_unit_test(lu_names_singular_and_broken_matrices),
        cmocka_unit_test(exponential_of_a_skew_matrix_is_a_rotation),
        cmocka_unit_test(exponential_of_a_fast_oscillator),
        cmocka_unit_test(exponential_of_a_nilpotent_matrix_is_a_polynomial),
        cmocka_unit_test(exponential_of_a_stiff_diagonal),
        cmocka_unit_test(exponential_of_the_negative_is_the_inverse),
        cmocka_unit_test(exponential_refuses_what_it_cannot_do),
        cmocka_unit_test(dot_and_norm_agree_with_closed_forms),
    };
    return cmocka_run_group_tests_name("dense", tests, NULL, NULL);
}
