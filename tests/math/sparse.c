/* Assembly, factorisation, refactorisation and failure of sparse systems. */
#include "math/sparse.h"

#include <SuiteSparse_config.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "test.h"

/* A matrix with its entries and the map into its values. */
typedef struct fixture {
    yk_sparse *matrix;
    int n;
    yk_sparse_entry entries[4096];
    double x[4096];
    int place[4096];
    size_t count;
} fixture;

static void add(fixture *f, int row, int column, double x)
{
    f->entries[f->count] = (yk_sparse_entry){row, column};
    f->x[f->count++] = x;
}

static void create(yk_context *context, fixture *f, int n)
{
    assert_int_equal(yk_sparse_create(context, n, f->entries, f->count, f->place, &f->matrix),
                     YK_OK);
    f->n = n;
}

static void assemble(fixture *f)
{
    double *values = yk_sparse_values(f->matrix);
    memset(values, 0, yk_sparse_nonzeros(f->matrix) * sizeof *values);
    for (size_t k = 0; k < f->count; k++)
        values[f->place[k]] += f->x[k];
}

/* Solves A x = b for the known x = 1, 2, ... and returns the largest error. */
static double solution_error(fixture *f)
{
    int n = f->n;
    double x[512], b[512], error = 0;
    for (int i = 0; i < n; i++)
        x[i] = i + 1;
    yk_sparse_multiply(f->matrix, x, b);
    yk_sparse_solve(f->matrix, b);
    for (int i = 0; i < n; i++)
        error = isnan(b[i]) ? b[i] : fmax(error, fabs(b[i] - x[i]));
    return error;
}

/* Entries in any order, some given several times, as elements do. */
static void duplicates_are_summed_in_sorted_columns(void **state)
{
    fixture f = {0};
    add(&f, 2, 0, 1);
    add(&f, 0, 0, 4);
    add(&f, 1, 1, 3);
    add(&f, 2, 0, 2);
    add(&f, 2, 2, 5);
    add(&f, 0, 1, -1);
    add(&f, 2, 0, 4);
    create(*state, &f, 3);
    assemble(&f);
    const int starts[] = {0, 2, 4, 5}, rows[] = {0, 2, 0, 1, 2};
    const double values[] = {4, 7, -1, 3, 5};
    assert_int_equal(yk_sparse_nonzeros(f.matrix), 5);
    assert_memory_equal(yk_sparse_column_starts(f.matrix), starts, sizeof starts);
    assert_memory_equal(yk_sparse_rows(f.matrix), rows, sizeof rows);
    assert_memory_equal(yk_sparse_values(f.matrix), values, sizeof values);
    double x[3] = {1, 2, 3}, y[3];
    yk_sparse_multiply(f.matrix, x, y);
    assert_near(y[0], 2, 0);
    assert_near(y[1], 6, 0);
    assert_near(y[2], 22, 0);
    assert_int_equal(yk_sparse_factor(f.matrix, NULL), YK_OK);
    assert_near(solution_error(&f), 0, 1e-15);
    yk_sparse_destroy(f.matrix);
}

/* A chain of masses with one constraint per neighbour pair: indefinite, zero block on the
 * diagonal. */
static void fill_chain(fixture *f, int masses, double stiffness)
{
    f->count = 0;
    for (int i = 0; i < masses; i++)
        add(f, i, i, 1 + 0.1 * i + stiffness);
    for (int i = 0; i + 1 < masses; i++) {
        int row = masses + i;
        add(f, row, i, 1);
        add(f, row, i + 1, -1 - stiffness);
        add(f, i, row, 1);
        add(f, i + 1, row, -1 - stiffness);
        add(f, row, row, 0);
    }
}

static void kkt_system_with_zero_diagonal_is_solved(void **state)
{
    fixture f = {0};
    fill_chain(&f, 100, 0);
    create(*state, &f, 199);
    assemble(&f);
    assert_int_equal(yk_sparse_factor(f.matrix, NULL), YK_OK);
    assert_near(solution_error(&f), 0, 1e-10);
    yk_sparse_destroy(f.matrix);
}

