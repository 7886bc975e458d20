/* General contacts and joints, one at a time, with lever arms and inertia tensors. */
#include <math.h>
#include <string.h>

#include "contact/local.h"
#include "contact/network_data.h"

/* Contacts -------------------------------------------------------------------------------------------------------- */

static yk_vec3 point_velocity(const yk_network_node *node, yk_vec3 arm)
{
    return yk_v3_add(node->velocity, yk_v3_cross(node->spin, arm));
}

void yk_general_velocity(const yk_network_node *nodes, const general_contact *c, double *u)
{
    const yk_network_node *a = &nodes[c->a], *b = c->b >= 0 ? &nodes[c->b] : NULL;
    yk_vec3 velocity = point_velocity(a, c->arm_a), rotation = yk_v3_scale(c->inverse_length_a, a->spin);
    if (b) {
        velocity = yk_v3_sub(velocity, point_velocity(b, c->arm_b));
        rotation = yk_v3_axpy(-c->inverse_length_b, b->spin, rotation);
    }
    for (int k = 0; k < 3; k++) {
        u[k] = yk_v3_dot(c->frame[k], velocity) + c->drive[k];
        if (c->dim == 6) u[3 + k] = yk_v3_dot(c->frame[k], rotation);
    }
}

/* Impulse `force` at the arm and `torque` on one node. */
static void kick_node(yk_network *network, int32_t index, yk_vec3 force, yk_vec3 torque, yk_vec3 arm,
                      double inverse_length)
{
    if (!node_is_dynamic(network, index)) return;
    yk_network_node *node = &network->nodes[index];
    node->velocity = yk_v3_axpy(node->inverse_mass, force, node->velocity);
    yk_vec3 moment = yk_v3_axpy(inverse_length, torque, yk_v3_cross(arm, force));
    node->spin = yk_v3_add(node->spin, node_spin_response(network, index, moment));
}

void yk_general_add(yk_network *network, const general_contact *c, const double *change)
{
    yk_vec3 force = yk_v3(0, 0, 0), torque = yk_v3(0, 0, 0);
    for (int k = 0; k < 3; k++) {
        force = yk_v3_axpy(change[k], c->frame[k], force);
        if (c->dim == 6) torque = yk_v3_axpy(change[3 + k], c->frame[k], torque);
    }
    kick_node(network, c->a, force, torque, c->arm_a, c->inverse_length_a);
    if (c->b >= 0) kick_node(network, c->b, yk_v3_neg(force), yk_v3_neg(torque), c->arm_b, c->inverse_length_b);
}

/* Row k of a contact on one node: coefficients on velocity and spin. */
static void contact_row(const general_contact *c, bool side_b, int k, yk_vec3 *linear, yk_vec3 *spin)
{
    yk_vec3 axis = yk_v3_scale(side_b ? -1 : 1, c->frame[k % 3]);
    *linear = k < 3 ? axis : yk_v3(0, 0, 0);
    *spin = k < 3 ? yk_v3_cross(side_b ? c->arm_b : c->arm_a, axis)
                  : yk_v3_scale(side_b ? c->inverse_length_b : c->inverse_length_a, axis);
}

static void add_local(const yk_network *network, general_contact *c, int32_t node, bool side_b)
{
    if (!node_is_dynamic(network, node)) return;
    yk_vec3 linear[YK_CONTACT_DIM_MAX], spin[YK_CONTACT_DIM_MAX];
    for (int k = 0; k < c->dim; k++) contact_row(c, side_b, k, &linear[k], &spin[k]);
    for (int l = 0; l < c->dim; l++) {
        yk_vec3 response = node_spin_response(network, node, spin[l]);
        for (int k = 0; k < c->dim; k++)
            c->w[k * c->dim + l] +=
                network->nodes[node].inverse_mass * yk_v3_dot(linear[k], linear[l]) + yk_v3_dot(spin[k], response);
    }
}

void yk_general_prepare(yk_network *network)
{
    for (size_t i = 0; i < network->general_count; i++) {
        general_contact *c = &network->generals[i];
        memset(c->w, 0, sizeof c->w);
        add_local(network, c, c->a, false);
        add_local(network, c, c->b, true);
        double a = c->w[c->dim + 1], b = c->w[c->dim + 2], d = c->w[2 * c->dim + 2];
        c->dn = c->w[0] + c->softness;
        c->dt = (a + d) / 2 + hypot((a - d) / 2, b) + c->softness;
    }
}

static yk_cone general_cone(const general_contact *c)
{
    return (yk_cone){.dim = c->dim, .mu = {c->mu, c->mu_spin, c->mu_roll}};
}

