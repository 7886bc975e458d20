/* Schemes that merge the subsystems to one: channels and feedbacks of each stay its own. */
#include <math.h>
#include <string.h>

#include "scenario_run.h"

/* Two bodies of one name that nothing joins, each braked in proportion to its own speed: v = v0
 * exp(-d t). */
static const char brakes[] =
    "title: brakes\n"
    "time: {end: 1, step: 1e-3}\n"
    "subsystems:\n"
    "  left:\n"
    "    solver: multibody\n"
    "    gravity: [0, 0, 0]\n"
    "    integrator: {type: generalized-alpha, formulation: stabilized-ode}\n"
    "    bodies: {block: {mass: 1, inertia: [1, 1, 1], velocity: [1, 0, 0]}}\n"
    "    forces:\n"
    "      brake: {type: force, body: block, vector: [1, 0, 0],\n"
    "              feedback: {inputs: {v: block.velocity.x}, expression: -2*v}}\n"
    "  right:\n"
    "    solver: multibody\n"
    "    gravity: [0, 0, 0]\n"
    "    integrator: {type: generalized-alpha, formulation: stabilized-ode}\n"
    "    bodies: {wheel: {mass: 1, inertia: [1, 1, 1]}, block: {mass: 1, inertia: [1, 1, 1], "
    "velocity: [3, 0, 0]}}\n"
    "    forces:\n"
    "      brake: {type: force, body: block, vector: [1, 0, 0],\n"
    "              feedback: {inputs: {v: block.velocity.x}, expression: -0.5*v*(1 + 0*t)}}\n"
    "coupling: {scheme: explicit}\n"
    "record: {channels: [left.block.velocity.x, right.block.velocity.x, right.wheel.position.x, "
    "left.energy, "
    "right.energy]}\n";

static void check_brakes(const char *coupling)
{
    const char *const overrides[] = {coupling, NULL};
    run r = open_text("brakes", brakes, overrides);
    run_to(&r, 1);
    assert_near(r.sample[0], exp(-2), 1e-6);
    assert_near(r.sample[1], 3 * exp(-0.5), 1e-6);
    assert_near(r.sample[2], 0, 1e-15);
    close_run(&r);
}

static void each_feedback_reads_its_own_subsystem(void **state)
{
    (void)state;
    check_brakes("coupling.scheme=explicit");
    check_brakes("coupling.scheme=monolithic");
    check_brakes("coupling.scheme=relaxed");
    check_brakes("coupling={scheme: relaxed, sequence: jacobi, threads: 2}");
}

/* The slider-crank in one subsystem and in two that are merged: every channel that both have. */
static void channels_show_the_parts(void **state)
{
    (void)state;
    const char *const whole_set[] = {
        "time.step=1e-3",
        "subsystems.mechanism.integrator={type: generalized-alpha, formulation: stabilized-ode, "
        "newton_relative_tolerance: "
        "1e-9}",
        "record.channels=[mechanism.rod.velocity, mechanism.bearing.torque, mechanism.ball.force, "
        "mechanism.slider.orientation, mechanism.slider.acceleration, mechanism.guide.force]",
        NULL};
    static const char *const schemes[] = {
        "coupling={scheme: monolithic}", "coupling={scheme: relaxed, relative_tolerance: 1e-11}",
        "coupling={scheme: relaxed, sequence: jacobi, relative_tolerance: 1e-11, max_sweeps: 60}"};
    run whole = open_run("slider-crank/scenario.yaml", whole_set);
    run_to(&whole, 0.2);
    for (int k = 0; k < 3; k++) {
        const char *const set[] = {
            "time.step=1e-3",
            schemes[k],
            "subsystems.linkage.integrator.newton_relative_tolerance=1e-9",
            "subsystems.sledge.integrator.newton_relative_tolerance=1e-9",
            "record.channels=[linkage.rod.velocity, linkage.bearing.torque, linkage.ball.force, "
            "sledge.slider.orientation, sledge.slider.acceleration, sledge.guide.force]",
            NULL};
        run parts = open_run("relaxed-slider-crank/scenario.yaml", set);
        assert_int_equal(parts.info->values_per_sample, whole.info->values_per_sample);
        run_to(&parts, 0.2);
        for (int i = 0; i < whole.info->values_per_sample; i++)
            assert_near(parts.sample[i], whole.sample[i], 1e-6);
        close_run(&parts);
    }
    close_run(&whole);
}

/* A double pendulum whose second link has a spring, a bushing, a rolled cable and loads of every
 * kind. */
