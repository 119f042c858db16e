"""The trace of a report: an evaluation table of the values forward and the gradients backward."""

from __future__ import annotations

from tapemagic.report.tabs.trace.trace import trace_of as find

__all__ = ["find"]
