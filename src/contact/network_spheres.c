/* Round contacts, four at a time.
 *
 * For spheres the problem of one contact alone is diagonal in its own frame, W = diag(dN, dT, dT)
 * with dN = 1/ma + 1/mb and dT = dN + ra^2/Ia + rb^2/Ib, so its exact solution is a projection in
 * that metric and needs no tangents. With
 *
 *   a = dN p_N - u_N,   b = dT p_T - u_T        (vectors in global axes)
 *
 *   sticking or pressed   |b| dN <= mu a dT :  p_N = a / dN,  p_T = b / dT
 *   sliding, convex cone p_N = max(0, a + mu |b|) / (dN + mu^2 dT), p_T = mu p_N b / |b|
 *   sliding, Coulomb                           p_N = max(0, a) / dN, p_T = mu p_N b / |b|
 *
 * Softness is added to dN, creep to dT, in the denominators only. Over-relaxation scales u. Nodes
 * are loaded as whole cache lines and transposed in registers. */
#include "contact/network_simd.h"

/* Sweeps --------------------------------------------------------------------------------------- */

/* Nodes are accessed through indices, which the processor cannot predict: prefetch them some groups
 * ahead. */
enum { AHEAD = 6 };

YK_INLINE void fetch_nodes(const yk_network_node *nodes, const int32_t *index)
{
    for (int k = 0; k < LANES; k++)
        __builtin_prefetch(&nodes[index[k]], 1);
}

YK_INLINE void sweep_pairs(yk_network *s, uint32_t begin, uint32_t end, bool coulomb,
                           double relaxation_factor)
{
    for (uint32_t g = begin; g < end; g++) {
        pair_group *group = &s->pairs[g];

        /* Indices of later groups, to prefetch their nodes. */
        if (g + AHEAD < end) {
            fetch_nodes(s->nodes, group[AHEAD].a);
            fetch_nodes(s->nodes, group[AHEAD].b);
        }

        /* Four nodes a, four nodes b, and their relative velocities. */
        four_nodes a, b;
        yk_v4 n[3], p[3], u[3];
        load_nodes(s->nodes, group->a, &a);
        load_nodes(s->nodes, group->b, &b);
        load_lanes(&group->normal, n);
        load_lanes(&group->impulse, p);
        pair_velocity(&a, &b, n, u);

        /* The new impulses of each contact. */
        yk_v4 dn = a.linear[3] + b.linear[3];
        yk_v4 dt = dn + a.angular[3] + b.angular[3];
        four_soft soft = load_softness(s->pair_softness, g);
        yk_v4 u_normal = dot(n, u) + yk_v4_load(group->bias);
        yk_v4 next[3], change[3];
        solve_four(coulomb, relaxation_factor, n, yk_v4_load(group->mu), dn, dt, soft, u, u_normal,
                   p, next);

        for (int k = 0; k < 3; k++) {
            change[k] = next[k] - p[k];
            yk_v4_store(group->impulse.c[k], next[k]);
        }

        /* Update the nodes immediately. */
        kick_pair(n, change, &a, &b);
        store_nodes(s->nodes, group->a, &a);
        store_nodes(s->nodes, group->b, &b);
    }
}

YK_INLINE void sweep_singles(yk_network *s, uint32_t begin, uint32_t end, bool coulomb,
                             double relaxation_factor)
{
    for (uint32_t g = begin; g < end; g++) {
        single_group *group = &s->singles[g];

        /* Four nodes against surfaces of known motion. */
        four_nodes a;
        yk_v4 n[3], p[3], u[3], surface[3];
        load_nodes(s->nodes, group->a, &a);
        load_lanes(&group->normal, n);
        load_lanes(&group->impulse, p);
        load_lanes(&group->velocity, surface);
        single_velocity(&a, surface, n, u);

        /* As for pairs; the velocity of the surface includes the bias. */
        yk_v4 dn = a.linear[3];
        yk_v4 dt = dn + a.angular[3];
        four_soft soft = load_softness(s->single_softness, g);
        yk_v4 next[3], change[3];
        solve_four(coulomb, relaxation_factor, n, yk_v4_load(group->mu), dn, dt, soft, u, dot(n, u),
                   p, next);

        for (int k = 0; k < 3; k++) {
            change[k] = next[k] - p[k];
            yk_v4_store(group->impulse.c[k], next[k]);
        }

        /* One node moves. */
        kick_single(n, change, &a);
        store_nodes(s->nodes, group->a, &a);
    }
}

