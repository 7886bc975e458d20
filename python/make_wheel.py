"""Make wheels: the build backend of pyproject.toml, and a program.

    python3 make_wheel.py BUILD_FOLDER OUTPUT_FOLDER

The wheel holds the package, the extension module, libyoke, the program with the viewer in it, the model library, and all shared libraries that
these need except those of the C library. As a build backend, it builds in build/pip, or takes the build folder that
`--config-settings build=FOLDER` names.
"""

import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile

TOP = pathlib.Path(__file__).resolve().parent.parent
# Every Linux has these, and they must match its kernel and its loader.
SYSTEM = re.compile(r"(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv|libutil|libnsl)\.so(\.|$)")
# The extension module uses the limited API of this version of Python.
MINOR = 11


def project() -> dict:
    return tomllib.loads((TOP / "pyproject.toml").read_text())["project"]


def version() -> str:
    header = (TOP / "include" / "yoke" / "base.h").read_text()
    return ".".join(re.search(rf"YK_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def metadata() -> str:
    found = project()
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {found['name']}",
        f"Version: {version()}",
        f"Summary: {found['description']}",
        f"License: {found['license']['text']}",
        f"Requires-Python: {found['requires-python']}",
        *(f"Requires-Dist: {name}" for name in found["dependencies"]),
    ]
    for extra, names in found["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f"Requires-Dist: {name}; extra == '{extra}'" for name in names)]
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", (TOP / found["readme"]).read_text()])


def libraries(*files: pathlib.Path) -> dict[str, pathlib.Path]:
    """Shared libraries that the files need, by the names under which the loader asks for them."""
    found = {}
    for file in files:
        for line in subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout.splitlines():
            match = re.match(r"\s*(\S+) => (/\S+)", line)
            if match and not SYSTEM.match(match[1]):
                found[match[1]] = pathlib.Path(match[2])
    return found


def models() -> dict[str, pathlib.Path]:
    """Files of the model library; of a working tree those that Git knows."""
    folder = TOP / "models"
    listed = subprocess.run(["git", "-C", folder, "ls-files", "-z", "."], capture_output=True, text=True)
    names = listed.stdout.split("\0") if listed.returncode == 0 else [str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()]
    return {f"yoke/models/{name}": folder / name for name in sorted(filter(None, names)) if not name.startswith("pictures/")}


def make(build: pathlib.Path, output: pathlib.Path) -> pathlib.Path:
    """Makes the wheel of a build."""
    module, program, fmu = build / "python" / "yoke" / "_native.abi3.so", build / "yoke", build / "yoke-fmu.so"
    files: dict[str, pathlib.Path] = {"yoke/_native.abi3.so": module, "yoke/bin/yoke": program, **models()}
    if fmu.exists():
        files["yoke/bin/yoke-fmu.so"] = fmu
    for path in sorted((TOP / "python" / "yoke").iterdir()):
        if path.suffix in (".py", ".pyi") or path.name == "py.typed":
            files[f"yoke/{path.name}"] = path
    for name, path in libraries(module, program).items():
        files[f"yoke/{name}" if name.startswith("libyoke") else f"yoke/lib/{name}"] = path

    glibc = platform.libc_ver()[1].replace(".", "_")
    tag = f"cp3{MINOR}-abi3-manylinux_{glibc}_{platform.machine()}"
    info = f"yoke-{version()}.dist-info"
    scripts = "".join(f"{name} = {place}\n" for name, place in project()["scripts"].items())
    texts = {
        f"{info}/METADATA": metadata(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: yoke\nRoot-Is-Purelib: false\nTag: {tag}\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{scripts}",
        f"{info}/LICENSE": (TOP / "LICENSE").read_text(),
    }

    output.mkdir(parents=True, exist_ok=True)
    wheel = output / f"yoke-{version()}-{tag}.whl"
    record = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:

        def add(name: str, data: bytes, mode: int) -> None:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")

        for name, path in files.items():
            add(name, path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)
        for name, text in texts.items():
            add(name, text.encode(), 0o644)
        archive.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,", ""]))
    return wheel


# Build backend (PEP 517) ---------------------------------------------------------------------------


def interpreter() -> str | None:
    """An interpreter with cffi and Python.h, which generate and compile the extension module."""
    program = "import cffi, os, sysconfig, sys; sys.exit(not os.path.exists(sysconfig.get_path('include') + '/Python.h'))"
    for path in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(path) and subprocess.run([path, "-c", program], capture_output=True).returncode == 0:
            return path
    return None


def get_requires_for_build_wheel(config_settings: dict | None = None) -> list[str]:
    return [] if (config_settings or {}).get("build") or interpreter() else ["cffi"]


def build_wheel(wheel_directory: str, config_settings: dict | None = None, metadata_directory: str | None = None) -> str:
    given = (config_settings or {}).get("build")
    build = TOP / (given or "build/pip")
    if not given:
        python = interpreter()
        if python is None:
            raise SystemExit("yoke: there is no interpreter with cffi and Python.h; install python3-dev")
        options = ["-DYOKE_TESTS=OFF", "-DYOKE_BENCH=OFF", "-DYOKE_PYTHON=ON", f"-DYOKE_PYTHON_EXECUTABLE={python}"]
        for command in (["--preset", "release", "-B", build, *options], ["--build", build, "--target", "yoke_python", "yoke", "yoke_fmu"]):
            try:
                subprocess.run(["cmake", *map(str, command)], cwd=TOP, check=True)
            except FileNotFoundError:
                raise SystemExit("yoke: there is no cmake; scripts/setup installs what Yoke is built from") from None
    return make(build, pathlib.Path(wheel_directory)).name


def build_sdist(sdist_directory: str, config_settings: dict | None = None) -> str:
    name = f"yoke-{version()}"
    path = pathlib.Path(sdist_directory) / f"{name}.tar"
    subprocess.run(["git", "archive", f"--prefix={name}/", "-o", path, "HEAD"], cwd=TOP, check=True)
    information = path.parent / "PKG-INFO"
    information.write_text(metadata())
    with tarfile.open(path, "a") as archive:
        archive.add(information, f"{name}/PKG-INFO")
    information.unlink()
    subprocess.run(["gzip", "-9nf", path], check=True)
    return f"{name}.tar.gz"


if __name__ == "__main__":
    print(make(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
