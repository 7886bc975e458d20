/* The pages of the reference of scenario keys. The test scripts/documents checks all examples. */
#include "model/reference.h"

#include <stddef.h>
#include <string.h>

const yk_reference_topic_row yk_reference_topics[] = {
    {"scenario", "Scenario files", "",
     "A scenario is one YAML file: subsystems with their solvers, the interfaces and wires that "
     "join them, a coupling scheme, and what to record. `yoke check FILE` reports every error in "
     "it with its line, `yoke run FILE` runs it, and `yoke new` writes a commented one to start "
     "from.\n\n"
     "Any value can be set on the command line: `--set coupling.scheme=tight`, "
     "`--set subsystems.left.mass=2`, `--set interfaces.tip.joint=fixed`. An item of a list is "
     "named by its name or its number from 0, `--set interfaces[0].joint=revolute`.\n\n"
     "Named items (`subsystems`, `bodies`, `interfaces`) are a section of names, or a list of "
     "items that each have a `name`. A name starts with a letter and contains letters, digits, "
     "`_` and `-`. Anchors (`&name`), aliases (`*name`) and merge keys (`<<: *name`) of YAML "
     "work.\n",
     "title: Two masses, each in its own solver\n"
     "parameters: {stiffness: 5000}\n"
     "time: {end: 0.5, step: 1e-4}\n"
     "subsystems:\n"
     "  left: {solver: oscillator, mass: 1, stiffness: stiffness, velocity: 0.1}\n"
     "  right: {solver: oscillator, mass: 0.5, velocity: 0.1}\n"
     "interfaces:\n"
     "  joint: {between: [left.mass, right.mass]}\n"
     "coupling: {scheme: explicit}\n"
     "record: {channels: [left.mass.position, joint.force]}\n"},
    {"values", "Numbers, expressions, repetition, components, rotations",
     "Parameters, expressions of time, tables, `repeat`, included files, components, the spellings "
     "of a rotation",
     "A number can be an expression of the `parameters`. A function of time can also use the time "
     "`t` in seconds: `0.25*sin(2*pi*15.5*t)`. Inside `[]` and `{}`, quote expressions that "
     "contain commas.\n\n"
     "A function can also be given by points or measured: [tables](#tablesname) become functions "
     "that every expression can call.\n\n"
     "A number may have a unit: `5 mm`, `30 deg`, `1200 rpm`, `3 kN/m`, `9.81 m/s^2`, `4 1/s`. "
     "It is converted to the unit of its key, and a value of another dimension is an error. "
     "Units are `m`, `g`, `s`, `rad`, `N`, `J`, `W`, `Pa`, `Hz`, `bar` and `l` with the "
     "prefixes n, µ (u), m, c, d, k, M and G, and `t`, `min`, `h`, `deg` (°), `rev`, `rpm`, "
     "`in`, `ft`, `lb`, `lbf`, `psi`, `mph` and `%`. Names after a number are units, even if a "
     "parameter has the same name: write `(5 N)/m` to divide by a parameter `m`. A plain "
     "number is in SI or, inside a subsystem with `units`, in these; there, numbers with and "
     "without a unit cannot be added. A parameter with a unit keeps it if `--set` or a sweep "
     "gives a plain number, which is then in SI. 1 Hz is not 1 rad/s: write `2*pi*50 Hz` or "
     "`3000 rpm` where an angular speed is expected.\n\n"
     "A part that occurs several times is written once, as a [component](#componentsname) in a "
     "file "
     "or under `templates`, and used by `components`. `include` adds the content of other files, "
     "such as common parameters. [How to](../howto/components.md) build a car from four "
     "corners.\n",
     "parameters:\n"
     "  n: 5\n"
     "  length: 20 cm\n"
     "  omega: sqrt(9.81 m/s^2/length)\n"
     "tables:\n"
     "  damper: {points: [[-1, -30], [0, 0], [1, 60]], extrapolation: linear}  # m/s to N\n"
     "time: {end: 1, step: 1e-3}\n"
     "subsystems:\n"
     "  chain:\n"
     "    solver: multibody\n"
     "    bodies:\n"
     "      - {name: \"link_{i}\", repeat: n, mass: 0.1, inertia: [1e-4, 1e-4, 1e-4],\n"
     "         position: [\"({i} - 0.5)*length\", 0, 0], orientation: {axis: [0, 0, 1], angle: "
     "90 deg}}\n"
     "    joints:\n"
     "      - {name: first, type: spherical, between: [ground, link_1]}\n"
     "      - {name: \"joint_{i}\", repeat: n - 1, type: spherical,\n"
     "         between: [\"link_{i}\", \"link_{i+1}\"], at: [\"{i}*length\", 0, 0]}\n"
     "    forces:\n"
     "      push: {type: force, body: link_5, vector: [0, 1, 0], factor: \"0.1*sin(omega*t)\"}\n"
     "      damper:\n"
     "        type: force\n"
     "        body: link_5\n"
     "        vector: [0, -1, 0]\n"
     "        feedback: {inputs: {v: link_5.velocity.y}, expression: damper(v)}\n"},
    {"coupling", "Interfaces, wires and coupling",
     "Joining subsystems: joints between ports, signals, schemes and their options",
     "An interface joins two ports by a joint and transmits its forces. A wire carries a signal "
     "without power. The scheme decides when and how often values are exchanged; "
     "[schemes.md](../schemes.md) helps to choose one, and `yoke advise FILE` measures them for "
     "your model.\n",
     "time: {end: 1, step: 1e-3}\n"
     "subsystems:\n"
     "  cart: {solver: oscillator, mass: 2, stiffness: 200, velocity: 0.5}\n"
     "  load: {solver: oscillator, mass: 0.5, velocity: 0.5}\n"
     "  brake:\n"
     "    solver: control\n"
     "    loops: {speed: {proportional: 5, command_limits: [-10, 10]}}\n"
     "interfaces:\n"
     "  clamp: {between: [cart.mass, load.mass], joint: fixed}\n"
     "wires:\n"
     "  speed: {from: cart.mass.velocity, to: brake.speed.measured}\n"
     "coupling: {scheme: tight, acceleration: quasi-newton, relative_tolerance: 1e-10}\n"},
    {"recording", "Recording and checkpoints", "Channels, 3D frames, results files, saved states",
     "The results file contains the channels that `record` lists, frames of the 3D view for "
     "`yoke report`, and everything needed to repeat the run (`yoke reproduce FILE`). "
     "[checkpoints.md](../checkpoints.md) explains how to continue a stopped run.\n",
     "time: {end: 1, step: 1e-3}\n"
     "subsystems:\n"
     "  left: {solver: oscillator, mass: 1, stiffness: 100, velocity: 0.1}\n"
     "  right: {solver: oscillator, mass: 1, velocity: 0.1}\n"
     "interfaces:\n"
     "  joint: {between: [left.mass, right.mass]}\n"
     "coupling: {scheme: tight}\n"
     "record:\n"
     "  file: two-masses.h5\n"
     "  every: 10\n"
     "  channels: [left.mass.position, joint.force, joint.gap_position, left.energy]\n"
     "checkpoint: {every: 10 min wall}\n"},
    {"multibody", "Multibody solver", "Rigid and flexible bodies, joints and forces as a DAE",
     "Use this solver for mechanisms: bodies with joints, springs, motors and flexible parts. "
     "[multibody.md](../multibody.md) describes the methods. Contacts are in the "
     "[nonsmooth solver](nonsmooth.md).\n",
     "time: {end: 2, step: 1e-3}\n"
     "subsystems:\n"
     "  pendulum:\n"
     "    solver: multibody\n"
     "    bodies:\n"
     "      rod: {mass: 1, inertia: [0.001, 0.083, 0.083], position: [0.5, 0, 0]}\n"
     "    joints:\n"
     "      hinge: {type: revolute, between: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0]}\n"
     "    shapes:\n"
     "      - {type: box, body: rod, size: [1, 0.05, 0.05]}\n"
     "    ports:\n"
     "      tip: {body: rod, offset: [0.5, 0, 0]}\n"
     "record: {channels: [pendulum.rod.position, pendulum.hinge.force, pendulum.energy]}\n"},
    {"joints", "Joints and drives", "Joints inside a mechanical solver, prescribed motions",
     "The multibody and the nonsmooth solver have the same joints. A joint ties a marker on one "
     "body to a marker on another; give both by `at` and `axis` at the start, or each by "
     "`markers`. A driven joint prescribes a motion as a function of time, or as a signal "
     "that a wire brings (`signal_port`); for a force or torque that a signal gives use "
     "[`motor`](forces.md). Joints between subsystems are [interfaces](coupling.md).\n",
     "time: {end: 1, step: 1e-3}\n"
     "subsystems:\n"
     "  machine:\n"
     "    solver: multibody\n"
     "    bodies:\n"
     "      crank: {mass: 0.2, inertia: [1e-4, 1e-4, 1e-4], position: [0.05, 0, 0]}\n"
     "      rod: {mass: 0.3, inertia: [1e-5, 1e-3, 1e-3], position: [0.2, 0, 0]}\n"
     "      slider: {mass: 1, inertia: [1e-3, 1e-3, 1e-3], position: [0.3, 0, 0]}\n"
     "    joints:\n"
     "      bearing: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0]}\n"
     "      drive: {type: driven-rotation, between: [ground, crank], at: [0, 0, 0], axis: [0, 1, "
     "0], "
     "angle: 10*t}\n"
     "      pin: {type: revolute, between: [crank, rod], at: [0.1, 0, 0], axis: [0, 1, 0]}\n"
     "      ball: {type: spherical, between: [rod, slider], at: [0.3, 0, 0]}\n"
     "      guide: {type: prismatic, between: [ground, slider], at: [0.3, 0, 0], "
     "axis: [1, 0, 0]}\n"},
    {"forces", "Forces, springs and motors", "Springs, bushings, motors, applied loads, feedback",
     "The multibody and the nonsmooth solver have the same force laws. A load is a function of "
     "time, an expression of the model's own state (`feedback`), or a signal that a wire brings "
     "(`signal_port`).\n",
     "time: {end: 2, step: 1e-3}\n"
     "subsystems:\n"
     "  door:\n"
     "    solver: multibody\n"
     "    gravity: [0, 0, 0]\n"
     "    bodies:\n"
     "      leaf: {mass: 8, inertia: [0.1, 0.5, 0.6], position: [0.4, 0, 0]}\n"
     "    joints:\n"
     "      hinge: {type: revolute, between: [ground, leaf], at: [0, 0, 0], axis: [0, 0, 1]}\n"
     "    forces:\n"
     "      closer: {type: torsion-spring, between: [ground, leaf], at: [0, 0, 0], axis: [0, 0, "
     "1], "
     "stiffness: 20, damping: 4}\n"
     "      motor:\n"
     "        type: motor\n"
     "        joint: hinge\n"
     "        feedback: {inputs: {speed: leaf.angular_velocity.z}, expression: 5 - 2*speed}\n"},
    {"couplings", "Gears, screws and ropes", "Gears, racks, belts, screws, differentials, ropes",
     "A coupling acts on a sum of joint coordinates, each with its ratio: the angle of a joint "
     "that "
     "turns, over any number of turns, or the displacement of one that slides. A `rigid` coupling "
     "keeps the sum, an `elastic` one is a spring on it, a `rope` adds the lengths between its "
     "points. Two gears with the radii r1 and r2 have the ratios r1 and r2 (r1 and -r2 for a belt "
     "or an internal gear), a rack the ratio -1 or 1, a screw its lead divided by 2 pi, a "
     "differential -2 at its cage and 1 at both wheels. The terms of the coupling NAME have the "
     "channels of joints (forces, if it is elastic): NAME, NAME.2 and so on; `NAME.elongation` or "
     "`NAME.angle` of an elastic one is the sum.\n",
     "time: {end: 1, step: 1e-3}\n"
     "subsystems:\n"
     "  hoist:\n"
     "    solver: multibody\n"
     "    bodies:\n"
     "      motor: {mass: 2, inertia: [0.01, 0.01, 0.01], position: [0, 0, 3]}\n"
     "      drum: {mass: 10, inertia: [0.2, 0.2, 0.2], position: [0.4, 0, 3]}\n"
     "      load: {mass: 50, inertia: [1, 1, 1], position: [0.5, 0, 1]}\n"
     "    joints:\n"
     "      shaft: {type: revolute, between: [ground, motor], at: [0, 0, 3], axis: [0, 1, 0]}\n"
     "      axle: {type: revolute, between: [ground, drum], at: [0.4, 0, 3], axis: [0, 1, 0]}\n"
     "    couplings:\n"
     "      gears: {terms: [{joint: shaft, ratio: 0.05}, {joint: axle, ratio: 0.25}]}\n"
     "      rope: {type: rope, path: [{body: ground, offset: [0.5, 0, 3]}, {body: load}],\n"
     "             terms: [{joint: axle, ratio: 0.1}], stiffness: 1e5, contact_damping: 5,\n"
     "             pretension: 490}\n"
     "    forces:\n"
     "      torque: {type: motor, joint: shaft, load: -12}\n"},
    {"flexible-bodies", "Beams and flexible bodies", "Beams, rods, cables, finite-element bodies",
     "Choose by the size of the deformation: `beams` and `ancf` are exact for large bending, "
     "`rod` and `modal` are small deformations on a floating frame and much cheaper. "
     "[modal.md](../modal.md) describes how to bring a body from a finite-element program.\n",
     "time: {end: 0.2, step: 1e-3}\n"
     "subsystems:\n"
     "  beam:\n"
     "    solver: multibody\n"
     "    flexible_bodies:\n"
     "      cantilever:\n"
     "        type: rod\n"
     "        length: 1\n"
     "        section: {type: rectangle, young_modulus: 210e9, density: 7850, width_y: 0.02, "
     "width_z: 0.01}\n"
     "        attachments: {tip: 1}\n"
     "    joints:\n"
     "      clamp: {type: fixed, between: [ground, cantilever]}\n"
     "    forces:\n"
     "      load: {type: force, body: cantilever.tip, vector: [0, 0, -10]}\n"},
    {"nonsmooth", "Contact solver (nonsmooth)", "Rigid bodies with contact, friction and impacts",
     "Use this solver where bodies touch: impacts, friction, granular matter, gripping. "
     "[nonsmooth.md](../nonsmooth.md) describes the methods and which contact solver suits "
     "which problem.\n",
     "time: {end: 1, step: 1e-3}\n"
     "subsystems:\n"
     "  world:\n"
     "    solver: nonsmooth\n"
     "    materials:\n"
     "      steel: {friction: 0.3, restitution: 0.2}\n"
     "    ground_shapes:\n"
     "      - {type: plane, material: steel}\n"
     "    bodies:\n"
     "      box:\n"
     "        position: [0, 0, 0.2]\n"
     "        velocity: [0.5, 0, 0]\n"
     "        shapes: [{type: box, size: [0.1, 0.1, 0.1], density: 7850, material: steel}]\n"
     "record: {channels: [world.box.position, world.contact_count, world.energy]}\n"},
    {"shapes", "Contact shapes", "Spheres, boxes, meshes, cavities and more",
     "Shapes of bodies and of the ground in the [nonsmooth solver](nonsmooth.md). A body has any "
     "number of them. The shapes of a multibody subsystem are for pictures only and are "
     "described [there](multibody.md).\n",
     "time: {end: 0.5, step: 1e-3}\n"
     "subsystems:\n"
     "  world:\n"
     "    solver: nonsmooth\n"
     "    materials: {plastic: {friction: 0.4}}\n"
     "    ground_shapes: [{type: plane, material: plastic}]\n"
     "    bodies:\n"
     "      hammer:\n"
     "        mass: 0.2\n"
     "        inertia: [9e-4, 9e-4, 1e-4]\n"
     "        position: [0, 0, 0.2]\n"
     "        shapes:\n"
     "          - {type: capsule, radius: 0.01, length: 0.2, material: plastic}\n"
     "          - {type: box, size: [0.06, 0.04, 0.04], position: [0, 0, 0.1], "
     "material: plastic}\n"},
    {"particles", "Particles, emitters and sinks", "Granular matter: fillings, streams, outlets",
     "A filling puts particles into a container before the start, on a lattice or settled by "
     "gravity. An emitter adds particles during the run, and a sink removes them.\n",
     "time: {end: 0.5, step: 1e-3}\n"
     "subsystems:\n"
     "  silo:\n"
     "    solver: nonsmooth\n"
     "    materials: {sand: {friction: 0.5}}\n"
     "    ground_shapes:\n"
     "      - {type: box-cavity, size: [0.1, 0.1, 0.2], position: [0, 0, 0.1], open_walls: [top], "
     "material: sand}\n"
     "    particles:\n"
     "      filling:\n"
     "        type: lattice\n"
     "        count: 200\n"
     "        radius: 4e-3\n"
     "        size_spread: 0.1\n"
     "        density: 2500\n"
     "        material: sand\n"
     "        container: box\n"
     "        container_size: [0.09, 0.09, 0.18]\n"
     "        position: [0, 0, 0.1]\n"},
    {"oscillator", "Oscillator solver", "One mass with spring and damper",
     "One degree of freedom: the model to try schemes with, and a lumped load for other "
     "subsystems.\n",
     "time: {end: 1, step: 1e-3}\n"
     "subsystems:\n"
     "  mass: {solver: oscillator, mass: 2, stiffness: 800, damping: 4, force: \"10*step(t, "
     "0.2)\"}\n"},
    {"blocks", "Signal blocks", "Expressions, filters, delays, logic, state machines, noise",
     "Blocks compute signals from signals: the logic of a machine, a controller of any structure, "
     "a "
     "random load. A block reads inputs and other blocks by their names, in an expression; so "
     "gains, "
     "sums, comparisons and [tables](values.md) need no blocks of their own. [Wires](coupling.md) "
     "bring the inputs and take the signals of blocks to other subsystems.\n",
     "time: {end: 4, step: 1e-3}\n"
     "subsystems:\n"
     "  logic:\n"
     "    solver: blocks\n"
     "    inputs: [height]\n"
     "    blocks:\n"
     "      phase:\n"
     "        type: state-machine\n"
     "        states: [lift, hold]\n"
     "        transitions: [{from: lift, to: hold, when: height > 0.9}]\n"
     "      target: {value: \"phase == 0 ? 1 : 0.8\"}\n"
     "      filtered: {type: transfer-function, input: target, numerator: [1], denominator: [0.1, "
     "1]}\n"
     "      force: {type: pid, input: filtered - height, proportional: 500, integral: 200, "
     "derivative: "
     "90,\n"
     "              derivative_filter: 5 ms, initial: 49, limits: [0, 150]}\n"
     "  lift:\n"
     "    solver: multibody\n"
     "    bodies: {table: {mass: 5}}\n"
     "    joints: {guide: {type: prismatic, between: [ground, table], at: [0, 0, 0], axis: [0, 0, "
     "1]}}\n"
     "    forces: {drive: {type: motor, joint: guide, signal_port: drive}}\n"
     "    ports: {table: {body: table}}\n"
     "wires:\n"
     "  height: {from: lift.table.position.z, to: logic.height}\n"
     "  force: {from: logic.force, to: lift.drive}\n"
     "coupling: {scheme: tight}\n"
     "record: {channels: [lift.table.position.z, logic.filtered]}\n"},
    {"control", "Controllers", "PID loops, sampled or continuous",
     "A loop takes a measured signal and gives a command; [wires](coupling.md) connect both. For "
     "anything else write a controller [in C or Python](../plugins.md), or import it as an "
     "[FMU](fmu.md).\n",
     "time: {end: 1, step: 1e-3}\n"
     "subsystems:\n"
     "  controller:\n"
     "    solver: control\n"
     "    sample_period: 1e-3\n"
     "    loops:\n"
     "      position: {reference: \"0.1*step(t, 0.1)\", proportional: 400, derivative: 60, "
     "command_limits: [-50, 50]}\n"
     "  axis:\n"
     "    solver: multibody\n"
     "    gravity: [0, 0, 0]\n"
     "    bodies: {table: {mass: 5}}\n"
     "    joints: {guide: {type: prismatic, between: [ground, table], at: [0, 0, 0], axis: [1, 0, "
     "0]}}\n"
     "    forces: {drive: {type: motor, joint: guide, signal_port: drive}}\n"
     "    ports: {table: {body: table}}\n"
     "wires:\n"
     "  measured: {from: axis.table.position.x, to: controller.position.measured}\n"
     "  command: {from: controller.position, to: axis.drive, sample_and_hold: true}\n"},
    {"hydraulic", "Hydraulics", "Cylinders with valves, pump and tank",
     "The force of a cylinder acts between the ends of an actuator; its ports are scalar, so join "
     "them to an `oscillator` or to a `distance` port of a mechanism. "
     "[hydraulics.md](../hydraulics.md) has the equations.\n",
     "time: {end: 0.5, step: 1e-3}\n"
     "subsystems:\n"
     "  oil:\n"
     "    solver: hydraulic\n"
     "    pump_pressure: 15e6\n"
     "    cylinders:\n"
     "      ram:\n"
     "        area: [4e-3, 3e-3]\n"
     "        length: 1\n"
     "        initial_state: {force: 0}\n"
     "        valve: {type: closed-center, area: 1e-4, time_constant: 5e-3}\n"
     "        spool_command: \"0.2*step(t, 0.1)\"\n"
     "  load: {solver: oscillator, mass: 400}\n"
     "interfaces:\n"
     "  rod: {between: [load.mass, oil.ram]}\n"
     "coupling: {scheme: explicit}\n"},
    {"fmu", "FMUs", "Models of other programs by FMI 2.0 and 3.0",
     "`yoke fmu info FILE` shows what an FMU contains and prints a section to start from; "
     "[fmi.md](../fmi.md) is the guide.\n",
     "# under `subsystems`\n"
     "  engine:\n"
     "    solver: fmu\n"
     "    file: Engine.fmu\n"
     "    start_values:\n"
     "      - {variable: displacement, value: 1.4e-3}\n"
     "    ports:\n"
     "      shaft: {type: scalar, position: phi, velocity: w, force: tau}\n"
     "      throttle: {type: signal, variable: throttle}\n"},
    {"mbdyn", "MBDyn", "A running MBDyn as a subsystem",
     "MBDyn computes the subsystem and exchanges motions and forces with Yoke over a socket. "
     "[mbdyn.md](../mbdyn.md) is the guide.\n",
     "# under `subsystems`\n"
     "  rotor:\n"
     "    solver: mbdyn\n"
     "    address: unix:/tmp/rotor.sock\n"
     "    nodes: [hub]\n"
     "    coupling: tight\n"},
    {"precice", "preCICE", "Partners of a preCICE simulation",
     "Yoke takes part in a preCICE simulation; its ports are rigid bodies with meshes on them. "
     "[precice.md](../precice.md) is the guide.\n",
     NULL},
    {"remote", "Remote subsystems", "Subsystems in other processes and on other machines",
     "Another process computes the subsystem: a `yoke serve`, or a program with the "
     "[protocol](../protocol.md). [processes.md](../processes.md) is the guide.\n",
     "# under `subsystems`\n"
     "  left: {solver: remote, address: \"tcp:node2:7001\"}\n"},
    {"plug-ins", "Solvers of plug-ins", "Solvers that a scenario loads from shared libraries",
     "`yoke schema FILE` describes the solvers that the plug-ins of a scenario add. "
     "[plugins.md](../plugins.md) shows how to write one.\n",
     NULL},
    {"keys", "Index of keys", "All keys in alphabetical order",
     "All keys in alphabetical order, with links to the sections that have them.\n", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

int yk_reference_topic(const char *name)
{
    int plugins = 0;
    for (int i = 0; yk_reference_topics[i].name; i++) {
        if (strcmp(yk_reference_topics[i].name, name) == 0)
            return i;
        if (strcmp(yk_reference_topics[i].name, "plug-ins") == 0)
            plugins = i;
    }
    return plugins;
}

int yk_reference_topic_of_section(const char *page, const char *path)
{
    static const struct {
        const char *page, *path, *topic;
    } rows[] = {
        {"scenario", "tables", "values"},
        {"scenario", "components", "values"},
        {"multibody", "components", "values"},
        {"nonsmooth", "components", "values"},
        {"scenario", "interfaces", "coupling"},
        {"scenario", "wires", "coupling"},
        {"scenario", "coupling", "coupling"},
        {"scenario", "record", "recording"},
        {"scenario", "checkpoint", "recording"},
        {"multibody", "joints", "joints"},
        {"multibody", "forces", "forces"},
        {"multibody", "couplings", "couplings"},
        {"multibody", "beams", "flexible-bodies"},
        {"multibody", "flexible_bodies", "flexible-bodies"},
        {"multibody", "shapes", "shapes"},
        {"nonsmooth", "bodies.NAME.shapes", "shapes"},
        {"nonsmooth", "particles", "particles"},
        {"nonsmooth", "emitters", "particles"},
        {"nonsmooth", "sinks", "particles"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].page, page) == 0 && strcmp(rows[i].path, path) == 0)
            return yk_reference_topic(rows[i].topic);
    return -1;
}
