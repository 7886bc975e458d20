/* The equations of response.h: which contacts and joints take part, the equations of each, and all
 * of them together in one of two forms.
 *
 *   W z = -(b + G v_free), v = v_free + M^-1 D z     without the velocities, by blocks (newton.h): each body makes a
 *                                                    clique of its contacts and joints, which is right for mechanisms
 *   velocities and rows as they are, sparse          where one body has very many contacts */
#include "contact/response.h"

#include <string.h>

#include "contact/cone.h"
#include "contact/network_data.h"
#include "contact/newton.h"
#include "math/sparse.h"

/* Softness relative to a row's own W, see the header. Rows of slipping contacts that are dependent
 * except for the directions of friction would otherwise act as extremely long levers. A refinement
 * removes its effect if rows do not contradict each other. */
static const double CONTACT_TRACE = 1e-8;
static const double JOINT_TRACE = 1e-11;

/* W is stored by blocks if it has at most this number per part. */
enum { BLOCKS_PER_PART = 32 };

/* Rows are scaled to numbers near one; a smaller pivot is a rounding error. */
static const double SMALLEST_PIVOT = 1e-14;

enum { RESPONSE_OPEN, RESPONSE_CLOSED, RESPONSE_CAUGHT /* closed by a review: it sticks */ };

/* A contact or joint that is part of the equations. */
typedef struct response_part {
    uint32_t element;
    int32_t side[2]; /* slots of its nodes, or -1 */
    int32_t first;   /* row */
    int32_t dim;
} response_part;

/* Its equations: for both sides the coefficients G of its rows, and -M^-1 D of its unknowns, which
 * are scaled with the moved masses; C. */
typedef struct response_coefficients {
    double rows[2][YK_CONTACT_DIM_MAX][6];
    double columns[2][YK_CONTACT_DIM_MAX][6];
    double softness[YK_CONTACT_DIM_MAX];
} response_coefficients;

struct yk_response {
    yk_context *context;
    const yk_network *network;
    int32_t *group;  /* per node: another node of its island, or itself */
    int32_t *slot;   /* per node: its slot, or -1 */
    int32_t *nodes;  /* per slot */
    uint8_t *closed; /* per contact: RESPONSE_OPEN, ... */
    response_part *parts;
    response_coefficients *coefficients; /* per part */
    size_t part_count;
    int slot_count, row_count;
    double *right;  /* six per slot, then one per row; solutions too */
    double *biases; /* per row */
    double *traces; /* per row: softness that is not part of the model */
    double *refinement;
    yk_incidence incidence;   /* parts on each slot */
    const int32_t (*ends)[2]; /* slots of each part */
    bool by_blocks;
    yk_block_matrix blocks; /* W; the softness of the rows in `diagonal` */
    double *diagonal;
    size_t *diagonal_offset;
    yk_factor *factor;
    yk_sparse *matrix; /* if W would have too many blocks */
    int *entry_index;
    /* The pattern for which factor or matrix were created. */
    response_part *last_parts;
    size_t last_part_count;
    int last_slot_count;
    array group_array, slot_array, nodes_array, closed_array, parts_array, coefficient_array,
        right_array, bias_array, trace_array, refinement_array, incidence_array, block_index_array,
        block_offset_array, block_value_array, block_diagonal_array, last_parts_array, entry_array,
        entry_index_array;
    int closed_count; /* closed contacts in the equations */
};

yk_status yk_response_create(yk_context *context, yk_response **response)
{
    *response = yk_allocate(context, 1, sizeof **response);
    if (!*response)
        return YK_ERROR_MEMORY;

    (*response)->context = context;
    return YK_OK;
}

void yk_response_destroy(yk_response *response)
{
    if (!response)
        return;

    array *arrays[] = {&response->group_array,          &response->slot_array,
                       &response->nodes_array,          &response->closed_array,
                       &response->parts_array,          &response->coefficient_array,
                       &response->right_array,          &response->bias_array,
                       &response->trace_array,          &response->refinement_array,
                       &response->incidence_array,      &response->block_index_array,
                       &response->block_offset_array,   &response->block_value_array,
                       &response->block_diagonal_array, &response->last_parts_array,
                       &response->entry_array,          &response->entry_index_array};
    yk_context *context = response->context;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        yk_free(context, arrays[i]->raw);

    yk_sparse_destroy(response->matrix);
    yk_factor_destroy(response->factor);
    yk_free(context, response);
}