#define UPPER                                                                          \
    "time: {end: 0.5, step: 1e-3}\n"                                                   \
    "subsystems:\n"                                                                    \
    "  upper:\n"                                                                       \
    "    solver: multibody\n"                                                          \
    "    gravity: [0, -9.81, 0]\n"                                                     \
    "    integrator: {type: two-step}\n"                                               \
    "    bodies: {bar: {mass: 1, inertia: [0.01, 0.1, 0.1], position: [0.5, 0, 0]}}\n" \
    "    joints: {pin: {type: spherical, between: [ground, bar], at: [0, 0, 0]}}\n"    \
    "    ports: {end: {body: bar, offset: [0.5, 0, 0]}}\n"

static const char in_metres[] = UPPER
    "  lower:\n"
    "    solver: multibody\n"
    "    gravity: [0, -9.81, 0]\n"
    "    integrator: {type: two-step}\n"
    "    bodies:\n"
    "      bob: {mass: 0.5, inertia: [0.01, 0.02, 0.025], center_of_mass: [0.02, 0, 0.01], "
    "position: [1.5, "
    "0, 0],\n"
    "            velocity: [0, 0.25, 0], angular_velocity: [0, 0, 0.5]}\n"
    "    joints:\n"
    "      rope: {type: distance, between: [ground, bob], distance: '2 + 0.1*sin(3*t)^2',\n"
    "             markers: [{offset: [1.5, 0, 2]}, {offset: [0, 0, 0]}]}\n"
    "    forces:\n"
    "      spring: {type: spring, between: [ground, bob], markers: [{offset: [1.5, 2, 0.4]}, "
    "{offset: [0.1, 0, 0]}],\n"
    "               stiffness: 20, damping: 0.5, free_length: 1, load: 3*sin(t)}\n"
    "      twist: {type: torsion-spring, between: [ground, bob], at: [1.5, 0, 0], orientation: [1, "
    "0, 0, "
    "0], stiffness: 0.3, "
    "damping: "
    "0.1,\n"
    "              free_angle: 0.2, load: 0.1*t}\n"
    "      pad: {type: bushing, between: [ground, bob], at: [1.5, 0, 0],\n"
    "            stiffness: [3, 2, 1, 0.3, 0.2, 0.1], damping: [0.1, 0.1, 0.1, 0.01, 0.01, 0.01]}\n"
    "      wind: {type: force, body: bob, offset: [0, 0.1, 0], vector: [0, 0.7, 0.2], factor: 1 + "
    "t}\n"
    "      motor: {type: torque, body: bob, vector: [0.01, 0.02, 0.03],\n"
    "              feedback: {inputs: {v: bob.velocity.y, z: bob.position.x}, expression: 1 - v + "
    "z}}\n"
    "      jet: {type: force, body: bob, vector: [0.1, 0, 0.05], follower: true}\n"
    "    ports: {start: {body: bob, offset: [-0.5, 0, 0]}}\n"
    "interfaces: {hinge: {between: [upper.end, lower.start], joint: spherical}}\n"
    "coupling: {scheme: monolithic}\n"
    "record: {channels: [upper.end.position, lower.start.position, lower.start.velocity, "
    "lower.start.wrench, "
    "lower.energy, upper.energy, lower.rope.force, lower.bob.position, lower.bob.angular_velocity, "
    "lower.spring.elongation, lower.rope.displacement]}\n";

/* The same in millimetres and grams, seen from a frame that is shifted by (0.1, -0.2, 0.3) m and
 * turned by a quarter about z: x of the subsystem is y of the whole, its y is -x of the whole.
 * Forces in g mm/s2, torques in g mm2/s2. */
