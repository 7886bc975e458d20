/* Machine elements from scenario files against closed forms: couplings of joint coordinates, ropes,
 * stops, friction, play, characteristics, drag, ground contact, tyres and clearance. */
#include <math.h>

#include "../model/loading.h"

static const double PI = 3.14159265358979323846;
static const double G = 9.81;

/* The recorded channels of a scenario at its end. */
#define HEAD(end, step)                      \
    "time: {end: " end ", step: " step "}\n" \
    "subsystems:\n"                          \
    "  m:\n"                                 \
    "    solver: multibody\n"

/* Couplings ------------------------------------------------------------------------------------ */

/* Two gears with parallel axes, and a rack on the first. */
#define GEARS                                                                                     \
    "    gravity: [0, 0, 0]\n"                                                                    \
    "    bodies:\n"                                                                               \
    "      a: {mass: 1, inertia: [0.02, 0.02, 0.02]}\n"                                           \
    "      b: {mass: 3, inertia: [0.3, 0.3, 0.3], position: [0.3, 0, 0]}\n"                       \
    "      rack: {mass: 2, inertia: [0.1, 0.1, 0.1], position: [0, 0.1, 0]}\n"                    \
    "    joints:\n"                                                                               \
    "      a: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}\n"           \
    "      b: {type: revolute, between: [ground, b], at: [0.3, 0, 0], axis: [0, 0, 1]}\n"         \
    "      slide: {type: prismatic, between: [ground, rack], at: [0, 0.1, 0], axis: [1, 0, 0]}\n" \
    "    couplings:\n"                                                                            \
    "      mesh: {terms: [{joint: a, ratio: 0.1}, {joint: b, ratio: 0.2}]}\n"                     \
    "      teeth: {terms: [{joint: a, ratio: 0.1}, {joint: slide}]}\n"                            \
    "    forces: {drive: {type: motor, joint: a, load: 1}}\n"

static void gears_and_a_rack_move_as_one_inertia(void **state)
{
    (void)state;
    static const char *const integrators[] = {"two-step", "generalized-alpha", "runge-kutta",
                                              "runge-kutta-chebyshev"};
    for (int i = 0; i < 4; i++) {
        char text[4096];
        snprintf(
            text, sizeof text,
            HEAD("2", "2e-3") "    integrator: %s\n" GEARS
                              "record: {channels: [m.a.angular_velocity.z, m.b.angular_velocity.z, "
                              "m.rack.velocity.x, m.mesh.torque.z, m.rack.position.x]}\n",
            integrators[i]);
        double at[5];
        run_to_sample(text, at);

        /* More than one turn. */
        double inertia = 0.02 + 0.3 / 4 + 2 * 0.01;
        double omega = 2 / inertia;
        assert_near(at[0], omega, 1e-6 * omega);
        assert_near(at[1], -omega / 2, 1e-6 * omega);
        assert_near(at[2], -0.1 * omega, 1e-6 * omega);
        assert_near(at[3], -0.3 / 4 / inertia, 1e-6);
        assert_near(at[4], -0.1 * omega, 1e-5 * omega);
    }
}

static void screw_turns_while_its_nut_sinks(void **state)
{
    (void)state;
    double at[2];
    run_to_sample(
        HEAD("1", "1e-3") "    bodies: {nut: {mass: 1, inertia: [0.02, 0.02, 0.02]}}\n"
                          "    joints: {thread: {type: cylindrical, between: [ground, nut], axis: "
                          "[0, 0, 1]}}\n"
                          "    couplings:\n"
                          "      lead:\n"
                          "        terms:\n"
                          "          - {joint: thread, ratio: 0.2/(2*pi)}\n"
                          "          - {joint: thread, coordinate: displacement, ratio: -1}\n"
                          "    gravity: [0, 0, -9.81]\n"
                          "record: {channels: [m.nut.position.z, m.nut.angular_velocity.z]}\n",
        at);
    double lead = 0.2 / (2 * PI);
    double acceleration = -G / (1 + 0.02 / (lead * lead));
    assert_near(at[0], acceleration / 2, 1e-6);
    assert_near(at[1], acceleration / lead, 1e-4);
}

