/* Contact networks: known impacts, the same solution in every formulation, and bitwise the same
 * result for any number of threads. */
#include "contact/network.h"

#include "contact/network_data.h"
#include "contact/problems.h"

static yk_contact_report solve(yk_context *context, yk_network *network, yk_contact_method method,
                               yk_friction_model friction, double tolerance, int iterations)
{
    yk_contact_options options = yk_contact_options_default();
    options.method = method;
    options.friction_model = friction;
    options.tolerance = tolerance;
    options.max_iterations = iterations;
    options.check_interval = 20;
    yk_contact_report report;
    yk_status status = yk_network_solve(network, &options, &report);
    if (status != YK_OK)
        fail_msg("%s", yk_last_message(context));
    return report;
}

static yk_network *make_network(yk_context *context, yk_pool *pool, bool soft)
{
    yk_network_def def = yk_network_default();
    def.pool = pool;
    def.soft = soft;
    yk_network *network;
    assert_int_equal(yk_network_create(context, &def, &network), YK_OK);
    return network;
}

static const double INERTIA = 0.4; /* of a solid sphere of radius and mass one */

static yk_network_node unit_sphere(yk_vec3 velocity)
{
    return yk_network_sphere(velocity, yk_v3(0, 0, 0), 1, 1, 1 / INERTIA);
}

/* Sphere thrown at the floor with (2, 0, -1): sticks iff vt <= 7/2 mu vn, then vt' = 5/7 vt; else
 * vt' = vt - mu vn. */
static void oblique_impact(void **state)
{
    (void)state;
    yk_context *context = make_context();
    yk_network *network = make_network(context, NULL, false);
    const yk_pair pair = {0, YK_NETWORK_NONE, YK_PAIR_ROUND};
    for (int sticks = 0; sticks < 2; sticks++) {
        yk_network_node *nodes = yk_network_nodes(network, 1);
        nodes[0] = unit_sphere(yk_v3(2, 0, -1));
        assert_int_equal(yk_network_plan(network, &pair, 1), YK_OK);
        yk_contact contact = {.normal = {0, 0, 1}, .mu = sticks ? 0.6 : 0.5};
        yk_network_set(network, 0, &contact);
        solve(context, network, YK_CONTACT_GAUSS_SEIDEL, YK_FRICTION_COULOMB, 1e-12, 10);
        double tangential = sticks ? 2 * 5. / 7 : 2 - 0.5;
        assert_near(nodes[0].velocity.x, tangential, 1e-14);
        assert_near(nodes[0].velocity.z, 0, 1e-14);
        /* angular momentum about the contact is kept: (v - 2) + 0.4 spin = 0 */
        assert_near(nodes[0].spin.y, (2 - tangential) / INERTIA, 1e-13);
        yk_vec3 impulse = yk_network_impulse(network, 0);
        assert_near(impulse.z, 1, 1e-14);
        assert_near(impulse.x, tangential - 2, 1e-14);
    }
    yk_network_destroy(network);
    yk_context_destroy(context);
}

/* Three equal balls in line, the first moving with 1: inelastic, so all end with 1/3. */
static void three_balls(void **state)
{
    (void)state;
    yk_context *context = make_context();
    yk_network *network = make_network(context, NULL, false);
    const yk_pair pairs[] = {{0, 1, YK_PAIR_ROUND}, {2, 1, YK_PAIR_ROUND}};
    yk_network_node *nodes = yk_network_nodes(network, 3);
    for (int i = 0; i < 3; i++)
        nodes[i] = unit_sphere(yk_v3(i == 0, 0, 0));
    assert_int_equal(yk_network_plan(network, pairs, 2), YK_OK);
    yk_contact first = {.normal = {-1, 0, 0}}, second = {.normal = {1, 0, 0}};
    yk_network_set(network, 0, &first);
    yk_network_set(network, 1, &second);
    solve(context, network, YK_CONTACT_GAUSS_SEIDEL, YK_FRICTION_CONVEX_CONE, 1e-14, 500);
    for (int i = 0; i < 3; i++)
        assert_near(nodes[i].velocity.x, 1. / 3, 1e-13);
    yk_network_destroy(network);
    yk_context_destroy(context);
}

/* A heap: jittered layers of unit spheres over a floor, contacts where they nearly touch. */
typedef struct cloud {
    size_t nodes, contacts;
    yk_vec3 *place;
    yk_pair *pairs;
    yk_contact *data;
} cloud;

static cloud make_cloud(int nx, int ny, int nz)
{
    stream s = {99};
    size_t n = (size_t)(nx * ny * nz);
    cloud c = {.nodes = n,
               .place = calloc(n, sizeof *c.place),
               .pairs = calloc(8 * n, sizeof *c.pairs),
               .data = calloc(8 * n, sizeof *c.data)};
    for (size_t i = 0; i < n; i++) {
        int x = (int)i % nx, y = (int)i / nx % ny, z = (int)i / (nx * ny);
        c.place[i] = yk_v3(2.02 * x + (z % 2) + 0.02 * next_number(&s),
                           2.02 * y + (z % 2) + 0.02 * next_number(&s),
                           1 + 1.42 * z + 0.02 * next_number(&s));
        if (z == 0) {
            c.pairs[c.contacts] = (yk_pair){(int32_t)i, YK_NETWORK_NONE, YK_PAIR_ROUND};
            c.data[c.contacts++] =
                (yk_contact){.normal = {0, 0, 1}, .mu = 0.5, .bias = c.place[i].z - 1};
        }
        size_t reach = (size_t)(2 * nx * ny);
        for (size_t j = i > reach ? i - reach : 0; j < i; j++) {
            yk_vec3 d = yk_v3_sub(c.place[i], c.place[j]);
            double distance = yk_v3_norm(d);
            if (distance > 2.05)
                continue;
            c.pairs[c.contacts] = (yk_pair){(int32_t)i, (int32_t)j, YK_PAIR_ROUND};
            c.data[c.contacts++] = (yk_contact){
                .normal = yk_v3_scale(1 / distance, d), .mu = 0.5, .bias = distance - 2};
        }
        assert_true(c.contacts < 8 * n - 20);
    }
    return c;
}

