"""The training of a report."""

from __future__ import annotations

from tapemagic.analysis.report.findings import Findings

TITLE = "Training"


def text(findings: Findings) -> str:
    """The training as text; empty if there is nothing to show."""
    return ""


def html(findings: Findings) -> str:
    """The training as HTML; empty if there is nothing to show."""
    return ""
