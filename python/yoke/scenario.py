"""Scenarios: load, change, check and run."""

from __future__ import annotations

import copy
import json
import os
import pathlib
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, MutableMapping, Sequence

from . import library, yaml
from ._core import Context, Diagnostics, encode, fspath, nearest, strings, take_text, text
from ._native import ffi, lib
from .errors import Diagnostic, ScenarioError
from .results import Results

if TYPE_CHECKING:
    from .simulation import Simulation
    from .subsystem import SolverTable

_cache = ffi.gc(lib.yk_cache_create(), lib.yk_cache_destroy)


class Loaded:
    """A scenario that the library has loaded, in a context of its own."""

    def __init__(self, scenario: Scenario, threads: int = 0, skip_settling: bool = False, context: Context | None = None) -> None:
        self.context = context or Context(threads)
        self.definition = scenario._definition(self.context)
        self.definition.pointer.skip_settling = skip_settling
        diagnostics = Diagnostics(self.context)
        pointer = ffi.new("yk_scenario **")
        with self.context:
            status = lib.yk_scenario_load(self.context.pointer, self.definition.pointer, diagnostics.pointer, pointer)
        if status < 0:
            diagnostics.fail(status)
        self.warnings = diagnostics.list()
        self.pointer = self.context.own(pointer[0], lib.yk_scenario_destroy)
        self.info = lib.yk_scenario_get_info(self.pointer)

    def system(self) -> Any:
        """The system; a system that cannot be created is an error of the scenario."""
        pointer = ffi.new("yk_system **")
        with self.context:
            status = lib.yk_scenario_system(self.pointer, pointer)
        if status < 0:
            if status == lib.YK_ERROR_MEMORY:
                raise MemoryError("out of memory")
            raise ScenarioError(self.context.message(), (), text(lib.yk_status_name(status)))
        return pointer[0]

    def names(self, kind: str) -> list[str]:
        """Names of the subsystems or interfaces."""
        if kind == "subsystems":
            return [text(self.info.subsystem_names[i]) for i in range(self.info.subsystem_count)]
        return [text(self.info.interfaces[i].name) for i in range(self.info.interface_count)]


class Definition:
    """A yk_scenario_def and everything that it points to."""

    def __init__(self, path: str, content: str | None, overrides: Sequence[str], solvers: Sequence[SolverTable]) -> None:
        self.pointer = ffi.new("yk_scenario_def *", lib.yk_scenario_default())
        self._path = ffi.new("char[]", encode(path))
        self.pointer.path = self._path
        if content is not None:
            self._text = ffi.new("char[]", encode(content))
            self.pointer.text = self._text
        array, self._keep = strings(overrides)
        self._array = array
        self.pointer.overrides = array
        self.pointer.override_count = len(overrides)
        self._solvers = list(solvers)
        if solvers:
            self._solver_array = ffi.new("yk_solver_ops *[]", [table.pointer for table in solvers])
            self.pointer.solvers = self._solver_array
            self.pointer.solver_count = len(solvers)
        self.pointer.cache = _cache


