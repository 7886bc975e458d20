#include "contact/network.h"

#include <string.h>

#include "contact/network_data.h"

bool yk_array_reserve(yk_context *context, array *a, size_t count, size_t size)
{
    if (a->data && count <= a->capacity)
        return true;

    size_t capacity = count + count / 8 + 16;
    if (capacity < count || capacity > (SIZE_MAX - 64) / size)
        return false;

    void *raw = yk_allocate(context, capacity * size + 64, 1);
    if (!raw)
        return false;

    yk_free(context, a->raw);
    *a = (array){.raw = raw, .capacity = capacity, .size = size};
    a->data = (void *)(((uintptr_t)raw + 63) / 64 * 64);
    return true;
}

yk_network_def yk_network_default(void)
{
    return (yk_network_def){.nodes = 1000, .contacts = 4000};
}

static yk_status out_of_memory(yk_network *network, const char *what, size_t count)
{
    return yk_fail(network->context, YK_ERROR_MEMORY, "contact network: no memory for %zu %s",
                   count, what);
}

yk_status yk_network_create(yk_context *context, const yk_network_def *def, yk_network **network)
{
    *network = NULL;

    yk_network *made = yk_allocate(context, 1, sizeof *made);
    if (!made)
        return YK_ERROR_MEMORY;

    made->context = context;
    made->pool = def->pool;
    made->soft = def->soft;

    /* What is asked for now; more is taken as needed. */
    size_t groups = def->contacts / LANES + 64;
    bool enough =
        yk_array_reserve(context, &made->nodes_array, def->nodes + 64, sizeof(yk_network_node)) &&
        yk_array_reserve(context, &made->slots_array, def->contacts, sizeof(contact_slot)) &&
        yk_array_reserve(context, &made->pairs_array, groups, sizeof(pair_group)) &&
        yk_array_reserve(context, &made->joint_rows_array, def->joint_rows, sizeof(joint_row)) &&
        yk_array_reserve(context, &made->joint_blocks_array, def->joint_rows, sizeof(joint_block));
    if (!enough) {
        yk_network_destroy(made);
        return YK_ERROR_MEMORY;
    }

    made->nodes = made->nodes_array.data;
    *network = made;
    return YK_OK;
}

enum { ARRAYS = 19 };

static void list_arrays(yk_network *network, array *list[ARRAYS])
{
    array *all[ARRAYS] = {
        &network->nodes_array,         &network->extras_array,          &network->slots_array,
        &network->pairs_array,         &network->singles_array,         &network->generals_array,
        &network->pair_softness_array, &network->single_softness_array, &network->blocks_array,
        &network->colours_array,       &network->shares_array,          &network->taken_array,
        &network->joint_rows_array,    &network->joint_blocks_array,    &network->partials_array,
        &network->gradient_array,      &network->gradient_nodes_array,  &network->plan_array,
        &network->rollings_array,
    };
    memcpy(list, all, sizeof all);
}

void yk_network_destroy(yk_network *network)
{
    if (!network)
        return;

    array *arrays[ARRAYS];
    list_arrays(network, arrays);
    for (int i = 0; i < ARRAYS; i++)
        yk_free(network->context, arrays[i]->raw);
    yk_scratch_destroy(network->scratch);
    yk_free(network->context, network);
}

size_t yk_network_memory(yk_network *network)
{
    array *arrays[ARRAYS];
    list_arrays(network, arrays);

    size_t bytes = sizeof *network;
    for (int i = 0; i < ARRAYS; i++)
        bytes += arrays[i]->capacity * arrays[i]->size;
    return bytes;
}

/* Nodes ---------------------------------------------------------------------------------------- */

yk_network_node *yk_network_nodes(yk_network *network, size_t count)
{
    /* Lanes that are not used need two nodes per block of the plan, and there are at most nodes /
     * 64 + 4 blocks. */
    size_t needed = count + 2 * (count / 64 + 4);
    yk_context *context = network->context;
    if (!yk_array_reserve(context, &network->nodes_array, needed, sizeof(yk_network_node))) {
        out_of_memory(network, "nodes", count);
        return NULL;
    }

    /* A plan, contacts and tensors are those of other nodes. */
    if (count != network->node_count) {
        network->contact_count = 0;
        network->block_count = 0;
        network->colour_count = 0;
        network->extras = NULL;
    }

    network->nodes = network->nodes_array.data;
    network->node_count = count;
    return network->nodes;
}

/* Makes the extras of all nodes with the first that needs them. */
static yk_status need_extra(yk_network *network, size_t node)
{
    size_t count = network->node_count;
    if (node >= count)
        return yk_fail(network->context, YK_ERROR_ARGUMENT, "contact network: node %zu of %zu",
                       node, count);
    if (network->extras)
        return YK_OK;

    if (!yk_array_reserve(network->context, &network->extras_array, count, sizeof(node_extra)))
        return out_of_memory(network, "inertia tensors", count);

    /* Until they are given: round, of radius one. */
    network->extras = network->extras_array.data;
    for (size_t i = 0; i < count; i++)
        network->extras[i] = (node_extra){.length = 1};
    return YK_OK;
}

