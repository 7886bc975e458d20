/* Interpolation between points. Expected values are those of SciPy 1.17, CubicSpline and
 * Akima1DInterpolator; Akima's own data are those of table 1 in Akima 1970. */
#include "math/lookup.h"

#include "test.h"

enum { COUNT = 6 };
static const double x[COUNT] = {0, 1, 2.5, 3, 4.5, 6};
static const double y[COUNT] = {1, -1, 0.5, 2, 1.5, 1};
static const double at[5] = {0.3, 1.7, 2.6, 3.9, 5.5};

static yk_lookup lookup_of(yk_lookup_interpolation interpolation,
                           yk_lookup_extrapolation extrapolation)
{
    static double slopes[COUNT], work[4 * COUNT];
    yk_lookup l = {interpolation, extrapolation, COUNT, .arguments = x, .values = y};
    if (interpolation == YK_LOOKUP_CUBIC || interpolation == YK_LOOKUP_AKIMA) {
        yk_lookup_compute_slopes(&l, slopes, work);
        l.slopes = slopes;
    }
    return l;
}

static void all_pass_through_their_points(void **state)
{
    (void)state;
    for (int kind = 0; kind <= YK_LOOKUP_AKIMA; kind++) {
        yk_lookup l = lookup_of((yk_lookup_interpolation)kind, YK_LOOKUP_OUTSIDE_HOLD);
        for (int i = 0; i < COUNT; i++)
            assert_near(yk_lookup_value(&l, x[i]), y[i], 1e-15);
        assert_near(yk_lookup_value(&l, -1), 1, 0);
        assert_near(yk_lookup_value(&l, 7), 1, 0);
        assert_true(isnan(yk_lookup_value(&l, NAN)));
    }
}

static void steps_and_lines(void **state)
{
    (void)state;
    yk_lookup step = lookup_of(YK_LOOKUP_STEP, YK_LOOKUP_OUTSIDE_HOLD);
    yk_lookup line = lookup_of(YK_LOOKUP_LINEAR, YK_LOOKUP_OUTSIDE_LINEAR);
    assert_near(yk_lookup_value(&step, 2.4999), -1, 0);
    assert_near(yk_lookup_value(&line, 1.75), -0.25, 1e-15);
    assert_near(yk_lookup_value(&line, -0.5), 2, 1e-15);
    assert_near(yk_lookup_value(&line, 7.5), 0.5, 1e-15);
}

static void splines_are_those_of_scipy(void **state)
{
    (void)state;
    static const double cubic[5] = {0.17033, -1.01801333333333, 0.809346666666667, 2.37389,
                                    0.423842592592592};
    static const double periodic[5] = {0.442628571428571, -1.14307301587302, 0.820353741496599,
                                       2.13523265306122, 1.37573696145125};
    static const double akima[5] = {0.0661, -0.703985964912281, 0.785964912280702, 1.7,
                                    1.16666666666667};
    for (int i = 0; i < 5; i++) {
        yk_lookup l = lookup_of(YK_LOOKUP_CUBIC, YK_LOOKUP_OUTSIDE_HOLD);
        assert_near(yk_lookup_value(&l, at[i]), cubic[i], 1e-14);
        l = lookup_of(YK_LOOKUP_CUBIC, YK_LOOKUP_OUTSIDE_PERIODIC);
        assert_near(yk_lookup_value(&l, at[i]), periodic[i], 1e-14);
        assert_near(yk_lookup_value(&l, at[i] + 600), periodic[i], 1e-12);
        assert_near(yk_lookup_value(&l, at[i] - 6), periodic[i], 1e-13);
        l = lookup_of(YK_LOOKUP_AKIMA, YK_LOOKUP_OUTSIDE_HOLD);
        assert_near(yk_lookup_value(&l, at[i]), akima[i], 1e-14);
    }
}

