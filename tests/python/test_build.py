"""Scenarios that are built in Python."""

import numpy as np
import pytest

import yoke


def pendulum():
    upper = yoke.multibody.Model()
    link = upper.body("link", mass=1, inertia=[0.02, 0.02, 0.02], position=[0.25, 0, 0])
    upper.joint("pin", "spherical", "ground", link, at=[0, 0, 0])
    upper.port("end", link, offset=[0.25, 0, 0])
    lower = yoke.multibody.Model()
    bob = lower.body("bob", mass=0.5, inertia=[0.01, 0.01, 0.01], position=[0.75, 0, 0])
    start = lower.port("start", bob, offset=[-0.25, 0, 0])
    system = yoke.System("Pendulum", end=0.2, step=1e-3)
    left, right = system.add("upper", upper), system.add("lower", lower)
    system.interface("hinge", left["end"], right[start], joint="spherical")
    system.coupling("tight")
    system.record("upper.link.position")
    return system


def test_a_system_runs_and_converts():
    system = pendulum()
    r = system.run()
    assert r.verdict.trustworthy and r["upper.link.position"].components == ("x", "y", "z")
    scenario = system.scenario()
    assert yoke.load(system.to_yaml()).resolved == scenario.resolved
    place = {}
    exec(scenario.to_python().replace("results = system.run()", ""), place)
    assert place["system"].scenario().resolved == scenario.resolved
    sim = system.start()
    sim.step()
    length = np.linalg.norm(sim["upper.link"].position)
    assert length == pytest.approx(0.25, abs=1e-6)


def named(node):
    """Lists of items with names as sections, which mean the same."""
    if isinstance(node, dict):
        return {key: named(item) for key, item in node.items()}
    if isinstance(node, list) and node and all(isinstance(item, dict) and "name" in item for item in node):
        return {item["name"]: named({key: value for key, value in item.items() if key != "name"}) for item in node}
    return [named(item) for item in node] if isinstance(node, list) else node


def test_every_model_becomes_python():
    for name in yoke.models():
        scenario = yoke.load(name)
        place = {}
        exec(scenario.to_python().replace("results = system.run()", ""), place)
        again = yoke.Scenario(scenario.path, place["system"].to_yaml())
        assert named(again.resolved) == named(scenario.resolved), name


def test_handles_are_typed():
    model, other = yoke.multibody.Model(), yoke.multibody.Model()
    body = model.body("a", mass=1, inertia=[1, 1, 1])
    joint = model.joint("j", "spherical", "ground", body, at=[0, 0, 0])
    with pytest.raises(TypeError, match="no body"):
        model.joint("k", "spherical", "ground", joint, at=[0, 0, 0])
    with pytest.raises(ValueError, match="another model"):
        other.joint("k", "spherical", "ground", body, at=[0, 0, 0])
    with pytest.raises(ValueError, match="already"):
        model.body("a", mass=1)
    system = yoke.System(end=1, step=0.1)
    with pytest.raises(TypeError, match="no port"):
        system.interface("i", body, body)
    with pytest.raises(ValueError, match="another system"):
        a, b = system.add("a", model), yoke.System(end=1, step=0.1).add("b", model)
        system.interface("i", a["p"], b["p"])


def test_keywords_are_keys():
    with pytest.raises(TypeError, match="Did you mean 'mass'"):
        yoke.multibody.Model().body("a", mas=1)
    with pytest.raises(TypeError, match="Did you mean 'gravity'"):
        yoke.multibody.Model(gravty=[0, 0, 0])
    with pytest.raises(TypeError, match="Did you mean 'stiffness'"):
        yoke.System(end=1, step=0.1).add("a", "oscillator", stifness=3)


def test_descriptions():
    keys = yoke.describe("subsystems.NAME", "oscillator")
    mass = next(key for key in keys if key.name == "mass")
    assert mass.unit == "kg" and "stiffness" in repr(keys)
    assert any(key.name == "mass" for key in yoke.describe(f"{yoke.multibody.Model.solver}.bodies.NAME"))
    with pytest.raises(KeyError, match="Did you mean"):
        yoke.describe("couplin")


def test_a_world():
    world = yoke.nonsmooth.World()
    steel = world.material("steel", friction=0.3, restitution=0.5)
    world.body("ball", mass=1, position=[0, 0, 0.5], shapes=[{"type": "sphere", "radius": 0.1, "material": steel}])
    world.ground({"type": "plane", "material": steel})
    system = yoke.System(end=0.5, step=1e-3)
    system.add("world", world)
    sim = system.start()
    low = 1.0
    for _ in range(500):
        sim.step()
        low = min(low, sim["ball"].position[2])
    assert low == pytest.approx(0.1, abs=2e-3)


def test_ports_by_distance():
    model = yoke.multibody.Model()
    rod = model.body("rod", mass=1, inertia=[1, 1, 1])
    model.port("end", rod, offset=[1, 0, 0])
    model.port("length", type="distance", between=["ground", rod], at=[0, 0, 0], axis=[1, 0, 0])
    ports = model.to_dict()["ports"]
    assert ports["end"] == {"body": "rod", "offset": [1, 0, 0]}
    assert ports["length"] == {"type": "distance", "between": ["ground", "rod"], "at": [0, 0, 0], "axis": [1, 0, 0]}
    with pytest.raises(TypeError, match="no key 'offset'"):
        model.port("wrong", type="distance", between=["ground", rod], offset=[0, 0, 0])
    assert "markers" in {key.name for key in yoke.describe("multibody.ports.NAME")}
