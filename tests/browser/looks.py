"""What a reader looks at in a report, and pictures of it for people to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

SCREENSHOTS = Path(__file__).resolve().parents[2] / "build" / "screenshots"
FACES = ("Variables", "Graph", "Gradients", "Trace", "Lines", "Code")
SERIOUS = """async report => {
    const wanted = { resultTypes: ['violations'] };
    const { violations } = await axe.run(report, wanted);
    return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(
            ({ html, failureSummary }) => `${html.slice(0, 200)}: ${failureSummary}`)]);
}"""
WIDER = """report => [...report.querySelectorAll('[role=tab]')].flatMap(tab => {
    tab.click();
    const { right, left } = report.getBoundingClientRect();
    const isScrolled = element => {
        for (let above = element.parentElement; above && above !== report.parentElement; above = above.parentElement)
            if (getComputedStyle(above).overflowX !== 'visible') return true;
        return false;
    };
    const out = [...report.querySelectorAll('*')].filter(each => {
        const box = each.getBoundingClientRect();
        return box.width > 0 && (box.right > right + 1 || box.left < left - 1) && !isScrolled(each);
    });
    return out.slice(0, 3).map(each => `${tab.textContent}: ${each.outerHTML.slice(0, 200)}`);
})"""


def turn_to(report: Locator, title: str) -> Locator:
    """The panel of a report's tab, after a click on its title."""
    report.get_by_role("tab", name=title, exact=True).click()
    return panel(report)


def panel(report: Locator) -> Locator:
    """The panel that is shown."""
    shown = report.locator('[role="tabpanel"]:visible')
    expect(shown).to_have_count(1)
    return shown


def titles(report: Locator) -> list[str]:
    """The titles of the tabs."""
    return report.get_by_role("tab").all_text_contents()


def wider(report: Locator) -> list[str]:
    """The elements of all faces that stick out of a report, and are not scrolled in it."""
    found: list[str] = report.evaluate(WIDER)
    return found


def serious(report: Locator, axe: str) -> list[Any]:
    """The serious and critical faults that axe finds in a report."""
    if not report.page.evaluate("() => 'axe' in window"):
        report.page.evaluate(axe)
    found: list[Any] = report.evaluate(SERIOUS)
    return found


def keep(element: Locator | Page, name: str) -> None:
    """A picture for people to look at."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    element.screenshot(path=SCREENSHOTS / f"{name}.png")
