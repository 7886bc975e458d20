/* Contact problems are written and read back; joints are eliminated. */
#include "contact/write.h"

#include <stdio.h>
#include <unistd.h>

#include "contact/problems.h"
#include "contact/read.h"
#include "contact/solver.h"

static char path[64];

static void what_is_written_is_read(void **state)
{
    (void)state;
    yk_context *context = make_context();
    stream s = {7};
    snprintf(path, sizeof path, "/tmp/yoke-contact-%d.dat", (int)getpid());
    for (int dim = 2; dim <= 3; dim++) {
        yk_contact_problem problem, back;
        random_problem(context, &s, dim, 12, 0, 20, 0.4, &problem);
        assert_int_equal(yk_contact_write(context, path, &problem), YK_OK);
        assert_int_equal(yk_contact_read(context, path, &back), YK_OK);
        assert_int_equal(back.contact_count, problem.contact_count);
        assert_int_equal(back.row_count, problem.row_count);
        double x[36], y[36], z[36];
        for (int k = 0; k < problem.row_count; k++)
            x[k] = next_number(&s);
        yk_contact_multiply(&problem, x, y);
        yk_contact_multiply(&back, x, z);
        for (int k = 0; k < problem.row_count; k++) {
            assert_true(y[k] == z[k]);
            assert_true(problem.q[k] == back.q[k]);
        }
        for (int i = 0; i < problem.contact_count; i++)
            assert_true(problem.mu[i] == back.mu[i]);
        yk_contact_problem_destroy(context, &problem);
        yk_contact_problem_destroy(context, &back);
    }
    unlink(path);
    yk_context_destroy(context);
}

/* The contacts of a problem with joints have the same velocities when the joints are gone. */
static void joints_are_eliminated(void **state)
{
    (void)state;
    yk_context *context = make_context();
    stream s = {19};
    yk_contact_problem problem, reduced;
    random_problem(context, &s, 3, 6, 4, 40, 0.3, &problem);
    assert_int_equal(yk_contact_write(context, "unused", &problem), YK_ERROR_CAPABILITY);
    assert_int_equal(yk_contact_eliminate_joints(context, &problem, &reduced), YK_OK);
    assert_int_equal(reduced.row_count, 18);

    yk_contact_options options = yk_contact_options_default();
    options.friction_model = YK_FRICTION_CONVEX_CONE;
    options.tolerance = 1e-11;
    yk_contact_report report;
    double r[22], u[22], q[18], v[18];
    assert_int_equal(yk_contact_solve(context, &problem, &options, r, u, &report), YK_OK);
    assert_int_equal(yk_contact_solve(context, &reduced, &options, q, v, &report), YK_OK);
    for (int k = 0; k < 18; k++)
        assert_near(u[k], v[k], 1e-7);
    yk_contact_problem_destroy(context, &problem);
    yk_contact_problem_destroy(context, &reduced);
    yk_context_destroy(context);
}

/* [2 1; 1 3] with softness 1/2 and 1 on its diagonal, of which the second row is a joint: W = 2.5 -
 * 1/4, q = -1 - 2/4. */
static void softness_is_eliminated_with_the_joints(void **state)
{
    (void)state;
    yk_context *context = make_context();
    const double w[4] = {2, 1, 1, 3}, q[2] = {-1, 2}, mu[1] = {0};
    double softness[2] = {0.5, 1}, one[1] = {1}, row[1];
    yk_contact_problem problem, reduced;
    assert_int_equal(yk_contact_problem_from_dense(context, 1, 1, 1, w, q, mu, &problem), YK_OK);
    problem.softness = softness;
    assert_int_equal(yk_contact_eliminate_joints(context, &problem, &reduced), YK_OK);
    assert_int_equal(reduced.row_count, 1);
    yk_contact_multiply(&reduced, one, row);
    assert_near(row[0], 2.25, 1e-11);
    assert_near(reduced.q[0], -1.5, 1e-11);
    problem.softness = NULL;
    yk_contact_problem_destroy(context, &problem);
    yk_contact_problem_destroy(context, &reduced);
    yk_context_destroy(context);
}

static void what_the_format_lacks_is_refused(void **state)
{
    (void)state;
    yk_context *context = make_context();
    const double w[1] = {1}, q[1] = {-1}, mu[1] = {0};
    yk_contact_problem problem;
    assert_int_equal(yk_contact_problem_from_dense(context, 1, 1, 0, w, q, mu, &problem), YK_OK);
    assert_int_equal(yk_contact_write(context, "/no/such/folder/file", &problem), YK_ERROR_FILE);
    yk_contact_problem_destroy(context, &problem);

    const int dims[1] = {6}, start[2] = {0, 1}, columns[1] = {0};
    assert_int_equal(yk_contact_problem_create(context, 1, 1, dims, start, columns, &problem),
                     YK_OK);
    assert_int_equal(yk_contact_write(context, "unused", &problem), YK_ERROR_CAPABILITY);
    yk_contact_problem_destroy(context, &problem);
    yk_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(joints_are_eliminated),
        cmocka_unit_test(softness_is_eliminated_with_the_joints),
        cmocka_unit_test(what_the_format_lacks_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
