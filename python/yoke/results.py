"""Results of runs: channels with units, findings, reports."""

from __future__ import annotations

import html
import importlib
import math
import os
import pathlib
import tempfile
import threading
from typing import Any, Iterator, Mapping, Union, overload

import numpy as np
import numpy.typing as npt

from . import program
from ._core import Context, encode, fspath, nearest, text
from ._native import ffi, lib
from .verdict import Verdict

Array = npt.NDArray[np.float64]
Index = Union[int, slice]


def optional(name: str) -> Any:
    """A package that Yoke does not need otherwise."""
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        package = name.partition(".")[0]
        raise ImportError(f"this needs the package {package}: pip install {package}") from problem


def view(pointer: Any, shape: tuple[int, ...], owner: Any, dtype: Any = np.float64) -> npt.NDArray[Any]:
    """A read-only array over memory of the library, which `owner` keeps alive."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size == 0:
        return np.zeros(shape, dtype)
    # The buffer keeps this pointer alive, and the destructor of the pointer keeps the owner alive.
    kept = ffi.gc(ffi.cast("char *", pointer), lambda _: owner)
    array = np.frombuffer(ffi.buffer(kept, size), dtype).reshape(shape)
    array.flags.writeable = False
    return array


class Channel:
    """A recorded quantity.

    A channel can be indexed by sample, ``channel[10:20]``, by time (s) with :meth:`between`, and by component:
    ``channel.x``, ``channel["x"]``.

    Attributes:
        name: Name, such as ``"tip.position"``.
        unit: Unit; empty for pure numbers.
        components: Names of the components, such as ``("x", "y", "z")``; empty for a single number.
    """

    def __init__(
        self, name: str, unit: str, components: tuple[str, ...], time: Array, columns: list[Array], errors: list[Array] | None = None
    ) -> None:
        self.name = name
        self.unit = unit
        self.components = components
        self._time = time
        self._columns = columns
        self._errors = errors
        self._stacked: Array | None = None

    @property
    def time(self) -> Array:
        """Times of the samples (s), read-only."""
        return self._time

    @property
    def value(self) -> Array:
        """Values in the unit of the channel, read-only, with one row per sample.

        A single number and a single component are a view of the record. The columns of a vector are separate in the record,
        so the array of all components is a copy, which is made once.
        """
        if len(self._columns) == 1 and len(self.components) < 2:
            return self._columns[0]
        if self._stacked is None:
            self._stacked = np.column_stack(self._columns)
            self._stacked.flags.writeable = False
        return self._stacked

    @property
    def error(self) -> Array | None:
        """Estimated error of each value, in the unit of the channel; None if it was not estimated."""
        if self._errors is None:
            return None
        if len(self._errors) == 1 and len(self.components) < 2:
            return self._errors[0]
        return np.column_stack(self._errors)

    def __len__(self) -> int:
        return len(self._time)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.asarray(self.value, dtype)

    def __getattr__(self, name: str) -> Channel:
        if not name.startswith("_") and name in self.components:
            return self[name]
        raise AttributeError(f"channel '{self.name}' has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.components]

    @overload
    def __getitem__(self, key: str) -> Channel: ...

    @overload
    def __getitem__(self, key: slice) -> Channel: ...

    @overload
    def __getitem__(self, key: int) -> Any: ...

    def __getitem__(self, key: str | Index) -> Any:
        if isinstance(key, str):
            if key not in self.components:
                raise KeyError(f"channel '{self.name}' has no component '{key}', only {', '.join(self.components) or 'one'}")
            index = self.components.index(key)
            errors = None if self._errors is None else [self._errors[index]]
            return Channel(f"{self.name}.{key}", self.unit, (), self._time, [self._columns[index]], errors)
        if isinstance(key, slice):
            columns = [column[key] for column in self._columns]
            errors = None if self._errors is None else [column[key] for column in self._errors]
            return Channel(self.name, self.unit, self.components, self._time[key], columns, errors)
        return self.value[key]

    def between(self, start: float = -math.inf, end: float = math.inf) -> Channel:
        """The samples from `start` to `end` (s), both included."""
        rounding = 1e-9 * float(self._time[-1] - self._time[0]) if len(self) else 0.0
        first = int(np.searchsorted(self._time, start - rounding, "left"))
        return self[first : int(np.searchsorted(self._time, end + rounding, "right"))]

    def at(self, time: float) -> Any:
        """The value at a time (s), interpolated linearly; NaN outside the samples."""
        found = [float(np.interp(time, self._time, column, np.nan, np.nan)) for column in self._columns]
        return found[0] if len(self.components) < 2 else np.array(found)

    def __repr__(self) -> str:
        shape = f"{len(self)} samples"
        if len(self) > 0:
            shape += f", {self._time[0]:g} to {self._time[-1]:g} s"
        components = f" ({', '.join(self.components)})" if self.components else ""
        low_high = ""
        finite = [column[np.isfinite(column)] for column in self._columns]
        if any(len(column) for column in finite):
            low = min(float(column.min()) for column in finite if len(column))
            high = max(float(column.max()) for column in finite if len(column))
            low_high = f", {low:.6g} to {high:.6g} {self.unit}".rstrip()
        return f"<Channel {self.name}{components}: {shape}{low_high}>"

    def to_pandas(self) -> Any:
        """A pandas Series, or a DataFrame with a column per component, over the time (s). Needs pandas."""
        pandas = optional("pandas")
        index = pandas.Index(np.asarray(self._time), name="time [s]")
        if len(self.components) < 2:
            return pandas.Series(np.asarray(self._columns[0]), index, name=self.name)
        return pandas.DataFrame({name: np.asarray(column) for name, column in zip(self.components, self._columns)}, index)

    def to_xarray(self) -> Any:
        """An xarray DataArray with units. Needs xarray."""
        xarray = optional("xarray")
        time = ("time", np.asarray(self._time), {"units": "s"})
        attributes = {"units": self.unit}
        if len(self.components) < 2:
            return xarray.DataArray(np.asarray(self._columns[0]), {"time": time}, ("time",), self.name, attributes)
        coordinates = {"time": time, "component": list(self.components)}
        return xarray.DataArray(np.asarray(self.value), coordinates, ("time", "component"), self.name, attributes)

    def spectrum(self) -> Spectrum:
        """Amplitudes over the frequency (Hz), of the values less their mean, under a Hann window.

        The samples must have equal distances.
        """
        if len(self) < 4:
            raise ValueError(f"channel '{self.name}' has {len(self)} samples; a spectrum needs at least 4")
        steps = np.diff(self._time)
        step = float(steps.mean())
        if float(np.abs(steps - step).max()) > 1e-6 * step:
            raise ValueError(f"the samples of '{self.name}' have different distances in time; a spectrum needs equal ones")
        window = np.hanning(len(self) + 1)[:-1]
        frequency = np.fft.rfftfreq(len(self), step)
        scale = 2 / window.sum()
        amplitude = [scale * np.abs(np.fft.rfft((c - c.mean()) * window)) for c in self._columns]
        return Spectrum(self.name, self.unit, self.components, frequency, amplitude)

    def plot(self, axes: Any = None, **options: Any) -> Any:
        """Plots the values over the time, with units on the axes and the error band if it is known. Needs matplotlib.

        Args:
            axes: matplotlib axes; a new figure if None.
            options: Passed to `axes.plot`.

        Returns:
            The axes.
        """
        axes = _axes(axes)
        errors = self._errors or [None] * len(self._columns)  # type: ignore[list-item]
        for label, column, error in zip(self.components or (self.name,), self._columns, errors):
            (line,) = axes.plot(self._time, column, **{"label": label, **options})
            if error is not None:
                axes.fill_between(self._time, column - error, column + error, color=line.get_color(), alpha=0.25, linewidth=0)
        axes.set_xlabel("time [s]")
        axes.set_ylabel(f"{self.name} [{self.unit}]" if self.unit not in ("", "1") else self.name)
        if len(self.components) > 1:
            axes.legend()
        return axes


class Spectrum:
    """Amplitudes of a channel over the frequency.

    Attributes:
        name: Name of the channel.
        unit: Unit of the amplitudes.
        components: Names of the components; empty for a single number.
        frequency: Frequencies (Hz).
        amplitude: Amplitudes, with one row per frequency.
    """

    def __init__(self, name: str, unit: str, components: tuple[str, ...], frequency: Array, columns: list[Array]) -> None:
        self.name = name
        self.unit = unit
        self.components = components
        self.frequency = frequency
        self.amplitude: Array = columns[0] if len(components) < 2 else np.column_stack(columns)

    @property
    def peak(self) -> float:
        """Frequency of the largest amplitude (Hz), between the bins of the spectrum by a parabola."""
        amplitude = self.amplitude if self.amplitude.ndim == 1 else self.amplitude.max(axis=1)
        index = int(amplitude.argmax())
        step = float(self.frequency[1])
        if not 0 < index < len(amplitude) - 1:
            return float(self.frequency[index])
        left, middle, right = np.log(np.maximum(amplitude[index - 1 : index + 2], 1e-300))
        curvature = left - 2 * middle + right
        return float(self.frequency[index]) + (0.5 * step * float((left - right) / curvature) if curvature < 0 else 0.0)

    def __repr__(self) -> str:
        return f"<Spectrum {self.name}: peak at {self.peak:.4g} Hz>"

    def plot(self, axes: Any = None, **options: Any) -> Any:
        """Plots the amplitudes on a logarithmic axis. Needs matplotlib. Returns the axes."""
        axes = _axes(axes)
        columns = self.amplitude.reshape(len(self.frequency), -1).T
        for label, column in zip(self.components or (self.name,), columns):
            axes.semilogy(self.frequency[1:], column[1:], **{"label": label, **options})
        axes.set_xlabel("frequency [Hz]")
        axes.set_ylabel(f"{self.name} [{self.unit}]")
        if len(self.components) > 1:
            axes.legend()
        return axes


def _axes(axes: Any) -> Any:
    if axes is not None:
        return axes
    return optional("matplotlib.pyplot").subplots()[1]


_DEFAULT_LABELS = {3: ("x", "y", "z"), 4: ("w", "x", "y", "z")}


class Record:
    """A record of the library. Views of its columns keep it alive.

    Columns of a results file are read when they are first asked for.
    """

    def __init__(self, context: Context, pointer: Any) -> None:
        self.context = context
        self.pointer = context.own(pointer, lib.yk_record_destroy)
        self.lock = threading.Lock()

    @classmethod
    def open(cls, path: str) -> Record:
        context = Context()
        pointer = ffi.new("yk_record **")
        with context:
            context.check(lib.yk_record_open(context.pointer, encode(path), pointer))
        return cls(context, pointer[0])

    @classmethod
    def empty(cls, context: Context) -> Record:
        pointer = ffi.new("yk_record **")
        context.check(lib.yk_record_create(context.pointer, pointer))
        return cls(context, pointer[0])

    def rows(self) -> int:
        return int(lib.yk_record_row_count(self.pointer))

    def times(self) -> Array:
        return self._view(lib.yk_record_times)

    def column(self, channel: int, component: int) -> Array:
        return self._view(lib.yk_record_column, channel, component)

    def _view(self, function: Any, *arguments: int) -> Array:
        with self.lock:
            pointer = function(self.pointer, *arguments)
            if not pointer and self.rows() > 0:
                self.context.check(lib.yk_last_status(self.context.pointer))
        return view(pointer, (self.rows(),), self)


class Results(Mapping[str, Channel]):
    """The results of a run: a mapping from names of channels to channels.

    ``results["tip.position"]`` is a channel, ``results["tip.position.y"]`` one component of it.

    Attributes:
        path: File that holds the results; None if they are only in memory.
    """

    def __init__(
        self, record: Record | None, verdict: Verdict | None = None, path: str | None = None, scenario: str = ""
    ) -> None:
        self._loaded = record
        self._lock = threading.Lock()
        self._verdict = verdict
        self._scenario = scenario
        self._index: dict[str, int] | None = None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self.path = path

    @property
    def _record(self) -> Record:
        # A file is opened when the results are used for the first time, and channels are read when they are used.
        with self._lock:
            if self._loaded is None:
                self._loaded = Record.open(self.path or "")
            return self._loaded

    @property
    def _channels(self) -> dict[str, int]:
        if self._index is None:
            header = lib.yk_record_get_header(self._record.pointer)
            self._index = {text(header.channels[i].name): i for i in range(header.channel_count)}
        return self._index

    @property
    def time(self) -> Array:
        """Times of the samples (s), read-only."""
        return self._record.times()

    @property
    def title(self) -> str:
        """Title of the scenario."""
        return text(lib.yk_record_get_header(self._record.pointer).title)

    @property
    def scenario(self) -> str:
        """Text of the scenario as it was run; empty if the record has none."""
        return text(lib.yk_record_get_header(self._record.pointer).scenario_text)

    @property
    def complete(self) -> bool:
        """False: the run stopped before its end."""
        return bool(lib.yk_record_is_complete(self._record.pointer)) and (self._verdict is None or self._verdict.completed)

    @property
    def summary(self) -> dict[str, float | str]:
        """Figures of the run, in SI units, by their names in the record."""
        summary = lib.yk_record_get_summary(self._record.pointer)
        found: dict[str, float | str] = {}
        for i in range(summary.count):
            value = summary.values[i]
            word = text(value.text)
            found[text(value.name)] = word if word else value.value
        return found

    @property
    def verdict(self) -> Verdict:
        """Whether the run can be trusted: a sequence of findings with words for people."""
        if self._verdict is None:
            self._verdict = Verdict.from_summary(self.summary)
        return self._verdict

    def _names(self) -> list[str]:
        return [name for name in self._channels if not _is_error(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __contains__(self, name: object) -> bool:
        return name in self._channels

    def __getitem__(self, name: str) -> Channel:
        index = self._channels.get(name)
        if index is not None:
            return self._channel(name, index)
        owner, _, component = name.rpartition(".")
        index = self._channels.get(owner)
        if index is not None:
            return self._channel(owner, index)[component]
        raise KeyError(f"no channel '{name}' was recorded{nearest(name, self._channels)}")

    def _ipython_key_completions_(self) -> list[str]:
        return self._names()

    def _channel(self, name: str, index: int) -> Channel:
        record = self._record
        info = lib.yk_record_get_header(record.pointer).channels[index]
        count = info.component_count
        labels: tuple[str, ...] = ()
        if count > 1:
            labels = tuple(text(info.labels[i]) for i in range(count))
            if not all(labels):
                labels = _DEFAULT_LABELS.get(count, tuple(str(i + 1) for i in range(count)))
        columns = [record.column(index, i) for i in range(count)]
        errors = None
        bar = self._channels.get(f"{name}_error_bar")
        if bar is not None:
            errors = [record.column(bar, i) for i in range(count)]
        return Channel(name, text(info.unit), labels, record.times(), columns, errors)

    def __repr__(self) -> str:
        time = self.time
        lines = [f"<Results of '{self.title}': {len(self)} channels, {len(time)} samples"]
        if len(time) > 0:
            lines[0] += f", {time[0]:g} to {time[-1]:g} s"
        lines[0] += ">"
        if self._verdict is not None:
            lines.append(str(self._verdict))
        names = self._names()
        lines += [f"  {name}" for name in names[:20]]
        if len(names) > 20:
            lines.append(f"  ... {len(names) - 20} more")
        return "\n".join(lines)

    def to_pandas(self) -> Any:
        """A pandas DataFrame with a column per component over the time (s). Needs pandas."""
        pandas = optional("pandas")
        columns = {}
        for name, channel in self.items():
            for label, column in zip(channel.components or ("",), channel._columns):
                columns[f"{name}.{label}" if label else name] = np.asarray(column)
        return pandas.DataFrame(columns, pandas.Index(np.asarray(self.time), name="time [s]"))

    def to_xarray(self) -> Any:
        """An xarray Dataset with units. Needs xarray."""
        xarray = optional("xarray")
        arrays = {}
        for name, channel in self.items():
            array = channel.to_xarray()
            if "component" in array.dims:
                array = array.rename({"component": f"{name}.component"})
            arrays[name] = array
        return xarray.Dataset(arrays, attrs={"title": self.title})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the results to a file, ``.h5`` or ``.csv``."""
        record = self._record
        context = record.context
        with context:
            definition = ffi.new("yk_file_recorder_def *", lib.yk_file_recorder_default())
            name = ffi.new("char[]", encode(fspath(path)))
            definition.path = name
            pointer = ffi.new("yk_recorder **")
            context.check(lib.yk_file_recorder_create(context.pointer, definition, pointer))
            recorder = ffi.gc(pointer[0], lib.yk_recorder_destroy)
            context.check(lib.yoke_py_copy_record(record.pointer, recorder))
        if self.path is None:
            self.path = fspath(path)

    def _file(self) -> str:
        # The report is made of a file.
        if self.path is not None and pathlib.Path(self.path).suffix in (".h5", ".hdf5"):
            return self.path
        if self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="yoke-")
            path, self.path = self.path, None
            self.save(os.path.join(self._temporary.name, "results.h5"))
            self.path = path
        return os.path.join(self._temporary.name, "results.h5")

    def report(self, path: str | os.PathLike[str] = "report.html") -> pathlib.Path:
        """Writes the interactive HTML report and returns its path."""
        program.call("report", self._file(), "-o", fspath(path))
        return pathlib.Path(path)

    def _repr_html_(self) -> str:
        try:
            with tempfile.TemporaryDirectory(prefix="yoke-") as folder:
                page = self.report(os.path.join(folder, "report.html")).read_text()
            static = self._static_html()
            source = html.escape(page, quote=True)
            return f'<iframe srcdoc="{source}" sandbox="allow-scripts" style="width:100%;height:640px;border:0"></iframe><noscript>{static}</noscript>'
        except Exception:
            return self._static_html()

    def _static_html(self) -> str:
        """A picture of the first channels as SVG, for viewers that run no scripts."""
        rows = "".join(f"<li>{html.escape(str(finding))}</li>" for finding in self.verdict)
        head = f"<b>{html.escape(self.title)}</b>: {html.escape(self.verdict.headline)}"
        return f"<div>{head}<ul>{rows}</ul>{_svg(self)}</div>"


