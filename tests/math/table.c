/* Functions of time given by points: linear interpolation, discontinuities, and values outside the
 * table. */
#include "math/polynomial.h"

#include "test.h"

/* A line, a jump from 3 to 7 at t = 2, and a line down. */
static const double times[] = {0, 1, 2, 2, 4, 8};
static const double values[] = {1, 1, 3, 7, 3, 3};
static const yk_table table = {6, times, values};

static void values_lie_on_lines(void **state)
{
    (void)state;
    static const double cases[][2] = {{-5, 1}, {0, 1},   {0.5, 1}, {1, 1}, {1.25, 1.5}, {1.75, 2.5},
                                      {2, 7},  {2.5, 6}, {3, 5},   {4, 3}, {6, 3},      {9, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_near(yk_table_value(&table, cases[i][0]), cases[i][1], 1e-15);

    /* One point is a constant. */
    yk_table one = {1, times + 4, values + 4};
    assert_near(yk_table_value(&one, 0), 3, 0);
    assert_near(yk_table_value(&one, 4), 3, 0);
    assert_near(yk_table_value(&one, 9), 3, 0);
}

static void the_next_point_is_after_now(void **state)
{
    (void)state;
    static const double cases[][2] = {{-1, 0}, {0, 1}, {1.5, 2}, {2, 4}, {3, 4}, {4, 8}, {7.9, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_near(yk_table_next_point(&table, cases[i][0]), cases[i][1], 0);
    assert_true(isinf(yk_table_next_point(&table, 8)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_lie_on_lines),
        cmocka_unit_test(the_next_point_is_after_now),
    };
    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
