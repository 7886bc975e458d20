"""Running simulations: steps, state, bodies, parameters, threads."""

import copy
import pickle
import threading

import numpy as np
import pytest

import yoke
from conftest import exact


def test_steps(oscillators):
    sim = oscillators.start()
    assert sim.time == 0
    for _ in range(100):
        sim.step()
    sim.steps(100)
    assert sim.time == pytest.approx(0.02)
    sim.run_until(0.05)
    assert sim.time == pytest.approx(0.05)
    assert sim["left.mass.position"] == pytest.approx(exact(0.05), abs=2e-6)
    assert sim.unit("left.mass.position") == "m"
    sim.reset()
    assert sim.time == 0


def test_the_same_as_a_run(oscillators):
    oscillators["record.channels"] = ["left.mass.position"]
    r = oscillators.run()
    sim = oscillators.start()
    sim.run_until(sim.end)
    assert sim["left.mass.position"] == r["left.mass.position"].value[-1]


def test_states_return_bit_for_bit(oscillators):
    sim = oscillators.start()
    sim.run_until(0.03)
    state = pickle.loads(pickle.dumps(sim.state))
    sim.run_until(0.06)
    end = sim.state
    sim.state = state
    assert sim.time == pytest.approx(0.03)
    sim.run_until(0.06)
    assert sim.state == end
    for other in (sim.clone(), copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))):
        assert other.state == end
    with pytest.raises(TypeError):
        sim.state = 1
    other = yoke.load("split-pendulum").start()
    with pytest.raises(ValueError):
        other.state = state


def test_bodies():
    s = yoke.load("thrown-sphere") if "thrown-sphere" in yoke.models() else None
    sim = s.start()
    name = sim.bodies[0]
    body = sim[name]
    position, orientation = body.pose
    np.testing.assert_array_equal(position, body.position)
    assert np.linalg.norm(orientation) == pytest.approx(1)
    before = sim.state
    h = s["time.step"]
    sim.step()
    free = body.velocity
    sim.state = before
    body.apply_force((1000.0, 0, 0))
    sim.step()
    assert body.velocity[0] > free[0]
    velocity = body.velocity
    sim.step()  # the force has ended
    assert abs(body.velocity[0] - velocity[0]) < 0.5 * abs(velocity[0] - free[0]) + 1e-12
    assert h > 0
    with pytest.raises(ValueError, match="finite"):
        body.apply_force((np.nan, 0, 0))
    with pytest.raises(ValueError, match="3 numbers"):
        body.apply_force((1, 2))
    with pytest.raises(KeyError):
        sim["no.such"]


def test_contacts():
    sim = yoke.load("box-stack").start()
    sim.steps(5)
    subsystem = sim._subsystems[0]
    contacts = sim.contacts(subsystem)
    count = len(contacts["point"])
    assert count > 0 and contacts["force"].shape == contacts["normal"].shape == (count, 3)
    np.testing.assert_allclose(np.linalg.norm(contacts["normal"], axis=1), 1)
    assert sim.positions(subsystem).shape[1] == 3


def test_parameters():
    sim = yoke.load("controlled-arm").start()
    name = next(iter(sim.parameters))
    value = sim.parameters[name]
    sim.set(name, 2 * value)
    assert sim.parameters[name] == 2 * value
    with pytest.raises(KeyError, match="Did you mean"):
        sim.set(name + "x", 1)
    with pytest.raises(ValueError):
        sim.set(name, float("nan"))


def test_rollout(oscillators):
    variations = [{"subsystems.left.mass": mass} for mass in (1, 2, 3, 4)]
    serial = [oscillators.with_changes(v).run(progress=False).verdict.state_hash for v in variations]
    parallel = [r.verdict.state_hash for r in yoke.rollout(oscillators, variations, threads=2)]
    assert serial == parallel and len(set(serial)) == 4

    def final(sim):
        sim.run_until(0.01)
        return sim["left.mass.position"]

    assert len(set(yoke.rollout(oscillators, variations, final, threads=2))) == 4


def test_one_thread_at_a_time(oscillators):
    sim = oscillators.start()
    errors, done = [], threading.Event()

    def work():
        # Either thread may find the simulation busy first; this one tries again until it runs.
        while True:
            try:
                sim.run_until(1e6)
            except yoke.BusyError:
                continue
            except yoke.Error as error:
                errors.append(error)
            break
        done.set()

    thread = threading.Thread(target=work, daemon=True)
    sim._context.interrupt.stop = 0
    thread.start()
    # The thread starts at some time, so step until the simulation is busy.
    with pytest.raises(yoke.BusyError):
        while not done.is_set():
            sim.step()
    with pytest.raises(yoke.BusyError):
        sim.close()
    from yoke._native import lib

    lib.yoke_py_request_stop(sim._context.interrupt)
    assert done.wait(20) and not errors
    sim.close()


def test_a_loop_in_ten_lines():
    s = yoke.load("controlled-arm")
    sim = s.start()
    start = sim.state
    for episode in range(2):
        sim.state = start
        total = 0.0
        for _ in range(5):
            sim.set(next(iter(sim.parameters)), 1.0 + episode)
            sim.run_until(sim.time + 10 * s["time.step"])
            total += float(np.sum(sim.read(sim.channels[0])))
    assert np.isfinite(total)
