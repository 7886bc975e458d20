"""A solver in Python, coupled with a mechanism of Yoke: a slider-crank shakes the clamp of a finite-element beam.

    PYTHONPATH=build/release/python /usr/bin/python3 examples/python/own_solver.py
"""

import numpy as np

import yoke


class Beam(yoke.Subsystem, solver="fe-beam"):
    """A cantilever of Euler-Bernoulli elements on a clamp that moves across its axis, by the implicit midpoint rule.

    Args:
        length: Length (m).
        stiffness: Bending stiffness EI (N m^2).
        mass: Mass per length (kg/m).
        elements: Number of elements.
        position: Position of the clamp at the start (m).
    """

    ports = {"clamp": yoke.Port("scalar", input="motion")}
    channels = {"tip": ("m", 1)}

    def __init__(self, length: float = 0.5, stiffness: float = 2.0, mass: float = 0.2, elements: int = 8, position: float = 0.0) -> None:
        le = length / elements
        k = stiffness / le**3 * np.array(
            [[12, 6 * le, -12, 6 * le], [6 * le, 4 * le**2, -6 * le, 2 * le**2],
             [-12, -6 * le, 12, -6 * le], [6 * le, 2 * le**2, -6 * le, 4 * le**2]])
        m = mass * le / 420 * np.array(
            [[156, 22 * le, 54, -13 * le], [22 * le, 4 * le**2, 13 * le, -3 * le**2],
             [54, 13 * le, 156, -22 * le], [-13 * le, -3 * le**2, -22 * le, 4 * le**2]])
        self.n = 2 * elements
        stiff, inertia = np.zeros((2, self.n + 2, self.n + 2))
        for e in range(elements):
            at = slice(2 * e, 2 * e + 4)
            stiff[at, at] += k
            inertia[at, at] += m
        self.k, self.m = stiff[2:, 2:], inertia[2:, 2:]
        # Inertia against the motion of the clamp, with the beam relative to it.
        rigid = np.tile([1.0, 0.0], elements + 1)
        self.p = (inertia @ rigid)[2:]
        self.total = float(rigid @ inertia @ rigid)
        self.solved_h = 0.0
        self.state = np.zeros(2 * self.n + 4)  # deflections, their velocities; clamp: position, velocity, acceleration, force
        self.state[2 * self.n] = position

    def step(self, t, h, inputs):
        n, s = self.n, self.state
        if h != self.solved_h:
            self.solved_h, self.inverse = h, np.linalg.inv(self.m + h**2 / 4 * self.k)
        position, velocity = inputs["clamp"].position(h), inputs["clamp"].velocity(h)
        acceleration = (velocity - s[2 * n + 1]) / h
        q, v = s[:n].copy(), s[n : 2 * n].copy()
        a = self.inverse @ (-self.p * acceleration - self.k @ (q + h / 2 * v))
        s[:n], s[n : 2 * n] = q + h * v + h**2 / 2 * a, v + h * a
        s[2 * n :] = position, velocity, acceleration, self.total * acceleration + self.p @ a

    def output(self, outputs):
        clamp = outputs["clamp"]
        clamp.position, clamp.velocity, clamp.acceleration, clamp.force = self.state[2 * self.n :]

    def read_channel(self, name):
        return self.state[self.n - 2]


CRANK, ROD, SPEED = 0.01, 0.05, 40.0  # m, m, rad/s: the mechanism


def build() -> yoke.System:
    # The crank turns about z, and the slider moves along y. At the start crank and rod are aligned, so the slider rests.
    shaker = yoke.multibody.Model(gravity=[0, 0, 0])
    small = [1e-4, 1e-4, 1e-4]
    crank = shaker.body("crank", mass=1, inertia=small, angular_velocity=[0, 0, SPEED])
    rod = shaker.body(
        "rod", mass=0.5, inertia=small, position=[0, CRANK + ROD / 2, 0],
        velocity=[-SPEED * CRANK / 2, 0, 0], angular_velocity=[0, 0, -SPEED * CRANK / ROD])
    slider = shaker.body("slider", mass=1, inertia=small, position=[0, CRANK + ROD, 0])
    shaker.joint("motor", "driven-rotation", "ground", crank, at=[0, 0, 0], axis=[0, 0, 1], angle=f"{SPEED}*t")
    shaker.joint("bearing", "revolute", "ground", crank, at=[0, 0, 0], axis=[0, 0, 1])
    shaker.joint("pin", "spherical", crank, rod, at=[0, CRANK, 0])
    shaker.joint("hinge", "universal", rod, slider, at=[0, CRANK + ROD, 0], orientation={"x": [1, 0, 0], "y": [0, 0, 1]})
    shaker.joint("guide", "prismatic", "ground", slider, at=[0, CRANK + ROD, 0], axis=[0, 1, 0])
    # The clamp has one coordinate: the distance of the slider from the axis of the crank.
    stroke = shaker.port("stroke", type="distance", between=["ground", slider], markers=[{}, {}])

    system = yoke.System("Beam in NumPy on a slider-crank", end=0.5, step=1e-4)
    mechanism = system.add("shaker", shaker)
    beam = system.add("beam", Beam, position=CRANK + ROD)
    system.interface("clamp", mechanism[stroke], beam["clamp"])
    system.coupling("explicit")
    system.record("shaker.slider.position", "beam.tip", "clamp.force", every=5)
    return system


if __name__ == "__main__":
    results = build().run()
    print(results)
    print(results["beam.tip"].spectrum())
