#!/usr/bin/env python3
"""Set 7 of the trust suite: machines of several parts and solvers, which no threshold of the verdict has seen.

Mechanisms in space cut at several joints, redundant loops, flexible bodies, sampled controllers, signal blocks, hydraulics, machine elements,
tables, ropes, contact, and other units. The truth is a closed form, a solution by SciPy, or the same machine with a converged step under the
scheme that solves its interfaces best. Each is run with three macro steps and with several schemes if it is cut.

usage: studies/trust/mechanisms.py [--program build/release/yoke] [--case TEXT] [--verbose] [--remedies]
"""
import math
import numpy as np
from scipy.integrate import solve_ivp
from counting import Case, Converged, count_cases, ode


def system(subsystems, channels, end, step, interfaces="", more=""):
    text = f"time: {{end: {end}, step: {step}}}\n{more}subsystems:\n{subsystems}"
    if interfaces:
        text += f"interfaces:\n{interfaces}"
    return text + f"record: {{channels: [{channels}]}}\n"


def solo(name, content, channels, truth, end, step, gravity="[0, 0, 0]", contact=False, solver="multibody", more=""):
    """One part: `content` is the inside of the subsystem."""
    body = f"  a:\n    solver: {solver}\n    gravity: {gravity}\n{content}"
    return Case(name, system(body, channels, end, step, more=more), truth, step, (None,), contact)


ALL = ("explicit", "loose", "tight", "index1", "rim")
FEW = ("explicit", "tight")
REF = Converged("monolithic")
TIGHT = Converged("tight")
INDEX1 = Converged("index1")
ITSELF = Converged(None)


# Mechanisms in space ------------------------------------------------------------------------------------------------------------------

ARM = """  base:
    solver: multibody
    bodies:
      column: {mass: 20, inertia: [1, 1, 0.8], position: [0, 0, 0.5]}
      upper: {mass: 8, inertia: [0.05, 0.4, 0.4], position: [0.35, 0, 1]}
    joints:
      turn: {type: revolute, between: [ground, column], at: [0, 0, 0], axis: [0, 0, 1]}
      shoulder: {type: revolute, between: [column, upper], at: [0, 0, 1], axis: [0, 1, 0]}
    forces:
      turn: {type: motor, joint: turn, load: "6*sin(2*t)"}
      turn_damper: {type: joint-spring, joint: turn, stiffness: 40, damping: 2}
      shoulder: {type: joint-spring, joint: shoulder, stiffness: 400, damping: 6, free: -0.2}
    ports: {elbow: {body: upper, offset: [0.35, 0, 0]}}
  fore:
    solver: multibody
    bodies: {arm: {mass: 5, inertia: [0.02, 0.2, 0.2], position: [1, 0, 1]}}
    ports: {elbow: {body: arm, offset: [-0.3, 0, 0]}, wrist: {body: arm, offset: [0.3, 0, 0]}}
  tool:
    solver: multibody
    bodies: {tool: {mass: 2, inertia: [0.01, 0.03, 0.03], position: [1.3, 0, 0.85]}}
    ports: {wrist: {body: tool, offset: [0, 0, 0.15]}, tip: {body: tool, offset: [0, 0, -0.15]}}
"""
ARM_JOINTS = "  elbow: {between: [base.elbow, fore.elbow], joint: universal}\n  wrist: {between: [fore.wrist, tool.wrist], joint: spherical}\n"

GIMBAL = """  rings:
    solver: multibody
    gravity: [0, 0, 0]
    bodies:
      outer: {mass: 2, inertia: [0.05, 0.05, 0.08]}
      inner: {mass: 1, inertia: [0.02, 0.03, 0.02], angular_velocity: [0, 0.4, 0]}
    joints:
      outer: {type: revolute, between: [ground, outer], at: [0, 0, 0], axis: [0, 0, 1]}
      inner: {type: revolute, between: [outer, inner], at: [0, 0, 0], axis: [0, 1, 0]}
    forces:
      hold: {type: joint-spring, joint: outer, stiffness: 4}
      tilt: {type: joint-spring, joint: inner, stiffness: 6}
    ports: {axle: {body: inner, orientation: {axis: [0, 1, 0], angle: pi/2}}}
  rotor:
    solver: multibody
    gravity: [0, 0, 0]
    bodies: {rotor: {mass: 3, inertia: [0.02, 0.012, 0.012], angular_velocity: [60, 0.4, 0]}}
    ports: {axle: {body: rotor, orientation: {axis: [0, 1, 0], angle: pi/2}}, rim: {body: rotor}}
"""

