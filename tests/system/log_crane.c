/* The log crane (models/log-crane), run from its scenario: it holds its position, grasps the log,
 * follows the commanded velocities, and does not lose the log. */
#include <string.h>

#include "scenario_run.h"

/* Signals in the order of the scenario. */
enum {
    BOOM,
    BOOM_RATE,
    BOOM_FORCE,
    STICK,
    STICK_RATE,
    STICK_FORCE,
    SPOOLS,
    LOG = SPOOLS + 2,
    FRAME = LOG + 3
};

/* 18 bodies of the crane and the log; 22 joints, the lock of the extension and the drive of the
 * claws. */
static void counts_are_those_of_the_paper(void **state)
{
    (void)state;
    const char *const overrides[] = {"time.step=2e-3", NULL};
    run c = open_run("log-crane/scenario.yaml", overrides);
    const yk_subsystem *mechanism = c.info->subsystems[2];
    const yk_channel *channels;
    int count = mechanism->ops->channels->list(mechanism, &channels), bodies = 0, torques = 0;
    for (int i = 0; i < count; i++) {
        const char *ending = strrchr(channels[i].name, '.');
        bodies += ending && strcmp(ending, ".orientation") == 0;
        torques += ending && strcmp(ending, ".torque") == 0 &&
                   strcmp(channels[i].name, "base.torque") != 0;
    }
    assert_int_equal(bodies, 19);
    assert_int_equal(torques, 22 + 2);
    close_run(&c);
}

static void the_log_is_lifted(void **state)
{
    (void)state;
    const char *const overrides[] = {"time.step=2e-3", NULL};
    run c = open_run("log-crane/scenario.yaml", overrides);
    const double *s = c.sample;
    double boom = s[BOOM], stick = s[STICK], x = s[LOG], z = s[LOG + 2];
    /* The openings that the scenario names hold the empty gripper. */
    run_to(&c, 2.9);
    assert_near(s[BOOM], boom, 1e-5);
    assert_near(s[STICK], stick, 1e-5);
    assert_near(s[LOG + 2], z, 1e-3);
    run_to(&c, 5);
    assert_near(s[LOG], x, 2e-3);
    /* On the way with the velocities of (54); the log hangs 0.5 m below the middle of the
     * gripper's frame. */
    for (double t = 6.8; t < 7.3; t += 0.1) {
        run_to(&c, t);
        assert_near(s[BOOM_RATE], -0.05, 1.5e-3);
        assert_near(s[STICK_RATE], -0.02, 1.5e-3);
        double down = s[FRAME + 2] - s[LOG + 2], aside = s[FRAME] - s[LOG];
        assert_near(hypot(down, aside), 0.5, 5e-3);
        assert_near(s[LOG + 1], 0, 1e-3);
    }
    assert_true(s[LOG + 2] > z + 0.6);
    assert_true(s[SPOOLS] > 0.5 && s[SPOOLS] < 0.6);
    close_run(&c);
}

/* Cylinders that take motion only and controllers in the loop, at ten times the step. */
static void index1_lifts_it_too(void **state)
{
    (void)state;
    const char *const overrides[] = {"coupling.scheme=index1", "time.step=2e-2", NULL};
    run c = open_run("log-crane/scenario.yaml", overrides);
    run_to(&c, 2.9);
    double boom = c.sample[BOOM], z = c.sample[LOG + 2];
    run_to(&c, 7);
    assert_near(c.sample[BOOM_RATE], -0.05, 1.5e-3);
    assert_near(c.sample[STICK_RATE], -0.02, 1.5e-3);
    assert_true(c.sample[LOG + 2] > z + 0.4 && c.sample[BOOM] < boom - 0.05);
    yk_scheme_statistic counted[YK_SCHEME_STATISTICS_MAX];
    assert_int_equal(yk_system_scheme_statistics(c.system, counted), 2);
    assert_string_equal(counted[0].name, "coupling Jacobians");
    assert_in_range((int)counted[0].value, 1, 10);
    close_run(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_the_paper),
        cmocka_unit_test(the_log_is_lifted),
        cmocka_unit_test(index1_lifts_it_too),
    };
    return cmocka_run_group_tests_name("log crane", tests, NULL, NULL);
}
