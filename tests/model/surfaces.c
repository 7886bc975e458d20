/* Pairs of materials, groups of shapes and forces of contacts in scenarios, by blocks that slide. */
#include <math.h>

#include "loading.h"
#include "math/vec3.h"

#include "yoke/system.h"

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
    "    ground_shapes: [{type: plane, material: ice, collision_group: floor}]\n"
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
    "          - {type: box, size: [0.2, 0.2, 0.2], density: 1000, no_collision_with: [floor]}\n"
    "    contact: {max_iterations: 200, tolerance: 1e-12, friction_model: coulomb}\n"
    "record:\n"
    "  channels: [world.steel.velocity, world.wood.velocity, world.ghost.velocity,\n"
    "             world.steel.contact_force, world.ghost.contact_force]\n";

static void pairs_and_groups_count(void **state)
{
    (void)state;
    loading l = load_good(text);
    yk_system *system;
    assert_int_equal(yk_scenario_system(l.scenario, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);
    for (int i = 0; i < 500; i++)
        assert_true(!YK_FAILED(yk_system_step(system, NULL)));

    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
    assert_int_equal(info->values_per_sample, 15);
    double sample[15];
    yk_scenario_read_sample(l.scenario, sample);
    assert_near(sample[0], 1 - 0.02 * G * 0.5, 1e-6); /* what the pair says */
    assert_near(sample[3], 1 - 0.1 * G * 0.5, 1e-6);  /* the smaller of the two */
    assert_near(sample[8], -0.5 * G, 1e-9);           /* falls through the floor */
    assert_near(sample[9], -0.02 * 8 * G, 1e-6);
    assert_near(sample[11], 8 * G, 1e-6);
    assert_near(sample[14], 0, 1e-12);
    unload(&l);
}

/* A slope of 0.3 between two coefficients, a ball that hangs from a pair, one that sinks by Hertz. */
static const char laws[] =
    "time: {end: 0.1, step: 1e-3}\n"
    "subsystems:\n"
    "  slope:\n"
    "    solver: nonsmooth\n"
    "    gravity: [2.943, 0, -9.81]\n"
    "    materials: {wood: {friction: 0.1, static_friction: 0.4, stribeck_velocity: 1e-4}}\n"
    "    ground_shapes: [{type: plane, material: wood}]\n"
    "    bodies:\n"
    "      rests:\n"
    "        position: [0, 0, 0.1]\n"
    "        shapes: [{type: box, size: [0.2, 0.2, 0.2], density: 1000, material: wood}]\n"
    "      slides:\n"
    "        position: [0, 1, 0.1]\n"
    "        velocity: [1, 0, 0]\n"
    "        shapes: [{type: box, size: [0.2, 0.2, 0.2], density: 1000, material: wood}]\n"
    "    contact: {max_iterations: 200, tolerance: 1e-12, friction_model: coulomb}\n"
    "  ceiling:\n"
    "    solver: nonsmooth\n"
    "    gravity: [0, 0, 9.81]\n"
    "    materials: {glue: {friction: 0.1}, dry: {cohesion: 100}}\n"
    "    material_pairs: [{between: [glue, glue], cohesion: 50, cohesion_range: 1e-4}]\n"
    "    ground_shapes: [{type: plane, material: glue}]\n"
    "    bodies:\n"
    "      hangs:\n"
    "        position: [0, 0, 0.1]\n"
    "        shapes: [{type: sphere, radius: 0.1, density: 1000, material: glue}]\n"
    "      falls:\n"
    "        position: [0, 1, 0.1]\n"
    "        shapes: [{type: sphere, radius: 0.1, density: 1000, material: dry}]\n"
    "  bed:\n"
    "    solver: nonsmooth\n"
    "    materials: {rubber: {plane_strain_modulus: 2e8}, steel: {plane_strain_modulus: 2e8}}\n"
    "    ground_shapes: [{type: plane, material: steel}]\n"
    "    bodies:\n"
    "      sinks:\n"
    "        position: [0, 0, 0.1]\n"
    "        shapes: [{type: sphere, radius: 0.1, density: 1000, material: rubber}]\n"
    "record:\n"
    "  channels: [slope.rests.velocity, slope.slides.velocity, ceiling.hangs.velocity,\n"
    "             ceiling.falls.velocity, bed.sinks.position]\n";

static void laws_of_surfaces_count(void **state)
{
    (void)state;
    loading l = load_good(laws);
    yk_system *system;
    assert_int_equal(yk_scenario_system(l.scenario, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);
    double sample[15];
    for (int i = 0; i < 1000; i++) {
        assert_true(!YK_FAILED(yk_system_step(system, NULL)));
        if (i != 99)
            continue;
        yk_scenario_read_sample(l.scenario, sample);
        assert_near(sample[0], 0, 1e-9);
        assert_near(sample[3], 1 + (0.3 - 0.1) * G * 0.1, 1e-6);
        assert_near(sample[8], 0, 1e-9);
        assert_near(sample[11], G * 0.1, 1e-9);
    }

    /* Both surfaces together have half the modulus. */
    double mass = 1000 * 4. / 3 * YK_PI * 1e-3, k = 4. / 3 * 1e8 * sqrt(0.1);
    yk_scenario_read_sample(l.scenario, sample);
    assert_near(sample[14], 0.1 - pow(mass * G / k, 2. / 3), 1e-8);
    unload(&l);
}

/* A ball that falls on a floor with 0.5 m/s rebounds, unless that is slower than impacts that do;
 * and one that starts 10 mm deep leaves the floor with the speed that is allowed. */
static double speed_after(const char *override, const char *start)
{
    static const char world[] =
        "time: {end: 0.01, step: 1e-3}\n"
        "subsystems:\n"
        "  world:\n"
        "    solver: nonsmooth\n"
        "    gravity: [0, 0, 0]\n"
        "    materials: {steel: {restitution: 1}}\n"
        "    ground_shapes: [{type: plane, material: steel}]\n"
        "    bodies:\n"
        "      ball:\n"
        "        position: [0, 0, 0.1]\n"
        "        shapes: [{type: sphere, radius: 0.1, density: 1000, material: steel}]\n"
        "record: {channels: [world.ball.velocity.z]}\n";
    const char *const overrides[] = {override, start};
    loading l = load_with(world, overrides, 2);
    if (l.status != YK_OK)
        print_error("%s", l.text);
    assert_int_equal(l.status, YK_OK);
    yk_system *system;
    double sample[1];
    assert_int_equal(yk_scenario_system(l.scenario, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(yk_system_step(system, NULL), YK_OK);
    yk_scenario_read_sample(l.scenario, sample);
    unload(&l);
    return sample[0];
}

static void speeds_of_contacts_count(void **state)
{
    (void)state;
    const char *const falls = "subsystems.world.bodies.ball.velocity=[0, 0, -0.5]";
    assert_near(speed_after("subsystems.world.contact={min_bounce_speed: 0.1}", falls), 0.5, 1e-9);
    assert_near(speed_after("subsystems.world.contact={min_bounce_speed: 0.6}", falls), 0, 1e-9);

    const char *const deep = "subsystems.world.bodies.ball.position=[0, 0, 0.09]";
    assert_near(speed_after("subsystems.world.contact={max_recovery_speed: 0.5}", deep), 0.5, 1e-9);
    assert_near(speed_after("subsystems.world.contact={max_recovery_speed: 0.25}", deep), 0.25,
                1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pairs_and_groups_count),
                                       cmocka_unit_test(laws_of_surfaces_count),
                                       cmocka_unit_test(speeds_of_contacts_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
