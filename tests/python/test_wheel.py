"""The wheel holds everything that the package needs; it is used here apart from the build."""

import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

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

BUILD = pathlib.Path(os.environ["YOKE_PROGRAM"]).parent


def test_pip_installs_the_package(tmp_path):
    pytest.importorskip("pip")
    options = ["--no-deps", "--no-index", "--no-cache-dir", "--disable-pip-version-check", "--config-settings", f"build={BUILD}"]
    command = [sys.executable, "-m", "pip", "wheel", *options, "-w", tmp_path, SOURCE]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("yoke-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (archive.read(name).decode() for name in names if name.endswith("METADATA"))
    assert "Requires-Dist: numpy\n" in metadata and "Requires-Dist: pandas; extra == 'all'" in metadata
    assert "yoke/py.typed" in names and "yoke/models/crank-damper/scenario.yaml" in names


def test_a_wheel_apart_from_the_build(tmp_path):
    subprocess.run([sys.executable, SOURCE / "python" / "make_wheel.py", BUILD, tmp_path], check=True)
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
