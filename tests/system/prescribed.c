/* Interfaces that prescribe a distance or a relative motion, in every scheme that can: against
 * the same mechanism in one model with the joints of the solver, and between the schemes. */
#include <math.h>

#include "scenario_run.h"

#define UPPER                      \
    "    gravity: [0, -9.81, 0]\n" \
    "    bodies:\n"                \
    "      bar: {mass: 1, inertia: [0.01, 0.1, 0.1], position: [0.5, 0, 0]}\n"
#define PIN "pin: {type: revolute, between: [ground, bar], at: [0, 0, 0], axis: [0, 0, 1]}"
#define BOB "      bob: {mass: 0.5, inertia: [0.01, 0.01, 0.02], position: [1.3, -0.4, 0]}\n"
#define LENGTH "0.5 + 0.1*sin(4*t)^2"

static const char whole[] =
    "time: {end: 0.6, step: 1e-4}\n"
    "subsystems:\n"
    "  all:\n"
    "    solver: multibody\n" UPPER BOB "    joints:\n"
    "      " PIN "\n"
    "      rod: {type: distance, between: [bar, bob], markers: [{offset: "
    "[0.5, 0, 0]}, {offset: [0, 0, 0]}],\n"
    "            distance: '" LENGTH "'}\n"
    "    ports: {end: {body: bar, offset: [0.5, 0, 0]}, start: {body: bob}}\n"
    "record: {channels: [all.end.position, all.start.position]}\n";
static const char parts[] =
    "time: {end: 0.6, step: 1e-3}\n"
    "subsystems:\n"
    "  upper:\n"
    "    solver: multibody\n" UPPER "    joints: {" PIN "}\n"
    "    ports: {end: {body: bar, offset: [0.5, 0, 0]}}\n"
    "  lower:\n"
    "    solver: multibody\n"
    "    gravity: [0, -9.81, 0]\n"
    "    bodies:\n" BOB "    ports: {start: {body: bob}}\n"
    "interfaces: {rod: {between: [upper.end, lower.start], joint: distance, distance: '" LENGTH
    "'}}\n"
    "coupling: {scheme: index1}\n"
    "record: {channels: [upper.end.position, lower.start.position, rod.gap_position]}\n";

typedef struct variant {
    const char *scheme, *solver; /* of both parts */
    double tolerance, gap;       /* m */
} variant;

static void a_rod_keeps_its_length(void **state)
{
    (void)state;
    static const variant variants[] = {
        {"index1", "multibody", 1e-6, 1e-12}, {"monolithic", "multibody", 3e-5, 1e-11},
        {"relaxed", "multibody", 3e-5, 1e-6}, {"explicit", "multibody", 3e-5, 1e-6},
        {"loose", "multibody", 3e-5, 1e-6},   {"rim", "multibody", 3e-5, 1e-6},
        {"index1", "nonsmooth", 5e-3, 1e-3},  {"monolithic", "nonsmooth", 5e-3, 1e-3},
    };
    run exact = open_text("whole", whole, NULL);
    run_to(&exact, 0.6);
    for (size_t k = 0; k < sizeof variants / sizeof *variants; k++) {
        const variant *v = &variants[k];
        char set[3][64];
        snprintf(set[0], sizeof set[0], "coupling.scheme=%s", v->scheme);
        snprintf(set[1], sizeof set[1], "subsystems.upper.solver=%s", v->solver);
        snprintf(set[2], sizeof set[2], "subsystems.lower.solver=%s", v->solver);
        const char *const overrides[] = {set[0], set[1], set[2], NULL};
        run r = open_text("parts", parts, overrides);
        run_to(&r, 0.6);
        double error = 0;
        for (int i = 0; i < 6; i++)
            error = fmax(error, fabs(r.sample[i] - exact.sample[i]));
        if (!(error < v->tolerance) || !(r.sample[6] < v->gap))
            print_error("%s, %s: off by %g m, gap %g m\n", v->scheme, v->solver, error,
                        r.sample[6]);
        assert_true(error < v->tolerance);
        assert_true(r.sample[6] < v->gap);
        close_run(&r);
    }
    close_run(&exact);
}

