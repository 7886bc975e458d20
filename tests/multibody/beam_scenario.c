/* Beams as scenarios describe them: curved, eccentric, tapered, and with sections by their
 * matrix. Statics against beam theory, for loads so small that it is exact. */
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "load_scenario.h"
#include "test.h"
#include "yoke/scenario.h"

#define PI 3.14159265358979323846

/* A row of beams along the x and y of two expressions of {i}, clamped at node 0, with a force on
 * the last of 16 nodes.
 */
static const char frame[] =
    "time: {end: 0.01, step: 0.01}\n"
    "parameters: {force: 1e-3, young: 2e9, width: 0.02}\n"
    "subsystems:\n"
    "  beam:\n"
    "    solver: multibody\n"
    "    gravity: [0, 0, 0]\n"
    "    start_in_equilibrium: true\n"
    "    nodes:\n"
    "      - {name: 'n_{i}', repeat: {from: 0, to: 16}, position: ['%s', '%s', 0]}\n"
    "    beams:\n"
    "      - name: b_{i}\n"
    "        repeat: 8\n"
    "        nodes: ['n_{2*i-2}', 'n_{2*i-1}', 'n_{2*i}']\n"
    "        %s\n"
    "    joints:\n"
    "      root: {type: fixed, between: [ground, n_0], at: [0, 0, 0]}\n"
    "    forces:\n"
    "      pull: {type: force, body: n_16, vector: %s}\n"
    "record: {channels: [beam.n_16.position]}\n";

static const char rectangle[] =
    "section: {type: rectangle, young_modulus: young, poisson_ratio: 0.25, density: "
    "1000, width_y: width, width_z: width}";
static const double BENDING = 2e9 * 0.02 * 0.02 * 0.02 * 0.02 / 12, EXTENSION = 2e9 * 0.02 * 0.02;

/* Displacement of the tip from `start` in equilibrium. */
static void tip_displacement(yk_context *context, const char *x, const char *y, const char *section,
                             const char *force, const double start[3], double moved[3])
{
    char text[4096];
    snprintf(text, sizeof text, frame, x, y, section, force);
    yk_scenario *scenario = load_scenario(context, "beam.yaml", text, NULL);
    yk_system *system;
    assert_int_equal(yk_scenario_system(scenario, &system), YK_OK);
    assert_true(!YK_FAILED(yk_system_initialize(system)));
    yk_scenario_read_sample(scenario, moved);
    for (int i = 0; i < 3; i++)
        moved[i] -= start[i];
    yk_scenario_destroy(scenario);
}

/* A quarter of a ring of radius 1: pulled along x at the free end, pi F R^3 / 4 EI; along y, (3
 * pi / 4 - 2) F R^3 / EI.
 */
static void quarter_ring(void **state)
{
    const double start[3] = {1, 1, 0};
    double moved[3];
    const char *x = "sin({i}*pi/32)", *y = "1 - cos({i}*pi/32)";
    tip_displacement(*state, x, y, rectangle, "[force, 0, 0]", start, moved);
    assert_relative(moved[0], PI / 4 * 1e-3 / BENDING, 1e-3);
    tip_displacement(*state, x, y, rectangle, "[0, force, 0]", start, moved);
    assert_relative(moved[1], (0.75 * PI - 2) * 1e-3 / BENDING, 2e-3);
    assert_near(moved[2], 0, 1e-12);
}

/* A straight beam with an offset from its nodes: an axial force bends it with the lever of the offset. */
static void offset_bends_a_pulled_beam(void **state)
{
    const double start[3] = {1, 0, 0};
    char section[512];
    double moved[3];
    snprintf(section, sizeof section, "%s\n        offset: [0, 0.1, 0]", rectangle);
    tip_displacement(*state, "{i}/16", "0", section, "[force, 0, 0]", start, moved);
    /* Moment 0.1 F about z, curvature M / EI: the tip goes to y by half of it. */
    assert_relative(moved[1], 0.1 * 1e-3 / (2 * BENDING), 1e-4);
    /* stretched, and turned back with the lever */
    assert_relative(moved[0], 1e-3 / EXTENSION + 0.1 * 0.1 * 1e-3 / BENDING, 1e-4);
}