static void refactor_solves_like_factor(void **state)
{
    fixture f = {0};
    fill_chain(&f, 100, 0);
    create(*state, &f, 199);
    assemble(&f);
    assert_int_equal(yk_sparse_refactor(f.matrix, NULL),
                     YK_OK); /* the first one is a full factorisation */
    fill_chain(&f, 100, 0.01);
    assemble(&f);
    double b[199], c[199];
    for (int i = 0; i < 199; i++)
        b[i] = c[i] = sin(i);
    assert_int_equal(yk_sparse_refactor(f.matrix, NULL), YK_OK);
    yk_sparse_solve(f.matrix, b);
    assert_int_equal(yk_sparse_factor(f.matrix, NULL), YK_OK);
    yk_sparse_solve(f.matrix, c);
    for (int i = 0; i < 199; i++)
        assert_near(b[i], c[i], 1e-11);
    yk_sparse_destroy(f.matrix);
}

static int allocations;

static void *count_malloc(size_t bytes)
{
    allocations++;
    return malloc(bytes);
}

static void *count_calloc(size_t count, size_t bytes)
{
    allocations++;
    return calloc(count, bytes);
}

static void *count_realloc(void *block, size_t bytes)
{
    allocations++;
    return realloc(block, bytes);
}

static void refactor_and_solve_allocate_nothing(void **state)
{
    fixture f = {0};
    fill_chain(&f, 100, 0);
    create(*state, &f, 199);
    assemble(&f);
    SuiteSparse_config.malloc_func = count_malloc;
    SuiteSparse_config.calloc_func = count_calloc;
    SuiteSparse_config.realloc_func = count_realloc;
    allocations = 0;
    assert_int_equal(yk_sparse_factor(f.matrix, NULL), YK_OK);
    assert_true(allocations > 0); /* the counter is connected */
    allocations = 0;
    for (int i = 0; i < 10; i++) {
        fill_chain(&f, 100, 0.001 * i);
        assemble(&f);
        assert_int_equal(yk_sparse_refactor(f.matrix, NULL), YK_OK);
        assert_near(solution_error(&f), 0, 1e-9);
    }
    assert_int_equal(allocations, 0);
    SuiteSparse_config.malloc_func = malloc;
    SuiteSparse_config.calloc_func = calloc;
    SuiteSparse_config.realloc_func = realloc;
    yk_sparse_destroy(f.matrix);
}

static void set_two_by_two(fixture *f, double a, double b, double c, double d)
{
    f->x[0] = a, f->x[1] = b, f->x[2] = c, f->x[3] = d;
    assemble(f);
}

static void create_two_by_two(yk_context *context, fixture *f)
{
    add(f, 0, 0, 0);
    add(f, 0, 1, 0);
    add(f, 1, 0, 0);
    add(f, 1, 1, 0);
    create(context, f, 2);
}

/* The old pivots stay non-zero but become tiny: without the watch on their growth all digits
 * would be lost. */
static void refactor_picks_new_pivots_when_the_old_ones_went_bad(void **state)
{
    fixture f = {0};
    create_two_by_two(*state, &f);
    set_two_by_two(&f, 4, 1, 1, 3);
    assert_int_equal(yk_sparse_factor(f.matrix, NULL), YK_OK);
    set_two_by_two(&f, 1e-17, 1, 1, 1e-17);
    assert_int_equal(yk_sparse_refactor(f.matrix, NULL), YK_OK);
    assert_near(solution_error(&f), 0, 1e-15);
    set_two_by_two(&f, 0, 1, 1, 0); /* and a pivot that vanishes */
    assert_int_equal(yk_sparse_refactor(f.matrix, NULL), YK_OK);
    assert_near(solution_error(&f), 0, 0);
    set_two_by_two(&f, 4, 1, 1, 3);
    assert_int_equal(yk_sparse_refactor(f.matrix, NULL), YK_OK);
    assert_near(solution_error(&f), 0, 1e-15);
    yk_sparse_destroy(f.matrix);
}

