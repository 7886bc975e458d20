"""The program `yoke`, which comes with the package."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

from . import _libraries
from .errors import Error


def find() -> str:
    """Path of the program: the variable YOKE_PROGRAM, the package, its build tree, or the search path."""
    here = pathlib.Path(__file__).parent
    found = os.environ.get("YOKE_PROGRAM")
    # A package of the build tree consists of links: its own folder, not that of the sources, counts.
    package = pathlib.Path(sys.modules["yoke._native"].__file__ or "").parent
    candidates = [package / "bin" / "yoke", here / "bin" / "yoke", package.parent.parent / "yoke"]
    for candidate in candidates:
        if found is None and candidate.is_file() and os.access(candidate, os.X_OK):
            found = str(candidate)
    found = found or shutil.which("yoke")
    if found is None:
        raise Error("the program 'yoke' was not found; set YOKE_PROGRAM to its path")
    return found


def environment() -> dict[str, str]:
    """The environment of the program, which finds the libraries of a wheel."""
    found = dict(os.environ)
    if _libraries.folder.is_dir():
        found["LD_LIBRARY_PATH"] = ":".join(filter(None, (str(_libraries.folder), found.get("LD_LIBRARY_PATH"))))
    return found


def call(*arguments: str) -> str:
    """Runs the program and returns what it prints; exit code 3 (not trustworthy) is not an error."""
    done = subprocess.run([find(), *arguments], capture_output=True, text=True, env=environment())
    if done.returncode not in (0, 3):
        raise Error(done.stderr.strip() or f"yoke {arguments[0]} failed with exit code {done.returncode}")
    return done.stdout


def fmu_info(path: str | os.PathLike[str]) -> str:
    """Describes an FMU: its variables with units, its terminals, and a section for a scenario that couples it."""
    return call("fmu", "info", os.fspath(path))


def main() -> int:
    """The command `yoke` of the package, which also serves solvers in Python: `yoke serve FILE.py:CLASS`."""
    from . import server

    if sys.argv[1:2] == ["serve"] and server.CLASS.fullmatch(sys.argv[2] if len(sys.argv) > 2 else ""):
        return server.main(sys.argv[2:])
    command = find()
    os.execve(command, [command, *sys.argv[1:]], environment())
