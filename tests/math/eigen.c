/* Known spectra: triangular, complex pairs, defective, vibrating chain. */
#include "math/eigen.h"

#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "test.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void triangular_matrix_has_its_diagonal(void **state)
{
    double a[9] = {3, 5, -2, 0, -1, 4, 0, 0, 7}, real[3], imaginary[3];
    assert_int_equal(yk_eigen_general(*state, 3, a, real, imaginary), YK_OK);
    qsort(real, 3, sizeof *real, ascending);
    assert_near(real[0], -1, 1e-14);
    assert_near(real[1], 3, 1e-14);
    assert_near(real[2], 7, 1e-14);
    for (int i = 0; i < 3; i++)
        assert_near(imaginary[i], 0, 0);
}

/* Damped oscillator: -d +- i w, next to a real eigenvalue. */
static void complex_pairs_come_with_both_signs(void **state)
{
    double d = 0.25, w = 3, a[9] = {0, 1, 0, -(w * w + d * d), -2 * d, 0, 0, 0, 2}, real[3],
           imaginary[3];
    assert_int_equal(yk_eigen_general(*state, 3, a, real, imaginary), YK_OK);
    qsort(imaginary, 3, sizeof *imaginary, ascending);
    qsort(real, 3, sizeof *real, ascending);
    assert_near(imaginary[0], -w, 1e-14);
    assert_near(imaginary[1], 0, 0);
    assert_near(imaginary[2], w, 1e-14);
    assert_near(real[0], -d, 1e-14);
    assert_near(real[1], -d, 1e-14);
    assert_near(real[2], 2, 1e-14);
}

static void rows_and_columns_are_not_confused_where_it_matters(void **state)
{
    /* Companion of z^3 - 6 z^2 + 11 z - 6 with roots 1, 2, 3. */
    double a[9] = {6, -11, 6, 1, 0, 0, 0, 1, 0}, radius;
    assert_int_equal(yk_eigen_spectral_radius(*state, 3, a, &radius), YK_OK);
    assert_near(radius, 3, 1e-13);
}

static void spectral_radius_counts_complex_pairs_by_modulus(void **state)
{
    double c = 0.6, s = 0.8, a[9] = {1.5 * c, -1.5 * s, 0, 1.5 * s, 1.5 * c, 0, 0, 0, -1.4}, radius;
    assert_int_equal(yk_eigen_spectral_radius(*state, 3, a, &radius), YK_OK);
    assert_near(radius, 1.5, 1e-15);
}

/* A v = lambda v, row by row, with a real eigenvalue and a complex pair. */
static void vectors_belong_to_their_values(void **state)
{
    const double matrix[9] = {0.3, 1.2, 0.4, -2.1, 0.5, 0.1, 0.2, -0.3, 1.4};
    double a[9], real[3], imaginary[3], v[9];
    memcpy(a, matrix, sizeof a);
    assert_int_equal(yk_eigen_general_vectors(*state, 3, a, real, imaginary, v), YK_OK);
    for (int i = 0; i < 3; i++) {
        bool pair = imaginary[i] > 0;
        const double *re = &v[3 * i], *im = &v[3 * (i + 1)];
        for (int r = 0; r < 3; r++) {
            double product_re = 0, product_im = 0;
            for (int k = 0; k < 3; k++) {
                product_re += matrix[3 * r + k] * re[k];
                if (pair)
                    product_im += matrix[3 * r + k] * im[k];
            }
            double y = pair ? im[r] : 0;
            assert_near(product_re, real[i] * re[r] - imaginary[i] * y, 1e-13);
            if (pair)
                assert_near(product_im, real[i] * y + imaginary[i] * re[r], 1e-13);
        }
        if (pair)
            i++;
    }
}

static void bad_input_is_refused(void **state)
{
    double a[4] = {1, 0, NAN, 1}, b[4] = {1, 0, 0, 1}, values[2], radius;
    assert_int_equal(yk_eigen_spectral_radius(*state, 2, a, &radius), YK_ERROR_NOT_FINITE);
    assert_int_equal(yk_eigen_spectral_radius(*state, 0, a, &radius), YK_ERROR_ARGUMENT);
    assert_int_equal(yk_eigen_symmetric_pair(*state, 2, b, a, values), YK_ERROR_NOT_FINITE);
}

/* Fixed-fixed chain of n masses m and springs k: omega_j^2 = 4 k/m sin^2(j pi / (2 (n + 1))). */
static void vibrating_chain_has_its_frequencies_and_orthonormal_modes(void **state)
{
    enum { N = 12 };
    const double k = 50, m = 0.2;
    double stiffness[N * N] = {0}, mass[N * N] = {0}, values[N];
    for (int i = 0; i < N; i++) {
        mass[i * N + i] = m;
        stiffness[i * N + i] = 2 * k;
        if (i > 0)
            stiffness[i * N + i - 1] = stiffness[(i - 1) * N + i] = -k;
    }
    assert_int_equal(yk_eigen_symmetric_pair(*state, N, stiffness, mass, values), YK_OK);
    for (int j = 0; j < N; j++) {
        double sine = sin((j + 1) * 3.14159265358979323846 / (2 * (N + 1)));
        assert_relative(values[j], 4 * k / m * sine * sine, 1e-12);
    }
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++) {
            double product = 0;
            for (int i = 0; i < N; i++)
                product += m * stiffness[a * N + i] * stiffness[b * N + i];
            assert_near(product, a == b, 1e-13);
        }
    /* The first mode is half a sine. */
    double scale = stiffness[0] / sin(3.14159265358979323846 / (N + 1));
    for (int i = 0; i < N; i++)
        assert_near(stiffness[i], scale * sin((i + 1) * 3.14159265358979323846 / (N + 1)), 1e-12);
}

static void coupled_masses_use_the_whole_mass_matrix(void **state)
{
    /* A = diag(1, 2), B = [[2, 1], [1, 2]]: 3 x^2 - 6 x + 2 = 0. */
    double a[4] = {1, 0, 0, 2}, b[4] = {2, 1, 1, 2}, values[2];
    assert_int_equal(yk_eigen_symmetric_pair(*state, 2, a, b, values), YK_OK);
    assert_near(values[0], 1 - sqrt(3) / 3, 1e-15);
    assert_near(values[1], 1 + sqrt(3) / 3, 1e-15);
}

static void indefinite_mass_is_named(void **state)
{
    double a[4] = {1, 0, 0, 1}, b[4] = {1, 0, 0, 0}, values[2];
    assert_int_equal(yk_eigen_symmetric_pair(*state, 2, a, b, values), YK_ERROR_SINGULAR);
    assert_non_null(strstr(yk_last_message(*state), "minor 2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangular_matrix_has_its_diagonal),
        cmocka_unit_test(complex_pairs_come_with_both_signs),
        cmocka_unit_test(rows_and_columns_are_not_confused_where_it_matters),
        cmocka_unit_test(spectral_radius_counts_complex_pairs_by_modulus),
        cmocka_unit_test(vectors_belong_to_their_values),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(vibrating_chain_has_its_frequencies_and_orthonormal_modes),
        cmocka_unit_test(coupled_masses_use_the_whole_mass_matrix),
        cmocka_unit_test(indefinite_mass_is_named),
    };
    return cmocka_run_group_tests_name("eigen", tests, create_context, destroy_context);
}
