"""The time of what a reader does with a report: ``python -m benchmarks.browser``, with the environment of `make test`.

In JupyterLab, in a headless Chromium: milliseconds from an action until the frame after it is drawn, the medians and
the longest of all actions of a kind.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Locator, Page, expect, sync_playwright

from benchmarks.report import SETUP, loop, straight
from tests.browser.conftest import OPTIONS, chromium_path
from tests.browser.jupyter import Lab, report_of, serving
from tests.browser.looks import turn_to

MOST = 50
"""The most milliseconds of a step, a selection or an opening."""
MOVE = 150
"""The most milliseconds from the release of a slider to the report of the other run."""
OPERATIONS = 20

FRAME = """const frame = () => new Promise(done => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel(); // heard after the frame is drawn
    port1.onmessage = done;
    port2.postMessage(0);
}));
const times = [];
const timed = async act => {
    await frame();
    const start = performance.now();
    await act();
    await frame();
    times.push(performance.now() - start);
};
"""
STEPS = """async report => {
    report.querySelector('[aria-label="First step"]').click();
    const last = Number(report.querySelector('.tm-slider').max);
    for (let k = 0; k < last; k++)
        await timed(() => report.querySelector('[aria-label="Step forward"]').click());
    return times;
}"""
SELECTIONS = """async report => {
    for (const box of report.querySelectorAll('.tm-picture [data-n^=n]'))
        await timed(() => box.dispatchEvent(new MouseEvent('click', { bubbles: true })));
    return times;
}"""
OPENINGS = """async report => {
    const changed = () => new Promise(done => {
        new MutationObserver((_, watch) => { watch.disconnect(); done(); })
            .observe(report.querySelector('.tm-picture'), { childList: true, subtree: true });
    });
    const choose = async number => {
        const field = report.querySelector('.tm-picture input[type=number]');
        const drawn = changed();
        field.value = String(number);
        field.dispatchEvent(new Event('change', { bubbles: true }));
        await drawn;
    };
    for (const number of [3, 4, 3, 4]) await choose(number);
    for (let k = 0; k < 20; k++) await timed(() => choose(3 + k % 2));
    return times;
}"""
MOVES = """async report => {
    const head = report.querySelector('.tm-head');
    const slider = report.querySelector('.tm-what-if input[type=range]');
    for (let k = 0; k < 20; k++)
        await timed(async () => {
            const answered = new Promise(done => {
                new MutationObserver((_, watch) => { watch.disconnect(); done(); })
                    .observe(head, { childList: true, subtree: true, characterData: true });
            });
            slider.value = String(-2 + 0.2 * k);
            slider.dispatchEvent(new Event('input', { bubbles: true }));
            slider.dispatchEvent(new Event('change', { bubbles: true }));
            await answered;
        });
    return times;
}"""


def row(name: str, times: list[float], bound: float) -> None:
    """Print a row of the table."""
    middle, longest = statistics.median(times), max(times)
    mark = " (!)" * (middle > bound)
    print(f"| {name} | {middle:.0f}{mark} | {longest:.0f} | {bound:.0f} |", flush=True)


def times(report: Locator, actions: str) -> list[float]:
    """The milliseconds of actions in a report."""
    measured: list[float] = report.evaluate(
        f"async report => {{ {FRAME} return ({actions})(report); }}"
    )
    return measured


def in_the_browser(lab: Lab) -> None:
    """Print the rows of what happens in JupyterLab."""
    preparations = f"%load_ext tapemagic{SETUP}"
    line = f"%%tape x\nx = 0.5\n{straight(30)}y"
    folded = f"%%tape x\nx = 0.5\n{loop(240)}y"
    moved = f"%%tape x --what-if x=-3:3\nx = 0.5\n{straight(OPERATIONS)}y"
    with lab.notebook("measured", [preparations, line, folded, moved]) as page:
        report = graph(page, 1)
        drawn = report.locator(".tm-picture [data-n]").count()
        row(f"a step, {drawn} nodes", times(report, STEPS), MOST)
        row(f"a selection, {drawn} nodes", times(report, SELECTIONS), MOST)
        row("an iteration opened again", times(graph(page, 2), OPENINGS), MOST)
        row(f"what-if, {OPERATIONS} operations", times(graph(page, 3), MOVES), MOVE)


def graph(page: Page, index: int) -> Locator:
    """The report of a cell, with its graph open."""
    report = report_of(page, index)
    expect(turn_to(report, "Graph").locator("svg").first).to_be_visible()
    return report


def main() -> int:
    """Print the table."""
    print("| ms | median | longest | bound |\n|---|--:|--:|--:|")
    with (
        sync_playwright() as driver,
        tempfile.TemporaryDirectory() as place,
        driver.chromium.launch(executable_path=chromium_path(), args=OPTIONS) as chromium,
        serving(Path(place), chromium) as lab,
    ):
        in_the_browser(lab)
    return 0


if __name__ == "__main__":
    sys.exit(main())
