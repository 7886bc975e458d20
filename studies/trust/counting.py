"""Runs scenarios with a known answer by the program itself, and counts how often its verdict is right."""
import argparse
import math
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Callable, Optional, Union

import numpy as np
from scipy.integrate import solve_ivp

GOOD, WRONG = 0.05, 0.1  # errors by the range of the channels
RESTING = 1e-9  # range of a channel by the largest value: smaller ones are rounding
SIZED = 1e-3  # errors whose estimate is compared
STEPS = (4, 1, 0.25)
REFUSED = (2, 9)  # exit codes: the scenario is invalid, or the run took too long
FAILED = 1
RUN_SECONDS = 120


@dataclass
class Converged:
    """The truth is the scenario itself with a smaller step, under another scheme."""

    scheme: Optional[str]
    parts: int = 16


@dataclass
class Case:
    name: str
    text: str
    truth: Union[Callable, Converged]  # of the times, or how to compute it
    step: float
    schemes: tuple = (None,)
    contact: bool = False  # the estimated error of a trajectory is not compared


def ode(f, y0, pick, longest=np.inf):
    """A truth by SciPy: `pick` selects the recorded rows of the solution."""

    def truth(t):
        s = solve_ivp(f, (0, t[-1] + 1e-9), y0, method="DOP853", rtol=1e-11, atol=1e-12, t_eval=t, max_step=longest)
        return pick(s.y)

    return truth


@dataclass
class Outcome:
    code: int
    rows: Optional[np.ndarray]  # time and channels
    names: list  # of the columns without time
    estimate: float
    said: str
    cost: float  # of the estimate, relative to the run
    remedies: list  # lists of overrides


def run(program, folder, text, sets, options=("--no-remedies",)):
    path, csv = os.path.join(folder, "case.yaml"), os.path.join(folder, "case.csv")
    with open(path, "w") as file:
        file.write(text)
    if os.path.exists(csv):
        os.remove(csv)
    command = [program, "run", path, "-o", csv, *options]
    for s in sets:
        command += ["--set", s]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Outcome(9, None, [], math.nan, f"took longer than {RUN_SECONDS} s", math.nan, [])
    rows, names = None, []
    if os.path.exists(csv):
        with open(csv) as file:
            names = [name.strip().strip('"') for name in file.readline().split(",")][1:]
        rows = np.genfromtxt(csv, delimiter=",", skip_header=1)
    said = re.search(r"^(OK|NOT).*$", done.stdout, re.M)
    said = said.group(0) if said else (done.stderr.strip().splitlines() or [""])[0]
    findings = " | ".join(line.strip() for line in re.findall(r"^ *(?:SERIOUS|serious|WARNING|warning).*$", done.stdout, re.M))
    estimate = re.search(r"estimated error (?:above )?([0-9.e+-]+) %", said)
    cost = re.search(r"with other steps, ([0-9.e+-]+) % of the run", done.stdout)
    cost = float(cost.group(1)) / 100 if cost else math.nan
    remedies = [re.findall(r"--set '?([^ ']+)'?", line) for line in done.stdout.splitlines() if "--set" in line]
    return Outcome(done.returncode, rows, names, float(estimate.group(1)) / 100 if estimate else math.nan, f"{said} {findings}", cost, remedies)


def overrides(case, scheme, step):
    """A string is the name of a scheme."""
    return [f"time.step={step!r}"] + ([f"coupling={{scheme: {scheme}}}"] if scheme else [])


def is_finite(rows):
    return rows is not None and rows.ndim == 2 and np.all(np.isfinite(rows))


def columns_of(text, names):
    """Columns of each recorded channel: a vector counts as a whole."""
    channels = re.search(r"channels: *\[([^]]*)\]", text).group(1).split(",")
    parts = [[k for k, name in enumerate(names) if re.match(re.escape(c.strip()) + r"(\.[wxyz])?( |\[|$)", name)] for c in channels]
    return [part for part in parts if part]


def distance(rows, times, truth, columns):
    """Largest difference at common times, by the range of the channel (of a vector: of the component that moves most)."""
    if not is_finite(rows):
        return math.inf
    at = np.minimum(np.searchsorted(times, rows[:, 0] - 1e-9), len(times) - 1)
    common = np.abs(times[at] - rows[:, 0]) < 1e-7
    exact = truth[:, at[common]]
    worst = 0.0
    for part in columns:
        spread = np.max(np.ptp(exact[part], axis=1))
        off = np.max(np.abs(rows[common, 1:].T[part] - exact[part]))
        if spread > RESTING * np.max(np.abs(exact)):
            worst = max(worst, float(off / spread))
    return worst


