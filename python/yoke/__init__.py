"""Yoke: coupled simulations of mechanical systems.

::

    import yoke

    s = yoke.load("crank-damper")
    s["coupling.scheme"] = "tight"
    r = s.run()
    r["tip.position"].plot()
    print(r.verdict)

Quantities are in SI units.
"""

from __future__ import annotations

from . import _libraries  # noqa: F401  (before everything that loads the extension module)
from . import multibody, nonsmooth
from ._core import text as _text
from ._native import lib as _lib
from .analysis import advise, check, compare, convergence, error_bars, linearize, modes, stability, sweep
from .build import System
from .errors import ClosedError, Diagnostic, Error, RunError, ScenarioError
from .library import models
from .program import fmu_info
from .results import Channel, Results, Spectrum, open
from .scenario import Scenario, load
from .schema import describe
from .server import serve
from .simulation import Body, BusyError, Simulation, State, rollout
from .subsystem import Input, Output, Port, Subsystem
from .verdict import Finding, Remedy, Verdict

__version__ = _text(_lib.yk_version())

__all__ = [
    "Body",
    "BusyError",
    "Channel",
    "ClosedError",
    "Diagnostic",
    "Error",
    "Finding",
    "Input",
    "Output",
    "Port",
    "Remedy",
    "Results",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Simulation",
    "Spectrum",
    "State",
    "Subsystem",
    "System",
    "Verdict",
    "advise",
    "check",
    "compare",
    "convergence",
    "describe",
    "error_bars",
    "fmu_info",
    "load",
    "models",
    "modes",
    "multibody",
    "nonsmooth",
    "open",
    "rollout",
    "serve",
    "stability",
    "sweep",
]
