/* Paths over the pieces of Coulomb problems, from starts where Newton's method is lost as well. */
#include "contact/homotopy.h"

#include "contact/problems.h"

typedef struct trial {
    yk_context *context;
    yk_contact_problem problem;
    yk_newton newton;
    yk_homotopy homotopy;
    double r[128], u[128];
} trial;

/* A random problem with some softness, which makes it regular; r anywhere. */
static void begin(trial *t, stream *s, int dim, int contacts, double mu)
{
    t->context = make_context();
    random_problem(t->context, s, dim, contacts, dim == 3 ? 2 : 0, dim * contacts / 2, mu, &t->problem);
    size_t rows = (size_t)t->problem.row_count;
    t->problem.softness = yk_allocate(t->context, rows, sizeof *t->problem.softness);
    double mean = yk_contact_mean_diagonal(&t->problem);
    for (size_t k = 0; k < rows; k++) {
        t->problem.softness[k] = 1e-3 * mean;
        t->r[k] = 3 * next_number(s);
    }
    if (dim > 3) {
        t->problem.mu_spin = yk_allocate(t->context, (size_t)contacts, sizeof *t->problem.mu_spin);
        t->problem.mu_roll = yk_allocate(t->context, (size_t)contacts, sizeof *t->problem.mu_roll);
        for (int i = 0; i < contacts; i++) t->problem.mu_spin[i] = t->problem.mu_roll[i] = 0.2 * mu;
    }
    assert_int_equal(yk_newton_create(t->context, &t->problem, YK_FRICTION_COULOMB, &t->newton), YK_OK);
    assert_int_equal(yk_homotopy_create(t->context, &t->problem, &t->homotopy), YK_OK);
}

static void end(trial *t)
{
    yk_homotopy_destroy(t->context, &t->homotopy);
    yk_newton_destroy(t->context, &t->newton);
    yk_contact_problem_destroy(t->context, &t->problem);
    yk_context_destroy(t->context);
}

/* From anywhere, and with friction up to 1.4, most paths lead to a solution, and where one runs away the residual tells.
 * Newton's method is lost from most of the same starts. */
static void paths_end_at_solutions(void **state)
{
    (void)state;
    stream s = {11};
    const int dims[] = {1, 2, 3, 4, 6};
    int by_path = 0, by_newton = 0;
    for (int i = 0; i < 60; i++) {
        trial t;
        int dim = dims[i % 5];
        begin(&t, &s, dim, 60 / dim, 0.2 + 0.02 * i);
        double start[128], residual = yk_contact_residual(&t.problem, YK_FRICTION_COULOMB, t.r, t.u), newton = residual;
        memcpy(start, t.r, sizeof start);
        yk_homotopy_follow(&t.homotopy, &t.newton, 2000, t.r, t.u, &residual);
        assert_near(residual, yk_contact_residual(&t.problem, YK_FRICTION_COULOMB, t.r, t.u), 1e-12 * residual);
        by_path += residual < 1e-10;
        yk_contact_residual(&t.problem, YK_FRICTION_COULOMB, start, t.u);
        yk_newton_iterate(&t.newton, 1e-10, 0.999, 300, start, t.u, &newton);
        by_newton += newton < 1e-10;
        end(&t);
    }
    assert_true(by_path >= 45);
    assert_true(by_newton <= 30);
}

/* The limit is kept, and a solution is left alone. */
static void limits_are_kept(void **state)
{
    (void)state;
    stream s = {6};
    trial t;
    begin(&t, &s, 3, 20, 0.7);
    double residual = yk_contact_residual(&t.problem, YK_FRICTION_COULOMB, t.r, t.u);
    assert_int_equal(yk_homotopy_follow(&t.homotopy, &t.newton, 3, t.r, t.u, &residual), 3);
    assert_near(residual, yk_contact_residual(&t.problem, YK_FRICTION_COULOMB, t.r, t.u), 1e-14 * residual);
    yk_homotopy_follow(&t.homotopy, &t.newton, 2000, t.r, t.u, &residual);
    assert_true(residual < 1e-10);
    double before[128];
    memcpy(before, t.r, sizeof before);
    yk_homotopy_follow(&t.homotopy, &t.newton, 2000, t.r, t.u, &residual);
    for (int k = 0; k < t.problem.row_count; k++) assert_near(t.r[k], before[k], 1e-9);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(paths_end_at_solutions), cmocka_unit_test(limits_are_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