/* The friction law is a constant of the loops that it is inlined into. */
YK_INLINE void sweep_block(yk_network *s, const block *b, const yk_contact_options *options)
{
    double factor = options->relaxation_factor;
    if (options->friction_model == YK_FRICTION_COULOMB) {
        sweep_pairs(s, b->pair_begin, b->pair_end, true, factor);
        sweep_singles(s, b->single_begin, b->single_end, true, factor);
    } else {
        sweep_pairs(s, b->pair_begin, b->pair_end, false, factor);
        sweep_singles(s, b->single_begin, b->single_end, false, factor);
    }
}

YK_TARGET_AVX2 static void sweep_block_avx2(yk_network *s, const block *b,
                                            const yk_contact_options *options)
{
    sweep_block(s, b, options);
}

void yk_round_sweep(yk_network *network, const block *b, const yk_contact_options *options)
{
    if (!network->baseline && yk_have_avx2()) {
        sweep_block_avx2(network, b, options);
    } else {
        sweep_block(network, b, options);
    }
}

/* The impulses that the contacts start with ---------------------------------------------------- */

void yk_round_apply(yk_network *s, const block *b)
{
    /* Pairs move two nodes, singles one. */
    for (uint32_t g = b->pair_begin; g < b->pair_end; g++) {
        const pair_group *group = &s->pairs[g];
        four_nodes x, y;
        yk_v4 n[3], p[3];
        load_nodes(s->nodes, group->a, &x);
        load_nodes(s->nodes, group->b, &y);
        load_lanes(&group->normal, n);
        load_lanes(&group->impulse, p);

        kick_pair(n, p, &x, &y);
        store_nodes(s->nodes, group->a, &x);
        store_nodes(s->nodes, group->b, &y);
    }

    for (uint32_t g = b->single_begin; g < b->single_end; g++) {
        const single_group *group = &s->singles[g];
        four_nodes x;
        yk_v4 n[3], p[3];
        load_nodes(s->nodes, group->a, &x);
        load_lanes(&group->normal, n);
        load_lanes(&group->impulse, p);

        kick_single(n, p, &x);
        store_nodes(s->nodes, group->a, &x);
    }
}

void yk_round_clear(yk_network *s, const block *b)
{
    for (uint32_t g = b->pair_begin; g < b->pair_end; g++)
        memset(&s->pairs[g].impulse, 0, sizeof s->pairs[g].impulse);
    for (uint32_t g = b->single_begin; g < b->single_end; g++)
        memset(&s->singles[g].impulse, 0, sizeof s->singles[g].impulse);
}

/* Residual ------------------------------------------------------------------------------------- */

/* Squares of the natural map in the metric 1 / rho, as velocities: the step of solve_four() with dn
 * = dt = 1 / rho. */
YK_INLINE yk_v4 measure_four(bool coulomb, double rho, const yk_v4 *n, yk_v4 mu, four_soft soft,
                             yk_v4 *u, yk_v4 u_normal, const yk_v4 *p)
{
    yk_v4 along = dot(n, u);
    yk_v4 p_normal = dot(n, p);

    /* Add the velocity by softness. */
    add_yield(soft, n, p, p_normal, u);
    u_normal += soft.normal * p_normal;
    along += soft.normal * p_normal;

    /* The lift mu |u_T| turns the convex cone into Coulomb's law. */
    if (coulomb) {
        yk_v4 slide2 = yk_v4_set(0);
        for (int k = 0; k < 3; k++) {
            yk_v4 t = u[k] - along * n[k];
            slide2 += t * t;
        }
        u_normal += mu * square_root(slide2);
    }

    /* One step with the same metric for normal and tangents. */
    yk_v4 next[3];
    yk_v4 d = yk_v4_set(1 / rho);
    four_soft none = {yk_v4_set(0), yk_v4_set(0)};
    solve_four(false, 1, n, mu, d, d, none, u, u_normal, p, next);

    yk_v4 sum = yk_v4_set(0);
    for (int k = 0; k < 3; k++) {
        yk_v4 map = (p[k] - next[k]) * d;
        sum += map * map;
    }

    return sum;
}

