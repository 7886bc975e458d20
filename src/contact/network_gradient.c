/* Accelerated projected gradient on a network, without W (Mazhar, Heyn, Negrut, Tasora 2015;
 * solver.c describes the method).
 *
 * The gradient at a point y is the velocity at the contacts for the node velocities that belong to
 * y. These are linear in y, so those of the extrapolated point follow from those of the last two
 * iterates, and one pass over the contacts per iteration is sufficient: read the velocities of y,
 * project, add the change to the velocities of the next iterate. A second pass, which only reads,
 * evaluates the Lipschitz test and the direction of the momentum.
 *
 * The metric of a contact is the mean of its own diagonal of W: 48 bytes more per contact and 128
 * per node. */
#include <math.h>
#include <string.h>

#include "contact/cone.h"
#include "contact/network_simd.h"

typedef struct descent {
    bool coulomb;
    double lipschitz, theta, beta;
    size_t node_count; /* including those of unused lanes */
    /* velocities for y and for the last iterate; network->nodes has those of the next */
    yk_network_node *of_y, *of_r;
    lane_vectors *pair_y, *pair_next, *single_y, *single_next;
    double *general_y, *general_next; /* YK_CONTACT_DIM_MAX each */
    double *joint_y, *joint_next;
    double sums[3]; /* of the last evaluation: |d|^2, d W d, momentum */
} descent;

/* The step of round contacts ------------------------------------------------------------------- */

/* next = P(y - u^ / (L metric)), Euclidean. */
YK_INLINE void descend_four(const descent *s, const yk_v4 *n, yk_v4 mu, yk_v4 metric,
                            four_soft soft, yk_v4 *u, yk_v4 bias, const yk_v4 *y, yk_v4 *next)
{
    /* Softness adds a velocity proportional to y. */
    add_yield(soft, n, y, dot(n, y), u);
    yk_v4 along = dot(n, u);
    yk_v4 normal = along + bias;

    /* The lift mu |u_T| turns the convex cone into Coulomb's law. */
    if (s->coulomb) {
        yk_v4 slide2 = yk_v4_set(0);
        for (int k = 0; k < 3; k++) {
            yk_v4 t = u[k] - along * n[k];
            slide2 += t * t;
        }
        normal += mu * square_root(slide2);
    }

    /* In the metric of the contact, as in sweeps. */
    yk_v4 stiff = metric * yk_v4_set(s->lipschitz);
    four_soft none = {yk_v4_set(0), yk_v4_set(0)};
    solve_four(false, 1, n, mu, stiff, stiff, none, u, normal, y, next);
}

YK_INLINE void descend_pairs(yk_network *network, const descent *s, uint32_t begin, uint32_t end)
{
    for (uint32_t g = begin; g < end; g++) {
        const pair_group *group = &network->pairs[g];

        /* Velocities at y. */
        four_nodes a, b;
        yk_v4 n[3], y[3], u[3], next[3], change[3];
        load_nodes(s->of_y, group->a, &a);
        load_nodes(s->of_y, group->b, &b);
        load_lanes(&group->normal, n);
        load_lanes(&s->pair_y[g], y);
        pair_velocity(&a, &b, n, u);

        /* The step, with the mean of the contact's own diagonal of W. */
        four_soft soft = load_softness(network->pair_softness, g);
        yk_v4 metric =
            a.linear[3] + b.linear[3] + yk_v4_set(2. / 3) * (a.angular[3] + b.angular[3]);
        metric += yk_v4_max(soft.normal, soft.tangent);
        descend_four(s, n, yk_v4_load(group->mu), metric, soft, u, yk_v4_load(group->bias), y,
                     next);

        for (int k = 0; k < 3; k++) {
            change[k] = next[k] - y[k];
            yk_v4_store(s->pair_next[g].c[k], next[k]);
        }

        /* Its effect on the velocities of the next iterate. */
        load_nodes(network->nodes, group->a, &a);
        load_nodes(network->nodes, group->b, &b);
        kick_pair(n, change, &a, &b);
        store_nodes(network->nodes, group->a, &a);
        store_nodes(network->nodes, group->b, &b);
    }
}

