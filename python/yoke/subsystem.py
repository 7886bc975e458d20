"""Solvers that are written in Python.

A solver is a class. Its name can be used behind `solver:` in every scenario, its keyword arguments are the keys of its section::

    class Duffing(yoke.Subsystem, solver="duffing"):
        ports = {"mass": yoke.Port("scalar", input="wrench")}

        def __init__(self, mass: float = 1.0, stiffness: float = 100.0, cubic: float = 0.0) -> None:
            self.mass, self.stiffness, self.cubic = mass, stiffness, cubic
            self.state = np.zeros(2)                        # position (m) and velocity (m/s): rollback is automatic

        def step(self, t, h, inputs):
            x, v = self.state
            force = inputs["mass"].force(h / 2)
            v += h * (force - self.stiffness * x - self.cubic * x**3) / self.mass
            self.state[:] = x + h * v, v

        def output(self, outputs):
            outputs["mass"].position, outputs["mass"].velocity = self.state
"""

from __future__ import annotations

import copy
import ctypes
import inspect
import math
import re
import threading
import typing
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from . import yaml
from ._core import Context, callback, context_of, encode
from ._native import ffi, lib
from .errors import Error

Array = npt.NDArray[np.float64]

_PORT_KINDS = {"scalar": 0, "marker": 1, "signal": 2}
_CAUSALITIES = {"wrench": 1, "motion": 2, "signal": 4}


@dataclass(frozen=True)
class Port:
    """A place where a subsystem is connected.

    Attributes:
        kind: ``"marker"`` (a frame with six coordinates), ``"scalar"`` (one coordinate) or ``"signal"`` (a number without
            power).
        input: What the port receives: ``"wrench"``, ``"motion"`` or both as a tuple, of which the coupling selects one;
            of a signal ``"signal"``, or None for an output.
        optional: A signal input that need not be connected.
    """

    kind: Literal["scalar", "marker", "signal"]
    input: str | tuple[str, ...] | None = "wrench"
    optional: bool = False

    def _mask(self) -> int:
        if self.kind not in _PORT_KINDS:
            raise ValueError(f"a port is a {', '.join(_PORT_KINDS)}, not '{self.kind}'")
        words = (self.input,) if isinstance(self.input, str) else self.input or ()
        mask = 0
        for word in words:
            if word not in _CAUSALITIES or (word == "signal") != (self.kind == "signal"):
                raise ValueError(f"a {self.kind} port cannot receive '{word}'")
            mask |= _CAUSALITIES[word]
        if self.kind == "signal":
            return mask | (16 if self.optional else 0) if mask else 8
        if mask == 0:
            raise ValueError(f"a {self.kind} port must receive a wrench or a motion")
        return mask


class Input:
    """What a port receives during a step, as polynomials of the time since the start of the step (s).

    Attributes:
        kind: ``"wrench"``, ``"motion"``, ``"signal"`` or ``""`` if the port is not connected.
    """

    __slots__ = ("_input", "kind", "_scalar")

    def __init__(self, scalar: bool) -> None:
        self._input: Any = None
        self.kind = ""
        self._scalar = scalar

    def _evaluate(self, vectors: Any, time: float, derivative: int = 0) -> Any:
        source = self._input
        if source is None:
            return 0.0 if self._scalar else np.zeros(3)
        degree = source.degree
        x = y = z = 0.0
        for power in range(degree, derivative - 1, -1):
            factor = math.perm(power, derivative)
            v = vectors[power]
            x = x * time + factor * v.x
            if not self._scalar:
                y = y * time + factor * v.y
                z = z * time + factor * v.z
        return x if self._scalar else np.array((x, y, z))

    def _read(self, angular: bool, time: float, derivative: int = 0) -> Any:
        source = self._input
        return self._evaluate(None if source is None else (source.angular if angular else source.linear), time, derivative)

    def force(self, time: float = 0.0) -> Any:
        """Force (N) on the port; a number, or three of a marker."""
        return self._read(False, time)

    def torque(self, time: float = 0.0) -> Any:
        """Torque (N m) about the origin of a marker."""
        return self._read(True, time)

    def value(self, time: float = 0.0) -> float:
        """Value of a signal."""
        return float(self._read(False, time))

    def position(self, time: float = 0.0) -> Any:
        """Prescribed position (m)."""
        return self._read(False, time)

    def velocity(self, time: float = 0.0) -> Any:
        """Prescribed velocity (m/s)."""
        return self._read(False, time, 1)

    def acceleration(self, time: float = 0.0) -> Any:
        """Prescribed acceleration (m/s^2)."""
        return self._read(False, time, 2)

    def rotation(self, time: float = 0.0) -> Array:
        """Rotation vector (rad, global axes) from the orientation at the start of the step."""
        return typing.cast(Array, self._read(True, time))

    def angular_velocity(self, time: float = 0.0) -> Array:
        """Derivative of the rotation vector (rad/s)."""
        return typing.cast(Array, self._read(True, time, 1))

    def coefficients(self) -> Array:
        """Coefficients of the force, position or signal: one row per power of the time."""
        if self._input is None:
            return np.zeros((1, 3))
        rows = [(v.x, v.y, v.z) for v in (self._input.linear[i] for i in range(self._input.degree + 1))]
        return np.array(rows)