/* A step of one contact with sliding friction in the metric diag(dn, dt, dt), as network_round.c has it. Any metric has the same
 * fixed point; this one is at least half of w, so that steps cannot grow. */
static void metric_step(const general_contact *c, bool coulomb, double relaxation_factor, const double *u,
                        const double *p, double *next)
{
    double a = c->dn * p[0] - relaxation_factor * u[0];
    double b[2] = {c->dt * p[1] - relaxation_factor * u[1], c->dt * p[2] - relaxation_factor * u[2]};
    double length = sqrt(b[0] * b[0] + b[1] * b[1]), press = coulomb ? fmax(a, 0) : a;
    double normal, fraction;
    if (length * c->dn <= c->mu * press * c->dt) {
        normal = press / c->dn;
        fraction = 1 / c->dt;
    } else {
        normal = coulomb ? press / c->dn : fmax(0, a + c->mu * length) / (c->dn + c->mu * c->mu * c->dt);
        fraction = length > 0 ? c->mu * normal / length : 0;
    }
    next[0] = normal;
    next[1] = fraction * b[0];
    next[2] = fraction * b[1];
}

/* Some steps on the contact's own problem: the coupling of its normal and tangents is weak, so few are as good as its solution. */
static void solve_sliding(const general_contact *c, bool coulomb, double relaxation_factor, bool exact, double *u,
                          double *next)
{
    int dim = c->dim;
    memcpy(next, c->impulse, 3 * sizeof *next);
    for (int step = 0; step < (exact ? 4 : 1); step++) {
        double change[3], moved[3];
        metric_step(c, coulomb, step == 0 ? relaxation_factor : 1, u, next, moved);
        for (int k = 0; k < 3; k++) {
            change[k] = moved[k] - next[k];
            next[k] = moved[k];
        }
        if (!exact || fabs(change[0]) + fabs(change[1]) + fabs(change[2]) <= 1e-3 * fabs(next[0])) return;
        for (int k = 0; k < 3; k++)
            u[k] += c->w[k * dim] * change[0] + c->w[k * dim + 1] * change[1] + c->w[k * dim + 2] * change[2] +
                    c->softness * change[k];
    }
}

/* Box friction, spinning and rolling: by the local solver. */
static void solve_locally(const general_contact *c, yk_friction_model friction, double relaxation_factor, bool exact,
                          double *u, double *next)
{
    int dim = c->dim;
    yk_cone cone = general_cone(c);
    double w[YK_CONTACT_DIM_MAX * YK_CONTACT_DIM_MAX];
    memcpy(w, c->w, (size_t)(dim * dim) * sizeof *w);
    for (int k = 0; k < 3; k++) w[k * dim + k] += c->softness;
    memcpy(next, c->impulse, (size_t)dim * sizeof *next);
    if (exact) {
        for (int k = 0; k < dim; k++)
            for (int l = 0; l < dim; l++) u[k] -= w[k * dim + l] * c->impulse[l];
        yk_local_solve(&cone, friction, w, u, next);
    } else {
        yk_local_step(&cone, friction, w, u, next);
    }
    if (relaxation_factor == 1) return;
    for (int k = 0; k < dim; k++) next[k] = c->impulse[k] + relaxation_factor * (next[k] - c->impulse[k]);
    if (friction == YK_FRICTION_BOX)
        yk_box_project(&cone, next[0], next, next);
    else
        yk_cone_project(&cone, next, next);
}

static void solve_general(yk_network *network, general_contact *c, yk_friction_model friction, double relaxation_factor,
                          bool exact)
{
    double u[YK_CONTACT_DIM_MAX], next[YK_CONTACT_DIM_MAX], change[YK_CONTACT_DIM_MAX];
    yk_general_velocity(network->nodes, c, u);
    for (int k = 0; k < 3; k++) u[k] += c->softness * c->impulse[k];
    if (c->dim == 3 && friction != YK_FRICTION_BOX)
        solve_sliding(c, friction == YK_FRICTION_COULOMB, relaxation_factor, exact, u, next);
    else
        solve_locally(c, friction, relaxation_factor, exact, u, next);
    for (int k = 0; k < c->dim; k++) {
        change[k] = next[k] - c->impulse[k];
        c->impulse[k] = next[k];
    }
    yk_general_add(network, c, change);
}

void yk_general_sweep(yk_network *network, const block *b, yk_friction_model friction, double relaxation_factor,
                      bool exact)
{
    for (uint32_t i = b->general_begin; i < b->general_end; i++)
        solve_general(network, &network->generals[i], friction, relaxation_factor, exact);
}

