"""Analyses of scenarios: checks, stability, convergence, advice, sweeps, error bars, modes, comparisons."""

from __future__ import annotations

import csv
import math
import os
import tempfile
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from . import program, yaml
from ._core import Context, Diagnostics, encode, enum_words, strings, text
from ._native import ffi, lib
from .errors import Error
from .results import Record, Results, _axes, optional
from .run import Progress, record_run
from .scenario import Loaded, Scenario, load
from .verdict import Verdict

Array = npt.NDArray[np.float64]
ScenarioLike = Any  # A Scenario, or what yoke.load() takes.

_VERDICTS = enum_words("yk_verdict", "YK_VERDICT_")
_OUTCOMES = enum_words("yk_run_outcome", "YK_OUTCOME_")
_ADVICE = enum_words("yk_advice_outcome", "YK_ADVICE_")
_REFERENCES = enum_words("yk_reference", "YK_REFERENCE_")
_ACCURACIES = enum_words("yk_accuracy", "YK_ACCURACY_")


def _scenario(source: ScenarioLike) -> Scenario:
    return source if isinstance(source, Scenario) else load(source)


class _Work:
    """Context, diagnostics and progress of an analysis that loads the scenario itself."""

    def __init__(self, scenario: Scenario, progress: bool | Callable[[float], object] | None) -> None:
        self.context = Context()
        self.definition = scenario._definition(self.context)
        self.diagnostics = Diagnostics(self.context)
        self.bar = Progress(progress)

    def run(self, function: Callable[..., int], *arguments: Any) -> int:
        """Calls a function of the library; a KeyboardInterrupt is raised after it has stopped."""
        try:
            with self.context:
                status = function(self.context.pointer, *arguments)
        finally:
            self.bar.end()
        if status < 0:
            if lib.yk_diagnostics_error_count(self.diagnostics.pointer) > 0:
                self.diagnostics.fail(status)
            self.context.fail(status)
        return status


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


# Checks


def check(scenario: ScenarioLike) -> Verdict:
    """Checks a scenario before a run: mass ratios and loops at its interfaces.

    Returns:
        The findings; ``verdict.trustworthy`` is False if the scheme is unstable for the scenario.
    """
    loaded = Loaded(_scenario(scenario))
    system = loaded.system()
    report = ffi.new("yk_run_report *")
    with loaded.context as context:
        context.check(lib.yk_system_initialize(system))
        context.check(lib.yk_check_coupling_limits(context.pointer, loaded.pointer, report))
    return Verdict.from_report(report, loaded.names("interfaces"), True)


# Stability


@dataclass(frozen=True)
class Mode:
    """A deviation that each macro step multiplies by a factor.

    Attributes:
        eigenvalue: The factor (complex).
        growth: Its modulus.
        error: Estimated error of the modulus.
        rate: Growth (1/s).
        frequency: Frequency (Hz).
        interface: Interface that does most work on it; empty if none.
        subsystem: Subsystem that moves most; empty if unknown.
        bodies: Bodies or ports that move most.
    """

    eigenvalue: complex
    growth: float
    error: float
    rate: float
    frequency: float
    interface: str
    subsystem: str
    bodies: str


@dataclass(frozen=True)
class Stability:
    """Result of :func:`stability`.

    Attributes:
        verdict: ``"stable"``, ``"unstable_motion"``, ``"unstable_coupling"``, ``"coupling_breakdown"``, ``"unstable_solver"`` or
            ``"undecided"``.
        time: Time of the state (s).
        radius: Spectral radius of the macro step; infinite if the run broke down.
        radius_error: Its error.
        coupling_growth: Growth per macro step that the coupling or a solver causes; NaN if undecided.
        stable_step: Longest step (s) that was tried and is stable; NaN if none.
        remedy: Values to set that were found to be stable; empty if none was looked for or found.
        reason: Why the verdict is undecided.
        modes: The fastest growing modes.
    """

    verdict: str
    time: float
    radius: float
    radius_error: float
    coupling_growth: float
    stable_step: float
    remedy: Mapping[str, str]
    reason: str
    modes: tuple[Mode, ...] = field(repr=False)

    @property
    def stable(self) -> bool:
        return self.verdict in ("stable", "unstable_motion")

    def __repr__(self) -> str:
        lines = [f"{self.verdict.upper().replace('_', ' ')}: spectral radius {self.radius:.12g} +- {self.radius_error:.2g} at t = {self.time:g} s"]
        if self.reason:
            lines.append(f"  {self.reason}")
        for mode in self.modes:
            lines.append(f"  growth {mode.growth:.9g} per step, {mode.frequency:.4g} Hz, {mode.bodies or mode.subsystem}")
        if self.remedy:
            lines.append("  fix: set " + ", ".join(f"{key} = {value}" for key, value in self.remedy.items()))
        return "\n".join(lines)

    def plot(self, axes: Any = None) -> Any:
        """Plots the eigenvalues of the macro step with the unit circle. Needs matplotlib. Returns the axes."""
        axes = _axes(axes)
        angle = np.linspace(0, 2 * np.pi, 361)
        axes.plot(np.cos(angle), np.sin(angle), color="0.6", linewidth=1)
        values = np.array([value for mode in self.modes for value in (mode.eigenvalue, mode.eigenvalue.conjugate())])
        axes.plot(values.real, values.imag, "x")
        axes.set_aspect("equal")
        axes.set_xlabel("real part")
        axes.set_ylabel("imaginary part")
        return axes


