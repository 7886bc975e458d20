/* A controller's torque on a joint: models/controlled-arm in both solvers and all schemes against
 * the exact motion, and the arm under gravity against an independent integration. */
#include <math.h>

#include "scenario_run.h"

static const double J = 0.10435, KP = 10, KD = 1;

typedef struct variant {
    const char *inner, *outer, *scheme;
    double tolerance; /* of the angle after 1 s with steps of 1 ms (rad) */
} variant;

static const variant variants[] = {
    {"multibody", "multibody", "monolithic", 2e-7}, {"multibody", "multibody", "relaxed", 2e-7},
    {"multibody", "multibody", "tight", 2e-5},      {"multibody", "multibody", "index1", 5e-5},
    {"multibody", "nonsmooth", "explicit", 5e-4},   {"multibody", "nonsmooth", "loose", 5e-4},
    {"multibody", "nonsmooth", "tight", 5e-4},      {"multibody", "nonsmooth", "rim", 5e-4},
    {"multibody", "nonsmooth", "index1", 5e-4},     {"nonsmooth", "nonsmooth", "explicit", 1e-3},
    {"nonsmooth", "nonsmooth", "tight", 1e-3},      {"nonsmooth", "multibody", "index1", 1e-3},
    {"nonsmooth", "nonsmooth", "rim", 1e-3},
};

static run open_arm(const variant *v, const char *extra)
{
    char set[3][64];
    snprintf(set[0], sizeof set[0], "subsystems.inner.solver=%s", v->inner);
    snprintf(set[1], sizeof set[1], "subsystems.outer.solver=%s", v->outer);
    snprintf(set[2], sizeof set[2], "coupling.scheme=%s", v->scheme);
    const char *const overrides[] = {set[0], set[1], set[2], extra, NULL};
    return open_run("controlled-arm/scenario.yaml", overrides);
}

static double exact_angle(double t)
{
    double d = KD / (2 * J), w = sqrt(KP / J - d * d);
    return 0.5 - 0.5 * exp(-d * t) * (cos(w * t) + d / w * sin(w * t));
}

static void all_schemes_follow_the_command(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof variants / sizeof *variants; k++) {
        const variant *v = &variants[k];
        run r = open_arm(v, NULL);
        run_to(&r, 1);
        double error = fabs(r.sample[0] - exact_angle(1));
        if (!(error < v->tolerance))
            print_error("%s, %s, %s: %g rad\n", v->inner, v->outer, v->scheme, error);
        assert_true(error < v->tolerance);
        close_run(&r);
    }
}

static double error_of(const char *scheme, const char *step_set)
{
    variant v = {"multibody", "multibody", scheme, 0};
    run r = open_arm(&v, step_set);
    run_to(&r, 0.2);
    double error = fabs(r.sample[0] - exact_angle(0.2));
    close_run(&r);
    return error;
}

static void wires_to_what_is_merged_are_of_second_order(void **state)
{
    (void)state;
    static const char *const schemes[] = {"monolithic", "relaxed"};
    for (int k = 0; k < 2; k++) {
        double ratio =
            error_of(schemes[k], "time.step=4e-3") / error_of(schemes[k], "time.step=2e-3");
        if (!(ratio > 3.6 && ratio < 4.4))
            print_error("%s: errors with a ratio of %g\n", schemes[k], ratio);
        assert_true(ratio > 3.6 && ratio < 4.4);
    }
}

/* The motor feeds in what the arm has and the controller's brake took: nothing else does work. */
static void the_motor_is_fed_in(void **state)
{
    (void)state;
    variant smooth = {"multibody", "multibody", "monolithic", 0},
            pair = {"multibody", "multibody", "tight", 0};
    const variant *list[] = {&smooth, &pair};
    const double tolerance[] = {1e-4, 1e-3};
    for (int k = 0; k < 2; k++) {
        run r = open_arm(list[k], NULL);
        run_to(&r, 0.15);
        double kinetic = r.sample[3] + r.sample[7], external = 0;
        for (int i = 0; i < 2; i++)
            external += yk_system_energy_balance(r.system, (yk_subsystem_id){i}).external_work;
        assert_true(kinetic > 0.3);
        if (!(fabs(external - kinetic) < tolerance[k] * kinetic))
            print_error("%g J of %g J\n", external, kinetic);
        assert_true(fabs(external - kinetic) < tolerance[k] * kinetic);
        close_run(&r);
    }
}

