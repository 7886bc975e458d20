"""Contexts of the C library, errors and texts: everything that the other modules share."""

from __future__ import annotations

import logging
import os
import re
import threading
import weakref
from typing import Any, Callable, Iterable, NoReturn, Sequence, TypeVar, cast

from ._native import ffi, lib
from .errors import Diagnostic, Error, ScenarioError

logger = logging.getLogger("yoke")
_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)


def text(pointer: Any) -> str:
    """The text that a `const char *` points to; empty for NULL."""
    return str(ffi.string(pointer).decode("utf-8", "replace")) if pointer else ""


def encode(value: str) -> bytes:
    """Bytes for a `const char *`."""
    if "\0" in value:
        raise ValueError("the text contains a null character")
    return value.encode()


def enum_words(name: str, prefix: str) -> dict[int, str]:
    """The enumerators of a C type as words: YK_FINDING_ENERGY_ERROR becomes "energy_error"."""
    elements: dict[int, str] = ffi.typeof(name).elements
    return {value: word[len(prefix) :].lower() for value, word in elements.items() if word.startswith(prefix)}


def strings(values: Sequence[str]) -> tuple[Any, list[Any]]:
    """A `const char *const *` and the objects that keep it alive."""
    keep = [ffi.new("char[]", encode(value)) for value in values]
    return (ffi.new("char *[]", keep) if keep else ffi.NULL), keep


def _report_interrupt(exception: type[BaseException], value: BaseException, traceback: Any) -> None:
    # A KeyboardInterrupt (or an error of a callback) must end the work that called back, not be lost.
    current = _State.current()
    if current is not None and current.pending is None:
        current.pending = value
        lib.yoke_py_request_stop(current.interrupt)


class _State:
    """The context that the calling thread works with, to which callbacks report exceptions."""

    _local = threading.local()

    @classmethod
    def current(cls) -> Context | None:
        return getattr(cls._local, "context", None)


F = TypeVar("F", bound=Callable[..., Any])


def callback(error: Any = None) -> Callable[[F], F]:
    """Makes a function the implementation of the one of its name in callbacks.h.

    Args:
        error: Value that is returned after an exception, which ends the work of the context.
    """
    return cast(Callable[[F], F], ffi.def_extern(error=error, onerror=_report_interrupt))


@callback()
def yoke_py_log(handle: Any, level: int, message: Any) -> None:
    logger.log(_LEVELS[level], "%s", text(message))


@callback(error=1)
def yoke_py_check_signals(handle: Any) -> int:
    # Entering Python is enough: pending signals are handled in the main thread before this function returns.
    return 0


# Allocator of contexts (yk_allocate_function), which tests replace by one that fails. None: realloc and free.
allocate: Any = None


class Context:
    """A context of the library. Used by one thread at a time.

    Use it as a context manager around calls that compute: exceptions of callbacks and interrupts are raised at the end of
    the block.
    """

    def __init__(self, threads: int = 0) -> None:
        self.interrupt = ffi.new("yoke_py_interrupt *")
        self.pending: BaseException | None = None
        # Exceptions of solvers in Python, with the adapters of their subsystems.
        self.exceptions: list[tuple[Any, Exception]] = []
        definition = ffi.new("yk_context_def *", lib.yk_context_default())
        definition.log = lib.yoke_py_log
        definition.log_level = lib.YK_LOG_WARNING
        definition.should_stop = ffi.addressof(lib, "yoke_py_should_stop")
        definition.should_stop_user = self.interrupt
        definition.thread_count = threads
        if allocate is not None:
            definition.allocate = allocate
        self.pointer = lib.yk_context_create(definition)
        if not self.pointer:
            raise MemoryError("out of memory")
        # Objects in the context are destroyed before it.
        self._objects: list[tuple[Any, Any]] = []
        self._finalizer = weakref.finalize(self, _destroy, self.pointer, self._objects, self.interrupt)
        _contexts[int(ffi.cast("uintptr_t", self.pointer))] = self

    def own(self, pointer: Any, destroy: Any) -> Any:
        """Destroys an object of the library when the context ends."""
        self._objects.append((pointer, destroy))
        return pointer

    def close(self) -> None:
        self._finalizer()

    def __enter__(self) -> Context:
        self._outer = _State.current()
        _State._local.context = self
        self.pending = None
        self.exceptions.clear()
        self.interrupt.stop = 0
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        _State._local.context = self._outer
        if self.pending is not None and not isinstance(value, type(self.pending)):
            pending, self.pending = self.pending, None
            raise pending

    def message(self) -> str:
        return text(lib.yk_last_message(self.pointer))

    def check(self, status: int) -> None:
        """Raises the error that belongs to a failed status."""
        if status < 0:
            self.fail(status)

    def fail(self, status: int) -> NoReturn:
        message = self.message() or text(lib.yk_status_text(status))
        raise error(status, message)


