/* Problems formulated in the velocities of the bodies: condensation to contact space, and reading
 * from text. */
#include "contact/problem.h"

#include <math.h>

#include "contact/problems.h"
#include "contact/read.h"
#include "contact/solver.h"

enum { N = 12, CONTACTS = 3, JOINTS = 2, ROWS = 3 * CONTACTS + JOINTS };

static void append(yk_entry_matrix *m, int row, int column, double value)
{
    m->entry[m->count++] = (yk_matrix_entry){row, column, value};
}

/* x = A^-1 b by elimination; A is positive definite. */
static void solve_dense(double a[N][N], double *x)
{
    for (int k = 0; k < N; k++) {
        for (int r = k + 1; r < N; r++) {
            double factor = a[r][k] / a[k][k];
            for (int c = k; c < N; c++)
                a[r][c] -= factor * a[k][c];
            x[r] -= factor * x[k];
        }
    }
    for (int k = N - 1; k >= 0; k--) {
        for (int c = k + 1; c < N; c++)
            x[k] -= a[k][c] * x[c];
        x[k] /= a[k][k];
    }
}

/* For any impulses the condensed rows move as the bodies do. */
static void condensed_rows_move_as_bodies(void **state)
{
    (void)state;
    yk_context *context = make_context();
    stream s = {7};
    yk_global_problem p = {.dim = 3, .contact_count = CONTACTS};
    p.m = (yk_entry_matrix){N, N, 0, yk_allocate(context, 4 * N, sizeof *p.m.entry)};
    p.h = (yk_entry_matrix){N, 3 * CONTACTS, 0, yk_allocate(context, N * ROWS, sizeof *p.h.entry)};
    p.g = (yk_entry_matrix){N, JOINTS, 0, yk_allocate(context, N * ROWS, sizeof *p.g.entry)};
    p.f = yk_allocate(context, N, sizeof *p.f);
    p.w = yk_allocate(context, 3 * CONTACTS, sizeof *p.w);
    p.b = yk_allocate(context, JOINTS, sizeof *p.b);
    p.mu = yk_allocate(context, CONTACTS, sizeof *p.mu);

    /* A mass matrix with neighbours coupled, its diagonal in two parts. */
    double mass[N][N] = {{0}}, j[N][ROWS] = {{0}};
    for (int i = 0; i < N; i++) {
        append(&p.m, i, i, 2);
        append(&p.m, i, i, 0.5 * i);
        mass[i][i] = 2 + 0.5 * i;
        if (i > 0) {
            append(&p.m, i, i - 1, 0.7);
            append(&p.m, i - 1, i, 0.7);
            mass[i][i - 1] = mass[i - 1][i] = 0.7;
        }
        p.f[i] = next_number(&s);
        for (int c = 0; c < ROWS; c++) {
            if ((i + c) % 3 == 0)
                continue;
            j[i][c] = next_number(&s);
            if (c < 3 * CONTACTS)
                append(&p.h, i, c, j[i][c]);
            else
                append(&p.g, i, c - 3 * CONTACTS, j[i][c]);
        }
    }
    double own[ROWS], r[ROWS];
    for (int c = 0; c < ROWS; c++) {
        own[c] = next_number(&s);
        r[c] = next_number(&s);
        if (c < 3 * CONTACTS)
            p.w[c] = own[c];
        else
            p.b[c - 3 * CONTACTS] = own[c];
    }
    p.mu[1] = 0.4;

    yk_contact_problem problem;
    assert_int_equal(yk_global_condense(context, &p, &problem), YK_OK);
    assert_int_equal(yk_contact_problem_check(context, &problem), YK_OK);
    assert_int_equal(problem.contact_count, CONTACTS);
    assert_int_equal(problem.row_count, ROWS);
    assert_near(problem.mu[1], 0.4, 0);

    double v[N], u[ROWS];
    for (int i = 0; i < N; i++) {
        v[i] = p.f[i];
        for (int c = 0; c < ROWS; c++)
            v[i] += j[i][c] * r[c];
    }
    solve_dense(mass, v);
    yk_contact_multiply(&problem, r, u);
    for (int c = 0; c < ROWS; c++) {
        double expected = own[c];
        for (int i = 0; i < N; i++)
            expected += j[i][c] * v[i];
        assert_near(u[c] + problem.q[c], expected, 1e-13);
    }
    yk_contact_problem_destroy(context, &problem);

    /* Sizes that do not fit, and a mass that is none. */
    p.contact_count = 2;
    assert_int_equal(yk_global_condense(context, &p, &problem), YK_ERROR_ARGUMENT);
    p.contact_count = CONTACTS;
    for (size_t k = 0; k < p.m.count; k++)
        if (p.m.entry[k].row == 3 || p.m.entry[k].column == 3)
            p.m.entry[k].value = 0;
    assert_int_equal(yk_global_condense(context, &p, &problem), YK_ERROR_SINGULAR);
    assert_non_null(strstr(yk_last_message(context), "mass matrix"));
    yk_global_destroy(context, &p);
    yk_context_destroy(context);
}

