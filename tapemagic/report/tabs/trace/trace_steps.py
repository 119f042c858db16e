"""Steps: the way through a drawn graph and its trace, forward operation by operation, then in reverse."""

from __future__ import annotations

import numpy as np

from tapemagic.report.subject import Subject
from tapemagic.report.tabs.graph.drawn_graph import DrawnGraph
from tapemagic.report.tabs.trace.drawn_trace import trace_as_drawn
from tapemagic.report.tabs.trace.forward_steps import ForwardWay
from tapemagic.report.tabs.trace.reverse_steps import ReverseWay
from tapemagic.report.tabs.trace.step_context import Walk
from tapemagic.report.tabs.trace.trace import Trace
from tapemagic.report.tabs.trace.trace_step import Steps, TraceStep

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