void yk_general_apply(yk_network *network, const block *b)
{
    for (uint32_t i = b->general_begin; i < b->general_end; i++)
        yk_general_add(network, &network->generals[i], network->generals[i].impulse);
}

void yk_general_clear(yk_network *network, const block *b)
{
    for (uint32_t i = b->general_begin; i < b->general_end; i++)
        memset(network->generals[i].impulse, 0, sizeof network->generals[i].impulse);
}

void yk_general_residual(const yk_network *network, const block *b, yk_friction_model friction, double rho,
                         double partial[3])
{
    for (uint32_t i = b->general_begin; i < b->general_end; i++) {
        const general_contact *c = &network->generals[i];
        yk_cone cone = general_cone(c);
        double u[YK_CONTACT_DIM_MAX], map[YK_CONTACT_DIM_MAX], sum = 0;
        yk_general_velocity(network->nodes, c, u);
        for (int k = 0; k < 3; k++) u[k] += c->softness * c->impulse[k];
        yk_cone_natural_map(&cone, friction, rho, c->impulse, u, map);
        for (int k = 0; k < c->dim; k++) sum += map[k] * map[k] / (rho * rho);
        partial[0] = fmax(partial[0], sum);
        partial[1] += sum;
    }
}

void yk_general_diagonal(const yk_network *network, const block *b, double partial[3])
{
    for (uint32_t i = b->general_begin; i < b->general_end; i++) {
        const general_contact *c = &network->generals[i];
        for (int k = 0; k < 3; k++) partial[1] += c->w[k * c->dim + k];
        partial[2] += 3;
    }
}

/* Joints ----------------------------------------------------------------------------------------------------------- */

static bool same_joint(const yk_joint_row *a, const yk_joint_row *b)
{
    return a->a == b->a && a->b == b->b && isinf(b->lower) && isinf(b->upper);
}

static void scale_row(const yk_network *network, const yk_joint_row *row, joint_row *out)
{
    *out =
        (joint_row){.linear_a = row->linear_a, .spin_a = yk_v3_scale(1 / node_length(network, row->a), row->angular_a)};
    if (node_is_dynamic(network, row->a)) out->kick_a = node_spin_response(network, row->a, out->spin_a);
    if (row->b < 0) return;
    out->linear_b = row->linear_b;
    out->spin_b = yk_v3_scale(1 / node_length(network, row->b), row->angular_b);
    if (node_is_dynamic(network, row->b)) out->kick_b = node_spin_response(network, row->b, out->spin_b);
}

double yk_joint_product(const yk_network *network, const yk_joint_row *nodes, const joint_row *x, const joint_row *y)
{
    double sum =
        network->nodes[nodes->a].inverse_mass * yk_v3_dot(x->linear_a, y->linear_a) + yk_v3_dot(x->spin_a, y->kick_a);
    if (nodes->b >= 0)
        sum += network->nodes[nodes->b].inverse_mass * yk_v3_dot(x->linear_b, y->linear_b) +
               yk_v3_dot(x->spin_b, y->kick_b);
    return sum;
}

/* The inverse of the block's matrix, column by column; redundant rows share by a trace of the diagonal. */
static void invert_block(const yk_network *network, joint_block *b)
{
    int n = (int)b->count;
    double w[YK_CONTACT_DIM_MAX * YK_CONTACT_DIM_MAX], largest = 0;
    const yk_joint_row *rows = network->joints + b->first;
    const joint_row *scaled = network->joint_rows + b->first;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) w[i * n + j] = yk_joint_product(network, &rows[i], &scaled[i], &scaled[j]);
    for (int i = 0; i < n; i++) largest = fmax(largest, w[i * n + i]);
    for (int i = 0; i < n; i++) w[i * n + i] += rows[i].softness + 1e-12 * largest + 1e-300;
    for (int j = 0; j < n; j++) {
        double copy[YK_CONTACT_DIM_MAX * YK_CONTACT_DIM_MAX], column[YK_CONTACT_DIM_MAX] = {0};
        memcpy(copy, w, (size_t)(n * n) * sizeof *w);
        column[j] = 1;
        if (!yk_small_solve(n, copy, column)) memset(column, 0, sizeof column);
        for (int i = 0; i < n; i++) b->inverse[i * n + j] = column[i];
    }
}

