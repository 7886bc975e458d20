#!/usr/bin/env python3
"""Set 6 of the trust suite: scenarios with a closed form or a solution by SciPy, which no threshold of the verdict has seen.

Runs every scenario with three macro steps and, if it is cut in two, with several schemes, by the program itself, and compares its
exit code and its estimated error with the true error. Needs NumPy and SciPy.

usage: studies/trust/closed_forms.py [--program build/release/yoke] [--case TEXT] [--verbose] [--remedies]
"""
import math

import numpy as np
from scipy.integrate import solve_ivp

from counting import Case, count_cases, ode

SCHEMES = ("explicit", "loose", "tight", "index1", "rim")


def rail(name, law, f, velocity, end, step, load="0", mass=2.0, keys=""):
    """A body on a rail with a law of its displacement x and rate v: whole, and cut in two masses."""
    spring = f'law: {{type: joint-spring, joint: rail, characteristic: "{law}"{keys}}}'
    force = f'push: {{type: force, body: b, vector: [1, 0, 0], factor: "{load}"}}'
    def text(own):
        return (f"time: {{end: {end}, step: {step}}}\nsubsystems:\n  a:\n    solver: multibody\n    gravity: [0, 0, 0]\n"
                f"    bodies: {{b: {{mass: {own}, inertia: [1, 1, 1], velocity: [{velocity}, 0, 0]}}}}\n"
                "    joints: {rail: {type: prismatic, between: [ground, b], at: [0, 0, 0], axis: [1, 0, 0]}}\n"
                f"    forces: {{{spring}, {force}}}\n    ports: {{b: {{body: b}}}}\n")
    cut = (f"  c:\n    solver: multibody\n    gravity: [0, 0, 0]\n    bodies: {{m: {{mass: {0.4 * mass}, inertia: [1, 1, 1], velocity: "
           f"[{velocity}, 0, 0]}}}}\n    ports: {{m: {{body: m}}}}\ninterfaces: {{cut: {{between: [a.b, c.m], joint: fixed}}}}\n")
    record = "record: {channels: [a.rail.displacement]}\n"
    ref = ode(lambda t, y: [y[1], f(t, y[0], y[1]) / mass], [0, velocity], lambda y: y[:1])
    return [(name, text(mass) + record, ref, step, False), (name + "-cut", text(0.6 * mass) + cut + record, ref, step, True)]


def body(name, bodies, joints, forces, channels, ref, end, step, gravity="[0, 0, 0]"):
    return [(name, f"time: {{end: {end}, step: {step}}}\nsubsystems:\n  a:\n    solver: multibody\n    gravity: {gravity}\n    bodies: {bodies}\n"
             + (f"    joints: {joints}\n" if joints else "") + (f"    forces: {forces}\n" if forces else "")
             + f"    ports: {{b: {{body: b}}}}\nrecord: {{channels: [{channels}]}}\n", ref, step, False)]


def contact(name, keys, channels, ref, end, step, gravity="[0, 0, -9.81]", friction=0.3, restitution=0):
    return [(name, f"time: {{end: {end}, step: {step}}}\nsubsystems:\n  a:\n    solver: nonsmooth\n    gravity: {gravity}\n"
             f"    materials: {{m: {{friction: {friction}, restitution: {restitution}}}}}\n    ground_shapes: [{{type: plane, material: m}}]\n"
             f"    bodies: {{b: {{{keys}}}}}\nrecord: {{channels: [{channels}]}}\n", ref, step, False)]


def free_top(t):
    inertia = np.array([1.0, 2.0, 3.0])
    def f(_, y):
        w, q = y[:3], y[3:]
        dw = -np.cross(w, inertia * w) / inertia
        dq = 0.5 * np.array([-q[1:] @ w, *(q[0] * w + np.cross(q[1:], w))])
        return np.concatenate([dw, dq])
    y = solve_ivp(f, (0, t[-1] + 1e-9), [0.05, 2, 0.05, 1, 0, 0, 0], method="DOP853", rtol=1e-11, atol=1e-12, t_eval=t).y
    out = []
    for k in range(len(t)):
        w, q = y[:3, k], y[3:, k]
        out.append(w + 2 * np.cross(q[1:], np.cross(q[1:], w) + q[0] * w))
    return np.array(out).T


def chain(t):
    m, k = np.diag([1, 1.5, 1]), np.array([[70, -30, 0], [-30, 70, -40], [0, -40, 40]])
    values, vectors = np.linalg.eigh(np.linalg.inv(np.sqrt(m)) @ k @ np.linalg.inv(np.sqrt(m)))
    v0 = np.sqrt(m) @ np.array([0, 0, 1.0])
    w = np.sqrt(values)
    q = (vectors.T @ v0)[:, None] * np.sin(np.outer(w, t)) / w[:, None]
    return (np.linalg.inv(np.sqrt(m)) @ vectors @ q)[[0, 2]]