yk_status yk_network_inertia(yk_network *network, size_t node, const yk_mat3 *inverse)
{
    yk_status status = need_extra(network, node);
    if (status != YK_OK)
        return status;

    /* The upper triangle. */
    const double(*m)[3] = inverse->m;
    network->extras[node] = (node_extra){
        .inverse = {m[0][0], m[1][1], m[2][2], m[0][1], m[0][2], m[1][2]},
        .length = 1,
        .has_tensor = 1,
    };
    return YK_OK;
}

yk_status yk_network_radius(yk_network *network, size_t node, double radius)
{
    yk_status status = need_extra(network, node);
    if (status != YK_OK)
        return status;

    /* The spin of a node is scaled with it. */
    if (!(radius > 0))
        return yk_fail(network->context, YK_ERROR_ARGUMENT,
                       "contact network: node %zu has the radius %g", node, radius);
    network->extras[node] = (node_extra){.length = radius};
    return YK_OK;
}

/* Contacts ------------------------------------------------------------------------------------- */

static void put_lane(lane_vectors *lanes, int lane, yk_vec3 v)
{
    lanes->c[0][lane] = v.x;
    lanes->c[1][lane] = v.y;
    lanes->c[2][lane] = v.z;
}

static yk_vec3 get_lane(const lane_vectors *lanes, int lane)
{
    return yk_v3(lanes->c[0][lane], lanes->c[1][lane], lanes->c[2][lane]);
}

static void put_softness(soft_group *soft, int lane, const yk_contact *data)
{
    soft->normal[lane] = data->softness;
    soft->tangent[lane] = data->creep;
}

/* The other side of a contact with one node that moves: as the surface, or as a node that impulses
 * do not move. */
static yk_vec3 still_velocity(const yk_network *network, int32_t node, yk_vec3 normal,
                              const yk_contact *data)
{
    if (node < 0)
        return data->surface;

    const yk_network_node *n = &network->nodes[node];
    return yk_v3_add(n->velocity, yk_v3_cross(n->spin, normal));
}

void yk_network_set(yk_network *network, size_t contact, const yk_contact *data)
{
    /* In a lane the node that moves comes first; then the signs change. */
    contact_slot at = network->slots[contact];
    uint32_t group = at.index / LANES;
    int lane = (int)(at.index % LANES);

    double sign = at.swapped ? -1 : 1;
    yk_vec3 normal = yk_v3_scale(sign, data->normal);
    yk_vec3 impulse = yk_v3_scale(sign, data->impulse);

    /* Round contacts stand four to a group, one in each lane. */
    if (at.kind == SLOT_PAIR) {
        pair_group *g = &network->pairs[group];
        put_lane(&g->normal, lane, normal);
        put_lane(&g->impulse, lane, impulse);
        g->bias[lane] = data->bias;
        g->mu[lane] = data->mu;
        if (network->pair_softness)
            put_softness(&network->pair_softness[group], lane, data);
    } else if (at.kind == SLOT_SINGLE) {
        single_group *g = &network->singles[group];
        yk_vec3 other = still_velocity(network, g->other[lane], normal, data);

        /* The bias goes into the velocity of the other side, which is known. */
        put_lane(&g->normal, lane, normal);
        put_lane(&g->impulse, lane, impulse);
        put_lane(&g->velocity, lane, yk_v3_axpy(-data->bias, normal, other));
        g->mu[lane] = data->mu;
        if (network->single_softness)
            put_softness(&network->single_softness[group], lane, data);
    } else if (at.kind == SLOT_ROLLING) {
        rolling_group *g = &network->rollings[group];

        /* The second sphere, or a surface whose motion is prescribed. */
        yk_vec3 other = yk_v3(0, 0, 0);
        g->inverse_length_a[lane] = 1 / node_length(network, g->a[lane]);
        g->inverse_length_b[lane] = 0;
        if ((size_t)g->b[lane] < network->node_count) {
            g->inverse_length_b[lane] = 1 / node_length(network, g->b[lane]);
        } else {
            other = still_velocity(network, g->other[lane], normal, data);
        }

        put_lane(&g->normal, lane, normal);
        put_lane(&g->impulse, lane, impulse);
        put_lane(&g->torque, lane, yk_v3_scale(sign, data->torque));
        put_lane(&g->velocity, lane, yk_v3_axpy(-data->bias, normal, other));
        g->mu[lane] = data->mu;
        g->mu_spin[lane] = data->mu_spin;
        g->mu_roll[lane] = data->mu_roll;
    }

    if (at.kind != SLOT_GENERAL)
        return;

    /* General contacts keep their own frame. */
    general_contact *c = &network->generals[at.index];

    /* The frame: normal and tangents, given or chosen. */
    c->frame[0] = data->normal;
    if (yk_v3_norm2(data->tangent) > 0) {
        c->frame[1] = data->tangent;
        c->frame[2] = yk_v3_cross(data->normal, data->tangent);
    } else {
        yk_v3_tangents(data->normal, &c->frame[1], &c->frame[2]);
    }

    /* Arms over the lengths that scale the spins of the nodes. */
    c->inverse_length_a = 1 / node_length(network, c->a);
    c->inverse_length_b = 1;
    if (c->b >= 0)
        c->inverse_length_b = 1 / node_length(network, c->b);
    c->arm_a = yk_v3_scale(c->inverse_length_a, data->arm_a);
    c->arm_b = yk_v3_scale(c->inverse_length_b, data->arm_b);

    /* Six components with spinning and rolling friction. */
    c->dim = 3;
    if (data->mu_spin > 0 || data->mu_roll > 0)
        c->dim = YK_CONTACT_DIM_MAX;

    c->mu = data->mu;
    c->mu_spin = data->mu_spin;
    c->mu_roll = data->mu_roll;
    c->softness[0] = data->softness;
    c->softness[1] = c->softness[2] = data->creep;

    /* Velocities and impulses in the frame. */
    yk_vec3 surface = yk_v3(0, 0, 0);
    if (c->b < 0)
        surface = data->surface;

    for (int k = 0; k < 3; k++) {
        double bias = k == 0 ? data->bias : 0;
        c->drive[k] = bias - yk_v3_dot(c->frame[k], surface);
        c->before[k] = bias + yk_v3_dot(c->frame[k], data->before);
        c->impulse[k] = yk_v3_dot(c->frame[k], data->impulse);
        c->impulse[3 + k] = 0;
        if (c->dim == 6)
            c->impulse[3 + k] = yk_v3_dot(c->frame[k], data->torque);
    }
}

