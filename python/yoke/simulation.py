"""Running systems: step, read, push, save and restore."""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Sequence, TypeVar

import numpy as np
import numpy.typing as npt

from ._core import Context, encode, error, nearest, text
from ._native import ffi, lib
from .errors import ClosedError, Error
from .run import fail
from .scenario import Loaded

if TYPE_CHECKING:
    from .scenario import Scenario

Array = npt.NDArray[np.float64]
T = TypeVar("T")


class BusyError(Error):
    """A simulation was used by two threads at the same time."""


class State:
    """Everything that the rest of a run depends on, except parameters that were set. Can be pickled and compared.

    A state belongs to simulations of the same scenario, in the same version of Yoke on the same kind of machine.
    """

    __slots__ = ("_data", "_hash", "time")

    def __init__(self, data: bytes, time: float, state_hash: int) -> None:
        self._data = data
        self._hash = state_hash
        self.time = time

    def __reduce__(self) -> Any:
        return State, (self._data, self.time, self._hash)

    def __eq__(self, other: object) -> bool:
        # The data has statistics as well, such as measured times.
        return isinstance(other, State) and (self._hash, self.time) == (other._hash, other.time)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"<State at t = {self.time:g} s, {len(self._data)} bytes>"


class Body:
    """A body of a running simulation.

    Attributes:
        name: Name with its subsystem, such as ``"arm.crank"``.
    """

    def __init__(self, simulation: Simulation, subsystem: int, body: int, name: str) -> None:
        self._simulation = simulation
        self._subsystem = subsystem
        self._body = body
        self.name = name

    def _read(self) -> Any:
        states = ffi.new("yk_body_state *")
        with self._simulation._use() as system:
            self._simulation._check(lib.yk_system_read_bodies(system, [self._subsystem], [self._body], 1, states))
        return states[0]

    @property
    def position(self) -> Array:
        """Position of the origin (m), in the axes of the system."""
        return _vector(self._read().position)

    @property
    def orientation(self) -> Array:
        """Unit quaternion, scalar first, from the axes of the body to those of the system."""
        q = self._read().orientation
        return np.array((q.w, q.x, q.y, q.z))

    @property
    def pose(self) -> tuple[Array, Array]:
        """Position (m) and orientation (unit quaternion, scalar first)."""
        state = self._read()
        q = state.orientation
        return _vector(state.position), np.array((q.w, q.x, q.y, q.z))

    @property
    def velocity(self) -> Array:
        """Velocity of the origin (m/s), in the axes of the system."""
        return _vector(self._read().velocity)

    @property
    def angular_velocity(self) -> Array:
        """Angular velocity (rad/s), in the axes of the system."""
        return _vector(self._read().angular_velocity)

    def apply_force(
        self, force: npt.ArrayLike = (0, 0, 0), torque: npt.ArrayLike = (0, 0, 0), point: npt.ArrayLike | None = None
    ) -> None:
        """Applies a force (N) and a torque (N m) during the next macro step, in the axes of the system.

        Args:
            force: Force (N).
            torque: Torque (N m).
            point: Point of application (m); the origin of the body if None.
        """
        wrench = ffi.new("yk_wrench *", {"force": _checked(force, "force"), "torque": _checked(torque, "torque")})
        place = ffi.NULL if point is None else ffi.new("yk_vec3 *", _checked(point, "point"))
        with self._simulation._use() as system:
            status = lib.yk_system_apply_body_wrench(system, [self._subsystem], [self._body], wrench[0], place)
            self._simulation._check(status)

    def __repr__(self) -> str:
        return f"<Body {self.name}>"