static const char in_millimetres[] = UPPER
    "  lower:\n"
    "    solver: multibody\n"
    "    units: {length: mm, mass: g}\n"
    "    pose: {position: [0.1, -0.2, 0.3], orientation: [0.70710678118654757, 0, 0, "
    "0.70710678118654757]}\n"
    "    gravity: [-9810, 0, 0]\n"
    "    integrator: {type: two-step}\n"
    "    bodies:\n"
    "      bob: {mass: 500, inertia: [1e7, 2e7, 2.5e7], center_of_mass: [20, 0, 10], position: "
    "[200, "
    "-1400, -300],\n"
    "            orientation: [0.70710678118654757, 0, 0, -0.70710678118654757],\n"
    "            velocity: [250, 0, 0], angular_velocity: [0, 0, 0.5]}\n"
    "    joints:\n"
    "      rope: {type: distance, between: [ground, bob], distance: '2000 + 100*sin(3*t)^2',\n"
    "             markers: [{offset: [200, -1400, 1700], orientation: [0.70710678118654757, 0, 0, "
    "-0.70710678118654757]},\n"
    "                       {offset: [0, 0, 0]}]}\n"
    "    forces:\n"
    "      spring: {type: spring, between: [ground, bob], markers: [{offset: [2200, -1400, 100]}, "
    "{offset: [100, 0, "
    "0]}],\n"
    "               stiffness: 20e3, damping: 500, free_length: 1000, load: 3e6*sin(t)}\n"
    "      twist: {type: torsion-spring, between: [ground, bob], at: [200, -1400, -300], "
    "stiffness: "
    "0.3e9,\n"
    "              orientation: [0.70710678118654757, 0, 0, -0.70710678118654757],\n"
    "              damping: 0.1e9, free_angle: 0.2, load: 0.1e9*t}\n"
    "      pad: {type: bushing, between: [ground, bob], at: [200, -1400, -300],\n"
    "            orientation: [0.70710678118654757, 0, 0, -0.70710678118654757],\n"
    "            stiffness: [3e3, 2e3, 1e3, 0.3e9, 0.2e9, 0.1e9], damping: [100, 100, 100, 0.01e9, "
    "0.01e9, 0.01e9]}\n"
    "      wind: {type: force, body: bob, offset: [0, 100, 0], vector: [0.7e6, 0, 0.2e6], factor: "
    "1 + "
    "t}\n"
    "      motor: {type: torque, body: bob, vector: [0.02e9, -0.01e9, 0.03e9],\n"
    "              feedback: {inputs: {v: bob.velocity.x, z: bob.position.y}, expression: 1 - "
    "v/1000 + "
    "0.1 - z/1000}}\n"
    "      jet: {type: force, body: bob, vector: [0.1e6, 0, 0.05e6], follower: true}\n"
    "    ports: {start: {body: bob, offset: [-500, 0, 0]}}\n"
    "interfaces: {hinge: {between: [upper.end, lower.start], joint: spherical}}\n"
    "coupling: {scheme: monolithic}\n"
    "record: {channels: [upper.end.position, lower.start.position, lower.start.velocity, "
    "lower.start.wrench, "
    "lower.energy, upper.energy, lower.rope.force, lower.bob.position, lower.bob.angular_velocity, "
    "lower.spring.elongation, lower.rope.displacement]}\n";

static run run_pendulum(const char *scenario, const char *scheme, const char *integrator)
{
    char set[3][80];
    snprintf(set[0], sizeof set[0], "coupling.scheme=%s", scheme);
    snprintf(set[1], sizeof set[1], "subsystems.upper.integrator.type=%s", integrator);
    snprintf(set[2], sizeof set[2], "subsystems.lower.integrator.type=%s", integrator);
    const char *const overrides[] = {set[0], set[1], set[2], NULL};
    run r = open_text("pendulum", scenario, overrides);
    run_to(&r, 0.5);
    return r;
}

/* From the axes of the subsystem to those of the whole, of a vector or a point. */
static void to_whole(double *v, const double shift[3])
{
    double own[3] = {v[0], v[1], v[2]};
    v[0] = shift[0] - own[1];
    v[1] = shift[1] + own[0];
    v[2] = shift[2] + own[2];
}

static void units_and_frames_are_converted(void **state)
{
    (void)state;
    enum { PORTS = 3 + 3 + 3 + 6 + 4 + 4, ROPE = PORTS, BOB = ROPE + 3, SPIN = BOB + 3 };
    static const char *const variants[][2] = {
        {"monolithic", "two-step"}, {"monolithic", "generalized-alpha"}, {"relaxed", "two-step"}};
    const double none[3] = {0, 0, 0}, origin[3] = {0.1, -0.2, 0.3};
    for (int k = 0; k < 3; k++) {
        run a = run_pendulum(in_metres, variants[k][0], variants[k][1]);
        run b = run_pendulum(in_millimetres, variants[k][0], variants[k][1]);
        to_whole(&b.sample[ROPE], none);
        to_whole(&b.sample[BOB], origin);
        to_whole(&b.sample[SPIN], none);
        for (int i = 0; i < a.info->values_per_sample; i++) {
            double difference = fabs(a.sample[i] - b.sample[i]);
            if (!(difference < 1e-6))
                print_error("%s, value %d: %g and %g\n", variants[k][0], i, a.sample[i],
                            b.sample[i]);
            assert_true(difference < 1e-6);
        }
        close_run(&a);
        close_run(&b);
    }
}

static void oscillators_with_units_are_merged(void **state)
{
    (void)state;
    static const char masses[] = "time: {end: 1, step: 1e-3}\n"
                                 "subsystems:\n"
                                 "  left: {solver: oscillator, integrator: {type: exact}, mass: "
                                 "2000, stiffness: 5000, position: 100, force: "
                                 "1e6*t,\n"
                                 "         units: {mass: g, length: mm}}\n"
                                 "  right: {solver: oscillator, mass: 1, stiffness: 7, damping: "
                                 "0.1, position: 0.1, force: 2 - t}\n"
                                 "interfaces: {joint: {between: [left.mass, right.mass]}}\n"
                                 "coupling: {scheme: monolithic}\n"
                                 "record: {channels: [left.mass.position, right.mass.velocity]}\n";
    run r = open_text("masses", masses, NULL);
    run_to(&r, 1);
    /* 3 x'' + 0.1 x' + 12 x = 2 from x = 0.1 at rest. */
    double d = 0.1 / 6, w = sqrt(4 - d * d), x = 0.1 - 1.0 / 6;
    double wave = exp(-d) * x * (cos(w) + d / w * sin(w));
    assert_near(r.sample[0], 1.0 / 6 + wave, 1e-7);
    assert_near(r.sample[1], -exp(-d) * x * 4 / w * sin(w), 1e-7);
    close_run(&r);
}

