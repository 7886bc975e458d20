"""The keys of scenarios, from the tables of the library: names, units, defaults and meanings."""

from __future__ import annotations

import functools
import inspect
import json
import keyword
import re
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Iterator, Sequence

from ._core import Context, nearest, take_text
from ._native import ffi, lib


@dataclass(frozen=True)
class Key:
    """A key of a scenario.

    Attributes:
        name: The key.
        values: What it takes.
        unit: Unit; empty if it has none.
        default: Default; empty if there is none, ``"required"`` if the key must be given.
        meaning: What it means.
    """

    name: str
    values: str
    unit: str
    default: str
    meaning: str


@functools.lru_cache(maxsize=1)
def json_schema() -> dict[str, Any]:
    """The JSON Schema of scenarios, as `yoke schema --json` prints it. Units are under ``"x-unit"``."""
    context = Context()
    found: dict[str, Any] = json.loads(take_text(context, lib.yk_scenario_json_schema(context.pointer, ffi.NULL)))
    return found


def _values(node: dict[str, Any]) -> str:
    """What a value is, in words."""
    if "$ref" in node:
        return str(node["$ref"].rpartition("/")[2])
    if "enum" in node:
        return ", ".join(node["enum"])
    kinds = {str(kind) for kind in ([node["type"]] if isinstance(node.get("type"), str) else node.get("type", []))}
    if {"object", "array"} <= kinds:
        return "text or named items" if "string" in kinds else "named items"
    if "anyOf" in node:
        first, *sections = node["anyOf"]
        kind = _selector(node)
        if kind:
            return ", ".join(section["properties"][kind]["const"] for section in sections) + f" ({kind} of a section)"
        return ", ".join([*first.get("enum", ()), "or a section"])
    if "array" in kinds:
        count = f"{node['minItems']} " if node.get("minItems", 0) == node.get("maxItems", -1) else ""
        kinds = set(node.get("items", {}).get("type", ()))
        numbers = "number" in kinds and "boolean" not in kinds
        return f"list of {count}{'numbers' if numbers else 'items'}"
    if "boolean" in kinds:
        return "text" if "string" in kinds else "true or false"
    word = "whole number" if "integer" in kinds else "number" if "number" in kinds else "section"
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    return word + "".join(f", {sign} {node[bound]:g}" for bound, sign in signs.items() if bound in node)


def _selector(node: dict[str, Any]) -> str:
    """The key that selects the kind of a section; empty if its kinds have none."""
    for section in node.get("anyOf", ()):
        for name, item in section.get("properties", {}).items():
            if "const" in item:
                return str(name)
    return ""