/* A torque on the cage is shared equally; the wheels turn at different speeds. */
static void differential_shares_the_torque(void **state)
{
    (void)state;
    double at[3];
    run_to_sample(
        HEAD("1",
             "1e-3") "    gravity: [0, 0, 0]\n"
                     "    bodies:\n"
                     "      cage: {mass: 1, inertia: [0.1, 0.1, 0.1]}\n"
                     "      left: {mass: 1, inertia: [0.2, 0.2, 0.2]}\n"
                     "      right: {mass: 1, inertia: [0.5, 0.5, 0.5]}\n"
                     "    joints:\n"
                     "      cage: {type: revolute, between: [ground, cage], axis: [0, 1, 0]}\n"
                     "      left: {type: revolute, between: [ground, left], axis: [0, 1, 0]}\n"
                     "      right: {type: revolute, between: [ground, right], axis: [0, 1, 0]}\n"
                     "    couplings:\n"
                     "      gear: {terms: [{joint: cage, ratio: -2}, {joint: left}, {joint: "
                     "right}]}\n"
                     "    forces: {drive: {type: motor, joint: cage, load: 3}}\n"
                     "record: {channels: [m.cage.angular_velocity.y, m.left.angular_velocity.y, "
                     "m.right.angular_velocity.y]}\n",
        at);
    double share = 2 * 3 / 0.1 / (1 / 0.2 + 1 / 0.5 + 4 / 0.1);
    assert_near(at[1], share / 0.2, 1e-6);
    assert_near(at[2], share / 0.5, 1e-6);
    assert_near(at[0], (at[1] + at[2]) / 2, 1e-9);
}

/* Two inertias on an elastic gear with backlash: within the backlash both move freely, at its end
 * they exchange momentum like two elastic balls. */
static void elastic_gear_with_backlash_bounces(void **state)
{
    (void)state;
    double at[2];
    run_to_sample(
        HEAD("0.5",
             "1e-4") "    gravity: [0, 0, 0]\n"
                     "    bodies:\n"
                     "      a: {mass: 1, inertia: [0.1, 0.1, 0.1], angular_velocity: [0, 0, 2]}\n"
                     "      b: {mass: 1, inertia: [0.3, 0.3, 0.3], position: [1, 0, 0]}\n"
                     "    joints:\n"
                     "      a: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, "
                     "1]}\n"
                     "      b: {type: revolute, between: [ground, b], at: [1, 0, 0], axis: [0, 0, "
                     "1]}\n"
                     "    couplings:\n"
                     "      mesh: {type: elastic, terms: [{joint: a}, {joint: b, ratio: -1}], "
                     "stiffness: 1e4,\n"
                     "             play: 0.4}\n"
                     "record: {channels: [m.a.angular_velocity.z, m.b.angular_velocity.z]}\n",
        at);
    /* One impact of the inertias 0.1 and 0.3 at 0.2 s; 0.8 rad later there would be the next. */
    assert_near(at[0], -1, 1e-3);
    assert_near(at[1], 1, 1e-3);
}

/* Atwood's machine, with the rope over two points of the ground. */
static void rope_over_pulleys_carries_two_weights(void **state)
{
    (void)state;
    double at[3];
    run_to_sample(
        HEAD("0.4",
             "1e-3") "    gravity: [0, 0, -9.81]\n"
                     "    bodies:\n"
                     "      light: {mass: 1, inertia: [1, 1, 1], position: [-0.2, 0, 0]}\n"
                     "      heavy: {mass: 3, inertia: [1, 1, 1], position: [0.2, 0, 0]}\n"
                     "    joints:\n"
                     "      light: {type: prismatic, between: [ground, light], at: [-0.2, 0, 0], "
                     "axis: [0, 0, 1]}\n"
                     "      heavy: {type: prismatic, between: [ground, heavy], at: [0.2, 0, 0], "
                     "axis: [0, 0, 1]}\n"
                     "    couplings:\n"
                     "      rope: {type: rope, stiffness: 1e6, pretension: 14.715, "
                     "contact_damping: 1,\n"
                     "             path: [{body: light}, {body: ground, offset: [-0.2, 0, 2]},\n"
                     "                    {body: ground, offset: [0.2, 0, 2]}, {body: heavy}]}\n"
                     "record: {channels: [m.light.velocity.z, m.heavy.position.z, "
                     "m.rope.elongation_rate]}\n",
        at);
    assert_near(at[0], 0.5 * G * 0.4, 1e-5);
    assert_near(at[1], -0.25 * G * 0.16, 1e-5);
    assert_near(at[2], 0, 1e-6);
}