static void free_cloud(cloud *c)
{
    free(c->place);
    free(c->pairs);
    free(c->data);
}

static yk_network_node *fill(yk_network *network, const cloud *c)
{
    yk_network_node *nodes = yk_network_nodes(network, c->nodes);
    assert_non_null(nodes);
    for (size_t i = 0; i < c->nodes; i++)
        nodes[i] = unit_sphere(yk_v3(0.1 * sin((double)i), 0, -0.5));
    assert_int_equal(yk_network_plan(network, c->pairs, c->contacts), YK_OK);
    for (size_t i = 0; i < c->contacts; i++)
        yk_network_set(network, i, &c->data[i]);
    return nodes;
}

/* Runs 20 iterations and copies the bits of the result. */
static void run_bits(yk_context *context, const cloud *c, yk_contact_method method, int threads,
                     bool baseline, yk_network_node *result)
{
    yk_pool *pool = NULL;
    if (threads > 1)
        assert_int_equal(yk_pool_create(context, threads, &pool), YK_OK);
    yk_network *network = make_network(context, pool, false);
    network->baseline = baseline;
    yk_network_node *nodes = fill(network, c);
    solve(context, network, method, YK_FRICTION_COULOMB, 0, 20);
    memcpy(result, nodes, c->nodes * sizeof *nodes);
    yk_network_destroy(network);
    yk_pool_destroy(pool);
}

static void same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    yk_context *context = make_context();
    cloud c = make_cloud(16, 12, 16); /* 3072 nodes: several blocks */
    yk_network_node *one = calloc(c.nodes, sizeof *one), *other = calloc(c.nodes, sizeof *other);
    const yk_contact_method methods[] = {YK_CONTACT_GAUSS_SEIDEL, YK_CONTACT_PROJECTED_GRADIENT};
    for (int m = 0; m < 2; m++) {
        run_bits(context, &c, methods[m], 1, false, one);
        for (int threads = 2; threads <= 4; threads++) {
            run_bits(context, &c, methods[m], threads, false, other);
            assert_memory_equal(one, other, c.nodes * sizeof *one);
        }
        run_bits(context, &c, methods[m], 1, true, other);
        assert_memory_equal(one, other, c.nodes * sizeof *one);
    }
    free(other);
    free(one);
    free_cloud(&c);
    yk_context_destroy(context);
}

/* Impulses and velocities belong together: v - v_free = M^-1 D p, and no two contacts were given
 * the same place. */
static void explain_velocities(yk_context *context, cloud c, bool improved)
{
    yk_network *network = make_network(context, NULL, false);
    yk_network_node *nodes = fill(network, &c);
    yk_contact_report report =
        solve(context, network, YK_CONTACT_GAUSS_SEIDEL, YK_FRICTION_CONVEX_CONE, 0, 10);
    if (improved) {
        yk_contact_options options = yk_contact_options_default();
        options.friction_model = YK_FRICTION_CONVEX_CONE;
        report.residual = INFINITY;
        assert_int_equal(yk_network_improve(network, &options, 1e-10, &report), YK_OK);
        assert_int_equal(report.method, YK_CONTACT_INTERIOR_POINT);
        assert_true(report.residual <= 1e-10);
    }
    yk_network_node *sum = calloc(c.nodes, sizeof *sum);
    for (size_t i = 0; i < c.nodes; i++)
        sum[i] = unit_sphere(yk_v3(0.1 * sin((double)i), 0, -0.5));
    for (size_t i = 0; i < c.contacts; i++) {
        yk_vec3 p = yk_network_impulse(network, i), rotation = yk_v3_cross(c.data[i].normal, p);
        yk_network_node *a = &sum[c.pairs[i].a];
        assert_true(yk_v3_dot(p, c.data[i].normal) >= 0);
        a->velocity = yk_v3_add(a->velocity, p);
        a->spin = yk_v3_axpy(-1 / INERTIA, rotation, a->spin);
        if (c.pairs[i].b < 0)
            continue;
        yk_network_node *b = &sum[c.pairs[i].b];
        b->velocity = yk_v3_sub(b->velocity, p);
        b->spin = yk_v3_axpy(-1 / INERTIA, rotation, b->spin);
    }
    for (size_t i = 0; i < c.nodes; i++) {
        assert_near(yk_v3_norm(yk_v3_sub(sum[i].velocity, nodes[i].velocity)), 0, 1e-12);
        assert_near(yk_v3_norm(yk_v3_sub(sum[i].spin, nodes[i].spin)), 0, 1e-12);
    }
    free(sum);
    yk_network_destroy(network);
    free_cloud(&c);
}

