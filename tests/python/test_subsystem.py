"""Solvers in Python."""

import ctypes
import inspect
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

import yoke


class Mass(yoke.Subsystem, solver="python-mass"):
    """A mass on a spring, by the implicit midpoint rule.

    Args:
        mass: Mass (kg).
        stiffness: Stiffness of the spring (N/m).
        velocity: Velocity at the start (m/s).
        fail_at: Time at which the solver fails (s).
    """

    ports = {"mass": yoke.Port("scalar", input=("wrench", "motion"))}
    channels = {"momentum": ("kg m/s", 1)}

    def __init__(self, mass: float, stiffness: float = 0.0, velocity: float = 0.0, fail_at: float = 1e9) -> None:
        self.mass, self.stiffness, self.fail_at = mass, stiffness, fail_at
        self.state = np.array([0.0, velocity, 0.0, 0.0])  # position, velocity, acceleration, force

    def step(self, t, h, inputs):
        port = inputs["mass"]
        x, v, a, f = self.state
        if t > self.fail_at:
            raise ZeroDivisionError("as requested")
        if port.kind == "motion":
            x, new = port.position(h), port.velocity(h)
            a = (new - v) / h
            v, f = new, self.mass * a + self.stiffness * x
        else:
            f = port.force(h / 2)
            a = (f - self.stiffness * (x + h / 2 * v)) / (self.mass + self.stiffness * h**2 / 4)
            x += h * v + h**2 / 2 * a
            v += h * a
        self.state[:] = x, v, a, f

    def output(self, outputs):
        port = outputs["mass"]
        port.position, port.velocity, port.acceleration, port.force = self.state

    def energy(self):
        return 0.5 * self.mass * self.state[1] ** 2, 0.5 * self.stiffness * self.state[0] ** 2

    def read_channel(self, name):
        return self.mass * self.state[1]


def scenario(scheme="explicit", side="right", **options):
    left = {"solver": "oscillator", "mass": 1, "stiffness": 5000, "velocity": 0.1}
    right = {"solver": "python-mass", "mass": 0.5, "velocity": 0.1} | options
    if side == "left":
        left["integrator"] = {"type": "semi-implicit"}  # follows motions at the velocity level
    between = ["left.mass", "right.mass"] if side == "right" else ["right.mass", "left.mass"]
    return yoke.load({
        "time": {"end": 0.05, "step": 1e-4},
        "subsystems": {"left": left, "right": right},
        "interfaces": {"joint": {"between": between}},
        "coupling": {"scheme": scheme},
        "record": {"channels": ["left.mass.position", "right.momentum", "right.energy"]},
    })


@pytest.mark.parametrize("scheme", ["explicit", "tight"])
@pytest.mark.parametrize("side", ["right", "left"])
def test_any_scheme_and_side(scheme, side):
    mass = 0.5 if side == "right" else 20.0  # the side that receives the wrench must be the heavier one
    r = scenario(scheme, side, mass=mass).run()
    omega = np.sqrt(5000 / (1 + mass))
    np.testing.assert_allclose(r["left.mass.position"].value, 0.1 / omega * np.sin(omega * r.time), atol=3e-5)
    np.testing.assert_allclose(r["right.momentum"].value, mass * 0.1 * np.cos(omega * r.time), atol=6e-3 * mass)


@pytest.mark.parametrize(
    "changes",
    [
        {"coupling.sequence": "jacobi"},
        {"coupling.exchange": "force-force"},
        {"coupling.scheme": "loose"},
        {"coupling.scheme": "index1"},
        {"coupling.scheme": "rim"},
    ],
    ids=str,
)
def test_other_schemes(changes):
    s = scenario()
    s.update(changes)
    r = s.run()
    omega = np.sqrt(5000 / 1.5)
    np.testing.assert_allclose(r["left.mass.position"].value, 0.1 / omega * np.sin(omega * r.time), atol=2e-5)
    assert r.verdict.trustworthy


