"""Run a notebook, and write it with its outputs.

    run_notebook.py NOTEBOOK OUTPUT.ipynb
    run_notebook.py NOTEBOOK OUTPUT.md         as a page of the site, with pictures and reports as files next to it
"""

import base64
import pathlib
import sys

import nbclient
import nbformat

source, target = map(pathlib.Path, sys.argv[1:])
notebook = nbformat.read(source, as_version=4)
try:
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
except nbclient.exceptions.CellExecutionError as problem:
    sys.exit(f"{source}: {problem}")
for cell in notebook.cells:
    # Progress bars and notes of the kernel are of no interest to readers.
    cell["outputs"] = [output for output in cell.get("outputs", []) if output.get("name") != "stderr"]

target.parent.mkdir(parents=True, exist_ok=True)
if target.suffix == ".ipynb":
    nbformat.write(notebook, target)
    sys.exit()

lines, count = [], 0
for cell in notebook.cells:
    if cell.cell_type == "markdown":
        lines += [cell.source, ""]
        continue
    lines += ["```python", cell.source, "```", ""]
    for output in cell.outputs:
        data = output.get("data", {})
        count += 1
        name = f"{target.stem}-{count}"
        if "image/png" in data:
            (target.parent / f"{name}.png").write_bytes(base64.b64decode(data["image/png"]))
            lines += [f"![output of the cell above]({name}.png)", ""]
        elif "text/html" in data:
            (target.parent / f"{name}.html").write_text(f"<!doctype html><meta charset=utf-8><style>body{{margin:0}}</style>{data['text/html']}")
            lines += [f'<iframe src="{name}.html" title="output of the cell above" loading="lazy"></iframe>', ""]
        else:
            lines += ["```text", (output.get("text") or data.get("text/plain", "")).rstrip(), "```", ""]
target.write_text("\n".join([*lines, f"This page is the notebook [{source.name}]({source.name}), executed.", ""]))