static void impulses_explain_velocities(void **state)
{
    (void)state;
    yk_context *context = make_context();
    explain_velocities(context, make_cloud(16, 12, 16), false);
    /* Sweeps do not come that far: the accurate method solves the island. */
    explain_velocities(context, make_cloud(4, 3, 3), true);
    yk_context_destroy(context);
}

/* The assembled problem, solved accurately, has the velocities that many sweeps come to. */
static void assembled_and_swept_agree(void **state)
{
    (void)state;
    yk_context *context = make_context();
    cloud c = make_cloud(4, 3, 3);
    for (int model = 0; model < 2; model++) {
        /* sweeps of Coulomb's problem with more friction than this run in circles */
        for (size_t i = 0; i < c.contacts; i++)
            c.data[i].mu = model == YK_FRICTION_COULOMB ? 0.1 : 0.5;
        yk_network *swept = make_network(context, NULL, false),
                   *exact = make_network(context, NULL, false);
        yk_network *descended = make_network(context, NULL, false);
        yk_network_node *a = fill(swept, &c), *b = fill(exact, &c), *d = fill(descended, &c);
        solve(context, swept, YK_CONTACT_GAUSS_SEIDEL, (yk_friction_model)model, 1e-9, 20000);
        solve(context, exact, YK_CONTACT_INTERIOR_POINT, (yk_friction_model)model, 1e-9, 0);
        yk_contact_report report = solve(context, descended, YK_CONTACT_PROJECTED_GRADIENT,
                                         (yk_friction_model)model, 1e-8, 20000);
        assert_true(report.iterations < 5000);
        for (size_t i = 0; i < c.nodes; i++) {
            assert_near(yk_v3_norm(yk_v3_sub(a[i].velocity, b[i].velocity)), 0, 1e-5);
            assert_near(yk_v3_norm(yk_v3_sub(a[i].spin, b[i].spin)), 0, 1e-5);
            assert_near(yk_v3_norm(yk_v3_sub(d[i].velocity, b[i].velocity)), 0, 1e-5);
            assert_near(yk_v3_norm(yk_v3_sub(d[i].spin, b[i].spin)), 0, 1e-5);
        }
        yk_network_destroy(descended);
        yk_network_destroy(exact);
        yk_network_destroy(swept);
    }
    free_cloud(&c);
    yk_context_destroy(context);
}

/* The same spheres as general pairs with arms and tensors; every third pair is given the other
 * way round. */
static void general_and_round_agree(void **state)
{
    (void)state;
    yk_context *context = make_context();
    cloud c = make_cloud(4, 3, 3);
    yk_network *round = make_network(context, NULL, false),
               *general = make_network(context, NULL, false);
    yk_network_node *a = fill(round, &c);
    solve(context, round, YK_CONTACT_GAUSS_SEIDEL, YK_FRICTION_CONVEX_CONE, 1e-10, 20000);
    yk_network_node *b = yk_network_nodes(general, c.nodes);
    for (size_t i = 0; i < c.nodes; i++) {
        b[i] = unit_sphere(yk_v3(0.1 * sin((double)i), 0, -0.5));
        yk_mat3 inverse = yk_m3_diagonal(1 / INERTIA, 1 / INERTIA, 1 / INERTIA);
        assert_int_equal(yk_network_inertia(general, i, &inverse), YK_OK);
    }
    for (size_t i = 0; i < c.contacts; i++) {
        c.pairs[i].kind = YK_PAIR_GENERAL;
        if (i % 3 == 0 && c.pairs[i].b >= 0) {
            int32_t swap = c.pairs[i].a;
            c.pairs[i].a = c.pairs[i].b;
            c.pairs[i].b = swap;
            c.data[i].normal = yk_v3_neg(c.data[i].normal);
        }
        c.data[i].arm_a = yk_v3_neg(c.data[i].normal);
        c.data[i].arm_b = c.data[i].normal;
    }
    assert_int_equal(yk_network_plan(general, c.pairs, c.contacts), YK_OK);
    for (size_t i = 0; i < c.contacts; i++)
        yk_network_set(general, i, &c.data[i]);
    solve(context, general, YK_CONTACT_GAUSS_SEIDEL, YK_FRICTION_CONVEX_CONE, 1e-10, 20000);
    for (size_t i = 0; i < c.nodes; i++)
        assert_near(yk_v3_norm(yk_v3_sub(a[i].velocity, b[i].velocity)), 0, 1e-6);
    yk_network_destroy(general);
    yk_network_destroy(round);
    free_cloud(&c);
    yk_context_destroy(context);
}

/* Spinning and rolling friction, four contacts at a time and one at a time as general pairs: both
 * come to the same velocities, and the violation of either is the same when it is measured by the
 * other. The bits of the first depend neither on threads nor on the width of registers. */
