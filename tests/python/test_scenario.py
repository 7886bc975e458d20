"""Loading, reading, changing and converting scenarios."""

import pickle

import numpy as np
import pytest

import yoke
from conftest import OSCILLATORS


def test_sources_agree(tmp_path, oscillators):
    file = tmp_path / "scenario.yaml"
    file.write_text(OSCILLATORS)
    wanted = oscillators.resolved
    assert yoke.load(file).resolved == wanted
    assert yoke.load(str(file)).resolved == wanted
    assert yoke.load(tmp_path).resolved == wanted
    assert yoke.load(oscillators.to_dict()).resolved == wanted
    assert yoke.load(oscillators.to_yaml()).resolved == wanted


def test_library():
    assert "crank-damper" in yoke.models()
    assert yoke.load("two-mass-oscillator").title == "Two-mass oscillator"
    with pytest.raises(yoke.ScenarioError, match="Did you mean 'crank-damper'"):
        yoke.load("crank-dampr")


def test_values_are_read_with_defaults(oscillators):
    assert oscillators["coupling.scheme"] == "explicit"
    assert oscillators["time.step"] == 1e-4
    assert oscillators["subsystems.left.mass"] == 1
    assert oscillators["interfaces.joint.between"] == ["left.mass", "right.mass"]
    assert "time.start" in oscillators and "time.tart" not in oscillators
    with pytest.raises(KeyError, match="Did you mean 'scheme'"):
        oscillators["coupling.schem"]


def test_a_change_is_checked_at_once(oscillators):
    oscillators["coupling.scheme"] = "tight"
    assert oscillators["coupling.scheme"] == "tight"
    before = oscillators.resolved
    with pytest.raises(yoke.ScenarioError) as caught:
        oscillators["coupling.scheme"] = "tigt"
    assert caught.value.key == "coupling.scheme" and "tight" in str(caught.value)
    assert oscillators.resolved == before
    for key, value in {"time.step": float("nan"), "a=b": 1, "time.end": object()}.items():
        with pytest.raises((ValueError, KeyError, TypeError)):
            oscillators[key] = value
    assert oscillators.resolved == before


def test_several_changes_and_their_removal(oscillators):
    oscillators.update({"time.step": 2e-4, "time.end": 0.2})
    assert oscillators["time.end"] == 0.2
    del oscillators["time.end"]
    assert (oscillators["time.end"], oscillators["time.step"]) == (0.1, 2e-4)
    with pytest.raises(KeyError):
        del oscillators["time.end"]


def test_errors_have_a_location():
    with pytest.raises(yoke.ScenarioError) as caught:
        yoke.load(OSCILLATORS.replace("stiffness", "stifness"))
    error = caught.value
    assert (error.line, error.key) == (4, "subsystems.left.stifness")
    assert error.column > 1 and error.file == "<text>" and "stiffness" in str(error)
    assert error.diagnostics[0].severity == "error"


def test_completion_lists_keys(oscillators):
    keys = oscillators._ipython_key_completions_()
    assert {"coupling.scheme", "time.step", "subsystems.left.mass"} <= set(keys)


def test_copies_are_independent(oscillators):
    other = oscillators.copy()
    other["time.end"] = 0.2
    assert oscillators["time.end"] == 0.1
    assert pickle.loads(pickle.dumps(other))["time.end"] == 0.2
    assert oscillators.with_changes({"subsystems.left.mass": 3})["subsystems.left.mass"] == 3


def test_every_model_survives_conversion():
    for name in yoke.models():
        scenario = yoke.load(name)
        folder = scenario.path
        text = scenario.to_yaml()
        again = yoke.Scenario(folder, text)
        assert again.resolved == scenario.resolved, name


def test_numbers_of_numpy(oscillators):
    class Number(float):
        def __repr__(self):  # as np.float64 of NumPy 2
            return f"np.float64({float(self)})"

    for value in (Number(0.25), np.float64(0.25), np.float32(0.25), np.array(0.25)):
        assert oscillators.with_changes({"subsystems.left.mass": value})["subsystems.left.mass"] == 0.25
    changed = oscillators.with_changes({"time.end": np.int64(1), "record.channels": np.array(["left.mass.position"])})
    assert changed["time.end"] == 1 and changed["record.channels"] == ["left.mass.position"]
    sweep = yoke.sweep(oscillators, {"subsystems.left.mass": [Number(1.0), Number(2.0)]}, "rms(left.mass.position)", threads=1)
    assert np.isfinite(sweep.values).all()


def test_errors_speak_of_keys_not_of_options():
    s = yoke.load("crank-damper")
    with pytest.raises(yoke.ScenarioError, match=r"^coupling.scheme: unknown value 'tigth'. Did you mean 'tight'\?") as caught:
        s["coupling.scheme"] = "tigth"
    assert caught.value.file == "coupling.scheme"
    with pytest.raises(yoke.ScenarioError, match="The subsystem is 'subsystems.damper'"):
        s["damper.particles.shot.count"] = 3
    with pytest.raises(KeyError, match="There are tip.gap_position"):
        s.start()["tip"]
