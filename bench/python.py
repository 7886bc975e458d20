"""Cost of the Python package over that of the library.

    PYTHONPATH=build/release/python /usr/bin/python3 bench/python.py [--threads N]

Prints the cost of a step() call beyond the same step in C, the cost of a subsystem in Python, the time to read a channel of 1e7
samples, and the speed-up of rollout() with threads and of processes. Each time is the least of several.
"""

import argparse
import multiprocessing
import os
import tempfile
import time
import tracemalloc
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import yoke

OSCILLATOR = """\
time: {end: 1e6, step: 1e-3}
subsystems:
  mass: {solver: oscillator, mass: 1, stiffness: 100, position: 0.1}
record: {channels: [mass.mass.position]}
"""


class Mass(yoke.Subsystem, register=False):
    """A mass on a spring."""

    ports = {"mass": yoke.Port("scalar", input="wrench")}

    def __init__(self) -> None:
        self.state = np.array([0.1, 0.0])

    def step(self, t, h, inputs):
        x, v = self.state
        v -= h * 100 * x
        self.state[:] = x + h * v, v

    def output(self, outputs):
        outputs["mass"].position, outputs["mass"].velocity = self.state


def least(work, repetitions=7):
    times = []
    for _ in range(repetitions):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def step_overhead():
    sim = yoke.load(OSCILLATOR).start(threads=1)
    count = 200_000

    def calls():
        step = sim.step
        for _ in range(count):
            step()

    in_c = least(lambda: sim.steps(count)) / count
    in_python = least(calls) / count
    print(f"step of one oscillator: {1e6 * in_c:.3f} us in C, {1e6 * in_python:.3f} us by step(); overhead {1e6 * (in_python - in_c):.3f} us")

    sim = yoke.load({"time": {"end": 1e6, "step": 1e-3}, "subsystems": {"mass": {"solver": Mass}}}).start(threads=1)
    count = 20_000
    print(f"step of a mass in Python: {1e6 * least(lambda: sim.steps(count)) / count:.2f} us")


def large_channel():
    # The same samples as a run would record, written as a file.
    s = yoke.load(OSCILLATOR, {"time.end": 10, "time.step": 1e-6})
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "large.h5")
        r = s.run(path, progress=False, threads=1, frames=0)
        for label, results in (("in memory", r), ("in a file", yoke.open(path))):
            tracemalloc.start()
            begun = time.perf_counter()
            value = results["mass.mass.position"].value
            elapsed = time.perf_counter() - begun
            allocated = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            print(f"channel of {len(value):.1e} samples {label}: {1e3 * elapsed:.3f} ms, {allocated / 1e3:.1f} kB of Python memory, view: {not value.flags.owndata}")


def run_to_the_end(changes):
    with yoke.load("split-pendulum", {"time.end": 20, **changes}).start(threads=1) as sim:
        sim.run_until(20)


def rollouts(threads):
    """Speed-up by threads, and by processes, which share nothing: what the machine can give."""
    s = yoke.load("split-pendulum", {"time.end": 20})
    variations = [{"parameters.rate": 0.5 + 0.01 * i} for i in range(32)]
    first = 0.0
    count = 1
    while count <= threads:
        elapsed = least(lambda: yoke.rollout(s, variations, lambda sim: sim.run_until(20), threads=count), 3)
        first = first or elapsed
        with ProcessPoolExecutor(count, multiprocessing.get_context("spawn")) as pool:
            list(pool.map(run_to_the_end, variations))  # starts the processes
            apart = least(lambda: list(pool.map(run_to_the_end, variations)), 3)
        print(
            f"rollout of {len(variations)} runs with {count} threads: {elapsed:.2f} s, speed-up {first / elapsed:.2f}; "
            f"with {count} processes {first / apart:.2f}"
        )
        count *= 2


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=8)
    arguments = parser.parse_args()
    step_overhead()
    large_channel()
    rollouts(arguments.threads)