/* A box on a spring with marbles in it, as one world and cut between the plate and the box; the
 * plate reaches into the box, which it does not touch in either. */
#define PLATE(TOUCHES)                                                                \
    "      plate: {mass: 0.4, inertia: [1e-3, 1e-3, 1e-3], position: [0, 0, 0.15],\n" \
    "              shapes: [{type: box, size: [0.02, 0.02, 0.2], material: steel, "   \
    "collides: " TOUCHES "}]}\n"
#define BOX                                                                                        \
    "      box: {mass: 0.5, inertia: [2e-3, 2e-3, 2e-3],\n"                                        \
    "            shapes: [{type: box-cavity, size: [0.1, 0.1, 0.1], material: steel}]}\n"          \
    "      one: {position: [-0.02, 0.01, -0.02], shapes: [{type: sphere, radius: 0.01, density: "  \
    "7800, material: "                                                                             \
    "steel}]}\n"                                                                                   \
    "      two: {position: [0.02, -0.01, -0.02], shapes: [{type: sphere, radius: 0.015, density: " \
    "7800, material: "                                                                             \
    "steel}]}\n"                                                                                   \
    "      three: {position: [0.02, 0.025, 0], shapes: [{type: sphere, radius: 0.012, density: "   \
    "7800, material: "                                                                             \
    "steel}]}\n"
#define HANGER                                                                                    \
    "    forces: {spring: {type: spring, between: [ground, plate], markers: [{offset: [0, 0, "    \
    "0.6]}, {offset: [0, 0, "                                                                     \
    "0]}],\n"                                                                                     \
    "             stiffness: 300, damping: 0.5, free_length: 0.4, signal_port: pull}}\n"          \
    "    joints: {rail: {type: prismatic, between: [ground, plate], at: [0, 0, 0.15], axis: [0, " \
    "0, 1]}}\n"
#define CONTROL             \
    "  command:\n"          \
    "    solver: control\n" \
    "    loops: {pull: {reference: 3*sin(20*t), proportional: 1}}\n"

static const char one_world[] = "time: {end: 0.3, step: 5e-4}\n"
                                "subsystems:\n" CONTROL "  all:\n"
                                "    solver: nonsmooth\n"
                                "    gravity: [0, 0, -9.81]\n"
                                "    contact: {tolerance: 1e-10, max_iterations: 2000}\n"
                                "    materials: {steel: {friction: 0.3, restitution: 0.2}}\n"
                                "    bodies:\n" PLATE("false") BOX
    "    forces: {spring: {type: spring, between: [ground, plate], markers: [{offset: [0, 0, "
    "0.6]}, {offset: [0, 0, 0]}],\n"
    "             stiffness: 300, damping: 0.5, free_length: 0.4, signal_port: pull}}\n"
    "    joints:\n"
    "      rail: {type: prismatic, between: [ground, plate], at: [0, 0, 0.15], axis: [0, 0, 1]}\n"
    "      weld: {type: fixed, between: [box, plate], at: [0, 0, 0.05]}\n"
    "wires: {pull: {from: command.pull, to: all.pull}}\n"
    "coupling: {scheme: explicit}\n"
    "record: {channels: [all.box.position, all.one.position, all.two.position, all.three.position, "
    "all.rail.displacement, "
    "all.weld.force]}\n";
static const char two_worlds[] =
    "time: {end: 0.3, step: 5e-4}\n"
    "subsystems:\n"
    "  inside:\n"
    "    solver: nonsmooth\n"
    "    gravity: [0, 0, -9.81]\n"
    "    contact: {tolerance: 1e-10, max_iterations: 2000}\n"
    "    materials: {steel: {friction: 0.3, restitution: 0.2}}\n"
    "    bodies:\n" BOX "    ports: {top: {body: box, offset: [0, 0, 0.05]}}\n" CONTROL
    "  outside:\n"
    "    solver: nonsmooth\n"
    "    gravity: [0, 0, -9.81]\n"
    "    materials: {steel: {friction: 0.3, restitution: 0.2}}\n"
    "    bodies:\n" PLATE("true") HANGER
    "    ports: {bottom: {body: plate, offset: [0, 0, -0.1]}}\n"
    "interfaces: {weld: {between: [outside.bottom, inside.top], joint: fixed}}\n"
    "wires: {pull: {from: command.pull, to: outside.pull}}\n"
    "coupling: {scheme: monolithic}\n"
    "record: {channels: [inside.box.position, inside.one.position, inside.two.position, "
    "inside.three.position, "
    "outside.rail.displacement, weld.force]}\n";

