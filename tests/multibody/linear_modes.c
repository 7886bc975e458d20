/* Modes of systems whose spectra are known in closed form. */
#include "multibody/modes.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

enum { ENTRIES = 40000 };

/* A system that grows entry by entry. */
typedef struct builder {
    yk_linear_system system;
    yk_matrix_entry mass[ENTRIES], damping[ENTRIES], stiffness[ENTRIES], constraint[ENTRIES];
} builder;

static builder shared;

static builder *fresh(int unknowns)
{
    memset(&shared.system, 0, sizeof shared.system);
    shared.system.unknowns = unknowns;
    shared.system.mass.entries = shared.mass;
    shared.system.damping.entries = shared.damping;
    shared.system.stiffness.entries = shared.stiffness;
    shared.system.constraint.entries = shared.constraint;
    return &shared;
}

static void add(yk_linear_matrix *matrix, yk_matrix_entry *entries, int row, int column,
                double value)
{
    assert_true(matrix->count < ENTRIES);
    entries[matrix->count++] = (yk_matrix_entry){row, column, value};
}

static void mass(builder *b, int i, double m)
{
    add(&b->system.mass, b->mass, i, i, m);
}

static void stiffness(builder *b, int i, int j, double k)
{
    add(&b->system.stiffness, b->stiffness, i, j, k);
}

static void damping(builder *b, int i, int j, double c)
{
    add(&b->system.damping, b->damping, i, j, c);
}

/* j = -1: the ground */
static void spring(builder *b, int i, int j, double k)
{
    stiffness(b, i, i, k);
    if (j < 0)
        return;
    stiffness(b, j, j, k);
    stiffness(b, i, j, -k);
    stiffness(b, j, i, -k);
}

/* n unit masses with springs k between the walls, from unknown `first` on */
static void chain(builder *b, int first, int n, double k)
{
    for (int i = 0; i < n; i++) {
        mass(b, first + i, 1);
        spring(b, first + i, i > 0 ? first + i - 1 : -1, k);
    }
    spring(b, first + n - 1, -1, k);
}

static double chain_frequency(int n, double k, int mode)
{
    return 2 * sqrt(k) * sin(mode * 3.14159265358979323846 / (2 * (n + 1)));
}

static yk_linear_modes *solve(yk_context *context, builder *b, int count)
{
    yk_modes_options options = yk_modes_default();
    options.count = count;
    yk_linear_modes *modes;
    yk_status status = yk_linear_modes_solve(context, &b->system, &options, &modes);
    if (status != YK_OK)
        print_error("%s\n", yk_last_message(context));
    assert_int_equal(status, YK_OK);
    return modes;
}

static void all_modes_of_a_small_chain(void **state)
{
    builder *b = fresh(5);
    chain(b, 0, 5, 300);
    yk_linear_modes *modes = solve(*state, b, 20);
    assert_int_equal(modes->count, 5);
    for (int k = 0; k < 5; k++) {
        assert_relative(modes->imaginary[k], chain_frequency(5, 300, k + 1), 1e-11);
        assert_near(modes->real[k], 0, 0);
    }
    const double *shape = yk_linear_modes_shape(modes, 0, false);
    for (int i = 0; i < 5; i++)
        assert_near(shape[i], sin((i + 1) * 3.14159265358979323846 / 6), 1e-9);
    yk_linear_modes_destroy(modes);
}

static void lowest_modes_of_a_long_chain(void **state)
{
    builder *b = fresh(4000);
    chain(b, 0, 4000, 1e6);
    yk_linear_modes *modes = solve(*state, b, 12);
    assert_int_equal(modes->count, 12);
    assert_true(modes->subspace < 400);
    for (int k = 0; k < 12; k++)
        assert_relative(modes->imaginary[k], chain_frequency(4000, 1e6, k + 1), 1e-8);
    yk_linear_modes_destroy(modes);
}

/* Three equal chains side by side: every frequency three times, with shapes orthogonal to each
 * other. */
static void equal_frequencies_are_all_found(void **state)
{
    builder *b = fresh(600);
    for (int k = 0; k < 3; k++)
        chain(b, 200 * k, 200, 1e4);
    yk_linear_modes *modes = solve(*state, b, 12);
    for (int k = 0; k < 12; k++)
        assert_relative(modes->imaginary[k], chain_frequency(200, 1e4, k / 3 + 1), 1e-9);
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++) {
            double product = 0;
            const double *x = yk_linear_modes_shape(modes, i, false),
                         *y = yk_linear_modes_shape(modes, j, false);
            for (int k = 0; k < 600; k++)
                product += x[k] * y[k];
            if (i == j)
                assert_true(product > 0.5);
            else
                assert_near(product, 0, 1e-6);
        }
    yk_linear_modes_destroy(modes);
}

