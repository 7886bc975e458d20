/* Proximal point iterations on a pile of balls for which Newton's method alone does not converge. */
#include "contact/newton.h"

#include "contact/network.h"
#include "contact/problems.h"

enum { BALLS_MAX = 256, PAIRS_MAX = 2048 };

typedef struct pile {
    yk_vec3 at[BALLS_MAX];
    double radius[BALLS_MAX];
    int balls;
    yk_pair pairs[PAIRS_MAX];
    yk_contact contacts[PAIRS_MAX];
    int count;
} pile;

static void touch(pile *p, int a, int b, yk_vec3 normal, double gap)
{
    assert_true(p->count < PAIRS_MAX);
    p->pairs[p->count] = (yk_pair){a, b, YK_PAIR_ROUND};
    p->contacts[p->count++] = (yk_contact){.normal = normal, .bias = gap / 1e-2, .mu = 0.6};
}

/* Layers of a close packing with uneven balls and heights, on a floor; neighbours touch whose gap
 * is small. */
static void build(pile *p, int side, int layers)
{
    stream s = {7};
    *p = (pile){.balls = side * side * layers};
    for (int i = 0; i < p->balls; i++) {
        int layer = i / (side * side);
        double shift = layer % 2 ? 1 : 0;
        p->at[i] = yk_v3(2 * (i % side) + shift, 2 * (i / side % side) + shift, 1 + 1.42 * layer);
        p->at[i] = yk_v3_add(p->at[i], yk_v3(0.04 * next_number(&s), 0.04 * next_number(&s),
                                             0.04 * next_number(&s)));
        p->radius[i] = 1 + 0.02 * next_number(&s);
    }
    for (int i = 0; i < p->balls; i++) {
        if (p->at[i].z - p->radius[i] < 0.1)
            touch(p, i, YK_NETWORK_NONE, yk_v3(0, 0, 1), p->at[i].z - p->radius[i]);
        for (int k = 0; k < i; k++) {
            yk_vec3 d = yk_v3_sub(p->at[i], p->at[k]);
            double distance = yk_v3_norm(d), gap = distance - p->radius[i] - p->radius[k];
            if (gap < 0.08)
                touch(p, i, k, yk_v3_scale(1 / distance, d), gap);
        }
    }
}

static void assemble(yk_context *context, const pile *p, yk_contact_problem *problem)
{
    yk_network_def def = yk_network_default();
    def.nodes = (size_t)p->balls;
    def.contacts = (size_t)p->count;
    yk_network *network;
    assert_int_equal(yk_network_create(context, &def, &network), YK_OK);
    yk_network_node *nodes = yk_network_nodes(network, (size_t)p->balls);
    for (int i = 0; i < p->balls; i++) {
        double mass = p->radius[i] * p->radius[i] * p->radius[i];
        nodes[i] = yk_network_sphere(yk_v3(0.05, 0, -1), yk_v3(0, 0, 0), p->radius[i], 1 / mass,
                                     2.5 / (mass * p->radius[i] * p->radius[i]));
        assert_int_equal(yk_network_radius(network, (size_t)i, p->radius[i]), YK_OK);
    }
    assert_int_equal(yk_network_plan(network, p->pairs, (size_t)p->count), YK_OK);
    for (int i = 0; i < p->count; i++)
        yk_network_set(network, (size_t)i, &p->contacts[i]);
    assert_int_equal(yk_network_assemble(network, problem), YK_OK);
    yk_network_destroy(network);
}

static void pile_is_solved(void **state)
{
    (void)state;
    yk_context *context = make_context();
    static pile p;
    build(&p, 4, 4);
    yk_contact_problem problem;
    assemble(context, &p, &problem);
    size_t rows = (size_t)problem.row_count;
    double *r = calloc(rows, sizeof *r), *u = calloc(rows, sizeof *u);
    yk_newton newton;
    yk_proximal proximal;
    assert_int_equal(yk_newton_create(context, &problem, YK_FRICTION_COULOMB, &newton), YK_OK);
    assert_int_equal(yk_proximal_create(context, &problem, &proximal), YK_OK);
    double residual = yk_contact_residual(&problem, YK_FRICTION_COULOMB, r, u);
    yk_newton_iterate(&newton, 1e-8, 0.999, 300, r, u, &residual);
    assert_true(residual > 1e-4); /* alone it is lost */
    memset(r, 0, rows * sizeof *r);
    residual = yk_contact_residual(&problem, YK_FRICTION_COULOMB, r, u);
    int steps = yk_proximal_iterate(&proximal, &newton, 1e-8, 2000, r, u, &residual);
    assert_true(residual <= 1e-8);
    assert_near(residual, yk_contact_residual(&problem, YK_FRICTION_COULOMB, r, u), 1e-12);
    assert_true(newton.problem == &problem);
    assert_true(steps <= 2000);
    free(r), free(u);
    yk_proximal_destroy(context, &proximal);
    yk_newton_destroy(context, &newton);
    yk_contact_problem_destroy(context, &problem);
    yk_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pile_is_solved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
