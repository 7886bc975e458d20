/* Other people's problems (FCLIB, Siconos), where they are at hand: contact problems to 1e-8 with
 * default options, complementarity problems against their known solutions. */
#include "contact/mlcp.h"
#include "contact/problems.h"
#include "contact/read.h"
#include "contact/solver.h"

#define FOLDER YOKE_SOURCE_DIR "/../shared/reference/"

static bool at_hand(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file)
        fclose(file);
    return file != NULL;
}

static const char *const contact_files[] = {
    "FC3D_Example1_SBM",          "Rover1040",
    "OneObject-i100000-316.hdf5", "NESpheres_30_1",
    "fclib_local_problem_test",   "BoxesStack1-i100000-32.hdf5",
    "Confeti-ex03-Fc3D-SBM",      "Box_Stacks-i1000-137-4",
    "Capsules-i100-1090",         "Spheres-i099-356-679",
    "FrictionContactProblem00071"};

static void solve_file(yk_context *context, const char *path, const yk_contact_options *options,
                       double tolerance)
{
    yk_contact_problem problem;
    assert_int_equal(yk_contact_read(context, path, &problem), YK_OK);
    double *r = calloc((size_t)problem.row_count, sizeof *r),
           *u = calloc((size_t)problem.row_count, sizeof *u);
    yk_contact_report report;
    yk_status status = yk_contact_solve(context, &problem, options, r, u, &report);
    double residual = yk_contact_residual(&problem, options->friction_model, r, u);
    if (status != YK_OK || !(residual <= tolerance))
        fail_msg("%s: %s, residual %g, reported %g", path, yk_last_message(context), residual,
                 report.residual);
    assert_near(residual, report.residual, 1e-12 + 1e-3 * residual);
    free(u);
    free(r);
    yk_contact_problem_destroy(context, &problem);
}

static void solve_all(const yk_contact_options *options, double tolerance)
{
    yk_context *context = make_context();
    int found = 0;
    for (size_t i = 0; i < sizeof contact_files / sizeof *contact_files; i++) {
        char path[512];
        snprintf(path, sizeof path, FOLDER "contact/%s.dat", contact_files[i]);
        if (!at_hand(path))
            continue;
        found++;
        solve_file(context, path, options, tolerance);
    }
    yk_context_destroy(context);
    if (!found)
        skip();
}

static void contact_problems_with_default_options(void **state)
{
    (void)state;
    yk_contact_options options = yk_contact_options_default();
    solve_all(&options, 1e-8);
}

static void convex_problems(void **state)
{
    (void)state;
    yk_contact_options options = yk_contact_options_default();
    options.friction_model = YK_FRICTION_CONVEX_CONE;
    solve_all(&options, 1e-8);
}

static void box_friction(void **state)
{
    (void)state;
    yk_contact_options options = yk_contact_options_default();
    options.friction_model = YK_FRICTION_PYRAMID;
    solve_all(&options, 1e-8);
}

static void projected_gradient(void **state)
{
    (void)state;
    yk_contact_options options = yk_contact_options_default();
    options.method = YK_CONTACT_PROJECTED_GRADIENT;
    options.tolerance = 1e-4;
    solve_all(&options, 1e-4);
    options.friction_model = YK_FRICTION_CONVEX_CONE;
    solve_all(&options, 1e-4);
}

typedef struct known {
    const char *file;
    int count;
    double z[9];
} known;

static const known solutions[] = {
    {"lcp_CPS_2", 3, {0, 1, 3}},
    {"lcp_CPS_4", 4, {2, 2, 2, 92}},
    {"lcp_deudeu", 2, {4. / 3, 7. / 3}},
    {"lcp_exp_murty", 6, {0, 0, 0, 0, 0, 1}},
    {"lcp_ortiz", 4, {2. / 3, 0, 1. / 3, 0}},
    {"lcp_trivial", 9, {1, 1. / 2, 1. / 3, 1. / 4, 1. / 5, 1. / 6, 1. / 7, 1. / 8, 1. / 9}},
    {"deudeu_mlcp", 2, {1, 0}},
    {"m2n1_mlcp", 3, {1, 0, 3}},
    {"m3n2_mlcp", 5, {1, -1, 0, 4, 0}},
    {"relay2_mlcp", 6, {10, -1.4, 0, -0.014, 9.999, 3}},
    {"PD_mlcp",
     7,
     {0.985431821793, 0.972945843544, 0.0124859782488, 0.000960459865295, 0, 0, 0.000960459865294}},
    {"RLCD_mlcp",
     8,
     {-0.385584, -0.0603396000585, -0.000234196758251, -0.000234196758251, 0, 4.68393516501e-07,
      4.68393516501e-07, 0}},
};