static void rope_does_not_push(void **state)
{
    (void)state;
    double at[1];
    run_to_sample(
        HEAD("0.5",
             "1e-3") "    gravity: [0, 0, -9.81]\n"
                     "    bodies: {ball: {mass: 1, velocity: [0, 0, 3]}}\n"
                     "    couplings:\n"
                     "      rope: {type: rope, stiffness: 1e5, free_length: 2,\n"
                     "             path: [{body: ground, offset: [0, 0, -1]}, {body: ball}]}\n"
                     "record: {channels: [m.ball.position.z]}\n",
        at);
    assert_near(at[0], 3 * 0.5 - 0.5 * G * 0.25, 1e-9);
}

static void winch_lifts_by_the_circumference_of_its_drum(void **state)
{
    (void)state;
    double at[2];
    run_to_sample(
        HEAD(
            "1.5",
            "1e-3") "    gravity: [0, 0, -9.81]\n"
                    "    bodies:\n"
                    "      drum: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 0, 3], "
                    "angular_velocity: [0, 8, 0]}\n"
                    "      load: {mass: 2, inertia: [1, 1, 1], velocity: [0, 0, 0.8]}\n"
                    "    joints:\n"
                    "      guide: {type: prismatic, between: [ground, load], at: [0, 0, 0], axis: "
                    "[0, 0, 1]}\n"
                    "      drum: {type: revolute, between: [ground, drum], at: [0, 0, 3], axis: "
                    "[0, 1, 0]}\n"
                    "      drive: {type: driven-rotation, between: [ground, drum], at: [0, 0, 3],\n"
                    "              axis: [0, 1, 0], angle: 8*t}\n"
                    "    couplings:\n"
                    "      rope: {type: rope, stiffness: 1e6, pretension: 2*9.81, contact_damping: "
                    "10,\n"
                    "             path: [{body: ground, offset: [0, 0, 3]}, {body: load}],\n"
                    "             terms: [{joint: drum, ratio: 0.1}]}\n"
                    "record: {channels: [m.load.position.z, m.load.velocity.z]}\n",
        at);
    assert_near(at[0], 0.8 * 1.5, 1e-5);
    assert_near(at[1], 0.8, 1e-5);
}

/* The gears with a second part of their load behind an interface. */
static void gears_work_at_an_interface_under_all_schemes(void **state)
{
    (void)state;
    static const char *const schemes[] = {"explicit", "tight", "index1", "monolithic"};
    for (int i = 0; i < 4; i++) {
        char text[4096];
        snprintf(
            text, sizeof text,
            HEAD("1", "1e-3") GEARS
            "    ports: {out: {body: b}}\n"
            "  load:\n"
            "    solver: multibody\n"
            "    gravity: [0, 0, 0]\n"
            "    bodies: {disc: {mass: 1, inertia: [0.04, 0.04, 0.04], position: [0.3, 0, 0]}}\n"
            "    ports: {in: {body: disc}}\n"
            "interfaces:\n"
            "  shaft: {between: [m.out, load.in], joint: fixed}\n"
            "coupling: {scheme: %s}\n"
            "record: {channels: [m.a.angular_velocity.z, load.disc.angular_velocity.z]}\n",
            schemes[i]);
        double at[2];
        run_to_sample(text, at);
        double omega = 1 / (0.02 + 0.34 / 4 + 2 * 0.01);
        assert_near(at[0], omega, 2e-3 * omega);
        assert_near(at[1], -omega / 2, 2e-3 * omega);
    }
}

/* Forces in joints ----------------------------------------------------------------------------- */

