/* The solvers on problems with known answers, against enumeration, and against each other. */
#include "contact/solver.h"

#include "contact/cone.h"
#include "contact/problems.h"

static yk_contact_report solve(yk_context *context, const yk_contact_problem *problem,
                               yk_contact_method method, yk_friction_model friction,
                               double tolerance, double *r, double *u)
{
    yk_contact_options options = yk_contact_options_default();
    options.method = method;
    options.friction_model = friction;
    options.tolerance = tolerance;
    options.max_iterations =
        method == YK_CONTACT_INTERIOR_POINT || method == YK_CONTACT_PIVOTING ? 0 : 100000;
    yk_contact_report report;
    yk_status status = yk_contact_solve(context, problem, &options, r, u, &report);
    if (status != YK_OK)
        fail_msg("%s, friction %d: %s", yk_contact_method_name(method), (int)friction,
                 yk_last_message(context));
    assert_true(report.residual <= tolerance);
    return report;
}

static const yk_contact_method cone_methods[] = {YK_CONTACT_INTERIOR_POINT, YK_CONTACT_GAUSS_SEIDEL,
                                                 YK_CONTACT_PROJECTED_GRADIENT, YK_CONTACT_AUTO};
enum { CONE_METHODS = sizeof cone_methods / sizeof *cone_methods };

/* Mass 1 pushed down by 2 and aside by (3, 4), mu 0.5: true Coulomb friction slides on with speed
 * 4. */