/* In a vertical plane: J q'' = kp (0.5 - q) - kd q' - m g l cos q, by the classical Runge-Kutta
 * method. */
static void slope(const double y[2], double weight, double dy[2])
{
    dy[0] = y[1];
    dy[1] = (KP * (0.5 - y[0]) - KD * y[1] - weight * cos(y[0])) / J;
}

static double integrated(double weight, int steps)
{
    double y[2] = {0, 0}, h = 1.0 / steps, k[4][2], at[2];
    for (int i = 0; i < steps; i++) {
        slope(y, weight, k[0]);
        for (int s = 1; s < 4; s++) {
            double part = s == 3 ? h : h / 2;
            for (int j = 0; j < 2; j++)
                at[j] = y[j] + part * k[s - 1][j];
            slope(at, weight, k[s]);
        }
        for (int j = 0; j < 2; j++)
            y[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
    }
    return y[0];
}

static void the_arm_lifts_its_weight(void **state)
{
    (void)state;
    const double weight = 9.81 * (1 * 0.25 + 0.02 * 0.75);
    static const char *const schemes[] = {"monolithic", "relaxed", "tight"};
    for (int k = 0; k < 3; k++) {
        char set[64];
        snprintf(set, sizeof set, "coupling.scheme=%s", schemes[k]);
        const char *const overrides[] = {set, "subsystems.outer.solver=multibody",
                                         "subsystems.inner.gravity=[0, -9.81, 0]",
                                         "subsystems.outer.gravity=[0, -9.81, 0]", NULL};
        run r = open_run("controlled-arm/scenario.yaml", overrides);
        run_to(&r, 1);
        assert_near(r.sample[0], integrated(weight, 2000), k == 2 ? 2e-5 : 1e-6);
        close_run(&r);
    }
}

/* A motor in a slider pushes along it, and the slider tells its displacement: m x'' = kp (0.5 -
 * x) - kd x'. */
static const char slider[] =
    "time: {end: 1, step: 1e-3}\n"
    "subsystems:\n"
    "  table:\n"
    "    solver: multibody\n"
    "    gravity: [0, -9.81, 0]\n"
    "    bodies: {block: {mass: 0.10435, inertia: [1, 1, 1], position: [0.3, 0.2, 0.1]}}\n"
    "    joints: {rail: {type: prismatic, between: [ground, block], at: [0.1, 0, 0], axis: [1, 0, "
    "0]}}\n"
    "    forces: {ram: {type: motor, joint: rail, signal_port: push}}\n"
    "  pd:\n"
    "    solver: control\n"
    "    loops: {way: {reference: 0.5, proportional: 10, derivative: 1}}\n"
    "wires:\n"
    "  way: {from: table.rail.displacement, to: pd.way.measured}\n"
    "  rate: {from: table.rail.velocity, to: pd.way.rate}\n"
    "  push: {from: pd.way, to: table.push}\n"
    "coupling: {scheme: tight}\n"
    "record: {channels: [table.rail.displacement, table.block.position]}\n";

static void motors_push_sliders(void **state)
{
    (void)state;
    static const char *const solvers[] = {"subsystems.table.solver=multibody",
                                          "subsystems.table.solver=nonsmooth"};
    for (int k = 0; k < 2; k++) {
        const char *const overrides[] = {solvers[k], NULL};
        run r = open_text("slider", slider, overrides);
        run_to(&r, 1);
        assert_near(r.sample[0], exact_angle(1), k == 0 ? 1e-6 : 1e-3);
        assert_near(r.sample[1], 0.3 + r.sample[0], 1e-9);
        assert_near(r.sample[2], 0.2, 1e-9);
        close_run(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_schemes_follow_the_command),
        cmocka_unit_test(wires_to_what_is_merged_are_of_second_order),
        cmocka_unit_test(the_motor_is_fed_in),
        cmocka_unit_test(the_arm_lifts_its_weight),
        cmocka_unit_test(motors_push_sliders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
