"""Run the course in place, and remove what differs from run to run; --check changes nothing."""

from __future__ import annotations

import argparse
import copy
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parents[1]
COURSE = ROOT / "notebooks"
TEACHING = ROOT / "docs" / "teaching"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
VOLATILE = frozenset({"ExecuteTime", "collapsed", "execution", "scrolled", "trusted"})
NOT_STORED = (
    # Without the state of the widget, a reopened notebook would show an error instead of it.
    "application/vnd.jupyter.widget-view+json",
    # 4 to 10 kB of each report, which change as a whole. JupyterLab draws them only if it trusts the notebook, which
    # it does after running it.
    "application/vnd.tapemagic.report+json",
)
DATA_URI = re.compile(r"base64,[A-Za-z0-9+/=]+")
ABSOLUTE_PATH = re.compile(
    r"(?<![\w./])/(?:Users|home|mnt|opt|private|root|srv|tmp|usr|var)/\w[^\s\"']*|\b[A-Z]:\\\w+"
)


def execute(path: Path) -> Any:
    """Run the notebook at `path` from top to bottom in a new kernel."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],
    ).execute()
    return notebook


def clean(notebook: Any) -> Any:
    """Remove the metadata of this run and what only JupyterLab shows from a notebook, in place."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        for key in VOLATILE & cell.metadata.keys():
            del cell.metadata[key]
        for output in cell.get("outputs", []):
            for part in ("data", "metadata"):
                for kind in NOT_STORED:
                    output.get(part, {}).pop(kind, None)
    return notebook


def complaints(notebook: Any) -> list[str]:
    """List the reasons why a notebook can't be committed."""
    reasons = []
    if notebook != clean(copy.deepcopy(notebook)):
        reasons.append("it has widgets, data for JupyterLab, or metadata of one run")
    cells = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    if [cell.execution_count for cell in cells] != list(range(1, len(cells) + 1)):
        reasons.append("it was not executed from top to bottom")
    for number, cell in enumerate(cells, start=1):
        if match := absolute_path(cell):
            reasons.append(f"its code cell {number} has the absolute path {match}")
        if "raises-exception" not in cell.metadata.get("tags", []) and any(
            output.output_type == "error" for output in cell.outputs
        ):
            reasons.append(f"its code cell {number} raised an error")
    return reasons


def absolute_path(cell: Any) -> str | None:
    """Find the first absolute path in the source or the outputs of a cell."""
    texts = [cell.source]
    for output in cell.outputs:
        texts += [output.get("text", ""), *output.get("traceback", [])]
        texts += [shown for shown in output.get("data", {}).values() if isinstance(shown, str)]
    text = DATA_URI.sub("", "\n".join(texts))
    match = ABSOLUTE_PATH.search(text)
    return str(ROOT) if str(ROOT) in text else match and match.group()


def renew(path: Path) -> list[str]:
    """Run a notebook and save it; return the reasons why it can't be committed."""
    try:
        notebook = clean(execute(path))
    except CellExecutionError as error:
        return [str(error)]
    nbformat.write(notebook, path)
    return complaints(notebook)


def all_notebooks() -> list[Path]:
    """List the lessons, and the notebooks that show instructors how to write lessons."""
    return [*sorted(COURSE.glob("*.ipynb")), *sorted(TEACHING.rglob("*.ipynb"))]


def main() -> int:
    """Renew or check the notebooks named on the command line, or all of the course."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="change nothing; fail if a notebook must be run again"
    )
    parser.add_argument(
        "notebooks", nargs="*", type=Path, help="default: notebooks/, docs/teaching/"
    )
    options = parser.parse_args()

    failed = False
    for path in options.notebooks or all_notebooks():
        notes = complaints(nbformat.read(path, as_version=4)) if options.check else renew(path)
        print(f"{path.name}: {'; '.join(notes) or 'in order'}", flush=True)
        failed = failed or bool(notes)
    if failed and options.check:
        print("`make notebooks` executes and cleans them.")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