void yk_network_set_resolution(yk_network *network, double speed)
{
    network->resolution = speed;
}

void yk_network_make_all_sweeps(yk_network *network, bool all)
{
    network->makes_all_sweeps = all;
}

yk_vec3 yk_network_impulse(const yk_network *network, size_t contact)
{
    contact_slot at = network->slots[contact];
    uint32_t group = at.index / LANES;
    int lane = (int)(at.index % LANES);
    double sign = at.swapped ? -1 : 1;

    /* Lanes hold the impulse in global axes, general contacts in their frames. */
    if (at.kind == SLOT_PAIR)
        return yk_v3_scale(sign, get_lane(&network->pairs[group].impulse, lane));
    if (at.kind == SLOT_SINGLE)
        return yk_v3_scale(sign, get_lane(&network->singles[group].impulse, lane));
    if (at.kind == SLOT_ROLLING)
        return yk_v3_scale(sign, get_lane(&network->rollings[group].impulse, lane));

    yk_vec3 sum = yk_v3(0, 0, 0);
    if (at.kind != SLOT_GENERAL)
        return sum;

    const general_contact *c = &network->generals[at.index];
    for (int k = 0; k < 3; k++)
        sum = yk_v3_axpy(c->impulse[k], c->frame[k], sum);
    return sum;
}

yk_vec3 yk_network_torque(const yk_network *network, size_t contact)
{
    contact_slot at = network->slots[contact];
    yk_vec3 sum = yk_v3(0, 0, 0);

    if (at.kind == SLOT_ROLLING) {
        const rolling_group *g = &network->rollings[at.index / LANES];
        return yk_v3_scale(at.swapped ? -1 : 1, get_lane(&g->torque, (int)(at.index % LANES)));
    }
    if (at.kind != SLOT_GENERAL)
        return sum;

    const general_contact *c = &network->generals[at.index];
    for (int k = 0; k < 3; k++)
        sum = yk_v3_axpy(c->impulse[3 + k], c->frame[k], sum);
    return sum;
}

yk_status yk_network_joints(yk_network *network, yk_joint_row *rows, size_t count)
{
    size_t nodes = network->node_count;

    /* The rows may come from anywhere. */
    for (size_t i = 0; i < count; i++) {
        const yk_joint_row *row = &rows[i];
        bool known_a = row->a >= 0 && (size_t)row->a < nodes;
        bool known_b =
            row->b >= YK_NETWORK_NONE && row->a != row->b && (row->b < 0 || (size_t)row->b < nodes);
        if (!known_a || !known_b)
            return yk_fail(network->context, YK_ERROR_ARGUMENT,
                           "contact network: joint row %zu connects the nodes %d and %d of %zu", i,
                           row->a, row->b, nodes);
        if (!(row->lower <= row->upper))
            return yk_fail(network->context, YK_ERROR_ARGUMENT,
                           "contact network: joint row %zu has the bounds [%g, %g]; use -INFINITY, "
                           "INFINITY for none",
                           i, row->lower, row->upper);
    }

    network->joints = rows;
    network->joint_count = count;
    return YK_OK;
}