def stability(
    scenario: ScenarioLike,
    time: float | None = None,
    *,
    samples: int = 1,
    find_remedies: bool = False,
    cpu_time: float = 60.0,
    progress: bool | Callable[[float], object] | None = None,
) -> Stability:
    """Linear stability of the macro step about states of a run.

    Args:
        scenario: A scenario, or what :func:`yoke.load` takes.
        time: Time of the state (s); by default soon after the start.
        samples: Number of states along the run, 1 to 3, if no time is given.
        find_remedies: Look for a scheme and a step that are stable.
        cpu_time: Limit of the processor time (s), about.
        progress: As in :meth:`Scenario.run`.
    """
    loaded = Loaded(_scenario(scenario))
    bar = Progress(progress)
    options = ffi.new("yk_stability_options *", lib.yk_stability_options_default())
    options.time = math.nan if time is None else time
    options.sample_count = samples
    options.find_remedies = find_remedies
    options.cpu_time_budget = cpu_time
    options.progress = lib.yoke_py_text_progress
    options.user = bar.handle
    report = ffi.new("yk_stability_report *")
    try:
        with loaded.context as context:
            context.check(lib.yk_analyze_stability(context.pointer, loaded.pointer, options, report))
    finally:
        bar.end()
    interfaces, subsystems = loaded.names("interfaces"), loaded.names("subsystems")

    def name(names: Sequence[str], identifier: Any) -> str:
        index = int(identifier.index)
        return names[index] if 0 <= index < len(names) else ""

    modes = tuple(
        Mode(
            complex(m.real, m.imaginary),
            m.growth,
            m.error,
            m.rate,
            m.frequency,
            name(interfaces, m.interface),
            name(subsystems, m.subsystem),
            text(m.moving_bodies),
        )
        for m in (report.modes[i] for i in range(report.mode_count))
    )
    remedy = dict(part.partition("=")[::2] for part in text(report.remedy).split())
    return Stability(
        _VERDICTS[report.verdict],
        report.time,
        report.spectral_radius,
        report.spectral_radius_error,
        report.coupling_growth,
        report.stable_step,
        remedy,
        text(report.reason),
        modes,
    )


# Convergence


@dataclass(frozen=True)
class ConvergenceRow:
    """One run of :func:`convergence`.

    Attributes:
        variant: Name of the variant.
        step: Macro step (s).
        error: Error relative to the reference, of the worst channel.
        order: Observed order; NaN if there is none.
        calls: Calls of all subsystems.
        wall_time: Time on the clock (s).
        outcome: ``"ok"``, ``"not_converged"``, ``"unstable"`` or ``"failed"``.
        message: Why the outcome is not ``"ok"``.
    """

    variant: str
    step: float
    error: float
    order: float
    calls: int
    wall_time: float
    outcome: str
    message: str


class Convergence(Sequence[ConvergenceRow]):
    """Result of :func:`convergence`: the rows of all variants and steps.

    Attributes:
        reference: What the runs were compared with.
        reference_error: Error of the reference itself.
    """

    def __init__(self, rows: Sequence[ConvergenceRow], reference: str, reference_error: float) -> None:
        self._rows = tuple(rows)
        self.reference = reference
        self.reference_error = reference_error

    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        rows = [("variant", "step s", "error", "order", "calls", "outcome")]
        for row in self._rows:
            order = f"{row.order:.2f}" if math.isfinite(row.order) else "-"
            rows.append((row.variant, f"{row.step:.3g}", f"{row.error:.3g}", order, str(row.calls), row.outcome))
        return f"{_table(rows)}\nreference: {self.reference}, error {self.reference_error:.2g}"

    def plot(self, axes: Any = None) -> Any:
        """Plots the errors over the steps, both logarithmic. Needs matplotlib. Returns the axes."""
        axes = _axes(axes)
        for variant in dict.fromkeys(row.variant for row in self._rows):
            rows = [row for row in self._rows if row.variant == variant and math.isfinite(row.error)]
            axes.loglog([row.step for row in rows], [row.error for row in rows], "o-", label=variant)
        axes.set_xlabel("macro step [s]")
        axes.set_ylabel("relative error")
        axes.legend()
        return axes


