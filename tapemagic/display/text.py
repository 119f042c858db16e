"""A report as plain text."""

from __future__ import annotations

from tapemagic.analysis.report.findings import Findings
from tapemagic.display import limits
from tapemagic.display.faces import (
    code,
    failure,
    gradients,
    graph,
    lines,
    plot,
    trace,
    training,
    variables,
    verdict,
)

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