CHAIN = """time: {end: 6, step: 4e-3}
subsystems:
  a:
    solver: multibody
    gravity: [0, 0, 0]
    bodies: {p: {mass: 1, inertia: [1, 1, 1]}, q: {mass: 0.9, inertia: [1, 1, 1]}}
    joints:
      rp: {type: prismatic, between: [ground, p], at: [0, 0, 0], axis: [1, 0, 0]}
      pq: {type: prismatic, between: [p, q], at: [0, 0, 0], axis: [1, 0, 0]}
    forces: {sp: {type: joint-spring, joint: rp, stiffness: 40}, sq: {type: joint-spring, joint: pq, stiffness: 30}}
    ports: {q: {body: q}, p: {body: p}}
  c:
    solver: multibody
    gravity: [0, 0, 0]
    bodies: {q: {mass: 0.6, inertia: [1, 1, 1]}, r: {mass: 1, inertia: [1, 1, 1], velocity: [1, 0, 0]}}
    joints: {qr: {type: prismatic, between: [q, r], at: [0, 0, 0], axis: [1, 0, 0]}}
    forces: {sr: {type: joint-spring, joint: qr, stiffness: 40}}
    ports: {q: {body: q}, r: {body: r}}
interfaces: {cut: {between: [a.q, c.q], joint: fixed}}
record: {channels: [a.p.position.x, c.r.position.x]}
"""

PID = """time: {end: 6, step: 1e-2}
subsystems:
  a:
    solver: multibody
    gravity: [0, 0, 0]
    bodies: {b: {mass: 2, inertia: [1, 1, 1]}}
    joints: {rail: {type: prismatic, between: [ground, b], at: [0, 0, 0], axis: [1, 0, 0]}}
    forces: {drag: {type: joint-spring, joint: rail, damping: 1, stiffness: 5}, push: {type: force, body: b, vector: [1, 0, 0], signal_port: push}}
    ports: {b: {body: b}}
  pid: {solver: control, loops: {x: {reference: 0.5, proportional: %s, integral: %s, derivative: %s}}}
wires:
  x: {from: a.rail.displacement, to: pid.x.measured}
  v: {from: a.rail.velocity, to: pid.x.rate}
  u: {from: pid.x, to: a.push}
record: {channels: [a.rail.displacement]}
"""


def pid(name, p, i, d):
    f = lambda t, y: [y[1], (-5 * y[0] - y[1] + p * (0.5 - y[0]) + i * y[2] - d * y[1]) / 2, 0.5 - y[0]]
    return [(name, PID % (p, i, d), ode(f, [0, 0, 0], lambda y: y[:1]), 1e-2, "wires")]


def kepler(name, v, end, step):
    f = lambda t, y: [y[2], y[3], *(-4 * y[:2] / np.hypot(y[0], y[1]) ** 3)]
    return body(name, f"{{b: {{mass: 1, inertia: [1, 1, 1], position: [1, 0, 0], velocity: [0, {v}, 0]}}}}", None,
                '{pull: {type: spring, between: [ground, b], characteristic: "4/x^2"}}', "a.b.position.x, a.b.position.y",
                ode(f, [1, 0, 0, v], lambda y: y[:2]), end, step)


def slip_to_roll(t):
    mu, g, v0, stop = 0.3, 9.81, 2.0, 2 * 2.0 / (7 * 0.3 * 9.81)
    x = np.where(t < stop, v0 * t - mu * g * t**2 / 2, v0 * stop - mu * g * stop**2 / 2 + 5 / 7 * v0 * (t - stop))
    return np.array([x])


def bounce(t):
    h, g, e = 1.0, 9.81, 0.6
    out, start, v = np.empty_like(t), math.sqrt(2 * h / g), e * math.sqrt(2 * g * h)
    out[:] = h - g * t**2 / 2
    while v > 1e-3:
        inside = t >= start
        out[inside] = v * (t[inside] - start) - g * (t[inside] - start) ** 2 / 2
        start, v = start + 2 * v / g, e * v
    out[t >= start] = 0
    return np.array([out + 0.1])


def incline(t):
    g, mu, angle = 9.81, 0.3, 0.6
    return np.array([g * (math.sin(angle) - mu * math.cos(angle)) * t**2 / 2])


def elastic_pendulum(t):
    def f(_, y):
        length = np.hypot(y[0], y[1])
        pull = -60 * (length - 1) / length
        return [y[2], y[3], pull * y[0], pull * y[1] - 9.81]
    return ode(f, [1.1, 0, 0, 0], lambda y: y[:2])(t)


def spherical(t):
    def f(_, y):
        r, v = y[:3], y[3:]
        a = np.array([0, 0, -9.81])
        return np.concatenate([v, a - (v @ v + a @ r) * r])
    return ode(f, [math.sin(1), 0, -math.cos(1), 0, 1.5, 0], lambda y: y[:2])(t)


