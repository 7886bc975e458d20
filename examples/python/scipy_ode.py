"""A solver in Python around SciPy: a Duffing oscillator that an adaptive method integrates, on a mass in Yoke.

    PYTHONPATH=build/release/python /usr/bin/python3 examples/python/scipy_ode.py
"""

import numpy as np
from scipy.integrate import solve_ivp

import yoke


class Duffing(yoke.Subsystem, solver="duffing"):
    """A mass on a hardening spring to the ground.

    Args:
        mass: Mass (kg).
        stiffness: Linear stiffness (N/m).
        cubic: Cubic stiffness (N/m^3).
        position: Position at the start (m).
    """

    ports = {"mass": yoke.Port("scalar", input="wrench")}

    def __init__(self, mass: float = 1.0, stiffness: float = 100.0, cubic: float = 1e5, position: float = 0.0) -> None:
        self.mass, self.stiffness, self.cubic = mass, stiffness, cubic
        self.state = np.array([position, 0.0, 0.0])  # position, velocity, acceleration

    def acceleration(self, x, force):
        return (force - self.stiffness * x - self.cubic * x**3) / self.mass

    def start(self, t, h, inputs):
        self.state[2] = self.acceleration(self.state[0], inputs["mass"].force(0.0))

    def step(self, t, h, inputs):
        force = inputs["mass"].force
        rates = lambda time, y: [y[1], self.acceleration(y[0], force(time))]  # noqa: E731
        end = solve_ivp(rates, (0.0, h), self.state[:2], rtol=1e-9, atol=1e-12).y[:, -1]
        self.state[:] = end[0], end[1], self.acceleration(end[0], force(h))

    def output(self, outputs):
        outputs["mass"].position, outputs["mass"].velocity, outputs["mass"].acceleration = self.state

    def energy(self):
        x, v = self.state[:2]
        return 0.5 * self.mass * v**2, 0.5 * self.stiffness * x**2 + 0.25 * self.cubic * x**4


def build() -> yoke.System:
    system = yoke.System("Duffing oscillator in SciPy", end=0.2, step=5e-4)
    duffing = system.add("duffing", Duffing, position=0.01)
    attached = system.add("attached", "oscillator", mass=0.1, position=0.01, integrator={"type": "semi-implicit"})
    system.interface("joint", duffing["mass"], attached["mass"])
    system.coupling("tight")
    system.record("duffing.mass.position", "duffing.energy")
    return system


if __name__ == "__main__":
    print(build().run())
