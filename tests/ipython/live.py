"""The widgets of reports, for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tapemagic.report.bundle import TapeReport
from tapemagic.report.live.packing import unpacked
from tapemagic.report.live.widget import ReportWidget


def shown(report: TapeReport) -> ReportWidget:
    """The widget of a report."""
    report._repr_mimebundle_()
    widget = report._view
    assert isinstance(widget, ReportWidget)
    return widget


def content(widget: ReportWidget) -> Any:
    """All that a widget shows."""
    return unpacked(widget.content)


def asked(widget: ReportWidget, question: str) -> Any:
    """The answer to a question that a front end sends."""
    widget._handle_custom_msg({"ask": question}, [])
    return unpacked(widget.answers[question])


def opening(opened: Mapping[str, int]) -> str:
    """The question for a layout, as the front end writes it."""
    return f"view:{json.dumps(opened, separators=(',', ':'))}"