#define SLIDER(velocity)                                                               \
    "    gravity: [0, 0, 0]\n"                                                         \
    "    bodies: {s: {mass: 1, inertia: [1, 1, 1], velocity: [" velocity ", 0, 0]}}\n" \
    "    joints: {guide: {type: prismatic, between: [ground, s], axis: [1, 0, 0]}}\n"
#define SLIDER_CHANNELS "record: {channels: [m.s.position.x, m.s.velocity.x]}\n"

/* Out and back with the duration of a contact, and the restitution of Hunt and Crossley's law: with
 * F = k p (1 + d p'), the speeds satisfy d (v + v') = ln((1 + d v) / (1 - d v')). */
static void stop_returns_a_slider(void **state)
{
    (void)state;
    double at[2];
    run_to_sample(HEAD("0.5", "1e-4")
                      SLIDER("1") "    forces: {end: {type: joint-stop, joint: guide, "
                                  "limits: [-1, 0.1], stiffness: 1e4}}\n" SLIDER_CHANNELS,
                  at);
    assert_near(at[1], -1, 1e-4);
    assert_near(at[0], 0.1 - (0.4 - PI / 100), 1e-4);

    run_to_sample(HEAD("0.5", "1e-4") SLIDER(
                      "1") "    forces: {end: {type: joint-stop, joint: guide, limits: [-1, 0.1], "
                           "stiffness: 1e4,\n"
                           "                   contact_damping: 0.6}}\n" SLIDER_CHANNELS,
                  at);
    double back = 0.5;
    for (int i = 0; i < 200; i++) {
        double gap = log((1 + 0.6) / (1 - 0.6 * back)) - 0.6 * (1 + back);
        back -= gap / (0.6 / (1 - 0.6 * back) - 0.6);
    }
    assert_near(at[1], -back, 2e-4);
}

/* Stops of a hinge beyond half a turn. */
static void stop_counts_turns(void **state)
{
    (void)state;
    double at[1];
    run_to_sample(
        HEAD(
            "3",
            "1e-4") "    gravity: [0, 0, 0]\n"
                    "    bodies: {w: {mass: 1, inertia: [1, 1, 1], angular_velocity: [0, 0, 5]}}\n"
                    "    joints: {hinge: {type: revolute, between: [ground, w], axis: [0, 0, 1]}}\n"
                    "    forces: {end: {type: joint-stop, joint: hinge, limits: [-1, 10], "
                    "stiffness: 1e4}}\n"
                    "record: {channels: [m.end.angle]}\n",
        at);
    assert_near(at[0], 10 - 5 * (1 - PI / 100), 2e-4);
}

static void friction_stops_a_slider(void **state)
{
    (void)state;
    double at[2];
    run_to_sample(HEAD("0.8", "1e-3") SLIDER(
                      "1") "    forces: {f: {type: joint-friction, joint: guide, coulomb: 2, "
                           "transition_velocity: 1e-5}}\n" SLIDER_CHANNELS,
                  at);
    assert_near(at[0], 0.25, 1e-5);
    assert_near(at[1], 0, 1e-8);
}

/* A slider that is pulled slowly by a spring sticks until the static friction, and slips. */
static void stribeck_friction_holds_up_to_its_static_value(void **state)
{
    (void)state;
    double at[2];
    char text[2048];
    for (int slips = 0; slips < 2; slips++) {
        snprintf(text, sizeof text,
                 HEAD("1", "1e-3") SLIDER(
                     "0") "    forces:\n"
                          "      f: {type: joint-friction, joint: guide, coulomb: 2, static: 3, "
                          "transition_velocity: 1e-5}\n"
                          "      pull: {type: motor, joint: guide, load: %s}\n" SLIDER_CHANNELS,
                 slips ? "3.05" : "2.9");
        run_to_sample(text, at);
        if (slips)
            assert_near(at[1], 1.05, 0.1);
        else
            assert_true(fabs(at[1]) < 1e-4);
    }
}