def convergence(
    scenario: ScenarioLike,
    steps: Sequence[float],
    variants: Sequence[str] | Mapping[str, Mapping[str, Any]] = (),
    *,
    channels: Sequence[str] = (),
    exact: str = "",
    reference: str = "auto",
    threads: int = 0,
    progress: bool | Callable[[float], object] | None = None,
) -> Convergence:
    """Errors and orders over macro steps and variants.

    Args:
        scenario: A scenario, or what :func:`yoke.load` takes.
        steps: Macro steps (s), descending, each a whole fraction of the first.
        variants: Names of schemes, or changes by name: ``{"tight, 2 iterations": {"coupling.scheme": "tight", ...}}``.
        channels: Channels to compare (default: position and velocity of all interfaces).
        exact: Exact solution of the one channel, an expression of ``t`` and the parameters.
        reference: ``"auto"``, ``"monolithic"`` or ``"finest"``.
        threads: Number of runs at the same time (0: one per core).
        progress: As in :meth:`Scenario.run`.
    """
    if not isinstance(variants, Mapping):
        variants = {name: {"coupling.scheme": name} for name in variants}
    variants = variants or {"as it is": {}}
    work = _Work(_scenario(scenario), progress)
    options = ffi.new("yk_convergence_options *", lib.yk_convergence_options_default())
    options.scenario = work.definition.pointer[0]
    array = ffi.new("yk_variant[]", len(variants))
    keep: list[Any] = []
    for place, (name, changes) in zip(array, variants.items()):
        own = ffi.new("char[]", encode(name))
        overrides, texts = strings([f"{key}={yaml.scalar(yaml.plain(value))}" for key, value in changes.items()])
        keep += [own, overrides, texts]
        place.name, place.overrides, place.override_count = own, overrides, len(changes)
    options.variants, options.variant_count = array, len(variants)
    numbers = ffi.new("double[]", [float(step) for step in steps])
    options.steps, options.step_count = numbers, len(steps)
    names, texts = strings(list(channels))
    options.channels, options.channel_count = names, len(channels)
    expression = ffi.new("char[]", encode(exact))
    if exact:
        options.exact_expression = expression
    words = {word: value for value, word in _REFERENCES.items()}
    if reference not in words:
        raise ValueError(f"the reference is one of {', '.join(words)}, not '{reference}'")
    options.reference = words[reference]
    options.jobs = threads
    options.progress = lib.yoke_py_count_progress
    options.user = work.bar.handle
    rows = ffi.new("yk_convergence_row[]", len(variants) * len(steps))
    report = ffi.new("yk_convergence_report *")
    work.run(lib.yk_study_convergence, options, work.diagnostics.pointer, rows, report)
    labels = list(variants)
    found = [
        ConvergenceRow(
            labels[row.variant], row.step, row.error, row.order, row.call_count, row.wall_time, _OUTCOMES[row.outcome], text(row.message)
        )
        for row in rows
    ]
    return Convergence(found, _REFERENCES[report.reference] if not exact else "exact", report.reference_error)


# Advice


@dataclass(frozen=True)
class AdviceRow:
    """One scheme that :func:`advise` tried.

    Attributes:
        name: Name of the variant.
        changes: Values to set.
        outcome: ``"accepted"``, ``"inaccurate"``, ``"unstable"``, ``"failed"`` or ``"not_tried"``.
        step: Coarsest macro step that meets the tolerance, or the last one tried (s).
        error: Error of the worst channel.
        wall_time: Estimated time of the whole run (s).
        message: Why not, or what to know.
    """

    name: str
    changes: Mapping[str, str]
    outcome: str
    step: float
    error: float
    wall_time: float
    message: str


class Advice(Sequence[AdviceRow]):
    """Result of :func:`advise`: the schemes, the best first.

    Attributes:
        best: The recommended row, or None.
        changes: Values of the recommendation: ``scenario.update(advice.changes)``.
        reference: What the schemes were compared with.
        verified_until: Time (s) up to which the recommendation meets the tolerance.
    """

    def __init__(self, rows: Sequence[AdviceRow], best: int, changes: Mapping[str, str], reference: str, verified_until: float) -> None:
        self._rows = tuple(rows)
        self.best = self._rows[best] if best >= 0 else None
        self.changes = dict(changes)
        self.reference = reference
        self.verified_until = verified_until

    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        rows = [("scheme", "step s", "error", "run time s", "outcome")]
        for row in self._rows:
            mark = "* " if row is self.best else "  "
            error = "-" if not math.isfinite(row.error) else "> 1000 %" if row.error > 10 else f"{100 * row.error:.2f} %"
            rows.append((mark + row.name, f"{row.step:.2g}", error, f"{row.wall_time:.3g}" if row.wall_time > 0 else "-", row.outcome))
        changes = ", ".join(f"{key} = {value}" for key, value in self.changes.items())
        return f"{_table(rows)}\n" + (f"set {changes}" if self.best else "no scheme meets the tolerance")

    def plot(self, axes: Any = None) -> Any:
        """Plots error over run time of all schemes that ran. Needs matplotlib. Returns the axes."""
        axes = _axes(axes)
        for row in self._rows:
            if math.isfinite(row.error) and row.wall_time > 0:
                axes.loglog(row.wall_time, max(row.error, 1e-16), "o" if row is not self.best else "*", label=row.name)
        axes.set_xlabel("run time [s]")
        axes.set_ylabel("relative error")
        axes.legend()
        return axes