static void matrix_section_equals_its_shape(void **state)
{
    const double start[3] = {1, 0, 0};
    double moved[3], expected[3];
    char section[512];
    double shear = 2e9 / 2.5 * 0.0004 * 5 / 6;
    snprintf(section, sizeof section,
             "section: {type: matrix, mass_per_length: 0.4, stiffness: [%.17g, %.17g, %.17g, 1, "
             "%.17g, %.17g]}",
             EXTENSION, shear, shear, BENDING, BENDING);
    tip_displacement(*state, "{i}/16", "0", rectangle, "[0, force, force]", start, expected);
    tip_displacement(*state, "{i}/16", "0", section, "[0, force, force]", start, moved);
    assert_relative(expected[1], 1e-3 * (1 / (3 * BENDING) + 1 / shear), 1e-6);
    for (int i = 1; i < 3; i++)
        assert_relative(moved[i], expected[i], 1e-9);
}

/* Extension coupled with curvature: a pull bends. 36 numbers by rows. */
static void coupled_matrix_bends_under_a_pull(void **state)
{
    const double start[3] = {1, 0, 0};
    double moved[3];
    /* extension and curvature about z: [100 10; 10 5]: strains under N = F are (5, -10) F / 400 */
    tip_displacement(*state, "{i}/16", "0",
                     "section: {type: matrix, mass_per_length: 1, stiffness: [100,0,0,0,0,10, "
                     "0,50,0,0,0,0, 0,0,50,0,0,0, "
                     "0,0,0,5,0,0, 0,0,0,0,5,0, 10,0,0,0,0,5]}",
                     "[force, 0, 0]", start, moved);
    assert_relative(moved[0], 5e-3 / 400, 1e-4);
    assert_relative(moved[1], -0.5 * 10e-3 / 400, 2e-4); /* the pull straightens it by F L^2 / EI */
}

/* Each beam twice as stiff in its second half: compliances average. */
static void tapered_beams(void **state)
{
    const double start[3] = {1, 0, 0};
    double moved[3];
    tip_displacement(
        *state, "{i}/16", "0",
        "section: {type: matrix, mass_per_length: 1, stiffness: [100, 100, 100, 1, 1, 1]}\n"
        "        second_section: {type: matrix, mass_per_length: 1, stiffness: [200, 100, 100, 1, "
        "1, 1]}",
        "[force, 0, 0]", start, moved);
    assert_relative(moved[0], 1e-3 * 0.5 * (1.0 / 100 + 1.0 / 200), 1e-6);
}

static void a_section_of_seven_numbers_is_refused(void **state)
{
    char text[4096];
    snprintf(text, sizeof text, frame, "{i}/16", "0",
             "section: {type: matrix, mass_per_length: 1, stiffness: [1, 1, 1, 1, 1, 1, 1]}",
             "[force, 0, 0]");
    yk_scenario_def def = yk_scenario_default();
    def.path = "beam.yaml";
    def.text = text;
    yk_diagnostics *diagnostics;
    yk_scenario *scenario;
    assert_int_equal(yk_diagnostics_create(*state, &diagnostics), YK_OK);
    assert_int_equal(yk_scenario_load(*state, &def, diagnostics, &scenario), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_diagnostics_at(diagnostics, 0)->message, "6 or 36 numbers"));
    yk_diagnostics_destroy(diagnostics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quarter_ring),
        cmocka_unit_test(offset_bends_a_pulled_beam),
        cmocka_unit_test(matrix_section_equals_its_shape),
        cmocka_unit_test(coupled_matrix_bends_under_a_pull),
        cmocka_unit_test(tapered_beams),
        cmocka_unit_test(a_section_of_seven_numbers_is_refused),
    };
    return cmocka_run_group_tests(tests, create_context, destroy_context);
}
