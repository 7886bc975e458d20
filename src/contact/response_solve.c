/* The equations of a response together, in one of two forms.
 *
 *   W z = -(b + G v_free), v = v_free + M^-1 D z     without the velocities, by blocks (factor.h): each body makes a
 *                                                    clique of its contacts and joints, which is right for mechanisms
 *   velocities and rows as they are, sparse          where one body has very many contacts */
#include <string.h>

#include "contact/response_data.h"

/* W by blocks where it has at most this many per part. */
enum { BLOCKS_PER_PART = 32 };

/* Rows are scaled to numbers near one; a pivot this small is rounding. */
static const double SMALLEST_PIVOT = 1e-14;

static yk_status out_of_memory(const yk_response *response)
{
    return yk_fail(response->context, YK_ERROR_MEMORY,
                   "no memory for an interface model of %d rows", response->row_count);
}

/* Pattern -------------------------------------------------------------------------------------- */

static bool same_pattern(const yk_response *response)
{
    if (!response->matrix && !response->factor)
        return false;
    if (response->slot_count != response->last_slot_count)
        return false;
    if (response->part_count != response->last_part_count)
        return false;

    for (size_t i = 0; i < response->part_count; i++) {
        const response_part *a = &response->parts[i];
        const response_part *b = &response->last_parts[i];
        if (a->side[0] != b->side[0] || a->side[1] != b->side[1] || a->dim != b->dim)
            return false;
    }
    return true;
}

/* Nothing of the last pattern is left, so that a failure on the way to the next leaves none. */
static yk_status forget_pattern(yk_response *response)
{
    yk_factor_destroy(response->factor);
    yk_sparse_destroy(response->matrix);
    response->factor = NULL;
    response->matrix = NULL;
    if (!yk_array_reserve(response->context, &response->last_parts_array, response->part_count,
                          sizeof(response_part)))
        return out_of_memory(response);
    response->last_parts = response->last_parts_array.data;
    return YK_OK;
}

static void remember_pattern(yk_response *response)
{
    memcpy(response->last_parts, response->parts, response->part_count * sizeof *response->parts);
    response->last_part_count = response->part_count;
    response->last_slot_count = response->slot_count;
}

/* By blocks ------------------------------------------------------------------------------------ */

/* Blocks that W would have, some counted twice. */
static size_t count_blocks(const yk_response *response)
{
    size_t count = response->part_count;
    for (int k = 0; k < response->slot_count; k++) {
        const int *start = response->incidence.start + k;
        size_t degree = (size_t)(start[1] - start[0]);
        count += degree * degree;
    }
    return count;
}

static yk_status analyse_blocks(yk_response *response)
{
    yk_status status = forget_pattern(response);
    if (status != YK_OK)
        return status;

    /* Memory of W, with that of the marks at the end of the indices. */
    yk_context *context = response->context;
    size_t parts = response->part_count;
    size_t blocks = count_blocks(response);
    size_t indices = 3 * parts + 2 + blocks;
    size_t values = blocks * YK_CONTACT_DIM_MAX * YK_CONTACT_DIM_MAX;
    size_t diagonals = (size_t)response->row_count * YK_CONTACT_DIM_MAX;
    if (!yk_array_reserve(context, &response->block_index_array, indices, sizeof(int)) ||
        !yk_array_reserve(context, &response->block_offset_array, blocks + parts, sizeof(size_t)) ||
        !yk_array_reserve(context, &response->block_value_array, values, sizeof(double)) ||
        !yk_array_reserve(context, &response->block_diagonal_array, diagonals, sizeof(double)))
        return out_of_memory(response);

    yk_block_matrix *w = &response->blocks;
    w->block_rows = (int)parts;
    w->first = response->block_index_array.data;
    w->start = w->first + parts + 1;
    w->column = w->start + parts + 1;
    w->offset = response->block_offset_array.data;
    w->value = response->block_value_array.data;
    response->diagonal_offset = w->offset + blocks;
    response->diagonal = response->block_diagonal_array.data;

    /* Row by row: the parts that share a slot, and where their blocks stand. */
    int *mark = w->column + blocks;
    size_t offset = 0;
    size_t diagonal = 0;
    w->first[0] = 0;
    w->start[0] = 0;
    for (size_t i = 0; i < parts; i++)
        mark[i] = -1;
    for (size_t i = 0; i < parts; i++) {
        int dim = response->parts[i].dim;
        int *columns = w->column + w->start[i];
        int count = yk_incidence_neighbours(&response->incidence, response->ends, i, mark, columns);
        w->first[i + 1] = w->first[i] + dim;
        w->start[i + 1] = w->start[i] + count;
        for (int k = 0; k < count; k++) {
            w->offset[w->start[i] + k] = offset;
            offset += (size_t)(dim * response->parts[columns[k]].dim);
        }
        response->diagonal_offset[i] = diagonal;
        diagonal += (size_t)(dim * dim);
    }

    status = yk_factor_create(context, w, &response->factor);
    if (status == YK_OK)
        remember_pattern(response);
    return status;
}