class Simulation:
    """A system that is advanced step by step.

    Channels are read by name, ``sim["tip.position"]``; names of bodies give :class:`Body` objects, ``sim["arm.crank"]`` or, if no
    other subsystem has one of this name, ``sim["crank"]``. A simulation is used by one thread at a time.
    """

    def __init__(self, scenario: Scenario, threads: int = 0) -> None:
        self._scenario = scenario
        self._threads = threads
        self._loaded = Loaded(scenario, threads)
        self._context = self._loaded.context
        system = self._loaded.system()
        guard = self._guard = ffi.new("yoke_py_guard *")
        guard.system = system
        guard.macro_step = self._loaded.info.step
        guard.interrupt = self._context.interrupt
        self._native_step: Callable[[Any], int] = lib.yoke_py_step
        with self._context:
            status = lib.yk_system_initialize(system)
        if status < 0:
            fail(self._context, status, self._loaded, math.nan, None)
        self._channels = {text(lib.yk_system_channel_at(system, [i]).name): i for i in range(lib.yk_system_channel_count(system))}
        self._subsystems = self._loaded.names("subsystems")
        self._inputs: dict[str, int] = {}
        self._snapshot: Any = None

    # Life

    @contextmanager
    def _use(self) -> Iterator[Any]:
        status = lib.yoke_py_acquire(self._guard)
        if status:
            self._raise(status)
        try:
            yield self._guard.system
        finally:
            lib.yoke_py_release(self._guard)

    def _raise(self, status: int) -> None:
        """Raises the error of a guarded call; steps that did not converge are counted, not raised."""
        if status == lib.YOKE_PY_CLOSED:
            raise ClosedError("the simulation is closed")
        if status == lib.YOKE_PY_BUSY:
            raise BusyError("another thread uses the simulation; give each thread one of its own, with clone()")
        if status < 0:
            time = lib.yk_system_time(self._guard.system)
            fail(self._context, status, self._loaded, time, None)

    def _check(self, status: int) -> None:
        if status < 0:
            message = self._context.message() or text(lib.yk_status_text(status))
            if status == lib.YK_ERROR_ARGUMENT:
                raise ValueError(message)
            raise error(status, message)

    def close(self) -> None:
        """Frees the memory of the simulation. Using it afterwards raises :class:`ClosedError`."""
        status = lib.yoke_py_acquire(self._guard)
        if status == lib.YOKE_PY_CLOSED:
            return
        if status:
            self._raise(status)
        self._guard.system = ffi.NULL
        self._snapshot = None
        lib.yoke_py_release(self._guard)
        self._context.close()

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def clone(self) -> Simulation:
        """A simulation of its own in the same state, for another thread for example."""
        other = Simulation(self._scenario, self._threads)
        other.state = self.state
        return other

    def __copy__(self) -> Simulation:
        return self.clone()

    def __deepcopy__(self, memo: Any) -> Simulation:
        return self.clone()

    def __getstate__(self) -> Any:
        return self._scenario, self._threads, self.state

    def __setstate__(self, pickled: Any) -> None:
        scenario, threads, state = pickled
        self.__init__(scenario, threads)  # type: ignore[misc]
        self.state = state

    # Time

    def step(self) -> None:
        """Makes one macro step."""
        status = self._native_step(self._guard)
        if status:
            self._raise(status)

    def steps(self, count: int) -> None:
        """Makes several macro steps."""
        with self._context:
            status = lib.yoke_py_steps(self._guard, count)
        self._raise(status)

    def run_until(self, time: float) -> None:
        """Steps to the first macro step that ends at or after `time` (s). An interrupt stops after a step."""
        if not math.isfinite(time):
            raise ValueError(f"the end is {time} s; it must be finite")
        with self._context:
            status = lib.yoke_py_run_until(self._guard, time)
        self._raise(status)

    def reset(self) -> None:
        """Returns to the start."""
        with self._use() as system, self._context:
            status = lib.yk_system_initialize(system)
        self._raise(status)

    @property
    def time(self) -> float:
        """Simulated time (s)."""
        with self._use() as system:
            return float(lib.yk_system_time(system))

    @property
    def end(self) -> float:
        """End of the scenario (s)."""
        return float(self._scenario["time.end"])

    @property
    def steps_not_converged(self) -> int:
        """Number of macro steps that were accepted although their iterations did not converge."""
        with self._use() as system:
            return int(lib.yk_system_get_statistics(system).steps_not_converged)

    # State

    @property
    def state(self) -> State:
        """The present state; assign a state to return to it."""
        with self._use() as system:
            if self._snapshot is None:
                pointer = ffi.new("yk_snapshot **")
                self._check(lib.yk_snapshot_create(system, pointer))
                self._snapshot = self._context.own(pointer[0], lib.yk_snapshot_destroy)
            else:
                self._check(lib.yk_snapshot_save(self._snapshot, system))
            size = ffi.new("size_t *")
            data = lib.yk_snapshot_data(self._snapshot, size)
            state_hash = ffi.new("uint64_t *")
            self._check(lib.yk_system_state_hash(system, state_hash))
            return State(bytes(ffi.buffer(data, size[0])), lib.yk_system_time(system), int(state_hash[0]))

    @state.setter
    def state(self, state: State) -> None:
        if not isinstance(state, State):
            raise TypeError(f"a state is a yoke.State, not {type(state).__name__}")
        with self._use() as system:
            pointer = ffi.new("yk_snapshot **")
            data = state._data
            self._check(lib.yk_snapshot_from_data(self._context.pointer, ffi.from_buffer(data), len(data), pointer))
            try:
                self._check(lib.yk_snapshot_restore(pointer[0], system))
            finally:
                lib.yk_snapshot_destroy(pointer[0])

    # Reading

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of all channels."""
        return tuple(self._channels)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of all bodies, with their subsystems."""
        found = []
        with self._use() as system:
            for index, subsystem in enumerate(self._subsystems):
                for body in range(lib.yk_system_body_count(system, [index])):
                    name = text(lib.yk_system_body_name(system, [index], [body]))
                    if name:
                        found.append(f"{subsystem}.{name}")
        return tuple(found)

    def __getitem__(self, name: str) -> Any:
        """A channel's value, a component of it, or a body."""
        if not isinstance(name, str):
            raise TypeError(f"a name is a text such as 'tip.position', not {type(name).__name__}")
        if name in self._channels:
            return self.read(name)
        body = self._find_body(name)
        if body is not None:
            return body
        owner, _, component = name.rpartition(".")
        if owner in self._channels and component in ("w", "x", "y", "z"):
            values = self.read(owner)
            words = "wxyz" if len(values) == 4 else "xyz"
            if component in words[: len(values)]:
                return float(values[words.index(component)])
        raise KeyError(f"there is no channel and no body '{name}'{nearest(name, (*self._channels, *self.bodies))}")

    def _find_body(self, name: str) -> Body | None:
        owner, _, own = name.partition(".")
        found = []
        with self._use() as system:
            for index, subsystem in enumerate(self._subsystems):
                wanted = own if owner == subsystem and own else name
                body = lib.yk_system_find_body(system, [index], encode(wanted))
                if lib.yk_body_is_valid(body):
                    found.append(Body(self, index, body.index, f"{subsystem}.{wanted}"))
        if len(found) > 1:
            raise KeyError(f"'{name}' is a body of {len(found)} subsystems: {', '.join(body.name for body in found)}")
        return found[0] if found else None

    def read(self, *names: str) -> Any:
        """Reads channels: a number or an array; of several channels all numbers in one array."""
        ids = ffi.new("yk_channel_id[]", len(names))
        count = 0
        with self._use() as system:
            for place, name in zip(ids, names):
                if name not in self._channels:
                    raise KeyError(f"there is no channel '{name}'{nearest(name, self._channels)}")
                place.index = self._channels[name]
                count += lib.yk_system_channel_at(system, place).component_count
            values = np.empty(count)
            self._check(lib.yk_system_read_channels(system, ids, len(names), ffi.from_buffer("double[]", values)))
        return float(values[0]) if count == 1 else values

    def unit(self, name: str) -> str:
        """Unit of a channel."""
        if name not in self._channels:
            raise KeyError(f"there is no channel '{name}'{nearest(name, self._channels)}")
        with self._use() as system:
            return text(lib.yk_system_channel_at(system, [self._channels[name]]).unit)

    def _subsystem(self, name: str) -> int:
        if name not in self._subsystems:
            raise KeyError(f"there is no subsystem '{name}'{nearest(name, self._subsystems)}")
        return self._subsystems.index(name)

    def positions(self, subsystem: str) -> Array:
        """Positions (m) of all bodies of a subsystem, particles included: one row per body, NaN if it does not exist now."""
        index = self._subsystem(subsystem)
        with self._use() as system:
            count = lib.yk_system_body_count(system, [index])
            states = ffi.new("yk_body_state[]", count)
            self._check(lib.yk_system_read_bodies(system, [index], [0], count, states))
            numbers = np.frombuffer(ffi.buffer(states), np.float64).reshape(count, -1)
            return numbers[:, :3].copy()

    def contacts(self, subsystem: str) -> dict[str, Array]:
        """Contact points of a subsystem: arrays ``point`` (m), ``normal`` and ``force`` (N), with one row per contact."""
        index = self._subsystem(subsystem)
        with self._use() as system:
            capacity = lib.yk_system_read_contacts(system, [index], ffi.NULL, 0)
            points = ffi.new("yk_contact_point[]", max(capacity, 1))
            count = lib.yk_system_read_contacts(system, [index], points, capacity) if capacity > 0 else 0
            numbers = np.frombuffer(ffi.buffer(points), np.float64).reshape(-1, 9)[:count]
            return {"point": numbers[:, 0:3].copy(), "normal": numbers[:, 3:6].copy(), "force": numbers[:, 6:9].copy()}

    # Changing

    @property
    def parameters(self) -> dict[str, float]:
        """Numbers that :meth:`set` can change, as ``subsystem.parameter``, with their values."""
        found = {}
        with self._use() as system:
            for index, subsystem in enumerate(self._subsystems):
                for i in range(lib.yk_system_parameter_count(system, [index])):
                    name = text(lib.yk_system_parameter_at(system, [index], [i]).name)
                    found[f"{subsystem}.{name}"] = lib.yk_system_parameter_value(system, [index], [i])
        return found

    def set(self, name: str, value: float) -> None:
        """Sets an input of the system or a parameter (``"controller.gain"``). It acts from the next macro step on."""
        value = float(value)
        owner, _, own = name.partition(".")
        with self._use() as system:
            number = lib.yk_system_find_input(system, encode(name))
            if lib.yk_input_is_valid(number):
                self._check(lib.yk_system_set_input(system, number, value))
                return
            if owner in self._subsystems:
                index = self._subsystems.index(owner)
                parameter = lib.yk_system_find_parameter(system, [index], encode(own))
                if lib.yk_parameter_is_valid(parameter):
                    self._check(lib.yk_system_set_parameter(system, [index], parameter, value))
                    return
        raise KeyError(f"there is no input and no parameter '{name}'{nearest(name, self.parameters)}")

    def __repr__(self) -> str:
        try:
            return f"<Simulation of '{self._scenario.title}' at t = {self.time:g} s>"
        except Error:
            return f"<Simulation of '{self._scenario.title}', closed>"


