/* Each memory allocation fails once: every failure is returned as an error, without leaks and
 * without invalid accesses. */
#include "contact/mlcp.h"
#include "contact/network.h"
#include "contact/problems.h"
#include "contact/read.h"
#include "contact/response.h"
#include "contact/solver.h"
#include "failing_allocator.h"

typedef yk_status (*trial)(yk_context *context);

/* Runs the trial with the first, second, ... allocation failing until it succeeds. */
static void starve(trial run)
{
    for (long n = 0; n < 10000; n++) {
        budget r = {.fails = -1, .once = true};
        yk_context *context = budget_context(&r);
        assert_non_null(context);
        long before = r.open;
        r.fails = r.made + n;
        yk_status status = run(context);
        bool enough = !r.failed;
        assert_int_equal(r.open, before);
        yk_context_destroy(context);
        assert_int_equal(r.open, 0);
        if (enough) {
            assert_int_equal(status, YK_OK);
            return;
        }
        assert_int_equal(status, YK_ERROR_MEMORY);
    }
    fail_msg("never succeeds");
}

static const char blocks[] = "2 2\n1 4 4\n2 2 2\n2 4\n2 4\n3 2\n0 1 2\n0 1\n0\n1 0.5 0.25 2\n1\n3 "
                             "0 0 3\n-1 0 -2 0\n0.4 0.5\n";
static const char mlcp_text[] = "1 1 1 1 0 1 2 0 1 0 2 2 2 2 1 0 -1 1 -1 1";

static yk_status read_blocks(yk_context *context)
{
    yk_contact_problem problem;
    yk_status status = yk_contact_parse(context, "blocks", blocks, strlen(blocks), &problem);
    if (status == YK_OK)
        yk_contact_problem_destroy(context, &problem);
    return status;
}

static yk_status condense_text(yk_context *context)
{
    static const char text[] = "2 1\n0 2 2\n2 2\n2 0 0 2\n1 2 2\n1 1 1\n2\n2\n2 1\n0 1\n0\n0\n"
                               "0 1 1 0\n8 -6\n0 0\n0.5\n";
    yk_contact_problem problem;
    yk_status status = yk_contact_parse(context, "global", text, strlen(text), &problem);
    if (status == YK_OK)
        yk_contact_problem_destroy(context, &problem);
    return status;
}

static yk_status read_mlcp_and_solve(yk_context *context)
{
    yk_mlcp problem;
    yk_status status = yk_mlcp_parse(context, "mlcp", mlcp_text, strlen(mlcp_text), &problem);
    if (status != YK_OK)
        return status;
    yk_mlcp_options options = yk_mlcp_options_default();
    yk_contact_report report;
    double z[2], w[2];
    status = yk_mlcp_solve(context, &problem, &options, z, w, NULL, &report);
    yk_mlcp_destroy(context, &problem);
    return status;
}

