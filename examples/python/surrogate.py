"""A learned surrogate as a subsystem: a small network, trained with NumPy, stands for a nonlinear spring on a mass in Yoke.

    PYTHONPATH=build/release/python /usr/bin/python3 examples/python/surrogate.py
"""

import numpy as np

import yoke


def spring(x):
    """The force (N) that is learned."""
    return -200 * x - 3e5 * x**3


def train(count: int = 24) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A network with one hidden layer of fixed random weights, fitted by least squares."""
    random = np.random.default_rng(0)
    weights, biases = random.normal(0, 60, count), random.uniform(-1.5, 1.5, count)
    x = np.linspace(-0.03, 0.03, 400)
    features = np.tanh(np.outer(x, weights) + biases)
    return weights, biases, np.linalg.lstsq(features, spring(x), rcond=None)[0]


class Surrogate(yoke.Subsystem, solver="surrogate"):
    """Answers the motion of its port with the force that it has learned."""

    ports = {"end": yoke.Port("scalar", input="motion")}

    def __init__(self) -> None:
        self.weights, self.biases, self.outputs = train()
        self.state = np.zeros(4)  # position, velocity, acceleration, force

    def step(self, t, h, inputs):
        port = inputs["end"]
        x = port.position(h)
        # The force that the port needs from its partner is the opposite of that of the spring.
        self.state[:] = x, port.velocity(h), port.acceleration(h), -np.tanh(x * self.weights + self.biases) @ self.outputs

    def output(self, outputs):
        port = outputs["end"]
        port.position, port.velocity, port.acceleration, port.force = self.state


def build() -> yoke.System:
    system = yoke.System("Learned spring", end=1, step=5e-4)
    mass = system.add("mass", "oscillator", mass=1, velocity=0.2)
    learned = system.add("learned", Surrogate)
    system.interface("joint", mass["mass"], learned["end"])
    system.coupling("explicit")
    system.record("mass.mass.position", "mass.mass.velocity")
    return system


if __name__ == "__main__":
    print(build().run())