DOOR = """  frame:
    solver: multibody
    gravity: [0, 0, 0]
    bodies: {post: {mass: 30, inertia: [5, 5, 1], position: [0, 0, 1]}}
    joints: {hold: {type: prismatic, between: [ground, post], at: [0, 0, 1], axis: [0, 1, 0]}}
    forces: {hold: {type: joint-spring, joint: hold, stiffness: 4e4, damping: 40}}
    ports: {low: {body: post, offset: [0, 0, -0.7]}, high: {body: post, offset: [0, 0, 0.7]}}
  leaf:
    solver: multibody
    gravity: [0, 0, 0]
    bodies: {leaf: {mass: 25, inertia: [8, 9.5, 1.6], position: [0.45, 0, 1], velocity: [0, 0.9, 0], angular_velocity: [0, 0, 2]}}
    ports:
      low: {body: leaf, offset: [-0.45, 0, -0.7]}
      high: {body: leaf, offset: [-0.45, 0, 0.7]}
      handle: {body: leaf, offset: [0.4, 0, 0]}
"""
DOOR_JOINTS = "  low: {between: [frame.low, leaf.low], joint: revolute}\n  high: {between: [frame.high, leaf.high], joint: revolute}\n"

PLATFORM = """  base:
    solver: multibody
    gravity: [0, 0, -9.81]
    bodies:
      foot_{i}: {repeat: 3, mass: 4, inertia: [0.05, 0.05, 0.05], position: ["cos(2*pi*{i}/3)", "sin(2*pi*{i}/3)", 0.3]}
    joints:
      leg_{i}: {repeat: 3, type: prismatic, between: [ground, "foot_{i}"], at: ["cos(2*pi*{i}/3)", "sin(2*pi*{i}/3)", 0.3], axis: [0, 0, 1]}
    forces:
      leg_{i}: {repeat: 3, type: joint-spring, joint: "leg_{i}", stiffness: "3e3*{i}", damping: 20}
    ports:
      top_{i}: {repeat: 3, body: "foot_{i}", offset: [0, 0, 0.1]}
  plate:
    solver: multibody
    gravity: [0, 0, -9.81]
    bodies: {plate: {mass: 12, inertia: [2, 2, 4], position: [0, 0, 0.4]}}
    ports:
      pad_{i}: {repeat: 3, body: plate, offset: ["cos(2*pi*{i}/3)", "sin(2*pi*{i}/3)", 0]}
"""
PLATFORM_JOINTS = "".join(f"  j{i}: {{between: [base.top_{i}, plate.pad_{i}], joint: in-plane}}\n" for i in (1, 2, 3))
PLATFORM_GUIDE = "    joints: {guide: {type: custom, between: [ground, plate], at: [0, 0, 0.4], constrained_axes: [x, y, rz]}}\n"

PARALLEL = """  cranks:
    solver: multibody
    gravity: [0, -9.81, 0]
    bodies:
      crank_{i}: {repeat: 3, mass: 1, inertia: [0.01, 0.01, 0.01], position: ["{i}*0.5 + 0.1*cos(1)", "0.1*sin(1)", 0],
                  orientation: {axis: [0, 0, 1], angle: 1}}
    joints:
      pin_{i}: {repeat: 3, type: revolute, between: [ground, "crank_{i}"], at: ["{i}*0.5", 0, 0], axis: [0, 0, 1]}
    ports:
      end_{i}: {repeat: 3, body: "crank_{i}", offset: [0.1, 0, 0]}
  bar:
    solver: multibody
    gravity: [0, -9.81, 0]
    bodies: {bar: {mass: 6, inertia: [0.1, 0.8, 0.8], position: ["1 + 0.2*cos(1)", "0.2*sin(1)", 0]}}
    ports:
      hole_{i}: {repeat: 3, body: bar, offset: ["({i} - 2)*0.5", 0, 0]}
"""
PARALLEL_JOINTS = "".join(f"  j{i}: {{between: [cranks.end_{i}, bar.hole_{i}], joint: {{constrained_axes: [x, y]}}}}\n" for i in (1, 2, 3))


def parallelogram(t):
    """Three equal cranks carry a bar that does not turn: one degree of freedom."""
    inertia = 3 * (0.01 + 1 * 0.1**2) + 6 * 0.2**2
    torque = (3 * 1 * 0.1 + 6 * 0.2) * 9.81
    angle = ode(lambda _, y: [y[1], -torque * math.cos(y[0]) / inertia], [1, 0], lambda y: y[0])(t)
    return np.array([1 + 0.2 * np.cos(angle), 0.2 * np.sin(angle)])


def cardan(t):
    """Angle behind one universal joint at 0.5 rad, turned at 3 rad/s: the position of a point of the driven shaft."""
    return np.array([np.unwrap(np.arctan2(np.sin(3 * t) * 1, np.cos(3 * t) * math.cos(0.5)))])


PENDULUM_PAIR = """  upper:
    solver: multibody
    bodies: {rod: {mass: 2, inertia: [0.2, 0.2, 0.01], position: [0, 0, -0.5], velocity: [0.5, 0.25, 0], angular_velocity: [0.5, -1, 0]}}
    joints: {ball: {type: spherical, between: [ground, rod], at: [0, 0, 0]}}
    ports: {end: {body: rod, offset: [0, 0, -0.5]}}
  lower:
    solver: multibody
    units: {length: mm, mass: t}
    gravity: [0, 0, -9810]
    bodies: {rod: {mass: 1e-3, inertia: [80, 80, 4], position: [0, 0, -1500], velocity: [1500, 750, 0], angular_velocity: [0.5, -1, 0]}}
    ports: {top: {body: rod, offset: [0, 0, 500]}, tip: {body: rod, offset: [0, 0, -500]}}
"""