yk_status yk_joints_scale(yk_network *network)
{
    size_t count = network->joint_count;
    network->joint_block_count = 0;
    if (count == 0) return YK_OK;
    if (!yk_array_reserve(network->context, &network->joint_rows_array, count, sizeof(joint_row)) ||
        !yk_array_reserve(network->context, &network->joint_blocks_array, count, sizeof(joint_block)))
        return yk_fail(network->context, YK_ERROR_MEMORY, "contact network: no memory for %zu joint rows", count);
    network->joint_rows = network->joint_rows_array.data;
    network->joint_blocks = network->joint_blocks_array.data;
    for (size_t i = 0; i < count; i++) scale_row(network, &network->joints[i], &network->joint_rows[i]);
    for (size_t i = 0; i < count;) {
        joint_block *b = &network->joint_blocks[network->joint_block_count++];
        b->first = (uint32_t)i, b->count = 1;
        if (isinf(network->joints[i].lower) && isinf(network->joints[i].upper))
            while (b->count < YK_CONTACT_DIM_MAX && i + b->count < count &&
                   same_joint(&network->joints[i], &network->joints[i + b->count]))
                b->count++;
        i += b->count;
    }
    return YK_OK;
}

yk_status yk_joints_prepare(yk_network *network)
{
    yk_status status = yk_joints_scale(network);
    for (size_t i = 0; i < network->joint_block_count; i++) invert_block(network, &network->joint_blocks[i]);
    return status;
}

/* Rate of a row with bias and softness. */
double yk_joint_rate(const yk_network *network, const yk_network_node *nodes, size_t i, double impulse)
{
    const yk_joint_row *row = &network->joints[i];
    const joint_row *scaled = &network->joint_rows[i];
    const yk_network_node *a = &nodes[row->a];
    double rate = row->bias + row->softness * impulse + yk_v3_dot(scaled->linear_a, a->velocity) +
                  yk_v3_dot(scaled->spin_a, a->spin);
    if (row->b < 0) return rate;
    const yk_network_node *b = &nodes[row->b];
    return rate + yk_v3_dot(scaled->linear_b, b->velocity) + yk_v3_dot(scaled->spin_b, b->spin);
}

void yk_joint_kick(yk_network *network, size_t i, double impulse)
{
    const yk_joint_row *row = &network->joints[i];
    const joint_row *scaled = &network->joint_rows[i];
    yk_network_node *a = &network->nodes[row->a];
    a->velocity = yk_v3_axpy(a->inverse_mass * impulse, scaled->linear_a, a->velocity);
    a->spin = yk_v3_axpy(impulse, scaled->kick_a, a->spin);
    if (row->b < 0) return;
    yk_network_node *b = &network->nodes[row->b];
    b->velocity = yk_v3_axpy(b->inverse_mass * impulse, scaled->linear_b, b->velocity);
    b->spin = yk_v3_axpy(impulse, scaled->kick_b, b->spin);
}

static void solve_joint_block(yk_network *network, const joint_block *b, double relaxation_factor)
{
    int n = (int)b->count;
    double rate[YK_CONTACT_DIM_MAX];
    for (int i = 0; i < n; i++) {
        size_t row = b->first + (size_t)i;
        rate[i] = yk_joint_rate(network, network->nodes, row, network->joints[row].impulse);
    }
    for (int i = 0; i < n; i++) {
        yk_joint_row *row = &network->joints[b->first + (size_t)i];
        double change = 0;
        for (int j = 0; j < n; j++) change -= relaxation_factor * b->inverse[i * n + j] * rate[j];
        double next = fmin(row->upper, fmax(row->lower, row->impulse + change));
        yk_joint_kick(network, b->first + (size_t)i, next - row->impulse);
        row->impulse = next;
    }
}

void yk_joints_sweep(yk_network *network, double relaxation_factor)
{
    for (size_t i = 0; i < network->joint_block_count; i++)
        solve_joint_block(network, &network->joint_blocks[i], relaxation_factor);
}

void yk_joints_apply(yk_network *network)
{
    for (size_t i = 0; i < network->joint_count; i++) yk_joint_kick(network, i, network->joints[i].impulse);
}

void yk_joints_residual(const yk_network *network, double rho, double partial[3])
{
    for (size_t i = 0; i < network->joint_count; i++) {
        const yk_joint_row *row = &network->joints[i];
        double rate = yk_joint_rate(network, network->nodes, i, row->impulse);
        double moved = fmin(row->upper, fmax(row->lower, row->impulse - rho * rate));
        double violation = isinf(row->lower) && isinf(row->upper) ? rate : (row->impulse - moved) / rho;
        partial[0] = fmax(partial[0], violation * violation);
        partial[1] += violation * violation;
    }
}
