/* General contacts and joints, one at a time, with lever arms and inertia tensors. */
#include <math.h>
#include <string.h>

#include "contact/cone.h"
#include "contact/network_data.h"

/* Contacts ------------------------------------------------------------------------------------- */

static yk_vec3 point_velocity(const yk_network_node *node, yk_vec3 arm)
{
    return yk_v3_add(node->velocity, yk_v3_cross(node->spin, arm));
}

void yk_general_velocity(const yk_network_node *nodes, const general_contact *c, double *u)
{
    const yk_network_node *a = &nodes[c->a];
    yk_vec3 velocity = point_velocity(a, c->arm_a);
    yk_vec3 rotation = yk_v3_scale(c->inverse_length_a, a->spin);

    if (c->b >= 0) {
        const yk_network_node *b = &nodes[c->b];
        velocity = yk_v3_sub(velocity, point_velocity(b, c->arm_b));
        rotation = yk_v3_axpy(-c->inverse_length_b, b->spin, rotation);
    }

    for (int k = 0; k < 3; k++) {
        u[k] = yk_v3_dot(c->frame[k], velocity) + c->drive[k];
        if (c->dim == 6)
            u[3 + k] = yk_v3_dot(c->frame[k], rotation);
    }
}

/* Impulse `force` at the arm and `torque` on one node. */
static inline void kick_node(yk_network *network, int32_t index, yk_vec3 force, yk_vec3 torque,
                             yk_vec3 arm, double inverse_length)
{
    if (!node_is_dynamic(network, index))
        return;

    yk_network_node *node = &network->nodes[index];
    node->velocity = yk_v3_axpy(node->inverse_mass, force, node->velocity);
    yk_vec3 moment = yk_v3_axpy(inverse_length, torque, yk_v3_cross(arm, force));
    node->spin = yk_v3_add(node->spin, node_spin_response(network, index, moment));
}

void yk_general_add(yk_network *network, const general_contact *c, const double *change)
{
    /* From the frame of the contact to global axes. */
    yk_vec3 force = yk_v3(0, 0, 0);
    yk_vec3 torque = yk_v3(0, 0, 0);
    for (int k = 0; k < 3; k++) {
        force = yk_v3_axpy(change[k], c->frame[k], force);
        if (c->dim == 6)
            torque = yk_v3_axpy(change[3 + k], c->frame[k], torque);
    }

    /* Both nodes feel it, with opposite signs. */
    kick_node(network, c->a, force, torque, c->arm_a, c->inverse_length_a);

    if (c->b < 0)
        return;
    kick_node(network, c->b, yk_v3_neg(force), yk_v3_neg(torque), c->arm_b, c->inverse_length_b);
}

/* Adds what one of its nodes contributes to the contact's own W = J M^-1 J^T. */
static void add_local(const yk_network *network, general_contact *c, bool side_b)
{
    int32_t node = c->a;
    yk_vec3 arm = c->arm_a;
    double sign = 1;
    double inverse_length = c->inverse_length_a;
    if (side_b) {
        node = c->b;
        arm = c->arm_b;
        sign = -1;
        inverse_length = c->inverse_length_b;
    }

    if (!node_is_dynamic(network, node))
        return;

    /* Coefficients of the rows on velocity and spin: three of the point's velocity, three of the
     * rotation. */
    yk_vec3 linear[YK_CONTACT_DIM_MAX];
    yk_vec3 spin[YK_CONTACT_DIM_MAX];
    for (int k = 0; k < c->dim; k++) {
        yk_vec3 axis = yk_v3_scale(sign, c->frame[k % 3]);
        if (k < 3) {
            linear[k] = axis;
            spin[k] = yk_v3_cross(arm, axis);
        } else {
            linear[k] = yk_v3(0, 0, 0);
            spin[k] = yk_v3_scale(inverse_length, axis);
        }
    }

    /* W_kl = l_k . l_l / m + s_k . J^-1 s_l of this node. */
    double inverse_mass = network->nodes[node].inverse_mass;
    for (int l = 0; l < c->dim; l++) {
        yk_vec3 response = node_spin_response(network, node, spin[l]);
        for (int k = 0; k < c->dim; k++) {
            double *w = &c->w[k * c->dim + l];
            *w += inverse_mass * yk_v3_dot(linear[k], linear[l]) + yk_v3_dot(spin[k], response);
        }
    }
}