/* Which contacts are closed -------------------------------------------------------------------- */

/* Diagonal of the element's own W. */
static void own_diagonal(const yk_network *network, const element *e, double *w)
{
    for (int k = 0; k < e->dim; k++) {
        w[k] = 0;
        for (int side = 0; side < 2; side++) {
            int32_t node = e->node[side];
            if (!node_is_dynamic(network, node))
                continue;

            /* J M^-1 J^T of this row and node. */
            yk_vec3 linear = e->linear[side][k];
            yk_vec3 spin = e->spin[side][k];
            w[k] += network->nodes[node].inverse_mass * yk_v3_norm2(linear) +
                    yk_v3_dot(spin, node_spin_response(network, node, spin));
        }

        /* If no node moves, any number is valid. */
        if (!(w[k] > 0))
            w[k] = 1;
    }
}

static yk_cone cone_of(const element *e)
{
    return (yk_cone){.dim = e->dim, .mu = {e->mu, e->mu_spin, e->mu_roll}};
}

/* The last impulse of a contact, scaled to the requested step, and its velocity with the present
 * motion of the nodes. */
static void point_of(const yk_network *network, const yk_response_def *def, size_t contact,
                     const element *e, yk_held_point *at)
{
    memset(at, 0, sizeof *at);
    yk_network_contact_impulse(network, contact, at->r);
    own_diagonal(network, e, at->w);

    for (int k = 0; k < e->dim; k++) {
        double rate = e->free_rate[k];
        for (int side = 0; side < 2; side++) {
            if (e->node[side] < 0)
                continue;
            const yk_network_node *node = &def->present[e->node[side]];
            rate += yk_v3_dot(e->linear[side][k], node->velocity) +
                    yk_v3_dot(e->spin[side][k], node->spin);
        }

        /* Softness adds a velocity proportional to the impulse, and is added to W. */
        at->r[k] *= def->impulse_scale;
        at->softness[k] = e->softness[k];
        at->u[k] = rate + e->softness[k] * at->r[k];
        at->w[k] += e->softness[k];
    }
}

/* Who takes part ------------------------------------------------------------------------------- */

static int32_t island_of(int32_t *group, int32_t node)
{
    /* Paths are halved on the way up. */
    while (group[node] != node) {
        group[node] = group[group[node]];
        node = group[node];
    }

    return node;
}

/* The slot of a node; assigns a new one if it has none. */
static int32_t slot_of(yk_response *response, int32_t node)
{
    if (node < 0)
        return -1;

    if (response->slot[node] < 0) {
        response->nodes[response->slot_count] = node;
        response->slot[node] = response->slot_count++;
    }

    return response->slot[node];
}

/* The islands of nodes connected by closed contacts and joints, and the parts on those that are
 * requested. */
static void choose_parts(yk_response *response, const yk_response_def *def)
{
    const yk_network *network = response->network;
    size_t count = network->contact_count + network->joint_block_count;
    int32_t *group = response->group;

    /* Every node is an island of its own, without a slot. */
    for (size_t i = 0; i < network->node_count; i++) {
        group[i] = (int32_t)i;
        response->slot[i] = -1;
    }

    /* Closed contacts and joints connect their nodes. */
    for (size_t i = 0; i < count; i++) {
        if (i < network->contact_count && !response->closed[i])
            continue;

        element e;
        yk_network_element(network, i, &e);
        if (!node_is_dynamic(network, e.node[0]) || !node_is_dynamic(network, e.node[1]))
            continue;
        int32_t first = island_of(group, e.node[0]);
        group[first] = island_of(group, e.node[1]);
    }

    /* The roots of requested islands have the first slots. */
    response->slot_count = 0;
    response->part_count = 0;
    response->row_count = 0;
    response->closed_count = 0;
    for (int i = 0; i < def->node_count; i++)
        slot_of(response, island_of(group, def->nodes[i]));
    int islands = response->slot_count;

    /* Parts add the other nodes, including those that do not move. */
    for (size_t i = 0; i < count; i++) {
        bool contact = i < network->contact_count;
        if (contact && !response->closed[i])
            continue;

        element e;
        yk_network_element(network, i, &e);
        int32_t moved = e.node[0];
        if (!node_is_dynamic(network, moved))
            moved = e.node[1];
        if (!node_is_dynamic(network, moved))
            continue;

        int32_t island = response->slot[island_of(group, moved)];
        if (island < 0 || island >= islands)
            continue;

        response_part *p = &response->parts[response->part_count++];
        p->element = (uint32_t)i;
        p->side[0] = slot_of(response, e.node[0]);
        p->side[1] = slot_of(response, e.node[1]);

        /* Rows are numbered in the order of the parts. */
        p->first = response->row_count;
        p->dim = e.dim;
        response->row_count += e.dim;
        response->closed_count += contact;
    }

    /* Requested nodes have a slot even if nothing touches them. */
    for (int i = 0; i < def->node_count; i++)
        slot_of(response, def->nodes[i]);
}

