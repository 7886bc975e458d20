/* Supernodal factorisation with dense panels, compared with known solutions, for many sparsity
 * patterns and any pivot order. */

#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "math/sparse.h"
#include "test.h"

enum { MOST = 80 };

typedef struct problem {
    int n;
    int starts[MOST + 1], rows[MOST * MOST], row_order[MOST], column_order[MOST];
    double values[MOST * MOST];
} problem;

static double number(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1u << 24) - 0.5;
}

static void shuffle(int n, int *order, unsigned *seed)
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = (int)((number(seed) + 0.5) * (i + 1)), swap = order[i];
        order[i] = order[j], order[j] = swap;
    }
}

/* Pivots (row_order[k], column_order[k]) outweigh their columns; other entries by chance, near
 * pivots more likely. */
static problem random_problem(int n, double density, unsigned seed)
{
    problem p = {.n = n};
    int place[MOST];
    shuffle(n, p.row_order, &seed);
    shuffle(n, p.column_order, &seed);
    for (int k = 0; k < n; k++)
        place[p.column_order[k]] = k;
    int count = 0;
    for (int j = 0; j < n; j++) {
        p.starts[j] = count;
        int pivot = p.row_order[place[j]];
        for (int i = 0; i < n; i++) {
            double draw = number(&seed) + 0.5;
            if (i != pivot && draw > density)
                continue;
            p.rows[count] = i;
            p.values[count++] = i == pivot ? 2 + density * n : number(&seed);
        }
    }
    p.starts[n] = count;
    return p;
}

static yk_supernodal *create(yk_context *context, const problem *p, bool exchange)
{
    yk_supernodal_def def = {
        .vertices = p->n,
        .starts = p->starts,
        .rows = p->rows,
        .row_order = p->row_order,
        .column_order = p->column_order,
        .exchange = exchange,
    };
    yk_supernodal *lu;
    assert_int_equal(yk_supernodal_create(context, &def, &lu), YK_OK);
    assert_non_null(lu);
    return lu;
}

static bool factor(const problem *p, const double *values, double least, yk_supernodal *lu)
{
    double *store = yk_supernodal_clear(lu);
    for (int j = 0; j < p->n; j++)
        for (int k = p->starts[j]; k < p->starts[j + 1]; k++)
            store[yk_supernodal_index(lu, p->rows[k], j)] = values[k];
    return yk_supernodal_factor(lu, least);
}

/* Reciprocal pivot growth. */
static double growth_of(const problem *p, const double *values, yk_supernodal *lu)
{
    double largest[MOST], growth = INFINITY;
    yk_supernodal_largest(lu, largest);
    for (int j = 0; j < p->n; j++) {
        double most = 0;
        for (int k = p->starts[j]; k < p->starts[j + 1]; k++)
            most = fmax(most, fabs(values[k]));
        growth = fmin(growth, most / largest[j]);
    }
    return growth;
}

static double error_of(const problem *p, yk_supernodal *lu)
{
    double b[MOST] = {0}, error = 0;
    for (int j = 0; j < p->n; j++)
        for (int k = p->starts[j]; k < p->starts[j + 1]; k++)
            b[p->rows[k]] += p->values[k] * (j + 1);
    yk_supernodal_solve(lu, b);
    for (int j = 0; j < p->n; j++)
        error = fmax(error, fabs(b[j] - (j + 1)));
    return error;
}

static void solves_all_patterns(void **state)
{
    static const double densities[] = {0, 0.01, 0.03, 0.1, 0.3, 1};
    for (int n = 1; n <= MOST; n += n < 20 ? 1 : 15)
        for (int d = 0; d < 6; d++) {
            problem p = random_problem(n, densities[d], (unsigned)(n + 100 * d));
            yk_supernodal *lu = create(*state, &p, false);
            for (int round = 0; round < 2; round++) { /* the second with other numbers */
                assert_true(factor(&p, p.values, 0, lu));
                assert_near(error_of(&p, lu), 0, 1e-12 * n);
                double growth = growth_of(&p, p.values, lu), spread = yk_supernodal_spread(lu);
                assert_true(growth > 0.5 && growth <= 1 + 1e-15 && spread > 0.3 && spread <= 1);
                for (int k = 0; k < p.starts[n]; k++)
                    p.values[k] *= -1.5;
            }
            yk_supernodal_destroy(lu);
        }
}

static void bad_pivots_are_reported(void **state)
{
    problem p = {.n = 2,
                 .starts = {0, 2, 4},
                 .rows = {0, 1, 0, 1},
                 .row_order = {0, 1},
                 .column_order = {0, 1}};
    const double matrices[3][4] = {{0, 1, 1, 0}, {1, 1, 1, 1}, {1, 1, NAN, 1}};
    yk_supernodal *lu = create(*state, &p, false);
    for (int k = 0; k < 3; k++)
        assert_false(factor(&p, matrices[k], 0, lu));
    /* a tiny pivot works, and its growth shows */
    const double tiny[4] = {1e-9, 1, 1, 1};
    assert_true(factor(&p, tiny, 0, lu));
    assert_near(growth_of(&p, tiny, lu), 1e-9, 1e-17);
    yk_supernodal_destroy(lu);
}