static void general_and_rolling_agree(void **state)
{
    (void)state;
    yk_context *context = make_context();
    cloud c = make_cloud(4, 3, 3);
    for (int model = 0; model < 2; model++) {
        for (size_t i = 0; i < c.contacts; i++) {
            c.data[i].mu = model == YK_FRICTION_COULOMB ? 0.1 : 0.5;
            c.data[i].mu_spin = 0.02;
            c.data[i].mu_roll = 0.03;
            c.data[i].arm_a = yk_v3_neg(c.data[i].normal);
            c.data[i].arm_b = c.data[i].normal;
        }
        const int32_t kinds[2] = {YK_PAIR_ROLLING, YK_PAIR_GENERAL};
        yk_network *networks[2];
        yk_network_node *nodes[2];
        for (int k = 0; k < 2; k++) {
            for (size_t i = 0; i < c.contacts; i++)
                c.pairs[i].kind = kinds[k];
            networks[k] = make_network(context, NULL, false);
            nodes[k] = fill(networks[k], &c);
            solve(context, networks[k], YK_CONTACT_GAUSS_SEIDEL, (yk_friction_model)model, 1e-10,
                  40000);
        }
        for (size_t i = 0; i < c.nodes; i++) {
            const yk_network_node *a = &nodes[0][i], *b = &nodes[1][i];
            assert_near(yk_v3_norm(yk_v3_sub(a->velocity, b->velocity)), 0, 1e-6);
            assert_near(yk_v3_norm(yk_v3_sub(a->spin, b->spin)), 0, 1e-6);
        }

        /* After few sweeps the violations are far from zero, and the same by both measures. */
        yk_network *few = make_network(context, NULL, false);
        for (size_t i = 0; i < c.contacts; i++)
            c.pairs[i].kind = YK_PAIR_ROLLING;
        fill(few, &c);
        solve(context, few, YK_CONTACT_GAUSS_SEIDEL, (yk_friction_model)model, 0, 5);
        double rolling_rms, general_rms;
        double rolling = yk_network_residual(few, (yk_friction_model)model, &rolling_rms);
        yk_network *same = make_network(context, NULL, false);
        cloud copy = c;
        copy.pairs = calloc(c.contacts, sizeof *copy.pairs);
        copy.data = calloc(c.contacts, sizeof *copy.data);
        for (size_t i = 0; i < c.contacts; i++) {
            copy.pairs[i] = c.pairs[i];
            copy.pairs[i].kind = YK_PAIR_GENERAL;
            copy.data[i] = c.data[i];
            copy.data[i].impulse = yk_network_impulse(few, i);
            copy.data[i].torque = yk_network_torque(few, i);
        }
        fill(same, &copy);
        yk_general_prepare(same);
        yk_network_start(same, true);
        double general = yk_network_residual(same, (yk_friction_model)model, &general_rms);
        assert_true(rolling > 1e-4);
        assert_near(general, rolling, 1e-12);
        assert_near(general_rms, rolling_rms, 1e-12);
        free(copy.data);
        free(copy.pairs);
        yk_network_destroy(same);
        yk_network_destroy(few);
        yk_network_destroy(networks[1]);
        yk_network_destroy(networks[0]);
    }
    free_cloud(&c);

    c = make_cloud(16, 12, 16);
    for (size_t i = 0; i < c.contacts; i++) {
        c.pairs[i].kind = YK_PAIR_ROLLING;
        c.data[i].mu_roll = 0.03;
    }
    yk_network_node *one = calloc(c.nodes, sizeof *one), *other = calloc(c.nodes, sizeof *other);
    run_bits(context, &c, YK_CONTACT_GAUSS_SEIDEL, 1, false, one);
    run_bits(context, &c, YK_CONTACT_GAUSS_SEIDEL, 3, false, other);
    assert_memory_equal(one, other, c.nodes * sizeof *one);
    run_bits(context, &c, YK_CONTACT_GAUSS_SEIDEL, 1, true, other);
    assert_memory_equal(one, other, c.nodes * sizeof *one);
    free(other);
    free(one);
    free_cloud(&c);
    yk_context_destroy(context);
}

/* A moving plate as a prescribed surface, and as a node without inverse mass on either side of
 * the pair. */
static void nodes_without_mass_are_surfaces(void **state)
{
    (void)state;
    yk_context *context = make_context();
    yk_vec3 result[3];
    for (int form = 0; form < 3; form++) {
        yk_network *network = make_network(context, NULL, false);
        yk_network_node *nodes = yk_network_nodes(network, 2);
        nodes[0] = unit_sphere(yk_v3(0, 0, -1));
        nodes[1] = (yk_network_node){.velocity = {3, 0, 0.5}};
        yk_pair pair = {0, form == 0 ? YK_NETWORK_NONE : 1, YK_PAIR_ROUND};
        yk_contact contact = {.normal = {0, 0, 1}, .mu = 0.3, .surface = {3, 0, 0.5}, .bias = -0.1};
        if (form == 2) {
            pair = (yk_pair){1, 0, YK_PAIR_ROUND};
            contact.normal = yk_v3(0, 0, -1);
        }
        assert_int_equal(yk_network_plan(network, &pair, 1), YK_OK);
        yk_network_set(network, 0, &contact);
        solve(context, network, YK_CONTACT_GAUSS_SEIDEL, YK_FRICTION_COULOMB, 1e-13, 10);
        result[form] = nodes[0].velocity;
        assert_near(nodes[1].velocity.x, 3, 0);
        yk_vec3 impulse = yk_network_impulse(network, 0);
        assert_near(form == 2 ? -impulse.z : impulse.z, 1.6, 1e-14);
        yk_network_destroy(network);
    }
    assert_near(result[0].z, 0.6, 1e-14); /* 0.5 of the plate, 0.1 to come out of it */
    assert_near(result[0].x, 0.3 * 1.6, 1e-14);
    for (int form = 1; form < 3; form++)
        assert_near(yk_v3_norm(yk_v3_sub(result[form], result[0])), 0, 1e-14);
    yk_context_destroy(context);
}