/* A rollback does not know what was factored in between: the same bits must come out. */
static void factors_depend_on_no_matrix_between(void **state)
{
    enum { COUNT = 40 };
    double b[2][COUNT];
    for (int between = 0; between < 2; between++) {
        fixture f = {0};
        create_two_by_two(*state, &f);
        set_two_by_two(&f, 3, 1.1, 0.7, 2);
        assert_int_equal(yk_sparse_factor(f.matrix, NULL), YK_OK);
        if (between) {
            set_two_by_two(&f, 1e-12, 1, 1, 1e-12);
            assert_int_equal(yk_sparse_refactor(f.matrix, NULL), YK_OK);
        }
        set_two_by_two(&f, 1.1, 0.9, 1.3, 0.37);
        assert_int_equal(yk_sparse_refactor(f.matrix, NULL), YK_OK);
        for (int i = 0; i < COUNT; i++)
            b[between][i] = sin(i);
        for (int i = 0; i < COUNT; i += 2)
            yk_sparse_solve(f.matrix, &b[between][i]);
        yk_sparse_destroy(f.matrix);
    }
    assert_memory_equal(b[0], b[1], sizeof b[0]);
}

static void singular_column_is_named_and_the_matrix_recovers(void **state)
{
    fixture f = {0};
    for (int i = 0; i < 4; i++)
        add(&f, i, i, i == 2 ? 0 : 1);
    create(*state, &f, 4);
    assemble(&f);
    int column = -1;
    assert_int_equal(yk_sparse_factor(f.matrix, &column), YK_ERROR_SINGULAR);
    assert_int_equal(column, 2);
    assert_non_null(strstr(yk_last_message(*state), "column 2"));
    assert_true(isnan(solution_error(&f))); /* no factors, no solution */
    assert_near(yk_sparse_rcond(f.matrix), 0, 0);
    f.x[2] = 5;
    assemble(&f);
    assert_int_equal(yk_sparse_refactor(f.matrix, &column), YK_OK);
    assert_near(solution_error(&f), 0, 0);
    yk_sparse_destroy(f.matrix);
}

static void refactor_finds_a_matrix_that_became_singular(void **state)
{
    fixture f = {0};
    create_two_by_two(*state, &f);
    set_two_by_two(&f, 4, 1, 1, 3);
    assert_int_equal(yk_sparse_factor(f.matrix, NULL), YK_OK);
    set_two_by_two(&f, 1, 2, 2, 4);
    int column = -1;
    assert_int_equal(yk_sparse_refactor(f.matrix, &column), YK_ERROR_SINGULAR);
    assert_in_range(column, 0, 1);
    yk_sparse_destroy(f.matrix);
}

static void structurally_empty_column_is_named(void **state)
{
    fixture f = {0};
    add(&f, 0, 0, 1);
    add(&f, 1, 0, 1);
    add(&f, 2, 2, 1);
    create(*state, &f, 3);
    assemble(&f);
    int column = -1;
    assert_int_equal(yk_sparse_factor(f.matrix, &column), YK_ERROR_SINGULAR);
    assert_int_equal(column, 1);
    yk_sparse_destroy(f.matrix);
}

static void values_that_are_not_finite_are_named(void **state)
{
    fixture f = {0};
    for (int i = 0; i < 4; i++)
        add(&f, i, i, 1);
    add(&f, 0, 3, NAN); /* off the diagonal blocks, where no pivot would see it */
    create(*state, &f, 4);
    assemble(&f);
    int column = -1;
    assert_int_equal(yk_sparse_factor(f.matrix, &column), YK_ERROR_NOT_FINITE);
    assert_int_equal(column, 3);
    assert_non_null(strstr(yk_last_message(*state), "row 0, column 3"));
    yk_sparse_destroy(f.matrix);
}