/* A block tridiagonal matrix stays one: its factors take the room of their blocks. */
static void chains_do_not_fill(void **state)
{
    enum { BLOCKS = 10, SIZE = 6 };
    problem p = {.n = BLOCKS * SIZE};
    int count = 0;
    for (int j = 0; j < p.n; j++) {
        p.row_order[j] = p.column_order[j] = j;
        p.starts[j] = count;
        for (int i = 0; i < p.n; i++)
            if (abs(i / SIZE - j / SIZE) <= 1)
                p.rows[count] = i, p.values[count++] = i == j ? 30 : 1;
    }
    p.starts[p.n] = count;
    yk_supernodal_def def = {
        .vertices = p.n,
        .starts = p.starts,
        .rows = p.rows,
        .row_order = p.row_order,
        .column_order = p.column_order,
        .most = 4 * BLOCKS * SIZE * SIZE, /* two blocks in each half */
    };
    yk_supernodal *lu;
    assert_int_equal(yk_supernodal_create(*state, &def, &lu), YK_OK);
    assert_non_null(lu);
    assert_true(factor(&p, p.values, 0, lu));
    assert_near(error_of(&p, lu), 0, 1e-11);
    yk_supernodal_destroy(lu);
}

/* Without exchanges, pivots that are far too small spoil the solution; with them it has all
 * its digits. */
static void exchanges_rows_inside_supernodes(void **state)
{
    for (int n = 2; n <= MOST; n += 13) {
        problem p = random_problem(n, 1, (unsigned)n);
        int place[MOST];
        for (int k = 0; k < n; k++)
            place[p.column_order[k]] = k;
        for (int j = 0; j < n; j++)
            for (int k = p.starts[j]; k < p.starts[j + 1]; k++)
                if (p.rows[k] == p.row_order[place[j]])
                    p.values[k] *= 1e-17;
        yk_supernodal *lu = create(*state, &p, true);
        assert_true(factor(&p, p.values, 1e-12, lu));
        assert_near(error_of(&p, lu), 0, 1e-8);
        yk_supernodal_destroy(lu);
    }
}

static void too_large_factors_are_not_made(void **state)
{
    problem p = random_problem(20, 1, 1);
    yk_supernodal_def def = {
        .vertices = p.n,
        .starts = p.starts,
        .rows = p.rows,
        .row_order = p.row_order,
        .column_order = p.column_order,
        .most = 2 * 20 * 20 - 1,
    };
    yk_supernodal *lu;
    assert_int_equal(yk_supernodal_create(*state, &def, &lu), YK_OK);
    assert_null(lu);
}

static yk_sparse *ordered(yk_context *context, int n, const yk_sparse_entry *entries, size_t count,
                          int *place)
{
    yk_sparse *matrix;
    int order[MOST];
    for (int i = 0; i < n; i++)
        order[i] = i;
    assert_int_equal(yk_sparse_create_ordered(context, n, entries, count, place, order, &matrix),
                     YK_OK);
    return matrix;
}

/* The diagonal serves at first and vanishes then; when it comes back the factors are the same, to
 * the bit. */
static void pivots_come_back(void **state)
{
    const yk_sparse_entry entries[] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {1, 2}, {2, 1}, {2, 2}};
    const double first[] = {3, 1, 1, 2.7, 1, 1, 1.9}, later[] = {1e-9, 1, 1, 2.7, 1, 1, 1.9};
    double x[3] = {1, 2, 3}, y[3] = {1, 2, 3}, z[3] = {1, 2, 3};
    int place[7];
    yk_sparse *matrix = ordered(*state, 3, entries, 7, place);
    double *values = yk_sparse_values(matrix);
    for (int k = 0; k < 7; k++)
        values[place[k]] = first[k];
    assert_int_equal(yk_sparse_factor(matrix, NULL), YK_OK);
    yk_sparse_solve(matrix, x);
    for (int k = 0; k < 7; k++)
        values[place[k]] = later[k];
    assert_int_equal(yk_sparse_refactor(matrix, NULL), YK_OK);
    yk_sparse_solve(matrix, y);
    assert_near(1e-9 * y[0] + y[1], 1, 1e-15);
    assert_near(y[0] + 2.7 * y[1] + y[2], 2, 1e-15);
    assert_near(y[1] + 1.9 * y[2], 3, 1e-15);
    for (int k = 0; k < 7; k++)
        values[place[k]] = first[k];
    assert_int_equal(yk_sparse_refactor(matrix, NULL), YK_OK);
    yk_sparse_solve(matrix, z);
    assert_memory_equal(x, z, sizeof x);
    assert_true(yk_sparse_rcond(matrix) > 0.05);
    yk_sparse_destroy(matrix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_all_patterns),
        cmocka_unit_test(bad_pivots_are_reported),
        cmocka_unit_test(chains_do_not_fill),
        cmocka_unit_test(exchanges_rows_inside_supernodes),
        cmocka_unit_test(too_large_factors_are_not_made),
        cmocka_unit_test(pivots_come_back),
    };
    return cmocka_run_group_tests_name("math/supernodal", tests, create_context, destroy_context);
}