static void sliding_block(void **state)
{
    (void)state;
    yk_context *context = make_context();
    const double w[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[] = {-2, 3, 4}, mu[] = {0.5};
    yk_contact_problem problem;
    assert_int_equal(yk_contact_problem_from_dense(context, 3, 1, 0, w, q, mu, &problem), YK_OK);
    for (int m = 0; m < CONE_METHODS; m++) {
        double r[3], u[3];
        solve(context, &problem, cone_methods[m], YK_FRICTION_COULOMB, 1e-12, r, u);
        assert_near(r[0], 2, 1e-10);
        assert_near(r[1], -0.6, 1e-10);
        assert_near(r[2], -0.8, 1e-10);
        assert_near(u[0], 0, 1e-10);
        /* convex: r = projection of -q on the cone */
        solve(context, &problem, cone_methods[m], YK_FRICTION_CONVEX_CONE, 1e-12, r, u);
        assert_near(r[0], (2 + 0.5 * 5) / 1.25, 1e-10);
        assert_near(u[0], 0.5 * hypot(u[1], u[2]), 1e-10);
        /* box: each component on its own */
        if (cone_methods[m] == YK_CONTACT_PROJECTED_GRADIENT)
            continue;
        solve(context, &problem, cone_methods[m], YK_FRICTION_PYRAMID, 1e-12, r, u);
        assert_near(r[1], -1, 1e-10);
        assert_near(r[2], -1, 1e-10);
    }
    yk_contact_problem_destroy(context, &problem);
    yk_context_destroy(context);
}

/* All solvers find the same velocities; the convex problem's are unique, those of Coulomb's for
 * these small mu as well.
 */
static void solvers_agree(void **state)
{
    (void)state;
    yk_context *context = make_context();
    stream s = {41};
    const int dims[] = {2, 3, 3, 1, 3};
    for (int trial = 0; trial < 20; trial++) {
        int dim = dims[trial % 5], contacts = 2 + trial % 7, bilateral = trial % 3;
        yk_contact_problem problem;
        /* more rows than velocities in half of the cases: W is rank-deficient */
        random_problem(context, &s, dim, contacts, bilateral,
                       trial % 2 ? dim * contacts + bilateral + 2 : 2 * contacts + 2, 0.3,
                       &problem);
        for (int model = 0; model < 2; model++) {
            double reference[64], r[64], u[64];
            solve(context, &problem, YK_CONTACT_INTERIOR_POINT, (yk_friction_model)model, 1e-10, r,
                  reference);
            for (int m = 1; m < CONE_METHODS; m++) {
                solve(context, &problem, cone_methods[m], (yk_friction_model)model, 1e-8, r, u);
                for (int k = 0; k < problem.row_count; k++)
                    assert_near(u[k], reference[k], 2e-4);
            }
        }
        yk_contact_problem_destroy(context, &problem);
    }
    yk_context_destroy(context);
}

/* An interior-point method takes about as many steps for 40 contacts as for one; the methods that
 * replace it if it fails take twice as many. */
static void accurate_takes_few_steps(void **state)
{
    (void)state;
    yk_context *context = make_context();
    stream s = {7};
    for (int trial = 0; trial < 6; trial++) {
        yk_contact_problem problem;
        random_problem(context, &s, 3, 40, 0, 82, 0.3, &problem);
        for (int model = 0; model < 2; model++) {
            double r[120], u[120];
            yk_contact_report report = solve(context, &problem, YK_CONTACT_INTERIOR_POINT,
                                             (yk_friction_model)model, 1e-10, r, u);
            assert_in_range(report.iterations, 1, 25);
        }
        yk_contact_problem_destroy(context, &problem);
    }
    yk_context_destroy(context);
}

/* Planar contacts with Coulomb friction have finitely many cases: parted, sticking, sliding left
 * or right. Each case is a linear equation. */
static bool try_case(const double *w, const double *q, double mu, int contacts, int number,
                     double *u)
{
    int n = 2 * contacts;
    double a[64] = {0}, r[8];
    for (int i = 0; i < contacts; i++, number /= 4) {
        int kind = number % 4, row = 2 * i;
        for (int k = 0; k < 2; k++) {
            for (int j = 0; j < n; j++)
                a[(row + k) * n + j] = w[(row + k) * n + j];
            r[row + k] = -q[row + k];
        }
        double slope = kind == 2 ? mu : -mu;
        for (int k = kind == 0 ? 0 : 1; kind != 1 && k < 2;
             k++) { /* impulse given: parted both, sliding the tangential one */
            for (int j = 0; j < n; j++)
                a[(row + k) * n + j] = j == row + k;
            if (kind > 1)
                a[(row + k) * n + row] = -slope;
            r[row + k] = 0;
        }
    }
    for (int k = 0; k < n; k++) { /* elimination */
        int best = k;
        for (int i = k; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[best * n + k]))
                best = i;
        if (fabs(a[best * n + k]) < 1e-9)
            return false;
        for (int j = 0; j < n; j++) {
            double swap = a[k * n + j];
            a[k * n + j] = a[best * n + j];
            a[best * n + j] = swap;
        }
        double swap = r[k];
        r[k] = r[best];
        r[best] = swap;
        for (int i = 0; i < n; i++) {
            double factor = i == k ? 0 : a[i * n + k] / a[k * n + k];
            for (int j = 0; j < n; j++)
                a[i * n + j] -= factor * a[k * n + j];
            r[i] -= factor * r[k];
        }
    }
    for (int k = 0; k < n; k++)
        r[k] /= a[k * n + k];
    for (int i = 0; i < contacts; i++) {
        double un = q[2 * i], ut = q[2 * i + 1], rn = r[2 * i], rt = r[2 * i + 1];
        for (int j = 0; j < n; j++) {
            un += w[2 * i * n + j] * r[j];
            ut += w[(2 * i + 1) * n + j] * r[j];
        }
        u[2 * i] = un;
        u[2 * i + 1] = ut;
        bool parted = fabs(rn) < 1e-9 && fabs(rt) < 1e-9 && un > -1e-9;
        bool pressed = fabs(un) < 1e-9 && rn > -1e-9 && fabs(rt) <= mu * rn + 1e-9;
        bool friction = fabs(ut) < 1e-9 || (ut * rt <= 0 && fabs(fabs(rt) - mu * rn) < 1e-9);
        if (!parted && !(pressed && friction))
            return false;
    }
    return true;
}

static void planar_coulomb_equals_enumeration(void **state)
{
    (void)state;
    yk_context *context = make_context();
    stream s = {17};
    int compared = 0;
    for (int trial = 0; trial < 200; trial++) {
        enum { CONTACTS = 3, N = 2 * CONTACTS };
        double *w = random_gram(&s, N, 12, 12), q[N], mu[CONTACTS] = {0.4, 0.4, 0.4}, r[N], u[N];
        for (int k = 0; k < N; k++)
            q[k] = 2 * next_number(&s);
        yk_contact_problem problem;
        assert_int_equal(yk_contact_problem_from_dense(context, 2, CONTACTS, 0, w, q, mu, &problem),
                         YK_OK);
        solve(context, &problem, YK_CONTACT_AUTO, YK_FRICTION_COULOMB, 1e-11, r, u);
        double nearest = INFINITY;
        for (int number = 0; number < 64; number++) {
            double v[N], distance = 0;
            if (!try_case(w, q, 0.4, CONTACTS, number, v))
                continue;
            for (int k = 0; k < N; k++)
                distance = fmax(distance, fabs(v[k] - u[k]));
            nearest = fmin(nearest, distance);
        }
        assert_true(nearest < 1e-7);
        compared += isfinite(nearest);
        yk_contact_problem_destroy(context, &problem);
        free(w);
    }
    assert_int_equal(compared, 200);
    yk_context_destroy(context);
}