/* The larger eigenvalue of the 2 x 2 block of w that begins at row k. */
static double larger_eigenvalue(const general_contact *c, int k)
{
    double a = c->w[k * c->dim + k];
    double b = c->w[k * c->dim + k + 1];
    double d = c->w[(k + 1) * c->dim + k + 1];
    return (a + d) / 2 + hypot((a - d) / 2, b);
}

void yk_general_prepare(yk_network *network)
{
    for (size_t i = 0; i < network->general_count; i++) {
        general_contact *c = &network->generals[i];
        c->solved = c->distant = c->moving = false;

        /* Its own W, the sum over its two nodes. */
        memset(c->w, 0, sizeof c->w);
        add_local(network, c, false);
        add_local(network, c, true);

        /* The metric of the steps: the normal's own entry, the larger eigenvalue of the tangents'
         * 2 x 2 block. */
        c->dn = c->w[0] + c->softness[0];
        c->dt = larger_eigenvalue(c, 1) + c->softness[1];
        if (c->dim == 3)
            continue;

        /* With spinning and rolling friction it is enlarged where the coupling of its parts would
         * let steps grow: Gershgorin's bound of the eigenvalues of w in this metric exceeds two. */
        c->ds = c->w[3 * c->dim + 3];
        c->dr = larger_eigenvalue(c, 4);
        const double metric[YK_CONTACT_DIM_MAX] = {c->dn, c->dt, c->dt, c->ds, c->dr, c->dr};
        double bound = 0;
        for (int k = 0; k < c->dim; k++) {
            double sum = 0;
            for (int l = 0; l < c->dim; l++) {
                double w = c->w[k * c->dim + l];
                if (k == l && k < 3)
                    w += c->softness[k];
                sum += fabs(w) / sqrt(metric[k] * metric[l]);
            }

            bound = fmax(bound, sum);
        }

        /* Below two by a little, so that rounding does not matter. */
        double enlarged = fmax(1, bound / 1.9);
        c->dn *= enlarged;
        c->dt *= enlarged;
        c->ds *= enlarged;
        c->dr *= enlarged;
    }
}

static yk_cone general_cone(const general_contact *c)
{
    return (yk_cone){.dim = c->dim, .mu = {c->mu, c->mu_spin, c->mu_roll}};
}

/* Steps on the contact's own problem with sliding friction, in the metric diag(dn, dt, dt) as
 * network_spheres.c has them. Any metric has the same fixed point; this one is at least half of w, so
 * that steps cannot grow. The coupling of normal and tangents is weak, so that few steps are as
 * good as the solution. */
static void solve_sliding(const general_contact *c, bool coulomb, double relaxation_factor,
                          bool exact, double *u, double *next)
{
    int dim = c->dim;
    int steps = exact ? 4 : 1;
    double factor = relaxation_factor;
    double dn = c->dn;
    double dt = c->dt;
    double mu = c->mu;

    memcpy(next, c->impulse, 3 * sizeof *next);

    for (int step = 0; step < steps; step++) {
        /* What the metric step would give without friction's limit. */
        double a = dn * next[0] - factor * u[0];
        double b[2] = {dt * next[1] - factor * u[1], dt * next[2] - factor * u[2]};
        double length = sqrt(b[0] * b[0] + b[1] * b[1]);
        double press = coulomb ? fmax(a, 0) : a;
        factor = 1; /* of the first step alone */

        double normal;
        double ratio = 0;
        if (length * dn <= mu * press * dt) {
            /* Sticking or pressed. */
            normal = press / dn;
            ratio = 1 / dt;
        } else {
            /* Sliding or parting. */
            normal = coulomb ? press / dn : fmax(0, a + mu * length) / (dn + mu * mu * dt);
            if (length > 0)
                ratio = mu * normal / length;
        }

        const double moved[3] = {normal, ratio * b[0], ratio * b[1]};
        double change[3];
        for (int k = 0; k < 3; k++) {
            change[k] = moved[k] - next[k];
            next[k] = moved[k];
        }

        if (!exact || fabs(change[0]) + fabs(change[1]) + fabs(change[2]) <= 1e-3 * fabs(next[0]))
            return;

        /* The velocity after this step. */
        for (int k = 0; k < 3; k++) {
            const double *w = &c->w[k * dim];
            u[k] +=
                w[0] * change[0] + w[1] * change[1] + w[2] * change[2] + c->softness[k] * change[k];
        }
    }
}

