"""Exceptions of the package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Sequence

if TYPE_CHECKING:
    from .results import Results


class Error(Exception):
    """Base class of all errors that Yoke reports.

    Attributes:
        code: Name of the status, such as ``"YK_ERROR_FILE"``; empty if there is none.
    """

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Diagnostic:
    """One message about a scenario.

    Attributes:
        severity: ``"error"`` or ``"warning"``.
        file: File, or the override that causes the message.
        line: Line, from 1; 0 if unknown.
        column: Column in characters, from 1; 0 if unknown.
        key: Key that causes the message, such as ``"coupling.scheme"``.
        message: What is wrong, what is expected, and the remedy.
    """

    severity: str
    file: str
    line: int
    column: int
    key: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        key = f"{self.key}: " if self.key else ""
        return f"{place}: {self.severity}: {key}{self.message}"


class ScenarioError(Error):
    """A scenario is invalid.

    Attributes:
        file, line, column, key: Location of the first error.
        diagnostics: All errors and warnings.
    """

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = (), code: str = "YK_ERROR_INPUT") -> None:
        super().__init__(message, code)
        self.diagnostics = tuple(diagnostics)
        first = next((d for d in self.diagnostics if d.severity == "error"), None)
        self.file = first.file if first else ""
        self.line = first.line if first else 0
        self.column = first.column if first else 0
        self.key = first.key if first else ""


class RunError(Error):
    """A run stopped before its end.

    Attributes:
        time: Simulated time that was reached (s).
        subsystem: Subsystem that failed; empty if unknown.
        results: Results up to the failure, or None if nothing was recorded.
    """

    def __init__(
        self, message: str, code: str = "", time: float = float("nan"), subsystem: str = "", results: Results | None = None
    ) -> None:
        super().__init__(message, code)
        self.time = time
        self.subsystem = subsystem
        self.results = results


class ClosedError(Error):
    """An object was used after it was closed."""
