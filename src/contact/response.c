#include <string.h>

#include "contact/held.h"
#include "contact/response_data.h"

/* Softness relative to a row's own W, see the header. Rows of slipping contacts that depend on
 * each other but for the directions of friction would otherwise become levers of any length; a
 * refinement takes its effect out again where rows do not contradict each other. */
static const double CONTACT_TRACE = 1e-8, JOINT_TRACE = 1e-11;

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
        yk_release(context, arrays[i]->raw);
    yk_sparse_destroy(response->matrix);
    yk_factor_destroy(response->factor);
    yk_release(context, response);
}

static yk_status reserve(yk_response *response)
{
    yk_context *context = response->context;
    size_t nodes = response->network->node_count;
    size_t parts = response->network->contact_count + response->network->joint_block_count;
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
    return YK_OK;
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
            yk_vec3 linear = e->linear[side][k], spin = e->spin[side][k];
            w[k] += network->nodes[node].inverse_mass * yk_v3_norm2(linear) +
                    yk_v3_dot(spin, node_spin_response(network, node, spin));
        }

        if (!(w[k] > 0))
            w[k] = 1;
    }
}

static yk_cone cone_of(const element *e)
{
    return (yk_cone){.dim = e->dim, .mu = {e->mu, e->mu_spin, e->mu_roll}};
}

/* The last impulse of a contact in the step that is asked for, and its velocity as the nodes move
 * now. */
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

        at->r[k] *= def->impulse_scale;
        at->softness[k] = e->softness[k];
        at->u[k] = rate + e->softness[k] * at->r[k];
        at->w[k] += e->softness[k];
    }
}

/* Who takes part ------------------------------------------------------------------------------- */

static int32_t island_of(int32_t *group, int32_t node)
{
    while (group[node] != node) {
        group[node] = group[group[node]];
        node = group[node];
    }
    return node;
}

/* The slot of a node, a new one where it has none. */
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

/* The islands that closed contacts and joints make of the nodes, and the parts on those that are
 * asked for. */
static void choose_parts(yk_response *response, const yk_response_def *def)
{
    const yk_network *network = response->network;
    size_t count = network->contact_count + network->joint_block_count;
    int32_t *group = response->group;

    for (size_t i = 0; i < network->node_count; i++) {
        group[i] = (int32_t)i;
        response->slot[i] = -1;
    }

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

    /* The roots of islands that are asked for have the first slots. */
    response->slot_count = 0;
    response->part_count = 0;
    response->row_count = 0;
    response->closed_count = 0;
    for (int i = 0; i < def->node_count; i++)
        slot_of(response, island_of(group, def->nodes[i]));
    int islands = response->slot_count;

    /* Parts bring the other nodes in, and those that nothing moves. */
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
        p->first = response->row_count;
        p->dim = e.dim;
        response->row_count += e.dim;
        response->closed_count += contact;
    }

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

/* One side of a part: G, and -M^-1 D scaled. */
static void fill_side(const yk_network *network, const element *e, int side, const yk_held_law *law,
                      const double *w, response_coefficients *c)
{
    double direct[YK_CONTACT_DIM_MAX][6], kick[YK_CONTACT_DIM_MAX][6];
    int32_t node = e->node[side];
    double inverse_mass = network->nodes[node].inverse_mass;

    for (int k = 0; k < e->dim; k++) {
        yk_vec3 linear = e->linear[side][k], spin = e->spin[side][k], rotation = {0, 0, 0};
        if (node_is_dynamic(network, node))
            rotation = node_spin_response(network, node, spin);
        put_six(direct[k], linear, spin);
        put_six(kick[k], yk_v3_scale(inverse_mass, linear), rotation);
    }

    /* Rows of the law, and its unknowns scaled with the masses that they move. */
    memset(c->rows[side], 0, sizeof c->rows[side]);
    memset(c->columns[side], 0, sizeof c->columns[side]);
    for (int k = 0; k < e->dim; k++) {
        for (int l = 0; l < e->dim; l++) {
            double rate = law->rates[k][l], direction = -law->directions[l][k] / w[k];
            for (int j = 0; j < 6 && rate != 0; j++)
                c->rows[side][k][j] += rate * direct[l][j];
            for (int j = 0; j < 6 && direction != 0; j++)
                c->columns[side][k][j] += direction * kick[l][j];
        }
    }
}

static void fill_part(yk_response *response, const yk_response_def *def, size_t index)
{
    const yk_network *network = response->network;
    const response_part *p = &response->parts[index];
    response_coefficients *c = &response->coefficients[index];
    bool contact = p->element < network->contact_count;
    element e;
    double w[YK_CONTACT_DIM_MAX];

    yk_network_element(network, p->element, &e);
    own_diagonal(network, &e, w);

    /* The law that the part keeps. */
    double *biases = response->biases + p->first;
    yk_held_law law;
    memset(&law, 0, sizeof law);
    memset(biases, 0, (size_t)e.dim * sizeof *biases);
    if (contact) {
        yk_held_point here;
        yk_cone cone = cone_of(&e);
        point_of(network, def, p->element, &e, &here);
        if (response->closed[p->element] == RESPONSE_CAUGHT) {
            yk_held_sticking_law(&cone, &here, &law);
        } else {
            yk_held_law_of(&cone, def->friction, &here, &law);
        }
    } else {
        /* Rows of a joint hold, unless the impulse is at a bound: it stays there. */
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

    double trace = contact ? CONTACT_TRACE : JOINT_TRACE;
    for (int k = 0; k < e.dim; k++) {
        for (int l = 0; l < e.dim; l++)
            biases[k] += law.rates[k][l] * e.free_rate[l];
        response->traces[p->first + k] = trace;
        c->softness[k] = law.softness[k] / w[k] + trace;
    }

    for (int side = 0; side < 2; side++) {
        if (p->side[side] >= 0)
            fill_side(network, &e, side, &law, w, c);
    }
}

static yk_status factor_islands(yk_response *response, const yk_response_def *def)
{
    choose_parts(response, def);
    for (size_t i = 0; i < response->part_count; i++)
        fill_part(response, def, i);
    return yk_response_factor_all(response);
}

yk_status yk_response_factor(yk_response *response, yk_network *network, const yk_response_def *def)
{
    response->network = network;
    yk_status status = yk_joints_scale(network);
    if (status == YK_OK)
        status = reserve(response);
    if (status != YK_OK)
        return status;

    for (size_t i = 0; i < network->contact_count; i++) {
        element e;
        yk_held_point at;
        yk_network_element(network, i, &e);
        yk_cone cone = cone_of(&e);
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

    /* A contact that pulls opens; the traces of softness leave a little of that where contacts
     * share a load. */
    const double *z = response->right + 6 * (size_t)response->slot_count;
    double largest = 0;
    for (size_t i = 0; i < response->part_count; i++) {
        const response_part *p = &response->parts[i];
        if (p->element < network->contact_count && z[p->first] > largest)
            largest = z[p->first];
    }

    for (size_t i = 0; i < response->part_count; i++) {
        const response_part *p = &response->parts[i];
        if (p->element >= network->contact_count || z[p->first] >= -1e-6 * largest)
            continue;
        response->closed[p->element] = RESPONSE_OPEN;
        *changed = true;
    }

    /* An open one whose bodies approach closes: with the solution for nodes that take part, with
     * the present velocity of others. */
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
    add_vector(right, network->nodes[node].inverse_mass, impulse);
    yk_vec3 scaled = yk_v3_scale(1 / node_length(network, node), angular);
    add_vector(right + 3, 1, node_spin_response(network, node, scaled));
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
