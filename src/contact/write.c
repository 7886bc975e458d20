/* Writes contact problems in the format of the collections (read.h), after eliminating joints if
 * necessary. */
#include "contact/write.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/output.h"
#include "base/text.h"
#include "math/dense.h"

/* Rows of a problem with joints, which becomes dense. */
enum { ROWS_MAX = 6000 };

static void write_integers(FILE *file, const int *values, int count)
{
    for (int i = 0; i < count; i++)
        fprintf(file, "%d\t", values[i]);
    fprintf(file, "\n");
}

yk_status yk_contact_check_storable(yk_context *context, const yk_contact_problem *problem)
{
    const yk_block_matrix *w = &problem->w;
    int contacts = problem->contact_count;
    if (contacts == 0)
        return yk_fail(context, YK_ERROR_ARGUMENT, "contact: there is no contact to write");
    if (w->block_rows > contacts)
        return yk_fail(
            context, YK_ERROR_CAPABILITY,
            "contact: the format of stored problems has no joints: eliminate them first");

    /* The format has one dimension for all contacts, and no torques. */
    int dim = w->first[1];
    for (int i = 0; i < contacts; i++)
        if (w->first[i + 1] - w->first[i] != dim || dim > 3)
            return yk_fail(
                context, YK_ERROR_CAPABILITY,
                "contact: stored problems have contacts of one dimension, 1 to 3; contact "
                "%d has %d rows (spinning and rolling friction cannot be written)",
                i, w->first[i + 1] - w->first[i]);
    return YK_OK;
}

yk_status yk_contact_write(yk_context *context, const char *path, const yk_contact_problem *problem)
{
    yk_status status = yk_contact_check_storable(context, problem);
    if (status != YK_OK)
        return status;

    const yk_block_matrix *w = &problem->w;
    int contacts = problem->contact_count;
    int dim = w->first[1];
    yk_output output = yk_output_open(path);
    FILE *file = output.stream;
    if (!file) {
        yk_output_discard(&output);
        return yk_fail(context, YK_ERROR_FILE, "'%s' cannot be written: %s", path, strerror(errno));
    }

    /* The header, and the places of the blocks (storage 1). */
    int blocks = w->start[contacts];
    fprintf(file, "%d\n%d\n1\n%d\n%d\n%d\n%d\n%d\n", dim, contacts, problem->row_count,
            problem->row_count, blocks, contacts, contacts);
    write_integers(file, w->first + 1, contacts);
    write_integers(file, w->first + 1, contacts);
    fprintf(file, "%d\n%d\n", contacts + 1, blocks);
    write_integers(file, w->start, contacts + 1);
    write_integers(file, w->column, blocks);

    /* Their values by columns, with softness on the diagonal. */
    for (int i = 0; i < contacts; i++) {
        for (int k = w->start[i]; k < w->start[i + 1]; k++) {
            const double *value = w->value + w->offset[k];
            fprintf(file, "%d\n", k);
            for (int c = 0; c < dim; c++) {
                for (int r = 0; r < dim; r++) {
                    double entry = value[r * dim + c];
                    if (problem->softness && w->column[k] == i && r == c)
                        entry += problem->softness[w->first[i] + r];
                    yk_print(file, "%.17g\n", entry);
                }
            }
        }
    }

    /* q and mu follow the matrix; seventeen digits keep every bit. */
    for (int k = 0; k < problem->row_count; k++)
        yk_print(file, "%.17g\n", problem->q[k]);
    for (int i = 0; i < contacts; i++)
        yk_print(file, "%.17g\n", problem->mu[i]);

    if (!yk_output_close(&output))
        return yk_fail(context, YK_ERROR_FILE, "'%s' cannot be written: %s", path, strerror(errno));
    return YK_OK;
}

