"""Reports in JupyterLab, used by pointer and by keyboard, with their kernel and without it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.jupyter import SHUT_DOWN, Lab, ask, models, report_of, run_all
from tests.browser.looks import FACES, keep, serious, titles, turn_to, wider

SETUP = "%load_ext tapemagic\nimport numpy as np\nimport tapemagic as tm"
PRODUCT = "%%tape x1 x2\nx1, x2 = 2.0, 3.0\na = x1 * x2\nb = np.sin(x1)\ny = a * b\ny"
LOOP = "%%tape x\nx = 0.5\ny = x\nfor i in range(10):\n    y = np.sin(y * 1.5 + x)\ny"

# Keys that mean something to a notebook in command mode: cut, copy, paste, delete, insert, move, merge, run, undo.
KEYS = ("d", "d", "x", "c", "v", "a", "b", "m", "y", "r", "1", "z", "Shift+M", "j", "k", "s")
NOTEBOOK = """() => {
    const { content } = window.jupyterapp.shell.currentWidget;
    const sources = content.widgets.map(cell => [cell.model.type, cell.model.sharedModel.source]);
    return JSON.stringify([content.activeCellIndex, content.mode, sources]);
}"""
FOCUSED = """report => {
    const element = document.activeElement;
    if (!report.contains(element)) return null;
    const { outlineStyle, boxShadow } = getComputedStyle(element);
    const name = element.getAttribute('aria-label') ?? element.textContent.trim();
    const edge = element.querySelector(':scope > path'); // of a box in the graph
    const isWide = edge !== null && parseFloat(getComputedStyle(edge).strokeWidth) > 4;
    const seen = outlineStyle !== 'none' || boxShadow !== 'none' || isWide;
    return { name, role: element.getAttribute('role') ?? element.localName, seen };
}"""
# anywidget complains of a widget that is closed before it was drawn, so each is waited for.
RUN_FIRST = """async () => {
    const { commands, shell } = window.jupyterapp;
    const { content } = shell.currentWidget;
    const drawn = () => content.widgets[1].node.querySelector('.tapemagic [role="tab"]');
    const before = drawn();
    content.activeCellIndex = 1;
    await commands.execute('notebook:run-cell');
    const end = performance.now() + 10000;
    while ((!drawn() || drawn() === before) && performance.now() < end)
        await new Promise(requestAnimationFrame);
}"""


def box(report: Locator, index: int) -> Locator:
    """The box of a value in the graph."""
    return report.locator(f'.tm-picture [data-n="n{index}"]').first


def named(report: Locator, name: str) -> Locator:
    """The first box with a name in the graph."""
    return report.locator(".tm-picture [data-n^=n]").filter(has_text=name).first


def step_is(report: Locator, words: str) -> None:
    """Wait for the number of the step."""
    expect(report.locator(".tm-count")).to_contain_text(words)


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (700, "dark")])
def test_every_face_is_shown(lab: Lab, axe: str, width: int, theme: str) -> None:
    """All tabs have what they say, fit into the notebook, and can be used by all."""
    with lab.notebook("faces", [SETUP, PRODUCT, LOOP], width=width, theme=theme) as page:
        for index, cell in enumerate(("product", "loop"), start=1):
            report = report_of(page, index)
            assert set(FACES) <= set(titles(report))
            assert [] == wider(report)
            for title in FACES:
                expect(turn_to(report, title)).not_to_be_empty()
                assert title != "Graph" or [] == serious(report, axe)
                keep(report, f"lab-{cell}-{title.lower()}-{width}-{theme}")
        report = report_of(page, 1)
        expect(turn_to(report, "Variables").locator("table")).to_contain_text("watched")
        expect(turn_to(report, "Gradients").locator("table")).to_contain_text("dy/dx1")
        assert 3 < turn_to(report, "Graph").locator(".tm-picture path").count()


@pytest.fixture(scope="module")
def page(lab: Lab) -> Iterator[Page]:
    """A notebook with three reports."""
    with lab.notebook("reports", [SETUP, PRODUCT, LOOP, LOOP]) as opened:
        yield opened


def test_tabs_by_keyboard(page: Page) -> None:
    """Arrow keys, Home and End go through the tabs; one of them is a stop of the Tab key."""
    report = report_of(page, 1)
    tabs = report.get_by_role("tab")
    turn_to(report, titles(report)[0])
    seen = []
    for _ in range(tabs.count()):
        seen.append(report.locator('[role="tab"][aria-selected="true"]').text_content())
        expect(report.locator('[role="tab"][tabindex="0"]')).to_have_count(1)
        page.keyboard.press("ArrowRight")

    assert titles(report) == seen
    for key, position in (("End", -1), ("Home", 0), ("ArrowLeft", -1)):
        page.keyboard.press(key)
        selected = report.locator('[role="tab"][aria-selected="true"]')
        expect(selected).to_be_focused()
        assert titles(report)[position] == selected.text_content()


def test_steps_by_pointer_and_keys(page: Page) -> None:
    """Buttons, arrow keys and the slider go through the steps; the sentence of each has its numbers."""
    report = report_of(page, 1)
    turn_to(report, "Graph")
    report.get_by_label("First step").click()
    step_is(report, "step 0 of")
    report.get_by_label("Step forward").click()
    step_is(report, "step 1 of")
    page.keyboard.press("ArrowRight")
    step_is(report, "step 2 of")
    page.keyboard.press("ArrowRight")
    step_is(report, "step 3 of")
    for title in ("Trace", "Lines", "Graph"):
        expect(turn_to(report, title).locator(".tm-now").first).to_be_visible()
    slider = report.get_by_label("Step", exact=True)
    slider.focus()
    page.keyboard.press("End")
    last = int(slider.get_attribute("max") or 0)
    step_is(report, f"step {last} of {last}")
    page.keyboard.press("ArrowLeft")
    step_is(report, f"step {last - 1} of {last}")
    expect(report.locator(".tm-words")).to_contain_text("=")
    keep(report, "lab-step")


def test_playing_goes_to_the_end(page: Page) -> None:
    """Play goes on by itself, and can be stopped."""
    report = report_of(page, 1)
    turn_to(report, "Graph")
    report.get_by_label("First step").click()
    report.get_by_label("Play").click()
    step_is(report, "step 1 of")
    report.get_by_label("Pause").click()
    step_is(report, "step 1 of")


def test_hover_and_selection(page: Page) -> None:
    """A tip tells of what the pointer is on; a click lights up what leads to a value, and what is made of it."""
    report = report_of(page, 1)
    turn_to(report, "Graph")
    value = named(report, "a = ")
    value.hover()
    expect(report.get_by_role("tooltip")).to_contain_text("6.0")
    value.click()
    expect(value).to_have_attribute("aria-pressed", "true")
    details = report.locator(".tm-details")
    expect(details).to_contain_text("x1 · x2")
    expect(details).to_contain_text("0.909297")
    expect(named(report, "x1")).to_have_class(contains("tm-up"))
    expect(named(report, "target")).to_have_class(contains("tm-down"))
    keep(report, "lab-selected")
    for title in ("Trace", "Lines"):
        expect(turn_to(report, title).locator(".tm-sel, .tm-up, .tm-down").first).to_be_visible()
    turn_to(report, "Graph")
    page.keyboard.press("Escape")
    expect(details).to_be_hidden()


@pytest.mark.parametrize(("index", "is_beside"), [(1, True), (2, False)])
def test_the_whole_graph_is_seen_and_stays_in_its_place(
    page: Page, index: int, is_beside: bool
) -> None:
    """The picture fits into its panel at first; details beside or below do not move it, whatever is selected."""
    report = report_of(page, index)
    picture = turn_to(report, "Graph").locator(".tm-picture")
    assert report.locator('[role="tabpanel"]:visible').evaluate(
        "panel => panel.scrollHeight === panel.clientHeight && panel.scrollWidth === panel.clientWidth"
    )
    before = picture.bounding_box()
    assert before is not None
    for name in ("target", "x", "y"):
        named(report, name).dispatch_event("click")
        expect(report.locator(".tm-details .tm-full")).to_be_visible()
        page.wait_for_timeout(100)
        assert before == picture.bounding_box()
        details = report.locator(".tm-details").bounding_box()
        assert details is not None
        assert is_beside == (details["x"] >= before["x"] + before["width"])
        assert is_beside or details["y"] >= before["y"] + before["height"]
    named(report, name).dispatch_event("click")
    expect(report.locator(".tm-details")).to_be_hidden()


def test_nothing_moves_by_itself_where_that_is_not_wanted(page: Page) -> None:
    """Edges flow along a step, unless the reader prefers reduced motion."""
    report = report_of(page, 1)
    turn_to(report, "Graph")
    report.get_by_label("Step", exact=True).fill("4")
    edge = report.locator(".tm-picture [data-e].tm-now > path").first
    read = "edge => getComputedStyle(edge).animationName"
    assert "tm-flow" == edge.evaluate(read)
    page.emulate_media(reduced_motion="reduce")
    assert "none" == edge.evaluate(read)
    page.emulate_media(reduced_motion="no-preference")


def test_letters_in_a_number_field_change_nothing(page: Page) -> None:
    """After letters, the Tab key leaves the field of the iteration with what was in it, and goes on to its button."""
    report = report_of(page, 2)
    turn_to(report, "Graph")
    field = report.get_by_label("iteration", exact=True)
    before = field.input_value()
    field.focus()
    page.keyboard.type("e")
    page.keyboard.press("Tab")
    expect(report.locator(".tm-control").get_by_label("Close")).to_be_focused()
    assert before == field.input_value()


def contains(name: str) -> re.Pattern[str]:
    """A class among others."""
    return re.compile(rf"(^|\s){name}(\s|$)")


def test_the_keyboard_alone_reaches_everything(page: Page) -> None:
    """The Tab key comes to tabs, graph, buttons and slider, which have names and rings; no key reaches the notebook."""
    report = report_of(page, 2)
    turn_to(report, "Variables")
    page.keyboard.press("ArrowRight")
    before = page.evaluate(NOTEBOOK)
    stops = []
    while (stop := report.evaluate(FOCUSED)) is not None and len(stops) < 60:
        stops.append(stop)
        for key in KEYS:
            page.keyboard.press(key)
        assert before == page.evaluate(NOTEBOOK), stop
        page.keyboard.press("Tab")
    names = {stop["name"] for stop in stops}

    assert {
        "Graph",
        "First step",
        "Step back",
        "Play",
        "Step forward",
        "Last step",
        "Step",
    } <= names
    assert any(stop["role"] == "button" and "0.5" in stop["name"] for stop in stops), "no box"
    assert [] == [stop for stop in stops if not (stop["name"] and stop["seen"])]


def test_arrow_keys_stay_in_the_report(page: Page) -> None:
    """On a slider or in the graph, arrow keys and Enter do not move from cell to cell, nor run one."""
    report = report_of(page, 2)
    turn_to(report, "Graph")
    report.get_by_label("Step", exact=True).focus()
    before = page.evaluate(NOTEBOOK)
    for key in ("ArrowUp", "ArrowDown", "ArrowLeft", "Home", "End", "PageUp", "Enter", "Space"):
        page.keyboard.press(key)
    box(report, 0).focus()
    for key in ("ArrowDown", "ArrowRight", "Enter", "ArrowUp", "Space", "ArrowLeft", "Escape"):
        page.keyboard.press(key)

    assert before == page.evaluate(NOTEBOOK)


def test_opening_and_closing(page: Page) -> None:
    """A fold opens in place, at the iteration of the number field, and closes again."""
    report = report_of(page, 3)
    turn_to(report, "Graph")
    report.get_by_label("First step").click()
    report.get_by_label("Last step").click()
    boxes = report.locator(".tm-picture [data-n^=n]")
    count = boxes.count()
    field = report.get_by_label("iteration", exact=True)
    expect(field).to_have_value("10")
    field.fill("7")
    field.press("Enter")
    expect(boxes.filter(has_text="y₇")).not_to_have_count(0)
    keep(report, "lab-opened")
    report.locator(".tm-control").get_by_label("Close").click()
    expect(boxes).not_to_have_count(count)
    report.locator(".tm-control").get_by_label("Open").first.click()
    expect(field).to_have_value("1")


def test_re_runs_leave_nothing_behind(page: Page) -> None:
    """After fifty re-runs of a cell there are as many models as after one, in the kernel and in the browser."""
    run_all(page)
    report_of(page, 1)
    shown = models(page)
    kept = ask(page, "len(__import__('ipywidgets').widgets.widget._instances)")
    for _ in range(50):
        page.evaluate(RUN_FIRST)

    assert kept == ask(page, "len(__import__('ipywidgets').widgets.widget._instances)")
    assert shown == models(page)


def test_without_a_kernel(page: Page) -> None:
    """Steps and selection go on; what would have to be asked of the kernel is answered by a plain sentence."""
    report = report_of(page, 2)
    page.evaluate(SHUT_DOWN)
    turn_to(report, "Graph")
    report.get_by_label("First step").click()
    report.get_by_label("Step forward").click()
    step_is(report, "step 1 of")
    named(report, "x").click()
    expect(report.locator(".tm-details")).to_contain_text("0.5")
    field = report.get_by_label("iteration", exact=True)
    field.fill("4")
    field.press("Enter")
    expect(report.locator(".tm-status")).to_contain_text("kernel", timeout=10_000)
    keep(report, "lab-no-kernel")