TOP_CART = """  cart:
    solver: multibody
    bodies: {cart: {mass: 2, inertia: [1, 1, 1]}}
    joints: {table: {type: custom, between: [ground, cart], at: [0, 0, 0], constrained_axes: [z, rx, ry, rz]}}
    forces: {hold: {type: bushing, between: [ground, cart], stiffness: [300, 200, 0, 0, 0, 0], damping: [1, 1, 0, 0, 0, 0]}}
    ports: {pivot: {body: cart}}
  top:
    solver: multibody
    bodies:
      top: {mass: 1, inertia: [0.004, 0.004, 0.006], position: [0.2*sin(0.4), 0, 0.2*cos(0.4)], orientation: {axis: [0, 1, 0], angle: 0.4},
            angular_velocity: [100*sin(0.4), 0, 100*cos(0.4)]}
    ports: {tip: {body: top, offset: [0, 0, -0.2]}, head: {body: top}}
"""

SPACE = [
    Case("arm", system(ARM, "tool.tip.position", 2, 4e-3, ARM_JOINTS), REF, 4e-3, ALL),
    Case("gimbal", system(GIMBAL, "rings.inner.angle, rings.outer.angle", 3, 2e-3, "  axle: {between: [rings.axle, rotor.axle], joint: revolute}\n"), REF, 2e-3,
         ALL),
    Case("two-hinges", system(DOOR, "leaf.handle.position", 3, 5e-3, DOOR_JOINTS), REF, 5e-3, FEW + ("index1",)),
    Case("platform", system(PLATFORM + PLATFORM_GUIDE, "base.top_1.position.z, base.top_2.position.z, base.top_3.position.z", 2, 4e-3, PLATFORM_JOINTS), REF,
         4e-3, FEW + ("index1", "rim")),
    Case("three-cranks", system(PARALLEL, "bar.hole_2.position.x, bar.hole_2.position.y", 2, 4e-3, PARALLEL_JOINTS), parallelogram, 4e-3, FEW + ("index1",)),
    Case("units-pair", system(PENDULUM_PAIR, "lower.tip.position", 4, 8e-3, "  knee: {between: [upper.end, lower.top], joint: spherical}\n"), REF, 8e-3, ALL),
    Case("top-on-cart", system(TOP_CART, "cart.pivot.position, top.head.position", 1.5, 1e-3, "  pivot: {between: [cart.pivot, top.tip], joint: spherical}\n"), REF,
         1e-3, FEW + ("rim",)),
    solo("cardan", """    bodies:
      input: {mass: 1, inertia: [0.01, 0.01, 0.01], angular_velocity: [0, 0, 3]}
      output: {mass: 1, inertia: [0.02, 0.02, 0.02], orientation: {axis: [0, 1, 0], angle: 0.5}}
    joints:
      drive: {type: driven-rotation, between: [ground, input], at: [0, 0, 0], axis: [0, 0, 1], angle: 3*t}
      bearing: {type: revolute, between: [ground, input], at: [0, 0, 0], axis: [0, 0, 1]}
      cross: {type: universal, between: [input, output], markers: [{}, {}]}
      out: {type: cylindrical, between: [ground, output], markers: [{orientation: {axis: [0, 1, 0], angle: 0.5}}, {}]}
    ports: {b: {body: output}}
""", "a.out.angle", ITSELF, 0.9, 4e-3),
]

# Flexible bodies ----------------------------------------------------------------------------------------------------------------------

STEEL = "{type: rectangle, young_modulus: 210e9, density: 7850, width_y: 0.02, width_z: 0.01}"


def beam_half(name, start, clamp, port_left, port_right):
    nodes = "".join(f"      n_{i}: {{position: [{start + i * 0.125}, 0, 0]}}\n" for i in range(5))
    return (f"  {name}:\n    solver: multibody\n    gravity: [0, 0, 0]\n    nodes:\n{nodes}    beams:\n"
            f"      b_1: {{nodes: [n_0, n_1, n_2], section: {STEEL}}}\n      b_2: {{nodes: [n_2, n_3, n_4], section: {STEEL}}}\n"
            + ("    joints: {clamp: {type: fixed, between: [ground, n_0]}}\n" if clamp else "    forces: {load: {type: force, body: n_4, vector: [0, 0, -20], "
               "factor: \"sin(40*t)\"}}\n")
            + f"    ports: {{{port_left}: {{body: n_0}}, {port_right}: {{body: n_4}}}}\n")


def rod(name, keys, more, gravity="[0, 0, -9.81]", inside="[1, 1, 1]"):
    return (f"  {name}:\n    solver: multibody\n    gravity: {gravity}\n    flexible_bodies:\n      rod: {{{keys}}}\n{more}")


