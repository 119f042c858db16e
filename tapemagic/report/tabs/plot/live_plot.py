"""The plot in the widget, which marks this run of the cell on the curves itself."""

from __future__ import annotations

from collections.abc import Callable

from tapemagic.report.live.screen import Screen
from tapemagic.report.tabs.plot import show_plot


def html(screen: Screen, _static: Callable[[], str]) -> str | None:
    """The curves without marks; None without a plot."""
    return show_plot.html(screen.findings, screen.curves, marked=False) or None