/* Reads and solves; false if the file is not there. */
static bool solve_mlcp_file(yk_context *context, const char *name, double *z, int capacity, int *n,
                            yk_status *status)
{
    char path[512];
    snprintf(path, sizeof path, FOLDER "mlcp/%s.dat", name);
    if (!at_hand(path))
        return false;
    yk_mlcp problem;
    assert_int_equal(yk_mlcp_read(context, path, &problem), YK_OK);
    assert_true(problem.n <= capacity);
    double w[64];
    yk_mlcp_options options = yk_mlcp_options_default();
    yk_contact_report report;
    *n = problem.n;
    *status = yk_mlcp_solve(context, &problem, &options, z, w, NULL, &report);
    if (*status == YK_OK)
        assert_true(yk_mlcp_residual(&problem, z, w) < 1e-10);
    yk_mlcp_destroy(context, &problem);
    return true;
}

static void complementarity_problems(void **state)
{
    (void)state;
    yk_context *context = make_context();
    int found = 0, n;
    double z[64];
    yk_status status;
    for (size_t i = 0; i < sizeof solutions / sizeof *solutions; i++) {
        if (!solve_mlcp_file(context, solutions[i].file, z, 64, &n, &status))
            continue;
        found++;
        assert_int_equal(status, YK_OK);
        assert_int_equal(n, solutions[i].count);
        for (int k = 0; k < n; k++)
            assert_near(z[k], solutions[i].z[k], 1e-11);
    }
    yk_context_destroy(context);
    if (!found)
        skip();
}

static void count_and_sum(const double *z, int n, double sum, int count)
{
    double total = 0;
    int nonzero = 0;
    for (int k = 0; k < n; k++) {
        total += z[k];
        nonzero += fabs(z[k]) > 1e-12;
    }
    assert_near(total, sum, 1e-10 * (1 + fabs(sum)));
    assert_int_equal(nonzero, count);
}

static void problems_with_listed_sums(void **state)
{
    (void)state;
    yk_context *context = make_context();
    double z[64];
    int n;
    yk_status status;
    if (!solve_mlcp_file(context, "lcp_mmc", z, 64, &n, &status)) {
        yk_context_destroy(context);
        skip();
    }
    assert_int_equal(status, YK_OK);
    count_and_sum(z, n, 0.001530021951, 22);
    assert_true(solve_mlcp_file(context, "BuckConverter_mlcp", z, 64, &n, &status));
    assert_int_equal(status, YK_OK);
    count_and_sum(z, n, 4.6, 3);
    assert_true(
        solve_mlcp_file(context, "lcp_CPS_1", z, 64, &n, &status)); /* a continuum z1 + z2 = 1 */
    assert_int_equal(status, YK_OK);
    assert_near(z[0] + z[1], 1, 1e-14);
    assert_true(solve_mlcp_file(context, "lcp_Pang_isolated_sol_perturbed", z, 64, &n, &status));
    assert_int_equal(status, YK_ERROR_NO_SOLUTION);
    yk_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contact_problems_with_default_options),
        cmocka_unit_test(convex_problems),
        cmocka_unit_test(box_friction),
        cmocka_unit_test(projected_gradient),
        cmocka_unit_test(complementarity_problems),
        cmocka_unit_test(problems_with_listed_sums),
    };
    /* Without the files nothing is tested, which is not the same as passed. */
    bool any = at_hand(FOLDER "mlcp/lcp_mmc.dat");
    for (size_t i = 0; i < sizeof contact_files / sizeof *contact_files; i++) {
        char path[512];
        snprintf(path, sizeof path, FOLDER "contact/%s.dat", contact_files[i]);
        any = any || at_hand(path);
    }
    if (!any) {
        print_message("SKIPPED: %s is not here\n", FOLDER);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