/* Holding a mass splits the chain; saying it twice changes nothing. */
static void constraints_hold_even_when_redundant(void **state)
{
    builder *b = fresh(9);
    chain(b, 0, 9, 50);
    b->system.constraints = 3;
    add(&b->system.constraint, b->constraint, 0, 4, 1);
    add(&b->system.constraint, b->constraint, 1, 4, 2);
    add(&b->system.constraint, b->constraint, 2, 0, 1);
    add(&b->system.constraint, b->constraint, 2, 8, -1);
    yk_linear_modes *modes = solve(*state, b, 9);
    assert_int_equal(modes->count, 7);
    for (int k = 0; k < 4; k++) {
        double expected = chain_frequency(4, 50, k + 1);
        bool found = false;
        for (int i = 0; i < 7; i++) {
            found |= fabs(modes->imaginary[i] - expected) < 1e-9 * expected;
            assert_near(yk_linear_modes_shape(modes, i, false)[4], 0, 1e-9);
        }
        assert_true(found);
    }
    yk_linear_modes_destroy(modes);
}

static void massless_unknowns_follow(void **state)
{
    /* wall - k - massless - k - mass: sqrt(k/2 / m) */
    builder *b = fresh(2);
    mass(b, 1, 2);
    spring(b, 0, -1, 300);
    spring(b, 1, 0, 300);
    yk_linear_modes *modes = solve(*state, b, 2);
    assert_int_equal(modes->count, 1);
    assert_relative(modes->imaginary[0], sqrt(150.0 / 2), 1e-11);
    assert_near(yk_linear_modes_shape(modes, 0, false)[0], 0.5, 1e-11);
    yk_linear_modes_destroy(modes);
}

static void free_bodies_have_frequency_zero(void **state)
{
    builder *b = fresh(3);
    for (int i = 0; i < 3; i++)
        mass(b, i, 1);
    spring(b, 1, 0, 100);
    spring(b, 2, 1, 100);
    yk_linear_modes *modes = solve(*state, b, 3);
    assert_true(hypot(modes->real[0], modes->imaginary[0]) < modes->floor[0]);
    assert_relative(modes->imaginary[1], 10.0, 1e-10);
    assert_relative(modes->imaginary[2], sqrt(300), 1e-10);
    yk_linear_modes_destroy(modes);
}

/* Light parts on stiff springs next to a heavy one on a soft spring seem to drift freely: rounding of the
 * stiff springs is no frequency, and the soft spring's is one, although it is far below the
 * highest. */
static void free_and_slow_modes_are_distinguished_apart(void **state)
{
    builder *b = fresh(6);
    for (int i = 0; i < 5; i++)
        mass(b, i, 1e-7 * (1 + 0.37 * i));
    for (int i = 1; i < 5; i++)
        spring(b, i, i - 1, 1e7 * sqrt(1.7 + i));
    mass(b, 5, 1);
    spring(b, 5, -1, 10);
    yk_linear_modes *modes = solve(*state, b, 2);
    double size[2];
    for (int i = 0; i < 2; i++)
        size[i] = hypot(modes->real[i], modes->imaginary[i]);
    int slow = fabs(modes->imaginary[0] - sqrt(10)) < fabs(modes->imaginary[1] - sqrt(10)) ? 0 : 1;
    assert_relative(modes->imaginary[slow], sqrt(10), 1e-8);
    assert_true(size[slow] > modes->floor[slow]);
    assert_true(size[1 - slow] < modes->floor[1 - slow]);
    yk_linear_modes_destroy(modes);
}

static void damped_modes_are_complex(void **state)
{
    /* proportional damping c = 0.02 k: ratio 0.01 w */
    int n = 40;
    builder *b = fresh(n);
    chain(b, 0, n, 30);
    size_t count = b->system.stiffness.count;
    for (size_t i = 0; i < count; i++)
        damping(b, b->stiffness[i].row, b->stiffness[i].column, 0.02 * b->stiffness[i].value);
    yk_linear_modes *modes = solve(*state, b, 8);
    for (int k = 0; k < 8; k++) {
        double w = chain_frequency(n, 30, k + 1), ratio = 0.01 * w;
        assert_relative(modes->real[k], -ratio * w, 1e-8);
        assert_relative(modes->imaginary[k], w * sqrt(1 - ratio * ratio), 1e-8);
    }
    yk_linear_modes_destroy(modes);
}

static void overdamped_modes_are_real(void **state)
{
    /* s^2 + 5 s + 4: -1 and -4 */
    builder *b = fresh(1);
    mass(b, 0, 1);
    damping(b, 0, 0, 5);
    stiffness(b, 0, 0, 4);
    yk_linear_modes *modes = solve(*state, b, 2);
    assert_int_equal(modes->count, 2);
    assert_near(modes->real[0], -1, 1e-10);
    assert_near(modes->real[1], -4, 1e-10);
    assert_near(modes->imaginary[0], 0, 0);
    yk_linear_modes_destroy(modes);
}