FLEX = [
    Case("beam-halves", system(beam_half("left", 0, True, "wall", "cut") + beam_half("right", 0.5, False, "cut", "tip"), "right.tip.position.z", 0.6, 5e-4,
                               "  cut: {between: [left.cut, right.cut], joint: fixed}\n"), REF, 5e-4, ("tight", "index1")),
    Case("hub-and-rod", system("""  hub:
    solver: multibody
    gravity: [0, 0, 0]
    bodies: {hub: {mass: 5, inertia: [0.1, 0.1, 0.1]}}
    joints: {axle: {type: revolute, between: [ground, hub], at: [0, 0, 0], axis: [0, 0, 1]}}
    forces: {drive: {type: motor, joint: axle, load: "20*sin(6*t)"}}
    ports: {rim: {body: hub, offset: [0.1, 0, 0]}}
""" + rod("blade", "type: rod, length: 1, position: [0.1, 0, 0], section: {type: rectangle, young_modulus: 70e9, density: 2700, width_y: 0.01, width_z: 0.03}, "
          "attachments: {tip: 1}", "    ports: {root: {body: blade_root}, tip: {body: rod.tip}}\n".replace("blade_root", "rod"), "[0, 0, 0]"),
          "blade.tip.position", 1.5, 1e-3, "  root: {between: [hub.rim, blade.root], joint: fixed}\n"), REF, 1e-3, FEW + ("index1",)),
    solo("rubber-pendulum", """    flexible_bodies:
      rod: {type: ancf, length: 1, elements: 4, section: {type: rectangle, young_modulus: 2e6, density: 1100, width_y: 0.03, width_z: 0.03}, attachments: {root: 0, tip: 4}}
    joints: {pin: {type: spherical, between: [ground, rod.root]}}
    ports: {tip: {body: rod.tip}}
""", "a.tip.position", ITSELF, 0.8, 2e-3, "[0, 0, -9.81]"),
    Case("blade-mass", system(rod("blade", "type: rod, length: 0.5, section: {type: rectangle, young_modulus: 200e9, density: 7800, width_y: 0.02, width_z: 0.002}, "
                                  "attachments: {tip: 0.5}", "    joints: {clamp: {type: fixed, between: [ground, rod]}}\n    ports: {tip: {body: rod.tip}}\n")
                              + """  mass:
    solver: multibody
    units: {length: mm, mass: g}
    gravity: [0, 0, -9810]
    bodies: {m: {mass: 100, inertia: [1e4, 1e4, 1e4], position: [500, 0, 0]}}
    ports: {m: {body: m}}
""", "mass.m.position.z", 1, 1e-3, "  tip: {between: [blade.tip, mass.m], joint: fixed}\n"), REF, 1e-3, FEW + ("rim", "index1")),
]

# Control ------------------------------------------------------------------------------------------------------------------------------


def sampled_speed(t):
    """A rotor, a PI controller that samples every 20 ms and holds."""
    inertia, friction, kp, ki, period = 0.5, 0.4, 6.0, 20.0, 0.02
    w, integral, out, times, command = 0.0, 0.0, [], [], 0.0
    n = int(round(t[-1] / period)) + 2
    states = []
    for k in range(n):
        error = 10.0 - w
        command = kp * error + ki * integral
        integral += ki * 0 + error * period
        states.append((w, command))
        settled = command / friction
        w = settled + (w - settled) * math.exp(-friction / inertia * period)
    k = np.minimum((t / period + 1e-9).astype(int), n - 1)
    start, command = np.array([s[0] for s in states])[k], np.array([s[1] for s in states])[k]
    settled = command / friction
    return np.array([settled + (start - settled) * np.exp(-friction / inertia * (t - k * period))])


AXIS = """  axis:
    solver: multibody
    gravity: [0, 0, 0]
    bodies: {table: {mass: 5, inertia: [1, 1, 1]}}
    joints: {guide: {type: prismatic, between: [ground, table], at: [0, 0, 0], axis: [1, 0, 0]}}
    forces: {drive: {type: motor, joint: guide, signal_port: drive}, spring: {type: joint-spring, joint: guide, stiffness: 100, damping: 5}}
    ports: {table: {body: table}}
"""


def blocks(name, content, step=4e-3, end=4, truth=ITSELF, more="", interfaces=""):
    text = (f"time: {{end: {end}, step: {step}}}\nsubsystems:\n{AXIS}  logic:\n    solver: blocks\n    inputs: [x]\n    blocks:\n{content}{more}"
            "wires:\n  x: {from: axis.guide.displacement, to: logic.x}\n  u: {from: logic.u, to: axis.drive}\n"
            f"{interfaces}record: {{channels: [axis.guide.displacement]}}\n")
    return Case(name, text, truth, step, FEW)


