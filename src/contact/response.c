#include <string.h>

#include "contact/held.h"
#include "contact/response_data.h"

/* Softness relative to a row's own W, see the header. Rows of slipping contacts that depend on each other but for the
 * directions of friction would otherwise become levers of any length; a refinement takes its effect out again where
 * rows do not contradict each other. */
static const double CONTACT_TRACE = 1e-8, JOINT_TRACE = 1e-11;

yk_status yk_response_create(yk_context *context, yk_response **response)
{
    *response = yk_allocate(context, 1, sizeof **response);
    if (!*response) return YK_ERROR_MEMORY;
    (*response)->context = context;
    return YK_OK;
}

void yk_response_destroy(yk_response *response)
{
    if (!response) return;
    array *arrays[] = {&response->group_array,        &response->placed_array,      &response->nodes_array,
                       &response->closed_array,       &response->parts_array,       &response->coefficient_array,
                       &response->right_array,        &response->bias_array,        &response->trace_array,
                       &response->refinement_array,   &response->incidence_array,   &response->block_index_array,
                       &response->block_offset_array, &response->block_value_array, &response->block_diagonal_array,
                       &response->last_parts_array,   &response->entry_array,       &response->entry_place_array};
    yk_context *context = response->context;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) yk_release(context, arrays[i]->raw);
    yk_sparse_destroy(response->matrix);
    yk_factor_destroy(response->factor);
    yk_release(context, response);
}

/* Who takes part --------------------------------------------------------------------------------------------------- */

static int32_t island_of(int32_t *group, int32_t node)
{
    while (group[node] != node) node = group[node] = group[group[node]];
    return node;
}

static double rate_of(const element *e, const yk_network_node *nodes, int k)
{
    double rate = e->free_rate[k];
    for (int side = 0; side < 2; side++) {
        if (e->node[side] < 0) continue;
        const yk_network_node *node = &nodes[e->node[side]];
        rate += yk_v3_dot(e->linear[side][k], node->velocity) + yk_v3_dot(e->spin[side][k], node->spin);
    }
    return rate;
}

/* Diagonal of the element's own W. */
static void own_diagonal(const yk_network *network, const element *e, double *w)
{
    for (int k = 0; k < e->dim; k++) {
        w[k] = 0;
        for (int side = 0; side < 2; side++) {
            if (!node_is_dynamic(network, e->node[side])) continue;
            yk_vec3 spin = e->spin[side][k];
            w[k] += network->nodes[e->node[side]].inverse_mass * yk_v3_norm2(e->linear[side][k]) +
                    yk_v3_dot(spin, node_spin_response(network, e->node[side], spin));
        }
        if (!(w[k] > 0)) w[k] = 1;
    }
}

static yk_cone cone_of(const element *e)
{
    return (yk_cone){.dim = e->dim, .mu = {e->mu, e->mu_spin, e->mu_roll}};
}

/* The last impulse of a contact in the step that is asked for, and its velocity as the nodes move now. */
static void point_of(const yk_network *network, const yk_response_def *def, size_t contact, const element *e,
                     yk_held_point *at)
{
    memset(at, 0, sizeof *at);
    yk_network_contact_impulse(network, contact, at->r);
    own_diagonal(network, e, at->w);
    for (int k = 0; k < e->dim; k++) {
        at->r[k] *= def->impulse_scale;
        at->softness[k] = e->softness[k];
        at->u[k] = rate_of(e, def->present, k) + e->softness[k] * at->r[k];
        at->w[k] += e->softness[k];
    }
}

static void find_closed(yk_response *response, const yk_response_def *def)
{
    const yk_network *network = response->network;
    for (size_t i = 0; i < network->contact_count; i++) {
        element e;
        yk_held_point at;
        yk_network_element(network, i, &e);
        yk_cone cone = cone_of(&e);
        point_of(network, def, i, &e, &at);
        response->closed[i] = e.node[0] >= 0 && yk_held_is_closed(&cone, def->friction, &at);
    }
}

static void nodes_of(const yk_network *network, size_t i, int32_t node[2])
{
    element e;
    yk_network_element(network, i, &e);
    node[0] = e.node[0];
    node[1] = e.node[1];
}