# Offsets in yk_port_value, in doubles.
_FIELDS = {
    "position": (0, 3),
    "velocity": (3, 3),
    "acceleration": (6, 3),
    "orientation": (9, 4),
    "angular_velocity": (13, 3),
    "angular_acceleration": (16, 3),
    "force": (19, 3),
    "torque": (22, 3),
}


class Output:
    """What a port shows at the end of a step. Assign the attributes; numbers for scalar ports, arrays for markers.

    Motions are given by ports that receive a wrench: ``position`` (m), ``velocity`` (m/s), ``acceleration`` (m/s^2),
    ``orientation`` (quaternion, scalar first), ``angular_velocity`` (rad/s), ``angular_acceleration`` (rad/s^2). The ``force``
    (N) and ``torque`` (N m) that the subsystem needs from its partner are given by ports that receive a motion. ``value`` is
    the number of a signal.
    """

    __slots__ = ("_values", "_scalar")

    def __init__(self, values: Array, scalar: bool) -> None:
        object.__setattr__(self, "_values", values)
        object.__setattr__(self, "_scalar", scalar)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "value":
            name = "position"
        try:
            first, count = _FIELDS[name]
        except KeyError:
            raise AttributeError(f"a port has no '{name}', only value, {', '.join(_FIELDS)}") from None
        if self._scalar:
            self._values[first] = value
        else:
            self._values[first : first + count] = value

    def __getattr__(self, name: str) -> Any:
        if name == "value":
            name = "position"
        if name not in _FIELDS:
            raise AttributeError(name)
        first, count = _FIELDS[name]
        return self._values[first] if self._scalar else self._values[first : first + count].copy()