static void worlds_with_contact_are_merged(void **state)
{
    (void)state;
    run a = open_text("one", one_world, NULL), b = open_text("two", two_worlds, NULL);
    assert_int_equal(a.info->values_per_sample, b.info->values_per_sample);
    for (int k = 1; k <= 6; k++) {
        run_to(&a, 0.05 * k);
        run_to(&b, 0.05 * k);
        for (int i = 0; i < a.info->values_per_sample; i++) {
            double difference = fabs(a.sample[i] - b.sample[i]);
            if (!(difference < 1e-5))
                print_error("t = %g, value %d: %g and %g\n", 0.05 * k, i, a.sample[i], b.sample[i]);
            assert_true(difference < 1e-5);
        }
    }
    close_run(&a);
    close_run(&b);
}

/* The same with the plate in the multibody solver, whose bodies become bodies of the contact solver. */
static const char multibody_and_world[] =
    "time: {end: 0.3, step: 5e-4}\n"
    "subsystems:\n"
    "  outside:\n"
    "    solver: multibody\n"
    "    gravity: [0, 0, -9.81]\n"
    "    bodies:\n"
    "      plate: {mass: 0.4, inertia: [1e-3, 1e-3, 1e-3], position: [0, 0, 0.15]}\n" HANGER
    "    ports: {bottom: {body: plate, offset: [0, 0, -0.1]}}\n"
    "  inside:\n"
    "    solver: nonsmooth\n"
    "    gravity: [0, 0, -9.81]\n"
    "    contact: {tolerance: 1e-10, max_iterations: 2000}\n"
    "    materials: {steel: {friction: 0.3, restitution: 0.2}}\n"
    "    bodies:\n" BOX "    ports: {top: {body: box, offset: [0, 0, 0.05]}}\n" CONTROL
    "interfaces: {weld: {between: [outside.bottom, inside.top], joint: fixed}}\n"
    "wires: {pull: {from: command.pull, to: outside.pull}}\n"
    "coupling: {scheme: monolithic}\n"
    "record: {channels: [inside.box.position, inside.one.position, inside.two.position, "
    "inside.three.position, outside.rail.displacement, weld.force]}\n";

static void a_mechanism_joins_a_world(void **state)
{
    (void)state;
    run a = open_text("one", one_world, NULL), b = open_text("two", multibody_and_world, NULL);
    assert_int_equal(a.info->values_per_sample, b.info->values_per_sample);
    for (int k = 1; k <= 6; k++) {
        run_to(&a, 0.05 * k);
        run_to(&b, 0.05 * k);
        for (int i = 0; i < a.info->values_per_sample; i++)
            assert_near(a.sample[i], b.sample[i], 1e-5);
    }
    close_run(&a);
    close_run(&b);
}

/* A double pendulum with bodies off their origins, a spring, a constant load and another gravity in
 * the upper part: the lower link in the contact solver. All channels of the upper part approach those of
 * the multibody solver at a fine step, with the order of the contact solver. */
#define UPPER_PART                                                                               \
    "subsystems:\n"                                                                              \
    "  upper:\n"                                                                                 \
    "    solver: multibody\n"                                                                    \
    "    gravity: [0, -9.81, 0]\n"                                                               \
    "    bodies:\n"                                                                              \
    "      bar: {mass: 1, inertia: [0.01, 0.1, 0.1], center_of_mass: [0.1, 0.02, 0], position: " \
    "[0.4, 0, 0]}\n"                                                                             \
    "    joints: {pin: {type: revolute, between: [ground, bar], at: [0, 0, 0], axis: [0, 0, "    \
    "1]}}\n"                                                                                     \
    "    forces:\n"                                                                              \
    "      spring: {type: spring, between: [ground, bar], markers: [{offset: [0.5, 1, 0]}, "     \
    "{offset: [0.2, 0, 0]}], stiffness: 20, damping: 0.5, free_length: 0.5}\n"                   \
    "      wind: {type: force, body: bar, vector: [0.7, 0.2, 0], factor: 1 + t}\n"               \
    "    ports: {end: {body: bar, offset: [0.6, 0, 0]}}\n"
#define LOWER_PART                                                                         \
    "    gravity: [0, -9, 0]\n"                                                            \
    "    bodies: {bar: {mass: 0.6, inertia: [0.01, 0.05, 0.05], position: [1.5, 0, 0]}}\n" \
    "    ports: {start: {body: bar, offset: [-0.5, 0, 0]}}\n"