YK_INLINE void descend_singles(yk_network *network, const descent *s, uint32_t begin, uint32_t end)
{
    for (uint32_t g = begin; g < end; g++) {
        const single_group *group = &network->singles[g];

        /* Velocities at y; the velocity of the surface includes the bias. */
        four_nodes a;
        yk_v4 n[3], y[3], u[3], surface[3], next[3], change[3];
        load_nodes(s->of_y, group->a, &a);
        load_lanes(&group->normal, n);
        load_lanes(&group->velocity, surface);
        load_lanes(&s->single_y[g], y);
        single_velocity(&a, surface, n, u);

        /* The step, as for pairs. */
        four_soft soft = load_softness(network->single_softness, g);
        yk_v4 metric = a.linear[3] + yk_v4_set(2. / 3) * a.angular[3];
        metric += yk_v4_max(soft.normal, soft.tangent);
        descend_four(s, n, yk_v4_load(group->mu), metric, soft, u, yk_v4_set(0), y, next);

        for (int k = 0; k < 3; k++) {
            change[k] = next[k] - y[k];
            yk_v4_store(s->single_next[g].c[k], next[k]);
        }

        /* Its effect on the velocities of the next iterate. */
        load_nodes(network->nodes, group->a, &a);
        kick_single(n, change, &a);
        store_nodes(network->nodes, group->a, &a);
    }
}

YK_INLINE void descend_round(yk_network *network, const descent *s, const block *b)
{
    descend_pairs(network, s, b->pair_begin, b->pair_end);
    descend_singles(network, s, b->single_begin, b->single_end);
}

YK_TARGET_AVX2 static void descend_round_avx2(yk_network *network, const descent *s, const block *b)
{
    descend_round(network, s, b);
}

/* The step of general contacts and joints ------------------------------------------------------ */

static double general_metric(const general_contact *c)
{
    double sum = 0;
    for (int k = 0; k < c->dim; k++)
        sum += c->w[k * c->dim + k];
    return sum / c->dim + fmax(c->softness[0], c->softness[1]);
}

static double joint_metric(const yk_network *network, size_t i)
{
    const yk_joint_row *row = &network->joints[i];
    const joint_row *scaled = &network->joint_rows[i];
    return fmax(1e-300, yk_joint_product(network, row, scaled, scaled) + row->softness);
}

static void descend_joints(yk_network *network, void *user)
{
    const descent *s = user;

    for (size_t i = 0; i < network->joint_count; i++) {
        const yk_joint_row *row = &network->joints[i];
        double rate = yk_joint_rate(network, s->of_y, i, s->joint_y[i]);
        double moved = s->joint_y[i] - rate / (s->lipschitz * joint_metric(network, i));
        s->joint_next[i] = fmin(row->upper, fmax(row->lower, moved));
        yk_joint_kick(network, i, s->joint_next[i] - s->joint_y[i]);
    }
}

static void descend_block(yk_network *network, size_t index, void *user)
{
    const descent *s = user;
    const block *b = &network->blocks[index];

    if (!network->baseline && yk_have_avx2()) {
        descend_round_avx2(network, s, b);
    } else {
        descend_round(network, s, b);
    }

    yk_friction_model friction = s->coulomb ? YK_FRICTION_COULOMB : YK_FRICTION_CONVEX_CONE;
    for (uint32_t i = b->general_begin; i < b->general_end; i++) {
        const general_contact *c = &network->generals[i];
        const double *y = s->general_y + YK_CONTACT_DIM_MAX * (size_t)i;
        double *next = s->general_next + YK_CONTACT_DIM_MAX * (size_t)i;

        double u[YK_CONTACT_DIM_MAX];
        yk_general_velocity(s->of_y, c, u);
        for (int k = 0; k < 3; k++)
            u[k] += c->softness[k] * y[k];

        /* The natural map is y minus the projected step. */
        double map[YK_CONTACT_DIM_MAX];
        double change[YK_CONTACT_DIM_MAX];
        yk_cone cone = {.dim = c->dim, .mu = {c->mu, c->mu_spin, c->mu_roll}};
        double rho = 1 / (s->lipschitz * general_metric(c));
        yk_cone_natural_map(&cone, friction, rho, y, u, map);
        for (int k = 0; k < c->dim; k++) {
            next[k] = y[k] - map[k];
            change[k] = -map[k];
        }

        yk_general_add(network, c, change);
    }
}

/* Lipschitz test and momentum ------------------------------------------------------------------ */

