/* Impact laws that act before the contact problem of a step: Moreau 1988, Glocker, Pfeiffer 1995;
 * sequential impacts: Smith, Kaufman, Vouga, Tamstorf, Grinspun 2012.
 *
 * Newton's law is a bias of the contact problem (contact_rows.c): every contact of a chain closes
 * at the same time, and a contact that does not approach does not rebound. The laws in this file
 * change the velocities v(t) before anything else acts, in passes of two phases:
 *
 *   compression  impulses p after which no contact of the pass approaches: v0 = v + M^-1 D p
 *   restitution  the same impulses again, times the coefficient e of each contact: v0 + M^-1 D e p
 *
 *   Poisson's law         one pass over all contacts that touch or close within the step
 *   sequential impacts    passes as long as something approaches, each over the contacts that
 *                         approach at that time only: a shock travels along a chain of touching
 *                         bodies
 *
 * Joints keep their rates in both phases. Contacts that still approach after the last pass, and all
 * that approach slower than rebounding impacts, are left to the contact problem.
 *
 * No pass creates energy. With the relative velocities u of the contacts, the impulses of a pass do
 * the work sum (1 + s e) p . (u + u0 + s w) / 2, where w is the change of u0 by a complete
 * restitution. For s = 0 it is not positive for any sweep from p = 0; with one e for all contacts
 * it is not positive for s = 1 either. If coefficients differ, s of each island is the largest
 * value in [0, 1] for which this holds. */
#include <string.h>

#include "nonsmooth/world.h"

enum {
    PASSES_MAX = 5000,
    SWEEPS_MAX = 1000 /* limit of the sweeps of the compression in a pass */
};
/* Approach speed that is left to the contact problem, relative to the fastest one of the step. */
static const double SLOWEST = 1e-6;
/* Violation that a compression may leave: by sweeps, and by the interior-point method, relative to
 * the fastest approach. */
static const double TOLERANCE = 1e-13, COARSE_TOLERANCE = 1e-7;
/* Bodies touch where their gap is below this fraction of the envelope. */
static const double TOUCHING = 0.01;

/* Velocities ----------------------------------------------------------------------------------- */

static double spin_length(const yk_nonsmooth *self, int32_t node)
{
    double radius = self->model.bodies[node].radius;
    return radius > 0 ? radius : 1;
}

static yk_vec3 arm_of(const yk_nonsmooth *self, const yk_pair *pair, const yk_contact *row,
                      int side)
{
    if (pair->kind == YK_PAIR_GENERAL)
        return side == 0 ? row->arm_a : row->arm_b;

    /* Round bodies touch where the normal meets them. */
    double radius = self->model.bodies[side == 0 ? pair->a : pair->b].radius;
    return yk_v3_scale(side == 0 ? -radius : radius, row->normal);
}

/* Velocity of side a against side b at a contact, and its angular velocity, of given nodes. */
static yk_twist relative(const yk_nonsmooth *self, const yk_network_node *nodes, size_t contact)
{
    const yk_pair *pair = &self->collision.pairs[contact];
    const yk_contact *row = &self->impact.rows[contact];
    const int32_t node[2] = {pair->a, pair->b};
    yk_twist sum = {.linear = {0, 0, 0}};

    for (int side = 0; side < 2; side++) {
        if (node[side] == YK_NETWORK_NONE)
            continue;

        const yk_network_node *n = &nodes[node[side]];
        yk_vec3 w = yk_v3_scale(1 / spin_length(self, node[side]), n->spin);
        yk_vec3 v = yk_v3_add(n->velocity, yk_v3_cross(w, arm_of(self, pair, row, side)));
        double sign = side == 0 ? 1 : -1;
        sum.linear = yk_v3_axpy(sign, v, sum.linear);
        sum.angular = yk_v3_axpy(sign, w, sum.angular);
    }

    return sum;
}

void yk_world_push(const yk_nonsmooth *self, const yk_pair *pair, const yk_contact *row,
                   yk_vec3 impulse, yk_vec3 torque, yk_network_node *nodes)
{
    const int32_t node[2] = {pair->a, pair->b};

    for (int side = 0; side < 2; side++) {
        if (node[side] == YK_NETWORK_NONE)
            continue;

        const yk_body_model *body = &self->model.bodies[node[side]];
        double sign = side == 0 ? 1 : -1;

        yk_vec3 moment = yk_v3_add(torque, yk_v3_cross(arm_of(self, pair, row, side), impulse));
        yk_vec3 turn;
        /* The spin of a round body as a speed at its surface, radius times angular velocity. */
        if (body->radius > 0) {
            turn = yk_v3_scale(body->radius / body->inertia, moment);
        } else {
            yk_mat3 inverse =
                yk_world_inverse_inertia(&self->model, &self->state, (size_t)node[side]);
            turn = yk_m3_apply(inverse, moment);
        }

        yk_network_node *n = &nodes[node[side]];
        n->velocity = yk_v3_axpy(sign / body->mass, impulse, n->velocity);
        n->spin = yk_v3_axpy(sign, turn, n->spin);
    }
}

