/* The order of the scheme index1 is the smaller one of the order of its polynomials and the order
 * of the solvers. The order of the scheme tight is that of the solvers, at most 2, for any number
 * of substeps. Models: two bodies that rotate in space, split at every kind of joint, with all
 * integrators and degrees, and an arm on a hydraulic cylinder. The reference is the integrator of
 * order 8 with cubic polynomials, with an error below 1e-12 m. */
#include <stdlib.h>

#include "math/vec3.h"
#include "scenario_run.h"

static const char bodies[] =
    "parameters: {wx: 1.5, wy: -2, wz: 4}\n"
    "time: {end: 0.4, step: 1e-2}\n"
    "subsystems:\n"
    "  one:\n"
    "    solver: multibody\n"
    "    gravity: [0, 0, -9.81]\n"
    "    bodies:\n"
    "      body:\n"
    "        mass: 2\n"
    "        inertia: [0.3, 0.5, 0.4]\n"
    "        position: [0.1, 0.5, 0.3]\n"
    "        velocity: [wy*0.3 - wz*0.5, wz*0.1 - wx*0.3, wx*0.5 - wy*0.1]\n"
    "        angular_velocity: [wx, wy, wz]\n"
    "    joints:\n"
    "      pin: {type: spherical, between: [ground, body], at: [0, 0, 0]}\n"
    "    ports:\n"
    "      top: {body: body, offset: [0.1, 0.2, 0.1], orientation: {axis: [0.3, -0.5, 0.7], angle: "
    "0.9}}\n"
    "  two:\n"
    "    solver: multibody\n"
    "    gravity: [0, 0, -9.81]\n"
    "    bodies:\n"
    "      body:\n"
    "        mass: 1\n"
    "        inertia: [0.08, 0.05, 0.1]\n"
    "        position: [0.4, 0.9, 0.8]\n"
    "        velocity: [wy*0.8 - wz*0.9, wz*0.4 - wx*0.8, wx*0.9 - wy*0.4]\n"
    "        angular_velocity: [wx, wy, wz]\n"
    "    ports:\n"
    "      low: {body: body, offset: [-0.2, -0.2, -0.4], orientation: {axis: [0.3, -0.5, 0.7], "
    "angle: 0.9}}\n"
    "interfaces:\n"
    "  link: {between: [two.low, one.top], joint: revolute}\n"
    "coupling: {scheme: index1, absolute_tolerance: 0, relative_tolerance: 1e-11}\n"
    "record: {channels: [two.body.position]}\n";

static const char arm[] =
    "parameters: {angle: 0.5}\n"
    "time: {end: 0.4, step: 1e-3}\n"
    "subsystems:\n"
    "  one:\n"
    "    solver: multibody\n"
    "    gravity: [0, -9.81, 0]\n"
    "    bodies:\n"
    "      arm: {mass: 200, inertia: [5, 67, 67], position: [cos(angle), sin(angle), 0],\n"
    "            orientation: {axis: [0, 0, 1], angle: angle}}\n"
    "    joints:\n"
    "      pin: {type: revolute, between: [ground, arm], at: [0, 0, 0], axis: [0, 0, 1]}\n"
    "    ports:\n"
    "      rod: {type: distance, between: [ground, arm], markers: [{offset: [0.3, -0.5, 0]}, "
    "{offset: [0, 0, 0]}]}\n"
    "  two:\n"
    "    solver: hydraulic\n"
    "    pump_pressure: 15e6\n"
    "    cylinders:\n"
    "      ram: {area: [4e-3, 5e-3], length: 1, viscous_friction: 2e3, leakage: 2e-12, "
    "initial_state: {force: "
    "1500},\n"
    "            spool_command: '0.05*sin(7*t)', valve: {type: closed-center, area: 1e-5, "
    "allow_backflow: "
    "true}}\n"
    "interfaces:\n"
    "  rod: {between: [one.rod, two.ram]}\n"
    "coupling: {scheme: index1, absolute_tolerance: 0, relative_tolerance: 1e-10}\n"
    "record: {channels: [one.arm.position]}\n";

