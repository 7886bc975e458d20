/* Pairs of materials, groups of shapes and forces of contacts in scenarios, by blocks that slide. */
#include "loading.h"

#include "yoke/coupling.h"

static const double G = 9.81;

/* Blocks of 8 kg on a plane of ice, all pushed off with 1 m/s. */
static const char text[] =
    "time: {end: 0.5, step: 1e-3}\n"
    "subsystems:\n"
    "  world:\n"
    "    solver: nonsmooth\n"
    "    materials:\n"
    "      ice: {friction: 0.5}\n"
    "      steel: {friction: 0.5}\n"
    "      wood: {friction: 0.1}\n"
    "    material_pairs:\n"
    "      - {between: [ice, steel], friction: 0.02}\n"
    "      - {between: [wood, wood], friction: 0.7}\n"
    "    ground: [{type: plane, material: ice, group: floor}]\n"
    "    bodies:\n"
    "      steel:\n"
    "        position: [0, 0, 0.1]\n"
    "        velocity: [1, 0, 0]\n"
    "        shapes: [{type: box, size: [0.2, 0.2, 0.2], density: 1000, material: steel}]\n"
    "      wood:\n"
    "        position: [0, 1, 0.1]\n"
    "        velocity: [1, 0, 0]\n"
    "        shapes: [{type: box, size: [0.2, 0.2, 0.2], density: 1000, material: wood}]\n"
    "      ghost:\n"
    "        position: [0, 2, 0.1]\n"
    "        shapes:\n"
    "          - {type: box, size: [0.2, 0.2, 0.2], density: 1000, passes: [floor]}\n"
    "    contact: {iterations: 200, tolerance: 1e-12, friction: coulomb}\n"
    "record:\n"
    "  channels: [world.steel.velocity, world.wood.velocity, world.ghost.velocity,\n"
    "             world.steel.contact_force, world.ghost.contact_force]\n";

static void pairs_and_groups_count(void **state)
{
    (void)state;
    loading l = load_good(text);
    yk_system *system;
    assert_int_equal(yk_scenario_system(l.scenario, &system), YK_OK);
    assert_int_equal(yk_system_start(system), YK_OK);
    for (int i = 0; i < 500; i++)
        assert_true(yk_system_step(system, NULL) >= 0);

    const yk_scenario_info *info = yk_scenario_get(l.scenario);
    assert_int_equal(info->sample_size, 15);
    double sample[15];
    yk_scenario_sample(l.scenario, sample);
    assert_near(sample[0], 1 - 0.02 * G * 0.5, 1e-6); /* what the pair says */
    assert_near(sample[3], 1 - 0.1 * G * 0.5, 1e-6);  /* the smaller of the two */
    assert_near(sample[8], -0.5 * G, 1e-9);           /* falls through the floor */
    assert_near(sample[9], -0.02 * 8 * G, 1e-6);
    assert_near(sample[11], 8 * G, 1e-6);
    assert_near(sample[14], 0, 1e-12);
    unload(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pairs_and_groups_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