/* Boxes in a column, one normal row per interface, masses from light to 1000 times as heavy on
 * top: r_i = weight above. */
enum { BOXES = 10 };

static void make_stack(yk_context *context, yk_contact_problem *problem, double above[BOXES])
{
    double w[BOXES * BOXES] = {0}, q[BOXES], mu[BOXES] = {0}, mass[BOXES];
    for (int i = 0; i < BOXES; i++)
        mass[i] = i == BOXES - 1 ? 1000 : 1;
    for (int i = 0; i < BOXES; i++) { /* interface i is below box i; box i - 1 below it */
        w[i * BOXES + i] = 1 / mass[i] + (i > 0 ? 1 / mass[i - 1] : 0);
        if (i > 0)
            w[i * BOXES + i - 1] = w[(i - 1) * BOXES + i] = -1 / mass[i - 1];
        q[i] = i == 0 ? -9.81 : 0;
        above[i] = 0;
        for (int k = i; k < BOXES; k++)
            above[i] += mass[k];
    }
    assert_int_equal(yk_contact_problem_from_dense(context, 1, BOXES, 0, w, q, mu, problem), YK_OK);
}

static void heavy_stack(void **state)
{
    (void)state;
    yk_context *context = make_context();
    yk_contact_problem problem;
    double above[BOXES], r[BOXES], u[BOXES];
    make_stack(context, &problem, above);
    yk_contact_report report =
        solve(context, &problem, YK_CONTACT_AUTO, YK_FRICTION_COULOMB, 1e-12, r, u);
    assert_true(report.iterations < 40);
    for (int i = 0; i < BOXES; i++)
        assert_relative(r[i], 9.81 * above[i], 1e-8);

    /* Sweeps would need thousands: a loose tolerance tries twenty before the accurate method. */
    int most = report.iterations + 20;
    for (double tolerance = 1e-4; tolerance < 0.05; tolerance *= 10) {
        report = solve(context, &problem, YK_CONTACT_AUTO, YK_FRICTION_COULOMB, tolerance, r, u);
        assert_in_range(report.iterations, 1, most);
    }
    yk_contact_problem_destroy(context, &problem);
    yk_context_destroy(context);
}

/* The limit on the iterations is one for all methods together. */
static void iterations_are_limited(void **state)
{
    (void)state;
    yk_context *context = make_context();
    yk_contact_problem problem;
    double above[BOXES], r[BOXES], u[BOXES];
    make_stack(context, &problem, above);
    const int limits[] = {1, 2, 4};
    for (int i = 0; i < 3; i++) {
        for (double tolerance = 1e-12; tolerance < 1e-3; tolerance *= 1e8) {
            yk_contact_options options = yk_contact_options_default();
            options.tolerance = tolerance;
            options.max_iterations = limits[i];
            yk_contact_report report;
            yk_status status = yk_contact_solve(context, &problem, &options, r, u, &report);
            assert_int_equal(status, YK_NOT_CONVERGED);
            assert_in_range(report.iterations, 1, limits[i]);
        }
    }
    yk_contact_problem_destroy(context, &problem);
    yk_context_destroy(context);
}

/* A mass on the floor hung on a bilateral row: the row takes what it can, the floor the rest is
 * not pulled. */
static void bilateral_rows_are_met(void **state)
{
    (void)state;
    yk_context *context = make_context();
    stream s = {77};
    for (int trial = 0; trial < 10; trial++) {
        yk_contact_problem problem;
        random_problem(context, &s, 3, 5, 4, 25, 0.5, &problem);
        double r[32], u[32];
        for (int m = 0; m < CONE_METHODS; m++) {
            solve(context, &problem, cone_methods[m], YK_FRICTION_COULOMB, 1e-9, r, u);
            for (int k = 15; k < 19; k++)
                assert_near(u[k], 0, 1e-7);
        }
        yk_contact_problem_destroy(context, &problem);
    }
    /* bilateral rows alone are a linear equation */
    const double w[] = {2, 1, 1, 2}, q[] = {3, 3};
    yk_contact_problem problem;
    assert_int_equal(yk_contact_problem_from_dense(context, 3, 0, 2, w, q, NULL, &problem), YK_OK);
    for (int m = 0; m < CONE_METHODS; m++) {
        double r[2], u[2];
        solve(context, &problem, cone_methods[m], YK_FRICTION_COULOMB, 1e-11, r, u);
        assert_near(r[0], -1, 1e-9);
        assert_near(r[1], -1, 1e-9);
    }
    yk_contact_problem_destroy(context, &problem);
    yk_context_destroy(context);
}

