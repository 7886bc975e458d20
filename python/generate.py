"""Generate the C source of the extension module yoke._native.

    python3 generate.py INCLUDE_FOLDER OUTPUT.c

The declarations for cffi come from the public headers: they are preprocessed with empty system headers, and attributes and
bodies of inline functions are removed. native.h adds the functions that the package implements in C or in Python.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import cffi

SYSTEM_HEADERS = ["stdarg.h", "stdbool.h", "stddef.h", "stdint.h"]
# A parenthesized text with at most two levels of parentheses in it.
PARENTHESES = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"


def preprocess(include: pathlib.Path) -> str:
    headers = sorted(path.name for path in (include / "yoke").glob("*.h"))
    text = "".join(f'#include "yoke/{name}"\n' for name in headers)
    with tempfile.TemporaryDirectory() as folder:
        for name in SYSTEM_HEADERS:
            (pathlib.Path(folder) / name).touch()
        command = ["cc", "-E", "-P", "-nostdinc", f"-I{folder}", f"-I{include}", "-x", "c", "-"]
        return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def declarations(include: pathlib.Path) -> str:
    text = preprocess(include)
    text = re.sub(r"__attribute__\s*\(" + PARENTHESES + r"\)", "", text)
    # cffi emits invalid C for members that point to arrays of constants.
    text = re.sub(r"const (\w+ \(\*\w+\)\[)", r"\1", text)
    return re.sub(r"static inline ([^{;]*)\{[^}]*\}", r"\1;", text)


def main() -> None:
    include, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    here = pathlib.Path(__file__).resolve().parent
    ffi = cffi.FFI()
    ffi.cdef(declarations(include))
    # The part of native.h between the marks is valid C and valid cffi.
    ffi.cdef((here / "native.h").read_text().split("/* cffi */")[1])
    ffi.cdef('extern "Python" {\n' + (here / "callbacks.h").read_text() + "\n}")
    headers = "".join(f'#include "yoke/{path.name}"\n' for path in sorted((include / "yoke").glob("*.h")))
    ffi.set_source("yoke._native", headers + '#include "native.c"\n')
    output.parent.mkdir(parents=True, exist_ok=True)
    ffi.emit_c_code(str(output))


main()