def _vector(v: Any) -> Array:
    return np.array((v.x, v.y, v.z))


def _checked(values: npt.ArrayLike, what: str) -> tuple[float, ...]:
    array = np.asarray(values, np.float64)
    if array.shape != (3,):
        raise ValueError(f"the {what} must have 3 numbers, not the shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"the {what} has values that are not finite")
    return tuple(array.tolist())


def rollout(
    scenario: Scenario,
    variations: Sequence[Mapping[str, Any]],
    work: Callable[[Simulation], T] | None = None,
    *,
    threads: int = 0,
) -> list[Any]:
    """Runs variations of a scenario in threads.

    Args:
        scenario: The scenario.
        variations: Values to change in each run: ``[{"parameters.mass": 1}, {"parameters.mass": 2}]``.
        work: Receives the started simulation of each variation and returns its result; by default the simulation runs to the
            end of the scenario, and the result is its :class:`yoke.Results`.
        threads: Number of threads (0: one per core).

    Returns:
        The results in the order of the variations.
    """

    def one(changes: Mapping[str, Any]) -> Any:
        varied = scenario.with_changes(changes)
        if work is None:
            return varied.run(progress=False, threads=1)
        with varied.start(threads=1) as simulation:
            return work(simulation)

    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        return list(pool.map(one, variations))
