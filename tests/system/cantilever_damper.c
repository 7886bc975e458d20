/* The cantilever with a particle damper (models/cantilever-damper), run from its scenario files:
 * the coupled model against the lumped one, the scheme tight against explicit, and the wrenches and
 * motions that the two sides of the clamp exchange. */
#include <stdlib.h>
#include <string.h>

#include "scenario_run.h"

/* Largest difference of the first sampled number between two runs over some steps, relative to
 * the second's peak. */
static double difference(run *a, run *b, int steps)
{
    double largest = 0, peak = 0, first = b->sample[0];
    for (int n = 0; n < steps; n++) {
        step(a);
        step(b);
        largest = fmax(largest, fabs(a->sample[0] - b->sample[0]));
        peak = fmax(peak, fabs(b->sample[0] - first));
    }
    close_run(a);
    close_run(b);
    return largest / peak;
}

/* All of the 55.5 g on the clamp's two sides and no particles: the same beam as with the mass
 * lumped. */
static void without_particles_the_coupled_model_is_the_lumped_one(void **state)
{
    (void)state;
    const char *const coupled[] = {"subsystems.damper.particles={}", "parameters.count=0",
                                   "parameters.container_mass=55.5e-3",
                                   "record.channels=[beam.tip.position.y]", NULL};
    const char *const lumped[] = {"parameters.particle_mass=7e-3",
                                  "record.channels=[beam.tip.position.y]", NULL};
    run a = open_run("cantilever-damper/scenario.yaml", coupled),
        b = open_run("cantilever-damper/lumped.yaml", lumped);
    assert_true(difference(&a, &b, 2000) < 2e-3);
}

static void tight_and_explicit_agree_with_particles(void **state)
{
    (void)state;
    const char *const tight[] = {"parameters.count=30", "record.channels=[beam.tip.position.y]",
                                 NULL};
    const char *const once[] = {"parameters.count=30", "record.channels=[beam.tip.position.y]",
                                "coupling.scheme=explicit", NULL};
    run a = open_run("cantilever-damper/scenario.yaml", once),
        b = open_run("cantilever-damper/scenario.yaml", tight);
    assert_true(difference(&a, &b, 1000) < 2e-3);
}

/* Turning at a constant rate: the particles begin at rest in their container, so nothing strikes
 * a wall and the tip goes round as it does with a lumped mass. At rest in the room, they would
 * meet its wall at 1.6 m/s within 1 ms. */
static void particles_begin_in_the_turning_container(void **state)
{
    (void)state;
    const char *const coupled[] = {"parameters.spin=2*pi", "parameters.count=30",
                                   "parameters.amplitude=0",
                                   "record.channels=[beam.tip.velocity.z]", NULL};
    const char *const lumped[] = {"parameters.spin=2*pi", "parameters.amplitude=0",
                                  "parameters.particle_mass=30*11344*4/3*pi*1e-9",
                                  "record.channels=[beam.tip.velocity.z]", NULL};
    run a = open_run("cantilever-damper/scenario.yaml", coupled),
        b = open_run("cantilever-damper/lumped.yaml", lumped);
    assert_near(b.sample[0], -2 * 3.14159265358979 * 0.25, 1e-9);
    double largest = 0;
    for (int n = 0; n < 100; n++) {
        step(&a);
        step(&b);
        largest = fmax(largest, fabs(a.sample[0] - b.sample[0]));
    }
    close_run(&a);
    close_run(&b);
    assert_true(largest < 1e-4);
}

static double mean_height(const double *particles, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += particles[3 * i + 2];
    return sum / count;
}

/* Furthest height of a centre from the middle of the cavity. */
static double highest_above(const double *particles, int count, double middle)
{
    double largest = 0;
    for (int i = 0; i < count; i++)
        largest = fmax(largest, fabs(particles[3 * i + 2] - middle));
    return largest;
}

/* The particles stay in their cavity, 6 mm up and down from its middle. The wrench on one side is
 * the opposite of that on the other, to rounding, and it is what the momentum of container and
 * particles asks for: impulse of reaction and weight = change of momentum. */
static void wrenches_are_opposite_and_gaps_small(void **state)
{
    (void)state;
    enum { COUNT = 30, STEPS = 400, PARTICLES = 8 };
    const char *const overrides[] = {
        "parameters.count=30",
        "record.channels=[beam.tip.wrench, damper.container.position.y, tip.gap_position, "
        "damper.particle_positions]",
        NULL};
    run r = open_run("cantilever-damper/scenario.yaml", overrides);
    const double h = r.info->step, sphere = 11344 * 4.0 / 3 * 3.14159265358979 * 1e-9,
                 mass = 0.02 * 48.5e-3;
    double impulse = 0, height = 0, container = 0;
    assert_int_equal(r.info->values_per_sample, PARTICLES + 3 * COUNT);
    for (int n = 0; n < STEPS; n++) {
        height = mean_height(r.sample + PARTICLES, COUNT);
        container = r.sample[6];
        step(&r);
        const yk_wrench *here =
            &yk_system_port_value(r.system, (yk_subsystem_id){1}, (yk_port_id){0})->wrench;
        assert_true(r.sample[7] < 1e-9);
        assert_true(highest_above(r.sample + PARTICLES, COUNT, r.sample[6]) < 5.1e-3);
        /* y of the whole system is z of the damper. */
        assert_near(r.sample[1], -here->force.y, 1e-12 + 1e-9 * fabs(here->force.y));
        impulse += h * (-r.sample[1] - 9.81 * (COUNT * sphere + mass));
    }
    double end = mean_height(r.sample + PARTICLES, COUNT);
    double momentum = (COUNT * sphere * (end - height) + mass * (r.sample[6] - container)) / h;
    assert_near(impulse, momentum, 1e-3 * fabs(momentum) + 1e-8);
    close_run(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_particles_the_coupled_model_is_the_lumped_one),
        cmocka_unit_test(tight_and_explicit_agree_with_particles),
        cmocka_unit_test(particles_begin_in_the_turning_container),
        cmocka_unit_test(wrenches_are_opposite_and_gaps_small),
    };
    return cmocka_run_group_tests_name("cantilever with a particle damper", tests, NULL, NULL);
}
