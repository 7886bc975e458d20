"""The wheel holds everything that the package needs; it is used here apart from the build."""

import os
import pathlib
import subprocess
import sys
import zipfile

SOURCE = pathlib.Path(__file__).parents[2]
PROGRAM = """
import pathlib, sys, yoke
folder = pathlib.Path(sys.argv[1])
assert pathlib.Path(yoke.__file__).is_relative_to(folder)
results = yoke.load("two-mass-oscillator").run()
assert results.verdict.trustworthy
results.save(folder / "results.h5")
results.report(folder / "report.html")
maps = pathlib.Path("/proc/self/maps").read_text()
assert str(folder / "yoke" / "libyoke.so") in maps and "libklu" in maps
for line in maps.splitlines():
    assert "libklu" not in line or str(folder) in line, line
"""


def test_a_wheel_apart_from_the_build(tmp_path):
    build = pathlib.Path(os.environ["YOKE_PROGRAM"]).parent
    subprocess.run([sys.executable, SOURCE / "python" / "make_wheel.py", build, tmp_path], check=True)
    (wheel,) = tmp_path.glob("yoke-*-abi3-manylinux_*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
        for entry in archive.infolist():
            os.chmod(installed / entry.filename, (entry.external_attr >> 16) & 0o777 or 0o644)
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(installed)}
    command = [sys.executable, "-c", PROGRAM, str(installed)]
    done = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    command = [sys.executable, "-c", "import sys, yoke.program; sys.exit(yoke.program.main())", "--version"]
    done = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("yoke "), done.stderr