def advise(
    scenario: ScenarioLike,
    tolerance: float = 0.01,
    *,
    duration: float | None = None,
    cpu_time: float | None = None,
    channels: Sequence[str] = (),
    threads: int = 0,
    progress: bool | Callable[[float], object] | None = None,
) -> Advice:
    """Finds the cheapest scheme and macro step that meet a tolerance.

    Args:
        scenario: A scenario, or what :func:`yoke.load` takes.
        tolerance: Relative error of the worst channel.
        duration: Simulated time from the start on which schemes are compared (s); by default as long as the time allows.
        cpu_time: Approximate limit of the processor time per thread (s); by default about ten runs of the scenario in total, but at
            least 5 s in total and at most 60 s per thread.
        channels: Channels to compare (default: motions of all interfaces, and what is recorded).
        threads: Number of schemes that are tried at the same time (0: one per core).
        progress: As in :meth:`Scenario.run`.
    """
    work = _Work(_scenario(scenario), progress)
    options = ffi.new("yk_advice_options *", lib.yk_advice_options_default())
    options.scenario = work.definition.pointer[0]
    options.tolerance = tolerance
    options.duration = math.nan if duration is None else duration
    options.cpu_time_budget = math.nan if cpu_time is None else cpu_time
    names, keep = strings(list(channels))
    options.channels, options.channel_count = names, len(channels)
    options.jobs = threads
    options.progress = lib.yoke_py_count_progress
    options.user = work.bar.handle
    report = ffi.new("yk_advice_report *")
    work.run(lib.yk_advise, options, work.diagnostics.pointer, report)

    def changes(thing: Any) -> dict[str, str]:
        return dict(text(thing.overrides[i]).partition("=")[::2] for i in range(thing.override_count))

    rows = [
        AdviceRow(text(r.name), changes(r), _ADVICE[r.outcome], r.step, r.error, r.wall_time, text(r.message))
        for r in (report.rows[i] for i in range(report.count))
    ]
    return Advice(rows, report.best_row, changes(report), text(report.reference), report.verified_until)


# Sweeps


class Sweep:
    """Result of :func:`sweep`.

    Attributes:
        axes: Values of each key that was varied.
        measures: Names of the measures.
        units: Units of the axes and the measures.
        values: Array with one dimension per axis and the measures last; NaN where a run failed.
    """

    def __init__(self, axes: Mapping[str, Sequence[Any]], measures: Sequence[str], units: Mapping[str, str], values: Array) -> None:
        self.axes = {key: tuple(values) for key, values in axes.items()}
        self.measures = tuple(measures)
        self.units = dict(units)
        self.values = values

    def __getitem__(self, measure: str) -> Array:
        """The values of one measure."""
        if measure not in self.measures:
            raise KeyError(f"'{measure}' was not measured, only {', '.join(self.measures)}")
        return self.values[..., self.measures.index(measure)]

    def __repr__(self) -> str:
        header = (*(_labelled(key, self.units) for key in self.axes), *(_labelled(m, self.units) for m in self.measures))
        rows: list[Sequence[str]] = [header]
        points = list(np.ndindex(*self.values.shape[:-1]))
        for index in points[:50]:
            values = [values[i] for values, i in zip(self.axes.values(), index)]
            cells = [f"{value:.6g}" if isinstance(value, float) else str(value) for value in values]
            rows.append([*cells, *(f"{value:.6g}" for value in self.values[index])])
        return _table(rows) + ("\n..." if len(points) > 50 else "")

    def to_pandas(self) -> Any:
        """A pandas DataFrame with a row per run. Needs pandas."""
        pandas = optional("pandas")
        index = pandas.MultiIndex.from_product(self.axes.values(), names=list(self.axes))
        return pandas.DataFrame(self.values.reshape(-1, len(self.measures)), index, columns=list(self.measures))

    def plot(self, axes: Any = None) -> Any:
        """Plots the first measure over one key as a line, over two as a map. Needs matplotlib. Returns the axes."""
        axes = _axes(axes)
        keys = list(self.axes)
        values = self.values[..., 0]
        if len(keys) == 1:
            axes.plot(self.axes[keys[0]], values, "o-")
            axes.set_ylabel(_labelled(self.measures[0], self.units))
        elif len(keys) == 2:
            mesh = axes.pcolormesh(self.axes[keys[0]], self.axes[keys[1]], values.T, shading="nearest")
            axes.figure.colorbar(mesh, ax=axes, label=_labelled(self.measures[0], self.units))
            axes.set_ylabel(_labelled(keys[1], self.units))
        else:
            raise ValueError(f"a sweep over {len(keys)} keys has no plot; select values with sweep[measure]")
        axes.set_xlabel(_labelled(keys[0], self.units))
        return axes


