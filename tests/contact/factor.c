/* The sparse factorisation, compared with dense elimination. */
#include "contact/newton.h"

#include "contact/problems.h"
#include "math/dense.h"

/* Blocks of mixed sizes on a random symmetric pattern. */
static void random_pattern(yk_context *context, stream *s, int blocks, double density,
                           yk_contact_problem *problem)
{
    int *dims = calloc((size_t)blocks, sizeof *dims),
        *start = calloc((size_t)blocks + 1, sizeof *start);
    int *columns = calloc((size_t)(blocks * blocks), sizeof *columns);
    char *used = calloc((size_t)(blocks * blocks), 1);
    for (int i = 0; i < blocks; i++) {
        dims[i] = (int[]){1, 2, 3, 3, 6}[(int)(2.49 * (next_number(s) + 1))];
        used[i * blocks + i] = 1;
        for (int j = 0; j < i; j++)
            used[i * blocks + j] = used[j * blocks + i] = next_number(s) < 2 * density - 1;
    }
    for (int i = 0; i < blocks; i++) {
        start[i + 1] = start[i];
        for (int j = 0; j < blocks; j++)
            if (used[i * blocks + j])
                columns[start[i + 1]++] = j;
    }
    assert_int_equal(yk_contact_problem_create(context, blocks, 0, dims, start, columns, problem),
                     YK_OK);
    free(used);
    free(columns);
    free(start);
    free(dims);
}

/* Fills W with random numbers (not symmetric), the factor from the left, if any, and the addition
 * to the diagonal; returns A dense. */
static double *random_values(stream *s, yk_contact_problem *problem, bool with_left, double *left,
                             double *diagonal, size_t *offset)
{
    yk_block_matrix *w = &problem->w;
    int n = problem->row_count;
    double *dense = calloc((size_t)(n * n), sizeof *dense);
    for (int i = 0; i < w->block_rows; i++) {
        int dim = w->first[i + 1] - w->first[i];
        offset[i + 1] = offset[i] + (size_t)(dim * dim);
        for (int e = 0; e < dim * dim; e++)
            left[offset[i] + (size_t)e] = next_number(s) / 3 + (e % (dim + 1) == 0);
        for (int k = w->start[i]; k < w->start[i + 1]; k++) {
            int j = w->column[k], columns = w->first[j + 1] - w->first[j];
            for (int r = 0; r < dim; r++)
                for (int c = 0; c < columns; c++) {
                    double value = next_number(s), extra = 0;
                    w->value[w->offset[k] + (size_t)(r * columns + c)] = value;
                    if (i == j)
                        diagonal[offset[i] + (size_t)(r * dim + c)] = extra =
                            next_number(s) + (r == c ? 3 : 0);
                    dense[(w->first[i] + r) * n + w->first[j] + c] += extra;
                    for (int l = 0; l < dim; l++) {
                        double factor =
                            with_left ? left[offset[i] + (size_t)(l * dim + r)] : l == r;
                        dense[(w->first[i] + l) * n + w->first[j] + c] += factor * value;
                    }
                }
        }
    }
    return dense;
}

static void solves_like_dense_elimination(void **state)
{
    (void)state;
    yk_context *context = make_context();
    stream s = {3};
    const int sizes[] = {1, 2, 7, 30, 60};
    const double densities[] = {0.05, 0.2, 1};
    for (int trial = 0; trial < 15; trial++) {
        yk_contact_problem problem;
        random_pattern(context, &s, sizes[trial % 5], densities[trial / 5], &problem);
        int n = problem.row_count;
        double *diagonal = calloc((size_t)(36 * problem.w.block_rows), sizeof *diagonal);
        size_t *offset = calloc((size_t)problem.w.block_rows + 1, sizeof *offset);
        double *left = calloc((size_t)(36 * problem.w.block_rows), sizeof *left);
        double *dense = random_values(&s, &problem, trial % 2, left, diagonal, offset);
        double *x = calloc((size_t)n, sizeof *x), *b = calloc((size_t)n, sizeof *b);
        for (int i = 0; i < n; i++)
            x[i] = next_number(&s);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                b[i] += dense[i * n + j] * x[j];
        yk_factor *factor;
        assert_int_equal(yk_factor_create(context, &problem.w, &factor), YK_OK);
        for (int again = 0; again < 2; again++)
            yk_factor_compute(factor, &problem.w, trial % 2 ? left : NULL, diagonal, offset, 1e-12);
        double *y = calloc((size_t)n, sizeof *y), *reference = calloc((size_t)n, sizeof *reference),
               error = 0, dense_error = 0;
        int *pivot = calloc((size_t)n, sizeof *pivot);
        memcpy(y, b, (size_t)n * sizeof *y);
        memcpy(reference, b, (size_t)n * sizeof *y);
        yk_factor_solve(factor, y);
        assert_int_equal(yk_lu_factor(n, dense, pivot), YK_OK);
        yk_lu_solve(n, dense, pivot, reference);
        for (int i = 0; i < n; i++) {
            error = fmax(error, fabs(y[i] - x[i]));
            dense_error = fmax(dense_error, fabs(reference[i] - x[i]));
        }
        /* pivoting inside supernodes only may cost digits, not more */
        assert_true(error < 1e-8 && error < 1e5 * dense_error + 1e-12);
        free(pivot);
        free(reference);
        free(y);
        free(b);
        free(x);
        free(dense);
        free(offset);
        free(diagonal);
        free(left);
        yk_factor_destroy(factor);
        yk_contact_problem_destroy(context, &problem);
    }
    yk_context_destroy(context);
}

static void singular_matrix_is_survived(void **state)
{
    (void)state;
    yk_context *context = make_context();
    yk_contact_problem problem;
    const double w[] = {1, 1, 1, 1}, q[] = {0, 0}, mu[] = {0, 0};
    assert_int_equal(yk_contact_problem_from_dense(context, 1, 2, 0, w, q, mu, &problem), YK_OK);
    yk_factor *factor;
    assert_int_equal(yk_factor_create(context, &problem.w, &factor), YK_OK);
    const double diagonal[] = {0, 0};
    const size_t offset[] = {0, 1, 2};
    yk_factor_compute(factor, &problem.w, NULL, diagonal, offset, 1e-12);
    double b[] = {1, 1};
    yk_factor_solve(factor, b);
    assert_near(b[0] + b[1], 1, 1e-12);
    yk_factor_destroy(factor);
    yk_contact_problem_destroy(context, &problem);
    yk_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_like_dense_elimination),
        cmocka_unit_test(singular_matrix_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
