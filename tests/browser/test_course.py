"""A third of the notebooks of the course in JupyterLab, run from top to bottom as a reader does it.

``TAPEMAGIC_ALL_CASES=1`` runs all of them.

The outputs are compared with the stored ones as ``pytest --nbval`` compares them. Kernels have the DejaVu fonts and the
``dot`` program here; `make course` runs the lessons with the Liberation fonts and the Graphviz inside pygraphviz.
"""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbval.plugin import coalesce_streams, transform_streams_for_comparison
from playwright.sync_api import Page, expect

from tapemagic.nbval import DATA, DRAWING, PAPER, PLOT
from tests.browser.jupyter import REPORT, Lab
from tests.browser.looks import keep, turn_to
from tests.shares import ALL

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
COURSE = sorted(
    NOTEBOOKS.glob("*.ipynb"), reverse=True
)  # the longest lessons first: two processes then end together
# `make course` runs all of them without a browser. The quickstart, of which a picture is taken, is the last.
LESSONS = COURSE if ALL else [*COURSE[:-1:3], COURSE[-1]]


# Cells that are out of sight have no outputs in the page, so each is scrolled to.
LOOK_THROUGH = """async () => {
    const { content } = window.jupyterapp.shell.currentWidget;
    const view = 'application/vnd.jupyter.widget-view+json';
    const missing = [];
    for (const [k, cell] of content.widgets.entries()) {
        const outputs = cell.model.sharedModel.outputs ?? [];
        const wanted = outputs.filter(({ data }) => data && view in data).length;
        if (!wanted) continue;
        await content.scrollToItem(k);
        const end = performance.now() + 20000;
        const shown = () => cell.node.querySelectorAll('.tapemagic [role="tab"]').length > 0;
        while (!shown() && performance.now() < end)
            await new Promise(requestAnimationFrame);
        if (!shown()) missing.push(cell.model.sharedModel.source);
    }
    return missing;
}"""

NOTEBOOK = "() => JSON.stringify(window.jupyterapp.shell.currentWidget.content.model)"
IGNORED = {
    "metadata",
    "traceback",
    "output_type",
    "name",
    "execution_count",
    "application/vnd.jupyter.widget-view+json",
    DATA,
    "image/png",
    "image/jpeg",
}
"""What nbval and its plug-in leave out of the comparison."""
PROGRESS = re.compile(r"\d+%\||% Completed \|")


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_notebook_runs_to_its_end(lab: Lab, path: Path) -> None:
    """Its reports are shown as widgets, its outputs are the stored ones, and only what is meant to fail fails."""
    stored = code_cells(nbformat.read(path, as_version=4))
    meant = ["raises-exception" in cell.metadata.get("tags", []) for cell in stored]

    shutil.copy(NOTEBOOKS / "binder.svg", lab.folder)
    with lab.opened(Path(shutil.copy(path, lab.folder)), width=1200) as page:
        assert [] == page.evaluate(LOOK_THROUGH)
        ran = code_cells(nbformat.reads(page.evaluate(NOTEBOOK), as_version=4))
        assert meant == [any(map(is_failure, cell.outputs)) for cell in ran]
        for before, now in zip(stored, ran, strict=True):
            if "NBVAL_IGNORE_OUTPUT" not in before.source:
                assert compared(before.outputs) == compared(now.outputs), before.source
        if "quickstart" in path.name:
            take_the_picture_of_the_readme(page)


def code_cells(notebook: Any) -> list[Any]:
    """The cells of code of a notebook."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def is_failure(output: Any) -> bool:
    """Return True if an output is an error, or text on the error stream."""
    return output.output_type == "error" or output.get("name") == "stderr"


def compared(outputs: list[Any]) -> dict[str, list[Any]]:
    """The texts of a cell's outputs that nbval compares, by their kind."""
    texts = defaultdict(list)
    for output in transform_streams_for_comparison(coalesce_streams(outputs)):
        for kind, text in {**output, **output.get("data", {})}.items():
            if kind not in {*IGNORED, "data"} and (cleaned := without_drawings(text)):
                texts[kind].append(cleaned)
    return texts


def without_drawings(text: Any) -> Any:
    """A text without the bytes of the drawings in it, and without the progress bars that only a reader sees."""
    if isinstance(text, str):
        for pattern in (DRAWING, PLOT, PAPER):
            text = re.sub(pattern, r"\1", text)
        text = "\n".join(line.rstrip() for line in text.splitlines() if not PROGRESS.search(line))
    return text


def take_the_picture_of_the_readme(page: Page) -> None:
    """A report with its graph."""
    cell = page.locator(".jp-CodeCell", has_text="g = x1 * x2 * np.sin(x1)").first
    cell.scroll_into_view_if_needed()
    graph = turn_to(cell.locator(REPORT), "Graph").locator("svg").first
    expect(graph).to_be_visible()
    keep(cell, "cell")
