/* Dependent rows against the singular values of the dense matrix: random mechanisms of bodies on
 * joints, with trees, loops, planar and spatial parts, in any unit and any order. */
#include "math/dependence.h"

#include <lapacke.h>
#include <stdlib.h>
#include <string.h>

#include "math/vec3.h"
#include "test.h"
#include "the_context.h"

enum { BODIES = 12, ROWS = 160, COLUMNS = 6 * BODIES };

static uint64_t random_state;

static double random_number(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) / (double)(1ull << 52) - 1;
}

static int random_below(int n)
{
    return (int)((random_number() + 1) / 2 * n) % n;
}

static yk_vec3 random_vector(double size)
{
    double x = size * random_number(), y = size * random_number();
    return yk_v3(x, y, size * random_number());
}

typedef struct mechanism {
    double matrix[ROWS * COLUMNS]; /* row by row */
    int rows, bodies;
    yk_vec3 position[BODIES];
    double unit; /* of length */
} mechanism;

/* Body -1 is the ground. */
static void add_entries(mechanism *m, int body, double sign, yk_vec3 force, yk_vec3 torque)
{
    if (body < 0)
        return;
    double *row = m->matrix + m->rows * COLUMNS + 6 * body;
    const double value[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
    for (int k = 0; k < 6; k++)
        row[k] += sign * value[k];
}

static void add_row(mechanism *m, int a, int b, yk_vec3 at, yk_vec3 force, yk_vec3 torque)
{
    assert_true(m->rows < ROWS);
    double scale = pow(10, 3 * random_number());
    force = yk_v3_scale(scale, force), torque = yk_v3_scale(scale, torque);
    for (int side = 0; side < 2; side++) {
        int body = side ? b : a;
        if (body < 0)
            continue;
        /* Arms in the unit of length, and rotations as arcs of it. */
        yk_vec3 arm = yk_v3_sub(at, m->position[body]);
        yk_vec3 moment = yk_v3_scale(1 / m->unit, yk_v3_cross(arm, force));
        add_entries(m, body, side ? 1 : -1, force, yk_v3_add(moment, torque));
    }
    m->rows++;
}

/* A joint at a point with `rotations` constrained about axes that are normal to z, and about z. */
static void add_joint(mechanism *m, int a, int b, yk_vec3 at, yk_vec3 z, int rotations)
{
    const yk_vec3 none = {0, 0, 0};
    for (int k = 0; k < 3; k++)
        add_row(m, a, b, at, yk_v3(k == 0, k == 1, k == 2), none);
    yk_vec3 x, y;
    yk_v3_tangents(z, &x, &y);
    if (rotations > 0)
        add_row(m, a, b, at, none, x);
    if (rotations > 1)
        add_row(m, a, b, at, none, y);
    if (rotations > 2)
        add_row(m, a, b, at, none, z);
}

static void random_mechanism(mechanism *m)
{
    memset(m, 0, sizeof *m);
    m->bodies = 2 + random_below(BODIES - 2);
    m->unit = pow(10, 3 * random_number());
    yk_vec3 normal = yk_v3_unit(random_vector(1));
    bool planar = random_below(2);
    for (int i = 0; i < m->bodies; i++) {
        yk_vec3 p = random_vector(m->unit);
        if (planar)
            p = yk_v3_sub(p, yk_v3_scale(yk_v3_dot(p, normal), normal));
        m->position[i] = p;
    }
    /* A tree, then joints that close loops. */
    int joints = m->bodies + random_below(5);
    for (int j = 0; j < joints; j++) {
        int b = j < m->bodies ? j : random_below(m->bodies);
        int a = j < m->bodies ? random_below(j + 1) - 1 : random_below(m->bodies + 1) - 1;
        if (a == b)
            continue;
        yk_vec3 at = random_vector(m->unit);
        if (planar)
            at = yk_v3_sub(at, yk_v3_scale(yk_v3_dot(at, normal), normal));
        yk_vec3 axis = planar || random_below(3) == 0 ? normal : yk_v3_unit(random_vector(1));
        add_joint(m, a, b, at, axis, planar ? 2 : random_below(4));
    }
    /* A row of zeros: a joint between ground and ground. */
    if (random_below(4) == 0)
        m->rows++;
}

static yk_dependence find_dependence(const mechanism *m)
{
    static yk_matrix_entry entries[ROWS * COLUMNS];
    int group[COLUMNS], number[BODIES];
    size_t count = 0;
    /* Groups are numbered in any order. */
    for (int i = 0; i < BODIES; i++)
        number[i] = (5 * i + 3) % BODIES;
    for (int c = 0; c < COLUMNS; c++) {
        group[c] = number[c / 6];
        for (int r = 0; r < m->rows; r++)
            if (m->matrix[r * COLUMNS + c] != 0)
                entries[count++] = (yk_matrix_entry){r, c, m->matrix[r * COLUMNS + c]};
    }
    yk_dependence_def def = {.rows = m->rows,
                             .columns = COLUMNS,
                             .entries = entries,
                             .entry_count = count,
                             .group = group,
                             .group_count = BODIES,
                             .tolerance = 1e-6};
    yk_dependence found;
    assert_int_equal(yk_dependence_find(context, &def, &found), YK_OK);
    return found;
}

/* The rank by singular values of the matrix with unit rows, and which rows have a part in the left
 * null space. False if the rank is a matter of opinion. */
static bool dense_dependence(const mechanism *m, int *count, bool part[ROWS])
{
    static double a[ROWS * COLUMNS], u[ROWS * ROWS], value[ROWS], vt[1], work[ROWS];
    memset(a, 0, sizeof a);
    for (int r = 0; r < m->rows; r++) {
        double square = 0;
        for (int c = 0; c < COLUMNS; c++)
            square += m->matrix[r * COLUMNS + c] * m->matrix[r * COLUMNS + c];
        for (int c = 0; c < COLUMNS && square > 0; c++)
            a[r * COLUMNS + c] = m->matrix[r * COLUMNS + c] / sqrt(square);
    }
    memset(value, 0, sizeof value);
    assert_int_equal(LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'A', 'N', m->rows, COLUMNS, a, COLUMNS, value,
                                    u, m->rows, vt, 1, work),
                     0);
    int rank = 0;
    while (rank < m->rows && value[rank] > 1e-9)
        rank++;
    *count = m->rows - rank;
    for (int r = 0; r < m->rows; r++) {
        double square = 0;
        for (int k = rank; k < m->rows; k++)
            square += u[r * m->rows + k] * u[r * m->rows + k];
        part[r] = sqrt(square) > 1e-5;
    }
    return rank == 0 || value[rank - 1] > 1e-3;
}

