/* The problem of a network in assembled form: every contact and joint as rows on two nodes, and W =
 * J M^-1 J^T from the nodes' lists of rows. Contacts have the order of the pairs and their own
 * frames; they are followed by the joints, one block per joint. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact/network_data.h"

static yk_vec3 lane_vector(const lane_vectors *lanes, uint32_t lane)
{
    return yk_v3(lanes->c[0][lane], lanes->c[1][lane], lanes->c[2][lane]);
}

/* Normal and tangents of a round contact. */
static void lane_frame(const yk_network *network, contact_slot at, yk_vec3 frame[3])
{
    uint32_t group = at.index / LANES;
    uint32_t lane = at.index % LANES;
    const lane_vectors *normal = &network->singles[group].normal;
    if (at.kind == SLOT_PAIR)
        normal = &network->pairs[group].normal;
    if (at.kind == SLOT_ROLLING)
        normal = &network->rollings[group].normal;

    frame[0] = lane_vector(normal, lane);
    yk_v3_tangents(frame[0], &frame[1], &frame[2]);
}

/* The lanes that hold the impulse of a round contact. */
static lane_vectors *impulse_lanes(const yk_network *network, contact_slot at)
{
    uint32_t group = at.index / LANES;
    if (at.kind == SLOT_PAIR)
        return &network->pairs[group].impulse;
    if (at.kind == SLOT_SINGLE)
        return &network->singles[group].impulse;
    return &network->rollings[group].impulse;
}

/* Three rows n, t1, t2 with lever arms along the normal. */
static void round_element(const yk_network *network, contact_slot at, element *e)
{
    uint32_t group = at.index / LANES;
    uint32_t lane = at.index % LANES;
    yk_vec3 frame[3];
    yk_vec3 surface = yk_v3(0, 0, 0);
    const soft_group *soft = NULL;
    double bias = 0;

    lane_frame(network, at, frame);
    e->dim = 3;

    /* Nodes, friction and the velocity of the other side, by kind. */
    if (at.kind == SLOT_PAIR) {
        const pair_group *g = &network->pairs[group];
        e->node[0] = g->a[lane];
        e->node[1] = g->b[lane];
        e->mu = g->mu[lane];
        bias = g->bias[lane];
        if (network->pair_softness)
            soft = &network->pair_softness[group];
    } else if (at.kind == SLOT_ROLLING) {
        const rolling_group *g = &network->rollings[group];
        e->node[0] = g->a[lane];
        e->node[1] = YK_NETWORK_NONE;
        if ((size_t)g->b[lane] < network->node_count)
            e->node[1] = g->b[lane];
        e->mu = g->mu[lane];
        e->mu_spin = g->mu_spin[lane];
        e->mu_roll = g->mu_roll[lane];
        surface = lane_vector(&g->velocity, lane); /* minus the bias */

        /* Three more rows of the rotation. */
        e->dim = YK_CONTACT_DIM_MAX;

        for (int k = 0; k < 3; k++) {
            e->spin[0][3 + k] = yk_v3_scale(g->inverse_length_a[lane], frame[k]);
            e->spin[1][3 + k] = yk_v3_scale(-g->inverse_length_b[lane], frame[k]);
        }
    } else {
        const single_group *g = &network->singles[group];
        e->node[0] = g->a[lane];
        e->node[1] = YK_NETWORK_NONE;
        e->mu = g->mu[lane];
        surface = lane_vector(&g->velocity, lane); /* minus the bias */
        if (network->single_softness)
            soft = &network->single_softness[group];
    }

    /* u_k = f_k . (n x s) = s . (f_k x n) */
    for (int k = 0; k < 3; k++) {
        yk_vec3 rotation = yk_v3_cross(frame[k], frame[0]);
        e->linear[0][k] = frame[k];
        e->linear[1][k] = yk_v3_neg(frame[k]);
        e->spin[0][k] = rotation;
        e->spin[1][k] = rotation;

        double added = k == 0 ? bias : 0;
        e->free_rate[k] = added - yk_v3_dot(frame[k], surface);
        if (soft)
            e->softness[k] = k == 0 ? soft->normal[lane] : soft->tangent[lane];
    }
}

