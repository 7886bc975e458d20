"""Analyses return data."""

import math

import numpy as np
import pytest

import yoke


def test_check(oscillators):
    assert yoke.check(oscillators).trustworthy
    verdict = yoke.check(yoke.load("two-mass-oscillator", {"parameters.right_mass": 3}))
    assert [finding.kind for finding in verdict] == ["mass_ratio"]
    assert verdict[0].interface == "joint"


def test_stability():
    stable = yoke.stability("two-mass-oscillator")
    assert stable.stable and stable.radius == pytest.approx(1, abs=1e-3)
    unstable = yoke.stability(yoke.load("two-mass-oscillator", {"parameters.right_mass": 1.9}))
    assert unstable.verdict == "unstable_coupling" and unstable.radius > 1
    assert unstable.modes[0].interface == "joint" and unstable.modes[0].growth == pytest.approx(unstable.radius)
    assert len(unstable.plot().get_lines()) == 2 and repr(unstable).startswith("UNSTABLE COUPLING")


def test_convergence(oscillators):
    table = yoke.convergence(oscillators, [4e-4, 2e-4, 1e-4], ["explicit", "tight"])
    assert len(table) == 6 and table.reference == "monolithic"
    orders = [row.order for row in table if np.isfinite(row.order)]
    assert len(orders) == 4 and min(orders) > 0.9
    assert all(row.outcome == "ok" for row in table)
    assert "explicit" in repr(table) and len(table.plot().get_lines()) == 2
    with pytest.raises(ValueError, match="monolithic"):
        yoke.convergence(oscillators, [1e-4], reference="exactly")
    failed = yoke.convergence(oscillators, [1e-4], ["explicit", "no-such-scheme"])[1]
    assert failed.outcome == "failed" and failed.message


def test_advise(oscillators):
    advice = yoke.advise(oscillators, cpu_time=5)
    assert advice.best is not None and advice.best.outcome == "accepted"
    oscillators.update(advice.changes)
    assert oscillators.run().verdict.trustworthy
    assert repr(advice).splitlines()[0].startswith("scheme")


def test_sweep():
    s = yoke.load("two-mass-oscillator")
    masses = [0.5, 1.0, 1.5]
    result = yoke.sweep(s, {"parameters.right_mass": masses}, ["max(left.mass.position)", "frequency(left.mass.position)"], threads=2)
    omega = np.sqrt(5000 / (1 + np.array(masses)))
    np.testing.assert_allclose(result["max(left.mass.position)"], 0.1 / omega, rtol=1e-2)
    np.testing.assert_allclose(result["frequency(left.mass.position)"], omega / (2 * np.pi), rtol=1e-2)
    assert result.units["max(left.mass.position)"] == "m"
    assert result.to_pandas().shape == (3, 2)
    result.plot()
    grid = yoke.sweep(s, {"parameters.right_mass": masses, "time.step": [1e-4, 5e-5]}, "final(left.mass.position)")
    assert grid.values.shape == (3, 2, 1)
    grid.plot()
    with pytest.raises(yoke.Error, match="measure|rmss"):
        yoke.sweep(s, {"parameters.right_mass": masses}, "rmss(left.mass.position)")
    with pytest.raises(ValueError):
        yoke.sweep(s, {}, "final(left.mass.position)")


def test_error_bars():
    s = yoke.load("two-mass-oscillator")
    bars = yoke.error_bars(s)
    channel = bars.results["left.mass.position"]
    omega = 50.0
    exact = 0.1 / omega * np.sin(omega * channel.time)
    assert channel.error is not None and channel.error.shape == channel.value.shape
    assert np.abs(channel.value - exact).max() < 3 * channel.error.max()
    assert "left.mass.position" in bars.channels and 0 < bars.error < 0.1
    assert not any("error" in name for name in bars.results)
    assert len(channel.plot().collections) == 1


def test_linear_models(tmp_path):
    """Two masses of 1 kg, rigidly coupled, on one spring: closed form of the frequency response."""
    scenario = yoke.load("two-mass-oscillator")
    model = yoke.linearize(scenario, inputs=["parameters.stiffness"], outputs=["left.mass.position"])
    assert model.a.shape == (2, 2) and model.b.shape == (2, 1) and model.c.shape == (1, 2) and model.d.shape == (1, 1)
    assert model.complete and model.outputs == ("left.mass.position",)
    assert model.modes[0].frequency == pytest.approx(50 / (2 * math.pi), rel=1e-6)
    assert "7.95775" in repr(model)
    with pytest.raises(yoke.Error, match="unknown input 'left.mass.force'"):
        yoke.linearize(scenario, inputs=["left.mass.force"])

    text = """
time: {end: 1, step: 1e-3}
subsystems:
  a:
    solver: multibody
    gravity: [0, 0, 0]
    bodies: {mass: {mass: 2}}
    joints: {guide: {type: prismatic, between: [ground, mass], at: [0, 0, 0], axis: [1, 0, 0]}}
    forces: {spring: {type: joint-spring, joint: guide, stiffness: 800, damping: 4}}
record: {channels: [a.mass.position]}
"""
    file = tmp_path / "mass.yaml"
    file.write_text(text)
    model = yoke.linearize(file, inputs=["a.mass.force.x"], outputs=["a.mass.position.x"])
    frequencies = np.array([0.5, 3, 10])
    response = model.frequency_response(frequencies)
    s = 2j * np.pi * frequencies
    assert response.values[:, 0, 0] == pytest.approx(1 / (2 * s**2 + 4 * s + 800), rel=1e-5)


def test_modes():
    found = yoke.modes("modal-cantilever" if "modal-cantilever" in yoke.models() else "cantilever", 4)
    assert 0 < len(found) <= 4
    frequencies = found.frequencies
    assert (np.diff(frequencies) >= 0).all()
    assert found[0].shape and all(shape.shape == (6,) for shape in found[0].shape.values())


def test_compare(oscillators):
    oscillators["record.channels"] = ["left.mass.position", "left.mass.velocity"]
    a = oscillators.run()
    assert yoke.compare(a, oscillators.run()).equal
    oscillators["time.step"] = 5e-5
    oscillators["record.channels"] = ["left.mass.position"]
    comparison = yoke.compare(a, oscillators.run(), tolerance=0.01)
    assert comparison.missing == ("left.mass.velocity",) and not comparison.equal
    assert 0 < comparison["left.mass.position"].relative < 0.01