/* Half an oscillation at each end of the play: after a period the slider is where it was. */
static void play_lengthens_the_period(void **state)
{
    (void)state;
    double at[2];
    run_to_sample(
        "time: {end: 0.4 + 2*pi/sqrt(1000), step: (0.4 + 2*pi/sqrt(1000))/4000}\n"
        "subsystems:\n"
        "  m:\n"
        "    solver: multibody\n" SLIDER("1") "    forces: {s: {type: joint-spring, joint: guide, "
                                              "stiffness: 1000, play: 0.1}}\n" SLIDER_CHANNELS,
        at);
    assert_near(at[0], 0, 2e-5);
    assert_near(at[1], 1, 1e-5);
}

/* A damper from a table of two straight lines, and a motor whose torque falls with its speed. */
static void characteristics_act(void **state)
{
    (void)state;
    double at[2];
    run_to_sample(
        "tables: {damper: {points: [[-10, -50], [0, 0], [10, 20]]}}\n" HEAD("0.5", "1e-3")
            SLIDER("1") "    forces: {d: {type: joint-spring, joint: guide, characteristic: "
                        "damper(v)}}\n" SLIDER_CHANNELS,
        at);
    assert_near(at[1], exp(-2 * 0.5), 1e-6);

    run_to_sample(
        "tables: {map: {points: [[0, 100], [20, 0]]}}\n" HEAD(
            "0.5",
            "1e-3") "    gravity: [0, 0, 0]\n"
                    "    bodies: {w: {mass: 1, inertia: [4, 4, 4]}}\n"
                    "    joints: {hinge: {type: revolute, between: [ground, w], axis: [0, 0, 1]}}\n"
                    "    forces: {m: {type: motor, joint: hinge, load: 0.8, characteristic: "
                    "load*map(abs(v))}}\n"
                    "record: {channels: [m.w.angular_velocity.z, m.w.angular_acceleration.z]}\n",
        at);
    assert_near(at[0], 20 * (1 - exp(-0.8 * 5 / 4 * 0.5)), 1e-5);
}

/* Forces at a point ---------------------------------------------------------------------------- */

static void drag_limits_a_fall(void **state)
{
    (void)state;
    double at[1];
    run_to_sample(HEAD("2", "1e-3") "    gravity: [0, 0, -9.81]\n"
                                    "    bodies: {ball: {mass: 2}}\n"
                                    "    forces: {air: {type: drag, body: ball, quadratic: 0.3}}\n"
                                    "record: {channels: [m.ball.velocity.z]}\n",
                  at);
    double limit = sqrt(2 * G / 0.3);
    assert_near(at[0], -limit * tanh(G * 2 / limit), 1e-6);
}

/* A sliding ball starts to roll with 5/7 of its speed, for any friction. */
static void ball_starts_to_roll(void **state)
{
    (void)state;
    double at[3];
    run_to_sample(
        HEAD("1",
             "1e-3") "    gravity: [0, 0, -9.81]\n"
                     "    bodies: {ball: {mass: 2, inertia: [2/5*2*0.01, 2/5*2*0.01, 2/5*2*0.01],\n"
                     "             position: [0, 0, 0.1 - 2*9.81/1e5], velocity: [2, 0, 0]}}\n"
                     "    forces: {floor: {type: ground-contact, body: ball, radius: 0.1, "
                     "stiffness: 1e5,\n"
                     "             friction: 0.3, transition_velocity: 1e-3}}\n"
                     "record: {channels: [m.ball.velocity.x, m.ball.angular_velocity.y, "
                     "m.ball.position.z]}\n",
        at);
    assert_near(at[0], 2 * 5.0 / 7, 2e-3);
    assert_near(at[1], at[0] / 0.1, 0.02);
    assert_near(at[2], 0.1 - 2 * G / 1e5, 1e-8);
}