static void condition_is_estimated(void **state)
{
    fixture f = {0};
    create_two_by_two(*state, &f);
    set_two_by_two(&f, 1, 2, 3, 4); /* norm 6, norm of the inverse 3.5 */
    assert_int_equal(yk_sparse_factor(f.matrix, NULL), YK_OK);
    assert_near(yk_sparse_rcond(f.matrix), 1 / 21.0, 1e-14);
    yk_sparse_destroy(f.matrix);
}

static void entries_outside_are_refused(void **state)
{
    yk_sparse *matrix = NULL;
    yk_sparse_entry entries[2] = {{0, 0}, {1, 2}};
    int place[2];
    assert_int_equal(yk_sparse_create(*state, 2, entries, 2, place, &matrix), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(*state), "entry 1 at (1, 2)"));
    assert_int_equal(yk_sparse_create(*state, 0, entries, 0, place, &matrix), YK_ERROR_ARGUMENT);
    assert_null(matrix);
}

/* Fails after a number of allocations; frees never fail. */
static void *failing_allocator(void *user, void *block, size_t bytes)
{
    int *left = user;
    if (bytes && (*left)-- <= 0)
        return NULL;
    if (bytes)
        return realloc(block, bytes);
    free(block);
    return NULL;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    const yk_sparse_entry entries[2] = {{0, 0}, {1, 1}};
    int failures = 0;
    for (int budget = 1;; budget++) {
        int left = budget, place[2];
        yk_context_def def = yk_context_default();
        def.allocate = failing_allocator;
        def.allocate_user = &left;
        yk_context *context = yk_context_create(&def);
        yk_sparse *matrix = NULL;
        yk_status status = yk_sparse_create(context, 2, entries, 2, place, &matrix);
        yk_sparse_destroy(matrix);
        yk_context_destroy(context);
        if (status == YK_OK)
            break;
        assert_int_equal(status, YK_ERROR_MEMORY);
        assert_null(matrix);
        failures++;
    }
    assert_int_equal(failures, 7);
}

/* A star: leaves go first, for the hub would join them all. */
static void graphs_are_ordered_against_fill(void **state)
{
    enum { N = 9, HUB = 4 };
    yk_sparse_entry edges[2 * N];
    size_t count = 0;
    for (int i = 0; i < N; i++) {
        if (i == HUB)
            continue;
        edges[count++] = (yk_sparse_entry){i, HUB};
        edges[count++] = (yk_sparse_entry){HUB, i};
    }

    int order[N], seen[N] = {0}, place = -1;
    assert_int_equal(yk_graph_order(*state, N, edges, count, order), YK_OK);
    for (int i = 0; i < N; i++) {
        assert_in_range(order[i], 0, N - 1);
        seen[order[i]]++;
        if (order[i] == HUB)
            place = i;
    }
    for (int i = 0; i < N; i++)
        assert_int_equal(seen[i], 1);
    assert_true(place >= N - 2);

    edges[0].row = N;
    assert_int_equal(yk_graph_order(*state, N, edges, count, order), YK_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(duplicates_are_summed_in_sorted_columns),
        cmocka_unit_test(kkt_system_with_zero_diagonal_is_solved),
        cmocka_unit_test(refactor_solves_like_factor),
        cmocka_unit_test(refactor_and_solve_allocate_nothing),
        cmocka_unit_test(refactor_picks_new_pivots_when_the_old_ones_went_bad),
        cmocka_unit_test(factors_depend_on_no_matrix_between),
        cmocka_unit_test(singular_column_is_named_and_the_matrix_recovers),
        cmocka_unit_test(refactor_finds_a_matrix_that_became_singular),
        cmocka_unit_test(structurally_empty_column_is_named),
        cmocka_unit_test(values_that_are_not_finite_are_named),
        cmocka_unit_test(condition_is_estimated),
        cmocka_unit_test(entries_outside_are_refused),
        cmocka_unit_test(graphs_are_ordered_against_fill),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests_name("sparse", tests, create_context, destroy_context);
}
