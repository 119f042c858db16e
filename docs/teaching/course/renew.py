"""Run the notebooks of this folder in place, without widgets: those would be empty without their kernel."""

import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

DATA = "application/vnd.tapemagic.report+json"  # for JupyterLab; 10 kB that change as a whole
os.environ["TAPEMAGIC_WIDGETS"] = "0"

for path in map(Path, sys.argv[1:] or sorted(Path(__file__).parent.glob("*.ipynb"))):
    notebook = nbformat.read(path, as_version=4)
    metadata = dict(notebook.metadata)
    NotebookClient(
        notebook,
        kernel_name="python3",
        coalesce_streams=True,
        record_timing=False,
        store_widget_state=False,
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()
    notebook.metadata = nbformat.from_dict(metadata)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(DATA, None)
    nbformat.write(notebook, path)
    print(f"{path.name}: executed")