LOAD = """  load:
    solver: multibody
    gravity: [0, 0, 0]
    bodies: {m: {mass: 3, inertia: [1, 1, 1], position: [0, 0, 0]}}
    ports: {m: {body: m}}
"""

CONTROL = [
    Case("sampled-speed", """time: {end: 3, step: 5e-3}
subsystems:
  rotor:
    solver: multibody
    gravity: [0, 0, 0]
    bodies: {r: {mass: 1, inertia: [0.5, 0.5, 0.5]}}
    joints: {axle: {type: revolute, between: [ground, r], at: [0, 0, 0], axis: [0, 0, 1]}}
    forces: {drive: {type: motor, joint: axle, signal_port: drive}, friction: {type: joint-spring, joint: axle, damping: 0.4}}
    ports: {r: {body: r}}
  pi: {solver: control, sample_period: 0.02, loops: {w: {reference: 10, proportional: 6, integral: 20}}}
wires:
  w: {from: rotor.axle.angular_velocity, to: pi.w.measured}
  u: {from: pi.w, to: rotor.drive, sample_and_hold: true}
record: {channels: [rotor.axle.angular_velocity]}
""", ITSELF, 5e-3, FEW),
    blocks("blocks-pid", "      u: {type: pid, input: \"0.3*step(t, 0.2) - x\", proportional: 400, integral: 300, derivative: 40, derivative_filter: 10 ms}\n",
           truth=Converged("tight")),
    blocks("blocks-lag", "      f: {type: transfer-function, input: 0.3 - x, numerator: [1], denominator: [2e-3, 0.1, 1]}\n      u: {value: 120*f}\n",
           truth=Converged("tight")),
    blocks("blocks-delay", "      d: {type: delay, input: x, time: 0.08}\n      u: {value: 50 - 80*d}\n", truth=Converged("tight")),
    blocks("blocks-relay", "      r: {type: relay, input: x - 0.2, levels: [-0.05, 0.05], values: [40, 0]}\n      u: {value: r}\n", truth=Converged("tight")),
    blocks("blocks-states", "      p: {type: state-machine, states: [push, wait, pull], transitions: [{from: push, to: wait, when: x > 0.3}, "
           "{from: wait, to: pull, when: duration > 0.3}, {from: pull, to: push, when: x < 0}]}\n      u: {value: \"p == 0 ? 45 : (p == 1 ? 0 : -20)\"}\n",
           truth=Converged("tight")),
    blocks("blocks-cut", "      u: {type: pid, input: 0.3*sin(3*t) - x, proportional: 600, derivative: 30, derivative_filter: 20 ms}\n", more=LOAD,
           interfaces="interfaces: {cut: {between: [axis.table, load.m], joint: fixed}}\n", truth=Converged("tight")),
]

# Hydraulics ---------------------------------------------------------------------------------------------------------------------------

RAM = """  oil:
    solver: hydraulic
    pump_pressure: 15e6
    cylinders:
      ram: {area: [4e-3, 3e-3], length: 1, initial_state: {force: %s}, viscous_friction: 800, valve: {type: closed-center, area: 1e-5, time_constant: 20e-3}, spool_command: "%s"}
"""

HYDRAULICS = [
    Case("ram-mass", system(RAM % ("0", "0.5*step(t, 0.1) - 0.5*step(t, 0.6)") + "  load: {solver: oscillator, mass: 2000, damping: 500}\n", "load.mass.position", 1, 1e-3,
                            "  rod: {between: [load.mass, oil.ram]}\n"), INDEX1, 1e-3, ("explicit", "tight", "index1")),
    Case("ram-boom", system(RAM % ("0", "0.4*sin(4*t)") + """  boom:
    solver: multibody
    gravity: [0, 0, 0]
    bodies: {boom: {mass: 150, inertia: [2, 60, 60], position: [1, 0, 0]}}
    joints: {pin: {type: revolute, between: [ground, boom], at: [0, 0, 0], axis: [0, 1, 0]}}
    forces: {hold: {type: joint-spring, joint: pin, damping: 400}}
    ports: {ram: {type: distance, between: [ground, boom], markers: [{offset: [0.2, 0, -1]}, {offset: [-0.4, 0, 0]}]}}
""", "boom.pin.angle", 1.5, 1e-3, "  ram: {between: [boom.ram, oil.ram]}\n"), INDEX1, 1e-3, ("explicit", "tight", "index1")),
]

# Machine elements ---------------------------------------------------------------------------------------------------------------------

GEARS = """    bodies:
      motor: {mass: 2, inertia: [0.01, 0.01, 0.01]}
      wheel: {mass: 10, inertia: [0.2, 0.2, 0.2], position: [0.3, 0, 0]}
    joints:
      shaft: {type: revolute, between: [ground, motor], at: [0, 0, 0], axis: [0, 0, 1]}
      axle: {type: revolute, between: [ground, wheel], at: [0.3, 0, 0], axis: [0, 0, 1]}
    couplings: {gears: {%s}}
    forces: {drive: {type: motor, joint: shaft, load: "%s"}, spring: {type: joint-spring, joint: axle, stiffness: 30, damping: %s}}
    ports: {b: {body: wheel}}
"""
TERMS = "terms: [{joint: shaft, ratio: 0.05}, {joint: axle, ratio: 0.25}]"


