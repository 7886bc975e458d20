#!/usr/bin/env python3
"""The verdict of a run does not depend on coordinates, units and names.

Every scenario of this folder is run as it is, and with one macro step that is too coarse, so that there are findings. Then it is

  moved     by 1000 m, by the pose of every subsystem
  rotated   by the same
  shifted   by 1000 m in the coordinates of its subsystems
  units     its subsystems are described in millimetres and grams
  renamed   subsystems, interfaces and bodies have other names

and run again. The kinds and severities of the findings must be the same. Without PyYAML it exits with 77.

usage: invariance.py PATH-TO-YOKE [SCENARIO...]
"""
import copy
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

try:
    import yaml
except ImportError:
    print("PyYAML is missing")
    sys.exit(77)

SCENARIOS = Path(__file__).resolve().parent / "scenarios"
SHIFT = [600, -800, 0]  # m
COARSE = 8  # multiple of the macro step
LEFT_OUT = {"particles": "chaotic", "stack": "slow"}
# Differences with a reason.
KNOWN = {
    ("shaft", "rotated"): "the coupling is unstable in a direction in which nothing moves: exact zeros stay zero, and rounding errors grow",
}
# Schemes of scenarios that their own cannot run.
SCHEMES = {"piston": "index1"}


class Loader(yaml.SafeLoader):
    """Reads 1e-3 as a number, as Yoke does."""


Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"), list("-+0123456789."))


class NotApplicable(Exception):
    """The transformation has no meaning for this scenario."""


def items(section):
    """The names and contents of a section, which is a map, or a list with names."""
    if isinstance(section, dict):
        return list(section.items())
    return [(one.get("name"), one) for one in section or []]


def subsystems(scenario):
    return items(scenario["subsystems"])


def plus(value, more):
    return f"({value}) + {more}" if isinstance(value, str) else value + more


def times(value, factor):
    if isinstance(value, list):
        return [times(one, factor) for one in value]
    return f"({value})*{factor:.17g}" if isinstance(value, str) else value * factor


def check_signals(scenario):
    """Positions and velocities that a controller compares with a number are not free."""
    for _, wire in items(scenario.get("wires")):
        if str(wire["from"]).split(".")[-1] in ("position", "velocity"):
            part = dict(subsystems(scenario)).get(wire["from"].split(".")[0], {})
            name = wire["from"].split(".")[1]
            if name not in part.get("joints", {}):
                raise NotApplicable("a controller follows a coordinate")


def moved(scenario):
    check_signals(scenario)
    for _, part in subsystems(scenario):
        pose = part.setdefault("pose", {})
        pose["position"] = [plus(p, s) for p, s in zip(pose.get("position", [0, 0, 0]), SHIFT)]


def rotated(scenario):
    check_signals(scenario)
    for _, part in subsystems(scenario):
        if "pose" in part:
            raise NotApplicable("has a pose")
        part["pose"] = {"orientation": {"axis": [1, -2, 0.5], "angle": 0.7}}


def shift_vector(owner, key):
    owner[key] = [plus(p, s) for p, s in zip(owner.get(key, [0, 0, 0]), SHIFT)]


def shifted(scenario):
    check_signals(scenario)
    for _, part in subsystems(scenario):
        if part["solver"] not in ("multibody", "nonsmooth") or "pose" in part or "units" in part:
            raise NotApplicable("other solvers, units or poses")
        for section in ("bodies", "nodes"):
            for _, body in items(part.get(section)):
                shift_vector(body, "position")
        for _, joint in items(part.get("joints")):
            if "at" in joint:
                shift_vector(joint, "at")
            elif "ground" in joint["between"]:
                raise NotApplicable("a joint without a place")
        for shape in part.get("ground_shapes", []):
            shift_vector(shape, "position")
        for section in ("forces", "ports"):
            for _, force in items(part.get(section)):
                if "at" in force:
                    shift_vector(force, "at")
                elif "ground" in force.get("between", []):
                    markers = force.setdefault("markers", [{}, {}])
                    shift_vector(markers[force["between"].index("ground")], "offset")


# Powers of length and mass of the values of keys; those of springs and forces that turn have two more powers of length.
POWERS = {
    "mass": (0, 1), "inertia": (2, 1), "position": (1, 0), "velocity": (1, 0), "gravity": (1, 0), "at": (1, 0), "offset": (1, 0),
    "free_length": (1, 0), "size": (1, 0), "radius": (1, 0), "density": (-3, 1), "stiffness": (0, 1), "damping": (0, 1),
    "young_modulus": (-1, 1), "width_y": (1, 0), "width_z": (1, 0),
}  # fmt: skip
PURE = {
    "solver", "substeps", "integrator", "orientation", "angular_velocity", "axis", "between", "body", "nodes", "type", "factor",
    "repeat", "name", "material", "poisson_ratio", "friction", "restitution", "signal_port", "fixed", "normal",
}  # fmt: skip
KIND = {"torsion-spring": (2, 1), "torque": (2, 1), "force": (1, 1)}


SECTIONS = {"bodies", "nodes", "beams", "joints", "forces", "ports", "materials", "particles"}  # whose keys are names


def scale(value, kind=None):
    if isinstance(value, list):
        for one in value:
            scale(one, kind)
    elif isinstance(value, dict):
        kind = value.get("type", kind)
        for key, one in value.items():
            if key in SECTIONS and not (isinstance(one, list) and isinstance(one[0], str)):
                for _, content in items(one):
                    scale(content)
                continue
            if key in PURE:
                continue
            powers = POWERS.get(key)
            if key == "vector" or (kind == "torsion-spring" and key in ("stiffness", "damping")):
                powers = KIND.get(kind)
            is_value = isinstance(one, (int, float, str)) or (isinstance(one, list) and not any(isinstance(k, dict) for k in one))
            if is_value and powers is None:
                raise NotApplicable(f"the unit of {key} is not known")
            if is_value:
                value[key] = times(one, 1000.0 ** sum(powers))
            else:
                scale(one, kind)