/* A block of W: what part i feels of part j through the nodes that both are on. */
static void fill_block(const yk_response *response, size_t i, int j, double *value)
{
    const response_part *p = &response->parts[i];
    const response_part *q = &response->parts[j];
    const response_coefficients *a = &response->coefficients[i];
    const response_coefficients *b = &response->coefficients[j];

    memset(value, 0, (size_t)(p->dim * q->dim) * sizeof *value);

    for (int s = 0; s < 2; s++) {
        for (int t = 0; t < 2; t++) {
            if (p->side[s] < 0 || p->side[s] != q->side[t])
                continue;
            for (int k = 0; k < p->dim; k++) {
                for (int l = 0; l < q->dim; l++) {
                    const double *row = a->rows[s][k];
                    const double *column = b->columns[t][l];
                    value[k * q->dim + l] -= row[0] * column[0] + row[1] * column[1] +
                                             row[2] * column[2] + row[3] * column[3] +
                                             row[4] * column[4] + row[5] * column[5];
                }
            }
        }
    }
}

static yk_status factor_blocks(yk_response *response)
{
    if (!response->factor || !same_pattern(response)) {
        yk_status status = analyse_blocks(response);
        if (status != YK_OK)
            return status;
    }

    /* W, and the softness of the rows on its diagonal. */
    const yk_block_matrix *w = &response->blocks;
    for (size_t i = 0; i < response->part_count; i++) {
        for (int k = w->start[i]; k < w->start[i + 1]; k++)
            fill_block(response, i, w->column[k], w->value + w->offset[k]);

        int dim = response->parts[i].dim;
        double *diagonal = response->diagonal + response->diagonal_offset[i];
        memset(diagonal, 0, (size_t)(dim * dim) * sizeof *diagonal);
        for (int k = 0; k < dim; k++)
            diagonal[k * (dim + 1)] = response->coefficients[i].softness[k];
    }

    yk_factor_compute(response->factor, w, NULL, response->diagonal, response->diagonal_offset,
                      SMALLEST_PIVOT);
    return YK_OK;
}

static void solve_blocks(const yk_response *response, double *right)
{
    /* W z = -(b + G v_free) */
    double *z = right + 6 * (size_t)response->slot_count;
    for (size_t i = 0; i < response->part_count; i++) {
        const response_part *p = &response->parts[i];
        const response_coefficients *c = &response->coefficients[i];
        for (int side = 0; side < 2; side++) {
            if (p->side[side] < 0)
                continue;
            const double *v = right + 6 * p->side[side];
            for (int k = 0; k < p->dim; k++) {
                for (int j = 0; j < 6; j++)
                    z[p->first + k] -= c->rows[side][k][j] * v[j];
            }
        }
    }

    yk_factor_solve(response->factor, z);

    /* v = v_free - (-M^-1 D) z */
    for (size_t i = 0; i < response->part_count; i++) {
        const response_part *p = &response->parts[i];
        const response_coefficients *c = &response->coefficients[i];
        for (int side = 0; side < 2; side++) {
            if (p->side[side] < 0)
                continue;
            double *v = right + 6 * p->side[side];
            for (int k = 0; k < p->dim; k++) {
                for (int j = 0; j < 6; j++)
                    v[j] -= c->columns[side][k][j] * z[p->first + k];
            }
        }
    }
}

/* With the velocities -------------------------------------------------------------------------- */

