"""Make a wheel of a build.

    python3 make_wheel.py BUILD_FOLDER OUTPUT_FOLDER

The wheel holds the package, the extension module, libyoke, the program with the viewer in it, the model library, and all shared libraries that
these need except those of the C library.
"""

import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
# Every Linux has these, and they must match its kernel and its loader.
SYSTEM = re.compile(r"(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv|libutil|libnsl)\.so(\.|$)")


def libraries(*files: pathlib.Path) -> dict[str, pathlib.Path]:
    """Shared libraries that the files need, by the names under which the loader asks for them."""
    found = {}
    for file in files:
        for line in subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout.splitlines():
            match = re.match(r"\s*(\S+) => (/\S+)", line)
            if match and not SYSTEM.match(match[1]):
                found[match[1]] = pathlib.Path(match[2])
    return found


def main() -> None:
    build, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    module, program = build / "python" / "yoke" / "_native.abi3.so", build / "yoke"
    header = (HERE.parent / "include" / "yoke" / "base.h").read_text()
    version = ".".join(re.search(rf"YK_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))

    files: dict[str, pathlib.Path] = {"yoke/_native.abi3.so": module, "yoke/bin/yoke": program}
    for path in sorted((HERE / "yoke").iterdir()):
        if path.suffix in (".py", ".pyi", ".typed") or path.name == "py.typed":
            files[f"yoke/{path.name}"] = path
    for name, path in libraries(module, program).items():
        files[f"yoke/{name}" if name.startswith("libyoke") else f"yoke/lib/{name}"] = path
    models = HERE.parent / "models"
    tracked = subprocess.run(["git", "-C", models, "ls-files", "-z", "."], capture_output=True, text=True, check=True).stdout
    for name in filter(None, tracked.split("\0")):
        if not name.startswith("pictures/"):
            files[f"yoke/models/{name}"] = models / name

    glibc = platform.libc_ver()[1].replace(".", "_")
    tag = f"cp3{sys.version_info.minor}-abi3-manylinux_{glibc}_{platform.machine()}"
    info = f"yoke-{version}.dist-info"
    texts = {
        f"{info}/METADATA": f"""\
Metadata-Version: 2.1
Name: yoke
Version: {version}
Summary: Coupled simulations of mechanical systems
License: Apache-2.0
Requires-Python: >=3.{sys.version_info.minor}
Requires-Dist: numpy
Requires-Dist: cffi
Provides-Extra: all
Requires-Dist: pandas; extra == 'all'
Requires-Dist: xarray; extra == 'all'
Requires-Dist: matplotlib; extra == 'all'
""",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: yoke\nRoot-Is-Purelib: false\nTag: {tag}\n",
        f"{info}/entry_points.txt": "[console_scripts]\nyoke = yoke.program:main\n",
    }

    output.mkdir(parents=True, exist_ok=True)
    wheel = output / f"yoke-{version}-{tag}.whl"
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
    print(wheel)


main()