void yk_network_element(const yk_network *network, size_t i, element *e)
{
    if (i < network->contact_count) {
        contact_slot at = network->slots[i];
        *e = (element){.node = {YK_NETWORK_NONE, YK_NETWORK_NONE}, .dim = 3};
        if (at.kind == SLOT_IDLE)
            return;
        if (at.kind != SLOT_GENERAL) {
            round_element(network, at, e);
            return;
        }

        /* A general contact: rows in its frame. */
        const general_contact *c = &network->generals[at.index];
        *e = (element){.node = {c->a, c->b}, .dim = c->dim};
        e->mu = c->mu;
        e->mu_spin = c->mu_spin;
        e->mu_roll = c->mu_roll;

        /* Three rows of the point's velocity. */
        for (int k = 0; k < 3; k++) {
            yk_vec3 axis = c->frame[k];
            e->linear[0][k] = axis;
            e->linear[1][k] = yk_v3_neg(axis);
            e->spin[0][k] = yk_v3_cross(c->arm_a, axis);
            e->spin[1][k] = yk_v3_neg(yk_v3_cross(c->arm_b, axis));
            e->free_rate[k] = c->drive[k];
            e->softness[k] = c->softness[k];
        }

        /* With rolling friction, three rows of the rotation. */
        for (int k = 3; k < c->dim; k++) {
            yk_vec3 axis = c->frame[k - 3];
            e->spin[0][k] = yk_v3_scale(c->inverse_length_a, axis);
            e->spin[1][k] = yk_v3_scale(-c->inverse_length_b, axis);
        }

        return;
    }

    /* A joint: its scaled rows. */
    const joint_block *b = &network->joint_blocks[i - network->contact_count];
    const yk_joint_row *rows = network->joints + b->first;

    const joint_row *scaled = network->joint_rows + b->first;
    *e = (element){.node = {rows->a, rows->b}, .dim = (int)b->count};

    for (int k = 0; k < e->dim; k++) {
        e->linear[0][k] = scaled[k].linear_a;
        e->linear[1][k] = scaled[k].linear_b;
        e->spin[0][k] = scaled[k].spin_a;
        e->spin[1][k] = scaled[k].spin_b;
        e->free_rate[k] = rows[k].bias;
        e->softness[k] = rows[k].softness;
    }
}

/* The pattern ---------------------------------------------------------------------------------- */

void yk_incidence_list(size_t points, size_t count, const int32_t (*ends)[2], yk_incidence *in)
{
    memset(in->start, 0, (points + 2) * sizeof *in->start);

    /* Counts have an offset of two, so that the starts are in their final position after the lists
     * are filled. */
    for (size_t i = 0; i < count; i++) {
        for (int side = 0; side < 2; side++) {
            if (ends[i][side] >= 0)
                in->start[ends[i][side] + 2]++;
        }
    }

    /* The starts are the sums of the counts. */
    for (size_t k = 2; k < points + 2; k++)
        in->start[k] += in->start[k - 1];

    /* The lists are filled in the order of elements, so they are ascending. */
    for (size_t i = 0; i < count; i++) {
        for (int side = 0; side < 2; side++) {
            if (ends[i][side] >= 0)
                in->list[in->start[ends[i][side] + 1]++] = (int)i;
        }
    }
}

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a;
    int y = *(const int *)b;
    return (x > y) - (x < y);
}

int yk_incidence_neighbours(const yk_incidence *in, const int32_t (*ends)[2], size_t i, int *mark,
                            int *columns)
{
    /* The element itself comes first. */
    int count = 0;
    columns[count++] = (int)i;
    mark[i] = (int)i;

    /* All elements at its two points, each once. */
    for (int side = 0; side < 2; side++) {
        int32_t point = ends[i][side];
        if (point < 0)
            continue;

        for (int k = in->start[point]; k < in->start[point + 1]; k++) {
            int j = in->list[k];
            if (mark[j] == (int)i)
                continue;

            mark[j] = (int)i;
            columns[count++] = j;
        }
    }

    qsort(columns, (size_t)count, sizeof *columns, ascending);
    return count;
}