static void few_points(void **state)
{
    (void)state;
    static const double arguments[3] = {0, 1, 3};
    static const double values[3] = {1, 3, 2}, closed[3] = {1, 3, 1};
    double slopes[3], work[12];
    yk_lookup l = {YK_LOOKUP_CUBIC, YK_LOOKUP_OUTSIDE_LINEAR, 3, 0, arguments, NULL, values,
                   slopes};
    yk_lookup_compute_slopes(&l, slopes, work);
    assert_near(yk_lookup_value(&l, 2), 10.0 / 3, 1e-14);
    assert_near(yk_lookup_value(&l, 0.5), 2.2083333333333335, 1e-14);

    /* The slope of the parabola 1 + 17/6 x - 5/6 x^2 at its end is -13/6. */
    assert_near(yk_lookup_value(&l, 4), 2 - 13.0 / 6, 1e-14);

    l.extrapolation = YK_LOOKUP_OUTSIDE_PERIODIC;
    l.values = closed;
    yk_lookup_compute_slopes(&l, slopes, work);
    assert_near(yk_lookup_value(&l, 2), 2, 1e-14);
    assert_near(yk_lookup_value(&l, 3.5), 2, 1e-14);

    l.count = 2;
    l.extrapolation = YK_LOOKUP_OUTSIDE_HOLD;
    yk_lookup_compute_slopes(&l, slopes, work);
    assert_near(yk_lookup_value(&l, 0.25), 1.5, 1e-15);
    l.count = 1;
    yk_lookup_compute_slopes(&l, slopes, work);
    assert_near(yk_lookup_value(&l, 0.25), 1, 0);
}

static void akima_does_not_overshoot(void **state)
{
    (void)state;
    static const double arguments[11] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    static const double values[11] = {10, 10, 10, 10, 10, 10, 10.5, 15, 50, 60, 85};
    static const double expected[5] = {10, 11.7322024471635, 31.3081422887457, 54.8583447802198,
                                       70.859375};
    double slopes[11];
    yk_lookup l = {YK_LOOKUP_AKIMA, YK_LOOKUP_OUTSIDE_HOLD, 11, 0, arguments, NULL, values, slopes};
    yk_lookup_compute_slopes(&l, slopes, NULL);
    for (int i = 0; i < 5; i++)
        assert_near(yk_lookup_value(&l, (double[]){4.5, 6.5, 7.5, 8.5, 9.5}[i]), expected[i],
                    1e-13 * expected[i]);
}

static void jumps_take_the_second_value(void **state)
{
    (void)state;
    static const double arguments[4] = {0, 1, 1, 2};
    static const double values[4] = {0, 1, 5, 6};
    yk_lookup l = {YK_LOOKUP_LINEAR, YK_LOOKUP_OUTSIDE_NONE, 4, 0, arguments, NULL, values, NULL};
    assert_near(yk_lookup_value(&l, 0.999), 0.999, 1e-15);
    assert_near(yk_lookup_value(&l, 1), 5, 0);
    assert_near(yk_lookup_value(&l, 2), 6, 0);
    assert_true(isnan(yk_lookup_value(&l, 2.001)));
}

static void grids_are_bilinear(void **state)
{
    (void)state;
    static const double arguments[3] = {0, 1, 3};
    static const double second[2] = {10, 20};
    double values[6];
    for (int i = 0; i < 6; i++)
        values[i] =
            2 + 3 * arguments[i / 2] - second[i % 2] + 0.5 * arguments[i / 2] * second[i % 2];

    yk_lookup l = {
        YK_LOOKUP_LINEAR, YK_LOOKUP_OUTSIDE_LINEAR, 3, 2, arguments, second, values, NULL};
    for (double a = -1; a <= 4; a += 0.25)
        for (double b = 5; b <= 25; b += 2.5)
            assert_near(yk_lookup_value_2(&l, a, b), 2 + 3 * a - b + 0.5 * a * b, 1e-13);

    l.extrapolation = YK_LOOKUP_OUTSIDE_HOLD;
    assert_near(yk_lookup_value_2(&l, 9, 25), values[5], 1e-14);
    l.interpolation = YK_LOOKUP_STEP;
    assert_near(yk_lookup_value_2(&l, 2.9, 19), values[2], 0);
    assert_near(yk_lookup_value_2(&l, 3, 20), values[5], 0);
    l.extrapolation = YK_LOOKUP_OUTSIDE_NONE;
    assert_true(isnan(yk_lookup_value_2(&l, 2, 20.1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pass_through_their_points),
        cmocka_unit_test(steps_and_lines),
        cmocka_unit_test(splines_are_those_of_scipy),
        cmocka_unit_test(few_points),
        cmocka_unit_test(akima_does_not_overshoot),
        cmocka_unit_test(jumps_take_the_second_value),
        cmocka_unit_test(grids_are_bilinear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