def _is_error(name: str) -> bool:
    return name.endswith("_error_bar")


def _svg(results: Results) -> str:
    width, height, count = 560, 90, 4
    parts = []
    for row, name in enumerate(list(results)[:count]):
        channel = results[name]
        columns = [np.asarray(column) for column in channel._columns[:4]]
        finite = np.concatenate([column[np.isfinite(column)] for column in columns])
        if len(finite) < 2:
            continue
        low, high = float(finite.min()), float(finite.max())
        scale = (height - 30) / (high - low) if high > low else 0.0
        stride = max(1, len(channel) // width)
        top = row * height
        title = f"{html.escape(name)} [{html.escape(channel.unit)}]: {low:.4g} to {high:.4g}"
        parts.append(f'<text x="4" y="{top + 14}" font-size="11" font-family="sans-serif">{title}</text>')
        start, span = float(channel.time[0]), max(float(channel.time[-1] - channel.time[0]), 1e-300)
        for column, color in zip(columns, ("#1f77b4", "#d62728", "#2ca02c", "#9467bd")):
            points = " ".join(
                f"{4 + (width - 8) * (t - start) / span:.1f},{top + height - 8 - scale * (v - low):.1f}"
                for t, v in zip(channel.time[::stride], column[::stride])
                if math.isfinite(v)
            )
            parts.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1"/>')
    return f'<svg width="{width}" height="{count * height}" xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'


def open(path: str | os.PathLike[str]) -> Results:
    """Results from a file of `yoke run`, ``.h5`` or ``.csv``, or from the journal of a run that has not ended.

    The names of the channels, the verdict and the number of samples of an ``.h5`` file are read when they are first used,
    and each channel when it is used, so that a file may be larger than the memory. The other formats are read completely.
    A file that is removed or replaced after the first use does not change the results.
    """
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no file '{fspath(path)}'")
    return Results(None, path=fspath(path))
