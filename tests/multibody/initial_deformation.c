/* Beams and flexible bodies that start deformed, and the strain energy that they hold, against
 * closed forms. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "context.h"
#include "load_scenario.h"
#include "test.h"
#include "yoke/scenario.h"

#define PI 3.14159265358979323846
enum { VALUES = 16 };

static const double YOUNG = 2.1e11, DENSITY = 7850, WIDTH_Y = 0.01, WIDTH_Z = 0.02;

static double bending(void)
{
    return YOUNG * WIDTH_Z * WIDTH_Y * WIDTH_Y * WIDTH_Y / 12;
}

/* Loads a text and carries it through `steps` macro steps; the recorded signals then. */
static void run(yk_context *context, const char *text, int steps, double values[VALUES])
{
    yk_scenario *scenario = load_scenario(context, "start.yaml", text, NULL);
    yk_system *system;
    assert_int_equal(yk_scenario_system(scenario, &system), YK_OK);
    assert_true(!YK_FAILED(yk_system_initialize(system)));
    for (int i = 0; i < steps; i++)
        assert_int_equal(yk_system_step(system, NULL), YK_OK);
    yk_scenario_read_sample(scenario, values);
    yk_scenario_destroy(scenario);
}

#define SECTION \
    "{type: rectangle, young_modulus: 2.1e11, density: 7850, width_y: 0.01, width_z: 0.02}"

/* A straight cantilever of 1 m that starts as an arc; {i} counts the nodes. */
static const char arc[] =
    "time: {end: 1, step: 1e-4}\n"
    "parameters: {n: 10, k: 0.4}\n"
    "subsystems:\n"
    "  beam:\n"
    "    solver: multibody\n"
    "    gravity: [0, 0, 0]\n"
    "    nodes:\n"
    "      - name: 'n_{i}'\n"
    "        repeat: {from: 0, to: 2*n}\n"
    "        position: ['{i}/(2*n)', 0, 0]\n"
    "        initial_displacement: ['sin(k*{i}/(2*n))/k - {i}/(2*n)', '(1 - cos(k*{i}/(2*n)))/k', "
    "0]\n"
    "%s"
    "    beams:\n"
    "      - {name: 'b_{i}', repeat: n, nodes: ['n_{2*i-2}', 'n_{2*i-1}', 'n_{2*i}'],\n"
    "         section: " SECTION "}\n"
    "    joints:\n"
    "      root: {type: fixed, between: [ground, n_0]}\n"
    "record:\n"
    "  channels: [beam.strain_energy, beam.b_1.strain_energy, beam.b_10.strain_energy, "
    "beam.energy,\n"
    "            beam.n_20.position]\n";

/* EI k^2 L / 2, a tenth of it in each of ten beams; sections that are not told how they turn go
 * with the line. */
static void arc_of_beams_holds_its_energy(void **state)
{
    double expected = bending() * 0.4 * 0.4 / 2, values[VALUES];
    char text[4096];
    snprintf(text, sizeof text, arc, "        initial_rotation: [0, 0, 'k*{i}/(2*n)']\n");
    run(*state, text, 0, values);
    assert_relative(values[0], expected, 1e-6);
    assert_relative(values[1], 0.1 * expected, 1e-6);
    assert_relative(values[2], 0.1 * expected, 1e-6);
    assert_near(values[3], 0, 0);
    assert_relative(values[4], values[0], 1e-12); /* the potential energy */
    assert_near(values[7], sin(0.4) / 0.4, 1e-12);
    snprintf(text, sizeof text, arc, "");
    run(*state, text, 0, values);
    assert_relative(values[0], expected, 2e-3);
}

/* Released, it swings through: after half a period of the first mode the tip is on the other
 * side. */
static void arc_of_beams_swings_back(void **state)
{
    double values[VALUES];
    char text[4096];
    snprintf(text, sizeof text, arc, "        initial_rotation: [0, 0, 'k*{i}/(2*n)']\n");
    double first = 1.8751041 * 1.8751041 * sqrt(bending() / (DENSITY * WIDTH_Y * WIDTH_Z));
    run(*state, text, (int)lround(PI / first / 1e-4), values);
    assert_true(values[8] < -0.8 * (1 - cos(0.4)) / 0.4);
    assert_true(values[0] < bending() * 0.4 * 0.4 / 2);
}

/* A rod in absolute coordinates, rolled to an arc from which it starts. */
static void arc_of_a_rod_holds_its_energy(void **state)
{
    static const char text[] =
        "time: {end: 1, step: 1e-4}\n"
        "subsystems:\n"
        "  rod:\n"
        "    solver: multibody\n"
        "    gravity: [0, 0, 0]\n"
        "    flexible_bodies:\n"
        "      r: {type: ancf, length: 1, elements: 8, section: " SECTION ",\n"
        "          curvature: [0, 0, 0.4], attachments: {end: 8}}\n"
        "record: {channels: [rod.strain_energy, rod.r.strain_energy, rod.r.end.position]}\n";
    double values[VALUES];
    run(*state, text, 0, values);
    assert_relative(values[0], bending() * 0.4 * 0.4 / 2, 1e-3);
    assert_relative(values[1], values[0], 1e-12);
    assert_near(values[2], sin(0.4) / 0.4, 1e-12);
    assert_near(values[3], (1 - cos(0.4)) / 0.4, 1e-12);
}