YK_INLINE void measure_block(const yk_network *s, const block *b, bool coulomb, double rho,
                             double partial[3])
{
    yk_v4 largest = yk_v4_set(0);
    yk_v4 sum = yk_v4_set(0);
    yk_v4 sizes = yk_v4_set(0);

    for (uint32_t g = b->pair_begin; g < b->pair_end; g++) {
        const pair_group *group = &s->pairs[g];

        four_nodes x, y;
        yk_v4 n[3], p[3], u[3];
        load_nodes(s->nodes, group->a, &x);
        load_nodes(s->nodes, group->b, &y);
        load_lanes(&group->normal, n);
        load_lanes(&group->impulse, p);
        pair_velocity(&x, &y, n, u);

        four_soft soft = load_softness(s->pair_softness, g);
        yk_v4 u_normal = dot(n, u) + yk_v4_load(group->bias);
        yk_v4 squares = measure_four(coulomb, rho, n, yk_v4_load(group->mu), soft, u, u_normal, p);
        largest = yk_v4_max(largest, squares);
        sum += squares;
        sizes += square_root(squares);
    }

    for (uint32_t g = b->single_begin; g < b->single_end; g++) {
        const single_group *group = &s->singles[g];

        four_nodes x;

        yk_v4 n[3], p[3], u[3], surface[3];
        load_nodes(s->nodes, group->a, &x);
        load_lanes(&group->normal, n);
        load_lanes(&group->impulse, p);
        load_lanes(&group->velocity, surface);
        single_velocity(&x, surface, n, u);

        four_soft soft = load_softness(s->single_softness, g);
        yk_v4 squares = measure_four(coulomb, rho, n, yk_v4_load(group->mu), soft, u, dot(n, u), p);
        largest = yk_v4_max(largest, squares);
        sum += squares;
        sizes += square_root(squares);
    }

    /* The four lanes together. */
    for (int k = 0; k < LANES; k++) {
        partial[0] = partial[0] > largest[k] ? partial[0] : largest[k];
        partial[1] += sum[k];
        partial[2] += sizes[k];
    }
}

YK_TARGET_AVX2 static void measure_block_avx2(const yk_network *s, const block *b, bool coulomb,
                                              double rho, double partial[3])
{
    measure_block(s, b, coulomb, rho, partial);
}

void yk_round_residual(const yk_network *network, const block *b, bool coulomb, double rho,
                       double partial[3])
{
    if (yk_have_avx2()) {
        measure_block_avx2(network, b, coulomb, rho, partial);
    } else {
        measure_block(network, b, coulomb, rho, partial);
    }
}

void yk_round_diagonal(const yk_network *s, const block *b, double partial[3])
{
    for (uint32_t g = b->pair_begin; g < b->pair_end; g++) {
        const pair_group *group = &s->pairs[g];
        for (int k = 0; k < LANES; k++) {
            const yk_network_node *x = &s->nodes[group->a[k]];
            const yk_network_node *y = &s->nodes[group->b[k]];

            /* dN + 2 dT of the contact; unused lanes have no mass. */
            double dn = x->inverse_mass + y->inverse_mass;
            partial[1] += 3 * dn + 2 * (x->spin_inverse_mass + y->spin_inverse_mass);
            if (dn > 0)
                partial[2] += 3;
        }
    }

    for (uint32_t g = b->single_begin; g < b->single_end; g++) {
        const single_group *group = &s->singles[g];
        for (int k = 0; k < LANES; k++) {
            const yk_network_node *x = &s->nodes[group->a[k]];

            partial[1] += 3 * x->inverse_mass + 2 * x->spin_inverse_mass;
            if (x->inverse_mass > 0)
                partial[2] += 3;
        }
    }
}