/* The same with spinning and rolling, in the metric diag(dn, dt, dt, ds, dr, dr): few steps, until
 * they move the contact by a thousandth of its impulse. */
static void solve_rolling(const general_contact *c, bool coulomb, double relaxation_factor,
                          bool exact, double *u, double *next)
{
    const double metric[YK_CONTACT_DIM_MAX] = {c->dn, c->dt, c->dt, c->ds, c->dr, c->dr};
    int dim = c->dim;
    int steps = exact ? 4 : 1;
    double factor = relaxation_factor;

    /* The convex cone is one again in the impulses sqrt(metric) p, whose metric is Euclidean. */
    yk_cone cone = general_cone(c);
    yk_cone scaled = cone;
    double root[YK_CONTACT_DIM_MAX] = {0};
    for (int k = 0; !coulomb && k < dim; k++)
        root[k] = sqrt(metric[k]);
    for (int g = 0; !coulomb && g < YK_FRICTION_GROUPS; g++)
        scaled.mu[g] *= root[yk_cone_group_start[g]] / root[0];

    memcpy(next, c->impulse, sizeof c->impulse);
    for (int step = 0; step < steps; step++) {
        /* p - u / d in each component, then back into the cone. */
        double moved[YK_CONTACT_DIM_MAX];

        for (int k = 0; k < dim; k++)
            moved[k] = next[k] - factor * u[k] / metric[k];
        factor = 1; /* of the first step alone */

        /* Coulomb: the normal alone, then each group of friction within its limit. */
        if (coulomb) {
            moved[0] = fmax(0, moved[0]);
            for (int g = 0; g < YK_FRICTION_GROUPS; g++) {
                double limit = cone.mu[g] * moved[0];
                double norm = yk_cone_group_norm(dim, g, moved);
                double ratio = norm > limit ? limit / norm : 1;
                for (int k = yk_cone_group_start[g]; k < yk_cone_group_end(dim, g); k++)
                    moved[k] *= ratio;
            }
        } else {
            for (int k = 0; k < dim; k++)
                moved[k] *= root[k];
            yk_cone_project(&scaled, moved, moved);
            for (int k = 0; k < dim; k++)
                moved[k] /= root[k];
        }

        double change[YK_CONTACT_DIM_MAX];
        double size = 0;
        for (int k = 0; k < dim; k++) {
            change[k] = moved[k] - next[k];
            next[k] = moved[k];
            size += metric[k] * change[k] * change[k];
        }

        if (!exact || size <= 1e-6 * c->dn * next[0] * next[0])
            return;

        /* The velocity after this step. */
        for (int k = 0; k < dim; k++) {
            for (int l = 0; l < dim; l++)
                u[k] += c->w[k * dim + l] * change[l];
            if (k < 3)
                u[k] += c->softness[k] * change[k];
        }
    }
}

