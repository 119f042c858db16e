"""Reports that were kept: in notebooks opened again, in pages made from them, and in saved pages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from playwright.sync_api import Browser, Locator, Page, expect

from tapemagic.nbval import DATA
from tapemagic.report.live.packing import packed, unpacked
from tests.browser.jupyter import HEIGHT, REPORT, SHUT_DOWN, Lab, Watch, report_of, run_all
from tests.browser.looks import keep, serious, titles, turn_to, wider
from tests.ipython.kernels import PATHS

SETUP = "%load_ext tapemagic\nimport numpy as np\nimport tapemagic as tm"
LOOP = (
    "%%tape x\nx = 0.5\ny = x\nfor i in range(10):\n    y = np.sin(y * 1.5 + x)\n"
    "z = y * np.array([1.0, 2.0])\nw = np.sum(z)\nw"
)
NO_MODEL = "widget model not found"
"""What ipywidgets says in the console of a widget whose kernel is gone."""
HACK = "window.hacked=1"
SAVE = "report = _\nassert report.save('saved.html').exists()"


@pytest.fixture(scope="module")
def path(lab: Lab) -> Path:
    """A notebook that was run to its end, with the state of its widgets, and a page that it saved."""
    path = lab.write("kept", [SETUP, LOOP, SAVE])
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook,
        kernel_name="python3",
        resources={"metadata": {"path": str(lab.folder)}},
        store_widget_state=True,
    ).execute()
    nbformat.write(notebook, path)
    return path


@pytest.fixture
def offline(browser: Browser) -> Iterator[Page]:
    """A page without a network."""
    context = browser.new_context(
        viewport={"width": 1280, "height": HEIGHT}, reduced_motion="reduce"
    )
    watch = Watch()
    watch.look_at(context)
    context.set_offline(True)
    yield context.new_page()
    context.close()
    assert [] == watch.troubles


def steps_and_selects(report: Locator) -> None:
    """Go through some steps, and select a value."""
    turn_to(report, "Graph")
    report.get_by_label("First step").click()
    report.get_by_label("Step forward").click()
    expect(report.locator(".tm-count")).to_contain_text("step 1 of")
    report.get_by_label("Last step").click()
    box = report.locator(".tm-picture [data-n^=n]").filter(has_text="z").first
    box.click()
    expect(report.locator(".tm-details")).to_contain_text("float64")
    expect(report.locator(".tm-picture .tm-up").first).to_be_visible()


def test_reopened_by_somebody_else(lab: Lab, path: Path) -> None:
    """A notebook that is not trusted shows the static report."""
    with lab.opened(path, run=False) as page:
        output = page.locator(".jp-OutputArea-output", has_text="watched variable").first
        output.scroll_into_view_if_needed()
        expect(output.locator("table").first).to_be_visible()
        expect(output.locator("img").first).to_be_visible()
        expect(page.locator(REPORT)).to_have_count(0)
        keep(output, "untrusted")


def test_reopened_by_its_author(lab: Lab, path: Path) -> None:
    """A trusted notebook with the state of its widgets shows the report, which steps and selects without a kernel."""
    lab.trust(path)
    with lab.opened(path, run=False) as page:
        report = page.locator(REPORT).first
        expect(report.get_by_role("tab").first).to_be_visible(timeout=30_000)
        page.evaluate(SHUT_DOWN)
        steps_and_selects(report)
        keep(report, "reopened")


def without_state(path: Path, name: str) -> Any:
    """The notebook as JupyterLab saves it by default, to be changed and written under another name."""
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata.pop("widgets")
    notebook.cells = notebook.cells[:2]
    return notebook, path.with_name(f"{name}.ipynb")


def test_reopened_with_a_new_kernel(lab: Lab, path: Path) -> None:
    """Without the state of its widgets, the report is drawn from its data; once the cell runs, it is the widget."""
    notebook, reopened = without_state(path, "reopened")
    nbformat.write(notebook, reopened)
    lab.trust(reopened)
    with lab.opened(reopened, run=False, allowed=[NO_MODEL]) as page:
        report = report_of(page, 1)
        steps_and_selects(report)
        expect(report.locator(".tm-details")).to_contain_text("0.9419970212490992")
        for title in titles(report):
            assert turn_to(report, title).inner_text(), title
        turn_to(report, "Graph")
        fold = report.get_by_label(re.compile("^Open ")).first
        fold.click()
        expect(report.locator(".tm-status")).to_contain_text("Run the cell again to see it.")
        expect(page.get_by_text("model not found")).not_to_be_visible()
        keep(report, "stored")
        run_all(page)
        fold.click()
        number = report.get_by_label("iteration", exact=True)
        number.fill("1")
        number.press("Enter")
        expect(report.locator(".tm-picture [data-n^=n]").filter(has_text="y₁")).not_to_have_count(0)
        expect(report).to_have_count(1)


def test_data_that_were_edited(lab: Lab, path: Path) -> None:
    """Of a newer version, cut or changed by hand: the static report and the reason, and nothing that runs."""
    notebook, edited = without_state(path, "edited")
    hostile = f"<img src=x onerror={HACK}>"
    changes = {
        "newer": {"version": 99},
        "damaged": {"content": notebook.cells[1].outputs[0].data[DATA]["content"][:500]},
        "typed": {"version": hostile, "content": hostile},
    }
    setup, cell = notebook.cells
    notebook.cells = [setup, *(deepcopy(cell) for _ in changes)]
    for each, (name, change) in zip(notebook.cells[1:], changes.items(), strict=True):
        each.outputs[0].data[DATA].update(change)
        each.id = name
    nbformat.write(notebook, edited)
    lab.trust(edited)
    with lab.opened(edited, run=False, allowed=[NO_MODEL]) as page:
        reasons = ("A newer tapemagic stored this report", "are damaged", "are damaged")
        for index, reason in enumerate(reasons, 1):
            cell = page.locator(".jp-CodeCell").nth(index)
            cell.scroll_into_view_if_needed()
            expect(cell.get_by_role("note")).to_contain_text(reason)
            expect(cell.locator("table").first).to_be_visible()
            expect(cell.locator(REPORT)).to_have_count(0)
        keep(page, "damaged")
        assert page.evaluate("window.hacked") is None


def test_data_of_somebody_else(lab: Lab, path: Path) -> None:
    """In a notebook that is not trusted the data are not looked at, since they may hold any HTML."""
    notebook, foreign = without_state(path, "foreign")
    stored = notebook.cells[1].outputs[0].data[DATA]
    content = unpacked(stored["content"])
    content["head"] = f"<img src=x onerror={HACK}>"
    content["view"]["svg"] = f"<svg><image href=x onerror={HACK} /></svg>"
    stored["content"] = packed(content)
    nbformat.write(notebook, foreign)
    # Reports of the notebook before, in the same window, may look for their models once more.
    with lab.opened(foreign, run=False, allowed=[NO_MODEL]) as page:
        output = page.locator(".jp-OutputArea-output", has_text="watched variable").first
        output.scroll_into_view_if_needed()
        expect(output.locator("table").first).to_be_visible()
        expect(page.locator(REPORT)).to_have_count(0)
        assert page.evaluate("window.hacked") is None


def test_a_cell_is_put_on_a_tape(lab: Lab) -> None:
    """By the button: the magics are loaded, and what the cell reads is watched; by the command it is taken off."""
    cells = ["import numpy as np\nx, name = 2.0, 'n'", "y = np.sin(x) * x", "a = 3.0\nb = a**2"]
    with lab.notebook("button", cells) as page:
        code = page.locator(".jp-CodeCell")
        code.nth(1).locator(".cm-content").click()
        page.locator('.jp-Toolbar [data-jp-item-name="tape"]').click()
        expect(code).to_have_count(4)
        expect(code.nth(1).locator(".cm-content")).to_have_text("%load_ext tapemagic")
        expect(code.nth(2).locator(".cm-line").first).to_have_text("%%tape x")
        report = report_of(page, 2)
        expect(report.locator(".tm-head")).to_contain_text("dy/dx = 0.0770038")
        code.nth(3).locator(".cm-content").click()
        page.keyboard.press("Control+Alt+Enter")
        expect(code.nth(3).locator(".cm-line").first).to_have_text("%%tape ")
        page.keyboard.type("a")
        page.keyboard.press("Control+Alt+Enter")
        expect(report_of(page, 3).locator(".tm-head")).to_contain_text("db/da = 6.0")
        keep(page, "button")
        page.evaluate("window.jupyterapp.commands.execute('tapemagic:take-off-tape')")
        expect(code.nth(3).locator(".cm-line").first).to_have_text("a = 3.0")


def look_at_page(browser: Browser, source: Path, *options: str) -> None:
    """Make a page of a notebook by nbconvert, and look for its report without a network."""
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--log-level=ERROR", *options]
    environment = os.environ | {"TAPEMAGIC_WIDGETS": "0", "PYTHONPATH": PATHS}
    subprocess.run([*command, source], check=True, env=environment)
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(source.with_suffix(".html").as_uri())
    expect(page.locator("table", has_text="watched").first).to_be_visible()
    context.close()


def test_executed_by_nbconvert(browser: Browser, tmp_path: Path) -> None:
    """With TAPEMAGIC_WIDGETS=0, a page of a notebook that nbconvert ran shows the static report."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(x) for x in (SETUP, LOOP)])
    nbformat.write(notebook, source := tmp_path / "run.ipynb")
    look_at_page(browser, source, "--execute")


def test_as_a_page_of_nbconvert(browser: Browser, path: Path, tmp_path: Path) -> None:
    """Without the state of its widgets, a page made by nbconvert shows the static report."""
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata.pop("widgets")
    nbformat.write(notebook, source := tmp_path / "kept.ipynb")
    look_at_page(browser, source)


def test_a_saved_page(offline: Page, path: Path, axe: str) -> None:
    """It steps, selects and opens, from a file, with the network off; all can use it, in narrow windows, too."""
    offline.goto((path.parent / "saved.html").as_uri())
    report = offline.locator(".tapemagic")
    steps_and_selects(report)
    keep(report, "saved")
    report.get_by_label(re.compile("^Open ")).first.click()
    expect(report.locator(".tm-picture [data-n^=n]").filter(has_text="y₁")).not_to_have_count(0)
    offline.keyboard.press("Escape")
    for theme in ("light", "dark"):
        offline.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        for title in titles(report):
            turn_to(report, title)
            assert [] == serious(offline.locator("html"), axe), (theme, title)
        keep(offline, f"saved-{theme}")
    offline.set_viewport_size({"width": 700, "height": HEIGHT})
    assert [] == wider(report)
    assert offline.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
