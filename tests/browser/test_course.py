"""Every notebook of the course in JupyterLab, run from top to bottom as a reader does it."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page, expect

from tests.browser.jupyter import REPORT, Lab
from tests.browser.looks import keep, turn_to

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
COURSE = sorted(NOTEBOOKS.glob("*.ipynb"))


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

FAILED = """() => window.jupyterapp.shell.currentWidget.content.widgets
    .filter(cell => (cell.model.sharedModel.outputs ?? []).some(
        ({ output_type, name }) => output_type === 'error' || name === 'stderr'))
    .map(cell => cell.model.sharedModel.source)"""


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_a_notebook_runs_to_its_end(lab: Lab, path: Path) -> None:
    """Its reports are shown as widgets, and only those cells fail that are meant to."""
    cells = nbformat.read(path, as_version=4).cells
    meant = sum("raises-exception" in cell.metadata.get("tags", []) for cell in cells)

    shutil.copy(NOTEBOOKS / "binder.svg", lab.folder)
    with lab.opened(Path(shutil.copy(path, lab.folder)), width=1200) as page:
        assert [] == page.evaluate(LOOK_THROUGH)
        assert meant == len(failed := page.evaluate(FAILED)), failed
        if "quickstart" in path.name:
            take_the_picture_of_the_readme(page)


def take_the_picture_of_the_readme(page: Page) -> None:
    """A report with its graph."""
    cell = page.locator(".jp-CodeCell", has_text="g = x1 * x2 * np.sin(x1)").first
    cell.scroll_into_view_if_needed()
    graph = turn_to(cell.locator(REPORT), "Graph").locator("svg").first
    expect(graph).to_be_visible()
    keep(cell, "cell")
