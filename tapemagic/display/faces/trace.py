"""The trace of a report."""

from __future__ import annotations

from tapemagic.analysis.report.findings import Findings

TITLE = "Trace"


def text(findings: Findings) -> str:
    """The trace as text; empty if there is nothing to show."""
    return ""


def html(findings: Findings) -> str:
    """The trace as HTML; empty if there is nothing to show."""
    return ""