/* Box friction, and contacts of bodies that do not rotate: by the local solver. */
static void solve_locally(const general_contact *c, yk_friction_model friction,
                          double relaxation_factor, bool exact, double *u, double *next)
{
    int dim = c->dim;
    yk_cone cone = general_cone(c);
    double w[YK_CONTACT_DIM_MAX * YK_CONTACT_DIM_MAX];

    /* Softness stands on the diagonal of the three forces. */
    memcpy(w, c->w, (size_t)(dim * dim) * sizeof *w);
    for (int k = 0; k < 3; k++)
        w[k * dim + k] += c->softness[k];

    memcpy(next, c->impulse, (size_t)dim * sizeof *next);

    /* The exact solution begins with the velocity without this contact. */
    if (exact) {
        for (int k = 0; k < dim; k++) {
            for (int l = 0; l < dim; l++)
                u[k] -= w[k * dim + l] * c->impulse[l];
        }
        yk_local_solve(&cone, friction, w, u, next);
    } else {
        yk_local_step(&cone, friction, w, u, next);
    }

    /* Over-relaxed impulses may leave the cone. */
    if (relaxation_factor == 1)
        return;

    for (int k = 0; k < dim; k++)
        next[k] = c->impulse[k] + relaxation_factor * (next[k] - c->impulse[k]);
    yk_friction_project(&cone, friction, next, next);
}

void yk_general_sweep(yk_network *network, const block *b, yk_friction_model friction,
                      double relaxation_factor, bool exact)
{
    bool coulomb = friction == YK_FRICTION_COULOMB;
    for (uint32_t i = b->general_begin; i < b->general_end; i++) {
        general_contact *c = &network->generals[i];
        double u[YK_CONTACT_DIM_MAX];
        double next[YK_CONTACT_DIM_MAX];
        if (c->solved)
            continue;

        /* The velocity before this contact moves, with what its softness gives way. */
        yk_general_velocity(network->nodes, c, u);
        for (int k = 0; k < 3; k++)
            u[k] += c->softness[k] * c->impulse[k];

        /* Impulses of the contact alone, all others held. */
        bool box = friction == YK_FRICTION_PYRAMID;
        if (c->dim == 3 && !box) {
            solve_sliding(c, coulomb, relaxation_factor, exact, u, next);
        } else if (c->dim == 6 && !box && c->ds > 0 && c->dr > 0) {
            solve_rolling(c, coulomb, relaxation_factor, exact, u, next);
        } else {
            solve_locally(c, friction, relaxation_factor, exact, u, next);
        }

        /* The nodes feel the change at once. */
        double change[YK_CONTACT_DIM_MAX] = {0};
        for (int k = 0; k < c->dim; k++) {
            change[k] = next[k] - c->impulse[k];
            c->impulse[k] = next[k];
        }
        yk_general_add(network, c, change);
    }
}

void yk_general_apply(yk_network *network, const block *b)
{
    for (uint32_t i = b->general_begin; i < b->general_end; i++) {
        const general_contact *c = &network->generals[i];
        yk_general_add(network, c, c->impulse);
    }
}

void yk_general_clear(yk_network *network, const block *b)
{
    for (uint32_t i = b->general_begin; i < b->general_end; i++)
        memset(network->generals[i].impulse, 0, sizeof network->generals[i].impulse);
}

double yk_general_violation(const yk_network *network, const general_contact *c,
                            yk_friction_model friction, double rho)
{
    yk_cone cone = general_cone(c);
    double u[YK_CONTACT_DIM_MAX];
    double r[YK_CONTACT_DIM_MAX];
    double map[YK_CONTACT_DIM_MAX];

    yk_general_velocity(network->nodes, c, u);
    for (int k = 0; k < 3; k++)
        u[k] += c->softness[k] * c->impulse[k];
    memcpy(r, c->impulse, sizeof r);

    /* Rotations as velocities at the arm, torques as impulses there: one unit for all. */
    double arm = yk_v3_norm(c->arm_a) / c->inverse_length_a;
    if (c->dim == 6 && arm > 0) {
        cone.mu[1] /= arm;
        cone.mu[2] /= arm;
        for (int k = 3; k < 6; k++) {
            u[k] *= arm;
            r[k] /= arm;
        }
    }

    yk_cone_natural_map(&cone, friction, rho, r, u, map);

    double sum = 0;
    for (int k = 0; k < c->dim; k++)
        sum += map[k] * map[k] / (rho * rho);
    return sum;
}

double yk_general_change(const yk_network *network, const general_contact *c)
{
    double u[YK_CONTACT_DIM_MAX];
    yk_general_velocity(network->nodes, c, u);
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += (u[k] - c->before[k]) * (u[k] - c->before[k]);
    return sqrt(sum);
}

