"""Write the reference of the Python package from its docstrings: python_api.py OUTPUT.md."""

import inspect
import pathlib
import re
import sys

import yoke

SECTIONS = {
    "Scenarios": ["load", "Scenario", "models", "describe"],
    "Results": ["open", "Results", "Channel", "Spectrum", "Verdict", "Finding", "Remedy"],
    "Running simulations": ["Simulation", "State", "Body", "rollout"],
    "Models": ["System", "multibody.Model", "nonsmooth.World"],
    "Solvers in Python": ["Subsystem", "Port", "Input", "Output", "serve"],
    "Analyses": ["check", "stability", "convergence", "advise", "sweep", "error_bars", "modes", "linearize", "compare"],
    "Other programs": ["fmu_info"],
    "Errors": ["Error", "ScenarioError", "Diagnostic", "RunError", "ClosedError", "BusyError"],
}


def text_of(thing: object) -> str:
    """The docstring as Markdown: its lists of arguments and attributes as lists."""
    lines = []
    for line in re.sub(r"``", "`", inspect.getdoc(thing) or "").splitlines():
        line = re.sub(r":(?:func|class|meth):`(?:yoke\.)?([^`]*)`", r"`\1`", line)
        if re.fullmatch(r"(Args|Attributes|Returns|Raises|Keys):", line):
            lines += ["", f"*{line[:-1]}*", ""]
        elif match := re.match(r"    (\w[\w, ]*): (.*)", line):
            lines.append(f"- `{match[1]}`: {match[2]}")
        elif line == "::":
            lines.append("")
        else:
            lines.append(re.sub(r"::$", ":", line))
    return re.sub(r"([<>|])", r"\\\1", "\n".join(lines)) if "    " not in "\n".join(lines) else "\n".join(lines)


def signature_of(thing: object, name: str) -> str:
    try:
        found = str(inspect.signature(thing))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return name
    return name + found.replace("'", "").replace("(self, ", "(").replace("(self)", "()")


def members(cls: type) -> list[tuple[str, object]]:
    found = {}
    for base in reversed([c for c in cls.__mro__ if c.__module__.startswith("yoke")]):
        found.update({name: thing for name, thing in vars(base).items() if not name.startswith("_")})
    return [(name, thing) for name, thing in found.items() if inspect.isfunction(thing) or isinstance(thing, (property, classmethod))]


def main() -> None:
    yoke.System(end=1, step=0.1), yoke.multibody.Model(), yoke.nonsmooth.World()  # gives their methods the signatures
    listed = {name for names in SECTIONS.values() for name in names}
    missing = set(yoke.__all__) - listed - {"multibody", "nonsmooth"}
    if missing:
        sys.exit(f"python_api: no section has {', '.join(sorted(missing))}")

    lines = ["# Python reference", "", "This page comes from the docstrings of the package. The [guide](python.md) explains its use.", ""]
    for section, names in SECTIONS.items():
        lines += [f"## {section}", ""]
        for name in names:
            thing: object = yoke
            for part in name.split("."):
                thing = getattr(thing, part)
            shown = name if isinstance(thing, type) and issubclass(thing, Exception) else signature_of(thing, name)
            lines += [f"### {name}", "", "```python", f"yoke.{shown}", "```", "", text_of(thing), ""]
            if not isinstance(thing, type):
                continue
            for word, member in members(thing):
                if isinstance(member, property):
                    lines += [f"#### {name}.{word}", "", text_of(member), ""]
                elif inspect.getdoc(member):
                    function = getattr(thing, word)
                    lines += [f"#### {name}.{word}", "", "```python", signature_of(function, word), "```", "", text_of(function), ""]
    pathlib.Path(sys.argv[1]).write_text("\n".join(lines))


main()