def backlash(t):
    def f(_, y):
        s = 0.05 * y[0] + 0.25 * y[1]
        v = 0.05 * y[2] + 0.25 * y[3]
        k, play = 2e4, 1e-3
        force = k * (s - play) if s > play else k * (s + play) if s < -play else 0.0
        force += 30 * v
        return [y[2], y[3], (2 * math.sin(9 * _) - 0.05 * force) / 0.01, (-30 * y[1] - 0.25 * force) / 0.2]
    s = solve_ivp(f, (0, t[-1] + 1e-9), [0, 0, 0, 0], method="DOP853", rtol=1e-9, atol=1e-11, t_eval=t, max_step=2e-3)
    return s.y[1:2]


def rail_table(name, law, force, velocity, end, step, tables="", mass=2.0, contact=False):
    """A body on a rail, one force element; truth by `force(t, x, v)`, cut in two as well."""
    element = f"    forces: {{{law}}}\n"
    rail = ("    bodies: {b: {mass: %s, inertia: [1, 1, 1], velocity: [%s, 0, 0]}}\n"
            "    joints: {rail: {type: prismatic, between: [ground, b], at: [0, 0, 0], axis: [1, 0, 0]}}\n")
    truth = ode(lambda t, y: [y[1], force(t, y[0], y[1]) / mass], [0, velocity], lambda y: y[:1], 1e-3)
    whole = "  a:\n    solver: multibody\n    gravity: [0, 0, 0]\n" + rail % (mass, velocity) + element + "    ports: {b: {body: b}}\n"
    part = "  a:\n    solver: multibody\n    gravity: [0, 0, 0]\n" + rail % (0.5 * mass, velocity) + element + "    ports: {b: {body: b}}\n"
    other = (f"  c:\n    solver: multibody\n    gravity: [0, 0, 0]\n    bodies: {{m: {{mass: {0.5 * mass}, inertia: [1, 1, 1], velocity: [{velocity}, 0, 0]}}}}\n"
             "    ports: {m: {body: m}}\n")
    channel = "a.rail.displacement"
    return [Case(name, system(whole, channel, end, step, more=tables), truth, step, (None,), contact),
            Case(name + "-cut", system(part + other, channel, end, step, "  cut: {between: [a.b, c.m], joint: fixed}\n", more=tables), truth, step,
                 FEW + ("index1",), contact)]


def stop_force(x, v, stiffness, low, high, damping):
    if x > high:
        return -max(0.0, stiffness * (x - high) * (1 + damping * v))
    if x < low:
        return max(0.0, stiffness * (low - x) * (1 - damping * v))
    return 0.0


X_TABLE = np.array([-1, -0.4, -0.1, 0, 0.1, 0.4, 1])
Y_TABLE = np.array([-90, -16, -2, 0, 2, 16, 90])
TABLE = f"tables: {{law: {{points: {[[float(a), float(b)] for a, b in zip(X_TABLE, Y_TABLE)]}, interpolation: linear, extrapolation: linear}}}}\n"


def table_law(x):
    if abs(x) > 1:
        return math.copysign(90 + (abs(x) - 1) * 74 / 0.6, x)
    return float(np.interp(x, X_TABLE, Y_TABLE))


def hoist(t):
    """A drum with a torque lifts a load on an elastic rope that only pulls."""
    def f(_, y):
        stretch = 0.1 * y[0] - y[1]
        tension = max(0.0, 1e5 * (stretch + 490.5 / 1e5))
        return [y[2], y[3], (49.05 + 12 * math.sin(5 * _) - 0.1 * tension) / 0.4, (tension - 490.5) / 50]
    return ode(f, [0, 0, 0, 0], lambda y: y[1:2], 1e-3)(t)