def _labelled(name: str, units: Mapping[str, str]) -> str:
    unit = units.get(name, "")
    return f"{name} [{unit}]" if unit not in ("", "1") else name


def sweep(
    scenario: ScenarioLike,
    axes: Mapping[str, Sequence[Any]],
    measure: str | Sequence[str],
    *,
    threads: int = 0,
    journal: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[float], object] | None = None,
) -> Sweep:
    """Runs all combinations of values and measures each run.

    Args:
        scenario: A scenario, or what :func:`yoke.load` takes.
        axes: Values by key: ``{"parameters.count": range(0, 300, 50)}``.
        measure: ``"rms(tip.position.y)"``, also mean, deviation, min, max, peak, amplitude, final, frequency, each with times
            (s) as second and third argument; ``line(channel, frequency)``; ``"radius"`` or ``"coupling"`` of the stability.
            Several measures as a list.
        threads: Number of runs at the same time (0: one per core).
        journal: File that keeps finished runs, so that a sweep can be continued.
        progress: As in :meth:`Scenario.run`.
    """
    measures = [measure] if isinstance(measure, str) else list(measure)
    lists = {key: list(values) for key, values in axes.items()}
    if not lists or not all(lists.values()):
        raise ValueError("a sweep needs at least one key, and at least one value of each")
    work = _Work(_scenario(scenario), progress)
    options = ffi.new("yk_sweep_options *")
    options.scenario = work.definition.pointer[0]
    array = ffi.new("yk_sweep_axis[]", max(len(lists), 1))
    keep: list[Any] = []
    for place, (key, values) in zip(array, lists.items()):
        name = ffi.new("char[]", encode(key))
        pointers, texts = strings([yaml.scalar(yaml.plain(value)) for value in values])
        keep += [name, pointers, texts]
        place.path, place.values, place.count = name, pointers, len(values)
    options.axes, options.axis_count = array, len(lists)
    pointers, texts = strings(measures)
    options.measures, options.measure_count = pointers, len(measures)
    options.jobs = threads
    if journal is not None:
        file = ffi.new("char[]", encode(os.fspath(journal)))
        keep.append(file)
        options.journal = file
    units = ffi.new("char[][32]", len(lists) + len(measures))
    options.units = units
    options.progress = lib.yoke_py_count_progress
    options.user = work.bar.handle
    count = lib.yk_sweep_run_count(options)
    if count <= 0:
        raise ValueError("the sweep has too many combinations")
    found = np.full(count * len(measures), np.nan)
    work.run(lib.yk_sweep, options, work.diagnostics.pointer, ffi.from_buffer("double[]", found))
    words = {name: text(units[i]) for i, name in enumerate([*lists, *measures])}
    shape = [len(values) for values in lists.values()]
    return Sweep(lists, measures, words, found.reshape(*shape, len(measures)))


# Error bars


@dataclass(frozen=True)
class ChannelError:
    """Estimated error of a channel.

    Attributes:
        name: Name of the channel.
        unit: Its unit.
        accuracy: How the error was found, such as ``"measured_order"`` or ``"unpredictable"``.
        maximum: Largest error bar, in the unit of the channel.
        relative: Error relative to the range of the channel.
        order: Observed order; NaN if there is none.
        predictable_until: Time (s) from which the channel is not predictable; infinity if it is.
    """

    name: str
    unit: str
    accuracy: str
    maximum: float
    relative: float
    order: float
    predictable_until: float


@dataclass(frozen=True)
class ErrorBars:
    """Result of :func:`error_bars`.

    Attributes:
        results: The run, with ``channel.error`` on every channel.
        channels: Errors by channel.
        error: Error of the worst channel that counts; infinite if unknown.
        summary: The same in words.
    """

    results: Results
    channels: Mapping[str, ChannelError]
    error: float
    summary: str

    def __repr__(self) -> str:
        rows = [("channel", "error bar", "unit", "% of range", "order")]
        for c in sorted(self.channels.values(), key=lambda c: -c.relative if math.isfinite(c.relative) else 0):
            order = f"{c.order:.1f}" if math.isfinite(c.order) else "-"
            rows.append((c.name, f"{c.maximum:.3g}", c.unit, f"{100 * c.relative:.2g}", order))
        return f"{self.summary}\n{_table(rows)}"

    def plot(self, axes: Any = None) -> Any:
        """Plots the worst channel with its error band. Needs matplotlib. Returns the axes."""
        worst = max(self.channels.values(), key=lambda c: c.relative if math.isfinite(c.relative) else -1)
        return self.results[worst.name].plot(axes)


