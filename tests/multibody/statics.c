/* Static equilibrium is found independently of units and scales: the same model in lengths from
 * that of a hair to that of a street, and with time scales from that of a bullet to that of a
 * glacier, takes the same shape. */
#include "../model/loading.h"

/* Rods that hang in a chain from a ball joint, their end drawn up by a spring; all times
 * multiplied by `slow`. */
#define CHAIN                                                                                \
    "time: {end: slow*1e-3, step: slow*1e-3}\n"                                              \
    "subsystems:\n"                                                                          \
    "  chain:\n"                                                                             \
    "    solver: multibody\n"                                                                \
    "    start_in_equilibrium: true\n"                                                       \
    "    gravity: [0, -9.81/slow^2, 0]\n"                                                    \
    "    bodies:\n"                                                                          \
    "      - {name: \"link_{i}\", repeat: 6, mass: 1, inertia: [0.01, 0.1, 0.1], position: " \
    "[\"{i} - 0.5\", 0, 0]}\n"                                                               \
    "    joints:\n"                                                                          \
    "      - {name: root, type: spherical, between: [ground, link_1], at: [0, 0, 0]}\n"      \
    "      - {name: \"ball_{i}\", repeat: 5, type: spherical, between: [\"link_{i}\", "      \
    "\"link_{i+1}\"], at: [\"{i}\", "                                                        \
    "0, 0]}\n"                                                                               \
    "    forces:\n"                                                                          \
    "      draw: {type: spring, between: [ground, link_6], markers: [{offset: [5, 1, 0]}, "  \
    "{offset: [0.5, 0, 0]}],\n"                                                              \
    "             stiffness: 50/slow^2, free_length: 0.5}\n"                                 \
    "record: {channels: [chain.link_6.position]}\n"

/* A rubber rod, clamped at one end, bends down under its weight. */
#define ROD                                                                                     \
    "time: {end: 1e-3, step: 1e-3}\n"                                                           \
    "subsystems:\n"                                                                             \
    "  rod:\n"                                                                                  \
    "    solver: multibody\n"                                                                   \
    "    start_in_equilibrium: true\n"                                                          \
    "    gravity: [0, -9.81*unit, 0]\n"                                                         \
    "    flexible_bodies:\n"                                                                    \
    "      rod: {type: ancf, length: unit, elements: 8, attachments: {root: 0, tip: 8},\n"      \
    "            section: {type: tube, radius: 0.01*unit, young_modulus: 5e6*unit^2, density: " \
    "1100}}\n"                                                                                  \
    "    joints:\n"                                                                             \
    "      clamp: {type: fixed, between: [ground, rod.root]}\n"                                 \
    "record: {channels: [rod.rod.tip.position]}\n"

static void find(const char *parameter, double value, const char *text, double at[3])
{
    char all[4096];
    snprintf(all, sizeof all, "parameters: {%s: %g}\n%s", parameter, value, text);
    loading l = load_good(all);
    yk_system *system;
    assert_int_equal(yk_scenario_system(l.scenario, &system), YK_OK);
    yk_status status = yk_system_initialize(system);
    if (YK_FAILED(status))
        print_error("%s = %g: %s\n", parameter, value, yk_last_message(l.context));
    assert_true(!YK_FAILED(status));
    yk_scenario_read_sample(l.scenario, at);
    unload(&l);
}

static void time_does_not_matter(void **state)
{
    (void)state;
    double usual[3], other[3];
    find("slow", 1, CHAIN, usual);
    static const double scales[] = {1e-6, 1e-3, 1e3, 1e6};
    for (int i = 0; i < 4; i++) {
        find("slow", scales[i], CHAIN, other);
        for (int k = 0; k < 3; k++)
            assert_near(other[k], usual[k], 1e-8);
    }
}

static void length_does_not_matter(void **state)
{
    (void)state;
    double usual[3], other[3];
    find("unit", 1, ROD, usual);
    assert_near(usual[0], 0.1765, 1e-3); /* nearly straight down */
    static const double scales[] = {1e-6, 1e-3, 1e3};
    for (int i = 0; i < 3; i++) {
        find("unit", scales[i], ROD, other);
        for (int k = 0; k < 3; k++)
            assert_near(other[k] / scales[i], usual[k], 1e-7);
    }
}

/* Nothing to carry: what is left is rounding of a stiff rod. */
static void no_load_is_in_balance(void **state)
{
    (void)state;
    double at[3];
    find("young", 2.1e11,
         "time: {end: 1e-3, step: 1e-3}\n"
         "subsystems:\n"
         "  rod:\n"
         "    solver: multibody\n"
         "    gravity: [0, 0, 0]\n"
         "    start_in_equilibrium: true\n"
         "    flexible_bodies:\n"
         "      rod: {type: ancf, length: 1, elements: 8, attachments: {root: 0, tip: 8},\n"
         "            section: {type: rectangle, width_y: 0.02, width_z: 0.01, young_modulus: "
         "young, "
         "density: 7800}}\n"
         "    joints:\n"
         "      pin: {type: custom, between: [ground, rod.root], constrained_axes: [x, y, z, rx]}\n"
         "      slide: {type: custom, between: [ground, rod.tip], at: [1, 0, 0], constrained_axes: "
         "[y, z]}\n"
         "record: {channels: [rod.rod.tip.position]}\n",
         at);
    assert_near(at[0], 1, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_does_not_matter),
        cmocka_unit_test(no_load_is_in_balance),
        cmocka_unit_test(length_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
