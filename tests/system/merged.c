/* Schemes that merge the subsystems to one: channels and feedbacks of each stay its own. */
#include <math.h>

#include "scenario_run.h"

/* Two bodies of one name that nothing joins, each braked in proportion to its own speed: v = v0 exp(-d t). */
static const char brakes[] =
    "title: brakes\n"
    "time: {end: 1, step: 1e-3}\n"
    "subsystems:\n"
    "  left:\n"
    "    solver: smooth\n"
    "    integrator: {type: generalised-alpha, form: ode}\n"
    "    bodies: {block: {mass: 1, inertia: [1, 1, 1], velocity: [1, 0, 0]}}\n"
    "    forces:\n"
    "      brake: {type: force, on: block, vector: [1, 0, 0],\n"
    "              feedback: {inputs: {v: block.velocity.x}, value: -2*v}}\n"
    "  right:\n"
    "    solver: smooth\n"
    "    integrator: {type: generalised-alpha, form: ode}\n"
    "    bodies: {wheel: {mass: 1, inertia: [1, 1, 1]}, block: {mass: 1, inertia: [1, 1, 1], velocity: [3, 0, 0]}}\n"
    "    forces:\n"
    "      brake: {type: force, on: block, vector: [1, 0, 0],\n"
    "              feedback: {inputs: {v: block.velocity.x}, value: -0.5*v*(1 + 0*t)}}\n"
    "coupling: {scheme: explicit}\n"
    "record: {signals: [left.block.velocity.x, right.block.velocity.x, right.wheel.position.x, left.energy, "
    "right.energy]}\n";

static void check_brakes(const char *coupling)
{
    const char *const overrides[] = {coupling, NULL};
    run r = open_text("brakes", brakes, overrides);
    run_to(&r, 1);
    assert_near(r.sample[0], exp(-2), 1e-6);
    assert_near(r.sample[1], 3 * exp(-0.5), 1e-6);
    assert_near(r.sample[2], 0, 1e-15);
    close_run(&r);
}

static void each_feedback_reads_its_own_subsystem(void **state)
{
    (void)state;
    check_brakes("coupling.scheme=explicit");
    check_brakes("coupling.scheme=monolithic");
    check_brakes("coupling.scheme=relaxed");
    check_brakes("coupling={scheme: relaxed, order: jacobi, threads: 2}");
}

/* The slider-crank in one subsystem and in two that are merged: every channel that both have. */
static void channels_show_the_parts(void **state)
{
    (void)state;
    const char *const whole_set[] = {
        "time.step=1e-3", "subsystems.mechanism.integrator={type: generalised-alpha, form: ode, newton_relative: 1e-9}",
        "record.signals=[mechanism.rod.velocity, mechanism.bearing.torque, mechanism.ball.force, "
        "mechanism.slider.orientation, mechanism.slider.acceleration, mechanism.guide.force]",
        NULL};
    static const char *const schemes[] = {
        "coupling={scheme: monolithic}", "coupling={scheme: relaxed, tolerance: 1e-11}",
        "coupling={scheme: relaxed, order: jacobi, tolerance: 1e-11, iterations: 60}"};
    run whole = open_run("slider-crank/scenario.yaml", whole_set);
    run_to(&whole, 0.2);
    for (int k = 0; k < 3; k++) {
        const char *const set[] = {"time.step=1e-3",
                                   schemes[k],
                                   "subsystems.linkage.integrator.newton_relative=1e-9",
                                   "subsystems.sledge.integrator.newton_relative=1e-9",
                                   "record.signals=[linkage.rod.velocity, linkage.bearing.torque, linkage.ball.force, "
                                   "sledge.slider.orientation, sledge.slider.acceleration, sledge.guide.force]",
                                   NULL};
        run parts = open_run("relaxed-slider-crank/scenario.yaml", set);
        assert_int_equal(parts.info->sample_size, whole.info->sample_size);
        run_to(&parts, 0.2);
        for (int i = 0; i < whole.info->sample_size; i++) assert_near(parts.sample[i], whole.sample[i], 1e-6);
        close_run(&parts);
    }
    close_run(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_feedback_reads_its_own_subsystem),
                                       cmocka_unit_test(channels_show_the_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