/* Values --------------------------------------------------------------------------------------- */

static void put_six(double *six, yk_vec3 linear, yk_vec3 angular)
{
    six[0] = linear.x;
    six[1] = linear.y;
    six[2] = linear.z;
    six[3] = angular.x;
    six[4] = angular.y;
    six[5] = angular.z;
}

/* The equations of a part: those of its law, with scaled unknowns. */
static void fill_part(yk_response *response, const yk_response_def *def, size_t index)
{
    const yk_network *network = response->network;
    const response_part *p = &response->parts[index];
    response_coefficients *c = &response->coefficients[index];
    bool contact = p->element < network->contact_count;

    element e;

    /* The element as rows on its nodes. */
    double w[YK_CONTACT_DIM_MAX];
    yk_network_element(network, p->element, &e);
    own_diagonal(network, &e, w);

    /* The law that the part keeps. */
    double *biases = response->biases + p->first;
    yk_held_law law;
    memset(&law, 0, sizeof law);
    memset(biases, 0, (size_t)e.dim * sizeof *biases);
    if (contact) {
        /* If a review closed it, it sticks; otherwise r and u determine its piece. */
        yk_held_point here;
        yk_cone cone = cone_of(&e);
        point_of(network, def, p->element, &e, &here);
        if (response->closed[p->element] == RESPONSE_CAUGHT) {
            yk_held_sticking_law(&cone, &here, &law);
        } else {
            yk_held_law_of(&cone, def->friction, &here, &law);
        }
    } else {
        /* The rows of a joint hold, unless the impulse is at a bound, where it remains. */
        size_t joint = p->element - network->contact_count;
        const yk_joint_row *rows = network->joints + network->joint_blocks[joint].first;
        for (int k = 0; k < e.dim; k++) {
            law.directions[k][k] = 1;
            if (rows[k].impulse <= rows[k].lower || rows[k].impulse >= rows[k].upper) {
                law.softness[k] = 1;
                biases[k] = -def->impulse_scale * rows[k].impulse;
            } else {
                law.rates[k][k] = 1;
                law.softness[k] = e.softness[k];
            }
        }
    }

    /* b = rates times the velocities of the rows without the nodes, and C with its regularization. */
    double trace = contact ? CONTACT_TRACE : JOINT_TRACE;
    for (int k = 0; k < e.dim; k++) {
        for (int l = 0; l < e.dim; l++)
            biases[k] += law.rates[k][l] * e.free_rate[l];
        response->traces[p->first + k] = trace;
        c->softness[k] = law.softness[k] / w[k] + trace;
    }

    /* G, and -M^-1 D, of both sides. */
    for (int side = 0; side < 2; side++) {
        if (p->side[side] < 0)
            continue;
        int32_t node = e.node[side];
        double inverse_mass = network->nodes[node].inverse_mass;

        /* Rows of the element, and the change of the node's velocities by unit impulses along them. */
        double direct[YK_CONTACT_DIM_MAX][6];
        double kick[YK_CONTACT_DIM_MAX][6];
        for (int k = 0; k < e.dim; k++) {
            yk_vec3 linear = e.linear[side][k];
            yk_vec3 spin = e.spin[side][k];
            yk_vec3 rotation = {0, 0, 0};
            if (node_is_dynamic(network, node))
                rotation = node_spin_response(network, node, spin);
            put_six(direct[k], linear, spin);
            put_six(kick[k], yk_v3_scale(inverse_mass, linear), rotation);
        }

        /* Rows of the law, and its unknowns scaled with the moved masses. */
        memset(c->rows[side], 0, sizeof c->rows[side]);
        memset(c->columns[side], 0, sizeof c->columns[side]);
        for (int k = 0; k < e.dim; k++) {
            for (int l = 0; l < e.dim; l++) {
                double rate = law.rates[k][l];
                double direction = -law.directions[l][k] / w[k];
                for (int j = 0; j < 6 && rate != 0; j++)
                    c->rows[side][k][j] += rate * direct[l][j];
                for (int j = 0; j < 6 && direction != 0; j++)
                    c->columns[side][k][j] += direction * kick[l][j];
            }
        }
    }
}

