/* The constraint of an interface: its rates against differences in time along smooth motions, and
 * its gradient against differences by every coordinate of both sides, for all axes, driven and
 * not. Rows on velocity level have no value of their own: their derivatives are those of the rate by the velocities. */
#include "coupling/constraint.h"

#include "math/polynomial.h"
#include "math/so3.h"
#include "test.h"

/* A motion with all its rates, as a polynomial in time about a turned frame. */
static yk_motion motion_at(double t, double seed)
{
    yk_input path = {.degree = 3,
                     .base_orientation = yk_so3_exp(yk_v3(0.3 * seed, -0.7, 0.2 + seed))};
    for (int i = 0; i <= path.degree; i++) {
        double k = i + 1;
        path.linear[i] = yk_v3(0.5 * sin(k + seed), cos(2 * k * seed), 0.3 * k - seed);
        path.angular[i] =
            i == 0 ? yk_v3(0, 0, 0) : yk_v3(0.4 * cos(k * seed), 0.3 * k, sin(k) - 0.2 * seed);
    }
    return yk_input_motion(&path, YK_PORT_MARKER, t);
}

/* Relative motions of which no two are alike. */
static void swing(void *user, double t, double value[3])
{
    double w = *(double *)user;
    value[0] = 0.5 + 0.2 * sin(w * t);
    value[1] = 0.2 * w * cos(w * t);
    value[2] = -0.2 * w * w * sin(w * t);
}

static double rates[6] = {1.1, 0.7, 1.9, 0.6, 1.3, 0.9};
static const yk_relative_motion drive[6] = {{swing, &rates[0]}, {swing, &rates[1]},
                                            {swing, &rates[2]}, {swing, &rates[3]},
                                            {swing, &rates[4]}, {swing, &rates[5]}};

static const struct {
    unsigned constrained;
    const yk_relative_motion *drive;
} cases[] = {
    {YK_AXIS_X | YK_AXIS_Y | YK_AXIS_Z, NULL},
    {YK_AXES_ALL, NULL},
    {YK_AXES_ALL & ~(unsigned)YK_AXIS_RZ, NULL},
    {YK_AXIS_Y | YK_AXIS_Z | YK_AXIS_RY, NULL},
    {YK_AXIS_Z, NULL},
    {YK_AXIS_RX | YK_AXIS_RY | YK_AXIS_RZ, NULL},
    {YK_AXIS_DISTANCE, drive},
    {YK_AXES_ALL, drive},
    {YK_AXIS_X | YK_AXIS_Y | YK_AXIS_Z, drive},
    {YK_AXIS_Z | YK_AXIS_RX, drive},
    {YK_AXIS_KNIFE_EDGE, NULL},
    {YK_AXIS_ROLLING, NULL},
};
enum { CASES = sizeof cases / sizeof *cases };

static void values_of(const yk_constraint *constraint, double t, const yk_motion *a,
                      const yk_motion *b, double g[YK_LEVELS][YK_JOINT_ROWS_MAX])
{
    yk_constraint_kinematics place;
    yk_constraint_kinematics_at(constraint, t, a, b, &place);
    yk_constraint_value(constraint, &place, g);
}

/* The lowest level of a row. */
static int first_level(const yk_constraint *constraint, int row)
{
    return yk_row_on_velocity(&constraint->row[row]) ? 1 : 0;
}

static void rates_are_those_of_the_values(void **state)
{
    (void)state;
    const double t = 0.4, dt = 3e-5;
    for (int c = 0; c < CASES; c++) {
        yk_constraint constraint =
            yk_constraint_make(YK_PORT_MARKER, cases[c].constrained, cases[c].drive);
        double g[3][YK_LEVELS][YK_JOINT_ROWS_MAX];
        for (int i = 0; i < 3; i++) {
            double at = t + (i - 1) * dt;
            yk_motion a = motion_at(at, 0.8), b = motion_at(at, 1.7);
            values_of(&constraint, at, &a, &b, g[i]);
        }
        for (int row = 0; row < constraint.row_count; row++)
            for (int level = first_level(&constraint, row); level + 1 < YK_LEVELS; level++)
                assert_near(g[1][level + 1][row], (g[2][level][row] - g[0][level][row]) / (2 * dt),
                            1e-6);
    }
}

/* Moves one of the 18 coordinates: per level three of the origin and three of the rotation about
 * the global axes. */
static yk_motion moved(const yk_motion *motion, int coordinate, double by)
{
    yk_motion m = *motion;
    double change[3] = {0, 0, 0};
    change[coordinate % 3] = by;
    yk_vec3 d = yk_v3(change[0], change[1], change[2]);
    switch (coordinate / 3) {
    case 0: m.position = yk_v3_add(m.position, d); break;
    case 1: m.orientation = yk_q_mul(yk_so3_exp(d), m.orientation); break;
    case 2: m.velocity = yk_v3_add(m.velocity, d); break;
    case 3: m.angular_velocity = yk_v3_add(m.angular_velocity, d); break;
    case 4: m.acceleration = yk_v3_add(m.acceleration, d); break;
    default: m.angular_acceleration = yk_v3_add(m.angular_acceleration, d); break;
    }
    return m;
}

