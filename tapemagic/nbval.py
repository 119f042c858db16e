"""A pytest plug-in: ``pytest --nbval`` compares the reports of %%tape to the letter, except for the drawings.

Graphviz draws the same graph a little differently from version to version, and curves have fewer points on a slow
machine. Numbers, tables, and the words that stand for each picture stay the same, and are compared.
"""

from __future__ import annotations

from typing import Any

DRAWING = (
    r'(<img alt="Graph of the recorded operations: [^"]*" style=[^ ]*'
    r' src="data:image/svg\+xml,)[^"]*'
)

PLOT = r'(<img alt="Plot of the cell: [^"]*" style=[^ ]* src="data:image/svg\+xml,)[^"]*'
"""The curves of --plot."""

PAPER = r"(?s)(%graph\n\\begin\{pgfpicture\}).*?(?=\\end\{pgfpicture\})"
"""The same drawing in LaTeX."""


DATA = "application/vnd.tapemagic.report+json"
"""The packed data of the report that JupyterLab draws: its drawings cannot be removed, and all else is compared."""


def pytest_collectstart(collector: Any) -> None:
    """Make nbval ignore the bytes of drawings, and the data that hold them."""
    if hasattr(collector, "sanitize_patterns"):
        collector.sanitize_patterns[DRAWING] = r"\1"
        collector.sanitize_patterns[PLOT] = r"\1"
        collector.sanitize_patterns[PAPER] = r"\1"
    if hasattr(collector, "skip_compare"):
        collector.skip_compare = (*collector.skip_compare, DATA)
