"""Runs with progress, interrupts and errors."""

from __future__ import annotations

import os
import sys
import time as clock
from typing import TYPE_CHECKING, Any, Callable, NoReturn

from . import subsystem
from ._core import Context, _State, callback, encode, fspath, text
from ._native import ffi, lib
from .errors import RunError
from .results import Record, Results
from .scenario import Loaded
from .verdict import Verdict

if TYPE_CHECKING:
    from .scenario import Scenario


class Progress:
    """Shows the progress of work, and remembers an exception (such as KeyboardInterrupt) that stops it."""

    def __init__(self, wanted: bool | Callable[[float], object] | None) -> None:
        self.exception: BaseException | None = None
        self.call: Callable[[float], object] | None = wanted if callable(wanted) else None
        self.visible = not callable(wanted) and (_is_interactive() if wanted is None else bool(wanted))
        self.begun = clock.monotonic()
        self.shown = False
        self.handle = ffi.new_handle(self)

    def show(self, fraction: float, note: str = "") -> bool:
        if self.call is not None:
            # A function that returns False stops the work.
            return self.call(fraction) is not False
        # Work that is done at once shows no bar.
        if self.visible and (self.shown or clock.monotonic() - self.begun > 0.3):
            filled = int(20 * fraction)
            sys.stderr.write(f"\r[{'#' * filled}{' ' * (20 - filled)}] {100 * fraction:3.0f} % {note}")
            sys.stderr.flush()
            self.shown = True
        return True

    def end(self) -> None:
        if self.shown:
            sys.stderr.write("\r" + " " * 78 + "\r")
            sys.stderr.flush()


def _is_interactive() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


@callback(error=False)
def yoke_py_progress(handle: Any, progress: Any) -> bool:
    context = _State.current()
    if context is not None and context.pending is not None:
        return False
    count = progress.step_count
    fraction = progress.step / count if count else 1.0
    return bool(ffi.from_handle(handle).show(fraction, f"t = {progress.time:.5g} s"))


@callback(error=False)
def yoke_py_count_progress(handle: Any, done: int, total: int) -> bool:
    return bool(ffi.from_handle(handle).show(done / total if total else 1.0, f"{done} of {total}"))


@callback(error=False)
def yoke_py_fraction_progress(handle: Any, fraction: float) -> bool:
    return bool(ffi.from_handle(handle).show(fraction))


@callback()
def yoke_py_text_progress(handle: Any, message: Any) -> None:
    ffi.from_handle(handle).show(0.0, text(message))


@callback()
def yoke_py_map_progress(handle: Any, fraction: float) -> None:
    ffi.from_handle(handle).show(fraction)


def run(
    scenario: Scenario,
    output: Any,
    progress: bool | Callable[[float], object] | None,
    frames: int | None,
    threads: int,
    try_remedies: bool,
) -> Results:
    loaded = Loaded(scenario, threads)
    context, info = loaded.context, loaded.info
    loaded.system()
    record = Record.empty(context)
    bar = Progress(progress)

    files = _files(output)
    recorders = [lib.yk_record_recorder(record.pointer)]
    for file in files:
        definition = ffi.new("yk_file_recorder_def *", lib.yk_file_recorder_default())
        name = ffi.new("char[]", encode(file))
        definition.path = name
        pointer = ffi.new("yk_recorder **")
        context.check(lib.yk_file_recorder_create(context.pointer, definition, pointer))
        recorders.append(ffi.gc(pointer[0], lib.yk_recorder_destroy))
    array = ffi.new("yk_recorder *[]", recorders)
    pointer = ffi.new("yk_recorder **")
    context.check(lib.yk_tee_recorder_create(context.pointer, array, len(recorders), pointer))
    tee = ffi.gc(pointer[0], lib.yk_recorder_destroy)

    options = ffi.new("yk_run_options *")
    options.recorder = tee
    options.frame_count = info.frame_count if frames is None else frames
    options.max_contacts_per_frame = info.max_contacts_per_frame
    options.progress = lib.yoke_py_progress
    options.user = bar.handle
    if try_remedies:
        options.remedy_scenario = loaded.definition.pointer
    report = ffi.new("yk_run_report *")

    interrupted = False
    try:
        with context:
            status = lib.yk_run(context.pointer, loaded.pointer, options, report)
    except KeyboardInterrupt:
        interrupted = True
        status = lib.YK_INTERRUPTED
    finally:
        bar.end()
        ffi.release(tee)
        for recorder in recorders[1:]:
            ffi.release(recorder)

    completed = status in (lib.YK_OK, lib.YK_NOT_CONVERGED)
    verdict = Verdict.from_report(report, loaded.names("interfaces"), completed)
    results = Results(record, verdict, files[0] if files else None)
    if status < 0:
        fail(context, status, loaded, report.time, results)
    if interrupted:
        sys.stderr.write(f"interrupted at t = {report.time:g} s; the results are those up to there\n")
    return results


def record_run(scenario: Scenario, threads: int = 0) -> tuple[Loaded, Record, Verdict]:
    """Runs a scenario and keeps what an analysis needs of it: the loaded scenario and the record."""
    loaded = Loaded(scenario, threads)
    context = loaded.context
    loaded.system()
    record = Record.empty(context)
    options = ffi.new("yk_run_options *")
    options.recorder = lib.yk_record_recorder(record.pointer)
    report = ffi.new("yk_run_report *")
    with context:
        status = lib.yk_run(context.pointer, loaded.pointer, options, report)
    verdict = Verdict.from_report(report, loaded.names("interfaces"), status >= 0)
    if status < 0:
        fail(context, status, loaded, report.time, Results(record, verdict))
    return loaded, record, verdict


def fail(context: Context, status: int, loaded: Loaded, time: float, results: Results | None) -> NoReturn:
    """Raises the exception of a solver in Python, or a RunError."""
    found = subsystem.take_exception(context)
    message = context.message() or text(lib.yk_status_text(status))
    if found is not None:
        adapter, exception = found
        pointers = [ffi.cast("void *", loaded.info.subsystems[i]) for i in range(loaded.info.subsystem_count)]
        own = ffi.cast("void *", adapter.c)
        name = loaded.names("subsystems")[pointers.index(own)] if own in pointers else ""
        exception.yoke_time = time  # type: ignore[attr-defined]
        exception.yoke_subsystem = name  # type: ignore[attr-defined]
        exception.yoke_results = results  # type: ignore[attr-defined]
        if hasattr(exception, "add_note"):
            exception.add_note(f"in subsystem '{name}' at t = {time:g} s")
        raise exception
    if status == lib.YK_ERROR_MEMORY:
        raise MemoryError(message)
    name = next((word for word in loaded.names("subsystems") if f"'{word}'" in message), "")
    raise RunError(message, text(lib.yk_status_name(status)), time, name, results)


def _files(output: Any) -> list[str]:
    if output is None:
        return []
    if isinstance(output, (str, os.PathLike)):
        return [fspath(output)]
    return [fspath(file) for file in output]