class Scenario(MutableMapping[str, Any]):
    """A scenario: a model with its coupling scheme, time span and recorded channels.

    A scenario is a mapping from keys to values, ``scenario["coupling.scheme"] = "tight"``. A change is checked at once; a
    value that is not valid raises :class:`ScenarioError` and leaves the scenario as it was. Values that depend on each
    other are set together with :meth:`update`.
    """

    def __init__(self, path: str, content: str | None, overrides: Sequence[str] = (), solvers: Sequence[SolverTable] = ()) -> None:
        self._path = path
        self._text = content
        self._overrides = list(overrides)
        self._solvers = list(solvers)
        self._resolved_cache: dict[str, Any] | None = None
        self._warnings: list[Diagnostic] = []
        self._load_check()

    # Reading and changing

    def _definition(self, context: Context) -> Definition:
        return Definition(self._path, self._text, self._overrides, self._solvers)

    def _load_check(self) -> Loaded:
        loaded = Loaded(self, skip_settling=True)
        loaded.system()
        context = loaded.context
        resolved = take_text(context, lib.yk_scenario_resolved_text(loaded.pointer))
        self._resolved_cache = _parse(context, resolved)
        self._warnings = loaded.warnings
        self._title = text(loaded.info.title)
        return loaded

    @property
    def resolved(self) -> dict[str, Any]:
        """The scenario with defaults filled in and expressions evaluated: what a run uses."""
        assert self._resolved_cache is not None
        return copy.deepcopy(self._resolved_cache)

    @property
    def title(self) -> str:
        """Title; empty if the scenario has none."""
        return self._title

    @property
    def path(self) -> str:
        """File that the scenario was loaded from, or the name that stands for its text."""
        return self._path

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """Warnings of the last check."""
        return tuple(self._warnings)

    def to_dict(self) -> dict[str, Any]:
        """The text of the scenario with all changes, without defaults."""
        context = Context()
        return _source(context, self._definition(context))

    def to_yaml(self) -> str:
        """The scenario as YAML text, with all changes, without defaults."""
        return yaml.dump(self.to_dict())

    def to_python(self) -> str:
        """Python code that builds the scenario with :class:`yoke.System`."""
        from .build import to_python

        return to_python(self.to_dict())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the scenario to a YAML file."""
        pathlib.Path(path).write_text(self.to_yaml())

    def copy(self) -> Scenario:
        """An independent copy."""
        return Scenario(self._path, self._text, self._overrides, self._solvers)

    def with_changes(self, changes: Mapping[str, Any]) -> Scenario:
        """A copy with other values: ``scenario.with_changes({"time.step": 1e-4})``."""
        other = Scenario.__new__(Scenario)
        other.__dict__.update(self.__dict__)
        other._overrides = self._overrides + _overrides(changes)
        other._load_check()
        return other

    def __getitem__(self, key: str) -> Any:
        found: Any = self._resolved_cache
        walked = ""
        for step in _steps(key):
            found = _descend(found, step, key, walked)
            walked = f"{walked}.{step}" if walked else str(step)
        return copy.deepcopy(found)

    def __setitem__(self, key: str, value: Any) -> None:
        self.update({key: value})

    def __delitem__(self, key: str) -> None:
        kept = [override for override in self._overrides if override.partition("=")[0] != key]
        if len(kept) == len(self._overrides):
            raise KeyError(f"'{key}' was not changed; only a change can be removed")
        self._replace(kept)

    def update(self, *changes: Any, **keywords: Any) -> None:
        """Sets several values together; they are checked once."""
        values: dict[str, Any] = dict(*changes, **keywords)
        self._replace(self._overrides + _overrides(values))

    def _replace(self, overrides: list[str]) -> None:
        before = self._overrides
        self._overrides = overrides
        try:
            self._load_check()
        except BaseException:
            self._overrides = before
            raise

    def __iter__(self) -> Iterator[str]:
        return iter(_leaves(self._resolved_cache, ""))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, key: object) -> bool:
        try:
            self[str(key)]
        except KeyError:
            return False
        return True

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __repr__(self) -> str:
        resolved = self._resolved_cache or {}
        lines = [f"<Scenario '{self.title or self.path}'"]
        time = resolved.get("time", {})
        scheme = resolved.get("coupling", {}).get("scheme", "one subsystem")
        lines[0] += f": {scheme}, step {time.get('step')} s, end {time.get('end')} s>"
        for name, section in _named(resolved.get("subsystems")):
            lines.append(f"  {name}: {section.get('solver')}")
        for name, section in _named(resolved.get("interfaces")):
            lines.append(f"  {name}: {' - '.join(map(str, section.get('between', ())))}")
        if self._overrides:
            lines.append("  changes: " + ", ".join(self._overrides))
        return "\n".join(lines)

    def __reduce__(self) -> Any:
        # Solvers are found by their names, as functions are.
        return _restore, (self._path, self._text, self._overrides)

    def _arguments(self, folder: str) -> list[str]:
        """The scenario as arguments of the program; a scenario that is no file is written to the folder."""
        path = self._path
        if self._text is not None:
            path = os.path.join(folder, "scenario.yaml")
            pathlib.Path(path).write_text(self._text)
        return [path, *(part for override in self._overrides for part in ("--set", override))]

    def export_fmu(self, path: str | os.PathLike[str], subsystem: str = "", version: int = 3) -> pathlib.Path:
        """Exports the scenario, or one subsystem of it, as a co-simulation FMU, and returns its path.

        Args:
            path: File, ``.fmu``.
            subsystem: Name of the subsystem; empty: the whole scenario, with its recorded channels as outputs.
            version: Version of FMI, 2 or 3.
        """
        from . import program

        options = ["--fmi", str(version), *(["--subsystem", subsystem] if subsystem else [])]
        with tempfile.TemporaryDirectory(prefix="yoke-") as folder:
            program.call("fmu", "export", *self._arguments(folder), *options, "-o", fspath(path))
        return pathlib.Path(path)

    # Work

    def run(
        self,
        output: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
        *,
        progress: bool | Callable[[float], object] | None = None,
        frames: int | None = None,
        threads: int = 0,
        try_remedies: bool = False,
    ) -> Results:
        """Runs the scenario from start to end.

        An interrupt (Ctrl-C) stops the run and returns the results so far, with ``results.complete`` False.

        Args:
            output: Files to write as well, ``.h5`` or ``.csv``.
            progress: Show a progress bar (default: on a terminal and in notebooks), or a function that receives the
                finished fraction.
            frames: Number of frames for the 3D view (default: `record.frames` of the scenario; 0: none).
            threads: Number of threads of the solvers (0: one per core).
            try_remedies: Verify the remedies of serious findings by runs, as `yoke run` does.

        Raises:
            RunError: The run failed; ``error.results`` are the results up to the failure.
            Exception: An exception of a solver in Python, unchanged, with the time and the subsystem added.
        """
        from .run import run

        return run(self, output, progress, frames, threads, try_remedies)

    def start(self, threads: int = 0) -> Simulation:
        """Starts a simulation that is advanced step by step."""
        from .simulation import Simulation

        return Simulation(self, threads)


def load(source: str | os.PathLike[str] | Mapping[str, Any], changes: Mapping[str, Any] | None = None) -> Scenario:
    """Loads a scenario.

    Args:
        source: Name of a model of the library (``"crank-damper"``), path of a YAML file, YAML text with at least two lines, or a
            dict with the keys of a scenario.
        changes: Values to set over those of the source: ``{"coupling.scheme": "tight"}``.

    Raises:
        ScenarioError: The scenario is invalid; the error has the file, line, column and key.
    """
    from .subsystem import registered, take_solvers

    path, content = "<dict>", None
    solvers: list[Any] = []
    if isinstance(source, Mapping):
        values, solvers = take_solvers(source)
        content = yaml.dump(values)
    elif isinstance(source, str) and "\n" in source.strip("\n"):
        path, content = "<text>", source
    else:
        path = library.find(fspath(source))
    return Scenario(path, content, _overrides(changes or {}), [*registered(), *solvers])


def _restore(path: str, content: str | None, overrides: list[str]) -> Scenario:
    from .subsystem import registered

    return Scenario(path, content, overrides, registered())


def _overrides(changes: Mapping[str, Any]) -> list[str]:
    found = []
    for key, value in changes.items():
        if not isinstance(key, str):
            raise TypeError(f"a key is a text such as 'coupling.scheme', not {type(key).__name__}")
        if "=" in key or "\n" in key:
            raise KeyError(f"'{key}' is no key of a scenario")
        found.append(f"{key}={yaml.scalar(yaml.plain(value))}")
    return found


def _parse(context: Context, content: str) -> dict[str, Any]:
    return _source(context, Definition("<text>", content, (), ()))


def _source(context: Context, definition: Definition) -> dict[str, Any]:
    diagnostics = Diagnostics(context)
    pointer = ffi.new("char **")
    status = lib.yk_scenario_source_json(context.pointer, definition.pointer, diagnostics.pointer, pointer)
    if status < 0:
        diagnostics.fail(status)
    found: dict[str, Any] = json.loads(take_text(context, pointer[0]))
    return found


def _steps(key: str) -> list[str | int]:
    """"interfaces[0].joint" as steps."""
    if not isinstance(key, str):
        raise TypeError(f"a key is a text such as 'coupling.scheme', not {type(key).__name__}")
    steps: list[str | int] = []
    for part in key.split("."):
        name, *indices = part.split("[")
        if name:
            steps.append(name)
        for index in indices:
            if not index.endswith("]") or not index[:-1].isdigit():
                raise KeyError(f"'{key}' is no key of a scenario")
            steps.append(int(index[:-1]))
    return steps


def _descend(found: Any, step: str | int, key: str, walked: str) -> Any:
    if isinstance(found, dict):
        if step in found:
            return found[step]
        names = [str(name) for name in found]
    elif isinstance(found, list):
        if isinstance(step, int) and step < len(found):
            return found[step]
        for item in found:
            if isinstance(item, dict) and item.get("name") == step:
                return item
        names = [str(item.get("name")) for item in found if isinstance(item, dict)]
    else:
        names = []
    place = f" in '{walked}'" if walked else ""
    raise KeyError(f"{key}: there is no '{step}'{place}{nearest(str(step), names)}")


def _leaves(node: Any, path: str) -> Iterator[str]:
    if isinstance(node, dict):
        for key, item in node.items():
            yield from _leaves(item, f"{path}.{key}" if path else key)
    elif isinstance(node, list) and any(isinstance(item, dict) for item in node):
        for index, item in enumerate(node):
            name = item.get("name") if isinstance(item, dict) else None
            yield from _leaves(item, f"{path}.{name}" if name else f"{path}[{index}]")
    else:
        yield path


def _named(section: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(section, dict):
        yield from ((name, item) for name, item in section.items() if isinstance(item, dict))
    elif isinstance(section, list):
        yield from ((str(item.get("name")), item) for item in section if isinstance(item, dict))


__all__ = ["Scenario", "load"]