/* Contacts of a pass --------------------------------------------------------------------------- */

static double restitution_of(const yk_nonsmooth *self, size_t contact)
{
    const yk_contact_key *key = &self->collision.found.keys[contact];
    const yk_world_model *model = &self->model;
    return yk_world_pair_material(model, &model->parts[key->a], &model->parts[key->b])->restitution;
}

/* Lists the contacts of a pass and the fastest approach; false: no contact that rebounds approaches
 * faster than `least`. */
static bool list_contacts(yk_nonsmooth *self, double h, double least, double *fastest)
{
    yk_impact_work *work = &self->impact;
    bool all = self->model.def.impact_law == YK_IMPACT_POISSON;
    double touching = TOUCHING * self->model.envelope;
    bool rebounds = false;

    work->count = 0;
    *fastest = 0;
    for (size_t i = 0; i < self->collision.found.count; i++) {
        /* Yielding surfaces have no impacts. */
        if (work->rows[i].softness > 0)
            continue;

        /* The present rate of the gap. */
        const yk_contact *row = &work->rows[i];
        yk_vec3 u = relative(self, self->problem.nodes, i).linear;
        if (self->collision.pairs[i].b == YK_NETWORK_NONE)
            u = yk_v3_sub(u, row->surface);
        double separation = yk_v3_dot(row->normal, u);

        /* Contacts that close within the step; with Poisson's law also touching contacts that do
         * not separate. */
        bool closes = separation < -least && work->gaps[i] + h * separation <= 0;
        if (closes && restitution_of(self, i) > 0) {
            rebounds = true;
            *fastest = fmax(*fastest, -separation);
        }

        if (closes || (all && work->gaps[i] <= touching && separation <= least))
            work->contacts[work->count++] = (uint32_t)i;
    }

    return rebounds;
}

/* Solves the contacts of the pass (or none) with the joints at their present rates (or at zero). */
static yk_status solve(yk_nonsmooth *self, size_t contacts, bool keep_rates, double speed)
{
    yk_impact_work *work = &self->impact;
    yk_problem *problem = &self->problem;

    /* The graph of the pass: only its contacts, in the order of the list. */
    for (size_t k = 0; k < contacts; k++)
        work->pairs[k] = self->collision.pairs[work->contacts[k]];
    yk_status status = yk_network_plan(problem->network, work->pairs, contacts);
    if (status != YK_OK)
        return status;

    for (size_t k = 0; k < contacts; k++)
        yk_network_set(problem->network, k, &work->rows[work->contacts[k]]);

    /* Joint rows keep their rate, A v = A v-, or are at zero. */
    size_t rows = problem->joint_row_count;
    for (size_t k = 0; k < rows; k++) {
        yk_joint_row *row = &work->joint_rows[k];
        *row = problem->joint_rows[k];
        row->impulse = row->bias = 0;

        /* Dampers, the only soft rows, have no impulse within the time of an impact. */
        if (row->softness > 0) {
            row->b = YK_NETWORK_NONE;
            row->linear_a = row->angular_a = yk_v3(0, 0, 0);
            continue;
        }

        const int32_t node[2] = {row->a, row->b};
        const yk_vec3 linear[2] = {row->linear_a, row->linear_b};
        const yk_vec3 angular[2] = {row->angular_a, row->angular_b};
        for (int side = 0; side < 2 && keep_rates; side++) {
            if (node[side] == YK_NETWORK_NONE)
                continue;

            const yk_network_node *n = &problem->nodes[node[side]];
            double spin = yk_v3_dot(angular[side], n->spin) / spin_length(self, node[side]);
            row->bias -= yk_v3_dot(linear[side], n->velocity) + spin;
        }
    }

    status = yk_network_joints(problem->network, work->joint_rows, rows);
    if (status != YK_OK)
        return status;

    /* Sweeps from zero, to a tolerance relative to the fastest approach. */
    yk_contact_options how = self->model.def.contact_options;

    how.method = YK_CONTACT_GAUSS_SEIDEL;
    how.max_iterations = SWEEPS_MAX;
    how.tolerance = TOLERANCE * speed;
    how.check_interval = 1;
    how.warm_start = false;
    how.residual_history = NULL;
    yk_contact_report report;
    status = yk_network_solve(problem->network, &how, &report);

    /* If sweeps do not converge, continue with a better method from their result. */
    if (YK_FAILED(status) || !(report.residual > COARSE_TOLERANCE * speed))
        return YK_FAILED(status) ? status : YK_OK;
    return yk_network_improve(problem->network, &how, COARSE_TOLERANCE * speed, &report);
}