static yk_status analyse_sparse(yk_response *response)
{
    yk_context *context = response->context;
    int velocities = 6 * response->slot_count;
    size_t size = (size_t)velocities + (size_t)response->row_count;
    size_t most = size + 24 * (size_t)response->row_count;
    yk_status status = forget_pattern(response);

    if (status != YK_OK)
        return status;

    if (!yk_array_reserve(context, &response->entry_array, most, sizeof(yk_sparse_entry)) ||
        !yk_array_reserve(context, &response->entry_index_array, most, sizeof(int)))
        return out_of_memory(response);

    yk_sparse_entry *entries = response->entry_array.data;
    response->entry_index = response->entry_index_array.data;

    /* In the order in which factor_sparse adds them. */
    size_t count = 0;
    for (int i = 0; i < velocities; i++)
        entries[count++] = (yk_sparse_entry){i, i};
    for (size_t i = 0; i < response->part_count; i++) {
        const response_part *p = &response->parts[i];
        int first = velocities + p->first;
        for (int side = 0; side < 2; side++) {
            for (int k = 0; p->side[side] >= 0 && k < p->dim; k++) {
                for (int j = 0; j < 6; j++) {
                    int at = 6 * p->side[side] + j;
                    entries[count++] = (yk_sparse_entry){first + k, at};
                    entries[count++] = (yk_sparse_entry){at, first + k};
                }
            }
        }

        for (int k = 0; k < p->dim; k++)
            entries[count++] = (yk_sparse_entry){first + k, first + k};
    }

    status = yk_sparse_create(context, (int)size, entries, count, response->entry_index,
                              &response->matrix);
    if (status == YK_OK)
        remember_pattern(response);
    return status;
}

static yk_status factor_sparse(yk_response *response)
{
    if (!response->matrix || !same_pattern(response)) {
        yk_status status = analyse_sparse(response);
        if (status != YK_OK)
            return status;
    }

    double *values = yk_sparse_values(response->matrix);
    const int *index = response->entry_index;
    memset(values, 0, yk_sparse_nonzeros(response->matrix) * sizeof *values);

    for (int i = 0; i < 6 * response->slot_count; i++)
        values[*index++] = 1;
    for (size_t i = 0; i < response->part_count; i++) {
        const response_part *p = &response->parts[i];
        const response_coefficients *c = &response->coefficients[i];
        for (int side = 0; side < 2; side++) {
            for (int k = 0; p->side[side] >= 0 && k < p->dim; k++) {
                for (int j = 0; j < 6; j++) {
                    values[*index++] += c->rows[side][k][j];
                    values[*index++] += c->columns[side][k][j];
                }
            }
        }

        for (int k = 0; k < p->dim; k++)
            values[*index++] += c->softness[k];
    }

    /* Pivots of an earlier factorisation would be cheaper, but then the bits would depend on what
     * came before. */
    return yk_sparse_factor(response->matrix, NULL);
}

/* Both ----------------------------------------------------------------------------------------- */

yk_status yk_response_factor_all(yk_response *response)
{
    /* Parts on each slot: starts, lists, and the slots of each part in one piece of memory. */
    size_t slots = (size_t)response->slot_count;
    size_t parts = response->part_count;
    size_t size = slots + 2 + 4 * parts;
    if (!yk_array_reserve(response->context, &response->incidence_array, size, sizeof(int32_t)))
        return out_of_memory(response);

    response->incidence.start = response->incidence_array.data;
    response->incidence.list = response->incidence.start + slots + 2;
    int32_t(*ends)[2] = (int32_t(*)[2])(response->incidence.list + 2 * parts);
    for (size_t i = 0; i < parts; i++) {
        ends[i][0] = response->parts[i].side[0];
        ends[i][1] = response->parts[i].side[1];
    }
    response->ends = (const int32_t(*)[2])ends;
    yk_incidence_list(slots, parts, response->ends, &response->incidence);

    response->by_blocks = count_blocks(response) <= BLOCKS_PER_PART * parts;
    if (parts == 0)
        return YK_OK;
    if (response->by_blocks)
        return factor_blocks(response);
    return factor_sparse(response);
}

static void solve(yk_response *response, double *right)
{
    if (response->part_count == 0)
        return;
    if (response->by_blocks) {
        solve_blocks(response, right);
    } else {
        yk_sparse_solve(response->matrix, right);
    }
}

void yk_response_solve(yk_response *response)
{
    solve(response, response->right);
}

/* A second solution for what the trace of softness left open in the rows; that of joints leaves
 * nothing that counts. */
void yk_response_solve_refined(yk_response *response)
{
    int first = 6 * response->slot_count;
    double *right = response->right;
    double *left = response->refinement;

    solve(response, right);
    if (response->closed_count == 0)
        return;

    memset(left, 0, (size_t)first * sizeof *left);
    for (int i = 0; i < response->row_count; i++)
        left[first + i] = response->traces[i] * right[first + i];

    solve(response, left);
    for (int i = 0; i < first + response->row_count; i++)
        right[i] += left[i];
}
