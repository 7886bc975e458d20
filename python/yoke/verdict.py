"""Whether a run can be trusted, as data and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence, overload

from ._core import enum_words, text


_KINDS = enum_words("yk_finding_kind", "YK_FINDING_")
_REMEDIES = enum_words("yk_remedy_kind", "YK_REMEDY_")


@dataclass(frozen=True)
class Remedy:
    """What can be done about a finding.

    Attributes:
        kind: ``"overrides"``, ``"run_advise"`` or ``"smaller_step"``.
        changes: Values of the scenario to set together: ``scenario.update(remedy.changes)``.
        verified_until: Time (s) up to which a run with these values had no serious finding; 0: not tried.
    """

    kind: str
    changes: Mapping[str, str]
    verified_until: float = 0.0

    def __str__(self) -> str:
        if self.kind == "run_advise":
            return "let yoke.advise() choose another scheme or step"
        if self.kind == "smaller_step":
            return "use a smaller time.step"
        changes = ", ".join(f"{key} = {value}" for key, value in self.changes.items())
        return f"set {changes}" + (f" (verified up to t = {self.verified_until:g} s)" if self.verified_until > 0 else "")


@dataclass(frozen=True)
class Finding:
    """A problem that was found in a run.

    Attributes:
        kind: Kind, such as ``"energy_error"`` (docs/trust.md lists all).
        serious: True: the results are not trustworthy.
        interface: Name of the interface; empty if the finding is about the whole run.
        value: Size; the kind says of what.
        message: The cause in words.
        remedies: What to do, the best first.
    """

    kind: str
    serious: bool
    interface: str
    value: float
    message: str
    remedies: tuple[Remedy, ...] = field(default=())

    def __str__(self) -> str:
        lines = [f"{self.kind}: {self.message}"]
        lines += [f"   fix: {remedy}" for remedy in self.remedies]
        return "\n".join(lines)


class Verdict(Sequence[Finding]):
    """The findings of a run.

    Attributes:
        findings: All findings, the most important first.
        completed: False: the run stopped before its end.
        trustworthy: False if a finding is serious.
        numbers: Figures of the run: ``steps``, ``time`` (s), ``wall_time`` (s), ``spurious_energy``, ...
        state_hash: Hash of the final state: equal runs have equal hashes.
    """

    def __init__(
        self, findings: Sequence[Finding], completed: bool = True, numbers: Mapping[str, float] | None = None, state_hash: int = 0
    ) -> None:
        self.findings = tuple(findings)
        self.completed = completed
        self.numbers = dict(numbers or {})
        self.state_hash = state_hash

    @classmethod
    def from_report(cls, report: Any, interfaces: Sequence[str], completed: bool) -> Verdict:
        """Reads a yk_run_report."""
        findings = []
        for i in range(report.finding_count):
            f = report.findings[i]
            interface = interfaces[f.interface_index.index] if 0 <= f.interface_index.index < len(interfaces) else ""
            remedies = tuple(_remedy(f.remedies[k]) for k in range(f.remedy_count))
            serious = f.serious if hasattr(f, "serious") else f.severity > 0
            findings.append(Finding(_KINDS[f.kind], bool(serious), interface, f.value, text(f.message), remedies))
        numbers = {
            "steps": float(report.step_count),
            "time": report.time,
            "wall_time": report.wall_time,
            "spurious_energy": report.spurious_energy,
            "energy_created": report.energy_created,
            "reference_energy": report.reference_energy,
            "mass_ratio": report.mass_ratio,
        }
        return cls(findings, completed, numbers, int(report.state_hash))

    @classmethod
    def from_summary(cls, summary: Mapping[str, float | str]) -> Verdict:
        """Reads the summary of a record."""
        findings = []
        number = 1
        while f"finding_{number}" in summary or f"findings.{number}.kind" in summary:
            old, new = f"finding_{number}", f"findings.{number}"
            kind = summary.get(f"{new}.kind", summary.get(old, ""))
            message = str(summary.get(f"{new}.message", summary.get(f"{old}_message", summary.get(old, ""))))
            serious = bool(summary.get(f"{new}.is_serious", summary.get(f"{old}_serious", 0)))
            value = summary.get(f"{new}.value", math.nan)
            findings.append(Finding(str(kind), serious, str(summary.get(f"{new}.interface", "")), float(value), message))
            number += 1
        numbers = {name: value for name, value in summary.items() if isinstance(value, float)}
        return cls(findings, summary.get("outcome", "") not in ("failed",), numbers)

    @property
    def trustworthy(self) -> bool:
        return self.completed and not any(finding.serious for finding in self.findings)

    @property
    def headline(self) -> str:
        if not self.completed:
            return f"STOPPED at t = {self.numbers.get('time', math.nan):g} s"
        serious = sum(finding.serious for finding in self.findings)
        if serious:
            return f"NOT TRUSTWORTHY: {serious} serious finding{'s' if serious > 1 else ''}"
        warnings = len(self.findings)
        return f"OK: {warnings} warning{'s' if warnings > 1 else ''}" if warnings else "OK: no findings"

    @overload
    def __getitem__(self, index: int) -> Finding: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Finding]: ...

    def __getitem__(self, index: int | slice) -> Finding | Sequence[Finding]:
        return self.findings[index]

    def __len__(self) -> int:
        return len(self.findings)

    def __bool__(self) -> bool:
        return self.trustworthy

    def __str__(self) -> str:
        return "\n".join([self.headline, *(f"{i}. {finding}" for i, finding in enumerate(self.findings, 1))])

    __repr__ = __str__


def _remedy(remedy: Any) -> Remedy:
    changes = {}
    for i in range(remedy.override_count):
        key, _, value = text(remedy.overrides[i]).partition("=")
        changes[key] = value
    return Remedy(_REMEDIES[remedy.kind], changes, remedy.verified_until)