static void join_islands(yk_response *response)
{
    const yk_network *network = response->network;
    size_t count = network->contact_count + network->joint_block_count;
    for (size_t i = 0; i < network->node_count; i++) response->group[i] = (int32_t)i, response->placed[i] = -1;
    for (size_t i = 0; i < count; i++) {
        if (i < network->contact_count && !response->closed[i]) continue;
        int32_t node[2];
        nodes_of(network, i, node);
        if (node_is_dynamic(network, node[0]) && node_is_dynamic(network, node[1]))
            response->group[island_of(response->group, node[0])] = island_of(response->group, node[1]);
    }
}

static int32_t place_node(yk_response *response, int32_t node)
{
    if (node < 0) return -1;
    if (response->placed[node] < 0) {
        response->nodes[response->slot_count] = node;
        response->placed[node] = response->slot_count++;
    }
    return response->placed[node];
}

/* The nodes that are asked for mark their islands; parts bring the others in, and nodes that nothing moves. */
static void choose_parts(yk_response *response, const yk_response_def *def)
{
    const yk_network *network = response->network;
    response->slot_count = 0;
    response->part_count = 0;
    response->row_count = 0;
    response->closed_count = 0;
    for (int i = 0; i < def->node_count; i++) place_node(response, island_of(response->group, def->nodes[i]));
    int islands = response->slot_count;
    size_t count = network->contact_count + network->joint_block_count;
    for (size_t i = 0; i < count; i++) {
        bool contact = i < network->contact_count;
        if (contact && !response->closed[i]) continue;
        element e;
        yk_network_element(network, i, &e);
        int32_t root = node_is_dynamic(network, e.node[0]) ? e.node[0] : e.node[1];
        if (!node_is_dynamic(network, root)) continue;
        int32_t island = response->placed[island_of(response->group, root)];
        if (island < 0 || island >= islands) continue;
        response->parts[response->part_count++] =
            (response_part){(uint32_t)i,
                            {place_node(response, e.node[0]), place_node(response, e.node[1])},
                            response->row_count,
                            e.dim};
        response->row_count += e.dim;
        response->closed_count += contact;
    }
    for (int i = 0; i < def->node_count; i++) place_node(response, def->nodes[i]);
}