/* Adds to sums: metric |d|^2, d W d, metric (y - next) . (next - r) with d = next - y; `soft`
 * contains the softness of at most three rows. */
static void add_sums(double metric, const double *soft, int dim, const double *y,
                     const double *next, const double *r, const double *change_of_u, double sums[3])
{
    for (int k = 0; k < dim; k++) {
        double d = next[k] - y[k];
        sums[0] += metric * d * d;
        sums[1] += d * change_of_u[k] + (k < 3 ? soft[k] * d * d : 0);
        sums[2] -= metric * d * (next[k] - r[k]);
    }
}

/* Velocity at a round contact from the velocities of its nodes, without bias or motion of a
 * surface. */
static yk_vec3 round_velocity(const yk_network_node *nodes, int32_t a, int32_t b, yk_vec3 n)
{
    yk_vec3 v = nodes[a].velocity;
    yk_vec3 spin = nodes[a].spin;
    if (b >= 0) {
        v = yk_v3_sub(v, nodes[b].velocity);

        /* The spins of both spheres move the contact point. */
        spin = yk_v3_add(spin, nodes[b].spin);
    }

    return yk_v3_add(v, yk_v3_cross(n, spin));
}

static void sum_lane(const yk_network *network, const descent *s, int32_t a, int32_t b, int lane,
                     const lane_vectors *normal, const soft_group *soft, const lane_vectors *y,
                     const lane_vectors *next, const lane_vectors *r, double sums[3])
{
    /* Change of the velocity by the step. */
    yk_vec3 n = yk_v3(normal->c[0][lane], normal->c[1][lane], normal->c[2][lane]);
    yk_vec3 now = round_velocity(network->nodes, a, b, n);
    yk_vec3 u = yk_v3_sub(now, round_velocity(s->of_y, a, b, n));

    /* The metric of the step. */
    double mass = network->nodes[a].inverse_mass;
    double spin_mass = network->nodes[a].spin_inverse_mass;
    if (b >= 0) {
        mass += network->nodes[b].inverse_mass;
        spin_mass += network->nodes[b].spin_inverse_mass;
    }
    double metric = mass + 2. / 3 * spin_mass;
    double creep = 0;
    double more = 0; /* softness of the normal in addition to that of the tangents */
    if (soft) {
        metric += fmax(soft->normal[lane], soft->tangent[lane]);
        creep = soft->tangent[lane];
        more = soft->normal[lane] - creep;
    }

    /* The lane's own impulses. */
    const double own_y[3] = {y->c[0][lane], y->c[1][lane], y->c[2][lane]};
    const double own_next[3] = {next->c[0][lane], next->c[1][lane], next->c[2][lane]};
    const double own_r[3] = {r->c[0][lane], r->c[1][lane], r->c[2][lane]};
    const double change[3] = {u.x, u.y, u.z};
    const double yields[3] = {creep, creep, creep};
    add_sums(metric, yields, 3, own_y, own_next, own_r, change, sums);

    yk_vec3 d = yk_v3(own_next[0] - own_y[0], own_next[1] - own_y[1], own_next[2] - own_y[2]);
    double along = yk_v3_dot(n, d);
    sums[1] += more * along * along;
}

static void sum_block(yk_network *network, size_t index, void *user)
{
    const descent *s = user;
    const block *b = &network->blocks[index];
    double *sums = network->partials + 3 * index;

    memset(sums, 0, 3 * sizeof *sums);

    /* Round contacts lane by lane, then the general ones. */
    for (uint32_t g = b->pair_begin; g < b->pair_end; g++) {
        const pair_group *group = &network->pairs[g];
        const soft_group *soft = network->pair_softness ? &network->pair_softness[g] : NULL;
        for (int lane = 0; lane < LANES; lane++) {
            sum_lane(network, s, group->a[lane], group->b[lane], lane, &group->normal, soft,
                     &s->pair_y[g], &s->pair_next[g], &group->impulse, sums);
        }
    }

    for (uint32_t g = b->single_begin; g < b->single_end; g++) {
        const single_group *group = &network->singles[g];
        const soft_group *soft = network->single_softness ? &network->single_softness[g] : NULL;
        for (int lane = 0; lane < LANES; lane++) {
            sum_lane(network, s, group->a[lane], YK_NETWORK_NONE, lane, &group->normal, soft,
                     &s->single_y[g], &s->single_next[g], &group->impulse, sums);
        }
    }

    for (uint32_t i = b->general_begin; i < b->general_end; i++) {
        const general_contact *c = &network->generals[i];
        size_t at = YK_CONTACT_DIM_MAX * (size_t)i;
        double u[YK_CONTACT_DIM_MAX];

        /* The same of the contact's six velocities. */
        double before[YK_CONTACT_DIM_MAX];
        yk_general_velocity(network->nodes, c, u);
        yk_general_velocity(s->of_y, c, before);
        for (int k = 0; k < c->dim; k++)
            u[k] -= before[k];

        add_sums(general_metric(c), c->softness, c->dim, s->general_y + at, s->general_next + at,
                 c->impulse, u, sums);
    }
}