yk_status yk_contact_eliminate_joints(yk_context *context, const yk_contact_problem *problem,
                                      yk_contact_problem *reduced)
{
    *reduced = (yk_contact_problem){0};
    const yk_block_matrix *w = &problem->w;
    int contacts = problem->contact_count;
    int rows = w->first[contacts];
    int joints = problem->row_count - rows;
    size_t all = (size_t)problem->row_count;
    int dim = contacts > 0 ? w->first[1] : 1;
    for (int i = 0; i < contacts; i++)
        if (w->first[i + 1] - w->first[i] != dim)
            return yk_fail(context, YK_ERROR_CAPABILITY,
                           "contact: joints are eliminated from contacts of one dimension alone; "
                           "contact %d has %d rows and not %d",
                           i, w->first[i + 1] - w->first[i], dim);

    if (all > ROWS_MAX)
        return yk_fail(
            context, YK_ERROR_CAPABILITY,
            "contact: joints are eliminated from problems of at most %d rows, here are %zu",
            ROWS_MAX, all);

    /* Rows of contacts come first, then those of joints. */
    size_t n = (size_t)rows, b = (size_t)joints;
    double *dense = yk_allocate(context, all * all + 1, sizeof *dense);
    double *own = yk_allocate(context, b * b + 1, sizeof *own);
    double *held = yk_allocate(context, (n + 1) * b + 1, sizeof *held);
    double *matrix = yk_allocate(context, n * n + 1, sizeof *matrix);
    double *q = yk_allocate(context, n + 1, sizeof *q);
    int *pivot = yk_allocate(context, b + 1, sizeof *pivot);
    yk_status status = YK_OK;

    if (!dense || !own || !held || !matrix || !q || !pivot)
        status = YK_ERROR_MEMORY;

    if (status == YK_OK) {
        /* All of W, with softness on its diagonal. */
        for (int i = 0; i < w->block_rows; i++) {
            for (int k = w->start[i]; k < w->start[i + 1]; k++) {
                int j = w->column[k];
                int columns = w->first[j + 1] - w->first[j];
                for (int r = w->first[i]; r < w->first[i + 1]; r++)
                    for (int c = 0; c < columns; c++)
                        dense[(size_t)r * all + (size_t)(w->first[j] + c)] =
                            w->value[w->offset[k] + (size_t)((r - w->first[i]) * columns + c)];
            }
        }

        for (size_t k = 0; problem->softness && k < all; k++)
            dense[k * all + k] += problem->softness[k];

        /* The block of the joints, with a small regularization for redundant ones. */
        double largest = 0;
        for (size_t k = n; k < all; k++)
            largest = fmax(largest, dense[k * all + k]);
        for (size_t r = 0; r < b; r++) {
            memcpy(own + r * b, dense + (n + r) * all + n, b * sizeof *own);
            own[r * b + r] += 1e-12 * largest;
        }

        if (joints > 0)
            status = yk_lu_factor(joints, own, pivot);
    }

    if (status == YK_OK) {
        /* Row i of `held` is W_bb^-1 W_bi, the last one W_bb^-1 q_b. */
        for (size_t i = 0; i <= n; i++) {
            double *column = held + i * b;
            for (size_t k = 0; k < b; k++)
                column[k] = i < n ? dense[(n + k) * all + i] : problem->q[n + k];
            if (joints > 0)
                yk_lu_solve(joints, own, pivot, column);
        }

        /* The Schur complement W_ii - W_ib W_bb^-1 W_bi, and q accordingly. */
        for (size_t i = 0; i < n; i++) {
            const double *coupling = dense + i * all + n;
            for (size_t j = 0; j < n; j++)
                matrix[i * n + j] = dense[i * all + j] - yk_dense_dot(b, coupling, held + j * b);
            q[i] = problem->q[i] - yk_dense_dot(b, coupling, held + n * b);
        }

        status = yk_contact_problem_from_dense(context, dim, contacts, 0, matrix, q, problem->mu,
                                               reduced);
    }

    void *blocks[] = {dense, own, held, matrix, q, pivot};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        yk_free(context, blocks[i]);
    return status;
}