def units(scenario):
    scaled = False
    for _, part in subsystems(scenario):
        if part["solver"] not in ("multibody", "nonsmooth", "oscillator"):
            continue
        if "units" in part or "pose" in part:
            raise NotApplicable("has units or a pose")
        scale(part)
        part["units"] = {"length": "mm", "mass": "g"}
        scaled = True
    if not scaled:
        raise NotApplicable("no solver with units")


def renamed(scenario):
    bodies = {body for _, part in subsystems(scenario) for body, _ in items(part.get("bodies"))}

    def new(name):
        return f"zz_{name}"

    def reference(text):
        """SUBSYSTEM.PORT, SUBSYSTEM.BODY.QUANTITY or an interface's quantity."""
        parts = str(text).split(".")
        if len(parts) > 2 and parts[1] in bodies and parts[0] in dict(subsystems(scenario)):
            part = dict(subsystems(scenario))[parts[0]]
            if parts[1] in dict(items(part.get("bodies"))) and parts[1] not in dict(items(part.get("ports"))):
                parts[1] = new(parts[1])
        return new(".".join(parts))

    for _, interface in items(scenario.get("interfaces")):
        interface["between"] = [reference(one) for one in interface["between"]]
    for _, wire in items(scenario.get("wires")):
        wire["from"], wire["to"] = reference(wire["from"]), reference(wire["to"])
    record = scenario["record"]
    record["channels"] = [reference(one) for one in record["channels"]]
    for _, part in subsystems(scenario):
        own = {body for body, _ in items(part.get("bodies"))}

        def rename(value):
            if isinstance(value, list):
                for one in value:
                    rename(one)
            elif isinstance(value, dict):
                for key, one in value.items():
                    if key in ("between", "bodies") and isinstance(one, list):
                        value[key] = [new(name) if name in own else name for name in one]
                    elif key in ("body", "container") and isinstance(one, str) and one in own:
                        value[key] = new(one)
                    else:
                        rename(one)

        rename(part)
        if isinstance(part.get("bodies"), dict):
            part["bodies"] = {new(name): body for name, body in part["bodies"].items()}
        for body in part["bodies"] if isinstance(part.get("bodies"), list) else []:
            body["name"] = new(body["name"])
    for section in ("subsystems", "interfaces"):
        content = scenario.get(section)
        if isinstance(content, dict):
            scenario[section] = {new(name): one for name, one in content.items()}
        for one in content if isinstance(content, list) else []:
            one["name"] = new(one["name"])


TRANSFORMATIONS = [moved, rotated, shifted, units, renamed]


def verdict(yoke, scenario, folder, name):
    path = Path(folder) / f"{name}.yaml"
    path.write_text(yaml.safe_dump(scenario, sort_keys=False))
    done = subprocess.run([yoke, "run", str(path), "--no-output", "--no-remedies", "--json"], capture_output=True, text=True, check=False)
    try:
        found = json.loads(done.stdout)
    except json.JSONDecodeError:
        return None, (done.stdout + done.stderr)[:2000]
    kinds = {(one["name"], "serious" if one["serious"] else "warning") for one in found["findings"]}
    return kinds, "; ".join(f"{one['name']}: {one['message']}" for one in found["findings"])


def main():
    yoke = str(Path(sys.argv[1]).resolve())
    names = sys.argv[2:] or sorted(path.stem for path in SCENARIOS.glob("*.yaml") if path.stem not in LEFT_OUT)
    jobs, skipped = [], []
    for name in names:
        plain = yaml.load((SCENARIOS / f"{name}.yaml").read_text(), Loader)
        channels = plain["record"]["channels"]
        plain["record"]["channels"] = [re.sub(r"\.[xyz]$", "", one) for one in channels]  # components are not invariant
        if name in SCHEMES:
            plain["coupling"] = {"scheme": SCHEMES[name]}
        for coarse in (1, COARSE):
            base = copy.deepcopy(plain)
            base["time"]["step"] = times(base["time"]["step"], float(coarse))
            title = f"{name}-{coarse}"
            jobs.append((title, None, base))
            for change in TRANSFORMATIONS:
                other = copy.deepcopy(base)
                try:
                    change(other)
                except NotApplicable as reason:
                    if coarse == 1:
                        skipped.append(f"{name} {change.__name__}: {reason}")
                    continue
                jobs.append((title, change.__name__, other))

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        results = list(pool.map(lambda job: verdict(yoke, job[2], folder, f"{job[0]}-{job[1]}"), jobs))

    bases = {title: result for (title, change, _), result in zip(jobs, results) if change is None}
    failures = compared = with_findings = 0
    for (title, change, _), (kinds, text) in zip(jobs, results):
        if change is None:
            with_findings += bool(kinds)
            if kinds is not None:
                continue
        compared += 1
        reason = KNOWN.get((title.rsplit("-", 1)[0], change))
        if reason and kinds is not None and kinds != bases[title][0]:
            print(f"known: {title} {change}: {reason}")
        elif kinds is None or kinds != bases[title][0]:
            failures += 1
            print(f"FAILED: {title} {change or ''}\n  as it is: {bases[title][1]}\n  now: {text}")
    print("\n".join(f"left out: {line}" for line in skipped))
    print(f"{compared} verdicts of {len(bases)} runs compared, {with_findings} runs with findings, {failures} differ")
    return 1 if failures or compared < 250 and not sys.argv[2:] else 0


if __name__ == "__main__":
    sys.exit(main())