static yk_status out_of_memory(const yk_response *response)
{
    return yk_fail(response->context, YK_ERROR_MEMORY,
                   "no memory for an interface model of %d rows", response->row_count);
}

/* Pattern -------------------------------------------------------------------------------------- */

static bool same_pattern(const yk_response *response)
{
    /* There is a pattern with the same number of nodes and parts, */
    if (!response->matrix && !response->factor)
        return false;
    if (response->slot_count != response->last_slot_count)
        return false;
    if (response->part_count != response->last_part_count)
        return false;

    /* and the parts connect the same slots. */
    for (size_t i = 0; i < response->part_count; i++) {
        const response_part *a = &response->parts[i];
        const response_part *b = &response->last_parts[i];
        if (a->side[0] != b->side[0] || a->side[1] != b->side[1] || a->dim != b->dim)
            return false;
    }

    return true;
}

/* Remove the last pattern completely, so that a failure before the next one leaves none. */
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

/* Number of blocks that W would have; some are counted twice. */
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

    /* Row by row: the parts that share a slot, and the places of their blocks. */
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

    /* Order and pattern of the factors, which the next factorization may reuse. */
    status = yk_factor_create(context, w, &response->factor);
    /* The order of elimination is valid as long as the same parts touch the same nodes. */
    if (status == YK_OK)
        remember_pattern(response);
    return status;
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
        const response_part *p = &response->parts[i];
        const response_coefficients *a = &response->coefficients[i];

        for (int n = w->start[i]; n < w->start[i + 1]; n++) {
            /* Influence of another part on part i through the nodes that both share. */
            const response_part *q = &response->parts[w->column[n]];
            const response_coefficients *b = &response->coefficients[w->column[n]];
            double *value = w->value + w->offset[n];
            memset(value, 0, (size_t)(p->dim * q->dim) * sizeof *value);

            for (int side = 0; side < 4; side++) {
                int s = side / 2;
                int t = side % 2;
                if (p->side[s] < 0 || p->side[s] != q->side[t])
                    continue;

                /* G of one times M^-1 D of the other. */
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

        /* Softness and regularization. */
        int dim = p->dim;
        double *diagonal = response->diagonal + response->diagonal_offset[i];
        memset(diagonal, 0, (size_t)(dim * dim) * sizeof *diagonal);
        for (int k = 0; k < dim; k++)
            diagonal[k * (dim + 1)] = a->softness[k];
    }

    /* Pivots that are rounding errors are increased. */
    yk_factor_compute(response->factor, w, NULL, response->diagonal, response->diagonal_offset,
                      SMALLEST_PIVOT);
    return YK_OK;
}

/* With the velocities -------------------------------------------------------------------------- */

static yk_status factor_sparse(yk_response *response)
{
    int velocities = 6 * response->slot_count;
    if (!response->matrix || !same_pattern(response)) {
        /* For another pattern, list the entries again. */
        yk_context *context = response->context;
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

        /* In the order in which values are added below. */
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
        if (status != YK_OK)
            return status;
        remember_pattern(response);
    }

    /* Values in the order of the pattern. */
    double *values = yk_sparse_values(response->matrix);
    const int *index = response->entry_index;
    memset(values, 0, yk_sparse_nonzeros(response->matrix) * sizeof *values);
    for (int i = 0; i < velocities; i++)
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

    /* Pivots of an earlier factorization would be cheaper, but then the bits would depend on
     * previous calls. */
    return yk_sparse_factor(response->matrix, NULL);
}