enum { SETTINGS = 8 };

static yk_vec3 end_of(const char *scenario, const char *const *settings, double h, double end)
{
    char step_size[64];
    const char *overrides[SETTINGS + 2] = {step_size};
    snprintf(step_size, sizeof step_size, "time.step=%.17g", h);
    for (int i = 0; i < SETTINGS && settings[i]; i++)
        overrides[i + 1] = settings[i];
    run r = open_text("orders.yaml", scenario, overrides);
    run_to(&r, end);
    yk_vec3 place = {r.sample[0], r.sample[1], r.sample[2]};
    close_run(&r);
    return place;
}

static double order_of(const char *scenario, const char *const *settings, double h, double end,
                       yk_vec3 reference)
{
    double error[2];
    for (int i = 0; i < 2; i++)
        error[i] = yk_v3_norm(yk_v3_sub(end_of(scenario, settings, h / (1 + i), end), reference));
    return log2(error[0] / error[1]);
}

static const char *const joints[] = {
    "interfaces.link.joint=spherical",   "interfaces.link.joint=revolute",
    "interfaces.link.joint=prismatic",   "interfaces.link.joint=planar",
    "interfaces.link.joint=cylindrical", "interfaces.link.joint=fixed"};
enum { JOINTS = sizeof joints / sizeof *joints };

static const char *const degrees[] = {
    "coupling.polynomial_degree=0", "coupling.polynomial_degree=1", "coupling.polynomial_degree=2",
    "coupling.polynomial_degree=3"};

#define ONE(text) "subsystems.one.integrator={" text "}"
#define TWO(text) "subsystems.two.integrator={" text "}"
#define RK "type: runge-kutta"

static yk_vec3 reference_of(int joint)
{
    const char *const settings[SETTINGS] = {joints[joint], degrees[3], ONE(RK), TWO(RK)};
    return end_of(bodies, settings, 5e-3, 0.4);
}

static void solvers_of_second_order_keep_it_at_every_joint(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {ONE("type: two-step"), TWO("type: two-step")},
        {ONE("type: generalized-alpha"),
         TWO("type: generalized-alpha, formulation: stabilized-ode")}};
    for (int joint = 0; joint < JOINTS; joint++) {
        yk_vec3 reference = reference_of(joint);
        for (int pair = 0; pair < 2; pair++) {
            for (int degree = 0; degree < 4; degree++) {
                const char *const settings[SETTINGS] = {joints[joint], degrees[degree],
                                                        pairs[pair][0], pairs[pair][1]};
                double order = order_of(bodies, settings, 1e-2, 0.4, reference);
                if (!(order > 1.85 && order < 2.45))
                    fail_msg("%s, %s, %s: order %g", joints[joint], degrees[degree], pairs[pair][0],
                             order);
            }
        }
    }
}

/* Sides that read the wrench differently, or at other times, receive the same impulse. */
static void sides_with_other_solvers_and_steps_keep_it(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {ONE("type: two-step"), TWO(RK)},
        {"subsystems.one.substeps=3", "subsystems.two.substeps=5"},
        {ONE("type: generalized-alpha"), "subsystems.two.substeps=8"}};
    for (int joint = 1; joint < 3; joint++) {
        yk_vec3 reference = reference_of(joint);
        for (int pair = 0; pair < 3; pair++) {
            for (int degree = 0; degree < 4; degree++) {
                const char *const settings[SETTINGS] = {joints[joint], degrees[degree],
                                                        pairs[pair][0], pairs[pair][1]};
                double order = order_of(bodies, settings, 1e-2, 0.4, reference);
                if (!(order > 1.85 && order < 2.45))
                    fail_msg("%s, %s, %s %s: order %g", joints[joint], degrees[degree],
                             pairs[pair][0], pairs[pair][1], order);
            }
        }
    }
}

/* Degree 0 meets one condition: of third order where the rows are along fixed axes, of second
 * where they turn freely. */