ELEMENTS = (
    [solo("gears", GEARS % (TERMS, "0.4*sin(5*t)", 0.2), "a.axle.angle", ode(
        lambda t, y: [y[1], (-30 * y[0] - 0.2 * y[1] - 5 * 0.4 * math.sin(5 * t)) / (0.2 + 25 * 0.01)], [0, 0], lambda y: y[:1]), 6, 2e-2),
     solo("backlash", GEARS % ("type: elastic, " + TERMS + ", stiffness: 2e4, damping: 30, play: 1e-3", "2*sin(9*t)", 0), "a.axle.angle", backlash, 3, 1e-3),
     solo("rack", """    bodies:
      pinion: {mass: 1, inertia: [0.02, 0.02, 0.02], angular_velocity: [0, 0, 10]}
      rack: {mass: 3, inertia: [1, 1, 1], velocity: [1, 0, 0]}
    joints:
      axle: {type: revolute, between: [ground, pinion], at: [0, 0, 0], axis: [0, 0, 1]}
      rail: {type: prismatic, between: [ground, rack], at: [0, 0, 0], axis: [1, 0, 0]}
    couplings: {teeth: {terms: [{joint: axle, ratio: 0.1}, {joint: rail, ratio: -1}]}}
    forces: {spring: {type: joint-spring, joint: rail, stiffness: 250}}
    ports: {b: {body: rack}}
""", "a.rail.displacement", lambda t: np.array([np.sin(math.sqrt(250 / 5) * t) / math.sqrt(250 / 5)]), 10, 1e-2),
     solo("hoist", """    bodies:
      drum: {mass: 10, inertia: [0.4, 0.4, 0.4], position: [-0.1, 0, 3]}
      load: {mass: 50, inertia: [1, 1, 1], position: [0, 0, 1]}
    joints:
      axle: {type: revolute, between: [ground, drum], at: [-0.1, 0, 3], axis: [0, -1, 0]}
      rail: {type: prismatic, between: [ground, load], at: [0, 0, 1], axis: [0, 0, 1]}
    couplings:
      rope: {type: rope, path: [{body: ground, offset: [0, 0, 3]}, {body: load}], terms: [{joint: axle, ratio: 0.1}], stiffness: 1e5, pretension: 490.5}
    forces: {drive: {type: motor, joint: axle, load: "49.05 + 12*sin(5*t)"}}
    ports: {b: {body: load}}
""", "a.rail.displacement", hoist, 3, 4e-3, "[0, 0, -9.81]"),
     solo("falling-drag", """    bodies: {b: {mass: 1, inertia: [1, 1, 1]}}
    joints: {rail: {type: prismatic, between: [ground, b], at: [0, 0, 0], axis: [0, 0, -1]}}
    forces: {air: {type: drag, body: b, quadratic: 0.05}}
    ports: {b: {body: b}}
""", "a.rail.displacement", lambda t: np.array([9.81 / 0.05 / 9.81 * np.log(np.cosh(t * math.sqrt(9.81 * 0.05)))]), 4, 8e-2, "[0, 0, -9.81]")]
    + rail_table("joint-friction", "f: {type: joint-friction, joint: rail, coulomb: 3, static: 4, stribeck_velocity: 0.05, transition_velocity: 0.02}, "
                 "s: {type: joint-spring, joint: rail, stiffness: 60}",
                 lambda t, x, v: -60 * x - (3 + math.exp(-(v / 0.05) ** 2)) * math.tanh(v / 0.02), 1.5, 3, 2e-3)
    + rail_table("joint-stop", "f: {type: joint-stop, joint: rail, limits: [-0.2, 0.3], stiffness: 2e4, contact_damping: 0.3}",
                 lambda t, x, v: stop_force(x, v, 2e4, -0.2, 0.3, 0.3), 1.5, 3, 1e-3)
    + rail_table("table-spring", 'f: {type: joint-spring, joint: rail, characteristic: "law(x)"}', lambda t, x, v: -table_law(x), 2.2, 8, 1e-2, TABLE)
    + rail_table("motor-map", 'f: {type: motor, joint: rail, load: "8*sin(4*t)", characteristic: "load*(1 - 0.3*abs(v)) - 12*x"}',
                 lambda t, x, v: 8 * math.sin(4 * t) * (1 - 0.3 * abs(v)) - 12 * x, 0, 10, 2e-2)
    + rail_table("micro", "f: {type: joint-spring, joint: rail, stiffness: 2e-6, damping: 1e-9}", lambda t, x, v: -2e-6 * x - 1e-9 * v, 1e-4, 0.5, 5e-4, mass=2e-9)
    + rail_table("giant", "f: {type: joint-spring, joint: rail, stiffness: 3e6, damping: 2e5}", lambda t, x, v: -3e6 * x - 2e5 * v, 1, 200, 0.5, mass=4e7)
)

# Contact ------------------------------------------------------------------------------------------------------------------------------


def pushed(t):
    """A block of 1 kg with friction 0.4, pulled by 6 sin(2t) N: it sticks and slips."""
    mass, grip = 1.0, 0.4 * 9.81
    h = 1e-5
    n = int(round(t[-1] / h)) + 1
    x = v = 0.0
    out = np.zeros(n + 1)
    for k in range(n):
        force = 6 * math.sin(2 * (k + 0.5) * h)
        if v == 0 and abs(force) <= grip:
            a = 0.0
        else:
            a = (force - math.copysign(grip, v if v else force)) / mass
        new = v + a * h
        if v and new * v < 0:
            new = 0.0
        x += 0.5 * (v + new) * h
        v = new
        out[k + 1] = x
    return np.array([np.interp(t, np.arange(n + 1) * h, out)])


NONSMOOTH = "    materials: {m: {friction: %s, restitution: %s}}\n    ground_shapes: [{type: plane, material: m}]\n    bodies: {%s}\n"