def error_bars(scenario: ScenarioLike, *, threads: int = 0, progress: bool | Callable[[float], object] | None = None) -> ErrorBars:
    """Runs a scenario and estimates the error of every channel, by runs with 1/2 and 1/4 of all steps (about 6 times the work).

    Args:
        scenario: A scenario, or what :func:`yoke.load` takes.
        threads: Number of runs at the same time (0: one per core).
        progress: As in :meth:`Scenario.run`.
    """
    loaded, record, verdict = record_run(_scenario(scenario))
    bar = Progress(progress)
    context = loaded.context
    options = ffi.new("yk_accuracy_options *")
    options.scenario = loaded.definition.pointer[0]
    options.loaded_scenario = loaded.pointer
    options.record = record.pointer
    options.jobs = threads
    options.progress = lib.yoke_py_fraction_progress
    options.user = bar.handle
    pointer = ffi.new("yk_accuracy_report **")
    try:
        with context:
            status = lib.yk_estimate_accuracy(context.pointer, options, pointer)
    finally:
        bar.end()
    context.check(status)
    report = pointer[0]
    if not report:
        raise Error("the estimate of the error was stopped")
    try:
        with_bars = Record.empty(context)
        with context:
            context.check(
                lib.yk_accuracy_report_write(context.pointer, record.pointer, report, lib.yk_record_recorder(with_bars.pointer))
            )
        channels = {}
        for i in range(report.channel_count):
            c = report.channels[i]
            name = text(c.name)
            channels[name] = ChannelError(
                name, text(c.unit), _ACCURACIES[c.accuracy], c.max_error, c.relative_to_range, c.order, c.predictable_until
            )
        return ErrorBars(Results(with_bars, verdict), channels, report.error, text(report.summary))
    finally:
        lib.yk_accuracy_report_destroy(context.pointer, report)


# Modes


@dataclass(frozen=True)
class VibrationMode:
    """A vibration mode.

    Attributes:
        frequency: Frequency (Hz).
        damping: Damping ratio.
        growth: Real part of the eigenvalue (1/s).
        shape: Complex displacement and rotation (ux, uy, uz, rx, ry, rz) of each node.
    """

    frequency: float
    damping: float
    growth: float
    shape: Mapping[str, npt.NDArray[np.complex128]] = field(repr=False)


class Modes(Sequence[VibrationMode]):
    """Result of :func:`modes`."""

    def __init__(self, modes: Sequence[VibrationMode]) -> None:
        self._modes = tuple(modes)

    def __getitem__(self, index: Any) -> Any:
        return self._modes[index]

    def __len__(self) -> int:
        return len(self._modes)

    @property
    def frequencies(self) -> Array:
        """Frequencies (Hz)."""
        return np.array([mode.frequency for mode in self._modes])

    def __repr__(self) -> str:
        rows = [("mode", "frequency Hz", "damping ratio")]
        rows += [(str(i), f"{m.frequency:.6g}", f"{m.damping:.4g}") for i, m in enumerate(self._modes, 1)]
        return _table(rows)

    def plot(self, axes: Any = None) -> Any:
        """Plots the frequencies of the modes. Needs matplotlib. Returns the axes."""
        axes = _axes(axes)
        axes.stem(np.arange(1, len(self) + 1), self.frequencies)
        axes.set_xlabel("mode")
        axes.set_ylabel("frequency [Hz]")
        return axes


def modes(scenario: ScenarioLike, count: int = 12) -> Modes:
    """Vibration modes of the multibody subsystem of a scenario, at the start.

    Args:
        scenario: A scenario, or what :func:`yoke.load` takes.
        count: Number of modes, from the lowest frequency on.
    """
    source = _scenario(scenario)
    with tempfile.TemporaryDirectory(prefix="yoke-") as folder:
        table = os.path.join(folder, "modes.csv")
        program.call("modes", *source._arguments(folder), "--count", str(count), "-o", table)
        with open(table, newline="") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    directions = ("ux", "uy", "uz", "rx", "ry", "rz")
    found = []
    for number in dict.fromkeys(row["mode"] for row in rows):
        own = [row for row in rows if row["mode"] == number]
        shape = {r["node"]: np.array([complex(float(r[d]), float(r[f"{d}_im"])) for d in directions]) for r in own}
        first = own[0]
        found.append(VibrationMode(float(first["frequency_Hz"]), float(first["damping"]), float(first["growth"]), shape))
    return Modes(found)