#define PENDULUM_END                                                                           \
    "interfaces: {hinge: {between: [upper.end, lower.start], joint: revolute}}\n"              \
    "coupling: {scheme: monolithic}\n"                                                         \
    "record: {channels: [upper.bar.position, upper.bar.orientation, upper.bar.velocity, "      \
    "upper.bar.angular_velocity, upper.bar.acceleration, upper.bar.angular_acceleration, "     \
    "upper.pin.force, upper.pin.angle, upper.pin.angular_velocity, upper.spring.elongation, "  \
    "upper.spring.elongation_rate, upper.strain_energy, upper.end.position, upper.end.force, " \
    "lower.start.velocity]}\n"

static void channels_of_the_mechanism_remain(void **state)
{
    (void)state;
    /* One gravity in a multibody model: the lower bar gets the difference as a force. */
    static const char alike[] =
        "time: {end: 0.5, step: 2e-4}\n" UPPER_PART "  lower:\n"
        "    solver: multibody\n"
        "    gravity: [0, -9.81, 0]\n"
        "    bodies: {bar: {mass: 0.6, inertia: [0.01, 0.05, 0.05], position: [1.5, 0, 0]}}\n"
        "    forces: {lift: {type: force, body: bar, vector: [0, 0.486, 0]}}\n"
        "    ports: {start: {body: bar, offset: [-0.5, 0, 0]}}\n" PENDULUM_END;
    static const char mixed[] = "time: {end: 0.5, step: 1e-3}\n" UPPER_PART "  lower:\n"
                                "    solver: nonsmooth\n" LOWER_PART PENDULUM_END;
    run exact = open_text("alike", alike, NULL);
    run_to(&exact, 0.5);
    double error[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        char step_set[40];
        snprintf(step_set, sizeof step_set, "time.step=%g", 1e-3 / (1 << k));
        const char *const set[] = {step_set, NULL};
        run r = open_text("mixed", mixed, set);
        assert_int_equal(r.info->values_per_sample, exact.info->values_per_sample);
        run_to(&r, 0.5);
        for (int i = 0; i < r.info->values_per_sample; i++) {
            double difference = fabs(r.sample[i] - exact.sample[i]);
            if (!(difference < 0.05))
                print_error("value %d: %g, exact %g\n", i, r.sample[i], exact.sample[i]);
            assert_true(difference < 0.05);
            error[k] = fmax(error[k], difference);
        }
        close_run(&r);
    }
    close_run(&exact);
    assert_in_range((int)(error[0] / error[1] * 100), 180, 220);
}

/* A load of 3 kg in the multibody solver on a sled of 2 kg that slides on the ground of the contact
 * solver, friction 0.25: they stop after v^2 / (2 mu g), and the weld carries 3 mu g. The load is a
 * point without inertia. */
static void friction_stops_both(void **state)
{
    (void)state;
    static const char text[] =
        "time: {end: 0.5, step: 1e-4}\n"
        "subsystems:\n"
        "  load:\n"
        "    solver: multibody\n"
        "    gravity: [0, 0, -9.81]\n"
        "    bodies: {mass: {mass: 3, position: [0, 0, 0.1], velocity: [1, 0, 0]}}\n"
        "    ports: {mass: {body: mass}}\n"
        "  floor:\n"
        "    solver: nonsmooth\n"
        "    gravity: [0, 0, -9.81]\n"
        "    materials: {wood: {friction: 0.25}}\n"
        "    contact: {tolerance: 1e-9, max_iterations: 2000}\n"
        "    ground_shapes: [{type: plane, material: wood}]\n"
        "    bodies: {sled: {mass: 2, inertia: [0.1, 0.1, 0.1], position: [0, 0, 0.1], velocity: "
        "[1, 0, 0], shapes: [{type: box, size: [1, 1, 0.2], material: wood}]}}\n"
        "    ports: {top: {body: sled}}\n"
        "interfaces: {weld: {between: [load.mass, floor.top], joint: fixed}}\n"
        "coupling: {scheme: monolithic}\n"
        "record: {channels: [load.mass.position.x, load.mass.velocity.x, floor.sled.position.x, "
        "weld.force.x]}\n";
    const double mu_g = 0.25 * 9.81;
    run r = open_text("sled", text, NULL);
    run_to(&r, 0.2);
    assert_near(r.sample[1], 1 - 0.2 * mu_g, 1e-4);
    assert_near(fabs(r.sample[3]), 3 * mu_g, 1e-3);
    run_to(&r, 0.5);
    assert_near(r.sample[0], 1 / (2 * mu_g), 1e-4);
    assert_near(r.sample[2], 1 / (2 * mu_g), 1e-4);
    assert_near(r.sample[1], 0, 1e-6);
    close_run(&r);
}

