"""Steps: the way through a drawn graph and its trace, forward operation by operation, then in reverse."""

from __future__ import annotations

import numpy as np

from tapemagic.analysis.report.graph.drawn_graph import DrawnGraph
from tapemagic.analysis.report.subject import Subject
from tapemagic.analysis.report.trace.drawn_trace import trace_as_drawn
from tapemagic.analysis.report.trace.forward_way import ForwardWay
from tapemagic.analysis.report.trace.reverse_way import ReverseWay
from tapemagic.analysis.report.trace.trace import Trace
from tapemagic.analysis.report.trace.trace_step import Steps, TraceStep
from tapemagic.analysis.report.trace.walk import Walk

__all__ = ["Steps", "TraceStep", "steps_of"]


def steps_of(subject: Subject, drawn: DrawnGraph) -> Steps:
    """The steps through a recording, and its trace, laid out as its graph is drawn.

    Parameters
    ----------
    subject : Subject
    drawn : DrawnGraph
    """
    with np.errstate(all="ignore"):
        found = trace_as_drawn(subject, drawn)
        trace = Trace(tuple(one.part for one in found.parts))
        if not trace.parts:
            return Steps(trace, (), tuple(range(len(drawn.graph.values))))
        walk = Walk(subject, drawn, found)
        forward, reverse = ForwardWay(walk), ReverseWay(walk)
        steps: list[TraceStep] = []
        for part in range(len(trace.parts)):
            steps += forward.part(part)
            steps += reverse.part(part)
        steps += reverse.rest()
        return Steps(trace, tuple(steps), forward.start())
