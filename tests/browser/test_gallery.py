"""Every cell of the gallery in a browser: stepped to its end and back, looked at in both themes and widths."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.gallery_pages import GROUNDS, Traits, gallery, show
from tests.browser.jupyter import HEIGHT, Watch
from tests.browser.looks import keep, serious, titles, turn_to, wider

WIDTHS = (1280, 700)
LOOKED_AT = ("regression", "own-functions", "line-training", "nan")
"""The cells of which axe and people see all faces."""

# What a step changes: texts, and the classes that say what is known. The rest is drawn once.
WALK = """report => {
    const button = name => report.querySelector(`[aria-label="${name}"]`);
    const picture = report.querySelector('.tm-picture');
    const drawn = [...picture.querySelectorAll('text')];
    const parts = [...picture.querySelectorAll('[data-n], [data-e]'),
                   ...report.querySelectorAll('.tm-trace [data-r]')];
    const texts = () => drawn.map(text => text.textContent);
    const state = () => JSON.stringify([
        texts(),
        parts.map(part => ['unknown', 'incomplete', 'now', 'added'].map(
            name => part.classList.contains(`tm-${name}`))),
        report.querySelector('.tm-words').textContent,
    ]);
    const number = () => Number(report.querySelector('.tm-slider').value);
    const last = Number(report.querySelector('.tm-slider').max);
    const known = () => picture.querySelectorAll('[data-n^=n]:not(.tm-unknown)').length;
    const graded = () => picture.querySelectorAll('[data-n^=n]:not(.tm-incomplete) .g').length;
    const found = { last, finished: texts(), states: [], known: [], graded: [], faults: [] };
    button('First step').click();
    for (let k = 0; k <= last; k++) {
        if (number() !== k) found.faults.push(`forward: at ${number()}, not at ${k}`);
        found.states.push(state());
        found.known.push(known());
        found.graded.push(graded());
        found.atLast = texts();
        button('Step forward').click();
    }
    if (state() !== found.states[last]) found.faults.push('a step after the last one changes something');
    for (let k = last; k >= 0; k--) {
        if (number() !== k) found.faults.push(`back: at ${number()}, not at ${k}`);
        if (state() !== found.states[k]) found.faults.push(`step ${k} of ${last} differs on the way back`);
        if (/[\u0304\u0305]/.test(report.textContent)) found.faults.push(`at ${k}, a mark is no line`);
        button('Step back').click();
    }
    if (state() !== found.states[0]) found.faults.push('a step before the first one changes something');
    button('Last step').click();
    if (state() !== found.states[last]) found.faults.push('the last step differs from the end of all steps');
    return found;
}"""


@pytest.fixture(scope="module")
def reports() -> dict[str, Traits]:
    """The widgets of all cells."""
    return gallery()


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """An empty page."""
    context = browser.new_context(
        viewport={"width": WIDTHS[0], "height": HEIGHT}, reduced_motion="reduce"
    )
    watch = Watch()
    watch.look_at(context)
    yield context.new_page()
    context.close()
    assert [] == watch.troubles


def test_steps_to_the_end_and_back(page: Page, reports: dict[str, Traits]) -> None:
    """Nothing is known before the first step, all is finished after the last, and the way back is the way there."""
    steps = 0
    for name, traits in reports.items():
        report = show(page, traits)
        if not report.get_by_role("group", name="Steps").count() or "Graph" not in titles(report):
            continue
        turn_to(report, "Graph")
        walk = report.evaluate(WALK)
        steps += walk["last"]

        assert [] == walk["faults"], name
        assert unfinished(walk["atLast"], walk["finished"]) == [], name
        assert walk["known"] == sorted(walk["known"]), f"{name}: a value is forgotten"
        assert walk["graded"] == sorted(walk["graded"]), f"{name}: a gradient is forgotten"
        assert 0 == walk["graded"][0], f"{name}: gradients are known before the first step"
    assert 200 < steps


def test_one_line_over_each_name(page: Page, reports: dict[str, Traits]) -> None:
    """A name with a bar has one line from its first letter to its last; there is none over anything else."""
    report = show(page, reports["layers"])
    turn_to(report, "Trace")

    lines = report.locator(".tm-trace [data-a] u")
    names = lines.all_inner_texts()
    assert {"loss", "hidden/kernel", "v5"} <= set(names)
    drawn = "names => names.map(name => [getComputedStyle(name).textDecorationLine, name.getClientRects().length])"
    assert [["overline", 1]] * len(names) == lines.evaluate_all(drawn)


def unfinished(texts: list[str], finished: list[str]) -> list[tuple[str, str]]:
    """The texts that differ from the finished picture; of a sum in the last step, its end counts."""
    pairs = zip(texts, finished, strict=True)
    return [(now, end) for now, end in pairs if now != end and now.rpartition("→ ")[2] not in end]


@pytest.mark.parametrize("width", WIDTHS)
def test_reports_fit(page: Page, reports: dict[str, Traits], width: int) -> None:
    """No face is wider than its report, unless it is scrolled in it."""
    page.set_viewport_size({"width": width, "height": HEIGHT})
    found = {}
    for name, traits in reports.items():
        if faults := wider(show(page, traits)):
            found[name] = faults

    assert {} == found


@pytest.mark.parametrize("theme", GROUNDS)
def test_reports_can_be_used_by_all(
    page: Page, reports: dict[str, Traits], axe: str, theme: str
) -> None:
    """Axe finds no serious fault in the faces of some reports, at rest and in a step."""
    found = {}
    for name in LOOKED_AT:
        report = show(page, reports[name], theme)
        for title in titles(report):
            shown = turn_to(report, title)
            keep(report, f"{name}-{title.lower()}-{theme}")
            if shown.page.get_by_label("Step back").is_visible():
                report.get_by_label("Step back").click()
            if faults := serious(report, axe):
                found[name, title] = faults

    assert {} == found
