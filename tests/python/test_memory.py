"""Memory that is missing is an error of the call, wherever it is missing."""

import os
import subprocess
import sys
import textwrap

from conftest import OSCILLATORS

PROGRAM = """
import ctypes, gc
import yoke
from yoke import _core
from yoke._native import ffi

libc = ctypes.CDLL(None)
libc.realloc.restype, libc.realloc.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_size_t)
libc.free.argtypes = (ctypes.c_void_p,)
left = 10**9

@ffi.callback("yk_allocate_function")
def allocate(user, block, size):
    global left
    address = int(ffi.cast("uintptr_t", block))
    if size == 0:
        libc.free(address)
        return ffi.NULL
    left -= 1
    return ffi.cast("void *", libc.realloc(address, size) or 0) if left >= 0 else ffi.NULL

_core.allocate = allocate

def work():
    s = yoke.load({scenario!r}, {{"time.end": 0.001}})
    r = s.run(threads=1)
    r["left.mass.position"].value.sum()
    yoke.check(s)
    with s.start(threads=1) as sim:
        sim.step()
        sim.state = sim.state

work()
total = 10**9 - left
assert total > 100
for count in range(0, total, max(1, total // 120)):
    left = count
    try:
        work()
    except MemoryError:
        pass
    else:
        raise SystemExit(f"no error without memory after {{count}} allocations")
    gc.collect()
"""


def test_no_memory():
    program = textwrap.dedent(PROGRAM.format(scenario=OSCILLATORS))
    done = subprocess.run([sys.executable, "-c", program], env=os.environ, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr[-3000:]
