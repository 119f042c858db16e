"""The trace in the widget: next to the graph, and with the same folds."""

from __future__ import annotations

from collections.abc import Callable

from tapemagic.report.live.screen import Screen


def html(screen: Screen, static: Callable[[], str]) -> str | None:
    """Return the static trace, or '' if the graph's layout brings its trace, or None without a trace."""
    return "" if screen.has_view and screen.findings.trace else static() or None
