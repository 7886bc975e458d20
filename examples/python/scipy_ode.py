"""A solver in Python around SciPy: a cart on a hardening spring, which an adaptive method integrates, carries a pendulum of Yoke.

    PYTHONPATH=build/release/python /usr/bin/python3 examples/python/scipy_ode.py
"""

import numpy as np
from scipy.integrate import solve_ivp

import yoke


class Duffing(yoke.Subsystem, solver="duffing"):
    """A cart on a hardening spring to a wall.

    Args:
        mass: Mass (kg).
        stiffness: Linear stiffness (N/m).
        cubic: Cubic stiffness (N/m^3).
        free_length: Distance from the wall without a force of the spring (m).
        position: Distance from the wall at the start (m).
    """

    ports = {"cart": yoke.Port("scalar", input="wrench")}

    def __init__(
        self, mass: float = 1.0, stiffness: float = 100.0, cubic: float = 1e5, free_length: float = 0.3, position: float = 0.3
    ) -> None:
        self.mass, self.stiffness, self.cubic, self.free_length = mass, stiffness, cubic, free_length
        self.state = np.array([position, 0.0, 0.0])  # position, velocity, acceleration

    def acceleration(self, x, force):
        elongation = x - self.free_length
        return (force - self.stiffness * elongation - self.cubic * elongation**3) / self.mass

    def start(self, t, h, inputs):
        self.state[2] = self.acceleration(self.state[0], inputs["cart"].force(0.0))

    def step(self, t, h, inputs):
        force = inputs["cart"].force
        rates = lambda time, y: [y[1], self.acceleration(y[0], force(time))]  # noqa: E731
        end = solve_ivp(rates, (0.0, h), self.state[:2], rtol=1e-9, atol=1e-12).y[:, -1]
        self.state[:] = end[0], end[1], self.acceleration(end[0], force(h))

    def output(self, outputs):
        port = outputs["cart"]
        port.position, port.velocity, port.acceleration = self.state

    def energy(self):
        elongation, v = self.state[0] - self.free_length, self.state[1]
        return 0.5 * self.mass * v**2, 0.5 * self.stiffness * elongation**2 + 0.25 * self.cubic * elongation**4


def build() -> yoke.System:
    # The pivot of the pendulum slides along x. It is at a distance of 0.32 m from the wall at the start.
    pendulum = yoke.multibody.Model(gravity=[0, -9.81, 0])
    pivot = pendulum.body("pivot", mass=0.1, inertia=[1e-4, 1e-4, 1e-4])
    rod = pendulum.body("rod", mass=0.3, inertia=[0.004, 0.004, 0.004], position=[0, -0.2, 0])
    pendulum.joint("guide", "prismatic", "ground", pivot, at=[0, 0, 0], axis=[1, 0, 0])
    pendulum.joint("pin", "revolute", pivot, rod, at=[0, 0, 0], axis=[0, 0, 1])
    wall = pendulum.port("wall", type="distance", between=["ground", pivot], markers=[{"offset": [-0.32, 0, 0]}, {}])

    system = yoke.System("Pendulum on a cart in SciPy", end=0.5, step=5e-4)
    duffing = system.add("duffing", Duffing, position=0.32)
    mechanism = system.add("pendulum", pendulum)
    system.interface("joint", duffing["cart"], mechanism[wall])
    system.coupling("tight")
    system.record("duffing.cart.position", "pendulum.rod.position", "duffing.energy")
    return system


if __name__ == "__main__":
    print(build().run())