/* All together --------------------------------------------------------------------------------- */

/* The parts on the requested islands, and their factored equations. */
static yk_status factor_islands(yk_response *response, const yk_response_def *def)
{
    choose_parts(response, def);
    for (size_t i = 0; i < response->part_count; i++)
        fill_part(response, def, i);

    /* Parts on each slot: starts, lists, and the slots of each part in one allocation. */
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

    /* The form with fewer numbers. */
    response->by_blocks = count_blocks(response) <= BLOCKS_PER_PART * parts;
    if (parts == 0)
        return YK_OK;
    if (response->by_blocks)
        return factor_blocks(response);
    return factor_sparse(response);
}

yk_status yk_response_factor(yk_response *response, yk_network *network, const yk_response_def *def)
{
    response->network = network;

    yk_context *context = response->context;
    yk_status status = yk_joints_scale(network);
    if (status != YK_OK)
        return status;

    /* Memory for all possible parts. */
    size_t nodes = network->node_count;
    size_t parts = network->contact_count + network->joint_block_count;
    size_t rows = YK_CONTACT_DIM_MAX * parts;
    size_t size = 6 * nodes + rows;

    bool good = yk_array_reserve(context, &response->group_array, nodes, sizeof(int32_t)) &&
                yk_array_reserve(context, &response->slot_array, nodes, sizeof(int32_t)) &&
                yk_array_reserve(context, &response->nodes_array, nodes, sizeof(int32_t)) &&
                yk_array_reserve(context, &response->closed_array, parts, sizeof(uint8_t)) &&
                yk_array_reserve(context, &response->parts_array, parts, sizeof(response_part)) &&
                yk_array_reserve(context, &response->coefficient_array, parts,
                                 sizeof(response_coefficients)) &&
                yk_array_reserve(context, &response->right_array, size, sizeof(double)) &&
                yk_array_reserve(context, &response->refinement_array, size, sizeof(double)) &&
                yk_array_reserve(context, &response->bias_array, rows, sizeof(double)) &&
                yk_array_reserve(context, &response->trace_array, rows, sizeof(double));
    if (!good)
        return yk_fail(context, YK_ERROR_MEMORY, "no memory for the interface model of %zu bodies",
                       nodes);

    /* Arrays may have moved when they grew. */
    response->group = response->group_array.data;
    response->slot = response->slot_array.data;
    response->nodes = response->nodes_array.data;
    response->closed = response->closed_array.data;
    response->parts = response->parts_array.data;
    response->coefficients = response->coefficient_array.data;
    response->right = response->right_array.data;
    response->refinement = response->refinement_array.data;
    response->biases = response->bias_array.data;
    response->traces = response->trace_array.data;

    /* Contacts that are closed in the last solution. */
    for (size_t i = 0; i < network->contact_count; i++) {
        element e;
        yk_network_element(network, i, &e);
        yk_cone cone = cone_of(&e);

        yk_held_point at;
        point_of(network, def, i, &e, &at);
        response->closed[i] = e.node[0] >= 0 && yk_held_is_closed(&cone, def->friction, &at);
    }

    return factor_islands(response, def);
}

/* Review --------------------------------------------------------------------------------------- */

