"""The trace: an evaluation table of the values forward and the adjoints in reverse."""

from __future__ import annotations

from dataclasses import dataclass

from tapemagic.analysis.report.subject import Subject


@dataclass(frozen=True)
class Trace:
    """The evaluation table of a recording."""


def trace_of(subject: Subject) -> Trace | None:
    """The evaluation table of a recording."""
    return None