# Linear models


@dataclass(frozen=True)
class LinearMode:
    """A mode of a linear model.

    Attributes:
        eigenvalue: Eigenvalue of A (1/s, complex), with an imaginary part that is not negative.
        error: Estimated error of the eigenvalue (1/s).
        frequency: Frequency (Hz).
        damping: Damping ratio.
        free: Whether the motion has no resistance.
        uncertain: Whether the error is above 10 %.
        shape: Complex deviations of the states.
    """

    eigenvalue: complex
    error: float
    frequency: float
    damping: float
    free: bool
    uncertain: bool
    shape: Mapping[str, complex] = field(repr=False)


@dataclass(frozen=True)
class FrequencyResponse:
    """Transfer functions over the frequency.

    Attributes:
        frequencies: Frequencies (Hz).
        values: Complex values by frequency, output and input.
        outputs: Names of the outputs.
        inputs: Names of the inputs.
    """

    frequencies: Array
    values: npt.NDArray[np.complex128] = field(repr=False)
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]

    def plot(self, axes: Any = None) -> Any:
        """Plots the amplitudes over the frequency. Needs matplotlib. Returns the axes."""
        axes = _axes(axes)
        for i, output in enumerate(self.outputs):
            for k, given in enumerate(self.inputs):
                axes.loglog(self.frequencies, np.abs(self.values[:, i, k]), label=f"{output} / {given}")
        axes.set_xlabel("frequency [Hz]")
        axes.set_ylabel("amplitude")
        axes.legend()
        return axes


@dataclass(frozen=True)
class LinearModel:
    """The coupled system about a state: x' = A x + B u, y = C x + D u.

    Attributes:
        a: Matrix A.
        b: Matrix B.
        c: Matrix C.
        d: Matrix D.
        states: Names of the states.
        inputs: Names of the inputs.
        outputs: Names of the outputs.
        time: Time of the state (s).
        complete: Whether the states determine all motions.
        modes: Modes by ascending modulus.
    """

    a: Array = field(repr=False)
    b: Array = field(repr=False)
    c: Array = field(repr=False)
    d: Array = field(repr=False)
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    time: float
    complete: bool
    modes: tuple[LinearMode, ...] = field(repr=False)

    def __repr__(self) -> str:
        rows = [("mode", "frequency Hz", "damping ratio", "growth 1/s", "error 1/s")]
        rows += [
            (str(i), "free" if m.free else f"{m.frequency:.6g}", f"{m.damping:.4g}", f"{m.eigenvalue.real:.5g}", f"{m.error:.2g}")
            for i, m in enumerate(self.modes, 1)
        ]
        return f"{len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs at t = {self.time:g} s\n" + _table(rows)

    def frequency_response(self, frequencies: Sequence[float] | Array) -> FrequencyResponse:
        """The transfer functions from all inputs to all outputs.

        Args:
            frequencies: Frequencies (Hz).
        """
        points = np.asarray(frequencies, dtype=float)
        identity = np.eye(len(self.states))
        values = np.array([self.c @ np.linalg.solve(2j * np.pi * f * identity - self.a, self.b) + self.d for f in points])
        return FrequencyResponse(points, values, self.outputs, self.inputs)

    def plot(self, axes: Any = None) -> Any:
        """Plots the eigenvalues of A. Needs matplotlib. Returns the axes."""
        axes = _axes(axes)
        values = np.array([value for mode in self.modes for value in (mode.eigenvalue, mode.eigenvalue.conjugate())])
        axes.plot(values.real, values.imag, "x")
        axes.set_xlabel("real part [1/s]")
        axes.set_ylabel("imaginary part [rad/s]")
        return axes