BOX_PENDULUM = """  hook:
    solver: multibody
    bodies: {rod: {mass: 2, inertia: [0.05, 0.05, 0.01], position: [0.15, 0, 0]}}
    joints: {pin: {type: revolute, between: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0]}}
    ports: {end: {body: rod, offset: [0.15, 0, 0]}}
  can:
    solver: nonsmooth
    materials: {steel: {friction: 0.2, restitution: 0.3}}
    bodies: {can: {mass: 0.3, inertia: [1e-3, 1e-3, 1e-3], position: [0.3, 0, 0], shapes: [{type: box-cavity, size: [60 mm, 60 mm, 60 mm], material: steel}]}}
    particles: {shot: {type: lattice, count: 24, radius: 5 mm, density: 7800, material: steel, container: box, container_size: [60 mm, 60 mm, 60 mm]}}
    ports: {can: {body: can}}
"""

CONTACT = [
    solo("stick-slip", NONSMOOTH % (0.4, 0, "b: {position: [0, 0, 0.1], shapes: [{type: box, size: [0.4, 0.4, 0.2], density: 31.25, material: m}]}")
         + '    forces: {pull: {type: force, body: b, vector: [6, 0, 0], offset: [0, 0, -0.1], factor: "sin(2*t)"}}\n', "a.b.position.x", pushed, 4, 1e-2, "[0, 0, -9.81]", True,
         "nonsmooth"),
    solo("cradle", "    materials: {m: {friction: 0, restitution: 1}}\n    contact: {impact_law: sequential}\n    bodies:\n"
         + "".join(f"      b_{i}: {{position: [{0.2 * i + (-0.5 if i == 0 else 0)}, 0, 0], velocity: [{1 if i == 0 else 0}, 0, 0], "
                   "shapes: [{type: sphere, radius: 0.1, density: 1000, material: m}]}\n" for i in range(4)), "a.b_0.position.x, a.b_3.position.x",
         lambda t: np.array([np.minimum(t - 0.5, 0), 0.6 + np.maximum(t - 0.5, 0)]), 1.2, 1e-2, contact=True, solver="nonsmooth"),
    solo("tipping", NONSMOOTH % (0.6, 0, "b: {position: [0, 0, 0.3], angular_velocity: [0, 0.6, 0], velocity: [0.18, 0, -0.06], shapes: [{type: box, size: [0.2, 0.2, 0.6], density: 500, material: m}]}"),
         "a.b.position.x, a.b.position.z", ITSELF, 0.4, 5e-4, "[0, 0, -9.81]", True, "nonsmooth"),
    solo("spinning-slide", NONSMOOTH % (0.2, 0, "b: {position: [0, 0, 0.1], velocity: [1.5, 0.5, 0], angular_velocity: [0, -30, 5], shapes: [{type: sphere, radius: 0.1, density: 800, material: m}]}"),
         "a.b.position.x, a.b.position.y", None, 1.2, 4e-3, "[0, 0, -9.81]", True, "nonsmooth"),
    Case("shot-pendulum", system(BOX_PENDULUM, "hook.end.position", 1, 1e-3, "  weld: {between: [hook.end, can.can], joint: fixed}\n"), Converged("explicit", 4), 1e-3,
         ("explicit", "tight"), True),
    solo("hertz-drop", """    bodies: {b: {mass: 0.5, inertia: [0.01, 0.01, 0.01], position: [0, 0, 0.3]}}
    joints: {rail: {type: prismatic, between: [ground, b], at: [0, 0, 0.3], axis: [0, 0, 1]}}
    forces: {floor: {type: ground-contact, body: b, radius: 0.05, stiffness: 2e5, exponent: 1.5, contact_damping: 0.1}}
    ports: {b: {body: b}}
""", "a.rail.displacement", ode(lambda t, y: [y[1], -9.81 + (max(0.0, 2e5 * max(0.0, -0.25 - y[0]) ** 1.5 * (1 - 0.1 * y[1])) if y[0] < -0.25 else 0) / 0.5],
                                [0, 0], lambda y: y[:1], 2e-4), 1.2, 5e-4, "[0, 0, -9.81]", True),
]


def spinning_slide(t):
    """Sliding of the contact point decays on a straight line; then the ball rolls."""
    mu, g, r = 0.2, 9.81, 0.1
    v = np.array([1.5, 0.5])
    slip = v - r * np.array([-30.0, 0.0])  # velocity of the contact point: v + w x (-r z), with w = (0, -30, 5)
    size = math.hypot(*slip)
    stop = 2 * size / (7 * mu * g)
    direction = slip / size
    slide = v[:, None] * t - 0.5 * mu * g * direction[:, None] * t**2
    at = v * stop - 0.5 * mu * g * direction * stop**2
    final = v - mu * g * direction * stop
    return np.where(t < stop, slide, at[:, None] + final[:, None] * (t - stop))


for case in CONTACT:
    if case.name == "spinning-slide":
        case.truth = spinning_slide

CASES = SPACE + FLEX + CONTROL + HYDRAULICS + ELEMENTS + CONTACT

if __name__ == "__main__":
    count_cases(__doc__, CASES)