static void exact_solvers_show_the_order_of_the_polynomials(void **state)
{
    (void)state;
    static const double expected[] = {0, 4, 5, 6};
    for (int joint = 0; joint < JOINTS; joint++) {
        yk_vec3 reference = reference_of(joint);
        for (int degree = 0; degree < 4; degree++) {
            const char *const settings[SETTINGS] = {joints[joint], degrees[degree], ONE(RK),
                                                    TWO(RK)};
            double order = order_of(bodies, settings, 2e-2, 0.4, reference);
            bool good =
                degree == 0 ? order > 1.8 && order < 3.1 : fabs(order - expected[degree]) < 0.2;
            if (!good)
                fail_msg("%s, %s: order %g", joints[joint], degrees[degree], order);
        }
    }
}

/* Force laws: Radau's third order, or the solvers' second. */
static void hydraulics_keep_the_order_of_the_solvers(void **state)
{
    (void)state;
    static const char *const integrators[] = {ONE("type: two-step"), ONE("type: generalized-alpha"),
                                              ONE(RK)};
    static const double expected[] = {2, 2, 3};
    const char *const exact[SETTINGS] = {ONE(RK)};
    yk_vec3 reference = end_of(arm, exact, 1e-4, 0.4);
    for (int i = 0; i < 3; i++) {
        for (int degree = 1; degree < 4; degree++) {
            const char *const settings[SETTINGS] = {integrators[i], degrees[degree]};
            double order = order_of(arm, settings, 1e-3, 0.4, reference);
            if (!(fabs(order - expected[i]) < 0.3))
                fail_msg("%s, %s: order %g", integrators[i], degrees[degree], order);
        }
    }
}

/* Both sides make steps of their own in a macro step, A's shorter or longer than B's. */
static void substeps_under_tight_keep_the_order(void **state)
{
    (void)state;
    static const int substeps[][2] = {{1, 4}, {4, 1}, {4, 4}, {8, 2}, {3, 5}};
    for (int joint = 1; joint < 3; joint++) {
        yk_vec3 reference = reference_of(joint);
        for (int i = 0; i < 5; i++) {
            char one[64], two[64];
            snprintf(one, sizeof one, "subsystems.one.substeps=%d", substeps[i][0]);
            snprintf(two, sizeof two, "subsystems.two.substeps=%d", substeps[i][1]);
            const char *const settings[SETTINGS] = {
                joints[joint], "interfaces.link.between=[one.top, two.low]",
                "coupling={scheme: tight, acceleration: quasi-newton, absolute_tolerance: 1e-8, "
                "max_iterations: "
                "60}",
                one, two};
            double order = order_of(bodies, settings, 5e-3, 0.4, reference);
            if (!(order > 1.8 && order < 2.3))
                fail_msg("%s, %s, %s: order %g", joints[joint], one, two, order);
        }
    }
}

/* Sides that follow polynomials see what happens within the macro step without substeps. */
static void exact_sides_under_tight_are_of_second_order(void **state)
{
    (void)state;
    for (int joint = 1; joint < 3; joint++) {
        yk_vec3 reference = reference_of(joint);
        const char *const settings[SETTINGS] = {
            joints[joint], "interfaces.link.between=[one.top, two.low]",
            "coupling={scheme: tight, acceleration: quasi-newton, absolute_tolerance: 1e-8, "
            "max_iterations: 60}",
            ONE(RK), TWO(RK)};
        double order = order_of(bodies, settings, 5e-3, 0.4, reference);
        if (!(order > 1.8 && order < 2.2))
            fail_msg("%s: order %g", joints[joint], order);
    }
}