def linearize(
    scenario: ScenarioLike,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    *,
    time: float | None = None,
    equilibrium: bool = False,
    keep_scheme: bool = False,
) -> LinearModel:
    """Linear model of the coupled system about a state, with its modes.

    Args:
        scenario: A scenario, or what :func:`yoke.load` takes.
        inputs: Components of wrenches on bodies (``"arm.crank.force.x"``) or parameters (``"parameters.goal"``).
        outputs: Channels; by default those that the scenario records.
        time: Time of the state (s); by default soon after the start.
        equilibrium: Look for a state of rest first.
        keep_scheme: Use the coupling scheme of the scenario, with its errors, instead of the most accurate one.
    """
    work = _Work(_scenario(scenario), None)
    options = ffi.new("yk_linearize_options *", lib.yk_linearize_options_default())
    options.time = math.nan if time is None else time
    options.find_equilibrium = equilibrium
    options.keep_scheme = keep_scheme
    texts = [[ffi.new("char[]", encode(name)) for name in names] for names in (inputs, outputs)]
    arrays = [ffi.new("const char *[]", own) for own in texts]
    options.inputs, options.input_count = arrays[0], len(texts[0])
    options.outputs, options.output_count = arrays[1], len(texts[1])
    pointer = ffi.new("yk_linear_model **")
    work.run(lib.yk_linearize, work.definition.pointer, work.diagnostics.pointer, options, pointer)
    model = pointer[0]
    try:
        n, m, p = model.state_count, model.input_count, model.output_count

        def matrix(values: Any, rows: int, columns: int) -> Array:
            return np.array([values[i] for i in range(rows * columns)], dtype=float).reshape(rows, columns)

        def names(variables: Any, count: int) -> tuple[str, ...]:
            return tuple(text(variables[i].name) for i in range(count))

        states = names(model.states, n)
        modes_found = tuple(
            LinearMode(
                complex(mode.real, mode.imaginary),
                mode.error,
                mode.frequency,
                mode.damping,
                mode.is_free,
                mode.is_uncertain,
                {state: complex(mode.shape_real[k], mode.shape_imaginary[k]) for k, state in enumerate(states)},
            )
            for mode in (model.modes[i] for i in range(model.mode_count))
        )
        return LinearModel(
            matrix(model.a, n, n),
            matrix(model.b, n, m),
            matrix(model.c, p, n),
            matrix(model.d, p, m),
            states,
            names(model.inputs, m),
            names(model.outputs, p),
            model.time,
            model.is_complete,
            modes_found,
        )
    finally:
        lib.yk_linear_model_destroy(model)


# Comparisons


@dataclass(frozen=True)
class Difference:
    """Difference of a channel of two results.

    Attributes:
        name: Name of the channel.
        unit: Its unit.
        maximum: Largest difference, in the unit of the channel.
        rms: Root mean square difference.
        time: Time of the largest difference (s).
        relative: Largest difference relative to the range of the channel in the first results.
    """

    name: str
    unit: str
    maximum: float
    rms: float
    time: float
    relative: float


class Comparison(Mapping[str, Difference]):
    """Result of :func:`compare`: differences by channel.

    Attributes:
        equal: No channel differs by more than the tolerance, and both results have the same channels.
        missing: Channels that only one of the results has.
    """

    def __init__(self, differences: Mapping[str, Difference], missing: Sequence[str], tolerance: float) -> None:
        self._differences = dict(differences)
        self.missing = tuple(missing)
        self.equal = not missing and all(d.relative <= tolerance for d in differences.values())

    def __getitem__(self, name: str) -> Difference:
        return self._differences[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._differences)

    def __len__(self) -> int:
        return len(self._differences)

    def __repr__(self) -> str:
        rows = [("channel", "largest difference", "rms", "unit", "at s", "% of range")]
        for d in self.values():
            rows.append((d.name, f"{d.maximum:.3g}", f"{d.rms:.3g}", d.unit, f"{d.time:.4g}", f"{100 * d.relative:.2g}"))
        return _table(rows) + "".join(f"\n{name}: only in one of the results" for name in self.missing)

    def plot(self, axes: Any = None) -> Any:
        """Plots the largest differences relative to the ranges. Needs matplotlib. Returns the axes."""
        axes = _axes(axes)
        axes.barh(list(self), [100 * d.relative for d in self.values()])
        axes.set_xlabel("largest difference [% of range]")
        return axes


def compare(a: Results, b: Results, tolerance: float = 0.0) -> Comparison:
    """Compares the channels of two results at the times of the first, interpolating the second.

    Args:
        a: Results.
        b: Other results.
        tolerance: Largest difference, relative to the range of a channel, up to which the results are equal.
    """
    differences = {}
    for name in a:
        if name not in b:
            continue
        own, other = a[name], b[name]
        if own.components != other.components or len(own) == 0 or len(other) == 0:
            continue
        inside = (own.time >= other.time[0]) & (own.time <= other.time[-1])
        time = own.time[inside]
        if len(time) == 0:
            continue
        delta = np.zeros((len(time), len(own._columns)))
        for i, (mine, yours) in enumerate(zip(own._columns, other._columns)):
            delta[:, i] = mine[inside] - np.interp(time, other.time, yours)
        worst = np.abs(delta).max(axis=1)
        at = int(worst.argmax())
        span = max(float(np.ptp(column)) for column in own._columns)
        maximum = float(worst[at])
        relative = maximum / span if span > 0 else (0.0 if maximum == 0 else math.inf)
        differences[name] = Difference(name, own.unit, maximum, float(np.sqrt((delta**2).mean())), float(time[at]), relative)
    missing = sorted({*a} ^ {*b} | ({*a} & {*b}) - {*differences})
    return Comparison(differences, missing, tolerance)


__all__ = ["advise", "check", "compare", "convergence", "error_bars", "linearize", "modes", "stability", "sweep"]
