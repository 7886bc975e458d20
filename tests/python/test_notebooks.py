"""The notebooks run from top to bottom, each in an interpreter of its own."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).parents[2]
NOTEBOOKS = sorted((SOURCE / "examples" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, tmp_path):
    notebook = json.loads(path.read_text())
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert cells and not any(cell.get("outputs") for cell in notebook["cells"]), "outputs are made, not committed"
    # As a kernel does: the value of the last expression of a cell is shown.
    program = f"""
import ast
names = {{"__name__": "__main__"}}
for number, source in enumerate({cells!r}, 1):
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    try:
        exec(compile(tree, f"cell {{number}}", "exec"), names)
        if last is not None:
            repr(eval(compile(ast.Expression(last.value), f"cell {{number}}", "eval"), names))
    except BaseException:
        print(source)
        raise
"""
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_six():
    assert len(NOTEBOOKS) == 6


def test_a_page_has_the_outputs(tmp_path):
    pytest.importorskip("nbclient")
    page = tmp_path / "first-steps.md"
    command = ["/usr/bin/python3", SOURCE / "docs" / "site" / "run_notebook.py", SOURCE / "examples" / "notebooks" / "first-steps.ipynb", page]
    environment = {key: value for key, value in os.environ.items() if key != "MPLBACKEND"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert "OK: no findings" in text and "<iframe" in text and "![" in text
    assert len(list(tmp_path.glob("*.png"))) >= 2 and len(list(tmp_path.glob("*.html"))) == 1
