"""Serves solvers in Python to runs in other processes."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import pathlib
import re
import sys
from typing import Any, Callable, Mapping

from ._core import Context, callback, context_of, encode, text
from ._native import ffi, lib
from .subsystem import Adapter, Subsystem, take_exception

Factory = Callable[[], Subsystem]


class _Server:
    """What the callbacks of a server need."""

    def __init__(self, factories: Mapping[str, Factory], on_listen: Callable[[str], object] | None) -> None:
        self.factories = factories
        self.on_listen = on_listen
        self.handle = ffi.new_handle(self)

    def create(self, name: str) -> Subsystem:
        if not name and len(self.factories) == 1:
            return next(iter(self.factories.values()))()
        if name not in self.factories:
            raise KeyError(f"the server has no subsystem '{name}'; it has {', '.join(self.factories)}")
        return self.factories[name]()


@callback(error=-10)
def yoke_py_serve(handle: Any, context: Any, name: Any, subsystem: Any) -> int:
    # In the process of the client, which ends with it.
    try:
        made = ffi.from_handle(handle).create(text(name))
        subsystem[0] = ffi.addressof(Adapter(made, context_of(context), made.solver).c, "base")
    except Exception as exception:
        message = f"{type(exception).__name__}: {exception}".replace("\0", "")
        return int(lib.yk_fail(context, lib.YK_ERROR_SUBSYSTEM, b"%s", ffi.new("char[]", encode(message))))
    return 0


@callback(error=False)
def yoke_py_wait_for_clients(handle: Any, address: Any) -> bool:
    server: _Server = ffi.from_handle(handle)
    if server.on_listen is not None:
        call, server.on_listen = server.on_listen, None
        call(text(address))
    return True


def serve(
    subsystems: type[Subsystem] | Factory | Mapping[str, Factory],
    address: str,
    *,
    secret: str | None = None,
    once: bool = False,
    on_listen: Callable[[str], object] | None = None,
) -> None:
    """Offers solvers in Python to runs with ``solver: remote``, until an interrupt.

    Call it in a process that has no other threads: each client gets a copy of the process.

    Args:
        subsystems: A class, a function that makes a subsystem, or several by name.
        address: ``"unix:PATH"`` or ``"tcp:HOST:PORT"``; port 0: any that is free.
        secret: Shared secret; required at addresses that other machines can reach.
        once: Return after the first client.
        on_listen: Called with the address once the server listens.
    """
    factories = dict(subsystems) if isinstance(subsystems, Mapping) else {"": subsystems}
    server = _Server(factories, on_listen)
    context = Context(threads=1)
    definition = ffi.new("yk_server_def *", lib.yk_server_default())
    place = ffi.new("char[]", encode(address))
    definition.address = place
    word = ffi.new("char[]", encode(secret or ""))
    if secret:
        definition.secret = word
    definition.create = lib.yoke_py_serve
    definition.on_idle = lib.yoke_py_wait_for_clients
    definition.user = server.handle
    definition.stop_after_first_client = once
    try:
        with context:
            status = lib.yk_serve(context.pointer, definition)
    except KeyboardInterrupt:
        return
    found = take_exception(context)
    if found is not None:
        raise found[1]
    context.check(status)


CLASS = re.compile(r"(?P<module>[^:]+):(?P<name>[A-Za-z_]\w*)")


def load_class(word: str) -> Any:
    """The class of FILE.py:CLASS or MODULE:CLASS."""
    match = CLASS.fullmatch(word)
    if match is None:
        raise ValueError(f"'{word}' is not FILE.py:CLASS or MODULE:CLASS")
    if match["module"].endswith(".py"):
        path = pathlib.Path(match["module"])
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None or not path.is_file():
            raise FileNotFoundError(f"there is no file '{path}'")
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
    else:
        sys.path.insert(0, os.getcwd())
        module = importlib.import_module(match["module"])
    found = getattr(module, match["name"], None)
    if not callable(found):
        raise ValueError(f"{match['module']} has no class '{match['name']}'")
    return found


def main(arguments: list[str]) -> int:
    """`yoke serve FILE.py:CLASS`, with the options of `yoke serve`."""
    parser = argparse.ArgumentParser("yoke serve", description="Offer a solver in Python to runs with `solver: remote`.")
    parser.add_argument("solver", metavar="FILE.py:CLASS", help="class or function that makes the subsystem; also MODULE:CLASS")
    parser.add_argument("--listen", metavar="ADDRESS", required=True, help="listen on unix:PATH or tcp:HOST:PORT (port 0: any free port)")
    parser.add_argument("--secret-file", metavar="FILE", help="require clients to know the first line of FILE")
    parser.add_argument("--once", action="store_true", help="exit after the first client has disconnected")
    given = parser.parse_args(arguments)
    secret = pathlib.Path(given.secret_file).read_text().split("\n")[0] if given.secret_file else None

    def announce(address: str) -> None:
        print(f"serving {given.solver} at {address}", flush=True)

    serve(load_class(given.solver), given.listen, secret=secret, once=given.once, on_listen=announce)
    return 0
