"""Reports that were kept: in notebooks opened again, in pages made from them, and in saved pages."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.jupyter import HEIGHT, REPORT, SHUT_DOWN, Lab, Watch
from tests.browser.looks import keep, serious, titles, turn_to, wider

SETUP = "%load_ext tapemagic\nimport numpy as np\nimport tapemagic as tm"
LOOP = (
    "%%tape x\nx = 0.5\ny = x\nfor i in range(10):\n    y = np.sin(y * 1.5 + x)\n"
    "z = y * np.array([1.0, 2.0])\nw = np.sum(z)\nw"
)
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


def test_as_a_page_of_nbconvert(browser: Browser, path: Path, tmp_path: Path) -> None:
    """Without the state of its widgets, a page made by nbconvert shows the static report."""
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata.pop("widgets")
    nbformat.write(notebook, source := tmp_path / "kept.ipynb")
    subprocess.run(
        [sys.executable, "-m", "nbconvert", "--to", "html", "--log-level=ERROR", source], check=True
    )
    context = browser.new_context()
    Watch().look_at(context)  # nbconvert's own page asks for MathJax
    page = context.new_page()
    page.goto(source.with_suffix(".html").as_uri())
    expect(page.locator("table", has_text="watched").first).to_be_visible()
    context.close()


def test_a_saved_page(offline: Page, path: Path, axe: str) -> None:
    """It steps, selects and opens, from a file, with the network off; all can use it, in narrow windows, too."""
    offline.goto((path.parent / "saved.html").as_uri())
    report = offline.locator(".tapemagic")
    steps_and_selects(report)
    keep(report, "saved")
    field = report.get_by_label("iteration", exact=True)
    field.fill("1")
    field.press("Enter")
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