class Subsystem:
    """Base class of solvers in Python.

    Subclasses define `ports`, :meth:`step` and :meth:`output`. The keyword arguments of ``__init__`` are the keys of the solver
    in a scenario; their annotations (float, int, bool, str, lists of numbers, Literal, functions of time as Callable) give the
    types, their lines in the docstring the texts.

    Attributes:
        ports: Names and kinds of the ports; of the class, or assigned in ``__init__``.
        state: Array of all numbers that determine the rest of a run, assigned in ``__init__``. Change its elements, not the array.
            Yoke saves and restores it: iterations, step control and checkpoints need this. None: no rollback.
        channels: Recorded quantities by name, each (unit, number of components); read by :meth:`read_channel`.
        function: A compiled function in place of :meth:`step` and :meth:`output`, which is called without Python: its address, a
            ctypes or cffi function pointer, or a numba cfunc. It has the type ``int (double t, double h, double *state, const
            double *inputs, double *outputs)``; docs/python.md describes the arrays.
    """

    ports: Mapping[str, Port] = {}
    state: Array | None = None
    channels: Mapping[str, tuple[str, int]] = {}
    function: Any = None
    solver: ClassVar[str] = ""

    def __init_subclass__(cls, solver: str | None = None, register: bool = True, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        cls.solver = solver or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()
        if register:
            _registry[cls.solver] = cls

    def start(self, t: float, h: float, inputs: Mapping[str, Input]) -> None:
        """Prepares a run at time `t` (s) with steps of `h` (s). `state` has its first values again.

        May be called more than once; `inputs` are zero in the first call.
        """

    def step(self, t: float, h: float, inputs: Mapping[str, Input]) -> None:
        """Advances `state` from `t` to `t + h` (s)."""
        raise NotImplementedError(f"{type(self).__name__} has no method 'step'")

    def output(self, outputs: Mapping[str, Output]) -> None:
        """Sets the outputs of all ports from `state`; called after :meth:`start`, :meth:`step` and a rollback."""
        raise NotImplementedError(f"{type(self).__name__} has no method 'output'")

    def energy(self) -> tuple[float, float] | tuple[float, float, float, float]:
        """Kinetic and potential energy (J), and optionally dissipated energy and work (J) since the start.

        The work is that of external forces and of all ports on the subsystem. Without it, only the ports do work, which Yoke counts.
        """
        raise NotImplementedError

    def next_event(self, t: float) -> float:
        """First time (s) after `t` at which something jumps; infinity: none."""
        raise NotImplementedError

    def sensitivity(self, t: float, h: float, inputs: Mapping[str, Input], degree: int) -> npt.ArrayLike:
        """Derivatives of the motions at `t + h` by the coefficients of the wrenches, after the step to `t + h`.

        Used by the schemes index1 (with ``substeps: 1``) and rim in place of finite differences. Rows and columns are those of
        yk_sensitivity_ops (yoke/subsystem.h): of a scalar port position, velocity and acceleration, by the powers of the force.
        """
        raise NotImplementedError

    def read_channel(self, name: str) -> float | npt.ArrayLike:
        """Value of a channel."""
        raise NotImplementedError


_registry: dict[str, type[Subsystem]] = {}
_tables: dict[str, SolverTable] = {}
_alive: dict[int, "Adapter"] = {}
_alive_lock = threading.Lock()


def _overrides(instance: Subsystem, method: str) -> bool:
    return getattr(type(instance), method) is not getattr(Subsystem, method)


class Adapter:
    """A Python subsystem as the library sees it."""

    def __init__(self, subsystem: Subsystem, context: Context | None, kind: str) -> None:
        self.subsystem = subsystem
        self.context = context
        names = list(subsystem.ports)
        state = subsystem.state
        if state is not None:
            state = np.ascontiguousarray(state, np.float64)
            if state.ndim != 1:
                raise ValueError(f"'state' has {state.ndim} dimensions; it must be a vector")
            if not np.isfinite(state).all():
                raise ValueError("'state' has values that are not finite")
            subsystem.state = state
        self.state = state
        self.first = None if state is None else state.copy()

        c = self.c = ffi.new("yoke_py_subsystem *")
        self._keep: list[Any] = []
        ports = ffi.new("yk_port[]", max(len(names), 1))
        for i, name in enumerate(names):
            port = subsystem.ports[name]
            ports[i].name = self._string(name)
            ports[i].kind = _PORT_KINDS[port.kind] if port.kind in _PORT_KINDS else 0
            ports[i].allowed_causalities = port._mask()
        values = ffi.new("yk_port_value[]", max(len(names), 1))
        array = np.frombuffer(ffi.buffer(values), np.float64).reshape(-1, 25)
        array[:, 9] = 1.0
        self._keep += [ports, values]
        c.ports, c.port_count, c.values = ports, len(names), values
        scalar = [subsystem.ports[name].kind != "marker" for name in names]
        self.outputs = {name: Output(array[i], scalar[i]) for i, name in enumerate(names)}
        self.inputs = {name: Input(scalar[i]) for i, name in enumerate(names)}
        self.input_list = list(self.inputs.values())

        self.channel_arrays: dict[str, Array] = {}
        if subsystem.channels:
            channels = ffi.new("yk_channel[]", len(subsystem.channels))
            pointers = ffi.new("double *[]", len(subsystem.channels))
            for i, (name, (unit, count)) in enumerate(subsystem.channels.items()):
                channels[i].name, channels[i].unit = self._string(name), self._string(unit)
                channels[i].component_count = count
                block = ffi.new("double[]", count)
                pointers[i] = block
                self._keep.append(block)
                self.channel_arrays[name] = np.frombuffer(ffi.buffer(block), np.float64)
            self._keep += [channels, pointers]
            c.channels, c.channel_count, c.channel_values = channels, len(subsystem.channels), pointers
        if state is not None:
            c.state = ffi.from_buffer("double[]", state)
            c.state_size = len(state)
            self._keep.append(c.state)
        if subsystem.function is not None:
            if state is None:
                raise ValueError("a subsystem with a compiled function needs a 'state'")
            c.function = ffi.cast("yoke_py_function", _address(subsystem.function))
            sizes = {"scalar": (4, 4), "signal": (4, 1), "marker": (24, 25)}
            kinds = [sizes[subsystem.ports[name].kind] for name in names]
            # The struct does not keep what it points to.
            inputs = ffi.new("double[]", sum(size[0] for size in kinds) + 1)
            outputs = ffi.new("double[]", sum(size[1] for size in kinds) + 1)
            self._keep += [inputs, outputs, subsystem.function]
            c.inputs, c.outputs = inputs, outputs
        c.base.ops = self._table(kind)
        self.handle = ffi.new_handle(self)
        c.handle = self.handle
        with _alive_lock:
            _alive[int(ffi.cast("uintptr_t", c))] = self

    def _string(self, value: str) -> Any:
        found = ffi.new("char[]", encode(value))
        self._keep.append(found)
        return found

    def _group(self, struct: str, /, **functions: Any) -> Any:
        group = ffi.new(f"{struct} *", {"size": ffi.sizeof(struct), **functions})
        self._keep.append(group)
        return group

    def _table(self, kind: str) -> Any:
        ops = self._group(
            "yk_subsystem_ops",
            kind=self._string(kind),
            ports=ffi.addressof(lib, "yoke_py_ports"),
            connect=lib.yoke_py_connect,
            initialize=lib.yoke_py_initialize,
            step=lib.yoke_py_subsystem_step,
            get_port_value=ffi.addressof(lib, "yoke_py_get_port_value"),
            destroy=lib.yoke_py_destroy,
            last_message=ffi.addressof(lib, "yoke_py_last_message"),
        )
        if self.c.function:
            ops.step = ffi.addressof(lib, "yoke_py_function_step")
        if self.state is not None:
            set_state = ffi.addressof(lib, "yoke_py_function_set_state") if self.c.function else lib.yoke_py_set_state
            layout, get = ffi.addressof(lib, "yoke_py_layout"), ffi.addressof(lib, "yoke_py_get_state")
            ops.rollback = self._group("yk_rollback_ops", layout=layout, get=get, set=set_state)
        if _overrides(self.subsystem, "energy"):
            ops.energy = self._group("yk_energy_ops", read=lib.yoke_py_energy)
        if _overrides(self.subsystem, "next_event"):
            ops.events = self._group("yk_event_ops", next_time=lib.yoke_py_next_event)
        if _overrides(self.subsystem, "sensitivity"):
            ops.sensitivity = self._group("yk_sensitivity_ops", step_with_sensitivity=lib.yoke_py_sensitivity)
        if self.channel_arrays:
            list_, read = ffi.addressof(lib, "yoke_py_list_channels"), ffi.addressof(lib, "yoke_py_read_channel")
            ops.channels = self._group("yk_channel_ops", list=list_, read=read)
        return ops

    # Calls

    def set_inputs(self, inputs: Any) -> Mapping[str, Input]:
        for i, item in enumerate(self.input_list):
            item._input = inputs[i] if inputs and item.kind else None
        return self.inputs

    def update(self) -> None:
        """Brings outputs and channels up to date."""
        if self.subsystem.state is not self.state:
            self._take_state()
        if self.c.function:
            status = lib.yoke_py_function_step(ffi.addressof(self.c, "base"), 0.0, 0.0, ffi.NULL)
            if status < 0:
                raise RuntimeError(ffi.string(self.c.message).decode("utf-8", "replace"))
        else:
            self.subsystem.output(self.outputs)
        for name, array in self.channel_arrays.items():
            array[:] = self.subsystem.read_channel(name)

    def _take_state(self) -> None:
        # The attribute was assigned: its numbers belong in the array that Yoke saves and restores.
        if self.state is None:
            raise ValueError("'state' must be assigned in __init__")
        new = np.asarray(self.subsystem.state, np.float64)
        if new.shape != self.state.shape:
            raise ValueError(f"'state' has {new.size} numbers; it had {self.state.size} at the start")
        self.state[:] = new
        self.subsystem.state = self.state

    def fail(self, exception: BaseException) -> int:
        if self.context is not None:
            if not isinstance(exception, Exception):
                # KeyboardInterrupt and SystemExit end the work, not the subsystem.
                if self.context.pending is None:
                    self.context.pending = exception
                lib.yoke_py_request_stop(self.context.interrupt)
            else:
                self.context.exceptions.append((self, exception))
        message = f"{type(exception).__name__}: {exception}".encode()[:998]
        self.c.message = message + b"\0"
        return int(lib.YK_ERROR_SUBSYSTEM)


# Base class of function pointers, which ctypes does not name in public.
_CTYPES_FUNCTION: Any = ctypes.CFUNCTYPE(None).__mro__[1]


def _address(function: Any) -> int:
    """Address of a compiled function: a number, a function of ctypes or cffi, or a cfunc of numba."""
    if isinstance(function, int):
        found = function
    elif hasattr(function, "address"):
        found = int(function.address)
    elif isinstance(function, _CTYPES_FUNCTION):
        found = ctypes.cast(function, ctypes.c_void_p).value or 0
    elif isinstance(function, ffi.CData):
        found = int(ffi.cast("uintptr_t", function))
    else:
        raise TypeError(f"'function' is of type {type(function).__name__}; it must be an address or a compiled function")
    if found <= 0:
        raise ValueError("the address of the compiled function is 0")
    return found


def take_exception(context: Context) -> tuple[Adapter, Exception] | None:
    """The exception of a solver in Python that made the last call fail."""
    found = context.exceptions[-1] if context.exceptions else None
    context.exceptions.clear()
    return found


def _adapter(self: Any) -> Adapter:
    found: Adapter = ffi.from_handle(ffi.cast("yoke_py_subsystem *", self).handle)
    return found


@callback(error=-10)
def yoke_py_connect(self: Any, port: int, causality: int, constrained: int) -> int:
    words = {1: "wrench", 2: "motion", 4: "signal"}
    _adapter(self).input_list[port].kind = words.get(causality, "")
    return 0


@callback(error=-10)
def yoke_py_initialize(self: Any, t: float, h: float, inputs: Any) -> int:
    adapter = _adapter(self)
    try:
        if adapter.state is not None:
            adapter.state[:] = adapter.first
        adapter.subsystem.start(t, h, adapter.set_inputs(inputs))
        adapter.update()
    except BaseException as exception:
        return adapter.fail(exception)
    return 0


@callback(error=-10)
def yoke_py_subsystem_step(self: Any, t: float, h: float, inputs: Any) -> int:
    adapter = _adapter(self)
    try:
        adapter.subsystem.step(t, h, adapter.set_inputs(inputs))
        adapter.update()
        if adapter.state is not None and not np.isfinite(adapter.state).all():
            adapter.c.message = b"the state became infinite or not a number\0"
            return int(lib.YK_ERROR_NOT_FINITE)
    except BaseException as exception:
        return adapter.fail(exception)
    return 0


@callback(error=-10)
def yoke_py_set_state(self: Any, image: Any) -> int:
    adapter = _adapter(self)
    try:
        assert adapter.state is not None
        ffi.memmove(adapter.c.state, image, adapter.state.nbytes)
        adapter.update()
    except BaseException as exception:
        return adapter.fail(exception)
    return 0


@callback()
def yoke_py_energy(self: Any, energy: Any) -> None:
    adapter = _adapter(self)
    energy.kinetic = energy.potential = math.nan
    # Without a number of the subsystem, the coupling counts the work of the ports.
    energy.dissipated, energy.work = 0.0, math.nan
    try:
        values: Sequence[float] = adapter.subsystem.energy()
        energy.kinetic, energy.potential = values[:2]
        if len(values) > 2:
            energy.dissipated, energy.work = values[2:4]
    except BaseException as exception:
        adapter.fail(exception)


@callback(error=math.inf)
def yoke_py_next_event(self: Any, t: float) -> float:
    adapter = _adapter(self)
    try:
        return float(adapter.subsystem.next_event(t))
    except BaseException as exception:
        adapter.fail(exception)
        return math.inf


@callback(error=-10)
def yoke_py_sensitivity(self: Any, t: float, h: float, inputs: Any, degree: int, matrix: Any) -> int:
    adapter = _adapter(self)
    try:
        values = adapter.set_inputs(inputs)
        adapter.subsystem.step(t, h, values)
        adapter.update()
        wrench = [i for i in adapter.input_list if i.kind == "wrench"]
        rows, columns = sum(3 if i._scalar else 18 for i in wrench), (degree + 1) * sum(1 if i._scalar else 6 for i in wrench)
        found = np.ascontiguousarray(adapter.subsystem.sensitivity(t, h, values, degree), np.float64)
        if found.shape != (rows, columns):
            raise ValueError(f"'sensitivity' returned a matrix {found.shape}; it must be {(rows, columns)}")
        ffi.memmove(matrix, found, found.nbytes)
    except BaseException as exception:
        return adapter.fail(exception)
    return 0


@callback()
def yoke_py_destroy(self: Any) -> None:
    with _alive_lock:
        _alive.pop(int(ffi.cast("uintptr_t", self)), None)


# Solvers of scenarios


class SolverTable:
    """A yk_solver_ops for a class, or for copies of an object."""

    def __init__(self, name: str, source: type[Subsystem] | Subsystem) -> None:
        self.source = source
        self.name = name
        self._keep: list[Any] = []
        cls = source if isinstance(source, type) else type(source)
        self.options = _options(source) if isinstance(source, type) else []
        table = self.pointer = ffi.new("yk_solver_ops *")
        table.size = ffi.sizeof("yk_solver_ops")
        table.name = self._string(name)
        table.description = self._string((inspect.getdoc(cls) or cls.__name__).split("\n\n")[0].replace("\n", " "))
        rows = ffi.new("yk_option[]", len(self.options) + 1)
        offset = 0
        for row, option in zip(rows, self.options):
            row.key = self._string(option.name)
            row.kind = option.kind
            row.offset = option.offset = offset
            row.size = option.size
            row.description = self._string(option.description)
            row.unit = self._string(option.unit) if option.unit else ffi.NULL
            row.required = option.required
            if option.default is not None:
                row.default_text = self._string(yaml.scalar(yaml.plain(option.default)))
            if option.choices:
                words = ffi.new("yk_option_choice[]", len(option.choices) + 1)
                for word, choice in zip(words, option.choices):
                    word.name = self._string(choice)
                self._keep.append(words)
                row.choices = words
            offset += 24
        self._keep.append(rows)
        table.options = rows
        table.options_size = max(offset, 8)
        self._create = ffi.callback("yk_status(yk_context *, const void *, yk_subsystem **)", self.create, error=-10)
        table.create = self._create

    def _string(self, value: str) -> Any:
        found = ffi.new("char[]", encode(value))
        self._keep.append(found)
        return found

    def create(self, context: Any, options: Any, subsystem: Any) -> int:
        try:
            if isinstance(self.source, type):
                made = self.source(**{option.name: option.read(options) for option in self.options})
            else:
                made = copy.deepcopy(self.source)
            adapter = Adapter(made, context_of(context), self.name)
        except MemoryError:
            return int(lib.YK_ERROR_MEMORY)
        except Exception as exception:
            message = f"{type(exception).__name__}: {exception}"
            return int(lib.yk_fail(context, lib.YK_ERROR_ARGUMENT, b"%s", ffi.new("char[]", message.encode().replace(b"\0", b""))))
        subsystem[0] = ffi.addressof(adapter.c, "base")
        return 0


@dataclass
class _Option:
    name: str
    kind: int
    default: Any
    required: bool
    description: str
    unit: str = ""
    choices: tuple[str, ...] = ()
    offset: int = 0

    @property
    def size(self) -> int:
        """Bytes of the member that receives the value."""
        members = {
            lib.YK_OPTION_NUMBER: "double",
            lib.YK_OPTION_INTEGER: "int",
            lib.YK_OPTION_BOOLEAN: "bool",
            lib.YK_OPTION_CHOICE: "int",
            lib.YK_OPTION_NUMBERS: "yk_number_list",
            lib.YK_OPTION_FUNCTION: "yk_time_function",
        }
        return int(ffi.sizeof(members.get(self.kind, "char *")))

    def read(self, options: Any) -> Any:
        place = ffi.cast("char *", options) + self.offset
        if self.kind == lib.YK_OPTION_NUMBER:
            return ffi.cast("double *", place)[0]
        if self.kind == lib.YK_OPTION_INTEGER:
            return ffi.cast("int *", place)[0]
        if self.kind == lib.YK_OPTION_BOOLEAN:
            return bool(ffi.cast("bool *", place)[0])
        if self.kind == lib.YK_OPTION_CHOICE:
            return self.choices[ffi.cast("int *", place)[0]]
        if self.kind == lib.YK_OPTION_NUMBERS:
            numbers = ffi.cast("yk_number_list *", place)
            return [numbers.items[i] for i in range(numbers.count)]
        if self.kind == lib.YK_OPTION_FUNCTION:
            return TimeFunction(ffi.cast("yk_time_function *", place)[0])
        pointer = ffi.cast("char **", place)[0]
        return ffi.string(pointer).decode() if pointer else ""


class TimeFunction:
    """A function of time (s) that the scenario gives."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, t: float) -> float:
        return float(self._function.evaluate(self._function.user, t)) if self._function.evaluate else 0.0


def _options(cls: type[Subsystem]) -> list[_Option]:
    if cls.__init__ is object.__init__:
        return []
    try:
        hints = typing.get_type_hints(cls.__init__)
    except NameError:
        hints = {}
    texts = {}
    for source in (cls.__doc__, cls.__init__.__doc__):
        for match in re.finditer(r"^\s+(\w+): (.*)$", source or "", re.MULTILINE):
            texts[match[1]] = match[2]
    options = []
    for name, parameter in list(inspect.signature(cls.__init__).parameters.items())[1:]:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            continue
        required = parameter.default is parameter.empty
        default = None if required else parameter.default
        hint = hints.get(name, float if default is None else type(default))
        description = texts.get(name, "")
        unit = re.search(r"\(([^()]+)\)\.?$", description)
        option = _Option(name, _kind(hint, name, cls), default, required, description, unit[1] if unit else "")
        if option.kind == lib.YK_OPTION_CHOICE:
            option.choices = typing.get_args(hint)
        options.append(option)
    return options


def _kind(hint: Any, name: str, cls: type) -> int:
    kinds = {float: "NUMBER", int: "INTEGER", bool: "BOOLEAN", str: "TEXT", list: "NUMBERS", tuple: "NUMBERS"}
    origin = typing.get_origin(hint)
    if hint in kinds:
        return int(getattr(lib, f"YK_OPTION_{kinds[hint]}"))
    if origin is Literal:
        return int(lib.YK_OPTION_CHOICE)
    if origin is not None and "Callable" in str(origin):
        return int(lib.YK_OPTION_FUNCTION)
    if origin in (list, tuple) or (inspect.isclass(origin) and issubclass(origin, Sequence)) or hint is np.ndarray or origin is np.ndarray:
        return int(lib.YK_OPTION_NUMBERS)
    raise Error(f"{cls.__name__}: the argument '{name}' has type {hint}; a key of a scenario is a float, int, bool, str, list of floats, Literal or Callable")


def registered() -> list[SolverTable]:
    """Tables of all classes that scenarios can name."""
    for name, cls in _registry.items():
        table = _tables.get(name)
        if table is None or table.source is not cls:
            if _has_step(cls):
                _tables[name] = SolverTable(name, cls)
    return list(_tables.values())


def _has_step(cls: type[Subsystem]) -> bool:
    return cls.step is not Subsystem.step or cls.function is not None


def take_solvers(scenario: Mapping[str, Any]) -> tuple[dict[str, Any], list[SolverTable]]:
    """Replaces classes and objects behind `solver` by names."""
    result = dict(scenario)
    tables: list[SolverTable] = []

    def replace(section: Any) -> Any:
        if not isinstance(section, Mapping) or "solver" not in section:
            return section
        solver = section["solver"]
        if isinstance(solver, type) and issubclass(solver, Subsystem):
            if _registry.get(solver.solver) is not solver:
                tables.append(SolverTable(solver.solver, solver))
            return {**section, "solver": solver.solver}
        if isinstance(solver, Subsystem):
            name = f"{solver.solver}-object-{len(tables) + 1}"
            tables.append(SolverTable(name, solver))
            return {**section, "solver": name}
        return section

    subsystems = scenario.get("subsystems")
    if isinstance(subsystems, Mapping):
        result["subsystems"] = {name: replace(section) for name, section in subsystems.items()}
    elif isinstance(subsystems, Sequence) and not isinstance(subsystems, str):
        result["subsystems"] = [replace(section) for section in subsystems]
    return result, tables