CASES = (
    rail("duffing", "10*x+400*x^3", lambda t, x, v: -10 * x - 400 * x**3, 1.5, 12, 8e-3)
    + rail("van-der-pol", "18*x-3*(1-4*x^2)*v", lambda t, x, v: -18 * x + 3 * (1 - 4 * x * x) * v, 0.2, 15, 1e-2)
    + rail("relaxation", "8*x-24*(1-4*x^2)*v", lambda t, x, v: -8 * x + 24 * (1 - 4 * x * x) * v, 0.2, 12, 4e-3)
    + rail("sine", "20*sin(x)", lambda t, x, v: -20 * math.sin(x), 5.5, 8, 8e-3)
    + rail("quadratic-drag", "40*x+6*v*abs(v)", lambda t, x, v: -40 * x - 6 * v * abs(v), 3, 8, 1e-2)
    + rail("grows", "60*x-0.6*v", lambda t, x, v: -60 * x + 0.6 * v, 0.1, 8, 8e-3)
    + rail("resonance", "50*x", lambda t, x, v: -50 * x + 2 * math.sin(5 * t), 0, 12, 1e-2, "2*sin(5*t)")
    + rail("beat", "50*x", lambda t, x, v: -50 * x + 2 * math.sin(4.5 * t), 0, 25, 1e-2, "2*sin(4.5*t)")
    + rail("chirp", "50*x+v", lambda t, x, v: -50 * x - v + 2 * math.sin(t * t), 0, 10, 1e-2, "2*sin(t*t)")
    + rail("creep", "10*x+90*v", lambda t, x, v: -10 * x - 90 * v, 4, 15, 4e-2)
    + rail("morse", "40*(1-exp(-x))*exp(-x)", lambda t, x, v: -40 * (1 - math.exp(-x)) * math.exp(-x), 3.5, 12, 1e-2)
    + rail("two-sided", "50*x+150*(x+abs(x))", lambda t, x, v: -50 * x - 150 * (x + abs(x)), 1, 8, 4e-3)
    + rail("rayleigh", "30*x-2*(1-v^2)*v", lambda t, x, v: -30 * x + 2 * (1 - v * v) * v, 0.1, 12, 1e-2)
    + rail("double-well", "-8*x+60*x^3", lambda t, x, v: 8 * x - 60 * x**3, 1, 10, 8e-3)
    + rail("smooth-friction", "30*x+4*tanh(v/0.05)", lambda t, x, v: -30 * x - 4 * math.tanh(v / 0.05), 3, 4, 4e-3)
    + kepler("orbit", 2.0, 6.5, 8e-3) + kepler("eccentric-orbit", 1.3, 5, 2e-3)
    + body("free-top", "{b: {mass: 1, inertia: [1, 2, 3], angular_velocity: [0.05, 2, 0.05]}}", None, None, "a.b.angular_velocity", free_top, 20, 2e-2)
    + body("elastic-pendulum", "{b: {mass: 1, inertia: [1, 1, 1], position: [1.1, 0, 0]}}", None,
           "{s: {type: spring, between: [ground, b], stiffness: 60, free_length: 1}}", "a.b.position.x, a.b.position.y", elastic_pendulum, 6, 8e-3,
           "[0, -9.81, 0]")
    + body("spherical-pendulum", f"{{b: {{mass: 1, inertia: [0, 0, 0], position: [{math.sin(1)}, 0, {-math.cos(1)}], velocity: [0, 1.5, 0]}}}}",
           "{j: {type: distance, between: [ground, b], distance: 1}}", None, "a.b.position.x, a.b.position.y", spherical, 10, 8e-3, "[0, 0, -9.81]")
    + [("three-masses", CHAIN, chain, 4e-3, True)]
    + pid("pid-soft", 20, 10, 4) + pid("pid-hard", 400, 200, 20) + pid("pid-undamped", 100, 20, 0)
    + contact("slip-to-roll", "position: [0, 0, 0.1], velocity: [2, 0, 0], shapes: [{type: sphere, radius: 0.1, density: 1000, material: m}]",
              "a.b.position.x", slip_to_roll, 1.5, 4e-3)
    + contact("bounces", "position: [0, 0, 1.1], shapes: [{type: sphere, radius: 0.1, density: 1000, material: m}]", "a.b.position.z", bounce, 2, 4e-3,
              restitution=0.6)
    + contact("incline", "position: [0, 0, 0.1], shapes: [{type: box, size: [0.4, 0.4, 0.2], density: 1000, material: m}]", "a.b.position.x", incline, 2,
              1e-2, f"[{9.81 * math.sin(0.6)}, 0, {-9.81 * math.cos(0.6)}]")
)


def case_of(name, text, truth, step, coupled):
    schemes = SCHEMES if coupled is True else ("explicit", "tight") if coupled else (None,)
    return Case(name, text, truth, step, schemes, "slip" in name or name in ("bounces", "incline"))


if __name__ == "__main__":
    count_cases(__doc__, [case_of(*case) for case in CASES])
