"""Scenarios as YAML text."""

from __future__ import annotations

import json
import math
import os
import re
from typing import Any, Mapping, Sequence

import numpy as np

# Words that need no quotes: expressions stay readable, and no YAML parser reads them as another type.
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./()*+^ -]*\Z")
_RESERVED = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}


def plain(value: Any) -> Any:
    """The value in the types of JSON: paths become text, arrays lists, objects with `to_scenario` what that returns."""
    if hasattr(value, "to_scenario"):
        return plain(value.to_scenario())
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        # Subclasses, such as np.float64, may be written in another way.
        return float(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (Sequence, range)):
        return [plain(item) for item in value]
    raise TypeError(f"a scenario cannot contain a value of type {type(value).__name__}")


def scalar(value: Any) -> str:
    """A value on one line, as in an override or behind a key."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"a scenario cannot contain the number {value}")
        return repr(float(value))
    if isinstance(value, str):
        if _PLAIN.match(value) and value.lower() not in _RESERVED and not value.endswith(" "):
            return value
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(str(key))}: {scalar(item)}" for key, item in value.items()) + "}"
    return "[" + ", ".join(scalar(item) for item in value) + "]"


def _block(value: Any, indent: int, lines: list[str], head: str) -> None:
    space = " " * indent
    if isinstance(value, dict) and value:
        line = scalar(value)
        if head and len(space) + len(head) + len(line) < 110 and not any(
            isinstance(item, (dict, list)) and item for item in value.values()
        ):
            lines.append(f"{space}{head} {line}")
            return
        if head:
            lines.append(f"{space}{head}")
            indent += 2
        for key, item in value.items():
            _block(item, indent, lines, f"{scalar(key)}:")
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        lines.append(f"{space}{head}")
        for item in value:
            lines.append(f"{space}  - {scalar(item)}")
    else:
        lines.append(f"{space}{head} {scalar(value)}")


def dump(scenario: Mapping[str, Any]) -> str:
    """A scenario as YAML text."""
    lines: list[str] = []
    _block(plain(scenario), 0, lines, "")
    return "\n".join(lines) + "\n"
