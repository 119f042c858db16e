"""The sliders of %%tape --what-if in JupyterLab."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.jupyter import REPORT, Lab, ask, models
from tests.browser.looks import FACES, keep, serious, turn_to, wider

SETUP = "%load_ext tapemagic\nimport numpy as np\nimport tapemagic as tm"
CELL = "%%tape x --what-if a=-3:3\na = 1.5\nx = 2.0\ny = a * x\nz = np.sin(y) + a\nz"

# Every move is one of the keyboard, as fast as the page takes them.
MOVES = """async ([report, count]) => {
    const slider = report.querySelector('.tm-what-if input[type=range]');
    for (let k = 0; k < count; k++) {
        slider.value = String(-3 + 6 * (k % 50) / 50);
        slider.dispatchEvent(new Event('input', { bubbles: true }));
        slider.dispatchEvent(new Event('change', { bubbles: true }));
        await new Promise(requestAnimationFrame);
    }
    slider.value = '2';
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    slider.dispatchEvent(new Event('change', { bubbles: true }));
}"""


@pytest.fixture(scope="module")
def page(lab: Lab) -> Iterator[Page]:
    """A notebook with a report that has a slider."""
    with lab.notebook("what-if", [SETUP, CELL]) as opened:
        yield opened


@pytest.fixture(scope="module")
def report(page: Page) -> Locator:
    """The report."""
    found = page.locator(REPORT).first
    found.scroll_into_view_if_needed()
    expect(found.get_by_role("slider", name="a", exact=True)).to_be_visible(timeout=30_000)
    return found


def test_all_faces_follow(report: Locator, axe: str) -> None:
    """After a move, verdict, variables, graph, gradients, trace and lines show the other run; tab and step stay."""
    turn_to(report, "Trace")
    report.get_by_label("First step").click()
    report.get_by_label("Step forward").click()
    slider = report.get_by_role("slider", name="a", exact=True)
    slider.focus()
    slider.fill("3")
    expect(report.locator(".tm-head")).to_contain_text("2.72058")  # sin(6) + 3

    expect(report.get_by_role("tab", name="Trace")).to_have_attribute("aria-selected", "true")
    expect(report.locator(".tm-count")).to_contain_text("step 1 of")
    report.get_by_label("Last step").click()
    other = {"Gradients": "2.88051", "Code": "y = 3.0 * x"}
    for title in FACES:
        expect(turn_to(report, title)).to_contain_text(other.get(title, "2.72058"))
    assert [] == serious(report, axe)
    assert [] == wider(report)
    keep(report, "what-if")


def test_the_notebook_has_the_values_of_the_run_that_is_shown(page: Page) -> None:
    """The next cell goes on with what was moved."""
    assert "3.0" == ask(page, "a")


def test_many_moves_leave_nothing_behind(page: Page, report: Locator) -> None:
    """After two hundred moves there are as many models as before, and the last move is the one that counts."""
    shown = models(page)
    kept = ask(page, "len(__import__('ipywidgets').widgets.widget._instances)")
    page.evaluate(MOVES, [report.element_handle(), 200])
    expect(report.locator(".tm-head")).to_contain_text("1.2432", timeout=30_000)  # sin(4) + 2

    assert shown == models(page)
    assert kept == ask(page, "len(__import__('ipywidgets').widgets.widget._instances)")
