/* The factors of a contact problem: order of elimination and index of its numbers, then the
 * supernodal LU of math. */
#include "contact/factor.h"

#include "math/sparse.h"
#include "math/supernodal.h"

struct yk_factor {
    yk_context *context;
    yk_supernodal *lu;
    size_t *index; /* of each number of W in the factors */
};

yk_status yk_factor_create(yk_context *context, const yk_block_matrix *w, yk_factor **factor)
{
    *factor = NULL;
    yk_factor *made = yk_allocate(context, 1, sizeof *made);
    if (!made)
        return YK_ERROR_MEMORY;

    made->context = context;

    /* Block rows are the vertices of the pattern, in the order of minimum degree. */
    int blocks = w->block_rows;
    int *order = yk_allocate(context, (size_t)blocks, sizeof *order);
    int *size = yk_allocate(context, (size_t)blocks, sizeof *size);
    yk_status status = YK_ERROR_MEMORY;
    if (order && size)
        status = yk_elimination_order(context, blocks, w->start, w->column, order);
    if (status == YK_OK) {
        for (int i = 0; i < blocks; i++)
            size[i] = w->first[i + 1] - w->first[i];
        yk_supernodal_def def = {
            .vertices = blocks,
            .size = size,
            .starts = w->start,
            .rows = w->column,
            .row_order = order,
            .column_order = order,
            .exchange = true,
        };
        status = yk_supernodal_create(context, &def, &made->lu);
    }

    yk_release(context, size);
    yk_release(context, order);

    /* One index per number. */
    size_t count = 0;
    for (int i = 0; i < w->block_rows; i++) {
        size_t dim = (size_t)(w->first[i + 1] - w->first[i]);
        for (int k = w->start[i]; k < w->start[i + 1]; k++) {
            int j = w->column[k];
            count += dim * (size_t)(w->first[j + 1] - w->first[j]);
        }
    }

    if (status == YK_OK) {
        made->index = yk_allocate(context, count, sizeof *made->index);
        if (!made->index)
            status = YK_ERROR_MEMORY;
    }

    if (status != YK_OK) {
        yk_factor_destroy(made);
        return status;
    }

    /* Where each number of W goes in the factors. */
    for (int i = 0; i < w->block_rows; i++) {
        for (int k = w->start[i]; k < w->start[i + 1]; k++) {
            int j = w->column[k];
            size_t *index = made->index + w->offset[k];
            for (int r = w->first[i]; r < w->first[i + 1]; r++) {
                for (int c = w->first[j]; c < w->first[j + 1]; c++)
                    *index++ = yk_supernodal_index(made->lu, r, c);
            }
        }
    }

    *factor = made;
    return YK_OK;
}

void yk_factor_destroy(yk_factor *factor)
{
    if (!factor)
        return;

    yk_supernodal_destroy(factor->lu);
    yk_release(factor->context, factor->index);
    yk_release(factor->context, factor);
}

void yk_factor_compute(yk_factor *factor, const yk_block_matrix *w, const double *left,
                       const double *right, const size_t *offset, double smallest)
{
    double *store = yk_supernodal_clear(factor->lu);

    for (int i = 0; i < w->block_rows; i++) {
        int dim = w->first[i + 1] - w->first[i];
        for (int k = w->start[i]; k < w->start[i + 1]; k++) {
            int j = w->column[k];
            int columns = w->first[j + 1] - w->first[j];

            const double *block = w->value + w->offset[k];
            const size_t *index = factor->index + w->offset[k];

            /* One block of L W; where L is the identity, of W. */
            for (int r = 0; left && r < dim; r++) {
                const double *row = left + offset[i] + r * dim;
                for (int c = 0; c < columns; c++) {
                    double sum = 0;
                    for (int l = 0; l < dim; l++)
                        sum += row[l] * block[l * columns + c];
                    store[index[r * columns + c]] = sum;
                }
            }

            for (int e = 0; !left && e < dim * columns; e++)
                store[index[e]] = block[e];

            /* R on the diagonal. */
            for (int e = 0; i == j && e < dim * dim; e++)
                store[index[e]] += right[offset[i] + (size_t)e];
        }
    }

    yk_supernodal_factor(factor->lu, smallest);
}

void yk_factor_solve(yk_factor *factor, double *b)
{
    yk_supernodal_solve(factor->lu, b);
}