/* A locked wheel slides with the limit of friction; a free one follows a ramp. */
static void tyre_brakes_and_follows_the_road(void **state)
{
    (void)state;
    double at[2];
    static const char wheel[] =
        "    gravity: [0, 0, -9.81]\n"
        "    bodies: {wheel: {mass: 20, inertia: [1, 1, 1], velocity: [10, 0, 0],\n"
        "             position: [0, 0, 0.3 - 20*9.81/2e5]}}\n";
    char text[2048];
    snprintf(
        text, sizeof text,
        HEAD("0.5",
             "1e-3") "%s"
                     "    joints: {upright: {type: fixed-orientation, between: [ground, wheel]}}\n"
                     "    forces: {t: {type: tyre, body: wheel, orientation: {axis: [1, 0, 0], "
                     "angle: -pi/2},\n"
                     "             radius: 0.3, stiffness: 2e5, friction: 0.8, slip_stiffness: "
                     "6e4,\n"
                     "             cornering_stiffness: 5e4}}\n"
                     "record: {channels: [m.wheel.velocity.x, m.wheel.position.z]}\n",
        wheel);
    run_to_sample(text, at);
    assert_near(at[0], 10 - 0.8 * G * 0.5, 1e-4);
    assert_near(at[1], 0.3 - 20 * G / 2e5, 1e-8);

    snprintf(
        text, sizeof text,
        HEAD(
            "1",
            "1e-3") "%s"
                    "    joints:\n"
                    "      plane: {type: planar, between: [ground, wheel], axis: [0, 1, 0]}\n"
                    "      pull: {type: driven-velocity, between: [ground, wheel], axis: [1, 0, "
                    "0], velocity: 10}\n"
                    "    forces: {t: {type: tyre, body: wheel, orientation: {axis: [1, 0, 0], "
                    "angle: -pi/2},\n"
                    "             radius: 0.3, stiffness: 2e5, contact_damping: 2, friction: 0.8,\n"
                    "             slip_stiffness: 6e4, cornering_stiffness: 5e4,\n"
                    "             ground: {height: \"0.02*max(x - 1, 0)\"}}}\n"
                    "record: {channels: [m.wheel.velocity.z, m.wheel.angular_velocity.y]}\n",
        wheel);
    run_to_sample(text, at);
    assert_near(at[0], 0.2, 1e-4);
    assert_near(at[1], 10 / 0.3, 0.1);
}

static void pin_rests_at_its_clearance(void **state)
{
    (void)state;
    double at[1];
    run_to_sample(
        HEAD("1e-3",
             "1e-3") "    start_in_equilibrium: true\n"
                     "    gravity: [0, 0, -9.81]\n"
                     "    bodies: {pin: {mass: 5, inertia: [1, 1, 1], position: [0, 0, -0.0011]}}\n"
                     "    joints: {guide: {type: prismatic, between: [ground, pin], at: [0, 0, "
                     "-0.0011], axis: [0, 0, 1]}}\n"
                     "    forces:\n"
                     "      bearing: {type: clearance, between: [ground, pin], markers: "
                     "[{orientation: {axis: [1, 0, 0], angle: pi/2}}, {}],\n"
                     "                radius: 0.02, clearance: 1e-3, stiffness: 1e6}\n"
                     "record: {channels: [m.pin.position.z]}\n",
        at);
    assert_near(at[0], -1e-3 - 5 * G / 1e6, 1e-9);
}

/* Motions ------------------------------------------------------------------------------------- */

/* A block prescribes an angle; the work of the drive is the energy of the wheel. */
static void signal_drives_a_joint(void **state)
{
    (void)state;
    static const char *const schemes[] = {"explicit", "tight"};
    for (int i = 0; i < 2; i++) {
        char text[2048];
        snprintf(
            text, sizeof text,
            HEAD("1",
                 "1e-3") "    gravity: [0, 0, 0]\n"
                         "    bodies: {w: {mass: 1, inertia: [2, 2, 2]}}\n"
                         "    joints:\n"
                         "      hinge: {type: revolute, between: [ground, w], axis: [0, 0, 1]}\n"
                         "      drive: {type: driven-rotation, between: [ground, w], axis: [0, 0, "
                         "1], "
                         "signal_port: angle}\n"
                         "  b: {solver: blocks, blocks: {angle: {value: 5*t^2}}}\n"
                         "wires: {angle: {from: b.angle, to: m.angle}}\n"
                         "coupling: {scheme: %s}\n"
                         "record: {channels: [m.w.angular_velocity.z, m.energy, m.hinge.angle]}\n",
            schemes[i]);
        double at[6];
        run_to_sample(text, at);
        assert_near(at[0], 10, 0.02);
        assert_near(at[4], at[1], 0.01 * at[1]);
        assert_near(at[5], 5 - 2 * PI, 0.02);
    }
}