static yk_status reserve(yk_response *response)
{
    yk_context *context = response->context;
    size_t nodes = response->network->node_count;
    size_t parts = response->network->contact_count + response->network->joint_block_count;
    size_t rows = YK_CONTACT_DIM_MAX * parts, size = 6 * nodes + rows;
    bool good = yk_array_reserve(context, &response->group_array, nodes, sizeof(int32_t)) &&
                yk_array_reserve(context, &response->placed_array, nodes, sizeof(int32_t)) &&
                yk_array_reserve(context, &response->nodes_array, nodes, sizeof(int32_t)) &&
                yk_array_reserve(context, &response->closed_array, parts, sizeof(uint8_t)) &&
                yk_array_reserve(context, &response->parts_array, parts, sizeof(response_part)) &&
                yk_array_reserve(context, &response->coefficient_array, parts, sizeof(response_coefficients)) &&
                yk_array_reserve(context, &response->right_array, size, sizeof(double)) &&
                yk_array_reserve(context, &response->refinement_array, size, sizeof(double)) &&
                yk_array_reserve(context, &response->bias_array, rows, sizeof(double)) &&
                yk_array_reserve(context, &response->trace_array, rows, sizeof(double));
    if (!good) return yk_fail(context, YK_ERROR_MEMORY, "no memory for the interface model of %zu bodies", nodes);
    response->group = response->group_array.data;
    response->placed = response->placed_array.data;
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

/* Values ----------------------------------------------------------------------------------------------------------- */

/* Rows of a joint hold, unless the impulse is at a bound: it stays there. */
static void joint_law(yk_response *response, const yk_response_def *def, const response_part *p, const element *e,
                      yk_held_law *law)
{
    const yk_network *network = response->network;
    const yk_joint_row *rows = network->joints + network->joint_blocks[p->element - network->contact_count].first;
    memset(law, 0, sizeof *law);
    for (int k = 0; k < e->dim; k++) {
        bool tight = rows[k].impulse <= rows[k].lower || rows[k].impulse >= rows[k].upper;
        law->directions[k][k] = 1;
        law->rates[k][k] = tight ? 0 : 1;
        law->softness[k] = tight ? 1 : e->softness[k];
        response->biases[p->first + k] = tight ? -def->impulse_scale * rows[k].impulse : 0;
    }
}

/* One side of a part: G, and -M^-1 D scaled. */
static void fill_side(const yk_network *network, const element *e, int side, const yk_held_law *law, const double *w,
                      response_coefficients *c)
{
    double direct[YK_CONTACT_DIM_MAX][6], kick[YK_CONTACT_DIM_MAX][6];
    double inverse_mass = network->nodes[e->node[side]].inverse_mass;
    for (int k = 0; k < e->dim; k++) {
        yk_vec3 linear = e->linear[side][k], spin = e->spin[side][k], rotation = {0, 0, 0};
        if (node_is_dynamic(network, e->node[side])) rotation = node_spin_response(network, e->node[side], spin);
        double *d = direct[k], *m = kick[k];
        d[0] = linear.x, d[1] = linear.y, d[2] = linear.z, d[3] = spin.x, d[4] = spin.y, d[5] = spin.z;
        m[0] = inverse_mass * linear.x, m[1] = inverse_mass * linear.y, m[2] = inverse_mass * linear.z;
        m[3] = rotation.x, m[4] = rotation.y, m[5] = rotation.z;
    }
    memset(c->rows[side], 0, sizeof c->rows[side]);
    memset(c->columns[side], 0, sizeof c->columns[side]);
    for (int k = 0; k < e->dim; k++)
        for (int l = 0; l < e->dim; l++) {
            double rate = law->rates[k][l], direction = -law->directions[l][k] / w[k];
            for (int j = 0; j < 6 && rate != 0; j++) c->rows[side][k][j] += rate * direct[l][j];
            for (int j = 0; j < 6 && direction != 0; j++) c->columns[side][k][j] += direction * kick[l][j];
        }
}

static void fill_part(yk_response *response, const yk_response_def *def, size_t index)
{
    const yk_network *network = response->network;
    const response_part *p = &response->parts[index];
    response_coefficients *c = &response->coefficients[index];
    double *biases = response->biases + p->first, w[YK_CONTACT_DIM_MAX];
    bool contact = p->element < network->contact_count;
    element e;
    yk_held_law law;
    yk_network_element(network, p->element, &e);
    own_diagonal(network, &e, w);
    memset(biases, 0, (size_t)e.dim * sizeof *biases);
    if (contact) {
        yk_held_point here;
        yk_cone cone = cone_of(&e);
        point_of(network, def, p->element, &e, &here);
        if (response->closed[p->element] == RESPONSE_CAUGHT)
            yk_held_sticking_law(&cone, &here, &law);
        else
            yk_held_law_of(&cone, def->friction, &here, &law);
    } else {
        joint_law(response, def, p, &e, &law);
    }
    for (int k = 0; k < e.dim; k++) {
        for (int l = 0; l < e.dim; l++) biases[k] += law.rates[k][l] * e.free_rate[l];
        response->traces[p->first + k] = contact ? CONTACT_TRACE : JOINT_TRACE;
        c->softness[k] = law.softness[k] / w[k] + response->traces[p->first + k];
    }
    for (int side = 0; side < 2; side++)
        if (p->side[side] >= 0) fill_side(network, &e, side, &law, w, c);
}

static yk_status factor_islands(yk_response *response, const yk_response_def *def)
{
    join_islands(response);
    choose_parts(response, def);
    for (size_t i = 0; i < response->part_count; i++) fill_part(response, def, i);
    return yk_response_factor_all(response);
}

yk_status yk_response_factor(yk_response *response, yk_network *network, const yk_response_def *def)
{
    response->network = network;
    yk_status status = yk_joints_scale(network);
    if (status == YK_OK) status = reserve(response);
    if (status != YK_OK) return status;
    find_closed(response, def);
    return factor_islands(response, def);
}

/* Review ----------------------------------------------------------------------------------------------------------- */

/* The normal velocity of an open contact of a node that takes part, with the solution for those that do. */
static double expected_approach(const yk_response *response, const yk_response_def *def, const element *e)
{
    double rate = e->free_rate[0];
    bool near = false;
    for (int side = 0; side < 2; side++) {
        int32_t node = e->node[side];
        if (node < 0) continue;
        const double *v = response->right + 6 * (size_t)(response->placed[node] < 0 ? 0 : response->placed[node]);
        bool solved = response->placed[node] >= 0;
        yk_vec3 linear = solved ? yk_v3(v[0], v[1], v[2]) : def->present[node].velocity;
        yk_vec3 spin = solved ? yk_v3(v[3], v[4], v[5]) : def->present[node].spin;
        rate += yk_v3_dot(e->linear[side][0], linear) + yk_v3_dot(e->spin[side][0], spin);
        near = near || solved;
    }
    return near ? rate : 0;
}

static bool catch_contacts(yk_response *response, const yk_response_def *def, double speed)
{
    bool changed = false;
    for (size_t i = 0; i < response->network->contact_count; i++) {
        if (response->closed[i] != RESPONSE_OPEN) continue;
        element e;
        yk_network_element(response->network, i, &e);
        if (!(expected_approach(response, def, &e) < -speed)) continue;
        response->closed[i] = RESPONSE_CAUGHT;
        changed = true;
    }
    return changed;
}

/* A contact that pulls opens; the traces of softness leave a little of that where contacts share a load. */
static bool release_contacts(yk_response *response)
{
    const double *z = response->right + 6 * (size_t)response->slot_count;
    double largest = 0;
    bool changed = false;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < response->part_count; i++) {
            const response_part *p = &response->parts[i];
            if (p->element >= response->network->contact_count) continue;
            double normal = z[p->first];
            if (pass == 0) largest = normal > largest ? normal : largest;
            if (pass == 0 || normal >= -1e-6 * largest) continue;
            response->closed[p->element] = RESPONSE_OPEN;
            changed = true;
        }
    return changed;
}