static void softness_yields(void **state)
{
    (void)state;
    yk_context *context = make_context();
    for (int kind = 0; kind < 6;
         kind++) { /* single, pair, general, over-relaxed single, gradient: single, general */
        yk_network *network = make_network(context, NULL, true);
        yk_network_node *nodes = yk_network_nodes(network, 2);
        nodes[0] = unit_sphere(yk_v3(0, 0, -3));
        nodes[1] = (yk_network_node){.inverse_mass = 1e-12, .spin_inverse_mass = 1e-12};
        yk_pair pair = {0, kind == 1 ? 1 : YK_NETWORK_NONE,
                        kind == 2 || kind == 5 ? YK_PAIR_GENERAL : YK_PAIR_ROUND};
        assert_int_equal(yk_network_plan(network, &pair, 1), YK_OK);
        yk_contact contact = {
            .normal = {0, 0, 1}, .mu = 0.3, .softness = 0.5, .creep = 0.5, .arm_a = {0, 0, -1}};
        yk_network_set(network, 0, &contact);
        yk_contact_options options = yk_contact_options_default();
        options.method = kind < 4 ? YK_CONTACT_GAUSS_SEIDEL : YK_CONTACT_PROJECTED_GRADIENT;
        options.max_iterations = 200;
        options.tolerance = 1e-11;
        options.relaxation_factor = kind == 3 ? 1.3 : 1;
        yk_contact_report report;
        assert_int_equal(yk_network_solve(network, &options, &report), YK_OK);
        assert_near(yk_network_impulse(network, 0).z, 2, 1e-10);

        /* The normal alone yields: what sticks does not creep. */
        nodes[0] = unit_sphere(yk_v3(0.1, 0, -3));
        nodes[1] = (yk_network_node){.inverse_mass = 1e-12, .spin_inverse_mass = 1e-12};
        contact.creep = 0;
        yk_network_set(network, 0, &contact);
        assert_int_equal(yk_network_solve(network, &options, &report), YK_OK);
        assert_near(yk_network_impulse(network, 0).z, 2, 1e-10);
        assert_true(yk_network_impulse(network, 0).x < -0.02);
        assert_near(nodes[0].velocity.x - nodes[0].spin.y, 0, 1e-10);
        yk_network_destroy(network);
    }
    yk_context_destroy(context);
}

/* A ball that rolls with spin 2 on a floor with rolling friction: the torque is mu_roll times the
 * normal impulse. */
static void rolling_and_spinning_friction(void **state)
{
    (void)state;
    yk_context *context = make_context();
    yk_network *network = make_network(context, NULL, false);
    yk_network_node *nodes = yk_network_nodes(network, 1);
    nodes[0] = yk_network_sphere(yk_v3(0, 0, -1), yk_v3(0, 0, 4), 0.5, 1, 1 / (INERTIA * 0.25));
    assert_int_equal(yk_network_radius(network, 0, 0.5), YK_OK);
    yk_pair pair = {0, YK_NETWORK_NONE, YK_PAIR_GENERAL};
    assert_int_equal(yk_network_plan(network, &pair, 1), YK_OK);
    yk_contact contact = {
        .normal = {0, 0, 1}, .mu = 0.5, .mu_spin = 0.1, .mu_roll = 0.05, .arm_a = {0, 0, -0.5}};
    yk_network_set(network, 0, &contact);
    solve(context, network, YK_CONTACT_GAUSS_SEIDEL, YK_FRICTION_COULOMB, 1e-12, 50);
    assert_near(yk_network_impulse(network, 0).z, 1, 1e-12);
    assert_near(yk_network_torque(network, 0).z, -0.1, 1e-12);
    assert_near(nodes[0].spin.z / 0.5, 4 - 0.1 / (INERTIA * 0.25), 1e-11);
    yk_network_destroy(network);
    yk_context_destroy(context);
}

/* Residual after two sweeps over a floor and a wall, in other units of length: rotations count
 * as velocities at the radius, so that the residual is the same number of units per second. */
static double rolling_residual(yk_context *context, double radius)
{
    yk_network *network = make_network(context, NULL, false);
    yk_network_node *nodes = yk_network_nodes(network, 1);
    nodes[0] = yk_network_sphere(yk_v3(2 * radius, 0.3 * radius, -radius), yk_v3(1, 2, 3), radius,
                                 1, 1 / (INERTIA * radius * radius));
    assert_int_equal(yk_network_radius(network, 0, radius), YK_OK);
    const yk_pair pairs[2] = {{0, YK_NETWORK_NONE, YK_PAIR_ROLLING},
                              {0, YK_NETWORK_NONE, YK_PAIR_ROLLING}};
    assert_int_equal(yk_network_plan(network, pairs, 2), YK_OK);
    for (int i = 0; i < 2; i++) {
        yk_contact contact = {.mu = 0.5, .mu_spin = 0.02 * radius, .mu_roll = 0.05 * radius};
        contact.normal = i == 0 ? yk_v3(0, 0, 1) : yk_v3(-1, 0, 0);
        contact.arm_a = yk_v3_scale(-radius, contact.normal);
        yk_network_set(network, (size_t)i, &contact);
    }
    yk_contact_report report =
        solve(context, network, YK_CONTACT_GAUSS_SEIDEL, YK_FRICTION_COULOMB, 0, 2);
    yk_network_destroy(network);
    return report.residual / radius;
}