yk_status yk_response_review(yk_response *response, const yk_response_def *def, double speed,
                             bool *changed)
{
    const yk_network *network = response->network;
    *changed = false;

    /* A contact with a pulling force opens. The regularization causes small pulling forces if
     * contacts share a load. */
    const double *z = response->right + 6 * (size_t)response->slot_count;
    double largest = 0;

    /* The largest pressing force. */
    for (size_t i = 0; i < response->part_count; i++) {
        const response_part *p = &response->parts[i];
        if (p->element < network->contact_count && z[p->first] > largest)
            largest = z[p->first];
    }

    /* Contacts that pull more than the regularization explains. */
    for (size_t i = 0; i < response->part_count; i++) {
        const response_part *p = &response->parts[i];
        if (p->element >= network->contact_count || z[p->first] >= -1e-6 * largest)
            continue;
        response->closed[p->element] = RESPONSE_OPEN;
        *changed = true;
    }

    /* An open contact whose bodies approach closes: judged by the solution for nodes that are part
     * of it, by the present velocity of others. */
    for (size_t i = 0; i < network->contact_count; i++) {
        if (response->closed[i] != RESPONSE_OPEN)
            continue;

        element e;
        yk_network_element(network, i, &e);
        double rate = e.free_rate[0];
        bool near = false;

        for (int side = 0; side < 2; side++) {
            int32_t node = e.node[side];
            if (node < 0)
                continue;

            /* The velocity of the solution, if there is one. */
            yk_vec3 linear = def->present[node].velocity;
            yk_vec3 spin = def->present[node].spin;
            int32_t slot = response->slot[node];
            if (slot >= 0) {
                const double *v = response->right + 6 * (size_t)slot;
                linear = yk_v3(v[0], v[1], v[2]);
                spin = yk_v3(v[3], v[4], v[5]);
                near = true;
            }

            rate += yk_v3_dot(e.linear[side][0], linear) + yk_v3_dot(e.spin[side][0], spin);
        }

        if (!near || !(rate < -speed))
            continue;
        response->closed[i] = RESPONSE_CAUGHT;
        *changed = true;
    }

    if (!*changed)
        return YK_OK;
    return factor_islands(response, def);
}

/* Right-hand sides ----------------------------------------------------------------------------- */

void yk_response_begin_zero(yk_response *response)
{
    size_t size = 6 * (size_t)response->slot_count + (size_t)response->row_count;
    memset(response->right, 0, size * sizeof *response->right);
}

void yk_response_begin_free(yk_response *response)
{
    double *right = response->right;

    /* Velocities without impulses, and right-hand sides of the rows. */
    for (int i = 0; i < response->slot_count; i++, right += 6) {
        const yk_network_node *node = &response->network->nodes[response->nodes[i]];
        put_six(right, node->velocity, node->spin);
    }

    for (int i = 0; i < response->row_count; i++)
        right[i] = -response->biases[i];
}

static void add_vector(double *to, double scale, yk_vec3 v)
{
    to[0] += scale * v.x;
    to[1] += scale * v.y;
    to[2] += scale * v.z;
}

void yk_response_push(yk_response *response, int32_t node, yk_vec3 impulse, yk_vec3 angular)
{
    const yk_network *network = response->network;
    double *right = response->right + 6 * (size_t)response->slot[node];
    if (!node_is_dynamic(network, node))
        return;

    /* M^-1 times the impulse, in the scaled spins of the network. */
    add_vector(right, network->nodes[node].inverse_mass, impulse);
    yk_vec3 scaled = yk_v3_scale(1 / node_length(network, node), angular);
    add_vector(right + 3, 1, node_spin_response(network, node, scaled));
}

/* Solution ------------------------------------------------------------------------------------- */

static void solve(yk_response *response, double *right)
{
    /* Nothing touches the nodes: velocities do not change. */
    if (response->part_count == 0)
        return;
    if (!response->by_blocks) {
        yk_sparse_solve(response->matrix, right);
        return;
    }

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

void yk_response_solve(yk_response *response)
{
    solve(response, response->right);
}

/* A second solution removes the effect of the regularization on the rows; the regularization of
 * joints has no notable effect. */
void yk_response_solve_refined(yk_response *response)
{
    int first = 6 * response->slot_count;
    double *right = response->right;
    double *left = response->refinement;

    solve(response, right);
    if (response->closed_count == 0)
        return;

    /* The velocity by the regularization of each row. */
    memset(left, 0, (size_t)first * sizeof *left);
    for (int i = 0; i < response->row_count; i++)
        left[first + i] = response->traces[i] * right[first + i];

    solve(response, left);
    for (int i = 0; i < first + response->row_count; i++)
        right[i] += left[i];
}

yk_vec3 yk_response_velocity(const yk_response *response, int32_t node)
{
    const double *v = response->right + 6 * (size_t)response->slot[node];
    return yk_v3(v[0], v[1], v[2]);
}

yk_vec3 yk_response_angular_velocity(const yk_response *response, int32_t node)
{
    const double *v = response->right + 6 * (size_t)response->slot[node] + 3;
    return yk_v3_scale(1 / node_length(response->network, node), yk_v3(v[0], v[1], v[2]));
}