static const char modal[] =
    "time: {end: 1, step: 1e-4}\n"
    "subsystems:\n"
    "  rod:\n"
    "    solver: multibody\n"
    "    gravity: [0, 0, 0]\n"
    "    flexible_bodies:\n"
    "      r: {type: rod, length: 1, geometric_stiffening: false, constant_mass_matrix: true, "
    "section: " SECTION ",\n"
    "          %s}\n"
    "    joints:\n"
    "      root: {type: fixed, between: [ground, r]}\n"
    "record: {channels: [rod.r.strain_energy, rod.energy, rod.r.modal_amplitude_1, "
    "rod.r.modal_amplitude_2]}\n";

/* q K q / 2 at the start, r M r / 2 for rates, and the frequency that belongs to both. */
static void modes_start_with_their_amplitudes(void **state)
{
    double first = 1.8751041 * 1.8751041 * sqrt(bending() / (DENSITY * WIDTH_Y * WIDTH_Z));
    double deformed[VALUES], twice[VALUES], moving[VALUES], later[VALUES];
    char text[4096];
    snprintf(text, sizeof text, modal, "initial_amplitudes: [0.01]");
    run(*state, text, 0, deformed);
    assert_near(deformed[5], 0.01, 0);
    assert_near(deformed[6], 0, 0);
    assert_near(deformed[1], 0, 0);
    snprintf(text, sizeof text, modal, "initial_amplitudes: [0.02, 0]");
    run(*state, text, 0, twice);
    assert_relative(twice[0], 4 * deformed[0], 1e-12);
    snprintf(text, sizeof text, modal, "initial_amplitude_rates: [3]");
    run(*state, text, 0, moving);
    assert_near(moving[0], 0, 0);
    double stiffness = 2 * deformed[0] / (0.01 * 0.01), mass = 2 * moving[1] / (3 * 3);
    assert_relative(sqrt(stiffness / mass), first,
                    2e-4); /* the rod has the inertia of its sections */

    /* q = q0 cos(w t): a quarter of a period, where the amplitude passes through zero, and a
     * half. */
    snprintf(text, sizeof text, modal, "initial_amplitudes: [0.01]");
    run(*state, text, (int)lround(PI / first / 1e-4), later);
    assert_near(later[5], -0.01, 1e-4);
}

static void too_many_amplitudes_are_refused(void **state)
{
    char text[4096];
    snprintf(text, sizeof text, modal, "initial_amplitudes: [0, 0, 0, 0, 0, 0, 1]");
    yk_scenario_def def = yk_scenario_default();
    def.path = "start.yaml";
    def.text = text;
    yk_diagnostics *diagnostics;
    yk_scenario *scenario;
    assert_int_equal(yk_diagnostics_create(*state, &diagnostics), YK_OK);
    assert_true(YK_FAILED(yk_scenario_load(*state, &def, diagnostics, &scenario)));
    char *report = yk_diagnostics_format(diagnostics);
    assert_non_null(strstr(report, "start.yaml:8:"));
    assert_non_null(strstr(report, "has 6 shapes, not 7"));
    yk_free(*state, report);
    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
}

/* Steps far longer than the vibrations of light sections: they take what they are given and come
 * to rest. */
static void sudden_loads_on_light_sections(void **state)
{
    static const char text[] =
        "time: {end: 1, step: 1e-3}\n"
        "subsystems:\n"
        "  beam:\n"
        "    solver: multibody\n"
        "    gravity: [0, 0, 0]\n"
        "    nodes:\n"
        "      - {name: 'n_{i}', repeat: {from: 0, to: 8}, position: ['{i}/8', 0, 0]}\n"
        "    beams:\n"
        "      - {name: 'b_{i}', repeat: 4, nodes: ['n_{2*i-2}', 'n_{2*i-1}', 'n_{2*i}'],\n"
        "         section: {type: matrix, stiffness: [4.2e7, 1.3e7, 1.3e7, 500, 1400, 350], "
        "mass_per_length: "
        "1.57}}\n"
        "    joints:\n"
        "      root: {type: fixed, between: [ground, n_0]}\n"
        "    forces:\n"
        "      twist: {type: torque, body: n_8, vector: [0, 0, 7]}\n"
        "    startup_damping: {rate: 40, full_until: 10, end: 20}\n"
        "record: {channels: [beam.n_8.position, beam.strain_energy]}\n";
    double values[VALUES], k = 7.0 / 350;
    run(*state, text, 2000, values);
    assert_relative(values[1], (1 - cos(k)) / k, 1e-4);
    assert_relative(values[3], 350 * k * k / 2, 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arc_of_beams_holds_its_energy),
        cmocka_unit_test(arc_of_beams_swings_back),
        cmocka_unit_test(arc_of_a_rod_holds_its_energy),
        cmocka_unit_test(modes_start_with_their_amplitudes),
        cmocka_unit_test(too_many_amplitudes_are_refused),
        cmocka_unit_test(sudden_loads_on_light_sections),
    };
    return cmocka_run_group_tests(tests, create_context, destroy_context);
}