/* The next point ------------------------------------------------------------------------------- */

/* y = next + beta (next - r), r = next */
static void extrapolate(size_t count, double beta, const double *next, double *r, double *y)
{
    for (size_t k = 0; k < count; k++) {
        y[k] = next[k] + beta * (next[k] - r[k]);
        r[k] = next[k];
    }
}

static void extrapolate_block(yk_network *network, size_t index, void *user)
{
    const descent *s = user;
    const block *b = &network->blocks[index];

    for (uint32_t g = b->pair_begin; g < b->pair_end; g++) {
        double *r = network->pairs[g].impulse.c[0];
        extrapolate(3 * LANES, s->beta, s->pair_next[g].c[0], r, s->pair_y[g].c[0]);
    }

    for (uint32_t g = b->single_begin; g < b->single_end; g++) {
        double *r = network->singles[g].impulse.c[0];
        extrapolate(3 * LANES, s->beta, s->single_next[g].c[0], r, s->single_y[g].c[0]);
    }

    for (uint32_t i = b->general_begin; i < b->general_end; i++) {
        general_contact *c = &network->generals[i];
        size_t at = YK_CONTACT_DIM_MAX * (size_t)i;
        extrapolate((size_t)c->dim, s->beta, s->general_next + at, c->impulse, s->general_y + at);
    }
}

/* One iteration. */
static void step(yk_network *network, descent *s)
{
    size_t bytes = s->node_count * sizeof *s->of_y;

    /* L is first reduced a little, and increased until the test is satisfied. */
    s->lipschitz *= 0.95;
    for (int tries = 0; tries < 60; tries++) {
        memcpy(network->nodes, s->of_y, bytes);
        yk_network_run(network, descend_block, descend_joints, s, 1);

        /* The Lipschitz test and the direction of the momentum. */
        memset(s->sums, 0, sizeof s->sums);
        yk_network_run(network, sum_block, NULL, s, 1);
        for (size_t k = 0; k < network->block_count; k++) {
            for (int i = 0; i < 3; i++)
                s->sums[i] += network->partials[3 * k + (size_t)i];
        }
        for (size_t i = 0; i < network->joint_count; i++) {
            const yk_joint_row *row = &network->joints[i];
            double change = yk_joint_rate(network, network->nodes, i, 0) -
                            yk_joint_rate(network, s->of_y, i, 0);
            add_sums(joint_metric(network, i), &row->softness, 1, &s->joint_y[i], &s->joint_next[i],
                     &row->impulse, &change, s->sums);
        }

        if (!(s->sums[1] > s->lipschitz * s->sums[0] * (1 + 1e-10)))
            break;
        s->lipschitz *= 1.6;
    }

    /* Nesterov's sequence of factors, restarted if the momentum leads uphill. */
    double square = s->theta * s->theta;
    double theta = (-square + s->theta * sqrt(square + 4)) / 2;
    s->beta = s->theta * (1 - s->theta) / (square + theta);
    s->theta = theta;
    if (s->sums[2] > 0) {
        s->theta = 1;
        s->beta = 0;
    }

    /* Impulses, and velocities, which are linear in them. */
    yk_network_run(network, extrapolate_block, NULL, s, 1);
    for (size_t i = 0; i < network->joint_count; i++)
        extrapolate(1, s->beta, &s->joint_next[i], &network->joints[i].impulse, &s->joint_y[i]);
    for (size_t i = 0; i < s->node_count; i++) {
        const yk_network_node *next = &network->nodes[i];
        yk_network_node *r = &s->of_r[i];
        yk_network_node *y = &s->of_y[i];
        y->velocity = yk_v3_axpy(s->beta, yk_v3_sub(next->velocity, r->velocity), next->velocity);
        y->spin = yk_v3_axpy(s->beta, yk_v3_sub(next->spin, r->spin), next->spin);
        *r = *next;
    }
}