class Truth:
    """The known answer of a case; None if its own error is too large."""

    def __init__(self, program, folder, case):
        self.case, self.error, self.times = case, 0.0, None
        if not isinstance(case.truth, Converged):
            return
        results = []
        for parts in (case.truth.parts // 2, case.truth.parts):
            sets = overrides(case, case.truth.scheme, case.step / parts)
            outcome = run(program, folder, case.text, sets, ("--no-remedies", "--no-verdict"))
            if not is_finite(outcome.rows) or outcome.code in REFUSED:
                self.error = math.inf
                self.said = outcome.said
                return
            results.append(outcome)
        self.times, self.values = results[1].rows[:, 0], results[1].rows[:, 1:].T
        self.error = self.error_of(results[0])
        self.said = f"two references differ by {self.error:.2g}"

    def error_of(self, outcome):
        rows = outcome.rows
        if not is_finite(rows):
            return math.inf
        columns = columns_of(self.case.text, outcome.names)
        if self.times is None:
            return distance(rows, rows[:, 0], self.case.truth(rows[:, 0]), columns)
        return distance(rows, self.times, self.values, columns)


def judge(outcome, error):
    if outcome.code in REFUSED:
        return "refused"
    if outcome.code == FAILED:
        return "right"  # it stopped and said so
    if error > WRONG:
        return "right" if outcome.code else "miss"
    if error < GOOD:
        return "alarm" if outcome.code else "right"
    return "between"


def try_remedy(program, folder, case, sets, truth):
    """Pastes the first remedy that is printed. Returns None if there is none, and else whether the run is trusted and good."""
    outcome = run(program, folder, case.text, sets, ())
    if not outcome.remedies:
        return None, "no remedy"
    pasted = run(program, folder, case.text, sets + outcome.remedies[0])
    error = truth.error_of(pasted)
    return pasted.code == 0 and error < 2 * WRONG, f"{' '.join(outcome.remedies[0])}: error {error:.3g}; {pasted.said}"


def count_cases(description, cases):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/yoke")
    parser.add_argument("--case", default="", help="part of the names")
    parser.add_argument("--verbose", action="store_true", help="print all runs")
    parser.add_argument("--remedies", action="store_true", help="try the remedies of untrusted runs with the largest step, instead of counting verdicts")
    asked = parser.parse_args()
    count = dict(right=0, miss=0, alarm=0, between=0, refused=0)
    remedy = {True: 0, False: 0, None: 0}
    estimated = close = scenarios = 0
    costs = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            if asked.case not in case.name:
                continue
            truth = Truth(asked.program, folder, case)
            if truth.error > 0.01:
                print(f"no truth for {case.name}: {truth.said}", flush=True)
                continue
            scenarios += 1
            for scheme in case.schemes:
                for factor in STEPS:
                    sets = overrides(case, scheme, case.step * factor)
                    outcome = run(asked.program, folder, case.text, sets)
                    error = math.nan if outcome.code in REFUSED else truth.error_of(outcome)
                    if asked.remedies:
                        if outcome.code == 3 or outcome.code == 1:
                            works, said = try_remedy(asked.program, folder, case, sets, truth)
                            remedy[works] += 1
                            if asked.verbose or works is not True:
                                print(f"remedy {works}: {case.name} {scheme or ''} h = {case.step * factor:g}: {said[:300]}", flush=True)
                        break
                    kind = judge(outcome, error)
                    count[kind] += 1
                    costs += [outcome.cost] if outcome.cost > 0 else []
                    is_close = True
                    if kind != "refused" and not case.contact and error >= SIZED and not math.isnan(outcome.estimate):
                        ratio = min(outcome.estimate, 1) / min(error, 1)
                        is_close = 1 / 3 <= ratio <= 3
                        estimated += 1
                        close += is_close
                    if asked.verbose or kind in ("miss", "alarm", "refused") or not is_close:
                        note = kind if is_close else kind + ", estimate off"
                        print(f"{note:10s} {case.name} {scheme or ''} h = {case.step * factor:g}: error {error:.3g}; {outcome.said[:300]}", flush=True)
    if asked.remedies:
        print(f"{scenarios} scenarios: remedies that work {remedy[True]}, that do not {remedy[False]}, none printed {remedy[None]}")
        return
    print(f"cost of the estimate by the time of the run: median {100 * np.median(costs):.0f} %, nine of ten below {100 * np.quantile(costs, 0.9):.0f} %")
    print(f"{scenarios} scenarios: {count['right']} right, {count['miss']} misses, {count['alarm']} false alarms, "
          f"{count['between']} between, {count['refused']} refused; estimates within a factor of 3: {close} of {estimated}")