static yk_status solve_with(yk_context *context, yk_contact_method method,
                            yk_friction_model friction)
{
    const double w[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[] = {-2, 3, 4}, mu[] = {0.5};
    yk_contact_problem problem;
    yk_status status = yk_contact_problem_from_dense(context, 3, 1, 0, w, q, mu, &problem);
    if (status != YK_OK)
        return status;
    yk_contact_options options = yk_contact_options_default();
    options.method = method;
    options.friction_model = friction;
    yk_contact_report report;
    double r[3];
    status = yk_contact_solve(context, &problem, &options, r, NULL, &report);
    yk_contact_problem_destroy(context, &problem);
    return status;
}

static yk_status solve_accurate(yk_context *context)
{
    return solve_with(context, YK_CONTACT_INTERIOR_POINT, YK_FRICTION_COULOMB);
}

static yk_status solve_gradient(yk_context *context)
{
    return solve_with(context, YK_CONTACT_PROJECTED_GRADIENT, YK_FRICTION_CONVEX_CONE);
}

static yk_status solve_pivot(yk_context *context)
{
    return solve_with(context, YK_CONTACT_PIVOTING, YK_FRICTION_PYRAMID);
}

/* Two spheres, a floor, a general contact and a joint. */
static yk_status fill_network(yk_network *network, yk_joint_row *row)
{
    yk_network_node *nodes = yk_network_nodes(network, 3000);
    if (!nodes)
        return YK_ERROR_MEMORY;
    for (int i = 0; i < 3000; i++)
        nodes[i] = yk_network_sphere(yk_v3(0, 0, -1), yk_v3(0, 0, 0), 1, 1, 2.5);
    yk_status status = yk_network_radius(network, 0, 1);
    const yk_pair pairs[] = {
        {0, YK_NETWORK_NONE, YK_PAIR_ROUND}, {1, 0, YK_PAIR_ROUND}, {2999, 1, YK_PAIR_GENERAL}};
    if (status == YK_OK)
        status = yk_network_plan(network, pairs, 3);
    yk_contact contact = {.normal = {0, 0, 1}, .mu = 0.5, .arm_a = {0, 0, -1}, .arm_b = {0, 0, 1}};
    for (size_t i = 0; status == YK_OK && i < 3; i++)
        yk_network_set(network, i, &contact);
    *row = (yk_joint_row){.a = 5,
                          .b = 6,
                          .linear_a = {1, 0, 0},
                          .linear_b = {-1, 0, 0},
                          .lower = -INFINITY,
                          .upper = INFINITY};
    return status == YK_OK ? yk_network_joints(network, row, 1) : status;
}

static yk_status solve_network(yk_context *context, yk_contact_method method)
{
    yk_network_def def = yk_network_default();
    def.soft = true;
    def.nodes = def.contacts = 0;
    yk_network *network;
    yk_joint_row row;
    yk_status status = yk_network_create(context, &def, &network);
    if (status != YK_OK)
        return status;
    status = fill_network(network, &row);
    yk_contact_options options = yk_contact_options_default();
    options.method = method;
    options.tolerance = 1e-6;
    options.max_iterations = 400;
    yk_contact_report report;
    if (status == YK_OK)
        status = yk_network_solve(network, &options, &report);
    yk_network_destroy(network);
    return status;
}

static yk_status sweep_network(yk_context *context)
{
    return solve_network(context, YK_CONTACT_GAUSS_SEIDEL);
}

static yk_status descend_network(yk_context *context)
{
    return solve_network(context, YK_CONTACT_PROJECTED_GRADIENT);
}

static yk_status assemble_network(yk_context *context)
{
    return solve_network(context, YK_CONTACT_INTERIOR_POINT);
}

static yk_status respond(yk_context *context)
{
    static const int32_t asked[] = {0, 5};
    yk_network_def def = yk_network_default();
    yk_network *network;
    yk_response *response = NULL;
    yk_joint_row row;
    yk_status status = yk_network_create(context, &def, &network);
    if (status != YK_OK)
        return status;
    status = fill_network(network, &row);
    if (status == YK_OK)
        status = yk_response_create(context, &response);
    yk_response_def what = {.friction = YK_FRICTION_COULOMB,
                            .present = yk_network_nodes(network, 3000),
                            .impulse_scale = 1,
                            .nodes = asked,
                            .node_count = 2};
    for (int i = 0; status == YK_OK && i < 2; i++)
        status = yk_response_factor(response, network, &what);
    if (status == YK_OK) {
        yk_response_begin_free(response);
        yk_response_solve(response);
        assert_near(yk_response_velocity(response, 0).z, 0, 1e-6);
        assert_near(yk_response_velocity(response, 5).z, -1, 0);
    }
    yk_response_destroy(response);
    yk_network_destroy(network);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const trial trials[] = {condense_text,    read_blocks, read_mlcp_and_solve, solve_accurate,
                            solve_gradient,   solve_pivot, sweep_network,       descend_network,
                            assemble_network, respond};
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        starve(trials[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
