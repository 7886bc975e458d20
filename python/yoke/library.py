"""The model library."""

from __future__ import annotations

import difflib
import os
import pathlib

from .errors import ScenarioError


def folder() -> pathlib.Path | None:
    """Folder of the model library: the variable YOKE_MODELS, or the models of the package or of the source tree."""
    here = pathlib.Path(__file__)
    candidates = [here.parent / "models", here.resolve().parents[2] / "models"]
    # Installed in PREFIX/lib/python3/dist-packages/yoke: the models are in PREFIX/share/yoke.
    candidates += [parent / "share" / "yoke" / "models" for parent in here.resolve().parents]
    if os.environ.get("YOKE_MODELS"):
        candidates.insert(0, pathlib.Path(os.environ["YOKE_MODELS"]))
    return next((path for path in candidates if path.is_dir()), None)


def models() -> list[str]:
    """Names of the models that :func:`yoke.load` knows."""
    root = folder()
    return sorted(path.parent.name for path in root.glob("*/scenario.yaml")) if root else []


def find(name: str) -> str:
    """Path of a file, of the scenario in a folder, or of a model of the library."""
    path = pathlib.Path(name)
    if path.is_dir() and (path / "scenario.yaml").is_file():
        return str(path / "scenario.yaml")
    if path.exists():
        return name
    root = folder()
    if root is not None:
        for candidate in (root / name / "scenario.yaml", root / name, root / f"{name}.yaml"):
            if candidate.is_file():
                return str(candidate)
    close = difflib.get_close_matches(name, models(), 1)
    hint = f". Did you mean '{close[0]}'?" if close else ". yoke.models() lists the models of the library"
    raise ScenarioError(f"there is no file and no model '{name}'{hint}", (), "YK_ERROR_FILE")