static void residuals_have_the_unit_of_velocities(void **state)
{
    (void)state;
    yk_context *context = make_context();
    double unit = rolling_residual(context, 1);
    assert_true(unit > 1e-6);
    assert_relative(rolling_residual(context, 4), unit, 1e-9);
    assert_relative(rolling_residual(context, 0.125), unit, 1e-9);
    yk_context_destroy(context);
}

/* Box friction on general pairs bends a diagonal slide along the axes of its tangent. */
static void box_friction(void **state)
{
    (void)state;
    yk_context *context = make_context();
    yk_network *network = make_network(context, NULL, false);
    yk_network_node *nodes = yk_network_nodes(network, 1);
    nodes[0] = (yk_network_node){.velocity = {3, 1, -1}, .inverse_mass = 1};
    yk_pair pair = {0, YK_NETWORK_NONE, YK_PAIR_GENERAL};
    assert_int_equal(yk_network_plan(network, &pair, 1), YK_OK);
    yk_contact contact = {.normal = {0, 0, 1}, .mu = 0.5, .tangent = {1, 0, 0}};
    yk_network_set(network, 0, &contact);
    solve(context, network, YK_CONTACT_GAUSS_SEIDEL, YK_FRICTION_PYRAMID, 1e-12, 50);
    assert_near(nodes[0].velocity.x, 2.5, 1e-13);
    assert_near(nodes[0].velocity.y, 0.5, 1e-13);
    yk_network_destroy(network);
    yk_context_destroy(context);
}

/* Two masses joined in x, y, z, the first on the floor: the pair stops as one and shares the
 * impulse. */
static void joints_and_contacts_together(void **state)
{
    (void)state;
    yk_context *context = make_context();
    const yk_contact_method methods[] = {YK_CONTACT_GAUSS_SEIDEL, YK_CONTACT_PROJECTED_GRADIENT,
                                         YK_CONTACT_INTERIOR_POINT};
    for (int m = 0; m < 3; m++) {
        yk_network *network = make_network(context, NULL, false);
        yk_network_node *nodes = yk_network_nodes(network, 2);
        nodes[0] = (yk_network_node){.velocity = {0, 0, -1}, .inverse_mass = 1};
        nodes[1] = (yk_network_node){.velocity = {0.5, 0, -2}, .inverse_mass = 0.5};
        yk_pair pair = {0, YK_NETWORK_NONE, YK_PAIR_ROUND};
        assert_int_equal(yk_network_plan(network, &pair, 1), YK_OK);
        yk_contact contact = {.normal = {0, 0, 1}};
        yk_network_set(network, 0, &contact);
        yk_joint_row rows[3];
        for (int k = 0; k < 3; k++) {
            yk_vec3 axis = {k == 0, k == 1, k == 2};
            rows[k] = (yk_joint_row){.a = 0,
                                     .b = 1,
                                     .linear_a = axis,
                                     .linear_b = yk_v3_neg(axis),
                                     .lower = -INFINITY,
                                     .upper = INFINITY};
        }
        assert_int_equal(yk_network_joints(network, rows, 3), YK_OK);
        solve(context, network, methods[m], YK_FRICTION_COULOMB, 1e-11, 500);
        assert_near(yk_network_impulse(network, 0).z, 5, 1e-9);
        assert_near(rows[2].impulse, -4, 1e-9); /* mass 2 at speed 2 pushes node 0 down */
        assert_near(nodes[0].velocity.x, 1. / 3, 1e-10);
        assert_near(nodes[1].velocity.x, 1. / 3, 1e-10);
        assert_near(nodes[1].velocity.z, 0, 1e-10);
        yk_network_destroy(network);
    }
    yk_context_destroy(context);
}

/* A motor with a limit: asks for the speed 5 but may give no more than the impulse 2. */
static void bounded_rows(void **state)
{
    (void)state;
    yk_context *context = make_context();
    yk_network *network = make_network(context, NULL, false);
    yk_network_node *nodes = yk_network_nodes(network, 1);
    nodes[0] = (yk_network_node){.inverse_mass = 1, .spin_inverse_mass = 1};
    yk_joint_row row = {
        .a = 0, .b = YK_NETWORK_NONE, .angular_a = {0, 0, 1}, .bias = -5, .lower = -2, .upper = 2};
    assert_int_equal(yk_network_plan(network, NULL, 0), YK_OK);
    assert_int_equal(yk_network_joints(network, &row, 1), YK_OK);
    solve(context, network, YK_CONTACT_GAUSS_SEIDEL, YK_FRICTION_CONVEX_CONE, 1e-12, 10);
    assert_near(row.impulse, 2, 0);
    assert_near(nodes[0].spin.z, 2, 1e-15);
    row.upper = 1;
    row.lower = 3;
    assert_int_equal(yk_network_joints(network, &row, 1), YK_ERROR_ARGUMENT);
    yk_network_destroy(network);
    yk_context_destroy(context);
}

/* A row that yields: u + softness * impulse = 0 with u = v + impulse / m, alone and in a block of
 * three that a contact shares. */
