"""Scenarios that are built in Python, with the words of scenario files.

::

    upper = yoke.multibody.Model()
    link = upper.body("link", mass=1, inertia=[0.01, 0.01, 0.01], position=[0.5, 0, 0])
    upper.joint("pin", "spherical", "ground", link, at=[0, 0, 0])
    end = upper.port("end", link, offset=[0.5, 0, 0])

    system = yoke.System(end=2, step=1e-3)
    left = system.add("upper", upper)
    ...
    system.interface("hinge", left["end"], right["start"], joint="spherical")
    results = system.run()

Keyword arguments are the keys of the section in a scenario file; :func:`yoke.describe` lists them with units and defaults.
"""

from __future__ import annotations

import functools
import keyword
import os
import pathlib
import pprint
import types
from typing import Any, Mapping, Sequence, TypeVar, Union

from . import schema, yaml
from .results import Results
from .scenario import Scenario, load
from .simulation import Simulation
from .subsystem import Subsystem


class Handle:
    """A part of a model. It stands for the part wherever a name does."""

    def __init__(self, owner: object, name: str) -> None:
        self._owner = owner
        self.name = name

    def to_scenario(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


class Node(Handle):
    """A frame that moves."""


class Body(Node):
    """A body; its frame is a node."""


class Joint(Handle):
    """A joint."""


class Force(Handle):
    """A force."""


class Beam(Handle):
    """A beam."""


class Particles(Handle):
    """A group of particles."""


class Material(Handle):
    """A material of contacts."""


class ModelPort(Handle):
    """A port of a model."""


class SystemPort(Handle):
    """A port of a subsystem in a system: ``"subsystem.port"``."""


H = TypeVar("H", bound=Handle)
Frame = Union[Node, str]


class _Model:
    """Sections of a subsystem by name."""

    solver = ""

    def __init__(self, **keys: Any) -> None:
        _document()
        schema.check("subsystems.NAME", self.solver, keys)
        self._keys: dict[str, Any] = dict(keys)
        self._sections: dict[str, dict[str, Any]] = {}

    def _add(self, handle: type[H], section: str, name: str, keys: Mapping[str, Any], kind: str = "") -> H:
        items = self._sections.setdefault(section, {})
        if name in items:
            raise ValueError(f"{section} has '{name}' already")
        schema.check(f"{self.solver}.{section}.NAME", kind, keys)
        items[name] = {key: self._own(value) for key, value in keys.items()}
        return handle(self, name)

    def _own(self, value: Any) -> Any:
        if isinstance(value, Handle):
            if value._owner is not self:
                raise ValueError(f"'{value.name}' belongs to another model")
            return value.name
        if isinstance(value, (list, tuple)):
            return [self._own(item) for item in value]
        if isinstance(value, Mapping):
            return {key: self._own(item) for key, item in value.items()}
        return value

    def _frames(self, frames: Sequence[Frame]) -> list[str]:
        for frame in frames:
            if isinstance(frame, Handle) and not isinstance(frame, Node):
                raise TypeError(f"{frame!r} is no body and no node")
        return [str(self._own(frame)) for frame in frames]

    def set(self, **keys: Any) -> None:
        """Sets keys of the subsystem, such as ``gravity``."""
        schema.check("subsystems.NAME", self.solver, keys)
        self._keys.update(keys)

    def body(self, name: str, **keys: Any) -> Body:
        """Adds a rigid body (mass in kg, inertia in kg m^2, position in m, velocity in m/s)."""
        return self._add(Body, "bodies", name, keys)

    def joint(self, name: str, type: str, a: Frame, b: Frame, **keys: Any) -> Joint:
        """Adds a joint between two bodies, nodes or ``"ground"``, at a point ``at`` (m) about an ``axis``."""
        return self._add(Joint, "joints", name, {"type": type, "between": self._frames((a, b)), **keys}, type)

    def port(self, name: str, body: Frame | None = None, type: str = "marker", **keys: Any) -> ModelPort:
        """Adds a port at a marker on a body, at ``offset`` (m) in its axes, or of type ``"distance"``, ``between`` two bodies."""
        if body is not None:
            keys["body"] = self._frames((body,))[0]
        if "between" in keys:
            keys["between"] = self._frames(keys["between"])
        kind = {} if type == "marker" else {"type": type}
        return self._add(ModelPort, "ports", name, {**kind, **keys}, type)

    def to_dict(self) -> dict[str, Any]:
        """The section of the subsystem in a scenario."""
        found: dict[str, Any] = yaml.plain({"solver": self.solver, **self._keys, **self._sections})
        return found

    def to_scenario(self) -> dict[str, Any]:
        return self.to_dict()


class MultibodyModel(_Model):
    """A mechanism: rigid and flexible bodies, joints, forces and beams. Keyword arguments are those of ``solver: multibody``."""

    solver = "multibody"

    def node(self, name: str, **keys: Any) -> Node:
        """Adds a node: a frame without mass, at ``position`` (m)."""
        return self._add(Node, "nodes", name, keys)

    def beam(self, name: str, nodes: Sequence[Frame], section: Mapping[str, Any], **keys: Any) -> Beam:
        """Adds a beam through three nodes with a cross section (``{"type": "rectangle", ...}``, in SI units)."""
        return self._add(Beam, "beams", name, {"nodes": self._frames(nodes), "section": section, **keys})

    def force(self, name: str, type: str, **keys: Any) -> Force:
        """Adds a spring, motor, force or torque."""
        return self._add(Force, "forces", name, {"type": type, **keys}, type)

    def flexible_body(self, name: str, type: str, **keys: Any) -> Body:
        """Adds a flexible body: ``"rod"``, ``"modal"`` or ``"ancf"``."""
        return self._add(Body, "flexible_bodies", name, {"type": type, **keys}, type)


class NonsmoothWorld(_Model):
    """Rigid bodies and particles with frictional contact. Keyword arguments are those of ``solver: nonsmooth``."""

    solver = "nonsmooth"

    def material(self, name: str, **keys: Any) -> Material:
        """Adds a material with ``friction`` and ``restitution``."""
        return self._add(Material, "materials", name, keys)

    def particles(self, name: str, type: str, **keys: Any) -> Particles:
        """Adds particles: ``"settled"``, ``"lattice"`` or ``"file"``."""
        return self._add(Particles, "particles", name, {"type": type, **keys}, type)

    def force(self, name: str, type: str, **keys: Any) -> Force:
        """Adds a spring, motor, force or torque."""
        return self._add(Force, "forces", name, {"type": type, **keys}, type)

    def emitter(self, name: str, **keys: Any) -> Handle:
        """Adds an emitter, which makes particles during the run."""
        return self._add(Handle, "emitters", name, keys)

    def sink(self, name: str, **keys: Any) -> Handle:
        """Adds a sink, which removes particles."""
        return self._add(Handle, "sinks", name, keys)

    def ground(self, *shapes: Mapping[str, Any]) -> None:
        """Adds shapes that never move: ``{"type": "plane", "material": "steel"}``."""
        self._keys.setdefault("ground_shapes", []).extend(self._own(shape) for shape in shapes)


class SubsystemHandle(Handle):
    """A subsystem in a system; ``subsystem["port"]`` is a port of it."""

    def __getitem__(self, port: str | ModelPort) -> SystemPort:
        name = port.name if isinstance(port, Handle) else port
        return SystemPort(self._owner, f"{self.name}.{name}")


class System:
    """A scenario that is built in Python.

    Args:
        title: Title.
        end: End of the run (s).
        step: Macro step (s).
        time: Other keys of ``time``.
    """

    def __init__(self, title: str = "", *, end: float, step: float, **time: Any) -> None:
        _document()
        schema.check("time", "", time)
        self._scenario: dict[str, Any] = {"title": title} if title else {}
        self._scenario["time"] = {"end": end, "step": step, **time}

    def _items(self, section: str, name: str, keys: Mapping[str, Any]) -> None:
        items = self._scenario.setdefault(section, {})
        if name in items:
            raise ValueError(f"{section} has '{name}' already")
        items[name] = dict(keys)

    def parameter(self, name: str, value: float | str) -> str:
        """Adds a parameter, a number or an expression of others, and returns its name for expressions."""
        self._scenario.setdefault("parameters", {})[name] = value
        return name

    def add(self, name: str, model: _Model | Subsystem | type[Subsystem] | str, **keys: Any) -> SubsystemHandle:
        """Adds a subsystem.

        Args:
            name: Its name.
            model: A model, a solver in Python (class or object), or the word of a solver such as ``"oscillator"``.
            keys: Keys of the subsystem.
        """
        if isinstance(model, _Model):
            schema.check("subsystems.NAME", model.solver, keys)
            section = {**model.to_dict(), **keys}
        else:
            if isinstance(model, str):
                schema.check("subsystems.NAME", model, keys)
            section = {"solver": model, **keys}
        self._items("subsystems", name, section)
        return SubsystemHandle(self, name)

    def interface(self, name: str, wrench_side: SystemPort | str, motion_side: SystemPort | str, **keys: Any) -> Handle:
        """Joins two ports; the first receives the wrench, the second the motion. ``joint`` is a kind of joint (default: fixed)."""
        schema.check("interfaces.NAME", "", keys)
        self._items("interfaces", name, {"between": [self._port(wrench_side), self._port(motion_side)], **keys})
        return Handle(self, name)

    def wire(self, name: str, source: SystemPort | str, target: SystemPort | str, **keys: Any) -> Handle:
        """Carries a signal from a port or channel to a signal input."""
        self._items("wires", name, {"from": self._port(source), "to": self._port(target), **keys})
        return Handle(self, name)

    def _port(self, port: SystemPort | str) -> str:
        if isinstance(port, str):
            return port
        if not isinstance(port, SystemPort):
            raise TypeError(f"{port!r} is no port of a subsystem in a system, as subsystem['port'] is")
        if port._owner is not self:
            raise ValueError(f"'{port.name}' belongs to another system")
        return port.name

    def coupling(self, scheme: str, **keys: Any) -> None:
        """Selects the coupling scheme and its options."""
        schema.check("coupling", "", keys)
        self._scenario["coupling"] = {"scheme": scheme, **keys}

    def record(self, *channels: str, **keys: Any) -> None:
        """Selects the channels to record; ``every`` is the number of macro steps between samples."""
        schema.check("record", "", keys)
        self._scenario["record"] = {**({"channels": list(channels)} if channels else {}), **keys}

    def set(self, key: str, value: Any) -> None:
        """Sets another section of the scenario, such as ``plugins`` or ``description``."""
        self._scenario[key] = value

    def to_dict(self) -> dict[str, Any]:
        """The scenario as a dict; solvers in Python stay classes or objects."""
        return dict(self._scenario)

    def to_yaml(self) -> str:
        """The scenario as YAML text. Solvers in Python are written by their names."""
        from .subsystem import take_solvers

        return yaml.dump(take_solvers(self._scenario)[0])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the scenario to a YAML file."""
        pathlib.Path(path).write_text(self.to_yaml())

    def scenario(self) -> Scenario:
        """The scenario, checked."""
        return load(self._scenario)

    def run(self, **options: Any) -> Results:
        """Runs the scenario; options are those of :meth:`Scenario.run`."""
        return self.scenario().run(**options)

    def start(self, threads: int = 0) -> Simulation:
        """Starts a simulation that is advanced step by step."""
        return self.scenario().start(threads)

    def __repr__(self) -> str:
        return f"<System '{self._scenario.get('title', '')}': {', '.join(self._scenario.get('subsystems', {}))}>"


@functools.lru_cache(maxsize=1)
def _document() -> None:
    """Gives the methods the signatures and docstrings of the keys that they take. Not done at import: it takes 50 ms."""
    for model in (MultibodyModel, NonsmoothWorld):
        schema.document(model.set, "subsystems.NAME", model.solver)
        for section, name in _METHODS[model.solver].items():
            # Both classes inherit some methods, and their keys differ.
            inherited = getattr(model, name)
            method = types.FunctionType(inherited.__code__, inherited.__globals__, name, inherited.__defaults__)
            method.__doc__, method.__annotations__ = inherited.__doc__, inherited.__annotations__
            schema.document(method, f"{model.solver}.{section}.NAME")
            setattr(model, name, method)
    for word, path in (("interface", "interfaces.NAME"), ("wire", "wires.NAME"), ("coupling", "coupling"), ("record", "record")):
        schema.document(getattr(System, word), path)


_METHODS = {
    "multibody": {
        "nodes": "node",
        "bodies": "body",
        "flexible_bodies": "flexible_body",
        "joints": "joint",
        "forces": "force",
        "beams": "beam",
        "ports": "port",
    },
    "nonsmooth": {
        "materials": "material",
        "bodies": "body",
        "particles": "particles",
        "emitters": "emitter",
        "sinks": "sink",
        "joints": "joint",
        "forces": "force",
        "ports": "port",
    },
}
_CLASSES = {"multibody": "yoke.multibody.Model", "nonsmooth": "yoke.nonsmooth.World"}


def to_python(scenario: Mapping[str, Any]) -> str:
    """Python code that builds a scenario with :class:`System`."""
    rest = dict(scenario)
    time = dict(rest.pop("time", {}))
    title = rest.pop("title", "")
    lines = ["import yoke", "", f"system = yoke.System({', '.join([*([repr(title)] if title else []), _arguments(time)])})"]
    for name, value in rest.pop("parameters", {}).items():
        lines.append(f"system.parameter({name!r}, {value!r})")
    for name, section in _named(rest.pop("subsystems", {})):
        lines += ["", *_subsystem(name, dict(section))]
    lines.append("")
    for name, section in _named(rest.pop("interfaces", {})):
        a, b = section.pop("between")
        lines.append(f"system.interface({', '.join([repr(name), repr(a), repr(b), *_list(section)])})")
    for name, section in _named(rest.pop("wires", {})):
        source, target = section.pop("from"), section.pop("to")
        lines.append(f"system.wire({', '.join([repr(name), repr(source), repr(target), *_list(section)])})")
    if "coupling" in rest:
        coupling = dict(rest.pop("coupling"))
        scheme = coupling.pop("scheme", "explicit")
        lines.append(f"system.coupling({', '.join([repr(scheme), *_list(coupling)])})")
    if "record" in rest:
        record = dict(rest.pop("record"))
        channels = record.pop("channels", [])
        if all(isinstance(channel, str) for channel in channels):
            lines.append(f"system.record({', '.join([*map(repr, channels), *_list(record)])})")
        else:
            lines.append(f"system.record({_arguments({'channels': channels, **record})})")
    for key, value in rest.items():
        lines.append(f"system.set({key!r}, {_value(value)})")
    return "\n".join([*lines, "", "results = system.run()", ""])


def _subsystem(name: str, section: dict[str, Any]) -> list[str]:
    solver = section.pop("solver", "")
    if solver not in _CLASSES:
        return [f"system.add({', '.join([repr(name), repr(solver), *_list(section)])})"]
    methods = _METHODS[solver]
    # Lists with `repeat` stay lists: one item stands for many.
    built = {key: section[key] for key in methods if isinstance(section.get(key), dict)}
    others = {key: value for key, value in section.items() if key not in built}
    lines = [f"model = {_CLASSES[solver]}({_arguments(others)})"]
    for key, items in built.items():
        for own, item in items.items():
            item = dict(item)
            arguments = [repr(own)]
            if key in ("joints", "forces", "particles", "flexible_bodies"):
                if "type" not in item:
                    return [f"system.add({', '.join([repr(name), repr(solver), *_list(section)])})"]
                arguments.append(repr(item.pop("type")))
            if key == "joints":
                between = item.pop("between", None)
                if between is None:
                    return [f"system.add({', '.join([repr(name), repr(solver), *_list(section)])})"]
                arguments += map(repr, between)
            if key == "beams":
                arguments += [_value(item.pop("nodes")), _value(item.pop("section"))]
            if key == "ports":
                arguments += [repr(item.pop("body"))] if "body" in item else []
            lines.append(f"model.{methods[key]}({', '.join([*arguments, *_list(item)])})")
    return [*lines, f"system.add({name!r}, model)"]


def _named(section: Any) -> list[tuple[str, dict[str, Any]]]:
    if isinstance(section, Mapping):
        return [(name, dict(item)) for name, item in section.items()]
    return [(item["name"], {key: value for key, value in item.items() if key != "name"}) for item in section]


def _value(value: Any) -> str:
    return pprint.pformat(value, width=100, compact=True, sort_dicts=False)


def _list(keys: Mapping[str, Any]) -> list[str]:
    plain = {key: value for key, value in keys.items() if key.isidentifier() and not keyword.iskeyword(key)}
    found = [f"{key}={_value(value)}" for key, value in plain.items()]
    others = {key: value for key, value in keys.items() if key not in plain}
    return found + ([f"**{_value(others)}"] if others else [])


def _arguments(keys: Mapping[str, Any]) -> str:
    return ", ".join(_list(keys))
