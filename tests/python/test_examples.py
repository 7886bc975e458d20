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
    # The motor prescribes the motion of the slider.
    crank, rod, phase = module.CRANK, module.ROD, module.SPEED * r.time
    slider = crank * np.cos(phase) + np.sqrt(rod**2 - (crank * np.sin(phase)) ** 2)
    np.testing.assert_allclose(r["shaker.slider.position.y"].value, slider, atol=1e-9)
    # The modes of the beam answer to its acceleration: integrated by the exact solution for linear accelerations.
    fine = np.linspace(0, r.time[-1], 20 * (len(r.time) - 1) + 1)
    phase = module.SPEED * fine
    slider = crank * np.cos(phase) + np.sqrt(rod**2 - (crank * np.sin(phase)) ** 2)
    a = np.gradient(np.gradient(slider, fine, edge_order=2), fine, edge_order=2)
    squares, shapes = np.linalg.eig(np.linalg.solve(beam.m, beam.k))
    loads = -np.linalg.solve(shapes, np.linalg.solve(beam.m, beam.p)).real
    tip, h = 0.0, fine[1]
    for omega, shape, load in zip(np.sqrt(squares.real), shapes.real[beam.n - 2], loads):
        c, s = np.cos(omega * h), np.sin(omega * h)
        q, v, history = 0.0, 0.0, np.zeros(len(fine))
        for i in range(len(fine) - 1):
            f, slope = load * a[i], load * (a[i + 1] - a[i]) / h
            rest, rate = q - f / omega**2, v - slope / omega**2
            q = rest * c + rate / omega * s + (f + slope * h) / omega**2
            v = -rest * omega * s + rate * c + slope / omega**2
            history[i + 1] = q
        tip = tip + shape * history[::20]
    np.testing.assert_allclose(r["beam.tip"].value, tip, atol=0.02 * np.abs(tip).max())


def test_scipy():
    pytest.importorskip("scipy")
    module = example("scipy_ode")
    r = module.build().run()
    assert r.verdict.trustworthy

    # Lagrange's equations of a cart of 1 + 0.1 kg with a rod of 0.3 kg, whose centre is 0.2 m below the pivot.
    def rates(t, y):
        x, angle, v, w = y
        m = np.array([[1.4, 0.06 * np.cos(angle)], [0.06 * np.cos(angle), 0.004 + 0.3 * 0.2**2]])
        spring = 100 * (x - 0.3) + 1e5 * (x - 0.3) ** 3
        return [v, w, *np.linalg.solve(m, [0.06 * w**2 * np.sin(angle) - spring, -0.06 * 9.81 * np.sin(angle)])]

    solved = module.solve_ivp(rates, (0, 0.5), [0.32, 0, 0, 0], rtol=1e-10, atol=1e-12, t_eval=r.time)
    np.testing.assert_allclose(r["duffing.cart.position"].value, solved.y[0], atol=1e-5)
    np.testing.assert_allclose(r["pendulum.rod.position.x"].value, solved.y[0] - 0.32 + 0.2 * np.sin(solved.y[1]), atol=1e-5)
    assert np.ptp(solved.y[1]) > 0.1
    # The solver reports kinetic and potential energy only; Yoke counts the work of its port.
    energy = r["duffing.energy"]
    balance = energy.kinetic.value + energy.potential.value - energy.work.value
    np.testing.assert_allclose(balance, balance[0], atol=2e-3 * balance[0])
    assert np.ptp(energy.work.value) > 0.1 * balance[0]


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