static void soft_rows(void **state)
{
    (void)state;
    yk_context *context = make_context();
    const yk_contact_method methods[] = {YK_CONTACT_GAUSS_SEIDEL, YK_CONTACT_PROJECTED_GRADIENT,
                                         YK_CONTACT_INTERIOR_POINT};
    for (int m = 0; m < 3; m++) {
        yk_network *network = make_network(context, NULL, false);
        yk_network_node *nodes = yk_network_nodes(network, 2);
        nodes[0] = (yk_network_node){.velocity = {3, 0, 0}, .inverse_mass = 0.5};
        nodes[1] = (yk_network_node){.velocity = {1, -2, -4}, .inverse_mass = 1};
        yk_pair pair = {1, YK_NETWORK_NONE, YK_PAIR_ROUND};
        assert_int_equal(yk_network_plan(network, &pair, 1), YK_OK);
        yk_contact contact = {.normal = {0, 0, 1}};
        yk_network_set(network, 0, &contact);

        static const double softness[4] = {0.25, 1, 3, 0.5};
        yk_joint_row rows[4];
        for (int k = 0; k < 4; k++) {
            yk_vec3 axis = {k == 0 || k == 3, k == 1, k == 2};
            rows[k] = (yk_joint_row){.a = k == 3 ? 0 : 1,
                                     .b = YK_NETWORK_NONE,
                                     .linear_a = axis,
                                     .softness = softness[k],
                                     .lower = -INFINITY,
                                     .upper = INFINITY};
        }
        assert_int_equal(yk_network_joints(network, rows, 4), YK_OK);
        solve(context, network, methods[m], YK_FRICTION_COULOMB, 1e-12, 2000);

        /* The floor stops z, so that the row along it has nothing left to do. */
        assert_near(rows[0].impulse, -1 / (1 + softness[0]), 1e-9);
        assert_near(rows[1].impulse, 2 / (1 + softness[1]), 1e-9);
        assert_near(rows[2].impulse, 0, 1e-9);
        assert_near(rows[3].impulse, -3 / (0.5 + softness[3]), 1e-9);
        assert_near(nodes[0].velocity.x, 3 + 0.5 * rows[3].impulse, 1e-9);
        yk_network_destroy(network);
    }
    yk_context_destroy(context);
}

/* 1000:1 on top of a column of ten; sweeps crawl, the accurate method does not. */
static void heavy_column(void **state)
{
    (void)state;
    yk_context *context = make_context();
    enum { N = 10 };
    yk_network *network = make_network(context, NULL, false);
    yk_network_node *nodes = yk_network_nodes(network, N);
    yk_pair pairs[N];
    for (int i = 0; i < N; i++) {
        double mass = i == N - 1 ? 1000 : 1;
        nodes[i] = yk_network_sphere(yk_v3(0, 0, -9.81), yk_v3(0, 0, 0), 1, 1 / mass,
                                     1 / (INERTIA * mass));
        pairs[i] = (yk_pair){i, i > 0 ? i - 1 : YK_NETWORK_NONE, YK_PAIR_ROUND};
    }
    assert_int_equal(yk_network_plan(network, pairs, N), YK_OK);
    for (int i = 0; i < N; i++) {
        yk_contact contact = {.normal = {0, 0, 1}, .mu = 0.5};
        yk_network_set(network, (size_t)i, &contact);
    }
    solve(context, network, YK_CONTACT_INTERIOR_POINT, YK_FRICTION_COULOMB, 1e-10, 0);
    for (int i = 0; i < N; i++)
        assert_relative(yk_network_impulse(network, (size_t)i).z, 9.81 * (1000 + 9 - i), 1e-9);
    yk_network_destroy(network);
    yk_context_destroy(context);
}

/* One heavy plate that three thousand spheres lie on: they all share a node, and still all is
 * well. */
static void crowded_node(void **state)
{
    (void)state;
    yk_context *context = make_context();
    enum { N = 3000 };
    yk_pool *pool;
    assert_int_equal(yk_pool_create(context, 2, &pool), YK_OK);
    yk_network *network = make_network(context, pool, false);
    yk_network_node *nodes = yk_network_nodes(network, N + 1);
    yk_pair *pairs = calloc(N, sizeof *pairs);
    for (int i = 0; i < N; i++) {
        nodes[i] = unit_sphere(yk_v3(0, 0, -1));
        pairs[i] = (yk_pair){i, N, YK_PAIR_ROUND};
    }
    nodes[N] = (yk_network_node){.inverse_mass = 1. / N};
    assert_int_equal(yk_network_plan(network, pairs, N), YK_OK);
    yk_contact contact = {.normal = {0, 0, 1}};
    for (size_t i = 0; i < N; i++)
        yk_network_set(network, i, &contact);
    solve(context, network, YK_CONTACT_GAUSS_SEIDEL, YK_FRICTION_CONVEX_CONE, 1e-8, 200);
    assert_near(nodes[N].velocity.z, -0.5, 1e-6);
    for (int i = 0; i < N; i++)
        assert_near(nodes[i].velocity.z, -0.5, 1e-6);
    free(pairs);
    yk_network_destroy(network);
    yk_pool_destroy(pool);
    yk_context_destroy(context);
}