static void the_gradient_is_that_of_the_values(void **state)
{
    (void)state;
    const double t = 0.4, step = 1e-5;
    const yk_motion sides[2] = {motion_at(t, 0.8), motion_at(t, 1.7)};
    for (int c = 0; c < CASES; c++) {
        yk_constraint constraint =
            yk_constraint_make(YK_PORT_MARKER, cases[c].constrained, cases[c].drive);
        yk_constraint_kinematics place;
        yk_constraint_gradient gradient;
        yk_constraint_kinematics_at(&constraint, t, &sides[0], &sides[1], &place);
        yk_constraint_differentiate(&constraint, &place, &gradient);

        /* Without accelerations the other derivatives have a closed form, which agrees up to
         * rounding errors. */
        yk_constraint_gradient first;
        yk_constraint_differentiate_levels(&constraint, &place, 2, &first);
        for (int side = 0; side < 2; side++) {
            for (int level = 0; level < YK_LEVELS; level++)
                for (int row = 0; row < constraint.row_count; row++)
                    for (int k = 0; k < YK_MARKER_COORDINATES; k++) {
                        double expected = level < 2 ? gradient.by[side][level][row][k] : 0;
                        assert_near(first.by[side][level][row][k], expected, 1e-14);
                    }
        }

        for (int side = 0; side < 2; side++)
            for (int k = 0; k < YK_MARKER_COORDINATES; k++) {
                double g[2][YK_LEVELS][YK_JOINT_ROWS_MAX];
                for (int i = 0; i < 2; i++) {
                    yk_motion both[2] = {sides[0], sides[1]};
                    both[side] = moved(&sides[side], k, i == 0 ? -step : step);
                    values_of(&constraint, t, &both[0], &both[1], g[i]);
                }
                for (int row = 0; row < constraint.row_count; row++)
                    for (int level = first_level(&constraint, row); level < YK_LEVELS; level++)
                        assert_near(gradient.by[side][level][row][k],
                                    (g[1][level][row] - g[0][level][row]) / (2 * step), 2e-8);
            }
    }
}

static void slip_follows_positions_as_its_rate_follows_velocities(void **state)
{
    (void)state;
    const unsigned joints[] = {YK_AXIS_KNIFE_EDGE, YK_AXIS_ROLLING};
    const yk_motion a = motion_at(0.4, 0.8), b = motion_at(0.4, 1.7);
    for (int i = 0; i < 2; i++) {
        yk_constraint constraint = yk_constraint_make(YK_PORT_MARKER, joints[i], NULL);
        yk_constraint_kinematics place;
        yk_constraint_kinematics_at(&constraint, 0.4, &a, &b, &place);
        for (int row = 0; row < YK_SLIP_ROWS; row++)
            place.slip[row] = 0.1 * (row + 1);
        double g[YK_LEVELS][YK_JOINT_ROWS_MAX];
        yk_constraint_gradient gradient;
        yk_constraint_value(&constraint, &place, g);
        yk_constraint_differentiate(&constraint, &place, &gradient);
        for (int row = 0; row < constraint.row_count; row++) {
            if (first_level(&constraint, row) == 0)
                continue;
            assert_true(g[0][row] == place.slip[row]);
            for (int side = 0; side < 2; side++)
                for (int k = 0; k < 6; k++)
                    assert_true(gradient.by[side][0][row][k] == gradient.by[side][1][row][6 + k]);
        }
    }
}

/* A unit multiplier gives wrenches whose power is the rate of its row, for every motion. */
static void wrenches_do_the_work_of_their_rows(void **state)
{
    (void)state;
    const yk_motion a = motion_at(0.4, 0.8), b = motion_at(0.4, 1.7);
    for (int c = 0; c < CASES; c++) {
        yk_constraint constraint =
            yk_constraint_make(YK_PORT_MARKER, cases[c].constrained, cases[c].drive);
        yk_constraint_kinematics place;
        yk_constraint_gradient gradient;
        yk_constraint_kinematics_at(&constraint, 0.4, &a, &b, &place);
        yk_constraint_differentiate(&constraint, &place, &gradient);
        for (int row = 0; row < constraint.row_count; row++) {
            yk_wrench wrench[2];
            yk_constraint_unit_wrenches(&constraint, &place, row, wrench);
            for (int side = 0; side < 2; side++) {
                const double *by = gradient.by[side][0][row];
                const double components[6] = {wrench[side].force.x,  wrench[side].force.y,
                                              wrench[side].force.z,  wrench[side].torque.x,
                                              wrench[side].torque.y, wrench[side].torque.z};
                /* The force of points that coincide acts at B's own origin: exact where they do. */
                bool held = constraint.row[row].kind != YK_ROW_POINT || side == 0;
                for (int k = 0; k < 6 && held; k++)
                    assert_near(components[k], by[k], 1e-12);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_those_of_the_values),
        cmocka_unit_test(the_gradient_is_that_of_the_values),
        cmocka_unit_test(slip_follows_positions_as_its_rate_follows_velocities),
        cmocka_unit_test(wrenches_do_the_work_of_their_rows),
    };
    return cmocka_run_group_tests_name("constraint", tests, NULL, NULL);
}
