"""A pytest plug-in: ``pytest --nbval`` compares what %%tape shows to the letter, and leaves the drawings alone.

Graphviz draws the same graph a little differently from version to version. Numbers, tables, and the words that
stand for each picture stay the same, and are compared.
"""

from __future__ import annotations

from typing import Any

DRAWING = (
    r'(<img alt="Graph of the recorded operations: [^"]*" style="[^"]*"'
    r' src="data:image/svg\+xml;base64,)[A-Za-z0-9+/=]+'
)


def pytest_collectstart(collector: Any) -> None:
    """Tell nbval, where it collects a notebook, to take the bytes out of tapemagic's drawings."""
    if hasattr(collector, "sanitize_patterns"):
        collector.sanitize_patterns[DRAWING] = r"\1"
