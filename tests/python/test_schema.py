"""The JSON Schema of scenarios, and the signatures that come from it."""

import inspect
import json
import subprocess

import pytest

import yoke
from yoke import program, schema

jsonschema = pytest.importorskip("jsonschema")


@pytest.fixture(scope="module")
def validator():
    jsonschema.Draft7Validator.check_schema(schema.json_schema())
    return jsonschema.Draft7Validator(schema.json_schema())


def test_the_program_prints_it():
    printed = subprocess.run([program.find(), "schema", "--json"], capture_output=True, check=True).stdout
    assert json.loads(printed) == schema.json_schema()


def test_every_model_is_valid(validator):
    for name in yoke.models():
        assert [error.message for error in validator.iter_errors(yoke.load(name).to_dict())] == [], name


@pytest.mark.parametrize(
    "key, value",
    [("time.stpe", 1), ("coupling.scheme", "tihgt"), ("subsystems.left.mass", 0), ("interfaces.joint.between", ["left.mass"])],
)
def test_invalid_values_are_found(validator, oscillators, key, value):
    scenario = oscillators.to_dict()
    assert validator.is_valid(scenario)
    *path, last = key.split(".")
    section = scenario
    for step in path:
        section = section[step]
    section[last] = value
    assert not validator.is_valid(scenario)


def test_descriptions():
    (step,) = (key for key in yoke.describe("time") if key.name == "step")
    assert (step.unit, step.default) == ("s", "required") and "macro step" in step.meaning
    assert {key.name for key in yoke.describe("multibody.joints.NAME", "revolute")} >= {"between", "at", "axis"}
    assert {"multibody", "nonsmooth", "oscillator"} <= set(schema.kinds("subsystems.NAME"))
    assert "position" in {key.name for key in yoke.describe("subsystems.NAME", "oscillator")}
    (scheme,) = yoke.describe("coupling.scheme")
    assert scheme.name == "scheme" and "tight" in repr(scheme)
    with pytest.raises(KeyError, match="Did you mean"):
        yoke.describe("copling")


def test_signatures_have_keys_and_defaults():
    model, world = yoke.multibody.Model(), yoke.nonsmooth.World()
    body = inspect.signature(model.body).parameters
    assert body["position"].default == [0, 0, 0] and "shapes" not in body
    assert "shapes" in inspect.signature(world.body).parameters
    assert "mass: mass (kg)" in inspect.getdoc(model.body)
    assert inspect.signature(yoke.System(end=1, step=0.1).coupling).parameters["max_sweeps"].default == 200


def test_unknown_keywords_are_errors():
    with pytest.raises(TypeError, match="Did you mean 'position'"):
        yoke.multibody.Model().body("a", mass=1, postion=[0, 0, 0])
    with pytest.raises(TypeError, match="gravity"):
        yoke.nonsmooth.World(gravty=[0, 0, 0])
    with pytest.raises(TypeError, match="max_iterations"):
        yoke.System(end=1, step=0.1).coupling("tight", max_iteration=3)