def test_sensitivity():
    calls = []

    class Sensitive(Mass, register=False):
        def sensitivity(self, t, h, inputs, degree):
            calls.append(degree)
            # The step is linear in the force at its middle: derivatives of position, velocity and acceleration.
            a = 1 / (self.mass + self.stiffness * h**2 / 4)
            weights = [(h / 2) ** power for power in range(degree + 1)]
            return np.outer([h**2 / 2 * a, h * a, a], weights)

    description = scenario("rim", "left", mass=20).to_dict()
    subsystems = {**description["subsystems"], "right": {"solver": Sensitive, "mass": 20, "velocity": 0.1}}
    r = yoke.load({**description, "subsystems": subsystems}).run()
    assert calls
    reference = scenario("rim", "left", mass=20).run()["left.mass.position"].value
    np.testing.assert_allclose(r["left.mass.position"].value, reference, atol=1e-9)

    class Wrong(Mass, register=False):
        def sensitivity(self, t, h, inputs, degree):
            return np.zeros((1, 1))

    subsystems["right"]["solver"] = Wrong
    with pytest.raises(ValueError, match="must be"):
        yoke.load({**description, "subsystems": subsystems}).run()


# The same mass as a compiled function.
SOURCE = """
int mass_step(double t, double h, double *s, const double *in, double *out)
{
    const double mass = 0.5;
    double f = in[0] + h / 2 * (in[1] + h / 2 * (in[2] + h / 2 * in[3]));
    if (h > 0) {
        double a = f / mass;
        s[0] += h * s[1] + h * h / 2 * a;
        s[1] += h * a;
        s[2] = a;
        s[3] = f;
    }
    for (int i = 0; i < 4; i++)
        out[i] = s[i];
    return t > 1e3 ? 7 : 0;
}
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "mass.c").write_text(SOURCE)
    subprocess.run([compiler, "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-o", folder / "mass.so", folder / "mass.c"], check=True)
    return ctypes.CDLL(str(folder / "mass.so")).mass_step


def with_function(pointer):
    class Compiled(yoke.Subsystem, register=False):
        ports = {"mass": yoke.Port("scalar", input="wrench")}
        function = pointer

        def __init__(self) -> None:
            self.state = np.array([0.0, 0.1, 0.0, 0.0])

    return Compiled


@pytest.mark.parametrize("scheme", ["tight", "index1"])
def test_compiled_functions(compiled, scheme):
    import cffi

    address = ctypes.cast(compiled, ctypes.c_void_p).value
    expected = scenario(scheme, "left").to_dict()
    # The compiled mass receives the force.
    expected["interfaces"] = {"joint": {"between": ["right.mass", "left.mass"]}}
    expected["record"] = {"channels": ["left.mass.position"]}
    expected["subsystems"]["left"]["mass"] = 0.2
    reference = yoke.load(expected).run()
    for pointer in (compiled, address, cffi.FFI().cast("int (*)(double)", address)):
        s = yoke.load({**expected, "subsystems": {**expected["subsystems"], "right": {"solver": with_function(pointer)}}})
        r = s.run()
        np.testing.assert_allclose(r["left.mass.position"].value, reference["left.mass.position"].value, atol=1e-12)
    hashes = {r.verdict.state_hash for r in yoke.rollout(s, [{}] * 4, threads=2)}
    assert hashes == {r.verdict.state_hash}


def test_numba_functions():
    numba = pytest.importorskip("numba")
    kind = numba.types.intc(numba.double, numba.double, *[numba.types.CPointer(numba.double)] * 3)

    @numba.cfunc(kind)
    def step(t, h, s, inputs, outputs):
        s[0] += h * s[1]
        outputs[0], outputs[1] = s[0], s[1]
        return 0

    sim = yoke.load({"time": {"end": 1, "step": 0.1}, "subsystems": {"a": {"solver": with_function(step)}}}).start()
    sim.run_until(1)
    assert sim["a.mass.position"] == pytest.approx(0.1)


def test_wrong_functions(compiled):
    def run(solver, start=0.0):
        time = {"start": start, "end": start + 1, "step": 0.1}
        return yoke.load({"time": time, "subsystems": {"a": {"solver": solver}}}).run()

    with pytest.raises(yoke.RunError, match="returned 7") as caught:
        run(with_function(compiled), start=999.5)
    assert caught.value.subsystem == "a"
    with pytest.raises(yoke.Error, match="compiled function"):
        run(with_function("words"))
    with pytest.raises(yoke.Error, match="is 0"):
        run(with_function(0))


def test_a_solver_in_another_process(tmp_path):
    source = tmp_path / "solver.py"
    head = "from __future__ import annotations\nimport numpy as np\nimport yoke\n\n\n"
    source.write_text(head + inspect.getsource(Mass) + "\n\ndef make():\n    return Mass(0.5, velocity=0.1)\n")
    address = f"unix:{tmp_path}/socket"
    command = [sys.executable, "-m", "yoke", "serve", f"{source}:make", "--listen", address]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout.readline().startswith("serving ")
        description = scenario("tight").to_dict()
        description["subsystems"]["right"] = {"solver": "remote", "address": address}
        r = yoke.load(description).run()
    finally:
        # Processes of clients hold the pipe until they have left.
        server.kill()
        server.wait()
        server.stdout.close()
    np.testing.assert_array_equal(r["left.mass.position"].value, scenario("tight").run()["left.mass.position"].value)


def test_step_control_rolls_back():
    s = scenario()
    s["time." + ("step_tolerance" if "step_tolerance" in s["time"] else "tolerance")] = 1e-3
    r = s.run()
    omega = np.sqrt(5000 / 1.5)
    np.testing.assert_allclose(r["left.mass.position"].value, 0.1 / omega * np.sin(omega * r.time), atol=3e-5)


def test_keys_are_checked():
    with pytest.raises(yoke.ScenarioError) as caught:
        scenario(stifness=3)
    assert "stiffness" in str(caught.value) and caught.value.key == "subsystems.right.stifness"
    with pytest.raises(yoke.ScenarioError, match="mass"):
        yoke.load({"time": {"end": 1, "step": 0.1}, "subsystems": {"a": {"solver": "python-mass"}}})


def test_exceptions_arrive_unchanged():
    with pytest.raises(ZeroDivisionError, match="as requested") as caught:
        scenario(fail_at=0.02).run()
    error = caught.value
    assert error.yoke_subsystem == "right" and error.yoke_time == pytest.approx(0.02, abs=2e-4)
    assert len(error.yoke_results.time) > 100
    sim = scenario(fail_at=0.02).start()
    with pytest.raises(ZeroDivisionError):
        sim.run_until(0.05)


def test_objects_and_classes_as_solvers():
    description = scenario().to_dict()
    for solver in (Mass, Mass(0.5, velocity=0.1)):
        section = {"solver": solver, "mass": 0.5, "velocity": 0.1} if solver is Mass else {"solver": solver}
        s = yoke.load({**description, "subsystems": {**description["subsystems"], "right": section}})
        assert s.run().verdict.state_hash == scenario().run().verdict.state_hash


def test_states_and_threads():
    s = scenario()
    sim = s.start()
    sim.run_until(0.02)
    state = sim.state
    sim.run_until(0.04)
    end = sim.state
    sim.state = state
    sim.run_until(0.04)
    assert sim.state == end
    hashes = [r.verdict.state_hash for r in yoke.rollout(s, [{}] * 4, threads=2)]
    assert len(set(hashes)) == 1


def test_wrong_solvers_are_errors():
    class Nothing(yoke.Subsystem, register=False):
        ports = {"p": yoke.Port("scalar")}

    class Wrong(yoke.Subsystem, register=False):
        ports = {"p": yoke.Port("scalar")}

        def step(self, t, h, inputs):
            pass

        def output(self, outputs):
            outputs["p"].positon = 1

    class Infinite(yoke.Subsystem, register=False):
        ports = {"p": yoke.Port("scalar")}

        def __init__(self) -> None:
            self.state = np.zeros(1)

        def step(self, t, h, inputs):
            self.state[0] = np.inf

        def output(self, outputs):
            outputs["p"].position = self.state[0]

    def run(solver):
        return yoke.load({"time": {"end": 1, "step": 0.1}, "subsystems": {"a": {"solver": solver}}}).run()

    with pytest.raises(NotImplementedError, match="output"):
        run(Nothing)
    with pytest.raises(AttributeError, match="positon"):
        run(Wrong)
    with pytest.raises(yoke.RunError) as caught:
        run(Infinite)
    assert caught.value.subsystem == "a"


def test_an_interrupt_in_a_solver_ends_the_run():
    import _thread

    threading.Timer(0.5, _thread.interrupt_main).start()
    s = scenario()
    s["time.end"] = 1000
    assert not s.run().complete
