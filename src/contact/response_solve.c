/* The equations of a response together. Few rows are solved without the velocities, W z = -(b + G v_free) with a dense
 * W; many as one sparse matrix of velocities and rows, which does not fill where a body has many contacts. */
#include <string.h>

#include "contact/response_data.h"
#include "math/dense.h"

enum { DENSE_ROWS = 32 };

/* Dense ------------------------------------------------------------------------------------------------------------ */

/* What part p feels of part q through a node that both sit on. */
static void add_product(const response_coefficients *p, int p_dim, int side_p, const response_coefficients *q,
                        int q_dim, int side_q, int n, double *w)
{
    for (int k = 0; k < p_dim; k++)
        for (int l = 0; l < q_dim; l++) {
            double sum = 0;
            for (int j = 0; j < 6; j++) sum += p->rows[side_p][k][j] * q->columns[side_q][l][j];
            w[k * n + l] -= sum;
        }
}

static yk_status factor_dense(yk_response *response)
{
    int n = response->row_count;
    memset(response->dense, 0, (size_t)(n * n) * sizeof *response->dense);
    for (size_t i = 0; i < response->part_count; i++) {
        const response_part *p = &response->parts[i];
        for (int k = 0; k < p->dim; k++)
            response->dense[(p->first + k) * (n + 1)] = response->coefficients[i].softness[k];
        for (size_t j = 0; j < response->part_count; j++) {
            const response_part *q = &response->parts[j];
            for (int s = 0; s < 2; s++)
                for (int t = 0; t < 2; t++)
                    if (p->side[s] >= 0 && p->side[s] == q->side[t])
                        add_product(&response->coefficients[i], p->dim, s, &response->coefficients[j], q->dim, t, n,
                                    response->dense + p->first * n + q->first);
        }
    }
    return n > 0 ? yk_lu_factor(n, response->dense, response->pivots) : YK_OK;
}

/* z in the rows, then v = v_free - (-M^-1 D) z. */
static void solve_dense(const yk_response *response, double *right)
{
    double *z = right + 6 * (size_t)response->place_count;
    for (size_t i = 0; i < response->part_count; i++) {
        const response_part *p = &response->parts[i];
        const response_coefficients *c = &response->coefficients[i];
        for (int side = 0; side < 2; side++)
            for (int k = 0; p->side[side] >= 0 && k < p->dim; k++)
                for (int j = 0; j < 6; j++) z[p->first + k] -= c->rows[side][k][j] * right[6 * p->side[side] + j];
    }
    if (response->row_count > 0) yk_lu_solve(response->row_count, response->dense, response->pivots, z);
    for (size_t i = 0; i < response->part_count; i++) {
        const response_part *p = &response->parts[i];
        const response_coefficients *c = &response->coefficients[i];
        for (int side = 0; side < 2; side++)
            for (int k = 0; p->side[side] >= 0 && k < p->dim; k++)
                for (int j = 0; j < 6; j++) right[6 * p->side[side] + j] -= c->columns[side][k][j] * z[p->first + k];
    }
}

/* Sparse ----------------------------------------------------------------------------------------------------------- */

static bool same_pattern(const yk_response *response)
{
    if (!response->matrix || response->place_count != response->last_place_count ||
        response->part_count != response->last_part_count)
        return false;
    for (size_t i = 0; i < response->part_count; i++) {
        const response_part *a = &response->parts[i], *b = &response->last_parts[i];
        if (a->side[0] != b->side[0] || a->side[1] != b->side[1] || a->dim != b->dim) return false;
    }
    return true;
}

/* Entries in the order in which fill_part adds them. */
static size_t list_part(const yk_response *response, const response_part *p, yk_sparse_entry *entries)
{
    size_t count = 0;
    int first = 6 * response->place_count + p->first;
    for (int side = 0; side < 2; side++)
        for (int k = 0; p->side[side] >= 0 && k < p->dim; k++)
            for (int j = 0; j < 6; j++) {
                int at = 6 * p->side[side] + j;
                entries[count++] = (yk_sparse_entry){first + k, at};
                entries[count++] = (yk_sparse_entry){at, first + k};
            }
    for (int k = 0; k < p->dim; k++) entries[count++] = (yk_sparse_entry){first + k, first + k};
    return count;
}

