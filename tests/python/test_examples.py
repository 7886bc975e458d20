"""The examples, against solutions that are known."""

import importlib.util
import pathlib

import numpy as np
import pytest

import yoke

FOLDER = pathlib.Path(__file__).parents[2] / "examples" / "python"


def example(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_beam():
    module = example("own_solver")
    # The first frequency of the beam alone: 1.8751^2 sqrt(EI / mass) / length^2.
    beam = module.Beam()
    squares = np.linalg.eigvals(np.linalg.solve(beam.m, beam.k))
    assert np.sqrt(squares.real.min()) == pytest.approx(1.8751**2 * np.sqrt(2.0 / 0.2) / 0.5**2, rel=1e-4)
    r = module.build().run()
    assert r.verdict.trustworthy
    # The motion of the coupled system by its modes: the matrices of the beam with the oscillator at its clamp.
    n = beam.n
    m, k = np.zeros((2, n + 1, n + 1))
    m[:n, :n], m[n, :n], m[:n, n], m[n, n] = beam.m, beam.p, beam.p, 1 + beam.total
    k[:n, :n], k[n, n] = beam.k, 2000
    squares, shapes = np.linalg.eig(np.linalg.solve(m, k))
    omega, shapes = np.sqrt(squares.real), shapes.real
    weights = np.linalg.solve(shapes, np.eye(n + 1)[n] * 0.1) / omega
    motion = shapes @ (weights[:, None] * np.sin(np.outer(omega, r.time)))
    for name, exact in (("shaker.mass.position", motion[n]), ("beam.tip", motion[n - 2])):
        np.testing.assert_allclose(r[name].value, exact, atol=0.02 * np.abs(exact).max())


def test_scipy():
    pytest.importorskip("scipy")
    module = example("scipy_ode")
    r = module.build().run()
    solved = module.solve_ivp(
        lambda t, y: [y[1], (-100 * y[0] - 1e5 * y[0] ** 3) / 1.1], (0, 0.2), [0.01, 0], rtol=1e-10, atol=1e-12, t_eval=r.time
    )
    np.testing.assert_allclose(r["duffing.mass.position"].value, solved.y[0], atol=2e-4)


def test_surrogate():
    module = example("surrogate")
    x = np.linspace(-0.02, 0.02, 50)
    weights, biases, outputs = module.train()
    np.testing.assert_allclose(np.tanh(np.outer(x, weights) + biases) @ outputs, module.spring(x), atol=0.05)
    r = module.build().run()
    assert r.verdict.trustworthy
    # The energy of the rod about its pivot, in the field of gravity and in the spring.
    elongation = r["pendulum.tip.position"].value - 0.3
    rate, height = r["pendulum.rod.angular_velocity.z"].value, r["pendulum.rod.position.y"].value + 0.25
    energy = (1 / 48 + 1 / 16) * rate**2 / 2 + 9.81 * height + 100 * elongation**2 + 0.75e5 * elongation**4
    np.testing.assert_allclose(energy, energy[0], rtol=1e-4)
    assert np.ptp(elongation) > 0.01
