"""The lines of a report."""

from __future__ import annotations

from tapemagic.analysis.report.findings import Findings

TITLE = "Lines"


def text(findings: Findings) -> str:
    """The lines as text; empty if there is nothing to show."""
    return ""


def html(findings: Findings) -> str:
    """The lines as HTML; empty if there is nothing to show."""
    return ""
