"""The plot of a report: curves over a range of one variable, for which the cell runs again."""

from __future__ import annotations

from tapemagic.report.request import ReportRequest
from tapemagic.report.tabs.plot.plot import Plot


def find(request: ReportRequest) -> Plot | None:
    """Run the cell for the curves."""
    return request.plot() if request.plot is not None else None
