"""The gradients in the widget, where a button checks them by finite differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypedDict

from tapemagic.report.findings import Findings
from tapemagic.report.live.screen import Screen
from tapemagic.report.tabs.gradients import show_gradients
from tapemagic.report.tabs.gradients.check_result import outcome, sign
from tapemagic.report.tabs.gradients.find_gradients import GradientFindings


class Check(TypedDict):
    """The gradients, checked by finite differences."""

    words: str
    html: str


def html(_screen: Screen, static: Callable[[], str]) -> str | None:
    """Return the table of the static page, or None if there is nothing to differentiate."""
    return static() or None


def is_unchecked(findings: Findings) -> bool:
    """Return True if some gradients were not checked by finite differences."""
    gradients: GradientFindings | None = findings.tabs.get("gradients")
    if gradients is None or gradients.checks():
        return False
    texts = [entry.text for entry in gradients.rows] + [entry.text for entry in gradients.own]
    return any(text is not None for text in texts)


def compared(findings: Findings, gradients: GradientFindings) -> Check:
    """The table with the results of a comparison, and the results in a sentence."""
    checks = gradients.checks()
    step = findings.tabs["gradients"].next_step
    tab = replace(gradients, next_step=step)
    html_of_all = show_gradients.html(findings.with_tab("gradients", tab))
    return Check(words=f"{sign(checks)} {outcome(checks)}".strip(), html=html_of_all)
