/* The range of validity of a rod with mode shapes, and whether the solver reports leaving it: a rod
 * on a pinned and a sliding support, driven near its first resonance, in the floating frame
 * formulation, in absolute coordinates and with beam elements. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "load_scenario.h"
#include "test.h"
#include "yoke/scenario.h"

enum { SAMPLES = 600 };

#define SECTION                                                                                 \
    "section: {type: rectangle, young_modulus: 2.1e11, density: 7850, width_y: 0.01, width_z: " \
    "0.02}"

static const char frame[] =
    "time: {end: 1, step: 2e-4}\n"
    "parameters: {force: %g, n: 8}\n"
    "subsystems:\n"
    "  rod:\n"
    "    solver: multibody\n"
    "    gravity: [0, 0, 0]\n"
    "%s"
    "    joints:\n"
    "      pin: {type: revolute, between: [ground, %s], axis: [0, 0, 1]}\n"
    "      roller: {type: custom, constrained_axes: [y, z], between: [ground, %s]}\n"
    "    forces:\n"
    "      drive: {type: force, body: %s, vector: [0, force, 0], factor: sin(140*t)}\n"
    "record: {channels: [rod.%s.position]}\n";

typedef struct kind {
    const char *body;
    const char *start, *middle, *end;
} kind;

static const kind shapes = {"    flexible_bodies:\n"
                            "      r: {type: rod, length: 1, reference_conditions: pinned-pinned, "
                            "bending_modes_y: 3, " SECTION ",\n"
                            "          attachments: {start: 0, middle: 0.5, end: 1}}\n",
                            "r.start", "r.middle", "r.end"};
static const kind absolute = {"    flexible_bodies:\n"
                              "      r: {type: ancf, length: 1, elements: 12, " SECTION ",\n"
                              "          attachments: {start: 0, middle: 6, end: 12}}\n",
                              "r.start", "r.middle", "r.end"};
static const kind beams = {
    "    nodes:\n"
    "      - {name: 'n_{i}', repeat: {from: 0, to: 2*n}, position: ['{i}/(2*n)', 0, 0]}\n"
    "    beams:\n"
    "      - {name: 'b_{i}', repeat: n, nodes: ['n_{2*i-2}', 'n_{2*i-1}', 'n_{2*i}'], " SECTION
    "}\n",
    "n_0", "n_8", "n_16"};

static void listen(void *user, yk_log_level level, const char *message)
{
    if (level == YK_LOG_WARNING && strstr(message, "use beams, or absolute coordinates"))
        ++*(int *)user;
}

/* Deflection of the middle at each of 600 points of 1 ms; returns how many warnings asked for
 * another model. */
static int run(const kind *of, double force, double deflection[SAMPLES])
{
    int warned = 0;
    yk_context_def context_def = yk_context_default();
    context_def.log = listen, context_def.log_user = &warned,
    context_def.log_level = YK_LOG_WARNING;
    yk_context *context = yk_context_create(&context_def);
    char text[4096];
    snprintf(text, sizeof text, frame, force, of->body, of->start, of->end, of->middle, of->middle);
    yk_scenario *scenario = load_scenario(context, "rod.yaml", text, NULL);
    yk_system *system;
    assert_int_equal(yk_scenario_system(scenario, &system), YK_OK);
    assert_true(!YK_FAILED(yk_system_initialize(system)));
    for (int i = 0; i < SAMPLES; i++) {
        for (int k = 0; k < 5; k++)
            assert_int_equal(yk_system_step(system, NULL), YK_OK);
        double position[3];
        yk_scenario_read_sample(scenario, position);
        deflection[i] = position[1];
    }
    yk_scenario_destroy(scenario);
    yk_context_destroy(context);
    return warned;
}

/* Largest difference relative to the largest of `exact`, which is also returned. */
static double difference(const double *found, const double *exact, double *peak)
{
    double largest = 0;
    *peak = 0;
    for (int i = 0; i < SAMPLES; i++) {
        largest = fmax(largest, fabs(found[i] - exact[i]));
        *peak = fmax(*peak, fabs(exact[i]));
    }
    return largest / *peak;
}

/* If the rod is more than some per cent off, it warns, and both remedies of the warning agree
 * with each other. */
static void rod_warns_where_it_is_wrong(void **state)
{
    (void)state;
    static double found[3][SAMPLES];
    double peak;
    assert_int_equal(run(&beams, 60, found[0]), 0);
    assert_int_equal(run(&absolute, 60, found[1]), 0);
    assert_true(run(&shapes, 60, found[2]) > 0);
    assert_true(difference(found[2], found[0], &peak) > 0.1);
    assert_near(peak, 0.08, 0.02);
    assert_near(difference(found[1], found[0], &peak), 0, 0.01);
}

/* Small vibrations are right and say nothing. */
static void small_vibrations_are_trusted(void **state)
{
    (void)state;
    static double found[2][SAMPLES];
    double peak;
    assert_int_equal(run(&beams, 8, found[0]), 0);
    assert_int_equal(run(&shapes, 8, found[1]), 0);
    assert_near(difference(found[1], found[0], &peak), 0, 0.02);
    assert_near(peak, 0.01, 0.003);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rod_warns_where_it_is_wrong),
        cmocka_unit_test(small_vibrations_are_trusted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