/* Blocks of W for elements that share a moving node. */
static yk_status create_pattern(yk_context *context, const yk_network *network,
                                const element *elements, size_t count, size_t contacts,
                                const int32_t *local, size_t points, yk_contact_problem *problem)
{
    yk_incidence in = {
        .start = yk_allocate(context, points + 2, sizeof *in.start),
        .list = yk_allocate(context, 2 * count + 1, sizeof *in.list),
    };

    int32_t(*ends)[2] = yk_allocate(context, count + 1, sizeof *ends);
    int *dims = yk_allocate(context, count + 1, sizeof *dims);
    int *start = yk_allocate(context, count + 1, sizeof *start);
    int *mark = yk_allocate(context, count + 1, sizeof *mark);
    int *columns = NULL;
    yk_status status = YK_ERROR_MEMORY;

    if (in.start && in.list && ends && dims && start && mark) {
        /* Both ends of each element, -1 if nothing moves. */
        for (size_t i = 0; i < count; i++) {
            mark[i] = -1;
            dims[i] = elements[i].dim;
            for (int side = 0; side < 2; side++) {
                int32_t node = elements[i].node[side];
                ends[i][side] = -1;
                if (node_is_dynamic(network, node))
                    ends[i][side] = local ? local[node] : node;
            }
        }

        yk_incidence_list(points, count, (const int32_t(*)[2])ends, &in);

        /* Upper bound of the number of columns: some are counted twice. */
        size_t most = count;
        for (size_t k = 0; k < points; k++) {
            size_t degree = (size_t)(in.start[k + 1] - in.start[k]);
            most += degree * degree;
        }

        columns = yk_allocate(context, most + 1, sizeof *columns);
    }

    if (columns) {
        /* The columns of each row, and the problem with this pattern. */
        for (size_t i = 0; i < count; i++) {
            int found = yk_incidence_neighbours(&in, (const int32_t(*)[2])ends, i, mark,
                                                columns + start[i]);
            start[i + 1] = start[i] + found;
        }

        status = yk_contact_problem_create(context, (int)count, (int)contacts, dims, start, columns,
                                           problem);
    }

    yk_free(context, columns);
    yk_free(context, mark);
    yk_free(context, start);
    yk_free(context, dims);
    yk_free(context, ends);
    yk_free(context, in.list);
    yk_free(context, in.start);
    return status;
}

/* The problem ---------------------------------------------------------------------------------- */

yk_status yk_elements_assemble(yk_context *context, const yk_network *network,
                               const element *elements, size_t count, size_t contacts,
                               const int32_t *local, size_t points, yk_contact_problem *problem)
{
    *problem = (yk_contact_problem){0};
    yk_status status =
        create_pattern(context, network, elements, count, contacts, local, points, problem);
    if (status != YK_OK)
        return status;

    /* What the pattern does not bring. */
    size_t rows = (size_t)problem->row_count + 1;
    problem->mu_spin = yk_allocate(context, contacts + 1, sizeof *problem->mu_spin);
    problem->mu_roll = yk_allocate(context, contacts + 1, sizeof *problem->mu_roll);
    problem->softness = yk_allocate(context, rows, sizeof *problem->softness);
    if (!problem->mu_spin || !problem->mu_roll || !problem->softness) {
        yk_contact_problem_destroy(context, problem);
        return YK_ERROR_MEMORY;
    }

    yk_block_matrix *w = &problem->w;
    for (int i = 0; i < w->block_rows; i++) {
        const element *x = &elements[i];

        /* W: J_i M^-1 J_j^T, through the nodes that both elements share. */
        for (int k = w->start[i]; k < w->start[i + 1]; k++) {
            const element *y = &elements[w->column[k]];
            for (int side = 0; side < 4; side++) {
                int s = side / 2;
                int t = side % 2;
                int32_t node = x->node[s];
                if (node != y->node[t] || !node_is_dynamic(network, node))
                    continue;

                double *value = w->value + w->offset[k];

                double inverse_mass = network->nodes[node].inverse_mass;
                for (int c = 0; c < y->dim; c++) {
                    yk_vec3 linear = y->linear[t][c];
                    yk_vec3 response = node_spin_response(network, node, y->spin[t][c]);
                    for (int r = 0; r < x->dim; r++) {
                        value[r * y->dim + c] += inverse_mass * yk_v3_dot(x->linear[s][r], linear) +
                                                 yk_v3_dot(x->spin[s][r], response);
                    }
                }
            }
        }

        /* q: the rates with the present velocities of the nodes. */
        for (int r = 0; r < x->dim; r++) {
            double rate = x->free_rate[r];
            for (int s = 0; s < 2; s++) {
                if (x->node[s] < 0)
                    continue;
                const yk_network_node *node = &network->nodes[x->node[s]];
                rate += yk_v3_dot(x->linear[s][r], node->velocity) +
                        yk_v3_dot(x->spin[s][r], node->spin);
            }

            problem->q[w->first[i] + r] = rate;
            problem->softness[w->first[i] + r] = x->softness[r];
        }

        /* Joints have no friction. */
        if (i >= problem->contact_count)
            continue;
        problem->mu[i] = x->mu;
        problem->mu_spin[i] = x->mu_spin;
        problem->mu_roll[i] = x->mu_roll;
    }

    return YK_OK;
}