/* Springs pull to angles and displacements that are measured from the zeros of their joints. */
static void joints_have_absolute_zeros(void **state)
{
    (void)state;
    double at[3];
    run_to_sample(
        HEAD("1e-3",
             "1e-3") "    start_in_equilibrium: true\n"
                     "    gravity: [0, 0, 0]\n"
                     "    bodies:\n"
                     "      w: {mass: 1, inertia: [2, 2, 2]}\n"
                     "      s: {mass: 1, inertia: [2, 2, 2], position: [1, 0, 0]}\n"
                     "    joints:\n"
                     "      hinge: {type: revolute, between: [ground, w], axis: [0, 1, 0], "
                     "initial_angle: 30 deg}\n"
                     "      guide: {type: prismatic, between: [ground, s], at: [1, 0, 0], axis: "
                     "[1, 0, 0], "
                     "initial_displacement: 0.2}\n"
                     "    forces:\n"
                     "      a: {type: joint-spring, joint: hinge, stiffness: 5, free: 10 deg}\n"
                     "      b: {type: joint-spring, joint: guide, stiffness: 5, free: 0.5}\n"
                     "record: {channels: [m.hinge.angle, m.s.position.x, m.guide.displacement]}\n",
        at);
    assert_near(at[0], PI / 18, 1e-6);
    assert_near(at[1], 1.3, 1e-6);
    assert_near(at[2], 0.5, 1e-6);
}

/* Messages ------------------------------------------------------------------------------------- */

static void mistakes_are_reported(void **state)
{
    (void)state;
    loading l =
        load_text(HEAD("1", "1e-3") "    bodies: {a: {mass: 1}}\n"
                                    "    joints: {j: {type: spherical, between: [ground, a]}}\n"
                                    "    couplings: {c: {terms: [{joint: j}]}}\n");
    assert_int_equal(l.status, YK_ERROR_INPUT);
    assert_non_null(strstr(l.text, "file.yaml:7:"));
    assert_non_null(strstr(l.text, "no single coordinate"));
    unload(&l);
    l = load_text(HEAD(
        "1",
        "1e-3") "    bodies: {a: {mass: 1}}\n"
                "    couplings: {c: {type: rope, stiffness: 1, path: [{body: a}, {body: a}]}}\n");
    assert_int_equal(l.status, YK_ERROR_INPUT);
    assert_non_null(strstr(l.text, "on one body"));
    unload(&l);
    l = load_text(HEAD("1", "1e-3") SLIDER(
        "0") "    forces: {s: {type: joint-stop, joint: guide, limits: [1, 0], stiffness: 1}}\n");
    assert_int_equal(l.status, YK_ERROR_INPUT);
    assert_non_null(strstr(l.text, "ascending order"));
    unload(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gears_and_a_rack_move_as_one_inertia),
        cmocka_unit_test(screw_turns_while_its_nut_sinks),
        cmocka_unit_test(differential_shares_the_torque),
        cmocka_unit_test(elastic_gear_with_backlash_bounces),
        cmocka_unit_test(rope_over_pulleys_carries_two_weights),
        cmocka_unit_test(rope_does_not_push),
        cmocka_unit_test(winch_lifts_by_the_circumference_of_its_drum),
        cmocka_unit_test(gears_work_at_an_interface_under_all_schemes),
        cmocka_unit_test(stop_returns_a_slider),
        cmocka_unit_test(stop_counts_turns),
        cmocka_unit_test(friction_stops_a_slider),
        cmocka_unit_test(stribeck_friction_holds_up_to_its_static_value),
        cmocka_unit_test(play_lengthens_the_period),
        cmocka_unit_test(characteristics_act),
        cmocka_unit_test(drag_limits_a_fall),
        cmocka_unit_test(ball_starts_to_roll),
        cmocka_unit_test(tyre_brakes_and_follows_the_road),
        cmocka_unit_test(pin_rests_at_its_clearance),
        cmocka_unit_test(signal_drives_a_joint),
        cmocka_unit_test(joints_have_absolute_zeros),
        cmocka_unit_test(mistakes_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