/* What only one of the solvers has cannot be merged, and the message names it. */
static void other_parts_are_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"cantilever-damper/scenario.yaml", "beams"},
        {"crank-damper/scenario.yaml", "beams"},
        {"manipulator/scenario.yaml", "hydraulic"},
    };
    for (int k = 0; k < 3; k++) {
        char path[512];
        snprintf(path, sizeof path, "%s/models/%s", YOKE_SOURCE_DIR, cases[k][0]);
        const char *const set[] = {"coupling={scheme: monolithic}", NULL};
        yk_context *context = yk_context_create(NULL);
        yk_scenario *scenario = load_scenario(context, path, NULL, set);
        yk_system *system = NULL;
        assert_true(YK_FAILED(yk_scenario_system(scenario, &system)));
        if (!strstr(yk_last_message(context), cases[k][1]))
            print_error("%s\n", yk_last_message(context));
        assert_non_null(strstr(yk_last_message(context), cases[k][1]));
        yk_scenario_destroy(scenario);
        yk_context_destroy(context);
    }
}

/* Each part closes gaps at a rate of its own, and the scheme stays of second order. */
static void parts_have_their_own_rates(void **state)
{
    (void)state;
    const char *const fine[] = {"coupling.scheme=monolithic", "time.step=1e-4", NULL};
    run exact = open_text("pendulum", in_metres, fine);
    run_to(&exact, 0.5);
    double error[2] = {0, 0}, value[2];
    for (int rates = 0; rates < 2; rates++) {
        for (int k = 0; k < 2; k++) {
            char step_set[40], lower[160];
            snprintf(step_set, sizeof step_set, "time.step=%g", 2e-3 / (1 << k));
            snprintf(lower, sizeof lower,
                     "subsystems.lower.integrator={type: generalized-alpha, formulation: "
                     "stabilized-ode, stabilization_rate: %d}",
                     rates ? 100 : 30);
            const char *const set[] = {
                "coupling={scheme: relaxed, relative_tolerance: 1e-11, max_sweeps: 100}", step_set,
                "subsystems.upper.integrator={type: generalized-alpha, formulation: "
                "stabilized-ode, stabilization_rate: 30}",
                lower, NULL};
            run r = open_text("pendulum", in_metres, set);
            run_to(&r, 0.5);
            error[k] = 0;
            for (int i = 0; i < 6; i++)
                error[k] = fmax(error[k], fabs(r.sample[i] - exact.sample[i]));
            value[rates] = r.sample[0];
            close_run(&r);
        }
        assert_true(error[1] < 1e-4);
        assert_in_range((int)(error[0] / error[1] * 100), 330, 470);
    }
    close_run(&exact);
    assert_true(value[0] != value[1]);
}

/* The relaxed scheme chooses what it needs itself, and is of second order: against the merged
 * model at a fine step. */
static void relaxed_needs_no_preparation(void **state)
{
    (void)state;
    double error[2];
    const char *const fine[] = {"coupling.scheme=monolithic", "time.step=1e-4", NULL};
    run exact = open_text("pendulum", in_metres, fine);
    run_to(&exact, 0.5);
    for (int k = 0; k < 2; k++) {
        char step_set[40];
        snprintf(step_set, sizeof step_set, "time.step=%g", 2e-3 / (1 << k));
        const char *const set[] = {"coupling.scheme=relaxed", step_set,
                                   "subsystems.lower.integrator.type=runge-kutta", NULL};
        run r = open_text("pendulum", in_metres, set);
        run_to(&r, 0.5);
        assert_int_equal(yk_system_get_statistics(r.system).steps_not_converged, 0);
        error[k] = 0;
        for (int i = 0; i < 6; i++)
            error[k] = fmax(error[k], fabs(r.sample[i] - exact.sample[i]));
        close_run(&r);
    }
    close_run(&exact);
    assert_true(error[1] < 1e-5);
    assert_in_range((int)(error[0] / error[1] * 100), 330, 470);
}

/* Blocks of 1 kg in worlds of their own, each pushed by what a wire brings to it: v = F t / m. */
static void wires_find_their_part(void **state)
{
    (void)state;
    static const char pushed[] =
        "time: {end: 0.1, step: 1e-3}\n"
        "subsystems:\n"
        "  left: &part\n"
        "    solver: nonsmooth\n"
        "    gravity: [0, 0, 0]\n"
        "    bodies: {block: {mass: 1, inertia: [1, 1, 1]}}\n"
        "    forces: {push: {type: force, body: block, vector: [1, 0, 0], signal_port: push}}\n"
        "  right: *part\n"
        "  pd:\n"
        "    solver: control\n"
        "    loops: {a: {reference: 0, command_offset: 2}, b: {reference: 0, command_offset: 5}}\n"
        "wires: {a: {from: pd.a, to: left.push}, b: {from: pd.b, to: right.push}}\n"
        "coupling: {scheme: monolithic}\n"
        "record: {channels: [left.block.velocity.x, right.block.velocity.x]}\n";
    run r = open_text("pushed.yaml", pushed, NULL);
    run_to(&r, 0.1);
    assert_near(r.sample[0], 0.2, 1e-12);
    assert_near(r.sample[1], 0.5, 1e-12);
    close_run(&r);
}