/* With mu = 0 the tangential rows have no impulse at any velocity. */
static void frictionless(void **state)
{
    (void)state;
    yk_context *context = make_context();
    stream s = {9};
    yk_contact_problem problem;
    random_problem(context, &s, 3, 6, 0, 20, 0, &problem);
    double r[18], u[18];
    for (int m = 0; m < CONE_METHODS; m++) {
        solve(context, &problem, cone_methods[m], YK_FRICTION_COULOMB, 1e-9, r, u);
        for (int i = 0; i < 6; i++) {
            assert_near(r[3 * i + 1], 0, 1e-12);
            assert_near(r[3 * i + 2], 0, 1e-12);
            assert_true(u[3 * i] > -1e-7 && fabs(u[3 * i] * r[3 * i]) < 1e-7);
        }
    }
    yk_contact_problem_destroy(context, &problem);
    yk_context_destroy(context);
}

/* Spinning and rolling friction: a sphere of radius 1 and mass 1, I = 0.4, that presses with 1
 * and spins or rolls. */
static void rolling_friction(void **state)
{
    (void)state;
    yk_context *context = make_context();
    /* rows N, T1, T2, S, R1, R2 without coupling */
    const int dims[] = {6}, start[] = {0, 1}, columns[] = {0};
    yk_contact_problem problem;
    assert_int_equal(yk_contact_problem_create(context, 1, 1, dims, start, columns, &problem),
                     YK_OK);
    for (int k = 0; k < 6; k++)
        problem.w.value[k * 6 + k] = k < 3 ? 1 : 2.5;
    const double q[] = {-1, 0.2, 0, 1, 3, -4};
    memcpy(problem.q, q, sizeof q);
    problem.mu[0] = 0.5;
    problem.mu_spin = yk_allocate(context, 1, sizeof(double));
    problem.mu_roll = yk_allocate(context, 1, sizeof(double));
    problem.mu_spin[0] = 0.1;
    problem.mu_roll[0] = 0.05;
    for (int m = 0; m < CONE_METHODS; m++) {
        double r[6], u[6];
        solve(context, &problem, cone_methods[m], YK_FRICTION_COULOMB, 1e-11, r, u);
        assert_near(r[0], 1, 1e-9);
        assert_near(r[1], -0.2, 1e-9);  /* sticks */
        assert_near(r[3], -0.1, 1e-9);  /* spins on */
        assert_near(r[4], -0.03, 1e-9); /* rolls on: 0.05 against (3, -4) / 5 */
        assert_near(r[5], 0.04, 1e-9);
        assert_near(u[3], 0.75, 1e-9);
        solve(context, &problem, cone_methods[m], YK_FRICTION_CONVEX_CONE, 1e-11, r, u);
        yk_cone cone = yk_problem_cone(&problem, 0);
        assert_near(u[0], yk_cone_lift(&cone, u), 1e-8); /* the convex problem lifts it */
    }
    yk_contact_problem_destroy(context, &problem);
    yk_context_destroy(context);
}

/* Softness adds to the diagonal: r = -q / (w + c). */
static void softness_yields(void **state)
{
    (void)state;
    yk_context *context = make_context();
    const double w[] = {1}, q[] = {-3}, mu[] = {0};
    yk_contact_problem problem;
    assert_int_equal(yk_contact_problem_from_dense(context, 1, 1, 0, w, q, mu, &problem), YK_OK);
    problem.softness = yk_allocate(context, 1, sizeof(double));
    problem.softness[0] = 0.5;
    for (int m = 0; m < CONE_METHODS; m++) {
        double r[1], u[1];
        solve(context, &problem, cone_methods[m], YK_FRICTION_CONVEX_CONE, 1e-11, r, u);
        assert_near(r[0], 2, 1e-9);
    }
    yk_contact_problem_destroy(context, &problem);
    yk_context_destroy(context);
}

static void nothing_to_solve(void **state)
{
    (void)state;
    yk_context *context = make_context();
    yk_contact_problem problem;
    assert_int_equal(yk_contact_problem_from_dense(context, 3, 0, 0, NULL, NULL, NULL, &problem),
                     YK_OK);
    double r[1] = {0};
    for (int m = 0; m < CONE_METHODS; m++) {
        yk_contact_report report =
            solve(context, &problem, cone_methods[m], YK_FRICTION_COULOMB, 1e-8, r, NULL);
        assert_int_equal(report.iterations, 0);
    }
    yk_contact_problem_destroy(context, &problem);
    yk_context_destroy(context);
}