def _default(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _table(section: dict[str, Any]) -> dict[str, Key]:
    required = section.get("required", ())
    found = {}
    for name, node in section["properties"].items():
        if "const" in node or name in ("name", "repeat"):
            continue
        default = "required" if name in required else _default(node["default"]) if "default" in node else ""
        # Links and code marks are for pages, not for people at a prompt.
        meaning = re.sub(r"\[([^]]*)\]\(#[^)]*\)", r"\1", node.get("description", "")).replace("`", "")
        found[name] = Key(name, _values(node), node.get("x-unit", ""), default, meaning)
    return found


def _walk(node: dict[str, Any], path: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """All sections below a node: path, kind and schema."""
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        if name in ("orientation", "repeat"):
            return
        node = json_schema()["definitions"][name]
    if isinstance(node.get("additionalProperties"), dict):
        if "properties" not in node:
            yield from _walk(node["additionalProperties"], f"{path}.NAME")
        return
    if node.get("type") == "array":
        yield from _walk(node["items"], f"{path}[]")
        return
    selector = _selector(node)
    for section in node.get("anyOf", [node]):
        if "properties" not in section:
            continue
        kind = section["properties"][selector]["const"] if selector else ""
        yield path, kind, section
        # Sections of solvers have the name of the solver in place of the name of the subsystem.
        below = kind if path == "subsystems.NAME" else path
        for name, item in section["properties"].items():
            yield from _walk(item, f"{below}.{name}" if below else name)


@functools.lru_cache(maxsize=1)
def sections() -> dict[tuple[str, str], dict[str, Key]]:
    """All keys, by the path of their section and its kind: ``("subsystems.NAME", "oscillator")``."""
    found: dict[tuple[str, str], dict[str, Key]] = {}
    for path, kind, section in _walk(json_schema(), ""):
        found.setdefault((path, kind), {}).update(_table(section))
    for name in ("orientation", "repeat"):
        found[(name, "")] = _table(json_schema()["definitions"][name]["anyOf"][1])
    # Keys that all kinds of a section have.
    for path in {path for path, kind in found if kind}:
        tables = [table for (place, kind), table in found.items() if place == path and kind]
        common = {name: key for name, key in tables[0].items() if all(table.get(name) == key for table in tables)}
        found[(path, "")] = {**common, **found.get((path, ""), {})}
    return found


def keys(path: str, kind: str = "") -> dict[str, Key]:
    """The keys of a section of a kind; without a kind, those that all kinds have. Empty: there is no such section."""
    return sections().get((path, kind), {})


def kinds(path: str) -> list[str]:
    """The kinds of a section."""
    return [kind for place, kind in sections() if place == path and kind]


class Keys(Sequence[Key]):
    """Keys of a section, as :func:`describe` returns them."""

    def __init__(self, found: Iterable[Key]) -> None:
        self._keys = tuple(found)

    def __getitem__(self, index: Any) -> Any:
        return self._keys[index]

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        width = max((len(key.name) for key in self._keys), default=0)
        return "\n".join(f"{key.name.ljust(width)}  {_line(key)}" for key in self._keys)


def _line(key: Key) -> str:
    unit = f" ({key.unit})" if key.unit else ""
    default = f", {key.default}" if key.default == "required" else f", default {key.default}" if key.default else ""
    return f"{key.meaning}{unit}: {key.values}{default}"


def describe(path: str = "", kind: str = "") -> Keys:
    """Describes the keys of a section.

    Args:
        path: ``"coupling"``, ``"time"``, ``"subsystems.NAME"``, a section of a solver such as ``"multibody.bodies.NAME"``, or one
            key of a section, ``"coupling.scheme"``.
        kind: Kind of the section, such as ``"oscillator"`` or ``"revolute"``; without it, the keys that all kinds have, or those of
            any kind if they have none in common.
    """
    found = keys(path, kind)
    for word in kinds(path) if not kind and not found else []:
        found = {**keys(path, word), **found}
    if not found:
        # One key of a section.
        section, _, name = path.rpartition(".")
        one = keys(section, kind).get(name)
        if one is not None:
            return Keys([one])
        names = {f"{place} {word}".strip() for place, word in sections()}
        raise KeyError(f"there is no section '{path}'{nearest(f'{path} {kind}'.strip(), names)}")
    return Keys(found.values())


def check(path: str, kind: str, given: Iterable[str]) -> None:
    """Raises TypeError for a keyword argument that is no key of the section."""
    known = keys(path, kind)
    if not known:
        return
    for name in given:
        # The word that selects the kind has no row, nor has `repeat`, which every named item may have.
        if name not in known and name not in ("type", "repeat"):
            label = f"{path} ({kind})" if kind else path
            raise TypeError(f"{label} has no key '{name}'{nearest(name, known)}")


def document(function: Callable[..., Any], path: str, kind: str = "") -> None:
    """Gives a function the signature and the docstring of the keys that it takes as `**keys`.

    Without a kind, these are the keys of all kinds of the section.
    """
    found: dict[str, Key] = {}
    for word in [kind] if kind else [*kinds(path), ""]:
        found = {**keys(path, word), **found}
    own = [p for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD]
    taken = {parameter.name for parameter in own} | ({"between"} if "a" in {p.name for p in own} or "wrench_side" in {p.name for p in own} else set())
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None if key.default == "required" else _literal(key.default))
        for name, key in found.items()
        if name.isidentifier() and not keyword.iskeyword(name) and name not in taken
    ]
    # An attribute that inspect.signature() and help() read.
    function.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
    lines = [f"    {parameter.name}: {_line(found[parameter.name])}" for parameter in added]
    if lines:
        head = (inspect.getdoc(function) or "").partition("\n\nKeys:\n")[0]
        function.__doc__ = head + "\n\nKeys:\n" + "\n".join(lines)


def _literal(default: str) -> Any:
    try:
        return json.loads(default)
    except ValueError:
        return default or None
