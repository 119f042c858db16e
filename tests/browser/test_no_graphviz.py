"""Reports of a kernel that can't draw: the page draws their graphs, with Graphviz as WebAssembly."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tapemagic.drawing.svg import draw
from tests.browser.jupyter import Lab, ask, report_of
from tests.browser.looks import keep, turn_to

NONE = "import os, sys\nos.environ['PATH'] = ''\nsys.modules['pygraphviz'] = None"
SETUP = "%load_ext tapemagic\nimport numpy as np"
CELL = """%%tape x --what-if a=-3:3
a = 1.5
x = np.array([2.0, -1.0])
y = x
for k in range(12):
    y = np.sin(y) + a
np.sum(y) * 2.0"""
NAMES = """picture => [...picture.querySelectorAll('[data-n],[data-e],[data-c],text.v,text.g')].map(
    ({ dataset, classList, textContent }) => Object.values(dataset)[0] ?? classList[0] + textContent.trim()
).sort()"""
DRAWN = f"svg => ({NAMES})(new DOMParser().parseFromString(svg, 'image/svg+xml'))"


@pytest.fixture(scope="module")
def page(lab: Lab) -> Iterator[Page]:
    """A notebook whose kernel has neither `dot` nor pygraphviz."""
    with lab.notebook("no-graphviz", [NONE, SETUP, CELL]) as opened:
        yield opened


@pytest.fixture(scope="module")
def report(page: Page) -> Locator:
    """Its report."""
    found = report_of(page, 2)
    turn_to(found, "Graph")
    return found


def picture_of(report: Locator) -> Locator:
    """The picture, once it is there."""
    picture = report.locator(".tm-picture > svg")
    expect(picture).to_be_visible()
    return picture


def test_the_picture_is_that_of_dot(page: Page, report: Locator) -> None:
    """Boxes, edges, frames, values and gradients have the names by which scripts find them."""
    picture = picture_of(report)
    keep(report, "no-graphviz")

    by_dot = draw(literal_eval(ask(page, "Out[3].dot"))).live
    assert "ggradient 1.0" in (expected := page.evaluate(DRAWN, by_dot))
    assert expected == picture.evaluate(NAMES)


def test_everything_else_works_as_with_dot(page: Page, report: Locator) -> None:
    """Clicks on boxes, folds, steps and sliders."""
    picture_of(report).locator("[data-n=n0]").click()
    expect(report.locator(".tm-details")).to_contain_text("-1.0")

    report.get_by_role("button", name=re.compile("^Open ")).first.click()
    expect(report.get_by_role("spinbutton", name="iteration")).to_be_visible()
    picture_of(report)

    slider = report.get_by_role("slider", name="a", exact=True)
    slider.focus()
    slider.fill("3")
    expect(report.locator(".tm-head")).to_contain_text("12.2768")
    expect(report.get_by_role("spinbutton", name="iteration")).to_be_visible()
    picture_of(report)
    keep(report, "no-graphviz-opened")
    assert "True" == ask(page, "Out[3].drawing.svg is not None")  # so saved pages have it, too