static void warm_start_continues(void **state)
{
    (void)state;
    yk_context *context = make_context();
    cloud c = make_cloud(4, 4, 4);
    yk_network *network = make_network(context, NULL, false);
    fill(network, &c);
    yk_contact_report cold =
        solve(context, network, YK_CONTACT_GAUSS_SEIDEL, YK_FRICTION_CONVEX_CONE, 1e-8, 20000);
    for (size_t i = 0; i < c.contacts; i++)
        c.data[i].impulse = yk_network_impulse(network, i);
    fill(network, &c);
    yk_contact_options options = yk_contact_options_default();
    options.method = YK_CONTACT_GAUSS_SEIDEL;
    options.friction_model = YK_FRICTION_CONVEX_CONE;
    options.warm_start = true;
    options.max_iterations = 1000;
    yk_contact_report warm;
    assert_int_equal(yk_network_solve(network, &options, &warm), YK_OK);
    assert_true(warm.iterations <= 2 && cold.iterations > 20);
    yk_network_destroy(network);
    free_cloud(&c);
    yk_context_destroy(context);
}

/* From the fifth question on. */
static bool stop_soon(void *user)
{
    int *questions = user;
    return ++*questions >= 5;
}

/* A stop request ends iterations that do not converge. */
static void a_stop_ends_iterations(void **state)
{
    (void)state;
    static const yk_contact_method methods[] = {
        YK_CONTACT_GAUSS_SEIDEL, YK_CONTACT_PROJECTED_GRADIENT, YK_CONTACT_INTERIOR_POINT};
    int questions = 0;
    yk_context_def def = yk_context_default();
    def.should_stop = stop_soon;
    def.should_stop_user = &questions;
    yk_context *context = yk_context_create(&def);
    assert_non_null(context);

    /* Sweeps without a tolerance, and those between two residuals, are looked after as well. */
    enum { WAYS = 3 };
    static const double tolerances[WAYS] = {1e-300, 0, 1e-300};
    static const int intervals[WAYS] = {1, 1, 1 << 30};
    cloud c = make_cloud(3, 3, 3);
    for (size_t i = 0; i < WAYS * sizeof methods / sizeof *methods; i++) {
        yk_network *network = make_network(context, NULL, false);
        fill(network, &c);
        yk_contact_options options = yk_contact_options_default();
        options.method = methods[i / WAYS];
        options.friction_model = YK_FRICTION_COULOMB;
        options.tolerance = tolerances[i % WAYS];
        options.max_iterations = 1 << 30;
        options.check_interval = intervals[i % WAYS];
        questions = 0;
        yk_contact_report report;
        yk_status status = yk_network_solve(network, &options, &report);
        if (status != YK_ERROR_ABORTED)
            fail_msg("method %d, way %d: %s", (int)methods[i / WAYS], (int)(i % WAYS),
                     yk_last_message(context));
        assert_true(report.iterations < 1000);
        yk_network_destroy(network);
    }

    free_cloud(&c);
    yk_context_destroy(context);
}

static void mistakes_are_refused(void **state)
{
    (void)state;
    yk_context *context = make_context();
    yk_network *network = make_network(context, NULL, false);
    yk_network_node *nodes = yk_network_nodes(network, 2);
    nodes[0] = nodes[1] = unit_sphere(yk_v3(0, 0, 0));
    const yk_pair wrong[] = {
        {0, 2, YK_PAIR_ROUND}, {-1, 0, YK_PAIR_ROUND}, {1, 1, YK_PAIR_ROUND}, {0, 1, 9}};
    for (int i = 0; i < 4; i++)
        assert_int_equal(yk_network_plan(network, &wrong[i], 1), YK_ERROR_ARGUMENT);
    assert_int_equal(yk_network_radius(network, 5, 1), YK_ERROR_ARGUMENT);
    assert_int_equal(yk_network_radius(network, 0, -1), YK_ERROR_ARGUMENT);
    const yk_pair good = {0, 1, YK_PAIR_ROUND};
    assert_int_equal(yk_network_plan(network, &good, 1), YK_OK);
    yk_contact contact = {.normal = {0, 0, 1}, .bias = NAN};
    yk_network_set(network, 0, &contact);
    yk_contact_options options = yk_contact_options_default();
    yk_contact_report report;
    assert_int_equal(yk_network_solve(network, &options, &report), YK_ERROR_NOT_FINITE);
    options.friction_model = YK_FRICTION_PYRAMID;
    assert_int_equal(yk_network_solve(network, &options, &report), YK_ERROR_ARGUMENT);
    yk_network_destroy(network);
    yk_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oblique_impact),
        cmocka_unit_test(three_balls),
        cmocka_unit_test(same_bits_for_any_number_of_threads),
        cmocka_unit_test(impulses_explain_velocities),
        cmocka_unit_test(assembled_and_swept_agree),
        cmocka_unit_test(general_and_round_agree),
        cmocka_unit_test(general_and_rolling_agree),
        cmocka_unit_test(nodes_without_mass_are_surfaces),
        cmocka_unit_test(softness_yields),
        cmocka_unit_test(rolling_and_spinning_friction),
        cmocka_unit_test(residuals_have_the_unit_of_velocities),
        cmocka_unit_test(box_friction),
        cmocka_unit_test(joints_and_contacts_together),
        cmocka_unit_test(soft_rows),
        cmocka_unit_test(bounded_rows),
        cmocka_unit_test(heavy_column),
        cmocka_unit_test(crowded_node),
        cmocka_unit_test(warm_start_continues),
        cmocka_unit_test(a_stop_ends_iterations),
        cmocka_unit_test(mistakes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
