"""Loads the shared libraries that a wheel brings, so that the loader finds them when the extension module asks for them."""

from __future__ import annotations

import ctypes
import pathlib

folder = pathlib.Path(__file__).parent / "lib"


def load() -> None:
    """Loads them all, each after those that it needs."""
    waiting = sorted(folder.glob("*.so*")) if folder.is_dir() else []
    while waiting:
        failed = []
        for path in waiting:
            try:
                ctypes.CDLL(str(path))
            except OSError as problem:
                failed.append((path, problem))
        if len(failed) == len(waiting):
            raise ImportError(f"the libraries of the package cannot be loaded: {failed[0][1]}")
        waiting = [path for path, _ in failed]


load()