/* A mass on springs in a frame that turns: sqrt(k + W^2) +- W, whirling both ways. */
static void gyroscopic_modes_split(void **state)
{
    builder *b = fresh(2);
    double k = 100, rotation = 3;
    for (int i = 0; i < 2; i++)
        mass(b, i, 1), stiffness(b, i, i, k);
    damping(b, 0, 1, -2 * rotation);
    damping(b, 1, 0, 2 * rotation);
    yk_linear_modes *modes = solve(*state, b, 2);
    for (int i = 0; i < 2; i++) {
        double sign = i == 0 ? -1 : 1;
        assert_relative(modes->imaginary[i], sqrt(k + rotation * rotation) + sign * rotation,
                        1e-10);
        assert_near(modes->real[i], 0, 1e-9);
        /* circular: the unknowns are a quarter of a rotation apart, q' = s q with s = +i w */
        const double *re = yk_linear_modes_shape(modes, i, false),
                     *im = yk_linear_modes_shape(modes, i, true);
        double factor_re = 0, factor_im = 0; /* (s^2 + k) q0 - 2 W s q1 */
        double w = modes->imaginary[i];
        factor_re = (k - w * w) * re[0] + 2 * rotation * w * im[1];
        factor_im = (k - w * w) * im[0] - 2 * rotation * w * re[1];
        assert_near(factor_re, 0, 1e-7);
        assert_near(factor_im, 0, 1e-7);
    }
    yk_linear_modes_destroy(modes);
}

static void unstable_equilibria_grow(void **state)
{
    builder *b = fresh(2);
    mass(b, 0, 2), mass(b, 1, 1);
    stiffness(b, 0, 0, -18);
    stiffness(b, 1, 1, 49);
    yk_linear_modes *modes = solve(*state, b, 2);
    assert_relative(modes->real[0], 3.0, 1e-10);
    assert_near(modes->imaginary[0], 0, 0);
    assert_relative(modes->imaginary[1], 7.0, 1e-10);
    yk_linear_modes_destroy(modes);
}

/* Follower loads: K = [a b; -b a] gives s^2 = -a +- i b. */
static void flutter_has_one_growing_mode(void **state)
{
    builder *b = fresh(2);
    mass(b, 0, 1), mass(b, 1, 1);
    stiffness(b, 0, 0, 21), stiffness(b, 1, 1, 21);
    stiffness(b, 0, 1, 20), stiffness(b, 1, 0, -20);
    yk_linear_modes *modes = solve(*state, b, 2);
    assert_int_equal(modes->count, 2);
    /* sqrt(-21 + 20 i) = 2 + 5 i */
    assert_near(modes->real[0] * modes->real[1], -4, 1e-9);
    assert_near(modes->imaginary[0], 5, 1e-10);
    assert_near(modes->imaginary[1], 5, 1e-10);
    yk_linear_modes_destroy(modes);
}

static void mistakes_are_named(void **state)
{
    yk_modes_options options = yk_modes_default();
    yk_linear_modes *modes;
    builder *b = fresh(2);
    stiffness(b, 0, 0, 1);
    assert_int_equal(yk_linear_modes_solve(*state, &b->system, &options, &modes),
                     YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(*state), "no mass"));
    mass(b, 0, 1);
    stiffness(b, 1, 1, 0);
    assert_int_equal(yk_linear_modes_solve(*state, &b->system, &options, &modes),
                     YK_ERROR_SINGULAR);
    assert_non_null(strstr(yk_last_message(*state), "unknown 1"));
    assert_null(modes);
    b = fresh(3000);
    chain(b, 0, 3000, 1);
    options.count = 40;
    options.subspace = 60;
    assert_int_equal(yk_linear_modes_solve(*state, &b->system, &options, &modes), YK_NOT_CONVERGED);
    assert_true(modes->count < 40);
    yk_linear_modes_destroy(modes);
}

static int set_up(void **state)
{
    yk_context_def def = yk_context_default();
    *state = yk_context_create(&def);
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    yk_context_destroy(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_modes_of_a_small_chain),
        cmocka_unit_test(lowest_modes_of_a_long_chain),
        cmocka_unit_test(equal_frequencies_are_all_found),
        cmocka_unit_test(constraints_hold_even_when_redundant),
        cmocka_unit_test(massless_unknowns_follow),
        cmocka_unit_test(free_bodies_have_frequency_zero),
        cmocka_unit_test(free_and_slow_modes_are_distinguished_apart),
        cmocka_unit_test(damped_modes_are_complex),
        cmocka_unit_test(overdamped_modes_are_real),
        cmocka_unit_test(gyroscopic_modes_split),
        cmocka_unit_test(unstable_equilibria_grow),
        cmocka_unit_test(flutter_has_one_growing_mode),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