void yk_general_residual(const yk_network *network, const block *b, yk_friction_model friction,
                         double rho, double partial[3])
{
    for (uint32_t i = b->general_begin; i < b->general_end; i++) {
        double squared = yk_general_violation(network, &network->generals[i], friction, rho);
        partial[0] = fmax(partial[0], squared);
        partial[1] += squared;
        partial[2] += sqrt(squared);
    }
}

void yk_general_diagonal(const yk_network *network, const block *b, double partial[3])
{
    for (uint32_t i = b->general_begin; i < b->general_end; i++) {
        const general_contact *c = &network->generals[i];
        for (int k = 0; k < 3; k++)
            partial[1] += c->w[k * c->dim + k];
        partial[2] += 3;
    }
}

/* Joints --------------------------------------------------------------------------------------- */

static bool is_bilateral(const yk_joint_row *row)
{
    return isinf(row->lower) && isinf(row->upper);
}

yk_status yk_joints_scale(yk_network *network)
{
    yk_context *context = network->context;
    size_t count = network->joint_count;

    network->joint_block_count = 0;
    if (count == 0)
        return YK_OK;

    /* Memory grows with the rows, and is kept. */
    if (!yk_array_reserve(context, &network->joint_rows_array, count, sizeof(joint_row)) ||
        !yk_array_reserve(context, &network->joint_blocks_array, count, sizeof(joint_block)))
        return yk_fail(context, YK_ERROR_MEMORY, "contact network: no memory for %zu joint rows",
                       count);
    network->joint_rows = network->joint_rows_array.data;
    network->joint_blocks = network->joint_blocks_array.data;

    /* Coefficients on the nodes' scaled spins, and what a unit impulse adds to them. */
    const yk_joint_row *rows = network->joints;
    for (size_t i = 0; i < count; i++) {
        const yk_joint_row *row = &rows[i];
        joint_row *scaled = &network->joint_rows[i];
        *scaled = (joint_row){.linear_a = row->linear_a};
        scaled->spin_a = yk_v3_scale(1 / node_length(network, row->a), row->angular_a);
        if (node_is_dynamic(network, row->a))
            scaled->kick_a = node_spin_response(network, row->a, scaled->spin_a);
        if (row->b < 0)
            continue;

        scaled->linear_b = row->linear_b;
        scaled->spin_b = yk_v3_scale(1 / node_length(network, row->b), row->angular_b);
        if (node_is_dynamic(network, row->b))
            scaled->kick_b = node_spin_response(network, row->b, scaled->spin_b);
    }

    /* Bilateral rows between the same nodes form a block of up to six. */
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        while (is_bilateral(&rows[i]) && end < count && end - i < YK_CONTACT_DIM_MAX) {
            if (rows[end].a != rows[i].a || rows[end].b != rows[i].b || !is_bilateral(&rows[end]))
                break;
            end++;
        }

        joint_block *b = &network->joint_blocks[network->joint_block_count++];
        b->first = (uint32_t)i;
        b->count = (uint32_t)(end - i);
        b->solved = false;
        i = end;
    }

    return YK_OK;
}

double yk_joint_product(const yk_network *network, const yk_joint_row *nodes, const joint_row *x,
                        const joint_row *y)
{
    const yk_network_node *a = &network->nodes[nodes->a];
    double sum =
        a->inverse_mass * yk_v3_dot(x->linear_a, y->linear_a) + yk_v3_dot(x->spin_a, y->kick_a);

    if (nodes->b < 0)
        return sum;
    const yk_network_node *b = &network->nodes[nodes->b];
    return sum + (b->inverse_mass * yk_v3_dot(x->linear_b, y->linear_b) +
                  yk_v3_dot(x->spin_b, y->kick_b));
}