static void solve(yk_context *context, const char *text, double *r, double *u)
{
    yk_contact_problem problem;
    if (yk_contact_parse(context, "text", text, strlen(text), &problem) != YK_OK)
        fail_msg("%s", yk_last_message(context));
    yk_contact_options options = yk_contact_options_default();
    options.method = YK_CONTACT_INTERIOR_POINT;
    options.friction_model = YK_FRICTION_COULOMB;
    options.tolerance = 1e-10;
    yk_contact_report report;
    assert_int_equal(yk_contact_solve(context, &problem, &options, r, u, &report), YK_OK);
    yk_contact_problem_destroy(context, &problem);
}

/* A mass of 2 kg that falls on a plane with 3 m/s and slides with 4 m/s, in its velocities (x, z):
 * the impulse stops the fall, and friction takes mu times as much. M dense, H in blocks. */
static void falling_mass(void **state)
{
    (void)state;
    yk_context *context = make_context();
    double r[2], u[2];
    solve(context,
          "2 1\n0 2 2\n2 2\n2 0 0 2\n1 2 2\n1 1 1\n2\n2\n2 1\n0 1\n0\n0\n0 1 1 0\n8 -6\n0 0\n0.5\n",
          r, u);
    assert_near(r[0], 6, 1e-8);
    assert_near(r[1], -3, 1e-8);
    assert_near(u[0], 0, 1e-8);
    assert_near(u[1], 4 - 1.5, 1e-8);
    yk_context_destroy(context);
}

/* One contact with W = diag(1, 2, 2, 4, 4) that approaches with 1 and rolls with 4 or 0.1: the torque
 * is cut at mu_r times the impulse, or stops the rolling. */
static void rolling_contact(void **state)
{
    (void)state;
    yk_context *context = make_context();
    static const double speeds[] = {4, 0.1};
    for (int i = 0; i < 2; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "5 1\n0 5 5\n5 5\n1 0 0 0 0 0 2 0 0 0 0 0 2 0 0 0 0 0 4 0 0 0 0 0 4\n"
                 "-1 0 0 0 %g\n0.5\n0.2\n",
                 speeds[i]);
        double r[6], u[6];
        solve(context, text, r, u);
        double torque = fmin(0.2, speeds[i] / 4);
        assert_near(r[0], 1, 1e-8);
        assert_near(r[3], 0, 1e-12);
        assert_near(r[5], -torque, 1e-8);
        assert_near(u[5], speeds[i] - 4 * torque, 1e-8);
    }
    yk_context_destroy(context);
}

static void other_kinds_are_named(void **state)
{
    (void)state;
    yk_context *context = make_context();
    yk_contact_problem problem;
    static const struct {
        const char *text, *expected;
    } files[] = {
        {"4 1\n0 4 4\n4 4\n", "expected 2, 3 or 5"},
        {"2 1\n0 3 3\n3 3\n1 0 0 0 1 0 0 0 1\n1 2 3\n", "no matrix H follows"},
        {"2 1\n0 3 3\n3 3\n1 0 0 0 1 0 0 0 1\n0 3 2\n3 2\n1 0 0 0 1 0\n1 2 3\n1 2\n", "mu"},
        {"3 2\n2 6 6\n0\ntriplet: 6-by-6, nzmax: 1 nnz: 1\n0 0 : 1\n1 2 3 4 5 6\n0.1 0.2\n0.3 "
         "0.4\n",
         "RFC2D"},
        {"5 1\n0 5 5\n5 5\n1 0 0 0 0 0 2 0 0 0 0 0 2 0 0 0 0 0 4 0 0 0 0 0 4\n-1 0 0 0 1\n0.5\n",
         "mu_r"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t length = strlen(files[i].text);
        yk_status status = yk_contact_parse(context, "bad", files[i].text, length, &problem);
        assert_int_equal(status, YK_ERROR_INPUT);
        if (!strstr(yk_last_message(context), files[i].expected))
            fail_msg("'%s' lacks '%s'", yk_last_message(context), files[i].expected);
    }
    yk_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(condensed_rows_move_as_bodies),
        cmocka_unit_test(falling_mass),
        cmocka_unit_test(rolling_contact),
        cmocka_unit_test(other_kinds_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