static void failure_is_reported(void **state)
{
    (void)state;
    yk_context *context = make_context();
    stream s = {2};
    yk_contact_problem problem;
    random_problem(context, &s, 3, 6, 0, 20, 0.5, &problem);
    yk_contact_options options = yk_contact_options_default();
    double r[18], history[4];
    yk_contact_report report;
    options.method = YK_CONTACT_GAUSS_SEIDEL;
    options.max_iterations = 3;
    options.residual_history = history;
    options.residual_history_capacity = 4;
    assert_int_equal(yk_contact_solve(context, &problem, &options, r, NULL, &report),
                     YK_NOT_CONVERGED);
    assert_int_equal(report.iterations, 3);
    assert_int_equal(report.history_count, 3);
    assert_near(history[2], report.residual, 0);
    assert_true(history[2] < history[0]);
    options.relaxation_factor = 2.5;
    assert_int_equal(yk_contact_solve(context, &problem, &options, r, NULL, &report),
                     YK_ERROR_ARGUMENT);
    yk_contact_problem_destroy(context, &problem);
    yk_context_destroy(context);
}

/* Starting from the solution costs nothing. */
static void warm_start_helps(void **state)
{
    (void)state;
    yk_context *context = make_context();
    stream s = {31};
    yk_contact_problem problem;
    random_problem(context, &s, 3, 6, 2, 24, 0.5, &problem);
    yk_contact_options options = yk_contact_options_default();
    options.warm_start = true;
    double r[20] = {0};
    yk_contact_report report;
    for (int m = 0; m < CONE_METHODS; m++) {
        options.method = cone_methods[m];
        options.max_iterations = 0;
        assert_int_equal(yk_contact_solve(context, &problem, &options, r, NULL, &report), YK_OK);
        assert_int_equal(yk_contact_solve(context, &problem, &options, r, NULL, &report), YK_OK);
        assert_int_equal(report.iterations, 0);
    }
    yk_contact_problem_destroy(context, &problem);
    yk_context_destroy(context);
}

/* Box friction by pivoting, by Gauss-Seidel and by Newton. */
static void box_solvers_agree(void **state)
{
    (void)state;
    yk_context *context = make_context();
    stream s = {53};
    for (int trial = 0; trial < 10; trial++) {
        yk_contact_problem problem;
        random_problem(context, &s, 3, 4, trial % 3, 18, 0.2, &problem);
        double r[16], u[16], reference[16];
        solve(context, &problem, YK_CONTACT_PIVOTING, YK_FRICTION_PYRAMID, 1e-10, r, reference);
        solve(context, &problem, YK_CONTACT_GAUSS_SEIDEL, YK_FRICTION_PYRAMID, 1e-10, r, u);
        for (int k = 0; k < problem.row_count; k++)
            assert_near(u[k], reference[k], 1e-7);
        solve(context, &problem, YK_CONTACT_INTERIOR_POINT, YK_FRICTION_PYRAMID, 1e-10, r, u);
        for (int k = 0; k < problem.row_count; k++)
            assert_near(u[k], reference[k], 1e-7);
        yk_contact_problem_destroy(context, &problem);
    }
    yk_context_destroy(context);
}

/* The definition in yoke/contact.h. */
static void default_is_coulomb_friction(void **state)
{
    (void)state;
    yk_contact_options options = yk_contact_options_default();
    assert_int_equal(options.method, YK_CONTACT_AUTO);
    assert_int_equal(options.friction_model, YK_FRICTION_COULOMB);
    assert_true(options.tolerance == 1e-8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_is_coulomb_friction),
        cmocka_unit_test(sliding_block),
        cmocka_unit_test(solvers_agree),
        cmocka_unit_test(accurate_takes_few_steps),
        cmocka_unit_test(planar_coulomb_equals_enumeration),
        cmocka_unit_test(heavy_stack),
        cmocka_unit_test(iterations_are_limited),
        cmocka_unit_test(bilateral_rows_are_met),
        cmocka_unit_test(frictionless),
        cmocka_unit_test(rolling_friction),
        cmocka_unit_test(softness_yields),
        cmocka_unit_test(nothing_to_solve),
        cmocka_unit_test(failure_is_reported),
        cmocka_unit_test(warm_start_helps),
        cmocka_unit_test(box_solvers_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