/* Without the chosen rows the others are independent, and far enough from being dependent. */
static void assert_without_dependence(const mechanism *m, const yk_dependence *found)
{
    static mechanism rest;
    rest = *m;
    rest.rows = 0;
    for (int r = 0; r < m->rows; r++) {
        if (found->chosen[r])
            continue;
        memmove(rest.matrix + rest.rows * COLUMNS, m->matrix + r * COLUMNS,
                COLUMNS * sizeof *m->matrix);
        rest.rows++;
    }
    assert_int_equal(m->rows - rest.rows, found->count);
    if (rest.rows == 0)
        return;
    int count = 0;
    bool part[ROWS];
    dense_dependence(&rest, &count, part);
    assert_int_equal(count, 0);
    yk_dependence again = find_dependence(&rest);
    assert_int_equal(again.count, 0);
    yk_dependence_release(context, &again);
}

static void random_mechanisms_agree_with_singular_values(void **state)
{
    (void)state;
    int compared = 0, redundant = 0;
    for (int trial = 0; trial < 400; trial++) {
        static mechanism m;
        random_state = (uint64_t)trial + 1;
        random_mechanism(&m);
        int count = 0;
        bool part[ROWS];
        if (!dense_dependence(&m, &count, part))
            continue;
        yk_dependence found = find_dependence(&m);
        assert_int_equal(found.count, count);
        for (int r = 0; r < m.rows; r++)
            assert_int_equal(found.part[r] > 1e-5, part[r]);
        assert_without_dependence(&m, &found);
        yk_dependence_release(context, &found);
        compared++;
        redundant += count > 0;
    }
    assert_true(compared > 300);
    assert_true(redundant > 100 && redundant < compared - 50);
}

/* Bodies on clamps in a row, one meter apart: the constraints on the last body seen from the ground
 * become ever weaker, and no equation is redundant. A clamp to the ground at the end makes six. */
static void long_chains_are_not_redundant(void **state)
{
    (void)state;
    enum { LINKS = 20000 };
    for (int closed = 0; closed < 2; closed++) {
        int joints = LINKS + closed;
        yk_matrix_entry *entries = calloc((size_t)joints * 36, sizeof *entries);
        int *group = calloc(6 * LINKS, sizeof *group);
        size_t count = 0;
        for (int c = 0; c < 6 * LINKS; c++)
            group[c] = c / 6;
        for (int j = 0; j < joints; j++)
            for (int side = 0; side < 2; side++) {
                int body = j - 1 + side;
                if (body < 0 || body >= LINKS)
                    continue;
                double sign = side ? 1 : -1, arm = side ? -0.5 : 0.5;
                for (int k = 0; k < 3; k++) {
                    entries[count++] = (yk_matrix_entry){6 * j + k, 6 * body + k, sign};
                    entries[count++] = (yk_matrix_entry){6 * j + 3 + k, 6 * body + 3 + k, sign};
                }
                /* A force along y or z at (arm, 0, 0) turns about z or y. */
                entries[count++] = (yk_matrix_entry){6 * j + 1, 6 * body + 5, sign * arm};
                entries[count++] = (yk_matrix_entry){6 * j + 2, 6 * body + 4, -sign * arm};
            }
        yk_dependence_def def = {.rows = 6 * joints,
                                 .columns = 6 * LINKS,
                                 .entries = entries,
                                 .entry_count = count,
                                 .group = group,
                                 .group_count = LINKS,
                                 .tolerance = 1e-6};
        yk_dependence found;
        assert_int_equal(yk_dependence_find(context, &def, &found), YK_OK);
        assert_int_equal(found.count, 6 * closed);
        yk_dependence_release(context, &found);
        free(entries);
        free(group);
    }
}

static void nothing_depends_on_nothing(void **state)
{
    (void)state;
    yk_dependence_def def = {.tolerance = 1e-6};
    yk_dependence found;
    assert_int_equal(yk_dependence_find(context, &def, &found), YK_OK);
    assert_int_equal(found.count, 0);
    yk_dependence_release(context, &found);
    /* Rows without columns are all redundant. */
    def.rows = 3;
    assert_int_equal(yk_dependence_find(context, &def, &found), YK_OK);
    assert_int_equal(found.count, 3);
    assert_near(found.part[1], 1, 0);
    assert_true(found.chosen[0] && found.chosen[1] && found.chosen[2]);
    yk_dependence_release(context, &found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_mechanisms_agree_with_singular_values),
        cmocka_unit_test(long_chains_are_not_redundant),
        cmocka_unit_test(nothing_depends_on_nothing),
    };
    return cmocka_run_group_tests_name("dependence", tests, open_context, close_context);
}
