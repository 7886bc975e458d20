"""A learned surrogate as a subsystem: a small network, trained with NumPy, is a nonlinear spring that holds a pendulum.

    PYTHONPATH=build/release/python /usr/bin/python3 examples/python/surrogate.py
"""

import numpy as np

import yoke


def spring(x):
    """Tension (N) by elongation (m), which is learned."""
    return 200 * x + 3e5 * x**3


def train(count: int = 24) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A network with one hidden layer of fixed random weights, fitted by least squares."""
    random = np.random.default_rng(0)
    weights, biases = random.normal(0, 60, count), random.uniform(-1.5, 1.5, count)
    x = np.linspace(-0.03, 0.03, 400)
    features = np.tanh(np.outer(x, weights) + biases)
    return weights, biases, np.linalg.lstsq(features, spring(x), rcond=None)[0]


class Surrogate(yoke.Subsystem, solver="surrogate"):
    """Answers the length between two points with the tension that it has learned.

    Args:
        free_length: Length without tension (m), which it has at the start.
        velocity: Its rate at the start (m/s).
    """

    ports = {"length": yoke.Port("scalar", input="motion")}

    def __init__(self, free_length: float, velocity: float = 0.0) -> None:
        self.free_length = free_length
        self.weights, self.biases, self.outputs = train()
        self.state = np.array([free_length, velocity, 0.0, 0.0])  # position, velocity, acceleration, force

    def step(self, t, h, inputs):
        port = inputs["length"]
        tension = np.tanh((port.position(h) - self.free_length) * self.weights + self.biases) @ self.outputs
        # The force that the port needs from its partner lengthens the spring.
        self.state[:] = port.position(h), port.velocity(h), port.acceleration(h), tension

    def output(self, outputs):
        port = outputs["length"]
        port.position, port.velocity, port.acceleration, port.force = self.state


def build() -> yoke.System:
    pendulum = yoke.multibody.Model(gravity=[0, -9.81, 0])
    rod = pendulum.body("rod", mass=1, inertia=[1 / 48, 1 / 48, 1 / 48], position=[0, -0.25, 0], velocity=[0.1, 0, 0], angular_velocity=[0, 0, 0.4])
    pendulum.joint("pin", "revolute", "ground", rod, at=[0, 0, 0], axis=[0, 0, 1])
    tip = pendulum.port("tip", type="distance", between=["ground", rod], markers=[{"offset": [0.3, -0.5, 0]}, {"offset": [0, -0.25, 0]}])

    system = yoke.System("Learned spring on a pendulum", end=0.5, step=5e-5)
    mechanism = system.add("pendulum", pendulum)
    learned = system.add("spring", Surrogate, free_length=0.3, velocity=-0.2)
    system.interface("joint", mechanism[tip], learned["length"])
    system.coupling("explicit")
    system.record("pendulum.tip.position", "pendulum.rod.angular_velocity.z", "pendulum.rod.position", every=10)
    return system


if __name__ == "__main__":
    print(build().run())
