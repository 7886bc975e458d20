/* Eigenvalues of largest modulus against matrices whose spectrum is known. */
#include "math/eigen.h"

#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "test.h"

enum { N = 300 };

/* Rotations by (angle) of size (radius) in the first pairs of coordinates, a falling diagonal
 * after them, and all of it sheared so that the operator is not normal. */
typedef struct known {
    double radius[3], angle[3];
    double shear;
    double noise;
    unsigned seed;
} known;

static yk_status apply(void *user, const double *x, double *y)
{
    known *k = user;
    double z[N];
    for (int i = 0; i < N; i++)
        z[i] = x[i] + (i + 1 < N ? k->shear * x[i + 1] : 0); /* z = S x */
    double w[N];
    for (int p = 0; p < 3; p++) {
        double c = k->radius[p] * cos(k->angle[p]), s = k->radius[p] * sin(k->angle[p]);
        w[2 * p] = c * z[2 * p] - s * z[2 * p + 1];
        w[2 * p + 1] = s * z[2 * p] + c * z[2 * p + 1];
    }
    for (int i = 6; i < N; i++)
        w[i] = 0.9 * z[i] * (N - i) / N;
    for (int i = N - 1; i >= 0; i--)
        y[i] = w[i] - (i + 1 < N ? k->shear * y[i + 1] : 0); /* y = S^-1 w */
    for (int i = 0; i < N; i++) {
        k->seed = k->seed * 1664525u + 1013904223u;
        y[i] += k->noise * (k->seed / 4294967296.0 - 0.5);
    }
    return YK_OK;
}

static void start_vector(double *start)
{
    unsigned seed = 3;
    for (int i = 0; i < N; i++)
        seed = seed * 1664525u + 1013904223u, start[i] = seed / 4294967296.0 - 0.5;
}

static void check(yk_context *context, known k, double tolerance, double accuracy)
{
    yk_arnoldi_options options = yk_arnoldi_default();
    options.wanted = 3, options.space = 20, options.applications = 600,
    options.tolerance = tolerance;
    options.apply = apply, options.user = &k;
    double start[N];
    static double vectors[6 * N];
    start_vector(start);
    yk_arnoldi_pair pairs[3];
    int found;
    assert_int_equal(yk_arnoldi(context, N, start, &options, pairs, vectors, &found), YK_OK);
    assert_int_equal(found, 3);
    for (int p = 0; p < 3; p++) {
        assert_near(pairs[p].real, k.radius[p] * cos(k.angle[p]), accuracy);
        assert_near(pairs[p].imaginary, k.radius[p] * sin(k.angle[p]), accuracy);
        assert_true(pairs[p].residual <= tolerance * k.radius[p]);
        /* A (v + i w) = (a + i b) (v + i w), applied again. */
        double image[N];
        apply(&k, pairs[p].vector_real, image);
        for (int i = 0; i < N; i++)
            assert_near(image[i],
                        pairs[p].real * pairs[p].vector_real[i] -
                            pairs[p].imaginary * pairs[p].vector_imaginary[i],
                        20 * tolerance);
    }
}

static void known_spectra_are_found(void **state)
{
    check(*state, (known){{1.2, 1.1, 1.0}, {3.0, 0.4, 1.7}, 0, 0, 1}, 1e-10, 1e-9);
    check(*state, (known){{1.05, 1.0, 0.97}, {2.5, 0.1, 1.0}, 0.4, 0, 1}, 1e-10, 1e-8);
}

static void an_inexact_operator_is_followed_to_its_noise(void **state)
{
    check(*state, (known){{1.3, 1.15, 1.0}, {3.1, 0.4, 1.7}, 0.2, 1e-8, 7}, 1e-5, 1e-5);
}

static void the_residual_reports_when_it_is_not_found(void **state)
{
    known k = {{1, 0.9999, 0.9998}, {0.1, 0.2, 0.3}, 0.3, 0, 1};
    yk_arnoldi_options options = yk_arnoldi_default();
    options.wanted = 3, options.space = 9, options.applications = 12, options.tolerance = 1e-12;
    options.apply = apply, options.user = &k;
    double start[N];
    static double vectors[6 * N];
    start_vector(start);
    yk_arnoldi_pair pairs[3];
    int found;
    assert_int_equal(yk_arnoldi(*state, N, start, &options, pairs, vectors, &found),
                     YK_NOT_CONVERGED);
    assert_true(found == 3 && pairs[0].residual > 1e-6);
}

static yk_status refuse(void *user, const double *x, double *y)
{
    (void)user, (void)x, (void)y;
    return YK_ERROR_DIVERGED;
}

static void a_failing_operator_ends_it(void **state)
{
    yk_arnoldi_options options = yk_arnoldi_default();
    options.apply = refuse;
    double start[N];
    static double vectors[12 * N];
    start_vector(start);
    yk_arnoldi_pair pairs[6];
    int found;
    assert_int_equal(yk_arnoldi(*state, N, start, &options, pairs, vectors, &found),
                     YK_ERROR_DIVERGED);
    assert_int_equal(found, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_spectra_are_found),
        cmocka_unit_test(an_inexact_operator_is_followed_to_its_noise),
        cmocka_unit_test(the_residual_reports_when_it_is_not_found),
        cmocka_unit_test(a_failing_operator_ends_it),
    };
    return cmocka_run_group_tests_name("arnoldi", tests, create_context, destroy_context);
}