/* Restitution ---------------------------------------------------------------------------------- */

static int32_t root_of(int32_t *parent, int32_t node)
{
    while (parent[node] != node) {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    return node;
}

/* Islands of the nodes connected by contacts of the pass and joints. */
static void find_islands(yk_nonsmooth *self)
{
    yk_impact_work *work = &self->impact;
    for (size_t i = 0; i < self->model.dynamic_count; i++) {
        work->root[i] = (int32_t)i;
        memset(work->islands[i].work, 0, sizeof work->islands[i].work);
        work->islands[i].fraction = 1;
    }

    /* Contacts and joints with bodies at both ends unite their trees. */
    for (size_t k = 0; k < work->count; k++) {
        const yk_pair *pair = &work->pairs[k];
        if (pair->b != YK_NETWORK_NONE)
            work->root[root_of(work->root, pair->a)] = root_of(work->root, pair->b);
    }

    for (size_t k = 0; k < self->problem.joint_row_count; k++) {
        const yk_joint_row *row = &work->joint_rows[k];
        if (row->b != YK_NETWORK_NONE)
            work->root[root_of(work->root, row->a)] = root_of(work->root, row->b);
    }
}

/* The largest s in [0, 1] with a0 + a1 s + a2 s^2 <= 0, where a0 <= 0. */
static double largest_fraction(const double a[3])
{
    double rounding = 1e-12 * fabs(a[0]);
    if (a[0] + a[1] + a[2] <= rounding)
        return 1;

    /* The upper root of the parabola. */
    double root = a[1] * a[1] - 4 * a[2] * fmin(a[0], 0);
    if (!(root >= 0) || !(a[2] > 0))
        return 0;
    return fmin(1, fmax(0, (sqrt(root) - a[1]) / (2 * a[2])));
}

/* One pass: from the velocities of the nodes to those after its impacts. */
static yk_status pass(yk_nonsmooth *self, double speed)
{
    yk_impact_work *work = &self->impact;
    yk_problem *problem = &self->problem;
    size_t nodes = self->model.dynamic_count;

    /* Compression. Save the relative velocities before it for the work. */
    for (size_t k = 0; k < work->count; k++)
        work->before[k] = relative(self, problem->nodes, work->contacts[k]);
    yk_status status = solve(self, work->count, true, speed);
    if (status != YK_OK)
        return status;

    find_islands(self);

    /* Impulses of compression, to which those of restitution are proportional. */
    for (size_t k = 0; k < work->count; k++) {
        work->impulse[k] = yk_network_impulse(problem->network, k);
        work->torque[k] = yk_v3(0, 0, 0);
        if (work->pairs[k].kind != YK_PAIR_ROUND)
            work->torque[k] = yk_network_torque(problem->network, k);
    }

    for (size_t k = 0; k < problem->joint_row_count; k++)
        work->joint_impulses[k] += work->joint_rows[k].impulse;

    /* Change of the velocities by a complete restitution, with the joints held. */
    memcpy(work->compressed, problem->nodes, nodes * sizeof *work->compressed);
    for (size_t i = 0; i < nodes; i++)
        problem->nodes[i].velocity = problem->nodes[i].spin = yk_v3(0, 0, 0);

    for (size_t k = 0; k < work->count; k++) {
        size_t contact = work->contacts[k];
        double e = restitution_of(self, contact);
        yk_world_push(self, &work->pairs[k], &work->rows[contact], yk_v3_scale(e, work->impulse[k]),
                      yk_v3_scale(e, work->torque[k]), problem->nodes);
    }

    if (problem->joint_row_count > 0)
        status = solve(self, 0, false, speed);
    if (status != YK_OK)
        return status;

    /* The work of each island as a polynomial in the fraction s of its restitution. */
    for (size_t k = 0; k < work->count; k++) {
        size_t contact = work->contacts[k];
        double e = restitution_of(self, contact);
        yk_twist w = relative(self, problem->nodes, contact);
        yk_twist u = relative(self, work->compressed, contact);

        yk_vec3 sum = yk_v3_add(work->before[k].linear, u.linear);
        /* Relative to the surface of a moving wall: subtract its speed, before and after. */
        if (work->pairs[k].b == YK_NETWORK_NONE)
            sum = yk_v3_axpy(-2, work->rows[contact].surface, sum);
        yk_vec3 turn = yk_v3_add(work->before[k].angular, u.angular);

        /* Work of an impulse: its product with the mean of the velocities before and after. */
        double base = yk_v3_dot(work->impulse[k], sum) + yk_v3_dot(work->torque[k], turn);
        double more = yk_v3_dot(work->impulse[k], w.linear) + yk_v3_dot(work->torque[k], w.angular);
        double *a = work->islands[root_of(work->root, work->pairs[k].a)].work;
        a[0] += 0.5 * base;
        a[1] += 0.5 * (e * base + more);
        a[2] += 0.5 * e * more;
    }

    /* The largest fraction of restitution that creates no energy. */
    for (size_t i = 0; i < nodes; i++)
        work->islands[i].fraction = largest_fraction(work->islands[i].work);

    /* Velocities and impulses of both phases. */
    for (size_t i = 0; i < nodes; i++) {
        double s = work->islands[root_of(work->root, (int32_t)i)].fraction;
        yk_network_node added = problem->nodes[i];
        problem->nodes[i] = work->compressed[i];
        problem->nodes[i].velocity = yk_v3_axpy(s, added.velocity, work->compressed[i].velocity);
        problem->nodes[i].spin = yk_v3_axpy(s, added.spin, work->compressed[i].spin);
    }

    for (size_t k = 0; k < work->count; k++) {
        size_t contact = work->contacts[k];
        double s = work->islands[root_of(work->root, work->pairs[k].a)].fraction;
        double factor = 1 + s * restitution_of(self, contact);
        work->impulses[contact] = yk_v3_axpy(factor, work->impulse[k], work->impulses[contact]);
        work->torques[contact] = yk_v3_axpy(factor, work->torque[k], work->torques[contact]);
    }

    for (size_t k = 0; k < problem->joint_row_count; k++) {
        double s = work->islands[root_of(work->root, work->joint_rows[k].a)].fraction;
        work->joint_impulses[k] += s * work->joint_rows[k].impulse;
    }
    return YK_OK;
}

/* The whole ------------------------------------------------------------------------------------ */

yk_status yk_world_resolve_impacts(yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    yk_impact_work *work = &self->impact;
    yk_problem *problem = &self->problem;
    size_t nodes = self->model.dynamic_count;
    size_t contacts = self->collision.found.count;
    work->acted = false;

    /* Contacts as rows without gaps and without an initial guess, and the velocities at the start
     * of the step. */
    for (size_t i = 0; i < nodes; i++) {
        double length = spin_length(self, (int32_t)i);
        problem->nodes[i].velocity = self->step.before[i].linear;
        problem->nodes[i].spin = yk_v3_scale(length, self->step.before[i].angular);
    }

    for (size_t i = 0; i < contacts; i++) {
        yk_contact *row = &work->rows[i];
        *row = (yk_contact){.softness = 0};
        work->gaps[i] = yk_world_contact_row(self, i, h, row);
        row->bias = 0;
        row->impulse = row->torque = yk_v3(0, 0, 0);
        work->impulses[i] = work->torques[i] = yk_v3(0, 0, 0);
    }

    /* Slow approaches do not rebound, because otherwise contacts would never come to rest. */
    double least = yk_world_bounce_speed(&self->model, h);
    double fastest, approach;
    yk_status status = YK_OK;
    if (list_contacts(self, h, least, &fastest)) {
        status = yk_world_set_joint_rows(self, t, h, inputs);
        for (size_t k = 0; k < problem->joint_row_count; k++)
            work->joint_impulses[k] = 0;
        least = fmax(least, SLOWEST * fastest);

        /* With Poisson's law all contacts rebound once, together; otherwise as often as they
         * approach. */
        int passes = self->model.def.impact_law == YK_IMPACT_POISSON ? 1 : PASSES_MAX;
        work->acted = true;
        while (status == YK_OK && passes-- > 0 && list_contacts(self, h, least, &approach))
            status = pass(self, fastest);
    }

    /* The free motion of the step begins from the velocities after the impacts. */
    for (size_t i = 0; i < nodes; i++) {
        const yk_network_node *node = &problem->nodes[i];
        double length = spin_length(self, (int32_t)i);
        work->after[i] = (yk_twist){node->velocity, yk_v3_scale(1 / length, node->spin)};
    }

    return status;
}