_contexts: weakref.WeakValueDictionary[int, Context] = weakref.WeakValueDictionary()


def context_of(pointer: Any) -> Context | None:
    """The context of this package that a callback of the library was given."""
    return _contexts.get(int(ffi.cast("uintptr_t", pointer)))


def _destroy(pointer: Any, objects: list[tuple[Any, Any]], keep: Any) -> None:
    while objects:
        thing, destroy = objects.pop()
        destroy(thing)
    lib.yk_context_destroy(pointer)


def error(status: int, message: str) -> Exception:
    if status == lib.YK_ERROR_MEMORY:
        return MemoryError(message)
    return Error(message, text(lib.yk_status_name(status)))


class Diagnostics:
    """The messages of one load."""

    def __init__(self, context: Context) -> None:
        self.context = context
        pointer = ffi.new("yk_diagnostics **")
        context.check(lib.yk_diagnostics_create(context.pointer, pointer))
        self.pointer = context.own(pointer[0], lib.yk_diagnostics_destroy)

    def list(self) -> list[Diagnostic]:
        found = []
        for index in range(lib.yk_diagnostics_count(self.pointer)):
            d = lib.yk_diagnostics_at(self.pointer, index)
            severity = "error" if d.severity == lib.YK_SEVERITY_ERROR else "warning"
            found.append(Diagnostic(severity, text(d.source).removeprefix("--set "), d.line, d.column, text(d.path), text(d.message)))
        return found

    def fail(self, status: int) -> NoReturn:
        if status == lib.YK_ERROR_MEMORY:
            raise MemoryError("out of memory")
        formatted = lib.yk_diagnostics_format(self.pointer)
        # Messages about a change begin with the option of the program and the key, which the message names again.
        message = re.sub(r"^--set [^:]*: error: ", "", text(formatted).rstrip(), flags=re.MULTILINE)
        lib.yk_free(self.context.pointer, formatted)
        found = self.list()
        if not found:
            self.context.fail(status)
        raise ScenarioError(message, found, text(lib.yk_status_name(status)))


def take_text(context: Context, pointer: Any) -> str:
    """A text of the library that belongs to the caller."""
    if not pointer:
        raise MemoryError("out of memory")
    value = text(pointer)
    lib.yk_free(context.pointer, pointer)
    return value


def nearest(word: str, words: Iterable[str]) -> str:
    """". Did you mean 'x'?" if a word is similar, or the words below it; otherwise empty."""
    import difflib

    words = list(words)
    below = [name for name in words if name.startswith(f"{word}.")]
    if below:
        more = f" and {len(below) - 6} more" if len(below) > 6 else ""
        return f". There are {', '.join(below[:6])}{more}"
    found = difflib.get_close_matches(word, words, 1)
    return f". Did you mean '{found[0]}'?" if found else ""


def fspath(path: str | os.PathLike[str]) -> str:
    return os.fspath(path)
