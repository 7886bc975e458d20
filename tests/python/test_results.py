"""Results: channels, units, views, conversions, files, verdicts."""

import _thread
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import yoke
from conftest import exact


def test_the_first_example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    s = yoke.load("crank-damper")
    s["coupling.scheme"] = "tight"
    s["time.end"] = 0.02
    r = s.run()
    axes = r["tip.position"].plot()
    assert axes.get_xlabel() == "time [s]" and axes.get_ylabel() == "tip.position [m]"
    assert len(axes.get_lines()) == 3
    assert r.verdict.trustworthy and str(r.verdict).startswith("OK")
    sweep = yoke.sweep(s, {"parameters.count": range(0, 40, 20)}, measure="rms(tip.position.y)", threads=2)
    assert sweep.values.shape == (2, 1) and (sweep.values > 0).all()
    assert "<iframe" in r._repr_html_() or "<svg" in r._repr_html_()


def test_values(oscillators):
    r = oscillators.run()
    channel = r["left.mass.position"] if "left.mass.position" in r else r["joint.position"].x
    assert channel.unit == "m" and len(channel) == 1001
    np.testing.assert_allclose(channel.value, exact(channel.time), atol=2e-6)
    assert channel.at(0.05005) == pytest.approx(exact(0.05005), abs=2e-6)
    assert len(channel[100:200]) == 100 and channel[100] == channel.value[100]
    part = channel.between(0.02, 0.03)
    assert part.time[0] == pytest.approx(0.02) and part.time[-1] == pytest.approx(0.03)


def test_views_are_read_only_and_keep_their_record():
    value = yoke.load("two-mass-oscillator").run()["left.mass.position"].value
    assert not value.flags.writeable and not value.flags.owndata
    with pytest.raises(ValueError):
        value[0] = 1
    copy = value.copy()
    blocks = [np.ones(4096) for _ in range(1000)]  # memory that was freed would be overwritten
    np.testing.assert_array_equal(value, copy)
    del blocks


def test_components():
    r = yoke.load("crank-damper", {"time.end": 0.005}).run()
    name = next(name for name in r if r[name].components == ("x", "y", "z"))
    channel = r[name]
    assert channel.value.shape == (len(r.time), 3)
    np.testing.assert_array_equal(channel.y.value, channel.value[:, 1])
    np.testing.assert_array_equal(r[f"{name}.y"].value, channel["y"].value)
    assert not channel.x.value.flags.owndata
    with pytest.raises(KeyError):
        channel["q"]
    with pytest.raises(AttributeError):
        channel.q
    with pytest.raises(KeyError, match="Did you mean"):
        r[name + "s"]


def test_conversions(oscillators):
    r = oscillators.run()
    name = next(iter(r))
    series = r[name].to_pandas()
    assert series.index.name == "time [s]" and len(series) == len(r.time)
    assert r.to_pandas().shape[0] == len(r.time)
    assert r[name].to_xarray().attrs["units"] == r[name].unit
    assert set(r.to_xarray().data_vars) == set(r)


def test_spectrum():
    r = yoke.load("two-mass-oscillator").run()
    spectrum = r["left.mass.position"].spectrum()
    assert spectrum.peak == pytest.approx(50 / (2 * np.pi), abs=0.2)
    assert spectrum.amplitude.max() == pytest.approx(0.1 / 50, rel=0.2)
    spectrum.plot()


def test_files(tmp_path, oscillators):
    oscillators["record.channels"] = ["left.mass.position"]
    r = oscillators.run([tmp_path / "a.h5", tmp_path / "a.csv"])
    r.save(tmp_path / "b.h5")
    for name in ("a.h5", "a.csv", "b.h5"):
        again = yoke.open(tmp_path / name)
        assert again._loaded is None
        np.testing.assert_array_equal(again["left.mass.position"].value, r["left.mass.position"].value)
    assert yoke.open(tmp_path / "b.h5").scenario.startswith("title") or yoke.open(tmp_path / "b.h5").scenario
    assert r.report(tmp_path / "report.html").read_text().startswith("<!")
    with pytest.raises(FileNotFoundError):
        yoke.open(tmp_path / "c.h5")
    (tmp_path / "bad.h5").write_text("no results")
    with pytest.raises(yoke.Error):
        yoke.open(tmp_path / "bad.h5").time


def test_files_are_read_lazily(tmp_path):
    """Opening a file of 24 MB and using one of its channels takes memory for that channel and the times only."""
    path = tmp_path / "long.h5"
    yoke.load("two-mass-oscillator", {"time.end": 50, "time.step": 1e-4, "record.every": 1}).run(path, progress=False)
    size = path.stat().st_size
    code = f"""
import yoke

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

r = yoke.open({str(path)!r})
list(r), r.title, bool(r.verdict), repr(r.complete)  # everything but the numbers, once for the code itself
before = resident()
again = yoke.open({str(path)!r})
list(again), again.title, bool(again.verdict)
opened = resident() - before
again["left.mass.position"].value
print(opened, resident() - before, len(again.time) * 8)
"""
    text = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    opened, used, column = (int(word) for word in text.split())
    assert size > 5 * column
    assert opened < column / 2 and 1.5 * column < used < 3 * column  # the channel and its times


def test_a_file_that_shrinks_is_an_error(tmp_path, oscillators):
    path = tmp_path / "a.h5"
    oscillators.run(path)
    r = yoke.open(path)
    name = list(r)[-1]
    with path.open("r+b") as file:
        file.truncate(4096)
    with pytest.raises(yoke.Error, match="the file was cut off"):
        r[name]


def test_verdict_is_data():
    s = yoke.load("two-mass-oscillator", {"parameters.right_mass": 1.9})
    verdict = s.run().verdict
    assert not verdict.trustworthy and not verdict
    assert any(f.serious and f.interface == "joint" for f in verdict)
    finding = next(f for f in verdict if f.remedies)
    remedy = next(remedy for remedy in finding.remedies if remedy.changes)
    s.update(remedy.changes)
    assert s.run().verdict.trustworthy
    assert str(verdict).startswith("NOT TRUSTWORTHY")


def test_equal_runs_have_equal_hashes(oscillators):
    assert oscillators.run().verdict.state_hash == oscillators.run(threads=2).verdict.state_hash != 0


def test_an_interrupt_keeps_the_results(oscillators):
    oscillators["time.end"] = 1000
    timer = threading.Timer(0.7, _thread.interrupt_main)
    timer.start()
    begun = time.monotonic()
    r = oscillators.run()
    assert time.monotonic() - begun < 10
    assert not r.complete and len(r.time) > 10 and "STOPPED" in str(r.verdict)


def test_progress(oscillators):
    seen = []
    oscillators["time.end"] = 20
    oscillators.run(progress=seen.append)
    assert seen and 0 <= min(seen) and max(seen) <= 1

    def broken(fraction):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        oscillators.run(progress=broken)


def test_a_failed_run_has_its_results():
    s = yoke.load("two-mass-oscillator", {"time.end": 20, "parameters.right_mass": 40})
    with pytest.raises(yoke.RunError) as caught:
        s.run()
    error = caught.value
    assert 0 < error.time < 20 and error.code
    assert error.results is not None and len(error.results.time) > 0 and not error.results.complete