yk_status yk_network_solve_gradient(yk_network *network, const yk_contact_options *options,
                                    yk_contact_report *report)
{
    if (options->friction_model == YK_FRICTION_PYRAMID)
        return yk_fail(network->context, YK_ERROR_ARGUMENT,
                       "contact: the gradient method knows no box friction on networks");
    if (network->rolling_groups > 0)
        return yk_fail(network->context, YK_ERROR_ARGUMENT,
                       "contact: the gradient method takes pairs that resist rolling as general");

    /* Unused lanes have two nodes per block of the plan. */
    size_t dummies = 2 * (network->node_count / 64 + 4);
    descent s = {.lipschitz = 1, .theta = 1};
    s.coulomb = options->friction_model == YK_FRICTION_COULOMB;
    s.node_count = network->node_count + dummies;

    /* Impulses of all lanes, general contacts and joint rows, twice. */
    size_t lanes = sizeof(lane_vectors) / sizeof(double);
    size_t pairs = network->pair_groups * lanes;
    size_t singles = network->single_groups * lanes;
    size_t generals = network->general_count * YK_CONTACT_DIM_MAX;
    size_t joints = network->joint_count;
    size_t numbers = 2 * (pairs + singles + generals + joints) + 1;
    if (!yk_array_reserve(network->context, &network->gradient_array, numbers, sizeof(double)) ||
        !yk_array_reserve(network->context, &network->gradient_nodes_array, 2 * s.node_count,
                          sizeof(yk_network_node)))
        return yk_fail(network->context, YK_ERROR_MEMORY,
                       "contact network: no memory for the gradient of %zu contacts",
                       network->contact_count);

    /* One allocation for the impulses of y and of the next iterate. */
    double *at = network->gradient_array.data;
    s.pair_y = (lane_vectors *)at;
    s.pair_next = (lane_vectors *)(at += pairs);
    s.single_y = (lane_vectors *)(at += pairs);
    s.single_next = (lane_vectors *)(at += singles);
    s.general_y = at += singles;
    s.general_next = at += generals;
    s.joint_y = at += generals;
    s.joint_next = at + joints;
    s.of_y = network->gradient_nodes_array.data;
    s.of_r = s.of_y + s.node_count;

    int limit = options->max_iterations > 0 ? options->max_iterations : 200;
    int interval = limit;
    if (options->check_interval > 0 && options->tolerance > 0)
        interval = options->check_interval;

    yk_network_rho(network);
    yk_network_start(network, options->warm_start);

    /* y = r, with the nodes' velocities. */
    /* y = r, with the nodes' velocities. */
    for (size_t g = 0; g < network->pair_groups; g++)
        s.pair_y[g] = network->pairs[g].impulse;
    for (size_t g = 0; g < network->single_groups; g++)
        s.single_y[g] = network->singles[g].impulse;

    for (size_t i = 0; i < network->general_count; i++) {
        const general_contact *c = &network->generals[i];
        memcpy(s.general_y + YK_CONTACT_DIM_MAX * i, c->impulse, sizeof c->impulse);
    }
    for (size_t i = 0; i < network->joint_count; i++)
        s.joint_y[i] = network->joints[i].impulse;

    memcpy(s.of_y, network->nodes, s.node_count * sizeof *s.of_y);
    memcpy(s.of_r, network->nodes, s.node_count * sizeof *s.of_r);

    /* Steps, with an evaluation of the violation after each interval. */
    while (report->iterations < limit && !yk_context_should_stop(network->context)) {
        step(network, &s);
        report->iterations++;
        if (report->iterations % interval != 0 && report->iterations < limit)
            continue;

        memcpy(network->nodes, s.of_r, s.node_count * sizeof *s.of_r);
        yk_report_note(options, report, yk_network_measure(network, options->friction_model, NULL));
        if (!(report->residual > options->tolerance))
            break;
    }

    if (isfinite(report->residual))
        return YK_OK;
    return yk_fail(network->context, YK_ERROR_NOT_FINITE,
                   "contact network: velocities are not finite after %d gradient steps; check "
                   "masses, normals and biases",
                   report->iterations);
}
