/* The Fourier transform, compared with its definition, and applied to signals with known spectral
 * lines. */
#include "math/fourier.h"

#include "math/vec3.h"
#include "test.h"

static void transform_is_the_defining_sum(void **state)
{
    (void)state;
    enum { N = 32 };
    double re[N], im[N], x[N], y[N];
    for (int i = 0; i < N; i++)
        re[i] = x[i] = sin(i * i) + 0.3 * i, im[i] = y[i] = cos(3 * i);
    yk_fourier_transform(N, re, im);
    for (int k = 0; k < N; k++) {
        double real = 0, imaginary = 0;
        for (int j = 0; j < N; j++) {
            double a = -2 * YK_PI * j * k / N;
            real += x[j] * cos(a) - y[j] * sin(a);
            imaginary += x[j] * sin(a) + y[j] * cos(a);
        }
        assert_near(re[k], real, 1e-11);
        assert_near(im[k], imaginary, 1e-11);
    }
}

static void a_sine_has_one_line(void **state)
{
    (void)state;
    enum { N = 1024 };
    static double re[N], im[N];
    for (int i = 0; i < N; i++)
        re[i] = 3 * cos(2 * YK_PI * 37 * i / N);
    yk_fourier_transform(N, re, im);
    for (int k = 0; k <= N / 2; k++)
        assert_near(hypot(re[k], im[k]), k == 37 ? 1.5 * N : 0, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transform_is_the_defining_sum),
        cmocka_unit_test(a_sine_has_one_line),
    };
    return cmocka_run_group_tests_name("fourier", tests, NULL, NULL);
}