yk_status yk_response_review(yk_response *response, const yk_response_def *def, double speed, bool *changed)
{
    bool released = release_contacts(response), caught = catch_contacts(response, def, speed);
    *changed = released || caught;
    return *changed ? factor_islands(response, def) : YK_OK;
}

/* Right-hand sides ------------------------------------------------------------------------------------------------- */

void yk_response_begin_zero(yk_response *response)
{
    size_t size = 6 * (size_t)response->slot_count + (size_t)response->row_count;
    memset(response->right, 0, size * sizeof *response->right);
}

void yk_response_begin_free(yk_response *response)
{
    double *right = response->right;
    for (int i = 0; i < response->slot_count; i++) {
        const yk_network_node *node = &response->network->nodes[response->nodes[i]];
        *right++ = node->velocity.x, *right++ = node->velocity.y, *right++ = node->velocity.z;
        *right++ = node->spin.x, *right++ = node->spin.y, *right++ = node->spin.z;
    }
    for (int i = 0; i < response->row_count; i++) *right++ = -response->biases[i];
}

static void add_vector(double *to, double scale, yk_vec3 v)
{
    to[0] += scale * v.x, to[1] += scale * v.y, to[2] += scale * v.z;
}

void yk_response_push(yk_response *response, int32_t node, yk_vec3 impulse, yk_vec3 angular)
{
    const yk_network *network = response->network;
    double *right = response->right + 6 * (size_t)response->placed[node];
    if (!node_is_dynamic(network, node)) return;
    add_vector(right, network->nodes[node].inverse_mass, impulse);
    yk_vec3 scaled = yk_v3_scale(1 / node_length(network, node), angular);
    add_vector(right + 3, 1, node_spin_response(network, node, scaled));
}

yk_vec3 yk_response_velocity(const yk_response *response, int32_t node)
{
    const double *v = response->right + 6 * (size_t)response->placed[node];
    return yk_v3(v[0], v[1], v[2]);
}

yk_vec3 yk_response_angular_velocity(const yk_response *response, int32_t node)
{
    const double *v = response->right + 6 * (size_t)response->placed[node] + 3;
    return yk_v3_scale(1 / node_length(response->network, node), yk_v3(v[0], v[1], v[2]));
}
