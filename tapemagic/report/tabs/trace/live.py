"""The trace in the widget, where it stands beside the graph, and is laid out as that is."""

from __future__ import annotations

from collections.abc import Callable

from tapemagic.report.live.screen import Screen


def html(screen: Screen, static: Callable[[], str]) -> str | None:
    """The tab without a layout of the graph; empty where the layout has the trace, None without a trace."""
    return "" if screen.has_view and screen.findings.trace else static() or None