/* The work of a drive is external work: the energy created is the error of the step, also if both
 * sides move. */
static void drives_are_not_taken_for_created_energy(void **state)
{
    (void)state;
    static const char *const schemes[] = {"coupling.scheme=explicit", "coupling.scheme=loose",
                                          "coupling.scheme=rim", "coupling.scheme=index1"};
    static const char *const drive =
        "interfaces.knee.drive={z: 0.1*sin(5*t)^2, rz: 0.3*sin(5*t)^2}";
    for (int k = 0; k < 8; k++) {
        const char *const clamp[] = {"interfaces.knee.joint=fixed", drive, schemes[k / 2], NULL};
        const char *const rod[] = {schemes[k / 2], NULL};
        run r = k % 2 == 0 ? open_run("hinged-links/scenario.yaml", clamp)
                           : open_text("parts", parts, rod);
        run_to(&r, 0.3);
        yk_interface_statistics s = yk_system_interface_statistics(r.system, (yk_interface_id){0});
        double fed = fabs(s.work[0] + s.work[1] - s.energy_created);
        /* The pull of a rod keeps its direction over a step, in schemes of one wrench per step. */
        double tolerance = k % 2 == 0 ? 1e-6 : 1e-2;
        if (k / 2 == 3)
            tolerance = 1e-6;
        if (!(fabs(s.energy_created) < tolerance * fed))
            print_error("%s: %g J of %g J\n", schemes[k / 2], s.energy_created, fed);
        assert_true(fed > 1e-3);
        assert_true(fabs(s.energy_created) < tolerance * fed);
        close_run(&r);
    }
}

/* Motors and rams between two links in different units and axes: what the joint leaves free
 * follows. */
static void schemes_agree_on_prescribed_motions(void **state)
{
    (void)state;
    static const char *const drives[][2] = {
        {"interfaces.knee.joint=fixed", "interfaces.knee.drive={rz: 0.1*sin(5*t)^2}"},
        {"interfaces.knee.joint=fixed",
         "interfaces.knee.drive={z: 0.1*sin(5*t)^2, rz: 0.3*sin(5*t)^2}"},
        {"interfaces.knee.joint=spherical", "interfaces.knee.drive={x: 0.05*sin(5*t)^2}"},
        {"interfaces.knee.joint=driven-rotation", "interfaces.knee.drive={rz: 0.3*sin(5*t)^2}"},
        {"interfaces.knee.joint={constrained_axes: [x, y, rx, ry, rz]}",
         "interfaces.knee.drive={rz: 0.3*sin(5*t)^2}"},
    };
    static const char *const schemes[] = {"coupling.scheme=index1", "coupling.scheme=monolithic",
                                          "coupling.scheme=relaxed", "coupling.scheme=explicit"};
    for (int i = 0; i < 5; i++) {
        double first[5];
        for (int k = 0; k < 4; k++) {
            const char *const overrides[] = {drives[i][0], drives[i][1], schemes[k], NULL};
            run r = open_run("hinged-links/scenario.yaml", overrides);
            run_to(&r, 0.3);
            for (int j = 0; j < 5 && k == 0; j++)
                first[j] = r.sample[j];
            for (int j = 0; j < 5; j++) {
                double difference = fabs(r.sample[j] - first[j]);
                if (!(difference < 5e-6))
                    print_error("%s, %s, value %d: %g\n", drives[i][1], schemes[k], j, difference);
                assert_true(difference < 5e-6);
            }
            close_run(&r);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_rod_keeps_its_length),
                                       cmocka_unit_test(drives_are_not_taken_for_created_energy),
                                       cmocka_unit_test(schemes_agree_on_prescribed_motions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