/* The same in one world, with the blocks clamped to each other: 2 N along x and 5 N along y move
 * 2 kg, and a force without a wire keeps its value. */
static void wires_find_their_force(void **state)
{
    (void)state;
    static const char clamped[] =
        "time: {end: 0.1, step: 1e-3}\n"
        "subsystems:\n"
        "  left:\n"
        "    solver: nonsmooth\n"
        "    gravity: [0, 0, 0]\n"
        "    bodies: {block: {mass: 1, inertia: [1, 1, 1]}}\n"
        "    forces: {push: {type: force, body: block, vector: [1, 0, 0], signal_port: push}}\n"
        "    ports: {end: {body: block}}\n"
        "  right:\n"
        "    solver: nonsmooth\n"
        "    gravity: [0, 0, 0]\n"
        "    bodies: {block: {mass: 1, inertia: [1, 1, 1]}}\n"
        "    forces:\n"
        "      push: {type: force, body: block, vector: [0, 1, 0], signal_port: push}\n"
        "      lift: {type: force, body: block, vector: [0, 0, 6]}\n"
        "    ports: {end: {body: block}}\n"
        "  pd:\n"
        "    solver: control\n"
        "    loops: {a: {reference: 0, command_offset: 2}, b: {reference: 0, command_offset: 5}}\n"
        "interfaces: {weld: {between: [left.end, right.end], joint: fixed}}\n"
        "wires: {a: {from: pd.a, to: left.push}, b: {from: pd.b, to: right.push}}\n"
        "coupling: {scheme: monolithic}\n"
        "record: {channels: [left.block.velocity, right.block.velocity]}\n";
    static const double expected[] = {0.1, 0.25, 0.3};
    run r = open_text("clamped.yaml", clamped, NULL);
    run_to(&r, 0.1);
    for (int i = 0; i < 6; i++)
        assert_near(r.sample[i], expected[i % 3], 1e-9);
    close_run(&r);
}

static void note_messages(void *user, yk_log_level level, const char *message)
{
    (void)level;
    char *text = user;
    size_t used = strlen(text);
    snprintf(text + used, 1000 - used, "%s\n", message);
}

/* Each interface whose sides start apart is reported, not only the first. */
static void gaps_of_all_interfaces_are_told(void **state)
{
    (void)state;
    static const char text[] = "time: {end: 1, step: 1e-3}\n"
                               "subsystems:\n"
                               "  left: &part\n"
                               "    solver: multibody\n"
                               "    gravity: [0, 0, 0]\n"
                               "    bodies: {block: {mass: 1, inertia: [1, 1, 1]}}\n"
                               "    ports: {it: {body: block}, other: {body: block}}\n"
                               "  middle: *part\n"
                               "  right: {<<: *part, bodies: {block: {mass: 1, inertia: [1, 1, 1], "
                               "position: [0.1, 0, 0]}}}\n"
                               "interfaces:\n"
                               "  closed: {between: [left.it, middle.it], joint: fixed}\n"
                               "  open: {between: [middle.other, right.it], joint: fixed}\n"
                               "coupling: {scheme: monolithic}\n";
    char log[1000] = "";
    yk_context_def own = yk_context_default();
    own.log = note_messages;
    own.log_user = log;
    own.log_level = YK_LOG_INFO;
    yk_context *context = yk_context_create(&own);
    yk_scenario *scenario = load_scenario(context, "file.yaml", text, NULL);
    yk_system *system = NULL;
    assert_int_equal(yk_scenario_system(scenario, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);
    assert_null(strstr(log, "interface 'closed'"));
    assert_non_null(strstr(log, "interface 'open': its two sides start 0.1 m"));
    yk_scenario_destroy(scenario);
    yk_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(units_and_frames_are_converted),
                                       cmocka_unit_test(oscillators_with_units_are_merged),
                                       cmocka_unit_test(worlds_with_contact_are_merged),
                                       cmocka_unit_test(relaxed_needs_no_preparation),
                                       cmocka_unit_test(each_feedback_reads_its_own_subsystem),
                                       cmocka_unit_test(channels_show_the_parts),
                                       cmocka_unit_test(wires_find_their_part),
                                       cmocka_unit_test(wires_find_their_force),
                                       cmocka_unit_test(gaps_of_all_interfaces_are_told),
                                       cmocka_unit_test(a_mechanism_joins_a_world),
                                       cmocka_unit_test(channels_of_the_mechanism_remain),
                                       cmocka_unit_test(friction_stops_both),
                                       cmocka_unit_test(other_parts_are_refused),
                                       cmocka_unit_test(parts_have_their_own_rates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
