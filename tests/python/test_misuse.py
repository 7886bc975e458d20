"""No call can crash the interpreter: each case runs in a process of its own."""

import subprocess
import sys
import textwrap

import pytest

CASES = {
    "step after close": "sim.close(); sim.step()",
    "read after close": "sim.close(); sim['left.mass.position']",
    "state after close": "sim.close(); sim.state",
    "close twice": "sim.close(); sim.close(); raise ValueError",
    "wrong type of name": "sim[3]",
    "unknown channel": "sim.read('nothing')",
    "null character": "sim['a\\0b']",
    "infinite end": "sim.run_until(float('inf'))",
    "state of another size": "sim.state = yoke.State(b'1234', 0.0, 0)",
    "empty state": "sim.state = yoke.State(b'', 0.0, 0)",
    "changed state": "s = sim.state; sim.state = yoke.State(b'\\xff' * len(s._data), 0.0, 0)",
    "state that is no state": "sim.state = 'x'",
    "set NaN": "sim.set('left.mass', float('nan'))",
    "null in a text": "yoke.load('time: {end: 1}\\n\\0')",
    "empty text": "yoke.load('\\n')",
    "empty dict": "yoke.load({})",
    "key that is no text": "s[3] = 1",
    "cyclic dict": "d = {}; d['a'] = d; yoke.load(d)",
    "channel out of range": "s.run()['joint.force'][10**9]",
    "bound method after the end": "step = sim.step; sim.close(); del sim; step()",
    "body after close": "t = yoke.load('thrown-sphere').start(); b = t[t.bodies[0]]; t.close(); b.position",
    "wrong shape": "t = yoke.load('thrown-sphere').start(); t[t.bodies[0]].apply_force(np.zeros((3, 3)))",
    "words as a force": "t = yoke.load('thrown-sphere').start(); t[t.bodies[0]].apply_force('abc')",
    "use in a callback": "r = s.run(progress=lambda f: sim.step()); raise ValueError",
}
PROGRAM = """
import numpy as np, yoke
s = yoke.load({scenario!r})
sim = s.start()
try:
    {case}
except (Exception, RecursionError) as error:
    print(type(error).__name__, error)
else:
    raise SystemExit("no error")
"""


@pytest.mark.parametrize("name", CASES)
def test_misuse(name):
    from conftest import OSCILLATORS

    program = PROGRAM.format(scenario=OSCILLATORS, case=CASES[name])
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]


def test_objects_are_freed_in_any_order():
    program = """
    import gc, yoke
    for i in range(30):
        s = yoke.load({scenario!r})
        r = s.run()
        c = r[next(iter(r))]
        v = c.value
        sim = s.start()
        st = sim.state
        del s, r
        gc.collect()
        assert v[0] == v[0]
        del c, sim
        gc.collect()
        v.sum()
    """
    from conftest import OSCILLATORS

    program = textwrap.dedent(program).format(scenario=OSCILLATORS)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