yk_status yk_network_assemble_in(yk_context *context, yk_network *network,
                                 yk_contact_problem *problem)
{
    *problem = (yk_contact_problem){0};
    for (size_t i = 0; i < network->joint_count; i++) {
        if (isinf(network->joints[i].lower) && isinf(network->joints[i].upper))
            continue;
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "contact network: joint row %zu has bounds, which only Gauss-Seidel knows",
                       i);
    }

    yk_status status = yk_joints_prepare(network);
    if (status != YK_OK)
        return status;

    size_t count = network->contact_count + network->joint_block_count;
    element *elements = yk_allocate(context, count + 1, sizeof *elements);
    if (!elements)
        return YK_ERROR_MEMORY;

    /* All contacts and joints as elements. */
    for (size_t i = 0; i < count; i++)
        yk_network_element(network, i, &elements[i]);

    status = yk_elements_assemble(context, network, elements, count, network->contact_count, NULL,
                                  network->node_count, problem);
    yk_free(context, elements);
    return status;
}

yk_status yk_network_assemble(yk_network *network, yk_contact_problem *problem)
{
    return yk_network_assemble_in(network->context, network, problem);
}

/* Impulses to and from the assembled problem --------------------------------------------------- */

void yk_network_contact_impulse(const yk_network *network, size_t contact, double *r)
{
    contact_slot at = network->slots[contact];
    if (at.kind == SLOT_IDLE)
        return;

    if (at.kind == SLOT_GENERAL) {
        const general_contact *c = &network->generals[at.index];
        memcpy(r, c->impulse, (size_t)c->dim * sizeof *r);
        return;
    }

    /* The impulse is stored in global axes. */
    uint32_t lane = at.index % LANES;
    yk_vec3 frame[3];
    yk_vec3 impulse = lane_vector(impulse_lanes(network, at), lane);
    lane_frame(network, at, frame);
    for (int k = 0; k < 3; k++)
        r[k] = yk_v3_dot(frame[k], impulse);

    if (at.kind != SLOT_ROLLING)
        return;

    yk_vec3 torque = lane_vector(&network->rollings[at.index / LANES].torque, lane);
    for (int k = 0; k < 3; k++)
        r[3 + k] = yk_v3_dot(frame[k], torque);
}

void yk_network_take_impulses(const yk_network *network, const yk_contact_problem *problem,
                              double *r)
{
    const int *first = problem->w.first;

    /* Contacts in the order of the pairs, followed by joints. */
    for (size_t i = 0; i < network->contact_count; i++)
        yk_network_contact_impulse(network, i, r + first[i]);

    double *joints = r + first[network->contact_count];
    for (size_t i = 0; i < network->joint_count; i++)
        joints[i] = network->joints[i].impulse;
}

/* Three components in a frame, to the contact's lane in global axes. */
static void put_frame(const yk_vec3 frame[3], const double *r, lane_vectors *lanes, uint32_t lane)
{
    yk_vec3 v = yk_v3(0, 0, 0);
    for (int k = 0; k < 3; k++)
        v = yk_v3_axpy(r[k], frame[k], v);
    lanes->c[0][lane] = v.x;
    lanes->c[1][lane] = v.y;
    lanes->c[2][lane] = v.z;
}

void yk_network_set_impulse(yk_network *network, size_t contact, const double *r)
{
    contact_slot at = network->slots[contact];
    if (at.kind == SLOT_IDLE)
        return;

    if (at.kind == SLOT_GENERAL) {
        general_contact *c = &network->generals[at.index];
        memcpy(c->impulse, r, (size_t)c->dim * sizeof *r);
        return;
    }

    /* Frames of round contacts are computed when needed, not stored. */
    uint32_t lane = at.index % LANES;
    yk_vec3 frame[3];
    lane_frame(network, at, frame);
    put_frame(frame, r, impulse_lanes(network, at), lane);
    if (at.kind == SLOT_ROLLING)
        put_frame(frame, r + 3, &network->rollings[at.index / LANES].torque, lane);
}

void yk_network_give_impulses(yk_network *network, const yk_contact_problem *problem,
                              const double *r)
{
    const int *first = problem->w.first;
    for (size_t i = 0; i < network->contact_count; i++)
        yk_network_set_impulse(network, i, r + first[i]);

    const double *joints = r + first[network->contact_count];
    for (size_t i = 0; i < network->joint_count; i++)
        network->joints[i].impulse = joints[i];
}
