"""A report as plain text."""

from __future__ import annotations

from tapemagic.report import limits
from tapemagic.report.failure import show as failure
from tapemagic.report.findings import Findings
from tapemagic.report.tabs.code import show as code
from tapemagic.report.tabs.gradients import show as gradients
from tapemagic.report.tabs.graph import show as graph
from tapemagic.report.tabs.lines import show as lines
from tapemagic.report.tabs.plot import show as plot
from tapemagic.report.tabs.trace import show as trace
from tapemagic.report.tabs.training import show as training
from tapemagic.report.tabs.variables import show as variables
from tapemagic.report.verdict import show as verdict

FACES = (variables, gradients, plot, graph, trace, lines, code, training)
LEAST_IMPORTANT = tuple(
    face.TITLE for face in (lines, trace, training, code, variables, plot, graph, gradients)
)
"""The faces in the order in which they are left out where there is no room for all of them."""


def text(findings: Findings) -> str:
    """The whole report as text; what there is no room for is named."""
    shown = {face.TITLE: words for face in FACES if (words := face.text(findings))}
    kept = limits.kept(shown, limits.WORDS - limits.HEADLINE, LEAST_IMPORTANT)
    parts = [words if title in kept else limits.left_out(title) for title, words in shown.items()]
    words = "\n\n".join(filter(None, [failure.text(findings), verdict.text(findings)]))
    return "\n\n".join([limits.shortened(words, limits.HEADLINE - 1000), *parts])