/* The interface takes the work that it does on one side from the other. */
static void substeps_under_tight_create_no_energy(void **state)
{
    (void)state;
    static const int substeps[][2] = {{1, 4}, {4, 1}, {4, 4}, {3, 5}};
    for (int i = 0; i < 4; i++) {
        char one[64], two[64];
        snprintf(one, sizeof one, "subsystems.one.substeps=%d", substeps[i][0]);
        snprintf(two, sizeof two, "subsystems.two.substeps=%d", substeps[i][1]);
        const char *const settings[] = {"interfaces.link.between=[one.top, two.low]",
                                        "coupling={scheme: tight, acceleration: quasi-newton, "
                                        "absolute_tolerance: 1e-8, max_iterations: 60}",
                                        "time.step=5e-3",
                                        one,
                                        two,
                                        NULL};
        run r = open_text("orders.yaml", bodies, settings);
        run_to(&r, 0.4);
        yk_interface_statistics s = yk_system_interface_statistics(r.system, (yk_interface_id){0});
        double exchanged = fabs(s.work[0]) + fabs(s.work[1]);
        if (!(fabs(s.energy_created) < 2e-3 * exchanged))
            fail_msg("%s, %s: %g J of %g J", one, two, s.energy_created, exchanged);
        close_run(&r);
    }
}

/* Errors add up to the tolerance times the way; steps go with the root of it, and few of them are
 * taken twice. */
static void errors_are_proportional_to_the_tolerance_of_steps(void **state)
{
    (void)state;
    static const char *const schemes[] = {
        "coupling={scheme: index1}", "coupling={scheme: index1, polynomial_degree: 2}",
        "coupling={scheme: tight, acceleration: quasi-newton, max_iterations: 40}"};
    yk_vec3 reference = reference_of(1);
    for (int i = 0; i < 3; i++) {
        double error[2];
        int64_t steps[2];
        for (int k = 0; k < 2; k++) {
            const char *const settings[] = {
                schemes[i], "interfaces.link.between=[one.top, two.low]", "time.step=0.1",
                k ? "time.step_tolerance=1e-5" : "time.step_tolerance=1e-4", NULL};
            run r = open_text("orders.yaml", bodies, settings);
            run_to(&r, 0.4);
            error[k] =
                yk_v3_norm(yk_v3_sub(yk_v3(r.sample[0], r.sample[1], r.sample[2]), reference));
            yk_system_statistics s = yk_system_get_statistics(r.system);
            assert_int_equal(s.steps_accepted_at_min_step, 0);
            assert_true(s.steps_rejected <= 2 + s.steps / 20);
            steps[k] = s.steps;
            close_run(&r);
        }
        if (!(error[0] / error[1] > 7 && error[0] / error[1] < 13))
            fail_msg("%s: errors %g, %g", schemes[i], error[0], error[1]);
        double growth = (double)steps[1] / (double)steps[0];
        if (!(growth > 2 && growth < 4))
            fail_msg("%s: %g times as many steps", schemes[i], growth);
    }
}

/* An impact in the middle of a run is passed in small steps, and the steps grow again behind it. */
static void steps_recover_from_an_impact(void **state)
{
    (void)state;
    static const char *const schemes[] = {
        "coupling={scheme: index1, polynomial_degree: 2, relative_tolerance: 1e-7}",
        "coupling={scheme: tight, acceleration: quasi-newton}"};
    for (int i = 0; i < 2; i++) {
        /* The side that takes the motion cannot give way to the floor. */
        const char *const settings[] = {
            schemes[i], "interfaces.joint.between=[ball.centre, carrier.foot]", NULL};
        run r = open_run("carried-ball/scenario.yaml", settings);
        run_to(&r, r.info->end);
        yk_system_statistics s = yk_system_get_statistics(r.system);
        assert_in_range(s.steps, 30, 100);
        assert_near(r.sample[0], 0.1, 1e-3);
        close_run(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solvers_of_second_order_keep_it_at_every_joint),
        cmocka_unit_test(sides_with_other_solvers_and_steps_keep_it),
        cmocka_unit_test(exact_solvers_show_the_order_of_the_polynomials),
        cmocka_unit_test(hydraulics_keep_the_order_of_the_solvers),
        cmocka_unit_test(substeps_under_tight_keep_the_order),
        cmocka_unit_test(exact_sides_under_tight_are_of_second_order),
        cmocka_unit_test(substeps_under_tight_create_no_energy),
        cmocka_unit_test(errors_are_proportional_to_the_tolerance_of_steps),
        cmocka_unit_test(steps_recover_from_an_impact),
    };
    return cmocka_run_group_tests_name("orders", tests, NULL, NULL);
}
