"""The keys of scenarios, from the tables of the library: names, units, defaults and meanings."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any, Iterable, Sequence

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
def sections() -> dict[tuple[str, str], dict[str, Key]]:
    """All keys, by the path of their section and its kind: ``("subsystems.NAME", "oscillator")``."""
    context = Context()
    reference = take_text(context, lib.yk_scenario_schema_markdown(context.pointer, ffi.NULL))
    found: dict[tuple[str, str], dict[str, Key]] = {}
    path, solver, keys = "", "", found.setdefault(("", ""), {})
    for line in reference.splitlines():
        heading = re.match(r"#+ (?:`?)([^,`]+)`?(?:, `(\w+): ([^`]+)`)?$", line)
        if heading:
            path, word, kind = heading[1].strip(), heading[2] or "", heading[3] or ""
            if path.startswith("Keys of the file"):
                path = ""
            if path == "subsystems.NAME":
                solver = kind
            # Sections of solvers have the name of the solver in place of the name of the subsystem.
            if solver and path.startswith("subsystems.NAME."):
                path = f"{solver}.{path[len('subsystems.NAME.') :]}"
            keys = found.setdefault((path, kind if word else ""), {})
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 5 and cells[0].startswith("`"):
            # Links and code marks are for the page, not for people at a prompt.
            texts = [re.sub(r"\[([^]]*)\]\(#[^)]*\)", r"\1", cell).replace("`", "") for cell in cells]
            keys[texts[0]] = Key(*texts)
    return found


def keys(path: str, kind: str = "") -> dict[str, Key]:
    """The keys of a section; those of its kind come after those that all kinds have."""
    table = sections()
    return {**table.get((path, ""), {}), **(table.get((path, kind), {}) if kind else {})}


def word(path: str, *kinds: str) -> str:
    """The first of these kinds that the section has: a word, and its former spellings."""
    return next((kind for kind in kinds if (path, kind) in sections()), kinds[0])


def key(path: str, *names: str) -> str:
    """The first of these keys that the section or one of its kinds has: a key, and its former names."""
    known = {name for (place, _), table in sections().items() if place == path for name in table}
    return next((name for name in names if name in known), names[0])


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
        lines = []
        for key in self._keys:
            unit = f" ({key.unit})" if key.unit else ""
            default = f", {key.default}" if key.default == "required" else f", default {key.default}" if key.default else ""
            lines.append(f"{key.name.ljust(width)}  {key.meaning}{unit}: {key.values}{default}")
        return "\n".join(lines)


def describe(path: str = "", kind: str = "") -> Keys:
    """Describes the keys of a section.

    Args:
        path: ``"coupling"``, ``"time"``, ``"subsystems.NAME"``, or a section of a solver such as ``"multibody.bodies.NAME"``.
        kind: Kind of the section, such as ``"oscillator"`` or ``"revolute"``.
    """
    found = keys(path, kind)
    if not found:
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