yk_status yk_joints_prepare(yk_network *network)
{
    yk_status status = yk_joints_scale(network);
    for (size_t m = 0; m < network->joint_block_count; m++) {
        joint_block *b = &network->joint_blocks[m];
        const yk_joint_row *rows = network->joints + b->first;
        const joint_row *scaled = network->joint_rows + b->first;
        int n = (int)b->count;

        double w[YK_CONTACT_DIM_MAX * YK_CONTACT_DIM_MAX];

        /* W of the block. */
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++)
                w[i * n + j] = yk_joint_product(network, &rows[i], &scaled[i], &scaled[j]);
        }

        /* Redundant rows share their impulse by a trace of the diagonal. */
        double largest = 0;
        for (int i = 0; i < n; i++)
            largest = fmax(largest, w[i * n + i]);
        for (int i = 0; i < n; i++)
            w[i * n + i] += rows[i].softness + 1e-12 * largest + 1e-300;

        /* The inverse, column by column. */
        for (int j = 0; j < n; j++) {
            double copy[YK_CONTACT_DIM_MAX * YK_CONTACT_DIM_MAX];
            double column[YK_CONTACT_DIM_MAX] = {0};
            memcpy(copy, w, (size_t)(n * n) * sizeof *w);
            column[j] = 1;

            if (!yk_small_solve(n, copy, column))
                memset(column, 0, sizeof column);
            for (int i = 0; i < n; i++)
                b->inverse[i * n + j] = column[i];
        }
    }

    return status;
}

double yk_joint_rate(const yk_network *network, const yk_network_node *nodes, size_t i,
                     double impulse)
{
    const yk_joint_row *row = &network->joints[i];
    const joint_row *scaled = &network->joint_rows[i];
    const yk_network_node *a = &nodes[row->a];
    double rate = row->bias + row->softness * impulse + yk_v3_dot(scaled->linear_a, a->velocity) +
                  yk_v3_dot(scaled->spin_a, a->spin);

    if (row->b < 0)
        return rate;
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
    if (row->b < 0)
        return;

    yk_network_node *b = &network->nodes[row->b];
    b->velocity = yk_v3_axpy(b->inverse_mass * impulse, scaled->linear_b, b->velocity);
    b->spin = yk_v3_axpy(impulse, scaled->kick_b, b->spin);
}

void yk_joints_sweep(yk_network *network, double relaxation_factor)
{
    for (size_t m = 0; m < network->joint_block_count; m++) {
        const joint_block *b = &network->joint_blocks[m];
        yk_joint_row *rows = network->joints + b->first;
        int n = (int)b->count;
        if (b->solved)
            continue;

        /* Rates of all rows first: the block is solved at once. */
        double rate[YK_CONTACT_DIM_MAX];
        for (int i = 0; i < n; i++)
            rate[i] = yk_joint_rate(network, network->nodes, b->first + (size_t)i, rows[i].impulse);

        /* Impulses within their bounds, felt by the nodes at once. */
        for (int i = 0; i < n; i++) {
            double change = 0;
            for (int j = 0; j < n; j++)
                change -= relaxation_factor * b->inverse[i * n + j] * rate[j];

            double next = fmin(rows[i].upper, fmax(rows[i].lower, rows[i].impulse + change));
            yk_joint_kick(network, b->first + (size_t)i, next - rows[i].impulse);
            rows[i].impulse = next;
        }
    }
}

void yk_joints_apply(yk_network *network)
{
    for (size_t i = 0; i < network->joint_count; i++)
        yk_joint_kick(network, i, network->joints[i].impulse);
}

double yk_joint_violation(const yk_network *network, size_t i, double rho)
{
    const yk_joint_row *row = &network->joints[i];
    double violation = yk_joint_rate(network, network->nodes, i, row->impulse);

    /* Rows with bounds by their natural map. */
    if (!is_bilateral(row)) {
        double moved = fmin(row->upper, fmax(row->lower, row->impulse - rho * violation));
        violation = (row->impulse - moved) / rho;
    }

    return violation * violation;
}

void yk_joints_residual(const yk_network *network, double rho, double partial[3])
{
    for (size_t i = 0; i < network->joint_count; i++) {
        double squared = yk_joint_violation(network, i, rho);
        partial[0] = fmax(partial[0], squared);
        partial[1] += squared;
        partial[2] += sqrt(squared);
    }
}