static size_t fill_part(const response_part *p, const response_coefficients *c, const int *at, double *values)
{
    size_t count = 0;
    for (int side = 0; side < 2; side++)
        for (int k = 0; p->side[side] >= 0 && k < p->dim; k++)
            for (int j = 0; j < 6; j++) {
                values[at[count++]] += c->rows[side][k][j];
                values[at[count++]] += c->columns[side][k][j];
            }
    for (int k = 0; k < p->dim; k++) values[at[count++]] += c->softness[k];
    return count;
}

static yk_status analyse(yk_response *response)
{
    yk_context *context = response->context;
    size_t size = 6 * (size_t)response->place_count + (size_t)response->row_count, count = 0;
    size_t room = size + 24 * (size_t)response->row_count;
    yk_sparse_destroy(response->matrix);
    response->matrix = NULL;
    bool good = yk_array_reserve(context, &response->entry_array, room, sizeof(yk_sparse_entry)) &&
                yk_array_reserve(context, &response->entry_place_array, room, sizeof(int)) &&
                yk_array_reserve(context, &response->last_parts_array, response->part_count, sizeof(response_part));
    if (!good) return yk_fail(context, YK_ERROR_MEMORY, "no memory for an interface model of %zu rows", size);
    yk_sparse_entry *entries = response->entry_array.data;
    response->entry_place = response->entry_place_array.data;
    response->last_parts = response->last_parts_array.data;
    for (int i = 0; i < 6 * response->place_count; i++) entries[count++] = (yk_sparse_entry){i, i};
    for (size_t i = 0; i < response->part_count; i++)
        count += list_part(response, &response->parts[i], entries + count);
    memcpy(response->last_parts, response->parts, response->part_count * sizeof *response->parts);
    response->last_part_count = response->part_count;
    response->last_place_count = response->place_count;
    response->report.analysed = true;
    return yk_sparse_create(context, (int)size, entries, count, response->entry_place, &response->matrix);
}

static yk_status factor_sparse(yk_response *response)
{
    if (!same_pattern(response)) {
        yk_status status = analyse(response);
        if (status != YK_OK) return status;
    }
    double *values = yk_sparse_values(response->matrix);
    memset(values, 0, yk_sparse_nonzeros(response->matrix) * sizeof *values);
    size_t cursor = 6 * (size_t)response->place_count;
    for (size_t i = 0; i < cursor; i++) values[response->entry_place[i]] = 1;
    for (size_t i = 0; i < response->part_count; i++)
        cursor += fill_part(&response->parts[i], &response->coefficients[i], response->entry_place + cursor, values);
    response->report.entries = yk_sparse_nonzeros(response->matrix);
    /* Pivots of an earlier factorisation would be cheaper, but then the bits would depend on what came before. */
    return yk_sparse_factor(response->matrix, NULL);
}

/* Both ------------------------------------------------------------------------------------------------------------- */

yk_status yk_response_factor_all(yk_response *response)
{
    size_t n = (size_t)response->row_count;
    if (n > DENSE_ROWS) return factor_sparse(response);
    bool good = yk_array_reserve(response->context, &response->dense_array, n * n + 1, sizeof(double)) &&
                yk_array_reserve(response->context, &response->pivot_array, n + 1, sizeof(int));
    if (!good) return yk_fail(response->context, YK_ERROR_MEMORY, "no memory for an interface model of %zu rows", n);
    response->dense = response->dense_array.data;
    response->pivots = response->pivot_array.data;
    response->report.entries = n * n;
    return factor_dense(response);
}

static void solve(yk_response *response, double *right)
{
    if (response->row_count > DENSE_ROWS)
        yk_sparse_solve(response->matrix, right);
    else
        solve_dense(response, right);
}

void yk_response_solve(yk_response *response)
{
    solve(response, response->right);
}

/* A second solution for what the trace of softness left open in the rows; that of joints leaves nothing that counts. */
void yk_response_solve_refined(yk_response *response)
{
    int first = 6 * response->place_count;
    double *right = response->right, *left = response->refinement;
    solve(response, right);
    if (response->report.contacts == 0) return;
    memset(left, 0, (size_t)first * sizeof *left);
    for (int i = 0; i < response->row_count; i++) left[first + i] = response->traces[i] * right[first + i];
    solve(response, left);
    for (int i = 0; i < first + response->row_count; i++) right[i] += left[i];
}
